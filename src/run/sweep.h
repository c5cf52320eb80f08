// SPDX-License-Identifier: Apache-2.0
// Eigenvalues against a parameter, each followed as it goes.
#ifndef TR_RUN_SWEEP_H
#define TR_RUN_SWEEP_H

#include <trundle/trundle.h>

// From the eigenvalues `was` at `before` and their slopes to those in `is` at `now`: to[k] is where
// branch k goes; `clear` is whether no other way would be nearly as good. All are pairs of real and
// imaginary part, complete with conjugates. False when memory runs out.
bool tr_follow(const double *was, const double *slopes, double change, const double *is,
               uint32_t count, uint32_t *to, bool *clear);

// A root of f in [a, b], where it changes sign, to rounding.
double tr_bracketed_root(double (*f)(void *owner, double x), void *owner, double a, double fa,
                         double b, double fb);

#endif
