// SPDX-License-Identifier: Apache-2.0
// Advice to take another method comes where that costs less in the end, in evaluations.
#include "runs.h"

// A bicycle that comes to run straight: then stability keeps explicit steps short, but it takes
// long until that outweighs what backward differences cost before.
static tr_summary ride(const char *method, double end)
{
    tr_error err = {0};
    tr_summary s = {0};
    tr_model *model = tr_model_read(REPORTED_DIR "/bike_long.yaml", &err);
    tr_system *system = system_of(model, NULL);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = end, o.every = 1, o.method = method;
    if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
    tr_system_free(system);
    return s;
}

static void test_worth_it(void **state)
{
    (void)state;
    const tr_summary erk = ride("erk", 2000), bdf = ride("bdf", 2000);
    const double saved = (double)erk.all_evaluations / (double)bdf.all_evaluations;
    const double told = number_behind(erk.advice, "far fewer: about ");
    print_message("%zu and %zu evaluations, %zu jacobians: %.2g times fewer, told %g\n",
                  erk.all_evaluations, bdf.all_evaluations, bdf.jacobians, saved, told);
    assert_true(saved > 2 && told > saved / 2 && told < saved * 2);
    assert_non_null(strstr(erk.advice, " times fewer evaluations"));
}

static void test_not_worth_it(void **state)
{
    (void)state;
    const tr_summary erk = ride("erk", 150), bdf = ride("bdf", 150);
    assert_true(bdf.evaluations < erk.evaluations);                  // which is not all
    assert_true(10 * bdf.all_evaluations > 9 * erk.all_evaluations); // besides its Jacobians
    assert_string_equal(erk.advice, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worth_it),
        cmocka_unit_test(test_not_worth_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
