// SPDX-License-Identifier: Apache-2.0
#include "expr/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- value ---------------------------------------------------------------------------------

// The piece that holds x; the end pieces extend to infinity.
static uint32_t piece_at(const TableAxis *axis, double x)
{
    uint32_t low = 0, high = axis->pieces;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (x < axis->knot[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

// d^order/du^order of c[0] + c[1] u + ... + c[degree] u^degree, by Horner's rule.
static double polynomial(const double *c, uint32_t stride, int degree, double u, int order)
{
    double sum = 0;
    for (int k = degree; k >= order; k--) {
        double factor = 1; // k! / (k - order)!
        for (int j = 0; j < order; j++) factor *= k - j;
        const double term = factor * c[(uint32_t)k * stride];
        sum = k == degree ? term : fma(sum, u, term); // a table of degree 0 is finite at infinity
    }
    return sum;
}

// Moves x into the axis when the table holds its ends; true when that makes the derivative vanish.
static bool is_flat(const Table *table, int axis, double *x, int order)
{
    const TableAxis *at = &table->axis[axis];
    if (!table->hold || at->pieces == 0) return false;
    const double first = at->knot[0], last = at->knot[at->pieces];
    const bool outside = *x < first || *x > last;
    if (*x < first) *x = first;
    if (*x > last) *x = last;
    return outside && table_order_along(order, axis) > 0;
}

double tr_table_value(const Table *table, double x, double y, int order)
{
    if (isnan(x) || isnan(y)) return x + y;
    if (is_flat(table, 0, &x, order) || is_flat(table, 1, &y, order)) return 0;
    const TableAxis *ax = &table->axis[0], *ay = &table->axis[1];
    const uint32_t i = piece_at(ax, x), j = ay->pieces ? piece_at(ay, y) : 0;
    const uint32_t columns = ay->pieces ? ay->pieces : 1, across = ay->degree + 1;
    const uint32_t size = (ax->degree + 1) * across;
    const double *c = table->coefficient + ((size_t)i * columns + j) * size;

    double along_x[TABLE_MAX_DEGREE + 1] = {0};
    for (uint32_t b = 0; b < across; b++)
        along_x[b] = polynomial(c + b, across, (int)ax->degree, x - ax->knot[i],
                                table_order_along(order, 0));
    if (!ay->pieces) return along_x[0];
    return polynomial(along_x, 1, (int)ay->degree, y - ay->knot[j], table_order_along(order, 1));
}

// ---- construction --------------------------------------------------------------------------

// Second derivatives m of the spline through (x, y) [h_i = x_{i+1} - x_i, s_i = slopes]:
//   h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = 6 (s_i - s_{i-1})
// and the third derivative is continuous at the second and the last but one knot.
// `work` has room for 2 n numbers.
static void spline_moments(const double *x, uint32_t n, const double *y, double *m, double *work)
{
    double *diagonal = work, *right = work + n;
    const uint32_t last = n - 1;
#define STEP(i)  (x[(i) + 1] - x[i])
#define SLOPE(i) ((y[(i) + 1] - y[i]) / STEP(i))
    if (n == 3) { // one parabola
        m[0] = m[1] = m[2] = 2 * (SLOPE(1) - SLOPE(0)) / (STEP(0) + STEP(1));
        return;
    }
    for (uint32_t i = 1; i < last; i++) { // forward elimination
        double lower = STEP(i - 1), upper = STEP(i);
        diagonal[i] = 2 * (lower + upper);
        if (i == 1) { // m_0 = (1 + h0/h1) m_1 - h0/h1 m_2
            diagonal[i] += lower * (1 + lower / upper);
            m[i] = upper - lower * lower / upper;
        } else {
            m[i] = upper; // the superdiagonal, kept here until back substitution
        }
        if (i == last - 1) { // m_n = (1 + h_{n-1}/h_{n-2}) m_{n-1} - h_{n-1}/h_{n-2} m_{n-2}
            diagonal[i] += upper * (1 + upper / lower);
            lower -= upper * upper / lower;
        }
        right[i] = 6 * (SLOPE(i) - SLOPE(i - 1));
        if (i > 1) {
            const double factor = lower / diagonal[i - 1];
            diagonal[i] -= factor * m[i - 1];
            right[i] -= factor * right[i - 1];
        }
    }
    m[last - 1] = right[last - 1] / diagonal[last - 1];
    for (uint32_t i = last - 2; i >= 1; i--) m[i] = (right[i] - m[i] * m[i + 1]) / diagonal[i];
    m[0] = m[1] + STEP(0) / STEP(1) * (m[1] - m[2]);
    m[last] = m[last - 1] + STEP(last - 1) / STEP(last - 2) * (m[last - 1] - m[last - 2]);
}

// Coefficients c[i * stride + k] of the pieces through (x, y); n = 1 is a constant.
static void pieces_through(const double *x, uint32_t n, const double *y, uint32_t degree, double *c,
                           size_t stride, double *work)
{
    double *m = work + 2 * (size_t)n;
    for (uint32_t i = 0; i < n; i++) m[i] = 0; // straight lines
    if (degree == 3 && n > 2) spline_moments(x, n, y, m, work);
    if (n == 1) c[0] = y[0];
    for (uint32_t i = 0; i + 1 < n; i++) {
        const double h = STEP(i);
        double *piece = c + i * stride;
        piece[0] = y[i];
        piece[1] = SLOPE(i);
        if (degree < 3) continue;
        piece[1] -= h * (2 * m[i] + m[i + 1]) / 6;
        piece[2] = m[i] / 2;
        piece[3] = (m[i + 1] - m[i]) / (6 * h);
    }
#undef STEP
#undef SLOPE
}

// Splines along x through every column, then along y through every coefficient of those.
static void fill(const Table *table, const double *z, double *c, double *work)
{
    const TableAxis *ax = &table->axis[0], *ay = &table->axis[1];
    const uint32_t nx = ax->pieces + 1, ny = ay->pieces + 1;
    const uint32_t dx = ax->degree + 1, dy = ay->degree + 1;
    const size_t columns = ay->pieces ? ay->pieces : 1, size = (size_t)dx * dy;
    double *line = work, *along_x = line + nx + ny; // along_x[(j * pieces + i) * dx + a]
    double *scratch = along_x + (size_t)ny * ax->pieces * dx;

    for (uint32_t j = 0; j < ny; j++) {
        for (uint32_t i = 0; i < nx; i++) line[i] = z[(size_t)i * ny + j];
        pieces_through(ax->knot, nx, line, ax->degree, along_x + (size_t)j * ax->pieces * dx, dx,
                       scratch);
    }
    for (uint32_t i = 0; i < ax->pieces; i++)
        for (uint32_t a = 0; a < dx; a++) {
            for (uint32_t j = 0; j < ny; j++)
                line[j] = along_x[((size_t)j * ax->pieces + i) * dx + a];
            pieces_through(ay->knot, ny, line, ay->degree, c + i * columns * size + (size_t)a * dy,
                           size, scratch);
        }
}

static bool check_axis(const char *name, const double *x, uint32_t n, tr_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(x[i]) || (i && (!(x[i] > x[i - 1]) || !isfinite(x[i] - x[i - 1])))) {
            tr_fail(err, TR_INVALID, (Place){0},
                    "table: %s must be finite and increase, entry %u does not", name, i + 1);
            return false;
        }
    return true;
}

static bool check_points(const double *x, uint32_t nx, const double *y, uint32_t ny,
                         const double *z, int degree, tr_error *err)
{
    if (degree != 1 && degree != 3) {
        tr_fail(err, TR_USAGE, (Place){0}, "table: the degree is 1 or 3, not %d", degree);
        return false;
    }
    if (nx < 2 || (y && ny < 2) || (!y && ny > 1)) {
        tr_fail(err, TR_INVALID, (Place){0},
                "table: at least two points are needed along each axis");
        return false;
    }
    if (!check_axis("x", x, nx, err) || (y && !check_axis("y", y, ny, err))) return false;
    for (size_t k = 0; k < (size_t)nx * (y ? ny : 1); k++)
        if (!isfinite(z[k])) {
            tr_fail(err, TR_INVALID, (Place){0}, "table: value %zu is not finite", k + 1);
            return false;
        }
    return true;
}

static const double *copy(Arena *arena, const double *x, size_t n)
{
    double *at = tr_arena_alloc(arena, n, sizeof *at);
    return at ? memcpy(at, x, n * sizeof *at) : NULL;
}

static size_t coefficient_count(const Table *table)
{
    size_t count = 1;
    for (int axis = 0; axis < 2; axis++) {
        const TableAxis *at = &table->axis[axis];
        count *= (size_t)(at->pieces ? at->pieces : 1) * (at->degree + 1);
    }
    return count;
}

static Table *check_coefficients(Table *table, tr_error *err)
{
    for (size_t i = 0; i < coefficient_count(table); i++)
        if (!isfinite(table->coefficient[i])) {
            tr_fail(err, TR_INVALID, (Place){0},
                    "table: the points are too close together or too far apart");
            return NULL;
        }
    return table;
}

Table *tr_table_copy(Arena *arena, const Table *table)
{
    Table *twin = tr_arena_alloc(arena, 1, sizeof *twin);
    if (!twin) return NULL;
    *twin = *table;
    for (int axis = 0; axis < 2; axis++)
        twin->axis[axis].knot = copy(arena, table->axis[axis].knot, table->axis[axis].pieces + 1);
    twin->coefficient = copy(arena, table->coefficient, coefficient_count(table));
    return twin->axis[0].knot && twin->axis[1].knot && twin->coefficient ? twin : NULL;
}

Table *tr_table_through(Arena *arena, const double *x, uint32_t nx, const double *y, uint32_t ny,
                        const double *z, int degree, bool hold, tr_error *err)
{
    if (has_failed(err) || !check_points(x, nx, y, ny, z, degree, err)) return NULL;
    if (!y) ny = 1;
    static const double origin = 0;
    const uint32_t d = (uint32_t)degree, across = y ? d : 0;
    Table *table = tr_arena_alloc(arena, 1, sizeof *table);
    const double *kx = copy(arena, x, nx), *ky = copy(arena, y ? y : &origin, ny);
    const size_t pieces = (size_t)(nx - 1) * (ny > 1 ? ny - 1 : 1);
    double *c = tr_arena_alloc(arena, pieces * (d + 1), (across + 1) * sizeof *c);
    // room for: a line of points, the splines along x, and 3 n of scratch
    double *work = calloc((size_t)ny * (nx - 1) * (d + 1) + 4 * ((size_t)nx + ny), sizeof *work);
    if (table && kx && ky && c && work) {
        *table = (Table){{{kx, nx - 1, d}, {ky, ny - 1, across}}, hold, c};
        fill(table, z, c, work);
        table = check_coefficients(table, err);
    } else {
        tr_fail_memory(err);
        table = NULL;
    }
    free(work);
    return table;
}
