// SPDX-License-Identifier: Apache-2.0
// Stops, dry friction and limits of torques in batches, in runs that are saved, in linear models;
// and what models say wrongly of them.
#include "models.h"
#include "runs.h"

// All of it on two hinges and a slider
static const char machine[] =
    "trundle: 1\n"
    "parameters: {l: 0.5, m: 1, e: 0.6, c: 0.4}\n"
    "bodies:\n"
    "  upper: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a, limits: \"-0.8, 1.2\",\n"
    "    limit_restitution: e, armature: 0.01, ratio: 4}, mass: m, com: \"0, 0, -l\"}\n"
    "  lower: {parent: upper, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0, -l\",\n"
    "    coordinate: b, friction: c, stiction: 1.5*c, limits: \"-0.3, 2\"}, mass: m,\n"
    "    com: \"0, 0, -l\"}\n"
    "  tip: {parent: lower, joint: {type: prismatic, axis: \"0, 0, 1\", at: \"0, 0, -l\",\n"
    "    coordinate: z, limits: \"-0.1, 0.1\", limit_stiffness: 500, limit_damping: 5,\n"
    "    stiffness: 40}, mass: 0.2}\n"
    "roles: {a: {torque: 30*sin(4*t) - 2*a_rate, limit: 12}}\n"
    "initial: {a: 1, b: 0.5, z: 0, d(a): 0.3, d(b): -0.7, d(z): 0.5}\n";

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%s", err->text);
}

static void assert_same_row(const double *a, const double *b, size_t columns, const tr_plan *plan)
{
    assert_non_null(a);
    assert_non_null(b);
    for (size_t k = 0; k < columns; k++)
        if (!same_bits(a[k], b[k]))
            fail_msg("at t = %.17g '%s' is %.17g, not %.17g", a[0], tr_plan_column_name(plan, k),
                     b[k], a[k]);
}

static void test_batch(void **state)
{
    (void)state;
    enum { COUNT = 11 };
    tr_error err = {0};
    tr_system *system = system_of(model_from(machine), NULL);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(NULL);
    o.method = "rk4", o.step = 0.002;
    tr_batch *batch = tr_batch_new(plan, COUNT, &o, &err);
    tr_run *runs[COUNT];
    const size_t columns = tr_plan_column_count(plan);
    insist(&err);
    for (size_t i = 0; i < COUNT; i++) {
        runs[i] = tr_run_new(plan, &o, &err);
        const double c = 0.4 + 0.15 * (double)i, a = 1 - 0.16 * (double)i;
        tr_run_set(runs[i], "c", c, &err);
        tr_run_set(runs[i], "initial.a", a, &err);
        tr_run_reset(runs[i], &err);
        tr_batch_set(batch, i, "c", c, &err);
        tr_batch_set(batch, i, "initial.a", a, &err);
        tr_batch_reset(batch, i, &err);
        insist(&err);
    }
    for (int k = 1; k <= 4; k++) {
        assert_true(tr_batch_advance(batch, 0.7 * k, &err));
        for (size_t i = 0; i < COUNT; i++) {
            tr_run_advance(runs[i], 0.7 * k, &err);
            insist(&err);
            assert_same_row(tr_run_row(runs[i]), tr_batch_row(batch, i), columns, plan);
        }
    }
    for (size_t i = 0; i < COUNT; i++) tr_run_free(runs[i]);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(system);
}

static void check_saved(const char *method)
{
    tr_error err = {0};
    tr_system *system = system_of(model_from(machine), NULL);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(NULL);
    o.method = method, o.step = 0.002;
    tr_run *one = tr_run_new(plan, &o, &err), *other = tr_run_new(plan, &o, &err);
    insist(&err);
    const size_t size = tr_run_save(one, NULL, 0, &err), columns = tr_plan_column_count(plan);
    void *memory = malloc(size);
    for (int k = 1; k <= 12; k++) {
        tr_run_advance(one, 0.25 * k, &err);
        tr_run_save(one, memory, size, &err);
        tr_run_advance(one, 0.25 * k + 0.2, &err);
        assert_true(tr_run_restore(other, memory, size, &err));
        tr_run_advance(other, 0.25 * k + 0.2, &err);
        insist(&err);
        assert_same_row(tr_run_row(one), tr_run_row(other), columns, plan);
    }
    free(memory);
    tr_run_free(one);
    tr_run_free(other);
    tr_plan_free(plan);
    tr_system_free(system);
}

static void test_saved(void **state)
{
    (void)state;
    check_saved("rk4");
    check_saved("erk");
}

// What holds at the start does in the linear model: of two hinges one is left.
static void check_modes(const char *initial, size_t states)
{
    char text[900];
    tr_error err = {0};
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies:\n"
             "  upper: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}, mass: 1,"
             " com: \"0, 0, -1\"}\n"
             "  lower: {parent: upper, joint: {type: revolute, axis: \"0, 1, 0\","
             " at: \"0, 0, -1\", coordinate: b, %s}, mass: 1, com: \"0, 0, -1\"}\n"
             "roles: {b: {torque: -1}}\n"
             "initial: {a: 0, b: 0, d(a): 0, d(b): 0}\n",
             initial);
    tr_system *system = system_of(model_from(text), NULL);
    tr_linear *linear = tr_linearise(system, NULL, &err);
    insist(&err);
    assert_int_equal(linear->states, states);
    tr_linear_free(linear);
    tr_system_free(system);
}

static void test_linear(void **state)
{
    (void)state;
    check_modes("limits: \"-1, 1\"", 4);
    check_modes("limits: \"0, 1\"", 2);
    check_modes("friction: 2", 3); // where it holds is a state that stays
}

// A steady motion beyond a stop that it is not held by is told as that.
static void test_steady(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies: {b: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: q,"
        " limits: \"0.2, 1\"}, mass: 1, com: \"0, 0, -1\"}}\n"
        "initial: {d(q): 0}\n"
        "guess: {q: 0.3}\n";
    tr_error err = {0};
    tr_system *system = system_of(model_from(text), NULL);
    tr_steady *steady = tr_steady_find(system, NULL, &err);
    char *words = tr_steady_text(steady, false, &err);
    insist(&err);
    assert_non_null(strstr(words, "'q' is beyond its lower limit"));
    free(words);
    tr_steady_free(steady);
    tr_system_free(system);
}

// Where friction and stops hold all that there is, that is what is told.
static void test_steady_held(void **state)
{
    (void)state;
    static const char *const stands[] = {"friction: 5", "limits: \"0.3, 1\""};
    for (int i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "trundle: 1\n"
                 "bodies: {b: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: q, %s},\n"
                 " mass: 1, com: \"0, 0, -1\"}}\n"
                 "initial: {q: 0.3, d(q): 0}\n",
                 stands[i]);
        tr_error err = {0};
        tr_system *system = system_of(model_from(text), NULL);
        assert_null(tr_steady_find(system, NULL, &err));
        assert_int_equal(err.status, TR_FAILED);
        if (!strstr(err.text, "nothing can move")) fail_msg("%s", err.text);
        tr_system_free(system);
    }
}

// ---- wrong words ---------------------------------------------------------------------------

#define HINGE(more)                                                                         \
    "trundle: 1\n"                                                                          \
    "bodies: {b: {mass: 1, com: \"0, 0, -1\", joint: {type: revolute, axis: \"0, 1, 0\",\n" \
    " coordinate: q,\n"                                                                     \
    " " more "}}}\n"
#define FREE(more)                                                                  \
    "trundle: 1\n"                                                                  \
    "bodies: {b: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, joint: {type: free,\n\n" \
    " " more "}}}\n"

static void check_wrong(const char *text, int line, int column, const char *words)
{
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    if (!err.status) fail_msg("%s is taken", text);
    if (!strstr(err.text, words)) fail_msg("%s", err.text);
    if (err.line != line || err.column != column)
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    tr_system_free(system);
    tr_model_free(model);
}

static void test_wrong_joints(void **state)
{
    (void)state;
    check_wrong(HINGE("limits: \"0.5, -0.5\""), 4, 11, "0.5 is not below -0.5");
    check_wrong(HINGE("limits: 0.5"), 4, 10, "2 formulas");
    check_wrong(HINGE("limits: \"0, q\""), 4, 14, "'q'");
    check_wrong(HINGE("limits: \"0, 1\", limit_restitution: 1.5"), 4, 37, "between 0 and 1");
    check_wrong(HINGE("limits: \"0, 1\", limit_restitution: -0.1"), 4, 37, "between 0 and 1");
    check_wrong(HINGE("limits: \"0, 1\", limit_stiffness: -3"), 4, 35, "is negative");
    check_wrong(HINGE("limits: \"0, 1\", limit_stiffness: 3, limit_damping: -1"), 4, 53,
                "is negative");
    check_wrong(HINGE("limits: \"0, 1\", limit_damping: 1"), 4, 33, "without 'limit_stiffness'");
    check_wrong(HINGE("limit_restitution: 1"), 4, 21, "without 'limits'");
    check_wrong(HINGE("limits: \"0, 1\", limit_stiffness: 3, limit_restitution: 1"), 4, 57,
                "has no limit_restitution");
    check_wrong(HINGE("friction: -1"), 4, 12, "the friction of 'q' is negative");
    check_wrong(HINGE("friction: 1, stiction: 0.5"), 4, 25, "stiction is at least friction");
    check_wrong(HINGE("stiction: 0.5"), 4, 12, "without 'friction'");
    check_wrong(HINGE("friction: lambda.q.friction"), 4, 12, "unknown name");
    check_wrong(HINGE("armature: -1"), 4, 12, "not negative");
    check_wrong(HINGE("ratio: 3"), 4, 9, "without 'armature'");
    check_wrong(HINGE("armature: 1, elastic: {stiffness: 3, inertia: 1}") "roles: {q: {torque: "
                                                                          "1}}\n",
                4, 12, "elastic");
    check_wrong(HINGE("limit: 3"), 4, 2, "limits");
    check_wrong(FREE("limits: \"0, 1\""), 4, 11, "one coordinate, which a free joint is not");
    check_wrong(FREE("friction: 1"), 4, 12, "one coordinate");
    check_wrong(FREE("armature: 1"), 4, 12, "one coordinate");
    check_wrong("trundle: 1\n"
                "bodies: {b: {mass: 1, joint: {type: universal, axis: \"0, 1, 0\",\n"
                " second: \"1, 0, 0\", limits: \"0, 1\"}}}\n",
                3, 30, "one coordinate, which a universal joint is not");
}

static void test_wrong_roles(void **state)
{
    (void)state;
#define ROLE(role) HINGE("damping: 0") "roles: {q: " role "}\n"
    check_wrong(ROLE("{torque: 1, limit: -2}"), 5, 31, "it is not negative");
    check_wrong(ROLE("{motion: t, limit: 2}"), 5, 31, "'limit' is of a torque");
    check_wrong(ROLE("{limit: 2}"), 5, 20, "'limit' is of a torque");
    check_wrong(ROLE("{torque: 1, limit: {vx: 2}}"), 5, 32, "no torque there");
    check_wrong(FREE("base: true") "roles: {b: {torque: {vx: 1, vy: 2}, limit: 3}}\n", 5, 44,
                "several torques");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch),       cmocka_unit_test(test_saved),
        cmocka_unit_test(test_linear),      cmocka_unit_test(test_steady),
        cmocka_unit_test(test_steady_held), cmocka_unit_test(test_wrong_joints),
        cmocka_unit_test(test_wrong_roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
