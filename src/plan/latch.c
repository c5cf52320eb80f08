// SPDX-License-Identifier: Apache-2.0
// A change of a latch ends a flow and begins another, with other rows open: until nothing pulls,
// and friction holds what sticks.
#include "plan/latch.h"

#include "plan/impact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER 1e-7 // friction that is used up, of what holds it

bool tr_alarm_matters(const System *s, const LatchMode *modes, uint32_t k)
{
    const Alarm *alarm = &s->alarms[k];
    if (alarm->kind <= ALARM_STOPS) return true;
    const LatchMode *mode = &modes[alarm->latch];
    switch (alarm->kind) {
    case ALARM_OPENS: return !mode->is_open;
    case ALARM_TOUCHES: return mode->is_open;
    case ALARM_SLIPS: return !mode->is_open && !mode->is_slipping;
    default: return !mode->is_open && mode->is_slipping;
    }
}

// ---- slip ----------------------------------------------------------------------------------

// What held them was as much as there is, and so they go the other way: the latch of this alarm,
// and all that are as near to it, for what is symmetric stays so. `x` is the state of the flow.
static bool begin_slip(const Flow *flow, uint32_t alarm, const double *margins, const double *x,
                       LatchMode *modes, tr_error *err)
{
    const System *s = flow->system;
    Evaluator program = tr_evaluator_with(flow->now->programs->held, err);
    double *held = calloc(3 * (size_t)s->latch_count + 1, sizeof *held);
    if (!held) tr_fail_memory(err);
    if (held && !has_failed(err)) evaluate_into(&program, x, held);
    for (uint32_t k = 0; held && !has_failed(err) && k < s->alarm_count; k++) {
        if (s->alarms[k].kind != ALARM_SLIPS || !tr_alarm_matters(s, modes, k)) continue;
        LatchMode *mode = &modes[s->alarms[k].latch];
        const double *F = held + 3 * s->alarms[k].latch;
        const double size = sqrt(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
        if (k != alarm && !(margins[k] < TOGETHER * size)) continue;
        for (int i = 0; i < 3; i++) mode->heads[i] = size > 0 ? -F[i] / size : 0;
        mode->is_slipping = true;
    }
    tr_evaluator_free(&program);
    free(held);
    return !has_failed(err);
}

// ---- changes -------------------------------------------------------------------------------

// What a change makes of the modes and, in x, of the velocities
static bool apply_change(Flow *flow, double *x, const double *margins, LatchMode *modes,
                         double *fastest, Switch *change, tr_error *err)
{
    const System *s = flow->system;
    LatchMode *mode = &modes[s->alarms[change->alarm].latch];
    switch (s->alarms[change->alarm].kind) {
    case ALARM_OPENS: mode->is_open = true, mode->is_slipping = false; return true;
    case ALARM_SLIPS: return begin_slip(flow, change->alarm, margins, x, modes, err);
    default: return tr_impact(flow, x, margins, modes, fastest, change, err);
    }
}

// The alarm of this kind with the least margin, of those that matter; false when none is negative.
static bool find_worst(const System *s, const LatchMode *modes, AlarmKind kind,
                       const double *margins, uint32_t *alarm)
{
    double worst = 0;
    for (uint32_t k = 0; k < s->alarm_count; k++)
        if (s->alarms[k].kind == kind && tr_alarm_matters(s, modes, k) && margins[k] < worst)
            worst = margins[k], *alarm = k;
    return worst < 0;
}

// Lets go of a contact that pulls at the start of the flow, or that friction does not hold; true
// when there is one. What pulls while it sticks may push when it slips, whichever way: so that is
// tried first.
static bool release_untenable(Flow *flow, double t, LatchMode *modes, tr_error *err)
{
    const System *s = flow->system;
    double *margins = calloc(s->alarm_count + 1u, sizeof *margins);
    uint32_t alarm = 0;
    bool released = false;
    if (!margins) return tr_fail_memory(err), false;
    tr_flow_alarms(flow, t, flow->start, margins);
    if (find_worst(s, modes, ALARM_OPENS, margins, &alarm)) {
        const uint32_t latch = s->alarms[alarm].latch;
        LatchMode *mode = &modes[latch];
        mode->is_open = !s->latches[latch].slips || mode->is_slipping;
        mode->is_slipping = !mode->is_open;
        for (int k = 0; k < 3; k++) mode->heads[k] = 0;
        released = true;
    } else if (find_worst(s, modes, ALARM_SLIPS, margins, &alarm))
        released = begin_slip(flow, alarm, margins, flow->inputs, modes, err),
        flow->all_evaluations++;
    free(margins);
    return released;
}

// The flow from values of all inputs on, with as many latches open and slipping as must be
static Flow *settle(Plan *plan, LatchMode *modes, const double *x, double t, tr_error *err)
{
    Flow *flow = NULL;
    size_t evaluations = 0;
    do {
        if (flow) evaluations = flow->all_evaluations;
        tr_flow_free(flow);
        flow = tr_flow_from(plan, modes, x, NULL, err);
        if (flow) flow->all_evaluations += evaluations;
    } while (flow && release_untenable(flow, t, modes, err));
    if (!has_failed(err)) return flow;
    tr_flow_free(flow);
    return NULL;
}

Flow *tr_latches_settle(Flow *flow, double t, tr_error *err)
{
    if (!flow || !flow->system->latch_count) return flow;
    LatchMode *modes = calloc(flow->system->latch_count, sizeof *modes);
    Flow *settled = NULL;
    if (!modes) tr_fail_memory(err);
    if (modes) memcpy(modes, flow->modes, flow->system->latch_count * sizeof *modes);
    if (modes && !release_untenable(flow, t, modes, err)) {
        free(modes);
        if (!has_failed(err)) return flow;
        tr_flow_free(flow);
        return NULL;
    }
    if (modes) settled = settle(flow->plan, modes, flow->inputs, t, err);
    if (settled) memcpy(settled->marks, flow->marks, flow->system->input_count);
    free(modes);
    tr_flow_free(flow);
    return settled;
}

// Whether rows hold and slip as they did
static bool are_same(const LatchMode *a, const LatchMode *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].is_open != b[i].is_open || a[i].is_slipping != b[i].is_slipping) return false;
    return true;
}

// The flow after a change: another one, but where all latches are as before. What slips on then
// keeps its heading: friction stays against it until it holds.
static Flow *follow(Flow *flow, LatchMode *modes, const double *x, double t, tr_error *err)
{
    const uint32_t count = flow->system->latch_count;
    if (are_same(flow->modes, modes, count)) {
        tr_flow_restart(flow, x);
        if (!release_untenable(flow, t, modes, err)) return has_failed(err) ? NULL : flow;
    }
    return settle(flow->plan, modes, x, t, err);
}

// From values of all inputs on, in these modes
static Flow *go_on_from(Flow *flow, const double *x, LatchMode *modes, double work,
                        const Switch *change, tr_error *err)
{
    Flow *next = follow(flow, modes, x, change->t, err);
    if (!next) return NULL;
    if (next != flow) {
        next->evaluations += flow->evaluations, next->jacobians += flow->jacobians;
        next->all_evaluations += flow->all_evaluations;
    }
    next->all_evaluations++; // by the impact, or what held
    next->no_projection = flow->no_projection;
    next->start[next->own - 1] = work + change->gained;
    tr_flow_project(next, change->t, next->start);
    return next;
}

static Flow *go_on(Flow *flow, const double *y, double *x, LatchMode *modes, double *fastest,
                   Switch *change, tr_error *err)
{
    const System *s = flow->system;
    const double work = y[flow->own - 1];
    const size_t all = s->input_count + flow->switch_count;
    tr_flow_alarms(flow, change->t, y, x + all);
    tr_flow_fill_all(flow, change->t, y);
    memcpy(x, flow->inputs, all * sizeof *x);
    if (!apply_change(flow, x, x + all, modes, fastest, change, err)) return NULL;
    return go_on_from(flow, x, modes, work, change, err);
}

Flow *tr_latches_switch(Flow *flow, const double *y, double *fastest, Switch *change, tr_error *err)
{
    const System *s = flow->system;
    const size_t inputs = s->input_count + flow->switch_count;
    double *x = calloc(inputs + s->alarm_count + 1, sizeof *x);
    LatchMode *modes = calloc(s->latch_count + 1u, sizeof *modes);
    Flow *next = NULL;
    if (x && modes) {
        memcpy(modes, flow->modes, s->latch_count * sizeof *modes);
        next = go_on(flow, y, x, modes, fastest, change, err);
    } else
        tr_fail_memory(err);
    free(modes);
    free(x);
    return next;
}

Flow *tr_latches_strike(Flow *flow, const double *before, double work, Switch *change,
                        tr_error *err)
{
    const uint32_t count = flow->system->latch_count, inputs = flow->system->input_count;
    LatchMode *modes = calloc(count + 1u, sizeof *modes);
    double *x = calloc(inputs + 1u, sizeof *x);
    Flow *next = NULL;
    if (x && modes) {
        if (count) memcpy(modes, flow->modes, count * sizeof *modes);
        memcpy(x, before, inputs * sizeof *x);
        x[0] = tr_flow_time(flow, change->t);
        if (tr_blow(flow, before, x, modes, change, err))
            next = change->source ? go_on_from(flow, x, modes, work, change, err) : flow;
    } else
        tr_fail_memory(err);
    free(modes);
    free(x);
    return next;
}
