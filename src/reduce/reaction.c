// SPDX-License-Identifier: Apache-2.0
// Going back, each velocity's own equation as it stood when it was eliminated gives the reaction of
// its pivot (T73) [B 25, 26]:
//
//   lambda_k = (M_d . (v' - a) - f_d - sum of later rows' entries at d times their lambda) / row_d
//
// A row that is the formula of a speed bears nothing. Rows R that are no pivots depend on them, so
// their reactions are free to choose: lambda_P = u - K lambda_R. Least is the weighted norm when
//   (W_R + K^T W_P K) lambda_R = K^T W_P u.
//
// Forces that use reactions make Q = Q0 + L lambda. Everything is linear in the force, so the
// response to each used reaction is found like that to Q0, and the used ones from
//   lambda_U = lambda0_U + E lambda_U.                                                     (T78)
// Least norm, least torques, and rows in other axes: (T46, T74, T75, T77).
#include "expr/merge.h"
#include "reduce/reduction.h"

#include <stdlib.h>

// ---- pivots --------------------------------------------------------------------------------

// What pivots bear for given sums at their columns, from the last to the first
void tr_solve_back(const Reduction *r, Matrix u)
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

// u: the reactions of pivots when the other rows bear nothing (T73) [B 25]. What is missing in the
// equation of an unknown, e = M (v' - a) - f, is borne by the rows; when one is eliminated,
// e_i += h_i e_d.
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
    tr_solve_back(r, u);
    return u;
}

// K: how the other rows are made of the pivots, G_R = K^T G_P                       (T64, T74)
static void find_dependence(Reduction *r)
{
    r->K = tr_matrix(r->graph, r->nD, r->nR);
    for (uint32_t k = 0; k < r->nD; k++)
        for (uint32_t j = 0; j < r->nR; j++) set(r->K, k, j, r->stages[k].column[r->nD + j]);
    tr_solve_back(r, r->K);
}

// ---- reactions -----------------------------------------------------------------------------

// Of the reaction's square, in the norm of rows that lead or of those that do not: what leads bears
// as much as it takes to relieve the others.
static Expr weight(const Row *row, bool leads)
{
    if (row->leads != leads) return zero(graph_of(row->weight));
    return quotient(row->weight, square(row->arm));
}

// Of many rows each depends on few pivots, but in N nearly all of them may meet. By pivots there is
// less to fill then, those that few rows depend on first:
//   (W_P^-1 + K W_R^-1 K^T) m = u,   lambda_R = W_R^-1 K^T m,   lambda_P = W_P^-1 m       (T192)
typedef struct Sharing {
    const Reduction *r;
    const uint32_t *open; // rows, among R
    uint32_t count;
    bool leads;
    uint32_t *pivot, *share; // those that rows depend on, and how many do
    uint32_t pivots;
} Sharing;

static Expr open_weight(const Sharing *s, uint32_t j)
{
    return weight(&s->r->system->rows[s->r->R[s->open[j]]], s->leads);
}
static Expr share_of(const Sharing *s, uint32_t pivot, uint32_t j)
{
    return get(s->r->K, s->pivot[pivot], s->open[j]);
}

// Sorts the pivots; false where one of them has no weight.
static bool sort_pivots(Sharing *s)
{
    bool good = true;
    for (uint32_t i = 0; i < s->r->nD; i++) {
        uint32_t share = 0, at = s->pivots;
        for (uint32_t j = 0; j < s->count; j++) share += !is_zero(get(s->r->K, i, s->open[j]));
        if (!share) continue;
        for (; at > 0 && s->share[at - 1] > share; at--)
            s->pivot[at] = s->pivot[at - 1], s->share[at] = s->share[at - 1];
        s->pivot[at] = i, s->share[at] = share, s->pivots++;
        good = good && !is_zero(weight(pivot_row(s->r, i), s->leads));
    }
    return good;
}

// Operations of the products that make a symmetric matrix, and of its factors as they fill: entries
// are where two meet in something third
static size_t count_filling(const bool *K, uint32_t n, uint32_t third, size_t step, size_t across,
                            bool *is_there)
{
    size_t count = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) {
            bool *at = &is_there[b * n + a];
            *at = a == b;
            for (size_t j = 0; j < third; j++)
                if (K[a * step + j * across] && K[b * step + j * across]) *at = true, count++;
        }
    for (size_t k = 0; k < n; k++)
        for (size_t a = k + 1; a < n; a++)
            for (size_t b = a; is_there[k * n + a] && b < n; b++)
                if (is_there[k * n + b]) is_there[a * n + b] = true, count++;
    return count;
}

// Whether that takes less by pivots, where there are quotients besides
static bool is_shorter_by_pivots(const Sharing *s)
{
    const size_t n = s->pivots, m = s->count, most = n > m ? n : m;
    bool *K = calloc(n * m + most * most + 1, sizeof *K);
    if (!K) return s->r->graph->failed = true, false;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t j = 0; j < m; j++) K[a * m + j] = !is_zero(share_of(s, a, j));
    const size_t by_pivots = count_filling(K, s->pivots, s->count, m, 1, K + n * m),
                 by_rows = count_filling(K, s->count, s->pivots, 1, m, K + n * m);
    free(K);
    return by_pivots + by_pivots / 5 < by_rows;
}

static Matrix pivot_equations(const Sharing *s)
{
    Graph *g = s->r->graph;
    Matrix S = tr_matrix(g, s->pivots, s->pivots);
    for (uint32_t a = 0; a < s->pivots; a++)
        for (uint32_t b = 0; b <= a; b++) {
            Expr sum = zero(g);
            for (uint32_t j = 0; j < s->count; j++)
                sum = add(sum,
                          mul(share_of(s, a, j), quotient(share_of(s, b, j), open_weight(s, j))));
            if (a == b)
                sum = add(sum, quotient(one(g), weight(pivot_row(s->r, s->pivot[a]), s->leads)));
            set(S, a, b, sum);
            set(S, b, a, sum);
        }
    return S;
}

static void share_out(const Sharing *s, Matrix u, Matrix lambda)
{
    Graph *g = s->r->graph;
    const Matrix m = tr_ldlt_solve(tr_ldlt(pivot_equations(s)),
                                   tr_pick(u, s->pivot, s->pivots, NULL, u.columns));
    for (uint32_t k = 0; k < u.columns && !g->failed; k++) {
        for (uint32_t j = 0; j < s->count; j++) {
            Expr sum = zero(g);
            for (uint32_t a = 0; a < s->pivots; a++)
                sum = add(sum, mul(share_of(s, a, j), get(m, a, k)));
            set(lambda, s->r->R[s->open[j]], k, quotient(sum, open_weight(s, j)));
        }
        for (uint32_t a = 0; a < s->pivots; a++)
            set(u, s->pivot[a], k,
                quotient(get(m, a, k), weight(pivot_row(s->r, s->pivot[a]), s->leads)));
    }
}

// lambda_R of the rows that are open, with the least norm; u becomes u - K lambda_R:
//   (W_R + K^T W_P K) lambda_R = K^T W_P u                           (T75) [B Remark 7, VI.A]
static void choose_least(const Reduction *r, const uint32_t *open, uint32_t count, bool leads,
                         Matrix u, Matrix lambda)
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
            set(lambda, r->R[open[j]], k, get(least, j, k));
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

// Reactions of rows that were eliminated in their inner form (T46):
//   lambda_k = direction_k . lambda_root
static void mix_reactions(const Reduction *r, Matrix lambda)
{
    for (uint32_t i = 0; i + 2 < r->system->row_count; i++) {
        const Row *row = &r->system->rows[i];
        if (!row->is_mixed || row->inner_first != i) continue;
        for (uint32_t k = 0; k < lambda.columns; k++) {
            Expr own[3];
            for (uint32_t j = 0; j < 3; j++) {
                own[j] = zero(r->graph);
                const bool is_along = r->is_local && row[j].base != NO_LINK;
                const Expr *mix = is_along ? row[j].mix_along : row[j].mix;
                for (uint32_t c = 0; c < 3; c++)
                    own[j] = add(own[j], mul(mix[c], get(lambda, i + c, k)));
            }
            for (uint32_t j = 0; j < 3; j++) set(lambda, i + j, k, own[j]);
        }
    }
}

// What the pivots bear, among all rows
static void take_pivots(const Reduction *r, Matrix u, Matrix lambda)
{
    for (uint32_t i = 0; i < r->nD; i++)
        for (uint32_t k = 0; k < u.columns && !pivot_row(r, i)->is_speed; k++)
            set(lambda, r->partition->row[i], k, get(u, i, k));
}

// lambda_P = u - K lambda_R (T74) [B 26], for a lambda_R that is given (in the first column) or
// least. Those that do not lead come first; a row that leads and is no pivot depends on such rows
// alone.
void tr_distribute(Reduction *r, Matrix u)
{
    r->lambda = tr_matrix(r->graph, r->system->row_count, u.columns);
    uint32_t *open = tr_reduction_room(r, r->nR);
    if (!open) return;
    for (uint32_t j = 0; j < r->nR; j++) {
        const Row *row = &r->system->rows[r->R[j]];
        if (!row->tension.id) continue;
        set(r->lambda, r->R[j], 0, row->tension);
        for (uint32_t i = 0; i < r->nD; i++)
            set(u, i, 0, sub(get(u, i, 0), mul(get(r->K, i, j), row->tension)));
    }
    if (r->nR && tr_goes_along(r)) // what is nothing is not seen to be so, and N fills up with it
        tr_merge(r->graph, r->K.entries, (size_t)r->K.rows * r->K.columns, r->K.entries);
    for (int leads = 0; leads < 2; leads++) {
        const uint32_t count = find_open(r, leads, open);
        if (!count) continue;
        Sharing s = {.r = r, .open = open, .count = count, .leads = leads};
        s.pivot = tr_reduction_room(r, r->nD), s.share = tr_reduction_room(r, r->nD);
        if (r->graph->failed) return;
        if (sort_pivots(&s) && is_shorter_by_pivots(&s))
            share_out(&s, u, r->lambda);
        else
            choose_least(r, open, count, leads, u, r->lambda);
    }
    take_pivots(r, u, r->lambda);
    mix_reactions(r, r->lambda);
}

void tr_find_reactions(Reduction *r)
{
    find_dependence(r);
    const Matrix u = pivot_reactions(r);
    if (!r->graph->failed) tr_distribute(r, u);
}

// ---- torques -------------------------------------------------------------------------------
//
// Driven joints that work against each other leave reactions free to choose as well: those that do
// nothing to what is passive, lambda + N y. The torques tau - B y, B = G_a^T N, are least for
//   B^T B y = B^T tau.
// Then those reactions E are left that do nothing to driven joints either; least is the norm for
//   E^T W E z = -E^T W lambda.

// Rows that are no pivots, whose reaction the model does not give, and that do or do not set driven
// joints against each other
static uint32_t find_free(const Reduction *r, bool antagonist, bool leads, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < r->nR; j++) {
        const Row *row = &r->system->rows[r->R[j]];
        if (!row->tension.id && r->partition->antagonist[j] == antagonist &&
            (antagonist || row->leads == leads))
            list[count++] = j;
    }
    return count;
}

// A column for each of these rows: 1 there, and what the pivots bear then
static Matrix free_reactions(const Reduction *r, const uint32_t *list, uint32_t count)
{
    Matrix N = tr_matrix(r->graph, r->system->row_count, count),
           u = tr_matrix(r->graph, r->nD, count);
    for (uint32_t j = 0; j < count && !r->graph->failed; j++) {
        set(N, r->R[list[j]], j, one(r->graph));
        for (uint32_t i = 0; i < r->nD; i++) set(u, i, j, neg(get(r->K, i, list[j])));
    }
    if (!r->graph->failed) take_pivots(r, u, N);
    if (!r->graph->failed) mix_reactions(r, N);
    return N;
}

// G_a^T N
static Matrix driven_forces(const Reduction *r, Matrix N)
{
    Matrix B = tr_matrix(r->graph, r->na, N.columns);
    for (uint32_t i = 0; i < N.rows && !r->graph->failed; i++) {
        const Row *row = &r->system->rows[i];
        for (uint32_t k = 0; k < r->na && !row->is_speed; k++)
            for (uint32_t j = 0; j < N.columns; j++)
                set(B, k, j, add(get(B, k, j), mul(row->slopes[r->a[k]], get(N, i, j))));
    }
    return B;
}

// Of all that torques leave free: E^T W E z = -E^T W lambda                               (T77)
static void relieve(const Reduction *r, const uint32_t *list, uint32_t count, bool leads, Matrix N,
                    Matrix B, Matrix BtB)
{
    Matrix E = free_reactions(r, list, count), WE = tr_matrix(r->graph, E.rows, count);
    const Matrix share =
        tr_ldlt_solve(BtB, tr_matrix_product(tr_matrix_transpose(B), driven_forces(r, E)));
    E = tr_matrix_sub(E, tr_matrix_product(N, share));
    for (uint32_t i = 0; i < E.rows && !r->graph->failed; i++) {
        const Row *row = &r->system->rows[i];
        for (uint32_t j = 0; j < count && !row->is_speed; j++)
            set(WE, i, j, mul(weight(row, leads), get(E, i, j)));
    }
    const Matrix WEt = tr_matrix_transpose(WE);
    const Matrix z =
        tr_ldlt_solve(tr_ldlt(tr_matrix_product(WEt, E)), tr_matrix_product(WEt, r->lambda));
    const Matrix less = tr_matrix_product(E, z);
    for (uint32_t i = 0; i < E.rows && !r->graph->failed; i++)
        set(r->lambda, i, 0, sub(get(r->lambda, i, 0), get(less, i, 0)));
}

// B^T B y = B^T tau,   lambda <- lambda + N y                          (T77) [B Remark 7]
void tr_least_torques(Reduction *r)
{
    uint32_t *list = tr_reduction_room(r, r->nR);
    const uint32_t count = list ? find_free(r, true, false, list) : 0;
    if (!count) return;
    tr_take_slopes(r);
    const Matrix N = free_reactions(r, list, count), B = driven_forces(r, N),
                 Bt = tr_matrix_transpose(B), BtB = tr_ldlt(tr_matrix_product(Bt, B)),
                 borne = driven_forces(r, r->lambda);
    Matrix tau = tr_matrix(r->graph, r->na, 1);
    for (uint32_t k = 0; k < r->na && !r->graph->failed; k++)
        set(tau, k, 0, sub(tr_bare_torque(r, k), get(borne, k, 0)));
    const Matrix y = tr_ldlt_solve(BtB, tr_matrix_product(Bt, tau)), more = tr_matrix_product(N, y);
    for (uint32_t i = 0; i < N.rows && !r->graph->failed; i++)
        set(r->lambda, i, 0, add(get(r->lambda, i, 0), get(more, i, 0)));
    for (int leads = 0; leads < 2 && !r->graph->failed; leads++) {
        const uint32_t others = find_free(r, false, leads, list);
        if (others) relieve(r, list, others, leads, N, B, BtB);
    }
}

bool tr_has_antagonists(const Reduction *r)
{
    for (uint32_t j = 0; r->partition->antagonist && j < r->nR; j++)
        if (r->partition->antagonist[j]) return true;
    return false;
}

// (1 - E) lambda_U = lambda0_U                                                          (T78)
Matrix tr_used_reactions(const Reduction *r)
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
