// SPDX-License-Identifier: Apache-2.0
// Machine code of x86-64 for a program: straight lines of arithmetic in registers, and calls of
// kernels between them. It gives the bits of every other executable, for the program says what is
// fused and kernels are made of the same functions.
#ifndef TR_PROGRAM_NATIVE_H
#define TR_PROGRAM_NATIVE_H

#include "program/kernel.h"
#include "program/program.h"

// Made, but not yet anything that runs.
typedef struct NativeCode {
    uint8_t *bytes;
    uint32_t size;
    uint32_t start[PART_COUNT]; // where each part begins: a function of (values)
    uint32_t value_count;       // of a lane
    uint32_t *outputs;          // places of values
    Arena arena;                // what kernels are called with, outputs
} NativeCode;

// For as many lanes as the kernels have, 1, 4 or 8. False when it cannot be had: an operation is
// neither known nor a kernel, the program is too large, or memory ran out.
bool tr_native_code(const Program *program, const KernelSet *kernels, NativeCode *code);
void tr_native_code_free(NativeCode *code);

// An executable of it, for the processor that this is. NULL when there is none, or when memory may
// not be made executable.
Executable *tr_native(const Program *program, uint32_t lanes);

#endif
