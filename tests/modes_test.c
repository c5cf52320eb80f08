// SPDX-License-Identifier: Apache-2.0
// Modes, ranks and exponentials of given matrices.
#include "linear/modes.h"
#include "linears.h"

// ---- modes, ranks, exponentials of given matrices ------------------------------------------

static const char *const no_names[MOST] = {"a", "b", "c", "d", "e", "f", "g", "h"};

static Linear given(uint32_t states, uint32_t inputs, uint32_t outputs, double *A, double *B,
                    double *C)
{
    return (Linear){.states = states,
                    .inputs = inputs,
                    .outputs = outputs,
                    .state = (const char **)no_names,
                    .A = A,
                    .B = B,
                    .C = C};
}

static void finds_modes(void **state)
{
    (void)state;
    tr_error err = {0};
    // an oscillator of 3 rad/s with damping 0.2, in units that are far apart, and a cart
    double A[16] = {0, 1e4, 0, 0, -9e-4, -1.2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
    const Linear l = given(4, 0, 0, A, NULL, NULL);
    Modes *m = tr_modes_new(&l, &err);
    assert_non_null(m);
    assert_int_equal(m->zeros, 2);
    for (int k = 0; k < 2; k++) {
        assert_true(m->values[2 * k] == 0 && m->values[2 * k + 1] == 0);
        assert_true(isnan(m->damping[k]));
        assert_close(m->shares[4 * k] + m->shares[4 * k + 1], 0, 1e-12);
    }
    assert_close(m->values[4], -0.6, 1e-13);
    assert_close(m->values[5], 3 * sqrt(1 - 0.04), 1e-13);
    assert_close(m->values[7], -3 * sqrt(1 - 0.04), 1e-13);
    assert_close(m->damping[2], 0.2, 1e-13);
    assert_close(m->frequency[2], 3, 1e-13);
    assert_close(m->shares[8], 0.5, 1e-12); // shares know no units
    assert_close(m->shares[9], 0.5, 1e-12);
    for (int k = 0; k < 4; k++) // A v = l v
        for (int i = 0; i < 4 && m->frequency[k] > 0; i++) {
            const double *v = m->vectors + 8 * k, *value = m->values + 2 * k;
            double re = 0, im = 0;
            for (int j = 0; j < 4; j++)
                re += A[4 * i + j] * v[2 * j], im += A[4 * i + j] * v[2 * j + 1];
            assert_close(re, value[0] * v[2 * i] - value[1] * v[2 * i + 1], 1e-11);
            assert_close(im, value[0] * v[2 * i + 1] + value[1] * v[2 * i], 1e-11);
        }
    tr_modes_free(m);
}

// Zeros in chains of three and one, in a random basis, beside eigenvalues that are not zero
static void splits_off_zeros(void **state)
{
    (void)state;
    enum { N = 6 };
    static const double J[N][N] = {{0, 1, 0, 0, 0, 0},  {0, 0, 1, 0, 0, 0}, {0}, {0},
                                   {0, 0, 0, 0, -2, 0}, {0, 0, 0, 0, 0, 1}};
    double P[N][N], A[N * N];
    Random random = {11};
    // a product of reflections is orthogonal: A = P J P^T
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) P[i][j] = i == j;
    for (int r = 0; r < 3; r++) {
        double v[N], size = 0;
        for (int i = 0; i < N; i++) v[i] = random_between(&random, -1, 1), size += v[i] * v[i];
        for (int i = 0; i < N; i++) {
            double along = 0;
            for (int j = 0; j < N; j++) along += P[i][j] * v[j];
            for (int j = 0; j < N; j++) P[i][j] -= 2 * along * v[j] / size;
        }
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[N * i + j] = 0;
            for (int k = 0; k < N; k++)
                for (int l = 0; l < N; l++) A[N * i + j] += P[i][k] * J[k][l] * P[j][l];
        }
    Deflated d;
    double values[2 * N];
    assert_true(tr_deflate(A, N, NULL, &d, NULL));
    assert_int_equal(d.zeros, 4);
    assert_int_equal(d.pattern[0], 2);
    assert_int_equal(d.pattern[1], 1);
    assert_int_equal(d.pattern[2], 1);
    assert_true(tr_deflated_values(&d, values, NULL));
    const double low = fmin(values[0], values[2]), high = fmax(values[0], values[2]);
    assert_close(low, -2, 1e-12);
    assert_close(high, 1, 1e-12);
    assert_close(tr_deflated_determinant(&d, NULL), -2, 1e-12);
    tr_deflated_free(&d);
}

static void finds_ranks(void **state)
{
    (void)state;
    // a chain of integrators, in units that are far apart
    double chain[16] = {0, 1e3, 0, 0, 0, 0, 1e-4, 0, 0, 0, 0, 1e2, 0, 0, 0, 0};
    double last[4] = {0, 0, 0, 1e-3}, first[4] = {1e5, 0, 0, 0};
    Linear l = given(4, 1, 1, chain, last, first);
    assert_int_equal(tr_controllable(&l), 4);
    assert_int_equal(tr_observable(&l), 4);
    l.B = first, l.C = last; // pushes the end of the chain, sees its beginning
    assert_int_equal(tr_controllable(&l), 1);
    assert_int_equal(tr_observable(&l), 1);
    // two equal oscillators that are pushed alike; two that differ
    double twins[16] = {0, 1, 0, 0, -4, 0, 0, 0, 0, 0, 0, 1, 0, 0, -4, 0};
    double push[4] = {0, 1, 0, 1}, sum[4] = {1, 0, 1, 0};
    l = given(4, 1, 1, twins, push, sum);
    assert_int_equal(tr_controllable(&l), 2);
    assert_int_equal(tr_observable(&l), 2);
    twins[14] = -9;
    assert_int_equal(tr_controllable(&l), 4);
    assert_int_equal(tr_observable(&l), 4);
    // no input, no output, no state
    l = given(4, 0, 0, twins, push, sum);
    assert_int_equal(tr_controllable(&l), 0);
    assert_int_equal(tr_observable(&l), 0);
    l.states = 0;
    assert_int_equal(tr_controllable(&l), 0);
}

// The bicycle: steering alone reaches lean and steer, not the speed.
static void knows_what_steering_reaches(void **state)
{
    (void)state;
    tr_system *system = bicycle("speed0=5");
    tr_linear *l = linear_of(system, true);
    assert_int_equal(tr_controllable(l), 5);
    for (uint32_t i = 0; i < l->states; i++)
        for (uint32_t j = 0; j < l->inputs; j++)
            if (strcmp(l->input[j], "steer_torque") != 0) l->B[i * l->inputs + j] = 0;
    assert_int_equal(tr_controllable(l), 4);
    tr_linear_free(l);
    tr_system_free(system);
}

static void discretises(void **state)
{
    (void)state;
    double A[4] = {0, 1, 0, 0}, B[2] = {0, 2}, Ad[4], Bd[2];
    Linear l = given(2, 1, 0, A, B, NULL);
    assert_true(tr_linear_discretise(&l, 0.25, Ad, Bd, NULL)); // x'' = 2 u
    assert_close(Ad[0], 1, 1e-15);
    assert_close(Ad[1], 0.25, 1e-15);
    assert_close(Ad[2], 0, 1e-15);
    assert_close(Bd[0], 0.25 * 0.25, 1e-15);
    assert_close(Bd[1], 0.5, 1e-15);
    // a fast oscillator over many turns: cos, sin
    double fast[4] = {0, 1, -10000, 0};
    l = given(2, 1, 0, fast, B, NULL);
    assert_true(tr_linear_discretise(&l, 1, Ad, Bd, NULL));
    assert_close(Ad[0], cos(100), 1e-11);
    assert_close(Ad[1], sin(100) / 100, 1e-11);
    assert_close(Ad[2], -100 * sin(100), 1e-11);
    assert_close(Bd[0], 2 * (1 - cos(100)) / 10000, 1e-11);
    double growing[4] = {1e5, 0, 0, 0};
    l = given(2, 1, 0, growing, B, NULL);
    assert_false(tr_linear_discretise(&l, 1, Ad, Bd, NULL)); // not finite
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_modes), cmocka_unit_test(splits_off_zeros),
        cmocka_unit_test(finds_ranks), cmocka_unit_test(knows_what_steering_reaches),
        cmocka_unit_test(discretises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
