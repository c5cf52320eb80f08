// SPDX-License-Identifier: Apache-2.0
// The accelerations a second time, by Gauss's principle instead of a partition: of all that satisfy
// the constraints, those nearest to the free ones in the mass metric. They solve the equations with
// multipliers (Karush, Kuhn, Tucker), whatever rows are redundant.
#ifndef TR_RUN_KKT_H
#define TR_RUN_KKT_H

#include "run/flow.h"

typedef struct Kkt Kkt;

Kkt *tr_kkt_new(Flow *flow, const Chart *chart, tr_error *err); // of the flow in this chart
void tr_kkt_free(Kkt *kkt);

// The largest difference to the flow's own accelerations at (t, y), relative to the largest of
// them. NaN when the mass matrix is not positive definite.
double tr_kkt_difference(Kkt *kkt, double t, const double *y);

// Whether the accelerations at (t, y) satisfy the constraints that were not solved for; else words.
bool tr_kkt_agrees(Kkt *kkt, double t, const double *y, tr_error *err);

#endif
