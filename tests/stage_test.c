// SPDX-License-Identifier: Apache-2.0
// Stages of steps have the same bits with the instruction for fma as without it, and those that
// their formulas say.
#include "num/stage.h"
#include "test.h"

#include <float.h>

enum { MOST = 20, TRIALS = 2000 };

static const double awkward[] = {
    0.0,     -0.0,     1,       -1,        1.0 / 3,          0x1p-52,          -0x1p-53,
    DBL_MIN, -DBL_MIN, DBL_MAX, -DBL_MAX,  0x1p-1074,        -0x1.8p-1073,     1e308,
    -1e308,  1e-308,   0x1p511, -0x1p-511, (double)INFINITY, -(double)INFINITY};

// Of any size, or awkward; often such that sums cancel
static double some(Random *r, double beside)
{
    if (chance(r, 0.2)) return awkward[random_below(r, sizeof awkward / sizeof *awkward)];
    if (chance(r, 0.2) && !isnan(beside)) return -beside * (1 + 0x1p-52 * random_below(r, 4));
    return ldexp(any(r), (int)random_below(r, 60) - 30);
}

static void check_stages(Random *r, size_t count)
{
    double y[MOST] = {0}, k[4 * MOST], z[MOST], plain[MOST], four[MOST], plain_four[MOST];
    const double h = some(r, 1);
    for (size_t i = 0; i < 4 * count; i++) k[i] = some(r, i < count ? 1 : k[i - count]);
    for (size_t i = 0; i < count; i++) y[i] = some(r, h * k[i]);
    tr_move_along(y, h, k, z, count);
    tr_move_along_plainly(y, h, k, plain, count);
    assert_memory_equal(z, plain, count * sizeof *z);
    memcpy(four, y, sizeof four), memcpy(plain_four, y, sizeof four);
    tr_move_by_four(four, h, k, count);
    tr_move_by_four_plainly(plain_four, h, k, count);
    assert_memory_equal(four, plain_four, count * sizeof *four);
    for (size_t i = 0; i < count; i++) {
        const double *k2 = k + count, *k3 = k2 + count, *k4 = k3 + count;
        assert_true(same_bits(z[i], fma(h, k[i], y[i])));
        assert_true(same_bits(four[i], y[i] + h / 6 * (k[i] + 2 * (k2[i] + k3[i]) + k4[i])));
    }
}

static void test_stages(void **state)
{
    (void)state;
    Random r = {77};
    for (size_t count = 1; count <= MOST; count++)
        for (int i = 0; i < TRIALS; i++) check_stages(&r, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
