// SPDX-License-Identifier: Apache-2.0
// Many runs of one plan. A member is kept as the bytes of a snapshot, and as the record of a lane
// (lanes.h) when it is fit for one: then the record is newer where both have a number. There is one
// run, into which a member is loaded for whatever only runs do, and one block of lanes for each set
// of programs. Members queue for the lanes of their programs and stay in one until they have
// arrived, or until a step is not plain: that one they make as a run, and queue again, perhaps for
// another block.
#include "sim/batch.h"

#include "base/options.h"
#include "num/dense.h"
#include "plan/start.h"
#include "sim/batch_parts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BETWEEN_TELLING = 64 }; // rounds, even when no run has arrived

// ---- members -------------------------------------------------------------------------------

static uint32_t find_group(Batch *b, tr_error *err)
{
    const ChartPrograms *programs = b->run->flow->now->programs;
    for (uint32_t i = 0; i < b->group_count; i++)
        if (b->groups[i].lanes->programs == programs) return i;
    if (!tr_grow((void **)&b->groups, &b->group_capacity, b->group_count + 1, sizeof *b->groups))
        return tr_fail_memory(err), NO_GROUP;
    Lanes *lanes = tr_lanes_new(b->run, err);
    if (!lanes) return NO_GROUP;
    lanes->is_single = b->is_single;
    b->groups[b->group_count] = (Group){.lanes = lanes};
    return b->group_count++;
}

// The run becomes this member, whose events it has meanwhile.
static bool load(Batch *b, Member *m, tr_error *err)
{
    if (!tr_run_read(b->run, m->bytes, m->size, &m->events, err)) return false;
    b->run->next_event = m->next_event;
    if (m->group != NO_GROUP) tr_lanes_give(b->groups[m->group].lanes, m->record, b->run);
    if (m->failure) b->run->failure = *m->failure;
    return true;
}

// The member stays what it was.
static void put_aside(Batch *b, Member *m)
{
    m->events = b->run->events;
    b->run->events = (Events){0};
}

static bool keep_bytes(Batch *b, Member *m, tr_error *err)
{
    const size_t size = tr_run_write(b->run, b->room, b->room_size);
    uint8_t *bytes = size == m->size ? m->bytes : realloc(m->bytes, size);
    if (!bytes) return tr_fail_memory(err), false;
    m->bytes = bytes, m->size = size;
    memcpy(bytes, b->room, size);
    return true;
}

static bool keep_record(Batch *b, Member *m, tr_error *err)
{
    m->group = NO_GROUP;
    if (m->failure || !tr_watch_is_calm(&b->run->mover->watch)) return true;
    const uint32_t group = find_group(b, err);
    if (group == NO_GROUP) return false;
    const Lanes *lanes = b->groups[group].lanes;
    double *record = realloc(m->record, lanes->at.count * sizeof *record);
    if (!record) return tr_fail_memory(err), false;
    m->record = record, m->group = group;
    tr_lanes_take(lanes, b->run, record);
    return true;
}

// The member becomes what the run is.
static bool save(Batch *b, Member *m, tr_error *err)
{
    const bool good = keep_bytes(b, m, err) && keep_record(b, m, err);
    const Mover *mover = b->run->mover;
    if (!m->failure) m->t = mover->t;
    m->next_event = b->run->next_event;
    b->is_elsewhere = true;
    m->counts = (RunCounts){mover->steps, mover->watch.changes, b->run->switches,
                            mover->watch.warnings.count};
    put_aside(b, m);
    return good;
}

static bool fail_member(Batch *b, Member *m, const tr_error *why, tr_error *err)
{
    b->is_elsewhere = true;
    if (!m->failure) m->failure = malloc(sizeof *m->failure);
    if (!m->failure) return tr_fail_memory(err), false;
    *m->failure = *why;
    m->group = NO_GROUP;
    return true;
}

// ---- making a batch ------------------------------------------------------------------------

static bool check_method(const tr_run_options *o, tr_error *err)
{
    const char *method = o->method ? o->method : "";
    if (strcmp(method, "rk4") == 0 || strcmp(method, "lie") == 0) return true;
    if (tr_method(method, err))
        tr_fail(err, TR_USAGE, (Place){0},
                "runs of a batch go by rk4 or lie, side by side; '%s' has no such steps", method);
    return false;
}

// Like the first, which was saved; only events are each member's own.
static bool copy_first(Batch *b, Member *m, tr_error *err)
{
    const Member *first = &b->members[0];
    m->bytes = malloc(first->size);
    if (!m->bytes) return tr_fail_memory(err), false;
    m->size = first->size;
    memcpy(m->bytes, first->bytes, first->size);
    if (!first->events.scan && first->group != NO_GROUP) {
        const size_t size = b->groups[first->group].lanes->at.count * sizeof *m->record;
        m->record = malloc(size);
        if (!m->record) return tr_fail_memory(err), false;
        memcpy(m->record, first->record, size);
        m->events = first->events, m->group = first->group;
        return true;
    }
    return tr_run_read(b->run, m->bytes, m->size, NULL, err) && save(b, m, err);
}

static bool make_members(Batch *b, size_t count, tr_error *err)
{
    b->room_size = tr_run_most_bytes(b->run);
    b->room = malloc(b->room_size);
    b->members = calloc(count, sizeof *b->members);
    if (!b->room || !b->members) return tr_fail_memory(err), false;
    for (size_t i = 0; i < count; i++) b->members[i].group = NO_GROUP;
    b->count = count;
    bool good = save(b, &b->members[0], err);
    for (size_t i = 1; good && i < count; i++) good = copy_first(b, &b->members[i], err);
    return good;
}

static bool check_on(const tr_run_options *o, tr_error *err)
{
    const bool is_far = o->on && strcmp(o->on, "gpu") == 0;
    if (o->on && !is_far && strcmp(o->on, "cpu") != 0)
        tr_fail(err, TR_USAGE, (Place){0}, "runs are made on 'cpu' or 'gpu', not on '%.60s'",
                o->on);
    else if (o->single && !is_far)
        tr_fail(err, TR_USAGE, (Place){0}, "only GPUs make steps in single precision");
    return !has_failed(err);
}

void tr_batch_stay(Batch *b, const char *why)
{
    snprintf(b->on, sizeof b->on, "the CPU%s%s", why[0] ? ": " : "", why);
}

static void find_machine(Batch *b, const char *on)
{
    tr_error why = {0};
    const bool wants = on && strcmp(on, "gpu") == 0;
    b->machine = wants ? tr_gpu_machine(&why) : NULL;
    b->goes_far = b->machine != NULL;
    if (b->machine)
        snprintf(b->on, sizeof b->on, "%s", b->machine->words);
    else
        tr_batch_stay(b, why.text);
}

void tr_batch_use(Batch *b, const GpuMachine *machine)
{
    b->machine = machine, b->goes_far = true;
    snprintf(b->on, sizeof b->on, "%s", machine->words);
}

const char *tr_batch_on(const Batch *b) { return b ? b->on : NULL; }

Batch *tr_batch_new(Plan *plan, size_t n, const tr_run_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_run_options o = tr_run_defaults(plan);
    if (!plan || !tr_take_options(&o, sizeof o, options, "tr_run_defaults", err)) return NULL;
    if (!options) o.method = "rk4";
    if (!check_on(&o, err)) return NULL;
    if (n == 0) tr_fail(err, TR_USAGE, (Place){0}, "a batch has at least one run");
    if (has_failed(err) || !check_method(&o, err)) return NULL;
    Batch *b = calloc(1, sizeof *b);
    if (!b) return tr_fail_memory(err), NULL;
    b->plan = plan, b->progress = o.progress;
    o.progress = NULL;
    find_machine(b, o.on);
    b->is_single = o.single;
    o.on = NULL, o.single = false;
    b->run = tr_run_new(plan, &o, err);
    if (b->run && make_members(b, n, err)) return b;
    tr_batch_free(b);
    return NULL;
}

void tr_batch_free(Batch *b)
{
    if (!b) return;
    for (size_t i = 0; i < b->count; i++) {
        Member *m = &b->members[i];
        tr_events_free(&m->events);
        free(m->bytes);
        free(m->record);
        free(m->failure);
    }
    for (uint32_t i = 0; i < b->group_count; i++) {
        if (b->groups[i].kernel) b->machine->unload(b->machine->self, b->groups[i].kernel);
        if (b->groups[i].rows) b->machine->unload(b->machine->self, b->groups[i].rows);
        tr_lanes_free(b->groups[i].lanes);
        free(b->groups[i].waiting);
        free(b->groups[i].known);
        free(b->groups[i].moves);
    }
    tr_run_free(b->run);
    free(b->groups);
    free(b->members);
    free(b->room);
    free(b->resident);
    free(b->block);
    free(b);
}

// ---- one of them ---------------------------------------------------------------------------

static Member *member_at(Batch *b, size_t run, tr_error *err)
{
    if (!b || has_failed(err)) return NULL;
    if (run < b->count) return &b->members[run];
    tr_fail(err, TR_USAGE, (Place){0}, "there is no run %zu: the batch has %zu, from 0 on", run,
            b->count);
    return NULL;
}

void tr_batch_set_at(Batch *b, size_t run, uint32_t input, double value, tr_error *err)
{
    Member *m = &b->members[run];
    if (!load(b, m, err)) return;
    tr_run_set_at(b->run, input, value, err);
    if (has_failed(err))
        put_aside(b, m);
    else
        save(b, m, err);
}

void tr_batch_set(Batch *b, size_t run, const char *name, double value, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!member_at(b, run, err)) return;
    const uint32_t input = tr_run_find(b->run, name, err);
    if (input != NO_INPUT) tr_batch_set_at(b, run, input, value, err);
}

bool tr_batch_reset(Batch *b, size_t run, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    Member *m = member_at(b, run, err);
    if (!m || !load(b, m, err)) return false;
    if (tr_run_reset(b->run, err)) {
        free(m->failure);
        m->failure = NULL;
        return save(b, m, err);
    }
    put_aside(b, m);
    if (b->run->failure.status) fail_member(b, m, &b->run->failure, err);
    return false;
}

const double *tr_batch_row(Batch *b, size_t run)
{
    tr_error err = {0};
    Member *m = member_at(b, run, &err);
    if (!m || m->failure || !load(b, m, &err)) return NULL;
    const double *row = tr_run_row(b->run);
    put_aside(b, m);
    return row;
}

double tr_batch_time(const Batch *b, size_t run)
{
    return b && run < b->count ? b->members[run].t : (double)NAN;
}

tr_status tr_batch_status(const Batch *b, size_t run, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    const Member *m = member_at((Batch *)b, run, err);
    if (m && m->failure && !has_failed(err)) *err = *m->failure; // with its place in the model
    return err->status;
}

size_t tr_batch_save(Batch *b, size_t run, void *memory, size_t size, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    Member *m = member_at(b, run, err);
    if (!m || !load(b, m, err)) return 0;
    const size_t bytes = tr_run_save(b->run, memory, size, err);
    if (memory && bytes) return save(b, m, err) ? bytes : 0; // it goes on as one that was restored
    put_aside(b, m);
    return bytes;
}

bool tr_batch_restore(Batch *b, size_t run, const void *memory, size_t size, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    Member *m = member_at(b, run, err);
    if (!m || !tr_run_restore(b->run, memory, size, err)) return false;
    tr_events_free(&m->events);
    free(m->failure);
    m->failure = NULL;
    return save(b, m, err);
}

BatchCounts tr_batch_counts(const Batch *b) { return b->counts; }

// ---- many of them --------------------------------------------------------------------------

static bool wait_in_line(Batch *b, size_t i, tr_error *err)
{
    Group *g = &b->groups[b->members[i].group];
    if (!tr_grow((void **)&g->waiting, &g->capacity, g->count + 1, sizeof *g->waiting))
        return tr_fail_memory(err), false;
    g->waiting[g->count++] = i;
    return true;
}

bool tr_batch_begin(Batch *b, size_t run, Settings settings, tr_error *err)
{
    Member *m = &b->members[run];
    Run *shared = b->run; // which is nobody's meanwhile, but for what was set
    tr_error why = {0};
    tr_start_values(b->plan->system, shared->values);
    memset(shared->is_set, 0, b->plan->system->input_count * sizeof *shared->is_set);
    shared->is_changed = false;
    for (size_t i = 0; i < settings.count; i++)
        tr_run_put(shared, settings.input[i], settings.value[i]);
    free(m->failure);
    m->failure = NULL, m->rests = false, m->counts = (RunCounts){0};
    tr_events_free(&m->events);
    if (tr_run_reset(shared, &why)) return save(b, m, err);
    put_aside(b, m);
    if (why.status == TR_NO_MEMORY) tr_fail_memory(err);
    fail_member(b, m, &why, err);
    tr_fail(err, why.status, (Place){0}, "%s", why.text);
    return false;
}

void tr_batch_rest(Batch *b, size_t run) { b->members[run].rests = true; }

RunCounts tr_batch_run_counts(const Batch *b, size_t run)
{
    const Member *m = &b->members[run];
    RunCounts counts = m->counts;
    if (m->group != NO_GROUP) counts.steps = (size_t)m->record[AT_STEPS];
    return counts;
}

// Where rows go: each to a place of its own, or columns of each to numbers by runs
typedef struct RowsTo {
    double *const *rows; // by run; NULL:
    const size_t *columns;
    size_t count;
    double *numbers;
    double *room; // of rows of lanes
    bool checks;  // a run that cannot have a row fails
} RowsTo;

static double *place_of(const Batch *b, const RowsTo *to, size_t run, size_t lane)
{
    return to->rows ? to->rows[run] : to->room + lane * b->run->columns;
}

static void pick(const RowsTo *to, size_t run, const double *row)
{
    for (size_t k = 0; !to->rows && k < to->count; k++)
        to->numbers[run * to->count + k] = row ? row[to->columns[k]] : (double)NAN;
}

// By itself
static bool take_row(Batch *b, Member *m, const RowsTo *to, double *row, tr_error *err)
{
    tr_error why = {0};
    if (!load(b, m, err)) return false;
    tr_run_take_row(b->run);
    if (to->checks && !tr_run_check_row(b->run, &why)) fail_member(b, m, &why, err);
    memcpy(row, b->run->row, b->run->columns * sizeof *row);
    put_aside(b, m);
    return !has_failed(err);
}

// Of members of a group that wait in line, as many as there are lanes
static bool take_rows(Batch *b, Group *g, const RowsTo *to, tr_error *err)
{
    const double *records[MOST_LANES];
    double *rows[MOST_LANES];
    while (g->count) {
        const size_t *const last = &g->waiting[g->count - 1];
        uint32_t n = 0;
        for (; n < g->lanes->lanes && n < g->count; n++)
            records[n] = b->members[*(last - n)].record, rows[n] = place_of(b, to, *(last - n), n);
        if (!tr_lanes_rows(g->lanes, records, n, rows, err)) return false;
        g->count -= n;
        for (uint32_t k = 0; k < n; k++) {
            const size_t i = *(last - k);
            if (!all_finite(rows[k], b->run->columns) &&
                !take_row(b, &b->members[i], to, rows[k], err))
                return false;
            pick(to, i, rows[k]);
        }
    }
    return true;
}

static bool take_all(Batch *b, const RowsTo *to, tr_error *err)
{
    bool good = !has_failed(err);
    for (size_t i = 0; good && i < b->count; i++) {
        Member *m = &b->members[i];
        if (m->failure || m->rests) {
            pick(to, i, NULL);
            continue;
        }
        if (m->group != NO_GROUP) {
            good = wait_in_line(b, i, err);
            continue;
        }
        double *row = place_of(b, to, i, 0);
        good = take_row(b, m, to, row, err);
        pick(to, i, row);
    }
    for (uint32_t i = 0; i < b->group_count; i++) {
        good = good && take_rows(b, &b->groups[i], to, err);
        b->groups[i].count = 0;
    }
    return good;
}

bool tr_batch_rows(Batch *b, double *const *rows, tr_error *err)
{
    return take_all(b, &(RowsTo){.rows = rows, .checks = true}, err);
}

bool tr_batch_read(Batch *b, const size_t *columns, size_t count, double *numbers, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!b || has_failed(err)) return false;
    for (size_t k = 0; k < count; k++)
        if (columns[k] >= b->run->columns)
            tr_fail(err, TR_USAGE, (Place){0}, "there is no column %zu: a row has %zu, from 0 on",
                    columns[k], (size_t)b->run->columns);
    double *room = malloc(MOST_LANES * b->run->columns * sizeof *room);
    if (!room) tr_fail_memory(err);
    const RowsTo to = {.columns = columns, .count = count, .numbers = numbers, .room = room};
    const bool good = take_all(b, &to, err);
    free(room);
    return good;
}

// ---- moving on -----------------------------------------------------------------------------

bool tr_batch_tell(Batch *b)
{
    const double part = b->going ? (double)b->there / (double)b->going : 1;
    return !b->progress || b->progress(b->run->options.owner, b->from + part * (b->to - b->from),
                                       b->run->options.end);
}

bool tr_batch_alone(Batch *b, size_t i, tr_error *err)
{
    Member *m = &b->members[i];
    tr_error why = {0};
    if (!load(b, m, err)) return false;
    Run *run = b->run;
    run->mover->pauses = true, run->mover->resumed = run->mover->steps;
    run->limit = m->until;
    b->counts.alone++;
    if (!tr_run_go(run, m->until, &why)) {
        m->t = run->mover->t;
        put_aside(b, m);
        b->there++;
        if (why.status == TR_NO_MEMORY) tr_fail_memory(err);
        return fail_member(b, m, &why, err) && !has_failed(err);
    }
    if (!save(b, m, err)) return false;
    if (m->t < m->until) return wait_in_line(b, i, err);
    b->there++;
    return true;
}

static bool fill_lanes(Batch *b, Group *g)
{
    bool any = false;
    for (uint32_t k = 0; k < g->lanes->lanes; k++) {
        if (!g->lanes->is_taken[k] && g->count) {
            const size_t i = g->waiting[--g->count];
            tr_lane_enter(g->lanes, k, b->members[i].record, b->members[i].until);
            g->lanes->member[k] = i;
        }
        any = any || g->lanes->is_taken[k];
    }
    return any;
}

static Member *leave(Batch *b, Lanes *lanes, uint32_t lane)
{
    Member *m = &b->members[lanes->member[lane]];
    tr_lane_leave(lanes, lane, m->record);
    m->t = m->record[AT_TIME];
    return m;
}

static size_t count_taken(const Lanes *lanes)
{
    size_t count = 0;
    for (uint32_t k = 0; k < lanes->lanes; k++) count += lanes->is_taken[k];
    return count;
}

// Until all members that were in line have arrived or left. False when it fails or is stopped.
static bool move_group(Batch *b, uint32_t group, tr_error *err)
{
    LaneFate fate[MOST_LANES];
    Lanes *lanes = b->groups[group].lanes;
    const double step = b->run->options.step;
    while (fill_lanes(b, &b->groups[group])) { // groups may move as there are more of them
        const size_t there = b->there, taken = count_taken(lanes);
        while (tr_lanes_step(lanes, step, fate)) {
            b->counts.in_lanes += taken;
            if (++b->rounds % BETWEEN_TELLING == 0 && !tr_batch_tell(b)) return false;
        }
        for (uint32_t k = 0; k < lanes->lanes; k++) {
            if (!lanes->is_taken[k]) continue;
            if (fate[k] == LANE_STEPPED) {
                b->counts.in_lanes++;
                continue;
            }
            leave(b, lanes, k);
            if (fate[k] == LANE_ARRIVED)
                b->there++;
            else if (!tr_batch_alone(b, lanes->member[k], err))
                return false;
        }
        if (b->there > there && !tr_batch_tell(b)) return false;
    }
    return true;
}

// ---- all of them ---------------------------------------------------------------------------

// Whether a member can go on in a lane: it is fit for one, and its events are known so far.
static bool is_ready(const Member *m)
{
    return m->group != NO_GROUP && (!m->events.scan || m->events.until >= m->until);
}

static bool move_all(Batch *b, tr_error *err)
{
    bool good = true;
    for (size_t i = 0; good && i < b->count; i++) {
        const Member *m = &b->members[i];
        if (m->failure || m->rests || !(m->t < m->until)) continue;
        good = is_ready(m) ? wait_in_line(b, i, err) : tr_batch_alone(b, i, err);
    }
    for (uint32_t i = 0; good && i < b->group_count; i++) {
        if (!b->groups[i].count) continue;
        good = tr_batch_is_far(b, &b->groups[i]) ? tr_batch_move_far(b, i, err)
                                                 : move_group(b, i, err);
        i = UINT32_MAX; // from the first one on
    }
    return good;
}

// Nobody is in line or in a lane.
static void clear(Batch *b)
{
    for (uint32_t i = 0; i < b->group_count; i++) {
        Lanes *lanes = b->groups[i].lanes;
        b->groups[i].count = 0;
        for (uint32_t k = 0; k < lanes->lanes; k++)
            if (lanes->is_taken[k]) leave(b, lanes, k);
    }
}

static bool check_until(Batch *b, tr_error *err)
{
    b->from = (double)INFINITY, b->to = -(double)INFINITY, b->going = b->there = 0;
    for (size_t i = 0; i < b->count && !has_failed(err); i++) {
        const Member *m = &b->members[i];
        if (m->failure || m->rests) continue;
        if (!isfinite(m->until) || m->until < m->t)
            tr_fail(err, TR_USAGE, (Place){0}, "run %zu at t = %.9g cannot go on to t = %.9g", i,
                    m->t, m->until);
        b->from = fmin(b->from, m->t), b->to = fmax(b->to, m->until);
        b->going += m->t < m->until;
    }
    return !has_failed(err);
}

static bool advance(Batch *b, tr_error *err)
{
    if (!check_until(b, err)) return false;
    if (b->going) b->is_elsewhere = true;
    const bool good = move_all(b, err);
    clear(b);
    return good;
}

bool tr_batch_advance(Batch *b, double until, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!b || has_failed(err)) return false;
    for (size_t i = 0; i < b->count; i++) b->members[i].until = until;
    return advance(b, err);
}

bool tr_batch_advance_each(Batch *b, const double *until, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!b || has_failed(err)) return false;
    for (size_t i = 0; i < b->count; i++) b->members[i].until = until[i];
    return advance(b, err);
}
