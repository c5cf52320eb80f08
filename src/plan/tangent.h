// SPDX-License-Identifier: Apache-2.0
// Positions move as velocities move them, q' = N v, so they vary by quasi-coordinates: dq = N dpi.
// A derivative by pi_j is that along the j-th column of N: quaternions stay units, and there is one
// column to a velocity (T98).
#ifndef TR_PLAN_TANGENT_H
#define TR_PLAN_TANGENT_H

#include "reduce/reduce.h"

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

// Expressions whose derivatives are known already, by rows of all columns
typedef struct KnownSlopes {
    const Expr *of, *slopes;
    uint32_t count;
} KnownSlopes;

// By rows: the derivatives along columns of N, then by other symbols. The graph fails when memory
// runs out.
void tr_tangent_slopes(const Tangent *tangent, const Expr *of, uint32_t count, const Expr *others,
                       uint32_t other_count, KnownSlopes known, Expr *out);

// The same of the accelerations of independent velocities, and these themselves, by way of the
// equations of motion (T144). Other symbols are those velocities, then what is no parameter. False
// where there is no such way, or the graph failed.
bool tr_tangent_accelerations(const Tangent *tangent, const Partition *partition,
                              const Expr *others, uint32_t other_count, Expr *wdot, Expr *out);
// Where derivatives of the graph would be long they are not even tried, if there is another way.
bool tr_is_worth_comparing(System *system, const Expr *wdot, size_t count, size_t columns);

// Adds outputs to a system of one's own, reduced where that needs it: `wdot` and, where these are
// wanted, its derivatives, see tr_compile_in.
bool tr_differentiate(System *system, const Partition *partition, bool slopes,
                      const char *parameters, tr_error *err);

#endif
