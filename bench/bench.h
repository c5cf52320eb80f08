// SPDX-License-Identifier: Apache-2.0
#ifndef TR_BENCH_BENCH_H
#define TR_BENCH_BENCH_H

#include "base/text.h"

#include <stdbool.h>
#include <trundle/trundle.h>

// CPU time [s]
double bench_now(void);

// The table of all models: what their equations cost, exactly, and the times that they take.
bool bench_model_counts(void); // false when open parameters cost too much
void bench_model_times(void);
// What people read of them, in closed form and by shared quantities; `each`: a line for each
void bench_equations(bool each);

// Machine code beside the interpreter.
void bench_native(void);

void bench_start(void);  // of the program
void bench_mujoco(void); // against it, where it is installed
// A step of a run against the evaluations that it consists of.
void bench_step(tr_model *model, const char *name, const char *case_name);

void bench_batch(void);               // many runs at once
void bench_runs(const char *program); // a sweep, against a process each; NULL: the one beside it
void bench_settle(void);              // poses on a grid
void bench_gpu(char *const *names, int count); // batches on GPUs; no names: all
void bench_runs_there(size_t runs);            // a sweep on GPUs
// Whether runs of these models are the same on a GPU, to the bit.
bool bench_bits(char *const *paths, int count);
// The text of a model: a chain of n bodies on a free base, joint axes in turn along z, y, x.
void bench_write_chain(Buffer *text, int n);

// Derivatives of a chain; an aim of 0 is none.
void bench_slopes(int hinges, size_t aim);

#endif
