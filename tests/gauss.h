// SPDX-License-Identifier: Apache-2.0
// Linear equations, for oracles that must not ask the library.
#ifndef TR_TESTS_GAUSS_H
#define TR_TESTS_GAUSS_H

#include <math.h>

// A x = b by elimination with row pivoting; A (n x n, by rows with `stride`) and b are used up.
static inline void gauss(int n, int stride, double *A, double *b)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i * stride + k]) > fabs(A[best * stride + k])) best = i;
        for (int j = 0; j < n && best != k; j++) {
            const double t = A[k * stride + j];
            A[k * stride + j] = A[best * stride + j], A[best * stride + j] = t;
        }
        const double t = b[k];
        b[k] = b[best], b[best] = t;
        for (int i = k + 1; i < n; i++) {
            const double l = A[i * stride + k] / A[k * stride + k];
            for (int j = k; j < n; j++) A[i * stride + j] -= l * A[k * stride + j];
            b[i] -= l * b[k];
        }
    }
    for (int k = n; k-- > 0;) {
        for (int j = k + 1; j < n; j++) b[k] -= A[k * stride + j] * b[j];
        b[k] /= A[k * stride + k];
    }
}

#endif
