// SPDX-License-Identifier: Apache-2.0
// The slopes df/dy of a flow's rates, exactly, from the graph: what implicit methods solve with,
// and what says how stiff a motion is.
#ifndef TR_PLAN_JACOBIAN_H
#define TR_PLAN_JACOBIAN_H

#include "plan/flow.h"

typedef struct Jacobian Jacobian;

// Makes the program of the flow's present chart, unless there is one already.
bool tr_jacobian_ready(Flow *flow, tr_error *err);
void tr_jacobian_free(Jacobian *jacobian);

// df/dy at (t, y) by columns, `size` by `size`. Sensitivities S' = df/dy S + df/dp have the same
// slopes along themselves; those along y are left out, for Newton's steps converge without them. So
// it is with covariances, whose P F^T couples columns.
void tr_jacobian_take(Flow *flow, double t, const double *y, double *J);
// Adds df/dy P to K, by rows of `known`: P by columns that are `stride` apart, and symmetric. The
// flow's inputs are those of (t, y).
void tr_jacobian_times(Flow *flow, const double *P, uint32_t stride, double *K);

#endif
