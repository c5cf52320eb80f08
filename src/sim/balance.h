// SPDX-License-Identifier: Apache-2.0
// How well a run balances: E = T + U must be what it was, and the work since.
#ifndef TR_SIM_BALANCE_H
#define TR_SIM_BALANCE_H

#include "num/dense.h"

#include <math.h>
#include <stdbool.h>

typedef struct Balance {
    bool has_begun;
    double first_energy, first_potential, largest, worst; // [J]
} Balance;

// The next row. What stands still has no energy to compare with but that of its height, of which
// rounding leaves 1e-16 and not 1e-6.
static inline void tr_balance_add(Balance *b, double kinetic, double potential, double work)
{
    const double energy = kinetic + potential;
    if (!b->has_begun) b->first_energy = energy - work, b->first_potential = potential;
    b->has_begun = true;
    const double height = larger(fabs(potential - b->first_potential), 1e-6 * fabs(potential));
    const double off = fabs(energy - b->first_energy - work);
    b->largest = larger(b->largest, larger(height, larger(fabs(kinetic), fabs(work))));
    b->worst = larger(b->worst, off);
}

// Worst |E - E0 - work|, relative to the largest kinetic energy or work
static inline double tr_balance_error(const Balance *b)
{
    return b->largest > 0 ? b->worst / b->largest : b->worst;
}

#endif
