// SPDX-License-Identifier: Apache-2.0
// Times at which a comparison with t changes its mind. A step across one would smear the jump and
// the error control might not see it, so runs stop there and start anew on the other side. What
// depends on the state as well is found on the way, by watch.h.
#ifndef TR_SIM_EVENT_H
#define TR_SIM_EVENT_H

#include "plan/flow.h"

struct Scan;

typedef struct Events {
    double *at;     // the first time that is no longer on the near side of each, increasing
    double *beyond; // the first on its far side: the same, or some roundings behind it
    uint32_t count, capacity;
    double until;     // they are known so far: no step may pass that
    bool uses_inputs; // where they are depends on inputs
    bool strikes;     // motions or constraints may jump at one, or their rates
    struct Scan *scan;
} Events;

// Those of a run from a time on, or a window before it, up to `end`, which may be infinite. None is
// known yet. Comparisons of anything that depends on the state are not looked at.
bool tr_events_begin(Events *events, const Flow *flow, double from, double end, tr_error *err);
// Looks on, window by window (a twentieth of the run, or half a second without an end), until they
// are known up to `until`, or the end. With the values that the flow's inputs have now.
bool tr_events_extend(Events *events, Flow *flow, double until, tr_error *err);
// Whether one may have been missed, and words that say so: where bounds would take too long to
// prove that there is none, formulas are sampled instead (20 times 1000 times in a run, or every
// half millisecond).
bool tr_events_doubt(const Events *events, char *text, size_t size);
// Drops the first `count`: what is passed need not be kept.
void tr_events_drop(Events *events, uint32_t count);
void tr_events_free(Events *events);

#endif
