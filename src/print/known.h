// SPDX-License-Identifier: Apache-2.0
// What has a name before anything is written: rotations of free bases, frame.R31, and formulas of
// the model that are long and depend on parameters alone. Names stand in place of what they mean.
#ifndef TR_PRINT_KNOWN_H
#define TR_PRINT_KNOWN_H

#include "base/names.h"
#include "expr/system.h"
#include "expr/walk.h"
#include "print/closed.h"

typedef struct Step {
    Expr node, symbol; // what it stands for, and its name as an input of the system
    const Term *form;
    const char *block; // whose quantity it is: "fork, velocities"
} Step;

typedef struct Known {
    Arena arena;
    Step *steps; // each by those before it
    uint32_t count, capacity;
    Expr (*units)[4]; // quaternions, and rows of rotations
    uint32_t unit_count;
    Kept kept; // what became of expressions
    Names taken,
        numbered; // looks of names; those that have numbers behind them, by places in `numbers`
    uint32_t *numbers, number_count, number_capacity;
} Known;

// Of expressions of a system of one's own; false when memory runs out, or there is no FLINT
bool tr_known_find(Known *known, System *system, const Expr *of, uint32_t count, uint64_t budget,
                   tr_error *err);
void tr_known_close(Known *known);

// An input more for an expression, that has no name yet
Expr tr_known_symbol(System *system, Expr of, tr_error *err);
// Its name, or that with a number behind it where it is taken; `numbered`: always
void tr_known_name(Known *known, System *system, Expr symbol, const char *name, bool numbered);
// In closed form, or the way it is where nothing is found within the budget; in the arena
const Term *tr_known_form(Arena *arena, Expr x, const Rules *rules, uint64_t *work, tr_error *err);

#endif
