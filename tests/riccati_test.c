// SPDX-License-Identifier: Apache-2.0
// Riccati equations against closed forms and against Kleinman's iteration, which solves a linear
// equation for P at each step, here by Gauss on all of its entries at once.
#include "gauss.h"
#include "linear/modes.h"
#include "linear/riccati.h"
#include "test.h"

#include <lapacke.h>

enum { MOST = 8 };

// ---- an oracle -----------------------------------------------------------------------------

// F^T P + P F = -W, or F^T P F - P = -W
static void lyapunov(const double *F, const double *W, int n, bool discrete, double *P)
{
    const int N = n * n;
    double *M = calloc((size_t)N * (size_t)N, sizeof *M);
    assert_non_null(M);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double *row = M + (size_t)(i * n + j) * (size_t)N;
            for (int k = 0; k < n; k++) {
                if (!discrete)
                    row[k * n + j] += F[k * n + i], row[i * n + k] += F[k * n + j];
                else
                    for (int l = 0; l < n; l++) row[k * n + l] += F[k * n + i] * F[l * n + j];
            }
            if (discrete) row[i * n + j] -= 1;
            P[i * n + j] = -W[i * n + j];
        }
    gauss(N, N, M, P);
    free(M);
}

// The gain of P, for one or two inputs
static void gain(const Regulator *r, const double *P, double *K)
{
    const int n = (int)r->n, m = (int)r->m;
    double S[4], BP[2 * MOST], T[2 * MOST];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            BP[i * n + j] = 0;
            for (int k = 0; k < n; k++) BP[i * n + j] += r->B[k * m + i] * P[k * n + j];
        }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            S[i * m + j] = r->R[i * m + j];
            for (int k = 0; k < n && r->discrete; k++)
                S[i * m + j] += BP[i * n + k] * r->B[k * m + j];
        }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            T[i * n + j] = r->discrete ? 0 : BP[i * n + j];
            for (int k = 0; k < n && r->discrete; k++)
                T[i * n + j] += BP[i * n + k] * r->A[k * n + j];
        }
    for (int j = 0; j < n; j++) {
        double copy[4], x[2];
        memcpy(copy, S, sizeof copy);
        for (int i = 0; i < m; i++) x[i] = T[i * n + j];
        gauss(m, m, copy, x);
        for (int i = 0; i < m; i++) K[i * n + j] = x[i];
    }
}

static void loop_of(const Regulator *r, const double *K, double *F)
{
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t j = 0; j < r->n; j++) {
            F[i * r->n + j] = r->A[i * r->n + j];
            for (uint32_t k = 0; k < r->m; k++)
                F[i * r->n + j] -= r->B[i * r->m + k] * K[k * r->n + j];
        }
}

// From a gain that is stable to the best one
static void kleinman(const Regulator *r, double *K, double *P)
{
    const int n = (int)r->n, m = (int)r->m;
    double F[MOST * MOST], W[MOST * MOST];
    for (int step = 0; step < 40; step++) {
        loop_of(r, K, F);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                W[i * n + j] = r->Q[i * n + j];
                for (int k = 0; k < m; k++)
                    for (int l = 0; l < m; l++)
                        W[i * n + j] += K[k * n + i] * r->R[k * m + l] * K[l * n + j];
            }
        lyapunov(F, W, n, r->discrete, P);
        gain(r, P, K);
    }
}

// The largest real part, or size, of the eigenvalues
static double worst_eigenvalue(const double *F, uint32_t n, bool discrete)
{
    double copy[MOST * MOST], re[MOST], im[MOST], worst = -(double)INFINITY;
    memcpy(copy, F, n * n * sizeof *copy);
    const lapack_int N = (lapack_int)n;
    assert_int_equal(
        LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', N, copy, N, re, im, NULL, N, NULL, N), 0);
    for (uint32_t i = 0; i < n; i++) worst = fmax(worst, discrete ? hypot(re[i], im[i]) : re[i]);
    return worst;
}

// ---- closed forms --------------------------------------------------------------------------

static void test_scalar(void **state)
{
    (void)state;
    double P, K;
    for (int i = 0; i < 40; i++) {
        const double a = -2 + 0.1 * i, b = 0.5 + 0.2 * i, q = 0.3 * (i + 1), w = 2.0 / (i + 1);
        tr_error err = {0};
        const Regulator r = {1, 1, false, &a, &b, &q, &w};
        assert_true(tr_riccati_solve(&r, &P, &K, &err));
        // 2 a p - p^2 b^2 / r + q = 0
        const double p = w * (a + sqrt(a * a + q * b * b / w)) / (b * b);
        assert_close(P / p, 1, 1e-13);
        assert_close(K, b * p / w, 1e-13);
        assert_below(tr_riccati_residual(&r, &P), 1e-14);
        assert_true(tr_riccati_residual(&r, &(double){1.01 * P}) > 1e-4);
        const Regulator d = {1, 1, true, &a, &b, &q, &w};
        assert_true(tr_riccati_solve(&d, &P, &K, &err));
        // b^2 p^2 + (r (1 - a^2) - q b^2) p - q r = 0
        const double h = w * (1 - a * a) - q * b * b;
        const double pd = (-h + sqrt(h * h + 4 * b * b * q * w)) / (2 * b * b);
        assert_close(P / pd, 1, 1e-12);
        assert_close(K, a * b * pd / (w + b * b * pd), 1e-12);
    }
}

// A mass that is pushed: K = (sqrt(q), sqrt(q_v + 2 sqrt(q))) for r = 1
static void test_double_integrator(void **state)
{
    (void)state;
    const double A[] = {0, 1, 0, 0}, B[] = {0, 1}, R[] = {1};
    for (int i = -3; i <= 3; i++) {
        const double q = pow(10, i), Q[] = {q, 0, 0, 2};
        double P[4], K[2];
        tr_error err = {0};
        const Regulator r = {2, 1, false, A, B, Q, R};
        assert_true(tr_riccati_solve(&r, P, K, &err));
        assert_close(K[0] / sqrt(q), 1, 1e-12);
        assert_close(K[1], sqrt(2 + 2 * sqrt(q)), 1e-12);
        assert_close(P[1], P[2], 0);
        assert_close(P[0], sqrt(q) * K[1], 1e-12);
    }
}

// ---- random systems ------------------------------------------------------------------------

typedef struct Plant {
    double A[MOST * MOST], B[2 * MOST], Q[MOST * MOST], R[4];
    Regulator r;
} Plant;

static void make_plant(Plant *p, Random *random, uint32_t n, uint32_t m, bool discrete)
{
    double L[MOST * MOST];
    for (uint32_t i = 0; i < n * n; i++) p->A[i] = random_between(random, -1, 1);
    for (uint32_t i = 0; i < n * m; i++) p->B[i] = random_between(random, -1, 1);
    for (uint32_t i = 0; i < n * n; i++) L[i] = random_between(random, -1, 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            p->Q[i * n + j] = i == j ? 0.1 : 0;
            for (uint32_t k = 0; k < n; k++) p->Q[i * n + j] += L[i * n + k] * L[j * n + k];
        }
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < m; j++) p->R[i * m + j] = i == j ? 1 + i : 0.3;
    p->r = (Regulator){n, m, discrete, p->A, p->B, p->Q, p->R};
}

static void test_random(void **state)
{
    (void)state;
    Random random = {20240607};
    int compared = 0;
    for (int trial = 0; trial < 400; trial++) {
        Plant plant;
        double P[MOST * MOST], K[2 * MOST], F[MOST * MOST], other[MOST * MOST], start[2 * MOST];
        const uint32_t n = 1 + random_below(&random, MOST - 1), m = 1 + random_below(&random, 2);
        const bool discrete = trial % 2;
        tr_error err = {0};
        make_plant(&plant, &random, n, m, discrete);
        assert_true(tr_riccati_solve(&plant.r, P, K, &err));
        const double off = tr_riccati_residual(&plant.r, P);
        if (!is_below(off, 1e-10)) fail_msg("trial %d: n = %u, residual %g", trial, n, off);
        loop_of(&plant.r, K, F);
        const double worst = worst_eigenvalue(F, n, discrete);
        assert_true(discrete ? worst < 1 : worst < 0);
        double most = 0;
        for (uint32_t i = 0; i < n * n; i++) most = fmax(most, fabs(P[i]));
        // from another stable gain
        for (uint32_t i = 0; i < n * m; i++) start[i] = K[i] * 1.001;
        loop_of(&plant.r, start, F);
        const double begin = worst_eigenvalue(F, n, discrete);
        if (most > 1e4) continue; // hardly reached, and so known less well
        if (discrete ? begin > 0.999 : begin > -1e-3) continue; // no place to start from
        kleinman(&plant.r, start, other);
        for (uint32_t i = 0; i < n * n; i++) assert_close(P[i] / most, other[i] / most, 1e-9);
        compared++;
    }
    assert_true(compared > 350);
}

// Numbers of very different size
static void test_scales(void **state)
{
    (void)state;
    const double A[] = {0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2e4, 9.81, 0, -1e-3, 0};
    const double B[] = {0, 1e-3, 0, 2e-2};
    for (int i = -6; i <= 6; i += 2) {
        const double Q[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1e3, 0, 0, 0, 0, 1e-2};
        const double R[] = {pow(10, i)};
        double P[16], K[4], F[16];
        tr_error err = {0};
        const Regulator r = {4, 1, false, A, B, Q, R};
        assert_true(tr_riccati_solve(&r, P, K, &err));
        assert_below(tr_riccati_residual(&r, P), 1e-10);
        loop_of(&r, K, F);
        assert_true(worst_eigenvalue(F, 4, false) < 0);
    }
}

// ---- what has no solution ------------------------------------------------------------------

static void test_refused(void **state)
{
    (void)state;
    double P[4], K[2];
    const double Q[] = {1, 0, 0, 1}, R[] = {1}, B[] = {1, 0}, none[] = {0, 0, 0, 0};
    const double unstable[] = {1, 0, 0, 2}, still[] = {0, 0, 0, -1}, wrong[] = {-1};
    tr_error err = {0};
    const Regulator beyond = {2, 1, false, unstable, B, Q, R};
    assert_false(tr_riccati_solve(&beyond, P, K, &err));
    assert_int_equal(err.status, TR_FAILED);
    err = (tr_error){0};
    const Regulator unseen = {2, 1, false, still, B, none, R};
    assert_false(tr_riccati_solve(&unseen, P, K, &err));
    assert_int_equal(err.status, TR_FAILED);
    err = (tr_error){0};
    const Regulator negative = {2, 1, false, still, B, Q, wrong};
    assert_false(tr_riccati_solve(&negative, P, K, &err));
    assert_int_equal(err.status, TR_USAGE);
}

// ---- steps ---------------------------------------------------------------------------------

static void test_discretise(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        const double w = 0.3 + 3 * i, h = 0.05 * (i % 7 + 1);
        double A[] = {0, 1, -w * w, 0}, B[] = {0, 1}; // an oscillator
        const Linear oscillator = {.states = 2, .inputs = 1, .A = A, .B = B};
        assert_true(tr_linear_discretise(&oscillator, h, A, B, NULL));
        assert_close(A[0], cos(w * h), 1e-12);
        assert_close(A[1], sin(w * h) / w, 1e-12);
        assert_close(A[2] / w, -sin(w * h), 1e-12);
        assert_close(A[3], cos(w * h), 1e-12);
        assert_close(B[0], (1 - cos(w * h)) / (w * w), 1e-12);
        assert_close(B[1], sin(w * h) / w, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar),  cmocka_unit_test(test_double_integrator),
        cmocka_unit_test(test_random),  cmocka_unit_test(test_scales),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_discretise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
