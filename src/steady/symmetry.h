// SPDX-License-Identifier: Apache-2.0
// Ways to change a state that a system may not notice: shifting a coordinate, turning a body about
// axes of the world, or about its own while its velocities turn back. Which of them it does not
// notice, numbers decide.
#ifndef TR_STEADY_SYMMETRY_H
#define TR_STEADY_SYMMETRY_H

#include "expr/system.h"

// What each does to a state: positions q and independent velocities w, each a list of inputs.
typedef struct Actions {
    uint32_t count, size; // size of each: positions, then velocities
    Expr *change;         // count * size
    const char **names;
} Actions;

// Of a reduced system. False, and an error, when memory runs out.
bool tr_actions_new(System *system, const uint32_t *q, uint32_t positions, const uint32_t *w,
                    uint32_t velocities, Actions *actions, tr_error *err);
void tr_actions_free(Actions *actions);

#endif
