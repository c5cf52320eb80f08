// SPDX-License-Identifier: Apache-2.0
// The portable executable: runs of equal instructions, each run a tight loop. It is always there,
// and it is the oracle of every faster one. It does one lane at a time; another does blocks of 4 or
// 8 by the same runs.
//
// A run is: code, count, then the operands of each instruction (tables: also the table and n;
// blocks: how many, the lineage, these, and the place of the first result). Results go to
// consecutive values in the order of execution, so they need no address; those of one instruction
// stay together. Code OP_FAILED ends a part. The three operands of a multiply-add share 64 bits,
// unless the program is too large for that: then its code is marked WIDE.
#ifndef TR_PROGRAM_INTERPRET_H
#define TR_PROGRAM_INTERPRET_H

#include "program/kernel.h"

enum { WIDE = 1 << 15, PACKED_BITS = 21, PACKED_MASK = (1 << PACKED_BITS) - 1 };

typedef struct Interpreted {
    Executable executable; // comes first: a pointer to it is one to the whole
    Arena *own;            // that it is in, where nobody else has it
    const uint32_t *runs[PART_COUNT];
    uint32_t first[PART_COUNT]; // the first value of each part
    const Table *const *tables; // the program's, and lineages
    const Lineage *const *lineages;
    const KernelSet *kernels; // for what is more than a few instructions
} Interpreted;

// One block after the other; where their operands end, and where their results do.
static inline const uint32_t *run_blocks(const Interpreted *code_of, uint32_t code, uint32_t count,
                                         const uint32_t *at, double *values, uint32_t *end)
{
    for (; count > 0; count--, at += at[0] + 3) {
        const KernelCall call = {
            .count = at[0], .lineage = code_of->lineages[at[1]], .places = at + 2};
        code_of->kernels->of[code](&call, values);
        *end = at[2 + at[0]] + at[0] - (code == CODE_SOLVE ? lineage_entries(call.lineage) : 0);
    }
    return at;
}

typedef void Interpreter(const Executable *executable, ProgramPart part, double *values);

// Orders the instructions into runs, longest first among those that are ready, for an interpreter
// that then executes them. It belongs to the arena and uses the program's tables. NULL when memory
// runs out.
const Executable *tr_interpret(const Program *program, Interpreter *interpreter, Arena *arena);
// For 1, 4 or 8 lanes on this machine, in memory of its own
Executable *tr_interpret_new(const Program *program, uint32_t lanes);

// The same for blocks of 4 or 8 lanes, on a machine that this processor can be.
const Executable *tr_interpret_lanes(const Program *program, Machine machine, uint32_t lanes,
                                     Arena *arena);
Interpreter *tr_lane_interpreter(Machine machine, uint32_t lanes);

// The interpreter for this machine: the same source with and without hardware multiply-add.
Interpreter *tr_interpreter(void);

#endif
