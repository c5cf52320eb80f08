// SPDX-License-Identifier: Apache-2.0
// What is printed: the operations of any number of programs in one list, in which equal ones are
// one. Nothing is rewritten, so an operation has the bits that programs give: what depends on
// numbers alone is a number, a choice by a number is what it chooses, and blocks of equations are
// written out, operation by operation, in their order.
#ifndef TR_PROGRAM_FLAT_H
#define TR_PROGRAM_FLAT_H

#include "base/hash.h"
#include "program/program.h"

// What a printed function is given, each an array but the time.
typedef enum Argument {
    ARGUMENT_T,
    ARGUMENT_X,      // the state
    ARGUMENT_U,      // inputs
    ARGUMENT_P,      // parameters
    ARGUMENT_WEIGHT, // of rates: what gradients are of, by state
    ARGUMENT_CHANGE, // of the state, inputs, time and parameters: what directions are
    ARGUMENT_S,      // what controllers read
    ARGUMENT_C,      // their states
    ARGUMENT_DUE,    // 1 for what acts at samples and is due, else 0
    ARGUMENT_NOISE,  // of sensors, normal numbers
    ARGUMENT_FOUND,  // in the unreduced form: accelerations, reactions, what contacts do
    ARGUMENT_COUNT
} Argument;

enum {
    FLAT_NUMBER = CODE_COUNT, // a: which of the numbers
    FLAT_ARGUMENT,            // a: an Argument, b: its entry
    FLAT_CODES
};

typedef struct FlatNode {
    uint8_t code;
    int16_t n;        // tables: the derivative order
    uint32_t a, b, c; // nodes before it; tables: c is the table's index
} FlatNode;

typedef struct Flat {
    FlatNode *nodes;
    uint32_t count, capacity;
    Hash hash;
    double *numbers;
    uint32_t number_count, number_capacity;
    const Table **tables; // shared
    uint32_t table_count, table_capacity;
    bool failed; // memory ran out
} Flat;

void tr_flat_free(Flat *flat);
uint32_t tr_flat_number(Flat *flat, double value);
uint32_t tr_flat_argument(Flat *flat, Argument which, uint32_t entry);
uint32_t tr_flat_node(Flat *flat, unsigned code, uint32_t a, uint32_t b, uint32_t c);
// Some outputs of a program, `wanted` by their indices, whose inputs are these nodes.
void tr_flat_program(Flat *flat, const tr_program *program, const uint32_t *inputs,
                     const uint32_t *wanted, uint32_t count, uint32_t *out);

// Nodes made anew with some others, `from`, in place of what they stand for
void tr_flat_replace(Flat *flat, const uint32_t *from, const uint32_t *to, uint32_t count,
                     uint32_t *values, uint32_t value_count);
// By node, whether it is one of these or they need it, but for what only `but` need; NULL without
// memory
bool *tr_flat_needed(const Flat *flat, const uint32_t *values, uint32_t value_count,
                     const uint32_t *but, uint32_t but_count);

static inline bool flat_is_number(const Flat *flat, uint32_t node)
{
    return flat->nodes[node].code == FLAT_NUMBER;
}
static inline double flat_number_of(const Flat *flat, uint32_t node)
{
    return flat->numbers[flat->nodes[node].a];
}
// How many operands a node has, and which
static inline int flat_operands(const FlatNode *node)
{
    return node->code >= FLAT_NUMBER ? 0 : code_operands(node->code);
}
static inline uint32_t flat_operand(const FlatNode *node, int which)
{
    return which == 0 ? node->a : which == 1 ? node->b : node->c;
}

#endif
