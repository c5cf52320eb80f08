// SPDX-License-Identifier: Apache-2.0
// States of the user's own (T320): against closed forms under every method, linearised by hand, in
// batches, snapshots, sensitivities, covariances and first order; and what they cannot be.
#include "runs.h"

static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie", "euler"};
enum { METHODS = sizeof methods / sizeof *methods };

#define CART                              \
    "trundle: 1\n"                        \
    "parameters: {m: 2, f: 3, i0: 0.5}\n" \
    "bodies: {cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: m}}\n"

// ---- integrals -----------------------------------------------------------------------------

// x = f t^2/2m; its integral, and that of this one
static const char integrals[] =
    CART "states: {i: {rate: cart, initial: i0}, j: {rate: i, initial: \"-2*i0\"}}\n"
         "roles: {cart: {torque: f}}\n"
         "outputs: {speed: d(i), more: d(d(j)), sum: i + j}\n"
         "initial: {cart: 0, d(cart): 0}\n"
         "cases: {a: {end: 2, every: 0.25, step: 0.002}}\n";

static void test_integrals(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        tr_system *system = system_from(integrals);
        tr_simulate_options o = strictly(system);
        o.method = methods[k];
        const bool euler = strcmp(methods[k], "euler") == 0;
        const double tolerance = euler ? 1e-2 : strcmp(methods[k], "bdf") == 0 ? 1e-10 : 1e-12;
        Sheet *run = simulated(system, o, NULL);
        for (size_t row = 0; row < run->rows; row++) {
            const double t = at(run, row, "t"), x = 3 * t * t / 4, i = 0.5 + 3 * t * t * t / 12,
                         j = -1 + 0.5 * t + 3 * t * t * t * t / 48;
            assert_close(at(run, row, "i"), i, tolerance);
            assert_close(at(run, row, "j"), j, tolerance);
            assert_close(at(run, row, "speed"), x, tolerance);
            assert_close(at(run, row, "more"), x, tolerance); // j'' = i' = x
            assert_close(at(run, row, "sum"), i + j, tolerance);
        }
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// A swinging double pendulum with a torque that lags behind what a filter of a filter says: stiff
// and not, in a free base's company
static const char lagging[] =
    "trundle: 1\n"
    "parameters: {tau: 1e-4}\n"
    "bodies:\n"
    "  base: {joint: {type: free}, mass: 3, inertia: {xx: 0.2, yy: 0.3, zz: 0.4}}\n"
    "  arm:\n"
    "    parent: base\n"
    "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}\n"
    "    mass: 1\n"
    "    com: 0, 0, -0.5\n"
    "states:\n"
    "  slow: {rate: (a - slow)/0.2}\n"
    "  fast: {rate: (-4*slow - d(slow) - fast)/tau, initial: -4*0.3}\n"
    "roles: {a: {torque: fast}}\n"
    "gravity: 0, 0, 0\n"
    "initial: {a: 0.3, d(a): 1, base.wx: 0.4}\n"
    "cases: {a: {end: 1, every: 0.1, step: 0.0001}}\n";

static void test_methods(void **state)
{
    (void)state;
    Sheet *first = NULL;
    for (int k = 0; k < METHODS - 1; k++) {
        tr_system *system = system_from(lagging);
        tr_simulate_options o = strictly(system);
        o.method = methods[k];
        Sheet *run = simulated(system, o, NULL);
        if (!first) {
            first = run;
        } else {
            static const char *const names[] = {"a", "slow", "fast", "base.qx", "base.wx"};
            for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                assert_below(difference(run, names[i], first, names[i]), 1e-9);
            tr_sheet_free(run);
        }
        tr_system_free(system);
    }
    tr_sheet_free(first);
}

// ---- a regulator with a memory -------------------------------------------------------------

// m x'' = kp (r - x) + ki e - kd x', e' = r - x, and a lever in r alone
static const char pid[] = CART "inputs: {r: 0}\n"
                               "states: {e: {rate: r - cart}}\n"
                               "roles: {cart: {torque: 20*(r - cart) + 10*e - 5*d(cart)}}\n"
                               "outputs: {error: r - cart}\n"
                               "initial: {cart: 0, d(cart): 0}\n";

static void test_linear_model(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(pid);
    tr_linear *l = tr_linearise(system, NULL, &err);
    if (!l) fail_msg("%s", err.text);
    static const double A[] = {0, 1, 0, -10, -2.5, 5, -1, 0, 0};
    static const double B[] = {0, 10, 1}; // of r
    assert_int_equal(l->states, 3);
    assert_string_equal(l->state[2], "e");
    for (int i = 0; i < 9; i++) assert_close(l->A[i], A[i], 1e-14);
    for (int i = 0; i < 3; i++) assert_close(l->B[(size_t)i * l->inputs], B[i], 1e-14);
    assert_close(l->C[0], -1, 0);
    assert_close(l->D[0], 1, 0);
    tr_linear_free(l);
    tr_system_free(system);
}

// Steady is where nothing changes: x = r, e = 0 unless something pushes all the time.
static void test_steady_motion(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system =
        system_from(CART "inputs: {r: 0.7}\n"
                         "states: {e: {rate: r - cart}}\n"
                         "roles: {cart: {torque: 20*(r - cart) + 10*e - 5*d(cart)}}\n"
                         "forces: {wind: {body: cart, force: \"-4, 0, 0\"}}\n");
    tr_steady_options o = tr_steady_defaults();
    tr_steady *found = tr_steady_find(system, &o, &err);
    if (!found) fail_msg("%s", err.text);
    char *text = tr_steady_text(found, true, &err);
    assert_close(number_behind(text, "\"cart\": "), 0.7, 1e-12);
    assert_close(number_behind(text, "\"e\": "), 0.4, 1e-12);
    tr_text_free(text);
    tr_steady_free(found);
    tr_system_free(system);
}

// ---- what goes along -----------------------------------------------------------------------

// i = i0 + f t^3/6m:   di/dm = -f t^3/6m^2,   di/di0 = 1,   dj/di0 = t - 2
static void test_sensitivities(void **state)
{
    (void)state;
    tr_system *system = system_from(integrals);
    tr_simulate_options o = strictly(system);
    o.sensitivity = "m,i0";
    Sheet *run = simulated(system, o, NULL);
    assert_close(last(run, "d(i)/d(m)"), -3 * 8. / 24, 1e-11);
    assert_close(last(run, "d(i)/d(i0)"), 1, 1e-12);
    assert_close(last(run, "d(j)/d(i0)"), 0, 1e-12);
    assert_close(last(run, "d(sum)/d(i0)"), 1, 1e-12);
    tr_sheet_free(run);
    tr_system_free(system);
}

// sd(s) = sd0 e^(-t/T), and what it drives is uncertain with it
static void test_deviations(void **state)
{
    (void)state;
    tr_system *system = system_from(CART "states: {s: {rate: -s/0.5, initial: 1}}\n"
                                         "roles: {cart: {torque: m*s}}\n"
                                         "deviations: {s: 0.1}\n"
                                         "initial: {cart: 0, d(cart): 0}\n"
                                         "cases: {a: {end: 1, every: 0.5}}\n");
    Sheet *run = simulated(system, strictly(system), NULL);
    const double left = exp(-2.);
    assert_close(last(run, "sd(s)"), 0.1 * left, 1e-11);
    assert_close(last(run, "sd(cart_rate)"), 0.1 * 0.5 * (1 - left), 1e-11);
    assert_close(last(run, "sd(cart)"), 0.1 * (0.5 - 0.25 * (1 - left)), 1e-11);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%s", err->text);
}

static void assert_same_rows(const double *a, const double *b, size_t columns)
{
    assert_true(a && b);
    for (size_t i = 0; i < columns; i++) assert_true(same_bits(a[i], b[i]));
}

static size_t column_called(const tr_plan *plan, const char *name)
{
    size_t i = 0;
    while (strcmp(tr_plan_column_name(plan, i), name) != 0) i++;
    return i;
}

// Members of a batch, a run of its own, and one that was saved on the way
static void test_batches_and_snapshots(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(lagging);
    tr_plan *plan = tr_plan_new(system, &err);
    const size_t columns = tr_plan_column_count(plan);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 1e-4;
    tr_batch *batch = tr_batch_new(plan, 5, &o, &err);
    insist(&err);
    for (size_t i = 0; i < 5; i++) {
        tr_batch_set(batch, i, "initial.slow", 0.1 * (double)i, &err);
        tr_batch_reset(batch, i, &err);
    }
    tr_batch_advance(batch, 0.05, &err);
    insist(&err);
    for (size_t i = 0; i < 5; i++) {
        tr_run *run = tr_run_new(plan, &o, &err), *other = tr_run_new(plan, &o, &err);
        tr_run_set(run, "initial.slow", 0.1 * (double)i, &err);
        tr_run_reset(run, &err);
        assert_close(tr_run_row(run)[column_called(plan, "slow")], 0.1 * (double)i, 1e-15);
        tr_run_advance(run, 0.02, &err);
        insist(&err);
        const size_t size = tr_run_save(run, NULL, 0, &err);
        void *memory = malloc(size);
        tr_run_save(run, memory, size, &err);
        tr_run_restore(other, memory, size, &err);
        tr_run_advance(run, 0.05, &err);
        tr_run_advance(other, 0.05, &err);
        insist(&err);
        assert_same_rows(tr_run_row(run), tr_batch_row(batch, i), columns);
        assert_same_rows(tr_run_row(run), tr_run_row(other), columns);
        free(memory);
        tr_run_free(run);
        tr_run_free(other);
    }
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(system);
}

// ---- where they stand ----------------------------------------------------------------------

// A motor that lags behind what is asked of it: v = 1 - e^(-t/T)
static void test_first_order(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS - 1; k++) {
        tr_system *system = system_from("trundle: 1\n"
                                        "inputs: {want: 1}\n"
                                        "bodies: {body: {joint: {type: planar}}}\n"
                                        "contacts: {edge: {kind: skate, body: body}}\n"
                                        "states:\n"
                                        "  v: {rate: (want - v)/0.5}\n"
                                        "  way: {rate: body.speed}\n"
                                        "commands: {body.vx: {value: v}, body.wz: {value: 0.2}}\n"
                                        "outputs: {ahead: d(body.vx)}\n"
                                        "initial: {body.x: 0, body.y: 0, body.theta: 0}\n"
                                        "cases: {a: {order: 1, end: 2, every: 1, step: 0.002}}\n");
        tr_simulate_options o = strictly(system);
        o.method = methods[k];
        Sheet *run = simulated(system, o, NULL);
        const double left = exp(-4.), tolerance = strcmp(methods[k], "bdf") == 0 ? 1e-9 : 1e-10;
        assert_close(last(run, "v"), 1 - left, tolerance);
        assert_close(last(run, "body.vx"), 1 - left, tolerance);
        assert_close(last(run, "way"), 2 - 0.5 * (1 - left), tolerance);
        assert_close(last(run, "ahead"), left / 0.5, tolerance);
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// A servo: the rate of a joint is what a state says, by a role or by a row.
static void test_servos(void **state)
{
    (void)state;
    static const char *const servo[] = {
        "roles: {cart: {rate: s}}\n",
        "constraints: {servo: {rate: d(cart) - s}}\n",
    };
    for (int k = 0; k < 2; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 CART "states: {s: {rate: 1 - cart}}\n%s"
                      "outputs: {pull: %s}\n"
                      "initial: {cart: 0}\n"
                      "cases: {a: {end: 3, every: 0.5}}\n",
                 servo[k], k ? "lambda.servo.rate" : "2*d(d(cart))");
        Sheet *run = run_with(system_from(text), 0, 0, NULL);
        for (size_t row = 0; row < run->rows; row++) { // x'' = 1 - x
            const double t = at(run, row, "t");
            assert_close(at(run, row, "cart"), 1 - cos(t), 1e-10);
            assert_close(at(run, row, "s"), sin(t), 1e-10);
            assert_close(at(run, row, "pull"), 2 * cos(t), 1e-10);
        }
        tr_sheet_free(run);
    }
}

// Where one starts: by itself, by `initial` and `guess` of the model, of a case, by other
// conditions
static void test_starts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } starts[] = {
        {"initial: {cart: 1}\n", 4},
        {"initial: {cart: 1, s: 5}\n", 5},
        {"initial: {cart: 1}\nguess: {s: 6}\n", 6},
        {"initial: {cart: 1, s - 3*cart: 0}\n", 3},
        {"initial: {cart: 1}\ncases: {a: {initial: {s: 7}}}\n", 7},
        {"initial: {cart: 1, s: 5}\ncases: {a: {set: {m: 2.5}, initial: {s: 3*m}}}\n", 7.5},
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        char text[600];
        snprintf(text, sizeof text, CART "states: {s: {rate: 0, initial: 2*m}}\n%s",
                 starts[i].text);
        Sheet *run = run_with(system_from(text), 1, 1, NULL);
        assert_close(last(run, "s"), starts[i].value, 1e-12);
        tr_sheet_free(run);
    }
}

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"states: {s: {initial: 1}}\n", "how fast does 's' change? a state needs a 'rate'"},
        {"states: {s: 1}\n", "'s' must be a map"},
        {"states: {s: {rate: 1, start: 2}}\n", "start"},
        {"states: {m: {rate: 1}}\n", "the name 'm' is taken"},
        {"states: {cart: {rate: 1}}\n", "the name 'cart' is taken"},
        {"states: {t: {rate: 1}}\n", "'t' is a reserved name"},
        {"states: {a.b: {rate: 1}}\n", "'a.b' is not a name for a state"},
        {"inputs: {u: 0}\nstates: {u: {rate: 1}}\n", "the name 'u' is taken"},
        {"states: {s: {rate: 1}}\noutputs: {s: cart}\n", "the name 's' is taken"},
        {"states: {s: {rate: d(s)}}\n", "the rate of 's' depends on itself"},
        {"states: {a: {rate: d(b)}, b: {rate: d(a)}}\n", "depends on itself"},
        {"states: {s: {rate: caart}}\n", "caart"},
        {"states: {s: {rate: d(d(cart))}}\n", "cart"},
        {"states: {s: {rate: 1, initial: cart}}\n", "'cart' is not a parameter"},
        {"states: {s: {rate: 1, initial: 1/0}}\n", "not finite"},
        {"states: {s: {rate: 1}}\nconstraints: {c: {position: cart - s}}\n",
         "this formula uses the state 's'"},
        {"states: {s: {rate: 1}}\nroles: {cart: {motion: s}}\n", "a motion is a formula of t"},
        {"states: {s: {rate: 1}}\nroles: {s: {torque: 1}}\n", "'s' is a state"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_model_refused(CART, wrong[i].text, wrong[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integrals),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_linear_model),
        cmocka_unit_test(test_steady_motion),
        cmocka_unit_test(test_sensitivities),
        cmocka_unit_test(test_deviations),
        cmocka_unit_test(test_batches_and_snapshots),
        cmocka_unit_test(test_first_order),
        cmocka_unit_test(test_servos),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
