// SPDX-License-Identifier: Apache-2.0
// How accelerations change along anything, parameters as well, of a system that was reduced with a
// partition (T190).
#ifndef TR_REDUCE_BOUND_CHANGES_H
#define TR_REDUCE_BOUND_CHANGES_H

#include "reduce/free_changes.h"
#include "reduce/reduce.h"

// Of what tr_independent lists, by rows of all columns. False where forces use reactions, or there
// are too many unknowns.
bool tr_bound_changes(System *system, const Partition *partition, const SlopeColumn *columns,
                      uint32_t count, Expr *changes);

// The one of the two that a system needs
static inline bool tr_acceleration_changes(System *system, const Partition *partition,
                                           const SlopeColumn *columns, uint32_t count,
                                           const Expr *frozen, Expr *changes)
{
    return system->row_count ? tr_bound_changes(system, partition, columns, count, changes)
                             : tr_free_changes(system, columns, count, frozen, changes);
}

#endif
