// SPDX-License-Identifier: Apache-2.0
// Runs of a batch against runs of their own: to the bit, whatever happens to them.
#include "models.h"
#include "plans.h"
#include "sim/run.h"

// ---- helpers -------------------------------------------------------------------------------

// A batch, and each of its runs once more, by itself
typedef struct Pair {
    tr_system *system;
    tr_plan *plan;
    tr_batch *batch;
    tr_run **runs;
    size_t count, columns;
} Pair;

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%s", err->text);
}

static Pair pair_with(tr_system *system, size_t count, tr_run_options o)
{
    tr_error err = {0};
    Pair p = {.system = system, .count = count};
    p.plan = tr_plan_new(system, &err);
    p.columns = tr_plan_column_count(p.plan);
    p.batch = tr_batch_new(p.plan, count, &o, &err);
    insist(&err);
    p.runs = calloc(count, sizeof *p.runs);
    for (size_t i = 0; i < count; i++) p.runs[i] = tr_run_new(p.plan, &o, &err);
    insist(&err);
    return p;
}

static Pair pair_of(tr_system *system, size_t count, const char *method, double step)
{
    tr_run_options o = tr_run_defaults(NULL);
    o.method = method, o.step = step;
    return pair_with(system, count, o);
}

static void part(Pair *p)
{
    for (size_t i = 0; i < p->count; i++) tr_run_free(p->runs[i]);
    free(p->runs);
    tr_batch_free(p->batch);
    tr_plan_free(p->plan);
    tr_system_free(p->system);
}

static void assert_same_error(const tr_error *a, const tr_error *b)
{
    assert_int_equal(a->status, b->status);
    assert_string_equal(a->text, b->text);
}

static void set_both(Pair *p, size_t i, const char *name, double value)
{
    tr_error one = {0}, other = {0};
    tr_batch_set(p->batch, i, name, value, &one);
    tr_run_set(p->runs[i], name, value, &other);
    assert_same_error(&one, &other);
}

static void reset_both(Pair *p, size_t i)
{
    tr_error one = {0}, other = {0};
    const bool good = tr_batch_reset(p->batch, i, &one);
    assert_int_equal(good, tr_run_reset(p->runs[i], &other));
    assert_same_error(&one, &other);
}

static bool same_number(double a, double b) { return same_bits(a, b) || (isnan(a) && isnan(b)); }

static void compare_row(Pair *p, size_t i)
{
    tr_error one = {0}, other = {0};
    const double *own = tr_run_row(p->runs[i]), *row = tr_batch_row(p->batch, i);
    assert_int_equal(own == NULL, row == NULL);
    assert_int_equal(tr_batch_status(p->batch, i, &one) != TR_OK,
                     tr_run_failed(p->runs[i], &other));
    assert_same_error(&one, &other);
    for (size_t k = 0; own && k < p->columns; k++)
        if (!same_number(own[k], row[k]))
            fail_msg("run %zu at t = %.17g, '%s': %.17g is not %.17g", i, own[0],
                     tr_plan_column_name(p->plan, k), row[k], own[k]);
}

static void advance_both(Pair *p, double until)
{
    tr_error err = {0};
    const bool good = tr_batch_advance(p->batch, until, &err);
    insist(&err);
    assert_true(good);
    for (size_t i = 0; i < p->count; i++) {
        tr_error own = {0};
        if (!tr_run_failed(p->runs[i], NULL)) tr_run_advance(p->runs[i], until, &own);
    }
    for (size_t i = 0; i < p->count; i++) compare_row(p, i);
}

// ---- all models ----------------------------------------------------------------------------

// Runs whose numbers of the start and parameters differ by a little, and by a lot
static void vary(Pair *p)
{
    const size_t inputs = tr_input_count(p->system);
    for (size_t i = 1; i < p->count; i++) {
        for (size_t k = 0; k < inputs; k++) {
            const tr_kind kind = tr_input_kind(p->system, k);
            const double value = tr_input_value(p->system, k);
            if (kind == TR_START || (kind == TR_PARAMETER && k % p->count == i))
                set_both(p, i, tr_input_name(p->system, k), value * (1 + 0.02 * (double)i));
        }
        reset_both(p, i);
    }
}

static void change_inputs(Pair *p)
{
    const size_t inputs = tr_input_count(p->system);
    for (size_t i = 0; i < p->count; i += 2)
        for (size_t k = 0; k < inputs; k++)
            if (tr_input_kind(p->system, k) == TR_INPUT)
                set_both(p, i, tr_input_name(p->system, k),
                         tr_input_value(p->system, k) + 1e-3 * (double)i);
}

static void check_model(const char *name, const char *method, double step, size_t count)
{
    Pair p = pair_of(system_called(name, NULL), count, method, step);
    vary(&p);
    advance_both(&p, 40 * step);
    advance_both(&p, 100.3 * step);
    change_inputs(&p);
    advance_both(&p, 150.3 * step);
    reset_both(&p, count / 2);
    advance_both(&p, 300 * step);
    part(&p);
}

static const char *const models[] = {"andrews",
                                     "ball_on_slope",
                                     "ballbot",
                                     "bicycle",
                                     "bicycle_actuated",
                                     "bicycle_boyer",
                                     "bicycle_flexible",
                                     "bricard",
                                     "car_ackermann",
                                     "car_linkage",
                                     "car_trapezoid",
                                     "cart",
                                     "cart_pole",
                                     "castor",
                                     "chain",
                                     "delta",
                                     "differential_drive",
                                     "differential_drive_3d",
                                     "double_pendulum",
                                     "elastic_joint",
                                     "euler_disc",
                                     "fish",
                                     "five_bar",
                                     "flapper",
                                     "flexible_arm",
                                     "flexible_mast",
                                     "floating_arm",
                                     "four_bar",
                                     "geared_axle",
                                     "hopping_wheel",
                                     "kick_scooter",
                                     "leg",
                                     "mobile_pendulum",
                                     "motorcycle",
                                     "parallelogram",
                                     "pinned_pendulum",
                                     "rail_cart",
                                     "rolling_disc",
                                     "segway",
                                     "shaker",
                                     "sk8o",
                                     "sk8o_open",
                                     "sleigh",
                                     "slider_crank",
                                     "slider_crank_flexible",
                                     "snake10",
                                     "snake3",
                                     "snakeboard",
                                     "snakeboard_soft",
                                     "snakeboard_wide",
                                     "spinning_beam",
                                     "spinning_top",
                                     "stewart",
                                     "stick_slip",
                                     "stiff_train",
                                     "treadmill",
                                     "tricycle",
                                     "tumbling",
                                     "turntable",
                                     "tyre",
                                     "unicycle"};

static void test_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        print_message("%s\n", models[i]);
        check_model(models[i], i % 3 == 2 ? "lie" : "rk4", 2e-3, 3 + i % 9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
