// SPDX-License-Identifier: Apache-2.0
// Derivatives of the accelerations of a system without constraints (T144): with M v' + c = Q,
//
//   dv' = M^-1 (dQ - d(M v' + c)),   v' frozen
//
// where the tree gives the second term (tree_slopes.h) and the graph that of the forces.
#ifndef TR_REDUCE_FREE_SLOPES_H
#define TR_REDUCE_FREE_SLOPES_H

#include "expr/system.h"

// What accelerations are differentiated along: symbols that change, at given rates. Where positions
// change as a velocity moves them, it is told; else each is one coordinate for itself.
typedef struct SlopeColumn {
    const Expr *symbols, *changes;
    uint32_t count;
    uint32_t along; // a velocity, as an input; NO_INPUT: none
    uint32_t part;  // columns of one part are solved together, so those of others may be left out
} SlopeColumn;

// The accelerations of the velocities that no motion drives, in the order of inputs, and how they
// change along each column, by rows. False when the tree does not tell, and nothing is changed; or
// the graph failed.
bool tr_free_slopes(System *system, const SlopeColumn *columns, uint32_t count, Expr *vdot,
                    Expr *slopes);

#endif
