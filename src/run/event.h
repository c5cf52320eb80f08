// SPDX-License-Identifier: Apache-2.0
// Times at which a comparison with t changes its mind. A step across one would smear the jump and
// the error control might not see it, so runs stop there and start anew on the other side. What
// depends on the state as well is found on the way, by watch.h.
#ifndef TR_RUN_EVENT_H
#define TR_RUN_EVENT_H

#include "run/flow.h"

typedef struct Events {
    double *at; // the first time on the far side of each, increasing
    uint32_t count, capacity;
} Events;

// All of them in (0, end]. Comparisons of anything that depends on the state are not looked at.
// Jumps that come and go between samples (end / 20000 apart) are missed, unless they are linear in
// t.
bool tr_find_events(Flow *flow, double end, Events *events, tr_error *err);
void tr_events_free(Events *events);

#endif
