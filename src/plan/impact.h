// SPDX-License-Identifier: Apache-2.0
// Velocities that jump when a contact closes or stops slipping, or when what is driven changes its
// rate at once.
#ifndef TR_PLAN_IMPACT_H
#define TR_PLAN_IMPACT_H

#include "plan/latch.h"

// What the alarm of the change does to the state x, whose velocities jump, and to the modes of the
// latches that take part: all whose `margins` of alarms go off at the same time. `fastest` is the
// largest speed of an impact so far.
bool tr_impact(const Flow *flow, double *x, const double *margins, LatchMode *modes,
               double *fastest, Switch *change, tr_error *err);

// What happens between two states of all inputs that differ only in what formulas choose by: time,
// or which side of a switch they take. Where rates of motions or of constraints jump, velocities in
// x do, and contacts may let go or slip; the change then has a source.
bool tr_blow(const Flow *flow, const double *before, double *x, LatchMode *modes, Switch *change,
             tr_error *err);

#endif
