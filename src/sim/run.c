// SPDX-License-Identifier: Apache-2.0
// A run from the initial state on, for as long as someone asks (T92). Who does what on the way:
//
//   flow            the equation y' = f(t, y), in the chart that fits
//   stance, chart   rows and masses as numbers where the system stands; the chart that they ask for
//   method          steps of the equation; sundials.c has the adaptive ones
//   event           times at which formulas of t jump, known beforehand: steps stop there
//   go              moves from one to the next, over switches, and on with other contacts
//   path            where it was between its last states, and when something became negative there
//   watch           looks back at each step: has the rank of the constraints changed, did an alarm
//                   go off or a switch cross over, is another chart due?
//   latch, impact   what becomes of contacts, and of velocities, when such an alarm is theirs
//   snapshot        all of it in memory of the caller's, and back
#include "sim/run.h"
#include "sim/sample.h"

#include "base/options.h"
#include "num/dense.h"
#include "plan/blame.h"
#include "plan/column.h"
#include "plan/covariance.h"
#include "plan/kkt.h"
#include "plan/sensitivity.h"
#include "plan/start.h"
#include "plan/switch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const last_names[LAST_COLUMNS] = {[COLUMN_WORK] = "energy.work",
                                                     [COLUMN_POSITION] = "residual.position",
                                                     [COLUMN_VELOCITY] = "residual.velocity"};

// ---- rows ----------------------------------------------------------------------------------

void tr_run_labels(const Run *run, const char **labels)
{
    const Flow *flow = run->flow;
    labels[0] = "t";
    for (uint32_t i = 0; i < flow->column_count; i++) labels[i + 1] = flow->labels[i];
    for (uint32_t i = 0; i < LAST_COLUMNS; i++) labels[last_column(run, i)] = last_names[i];
    for (uint32_t i = run->plain; i < run->columns; i++)
        labels[i] = (flow->covariance ? tr_covariance_labels(flow)
                                      : tr_sensitivity_labels(flow))[i - run->plain];
}

static bool make_columns(Run *run, tr_error *err)
{
    const Flow *flow = run->flow;
    run->plain = 1 + flow->column_count + LAST_COLUMNS; // behind t
    run->columns = run->plain + tr_sensitivity_count(flow) + tr_covariance_count(flow);
    run->row = calloc(2 * (size_t)run->columns, sizeof *run->row);
    if (!run->row) return tr_fail_memory(err), false;
    run->before = run->row + run->columns;
    for (uint32_t i = 0; i < flow->column_count; i++) {
        if (text_is(text_of(flow->labels[i]), "energy.kinetic")) run->kinetic = i + 1;
        if (text_is(text_of(flow->labels[i]), "energy.potential")) run->potential = i + 1;
    }
    return true;
}

void tr_run_take_row(Run *run)
{
    const Mover *m = run->mover;
    run->row[0] = m->t;
    tr_flow_columns(run->flow, m->t, m->y, run->row + 1);
    run->row[last_column(run, COLUMN_WORK)] = m->y[run->flow->own - 1];
    tr_flow_residual(run->flow, m->t, m->y, &run->row[last_column(run, COLUMN_POSITION)],
                     &run->row[last_column(run, COLUMN_VELOCITY)]);
    if (run->flow->sensitivity)
        tr_sensitivity_columns(run->flow, m->t, m->y, run->row + run->plain);
    if (run->flow->covariance) tr_covariance_columns(run->flow, m->t, m->y, run->row + run->plain);
}

bool tr_run_check_reactions(Run *run, tr_error *err)
{
    const Mover *m = run->mover;
    const char *const *labels = run->flow->labels;
    char words[REASON_SIZE];
    Place place;
    for (uint32_t i = 0; i < run->flow->column_count && !has_failed(err); i++)
        if (!isfinite(run->row[i + 1]) && begins_with(labels[i], "lambda.")) {
            tr_flow_reason(run->flow, m->t, m->y, words, &place);
            tr_fail(err, TR_FAILED, place, "the reaction '%s' is not finite at t = %.6g%s",
                    labels[i] + 7, m->t, words);
        }
    return !has_failed(err);
}

bool tr_run_check_row(Run *run, tr_error *err)
{
    const Mover *m = run->mover;
    if (!tr_run_check_reactions(run, err)) return false;
    for (uint32_t i = 0; i < run->flow->column_count && !has_failed(err); i++)
        if (!isfinite(run->row[i + 1])) tr_flow_check_column(run->flow, m->t, m->y, i, err);
    return !has_failed(err);
}

// ---- inputs that change --------------------------------------------------------------------

// What is a state does not change at once: in first order velocities are none.          (T257)
static bool check_states(const Run *run, const char *who, tr_error *err)
{
    const System *s = run->flow->system;
    const bool is_first = s->order == 1;
    const uint32_t positions = tr_system_inputs(s, TR_POSITION, NULL),
                   velocities = tr_system_inputs(s, TR_VELOCITY, NULL);
    const uint32_t states = positions + (is_first ? 0 : velocities);
    const char *may = is_first ? "velocities" : "forces";
    const double *was = run->before, *is = run->row;
    for (uint32_t i = 1; i <= states; i++)
        if (is[i] != was[i])
            tr_fail(err, TR_FAILED, (Place){0},
                    "%.80s changes '%.80s' instantaneously at t = %.6g: it may change %s only", who,
                    run->flow->labels[i - 1], run->mover->t, may);
    const uint32_t residual = last_column(run, COLUMN_POSITION);
    if (is[residual] != was[residual])
        tr_fail(err, TR_FAILED, (Place){0},
                "%.80s changes a constraint on positions at t = %.6g: it may change %s only", who,
                run->mover->t, may);
    return !has_failed(err);
}

// Velocities that follow otherwise may ask for another chart at once.
static bool follow_otherwise(Run *run, tr_error *err)
{
    Mover *m = run->mover;
    const uint32_t positions = tr_system_inputs(run->flow->system, TR_POSITION, NULL),
                   velocities = tr_system_inputs(run->flow->system, TR_VELOCITY, NULL);
    bool changed;
    if (run->flow->system->order != 1) return true;
    tr_watch_leap(&m->watch, m->t, m->y);
    if (!tr_watch_chart(&m->watch, m->t, m->y, &changed, err)) return false;
    tr_run_take_row(run);
    if (!all_finite(run->row + 1 + positions, velocities))
        tr_flow_blame(run->flow, m->t, m->y, err);
    return !has_failed(err);
}

bool tr_run_accept(Run *run, const char *who, tr_error *err)
{
    tr_run_take_row(run);
    const double *was = run->before, *is = run->row;
    if (!check_states(run, who, err)) return false;
    run->mover->y[run->flow->own - 1] +=
        is[run->kinetic] - was[run->kinetic] + is[run->potential] - was[run->potential];
    tr_run_arouse(run);
    tr_run_take_sides(run);
    return tr_mover_restart(run->mover, tr_solver_last_step(run->mover)) &&
           follow_otherwise(run, err);
}

// A number that stands beside those it is set among, where there is no formula to leave
static double *follower_of(const System *s, uint32_t at, double *values, double *none)
{
    const uint32_t follower = tr_system_follower(s, at);
    return follower == NO_INPUT ? none : &values[follower];
}

static bool set_input(Run *run, uint32_t at, double value, tr_error *err)
{
    double *inputs = run->flow->inputs, none = 0;
    double *follows = follower_of(run->plan->system, at, inputs, &none);
    const double was = inputs[at], followed = *follows;
    enum { BEFORE = sizeof "the input '" - 1, MOST = 80 };
    char who[120] = "the input '"; // without printf, which would take a fifth of the time
    const char *name = run->plan->system->inputs[at].name;
    const size_t length = strnlen(name, MOST);
    memcpy(who + BEFORE, name, length);
    memcpy(who + BEFORE + length, "'", 2);
    if (value == was && followed == 0) return true;
    tr_run_take_row(run);
    memcpy(run->before, run->row, run->columns * sizeof *run->row);
    inputs[at] = value, *follows = 0;
    if (tr_plan_takes(run->plan, at, inputs, err) && tr_run_accept(run, who, err))
        return !run->events.uses_inputs || tr_run_find_events(run, err);
    inputs[at] = was, *follows = followed;
    return false;
}

void tr_run_put(Run *run, uint32_t at, double value)
{
    double none;
    run->values[at] = value;
    *follower_of(run->plan->system, at, run->values, &none) = 0;
    run->is_set[at] = run->is_changed = true;
}

static bool is_port(const Input *input)
{
    return input->kind == TR_INPUT || input->kind == TR_PARAMETER || input->kind == TR_START;
}

static bool may_be_set(const Input *input) { return is_port(input) && !input->is_controlled; }

static bool check_port(const System *s, size_t index, tr_error *err)
{
    if (index >= s->input_count || !is_port(&s->inputs[index]))
        tr_fail(err, TR_USAGE, (Place){0},
                "input %zu is no input, parameter or number of the start", index);
    else if (s->inputs[index].is_controlled)
        tr_fail(err, TR_USAGE, (Place){0}, "'%.80s' is set by a controller of the model",
                s->inputs[index].name);
    return !has_failed(err);
}

bool tr_run_check_finite(const Run *run, uint32_t input, double value, tr_error *err)
{
    if (!isfinite(value))
        tr_fail(err, TR_USAGE, (Place){0}, "'%.80s' cannot be set to something that is not finite",
                run->plan->system->inputs[input].name);
    return !has_failed(err);
}

void tr_run_set_at(Run *run, size_t index, double value, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return;
    const System *s = run->plan->system;
    if (!check_port(s, index, err) || !tr_run_check_finite(run, (uint32_t)index, value, err))
        return;
    if (s->inputs[index].kind == TR_INPUT && !run->failure.status &&
        !set_input(run, (uint32_t)index, value, err))
        return;
    tr_run_put(run, (uint32_t)index, value);
}

// The index of what may be set or asked for; NO_INPUT where nothing is called so.
static uint32_t find_port(const System *s, const char *name)
{
    for (uint32_t i = 0; name && i < s->input_count; i++)
        if (is_port(&s->inputs[i]) && strcmp(s->inputs[i].name, name) == 0) return i;
    return NO_INPUT;
}

static void refuse_name(const System *s, const char *name, tr_error *err)
{
    Suggestion nearest = {.wanted = text_of(name)};
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < s->input_count; i++)
        if (may_be_set(&s->inputs[i])) tr_suggest(&nearest, text_of(s->inputs[i].name));
    if (name && tr_system_find(s, text_of(name)))
        tr_fail(
            err, TR_USAGE, (Place){0},
            "'%.80s' cannot be set: only inputs can, and parameters that do not follow from others",
            name);
    else
        tr_fail(err, TR_USAGE, (Place){0}, "there is no input or parameter '%.80s'%s",
                name ? name : "", tr_hint(&nearest, hint));
}

uint32_t tr_run_find(const Run *run, const char *name, tr_error *err)
{
    const System *s = run->plan->system;
    const uint32_t at = find_port(s, name);
    if (at == NO_INPUT) return refuse_name(s, name, err), NO_INPUT;
    return check_port(s, at, err) ? at : NO_INPUT;
}

void tr_run_set(Run *run, const char *name, double value, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return;
    const uint32_t at = tr_run_find(run, name, err);
    if (at != NO_INPUT) tr_run_set_at(run, at, value, err);
}

bool tr_run_get(const Run *run, const char *name, double *value, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return false;
    const System *s = run->plan->system;
    const uint32_t at = find_port(s, name);
    if (at == NO_INPUT) return refuse_name(s, name, err), false;
    const uint32_t follower = tr_system_follower(s, at);
    const bool is_input = s->inputs[at].kind == TR_INPUT && run->flow;
    const double *values = is_input ? run->flow->inputs : run->values;
    *value = follower != NO_INPUT && values[follower] != 0 ? (double)NAN : values[at];
    return true;
}

// ---- the start -----------------------------------------------------------------------------

// The values of all inputs for a start: what was set, and what follows from it.
static bool find_values(const Run *run, double *values, tr_error *err)
{
    const System *s = run->plan->system;
    memcpy(values, run->values, s->input_count * sizeof *values);
    return !run->is_changed || (tr_plan_follow(run->plan, run->is_set, values, err) &&
                                tr_plan_permits(run->plan, values, err));
}

void tr_run_give_options(const Run *run, Mover *m)
{
    const tr_run_options *o = &run->options;
    m->step = o->step, m->rtol = o->rtol, m->atol = o->atol, m->dense = o->dense;
    m->progress = o->progress, m->say = o->say, m->owner = o->owner;
    m->most_steps = run->most_steps;
    m->end = o->end > 0 ? o->end : (double)INFINITY;
    m->watch.habits = run->habits, m->watch.spells = run->spells;
}

static Flow *flow_at_start(Run *run, tr_error *err)
{
    double *values = calloc(run->plan->system->input_count + 1u, sizeof *values);
    if (!values) return tr_fail_memory(err), NULL;
    Flow *flow = NULL;
    if (find_values(run, values, err) && tr_plan_allows(run->plan, err))
        flow = tr_flow_new(run->plan, values, err);
    free(values);
    if (!flow) return NULL;
    flow->no_projection = run->options.no_project;
    if (tr_flow_ready(flow, FLOW_RUN, err) &&
        (!flow->now->kkt || tr_kkt_agrees(flow->now->kkt, 0, flow->start, err)) &&
        tr_sensitivity_attach(flow, err) &&
        (!run->has_covariance || tr_covariance_attach(flow, err)))
        return flow;
    tr_flow_free(flow);
    return NULL;
}

bool tr_run_begin(Run *run, tr_error *err)
{
    Flow *flow = flow_at_start(run, err);
    Mover *m = flow ? tr_mover_open(run->method, flow, flow->start, err) : NULL;
    if (!m) {
        tr_flow_free(flow);
        return false;
    }
    tr_run_give_options(run, m);
    tr_mover_free(run->mover);
    tr_flow_free(run->flow);
    run->flow = flow, run->mover = m;
    run->fastest = 0, run->switches = 0, run->limit = (double)INFINITY;
    run->has_doubted = run->has_chattered = false, run->failure = (tr_error){0};
    for (uint32_t k = 0; k < flow->switch_count; k++)
        run->habits[k] = (Habit){.crossed = -(double)INFINITY};
    memset(run->spells, 0, flow->system->alarm_count * sizeof *run->spells);
    tr_run_take_sides(run);
    return (run->row || make_columns(run, err)) && tr_samples_begin(run, err) &&
           tr_run_find_events(run, err);
}

bool tr_run_reset(Run *run, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return false;
    if (!tr_run_begin(run, err)) return false;
    if (!tr_samples_take(run, err) || !tr_run_set_out(run, err)) run->failure = *err;
    return !has_failed(err);
}

static bool check_options(const tr_run_options *o, tr_error *err)
{
    if (!(o->step > 0) || !isfinite(o->step))
        tr_fail(err, TR_USAGE, (Place){0}, "the step must be positive");
    else if (!(o->rtol > 0) || !(o->atol >= 0))
        tr_fail(err, TR_USAGE, (Place){0}, "tolerances must be positive");
    else if (!(o->end >= 0))
        tr_fail(err, TR_USAGE, (Place){0}, "the end must not be negative");
    return !has_failed(err);
}

void tr_run_fill(tr_run_options *options, size_t size, const Plan *plan)
{
    const tr_simulate_options o = tr_simulate_defaults(plan ? plan->system : NULL);
    const tr_run_options plain = {
        .method = o.method, .step = o.step, .rtol = o.rtol, .atol = o.atol};
    tr_give_options(options, size, &plain, sizeof plain);
}

static Run *open_run(Plan *plan, const tr_run_options *o, const Method *method, tr_error *err)
{
    const size_t n = plan->system->input_count + 1u;
    Run *run = calloc(1, sizeof *run);
    if (!run) return tr_fail_memory(err), NULL;
    *run = (Run){.plan = plan, .options = *o, .method = method, .limit = (double)INFINITY};
    run->values = calloc(n, sizeof *run->values);
    run->is_set = calloc(n, sizeof *run->is_set);
    run->habits = calloc(tr_plan_switch_count(plan) + 1u, sizeof *run->habits);
    run->spells = calloc(plan->system->alarm_count + 1u, sizeof *run->spells);
    run->clocks = calloc(plan->system->clocked_count + 1u, sizeof *run->clocks);
    if (run->values && run->is_set && run->habits && run->spells && run->clocks) {
        tr_start_values(plan->system, run->values);
        return run;
    }
    tr_run_free(run);
    return tr_fail_memory(err), NULL;
}

Run *tr_run_open(Plan *plan, const tr_run_options *o, tr_error *err)
{
    if (!plan || has_failed(err) || !check_options(o, err)) return NULL;
    const Method *method = tr_method(o->method ? o->method : "", err);
    return method ? open_run(plan, o, method, err) : NULL;
}

Run *tr_run_new(Plan *plan, const tr_run_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_run_options o = tr_run_defaults(plan);
    if (!plan || !tr_take_options(&o, sizeof o, options, "tr_run_defaults", err)) return NULL;
    if (o.on && strcmp(o.on, "cpu") != 0)
        tr_fail(err, TR_USAGE, (Place){0},
                "a run by itself is made by the CPU: batches are on GPUs");
    if (o.single) tr_fail(err, TR_USAGE, (Place){0}, "only GPUs make steps in single precision");
    Run *run = tr_run_open(plan, &o, err);
    if (run && tr_run_reset(run, err)) return run;
    tr_run_free(run);
    return NULL;
}

void tr_run_empty(Run *run)
{
    tr_mover_free(run->mover);
    tr_flow_free(run->flow);
    tr_events_free(&run->events);
    free(run->values);
    free(run->is_set);
    free(run->habits);
    free(run->spells);
    free(run->clocks);
}

// But for the row, which is of one size
void tr_run_swap(Run *a, Run *b)
{
    const Run was = *a;
    *a = *b, *b = was;
}

void tr_run_free(Run *run)
{
    if (!run) return;
    tr_run_empty(run);
    free(run->row);
    free(run);
}

// ---- asking --------------------------------------------------------------------------------

double tr_run_time(const Run *run) { return run ? run->mover->t : (double)NAN; }

const double *tr_run_row(Run *run)
{
    if (!run || run->failure.status) return NULL;
    tr_run_take_row(run);
    return run->row;
}

bool tr_run_failed(const Run *run, tr_error *err)
{
    if (!run || !run->failure.status) return false;
    if (err && !err->status) *err = run->failure; // with its place in the model
    return true;
}

bool tr_run_advance(Run *run, double until, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return false;
    if (run->failure.status)
        tr_fail(err, run->failure.status, (Place){0}, "the run cannot go on: %.400s",
                run->failure.text);
    else if (!isfinite(until) || until < run->mover->t)
        tr_fail(err, TR_USAGE, (Place){0}, "a run at t = %.9g cannot go on to t = %.9g",
                run->mover->t, until);
    if (has_failed(err)) return false;
    run->mover->stopped = run->mover->told = false;
    run->limit = until; // inputs may change there
    if (tr_run_go(run, until, err)) return true;
    if (err->status)
        run->failure = *err;
    else
        tr_solver_arrive(run->mover);
    return false;
}

// ---- columns of a plan ---------------------------------------------------------------------

// What stands in column i of what the flow gives: an input, or an output
static const char *flow_column(const System *s, size_t index)
{
    size_t i = 0;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t k = 0; k < s->input_count; k++)
            if ((int)s->inputs[k].kind == kind && i++ == index) return s->inputs[k].name;
    for (uint32_t k = 0; k < s->output_count; k++)
        if (s->outputs[k].label && i++ == index) return s->outputs[k].label;
    return NULL;
}

size_t tr_plan_column_count(const Plan *plan)
{
    size_t count = 0;
    while (plan && flow_column(plan->system, count)) count++;
    return plan ? 1 + count + LAST_COLUMNS : 0;
}

const char *tr_plan_column_name(const Plan *plan, size_t index)
{
    const size_t count = tr_plan_column_count(plan);
    if (index >= count) return NULL;
    if (!index) return "t";
    const size_t last = count - LAST_COLUMNS;
    return index < last ? flow_column(plan->system, index - 1) : last_names[index - last];
}

const char *tr_plan_column_unit(const Plan *plan, size_t index)
{
    const char *name = tr_plan_column_name(plan, index);
    return name ? tr_quantity_unit(tr_column_port(plan->system, name).quantity) : NULL;
}
