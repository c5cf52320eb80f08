// SPDX-License-Identifier: Apache-2.0
// What a set of conditions is made of, for those who solve them.
#ifndef TR_PLAN_CONDITION_SET_H
#define TR_PLAN_CONDITION_SET_H

#include "plan/assemble.h"
#include "plan/touch.h"

// Unknown are some of the inputs; what follows calls their values y.
struct ConditionSet {
    const System *system;
    ConditionKind kind;
    bool rates;
    uint32_t *place; // of each unknown: its input; then those of contacts that follow from these
    uint32_t count, touches;
    uint32_t *quaternion; // of each unit quaternion among them: its first unknown
    uint32_t quaternions;
    const char **notes; // of each formula: what it is about
    uint32_t given;     // of `initial`, which come first
    uint32_t formulas;  // residuals that come from the program; then one for each quaternion
    uint32_t rows;
    tr_program *program; // residuals and those of tangency, then slopes by rows, or
    uint32_t direction;  // where this is not 0, slopes along it: the first of inputs behind all
                         // others, one for each unknown
    tr_program *metric;  // of rates at the start: masses, then easy motions by rows; or NULL
    uint32_t easy;
    TouchPrograms touch; // of positions
    bool *is_start;      // by input: a position or velocity that is found, unless it is given
};

// What tells how far rates are from their guess (T112), for velocities that are at these places
// among the inputs: their masses, then easy motions by rows. Returns how many of these; nothing is
// added where there is nothing to choose.
uint32_t tr_start_metric(const System *system, const uint32_t *place, uint32_t count, Exprs *list);

#endif
