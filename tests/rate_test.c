// SPDX-License-Identifier: Apache-2.0
// Velocities that are told by roles, in second order: the torques that they take against motions
// that say the same, and blows where rates jump; in first order they jump.
#include "motion.h"

// A cart that is driven, and an arm that hangs from it: m l^2 + I about its hinge
#define CART                                                                                    \
    "trundle: 1\n"                                                                              \
    "gravity: \"0, 0, -9.81\"\n"                                                                \
    "parameters: {m: 2, l: 0.5, I: 0.1}\n"                                                      \
    "bodies:\n"                                                                                 \
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 3}\n"           \
    "  arm: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}, mass: m," \
    " com: \"0, 0, -l\", inertia: {xx: I, yy: I, zz: I}}\n"

static const struct {
    const char *rate, *start, *motion;
} pushes[] = {
    {"0.8*cos(2*t)", "0.2", "0.2 + 0.4*sin(2*t)"},
    {"-0.7*x", "0.5", "0.5*exp(-0.7*t)"}, // of where it is
    {"0.3*t - x", "0", "0.3*(t - 1 + exp(-t))"},
};

// v = f(q, t), v' = f_q q' + f_t: what it takes is a motion's
static void test_against_motions(void **state)
{
    (void)state;
    static const char *const columns[] = {"x", "x_rate", "a", "a_rate", "tau.x", "energy.work"};
    for (int i = 0; i < 3; i++) {
        char rated[2000], moved[2000];
        snprintf(rated, sizeof rated,
                 CART "roles: {x: {rate: %s}}\ninitial: {a: 0.3, d(a): 0, x: %s}\n", pushes[i].rate,
                 pushes[i].start);
        snprintf(moved, sizeof moved, CART "roles: {x: {motion: %s}}\ninitial: {a: 0.3, d(a): 0}\n",
                 pushes[i].motion);
        Sheet *by_rate = run_to(system_from(rated), 3, 0.1);
        Sheet *by_motion = run_to(system_from(moved), 3, 0.1);
        for (int k = 0; k < 6; k++)
            assert_below(difference(by_rate, columns[k], by_motion, columns[k]), 1e-8);
        assert_true(largest(by_rate, "tau.x") > 0.5);
        tr_sheet_free(by_rate);
        tr_sheet_free(by_motion);
    }
}

// (M + m) x'' - m l (cos(a) a'' - sin(a) a'^2) is the force, by the run's own accelerations
static void test_against_inverse_dynamics(void **state)
{
    (void)state;
    Sheet *run = run_to(system_from(CART "roles: {x: {rate: '0.8*cos(2*t) - 0.5*x'}}\n"
                                         "outputs: {x_acc: d(d(x)), a_acc: d(d(a))}\n"
                                         "initial: {a: 0.3, d(a): 0, x: 0.1}\n"),
                        3, 0.1);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), a = at(run, i, "a"), w = at(run, i, "a_rate");
        assert_close(at(run, i, "x_rate"), 0.8 * cos(2 * t) - 0.5 * at(run, i, "x"), 1e-12);
        assert_close(at(run, i, "x_acc"), -1.6 * sin(2 * t) - 0.5 * at(run, i, "x_rate"), 1e-12);
        assert_close(at(run, i, "tau.x"),
                     5 * at(run, i, "x_acc") - (cos(a) * at(run, i, "a_acc") - sin(a) * w * w),
                     1e-11);
    }
    tr_sheet_free(run);
}

// Some velocities of a joint with several: a sleigh that is told how to go along and to turn
static void test_parts(void **state)
{
    (void)state;
    static const char sleigh[] =
        "trundle: 1\n"
        "parameters: {m: 3, c: 0.2, I: 0.4}\n"
        "bodies: {body: {joint: {type: planar}, mass: m, com: \"c, 0, 0\", inertia: {zz: I}}}\n"
        "contacts: {edge: {kind: skate, body: body}}\n"
        "roles: {body: {rate: {vx: 1 + 0.5*sin(t), wz: 0.6*cos(t)}}}\n"
        "initial: {body.x: 0, body.y: 0, body.theta: 0}\n";
    Sheet *run = run_to(system_from(sleigh), 4, 0.1);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), v = 1 + 0.5 * sin(t), w = 0.6 * cos(t);
        assert_close(at(run, i, "body.theta"), 0.6 * sin(t), 1e-10);
        // along: m (v' - c w^2); about its origin: (I + m c^2) w' + m c v w
        assert_close(at(run, i, "tau.body.vx"), 3 * (0.5 * cos(t) - 0.2 * w * w), 1e-11);
        assert_close(at(run, i, "tau.body.wz"), -(0.4 + 3 * 0.04) * 0.6 * sin(t) + 3 * 0.2 * v * w,
                     1e-11);
    }
    tr_sheet_free(run);
}

// ---- jumps ---------------------------------------------------------------------------------

static const char jumping[] = CART "roles: {x: {rate: 'if(t < 1, -4, 2)'}}\n"
                                   "initial: {a: 0.3, d(a): 0, x: 0}\n";

// (m l^2 + I) da' = m l cos(a) dx', and the impulse on the cart 5 dx' - m l cos(a) da'
static void test_blow(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    for (size_t m = 0; m < 5; m++) {
        tr_system *system = system_from(jumping);
        tr_simulate_options o = tr_simulate_defaults(system);
        tr_summary s = {0};
        o.end = 1, o.every = 0.99999999, o.method = methods[m];
        Sheet *t = simulated(system, o, &s);
        assert_int_equal(t->rows, 3);
        const double a = at(t, 2, "a"), jump = cos(a) * 6 / 0.6, impulse = 30 - cos(a) * jump;
        assert_close(at(t, 1, "x_rate"), -4, 1e-12);
        assert_close(at(t, 2, "x_rate"), 2, 1e-12);
        assert_close(at(t, 2, "a_rate") - at(t, 1, "a_rate"), jump, 1e-6);
        assert_close(at(t, 2, "energy.work") - at(t, 1, "energy.work"), -impulse, 5e-6);
        char *json = certificate();
        assert_says(json, "the rate of 'x' jumps: a blow changes velocities");
        free(json);
        tr_sheet_free(t);
        tr_system_free(system);
    }
}

// In first order nothing takes a blow: it goes on at its new rate.
static void test_plain_jump(void **state)
{
    (void)state;
    tr_model *model = model_from(CART "roles: {x: {rate: 'if(t < 1, -4, 2)'}, a: {rate: 'if(t < "
                                      "0.5, 1, -x)'}}\n"
                                      "initial: {a: 0.3, x: 0}\n"
                                      "cases: {now: {order: 1, end: 2, every: 0.25}}\n");
    Sheet *run = run_with(system_of(model, NULL), 0, 0, NULL);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t");
        assert_close(at(run, i, "x"), t < 1 ? -4 * t : -4 + 2 * (t - 1), 1e-11);
        assert_close(at(run, i, "x_rate"), t < 1 ? -4 : 2, 1e-12);
    }
    // a = 0.3 + 0.5 + int 4 t from 0.5 to 1 + int (4 - 2 (t - 1)) from 1 to 2
    assert_close(last(run, "a"), 0.8 + 1.5 + 3, 1e-10);
    char *json = certificate();
    assert_null(strstr(json, "blow"));
    free(json);
    tr_sheet_free(run);
}

// ---- what cannot be ------------------------------------------------------------------------

static void test_refusals(void **state)
{
    (void)state;
    assert_invalid(CART "roles: {x: {rate: a_rate}}\n",
                   "7:19: a rate is a formula of t, coordinates and inputs, not of 'a_rate'");
    assert_invalid(CART "roles: {x: {rate: 'd(a)'}}\n",
                   "7:20: a rate is a formula of t, coordinates and inputs, not of 'a_rate'");
    assert_invalid(CART "roles: {x: {rate: 1, motion: t}}\n",
                   "7:9: 'x' is driven by a torque, by a rate or by a motion, not by two of them");
    assert_invalid(CART "roles: {x: {rate: 1, torque: t}}\n",
                   "7:9: 'x' is driven by a torque, by a rate or by a motion, not by two of them");
    assert_invalid(CART "roles: {x: {rate: {vx: 1}}}\n",
                   "7:24: this joint has one velocity: write {rate: formula}");
    assert_invalid(CART "roles: {x: {rate: 1}}\ninitial: {d(x): 2}\n",
                   "8:11: 'd(x)' is driven by a motion or a rate, or held, which gives its initial "
                   "value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_motions), cmocka_unit_test(test_against_inverse_dynamics),
        cmocka_unit_test(test_parts),           cmocka_unit_test(test_blow),
        cmocka_unit_test(test_plain_jump),      cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
