// SPDX-License-Identifier: Apache-2.0
// Which runs there are, by number: what is varied, and the values that each run has. Lists and
// ranges form a grid, the first varied slowest; in every cell of it, what is drawn at random is a
// Latin hypercube of its own:
//
//   run = cell * samples + sample
//
// Or the rows of a table. A value is a function of the seed, the number of the run and the name.
#ifndef TR_SWEEP_DESIGN_H
#define TR_SWEEP_DESIGN_H

#include "base/arena.h"
#include "expr/system.h"

typedef enum VariedKind { VARIED_VALUES, VARIED_UNIFORM, VARIED_NORMAL } VariedKind;

typedef struct Varied {
    const char *name;
    uint32_t input; // of the system
    VariedKind kind;
    double *values; // of a list or a column of a table; NULL: a range, however long
    size_t count;   // of values
    double a, b;    // uniform or a range from a to b; normal with mean a and deviation b
    double step;    // of a range; 0: it comes to b
} Varied;

typedef struct Design {
    Varied *varied;
    uint32_t count;
    bool is_table;
    uint64_t cells, samples, runs;
    double seed;
    Arena arena;
} Design;

// As the options say; TR_USAGE with words.
bool tr_design_make(Design *design, const System *system, const tr_sweep_options *options,
                    tr_error *err);
void tr_design_free(Design *design);
// Of a run: a value for each that is varied
void tr_design_take(const Design *design, uint64_t run, double *values);

#endif
