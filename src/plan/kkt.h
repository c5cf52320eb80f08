// SPDX-License-Identifier: Apache-2.0
// The accelerations a second time, by Gauss's principle instead of a partition: of all that satisfy
// the constraints, those nearest to the free ones in the mass metric. They solve the equations with
// multipliers (Karush, Kuhn, Tucker), whatever rows are redundant.
#ifndef TR_PLAN_KKT_H
#define TR_PLAN_KKT_H

#include "plan/flow.h"

typedef struct Kkt Kkt;

// Of the flow in this chart, with its program, which may be NULL: then there is none.
Kkt *tr_kkt_new(Flow *flow, const Chart *chart, const tr_program *program, tr_error *err);
void tr_kkt_renew(Kkt *kkt, const Chart *chart); // with the same pivots
void tr_kkt_free(Kkt *kkt);

// The largest difference to the flow's own accelerations at (t, y), relative to the largest of
// them. NaN when the mass matrix is not positive definite.
double tr_kkt_difference(Kkt *kkt, double t, const double *y);

// Whether the accelerations at (t, y) satisfy the constraints that were not solved for; else words.
bool tr_kkt_agrees(Kkt *kkt, double t, const double *y, tr_error *err);

#endif
