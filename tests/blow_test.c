// SPDX-License-Identifier: Apache-2.0
// Motions and constraints whose rate jumps: what hangs from them takes the blow, against closed
// forms; and those that jump themselves, which are refused.
#include "motion.h"

// A cart that is driven, and an arm that hangs from it: m l^2 + I about its hinge
#define CART                                                                                    \
    "trundle: 1\n"                                                                              \
    "gravity: \"0, 0, -9.81\"\n"                                                                \
    "parameters: {m: 2, l: 0.5, I: 0.1}\n"                                                      \
    "bodies:\n"                                                                                 \
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 3}\n"           \
    "  arm: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}, mass: m," \
    " com: \"0, 0, -l\", inertia: {xx: I, yy: I, zz: I}}\n"                                     \
    "initial: {a: 0.3, d(a): 0}\n"

static const char driven[] = CART "roles: {x: {motion: 3*abs(t - 1) - t}}\n";
static const char held[] = CART "constraints: {push: {position: x - 3*abs(t - 1) + t}}\n";
static const char rated[] = CART "constraints: {push: {rate: 'd(x) - if(t < 1, -4, 2)'}}\n";

// The swing of the arm just before and just after, by the angular momentum about the moving hinge:
// (m l^2 + I) da' = m l cos(a) dx'
static void check_blow(const Sheet *t, size_t before, size_t after, double tolerance)
{
    const double a = at(t, after, "a");
    const double jump = 2 * 0.5 * cos(a) * 6 / (2 * 0.25 + 0.1);
    assert_close(at(t, before, "x_rate"), -4, 1e-12);
    assert_close(at(t, after, "x_rate"), 2, 1e-12);
    assert_close(at(t, after, "a_rate") - at(t, before, "a_rate"), jump, tolerance);
    // the cart's impulse times its mean velocity, -1 m/s
    const double impulse = 5 * 6 - 2 * 0.5 * cos(a) * jump;
    assert_close(at(t, after, "energy.work") - at(t, before, "energy.work"), -impulse,
                 5 * tolerance);
}

// Rows a hair before the blow, and at it
static void test_cart(void **state)
{
    (void)state;
    static const char *const models[] = {driven, held, rated};
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    for (size_t k = 0; k < 3; k++)
        for (size_t m = 0; m < 5; m++)
            for (int dense = 0; dense < (m ? 1 : 2); dense++) {
                tr_system *system = system_from(models[k]);
                tr_simulate_options o = tr_simulate_defaults(system);
                tr_summary s;
                o.end = 1.5, o.every = 1.0 / 8, o.method = methods[m], o.dense = dense;
                Sheet *near = simulated(system, o, &s);
                assert_below(s.energy_error, 1e-6);
                if (!m && !dense) assert_below(s.energy_error, 1e-9);
                o.every = 0.99999999;
                o.end = 1;
                Sheet *t = simulated(system, o, &s);
                assert_int_equal(t->rows, 3);
                check_blow(t, 1, 2, 1e-6);
                assert_close(at(near, 8, "a_rate"), at(t, 2, "a_rate"), 1e-6);
                tr_sheet_free(t), tr_sheet_free(near);
                tr_system_free(system);
            }
}

static void test_certificate(void **state)
{
    (void)state;
    tr_system *system = system_from(driven);
    tr_simulate_options o = strictly(system);
    o.end = 2, o.every = 0.5;
    tr_sheet_free(simulated(system, o, NULL));
    char *json = certificate();
    assert_non_null(strstr(json, "\"the rate of 'x' jumps: a blow changes velocities\""));
    assert_non_null(strstr(json, "\"work\": -"));
    free(json);
    tr_system_free(system);
}

// ---- contacts ------------------------------------------------------------------------------

// What lies on a plate that starts and stops at once is thrown.
static const char plate[] =
    "trundle: 1\n"
    "bodies:\n"
    "  plate: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: h}, mass: 3}\n"
    "  ball: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: 2}\n"
    "contacts: {c: {kind: slide, body: ball, on: plate, unilateral: true}}\n"
    "roles: {h: {motion: 'min(max(t - 0.5, 0), 0.5)'}}\n"
    "initial: {z: 0}\n";

static void test_plate(void **state)
{
    (void)state;
    tr_summary s;
    Sheet *t = run_with(system_from(plate), 1.5, 0.05, &s);
    const double flight = 2 / 9.81;
    assert_int_equal(s.switches, 1); // it lands
    assert_below(s.energy_error, 1e-12);
    for (size_t i = 0; i < t->rows; i++) {
        const double now = at(t, i, "t"), up = now - 1;
        if (fabs(up) < 1e-9 || fabs(now - 0.5) < 1e-9) continue; // either side
        const bool rises = now > 0.5 && up<0, flies = up> 0 && up < flight;
        assert_close(at(t, i, "z_rate"), rises ? 1 : flies ? 1 - 9.81 * up : 0, 1e-11);
        assert_close(at(t, i, "z") - at(t, i, "h"), flies ? up - 9.81 / 2 * up * up : 0, 1e-11);
    }
    tr_sheet_free(t);
}

// A block on a belt that starts at once: no normal impulse, so no friction to tear it along; it
// slips, and then goes with the belt.
static const char belt[] =
    "trundle: 1\n"
    "bodies:\n"
    "  belt: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: run}}\n"
    "  slide: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, base: true}}\n"
    "  block: {parent: slide, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z, base: "
    "true},"
    " mass: 1}\n"
    "contacts: {foot: {kind: rolling, shape: ball, body: block, radius: 0.1, at: \"0, 0, 0.1\","
    " on: belt, longitudinal: coulomb, lateral: coulomb, friction: 0.3, stick: true,"
    " unilateral: true}}\n"
    "roles: {run: {motion: 'max(0, t - 0.5)'}}\n"
    "initial: {z: 0}\n";

static void test_belt(void **state)
{
    (void)state;
    tr_summary s;
    Sheet *t = run_with(system_from(belt), 1.5, 0.125, &s);
    assert_int_equal(s.switches, 1); // it holds again
    assert_below(s.energy_error, 1e-12);
    for (size_t i = 0; i < t->rows; i++) {
        const double speed = fmin(fmax(0.3 * 9.81 * (at(t, i, "t") - 0.5), 0), 1);
        assert_close(at(t, i, "x_rate"), speed, 1e-8);
        assert_close(at(t, i, "z"), 0, 1e-14);
    }
    tr_sheet_free(t);
}

// ---- refused -------------------------------------------------------------------------------

static void check_refused(tr_system *system, const char *method, double reached, const char *words)
{
    tr_error err = {0};
    tr_summary s = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 3, o.every = 0.25, o.method = method;
    assert_false(tr_simulate(system, &o, &s, &err));
    if (!strstr(err.text, words)) fail_msg("'%s' does not say '%s'", err.text, words);
    assert_int_equal(err.status, TR_FAILED);
    assert_true(s.t == reached); // nothing is recorded from the jump on
    tr_system_free(system);
}

static void test_places(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "euler"};
    for (size_t m = 0; m < 4; m++) {
        check_refused(system_from(CART "roles: {x: {motion: floor(t)}}\n"), methods[m], 0.75,
                      "the motion of 'x' jumps from 0 to 1 at t = 1:");
        check_refused(system_from(CART "roles: {x: {motion: 'if(t < 1.1, 0, 0.5)'}}\n"), methods[m],
                      1, "the motion of 'x' jumps from 0 to 0.5 at t = 1.1:");
        check_refused(system_from(CART "constraints: {push: {position: x - floor(2*t)/8}}\n"),
                      methods[m], 0.25,
                      "the constraint 'push.position' jumps by -0.125 at t = 0.5:");
    }
    tr_error err = {0};
    tr_model *model = tr_model_read(REPORTED_DIR "/jump_motion.yaml", &err);
    tr_system *system = tr_derive(model, NULL, &err);
    if (!system) fail_msg("%s", err.text);
    check_refused(system, "erk", 0.75, "the motion of 'rl' jumps from 0 to 1 at t = 1:");
    tr_model_free(model);
}

static void test_sensitivities(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(driven);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 2, o.sensitivity = "m";
    assert_false(tr_simulate(system, &o, NULL, &err));
    assert_non_null(strstr(err.text, "the rate of 'x' jumps at t = 1: sensitivities"));
    tr_system_free(system);
}

// A run in pieces, one of which ends at the blow, and one that is restored there
static void test_pieces(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(driven);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 1.0 / 64;
    tr_run *a = tr_run_new(plan, &o, &err), *b = tr_run_new(plan, &o, &err);
    const size_t columns = tr_plan_column_count(plan), size = tr_run_save(b, NULL, 0, &err);
    void *memory = malloc(size);
    double *row = calloc(columns, sizeof *row);
    tr_run_advance(a, 2, &err);
    memcpy(row, tr_run_row(a), columns * sizeof *row);
    for (int i = 1; i <= 8; i++) {
        tr_run_advance(b, i / 4.0, &err);
        tr_run_save(b, memory, size, &err);
        tr_run_reset(b, &err);
        tr_run_restore(b, memory, size, &err);
    }
    if (err.status) fail_msg("%s", err.text);
    assert_memory_equal(row, tr_run_row(b), columns * sizeof *row);
    free(memory), free(row);
    tr_run_free(a), tr_run_free(b);
    tr_plan_free(plan);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cart),   cmocka_unit_test(test_certificate),
        cmocka_unit_test(test_plate),  cmocka_unit_test(test_belt),
        cmocka_unit_test(test_places), cmocka_unit_test(test_sensitivities),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
