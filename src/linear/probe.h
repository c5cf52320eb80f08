// SPDX-License-Identifier: Apache-2.0
// What can be pushed without being an input of the model: the force of a joint that a torque
// drives, and the position, rate and acceleration of one that a motion does. A symbol that is zero
// is added to each.
#ifndef TR_LINEAR_PROBE_H
#define TR_LINEAR_PROBE_H

#include "expr/system.h"

typedef struct Probe {
    uint32_t velocity; // the joint's, as an input
    int order;         // 0, 1, 2 of a motion; -1: a force
    Expr symbol;
    const char *name; // "tau.steer"; "r1", "d(r1)", "d(d(r1))"
} Probe;

typedef struct Probes {
    System *system;
    Probe *list;
    uint32_t count;
} Probes;

// New inputs of a system of one's own, which is not reduced.
void tr_probes_new(System *system, Probes *probes, tr_error *err);
void tr_probes_free(Probes *probes);
// Puts the symbols into forces and motions.
void tr_probes_put(Probes *probes, tr_error *err);

// Without constraints accelerations are there before the symbols are: those that forces and driven
// accelerations make, by the mass matrix M of all `m` velocities, of which `v` lists the p that no
// motion drives. By rows of probes.
bool tr_probes_respond(const Probes *probes, const double *M, uint32_t m, const uint32_t *v,
                       uint32_t p, double *out, tr_error *err);

#endif
