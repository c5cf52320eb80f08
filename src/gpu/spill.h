// SPDX-License-Identifier: Apache-2.0
// Which numbers of a kernel are in registers, and which have a place in memory: a thread has room
// for some hundred numbers, and a step of a mechanism keeps several hundred. Left to itself, the
// driver's compiler moves them to and fro in memory that is far; this plan says which are away,
// and where, and brings them back in time (T463). No operation changes, so no bit does.
#ifndef TR_GPU_SPILL_H
#define TR_GPU_SPILL_H

#include "gpu/ptx.h"

enum { SPILL_THREADS = 128 }; // of a block

typedef struct SpillPlan {
    uint32_t registers; // numbers that may be in registers at a time
    uint32_t places;    // for each thread in the memory that a block shares; others are local
} SpillPlan;

// The text of a body, with numbers moved away and back; what it needs declared in the module and
// in the kernel. `bytes` of shared memory are what a launch must give a block. False where memory
// ran out.
bool tr_spill(Ptx *body, const SpillPlan *plan, Buffer *module, Buffer *kernel, uint32_t *bytes);

#endif
