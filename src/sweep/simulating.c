// SPDX-License-Identifier: Apache-2.0
// Runs of a sweep that are simulated: by rk4 and lie many side by side, by other methods one after
// the other. Each has the bits of tr_simulate with the same equations. These were derived with the
// model's own numbers: where a number of the run would make others (a factor that is 1, say), a
// tr_simulate of a system derived with it may differ in the last bit. For a GPU a worker has many
// blocks at once, whose runs are one batch.
#include "sweep/simulating.h"
#include "base/clock.h"
#include "base/error.h"
#include "num/dense.h"
#include "plan/start.h"
#include "sim/batch.h"
#include "sim/row_time.h"
#include "sim/run.h"
#include "sweep/apart.h"
#include "sweep/gpu_row.h"
#include "sweep/tally.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 1024 }; // that a worker has at once

// What is known so far of one run
typedef struct Progress {
    Block *block;
    uint32_t at;   // in it
    double *row;   // its last row, with what is varied behind it
    double *tally; // of its rows, with that behind it, too
    bool goes_on;
    bool is_apart;    // it had equations of its own, and
    RunCounts counts; // came through this
} Progress;

typedef struct Worker {
    const Sweep *sweep;
    tr_run_options how;
    tr_batch *batch; // or
    Run *run;
    size_t room; // for runs
    Progress *runs;
    uint32_t count;
    uint32_t *input; // that is varied
    uint32_t kinetic, potential;
    double *rows, *tallies, *formulas;
    double **row;
    GpuRows gpu_rows; // that a GPU takes, of runs
    RowsOfRun *of_run;
    Buffer gpu_text;
    double *until;      // of runs, where they go
    tr_workspace *work; // of what is kept
} Worker;

// ---- before ---------------------------------------------------------------------------------

static bool goes_side_by_side(const char *method)
{
    return strcmp(method, "rk4") == 0 || strcmp(method, "lie") == 0;
}

static bool is_on_gpu(const Sweep *s)
{
    return s->options->on && strcmp(s->options->on, "gpu") == 0;
}

static bool check_place(const Sweep *s, tr_error *err)
{
    if (!is_on_gpu(s) || goes_side_by_side(s->method)) return true;
    tr_fail(err, TR_USAGE, (Place){0}, "a GPU makes steps of rk4 and lie; '%s' has no such steps",
            s->method);
    return false;
}

static bool check_steps(const Sweep *s, tr_error *err)
{
    const double step = s->step > 0 && s->every > 0 ? tr_row_step(s->end, s->every, s->step) : 1;
    if (!isfinite(s->end) || s->end < 0)
        tr_fail(err, TR_USAGE, (Place){0}, "the end must not be negative");
    else if (!isfinite(s->every) || !(s->every > 0))
        tr_fail(err, TR_USAGE, (Place){0}, "the time between rows must be positive");
    else if (!isfinite(s->step) || !(s->step > 0))
        tr_fail(err, TR_USAGE, (Place){0}, "the step must be positive");
    else if (!(s->rtol > 0) || !(s->atol >= 0))
        tr_fail(err, TR_USAGE, (Place){0}, "tolerances must be positive");
    else if (s->end / s->every > 1e9)
        tr_fail(err, TR_USAGE, (Place){0}, "more than a billion rows");
    else if (goes_side_by_side(s->method) && s->options->most_steps &&
             s->end / step > (double)s->options->most_steps)
        tr_fail(err, TR_USAGE, (Place){0},
                "a run takes %.4g steps, and there may not be more than %zu: --most-steps sets the "
                "limit",
                s->end / step, s->options->most_steps);
    return !has_failed(err);
}

bool tr_simulating_prepare(Sweep *s, tr_error *err)
{
    const tr_sweep_options *o = s->options;
    const tr_simulate_options by_case = tr_simulate_defaults(s->system);
    s->end = isnan(o->end) ? by_case.end : o->end;
    s->every = isnan(o->every) ? by_case.every : o->every;
    s->step = isnan(o->step) ? by_case.step : o->step;
    s->rtol = isnan(o->rtol) ? by_case.rtol : o->rtol;
    s->atol = isnan(o->atol) ? by_case.atol : o->atol;
    s->method = o->method ? o->method : by_case.method;
    if (!tr_method(s->method, err) || !check_place(s, err) || !check_steps(s, err)) return false;
    s->block_size = goes_side_by_side(s->method) ? MOST_BLOCK : 1;
    if (is_on_gpu(s)) s->hand = MOST_BLOCKS;
    if (!tr_sweep_rows(s, (uint32_t)tr_plan_column_count(s->plan), err)) return false;
    for (uint32_t i = 0; i < s->row_count; i++) {
        s->row_names[i] = tr_plan_column_name(s->plan, i);
        s->row_units[i] = tr_plan_column_unit(s->plan, i);
    }
    return true;
}

// ---- workers --------------------------------------------------------------------------------

static bool may_go_on(void *owner, double t, double end)
{
    const Sweep *s = owner;
    (void)t, (void)end;
    return !s->stops;
}

static void open_runs(Worker *w, tr_error *err)
{
    const Sweep *s = w->sweep;
    tr_run_options *how = &w->how;
    *how = tr_run_defaults(s->plan);
    how->method = s->method, how->step = tr_row_step(s->end, s->every, s->step);
    how->rtol = s->rtol, how->atol = s->atol, how->end = s->end;
    how->progress = may_go_on, how->owner = (void *)s;
    w->room = (size_t)s->block_size * s->hand;
    if (goes_side_by_side(s->method)) {
        tr_run_options there = *how;
        there.on = s->options->on;
        w->batch = tr_batch_new(s->plan, w->room, &there, err);
    } else
        w->run = tr_run_open(s->plan, how, err);
    if (w->run) w->run->most_steps = s->options->most_steps;
}

static bool make_room(Worker *w, tr_error *err)
{
    const Sweep *s = w->sweep;
    const size_t n = w->room, wide = s->keep.inputs;
    const size_t tally = tr_keep_size(&s->keep) + s->design.count;
    w->of_run = calloc(n + 1, sizeof *w->of_run);
    w->until = calloc(n + 1, sizeof *w->until);
    w->runs = calloc(n + 1, sizeof *w->runs);
    w->row = calloc(n + 1, sizeof *w->row);
    w->rows = calloc(n * wide + 1, sizeof *w->rows);
    w->tallies = calloc(n * tally + 1, sizeof *w->tallies);
    w->formulas = calloc(n * s->keep.formulas + 1, sizeof *w->formulas);
    w->input = calloc(s->design.count + 1u, sizeof *w->input);
    if (s->keep.program) w->work = tr_workspace_new(s->keep.program, err);
    if (!w->rows || !w->tallies || !w->formulas || !w->input || !w->runs || !w->row || !w->of_run ||
        !w->until)
        return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->design.count; i++) w->input[i] = s->design.varied[i].input;
    for (size_t i = 0; i < n; i++) {
        w->runs[i].row = w->row[i] = w->rows + i * wide;
        w->runs[i].tally = w->tallies + i * tally;
    }
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (strcmp(s->row_names[i], "energy.kinetic") == 0) w->kinetic = i;
        if (strcmp(s->row_names[i], "energy.potential") == 0) w->potential = i;
    }
    return !has_failed(err);
}

// Rows that nobody wants as they are a GPU may take itself.
static bool plan_rows(Worker *w, tr_error *err)
{
    const Sweep *s = w->sweep;
    if (w->batch) tr_batch_vary(w->batch, w->input, s->design.count);
    const RowEnergies at = {w->kinetic, w->potential, s->row_count - 3};
    if (w->batch && is_on_gpu(s) && tr_sweep_gpu_rows(s, at, &w->gpu_text, &w->gpu_rows, err))
        tr_batch_take_on_way(w->batch, &w->gpu_rows, w->of_run);
    return !has_failed(err);
}

void *tr_simulating_open(const Sweep *s, tr_error *err)
{
    Worker *w = calloc(1, sizeof *w);
    if (!w) return tr_fail_memory(err), NULL;
    w->sweep = s;
    open_runs(w, err);
    if (!has_failed(err) && make_room(w, err) && plan_rows(w, err)) return w;
    tr_simulating_close(w);
    return NULL;
}

void tr_simulating_close(void *worker)
{
    Worker *w = worker;
    if (!w) return;
    if (w->batch && is_on_gpu(w->sweep))
        tr_sweep_tell_place(w->sweep, tr_batch_on(w->batch), tr_batch_counts(w->batch).on_gpu);
    tr_batch_free(w->batch);
    tr_run_free(w->run);
    tr_workspace_free(w->work);
    free(w->rows);
    free(w->tallies);
    free(w->formulas);
    free(w->input);
    free(w->runs);
    free(w->row);
    free(w->of_run);
    free(w->until);
    tr_buffer_free(&w->gpu_text);
    free(w);
}

// ---- rows -----------------------------------------------------------------------------------

static double *values_of(const Worker *w, const Progress *p)
{
    return block_values(w->sweep, p->block, p->at);
}

static bool keeps_rows(const Sweep *s, const Progress *p)
{
    return s->options->record && p->block->run[p->at] % s->options->record == 0;
}

// All runs of these blocks
static void begin(Worker *w, Block *blocks)
{
    const Sweep *s = w->sweep;
    w->count = 0;
    for (Block *b = blocks; b; b = b->next)
        for (uint32_t i = 0; i < b->count; i++) {
            Progress *p = &w->runs[w->count++];
            *p = (Progress){.block = b, .at = i, .row = p->row, .tally = p->tally, .goes_on = true};
            memset(p->row, 0, s->keep.inputs * sizeof *p->row);
            memcpy(p->row + s->row_count, values_of(w, p), s->design.count * sizeof *p->row);
            tr_keep_begin(&s->keep, p->tally);
            memcpy(p->tally + tr_keep_size(&s->keep), values_of(w, p),
                   s->design.count * sizeof *p->tally);
            RowsOfRun *of = &w->of_run[p - w->runs];
            of->next = 0, of->numbers = keeps_rows(s, p) ? NULL : p->tally;
        }
}

static void fail(Progress *p, const tr_error *why)
{
    tr_block_fail(p->block, p->at, why);
    p->goes_on = false;
}

static void stop(Progress *p) { p->block->is_stopped[p->at] = true, p->goes_on = false; }

// The formulas of the row are those given. What stops is told.
static bool add_row(Worker *w, Progress *p, const double *formulas, tr_error *err)
{
    const Sweep *s = w->sweep;
    const double *row = p->row, *residual = row + s->row_count - 2;
    check_row(p->tally, row[w->kinetic], row[w->potential], row[s->row_count - 3], residual[0],
              residual[1]);
    if (tr_keep_add(&s->keep, p->tally, row[0], formulas)) stop(p);
    return tr_block_keep(s, p->block, p->at, row, err);
}

static void put_results(const Worker *w, const Progress *p, const RunCounts *counts)
{
    const Sweep *s = w->sweep;
    double *values = values_of(w, p), *figures = values + figures_at(s);
    tr_keep_end(&s->keep, p->tally, values + kept_at(s));
    figures[FIGURE_ROWS] = p->tally[TALLY_ROWS];
    figures[FIGURE_STEPS] = (double)counts->steps;
    figures[FIGURE_CHARTS] = (double)counts->chart_changes;
    figures[FIGURE_SWITCHES] = (double)counts->switches;
    figures[FIGURE_WARNINGS] = (double)counts->warnings;
    if (p->tally[TALLY_ROWS] == 0) return; // then the rest is not known
    figures[FIGURE_T] = p->tally[TALLY_LAST];
    figures[FIGURE_ENERGY] = tr_balance_error(p->tally + TALLY_BALANCE);
    figures[FIGURE_POSITION] = p->tally[TALLY_POSITION];
    figures[FIGURE_VELOCITY] = p->tally[TALLY_VELOCITY];
}

static bool reduce_row(Worker *w, Progress *p, const double *row, tr_error *err)
{
    const Sweep *s = w->sweep;
    memcpy(p->row, row, s->row_count * sizeof *p->row);
    if (s->keep.program) tr_evaluate(s->keep.program, w->work, p->row, w->formulas);
    return add_row(w, p, w->formulas, err);
}

// ---- apart ----------------------------------------------------------------------------------

typedef struct OwnRun {
    Worker *worker;
    Progress *progress;
} OwnRun;

static bool take_apart(void *owner, const double *row, tr_error *err)
{
    const OwnRun *own = owner;
    return reduce_row(own->worker, own->progress, row, err) && own->progress->goes_on;
}

// What could not start goes its own way where that is because of other equations.
static void go_apart(Worker *w, Progress *p, tr_error *why)
{
    tr_error own = {0};
    Buffer because = {0};
    const double *values = values_of(w, p);
    if (tr_apart_is_needed(w->sweep, values, &because, &own)) {
        tr_apart_run(w->sweep, values, &because, &w->how, take_apart, &(OwnRun){w, p}, &p->counts,
                     &own);
        *why = own, p->is_apart = true, p->goes_on = false;
    } else if (own.status)
        *why = own;
    tr_buffer_free(&because);
}

// ---- side by side ---------------------------------------------------------------------------

static Settings settings_of(const Worker *w, const Progress *p)
{
    return (Settings){w->input, values_of(w, p), w->sweep->design.count};
}

static bool begin_all(Worker *w, tr_error *err)
{
    for (uint32_t i = 0; i < w->room; i++) {
        tr_error why = {0};
        if (i >= w->count || w->sweep->stops) {
            tr_batch_rest(w->batch, i);
            continue;
        }
        Progress *p = &w->runs[i];
        if (tr_batch_begin(w->batch, i, settings_of(w, p), &why)) continue;
        if (why.status != TR_NO_MEMORY) go_apart(w, p, &why);
        if (why.status == TR_NO_MEMORY) return tr_fail_memory(err), false;
        if (why.status) fail(p, &why);
    }
    return true;
}

// Those that could not go on to this row are over.
static void note_failures(Worker *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        tr_error why = {0};
        if (w->runs[i].goes_on && tr_batch_status(w->batch, i, &why)) fail(&w->runs[i], &why);
    }
}

// Each to its next row; what a GPU saw on the way is known then. True while one goes on.
static bool advance(Worker *w, double count, tr_error *err)
{
    const Sweep *s = w->sweep;
    bool any = false;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->runs[i].goes_on)
            w->until[i] =
                tr_row_time(s->end, s->every, (uint32_t)w->of_run[i].next, (uint32_t)count);
    if (!tr_batch_advance_each(w->batch, w->until, err)) return false;
    for (uint32_t i = 0; i < w->count; i++) {
        Progress *p = &w->runs[i];
        if (!p->goes_on) continue;
        if (p->tally[TALLY_ENDS] != 0) stop(p);
        p->goes_on = p->goes_on && w->of_run[i].next <= count;
        if (!p->goes_on) tr_batch_rest(w->batch, i);
        any = any || p->goes_on;
    }
    return any;
}

// Of all that stand at their next. True while one goes on.
static bool take_rows(Worker *w, double count, tr_error *err)
{
    const Sweep *s = w->sweep;
    bool any = false;
    if (!tr_batch_rows(w->batch, w->row, err)) return false;
    note_failures(w);
    if (s->keep.program)
        tr_evaluate_many(s->keep.program, w->work, w->count, w->rows, s->keep.inputs, w->formulas,
                         s->keep.formulas);
    for (uint32_t i = 0; i < w->count; i++) {
        Progress *p = &w->runs[i];
        if (!p->goes_on) continue;
        w->of_run[i].next++;
        if (!add_row(w, p, w->formulas + (size_t)i * s->keep.formulas, err)) return false;
        p->goes_on = p->goes_on && w->of_run[i].next <= count;
        if (!p->goes_on) tr_batch_rest(w->batch, i);
        any = any || p->goes_on;
    }
    return any;
}

static bool work_together(Worker *w, tr_error *err)
{
    const Sweep *s = w->sweep;
    const double count = tr_row_intervals(s->end, s->every);
    if (!begin_all(w, err)) return false;
    bool any = take_rows(w, count, err);
    while (any && advance(w, count, err)) any = take_rows(w, count, err);
    for (uint32_t i = 0; i < w->count && !has_failed(err); i++) {
        const Progress *p = &w->runs[i];
        const RunCounts counts = p->is_apart ? p->counts : tr_batch_run_counts(w->batch, i);
        put_results(w, p, &counts);
    }
    return !has_failed(err) && !s->stops;
}

// ---- one after the other --------------------------------------------------------------------

static bool take_row(Worker *w, Progress *p, tr_error *err)
{
    tr_run_take_row(w->run);
    if (!all_finite(w->run->row, w->run->columns) && !tr_run_check_row(w->run, err)) return false;
    return reduce_row(w, p, w->run->row, err);
}

static bool go_through(Worker *w, Progress *p, tr_error *err)
{
    const Sweep *s = w->sweep;
    const Settings set = settings_of(w, p);
    const uint32_t count = (uint32_t)tr_row_intervals(s->end, s->every);
    tr_start_values(s->system, w->run->values);
    memset(w->run->is_set, 0, s->system->input_count * sizeof *w->run->is_set);
    for (size_t k = 0; k < set.count; k++) tr_run_put(w->run, set.input[k], set.value[k]);
    bool good = tr_run_reset(w->run, err) && take_row(w, p, err);
    for (uint32_t r = 1; good && p->goes_on && r <= count; r++)
        good =
            tr_run_go(w->run, tr_row_time(s->end, s->every, r, count), err) && take_row(w, p, err);
    return good;
}

static bool work_alone(Worker *w, tr_error *err)
{
    for (uint32_t i = 0; i < w->count; i++) {
        tr_error why = {0};
        Progress *p = &w->runs[i];
        go_through(w, p, &why);
        if (why.status && why.status != TR_NO_MEMORY && p->tally[TALLY_ROWS] == 0)
            go_apart(w, p, &why);
        if (why.status == TR_NO_MEMORY) return tr_fail_memory(err), false;
        if (w->sweep->stops) return false;
        if (why.status) fail(p, &why);
        const Mover *m = w->run->mover;
        RunCounts counts = p->counts;
        if (p->tally[TALLY_ROWS] != 0 && !p->is_apart)
            counts =
                (RunCounts){m->steps, m->watch.changes, w->run->switches, m->watch.warnings.count};
        put_results(w, p, &counts);
    }
    return true;
}

bool tr_simulating_work(void *worker, Block *blocks, tr_error *err)
{
    Worker *w = worker;
    const double started = seconds_now();
    begin(w, blocks);
    if (!(w->batch ? work_together(w, err) : work_alone(w, err))) return false;
    const double share = (seconds_now() - started) / w->count;
    for (uint32_t i = 0; i < w->count; i++) w->runs[i].block->seconds[w->runs[i].at] = share;
    return true;
}
