// SPDX-License-Identifier: Apache-2.0
// A system as an ordinary differential equation: y' = f(t, y) (T82), with y the positions that are
// not driven, the independent velocities, gaps, and the work done so far. This is all that the
// integrators know. Which velocities are independent may change on the way: then the flow has
// another chart.
#ifndef TR_PLAN_FLOW_H
#define TR_PLAN_FLOW_H

#include "plan/charted.h"

#include <assert.h>

struct SensitivityRun;
struct Covariance;

// What was watched last: it stands as long as a chart is given the same numbers.
typedef struct Watched {
    const Charted *in; // NULL when there is nothing
    double t;          // on this side of jumps
    double *y;         // of which what is known of it
    double *others;    // inputs that the program takes besides
    double *values;    // see WatchPlaces
} Watched;

typedef struct Flow {
    Plan *plan;
    const System *system;      // the plan's
    const Footing *footing;    // for its modes
    LatchMode *modes;          // by latch: what contacts do
    Stance *stance;            // NULL when there are no constraints
    Charted *charts[16], *now; // as far as there are any
    uint32_t chart_count;
    uint32_t needs; // programs that are ready in every chart, a bit for each ChartProgram
    double *inputs; // of the programs, in the system's order; then the sides of switches
    double *sides;  // these: runs set them, 0 when they do not, see switch.h
    double *kept;   // room for them
    uint32_t switch_count;
    Watched watched;
    // y is positions, velocities (`known` so far), gaps of open contacts, work (`own` so far), and
    // then sensitivities or a covariance. Nothing depends on the gaps here: they make steps short
    // enough to see what they do, also over plates that shake.
    uint32_t positions, known, own, size;
    struct SensitivityRun *sensitivity; // NULL without
    struct Covariance *covariance;      // likewise; then P is behind what is its own
    double *start;                      // y at the start
    uint8_t *marks;                     // by input: what became of it at the start, StartMark
    uint32_t *quaternions;              // four entries of y from each are a unit quaternion
    uint32_t quaternion_count;
    const char **labels; // of the columns
    uint32_t column_count;
    double *column; // room for them
    // Values of the speeds that the model chose and of inner velocities, from all velocities.
    Evaluator speeds;
    double *speed;
    // Of constraints: position residuals, then for all rows the residual of the velocity and the
    // size of what cancels in it.
    double *residual;
    uint32_t holonomic;
    double *largest;    // size that a surplus row has had so far
    double *correction; // room for projecting
    uint32_t *filled;   // likewise, by position
    bool no_projection; // velocities alone satisfy the constraints, and positions drift
    size_t evaluations, jacobians;
    size_t all_evaluations; // of any program, also those of flows before that it goes on from
    // All is taken at times in here, though steps reach its ends: on one side of every jump. Only
    // what is recorded where a jump stands shows what comes then.
    double earliest, latest;
} Flow;

// Assembles the state at the start and chooses a chart there. `values` are those of all inputs:
// parameters, inputs, and guesses of the rest; NULL for the model's own.
Flow *tr_flow_new(Plan *plan, const double *values, tr_error *err);
// From values of all inputs, which satisfy the constraints that are not open in these modes. In
// this chart, which must outlive the flow, or in one that fits where it is NULL.
Flow *tr_flow_from(Plan *plan, const LatchMode *modes, const double *inputs, const Chart *chart,
                   tr_error *err);
// In a chart that is taken; NULL without constraints.
Flow *tr_flow_in(Plan *plan, const LatchMode *modes, const double *inputs, Chart *own,
                 tr_error *err);
// A copy of its system as it stands, reduced for its present chart.
System *tr_flow_system(const Flow *flow, tr_error *err);
void tr_flow_free(Flow *flow);
void tr_flow_restart(Flow *flow, const double *inputs); // likewise, in the present chart

// What a flow evaluates must be ready, here and in charts that come: programs are made when someone
// first needs them. Those of a run, or some.
#define FLOW_RUN (((1u << CHART_NOISE) - 1) & ~(1u << CHART_MOTION | 1u << CHART_ACCELERATIONS))
bool tr_flow_ready(Flow *flow, uint32_t programs, tr_error *err);

static inline const Evaluator *flow_program(const Flow *flow, ChartProgram which)
{
    assert(flow->now->ready >> which & 1);
    return &flow->now->of[which];
}

// Runs a program on `inputs`, and counts it.
static inline void tr_flow_evaluate(Flow *flow, const Evaluator *e, double *out)
{
    evaluate_into(e, flow->inputs, out);
    flow->all_evaluations++;
}

void tr_flow_rate(Flow *flow, double t, const double *y, double *rate);
// The same at the beginning of a step, which is where the last one was watched: by the program that
// watches, whether or not it was evaluated there already.
void tr_flow_first_rate(Flow *flow, double t, const double *y, double *rate);
// When anything but what is recorded is taken for time t.
static inline double tr_flow_time(const Flow *flow, double t)
{
    return t < flow->earliest ? flow->earliest : t > flow->latest ? flow->latest : t;
}
// One step of the classical method of fourth order from (t, y), in place; `room` is for five y.
void tr_flow_step(Flow *flow, double t, double h, double *y, double *room);
// What is recorded at (t, y), but for t itself: coordinates, velocities, outputs.
void tr_flow_columns(Flow *flow, double t, const double *y, double *columns);
// What samples at (t, y) give, as rows see it there: all of the output "samples", behind columns.
void tr_flow_samples(Flow *flow, double t, const double *y, double *values);
void tr_flow_fill(Flow *flow, double t, const double *y); // into `inputs`, on this side of jumps
// Speeds and inner velocities in a state that has all velocities.
void tr_flow_speeds(Flow *flow, double *inputs);
// The same with all velocities and speeds, also those that depend on others.
void tr_flow_fill_all(Flow *flow, double t, const double *y);
// As rows that are recorded see it: at t, also where a jump is that was not passed yet.
void tr_flow_fill_row(Flow *flow, double t, const double *y);

// Makes quaternions units again and positions satisfy their constraints; returns how far the worst
// was off.
double tr_flow_project(Flow *flow, double t, double *y);
// Takes from a small change of y what that would undo; from several, `stride` apart.
void tr_flow_project_change(Flow *flow, double t, const double *y, double *change);
void tr_flow_project_changes(Flow *flow, double t, const double *y, double *first, uint32_t count,
                             uint32_t stride);
// How far positions and velocities are off, at the worst.
void tr_flow_residual(Flow *flow, double t, const double *y, double *position, double *velocity);

// Whether the constraints that were not solved for hold at (t, y) as well; else words in err.
bool tr_flow_agrees(Flow *flow, double t, const double *y, tr_error *err);

// What is watched at (t, y), in the order of WatchPlaces: evaluated unless it is known. It stands
// until the next call. There must be rows or switches.
const double *tr_flow_watch(Flow *flow, double t, const double *y);
void tr_flow_forget(Flow *flow); // what is known

// The margins of the system's alarms at (t, y).
void tr_flow_alarms(Flow *flow, double t, const double *y, double *margins);
// The place that an alarm is about there.
const double *tr_flow_site(Flow *flow, double t, const double *y, uint32_t alarm);
// Whether there is anything to look at between steps
bool tr_flow_is_watched(const Flow *flow);

// Of switches at (t, y): margins, or the sides that they are on. There must be some in this chart.
static inline bool tr_flow_has_switches(const Flow *flow)
{
    return flow_program(flow, CHART_SIDES)->program != NULL;
}
const double *tr_flow_switches(Flow *flow, double t, const double *y);
void tr_flow_sides(Flow *flow, double t, const double *y, double *sides);

// A chart is bad when dependent velocities exceed independent ones this much, or a pivot is this
// small.
#define TILT_BAD                   20
#define PIVOT_BAD                  0.02
#define IS_CHART_GOOD(tilt, least) (((tilt) <= TILT_BAD) & ((least) >= PIVOT_BAD))
// Goes on in the chart that fits (t, y), if it is much better than the present one, or has more of
// the velocities that the model prefers: y then holds other velocities, and `changed` is set.
bool tr_flow_rechart(Flow *flow, double t, double *y, Quality quality, bool *changed,
                     tr_error *err);
// Of the present chart, from what is watched at (t, y), or was seen there.
Quality tr_flow_quality(Flow *flow, double t, const double *y);
Quality tr_flow_quality_in(const Flow *flow, const double *seen);
// Takes the stance at (t, y); false when that is not finite.
bool tr_flow_stand(Flow *flow, double t, const double *y);

#endif
