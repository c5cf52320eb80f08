// SPDX-License-Identifier: Apache-2.0
// Linear equations. Matrices are small and by rows; every sum has one order, so that results are
// the same on every machine. What is solved for takes the place of the right sides B, n * count;
// false when there is no solution, or they are not finite: then B is as it was, unless said.
#ifndef TR_NUM_SOLVE_H
#define TR_NUM_SOLVE_H

#include <stdbool.h>
#include <stddef.h>

// A = L L^T: the lower triangle becomes L, what is above it is neither read nor written. False
// when A is not positive definite.
bool tr_cholesky(double *A, size_t n);
// L X = B and L^T X = B for a lower triangle L
void tr_solve_lower(const double *L, size_t n, double *B, size_t count);
// The same for rows of B, by themselves
void tr_solve_lower_rows(const double *L, size_t n, double *B, size_t rows);
void tr_solve_lower_transposed(const double *L, size_t n, double *B, size_t count);
// A X = B for A positive definite, of which the lower triangle counts and becomes L
bool tr_solve_positive(double *A, size_t n, double *B, size_t count);

// A becomes an upper triangle by exchanging rows and subtracting them from those below; B goes
// along. The sign of the exchanges, +-1, or 0 when a pivot is 0 or no number.
int tr_make_upper(double *A, size_t n, double *B, size_t count);
// A X = B; A is changed, and B even if it is singular.
bool tr_solve(double *A, size_t n, double *B, size_t count);

#endif
