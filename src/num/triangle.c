// SPDX-License-Identifier: Apache-2.0
// By rotations of one row of the triangle and the new one, each of which makes one entry of the
// latter zero.
#include "num/triangle.h"

#include <math.h>

// sqrt(a^2 + b^2) without squares that are too large or too small
static double length_of(double a, double b)
{
    const double x = fabs(a), y = fabs(b), most = x > y ? x : y, least = x > y ? y : x;
    const double part = most > 0 ? least / most : 0;
    return most * sqrt(1 + part * part);
}

// (r, a) becomes (c r + s a, c a - s r), so that a_k = 0                                    (T280)
void tr_triangle_add(double *R, uint32_t n, double *row)
{
    for (uint32_t k = 0; k < n; k++) {
        double *r = R + (uint64_t)k * n;
        if (row[k] == 0) continue;
        const double length = length_of(r[k], row[k]), c = r[k] / length, s = row[k] / length;
        for (uint32_t i = k; i < n; i++) {
            const double was = r[i];
            r[i] = c * was + s * row[i];
            row[i] = c * row[i] - s * was;
        }
    }
}

void tr_triangle_merge(double *R, uint32_t n, const double *other, double factor, double *room)
{
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < n; i++) room[i] = factor * other[(uint64_t)k * n + i];
        tr_triangle_add(R, n, room);
    }
}

double tr_triangle_norm(const double *R, uint32_t n, uint32_t column)
{
    double norm = 0;
    for (uint32_t k = 0; k <= column; k++) norm = length_of(norm, R[(uint64_t)k * n + column]);
    return norm;
}
