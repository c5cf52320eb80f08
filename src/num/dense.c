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

// The row, among the first `choice`, whose part from column k on is largest
static uint32_t largest_row(const double *Z, uint32_t columns, uint32_t choice, uint32_t k,
                            double alike)
{
    uint32_t best = 0;
    double most = -1;
    for (uint32_t i = 0; i < choice; i++) {
        const double size = tr_norm(Z + (size_t)i * columns + k, columns - k);
        if (size > most * (1 + alike)) best = i, most = size;
    }
    return best;
}

// Turns column k and others behind it so that a row has nothing in those.
static void turn_onto(double *Z, uint32_t rows, uint32_t columns, uint32_t row, uint32_t k)
{
    for (uint32_t c = k + 1; c < columns; c++) {
        const double a = Z[row * columns + k], b = Z[row * columns + c], size = sqrt(a * a + b * b);
        if (b == 0) continue;
        for (uint32_t i = 0; i < rows; i++) {
            double *x = &Z[i * columns + k], *y = &Z[i * columns + c];
            const double along = (a * *x + b * *y) / size, across = (a * *y - b * *x) / size;
            *x = along, *y = across;
        }
        Z[row * columns + c] = 0;
    }
}

void tr_give_rows(double *Z, uint32_t rows, uint32_t columns, uint32_t choice, double alike,
                  uint32_t *own)
{
    for (uint32_t k = 0; k < columns; k++) {
        own[k] = largest_row(Z, columns, choice, k, alike);
        turn_onto(Z, rows, columns, own[k], k);
    }
    for (uint32_t k = columns; k-- > 0;) { // on their rows it is a lower triangle: then 1
        const double pivot = Z[own[k] * columns + k];
        for (uint32_t i = 0; i < rows; i++) Z[i * columns + k] /= pivot;
        for (uint32_t c = 0; c < k; c++) {
            const double f = Z[own[k] * columns + c];
            for (uint32_t i = 0; i < rows; i++) Z[i * columns + c] -= f * Z[i * columns + k];
        }
    }
}
