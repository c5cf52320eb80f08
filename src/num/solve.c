// SPDX-License-Identifier: Apache-2.0
// Cholesky's and Gauss's factors.
#include "num/solve.h"

#include "num/dense.h"

#include <math.h>

// to -= f from
static void subtract(double f, const double *from, size_t count, double *to)
{
    for (size_t k = 0; k < count; k++) to[k] -= f * from[k];
}

// ---- symmetric -----------------------------------------------------------------------------

// L_ik = (A_ik - sum_j<k L_ij L_kj) / L_kk; where a row of A begins with zeros that of L does
bool tr_cholesky(double *A, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (first < i && A[i * n + first] == 0) first++;
        for (size_t k = first; k <= i; k++) {
            double sum = A[i * n + k];
            for (size_t j = first; j < k; j++) sum -= A[i * n + j] * A[k * n + j];
            if (k < i)
                A[i * n + k] = sum / A[k * n + k];
            else if (sum > 0 && isfinite(sum))
                A[i * n + i] = sqrt(sum);
            else
                return false;
        }
    }
    return true;
}

void tr_solve_lower(const double *L, size_t n, double *B, size_t count)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) subtract(L[i * n + j], B + j * count, count, B + i * count);
        for (size_t k = 0; k < count; k++) B[i * count + k] /= L[i * n + i];
    }
}

// Four rows together, for a sum waits for every term
static void solve_four(const double *L, size_t n, double *const b[4])
{
    size_t first = 0; // that is not zero
    while (first < n && b[0][first] == 0 && b[1][first] == 0 && b[2][first] == 0 &&
           b[3][first] == 0)
        first++;
    for (size_t i = first; i < n; i++) {
        const double *l = L + i * n;
        double sum[4] = {b[0][i], b[1][i], b[2][i], b[3][i]};
        for (size_t j = first; j < i; j++)
            for (int k = 0; k < 4; k++) sum[k] -= l[j] * b[k][j];
        for (int k = 0; k < 4; k++) b[k][i] = sum[k] / l[i];
    }
}

void tr_solve_lower_rows(const double *L, size_t n, double *B, size_t rows)
{
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        double *const b[4] = {B + i * n, B + (i + 1) * n, B + (i + 2) * n, B + (i + 3) * n};
        solve_four(L, n, b);
    }
    for (; i < rows; i++) tr_solve_lower(L, n, B + i * n, 1);
}

void tr_solve_lower_transposed(const double *L, size_t n, double *B, size_t count)
{
    for (size_t i = n; i-- > 0;) {
        for (size_t k = 0; k < count; k++) B[i * count + k] /= L[i * n + i];
        for (size_t j = 0; j < i; j++) subtract(L[i * n + j], B + i * count, count, B + j * count);
    }
}

bool tr_solve_positive(double *A, size_t n, double *B, size_t count)
{
    if (!all_finite(B, n * count) || !tr_cholesky(A, n)) return false;
    tr_solve_lower(A, n, B, count);
    tr_solve_lower_transposed(A, n, B, count);
    return true;
}

// ---- general -------------------------------------------------------------------------------

static void exchange(double *a, double *b, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double kept = a[k];
        a[k] = b[k], b[k] = kept;
    }
}

int tr_make_upper(double *A, size_t n, double *B, size_t count)
{
    int sign = 1;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[best * n + k])) best = i;
        if (!(fabs(A[best * n + k]) > 0)) return 0;
        if (best != k) {
            exchange(A + k * n, A + best * n, n);
            exchange(B + k * count, B + best * count, count);
            sign = -sign;
        }
        for (size_t i = k + 1; i < n; i++) {
            const double f = A[i * n + k] / A[k * n + k];
            A[i * n + k] = 0;
            subtract(f, A + k * n + k + 1, n - k - 1, A + i * n + k + 1);
            subtract(f, B + k * count, count, B + i * count);
        }
    }
    return sign;
}

bool tr_solve(double *A, size_t n, double *B, size_t count)
{
    if (!all_finite(B, n * count) || !tr_make_upper(A, n, B, count)) return false;
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            subtract(A[i * n + j], B + j * count, count, B + i * count);
        for (size_t k = 0; k < count; k++) B[i * count + k] /= A[i * n + i];
    }
    return true;
}
