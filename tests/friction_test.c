// SPDX-License-Identifier: Apache-2.0
// Slip in closed forms: viscous slip that becomes none, a ball that slides and then rolls, wheels
// that are held.
#include "slips.h"

// ---- stiff viscous slip --------------------------------------------------------------------

static const char two_wheels[] =
    "trundle: 1\n"
    "bodies:\n"
    "  cart: {joint: {type: planar}, mass: 8, com: \"0.08, 0, 0\", inertia: {zz: 0.25}}\n"
    "  left: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0.15, 0.1\"},"
    " mass: 2, inertia: {axial: 0.01}}\n"
    "  right: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, -0.15, 0.1\"},"
    " mass: 2, inertia: {axial: 0.01}}\n"
    "roles: {left: {torque: 0.3}, right: {torque: 0.8*cos(9*t)}}\n"
    "initial: {cart.vx: 1, cart.vy: 0, cart.wz: 2, d(left): 10*(1 - 2*0.15),"
    " d(right): 10*(1 + 2*0.15)}\n"
    "contacts:\n"
    "  l: {body: left, radius: 0.1%s}\n"
    "  r: {body: right, radius: 0.1%s}\n";

static Sheet *run_two_wheels(double viscosity)
{
    char law[100] = "", text[2000];
    if (viscosity > 0)
        snprintf(law, sizeof law, ", longitudinal: viscous, lateral: viscous, viscosity: %.17g",
                 viscosity);
    snprintf(text, sizeof text, two_wheels, law, law);
    return run_text(text, 0.2, 0.01);
}

// The error falls as 1/viscosity, over three decades.
static void test_stiff_viscous_slip(void **state)
{
    (void)state;
    static const char *const names[] = {"cart.x", "cart.y", "cart.theta", "left", "right"};
    Sheet *ideal = run_two_wheels(0);
    double before = 0;
    for (double viscosity = 100; viscosity < 2e5; viscosity *= 10) {
        Sheet *run = run_two_wheels(viscosity);
        double off = 0;
        for (size_t k = 0; k < 5; k++) off = fmax(off, difference(run, names[k], ideal, names[k]));
        print_message("viscosity %6.0f N s/m: off by %.2e, %.3f times less\n", viscosity, off,
                      before / off);
        if (viscosity > 5e3) assert_true(before / off > 9.8 && before / off < 10.2);
        assert_true(before == 0 || (before / off > 8 && before / off < 12));
        before = off;
        tr_sheet_free(run);
    }
    assert_below(before, 1e-4); // not a margin: what viscosity leaves
    tr_sheet_free(ideal);
}

// ---- friction ------------------------------------------------------------------------------

static const char bowling[] =
    "trundle: 1\n"
    "parameters: {m: 7, r: 0.108, mu: 0.2, eps: %g}\n"
    "bodies:\n"
    "  ball: {joint: {type: free}, mass: m, inertia: {xx: 0.4*m*r^2, yy: 0.4*m*r^2,"
    " zz: 0.4*m*r^2}}\n"
    "contacts:\n"
    "  c: {body: ball, shape: ball, radius: r, longitudinal: coulomb, lateral: coulomb,"
    " friction: mu, creep: eps}\n"
    "outputs: {slip: d(ball.x) - r*turning, turning: ball.R21*ball.wx + ball.R22*ball.wy +"
    " ball.R23*ball.wz, v: d(ball.x)}\n"
    "initial: {ball.x: 0, ball.y: 0, v: 4, d(ball.y): 0, turning: 0, ball.wx: 0, ball.wz: 0}\n";

// With s' = -k s / sqrt(s^2 + eps^2):   k t = F(s0) - F(s),   F = sqrt(s^2 + eps^2) -
// eps asinh(eps / s)
static double slid_for(double s0, double s, double eps, double k)
{
    const double F0 = hypot(s0, eps) - eps * asinh(eps / s0),
                 F = hypot(s, eps) - eps * asinh(eps / s);
    return (F0 - F) / k;
}

// It slides for 2 v0/(7 mu g), then rolls at 5/7 v0; with a creep, nearly so.
static double check_bowling(double eps)
{
    const double v0 = 4, mu = 0.2, rolls_at = 2 * v0 / (7 * mu * g);
    char text[1500];
    double worst = 0;
    snprintf(text, sizeof text, bowling, eps);
    Sheet *run = run_text(text, 2 * rolls_at, rolls_at / 20);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), s = at(run, i, "slip"), v = at(run, i, "v");
        if (s > 1e-3 * eps) assert_close(slid_for(v0, s, eps, 3.5 * mu * g), t, 1e-9);
        assert_close(v, v0 * 5 / 7 + s * 2 / 7, 1e-10); // whatever the law
        worst = fmax(worst, fabs(v - (v0 - mu * g * fmin(t, rolls_at))));
    }
    assert_below(fabs(last(run, "slip")), 1e-6);
    tr_sheet_free(run);
    return worst;
}

static void test_slides_then_rolls(void **state)
{
    (void)state;
    double before = 0;
    for (double eps = 0.1; eps > 5e-4; eps /= 10) {
        const double off = check_bowling(eps);
        print_message("creep %.0e m/s: speed off by %.2e m/s\n", eps, off);
        assert_true(before == 0 || (before / off > 5 && before / off < 20));
        assert_true(off < eps);
        before = off;
    }
}

// ---- four wheels that are held -------------------------------------------------------------

static const char four_wheels[] =
    "trundle: 1\n"
    "parameters: {mu: 0.8, eps: 0.01}\n"
    "bodies:\n"
    "  cart: {joint: {type: free}, mass: 800, com: \"0.2, 0.1, 0.5\","
    " inertia: {xx: 200, yy: 600, zz: 700}}\n"
    "  fl: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"1.2, 0.7, 0.3\"},"
    " mass: 10, inertia: {axial: 0.5}}\n"
    "  fr: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"1.2, -0.7, 0.3\"},"
    " mass: 10, inertia: {axial: 0.5}}\n"
    "  rl: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"-1.2, 0.7, 0.3\"},"
    " mass: 10, inertia: {axial: 0.5}}\n"
    "  rr: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"-1.2, -0.7, 0.3\"},"
    " mass: 10, inertia: {axial: 0.5}}\n"
    "contacts:\n"
    "  fl: {body: fl, radius: 0.3, longitudinal: coulomb, lateral: %s, friction: mu, creep: eps}\n"
    "  fr: {body: fr, radius: 0.3, longitudinal: coulomb, lateral: %s, friction: mu, creep: eps}\n"
    "  rl: {body: rl, radius: 0.3, longitudinal: coulomb, lateral: %s, friction: mu, creep: eps}\n"
    "  rr: {body: rr, radius: 0.3, longitudinal: coulomb, lateral: %s, friction: mu, creep: eps}\n"
    "initial: {cart.x: 0, cart.y: 0, cart.vx: 10, cart.vy: 0, cart.wz: 0}\n"
    "cases:\n"
    "  brake: {hold: [fl, fr, rl, rr]}\n";

// Four loads with three balances: the least ones are linear in the place of the wheel,
//   N = W/4 + x sum(N x)/sum(x^2) + y sum(N y)/sum(y^2)
// and braking at `a` from below moves them forward.
static double least_load(double x, double y, double a)
{
    const double m = 840, mx = 800 * 0.2, my = 800 * 0.1, mz = 800 * 0.5 + 40 * 0.3;
    return m * g / 4 + x * (mx * g + mz * a) / (4 * 1.44) + y * my * g / (4 * 0.49);
}

static void check_braking(const char *lateral)
{
    static const char *const names[] = {"lambda.fl.normal", "lambda.fr.normal", "lambda.rl.normal",
                                        "lambda.rr.normal"};
    static const char *const drags[] = {"lambda.fl.longitudinal", "lambda.fr.longitudinal",
                                        "lambda.rl.longitudinal", "lambda.rr.longitudinal"};
    const double v0 = 10, mu = 0.8, eps = 0.01;
    char text[2500];
    snprintf(text, sizeof text, four_wheels, lateral, lateral, lateral, lateral);
    Sheet *run = run_text(text, 1.5, 0.05);
    for (size_t i = 0; i < run->rows; i++) {
        const double v = at(run, i, "cart.vx"), share = v / hypot(v, eps), a = mu * g * share;
        for (int k = 0; k < 4; k++) {
            const double N = least_load(k < 2 ? 1.2 : -1.2, k % 2 ? -0.7 : 0.7, a);
            assert_close(at(run, i, names[k]), N, 1e-9);
            assert_close(at(run, i, drags[k]), -mu * N * share, 1e-9);
        }
        assert_close(at(run, i, "cart.y"), 0, 1e-9); // straight, although loaded unevenly
        assert_close(at(run, i, "cart.wz"), 0, 1e-9);
    }
    // the way: integral of sqrt(v^2 + eps^2) dv / (mu g)
    const double way = (v0 * hypot(v0, eps) + eps * eps * asinh(v0 / eps)) / (2 * mu * g);
    assert_close(last(run, "cart.x"), way, 1e-9);
    assert_close(way, v0 * v0 / (2 * mu * g), 1e-5); // not a margin: what eps changes
    print_message("lateral %s: stands after %.9f m, v^2/(2 mu g) is %.9f m\n", lateral,
                  last(run, "cart.x"), v0 * v0 / (2 * mu * g));
    tr_sheet_free(run);
}

static void test_braking(void **state)
{
    (void)state;
    check_braking("coulomb");
    check_braking("free");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stiff_viscous_slip),
        cmocka_unit_test(test_slides_then_rolls),
        cmocka_unit_test(test_braking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
