// SPDX-License-Identifier: Apache-2.0
// What rows of a run have come to so far, as numbers (T442). Compiled, and read by kernels for GPUs
// (gpu/translate.h), so both add a row by the same operations.
#ifndef TR_SWEEP_TALLY_H
#define TR_SWEEP_TALLY_H

#include "sim/balance.h"

// Then the value of each that is kept, and of its formula at the last row
enum {
    TALLY_ROWS,
    TALLY_FIRST, // times
    TALLY_LAST,
    TALLY_ENDS,     // the run ends there
    TALLY_POSITION, // the largest residuals
    TALLY_VELOCITY,
    TALLY_BALANCE,
    TALLY_VALUES = 11
};

// To a row, of what is kept: see reduction.def
typedef struct Step {
    bool is_first;
    double value, last, before, at, t, x;
} Step;

// On a straight line between rows
static inline double between(Step s)
{
    const double along = s.last + (s.x - s.last) * (s.at - s.before) / (s.t - s.before);
    const double there = s.at == s.t ? s.x : along;
    return s.before < s.at && s.at <= s.t ? there : s.value;
}

static inline void count_row(double *tally, double t)
{
    if (tally[TALLY_ROWS] == 0) tally[TALLY_FIRST] = t;
    tally[TALLY_LAST] = t;
    tally[TALLY_ROWS] = tally[TALLY_ROWS] + 1;
}

static inline void check_row(double *tally, double kinetic, double potential, double work,
                             double position, double velocity)
{
    tr_balance_add(tally + TALLY_BALANCE, kinetic, potential, work);
    tally[TALLY_POSITION] = larger(tally[TALLY_POSITION], position);
    tally[TALLY_VELOCITY] = larger(tally[TALLY_VELOCITY], velocity);
}

#endif
