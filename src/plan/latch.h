// SPDX-License-Identifier: Apache-2.0
// Contacts that open, close, slip and stick on the way: which flow goes on when an alarm that
// watch.h found is about one of them.
#ifndef TR_PLAN_LATCH_H
#define TR_PLAN_LATCH_H

#include "plan/flow.h"

// Whether an alarm is about what a latch does now; all others always are.
bool tr_alarm_matters(const System *system, const LatchMode *modes, uint32_t alarm);

// The same flow, or one in its place where contacts that would pull at its start are open, and
// those that friction does not hold slip.
Flow *tr_latches_settle(Flow *flow, double t, tr_error *err);

// A change on the way.
typedef struct Switch {
    double t;
    uint32_t alarm;
    double gained;  // kinetic energy [J]
    double lost;    // what was dissipated; the rest is work of what is driven
    double impulse; // of what touched, along its normal [N s or N m s]
    bool rebounded; // it touched, and left at once
    bool slips_on;  // it could not hold, and turns round
    // Of a blow: the motion or the constraint whose rate jumps, and then there is no alarm; else
    // NULL.
    const char *source;
    const char *formula; // that crossed over, and rates jump; NULL when none did
} Switch;

// What follows when an alarm about a latch goes off at (t, y): the flow from there on, another one
// unless all latches are as they were, or NULL. `fastest` is the largest speed of an impact so far.
Flow *tr_latches_switch(Flow *flow, const double *y, double *fastest, Switch *change,
                        tr_error *err);

// What follows when rates of motions or constraints jump, where the flow stands on the far side,
// and all inputs were these on the near one; `work` so far. The same flow and no source when no
// velocity jumps.
Flow *tr_latches_strike(Flow *flow, const double *before, double work, Switch *change,
                        tr_error *err);

#endif
