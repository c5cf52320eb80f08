// SPDX-License-Identifier: Apache-2.0
// Running: rows, work, what happens when a run cannot go on, and reports.
#include "motion.h"
#include "plans.h"

// ---- rows ----------------------------------------------------------------------------------

// Exactly: as round as the end where the rows divide it, else whole multiples.
static double row_time(double end, double every, size_t i, size_t last)
{
    if (i == last) return end;
    const bool divides = fabs((double)last * every - end) <= 1e-9 * every;
    return divides ? end * (double)i / (double)last : (double)i * every;
}

static void check_rows(const char *method, double end, double every, double step, size_t rows)
{
    tr_system *system = system_from(pendulum);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = end, o.every = every, o.step = step, o.method = method;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    assert_int_equal(t->rows, rows);
    assert_int_equal(s.rows, rows);
    for (size_t i = 0; i < rows; i++)
        assert_true(at(t, i, "t") == row_time(end, every, i, rows - 1));
    assert_true(s.t == end && !s.interrupted);
    Motion exact = start(system, "erk", 1);
    exact.mover->rtol = 1e-13, exact.mover->atol = 1e-14;
    if (end > 0) move(&exact, end);
    assert_close(at(t, rows - 1, "phi"), exact.mover->y[0], 5e-3); // not a margin: of long steps
    stop(&exact);
    tr_sheet_free(t);
    tr_system_free(system);
}

static void test_rows(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    for (size_t i = 0; i < 5; i++) {
        check_rows(methods[i], 1, 0.1, 0.01, 11);
        check_rows(methods[i], 1, 0.1, 0.03, 11);    // steps do not divide the interval
        check_rows(methods[i], 1, 0.1, 7, 11);       // and are longer than it
        check_rows(methods[i], 1, 0.3, 0.01, 5);     // 0 0.3 0.6 0.9 1
        check_rows(methods[i], 0.25, 1, 0.01, 2);    // 0 0.25
        check_rows(methods[i], 1e-12, 1, 0.01, 2);   // however small
        check_rows(methods[i], 0, 0.1, 0.01, 1);     // the start alone
        check_rows(methods[i], 0.7, 0.1, 0.01, 8);   // 0.7/0.1 is not 7
        check_rows(methods[i], 2.1, 0.3, 0.01, 8);   // nor is 2.1/0.3
        check_rows(methods[i], 3, 1. / 3, 0.01, 10); // nor this
    }
}

// The steps are as long as asked for, but for the last.
static void test_steps(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    Motion m = start(system, "rk4", 0.03);
    move(&m, 0.1); // three, and a short one
    assert_int_equal(m.mover->steps, 4);
    assert_int_equal(m.flow->evaluations, 16);
    move(&m, 0.4);
    assert_int_equal(m.mover->steps, 14);
    stop(&m);
    tr_system_free(system);
}

static void test_bad_options(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_error err = {0};
    tr_simulate_options o;
#define refused(change, words)                             \
    do {                                                   \
        o = tr_simulate_defaults(system);                  \
        change;                                            \
        assert_false(tr_simulate(system, &o, NULL, &err)); \
        assert_error(err, TR_USAGE, words);                \
    } while (0)
    refused(o.end = -1, "the end must not be negative");
    refused(o.end = (double)NAN, "the end must not be negative");
    refused(o.end = (double)INFINITY, "the end must not be negative");
    refused(o.every = 0, "the time between rows must be positive");
    refused(o.every = (double)NAN, "the time between rows must be positive");
    refused(o.step = 0, "the step must be positive");
    refused(o.rtol = 0, "tolerances must be positive");
    refused(o.rtol = (double)NAN, "tolerances must be positive");
    refused(o.atol = -1, "tolerances must be positive");
    refused((o.end = 1e10, o.every = 1), "more than a billion rows");
    refused(o.method = "gear",
            "there is no method 'gear': it is erk, bdf, rk4, pece, lie, rosenbrock or euler");
    refused(o.output = in_folder("x.json"), "results go to files that end in .csv .mat .npy: the "
                                            ".json file beside one is its certificate");
    assert_int_equal(access(in_folder("x.json"), F_OK), -1);
    o = tr_simulate_defaults(system);
    o.atol = 0; // phi_rate is 0 at the start: no error is small enough
    assert_false(tr_simulate(system, &o, NULL, &err));
    assert_error(err, TR_FAILED, "the tolerances rtol 1e-10 and atol 0 ask for too much at t = 0");
    tr_system_free(system);
}

static void test_nothing_given(void **state)
{
    (void)state;
    tr_system *system =
        system_from("trundle: 1\nbodies: {b: {joint: {type: prismatic, axis: \"0, 0, 1\"},"
                    " mass: 1}}\ncases: {short: {end: 0.5, every: 0.25, rtol: 1e-6}}\n");
    tr_error failed = {.status = TR_USAGE, .text = "earlier"};
    tr_summary s = {0};
    assert_true(tr_simulate(system, NULL, &s, NULL)); // what the case says
    assert_int_equal(s.rows, 3);
    assert_true(s.t == 0.5);
    assert_true(tr_simulate(system, NULL, NULL, NULL));
    assert_false(tr_simulate(NULL, NULL, NULL, NULL));
    assert_false(tr_simulate(system, NULL, NULL, &failed));
    assert_string_equal(failed.text, "earlier");
    assert_null(tr_eval_text(NULL, true, NULL));
    assert_null(tr_check_text(NULL, false, NULL));
    assert_null(tr_derive_text(NULL, false, NULL));
    tr_system_free(system);
}

// Nothing moves by itself: time and the work are all there is.
static void test_all_driven(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"0, 0, 1\"}, mass: 2}}\n"
        "roles: {b: {motion: sin(t)}}\n";
    tr_system *system = system_from(text);
    tr_simulate_options o = tr_simulate_defaults(system);
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    for (int k = 0; k < 5; k++) {
        o.end = 3, o.every = 0.1, o.method = methods[k], o.rtol = 1e-12, o.atol = 1e-13;
        tr_summary s;
        Sheet *t = simulated(system, o, &s);
        for (size_t i = 0; i < t->rows; i++) {
            const double time = at(t, i, "t");
            assert_close(at(t, i, "b"), sin(time), 1e-15);
            assert_close(at(t, i, "b_rate"), cos(time), 1e-15);
            assert_close(at(t, i, "tau.b"), 2 * (9.81 - sin(time)), 1e-14);
        }
        assert_below(s.energy_error, 1e-11);
        tr_sheet_free(t);
    }
    tr_system_free(system);
}

// ---- work ----------------------------------------------------------------------------------

static void check_balance(const char *text, double least_work)
{
    tr_system *system = system_from(text);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 5, o.every = 0.05;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    double most = 0, largest = 0, worst = 0;
    const double E0 = at(t, 0, "energy.kinetic") + at(t, 0, "energy.potential");
    for (size_t i = 0; i < t->rows; i++) {
        const double T = at(t, i, "energy.kinetic"), U = at(t, i, "energy.potential");
        const double work = at(t, i, "energy.work");
        most = fmax(most, fabs(work));
        largest = fmax(largest, fmax(T, fabs(work)));
        worst = fmax(worst, fabs(T + U - E0 - work));
    }
    print_message("work up to %.3g J of %.3g J, balance to %.1e\n", most, largest, worst / largest);
    assert_true(most > least_work);
    assert_below(worst, 1e-9 * largest);
    assert_true(s.energy_error <= 1.01 * worst / largest);
    assert_below(s.energy_error, 1e-9);
    tr_sheet_free(t);
    tr_system_free(system);
}

static void test_energy_balance(void **state)
{
    (void)state;
    check_balance(top, 0.01);    // a motor and a damper
    check_balance("trundle: 1\n" // two links, one led along a motion
                  "bodies:\n"
                  "  a: {joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1, com: \"0, 0, -1\"}\n"
                  "  b: {parent: a, joint: {type: revolute, axis: \"0, 1, 0.2\", at: \"0, 0, -1\","
                  " damping: 0.2, stiffness: 3, rest: 1}, mass: 1, com: \"0, 0, -1\"}\n"
                  "roles: {a: {motion: sin(2*t) + t}}\n",
                  1);
    check_balance(
        "trundle: 1\n" // a base that is shaken, and carries a pendulum
        "bodies:\n"
        "  a: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  b: {parent: a, joint: {type: revolute, axis: \"1, 1, 0\"}, mass: 1,"
        " com: \"0, 0.3, -1\", inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
        "roles: {a: {motion: {x: sin(t), z: cos(2*t), qw: cos(t), qy: sin(t), qx: 0.1*t}}}\n",
        1);
    check_balance(
        "trundle: 1\n" // forces on bodies, in both axes, with a reaction; general laws
        "bodies:\n"
        "  a: {joint: {type: free, dissipation: 0.1*(a.vx^2 + a.wz^2)^2,"
        " potential: 2*a.x^2 + a.z^4 + a.R13^2}, mass: 1,"
        " inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  b: {parent: a, joint: {type: prismatic, axis: \"1, 1, 0\", stiffness: 5}, mass: 1}\n"
        "forces:\n"
        "  wind: {body: b, at: \"0, 0.1, 0\", force: \"sin(t), -0.1*b.vx, 0\"}\n"
        "  rocket: {body: a, at: \"0, 0.1, 0\", force: \"1, 0, 2\", torque: \"0, 0.1, 0\", axes: "
        "body}\n"
        "  grip: {body: b, reaction: a, force: \"0.3, 0.2*t, 0\", torque: \"0, 0, 0.1\"}\n",
        1);
}

// Height alone is no error, and nothing that rests has one.
static void test_energy_at_rest(void **state)
{
    (void)state;
    tr_system *system =
        system_from("trundle: 1\nbodies: {a: {joint: {type: revolute, axis: \"0, 1, 0\","
                    " at: \"0, 0, 1000\"}, mass: 1, com: \"0, 0, -0.3\"}}\n"
                    "initial: {a: 1e-9}\n");
    tr_summary s;
    Sheet *t = simulated(system, tr_simulate_defaults(system), &s);
    assert_below(s.energy_error, 1e-8);
    tr_sheet_free(t);
    tr_system_free(system);
}

// ---- what goes wrong -----------------------------------------------------------------------

static void check_failure(const char *text, const char *method, double step, double last,
                          const char *words)
{
    tr_system *system = system_from(text);
    tr_error err = {0};
    tr_summary s;
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 3, o.every = 0.1, o.method = method, o.step = step;
    o.output = in_folder("failed.csv");
    assert_false(tr_simulate(system, &o, &s, &err));
    if (strncmp(err.text, words, strlen(words)) != 0) fail_msg("%s", err.text);
    assert_int_equal(err.status, TR_FAILED);
    Sheet *t = read_sheet_as_it_is(o.output); // what was reached is there
    assert_int_equal(t->rows, s.rows);
    assert_close(at(t, t->rows - 1, "t"), last, 1e-12);
    for (size_t i = 0; i < t->rows; i++)
        assert_true(isfinite(at(t, i, "x")) && isfinite(at(t, i, "x_rate")));
    assert_true(file_holds(in_folder("failed.json"), words));
    assert_false(s.interrupted);
    tr_sheet_free(t);
    tr_system_free(system);
}

#define SLIDER                                                                                \
    "trundle: 1\ngravity: 0, 0, 0\nbodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", " \
    "coordinate: x%s}, mass: 1}}\n%s\n"

static const char *slider(const char *joint, const char *more)
{
    static char text[1000];
    snprintf(text, sizeof text, SLIDER, joint, more);
    return text;
}

static void test_blow_up(void **state)
{
    (void)state;
    static const char too_fast[] = "the integration cannot go on past t = ";
    static const char not_finite[] = "the state is no longer finite at t = ";
    // falls into the centre at t = 1/sqrt(2)
    check_failure(slider(", potential: -1/x^2", "initial: {x: 1}"), "erk", 1, 0.7, too_fast);
    check_failure(slider(", potential: -1/x^2", "initial: {x: 1}"), "bdf", 1, 0.7, too_fast);
    // x' = 0.9 (1 - 1.62 t)^(-1/2)
    const char *quickening = slider("", "roles: {x: {torque: d(x)^3}}\ninitial: {d(x): 0.9}");
    check_failure(quickening, "erk", 1, 0.6, too_fast);
    check_failure(quickening, "bdf", 1, 0.6, too_fast);
    check_failure(quickening, "rk4", 0.01, 0.6, not_finite);
    check_failure(quickening, "lie", 0.01, 0.6, not_finite);
    check_failure(quickening, "pece", 0.01, 0.6, not_finite);
    check_failure(quickening, "euler", 0.01, 0.7, not_finite);
    // a formula that ends
    const char *ending = slider("", "roles: {x: {torque: sqrt(1.05 - t)}}");
    static const char ahead[] = "no step is short enough to go on from t = 1.05: a formula is not "
                                "finite there: roles.x.torque is sqrt(-1";
    check_failure(ending, "erk", 1, 1, ahead);
    check_failure(ending, "bdf", 1, 1, ahead);
    check_failure(ending, "rk4", 0.1, 1, not_finite);
    for (int k = 0; k < 2; k++)
        check_failure(slider("", "roles: {x: {torque: log(-1 - x^2)}}"), k ? "bdf" : "erk", 1, 0,
                      "the accelerations are not finite at t = 0: roles.x.torque is log(-1)");
    check_failure(slider("", "roles: {x: {torque: log(-1 - x^2)}}"), "euler", 0.1, 0,
                  "the state is no longer finite at t = 0.1: roles.x.torque is log(-1)");
}

// Jumps in time: each method lands on the closed form, wherever the jump stands among the rows.
static void test_jumps_in_time(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    static const double jumps[] = {1, 0.999999, 1.005, 0.3, 1.9999999, 1e-9};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (size_t k = 0; k < sizeof jumps / sizeof *jumps; k++)
            for (int side = 0; side < 2; side++) {
                char text[400];
                snprintf(text, sizeof text, "roles: {x: {torque: 'if(t %s %.17g, 0, 1)'}}",
                         side ? "<" : "<=", jumps[k]);
                tr_system *system = system_from(slider("", text));
                tr_simulate_options o = tr_simulate_defaults(system);
                o.end = 2, o.every = 0.5, o.step = 0.1, o.method = methods[m];
                tr_summary s;
                Sheet *t = simulated(system, o, &s);
                assert_close(at(t, 4, "x_rate"), (2 - jumps[k]) / 1.0, 1e-13);
                tr_sheet_free(t);
                tr_system_free(system);
            }
}

// A narrow pulse, a square wave by floor, a ramp with kinks: work and momentum are exact.
static void test_pulses(void **state)
{
    (void)state;
    static const struct {
        const char *force;
        double impulse;
    } rows[] = {{"if(t > 0.7 && t < 0.70001, 1000, 0)", 0.01},
                {"if(floor(4*t) - 2*floor(2*t) == 0, 1, 0)", 1},
                {"max(0, min(1, 3*t - 1))", 1.5},
                {"abs(t - 0.3)", (0.09 + 2.89) / 2}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[400];
        snprintf(text, sizeof text, "roles: {x: {torque: '%s'}}", rows[k].force);
        tr_system *system = system_from(slider("", text));
        tr_simulate_options o = tr_simulate_defaults(system);
        o.end = 2, o.every = 2;
        tr_summary s;
        Sheet *t = simulated(system, o, &s);
        assert_close(at(t, 1, "x_rate"), rows[k].impulse / 1.0, 1e-12);
        tr_sheet_free(t);
        tr_system_free(system);
    }
}

// Dense output: the same motion from far fewer steps.
static void test_dense_output(void **state)
{
    (void)state;
    tr_system *system = system_from(
        slider(", stiffness: 9", "roles: {x: {torque: 'if(t < 1, 0, 1)'}}\ninitial: {x: 1}"));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 5, o.every = 0.001;
    tr_summary exact, dense;
    Sheet *a = simulated(system, o, &exact);
    o.dense = true;
    Sheet *b = simulated(system, o, &dense);
    assert_int_equal(a->rows, b->rows);
    for (size_t i = 0; i < a->rows; i++) {
        assert_true(at(a, i, "t") == at(b, i, "t"));
        assert_close(at(b, i, "x"), at(a, i, "x"), 1e-9);
        assert_close(at(b, i, "x_rate"), at(a, i, "x_rate"), 1e-8);
    }
    assert_true(dense.steps < exact.steps / 5);
    tr_sheet_free(a);
    tr_sheet_free(b);
    tr_system_free(system);
}

// Nothing is free to move: what is left to integrate is the work, a function of t alone.
static void test_work_of_a_motion(void **state)
{
    (void)state;
    tr_system *system = system_from(slider("", "roles: {x: {motion: sin(3*t)*exp(-t/5)}}"));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 20, o.every = 10;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    assert_below(s.energy_error, 1e-10);
    tr_sheet_free(t);
    tr_system_free(system);
}

// The initial state as a C program gets it: accelerations from the outputs agree with the report.
static void test_initial_state_from_c(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(slider(", stiffness: 3", "initial: {x: 0.5, d(x): 2}"));
    tr_program *p = tr_compile(system, "M c Q vdot", NULL, &err);
    tr_workspace *w = tr_workspace_new(p, &err);
    double in[16], out[4];
    assert_true(tr_input_count(system) <= 16);
    assert_true(initial_of(system, in, &err));
    tr_evaluate(p, w, in, out);
    assert_close(out[2], -1.5, 1e-15);
    assert_close(out[3], (out[2] - out[1]) / out[0], 1e-15);
    assert_close(in[input_index(system, "x")], 0.5, 0);
    assert_close(in[input_index(system, "x_rate")], 2, 0);
    tr_workspace_free(w);
    tr_program_free(p);
    tr_system_free(system);
}

// A formula that would fail a little off the true path does not end the run.
static void test_trial_steps_off_the_path(void **state)
{
    (void)state;
    tr_system *system =
        system_from(slider("", "roles: {x: {torque: 40*(0.9*slider_reach(t) - asin(x)) - 9*d(x)}}\n"
                               "functions: {slider_reach(t): 1.4*(1 - exp(-3*t))}"));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 6, o.every = 3;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    assert_true(at(t, 2, "x") > 0.9 && at(t, 2, "x") < 1);
    tr_sheet_free(t);
    tr_system_free(system);
}

// Across a pole a run may go on, but not without a word.
static void test_warning(void **state)
{
    (void)state;
    tr_system *system = system_from(slider(", potential: -1/x^2", "initial: {x: 1}"));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = "rk4", o.end = 1, o.output = in_folder("pole.csv");
    tr_summary s;
    assert_true(tr_simulate(system, &o, &s, NULL));
    assert_true(s.energy_error > 0.5);
    assert_true(file_holds(in_folder("pole.json"), "the energy balance is off by"));
    tr_system_free(system);
}

// ---- reports -------------------------------------------------------------------------------

// The text is freed.
static void assert_told(char *text, const char *words)
{
    assert_says(text, words);
    tr_text_free(text);
}

static void test_reports(void **state)
{
    (void)state;
    tr_system *system = system_from(top);
    tr_error err = {0};
    assert_told(tr_check_text(system, false, &err),
                "ok: 2 bodies, 4 degrees of freedom; the initial state can be assembled\n");
    assert_told(tr_derive_text(system, true, &err),
                "\"bodies\": 2,\n  \"n\": 3,\n  \"s_p\": 1,\n  \"s_a\": 0,\n");
    assert_told(tr_derive_text(system, true, &err),
                "\"kernel\": 4,\n  \"independent\": [\n    \"top.wx\",\n    \"top.wy\",\n    "
                "\"top.wz\",\n    \"arm_rate\"\n  ],\n  \"kinematic\": [],\n  \"dynamic\": [\n    "
                "\"arm\"\n  ],");
    assert_told(tr_derive_text(system, false, &err), "degrees of freedom  4\n");
    assert_told(tr_eval_text(system, true, &err),
                "\"solved\": [\n    \"top.qw\",\n    \"top.qy\"\n  ],");
    assert_told(tr_eval_text(system, true, &err), "\"tau\": {\n    \"arm\": 0\n  },");
    assert_told(tr_eval_text(system, false, &err), "v        top.wz                   4\n");
    assert_int_equal(err.status, TR_OK);
    tr_system_free(system);
    system = system_from(tumbling);
    assert_told(tr_eval_text(system, true, &err),
                "\"outputs\": {\n    \"Lx\": 0.01,\n    \"Ly\": 6,");
    tr_system_free(system);
}

// Reports and runs of one system leave each other alone.
static void test_reports_between_runs(void **state)
{
    (void)state;
    tr_system *system = system_from(top);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 0.1;
    Sheet *first = simulated(system, o, NULL);
    tr_text_free(tr_eval_text(system, true, NULL));
    tr_text_free(tr_derive_text(system, true, NULL));
    tr_text_free(tr_check_text(system, false, NULL));
    Sheet *second = simulated(system, o, NULL);
    assert_int_equal(first->columns, second->columns);
    assert_memory_equal(first->values, second->values,
                        first->rows * first->columns * sizeof *first->values);
    tr_sheet_free(first);
    tr_sheet_free(second);
    tr_system_free(system);
}

// The words, and not a page full of what is no number
static void test_eval_of_what_is_not_finite(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(slider("", "roles: {x: {torque: log(x - 1)}}"));
    assert_null(tr_eval_text(system, false, &err));
    assert_error(
        err, TR_FAILED,
        "the acceleration of 'x_rate' is not finite at the start: roles.x.torque is log(-1)");
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_nothing_given),
        cmocka_unit_test(test_all_driven),
        cmocka_unit_test(test_energy_balance),
        cmocka_unit_test(test_energy_at_rest),
        cmocka_unit_test(test_blow_up),
        cmocka_unit_test(test_jumps_in_time),
        cmocka_unit_test(test_pulses),
        cmocka_unit_test(test_dense_output),
        cmocka_unit_test(test_work_of_a_motion),
        cmocka_unit_test(test_initial_state_from_c),
        cmocka_unit_test(test_trial_steps_off_the_path),
        cmocka_unit_test(test_warning),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_reports_between_runs),
        cmocka_unit_test(test_eval_of_what_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
