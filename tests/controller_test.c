// SPDX-License-Identifier: Apache-2.0
// Controllers of the model (T321): against the same law as a callback, to the bit, and motions in
// closed form; what they see of each other; batches and snapshots; and what they cannot be.
#include "instant.h"
#include "runs.h"

static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie", "rosenbrock", "euler"};
enum { METHODS = sizeof methods / sizeof *methods };

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%d:%d: %s", err->line, err->column, err->text);
}

// All columns of the second, in the first, to the bit
static void assert_same_runs(const Sheet *a, const Sheet *b)
{
    assert_int_equal(a->rows, b->rows);
    for (size_t k = 0; k < b->columns; k++) {
        const double *one = column(a, b->names[k]), *other = column(b, b->names[k]);
        for (size_t i = 0; i < b->rows; i++)
            if (!same_bits(one[i], other[i]))
                fail_msg("%s in row %zu: %.17g is not %.17g", b->names[k], i, one[i], other[i]);
    }
}

// ---- the law that lqr --step writes --------------------------------------------------------

static const char segway_inputs[] = "set: {pitch0: 0.05}\n"
                                    "inputs: {left_torque: 0, right_torque: 0}\n"
                                    "roles:\n"
                                    "  left: {torque: left_torque}\n"
                                    "  right: {torque: right_torque}\n";

static bool follow_law(void *owner, const tr_instant *now)
{
    (void)owner;
    *setting(now, "left_torque") = seen(now, "law_left");
    *setting(now, "right_torque") = seen(now, "law_right");
    return true;
}

static const tr_lqr *segway_law(double step)
{
    tr_error err = {0};
    static const char *const controls[] = {"left", "right"};
    tr_model *model = model_called("segway");
    const tr_setting upright = {"pitch0", "0"};
    tr_derive_options d = tr_derive_defaults();
    d.case_name = "fall", d.controls = controls, d.control_count = 2;
    d.settings = &upright, d.setting_count = 1;
    static tr_system *system; // which the design needs; the next one frees it
    tr_system_free(system);
    system = tr_derive(model, &d, &err);
    tr_lqr_options o = tr_lqr_defaults();
    o.inputs = "left,right", o.q = "way=20", o.step = step;
    const tr_lqr *lqr = tr_lqr_design(system, &o, &err);
    insist(&err);
    tr_model_free(model);
    return lqr;
}

static Sheet *run_segway(const char *with, const tr_lqr *law, const char *method, double sample)
{
    tr_error err = {0};
    tr_model *model = model_called("segway");
    const tr_setting tilted = {"pitch0", "0.05"};
    const tr_setting laws[] = {{"law_left", law->law[0]}, {"law_right", law->law[1]}};
    const char *const name = "gains.yaml";
    tr_derive_options d = tr_derive_defaults();
    d.case_name = "fall", d.settings = &tilted, d.setting_count = 1;
    d.with = &name, d.with_texts = &with, d.with_count = 1;
    d.outputs = laws, d.output_count = 2;
    tr_system *system = tr_derive(model, &d, &err);
    insist(&err);
    tr_model_free(model);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 3, o.every = 0.05, o.method = method, o.step = 0.001;
    if (sample > 0) o.control = follow_law, o.sample = sample;
    Sheet *run = simulated(system, o, NULL);
    tr_system_free(system);
    return run;
}

// The file that was written, and the law by a callback; with periods that rows fall on, and not
static void test_lqr_file(void **state)
{
    (void)state;
    static const double steps[] = {0.02, 0.015};
    for (int i = 0; i < 4; i++) {
        const double step = steps[i / 2];
        const char *method = i % 2 ? "erk" : "rk4";
        tr_error err = {0};
        const tr_lqr *law = segway_law(step);
        char *file = tr_lqr_fragment(law, &err);
        insist(&err);
        assert_says(file, "\ncontrollers:\n  lqr:\n    period: 0.0");
        Sheet *own = run_segway(file, law, method, 0);
        Sheet *called = run_segway(segway_inputs, law, method, step);
        assert_same_runs(own, called);
        assert_below(fabs(last(own, "pitch")), 0.02); // it stands
        assert_true(largest(own, "left_torque") > 1);
        tr_sheet_free(own);
        tr_sheet_free(called);
        tr_text_free(file);
        tr_lqr_free(law);
    }
}

// ---- closed forms --------------------------------------------------------------------------

#define CART                                                                \
    "trundle: 1\n"                                                          \
    "parameters: {T: 0.07}\n"                                               \
    "inputs: {push: 0, other: 0}\n"                                         \
    "bodies: {x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2}}\n" \
    "roles: {x: {torque: push + other}}\n"

static double push_at(size_t k) { return 3 * sin(1 + (double)k); }

// x'' = u/2, u held: parabolas
static void test_parabolas(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        tr_system *system = system_from(CART "controllers:\n"
                                             "  steps:\n"
                                             "    period: T\n"
                                             "    states: {k: 0}\n"
                                             "    update: {k: k + 1}\n"
                                             "    outputs: {push: 3*sin(1 + k)}\n"
                                             "initial: {x: 0, d(x): 0.3}\n"
                                             "cases: {a: {end: 1, every: 0.1, step: 0.001}}\n");
        tr_simulate_options o = strictly(system);
        o.method = methods[m];
        Sheet *run = simulated(system, o, NULL);
        const double tolerance = strcmp(methods[m], "euler") == 0 ? 2e-3 : 1e-11;
        for (size_t row = 0; row < run->rows; row++) {
            const double t = at(run, row, "t");
            double x = 0, v = 0.3, left = t;
            size_t k = 0;
            for (; left > 0.07 * (1 - 1e-9); k++, left -= 0.07) {
                x += v * 0.07 + push_at(k) / 4 * 0.07 * 0.07;
                v += push_at(k) / 2 * 0.07;
            }
            assert_close(at(run, row, "x"), x + v * left + push_at(k) / 4 * left * left, tolerance);
            assert_close(at(run, row, "x_rate"), v + push_at(k) / 2 * left, tolerance);
            assert_close(at(run, row, "push"), push_at(k), 1e-14);
            assert_close(at(run, row, "steps.k"), (double)k + 1, 0); // after the sample
        }
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// Outputs see states as they were, updates what outputs say now; a controller sees at once what
// others say that are due at the same time, in any order of the file, through outputs of the model,
// too, and else what they hold.
static void test_what_they_see(void **state)
{
    (void)state;
    Sheet *run = run_with(
        system_from("trundle: 1\n"
                    "inputs: {a: 0, b: 0, c: 0, g: 0}\n"
                    "bodies: {x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}}\n"
                    "controllers:\n"
                    "  second: {period: 0.1, outputs: {b: 10*a, c: twice}}\n"
                    "  slow: {period: 0.2, states: {n: 0}, update: {n: n + 1}, outputs: {g: n}}\n"
                    "  first:\n"
                    "    period: 0.1\n"
                    "    states: {k: 1, sum: 0}\n"
                    "    update: {k: k + 1, sum: sum + a}\n"
                    "    outputs: {a: k + 100*g}\n"
                    "outputs: {twice: 2*b}\n"
                    "cases: {now: {end: 1, every: 0.1}}\n"),
        0, 0, NULL);
    double sum = 0;
    for (size_t i = 0; i < run->rows; i++) {
        const double g = (double)(i / 2), a = (double)i + 1 + 100 * g;
        sum += a;
        assert_close(at(run, i, "g"), g, 0);
        assert_close(at(run, i, "a"), a, 0);
        assert_close(at(run, i, "b"), 10 * a, 0);
        assert_close(at(run, i, "c"), 20 * a, 0);
        assert_close(at(run, i, "first.sum"), sum, 0);
        assert_close(at(run, i, "first.k"), (double)i + 2, 0);
    }
    tr_sheet_free(run);
}

// Accelerations and reactions are as they were just before: with what was set until then
static void test_accelerations(void **state)
{
    (void)state;
    Sheet *run = run_with(system_from(CART "controllers:\n"
                                           "  c: {period: 0.1, outputs: {push: 1 + d(d(x))}}\n"
                                           "cases: {now: {end: 1, every: 0.1}}\n"),
                          0, 0, NULL);
    double push = 0;
    for (size_t i = 0; i < run->rows; i++) {
        push = 1 + push / 2;
        assert_close(at(run, i, "push"), push, 1e-13);
    }
    tr_sheet_free(run);
}

// In first order a controller may change velocities.
static void test_first_order(void **state)
{
    (void)state;
    Sheet *run = run_with(
        system_from("trundle: 1\n"
                    "inputs: {v: 0}\n"
                    "bodies: {body: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}}\n"
                    "commands: {d(x): {value: v}}\n"
                    "controllers: {c: {period: 0.25, outputs: {v: 1 - x}}}\n"
                    "initial: {x: 0}\n"
                    "cases: {now: {order: 1, end: 2, every: 0.25}}\n"),
        0, 0, NULL);
    for (size_t i = 0; i < run->rows; i++) {
        assert_close(at(run, i, "x"), 1 - pow(0.75, (double)i), 1e-13);
        assert_close(at(run, i, "x_rate"), pow(0.75, (double)i), 1e-13);
    }
    tr_sheet_free(run);
}

// Of a ball that bounces, with a thrust that is sampled: contacts switch in between
static const char bouncing[] =
    "trundle: 1\n"
    "inputs: {thrust: 0}\n"
    "bodies:\n"
    "  ball: {joint: {type: planar}, mass: 1, inertia: {zz: 0.1}}\n"
    "gravity: 0, 0, 0\n"
    "contacts: {}\n"
    "forces: {weight: {body: ball, force: \"0, -9.81 + thrust + if(ball.y < 0, -3000*ball.y, 0), "
    "0\"}}\n"
    "outputs: {law: \"if(ball.y > 0.2, -2, 3) - ball.vy\"}\n"
    "initial: {ball.x: 0, ball.y: 0.5, ball.theta: 0, ball.vx: 1, ball.vy: 0, ball.wz: 0}\n"
    "cases: {now: {end: 2, every: 0.1, step: 0.001}}\n";

static bool thrust_by_law(void *owner, const tr_instant *now)
{
    (void)owner;
    *setting(now, "thrust") = seen(now, "law");
    return true;
}

static void test_switches(void **state)
{
    (void)state;
    for (int m = 0; m < 3; m++) {
        char text[1200];
        snprintf(text, sizeof text, "%scontrollers: {c: {period: 0.03, outputs: {thrust: law}}}\n",
                 bouncing);
        tr_system *one = system_from(text), *other = system_from(bouncing);
        tr_simulate_options o = tr_simulate_defaults(one);
        o.method = methods[m];
        Sheet *own = simulated(one, o, NULL);
        o.control = thrust_by_law, o.sample = 0.03;
        Sheet *called = simulated(other, o, NULL);
        assert_same_runs(own, called);
        tr_sheet_free(own);
        tr_sheet_free(called);
        tr_system_free(one);
        tr_system_free(other);
    }
}

// ---- runs that are asked for ---------------------------------------------------------------

static const char two[] =
    "trundle: 1\n"
    "parameters: {gain: 3, T: 0.02, seed: 1}\n"
    "inputs: {push: 0, wish: 0, wind: 0}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 2}\n"
    "  pole: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}, mass: 1,\n"
    "         com: \"0, 0, -0.5\"}\n"
    "roles: {x: {torque: push + wind}, a: {torque: -0.01*late}}\n"
    "sensors:\n"
    "  gyro: {of: d(a), period: T, sd: 0.01, seed: seed}\n"
    "  late: {of: a, period: 0.03, delay: 3, sd: 0.001, seed: seed}\n"
    "controllers:\n"
    "  fast: {period: T, states: {e: 0.1}, update: {e: \"e + T*(wish - x)\"},\n"
    "         outputs: {push: \"gain*(wish - x) + e - 2*d(x) + gyro\"}}\n"
    "  slow: {period: 0.07, outputs: {wish: sin(t) + late}}\n"
    "initial: {x: 0, a: 0.3}\n";

static void test_batches(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(two);
    tr_plan *plan = tr_plan_new(system, &err);
    const size_t columns = tr_plan_column_count(plan);
    enum { COUNT = 9 };
    for (int lie = 0; lie < 2; lie++) {
        tr_run_options o = tr_run_defaults(plan);
        o.method = lie ? "lie" : "rk4", o.step = 0.004;
        tr_batch *batch = tr_batch_new(plan, COUNT, &o, &err);
        tr_run *run[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            const double T = 0.02 + 0.001 * (double)(i % 3), seed = (double)(i / 3);
            run[i] = tr_run_new(plan, &o, &err);
            tr_batch_set(batch, i, "T", T, &err);
            tr_batch_set(batch, i, "seed", seed, &err);
            tr_batch_reset(batch, i, &err);
            tr_run_set(run[i], "T", T, &err);
            tr_run_set(run[i], "seed", seed, &err);
            tr_run_reset(run[i], &err);
        }
        insist(&err);
        for (int k = 1; k <= 30; k++) {
            tr_batch_advance(batch, 0.02 * k, &err);
            for (size_t i = 0; i < COUNT; i++) {
                if (k == 10) tr_batch_set(batch, i, "wind", 0.1 * (double)i, &err);
                tr_run_advance(run[i], 0.02 * k, &err);
                if (k == 10) tr_run_set(run[i], "wind", 0.1 * (double)i, &err);
                insist(&err);
                const double *a = tr_run_row(run[i]), *b = tr_batch_row(batch, i);
                for (size_t c = 0; c < columns; c++)
                    if (!same_bits(a[c], b[c]))
                        fail_msg("run %zu, step %d, %s: %.17g is not %.17g", i, k,
                                 tr_plan_column_name(plan, c), b[c], a[c]);
            }
        }
        for (size_t i = 0; i < COUNT; i++) tr_run_free(run[i]);
        tr_batch_free(batch);
    }
    tr_plan_free(plan);
    tr_system_free(system);
}

// Saved between samples and at one, and gone on with in another run
static void test_snapshots(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(two);
    tr_plan *plan = tr_plan_new(system, &err);
    const size_t columns = tr_plan_column_count(plan);
    for (int k = 0; k < 4; k++) {
        tr_run_options o = tr_run_defaults(plan);
        o.method = methods[k], o.step = 0.003;
        tr_run *run = tr_run_new(plan, &o, &err), *other = tr_run_new(plan, &o, &err);
        const size_t size = tr_run_save(run, NULL, 0, &err);
        void *memory = malloc(size);
        tr_run_advance(run, k % 2 ? 0.2 : 0.21, &err);
        tr_run_save(run, memory, size, &err);
        tr_run_restore(other, memory, size, &err);
        for (int i = 1; i < 10; i++) {
            tr_run_advance(run, 0.21 + 0.05 * i, &err);
            tr_run_advance(other, 0.21 + 0.05 * i, &err);
            insist(&err);
            assert_memory_equal(tr_run_row(run), tr_run_row(other), columns * sizeof(double));
        }
        free(memory);
        tr_run_free(run);
        tr_run_free(other);
    }
    tr_plan_free(plan);
    tr_system_free(system);
}

// It does not matter how calls divide the time: samples are where they are.
static void test_calls(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(two);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.rtol = 1e-12, o.atol = 1e-14;
    tr_run *run = tr_run_new(plan, &o, &err), *other = tr_run_new(plan, &o, &err);
    tr_run_advance(run, 0.7, &err);
    for (double t = 0.001; t < 0.7; t += 0.0101) tr_run_advance(other, t, &err);
    tr_run_advance(other, 0.7, &err);
    insist(&err);
    for (size_t c = 0; c + 3 < tr_plan_column_count(plan); c++)
        assert_close(tr_run_row(run)[c], tr_run_row(other)[c], 1e-9);
    tr_run_set(run, "push", 1, &err);
    assert_says(err.text, "'push' is set by a controller of the model");
    err = (tr_error){0};
    tr_run_set(run, "gyro", 1, &err);
    assert_says(err.text, "cannot be set");
    tr_run_free(run);
    tr_run_free(other);
    tr_plan_free(plan);
    tr_system_free(system);
}

// ---- cases, settings, and what does not see them -------------------------------------------

#define LAW "controllers: {c: {period: 0.1, outputs: {push: 1}}}\n"

static void test_cases(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double push;
    } cases[] = {
        {"cases: {a: {}}\n", 1},
        {"cases: {a: {without: [c]}}\n", 0},
        {"cases: {a: {without: [c], set: {push: 7}}}\n", 7},
        {"cases: {a: {controllers: {c: {period: 0.1, outputs: {push: 2}}}}}\n", 2},
        {"cases: {a: {without: [c], inputs: {more: 5}, set: {more: 6}, roles: {x: {torque: "
         "more}}}}\n",
         6},
        {"cases: {a: {set: {other: 4}}}\n", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[900];
        snprintf(text, sizeof text, CART LAW "%s", cases[i].text);
        Sheet *run = run_with(system_from(text), 1, 1, NULL);
        assert_close(last(run, "tau.x"), cases[i].push, 0);
        tr_sheet_free(run);
    }
}

static void test_what_goes_along(void **state)
{
    (void)state;
    assert_run_refused(CART LAW "deviations: {x: 0.1}\n", false,
                       "standard deviations do not see through samples");
    assert_run_refused(CART LAW, true, "a filter does not see through samples");
    tr_error err = {0};
    tr_system *system = system_from(CART LAW);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.sensitivity = "T";
    assert_false(tr_simulate(system, &o, NULL, &err));
    assert_says(err.text, "sensitivities do not see through samples");
    tr_system_free(system);
    assert_run_refused(CART "controllers: {c: {period: 0.1, outputs: {push: 1/(x - x)}}}\n", false,
                       "what it says of push is not finite at t = 0");
    assert_run_refused(CART "controllers: {c: {period: 0.1, outputs: {push: log(0.25 - t)}}}\n",
                       false, "what it says of push is not finite at t = 0.3");
}

#define C(rest) "controllers: {c: {period: 0.1, " rest "}}\n"
static const struct {
    const char *text, *words;
} wrong_words[] = {
    {"controllers: {c: {outputs: {push: 1}}}\n", "needs its 'period', and 'outputs'"},
    {"controllers: {c: {period: 0.1}}\n", "needs its 'period', and 'outputs'"},
    {"controllers: {c: {period: 0, outputs: {push: 1}}}\n", "the period of 'c' must be positive"},
    {"controllers: {c: {period: -T, outputs: {push: 1}}}\n", "the period of 'c' must be positive"},
    {"controllers: {c: {period: x, outputs: {push: 1}}}\n", "'x' is not a parameter"},
    {"controllers: {c: {period: 1/0, outputs: {push: 1}}}\n", "finite"},
    {C("outputs: {x: 1}"), "what a controller sets is an input of the model, under 'inputs': 'x' "
                           "is none: 'x' is a"},
    {C("outputs: {pusch: 1}"), "did you mean 'push'?"},
    {C("outputs: {push: [1, 2]}"), ""},
    {C("outputs: {push: pull}"), "unknown name 'pull'"},
    {C("outputs: {push: other + push}"), "'push' depends on itself at one instant"},
    {C("outputs: {push: other, other: push}"), "depends on itself at one instant"},
    {"outputs: {o: push}\n" C("outputs: {push: o}"), "depends on itself at one instant"},
    {"controllers: {c: {period: 0.1, outputs: {push: other}}, d: {period: 0.2, outputs: "
     "{other: "
     "push}}}\n",
     "depends on itself at one instant"},
    {"controllers: {c: {period: 0.1, outputs: {push: 1}}, d: {period: 0.2, outputs: {push: "
     "2}}}\n",
     "two controllers set the input 'push'"},
    {C("states: {e: 0}, update: {f: 1}, outputs: {push: 1}"), "'f' is no state of the controller "
                                                              "'c'"},
    {C("states: {x: 0}, outputs: {push: 1}"), "the name 'x' is taken"},
    {C("states: {T: 0}, outputs: {push: 1}"), "the name 'T' is taken"},
    {C("states: {t: 0}, outputs: {push: 1}"), "reserved"},
    {C("states: {push: 0}, outputs: {push: 1}"), "the name 'push' is taken"},
    {C("states: {e: x}, outputs: {push: 1}"), "'x' is not a parameter"},
    {C("states: {e: 0}, outputs: {push: d(e)}"), "how fast 'c.e' changes is not known"},
    {C("outputs: {push: d(seen)}") "sensors: {seen: {of: x, period: 0.1}}\n",
     "what 'seen' says changes in steps, and has no rate: leave it out of d(...)"},
    {C("states: {e: 0}, outputs: {push: e}") "outputs: {o: e}\n", "unknown name 'e'"},
    {C("output: {push: 1}"), "output"},
    {"inputs2: 0\n", "inputs2"},
    {"controllers: {a.b: {period: 0.1, outputs: {push: 1}}}\n", "'a.b' is not a name"},
    {C("outputs: {wind: 1}") "parameters2: {}\n", ""},
    {"cases: {a: {controllers: {c: {period: 0.1, outputs: {puhs: 1}}}}}\n", "'puhs' is none"},
    {LAW "cases: {a: {set: {push: 3}}}\n",
     "is set by a controller, so a number for it has no effect"},
    {LAW "cases: {a: {without: [cc]}}\n", "did you mean 'c'?"},
};
#undef C

static void test_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_words / sizeof *wrong_words; i++)
        assert_model_refused(CART, wrong_words[i].text, wrong_words[i].words);
    tr_error err = {0};
    tr_model *model =
        model_from("trundle: 1\ninputs: {push: sin(t)}\n"
                   "bodies: {x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2}}\n"
                   "controllers: {c: {period: 1, outputs: {push: 1}}}\n");
    assert_null(tr_derive(model, NULL, &err));
    assert_says(err.text, "the input 'push' is a formula of t, which no controller can set");
    tr_model_free(model);
}

// What check and the certificate tell of them
static void test_told(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(two);
    char *text = tr_check_text(system, false, &err);
    insist(&err);
    assert_says(text, "the sensor 'late' samples every 0.03 s\n");
    assert_says(text, "the controller 'fast' samples every 0.02 s, and sets 'push'\n");
    tr_text_free(text);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 0.5;
    tr_sheet_free(simulated(system, o, NULL));
    char *json = certificate();
    assert_says(json,
                "\"name\": \"slow\",\n      \"kind\": \"controller\",\n      \"period\": 0.07,\n"
                "      \"count\": 15");
    free(json);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lqr_file),
        cmocka_unit_test(test_parabolas),
        cmocka_unit_test(test_what_they_see),
        cmocka_unit_test(test_accelerations),
        cmocka_unit_test(test_first_order),
        cmocka_unit_test(test_switches),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_what_goes_along),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
