// SPDX-License-Identifier: Apache-2.0
// The waist of the hourglass: one expression graph with named inputs and named outputs. Physics
// makes systems; everything else consumes them.
#ifndef TR_EXPR_SYSTEM_H
#define TR_EXPR_SYSTEM_H

#include "expr/formula.h"
#include "expr/matrix.h"

typedef struct Input {
    const char *name;
    tr_kind kind;
    Expr symbol;
    Expr rate;      // id 0: not known (yet)
    double value;   // where programs fix it
} Input;

typedef struct Output {
    const char *name;
    uint32_t rows, columns;
    const Expr *values; // by rows
} Output;

// A name that formulas know: an input's symbol, a definition, or a function.
typedef struct Named {
    Text name;
    Expr meaning;             // id 0 for a function
    const Function *function; // NULL for a value
} Named;

typedef tr_system System;
struct tr_system {
    Graph *graph;
    Input *inputs;
    uint32_t input_count, input_capacity;
    Output *outputs; // a name space of their own: a parameter may be called M
    uint32_t output_count, output_capacity;
    Named *names;
    uint32_t name_count, name_capacity;
    Hash name_hash;
};

const Named *tr_system_find(const System *system, Text name);
const Output *tr_system_output(const System *system, Text name);
Scope tr_system_scope(System *system);

// The time derivative of each expression along the motion; false, with words, when one depends on
// an input whose rate is not known.
bool tr_system_rates(System *system, const Expr *of, size_t count, Expr *out, tr_error *err);

#endif
