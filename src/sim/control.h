// SPDX-License-Identifier: Apache-2.0
// A controller of the user's: called at given times; in between, the inputs stay as it left them.
#ifndef TR_SIM_CONTROL_H
#define TR_SIM_CONTROL_H

#include "plan/flow.h"

typedef struct Control {
    bool (*call)(void *owner, const tr_instant *now); // NULL when there is none
    void *owner;
    uint32_t count;     // of inputs that it may set
    uint32_t *place;    // of each: its input of the system
    const char **names; // and its name
    double *setting;    // what it sets
} Control;

bool tr_control_begin(Control *control, const System *system, const tr_simulate_options *options,
                      tr_error *err);
void tr_control_end(Control *control);

// Calls it at the instant, whose inputs are filled in here, and gives the flow what it set. False
// when the run must stop: with words, or because it said so.
bool tr_control_call(Control *control, Flow *flow, tr_instant instant, bool *changed,
                     tr_error *err);
// Whether an input that a controller has just set is within its range; else words.
bool tr_control_within(const Flow *flow, uint32_t input, double t, tr_error *err);

#endif
