// SPDX-License-Identifier: Apache-2.0
// How well the state is known along runs: against a reference, closed forms, sensitivities and many
// noisy replays (T260-T262).
#include "runs.h"

// ---- in first order ------------------------------------------------------------------------

// A differential drive as one body: commands are what its wheels do.
#define DRIVE                                                                \
    "trundle: 1\n"                                                           \
    "parameters: {R: 0.1, b: 0.2, l: 6, r: 6.8, kv: 1e-4, kw: 4e-4}\n"       \
    "inputs: {nv: 0, nw: 0}\n"                                               \
    "bodies: {body: {joint: {type: planar}}}\n"                              \
    "contacts: {edge: {kind: skate, body: body}}\n"                          \
    "commands:\n"                                                            \
    "  body.vx: {value: \"R*(l + r)/2 + nv\", noise: kv*abs(body.vx)}\n"     \
    "  body.wz: {value: \"R*(r - l)/(2*b) + nw\", noise: kw*abs(body.vx)}\n" \
    "outputs: {far: \"sqrt(body.x^2 + body.y^2 + 1)\", fast: body.vx}\n"     \
    "initial: {body.x: 0, body.y: 0, body.theta: 0}\n"                       \
    "cases: {now: {order: 1, end: 10, every: 1}}\n"

static void check_final(const Sheet *run, const double P[3][3], double tolerance)
{
    static const char *const name[] = {"body.x", "body.y", "body.theta"};
    char label[80];
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++) {
            if (i == k)
                snprintf(label, sizeof label, "sd(%s)", name[i]);
            else
                snprintf(label, sizeof label, "cov(%s:%s)", name[i], name[k]);
            const double found = last(run, label), variance = i == k ? found * found : found;
            assert_below(fabs(variance - P[i][k]), tolerance);
        }
}

// odometry.json's covariance
static void test_reference(void **state)
{
    (void)state;
    static const double P[3][3] = {
        {0.025346089382866876, -0.007481528611377889, -0.00713355714527219},
        {-0.007481528611377889, 0.0038860241513539256, 0.0016484270780588804},
        {-0.00713355714527219, 0.0016484270780588806, 0.00256}};
    Sheet *run = run_with(system_from(DRIVE), 0, 0, NULL);
    assert_close(last(run, "body.x"), 2.9097517658421834, 1e-12);
    check_final(run, P, 1e-12);
    assert_null(tr_sheet_column(run, "sd(body.vx)")); // white noise is no number
    assert_null(tr_sheet_column(run, "sd(fast)"));
    assert_true(last(run, "sd(far)") > 0);
    char *json = certificate();
    assert_says(json, "\"covariance\": {");
    assert_says(json, "\"name\": \"sd(body.x)\",\n      \"unit\": \"m\"");
    free(json);
    tr_sheet_free(run);
}

// Straight on: P_xx = q_v t, P_yy = q_w v^2 t^3/3, P_y,theta = q_w v t^2/2, P_theta = q_w t
static void test_straight_run(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "lie", "pece"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        tr_system *system = system_valued(model_from(DRIVE), NULL, &(Number){"r", 6}, 1);
        tr_simulate_options o = strictly(system);
        o.method = methods[i], o.step = 0.01;
        Sheet *run = simulated(system, o, NULL);
        const double v = 0.6, t = 10, qv = 1e-4 * v, qw = 4e-4 * v;
        const double P[3][3] = {{qv * t, 0, 0},
                                {0, qw * v * v * t * t * t / 3, qw * v * t * t / 2},
                                {0, qw * v * t * t / 2, qw * t}};
        check_final(run, P, 1e-11);
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

static double normal(Random *r)
{
    const double a = random_between(r, 1e-300, 1), b = random_between(r, 0, 1);
    return sqrt(-2 * log(a)) * cos(2 * 3.14159265358979323846 * b);
}

typedef struct Replay {
    tr_system *system;
    tr_program *program;
    tr_workspace *work;
    double *inputs;
    uint32_t noise[2], position[3];
} Replay;

static uint32_t input_called(const tr_system *system, const char *name)
{
    for (uint32_t i = 0; i < tr_input_count(system); i++)
        if (strcmp(tr_input_name(system, i), name) == 0) return i;
    fail_msg("there is no input %s", name);
    return 0;
}

static void open_replay(Replay *p)
{
    tr_error err = {0};
    p->system = system_from(DRIVE);
    p->program = compile_reduced(p->system, "qdot", NULL, &err);
    p->work = tr_workspace_new(p->program, &err);
    if (err.status) fail_msg("%s", err.text);
    p->inputs = calloc(tr_input_count(p->system), sizeof *p->inputs);
    initial_of(p->system, p->inputs, &err);
    p->noise[0] = input_called(p->system, "nv"), p->noise[1] = input_called(p->system, "nw");
    p->position[0] = input_called(p->system, "body.x");
    p->position[1] = input_called(p->system, "body.y");
    p->position[2] = input_called(p->system, "body.theta");
}

static void rates(const Replay *p, const double *q, double *rate)
{
    for (int i = 0; i < 3; i++) p->inputs[p->position[i]] = q[i];
    tr_evaluate(p->program, p->work, p->inputs, rate);
}

// By the midpoint rule, with noise that stays the same within a step: of variance q/h
static void replay(const Replay *p, Random *r, double *q)
{
    enum { STEPS = 100 };
    const double h = 10.0 / STEPS, v = 0.64, qv = 1e-4 * v, qw = 4e-4 * v;
    double rate[3], half[3];
    for (int i = 0; i < STEPS; i++) {
        p->inputs[p->noise[0]] = sqrt(qv / h) * normal(r);
        p->inputs[p->noise[1]] = sqrt(qw / h) * normal(r);
        rates(p, q, rate);
        for (int k = 0; k < 3; k++) half[k] = q[k] + h / 2 * rate[k];
        rates(p, half, rate);
        for (int k = 0; k < 3; k++) q[k] += h * rate[k];
    }
}

// Within five standard errors of what samples scatter by; the mean is off by terms of second order.
static void test_replays(void **state)
{
    (void)state;
    const int count = BRIEF ? 500 : 10000;
    static const double P[3][3] = {{0.02534608938, -0.007481528611, -0.007133557145},
                                   {-0.007481528611, 0.003886024151, 0.001648427078},
                                   {-0.007133557145, 0.001648427078, 0.00256}};
    Replay p;
    Random r = {20260};
    double sum[3] = {0}, square[3][3] = {{0}};
    open_replay(&p);
    for (int n = 0; n < count; n++) {
        double q[3] = {0};
        replay(&p, &r, q);
        for (int i = 0; i < 3; i++) sum[i] += q[i];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) square[i][k] += q[i] * q[k];
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const double found = square[i][k] / count - sum[i] / count * (sum[k] / count);
            const double error = sqrt((P[i][i] * P[k][k] + P[i][k] * P[i][k]) / count);
            print_message("%d %d: %.6f of %.6f, %.2f standard errors\n", i, k, found, P[i][k],
                          (found - P[i][k]) / error);
            assert_true(fabs(found - P[i][k]) < 5 * error); // not a margin: chance
        }
    tr_workspace_free(p.work);
    tr_program_free(p.program);
    free(p.inputs);
    tr_system_free(p.system);
}

// ---- in second order -----------------------------------------------------------------------

#define MASS                                                                          \
    "trundle: 1\n"                                                                    \
    "inputs: {u: 0.3*sin(t)}\n"                                                       \
    "noise: {u: 0.02}\n"                                                              \
    "bodies:\n"                                                                       \
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n" \
    "forces: {push: {body: cart, force: \"u, 0, 0\", noise: \"0.05, 0, 0\"}}\n"       \
    "deviations: {s: 0.1, s_rate: 0.2}\n"                                             \
    "outputs: {twice: 2*s, acc: d(d(s))}\n"                                           \
    "cases: {run: {end: 3, every: 1}}\n"

// P_ss = P0 + P0' t^2 + q t^3/3, P_vv = P0' + q t for q = (0.02 + 0.05)/m^2
static void test_noisy_force(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        tr_system *system = system_from(MASS);
        tr_simulate_options o = strictly(system);
        o.method = methods[i];
        Sheet *run = simulated(system, o, NULL);
        const double q = 0.07 / 4, t = 3;
        assert_close(last(run, "sd(s)"), sqrt(0.01 + 0.04 * t * t + q * t * t * t / 3), 1e-10);
        assert_close(last(run, "sd(s_rate)"), sqrt(0.04 + q * t), 1e-10);
        assert_close(last(run, "sd(twice)"), 2 * last(run, "sd(s)"), 1e-12);
        assert_null(tr_sheet_column(run, "sd(acc)"));
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// A number in place of the formula is as noisy.
static void test_noise_stays(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_from(MASS);
    const tr_setting set = {"u", "1"};
    tr_derive_options d = {.size = sizeof d, .settings = &set, .setting_count = 1};
    tr_system *system = tr_derive(model, &d, &err);
    if (!system) fail_msg("%s", err.text);
    Sheet *run = run_with(system, 0, 0, NULL);
    assert_close(last(run, "sd(s_rate)"), sqrt(0.04 + 0.07 / 4 * 3), 1e-10);
    tr_sheet_free(run);
    tr_model_free(model);
}

// What deviates at the start goes on as sensitivities say, over changes of charts, too. Models are
// freed.
static void check_against_sensitivity(tr_model *plain, tr_model *uncertain, const Number *value,
                                      const char *deviation, const char *parameter,
                                      const char *const *names, double tolerance, size_t charts)
{
    const double sd = 0.01;
    char path[80], label[80], slope[80];
    snprintf(path, sizeof path, "deviations/%s", deviation);
    change_number(uncertain, path, sd);
    tr_summary s = {0};
    Sheet *spread = run_with(system_valued(uncertain, NULL, value, 1), 2, 0.1, &s);
    tr_system *system = system_valued(plain, NULL, value, 1);
    tr_simulate_options o = strictly(system);
    o.sensitivity = parameter, o.end = 2, o.every = 0.1;
    Sheet *run = simulated(system, o, NULL);
    assert_true(s.chart_changes >= charts);
    for (int i = 0; names[i]; i++) {
        snprintf(label, sizeof label, "sd(%s)", names[i]);
        snprintf(slope, sizeof slope, "d(%s)/d(%s)", names[i], parameter);
        for (size_t k = 0; k < run->rows; k++)
            assert_close(at(spread, k, label), sd * fabs(at(run, k, slope)), tolerance);
    }
    tr_sheet_free(run);
    tr_sheet_free(spread);
    tr_system_free(system);
}

#define PENDULUMS                                                                               \
    "trundle: 1\n"                                                                              \
    "parameters: {a0: 1, w0: 0.5}\n"                                                            \
    "bodies:\n"                                                                                 \
    "  one: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}, mass: 1, com: \"0, 0, " \
    "-0.5\", inertia: {yy: 0.1}}\n"                                                             \
    "  two: {parent: one, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0, -1\", "        \
    "coordinate: b}, mass: 1, com: \"0, 0, -0.5\", inertia: {yy: 0.1}}\n"                       \
    "initial: {a: a0, b: 0, d(a): w0, d(b): 0}\n"                                               \
    "cases: {run: {end: 2, every: 0.1}}\n"

static void test_deviations(void **state)
{
    (void)state;
    static const char *const pendulums[] = {"a", "b", "a_rate", "b_rate", NULL};
    static const char *const bars[] = {"th1", "th2_rel", "th3", "th1_rate", "th3_rate", NULL};
    const Number a0 = {"a0", 1}, fast = {"th1_rate_0", 12}, slow = {"th1_rate_0", 0};
    check_against_sensitivity(model_from(PENDULUMS), model_from(PENDULUMS), &a0, "a", "a0",
                              pendulums, 1e-9, 0);
    check_against_sensitivity(model_from(PENDULUMS), model_from(PENDULUMS), &a0, "d(a)", "w0",
                              pendulums, 1e-9, 0);
    check_against_sensitivity(model_called("four_bar"), model_called("four_bar"), &fast, "d(th1)",
                              "th1_rate_0", bars, 1e-8, 2);
    check_against_sensitivity(model_called("four_bar"), model_called("four_bar"), &slow, "th1",
                              "th1_0", bars, 1e-8, 0);
}

// A bicycle whose speed is uncertain rolls; its lean is a turn about its own axis.
static void test_rolling(void **state)
{
    (void)state;
    tr_model *model = model_called("bicycle");
    change(model, "deviations/frame.vx", "0.3");
    change(model, "deviations/frame.rx", "0.02");
    tr_summary s = {0};
    Sheet *run = run_with(system_valued(model, NULL, NULL, 0), 1, 0.5, &s);
    assert_close(at(run, 0, "sd(frame.vx)"), 0.3, 1e-12);
    assert_close(at(run, 0, "sd(rear_rate)"), 0.3 / 0.3, 1e-10);
    assert_close(at(run, 0, "sd(roll)"), 0.02, 1e-12);
    assert_below(at(run, 0, "sd(steer_rate)"), 1e-10);
    assert_true(last(run, "sd(contact.rear.x)") > 0.2);
    assert_below(s.position_error, 1e-13);
    tr_sheet_free(run);
}

// Commands are none of second order, noisy or not; and a run may do without deviations.
static void test_second_order(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_called("robot_satellite");
    tr_derive_options d = {.size = sizeof d, .case_name = "drive", .order = 2};
    tr_system *system = tr_derive(model, &d, &err);
    if (!system) fail_msg("%s", err.text);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1;
    Sheet *run = simulated(system, o, NULL);
    assert_close(last(run, "sd(body.x)"), 0.5, 1e-9);
    tr_plan *plan = tr_plan_new(system, &err);
    char *names = tr_plan_deviations(plan, &err), *name = names;
    assert_non_null(strstr(names, "\ncov(body.x:body.y)\n"));
    for (char *end; (end = strchr(name, '\n')); name = end + 1) {
        *end = 0;
        assert_non_null(tr_sheet_column(run, name));
    }
    tr_text_free(names);
    tr_plan_free(plan);
    tr_sheet_free(run);
    o.no_deviations = true;
    run = simulated(system, o, NULL);
    assert_null(tr_sheet_column(run, "sd(body.x)"));
    tr_sheet_free(run);
    tr_system_free(system);
    tr_model_free(model);
}

// Positions that drift from their constraints have no deviations along them.
static void test_no_projection(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_called("four_bar");
    change(model, "deviations/th1", "0.01");
    tr_system *system = system_valued(model, NULL, NULL, 0);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.no_project = true;
    assert_false(tr_simulate(system, &o, NULL, &err));
    assert_says(err.text, "they do not go without projection");
    tr_system_free(system);
}

// ---- refusals ------------------------------------------------------------------------------

static void refused(const char *text, const char *words) { assert_run_refused(text, false, words); }

static void test_refusals(void **state)
{
    (void)state;
#define CART                                                                                   \
    "trundle: 1\ninputs: {u: 1}\nbodies: {cart: {joint: {type: prismatic, axis: \"1, 0, 0\", " \
    "coordinate: s}, mass: 1}}\nroles: {s: {torque: u}}\ncases: {run: {end: 1}}\n"
    refused(CART "noise: {u: -1}\n", "a spectral density is not negative");
    refused(CART "noise: {v: 1}\n", "'noise' is for inputs: there is no input 'v'");
    refused(CART "deviations: {s: -1}\n", "a standard deviation is not negative");
    refused(CART "deviations: {u: 1}\n", "a deviation is for a coordinate or a velocity");
    refused(CART "deviations: {q: 1}\n", "q");
    refused(CART "noise: {u: 1}\nforces: {f: {body: cart, "
                 "force: \"if(s > 0.2, 1, 2), 0, 0\"}}\n",
            "standard deviations do not go on from there");
    refused("trundle: 1\nbodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: "
            "1}}}\ndeviations: {b.qx: 1}\n",
            "give deviations of turns");
    refused(DRIVE "deviations: {body.vx: 1}\n", "follows from others");
    refused(CART "deviations: {d(s): 1, s_rate: 2}\n", "is given twice");
    refused(CART "noise: {u: 1 - 2*t}\n", "density of 'noise.u' is negative at t = 0.5");
    refused(CART "noise: {u: 1}\noutputs: {n: noise.u}\n", "noise.u");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),    cmocka_unit_test(test_straight_run),
        cmocka_unit_test(test_replays),      cmocka_unit_test(test_noisy_force),
        cmocka_unit_test(test_noise_stays),  cmocka_unit_test(test_deviations),
        cmocka_unit_test(test_rolling),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_second_order), cmocka_unit_test(test_no_projection),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
