// SPDX-License-Identifier: Apache-2.0
// What the inputs of a regulator reach. Steady motions beside the given one that none does, such as
// straight running at another speed, are left alone: left vectors l with l A = 0, l B = 0, and
// right ones R with A R = 0 and L R = 1 (T106). Of others that do not decay there must be none.
#include "linear/lqr.h"

#include "linear/lapack.h"
#include "num/dense.h"
#include "num/singular.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 1e-10 // singular values that are zero, beside the largest

// ---- what the inputs reach -----------------------------------------------------------------

// The names of the states that a motion y, or y + i z, is mostly of
static void name_states(const Design *d, const double *y, const double *z, uint32_t stride,
                        double *sizes, char *line, size_t room)
{
    double most = 0;
    line[0] = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        double re = 0, im = 0;
        for (uint32_t k = 0; k < d->n; k++) {
            re += d->inverse[i * d->n + k] * y[(size_t)k * stride];
            im += z ? d->inverse[i * d->n + k] * z[(size_t)k * stride] : 0;
        }
        sizes[i] = larger(sizes[i], hypot(re, im));
        most = larger(most, sizes[i]);
    }
    for (uint32_t i = 0; i < d->n; i++)
        if (sizes[i] > 0.1 * most) tr_list_name(line, room, d->shown.state[i]);
}

static double column_size(const Design *d, uint32_t j)
{
    double sum = 0;
    for (uint32_t i = 0; i < d->n; i++) sum += d->B[i * d->m + j] * d->B[i * d->m + j];
    return sqrt(sum);
}

static double matrix_size(const Design *d)
{
    const double size = tr_norm(d->A, (size_t)d->n * d->n);
    return size > 0 ? size : 1;
}

// The smallest singular value of [A - z, B] = X + iY, beside the size of A; columns of B are made
// that size. Complex ones are those of [X -Y; Y X], twice.
static double reach_of(const Design *d, double re, double im, double *room)
{
    const uint32_t n = d->n, N = n + d->m, copies = im != 0 ? 2 : 1, width = copies * N;
    const double size = matrix_size(d);
    double sigma[2 * MOST_STATES];
    memset(room, 0, (size_t)copies * n * width * sizeof *room);
    for (uint32_t c = 0; c < copies; c++)
        for (uint32_t i = 0; i < n; i++) {
            double *row = room + (size_t)(c * n + i) * width, *X = row + c * N;
            for (uint32_t j = 0; j < n; j++) X[j] = d->A[i * n + j] - (i == j ? re : 0);
            for (uint32_t j = 0; j < d->m; j++) {
                const double length = column_size(d, j);
                X[n + j] = length > 0 ? d->B[i * d->m + j] * size / length : 0;
            }
            if (copies == 2) row[(1 - c) * N + i] = c ? -im : im;
        }
    if (!tr_singular(room, copies * n, width, sigma, NULL, NULL)) return 0;
    return sigma[copies * n - 1] / size;
}

static void refuse(const Design *d, double re, double im, const double *vectors, uint32_t k,
                   tr_error *err)
{
    char names[200], value[64];
    double *size = calloc(d->n + 1u, sizeof *size);
    const bool oscillates = im != 0;
    if (size)
        name_states(d, vectors + k, oscillates ? vectors + k + 1 : NULL, d->n, size, names,
                    sizeof names);
    if (oscillates)
        snprintf(value, sizeof value, "%.6g +- %.6gi", re, fabs(im));
    else
        snprintf(value, sizeof value, "%.6g", fabs(re) < 1e-9 ? 0 : re);
    tr_fail(err, TR_FAILED, (Place){0},
            "the inputs cannot move the eigenvalue %s, a motion mostly of %s: nothing makes it "
            "decay",
            value, size ? names : "some state");
    free(size);
}

bool tr_design_eigenvalues(const double *A, uint32_t n, double *values, double *V, tr_error *err)
{
    double *copy = malloc(((size_t)n * n + 2 * n + 1) * sizeof *copy), none;
    const Lapack *lapack = copy ? tr_lapack(err) : NULL;
    bool good = lapack != NULL;
    if (good) {
        double *re = copy + (size_t)n * n, *im = re + n;
        memcpy(copy, A, (size_t)n * n * sizeof *copy);
        good =
            lapack->dgeev(LAPACK_ROW_MAJOR, 'N', V ? 'V' : 'N', (lapack_int)n, copy, (lapack_int)n,
                          re, im, &none, (lapack_int)n, V ? V : &none, (lapack_int)n) == 0;
        for (uint32_t k = 0; k < n; k++) values[2 * k] = re[k], values[2 * k + 1] = im[k];
    }
    if (!good) tr_fail_memory(err);
    free(copy);
    return good;
}

bool tr_design_check_reach(const Design *d, bool skip_zero, tr_error *err)
{
    const uint32_t n = d->n;
    double *V = malloc(((size_t)n * n + 2 * n + 1) * sizeof *V), *z = V ? V + (size_t)n * n : NULL;
    double *room = malloc(((size_t)4 * n * (n + d->m) + 1) * sizeof *room);
    if (!V || !room) tr_fail_memory(err);
    if (V && room && tr_design_eigenvalues(d->A, n, z, V, err))
        for (uint32_t k = 0; k < n; k++) {
            const double re = z[2 * k], im = z[2 * k + 1], size = matrix_size(d);
            if (re < -1e-9 * size || im < 0 || has_failed(err)) continue;
            if (skip_zero && hypot(re, im) < 1e-6 * size) continue;
            if (reach_of(d, re, im, room) < SMALL) refuse(d, re, im, V, k, err);
        }
    free(V);
    free(room);
    return !has_failed(err);
}

// ---- steady motions beside this one --------------------------------------------------------

// Left singular vectors of [A, B] or right ones of A, by columns; from `rank` on they are made
// nothing.
static bool singular_vectors(const Design *d, bool left, double *vectors, uint32_t *rank)
{
    const uint32_t n = d->n, N = left ? n + d->m : n;
    double *M = malloc(((size_t)n * N + (size_t)n * n + n + 1) * sizeof *M);
    if (!M) return false;
    double *V = M + (size_t)n * N, *sigma = V + (size_t)n * n;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) M[i * N + j] = d->A[i * n + j];
        for (uint32_t j = n; j < N; j++)
            M[i * N + j] =
                d->B[i * d->m + j - n] * matrix_size(d) / fmax(column_size(d, j - n), 1e-300);
    }
    const bool good = tr_singular(M, n, N, sigma, left ? vectors : NULL, left ? NULL : V);
    *rank = 0;
    while (good && *rank < n && sigma[*rank] > SMALL * fmax(sigma[0], 1e-300)) (*rank)++;
    for (uint32_t i = 0; i < n && !left; i++)
        for (uint32_t j = 0; j < n; j++) vectors[i * n + j] = V[j * n + i];
    free(M);
    return good;
}

// R = V (L^T V)^+ over the right vectors from `rank` on
static bool find_motions(const Design *d, Parts *parts, uint32_t rank)
{
    const uint32_t n = d->n, s = parts->alone, v = n - rank;
    double *M = calloc((size_t)s * v + (size_t)n * s + 1, sizeof *M);
    if (!M || v < s) return free(M), false;
    double *X = M + (size_t)s * v;
    uint32_t found = 0;
    for (uint32_t i = 0; i < s; i++) {
        X[i * s + i] = 1;
        for (uint32_t j = 0; j < v; j++)
            for (uint32_t k = 0; k < n; k++)
                M[i * v + j] += parts->U[k * n + parts->kept + i] * parts->V[k * n + rank + j];
    }
    const bool good = tr_least_squares(M, s, v, X, s, 1e-6, &found);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < s; j++) {
            parts->R[i * s + j] = 0;
            for (uint32_t k = 0; k < v; k++)
                parts->R[i * s + j] += parts->V[i * n + rank + k] * X[k * s + j];
        }
    free(M);
    return good && found == s;
}

// A weight that was asked for sees one of the motions: then they are not to be left alone.
static bool is_wanted(const Design *d, const Parts *parts)
{
    for (uint32_t w = 0; w < d->weight_count; w++)
        for (uint32_t k = 0; k < parts->alone; k++) {
            double seen = 0, size = 0;
            for (uint32_t i = 0; i < d->n; i++) {
                const double r = parts->R[i * parts->alone + k];
                seen += d->weights[w].row[i] * r, size = larger(size, fabs(r));
            }
            if (d->weights[w].value > 0 && fabs(seen) > 1e-8 * size) return true;
        }
    return false;
}

bool tr_design_parts(Design *d, Parts *parts, tr_error *err)
{
    const uint32_t n = d->n;
    const size_t nn = (size_t)n * n;
    uint32_t rank = n;
    parts->U = tr_design_room(d, nn, err), parts->V = tr_design_room(d, nn, err);
    parts->R = tr_design_room(d, nn, err);
    if (!parts->R || !singular_vectors(d, true, parts->U, &parts->kept) ||
        !singular_vectors(d, false, parts->V, &rank))
        return tr_fail_memory(err), false;
    parts->alone = n - parts->kept;
    if (!parts->alone || !find_motions(d, parts, rank) || is_wanted(d, parts)) {
        parts->kept = n, parts->alone = 0; // all as it is
        for (size_t i = 0; i < nn; i++) parts->U[i] = i / n == i % n;
    }
    double *size = tr_design_room(d, n, err);
    for (uint32_t k = 0; size && k < parts->alone; k++)
        name_states(d, parts->R + k, NULL, parts->alone, size, d->neutral, sizeof d->neutral);
    d->shown.neutral = parts->alone;
    return !has_failed(err);
}
