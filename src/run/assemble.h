// SPDX-License-Identifier: Apache-2.0
// States that satisfy what is asked of them. A state is the values of all inputs of a system, in
// order; those that have a definition do not matter.
#ifndef TR_RUN_ASSEMBLE_H
#define TR_RUN_ASSEMBLE_H

#include "run/evaluator.h"

typedef struct Conditions Conditions;

// What positions, or rates, must satisfy: the constraints and, if asked for, `initial`. The system
// must not be reduced.
Conditions *tr_conditions_new(System *system, bool rates, bool initial, tr_error *err);
// With `initial`, and for any values of parameters: the state holds them.
Conditions *tr_conditions_open(System *system, bool rates, tr_error *err);
void tr_conditions_free(Conditions *conditions);
// Moves the state to where they hold: near it, or the nearest. False, with words, when there is
// nothing such; the state is then as near as it gets.
bool tr_conditions_solve(Conditions *conditions, double *x, bool nearest, tr_error *err);

// The state at the start. `solved` gets a mark for each input that was found by solving instead of
// being given; it may be NULL.
bool tr_assemble(System *system, double *x, bool *solved, tr_error *err);

// Quaternions are units, a condition like the others: (|q|^2 - 1) / 2 = 0, with the slope q.
double tr_unit_residual(const double *q);
double tr_quaternion_size(const double *q);
// Makes one a unit again; returns how far it was off.
double tr_make_unit(double *q);

#endif
