// SPDX-License-Identifier: Apache-2.0
// Why accelerations are not finite.
#ifndef TR_PLAN_BLAME_H
#define TR_PLAN_BLAME_H

#include "plan/flow.h"

enum { REASON_SIZE = 320 };

// Why something is not finite at (t, y), behind a colon: ": roles.hip.torque is 0/0", a formula of
// the user's, whose place is given, too; or velocities along which nothing has mass. "" when that
// is not known.
const char *tr_flow_reason(Flow *flow, double t, const double *y, char words[REASON_SIZE],
                           Place *place);
// Refuses a column that is not finite at (t, y) because of a name in it that has no value there.
void tr_flow_check_column(Flow *flow, double t, const double *y, uint32_t column, tr_error *err);
// Whether something has mass along every motion that constraints allow, where the flow stands, with
// all velocities in its inputs; else words.
bool tr_flow_has_mass(Flow *flow, tr_error *err);
// Says it of the accelerations.
void tr_flow_blame(Flow *flow, double t, const double *y, tr_error *err);

#endif
