// SPDX-License-Identifier: Apache-2.0
// One step of Newton's method towards a pose. Where wheels touch, u, follows the unknowns q by
// tangency T(q, u) = 0; equalities are solved for as many unknowns; what is left is a small problem
// of its own:
//
//   P = -T_u^-1 T_q,   du = -T_u^-1 T,   f_q + f_u P = slopes of f                       (T285)
//   d = d0 + Z p                                                                         (T286)
//   least F' Z p + p.Z^T H Z p/2   with   gaps + their slopes p >= 0                     (T287)
#include "settle/settle.h"

#include "num/dense.h"
#include "num/nonnegative.h"
#include "num/solve.h"

#include <math.h>
#include <string.h>

#define NO_PIVOT_LEFT 1e-9  // of rows of length one
#define POSITIVE      1e-10 // a second slope that is one, against the largest

// ---- terms and slopes ----------------------------------------------------------------------

// P and du of one contact; its rows of J begin behind the terms
static void follow_touch(Settle *p, uint32_t i)
{
    const uint32_t n = p->unknowns, wide = n + p->touches, m = term_count(p);
    const double *T = p->f + m + 2 * i, *J = p->J + (size_t)(m + 2 * i) * wide;
    const double *u = J + n + 2 * i, *v = u + wide;
    const double det = u[0] * v[1] - u[1] * v[0];
    double *P = p->P + (size_t)2 * i * n;
    for (uint32_t k = 0; k < n; k++) {
        P[k] = -(v[1] * J[k] - u[1] * J[wide + k]) / det;
        P[n + k] = -(u[0] * J[wide + k] - v[0] * J[k]) / det;
    }
    p->du[2 * i] = -(v[1] * T[0] - u[1] * T[1]) / det;
    p->du[2 * i + 1] = -(u[0] * T[1] - v[0] * T[0]) / det;
}

// Slopes of a term with u following, and the term where u belongs
static void take_total(Settle *p, uint32_t row)
{
    const uint32_t n = p->unknowns, wide = n + p->touches;
    const double *J = p->J + (size_t)row * wide;
    double *G = p->G + (size_t)row * n;
    memcpy(G, J, n * sizeof *G);
    p->f0[row] = p->f[row];
    for (uint32_t i = 0; i < p->touches; i++) {
        const double by_u = J[n + i];
        if (by_u == 0) continue;
        p->f0[row] += by_u * p->du[i];
        for (uint32_t k = 0; k < n; k++) G[k] += by_u * p->P[(size_t)i * n + k];
    }
}

// Angles that are held count from -pi to pi.
static void take_targets(Settle *p)
{
    for (uint32_t i = 0; i < p->hold_count; i++) {
        double *off = &p->f[p->first[GROUP_HELD] + i];
        *off -= p->target[i];
        if (p->turns[i]) *off -= 2 * M_PI * floor(*off / (2 * M_PI) + 0.5);
    }
    for (uint32_t i = 0; i < group_size(p, GROUP_ATTITUDE); i++)
        p->f[p->first[GROUP_ATTITUDE] + i] -= p->attitude[i];
}

bool tr_settle_evaluate(Settle *p)
{
    const uint32_t rows = term_count(p) + p->touches, wide = p->unknowns + p->touches;
    evaluate_into(&p->slopes, p->in, p->values);
    memcpy(p->f, p->values, rows * sizeof *p->f);
    for (size_t e = 0; e < p->slope_count; e++)
        p->J[(size_t)p->slope_entries[e].row * wide + p->slope_entries[e].column] =
            p->values[rows + e];
    take_targets(p);
    for (uint32_t i = 0; i < p->touches / 2; i++) follow_touch(p, i);
    for (uint32_t row = 0; row < term_count(p); row++) take_total(p, row);
    return all_finite(p->f0, term_count(p)) &&
           all_finite(p->G, (size_t)term_count(p) * p->unknowns);
}

// ---- equalities ----------------------------------------------------------------------------

// The inverse is for multipliers, which only what is least asks for.
static size_t split_width(const Settle *p)
{
    return (size_t)p->unknowns + (p->way->least < GROUPS ? p->split.rows : 0) + 1;
}

// A row with its place among the rows, and what it lacks; of length one
static void put_row(Settle *p, uint32_t i, const double *slopes, double off)
{
    const uint32_t n = p->unknowns;
    double *W = p->split.W + (size_t)i * split_width(p);
    const double size = tr_norm(slopes, n), share = size > 0 ? 1 / size : 0;
    memset(W, 0, split_width(p) * sizeof *W);
    for (uint32_t k = 0; k < n; k++) W[k] = p->is_idle[k] ? 0 : slopes[k] * share;
    if (p->way->least < GROUPS) W[n + i] = share;
    W[split_width(p) - 1] = -off * share;
}

// Gaps that may open are equalities only where they push.
static bool is_equality(const Settle *p, int group, uint32_t term)
{
    const uint32_t i = term - p->first[group];
    return group != GROUP_GAPS || !p->way->opens || (p->is_closed[i] && p->lambda[i] > 0);
}

static void list_rows(Settle *p, unsigned groups)
{
    struct Split *s = &p->split;
    s->rows = 0;
    for (int group = 0; group < GROUPS; group++)
        for (uint32_t i = p->first[group]; i < p->first[group + 1] && (groups >> group & 1); i++)
            if (is_equality(p, group, i)) s->row[s->rows++] = i;
    const uint32_t terms = s->rows;
    s->rows += p->quaternions;
    for (uint32_t i = 0; i < terms; i++)
        put_row(p, i, p->G + (size_t)s->row[i] * p->unknowns, p->f0[s->row[i]]);
    for (uint32_t i = 0; i < p->quaternions; i++) {
        const double *q = p->in + p->place[p->quaternion[i]];
        double *slopes = p->d; // room
        memset(slopes, 0, p->unknowns * sizeof *slopes);
        memcpy(slopes + p->quaternion[i], q, 4 * sizeof *q);
        s->row[terms + i] = term_count(p) + i;
        put_row(p, terms + i, slopes, tr_unit_residual(q));
    }
}

// Rows of loops and quaternions come before what is held, and that before the rest: what is too
// much is the last of them.
static int rank_of_row(const Settle *p, uint32_t row)
{
    if (row < p->first[GROUP_HELD] || row >= term_count(p)) return 0;
    return row < p->first[GROUP_HELD + 1] ? 1 : 2;
}

// The largest entry of rows that are left, of those that come first
static bool find_pivot(const Settle *p, int rank, uint32_t *row, uint32_t *column)
{
    const struct Split *s = &p->split;
    double most = NO_PIVOT_LEFT;
    for (uint32_t i = 0; i < s->rows; i++) {
        if (s->pivot[i] != NO_PIVOT || rank_of_row(p, s->row[i]) != rank) continue;
        const double *W = s->W + (size_t)i * split_width(p);
        for (uint32_t k = 0; k < p->unknowns; k++)
            if (fabs(W[k]) > most) most = fabs(W[k]), *row = i, *column = k;
    }
    return most > NO_PIVOT_LEFT;
}

static void eliminate(Settle *p, uint32_t row, uint32_t column)
{
    struct Split *s = &p->split;
    const size_t wide = split_width(p);
    double *own = s->W + (size_t)row * wide;
    const double share = 1 / own[column];
    s->pivot[row] = column, s->rank++;
    for (size_t k = 0; k < wide; k++) own[k] *= share;
    for (uint32_t i = 0; i < s->rows; i++) {
        double *W = s->W + (size_t)i * wide;
        const double times = W[column];
        if (i == row || times == 0) continue;
        for (size_t k = 0; k < wide; k++) W[k] -= times * own[k];
        W[column] = 0;
    }
}

static void list_free(Settle *p)
{
    struct Split *s = &p->split;
    s->free = 0;
    for (uint32_t k = 0; k < p->unknowns; k++) {
        bool is_given = p->is_idle[k];
        for (uint32_t i = 0; i < s->rows && !is_given; i++) is_given = s->pivot[i] == k;
        if (!is_given) s->own[s->free++] = k;
    }
}

void tr_settle_split(Settle *p, unsigned groups)
{
    struct Split *s = &p->split;
    uint32_t row = 0, column = 0;
    s->rank = 0;
    list_rows(p, groups);
    for (uint32_t i = 0; i < s->rows; i++) s->pivot[i] = NO_PIVOT;
    for (int rank = 0; rank < 3; rank++)
        while (find_pivot(p, rank, &row, &column)) eliminate(p, row, column);
    list_free(p);
    const uint32_t n = p->unknowns, free = s->free;
    memset(s->Z, 0, (size_t)n * free * sizeof *s->Z);
    memset(s->d0, 0, n * sizeof *s->d0);
    for (uint32_t j = 0; j < free; j++) s->Z[(size_t)s->own[j] * free + j] = 1;
    for (uint32_t i = 0; i < s->rows; i++) {
        if (s->pivot[i] == NO_PIVOT) continue;
        const double *W = s->W + (size_t)i * split_width(p);
        s->d0[s->pivot[i]] = W[split_width(p) - 1];
        for (uint32_t j = 0; j < free; j++) s->Z[(size_t)s->pivot[i] * free + j] = -W[s->own[j]];
    }
}

double tr_settle_reduced(const Settle *p, const double *slopes, double value, double *out)
{
    const struct Split *s = &p->split;
    memset(out, 0, s->free * sizeof *out);
    for (uint32_t k = 0; k < p->unknowns; k++) {
        if (slopes[k] == 0) continue;
        value += slopes[k] * s->d0[k];
        for (uint32_t j = 0; j < s->free; j++) out[j] += slopes[k] * s->Z[(size_t)k * s->free + j];
    }
    return value;
}

// ---- the problem ---------------------------------------------------------------------------

static double weight_of(const Settle *p, uint32_t term)
{
    return p->way->least == GROUP_GAPS ? p->weight[term - p->first[GROUP_GAPS]] : 1;
}

// The gradient of what is least, by unknowns
static void take_gradient(const Settle *p, double *g)
{
    const TermGroup least = p->way->least;
    const uint32_t n = p->unknowns;
    memset(g, 0, n * sizeof *g);
    for (uint32_t i = p->first[least]; i < p->first[least + 1]; i++) {
        const double times = least == GROUP_ENERGY ? 1 : weight_of(p, i) * p->f0[i];
        for (uint32_t k = 0; k < n; k++) g[k] += times * p->G[(size_t)i * n + k];
    }
}

// What equalities take: g - G^T lambda = E^T mu for the unknowns that they give
static void take_multipliers(Settle *p, const double *g)
{
    const struct Split *s = &p->split;
    const uint32_t n = p->unknowns, gaps = p->first[GROUP_GAPS];
    memset(p->mu, 0, (term_count(p) + p->quaternions) * sizeof *p->mu);
    for (uint32_t i = 0; i < s->rows; i++) {
        if (s->pivot[i] == NO_PIVOT) continue;
        double left = g[s->pivot[i]];
        for (uint32_t k = 0; k < p->contact_count && p->way->opens; k++)
            left -= p->lambda[k] * p->G[(size_t)(gaps + k) * n + s->pivot[i]];
        const double *inverse = s->W + (size_t)i * split_width(p) + n;
        for (uint32_t k = 0; k < s->rows; k++) p->mu[s->row[k]] += left * inverse[k];
    }
}

static double coefficient_of(const Settle *p, int group, uint32_t term)
{
    if (group == (int)p->way->least)
        return group == GROUP_ENERGY ? 1 : weight_of(p, term) * p->f0[term];
    if (group == GROUP_GAPS && p->way->opens) return -p->lambda[term - p->first[group]];
    return is_zero_group(p, (TermGroup)group) ? -p->mu[term] : 0;
}

// H = (L_q)_q + (L_q)_u P, where squares are least with those of slopes                 (T287)
void tr_settle_bend(Settle *p)
{
    const uint32_t n = p->unknowns;
    double *H = p->H;
    take_gradient(p, p->g);
    take_multipliers(p, p->g);
    for (int group = 0; group < GROUPS; group++)
        for (uint32_t i = p->first[group]; i < p->first[group + 1]; i++)
            p->in[p->coefficient + i] = coefficient_of(p, group, i);
    evaluate_into(&p->bends, p->in, p->values);
    memset(H, 0, (size_t)n * n * sizeof *H);
    for (size_t e = 0; e < p->bend_count; e++) {
        const SettleEntry *at = &p->bend_entries[e];
        const double value = p->values[n + e];
        double *row = H + (size_t)at->row * n;
        if (at->column < n) row[at->column] += value;
        for (uint32_t k = 0; at->column >= n && k < n && value != 0; k++)
            row[k] += value * p->P[(size_t)(at->column - n) * n + k];
    }
    for (uint32_t i = 0; i < p->quaternions; i++) // of (|q|^2 - 1) / 2
        for (uint32_t k = p->quaternion[i]; k < p->quaternion[i] + 4; k++)
            H[(size_t)k * n + k] -= p->mu[term_count(p) + i];
    const TermGroup least = p->way->least;
    for (uint32_t i = p->first[least]; least != GROUP_ENERGY && i < p->first[least + 1]; i++) {
        const double *G = p->G + (size_t)i * n;
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t k = 0; k < n; k++) H[(size_t)j * n + k] += weight_of(p, i) * G[j] * G[k];
    }
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t k = 0; k < j; k++)
            H[(size_t)j * n + k] = H[(size_t)k * n + j] =
                0.5 * (H[(size_t)j * n + k] + H[(size_t)k * n + j]);
}

// Z^T H Z, and the gradient Z^T (g + H d0)
static void reduce(Settle *p)
{
    const struct Split *s = &p->split;
    const uint32_t n = p->unknowns, free = s->free;
    double *HZ = p->room, *at_d0 = p->d;
    tr_multiply(p->H, s->Z, n, n, free, HZ);
    tr_multiply_transposed(s->Z, HZ, free, n, free, p->Hr);
    tr_multiply(p->H, s->d0, n, n, 1, at_d0);
    for (uint32_t k = 0; k < n; k++) at_d0[k] += p->g[k];
    tr_multiply_transposed(s->Z, at_d0, free, n, 1, p->p);
}

// Gaps along what is left
static void reduce_gaps(Settle *p)
{
    const uint32_t gaps = p->first[GROUP_GAPS];
    for (uint32_t i = 0; i < p->contact_count; i++)
        p->c[i] = tr_settle_reduced(p, p->G + (size_t)(gaps + i) * p->unknowns, p->f0[gaps + i],
                                    p->Gr + (size_t)i * p->split.free);
}

// Squares of closed gaps added: what is least along them stays so, and H may become positive
static void stiffen(Settle *p, double times)
{
    const uint32_t free = p->split.free;
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const double *G = p->Gr + (size_t)i * free;
        for (uint32_t j = 0; j < free && p->is_closed[i]; j++) {
            for (uint32_t k = 0; k < free; k++) p->Hr[(size_t)j * free + k] += times * G[j] * G[k];
            p->p[j] += times * G[j] * p->c[i];
        }
    }
}

// H + more = L L^T, if that is clearly positive
static bool factorise(const Settle *p, double more, double size, double *L)
{
    const uint32_t free = p->split.free;
    memcpy(L, p->Hr, (size_t)free * free * sizeof *L);
    for (uint32_t j = 0; j < free; j++) L[(size_t)j * free + j] += more;
    if (!tr_cholesky(L, free)) return false;
    double least = (double)INFINITY;
    for (uint32_t j = 0; j < free; j++)
        least = smaller(least, L[(size_t)j * free + j] * L[(size_t)j * free + j]);
    return least > POSITIVE * size;
}

// With as much added as that takes. Newton's own steps need nothing but squares of gaps that are
// closed, which change nothing.
static bool make_positive(Settle *p, double *L)
{
    const uint32_t free = p->split.free;
    // weight alone has no second slopes, and then there is nothing else to measure by
    const double size = larger(tr_largest(p->Hr, (size_t)free * free), tr_largest(p->p, free));
    if (!isfinite(size)) return false;
    p->is_exact = true;
    if (factorise(p, 0, size, L)) return true;
    if (p->way->opens) {
        stiffen(p, 10 * size);
        if (factorise(p, 0, size, L)) return true;
    }
    p->is_exact = false;
    double more = 1e-6 * size + 1e-300;
    while (more < 1e6 * (size + 1) && !factorise(p, more, 0, L)) more *= 10;
    return more < 1e6 * (size + 1);
}

// p = H^-1 (G^T lambda - g) with the lambda >= 0 for which gaps stay >= 0               (T288)
static bool solve_gaps(Settle *p, const double *L)
{
    const uint32_t free = p->split.free, m = p->contact_count;
    double *Y = p->room; // L^-1 of the gradient, then of each gap's slopes, by rows
    memcpy(Y, p->p, free * sizeof *Y);
    memcpy(Y + free, p->Gr, (size_t)m * free * sizeof *Y);
    tr_solve_lower_rows(L, free, Y, m + 1u);
    for (uint32_t i = 0; i < m; i++) {
        const double *row = Y + (size_t)(i + 1) * free;
        p->b[i] = -p->c[i];
        for (uint32_t k = 0; k < free; k++) p->b[i] += row[k] * Y[k];
        for (uint32_t j = 0; j < m; j++) {
            const double *other = Y + (size_t)(j + 1) * free;
            double sum = 0;
            for (uint32_t k = 0; k < free; k++) sum += row[k] * other[k];
            p->A[(size_t)i * m + j] = sum;
        }
    }
    if (!tr_nonnegative(p->A, p->b, m, p->lambda, p->is_closed, Y + (size_t)(m + 1) * free))
        return false;
    for (uint32_t k = 0; k < free; k++) {
        p->p[k] = -p->p[k];
        for (uint32_t i = 0; i < m; i++) p->p[k] += p->lambda[i] * p->Gr[(size_t)i * free + k];
    }
    tr_solve_lower(L, free, p->p, 1);
    tr_solve_lower_transposed(L, free, p->p, 1);
    uint32_t closed = 0;
    for (uint32_t i = 0; i < m; i++) closed += p->is_closed[i];
    p->is_exact = (p->is_exact && !p->is_pinned) || closed == free;
    p->is_pinned = closed == free;
    return true;
}

static bool solve_free(Settle *p)
{
    const struct Split *s = &p->split;
    double *L = p->kept;
    if (p->is_pinned) // any H will do
        take_gradient(p, p->g);
    else
        tr_settle_bend(p);
    reduce(p);
    if (p->way->opens) reduce_gaps(p);
    if (!make_positive(p, L)) return false;
    if (p->way->opens) return solve_gaps(p, L);
    for (uint32_t k = 0; k < s->free; k++) p->p[k] = -p->p[k];
    tr_solve_lower(L, s->free, p->p, 1);
    tr_solve_lower_transposed(L, s->free, p->p, 1);
    return true;
}

bool tr_settle_step(Settle *p)
{
    unsigned groups = 0;
    for (int group = 0; group < GROUPS; group++)
        if (is_zero_group(p, (TermGroup)group)) groups |= 1u << group;
    tr_settle_split(p, groups);
    const struct Split *s = &p->split;
    memset(p->p, 0, s->free * sizeof *p->p);
    p->is_exact = true;
    if (s->free && p->way->least < GROUPS && !solve_free(p)) return false;
    for (uint32_t k = 0; k < p->unknowns; k++) {
        p->d[k] = s->d0[k];
        for (uint32_t j = 0; j < s->free; j++) p->d[k] += s->Z[(size_t)k * s->free + j] * p->p[j];
    }
    return all_finite(p->d, p->unknowns);
}

void tr_settle_move(Settle *p)
{
    const uint32_t n = p->unknowns;
    for (uint32_t i = 0; i < p->touches; i++) {
        double *u = &p->in[p->place[n + i]];
        *u += p->du[i];
        for (uint32_t k = 0; k < n; k++) *u += p->P[(size_t)i * n + k] * p->d[k];
    }
    for (uint32_t k = 0; k < n; k++) p->in[p->place[k]] += p->d[k];
    for (uint32_t i = 0; i < p->quaternions; i++) tr_make_unit(p->in + p->place[p->quaternion[i]]);
}
