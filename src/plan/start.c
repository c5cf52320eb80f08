// SPDX-License-Identifier: Apache-2.0
// A flow at its start: assembled (T80), with contacts that would pull open and those that friction
// does not hold slipping. With the model's own numbers that is found once for a plan.
#include "plan/start.h"

#include "num/dense.h"
#include "plan/blame.h"
#include "plan/latch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BELOW   1e-9  // where what starts open must not be [m]
#define AT_REST 1e-12 // what stands still, against what is fastest

void tr_start_values(const System *s, double *values)
{
    for (uint32_t i = 0; i < s->input_count; i++) values[i] = s->inputs[i].value;
}

// ---- contacts ------------------------------------------------------------------------------

// Which of those that may slip do, with these velocities
static bool find_slipping(Plan *plan, const Footing *footing, const double *x, LatchMode *modes,
                          tr_error *err)
{
    const System *s = plan->system;
    Evaluator program =
        tr_evaluator_with(tr_footing_program(plan, footing, FOOTING_SLIPS, err), err);
    double *values = calloc(s->alarm_count + 1u, sizeof *values);
    if (!values) tr_fail_memory(err);
    if (values && !has_failed(err)) {
        evaluate_into(&program, x, values);
        for (uint32_t k = 0, i = 0; k < s->alarm_count; k++)
            if (s->alarms[k].kind == ALARM_STICKS)
                modes[s->alarms[k].latch].is_slipping = values[i++] > 0;
    }
    tr_evaluator_free(&program);
    free(values);
    return !has_failed(err);
}

// By latch: its gap where it is open, and then the rate of its first row; NULL with an error
static double *gaps_and_rates(Plan *plan, const Footing *footing, const double *x, tr_error *err)
{
    Evaluator program =
        tr_evaluator_with(tr_footing_program(plan, footing, FOOTING_GAPS, err), err);
    double *values = calloc(2 * (size_t)plan->system->latch_count + 1, sizeof *values);
    if (!values) tr_fail_memory(err);
    if (values && !has_failed(err)) evaluate_into(&program, x, values);
    tr_evaluator_free(&program);
    if (!has_failed(err)) return values;
    free(values);
    return NULL;
}

// What starts open is not behind what it may touch.
static void refuse_gap(const System *s, const Latch *latch, double gap, tr_error *err)
{
    const Row *row = &s->rows[latch->rows[0]];
    if (latch->kind == LATCH_STOP)
        tr_fail(err, TR_INVALID, row->place, "'%s' starts %.3g beyond its %s limit",
                row->port.owner, -gap, row->port.component);
    else
        tr_fail(err, TR_INVALID, (Place){0}, "'%s' starts open, but %.3g m inside what it touches",
                latch->name, -gap);
}

static double fastest_of(const double *rates, uint32_t count)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++) most = larger(most, fabs(rates[i]));
    return most;
}

// A joint that stands at a stop is held there, unless forces say otherwise.               (T340)
static bool place_stops(Plan *plan, const Footing *footing, const double *x, LatchMode *modes,
                        tr_error *err)
{
    const System *s = plan->system;
    double *gap = gaps_and_rates(plan, footing, x, err), *rate = gap ? gap + s->latch_count : NULL;
    const double still = gap ? AT_REST * fastest_of(rate, s->latch_count) : 0;
    for (uint32_t i = 0; gap && i < s->latch_count; i++) {
        if (gap[i] < -BELOW) refuse_gap(s, &s->latches[i], gap[i], err);
        if (s->latches[i].kind == LATCH_STOP && gap[i] < BELOW && fabs(rate[i]) <= still)
            modes[i] = (LatchMode){0};
    }
    free(gap);
    return !has_failed(err);
}

// Dry friction of joints that move                                                        (T343)
static bool find_gripping(Plan *plan, const Footing *footing, const double *x, LatchMode *modes,
                          tr_error *err)
{
    const System *s = plan->system;
    double *gap = gaps_and_rates(plan, footing, x, err), *rate = gap ? gap + s->latch_count : NULL;
    const double still = gap ? AT_REST * fastest_of(rate, s->latch_count) : 0;
    for (uint32_t i = 0; gap && i < s->latch_count; i++) {
        if (s->latches[i].kind != LATCH_GRIP) continue;
        const bool moves = fabs(rate[i]) > still;
        modes[i] = (LatchMode){.is_slipping = moves, .heads = {moves ? copysign(1, rate[i]) : 0}};
    }
    free(gap);
    return !has_failed(err);
}

// ---- the state -----------------------------------------------------------------------------

static bool assemble_in(Plan *plan, const LatchMode *modes, double *x, uint8_t *marks,
                        tr_error *err)
{
    tr_latch_put(plan->system, modes, x);
    const Footing *f = tr_plan_footing(plan, modes, x, err);
    return f && tr_assemble((const ConditionSet *const *)f->conditions, x, marks, err);
}

// Where what sticks cannot: with all that may slip slipping, and then those that really do
static bool assemble_slipping(Plan *plan, const double *values, LatchMode *modes, double *x,
                              uint8_t *marks, tr_error *err)
{
    const System *s = plan->system;
    const size_t bytes = s->input_count * sizeof *x;
    for (uint32_t i = 0; i < s->latch_count; i++) modes[i].is_slipping = s->latches[i].slips;
    memcpy(x, values, bytes);
    if (!assemble_in(plan, modes, x, marks, err)) return false;
    const Footing *f = tr_plan_footing(plan, modes, x, err);
    if (!f || !find_slipping(plan, f, x, modes, err) || !find_gripping(plan, f, x, modes, err))
        return false;
    memcpy(x, values, bytes);
    return assemble_in(plan, modes, x, marks, err);
}

static bool assemble(Plan *plan, const double *values, LatchMode *modes, double *x, uint8_t *marks,
                     tr_error *err)
{
    const System *s = plan->system;
    bool slips = false;
    memcpy(x, values, s->input_count * sizeof *x);
    tr_latch_start(s, modes);
    if (assemble_in(plan, modes, x, marks, err)) return true;
    for (uint32_t i = 0; i < s->latch_count; i++) slips = slips || s->latches[i].slips;
    if (!slips || err->status != TR_INVALID) return false;
    tr_error own = {0};
    if (!assemble_slipping(plan, values, modes, x, marks, &own)) return false;
    *err = own;
    return true;
}

// ---- the flow ------------------------------------------------------------------------------

static Flow *make_flow(Plan *plan, const double *values, LatchMode *modes, double *x,
                       uint8_t *marks, tr_error *err)
{
    const System *s = plan->system;
    if (!assemble(plan, values, modes, x, marks, err)) {
        if (s->row_count && err->status == TR_INVALID) tr_explain_conflict(plan, modes, x, err);
        return NULL;
    }
    const Footing *f = tr_plan_footing(plan, modes, x, err);
    if (!f || (s->latch_count && !place_stops(plan, f, x, modes, err))) return NULL;
    Flow *flow = tr_flow_from(plan, modes, x, NULL, err);
    if (flow) memcpy(flow->marks, marks, s->input_count);
    return tr_latches_settle(flow, 0, err);
}

static Flow *find_start(Plan *plan, const double *values, tr_error *err)
{
    const System *s = plan->system;
    LatchMode *modes = calloc(s->latch_count + 1u, sizeof *modes);
    double *x = calloc(s->input_count + 1u, sizeof *x);
    uint8_t *marks = calloc(s->input_count + 1u, sizeof *marks);
    Flow *flow = NULL;
    if (modes && x && marks)
        flow = make_flow(plan, values, modes, x, marks, err);
    else
        tr_fail_memory(err);
    free(modes);
    free(x);
    free(marks);
    return flow;
}

// ---- the start of a plan -------------------------------------------------------------------

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    if (to && bytes) memcpy(to, from, bytes);
    return to;
}

// The chart of the flow goes over to the plan, which outlives it; unless another start came first.
// False when memory runs out.
static bool keep_start(Plan *plan, Flow *flow)
{
    const System *s = plan->system;
    Start *start = calloc(1, sizeof *start);
    if (!start) return false;
    start->inputs = copy_of(flow->inputs, s->input_count * sizeof(double));
    start->marks = copy_of(flow->marks, s->input_count);
    start->modes = copy_of(flow->modes, s->latch_count * sizeof(LatchMode));
    pthread_mutex_lock(&plan->lock);
    if (start->inputs && start->marks && start->modes && !plan->start) {
        start->chart = flow->now->own_chart, flow->now->own_chart = NULL;
        plan->start = start, start = NULL;
    }
    const bool is_kept = plan->start != NULL;
    pthread_mutex_unlock(&plan->lock);
    tr_start_free(start);
    return is_kept;
}

static const Start *known_start(Plan *plan)
{
    pthread_mutex_lock(&plan->lock);
    const Start *start = plan->start;
    pthread_mutex_unlock(&plan->lock);
    return start;
}

static Flow *flow_from_start(Plan *plan, const Start *start, tr_error *err)
{
    Flow *flow = tr_flow_from(plan, start->modes, start->inputs, start->chart, err);
    if (flow) memcpy(flow->marks, start->marks, plan->system->input_count);
    return flow;
}

// Whether values are the model's own
static bool are_own(const System *s, const double *values)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (values[i] != s->inputs[i].value) return false;
    return true;
}

Flow *tr_flow_new(Plan *plan, const double *values, tr_error *err)
{
    if (!plan || has_failed(err)) return NULL;
    if (values && !are_own(plan->system, values)) return find_start(plan, values, err);
    const Start *start = known_start(plan);
    if (start) return flow_from_start(plan, start, err);
    double *own = calloc(plan->system->input_count + 1u, sizeof *own);
    if (!own) return tr_fail_memory(err), NULL;
    tr_start_values(plan->system, own);
    Flow *flow = find_start(plan, own, err);
    free(own);
    if (flow && tr_flow_has_mass(flow, err) && !keep_start(plan, flow)) tr_fail_memory(err);
    if (!has_failed(err)) return flow;
    tr_flow_free(flow);
    return NULL;
}

// ---- the doctor ----------------------------------------------------------------------------

const Findings *tr_plan_examine(Plan *plan, tr_error *err)
{
    if (has_failed(err) || !plan->system->row_count) return NULL;
    pthread_mutex_lock(&plan->lock);
    const Findings *known = plan->findings;
    pthread_mutex_unlock(&plan->lock);
    if (known) return known;
    Flow *flow = tr_flow_new(plan, NULL, err);
    Findings *found = flow ? tr_examine(flow, err) : NULL;
    pthread_mutex_lock(&plan->lock);
    if (found && !plan->findings) {
        found->chart = plan->start->chart; // which stays
        plan->findings = found, found = NULL;
    }
    known = plan->findings;
    pthread_mutex_unlock(&plan->lock);
    tr_findings_free(found);
    tr_flow_free(flow);
    return has_failed(err) ? NULL : known;
}

bool tr_plan_allows(Plan *plan, tr_error *err)
{
    const Findings *findings = tr_plan_examine(plan, err);
    return !has_failed(err) && (!findings || tr_findings_allow(findings, err));
}
