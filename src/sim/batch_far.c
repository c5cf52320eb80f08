// SPDX-License-Identifier: Apache-2.0
// Members of a batch on GPUs: their records go there side by side and come back when all have
// arrived or are not plain; or states stay there, which are others'.
#include "sim/batch_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- kernels -------------------------------------------------------------------------------

static void drop_kernel(Batch *b, Group *g)
{
    if (g->kernel) b->machine->unload(b->machine->self, g->kernel);
    g->kernel = NULL;
}

// What is varied, and what runs start with: that is never the same for long.
static void forget_varied(const Batch *b, Group *g)
{
    const System *s = b->plan->system;
    for (uint32_t i = 0; i < g->lanes->inputs && i < s->input_count; i++) {
        const tr_kind kind = s->inputs[i].kind;
        if (kind == TR_POSITION || kind == TR_VELOCITY || kind == TR_START)
            g->known[i] = (double)NAN;
    }
    for (size_t i = 0; i < b->varied.count; i++)
        if (b->varied.input[i] < g->lanes->inputs) g->known[b->varied.input[i]] = (double)NAN;
}

static bool has_bits(double a, double b)
{
    uint64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

// What is not the same in these members is known no more, and the kernel that knew it goes. Few
// know nothing: theirs is the kernel of all others.
static bool know_inputs(Batch *b, Group *g, const size_t *members, size_t count)
{
    const uint32_t inputs = g->lanes->inputs, from = g->lanes->at.inputs;
    if (!g->known) {
        g->known = malloc((inputs + 1u) * sizeof *g->known);
        if (!g->known) return false;
        memcpy(g->known, b->members[members ? members[0] : 0].record + from,
               inputs * sizeof *g->known);
        forget_varied(b, g);
        for (uint32_t i = 0; count < b->machine->many && i < inputs; i++) g->known[i] = (double)NAN;
    }
    bool differs = false;
    for (size_t k = 0; k < count; k++) {
        const double *is = b->members[members ? members[k] : k].record + from;
        for (uint32_t i = 0; i < inputs; i++) {
            if (isnan(g->known[i]) || has_bits(is[i], g->known[i])) continue;
            g->known[i] = (double)NAN;
            differs = true;
        }
    }
    if (differs) drop_kernel(b, g);
    return true;
}

// The kernel of a group; NULL where it has none, which is told
static GpuKernel *kernel_of(Batch *b, Group *g)
{
    if (g->kernel || g->has_no_kernel || !b->machine) return g->kernel;
    tr_error why = {0};
    Buffer text = {0};
    uint32_t shared = 0;
    const GpuTerms terms = {.inputs = g->known, .room = b->machine->room};
    if (tr_gpu_kernel(g->lanes, terms, &text, &shared, &why))
        g->kernel = b->machine->load(b->machine->self, text.at, GPU_ENTRY, shared, &why);
    tr_buffer_free(&text);
    g->has_no_kernel = !g->kernel;
    if (!g->kernel) tr_batch_stay(b, why.text);
    return g->kernel;
}

void tr_batch_vary(Batch *b, const uint32_t *inputs, size_t count)
{
    b->varied = (Settings){inputs, NULL, count};
}

void tr_batch_take_on_way(Batch *b, const GpuRows *rows, RowsOfRun *runs)
{
    b->rows = rows, b->rows_of = runs;
}

// Without one rows are the caller's, one at a time.
static GpuKernel *rows_kernel_of(Batch *b, Group *g)
{
    if (g->rows || g->has_no_rows || !b->rows) return g->rows;
    tr_error why = {0};
    Buffer text = {0};
    if (tr_gpu_rows_kernel(g->lanes, b->rows, &text, &why))
        g->rows = b->machine->load(b->machine->self, text.at, GPU_ROWS_ENTRY, 0, &why);
    tr_buffer_free(&text);
    g->has_no_rows = !g->rows;
    if (!g->rows) tr_batch_stay(b, why.text);
    return g->rows;
}

// What a run has in a block: a record, and what its rows come to
static size_t block_numbers(const Batch *b, const Lanes *lanes)
{
    return gpu_record(lanes) + (b->rows ? tr_gpu_rows_size(b->rows) : 0);
}

// No row is waited for behind the time up to which events are known.
static void enter(Batch *b, size_t i, const Lanes *lanes, double *block, size_t count, size_t at)
{
    const Member *m = &b->members[i];
    tr_gpu_enter(lanes, m->record, m->until, block, count, at);
    if (!b->rows) return;
    b->rows_of[i].limit = m->events.scan ? m->events.until : (double)INFINITY;
    tr_gpu_rows_enter(lanes, b->rows, &b->rows_of[i], block, count, at);
}

static bool goes_on(void *owner)
{
    Batch *b = owner;
    return tr_batch_tell(b);
}

static GpuWork work_of(Batch *b, const Lanes *lanes, double *block, size_t count)
{
    return (GpuWork){.block = block,
                     .numbers = block_numbers(b, lanes),
                     .count = count,
                     .states = lanes->size,
                     .state = lanes->at.y,
                     .inputs = lanes->at.inputs,
                     .fate = lanes->at.count + GPU_FATE,
                     .step = b->run->options.step,
                     .goes_on = b->progress ? goes_on : NULL,
                     .owner = b};
}

// What became of a run there
static bool land(Batch *b, size_t i, const Lanes *lanes, const double *block, size_t count,
                 size_t at, tr_error *err)
{
    Member *m = &b->members[i];
    double made = 0;
    const LaneFate fate = tr_gpu_leave(lanes, block, count, at, m->record, &made);
    b->counts.on_gpu += (size_t)made;
    m->t = m->record[AT_TIME];
    if (b->rows) tr_gpu_rows_leave(lanes, b->rows, block, count, at, &b->rows_of[i], &m->until);
    if (fate == LANE_ARRIVED) b->there++;
    return fate != LANE_NOT_PLAIN || tr_batch_alone(b, i, err);
}

// Columns go into a block and out of it through a tile of a few, whose numbers are near each other:
// else each number is a way to memory of its own.
enum { TILE = 8 };

static void copy_tile(double *tile, double *block, size_t numbers, size_t count, size_t at,
                      bool is_out)
{
    const size_t first = at - at % TILE, columns = count - first < TILE ? count - first : TILE;
    for (size_t i = 0; i < numbers; i++) {
        double *here = tile + i * TILE, *there = block + i * count + first;
        memcpy(is_out ? here : there, is_out ? there : here, columns * sizeof *here);
    }
}

// It stays: fresh memory costs as much as the numbers that go there.
static bool make_block(Batch *b, size_t numbers)
{
    if (numbers <= b->block_room) return true;
    free(b->block);
    b->block = malloc(numbers * sizeof *b->block);
    b->block_room = b->block ? numbers : 0;
    return b->block != NULL;
}

static void enter_all(Batch *b, const Group *g, size_t *members, double *tile, double *block)
{
    const size_t count = g->count, numbers = block_numbers(b, g->lanes);
    for (size_t k = 0; k < count; k++) {
        members[k] = g->waiting[k];
        enter(b, members[k], g->lanes, tile, TILE, k % TILE);
        if (k % TILE == TILE - 1 || k + 1 == count)
            copy_tile(tile, block, numbers, count, k, false);
    }
}

// False when it fails.
static bool land_all(Batch *b, const Lanes *lanes, const size_t *members, double *tile,
                     double *block, size_t count, tr_error *err)
{
    const size_t numbers = block_numbers(b, lanes);
    for (size_t k = 0; k < count; k++) {
        if (k % TILE == 0) copy_tile(tile, block, numbers, count, k, true);
        if (!land(b, members[k], lanes, tile, TILE, k % TILE, err)) return false;
    }
    return tr_batch_tell(b);
}

bool tr_batch_move_far(Batch *b, uint32_t group, tr_error *err)
{
    Group *g = &b->groups[group];
    const Lanes *lanes = g->lanes;
    const size_t count = g->count;
    tr_error why = {0};
    const size_t numbers = block_numbers(b, lanes);
    size_t *members = malloc(count * sizeof *members);
    bool good = make_block(b, numbers * (count + TILE)) && members;
    if (!good) tr_fail_memory(err);
    double *block = b->block, *tile = good ? block + numbers * count : NULL;
    if (good) enter_all(b, g, members, tile, block);
    GpuWork work = work_of(b, lanes, block, count);
    work.after = rows_kernel_of(b, g);
    if (good && b->machine->run(b->machine->self, g->kernel, &work, &why)) {
        g->count = 0;
        good = land_all(b, lanes, members, tile, block, count, err);
    } else if (good) {
        b->fails = true;
        tr_batch_stay(b, why.text);
    }
    free(members);
    return good;
}

bool tr_batch_is_far(Batch *b, Group *g)
{
    return b->goes_far && !b->fails && g->count >= b->machine->least &&
           know_inputs(b, g, g->waiting, g->count) && kernel_of(b, g);
}

// ---- states that others have on a GPU -------------------------------------------------------

// The group that all runs are in; NULL, with words, when they are not in one
static Group *common_group(Batch *b, tr_error *err)
{
    const uint32_t group = b->members[0].group;
    for (size_t i = 0; i < b->count; i++)
        if (b->members[i].group != group || group == NO_GROUP) {
            tr_fail(err, TR_FAILED, (Place){0},
                    "run %zu cannot go side by side with the first on a GPU: it has failed, "
                    "something happens, or its contacts or chart are others",
                    i);
            return NULL;
        }
    return &b->groups[group];
}

size_t tr_gpu_states(Batch *b)
{
    tr_error err = {0};
    const Group *g = b ? common_group(b, &err) : NULL;
    return g ? g->lanes->size : 0;
}

// Numbers of all records, from a place on
static void copy_out(const Batch *b, uint32_t from, uint32_t count, double *out)
{
    for (size_t k = 0; out && k < b->count; k++)
        for (uint32_t i = 0; i < count; i++) out[i * b->count + k] = b->members[k].record[from + i];
}

void tr_gpu_state(Batch *b, double *state)
{
    tr_error err = {0};
    const Group *g = b ? common_group(b, &err) : NULL;
    if (g) copy_out(b, g->lanes->at.y, g->lanes->size, state);
}

size_t tr_gpu_inputs(Batch *b, double *inputs)
{
    tr_error err = {0};
    const Group *g = b ? common_group(b, &err) : NULL;
    if (g) copy_out(b, g->lanes->at.inputs, g->lanes->inputs, inputs);
    return g ? g->lanes->inputs : 0;
}

const char *tr_gpu_state_name(Batch *b, size_t index)
{
    tr_error err = {0};
    const Group *g = b ? common_group(b, &err) : NULL;
    if (!g || index >= g->lanes->size) return NULL;
    if (index >= g->lanes->known) return "";
    return b->run->flow->system->inputs[g->lanes->programs->place[index]].name;
}

const double *tr_gpu_fates(const Batch *b)
{
    return b && b->resident ? b->resident + b->fates : NULL;
}

// What is there is of no more use, and the memory that a kernel has for it goes with the kernel.
static void forget_resident(Batch *b)
{
    if (b->resident) drop_kernel(b, &b->groups[b->resident_group]);
    free(b->resident);
    b->resident = NULL;
}

static bool bring(Batch *b, const Group *g, tr_error *err)
{
    const Lanes *lanes = g->lanes;
    if (b->resident) return true;
    b->resident_group = (uint32_t)(g - b->groups);
    b->fates = (lanes->at.count + GPU_FATE) * b->count;
    b->is_elsewhere = false;
    b->resident = malloc(gpu_record(lanes) * b->count * sizeof *b->resident);
    if (!b->resident) return tr_fail_memory(err), false;
    for (size_t k = 0; k < b->count; k++)
        tr_gpu_enter(lanes, b->members[k].record, 1e300, b->resident, b->count, k); // for ever
    return true;
}

// Inputs of a caller's may be any from now on.
static bool open_inputs(Batch *b, Group *g, void *state, tr_error *err)
{
    bool is_open = true;
    for (uint32_t i = 0; i < g->lanes->inputs; i++) is_open = is_open && isnan(g->known[i]);
    if (is_open) return true;
    const GpuWork work = work_of(b, g->lanes, b->resident, b->count);
    if (b->resident && !b->machine->step(b->machine->self, g->kernel, &work,
                                         (uint64_t)(uintptr_t)state, 0, 0, err))
        return false;
    for (uint32_t i = 0; i < g->lanes->inputs; i++) g->known[i] = (double)NAN;
    drop_kernel(b, g);
    return true;
}

static void take_back(Batch *b, const Group *g)
{
    double made = 0;
    for (size_t k = 0; k < b->count; k++) {
        Member *m = &b->members[k];
        tr_gpu_leave(g->lanes, b->resident, b->count, k, m->record, &made);
        m->t = m->record[AT_TIME];
        b->counts.on_gpu += (size_t)made;
    }
}

bool tr_gpu_step(Batch *b, void *state, const void *inputs, size_t steps, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!b || has_failed(err)) return false;
    if (!b->machine) b->machine = tr_gpu_machine(err);
    if (b->is_elsewhere) forget_resident(b);
    Group *g = has_failed(err) ? NULL : common_group(b, err);
    if (!g) return false;
    if (!state || steps > UINT32_MAX)
        tr_fail(err, TR_USAGE, (Place){0}, "states on a GPU are missing, or too many steps");
    if (!has_failed(err) && !b->resident && !know_inputs(b, g, NULL, b->count)) tr_fail_memory(err);
    if (!has_failed(err) && inputs) open_inputs(b, g, state, err);
    if (!has_failed(err) && !kernel_of(b, g)) tr_fail(err, TR_FAILED, (Place){0}, "%s", b->on);
    const bool goes = !has_failed(err) && (steps || b->resident) && bring(b, g, err);
    if (!goes) return !has_failed(err);
    const GpuWork work = work_of(b, g->lanes, b->resident, b->count);
    const bool good =
        b->machine->step(b->machine->self, g->kernel, &work, (uint64_t)(uintptr_t)state,
                         (uint64_t)(uintptr_t)inputs, (uint32_t)steps, err);
    if (steps) return good;
    if (!good) {
        forget_resident(b);
        return false;
    }
    take_back(b, g);
    free(b->resident);
    b->resident = NULL;
    return true;
}
