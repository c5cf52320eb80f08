// SPDX-License-Identifier: Apache-2.0
// Linear models without displacements that change nothing: with Z the directions among
// displacements that A keeps to themselves, and J displacements that stand for them, Z_J = 1, what
// is left is x_K - Z_K x_J (T100).
#include "linear/linear.h"
#include "num/dense.h"
#include "num/singular.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STILL    1e-11 // against the largest entry of A
#define ROUNDING 1e-14
#define SMALL    1e-8 // of an output, against its largest entry

// The part of A Z outside of Z, for orthonormal columns Z: n * s
static void outside(const Linear *l, const double *Z, uint32_t s, double *R)
{
    const uint32_t n = l->states;
    tr_multiply(l->A, Z, n, n, s, R);
    for (uint32_t k = 0; k < s; k++) {
        for (int twice = 0; twice < 2; twice++)
            for (uint32_t c = 0; c < s; c++) {
                double along = 0;
                for (uint32_t i = 0; i < n; i++) along += Z[i * s + c] * R[i * s + k];
                for (uint32_t i = 0; i < n; i++) R[i * s + k] -= along * Z[i * s + c];
            }
    }
}

// The directions among displacements that A keeps to themselves, to within a limit of what it makes
// of them: Z_{k+1} = {z in Z_k: A z in Z_k}. Returns their number; Z by rows of `*count`.
static bool find_symmetries(const Linear *l, double limit, double *Z, uint32_t *count)
{
    const uint32_t n = l->states;
    uint32_t s = l->displacements;
    double *R = malloc(((size_t)n * n + 1) * sizeof *R),
           *V = malloc(((size_t)n * n + 1) * sizeof *V),
           *next = malloc(((size_t)n * n + 1) * sizeof *next),
           *sigma = malloc(((size_t)n + 1) * sizeof *sigma);
    bool good = R && V && next && sigma, changed = true;
    for (uint32_t i = 0; good && i < n * s; i++) Z[i] = i / s == i % s;
    while (good && s && changed) {
        uint32_t rank = 0;
        outside(l, Z, s, R);
        good = tr_singular(R, n, s, sigma, NULL, V);
        while (rank < s && rank < n && sigma[rank] > limit) rank++;
        changed = rank > 0;
        const uint32_t left = s - rank;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < left; k++) {
                next[i * left + k] = 0;
                for (uint32_t j = 0; j < s; j++)
                    next[i * left + k] += Z[i * s + j] * V[(rank + k) * s + j];
            }
        memcpy(Z, next, (size_t)n * left * sizeof *Z);
        s = left;
    }
    *count = s;
    free(R);
    free(V);
    free(next);
    free(sigma);
    return good;
}

// x_K - Z_K x_J of a column with a given stride
static double projected(const double *column, size_t stride, const double *Z, uint32_t s,
                        const uint32_t *J, uint32_t row)
{
    double sum = column[row * stride];
    for (uint32_t k = 0; k < s; k++) sum -= Z[row * s + k] * column[J[k] * stride];
    return sum;
}

static bool is_listed(const uint32_t *list, uint32_t count, uint32_t x)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == x) return true;
    return false;
}

// Whether an output does not change along the symmetries
static bool is_invariant(const Linear *l, uint32_t output, const double *Z, uint32_t s)
{
    const double *row = l->C + (size_t)output * l->states;
    const double limit = SMALL * (tr_largest(row, l->states) + 1e-300);
    for (uint32_t k = 0; k < s; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < l->states; i++) sum += row[i] * Z[i * s + k];
        if (fabs(sum) > limit) return false;
    }
    return true;
}

static Linear *without(const Linear *l, const double *Z, uint32_t s, const uint32_t *J)
{
    const uint32_t n = l->states, m = l->inputs;
    uint32_t *K = calloc(n + l->outputs + 1u, sizeof *K), *Y = K ? K + n : NULL, left = 0, y = 0;
    for (uint32_t i = 0; K && i < n; i++)
        if (!is_listed(J, s, i)) K[left++] = i;
    for (uint32_t i = 0; K && i < l->outputs; i++)
        if (is_invariant(l, i, Z, s)) Y[y++] = i;
    Linear *out = K ? tr_linear_new(left, m, y) : NULL;
    if (out) out->displacements = l->displacements - s;
    for (uint32_t i = 0; out && i < left; i++) {
        out->state[i] = tr_linear_keep(out, l->state[K[i]]);
        if (l->state_of) out->state_of[i] = l->state_of[K[i]];
        for (uint32_t j = 0; j < left; j++)
            out->A[i * left + j] = projected(l->A + K[j], n, Z, s, J, K[i]);
        for (uint32_t j = 0; j < m; j++) out->B[i * m + j] = projected(l->B + j, m, Z, s, J, K[i]);
    }
    for (uint32_t i = 0; out && i < m; i++) {
        out->input[i] = tr_linear_keep(out, l->input[i]);
        if (l->input_of) out->input_of[i] = l->input_of[i];
    }
    for (uint32_t i = 0; out && i < y; i++) {
        out->output[i] = tr_linear_keep(out, l->output[Y[i]]);
        for (uint32_t j = 0; j < left; j++) out->C[i * left + j] = l->C[Y[i] * n + K[j]];
        for (uint32_t j = 0; j < m; j++) out->D[i * m + j] = l->D[Y[i] * m + j];
    }
    free(K);
    if (!out || tr_linear_has_names(out) || !tr_linear_has_names(l)) return out;
    tr_linear_free(out);
    return NULL;
}

Linear *tr_linear_reduced(const Linear *l, uint32_t least, tr_error *err)
{
    if (!l || has_failed(err)) return NULL;
    const double size = fmax(tr_largest(l->A, (size_t)l->states * l->states), 1e-300);
    double *Z = calloc((size_t)l->states * l->states + 1, sizeof *Z), limit = STILL * size;
    uint32_t *J = calloc(l->states + 1u, sizeof *J), s = 0;
    Linear *out = NULL;
    bool good = Z && J && find_symmetries(l, limit, Z, &s);
    while (good && l->states - s < least && limit > ROUNDING * size)
        good = find_symmetries(l, limit /= 10, Z, &s);
    if (good) {
        tr_give_rows(Z, l->states, s, l->displacements, 1e-9, J); // Z_J = 1
        out = without(l, Z, s, J);
    }
    if (!out) tr_fail_memory(err);
    free(Z);
    free(J);
    return out;
}
