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

// Writes groups of name: number, as JSON or as lines. Lines are written when the group is closed:
// what is noise beside the largest number of it is 0, where digits are rounded.
typedef struct Group {
    Json *j;
    bool json;
    const char *title;
    struct GroupLine {
        const char *name;
        double value;
    } * lines;
    uint32_t count, capacity;
} Group;

void tr_group_open(Group *group, const char *title);
void tr_group_number(Group *group, const char *name, double value);
void tr_group_close(Group *group);
// A line of its own, of a number that may be as small as it likes
void tr_group_alone(Group *group, const char *title, const char *name, double value);
// Below this numbers are noise beside the largest of them, or 1; 0 where all digits are shown.
double tr_noise(const double *values, size_t count, size_t stride, const Buffer *text);
// The number, or 0 where it is noise beside 1
double tr_unless_noise(double value, const Buffer *text);
// "-0.5 + 2i", or "-0.5" where the imaginary part is noise
void tr_add_complex(Buffer *text, const double z[2], double noise);
// The recorded outputs whose name begins with `prefix`, under the rest of it.
void tr_group_outputs(Group *group, const System *system, const double *columns, const char *title,
                      const char *prefix);

#endif
