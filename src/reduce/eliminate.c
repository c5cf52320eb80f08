// SPDX-License-Identifier: Apache-2.0
// Velocities are eliminated one at a time (T68-T71), each by the row that is its pivot, from the
// equations of motion and from the rows that are left. With row . v + g = 0 and the pivot at d,
//
//   v_d = h . v + k,     h_j = -row_j / row_d,   k = -g / row_d             (T68) [B 11, 12]
//   v_d' = h . v' + b,   b = -(G' v + g' + G_a v_a') / row_d
//
// The accelerations a that the b alone make, with w' = 0, go through inverse dynamics once: what is
// missing is f = Q - c - M a. Virtual displacements follow the same h (T70) [B 20, 22], so that
//
//   M_ij <- M_ij + h_i M_dj + (M_id + h_i M_dd) h_j,   f_i <- f_i + h_i f_d
//
// What is left is H^T M_pp H w' = H^T f (T71) [M 13, corrected; B 23]. Rows are sparse, so this
// often costs less than forming H first, and H' never appears.
//
// Speeds that the model chose are unknowns without mass; a row that is their formula is a pivot
// like any other (T54).
#include "expr/walk.h"
#include "reduce/reduction.h"

#include <stdlib.h>

// ---- what is to be eliminated --------------------------------------------------------------

static const Row *any_row(const Reduction *r, uint32_t i) // pivots, then R
{
    return i < r->nD ? pivot_row(r, i) : &r->system->rows[r->R[i - r->nD]];
}

// The rows as they stand; N v + n - w = 0 for a speed w                                  (T54)
static void take_rows(Reduction *r)
{
    Graph *g = r->graph;
    const uint32_t count = r->nD + r->nR;
    r->rows = tr_matrix_in(r->room, g, count, r->unknowns);
    r->driven = tr_matrix_in(r->room, g, count, r->na);
    r->rest = tr_matrix(g, count, 1), r->bias = tr_matrix(g, count, 1);
    r->own_bias = tr_matrix(g, count, 1);
    for (uint32_t i = 0; i < count; i++) {
        const Row *row = any_row(r, i);
        Expr bias = row->inner_bias;
        for (uint32_t j = 0; j < r->np; j++) set(r->rows, i, j, row->inner_slopes[r->p[j]]);
        for (uint32_t j = 0; j < r->na; j++) {
            set(r->driven, i, j, row->inner_slopes[r->a[j]]);
            bias = add(bias, mul(row->inner_slopes[r->a[j]], get(r->accelerations, j, 0)));
        }
        set(r->rest, i, 0, row->inner_rest);
        set(r->bias, i, 0, bias);
        set(r->own_bias, i, 0, row->inner_bias);
    }
    for (uint32_t j = 0; j < r->ns; j++) set(r->rows, r->s[j], r->np + j, neg(one(g)));
}

// ---- elimination ---------------------------------------------------------------------------

Expr *tr_reduction_expressions(Reduction *r, size_t count)
{
    Expr *list = tr_arena_alloc(r->room, count + 1, sizeof *list);
    if (!list) r->graph->failed = true;
    for (size_t i = 0; list && i < count; i++) list[i] = zero(r->graph);
    return list;
}

static uint32_t count_entries(Matrix rows, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < rows.columns; j++) count += !is_zero(get(rows, i, j));
    return count;
}

// h_j = -row_j / row_d,   k = -g / row_d,   b = -(gamma + G_a v_a') / row_d              (T68)
bool tr_take_pivot(Reduction *r, uint32_t k)
{
    Stage *s = &r->stages[k];
    const uint32_t d = r->D[k];
    *s = (Stage){.d = d, .pivot = get(r->rows, k, d)};
    s->h = tr_reduction_expressions(r, r->unknowns);
    s->column = tr_reduction_expressions(r, r->rows.rows);
    if (r->graph->failed) return false;
    uint32_t *near = tr_reduction_room(r, count_entries(r->rows, k));
    if (!near) return false;
    for (uint32_t j = 0; j < r->unknowns; j++) {
        if (j == d || is_zero(get(r->rows, k, j))) continue;
        s->h[j] = neg(quotient(get(r->rows, k, j), s->pivot));
        near[s->near_count++] = j;
    }
    s->near = near;
    s->k = neg(quotient(get(r->rest, k, 0), s->pivot));
    s->b = neg(quotient(get(r->bias, k, 0), s->pivot));
    for (uint32_t i = 0; i < r->rows.rows; i++) s->column[i] = get(r->rows, i, d);
    return true;
}

static void add_to(Matrix m, uint32_t i, uint32_t j, Expr x) { set(m, i, j, add(get(m, i, j), x)); }

// The rows that are left, without v_d
void tr_eliminate_from_rows(Reduction *r, uint32_t k)
{
    const Stage *s = &r->stages[k];
    for (uint32_t i = k + 1; i < r->rows.rows; i++) {
        const Expr entry = s->column[i];
        if (is_zero(entry)) continue;
        for (uint32_t j = 0; j < s->near_count; j++)
            add_to(r->rows, i, s->near[j], mul(entry, s->h[s->near[j]]));
        for (uint32_t j = 0; j < r->na; j++) {
            const Expr h = neg(quotient(get(r->driven, k, j), s->pivot));
            add_to(r->driven, i, j, mul(entry, h));
        }
        add_to(r->rest, i, 0, mul(entry, s->k));
        add_to(r->bias, i, 0, mul(entry, s->b));
        add_to(r->own_bias, i, 0, neg(mul(entry, quotient(get(r->own_bias, k, 0), s->pivot))));
        set(r->rows, i, s->d, zero(r->graph));
    }
}

// x_d = h . x + b in the end, for given x of what is left
static void follow(const Reduction *r, Matrix x, uint32_t column, bool with_b)
{
    for (uint32_t k = r->nD; k-- > 0;) {
        const Stage *s = &r->stages[k];
        Expr sum = with_b ? s->b : zero(r->graph);
        for (uint32_t j = 0; j < s->near_count; j++)
            sum = add(sum, mul(s->h[s->near[j]], get(x, s->near[j], column)));
        set(x, s->d, column, sum);
    }
}

// f = Q_p - c_p - M_pp a - M_pa v_a', by inverse dynamics where the system has it         (T70)
static Expr missing_force(const Reduction *r, uint32_t i, const Expr *inverse)
{
    const uint32_t v = r->p[i];
    Expr f = get(r->Q, v, 0);
    if (inverse) return sub(f, inverse[v]);
    f = sub(f, get(r->c, v, 0));
    for (uint32_t j = 0; j < r->np; j++)
        f = sub(f, mul(get(r->M, v, r->p[j]), get(r->a_bias, j, 0)));
    for (uint32_t j = 0; j < r->na; j++)
        f = sub(f, mul(get(r->M, v, r->a[j]), get(r->accelerations, j, 0)));
    return f;
}

// The inverse dynamics of the accelerations a; NULL when the system has none.
static Expr *inverse_dynamics(Reduction *r)
{
    char room[64];
    const Output *inverse =
        tr_system_output(r->system, text_of(tr_system_inner(r->system, "inverse", room)));
    Expr *from = tr_reduction_expressions(r, 2 * (size_t)r->np),
         *force = tr_reduction_expressions(r, r->nv);
    if (!inverse || r->graph->failed) return NULL;
    Expr *to = from + r->np;
    for (uint32_t j = 0; j < r->np; j++) {
        from[j] = r->system->inputs[r->v[r->p[j]]].rate;
        to[j] = get(r->a_bias, j, 0);
    }
    tr_substitute(r->graph, inverse->values, r->nv, from, to, r->np, force);
    return force;
}

static size_t count_operations(const Reduction *r, Matrix M, Matrix f)
{
    const size_t m = (size_t)M.rows * M.columns, n = (size_t)f.rows * f.columns;
    Expr *all = calloc(m + n + 1, sizeof *all);
    if (!all) r->graph->failed = true;
    for (size_t i = 0; all && i < m; i++) // the lower triangle is what is used
        all[i] = i % M.columns <= i / M.columns ? M.entries[i] : zero(r->graph);
    for (size_t i = 0; all && i < n; i++) all[m + i] = f.entries[i];
    const size_t count = all ? tr_system_operations(r->system, all, m + n) : 0;
    free(all);
    return count;
}

// f in the first column, L_p in the others
static Matrix take_forces(const Reduction *r, Matrix L, const Expr *inverse)
{
    Matrix f = tr_matrix(r->graph, r->unknowns, 1 + r->nU);
    for (uint32_t i = 0; i < r->np; i++) {
        set(f, i, 0, missing_force(r, i, inverse));
        for (uint32_t j = 0; j < r->nU; j++) set(f, i, 1 + j, get(L, r->p[i], j));
    }
    return f;
}

// M_pp, and f in the way that costs less next to it
static void take_dynamics(Reduction *r, Matrix L)
{
    Graph *g = r->graph;
    r->a_bias = tr_matrix(g, r->unknowns, 1);
    follow(r, r->a_bias, 0, true);
    r->mass = tr_matrix(g, r->unknowns, r->unknowns);
    for (uint32_t i = 0; i < r->np; i++)
        for (uint32_t j = 0; j < r->np; j++) set(r->mass, i, j, get(r->M, r->p[i], r->p[j]));
    r->force = take_forces(r, L, NULL);
    const Expr *inverse = inverse_dynamics(r);
    if (!inverse) return;
    const Matrix other = take_forces(r, L, inverse);
    if (!g->failed && count_operations(r, r->mass, other) < count_operations(r, r->mass, r->force))
        r->force = other;
}

// One velocity after the other:
//   M_ij <- M_ij + h_i M_dj + (M_id + h_i M_dd) h_j,   f_i <- f_i + h_i f_d     (T70) [B 20, 22]
static void project_stage(const Reduction *r, const Stage *s, const bool *gone, Matrix M, Matrix f)
{
    const Expr M_dd = get(M, s->d, s->d);
    for (uint32_t i = 0; i < r->unknowns; i++) {
        if (gone[i] || i == s->d) continue;
        const Expr z = add(get(M, i, s->d), mul(s->h[i], M_dd));
        for (uint32_t j = 0; j <= i; j++) {
            if (gone[j] || j == s->d) continue;
            const Expr more = add(mul(s->h[i], get(M, s->d, j)), mul(z, s->h[j]));
            const Expr entry = add(get(M, i, j), more);
            set(M, i, j, entry);
            set(M, j, i, entry);
        }
        for (uint32_t j = 0; j < f.columns; j++) add_to(f, i, j, mul(s->h[i], get(f, s->d, j)));
    }
}

static Matrix copy_of(Matrix m)
{
    Matrix copy = tr_matrix(m.graph, m.rows, m.columns);
    for (uint32_t i = 0; i < m.rows; i++)
        for (uint32_t j = 0; j < m.columns; j++) set(copy, i, j, get(m, i, j));
    return copy;
}

// The first `staged` velocities one after the other, the others at once: H^T M H and H^T f with
// the rows of H that are left.
static void project_in(Reduction *r, uint32_t staged, Matrix *M_r, Matrix *f_r)
{
    Matrix M = copy_of(r->mass), f = copy_of(r->force);
    const Matrix H = {r->graph, r->H.entries, r->unknowns, r->kernel}; // speeds too
    bool *gone = calloc(r->unknowns + 1u, sizeof *gone);
    uint32_t *left = calloc(r->unknowns + 1u, sizeof *left), count = 0;
    if (!gone || !left) r->graph->failed = true;
    for (uint32_t k = 0; gone && k < staged; k++) {
        project_stage(r, &r->stages[k], gone, M, f);
        gone[r->stages[k].d] = true;
    }
    for (uint32_t i = 0; gone && left && i < r->unknowns; i++)
        if (!gone[i]) left[count++] = i;
    if (r->in_two) r->half = M, r->half_force = f;
    if (left) {
        const Matrix H_left = tr_pick(H, left, count, NULL, r->kernel);
        const Matrix Ht = tr_matrix_transpose(H_left);
        *M_r =
            tr_matrix_product(Ht, tr_matrix_product(tr_pick(M, left, count, left, count), H_left));
        *f_r = tr_matrix_product(Ht, tr_pick(f, left, count, NULL, f.columns));
    }
    free(gone);
    free(left);
}

// In the way with the fewest operations. With many velocities only all or nothing is tried.
static void project(Reduction *r, Matrix *M_r, Matrix *f_r)
{
    enum { MANY = 12 };
    size_t least = SIZE_MAX;
    if (r->in_two) {
        project_in(r, r->units, M_r, f_r);
        return;
    }
    const uint32_t step = r->nD > MANY ? r->nD : 1;
    for (uint32_t staged = 0; staged <= r->nD && !r->graph->failed; staged += step) {
        Matrix M = *M_r, f = *f_r;
        project_in(r, staged, &M, &f);
        const size_t count = r->graph->failed ? 0 : count_operations(r, M, f);
        if (count < least) least = count, *M_r = M, *f_r = f;
        if (!r->nD) break;
    }
}

static void eliminate(Reduction *r)
{
    r->stages = tr_arena_alloc(r->room, r->nD + 1u, sizeof *r->stages);
    if (!r->stages) r->graph->failed = true;
    for (uint32_t k = 0; !r->graph->failed && k < r->nD; k++)
        if (tr_take_pivot(r, k)) tr_eliminate_from_rows(r, k);
}

// Whether all pivot rows have numbers for slopes along an unknown
static bool is_constant(const Reduction *r, uint32_t unknown)
{
    for (uint32_t i = 0; i < r->nD; i++)
        if (unknown >= r->np || !is_number(pivot_row(r, i)->inner_slopes[r->p[unknown]]))
            return false;
    return true;
}

// None where forces use reactions: what is folded into other equations is not told by these.
static void count_units(Reduction *r)
{
    r->units = 0;
    while (!r->nU && r->units < r->nD && is_constant(r, r->D[r->units])) r->units++;
}

// ---- going back ----------------------------------------------------------------------------

// v' - a: w' from H^T M_pp H w' = H^T f, then each eliminated one in turn       (T71) [B 23]
static void find_accelerations(Reduction *r)
{
    const uint32_t columns = r->force.columns;
    Matrix M_r = tr_matrix(r->graph, 0, 0), f_r = M_r;
    project(r, &M_r, &f_r);
    if (r->graph->failed) return;
    r->factors = tr_ldlt(M_r);
    const Matrix w = tr_ldlt_solve(r->factors, f_r);
    r->x = tr_matrix(r->graph, r->unknowns, columns);
    for (uint32_t c = 0; c < columns; c++) {
        for (uint32_t i = 0; i < r->kernel; i++) set(r->x, r->free[i], c, get(w, i, c));
        follow(r, r->x, c, false);
    }
}

// v' of an unknown in the column of Q0: with b on the way instead of a sum at the end
void tr_add_bias(Reduction *r) { follow(r, r->x, 0, true); }

// H, J, k, h by substituting later stages into earlier ones                     (T69) [B 11, 18]
void tr_find_kernel(Reduction *r)
{
    Graph *g = r->graph;
    r->H = tr_matrix(g, r->unknowns, r->kernel), r->J = tr_matrix(g, r->unknowns, r->na);
    r->k = tr_matrix(g, r->unknowns, 1), r->h = tr_matrix(g, r->unknowns, 1);
    for (uint32_t i = 0; i < r->kernel; i++) set(r->H, r->free[i], i, one(g));
    for (uint32_t k = r->nD; k-- > 0;) {
        const Stage *s = &r->stages[k];
        set(r->k, s->d, 0, s->k);
        set(r->h, s->d, 0, neg(quotient(get(r->own_bias, k, 0), s->pivot)));
        for (uint32_t j = 0; j < r->na; j++)
            set(r->J, s->d, j, neg(quotient(get(r->driven, k, j), s->pivot)));
        for (uint32_t n = 0; n < s->near_count; n++) {
            const uint32_t j = s->near[n];
            for (uint32_t i = 0; i < r->kernel; i++)
                add_to(r->H, s->d, i, mul(s->h[j], get(r->H, j, i)));
            for (uint32_t i = 0; i < r->na; i++)
                add_to(r->J, s->d, i, mul(s->h[j], get(r->J, j, i)));
            add_to(r->k, s->d, 0, mul(s->h[j], get(r->k, j, 0)));
            add_to(r->h, s->d, 0, mul(s->h[j], get(r->h, j, 0)));
        }
    }
    r->H.rows = r->J.rows = r->k.rows = r->h.rows = r->np; // speeds are no velocities
}

bool tr_eliminate(Reduction *r, Matrix L)
{
    const Graph *g = r->graph;
    take_rows(r);
    eliminate(r);
    if (g->failed) return false;
    count_units(r);
    take_dynamics(r, L);
    tr_find_kernel(r);
    if (g->failed) return false;
    find_accelerations(r);
    return !g->failed;
}
