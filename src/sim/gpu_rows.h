// SPDX-License-Identifier: Apache-2.0
// Rows that runs come to while they are on a GPU (T464): where a run has arrived, a kernel takes
// the row there, as lane_rows.c does, lets others add it to numbers of theirs, and sends the run on
// to the next. A row that has anything not finite it leaves to the CPU, as well as what is behind
// the limit.
#ifndef TR_SIM_GPU_ROWS_H
#define TR_SIM_GPU_ROWS_H

#include "sim/lanes.h"

// What is to be made of rows
typedef struct GpuRows {
    const tr_program *formulas; // of a row and what is given behind it; NULL: there are none
    uint32_t columns;           // of a row
    uint32_t numbers;           // of a run, that rows come to,
    uint32_t given;             // and others that stand behind these
    double last;                // the number of the last row
    // In C as kernels know it (gpu/translate.h): double row_time(double i), and bool add_row(double
    // row[], double formulas[], double numbers[]), true where the run ends
    Text text;
} GpuRows;

#define GPU_ROWS_ENTRY "tr_rows"

// Of a run: `numbers` and what is given behind them; the row that it goes to, and the last time
// that it may be sent to.
typedef struct RowsOfRun {
    double *numbers;
    double next, limit;
} RowsOfRun;

// The kernel, as PTX, with the parameters of gpu_thread.h. False, with words, where there cannot be
// one.
bool tr_gpu_rows_kernel(const Lanes *lanes, const GpuRows *rows, Buffer *out, tr_error *err);

// How many numbers stand behind a record for it, and where a run goes to then; into column `at` of
// a block, and out of it.
uint32_t tr_gpu_rows_size(const GpuRows *rows);
void tr_gpu_rows_enter(const Lanes *lanes, const GpuRows *rows, const RowsOfRun *run, double *block,
                       size_t stride, size_t at);
void tr_gpu_rows_leave(const Lanes *lanes, const GpuRows *rows, const double *block, size_t stride,
                       size_t at, RowsOfRun *run, double *until);

#endif
