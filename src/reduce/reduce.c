// SPDX-License-Identifier: Apache-2.0
// Velocities are eliminated one at a time, each by the row that is its pivot, from the equations of
// motion and from the rows that are left. With row . v + g = 0 and the pivot at d,
//
//   v_d = h . v + k,   h_j = -row_j / row_d,   k = -g / row_d                              [B 11,
//   12] v_d' = h . v' + b,   b = -(G' v + g' + G_a v_a') / row_d
//
// The accelerations a that the b alone make, with w' = 0, go through inverse dynamics once: what is
// missing is f = Q - c - M a. Virtual displacements follow the same h [B 20, 22], so that
//
//   M_ij <- M_ij + h_i M_dj + (M_id + h_i M_dd) h_j,   f_i <- f_i + h_i f_d
//
// What is left is H^T M_pp H w' = H^T f [B 23]. Rows are sparse, so this costs less than forming H,
// and H' never appears. Going back, each velocity's own equation as it stood when it was eliminated
// gives the reaction of its pivot [B 25, 26]:
//
//   lambda_k = (M_d . (v' - a) - f_d - sum of later rows' entries at d times their lambda) / row_d
//
// The forces of motion-driven joints follow [B 27]: tau = M_a v' + c_a - Q_a - G_a^T lambda.
//
// Speeds that the model chose are unknowns without mass; a row that is their formula is a pivot
// like any other, and bears nothing. Rows R that are no pivots depend on them, so their reactions
// are free to choose: lambda_P = u - K lambda_R. Least is the weighted norm when
//   (W_R + K^T W_P K) lambda_R = K^T W_P u.
//
// Forces that use reactions make Q = Q0 + L lambda. Everything is linear in the force, so the
// response to each used reaction is found like that to Q0, and the used ones from
//   lambda_U = lambda0_U + E lambda_U.
#include "reduce/reduce.h"

#include "expr/derivative.h"
#include "expr/walk.h"

#include <stdlib.h>

// A pivot, and what stood there when it was taken.
typedef struct Stage {
    uint32_t d; // the unknown that it eliminates
    Expr pivot, k, b;
    Expr *h;      // by unknown; zero for those that were eliminated before
    Expr *column; // entries of all rows at d
} Stage;

typedef struct Reduction {
    System *system;
    Graph *graph;
    tr_error *err;
    const Partition *partition;
    uint32_t *v; // all velocities, as inputs, in order
    uint32_t *p; // those that are not driven: places in v
    uint32_t *a; // those that are
    uint32_t *D; // dependent: places in p, by pivot
    uint32_t *I; // the other ones
    uint32_t *s; // pivots whose rows are formulas of speeds
    uint32_t *R; // rows that are no pivots
    uint32_t *U; // rows whose reactions forces use
    uint32_t nv, np, na, nD, nI, ns, nR, nU, kernel;
    uint32_t unknowns;    // np velocities, then ns speeds
    uint32_t *free;       // of these, what is left: I, then speeds
    Matrix M, c, Q;       // of the free dynamics; Q without reactions
    Matrix rows;          // pivots, then R; by unknown
    Matrix driven;        // the same by driven velocity
    Matrix rest, bias;    // of these rows; the bias with G_a v_a'
    Matrix own_bias;      // and without
    Matrix mass, force;   // by unknown; forces in columns: Q0, then one for each of U
    Stage *stages;        // by pivot
    uint32_t *order;      // 0, 1, 2, ...
    Matrix accelerations; // v_a'
    Matrix H, J, k, h;
    Matrix K;         // pivots * R
    Matrix a_bias;    // a
    Matrix x, lambda; // v' - a and then v', reactions; columns as in `force`
} Reduction;

// ---- sorting velocities and rows -----------------------------------------------------------

static bool is_driven(const Reduction *r, uint32_t v)
{
    return is_motion_driven(&r->system->inputs[r->v[v]]);
}

static uint32_t pivot_of(const Reduction *r, uint32_t input)
{
    uint32_t k = 0;
    while (k < r->partition->count && r->partition->dependent[k] != input) k++;
    return k;
}

static bool is_pivot(const Reduction *r, uint32_t row)
{
    for (uint32_t k = 0; k < r->partition->count; k++)
        if (r->partition->row[k] == row) return true;
    return false;
}

static uint32_t *room(Reduction *r, size_t count)
{
    uint32_t *list = tr_arena_alloc(&r->graph->arena, count + 1, sizeof *list);
    if (!list) r->graph->failed = true;
    return list;
}

static bool sort(Reduction *r)
{
    const System *s = r->system;
    const uint32_t n = tr_system_inputs(s, TR_VELOCITY, NULL), m = s->row_count;
    r->v = room(r, n), r->p = room(r, n), r->a = room(r, n), r->D = room(r, n), r->I = room(r, n);
    r->s = room(r, m), r->R = room(r, m), r->U = room(r, m), r->order = room(r, n + m);
    if (r->graph->failed) return false;
    r->nv = tr_system_inputs(s, TR_VELOCITY, r->v);
    r->nD = r->partition->count;
    for (uint32_t k = 0; k < n + m; k++) r->order[k] = k;
    for (uint32_t k = 0; k < n; k++) {
        if (is_driven(r, k)) {
            r->a[r->na++] = k;
            continue;
        }
        const uint32_t pivot = pivot_of(r, r->v[k]);
        if (pivot < r->nD)
            r->D[pivot] = r->np;
        else
            r->I[r->nI++] = r->np;
        r->p[r->np++] = k;
    }
    for (uint32_t k = 0; k < r->nD; k++)
        if (s->rows[r->partition->row[k]].is_speed) r->s[r->ns++] = k;
    for (uint32_t i = 0; i < m; i++)
        if (!s->rows[i].is_speed && !is_pivot(r, i)) r->R[r->nR++] = i;
    r->kernel = r->nI + r->ns, r->unknowns = r->np + r->ns;
    r->free = room(r, r->kernel);
    for (uint32_t k = 0; r->free && k < r->kernel; k++)
        r->free[k] = k < r->nI ? r->I[k] : r->np + (k - r->nI);
    return !r->graph->failed;
}

// ---- the free dynamics ---------------------------------------------------------------------

static Matrix output_matrix(Reduction *r, const char *name)
{
    const Output *output = tr_system_output(r->system, text_of(name));
    Matrix m = tr_matrix(r->graph, output ? output->rows : 0, output ? output->columns : 0);
    if (!output)
        tr_fail(r->err, TR_USAGE, (Place){0}, "the system has no output '%s' to reduce", name);
    for (uint32_t i = 0; output && i < m.rows; i++)
        for (uint32_t j = 0; j < m.columns; j++) set(m, i, j, output->values[i * m.columns + j]);
    return m;
}

// Rows and columns of a matrix that are picked, in that order
static Matrix pick(Matrix m, const uint32_t *rows, uint32_t count, const uint32_t *columns,
                   uint32_t width)
{
    Matrix part = tr_matrix(m.graph, count, width);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < width; j++)
            set(part, i, j, get(m, rows[i], columns ? columns[j] : j));
    return part;
}

// Q = Q0 + L lambda; L by used reaction. Leaves Q0 in r->Q.
static Matrix split_forces(Reduction *r)
{
    const uint32_t m = r->system->row_count;
    Expr *symbols = calloc(2 * (size_t)m + 1, sizeof *symbols), *slopes = NULL;
    uint32_t count = 0;
    bool used = false;
    for (uint32_t i = 0; i < r->nv; i++)
        used = used || tr_system_uses(r->system, get(r->Q, i, 0), TR_SOLVED);
    if (!symbols) r->graph->failed = true;
    for (uint32_t i = 0; symbols && used && i < m; i++)
        if (!r->system->rows[i].is_speed)
            r->U[count] = i, symbols[count++] = r->system->rows[i].symbol;
    if (count) slopes = calloc((size_t)r->nv * count + 1, sizeof *slopes);
    Matrix L = tr_matrix(r->graph, r->nv, count);
    if (slopes && r->Q.entries &&
        tr_dense_jacobian(r->graph, r->Q.entries, r->nv, symbols, count, slopes)) {
        for (uint32_t k = 0; k < count; k++) { // only those that a force uses
            bool acts = false;
            for (uint32_t i = 0; i < r->nv; i++) {
                const Expr slope = slopes[i * count + k];
                acts = acts || !is_zero(slope);
                set(L, i, r->nU, slope);
                if (tr_system_uses(r->system, slope, TR_SOLVED))
                    tr_fail(r->err, TR_INVALID, (Place){0},
                            "a force is not linear in the reaction '%s'",
                            r->system->rows[r->U[k]].name);
            }
            if (acts) r->U[r->nU++] = r->U[k];
        }
        Expr *nothing = symbols + m;
        for (uint32_t k = 0; k < count; k++) nothing[k] = zero(r->graph);
        tr_substitute(r->graph, r->Q.entries, r->nv, symbols, nothing, count, r->Q.entries);
    } else if (count)
        r->graph->failed = true;
    free(symbols);
    free(slopes);
    return L;
}

// ---- what is to be eliminated --------------------------------------------------------------

static const Row *pivot_row(const Reduction *r, uint32_t k)
{
    return &r->system->rows[r->partition->row[k]];
}

static const Row *any_row(const Reduction *r, uint32_t i) // pivots, then R
{
    return i < r->nD ? pivot_row(r, i) : &r->system->rows[r->R[i - r->nD]];
}

// N v + n - w = 0 for a speed w
static void take_rows(Reduction *r)
{
    Graph *g = r->graph;
    const uint32_t count = r->nD + r->nR;
    r->rows = tr_matrix(g, count, r->unknowns), r->driven = tr_matrix(g, count, r->na);
    r->rest = tr_matrix(g, count, 1), r->bias = tr_matrix(g, count, 1);
    r->own_bias = tr_matrix(g, count, 1);
    r->accelerations = tr_matrix(g, r->na, 1);
    for (uint32_t j = 0; j < r->na; j++)
        set(r->accelerations, j, 0, r->system->inputs[r->v[r->a[j]]].rate);
    for (uint32_t i = 0; i < count; i++) {
        const Row *row = any_row(r, i);
        Expr bias = row_bias(row);
        for (uint32_t j = 0; j < r->np; j++) set(r->rows, i, j, row_slope(row, r->p[j]));
        for (uint32_t j = 0; j < r->na; j++) {
            set(r->driven, i, j, row_slope(row, r->a[j]));
            bias = add(bias, mul(row_slope(row, r->a[j]), get(r->accelerations, j, 0)));
        }
        set(r->rest, i, 0, row_rest(row));
        set(r->bias, i, 0, bias);
        set(r->own_bias, i, 0, row_bias(row));
    }
    for (uint32_t j = 0; j < r->ns; j++) set(r->rows, r->s[j], r->np + j, neg(one(g)));
}

// ---- elimination ---------------------------------------------------------------------------

static Expr *expressions(Reduction *r, size_t count)
{
    Expr *list = tr_arena_alloc(&r->graph->arena, count + 1, sizeof *list);
    if (!list) r->graph->failed = true;
    for (size_t i = 0; list && i < count; i++) list[i] = zero(r->graph);
    return list;
}

static bool take_pivot(Reduction *r, uint32_t k, const bool *gone)
{
    Stage *s = &r->stages[k];
    const uint32_t d = r->D[k];
    *s = (Stage){.d = d, .pivot = get(r->rows, k, d)};
    s->h = expressions(r, r->unknowns);
    s->column = expressions(r, r->rows.rows);
    if (r->graph->failed) return false;
    for (uint32_t j = 0; j < r->unknowns; j++)
        if (!gone[j] && j != d) s->h[j] = neg(quotient(get(r->rows, k, j), s->pivot));
    s->k = neg(quotient(get(r->rest, k, 0), s->pivot));
    s->b = neg(quotient(get(r->bias, k, 0), s->pivot));
    for (uint32_t i = 0; i < r->rows.rows; i++) s->column[i] = get(r->rows, i, d);
    return true;
}

static void add_to(Matrix m, uint32_t i, uint32_t j, Expr x) { set(m, i, j, add(get(m, i, j), x)); }

// The rows that are left, without v_d
static void eliminate_from_rows(Reduction *r, uint32_t k)
{
    const Stage *s = &r->stages[k];
    for (uint32_t i = k + 1; i < r->rows.rows; i++) {
        const Expr entry = s->column[i];
        if (is_zero(entry)) continue;
        for (uint32_t j = 0; j < r->unknowns; j++) add_to(r->rows, i, j, mul(entry, s->h[j]));
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
        for (uint32_t j = 0; j < r->unknowns; j++)
            if (j != s->d) sum = add(sum, mul(s->h[j], get(x, j, column)));
        set(x, s->d, column, sum);
    }
}

// Q - c - M a, by inverse dynamics where the system has it
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
    const Output *inverse = tr_system_output(r->system, text_of("inverse"));
    Expr *from = expressions(r, 2 * (size_t)r->np), *force = expressions(r, r->nv);
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

// One velocity after the other: M_ij + h_i M_dj + (M_id + h_i M_dd) h_j,   f_i + h_i f_d
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
static void project_in(const Reduction *r, uint32_t staged, Matrix *M_r, Matrix *f_r)
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
    if (left) {
        const Matrix H_left = pick(H, left, count, NULL, r->kernel);
        const Matrix Ht = tr_matrix_transpose(H_left);
        *M_r = tr_matrix_product(Ht, tr_matrix_product(pick(M, left, count, left, count), H_left));
        *f_r = tr_matrix_product(Ht, pick(f, left, count, NULL, f.columns));
    }
    free(gone);
    free(left);
}

// In the way with the fewest operations. With many velocities only all or nothing is tried.
static void project(Reduction *r, Matrix *M_r, Matrix *f_r)
{
    enum { MANY = 12 };
    size_t least = SIZE_MAX;
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
    r->stages = tr_arena_alloc(&r->graph->arena, r->nD + 1u, sizeof *r->stages);
    bool *gone = calloc(r->unknowns + 1u, sizeof *gone);
    if (!r->stages || !gone) r->graph->failed = true;
    for (uint32_t k = 0; !r->graph->failed && k < r->nD; k++) {
        if (!take_pivot(r, k, gone)) break;
        eliminate_from_rows(r, k);
        gone[r->stages[k].d] = true;
    }
    free(gone);
}

// ---- going back ----------------------------------------------------------------------------

// v' - a: w' from what is left, then each eliminated one in turn
static void find_accelerations(Reduction *r)
{
    const uint32_t columns = r->force.columns;
    Matrix M_r = tr_matrix(r->graph, 0, 0), f_r = M_r;
    project(r, &M_r, &f_r);
    if (r->graph->failed) return;
    const Matrix w = tr_ldlt_solve(tr_ldlt(M_r), f_r);
    r->x = tr_matrix(r->graph, r->unknowns, columns);
    for (uint32_t c = 0; c < columns; c++) {
        for (uint32_t i = 0; i < r->kernel; i++) set(r->x, r->free[i], c, get(w, i, c));
        follow(r, r->x, c, false);
    }
}

// v' of an unknown in the column of Q0: with b on the way instead of a sum at the end
static void add_bias(Reduction *r) { follow(r, r->x, 0, true); }

// What pivots bear for given sums at their columns, from the last to the first
static void solve_back(const Reduction *r, Matrix u)
{
    for (uint32_t k = r->nD; k-- > 0;) {
        const Stage *s = &r->stages[k];
        for (uint32_t c = 0; c < u.columns; c++) {
            Expr sum = get(u, k, c);
            for (uint32_t i = k + 1; i < r->nD; i++)
                sum = sub(sum, mul(s->column[i], get(u, i, c)));
            set(u, k, c, pivot_row(r, k)->is_speed ? zero(r->graph) : quotient(sum, s->pivot));
        }
    }
}

// u: the reactions of pivots when the other rows bear nothing. What is missing in the equation of
// an unknown, e = M (v' - a) - f, is borne by the rows; when one is eliminated, e_i += h_i e_d.
static Matrix pivot_reactions(Reduction *r)
{
    Matrix u = tr_matrix(r->graph, r->nD, r->force.columns);
    for (uint32_t c = 0; c < u.columns; c++)
        for (uint32_t k = 0; k < r->nD; k++) {
            const uint32_t d = r->stages[k].d;
            Expr e = neg(get(r->force, d, c));
            for (uint32_t j = 0; j < r->unknowns; j++)
                e = add(e, mul(get(r->mass, d, j), get(r->x, j, c)));
            for (uint32_t i = 0; i < k; i++) e = add(e, mul(r->stages[i].h[d], get(u, i, c)));
            set(u, k, c, e);
        }
    solve_back(r, u);
    return u;
}

// K: how the other rows are made of the pivots
static void find_dependence(Reduction *r)
{
    r->K = tr_matrix(r->graph, r->nD, r->nR);
    for (uint32_t k = 0; k < r->nD; k++)
        for (uint32_t j = 0; j < r->nR; j++) set(r->K, k, j, r->stages[k].column[r->nD + j]);
    solve_back(r, r->K);
}

// H, J, k, h by substituting later stages into earlier ones
static void find_kernel(Reduction *r)
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
        for (uint32_t j = 0; j < r->unknowns; j++) {
            if (j == s->d || is_zero(s->h[j])) continue;
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

// ---- reactions -----------------------------------------------------------------------------

// Of the reaction's square, in the norm of rows that lead or of those that do not: what leads bears
// as much as it takes to relieve the others.
static Expr weight(const Row *row, bool leads)
{
    if (row->leads != leads) return zero(graph_of(row->weight));
    const Expr scale = number(graph_of(row->weight), row->unit);
    return quotient(row->weight, square(scale));
}

// lambda_R of the rows that are open, with the least norm; u becomes u - K lambda_R
static void choose_least(Reduction *r, const uint32_t *open, uint32_t count, bool leads, Matrix u)
{
    Graph *g = r->graph;
    Matrix K = tr_matrix(g, r->nD, count), KW = tr_matrix(g, count, r->nD);
    for (uint32_t j = 0; j < count; j++)
        for (uint32_t i = 0; i < r->nD; i++) {
            set(K, i, j, get(r->K, i, open[j]));
            set(KW, j, i, mul(get(r->K, i, open[j]), weight(pivot_row(r, i), leads)));
        }
    Matrix N = tr_matrix_product(KW, K);
    for (uint32_t j = 0; j < count; j++)
        set(N, j, j, add(get(N, j, j), weight(&r->system->rows[r->R[open[j]]], leads)));
    const Matrix least = tr_ldlt_solve(tr_ldlt(N), tr_matrix_product(KW, u));
    for (uint32_t j = 0; j < count; j++)
        for (uint32_t k = 0; k < u.columns; k++) {
            set(r->lambda, r->R[open[j]], k, get(least, j, k));
            for (uint32_t i = 0; i < r->nD; i++)
                set(u, i, k, sub(get(u, i, k), mul(get(K, i, j), get(least, j, k))));
        }
}

// Rows that are no pivots, do or do not lead, and whose reaction the model does not give
static uint32_t find_open(const Reduction *r, bool leads, uint32_t *open)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < r->nR; j++) {
        const Row *row = &r->system->rows[r->R[j]];
        if (!row->tension.id && row->leads == leads) open[count++] = j;
    }
    return count;
}

// Reactions of rows that were eliminated in their inner form
static void mix_reactions(Reduction *r)
{
    for (uint32_t i = 0; i + 2 < r->system->row_count; i++) {
        const Row *row = &r->system->rows[i];
        if (!row->inner_slopes || row->inner_first != i) continue;
        for (uint32_t k = 0; k < r->lambda.columns; k++) {
            Expr own[3];
            for (uint32_t j = 0; j < 3; j++) {
                own[j] = zero(r->graph);
                for (uint32_t c = 0; c < 3; c++)
                    own[j] = add(own[j], mul(row[j].mix[c], get(r->lambda, i + c, k)));
            }
            for (uint32_t j = 0; j < 3; j++) set(r->lambda, i + j, k, own[j]);
        }
    }
}

// lambda_P = u - K lambda_R, for a lambda_R that is given (in the first column) or least. Those
// that do not lead come first; a row that leads and is no pivot depends on such rows alone.
static void find_reactions(Reduction *r, Matrix u)
{
    r->lambda = tr_matrix(r->graph, r->system->row_count, u.columns);
    uint32_t *open = room(r, r->nR);
    if (!open) return;
    for (uint32_t j = 0; j < r->nR; j++) {
        const Row *row = &r->system->rows[r->R[j]];
        if (!row->tension.id) continue;
        set(r->lambda, r->R[j], 0, row->tension);
        for (uint32_t i = 0; i < r->nD; i++)
            set(u, i, 0, sub(get(u, i, 0), mul(get(r->K, i, j), row->tension)));
    }
    for (int leads = 0; leads < 2; leads++) {
        const uint32_t count = find_open(r, leads, open);
        if (count) choose_least(r, open, count, leads, u);
    }
    for (uint32_t i = 0; i < r->nD; i++)
        for (uint32_t k = 0; k < u.columns && !pivot_row(r, i)->is_speed; k++)
            set(r->lambda, r->partition->row[i], k, get(u, i, k));
    mix_reactions(r);
}

// x = column 0 + sum over used reactions of lambda_U times their column
static Expr combined(Matrix x, uint32_t i, Matrix used)
{
    Expr sum = get(x, i, 0);
    for (uint32_t j = 0; j < used.rows; j++) sum = add(sum, mul(get(x, i, 1 + j), get(used, j, 0)));
    return sum;
}

// (1 - E) lambda_U = lambda0_U
static Matrix used_reactions(const Reduction *r)
{
    Graph *g = r->graph;
    Matrix left = tr_matrix_identity(g, r->nU), right = tr_matrix(g, r->nU, 1);
    for (uint32_t i = 0; i < r->nU; i++) {
        set(right, i, 0, get(r->lambda, r->U[i], 0));
        for (uint32_t j = 0; j < r->nU; j++)
            set(left, i, j, sub(get(left, i, j), get(r->lambda, r->U[i], 1 + j)));
    }
    return tr_lu_solve(tr_lu(left, r->order, r->order), right);
}

// ---- results -------------------------------------------------------------------------------

static void define(Reduction *r, Expr symbol, Expr meaning)
{
    Input *input = tr_system_input(r->system, symbol);
    if (input) input->definition = meaning;
}

static Expr velocity(const Reduction *r, uint32_t v) { return r->system->inputs[r->v[v]].symbol; }

static void put(Reduction *r, const char *name, Matrix m)
{
    if (m.entries) tr_system_put(r->system, name, m.entries, m.rows, m.columns, r->err);
}

// v_d = h . v + J v_a + k, in terms of those that are eliminated later
static void define_velocities(Reduction *r)
{
    for (uint32_t i = 0; i < r->nD; i++) {
        const Stage *s = &r->stages[i];
        Expr v = s->k;
        for (uint32_t j = 0; j < r->unknowns; j++)
            v = add(v, mul(s->h[j], j < r->np ? velocity(r, r->p[j])
                                              : pivot_row(r, r->s[j - r->np])->symbol));
        for (uint32_t j = 0; j < r->na; j++)
            v = sub(v, mul(quotient(get(r->driven, i, j), s->pivot), velocity(r, r->a[j])));
        define(r, velocity(r, r->p[s->d]), v);
    }
    for (uint32_t i = 0; i < r->system->row_count; i++) // speeds that were not needed
        if (r->system->rows[i].is_speed && !is_pivot(r, i))
            define(r, r->system->rows[i].symbol, r->system->rows[i].rate);
}

static void define_accelerations(Reduction *r, Matrix used)
{
    Matrix all = tr_matrix(r->graph, r->nv, 1);
    for (uint32_t j = 0; j < r->na; j++) set(all, r->a[j], 0, get(r->accelerations, j, 0));
    for (uint32_t i = 0; i < r->np; i++) {
        const Expr x = combined(r->x, i, used);
        const Expr rate = r->system->inputs[r->v[r->p[i]]].rate;
        set(all, r->p[i], 0, x);
        if (rate.id) define(r, rate, x);
    }
    for (uint32_t j = 0; j < r->ns; j++) {
        const Input *speed = tr_system_input(r->system, pivot_row(r, r->s[j])->symbol);
        if (speed) define(r, speed->rate, combined(r->x, r->np + j, used));
    }
    put(r, "vdot", all);
}

static void define_reactions(Reduction *r, Matrix used)
{
    Matrix lambda = tr_matrix(r->graph, r->system->row_count, 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->system->row_count; i++) {
        if (r->system->rows[i].is_speed) continue;
        const Expr x = combined(r->lambda, i, used);
        set(lambda, count++, 0, x);
        define(r, r->system->rows[i].symbol, x);
    }
    lambda.rows = count;
    if (count) put(r, "lambda", lambda);
}

// tau = M_a v' + c_a - Q_a - G_a^T lambda, with Q as it stands, reactions included
static void define_torques(Reduction *r)
{
    Matrix tau = tr_matrix(r->graph, r->na, 1);
    const Output *Q = tr_system_output(r->system, text_of("Q"));
    const Output *vdot = tr_system_output(r->system, text_of("vdot"));
    for (uint32_t j = 0; j < r->na && vdot; j++) {
        const uint32_t a = r->a[j];
        Expr x = sub(get(r->c, a, 0), Q->values[a]);
        for (uint32_t k = 0; k < r->nv; k++)
            x = add(x, mul(get(r->M, a, k), r->system->inputs[r->v[k]].rate));
        for (uint32_t i = 0; i < r->system->row_count; i++)
            if (!r->system->rows[i].is_speed)
                x = sub(x, mul(r->system->rows[i].slopes[a], r->system->rows[i].symbol));
        set(tau, j, 0, x);
        define(r, r->system->inputs[r->v[a]].motor, x);
    }
    if (r->na) put(r, "tau", tau);
}

static bool is_base(const Reduction *r, uint32_t place)
{
    return r->system->inputs[r->v[r->p[place]]].is_base;
}

// Whether an independent speed counts as one of the base: a plain velocity of it, or a formula that
// uses one
static bool is_base_speed(const Reduction *r, uint32_t column)
{
    if (column < r->nI) return is_base(r, r->I[column]);
    const Row *row = pivot_row(r, r->s[column - r->nI]);
    for (uint32_t i = 0; i < r->np; i++)
        if (is_base(r, i) && !is_zero(row_slope(row, r->p[i]))) return true;
    return false;
}

// H = [H_ee H_ep; H_pe D], J = [J_ext; J_int]                                        [B 13, 17]
static void put_blocks(Reduction *r)
{
    uint32_t *rows[2] = {room(r, r->np), room(r, r->np)},
             *columns[2] = {room(r, r->kernel), room(r, r->kernel)};
    uint32_t nr[2] = {0}, nc[2] = {0};
    static const char *const names[2][2] = {{"H_ee", "H_ep"}, {"H_pe", "D"}};
    static const char *const driven[2] = {"J_ext", "J_int"};
    if (r->graph->failed) return;
    for (uint32_t i = 0; i < r->np; i++) {
        const int part = is_base(r, i) ? 0 : 1;
        rows[part][nr[part]++] = i;
    }
    for (uint32_t j = 0; j < r->kernel; j++) {
        const int part = is_base_speed(r, j) ? 0 : 1;
        columns[part][nc[part]++] = j;
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++)
            put(r, names[i][j], pick(r->H, rows[i], nr[i], columns[j], nc[j]));
        put(r, driven[i], pick(r->J, rows[i], nr[i], NULL, r->na));
    }
}

// H^T M v: what the constraints leave of the momentum [B footnote 4]
static void put_momentum(Reduction *r)
{
    Matrix v = tr_matrix(r->graph, r->nv, 1);
    for (uint32_t k = 0; k < r->nv; k++) set(v, k, 0, velocity(r, k));
    const Matrix M_p = pick(r->M, r->p, r->np, NULL, r->nv);
    put(r, "momentum", tr_matrix_product(tr_matrix_transpose(r->H), tr_matrix_product(M_p, v)));
}

static void put_kinematics(Reduction *r)
{
    put(r, "H", r->H);
    put(r, "J", r->J);
    put(r, "k", r->k);
    put(r, "h", r->h);
    put_blocks(r);
    put_momentum(r);
}

// ---- all of it -----------------------------------------------------------------------------

void tr_unreduce(System *system)
{
    for (uint32_t i = 0; i < system->input_count; i++) {
        Input *input = &system->inputs[i];
        const bool free = input->kind == TR_VELOCITY && !is_motion_driven(input);
        if (system->row_count && (free || input->kind == TR_SPEED || input->kind == TR_SOLVED))
            input->definition = expr_at(system->graph, 0);
    }
}

uint32_t tr_independent(const System *system, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < system->input_count; i++) {
        const Input *input = &system->inputs[i];
        if ((input->kind != TR_VELOCITY && input->kind != TR_SPEED) || input->definition.id)
            continue;
        if (list) list[count] = i;
        count++;
    }
    return count;
}

// Each step needs the ones before it; when memory runs out nothing more is built.
static bool solve(Reduction *r, Matrix L)
{
    const Graph *g = r->graph;
    take_rows(r);
    eliminate(r);
    if (g->failed) return false;
    take_dynamics(r, L);
    find_kernel(r);
    if (g->failed) return false;
    find_accelerations(r);
    find_dependence(r);
    if (g->failed) return false;
    find_reactions(r, pivot_reactions(r));
    add_bias(r);
    return !g->failed;
}

static void put_results(Reduction *r)
{
    const Matrix used = used_reactions(r);
    put_kinematics(r);
    define_velocities(r);
    define_accelerations(r, used);
    define_reactions(r, used);
    define_torques(r);
}

void tr_reduce(System *system, const Partition *partition, tr_error *err)
{
    Reduction r = {.system = system, .graph = system->graph, .err = err, .partition = partition};
    if (has_failed(err)) return;
    tr_unreduce(system);
    r.M = output_matrix(&r, "M"), r.c = output_matrix(&r, "c"), r.Q = output_matrix(&r, "Q");
    if (has_failed(err)) return;
    if (!sort(&r)) {
        tr_fail_memory(err);
        return;
    }
    const Matrix L = split_forces(&r);
    if (has_failed(err)) return;
    if (solve(&r, L)) put_results(&r);
    if (system->graph->failed) tr_fail_memory(err);
}
