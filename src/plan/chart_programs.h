// SPDX-License-Identifier: Apache-2.0
// What a flow evaluates in one chart (T82), as programs that any number of runs share.
#ifndef TR_PLAN_CHART_PROGRAMS_H
#define TR_PLAN_CHART_PROGRAMS_H

#include "expr/bound.h"
#include "plan/plan.h"

// df/dy: the entries that are not structurally zero
typedef struct JacobianPrograms {
    tr_program *program; // NULL when there are none
    uint32_t *row, *column;
    uint32_t count;
} JacobianPrograms;

// Formulas of t that jump, see event.h
typedef struct JumpPrograms {
    tr_program *program; // what they are; NULL when there are none
    Bounds *bounds;      // on that, then on what makes them change: by its zeros, or its rounding
    bool *rounds;        // of each: it is a whole number
    char **words;        // it as a formula; "" when that is long
    uint32_t count;
    bool uses_inputs;
    bool strikes; // one of them is part of a motion or a constraint
} JumpPrograms;

// What a run looks at after every step is one program, as all of it shares most of the work:
//
//   rates      `own` of them: the first stage of the next step
//   alarms     margins, by alarm
//   squares    of sizes, by row, over all velocities, in the metric of the masses' diagonal (T61)
//   pivots     by pivot, in the same metric: of rows as they are, not scaled               (T65)
//   tilt       how much dependent velocities exceed independent ones                       (T65)
//   surplus    of each row that is no pivot and holds: how far it is off, and what cancels in it
//   switches   by switch, how far it is from leaving its side; none where nothing switches
//   sites      by alarm, the place that it is about, where there is one
typedef struct WatchPlaces {
    uint32_t alarms, squares, pivots, tilt, surplus, switches, sites; // where each begins
    uint32_t count;                                                   // of all
    uint32_t *others; // inputs that it takes besides time, y and parameters; sides among them
    uint32_t other_count;
} WatchPlaces;

// Each is made when someone asks; there may be nothing to evaluate.
typedef enum ChartProgram {
    CHART_RATES,         // of y
    CHART_MOTION,        // of its positions alone
    CHART_COLUMNS,       // what is recorded
    CHART_ACCELERATIONS, // v', of all velocities
    CHART_RESIDUALS,     // of constraints
    CHART_PHI,           // constraints on positions that are projected onto
    CHART_PROJECTION,    // and their slopes, too
    CHART_KKT,           // c Q gamma vdot
    CHART_SIDES,         // of switches, see switch.h
    CHART_WATCH,         // see WatchPlaces: where there are rows, switches or alarms that end a run
    // Derivatives of rates, columns and projected constraints, see sensitivity.h
    CHART_TANGENT,
    CHART_COLUMN_TANGENT,
    CHART_PROJECTION_TANGENT,
    CHART_SAMPLES, // what is recorded, then all of the output "samples"
    // Of covariances, see covariance.h: what noise does, slopes of what is recorded, of what may be
    // a velocity of another chart, and of what is measured. No run needs them otherwise.
    CHART_NOISE,
    CHART_SPREAD,
    CHART_SEAM,
    CHART_FIXES,
    CHART_PROGRAMS
} ChartProgram;

typedef struct ChartPrograms {
    Key key;
    const Footing *footing;
    Partition partition; // its own
    // y is positions, velocities (`known` so far), gaps of open contacts, work (`own` in all).
    uint32_t positions, known, own;
    uint32_t *place;    // of each entry of y that is a position or velocity: its input
    uint32_t holonomic; // position residuals: the first of the residuals
    uint32_t projected; // constraints on positions that are projected onto
    tr_program *of[CHART_PROGRAMS];
    bool is_made[CHART_PROGRAMS];
    WatchPlaces watched;        // once that is made
    bool moves;                 // times of jumps depend on a parameter; known with CHART_TANGENT
    JacobianPrograms *jacobian; // NULL until someone asks
    JumpPrograms *jumps;        // likewise
} ChartPrograms;

ChartPrograms *tr_chart_programs_new(Plan *plan, const Footing *footing, const Partition *partition,
                                     uint32_t surplus, tr_error *err);
void tr_chart_programs_free(ChartPrograms *programs);

// One of them; NULL where there is nothing to evaluate, or after an error.
const tr_program *tr_chart_program(Plan *plan, const ChartPrograms *chart, ChartProgram which,
                                   tr_error *err);
// While the plan's lock is held: makes it, unless it is there; a copy of the reduced system.
void tr_chart_make(Plan *plan, ChartPrograms *chart, ChartProgram which, tr_error *err);
System *tr_chart_system(Plan *plan, const ChartPrograms *chart, tr_error *err);
// And what is more than a program.
const JacobianPrograms *tr_chart_jacobian(Plan *plan, const ChartPrograms *chart, tr_error *err);
const JumpPrograms *tr_chart_jumps(Plan *plan, const ChartPrograms *chart, tr_error *err);
JacobianPrograms *tr_jacobian_programs_new(System *reduced, const ChartPrograms *chart,
                                           tr_error *err);
JumpPrograms *tr_jump_programs_new(System *reduced, const ChartPrograms *chart, tr_error *err);
void tr_jump_programs_free(JumpPrograms *jumps);

// The rates of y as expressions of a system that stands and is reduced so: `own` of them.
void tr_chart_rates(const System *reduced, const ChartPrograms *chart, Expr *rates);
// |G_1 v_1| + |G_2 v_2| + ... + |g|: what cancels in a row, and a little of the velocities, for
// what cancels in a slope
Expr tr_chart_cancelling(System *system, Row *row);
tr_program *tr_watch_program(const Plan *plan, System *reduced, ChartPrograms *chart,
                             tr_error *err);
// What positions are projected onto: constraints that are pivots, and tangency
void tr_chart_phi(const System *reduced, const ChartPrograms *chart, Exprs *list);
// What is recorded: positions, velocities, then what has a label. `labels` may be NULL.
void tr_chart_columns(const System *reduced, Exprs *values, const char **labels);

#endif
