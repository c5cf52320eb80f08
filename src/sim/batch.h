// SPDX-License-Identifier: Apache-2.0
// What a batch counts, for those who want to know how well it goes.
#ifndef TR_SIM_BATCH_H
#define TR_SIM_BATCH_H

#include "base/error.h"
#include "gpu/machine.h"
#include "sim/gpu_rows.h"

// Steps of runs so far: in lanes, and times that a run made one alone, or more.
typedef struct BatchCounts {
    size_t in_lanes, alone, on_gpu;
} BatchCounts;

BatchCounts tr_batch_counts(const tr_batch *batch);
// What runs its kernels: another machine than this computer's GPUs
void tr_batch_use(tr_batch *batch, const GpuMachine *machine);

// Numbers for inputs, parameters and the start, by index among the inputs of the system
typedef struct Settings {
    const uint32_t *input;
    const double *value;
    size_t count;
} Settings;

// A run begins with these set, and nothing else, whatever it was before. False with an error: the
// run has failed, with the same words.
bool tr_batch_begin(tr_batch *batch, size_t run, Settings settings, tr_error *err);
// A run stays where it is until it begins again.
void tr_batch_rest(tr_batch *batch, size_t run);
// The rows, as tr_batch_row has them, of all runs that neither rest nor have failed; a run that
// cannot have one has failed from then on. False when memory runs out.
bool tr_batch_rows(tr_batch *batch, double *const *rows, tr_error *err);

// Inputs that will differ from run to run, as long as the batch lives: kernels do not take the
// values that runs of one moment happen to share.
void tr_batch_vary(tr_batch *batch, const uint32_t *inputs, size_t count);

// Rows that a GPU takes on the way, for as long as the batch lives: what is to be made of them, and
// what each run came to. A run that is sent to row `next` of its own may go on to later ones, which
// is told there; one without numbers stays with its caller.
void tr_batch_take_on_way(tr_batch *batch, const GpuRows *rows, RowsOfRun *runs);

// What a run came through so far
typedef struct RunCounts {
    size_t steps, chart_changes, switches, warnings;
} RunCounts;

RunCounts tr_batch_run_counts(const tr_batch *batch, size_t run);

#endif
