// SPDX-License-Identifier: Apache-2.0
// The exact slopes of a flow's rates, against differences.
#include "plan/jacobian.h"
#include "plans.h"
#include "runs.h"
#include "sim/method.h"

static void assert_slopes(Flow *flow, double t, const double *y)
{
    const size_t n = flow->size;
    tr_error err = {0};
    double *J = calloc(n * n + 3 * n, sizeof *J);
    double *z = J + n * n, *rate = z + n, *slope = rate + n;
    assert_true(tr_jacobian_ready(flow, &err));
    assert_true(tr_jacobian_ready(flow, &err)); // it is there already
    tr_jacobian_take(flow, t, y, J);
    double size = 1;
    for (size_t i = 0; i < n * n; i++) size = fmax(size, fabs(J[i]));
    for (size_t k = 0; k < n; k++) {
        static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
        const double h = 1e-4 * fmax(1, fabs(y[k]));
        memset(slope, 0, n * sizeof *slope);
        for (int j = 0; j < 4; j++) {
            memcpy(z, y, n * sizeof *z);
            z[k] += at[j] * h;
            tr_flow_rate(flow, t, z, rate);
            for (size_t i = 0; i < n; i++) slope[i] += weight[j] * rate[i] / (12 * h);
        }
        for (size_t i = 0; i < n; i++)
            if (!is_below(fabs(J[k * n + i] - slope[i]), 1e-6 * size))
                fail_msg("row %zu, column %zu: %g is not %g", i, k, J[k * n + i], slope[i]);
    }
    free(J);
}

static void check_model(const char *name, const char *case_name, double end)
{
    tr_error err = {0};
    tr_system *system = system_called(name, case_name);
    Flow *flow = flow_of(system);
    assert_slopes(flow, 0, flow->start);
    Mover *mover = tr_mover_new(tr_method("erk", &err), flow, flow->start, &err);
    for (int i = 1; i <= 5; i++) { // it goes from chart to chart
        if (!mover->method->advance(mover, end * i / 5, &err)) fail_msg("%s: %s", name, err.text);
        assert_slopes(flow, mover->t, mover->y);
    }
    print_message("%-16s %u of %u entries, in %u views\n", name, flow->known, flow->own,
                  flow->chart_count);
    tr_mover_free(mover);
    close_flow(flow);
    tr_system_free(system);
}

static void test_against_differences(void **state)
{
    (void)state;
    check_model("cart_pole", "balanced", 2);   // no constraints
    check_model("spinning_top", "looping", 1); // a quaternion
    check_model("bicycle", "turn", 3);
    check_model("four_bar", "swing", 5); // several charts, and back to those before
    check_model("bricard", "turn", 1);
    check_model("differential_drive_3d", "drive", 1);
    check_model("tyre", "lean", 1);
    check_model("motorcycle", "weave", 1);       // states of tyres
    check_model("mobile_pendulum", "forced", 1); // driven by a motion
    check_model("stick_slip", "fast", 0.01);
    check_model("hopping_wheel", "slow", 1);
}

// Steps stand for one side of a jump, and so do the slopes.
static void test_beside_a_jump(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}}\n"
        "roles: {x: {torque: \"if(t < 1, -2*x, -5*x)\"}}\n";
    tr_error err = {0};
    tr_system *system = system_from(text);
    Flow *flow = flow_of(system);
    assert_int_equal(flow->size, 3); // x, its rate, work
    assert_true(tr_jacobian_ready(flow, &err));
    double J[9];
    flow->latest = nextafter(1, 0);
    tr_jacobian_take(flow, 1, flow->start, J);
    assert_true(J[1] == -2 && J[3] == 1);
    flow->latest = (double)INFINITY;
    tr_jacobian_take(flow, 1, flow->start, J);
    assert_true(J[1] == -5 && J[3] == 1);
    close_flow(flow);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_differences),
        cmocka_unit_test(test_beside_a_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
