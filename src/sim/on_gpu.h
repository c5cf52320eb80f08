// SPDX-License-Identifier: Apache-2.0
// Steps of many runs on a GPU: one thread for each, as far as nothing happens to them but plain
// steps (T462). A run is there as the record of a lane (lanes.h), with its numbers `stride` apart;
// the thread of a run that is not plain stops before that step, and tells.
#ifndef TR_SIM_ON_GPU_H
#define TR_SIM_ON_GPU_H

#include "base/text.h"
#include "sim/lanes.h"

// Behind the numbers of a record
typedef enum GpuPlace {
    GPU_NEWEST, // which of the last states is the newest
    GPU_FATE,   // a LaneFate
    GPU_MADE,   // steps since it came
    GPU_UNTIL,  // where it goes
    GPU_PLACES
} GpuPlace;

#define GPU_ENTRY "tr_go"
enum { GPU_THREADS = 128 }; // of a block

// What a kernel is made for.
typedef struct GpuTerms {
    const double *inputs; // of all runs, NaN where they differ; NULL: any may. What is known is no
                          // operation of the kernel (T463).
    size_t room;          // bytes that a block may have for numbers that find no register; 0: the
                          // driver moves them
    uint32_t registers;   // for numbers; 0: as many as there are
} GpuTerms;

// The kernel of runs that are like those of these lanes, as PTX:
//
//   tr_go(u64 record, u64 state, u64 inputs, u64 stride, u32 threads, u32 steps, f64 step)
//
// in blocks of GPU_THREADS threads, each of which needs `shared` bytes of shared memory. False,
// with words, where there cannot be one.
bool tr_gpu_kernel(const Lanes *lanes, GpuTerms terms, Buffer *out, uint32_t *shared,
                   tr_error *err);

// A record into column `at` of a block, and out of it; what became of the run.
void tr_gpu_enter(const Lanes *lanes, const double *record, double until, double *block,
                  size_t stride, size_t at);
LaneFate tr_gpu_leave(const Lanes *lanes, const double *block, size_t stride, size_t at,
                      double *record, double *made);
static inline size_t gpu_record(const Lanes *lanes) { return lanes->at.count + GPU_PLACES; }

#endif
