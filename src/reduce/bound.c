// SPDX-License-Identifier: Apache-2.0
// With accelerations a, the residuals of the equations of motion and of the rows that are pivots,
//
//   E = M a + c - Q - G^T u = 0,   R = G v' + gamma = 0,   V = G v + g = 0
//
// u what the pivots bear alone, are differentiated with accelerations and u frozen. Rows are solved
// for dependent velocities and accelerations by the stages of the elimination, and as H^T G^T = 0,
//
//   G dv = -dV,   G da = -dR with dw' = 0,   H^T M H dw' = -H^T (dE + M da)            (T148)
//
// Forces that use reactions, Q = Q0 + L l with l = P u, are differentiated with l frozen as well.
// What l becomes is told by motions z that no other reaction works on, G z = P^T: (T191)
//
//   dl = dP u + z.(dE + M (da + H dw') - L dl)
#include "reduce/bound.h"

#include "expr/derivative.h"

#include <stdlib.h>
#include <string.h>

// ---- what is differentiated ----------------------------------------------------------------

static Expr used_reaction(const Bound *b, uint32_t k) { return b->system->rows[b->r.U[k]].symbol; }

static bool make_room(Bound *b)
{
    const size_t n = b->r.nv, D = b->r.nD;
    b->all_count = D * n + 2 * D + 5 * n + b->r.nU * D;
    b->all = calloc(b->all_count + 1, sizeof *b->all);
    if (!b->all) return false;
    b->G = b->all, b->rest = b->G + D * n, b->drift = b->rest + D, b->Q = b->drift + D;
    b->motions = b->Q + n, b->own = b->motions + 3 * n;
    b->mix = b->own + n;
    return true;
}

// gamma with the accelerations of driven velocities
static Expr drift_of(const Bound *b, const Row *row)
{
    Expr drift = row->inner_bias;
    for (uint32_t j = 0; j < b->r.na; j++)
        drift = add(drift, mul(row->inner_slopes[b->r.a[j]], get(b->r.accelerations, j, 0)));
    return drift;
}

static void take_motion(const Bound *b, uint32_t k)
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

// With definitions in place, but for those of dependent velocities, accelerations and reactions
// that are used, which are seen as they are.
static bool resolve(Bound *b)
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
    for (uint32_t k = 0; k < b->r.nU; k++)
        tr_system_input(s, used_reaction(b, k))->definition = expr_at(b->graph, 0);
    tr_system_resolve(s, b->all, b->all_count);
    for (uint32_t i = 0; i < s->input_count; i++) s->inputs[i].definition = kept[i];
    free(kept);
    return !b->graph->failed;
}

// Q0 + L l
static Expr force_on(const Bound *b, uint32_t passive)
{
    const Reduction *r = &b->r;
    Expr Q = get(r->Q, r->p[passive], 0);
    for (uint32_t j = 0; j < r->nU; j++)
        Q = add(Q, mul(get(r->force, passive, 1 + j), used_reaction(b, j)));
    return Q;
}

// P: a reaction is that of a pivot, or of three that were eliminated in other axes (T46)
static void take_mix(const Bound *b, uint32_t k)
{
    const Reduction *r = &b->r;
    const Row *row = &b->system->rows[r->U[k]];
    for (uint32_t i = 0; i < r->nD; i++) {
        const uint32_t at = b->sorted.row[i], first = row->is_mixed ? row->inner_first : r->U[k];
        Expr *to = &b->mix[(size_t)k * r->nD + i];
        *to = zero(b->graph);
        if (row->is_mixed && at >= first && at < first + 3) *to = row->mix[at - first];
        if (!row->is_mixed && at == first) *to = one(b->graph);
    }
}

static bool take_expressions(Bound *b, const Expr *own)
{
    const Reduction *r = &b->r;
    for (uint32_t k = 0; k < r->nU; k++) take_mix(b, k);
    for (uint32_t k = 0; k < r->nv; k++) {
        b->Q[k] = zero(b->graph), b->own[k] = own[k];
        take_motion(b, k);
    }
    for (uint32_t j = 0; j < r->np; j++) b->Q[r->p[j]] = force_on(b, j);
    for (uint32_t i = 0; i < r->nD; i++) {
        const Row *row = pivot_row(r, i);
        memcpy(b->G + (size_t)i * r->nv, row->inner_slopes, r->nv * sizeof *b->G);
        b->rest[i] = row->inner_rest, b->drift[i] = drift_of(b, row);
    }
    return resolve(b);
}

// ---- rows ----------------------------------------------------------------------------------

void tr_bound_fold(const Bound *b, Expr *e)
{
    for (uint32_t k = 0; k < b->r.units; k++) {
        const Stage *s = &b->r.stages[k];
        for (uint32_t j = 0; j < b->r.unknowns; j++)
            if (j != s->d) e[j] = add(e[j], mul(s->h[j], e[s->d]));
        e[s->d] = zero(b->graph);
    }
}

// The first rows are solved for what they are divided by, and the others are without it.
static void eliminate(const Bound *b, uint32_t first, uint32_t end, Expr *rest)
{
    for (uint32_t k = first; k < end; k++) {
        const Stage *s = &b->r.stages[k];
        rest[k] = neg(quotient(rest[k], s->pivot));
        for (uint32_t i = k + 1; i < b->r.nD; i++)
            rest[i] = add(rest[i], mul(s->column[i], rest[k]));
    }
}

// G x = -rest for given x of what is left, by the stages of the elimination
static void solve_rows(const Bound *b, Expr *rest, Expr *x)
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
static void solve_folded(const Bound *b, Expr *rest, Expr *x)
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
static void change_rows(const Bound *b, const Expr *change, Expr *out)
{
    const Reduction *r = &b->r;
    const Expr *motions = change + (b->motions - b->all);
    for (uint32_t i = 0; i < r->nD; i++) {
        out[i] = change[b->rest - b->all + i];
        for (uint32_t k = 0; k < r->nv; k++) {
            const size_t at = (size_t)i * r->nv + k;
            out[i] = add(out[i], mul(change[at], bound_velocity(b, k)));
            out[i] = add(out[i], mul(b->G[at], motions[3 * k + 1]));
        }
    }
}

// dG v' + dgamma; driven accelerations are in gamma
static void change_accelerations(const Bound *b, const Expr *change, Expr *out)
{
    const Reduction *r = &b->r;
    for (uint32_t i = 0; i < r->nD; i++) {
        out[i] = change[b->drift - b->all + i];
        for (uint32_t j = 0; j < r->np; j++)
            out[i] = add(out[i], mul(change[(size_t)i * r->nv + r->p[j]],
                                     b->system->inputs[r->v[r->p[j]]].rate));
    }
}

// ---- columns -------------------------------------------------------------------------------

bool tr_bound_room(const Bound *b, ColumnRoom *c)
{
    const Reduction *r = &b->r;
    const size_t seeds = b->system->input_count + (size_t)r->nv + 18, n = r->unknowns;
    c->from =
        calloc(2 * seeds + b->all_count + 2 * (size_t)r->nD + 5 * n + r->nU + 9, sizeof *c->from);
    if (!c->from) return false;
    c->to = c->from + seeds, c->change = c->to + seeds, c->rest = c->change + b->all_count;
    c->shift = c->rest + r->nD + 1;
    c->dv = c->shift + r->nD + 1, c->da = c->dv + n + 1, c->dE = c->da + n + 1,
    c->f = c->dE + n + 1;
    return true;
}

void tr_bound_seed(const Bound *b, Expr symbol, Expr change, const ColumnRoom *room,
                   uint32_t *seeds)
{
    const Input *input = tr_system_input(b->system, symbol);
    if (input->kind != TR_VELOCITY && input->kind != TR_INNER)
        room->from[*seeds] = symbol, room->to[(*seeds)++] = change;
    for (uint32_t j = 0; j < b->r.kernel; j++)
        if (same(left_over(b, j), symbol)) room->dv[b->r.free[j]] = change;
}

// dQ + dG^T u
static void change_forces(const Bound *b, const Expr *change, Expr *out)
{
    const Reduction *r = &b->r;
    for (uint32_t j = 0; j < r->unknowns; j++) out[j] = zero(b->graph);
    for (uint32_t j = 0; j < r->np; j++) {
        out[j] = change[b->Q - b->all + r->p[j]];
        for (uint32_t i = 0; i < r->nD; i++)
            out[j] = add(out[j], mul(change[(size_t)i * r->nv + r->p[j]], get(b->u, i, 0)));
    }
}

void tr_bound_move(Bound *b, uint32_t seeds, const ColumnRoom *room)
{
    const Reduction *r = &b->r;
    for (uint32_t j = 0; j < r->unknowns; j++) room->da[j] = zero(b->graph);
    tr_forward(b->graph, b->all, b->all_count, room->from, room->to, seeds, room->change);
    change_rows(b, room->change, room->rest);
    solve_rows(b, room->rest, room->dv);
    for (uint32_t j = 0; j < r->np; j++)
        room->from[seeds] = bound_velocity(b, r->p[j]), room->to[seeds++] = room->dv[j];
    tr_forward(b->graph, b->all, b->all_count, room->from, room->to, seeds, room->change);
    change_accelerations(b, room->change, room->rest);
    solve_folded(b, room->rest, room->da);
    change_forces(b, room->change, room->dE);
}

// With da of what is folded, and of the others by what is left of their rows: M H^T da = -Z^T rest
void tr_bound_project(const Bound *b, const ColumnRoom *room)
{
    const Reduction *r = &b->r;
    const Expr *mix = room->change + (b->mix - b->all);
    Expr *f = room->f;
    for (uint32_t i = 0; i < b->H.columns; i++) {
        f[i] = zero(b->graph);
        for (uint32_t j = 0; j < r->unknowns; j++) // dE is 0 where it is folded
            f[i] = add(f[i], mul(get(b->H, j, i), room->dE[j]));
        for (uint32_t k = r->units; k < r->nD; k++)
            f[i] = add(f[i], mul(get(b->Z, k, i), room->rest[k]));
        for (uint32_t j = 0; j < r->unknowns; j++)
            f[i] = sub(f[i], mul(get(b->SH, j, i), room->da[j]));
        for (uint32_t k = 0; i >= r->kernel && k < r->nD; k++) // dP u
            f[i] = sub(f[i], mul(mix[(size_t)(i - r->kernel) * r->nD + k], get(b->u, k, 0)));
    }
}

// (1 - E) dl = dP u + z.(dE + M da) + z.M H dw0, with E of T78: what it is for L dl = 0  (T191)
static Matrix used_changes(const Bound *b, Matrix f, Matrix dw0)
{
    const Reduction *r = &b->r;
    Matrix left = tr_matrix_identity(b->graph, r->nU), dl = tr_matrix(b->graph, r->nU, f.columns);
    for (uint32_t i = 0; i < r->nU; i++) {
        for (uint32_t j = 0; j < r->nU; j++)
            set(left, i, j, sub(get(left, i, j), get(r->lambda, r->U[i], 1 + j)));
        for (uint32_t k = 0; k < r->kernel; k++) {
            Expr mass = zero(b->graph); // between the two motions
            for (uint32_t j = 0; j < r->unknowns; j++)
                mass = add(mass, mul(get(b->H, j, r->kernel + i), get(b->SH, j, k)));
            for (uint32_t c = 0; c < f.columns; c++)
                set(dl, i, c, add(get(dl, i, c), mul(mass, get(dw0, k, c))));
        }
        for (uint32_t c = 0; c < f.columns; c++)
            set(dl, i, c, sub(get(dl, i, c), get(f, r->kernel + i, c)));
    }
    return tr_lu_solve(tr_lu(left, r->order, r->order), dl);
}

Matrix tr_bound_solve(const Bound *b, Matrix f)
{
    const Reduction *r = &b->r;
    const Matrix left = {b->graph, f.entries, r->kernel, f.columns};
    const Matrix dw = tr_ldlt_solve(r->factors, left);
    if (!r->nU || b->graph->failed) return dw;
    const Matrix dl = used_changes(b, f, dw);
    for (uint32_t k = 0; k < r->kernel; k++)
        for (uint32_t c = 0; c < f.columns; c++)
            for (uint32_t j = 0; j < r->nU; j++)
                set(dw, k, c, add(get(dw, k, c), mul(get(r->x, r->free[k], 1 + j), get(dl, j, c))));
    return dw;
}

bool tr_bound_put(const Bound *b, Matrix dw, Expr *slopes)
{
    for (uint32_t i = 0; i < b->r.kernel; i++) {
        uint32_t at = 0;
        while (at < b->r.kernel && !same(left_over(b, at), b->system->inputs[b->w[i]].symbol)) at++;
        if (at == b->r.kernel) return false;
        for (uint32_t c = 0; c < dw.columns; c++)
            slopes[(size_t)i * dw.columns + c] = get(dw, at, c);
    }
    tr_system_resolve(b->system, slopes, (size_t)b->r.kernel * dw.columns);
    return !b->graph->failed;
}

// ---- products ------------------------------------------------------------------------------

// H, and motions z with G z = P^T and nothing of what is left                          (T191)
static bool take_motions(Bound *b)
{
    const Reduction *r = &b->r;
    Expr *room = calloc((size_t)r->nD + r->unknowns + 1, sizeof *room);
    if (!room) return b->graph->failed = true, false;
    Expr *rest = room, *z = room + r->nD;
    b->H = tr_matrix(b->graph, r->unknowns, r->kernel + r->nU);
    for (uint32_t j = 0; j < r->unknowns; j++)
        for (uint32_t i = 0; i < r->kernel; i++)
            set(b->H, j, i, r->H.entries[(size_t)j * r->kernel + i]); // speeds, too
    for (uint32_t k = 0; k < r->nU; k++) {
        for (uint32_t j = 0; j < r->unknowns; j++) z[j] = zero(b->graph);
        for (uint32_t i = 0; i < r->nD; i++) rest[i] = neg(b->mix[(size_t)k * r->nD + i]);
        solve_rows(b, rest, z);
        for (uint32_t j = 0; j < r->unknowns; j++) set(b->H, j, r->kernel + k, z[j]);
    }
    free(room);
    return !b->graph->failed;
}

// H^T M H was made of M H in the same way, so most of it is there already.
static void make_products(Bound *b)
{
    Reduction *r = &b->r;
    const uint32_t n = r->unknowns;
    b->SH = tr_matrix(b->graph, n, b->H.columns);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < b->H.columns; i++) {
            Expr sum = zero(b->graph);
            const bool folded = is_folded(b, j);
            for (uint32_t k = 0; k < n; k++)
                if (folded || !is_folded(b, k))
                    sum = add(sum, mul(get(folded ? r->mass : r->half, j, k), get(b->H, k, i)));
            set(b->SH, j, i, sum);
        }
}

// G^T Z = M H of rows that are not folded, by the stages as in T73
static void make_transposed(Bound *b)
{
    const Reduction *r = &b->r;
    b->Z = tr_matrix(b->graph, r->nD, b->H.columns);
    for (uint32_t c = 0; c < b->H.columns; c++) {
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
static void find_reactions(Bound *b)
{
    const Reduction *r = &b->r;
    b->u = tr_matrix(b->graph, r->nD, 1);
    for (uint32_t k = 0; k < r->nD; k++) {
        const uint32_t d = r->stages[k].d;
        Expr e = neg(get(k < r->units ? r->force : r->half_force, d, 0));
        for (uint32_t j = 0; j < r->nU; j++)
            e = sub(e, mul(get(r->half_force, d, 1 + j), used_reaction(b, j)));
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

// Rows of a system of many velocities may have none.
static bool have_slopes(const System *s, const Partition *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        if (!s->rows[p->row[k]].inner_slopes) return false;
    return true;
}

bool tr_bound_new(Bound *b, System *s, const Partition *partition)
{
    const uint32_t n = tr_system_velocities(s, NULL), count = partition->count;
    *b = (Bound){.system = s, .graph = s->graph};
    if (!have_slopes(s, partition)) return false;
    uint32_t *room = b->room = calloc(2 * (size_t)count + n + s->input_count + 1, sizeof *room);
    if (!room) return s->graph->failed = true, false;
    uint32_t *dependent = room + count, *all = dependent + count;
    b->w = all + n;
    tr_system_velocities(s, all);
    const uint32_t units = sort_pivots(s, partition, all, n, room, dependent);
    b->sorted = (Partition){room, dependent, count, partition->antagonist};
    take_shorter(s, &b->sorted, units, all, n, room);
    b->r = (Reduction){.system = s, .graph = s->graph, .err = &b->err, .partition = &b->sorted};
    b->r.in_two = true;
    return true;
}

bool tr_bound_reduce(Bound *b)
{
    Reduction *r = &b->r;
    if (!tr_reduction_make(r) || (r->nU && (r->nR || tr_has_antagonists(r)))) return false;
    tr_reduction_define(r);
    const Matrix used = tr_used_reactions(r);
    for (uint32_t k = 0; k < r->nU; k++)
        tr_system_input(b->system, used_reaction(b, k))->definition = get(used, k, 0);
    return tr_independent(b->system, b->w) == b->r.kernel && make_room(b);
}

bool tr_bound_take(Bound *b, const Expr *own)
{
    if (!take_expressions(b, own) || !take_motions(b)) return false;
    make_products(b);
    make_transposed(b);
    find_reactions(b);
    return !b->graph->failed;
}

void tr_bound_free(Bound *b)
{
    free(b->room);
    free(b->all);
}
