// SPDX-License-Identifier: Apache-2.0
// The waist of the hourglass: one expression graph with named inputs and named outputs. Physics
// makes systems; everything else consumes them.
#ifndef TR_EXPR_SYSTEM_H
#define TR_EXPR_SYSTEM_H

#include "expr/formula.h"
#include "expr/matrix.h"

typedef enum Drive { DRIVE_NONE, DRIVE_TORQUE, DRIVE_MOTION } Drive;

typedef struct Input {
    const char *name;
    tr_kind kind;
    Expr symbol;
    Expr rate;       // id 0: not known (yet)
    Expr definition; // of t and other inputs, for one that is driven; else id 0. Programs use it
    double value;    // where programs fix it
    bool is_base;    // a velocity of a base
    bool is_given;   // `initial` gives it by name, so there is nothing to solve
    uint8_t drive;   // of a velocity: what drives it, see Drive
} Input;

typedef struct Output {
    const char *name;
    uint32_t rows, columns;
    const Expr *values;       // by rows
    const char *label;        // of the column it is recorded under; NULL when it is not recorded
    const char *const *notes; // what each row is about, for messages; may be NULL
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
    // Positions that are unit quaternions: input of the scalar part, and of the first of the three
    // angular velocities, in the body's axes.
    struct Quaternion {
        uint32_t position, velocity;
    } * quaternions;
    uint32_t quaternion_count, quaternion_capacity;
    uint32_t body_count;
    struct Plan { // what the case says about running
        double end, every, step;
        double rtol, atol;
        const char *method;
    } plan;
    const char *title; // the model's name
    double seconds;    // that deriving it took
};

const Named *tr_system_find(const System *system, Text name);
const Output *tr_system_output(const System *system, Text name);
Scope tr_system_scope(System *system);

// The input that a symbol is, or NULL.
Input *tr_system_input(const System *system, Expr symbol);

// Defines a name for formulas; its text is kept. An error when it is taken.
void tr_system_name(System *system, Text name, Expr meaning, tr_error *err);
void tr_system_function(System *system, Text head, Text body, Place place, tr_error *err);

// An output that is recorded under a label of its own.
void tr_system_column(System *system, const char *name, const char *label, Expr value,
                      tr_error *err);

// Operations that the expressions need at every evaluation: those on parameters alone are not
// counted.
size_t tr_system_operations(System *system, const Expr *of, size_t count);

// The time derivative of each expression along the motion; false, with words, when one depends on
// an input whose rate is not known.
bool tr_system_rates(System *system, const Expr *of, size_t count, Expr *out, tr_error *err);

#endif
