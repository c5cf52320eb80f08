// SPDX-License-Identifier: Apache-2.0
// Which contacts are open, stick or slip from a state on, and which way: found from numbers there,
// for all of them together, before any program for these modes is made.
#ifndef TR_PLAN_CONTACT_MODES_H
#define TR_PLAN_CONTACT_MODES_H

#include "plan/flow.h"

// Rows and masses as numbers, by velocity
typedef struct Masses {
    const double *M, *G;
    uint32_t n, m;
    const uint32_t *p; // velocities that are free
    uint32_t passive;
} Masses;

// C with M_pp = C C^T, and B = G_p C^-T; false when a mass is negative, or no number.
bool tr_contact_metric(const Masses *masses, double *C, double *B);

typedef enum ModesFound {
    MODES_FOUND,
    MODES_UNKNOWN, // what is there is no ground to decide on, such as a body without mass
    MODES_NONE,    // none are consistent, with words
    MODES_FAILED   // without memory
} ModesFound;

// From values x of all inputs. Latches that are open stay so; those that slip go on slipping, or
// open; those that stick do anything. Of those that are wary it must be clear that they stay as
// they are.
ModesFound tr_contact_modes(Plan *plan, const Footing *footing, const double *x, double t,
                            const bool *wary, LatchMode *modes, tr_error *err);

#endif
