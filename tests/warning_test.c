// SPDX-License-Identifier: Apache-2.0
// What is not finite stays seen: numbers that are no numbers in residuals, columns of a run, rates
// whose formula is named, masses that were forgotten; and options that have no effect.
#include "growing.h"
#include "num/dense.h"
#include "plan/blame.h"
#include "plan/kkt.h"
#include "runs.h"
#include "sim/method.h"

// ---- numbers that are none -----------------------------------------------------------------

static void test_larger(void **state)
{
    (void)state;
    const double nan = (double)NAN;
    assert_true(larger(1, 2) == 2 && larger(2, 1) == 2 && smaller(1, 2) == 1 && smaller(2, 1) == 1);
    assert_true(isnan(larger(nan, 1)) && isnan(larger(1, nan)));
    assert_true(isnan(smaller(nan, 1)) && isnan(smaller(1, nan)));
    const double first[] = {nan, 1, 2}, last[] = {1, -2, nan}, none[] = {1, -2, 0};
    assert_true(isnan(tr_largest(first, 3)) && isnan(tr_largest(last, 3)));
    assert_true(tr_largest(none, 3) == 2 && tr_largest(none, 0) == 0);
}

static const char rider[] = "trundle: 1\n"
                            "bodies:\n"
                            "  b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
                            "contacts:\n"
                            "  one: {kind: slide, body: b, at: \"1, 0, 0\"}\n"
                            "  two: {kind: slide, body: b, at: \"0, 1, 0\"}\n"
                            "initial: {d(b.x): 1}\n";

// Whichever entry of the state is none, and however the others are.
static void test_residuals(void **state)
{
    (void)state;
    tr_system *system = system_from(rider);
    Flow *flow = flow_of(system);
    double position, velocity;
    tr_flow_residual(flow, 0, flow->start, &position, &velocity);
    assert_below(position, 1e-12);
    for (uint32_t k = 2; k < 7; k++) { // z and the quaternion
        double *y = malloc(flow->size * sizeof *y);
        memcpy(y, flow->start, flow->size * sizeof *y);
        y[k] = (double)NAN;
        tr_flow_residual(flow, 0, y, &position, &velocity);
        assert_true(isnan(position));
        assert_true(isnan(tr_flow_project(flow, 0, y)));
        y[k] = (double)NAN;
        assert_true(k == 2 || isnan(tr_kkt_difference(flow->now->kkt, 0, y)));
        free(y);
    }
    close_flow(flow);
    tr_system_free(system);
}

// ---- columns -------------------------------------------------------------------------------

static const char outputs[] =
    "trundle: 1\n"
    "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}}\n"
    "outputs: {fine: x + 1, bad: sqrt(0.45 - t), high: \"1/max(0, 0.75 - t)\", %s}\n"
    "initial: {d(x): 1}\n"
    "cases: {go: {end: 1, every: 0.1, %s}}\n";

typedef struct Told {
    size_t count;
    char words[4][200];
} Told;

static void hear(void *owner, const char *words)
{
    Told *told = owner;
    if (told->count < 4) snprintf(told->words[told->count], sizeof told->words[0], "%s", words);
    told->count++;
}

static tr_summary run_told(const char *more, const char *plan, const char *method,
                           const char *given, Told *told)
{
    char text[600];
    snprintf(text, sizeof text, outputs, more, plan);
    tr_system *system = system_from(text);
    tr_error err = {0};
    tr_summary s = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    *told = (Told){0};
    o.output = in_folder("run.csv"), o.warn = hear, o.owner = told;
    if (method) o.method = method;
    if (given) o.given = given;
    if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
    tr_system_free(system);
    return s;
}

// Each once, at its first row; the run goes on.
static void test_columns(void **state)
{
    (void)state;
    static const char bad[] = "'bad' is not a number at t = 0.5",
                      high[] = "'high' is infinite at t = 0.8";
    Told told;
    const tr_summary s = run_told("two: 2", "", NULL, NULL, &told);
    assert_close(s.t, 1, 1e-15);
    assert_int_equal(s.warnings, 2);
    assert_int_equal(told.count, 2);
    assert_string_equal(told.words[0], bad);
    assert_string_equal(told.words[1], high);
    assert_string_equal(s.warning, bad);
    char *text = certificate();
    assert_non_null(strstr(text, bad));
    assert_non_null(strstr(text, high));
    assert_null(strstr(text, "'fine'"));
    free(text);
    Sheet *sheet = read_sheet_as_it_is(in_folder("run.csv")); // and the cells say it, too
    assert_true(isfinite(at(sheet, 4, "bad")) && isnan(at(sheet, 5, "bad")));
    assert_true(isinf(at(sheet, 8, "high")));
    tr_sheet_free(sheet);
}

// ---- options -------------------------------------------------------------------------------

static void test_options(void **state)
{
    (void)state;
    static const struct {
        const char *method, *given, *words; // NULL: it has an effect
    } cases[] = {
        {"erk", "step",
         "'step' has no effect with erk: it is for rk4, pece, lie, rosenbrock or euler"},
        {"bdf", "rtol, step",
         "'step' has no effect with bdf: it is for rk4, pece, lie, rosenbrock or euler"},
        {"bdf", "dense", "'dense' has no effect with bdf: it is for erk"},
        {"rk4", "dense", "'dense' has no effect with rk4: it is for erk"},
        {"euler", "end,rtol", "'rtol' has no effect with euler: it is for erk or bdf"},
        {"lie", "atol,every", "'atol' has no effect with lie: it is for erk or bdf"},
        {"erk", "rtol,atol,dense,end", NULL},
        {"pece", "step", NULL},
        {"rk4", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Told told;
        run_told("x2: x", "", cases[i].method, cases[i].given, &told);
        assert_int_equal(told.count, cases[i].words ? 3 : 2);
        if (cases[i].words) assert_string_equal(told.words[0], cases[i].words);
    }
}

// What a case says counts as given, unless another method has a use for it.
static void test_options_of_cases(void **state)
{
    (void)state;
    Told told;
    run_told("x2: x", "step: 0.01", NULL, NULL, &told);
    assert_string_equal(
        told.words[0],
        "'step' has no effect with erk: it is for rk4, pece, lie, rosenbrock or euler");
    run_told("x2: x", "step: 0.01", "rk4", NULL, &told);
    assert_int_equal(told.count, 2);
    run_told("x2: x", "method: rk4, step: 0.01, rtol: 1e-6", NULL, NULL, &told);
    assert_string_equal(told.words[0], "'rtol' has no effect with rk4: it is for erk or bdf");
}

// Only the first are kept, but all are counted.
static void test_many(void **state)
{
    (void)state;
    Warnings w = {0};
    for (int i = 0; i < 3 * MOST_WARNINGS; i++) assert_true(tr_warn(&w, "at t = %d", i));
    assert_int_equal(w.count, 3 * MOST_WARNINGS);
    assert_int_equal(w.kept, MOST_WARNINGS);
    assert_string_equal(w.words[MOST_WARNINGS - 1], "at t = 999");
    tr_warnings_free(&w);
}

// ---- friction ------------------------------------------------------------------------------

static const char block[] =
    "trundle: 1\n"
    "parameters: {mu: 0.3}\n"
    "bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
    "contacts: {foot: {kind: rolling, shape: ball, body: b, radius: 0.1, friction: %s, %s}}\n"
    "initial: {d(b.x): 1}\n"
    "cases: {go: {end: 1, every: 0.1}}\n";

// A parameter that makes it negative is refused with the words of the condition.
static void test_friction_of_parameters(void **state)
{
    (void)state;
    static const char *const laws[] = {"unilateral: false",
                                       "lateral: coulomb, longitudinal: coulomb",
                                       "longitudinal: coulomb, stick: true, unilateral: true"};
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        char text[600];
        snprintf(text, sizeof text, block, "mu - 0.1", laws[i]);
        tr_system *system = system_from(text);
        tr_error err = {0};
        tr_plan *plan = tr_plan_new(system, &err);
        tr_run *run = tr_run_new(plan, NULL, &err);
        tr_run_set(run, "mu", 0.1, &err);
        assert_true(tr_run_reset(run, &err));
        tr_run_set(run, "mu", 0.05, &err);
        assert_false(tr_run_reset(run, &err));
        assert_int_equal(err.status, TR_INVALID);
        if (!strstr(err.text, "negative") || !strstr(err.text, "mu")) fail_msg("%s", err.text);
        tr_run_free(run);
        tr_plan_free(plan);
        tr_system_free(system);
    }
}

// One that depends on what moves is watched.
static void test_friction_that_moves(void **state)
{
    (void)state;
    char text[600];
    snprintf(text, sizeof text, block, "0.3 - t", "lateral: coulomb, longitudinal: coulomb");
    tr_system *system = system_from(text);
    tr_summary s = {0};
    tr_sheet_free(simulated(system, tr_simulate_defaults(system), &s));
    assert_int_equal(s.warnings, 1);
    assert_non_null(strstr(s.warning, "the friction of 'foot' is negative at t = 0.3"));
    tr_system_free(system);
}

// ---- wheels --------------------------------------------------------------------------------

static const char disc[] =
    "trundle: 1\n"
    "bodies: {coin: {joint: {type: free}, mass: 1, inertia: {xx: 0.05, yy: 0.05, zz: 0.1}}}\n"
    "contacts: {rim: {body: coin, radius: 0.3, axis: \"0, 0, 1\"}}\n"
    "%s\n"
    "cases: {go: {end: 1, every: 0.1}}\n";

// An axle that stands upright as it is guessed is refused, unless the model says how it leans.
static void test_upright_axles(void **state)
{
    (void)state;
    char text[600];
    tr_error err = {0};
    snprintf(text, sizeof text, disc, "initial: {coin.x: 0}");
    tr_model *model = model_from(text);
    assert_null(tr_derive(model, NULL, &err));
    tr_model_free(model);
    assert_int_equal(err.status, TR_INVALID);
    assert_int_equal(err.line, 3);
    assert_non_null(strstr(err.text, "the axle of the wheel 'rim' stands upright"));
    snprintf(text, sizeof text, disc,
             "initial: {coin.R33: sin(0.4), coin.R31: 0}\nguess: {coin.qx: 0.6}");
    tr_system *system = system_from(text);
    tr_summary s = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    err = (tr_error){0};
    tr_simulate(system, &o, &s, &err); // it falls: near the ground it warns, and there it ends
    assert_non_null(strstr(s.warning, "the wheel 'rim' nearly lies flat at t = "));
    assert_non_null(strstr(err.text, "the wheel 'rim' lies flat at t = "));
    tr_system_free(system);
    snprintf(text, sizeof text, disc, "guess: {coin.qx: 0.7}");
    tr_system_free(system_from(text));
}

// Whatever the state, by parameters: a condition.
static void test_upright_by_parameters(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system =
        system_from("trundle: 1\n"
                    "parameters: {lean: 1}\n"
                    "bodies:\n"
                    "  f: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n"
                    "  w: {parent: f, joint: {type: revolute, axis: \"0, sin(lean), cos(lean)\", "
                    "coordinate: q}, "
                    "mass: 1, inertia: {axial: 0.1, radial: 0.05}}\n"
                    "contacts: {c: {body: w, radius: 0.1}}\n");
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run *run = tr_run_new(plan, NULL, &err);
    assert_non_null(run);
    tr_run_set(run, "lean", 0, &err);
    assert_false(tr_run_reset(run, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_non_null(strstr(err.text, "the wheel 'c' does not lie flat"));
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(system);
}

// ---- reasons -------------------------------------------------------------------------------

#define CART                                                                       \
    "trundle: 1\n"                                                                 \
    "bodies:\n"                                                                    \
    "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n" \
    "  b: {parent: a, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: y%s}, mass: 1}\n"

// A formula of whatever kind, by its path, with what it comes to and its place.
static void test_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *joint, *rest, *words;
        int line, column;
    } cases[] = {
        {"", "roles: {x: {torque: -5*d(x)/abs(d(x))}}", "roles.x.torque is 0/0", 5, 21},
        {"", "roles: {y: {torque: 1 + log(x - 2)}}", "roles.y.torque is log(-2)", 5, 21},
        {", damping: sqrt(x - 1)", "", "bodies.b.joint.damping is sqrt(-1)", 4, 84},
        {"", "forces: {wind: {body: a, force: \"1/x, 0, 0\"}}", "forces.wind.force is 1/0", 5, 34},
        {"", "forces: {wind: {body: a, force: \"exp(999 + x), 0, 0\"}}",
         "forces.wind.force is exp(999)", 5, 34},
        // the inner one has the blame
        {"", "outputs: {s: d(x)/(x + y)}\nroles: {x: {torque: -s}}", "outputs.s is 0/0", 5, 14},
        // not what is not chosen
        {"", "roles: {x: {torque: \"if(x < 1, 1/(d(y) - t), log(x))\"}}", "roles.x.torque is 1/0",
         5, 22},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[900], words[300];
        snprintf(text, sizeof text, CART "%s\n", cases[i].joint, cases[i].rest);
        tr_system *system = system_from(text);
        tr_error err = {0};
        tr_simulate_options o = tr_simulate_defaults(system);
        assert_false(tr_simulate(system, &o, NULL, &err));
        snprintf(words, sizeof words, "the accelerations are not finite at t = 0: %s",
                 cases[i].words);
        assert_string_equal(err.text, words);
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
        tr_system_free(system);
    }
}

// Nothing has mass along what the names say; with a mass it runs.
static void test_masses(void **state)
{
    (void)state;
    static const struct {
        const char *bodies, *rest, *names;
    } cases[] = {
        {"  a: {joint: {type: revolute, axis: \"0, 0, 1\", coordinate: p}}\n"
         "  b: {parent: a, joint: {type: revolute, axis: \"0, 0, 1\", coordinate: q}, mass: 1, "
         "com: \"1, 0, 0\"}\n",
         "", "'p_rate', 'q_rate'"},
        {"  w: {joint: {type: free}}\n",
         "contacts: {c: {body: w, radius: 0.3, axis: \"0, 1, 0\"}}\n",
         "'w.vx', 'w.vy', 'w.wx', 'w.wy', 'w.wz'"},
        {"  f: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
         "  s: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
         "  r: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: y}}\n",
         "couplings: {c: {coordinate: x, equals: {y: 1}}}\n", "'x_rate', 'y_rate'"},
        // where rounding leaves a little
        {"  a: {joint: {type: revolute, axis: \"0.36, 0.48, 0.8\", coordinate: p}}\n"
         "  b: {parent: a, joint: {type: revolute, axis: \"0.36, 0.48, 0.8\", coordinate: q}, "
         "mass: 1.3, com: \"0.37, 0.83, 0.31\"}\n"
         "  c: {parent: b, joint: {type: revolute, axis: \"1, 0.2, 0.3\", coordinate: r, at: "
         "\"0.3, 0.1, 0.2\"}, mass: 1, com: \"0.3, 0.2, 0.7\"}\n",
         "initial: {p: 0.7, q: 0.31, r: 0.9}\n", "'p_rate', 'q_rate'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[900], words[300];
        snprintf(text, sizeof text, "trundle: 1\nbodies:\n%s%s", cases[i].bodies, cases[i].rest);
        tr_system *system = system_from(text);
        tr_error err = {0};
        assert_null(tr_check_text(system, false, &err));
        snprintf(words, sizeof words,
                 ": nothing has mass or inertia along %s: was a mass forgotten?", cases[i].names);
        if (!strstr(err.text, words)) fail_msg("%s, not%s", err.text, words);
        tr_system_free(system);
    }
}

// Of more velocities than there is a mass matrix for, the masses are found along links; and only
// rows keep from moving what has none.
static void test_masses_of_many(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        bool is_held;
    } cases[] = {{"", false},
                 {"contacts: {c: {kind: skate, body: cart}}\n", false},
                 {"contacts: {c: {kind: skate, body: a, at: \"1, 0, 0\"}}\n", true},
                 {"roles: {q: {torque: sqrt(q - 1)}}\n"
                  "contacts: {c: {kind: skate, body: a, at: \"1, 0, 0\"}}\n",
                  false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Growing g = {0};
        grow(&g,
             "trundle: 1\nbodies:\n  cart: {joint: {type: planar}, mass: 1, inertia: {zz: 1}}\n"
             "  a: {parent: cart, joint: {type: revolute, axis: \"0, 0, 1\", coordinate: p}}\n"
             "  b: {parent: a, joint: {type: revolute, axis: \"0, 0, 1\", coordinate: q}, mass: "
             "1, com: \"1, 0, 0\"}\n");
        for (int k = 0; k < 200; k++)
            grow(&g, "  s%d: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n", k);
        grow(&g, "%s", cases[i].rest);
        tr_system *system = grown(&g);
        tr_error err = {0};
        assert_null(tr_system_output(system, text_of("M")));
        char *text = tr_eval_text(system, false, &err);
        if (cases[i].is_held && !text) fail_msg("%s", err.text);
        const char *words = i == 3 ? "roles.q.torque is sqrt(-1)"
                                   : "nothing has mass or inertia along 'p_rate', 'q_rate': was a";
        if (!cases[i].is_held && !strstr(err.text, words)) fail_msg("%s", err.text);
        tr_text_free(text);
        tr_system_free(system);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_larger),
        cmocka_unit_test(test_residuals),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_options_of_cases),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_masses_of_many),
        cmocka_unit_test(test_friction_of_parameters),
        cmocka_unit_test(test_friction_that_moves),
        cmocka_unit_test(test_upright_axles),
        cmocka_unit_test(test_upright_by_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
