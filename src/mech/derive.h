// SPDX-License-Identifier: Apache-2.0
// The physics: model -> system (T19).
#ifndef TR_MECH_DERIVE_H
#define TR_MECH_DERIVE_H

#include "expr/system.h"
#include "model/model.h"

// Fills an empty system with the equations of motion of a model. Outputs:
//   M c Q      the free dynamics M v' + c = Q [M 9, B 1]; M for up to 200 velocities
//   qdot       the rates of all positions, in the order of the inputs
//   vdot       all accelerations; rows follow the velocities among the inputs, as in M c Q
//   inverse    M v' + c, where there are constraints; inner.M and so on by inner velocities
//   G g gamma phi    the constraints
//   kinetic potential power    energies, and what motors, dampers and forces put in
//   initial.position initial.rate guess.position    what must vanish at the start, or should
// and, to be recorded: the user's outputs, lambda.<row>, tau.<joint>, energies. Rates of all
// positions and velocities are set.
void tr_mech_derive(const Model *model, System *system, tr_error *err);
// How a system runs of which no case says it: the defaults of field.def
tr_simulate_options tr_mech_plan(void);

#endif
