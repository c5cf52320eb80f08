// SPDX-License-Identifier: Apache-2.0
// Tables of one or two variables: recorded signals, curves, maps and height grids.
//
// Of one variable a table is a polynomial for each piece between its knots, with u = x - x_i
//
//   f = sum_a c[i][a] u^a
//
// and of two it has one coefficient for each node, with functions along either axis that are
// polynomials of u and v on a piece and vanish but on a few of them (T230):
//
//   f = sum_rs B_r(u) B_s(v) c[i + r][j + s]
//
// Derivatives come from the same coefficients, so a derivative is a table with an order, not
// another table.
#ifndef TR_EXPR_TABLE_H
#define TR_EXPR_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { TABLE_MAX_DEGREE = 3 };

typedef struct TableAxis {
    const double *knot;  // increasing
    uint32_t count;      // of knots; one: the table does not depend on it
    uint32_t pieces;     // one less, or as many for degree 0: the last begins at the last knot
    uint32_t degree;     // of the polynomials along this axis
    double density;      // knots in a unit where they are evenly spaced; else 0
    const double *bases; // of two variables: by piece, power of u and function
} TableAxis;

typedef struct Table {
    TableAxis axis[2];
    uint32_t degree; // that was asked for: along an axis with few points it is less, and as smooth
    bool hold;       // beyond its ends: keep the end value (true) or extend the end piece (false)
    bool stops;      // a run that leaves it ends there
    double *coefficient;
    Arena arena; // of all but the coefficients
    atomic_uint owners;
} Table;

static inline bool table_is_plane(const Table *table) { return table->axis[1].count > 1; }

// A derivative order packed into one payload integer: a times along x, b times along y.
static inline int table_order(int a, int b) { return a | b << 4; }
static inline int table_order_along(int order, int axis) { return order >> (4 * axis) & 15; }

// In place of an order, questions about the pieces along an axis: the number of the one that an
// argument is in; and of such a number where that piece begins, and between which knots it lies,
// the first and the last of which are far away.
#define TABLE_FAR 1e300 // beyond every knot that matters
enum { TABLE_PIECE = 8, TABLE_START, TABLE_LOWER, TABLE_UPPER };
static inline int table_question(int what, int axis) { return what | axis << 4; }
static inline bool table_is_question(int order) { return (order & 8) != 0; }

// The derivative of the given order at (x, y), or the answer to a question about x.
double tr_table_value(const Table *table, double x, double y, int order);
// The piece that holds x; the end pieces extend to infinity.
uint32_t tr_table_piece(const TableAxis *axis, double x);

// A table through z[i * ny + j] at (x[i], y[j]): degree 0 keeps the value of a point until the
// next, degree 1 joins the points by straight lines, degree 3 is the spline with continuous second
// derivative and no knot next to the ends, so it reproduces cubic polynomials. For one variable y
// is NULL and ny is 1. NULL, and an error, when the points do not increase, are not finite, or are
// too few.
Table *tr_table_through(const double *x, uint32_t nx, const double *y, uint32_t ny, const double *z,
                        int degree, bool hold, tr_error *err);
// The same with values that were allocated for it and are taken over, whatever comes of it.
Table *tr_table_take(const double *x, uint32_t nx, const double *y, uint32_t ny, double *z,
                     int degree, bool hold, tr_error *err);

// Tables are never changed, and belong to all who share them: each frees it once.
const Table *tr_table_share(const Table *table);
void tr_table_free(const Table *table);

#endif
