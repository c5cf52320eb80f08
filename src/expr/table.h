// SPDX-License-Identifier: Apache-2.0
// Piecewise polynomials of one or two variables: recorded signals and height grids.
//
// On piece (i, j), with u = x - x_i and v = y - y_j,   f = sum_ab c[i][j][a][b] u^a v^b.
// Derivatives come from the same coefficients, so a derivative is a table with an order, not
// another table. A function of one variable is one whose second axis has a single point.
#ifndef TR_EXPR_TABLE_H
#define TR_EXPR_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { TABLE_MAX_DEGREE = 3 };

typedef struct TableAxis {
    const double *knot; // increasing
    uint32_t pieces;    // one less than the knots
    uint32_t degree;    // of the polynomial along this axis
} TableAxis;

typedef struct Table {
    TableAxis axis[2];
    bool hold; // beyond its ends: keep the end value (true) or extend the end piece (false)
    const double *coefficient;
} Table;

// A derivative order packed into one payload integer: a times along x, b times along y.
static inline int table_order(int a, int b) { return a | b << 4; }
static inline int table_order_along(int order, int axis) { return order >> (4 * axis) & 15; }

// The derivative of the given order at (x, y).
double tr_table_value(const Table *table, double x, double y, int order);

// A table through z[i * ny + j] at (x[i], y[j]): degree 1 joins the points by straight lines,
// degree 3 is the spline with continuous second derivative and no knot next to the ends, so it
// reproduces cubic polynomials. For one variable y is NULL and ny is 1. NULL, and an error, when
// the points do not increase, are not finite, or are too few.
Table *tr_table_through(Arena *arena, const double *x, uint32_t nx, const double *y, uint32_t ny,
                        const double *z, int degree, bool hold, tr_error *err);

// A copy in another arena; NULL when memory runs out.
Table *tr_table_copy(Arena *arena, const Table *table);

#endif
