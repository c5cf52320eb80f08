// SPDX-License-Identifier: Apache-2.0
// A linear model from one instant to the next, while its inputs are held (T102). Where the results
// go may be the model itself.
#include "base/error.h"
#include "run/dense.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// exp(X) by the Pade approximant of order 13 and squaring: Higham (2005). X is changed.
typedef struct Exponential {
    uint32_t n;
    double *X, *X2, *X4, *X6, *U, *V, *room;
} Exponential;

static void combine(const Exponential *e, double a6, double a4, double a2, double a0, double *out)
{
    const uint32_t n = e->n;
    for (size_t i = 0; i < (size_t)n * n; i++)
        out[i] = a6 * e->X6[i] + a4 * e->X4[i] + a2 * e->X2[i] + (i % (n + 1u) == 0 ? a0 : 0);
}

static bool approximate(const Exponential *e, tr_error *err)
{
    static const double b[] = {64764752532480000,
                               32382376266240000,
                               7771770303897600,
                               1187353796428800,
                               129060195264000,
                               10559470521600,
                               670442572800,
                               33522128640,
                               1323241920,
                               40840800,
                               960960,
                               16380,
                               182,
                               1};
    const uint32_t n = e->n;
    const size_t all = (size_t)n * n;
    tr_multiply(e->X, e->X, n, n, n, e->X2);
    tr_multiply(e->X2, e->X2, n, n, n, e->X4);
    tr_multiply(e->X2, e->X4, n, n, n, e->X6);
    combine(e, b[13], b[11], b[9], 0, e->room);
    tr_multiply(e->X6, e->room, n, n, n, e->V);
    combine(e, b[7], b[5], b[3], b[1], e->room);
    for (size_t i = 0; i < all; i++) e->V[i] += e->room[i];
    tr_multiply(e->X, e->V, n, n, n, e->U);
    combine(e, b[12], b[10], b[8], 0, e->room);
    tr_multiply(e->X6, e->room, n, n, n, e->V);
    combine(e, b[6], b[4], b[2], b[0], e->room);
    for (size_t i = 0; i < all; i++) e->V[i] += e->room[i];
    for (size_t i = 0; i < all; i++) { // (V - U) X = V + U
        e->X[i] = e->V[i] + e->U[i];
        e->V[i] -= e->U[i];
    }
    lapack_int *pivots = calloc(n + 1u, sizeof *pivots);
    const lapack_int size = (lapack_int)n;
    const bool good =
        pivots && LAPACKE_dgesv(LAPACK_ROW_MAJOR, size, size, e->V, size, pivots, e->X, size) == 0;
    if (!pivots) tr_fail_memory(err);
    free(pivots);
    return good;
}

static bool exponential(double *X, uint32_t n, tr_error *err)
{
    const size_t all = (size_t)n * n;
    double *room = calloc(6 * all + 1, sizeof *room), norm = 0;
    if (!room) return tr_fail_memory(err), false;
    const Exponential e = {
        n, X, room, room + all, room + 2 * all, room + 3 * all, room + 4 * all, room + 5 * all};
    for (uint32_t j = 0; j < n; j++) {
        double sum = 0;
        for (uint32_t i = 0; i < n; i++) sum += fabs(X[(size_t)i * n + j]);
        norm = fmax(norm, sum);
    }
    int squarings = 0;
    if (norm > 5.37) frexp(norm / 5.37, &squarings);
    for (size_t i = 0; i < all; i++) X[i] = ldexp(X[i], -squarings);
    bool good = isfinite(norm) && approximate(&e, err);
    for (int i = 0; good && i < squarings; i++) {
        tr_multiply(X, X, n, n, n, e.room);
        memcpy(X, e.room, all * sizeof *X);
    }
    for (size_t i = 0; good && i < all; i++) good = isfinite(X[i]);
    free(room);
    return good;
}

// exp(step [A B; 0 0]) = [Ad Bd; 0 1]
static bool discretise(const tr_linear *linear, double step, double *Ad, double *Bd, tr_error *err)
{
    const uint32_t n = linear->states, m = linear->inputs, all = n + m;
    double *X = calloc((size_t)all * all + 1, sizeof *X);
    for (uint32_t i = 0; X && i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            X[(size_t)i * all + j] = step * linear->A[(size_t)i * n + j];
        for (uint32_t j = 0; j < m; j++)
            X[(size_t)i * all + n + j] = step * linear->B[(size_t)i * m + j];
    }
    if (!X) tr_fail_memory(err);
    const bool good = X && (!all || exponential(X, all, err));
    for (uint32_t i = 0; good && i < n; i++) {
        memcpy(Ad + (size_t)i * n, X + (size_t)i * all, n * sizeof *Ad);
        memcpy(Bd + (size_t)i * m, X + (size_t)i * all + n, m * sizeof *Bd);
    }
    free(X);
    if (!good) // unless memory ran out
        tr_fail(err, TR_FAILED, (Place){0},
                "the linear model has no finite values after a step of %.6g s", step);
    return good;
}

bool tr_linear_discretise(const tr_linear *linear, double step, double *A, double *B, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!linear || has_failed(err)) return false;
    if (!(step > 0) || !isfinite(step)) {
        tr_fail(err, TR_USAGE, (Place){0}, "a step from one instant to the next is positive");
        return false;
    }
    return discretise(linear, step, A, B, err);
}
