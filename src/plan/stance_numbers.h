// SPDX-License-Identifier: Apache-2.0
// What the program of a stance gives, and G and M from it.
#ifndef TR_PLAN_STANCE_NUMBERS_H
#define TR_PLAN_STANCE_NUMBERS_H

#include "expr/list.h"
#include "plan/stance.h"

// Adds what the program gives to a list.
void tr_stance_list(System *system, Exprs *list);

// Room for it; false when memory runs out.
bool tr_stance_open(Stance *stance);
void tr_stance_close(Stance *stance);
// G, M and mix of a stance at the state x
void tr_stance_evaluate(Stance *stance, const double *x);

// Whether G and M follow from links: of many velocities
bool tr_stance_goes_along(const System *system);
// Whether a velocity moves the base of a row: then its slope follows from the base's motion
bool tr_stance_is_before(const System *system, const Row *row, uint32_t velocity);
// The same from values of all nodes, where they do. False when memory runs out.
bool tr_stance_from_nodes(const System *system, const double *value, double *G, double *M);

#endif
