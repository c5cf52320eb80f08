// SPDX-License-Identifier: Apache-2.0
// What the reports share.
#ifndef TR_RUN_REPORT_H
#define TR_RUN_REPORT_H

#include "base/json.h"
#include "run/doctor.h"

// A system at its start.
typedef struct Instant {
    Flow *flow;
    Findings *findings; // NULL when there are no constraints
    double *columns, *vdot;
    uint32_t positions, velocities; // among all inputs, driven ones too
} Instant;

bool tr_instant_take(Instant *instant, System *system, tr_error *err);
void tr_instant_release(Instant *instant);

// The text, or NULL after an error.
char *tr_text_finish(Buffer *text, tr_error *err);

#endif
