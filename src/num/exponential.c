// SPDX-License-Identifier: Apache-2.0
// exp(X) = (exp(X / 2^s))^(2^s), with X balanced first and its first terms of
//
//   exp(Y) = 1 + Y (1 + Y/2 (1 + Y/3 (...)))
//
// Every squaring doubles an error. So numbers are carried as pairs hi + lo, of twice the digits
// (Dekker, 1971): what is left of them after the last squaring is enough for a rounded result
// (T102).
#include "num/exponential.h"

#include "num/dense.h"
#include "num/eigenvalue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 16 };
#define SMALL 0x1p-5 // |Y|: the first term that is left out is 2^-133

typedef struct Pair {
    double hi, lo;
} Pair;

static Pair pair_of(double a, double b) // |a| >= |b|
{
    const double hi = a + b;
    return (Pair){hi, b - (hi - a)};
}

// sum + a b
static Pair add_product(Pair sum, Pair a, Pair b)
{
    const double p = a.hi * b.hi, p_lo = fma(a.hi, b.hi, -p) + (a.hi * b.lo + a.lo * b.hi);
    const double hi = sum.hi + p, back = hi - sum.hi;
    const double lo = (sum.hi - (hi - back)) + (p - back);
    return pair_of(hi, lo + (sum.lo + p_lo));
}

static Pair over(Pair a, double b)
{
    const double hi = a.hi / b;
    return pair_of(hi, (fma(-hi, b, a.hi) + a.lo) / b);
}

// C = A B
static void multiply(const Pair *A, const Pair *B, uint32_t n, Pair *C)
{
    memset(C, 0, (size_t)n * n * sizeof *C);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t l = 0; l < n; l++) {
            const Pair a = A[(size_t)i * n + l];
            if (a.hi == 0) continue;
            Pair *c = C + (size_t)i * n;
            for (uint32_t j = 0; j < n; j++) c[j] = add_product(c[j], a, B[(size_t)l * n + j]);
        }
}

static double norm_of(const double *A, uint32_t n)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++) sum += fabs(A[(size_t)i * n + j]);
        most = larger(most, sum);
    }
    return most;
}

// E = exp(X) by its first terms
static void sum_terms(const Pair *X, uint32_t n, Pair *E, Pair *room)
{
    const size_t all = (size_t)n * n;
    memset(E, 0, all * sizeof *E);
    for (uint32_t i = 0; i < n; i++) E[(size_t)i * n + i].hi = 1;
    for (int k = TERMS; k > 0; k--) { // E = 1 + X E / k
        multiply(X, E, n, room);
        for (size_t i = 0; i < all; i++) E[i] = over(room[i], k);
        for (uint32_t i = 0; i < n; i++) {
            Pair *e = &E[(size_t)i * n + i];
            *e = add_product((Pair){1, 0}, *e, (Pair){1, 0});
        }
    }
}

static void square(Pair *E, uint32_t n, int times, Pair *room)
{
    for (int i = 0; i < times; i++) {
        multiply(E, E, n, room);
        memcpy(E, room, (size_t)n * n * sizeof *E);
    }
}

// exp(t A) of a balanced A into E
static void take_exponential(const double *A, uint32_t n, double t, Pair *X, double *E)
{
    const size_t all = (size_t)n * n;
    const double norm = fabs(t) * norm_of(A, n);
    int times = 0;
    if (norm > SMALL) frexp(norm / SMALL, &times); // 0, too, of what is not finite
    for (size_t i = 0; i < all; i++) {             // t A, exactly
        const double hi = t * A[i];
        X[i] = (Pair){ldexp(hi, -times), ldexp(fma(t, A[i], -hi), -times)};
    }
    sum_terms(X, n, X + all, X + 2 * all);
    square(X + all, n, times, X + 2 * all);
    for (size_t i = 0; i < all; i++) E[i] = X[all + i].hi;
}

bool tr_exponential(const double *A, uint32_t n, double t, double *E)
{
    const size_t all = (size_t)n * n;
    Pair *X = calloc(3 * all + 1, sizeof *X);
    double *D = malloc((n + 1u) * sizeof *D);
    const bool good = X && D;
    if (good && E != A) memcpy(E, A, all * sizeof *E);
    if (good) tr_balance(E, n, D);
    if (good) take_exponential(E, n, t, X, E);
    for (uint32_t i = 0; good && i < n; i++)
        for (uint32_t j = 0; j < n; j++) E[(size_t)i * n + j] *= D[i] / D[j];
    free(X);
    free(D);
    return good;
}
