// SPDX-License-Identifier: Apache-2.0
// The order in which machine code runs the instructions of a part: kernels as early as they can,
// many in one call; what they need before that; everything else behind them, in the order of the
// program.
#ifndef TR_PROGRAM_ORDER_H
#define TR_PROGRAM_ORDER_H

#include "program/kernel.h"

// One step of the order: an instruction, or several of equal operations that one kernel does.
typedef struct Step {
    uint32_t first, count; // in `order`
    uint32_t kernel;       // an Op, or KERNEL_SINCOS: pairs, sine first; 0: none
} Step;

typedef struct Order {
    uint32_t *instructions; // in order
    uint32_t count;
    Step *steps;
    uint32_t step_count;
} Order;

bool tr_order_part(const Program *program, const KernelSet *kernels, ProgramPart part,
                   Order *order);
void tr_order_free(Order *order);

#endif
