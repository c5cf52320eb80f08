// SPDX-License-Identifier: Apache-2.0
// Sums run in the order of their terms, so that results are the same on every machine; a library
// of linear algebra may choose its own.
#include "num/dense.h"

#include <math.h>
#include <string.h>

void tr_multiply(const double *A, const double *B, uint32_t m, uint32_t k, uint32_t n, double *C)
{
    if (m && n) memset(C, 0, (size_t)m * n * sizeof *C);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t l = 0; l < k; l++) {
            const double a = A[(size_t)i * k + l];
            for (uint32_t j = 0; j < n; j++) C[(size_t)i * n + j] += a * B[(size_t)l * n + j];
        }
}

void tr_multiply_transposed(const double *A, const double *B, uint32_t m, uint32_t k, uint32_t n,
                            double *C)
{
    if (m && n) memset(C, 0, (size_t)m * n * sizeof *C);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t l = 0; l < k; l++) {
            const double a = A[(size_t)l * m + i];
            for (uint32_t j = 0; j < n; j++) C[(size_t)i * n + j] += a * B[(size_t)l * n + j];
        }
}

void tr_transpose(const double *A, uint32_t rows, uint32_t columns, double *out)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++)
            out[(size_t)j * rows + i] = A[(size_t)i * columns + j];
}

double tr_largest(const double *x, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = larger(most, fabs(x[i]));
    return most;
}

double tr_norm(const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

void tr_give_rows(double *Z, uint32_t rows, uint32_t columns, uint32_t choice, double alike,
                  uint32_t *own)
{
    for (uint32_t k = 0; k < columns; k++) {
        uint32_t best = 0;
        double size = -1;
        for (uint32_t i = 0; i < choice; i++)
            if (fabs(Z[i * columns + k]) > size * (1 + alike))
                best = i, size = fabs(Z[i * columns + k]);
        if (own) own[k] = best;
        const double pivot = Z[best * columns + k];
        for (uint32_t i = 0; i < rows; i++) Z[i * columns + k] /= pivot;
        for (uint32_t c = 0; c < columns; c++) {
            const double f = Z[best * columns + c];
            for (uint32_t i = 0; c != k && i < rows; i++)
                Z[i * columns + c] -= f * Z[i * columns + k];
        }
    }
}
