// SPDX-License-Identifier: Apache-2.0
// elementary.h against the C library: at most 2 ulp apart everywhere (the measured distances are
// printed), special values bit for bit, and a checksum of results that no compiler may change.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../src/expr/elementary.h"

typedef struct Function {
    const char *name;
    double (*ours)(double x, double y), (*theirs)(double x, double y);
    double from, to;   // where it is used most
    uint64_t checksum; // of the results, see same_bits_everywhere
} Function;

// Far from zero glibc's double functions lose the remainder: cos(0x1.4c96c11134d36p+577) is wrong
// by 102816 ulp in 2.36. Its long double ones are right there.
#define FAR(f, x) (fabs(x) < 0x1p28 ? f(x) : (double)f##l((long double)(x)))

#define UNARY(f, reference)                                                  \
    static double our_##f(double x, double y) { return (void)y, el_##f(x); } \
    static double their_##f(double x, double y) { return (void)y, reference; }
UNARY(sin, FAR(sin, x))
UNARY(cos, FAR(cos, x))
UNARY(tan, FAR(tan, x))
UNARY(asin, asin(x))
UNARY(acos, acos(x))
UNARY(atan, atan(x))
UNARY(exp, exp(x))
UNARY(log, log(x))
static double our_atan2(double x, double y) { return el_atan2(y, x); }
static double their_atan2(double x, double y) { return atan2(y, x); }
static double our_hypot(double x, double y) { return el_hypot(x, y); }
static double their_hypot(double x, double y) { return hypot(x, y); }

// clang-format off
enum { SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2, HYPOT, EXP, LOG, FUNCTIONS };
static const Function functions[FUNCTIONS] = {
    [SIN]   = {"sin",   our_sin,   their_sin,    -10.0,  10.0, 0xd38224ce640f10e8},
    [COS]   = {"cos",   our_cos,   their_cos,    -10.0,  10.0, 0xb36814653f5cab82},
    [TAN]   = {"tan",   our_tan,   their_tan,    -10.0,  10.0, 0x231130bada46d2cc},
    [ASIN]  = {"asin",  our_asin,  their_asin,    -1.0,   1.0, 0xc5820bafd6e8a6c6},
    [ACOS]  = {"acos",  our_acos,  their_acos,    -1.0,   1.0, 0xa8efd7b3dcd04fdf},
    [ATAN]  = {"atan",  our_atan,  their_atan,    -4.0,   4.0, 0x5039d86d0ef5c6fa},
    [ATAN2] = {"atan2", our_atan2, their_atan2,   -4.0,   4.0, 0xe40990e5e5360c74},
    [HYPOT] = {"hypot", our_hypot, their_hypot,   -4.0,   4.0, 0x13e41aa0892d9698},
    [EXP]   = {"exp",   our_exp,   their_exp,   -750.0, 711.0, 0x692f326b4f83bf56},
    [LOG]   = {"log",   our_log,   their_log,      0.0,   4.0, 0x321260a5ad4aec6f},
};
// clang-format on

// The worst distance met so far, and where.
typedef struct Worst {
    const Function *f;
    double ulps, x, y;
} Worst;

static uint64_t random_bits(uint64_t *state) // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

static double random_between(uint64_t *state, double from, double to)
{
    return from + (to - from) * ((double)(random_bits(state) >> 11) * 0x1p-53);
}

// +-2^e, e uniform between the two exponents
static double random_binade(uint64_t *state, int from, int to)
{
    uint64_t u = random_bits(state);
    double m = 1.0 + random_between(state, 0.0, 1.0);
    return ldexp(u >> 63 ? -m : m, from + (int)((u >> 8) % (uint64_t)(to - from + 1)));
}

// The doubles in order as integers: neighbours differ by one, -0 and +0 by none.
static int64_t position(double x)
{
    int64_t i;
    memcpy(&i, &x, sizeof i);
    return i < 0 ? INT64_MIN - i : i;
}

static double at_position(int64_t i)
{
    i = i < 0 ? INT64_MIN - i : i;
    double x;
    memcpy(&x, &i, sizeof x);
    return x;
}

static double ulps_apart(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0.0 : HUGE_VAL;
    uint64_t i = (uint64_t)position(a), j = (uint64_t)position(b);
    return (double)(position(a) > position(b) ? i - j : j - i);
}

static double error_at(const Function *f, double x, double y)
{
    return ulps_apart(f->ours(x, y), f->theirs(x, y));
}

static void try_at(Worst *worst, double x, double y)
{
    double ulps = error_at(worst->f, x, y);
    if (!(ulps > worst->ulps)) return;
    worst->ulps = ulps;
    worst->x = x;
    worst->y = y;
}

static void try_around(Worst *worst, double x, double y)
{
    for (int64_t step = -64; step <= 64; step++) {
        try_at(worst, at_position(position(x) + step), y);
        try_at(worst, at_position(position(-x) + step), y);
    }
}

static void accept(const Worst *worst)
{
    print_message("%-6s %g ulp from libm, at %a %a\n", worst->f->name, worst->ulps, worst->x,
                  worst->y);
    assert_true(worst->ulps <= 2.0);
}

// Uniform over the usual range, log-uniform over the usual binades, any bits.
static void try_random(Worst *worst, uint64_t *state, int count)
{
    const Function *f = worst->f;
    for (int i = 0; i < count; i++) {
        double y = random_between(state, f->from, f->to);
        try_at(worst, random_between(state, f->from, f->to), y);
        try_at(worst, random_between(state, 0.1 * f->from, 0.1 * f->to), y);
        try_at(worst, random_binade(state, -30, 30), random_binade(state, -30, 30));
        try_at(worst, el_double(random_bits(state)), el_double(random_bits(state)));
    }
}

static void try_multiples_of_right_angle(Worst *worst, uint64_t *state)
{
    const long double right = 1.57079632679489661923132169163975144L;
    for (int k = 0; k < 1000; k++) try_around(worst, (double)(k * right), 0.0);
    for (int i = 0; i < 2000; i++) {
        try_around(worst, (double)((long double)(random_bits(state) % 1000000) * right), 0.0);
        try_around(worst, (double)((long double)(random_bits(state) >> 20) * right), 0.0);
    }
    static const struct {
        double m;
        int e;
    } closest[] = {
        // m 2^e nearest to a multiple of pi/2 among all doubles, by continued fractions
        {6381956970095103, 797}, {6411027962775774, -47}, {6381956970095103, 798},
        {7763785107565477, -29}, {5916243447979695, 79},  {8444920710073313, 939},
        {5850965514341686, 525}, {8160885118204141, 808}, {8360820580228475, 628},
    };
    for (size_t i = 0; i < sizeof closest / sizeof closest[0]; i++)
        try_around(worst, ldexp(closest[i].m, closest[i].e), 0.0);
}

static void trigonometric(void **unused)
{
    (void)unused;
    for (int f = SIN; f <= TAN; f++) {
        Worst worst = {&functions[f], 0.0, 0.0, 0.0};
        uint64_t state = 1;
        try_random(&worst, &state, 250000);
        try_multiples_of_right_angle(&worst, &state);
        try_around(&worst, 0.0, 0.0);
        try_around(&worst, 0x1p28, 0.0); // where the other reduction begins
        for (int e = -1022; e < 1024; e++) try_around(&worst, ldexp(1.0, e), 0.0);
        accept(&worst);
    }
}

static void inverse(void **unused)
{
    (void)unused;
    static const double breaks[] = {0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 4.0 / 3.0, 2.0, 4.0, 0x1p-60};
    for (int f = ASIN; f <= ATAN; f++) {
        Worst worst = {&functions[f], 0.0, 0.0, 0.0};
        uint64_t state = 2;
        try_random(&worst, &state, 500000);
        for (size_t i = 0; i < sizeof breaks / sizeof breaks[0]; i++)
            try_around(&worst, breaks[i], 0.0);
        for (int i = 0; i < 200000; i++) try_at(&worst, 1.0 + random_binade(&state, -53, -1), 0.0);
        for (int e = -1022; e < 1024; e++) try_around(&worst, ldexp(1.0, e), 0.0);
        accept(&worst);
    }
}

// Also where the quotient meets a break of atan2, and where both are huge, tiny or far apart.
static void two_arguments_of(const Function *f)
{
    static const double breaks[] = {0.25, 0.5, 0.75, 1.0, 4.0 / 3.0, 2.0, 4.0, 0x1p-60, 0x1p60};
    Worst worst = {f, 0.0, 0.0, 0.0};
    uint64_t state = 3;
    try_random(&worst, &state, 400000);
    for (size_t i = 0; i < sizeof breaks / sizeof breaks[0]; i++)
        for (int j = 0; j < 200; j++) {
            double y = random_binade(&state, j < 100 ? -900 : -4, j < 100 ? 900 : 4);
            try_around(&worst, breaks[i] * y, y);
        }
    static const int far[] = {-1073, -1022, -800, -100, 0, 100, 800, 1023};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        for (size_t j = 0; j < sizeof far / sizeof far[0]; j++)
            for (int n = 0; n < 5000; n++) {
                double x = random_binade(&state, far[i] > 0 ? far[i] - 8 : far[i], far[i]);
                double y = random_binade(&state, far[j] > 0 ? far[j] - 8 : far[j], far[j]);
                try_at(&worst, x, y);
            }
    accept(&worst);
}

static void two_arguments(void **unused)
{
    (void)unused;
    two_arguments_of(&functions[ATAN2]);
    two_arguments_of(&functions[HYPOT]);
}

static void exponential(void **unused)
{
    (void)unused;
    Worst worst = {&functions[EXP], 0.0, 0.0, 0.0};
    uint64_t state = 4;
    try_random(&worst, &state, 400000);
    static const double limits[] = {0.0,    709.782712893384,    745.1332191019412,
                                    708.39, 708.3964185322641,   744.4400719213812,
                                    710.0,  0.34657359027997264, 746.0};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        try_around(&worst, limits[i], 0.0);
    for (int k = 0; k < 1075; k++) { // where k changes
        try_around(&worst, k * 0.6931471805599453, 0.0);
        try_around(&worst, (k + 0.5) * 0.6931471805599453, 0.0);
    }
    for (int i = 0; i < 200000; i++) try_at(&worst, random_between(&state, -746.0, -708.0), 0.0);
    accept(&worst);
}

static void logarithm(void **unused)
{
    (void)unused;
    Worst worst = {&functions[LOG], 0.0, 0.0, 0.0};
    uint64_t state = 5;
    try_random(&worst, &state, 400000);
    for (int e = -1074; e < 1024; e++) {
        try_around(&worst, ldexp(1.0, e), 0.0);
        try_around(&worst, ldexp(0.7071067811865476, e), 0.0);
    }
    for (int i = 0; i < 300000; i++) {
        try_at(&worst, 1.0 + random_binade(&state, -53, -1), 0.0);
        try_at(&worst, el_double(random_bits(&state) >> (12 + i % 50)), 0.0); // denormal
    }
    accept(&worst);
}

typedef struct Special {
    int function;
    double x, y, expected;
} Special;

#define INF  HUGE_VAL
#define QNAN ((double)NAN)
#define PI   3.141592653589793

// clang-format off
static const Special specials[] = {
    {SIN, 0.0, 0, 0.0}, {SIN, -0.0, 0, -0.0}, {SIN, INF, 0, QNAN}, {SIN, -INF, 0, QNAN},
    {SIN, QNAN, 0, QNAN},
    {COS, 0.0, 0, 1.0}, {COS, -0.0, 0, 1.0}, {COS, INF, 0, QNAN}, {COS, -INF, 0, QNAN},
    {COS, -QNAN, 0, QNAN},
    {TAN, 0.0, 0, 0.0}, {TAN, -0.0, 0, -0.0}, {TAN, INF, 0, QNAN}, {TAN, -INF, 0, QNAN},
    {TAN, QNAN, 0, QNAN},
    {SIN, DBL_TRUE_MIN, 0, DBL_TRUE_MIN}, {SIN, -DBL_TRUE_MIN, 0, -DBL_TRUE_MIN},
    {TAN, DBL_TRUE_MIN, 0, DBL_TRUE_MIN}, {TAN, -DBL_TRUE_MIN, 0, -DBL_TRUE_MIN},
    {SIN, 1e300, 0, -0.8178819121159085},
    {COS, 1e22, 0, 0.523214785395139},
    {SIN, PI, 0, 1.2246467991473532e-16},
    {ASIN, 0.0, 0, 0.0}, {ASIN, -0.0, 0, -0.0}, {ASIN, 1.0, 0, PI / 2}, {ASIN, -1.0, 0, -PI / 2},
    {ASIN, 1.0000000000000002, 0, QNAN}, {ASIN, -1.0000000000000002, 0, QNAN}, {ASIN, INF, 0, QNAN},
    {ASIN, -INF, 0, QNAN}, {ASIN, QNAN, 0, QNAN}, {ASIN, DBL_TRUE_MIN, 0, DBL_TRUE_MIN},
    {ACOS, 1.0, 0, 0.0}, {ACOS, -1.0, 0, PI}, {ACOS, 0.0, 0, PI / 2}, {ACOS, -0.0, 0, PI / 2},
    {ACOS, 1.0000000000000002, 0, QNAN}, {ACOS, -2.0, 0, QNAN}, {ACOS, INF, 0, QNAN},
    {ACOS, QNAN, 0, QNAN},
    {ATAN, 0.0, 0, 0.0}, {ATAN, -0.0, 0, -0.0}, {ATAN, INF, 0, PI / 2}, {ATAN, -INF, 0, -PI / 2},
    {ATAN, 1.0, 0, PI / 4}, {ATAN, QNAN, 0, QNAN}, {ATAN, -DBL_TRUE_MIN, 0, -DBL_TRUE_MIN},
    {ATAN, DBL_MAX, 0, PI / 2},
    {EXP, 0.0, 0, 1.0}, {EXP, -0.0, 0, 1.0}, {EXP, INF, 0, INF}, {EXP, -INF, 0, 0.0},
    {EXP, QNAN, 0, QNAN}, {EXP, 709.782712893384, 0, 1.7976931348622732e+308},
    {EXP, 709.7827128933841, 0, INF}, {EXP, DBL_MAX, 0, INF},
    {EXP, -745.1332191019411, 0, DBL_TRUE_MIN}, {EXP, -745.1332191019412, 0, 0.0},
    {EXP, -DBL_MAX, 0, 0.0},
    {LOG, 1.0, 0, 0.0}, {LOG, 0.0, 0, -INF}, {LOG, -0.0, 0, -INF}, {LOG, INF, 0, INF},
    {LOG, -INF, 0, QNAN}, {LOG, -1.0, 0, QNAN}, {LOG, -DBL_TRUE_MIN, 0, QNAN}, {LOG, QNAN, 0, QNAN},
    {LOG, DBL_TRUE_MIN, 0, -744.4400719213812},
    // atan2: x, y, angle
    {ATAN2, 0.0, 0.0, 0.0}, {ATAN2, 0.0, -0.0, -0.0}, {ATAN2, -0.0, 0.0, PI},
    {ATAN2, -0.0, -0.0, -PI}, {ATAN2, 1.0, 0.0, 0.0}, {ATAN2, 1.0, -0.0, -0.0},
    {ATAN2, -1.0, 0.0, PI}, {ATAN2, -1.0, -0.0, -PI}, {ATAN2, 0.0, 1.0, PI / 2},
    {ATAN2, -0.0, 1.0, PI / 2}, {ATAN2, 0.0, -1.0, -PI / 2}, {ATAN2, -0.0, -1.0, -PI / 2},
    {ATAN2, INF, 1.0, 0.0}, {ATAN2, INF, -1.0, -0.0}, {ATAN2, -INF, 1.0, PI},
    {ATAN2, -INF, -1.0, -PI}, {ATAN2, INF, DBL_MAX, 0.0}, {ATAN2, -INF, -DBL_MAX, -PI},
    {ATAN2, DBL_MAX, INF, PI / 2}, {ATAN2, -DBL_MAX, -INF, -PI / 2}, {ATAN2, 1.0, INF, PI / 2},
    {ATAN2, -1.0, INF, PI / 2}, {ATAN2, 1.0, -INF, -PI / 2}, {ATAN2, -1.0, -INF, -PI / 2},
    {ATAN2, INF, INF, PI / 4}, {ATAN2, INF, -INF, -PI / 4}, {ATAN2, -INF, INF, 3 * PI / 4},
    {ATAN2, -INF, -INF, -3 * PI / 4}, {ATAN2, INF, 0.0, 0.0}, {ATAN2, INF, -0.0, -0.0},
    {ATAN2, -INF, 0.0, PI}, {ATAN2, -INF, -0.0, -PI}, {ATAN2, 1.0, 1.0, PI / 4},
    {ATAN2, -1.0, -1.0, -3 * PI / 4}, {ATAN2, DBL_MAX, DBL_MAX, PI / 4},
    {ATAN2, DBL_TRUE_MIN, DBL_TRUE_MIN, PI / 4}, {ATAN2, DBL_MAX, DBL_TRUE_MIN, 0.0},
    {ATAN2, -DBL_MAX, -DBL_TRUE_MIN, -PI}, {ATAN2, QNAN, 1.0, QNAN}, {ATAN2, 1.0, QNAN, QNAN},
    {ATAN2, INF, QNAN, QNAN}, {ATAN2, QNAN, -INF, QNAN}, {ATAN2, QNAN, 0.0, QNAN},
    {ATAN2, -0.0, -QNAN, QNAN}, {ATAN2, -QNAN, QNAN, QNAN},
    {HYPOT, 0.0, -0.0, 0.0}, {HYPOT, 3.0, -4.0, 5.0}, {HYPOT, INF, QNAN, INF}, {HYPOT, QNAN, -INF, INF},
    {HYPOT, 1.0, QNAN, QNAN}, {HYPOT, DBL_MAX, DBL_MAX, INF}, {HYPOT, DBL_TRUE_MIN, 0.0, DBL_TRUE_MIN},
};
// clang-format on

static void special_values(void **unused)
{
    (void)unused;
    int wrong = 0;
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        const Special *s = &specials[i];
        double y = functions[s->function].ours(s->x, s->y);
        if (el_bits(y) == el_bits(s->expected)) continue;
        print_message("%s(%g, %g) = %.17g, not %.17g\n", functions[s->function].name, s->x, s->y, y,
                      s->expected);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

// The promise of elementary.h: these sums are equal for every compiler, option and machine. They
// change only with the formulas, and then printed C and machine code of older releases differ too.
static void same_bits_everywhere(void **unused)
{
    (void)unused;
    int wrong = 0;
    for (int n = 0; n < FUNCTIONS; n++) {
        const Function *f = &functions[n];
        uint64_t state = 6, sum = 0;
        for (int i = 0; i < 50000; i++) {
            double x =
                i % 4 ? f->from + (f->to - f->from) * 0x1p-53 * (double)(random_bits(&state) >> 11)
                      : el_double(random_bits(&state));
            double y = i % 8 ? 0x1p-51 * (double)(random_bits(&state) >> 11) - 2.0
                             : el_double(random_bits(&state));
            sum = sum * 0x9e3779b97f4a7c15 + el_bits(f->ours(x, y));
        }
        if (sum == f->checksum) continue;
        print_message("%s: checksum 0x%016llx\n", f->name, (unsigned long long)sum);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values), cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(trigonometric),  cmocka_unit_test(inverse),
        cmocka_unit_test(two_arguments),  cmocka_unit_test(exponential),
        cmocka_unit_test(logarithm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
