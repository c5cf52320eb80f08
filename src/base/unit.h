// SPDX-License-Identifier: Apache-2.0
// Units as text, "N m/rad", and what they are made of.
#ifndef TR_BASE_UNIT_H
#define TR_BASE_UNIT_H

#include "base/text.h"

// Twice the exponents of kg m s A K mol, for roots of units are units: [m^0.5]
enum { BASE_UNITS = 6, MOST_UNIT = 60 };
typedef struct Unit {
    int of[BASE_UNITS];
} Unit;

static inline bool unit_equal(Unit a, Unit b) { return memcmp(&a, &b, sizeof a) == 0; }

// What a text says: units of SI, between them a blank or *, then / and what it is divided by, with
// powers by ^. False when it is none, or one that is not coherent: then `why` has words.
bool tr_unit_read(Text text, Unit *unit, char *why, size_t size);

#endif
