// SPDX-License-Identifier: Apache-2.0
// Singular values by rotations, after Drmac and Veselic (2008). Of the matrix and its transpose,
// B is the one with no more rows than columns, k * l. Reflections, the largest row first, and then
// rotations that make rows orthogonal to each other:
//
//   B = P R^T Q^T,   R an upper triangle k * k,   Q = H_0 H_1 ..., H = 1 - tau v v^T
//   W^T R = S U^T,   so B = (P U) S (Q W)^T
//
// Rows are orthogonal to rounding beside their own lengths, so small singular values have as many
// digits as R has, and vectors of those that are zero by rounding are orthogonal, too.
#include "num/singular.h"

#include "num/dense.h"
#include "num/solve.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SWEEPS = 60, SMALL = 6000, FEW = 64 };
#define NOTHING 1e-140 // beside 1, the size of the largest entry: its square is a normal number

typedef struct Factors {
    uint32_t k, l, rank; // rows of R that are not nothing
    bool transposed;     // B is A^T
    int exponent;        // B is 2^exponent times as large
    uint32_t *from;      // of each row of B as it is factorised: the row it was
    double *B, *tau;     // v behind the diagonal, where it is 1; R^T below and on it
    double *R, *W;       // at the end U^T, W^T: by rows; W may be NULL
    double *sigma;
    double *room, *y, *z; // l, k and k long
    double *more;         // k * (k + 1)
} Factors;

// Where they are found: nothing is allocated for some 35 rows and columns.
typedef struct Room {
    double small[SMALL];
    uint32_t few[FEW];
    double *large; // or NULL
    uint32_t *many;
} Room;

// Four sums beside each other, for a single one waits for every addition: at 18 rows
// singular values take 0.9 times as long, at 36 rows 0.8 times
static double dot(const double *a, const double *b, uint32_t count)
{
    double sum[4] = {0};
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (uint32_t k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// ---- reflections ---------------------------------------------------------------------------

// tau and v, v_0 = 1, with (1 - tau v v^T) x = (beta, 0, ...); beta takes the place of x_0.
static double make_reflection(double *x, uint32_t count)
{
    const double rest = dot(x + 1, x + 1, count - 1), first = x[0];
    if (rest == 0) return 0;
    const double size = sqrt(first * first + rest), beta = first > 0 ? -size : size;
    for (uint32_t i = 1; i < count; i++) x[i] /= first - beta;
    x[0] = beta;
    return (beta - first) / beta;
}

static void reflect(const double *v, double tau, uint32_t count, double *x)
{
    const double along = tau * (x[0] + dot(v + 1, x + 1, count - 1));
    x[0] -= along;
    for (uint32_t i = 1; i < count; i++) x[i] -= along * v[i];
}

static uint32_t longest_row(const double *B, uint32_t rows, uint32_t columns, uint32_t from)
{
    uint32_t best = from;
    double most = -1;
    for (uint32_t i = from; i < rows; i++) {
        const double *row = B + (size_t)i * columns + from;
        const double size = dot(row, row, columns - from);
        if (size > most) best = i, most = size;
    }
    return best;
}

static void exchange_rows(double *B, uint32_t columns, uint32_t i, uint32_t k)
{
    double *a = B + (size_t)i * columns, *b = B + (size_t)k * columns;
    for (uint32_t j = 0; i != k && j < columns; j++) {
        const double kept = a[j];
        a[j] = b[j], b[j] = kept;
    }
}

// B = P R^T Q^T; `from` is P, or NULL: then rows stay where they are.
static void make_triangle(double *B, uint32_t rows, uint32_t columns, double *tau, uint32_t *from)
{
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t best = from ? longest_row(B, rows, columns, i) : i;
        double *row = B + (size_t)i * columns + i;
        exchange_rows(B, columns, i, best);
        if (from) {
            const uint32_t kept = from[i];
            from[i] = from[best], from[best] = kept;
        }
        tau[i] = make_reflection(row, columns - i);
        for (uint32_t k = i + 1; k < rows; k++)
            reflect(row, tau[i], columns - i, B + (size_t)k * columns + i);
    }
}

// x = Q x
static void turn(const double *B, uint32_t rows, uint32_t columns, const double *tau, double *x)
{
    for (uint32_t i = rows; i-- > 0;)
        reflect(B + (size_t)i * columns + i, tau[i], columns - i, x + i);
}

// x = Q^T x
static void turn_back(const double *B, uint32_t rows, uint32_t columns, const double *tau,
                      double *x)
{
    for (uint32_t i = 0; i < rows; i++)
        reflect(B + (size_t)i * columns + i, tau[i], columns - i, x + i);
}

// ---- rotations -----------------------------------------------------------------------------

static void rotate(double c, double s, double *restrict a, double *restrict b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

// tan of the angle that makes rows orthogonal whose squares are a, b and whose product is c:
// t^2 + 2 z t = 1, z = (b - a) / 2 c, the smaller one
static double tangent(double a, double b, double c)
{
    const double z = (b - a) / (2 * c);
    if (fabs(z) > 1e8) return 1 / (2 * z);
    return (z < 0 ? -1 : 1) / (fabs(z) + sqrt(1 + z * z));
}

// Every pair of rows once; false when nothing was left to turn.
static bool sweep(Factors *f)
{
    const uint32_t k = f->k;
    const double small = sqrt(k) * DBL_EPSILON;
    double *square = f->sigma; // until the values are known
    bool turned = false;
    for (uint32_t i = 0; i < f->rank; i++)
        square[i] = dot(f->R + (size_t)i * k, f->R + (size_t)i * k, k);
    for (uint32_t i = 0; i + 1 < f->rank; i++)
        for (uint32_t j = i + 1; j < f->rank; j++) {
            double *a = f->R + (size_t)i * k, *b = f->R + (size_t)j * k;
            const double c = dot(a, b, k);
            if (!(fabs(c) > small * sqrt(square[i]) * sqrt(square[j]))) continue;
            const double t = tangent(square[i], square[j], c), cosine = 1 / sqrt(1 + t * t);
            rotate(cosine, t * cosine, a, b, k);
            if (f->W) rotate(cosine, t * cosine, f->W + (size_t)i * k, f->W + (size_t)j * k, k);
            square[i] = fmax(square[i] - t * c, 0), square[j] += t * c;
            turned = true;
        }
    return turned;
}

// sigma, the largest first, with the rows of U^T and W^T
static void sort(Factors *f)
{
    const uint32_t k = f->k;
    for (uint32_t i = 0; i < f->rank; i++) f->sigma[i] = tr_norm(f->R + (size_t)i * k, k);
    for (uint32_t i = 0; i < f->rank; i++) {
        uint32_t best = i;
        for (uint32_t j = i + 1; j < f->rank; j++)
            if (f->sigma[j] > f->sigma[best]) best = j;
        const double size = f->sigma[best];
        f->sigma[best] = f->sigma[i], f->sigma[i] = size;
        exchange_rows(f->R, k, i, best);
        if (f->W) exchange_rows(f->W, k, i, best);
        for (uint32_t j = 0; j < k && size > 0; j++) f->R[(size_t)i * k + j] /= size;
    }
}

// ---- all of it -----------------------------------------------------------------------------

// For an m * n matrix
static bool open_factors(Factors *f, Room *room, uint32_t m, uint32_t n)
{
    const size_t k = m < n ? m : n, l = m < n ? n : m, size = k * l + 3 * k * k + 5 * k + l;
    const bool is_small = size <= SMALL && k <= FEW;
    room->large = is_small ? NULL : malloc(size * sizeof *f->B);
    room->many = is_small ? NULL : malloc(k * sizeof *f->from);
    *f = (Factors){.k = (uint32_t)k, .l = (uint32_t)l, .transposed = m > n};
    f->from = is_small ? room->few : room->many;
    f->R = is_small ? room->small : room->large;
    if (!f->R || !f->from) return false;
    memset(f->R, 0, 2 * k * k * sizeof *f->R); // and W
    f->W = f->R + k * k, f->B = f->W + k * k, f->more = f->B + k * l;
    f->sigma = f->more + k * k + k, f->tau = f->sigma + k, f->y = f->tau + k, f->z = f->y + k;
    f->room = f->z + k;
    return true;
}

static void close_factors(Room *room)
{
    free(room->large);
    free(room->many);
}

// B, of the size of 1
static bool take_matrix(Factors *f, const double *A)
{
    const size_t count = (size_t)f->k * f->l;
    const double most = tr_largest(A, count);
    if (!all_finite(A, count)) return false;
    if (most > 0) frexp(most, &f->exponent);
    if (f->transposed)
        tr_transpose(A, f->l, f->k, f->B);
    else
        memcpy(f->B, A, count * sizeof *A);
    for (size_t i = 0; i < count && f->exponent; i++) f->B[i] = ldexp(f->B[i], -f->exponent);
    return true;
}

static bool factorise(Factors *f, const double *A)
{
    const uint32_t k = f->k;
    if (!take_matrix(f, A)) return false;
    for (uint32_t i = 0; i < k; i++) f->from[i] = i;
    make_triangle(f->B, k, f->l, f->tau, f->from);
    while (f->rank < k && fabs(f->B[(size_t)f->rank * f->l + f->rank]) > NOTHING) f->rank++;
    for (uint32_t i = 0; i < k; i++) {
        if (f->W) f->W[(size_t)i * k + i] = 1;
        for (uint32_t j = i; j < k && i < f->rank; j++)
            f->R[(size_t)i * k + j] = f->B[(size_t)j * f->l + i];
    }
    for (int i = 0; i < MOST_SWEEPS && sweep(f);) i++;
    sort(f);
    while (f->rank && f->sigma[f->rank - 1] == 0) f->rank--; // all the same
    for (uint32_t i = f->rank; i < k; i++) f->sigma[i] = 0;
    return true;
}

// The rows of U^T behind those that are found: any that make a basis
static void complete(const Factors *f)
{
    const uint32_t k = f->k, r = f->rank;
    double *B = f->more, *tau = B + (size_t)k * k;
    if (r == k) return;
    memcpy(B, f->R, (size_t)r * k * sizeof *B);
    make_triangle(B, r, k, tau, NULL);
    for (uint32_t i = r; i < k; i++) {
        double *row = f->R + (size_t)i * k;
        for (uint32_t j = 0; j < k; j++) row[j] = i == j;
        turn(B, r, k, tau, row);
    }
}

// The i-th column of P U, k long, and of Q (W 0; 0 1), l long
static void left_vector(const Factors *f, uint32_t i, double *x)
{
    for (uint32_t j = 0; j < f->k; j++) x[f->from[j]] = f->R[(size_t)i * f->k + j];
}

static void right_vector(const Factors *f, uint32_t i, double *x)
{
    for (uint32_t j = 0; j < f->l; j++)
        x[j] = i >= f->k ? i == j : j < f->k ? f->W[(size_t)i * f->k + j] : 0;
    turn(f->B, f->k, f->l, f->tau, x);
}

bool tr_singular(const double *A, uint32_t m, uint32_t n, double *sigma, double *U, double *Vt)
{
    Factors f;
    Room room;
    bool good = open_factors(&f, &room, m, n);
    if (good && !(f.transposed ? U : Vt)) f.W = NULL; // for nothing
    good = good && factorise(&f, A);
    if (good) complete(&f);
    for (uint32_t i = 0; good && i < f.k; i++) sigma[i] = ldexp(f.sigma[i], f.exponent);
    for (uint32_t i = 0; good && U && i < m; i++) {
        (f.transposed ? right_vector : left_vector)(&f, i, f.room);
        for (uint32_t j = 0; j < m; j++) U[(size_t)j * m + i] = f.room[j];
    }
    for (uint32_t i = 0; good && Vt && i < n; i++)
        (f.transposed ? left_vector : right_vector)(&f, i, Vt + (size_t)i * n);
    close_factors(&room);
    return good;
}

// ---- least squares -------------------------------------------------------------------------

// z = S^+ y, of the matrix as it was
static void divide(const Factors *f, uint32_t rank)
{
    for (uint32_t i = 0; i < f->k; i++)
        f->z[i] = i < rank ? ldexp(f->y[i] / f->sigma[i], -f->exponent) : 0;
}

// x = Q W z, l long
static void add_right(const Factors *f, double *x)
{
    memset(x, 0, f->l * sizeof *x);
    for (uint32_t i = 0; i < f->k; i++)
        for (uint32_t j = 0; j < f->k; j++) x[j] += f->z[i] * f->W[(size_t)i * f->k + j];
    turn(f->B, f->k, f->l, f->tau, x);
}

// x = P U z, k long
static void add_left(const Factors *f, double *x)
{
    memset(x, 0, f->k * sizeof *x);
    for (uint32_t i = 0; i < f->rank; i++)
        for (uint32_t j = 0; j < f->k; j++) x[f->from[j]] += f->z[i] * f->R[(size_t)i * f->k + j];
}

// b becomes A^+ b; it has room for l.
static void solve_column(const Factors *f, uint32_t rank, double *b)
{
    const uint32_t k = f->k;
    if (f->transposed) { // A = (Q W) S (P U)^T
        turn_back(f->B, k, f->l, f->tau, b);
        for (uint32_t i = 0; i < k; i++) f->y[i] = dot(f->W + (size_t)i * k, b, k);
        divide(f, rank);
        add_left(f, b);
        return;
    }
    for (uint32_t i = 0; i < k; i++) {
        f->y[i] = 0;
        for (uint32_t j = 0; j < k; j++) f->y[i] += f->R[(size_t)i * k + j] * b[f->from[j]];
    }
    divide(f, rank);
    add_right(f, b);
}

bool tr_least_squares(const double *A, uint32_t m, uint32_t n, double *B, uint32_t count,
                      double cutoff, uint32_t *rank)
{
    Factors f;
    Room room;
    const bool good =
        open_factors(&f, &room, m, n) && all_finite(B, (size_t)m * count) && factorise(&f, A);
    uint32_t left = 0;
    while (good && left < f.rank && f.sigma[left] > cutoff * f.sigma[0]) left++;
    if (rank) *rank = left;
    for (uint32_t c = 0; good && c < count; c++) {
        for (uint32_t i = 0; i < m; i++) f.room[i] = B[(size_t)i * count + c];
        solve_column(&f, left, f.room);
        for (uint32_t i = 0; i < n; i++) B[(size_t)i * count + c] = f.room[i];
    }
    close_factors(&room);
    return good;
}

// ---- independence --------------------------------------------------------------------------

bool tr_are_independent(const double *A, uint32_t rows, uint32_t columns, double tolerance,
                        double *L, double *inverse)
{
    const size_t m = rows, n = columns;
    double size = 0;
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k <= i; k++) L[i * m + k] = dot(A + i * n, A + k * n, columns);
    for (size_t i = 0; i < m; i++) size += L[i * m + i];
    if (!tr_cholesky(L, m)) return false;
    for (size_t i = 0; i < m * m; i++) inverse[i] = i % (m + 1) == 0;
    tr_solve_lower(L, m, inverse, m);
    const double ratio = larger(1e-5, 2 * tolerance);
    return ratio * sqrt(size) * tr_norm(inverse, m * m) < 1;
}
