// SPDX-License-Identifier: Apache-2.0
// The small public helpers, and what a system says about itself.
#include <trundle/trundle.h>

#include "test.h"

static void test_words(void **state)
{
    (void)state;
    static const char *const words[] = {"roll", "steer", "rear"};
    assert_string_equal(tr_nearest("stear", words, 3), "steer");
    assert_null(tr_nearest("something else", words, 3));
    assert_int_equal(tr_find_name(words, 3, "rear"), 2);
    assert_int_equal(tr_find_name(words, 3, "front"), 3);
    assert_string_equal(tr_version(), PUBLIC_VERSION);
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",     "+",   "1 ",  " 1",    "1,5",
                                        "0x10", "inf", "nan", "1e999", "--1"};
    double x = 5;
    assert_true(tr_read_number("-1.5e-3", &x) && x == -1.5e-3);
    assert_true(tr_read_number("+2", &x) && x == 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (tr_read_number(wrong[i], &x) || x != 2) fail_msg("'%s' is read as %g", wrong[i], x);
}

// Sizes of outputs, and kinds and values of inputs, of a system that was derived
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

// What options are when nobody says anything
static void test_defaults(void **state)
{
    (void)state;
    const tr_linearise_options linear = tr_linearise_defaults();
    assert_true(!linear.reduce && linear.step == 0 && !linear.json);
    const tr_compile_options compile = tr_compile_defaults();
    assert_false(compile.fix_parameters);
    const tr_simulate_options run = tr_simulate_defaults(NULL);
    assert_string_equal(run.method, "erk");
    assert_null(run.control);
    assert_true(run.sample == 0 && run.end == 10 && run.every == 0.01);
    const tr_derive_options derive = tr_derive_defaults();
    assert_true(!derive.case_name && !derive.setting_count && !derive.control_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
