// SPDX-License-Identifier: Apache-2.0
// Velocities that jump when a contact closes or stops slipping.
#ifndef TR_PLAN_IMPACT_H
#define TR_PLAN_IMPACT_H

#include "plan/latch.h"

// What the alarm of the change does to the state x, whose velocities jump, and to the modes of the
// latches that take part: all whose `margins` of alarms go off at the same time. `fastest` is the
// largest speed of an impact so far.
bool tr_impact(const Flow *flow, double *x, const double *margins, LatchMode *modes,
               double *fastest, Switch *change, tr_error *err);

#endif
