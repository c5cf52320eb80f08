// SPDX-License-Identifier: Apache-2.0
// What can be pushed without being an input of the model: the force of a joint that a torque
// drives, and the position, rate and acceleration of one that a motion does. A symbol that is zero
// is added to each.
#ifndef TR_RUN_PUSH_H
#define TR_RUN_PUSH_H

#include "expr/system.h"

typedef struct Push {
    uint32_t velocity; // the joint's, as an input
    int order;         // 0, 1, 2 of a motion; -1: a force
    Expr symbol;
    const char *name; // "tau.steer"; "r1", "d(r1)", "d(d(r1))"
} Push;

typedef struct Pushes {
    System *system;
    Push *list;
    uint32_t count;
} Pushes;

// New inputs of a system of one's own, which is not reduced.
void tr_pushes_new(System *system, Pushes *pushes, tr_error *err);
void tr_pushes_free(Pushes *pushes);
// Puts the symbols into forces and motions.
void tr_pushes_put(Pushes *pushes, tr_error *err);

// Without constraints accelerations are there before the symbols are: those that forces and driven
// accelerations make, by the mass matrix M of all `m` velocities, of which `v` lists the p that no
// motion drives. By rows of pushes.
bool tr_pushes_respond(const Pushes *pushes, const double *M, uint32_t m, const uint32_t *v,
                       uint32_t p, double *out, tr_error *err);

#endif
