// SPDX-License-Identifier: Apache-2.0
// A constrained system in the kernel of its constraints (T69, T72) [M 11-16, B 10-27].
//
// Which rows are solved for which velocities is a partition; `run` chooses it where the numbers are
// known. Given one, everything is an expression: velocities p that are not driven, v_p = H w + J
// v_a + k, the accelerations of the independent ones, w', the reactions lambda, the forces tau of
// motion-driven joints.
#ifndef TR_REDUCE_REDUCE_H
#define TR_REDUCE_REDUCE_H

#include "expr/system.h"

// Pivot k solves row[k] (of system->rows) for dependent[k] (an input that is a velocity).
typedef struct Partition {
    const uint32_t *row, *dependent;
    uint32_t count;
    const bool *antagonist; // of each row that is no pivot: driven joints work against each other
                            // through it. NULL when that is not known
} Partition;

static inline bool is_pivot(const Partition *p, uint32_t row)
{
    for (uint32_t k = 0; k < p->count; k++)
        if (p->row[k] == row) return true;
    return false;
}
// Which one solves for a velocity; `count` when none does
static inline uint32_t pivot_of(const Partition *p, uint32_t velocity)
{
    uint32_t k = 0;
    while (k < p->count && p->dependent[k] != velocity) k++;
    return k;
}

// In a system of one's own that was not reduced yet: defines the dependent velocities and the
// solved inputs, notes the pivots of rows, and puts the outputs
//   H J k h        rows: velocities that are not driven; columns of H: `independent`, of J: driven
//   H_ee H_ep H_pe D J_ext J_int   their blocks [B 13, 17]: e of bases, p of joints
//   momentum       H^T M v, of a hundred unknowns at most
//   lambda tau vdot
//   sdot           of inputs of the kinds TR_SPEED and TR_INNER, in order; 0 of those that are
//   defined
void tr_reduce(System *system, const Partition *partition, tr_error *err);

// The velocities and speeds that describe the motion, as inputs; their number.
uint32_t tr_independent(const System *system, uint32_t *list);

#endif
