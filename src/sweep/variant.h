// SPDX-License-Identifier: Apache-2.0
// For tasks whose runs are systems of their own: what is found of each is one row of numbers.
#ifndef TR_SWEEP_VARIANT_H
#define TR_SWEEP_VARIANT_H

#include "sweep/sweep.h"

// The system with what a run has, as if it were given to `derive`
System *tr_variant_derive(const Sweep *sweep, const double *values, tr_error *err);

// What a worker finds with what a run has: as many numbers as rows have columns
typedef bool TakeRow(void *worker, const double *values, double *row, tr_error *err);
bool tr_variants_work(const Sweep *sweep, Block *block, TakeRow *take, void *worker, tr_error *err);

// Of steady motions, and of what is beside them
bool tr_finding_prepare(Sweep *sweep, tr_error *err);
void *tr_finding_open(const Sweep *sweep, tr_error *err);
bool tr_finding_work(void *worker, Block *block, tr_error *err);
void tr_finding_close(void *worker);
bool tr_linearising_prepare(Sweep *sweep, tr_error *err);
void *tr_linearising_open(const Sweep *sweep, tr_error *err);
bool tr_linearising_work(void *worker, Block *block, tr_error *err);
// Of poses
bool tr_settling_prepare(Sweep *sweep, tr_error *err);
void *tr_settling_open(const Sweep *sweep, tr_error *err);
bool tr_settling_work(void *worker, Block *block, tr_error *err);
void tr_settling_close(void *worker);

#endif
