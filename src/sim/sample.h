// SPDX-License-Identifier: Apache-2.0
// Samples on the way of a run: what controllers and sensors of the model do, at their times (T321).
#ifndef TR_SIM_SAMPLE_H
#define TR_SIM_SAMPLE_H

#include "num/period.h"
#include "sim/run.h"

// One for each of the system's that act at samples
typedef struct Clock {
    uint64_t count; // samples so far
    Period period;
    double seed;
} Clock;

// What acts at samples has clocks that stand at t = 0; nothing is sampled yet.
bool tr_samples_begin(Run *run, tr_error *err);
// When the next sample is due
double tr_samples_due(const Run *run);
// Where the next sample is as good as there: the same time
bool tr_samples_are_near(double due, double t);
// Takes those that are due where it stands. False, with words, when it must stop.
bool tr_samples_take(Run *run, tr_error *err);

#endif
