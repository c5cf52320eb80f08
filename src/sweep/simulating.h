// SPDX-License-Identifier: Apache-2.0
#ifndef TR_SWEEP_SIMULATING_H
#define TR_SWEEP_SIMULATING_H

#include "sweep/sweep.h"

// As of Task
bool tr_simulating_prepare(Sweep *sweep, tr_error *err);
void *tr_simulating_open(const Sweep *sweep, tr_error *err);
bool tr_simulating_work(void *worker, Block *blocks, tr_error *err);
void tr_simulating_close(void *worker);

#endif
