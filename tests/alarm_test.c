// SPDX-License-Identifier: Apache-2.0
// What runs say when an ideal contact would lift off, slip or lie flat, and when.
#include "runs.h"

static const double g = 9.81;

// ---- warnings ------------------------------------------------------------------------------

static const char lifted_block[] =
    "trundle: 1\n"
    "bodies: {block: {joint: {type: free}, mass: 2, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
    "contacts: {foot: {kind: slide, body: block, unilateral: false}}\n"
    "forces: {pull: {body: block, force: \"0, 0, 17*t\"}}\n"
    "cases: {up: {end: 2, every: 0.1}}\n";

static const char pushed_ball[] =
    "trundle: 1\n"
    "bodies: {ball: {joint: {type: free}, mass: 2, inertia: {xx: 0.008, yy: 0.008, zz: 0.008}}}\n"
    "contacts: {foot: {kind: rolling, shape: ball, body: ball, radius: 0.1, friction: 0.35, "
    "unilateral: false}}\n"
    "forces: {push: {body: ball, force: \"12*t, 5*t, 0\"}}\n"
    "cases: {push: {end: 3, every: 0.1}}\n";

static tr_summary summary_of(tr_system *system, const char *method)
{
    tr_error err = {0};
    tr_summary s = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = method, o.output = in_folder("run.csv");
    if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
    tr_system_free(system);
    return s;
}

static const char lifts_off[] =
    "the normal force of 'foot' turns negative: it would lift off at t = ";
static const char slips[] = "'foot' exceeds the available friction at t = ";

static const char *const warned_methods[] = {"erk", "bdf", "rk4", "pece"};

// Times are told with nine digits.
static void assert_told(const char *words, double t)
{
    // not a margin: half of the last digit, and a little
    assert_below(fabs(number_behind(words, "at t = ") - t), 6e-9);
}

// m g = 17 t
static void test_lift_off(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const tr_summary s =
            summary_of(system_of(model_from(lifted_block), NULL), warned_methods[k]);
        assert_int_equal(s.warnings, 1);
        assert_true(strstr(s.warning, lifts_off) == s.warning);
        assert_told(s.warning, 2 * g / 17);
        assert_close(s.t, 2, 1e-15); // it goes on
    }
}

// m g = 30 sin 2t, again and again
static void test_lift_off_again(void **state)
{
    (void)state;
    tr_model *model = model_from(lifted_block);
    change(model, "forces/pull/force", "0, 0, 30*sin(2*t)");
    change(model, "cases/up/end", "6");
    const tr_summary s = summary_of(system_of(model, NULL), "erk");
    const double first = asin(2 * g / 30) / 2;
    assert_int_equal(s.warnings, 2);
    char *text = certificate();
    assert_non_null(text);
    const char *one = strstr(text, lifts_off), *other = one ? strstr(one + 1, lifts_off) : NULL;
    assert_non_null(other);
    assert_told(one, first);
    assert_told(other, first + M_PI);
    free(text);
}

// A push at the middle of a ball takes two sevenths of it as friction: 2/7 13 t = mu m g.
static void test_friction(void **state)
{
    (void)state;
    const double wanted = 0.35 * 2 * g * 7 / (2 * 13);
    for (int k = 0; k < 4; k++) {
        const tr_summary s =
            summary_of(system_of(model_from(pushed_ball), NULL), warned_methods[k]);
        assert_int_equal(s.warnings, 1);
        assert_true(strstr(s.warning, slips) == s.warning);
        assert_told(s.warning, wanted);
    }
}

// On a slope it takes 2/7 tan(slope), from the start or never.
static void test_friction_on_slope(void **state)
{
    (void)state;
    const Number enough = {"mu", 2. / 7 * tan(0.3) * (1 + 1e-9)};
    const Number little = {"mu", 2. / 7 * tan(0.3) * (1 - 1e-9)};
    tr_summary s = summary_of(system_with("ball_on_slope", "slippery", &enough, 1), "erk");
    assert_int_equal(s.warnings, 0);
    s = summary_of(system_with("ball_on_slope", "slippery", &little, 1), "erk");
    assert_true(s.warnings >= 1);
    assert_string_equal(s.warning, "'foot' exceeds the available friction at t = 0");
}

// A torque T = 100 t on the rear wheel accelerates it by a = T/(h3 (m + I2/h2^2 + I3/h3^2)), and
// takes a (m z + I2/h2 + I3/h3)/w from the front wheel's load.
static void test_wheelie(void **state)
{
    (void)state;
    const double h2 = 0.35, h3 = 0.3, I2 = 0.28, I3 = 0.12, m = 94, mx = 32.16, mz = 80.95;
    const double a = mx * g / (mz + I2 / h2 + I3 / h3);
    const double wanted = a * h3 * (m + I2 / (h2 * h2) + I3 / (h3 * h3)) / 100;
    tr_model *model = model_called("bicycle");
    change(model, "roles/rear/torque", "100*t");
    change(model, "cases/state/end", "1.5");
    const tr_summary s = summary_of(system_set(model, "state", "speed0=4"), "erk");
    assert_int_equal(s.warnings, 1);
    assert_non_null(strstr(s.warning, "the normal force of 'front' turns negative"));
    print_message("%s, not %.9g\n", s.warning, wanted);
    assert_told(s.warning, wanted);
}

// Without spin a coin tips over its edge: f'' = -k cos f with k = 4 g/(5 r), from f = 0.25 at 0.5
// rad/s, until sin f = 1e-3. With the speed v = -f', v^2 = 0.25 + 2 k (sin 0.25 - sin f), and t is
// the integral of dv/(k cos f), by Simpson's rule.
static double time_to_fall(double r)
{
    enum { PIECES = 2000 };
    const double k = 0.8 * g / r, from = 0.5, to = sqrt(0.25 + 2 * k * (sin(0.25) - 1e-3));
    const double h = (to - from) / PIECES;
    double sum = 0;
    for (int i = 0; i <= PIECES; i++) {
        const double v = from + h * i, sine = sin(0.25) - (v * v - 0.25) / (2 * k);
        sum += (i == 0 || i == PIECES ? 1 : i % 2 ? 4 : 2) / (k * sqrt(1 - sine * sine));
    }
    return sum * h / 3;
}

static void test_falls_flat(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_summary s = {0};
    tr_system *system = system_called("euler_disc", "fall");
    tr_simulate_options o = strictly(system);
    o.output = in_folder("run.csv");
    assert_false(tr_simulate(system, &o, &s, &err));
    assert_int_equal(err.status, TR_FAILED);
    const double t = number_behind(err.text, "the wheel 'rim' lies flat at t = ");
    print_message("flat at %.9g, not %.9g\n", t, time_to_fall(0.0376));
    assert_below(fabs(t - time_to_fall(0.0376)), 1e-9);
    Sheet *kept = read_sheet(o.output);
    assert_true(kept->rows == s.rows && s.t <= t && t < s.t + 0.005);
    tr_sheet_free(kept);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lift_off), cmocka_unit_test(test_lift_off_again),
        cmocka_unit_test(test_friction), cmocka_unit_test(test_friction_on_slope),
        cmocka_unit_test(test_wheelie),  cmocka_unit_test(test_falls_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
