// SPDX-License-Identifier: Apache-2.0
// A change of a latch ends a flow and begins another, with other rows open: until nothing pulls,
// and friction holds what sticks.
#include "run/latch.h"

#include "run/impact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER 1e-7 // friction that is used up, of what holds it
#define BELOW    1e-9 // where what starts open must not be [m]

// ---- states --------------------------------------------------------------------------------

void tr_latches_reset(System *s)
{
    for (uint32_t i = 0; i < s->latch_count; i++) {
        s->latches[i].is_open = s->latches[i].starts_open;
        s->latches[i].is_slipping = false;
        for (int k = 0; k < 3; k++) s->latches[i].heads[k] = 0;
    }
    tr_system_latch(s);
}

bool tr_alarm_matters(const System *s, uint32_t k)
{
    const Alarm *alarm = &s->alarms[k];
    if (alarm->kind <= ALARM_STOPS) return true;
    const Latch *latch = &s->latches[alarm->latch];
    switch (alarm->kind) {
    case ALARM_OPENS: return !latch->is_open;
    case ALARM_TOUCHES: return latch->is_open;
    case ALARM_SLIPS: return !latch->is_open && !latch->is_slipping;
    default: return !latch->is_open && latch->is_slipping;
    }
}

// Which of those that may slip do, with these velocities
static bool find_slipping(System *s, const double *inputs, tr_error *err)
{
    Expr *margins = calloc(s->alarm_count + 1u, sizeof *margins);
    double *values = calloc(s->alarm_count + 1u, sizeof *values);
    uint32_t count = 0;
    for (uint32_t k = 0; margins && k < s->alarm_count; k++)
        if (s->alarms[k].kind == ALARM_STICKS) margins[count++] = s->alarms[k].margin;
    if (!margins || !values) tr_fail_memory(err);
    const bool good = margins && values &&
                      tr_evaluate_once(s, margins, count, FIXED_PARAMETERS, inputs, values, err);
    for (uint32_t k = 0, i = 0; good && k < s->alarm_count; k++)
        if (s->alarms[k].kind == ALARM_STICKS)
            s->latches[s->alarms[k].latch].is_slipping = values[i++] > 0;
    free(margins);
    free(values);
    return good;
}

// What starts open is not behind what it may touch.
static bool check_gaps(System *s, const double *inputs, tr_error *err)
{
    const uint32_t count = s->latch_count;
    Expr *gaps = calloc(count + 1u, sizeof *gaps);
    double *values = calloc(count + 1u, sizeof *values);
    for (uint32_t i = 0; gaps && i < count; i++)
        gaps[i] = s->latches[i].is_open ? s->latches[i].gap : tr_constant(s, 0);
    if (!gaps || !values) tr_fail_memory(err);
    const bool good =
        gaps && values && tr_evaluate_once(s, gaps, count, FIXED_PARAMETERS, inputs, values, err);
    for (uint32_t i = 0; good && i < count; i++)
        if (values[i] < -BELOW)
            tr_fail(err, TR_INVALID, (Place){0},
                    "'%s' starts open, but %.3g m inside what it touches", s->latches[i].name,
                    -values[i]);
    free(gaps);
    free(values);
    return !has_failed(err);
}

static bool assemble(System *s, double *inputs, bool *solved, tr_error *err)
{
    bool slips = false;
    if (tr_assemble(s, inputs, solved, err)) return true;
    for (uint32_t i = 0; i < s->latch_count; i++) {
        slips = slips || s->latches[i].slips;
        s->latches[i].is_slipping = s->latches[i].slips;
    }
    if (!slips || err->status != TR_INVALID) return false;
    tr_error own = {0};
    tr_system_latch(s);
    const bool good = tr_assemble(s, inputs, solved, &own) && find_slipping(s, inputs, &own);
    tr_system_latch(s);
    if (!good || !tr_assemble(s, inputs, solved, &own)) return false;
    *err = own;
    return true;
}

bool tr_latches_assemble(System *s, double *inputs, bool *solved, tr_error *err)
{
    return assemble(s, inputs, solved, err) && (!s->latch_count || check_gaps(s, inputs, err));
}

// ---- slip ----------------------------------------------------------------------------------

// What holds each latch that may slip, in three entries each: along its rows that stick
static double *find_held(System *s, const double *x, tr_error *err)
{
    const uint32_t count = 3 * s->latch_count;
    Expr *rows = calloc(count + 1u, sizeof *rows);
    double *held = calloc(count + 1u, sizeof *held);
    if (!rows || !held) tr_fail_memory(err);
    for (uint32_t i = 0; rows && i < count; i++) {
        const Latch *latch = &s->latches[i / 3];
        rows[i] = i % 3 < latch->row_count && latch->sticks[i % 3]
                      ? s->rows[latch->rows[i % 3]].symbol
                      : tr_constant(s, 0);
    }
    if (rows && held) tr_evaluate_once(s, rows, count, FIXED_PARAMETERS, x, held, err);
    free(rows);
    if (!has_failed(err)) return held;
    free(held);
    return NULL;
}

// What held them was as much as there is, and so they go the other way: the latch of this alarm,
// and all that are as near to it, for what is symmetric stays so.
static bool begin_slip(System *s, uint32_t alarm, const double *margins, const double *x,
                       tr_error *err)
{
    double *held = find_held(s, x, err);
    for (uint32_t k = 0; held && k < s->alarm_count; k++) {
        if (s->alarms[k].kind != ALARM_SLIPS || !tr_alarm_matters(s, k)) continue;
        Latch *latch = &s->latches[s->alarms[k].latch];
        const double *F = held + 3 * s->alarms[k].latch;
        const double size = sqrt(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
        if (k != alarm && !(margins[k] < TOGETHER * size)) continue;
        for (int i = 0; i < 3; i++) latch->heads[i] = size > 0 ? -F[i] / size : 0;
        latch->is_slipping = true;
    }
    free(held);
    return !has_failed(err);
}

// ---- changes -------------------------------------------------------------------------------

static bool apply_change(System *s, double *x, const double *margins, double *fastest,
                         Switch *change, tr_error *err)
{
    Latch *latch = &s->latches[s->alarms[change->alarm].latch];
    switch (s->alarms[change->alarm].kind) {
    case ALARM_OPENS: latch->is_open = true, latch->is_slipping = false; return true;
    case ALARM_SLIPS: return begin_slip(s, change->alarm, margins, x, err);
    default: return tr_impact(s, x, margins, fastest, change, err);
    }
}

// The alarm of this kind with the least margin, of those that matter; false when none is negative.
static bool find_worst(const System *s, AlarmKind kind, const double *margins, uint32_t *alarm)
{
    double worst = 0;
    for (uint32_t k = 0; k < s->alarm_count; k++)
        if (s->alarms[k].kind == kind && tr_alarm_matters(s, k) && margins[k] < worst)
            worst = margins[k], *alarm = k;
    return worst < 0;
}

// Lets go of a contact that pulls, or that friction does not hold; true when there is one. What
// pulls while it sticks may push when it slips, whichever way: so that is tried first.
static bool release_untenable(Flow *flow, double t, tr_error *err)
{
    System *s = flow->system;
    double *margins = calloc(s->alarm_count + 1u, sizeof *margins);
    uint32_t alarm = 0;
    bool released = false;
    if (!margins) return tr_fail_memory(err), false;
    tr_flow_alarms(flow, t, flow->start, margins);
    if (find_worst(s, ALARM_OPENS, margins, &alarm)) {
        Latch *latch = &s->latches[s->alarms[alarm].latch];
        latch->is_open = !latch->slips || latch->is_slipping;
        latch->is_slipping = !latch->is_open;
        for (int k = 0; k < 3; k++) latch->heads[k] = 0;
        released = true;
    } else if (find_worst(s, ALARM_SLIPS, margins, &alarm))
        released = begin_slip(s, alarm, margins, flow->inputs, err);
    free(margins);
    return released;
}

// The flow from values of all inputs on, with as many latches open and slipping as must be
static Flow *settle(System *s, const double *x, double t, tr_error *err)
{
    Flow *flow = NULL;
    do {
        tr_system_latch(s);
        tr_flow_free(flow);
        flow = tr_flow_from(s, x, err);
    } while (flow && release_untenable(flow, t, err));
    if (!has_failed(err)) return flow;
    tr_flow_free(flow);
    return NULL;
}

Flow *tr_latches_settle(Flow *flow, double t, tr_error *err)
{
    if (!flow || !flow->system->latch_count) return flow;
    Flow *settled = NULL;
    if (!release_untenable(flow, t, err)) {
        if (!has_failed(err)) return flow;
    } else
        settled = settle(flow->system, flow->inputs, t, err);
    if (settled) memcpy(settled->solved, flow->solved, flow->system->input_count * sizeof(bool));
    tr_flow_free(flow);
    return settled;
}

// Whether rows hold and slip as they did
static bool are_same(const Latch *a, const Latch *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].is_open != b[i].is_open || a[i].is_slipping != b[i].is_slipping) return false;
    return true;
}

// The flow after a change: another one, but where all latches are as before.
static Flow *follow(Flow *flow, const Latch *before, const double *x, double t, tr_error *err)
{
    System *s = flow->system;
    if (are_same(before, s->latches, s->latch_count)) {
        tr_flow_restart(flow, x);
        if (!release_untenable(flow, t, err)) return has_failed(err) ? NULL : flow;
    }
    return settle(s, x, t, err);
}

static Flow *go_on(Flow *flow, const double *y, double *x, const Latch *before, double *fastest,
                   Switch *change, tr_error *err)
{
    System *s = flow->system;
    const double work = y[flow->own - 1];
    tr_flow_alarms(flow, change->t, y, x + s->input_count);
    tr_flow_put_all(flow, change->t, y);
    memcpy(x, flow->inputs, s->input_count * sizeof *x);
    if (!apply_change(s, x, x + s->input_count, fastest, change, err)) return NULL;
    Flow *next = follow(flow, before, x, change->t, err);
    if (!next) return NULL;
    if (next != flow) next->evaluations += flow->evaluations, next->jacobians += flow->jacobians;
    next->no_projection = flow->no_projection;
    next->start[next->own - 1] = work + change->gained;
    tr_flow_project(next, change->t, next->start);
    return next;
}

Flow *tr_latches_switch(Flow *flow, const double *y, double *fastest, Switch *change, tr_error *err)
{
    const System *s = flow->system;
    double *x = calloc((size_t)s->input_count + s->alarm_count + 1, sizeof *x);
    Latch *before = calloc(s->latch_count + 1u, sizeof *before);
    Flow *next = NULL;
    if (x && before) {
        memcpy(before, s->latches, s->latch_count * sizeof *before);
        next = go_on(flow, y, x, before, fastest, change, err);
    } else
        tr_fail_memory(err);
    free(before);
    free(x);
    return next;
}
