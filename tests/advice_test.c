// SPDX-License-Identifier: Apache-2.0
// Advice to take another method comes where that costs less in the end, in evaluations.
#include "runs.h"

// A bicycle that comes to run straight: then stability keeps explicit steps short, but it takes
// long until that outweighs what backward differences cost before.
static tr_summary ride(const char *method, double end, const char *mass)
{
    tr_error err = {0};
    tr_summary s = {0};
    tr_model *model = tr_model_read(REPORTED_DIR "/bike_long.yaml", &err);
    tr_model_set(model, "bodies/frame/mass", mass, &err);
    tr_system *system = system_of(model, NULL);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = end, o.every = 1, o.method = method;
    if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
    tr_system_free(system);
    return s;
}

typedef struct Ride {
    double saved, told;
} Ride;

static Ride compare_methods(const char *mass)
{
    const tr_summary erk = ride("erk", 2000, mass), bdf = ride("bdf", 2000, mass);
    const Ride r = {(double)erk.all_evaluations / (double)bdf.all_evaluations,
                    number_behind(erk.advice, "far fewer: about ")};
    print_message("%zu and %zu evaluations, %zu jacobians: %.2g times fewer, told %g\n",
                  erk.all_evaluations, bdf.all_evaluations, bdf.jacobians, r.saved, r.told);
    assert_non_null(strstr(erk.advice, " times fewer evaluations"));
    return r;
}

static int by_saved(const void *a, const void *b)
{
    const double x = ((const Ride *)a)->saved, y = ((const Ride *)b)->saved;
    return x < y ? -1 : x > y;
}

// Once it runs straight all is rounding, and so is the order that backward differences go on with:
// that only ever takes more steps. So it is the ride of five that it spoils least.
static void test_worth_it(void **state)
{
    (void)state;
    static const char *const masses[] = {"85", "85.001", "85.002", "85.003", "85.004"};
    enum { RIDES = sizeof masses / sizeof *masses };
    Ride rides[RIDES];
    for (size_t i = 0; i < RIDES; i++) rides[i] = compare_methods(masses[i]);
    qsort(rides, RIDES, sizeof *rides, by_saved);
    const Ride *r = &rides[RIDES - 1];
    assert_true(r->saved > 2 && r->told > r->saved / 2 && r->told < r->saved * 2);
}

static void test_not_worth_it(void **state)
{
    (void)state;
    const tr_summary erk = ride("erk", 150, "85"), bdf = ride("bdf", 150, "85");
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
