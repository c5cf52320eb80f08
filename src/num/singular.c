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

#include "base/random.h"
#include "num/blocks.h"
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
    double *large;        // where numbers are, if they do not fit into a Room; else NULL
    uint32_t *many;
} Factors;

// Where they are found: nothing is allocated for some 35 rows and columns.
typedef struct Room {
    double small[SMALL];
    uint32_t few[FEW];
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

// For an m * n matrix; `room` may be NULL
static bool open_factors(Factors *f, Room *room, uint32_t m, uint32_t n)
{
    const size_t k = m < n ? m : n, l = m < n ? n : m, size = k * l + 3 * k * k + 5 * k + l;
    const bool is_small = room && size <= SMALL && k <= FEW;
    *f = (Factors){.k = (uint32_t)k, .l = (uint32_t)l, .transposed = m > n};
    f->large = is_small ? NULL : malloc(size * sizeof *f->B + 1);
    f->many = is_small ? NULL : malloc(k * sizeof *f->from + 1);
    f->from = is_small ? room->few : f->many;
    f->R = is_small ? room->small : f->large;
    if (!f->R || !f->from) return false;
    memset(f->R, 0, 2 * k * k * sizeof *f->R); // and W
    f->W = f->R + k * k, f->B = f->W + k * k, f->more = f->B + k * l;
    f->sigma = f->more + k * k + k, f->tau = f->sigma + k, f->y = f->tau + k, f->z = f->y + k;
    f->room = f->z + k;
    return true;
}

static void close_factors(const Factors *f)
{
    free(f->large);
    free(f->many);
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
    close_factors(&f);
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

// How many singular values are left of those above a limit
static uint32_t count_above(const Factors *f, double limit)
{
    uint32_t left = 0;
    while (left < f->rank && f->sigma[left] > limit) left++;
    return left;
}

static bool solve_whole(const double *A, uint32_t m, uint32_t n, double *B, uint32_t count,
                        double cutoff, uint32_t *rank)
{
    Factors f;
    Room room;
    const bool good = open_factors(&f, &room, m, n) && factorise(&f, A);
    const uint32_t left = good ? count_above(&f, cutoff * f.sigma[0]) : 0;
    if (rank) *rank = left;
    for (uint32_t c = 0; good && c < count; c++) {
        for (uint32_t i = 0; i < m; i++) f.room[i] = B[(size_t)i * count + c];
        solve_column(&f, left, f.room);
        for (uint32_t i = 0; i < n; i++) B[(size_t)i * count + c] = f.room[i];
    }
    close_factors(&f);
    return good;
}

// ---- block by block ------------------------------------------------------------------------

// The least of all is the least of each; which singular values count is for all of them together.
typedef struct Parts {
    Blocks blocks;
    Factors *of; // by block
    uint32_t opened;
    double largest; // singular value
} Parts;

static uint32_t rows_of(const Blocks *b, uint32_t i)
{
    return b->first_row[i + 1] - b->first_row[i];
}
static uint32_t columns_of(const Blocks *b, uint32_t i)
{
    return b->first_column[i + 1] - b->first_column[i];
}

static bool factorise_part(Parts *p, uint32_t which, const double *A, uint32_t n)
{
    const Blocks *b = &p->blocks;
    const uint32_t *row = b->rows + b->first_row[which],
                   *column = b->columns + b->first_column[which];
    const uint32_t height = rows_of(b, which), width = columns_of(b, which);
    Factors *f = &p->of[which];
    double *own = malloc((size_t)height * width * sizeof *own + 1);
    bool good = own && open_factors(f, NULL, height, width);
    p->opened = which + 1;
    for (uint32_t i = 0; good && i < height; i++)
        for (uint32_t k = 0; k < width; k++)
            own[(size_t)i * width + k] = A[(size_t)row[i] * n + column[k]];
    good = good && factorise(f, own);
    if (good && f->k) p->largest = larger(p->largest, ldexp(f->sigma[0], f->exponent));
    free(own);
    return good;
}

// Of one right side; X is zero where no row has anything to say.
static void solve_part(const Parts *p, uint32_t which, double cutoff, const double *B,
                       uint32_t count, double *X)
{
    const Blocks *b = &p->blocks;
    const uint32_t *row = b->rows + b->first_row[which],
                   *column = b->columns + b->first_column[which];
    const Factors *f = &p->of[which];
    const uint32_t left = count_above(f, ldexp(cutoff * p->largest, -f->exponent));
    for (uint32_t i = 0; i < rows_of(b, which); i++) f->room[i] = B[(size_t)row[i] * count];
    solve_column(f, left, f->room);
    for (uint32_t k = 0; k < columns_of(b, which); k++) X[column[k]] = f->room[k];
}

static bool solve_parts(Parts *p, const double *A, uint32_t m, uint32_t n, double *B,
                        uint32_t count, double cutoff, uint32_t *rank)
{
    double *X = calloc((size_t)n + 1, sizeof *X);
    p->of = calloc(p->blocks.count + 1u, sizeof *p->of);
    bool good = X && p->of && all_finite(A, (size_t)m * n);
    for (uint32_t i = 0; good && i < p->blocks.count; i++) good = factorise_part(p, i, A, n);
    for (uint32_t i = 0; good && rank && i < p->blocks.count; i++)
        *rank += count_above(&p->of[i], ldexp(cutoff * p->largest, -p->of[i].exponent));
    for (uint32_t c = 0; good && c < count; c++) {
        for (uint32_t i = 0; i < p->blocks.count; i++) solve_part(p, i, cutoff, B + c, count, X);
        for (uint32_t k = 0; k < n; k++) B[(size_t)k * count + c] = X[k];
    }
    for (uint32_t i = 0; p->of && i < p->opened; i++) close_factors(&p->of[i]);
    free(p->of);
    free(X);
    return good;
}

bool tr_least_squares(const double *A, uint32_t m, uint32_t n, double *B, uint32_t count,
                      double cutoff, uint32_t *rank)
{
    if (rank) *rank = 0;
    if (!all_finite(B, (size_t)m * count)) return false;
    if (m <= MANY_ROWS || n <= MANY_ROWS) return solve_whole(A, m, n, B, count, cutoff, rank);
    Parts parts = {0};
    if (!tr_blocks_find(A, m, n, &parts.blocks)) return false;
    const bool is_whole = parts.blocks.count < 2,
               is_clear = is_whole && count == 1 && tr_shortest(A, m, n, B, cutoff);
    const bool good = is_clear   ? true
                      : is_whole ? solve_whole(A, m, n, B, count, cutoff, rank)
                                 : solve_parts(&parts, A, m, n, B, count, cutoff, rank);
    if (rank && is_clear) *rank = m;
    tr_blocks_free(&parts.blocks);
    return good;
}

bool tr_turn_across(const double *U, uint32_t m, uint32_t rank, double *X, uint32_t count)
{
    double *B = malloc(((size_t)rank * m + rank + count) * sizeof *B + 1);
    if (!B) return false;
    double *tau = B + (size_t)rank * m, *along = tau + rank;
    for (uint32_t i = 0; i < rank; i++)
        for (uint32_t k = 0; k < m; k++) B[(size_t)i * m + k] = U[(size_t)k * m + i];
    make_triangle(B, rank, m, tau, NULL);
    for (uint32_t i = 0; i < rank; i++) { // X = H_i X
        const double *v = B + (size_t)i * m;
        for (uint32_t c = 0; c < count; c++) along[c] = tau[i] * X[(size_t)i * count + c];
        for (uint32_t k = i + 1; k < m; k++)
            for (uint32_t c = 0; c < count; c++)
                along[c] += tau[i] * v[k] * X[(size_t)k * count + c];
        for (uint32_t k = i; k < m; k++)
            for (uint32_t c = 0; c < count; c++)
                X[(size_t)k * count + c] -= (k == i ? 1 : v[k]) * along[c];
    }
    memmove(X, X + (size_t)rank * count, (size_t)(m - rank) * count * sizeof *X);
    free(B);
    return true;
}

// ---- independence --------------------------------------------------------------------------

// From the first entry of a row that is not zero to behind the last one
typedef struct Extent {
    uint32_t first, end;
} Extent;

static Extent extent_of(const double *row, uint32_t columns)
{
    Extent e = {0, columns};
    while (e.end > 0 && row[e.end - 1] == 0) e.end--;
    while (e.first < e.end && row[e.first] == 0) e.first++;
    return e;
}

static double dot_within(const double *a, Extent p, const double *b, Extent q)
{
    const uint32_t first = p.first > q.first ? p.first : q.first;
    const uint32_t end = p.end < q.end ? p.end : q.end;
    return first < end ? dot(a + first, b + first, end - first) : 0;
}

// A = L L^T in place, by sums of four: three times as fast as tr_cholesky, with other roundings
static bool make_factor(double *A, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        double *row = A + i * m;
        for (size_t k = 0; k < i; k++)
            row[k] = (row[k] - dot(row, A + k * m, (uint32_t)k)) / A[k * m + k];
        const double left = row[i] - dot(row, row, (uint32_t)i);
        if (!(left > 0 && isfinite(left))) return false;
        row[i] = sqrt(left);
    }
    return true;
}

// L of A A^T = L L^T
static bool make_product(const double *A, uint32_t rows, uint32_t columns, double *L,
                         Extent *extent)
{
    const size_t m = rows, n = columns;
    for (uint32_t i = 0; i < rows; i++) extent[i] = extent_of(A + i * n, columns);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k <= i; k++)
            L[i * m + k] = dot_within(A + i * n, extent[i], A + k * n, extent[k]);
    return make_factor(L, m);
}

// |L^-1|, column by column: each has nothing above its diagonal
static double inverse_norm(const double *L, size_t m, double *column)
{
    double sum = 0;
    for (size_t c = 0; c < m; c++) {
        for (size_t i = c; i < m; i++) {
            const double x = (i == c ? 1 : 0) - dot(L + i * m + c, column + c, (uint32_t)(i - c));
            column[i] = x / L[i * m + i];
            sum += column[i] * column[i];
        }
    }
    return sqrt(sum);
}

// Of A A^T = L L^T; room is for rows
static bool is_above(double ratio, const double *L, size_t m, double size, double *room)
{
    return ratio * size * inverse_norm(L, m, room) < 1;
}

bool tr_are_independent(const double *A, uint32_t rows, uint32_t columns, double tolerance,
                        double *L)
{
    Extent *extent = malloc(rows * sizeof *extent + 1);
    double *room = malloc(rows * sizeof *room + 1);
    const double size = tr_norm(A, (size_t)rows * columns);
    const bool good = extent && room && make_product(A, rows, columns, L, extent) &&
                      is_above(larger(1e-5, 2 * tolerance), L, rows, size, room);
    free(extent);
    free(room);
    return good;
}

// Reflections, the longest row first, until what is left is nothing: how many there are
static uint32_t make_partial_triangle(double *B, uint32_t rows, uint32_t columns, double *tau,
                                      double nothing)
{
    uint32_t i = 0;
    for (; i < rows && i < columns; i++) {
        const uint32_t best = longest_row(B, rows, columns, i);
        double *row = B + (size_t)i * columns + i;
        exchange_rows(B, columns, i, best);
        if (tr_norm(row, columns - i) <= nothing) break;
        tau[i] = make_reflection(row, columns - i);
        for (uint32_t k = i + 1; k < rows; k++)
            reflect(row, tau[i], columns - i, B + (size_t)k * columns + i);
    }
    return i;
}

// Whether the corner of a triangle is above the tolerance and the rest below it, beyond doubt
static bool is_clear(const double *B, uint32_t rows, uint32_t columns, uint32_t rank, double size,
                     double tolerance, double *L, double *room)
{
    double rest = 0;
    for (uint32_t i = rank; i < rows; i++)
        rest += dot(B + (size_t)i * columns + rank, B + (size_t)i * columns + rank, columns - rank);
    for (uint32_t i = 0; i < rank; i++)
        for (uint32_t k = 0; k < rank; k++)
            L[(size_t)i * rank + k] = k <= i ? B[(size_t)i * columns + k] : 0;
    return sqrt(rest * rows) < 0.5 * tolerance * size &&
           is_above(larger(1e-5, 2 * tolerance), L, rank, size, room);
}

bool tr_clear_rank(const double *A, uint32_t m, uint32_t n, double tolerance, uint32_t *rank,
                   double *U)
{
    const double size = tr_norm(A, (size_t)m * n);
    double *B = isfinite(size) ? malloc(((size_t)m * n + 2 * (size_t)n + m + 1) * sizeof *B) : NULL;
    if (!B) return false;
    double *tau = B + (size_t)m * n, *room = tau + n, *x = room + n;
    tr_transpose(A, m, n, B);
    const uint32_t r = make_partial_triangle(B, n, m, tau, 1e-12 * size);
    const bool good = is_clear(B, n, m, r, size, tolerance, U, room);
    for (uint32_t i = 0; good && i < m; i++) {
        for (uint32_t k = 0; k < m; k++) x[k] = i == k;
        turn(B, r, m, tau, x);
        for (uint32_t k = 0; k < m; k++) U[(size_t)k * m + i] = x[k];
    }
    *rank = r;
    free(B);
    return good;
}

// x += A^T (A A^T)^-1 (b - A x); the largest of b - A x before
static double come_nearer(const double *A, uint32_t m, uint32_t n, const Extent *extent,
                          const double *L, const double *b, double *x, double *y)
{
    for (uint32_t i = 0; i < m; i++) {
        const Extent e = extent[i];
        y[i] = b[i] - dot(A + (size_t)i * n + e.first, x + e.first, e.end - e.first);
    }
    const double off = tr_largest(y, m);
    tr_solve_lower(L, m, y, 1);
    tr_solve_lower_transposed(L, m, y, 1);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t k = extent[i].first; k < extent[i].end; k++)
            x[k] += A[(size_t)i * n + k] * y[i];
    return off;
}

// A A^T = L L^T, and room for what is solved with it
typedef struct Product {
    Extent *extent;
    double *L, *x, *y, *b; // m * m, n, m, m
    double size;           // |A|
} Product;

static void close_product(Product *p)
{
    free(p->extent);
    free(p->L);
}

// False where rows are not independent beyond doubt, too
static bool open_product(Product *p, const double *A, uint32_t m, uint32_t n, double tolerance)
{
    const double size = tr_norm(A, (size_t)m * n);
    *p = (Product){.extent = malloc(m * sizeof *p->extent + 1),
                   .L = calloc((size_t)m * m + 2 * (size_t)m + n + 1, sizeof *p->L),
                   .size = size};
    p->b = p->L + (size_t)m * m, p->y = p->b + m, p->x = p->y + m;
    if (m <= n && p->extent && p->L && isfinite(size) && make_product(A, m, n, p->L, p->extent) &&
        is_above(larger(1e-7, 2 * tolerance), p->L, m, size, p->y))
        return true;
    close_product(p);
    return false;
}

// The product has the square of the spread, and a round leaves some of what it should remove: as
// many as help. False when A x is not b, to rounding, in the end.
static bool settle(const Product *p, const double *A, uint32_t m, uint32_t n)
{
    enum { MOST_ROUNDS = 20 };
    double before = (double)INFINITY, off = 0;
    for (int i = 0; i < MOST_ROUNDS; i++, before = off) {
        off = come_nearer(A, m, n, p->extent, p->L, p->b, p->x, p->y);
        if (!(off < 0.25 * before)) break;
    }
    return off <= 1e-12 * (tr_largest(p->b, m) + p->size * tr_largest(p->x, n));
}

bool tr_shortest(const double *A, uint32_t m, uint32_t n, double *b, double tolerance)
{
    Product p;
    if (!all_finite(b, m) || !open_product(&p, A, m, n, tolerance)) return false;
    memcpy(p.b, b, m * sizeof *b);
    const bool good = settle(&p, A, m, n);
    if (good) memcpy(b, p.x, n * sizeof *b);
    close_product(&p);
    return good;
}

// What is left of x without its parts along the columns before it
static void make_orthogonal(const double *Z, uint32_t n, uint32_t width, uint32_t column, double *x)
{
    for (uint32_t c = 0; c < column; c++) {
        double along = 0;
        for (uint32_t k = 0; k < n; k++) along += Z[(size_t)k * width + c] * x[k];
        for (uint32_t k = 0; k < n; k++) x[k] -= along * Z[(size_t)k * width + c];
    }
}

bool tr_kernel(const double *A, uint32_t m, uint32_t n, double tolerance, double *Z)
{
    Product p;
    uint32_t random = 2463534242u;
    if (!open_product(&p, A, m, n, tolerance)) return false;
    bool good = true;
    for (uint32_t c = 0; good && c < n - m; c++) {
        for (uint32_t k = 0; k < n; k++) p.x[k] = next_random(&random);
        for (int i = 0; good && i < 2; i++) { // p.b is zero: onto A x = 0
            good = settle(&p, A, m, n);
            make_orthogonal(Z, n, n - m, c, p.x);
            const double size = tr_norm(p.x, n);
            for (uint32_t k = 0; k < n; k++) p.x[k] /= size;
        }
        for (uint32_t k = 0; k < n; k++) Z[(size_t)k * (n - m) + c] = p.x[k];
    }
    close_product(&p);
    return good;
}
