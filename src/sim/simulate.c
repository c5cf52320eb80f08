// SPDX-License-Identifier: Apache-2.0
// A run from its start to its end, row by row into sinks, with a controller of the user's between;
// and how it went (T92).
#include "base/clock.h"
#include "base/options.h"
#include "num/dense.h"
#include "plan/blame.h"
#include "plan/column.h"
#include "plan/covariance.h"
#include "plan/kkt.h"
#include "plan/sensitivity.h"
#include "sim/balance.h"
#include "sim/certificate.h"
#include "sim/control.h"
#include "sim/filter.h"
#include "sim/record_sink.h"
#include "sim/row_time.h"
#include "sim/run.h"
#include "sim/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Simulation {
    const tr_simulate_options *options;
    Plan *plan;
    Run *run;
    const char **labels, **units; // of the columns
    double *row;                  // that sinks get: the run's, and what the filter adds
    uint32_t columns;
    bool *is_told; // by column: that it was not finite
    RecordSink file;
    double balance[BALANCE_NUMBERS];
    double command_error; // negative where nothing is commanded
    tr_summary *summary;
    Control control;
    Filter *filter;   // NULL without
    uint64_t calls;   // of the controller
    double next_call; // when
    Switch *switches;
    uint32_t switch_count, switch_capacity;
    bool lost_switch; // memory ran out
} Simulation;

// ---- sinks ---------------------------------------------------------------------------------

// The file of the options, then those of the caller
static const tr_sink *sink_at(const Simulation *s, size_t i)
{
    const size_t own = s->options->output ? 1 : 0;
    if (i < own) return &s->file.sink;
    return i - own < s->options->sink_count ? &s->options->sinks[i - own] : NULL;
}

static bool begin_sinks(Simulation *s, tr_error *err)
{
    const Run *run = s->run;
    const uint32_t more = s->filter ? s->filter->label_count : 0;
    s->columns = run->columns + more;
    s->labels = calloc(2 * (size_t)s->columns + 1, sizeof *s->labels);
    s->row = calloc(s->columns + 1u, sizeof *s->row);
    s->is_told = calloc(run->columns + 1u, sizeof *s->is_told);
    if (!s->labels || !s->is_told || !s->row) return tr_fail_memory(err), false;
    s->units = s->labels + s->columns;
    tr_run_labels(run, s->labels);
    for (uint32_t i = 0; i < more; i++) s->labels[run->columns + i] = s->filter->labels[i];
    for (uint32_t i = 0; i < s->columns; i++)
        s->units[i] = tr_quantity_unit(tr_column_port(s->plan->system, s->labels[i]).quantity);
    if (s->options->output) tr_record_sink(&s->file, s->options->output);
    const tr_sink *sink;
    for (size_t i = 0; (sink = sink_at(s, i)) && !has_failed(err); i++)
        if (sink->begin) sink->begin(sink->owner, s->labels, s->units, s->columns, err);
    if (has_failed(err)) tr_record_sink_discard(&s->file);
    return !has_failed(err);
}

// ---- warnings ------------------------------------------------------------------------------

static Warnings *warnings_of(const Simulation *s) { return &s->run->mover->watch.warnings; }

static void warn_of_options(const Simulation *s, tr_error *err)
{
    const char *given = s->options->given ? s->options->given : "";
    while (*given && !has_failed(err)) {
        const Text name = tr_next_item(&given);
        char option[40], others[100];
        snprintf(option, sizeof option, "%.*s", TEXT(name));
        if (!tr_method_uses(s->run->method, option, others, sizeof others) &&
            !tr_warn(warnings_of(s), "'%s' has no effect with %s: it is for %s", option,
                     s->run->method->name, others))
            tr_fail_memory(err);
    }
    const System *system = s->run->flow->system;
    if (system->has_commands && system->order != 1 &&
        !tr_warn(warnings_of(s), "'commands' have no effect: they are for the first order"))
        tr_fail_memory(err);
    if (s->options->sensitivity && tr_system_is_uncertain(system) &&
        !tr_warn(warnings_of(s), "sensitivities go along in place of standard deviations"))
        tr_fail_memory(err);
    if (system->fix_count && !s->filter &&
        !tr_warn(warnings_of(s), "'fixes' have no effect without --filter"))
        tr_fail_memory(err);
    if (s->filter && s->filter->passed &&
        !tr_warn(warnings_of(s), "%zu of the fixes are before t = 0, and have no effect",
                 s->filter->passed))
        tr_fail_memory(err);
    if (system->missing &&
        !tr_warn(warnings_of(s), "%s cannot be read: drawn as a box", system->missing))
        tr_fail_memory(err);
    if (system->left_out &&
        !tr_warn(warnings_of(s), "in first order there are no forces, so outputs are left out: %s",
                 system->left_out))
        tr_fail_memory(err);
}

// Columns that are not finite, each at the first row where it is not: one that must not be asked
// for there ends the run
static void warn_of_columns(const Simulation *s, tr_error *err)
{
    const Mover *m = s->run->mover;
    Flow *flow = s->run->flow;
    const double *row = s->run->row;
    for (uint32_t i = 1; i < s->run->columns && !has_failed(err); i++) {
        if (isfinite(row[i]) || s->is_told[i]) continue;
        s->is_told[i] = true;
        if (i <= flow->column_count) tr_flow_check_column(flow, m->t, m->y, i - 1, err);
        if (!has_failed(err) && !tr_warn(warnings_of(s), "'%.100s' is %s at t = %.9g", s->labels[i],
                                         isnan(row[i]) ? "not a number" : "infinite", row[0]))
            tr_fail_memory(err);
    }
}

// ---- rows ----------------------------------------------------------------------------------

static void watch_energy(Simulation *s)
{
    const Run *run = s->run;
    tr_balance_add(s->balance, run->row[run->kinetic], run->row[run->potential],
                   run->row[last_column(run, COLUMN_WORK)]);
}

// A run that needs more has failed there.
static bool may_record(const Simulation *s, tr_error *err)
{
    const size_t most = s->options->most_numbers, rows = s->summary->rows;
    if (most && (rows + 1) * s->columns > most)
        tr_fail(err, TR_FAILED, (Place){0},
                "%zu rows of %u numbers were recorded to t = %.6g, and there may not be more: "
                "--every a longer time makes fewer, --most-numbers sets the limit",
                rows, s->columns, s->summary->t);
    return !has_failed(err);
}

// In first order: how far velocities are from what was asked of them
static void watch_commands(Simulation *s)
{
    for (uint32_t i = 0; i < s->run->columns; i++)
        if (strcmp(s->labels[i], "residual.commands") == 0)
            s->command_error = larger(s->command_error, s->run->row[i]);
}

static void write_row(Simulation *s, tr_error *err)
{
    Run *run = s->run;
    if (has_failed(err) || !may_record(s, err)) return;
    tr_run_take_row(run);
    if (!tr_run_check_reactions(run, err) ||
        !tr_covariance_check(run->flow, run->mover->t, run->mover->y, err))
        return;
    warn_of_columns(s, err);
    watch_energy(s);
    s->summary->position_error =
        larger(s->summary->position_error, run->row[last_column(run, COLUMN_POSITION)]);
    s->summary->velocity_error =
        larger(s->summary->velocity_error, run->row[last_column(run, COLUMN_VELOCITY)]);
    watch_commands(s);
    memcpy(s->row, run->row, run->columns * sizeof *s->row);
    if (s->filter)
        memcpy(s->row + run->columns, s->filter->last, s->filter->label_count * sizeof *s->row);
    const tr_sink *sink;
    for (size_t i = 0; (sink = sink_at(s, i)) && !has_failed(err); i++)
        if (sink->row) sink->row(sink->owner, s->row, err);
    if (has_failed(err)) return;
    s->summary->rows++;
    s->summary->t = run->mover->t;
}

// At some of the rows: the accelerations, found in another way.
static void cross_check(Simulation *s, uint32_t row, uint32_t count)
{
    enum { CHECKS = 50 };
    Kkt *kkt = s->run->flow->now->kkt;
    if (!kkt || row % (count / CHECKS + 1) != 0) return;
    const double off = tr_kkt_difference(kkt, s->run->mover->t, s->run->mover->y);
    s->summary->kkt_error = larger(s->summary->kkt_error, off);
}

static void note_switch(void *owner, const Switch *change)
{
    Simulation *s = owner;
    if (s->switch_count >= MOST_LISTED) return;
    s->lost_switch = s->lost_switch || !tr_grow((void **)&s->switches, &s->switch_capacity,
                                                s->switch_count + 1, sizeof *s->switches);
    if (!s->lost_switch) s->switches[s->switch_count++] = *change;
}

// ---- times ---------------------------------------------------------------------------------

// A name without an ending is taken as it is.
static bool can_be_written(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *point = strrchr(name, '.');
    return !point || point == name || tr_record_has_kind(name);
}

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
    else if (o->filter && o->sensitivity)
        tr_fail(err, TR_USAGE, nowhere, "sensitivities do not see through a filter");
    else if (o->output && ends_with(o->output, ".json"))
        tr_fail(err, TR_USAGE, nowhere,
                "results go to files that end in %s: the .json file beside one is its certificate",
                tr_record_endings());
    else if (o->output && !can_be_written(o->output))
        tr_fail(err, TR_USAGE, nowhere, "results go to files that end in %s, not to '%.200s'",
                tr_record_endings(), o->output);
    return !has_failed(err);
}

// ---- the controller ------------------------------------------------------------------------

// When the next call is due, at the row or before it: where they are as good as equal, the row's
// time.
static void plan_call(Simulation *s, double row)
{
    const tr_simulate_options *o = s->options;
    const Period period = tr_period_of(o->sample); // as controllers of the model have them
    const double call = tr_period_time(&period, (double)s->calls);
    if (!s->control.call)
        s->next_call = (double)INFINITY;
    else if (o->sample > 0)
        s->next_call = fabs(call - row) <= 1e-9 * fmin(o->sample, o->every) ? row : call;
    else
        s->next_call = row;
    s->run->limit = fmin(s->next_call, tr_filter_due(s->filter));
}

// Calls the controller if it is due; false when the run must stop.
static bool control(Simulation *s, tr_error *err)
{
    Run *run = s->run;
    bool changed;
    if (has_failed(err) || run->mover->t < s->next_call) return !has_failed(err);
    tr_run_take_row(run);
    memcpy(run->before, run->row, run->columns * sizeof *run->row);
    const tr_instant now = {
        .t = run->mover->t, .columns = run->columns, .column = s->labels, .value = run->before};
    s->calls++;
    if (!tr_control_call(&s->control, run->flow, now, &changed, err))
        return run->mover->stopped = true, false;
    return !changed || tr_run_accept(run, "the controller", err);
}

// ---- from row to row -----------------------------------------------------------------------

// Also a run that must not begin has its first row.
static void begin(Simulation *s, uint32_t count, tr_error *err)
{
    tr_error refusal = {0};
    plan_call(s, 0);
    if (tr_samples_take(s->run, err) && tr_run_set_out(s->run, &refusal) &&
        tr_filter_correct(s->filter, s->run, err))
        control(s, err);
    write_row(s, err);
    cross_check(s, 0, count);
    if (refusal.status) tr_fail(err, refusal.status, (Place){0}, "%s", refusal.text);
}

static void integrate(Simulation *s, tr_error *err)
{
    const tr_simulate_options *o = s->options;
    Run *run = s->run;
    const uint32_t count = (uint32_t)tr_row_intervals(o->end, o->every);
    begin(s, count, err);
    for (uint32_t i = 1; i <= count && !has_failed(err) && !run->mover->stopped;) {
        const double row = tr_row_time(o->end, o->every, i, count);
        plan_call(s, row);
        if (!tr_run_go(run, fmin(row, run->limit), err) ||
            !tr_filter_correct(s->filter, run, err) || !control(s, err) || run->mover->t < row)
            continue;
        write_row(s, err);
        cross_check(s, i++, count);
    }
    if (s->lost_switch) tr_fail_memory(err);
    s->summary->interrupted = run->mover->stopped && !run->mover->refusal.status;
}

// ---- how it went ---------------------------------------------------------------------------

static void summarise_filter(Simulation *s, tr_error *err)
{
    const Filter *f = s->filter;
    if (!f) return;
    s->summary->fixes = f->used, s->summary->fix_outliers = f->outliers;
    s->summary->fix_consistency = f->numbers > 0 ? f->sum / f->numbers : 0;
    const size_t left = tr_filter_left(f);
    if (left && !s->summary->interrupted && !has_failed(err) &&
        !tr_warn(warnings_of(s), "%zu of the fixes are after the end, and have no effect", left))
        tr_fail_memory(err);
    else if (!left && !f->used && !has_failed(err) &&
             !tr_warn(warnings_of(s), "no fix was used: nothing was measured"))
        tr_fail_memory(err);
}

// What was at its limit, each once, with how long in all                                  (T346)
static void tell_spells(const Simulation *s, tr_error *err)
{
    const Mover *m = s->run->mover;
    const System *system = s->plan->system;
    for (uint32_t k = 0; k < system->alarm_count; k++) {
        const Spell *spell = &s->run->spells[k];
        if (spell->count &&
            !tr_warn(warnings_of(s), "%.150s from t = %.9g s, %.6g s in all",
                     system->alarms[k].words, spell->first, tr_spell_lasted(spell, m->t)))
            tr_fail_memory(err);
    }
}

static void summarise(Simulation *s, double started)
{
    tr_summary *to = s->summary;
    const Mover *m = s->run->mover;
    to->steps = m->steps;
    to->failed_steps = m->failed_steps;
    to->evaluations = m->flow->evaluations;
    to->all_evaluations = m->flow->all_evaluations;
    to->jacobians = m->flow->jacobians;
    to->chart_changes = m->watch.changes;
    to->switches = s->run->switches;
    to->warnings = m->watch.warnings.count;
    if (to->warnings) snprintf(to->warning, sizeof to->warning, "%s", m->watch.warnings.words[0]);
    snprintf(to->advice, sizeof to->advice, "%s", m->outlook.advice);
    to->energy_error = tr_balance_error(s->balance);
    to->command_error = m->flow->system->order == 1 ? larger(s->command_error, 0) : -1;
    to->seconds = seconds_now() - started;
}

// Also a run that failed has a certificate.
static void end_sinks(Simulation *s, tr_error *err)
{
    const Certificate certificate = {.options = s->options,
                                     .command_error = s->command_error,
                                     .summary = s->summary,
                                     .mover = s->run->mover,
                                     .run = s->run,
                                     .events = &s->run->events,
                                     .switches = s->switches,
                                     .switch_count = s->switch_count,
                                     .outcome = err,
                                     .labels = s->labels,
                                     .columns = s->columns,
                                     .filter = s->filter,
                                     .rows = &s->file.digest};
    Buffer text = {0};
    tr_error own = {0};
    tr_record_sink_settle(&s->file, &own);
    tr_certificate_text(&certificate, &text);
    if (text.failed) tr_fail_memory(&own);
    const tr_sink *sink;
    for (size_t i = 0; (sink = sink_at(s, i)); i++) // each, whatever becomes of the others
        if (sink->end) {
            tr_error one = {0};
            sink->end(sink->owner, text.failed ? "" : text.at, &one);
            if (one.status) tr_fail(&own, one.status, (Place){0}, "%s", one.text);
        }
    tr_buffer_free(&text);
    if (own.status) tr_fail(err, own.status, (Place){0}, "%s", own.text);
}

// ---- all of it -----------------------------------------------------------------------------

// What goes along with a run knows nothing of samples.
static bool check_samples(const tr_simulate_options *o, const System *system, tr_error *err)
{
    if (!system->clocked_count || o->sensitivity) return true; // which refuse by themselves
    const Place place = system->clocked[0].place;
    if (o->filter)
        tr_fail(err, TR_USAGE, place,
                "a filter does not see through samples: leave out the controllers and sensors, and "
                "give it the inputs as they were recorded");
    else if (!o->no_deviations && tr_system_is_uncertain(system))
        tr_fail(err, TR_USAGE, place,
                "standard deviations do not see through samples: --no-deviations leaves them out");
    return !has_failed(err);
}

static bool open_simulation(Simulation *s, const System *system, tr_error *err)
{
    const tr_simulate_options *o = s->options;
    if (!check_options(o, err) || !check_samples(o, system, err)) return false;
    s->plan = o->sensitivity ? tr_sensitivity_plan(system, o->sensitivity, err)
                             : tr_plan_new(system, err);
    const tr_run_options how = {.method = o->method,
                                .step = tr_row_step(o->end, o->every, o->step),
                                .rtol = o->rtol,
                                .atol = o->atol,
                                .dense = o->dense,
                                .no_project = o->no_project,
                                .end = o->end,
                                .progress = o->progress,
                                .say = o->say,
                                .owner = o->owner};
    s->run = tr_run_open(s->plan, &how, err);
    if (!s->run) return false;
    s->run->most_steps = o->most_steps;
    s->run->note = note_switch, s->run->note_owner = s;
    s->run->has_covariance =
        !o->sensitivity && !o->no_deviations && tr_system_is_uncertain(s->plan->system);
    if (!tr_run_begin(s->run, err)) return false;
    if (o->filter) s->filter = tr_filter_new(s->run, err);
    if (has_failed(err)) return false;
    warnings_of(s)->tell = o->warn, warnings_of(s)->owner = o->owner;
    return tr_control_begin(&s->control, s->plan->system, o, err);
}

static void simulate(Simulation *s, const System *system, tr_error *err)
{
    const double started = seconds_now();
    if (open_simulation(s, system, err) && begin_sinks(s, err)) {
        warn_of_options(s, err);
        integrate(s, err);
        summarise_filter(s, err);
        tell_spells(s, err);
        summarise(s, started);
        end_sinks(s, err);
    }
    tr_control_end(&s->control);
    tr_filter_free(s->filter);
    tr_run_free(s->run);
    tr_plan_free(s->plan);
    free(s->labels);
    free(s->row);
    free(s->is_told);
    free(s->switches);
}

bool tr_simulate(const System *system, const tr_simulate_options *options, tr_summary *summary,
                 tr_error *err)
{
    tr_error local = {0};
    tr_summary unused = {.command_error = -1};
    if (!err) err = &local;
    tr_simulate_options o = tr_simulate_defaults(system);
    if (!system || !tr_take_options(&o, sizeof o, options, "tr_simulate_defaults", err))
        return false;
    Simulation s = {.options = &o, .summary = summary ? summary : &unused, .command_error = -1};
    *s.summary = unused;
    simulate(&s, system, err);
    return !has_failed(err);
}
