// SPDX-License-Identifier: Apache-2.0
// What is kept of a run: formulas of its columns, and of what is varied, reduced over the rows as
// they come (T442). All formulas are one program, whose inputs are a row with the values of what is
// varied behind it.
#ifndef TR_SWEEP_KEEP_H
#define TR_SWEEP_KEEP_H

#include "base/arena.h"
#include "expr/system.h"
#include "sweep/design.h"

typedef struct Kept {
    const char *name; // of the column
    uint32_t how;     // a row of reduction.def
    double at;        // [s]
} Kept;

typedef struct Keep {
    Kept *kept;
    uint32_t count;
    bool stops;          // the last formula of the program ends a run
    uint32_t columns;    // of a row
    uint32_t inputs;     // of the program
    uint32_t formulas;   // its outputs
    tr_program *program; // NULL where there are no formulas
    Arena arena;
} Keep;

// A list as `--keep` has it; names and units of the columns of rows.
bool tr_keep_make(Keep *keep, const char *list, const char *stop, const char *const *columns,
                  uint32_t column_count, const Design *design, tr_error *err);
// Whether all times that are asked for are before the end; else words.
bool tr_keep_ends(const Keep *keep, double end, tr_error *err);
void tr_keep_free(Keep *keep);

// Of one run: what it has come to so far, as so many numbers
uint32_t tr_keep_size(const Keep *keep);
void tr_keep_begin(const Keep *keep, double *tally);
// Another row, at t, with the values of the formulas there. True when it stops the run.
bool tr_keep_add(const Keep *keep, double *tally, double t, const double *formulas);
void tr_keep_end(const Keep *keep, const double *tally, double *kept);

#endif
