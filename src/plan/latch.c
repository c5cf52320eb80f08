// SPDX-License-Identifier: Apache-2.0
// A change of a latch ends a flow and begins another, with other rows open: until nothing pulls,
// and friction holds what sticks.
#include "plan/latch.h"

#include "num/cone.h"
#include "plan/contact_modes.h"
#include "plan/impact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tr_alarm_matters(const System *s, const LatchMode *modes, uint32_t k)
{
    const Alarm *alarm = &s->alarms[k];
    if (alarm->kind <= ALARM_STOPS) return true;
    if (alarm->kind == ALARM_HOLLOW && alarm->latch == NO_LATCH) return true;
    const LatchMode *mode = &modes[alarm->latch];
    switch (alarm->kind) {
    case ALARM_HOLLOW:
    case ALARM_OPENS: return !mode->is_open;
    case ALARM_TOUCHES: return mode->is_open;
    case ALARM_SLIPS: return !mode->is_open && !mode->is_slipping;
    default: return !mode->is_open && mode->is_slipping;
    }
}

// ---- modes ---------------------------------------------------------------------------------

// What is to be decided when something changes, or at the start
typedef struct Case {
    Plan *plan;
    const Footing *footing; // of the flow so far
    const double *x;        // all inputs
    double t;
    LatchMode *modes; // as they are so far
    bool *wary;       // by latch: whether it must be clear that it stays as it is
    size_t evaluations;
} Case;

// Those that are beyond what holds them at the start of the flow become wary; true when one was not
// before.
static bool become_wary(const Flow *flow, const double *margins, bool *wary)
{
    const System *s = flow->system;
    bool any = false;
    for (uint32_t k = 0; k < s->alarm_count; k++) {
        const AlarmKind kind = s->alarms[k].kind;
        if ((kind != ALARM_OPENS && kind != ALARM_SLIPS) || !(margins[k] < 0) ||
            !tr_alarm_matters(s, flow->modes, k))
            continue;
        any = any || !wary[s->alarms[k].latch];
        wary[s->alarms[k].latch] = true;
    }
    return any;
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
static bool release(const Flow *flow, const double *margins, LatchMode *modes)
{
    const System *s = flow->system;
    uint32_t alarm = 0;
    const bool pulls = find_worst(s, modes, ALARM_OPENS, margins, &alarm);
    if (!pulls && !find_worst(s, modes, ALARM_SLIPS, margins, &alarm)) return false;
    const uint32_t latch = s->alarms[alarm].latch;
    const bool opens = pulls && (!s->latches[latch].slips || modes[latch].is_slipping);
    modes[latch] = (LatchMode){.is_open = opens, .is_slipping = !opens};
    return true;
}

// The flow in these modes, in place of one before
static Flow *flow_in(Case *c, Flow *before, const LatchMode *modes, double *margins, tr_error *err)
{
    if (before) c->evaluations += before->all_evaluations;
    tr_flow_free(before);
    Flow *flow = tr_flow_from(c->plan, modes, c->x, NULL, err);
    if (tr_flow_ready(flow, FLOW_RUN, err)) tr_flow_alarms(flow, c->t, flow->start, margins);
    return flow;
}

// The flow from there on. Modes are found for all contacts together, from numbers; what the flow
// says then counts: a contact that it is beyond its limit in is decided on anew. Where numbers do
// not decide, contacts are let go one by one until all hold.
static Flow *settle(Case *c, double *margins, tr_error *err)
{
    const System *s = c->plan->system;
    LatchMode *modes = calloc(s->latch_count + 1u, sizeof *modes);
    Flow *flow = NULL;
    ModesFound found = MODES_FOUND;
    if (!modes) return tr_fail_memory(err), NULL;
    do {
        memcpy(modes, c->modes, s->latch_count * sizeof *modes);
        found = tr_contact_modes(c->plan, c->footing, c->x, c->t, c->wary, modes, err);
        c->evaluations++;
        flow = flow_in(c, flow, modes, margins, err);
    } while (flow && found == MODES_FOUND && become_wary(flow, margins, c->wary));
    while (flow && release(flow, margins, modes)) flow = flow_in(c, flow, modes, margins, err);
    memcpy(c->modes, modes, s->latch_count * sizeof *modes);
    free(modes);
    if (flow) flow->all_evaluations += c->evaluations;
    if (!has_failed(err)) return flow;
    tr_flow_free(flow);
    return NULL;
}

// ---- the start -----------------------------------------------------------------------------

// The same flow, where all contacts do what they can at its start
static Flow *settle_start(Flow *flow, Case *c, double *margins, tr_error *err)
{
    if (!tr_flow_ready(flow, 1u << CHART_WATCH, err)) return tr_flow_free(flow), NULL;
    tr_flow_alarms(flow, c->t, flow->start, margins);
    if (!become_wary(flow, margins, c->wary)) return flow;
    Flow *settled = settle(c, margins, err);
    if (settled) memcpy(settled->marks, flow->marks, flow->system->input_count);
    tr_flow_free(flow);
    return settled;
}

static void close_case(Case *c)
{
    free(c->modes);
    free(c->wary);
}

static bool open_case(Case *c, const Flow *flow, const double *x, double t, tr_error *err)
{
    const uint32_t latches = flow->system->latch_count;
    *c = (Case){.plan = flow->plan, .footing = flow->footing, .x = x, .t = t};
    c->modes = calloc(latches + 1u, sizeof *c->modes);
    c->wary = calloc(latches + 1u, sizeof *c->wary);
    if (!c->modes || !c->wary) return tr_fail_memory(err), close_case(c), false;
    memcpy(c->modes, flow->modes, latches * sizeof *c->modes);
    return true;
}

Flow *tr_latches_settle(Flow *flow, double t, tr_error *err)
{
    Case c;
    if (!flow || !flow->system->latch_count) return flow;
    double *margins = calloc(flow->system->alarm_count + 1u, sizeof *margins);
    if (!margins) tr_fail_memory(err);
    if (margins && open_case(&c, flow, flow->inputs, t, err)) {
        flow = settle_start(flow, &c, margins, err);
        close_case(&c);
    }
    free(margins);
    if (!has_failed(err)) return flow;
    tr_flow_free(flow);
    return NULL;
}

// ---- changes -------------------------------------------------------------------------------

// Those whose alarm goes off, and all of the same kind that are as near to it: what is symmetric
// stays so.
static void note_limits(const System *s, uint32_t alarm, const double *margins, Case *c)
{
    double most = 0;
    for (uint32_t k = 0; k < s->alarm_count; k++)
        if (s->alarms[k].kind == s->alarms[alarm].kind && tr_alarm_matters(s, c->modes, k))
            most = fmax(most, fabs(margins[k]));
    for (uint32_t k = 0; k < s->alarm_count; k++)
        if (s->alarms[k].kind == s->alarms[alarm].kind && tr_alarm_matters(s, c->modes, k))
            c->wary[s->alarms[k].latch] = k == alarm || margins[k] < TOGETHER * most;
}

// What a change makes of the velocities in x, and of what was open or slipped
static bool apply_change(Flow *flow, double *x, const double *margins, Case *c, double *fastest,
                         Switch *change, tr_error *err)
{
    const System *s = flow->system;
    const AlarmKind kind = s->alarms[change->alarm].kind;
    if (kind != ALARM_OPENS && kind != ALARM_SLIPS)
        return tr_impact(flow, x, margins, c->modes, fastest, change, err);
    note_limits(s, change->alarm, margins, c);
    return true;
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
static Flow *follow(Flow *flow, Case *c, double *margins, tr_error *err)
{
    if (are_same(flow->modes, c->modes, flow->system->latch_count)) {
        bool limited = false;
        for (uint32_t i = 0; i < flow->system->latch_count; i++) limited = limited || c->wary[i];
        if (!limited) {
            tr_flow_restart(flow, c->x);
            tr_flow_alarms(flow, c->t, flow->start, margins);
            if (!become_wary(flow, margins, c->wary)) return flow;
        }
    }
    return settle(c, margins, err);
}

// From values of all inputs on
static Flow *go_on_from(Flow *flow, Case *c, double *margins, double work, const Switch *change,
                        tr_error *err)
{
    Flow *next = follow(flow, c, margins, err);
    if (!next) return NULL;
    if (next != flow) {
        next->evaluations += flow->evaluations, next->jacobians += flow->jacobians;
        next->all_evaluations += flow->all_evaluations;
    }
    next->all_evaluations++; // by the impact
    next->no_projection = flow->no_projection;
    next->start[next->own - 1] = work + change->gained;
    tr_flow_project(next, change->t, next->start);
    return next;
}

static Flow *go_on(Flow *flow, const double *y, double *x, double *margins, Case *c,
                   double *fastest, Switch *change, tr_error *err)
{
    const System *s = flow->system;
    const Alarm *alarm = &s->alarms[change->alarm];
    const double work = y[flow->own - 1];
    tr_flow_alarms(flow, change->t, y, margins);
    tr_flow_fill_all(flow, change->t, y);
    memcpy(x, flow->inputs, s->input_count * sizeof *x);
    if (!apply_change(flow, x, margins, c, fastest, change, err)) return NULL;
    Flow *next = go_on_from(flow, c, margins, work, change, err);
    change->slips_on = next && (alarm->kind == ALARM_STICKS || alarm->kind == ALARM_RETURNS) &&
                       next->modes[alarm->latch].is_slipping;
    return next;
}

Flow *tr_latches_switch(Flow *flow, const double *y, double *fastest, Switch *change, tr_error *err)
{
    const System *s = flow->system;
    double *x = calloc((size_t)s->input_count + s->alarm_count + 1, sizeof *x);
    Case c;
    Flow *next = NULL;
    if (!x) tr_fail_memory(err);
    if (x && open_case(&c, flow, x, change->t, err)) {
        next = go_on(flow, y, x, x + s->input_count, &c, fastest, change, err);
        close_case(&c);
    }
    free(x);
    return next;
}

Flow *tr_latches_strike(Flow *flow, const double *before, double work, Switch *change,
                        tr_error *err)
{
    const System *s = flow->system;
    double *x = calloc((size_t)s->input_count + s->alarm_count + 1, sizeof *x);
    Case c;
    Flow *next = NULL;
    if (!x) tr_fail_memory(err);
    if (x && open_case(&c, flow, x, change->t, err)) {
        memcpy(x, before, s->input_count * sizeof *x);
        x[0] = tr_flow_time(flow, change->t);
        if (tr_blow(flow, before, x, c.modes, change, err))
            next =
                change->source ? go_on_from(flow, &c, x + s->input_count, work, change, err) : flow;
        close_case(&c);
    }
    free(x);
    return next;
}
