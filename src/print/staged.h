// SPDX-License-Identifier: Apache-2.0
// Long expressions as one list of named quantities that they share, in the order in which they can
// be computed: each has its own name once, and is used by all that come after it. Quantities that
// the derivation knows have their names from there, v_fork_x; others are numbered by the body whose
// quantities they are needed for.
#ifndef TR_PRINT_STAGED_H
#define TR_PRINT_STAGED_H

#include "print/known.h"

typedef struct Staged {
    Arena arena;
    Step *steps;
    uint32_t count;
    const Term **forms; // of what was asked for; NULL where it cannot be written
    uint64_t work;
} Staged;

// The system is one's own: names become inputs of it. NULL only when memory runs out or there is no
// FLINT.
Staged *tr_staged_new(System *system, const Expr *of, uint32_t count, Known *known,
                      const Rules *rules, tr_error *err);
void tr_staged_free(Staged *staged);

#endif
