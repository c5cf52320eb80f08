// SPDX-License-Identifier: Apache-2.0
#include "sim/sample.h"

#include "sim/control.h"

#include "num/dense.h"
#include "sim/normal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- clocks --------------------------------------------------------------------------------

static double time_due(const Clock *clock)
{
    return tr_period_time(&clock->period, (double)clock->count);
}

bool tr_samples_are_near(double due, double t) { return fabs(due - t) <= 1e-12 * fabs(t); }

double tr_samples_due(const Run *run)
{
    double due = (double)INFINITY;
    for (uint32_t i = 0; i < run->plan->system->clocked_count; i++)
        due = fmin(due, time_due(&run->clocks[i]));
    return due;
}

// ---- samples -------------------------------------------------------------------------------

// What is recorded, periods and seeds, and what is held after samples
static size_t number_of_values(const Run *run)
{
    const System *s = run->plan->system;
    return run->flow->column_count + 2 * (size_t)s->clocked_count + s->held_count;
}

bool tr_samples_begin(Run *run, tr_error *err)
{
    const System *s = run->plan->system;
    if (!s->clocked_count) return true;
    double *values = calloc(number_of_values(run), sizeof *values);
    if (!values) return tr_fail_memory(err), false;
    tr_flow_samples(run->flow, run->mover->t, run->mover->y, values);
    for (uint32_t i = 0; i < s->clocked_count; i++) {
        const double *of = values + run->flow->column_count + 2 * (size_t)i;
        run->clocks[i] = (Clock){.period = tr_period_of(of[0]), .seed = of[1]};
        if (!(of[0] > 0) || !isfinite(of[0]))
            tr_fail(err, TR_FAILED, s->clocked[i].place, "the period of '%.100s' must be positive",
                    s->clocked[i].name);
    }
    free(values);
    return !has_failed(err);
}

static bool is_due(const Clock *clock, double t)
{
    const double due = time_due(clock);
    return due <= t || tr_samples_are_near(due, t);
}

// Who is due, and the noise that comes with it; or nobody any more
static bool call(Run *run, bool now)
{
    const System *s = run->plan->system;
    double *inputs = run->flow->inputs;
    bool any = false;
    for (uint32_t i = 0; i < s->clocked_count; i++) {
        const Clocked *c = &s->clocked[i];
        const Clock *clock = &run->clocks[i];
        const bool due = now && is_due(clock, run->mover->t);
        inputs[c->due] = due, inputs[c->first] = due && !clock->count;
        if (c->noise != NO_INPUT)
            inputs[c->noise] =
                due ? tr_normal(tr_random_bits(clock->seed, c->name, clock->count)) : 0;
        any = any || due;
    }
    return any;
}

static void go_on(Run *run)
{
    for (uint32_t i = 0; i < run->plan->system->clocked_count; i++)
        if (is_due(&run->clocks[i], run->mover->t)) run->clocks[i].count++;
}

static bool check(const Run *run, const double *next, tr_error *err)
{
    const System *s = run->plan->system;
    for (uint32_t i = 0; i < s->held_count && !has_failed(err); i++) {
        const Held *h = &s->held[i];
        const Clocked *c = &s->clocked[h->clocked];
        if (!isfinite(next[i]))
            tr_fail(err, TR_FAILED, c->place, "the %s '%.100s'%s%.100s is not finite at t = %.9g",
                    c->is_sensor ? "sensor" : "controller", c->name,
                    c->is_sensor ? "" : ": what it says of ",
                    c->is_sensor ? "" : s->inputs[h->input].name, run->mover->t);
    }
    return !has_failed(err);
}

// What is held; and whether that changes anything that moves
static bool commit(Run *run, const double *next, bool *felt)
{
    const System *s = run->plan->system;
    double *inputs = run->flow->inputs;
    bool set = false;
    *felt = false;
    for (uint32_t i = 0; i < s->held_count; i++) {
        const bool changes = inputs[s->held[i].input] != next[i];
        *felt = *felt || (changes && s->held[i].is_felt);
        set = set || (changes && s->inputs[s->held[i].input].kind == TR_INPUT);
    }
    if (*felt) {
        tr_run_take_row(run);
        memcpy(run->before, run->row, run->columns * sizeof *run->row);
    }
    for (uint32_t i = 0; i < s->held_count; i++) inputs[s->held[i].input] = next[i];
    return set;
}

// What controllers set, against the ranges of these inputs
static bool are_within(const Run *run, tr_error *err)
{
    const System *s = run->plan->system;
    for (uint32_t i = 0; i < s->held_count; i++)
        if (s->inputs[s->held[i].input].kind == TR_INPUT &&
            !tr_control_within(run->flow, s->held[i].input, run->mover->t, err))
            return false;
    return true;
}

static bool sample(Run *run, double *values, tr_error *err)
{
    const double *next =
        values + run->flow->column_count + 2 * (size_t)run->plan->system->clocked_count;
    bool felt;
    tr_flow_samples(run->flow, run->mover->t, run->mover->y, values);
    call(run, false);
    if (!check(run, next, err)) return false;
    go_on(run);
    const bool set = commit(run, next, &felt);
    if (set && !are_within(run, err)) return false;
    if (felt && !tr_run_accept(run, "a controller or a sensor", err)) return false;
    return !set || !run->events.uses_inputs || tr_run_find_events(run, err);
}

bool tr_samples_take(Run *run, tr_error *err)
{
    const System *s = run->plan->system;
    if (!s->clocked_count || has_failed(err) || !call(run, true)) return !has_failed(err);
    double *values = calloc(number_of_values(run), sizeof *values);
    if (!values) return tr_fail_memory(err), false;
    const bool good = sample(run, values, err);
    free(values);
    return good;
}
