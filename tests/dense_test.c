// SPDX-License-Identifier: Apache-2.0
#include "num/dense.h"
#include "test.h"

#include <math.h>

static void products(void **state)
{
    (void)state;
    const double A[] = {1, 2, 3, 4, 5, 6}, B[] = {1, 0, -1, 2, 0.5, 1};
    double C[9], T[6], D[9];
    tr_multiply(A, B, 2, 3, 2, C);
    const double expected[] = {0.5, 7, 2, 16};
    for (int i = 0; i < 4; i++) assert_true(C[i] == expected[i]);
    tr_transpose(A, 2, 3, T);
    assert_true(T[0] == 1 && T[1] == 4 && T[2] == 2 && T[5] == 6);
    tr_multiply_transposed(A, A, 3, 2, 3, C);
    tr_multiply(T, A, 3, 2, 3, D);
    for (int i = 0; i < 9; i++) assert_true(C[i] == D[i]);
}

static void sizes(void **state)
{
    (void)state;
    const double x[] = {3, -4, 0};
    assert_true(tr_largest(x, 3) == 4);
    assert_true(tr_norm(x, 3) == 5);
    assert_true(tr_largest(x, 0) == 0);
}

// Each column has a row where it is 1 and the others are 0, and spans the same.
static void columns_get_rows_of_their_own(void **state)
{
    (void)state;
    const double before[] = {1, 2, 4, 1, -1, 3, 8, 8};
    double Z[8];
    uint32_t own[2];
    for (int i = 0; i < 8; i++) Z[i] = before[i];
    tr_give_rows(Z, 4, 2, 3, 1e-9, own); // the last row is no choice
    assert_int_equal(own[0], 1);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t c = 0; c < 2; c++) assert_below(fabs(Z[own[k] * 2 + c] - (k == c)), 1e-15);
    for (uint32_t i = 0; i < 4; i++) // before = Z times what it is on its rows
        for (uint32_t c = 0; c < 2; c++) {
            const double sum =
                Z[i * 2] * before[own[0] * 2 + c] + Z[i * 2 + 1] * before[own[1] * 2 + c];
            assert_below(fabs(sum - before[i * 2 + c]), 1e-14);
        }
    double alike[] = {1, 1 + 1e-12, -1};
    tr_give_rows(alike, 3, 1, 3, 1e-9, own);
    assert_int_equal(own[0], 0); // the first of those that are as large
    assert_true(alike[0] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(sizes),
        cmocka_unit_test(columns_get_rows_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
