// SPDX-License-Identifier: Apache-2.0
// A program: chosen outputs of a system as a flat list of instructions in the order the graph was
// built. Every evaluator runs this list, in this or another order that respects it, and so gives
// the same bits: what is fused into a multiply-add is decided here, once.
//
// Values are numbered: first the inputs, then the constants, then one value per instruction.
#ifndef TR_PROGRAM_PROGRAM_H
#define TR_PROGRAM_PROGRAM_H

#include "base/arena.h"
#include "expr/op.h"

// What instructions do: the operations of the graph, and fused multiply-adds.
typedef enum Code {
    CODE_FMA = OP_COUNT, // a b + c
    CODE_FMS,            // a b - c
    CODE_FNMA,           // c - a b
    CODE_COUNT
} Code;

typedef struct Instruction {
    uint16_t code;    // an Op or a Code
    int16_t n;        // tables: the derivative order
    uint32_t a, b, c; // values; tables: c is the table's index
} Instruction;

typedef void Interpreter(const struct tr_program *program, double *values);

struct tr_program {
    uint32_t input_count, constant_count, instruction_count, output_count;
    const double *constants;
    const Instruction *instructions;
    const uint32_t *outputs; // values
    const Table *const *tables;
    size_t operations;
    Interpreter *interpreter;
    const uint32_t *runs;        // what the interpreter executes, see interpret.h
    const uint32_t *run_outputs; // where it leaves the outputs
    Arena arena;
};
typedef struct tr_program Program;

static inline int code_operands(unsigned code)
{
    return code < OP_COUNT ? tr_op[code].operands : 3;
}

static inline uint32_t operand_value(const Instruction *i, int which)
{
    return which == 0 ? i->a : which == 1 ? i->b : i->c;
}
static inline uint32_t *instruction_operand(Instruction *i, int which)
{
    return which == 0 ? &i->a : which == 1 ? &i->b : &i->c;
}

static inline uint32_t value_count(const Program *p)
{
    return p->input_count + p->constant_count + p->instruction_count;
}

#endif
