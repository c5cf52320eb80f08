// SPDX-License-Identifier: Apache-2.0
// Eigenvalues by Francis's double steps. First those that stand alone are moved to the ends, what
// is left between them is scaled (Parlett and Reinsch, 1969; with lengths as James, Langou and
// Lowery have it, 2014) and reflected until nothing is left below the first subdiagonal.
#include "num/eigenvalue.h"

#include "num/dense.h"

#include <float.h>
#include <math.h>

// The rows and columns from low to high, high included, of an n * n matrix
typedef struct Block {
    double *A;
    int n, low, high;
} Block;

static double *entry(const Block *b, int i, int k) { return b->A + (size_t)i * (size_t)b->n + k; }

// ---- balancing -----------------------------------------------------------------------------

static void exchange(const Block *b, int i, int k)
{
    for (int j = 0; j < b->n && i != k; j++) {
        const double kept = *entry(b, i, j);
        *entry(b, i, j) = *entry(b, k, j), *entry(b, k, j) = kept;
    }
    for (int j = 0; j < b->n && i != k; j++) {
        const double kept = *entry(b, j, i);
        *entry(b, j, i) = *entry(b, j, k), *entry(b, j, k) = kept;
    }
}

// Whether a row, or a column, of the block has nothing beside the diagonal
static bool is_alone(const Block *b, int i, bool column)
{
    for (int j = b->low; j <= b->high; j++)
        if (j != i && (column ? *entry(b, j, i) : *entry(b, i, j)) != 0) return false;
    return true;
}

// Rows that stand alone go to the end, columns to the front: their eigenvalues are on the diagonal.
static void set_apart(Block *b)
{
    for (int i = b->high; i >= b->low; i--)
        if (is_alone(b, i, false)) {
            exchange(b, i, b->high);
            i = b->high--; // look again
        }
    for (int i = b->low; i <= b->high; i++)
        if (is_alone(b, i, true)) {
            exchange(b, i, b->low);
            i = b->low++;
        }
}

// The length of a row or a column of the block
static double length_of(const Block *b, int i, bool column)
{
    double most = 0, sum = 0;
    for (int j = b->low; j <= b->high; j++)
        most = larger(most, fabs(column ? *entry(b, j, i) : *entry(b, i, j)));
    for (int j = b->low; j <= b->high && most > 0; j++) {
        const double part = (column ? *entry(b, j, i) : *entry(b, i, j)) / most;
        sum += part * part;
    }
    return most * sqrt(sum);
}

// One power of two for which the column, times it, and the row, over it, are shorter together
static double better_scale(double column, double row)
{
    const double before = column + row, limit = 0x1p500;
    double f = 1;
    while (column < row / 2 && f < limit) f *= 2, column *= 2, row /= 2;
    while (column / 2 >= row && f > 1 / limit) f /= 2, column /= 2, row *= 2;
    return column + row < 0.95 * before ? f : 1;
}

static void balance(const Block *b, double *D)
{
    bool changed = true;
    for (int pass = 0; changed && pass < 100; pass++) {
        changed = false;
        for (int i = b->low; i <= b->high; i++) {
            const double column = length_of(b, i, true), row = length_of(b, i, false);
            if (!(column > 0 && row > 0)) continue;
            const double f = better_scale(column, row);
            if (f == 1) continue;
            if (D) D[i] *= f;
            for (int j = 0; j < b->n; j++) *entry(b, i, j) /= f;
            for (int j = 0; j < b->n; j++) *entry(b, j, i) *= f;
            changed = true;
        }
    }
}

void tr_balance(double *A, uint32_t n, double *D)
{
    const Block b = {A, (int)n, 0, (int)n - 1};
    for (uint32_t i = 0; i < n; i++) D[i] = 1;
    balance(&b, D);
}

// ---- a triangle and one diagonal below it --------------------------------------------------

// Columns k of the block, by reflections of the rows below k + 1 and the columns behind it
static void make_hessenberg(const Block *b, double *v)
{
    for (int k = b->low; k + 2 <= b->high; k++) {
        double rest = 0, first = *entry(b, k + 1, k);
        for (int i = k + 2; i <= b->high; i++) rest += *entry(b, i, k) * *entry(b, i, k);
        if (rest == 0) continue;
        const double size = sqrt(first * first + rest), beta = first > 0 ? -size : size;
        const double tau = (beta - first) / beta;
        v[k + 1] = 1;
        for (int i = k + 2; i <= b->high; i++) v[i] = *entry(b, i, k) / (first - beta);
        for (int j = k; j < b->n; j++) {
            double along = 0;
            for (int i = k + 1; i <= b->high; i++) along += v[i] * *entry(b, i, j);
            for (int i = k + 1; i <= b->high; i++) *entry(b, i, j) -= tau * along * v[i];
        }
        for (int i = 0; i <= b->high; i++) {
            double along = 0;
            for (int j = k + 1; j <= b->high; j++) along += *entry(b, i, j) * v[j];
            for (int j = k + 1; j <= b->high; j++) *entry(b, i, j) -= tau * along * v[j];
        }
        for (int i = k + 2; i <= b->high; i++) *entry(b, i, k) = 0;
    }
}

// ---- double steps --------------------------------------------------------------------------

// A reflection of three rows and columns, or two: 1 - (x, y, z)^T (1, q, r)
typedef struct Turn {
    double x, y, z, q, r;
    double beta; // what it makes of the first number
} Turn;

static bool make_turn(double p, double q, double r, Turn *turn)
{
    const double size = fabs(p) + fabs(q) + fabs(r);
    if (size == 0) return false;
    p /= size, q /= size, r /= size;
    const double length = sqrt(p * p + q * q + r * r), s = p < 0 ? -length : length;
    *turn = (Turn){.x = (p + s) / s, .y = q / s, .z = r / s, .beta = -s * size};
    turn->q = q / (p + s), turn->r = r / (p + s);
    return true;
}

static void apply_turn(const Block *b, const Turn *t, int k, int first, bool three)
{
    for (int j = k; j <= b->high; j++) {
        double *a = entry(b, k, j), *c = entry(b, k + 1, j);
        double *d = three ? entry(b, k + 2, j) : NULL;
        const double sum = *a + t->q * *c + (three ? t->r * *d : 0);
        *a -= sum * t->x, *c -= sum * t->y;
        if (three) *d -= sum * t->z;
    }
    const int last = k + 3 < b->high ? k + 3 : b->high;
    for (int i = first; i <= last; i++) {
        double *row = entry(b, i, k);
        const double sum = t->x * row[0] + t->y * row[1] + (three ? t->z * row[2] : 0);
        row[0] -= sum, row[1] -= sum * t->q;
        if (three) row[2] -= sum * t->r;
    }
}

// The first column of (H - s1)(H - s2), shifts with the sum x + y and the product x y - w, from
// row m on; three numbers
static void first_column(const Block *b, int m, double x, double y, double w, double *v)
{
    const double z = *entry(b, m, m), r = x - z, s = y - z;
    v[0] = (r * s - w) / *entry(b, m + 1, m) + *entry(b, m, m + 1);
    v[1] = *entry(b, m + 1, m + 1) - z - r - s;
    v[2] = *entry(b, m + 2, m + 1);
    const double size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
    for (int i = 0; i < 3 && size > 0; i++) v[i] /= size;
}

// Where a step may begin: two subdiagonal entries in a row are small together. v is its column.
static int find_beginning(const Block *b, int first, double x, double y, double w, double *v)
{
    for (int m = b->high - 2;; m--) {
        first_column(b, m, x, y, w, v);
        if (m == first) return m;
        const double beside =
            fabs(*entry(b, m - 1, m - 1)) + fabs(*entry(b, m, m)) + fabs(*entry(b, m + 1, m + 1));
        if (fabs(*entry(b, m, m - 1)) * (fabs(v[1]) + fabs(v[2])) <
            DBL_EPSILON * fabs(v[0]) * beside)
            return m;
    }
}

// One step on the block from `first` to high
static void double_step(const Block *b, int first, double x, double y, double w)
{
    const int n = b->high;
    double v[3];
    const int m = find_beginning(b, first, x, y, w, v);
    for (int i = m + 2; i <= n; i++) {
        *entry(b, i, i - 2) = 0;
        if (i > m + 2) *entry(b, i, i - 3) = 0;
    }
    for (int k = m; k < n; k++) {
        const bool three = k + 1 < n;
        Turn turn;
        if (k > m) {
            v[0] = *entry(b, k, k - 1), v[1] = *entry(b, k + 1, k - 1);
            v[2] = three ? *entry(b, k + 2, k - 1) : 0;
        }
        if (!make_turn(v[0], v[1], three ? v[2] : 0, &turn)) break;
        if (k > m)
            *entry(b, k, k - 1) = turn.beta;
        else if (first < m)
            *entry(b, k, k - 1) = -*entry(b, k, k - 1);
        if (k > m) *entry(b, k + 1, k - 1) = 0;
        if (k > m && three) *entry(b, k + 2, k - 1) = 0;
        apply_turn(b, &turn, k, first, three);
    }
}

// ---- the values ----------------------------------------------------------------------------

// The last two of the block: of [a b; c d]
static void solve_pair(const Block *b, double *re, double *im)
{
    const int n = b->high;
    const double d = *entry(b, n, n), w = *entry(b, n, n - 1) * *entry(b, n - 1, n);
    const double p = (*entry(b, n - 1, n - 1) - d) / 2, q = p * p + w, root = sqrt(fabs(q));
    if (q >= 0) {
        const double z = p >= 0 ? p + root : p - root;
        re[n - 1] = d + z, re[n] = z != 0 ? d - w / z : re[n - 1];
        im[n - 1] = im[n] = 0;
    } else {
        re[n - 1] = re[n] = d + p;
        im[n - 1] = root, im[n] = -root;
    }
}

// Where the last part begins that no small entry of the subdiagonal divides
static int find_part(const Block *b, double norm)
{
    int l = b->high;
    for (; l > b->low; l--) {
        double size = fabs(*entry(b, l - 1, l - 1)) + fabs(*entry(b, l, l));
        if (size == 0) size = norm;
        if (fabs(*entry(b, l, l - 1)) < DBL_EPSILON * size) break;
    }
    return l;
}

// A step with the shifts of the last two rows; every tenth with others, should it go in circles
static void step(const Block *b, int first, int tries)
{
    const int n = b->high;
    double x = *entry(b, n, n), y = *entry(b, n - 1, n - 1);
    double w = *entry(b, n, n - 1) * *entry(b, n - 1, n);
    if (tries % 10 == 9) {
        const double s = fabs(*entry(b, n, n - 1)) + fabs(*entry(b, n - 1, n - 2));
        x += 0.75 * s, y = x, w = -0.4375 * s * s;
    }
    double_step(b, first, x, y, w);
}

static bool find_values(Block b, double *re, double *im)
{
    enum { MOST_TRIES = 60 };
    const double norm = tr_largest(b.A, (size_t)b.n * (size_t)b.n);
    for (int tries = 0; b.high >= b.low;) {
        const int first = find_part(&b, norm);
        if (first == b.high) {
            re[first] = *entry(&b, first, first), im[first] = 0;
            b.high--, tries = 0;
        } else if (first + 1 == b.high) {
            solve_pair(&b, re, im);
            b.high -= 2, tries = 0;
        } else if (tries < MOST_TRIES)
            step(&b, first, tries++);
        else
            return false;
    }
    return true;
}

bool tr_eigenvalues(double *A, uint32_t n, double *re, double *im)
{
    Block b = {A, (int)n, 0, (int)n - 1};
    if (!all_finite(A, (size_t)n * n)) return false;
    set_apart(&b);
    balance(&b, NULL);
    make_hessenberg(&b, re); // as room
    for (int i = 0; i < b.n; i++) re[i] = *entry(&b, i, i), im[i] = 0;
    return find_values(b, re, im);
}
