// SPDX-License-Identifier: Apache-2.0
// Quadratic problems whose unknowns are not negative: their conditions.
#include "num/nonnegative.h"

#include "margin.h"
#include "random.h"
#include "test.h"

// Of problems with and without dependent unknowns: slopes are zero where x is positive, and none
// leads down where it is zero.
static void test_nonnegative(void **state)
{
    (void)state;
    enum { MOST = 8 };
    Random r = {11};
    for (int round = 0; round < 2000; round++) {
        const uint32_t n = 1 + random_below(&r, MOST), rank = 1 + random_below(&r, n);
        double B[MOST * MOST], A[MOST * MOST], b[MOST], x[MOST], c[MOST];
        double room[MOST * MOST + 2 * MOST];
        bool is_free[2 * MOST];
        for (uint32_t i = 0; i < n * rank; i++) B[i] = any(&r);
        for (uint32_t i = 0; i < rank; i++) c[i] = any(&r);
        for (uint32_t i = 0; i < n; i++) {
            is_free[i] = chance(&r, 0.5);
            b[i] = 0;
            for (uint32_t k = 0; k < rank; k++) b[i] += B[i * rank + k] * c[k];
            for (uint32_t j = 0; j < n; j++) {
                A[i * n + j] = 0;
                for (uint32_t k = 0; k < rank; k++)
                    A[i * n + j] += B[i * rank + k] * B[j * rank + k];
            }
        }
        assert_int_equal(tr_nonnegative_room(n), n * n + 2 * n);
        assert_true(tr_nonnegative(A, b, n, x, is_free, room));
        for (uint32_t i = 0; i < n; i++) {
            double slope = -b[i];
            for (uint32_t j = 0; j < n; j++) slope += A[i * n + j] * x[j];
            assert_true(x[i] >= 0 && (x[i] == 0 || is_free[i]));
            assert_below(-slope, 1e-7);
            if (x[i] > 0) assert_below(fabs(slope), 1e-7);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonnegative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
