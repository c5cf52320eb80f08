// SPDX-License-Identifier: Apache-2.0
// Singular values, and what is solved with them. Matrices are small and by rows. The same bits on
// every machine.
#ifndef TR_NUM_SINGULAR_H
#define TR_NUM_SINGULAR_H

#include <stdbool.h>
#include <stdint.h>

// A = U diag(sigma) V^T, m * n: sigma, the smaller of m and n, has the largest first. The columns
// of U, m * m, and the rows of Vt, n * n, are whole bases; either may be NULL. False when there is
// no memory, or A is not finite.
bool tr_singular(const double *A, uint32_t m, uint32_t n, double *sigma, double *U, double *Vt);

// The shortest X of those that come nearest to A X = B, n * count, with singular values below
// `cutoff` times the largest taken as zero. B, m * count, has room for max(m, n) rows, and X takes
// its place. *rank, unless NULL, is how many singular values are left. False without memory, or
// when A or B is not finite.
bool tr_least_squares(const double *A, uint32_t m, uint32_t n, double *B, uint32_t count,
                      double cutoff, uint32_t *rank);

// Whether rows are independent beyond doubt: then the least singular value is above `tolerance` of
// the largest. With A A^T = L L^T
//
//   sigma_least^2 >= 1 / |L^-1|^2      sigma_largest^2 <= |A|^2
//
// and the product rounds by some 1e-15, so what is above 1e-5 by this is so; the rest is left to
// singular values. No more rows than columns; L is room for rows * rows.
bool tr_are_independent(const double *A, uint32_t rows, uint32_t columns, double tolerance,
                        double *L);

// The rank of A, m * n, where it is beyond doubt, and whole bases as tr_singular's U has them: the
// first `rank` columns of U, m * m, span the columns of A. With reflections, A = Q (R S; 0 T) P^T,
//
//   sigma_rank >= 1 / |R^-1|      sigma_next <= |T|
//
// False where these do not tell on which side of the tolerance they are, and when memory runs out.
// At a hundred columns it takes a hundredth of the time of singular values.
bool tr_clear_rank(const double *A, uint32_t m, uint32_t n, double tolerance, uint32_t *rank,
                   double *U);

// The shortest x with A x = b, m * n, where rows are independent beyond doubt: it takes the place
// of b, which has room for it. Else false, and b is as it was. What tr_least_squares gives with
// that cutoff, in a twentieth of its time.
bool tr_shortest(const double *A, uint32_t m, uint32_t n, double *b, double tolerance);

// Where rows are independent beyond doubt, an orthonormal basis of the x with A x = 0, by columns
// of Z, n * (n - m); else false.
bool tr_kernel(const double *A, uint32_t m, uint32_t n, double tolerance, double *Z);

// Of X, m * count, what is across the first `rank` columns of U, m * m, which are orthonormal: its
// first m - rank rows, in a basis of their own. False when memory runs out.
bool tr_turn_across(const double *U, uint32_t m, uint32_t rank, double *X, uint32_t count);

#define MANY_ROWS 64 // from here on singular values are looked for where nothing else will do

#endif
