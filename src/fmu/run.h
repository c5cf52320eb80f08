// SPDX-License-Identifier: Apache-2.0
// A run of an FMU: what its two kinds share. (simulate.c; me.c and cs.c move it forward.)
#ifndef TR_FMU_RUN_H
#define TR_FMU_RUN_H

#include "base/record.h"
#include "base/sheet.h"
#include "fmu/instance.h"

typedef struct Signal {
    uint32_t variable;
    const double *values; // of each row of the sheet
    double last;          // that was set
} Signal;

typedef struct FmuRun {
    const tr_fmu_options *options;
    Fmu fmu;
    Binary binary;
    Instance instance;
    FmiKind kind;
    double start, end, every, step, rtol, atol;
    // columns behind t
    uint32_t *shown; // variables
    uint32_t shown_count;
    char **labels; // with "t"
    const char **units;
    size_t columns;
    double *row;
    Record *record;
    uint64_t next; // row
    // inputs over time
    Sheet *sheet;
    const double *times;
    Signal *signals;
    uint32_t signal_count;
    tr_summary *summary;
    bool is_over; // stopped, or the FMU said so
} FmuRun;

// The time of the next row, and of the one behind the last: infinity
double tr_fmu_next_row(const FmuRun *run);
// Records what the instance has now, at t.
bool tr_fmu_row(FmuRun *run, double t, tr_error *err);
// Counts a step; false when there may be no more, or the caller stops it (`is_over`).
bool tr_fmu_stepped(FmuRun *run, double t, tr_error *err);

// Inputs of the sheet at t: those that are continuous, or the others, too
bool tr_fmu_set_inputs(FmuRun *run, double t, bool all, tr_error *err);
// Whether an input that is not continuous has another value at t than was set last
bool tr_fmu_inputs_jump(const FmuRun *run, double t);
// The next time after t that a row of the sheet is at, or infinity
double tr_fmu_next_knot(const FmuRun *run, double t);

bool tr_fmu_me(FmuRun *run, tr_error *err);
bool tr_fmu_cs(FmuRun *run, tr_error *err);

// Sets parameters, inputs and start values, as options and sheet have them, before initialization.
bool tr_fmu_set_start(FmuRun *run, tr_error *err);

#endif
