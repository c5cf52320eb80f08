// SPDX-License-Identifier: Apache-2.0
#ifndef TR_SWEEP_APART_H
#define TR_SWEEP_APART_H

#include "sim/batch.h"
#include "sweep/sweep.h"

// Whether a run has numbers, all within their ranges, for which the plan's equations do not hold;
// then which these are: "'m' = -1"
bool tr_apart_is_needed(const Sweep *sweep, const double *values, Buffer *because, tr_error *err);
// A row of it, with the columns of the sweep; false when it is the last one.
typedef bool TakeApart(void *owner, const double *row, tr_error *err);
// By equations of its own, which it may not have
void tr_apart_run(const Sweep *sweep, const double *values, const Buffer *because,
                  const tr_run_options *how, TakeApart *take, void *owner, RunCounts *counts,
                  tr_error *err);

#endif
