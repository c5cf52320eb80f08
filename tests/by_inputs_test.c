// SPDX-License-Identifier: Apache-2.0
// Programs of derivatives by whatever is asked for, against differences of the outputs' programs.
#include "models.h"

#include <math.h>

typedef struct Both {
    tr_system *system;
    tr_plan *plan;
    tr_program *values, *slopes;
    size_t rows, columns, inputs;
} Both;

static Both open_both(const char *model, const char *case_name, const char *outputs, const char *by)
{
    tr_error err = {0};
    Both b = {.system = system_called(model, case_name)};
    b.plan = tr_plan_new(b.system, &err);
    b.values = tr_compile_in(b.plan, outputs, NULL, &err);
    b.slopes = tr_compile_slopes(b.plan, outputs, by, NULL, &err);
    if (err.status) fail_msg("%s", err.text);
    b.inputs = tr_input_count(b.system);
    b.rows = tr_program_sizes(b.values).outputs;
    b.columns = tr_program_sizes(b.slopes).outputs / b.rows;
    return b;
}

static void close_both(Both *b)
{
    tr_program_free(b->values);
    tr_program_free(b->slopes);
    tr_plan_free(b->plan);
    tr_system_free(b->system);
}

static double *evaluated(const tr_program *program, const double *inputs)
{
    tr_error err = {0};
    double *out = calloc(tr_program_sizes(program).outputs + 1, sizeof *out);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    tr_evaluate(program, workspace, inputs, out);
    tr_workspace_free(workspace);
    return out;
}

static size_t input_called(const tr_system *system, const char *name)
{
    for (size_t i = 0; tr_input_name(system, i); i++)
        if (strcmp(tr_input_name(system, i), name) == 0) return i;
    fail_msg("there is no input %s", name);
    return 0;
}

static void check_column(const Both *b, const double *slopes, double *inputs, size_t input,
                         size_t column)
{
    const double was = inputs[input], h = 1e-4 * (1 + fabs(was));
    double *at[4];
    for (int i = 0; i < 4; i++) {
        inputs[input] = was + h * (double[]){-2, -1, 1, 2}[i];
        at[i] = evaluated(b->values, inputs);
    }
    inputs[input] = was;
    for (size_t i = 0; i < b->rows; i++) {
        const double wanted = (8 * (at[2][i] - at[1][i]) - (at[3][i] - at[0][i])) / (12 * h);
        assert_close(slopes[i * b->columns + column], wanted, 1e-7 * (1 + fabs(wanted)));
    }
    for (int i = 0; i < 4; i++) free(at[i]);
}

static void check(const char *model, const char *case_name, const char *outputs, const char *by,
                  const char *const *names, size_t count)
{
    tr_error err = {0};
    Both b = open_both(model, case_name, outputs, by);
    double *inputs = calloc(b.inputs + 1, sizeof *inputs);
    assert_int_equal(b.columns, count);
    assert_true(tr_initial(b.plan, inputs, b.inputs, &err));
    double *slopes = evaluated(b.slopes, inputs);
    for (size_t j = 0; j < count; j++)
        check_column(&b, slopes, inputs, input_called(b.system, names[j]), j);
    free(slopes);
    free(inputs);
    close_both(&b);
}

static void test_differences(void **state)
{
    (void)state;
    const char *some[] = {"angle", "push", "m", "angle'"};
    check("cart_pole", "balanced", "vdot", "angle push m", some, 3);
    check("cart_pole", "balanced", "M c Q", "angle m", (const char *[]){"angle", "m"}, 2);
    check("bicycle", "turn", "vdot", "steer_torque m0 steer",
          (const char *[]){"steer_torque", "m0", "steer"}, 3);
}

// q, v, u and p are all of a kind, unless an input is called so.
static void test_kinds(void **state)
{
    (void)state;
    check("cart_pole", "balanced", "vdot", "q", (const char *[]){"x", "angle"}, 2);
    check("cart_pole", "balanced", "vdot", "u", (const char *[]){"push"}, 1);
    tr_error err = {0};
    tr_model *model = model_from("trundle: 1\nparameters: {q: 2}\nbodies:\n  a:\n    joint: {type: "
                                 "revolute, axis: \"0, 1, 0\"}\n    mass: q\n    com: 0, 0, q\n");
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_program *program = tr_compile_slopes(plan, "M", "q", NULL, &err);
    assert_int_equal(tr_program_sizes(program).outputs, 1);
    double inputs[20] = {0};
    inputs[input_called(system, "q")] = 3;
    double *slope = evaluated(program, inputs); // of q^3
    assert_close(slope[0], 27, 1e-13);
    free(slope);
    tr_program_free(program);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
}

static void expect_usage(tr_plan *plan, const char *outputs, const char *by, const char *words)
{
    tr_error err = {0};
    assert_null(tr_compile_slopes(plan, outputs, by, NULL, &err));
    assert_int_equal(err.status, TR_USAGE);
    assert_says(err.text, words);
}

static void test_refusals(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("cart_pole", "balanced");
    tr_plan *plan = tr_plan_new(system, &err);
    expect_usage(plan, "vdott", "q", "there is no output 'vdott'");
    expect_usage(plan, "vdot", "angel", "did you mean 'angle'?");
    expect_usage(plan, "", "q", "at least one output");
    expect_usage(plan, "vdot", "", "no input to differentiate by");
    expect_usage(plan, NULL, NULL, "at least one output");
    assert_null(tr_compile_slopes(NULL, "vdot", "q", NULL, &err));
    tr_plan_free(plan);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
