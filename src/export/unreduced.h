// SPDX-License-Identifier: Apache-2.0
// The unreduced form: terms of the equations as they stand, for all charts and all that contacts
// do, which generated code solves by numbers (T381).
#ifndef TR_EXPORT_UNREDUCED_H
#define TR_EXPORT_UNREDUCED_H

#include "export/code.h"

// What stands in the array of terms, one after the other; n velocities, m rows
typedef struct Terms {
    uint32_t n, m, contacts;
    uint32_t M, G, rest, bias, c, Q, W, driven, weight, latch, count; // where each begins
} Terms;
Terms tr_code_terms(const Export *code);

// Likewise of what is found: v' and reactions come first, then forces of motions, and whether
// contacts are closed and slip
typedef struct Found {
    uint32_t reactions, motors, closed, count;
} Found;
Found tr_code_found(const Export *code);

enum {
    LATCH_TERMS = 5
}; // of each contact: friction, that of slip that begins, of what sticks,
   // load, restitution

// Alarms about contacts, and event indicators: these, then one of the chart
uint32_t tr_code_alarms(const System *system);
uint32_t tr_code_indicators(const Export *code);

// Whether a system may be written so: false, with words, unless err is NULL.
bool tr_code_may_unreduce(const System *system, tr_error *err);

// Inputs of programs, and functions, in place of those of the reduced form
void tr_code_map_found(Export *code);
void tr_code_unreduced(Export *code, const uint32_t *outputs, tr_error *err);

#endif
