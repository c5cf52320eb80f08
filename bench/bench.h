// SPDX-License-Identifier: Apache-2.0
#ifndef TR_BENCH_BENCH_H
#define TR_BENCH_BENCH_H

// CPU time [s]
double bench_now(void);

// The table of all models: what their equations cost, exactly, and the times that they take.
void bench_model_counts(void);
void bench_model_times(void);

#endif
