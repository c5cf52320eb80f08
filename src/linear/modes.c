// SPDX-License-Identifier: Apache-2.0
// Eigenvalues by LAPACK, once zeros are split off: a null space of A, then one of what is left, and
// so on, each by singular values. A share of a state in a mode is |left * right eigenvector| there,
// which does not depend on units (T101, T102).
#include "linear/modes.h"

#include "linear/lapack.h"
#include "num/dense.h"
#include "num/eigenvalue.h"
#include "num/singular.h"
#include "num/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ZERO  1e-11 // singular values against the size of A
#define FAINT 1e-10 // directions that inputs reach by rounding alone

static double *numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

// Whether there is memory, and what LAPACK was asked for is done
static bool is_done(bool ready, lapack_int info, tr_error *err)
{
    if (!ready || info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        tr_fail_memory(err);
    else if (info)
        tr_fail(err, TR_FAILED, (Place){0}, "the eigenvalues of the linear model cannot be found");
    return ready && !info;
}

// ---- zeros ---------------------------------------------------------------------------------

// The columns from `first` on of a matrix with `rows` rows, times V: r * r, given by its rows of
// V^T, the last of them first
static void turn_columns(double *X, uint32_t rows, uint32_t n, uint32_t first, const double *Vt,
                         double *room)
{
    const uint32_t r = n - first;
    for (uint32_t i = 0; i < rows; i++) {
        double *row = X + (size_t)i * n + first;
        for (uint32_t j = 0; j < r; j++) {
            const double *v = Vt + (size_t)(r - 1 - j) * r;
            room[j] = 0;
            for (uint32_t k = 0; k < r; k++) room[j] += row[k] * v[k];
        }
        memcpy(row, room, r * sizeof *row);
    }
}

// Rows from `first` on, from the left by V^T
static void turn_rows(double *X, uint32_t n, uint32_t first, const double *Vt, double *room)
{
    const uint32_t r = n - first;
    for (uint32_t j = first; j < n; j++) {
        for (uint32_t i = 0; i < r; i++) {
            const double *v = Vt + (size_t)(r - 1 - i) * r;
            room[i] = 0;
            for (uint32_t k = 0; k < r; k++) room[i] += v[k] * X[(size_t)(first + k) * n + j];
        }
        for (uint32_t i = 0; i < r; i++) X[(size_t)(first + i) * n + j] = room[i];
    }
}

// Moves one null space of what is left to its front; *found is how many columns that is.
static bool split_once(Deflated *d, double limit, const uint32_t *wanted, uint32_t *found,
                       tr_error *err)
{
    const uint32_t n = d->size, first = d->zeros, r = n - first;
    double *X = numbers((size_t)r * r), *Vt = numbers((size_t)r * r), *sigma = numbers(n);
    const bool ready = X && Vt && sigma;
    for (uint32_t i = 0; ready && i < r; i++)
        memcpy(X + (size_t)i * r, d->T + (size_t)(first + i) * n + first, r * sizeof *X);
    const bool good = is_done(ready && tr_singular(X, r, r, sigma, NULL, Vt), 0, err);
    *found = 0;
    while (good && !wanted && *found < r && sigma[r - 1 - *found] <= limit) ++*found;
    if (good && wanted) *found = *wanted < r ? *wanted : r;
    if (good && *found) {
        turn_columns(d->T, n, n, first, Vt, sigma);
        turn_rows(d->T, n, first, Vt, sigma);
        turn_columns(d->Q, n, n, first, Vt, sigma);
        for (uint32_t i = first; i < n; i++)
            memset(d->T + (size_t)i * n + first, 0, *found * sizeof *d->T);
    }
    free(X);
    free(Vt);
    free(sigma);
    return good;
}

bool tr_deflate(const double *A, uint32_t n, const uint32_t *pattern, Deflated *d, tr_error *err)
{
    *d = (Deflated){.size = n};
    d->S = numbers(n), d->Q = numbers((size_t)n * n), d->T = numbers((size_t)n * n);
    d->pattern = calloc(n + 1u, sizeof *d->pattern);
    bool good = is_done(d->S && d->Q && d->T && d->pattern, 0, err);
    if (good && n) memcpy(d->T, A, (size_t)n * n * sizeof *A);
    if (good) tr_balance(d->T, n, d->S);
    for (uint32_t i = 0; good && i < n; i++) d->Q[(size_t)i * n + i] = 1;
    const double limit = good ? ZERO * tr_norm(d->T, (size_t)n * n) : 0;
    for (uint32_t step = 0, found = 1; good && d->zeros < n && found; step++) {
        if (pattern && !pattern[step]) break;
        good = split_once(d, limit, pattern ? &pattern[step] : NULL, &found, err);
        d->pattern[step] = found;
        d->zeros += found;
    }
    if (good) return true;
    tr_deflated_free(d);
    return false;
}

void tr_deflated_free(Deflated *d)
{
    free(d->S);
    free(d->Q);
    free(d->T);
    free(d->pattern);
    *d = (Deflated){0};
}

static double *take_rest(const Deflated *d)
{
    const uint32_t n = d->size, k = d->zeros, r = n - k;
    double *R = numbers((size_t)r * r);
    for (uint32_t i = 0; R && i < r; i++)
        memcpy(R + (size_t)i * r, d->T + (size_t)(k + i) * n + k, r * sizeof *R);
    return R;
}

// Eigenvalues of R, and its left and right eigenvectors as LAPACK packs them, unless NULL
static bool solve_rest(const Deflated *d, double *re, double *im, double *left, double *right,
                       tr_error *err)
{
    const lapack_int r = (lapack_int)(d->size - d->zeros);
    if (!r) return true;
    double *R = take_rest(d), *scale = numbers(3 * (size_t)r), norm, none;
    lapack_int low, high, info = 0;
    const Lapack *lapack = R && scale ? tr_lapack(err) : NULL;
    const bool ready = lapack != NULL;
    if (ready)
        info = lapack->dgeevx(LAPACK_ROW_MAJOR, 'B', left ? 'V' : 'N', left ? 'V' : 'N', 'N', r, R,
                              r, re, im, left ? left : &none, r, right ? right : &none, r, &low,
                              &high, scale, &norm, scale + r, scale + 2 * r);
    free(R);
    free(scale);
    return is_done(ready, info, err);
}

bool tr_deflated_values(const Deflated *d, double *values, tr_error *err)
{
    const uint32_t r = d->size - d->zeros;
    double *re = numbers(2 * (size_t)r), *im = re ? re + r : NULL;
    const bool good = is_done(re, 0, err) && solve_rest(d, re, im, NULL, NULL, err);
    for (uint32_t i = 0; good && i < r; i++) values[2 * i] = re[i], values[2 * i + 1] = im[i];
    free(re);
    return good;
}

int tr_compare_growth(const void *a, const void *b)
{
    const double *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? 1 : -1;
    return x[1] < y[1] ? 1 : x[1] > y[1] ? -1 : 0;
}

// A product that neither overflows nor vanishes: far from 1 its size is not exact, its sign is.
double tr_deflated_determinant(const Deflated *d, tr_error *err)
{
    const uint32_t r = d->size - d->zeros;
    double *R = take_rest(d), product = 1;
    long exponent = 0;
    const bool good = is_done(R, 0, err);
    if (good) product = tr_make_upper(R, r, R, 0);
    for (uint32_t i = 0; good && i < r; i++) {
        int more;
        product = frexp(product * R[(size_t)i * r + i], &more);
        exponent += more;
    }
    free(R);
    return good ? ldexp(product, (int)fmax(-900, fmin(900, (double)exponent))) : (double)NAN;
}

// ---- modes ---------------------------------------------------------------------------------

// One mode while it is found: x = S Q (y; z) and w = S^-1 Q (0; z_left)
typedef struct Vectors {
    double *right, *left; // of R, as LAPACK packs them
    double *x, *w, *y;    // room: complex numbers, real parts then imaginary ones
} Vectors;

// (N - l) y = -X z for N strictly upper triangular: from below
static void continue_above(const Deflated *d, const double l[2], double *y)
{
    const uint32_t n = d->size;
    const double size = l[0] * l[0] + l[1] * l[1];
    for (uint32_t i = d->zeros; i-- > 0;) {
        double re = 0, im = 0;
        for (uint32_t j = i + 1; j < n; j++) {
            re += d->T[(size_t)i * n + j] * y[j];
            im += d->T[(size_t)i * n + j] * y[n + j];
        }
        y[i] = (re * l[0] + im * l[1]) / size; // over l
        y[n + i] = (im * l[0] - re * l[1]) / size;
    }
}

// The k-th column of R's eigenvectors into y from `zeros` on
static void unpack(const Deflated *d, const double *packed, uint32_t k, double im, double *y)
{
    const uint32_t n = d->size, r = n - d->zeros;
    memset(y, 0, 2 * (size_t)n * sizeof *y);
    for (uint32_t i = 0; i < r; i++) {
        const double *row = packed + (size_t)i * r;
        y[d->zeros + i] = im < 0 ? row[k - 1] : row[k];
        y[n + d->zeros + i] = im > 0 ? row[k + 1] : im < 0 ? -row[k] : 0;
    }
}

// out = S^sign Q y
static void turn_back(const Deflated *d, const double *y, bool inverse, double *out)
{
    const uint32_t n = d->size;
    for (int part = 0; part < 2; part++)
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < n; j++)
                sum += d->Q[(size_t)i * n + j] * y[(size_t)part * n + j];
            out[(size_t)part * n + i] = inverse ? sum / d->S[i] : sum * d->S[i];
        }
}

// Largest entry 1, into `to` as pairs
static void put_vector(const double *x, uint32_t n, double *to)
{
    uint32_t best = 0;
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double size = hypot(x[i], x[n + i]);
        if (size > most * (1 + 1e-9)) best = i, most = size;
    }
    const double a = x[best], b = x[n + best], size = most > 0 ? most * most : 1;
    for (uint32_t i = 0; i < n; i++) {
        to[2 * i] = (x[i] * a + x[n + i] * b) / size;
        to[2 * i + 1] = (x[n + i] * a - x[i] * b) / size;
    }
}

static void put_shares(const double *x, const double *w, uint32_t n, double *to)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += to[i] = hypot(x[i], x[n + i]) * hypot(w[i], w[n + i]);
    for (uint32_t i = 0; i < n; i++) to[i] = sum > 0 ? to[i] / sum : 0;
}

static void put_mode(Modes *m, const Deflated *d, Vectors *v, uint32_t at, const double l[2],
                     uint32_t k)
{
    const uint32_t n = d->size;
    if (k < d->zeros) { // what stands in the k-th column of Q
        memset(v->y, 0, 2 * (size_t)n * sizeof *v->y);
        v->y[k] = 1;
        turn_back(d, v->y, false, v->x);
        turn_back(d, v->y, true, v->w);
    } else {
        unpack(d, v->right, k - d->zeros, l[1], v->y);
        continue_above(d, l, v->y);
        turn_back(d, v->y, false, v->x);
        unpack(d, v->left, k - d->zeros, l[1], v->y);
        turn_back(d, v->y, true, v->w);
    }
    const double size = hypot(l[0], l[1]);
    m->values[2 * at] = l[0], m->values[2 * at + 1] = l[1];
    m->damping[at] = size > 0 ? -l[0] / size : (double)NAN;
    m->frequency[at] = size;
    put_vector(v->x, n, m->vectors + 2 * (size_t)at * n);
    put_shares(v->x, v->w, n, m->shares + (size_t)at * n);
}

// The least stable first; of a pair the one above
static bool comes_before(const double *re, const double *im, uint32_t a, uint32_t b)
{
    if (re[a] != re[b]) return re[a] > re[b];
    if (fabs(im[a]) != fabs(im[b])) return fabs(im[a]) < fabs(im[b]);
    return im[a] > im[b];
}

static bool find_modes(Modes *m, const Deflated *d, tr_error *err)
{
    const uint32_t n = d->size, k = d->zeros;
    double *re = numbers(2 * (size_t)n), *im = re ? re + n : NULL;
    uint32_t *order = calloc(n + 1u, sizeof *order);
    Vectors v = {.right = numbers(2 * (size_t)n * n), .x = numbers(6 * (size_t)n)};
    bool good = is_done(re && order && v.right && v.x, 0, err);
    if (good) {
        v.left = v.right + (size_t)n * n, v.w = v.x + 2 * (size_t)n, v.y = v.w + 2 * (size_t)n;
        good = solve_rest(d, re + k, im + k, v.left, v.right, err);
    }
    for (uint32_t i = 0; good && i < n; i++) {
        uint32_t at = i;
        for (; at > 0 && comes_before(re, im, i, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 0; good && i < n; i++)
        put_mode(m, d, &v, i, (double[2]){re[order[i]], im[order[i]]}, order[i]);
    free(re);
    free(order);
    free(v.right);
    free(v.x);
    return good;
}

Modes *tr_modes_new(const Linear *linear, tr_error *err)
{
    if (!linear || has_failed(err)) return NULL;
    const uint32_t n = linear->states;
    Deflated d = {0};
    Modes *m = calloc(1, sizeof *m);
    bool good = m && (m->values = numbers(4 * (size_t)n + 3 * (size_t)n * n));
    if (good) {
        m->count = n;
        m->damping = m->values + 2 * (size_t)n, m->frequency = m->damping + n;
        m->vectors = m->frequency + n, m->shares = m->vectors + 2 * (size_t)n * n;
        good = tr_deflate(linear->A, n, NULL, &d, err) && find_modes(m, &d, err);
        m->zeros = d.zeros;
    } else
        tr_fail_memory(err);
    tr_deflated_free(&d);
    if (good) return m;
    tr_modes_free(m);
    return NULL;
}

void tr_modes_free(Modes *m)
{
    if (!m) return;
    free(m->values);
    free(m);
}

bool tr_linear_eigenvalues(const tr_linear *linear, double (*values)[2], tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!linear || has_failed(err)) return false;
    Modes *modes = tr_modes_new(linear, err);
    if (modes) memcpy(values, modes->values, modes->count * sizeof *values);
    tr_modes_free(modes);
    return modes != NULL;
}

// ---- what inputs reach ---------------------------------------------------------------------

// Less what is along the first `count` columns of V, twice for rounding
static void make_normal(double *X, uint32_t columns, const double *V, uint32_t count, uint32_t n)
{
    for (int twice = 0; twice < 2; twice++)
        for (uint32_t c = 0; c < columns; c++)
            for (uint32_t k = 0; k < count; k++) {
                double along = 0;
                for (uint32_t i = 0; i < n; i++)
                    along += V[(size_t)k * n + i] * X[(size_t)c * n + i];
                for (uint32_t i = 0; i < n; i++)
                    X[(size_t)c * n + i] -= along * V[(size_t)k * n + i];
            }
}

// The part of rank of new directions X (columns, one after the other) behind those in V
static bool add_directions(double *X, uint32_t columns, double *V, uint32_t *count, uint32_t n)
{
    const uint32_t least = n < columns ? n : columns;
    double *sigma = numbers(least), *U = numbers((size_t)n * n);
    make_normal(X, columns, V, *count, n);
    const bool good = sigma && U && tr_singular(X, columns, n, sigma, NULL, U);
    const uint32_t old = *count;
    for (uint32_t k = 0; good && k < least && *count < n && sigma[k] > FAINT; k++)
        memcpy(V + (size_t)(*count)++ * n, U + (size_t)k * n, n * sizeof *V);
    make_normal(V + (size_t)old * n, *count - old, V, old, n);
    free(sigma);
    free(U);
    return good;
}

// Directions that B, A B, A^2 B ... span, found one after the other. B by columns; both are scaled:
// A balanced and of norm 1, columns of B of norm 1.
static int reach_of(const double *A, const double *B, uint32_t n, uint32_t m)
{
    double *T = numbers((size_t)n * n), *S = numbers(n), *V = numbers((size_t)n * n),
           *X = numbers((size_t)n * (n > m ? n : m));
    uint32_t count = 0, seen = 0;
    bool good = T && S && V && X;
    if (good) memcpy(T, A, (size_t)n * n * sizeof *T);
    if (good) tr_balance(T, n, S);
    const double size = good ? tr_norm(T, (size_t)n * n) : 0;
    for (uint32_t j = 0; good && j < m; j++) {
        double *column = X + (size_t)j * n;
        for (uint32_t i = 0; i < n; i++) column[i] = B[(size_t)j * n + i] / S[i];
        const double length = tr_norm(column, n);
        for (uint32_t i = 0; length > 0 && i < n; i++) column[i] /= length;
    }
    good = good && (!n || !m || add_directions(X, m, V, &count, n));
    while (good && seen < count && count < n && size > 0) {
        const uint32_t added = count - seen;
        for (uint32_t k = 0; k < added; k++)
            for (uint32_t i = 0; i < n; i++) {
                double sum = 0;
                for (uint32_t j = 0; j < n; j++)
                    sum += T[(size_t)i * n + j] * V[(size_t)(seen + k) * n + j];
                X[(size_t)k * n + i] = sum / size;
            }
        seen = count;
        good = add_directions(X, added, V, &count, n);
    }
    free(T);
    free(S);
    free(V);
    free(X);
    return good ? (int)count : -1;
}

int tr_controllable(const Linear *linear)
{
    const uint32_t n = linear->states, m = linear->inputs;
    double *B = numbers((size_t)n * m);
    if (!B) return -1;
    tr_transpose(linear->B, n, m, B);
    const int count = reach_of(linear->A, B, n, m);
    free(B);
    return count;
}

int tr_observable(const Linear *linear)
{
    const uint32_t n = linear->states;
    double *A = numbers((size_t)n * n + (size_t)n * linear->outputs);
    if (!A) return -1;
    double *C = A + (size_t)n * n;
    uint32_t rows = 0; // of C, columns of C^T
    tr_transpose(linear->A, n, n, A);
    for (uint32_t i = 0; i < linear->outputs; i++)
        if (all_finite(linear->C + (size_t)n * i, n)) // else it has a kink there
            memcpy(C + (size_t)n * rows++, linear->C + (size_t)n * i, n * sizeof *C);
    const int count = reach_of(A, C, n, rows);
    free(A);
    return count;
}
