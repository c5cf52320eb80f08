// SPDX-License-Identifier: Apache-2.0
// Who has which register, and which place in memory. Values are computed once, so one that has a
// place in memory stays there until it is used no more; of those in registers the one goes first
// that is used again last (Belady).
#ifndef TR_PROGRAM_ALLOCATE_H
#define TR_PROGRAM_ALLOCATE_H

#include "program/program.h"
#include "program/x86.h"

enum { MOST_REGISTERS = 32, NO_REGISTER = UINT8_MAX };
#define NEVER    UINT32_MAX // used again
#define NO_PLACE UINT32_MAX

typedef struct Allocation {
    MachineCode *code;
    uint32_t lanes, registers;
    uint32_t first; // value that instructions define
    // By value
    uint32_t *place; // in memory, or NO_PLACE
    uint32_t *next;  // use, as a position in the order of instructions
    uint8_t *reg;    // that it is in, or NO_REGISTER
    bool *stays;     // in memory to the end: outputs, and what another part uses
    // By register
    uint32_t holds[MOST_REGISTERS]; // a value
    uint32_t free, pinned;          // sets of registers
    // Places that are not used any more, and how many there are
    uint32_t *free_places, free_count;
    uint32_t place_count;
} Allocation;

bool tr_allocation_open(Allocation *a, const Program *program, uint32_t lanes, MachineCode *code);
void tr_allocation_close(Allocation *a);

static inline bool is_set(uint32_t set, unsigned reg) { return set >> reg & 1; }
static inline void pin(Allocation *a, unsigned reg) { a->pinned |= 1u << reg; }

// Whether no instruction of the part needs it behind the one at hand, whose operands have been
// counted off: then its register is free, for what stays is in memory.
static inline bool is_over(const Allocation *a, uint32_t value) { return a->next[value] == NEVER; }

// A place in memory, as an operand
X86Operand tr_place_operand(const Allocation *a, uint32_t place);
// As an operand, wherever it is; pinned, if in a register.
X86Operand tr_operand(Allocation *a, uint32_t value);
// In a register, which is pinned.
unsigned tr_in_register(Allocation *a, uint32_t value);
// Some register, pinned, that holds nothing.
unsigned tr_take_register(Allocation *a);
// Says what is in a register now. What stays is stored at once.
void tr_bind(Allocation *a, uint32_t value, unsigned reg);
void tr_unbind(Allocation *a, uint32_t value);

// As many new places, next to each other
uint32_t tr_take_places(Allocation *a, uint32_t count);
uint32_t tr_take_place(Allocation *a);
// The register and the place of what is over
void tr_release(Allocation *a, uint32_t value);

// Everything that is in registers goes to memory, and they are free.
void tr_store_all(Allocation *a);

#endif
