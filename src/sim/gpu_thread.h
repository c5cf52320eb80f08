// SPDX-License-Identifier: Apache-2.0
// What kernels have in common: a thread for each run, and where the numbers of it are. All have
//
//   (u64 record, u64 state, u64 inputs, u64 stride, u32 threads, u32 steps, f64 step)
#ifndef TR_SIM_GPU_THREAD_H
#define TR_SIM_GPU_THREAD_H

#include "gpu/ptx.h"

// Registers: addresses of what this thread has, and bytes from one number of it to the next
typedef struct GpuThread {
    uint32_t record, state, inputs, stride;
} GpuThread;

// What stands before all else, and before the body of a kernel
void tr_gpu_head(Buffer *out, const char *what);
void tr_gpu_entry(Buffer *out, const char *name);

// Which thread this is; those beyond the last run have nothing to do, and go to `end`.
GpuThread tr_gpu_thread(Ptx *ptx, uint32_t end);
Value tr_gpu_parameter(Ptx *ptx, Kind kind, const char *name);

// A number of the thread, whose first is at `base`
Value tr_gpu_load(Ptx *ptx, uint32_t base, uint32_t stride, Value place);
void tr_gpu_store(Ptx *ptx, uint32_t base, uint32_t stride, Value place, Value x);

#endif
