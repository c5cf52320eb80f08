// SPDX-License-Identifier: Apache-2.0
// What the constraints would do on ground that slopes another way below each contact (T196).
#ifndef TR_PLAN_UNEVEN_H
#define TR_PLAN_UNEVEN_H

#include "plan/flow.h"

typedef struct Uneven {
    uint32_t here,
        there;  // rows that are independent with driven joints locked: as it starts, and so
    bool *rows; // by row: that depend on others here, and not there
} Uneven;

// At the start of a flow. Rows that may open are left out of both, for what lifts off locks
// nothing. NULL, without words, where no row has another rate there, or they are too many.
Uneven *tr_examine_uneven(Flow *flow, tr_error *err);
void tr_uneven_free(Uneven *uneven);

#endif
