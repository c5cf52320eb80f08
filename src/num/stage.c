// SPDX-License-Identifier: Apache-2.0
// fma() is a call into the library of mathematics unless the compiler may use the instruction. So
// where a machine may have it, the loops are compiled a second time (bench line "step").
#include "num/stage.h"

#include <math.h>

static inline void move_along(const double *restrict y, double h, const double *restrict k,
                              double *restrict z, size_t count)
{
    for (size_t i = 0; i < count; i++) z[i] = fma(h, k[i], y[i]);
}

static inline void move_by_four(double *restrict y, double h, const double *restrict k,
                                size_t count)
{
    const double *k2 = k + count, *k3 = k2 + count, *k4 = k3 + count;
    for (size_t i = 0; i < count; i++) y[i] += h / 6 * (k[i] + 2 * (k2[i] + k3[i]) + k4[i]);
}

#if defined(__x86_64__)
#define WITH_FMA __attribute__((target("avx2,fma")))

WITH_FMA static void along_with_fma(const double *y, double h, const double *k, double *z,
                                    size_t count)
{
    move_along(y, h, k, z, count);
}

WITH_FMA static void by_four_with_fma(double *y, double h, const double *k, size_t count)
{
    move_by_four(y, h, k, count);
}

static int has_fma(void) { return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"); }
#else
#define along_with_fma   move_along
#define by_four_with_fma move_by_four
static int has_fma(void) { return 0; }
#endif

void tr_move_along_plainly(const double *y, double h, const double *k, double *z, size_t count)
{
    move_along(y, h, k, z, count);
}

void tr_move_by_four_plainly(double *y, double h, const double *k, size_t count)
{
    move_by_four(y, h, k, count);
}

void tr_move_along(const double *y, double h, const double *k, double *z, size_t count)
{
    if (has_fma())
        along_with_fma(y, h, k, z, count);
    else
        tr_move_along_plainly(y, h, k, z, count);
}

void tr_move_by_four(double *y, double h, const double *k, size_t count)
{
    if (has_fma())
        by_four_with_fma(y, h, k, count);
    else
        tr_move_by_four_plainly(y, h, k, count);
}
