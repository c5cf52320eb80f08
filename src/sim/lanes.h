// SPDX-License-Identifier: Apache-2.0
// Runs side by side, one in each lane of a block, as far as nothing happens to them but plain steps
// of rk4 or lie (T84). A run is put into a lane as a record, which has what such steps change or
// depend on; all else of it is elsewhere meanwhile. What is not plain is found out before or after
// a step, and then that step is not made: the lane leaves as it was before, to make it as a run.
//
// All runs of a block have the same programs: contact modes, chart, and what parameters are for
// certain. Who evaluates these is the matter of program/evaluate.h alone.
#ifndef TR_SIM_LANES_H
#define TR_SIM_LANES_H

#include "plan/touch.h"
#include "sim/lane_math.h"
#include "sim/run.h"

enum { LAST_STATES = PATH_STATES };

// Where other numbers stand in a record, several each
typedef struct RecordPlaces {
    uint32_t y, inputs;
    uint32_t past[LAST_STATES]; // the last states, the oldest first: single numbers, y, margins of
                                // switches
    uint32_t last, told, deaf;  // of alarms
    uint32_t squares, scales, largest; // of rows
    uint32_t kept;                     // switches that may cross
    uint32_t count;
} RecordPlaces;

// What runs with the same programs have in common, and the block that they go through.
typedef struct Lanes {
    const ChartPrograms *programs;
    const LaneMath *math;
    uint32_t lanes;
    uint32_t size, known, positions, inputs, alarms, rows, constraints, switches, pivots;
    uint32_t projected,
        conditions; // the latter with quaternions; 0: positions are left as they are
    uint32_t surplus, quaternions;
    TouchSearch *search;      // where something is on a surface that is not flat,
    const Touching *touching; // of the system
    uint32_t touchings;
    double *x; // the inputs of a lane
    uint32_t *surplus_row, *quaternion;
    bool is_lie, watches, is_single; // the last on a GPU
    RecordPlaces at;
    uint32_t past_y, past_margins, past_count; // places in one of the last states
    tr_workspace *rates;
    tr_workspace *watch, *phi, *projection; // NULL where there is nothing to do
    tr_workspace *columns, *residuals;      // of what is recorded; NULL until someone asks
    uint32_t constraint_rows;               // that residuals are about
    // Rows of lanes: where states go, and what comes out
    double **rates_in, **watch_in, **phi_in, **projection_in;
    double **rates_out, **seen, **off, **conditions_out; // the last with slopes behind them
    double *block;                                       // records, interleaved
    double *next, *u, *z, *k[4], *JJ, *solution, *slopes, *grown, *old; // room for steps
    double **k_rows[4];                                                 // of k
    double *unit;                                                       // of rows
    uint32_t newest; // of the last states in the block
    bool *lags;      // by lane: it did not make the last step
    size_t *member;  // by lane
    bool *is_taken;
    double taken[MOST_LANES]; // the same, 1 or 0
    double until[MOST_LANES]; // where it goes
    bool is_prepared;         // parameters of lanes are those of the workspaces
    bool is_seen;             // something was watched since
} Lanes;

// For runs that are like this one; NULL and an error when memory runs out.
Lanes *tr_lanes_new(const Run *run, tr_error *err);
void tr_lanes_free(Lanes *lanes);

// The record of a run, which must be calm (tr_watch_is_calm).
void tr_lanes_take(const Lanes *lanes, const Run *run, double *record);
// Back: to a run in which all else is as it was.
void tr_lanes_give(const Lanes *lanes, const double *record, Run *run);

// Rows, as tr_run_row has them, of at most as many records as there are lanes.
bool tr_lanes_rows(Lanes *lanes, const double *const *records, uint32_t count, double *const *rows,
                   tr_error *err);

// Into a lane that is free, to go on to `until`, and out of one that is taken.
void tr_lane_enter(Lanes *lanes, uint32_t lane, const double *record, double until);
void tr_lane_leave(Lanes *lanes, uint32_t lane, double *record);

// What became of a lane.
typedef enum LaneFate { LANE_STEPPED, LANE_ARRIVED, LANE_NOT_PLAIN } LaneFate;
// One step of every lane that is taken, no further than it goes. True when all made it; else those
// that did not are told, and must leave.
bool tr_lanes_step(Lanes *lanes, double step, LaneFate *fate);

#endif
