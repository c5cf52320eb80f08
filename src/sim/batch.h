// SPDX-License-Identifier: Apache-2.0
// What a batch counts, for those who want to know how well it goes.
#ifndef TR_SIM_BATCH_H
#define TR_SIM_BATCH_H

#include "base/error.h"

// Steps of runs so far: in lanes, and times that a run made one alone, or more.
typedef struct BatchCounts {
    size_t in_lanes, alone;
} BatchCounts;

BatchCounts tr_batch_counts(const tr_batch *batch);

#endif
