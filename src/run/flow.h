// SPDX-License-Identifier: Apache-2.0
// A system as an ordinary differential equation: y' = f(t, y), with y the positions and velocities
// that are not driven, and the work done so far. This is all that the integrators know.
#ifndef TR_RUN_FLOW_H
#define TR_RUN_FLOW_H

#include "expr/system.h"
#include "program/program.h"

#define NOT_THERE UINT32_MAX

// Four consecutive entries of y that are a unit quaternion, and where its angular velocity stands:
// NOT_THERE when it is held.
typedef struct Turning {
    uint32_t quaternion, velocity;
} Turning;

typedef struct Flow {
    System *system;
    tr_program *rates, *columns;
    tr_workspace *rates_work, *columns_work;
    double *inputs;           // of the programs, in the system's order
    uint32_t *place;          // of each entry of y but the last: its input
    uint32_t positions, size; // y is positions, velocities, work
    Turning *turnings;
    uint32_t turning_count;
    const char **labels; // of the columns
    uint32_t column_count;
    size_t evaluations;
    // Rates are taken at times in here, though steps reach its ends: on one side of every jump.
    double earliest, latest;
} Flow;

Flow *tr_flow_new(System *system, tr_error *err);
void tr_flow_free(Flow *flow);

void tr_flow_rate(Flow *flow, double t, const double *y, double *rate);
// What is recorded at (t, y), but for t itself: coordinates, velocities, outputs.
void tr_flow_columns(Flow *flow, double t, const double *y, double *columns);

// Makes quaternions units again; returns how far the worst was off.
double tr_flow_project(const Flow *flow, double *y);
double tr_flow_residual(const Flow *flow, const double *y);

// The state at the start [run/assemble.c]. `solved` gets a mark for each entry of y that was found
// by solving instead of being given; it may be NULL.
bool tr_assemble(Flow *flow, double *y, bool *solved, tr_error *err);

#endif
