// SPDX-License-Identifier: Apache-2.0
// x86-64 instructions as bytes: those that programs are made of, in one of three widths. One number
// and four (AVX2 and FMA) are encoded by VEX, eight (AVX-512F) by EVEX.
#ifndef TR_PROGRAM_X86_H
#define TR_PROGRAM_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MachineCode {
    uint8_t *bytes;
    uint32_t size, capacity;
    bool failed; // memory ran out
} MachineCode;

typedef enum X86Op {
    X86_ADD,
    X86_SUB,
    X86_MUL,
    X86_DIV,
    X86_SQRT, // of the last; of one number its upper half is that of second, as of X86_FLOOR
    X86_MIN,  // the last operand where one is no number
    X86_MAX,
    X86_FLOOR,
    X86_AND,
    X86_AND_NOT, // second is inverted
    X86_XOR,
    // Digits are the places in a b + c: 132 is first = first last + second
    X86_FMA132,
    X86_FMA213,
    X86_FMA231,
    X86_FMS132,
    X86_FMS213,
    X86_FMS231,
    X86_FNMA132,
    X86_FNMA213,
    X86_FNMA231,
    X86_LOAD,
    X86_STORE, // the first operand into the last
    X86_MOVE,
    X86_LESS, // comparisons: into a register of ones, of eight numbers into mask 1
    X86_LESS_EQUAL,
    X86_EQUAL,
    X86_NOT_EQUAL, // or one is no number
    X86_UNORDERED, // one is no number
    X86_BLEND,     // the last where the mask is set, else the second
    X86_KEEP,      // eight numbers: the last where mask 1 is set, else 0
    X86_OP_COUNT
} X86Op;

// The last operand of an instruction: a register, or numbers so many bytes from where values begin.
typedef struct X86Operand {
    bool is_memory;
    uint8_t reg;
    int32_t displacement;
} X86Operand;

static inline X86Operand x86_register(unsigned reg) { return (X86Operand){.reg = (uint8_t)reg}; }
static inline X86Operand x86_memory(int32_t displacement)
{
    return (X86Operand){.is_memory = true, .displacement = displacement};
}

static inline unsigned x86_registers(uint32_t lanes) { return lanes == 8 ? 32 : 16; }

// first = second op last. What an operation does not have is 0.
void tr_x86(MachineCode *code, uint32_t lanes, X86Op op, unsigned first, unsigned second,
            X86Operand last);
// first = mask ? last : second. Of eight numbers the mask is mask 1, whatever is given.
void tr_x86_blend(MachineCode *code, uint32_t lanes, unsigned first, unsigned second,
                  X86Operand last, unsigned mask);

// A function of (values): keeps them, and gives back what it took.
void tr_x86_enter(MachineCode *code);
void tr_x86_leave(MachineCode *code, uint32_t lanes);
// function(argument, values), which may change every register.
void tr_x86_call(MachineCode *code, uint32_t lanes, uint64_t function, uint64_t argument);

void tr_x86_free(MachineCode *code);

#endif
