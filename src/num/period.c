// SPDX-License-Identifier: Apache-2.0
#include "num/period.h"

#include <math.h>
#include <stdbool.h>

#define MOST_PART  1e6 // of a fraction
#define MOST_WHOLE 0x1p53

// A fraction that is this number, by its continued fraction: 3/200 of 0.015                (T321)
static bool as_fraction(double x, double *over, double *under)
{
    double p = 1, q = 0, before_p = 0, before_q = 1, rest = x;
    for (int i = 0; i < 20; i++) {
        const double whole = floor(rest), next_p = whole * p + before_p,
                     next_q = whole * q + before_q;
        if (!(next_p <= MOST_PART && next_q <= MOST_PART)) return false;
        before_p = p, before_q = q, p = next_p, q = next_q;
        if (p / q == x) return *over = p, *under = q, true;
        if (!(rest > whole)) return false;
        rest = 1 / (rest - whole);
    }
    return false;
}

Period tr_period_of(double seconds)
{
    Period period = {.seconds = seconds};
    if (!as_fraction(seconds, &period.over, &period.under)) period.over = period.under = 0;
    return period;
}

double tr_period_time(const Period *period, double k)
{
    return period->under > 0 ? k * period->over / period->under : k * period->seconds;
}

static double common_divisor(double a, double b)
{
    while (b > 0) {
        const double left = fmod(a, b);
        a = b, b = left;
    }
    return a;
}

// Of p/q and r/s in lowest terms: the least multiple of p and r over the greatest divisor of q and
// s
Period tr_period_common(Period a, Period b)
{
    Period common = {0};
    if (!(a.under > 0) || !(b.under > 0)) return common;
    const double over = a.over / common_divisor(a.over, b.over) * b.over;
    if (!(over < MOST_WHOLE)) return common;
    common.over = over, common.under = common_divisor(a.under, b.under);
    common.seconds = over / common.under;
    return common;
}
