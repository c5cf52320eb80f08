// SPDX-License-Identifier: Apache-2.0
// The flow in one chart: what is evaluated there, as programs.
#ifndef TR_RUN_CHART_VIEW_H
#define TR_RUN_CHART_VIEW_H

#include "run/chart.h"
#include "run/evaluator.h"

struct Flow;
struct Jacobian;
struct Kkt;

typedef struct View {
    Chart *chart; // NULL when there are no constraints
    Evaluator rates, columns;
    Evaluator residuals, projection, alarms; // of constraints: nothing where there are none
    uint32_t *place;           // of each entry of y that is a position or velocity: its input
    uint32_t projected;        // constraints on positions that are projected onto
    struct Kkt *kkt;           // NULL when there are no constraints
    struct Jacobian *jacobian; // NULL until someone asks, see jacobian.h
    // Derivatives of rates, columns and projected constraints, see sensitivity.h
    Evaluator tangent, column_tangent, projection_tangent;
} View;

// Reduces the system for the chart, which it takes; there is none without constraints. The flow's
// sizes and labels are set with its first view.
View *tr_view_new(struct Flow *flow, Chart *chart, tr_error *err);
void tr_view_free(View *view);

// What is recorded: positions, velocities, then what has a label. `labels` may be NULL.
void tr_view_columns(const System *system, Exprs *values, const char **labels);

// The rates of the flow's `own` entries of y as expressions, while the system is reduced for the
// view.
void tr_view_rates(const struct Flow *flow, const View *view, Expr *rates);

#endif
