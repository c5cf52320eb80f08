// SPDX-License-Identifier: Apache-2.0
// Tables: through their points, exact on the polynomials they are made of, smooth where they claim
// to be, right at and beside every knot, beyond the ends as asked; and words for wrong points.
#include "test.h"

#include "tables.h"

#include <malloc.h>

enum { MOST = 100 };
static const uint32_t counts[] = {2, 3, 4, 5, 6, 17, MOST};
enum { COUNTS = sizeof counts / sizeof *counts };

// Increasing knots with steps between 0.2 and 1, so that neighbours differ by up to a factor of 5.
static void random_knots(Random *r, uint32_t n, double *x)
{
    x[0] = random_between(r, -3, 3);
    for (uint32_t i = 1; i < n; i++) x[i] = x[i - 1] + random_between(r, 0.2, 1);
}

static void random_values(Random *r, size_t n, double *z)
{
    for (size_t i = 0; i < n; i++) z[i] = random_between(r, -1, 1);
}

static Table *through(Shelf *shelf, const double *x, uint32_t nx, const double *y, uint32_t ny,
                      const double *z, int degree, bool hold)
{
    tr_error err = {0};
    Table *table = shelved(shelf, tr_table_through(x, nx, y, ny, z, degree, hold, &err));
    if (err.status) fail_msg("%s", err.text);
    assert_non_null(table);
    return table;
}

// d^order/dx^order of sum c[k] x^k
static double polynomial(const double *c, int degree, double x, int order)
{
    double sum = 0;
    for (int k = degree; k >= order; k--) {
        double factor = 1;
        for (int i = 0; i < order; i++) factor *= k - i;
        sum = sum * x + factor * c[k];
    }
    return sum;
}

// ---- one variable --------------------------------------------------------------------------

static void test_values_at_knots(void **state)
{
    (void)state;
    Random r = {11};
    for (int k = 0; k < COUNTS; k++)
        for (int degree = 1; degree <= 3; degree += 2) {
            Shelf shelf = {0};
            double x[MOST], z[MOST];
            const uint32_t n = counts[k];
            random_knots(&r, n, x);
            random_values(&r, n, z);
            const Table *f = through(&shelf, x, n, NULL, 1, z, degree, k % 2);
            for (uint32_t i = 0; i + 1 < n; i++)
                assert_true(same_bits(tr_table_value(f, x[i], 0, 0), z[i])); // where a piece begins
            assert_close(tr_table_value(f, x[n - 1], 0, 0), z[n - 1], 1e-14);
            shelf_free(&shelf);
        }
}

// Straight lines: values between, slopes, and no second derivative. Exactly at a knot and one bit
// above it the piece to the right counts, one bit below the piece to the left.
static void test_lines(void **state)
{
    (void)state;
    Random r = {12};
    for (int k = 0; k < COUNTS; k++) {
        Shelf shelf = {0};
        double x[MOST], z[MOST];
        const uint32_t n = counts[k], last = n - 2;
        random_knots(&r, n, x);
        random_values(&r, n, z);
        const Table *f = through(&shelf, x, n, NULL, 1, z, 1, false);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t right = i > last ? last : i, left = i ? i - 1 : 0;
#define SLOPE(i) ((z[(i) + 1] - z[i]) / (x[(i) + 1] - x[i]))
            assert_true(tr_table_value(f, x[i], 0, 1) == SLOPE(right));
            assert_true(tr_table_value(f, nextafter(x[i], HUGE_VAL), 0, 1) == SLOPE(right));
            assert_true(tr_table_value(f, nextafter(x[i], -HUGE_VAL), 0, 1) == SLOPE(left));
            if (i > last) break;
            for (double s = 0; s <= 1; s += 0.125) {
                const double at = x[i] + s * (x[i + 1] - x[i]);
                assert_close(tr_table_value(f, at, 0, 0), z[i] + s * (z[i + 1] - z[i]), 1e-12);
                assert_true(tr_table_value(f, at, 0, 2) == 0 && tr_table_value(f, at, 0, 3) == 0);
            }
        }
        shelf_free(&shelf);
    }
}

// A spline through points of a cubic is the cubic, with all its derivatives; with three points a
// parabola, with two a line.
static void test_cubics_are_exact(void **state)
{
    (void)state;
    Random r = {13};
    for (int k = 0; k < COUNTS; k++)
        for (int trial = 0; trial < 10; trial++) {
            Shelf shelf = {0};
            double x[MOST], z[MOST], c[4];
            const uint32_t n = counts[k];
            const int degree = n < 4 ? (int)n - 1 : 3;
            random_knots(&r, n, x);
            random_values(&r, 4, c);
            const double middle = x[n / 2], width = x[n - 1] - x[0];
            for (uint32_t i = 0; i < n; i++)
                z[i] = polynomial(c, degree, (x[i] - middle) / width, 0);
            const Table *f = through(&shelf, x, n, NULL, 1, z, 3, false);
            for (int order = 0; order <= 5; order++)
                for (int i = 0; i < 40; i++) { // also beyond the ends, where the end pieces go on
                    const double at = random_between(&r, x[0] - 0.5, x[n - 1] + 0.5);
                    const double u = (at - middle) / width;
                    const double got = tr_table_value(f, at, 0, order) * pow(width, order);
                    assert_close(got, polynomial(c, degree, u, order),
                                 1e-14 * pow(5 * width, order) + 1e-12);
                }
            shelf_free(&shelf);
        }
}

static void test_splines_are_smooth(void **state)
{
    (void)state;
    Random r = {14};
    for (int k = 0; k < COUNTS; k++) {
        Shelf shelf = {0};
        double x[MOST], z[MOST];
        const uint32_t n = counts[k];
        random_knots(&r, n, x);
        random_values(&r, n, z);
        const Table *f = through(&shelf, x, n, NULL, 1, z, 3, false);
        uint32_t jumps = 0;
        for (uint32_t i = 1; i + 1 < n; i++) {
            const double below = nextafter(x[i], -HUGE_VAL);
            for (int order = 0; order <= 2; order++)
                assert_close(tr_table_value(f, below, 0, order), tr_table_value(f, x[i], 0, order),
                             1e-11);
            const double left = tr_table_value(f, below, 0, 3),
                         right = tr_table_value(f, x[i], 0, 3);
            if (i == 1 || i == n - 2)
                assert_close(left, right, 1e-10); // no knot next to the ends
            else
                jumps += (relative(left, right) > 1e-3);
        }
        assert_true(n < 6 || jumps > 0); // the points are not those of a cubic
        shelf_free(&shelf);
    }
}

// Within a piece each order is the derivative of the one before: central differences with one
// extrapolation are exact for cubics.
static void test_derivatives_are_differences(void **state)
{
    (void)state;
    Random r = {15};
    Shelf shelf = {0};
    double x[20], z[20];
    random_knots(&r, 20, x);
    random_values(&r, 20, z);
    const Table *f = through(&shelf, x, 20, NULL, 1, z, 3, false);
    for (int i = 0; i < 19; i++)
        for (int order = 0; order < 3; order++) {
            const double at = (x[i] + x[i + 1]) / 2, h = 0.08;
            const double wide =
                tr_table_value(f, at + h, 0, order) - tr_table_value(f, at - h, 0, order);
            const double narrow =
                tr_table_value(f, at + h / 2, 0, order) - tr_table_value(f, at - h / 2, 0, order);
            assert_close(tr_table_value(f, at, 0, order + 1), (8 * narrow - wide) / (6 * h), 1e-11);
        }
    shelf_free(&shelf);
}

static void test_beyond_the_ends(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 3, 4, 6}, z[] = {1, 2, -1, 0, 4};
    for (int degree = 1; degree <= 3; degree += 2) {
        Shelf shelf = {0};
        const Table *held = through(&shelf, x, 5, NULL, 1, z, degree, true);
        const Table *free_ = through(&shelf, x, 5, NULL, 1, z, degree, false);
        for (double d = 0x1p-40; d < 1e6; d *= 3) {
            assert_true(tr_table_value(held, 0 - d, 0, 0) == 1);
            assert_close(tr_table_value(held, 6 + d, 0, 0), 4, 1e-14);
            for (int order = 1; order <= 3; order++) {
                assert_true(tr_table_value(held, 0 - d, 0, order) == 0);
                assert_true(tr_table_value(held, 6 + d, 0, order) == 0);
            }
            double below = 0, above = 0, factor = 1; // Taylor from the ends
            for (int order = 0; order <= 3; order++) {
                below += tr_table_value(free_, 0, 0, order) * pow(-d, order) / factor;
                above += tr_table_value(free_, 6, 0, order) * pow(d, order) / factor;
                factor *= order + 1;
            }
            assert_close(tr_table_value(free_, -d, 0, 0), below, 1e-12);
            assert_close(tr_table_value(free_, 6 + d, 0, 0), above, 1e-12);
        }
        for (int order = 0; order <= degree; order++) { // inside and on the ends they are one
            assert_true(tr_table_value(held, 0, 0, order) == tr_table_value(free_, 0, 0, order));
            assert_true(tr_table_value(held, 6, 0, order) == tr_table_value(free_, 6, 0, order));
            assert_true(tr_table_value(held, 2.5, 0, order) ==
                        tr_table_value(free_, 2.5, 0, order));
            assert_true(isnan(tr_table_value(free_, (double)NAN, 0, order)));
            assert_true(isnan(tr_table_value(held, (double)NAN, 0, order)));
        }
        assert_true(tr_table_value(held, HUGE_VAL, 0, 0) == tr_table_value(held, 7, 0, 0));
        assert_true(tr_table_value(held, -HUGE_VAL, 0, 0) == 1);
        shelf_free(&shelf);
    }
}

// ---- two variables -------------------------------------------------------------------------

typedef struct Grid {
    double x[8], y[8], z[64];
    Shelf shelf;
    const Table *f;
} Grid;

// Random knots and values; the shelf is to be freed
static void grow(Grid *g, Random *r, uint32_t nx, uint32_t ny, int degree, bool hold)
{
    g->shelf = (Shelf){0};
    random_knots(r, nx, g->x);
    random_knots(r, ny, g->y);
    random_values(r, (size_t)nx * ny, g->z);
    g->f = through(&g->shelf, g->x, nx, g->y, ny, g->z, degree, hold);
}

static void test_grid_values_at_knots(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{2, 2}, {2, 5}, {5, 2}, {3, 4}, {7, 3}, {6, 6}};
    Random r = {21};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int degree = 1; degree <= 3; degree += 2) {
            const uint32_t nx = shapes[s][0], ny = shapes[s][1];
            Grid g;
            grow(&g, &r, nx, ny, degree, s % 2);
            for (uint32_t i = 0; i < nx; i++)
                for (uint32_t j = 0; j < ny; j++)
                    assert_close(tr_table_value(g.f, g.x[i], g.y[j], 0), g.z[i * ny + j], 1e-13);
            shelf_free(&g.shelf);
        }
}

// Between the points of a cell straight lines give (1-s)(1-t) z00 + s (1-t) z10 + ...
static void test_grid_of_lines(void **state)
{
    (void)state;
    enum { NX = 4, NY = 6 };
    Random r = {22};
    Grid g;
    grow(&g, &r, NX, NY, 1, false);
    const double *x = g.x, *y = g.y, *z = g.z;
    const Table *f = g.f;
    for (int trial = 0; trial < 500; trial++) {
        const uint32_t i = random_below(&r, NX - 1), j = random_below(&r, NY - 1);
        const double s = random_between(&r, 0, 1), t = random_between(&r, 0, 1);
        const double hx = x[i + 1] - x[i], hy = y[j + 1] - y[j], u = x[i] + s * hx,
                     v = y[j] + t * hy;
        const double z00 = z[i * NY + j], z10 = z[(i + 1) * NY + j];
        const double z01 = z[i * NY + j + 1], z11 = z[(i + 1) * NY + j + 1];
        const double low = z00 + s * (z10 - z00), high = z01 + s * (z11 - z01);
        assert_close(tr_table_value(f, u, v, 0), low + t * (high - low), 1e-13);
        assert_close(tr_table_value(f, u, v, table_order(0, 1)), (high - low) / hy, 1e-12);
        assert_close(tr_table_value(f, u, v, table_order(1, 0)),
                     ((1 - t) * (z10 - z00) + t * (z11 - z01)) / hx, 1e-12);
        assert_close(tr_table_value(f, u, v, table_order(1, 1)),
                     (z11 - z01 - z10 + z00) / (hx * hy), 1e-12);
        assert_true(tr_table_value(f, u, v, table_order(2, 0)) == 0);
        assert_true(tr_table_value(f, u, v, table_order(0, 2)) == 0);
    }
    shelf_free(&g.shelf);
}

// sum c[a][b] x^a y^b and its derivatives
static double bicubic(double c[4][4], double x, double y, int order)
{
    double along[4];
    for (int b = 0; b < 4; b++) {
        const double column[4] = {c[0][b], c[1][b], c[2][b], c[3][b]};
        along[b] = polynomial(column, 3, x, table_order_along(order, 0));
    }
    return polynomial(along, 3, y, table_order_along(order, 1));
}

static void test_bicubics_are_exact(void **state)
{
    (void)state;
    Random r = {23};
    for (int trial = 0; trial < 10; trial++) {
        Shelf shelf = {0};
        const uint32_t nx = 4 + random_below(&r, 4), ny = 4 + random_below(&r, 4);
        double x[8], y[8], z[64], c[4][4];
        random_knots(&r, nx, x);
        random_knots(&r, ny, y);
        random_values(&r, 16, c[0]);
        const double mx = x[nx / 2], my = y[ny / 2];
        for (uint32_t i = 0; i < nx; i++)
            for (uint32_t j = 0; j < ny; j++) z[i * ny + j] = bicubic(c, x[i] - mx, y[j] - my, 0);
        const Table *f = through(&shelf, x, nx, y, ny, z, 3, false);
        for (int a = 0; a <= 4; a++)
            for (int b = 0; b <= 4; b++)
                for (int k = 0; k < 20; k++) { // beyond the ends too
                    const double u = random_between(&r, x[0] - 0.3, x[nx - 1] + 0.3);
                    const double v = random_between(&r, y[0] - 0.3, y[ny - 1] + 0.3);
                    const double scale = pow(5, a + b);
                    assert_close(tr_table_value(f, u, v, table_order(a, b)) / scale,
                                 bicubic(c, u - mx, v - my, table_order(a, b)) / scale, 1e-11);
                }
        shelf_free(&shelf);
    }
}

// Across the lines of the grid all derivatives up to the second along each axis are continuous.
static void test_grid_is_smooth(void **state)
{
    (void)state;
    enum { NX = 6, NY = 7 };
    Random r = {24};
    Grid g;
    grow(&g, &r, NX, NY, 3, false);
    const double *x = g.x, *y = g.y;
    const Table *f = g.f;
    for (int a = 0; a <= 2; a++)
        for (int b = 0; b <= 2; b++)
            for (int trial = 0; trial < 50; trial++) {
                const int order = table_order(a, b);
                const double kx = x[1 + random_below(&r, NX - 2)],
                             ky = y[1 + random_below(&r, NY - 2)];
                const double u = random_between(&r, x[0], x[NX - 1]),
                             v = random_between(&r, y[0], y[NY - 1]);
                assert_close(tr_table_value(f, nextafter(kx, -HUGE_VAL), v, order),
                             tr_table_value(f, kx, v, order), 1e-10);
                assert_close(tr_table_value(f, u, nextafter(ky, -HUGE_VAL), order),
                             tr_table_value(f, u, ky, order), 1e-10);
            }
    shelf_free(&g.shelf);
}

static void test_grid_beyond_the_ends(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 4}, y[] = {-1, 0, 2, 3};
    double z[16];
    Random r = {25};
    Shelf shelf = {0};
    random_values(&r, 16, z);
    const Table *f = through(&shelf, x, 4, y, 4, z, 3, true);
    const int dx = table_order(1, 0), dy = table_order(0, 1), dxy = table_order(1, 1);
    assert_true(tr_table_value(f, 9, 1, 0) == tr_table_value(f, 4, 1, 0));   // held along x,
    assert_true(tr_table_value(f, 9, 1, dy) == tr_table_value(f, 4, 1, dy)); // alive along y
    assert_true(tr_table_value(f, 9, 1, dy) != 0);
    assert_true(tr_table_value(f, 9, 1, dx) == 0 && tr_table_value(f, 9, 1, dxy) == 0);
    assert_true(tr_table_value(f, 1.5, -7, 0) == tr_table_value(f, 1.5, -1, 0));
    assert_true(tr_table_value(f, 1.5, -7, dx) == tr_table_value(f, 1.5, -1, dx));
    assert_true(tr_table_value(f, 1.5, -7, dx) != 0 && tr_table_value(f, 1.5, -7, dy) == 0);
    assert_true(tr_table_value(f, -3, 8, 0) == tr_table_value(f, 0, 3, 0)); // a corner
    assert_true(isnan(tr_table_value(f, (double)NAN, 1, 0)) &&
                isnan(tr_table_value(f, 1, (double)NAN, 0)));
    shelf_free(&shelf);
}

// ---- steps, pieces and large grids ---------------------------------------------------------

static void test_steps(void **state)
{
    (void)state;
    Random r = {41};
    for (int k = 0; k < COUNTS; k++) {
        Shelf shelf = {0};
        double x[MOST], z[MOST];
        const uint32_t n = counts[k];
        random_knots(&r, n, x);
        random_values(&r, n, z);
        const Table *f = through(&shelf, x, n, NULL, 1, z, 0, k % 2);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(tr_table_value(f, x[i], 0, 0) == z[i]);
            assert_true(tr_table_value(f, nextafter(x[i], -HUGE_VAL), 0, 0) == z[i ? i - 1 : 0]);
            assert_true(tr_table_value(f, x[i] + 0.1, 0, 0) == z[i]);
            assert_true(tr_table_value(f, x[i], 0, 1) == 0);
        }
        assert_true(tr_table_value(f, HUGE_VAL, 0, 0) == z[n - 1]);
        assert_true(tr_table_value(f, -HUGE_VAL, 0, 0) == z[0]);
        shelf_free(&shelf);
    }
    Grid g;
    grow(&g, &r, 5, 4, 0, false);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < 4; j++) {
            assert_true(tr_table_value(g.f, g.x[i], g.y[j], 0) == g.z[4 * i + j]);
            assert_true(tr_table_value(g.f, g.x[i] + 0.1, g.y[j] + 0.1, 0) == g.z[4 * i + j]);
            assert_true(tr_table_value(g.f, g.x[i], g.y[j], table_order(0, 1)) == 0);
        }
    shelf_free(&g.shelf);
}

// Knots that are evenly spaced are found without looking, and none of them is missed.
static void test_pieces(void **state)
{
    (void)state;
    enum { N = 1000 };
    Random r = {43};
    for (int kind = 0; kind < 4; kind++) {
        static double x[N], z[N];
        for (int i = 0; i < N; i++) {
            const double off = kind == 1 ? random_between(&r, -0.12, 0.12) : 0;
            x[i] = kind == 2 ? i * i + i : kind == 3 ? 5e5 + 1e-7 * i : 0.1 * (i + off) - 7;
            z[i] = i;
        }
        Table *f = tr_table_through(x, N, NULL, 1, z, 0, false, NULL);
        assert_int_equal(f->axis[0].density > 0, kind != 2);
        for (int i = 0; i < N; i++) {
            assert_int_equal(tr_table_piece(&f->axis[0], x[i]), i);
            const int before = i ? i - 1 : 0;
            assert_int_equal(tr_table_piece(&f->axis[0], nextafter(x[i], -HUGE_VAL)), before);
            const int what = table_question(TABLE_PIECE, 0);
            assert_true(tr_table_value(f, x[i], 0, what) == i);
            assert_true(tr_table_value(f, i, 0, table_question(TABLE_START, 0)) == x[i]);
            if (i) assert_true(tr_table_value(f, i, 0, table_question(TABLE_LOWER, 0)) == x[i]);
            if (i + 1 < N)
                assert_true(tr_table_value(f, i, 0, table_question(TABLE_UPPER, 0)) == x[i + 1]);
        }
        assert_true(tr_table_value(f, 0, 0, table_question(TABLE_LOWER, 0)) < -1e299);
        assert_true(tr_table_value(f, N - 1, 0, table_question(TABLE_UPPER, 0)) > 1e299);
        assert_int_equal(tr_table_piece(&f->axis[0], -HUGE_VAL), 0);
        assert_int_equal(tr_table_piece(&f->axis[0], HUGE_VAL), N - 1);
        tr_table_free(f);
    }
}

// The largest error of a derivative of sin(x) cos(2 y), through n x n points that are not even
static double wave_error(uint32_t n, int a, int b)
{
    static double x[200], y[200], z[40000];
    assert_true(n <= 200);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = 2 * (i + 0.2 * sin(3.0 * i / n)) / (n - 1.0);
        y[i] = 1 + 2.0 * i / (n - 1.0);
    }
    for (uint32_t i = 0; i < n * n; i++) z[i] = sin(x[i / n]) * cos(2 * y[i % n]);
    Table *f = tr_table_through(x, n, y, n, z, 3, false, NULL);
    assert_non_null(f);
    Random r = {47};
    double worst = 0;
    for (int k = 0; k < 2000; k++) {
        const double u = random_between(&r, 0, 2), v = random_between(&r, 1, 3);
        const double exact = sin(u + a * M_PI / 2) * pow(2, b) * cos(2 * v + b * M_PI / 2);
        worst = fmax(worst, fabs(tr_table_value(f, u, v, table_order(a, b)) - exact));
    }
    tr_table_free(f);
    return worst;
}

// Errors fall like h^4, and those of derivatives with one power less for each.
static void test_convergence(void **state)
{
    (void)state;
    for (int a = 0; a <= 3; a++)
        for (int b = 0; b <= 3; b++) {
            const double coarse = wave_error(40, a, b), fine = wave_error(80, a, b);
            const double order = log(coarse / fine) / log(79.0 / 39);
            const double wanted = 4 - (a > b ? a : b);
            if (!(order > wanted - 0.3)) fail_msg("(%d, %d): of order %.2f", a, b, order);
        }
    assert_below(wave_error(200, 0, 0), 1e-8); // not a margin
}

// One number for each point, and no more
static void test_large_grid(void **state)
{
    (void)state;
    enum { N = 2000 };
    double *x = malloc(N * sizeof *x), *z = malloc((size_t)N * N * sizeof *z);
    assert_true(x && z);
    for (uint32_t i = 0; i < N; i++) x[i] = i;
    for (size_t k = 0; k < (size_t)N * N; k++)
        z[k] = (double)((uint32_t)k * 2654435761u >> 8) * 0x1p-24;
    double kept[100];
    for (uint32_t k = 0; k < 100; k++) kept[k] = z[(size_t)k * 39999];
    const struct mallinfo2 before = mallinfo2();
    Table *f = tr_table_take(x, N, x, N, z, 3, false, NULL);
    const struct mallinfo2 after = mallinfo2();
    assert_non_null(f);
    for (uint32_t k = 0; k < 100; k++) {
        const size_t at = (size_t)k * 39999;
        assert_close(tr_table_value(f, x[at / N], x[at % N], 0), kept[k], 1e-14);
    }
    const size_t more = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
    assert_true(more < 1 << 20); // beside the values, which it took over
    tr_table_free(f);
    free(x);
}

// ---- owners and errors ---------------------------------------------------------------------

static void test_sharing(void **state)
{
    (void)state;
    Random r = {31};
    for (int plane = 0; plane < 2; plane++)
        for (int degree = 0; degree <= 3; degree += degree + 1) {
            double x[6], y[5], z[30], before[100], at[100][2];
            random_knots(&r, 6, x);
            random_knots(&r, 5, y);
            random_values(&r, 30, z);
            Table *f = tr_table_through(x, 6, plane ? y : NULL, plane ? 5 : 1, z, degree,
                                        degree == 3, NULL);
            assert_non_null(f);
            const Table *twin = tr_table_share(f);
            for (int k = 0; k < 100; k++) {
                at[k][0] = random_between(&r, x[0] - 1, x[5] + 1);
                at[k][1] = random_between(&r, y[0] - 1, y[4] + 1);
                before[k] = tr_table_value(f, at[k][0], at[k][1], k % 3);
            }
            tr_table_free(f); // the other owner still has it
            memset(x, 0, sizeof x);
            memset(z, 0, sizeof z);
            for (int k = 0; k < 100; k++)
                assert_true(same_bits(tr_table_value(twin, at[k][0], at[k][1], k % 3), before[k]));
            tr_table_free(twin);
        }
    tr_table_free(NULL);
}

static const double good[] = {0, 1, 2, 3}, equal[] = {0, 1, 1, 2}, back[] = {0, 2, 1, 3};
static const double holes[] = {0, 1, (double)NAN, 3}, far[] = {0, 1, 2, HUGE_VAL};
static const double z[16] = {0}, bad_z[16] = {[2] = HUGE_VAL, [7] = (double)NAN};
static const double close[] = {0, 1e-320, 1, 2}, steep[] = {0, 1, 2, 3};
static const double wide[] = {-1e308, 1e308, 1.1e308, 1.2e308};
static const struct {
    const double *x;
    uint32_t nx;
    const double *y;
    uint32_t ny;
    const double *z;
    int degree;
    tr_status status;
    const char *text;
} wrong[] = {
    {equal, 4, NULL, 1, z, 1, TR_INVALID, "table: x must be finite and increase, entry 3 does not"},
    {back, 4, NULL, 1, z, 3, TR_INVALID, "table: x must be finite and increase, entry 3 does not"},
    {holes, 4, NULL, 1, z, 1, TR_INVALID, "table: x must be finite and increase, entry 3 does not"},
    {far, 4, NULL, 1, z, 1, TR_INVALID, "table: x must be finite and increase, entry 4 does not"},
    {good, 4, equal, 4, z, 1, TR_INVALID, "table: y must be finite and increase, entry 3 does not"},
    {good, 4, holes, 4, z, 3, TR_INVALID, "table: y must be finite and increase, entry 3 does not"},
    {good, 4, NULL, 1, bad_z, 3, TR_INVALID, "table: value 3 is not finite"},
    {good, 2, good, 4, bad_z + 3, 1, TR_INVALID, "table: value 5 is not finite"},
    {good, 1, NULL, 1, z, 1, TR_INVALID, "table: at least two points are needed along each axis"},
    {good, 0, NULL, 1, z, 1, TR_INVALID, "table: at least two points are needed along each axis"},
    {good, 4, good, 1, z, 3, TR_INVALID, "table: at least two points are needed along each axis"},
    {good, 4, NULL, 4, z, 3, TR_INVALID, "table: at least two points are needed along each axis"},
    {wide, 4, NULL, 1, z, 1, TR_INVALID, "table: x must be finite and increase, entry 2 does not"},
    {close, 4, NULL, 1, steep, 1, TR_INVALID,
     "table: the points are too close together or too far apart"},
    {good, 4, NULL, 1, z, 2, TR_USAGE, "table: the degree is 0, 1 or 3, not 2"},
    {good, 4, NULL, 1, z, 4, TR_USAGE, "table: the degree is 0, 1 or 3, not 4"},
    {good, 4, NULL, 1, z, -1, TR_USAGE, "table: the degree is 0, 1 or 3, not -1"},
};

static void test_wrong_points(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tr_error err = {0};
        assert_null(tr_table_through(wrong[i].x, wrong[i].nx, wrong[i].y, wrong[i].ny, wrong[i].z,
                                     wrong[i].degree, false, &err));
        assert_int_equal(err.status, wrong[i].status);
        assert_string_equal(err.text, wrong[i].text);
        assert_null(tr_table_through(wrong[i].x, wrong[i].nx, wrong[i].y, wrong[i].ny, wrong[i].z,
                                     wrong[i].degree, false, NULL));
    }
    tr_error earlier = {.status = TR_IO};
    assert_null(tr_table_through(good, 4, NULL, 1, z, 1, false, &earlier));
    assert_int_equal(earlier.status, TR_IO);
    Table *right = tr_table_through(good, 4, NULL, 1, z, 1, false, NULL);
    assert_non_null(right);
    tr_table_free(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_at_knots),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_cubics_are_exact),
        cmocka_unit_test(test_splines_are_smooth),
        cmocka_unit_test(test_derivatives_are_differences),
        cmocka_unit_test(test_beyond_the_ends),
        cmocka_unit_test(test_grid_values_at_knots),
        cmocka_unit_test(test_grid_of_lines),
        cmocka_unit_test(test_bicubics_are_exact),
        cmocka_unit_test(test_grid_is_smooth),
        cmocka_unit_test(test_grid_beyond_the_ends),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_large_grid),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_wrong_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
