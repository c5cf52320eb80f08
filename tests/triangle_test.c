// SPDX-License-Identifier: Apache-2.0
// Triangles of many rows: they have the squares of all of them, and small ones beside large ones
// keep their digits.
#include "num/triangle.h"

#include "test.h"

enum { N = 5, ROWS = 200 };

// R^T R, entry (i, k)
static double product(const double *R, int i, int k)
{
    double sum = 0;
    for (int j = 0; j < N; j++) sum += R[j * N + i] * R[j * N + k];
    return sum;
}

static void test_squares(void **state)
{
    (void)state;
    Random r = {77};
    double R[N * N] = {0}, sums[N][N] = {{0}}, row[N];
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < N; k++) row[k] = any(&r);
        for (int k = 0; k < N; k++)
            for (int l = 0; l < N; l++) sums[k][l] += row[k] * row[l];
        tr_triangle_add(R, N, row);
    }
    for (int k = 0; k < N; k++)
        for (int l = 0; l < N; l++) {
            assert_close(product(R, k, l), sums[k][l], 1e-12);
            if (l < k) assert_true(R[k * N + l] == 0);
        }
    for (uint32_t k = 0; k < N; k++)
        assert_close(tr_triangle_norm(R, N, k), sqrt(sums[k][k]), 1e-13);
    // two halves, of which one counts twice, are as good as rows that do
    double both[N * N] = {0};
    tr_triangle_merge(both, N, R, 1, row);
    tr_triangle_merge(both, N, R, -2, row);
    for (int k = 0; k < N; k++) assert_close(product(both, k, 0), 5 * sums[k][0], 1e-12);
}

// Two columns that differ by 1e-9: squares could not tell them apart
static void test_nearly_alike(void **state)
{
    (void)state;
    double R[4] = {0};
    for (int i = 0; i < 100; i++) {
        double row[2] = {1, 1 + (i % 2 ? 1e-9 : -1e-9)};
        tr_triangle_add(R, 2, row);
    }
    assert_close(fabs(R[3]) / 1e-8, 1, 1e-6);
    double huge[4] = {0}, rows[2][2] = {{3e200, 1e200}, {4e200, 1e200}};
    tr_triangle_add(huge, 2, rows[0]);
    tr_triangle_add(huge, 2, rows[1]);
    assert_close(tr_triangle_norm(huge, 2, 0) / 5e200, 1, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_squares),
        cmocka_unit_test(test_nearly_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
