// SPDX-License-Identifier: Apache-2.0
// Torques that were made inputs, and the laws that they had: an input's value is what its law says
// at the state where a linear model is taken.
#ifndef TR_LINEAR_LAW_H
#define TR_LINEAR_LAW_H

#include "plan/evaluator.h"

typedef struct Laws {
    System *system;
    uint32_t *input; // of each
    uint32_t count;
    Evaluator values; // laws, and then their slopes by all of these inputs
} Laws;

// Whether an input is the torque of a joint that tr_derive took as a control.
static inline bool is_torque(const Port *port) { return strcmp(port->component, "torque") == 0; }

// Of a system that is reduced.
bool tr_laws_new(System *system, Laws *laws, tr_error *err);
void tr_laws_free(Laws *laws);
// Puts their values into those of all inputs; false, with words, where there are none.
bool tr_laws_settle(const Laws *laws, double *inputs, tr_error *err);

#endif
