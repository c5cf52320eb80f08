// SPDX-License-Identifier: Apache-2.0
// What a step costs besides its evaluations: steps of rk4 without rows, and as many evaluations of
// the rates as they have stages, in turn.
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/run.h"

enum { STEPS = 1000, ROUNDS = 20 };

typedef struct Costs {
    double step, rates, watch, projection; // [s]
} Costs;

static void take_least(double *least, double start)
{
    *least = fmin(*least, (bench_now() - start) / STEPS);
}

static void time_parts(const Run *run, double *rate, Costs *best)
{
    Flow *flow = run->flow;
    const double t = run->mover->t, *y = run->mover->y;
    double start = bench_now();
    for (int i = 0; i < 4 * STEPS; i++) tr_flow_rate(flow, t + 1e-9 * i, y, rate);
    take_least(&best->rates, start);
    start = bench_now();
    for (int i = 0; i < STEPS && flow_program(flow, CHART_WATCH)->program; i++)
        tr_flow_watch(flow, t + 1e-9 * i, y);
    take_least(&best->watch, start);
    start = bench_now();
    for (int i = 0; i < STEPS; i++) tr_flow_project(flow, t + 1e-9 * i, run->mover->y);
    take_least(&best->projection, start);
}

static bool time_steps(Run *run, double *rate, Costs *best, tr_error *err)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (!tr_run_reset(run, err)) return false;
        const double start = bench_now();
        if (!tr_run_advance(run, STEPS * run->options.step, err)) return false;
        take_least(&best->step, start);
        time_parts(run, rate, best);
    }
    return true;
}

void bench_step(tr_model *model, const char *name, const char *case_name)
{
    tr_error err = {0};
    tr_derive_options how = tr_derive_defaults();
    how.case_name = case_name;
    tr_system *s = tr_derive(model, &how, &err);
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 1e-3;
    tr_run *run = tr_run_new(plan, &o, &err);
    Costs c = {(double)INFINITY, (double)INFINITY, (double)INFINITY, (double)INFINITY};
    double *rate = run ? calloc(run->flow->size, sizeof *rate) : NULL;
    if (!rate || !time_steps(run, rate, &c, &err))
        printf("step: %s: %s\n", name, err.text);
    else
        printf(
            "step: %-8s by rk4 without rows %6.2f us, four evaluations %6.2f us: %.2f times (aim "
            "1.5); watching %.2f us, projecting %.2f us\n",
            name, 1e6 * c.step, 1e6 * c.rates, c.step / c.rates, 1e6 * c.watch, 1e6 * c.projection);
    free(rate);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(s);
}
