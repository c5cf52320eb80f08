// SPDX-License-Identifier: Apache-2.0
// Numbers that are written into many runs of a batch at once, against those that are set in one
// after the other: the same runs to the bit, in rows, in snapshots, and in all that comes later.
#include "models.h"

enum { COUNT = 9 };

// Two batches of the same runs: one is written into, in the other each run is set
typedef struct Twins {
    tr_system *system;
    tr_plan *plan;
    tr_batch *written, *set;
} Twins;

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%s", err->text);
}

static Twins twins_of(tr_system *system, const char *method, double step)
{
    tr_error err = {0};
    Twins t = {.system = system, .plan = tr_plan_new(system, &err)};
    tr_run_options o = tr_run_defaults(t.plan);
    o.method = method, o.step = step;
    t.written = tr_batch_new(t.plan, COUNT, &o, &err);
    t.set = tr_batch_new(t.plan, COUNT, &o, &err);
    insist(&err);
    return t;
}

static void part(Twins *t)
{
    tr_batch_free(t->written);
    tr_batch_free(t->set);
    tr_plan_free(t->plan);
    tr_system_free(t->system);
}

static void compare_run(Twins *t, size_t i)
{
    tr_error one = {0}, other = {0};
    const tr_status status = tr_batch_status(t->written, i, &one);
    assert_int_equal(status, tr_batch_status(t->set, i, &other));
    assert_string_equal(one.text, other.text);
    const double a = tr_batch_time(t->written, i), b = tr_batch_time(t->set, i);
    assert_true(same_bits(a, b));
    if (status) return;
    const double *row = tr_batch_row(t->written, i), *wanted = tr_batch_row(t->set, i);
    assert_true(row[0] == a);
    for (size_t k = 0; k < tr_plan_column_count(t->plan); k++)
        if (!same_bits(row[k], wanted[k]) && !(isnan(row[k]) && isnan(wanted[k])))
            fail_msg("run %zu at t = %g, '%s': %.17g is not %.17g", i, row[0],
                     tr_plan_column_name(t->plan, k), row[k], wanted[k]);
}

// Each becomes what its snapshot says.
static void move_into_snapshots(Twins *t)
{
    tr_error err = {0};
    tr_batch *const batches[] = {t->written, t->set};
    for (size_t k = 0; k < 2 * COUNT; k++) {
        tr_batch *batch = batches[k / COUNT];
        if (tr_batch_status(batch, k % COUNT, NULL)) continue;
        const size_t bytes = tr_batch_save(batch, k % COUNT, NULL, 0, &err);
        uint8_t *memory = malloc(bytes);
        tr_batch_save(batch, k % COUNT, memory, bytes, &err);
        assert_true(tr_batch_restore(batch, k % COUNT, memory, bytes, &err));
        free(memory);
    }
    insist(&err);
}

static void compare(Twins *t)
{
    for (size_t i = 0; i < COUNT; i++) compare_run(t, i);
}

// Words of the run that was refused, which are those of the run by itself; none where all are set
static void write_both(Twins *t, const char *name, const double *values, size_t stride,
                       const uint8_t *mask)
{
    tr_error one = {0}, other = {0};
    const bool good = tr_batch_write(t->written, name, values, stride, mask, &one);
    size_t i = 0;
    for (; i < COUNT && !other.status; i++)
        if (!mask || mask[i]) tr_batch_set(t->set, i, name, values[i * stride], &other);
    assert_int_equal(good, !one.status);
    assert_int_equal(one.status, other.status);
    char words[sizeof other.text + 30] = "";
    if (other.status) snprintf(words, sizeof words, "run %zu: %s", i - 1, other.text);
    assert_string_equal(one.text, words);
}

static void advance_both(Twins *t, double until)
{
    tr_error err = {0};
    assert_true(tr_batch_advance(t->written, until, &err));
    assert_true(tr_batch_advance(t->set, until, &err));
    insist(&err);
    compare(t);
}

static void reset_both(Twins *t, size_t i)
{
    tr_error one = {0}, other = {0};
    tr_batch_reset(t->written, i, &one), tr_batch_reset(t->set, i, &other);
    assert_string_equal(one.text, other.text);
}

// All that may be set, in some of the runs, in the ranges that they have
static void write_all(Twins *t, size_t round)
{
    static const uint8_t masks[3][COUNT] = {{1, 0, 1, 1, 0, 1, 0, 0, 1},
                                            {0, 1, 1, 0, 0, 0, 0, 1, 1}};
    for (size_t k = 0; k < tr_input_count(t->system); k++) {
        const tr_kind kind = tr_input_kind(t->system, k);
        const double value = tr_input_value(t->system, k), change = kind == TR_INPUT ? 0.01 : 0;
        double values[COUNT], min = -(double)INFINITY, max = (double)INFINITY;
        if (kind != TR_INPUT && kind != TR_PARAMETER && kind != TR_START) continue;
        tr_input_range(t->system, k, &min, &max);
        for (size_t i = 0; i < COUNT; i++) {
            values[i] = value * (1 + 1e-3 * (double)(i + round)) + change * (double)(i * round % 5);
            if (!(values[i] >= min && values[i] <= max)) values[i] = value;
            if (isnan(value)) values[i] = 0.01 * (double)i; // in place of a formula
        }
        write_both(t, tr_input_name(t->system, k), values, (k + round) % 4 != 0,
                   (k + round) % 3 ? masks[(k + round) % 3 - 1] : NULL);
    }
}

static void check(tr_system *system, const char *method, double step)
{
    Twins t = twins_of(system, method, step);
    for (size_t round = 0; round < 5; round++) {
        write_all(&t, round);
        compare(&t);
        if (round > 2) move_into_snapshots(&t), compare(&t);
        advance_both(&t, (20.5 + 30 * (double)round) * step); // between steps, too
        if (round % 2) reset_both(&t, round), reset_both(&t, COUNT - 1);
    }
    part(&t);
}

// With inputs of all kinds: contacts, charts, ranges, switches, first order, commands
static void test_models(void **state)
{
    (void)state;
    static const char *const models[][2] = {{"cart_pole", "free"},
                                            {"bicycle", "turn"},
                                            {"bicycle_on_bump", NULL},
                                            {"delta", NULL},
                                            {"five_bar", NULL},
                                            {"leg", NULL},
                                            {"sk8o", NULL},
                                            {"stewart", NULL},
                                            {"treadmill", NULL},
                                            {"door", NULL},
                                            {"robot_differential", "log"},
                                            {"bicycle_one_body", "drive"},
                                            {"hopping_wheel", NULL},
                                            {"knee_stops", NULL},
                                            {"elastic_joint", NULL}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check(system_called(models[i][0], models[i][1]), i % 4 == 3 ? "lie" : "rk4", 2e-3);
}

// Formulas of t that inputs leave; what would be moved at once; energy that depends on an input;
// rates that jump where an input says; and a switch on one
static const char *const texts[] = {
    "trundle: 1\n"
    "inputs: {push: sin(t), place: {value: 0, min: -1, max: 1}}\n"
    "bodies: {cart: {mass: 1, joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}},\n"
    "         other: {mass: 1, joint: {type: prismatic, axis: '0, 1, 0', coordinate: y}}}\n"
    "roles: {x: {torque: push}, y: {motion: place}}\n",
    "trundle: 1\n"
    "inputs: {rest: 0.1, when: 0.05}\n"
    "bodies: {cart: {mass: 1, joint: {type: prismatic, axis: '1, 0, 0', coordinate: x,\n"
    "                                 stiffness: 100, rest: rest}}}\n"
    "forces: {pull: {body: cart, force: 'if(t > when, 3, 0), 0, 0'}}\n"
    "outputs: {pull: rest - x}\n",
};

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(system_from(texts[i]), "rk4", 5e-3);
}

// ---- what is refused -----------------------------------------------------------------------

static void assert_refused(Twins *t, const char *name, const double *values, const uint8_t *mask,
                           const char *words)
{
    tr_error err = {0};
    assert_false(tr_batch_write(t->written, name, values, 1, mask, &err));
    if (!strstr(err.text, words)) fail_msg("'%s' does not say '%s'", err.text, words);
    compare(t); // none was set
}

static void test_refusals(void **state)
{
    (void)state;
    tr_error err = {0};
    Twins t = twins_of(system_from(texts[0]), "rk4", 5e-3);
    const double bad = (double)NAN;
    assert_refused(&t, "push", (double[COUNT]){1, 2, bad}, NULL,
                   "run 2: 'push' cannot be set to something that is not finite");
    assert_refused(&t, "place", (double[COUNT]){0, 0, 0, 0, 2}, NULL, "run 4: ");
    assert_refused(&t, "pusch", (double[COUNT]){0}, NULL, "is no input or parameter 'pusch'");
    assert_refused(&t, "x", (double[COUNT]){0}, NULL, "'x' cannot be set");
    assert_true(tr_batch_write(t.written, "push", (double[COUNT]){0, bad, 3}, 1,
                               (uint8_t[COUNT]){1, 0, 1}, &err));
    tr_batch_set(t.set, 0, "push", 0, &err);
    tr_batch_set(t.set, 2, "push", 3, &err);
    insist(&err);
    advance_both(&t, 0.1);
    // what an input would move is found where it comes: those before it are set
    write_both(&t, "place", (double[COUNT]){0, 0, 0.5, 0.5}, 1, NULL);
    compare(&t);
    assert_false(tr_batch_write(NULL, "push", (double[]){1}, 0, NULL, &err));
    assert_false(tr_batch_write(t.written, NULL, (double[]){1}, 0, NULL, &err));
    err = (tr_error){0};
    assert_false(tr_batch_write(t.written, "push", NULL, 0, NULL, &err));
    assert_true(isnan(tr_batch_time(NULL, 0)) && isnan(tr_batch_time(t.written, COUNT)));
    part(&t);
}

// Runs that failed are set, too, for when they begin anew, and stay where they failed.
static void test_failed(void **state)
{
    (void)state;
    Twins t = twins_of(
        system_from(
            "trundle: 1\n"
            "parameters: {dead: 1}\n"
            "inputs: {push: 0}\n"
            "bodies: {cart: {mass: 1, joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}}}\n"
            "forces: {pull: {body: cart, force: 'push + sqrt(dead - t), 0, 0'}}\n"),
        "rk4", 5e-3);
    write_both(&t, "dead", (double[COUNT]){1, 0.05, 1, 1, 0.1, 1, 1, 1, 1}, 1, NULL);
    for (size_t i = 0; i < COUNT; i++) reset_both(&t, i);
    advance_both(&t, 0.5);
    const double failed = tr_batch_time(t.written, 1);
    assert_int_equal(tr_batch_status(t.written, 1, NULL), TR_FAILED);
    assert_true(failed > 0.03 && failed < 0.07 && tr_batch_time(t.written, 0) == 0.5);
    write_both(&t, "push", (double[]){2}, 0, NULL);
    advance_both(&t, 0.7);
    assert_true(tr_batch_time(t.written, 1) == failed);
    write_both(&t, "dead", (double[]){3}, 0, NULL);
    for (size_t i = 0; i < COUNT; i += 2) reset_both(&t, i);
    reset_both(&t, 1);
    advance_both(&t, 0.9);
    part(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models), cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_failed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
