// SPDX-License-Identifier: Apache-2.0
// The stable subspace of the Hamiltonian matrix, or of the symplectic pencil,
//
//   H = |  A  -G  |          |  A  0 |      | I   G  |
//       | -Q -A^T |   or     | -Q  I | - z  | 0  A^T |,    G = B R^-1 B^T
//
// from LAPACK's Schur form with the stable eigenvalues first: P = U21 U11^-1. G and Q are scaled to
// the same size beforehand. Steps of Newton's method follow, as long as they help (T104, T105).
#include "linear/riccati.h"

#include "linear/lapack.h"
#include "num/dense.h"
#include "num/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- small matrices ------------------------------------------------------------------------

static void make_symmetric(double *P, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            P[i * n + j] = P[j * n + i] = (P[i * n + j] + P[j * n + i]) / 2;
}

// ---- the gain, and what is left ------------------------------------------------------------

// K = R^-1 B^T P, or (R + B^T P B)^-1 B^T P A. `room`: m * n + m * m
static bool find_gain(const Regulator *r, const double *P, double *K, double *room)
{
    const uint32_t n = r->n, m = r->m;
    double *BP = room, *S = BP + (size_t)m * n;
    tr_multiply_transposed(r->B, P, m, n, n, BP);
    memcpy(S, r->R, (size_t)m * m * sizeof *S);
    if (!r->discrete) {
        memcpy(K, BP, (size_t)m * n * sizeof *K);
        return tr_solve_positive(S, m, K, n);
    }
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < m; j++)
            for (uint32_t k = 0; k < n; k++) S[i * m + j] += BP[i * n + k] * r->B[k * m + j];
    tr_multiply(BP, r->A, m, n, n, K);
    return tr_solve_positive(S, m, K, n);
}

void tr_riccati_loop(const Regulator *r, const double *K, double *loop)
{
    tr_multiply(r->B, K, r->n, r->m, r->n, loop);
    for (size_t i = 0; i < (size_t)r->n * r->n; i++) loop[i] = r->A[i] - loop[i];
}

// E = A^T P + P A + Q - P B K, or A^T P (A - B K) + Q - P; the size of its largest term
static double take_residual(const Regulator *r, const double *P, const double *K, double *E,
                            double *room)
{
    const uint32_t n = r->n;
    const size_t nn = (size_t)n * n;
    double *F = room, *X = F + nn, size = tr_largest(r->Q, nn);
    if (r->discrete) {
        tr_riccati_loop(r, K, F);
        tr_multiply(P, F, n, n, n, X);
        tr_multiply_transposed(r->A, X, n, n, n, E);
        size = larger(size, larger(tr_largest(E, nn), tr_largest(P, nn)));
        for (size_t i = 0; i < nn; i++) E[i] += r->Q[i] - P[i];
        return size;
    }
    tr_multiply(P, r->A, n, n, n, F);
    tr_multiply(r->B, K, n, r->m, n, X);
    tr_multiply(P, X, n, n, n, E);
    size = larger(size, larger(tr_largest(E, nn), tr_largest(F, nn)));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            E[i * n + j] = F[i * n + j] + F[j * n + i] + r->Q[i * n + j] - E[i * n + j];
    return size;
}

double tr_riccati_residual(const Regulator *r, const double *P)
{
    const size_t n = r->n, m = r->m;
    double *room = malloc((3 * n * n + 2 * m * n + m * m + 1) * sizeof *room), off = (double)NAN;
    if (!room) return off;
    double *E = room, *K = E + n * n, *more = K + m * n;
    if (find_gain(r, P, K, more)) {
        const double size = take_residual(r, P, K, E, more);
        off = tr_largest(E, n * n) / fmax(size, 1e-300);
    }
    free(room);
    return off;
}

// ---- the stable subspace -------------------------------------------------------------------

static lapack_logical is_left(const double *re, const double *im)
{
    (void)im;
    return *re < 0;
}

static lapack_logical is_inside(const double *re, const double *im, const double *below)
{
    return hypot(*re, *im) < fabs(*below);
}

// The columns of U that span it; how many there are, or -1
static int stable_continuous(const Lapack *lapack, const Regulator *r, const double *G,
                             const double *Q, double *U, double *room)
{
    const uint32_t n = r->n, N = 2 * n;
    double *H = room, *re = H + (size_t)N * N, *im = re + N;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            H[i * N + j] = r->A[i * n + j];
            H[i * N + n + j] = -G[i * n + j];
            H[(n + i) * N + j] = -Q[i * n + j];
            H[(n + i) * N + n + j] = -r->A[j * n + i];
        }
    lapack_int count = 0;
    const lapack_int status = lapack->dgees(LAPACK_ROW_MAJOR, 'V', 'S', is_left, (lapack_int)N, H,
                                            (lapack_int)N, &count, re, im, U, (lapack_int)N);
    return status ? -1 : (int)count;
}

static int stable_discrete(const Lapack *lapack, const Regulator *r, const double *G,
                           const double *Q, double *U, double *room)
{
    const uint32_t n = r->n, N = 2 * n;
    const size_t NN = (size_t)N * N;
    double *M = room, *L = M + NN, *re = L + NN, *im = re + N, *below = im + N;
    memset(M, 0, 2 * NN * sizeof *M);
    for (uint32_t i = 0; i < n; i++) {
        M[(n + i) * N + n + i] = L[i * N + i] = 1;
        for (uint32_t j = 0; j < n; j++) {
            M[i * N + j] = r->A[i * n + j];
            M[(n + i) * N + j] = -Q[i * n + j];
            L[i * N + n + j] = G[i * n + j];
            L[(n + i) * N + n + j] = r->A[j * n + i];
        }
    }
    lapack_int count = 0;
    double none;
    const lapack_int status =
        lapack->dgges(LAPACK_ROW_MAJOR, 'N', 'V', 'S', is_inside, (lapack_int)N, M, (lapack_int)N,
                      L, (lapack_int)N, &count, re, im, below, &none, 1, U, (lapack_int)N);
    return status ? -1 : (int)count;
}

// P U11 = U21, that is U11^T P = U21^T
static bool take_solution(const double *U, uint32_t n, double *P, double *room)
{
    const uint32_t N = 2 * n;
    double *T = room;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            T[i * n + j] = U[j * N + i];
            P[i * n + j] = U[(n + j) * N + i];
        }
    const bool good = tr_solve(T, n, P, n);
    make_symmetric(P, n);
    return good && isfinite(tr_largest(P, (size_t)n * n));
}

// ---- Newton's step -------------------------------------------------------------------------

// F^T X + X F = -E: with F = U T U^T. X takes the place of E.
static bool solve_lyapunov(const Lapack *lapack, double *F, uint32_t n, double *E, double *room)
{
    const lapack_int N = (lapack_int)n;
    double *U = room, *Y = U + (size_t)n * n, *re = Y + (size_t)n * n, *im = re + n, scale = 1;
    lapack_int none;
    if (lapack->dgees(LAPACK_ROW_MAJOR, 'V', 'N', NULL, N, F, N, &none, re, im, U, N)) return false;
    tr_multiply(E, U, n, n, n, Y);
    tr_multiply_transposed(U, Y, n, n, n, E);
    for (size_t i = 0; i < (size_t)n * n; i++) E[i] = -E[i];
    if (lapack->dtrsyl(LAPACK_ROW_MAJOR, 'T', 'N', 1, N, N, F, N, F, N, E, N, &scale) ||
        !(scale > 0))
        return false;
    tr_multiply(U, E, n, n, n, Y);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            E[i * n + j] = 0;
            for (uint32_t k = 0; k < n; k++) E[i * n + j] += Y[i * n + k] * U[j * n + k] / scale;
        }
    return true;
}

// F^T X F - X = -E: X = E + F^T E F + ..., by doubling. X takes the place of E.
static void solve_stein(double *F, uint32_t n, double *E, double *room)
{
    enum { DOUBLINGS = 60 };
    const size_t nn = (size_t)n * n;
    double *Y = room, *more = Y + nn;
    for (int i = 0; i < DOUBLINGS && tr_largest(F, nn) > 1e-30; i++) {
        tr_multiply(E, F, n, n, n, Y);
        tr_multiply_transposed(F, Y, n, n, n, more);
        for (size_t k = 0; k < nn; k++) E[k] += more[k];
        tr_multiply(F, F, n, n, n, Y);
        memcpy(F, Y, nn * sizeof *F);
    }
}

// P + X, where X solves the equation that is linear about P for what is left. False when that does
// not help.
static bool refine(const Lapack *lapack, const Regulator *r, double *P, double *K, double *room)
{
    const uint32_t n = r->n;
    const size_t nn = (size_t)n * n;
    double *E = room, *F = E + nn, *next = F + nn, *more = next + nn;
    const double size = take_residual(r, P, K, E, more), before = tr_largest(E, nn);
    if (before <= 1e-15 * size) return false;
    tr_riccati_loop(r, K, F);
    if (r->discrete)
        solve_stein(F, n, E, more);
    else if (!solve_lyapunov(lapack, F, n, E, more))
        return false;
    for (size_t i = 0; i < nn; i++) next[i] = P[i] + E[i];
    make_symmetric(next, n);
    if (!find_gain(r, next, K, more)) return false;
    take_residual(r, next, K, E, more);
    if (!(tr_largest(E, nn) < before)) return false;
    memcpy(P, next, nn * sizeof *P);
    return true;
}

// ---- all of it -----------------------------------------------------------------------------

static bool solve(const Regulator *r, double *P, double *K, double *room, tr_error *err)
{
    const uint32_t n = r->n, m = r->m;
    const size_t nn = (size_t)n * n;
    double *G = room, *Q = G + nn, *RB = Q + nn, *U = RB + (size_t)m * n, *more = U + 4 * nn;
    const Lapack *lapack = tr_lapack(err);
    if (!lapack) return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++) RB[j * n + i] = r->B[i * m + j];
    memcpy(more, r->R, (size_t)m * m * sizeof *more);
    if (!tr_solve_positive(more, m, RB, n)) {
        tr_fail(err, TR_USAGE, (Place){0}, "weights of inputs must be positive");
        return false;
    }
    tr_multiply(r->B, RB, n, m, n, G);
    const double q = tr_largest(r->Q, nn), g = tr_largest(G, nn);
    const double scale = q > 0 && g > 0 ? sqrt(q / g) : 1; // of P
    for (size_t i = 0; i < nn; i++) G[i] *= scale, Q[i] = r->Q[i] / scale;
    const int count = r->discrete ? stable_discrete(lapack, r, G, Q, U, more)
                                  : stable_continuous(lapack, r, G, Q, U, more);
    if (count != (int)n || !take_solution(U, n, P, more)) {
        tr_fail(err, TR_FAILED, (Place){0},
                "the Riccati equation has no stabilising solution: the inputs do not reach, or the "
                "weights do not see, a motion that does not decay");
        return false;
    }
    for (size_t i = 0; i < nn; i++) P[i] *= scale;
    for (int i = 0; i < 5 && find_gain(r, P, K, more); i++)
        if (!refine(lapack, r, P, K, more)) break;
    return find_gain(r, P, K, more);
}

bool tr_riccati_solve(const Regulator *r, double *P, double *K, tr_error *err)
{
    const size_t n = r->n, m = r->m;
    if (has_failed(err) || !n) return !has_failed(err);
    double *room = calloc(20 * n * n + 3 * m * n + m * m + 8 * n + 1, sizeof *room);
    const bool good = room && solve(r, P, K, room, err);
    if (!good) tr_fail_memory(err); // unless there are better words
    free(room);
    return good;
}
