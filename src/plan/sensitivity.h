// SPDX-License-Identifier: Apache-2.0
// How a motion depends on parameters: S = dy/dp, by the variational equations
//
//   S' = df/dy S + df/dp                                                           (T108)
//
// integrated along with y' = f(t, y). A flow with sensitivities has a longer y: behind its own
// entries one block of the same length for each parameter.
#ifndef TR_PLAN_SENSITIVITY_H
#define TR_PLAN_SENSITIVITY_H

#include "plan/flow.h"

// What a plan for sensitivities knows of them. It is not changed any more.
typedef struct Sensitivity {
    uint32_t count;      // of parameters
    uint32_t *parameter; // inputs
    // By parameter and input: the input that is its direction, or 0. What takes one direction takes
    // the first; rates take all of them at once, each with its own parameter.
    uint32_t *direction;
    uint32_t frozen; // the first of inputs that stand for accelerations, by velocity, where there
                     // are no constraints
    uint32_t input_count; // of the system, before there were directions
    const char **labels;  // of the columns
    uint32_t columns;     // for each parameter
    tr_program *speeds;   // how speeds and inner velocities change
    uint32_t *speed;      // their inputs
    uint32_t speed_count;
} Sensitivity;

// A plan of a system with directions, by parameters or inputs "m0,theta". NULL, with words, when
// there is no such name.
Plan *tr_sensitivity_plan(const System *system, const char *names, tr_error *err);
// By inputs of the system that no formula of t drives: parameters, inputs, and numbers of the
// start, which are then numbers of their own.
Plan *tr_sensitivity_plan_by(const System *system, const uint32_t *inputs, uint32_t count,
                             tr_error *err);
void tr_sensitivity_free(Sensitivity *sensitivity);
// The programs that a chart needs besides; the system is reduced for it.
tr_program *tr_tangent_program(const Plan *plan, System *reduced, ChartPrograms *chart,
                               tr_error *err);
tr_program *tr_column_tangent_program(const Plan *plan, System *reduced, ChartPrograms *chart,
                                      tr_error *err);
tr_program *tr_projection_tangent_program(const Plan *plan, System *reduced, ChartPrograms *chart,
                                          tr_error *err);

// Those of a run
typedef struct SensitivityRun {
    const Sensitivity *of;
    double *all;  // by parameter, by input: how all positions and velocities change
    double *room; // for columns and rates
    Evaluator speeds;
} SensitivityRun;

// To a flow at its start, where its plan is one for sensitivities. False, with words, when the
// start does not depend on them smoothly.
bool tr_sensitivity_attach(Flow *flow, tr_error *err);
void tr_sensitivity_run_free(SensitivityRun *run);

// Behind the flow's own entries; the flow's inputs are those of (t, y).
void tr_sensitivity_rate(Flow *flow, const double *y, double *rate);
// How the projected constraints change with a parameter; likewise
void tr_sensitivity_rows(Flow *flow, const double *y, uint32_t which, double *out);
// Before the flow goes on in another chart, and after.
void tr_sensitivity_leave(Flow *flow, double t, const double *y);
void tr_sensitivity_enter(Flow *flow, double *y);

// d(NAME)/d(PARAMETER) of coordinates, velocities and outputs
uint32_t tr_sensitivity_count(const Flow *flow);
const char *const *tr_sensitivity_labels(const Flow *flow);
void tr_sensitivity_columns(Flow *flow, double t, const double *y, double *columns);

// Where a formula of t jumps between two times that are next to each other: false, with words, when
// the rates jump too and the time of it may depend on a parameter.
bool tr_sensitivity_passes(Flow *flow, double before, double after, const double *y, tr_error *err);

// ---- for the start, see sensitivity_start.c ------------------------------------------------

static inline Expr symbol_of(const System *s, uint32_t input) { return s->inputs[input].symbol; }

// How positions, or rates, at the start change with each parameter, into `all`; `own` is a copy of
// the flow's system that is not reduced.
bool tr_sensitivity_start(Flow *flow, System *own, bool rates, tr_error *err);
// Derivatives along the directions of what is free; definitions are put in first.
typedef enum Except { EXCEPT_NOTHING, EXCEPT_POSITIONS, EXCEPT_VELOCITIES } Except;
void tr_sensitivity_differentiate(System *system, const Sensitivity *sensitivity, Expr *of,
                                  size_t count, Except except, Expr *out);
// Directions as parameter `which` changes, and all that `all` says follows it.
void tr_sensitivity_point(const Flow *flow, uint32_t which);

#endif
