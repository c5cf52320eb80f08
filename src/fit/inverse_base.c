// SPDX-License-Identifier: Apache-2.0
// What the equations determine. Rows A phi = b become a triangle as they come, so that any number
// of them takes little room (T275). Of columns that depend on each other some are kept, and the
// others are taken into them: with R_other = R_own K it is the combinations
//
//   beta = phi_own + K phi_other                                                          (T276)
//
// that can be told. Moments of inertia are kept first, then first moments, then masses.
#include "fit/inverse.h"

#include "num/dense.h"
#include "num/singular.h"
#include "num/triangle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANK   1e-9  // of columns of length 1: singular values below it are none
#define UNSEEN 1e-12 // a column that is shorter, of the longest, by units: nothing depends on it

// ---- the triangle ----------------------------------------------------------------------------

bool tr_equations_open(Equations *t, uint32_t columns)
{
    *t = (Equations){.columns = columns};
    t->A = calloc((size_t)columns * columns + 1, sizeof *t->A);
    return t->A != NULL;
}

void tr_equations_free(Equations *t)
{
    free(t->A);
    free(t->room);
    *t = (Equations){0};
}

double *tr_equations_room(Equations *t, uint32_t rows)
{
    if (rows > t->room_rows) {
        double *grown = realloc(t->room, ((size_t)rows * t->columns + 1) * sizeof *grown);
        if (!grown) return NULL;
        t->room = grown, t->room_rows = rows;
    }
    return t->room;
}

// (A b) = O R, O^T O = 1: R is all that is kept                                            (T275)
void tr_equations_add(Equations *t, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        tr_triangle_add(t->A, t->columns, t->room + (size_t)i * t->columns);
    t->rows += rows;
}

double tr_equations_misfit(const Equations *t, const double *phi)
{
    const size_t n = t->columns;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double off = -t->A[i * n + n - 1];
        for (size_t j = i; j + 1 < n; j++) off += t->A[i * n + j] * phi[j];
        sum += off * off;
    }
    return sum;
}

// ---- which columns are kept ------------------------------------------------------------------

typedef struct Choice {
    uint32_t p;
    double *R;      // columns of length 1, one after the other
    double *basis;  // of those that are kept, orthonormal, likewise
    uint32_t count; // of these
    bool *is_kept;
} Choice;

// What is left of a column across those that are kept; twice, for rounding
static double across(const Choice *c, uint32_t column, double *x)
{
    const size_t p = c->p;
    memcpy(x, c->R + column * p, p * sizeof *x);
    for (int again = 0; again < 2; again++)
        for (uint32_t k = 0; k < c->count; k++) {
            const double *b = c->basis + k * p;
            double along = 0;
            for (size_t i = 0; i < p; i++) along += b[i] * x[i];
            for (size_t i = 0; i < p; i++) x[i] -= along * b[i];
        }
    return tr_norm(x, p);
}

static void keep(Choice *c, uint32_t column)
{
    double *x = c->basis + (size_t)c->count * c->p;
    const double length = across(c, column, x);
    for (uint32_t i = 0; i < c->p; i++) x[i] /= length;
    c->is_kept[column] = true;
    c->count++;
}

// Moments of inertia of all bodies, then first moments, then masses
static uint32_t in_order(uint32_t p, uint32_t k)
{
    const uint32_t bodies = p / TEN;
    if (k < 6 * bodies) return k / 6 * TEN + 4 + k % 6;
    k -= 6 * bodies;
    return k < 3 * bodies ? k / 3 * TEN + 1 + k % 3 : (k - 3 * bodies) * TEN;
}

static void forget(Choice *c)
{
    c->count = 0;
    for (uint32_t j = 0; j < c->p; j++) c->is_kept[j] = false;
}

// In that order, each that is longer than this across those before
static void choose_in_order(Choice *c, uint32_t rank, double length)
{
    double *x = c->basis + (size_t)c->p * c->p;
    forget(c);
    for (uint32_t k = 0; k < c->p && c->count <= rank; k++)
        if (across(c, in_order(c->p, k), x) > length && c->count < c->p) keep(c, in_order(c->p, k));
}

// The longest, one after the other
static void choose_longest(Choice *c, uint32_t rank)
{
    double *x = c->basis + (size_t)c->p * c->p;
    forget(c);
    while (c->count < rank) {
        uint32_t best = 0;
        double most = -1;
        for (uint32_t j = 0; j < c->p; j++) {
            const double length = c->is_kept[j] ? -1 : across(c, j, x);
            if (length > most) most = length, best = j;
        }
        keep(c, best);
    }
}

static void choose_columns(Choice *c, uint32_t rank)
{
    double length = 1e-4;
    while (length > 0.1 * RANK) {
        choose_in_order(c, rank, length);
        if (c->count == rank) return;
        length /= 10;
    }
    choose_longest(c, rank);
}

// ---- columns and their rank ------------------------------------------------------------------

static double column_length(const Equations *t, uint32_t j)
{
    double sum = 0;
    for (size_t i = 0; i <= j; i++) sum += t->A[i * t->columns + j] * t->A[i * t->columns + j];
    return sqrt(sum);
}

static void weigh(Base *base, const Equations *t, const double *unit)
{
    double longest = 0;
    for (uint32_t j = 0; j < base->p; j++) {
        base->weight[j] = column_length(t, j);
        longest = larger(longest, base->weight[j] * unit[j]);
    }
    for (uint32_t j = 0; j < base->p; j++)
        base->is_seen[j] = base->weight[j] * unit[j] > UNSEEN * longest;
}

// Of length 1, or 0 where nothing depends on them; one after the other
static void take_columns(const Base *base, const Equations *t, double *R)
{
    const size_t p = base->p;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            R[j * p + i] = base->is_seen[j] && i <= j ? t->A[i * (p + 1) + j] / base->weight[j] : 0;
}

static bool find_rank(Base *base, const double *R)
{
    double *sigma = calloc(base->p + 1u, sizeof *sigma);
    const bool good = sigma && tr_singular(R, base->p, base->p, sigma, NULL, NULL);
    base->rank = 0;
    while (good && base->rank < base->p && sigma[base->rank] > RANK * sigma[0]) base->rank++;
    free(sigma);
    return good;
}

// ---- combinations ----------------------------------------------------------------------------

static void list(Base *base, const bool *is_kept)
{
    uint32_t own = 0, other = 0;
    for (uint32_t k = 0; k < base->p; k++) {
        const uint32_t j = in_order(base->p, k);
        if (is_kept[j])
            base->own[own++] = j;
        else
            base->other[other++] = j;
    }
}

// R_own (K beta) = (R_other b), in columns of length 1; then by parameters              (T276)
static bool combine(Base *base, const Equations *t, const double *R)
{
    const uint32_t p = base->p, r = base->rank, d = p - r;
    double *A = calloc((size_t)p * r + (size_t)p * (d + 1) + 1, sizeof *A);
    double *B = A ? A + (size_t)p * r : NULL;
    if (!A) return false;
    for (size_t i = 0; i < p; i++) {
        for (uint32_t k = 0; k < r; k++) A[i * r + k] = R[(size_t)base->own[k] * p + i];
        for (uint32_t k = 0; k < d; k++) B[i * (d + 1) + k] = R[(size_t)base->other[k] * p + i];
        B[i * (d + 1) + d] = t->A[i * (p + 1) + p];
    }
    const bool good = !r || tr_least_squares(A, p, r, B, d + 1, 0, NULL);
    for (uint32_t i = 0; good && i < r; i++) {
        const double own = base->weight[base->own[i]];
        for (uint32_t k = 0; k < d; k++) {
            const double entry = B[i * (d + 1) + k];
            base->K[(size_t)i * d + k] =
                fabs(entry) > RANK ? entry * base->weight[base->other[k]] / own : 0;
        }
        base->value[i] = B[i * (d + 1) + d] / own;
    }
    free(A);
    return good;
}

// The variance of a row's error times (R_own^T R_own)^-1                                 (T277)
static bool spread(Base *base, const Equations *t, const double *R)
{
    const uint32_t p = base->p, r = base->rank;
    double *A = calloc((size_t)p * r + (size_t)r * r + r + p + 1, sizeof *A);
    if (!A) return false;
    double *Vt = A + (size_t)p * r, *sigma = Vt + (size_t)r * r, *phi = sigma + r;
    for (uint32_t k = 0; k < r; k++) phi[base->own[k]] = base->value[k];
    const size_t spare = t->rows > r ? t->rows - r : 1;
    const double variance = tr_equations_misfit(t, phi) / (double)spare;
    for (size_t i = 0; i < p; i++)
        for (uint32_t k = 0; k < r; k++) A[i * r + k] = R[(size_t)base->own[k] * p + i];
    const bool good = !r || tr_singular(A, p, r, sigma, NULL, Vt);
    for (uint32_t k = 0; good && k < r; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < r; i++) {
            const double x = Vt[(size_t)i * r + k] / sigma[i];
            sum += x * x;
        }
        base->sd[k] = sqrt(variance * sum) / base->weight[base->own[k]];
    }
    free(A);
    return good;
}

// ---- all of it -------------------------------------------------------------------------------

static bool make_room(Base *base)
{
    const size_t p = base->p;
    base->own = calloc(2 * p + 1, sizeof *base->own);
    base->K = calloc(p * p + 3 * p + 1, sizeof *base->K);
    base->is_seen = calloc(p + 1, sizeof *base->is_seen);
    if (!base->own || !base->K || !base->is_seen) return false;
    base->value = base->K + p * p, base->sd = base->value + p, base->weight = base->sd + p;
    return true;
}

bool tr_base_find(Base *base, const Equations *t, const double *unit, tr_error *err)
{
    const size_t p = t->columns - 1;
    *base = (Base){.p = (uint32_t)p};
    double *R = calloc(2 * p * p + p + 1, sizeof *R);
    bool *is_kept = calloc(p + 1, sizeof *is_kept);
    bool good = R && is_kept && make_room(base);
    if (good) {
        weigh(base, t, unit);
        take_columns(base, t, R);
        good = find_rank(base, R);
    }
    if (good) {
        Choice c = {.p = base->p, .R = R, .basis = R + p * p, .is_kept = is_kept};
        choose_columns(&c, base->rank);
        base->other = base->own + base->rank;
        list(base, is_kept);
        good = combine(base, t, R) && spread(base, t, R);
    }
    if (!good) tr_fail_memory(err);
    free(R);
    free(is_kept);
    return good;
}

void tr_base_free(Base *base)
{
    free(base->own);
    free(base->K);
    free(base->is_seen);
    *base = (Base){0};
}
