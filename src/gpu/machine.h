// SPDX-License-Identifier: Apache-2.0
// What runs kernels: all GPUs of this computer, by the CUDA driver, which is loaded when it is
// asked for. Whatever goes wrong there is told in words, and whoever asked goes on without.
#ifndef TR_GPU_MACHINE_H
#define TR_GPU_MACHINE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Columns of numbers, one for each thread: number i of column k is block[i * count + k].
typedef struct GpuKernel GpuKernel;

typedef struct GpuWork {
    double *block;
    size_t numbers, count;
    size_t states;              // numbers of a state
    size_t state, inputs, fate; // rows; the latter is 0 as long as a thread has more to do
    double step;
    GpuKernel *after;             // launched behind it, to give more to threads that have arrived
    bool (*goes_on)(void *owner); // asked now and then; may be NULL
    void *owner;
} GpuWork;

typedef struct GpuMachine {
    void *self;
    const char *words; // what it is
    size_t least;      // columns that are worth the way
    size_t many;       // and those that are worth a kernel of their own
    size_t room;       // bytes of memory that the threads of a block may share
    // PTX with an entry of that name whose blocks share so many bytes, on every device; NULL and
    // words where it cannot be
    GpuKernel *(*load)(void *self, const char *ptx, const char *entry, uint32_t shared,
                       tr_error *err);
    void (*unload)(void *self, GpuKernel *kernel);
    // Until no thread has more to do, or it is stopped. False with words when something went wrong:
    // the block is then of no use.
    bool (*run)(void *self, GpuKernel *kernel, const GpuWork *work, tr_error *err);
    // On memory of the device: columns stay there between calls, and states and inputs are the
    // caller's. The first call brings the block, `steps` 0 takes it back.
    bool (*step)(void *self, GpuKernel *kernel, const GpuWork *work, uint64_t state,
                 uint64_t inputs, uint32_t steps, tr_error *err);
} GpuMachine;

// The GPUs that there are; NULL with words when there is none. One for the process, for good.
const GpuMachine *tr_gpu_machine(tr_error *err);

#endif
