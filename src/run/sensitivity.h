// SPDX-License-Identifier: Apache-2.0
// How a motion depends on parameters: S = dy/dp, by the variational equations
//
//   S' = df/dy S + df/dp                                                           (T108)
//
// integrated along with y' = f(t, y). A flow with sensitivities has a longer y: behind its own
// entries one block of the same length for each parameter.
#ifndef TR_RUN_SENSITIVITY_H
#define TR_RUN_SENSITIVITY_H

#include "run/flow.h"

typedef struct Sensitivity Sensitivity;

// Of a flow at its start, by parameters or inputs "m0,theta". False, with words, when there is no
// such name, or when the start does not depend on them smoothly.
bool tr_sensitivity_attach(Flow *flow, const char *names, tr_error *err);
void tr_sensitivity_free(Sensitivity *sensitivity);

// The programs that a view of the flow needs, which the system must be reduced for.
bool tr_sensitivity_view(Flow *flow, View *view, tr_error *err);

// Behind the flow's own entries; the flow's inputs are those of (t, y).
void tr_sensitivity_rate(Flow *flow, const double *y, double *rate);
// How the projected constraints change with a parameter; likewise
void tr_sensitivity_rows(Flow *flow, const double *y, uint32_t which, double *out);
// Before the flow goes on in another view, and after.
void tr_sensitivity_leave(Flow *flow, double t, const double *y);
void tr_sensitivity_enter(Flow *flow, double *y);

// d(NAME)/d(PARAMETER) of coordinates, velocities and outputs
uint32_t tr_sensitivity_count(const Flow *flow);
const char *const *tr_sensitivity_labels(const Flow *flow);
void tr_sensitivity_columns(Flow *flow, double t, const double *y, double *columns);

// Where a formula of t jumps between two times that are next to each other: false, with words, when
// the rates jump too and the time of it may depend on a parameter.
bool tr_sensitivity_passes(Flow *flow, double before, double after, const double *y, tr_error *err);

#endif
