// SPDX-License-Identifier: Apache-2.0
// A program: chosen outputs of a system as a flat list of instructions, by stages and within each
// in the order the graph was built. Every executable runs this list, in this or another order that
// respects it, and so gives the same bits: what is fused into a multiply-add is decided here, once.
//
// Values are numbered: first the inputs, then the constants, then those that instructions define:
// a range each, one after the other. Stages are one after the other, too, so what depends on
// parameters alone comes first, and can be run once for each set of parameters.
#ifndef TR_PROGRAM_PROGRAM_H
#define TR_PROGRAM_PROGRAM_H

#include "base/arena.h"
#include "expr/lineage.h"
#include "expr/op.h"
#include "expr/port.h"

// What instructions do: the operations of the graph, and what only programs have.
typedef enum Code {
    CODE_FMA = OP_COUNT, // a b + c
    CODE_FMS,            // a b - c
    CODE_FNMA,           // c - a b
    CODE_FACTOR,         // the entries of a positive matrix, a list: its factors
    CODE_SOLVE,          // factors and right sides, a list: the solutions
    CODE_COUNT
} Code;

typedef struct Instruction {
    uint8_t code;     // an Op or a Code
    uint8_t stage;    // the largest of its operands'
    int16_t n;        // tables: the derivative order
    uint32_t a, b, c; // values; tables: c is the table's index. FACTOR, SOLVE: a is where the list
                      // begins, b how long it is, c the lineage's index
} Instruction;

// What goes in and what comes out, as the system calls it, and what it is, with its unit.
typedef struct InputPort {
    const char *name;
    tr_kind kind;
    Quantity quantity;
} InputPort;

typedef struct OutputPort {
    const char *name;
    uint32_t rows, columns;
    Quantity quantity; // of all its numbers
} OutputPort;

// Inputs that are used.
typedef struct UsedInputs {
    const uint32_t *at;
    uint32_t count;
} UsedInputs;

// The parts that an executable runs: what parameters decide, and the rest.
typedef enum ProgramPart { PART_PARAMETER, PART_STATE, PART_COUNT } ProgramPart;

typedef struct Executable Executable;
typedef struct Executables Executables;

struct tr_program {
    uint32_t input_count, constant_count, instruction_count, output_count;
    const InputPort *inputs;
    UsedInputs used[PART_COUNT]; // those that are parameters, and the others
    const double *constants;
    const Instruction *instructions;
    const uint32_t *first; // by instruction, of the values that it defines; and the end of the last
    uint32_t stage_end[STAGE_COUNT]; // by stage: the instruction after its last
    const uint32_t *lists;           // values
    const uint32_t *outputs;         // values
    const OutputPort *ports;         // what they belong to, where the program was made by names
    uint32_t port_count;
    const Table *const *tables; // NULL where none is used
    uint32_t table_count;
    const Lineage *const *lineages;
    size_t operations, state_operations; // of all instructions; of the stages of time and state
    Executables *executables;            // that run it, see executable.h
    Arena arena;
};
typedef struct tr_program Program;

// ---- running -------------------------------------------------------------------------------

// Runs a program; immutable, and shared by threads. Lanes are evaluations beside each other, and
// one call does a block of them: value i of lane k of a block is values[i * lanes + k]. Inputs and
// constants stand in front, numbered as in the program, and are not written. Values of 8 lanes
// begin at a multiple of 64 bytes, and behind the last there is room for one more.
struct Executable {
    void (*run)(const Executable *executable, ProgramPart part, double *values);
    void (*free)(Executable *executable);
    uint32_t lanes;          // of a block
    uint32_t value_count;    // of a lane
    const uint32_t *outputs; // values, as numbered here
};

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

// What takes a list and defines a range
static inline bool is_block(unsigned code) { return code >= CODE_FACTOR; }

// The values that an instruction takes.
static inline uint32_t operand_count(const Instruction *i)
{
    return is_block(i->code) ? i->b : (uint32_t)code_operands(i->code);
}
static inline uint32_t operand_at(const Program *p, const Instruction *i, uint32_t which)
{
    return is_block(i->code) ? p->lists[i->a + which] : operand_value(i, (int)which);
}

// How many values an instruction of this lineage defines, and what it counts
static inline uint32_t result_width(const Instruction *i, const Lineage *lineage)
{
    return i->code == CODE_SOLVE ? i->b - lineage_entries(lineage) : is_block(i->code) ? i->b : 1;
}
static inline size_t result_operations(const Instruction *i, const Lineage *lineage)
{
    if (i->code == CODE_FACTOR) return tr_lineage_factor_operations(lineage);
    if (i->code == CODE_SOLVE)
        return tr_lineage_solve_operations(lineage, result_width(i, lineage) / lineage->size);
    return i->code >= OP_COUNT ? 2 : 1;
}

static inline uint32_t first_result(const Program *p) { return p->input_count + p->constant_count; }
static inline uint32_t value_count(const Program *p) { return p->first[p->instruction_count]; }
static inline uint32_t range_width(const Program *p, uint32_t k)
{
    return p->first[k + 1] - p->first[k];
}

// The instructions of a part: the first, and the one behind the last.
static inline uint32_t part_start(const Program *p, ProgramPart part)
{
    return part == PART_PARAMETER ? 0 : p->stage_end[STAGE_PARAMETER];
}
static inline uint32_t part_end(const Program *p, ProgramPart part)
{
    return part == PART_PARAMETER ? p->stage_end[STAGE_PARAMETER] : p->instruction_count;
}

// The last constants of every program are 1, -1 and -0: with them sums and products are
// multiply-adds.
enum { UNIT_COUNT = 3 };

// By value, whether it depends on one of these inputs; NULL when memory runs out. To be freed.
bool *tr_program_reached(const Program *program, const uint32_t *inputs, uint32_t count);

// Asserts what every program keeps: units behind the constants, ranges in order, operands before
// their users, stages in order.
void tr_program_check(const Program *program);

#endif
