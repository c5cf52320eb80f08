// SPDX-License-Identifier: Apache-2.0
// Sensitivities of whole runs against central differences of whole runs, at two distances, of which
// what remains of the third derivative cancels.
#include "runs.h"

// ---- runs ----------------------------------------------------------------------------------

typedef struct Trial {
    const char *model; // a file, or the text of one
    const char *case_name;
    double end, every;
    const char *name; // of the parameter
    double value;
    const char *method;
    bool dense, no_project;
    double step;
} Trial;

static Trial trial_of(const char *model, const char *case_name, double end, double every,
                      const char *name, double value)
{
    return (Trial){.model = model,
                   .case_name = case_name,
                   .end = end,
                   .every = every,
                   .name = name,
                   .value = value};
}

static tr_system *system_at(const Trial *trial, double value)
{
    const bool is_text = strchr(trial->model, '\n') != NULL;
    tr_model *model = is_text ? model_from(trial->model) : model_called(trial->model);
    return system_valued(model, trial->case_name, &(Number){trial->name, value}, 1);
}

static tr_simulate_options options_of(const Trial *trial, const tr_system *system)
{
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = trial->end, o.every = trial->every;
    o.dense = trial->dense, o.no_project = trial->no_project;
    o.rtol = 1e-11, o.atol = 1e-13;
    if (trial->method) o.method = trial->method, o.step = trial->step;
    return o;
}

static Sheet *run(const Trial *trial, double value, const char *sensitivity, tr_summary *summary)
{
    tr_system *system = system_at(trial, value);
    tr_simulate_options o = options_of(trial, system);
    o.sensitivity = sensitivity;
    Sheet *sheet = simulated(system, o, summary);
    tr_system_free(system);
    return sheet;
}

// ---- differences ---------------------------------------------------------------------------

// The largest difference in any column, relative to the largest of the column (or to `floor`)
static double compare(const Trial *trial, const Sheet *exact, double floor)
{
    const double h = 3e-4 * fmax(fabs(trial->value), 0.1);
    Sheet *near[4];
    double worst = 0;
    int compared = 0;
    for (int i = 0; i < 4; i++)
        near[i] = run(trial, trial->value + (i % 2 ? -1 : 1) * (i < 2 ? h : h / 2), NULL, NULL);
    for (size_t c = 1; c < near[0]->columns; c++) {
        char label[300];
        snprintf(label, sizeof label, "d(%s)/d(%s)", near[0]->names[c], trial->name);
        const double *own = tr_sheet_column(exact, label);
        if (!own) continue;
        compared++;
        const double most = fmax(floor, largest(exact, label));
        for (size_t i = 0; i < exact->rows; i++) {
            double v[4];
            for (int k = 0; k < 4; k++) v[k] = near[k]->values[c * near[k]->rows + i];
            const double wide = (v[0] - v[1]) / (2 * h), narrow = (v[2] - v[3]) / h;
            const double off = fabs((4 * narrow - wide) / 3 - own[i]) / most;
            if (!is_below(off, 1e-6))
                print_error("%s %s at row %zu: %.9g is not %.9g\n", trial->model, label, i, own[i],
                            (4 * narrow - wide) / 3);
            worst = fmax(worst, off);
        }
    }
    for (int i = 0; i < 4; i++) tr_sheet_free(near[i]);
    assert_true(compared >= 2);
    return worst;
}

static void agrees(Trial trial)
{
    Sheet *exact = run(&trial, trial.value, trial.name, NULL);
    const double worst = compare(&trial, exact, 1e-2);
    tr_sheet_free(exact);
    if (!is_below(worst, 1e-6)) fail_msg("%s, %s: off by %g", trial.model, trial.name, worst);
}

static void test_double_pendulum(void **state)
{
    (void)state;
    agrees(trial_of("double_pendulum", NULL, 2, 0.1, "l", 0.5));
    agrees(trial_of("double_pendulum", NULL, 2, 0.1, "m", 1));
    agrees(trial_of("double_pendulum", NULL, 2, 0.1, "friction", 0.01));
    agrees(trial_of("double_pendulum", NULL, 2, 0.1, "start", 0.1));
}

static void test_bicycle(void **state)
{
    (void)state;
    agrees(trial_of("bicycle", "free", 3, 0.25, "m0", 85));
    agrees(trial_of("bicycle", "free", 3, 0.25, "theta", 0.3141592653589793));
    agrees(trial_of("bicycle", "free", 3, 0.25, "speed0", 4.6));
    agrees(trial_of("bicycle", "free", 3, 0.25, "steer_torque", 0)); // an input
}

// An input that the model has a formula of parameters for follows them: the throttle, the speed.
static void test_input_that_follows(void **state)
{
    (void)state;
    agrees(trial_of("motorcycle", "kick", 0.5, 0.25, "speed0", 25));
    agrees(trial_of("motorcycle", "kick", 0.5, 0.25, "throttle", 150));
}

// Motions whose times depend on a parameter, but that have no jumps
static void test_turn(void **state)
{
    (void)state;
    agrees(trial_of("bicycle", "turn", 3, 0.25, "t2", 1));
    agrees(trial_of("bicycle", "turn", 3, 0.25, "Kps", 10));
}

// Velocities that follow from what is asked of them, and from rows that contradict each other
static void test_first_order(void **state)
{
    (void)state;
    agrees(trial_of("bicycle_one_body", "drive", 5, 0.5, "gamma", 0.1));
    agrees(trial_of("robot_differential", "drive", 3, 0.25, "swing", 0.8));
    agrees(trial_of("robot_ackermann", "log", 3, 0.25, "R", 0.3));
    agrees(trial_of("robot_ackermann", "log", 3, 0.25, "L", 2.4));
    agrees(trial_of("robot_skid_steer", "drive", 3, 0.25, "b", 0.3));
    agrees(trial_of("robot_swerve", "drive", 3, 0.25, "turning", 0.7));
}

// Where a contact touches changes with the ground, with radii, and with the start.
static void test_terrain(void **state)
{
    (void)state;
    agrees(trial_of("disc_on_waves", "roll", 2, 0.25, "A", 0.1));
    agrees(trial_of("disc_on_waves", "roll", 2, 0.25, "r", 0.3));
    agrees(trial_of("disc_on_waves", "roll", 2, 0.25, "x0", 0.2));
    agrees(trial_of("tyre_on_bump", "roll", 2, 0.25, "tube", 0.08));
    agrees(trial_of("tyre_on_bump", "roll", 2, 0.25, "u", 2));
    agrees(trial_of("ball_in_bowl", "roll", 2, 0.25, "c", 0.5));
    agrees(trial_of("ball_on_saddle", "roll", 2, 0.25, "m", 1));
    agrees(trial_of("bicycle_on_bump", "bump", 2, 0.25, "h", 0.03));
    agrees(trial_of("bicycle_on_bump", "bump", 2, 0.25, "speed0", 5));
    agrees(trial_of("car_on_hills", "bend", 1, 0.25, "A", 0.06));
    agrees(trial_of("spherical_robot", "turn", 1, 0.25, "R_i", 0.24));
}

static void test_snakeboard(void **state)
{
    (void)state;
    agrees(trial_of("snakeboard", "ride", 4, 0.25, "l", 0.2));
    agrees(trial_of("snakeboard", "ride", 4, 0.25, "w", 3)); // joints that are driven
    agrees(trial_of("snakeboard", "pushed", 4, 0.25, "mb", 0.5));
    agrees(trial_of("snakeboard_soft", "ride", 4, 0.25, "EI", 0.5)); // beams
    agrees(trial_of("snakeboard_soft", "ride", 4, 0.25, "Lb", 0.46));
}

static void test_rolling_disc(void **state)
{
    (void)state;
    agrees(trial_of("rolling_disc", "wobble", 3, 0.25, "r", 0.3));
    agrees(trial_of("rolling_disc", "wobble", 3, 0.25, "m", 2));
    agrees(trial_of("rolling_disc", "wobble", 3, 0.25, "lean0", -0.3)); // of the start alone
}

// The start is solved for: a loop that is closed, and a guess with a formula
static void test_loop(void **state)
{
    (void)state;
    agrees(trial_of("four_bar", NULL, 1.5, 0.1, "a", 0.4));
    agrees(trial_of("four_bar", NULL, 1.5, 0.1, "b", 0.9));
    static const char rope[] =
        "trundle: 1\n"
        "parameters: {l: 1, a0: 0.4, x0: 0.5}\n"
        "bodies:\n"
        "  ball: {joint: {type: free}, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
        "constraints:\n"
        "  rope: {position: ball.x^2 + ball.y^2 + ball.z^2 - l^2}\n"
        "guess: {ball.x: x0, ball.y: 0.3, ball.z: -a0, ball.vy: 0.2 + x0}\n";
    agrees(trial_of(rope, NULL, 1, 0.1, "l", 1));
    agrees(trial_of(rope, NULL, 1, 0.1, "x0", 0.5));
}

static void test_charts(void **state)
{
    (void)state;
    const Trial trial = trial_of("castor", NULL, 3, 0.25, "trail", 0.05);
    tr_summary summary = {0};
    Sheet *exact = run(&trial, trial.value, "trail", &summary);
    assert_true(summary.chart_changes >= 2);
    const double worst = compare(&trial, exact, 1e-2);
    tr_sheet_free(exact);
    assert_below(worst, 1e-6);
}

// Where velocities at the start are chosen, a vehicle rolls; with masses that depend on p.
static void test_chosen_start(void **state)
{
    (void)state;
    static const char cart[] =
        "trundle: 1\nparameters: {r: 0.3, v0: 4, m: 10}\nbodies:\n"
        "  chassis: {joint: {type: free}, mass: 20*m, com: \"0, 0, 0.2\", "
        "inertia: {xx: 20, yy: 40, zz: 40}}\n"
        "  arm: {parent: chassis, joint: {type: revolute, axis: \"0, 1, 0\", at: \"-0.2, 0, 0\", "
        "coordinate: swing, stiffness: 5000, damping: 500}, mass: m/2, "
        "inertia: {yy: 0.2, xx: 0.1, zz: 0.2}}\n"
        "  rear: {parent: arm, joint: {type: revolute, axis: \"0, 1, 0\", at: \"-0.5, 0, 0\"}, "
        "mass: m, inertia: {axial: m/20, radial: 0.3}}\n"
        "  front: {parent: chassis, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0.7, 0, 0\"}, "
        "mass: m, inertia: {axial: 0.5, radial: 0.3}}\n"
        "contacts: {r: {body: rear, radius: r, unilateral: false}, "
        "f: {body: front, radius: r, unilateral: false}}\n"
        "outputs: {roll: asin(chassis.R32), height: chassis.z}\n"
        "initial: {chassis.x: 0, chassis.y: 0, roll: 0, d(roll): 0, d(chassis.x): v0%s}\n";
    char text[2000];
    snprintf(text, sizeof text, cart, "");
    agrees(trial_of(text, NULL, 0.5, 0.1, "v0", 4));
    agrees(trial_of(text, NULL, 0.5, 0.1, "r", 0.3));
    snprintf(text, sizeof text, cart, ", d(height): 0.3"); // which takes more than rolling
    agrees(trial_of(text, NULL, 0.5, 0.1, "m", 10));
    agrees(trial_of(text, NULL, 0.5, 0.1, "r", 0.3));
}

static void test_methods(void **state)
{
    (void)state;
    static const char *const others[] = {"bdf", "rk4", "pece", "lie"};
    Trial trial = trial_of("rolling_disc", "wobble", 1, 0.25, "r", 0.3);
    for (size_t i = 0; i < 4; i++) {
        trial.method = others[i], trial.step = 1e-3;
        agrees(trial);
    }
    trial = trial_of("rolling_disc", "wobble", 2, 0.25, "r", 0.3);
    trial.dense = true;
    agrees(trial);
    trial.dense = false, trial.no_project = true;
    agrees(trial);
}

// Several at once are what they are alone, and the run itself is what it is without.
static void test_several(void **state)
{
    (void)state;
    const Trial trial = trial_of("bicycle", "free", 1, 0.25, "m0", 85);
    Sheet *both = run(&trial, 85, "theta, m0", NULL), *one = run(&trial, 85, "m0", NULL),
          *none = run(&trial, 85, NULL, NULL);
    for (size_t c = 0; c < one->columns; c++) {
        const char *name = one->names[c];
        if (strncmp(name, "residual", 8) == 0) continue;
        for (size_t i = 0; i < one->rows; i++)
            assert_close(at(one, i, name), at(both, i, name), 1e-8);
    }
    for (size_t c = 0; c < none->columns; c++) {
        const char *name = none->names[c];
        assert_string_equal(name, both->names[c]);
        if (strncmp(name, "residual", 8) == 0) continue;
        for (size_t i = 0; i < none->rows; i++)
            assert_close(at(none, i, name), at(both, i, name), 1e-8);
    }
    tr_sheet_free(both);
    tr_sheet_free(one);
    tr_sheet_free(none);
}

// One system, twice
static void test_again(void **state)
{
    (void)state;
    const Trial trial = trial_of("rolling_disc", "wobble", 0.5, 0.25, "r", 0.3);
    tr_system *system = system_at(&trial, 0.3);
    tr_simulate_options o = options_of(&trial, system);
    static const char *const names[] = {"r", "m,r", NULL, "g"};
    for (size_t i = 0; i < 4; i++) {
        tr_error err = {0};
        o.sensitivity = names[i];
        if (!tr_simulate(system, &o, NULL, &err)) fail_msg("%s", err.text);
    }
    tr_system_free(system);
}

// ---- what is not given ---------------------------------------------------------------------

static void refused(const char *model, const char *case_name, const char *names, double end,
                    tr_status status, const char *words)
{
    const Trial trial = trial_of(model, case_name, end, 0.1, "m", 1);
    tr_error err = {0};
    tr_system *system = system_at(&trial, 1);
    tr_simulate_options o = options_of(&trial, system);
    o.sensitivity = names;
    assert_false(tr_simulate(system, &o, NULL, &err));
    assert_int_equal(err.status, status);
    if (!strstr(err.text, words)) fail_msg("'%s' does not say '%s'", err.text, words);
    tr_system_free(system);
}

static const char pushed[] =
    "trundle: 1\n"
    "parameters: {m: 1, t1: 0.5, k: 3, twice: 2*k}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: m}\n"
    "roles: {x: {torque: 'if(t < t1, 1, 0)'}}\n"
    "cases:\n"
    "  jump: {end: 1}\n"
    "  wall: {roles: {x: {torque: 'if(x > 0.1, -100, 1)'}}, end: 1}\n";

static const char hopping[] =
    "trundle: 1\n"
    "parameters: {m: 1, r: 0.1}\n"
    "bodies:\n"
    "  ball: {joint: {type: free}, mass: m, inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}\n"
    "contacts:\n"
    "  foot: {kind: slide, body: ball, at: '0, 0, -0.1', unilateral: true, open: true}\n"
    "initial: {ball.z: 0.5}\n";

static void test_refused(void **state)
{
    (void)state;
    refused(pushed, "jump", "kk", 1, TR_USAGE, "did you mean 'k'?");
    refused(pushed, "jump", "twice", 1, TR_USAGE, "follows from others");
    refused(pushed, "jump", "m,m", 1, TR_USAGE, "twice");
    refused(pushed, "jump", ",", 1, TR_USAGE, "which");
    refused(pushed, "jump", "t1", 1, TR_FAILED, "jumps at t = 0.5");
    refused(pushed, "wall", "m", 1, TR_FAILED, "depends on the state");
    agrees(trial_of(pushed, "jump", 1, 0.25, "m", 1)); // the time of the jump stays the same
}

static void test_switch_refused(void **state)
{
    (void)state;
    refused(hopping, NULL, "m", 2, TR_FAILED, "do not go on from there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_pendulum),
        cmocka_unit_test(test_bicycle),
        cmocka_unit_test(test_input_that_follows),
        cmocka_unit_test(test_turn),
        cmocka_unit_test(test_snakeboard),
        cmocka_unit_test(test_rolling_disc),
        cmocka_unit_test(test_first_order),
        cmocka_unit_test(test_terrain),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_charts),
        cmocka_unit_test(test_chosen_start),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_switch_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
