// SPDX-License-Identifier: Apache-2.0
// What tests/python_check.py compares Python with: prints user seconds of a million steps of a
// model in batches of 64 with inputs set and columns read, of the same without either, and of a
// million steps of one run.
//     python_loop MODEL CASE INPUT
#include <trundle/trundle.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { RUNS = 64, ROUNDS = 15625, STEPS = 1000000 };
static const double step = 0.01;

static double seconds(void)
{
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    return (double)now.ru_utime.tv_sec + 1e-6 * (double)now.ru_utime.tv_usec;
}

static double time_batch(tr_plan *plan, const tr_run_options *o, const char *input, tr_error *err)
{
    tr_batch *batch = tr_batch_new(plan, RUNS, o, err);
    const double start = seconds();
    const size_t column = 1;
    double numbers[RUNS];
    for (int k = 0; k < ROUNDS && !err->status; k++) {
        for (size_t i = 0; input && i < RUNS; i++)
            tr_batch_set(batch, i, input, 0.001 * (double)((k + (int)i) % 7), err);
        tr_batch_advance(batch, (k + 1) * step, err);
        if (input) tr_batch_read(batch, &column, 1, numbers, err);
    }
    const double taken = seconds() - start;
    tr_batch_free(batch);
    return taken;
}

static double time_run(tr_plan *plan, const tr_run_options *o, tr_error *err)
{
    tr_run *run = tr_run_new(plan, o, err);
    const double start = seconds();
    for (int k = 0; k < STEPS && !err->status; k++) tr_run_advance(run, (k + 1) * step, err);
    const double taken = seconds() - start;
    tr_run_free(run);
    return taken;
}

int main(int count, char **args)
{
    if (count != 4) return 2;
    tr_error err = {0};
    tr_derive_options how = tr_derive_defaults();
    how.case_name = args[2];
    tr_model *model = tr_model_read(args[1], &err);
    tr_system *system = tr_derive(model, &how, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = step;
    const double full = time_batch(plan, &o, args[3], &err);
    const double bare = time_batch(plan, &o, NULL, &err);
    const double run = time_run(plan, &o, &err);
    if (err.status) fprintf(stderr, "%s\n", err.text);
    printf("%.6f %.6f %.6f\n", full, bare, run);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
    return err.status;
}
