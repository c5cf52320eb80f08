// SPDX-License-Identifier: Apache-2.0
// What an expression of t is at most and at least while t is in an interval, and how fast it
// changes there. Rounding is counted in: bounds of values hold for exact values and for those that
// programs compute.
#ifndef TR_EXPR_BOUND_H
#define TR_EXPR_BOUND_H

#include "expr/system.h"

typedef struct Interval {
    double low, high;
} Interval;

// Values in an interval of t, and slopes; where it may jump, slopes are anything.
typedef struct Bound {
    Interval value, slope;
} Bound;

// Of the result of an operation, from those of its operands; `n` and `f` are its payloads.
Bound tr_op_bound(Op op, Bound a, Bound b, Bound c, int n, const Table *f);

// Expressions of inputs, in an order in which they can be bounded one after the other.
typedef struct Bounds Bounds;
Bounds *tr_bounds_new(System *system, const Expr *of, size_t count, tr_error *err);
void tr_bounds_free(Bounds *bounds);
// Of each expression, for the first input, time, in an interval, and others as they are. `room`
// has tr_bounds_size entries.
void tr_bounds_take(const Bounds *bounds, const double *inputs, Interval t, Bound *room,
                    Bound *out);
size_t tr_bounds_size(const Bounds *bounds);

#endif
