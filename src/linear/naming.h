// SPDX-License-Identifier: Apache-2.0
// What the modes of a sweep are called: by what moves in them, and by the names that modes of
// single-track vehicles have.
#ifndef TR_LINEAR_NAMING_H
#define TR_LINEAR_NAMING_H

#include "linear/linear.h"

typedef struct Naming Naming;

// For a sweep whose eigenvalues are followed. The system is that of the lineariser, which stands at
// a state of the sweep.
Naming *tr_naming_new(Lineariser *lineariser, const tr_locus *locus, tr_error *err);
void tr_naming_free(Naming *naming);
// Adds what moves in the modes of a row, of which this is the linear model.
bool tr_naming_add(Naming *naming, const Linear *linear, size_t row, tr_error *err);
// Gives the sweep its modes, and them their names.
bool tr_naming_finish(const Naming *naming, tr_locus *locus, tr_error *err);

#endif
