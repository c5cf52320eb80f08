// SPDX-License-Identifier: Apache-2.0
// Positions move as velocities move them, q' = N v, so they vary by quasi-coordinates: dq = N dpi.
// A derivative by pi_j is that along the j-th column of N: quaternions stay units, and there is one
// column to a velocity (T98).
#ifndef TR_PLAN_TANGENT_H
#define TR_PLAN_TANGENT_H

#include "expr/system.h"

typedef struct Tangent {
    System *system;
    uint32_t q, p;                 // positions, velocities, but for driven ones
    uint32_t *position, *velocity; // inputs
    Expr *N;                       // q * p
} Tangent;

// The lists; N comes next. False when memory runs out.
bool tr_tangent_list(System *system, Tangent *tangent);
void tr_tangent_directions(Tangent *tangent);
void tr_tangent_free(Tangent *tangent);

// By rows: the derivatives along columns of N, then by other symbols. The graph fails when memory
// runs out.
void tr_tangent_slopes(const Tangent *tangent, const Expr *of, uint32_t count, const Expr *others,
                       uint32_t other_count, Expr *out);

// Adds outputs to a system of one's own, reduced where that needs it: `wdot` and its derivatives,
// see tr_compile_in.
bool tr_differentiate(System *system, const char *parameters, tr_error *err);

#endif
