// SPDX-License-Identifier: Apache-2.0
// A run that moves on: from event to event of t, over switches of the state, and on with other
// contacts where these change. Where formulas jump, both sides are compared: places must meet, and
// velocities may take a blow (T121).
#include "plan/sensitivity.h"

#include "num/dense.h"
#include "plan/side.h"
#include "plan/switch.h"
#include "sim/run.h"
#include "sim/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 1e-7 // [s]

// ---- events in t ---------------------------------------------------------------------------

// When the first of the switches that rest is to be looked at
static double end_of_rest(const Run *run)
{
    double first = (double)INFINITY;
    for (uint32_t k = 0; k < run->flow->switch_count; k++)
        if (run->habits[k].rests > run->mover->t) first = fmin(first, run->habits[k].rests);
    return first;
}

double tr_run_due(const Run *run)
{
    const Events *e = &run->events;
    const double event = run->next_event < e->count ? e->at[run->next_event] : (double)INFINITY;
    return fmin(fmin(event, end_of_rest(run)), tr_samples_due(run));
}

// No step passes an event, what is known of events, or what the owner of the run says.
static void set_limit(Run *run)
{
    run->mover->limit = fmin(fmin(tr_run_due(run), run->events.until), run->limit);
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
    char words[WARNING_SIZE];
    if (!tr_events_extend(&run->events, run->flow, until, err)) return false;
    if (run->has_doubted || !tr_events_doubt(&run->events, words, sizeof words)) return true;
    run->has_doubted = true;
    return tr_warn(&run->mover->watch.warnings, "%s", words) || (tr_fail_memory(err), false);
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
    to->watch.habits = from->watch.habits, to->watch.spells = from->watch.spells;
    to->pauses = from->pauses, to->resumed = from->resumed, to->told = from->told;
    to->steps = from->steps, to->failed_steps = from->failed_steps, to->drift = from->drift;
    to->watch.changes = from->watch.changes;
    to->watch.warnings = from->watch.warnings;
    from->watch.warnings = (Warnings){0};
    const System *s = to->flow->system;
    for (uint32_t k = 0; k < s->alarm_count; k++)
        to->watch.told[k] = s->alarms[k].kind < ALARM_STOPS && from->watch.told[k];
}

// Where something jumps, others may matter that did not before.
void tr_run_arouse(Run *run)
{
    for (uint32_t k = 0; k < run->flow->switch_count; k++) run->habits[k].is_calm = false;
}

// Goes on at t with a flow that may be another one.
static bool take_over(Run *run, Flow *flow, double t, tr_error *err)
{
    Mover *before = run->mover;
    Mover *m = flow ? tr_mover_new(before->method, flow, flow->start, err) : NULL;
    if (!m && flow != run->flow) tr_flow_free(flow);
    if (!m) return false;
    if (flow != run->flow) // what rests stays on its side
        memcpy(flow->sides, run->flow->sides, flow->switch_count * sizeof *flow->sides);
    hand_on(before, m);
    tr_mover_free(before);
    if (flow != run->flow) tr_flow_free(run->flow);
    run->flow = flow, run->mover = m;
    m->t = t;
    tr_run_take_sides(run);
    pass_event(run, run->next_event);
    return true;
}

bool tr_run_jump(Run *run, double gained, tr_error *err)
{
    Flow *flow = run->flow;
    const double t = run->mover->t;
    memcpy(flow->start, run->mover->y, flow->size * sizeof *flow->start);
    flow->start[flow->own - 1] += gained;
    tr_flow_forget(flow);
    tr_run_arouse(run);
    return take_over(run, flow, t, err) &&
           tr_watch_start(&run->mover->watch, t, run->mover->y, err);
}

// ---- blows ---------------------------------------------------------------------------------

// Behind the state
static const char *what_goes_along(const Run *run)
{
    return run->flow->sensitivity ? "sensitivities" : "standard deviations";
}

// From the state on the near side, with the formulas of the far side
static bool strike(Run *run, const Side *before, tr_error *err)
{
    Switch change = {.t = run->mover->t};
    const double work = run->mover->y[run->flow->own - 1];
    Flow *flow = tr_latches_strike(run->flow, before->x, work, &change, err);
    if (!flow || !change.source) return flow != NULL;
    if (run->flow->sensitivity || run->flow->covariance) {
        tr_fail(err, TR_FAILED, (Place){0},
                "the rate of '%.100s' jumps at t = %.9g: %s do not go on from there", change.source,
                change.t, what_goes_along(run));
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
    tr_run_arouse(run);
    tr_run_take_sides(run);
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
    tr_run_arouse(run);
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
    double *found = run->mover->watch.sides;
    tr_watch_renew(&run->mover->watch);
    for (uint32_t k = 0; k < count; k++)
        if (!(run->habits[k].rests > 0)) flow->sides[k] = 0;
    tr_flow_sides(flow, run->mover->t, run->mover->y, found);
    for (uint32_t k = 0; k < count; k++)
        if (!run->habits[k].is_calm && !(run->habits[k].rests > 0))
            flow->sides[k] = isfinite(found[k]) ? found[k] : 0;
}

// One that crosses again and again rests, and that is said once.
static bool keep_habit(Run *run, double t, uint32_t k)
{
    Habit *h = &run->habits[k];
    const double rest = rest_of(run);
    const bool again = t - h->crossed < (h->hurry < IN_A_HURRY ? 1 : 3) * rest;
    h->hurry = again ? h->hurry + 1 : 0, h->crossed = t;
    h->rests = h->hurry < IN_A_HURRY ? 0 : t + rest;
    if (h->hurry < IN_A_HURRY || run->has_chattered) return true;
    const char *formula = run->plan->switches[k].words;
    run->has_chattered = true;
    return tr_warn(&run->mover->watch.warnings,
                   "%s%.90s%s switches to and fro at t = %.6g: from there on no more often than "
                   "every %.2g s",
                   formula[0] ? "'" : "a formula", formula, formula[0] ? "'" : "", t, rest);
}

static bool differ_in(const double *before, const double *after, uint32_t from, uint32_t to)
{
    double largest = 0;
    for (uint32_t i = from; i < to; i++) largest = larger(largest, fabs(before[i]));
    for (uint32_t i = from; i < to; i++)
        if (!(fabs(after[i] - before[i]) <= NOTICEABLE * (fabs(before[i]) + largest))) return true;
    return false;
}

// Rates of positions, and of velocities; what is large among the others, or in the power, hides
// nothing.
static bool differ(const Flow *flow, const double *before, const double *after)
{
    return differ_in(before, after, 0, flow->positions) ||
           differ_in(before, after, flow->positions, flow->known);
}

// Whether rates differ that much a fixed step further on, with that switch as it was and as it is;
// steps that choose their length see to it themselves.
static bool has_kink(Run *run, uint32_t k)
{
    Flow *flow = run->flow;
    const Mover *m = run->mover;
    double *rate = m->work, *then = rate + flow->size, *ahead = then + flow->size;
    const double side = flow->sides[k];
    if (m->method->adaptive) return false;
    tr_flow_rate(flow, m->t, m->y, rate);
    for (uint32_t i = 0; i < flow->size; i++) ahead[i] = m->y[i] + m->step * rate[i];
    tr_flow_rate(flow, m->t + m->step, ahead, then);
    flow->sides[k] = run->habits[k].side;
    tr_flow_rate(flow, m->t + m->step, ahead, rate);
    flow->sides[k] = side;
    return differ(flow, rate, then);
}

// That one, and all that cross at the same time
static bool keep_habits(Run *run, uint32_t k, tr_error *err)
{
    bool good = true;
    const Flow *flow = run->flow;
    for (uint32_t i = 0; i < flow->switch_count; i++)
        if (i == k || flow->sides[i] != run->habits[i].side)
            good = keep_habit(run, run->mover->t, i) && good;
    if (!good) tr_fail_memory(err);
    return good;
}

// What crossing over does at the state that the mover is put into: whether rates jump.
static bool pass_over(Run *run, uint32_t k, Side *before, Side *after, bool *jumps, tr_error *err)
{
    Flow *flow = run->flow;
    const Mover *m = run->mover;
    double *rate = m->work, *then = rate + flow->size;
    tr_flow_rate(flow, m->t, m->y, rate);
    tr_side_take(before, flow, m->t, m->y);
    for (uint32_t i = 0; i < flow->switch_count; i++) run->habits[i].side = flow->sides[i];
    run->habits[k].rests = 0;
    tr_run_take_sides(run);
    tr_flow_rate(flow, m->t, m->y, then);
    tr_side_take(after, flow, m->t, m->y);
    *jumps = differ(flow, rate, then);
    if (*jumps) tr_run_arouse(run);
    if ((*jumps || has_kink(run, k)) && !keep_habits(run, k, err)) return false;
    // of what bends alone steps see to it, but knots of tables are known
    run->habits[k].is_calm =
        !*jumps && m->method->adaptive && run->plan->switches[k].op != OP_TABLE1;
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
    if (good && jumps && flow->covariance) {
        tr_fail(err, TR_FAILED, (Place){0},
                "'%.90s' switches at t = %.9g: standard deviations do not go on from there",
                run->plan->switches[k].words, t);
        good = false;
    }
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
    const Mover *m = run->mover;
    bool any = false;
    for (uint32_t k = 0; k < flow->switch_count; k++) {
        if (!(run->habits[k].rests > 0) || m->t < run->habits[k].rests) continue;
        run->habits[k].rests = 0, any = true;
    }
    if (!any || !tr_flow_has_switches(flow)) return true;
    const double *margins = tr_flow_switches(flow, m->t, m->y);
    for (uint32_t k = 0; k < flow->switch_count; k++)
        if (flow->sides[k] != 0 && !(run->habits[k].rests > 0) && margins[k] < 0)
            return cross_over(run, m->t, m->y, k, err);
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
    if (run->flow->sensitivity || run->flow->covariance) {
        tr_fail(err, TR_FAILED, (Place){0}, "%.150s at t = %.9g: %s do not go on from there",
                run->flow->system->alarms[change.alarm].words, change.t, what_goes_along(run));
        return false;
    }
    Flow *flow = tr_latches_switch(run->flow, before->watch.ending, &run->fastest, &change, err);
    tr_run_arouse(run);
    return take_over(run, flow, change.t, err) && note_switch(run, &change, err) &&
           tr_watch_start(&run->mover->watch, change.t, run->mover->y, err);
}

// ---- setting out ---------------------------------------------------------------------------

// Contacts do what they can with the inputs of now, as they did with those before.
static bool settle_again(Run *run, tr_error *err)
{
    Flow *flow = run->flow;
    const System *s = flow->system;
    tr_flow_fill_all(flow, run->mover->t, run->mover->y);
    Flow *settled = tr_flow_from(run->plan, flow->modes, flow->inputs, NULL, err);
    settled = tr_latches_settle(settled, run->mover->t, err);
    if (!settled) return false;
    bool same = true;
    for (uint32_t i = 0; i < s->latch_count; i++)
        same = same && settled->modes[i].is_open == flow->modes[i].is_open &&
               settled->modes[i].is_slipping == flow->modes[i].is_slipping;
    if (same) return tr_flow_free(settled), true;
    settled->no_projection = flow->no_projection;
    memcpy(settled->marks, flow->marks, s->input_count);
    return take_over(run, settled, run->mover->t, err);
}

bool tr_run_set_out(Run *run, tr_error *err)
{
    const Flow *flow = run->flow;
    const bool has_acted = flow->system->clocked_count && flow->system->latch_count;
    const bool goes_along = flow->sensitivity || flow->covariance; // with these contacts
    if (has_failed(err)) return false;
    if (has_acted && !goes_along && !settle_again(run, err)) return false;
    return tr_watch_start(&run->mover->watch, run->mover->t, run->mover->y, err);
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

// How far to go before something else is to be done
static double next_stop(const Run *run, double until)
{
    const double due = tr_samples_due(run);
    const double stop = fmin(until, end_of_rest(run));
    return due < stop && !tr_samples_are_near(due, stop) ? due : stop;
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
        if (move(run, next_stop(run, until), err)) {
            if (!wake(run, err) || !tr_samples_take(run, err)) break;
            continue;
        }
        if (!run->mover->watch.switched || has_failed(err) || !change_over(run, err)) break;
        run->mover->stopped = run->mover->told;
    }
    const Mover *m = run->mover;
    if (m->stopped && m->refusal.status)
        tr_fail(err, m->refusal.status, (Place){0}, "%s", m->refusal.text);
    return !has_failed(err) && !m->stopped;
}
