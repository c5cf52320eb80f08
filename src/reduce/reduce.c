// SPDX-License-Identifier: Apache-2.0
// The rows that are pivots, A v_D + B w + C v_a + g = E w_s, give the dependent velocities D of the
// independent ones I: plain velocities, and the speeds s that the model chose (E picks the rows
// that are their formulas). One factorisation of A serves them all:
//
//   v_p = H w + J v_a + k,    v_p' = H w' + J v_a' + h,    A h_D = -(G' v + g')          [B 11, 12]
//   H^T M_pp H w' = H^T f,    f = Q_p - c_p - M_pa v_a' - M_pp (J v_a' + h)              [B 22, 23]
//   A^T lambda = (M_pp v_p' + M_pa v_a' + c_p - Q_p)_D                                   [B 25, 26]
//   tau = M_ap v_p' + M_aa v_a' + c_a - Q_a - G_a^T lambda                               [B 27]
//
// Rows R that are no pivots depend on them, G_R = K^T G_P, so their reactions are free to choose:
// lambda_P = u - K lambda_R with u from the line above. Least is the weighted norm when
//   (W_R + K^T W_P K) lambda_R = K^T W_P u.
//
// Forces that use reactions make Q = Q0 + L lambda. Everything is linear in the force, so the
// response to each used reaction is found like that to Q0, and the used ones from
//   lambda_U = lambda0_U + E lambda_U.
#include "reduce/reduce.h"

#include "expr/derivative.h"
#include "expr/walk.h"

#include <stdlib.h>

typedef struct Reduction {
    System *system;
    Graph *graph;
    tr_error *err;
    const Partition *partition;
    uint32_t *v; // all velocities, as inputs, in order
    uint32_t *p; // those that are not driven: places in v
    uint32_t *a; // those that are
    uint32_t *D; // dependent: places in p
    uint32_t *I; // the other ones
    uint32_t *s; // pivots whose rows are formulas of speeds
    uint32_t *R; // rows that are no pivots
    uint32_t *U; // rows whose reactions forces use
    uint32_t nv, np, na, nD, nI, ns, nR, nU, kernel;
    Matrix M, c, Q; // of the free dynamics; Q without reactions
    LU A;
    uint32_t *order; // 0, 1, 2, ...: pivots are sorted already
    Matrix H, J, k, h;
    Matrix accelerations; // v_a'
    Matrix bias;          // J v_a' + h
    Matrix K;             // pivots * R
    Matrix w, vp, lambda; // w', v_p' and lambda: one column for Q0, then one for each of U
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
    r->kernel = r->nI + r->ns;
    return true;
}

// ---- the free dynamics ---------------------------------------------------------------------

static Matrix output_matrix(Reduction *r, const char *name)
{
    const Output *output = tr_system_output(r->system, text_of(name));
    Matrix m = tr_matrix(r->graph, output ? output->rows : 0, output ? output->columns : 0);
    if (!output)
        tr_fail(r->err, TR_USAGE, (Place){0}, "the system has no output '%s' to reduce", name);
    for (uint32_t i = 0; i < m.rows; i++)
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

// ---- kinematics ----------------------------------------------------------------------------

static const Row *pivot_row(const Reduction *r, uint32_t k)
{
    return &r->system->rows[r->partition->row[k]];
}

static Expr slope(const Row *row, uint32_t v) { return row->slopes[v]; }

// A^-1 (B | C | g | G' v + g' | E), and from it H, J, k, h
static void find_kernel(Reduction *r)
{
    Graph *g = r->graph;
    Matrix A = tr_matrix(g, r->nD, r->nD), right = tr_matrix(g, r->nD, r->kernel + r->na + 2);
    const uint32_t at_J = r->kernel, at_k = at_J + r->na, at_h = at_k + 1;
    for (uint32_t i = 0; i < r->nD; i++) {
        const Row *row = pivot_row(r, i);
        for (uint32_t j = 0; j < r->nD; j++) set(A, i, j, slope(row, r->p[r->D[j]]));
        for (uint32_t j = 0; j < r->nI; j++) set(right, i, j, neg(slope(row, r->p[r->I[j]])));
        for (uint32_t j = 0; j < r->na; j++) set(right, i, at_J + j, neg(slope(row, r->a[j])));
        set(right, i, at_k, neg(row->rest));
        set(right, i, at_h, neg(row->bias));
    }
    for (uint32_t j = 0; j < r->ns; j++) set(right, r->s[j], r->nI + j, one(g));
    r->A = tr_lu(A, r->order, r->order);
    const Matrix X = tr_lu_solve(r->A, right);
    r->H = tr_matrix(g, r->np, r->kernel), r->J = tr_matrix(g, r->np, r->na);
    r->k = tr_matrix(g, r->np, 1), r->h = tr_matrix(g, r->np, 1);
    for (uint32_t j = 0; j < r->nI; j++) set(r->H, r->I[j], j, one(g));
    for (uint32_t i = 0; i < r->nD; i++) {
        for (uint32_t j = 0; j < r->kernel; j++) set(r->H, r->D[i], j, get(X, i, j));
        for (uint32_t j = 0; j < r->na; j++) set(r->J, r->D[i], j, get(X, i, at_J + j));
        set(r->k, r->D[i], 0, get(X, i, at_k));
        set(r->h, r->D[i], 0, get(X, i, at_h));
    }
    r->accelerations = tr_matrix(g, r->na, 1);
    for (uint32_t j = 0; j < r->na; j++)
        set(r->accelerations, j, 0, r->system->inputs[r->v[r->a[j]]].rate);
    r->bias = tr_matrix_add(tr_matrix_product(r->J, r->accelerations), r->h);
}

// ---- dynamics ------------------------------------------------------------------------------

// w' and v_p' under the forces of each column; what moves anyway goes with the first.
static void find_accelerations(Reduction *r, Matrix M_pp, Matrix known, Matrix L_p)
{
    Graph *g = r->graph;
    Matrix F = tr_matrix(g, r->np, 1 + r->nU);
    const Matrix moved = tr_matrix_product(M_pp, r->bias);
    for (uint32_t i = 0; i < r->np; i++) {
        set(F, i, 0, neg(add(get(known, i, 0), get(moved, i, 0))));
        for (uint32_t j = 0; j < r->nU; j++) set(F, i, 1 + j, get(L_p, i, j));
    }
    const Matrix Ht = tr_matrix_transpose(r->H);
    const Matrix M_r = tr_matrix_product(Ht, tr_matrix_product(M_pp, r->H));
    r->w = tr_ldlt_solve(tr_ldlt(M_r), tr_matrix_product(Ht, F));
    r->vp = tr_matrix_product(r->H, r->w);
    for (uint32_t i = 0; i < r->np; i++)
        set(r->vp, i, 0, add(get(r->vp, i, 0), get(r->bias, i, 0)));
}

// K: how the other rows are made of the pivots, A^T K = (G_R)_D^T
static void find_dependence(Reduction *r)
{
    Matrix G_R = tr_matrix(r->graph, r->nD, r->nR);
    for (uint32_t j = 0; j < r->nR; j++)
        for (uint32_t i = 0; i < r->nD; i++)
            set(G_R, i, j, slope(&r->system->rows[r->R[j]], r->p[r->D[i]]));
    r->K = tr_lu_solve_transposed(r->A, G_R);
    for (uint32_t j = 0; j < r->ns; j++) // formulas of speeds bear nothing
        for (uint32_t k = 0; k < r->nR; k++) set(r->K, r->s[j], k, zero(r->graph));
}

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

// v_D = H w + J v_a + k
static void define_velocities(Reduction *r)
{
    for (uint32_t i = 0; i < r->nD; i++) {
        const uint32_t at = r->D[i];
        Expr v = get(r->k, at, 0);
        for (uint32_t j = 0; j < r->nI; j++)
            v = add(v, mul(get(r->H, at, j), velocity(r, r->p[r->I[j]])));
        for (uint32_t j = 0; j < r->ns; j++)
            v = add(v, mul(get(r->H, at, r->nI + j), pivot_row(r, r->s[j])->symbol));
        for (uint32_t j = 0; j < r->na; j++)
            v = add(v, mul(get(r->J, at, j), velocity(r, r->a[j])));
        define(r, velocity(r, r->p[at]), v);
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
        const Expr x = combined(r->vp, i, used);
        const Expr rate = r->system->inputs[r->v[r->p[i]]].rate;
        set(all, r->p[i], 0, x);
        if (rate.id) define(r, rate, x);
    }
    for (uint32_t j = 0; j < r->ns; j++) {
        const Input *speed = tr_system_input(r->system, pivot_row(r, r->s[j])->symbol);
        if (speed) define(r, speed->rate, combined(r->w, r->nI + j, used));
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
                x = sub(x, mul(slope(&r->system->rows[i], a), r->system->rows[i].symbol));
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
        if (is_base(r, i) && !is_zero(slope(row, r->p[i]))) return true;
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

// What all columns of forces know: M_pa v_a' + c_p - Q_p
static Matrix known_forces(Reduction *r)
{
    const Matrix M_pa = pick(r->M, r->p, r->np, r->a, r->na);
    Matrix known = tr_matrix_product(M_pa, r->accelerations);
    for (uint32_t i = 0; i < r->np; i++) {
        const Expr force = sub(get(r->c, r->p[i], 0), get(r->Q, r->p[i], 0));
        set(known, i, 0, add(get(known, i, 0), force));
    }
    return known;
}

static void solve(Reduction *r, Matrix L)
{
    const Matrix M_pp = pick(r->M, r->p, r->np, r->p, r->np);
    const Matrix L_p = pick(L, r->p, r->np, NULL, r->nU), known = known_forces(r);
    find_accelerations(r, M_pp, known, L_p);
    Matrix b = tr_matrix_product(pick(M_pp, r->D, r->nD, NULL, r->np), r->vp);
    for (uint32_t i = 0; i < r->nD; i++) {
        set(b, i, 0, add(get(b, i, 0), get(known, r->D[i], 0)));
        for (uint32_t j = 0; j < r->nU; j++)
            set(b, i, 1 + j, sub(get(b, i, 1 + j), get(L_p, r->D[i], j)));
    }
    find_dependence(r);
    find_reactions(r, tr_lu_solve_transposed(r->A, b));
}

void tr_reduce(System *system, const Partition *partition, tr_error *err)
{
    Reduction r = {.system = system, .graph = system->graph, .err = err, .partition = partition};
    if (has_failed(err)) return;
    tr_unreduce(system);
    r.M = output_matrix(&r, "M"), r.c = output_matrix(&r, "c"), r.Q = output_matrix(&r, "Q");
    if (has_failed(err) || !sort(&r)) return;
    const Matrix L = split_forces(&r);
    if (has_failed(err)) return;
    find_kernel(&r);
    solve(&r, L);
    const Matrix used = used_reactions(&r);
    put_kinematics(&r);
    define_velocities(&r);
    define_accelerations(&r, used);
    define_reactions(&r, used);
    define_torques(&r);
    if (system->graph->failed) tr_fail_memory(err);
}
