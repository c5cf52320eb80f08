// SPDX-License-Identifier: Apache-2.0
// Seven rovers that settle: along their paths against runs without masses, what their wheels bear
// against their weight, and the friction that rollers need.
#include "rovers.h"

typedef struct Settled {
    tr_system *system;
    tr_plan *plan;
    tr_settle *settle;
    double columns[200];
} Settled;

static Settled settle_of(tr_model *model, const char *body, const char *way)
{
    char text[3][40];
    const char *holds[3];
    for (int k = 0; k < 3; k++) {
        static const char *const parts[] = {"x", "y", "yaw"};
        snprintf(text[k], sizeof text[k], "%s.%s", body, parts[k]);
        holds[k] = text[k];
    }
    tr_settle_options o = tr_settle_defaults();
    tr_error err = {0};
    o.by = way, o.holds = holds, o.hold_count = 3;
    Settled s = {.system = system_of(model, NULL)};
    s.plan = tr_plan_new(s.system, &err);
    s.settle = tr_settle_new(s.plan, &o, &err);
    if (!s.settle) fail_msg("%s", err.text);
    assert_true(tr_settle_column_count(s.settle) <= 200);
    return s;
}

static void forget(Settled *s)
{
    tr_settle_free(s->settle);
    tr_plan_free(s->plan);
    tr_system_free(s->system);
}

static double told(const Settled *s, const char *name)
{
    for (size_t i = 0; i < tr_settle_column_count(s->settle); i++)
        if (strcmp(tr_settle_column_name(s->settle, i), name) == 0) return s->columns[i];
    fail_msg("there is no column %s", name);
    return (double)NAN;
}

static double told_of(const Settled *s, const char *format, const char *contact)
{
    char name[100];
    snprintf(name, sizeof name, format, contact);
    return told(s, name);
}

// ---- along paths ---------------------------------------------------------------------------

// What moves of the suspension, by rover
static const char *const joints[ROVERS][5] = {
    {"left_rocker", "right_rocker", "left_bogie", "right_bogie"},
    {"left_rocker", "right_rocker"},
    {"left_bogie", "right_bogie", "crank", "fork"},
    {"swing"},
    {"swing"},
    {0},
    {"swing"}};
static const char *const steered[ROVERS][4] = {
    [2] = {"front", "rear"}, [4] = {"front_left", "front_right", "rear_left", "rear_right"}};

// The path without steering: settling has the joints of the first case.
static Sheet *path_of(const Rover *rover, const char *const *steers)
{
    tr_model *model = model_of(rover);
    for (int k = 0; k < 4; k++) {
        char path[90];
        if (!steers[k]) continue;
        snprintf(path, sizeof path, "cases/path/roles/%s_steer/motion", steers[k]);
        change(model, path, "0");
    }
    char formula[60];
    snprintf(formula, sizeof formula, "%s.yaw", rover->body);
    change(model, "outputs/turned", formula);
    tr_system *system = system_of(model, "path");
    Sheet *run = simulated(system, tr_simulate_defaults(system), NULL);
    tr_system_free(system);
    return run;
}

static double pose_off(const Rover *rover, const char *const *moves, const Sheet *run, size_t row,
                       const Settled *s)
{
    char z[30];
    snprintf(z, sizeof z, "%s.z", rover->body);
    double worst = fabs(told(s, z) - at(run, row, z));
    for (int k = 0; k < 5 && moves[k]; k++)
        worst = fmax(worst, fabs(told(s, moves[k]) - at(run, row, moves[k])));
    for (int k = 0; k < wheels_of(rover); k++) {
        char x[60];
        snprintf(x, sizeof x, "contact.%s.x", rover->wheels[k]);
        worst = fmax(worst, fabs(told(s, x) - at(run, row, x)));
    }
    return worst;
}

static const double masses[ROVERS] = {8.1 + 2 * 0.4 + 2 * 0.25 + 6 * 0.35,
                                      190 + 2 * 20 + 4 * 12,
                                      1.8 + 2 * 0.12 + 0.05 + 0.1 + 2 * 0.04 + 6 * 0.13,
                                      42 + 4 + 4 * 2.637,
                                      60 + 5 + 4 * 1.5 + 4 * 3,
                                      6 + 3 * 0.3,
                                      18 + 1 + 4 * 0.8};

// n = (-f_x, -f_y, 1) / w, and nothing but normals bears the weight
static double weight_off(const Rover *rover, double mass, const Settled *s)
{
    double sum = 0;
    const double h = 1e-6;
    for (int k = 0; k < wheels_of(rover); k++) {
        const double x = told_of(s, "contact.%s.x", rover->wheels[k]),
                     y = told_of(s, "contact.%s.y", rover->wheels[k]);
        const double fx = (height(rover, x + h, y) - height(rover, x - h, y)) / (2 * h),
                     fy = (height(rover, x, y + h) - height(rover, x, y - h)) / (2 * h);
        const double N = told_of(s, "lambda.%s.normal", rover->wheels[k]);
        assert_true(N > 0);
        sum += N / sqrt(1 + fx * fx + fy * fy);
    }
    return fabs(sum / (mass * g) - 1);
}

static void test_paths(void **state)
{
    (void)state;
    static const char *const ways[] = {"contact", "residual", "energy"};
    for (int i = 0; i < ROVERS; i++) {
        const Rover *rover = &rovers[i];
        Sheet *run = path_of(rover, steered[i]);
        double off[3] = {0}, weight = 0, tip = (double)INFINITY, needed = 0;
        for (int way = 0; way < 3; way++) {
            Settled s = settle_of(model_of(rover), rover->body, ways[way]);
            for (size_t row = 0; row < run->rows; row += 5) {
                char x[30], y[30];
                tr_error err = {0};
                snprintf(x, sizeof x, "%s.x", rover->body),
                    snprintf(y, sizeof y, "%s.y", rover->body);
                const double held[] = {at(run, row, x), at(run, row, y), at(run, row, "turned")};
                if (!tr_settle_pose(s.settle, held, s.columns, &err)) fail_msg("%s", err.text);
                off[way] = fmax(off[way], pose_off(rover, joints[i], run, row, &s));
                if (way < 2) continue;
                weight = fmax(weight, weight_off(rover, masses[i], &s));
                tip = fmin(tip, told(&s, "tip_margin"));
                needed = fmax(needed, told_of(&s, "contact.%s.friction_needed", rover->wheels[0]));
            }
            forget(&s);
        }
        print_message(
            "%-18s contact %.1e, residual %.1e, energy %.1e; weight %.1e, tip margin %.3f m, "
            "friction %.2f\n",
            rover->name, off[0], off[1], off[2], weight, tip, needed);
        for (int way = 0; way < 3; way++) assert_below(off[way], 1e-9);
        assert_below(weight, 1e-9);
        assert_true(tip > 0 && needed > 0 && needed < 1);
        tr_sheet_free(run);
    }
}

// ---- rollers -------------------------------------------------------------------------------

// A plate on four wheels, with all its mass at the height of the ground, so that all bear the same
static const char plate[] =
    "trundle: 1\n"
    "parameters: {r: 0.1, a: 0.3, b: 0.2, steep: 0.2, mu: 0}\n"
    "ground: {turn: \"0, -steep, 0\"}\n"
    "bodies:\n"
    "  body: {joint: {type: free}, mass: 5, com: \"0, 0, -r\", inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "  w1: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"a, b, 0\"}}\n"
    "  w2: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"a, -b, 0\"}}\n"
    "  w3: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"-a, b, 0\"}}\n"
    "  w4: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"-a, -b, 0\"}}\n"
    "contacts:\n"
    "  c1: {body: w1, radius: r, roller: -mu}\n"
    "  c2: {body: w2, radius: r, roller: mu}\n"
    "  c3: {body: w3, radius: r, roller: mu}\n"
    "  c4: {body: w4, radius: r, roller: -mu}\n"
    "guess: {body.z: 0.1}\n";

// Along the slope each of four rollers gives F cos(mu) for a force F along its axis.
static void test_rollers(void **state)
{
    (void)state;
    static const double angles[] = {0.2, 0.4, 0.7853981633974483};
    for (int i = 0; i < 3; i++) {
        tr_model *model = model_from(plate);
        tr_error err = {0};
        change_number(model, "parameters/mu", angles[i]);
        Settled s = settle_of(model, "body", "energy");
        const double held[] = {0.3, 0.1, 0};
        if (!tr_settle_pose(s.settle, held, s.columns, &err)) fail_msg("%s", err.text);
        for (int k = 1; k <= 4; k++) {
            char name[60];
            snprintf(name, sizeof name, "contact.c%d.friction_needed", k);
            assert_close(told(&s, name), tan(0.2) / cos(angles[i]), 1e-9);
        }
        forget(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths),
                                       cmocka_unit_test(test_rollers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
