// SPDX-License-Identifier: Apache-2.0
// Linear feedback as a formula that a model file can hold: states of a linear model by the names
// that the model itself has for them.
#ifndef TR_LINEAR_FEEDBACK_H
#define TR_LINEAR_FEEDBACK_H

#include "base/text.h"
#include "linear/linear.h"

// constant - gain . x, with x what the states of `linear` differ from the state `inputs`, and from
// where that goes. False, with words, when a displacement has no such formula.
bool tr_feedback_write(System *system, const Linear *linear, const double *inputs,
                       const double *gain, double constant, Buffer *out, tr_error *err);

#endif
