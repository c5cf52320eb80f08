// SPDX-License-Identifier: Apache-2.0
// Own linear algebra: against LAPACK, against long double, and against what it must satisfy, for
// matrices of any shape and rank, graded ones and Hilbert's.
#include "num/dense.h"
#include "num/eigenvalue.h"
#include "num/exponential.h"
#include "num/singular.h"
#include "num/solve.h"
#include "test.h"

#include <float.h>
#include <lapacke.h>

enum { MOST = 24, TRIALS = 300 };

static void fill(Random *r, double *A, size_t count)
{
    for (size_t i = 0; i < count; i++) A[i] = random_between(r, -1, 1);
}

// m * n of a given rank, of the size 10^exponent
static void fill_rank(Random *r, double *A, uint32_t m, uint32_t n, uint32_t rank, int exponent)
{
    double X[MOST * MOST], Y[MOST * MOST];
    fill(r, X, (size_t)m * rank);
    fill(r, Y, (size_t)rank * n);
    tr_multiply(X, Y, m, rank, n, A);
    for (size_t i = 0; i < (size_t)m * n; i++) A[i] *= pow(10, exponent);
}

static void fill_hilbert(double *A, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) A[i * n + k] = 1.0 / (i + k + 1);
}

// |A X - B| beside |A| |X|
static double residual(const double *A, const double *X, const double *B, uint32_t m, uint32_t n,
                       uint32_t count)
{
    double AX[MOST * MOST];
    tr_multiply(A, X, m, n, count, AX);
    for (size_t i = 0; i < (size_t)m * count; i++) AX[i] -= B[i];
    const double size = tr_largest(A, (size_t)m * n) * tr_largest(X, (size_t)n * count) * n;
    return tr_largest(AX, (size_t)m * count) / fmax(size, 1e-300);
}

// ---- equations -----------------------------------------------------------------------------

static void test_cholesky(void **state)
{
    (void)state;
    Random r = {11};
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t n = 1 + random_below(&r, MOST), count = 1 + random_below(&r, 4);
        double X[MOST * MOST], A[MOST * MOST], L[MOST * MOST], B[MOST * 4], Y[MOST * 4];
        fill(&r, X, (size_t)n * n);
        tr_multiply_transposed(X, X, n, n, n, A);
        for (uint32_t i = 0; i < n; i++) A[i * n + i] += 0.1;
        fill(&r, B, (size_t)n * count);
        memcpy(L, A, sizeof L);
        memcpy(Y, B, sizeof Y);
        assert_true(tr_solve_positive(L, n, Y, count));
        assert_below(residual(A, Y, B, n, n, count), 1e-14);
        for (uint32_t i = 0; i < n; i++) // what is above L is left alone
            for (uint32_t k = i + 1; k < n; k++) assert_true(L[i * n + k] == A[i * n + k]);
        A[(n - 1) * n + n - 1] = -1;
        assert_false(tr_cholesky(A, n));
        Y[0] = (double)NAN;
        assert_false(tr_solve_positive(A, n, Y, count));
    }
}

// Rows that begin with zeros, each with as many as it likes
static void test_envelope(void **state)
{
    (void)state;
    Random r = {13};
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t n = 1 + random_below(&r, MOST);
        double A[MOST * MOST] = {0}, L[MOST * MOST];
        uint32_t first[MOST];
        for (uint32_t i = 0; i < n; i++) {
            first[i] = random_below(&r, i + 1);
            for (uint32_t k = first[i]; k < i; k++) A[i * n + k] = any(&r);
            A[i * n + i] = MOST; // more than all others of its row and its column
        }
        memcpy(L, A, sizeof L);
        assert_true(tr_cholesky(L, n));
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k <= i; k++) {
                double product = 0;
                for (uint32_t j = 0; j <= k; j++) product += L[i * n + j] * L[k * n + j];
                assert_below(fabs(product - A[i * n + k]), 1e-14 * MOST);
                if (k < first[i]) assert_true(L[i * n + k] == 0);
            }
    }
}

// Rows one by one, with zeros in front, to the bit
static void test_rows(void **state)
{
    (void)state;
    Random r = {14};
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t n = 1 + random_below(&r, MOST), rows = 1 + random_below(&r, MOST);
        double L[MOST * MOST], B[MOST * MOST], X[MOST * MOST];
        fill(&r, L, (size_t)n * n);
        fill(&r, B, (size_t)rows * n);
        for (uint32_t i = 0; i < n; i++) L[i * n + i] += 3;
        for (uint32_t i = 0; i < rows; i++)
            for (uint32_t k = 0; k < n / 2; k++) B[i * n + k] = 0;
        memcpy(X, B, sizeof X);
        tr_solve_lower_rows(L, n, X, rows);
        for (uint32_t i = 0; i < rows; i++) {
            tr_solve_lower(L, n, B + i * n, 1);
            assert_memory_equal(X + i * n, B + i * n, n * sizeof *X);
        }
    }
}

// What is said to be independent is so by singular values; what is clearly so is said to be.
static void test_independence(void **state)
{
    (void)state;
    Random r = {15};
    uint32_t said = 0, clear = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t n = 2 + random_below(&r, MOST - 1), m = 2 + random_below(&r, n - 1);
        const double near = pow(10, -(double)random_below(&r, 17));
        double A[MOST * MOST], L[MOST * MOST], sigma[MOST];
        fill(&r, A, (size_t)m * n);
        for (uint32_t k = 0; k < n; k++) A[k] = A[n + k] + near * A[k]; // the first depends, almost
        assert_true(tr_singular(A, m, n, sigma, NULL, NULL));
        const bool is_said = tr_are_independent(A, m, n, 1e-9, L);
        const double ratio = sigma[m - 1] / sigma[0];
        if (is_said) assert_true(ratio > 0.99e-5);
        if (ratio > 1e-3) assert_true(is_said);
        said += is_said, clear += ratio > 1e-3;
        assert_true(!tr_are_independent(A, m, n, 1, L) || m == 1); // none is that far from it
    }
    assert_true(said >= clear && clear > 0 && said < TRIALS);
}

// Rows of rank r, of which one more is nearly nothing: where a rank is told, singular values tell
// the same, and each row is as far within the span.
static void test_clear_rank(void **state)
{
    (void)state;
    Random random = {16};
    uint32_t said = 0, clear = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t m = 3 + random_below(&random, MOST - 2),
                       n = 3 + random_below(&random, MOST - 2);
        const uint32_t least = m < n ? m : n, r = 1 + random_below(&random, least - 1);
        const double near = pow(10, -(double)random_below(&random, 18));
        double left[MOST * MOST], right[MOST * MOST], A[MOST * MOST], sigma[MOST];
        double U[MOST * MOST], V[MOST * MOST];
        uint32_t rank = 0, by_values = 0;
        fill(&random, left, (size_t)m * (r + 1));
        fill(&random, right, (size_t)(r + 1) * n);
        for (uint32_t k = 0; k < n; k++) right[r * n + k] *= near;
        tr_multiply(left, right, m, r + 1, n, A);
        assert_true(tr_singular(A, m, n, sigma, U, NULL));
        while (by_values < least && sigma[by_values] > 1e-9 * sigma[0]) by_values++;
        const bool is_said = tr_clear_rank(A, m, n, 1e-9, &rank, V);
        clear += near < 1e-14 && sigma[r - 1] > 1e-2 * sigma[0];
        said += is_said;
        if (near < 1e-14 && sigma[r - 1] > 1e-2 * sigma[0]) assert_true(is_said);
        if (!is_said) continue;
        assert_int_equal(rank, by_values);
        for (uint32_t i = 0; i < m; i++)
            assert_below(
                fabs(tr_norm(V + i * m + rank, m - rank) - tr_norm(U + i * m + rank, m - rank)),
                1e-7);
    }
    assert_true(said >= clear && clear > 0 && said < TRIALS);
}

static void test_gauss(void **state)
{
    (void)state;
    Random r = {12};
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t n = 1 + random_below(&r, MOST), count = 1 + random_below(&r, 4);
        double A[MOST * MOST], U[MOST * MOST], B[MOST * 4], X[MOST * 4];
        fill(&r, A, (size_t)n * n);
        fill(&r, B, (size_t)n * count);
        memcpy(U, A, sizeof U);
        memcpy(X, B, sizeof X);
        assert_true(tr_solve(U, n, X, count));
        assert_below(residual(A, X, B, n, n, count), 1e-14);
        memcpy(U, A, sizeof U);
        for (uint32_t k = 0; k < n; k++) U[k * n + n / 2] = 0;
        assert_false(tr_solve(U, n, X, count));
    }
}

// A determinant by its definition: of the first row, down
static long double expanded(const double *A, uint32_t n, uint32_t row, uint32_t used)
{
    long double sum = 0;
    int sign = 1;
    if (row == n) return 1;
    for (uint32_t k = 0; k < n; k++) {
        if (used >> k & 1) continue;
        sum += sign * (long double)A[row * n + k] * expanded(A, n, row + 1, used | 1u << k);
        sign = -sign;
    }
    return sum;
}

static void test_determinant(void **state)
{
    (void)state;
    Random r = {13};
    for (int trial = 0; trial < 50; trial++) {
        const uint32_t n = 1 + random_below(&r, 6);
        double A[36];
        fill(&r, A, (size_t)n * n);
        const double wanted = (double)expanded(A, n, 0, 0);
        double product = tr_make_upper(A, n, A, 0);
        for (uint32_t i = 0; i < n; i++) product *= A[i * n + i];
        assert_close(product, wanted, 1e-14);
    }
}

// ---- singular values -----------------------------------------------------------------------

// How far the rows of Q are from a basis
static double off_basis(const double *Q, uint32_t n)
{
    double worst = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) {
            double sum = i == k ? -1 : 0;
            for (uint32_t j = 0; j < n; j++) sum += Q[i * n + j] * Q[k * n + j];
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

// A = U S V^T, whole bases, values in order, and as LAPACK has them
static void check_singular(const double *A, uint32_t m, uint32_t n)
{
    const uint32_t k = m < n ? m : n;
    double U[MOST * MOST], V[MOST * MOST], s[MOST], wanted[MOST], rest[MOST], copy[MOST * MOST];
    assert_true(tr_singular(A, m, n, s, U, V));
    for (uint32_t i = 0; i + 1 < k; i++) assert_true(s[i] >= s[i + 1] && s[i + 1] >= 0);
    const double size = fmax(s[0], 1e-300);
    double Ut[MOST * MOST], worst = 0;
    tr_transpose(U, m, m, Ut);
    assert_below(off_basis(Ut, m), 2e-14);
    assert_below(off_basis(V, n), 2e-14);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++) {
            double sum = -A[i * n + j];
            for (uint32_t l = 0; l < k; l++) sum += U[i * m + l] * s[l] * V[l * n + j];
            worst = fmax(worst, fabs(sum) / size);
        }
    assert_below(worst, 2e-14);
    memcpy(copy, A, (size_t)m * n * sizeof *copy);
    assert_int_equal(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', (lapack_int)m, (lapack_int)n, copy,
                                    (lapack_int)n, wanted, U, (lapack_int)m, V, (lapack_int)n,
                                    rest),
                     0);
    for (uint32_t i = 0; i < k; i++) assert_below(fabs(s[i] - wanted[i]) / size, 2e-14);
    double alone[MOST];
    assert_true(tr_singular(A, m, n, alone, NULL, NULL));
    assert_memory_equal(alone, s, k * sizeof *s);
}

static void test_singular_values(void **state)
{
    (void)state;
    Random r = {14};
    double A[MOST * MOST];
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t m = 1 + random_below(&r, MOST), n = 1 + random_below(&r, MOST);
        const uint32_t rank = random_below(&r, 1 + (m < n ? m : n));
        fill_rank(&r, A, m, n, rank, (int)random_below(&r, 400) - 200);
        check_singular(A, m, n);
    }
    fill_hilbert(A, MOST);
    check_singular(A, MOST, MOST);
    memset(A, 0, sizeof A);
    check_singular(A, 5, 7);
    for (uint32_t i = 0; i < 6; i++) A[i * 6 + i] = 1; // all alike
    check_singular(A, 6, 6);
    A[3] = (double)NAN;
    double s[MOST];
    assert_false(tr_singular(A, 2, 3, s, NULL, NULL));
}

// More than what finds room without memory: a circulant matrix, 3 + 2 cos(2 pi k / n)
static void test_many_rows(void **state)
{
    (void)state;
    enum { N = 70 };
    static double A[N * N], U[N * N], V[N * N], b[N];
    double s[N], wanted[N];
    for (uint32_t i = 0; i < N; i++) {
        A[i * N + i] = 3, A[i * N + (i + 1) % N] = A[i * N + (i + N - 1) % N] = 1;
        wanted[i] = 3 + 2 * cos(2 * M_PI * ((i + 1) / 2) / N); // pairs, the largest first
        b[i] = 5;
    }
    assert_true(tr_singular(A, N, N, s, U, V));
    assert_below(off_basis(V, N), 1e-13);
    for (uint32_t i = 0; i < N; i++) assert_close(s[i], wanted[i], 1e-13);
    assert_true(tr_least_squares(A, N, N, b, 1, 1e-12, NULL));
    for (uint32_t i = 0; i < N; i++) assert_close(b[i], 1, 1e-13);
}

// Columns of very different sizes, D Q: every value has all of its digits, which LAPACK's have not.
static void test_graded(void **state)
{
    (void)state;
    Random r = {15};
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t n = 2 + random_below(&r, 10);
        double X[100 + MOST * MOST], U[MOST * MOST], Q[MOST * MOST], s[MOST], wanted[MOST];
        fill(&r, X, (size_t)n * n);
        assert_true(tr_singular(X, n, n, s, U, Q)); // a basis
        for (uint32_t i = 0; i < n; i++) wanted[i] = pow(10, 10 - 4.0 * i);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < n; k++) X[i * n + k] = wanted[i] * Q[i * n + k];
        assert_true(tr_singular(X, n, n, s, NULL, NULL));
        for (uint32_t i = 0; i < n; i++) assert_below(fabs(s[i] / wanted[i] - 1), 2e-14);
    }
}

// ---- least squares -------------------------------------------------------------------------

static void test_least_squares(void **state)
{
    (void)state;
    Random r = {16};
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t m = 1 + random_below(&r, MOST), n = 1 + random_below(&r, MOST);
        const uint32_t least = m < n ? m : n, rank = random_below(&r, least + 1), count = 3;
        double A[MOST * MOST], copy[MOST * MOST], B[MOST * 3], X[MOST * 3], s[MOST];
        fill_rank(&r, A, m, n, rank, 0);
        fill(&r, B, (size_t)(m > n ? m : n) * count);
        memcpy(X, B, sizeof X);
        uint32_t found = 0;
        lapack_int wanted = 0;
        assert_true(tr_least_squares(A, m, n, X, count, 1e-8, &found));
        memcpy(copy, A, sizeof copy);
        LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)m, (lapack_int)n, (lapack_int)count, copy,
                       (lapack_int)n, B, (lapack_int)count, s, 1e-8, &wanted);
        assert_int_equal(found, wanted);
        // either one may be off by the condition, and by its square along what cannot be met
        const double spread = rank ? s[0] / s[rank - 1] : 1;
        const double size = fmax(tr_largest(B, (size_t)n * count), 1e-300);
        for (size_t i = 0; i < (size_t)n * count; i++)
            assert_below(fabs(X[i] - B[i]) / (size * spread * spread), 2e-15 * (m + n));
    }
    double A[4] = {1, 2, 3, 4}, b[2] = {1, (double)INFINITY};
    assert_false(tr_least_squares(A, 2, 2, b, 1, 0, NULL));
}

// Blocks whose rows and columns are shuffled, some of them rank deficient, some far smaller than
// the cutoff leaves alone: as the whole
static void test_blocks(void **state)
{
    (void)state;
    enum { BLOCKS = 30, M = 3 * BLOCKS, N = 4 * BLOCKS };
    static double A[M * N], B[N * 2], X[N * 2], U[M * M], V[N * N], s[M];
    Random r = {21};
    for (int trial = 0; trial < 6; trial++) {
        memset(A, 0, sizeof A);
        for (uint32_t b = 0; b < BLOCKS; b++) {
            double own[3 * 4];
            const uint32_t rank = random_below(&r, 4);
            fill_rank(&r, own, 3, 4, rank, b % 5 == 0 ? -11 : 0);
            for (uint32_t i = 0; i < 3; i++) // rows of a block are BLOCKS apart, columns together
                for (uint32_t k = 0; k < 4; k++)
                    A[(i * BLOCKS + b) * N + (BLOCKS - 1 - b) * 4 + k] = own[i * 4 + k];
        }
        fill(&r, B, (size_t)N * 2);
        memcpy(X, B, sizeof X);
        uint32_t found = 0, wanted = 0;
        assert_true(tr_least_squares(A, M, N, X, 2, 1e-8, &found));
        assert_true(tr_singular(A, M, N, s, U, V));
        while (wanted < M && s[wanted] > 1e-8 * s[0]) wanted++;
        assert_int_equal(found, wanted);
        for (uint32_t c = 0; c < 2; c++)
            for (uint32_t k = 0; k < N; k++) { // V S^+ U^T b
                double sum = 0, size = 0;
                for (uint32_t i = 0; i < wanted; i++) {
                    double along = 0;
                    for (uint32_t j = 0; j < M; j++) along += U[j * M + i] * B[j * 2 + c];
                    sum += V[i * N + k] * along / s[i];
                    size += fabs(V[i * N + k] * along / s[i]);
                }
                assert_below(fabs(X[k * 2 + c] - sum), 1e-12 * (1 + size));
            }
    }
}

// As by singular values where it says anything at all, and that is where rows are clearly
// independent
static void test_shortest(void **state)
{
    (void)state;
    Random r = {22};
    uint32_t solved = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t n = 2 + random_below(&r, MOST - 1), m = 2 + random_below(&r, n - 1);
        const double near = pow(10, -(double)random_below(&r, 9));
        double A[MOST * MOST], x[MOST], wanted[MOST], sigma[MOST];
        fill(&r, A, (size_t)m * n);
        for (uint32_t k = 0; k < n; k++) A[k] = A[n + k] + near * A[k];
        for (uint32_t i = 0; i < m; i++) // a staircase, as rows of chains have
            for (uint32_t k = n - m + i + 1; k < n && trial % 2; k++) A[i * n + k] = 0;
        fill(&r, x, m);
        memcpy(wanted, x, sizeof x);
        assert_true(tr_singular(A, m, n, sigma, NULL, NULL));
        assert_true(tr_least_squares(A, m, n, wanted, 1, 1e-9, NULL));
        const double ratio = sigma[m - 1] / sigma[0], first = x[0];
        const bool is_solved = tr_shortest(A, m, n, x, 1e-9);
        if (ratio > 1e-3) assert_true(is_solved);
        if (!is_solved) assert_true(x[0] == first);
        for (uint32_t k = 0; is_solved && k < n; k++)
            assert_below(fabs(x[k] - wanted[k]) / tr_largest(wanted, n), 1e-13 / ratio);
        solved += is_solved;
    }
    assert_true(solved > TRIALS / 4 && solved < TRIALS);
    double A[2] = {1, 1}, b[2] = {1, 1};
    assert_false(tr_shortest(A, 2, 1, b, 1e-9)); // more rows than columns
}

// A kernel is one, and orthonormal; what is across columns has their lengths without these
static void test_kernel(void **state)
{
    (void)state;
    Random r = {23};
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t n = 2 + random_below(&r, MOST - 1), m = 1 + random_below(&r, n);
        double A[MOST * MOST], Z[MOST * MOST], AZ[MOST * MOST], ZZ[MOST * MOST], U[MOST * MOST];
        fill(&r, A, (size_t)m * n);
        const uint32_t width = n - m;
        if (tr_kernel(A, m, n, 1e-9, Z) && width) {
            tr_multiply(A, Z, m, n, width, AZ);
            assert_below(tr_largest(AZ, (size_t)m * width), 1e-13 * n);
            tr_multiply_transposed(Z, Z, width, n, width, ZZ);
            assert_below(off_basis(ZZ, width), 1e-13);
        } else if (width) { // it is not clear
            double sigma[MOST];
            assert_true(tr_singular(A, m, n, sigma, NULL, NULL));
            assert_true(sigma[m - 1] < 1e-3 * sigma[0]);
        }
        double sigma[MOST], X[MOST * 3], left[MOST * 3];
        const uint32_t rank = random_below(&r, m + 1);
        assert_true(tr_singular(A, m, n, sigma, U, NULL));
        fill(&r, X, (size_t)m * 3);
        memcpy(left, X, sizeof X);
        assert_true(tr_turn_across(U, m, rank, left, 3));
        for (uint32_t a = 0; a < 3; a++)
            for (uint32_t b = 0; b < 3; b++) { // products of columns are those of 1 - U U^T
                double found = 0, wanted = 0;
                for (uint32_t i = 0; i + rank < m; i++) found += left[i * 3 + a] * left[i * 3 + b];
                for (uint32_t c = rank; c < m; c++) {
                    double along_a = 0, along_b = 0;
                    for (uint32_t i = 0; i < m; i++) {
                        along_a += U[i * m + c] * X[i * 3 + a];
                        along_b += U[i * m + c] * X[i * 3 + b];
                    }
                    wanted += along_a * along_b;
                }
                assert_close(found, wanted, 1e-13 * m);
            }
    }
}

// By long double: the normal equations of a matrix that is not ill-conditioned
static void test_overdetermined(void **state)
{
    (void)state;
    Random r = {17};
    for (int trial = 0; trial < TRIALS; trial++) {
        enum { M = 9, N = 4 };
        double A[M * N], b[M], x[M];
        long double S[N][N + 1] = {{0}};
        fill(&r, A, M * N);
        fill(&r, b, M);
        memcpy(x, b, sizeof x);
        assert_true(tr_least_squares(A, M, N, x, 1, 1e-12, NULL));
        for (int i = 0; i < N; i++)
            for (int l = 0; l < M; l++) {
                for (int k = 0; k < N; k++)
                    S[i][k] += (long double)A[l * N + i] * (long double)A[l * N + k];
                S[i][N] += (long double)A[l * N + i] * (long double)b[l];
            }
        for (int k = 0; k < N; k++) // positive definite: no exchanges
            for (int i = 0; i < N; i++) {
                const long double f = i == k ? 0 : S[i][k] / S[k][k];
                for (int j = k; j <= N; j++) S[i][j] -= f * S[k][j];
            }
        for (int k = 0; k < N; k++) assert_close(x[k], (double)(S[k][N] / S[k][k]), 1e-13);
    }
}

// ---- eigenvalues ---------------------------------------------------------------------------

// The largest distance of a value from the nearest of the others that is not taken
static double apart(const double *re, const double *im, const double *wr, const double *wi,
                    uint32_t n)
{
    bool taken[MOST] = {false};
    double worst = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t best = 0;
        double least = (double)INFINITY;
        for (uint32_t k = 0; k < n; k++) {
            const double off = hypot(re[i] - wr[k], im[i] - wi[k]);
            if (!taken[k] && off < least) best = k, least = off;
        }
        taken[best] = true;
        worst = fmax(worst, least);
    }
    return worst;
}

static void test_eigenvalues(void **state)
{
    (void)state;
    Random r = {18};
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint32_t n = 1 + random_below(&r, MOST);
        double A[MOST * MOST], copy[MOST * MOST], re[MOST], im[MOST], wr[MOST], wi[MOST], none;
        fill(&r, A, (size_t)n * n);
        for (uint32_t i = 0; i < n * n; i++) // some of it empty, some of it large
            A[i] = trial % 3 == 1 && random_below(&r, 3) ? 0 : A[i];
        memcpy(copy, A, sizeof copy);
        const double size = tr_norm(A, (size_t)n * n) + 1e-300;
        assert_true(tr_eigenvalues(A, n, re, im));
        LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', (lapack_int)n, copy, (lapack_int)n, wr, wi, &none,
                      1, &none, 1);
        // some depend on rounding by its root: then either one is off
        assert_true(apart(re, im, wr, wi, n) < (trial % 3 == 1 ? 1e-4 : 1e-9) * size);
        for (uint32_t i = 0; i + 1 < n; i++)
            if (im[i] > 0) assert_true(im[i + 1] == -im[i] && re[i + 1] == re[i]);
    }
}

// Known ones: (x - 1)(x - 2)...(x - n) as a companion matrix of badly scaled coordinates, and a
// chain of masses
static void test_known_eigenvalues(void **state)
{
    (void)state;
    double A[MOST * MOST] = {0}, re[MOST], im[MOST], wr[MOST], wi[MOST] = {0};
    const double stiff[4] = {0, 1, -7569, 0}; // +- 87 i
    memcpy(A, stiff, sizeof stiff);
    assert_true(tr_eigenvalues(A, 2, re, im));
    assert_close(im[0], 87, 1e-15);
    assert_close(re[0], 0, 1e-15);
    for (uint32_t n = 2; n <= MOST; n++) { // 2 - 2 cos(k pi / (n + 1))
        memset(A, 0, sizeof A);
        for (uint32_t i = 0; i < n; i++) {
            A[i * n + i] = 2;
            wr[i] = 2 - 2 * cos((i + 1) * M_PI / (n + 1));
            const double scale = i % 2 ? 0x1p30 : 0x1p-30; // as other units would
            if (i + 1 < n) A[i * n + i + 1] = -scale, A[(i + 1) * n + i] = -1 / scale;
        }
        assert_true(tr_eigenvalues(A, n, re, im));
        assert_below(apart(re, im, wr, wi, n), 1e-13);
    }
    memset(A, 0, sizeof A);
    for (uint32_t i = 0; i < 5; i++) // a triangle, upside down: all values stand alone
        for (uint32_t k = 0; k <= i; k++) A[i * 5 + k] = i == k ? i : 1;
    assert_true(tr_eigenvalues(A, 5, re, im));
    for (uint32_t i = 0; i < 5; i++) wr[i] = i;
    assert_true(apart(re, im, wr, wi, 5) == 0);
    A[0] = (double)NAN;
    assert_false(tr_eigenvalues(A, 5, re, im));
}

static void test_balance(void **state)
{
    (void)state;
    double A[4] = {0, 0x1p40, -0x1p-40, 0}, D[2];
    tr_balance(A, 2, D);
    assert_true(fabs(A[1]) == 1 && fabs(A[2]) == 1 && D[0] / D[1] == 0x1p40);
}

// ---- exponentials --------------------------------------------------------------------------

// Units in the last place, of a number of the size of `size`
static double ulps(double a, long double b, double size)
{
    return (double)(fabsl((long double)a - b) / (long double)(DBL_EPSILON * fmax(size, 1e-290)));
}

// An oscillator, from slow to fast and over up to a million radians
static void test_oscillators(void **state)
{
    (void)state;
    static const double squares[] = {1e-6, 1, 7569, 1e8, 1e12};
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        for (double t = 1e-9; t < 2e1; t *= 7) {
            const double A[4] = {0, 1, -squares[i], 0};
            const long double w = sqrtl((long double)squares[i]), angle = w * (long double)t;
            double E[4];
            if ((double)angle > 1e6) continue;
            assert_true(tr_exponential(A, 2, t, E));
            // long double knows the sine of a large angle to angle * 2^-64
            const double doubt = (double)angle * 0x1p-11;
            assert_below(ulps(E[0], cosl(angle), 1), 1 + doubt);
            assert_below(ulps(E[3], cosl(angle), 1), 1 + doubt);
            assert_below(ulps(E[1] * (double)w, sinl(angle), 1), 2 + doubt);
            assert_below(ulps(E[2] / (double)w, -sinl(angle), 1), 2 + doubt);
        }
}

// [a b; 0 d]: e^a, e^d, b (e^a - e^d) / (a - d): stiff, and not normal by far
static void test_triangles(void **state)
{
    (void)state;
    static const double rows[][3] = {{-1, 1e8, -1e6}, {-3, 1e10, -3.5},  {2, -7, -700},
                                     {0, 1e-9, 40},   {-50, 1e20, 1e-3}, {-1e-8, 3, -2e-8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double A[4] = {rows[i][0], rows[i][1], 0, rows[i][2]};
        const long double a = (long double)A[0], b = (long double)A[1], d = (long double)A[3];
        const long double mean = expl((a + d) / 2), h = (a - d) / 2;
        const long double corner =
            fabsl(h) < 1000 ? b * mean * sinhl(h) / h : b * (expl(a) - expl(d)) / (2 * h);
        double E[4];
        assert_true(tr_exponential(A, 2, 1, E));
        assert_below(ulps(E[0], expl(a), exp(A[0])), 2);
        assert_below(ulps(E[3], expl(d), exp(A[3])), 2);
        assert_below(ulps(E[1], corner, (double)fabsl(corner)), 2);
        assert_true(E[2] == 0);
    }
}

// exp(A) in pairs, E = sum A^k / k!, is known to be right where nothing cancels: A >= 0
static void test_positive(void **state)
{
    (void)state;
    Random r = {19};
    for (int trial = 0; trial < 50; trial++) {
        enum { N = 6 };
        double A[N * N], E[N * N];
        long double sum[N * N], term[N * N], next[N * N];
        for (int i = 0; i < N * N; i++) {
            A[i] = random_between(&r, 0, 2), sum[i] = term[i] = i % (N + 1) == 0;
        }
        for (int k = 1; k < 120; k++) {
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    next[i * N + j] = 0;
                    for (int l = 0; l < N; l++)
                        next[i * N + j] += term[i * N + l] * (long double)A[l * N + j] / k;
                }
            for (int i = 0; i < N * N; i++) term[i] = next[i], sum[i] += term[i];
        }
        assert_true(tr_exponential(A, N, 1, E));
        for (int i = 0; i < N * N; i++) assert_below(ulps(E[i], sum[i], E[i]), 2);
    }
}

static void test_exponential_overflows(void **state)
{
    (void)state;
    const double A[4] = {800, 0, 0, 1};
    double E[4];
    assert_true(tr_exponential(A, 2, 1, E));
    assert_false(all_finite(E, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_envelope),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_independence),
        cmocka_unit_test(test_clear_rank),
        cmocka_unit_test(test_gauss),
        cmocka_unit_test(test_determinant),
        cmocka_unit_test(test_singular_values),
        cmocka_unit_test(test_graded),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_least_squares),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_shortest),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_overdetermined),
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_known_eigenvalues),
        cmocka_unit_test(test_balance),
        cmocka_unit_test(test_oscillators),
        cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_positive),
        cmocka_unit_test(test_exponential_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
