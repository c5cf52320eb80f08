// SPDX-License-Identifier: Apache-2.0
// The last states that a run came to, and where it was between them: on the method's own polynomial
// where it has one, else on a cubic; and exactly, by one step from the state before.
#ifndef TR_SIM_PATH_H
#define TR_SIM_PATH_H

#include "plan/flow.h"

enum { PATH_STATES = 3 };

typedef struct Path {
    Flow *flow;
    double t[PATH_STATES], *y[PATH_STATES]; // the oldest first, all in one chart
    uint32_t count;
    // The state at a time near the last step, where the method knows: then nothing is integrated
    // again, which what is stiff would not bear. NULL when it does not.
    bool (*look)(void *owner, double t, double *y);
    void *owner;
    double *rate[2]; // at both ends of the piece that was looked at last
    uint32_t rated;  // its first state; PATH_STATES when none was
    double *beside;  // the state that was asked for
    double *found;   // where a crossing was
    double *room;
} Path;

bool tr_path_open(Path *path, Flow *flow, tr_error *err);
void tr_path_close(Path *path);

void tr_path_add(Path *path, double t, const double *y); // the oldest of too many is forgotten

// The state at t between two others, on the constraints: cheaply, or as exactly as steps are. The
// second also goes beyond the last.
const double *tr_path_between(Path *path, double t);
const double *tr_path_exact(Path *path, double t);

// Something that is measured along a path: it becomes negative.
typedef struct Measure {
    double (*take)(void *owner, double t, const double *y);
    void *owner;
} Measure;

// When it does, between the state `from` and `high`, no later than the next state or beyond the
// last: a time where it is negative, no more than `close` behind one where it is not. The state
// there is in `found`.
double tr_path_crossing(Path *path, Measure measure, uint32_t from, double high, double close);

#endif
