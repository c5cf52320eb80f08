// SPDX-License-Identifier: Apache-2.0
// Starts: what `initial` and `guess` ask for is assembled, as near as can be and from anywhere, or
// refused in words.
#include "charts.h"
#include "motion.h"
#include "plans.h"

// ---- a free body ---------------------------------------------------------------------------

static const char free_body[] =
    "trundle: 1\n"
    "bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 2, zz: 2.5}}}\n"
    "outputs: {roll: asin(b.R32), yaw: 'atan2(b.R21, b.R11)', far: 'sqrt(b.x^2 + b.y^2)',"
    " pitch: asin(b.R31), lean: acos(b.R33), up: b.R33}\n";

typedef struct Started {
    tr_system *system;
    Flow *flow;
    double *y;
    uint8_t *solved; // StartMark, by input
} Started;

static Started assembled(const char *model, const char *more, tr_error *err)
{
    char text[3000];
    snprintf(text, sizeof text, "%s%s\n", model, more);
    Started s = {.system = system_from(text)};
    s.flow = open_flow(s.system, err);
    if (s.flow) s.y = s.flow->start, s.solved = s.flow->marks;
    return s;
}

static void free_start(Started *s)
{
    close_flow(s->flow);
    tr_system_free(s->system);
}

// The value of a formula at the start.
static double start_value(Started *s, const char *formula)
{
    tr_error err = {0};
    double *columns = calloc(s->flow->column_count, sizeof *columns), value = (double)NAN;
    tr_flow_columns(s->flow, 0, s->y, columns);
    for (uint32_t i = 0; i < s->flow->column_count; i++)
        if (strcmp(s->flow->labels[i], formula) == 0) value = columns[i];
    if (isnan(value)) { // not a column
        const tr_expr x = tr_formula(s->system, formula, &err);
        char name[32];
        snprintf(name, sizeof name, "value%u", s->system->output_count);
        tr_output(s->system, name, &x, 1, 1, &err);
        tr_program *program = tr_compile(s->system, name, NULL, &err);
        tr_workspace *work = tr_workspace_new(program, &err);
        if (err.status) fail_msg("%s", err.text);
        tr_evaluate(program, work, s->flow->inputs, &value);
        tr_workspace_free(work);
        tr_program_free(program);
    }
    free(columns);
    return value;
}

// Each is a model's `initial` and `guess`, and what must hold then.
static void test_assembly(void **state)
{
    (void)state;
    static const struct {
        const char *more, *formula[4];
        double value[4];
    } cases[] = {
        {"", {"b.qw", "b.x", "b.wz"}, {1, 0, 0}},
        {"initial: {b.x: 3, b.vx: 2}", {"b.x", "b.vx", "b.y"}, {3, 2, 0}},
        {"guess: {b.x: 3, b.wx: 2}", {"b.x", "b.wx", "b.y"}, {3, 2, 0}},
        {"initial: {b.x: 1}\nguess: {b.x: 3}", {"b.x"}, {1}},
        // the least change, shared out
        {"initial: {b.x + b.y: 1}", {"b.x", "b.y", "b.z"}, {0.5, 0.5, 0}},
        {"initial: {b.x + b.y: 1}\nguess: {b.x: 2}", {"b.x", "b.y"}, {1.5, -0.5}},
        {"initial: {b.vx - 2*b.vy: 5}", {"b.vx", "b.vy"}, {1, -2}},
        // straight to the circle, and from far outside it
        {"initial: {far: 1}\nguess: {b.x: 3, b.y: 4}", {"b.x", "b.y"}, {0.6, 0.8}},
        {"initial: {b.x^2 + 4*b.y^2: 4}\nguess: {b.x: 5, b.y: 0.01}", {"b.x^2 + 4*b.y^2"}, {4}},
        {"initial: {b.x: 7.0123456789e6, far: 8e6}\nguess: {b.y: 1}", {"far"}, {8e6}},
        // rotations by formulas
        {"initial: {asin(b.R32): 0.3}", {"roll", "b.qx", "b.qy"}, {0.3, 0.14943813247359922, 0}},
        {"initial: {roll: 1.2}", {"roll", "b.qx", "b.x"}, {1.2, 0.5646424733950354, 0}},
        {"initial: {roll: -1.57}", {"roll", "b.qy"}, {-1.57, 0}},
        {"initial: {roll: 1.2, yaw: 2.5, pitch: 0.3}", {"roll", "yaw", "pitch"}, {1.2, 2.5, 0.3}},
        {"initial: {yaw: 3.1}", {"yaw", "b.qx"}, {3.1, 0}},
        {"initial: {b.qx: 0.6}", {"b.qx", "b.qw"}, {0.6, 0.8}},
        {"guess: {b.qx: 1}", {"b.qx", "b.qw"}, {0.7071067811865475, 0.7071067811865475}},
        {"guess: {b.qw: 0}", {"b.qw"}, {1}},
        {"guess: {b.qw: 0, b.qz: -2}", {"b.qw", "b.qz"}, {0, -1}},
        // rates, of outputs too
        {"initial: {roll: 0.2, d(roll): 0.5}", {"roll", "d(roll)", "b.wx"}, {0.2, 0.5, 0.5}},
        {"initial: {d(b.x): 2, yaw: pi/2}", {"b.vy", "b.vx"}, {-2, 0}},
        {"initial: {b.x: 3, b.y: 4, d(far): 5, b.vz: 1}", {"d(far)", "b.vx", "b.vz"}, {5, 3, 1}},
        // no slope at the guess: a start beside it
        {"initial: {acos(b.R33): 0.4}", {"lean", "b.x"}, {0.4, 0}},
        {"initial: {sqrt(b.vx^2 + b.vy^2): 3}", {"sqrt(b.vx^2 + b.vy^2)", "b.vz"}, {3, 0}},
        {"initial: {log(b.x): 0.5}", {"log(b.x)", "b.y"}, {0.5, 0}},
        {"initial: {b.R33: -1}", {"up", "b.x"}, {-1, 0}},
        {"initial: {far: 2}", {"far", "b.z"}, {2, 0}},
        // the same said twice is no conflict
        {"initial: {b.x: 1, 2*b.x: 2, b.x + b.y: 3}", {"b.x", "b.y"}, {1, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_error err = {0};
        Started s = assembled(free_body, cases[i].more, &err);
        if (err.status) fail_msg("%s: %s", cases[i].more, err.text);
        for (int k = 0; k < 4 && cases[i].formula[k]; k++) {
            const double value = start_value(&s, cases[i].formula[k]);
            if (!is_close(value, cases[i].value[k], 1e-10))
                fail_msg("%s: %s = %.17g", cases[i].more, cases[i].formula[k], value);
        }
        assert_below(off_by(s.flow, s.y), 1e-15);
        free_start(&s);
    }
}

// What no condition speaks of keeps its guess to the last bit.
static void test_assembly_leaves_the_rest(void **state)
{
    (void)state;
    tr_error err = {0};
    Started s =
        assembled(free_body, "initial: {roll: 0.9, b.R21: 0.1, b.x: 0.3}\nguess: {b.z: 0.1}", &err);
    assert_int_equal(err.status, TR_OK);
    assert_true(s.y[0] == 0.3 && s.y[1] == 0 && s.y[2] == 0.1);
    static const bool solved[] = {false, false, false, true, true, true, true};
    for (int k = 0; k < 7; k++)
        assert_int_equal(s.solved[s.flow->now->place[k]] & START_SOLVED, solved[k]);
    for (int k = 7; k < 13; k++)
        assert_true(s.y[k] == 0 && !(s.solved[s.flow->now->place[k]] & START_SOLVED));
    free_start(&s);
}

// The nearest point of an ellipse: the rest of the way to the guess is along its normal.
static void test_assembly_is_nearest(void **state)
{
    (void)state;
    tr_error err = {0};
    Started s =
        assembled(free_body, "initial: {b.x^2 + 4*b.y^2: 4}\nguess: {b.x: 2, b.y: 1.5}", &err);
    assert_int_equal(err.status, TR_OK);
    const double x = s.y[0], y = s.y[1];
    assert_close(x * x + 4 * y * y, 4, 1e-12);
    assert_close((2 - x) * 8 * y - (1.5 - y) * 2 * x, 0, 1e-6);
    free_start(&s);
}

static void test_conflicts(void **state)
{
    (void)state;
    static const struct {
        const char *more, *words;
    } cases[] = {
        {"initial: {b.y: 1, b.x: 1, 4*b.x: 5, b.z: 2}",
         "the initial positions cannot all hold: 'b.x' is off by 0.235"},
        {"initial: {b.x: 1, 3*b.x: 4}",
         "the initial positions cannot all hold: 'b.x' is off by 0.3"},
        {"initial: {b.R33: 2}", "the initial positions cannot all hold: 'b.R33' is off by 1"},
        {"initial: {roll: 2}", "the initial positions cannot all hold: 'roll' is off by 0.429"},
        {"initial: {far: -1}", "the initial positions cannot all hold: 'far' "},
        {"initial: {log(-1 - b.x^2): 1}",
         "the initial positions cannot all hold: 'log(-1 - b.x^2)' has no value at the guess"},
        {"initial: {b.x: 1/0}",
         "the initial positions cannot all hold: 'b.x' has no value at the guess"},
        {"initial: {2*b.vx: 2, d(b.x): 1.5}",
         "the initial rates cannot all hold: 'd(b.x)' is off by 0.4"},
        {"initial: {b.vx^2: -1}", "the initial rates cannot all hold: 'b.vx^2' is off by 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_error err = {0};
        Started s = assembled(free_body, cases[i].more, &err);
        assert_int_equal(err.status, TR_INVALID);
        if (i == 4) // how far off 'far' is where the search ends does not matter
            assert_int_equal(strncmp(err.text, cases[i].words, strlen(cases[i].words)), 0);
        else
            assert_string_equal(err.text, cases[i].words);
        assert_null(strstr(err.text, "nan"));
        tr_error again = {0};
        assert_null(tr_eval_text(s.system, true, &again));
        assert_null(tr_check_text(s.system, false, &(tr_error){0}));
        assert_false(tr_simulate(s.system, NULL, NULL, &(tr_error){0}));
        assert_int_equal(again.status, TR_INVALID);
        free_start(&s);
    }
}

// Conditions see driven coordinates where their formulas put them at the start.
static void test_assembly_with_motion(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  a: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"
        "  b: {parent: a, joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"
        "roles: {a: {motion: 2*cos(t) + 3*t}}\n"
        "initial: {b.x: 5, d(b.x): 7}\n";
    tr_error err = {0};
    Started s = assembled(text, "", &err);
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(s.flow->size, 3);
    assert_close(s.y[0], 3, 1e-14);
    assert_close(s.y[1], 4, 1e-14);
    free_start(&s);
}

// ---- a four-bar linkage --------------------------------------------------------------------

// The rocker's angle with the crank at th1: its end is b from the end of the crank. From there to
// the ground pin it is d, at the angle `way`; the two triangles on that line are the branches.
static double rocker_angle(const FourBar *f, int branch)
{
    const double x = f->a * cos(f->th1) - f->ground, y = f->a * sin(f->th1), d = hypot(x, y);
    const double way = atan2(y, x);
    const double corner = acos((d * d + f->c * f->c - f->b * f->b) / (2 * d * f->c));
    return branch ? way + corner : way - corner;
}

static double turned(double a, double b) { return fabs(remainder(a - b, 2 * M_PI)); }

// From a guess; false, with words, when it cannot be
static bool four_bar_from(const char *initial, const char *guess, FourBar *f, tr_error *err)
{
    char text[MOST_TEXT];
    double x[64];
    take_model("four_bar", text);
    put_line(text, initial);
    put_line(text, guess);
    tr_system *system = system_of(model_from(text), "swing");
    assert_true(tr_input_count(system) <= 64);
    const bool good = initial_of(system, x, err);
    for (size_t i = 0; good && i < tr_input_count(system); i++) assert_true(isfinite(x[i]));
    if (good) {
        f->th1 = x[input_index(system, "th1")];
        f->th2_rel = x[input_index(system, "th2_rel")];
        f->th3 = x[input_index(system, "th3")];
    }
    tr_system_free(system);
    return good;
}

static void check_refusal(const tr_error *err)
{
    print_message("%s\n", err->text);
    assert_int_equal(err->status, TR_INVALID);
    assert_non_null(strstr(err->text, "constraints and initial "));
    assert_non_null(strstr(err->text, "'closing."));
    assert_true(number_behind(err->text, "off by ") > 0);
}

enum { GUESSES = BRIEF ? 200 : 1000 };

static void test_assembly_with_the_crank_given(void **state)
{
    (void)state;
    Random r = {2024};
    int found[2] = {0};
    double worst = 0, open = 0;
    for (int i = 0; i < GUESSES; i++) {
        FourBar f = bars;
        tr_error err = {0};
        char initial[100], guess[100];
        const double th1 = random_between(&r, -M_PI, M_PI);
        snprintf(initial, sizeof initial, "initial: {th1: %.17g, d(th1): 0.5}", th1);
        snprintf(guess, sizeof guess, "guess: {th2_rel: %.6f, th3: %.6f}",
                 random_between(&r, -M_PI, M_PI), random_between(&r, -M_PI, M_PI));
        if (!four_bar_from(initial, guess, &f, &err)) {
            check_refusal(&err);
            continue;
        }
        const double first = turned(f.th3, rocker_angle(&f, 0));
        const double second = turned(f.th3, rocker_angle(&f, 1));
        assert_close(f.th1, th1, 1e-14);
        found[second < first]++;
        worst = fmax(worst, fmin(first, second));
        open = fmax(open, gap(&f));
    }
    print_message("%d and %d of %d guesses: th3 %.1e, gap %.1e\n", found[0], found[1], GUESSES,
                  worst, open);
    assert_below(worst, 1e-9);
    assert_below(open, 1e-12);
    assert_true(found[0] > GUESSES / 4 && found[1] > GUESSES / 4);
    assert_true(found[0] + found[1] >= 0.99 * GUESSES);
}

static void test_assembly_with_nothing_given(void **state)
{
    (void)state;
    Random r = {77};
    int found = 0;
    double open = 0;
    for (int i = 0; i < GUESSES; i++) {
        FourBar f = bars;
        tr_error err = {0};
        char guess[100];
        snprintf(guess, sizeof guess, "guess: {th1: %.6f, th2_rel: %.6f, th3: %.6f}",
                 random_between(&r, -M_PI, M_PI), random_between(&r, -M_PI, M_PI),
                 random_between(&r, -M_PI, M_PI));
        if (!four_bar_from("initial: {d(th1): 0.5}", guess, &f, &err)) {
            check_refusal(&err);
            continue;
        }
        open = fmax(open, gap(&f));
        found++;
    }
    print_message("%d of %d guesses: gap %.1e\n", found, GUESSES, open);
    assert_true(found >= 0.99 * GUESSES);
    assert_below(open, 1e-12);
}

// The longest reach of coupler and rocker does not get from the crank's end to the ground pin.
static void test_assembly_of_what_cannot_meet(void **state)
{
    (void)state;
    tr_error err = {0};
    const tr_setting longer = {"a", "3"};
    const tr_derive_options options = {
        .size = sizeof options, .case_name = "swing", .settings = &longer, .setting_count = 1};
    const double least = hypot(3 * cos(-0.6) - 1, 3 * sin(-0.6)) - 0.9 - 0.7; // gap
    char text[MOST_TEXT];
    double x[64];
    take_model("four_bar", text);
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, &options, &err);
    assert_int_equal(err.status, TR_OK);
    assert_false(initial_of(system, x, &err));
    check_refusal(&err);
    assert_non_null(strstr(err.text, "'closing.x', 'closing.y'"));
    assert_close(number_behind(err.text, "stays open by "), least, 1e-3);
    tr_system_free(system);
    tr_model_free(model);
}

// ---- numbers of the start ------------------------------------------------------------------

static const Input *input_called(const tr_system *s, const char *name)
{
    const Named *named = tr_system_find(s, text_of(name));
    return named ? tr_system_input(s, named->meaning) : NULL;
}

// Each is an input of its own, found by its name; formulas do not know it.
static void test_numbers_of_the_start(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_from("trundle: 1\nparameters: {w0: 2}\n"
                               "bodies: {b: {joint: {type: planar}, mass: 1, inertia: {zz: 1}}}\n"
                               "initial: {d( b.theta ): 3*w0, b.x + 2*b.y: w0, b.x: b.y}\n"
                               "guess: {b.y: 0.5, b.theta: w0}\n");
    static const struct {
        const char *name;
        double value;
    } wanted[] = {{"initial.d(b.theta)", 6},
                  {"initial.b.x+2*b.y", 2},
                  {"guess.b.y", 0.5},
                  {"guess.b.theta", 2}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const Input *input = input_called(s, wanted[i].name);
        if (!input) fail_msg("%s", wanted[i].name);
        assert_int_equal(input->kind, TR_START);
        assert_close(input->value, wanted[i].value, 0);
        assert_true(input->definition.id != 0);
    }
    assert_null(input_called(s, "initial.b.x")); // it is no number: it depends on where b is
    assert_int_equal(input_called(s, "b.theta")->guess.id,
                     input_called(s, "guess.b.theta")->symbol.id);
    assert_int_equal(input_called(s, "b.wz")->guess.id,
                     input_called(s, "initial.d(b.theta)")->symbol.id);
    tr_formula(s, "guess.b.y", &err);
    assert_string_equal(err.text, "unknown name 'guess.b.y'; there are 't', 'w0', 'b.x', 'b.y', "
                                  "'b.theta', 'b.vx', 'b.vy', 'b.wz'");
    tr_system_free(s);
}

static void test_names_that_are_taken(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } refused[] = {
        {"parameters: {initial.b: 1}\ninitial: {b: 1}\n", "the name 'initial.b' is taken"},
        {"initial: {b + 1: 1, b+1: 1}\n", "the name 'initial.b+1' is taken"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char text[400];
        tr_error err = {0};
        snprintf(text, sizeof text,
                 "trundle: 1\nbodies: {b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, "
                 "inertia: {zz: 1}}}\n%s",
                 refused[i].text);
        tr_model *model = model_from(text);
        assert_null(tr_derive(model, NULL, &err));
        assert_string_equal(err.text, refused[i].words);
        assert_true(err.line > 2);
        tr_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_the_start),
        cmocka_unit_test(test_names_that_are_taken),
        cmocka_unit_test(test_assembly),
        cmocka_unit_test(test_assembly_leaves_the_rest),
        cmocka_unit_test(test_assembly_is_nearest),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_assembly_with_motion),
        cmocka_unit_test(test_assembly_with_the_crank_given),
        cmocka_unit_test(test_assembly_with_nothing_given),
        cmocka_unit_test(test_assembly_of_what_cannot_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
