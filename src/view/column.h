// SPDX-License-Identifier: Apache-2.0
// What the columns of a recorded run are.
#ifndef TR_VIEW_COLUMN_H
#define TR_VIEW_COLUMN_H

#include "expr/system.h"

// As far as its name alone says; NULL when that is not far enough.
const char *tr_unit_of(const char *name);

typedef struct ColumnKind {
    const char *group; // "coordinates", "forces" ...
    const char *unit;  // "" when it is not known
} ColumnKind;

// In a run of this system.
ColumnKind tr_column_of(const System *system, const char *name);

#endif
