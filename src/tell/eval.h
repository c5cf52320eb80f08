// SPDX-License-Identifier: Apache-2.0
// A system at its start, and how numbers under names are told: what the texts of verbs share.
#ifndef TR_TELL_EVAL_H
#define TR_TELL_EVAL_H

#include "base/json.h"
#include "plan/start.h"

// A system at its start.
typedef struct AtStart {
    Plan *plan;
    Flow *flow;
    const Findings *findings; // NULL when there are no constraints
    double *columns, *vdot;
    uint32_t positions, velocities; // among all inputs, driven ones too
} AtStart;

bool tr_at_start_take(AtStart *instant, const System *system, tr_error *err);
void tr_at_start_release(AtStart *instant);

// Writes groups of name: number, as JSON or as lines.
typedef struct Group {
    Json *j;
    bool json;
    const char *title;
} Group;

void tr_group_open(Group *group, const char *title);
void tr_group_number(Group *group, const char *name, double value);
void tr_group_close(Group *group);
// The recorded outputs whose name begins with `prefix`, under the rest of it.
void tr_group_outputs(Group *group, const System *system, const double *columns, const char *title,
                      const char *prefix);

#endif
