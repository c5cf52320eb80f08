// SPDX-License-Identifier: Apache-2.0
// Along displacements, speeds and what forces depend on, M x + c changes as the tree tells (T146),
// and x - v' changes as well:
//
//   H^T M H dw' = -H^T (dE + M (da + d(x - v')))                                       (T148)
#include "reduce/bound_slopes.h"

#include "expr/derivative.h"
#include "reduce/bound.h"
#include "reduce/tree_slopes.h"

#include <stdlib.h>
#include <string.h>

typedef struct BoundSlopes {
    System *system;
    Graph *graph;
    Bound of;
    TreeSlopes tree;
    Matrix B; // derivatives of forces by speeds, by unknown, without what is folded
} BoundSlopes;

// ---- forces --------------------------------------------------------------------------------

static void subtract_column(const BoundSlopes *b, Matrix from, uint32_t column, Expr factor,
                            Expr *to)
{
    if (is_zero(factor)) return;
    for (uint32_t j = 0; j < b->of.r.np; j++)
        to[j] = sub(to[j], mul(factor, get(from, b->of.r.p[j], column)));
}

// -dE of inverse dynamics as well
static void change_forces(const BoundSlopes *b, uint32_t along, const Expr *change, const Expr *dv,
                          Expr *out)
{
    const Reduction *r = &b->of.r;
    const Expr *motions = change + (b->of.motions - b->of.all);
    for (uint32_t k = 0; k < r->nv; k++) {
        if (along != NO_INPUT && tr_system_inner_input(b->system, along) == r->v[k])
            subtract_column(b, b->tree.by_place, k, one(b->graph), out);
        if (!is_motion_driven(&b->system->inputs[r->v[k]])) continue;
        subtract_column(b, b->tree.by_place, k, motions[3 * k], out);
        subtract_column(b, b->tree.by_speed, k, motions[3 * k + 1], out);
        subtract_column(b, b->tree.M, k, motions[3 * k + 2], out);
    }
    tr_bound_fold(&b->of, out);
    for (uint32_t j = 0; j < r->unknowns; j++)
        for (uint32_t k = 0; k < r->np; k++) out[j] = sub(out[j], mul(get(b->B, j, k), dv[k]));
}

// ---- columns -------------------------------------------------------------------------------

// What changes along a column, as far as it is no velocity: those follow. False for a coordinate
// alone, which need not move anything by itself.
static bool take_seeds(const BoundSlopes *b, const SlopeColumn *c, const ColumnRoom *room,
                       uint32_t *count, uint32_t *along)
{
    const Reduction *r = &b->of.r;
    for (uint32_t j = 0; j < r->unknowns; j++) room->dv[j] = zero(b->graph);
    *count = 0, *along = c->along;
    for (uint32_t i = 0; i < c->count; i++) {
        const Input *input = tr_system_input(b->system, c->symbols[i]);
        if (!input) return false;
        uint32_t k = NO_LINK;
        if (input->kind == TR_POSITION && c->along == NO_INPUT &&
            (!tr_tree_slopes_moves(&b->tree, (uint32_t)(input - b->system->inputs), &k) ||
             (k != NO_LINK && (c->count > 1 || !is_one(c->changes[i])))))
            return false;
        if (k != NO_LINK) *along = r->v[k];
        tr_bound_seed(&b->of, c->symbols[i], c->changes[i], room, count);
    }
    for (uint32_t k = 0; c->along != NO_INPUT && k < r->nv; k++)
        if (tr_system_inner_input(b->system, c->along) == r->v[k])
            *count += tr_tree_slopes_turn(&b->tree, k, room->from + *count, room->to + *count);
    return true;
}

// x - v' changes by t as well. What is folded into the masses follows the others by itself, so of
// these only t_d - h . t is left over, and what that brings in others that are folded.
static void add_shift(const BoundSlopes *b, const Expr *t, Expr *own, Expr *da)
{
    const Reduction *r = &b->of.r;
    for (uint32_t k = 0; k < r->units; k++) {
        const Stage *s = &r->stages[k];
        own[k] = t[r->p[s->d]];
        for (uint32_t n = 0; n < s->near_count; n++)
            if (s->near[n] < r->np)
                own[k] = sub(own[k], mul(s->h[s->near[n]], t[r->p[s->near[n]]]));
    }
    for (uint32_t k = r->units; k-- > 0;)
        for (uint32_t i = 0; i < k; i++)
            own[i] = add(own[i], mul(r->stages[i].h[r->stages[k].d], own[k]));
    for (uint32_t j = 0; j < r->np; j++)
        if (!is_folded(&b->of, j)) da[j] = add(da[j], t[r->p[j]]);
    for (uint32_t k = 0; k < r->units; k++) da[r->stages[k].d] = add(da[r->stages[k].d], own[k]);
}

// -H^T (dE + M da) along a column, from its seeds and the changes of what is left
static void take_column(BoundSlopes *b, uint32_t along, uint32_t seeds, const ColumnRoom *room)
{
    tr_bound_move(&b->of, seeds, room);
    add_shift(b, room->change + (b->of.own - b->of.all), room->shift, room->da);
    change_forces(b, along, room->change, room->dv, room->dE);
    tr_bound_project(&b->of, room);
}

// ---- turning bases -------------------------------------------------------------------------
//
// Where all depends on the direction n of one vertical alone, turning about it changes nothing:
// n_x c_x + n_y c_y + n_z c_z = 0 of the columns along the three turns (T149), so two of them are
// found and the one about an axis that is near to n follows.

typedef struct Turning {
    uint32_t column[3];
    Vec n, change[3]; // in the base's inner axes; how it changes with each turn
    Expr along[3];    // n along each axis
    Expr is_z, is_x;  // which is near; else y
    Expr uses_y;      // it is z or x
} Turning;

// Of the two turns that are found the first is about x, or z where that is not the nearest; the
// second about y, or x where y is the nearest.
static Expr first_of(const Turning *t, Expr x, Expr z) { return choose(t->is_z, x, z); }
static Expr second_of(const Turning *t, Expr y, Expr x) { return choose(t->uses_y, y, x); }
static Expr nearest_of(const Turning *t, Expr x, Expr y, Expr z)
{
    return choose(t->is_z, z, choose(t->is_x, x, y));
}

static bool is_all_zero(const Expr *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_zero(x[i])) return false;
    return true;
}

// Whether quaternions appear in a row of the rotation matrix alone
static bool depends_on_row(BoundSlopes *b, const SlopeColumn *c, Vec row, const ColumnRoom *room)
{
    uint32_t seeds = 0;
    for (int i = 0; i < 3; i++) {
        if (is_number(vec_at(row, i))) return false;
        seeds +=
            tr_name_change(vec_at(row, i), zero(b->graph), room->from + seeds, room->to + seeds);
    }
    for (uint32_t i = 0; i < c->count; i++)
        if (!is_zero(c->changes[i]))
            room->from[seeds] = c->symbols[i], room->to[seeds++] = one(b->graph);
    tr_forward(b->graph, b->of.all, b->of.all_count, room->from, room->to, seeds, room->change);
    return is_all_zero(room->change, b->of.all_count);
}

static bool find_turning(BoundSlopes *b, const SlopeColumn *columns, uint32_t count, uint32_t link,
                         const ColumnRoom *room, Turning *t)
{
    const ForestLink *base = &b->system->forest->links[link];
    if (b->tree.base[link] != link) return false;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t inner = b->of.r.v[base->velocity + 3 + k];
        uint32_t c = 0;
        while (c < count && (columns[c].along == NO_INPUT ||
                             tr_system_inner_input(b->system, columns[c].along) != inner))
            c++;
        if (c == count) return false;
        t->column[k] = c;
    }
    for (int i = 2; i >= 0; i--) {
        t->n = base->across.X.R.row[i];
        if (depends_on_row(b, &columns[t->column[0]], t->n, room)) return true;
    }
    return false;
}

// Seeds of the first or the second of the two columns that are found
static uint32_t turn_seeds(const BoundSlopes *b, const Turning *t, int which,
                           const ColumnRoom *room)
{
    uint32_t seeds = 0;
    for (uint32_t j = 0; j < b->of.r.unknowns; j++) room->dv[j] = zero(b->graph);
    for (int i = 0; i < 3; i++) {
        const Vec *d = t->change;
        const Expr change = which ? second_of(t, vec_at(d[1], i), vec_at(d[0], i))
                                  : first_of(t, vec_at(d[0], i), vec_at(d[2], i));
        seeds += tr_name_change(vec_at(t->n, i), change, room->from + seeds, room->to + seeds);
    }
    return seeds;
}

// Right sides of the two columns, in place of the first two of the three
static void turn(BoundSlopes *b, Turning *t, uint32_t link, const ColumnRoom *room, Matrix f)
{
    for (uint32_t k = 0; k < 3; k++) {
        const Vec axis =
            tr_tree_slopes_axis(&b->tree, b->system->forest->links[link].velocity + 3 + k);
        t->change[k] = cross(t->n, axis), t->along[k] = dot(t->n, axis);
    }
    const Expr *n = t->along;
    t->is_z = less(number(b->graph, 0.36), square(n[2])); // of 1: the others may be larger
    t->is_x = less(square(n[1]), square(n[0]));
    t->uses_y = choose(t->is_z, one(b->graph), t->is_x);
    for (int which = 0; which < 2; which++) {
        take_column(b, NO_INPUT, turn_seeds(b, t, which, room), room);
        for (uint32_t i = 0; i < f.rows; i++) set(f, i, t->column[which], room->f[i]);
    }
}

// All three of their solutions: n . c = 0
static void turn_back(const BoundSlopes *b, const Turning *t, Matrix dw)
{
    const Expr *n = t->along;
    const Expr scale_by = quotient(number(b->graph, -1), nearest_of(t, n[0], n[1], n[2]));
    const Expr first = mul(first_of(t, n[0], n[2]), scale_by),
               second = mul(second_of(t, n[1], n[0]), scale_by);
    for (uint32_t i = 0; i < b->of.r.kernel; i++) {
        const Expr c1 = get(dw, i, t->column[0]), c2 = get(dw, i, t->column[1]),
                   c3 = add(mul(first, c1), mul(second, c2));
        set(dw, i, t->column[0], choose(t->is_z, c1, choose(t->is_x, c3, c2)));
        set(dw, i, t->column[1], choose(t->uses_y, c2, c3));
        set(dw, i, t->column[2], choose(t->is_z, c3, c1));
    }
}

// Right sides of all columns; those of bases that turn are listed
static bool take_columns(BoundSlopes *b, const SlopeColumn *columns, uint32_t count,
                         const ColumnRoom *room, Matrix f, Turning *turnings, uint32_t *turns)
{
    const uint32_t links = b->system->forest->link_count;
    bool *is_done = calloc(count + 1u, sizeof *is_done), good = is_done;
    for (uint32_t i = 0; good && i < links; i++) {
        Turning *t = &turnings[*turns];
        if (!find_turning(b, columns, count, i, room, t)) continue;
        turn(b, t, i, room, f);
        for (int k = 0; k < 3; k++) is_done[t->column[k]] = true;
        (*turns)++;
    }
    for (uint32_t c = 0; good && c < count; c++) {
        uint32_t seeds, along;
        if (is_done[c]) continue;
        good = take_seeds(b, &columns[c], room, &seeds, &along);
        if (good) take_column(b, along, seeds, room);
        for (uint32_t i = 0; good && i < f.rows; i++) set(f, i, c, room->f[i]);
    }
    free(is_done);
    return good && !b->graph->failed;
}

static bool solve_columns(BoundSlopes *b, const SlopeColumn *columns, uint32_t count, Expr *slopes)
{
    ColumnRoom room = {0};
    const Matrix f = tr_matrix(b->graph, b->of.H.columns, count);
    Turning *turnings = calloc(b->system->forest->link_count + 1u, sizeof *turnings);
    uint32_t turns = 0;
    const bool good = turnings && tr_bound_room(&b->of, &room) &&
                      take_columns(b, columns, count, &room, f, turnings, &turns);
    free(room.from);
    const Matrix dw = good ? tr_bound_solve(&b->of, f) : f;
    for (uint32_t i = 0; good && i < turns; i++) turn_back(b, &turnings[i], dw);
    free(turnings);
    return good && tr_bound_put(&b->of, dw, slopes);
}

static void take_speeds(BoundSlopes *b)
{
    const Reduction *r = &b->of.r;
    const uint32_t n = r->unknowns;
    Expr *column = tr_arena_alloc(&b->graph->arena, n + 1u, sizeof *column);
    b->B = tr_matrix(b->graph, n, r->np);
    if (!column) b->graph->failed = true;
    for (uint32_t k = 0; column && k < r->np; k++) {
        for (uint32_t j = 0; j < n; j++)
            column[j] = j < r->np ? get(b->tree.by_speed, r->p[j], r->p[k]) : zero(b->graph);
        tr_bound_fold(&b->of, column);
        for (uint32_t j = 0; j < n; j++) set(b->B, j, k, column[j]);
    }
}

static bool find_slopes(BoundSlopes *b, const SlopeColumn *columns, uint32_t count, Expr *wdot,
                        Expr *slopes)
{
    const Reduction *r = &b->of.r;
    Expr *shift = calloc(2 * (size_t)r->nv + 1, sizeof *shift), *x = shift ? shift + r->nv : NULL;
    for (uint32_t k = 0; x && k < r->nv; k++) {
        shift[k] = tr_tree_slopes_shift(&b->tree, k);
        x[k] = add(b->system->inputs[r->v[k]].rate, shift[k]);
    }
    if (x) tr_tree_slopes_take(&b->tree, x);
    bool good = x && tr_bound_take(&b->of, shift);
    for (uint32_t i = 0; good && i < r->kernel; i++) wdot[i] = b->system->inputs[b->of.w[i]].rate;
    if (good) take_speeds(b);
    good = good && solve_columns(b, columns, count, slopes);
    if (good) tr_system_resolve(b->system, wdot, r->kernel);
    free(shift);
    return good;
}

// Mass matrix, c and inverse dynamics as the tree has them in its axes, for the reduction: then
// they share more with the derivatives.
static void put_dynamics(BoundSlopes *b, tr_error *err)
{
    System *s = b->system;
    const uint32_t n = b->tree.count;
    Expr *x = calloc(2 * (size_t)n + 1, sizeof *x), *force = x ? x + n : NULL;
    char room[64];
    if (!x) b->graph->failed = true;
    for (int moves = 0; x && moves < 2; moves++) {
        for (uint32_t k = 0; k < n; k++) {
            x[k] = tr_tree_slopes_shift(&b->tree, k);
            if (moves) x[k] = add(x[k], s->inputs[b->tree.input[k]].rate);
        }
        tr_tree_slopes_force(&b->tree, x, force);
        tr_system_put(s, tr_system_inner(s, moves ? "inverse" : "c", room), force, n, 1, err);
    }
    tr_system_put(s, tr_system_inner(s, "M", room), b->tree.M.entries, n, n, err);
    free(x);
}

bool tr_bound_slopes(System *s, const Partition *partition, const SlopeColumn *columns,
                     uint32_t count, Expr *wdot, Expr *slopes)
{
    BoundSlopes b = {.system = s, .graph = s->graph};
    if (!s->forest) return false;
    bool good = tr_bound_new(&b.of, s, partition) && tr_tree_slopes_new(s, &b.tree);
    if (good) put_dynamics(&b, &b.of.err);
    good = good && tr_bound_reduce(&b.of) && find_slopes(&b, columns, count, wdot, slopes);
    tr_tree_slopes_free(&b.tree);
    tr_bound_free(&b.of);
    return good && !s->graph->failed;
}
