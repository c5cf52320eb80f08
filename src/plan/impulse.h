// SPDX-License-Identifier: Apache-2.0
// Impulses at an instant, along all rows that hold and at all contacts that touch together.
#ifndef TR_PLAN_IMPULSE_H
#define TR_PLAN_IMPULSE_H

#include "plan/contact_modes.h"

typedef struct Impulses {
    const System *system;
    Masses masses;
    const double *rate, *size; // by row: G v + g before, and what cancels in it
    const double *push;        // by free velocity: M dv of what is driven
    const double *restitution; // by latch: e of what closes, else 0
    const double *friction;    // by latch
    const bool *touches;       // by latch: it is closed, or closes now
    LatchMode *modes;          // of these: as they were, and as they become
    double *L, *dv;            // found: by row, and by free velocity
    bool *leaves;              // found, by latch: its normal moves apart
} Impulses;

// M dv = G^T L - push, with every contact apart, stuck or slipping after it as its impulses are
// (T87, T88). False when there are no such impulses, and with an error without memory.
bool tr_impulses_find(Impulses *impulses, tr_error *err);

#endif
