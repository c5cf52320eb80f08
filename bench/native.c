// SPDX-License-Identifier: Apache-2.0
// Machine code beside the interpreter: accelerations of models, one state at a time and several,
// with parameters open and prepared, as runs evaluate them; and what it takes to make the code.
#include "bench/bench.h"

#include "program/evaluate.h"
#include "program/interpret.h"
#include "program/native.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 25, MOST_LANES = 8, WAYS = 4 };

typedef struct Runner {
    Executable *executable; // NULL where the processor has none
    tr_workspace *work;
    double best, made; // [s], for a state; to make it
} Runner;

static Runner runner(const Program *p, uint32_t lanes, bool interpreted, const double *in)
{
    Runner r = {.best = (double)INFINITY};
    const double start = bench_now();
    r.executable = interpreted ? tr_interpret_new(p, lanes) : tr_native(p, lanes);
    r.made = bench_now() - start;
    r.work = r.executable ? tr_workspace_on(p, r.executable, lanes, NULL) : NULL;
    if (r.work) tr_workspace_prepare(p, r.work, in);
    return r;
}

static void time_round(const Program *p, Runner *r, const double *in, double *out, int repeats)
{
    const double start = bench_now();
    for (int i = 0; i < repeats; i++) tr_evaluate_prepared(p, r->work, in, out);
    r->best = fmin(r->best, (bench_now() - start) / (repeats * (double)r->executable->lanes));
}

static void print_runners(const char *name, const Program *p, const Runner *r)
{
    static const char *const names[WAYS] = {"interpreter", "machine code", "4 lanes", "8 lanes"};
    const tr_program_size size = tr_program_sizes(p);
    printf("machine code: %s, %zu operations:", name, size.state_operations);
    for (int i = 0; i < WAYS; i++) {
        if (!r[i].work) continue;
        printf("%s %s %.0f ns", i ? "," : "", names[i], 1e9 * r[i].best);
        if (i) printf(" (%.1f times)", r[0].best / r[i].best);
    }
    printf(" a state");
    if (r[1].work)
        printf("; made in %.2f us an operation (aim 0.2)",
               1e6 * r[1].made / (double)size.operations);
    printf("\n");
}

static void bench_model(const char *name)
{
    tr_error err = {0};
    char path[200];
    snprintf(path, sizeof path, "models/%s.yaml", name);
    tr_model *model = tr_model_read(path, &err);
    tr_system *s = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(s, &err);
    tr_program *p = tr_compile_in(plan, "vdot", NULL, &err);
    if (p) {
        const tr_program_size size = tr_program_sizes(p);
        double *in = calloc(size.inputs * MOST_LANES, sizeof *in);
        double *out = calloc(size.outputs * MOST_LANES, sizeof *out);
        tr_initial(plan, in, size.inputs, &err);
        for (size_t k = 1; k < MOST_LANES; k++)
            memcpy(in + k * size.inputs, in, size.inputs * sizeof *in);
        Runner r[WAYS] = {runner(p, 1, true, in), runner(p, 1, false, in), runner(p, 4, false, in),
                          runner(p, 8, false, in)};
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < WAYS; i++)
                if (r[i].work) time_round(p, &r[i], in, out, (int)(1000000 / size.operations) + 1);
        print_runners(name, p, r);
        for (int i = 0; i < WAYS; i++) {
            tr_workspace_free(r[i].work);
            if (r[i].executable) r[i].executable->free(r[i].executable);
        }
        free(in);
        free(out);
    } else
        printf("machine code: %s\n", err.text);
    tr_program_free(p);
    tr_plan_free(plan);
    tr_system_free(s);
    tr_model_free(model);
}

void bench_native(void)
{
    static const char *const names[] = {"bicycle", "sk8o", "car_linkage", "cart_pole", "chain"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) bench_model(names[i]);
    printf(
        "machine code: aims of the bicycle, where the interpreter takes 500 ns: 130; with 4 lanes "
        "40, with 8 lanes 25\n");
}
