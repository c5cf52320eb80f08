// SPDX-License-Identifier: Apache-2.0
// What kernels are to make of rows (sim/gpu_rows.h): what a sweep keeps of its runs.
#ifndef TR_SWEEP_GPU_ROW_H
#define TR_SWEEP_GPU_ROW_H

#include "sim/gpu_rows.h"
#include "sweep/sweep.h"

// Columns of rows: energies, and the work, which the residuals stand behind
typedef struct RowEnergies {
    uint32_t kinetic, potential, work;
} RowEnergies;

// `text` is what the rows point to then.
bool tr_sweep_gpu_rows(const Sweep *sweep, RowEnergies at, Buffer *text, GpuRows *rows,
                       tr_error *err);

#endif
