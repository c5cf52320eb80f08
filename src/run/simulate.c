// SPDX-License-Identifier: Apache-2.0
// A run from the initial state to its end, recorded row by row (T92). Who does what on the way:
//
//   flow, its view  the equation y' = f(t, y), in the chart that fits
//   stance, chart   rows and masses as numbers where the system stands; the chart that they ask for
//   method          steps of the equation; sundials.c has the adaptive ones
//   event           times at which formulas of t jump, known beforehand: steps stop there
//   path            where it was between its last states, and when something became negative there
//   watch           looks back at each step: has the rank of the constraints changed, did an alarm
//                   go off, is another chart due?
//   latch, impact   what becomes of contacts, and of velocities, when such an alarm is theirs
//   control         the user's controller, called between steps
//   record          the rows; certificate: how it went
#include "base/clock.h"
#include "run/certificate.h"
#include "run/control.h"
#include "run/kkt.h"
#include "run/record.h"
#include "run/sensitivity.h"
#include "run/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTRA_COLUMNS = 4 }; // t before, and work and two residuals behind what the flow gives
#define AT_ONCE 1e-7        // [s]

typedef struct Run {
    Plan *plan;
    Flow *flow;
    Mover *mover;
    Record *records[2]; // the output and its copy; NULL where there is none
    const char **labels;
    double *row;
    uint32_t columns, plain;     // all, and without sensitivities, which come last
    uint32_t kinetic, potential; // in the row
    double first_energy, first_potential, largest_energy, worst_energy;
    tr_summary *summary;
    Events events;
    uint32_t next_event;
    Control control;
    uint64_t calls;   // of the controller
    double next_call; // when
    double *before;   // the row, before the controller changed the inputs
    Switch *switches;
    uint32_t switch_count, switch_capacity;
    double fastest; // impact so far [m/s]
} Run;

// ---- rows ----------------------------------------------------------------------------------

static bool name_columns(Run *run, tr_error *err)
{
    const Flow *flow = run->flow;
    run->plain = flow->column_count + EXTRA_COLUMNS;
    run->columns = run->plain + tr_sensitivity_count(flow);
    run->labels = malloc(run->columns * sizeof *run->labels);
    run->row = calloc(2 * (size_t)run->columns, sizeof *run->row);
    if (!run->labels || !run->row) return tr_fail_memory(err), false;
    run->before = run->row + run->columns;
    run->labels[0] = "t";
    for (uint32_t i = 0; i < flow->column_count; i++) {
        run->labels[i + 1] = flow->labels[i];
        if (text_is(text_of(flow->labels[i]), "energy.kinetic")) run->kinetic = i + 1;
        if (text_is(text_of(flow->labels[i]), "energy.potential")) run->potential = i + 1;
    }
    run->labels[run->plain - 3] = "energy.work";
    run->labels[run->plain - 2] = "residual.position";
    run->labels[run->plain - 1] = "residual.velocity";
    for (uint32_t i = run->plain; i < run->columns; i++)
        run->labels[i] = tr_sensitivity_labels(flow)[i - run->plain];
    return true;
}

// E = T + U must be what it was, and the work since. What stands still has no energy to compare
// with but that of its height, of which rounding leaves 1e-16 and not 1e-6.
static void watch_energy(Run *run, double work)
{
    const double kinetic = run->row[run->kinetic], potential = run->row[run->potential];
    const double energy = kinetic + potential;
    if (!run->summary->rows) run->first_energy = energy, run->first_potential = potential;
    const double height = fmax(fabs(potential - run->first_potential), 1e-6 * fabs(potential));
    const double off = fabs(energy - run->first_energy - work);
    run->largest_energy = fmax(run->largest_energy, fmax(height, fmax(fabs(kinetic), fabs(work))));
    run->worst_energy = isfinite(off) ? fmax(run->worst_energy, off) : (double)INFINITY;
}

static void take_row(Run *run)
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

static void write_row(Run *run, tr_error *err)
{
    const Mover *m = run->mover;
    take_row(run);
    const double *residual = run->row + run->plain - 2;
    for (uint32_t i = 1; i + 2 < run->plain; i++)
        if (!isfinite(run->row[i]) && begins_with(run->labels[i], "lambda."))
            tr_fail(err, TR_FAILED, (Place){0}, "the reaction '%s' is not finite at t = %.6g",
                    run->labels[i] + 7, m->t);
    if (has_failed(err)) return;
    watch_energy(run, run->row[run->plain - 3]);
    run->summary->position_error = fmax(run->summary->position_error, residual[0]);
    run->summary->velocity_error = fmax(run->summary->velocity_error, residual[1]);
    for (int i = 0; i < 2; i++) tr_record_row(run->records[i], run->row, err);
    if (has_failed(err)) return;
    run->summary->rows++;
    run->summary->t = m->t;
}

// ---- the run -------------------------------------------------------------------------------

static bool check_options(const tr_simulate_options *o, tr_error *err)
{
    const Place nowhere = {0};
    if (!isfinite(o->end) || o->end < 0)
        tr_fail(err, TR_USAGE, nowhere, "the end must not be negative");
    else if (!isfinite(o->every) || !(o->every > 0))
        tr_fail(err, TR_USAGE, nowhere, "the time between rows must be positive");
    else if (!isfinite(o->step) || !(o->step > 0))
        tr_fail(err, TR_USAGE, nowhere, "the step must be positive");
    else if (!(o->rtol > 0) || !(o->atol >= 0))
        tr_fail(err, TR_USAGE, nowhere, "tolerances must be positive");
    else if (o->end / o->every > 1e9)
        tr_fail(err, TR_USAGE, nowhere, "more than a billion rows");
    else if (!isfinite(o->sample) || o->sample < 0 || (o->sample > 0 && o->end / o->sample > 1e9))
        tr_fail(err, TR_USAGE, nowhere,
                "the time between calls of the controller must be positive, or 0 for every row");
    else if (o->control && o->sensitivity)
        tr_fail(err, TR_USAGE, nowhere, "sensitivities do not see through a controller");
    else if (o->output && ends_with(o->output, ".json"))
        tr_fail(err, TR_USAGE, nowhere,
                "results go to a .csv or .mat file: the .json file beside it is the certificate");
    return !has_failed(err);
}

// No step passes an event or a call of the controller.
static void set_limit(Run *run)
{
    const Events *e = &run->events;
    const double event = run->next_event < e->count ? e->at[run->next_event] : run->mover->end;
    run->mover->limit = fmin(fmin(event, e->until), run->next_call);
}

// On the far side of the events before the k-th.
static void pass_event(Run *run, uint32_t k)
{
    const Events *e = &run->events;
    run->flow->earliest = k ? e->at[k - 1] : -(double)INFINITY;
    run->flow->latest = k < e->count ? nextafter(e->at[k], -(double)INFINITY) : (double)INFINITY;
    run->next_event = k;
    set_limit(run);
}

// Goes on beyond the event that it stands at.
static bool cross_event(Run *run, tr_error *err)
{
    const double at = run->events.at[run->next_event];
    if (!tr_sensitivity_passes(run->flow, nextafter(at, -(double)INFINITY), at, run->mover->y, err))
        return false;
    const bool goes_on = tr_mover_restart(run->mover, 0);
    pass_event(run, run->next_event + 1);
    return goes_on;
}

// Moves on to `until`, from event to event.
static bool advance(Run *run, double until, tr_error *err)
{
    Mover *m = run->mover;
    while (run->next_event < run->events.count && run->events.at[run->next_event] <= until) {
        const double event = run->events.at[run->next_event];
        if (event > m->t && !m->method->advance(m, event, err)) return false;
        if (event == until) return true; // the row comes first
        if (!cross_event(run, err)) return false;
    }
    return until <= m->t || m->method->advance(m, until, err);
}

static double intervals(double end, double every) // at most a billion
{
    return end > 0 ? fmax(1, ceil(end / every - 1e-9)) : 0;
}

// i times `every`: as round as `end` where it divides that.
static double multiple(double end, double every, uint64_t i)
{
    const double count = fmax(1, intervals(end, every));
    const bool divides = fabs(count * every - end) <= 1e-9 * every;
    return divides ? end * (double)i / count : (double)i * every;
}

// Row i of rows at 0, every, 2 every, ..., end
static double row_time(const tr_simulate_options *o, uint32_t i, uint32_t count)
{
    return i < count ? multiple(o->end, o->every, i) : o->end;
}

// The largest fixed step that divides the time between rows and is not longer than asked for
static double step_between_rows(const tr_simulate_options *o)
{
    const double interval = fmin(multiple(o->end, o->every, 1), o->end > 0 ? o->end : o->every);
    return interval / fmax(1, ceil(interval / o->step - 1e-9));
}

// At some of the rows: the accelerations, found in another way.
static void cross_check(Run *run, uint32_t row, uint32_t count)
{
    enum { CHECKS = 50 };
    Kkt *kkt = run->flow->now->kkt;
    if (!kkt || row % (count / CHECKS + 1) != 0) return;
    const double off = tr_kkt_difference(kkt, run->mover->t, run->mover->y);
    if (!(off <= run->summary->kkt_error)) run->summary->kkt_error = off;
}

// Goes on with another mover what one began.
static void hand_on(Mover *from, Mover *to)
{
    to->step = from->step, to->rtol = from->rtol, to->atol = from->atol, to->dense = from->dense;
    to->progress = from->progress, to->say = from->say, to->owner = from->owner;
    to->end = from->end, to->order = from->order, to->next_look = from->next_look;
    memcpy(to->advice, from->advice, sizeof to->advice);
    to->steps = from->steps, to->failed_steps = from->failed_steps, to->drift = from->drift;
    to->watch.changes = from->watch.changes;
    to->watch.warnings = from->watch.warnings;
    to->watch.warning_count = from->watch.warning_count;
    to->watch.warning_capacity = from->watch.warning_capacity;
    from->watch.warnings = NULL;
    const System *s = to->flow->system;
    for (uint32_t k = 0; k < s->alarm_count; k++)
        to->watch.told[k] = s->alarms[k].kind == ALARM_WARNS && from->watch.told[k];
}

static bool note_switch(Run *run, Switch change, tr_error *err)
{
    enum { MOST_AT_ONCE = 50 };
    if (!tr_grow((void **)&run->switches, &run->switch_capacity, run->switch_count + 1,
                 sizeof *run->switches))
        return tr_fail_memory(err), false;
    run->switches[run->switch_count++] = change;
    const bool many = run->switch_count > MOST_AT_ONCE;
    if (many && change.t - run->switches[run->switch_count - 1 - MOST_AT_ONCE].t <=
                    AT_ONCE * fmax(1, change.t))
        tr_fail(err, TR_FAILED, (Place){0},
                "contacts open and close without end at t = %.9g: should one of them slip?",
                change.t);
    return !has_failed(err);
}

// Where a contact opened, closed, slipped or stuck: from there on there are other constraints.
static bool change_over(Run *run, tr_error *err)
{
    Mover *before = run->mover;
    Switch change = {.t = before->watch.end, .alarm = before->watch.alarm};
    if (run->flow->sensitivity) {
        tr_fail(err, TR_FAILED, (Place){0},
                "%.150s at t = %.9g: sensitivities do not go on from there",
                run->flow->system->alarms[change.alarm].words, change.t);
        return false;
    }
    Flow *flow = tr_latches_switch(run->flow, before->watch.ending, &run->fastest, &change, err);
    Mover *m = flow ? tr_mover_new(before->method, flow, flow->start, err) : NULL;
    if (!m && flow != run->flow) tr_flow_free(flow);
    if (!m) return false;
    hand_on(before, m);
    tr_mover_free(before);
    if (flow != run->flow) tr_flow_free(run->flow);
    run->flow = flow, run->mover = m;
    m->t = change.t;
    pass_event(run, run->next_event);
    return note_switch(run, change, err) && tr_watch_start(&m->watch, m->t, m->y, err);
}

// ---- the controller ------------------------------------------------------------------------

// When the next call is due, at the row or before it: where they are as good as equal, the row's
// time.
static void plan_call(Run *run, const tr_simulate_options *o, double row)
{
    const double call = multiple(o->end, o->sample > 0 ? o->sample : o->every, run->calls);
    if (!run->control.call)
        run->next_call = (double)INFINITY;
    else if (o->sample > 0)
        run->next_call = fabs(call - row) <= 1e-9 * fmin(o->sample, o->every) ? row : call;
    else
        run->next_call = row;
    set_limit(run);
}

// Inputs that change at once may change forces and energies, which they pay for, but not where
// things are and how they move.
static bool accept_settings(Run *run, tr_error *err)
{
    const System *s = run->flow->system;
    const uint32_t moving =
        tr_system_inputs(s, TR_POSITION, NULL) + tr_system_inputs(s, TR_VELOCITY, NULL);
    const double *was = run->before, *is = run->row;
    for (uint32_t i = 1; i <= moving; i++)
        if (is[i] != was[i])
            tr_fail(err, TR_FAILED, (Place){0},
                    "the controller changes '%.80s' at once at t = %.6g: it may change forces only",
                    run->labels[i], run->mover->t);
    if (is[run->plain - 2] != was[run->plain - 2])
        tr_fail(err, TR_FAILED, (Place){0},
                "the controller changes a constraint on positions at t = %.6g: it may change "
                "forces only",
                run->mover->t);
    run->mover->y[run->flow->own - 1] +=
        is[run->kinetic] - was[run->kinetic] + is[run->potential] - was[run->potential];
    return !has_failed(err);
}

// Calls the controller if it is due; false when the run must stop.
static bool control(Run *run, tr_error *err)
{
    Mover *m = run->mover;
    bool changed;
    if (has_failed(err) || m->t < run->next_call) return !has_failed(err);
    take_row(run);
    memcpy(run->before, run->row, run->columns * sizeof *run->row);
    const tr_instant now = {
        .t = m->t, .columns = run->columns, .column = run->labels, .value = run->before};
    run->calls++;
    if (!tr_control_call(&run->control, run->flow, now, &changed, err))
        return m->stopped = true, false;
    if (!changed) return true;
    take_row(run);
    return accept_settings(run, err) && tr_mover_restart(m, tr_solver_last_step(m));
}

// ---- from row to row -----------------------------------------------------------------------

// Also a run that must not begin has its first row.
static void begin(Run *run, uint32_t count, tr_error *err)
{
    tr_error refusal = {0};
    if (tr_watch_start(&run->mover->watch, 0, run->mover->y, &refusal)) control(run, err);
    write_row(run, err);
    cross_check(run, 0, count);
    if (refusal.status) tr_fail(err, refusal.status, (Place){0}, "%s", refusal.text);
}

static void integrate(Run *run, const tr_simulate_options *o, tr_error *err)
{
    const uint32_t count = (uint32_t)intervals(o->end, o->every);
    if (!tr_events_begin(&run->events, run->flow, o->end, err) ||
        !tr_events_extend(&run->events, run->flow, o->end, err))
        return;
    pass_event(run, 0);
    plan_call(run, o, 0);
    begin(run, count, err);
    for (uint32_t i = 1; i <= count && !has_failed(err) && !run->mover->stopped;) {
        const Mover *at = run->mover;
        const double row = row_time(o, i, count);
        if (run->next_event < run->events.count && run->events.at[run->next_event] <= at->t &&
            !cross_event(run, err))
            break;
        plan_call(run, o, row);
        if (advance(run, fmin(row, run->next_call), err)) {
            if (!control(run, err) || at->t < row) continue;
            write_row(run, err);
            cross_check(run, i++, count);
        } else if (at->watch.switched && !has_failed(err))
            change_over(run, err);
    }
    const Mover *m = run->mover;
    if (m->refusal.status) tr_fail(err, m->refusal.status, (Place){0}, "%s", m->refusal.text);
    run->summary->interrupted = m->stopped && !m->refusal.status;
}

static void summarise(Run *run, double started)
{
    tr_summary *s = run->summary;
    s->steps = run->mover->steps;
    s->failed_steps = run->mover->failed_steps;
    s->evaluations = run->flow->evaluations;
    s->all_evaluations = run->flow->all_evaluations;
    s->jacobians = run->flow->jacobians;
    s->chart_changes = run->mover->watch.changes;
    s->switches = run->switch_count;
    s->warnings = run->mover->watch.warning_count;
    if (s->warnings) tr_watch_warning(&run->mover->watch, 0, s->warning, sizeof s->warning);
    snprintf(s->advice, sizeof s->advice, "%s", run->mover->advice);
    s->energy_error =
        run->largest_energy > 0 ? run->worst_energy / run->largest_energy : run->worst_energy;
    s->seconds = seconds_now() - started;
}

// Also a run that failed has a certificate.
static void close_records(Run *run, const tr_simulate_options *o, tr_error *err)
{
    const char *const paths[] = {o->output, o->copy};
    const Certificate certificate = {.options = o,
                                     .summary = run->summary,
                                     .mover = run->mover,
                                     .events = &run->events,
                                     .switches = run->switches,
                                     .switch_count = run->switch_count,
                                     .outcome = err,
                                     .labels = run->labels,
                                     .columns = run->columns};
    tr_error own = {0};
    for (int i = 0; i < 2; i++)
        if (run->records[i]) tr_record_close(run->records[i], err);
    for (int i = 0; i < 2; i++)
        if (tr_certificate_wanted(paths[i])) tr_certificate_write(&certificate, paths[i], &own);
    if (own.status) tr_fail(err, own.status, (Place){0}, "%s", own.text);
}

static void record(Run *run, const tr_simulate_options *o, double started, tr_error *err)
{
    if (o->output) run->records[0] = tr_record_open(o->output, run->labels, run->columns, err);
    if (o->copy) run->records[1] = tr_record_open(o->copy, run->labels, run->columns, err);
    if (has_failed(err)) {
        tr_record_discard(run->records[0]);
        return;
    }
    integrate(run, o, err);
    summarise(run, started);
    close_records(run, o, err);
}

static bool open_flow(Run *run, const System *system, const tr_simulate_options *o, tr_error *err)
{
    run->plan = o->sensitivity ? tr_sensitivity_plan(system, o->sensitivity, err)
                               : tr_plan_new(system, err);
    run->flow = tr_flow_new(run->plan, NULL, err);
    if (!run->flow || !tr_plan_allows(run->plan, err)) return false;
    run->flow->no_projection = o->no_project;
    return (!run->flow->now->kkt || tr_kkt_agrees(run->flow->now->kkt, 0, run->flow->start, err)) &&
           tr_sensitivity_attach(run->flow, err);
}

bool tr_simulate(const System *system, const tr_simulate_options *options, tr_summary *summary,
                 tr_error *err)
{
    tr_error local = {0};
    tr_summary unused = {0};
    if (!err) err = &local;
    if (!system || has_failed(err)) return false;
    const tr_simulate_options o = options ? *options : tr_simulate_defaults(system);
    Run run = {.summary = summary ? summary : &unused};
    *run.summary = (tr_summary){0};
    const double started = seconds_now();
    const Method *method = check_options(&o, err) ? tr_method(o.method, err) : NULL;
    if (method && open_flow(&run, system, &o, err) &&
        tr_control_begin(&run.control, system, &o, err) && name_columns(&run, err))
        run.mover = tr_mover_new(method, run.flow, run.flow->start, err);
    if (run.mover) {
        run.mover->dense = o.dense;
        run.mover->step = step_between_rows(&o);
        run.mover->rtol = o.rtol, run.mover->atol = o.atol;
        run.mover->progress = o.progress, run.mover->say = o.say, run.mover->owner = o.owner;
        run.mover->end = o.end;
        record(&run, &o, started, err);
    }
    tr_control_end(&run.control);
    tr_events_free(&run.events);
    free(run.switches);
    tr_mover_free(run.mover);
    tr_flow_free(run.flow);
    tr_plan_free(run.plan);
    free(run.labels);
    free(run.row);
    return !has_failed(err);
}
