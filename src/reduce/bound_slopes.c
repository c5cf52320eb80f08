// SPDX-License-Identifier: Apache-2.0
// Derivatives of the accelerations of a system with constraints (T148). With x in place of
// accelerations (T147), the residuals of the equations of motion and of the rows that are pivots,
//
//   E = M x + c - Q - G^T u = 0,   R = G v' + gamma = 0,   V = G v + g = 0
//
// u what the pivots bear alone, are differentiated with accelerations and u frozen. Rows are solved
// for dependent velocities and accelerations by the stages of the elimination, and as H^T G^T = 0,
//
//   G dv = -dV,   G da = -dR with dw' = 0,   H^T M H dw' = -H^T (dE + M (da + d(x - v')))
#include "reduce/bound_slopes.h"

#include "expr/derivative.h"
#include "reduce/reduction.h"
#include "reduce/tree_slopes.h"

#include <stdlib.h>
#include <string.h>

typedef struct BoundSlopes {
    System *system;
    Graph *graph;
    Reduction r;
    TreeSlopes tree;
    Expr *all; // what is differentiated by the graph: all of the following
    size_t all_count;
    Expr *G;       // by pivot and velocity, driven ones, too
    Expr *rest;    // g
    Expr *drift;   // gamma, with what is driven
    Expr *Q;       // by velocity
    Expr *shift;   // x - v'
    Expr *motions; // of velocities that are driven: position, velocity, acceleration
    Expr *x;       // by velocity
    Matrix B;      // derivatives of forces by speeds, by unknown, without what is folded
    Matrix u;      // what the pivots bear
    Matrix Z;      // by pivot that is not folded: what they would bear for M H at their unknowns
    Matrix SH;     // M H: of unknowns that are folded, and of the others with what is folded in
} BoundSlopes;

// ---- what is differentiated ----------------------------------------------------------------

static Expr velocity(const BoundSlopes *b, uint32_t k)
{
    return b->system->inputs[b->r.v[k]].symbol;
}

static bool make_room(BoundSlopes *b)
{
    const size_t n = b->r.nv, D = b->r.nD;
    b->all_count = D * n + 2 * D + 5 * n;
    b->all = calloc(b->all_count + n + 1, sizeof *b->all);
    if (!b->all) return false;
    b->G = b->all, b->rest = b->G + D * n, b->drift = b->rest + D, b->Q = b->drift + D;
    b->shift = b->Q + n, b->motions = b->shift + n, b->x = b->motions + 3 * n;
    return true;
}

// gamma with the accelerations of driven velocities
static Expr drift_of(const BoundSlopes *b, const Row *row)
{
    Expr drift = row->inner_bias;
    for (uint32_t j = 0; j < b->r.na; j++)
        drift = add(drift, mul(row->inner_slopes[b->r.a[j]], get(b->r.accelerations, j, 0)));
    return drift;
}

static void take_motion(const BoundSlopes *b, uint32_t k)
{
    const System *s = b->system;
    const Input *velocity = &s->inputs[b->r.v[k]];
    Expr *motion = b->motions + 3 * (size_t)k;
    motion[0] = motion[1] = motion[2] = zero(b->graph);
    if (!is_motion_driven(velocity)) return;
    motion[1] = velocity->symbol, motion[2] = velocity->rate;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && s->inputs[i].rate.id == velocity->symbol.id)
            motion[0] = s->inputs[i].symbol;
}

// With definitions in place, but for those of dependent velocities and accelerations, which are
// seen as they are.
static bool resolve(BoundSlopes *b)
{
    System *s = b->system;
    Expr *kept = calloc(s->input_count + 1u, sizeof *kept);
    if (!kept) return false;
    for (uint32_t i = 0; i < s->input_count; i++) kept[i] = s->inputs[i].definition;
    for (uint32_t k = 0; k < b->r.nv; k++) {
        Input *input = &s->inputs[b->r.v[k]];
        Input *rate = tr_system_input(s, input->rate);
        if (is_motion_driven(input)) continue;
        input->definition = expr_at(b->graph, 0);
        if (rate) rate->definition = expr_at(b->graph, 0);
    }
    tr_system_resolve(s, b->all, b->all_count);
    for (uint32_t i = 0; i < s->input_count; i++) s->inputs[i].definition = kept[i];
    free(kept);
    return !b->graph->failed;
}

static bool take_expressions(BoundSlopes *b)
{
    const Reduction *r = &b->r;
    for (uint32_t k = 0; k < r->nv; k++) {
        const Input *input = &b->system->inputs[r->v[k]];
        b->Q[k] = get(r->Q, k, 0);
        b->shift[k] = tr_tree_slopes_shift(&b->tree, k);
        b->x[k] = add(input->rate, b->shift[k]);
        take_motion(b, k);
    }
    for (uint32_t i = 0; i < r->nD; i++) {
        const Row *row = pivot_row(r, i);
        memcpy(b->G + (size_t)i * r->nv, row->inner_slopes, r->nv * sizeof *b->G);
        b->rest[i] = row->inner_rest, b->drift[i] = drift_of(b, row);
    }
    return resolve(b);
}

// ---- rows ----------------------------------------------------------------------------------

// Whether a velocity is eliminated by a row with constant slopes: these come first, and forces
// along them are folded into others once for all columns.
static bool is_folded(const BoundSlopes *b, uint32_t unknown)
{
    for (uint32_t k = 0; k < b->r.units; k++)
        if (b->r.stages[k].d == unknown) return true;
    return false;
}

// e_j += h_j e_d
static void fold(const BoundSlopes *b, Expr *e)
{
    for (uint32_t k = 0; k < b->r.units; k++) {
        const Stage *s = &b->r.stages[k];
        for (uint32_t j = 0; j < b->r.unknowns; j++)
            if (j != s->d) e[j] = add(e[j], mul(s->h[j], e[s->d]));
        e[s->d] = zero(b->graph);
    }
}

// The first rows are solved for what they are divided by, and the others are without it.
static void eliminate(const BoundSlopes *b, uint32_t first, uint32_t end, Expr *rest)
{
    for (uint32_t k = first; k < end; k++) {
        const Stage *s = &b->r.stages[k];
        rest[k] = neg(quotient(rest[k], s->pivot));
        for (uint32_t i = k + 1; i < b->r.nD; i++)
            rest[i] = add(rest[i], mul(s->column[i], rest[k]));
    }
}

// G x = -rest for given x of what is left, by the stages of the elimination
static void solve_rows(const BoundSlopes *b, Expr *rest, Expr *x)
{
    const Reduction *r = &b->r;
    eliminate(b, 0, r->nD, rest);
    for (uint32_t k = r->nD; k-- > 0;) {
        const Stage *s = &r->stages[k];
        Expr sum = rest[k];
        for (uint32_t j = 0; j < r->unknowns; j++)
            if (j != s->d) sum = add(sum, mul(s->h[j], x[j]));
        x[s->d] = sum;
    }
}

// The same as far as rows are folded: x of these alone, and what is left of the others' rest
static void solve_folded(const BoundSlopes *b, Expr *rest, Expr *x)
{
    const Reduction *r = &b->r;
    eliminate(b, 0, r->units, rest);
    for (uint32_t k = r->units; k-- > 0;) {
        const Stage *s = &r->stages[k];
        x[s->d] = rest[k];
        for (uint32_t j = k + 1; j < r->units; j++)
            x[s->d] = add(x[s->d], mul(s->h[r->stages[j].d], x[r->stages[j].d]));
    }
}

// dG v + dg, of all velocities, and G dv_a
static void change_rows(const BoundSlopes *b, const Expr *change, Expr *out)
{
    const Reduction *r = &b->r;
    const Expr *motions = change + (b->motions - b->all);
    for (uint32_t i = 0; i < r->nD; i++) {
        out[i] = change[b->rest - b->all + i];
        for (uint32_t k = 0; k < r->nv; k++) {
            const size_t at = (size_t)i * r->nv + k;
            out[i] = add(out[i], mul(change[at], velocity(b, k)));
            out[i] = add(out[i], mul(b->G[at], motions[3 * k + 1]));
        }
    }
}

// dG v' + dgamma; driven accelerations are in gamma
static void change_accelerations(const BoundSlopes *b, const Expr *change, Expr *out)
{
    const Reduction *r = &b->r;
    for (uint32_t i = 0; i < r->nD; i++) {
        out[i] = change[b->drift - b->all + i];
        for (uint32_t j = 0; j < r->np; j++)
            out[i] = add(out[i], mul(change[(size_t)i * r->nv + r->p[j]],
                                     b->system->inputs[r->v[r->p[j]]].rate));
    }
}

// ---- forces --------------------------------------------------------------------------------

static void subtract_column(const BoundSlopes *b, Matrix from, uint32_t column, Expr factor,
                            Expr *to)
{
    if (is_zero(factor)) return;
    for (uint32_t j = 0; j < b->r.np; j++)
        to[j] = sub(to[j], mul(factor, get(from, b->r.p[j], column)));
}

// -dE by unknown
static void change_forces(const BoundSlopes *b, uint32_t along, const Expr *change, const Expr *dv,
                          Expr *out)
{
    const Reduction *r = &b->r;
    const Expr *motions = change + (b->motions - b->all);
    for (uint32_t j = 0; j < r->unknowns; j++) out[j] = zero(b->graph);
    for (uint32_t j = 0; j < r->np; j++) {
        out[j] = change[b->Q - b->all + r->p[j]];
        for (uint32_t i = 0; i < r->nD; i++)
            out[j] = add(out[j], mul(change[(size_t)i * r->nv + r->p[j]], get(b->u, i, 0)));
    }
    for (uint32_t k = 0; k < r->nv; k++) {
        if (along != NO_INPUT && tr_system_inner_input(b->system, along) == r->v[k])
            subtract_column(b, b->tree.by_place, k, one(b->graph), out);
        if (!is_motion_driven(&b->system->inputs[r->v[k]])) continue;
        subtract_column(b, b->tree.by_place, k, motions[3 * k], out);
        subtract_column(b, b->tree.by_speed, k, motions[3 * k + 1], out);
        subtract_column(b, b->tree.M, k, motions[3 * k + 2], out);
    }
    fold(b, out);
    for (uint32_t j = 0; j < r->unknowns; j++)
        for (uint32_t k = 0; k < r->np; k++) out[j] = sub(out[j], mul(get(b->B, j, k), dv[k]));
}

// -H^T (dE + M da), with da of what is folded, and of the others by what is left of their rows:
// M H^T da = -Z^T rest
static void project(const BoundSlopes *b, const Expr *dE, const Expr *da, const Expr *rest, Expr *f)
{
    const Reduction *r = &b->r;
    for (uint32_t i = 0; i < r->kernel; i++) {
        f[i] = zero(b->graph);
        for (uint32_t j = 0; j < r->unknowns; j++) // dE is 0 where it is folded
            f[i] = add(f[i], mul(get(r->H, j, i), dE[j]));
        for (uint32_t k = r->units; k < r->nD; k++) f[i] = add(f[i], mul(get(b->Z, k, i), rest[k]));
        for (uint32_t j = 0; j < r->unknowns; j++) f[i] = sub(f[i], mul(get(b->SH, j, i), da[j]));
    }
}

// ---- columns -------------------------------------------------------------------------------

// The symbol of a velocity or speed that is left
static Expr left_over(const BoundSlopes *b, uint32_t i)
{
    const uint32_t own = b->r.free[i];
    return own < b->r.np ? velocity(b, b->r.p[own])
                         : pivot_row(&b->r, b->r.s[own - b->r.np])->symbol;
}

typedef struct ColumnRoom {
    Expr *from, *to, *change, *rest, *shift, *dv, *da, *dE, *f;
} ColumnRoom;

static bool make_column_room(const BoundSlopes *b, ColumnRoom *c)
{
    const Reduction *r = &b->r;
    const size_t seeds = b->system->input_count + (size_t)r->nv + 18, n = r->unknowns;
    c->from = calloc(2 * seeds + b->all_count + 2 * (size_t)r->nD + 5 * n + 9, sizeof *c->from);
    if (!c->from) return false;
    c->to = c->from + seeds, c->change = c->to + seeds, c->rest = c->change + b->all_count;
    c->shift = c->rest + r->nD + 1;
    c->dv = c->shift + r->nD + 1, c->da = c->dv + n + 1, c->dE = c->da + n + 1,
    c->f = c->dE + n + 1;
    return true;
}

// What changes along a column, as far as it is no velocity: those follow. False for a coordinate
// alone, which need not move anything by itself.
static bool take_seeds(const BoundSlopes *b, const SlopeColumn *c, const ColumnRoom *room,
                       uint32_t *count, uint32_t *along)
{
    const Reduction *r = &b->r;
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
        if (input->kind != TR_VELOCITY && input->kind != TR_INNER)
            room->from[*count] = c->symbols[i], room->to[(*count)++] = c->changes[i];
        for (uint32_t j = 0; j < r->kernel; j++)
            if (same(left_over(b, j), c->symbols[i])) room->dv[r->free[j]] = c->changes[i];
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
    const Reduction *r = &b->r;
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
        if (!is_folded(b, j)) da[j] = add(da[j], t[r->p[j]]);
    for (uint32_t k = 0; k < r->units; k++) da[r->stages[k].d] = add(da[r->stages[k].d], own[k]);
}

// -H^T (dE + M da) along a column, from its seeds and the changes of what is left
static void take_column(BoundSlopes *b, uint32_t along, uint32_t seeds, const ColumnRoom *room)
{
    const Reduction *r = &b->r;
    for (uint32_t j = 0; j < r->unknowns; j++) room->da[j] = zero(b->graph);
    tr_forward(b->graph, b->all, b->all_count, room->from, room->to, seeds, room->change);
    change_rows(b, room->change, room->rest);
    solve_rows(b, room->rest, room->dv);
    for (uint32_t j = 0; j < r->np; j++)
        room->from[seeds] = velocity(b, r->p[j]), room->to[seeds++] = room->dv[j];
    tr_forward(b->graph, b->all, b->all_count, room->from, room->to, seeds, room->change);
    change_accelerations(b, room->change, room->rest);
    solve_folded(b, room->rest, room->da);
    add_shift(b, room->change + (b->shift - b->all), room->shift, room->da);
    change_forces(b, along, room->change, room->dv, room->dE);
    project(b, room->dE, room->da, room->rest, room->f);
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
    tr_forward(b->graph, b->all, b->all_count, room->from, room->to, seeds, room->change);
    return is_all_zero(room->change, b->all_count);
}

static bool find_turning(BoundSlopes *b, const SlopeColumn *columns, uint32_t count, uint32_t link,
                         const ColumnRoom *room, Turning *t)
{
    const ForestLink *base = &b->system->forest->links[link];
    if (b->tree.base[link] != link) return false;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t inner = b->r.v[base->velocity + 3 + k];
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
    for (uint32_t j = 0; j < b->r.unknowns; j++) room->dv[j] = zero(b->graph);
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
        for (uint32_t i = 0; i < b->r.kernel; i++) set(f, i, t->column[which], room->f[i]);
    }
}

// All three of their solutions: n . c = 0
static void turn_back(const BoundSlopes *b, const Turning *t, Matrix dw)
{
    const Expr *n = t->along;
    const Expr scale_by = quotient(number(b->graph, -1), nearest_of(t, n[0], n[1], n[2]));
    const Expr first = mul(first_of(t, n[0], n[2]), scale_by),
               second = mul(second_of(t, n[1], n[0]), scale_by);
    for (uint32_t i = 0; i < b->r.kernel; i++) {
        const Expr c1 = get(dw, i, t->column[0]), c2 = get(dw, i, t->column[1]),
                   c3 = add(mul(first, c1), mul(second, c2));
        set(dw, i, t->column[0], choose(t->is_z, c1, choose(t->is_x, c3, c2)));
        set(dw, i, t->column[1], choose(t->uses_y, c2, c3));
        set(dw, i, t->column[2], choose(t->is_z, c3, c1));
    }
}

// The place of an independent velocity among those that are left
static uint32_t place_of(const BoundSlopes *b, uint32_t input)
{
    uint32_t i = 0;
    while (i < b->r.kernel && !same(left_over(b, i), b->system->inputs[input].symbol)) i++;
    return i;
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
        for (uint32_t i = 0; good && i < b->r.kernel; i++) set(f, i, c, room->f[i]);
    }
    free(is_done);
    return good && !b->graph->failed;
}

static bool solve_columns(BoundSlopes *b, const SlopeColumn *columns, uint32_t count,
                          const uint32_t *w, Expr *slopes)
{
    const Reduction *r = &b->r;
    ColumnRoom room = {0};
    const Matrix f = tr_matrix(b->graph, r->kernel, count);
    Turning *turnings = calloc(b->system->forest->link_count + 1u, sizeof *turnings);
    uint32_t turns = 0;
    const bool good = turnings && make_column_room(b, &room) &&
                      take_columns(b, columns, count, &room, f, turnings, &turns);
    free(room.from);
    const Matrix dw = good ? tr_ldlt_solve(r->factors, f) : f;
    for (uint32_t i = 0; good && i < turns; i++) turn_back(b, &turnings[i], dw);
    free(turnings);
    if (!good) return false;
    for (uint32_t i = 0; i < r->kernel; i++) {
        const uint32_t at = place_of(b, w[i]);
        if (at == r->kernel) return false;
        for (uint32_t c = 0; c < count; c++) slopes[(size_t)i * count + c] = get(dw, at, c);
    }
    return !b->graph->failed;
}

// H^T M H was made of M H in the same way, so most of it is there already.
static void make_products(BoundSlopes *b)
{
    Reduction *r = &b->r;
    const uint32_t n = r->unknowns;
    const Matrix H = {b->graph, r->H.entries, n, r->kernel}; // speeds, too
    b->SH = tr_matrix(b->graph, n, r->kernel), b->B = tr_matrix(b->graph, n, r->np);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < r->kernel; i++) {
            Expr sum = zero(b->graph);
            const bool folded = is_folded(b, j);
            for (uint32_t k = 0; k < n; k++)
                if (folded || !is_folded(b, k))
                    sum = add(sum, mul(get(folded ? r->mass : r->half, j, k), get(H, k, i)));
            set(b->SH, j, i, sum);
        }
    Expr *column = tr_arena_alloc(&b->graph->arena, n + 1u, sizeof *column);
    if (!column) b->graph->failed = true;
    for (uint32_t k = 0; column && k < r->np; k++) {
        for (uint32_t j = 0; j < n; j++)
            column[j] = j < r->np ? get(b->tree.by_speed, r->p[j], r->p[k]) : zero(b->graph);
        fold(b, column);
        for (uint32_t j = 0; j < n; j++) set(b->B, j, k, column[j]);
    }
}

// G^T Z = M H of rows that are not folded, by the stages as in T73
static void make_transposed(BoundSlopes *b)
{
    const Reduction *r = &b->r;
    b->Z = tr_matrix(b->graph, r->nD, r->kernel);
    for (uint32_t c = 0; c < r->kernel; c++) {
        for (uint32_t k = r->units; k < r->nD; k++) {
            const uint32_t d = r->stages[k].d;
            Expr e = get(b->SH, d, c);
            for (uint32_t i = r->units; i < k; i++)
                e = add(e, mul(r->stages[i].h[d], get(b->Z, i, c)));
            set(b->Z, k, c, e);
        }
        for (uint32_t k = r->nD; k-- > r->units;) {
            Expr e = get(b->Z, k, c);
            for (uint32_t i = k + 1; i < r->nD; i++)
                e = sub(e, mul(r->stages[k].column[i], get(b->Z, i, c)));
            set(b->Z, k, c, quotient(e, r->stages[k].pivot));
        }
    }
}

// What the pivots bear (T73), with v' - a = H w': e = M H w' - f, folded like all forces
static void find_reactions(BoundSlopes *b)
{
    const Reduction *r = &b->r;
    b->u = tr_matrix(b->graph, r->nD, 1);
    for (uint32_t k = 0; k < r->nD; k++) {
        const uint32_t d = r->stages[k].d;
        Expr e = neg(get(k < r->units ? r->force : r->half_force, d, 0));
        for (uint32_t i = 0; i < r->kernel; i++) {
            const Input *left = tr_system_input(b->system, left_over(b, i));
            e = add(e, mul(get(b->SH, d, i), left->rate));
        }
        for (uint32_t i = k < r->units ? 0 : r->units; i < k; i++)
            e = add(e, mul(r->stages[i].h[d], get(b->u, i, 0)));
        set(b->u, k, 0, e);
    }
    tr_solve_back(r, b->u);
}

static bool find_slopes(BoundSlopes *b, const SlopeColumn *columns, uint32_t count, Expr *wdot,
                        Expr *slopes)
{
    Reduction *r = &b->r;
    uint32_t *w = calloc(b->system->input_count + 1u, sizeof *w);
    bool good =
        w && tr_independent(b->system, w) == r->kernel && make_room(b) && take_expressions(b);
    if (good) {
        tr_tree_slopes_take(&b->tree, b->x);
        for (uint32_t i = 0; i < r->kernel; i++) wdot[i] = b->system->inputs[w[i]].rate;
        make_products(b);
        make_transposed(b);
        find_reactions(b);
        good = solve_columns(b, columns, count, w, slopes);
    }
    if (good) {
        tr_system_resolve(b->system, wdot, r->kernel);
        tr_system_resolve(b->system, slopes, (size_t)r->kernel * count);
    }
    free(w);
    free(b->all);
    return good;
}

// ---- order ---------------------------------------------------------------------------------

// The slope of a pivot's row along what another one eliminates
static Expr slope_at(const System *s, const Partition *p, uint32_t k, uint32_t other,
                     const uint32_t *velocities, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && velocities[i] != p->dependent[other]) i++;
    return i < count ? s->rows[p->row[k]].inner_slopes[i] : expr_at(s->graph, 0);
}

// Pivots with constant slopes come first, unless a row before them would not be the same then; how
// many.
static uint32_t sort_pivots(const System *s, const Partition *p, const uint32_t *velocities,
                            uint32_t count, uint32_t *row, uint32_t *dependent)
{
    uint32_t units = 0, *order = dependent; // until it is known
    for (uint32_t k = 0; k < p->count; k++) {
        bool comes_first = true;
        for (uint32_t i = 0; i < p->count; i++)
            comes_first = comes_first && is_number(slope_at(s, p, i, k, velocities, count));
        for (uint32_t i = units; i < k; i++)
            comes_first = comes_first && is_zero(slope_at(s, p, order[i], k, velocities, count));
        for (uint32_t i = k; comes_first && i > units; i--) order[i] = order[i - 1];
        order[comes_first ? units++ : k] = k;
    }
    for (uint32_t k = 0; k < p->count; k++)
        row[k] = p->row[order[k]], dependent[k] = p->dependent[order[k]];
    return units;
}

static size_t length_of(System *s, uint32_t row, uint32_t count)
{
    Expr *all = calloc(count + 1u, sizeof *all);
    if (!all) s->graph->failed = true;
    if (all)
        memcpy(all, s->rows[row].inner_slopes, count * sizeof *all),
            all[count] = s->rows[row].inner_bias;
    const size_t length = all ? tr_system_operations(s, all, count + 1u) : 0;
    free(all);
    return length;
}

// Of two rows with the same constant slope the one that is left is the same but for its sign,
// whichever is eliminated by: so it is the shorter one.
static void take_shorter(System *s, Partition *p, uint32_t units, const uint32_t *velocities,
                         uint32_t count, uint32_t *row)
{
    for (uint32_t k = 0; k < units; k++)
        for (uint32_t i = units; i < p->count; i++) {
            const Expr own = slope_at(s, p, k, k, velocities, count),
                       other = slope_at(s, p, i, k, velocities, count);
            if (!same(square(own), square(other)) || is_zero(own)) continue;
            if (length_of(s, row[i], count) >= length_of(s, row[k], count)) continue;
            const uint32_t swapped = row[i];
            row[i] = row[k], row[k] = swapped;
        }
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

// Rows of a system of many velocities may have none.
static bool have_slopes(const System *s, const Partition *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        if (!s->rows[p->row[k]].inner_slopes) return false;
    return true;
}

bool tr_bound_slopes(System *s, const Partition *partition, const SlopeColumn *columns,
                     uint32_t count, Expr *wdot, Expr *slopes)
{
    tr_error err = {0};
    BoundSlopes b = {.system = s, .graph = s->graph};
    const uint32_t n = tr_system_velocities(s, NULL);
    if (!s->forest || !have_slopes(s, partition)) return false;
    uint32_t *room = calloc(2 * (size_t)partition->count + n + 1, sizeof *room);
    if (!room) return s->graph->failed = true, false;
    uint32_t *row = room, *dependent = row + partition->count, *all = dependent + partition->count;
    tr_system_velocities(s, all);
    const uint32_t units = sort_pivots(s, partition, all, n, row, dependent);
    Partition sorted = {row, dependent, partition->count, partition->antagonist};
    take_shorter(s, &sorted, units, all, n, row);
    b.r = (Reduction){.system = s, .graph = s->graph, .err = &err, .partition = &sorted};
    b.r.in_two = true;
    bool good = tr_tree_slopes_new(s, &b.tree);
    if (good) put_dynamics(&b, &err);
    good = good && tr_reduction_make(&b.r) && !b.r.nU;
    if (good) tr_reduction_define(&b.r);
    good = good && find_slopes(&b, columns, count, wdot, slopes);
    tr_tree_slopes_free(&b.tree);
    free(room);
    return good && !s->graph->failed;
}
