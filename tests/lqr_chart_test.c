// SPDX-License-Identifier: Apache-2.0
// Feedback does not depend on which velocities a run integrates, nor on which side is called left;
// and what weights mean, against sums of squares by hand.
#include "charts.h"

#define ROBOT_INPUTS "uL,uR,us,ue"
#define ROBOT_Q      "way=20,pitch=10"
#define LQR(...)     (&(tr_lqr_options){sizeof(tr_lqr_options), __VA_ARGS__})

// ---- designs -------------------------------------------------------------------------------

static tr_system *made_of(const char *text, const char *case_name, const char *words,
                          const char *control)
{
    tr_error err = {0};
    char cut[100];
    tr_setting settings[MOST_SETTINGS];
    const char *const controls[] = {control};
    snprintf(cut, sizeof cut, "%s", words);
    tr_model *model = tr_model_parse(text, &err);
    const tr_derive_options options = {.size = sizeof options,
                                       .case_name = case_name,
                                       .settings = settings,
                                       .setting_count = settings_in(cut, settings),
                                       .controls = controls,
                                       .control_count = control ? 1 : 0};
    tr_system *system = tr_derive(model, &options, &err);
    tr_model_free(model);
    if (!system) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return system;
}

static const tr_lqr *design(tr_system *system, const tr_lqr_options *o)
{
    tr_error err = {0};
    const tr_lqr *lqr = tr_lqr_design(system, o, &err);
    if (!lqr) fail_msg("%s", err.text);
    return lqr;
}

static void free_design(const tr_lqr *lqr, tr_system *system)
{
    tr_lqr_free(lqr);
    tr_system_free(system);
}

static void take_robot(char *text) { take_text(REPORTED_DIR "/robot2.yaml", text); }

// In place of some words
static void put_block(char *text, const char *words, const char *block)
{
    char old[MOST_TEXT];
    memcpy(old, text, MOST_TEXT);
    char *from = strstr(old, words);
    assert_non_null(from);
    *from = 0;
    const size_t before = strlen(old), length = strlen(block), rest = strlen(from + strlen(words));
    assert_true(before + length + rest < MOST_TEXT);
    memcpy(text + before, block, length);
    memcpy(text + before + length, from + strlen(words), rest + 1);
}

static tr_system *robot(const char *line, const char *words)
{
    char text[MOST_TEXT];
    take_robot(text);
    if (line) put_line(text, line);
    return made_of(text, NULL, words, NULL);
}

static double size_of(const double *x, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void assert_alike(const double *a, const double *b, size_t count)
{
    const double size = size_of(b, count);
    for (size_t i = 0; i < count; i++) assert_below(fabs(a[i] - b[i]), 1e-9 * size);
}

static size_t index_of(const tr_lqr *lqr, const char *name)
{
    size_t i = 0;
    while (i < lqr->states && strcmp(lqr->state[i], name) != 0) i++;
    if (i == lqr->states) fail_msg("there is no state '%s'", name);
    return i;
}

static double gain(const tr_lqr *lqr, size_t input, const char *state)
{
    return lqr->K[input * lqr->states + index_of(lqr, state)];
}

// ---- charts --------------------------------------------------------------------------------

// Laws have the same words, and numbers that agree.
static void assert_same_law(const char *a, const char *b)
{
    while (*a && *b) {
        if (is_digit(*a) && is_digit(*b)) {
            char *end_a, *end_b;
            const double x = strtod(a, &end_a), y = strtod(b, &end_b);
            assert_below(fabs(x - y), 1e-9 * fmax(1, fabs(y)));
            a = end_a, b = end_b;
        } else if (*a++ != *b++)
            fail_msg("the laws differ where one goes on with '%.60s'", a - 1);
    }
    assert_true(!*a && !*b);
}

static void assert_same(const tr_lqr *a, const tr_lqr *b)
{
    const size_t n = a->states, m = a->inputs;
    assert_int_equal(n, b->states);
    assert_int_equal(m, b->inputs);
    for (size_t i = 0; i < n; i++) assert_string_equal(a->state[i], b->state[i]);
    assert_alike(a->K, b->K, n * m);
    assert_alike(a->A, b->A, n * n);
    assert_alike(a->B, b->B, n * m);
    assert_alike(a->Q, b->Q, n * n);
    assert_alike(a->before, b->before, 2 * n);
    assert_alike(a->after, b->after, 2 * n);
    assert_int_equal(a->neutral, b->neutral);
    for (size_t i = 0; i < m; i++) assert_same_law(a->law[i], b->law[i]);
}

// The velocities that the linear model has for states: these are what differs.
static bool is_charted(tr_system *a, tr_system *b)
{
    tr_error err = {0};
    tr_linear *x = tr_linearise(a, NULL, &err), *y = tr_linearise(b, NULL, &err);
    if (!x || !y) fail_msg("%s", err.text);
    bool differs = false;
    for (uint32_t i = 0; i < x->states; i++)
        differs = differs || strcmp(x->state[i], y->state[i]) != 0;
    tr_linear_free(x);
    tr_linear_free(y);
    return differs;
}

static void test_charts_of_a_robot(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "independent: [chassis.wy, left_rate, right_rate, shoulder_rate, elbow_rate]",
        "independent: [chassis.wy, chassis.wz, left_rate, shoulder_rate, elbow_rate]",
        "independent: [chassis.vx, chassis.wy, chassis.wz, shoulder_rate, elbow_rate]",
        "independent: [chassis.vx, chassis.wz, left_rate, shoulder_rate, elbow_rate]"};
    tr_system *plain = robot(NULL, "");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        tr_system *other = robot(lines[i], "");
        assert_true(is_charted(plain, other));
        for (int step = 0; step < 2; step++) {
            const tr_lqr_options *o =
                LQR(.inputs = ROBOT_INPUTS, .q = ROBOT_Q, .r = "uL=2,uR=2", .step = 0.01 * step);
            const tr_lqr *a = design(plain, o), *b = design(other, o);
            assert_same(b, a);
            tr_lqr_free(a);
            tr_lqr_free(b);
        }
        tr_system_free(other);
    }
    tr_system_free(plain);
}

// While it goes on velocities depend on displacements, and its speed is left alone.
static void test_charts_of_a_bicycle(void **state)
{
    (void)state;
    static const char *const lines[] = {"independent: [frame.wx, steer_rate, rear_rate]",
                                        "independent: [frame.wz, steer_rate, front_rate]",
                                        "independent: [frame.vx, frame.wx, steer_rate]"};
    static const char *const weights[] = {NULL, "frame.dy=0.5,yaw=1", "frame.vy=3,roll=2"};
    char text[MOST_TEXT];
    take_model("bicycle", text);
    tr_system *plain = made_of(text, "state", "speed0=3", "steer");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char other_text[MOST_TEXT];
        memcpy(other_text, text, sizeof text);
        put_line(other_text, lines[i]);
        tr_system *other = made_of(other_text, "state", "speed0=3", "steer");
        assert_true(is_charted(plain, other));
        for (size_t k = 0; k < sizeof weights / sizeof *weights; k++) {
            const tr_lqr_options *o =
                LQR(.inputs = "steer", .q = weights[k], .step = k == 1 ? 0.02 : 0);
            const tr_lqr *a = design(plain, o), *b = design(other, o);
            assert_int_equal(a->neutral, 1);
            assert_same(b, a);
            tr_lqr_free(a);
            tr_lqr_free(b);
        }
        tr_system_free(other);
    }
    tr_system_free(plain);
}

// A speed of the model's own is no state of the regulator, but may have a weight.
static void test_speeds(void **state)
{
    (void)state;
    static const char line[] = "outputs:\n  sum: left_rate + right_rate\n  turn: chassis.wz\n";
    char text[2][MOST_TEXT];
    for (int i = 0; i < 2; i++) {
        take_robot(text[i]);
        put_block(text[i], "outputs:\n", line);
    }
    put_line(text[1], "independent: [sum, turn, chassis.wy, shoulder_rate, elbow_rate]");
    tr_system *plain = made_of(text[0], NULL, "", NULL), *other = made_of(text[1], NULL, "", NULL);
    assert_true(is_charted(plain, other));
    const tr_lqr_options *o = LQR(.inputs = ROBOT_INPUTS, .q = ROBOT_Q ",sum=4,turn=2");
    const tr_lqr *a = design(plain, o), *b = design(other, o);
    assert_same(b, a);
    free_design(a, plain);
    free_design(b, other);
}

// ---- mirrors -------------------------------------------------------------------------------

static void test_symmetric_robot(void **state)
{
    (void)state;
    tr_system *plain = robot(NULL, ""), *swapped = robot(NULL, "b=-0.2");
    static const char *const same[] = {"chassis.dx", "chassis.ry",    "shoulder",  "elbow",
                                       "chassis.wy", "shoulder_rate", "elbow_rate"};
    const tr_lqr_options *o = LQR(.inputs = ROBOT_INPUTS, .q = ROBOT_Q);
    const tr_lqr *a = design(plain, o), *b = design(swapped, o);
    assert_same(b, a); // left is where right was, and they are alike
    const double size = size_of(a->K, 4 * a->states);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_below(fabs(gain(a, 0, same[i]) - gain(a, 1, same[i])), 1e-9 * size);
    for (size_t input = 2; input < 4; input++)
        assert_below(fabs(gain(a, input, "left_rate") - gain(a, input, "right_rate")), 1e-9 * size);
    assert_below(fabs(gain(a, 0, "left_rate") - gain(a, 1, "right_rate")), 1e-9 * size);
    assert_below(fabs(gain(a, 0, "right_rate") - gain(a, 1, "left_rate")), 1e-9 * size);
    free_design(a, plain);
    free_design(b, swapped);
}

// The arm on one side, and then on the other: what was left is right.
static void test_mirrored_robot(void **state)
{
    (void)state;
    char text[2][MOST_TEXT];
    static const char *const place[] = {"at: \"0, 0.06, 0.5\"", "at: \"0, -0.06, 0.5\""};
    static const char *const swap[][2] = {
        {"left_rate", "right_rate"},  {"right_rate", "left_rate"},  {"chassis.dx", "chassis.dx"},
        {"chassis.ry", "chassis.ry"}, {"chassis.wy", "chassis.wy"}, {"shoulder", "shoulder"},
        {"elbow_rate", "elbow_rate"}};
    const tr_lqr *lqr[2];
    tr_system *system[2];
    for (int i = 0; i < 2; i++) {
        take_robot(text[i]);
        put_block(text[i], "at: \"0, 0, 0.5\"", place[i]);
        system[i] = made_of(text[i], NULL, "", NULL);
        lqr[i] = design(system[i], LQR(.inputs = ROBOT_INPUTS, .q = ROBOT_Q));
    }
    const double size = size_of(lqr[0]->K, 4 * lqr[0]->states);
    assert_true(fabs(gain(lqr[0], 0, "chassis.dx") - gain(lqr[0], 1, "chassis.dx")) > 1e-4);
    for (size_t input = 0; input < 4; input++)
        for (size_t i = 0; i < sizeof swap / sizeof *swap; i++)
            assert_below(fabs(gain(lqr[0], input, swap[i][0]) -
                              gain(lqr[1], input < 2 ? 1 - input : input, swap[i][1])),
                         1e-9 * size);
    assert_alike(lqr[0]->after, lqr[1]->after, 2 * lqr[0]->states);
    for (int i = 0; i < 2; i++) free_design(lqr[i], system[i]);
}

#define LEFT                                                                                       \
    "  la: {joint: {type: revolute, axis: '0, 1, 0', at: '-0.1, 0, 0', coordinate: l1}, mass: 1, " \
    "com: '0, 0, 0.15', inertia: {yy: 0.01}}\n"                                                    \
    "  lb: {parent: la, joint: {type: revolute, axis: '0, 1, 0', at: '0, 0, 0.3', coordinate: "    \
    "l2}, mass: 0.5, com: '0, 0, 0.2', inertia: {yy: 0.01}}\n"
#define RIGHT                                                                                     \
    "  ra: {joint: {type: revolute, axis: '0, 1, 0', at: '0.1, 0, 0', coordinate: r1}, mass: 1, " \
    "com: '0, 0, 0.15', inertia: {yy: 0.01}}\n"                                                   \
    "  rb: {parent: ra, joint: {type: revolute, axis: '0, 1, 0', at: '0, 0, 0.3', coordinate: "   \
    "r2}, mass: 0.5, com: '0, 0, 0.2', inertia: {yy: 0.01}}\n"
#define FIVE_BAR(bodies)                                                                \
    "trundle: 1\ngravity: 0, 0, 0\nbodies:\n" bodies                                    \
    "loops: {tip: {kind: point, body: lb, at: '0, 0, 0.4', on: rb, to: '0, 0, 0.4'}}\n" \
    "roles: {l1: {torque: 0}, r1: {torque: 0}}\n"                                       \
    "initial: {l1: -0.4, r1: 0.4}\nguess: {l2: 0.9, r2: -0.9}\n"

// Two arms that hold one tip: coordinates depend on each other, and either arm may come first.
static void test_five_bar(void **state)
{
    (void)state;
    static const char *const texts[] = {FIVE_BAR(LEFT RIGHT), FIVE_BAR(RIGHT LEFT),
                                        FIVE_BAR(LEFT RIGHT) "independent: [l2_rate, r2_rate]\n",
                                        FIVE_BAR(LEFT RIGHT) "independent: [l1_rate, l2_rate]\n"};
    static const char *const both[] = {"l1", "r1"}, *const names[] = {"l1", "r1", "l1_rate",
                                                                      "r1_rate"};
    double first[8];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tr_error err = {0};
        tr_model *model = tr_model_parse(texts[i], &err);
        const tr_derive_options options = {
            .size = sizeof options, .controls = both, .control_count = 2};
        tr_system *system = tr_derive(model, &options, &err);
        tr_model_free(model);
        if (!system) fail_msg("%s", err.text);
        const tr_lqr *lqr = design(system, LQR(.inputs = "l1,r1", .q = "l1=3,r1=3"));
        for (size_t k = 0; k < 8; k++) {
            const double here = gain(lqr, k / 4, names[k % 4]),
                         there = gain(lqr, 1 - k / 4, names[(k % 4) ^ 1]);
            if (i == 0) first[k] = here;
            assert_close(here, there, 1e-9);
            assert_close(here, first[k], 1e-9);
        }
        free_design(lqr, system);
    }
}

// With its own law in place of the inputs the robot comes back, and does not turn round.
static void test_robot_goes_straight(void **state)
{
    (void)state;
    tr_error err = {0};
    char text[MOST_TEXT], own[2 * MOST_TEXT];
    tr_system *system = robot(NULL, "");
    const tr_lqr *lqr = design(system, LQR(.inputs = ROBOT_INPUTS, .q = ROBOT_Q));
    char *roles = tr_lqr_roles(lqr, &err);
    take_robot(text);
    put_line(text, "  chassis.x: -0.3");
    put_line(text, "  shoulder: 0.8");
    put_line(text, "  chassis.wx: 0");
    char *from = strstr(text, "roles:\n"), *to = strstr(text, "outputs:\n");
    assert_true(roles && from && to);
    *from = 0;
    snprintf(own, sizeof own, "%s%soutputs:\n  yaw: atan2(chassis.R21, chassis.R11)\n%s", text,
             roles, to + strlen("outputs:\n"));
    tr_system *held = made_of(own, "stand", "", NULL);
    Sheet *run = run_to(held, 20, 0.1);
    assert_below(largest(run, "yaw"), 1e-9); // it was 88 degrees
    assert_close(at(run, 0, "way"), -0.3, 1e-12);
    assert_below(fabs(last(run, "way")), 2e-3);
    assert_below(fabs(last(run, "shoulder") - 0.5), 2e-3);
    tr_sheet_free(run);
    tr_text_free(roles);
    free_design(lqr, system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charts_of_a_robot),
        cmocka_unit_test(test_charts_of_a_bicycle),
        cmocka_unit_test(test_speeds),
        cmocka_unit_test(test_symmetric_robot),
        cmocka_unit_test(test_mirrored_robot),
        cmocka_unit_test(test_five_bar),
        cmocka_unit_test(test_robot_goes_straight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
