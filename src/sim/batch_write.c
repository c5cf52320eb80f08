// SPDX-License-Identifier: Apache-2.0
// Numbers for many members at once: what tr_batch_set does to each, without making a run of it.
// What waits for a start is written into the bytes of a member. So is an input that changes now,
// and into its record, where that is all that there is to it: nothing switches, no event depends on
// it, and no position, energy or constraint on positions does, so that nothing moves and no work is
// done. Any other member is set as a run.
#include "program/program.h"
#include "sim/batch_parts.h"

#include <math.h>
#include <stdlib.h>

// What is written
typedef struct Writing {
    uint32_t input, follower; // the latter says whether that follows a formula; or NO_INPUT
    bool is_input;            // which changes at once
    const double *values;
    size_t stride;
    const uint8_t *mask;
    double *inputs; // room for those of a member
} Writing;

static bool is_meant(const Writing *w, size_t run) { return !w->mask || w->mask[run]; }

// Whether it is that already, by itself
static bool is_there(const Batch *b, const Writing *w, const Member *m, double value)
{
    return tr_run_read_input(b->run, m->bytes, w->input) == value &&
           (w->follower == NO_INPUT || tr_run_read_input(b->run, m->bytes, w->follower) == 0);
}

// ---- what may be set -----------------------------------------------------------------------

static bool check(const Batch *b, const Writing *w, size_t run, tr_error *err)
{
    const Member *m = &b->members[run];
    const double value = w->values[run * w->stride];
    tr_error why = {0};
    if (tr_run_check_finite(b->run, w->input, value, &why) && w->is_input && !m->failure &&
        !is_there(b, w, m, value)) {
        tr_run_read_inputs(b->run, m->bytes, w->inputs);
        w->inputs[w->input] = value;
        if (w->follower != NO_INPUT) w->inputs[w->follower] = 0;
        tr_plan_takes(b->plan, w->input, w->inputs, &why);
    }
    if (why.status) tr_fail_again(err, &why, "run %zu: %s", run, why.text);
    return !why.status;
}

// ---- what it moves -------------------------------------------------------------------------

enum { UNKNOWN, STAYS, MOVES };

// Whether one of these outputs depends on it
static bool reaches(const tr_program *p, const Writing *w, uint32_t first, uint32_t end)
{
    const uint32_t inputs[] = {w->input, w->follower};
    bool *reached = p ? tr_program_reached(p, inputs, 2) : NULL, any = p && !reached;
    for (uint32_t i = first; reached && i < end; i++) any = any || reached[p->outputs[i]];
    free(reached);
    return any;
}

// Columns are t, positions, velocities, ...
static bool moves(const Batch *b, const Lanes *lanes, const Writing *w)
{
    const System *s = b->plan->system;
    const ChartPrograms *programs = lanes->programs;
    const tr_program *columns = programs->of[CHART_COLUMNS];
    const uint32_t states =
        tr_system_inputs(s, TR_POSITION, NULL) + tr_system_inputs(s, TR_VELOCITY, NULL);
    const uint32_t energies[] = {b->run->kinetic, b->run->potential};
    bool any = reaches(columns, w, 0, states) ||
               reaches(programs->of[CHART_RESIDUALS], w, 0, programs->holonomic);
    for (int i = 0; i < 2; i++) // a model without any has no such column
        any = any || (energies[i] && reaches(columns, w, energies[i] - 1, energies[i]));
    return any;
}

// Whether it is a number of this member's and no more
static bool is_plain(Batch *b, const Writing *w, const Member *m)
{
    if (m->group == NO_GROUP || m->events.uses_inputs || b->plan->system->order == 1) return false;
    Group *g = &b->groups[m->group];
    if (g->lanes->switches) return false;
    if (!g->moves) g->moves = calloc(b->plan->system->input_count + 1u, sizeof *g->moves);
    if (g->moves && g->moves[w->input] == UNKNOWN)
        g->moves[w->input] = moves(b, g->lanes, w) ? MOVES : STAYS;
    return g->moves && g->moves[w->input] == STAYS;
}

// ---- setting -------------------------------------------------------------------------------

// See tr_run_accept: as no work is done, and steps begin anew
static void write_record(const Batch *b, const Writing *w, Member *m, double value)
{
    const Lanes *l = b->groups[m->group].lanes;
    m->record[l->at.inputs + w->input] = value;
    if (w->follower != NO_INPUT) m->record[l->at.inputs + w->follower] = 0;
    m->record[l->at.y + l->size - 1] += 0.0; // -0 is 0
    m->record[AT_GRID_IS_THERE] = 0;
}

static bool write_one(Batch *b, const Writing *w, size_t run, tr_error *err)
{
    Member *m = &b->members[run];
    const double value = w->values[run * w->stride];
    const bool waits = !w->is_input || m->failure || is_there(b, w, m, value);
    tr_error why = {0};
    if (waits || is_plain(b, w, m)) {
        tr_run_write_setting(b->run, m->bytes, w->input, value, !waits);
        if (!waits) write_record(b, w, m, value), b->is_elsewhere = true;
        return true;
    }
    tr_batch_set_at(b, run, w->input, value, &why);
    if (why.status) tr_fail_again(err, &why, "run %zu: %s", run, why.text);
    return !why.status;
}

bool tr_batch_write(Batch *b, const char *name, const double *values, size_t stride,
                    const uint8_t *mask, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!b || !values || has_failed(err)) return false;
    Writing w = {.values = values, .stride = stride, .mask = mask};
    const System *s = b->plan->system;
    w.input = tr_run_find(b->run, name, err);
    if (w.input == NO_INPUT) return false;
    w.follower = tr_system_follower(s, w.input);
    w.is_input = s->inputs[w.input].kind == TR_INPUT;
    w.inputs = malloc((s->input_count + 1u) * sizeof *w.inputs);
    if (!w.inputs) return tr_fail_memory(err), false;
    bool good = true;
    for (size_t i = 0; good && i < b->count; i++) good = !is_meant(&w, i) || check(b, &w, i, err);
    for (size_t i = 0; good && i < b->count; i++)
        good = !is_meant(&w, i) || write_one(b, &w, i, err);
    free(w.inputs);
    return good;
}
