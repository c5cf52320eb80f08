// SPDX-License-Identifier: Apache-2.0
// A run as bytes: what was set, how contacts and the chart are, and the numbers that steps depend
// on. One function lists these for both directions. Bytes may be anybody's: what is an index, a
// count or a time is looked at before it is used.
#include "num/dense.h"
#include "plan/switch.h"
#include "sim/run.h"
#include "sim/sample.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- a tape --------------------------------------------------------------------------------

// Numbers one after the other, written or read.
typedef struct Tape {
    uint8_t *to;         // where they are written; NULL when they are read
    const uint8_t *from; // or read
    size_t used, size;
    bool failed; // it is too short, or what was read cannot be
} Tape;

static void pass(Tape *tape, void *data, size_t bytes)
{
    if (tape->failed || tape->size - tape->used < bytes) {
        tape->failed = true;
        return;
    }
    if (bytes && tape->to)
        memcpy(tape->to + tape->used, data, bytes);
    else if (bytes)
        memcpy(data, tape->from + tape->used, bytes);
    tape->used += bytes;
}

#define PASS(tape, object) pass(tape, &(object), sizeof(object))

static void pass_doubles(Tape *tape, double *x, size_t count) { pass(tape, x, count * sizeof *x); }

// Of what was read
static void insist(Tape *tape, bool holds) { tape->failed |= tape->from && !holds; }

// What was read of them may be no truth at all: then it is false, as anybody may look at it.
static void insist_on_truth(Tape *tape, bool *x)
{
    uint8_t byte;
    memcpy(&byte, x, sizeof byte);
    if (byte > 1) *x = false, tape->failed = true;
}

static void pass_truths(Tape *tape, bool *x, size_t count)
{
    pass(tape, x, count * sizeof *x);
    for (size_t i = 0; i < count; i++) insist_on_truth(tape, &x[i]);
}

#define PASS_TRUTH(tape, object) pass_truths(tape, &(object), 1)

static void insist_on_text(Tape *tape, const char *text, size_t size)
{
    insist(tape, memchr(text, 0, size) != NULL);
}

// ---- who it is -----------------------------------------------------------------------------

typedef struct Head {
    char magic[8];
    uint64_t plan, bytes;
    char method[16];
} Head;

static Head head_of(const Run *run, size_t bytes)
{
    Head head = {.magic = "trundle2", .plan = run->plan->mark, .bytes = bytes};
    snprintf(head.method, sizeof head.method, "%s", run->method->name);
    return head;
}

size_t tr_run_most_bytes(const Run *run)
{
    const System *s = run->plan->system;
    const size_t n = s->input_count, rows = s->row_count, latches = s->latch_count;
    const size_t y = n + latches + 1, vectors = 2 + WORK_VECTORS + 2 * PATH_STATES;
    return sizeof(Head) + sizeof(Run) + sizeof(Mover) + n * (2 * sizeof(double) + 1) +
           latches * sizeof(LatchMode) + rows * (4 * sizeof(double) + 16) +
           2 * rows * rows * sizeof(double) + s->alarm_count * (2 * sizeof(double) + 1) +
           (vectors * y + 64) * sizeof(double) + s->alarm_count * sizeof(Spell) +
           tr_plan_switch_count(run->plan) * (sizeof(double) + sizeof(Habit)) +
           s->clocked_count * sizeof(Clock);
}

// ---- the parts -----------------------------------------------------------------------------

static void pass_settings(Tape *tape, Run *run)
{
    const size_t n = run->plan->system->input_count;
    pass_doubles(tape, run->values, n);
    pass_truths(tape, run->is_set, n);
    PASS_TRUTH(tape, run->is_changed);
}

// Where that is followed by the inputs of the flow (tr_run_write)
static size_t inputs_at(const Run *run)
{
    return run->plan->system->input_count * (sizeof(double) + sizeof(bool)) + sizeof(bool);
}

void tr_run_read_inputs(const Run *run, const void *memory, double *inputs)
{
    const size_t n = run->plan->system->input_count;
    memcpy(inputs, (const uint8_t *)memory + inputs_at(run), n * sizeof *inputs);
}

double tr_run_read_input(const Run *run, const void *memory, uint32_t input)
{
    double value;
    memcpy(&value, (const uint8_t *)memory + inputs_at(run) + input * sizeof value, sizeof value);
    return value;
}

void tr_run_write_setting(const Run *run, void *memory, uint32_t input, double value, bool is_now)
{
    const size_t n = run->plan->system->input_count;
    const uint32_t follower = tr_system_follower(run->plan->system, input);
    uint8_t *values = memory, *is_set = values + n * sizeof value, *now = values + inputs_at(run);
    const double none = 0;
    const bool is_so = true;
    for (uint8_t *to = values; to; to = to == values && is_now ? now : NULL) {
        memcpy(to + input * sizeof value, &value, sizeof value);
        if (follower != NO_INPUT) memcpy(to + follower * sizeof none, &none, sizeof none);
    }
    memcpy(is_set + input * sizeof is_so, &is_so, sizeof is_so);
    memcpy(is_set + n * sizeof is_so, &is_so, sizeof is_so); // is_changed
}

static void pass_chart(Tape *tape, Chart *c, uint32_t *row, uint32_t *dependent)
{
    PASS(tape, c->m);
    PASS(tape, c->m_locked);
    PASS(tape, c->surplus_count);
    PASS(tape, c->partition.count);
    insist(tape, c->partition.count <= c->passive && c->partition.count <= c->system->row_count);
    insist(tape, c->surplus_count <= c->rows && c->m_locked <= c->m && c->m <= c->rows);
    if (tape->failed) return;
    const size_t table = (size_t)c->surplus_count * c->rows;
    pass(tape, row, c->partition.count * sizeof *row);
    pass(tape, dependent, c->partition.count * sizeof *dependent);
    pass_truths(tape, c->hyperstatic, c->rows);
    pass(tape, c->surplus, c->surplus_count * sizeof *c->surplus);
    pass_truths(tape, c->antagonist, c->surplus_count);
    pass_doubles(tape, c->dependence, table);
    pass_doubles(tape, c->shares, table);
}

static void pass_modes(Tape *tape, LatchMode *modes, uint32_t count)
{
    pass(tape, modes, count * sizeof *modes);
    for (uint32_t i = 0; i < count; i++) {
        insist_on_truth(tape, &modes[i].is_open);
        insist_on_truth(tape, &modes[i].is_slipping);
    }
}

// Where it is in time, and how methods step on from there
static void pass_steps(Tape *tape, Mover *m)
{
    const size_t size = m->flow->size;
    PASS(tape, m->t);
    pass_doubles(tape, m->y, size);
    insist(tape, isfinite(m->t) && m->t >= 0 && all_finite(m->y, size));
    pass_doubles(tape, m->work, WORK_VECTORS * size);
    PASS(tape, m->grid);
    insist_on_truth(tape, &m->grid.is_there);
    insist(tape, m->grid.start >= 0 && m->grid.start <= m->t && m->grid.count < 1ull << 53);
    PASS(tape, m->first_step);
    insist(tape, isfinite(m->first_step) && m->first_step >= 0);
    PASS(tape, m->adams.known);
    insist(tape, m->adams.known <= 4);
    PASS(tape, m->adams.step);
    PASS(tape, m->outlook.order);
    insist(tape, m->outlook.order >= 0 && m->outlook.order <= 5);
    PASS(tape, m->outlook.next);
    PASS(tape, m->outlook.covered);
    PASS(tape, m->outlook.implicit);
    PASS(tape, m->steps);
    PASS(tape, m->failed_steps);
    PASS(tape, m->drift);
    PASS(tape, m->outlook.advice);
    insist_on_text(tape, m->outlook.advice, sizeof m->outlook.advice);
}

// Its next sample is not long past: all that are would be taken.
static bool is_clock(const Clock *clock, double t)
{
    const Period *p = &clock->period;
    const bool is_round = p->under > 0 && p->over / p->under == p->seconds;
    return p->seconds > 0 && isfinite(p->seconds) &&
           (is_round || (p->under == 0 && p->over == 0)) &&
           tr_period_time(p, (double)clock->count) > t - 2 * p->seconds;
}

// Of switches, alarms and samples
static void pass_habits(Tape *tape, Run *run)
{
    const Flow *flow = run->flow;
    const uint32_t clocks = flow->system->clocked_count;
    pass_doubles(tape, flow->sides, flow->switch_count);
    pass(tape, run->habits, flow->switch_count * sizeof *run->habits);
    for (uint32_t k = 0; k < flow->switch_count; k++)
        insist_on_truth(tape, &run->habits[k].is_calm);
    pass(tape, run->spells, flow->system->alarm_count * sizeof *run->spells);
    pass(tape, run->clocks, clocks * sizeof *run->clocks);
    for (uint32_t i = 0; i < clocks; i++) insist(tape, is_clock(&run->clocks[i], run->mover->t));
}

// What was seen of the last states
static void pass_path(Tape *tape, Path *path)
{
    PASS(tape, path->count);
    PASS(tape, path->t);
    insist(tape, path->count >= 1 && path->count <= PATH_STATES);
    for (uint32_t i = 0; i < path->count && !tape->failed; i++)
        insist(tape, isfinite(path->t[i]) && path->t[i] >= (i ? path->t[i - 1] : 0));
    for (int i = 0; i < PATH_STATES; i++) pass_doubles(tape, path->y[i], path->flow->size);
    path->rated = PATH_STATES;
}

static void pass_due(Tape *tape, Watch *w)
{
    PASS(tape, w->due.status);
    if (!w->due.status) return;
    PASS(tape, w->due);
    PASS(tape, w->end);
    insist(tape, w->due.status > TR_OK && w->due.status <= TR_NO_MEMORY);
    insist_on_text(tape, w->due.text, sizeof w->due.text);
    insist_on_text(tape, w->due.file, sizeof w->due.file);
}

// What steps depend on, in a flow and with a mover of the right sizes
static void pass_state(Tape *tape, Run *run)
{
    Flow *flow = run->flow;
    Mover *m = run->mover;
    Watch *w = &m->watch;
    const uint32_t alarms = flow->system->alarm_count;
    pass_steps(tape, m);
    PASS(tape, flow->evaluations);
    PASS(tape, flow->all_evaluations);
    PASS(tape, flow->jacobians);
    PASS(tape, flow->earliest);
    PASS(tape, run->fastest);
    PASS(tape, run->recent);
    PASS(tape, run->switches);
    PASS_TRUTH(tape, run->has_doubted);
    PASS_TRUTH(tape, run->has_chattered);
    pass_habits(tape, run);
    if (!tr_flow_is_watched(flow)) return;
    if (flow->stance) pass_doubles(tape, flow->stance->square, flow->stance->all);
    if (flow->stance) tr_stance_rescale(flow->stance);
    pass_doubles(tape, flow->largest, flow->footing->constraints);
    pass_doubles(tape, w->last, alarms);
    pass_truths(tape, w->told, alarms);
    PASS(tape, w->quality);
    PASS(tape, w->changes);
    pass_due(tape, w);
    PASS(tape, w->last_steps);
    pass_path(tape, &w->path);
}

// ---- saving --------------------------------------------------------------------------------

size_t tr_run_write(Run *run, void *memory, size_t size)
{
    Tape tape = {.to = memory, .size = size};
    pass_settings(&tape, run);
    pass_doubles(&tape, run->flow->inputs, run->plan->system->input_count);
    pass_modes(&tape, run->flow->modes, run->plan->system->latch_count);
    Chart *chart = (Chart *)run->flow->now->chart; // which is only read
    if (chart)
        pass_chart(&tape, chart, (uint32_t *)chart->partition.row,
                   (uint32_t *)chart->partition.dependent);
    pass_state(&tape, run);
    assert(!tape.failed); // tr_run_most_bytes counted them
    return tape.used;
}

size_t tr_run_save(Run *run, void *memory, size_t size, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return 0;
    const size_t bytes = tr_run_most_bytes(run);
    if (run->failure.status)
        tr_fail(err, TR_USAGE, (Place){0}, "a run that failed has nothing to save: %.300s",
                run->failure.text);
    else if (memory && size < bytes)
        tr_fail(err, TR_USAGE, (Place){0}, "a snapshot takes %zu bytes, not %zu", bytes, size);
    if (has_failed(err)) return 0;
    if (!memory) return bytes;
    if (run->method->adaptive && !tr_mover_restart(run->mover, tr_solver_last_step(run->mover)))
        return tr_fail(err, TR_FAILED, (Place){0}, "%s", run->mover->refusal.text), 0;
    tr_flow_forget(run->flow); // so that it goes on as one does that was restored
    tr_watch_renew(&run->mover->watch);
    const Head head = head_of(run, bytes);
    memcpy(memory, &head, sizeof head);
    uint8_t *state = (uint8_t *)memory + sizeof head;
    const size_t used = tr_run_write(run, state, bytes - sizeof head);
    memset(state + used, 0, bytes - sizeof head - used);
    return bytes;
}

// ---- restoring -----------------------------------------------------------------------------

static Chart *read_chart(Tape *tape, const System *s, const Footing *f, tr_error *err)
{
    const size_t rows = f->constraints;
    Chart *c = tr_chart_empty(s, f->constraints, err);
    uint32_t *row = calloc(s->row_count + 1u, sizeof *row);
    uint32_t *dependent = calloc(s->row_count + 1u, sizeof *dependent);
    if (c) {
        c->partition.row = row, c->partition.dependent = dependent;
        c->surplus = calloc(rows + 1, sizeof *c->surplus);
        c->antagonist = calloc(rows + 1, sizeof *c->antagonist);
        c->hyperstatic = calloc(rows + 1, sizeof *c->hyperstatic);
        c->dependence = calloc(rows * rows + 1, sizeof *c->dependence);
        c->shares = calloc(rows * rows + 1, sizeof *c->shares);
    }
    if (c && row && dependent && c->surplus && c->antagonist && c->hyperstatic && c->dependence &&
        c->shares) {
        pass_chart(tape, c, row, dependent);
        c->partition.antagonist = c->antagonist;
        return c;
    }
    if (!c) free(row), free(dependent);
    tr_chart_free(c);
    return tr_fail_memory(err), NULL;
}

// Each pivot is of a row that is closed, for a velocity of its own; the other closed constraints
// are surplus. Rows and velocities that are left, by row and by input
static bool has_pivots(const Chart *c, bool *row_left, bool *velocity_left)
{
    const Partition *p = &c->partition;
    uint32_t surplus = 0;
    for (uint32_t k = 0; k < p->count; k++) {
        const uint32_t row = p->row[k], velocity = p->dependent[k];
        if (row >= c->system->row_count || velocity >= c->system->input_count) return false;
        if (!row_left[row] || !velocity_left[velocity]) return false;
        row_left[row] = velocity_left[velocity] = false;
    }
    for (uint32_t i = 0; i < c->rows; i++)
        if (row_left[i] && (surplus == c->surplus_count || c->surplus[surplus++] != i))
            return false;
    return surplus == c->surplus_count;
}

static bool is_chart(const Chart *c, const Footing *f, tr_error *err)
{
    const System *s = c->system;
    uint32_t *velocity = calloc(s->input_count + 1u, sizeof *velocity);
    bool *left = calloc((size_t)s->row_count + s->input_count + 1, sizeof *left), good = false;
    if (velocity && left) {
        const uint32_t count = tr_system_velocities(s, velocity);
        for (uint32_t i = 0; i < s->row_count; i++) left[i] = i >= c->rows || !f->open[i];
        for (uint32_t k = 0; k < count; k++)
            left[s->row_count + velocity[k]] = !is_motion_driven(&s->inputs[velocity[k]]);
        good = has_pivots(c, left, left + s->row_count);
    } else
        tr_fail_memory(err);
    free(velocity);
    free(left);
    return good;
}

// The flow that a tape describes, and a mover in it, in another run
static bool read_flow(Tape *tape, Run *to, tr_error *err)
{
    const System *s = to->plan->system;
    double *inputs = calloc(s->input_count + 1u, sizeof *inputs);
    LatchMode *modes = calloc(s->latch_count + 1u, sizeof *modes);
    Chart *chart = NULL;
    if (inputs && modes) {
        pass_doubles(tape, inputs, s->input_count);
        pass_modes(tape, modes, s->latch_count);
        const Footing *f = tape->failed ? NULL : tr_plan_footing(to->plan, modes, inputs, err);
        if (f && s->row_count) chart = read_chart(tape, s, f, err);
        if (chart && !tape->failed) insist(tape, is_chart(chart, f, err));
        if (!has_failed(err) && !tape->failed)
            to->flow = tr_flow_in(to->plan, modes, inputs, chart, err);
        else
            tr_chart_free(chart);
    } else
        tr_fail_memory(err);
    free(inputs);
    free(modes);
    if (to->flow) to->mover = tr_mover_open(to->method, to->flow, to->flow->start, err);
    return to->mover != NULL;
}

static bool check_head(const Run *run, const void *memory, size_t size, tr_error *err)
{
    Head head;
    const Head own = head_of(run, tr_run_most_bytes(run));
    if (size < sizeof head)
        tr_fail(err, TR_USAGE, (Place){0}, "this is no snapshot: it has %zu bytes", size);
    if (has_failed(err)) return false;
    memcpy(&head, memory, sizeof head);
    if (memcmp(head.magic, own.magic, sizeof head.magic) != 0 || size < head.bytes)
        tr_fail(err, TR_USAGE, (Place){0}, "this is no snapshot of a run, or not all of it");
    else if (head.plan != own.plan || head.bytes != own.bytes)
        tr_fail(err, TR_USAGE, (Place){0}, "the snapshot is of a run of another plan");
    else if (strcmp(head.method, own.method) != 0)
        tr_fail(err, TR_USAGE, (Place){0}, "the snapshot is of a run with %.15s, not %.15s",
                head.method, own.method);
    return !has_failed(err);
}

bool tr_run_read(Run *run, const void *memory, size_t size, Events *events, tr_error *err)
{
    const size_t n = run->plan->system->input_count;
    Tape tape = {.from = memory, .size = size};
    Run next = *run;
    next.flow = NULL, next.mover = NULL, next.events = (Events){0};
    next.values = calloc(n + 1, sizeof *next.values);
    next.is_set = calloc(n + 1, sizeof *next.is_set);
    next.habits = calloc(tr_plan_switch_count(run->plan) + 1u, sizeof *next.habits);
    next.spells = calloc(run->plan->system->alarm_count + 1u, sizeof *next.spells);
    next.clocks = calloc(run->plan->system->clocked_count + 1u, sizeof *next.clocks);
    bool good = next.values && next.is_set && next.habits && next.spells && next.clocks;
    if (!good) tr_fail_memory(err);
    if (good) {
        pass_settings(&tape, &next);
        good = read_flow(&tape, &next, err);
    }
    if (good) {
        next.flow->no_projection = run->options.no_project;
        tr_run_give_options(&next, next.mover);
        pass_state(&tape, &next);
        good = !tape.failed && (events || tr_run_find_events(&next, err));
    }
    if (good && events) next.events = *events, *events = (Events){0};
    if (good) {
        next.failure = (tr_error){0};
        tr_run_swap(run, &next);
    } else
        tr_fail(err, TR_USAGE, (Place){0}, "the snapshot is damaged"); // unless there are words
    tr_run_empty(&next);
    return good;
}

bool tr_run_restore(Run *run, const void *memory, size_t size, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || !memory || has_failed(err) || !check_head(run, memory, size, err)) return false;
    const uint8_t *state = (const uint8_t *)memory + sizeof(Head);
    return tr_run_read(run, state, tr_run_most_bytes(run) - sizeof(Head), NULL, err);
}
