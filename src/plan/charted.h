// SPDX-License-Identifier: Apache-2.0
// The flow in one chart: the programs of a plan, and the room that this run needs for them.
#ifndef TR_PLAN_CHARTED_H
#define TR_PLAN_CHARTED_H

#include "plan/chart.h"
#include "plan/chart_programs.h"

struct Flow;
struct Jacobian;
struct Kkt;

typedef struct Charted {
    const ChartPrograms *programs;
    const Chart *chart;           // NULL when there are no constraints
    uint32_t preferred;           // see tr_chart_preferred
    Chart *own_chart;             // the same, where it is this run's
    Evaluator of[CHART_PROGRAMS]; // those that are ready; but for CHART_KKT, which `kkt` has
    uint32_t ready;               // a bit for each
    const uint32_t *place;        // see ChartPrograms
    uint32_t projected;
    struct Kkt *kkt;           // NULL when there are no constraints, or nobody asked
    struct Jacobian *jacobian; // NULL until someone asks, see jacobian.h
} Charted;

// In this chart; `own`, where it is the run's, is taken. There is none without constraints.
Charted *tr_charted_new(struct Flow *flow, const Chart *chart, Chart *own, tr_error *err);
// With these programs, a bit for each
bool tr_charted_ready(struct Flow *flow, Charted *charted, uint32_t programs, tr_error *err);
// With the same pivots, and numbers found elsewhere; takes the chart.
void tr_charted_renew(Charted *charted, Chart *own);
void tr_charted_free(Charted *charted);

#endif
