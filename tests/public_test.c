// SPDX-License-Identifier: Apache-2.0
// Small things that programs on top of the library use, and what the calls do without arguments.
#include "runs.h"

static void test_version(void **state)
{
    (void)state;
    int major, minor, patch, used = 0;
    assert_int_equal(sscanf(tr_version(), "%d.%d.%d%n", &major, &minor, &patch, &used), 3);
    assert_int_equal(tr_version()[used], 0);
    assert_string_equal(tr_version(), PUBLIC_VERSION);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } numbers[] = {
        {"0", 0},         {"-0", -0.0},  {"+1.5", 1.5},
        {"-2e-3", -2e-3}, {".5", 0.5},   {"0.1", 0.1},
        {"1e308", 1e308}, {"1e-400", 0}, {"123456789012345678901", 123456789012345678901.0}};
    static const char *const others[] = {"",    "-",     "+",  "--1",   "+-1",   " 1",
                                         "1 ",  "1,5",   "1e", "1e400", "inf",   "nan",
                                         "0x1", "1.2.3", "pi", "1/2",   "-1e999"};
    double value = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!tr_read_number(numbers[i].text, &value)) fail_msg("%s is a number", numbers[i].text);
        assert_true(same_bits(value, numbers[i].value));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tr_read_number(others[i], &value)) fail_msg("'%s' is no number", others[i]);
    assert_false(tr_read_number(NULL, &value));
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const words[] = {"roll", "steer", "rear"};
    assert_int_equal(tr_find_name(words, 3, "rear"), 2);
    assert_int_equal(tr_find_name(words, 3, "front"), 3);
    static const char *const verbs[] = {"check", "derive", "simulate", "steady"};
    assert_string_equal(tr_nearest("simluate", verbs, 4), "simulate");
    assert_string_equal(tr_nearest("chek", verbs, 4), "check");
    assert_string_equal(tr_nearest("steady", verbs, 4), "steady");
    assert_null(tr_nearest("elephant", verbs, 4));
    assert_null(tr_nearest("check", verbs, 0));
}

static void test_write_text(void **state)
{
    (void)state;
    tr_error err = {0};
    const char *path = in_folder("words.txt");
    assert_true(tr_write_text(path, "one\ntwo\n", &err));
    char *text = read_text(path);
    assert_string_equal(text, "one\ntwo\n");
    free(text);
    assert_false(tr_write_text(path, NULL, &err)); // what failed before left no text
    assert_int_equal(err.status, TR_OK);
    assert_false(tr_write_text(in_folder("none/words.txt"), "one\n", &err));
    assert_int_equal(err.status, TR_IO);
    assert_false(tr_write_text(path, "three\n", &err)); // the first error wins
    text = read_text(path);
    assert_string_equal(text, "one\ntwo\n");
    free(text);
}

// Nothing that is asked of a system makes it larger, and a state of another size is refused.
static void check_sizes(const tr_system *system, tr_plan *plan)
{
    tr_error err = {0};
    const size_t inputs = tr_input_count(system), outputs = tr_output_count(system);
    double *x = calloc(inputs, sizeof *x);
    assert_non_null(x);
    tr_linear_free(tr_linearise(system, NULL, &err));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 0.01, o.sensitivity = "m0";
    assert_true(tr_simulate(system, &o, NULL, &err));
    assert_true(tr_initial(plan, x, inputs, &err));
    assert_int_equal(tr_input_count(system), inputs);
    assert_int_equal(tr_output_count(system), outputs);
    assert_false(tr_initial(plan, x, inputs - 1, &err));
    assert_int_equal(err.status, TR_USAGE);
    free(x);
}

// Outputs have names and sizes: the free dynamics, and what constrains it. The others are known
// where the system is reduced.
static void test_outputs(void **state)
{
    (void)state;
    tr_error err = {0};
    size_t velocities = 0, rows = 0, columns = 0;
    tr_system *system = system_called("bicycle", "free");
    for (size_t i = 0; i < tr_input_count(system); i++)
        velocities += tr_input_kind(system, i) == TR_VELOCITY;
    tr_plan *plan = tr_plan_new(system, &err);
    tr_program *program = tr_compile_in(plan, "vdot lambda", NULL, &err);
    assert_int_equal(tr_program_sizes(program).outputs, velocities + 6);
    tr_program_free(program);
    check_sizes(system, plan);
    tr_plan_free(plan);
    static const char *const names[] = {"M", "c", "Q", "G", "g", "gamma"};
    for (size_t k = 0; k < 6; k++) {
        size_t i = 0;
        while (i < tr_output_count(system) &&
               strcmp(tr_output_name(system, i, &rows, &columns), names[k]) != 0)
            i++;
        if (i == tr_output_count(system)) fail_msg("there is no %s", names[k]);
        assert_int_equal(rows, k >= 3 ? 6 : velocities);
        assert_int_equal(columns, k == 0 || k == 3 ? velocities : 1);
        assert_string_equal(tr_output_name(system, i, NULL, NULL), names[k]);
    }
    assert_null(tr_output_name(system, tr_output_count(system), &rows, &columns));
    tr_system_free(system);
    assert_int_equal(tr_output_count(NULL), 0);
    assert_null(tr_output_name(NULL, 0, NULL, NULL));
}

static void test_names(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model =
        tr_model_parse("trundle: 1\n"
                       "parameters: {l: 0.5}\n"
                       "inputs: {u: 3}\n"
                       "bodies:\n"
                       "  bob:\n"
                       "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}\n"
                       "    mass: 1\n"
                       "    com: 0, 0, -l\n"
                       "roles: {a: {torque: u}}\n",
                       &err);
    tr_system *system = tr_derive(model, NULL, &err);
    size_t rows = 0, columns = 0;
    int seen = 0;
    if (!system) fail_msg("%s", err.text);
    for (size_t i = 0; i < tr_output_count(system); i++) {
        if (strcmp(tr_output_name(system, i, &rows, &columns), "M") != 0) continue;
        assert_int_equal(rows, 1);
        assert_int_equal(columns, 1);
        seen++;
    }
    for (size_t i = 0; i < tr_input_count(system); i++) {
        const char *name = tr_input_name(system, i);
        const tr_kind kind = tr_input_kind(system, i);
        if (strcmp(name, "l") == 0) assert_int_equal(kind, TR_PARAMETER), seen++;
        if (strcmp(name, "a") == 0) assert_int_equal(kind, TR_POSITION), seen++;
        if (strcmp(name, "u") != 0) continue;
        assert_int_equal(kind, TR_INPUT);
        assert_close(tr_input_value(system, i), 3, 0);
        seen++;
    }
    assert_int_equal(seen, 4);
    tr_system_free(system);
    tr_model_free(model);
}

// What is not given is what the defaults say.
static void test_defaults(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("double_pendulum", NULL);
    const tr_linearise_options o = tr_linearise_defaults();
    assert_true(!o.reduce && !o.json && o.step == 0);
    char *given = tr_linearise_text(system, &o, &err);
    char *left_out = tr_linearise_text(system, NULL, &err);
    assert_non_null(given);
    assert_string_equal(given, left_out);
    tr_text_free(given);
    tr_text_free(left_out);
    tr_system_free(system);
    const tr_compile_options compile = tr_compile_defaults();
    assert_false(compile.fix_parameters);
    const tr_simulate_options run = tr_simulate_defaults(NULL);
    assert_string_equal(run.method, "erk");
    assert_null(run.control);
    assert_true(run.sample == 0 && run.end == 10 && run.every == 0.01);
    system = system_from("trundle: 1\n" // a model that says nothing about running
                         "bodies: {bob: {joint: {type: prismatic, axis: \"1, 0, 0\", "
                         "coordinate: x}, mass: 1}}\n");
    const tr_simulate_options own = tr_simulate_defaults(system);
    assert_string_equal(own.method, run.method);
    assert_true(own.end == run.end && own.every == run.every && own.step == run.step);
    assert_true(own.rtol == run.rtol && own.atol == run.atol);
    tr_system_free(system);
    const tr_derive_options derive = tr_derive_defaults();
    assert_true(!derive.case_name && !derive.setting_count && !derive.control_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_nearest), cmocka_unit_test(test_write_text),
        cmocka_unit_test(test_outputs), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
