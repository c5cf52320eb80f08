// SPDX-License-Identifier: Apache-2.0
// Algebraic Riccati equations, and the feedback u = -K x that they give: the one that keeps the
// integral, or the sum, of x^T Q x + u^T R u least.
#ifndef TR_LINEAR_RICCATI_H
#define TR_LINEAR_RICCATI_H

#include "base/error.h"

// x' = A x + B u, or x+ = A x + B u when it is discrete. Matrices by rows; Q and R symmetric, R
// positive definite.
typedef struct Regulator {
    uint32_t n, m; // states, inputs
    bool discrete;
    const double *A, *B, *Q, *R;
} Regulator;

// P (n * n) and K (m * n). False, with words, when no feedback makes the loop stable or when the
// weights do not see a motion that neither grows nor decays.
bool tr_riccati_solve(const Regulator *regulator, double *P, double *K, tr_error *err);

// How far P is off, relative to the terms of its equation.
double tr_riccati_residual(const Regulator *regulator, const double *P);

// A - B K
void tr_riccati_loop(const Regulator *regulator, const double *K, double *loop);

#endif
