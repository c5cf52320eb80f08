// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of small real matrices, by rows. The same bits on every machine.
#ifndef TR_NUM_EIGENVALUE_H
#define TR_NUM_EIGENVALUE_H

#include <stdbool.h>
#include <stdint.h>

// D^-1 A D takes the place of A, with powers of two D so that rows and columns are about as large
void tr_balance(double *A, uint32_t n, double *D);

// The eigenvalues of A, which is changed; of a pair the one above comes first. False when they are
// not found, or A is not finite.
bool tr_eigenvalues(double *A, uint32_t n, double *re, double *im);

#endif
