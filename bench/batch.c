// SPDX-License-Identifier: Apache-2.0
// Runs of a batch against as many runs one after the other, by machine code and by the interpreter.
#include "bench/bench.h"

#include <stdio.h>

#include "expr/system.h"
#include "program/kernel.h"

enum { RUNS = 1000, SOME = 20 };
#define END 5.0 // [s]

typedef struct Kind {
    tr_system *system;
    tr_plan *plan;
    tr_run_options options;
} Kind;

static Kind open_kind(tr_model *model, const char *case_name, Evaluation how, tr_error *err)
{
    tr_derive_options o = tr_derive_defaults();
    o.case_name = case_name;
    Kind k = {.system = tr_derive(model, &o, err)};
    if (k.system) k.system->evaluation = how;
    k.plan = tr_plan_new(k.system, err);
    k.options = tr_run_defaults(k.plan);
    k.options.method = "rk4", k.options.step = 1e-3;
    return k;
}

static void close_kind(Kind *k)
{
    tr_plan_free(k->plan);
    tr_system_free(k->system);
}

// What runs differ in: evenly between two numbers
typedef struct Range {
    const char *name;
    double low, high;
} Range;

static double number_of(Range range, int i)
{
    return range.low + (range.high - range.low) * i / RUNS;
}

// Of one run [s], its start left out
static double time_alone(const Kind *k, Range range, tr_error *err)
{
    double time = 0;
    tr_run *run = tr_run_new(k->plan, &k->options, err);
    for (int i = 0; i < SOME; i++) {
        tr_run_set(run, range.name, number_of(range, RUNS / SOME * i), err);
        tr_run_reset(run, err);
        const double start = bench_now();
        tr_run_advance(run, END, err);
        time += bench_now() - start;
    }
    tr_run_free(run);
    return time / SOME;
}

static double time_together(const Kind *k, Range range, tr_error *err)
{
    tr_batch *batch = tr_batch_new(k->plan, RUNS, &k->options, err);
    for (size_t i = 0; i < RUNS; i++) {
        tr_batch_set(batch, i, range.name, number_of(range, (int)i), err);
        tr_batch_reset(batch, i, err);
    }
    const double start = bench_now();
    tr_batch_advance(batch, END, err);
    const double time = bench_now() - start;
    tr_batch_free(batch);
    return time / RUNS;
}

static void compare(const char *name, const char *case_name, Range range, const char *words)
{
    char path[200];
    tr_error err = {0};
    snprintf(path, sizeof path, "models/%s.yaml", name);
    tr_model *model = tr_model_read(path, &err);
    Kind native = open_kind(model, case_name, EVALUATE_NATIVE, &err),
         plain = open_kind(model, case_name, EVALUATE_INTERPRETER, &err);
    const double together = time_together(&native, range, &err);
    const double alone = time_alone(&native, range, &err),
                 interpreted = time_alone(&plain, range, &err);
    printf("batch: %d of %s by rk4, %d lanes, %g s at 1 ms: %.3f ms each; one after the other %.2f "
           "ms, %.1f "
           "times; by the interpreter %.2f ms, %.1f times (%s)%s%s\n",
           RUNS, name, tr_machine() == MACHINE_AVX2 ? 4 : 8, END, 1e3 * together, 1e3 * alone,
           alone / together, 1e3 * interpreted, interpreted / together, words,
           err.status ? ": " : "", err.text);
    close_kind(&native);
    close_kind(&plain);
    tr_model_free(model);
}

void bench_batch(void)
{
    static const char aim[] = "aim 12 with 4 lanes, 15 with 8";
    const Machine own = tr_machine();
    compare("bicycle", "free", (Range){"m0", 60, 110}, aim);
    tr_limit_machine(own < MACHINE_AVX2 ? own : MACHINE_AVX2); // as on a lesser processor
    compare("bicycle", "free", (Range){"m0", 60, 110}, aim);
    tr_limit_machine(own);
    compare("four_bar", "turns", (Range){"th1_rate_0", 0.5, 12},
            "all change charts, some often, each alone");
    compare("castor", NULL, (Range){"turn0", 0.1, 1.5}, "half of them change charts");
}
