// SPDX-License-Identifier: Apache-2.0
// The same as free_slopes.h where there are constraints, of a system that was reduced with a
// partition (T148).
#ifndef TR_REDUCE_BOUND_SLOPES_H
#define TR_REDUCE_BOUND_SLOPES_H

#include "reduce/free_slopes.h"
#include "reduce/reduce.h"

// Of what tr_independent lists. False where the tree does not tell, or forces use reactions.
bool tr_bound_slopes(System *system, const Partition *partition, const SlopeColumn *columns,
                     uint32_t count, Expr *wdot, Expr *slopes);

// The one of the two that a system needs
static inline bool tr_acceleration_slopes(System *system, const Partition *partition,
                                          const SlopeColumn *columns, uint32_t count, Expr *wdot,
                                          Expr *slopes)
{
    return system->row_count ? tr_bound_slopes(system, partition, columns, count, wdot, slopes)
                             : tr_free_slopes(system, columns, count, wdot, slopes);
}

#endif
