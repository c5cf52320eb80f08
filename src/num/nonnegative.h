// SPDX-License-Identifier: Apache-2.0
// Small quadratic problems whose unknowns are not negative. Matrices are by rows, and every sum has
// one order: the same bits on every machine.
#ifndef TR_NUM_NONNEGATIVE_H
#define TR_NUM_NONNEGATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The x >= 0 that makes x.A x/2 - b.x least, for A symmetric without negative eigenvalues, n * n:
// unknowns that are not zero are found one by one, as Lawson and Hanson have it. `is_free` says
// which are at the start, a guess, and in the end; where some depend on others, as few as can be.
// It has room for n more. `room` is for tr_nonnegative_room(n) numbers. False when it does not come
// to an end.       (T288)
bool tr_nonnegative(const double *A, const double *b, uint32_t n, double *x, bool *is_free,
                    double *room);
size_t tr_nonnegative_room(uint32_t n);

// A y = b for A symmetric without negative eigenvalues, n * n, of which the lower triangle is used
// up: y takes the place of b. What depends on the others is zero, as it may be where there is a
// solution at all.
void tr_solve_semidefinite(double *A, uint32_t n, double *b);

#endif
