// SPDX-License-Identifier: Apache-2.0
// A run from the initial state on, for as long as someone asks (T92). Who does what on the way:
//
//   flow            the equation y' = f(t, y), in the chart that fits
//   stance, chart   rows and masses as numbers where the system stands; the chart that they ask for
//   method          steps of the equation; sundials.c has the adaptive ones
//   event           times at which formulas of t jump, known beforehand: steps stop there
//   path            where it was between its last states, and when something became negative there
//   watch           looks back at each step: has the rank of the constraints changed, did an alarm
//                   go off, is another chart due?
//   latch, impact   what becomes of contacts, and of velocities, when such an alarm is theirs
//   snapshot        all of it in memory of the caller's, and back
#include "sim/run.h"

#include "base/options.h"
#include "plan/column.h"
#include "plan/kkt.h"
#include "plan/sensitivity.h"
#include "plan/side.h"
#include "plan/start.h"
#include "plan/switch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTRA_COLUMNS = 4 }; // t before, and work and two residuals behind what the flow gives
#define AT_ONCE 1e-7        // [s]

static const char *const behind[] = {"energy.work", "residual.position", "residual.velocity"};

// ---- rows ----------------------------------------------------------------------------------

void tr_run_labels(const Run *run, const char **labels)
{
    const Flow *flow = run->flow;
    labels[0] = "t";
    for (uint32_t i = 0; i < flow->column_count; i++) labels[i + 1] = flow->labels[i];
    for (uint32_t i = 0; i < 3; i++) labels[run->plain - 3 + i] = behind[i];
    for (uint32_t i = run->plain; i < run->columns; i++)
        labels[i] = tr_sensitivity_labels(flow)[i - run->plain];
}

static bool make_columns(Run *run, tr_error *err)
{
    const Flow *flow = run->flow;
    run->plain = flow->column_count + EXTRA_COLUMNS;
    run->columns = run->plain + tr_sensitivity_count(flow);
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
    run->row[run->plain - 3] = m->y[run->flow->own - 1];
    double *residual = run->row + run->plain - 2;
    tr_flow_residual(run->flow, m->t, m->y, &residual[0], &residual[1]);
    if (run->columns > run->plain)
        tr_sensitivity_columns(run->flow, m->t, m->y, run->row + run->plain);
}

// ---- events in t ---------------------------------------------------------------------------

// When the first of the switches that rest is to be looked at
static double end_of_rest(const Run *run)
{
    double first = (double)INFINITY;
    for (uint32_t k = 0; k < run->flow->switch_count; k++)
        if (run->habits[k].rests > run->mover->t) first = fmin(first, run->habits[k].rests);
    return first;
}

// No step passes an event, what is known of events, or what the owner of the run says.
static void set_limit(Run *run)
{
    const Events *e = &run->events;
    const double event = run->next_event < e->count ? e->at[run->next_event] : (double)INFINITY;
    run->mover->limit = fmin(fmin(event, e->until), fmin(run->limit, end_of_rest(run)));
}

// On the far side of the events before the k-th.
static void pass_event(Run *run, uint32_t k)
{
    const Events *e = &run->events;
    run->flow->earliest = k ? e->beyond[k - 1] : -(double)INFINITY;
    run->flow->latest = k < e->count ? nextafter(e->at[k], -(double)INFINITY) : (double)INFINITY;
    run->next_event = k;
    set_limit(run);
}

// Says, once, that a jump may have been missed.
static bool look_for_events(Run *run, double until, tr_error *err)
{
    if (!tr_events_extend(&run->events, run->flow, until, err)) return false;
    if (run->doubt[0] || !tr_events_doubt(&run->events, run->doubt, sizeof run->doubt)) return true;
    if (run->options.say) run->options.say(run->options.owner, run->doubt);
    return true;
}

bool tr_run_find_events(Run *run, tr_error *err)
{
    const double end = run->options.end > 0 ? run->options.end : (double)INFINITY;
    const double t = run->mover->t, passed = run->flow->earliest;
    tr_events_free(&run->events);
    if (!tr_events_begin(&run->events, run->flow, t, end, err) || !look_for_events(run, t, err))
        return false;
    uint32_t k = 0;
    while (k < run->events.count && run->events.at[k] <= fmax(passed, nextafter(t, -1))) k++;
    pass_event(run, k);
    run->flow->earliest = passed;
    return true;
}

// ---- going on with other contacts ----------------------------------------------------------

// Goes on with another mover what one began.
static void hand_on(Mover *from, Mover *to)
{
    to->step = from->step, to->rtol = from->rtol, to->atol = from->atol, to->dense = from->dense;
    to->progress = from->progress, to->say = from->say, to->owner = from->owner;
    to->end = from->end, to->outlook = from->outlook, to->most_steps = from->most_steps;
    to->watch.habits = from->watch.habits;
    to->steps = from->steps, to->failed_steps = from->failed_steps, to->drift = from->drift;
    to->watch.changes = from->watch.changes;
    to->watch.warnings = from->watch.warnings;
    from->watch.warnings = (Warnings){0};
    const System *s = to->flow->system;
    for (uint32_t k = 0; k < s->alarm_count; k++)
        to->watch.told[k] = s->alarms[k].kind == ALARM_WARNS && from->watch.told[k];
}

// Goes on at t with a flow that may be another one.
static bool take_over(Run *run, Flow *flow, double t, tr_error *err)
{
    Mover *before = run->mover;
    Mover *m = flow ? tr_mover_new(before->method, flow, flow->start, err) : NULL;
    if (!m && flow != run->flow) tr_flow_free(flow);
    if (!m) return false;
    hand_on(before, m);
    tr_mover_free(before);
    if (flow != run->flow) tr_flow_free(run->flow);
    run->flow = flow, run->mover = m;
    m->t = t;
    tr_run_take_sides(run);
    pass_event(run, run->next_event);
    return true;
}

// ---- blows ---------------------------------------------------------------------------------

// From the state on the near side, with the formulas of the far side
static bool strike(Run *run, const Side *before, tr_error *err)
{
    Switch change = {.t = run->mover->t};
    const double work = run->mover->y[run->flow->own - 1];
    Flow *flow = tr_latches_strike(run->flow, before->x, work, &change, err);
    if (!flow || !change.source) return flow != NULL;
    if (run->flow->sensitivity) {
        tr_fail(err, TR_FAILED, (Place){0},
                "the rate of '%.100s' jumps at t = %.9g: sensitivities do not go on from there",
                change.source, change.t);
        if (flow != run->flow) tr_flow_free(flow);
        return false;
    }
    if (!take_over(run, flow, change.t, err)) return false;
    if (run->note) run->note(run->note_owner, &change);
    return tr_watch_start(&run->mover->watch, change.t, run->mover->y, err);
}

// Where motions or constraints may jump, or their rates, at the event that it stands at: passes it.
static bool pass_blow(Run *run, tr_error *err)
{
    const double at = run->events.at[run->next_event];
    Side before, after = {0};
    bool good = tr_side_open(&before, run->flow, err) && tr_side_open(&after, run->flow, err);
    if (good) tr_side_take(&before, run->flow, at, run->mover->y);
    pass_event(run, run->next_event + 1);
    if (good) tr_side_take(&after, run->flow, at, run->mover->y);
    good = good && tr_sides_meet(run->flow, &before, &after, at, err);
    if (good && tr_sides_strike(run->flow, &before, &after)) good = strike(run, &before, err);
    tr_side_close(&before);
    tr_side_close(&after);
    return good;
}

// Goes on beyond the event that it stands at.
static bool cross_event(Run *run, tr_error *err)
{
    const double beyond = run->events.beyond[run->next_event];
    if (!tr_sensitivity_passes(run->flow, run->flow->latest, beyond, run->mover->y, err))
        return false;
    const bool goes_on = tr_mover_restart(run->mover, 0);
    if (run->events.strikes) return goes_on && pass_blow(run, err);
    pass_event(run, run->next_event + 1);
    tr_run_take_sides(run);
    return goes_on;
}

// Too near to make a step to: `t > 0` is true from 5e-324 on.
static bool is_at_once(double t, double event) { return event > t && event - t < 1e-100; }

// Moves on to `until`, from event to event. One that stands there is not passed, for what is
// recorded comes first: unless velocities may jump, which are recorded as they are after it.
static bool move(Run *run, double until, tr_error *err)
{
    while (run->next_event < run->events.count && run->events.at[run->next_event] <= until) {
        Mover *m = run->mover;
        const double event = run->events.at[run->next_event];
        if (is_at_once(m->t, event))
            m->t = event;
        else if (event > m->t && !m->method->advance(m, event, err))
            return false;
        if (event == until && !run->events.strikes) return true;
        if (!cross_event(run, err)) return false;
    }
    return until <= run->mover->t || run->mover->method->advance(run->mover, until, err);
}

// ---- switches ------------------------------------------------------------------- (T123) ----

enum { IN_A_HURRY = 5 }; // times that a switch may cross again at once
#define NOTICEABLE  1e-9 // rates that jump, against their size
#define PART_OF_RUN 2e-5 // that a switch rests which is in a hurry,
#define WITHOUT_END 1e-4 // or [s]

static double rest_of(const Run *run)
{
    return run->options.end > 0 ? PART_OF_RUN * run->options.end : WITHOUT_END;
}

void tr_run_take_sides(Run *run)
{
    Flow *flow = run->flow;
    const uint32_t count = flow->switch_count;
    if (!count || !tr_flow_has_switches(flow)) return;
    double *found = run->mover->watch.switches;
    for (uint32_t k = 0; k < count; k++)
        if (!(run->mover->t < run->habits[k].rests)) flow->sides[k] = 0;
    tr_flow_switches(flow, run->mover->t, run->mover->y, found);
    for (uint32_t k = 0; k < count; k++)
        if (!run->habits[k].is_calm && !(run->mover->t < run->habits[k].rests))
            flow->sides[k] = isfinite(found[count + k]) ? found[count + k] : 0;
}

// One that crosses again and again rests, and that is said once.
static void keep_habit(Run *run, double t, uint32_t k)
{
    Habit *h = &run->habits[k];
    const double rest = rest_of(run);
    const bool again = t - h->crossed < (h->hurry < IN_A_HURRY ? 1 : 3) * rest;
    h->hurry = again ? h->hurry + 1 : 0, h->crossed = t;
    h->rests = h->hurry < IN_A_HURRY ? 0 : t + rest;
    if (h->hurry < IN_A_HURRY || run->chatter[0]) return;
    const char *formula = run->plan->switches[k].words;
    snprintf(run->chatter, sizeof run->chatter,
             "%s%.100s%s switches to and fro at t = %.6g: from there on no more often than every "
             "%.2g s",
             formula[0] ? "'" : "a formula of the state", formula, formula[0] ? "'" : "", t, rest);
    if (run->options.say) run->options.say(run->options.owner, run->chatter);
}

// That one, and all that cross at the same time
static void cross_together(Run *run, uint32_t k)
{
    const Flow *flow = run->flow;
    for (uint32_t i = 0; i < flow->switch_count; i++) run->habits[i].side = flow->sides[i];
    tr_run_take_sides(run);
    for (uint32_t i = 0; i < flow->switch_count; i++)
        if (i == k || flow->sides[i] != run->habits[i].side) keep_habit(run, run->mover->t, i);
}

static bool do_rates_jump(const double *before, const double *after, uint32_t count)
{
    double largest = 0;
    for (uint32_t i = 0; i < count; i++) largest = fmax(largest, fabs(before[i]));
    for (uint32_t i = 0; i < count; i++)
        if (!(fabs(after[i] - before[i]) <= NOTICEABLE * (fabs(before[i]) + NOTICEABLE * largest)))
            return true;
    return false;
}

// What crossing over does at the state that the mover is put into: whether rates jump.
static bool pass_over(Run *run, uint32_t k, Side *before, Side *after, bool *jumps, tr_error *err)
{
    Flow *flow = run->flow;
    Mover *m = run->mover;
    double *rate = m->work, *then = rate + flow->size;
    tr_flow_rate(flow, m->t, m->y, rate);
    tr_side_take(before, flow, m->t, m->y);
    run->habits[k].rests = 0;
    cross_together(run, k);
    tr_flow_rate(flow, m->t, m->y, then);
    tr_side_take(after, flow, m->t, m->y);
    *jumps = do_rates_jump(rate, then, flow->own);
    if (!*jumps && m->method->adaptive) run->habits[k].is_calm = true; // steps see to it
    return tr_sides_meet(flow, before, after, m->t, err);
}

// Where a switch crosses over, at (t, y): from there on formulas are on its other side.
static bool cross_over(Run *run, double t, const double *y, uint32_t k, tr_error *err)
{
    Flow *flow = run->flow;
    Mover *m = run->mover;
    Side before, after = {0};
    bool jumps = false;
    if (y != m->y) memcpy(m->y, y, flow->size * sizeof *y);
    m->t = t;
    bool good = tr_side_open(&before, flow, err) && tr_side_open(&after, flow, err) &&
                pass_over(run, k, &before, &after, &jumps, err);
    if (good && tr_sides_strike(flow, &before, &after))
        good = strike(run, &before, err);
    else if (good) {
        const Switch change = {.t = t, .formula = run->plan->switches[k].words};
        const double rest = fmax(run->habits[k].rests - t, 0);
        const double step = jumps ? rest : tr_solver_last_step(m);
        memcpy(flow->start, m->y, flow->size * sizeof *flow->start);
        good = take_over(run, flow, t, err);
        if (good) run->mover->first_step = step;
        if (good && jumps && run->note && !run->habits[k].hurry)
            run->note(run->note_owner, &change);
        good = good && tr_watch_start(&run->mover->watch, t, run->mover->y, err);
    }
    tr_side_close(&before);
    tr_side_close(&after);
    return good;
}

// Looks at switches whose rest is over: those that have crossed meanwhile do so now.
static bool wake(Run *run, tr_error *err)
{
    Flow *flow = run->flow;
    Mover *m = run->mover;
    for (uint32_t k = 0; k < flow->switch_count; k++) {
        if (!(run->habits[k].rests > 0) || m->t < run->habits[k].rests) continue;
        run->habits[k].rests = 0;
        if (!tr_flow_has_switches(flow)) continue;
        tr_flow_switches(flow, m->t, m->y, m->watch.switches);
        if (m->watch.switches[k] < 0) return cross_over(run, m->t, m->y, k, err);
    }
    return true;
}

// ---- contacts ------------------------------------------------------------------------------

static bool note_switch(Run *run, const Switch *change, tr_error *err)
{
    if (run->note) run->note(run->note_owner, change);
    run->recent[run->switches++ % RECENT] = change->t;
    const bool many = run->switches >= RECENT;
    if (many && change->t - run->recent[run->switches % RECENT] <= AT_ONCE * fmax(1, change->t))
        tr_fail(err, TR_FAILED, (Place){0},
                "contacts open and close without end at t = %.9g: should one of them slip?",
                change->t);
    return !has_failed(err);
}

// Where a contact opened, closed, slipped or stuck: from there on there are other constraints.
static bool change_over(Run *run, tr_error *err)
{
    const Mover *before = run->mover;
    Switch change = {.t = before->watch.end, .alarm = before->watch.alarm};
    if (change.alarm >= run->flow->system->alarm_count)
        return cross_over(run, change.t, before->watch.ending,
                          change.alarm - run->flow->system->alarm_count, err);
    if (run->flow->sensitivity) {
        tr_fail(err, TR_FAILED, (Place){0},
                "%.150s at t = %.9g: sensitivities do not go on from there",
                run->flow->system->alarms[change.alarm].words, change.t);
        return false;
    }
    Flow *flow = tr_latches_switch(run->flow, before->watch.ending, &run->fastest, &change, err);
    return take_over(run, flow, change.t, err) && note_switch(run, &change, err) &&
           tr_watch_start(&run->mover->watch, change.t, run->mover->y, err);
}

// ---- going on ------------------------------------------------------------------------------

// Events that are passed need not be kept, where nobody tells of them.
static void forget_events(Run *run)
{
    if (run->options.end > 0 || run->next_event < 2) return;
    const uint32_t passed = run->next_event - 1; // the last one says where rates are taken
    tr_events_drop(&run->events, passed);
    run->next_event -= passed;
}

bool tr_run_go(Run *run, double until, tr_error *err)
{
    if (has_failed(err)) return false;
    while (run->mover->t < until && !run->mover->stopped && !has_failed(err)) {
        forget_events(run);
        if (!look_for_events(run, until, err)) break;
        pass_event(run, run->next_event);
        if (run->next_event < run->events.count &&
            run->events.at[run->next_event] <= run->mover->t && !cross_event(run, err))
            break;
        if (move(run, fmin(until, end_of_rest(run)), err)) {
            if (!wake(run, err)) break;
            continue;
        }
        if (!run->mover->watch.switched || has_failed(err) || !change_over(run, err)) break;
    }
    const Mover *m = run->mover;
    if (m->stopped && m->refusal.status)
        tr_fail(err, m->refusal.status, (Place){0}, "%s", m->refusal.text);
    return !has_failed(err) && !m->stopped;
}

// ---- inputs that change --------------------------------------------------------------------

bool tr_run_accept(Run *run, const char *who, tr_error *err)
{
    const System *s = run->flow->system;
    const uint32_t moving =
        tr_system_inputs(s, TR_POSITION, NULL) + tr_system_inputs(s, TR_VELOCITY, NULL);
    tr_run_take_row(run);
    const double *was = run->before, *is = run->row;
    for (uint32_t i = 1; i <= moving; i++)
        if (is[i] != was[i])
            tr_fail(err, TR_FAILED, (Place){0},
                    "%.80s changes '%.80s' at once at t = %.6g: it may change forces only", who,
                    run->flow->labels[i - 1], run->mover->t);
    if (is[run->plain - 2] != was[run->plain - 2])
        tr_fail(err, TR_FAILED, (Place){0},
                "%.80s changes a constraint on positions at t = %.6g: it may change forces only",
                who, run->mover->t);
    if (has_failed(err)) return false;
    run->mover->y[run->flow->own - 1] +=
        is[run->kinetic] - was[run->kinetic] + is[run->potential] - was[run->potential];
    tr_run_take_sides(run);
    return tr_mover_restart(run->mover, tr_solver_last_step(run->mover));
}

static bool set_input(Run *run, uint32_t at, double value, tr_error *err)
{
    double *inputs = run->flow->inputs;
    const double was = inputs[at];
    char who[120];
    snprintf(who, sizeof who, "the input '%.80s'", run->plan->system->inputs[at].name);
    if (value == was) return true;
    tr_run_take_row(run);
    memcpy(run->before, run->row, run->columns * sizeof *run->row);
    inputs[at] = value;
    if (tr_run_accept(run, who, err))
        return !run->events.uses_inputs || tr_run_find_events(run, err);
    inputs[at] = was;
    return false;
}

static bool is_port(const Input *input)
{
    return input->kind == TR_INPUT || input->kind == TR_PARAMETER || input->kind == TR_START;
}

void tr_run_set_at(Run *run, size_t index, double value, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return;
    const System *s = run->plan->system;
    if (index >= s->input_count || !is_port(&s->inputs[index]))
        tr_fail(err, TR_USAGE, (Place){0},
                "input %zu is no input, parameter or number of the start", index);
    else if (!isfinite(value))
        tr_fail(err, TR_USAGE, (Place){0}, "'%.80s' cannot be set to something that is not finite",
                s->inputs[index].name);
    if (has_failed(err)) return;
    if (s->inputs[index].kind == TR_INPUT && !run->failure.status &&
        !set_input(run, (uint32_t)index, value, err))
        return;
    run->values[index] = value;
    run->is_set[index] = run->is_changed = true;
}

void tr_run_set(Run *run, const char *name, double value, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return;
    const System *s = run->plan->system;
    Suggestion nearest = {.wanted = text_of(name)};
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (!is_port(&s->inputs[i])) continue;
        if (name && strcmp(s->inputs[i].name, name) == 0) {
            tr_run_set_at(run, i, value, err);
            return;
        }
        tr_suggest(&nearest, text_of(s->inputs[i].name));
    }
    if (name && tr_system_find(s, text_of(name)))
        tr_fail(err, TR_USAGE, (Place){0},
                "'%.80s' is no input or parameter with a value of its own", name);
    else
        tr_fail(err, TR_USAGE, (Place){0}, "there is no input or parameter '%.80s'%s",
                name ? name : "", tr_hint(&nearest, hint));
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
    m->watch.habits = run->habits;
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
    if ((!flow->now->kkt || tr_kkt_agrees(flow->now->kkt, 0, flow->start, err)) &&
        tr_sensitivity_attach(flow, err))
        return flow;
    tr_flow_free(flow);
    return NULL;
}

bool tr_run_begin(Run *run, tr_error *err)
{
    Flow *flow = flow_at_start(run, err);
    Mover *m = flow ? tr_mover_new(run->method, flow, flow->start, err) : NULL;
    if (!m) {
        tr_flow_free(flow);
        return false;
    }
    tr_run_give_options(run, m);
    tr_mover_free(run->mover);
    tr_flow_free(run->flow);
    run->flow = flow, run->mover = m;
    run->fastest = 0, run->switches = 0, run->limit = (double)INFINITY;
    run->doubt[0] = run->chatter[0] = 0, run->failure = (tr_error){0};
    for (uint32_t k = 0; k < flow->switch_count; k++)
        run->habits[k] = (Habit){.crossed = -(double)INFINITY};
    tr_run_take_sides(run);
    return (run->row || make_columns(run, err)) && tr_run_find_events(run, err);
}

bool tr_run_reset(Run *run, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return false;
    if (!tr_run_begin(run, err)) return false;
    tr_error refusal = {0};
    if (!tr_watch_start(&run->mover->watch, 0, run->mover->y, &refusal)) run->failure = refusal;
    if (refusal.status) tr_fail(err, refusal.status, (Place){0}, "%s", refusal.text);
    return !refusal.status;
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
    if (run->values && run->is_set && run->habits) {
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
    tr_fail(err, run->failure.status, (Place){0}, "%s", run->failure.text);
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
    run->mover->stopped = false;
    run->limit = until; // inputs may change there
    if (tr_run_go(run, until, err)) return true;
    if (err->status) run->failure = *err;
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
    return plan ? count + EXTRA_COLUMNS : 0;
}

const char *tr_plan_column_name(const Plan *plan, size_t index)
{
    const size_t count = tr_plan_column_count(plan);
    if (index >= count) return NULL;
    if (!index) return "t";
    return index + 3 < count ? flow_column(plan->system, index - 1) : behind[index + 3 - count];
}

const char *tr_plan_column_unit(const Plan *plan, size_t index)
{
    const char *name = tr_plan_column_name(plan, index);
    return name ? tr_quantity_unit(tr_column_port(plan->system, name).quantity) : NULL;
}
