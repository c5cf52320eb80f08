// SPDX-License-Identifier: Apache-2.0
// How every public function bears nonsense: nothing in, an error from before, and no place to put
// one. What the functions are for is tested elsewhere.
#include "folder.h"
#include "models.h"
#include "plans.h"

static const char pendulum[] = "trundle: 1\n"
                               "inputs: {u: 0}\n"
                               "bodies:\n"
                               "  bob:\n"
                               "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}\n"
                               "    mass: 1\n"
                               "    com: 0, 0, -1\n"
                               "roles: {a: {torque: u}}\n"
                               "initial: {a: 1}\n";

// ---- everything, with what it is given -----------------------------------------------------

static void free_text(char *text)
{
    assert_null(text);
    tr_text_free(text);
}

// Each must give nothing: the handles are NULL, or there was an error before.
static void call_models(tr_model *model, tr_system *system, const char *path, tr_error *err)
{
    assert_null(tr_model_read(path, err));
    assert_null(tr_model_parse(path, err));
    assert_null(tr_model_parse_as(path, path, err));
    tr_model_set(model, "name", "x", err);
    assert_null(tr_derive(model, NULL, err));
    assert_null(tr_plan_new(system, err));
    assert_false(tr_initial(NULL, NULL, 0, err));
    assert_null(tr_compile_in(NULL, "vdot", NULL, err));
    assert_null(tr_compile_slopes(NULL, "vdot", "q", NULL, err));
    assert_false(tr_run_get(NULL, "u", NULL, err));
    free_text(tr_check_text(system, true, err));
    free_text(tr_derive_text(system, true, err));
    free_text(tr_eval_text(system, true, err));
    assert_false(tr_simulate(system, NULL, NULL, err));
    assert_false(tr_export(system, NULL, err));
}

static void call_studies(tr_system *system, tr_error *err)
{
    assert_null(tr_linearise(system, NULL, err));
    free_text(tr_linearise_text(system, NULL, err));
    assert_false(tr_linearise_write(system, NULL, "/nowhere", err));
    assert_false(tr_linear_eigenvalues(NULL, NULL, err));
    assert_false(tr_linear_discretise(NULL, 1, NULL, NULL, err));
    assert_null(tr_locus_new(system, "u", 0, 1, 0.5, err));
    free_text(tr_locus_text(NULL, true, err));
    assert_false(tr_locus_plot(NULL, NULL, "/nowhere", err));
    assert_null(tr_steady_find(system, NULL, err));
    assert_false(tr_steady_sweep(system, NULL, NULL, err));
    free_text(tr_steady_text(NULL, true, err));
    free_text(tr_steady_fragment(NULL, err));
    assert_null(tr_lqr_design(system, NULL, err));
    free_text(tr_lqr_text(NULL, true, err));
    free_text(tr_lqr_roles(NULL, err));
    assert_false(tr_view(system, NULL, NULL, err));
    assert_false(tr_view_check(NULL, err));
    assert_null(tr_origin_read(NULL, err));
    assert_null(tr_origin_model(NULL));
}

static void call_expressions(tr_system *system, tr_error *err)
{
    const tr_expr nothing = {0};
    tr_rate_set(system, nothing, nothing, err);
    assert_int_equal(tr_input(system, "x", TR_INPUT, 0, err).id, 0);
    assert_int_equal(tr_formula(system, "1", err).id, 0);
    assert_int_equal(tr_time_derivative(system, nothing, err).id, 0);
    tr_define(system, "x", "1", err);
    tr_define_table(system, "x", NULL, 0, NULL, 1, NULL, 1, true, err);
    tr_output(system, "x", NULL, 0, 0, err);
    assert_null(tr_compile(system, "M", NULL, err));
    assert_null(tr_workspace_new(NULL, err));
}

static void test_nothing_in(void **state)
{
    (void)state;
    tr_error err = {0};
    call_models(NULL, NULL, NULL, &err);
    err = (tr_error){0};
    call_studies(NULL, &err);
    err = (tr_error){0};
    call_expressions(NULL, &err);
    call_models(NULL, NULL, NULL, NULL);
    call_studies(NULL, NULL);
    call_expressions(NULL, NULL);
    assert_false(tr_plot(NULL, NULL));
    assert_false(tr_write_text(NULL, NULL, NULL));
}

// What was wrong before stays, and nothing else is done.
static void test_first_error_wins(void **state)
{
    (void)state;
    const tr_error before = {.status = TR_IO, .line = 7, .column = 8, .text = "before"};
    tr_error err = before;
    tr_model *model = tr_model_parse(pendulum, NULL);
    tr_system *system = system_from(pendulum);
    const size_t inputs = tr_input_count(system), outputs = tr_output_count(system);
    call_models(model, system, "models/bicycle.yaml", &err);
    free_text(tr_model_schema(&err));
    call_studies(system, &err);
    call_expressions(system, &err);
    assert_null(tr_model_new(&err));
    assert_null(tr_system_new(&err));
    assert_false(tr_plot(NULL, &err));
    assert_false(tr_write_text(in_folder("none"), "x", &err));
    assert_int_equal(access(in_folder("none"), F_OK), -1);
    assert_memory_equal(&err, &before, sizeof err);
    assert_int_equal(tr_input_count(system), inputs);
    assert_int_equal(tr_output_count(system), outputs);
    tr_system_free(system);
    tr_model_free(model);
}

static void test_nothing_asked(void **state)
{
    (void)state;
    const tr_expr nothing = {0};
    double unused = 5;
    tr_expr gradient = {0};
    size_t count = 3;
    assert_int_equal(tr_input_count(NULL), 0);
    assert_null(tr_input_name(NULL, 0));
    assert_true(tr_input_value(NULL, 0) == 0);
    assert_int_equal(tr_input_kind(NULL, 0), TR_PARAMETER);
    assert_int_equal(tr_output_count(NULL), 0);
    assert_null(tr_output_name(NULL, 0, NULL, NULL));
    assert_null(tr_text(NULL, nothing));
    assert_int_equal(tr_constant(NULL, 1).id, 0);
    assert_int_equal(tr_add(nothing, nothing).id, 0);
    assert_int_equal(tr_sub(nothing, nothing).id, 0);
    assert_int_equal(tr_mul(nothing, nothing).id, 0);
    assert_int_equal(tr_div(nothing, nothing).id, 0);
    assert_int_equal(tr_neg(nothing).id, 0);
    assert_int_equal(tr_pow(nothing, 2).id, 0);
    assert_int_equal(tr_call("sin", &nothing, 1).id, 0);
    assert_int_equal(tr_call(NULL, NULL, 0).id, 0);
    assert_false(tr_is_constant(nothing, &unused));
    assert_int_equal(tr_derivative(nothing, nothing).id, 0);
    assert_int_equal(tr_directional(nothing, NULL, NULL, 0).id, 0);
    assert_int_equal(tr_replace(nothing, NULL, NULL, 0).id, 0);
    tr_gradient(nothing, &nothing, 1, &gradient);
    assert_int_equal(gradient.id, 0);
    assert_null(tr_jacobian(NULL, NULL, 0, NULL, 0, &count));
    assert_int_equal(count, 0);
    assert_int_equal(tr_program_sizes(NULL).outputs, 0);
    tr_evaluate(NULL, NULL, NULL, NULL);
    tr_evaluate_many(NULL, NULL, 1, NULL, 0, NULL, 0);
    assert_null(tr_steady_state(NULL));
    assert_int_equal(tr_steady_modes(NULL, NULL), 0);
    tr_derive_options untouched = tr_derive_defaults();
    tr_origin_options(NULL, &untouched);
    assert_null(untouched.case_name);
    tr_view_fill(NULL, sizeof(tr_view_options));
    assert_true(tr_simulate_defaults(NULL).end > 0);
    assert_null(tr_nearest("x", NULL, 0));
    assert_int_equal(tr_find_name(NULL, 0, "x"), 0);
    assert_false(tr_read_number(NULL, &unused));
    assert_false(tr_read_number("", &unused));
    assert_true(unused == 5);
}

static void test_nothing_to_free(void **state)
{
    (void)state;
    tr_system_free(NULL);
    tr_model_free(NULL);
    tr_program_free(NULL);
    tr_workspace_free(NULL);
    tr_linear_free(NULL);
    tr_locus_free(NULL);
    tr_steady_free(NULL);
    tr_lqr_free(NULL);
    tr_origin_free(NULL);
    tr_text_free(NULL);
}

// ---- errors that nobody wants to hear about ------------------------------------------------

// It derives, but has no initial state.
static const char impossible[] = "trundle: 1\n"
                                 "inputs: {u: 0}\n"
                                 "bodies:\n"
                                 "  bob: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: "
                                 "a}, mass: 1, com: \"0, 0, -1\"}\n"
                                 "constraints: {one: {position: a^2 + 1}}\n";

static void test_unheard_errors(void **state)
{
    (void)state;
    assert_null(tr_model_parse("trundle: 1\nnonsense: 2\n", NULL));
    assert_null(tr_model_read("/nowhere/at/all.yaml", NULL));
    tr_system *system = system_from(impossible);
    call_studies(system, NULL);
    tr_plan *plan = tr_plan_new(system, NULL);
    double inputs[64];
    assert_true(tr_input_count(system) <= 64);
    assert_false(tr_initial(plan, inputs, tr_input_count(system), NULL));
    assert_null(tr_compile_in(plan, "vdot", NULL, NULL));
    tr_plan_free(plan);
    assert_false(tr_simulate(system, NULL, NULL, NULL));
    free_text(tr_check_text(system, true, NULL));
    free_text(tr_derive_text(system, true, NULL));
    free_text(tr_eval_text(system, true, NULL));
    assert_null(tr_compile(system, "no_such_output", NULL, NULL));
    assert_null(tr_compile(system, "vdot", NULL, NULL)); // not reduced
    assert_int_equal(tr_formula(system, "1 + (", NULL).id, 0);
    assert_int_equal(tr_formula(system, "nobody", NULL).id, 0);
    assert_int_equal(tr_formula(system, NULL, NULL).id, 0);
    assert_int_equal(tr_input(system, NULL, TR_INPUT, 0, NULL).id, 0);
    tr_define(system, NULL, NULL, NULL);
    tr_define(system, "a b", "1", NULL);
    tr_define(system, "f(x", "1", NULL);
    tr_output(system, NULL, NULL, 0, 0, NULL);
    tr_system_free(system);
    tr_model *model = tr_model_new(NULL);
    tr_model_set(model, "bodies/x/y/z", "1", NULL);
    tr_model_set(model, NULL, NULL, NULL);
    const tr_derive_options unknown = {.size = sizeof unknown, .case_name = "nobody's"};
    assert_null(tr_derive(model, &unknown, NULL));
    tr_model_free(model);
    assert_false(tr_write_text("/nowhere/at/all", "x", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_in),     cmocka_unit_test(test_first_error_wins),
        cmocka_unit_test(test_nothing_asked),  cmocka_unit_test(test_nothing_to_free),
        cmocka_unit_test(test_unheard_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
