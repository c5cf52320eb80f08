// SPDX-License-Identifier: Apache-2.0
// Torques that are made inputs keep the value that their law has where a linear model is taken: it
// is the model in which that number is an input from the start.
#include "linear/linear.h"
#include "runs.h"

static const char *const control_a[] = {"a"};

static tr_system *tried(const char *text, const char *const *controls, tr_error *err)
{
    tr_model *model = tr_model_parse(text, err);
    const tr_derive_options options = {
        .size = sizeof options, .controls = controls, .control_count = controls ? 1 : 0};
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model);
    return system;
}

static tr_system *must(const char *text, const char *const *controls)
{
    tr_error err = {0};
    tr_system *system = tried(text, controls, &err);
    if (!system) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return system;
}

static const tr_lqr *design(tr_system *system, const char *inputs)
{
    tr_error err = {0};
    const tr_lqr_options o = {.size = sizeof o, .inputs = inputs};
    const tr_lqr *lqr = tr_lqr_design(system, &o, &err);
    if (!lqr) fail_msg("%s", err.text);
    return lqr;
}

// The feedback for a joint `a` is that for an input `u` that is its torque, the constant included.
static void compare(const char *by_law, const char *by_input)
{
    tr_system *one = must(by_law, control_a), *other = must(by_input, NULL);
    const tr_lqr *a = design(one, "a"), *b = design(other, "u");
    assert_int_equal(a->states, b->states);
    for (size_t i = 0; i < a->states; i++) {
        assert_close(a->K[i], b->K[i], 1e-9 * fmax(1, fabs(b->K[i])));
        for (size_t k = 0; k < a->states; k++)
            assert_close(a->A[i * a->states + k], b->A[i * a->states + k], 1e-9);
    }
    assert_close(a->unsteadiness, b->unsteadiness, 1e-9);
    assert_close(strtod(a->law[0], NULL), strtod(b->law[0], NULL), 1e-9);
    tr_lqr_free(a);
    tr_lqr_free(b);
    tr_system_free(one);
    tr_system_free(other);
}

// ---- laws ----------------------------------------------------------------------------------

static void test_pendulum(void **state)
{
    (void)state;
    char *text = read_text(REPORTED_DIR "/pend.yaml");
    compare(text, text);
    tr_system *system = must(text, control_a);
    const tr_lqr *lqr = design(system, "a");
    double fastest = 0;
    for (size_t i = 0; i < lqr->states; i++) fastest = fmax(fastest, lqr->before[2 * i + 1]);
    assert_close(fastest, 23.250272369799, 1e-9); // not 22.215
    assert_below(lqr->unsteadiness, 1e-9);        // where it is held by that torque
    assert_close(strtod(lqr->law[0], NULL), -21.340442463449, 1e-9);
    tr_lqr_free(lqr);
    tr_system_free(system);
    free(text);
}

#define ARM                                                                                        \
    "trundle: 1\n"                                                                                 \
    "parameters: {k: 2, shift: 0.5}\n"                                                             \
    "inputs: {u: %s}\n"                                                                            \
    "bodies:\n"                                                                                    \
    "  one: {joint: {type: revolute, axis: '0, 1, 0', coordinate: a}, mass: 1, com: '0, 0, 1'}\n"  \
    "  two: {parent: one, joint: {type: revolute, axis: '0, 1, 0', at: '0, 0, 1', coordinate: b, " \
    "stiffness: 40, damping: 0.1}, mass: 0.5, com: '0, 0, 0.4'}\n"                                 \
    "roles: {a: {torque: %s}}\n"                                                                   \
    "initial: {a: 0.3, b: -0.2, d(a): 0.7}\n"

// Of coordinates, rates, parameters, other inputs and time
static void test_formula(void **state)
{
    (void)state;
    char by_law[1000], by_input[1000], value[60];
    snprintf(by_law, sizeof by_law, ARM, "1.5", "u + k*sin(a + shift) - 3*d(a)*cos(b) + cos(t)");
    snprintf(value, sizeof value, "%.17g", 1.5 + 2 * sin(0.3 + 0.5) - 3 * 0.7 * cos(-0.2) + 1);
    snprintf(by_input, sizeof by_input, ARM, value, "u");
    compare(by_law, by_input);
}

// A wheel on a rail, which pulls a cart: the rail's force depends on the torque.
#define RAIL                                                                                       \
    "trundle: 1\n"                                                                                 \
    "parameters: {R: 0.1}\n"                                                                       \
    "inputs: {u: %s}\n"                                                                            \
    "bodies:\n"                                                                                    \
    "  cart: {joint: {type: prismatic, axis: '1, 0, 0', at: '0, 0, R', coordinate: x, base: "      \
    "true}, mass: 2}\n"                                                                            \
    "  wheel: {parent: cart, joint: {type: revolute, axis: '0, 1, 0', coordinate: a}, mass: 0.3, " \
    "inertia: {axial: 0.0015, radial: 0.0008}}\n"                                                  \
    "  pole: {parent: cart, joint: {type: revolute, axis: '0, 1, 0', coordinate: b}, mass: 0.5, "  \
    "com: '0, 0, 0.8'}\n"                                                                          \
    "contacts: {rail: {kind: rolling, body: wheel, radius: R}}\n"                                  \
    "roles: {a: {torque: %s}}\n"                                                                   \
    "initial: {b: 0.2}\n"

static void test_reaction(void **state)
{
    (void)state;
    char by_law[1500], by_input[1500], value[60];
    snprintf(by_law, sizeof by_law, RAIL, "0", "0.2 + 0.03*lambda.rail.longitudinal + 0.1*b");
    tr_system *whole = must(by_law, NULL);
    double torque = 0; // as the model itself has it
    evaluate_start(whole, "tau.a", &torque, 1);
    assert_true(fabs(torque - 0.22) > 0.01);
    tr_system_free(whole);
    snprintf(value, sizeof value, "%.17g", torque);
    snprintf(by_input, sizeof by_input, RAIL, value, "u");
    compare(by_law, by_input);
}

// ---- linear models and sweeps of systems with controls -------------------------------------

static void test_linear(void **state)
{
    (void)state;
    tr_error err = {0};
    char by_law[1000], by_input[1000], value[60];
    snprintf(by_law, sizeof by_law, ARM, "0", "k*cos(a)");
    tr_system *one = must(by_law, control_a);
    for (int i = 0; i < 2; i++) { // also where a sweep puts another value
        tr_locus *sweep = tr_locus_new(one, "k", 2, 7, 5, &err);
        snprintf(value, sizeof value, "%.17g", (i ? 7 : 2) * cos(0.3));
        snprintf(by_input, sizeof by_input, ARM, value, "u");
        tr_system *other = must(by_input, NULL);
        tr_linear *linear = tr_linearise(other, NULL, &err);
        double values[4][2];
        if (!sweep || !linear || !tr_linear_eigenvalues(linear, values, &err))
            fail_msg("%s", err.text);
        assert_int_equal(sweep->count, 4);
        for (uint32_t k = 0; k < 4; k++) {
            double nearest = (double)INFINITY;
            const double *row = sweep->eigenvalues + 8 * i;
            for (uint32_t j = 0; j < 4; j++)
                nearest =
                    fmin(nearest, hypot(row[2 * j] - values[k][0], row[2 * j + 1] - values[k][1]));
            assert_below(nearest, 1e-9);
        }
        tr_linear_free(linear);
        tr_system_free(other);
        tr_locus_free(sweep);
    }
    tr_system_free(one);
}

static void test_refused(void **state)
{
    (void)state;
    tr_error err = {0};
    char text[1000];
    snprintf(text, sizeof text, ARM, "0", "log(b)");
    tr_system *system = must(text, control_a);
    const tr_lqr_options o = {.size = sizeof o, .inputs = "a"};
    assert_null(tr_lqr_design(system, &o, &err));
    assert_int_equal(err.status, TR_FAILED);
    if (!strstr(err.text, "'a' is not finite")) fail_msg("%s", err.text);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum), cmocka_unit_test(test_formula),
        cmocka_unit_test(test_reaction), cmocka_unit_test(test_linear),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
