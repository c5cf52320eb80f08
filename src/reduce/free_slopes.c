// SPDX-License-Identifier: Apache-2.0
// dv' = M^-1 (dQ - d(M v' + c)) with v' frozen, and dV' = dx - d(W x V - R^T g) of free bases
// (T144, T147).
#include "reduce/free_slopes.h"

#include "expr/block.h"
#include "expr/derivative.h"
#include "expr/walk.h"
#include "reduce/tree_slopes.h"

#include <stdlib.h>
#include <string.h>

typedef struct FreeSlopes {
    System *system;
    Graph *graph;
    TreeSlopes tree;
    uint32_t n, *active; // velocities that no motion drives, as places among all
    uint32_t *place;     // by velocity: among these, or NO_LINK
    Expr *Q;             // by velocity, with definitions in place
    Expr *shift;         // likewise: x - v'
    Expr *motions;       // of velocities that are driven: position, velocity, acceleration
    bool is_lost;        // a coordinate that moves nothing by itself
    Factored M;
    Expr *entries, *x;
} FreeSlopes;

// ---- room ----------------------------------------------------------------------------------

static bool make_room(FreeSlopes *f)
{
    const uint32_t n = f->tree.count;
    f->active = calloc(2 * (size_t)n + 1, sizeof *f->active);
    f->Q = calloc(7 * (size_t)n + 1, sizeof *f->Q);
    f->entries = calloc((size_t)n * (n + 1) / 2 + 1, sizeof *f->entries);
    if (!f->active || !f->Q || !f->entries) return false;
    f->place = f->active + n;
    f->shift = f->Q + n, f->motions = f->shift + n, f->x = f->motions + 3 * (size_t)n;
    for (uint32_t k = 0; k < n; k++) {
        const bool driven = is_motion_driven(&f->system->inputs[f->tree.input[k]]);
        f->place[k] = driven ? NO_LINK : f->n;
        if (!driven) f->active[f->n++] = k;
    }
    return true;
}

static void release(FreeSlopes *f)
{
    tr_tree_slopes_free(&f->tree);
    free(f->active);
    free(f->Q);
    free(f->entries);
}

// ---- equations -----------------------------------------------------------------------------

// The velocity before one that is active, among these
static uint32_t before(const FreeSlopes *f, uint32_t k)
{
    const Forest *forest = f->system->forest;
    for (uint32_t i = f->tree.link[k]; i != NO_LINK; i = forest->links[i].parent) {
        const ForestLink *link = &forest->links[i];
        const uint32_t end = i == f->tree.link[k] ? k : link->velocity + link->velocity_count;
        for (uint32_t j = end; j-- > link->velocity;)
            if (f->place[j] != NO_LINK) return f->place[j];
    }
    return LINEAGE_TOP;
}

static bool factorise(FreeSlopes *f, uint32_t columns)
{
    uint32_t *parent = calloc(f->n + 1u, sizeof *parent), count = 0;
    if (!parent) return false;
    for (uint32_t i = 0; i < f->n; i++) {
        parent[i] = before(f, f->active[i]);
        for (uint32_t j = i; j != LINEAGE_TOP; j = parent[j])
            f->entries[count++] = get(f->tree.M, f->active[i], f->active[j]);
    }
    const uint32_t lineage = tr_graph_lineage(f->graph, parent, f->n);
    f->M = tr_factored(f->graph, lineage, f->entries, columns);
    free(parent);
    return !f->graph->failed;
}

// Q, shifts and what drives the others, with definitions in place: then they are differentiated
// by symbols alone.
static bool take_forces(FreeSlopes *f)
{
    System *s = f->system;
    const uint32_t n = f->tree.count;
    const Output *Q = tr_system_output(s, text_of("Q"));
    if (!Q || Q->rows != n) return false;
    memcpy(f->Q, Q->values, n * sizeof *f->Q);
    for (uint32_t k = 0; k < n; k++) {
        Expr *motion = f->motions + 3 * (size_t)k;
        const Input *velocity = &s->inputs[f->tree.input[k]];
        motion[0] = motion[1] = motion[2] = zero(f->graph);
        f->shift[k] = tr_tree_slopes_shift(&f->tree, k);
        if (f->place[k] != NO_LINK) continue;
        motion[1] = velocity->symbol, motion[2] = velocity->rate;
        for (uint32_t i = 0; i < s->input_count; i++)
            if (s->inputs[i].kind == TR_POSITION && s->inputs[i].rate.id == velocity->symbol.id)
                motion[0] = s->inputs[i].symbol;
    }
    tr_system_resolve(s, f->Q, 5 * (size_t)n);
    return !f->graph->failed;
}

// x = M^-1 (Q - c), and v' without shifts
static void accelerate(FreeSlopes *f, Expr *vdot)
{
    for (uint32_t i = 0; i < f->n; i++) vdot[i] = sub(f->Q[f->active[i]], f->tree.c[f->active[i]]);
    tr_factored_solve(&f->M, vdot, 1);
    for (uint32_t k = 0; k < f->tree.count; k++)
        f->x[k] =
            f->place[k] != NO_LINK ? vdot[f->place[k]] : f->system->inputs[f->tree.input[k]].rate;
    for (uint32_t i = 0; i < f->n; i++) vdot[i] = sub(vdot[i], f->shift[f->active[i]]);
}

// ---- columns -------------------------------------------------------------------------------

static uint32_t velocity_place(const FreeSlopes *f, uint32_t input)
{
    uint32_t k = 0;
    while (k < f->tree.count && f->tree.input[k] != input) k++;
    return k < f->tree.count ? k : NO_LINK;
}

// -= factor times a column of forces
static void subtract(const FreeSlopes *f, Matrix from, uint32_t column, Expr factor, Expr *to)
{
    if (is_zero(factor)) return;
    for (uint32_t i = 0; i < f->n; i++)
        to[i] = sub(to[i], mul(factor, get(from, f->active[i], column)));
}

// One coordinate alone                                                                  (T147)
static void move_coordinate(FreeSlopes *f, const Input *position, Expr change, Expr *b)
{
    uint32_t k;
    if (!tr_tree_slopes_moves(&f->tree, (uint32_t)(position - f->system->inputs), &k))
        f->is_lost = true;
    else if (k != NO_LINK)
        subtract(f, f->tree.by_place, k, change, b);
}

// dQ - d(M v' + c) along a column, and how shifts change
static void take_column(FreeSlopes *f, const SlopeColumn *c, Expr *change, Expr *b, Expr *shift)
{
    const uint32_t n = f->tree.count,
                   along = c->along == NO_INPUT ? NO_LINK : velocity_place(f, c->along);
    tr_forward(f->graph, f->Q, 5 * (size_t)n, c->symbols, c->changes, c->count, change);
    for (uint32_t i = 0; i < f->n; i++) {
        b[i] = change[f->active[i]];
        shift[i] = change[n + f->active[i]];
    }
    if (along != NO_LINK) subtract(f, f->tree.by_place, along, one(f->graph), b);
    for (uint32_t i = 0; i < c->count; i++) {
        const Input *input = tr_system_input(f->system, c->symbols[i]);
        if (input && input->kind == TR_POSITION && c->along == NO_INPUT)
            move_coordinate(f, input, c->changes[i], b);
        if (!input || input->kind != TR_VELOCITY) continue;
        subtract(f, f->tree.by_speed, velocity_place(f, (uint32_t)(input - f->system->inputs)),
                 c->changes[i], b);
    }
    for (uint32_t k = 0; k < n; k++) {
        const Expr *motion = change + 2 * (size_t)n + 3 * (size_t)k;
        if (f->place[k] != NO_LINK) continue;
        subtract(f, f->tree.by_place, k, motion[0], b);
        subtract(f, f->tree.by_speed, k, motion[1], b);
        subtract(f, f->tree.M, k, motion[2], b);
    }
}

static bool is_nothing(const Expr *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_zero(b[i])) return false;
    return true;
}

// Right sides of some columns beside each other, without those that are zero
static bool solve_part(FreeSlopes *f, const SlopeColumn *columns, uint32_t count, Expr *slopes,
                       uint32_t stride)
{
    const size_t n = f->n;
    Expr *room = calloc(5 * (size_t)f->tree.count + (n + 2) * (count + 1u) + n, sizeof *room);
    uint32_t *used = calloc(count + 1u, sizeof *used), width = 0;
    if (!room || !used) {
        free(room);
        free(used);
        return false;
    }
    Expr *change = room, *b = change + 5 * (size_t)f->tree.count, *shift = b + n, *all = shift + n;
    for (uint32_t c = 0; c < count; c++) {
        take_column(f, &columns[c], change, b, shift);
        for (size_t i = 0; i < n; i++) slopes[i * stride + c] = neg(shift[i]);
        if (is_nothing(b, f->n)) continue;
        for (size_t i = 0; i < n; i++) all[i * count + width] = b[i];
        used[width++] = c;
    }
    for (size_t i = 0; i < n; i++) memmove(all + i * width, all + i * count, width * sizeof *all);
    tr_factored_solve(&f->M, all, width);
    for (size_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < width; c++) {
            Expr *to = &slopes[i * stride + used[c]];
            *to = add(all[i * width + c], *to);
        }
    free(room);
    free(used);
    return true;
}

static bool solve_columns(FreeSlopes *f, const SlopeColumn *columns, uint32_t count, Expr *slopes)
{
    for (uint32_t c = 0, end; c < count; c = end) {
        for (end = c + 1; end < count && columns[end].part == columns[c].part;) end++;
        if (!solve_part(f, columns + c, end - c, slopes + c, count)) return false;
    }
    return true;
}

bool tr_free_slopes(System *s, const SlopeColumn *columns, uint32_t count, Expr *vdot, Expr *slopes)
{
    FreeSlopes f = {.system = s, .graph = s->graph};
    if (s->row_count || !s->forest) return false;
    bool good =
        tr_tree_slopes_new(s, &f.tree) && make_room(&f) && take_forces(&f) && factorise(&f, count);
    if (good) {
        accelerate(&f, vdot);
        tr_tree_slopes_take(&f.tree, f.x);
        good = solve_columns(&f, columns, count, slopes);
    }
    release(&f);
    return good && !f.is_lost && !s->graph->failed;
}
