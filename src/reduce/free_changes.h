// SPDX-License-Identifier: Apache-2.0
// How the accelerations of a system without constraints change along anything, parameters as well:
// inverse dynamics by the graph with accelerations frozen, and along the tree the accelerations
// that this leaves to be found (T190).
#ifndef TR_REDUCE_FREE_CHANGES_H
#define TR_REDUCE_FREE_CHANGES_H

#include "reduce/free_slopes.h"

// Of the velocities that no motion drives, in the order of inputs, by rows of all columns. `frozen`
// are symbols by velocity that appear nowhere. False where there is no forest, or the graph failed.
bool tr_free_changes(System *system, const SlopeColumn *columns, uint32_t count, const Expr *frozen,
                     Expr *changes);

#endif
