// SPDX-License-Identifier: Apache-2.0
// Both sides of an instant at which formulas jump: what may not, what must not, and what takes a
// blow.
#ifndef TR_PLAN_SIDE_H
#define TR_PLAN_SIDE_H

#include "plan/flow.h"

// A state as it is seen from one side.
typedef struct Side {
    double *x;        // all inputs, with all positions and velocities
    double *residual; // of constraints, as the flow has them
} Side;

bool tr_side_open(Side *side, const Flow *flow, tr_error *err);
void tr_side_close(Side *side);
// As the flow sees (t, y) now.
void tr_side_take(Side *side, Flow *flow, double t, const double *y);

// Whether motions and constraints on positions are at the same place on both sides; else words.
bool tr_sides_meet(const Flow *flow, const Side *before, const Side *after, double t,
                   tr_error *err);
// Whether a velocity jumps, of what is driven or depends on others.
bool tr_sides_strike(const Flow *flow, const Side *before, const Side *after);

#endif
