// SPDX-License-Identifier: Apache-2.0
// B.yaw, pitch, roll, speed, heading and curvature, of all joints and of frames: against rotations,
// and against differences along runs; and what they say of what stands still.
#include "runs.h"

#define BODIES                                                                                   \
    "trundle: 1\n"                                                                               \
    "gravity: 1, -0.5, -2\n"                                                                     \
    "bodies:\n"                                                                                  \
    "  free: {joint: {type: free, turn: \"0.3, 0.2, -0.5\"}, mass: 1, com: \"0.1, 0, 0.05\", "   \
    "inertia: {xx: 0.2, yy: 0.3, zz: 0.4}}\n"                                                    \
    "  arm: {parent: free, joint: {type: revolute, axis: \"1, 2, 0.5\", at: \"0.4, 0.1, 0\"}, "  \
    "mass: 0.5, com: \"0.2, 0, 0\", inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"                     \
    "  knob: {parent: arm, joint: {type: ball, at: \"0.3, 0, 0\"}, mass: 0.3, com: \"0, 0.1, "   \
    "0\", inertia: {xx: 0.1, yy: 0.2, zz: 0.1}}\n"                                               \
    "  sled: {joint: {type: planar}, mass: 1, inertia: {xx: 1, yy: 1, zz: 0.7}}\n"               \
    "  tool: {parent: sled, joint: {type: screw, axis: \"0, 1, 1\", pitch: 0.2}, mass: 1, com: " \
    "\"0.1, 0, 0\", inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"                                     \
    "  car: {joint: {type: prismatic, axis: \"1, 2, 0\"}, mass: 1}\n"                            \
    "  wheel: {parent: car, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1, inertia: "      \
    "{axial: 0.2, radial: 0.1}}\n"                                                               \
    "frames: {tip: {body: wheel, at: \"0.3, 0.1, 0\", turn: \"0.3, 0.4, 0.5\"}}\n"               \
    "contacts: {blade: {kind: skate, body: sled, at: \"-0.4, 0, 0\"}}\n"                         \
    "initial: {free.vx: 0.8, free.vy: 0.5, free.wz: 0.9, free.wx: 0.4, arm_rate: 1, knob.wx: "   \
    "1, sled.vx: 1, sled.wz: 0.6, tool_rate: 0.7, car_rate: 0.9, wheel_rate: 2}\n"

static const char *const all[] = {"free", "arm", "knob", "sled", "tool", "car", "wheel", "tip"};
enum { ALL = sizeof all / sizeof *all };

static const char *const names[] = {"yaw", "pitch", "roll", "speed", "heading", "curvature"};

static Sheet *run_all(void)
{
    static char text[8000];
    size_t length = (size_t)snprintf(text, sizeof text, "%soutputs:\n", BODIES);
    for (int i = 0; i < ALL; i++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            length += (size_t)snprintf(text + length, sizeof text - length, "  %s_%s: %s.%s\n",
                                       all[i], names[k], all[i], names[k]);
        for (int k = 0; k < 3; k++) {
            length += (size_t)snprintf(text + length, sizeof text - length, "  %s_%c: %s.%c\n",
                                       all[i], 'x' + k, all[i], 'x' + k);
            for (int l = 0; l < 3; l++)
                length +=
                    (size_t)snprintf(text + length, sizeof text - length, "  %s_R%d%d: %s.R%d%d\n",
                                     all[i], k + 1, l + 1, all[i], k + 1, l + 1);
        }
    }
    assert_true(length < sizeof text);
    return run_with(system_from(text), 0.2, 1e-4, NULL);
}

static double value(const Sheet *run, size_t row, int body, const char *what)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%s", all[body], what);
    return at(run, row, name);
}

// R = Rz(yaw) Ry(pitch) Rx(roll)
static void check_angles(const Sheet *run, size_t row, int body)
{
    const double a = value(run, row, body, "yaw"), b = value(run, row, body, "pitch"),
                 c = value(run, row, body, "roll");
    const double R[3][3] = {{cos(a) * cos(b), cos(a) * sin(b) * sin(c) - sin(a) * cos(c),
                             cos(a) * sin(b) * cos(c) + sin(a) * sin(c)},
                            {sin(a) * cos(b), sin(a) * sin(b) * sin(c) + cos(a) * cos(c),
                             sin(a) * sin(b) * cos(c) - cos(a) * sin(c)},
                            {-sin(b), cos(b) * sin(c), cos(b) * cos(c)}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            char name[8];
            snprintf(name, sizeof name, "R%d%d", i + 1, k + 1);
            assert_close(value(run, row, body, name), R[i][k], 1e-14);
        }
}

// Of second order; five points
static double slope(const Sheet *run, size_t row, int body, const char *what)
{
    const double h = 1e-4;
    double x[5];
    for (size_t k = 0; k < 5; k++) x[k] = value(run, row + k - 2, body, what);
    for (int k = 0; k < 5; k++) // angles may jump
        x[k] -= 2 * acos(-1) * round((x[k] - x[2]) / (2 * acos(-1)));
    return (x[0] - 8 * x[1] + 8 * x[3] - x[4]) / (12 * h);
}

// Along the run: where the origin goes, by differences of its place, and how its heading turns
static void test_along_runs(void **state)
{
    (void)state;
    Sheet *run = run_all();
    double turned = 0;
    for (int i = 0; i < ALL; i++)
        for (size_t row = 2; row + 2 < run->rows; row += 57) {
            check_angles(run, row, i);
            if (strcmp(all[i], "free") == 0) continue; // free.x counts from its own joint's axes
            const double x = slope(run, row, i, "x"), y = slope(run, row, i, "y"),
                         z = slope(run, row, i, "z");
            const double over_ground = sqrt(x * x + y * y);
            assert_close(value(run, row, i, "speed"), sqrt(x * x + y * y + z * z), 1e-9);
            assert_close(value(run, row, i, "heading"), atan2(y, x), 1e-8);
            assert_close(value(run, row, i, "curvature"),
                         slope(run, row, i, "heading") / over_ground, 1e-7);
            turned = fmax(turned, fabs(value(run, row, i, "curvature")));
        }
    assert_true(turned > 0.5);
    tr_sheet_free(run);
}

// ---- at rest -------------------------------------------------------------------------------

#define SLED                                                                             \
    "trundle: 1\n"                                                                       \
    "gravity: 0, 0, 0\n"                                                                 \
    "bodies: {sled: {joint: {type: planar}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n" \
    "frames: {post: {body: world, at: \"1, 0, 0\"}}\n"                                   \
    "contacts: {blade: {kind: skate, body: sled}}\n"

#define STILL "'sled' stands still, as seen from above: it has no "

static tr_system *sled_with(const char *rest)
{
    char text[1500];
    snprintf(text, sizeof text, SLED "%s", rest);
    return system_from(text);
}

// Recording it ends a run, eval and check; line 6 is the first of `rest`.
static void check_refused(const char *rest, int line, const char *words)
{
    char *(*const tell[])(const tr_system *, bool, tr_error *) = {tr_eval_text, tr_check_text};
    tr_system *system = sled_with(rest);
    for (size_t i = 0; i < 2; i++) {
        tr_error err = {0};
        char *text = tell[i](system, true, &err);
        if (!err.status || strcmp(err.text, words) != 0) fail_msg("%s: %s", rest, err.text);
        assert_int_equal(err.line, line);
        tr_text_free(text);
    }
    tr_error err = {0};
    tr_summary s = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 0.5;
    assert_false(tr_simulate(system, &o, &s, &err));
    assert_string_equal(err.text, words);
    assert_int_equal(err.line, line);
    tr_system_free(system);
}

static void test_rest_is_refused(void **state)
{
    (void)state;
    check_refused("outputs: {a: sled.heading}\n", 6, "'a' has no value at t = 0: " STILL "heading");
    check_refused("outputs: {a: 1 + 2*cos(sled.heading)}\n", 6,
                  "'a' has no value at t = 0: " STILL "heading");
    check_refused("outputs:\n  b: sled.speed\n  a: sled.curvature\n", 8,
                  "'a' has no value at t = 0: " STILL "curvature");
}

// Also in the midst of a run, where it stops for a moment, exactly
static void test_rest_on_the_way(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_summary s = {0};
    tr_system *system = sled_with("initial: {sled.vx: 1, sled.wz: 0}\n"
                                  "forces: {f: {body: sled, force: \"-1, 0, 0\"}}\n"
                                  "outputs: {a: \"if(sled.vx == 0, sled.heading, 0)\"}\n");
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 2, o.every = 0.5, o.method = "rk4", o.step = 0.25;
    assert_false(tr_simulate(system, &o, &s, &err));
    assert_string_equal(err.text, "'a' has no value at t = 1: " STILL "heading");
    assert_int_equal(s.rows, 2);
    tr_system_free(system);
}

// A formula that asks first may ask; the speed itself is zero there, by all methods.
static void test_rest_is_told(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk4", "erk", "bdf"};
    for (size_t i = 0; i < 3; i++) {
        tr_system *system = sled_with("forces: {f: {body: sled, force: \"1, 0, 0\"}}\n"
                                      "outputs:\n"
                                      "  a: if(sled.speed > 0.01, sled.heading, 7)\n"
                                      "  v: sled.speed\n");
        tr_simulate_options o = tr_simulate_defaults(system);
        o.end = 1, o.every = 0.5, o.method = methods[i];
        Sheet *run = simulated(system, o, NULL);
        assert_true(at(run, 0, "a") == 7 && at(run, 0, "v") == 0);
        assert_close(last(run, "v"), 1, 1e-6);
        assert_close(last(run, "a"), 0, 1e-12);
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

static void test_forces_that_need_them(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = sled_with("forces: {f: {body: sled, force: \"sled.heading, 0, 0\"}}\n");
    assert_null(tr_eval_text(system, true, &err));
    assert_string_equal(err.text, "the acceleration of 'sled.vx' is not finite at the start: " STILL
                                  "heading");
    assert_int_equal(err.line, 6);
    tr_system_free(system);
    assert_invalid(
        SLED "forces: {f: {body: sled, force: \"sled.curvature, 0, 0\"}}\n",
        "6:34: 'sled.curvature' takes accelerations, which only formulas of outputs know");
    assert_invalid(SLED "outputs: {a: post.heading}\n",
                   "6:14: 'post' never moves, as seen from above: it has no heading");
    assert_invalid(SLED "outputs: {a: sled.headin}\n",
                   "6:14: unknown name 'sled.headin'; did you mean 'sled.heading'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_along_runs),
        cmocka_unit_test(test_rest_is_refused),
        cmocka_unit_test(test_rest_on_the_way),
        cmocka_unit_test(test_rest_is_told),
        cmocka_unit_test(test_forces_that_need_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
