// SPDX-License-Identifier: Apache-2.0
#include "num/nonnegative.h"

#include "num/dense.h"

#include <math.h>
#include <string.h>

#define DEPENDENT 1e-12 // of a pivot: what is left of its diagonal
#define NOTHING   1e-15 // of a pivot: against the largest
#define ENOUGH    1e-11 // of a slope that is zero but for rounding

size_t tr_nonnegative_room(uint32_t n) { return (size_t)n * n + 2 * (size_t)n; }

// A = L L^T, where pivots that are left with nothing have zeros below them; false when there is one
static bool factorise(double *A, uint32_t n)
{
    bool whole = true;
    double largest = 0;
    for (uint32_t i = 0; i < n; i++) largest = larger(largest, A[(size_t)i * n + i]);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double *at = &A[(size_t)i * n + j];
            const double before = *at, pivot = A[(size_t)j * n + j];
            for (uint32_t k = 0; k < j; k++) *at -= A[(size_t)i * n + k] * A[(size_t)j * n + k];
            if (j < i)
                *at = pivot > 0 ? *at / pivot : 0;
            else if (*at > DEPENDENT * before && *at > NOTHING * largest)
                *at = sqrt(*at);
            else
                *at = 0, whole = false;
        }
    return whole;
}

static void solve_factorised(const double *L, uint32_t n, double *b)
{
    for (uint32_t i = 0; i < n; i++) {
        const double pivot = L[(size_t)i * n + i];
        for (uint32_t k = 0; k < i; k++) b[i] -= L[(size_t)i * n + k] * b[k];
        b[i] = pivot > 0 ? b[i] / pivot : 0;
    }
    for (uint32_t i = n; i-- > 0;) {
        const double pivot = L[(size_t)i * n + i];
        for (uint32_t k = i + 1; k < n; k++) b[i] -= L[(size_t)k * n + i] * b[k];
        b[i] = pivot > 0 ? b[i] / pivot : 0;
    }
}

void tr_solve_semidefinite(double *A, uint32_t n, double *b)
{
    factorise(A, n);
    solve_factorised(A, n, b);
}

// What the free ones would be if signs did not matter; false when they depend on each other
static bool solve_free(const double *A, const double *b, uint32_t n, const bool *is_free,
                       double *room, double *y)
{
    uint32_t count = 0;
    double *L = room, *right = room + (size_t)n * n;
    for (uint32_t i = 0; i < n; i++) count += is_free[i];
    for (uint32_t i = 0, row = 0; i < n; i++) {
        if (!is_free[i]) continue;
        for (uint32_t j = 0, column = 0; j <= i; j++)
            if (is_free[j]) L[(size_t)row * count + column++] = A[(size_t)i * n + j];
        right[row++] = b[i];
    }
    if (!factorise(L, count)) return false;
    solve_factorised(L, count, right);
    for (uint32_t i = 0, row = 0; i < n; i++) y[i] = is_free[i] ? right[row++] : 0;
    return true;
}

static bool all_positive(const double *y, const bool *is_free, uint32_t n)
{
    bool good = true;
    for (uint32_t i = 0; i < n; i++) good = good && (!is_free[i] || y[i] > 0);
    return good;
}

// From x towards y as far as nothing turns negative; what becomes zero is no longer free
static void approach(const double *y, uint32_t n, double *x, bool *is_free)
{
    double share = 1;
    for (uint32_t i = 0; i < n; i++)
        if (is_free[i] && y[i] <= 0) share = smaller(share, x[i] / (x[i] - y[i]));
    for (uint32_t i = 0; i < n; i++) {
        if (!is_free[i]) continue;
        const bool ends = y[i] <= 0 && x[i] / (x[i] - y[i]) <= share;
        x[i] = ends ? 0 : x[i] + share * (y[i] - x[i]);
        is_free[i] = !ends;
    }
}

// The one that would do most good if it were free; n for none
static uint32_t steepest(const double *A, const double *b, uint32_t n, const double *x,
                         const bool *is_free, const bool *is_idle)
{
    uint32_t best = n;
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        double slope = b[i], size = fabs(b[i]);
        for (uint32_t j = 0; j < n; j++) {
            slope -= A[(size_t)i * n + j] * x[j];
            size += fabs(A[(size_t)i * n + j] * x[j]);
        }
        if (!is_free[i] && !is_idle[i] && slope > ENOUGH * size && slope > most)
            most = slope, best = i;
    }
    return best;
}

// One that depends on the free ones can grow while they change with it and nothing else does:
//   x_i -= t (A_free^-1 a)_i,   until one is zero, which makes room for it
// False where none ever is: then there is no least.
static bool exchange(const double *A, uint32_t n, uint32_t which, double *x, bool *is_free,
                     double *room)
{
    double *y = room + (size_t)n * n + n, most = (double)INFINITY;
    uint32_t out = n;
    is_free[which] = false;
    if (!solve_free(A, A + (size_t)which * n, n, is_free, room, y)) return false;
    for (uint32_t i = 0; i < n; i++)
        if (is_free[i] && y[i] > 0 && x[i] / y[i] < most) most = x[i] / y[i], out = i;
    if (out == n) return false;
    for (uint32_t i = 0; i < n; i++) x[i] -= is_free[i] ? most * y[i] : 0;
    x[out] = 0, x[which] = most;
    is_free[out] = false, is_free[which] = true;
    return true;
}

// Frees one more; whether that was of use
static bool release(const double *A, const double *b, uint32_t n, uint32_t which, double *x,
                    bool *is_free, double *room)
{
    double *y = room + (size_t)n * n + n;
    is_free[which] = true;
    if (!solve_free(A, b, n, is_free, room, y)) {
        if (!exchange(A, n, which, x, is_free, room)) return false;
        if (!solve_free(A, b, n, is_free, room, y)) return false;
    } else if (!(y[which] > 0)) {
        is_free[which] = false;
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (all_positive(y, is_free, n)) break;
        approach(y, n, x, is_free);
        if (!solve_free(A, b, n, is_free, room, y)) return false;
    }
    memcpy(x, y, n * sizeof *x);
    return true;
}

bool tr_nonnegative(const double *A, const double *b, uint32_t n, double *x, bool *is_free,
                    double *room)
{
    bool *is_idle = is_free + n;
    memset(is_idle, 0, n * sizeof *is_idle);
    if (!solve_free(A, b, n, is_free, room, x) || !all_positive(x, is_free, n)) {
        memset(x, 0, n * sizeof *x);
        memset(is_free, 0, n * sizeof *is_free);
    }
    for (uint32_t step = 0; step < 3 * n + 3; step++) {
        const uint32_t which = steepest(A, b, n, x, is_free, is_idle);
        if (which == n) return true;
        if (release(A, b, n, which, x, is_free, room))
            memset(is_idle, 0, n * sizeof *is_idle);
        else
            is_idle[which] = true;
    }
    return false;
}
