// SPDX-License-Identifier: Apache-2.0
// What changes with a parameter: which of the new eigenvalues each of the old ones became, and
// where something is zero.
#ifndef TR_NUM_FOLLOW_H
#define TR_NUM_FOLLOW_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// Of two complex numbers
static inline double apart(const double *a, const double *b)
{
    return hypot(a[0] - b[0], a[1] - b[1]);
}

// From the eigenvalues `was` and their slopes to those in `is`, where the parameter is `change`
// more: to[k] is where branch k goes; `clear` is whether no other way would be nearly as good. All
// are pairs of real and imaginary part, complete with conjugates. False when memory runs out.
bool tr_follow(const double *was, const double *slopes, double change, const double *is,
               uint32_t count, uint32_t *to, bool *clear);

// A root of f in [a, b], where it changes sign, to rounding.
double tr_bracketed_root(double (*f)(void *owner, double x), void *owner, double a, double fa,
                         double b, double fb);

#endif
