// SPDX-License-Identifier: Apache-2.0
// How long the steps of a run are, and how long they might be: as accuracy allows, and as the
// fastest motion that the equations know allows, whether it moves or not. Where the second keeps
// explicit steps far below the first, the problem is stiff.
#ifndef TR_SIM_PACE_H
#define TR_SIM_PACE_H

#include "plan/flow.h"

typedef struct Pace Pace;

// The tolerances are those of one step of backward differences.
Pace *tr_pace_new(Flow *flow, double rtol, double atol);
void tr_pace_free(Pace *pace);

// After a step to (t, y); `stopped` when it ended there because it was told to. True when there is
// another sample of the states, and with it enough of them.
bool tr_pace_step(Pace *pace, double t, const double *y, bool stopped);
// The time that has become known by it: since the sample before, or at first since the oldest one
double tr_pace_latest(const Pace *pace);
bool tr_pace_is_known(const Pace *pace);    // of enough steps
bool tr_pace_is_hurried(const Pace *pace);  // stops make the steps short
double tr_pace_mean_step(const Pace *pace); // lately

// The steps with which backward differences of this order (at most 5) would be accurate enough.
double tr_pace_reach(const Pace *pace, int order);

// The fastest motion beside that at (t, y): the eigenvalue of df/dy of the largest size, and the
// largest of those that hardly decay.
typedef struct Fastest {
    double size, damping; // [1/s]; -Re / size
    double undamped;      // [1/s]
} Fastest;
#define HARDLY_DAMPED 0.1
bool tr_pace_fastest(Flow *flow, double t, const double *y, Fastest *fastest);

#endif
