// SPDX-License-Identifier: Apache-2.0
// Controllers: inputs that are held between calls, against motions in closed form and the linear
// bicycle of Meijaard et al. with the same hold; what a controller sees; contacts and charts that
// change under it; and what it must not do.
#include "instant.h"
#include "linears.h"

static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie", "rosenbrock", "euler"};
enum { METHODS = sizeof methods / sizeof *methods };

// Runs into a file and reads it; the run may fail.
static Sheet *recorded(tr_system *system, tr_simulate_options o, tr_summary *summary, tr_error *err)
{
    o.output = in_folder("run.csv");
    tr_simulate(system, &o, summary, err);
    return read_sheet(o.output);
}

static Sheet *controlled(tr_system *system, tr_simulate_options o, tr_summary *summary)
{
    tr_error err = {0};
    Sheet *sheet = recorded(system, o, summary, &err);
    if (err.status) fail_msg("%s", err.text);
    return sheet;
}

// ---- held inputs ---------------------------------------------------------------------------

static const char cart[] = "trundle: 1\n"
                           "inputs: {push: 0, stiffness: 0}\n"
                           "bodies:\n"
                           "  cart:\n"
                           "    joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, base: "
                           "true, stiffness: stiffness}\n"
                           "    mass: 2\n"
                           "roles: {x: {torque: push}}\n"
                           "outputs: {push_now: push}\n"
                           "initial: {x: 0, d(x): 0.3}\n";

static double push_at(size_t k) { return 3 * sin(1 + (double)k); }

typedef struct Steps {
    size_t calls;
    double sample;
} Steps;

static bool push_by_steps(void *owner, const tr_instant *now)
{
    Steps *steps = owner;
    assert_close(now->t, (double)steps->calls * steps->sample, 1e-15);
    assert_close(seen(now, "t"), now->t, 0);
    // what it sees, and what it set last
    assert_close(seen(now, "push_now"), steps->calls ? push_at(steps->calls - 1) : 0, 0);
    *setting(now, "push") = push_at(steps->calls++);
    return true;
}

// x'' = u/2, u held: parabolas
static void assert_parabolas(const Sheet *sheet, double sample, double tolerance)
{
    for (size_t row = 0; row < sheet->rows; row++) {
        const double t = at(sheet, row, "t");
        double x = 0, v = 0.3, left = t;
        size_t k = 0;
        for (; left > sample * (1 - 1e-9); k++, left -= sample) {
            x += v * sample + push_at(k) / 4 * sample * sample;
            v += push_at(k) / 2 * sample;
        }
        assert_close(at(sheet, row, "x"), x + v * left + push_at(k) / 4 * left * left, tolerance);
        assert_close(at(sheet, row, "x_rate"), v + push_at(k) / 2 * left, tolerance);
        assert_close(at(sheet, row, "push_now"), push_at(k), 0); // from the call on
    }
}

// Rows between calls, calls between rows, and both at once
static void test_hold(void **state)
{
    (void)state;
    static const double every[] = {0.07, 0.25, 0.1, 0.3};
    for (int m = 0; m < METHODS; m++)
        for (size_t k = 0; k < sizeof every / sizeof *every; k++) {
            tr_system *system = system_from(cart);
            Steps steps = {.sample = 0.1};
            tr_simulate_options o = tr_simulate_defaults(system);
            tr_summary s;
            o.end = 2.1, o.every = every[k], o.method = methods[m], o.dense = k % 2 == 0;
            o.control = push_by_steps, o.sample = steps.sample, o.owner = &steps;
            Sheet *sheet = controlled(system, o, &s);
            const bool first_order = strcmp(methods[m], "euler") == 0;
            assert_parabolas(sheet, 0.1, first_order ? 3e-3 : o.method[0] == 'b' ? 1e-9 : 1e-13);
            assert_int_equal(steps.calls, 22);
            // not a margin: of the first order, with steps of a millisecond
            assert_below(s.energy_error, (first_order ? 1e-2 : 1e-9));
            assert_false(s.interrupted);
            tr_sheet_free(sheet);
            tr_system_free(system);
        }
}

static bool count_rows(void *owner, const tr_instant *now)
{
    size_t *calls = owner;
    assert_close(now->t, fmin(0.3 * (double)(*calls)++, 1), 1e-15);
    return true;
}

static void test_every_row(void **state)
{
    (void)state;
    tr_system *system = system_from(cart);
    size_t calls = 0;
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s;
    o.end = 1, o.every = 0.3, o.control = count_rows, o.owner = &calls;
    tr_sheet_free(controlled(system, o, &s));
    assert_int_equal(calls, 5);
    assert_int_equal(s.rows, 5);
    o.end = 0, calls = 0;
    tr_sheet_free(controlled(system, o, &s));
    assert_int_equal(calls, 1);
    tr_system_free(system);
}

// A spring that gets stiffer while it is stretched: that takes work.
static bool stiffen(void *owner, const tr_instant *now)
{
    (void)owner;
    *setting(now, "stiffness") = now->t < 0.45 ? 0 : 40 * now->t;
    return true;
}

static void test_work_of_changes(void **state)
{
    (void)state;
    tr_system *system = system_from(cart);
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s;
    o.end = 1, o.every = 0.1, o.control = stiffen, o.sample = 0.5;
    Sheet *sheet = controlled(system, o, &s);
    assert_close(at(sheet, 4, "energy.work"), 0, 0);
    assert_close(at(sheet, 6, "energy.work"), 20 * 0.15 * 0.15 / 2, 1e-12);
    assert_below(s.energy_error, 1e-12);
    tr_sheet_free(sheet);
    tr_system_free(system);
}

// ---- the bicycle ---------------------------------------------------------------------------

static bool set_once(void *owner, const tr_instant *now)
{
    (void)owner;
    *setting(now, "steer_torque") = 0.2;
    return true;
}

// A constant is a constant: to the last bit where steps are the same.
static void test_constant(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        const Number torque = {"steer_torque", 0.2};
        const bool adaptive = m < 2;
        tr_system *plain = system_with("bicycle", "straight", &torque, 1);
        tr_system *system = system_called("bicycle", "straight");
        tr_simulate_options o = tr_simulate_defaults(plain);
        tr_summary s;
        o.end = 1, o.every = 0.05, o.method = methods[m], o.step = 0.01;
        Sheet *expected = controlled(plain, o, &s);
        o.control = set_once;
        Sheet *sheet = controlled(system, o, &s);
        for (size_t i = 0; i < sheet->rows; i++)
            for (size_t k = 0; k < sheet->columns; k++) {
                const char *name = sheet->names[k];
                if (adaptive)
                    assert_close(at(sheet, i, name), at(expected, i, name), m ? 1e-5 : 1e-9);
                else
                    assert_true(same_bits(at(sheet, i, name), at(expected, i, name)));
            }
        assert_below(s.kkt_error, 1e-10);
        tr_sheet_free(expected);
        tr_sheet_free(sheet);
        tr_system_free(plain);
        tr_system_free(system);
    }
}

// x = (q, q'), with a torque about the steering axis
static void linear_rate(double speed, const double *x, double torque, double *rate)
{
    const double *M = meijaard_M, det = M[0] * M[3] - M[1] * M[2];
    double f[2] = {0, torque};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const int at = 2 * i + j;
            f[i] -= speed * meijaard_C1[at] * x[2 + j];
            f[i] -= (9.81 * meijaard_K0[at] + speed * speed * meijaard_K2[at]) * x[j];
        }
    rate[0] = x[2], rate[1] = x[3];
    rate[2] = (M[3] * f[0] - M[1] * f[1]) / det;
    rate[3] = (M[0] * f[1] - M[2] * f[0]) / det;
}

// Over a time h, by the series of the exponential; the torque is held.
static void linear_step(double speed, double h, double torque, double *x)
{
    double term[4], next[4];
    linear_rate(speed, x, torque, term);
    for (int k = 1; k < 30; k++) {
        for (int i = 0; i < 4; i++) term[i] *= h / k, x[i] += term[i];
        linear_rate(speed, term, 0, next);
        memcpy(term, next, sizeof term);
    }
}

static bool ride(void *owner, const tr_instant *now)
{
    const double *gain = owner;
    *setting(now, "steer_torque") = -*gain * seen(now, "omega_x");
    return true;
}

static void check_ride(const char *method, double sample, double gain, double tolerance)
{
    const double small = 1e-4, speed = 4;
    const Number values[] = {{"speed0", speed}, {"roll_rate0", small}};
    tr_system *system = system_with("bicycle", "free", values, 2);
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s;
    o.end = 2, o.every = sample, o.method = method, o.step = 1e-3;
    o.rtol = 1e-11, o.atol = 1e-15;
    o.control = ride, o.sample = sample, o.owner = &gain;
    Sheet *sheet = controlled(system, o, &s);
    double x[4] = {0, 0, small, 0}, worst = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        worst = fmax(worst, fabs(at(sheet, i, "roll") - x[0]) / small);
        worst = fmax(worst, fabs(-at(sheet, i, "steer") - x[1]) / small);
        linear_step(speed, sample, gain * x[2], x); // turned into the fall
    }
    print_message("%s, every %g s: %.1e\n", method, sample, worst);
    assert_below(worst, tolerance);
    tr_sheet_free(sheet);
    tr_system_free(system);
}

// Long holds, so that a call that came late or a step that saw the old torque would show
static void test_ride(void **state)
{
    (void)state;
    check_ride("erk", 0.1, 6, 1e-6);
    check_ride("erk", 0.01, 10, 1e-6);
    check_ride("bdf", 0.1, 6, 1e-6);
    check_ride("rk4", 0.1, 6, 1e-6);
    check_ride("pece", 0.1, 6, 1e-6);
    check_ride("lie", 0.1, 6, 1e-6);
}

// ---- contacts and charts -------------------------------------------------------------------

static const char block[] = "trundle: 1\n"
                            "inputs: {lift: 0}\n"
                            "bodies:\n"
                            "  block:\n"
                            "    joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z, "
                            "base: true}\n"
                            "    mass: 2\n"
                            "contacts: {foot: {kind: slide, body: block, unilateral: true}}\n"
                            "forces: {crane: {body: block, force: \"0, 0, lift\"}}\n"
                            "initial: {z: 0}\n";

static bool lift(void *owner, const tr_instant *now)
{
    const double *from = owner;
    if (now->t >= *from - 1e-9) *setting(now, "lift") = 2 * 9.81 + 3;
    assert_close(seen(now, "lambda.foot.normal"), now->t > *from + 1e-9 ? 0 : 2 * 9.81, 1e-12);
    return true;
}

// It leaves the ground when it is lifted, from the start as well.
static void test_lift(void **state)
{
    (void)state;
    static const double from[] = {0, 0.4};
    for (int k = 0; k < 2; k++)
        for (int m = 0; m < METHODS - 1; m++) {
            tr_system *system = system_from(block);
            tr_simulate_options o = tr_simulate_defaults(system);
            tr_summary s;
            o.end = 1, o.every = 0.1, o.sample = 0.2, o.method = methods[m];
            o.control = lift, o.owner = (void *)(uintptr_t)&from[k];
            Sheet *sheet = controlled(system, o, &s);
            const double t = 1 - from[k];
            assert_int_equal(s.switches, 1);
            assert_close(at(sheet, sheet->rows - 1, "z"), 1.5 * t * t / 2, 1e-8);
            tr_sheet_free(sheet);
            tr_system_free(system);
        }
}

static bool jitter(void *owner, const tr_instant *now)
{
    bool *up = owner;
    *up = !*up;
    if (now->t > 0.1) *setting(now, "torque.th1") = *up ? 1e-13 : -1e-13;
    return true;
}

static tr_system *four_bar(void)
{
    static const char *const controls[] = {"th1"};
    tr_error err = {0};
    tr_model *model = tr_model_read(MODELS_DIR "/four_bar.yaml", &err);
    const tr_derive_options options = {
        .size = sizeof options, .case_name = "turns", .controls = controls, .control_count = 1};
    tr_system *system = tr_derive(model, &options, &err);
    tr_model_free(model);
    if (!system) fail_msg("%s", err.text);
    return system;
}

// Calls come so fast that the method makes one step at a time; charts are changed all the same.
static void test_charts(void **state)
{
    (void)state;
    tr_system *system = four_bar();
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary plain, s;
    bool up = false;
    o.end = 2, o.every = 0.01;
    Sheet *expected = controlled(system, o, &plain);
    o.control = jitter, o.sample = 0.0002, o.owner = &up;
    Sheet *sheet = controlled(system, o, &s);
    assert_true(plain.chart_changes > 3);
    assert_int_equal(s.chart_changes, plain.chart_changes);
    assert_below(s.kkt_error, 1e-10);
    assert_below(difference(sheet, "th1", expected, "th1"), 1e-8);
    tr_sheet_free(expected);
    tr_sheet_free(sheet);
    tr_system_free(system);
}

// ---- what it must not do -------------------------------------------------------------------

static bool stop_later(void *owner, const tr_instant *now)
{
    (void)owner;
    return now->t < 0.45;
}

static void test_stop(void **state)
{
    (void)state;
    tr_system *system = system_from(cart);
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s;
    o.end = 1, o.every = 0.1, o.sample = 0.05, o.control = stop_later;
    Sheet *sheet = controlled(system, o, &s);
    assert_true(s.interrupted);
    assert_int_equal(sheet->rows, 5); // the one at its time is not recorded
    assert_close(s.t, 0.4, 1e-15);
    tr_sheet_free(sheet);
    tr_system_free(system);
}

typedef struct Change {
    const char *input;
    double value;
} Change;

static bool change_input(void *owner, const tr_instant *now)
{
    const Change *c = owner;
    if (now->t > 0.15) *setting(now, c->input) = c->value;
    return true;
}

static void assert_refused(const char *text, Change c, const char *words)
{
    tr_system *system = system_from(text);
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 0.1, o.control = change_input, o.owner = &c;
    Sheet *sheet = recorded(system, o, NULL, &err);
    assert_string_equal(err.text, words);
    assert_int_equal(err.status, TR_FAILED);
    assert_int_equal(sheet->rows, 2);
    tr_sheet_free(sheet);
    tr_system_free(system);
}

#define TWO_CARTS                                                                  \
    "trundle: 1\n"                                                                 \
    "inputs: {u: 0.5}\n"                                                           \
    "bodies:\n"                                                                    \
    "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n" \
    "  b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: y}, mass: 1}\n"

static void test_refusals(void **state)
{
    (void)state;
    assert_refused(cart, (Change){"push", (double)NAN},
                   "the controller set 'push' to something that is not finite at t = 0.2");
    assert_refused(
        TWO_CARTS "roles: {x: {motion: u*t}}\n", (Change){"u", 0.7},
        "the controller changes 'x' instantaneously at t = 0.2: it may change forces only");
    assert_refused(TWO_CARTS "constraints: {tie: {position: x - y - u}}\n", (Change){"u", 0.7},
                   "the controller changes a constraint on positions at t = 0.2: it may change "
                   "forces only");
}

// In first order velocities follow at once: x = 0.5 t until 0.2, and 0.7 t from there on.
static void test_first_order(void **state)
{
    (void)state;
    Change c = {"u", 0.7};
    tr_system *system = system_from(TWO_CARTS "commands: {d(x): {value: u}, d(y): {value: -u}}\n"
                                              "initial: {x: 0, y: 0}\n"
                                              "cases: {now: {order: 1}}\n");
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 0.1, o.control = change_input, o.owner = &c;
    Sheet *sheet = controlled(system, o, NULL);
    assert_close(last(sheet, "x"), 0.5 * 0.2 + 0.7 * 0.8, 1e-12);
    assert_close(last(sheet, "y"), -0.5 * 0.2 - 0.7 * 0.8, 1e-12);
    tr_sheet_free(sheet);
    tr_system_free(system);
}

static void assert_misused(double sample, const char *sensitivity, const char *words)
{
    tr_system *system = system_from(cart);
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.control = stop_later, o.sample = sample, o.sensitivity = sensitivity;
    assert_false(tr_simulate(system, &o, NULL, &err));
    assert_string_equal(err.text, words);
    assert_int_equal(err.status, TR_USAGE);
    tr_system_free(system);
}

static void test_misuse(void **state)
{
    (void)state;
    static const char between[] =
        "the time between calls of the controller must be positive, or 0 for every row";
    assert_misused(-1, NULL, between);
    assert_misused((double)NAN, NULL, between);
    assert_misused(1e-12, NULL, between);
    assert_misused(0.1, "push", "sensitivities do not see through a controller");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hold),        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_constant),    cmocka_unit_test(test_work_of_changes),
        cmocka_unit_test(test_ride),        cmocka_unit_test(test_lift),
        cmocka_unit_test(test_charts),      cmocka_unit_test(test_stop),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_first_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
