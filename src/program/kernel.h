// SPDX-License-Identifier: Apache-2.0
// Kernels: what machine code calls for operations that are more than an instruction or two. A
// kernel does a run of equal operations on a block of lanes, a vector of arguments at a time. The
// bits are those of tr_op_value, whatever the machine.
#ifndef TR_PROGRAM_KERNEL_H
#define TR_PROGRAM_KERNEL_H

#include "program/program.h"

// A run of equal operations on values of a block: value `place` of lane k is
// values[place * lanes + k]. No result stands where an operand of the same run does. Of a block,
// which has a range of results, the last place is that of the first.
typedef struct KernelCall {
    uint32_t count;         // operations; of a block, the values that it takes
    int n;                  // tables: the derivative order
    const Table *table;     // of tables
    const Lineage *lineage; // of blocks, of which a call does one
    const uint32_t *places; // for each operation: its operands, then its results
} KernelCall;

typedef void Kernel(const KernelCall *call, double *values);

// What only kernels do besides operations of the graph: sine and cosine of one argument, two
// results.
enum { KERNEL_SINCOS = CODE_COUNT, KERNEL_COUNT };

typedef struct KernelSet {
    uint32_t lanes;           // of a block
    Kernel *of[KERNEL_COUNT]; // by Op or Code, and KERNEL_SINCOS; NULL: there is none
} KernelSet;

// What code may use: nothing beyond the compiler's target; AVX2 and multiply-adds; AVX-512 (F, DQ,
// VL), too.
typedef enum Machine { MACHINE_PLAIN, MACHINE_AVX2, MACHINE_AVX512 } Machine;

// The best that this processor has, and that kernels were compiled for.
Machine tr_machine(void);
// For tests and the bench: from here on it is taken for no better than this one.
void tr_limit_machine(Machine most);

// For blocks of 1, 4 or 8 lanes.
const KernelSet *tr_kernels(Machine machine, uint32_t lanes);

// What is compiled for each machine has its name behind its own: FOR_MACHINE(tr_kernels) is
// tr_kernels_avx2 where the compiler makes code for that.
#ifndef TR_MACHINE
#define TR_MACHINE plain
#endif
#define WITH_MACHINE_(name, machine) name##_##machine
#define WITH_MACHINE(name, machine)  WITH_MACHINE_(name, machine)
#define FOR_MACHINE(name)            WITH_MACHINE(name, TR_MACHINE)

// The sets for 1, 4 and 8 lanes.
enum { KERNEL_SETS = 3 };
extern const KernelSet tr_kernels_plain[KERNEL_SETS], tr_kernels_avx2[KERNEL_SETS],
    tr_kernels_avx512[KERNEL_SETS];

#endif
