// SPDX-License-Identifier: Apache-2.0
// What a batch counts, for those who want to know how well it goes.
#ifndef TR_SIM_BATCH_H
#define TR_SIM_BATCH_H

#include "base/error.h"
#include "gpu/machine.h"

// Steps of runs so far: in lanes, and times that a run made one alone, or more.
typedef struct BatchCounts {
    size_t in_lanes, alone, on_gpu;
} BatchCounts;

BatchCounts tr_batch_counts(const tr_batch *batch);
// What runs its kernels: another machine than this computer's GPUs
void tr_batch_use(tr_batch *batch, const GpuMachine *machine);

#endif
