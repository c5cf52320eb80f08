// SPDX-License-Identifier: Apache-2.0
// What the columns of a run are.
#ifndef TR_PLAN_COLUMN_H
#define TR_PLAN_COLUMN_H

#include "expr/system.h"

// Of a column of a run of this system; nothing is known of what it does not have.
Port tr_column_port(const System *system, const char *label);

#endif
