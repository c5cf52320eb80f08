// SPDX-License-Identifier: Apache-2.0
// Where runs start: the state that `initial` and the constraints ask for, and what contacts do
// there.
#ifndef TR_PLAN_START_H
#define TR_PLAN_START_H

#include "plan/doctor.h"

// The model's own numbers: values of all inputs, guesses of those that are found.
void tr_start_values(const System *system, double *values);

// What the doctor found at the start with the model's own numbers; once for a plan. NULL without
// constraints, or when that failed.
const Findings *tr_plan_examine(Plan *plan, tr_error *err);
// Whether it can run: false, with words.
bool tr_plan_allows(Plan *plan, tr_error *err);

#endif
