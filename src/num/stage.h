// SPDX-License-Identifier: Apache-2.0
// States along stages of a step, with the same bits on every machine.
#ifndef TR_NUM_STAGE_H
#define TR_NUM_STAGE_H

#include <stddef.h>

// z = y + h k, rounded once; z is not y
void tr_move_along(const double *y, double h, const double *k, double *z, size_t count);
// y += h/6 (k1 + 2 (k2 + k3) + k4); the four stand one after the other
void tr_move_by_four(double *y, double h, const double *k, size_t count);

// How they are done where a machine lacks the instructions: tests compare both.
void tr_move_along_plainly(const double *y, double h, const double *k, double *z, size_t count);
void tr_move_by_four_plainly(double *y, double h, const double *k, size_t count);

#endif
