// SPDX-License-Identifier: Apache-2.0
// Small matrices of numbers, by rows.
#ifndef TR_NUM_DENSE_H
#define TR_NUM_DENSE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The larger, and the smaller, of two; what is not a number stays so, where fmax would drop it.
static inline double larger(double a, double b) { return a > b || a != a ? a : b; }
static inline double smaller(double a, double b) { return a < b || a != a ? a : b; }

static inline bool all_finite(const double *x, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++) good &= isfinite(x[i]) != 0;
    return good;
}

// C = A B: m * k times k * n
void tr_multiply(const double *A, const double *B, uint32_t m, uint32_t k, uint32_t n, double *C);
// C = A^T B: k * m, k * n
void tr_multiply_transposed(const double *A, const double *B, uint32_t m, uint32_t k, uint32_t n,
                            double *C);
void tr_transpose(const double *A, uint32_t rows, uint32_t columns, double *out);

double tr_largest(const double *x, size_t count); // |x|; 0 of nothing
double tr_norm(const double *x, size_t count);

// Combines columns so that each has a row of its own, among the first `choice` rows, where it is 1
// and the others are 0. Which rows these are does not depend on how columns that are orthonormal
// were turned. Of rows that are as large to within `alike` the first is taken. `own` gets them.
void tr_give_rows(double *Z, uint32_t rows, uint32_t columns, uint32_t choice, double alike,
                  uint32_t *own);

#endif
