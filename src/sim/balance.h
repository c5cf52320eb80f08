// SPDX-License-Identifier: Apache-2.0
// How well a run balances: E = T + U must be what it was, and the work since. Kernels for GPUs read
// this file, too (gpu/translate.h).
#ifndef TR_SIM_BALANCE_H
#define TR_SIM_BALANCE_H

#include "num/dense.h"

#include <math.h>
#include <stdbool.h>

// Numbers of a balance, all 0 at first
enum {
    BALANCE_HAS_BEGUN,
    BALANCE_ENERGY, // at the first row [J]
    BALANCE_POTENTIAL,
    BALANCE_LARGEST, // so far [J]
    BALANCE_WORST,
    BALANCE_NUMBERS
};

// The next row. What stands still has no energy to compare with but that of its height, of which
// rounding leaves 1e-16 and not 1e-6.
static inline void tr_balance_add(double *b, double kinetic, double potential, double work)
{
    const double energy = kinetic + potential;
    if (b[BALANCE_HAS_BEGUN] == 0)
        b[BALANCE_ENERGY] = energy - work, b[BALANCE_POTENTIAL] = potential;
    b[BALANCE_HAS_BEGUN] = 1;
    const double height = larger(fabs(potential - b[BALANCE_POTENTIAL]), 1e-6 * fabs(potential));
    const double off = fabs(energy - b[BALANCE_ENERGY] - work);
    b[BALANCE_LARGEST] =
        larger(b[BALANCE_LARGEST], larger(height, larger(fabs(kinetic), fabs(work))));
    b[BALANCE_WORST] = larger(b[BALANCE_WORST], off);
}

// Worst |E - E0 - work|, relative to the largest kinetic energy or work
static inline double tr_balance_error(const double *b)
{
    return b[BALANCE_LARGEST] > 0 ? b[BALANCE_WORST] / b[BALANCE_LARGEST] : b[BALANCE_WORST];
}

#endif
