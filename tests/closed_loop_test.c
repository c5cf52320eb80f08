// SPDX-License-Identifier: Apache-2.0
// Loops that controllers and sensors close (T323): against products of matrices by hand, the design
// that they come from, and how runs decay from sample to sample.
#include "runs.h"

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%d:%d: %s", err->line, err->column, err->text);
}

static tr_linear *loop_of(const tr_system *system, double step)
{
    tr_error err = {0};
    tr_linear *loop = tr_linearise_loop(system, step, NULL, &err);
    insist(&err);
    return loop;
}

static uint32_t state_called(const tr_linear *l, const char *name)
{
    uint32_t i = 0;
    while (i < l->states && strcmp(l->state[i], name) != 0) i++;
    if (i == l->states) fail_msg("there is no state %s", name);
    return i;
}

static double entry(const tr_linear *l, const char *row, const char *column)
{
    return l->A[state_called(l, row) * l->states + state_called(l, column)];
}

// ---- by hand -------------------------------------------------------------------------------

#define CART                                                                \
    "trundle: 1\n"                                                          \
    "parameters: {T: 0.1, k: 3, c: 1}\n"                                    \
    "inputs: {u: 0, w: 0}\n"                                                \
    "bodies: {x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2}}\n" \
    "roles: {x: {torque: u + w}}\n"

// x+ = x + T v + T^2/4 u,  v+ = v + T/2 u,  u = -k x - c v: what is held is no state
static void test_without_memory(void **state)
{
    (void)state;
    tr_system *system =
        system_from(CART "controllers: {a: {period: T, outputs: {u: -k*x - c*d(x)}}}\n");
    tr_linear *l = loop_of(system, 0.1);
    const double T = 0.1, A[] = {1 - 3 * T * T / 4, T - T * T / 4, -3 * T / 2, 1 - T / 2};
    assert_int_equal(l->states, 2);
    for (int i = 0; i < 4; i++) assert_close(l->A[i], A[i], 1e-14);
    assert_string_equal(l->input[0], "w"); // and not what the controller sets
    assert_close(l->B[0], T * T / 4, 1e-15);
    assert_close(l->B[l->inputs], T / 2, 1e-15);
    tr_linear *twice = loop_of(system, 0.2); // two samples
    assert_close(twice->A[0], A[0] * A[0] + A[1] * A[2], 1e-14);
    assert_close(twice->A[3], A[2] * A[1] + A[3] * A[3], 1e-14);
    tr_linear_free(l);
    tr_linear_free(twice);
    tr_system_free(system);
}

// A sensor that is late by one, an integral that is made half as often, and a motor that lags
static void test_with_memory(void **state)
{
    (void)state;
    tr_system *system =
        system_from(CART "sensors: {late: {of: x, period: T, delay: 1}}\n"
                         "controllers:\n"
                         "  a: {period: T, outputs: {u: -k*late - i.e}}\n"
                         "  i: {period: 2*T, states: {e: 0}, update: {e: e + late}, "
                         "outputs: {w: e}}\n");
    tr_linear *l = loop_of(system, 0.2);
    // before: x v r e. First: late = r, u = -k r - e, w = e, e+ = e + r, r+ = x; then a move;
    // second: late = x_0, u = -k x_0 - e+, r+ = x_1; then a move with w as it was
    const double T = 0.1, h = T * T / 4, g = T / 2;
    double M[4][4];
    for (int j = 0; j < 4; j++) {
        double x = j == 0, v = j == 1, r = j == 2, e = j == 3;
        const double w = e, x0 = x;
        double u = -3 * r - e;
        e += r;
        x += T * v + h * (u + w), v += g * (u + w);
        u = -3 * x0 - e, r = x;
        x += T * v + h * (u + w), v += g * (u + w);
        M[0][j] = x, M[1][j] = v, M[2][j] = r, M[3][j] = e;
    }
    static const char *const names[] = {"x", "x_rate", "sensors.late.delayed1", "i.e"};
    assert_int_equal(l->states, 4);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) assert_close(entry(l, names[i], names[j]), M[i][j], 1e-14);
    tr_linear_free(l);
    tr_system_free(system);
}

// ---- against designs and runs --------------------------------------------------------------

// The least stable first
static double (*roots_of(const tr_linear *l))[2]
{
    tr_error err = {0};
    double(*roots)[2] = calloc(l->states + 1u, sizeof *roots);
    tr_linear_eigenvalues(l, roots, &err);
    insist(&err);
    for (uint32_t i = 1; i < l->states; i++) // by size
        for (uint32_t k = i; k > 0 && hypot(roots[k][0], roots[k][1]) >
                                          hypot(roots[k - 1][0], roots[k - 1][1]) * (1 + 1e-12);
             k--) {
            const double a = roots[k][0], b = roots[k][1];
            memcpy(roots[k], roots[k - 1], sizeof *roots);
            roots[k - 1][0] = a, roots[k - 1][1] = b;
        }
    return roots;
}

// What lqr --step designs is what linearise --step says of the file that it writes.
static void test_design(void **state)
{
    (void)state;
    tr_error err = {0};
    static const char *const controls[] = {"left", "right"};
    tr_model *model = model_called("segway");
    const tr_setting upright = {"pitch0", "0"};
    tr_derive_options d = tr_derive_defaults();
    d.case_name = "fall", d.settings = &upright, d.setting_count = 1;
    tr_derive_options with = d;
    d.controls = controls, d.control_count = 2;
    tr_system *system = tr_derive(model, &d, &err);
    tr_lqr_options o = tr_lqr_defaults();
    o.inputs = "left,right", o.q = "way=20", o.step = 0.02;
    const tr_lqr *lqr = tr_lqr_design(system, &o, &err);
    char *file = tr_lqr_fragment(lqr, &err);
    const char *const name = "gains.yaml", *const text = file;
    with.with = &name, with.with_texts = &text, with.with_count = 1;
    tr_system *closed = tr_derive(model, &with, &err);
    insist(&err);
    tr_linear *l = loop_of(closed, 0.02);
    double(*roots)[2] = roots_of(l);
    const uint32_t left = l->states - (uint32_t)lqr->states; // place and heading
    for (uint32_t i = 0; i < left; i++) assert_close(roots[i][0], 1, 1e-6);
    for (uint32_t i = 0; i < lqr->states; i++) {
        assert_close(roots[left + i][0], lqr->after[2 * i], 1e-7);
        assert_close(fabs(roots[left + i][1]), fabs(lqr->after[2 * i + 1]), 1e-7);
    }
    free(roots);
    tr_linear_free(l);
    tr_text_free(file);
    tr_lqr_free(lqr);
    tr_system_free(system);
    tr_system_free(closed);
    tr_model_free(model);
}

// An arm that stands, held by a motor that lags
#define ARM                                                                      \
    "trundle: 1\n"                                                               \
    "inputs: {u: 0, shift: 0}\n"                                                 \
    "bodies: {arm: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}, " \
    "mass: 1, com: \"0, 0, 0.5\", inertia: {yy: 0.02}}}\n"                       \
    "states: {motor: {rate: (u - motor)/0.02}}\n"                                \
    "roles: {a: {torque: motor - 0.1*d(a)}}\n"                                   \
    "initial: {a: 0.0001, d(a): 0}\n"                                            \
    "cases: {c: {method: rk4, step: 0.0005}}\n"

// From four values that follow each other: of y+2 = p y+1 + q y the roots
static void decay(const double y[4], double *re, double *im)
{
    const double det = y[1] * y[1] - y[0] * y[2], p = (y[1] * y[2] - y[0] * y[3]) / det,
                 q = (y[1] * y[3] - y[2] * y[2]) / det, d = p * p / 4 + q;
    *re = d < 0 ? p / 2 : p / 2 + copysign(sqrt(d), p), *im = d < 0 ? sqrt(-d) : 0;
}

static void check_decay(const char *rest, double step, int steps)
{
    tr_error err = {0};
    char text[1500];
    snprintf(text, sizeof text, ARM "%s", rest);
    tr_system *system = system_from(text);
    tr_linear *l = loop_of(system, step);
    double(*roots)[2] = roots_of(l);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = steps * step, o.every = step;
    Sheet *run = simulated(system, o, NULL);
    const double *a = column(run, "a");
    double re, im;
    decay(a + run->rows - 4, &re, &im);
    print_message("by the model %.9f +- %.9fi, by the run %.9f +- %.9fi, of %u states\n",
                  roots[0][0], fabs(roots[0][1]), re, im, l->states);
    assert_true(hypot(re, im) < 0.999);
    assert_close(hypot(re, im), hypot(roots[0][0], roots[0][1]), 1e-6);
    assert_close(log(hypot(re, im)), log(hypot(roots[0][0], roots[0][1])), 1e-6);
    assert_close(re, roots[0][0], 1e-6);
    assert_close(im, fabs(roots[0][1]), 1e-6);
    insist(&err);
    tr_sheet_free(run);
    free(roots);
    tr_linear_free(l);
    tr_system_free(system);
}

static void test_decay(void **state)
{
    (void)state;
    check_decay("controllers: {pd: {period: 0.02, outputs: {u: -9*a - 2*d(a)}}}\n", 0.02, 120);
    // late by two samples
    check_decay("sensors:\n"
                "  angle: {of: a, period: 0.01, delay: 2}\n"
                "  gyro: {of: d(a), period: 0.01, delay: 2}\n"
                "controllers: {pd: {period: 0.01, outputs: {u: -9*angle - 2*gyro}}}\n",
                0.01, 250);
    // two periods, of which one leads to the other
    check_decay("sensors: {gyro: {of: d(a), period: 0.01, delay: 1}}\n"
                "controllers:\n"
                "  inner: {period: 0.01, outputs: {u: -2*gyro - shift}}\n"
                "  outer: {period: 0.03, states: {e: 0}, update: {e: e + 0.03*a}, outputs: {shift: "
                "9*a + 14*e}}\n",
                0.03, 330);
}

// ---- words ---------------------------------------------------------------------------------

static void test_words(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *plain = system_from(CART),
              *two = system_from(CART "sensors: {late: {of: x, period: 0.015}}\n"
                                      "controllers: {a: {period: 0.02, outputs: {u: -late}}}\n");
    assert_null(tr_linearise_loop(plain, 0.1, NULL, &err));
    assert_says(err.text, "no controllers and no sensors");
    err = (tr_error){0};
    assert_null(tr_linearise_loop(two, 0.02, NULL, &err));
    assert_says(err.text, "multiple of the periods of all controllers and sensors: 0.06 s is the "
                          "shortest");
    err = (tr_error){0};
    tr_linear_free(loop_of(two, 0.06));
    tr_linear_free(loop_of(two, 0.12));
    tr_system *never = system_from(CART "sensors: {late: {of: x, period: sqrt(2)}}\n"
                                        "controllers: {a: {period: 0.02, outputs: {u: -late}}}\n");
    assert_null(tr_linearise_loop(never, 0.02, NULL, &err));
    assert_says(err.text, "have none in common");
    err = (tr_error){0};
    tr_linearise_options o = tr_linearise_defaults();
    char *text = tr_linearise_text(two, &o, &err);
    assert_says(text, "controllers and sensors hold what they say: --step shows the loop");
    tr_text_free(text);
    o.json = true, o.step = 0.06;
    text = tr_linearise_text(two, &o, &err);
    insist(&err);
    assert_says(text, "\"closed_loop\": {");
    tr_text_free(text);
    tr_system_free(plain);
    tr_system_free(two);
    tr_system_free(never);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_memory), cmocka_unit_test(test_with_memory),
        cmocka_unit_test(test_design),         cmocka_unit_test(test_decay),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
