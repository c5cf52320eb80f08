// SPDX-License-Identifier: Apache-2.0
// States that satisfy what is asked of them. A state is the values of all inputs of a system, in
// order; those that have a definition do not matter.
#ifndef TR_PLAN_ASSEMBLE_H
#define TR_PLAN_ASSEMBLE_H

#include "plan/evaluator.h"

// What positions, or rates, must satisfy, as a program: the constraints and what else is asked for.
// For any values of parameters, which the state holds. It is not changed any more.
typedef struct ConditionSet ConditionSet;
typedef enum ConditionKind {
    POSITION_ROWS, // the constraints alone
    RATE_ROWS,
    START_POSITIONS, // with `initial`
    START_RATES,
    START_WISHES, // with guesses of what is no input, such as joints that were cut
    CONDITION_KINDS
} ConditionKind;

// Of a system of one's own that is not reduced, with the names of the original, which must outlive
// it. `fold` is the pattern of parameters, see tr_compile_open.
ConditionSet *tr_condition_set_new(System *own, const System *original, ConditionKind kind,
                                   const uint8_t *fold, tr_error *err);
void tr_condition_set_free(ConditionSet *set);

// The room to solve them in. The set must outlive it.
typedef struct Conditions Conditions;
Conditions *tr_conditions_new(const ConditionSet *set, tr_error *err);
void tr_conditions_free(Conditions *conditions);
// Moves the state to where they hold: near it, or the nearest. False, with words, when there is
// nothing such; the state is then as near as it gets.
bool tr_conditions_solve(Conditions *conditions, double *x, bool nearest, tr_error *err);

// What became of an input at the start, unless it was given
typedef enum StartMark {
    START_SOLVED = 1, // it is not its guess
    START_OPEN = 2,   // giving this and all others that are open would leave no choice
    START_CHOSEN = 4  // it is not its guess, and could be something else
} StartMark;

// The state at the start, from guesses: `sets` by kind, where that of the wishes may be NULL.
// `marks` gets those of each input; it may be NULL.
bool tr_assemble(const ConditionSet *const *sets, double *x, uint8_t *marks, tr_error *err);

// Quaternions are units, a condition like the others: (|q|^2 - 1) / 2 = 0, with the slope q.
double tr_unit_residual(const double *q);
double tr_quaternion_size(const double *q);
// Makes one a unit again; returns how far it was off.
double tr_make_unit(double *q);

#endif
