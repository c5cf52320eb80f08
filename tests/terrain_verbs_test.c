// SPDX-License-Identifier: Apache-2.0
// What is done with models, where the ground is not flat: facts, steady motions, feedback, all
// methods, snapshots, runs side by side; and ground that cannot be.
#include "rolling.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

// ---- facts ---------------------------------------------------------------------------------

// Where a contact touches is no coordinate: all facts are those of the same wheel on a plane.
static void test_facts(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"disc_on_waves", "rolling_disc"},
                                           {"tyre_on_bump", "tyre"},
                                           {"bicycle_on_bump", "bicycle"},
                                           {"ball_in_bowl", "ball_on_slope"}};
    static const char *const keys[] = {"bodies", "n", "s_p", "s_a", "rows", "m", "kernel"};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char *uneven = facts_of(system_called(pairs[i][0], NULL)),
             *flat = facts_of(system_called(pairs[i][1], NULL));
        for (size_t k = 0; k < COUNT(keys); k++)
            assert_fact(uneven, keys[k], atoi(behind(flat, keys[k])));
        tr_text_free(uneven);
        tr_text_free(flat);
    }
}

static void test_texts(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("disc_on_waves", NULL);
    char *eval = tr_eval_text(system, false, &err), *check = tr_check_text(system, false, &err);
    assert_int_equal(err.status, 0);
    assert_close(number_behind(eval, "lambda   rim.normal"), 18.9508820490136, 1e-12);
    assert_says(check, "ok: 1 body, 3 degrees of freedom");
    assert_null(strstr(eval, "touch"));
    assert_null(strstr(check, "touch"));
    tr_text_free(eval);
    tr_text_free(check);
    tr_system_free(system);
}

// ---- steady motions ------------------------------------------------------------------------

static tr_steady *steady_with(const tr_system *system, const char *const *holds, size_t count)
{
    tr_error err = {0};
    tr_steady_options o = tr_steady_defaults();
    o.holds = holds, o.hold_count = count;
    tr_steady *steady = tr_steady_find(system, &o, &err);
    if (!steady) fail_msg("%s", err.text);
    return steady;
}

static double steady_value(const tr_steady *steady, const tr_system *system, const char *name)
{
    return tr_steady_state(steady)[input_index(system, name)];
}

// From beside the bottom
static void test_rest_in_bowl(void **state)
{
    (void)state;
    tr_system *system = system_with("ball_in_bowl", "rest", &(Number){"x0", 0.1}, 1);
    const char *const holds[] = {"ball.wz=0"};
    tr_steady *steady = steady_with(system, holds, 1);
    double modes[10][2];
    assert_close(steady_value(steady, system, "ball.x"), 0, 1e-12);
    assert_close(steady_value(steady, system, "ball.y"), 0, 1e-12);
    assert_close(steady_value(steady, system, "ball.z"), 0.2, 1e-12);
    const size_t count = tr_steady_modes(steady, modes);
    int swings = 0;
    for (size_t i = 0; i < count; i++)
        swings += fabs(fabs(modes[i][1]) - sqrt(5 * g / 7 / (1 / 0.5 - 0.2))) < 1e-9;
    assert_int_equal(swings, 4);
    tr_steady_free(steady);
    tr_system_free(system);
}

// A disc rolls along the flank of a valley: upright, for else it would turn, and held there by what
// does not let it slip.
static void test_valley(void **state)
{
    (void)state;
    static const char *const valley =
        "trundle: 1\n"
        "ground: {height: 0.4*y^2}\n"
        "bodies: {disc: {joint: {type: free}, mass: 2, inertia: {axial: 0.09, radial: 0.045, axis: "
        "\"0, 1, 0\"}}}\n"
        "contacts: {rim: {kind: rolling, body: disc, radius: 0.3, axis: \"0, 1, 0\"}}\n"
        "outputs: {yaw: \"atan2(-disc.R12, disc.R22)\", roll: asin(disc.R32)}\n"
        "initial: {disc.x: 0, disc.y: 0.3, yaw: 0.01, roll: 0.02, disc.wx: 0, disc.wy: 6, disc.wz: "
        "0.01}\n"
        "guess: {disc.z: 0.35}\n";
    tr_error err = {0};
    tr_system *system = system_from(valley);
    const char *const holds[] = {"disc.wy=6", "disc.y=0.3"};
    tr_steady *steady = steady_with(system, holds, 2);
    char *text = tr_steady_text(steady, false, &err);
    const double slope = 2 * 0.4 * 0.3, w = sqrt(1 + slope * slope);
    assert_close(number_behind(text, "outputs  yaw"), 0, 1e-12);
    assert_close(number_behind(text, "outputs  roll"), 0, 1e-12);
    assert_close(number_behind(text, "along    disc.x"), 1.8, 1e-12);
    assert_close(number_behind(text, "lambda   rim.normal"), 2 * g / w, 1e-12);
    assert_close(number_behind(text, "lambda   rim.lateral"), 2 * g * slope / w, 1e-12);
    assert_close(steady_value(steady, system, "disc.z"), 0.3 + 0.4 * 0.09, 1e-12);
    tr_text_free(text);
    tr_steady_free(steady);
    tr_system_free(system);
}

// ---- feedback ------------------------------------------------------------------------------

// A pendulum on two wheels that stands on a slope of 0.1: its mass centre is above where it touches
static tr_system *pendulum_on(const char *ground)
{
    char text[2000];
    const int length = snprintf(
        text, sizeof text,
        "trundle: 1\n"
        "parameters: {r: 0.2, l: 0.5, m: 10, m_w: 1, M: m + 2*m_w, slope: atan(0.1), b: 0.25, "
        "hold: M*9.81*r*sin(slope)}\n"
        "inputs: {left_torque: 0, right_torque: 0}\n"
        "ground: {%s}\n"
        "bodies:\n"
        "  body: {joint: {type: free}, mass: m, com: \"0, 0, l\", inertia: {xx: 0.6, yy: 0.6, zz: "
        "0.1}}\n"
        "  left: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, b, 0\", "
        "coordinate: left_spin}, mass: m_w, inertia: {axial: 0.02, radial: 0.01}}\n"
        "  right: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, -b, 0\", "
        "coordinate: right_spin}, mass: m_w, inertia: {axial: 0.02, radial: 0.01}}\n"
        "contacts:\n"
        "  left: {kind: rolling, body: left, radius: r}\n"
        "  right: {kind: rolling, body: right, radius: r, lateral: free}\n"
        "roles:\n"
        "  left_spin: {torque: hold/2 + left_torque}\n"
        "  right_spin: {torque: hold/2 + right_torque}\n"
        "initial: {body.x: 0, body.y: 0, body.R31: -M*r*sin(slope)/(m*l), body.R32: 0, body.R21: "
        "0, left_spin: 0, right_spin: 0, d(left_spin): 0, d(right_spin): 0, body.wy: 0}\n"
        "guess: {body.z: r}\n",
        ground);
    assert_true(length < (int)sizeof text);
    return system_from(text);
}

static const tr_lqr *feedback_of(const tr_system *system)
{
    tr_error err = {0};
    tr_lqr_options o = tr_lqr_defaults();
    o.inputs = "left_torque,right_torque";
    const tr_lqr *lqr = tr_lqr_design(system, &o, &err);
    if (!lqr) fail_msg("%s", err.text);
    return lqr;
}

static void test_feedback(void **state)
{
    (void)state;
    tr_system *plane = pendulum_on("turn: \"0, -slope, 0\""),
              *formula = pendulum_on("height: 0.1*x");
    const tr_lqr *a = feedback_of(plane), *b = feedback_of(formula);
    assert_below(b->unsteadiness, 1e-12);
    assert_int_equal(a->states, b->states);
    assert_int_equal(a->neutral, b->neutral);
    assert_true(b->before[0] > 1 && a->states > 3);
    for (size_t i = 0; i < a->states; i++) {
        assert_string_equal(a->state[i], b->state[i]);
        assert_close(a->before[2 * i], b->before[2 * i], 1e-9);
        assert_close(a->after[2 * i], b->after[2 * i], 1e-9);
        assert_true(b->after[2 * i] < 0);
    }
    for (size_t i = 0; i < a->states * a->inputs; i++) assert_close(a->K[i], b->K[i], 1e-9);
    tr_lqr_free(a);
    tr_lqr_free(b);
    tr_system_free(plane);
    tr_system_free(formula);
}

// ---- methods -------------------------------------------------------------------------------

static void test_methods(void **state)
{
    (void)state;
    static const char *const models[] = {"disc_on_waves", "tyre_on_bump", "ball_on_saddle",
                                         "bicycle_on_bump"};
    static const struct {
        const char *name;
        double step, bound;
    } methods[] = {{"bdf", 0, 1e-9},
                   {"rk4", 1e-3, 1e-8},
                   {"pece", 1e-3, 1e-8},
                   {"lie", 1e-3, 1e-8},
                   {"euler", 1e-4, 1e-2}};
    for (size_t i = 0; i < COUNT(models); i++) {
        Sheet *strict = run_to(system_called(models[i], NULL), 1, 0.25);
        for (size_t k = 0; k < COUNT(methods); k++) {
            tr_system *system = system_called(models[i], NULL);
            tr_simulate_options o = tr_simulate_defaults(system);
            tr_summary s = {0};
            o.end = 1, o.every = 0.25, o.method = methods[k].name;
            if (methods[k].step > 0) o.step = methods[k].step;
            Sheet *run = simulated(system, o, &s);
            double off = 0;
            for (size_t c = 1; c < run->columns; c++)
                if (strchr(run->names[c], '.') && strncmp(run->names[c], "energy", 6) != 0 &&
                    strncmp(run->names[c], "residual", 8) != 0)
                    off = fmax(off, difference(strict, run->names[c], run, run->names[c]) /
                                        fmax(1, largest(strict, run->names[c])));
            print_message("%-16s %-6s %.1e, kept to %.1e\n", models[i], methods[k].name, off,
                          s.position_error);
            assert_below(off, methods[k].bound);
            assert_below(s.position_error, 1e-12);
            tr_sheet_free(run);
            tr_system_free(system);
        }
        tr_sheet_free(strict);
    }
}

// ---- runs ----------------------------------------------------------------------------------

// It rolls, flies and lands
static const char *const flying =
    "trundle: 1\n"
    "parameters: {spin0: 30}\n"
    "ground: {height: -1/(1 + exp(-10*(x - 1)))}\n"
    "bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 0.004, yy: 0.004, zz: 0.004}}}\n"
    "contacts: {foot: {kind: rolling, body: b, shape: ball, radius: 0.1, unilateral: true}}\n"
    "initial: {b.x: 0, b.y: 0, b.qx: 0, b.qy: 0, b.qz: 0, b.wx: 0.3, b.wy: spin0, b.wz: 0.1}\n"
    "guess: {b.z: 0.1}\n";

static void assert_same_row(const double *a, const double *b, size_t count)
{
    assert_true(a && b);
    for (size_t i = 0; i < count; i++) assert_true(same_bits(a[i], b[i]));
}

static void advance(tr_run *run, double until)
{
    tr_error err = {0};
    if (!tr_run_advance(run, until, &err)) fail_msg("%s", err.text);
}

// Save at a time, go on; restored in another run it goes on with the same bits.
static void check_snapshot(tr_system *system, const char *method, double saved, double end)
{
    tr_error err = {0};
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = method, o.step = 1e-3;
    tr_run *first = tr_run_new(plan, &o, &err), *second = tr_run_new(plan, &o, &err);
    if (err.status) fail_msg("%s", err.text);
    const size_t columns = tr_plan_column_count(plan), size = tr_run_save(first, NULL, 0, &err);
    void *memory = malloc(size);
    double *row = calloc(columns, sizeof *row);
    assert_true(memory && row && size);
    advance(first, saved);
    assert_int_equal(tr_run_save(first, memory, size, &err), size);
    advance(first, end);
    memcpy(row, tr_run_row(first), columns * sizeof *row);
    assert_true(tr_run_restore(second, memory, size, &err));
    advance(second, end);
    assert_same_row(tr_run_row(second), row, columns);
    assert_true(tr_run_restore(first, memory, size, &err)); // and the run itself
    advance(first, end);
    assert_same_row(tr_run_row(first), row, columns);
    free(memory);
    free(row);
    tr_run_free(first);
    tr_run_free(second);
    tr_plan_free(plan);
    tr_system_free(system);
}

static void test_snapshots(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "lie", "pece"};
    for (size_t i = 0; i < COUNT(methods); i++) {
        check_snapshot(system_called("disc_on_waves", NULL), methods[i], 0.3, 0.7);
        check_snapshot(system_called("bicycle_on_bump", NULL), methods[i], 0.7, 1);
        check_snapshot(system_called("spherical_robot", NULL), methods[i], 0.3, 0.7);
        if (strcmp(methods[i], "pece") == 0) continue;
        check_snapshot(system_from(flying), methods[i], 0.1, 0.9);
        check_snapshot(system_from(flying), methods[i], 0.4, 0.9); // in the air
    }
}

static void test_side_by_side(void **state)
{
    (void)state;
    enum { RUNS = 13 };
    tr_error err = {0};
    tr_system *system = system_from(flying);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 1e-3;
    tr_batch *batch = tr_batch_new(plan, RUNS, &o, &err);
    tr_run *runs[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
        const double spin = 12 + 2 * (double)i;
        runs[i] = tr_run_new(plan, &o, &err);
        tr_run_set(runs[i], "spin0", spin, &err);
        tr_batch_set(batch, i, "spin0", spin, &err);
        assert_true(tr_run_reset(runs[i], &err) && tr_batch_reset(batch, i, &err));
    }
    if (err.status) fail_msg("%s", err.text);
    for (double t = 0.2; t < 1.3; t += 0.2) {
        assert_true(tr_batch_advance(batch, t, &err));
        for (size_t i = 0; i < RUNS; i++) {
            assert_int_equal(tr_batch_status(batch, i, &err), TR_OK);
            advance(runs[i], t);
            assert_same_row(tr_batch_row(batch, i), tr_run_row(runs[i]),
                            tr_plan_column_count(plan));
        }
    }
    for (size_t i = 0; i < RUNS; i++) tr_run_free(runs[i]);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(system);
}

// ---- ground that cannot be -----------------------------------------------------------------

// With words that begin so
static void assert_refused(const char *ground, const char *contact, const char *words)
{
    char text[1500], told[600];
    tr_error err = {0};
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "parameters: {c: 1}\n"
             "ground: {%s}\n"
             "bodies:\n"
             "  b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
             "  table: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1}}\n"
             "contacts:\n"
             "  c: {body: b, radius: 0.3, shape: ball%s}\n"
             "guess: {b.z: 1}\n",
             ground, contact);
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_text_free(tr_check_text(system, false, &err));
    tr_model_free(model);
    tr_system_free(system);
    snprintf(told, sizeof told, "%d:%d: %s", err.line, err.column, err.text);
    if (!err.status || strncmp(told, words, strlen(words)) != 0)
        fail_msg("%s, %s\n  says %s", ground, contact, told);
}

static void test_bad_ground(void **state)
{
    (void)state;
    assert_refused("height: sin(t)", "",
                   "3:22: this is a formula of x and y and of parameters, not of 't'");
    assert_refused("height: x + z", "",
                   "3:22: this is a formula of x and y and of parameters, not of 'z'");
    assert_refused("height: d(x)", "",
                   "3:18: this is a formula of x and y and of parameters, without d(...)");
    assert_refused("height: 1 + d(x*y)", "",
                   "3:22: this is a formula of x and y and of parameters, without d(...)");
    assert_refused("height: b.x", "",
                   "3:18: this is a formula of x and y and of parameters, not of 'b.x'");
    assert_refused("height: x +", "", "3:21: the formula ends where");
    assert_refused("height: bump(x)", "", "3:18: unknown function 'bump'");
    assert_refused("heights: x", "",
                   "3:10: unknown key 'heights' in 'ground'; did you mean 'height'?");
}

static void test_bad_surfaces(void **state)
{
    (void)state;
    static const char *const needs_radius = "8:62: the sphere that 'c' is on needs a radius, as in "
                                            "`surface: {kind: sphere, radius: 0.5}`";
    assert_refused("", ", on: table, surface: cone",
                   "8:62: a surface is a plane, a sphere or a height, not a 'cone'");
    assert_refused("", ", on: table, surface: {kind: cone}",
                   "8:69: a surface is a plane, a sphere or a height, not a 'cone'");
    assert_refused("", ", on: table, surface: sphere", needs_radius);
    assert_refused("", ", on: table, surface: {kind: sphere}", needs_radius);
    assert_refused("", ", on: table, surface: {kind: sphere, radius: 0}", needs_radius);
    assert_refused("", ", on: table, surface: height",
                   "8:62: the surface that 'c' is on needs a height");
    assert_refused("", ", on: table, surface: {kind: height}",
                   "8:69: the surface that 'c' is on needs a height");
    assert_refused("", ", on: table, surface: {height: t}",
                   "8:71: this is a formula of x and y and of parameters, not of 't'");
    assert_refused("", ", on: table, surface: {height: table}",
                   "8:71: this is a formula of x and y and of parameters, not of 'table'");
    assert_refused("", ", on: table, surface: {hight: 0}",
                   "8:63: unknown key 'hight' in 'surface'; did you mean 'height'?");
    assert_refused("", ", on: table, surface: {kind: sphere, radius: 1, height: x}",
                   "8:96: a sphere surface has no use for 'height'");
    assert_refused("", ", on: table, surface: {kind: plane, height: x}",
                   "8:84: a plane surface has no use for 'height'");
    assert_refused("", ", on: table, surface: {kind: plane, radius: 1}",
                   "8:84: a plane surface has no use for 'radius'");
    assert_refused("", ", on: b, surface: {height: 0}", "8:46: 'c' rolls on itself");
    assert_refused("", ", on: nothing, surface: {height: 0}", "8:46: there is no body 'nothing'");
}

// Not a number where it starts
static void test_endless_ground(void **state)
{
    (void)state;
    assert_refused(
        "height: 1/(x^2 + y^2 - x^2 - y^2)", "",
        "0:0: the initial positions cannot all hold: 'c.normal' has no value at the guess");
    assert_refused(
        "height: log(-1 - x^2)", "",
        "0:0: the initial positions cannot all hold: 'c.normal' has no value at the guess");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),          cmocka_unit_test(test_texts),
        cmocka_unit_test(test_rest_in_bowl),   cmocka_unit_test(test_valley),
        cmocka_unit_test(test_feedback),       cmocka_unit_test(test_methods),
        cmocka_unit_test(test_snapshots),      cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_bad_ground),     cmocka_unit_test(test_bad_surfaces),
        cmocka_unit_test(test_endless_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
