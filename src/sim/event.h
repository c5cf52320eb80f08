// SPDX-License-Identifier: Apache-2.0
// Times at which a comparison with t changes its mind. A step across one would smear the jump and
// the error control might not see it, so runs stop there and start anew on the other side. What
// depends on the state as well is found on the way, by watch.h.
#ifndef TR_SIM_EVENT_H
#define TR_SIM_EVENT_H

#include "plan/flow.h"

struct Scan;

typedef struct Events {
    double *at; // the first time on the far side of each, increasing
    uint32_t count, capacity;
    double until;     // they are known so far: no step may pass that
    bool uses_inputs; // where they are depends on inputs
    struct Scan *scan;
} Events;

// Those of a run from a time on, or a sample before it, up to `end`, which may be infinite. None is
// known yet. Comparisons of anything
// that depends on the state are not looked at. Jumps that come and go between samples (end / 20000
// apart, or half a millisecond without an end) are missed, unless they are linear in t.
bool tr_events_begin(Events *events, const Flow *flow, double from, double end, tr_error *err);
// Looks on, window by window (1000 samples), until they are known up to `until`, or the end. With
// the values that the flow's inputs have now.
bool tr_events_extend(Events *events, Flow *flow, double until, tr_error *err);
// Drops the first `count`: what is passed need not be kept.
void tr_events_drop(Events *events, uint32_t count);
void tr_events_free(Events *events);

#endif
