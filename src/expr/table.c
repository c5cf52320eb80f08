// SPDX-License-Identifier: Apache-2.0
// Of one variable values by Horner's rule; splines by a tridiagonal system. Of two variables the
// functions along either axis are B-splines (T230); their coefficients by one banded system for
// each axis, solved in place (T231).
#include "expr/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- value ---------------------------------------------------------------------------------

uint32_t tr_table_piece(const TableAxis *axis, double x)
{
    uint32_t low = 0, high = axis->pieces;
    if (axis->density > 0) { // off by one at most, see density_of
        const double guess = (x - axis->knot[0]) * axis->density, last = high - 1;
        low = guess > 0 ? (uint32_t)(guess < last ? guess : last) : 0;
        if (low > 0 && x < axis->knot[low]) return low - 1;
        return low + 1 < high && x >= axis->knot[low + 1] ? low + 1 : low;
    }
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (x < axis->knot[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

// k! / (k - order)!
static double falling(int k, int order)
{
    static const double factor[TABLE_MAX_DEGREE + 1][TABLE_MAX_DEGREE + 1] = {
        {1, 0, 0, 0}, {1, 1, 0, 0}, {1, 2, 2, 0}, {1, 3, 6, 6}};
    return factor[k][order];
}

// d^order/du^order of c[0] + c[1] u + ... + c[degree] u^degree, by Horner's rule.
static double polynomial(const double *c, int degree, double u, int order)
{
    double sum = 0;
    for (int k = degree; k >= order; k--) {
        const double term = falling(k, order) * c[k];
        sum = k == degree ? term : fma(sum, u, term); // a table of degree 0 is finite at infinity
    }
    return sum;
}

// Moves x into the axis when the table holds its ends; true when that makes the derivative vanish.
static bool is_flat(const Table *table, int axis, double *x, int order)
{
    const TableAxis *at = &table->axis[axis];
    if (!table->hold || at->count < 2) return false;
    const double first = at->knot[0], last = at->knot[at->count - 1];
    const bool outside = *x < first || *x > last;
    if (*x < first) *x = first;
    if (*x > last) *x = last;
    return outside && table_order_along(order, axis) > 0;
}

static double answer(const Table *table, double x, int question)
{
    const TableAxis *axis = &table->axis[question >> 4 & 1];
    if ((question & 15) == TABLE_PIECE) return tr_table_piece(axis, x);
    const uint32_t piece = x > 0 ? (uint32_t)fmin(x, axis->pieces - 1) : 0;
    switch (question & 15) {
    case TABLE_START: return axis->knot[piece];
    case TABLE_LOWER: return piece ? axis->knot[piece] : -TABLE_FAR;
    default: return piece + 1 < axis->pieces ? axis->knot[piece + 1] : TABLE_FAR;
    }
}

// The first of the coefficients along an axis that a piece depends on
static uint32_t first_function(const TableAxis *axis, uint32_t piece)
{
    if (axis->degree < TABLE_MAX_DEGREE) return piece + axis->degree < axis->count ? piece : 0;
    const uint32_t last = axis->count - axis->degree - 1; // as there is no knot next to the ends
    return piece < 2 ? 0 : piece - 1 < last ? piece - 1 : last;
}

// Derivatives of the functions that do not vanish on a piece
static void take_bases(const double *basis, int degree, double u, int order, double *B)
{
    for (int r = 0; r <= degree; r++) B[r] = 0;
    for (int k = degree; k >= order; k--) {
        const double factor = falling(k, order), *of = basis + k * (degree + 1);
        for (int r = 0; r <= degree; r++) B[r] = (k == degree ? 0 : B[r] * u) + factor * of[r];
    }
}

static double blend(int dx, int dy, const double *Bx, const double *By, const double *c,
                    size_t stride)
{
    double sum = 0;
    for (int r = 0; r <= dx; r++) {
        double line = 0;
        for (int s = 0; s <= dy; s++) line += By[s] * c[(size_t)r * stride + (size_t)s];
        sum += Bx[r] * line;
    }
    return sum;
}

// Cubics along both axes, four functions side by side: 17 ns where loops take 39 (bench line
// "table").
typedef double Pair __attribute__((vector_size(2 * sizeof(double))));
typedef struct Four {
    Pair low, high;
} Four;

static inline Four four_at(const double *x)
{
    Four v;
    memcpy(&v.low, x, sizeof v.low);
    memcpy(&v.high, x + 2, sizeof v.high);
    return v;
}

static inline Four times(Four v, double a) { return (Four){v.low * a, v.high * a}; }
static inline Four plus(Four v, Four w) { return (Four){v.low + w.low, v.high + w.high}; }

static inline Four take_cubics(const double *basis, double u, int order)
{
    const Four c1 = four_at(basis + 4), c2 = four_at(basis + 8), c3 = four_at(basis + 12);
    switch (order) {
    case 0: return plus(times(plus(times(plus(times(c3, u), c2), u), c1), u), four_at(basis));
    case 1: return plus(times(plus(times(c3, 3 * u), times(c2, 2)), u), c1);
    case 2: return plus(times(c3, 6 * u), times(c2, 2));
    default: return times(c3, 6);
    }
}

static double blend_cubics(const double *bx, const double *by, const double *c, size_t stride,
                           double u, double v, int order)
{
    const Four Bx = take_cubics(bx, u, table_order_along(order, 0));
    const Four By = take_cubics(by, v, table_order_along(order, 1));
    const Four first = plus(times(four_at(c), Bx.low[0]), times(four_at(c + stride), Bx.low[1]));
    const Four last = plus(times(four_at(c + 2 * stride), Bx.high[0]),
                           times(four_at(c + 3 * stride), Bx.high[1]));
    const Four line = plus(first, last);
    const Pair sum = line.low * By.low + line.high * By.high;
    return sum[0] + sum[1];
}

// f = sum_rs B_r(u) B_s(v) c[i + r][j + s]                                          (T230)
static double plane_value(const Table *table, double x, double y, int order)
{
    const TableAxis *ax = &table->axis[0], *ay = &table->axis[1];
    const int dx = (int)ax->degree, dy = (int)ay->degree;
    const uint32_t i = tr_table_piece(ax, x), j = tr_table_piece(ay, y);
    const double u = x - ax->knot[i], v = y - ay->knot[j];
    const double *bx = ax->bases + (size_t)i * (ax->degree + 1) * (ax->degree + 1);
    const double *by = ay->bases + (size_t)j * (ay->degree + 1) * (ay->degree + 1);
    const double *c =
        table->coefficient + (size_t)first_function(ax, i) * ay->count + first_function(ay, j);
    const int a = table_order_along(order, 0), b = table_order_along(order, 1);
    if (dx == 3 && dy == 3 && a <= 3 && b <= 3)
        return blend_cubics(bx, by, c, ay->count, u, v, order);
    double Bx[TABLE_MAX_DEGREE + 1], By[TABLE_MAX_DEGREE + 1];
    take_bases(bx, dx, u, a, Bx);
    take_bases(by, dy, v, b, By);
    return blend(dx, dy, Bx, By, c, ay->count);
}

double tr_table_value(const Table *table, double x, double y, int order)
{
    if (isnan(x) || isnan(y)) return x + y;
    if (table_is_question(order)) return answer(table, x, order);
    if (is_flat(table, 0, &x, order) || is_flat(table, 1, &y, order)) return 0;
    if (table_is_plane(table)) return plane_value(table, x, y, order);
    const TableAxis *axis = &table->axis[0];
    const uint32_t i = tr_table_piece(axis, x);
    return polynomial(table->coefficient + (size_t)i * (axis->degree + 1), (int)axis->degree,
                      x - axis->knot[i], order);
}

// ---- one variable --------------------------------------------------------------------------

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

// Coefficients of the pieces through (x, z); `work` has room for 3 n numbers.
static void pieces_through(const TableAxis *axis, const double *y, double *c, double *work)
{
    const uint32_t n = axis->count;
    const double *x = axis->knot;
    double *m = work + 2 * (size_t)n;
    for (uint32_t i = 0; i < n; i++) m[i] = 0; // straight lines
    if (axis->degree == 3 && n > 2) spline_moments(x, n, y, m, work);
    for (uint32_t i = 0; i < axis->pieces; i++) {
        double *piece = c + (size_t)i * (axis->degree + 1);
        piece[0] = y[i];
        if (axis->degree == 0) continue;
        const double h = STEP(i);
        piece[1] = SLOPE(i);
        if (axis->degree < 3) continue;
        piece[1] -= h * (2 * m[i] + m[i + 1]) / 6;
        piece[2] = m[i] / 2;
        piece[3] = (m[i + 1] - m[i]) / (6 * h);
    }
#undef STEP
#undef SLOPE
}

// Makes coefficients of the values.
static bool fit_line(Table *table)
{
    const TableAxis *axis = &table->axis[0];
    double *c = malloc((size_t)axis->pieces * (axis->degree + 1) * sizeof *c);
    double *work = malloc(3 * (size_t)axis->count * sizeof *work);
    if (c && work) pieces_through(axis, table->coefficient, c, work);
    free(work);
    if (!c || !work) return free(c), false;
    free(table->coefficient);
    table->coefficient = c;
    return true;
}

// ---- two variables -------------------------------------------------------------------------

// The knots of B-splines: all but those next to the ends, which are there degree + 1 times.
static double spline_knot(const TableAxis *axis, int i)
{
    const int n = (int)axis->count, d = (int)axis->degree, inner = i - d;
    if (inner <= 0) return axis->knot[0];
    if (i >= n) return axis->knot[n - 1];
    return axis->knot[d == 3 ? inner + 1 : inner];
}

// The functions B_first ... that do not vanish on a piece, as polynomials of u, by powers and then
// functions: from degree p - 1 to p with knots t                                    (T230)
//   B_j = (x - t_j)/(t_{j+p} - t_j) B_j + (t_{j+p+1} - x)/(t_{j+p+1} - t_{j+1}) B_{j+1}
static void expand_bases(const TableAxis *axis, uint32_t piece, double *basis)
{
    const int d = (int)axis->degree, first = (int)first_function(axis, piece);
    double B[TABLE_MAX_DEGREE + 2][TABLE_MAX_DEGREE + 1] = {{0}}; // by function
    B[d][0] = 1;
    for (int p = 1; p <= d; p++)
        for (int r = d - p; r <= d; r++) {
            const int j = first + r;
            const double from = spline_knot(axis, j), to = spline_knot(axis, j + p + 1);
            const double rise = spline_knot(axis, j + p) - from,
                         fall = to - spline_knot(axis, j + 1);
            const double at = axis->knot[piece];
            double next[TABLE_MAX_DEGREE + 1] = {0};
            for (int k = 0; k < p; k++) {
                const double up = r > d - p ? B[r][k] / rise : 0;
                const double down = r < d ? B[r + 1][k] / fall : 0;
                next[k] += up * (at - from) + down * (to - at);
                next[k + 1] += up - down;
            }
            memcpy(B[r], next, sizeof next);
        }
    for (int k = 0; k <= d; k++)
        for (int r = 0; r <= d; r++) basis[k * (d + 1) + r] = B[r][k];
}

static bool make_bases(Arena *arena, TableAxis *axis)
{
    const size_t size = (size_t)(axis->degree + 1) * (axis->degree + 1);
    double *bases = tr_arena_alloc(arena, axis->pieces * size, sizeof *bases);
    for (uint32_t i = 0; bases && i < axis->pieces; i++) expand_bases(axis, i, bases + i * size);
    axis->bases = bases;
    return bases != NULL;
}

// A matrix with two diagonals on either side of its main one, then its triangular factors.
enum { SIDE = 2, BAND = 2 * SIDE + 1 };
typedef double Band[BAND]; // row i: columns i - 2 ... i + 2

// Row i: what the functions are at node i, times the coefficients, is the value there  (T231)
static void fill_band(const TableAxis *axis, Band *A)
{
    const int n = (int)axis->count, d = (int)axis->degree;
    for (int i = 0; i < n; i++) {
        double B[TABLE_MAX_DEGREE + 1];
        const uint32_t piece = (uint32_t)i < axis->pieces ? (uint32_t)i : axis->pieces - 1;
        const double u = axis->knot[i] - axis->knot[piece];
        take_bases(axis->bases + (size_t)piece * (size_t)((d + 1) * (d + 1)), d, u, 0, B);
        memset(A[i], 0, sizeof A[i]);
        for (int r = 0; r <= d; r++) {
            const int column = (int)first_function(axis, piece) + r - i + SIDE;
            if (column >= 0 && column < BAND) A[i][column] = B[r]; // the others are zero
        }
    }
}

// A = L U, without pivots: no minor of such a matrix is negative. Of U the main diagonal becomes
// its inverse.
static void factor_band(Band *A, int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = i - SIDE < 0 ? 0 : i - SIDE; k < i; k++) {
            const double factor = A[i][k - i + SIDE] * A[k][SIDE];
            A[i][k - i + SIDE] = factor;
            for (int j = k + 1; j <= k + SIDE && j < n; j++)
                A[i][j - i + SIDE] -= factor * A[k][j - k + SIDE];
        }
        A[i][SIDE] = 1 / A[i][SIDE];
    }
}

// A x = b for `width` columns side by side, in place
static void solve_band(const Band *A, size_t n, double *b, size_t width)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i < SIDE ? 0 : i - SIDE; k < i; k++) {
            const double factor = A[i][k + SIDE - i];
            for (size_t j = 0; factor != 0 && j < width; j++)
                b[i * width + j] -= factor * b[k * width + j];
        }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k <= i + SIDE && k < n; k++) {
            const double factor = A[i][k + SIDE - i];
            for (size_t j = 0; factor != 0 && j < width; j++)
                b[i * width + j] -= factor * b[k * width + j];
        }
        for (size_t j = 0; j < width; j++) b[i * width + j] *= A[i][SIDE];
    }
}

// Makes coefficients of the values, along x and then along y.
static bool fit_plane(Table *table)
{
    TableAxis *ax = &table->axis[0], *ay = &table->axis[1];
    const size_t nx = ax->count, ny = ay->count;
    Band *A = calloc(nx > ny ? nx : ny, sizeof *A);
    const bool good = A && make_bases(&table->arena, ax) && make_bases(&table->arena, ay);
    if (good && ax->degree > 1) {
        fill_band(ax, A);
        factor_band(A, (int)nx);
        solve_band((const Band *)A, nx, table->coefficient, ny);
    }
    if (good && ay->degree > 1) {
        fill_band(ay, A);
        factor_band(A, (int)ny);
        for (size_t i = 0; i < nx; i++)
            solve_band((const Band *)A, ny, table->coefficient + i * ny, 1);
    }
    free(A);
    return good;
}

// ---- construction --------------------------------------------------------------------------

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
    if (degree != 0 && degree != 1 && degree != 3) {
        tr_fail(err, TR_USAGE, (Place){0}, "table: the degree is 0, 1 or 3, not %d", degree);
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

// How many knots there are in a unit, when none is further from where it would be than a quarter of
// their distance: then a guess is off by one at most.
static double density_of(const double *x, uint32_t n)
{
    if (n < 2) return 0;
    const double step = (x[n - 1] - x[0]) / (n - 1);
    for (uint32_t i = 0; i < n; i++)
        if (!(fabs(x[i] - (x[0] + i * step)) <= step / 4)) return 0;
    return isfinite(1 / step) ? 1 / step : 0;
}

static bool make_axis(Table *table, int which, const double *x, uint32_t n, uint32_t degree)
{
    double *knot = tr_arena_alloc(&table->arena, n, sizeof *knot);
    if (!knot) return false;
    memcpy(knot, x, n * sizeof *knot);
    table->axis[which] = (TableAxis){.knot = knot,
                                     .count = n,
                                     .pieces = degree || n == 1 ? n - 1 : n,
                                     .degree = degree,
                                     .density = density_of(x, n)};
    return true;
}

static size_t coefficient_count(const Table *table)
{
    const TableAxis *x = &table->axis[0];
    if (table_is_plane(table)) return (size_t)x->count * table->axis[1].count;
    return (size_t)x->pieces * (x->degree + 1);
}

static bool check_coefficients(const Table *table, tr_error *err)
{
    bool good = true;
    for (size_t i = 0; good && i < coefficient_count(table); i++)
        good = isfinite(table->coefficient[i]);
    if (!good)
        tr_fail(err, TR_INVALID, (Place){0},
                "table: the points are too close together or too far apart");
    return good;
}

// Through three points there is a parabola, through two a line.
static uint32_t own_degree(int degree, uint32_t n)
{
    return (uint32_t)degree < n ? (uint32_t)degree : n - 1;
}

Table *tr_table_take(const double *x, uint32_t nx, const double *y, uint32_t ny, double *z,
                     int degree, bool hold, tr_error *err)
{
    static const double origin = 0;
    tr_error local = {0};
    if (!err) err = &local;
    const bool good = !has_failed(err) && check_points(x, nx, y, ny, z, degree, err);
    Table *table = good ? calloc(1, sizeof *table) : NULL;
    if (!table) {
        free(z);
        if (good) tr_fail_memory(err);
        return NULL;
    }
    atomic_init(&table->owners, 1);
    table->hold = hold, table->degree = (uint32_t)degree, table->coefficient = z;
    const bool made =
        make_axis(table, 0, x, nx, y ? own_degree(degree, nx) : (uint32_t)degree) &&
        make_axis(table, 1, y ? y : &origin, y ? ny : 1, y ? own_degree(degree, ny) : 0) &&
        (y ? fit_plane(table) : fit_line(table));
    if (!made) tr_fail_memory(err);
    if (made && check_coefficients(table, err)) return table;
    tr_table_free(table);
    return NULL;
}

Table *tr_table_through(const double *x, uint32_t nx, const double *y, uint32_t ny, const double *z,
                        int degree, bool hold, tr_error *err)
{
    if (has_failed(err) || !check_points(x, nx, y, ny, z, degree, err)) return NULL;
    const size_t count = (size_t)nx * (y ? ny : 1);
    double *values = malloc(count * sizeof *values);
    if (!values) return tr_fail_memory(err), NULL;
    return tr_table_take(x, nx, y, ny, memcpy(values, z, count * sizeof *values), degree, hold,
                         err);
}

const Table *tr_table_share(const Table *table)
{
    atomic_fetch_add(&((Table *)table)->owners, 1);
    return table;
}

void tr_table_free(const Table *table)
{
    Table *mine = (Table *)table;
    if (!mine || atomic_fetch_sub(&mine->owners, 1) > 1) return;
    free(mine->coefficient);
    tr_arena_free(&mine->arena);
    free(mine);
}
