// SPDX-License-Identifier: Apache-2.0
// Steady motions against closed forms, tables and simulation.
#include "linear/linear.h"
#include "motion.h"
#include "plans.h"
#include "runs.h"
#include "sim/method.h"

#include <lapacke.h>

#define G 9.81

// ---- finding them --------------------------------------------------------------------------

enum { MOST_HOLDS = 8 };

// Options from a list of holds that ends with NULL
static tr_steady_options holding(const char *free_names, const char *const *holds)
{
    tr_steady_options o = tr_steady_defaults();
    o.free = free_names, o.holds = holds;
    while (holds && holds[o.hold_count]) o.hold_count++;
    return o;
}
#define HOLD(...) ((const char *const[]){__VA_ARGS__, NULL})

static tr_steady *find(tr_system *system, const char *free_names, const char *const *holds)
{
    tr_error err = {0};
    const tr_steady_options o = holding(free_names, holds);
    tr_steady *steady = tr_steady_find(system, &o, &err);
    if (err.status) print_error("%s\n", err.text);
    assert_non_null(steady);
    return steady;
}

static void refuse(tr_system *system, const char *free_names, const char *const *holds,
                   tr_status status, const char *words)
{
    tr_error err = {0};
    const tr_steady_options o = holding(free_names, holds);
    assert_null(tr_steady_find(system, &o, &err));
    if (err.status != status || !strstr(err.text, words)) print_error("%s\n", err.text);
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.text, words));
}

static double state_of(const tr_system *system, const tr_steady *steady, const char *name)
{
    return tr_steady_state(steady)[input_index(system, name)];
}

// The number behind "name": in the JSON of a steady motion, in the group
static double number_in(const tr_steady *steady, const char *group, const char *name)
{
    char key[100];
    double value = (double)NAN;
    char *text = tr_steady_text(steady, true, NULL);
    assert_non_null(text);
    snprintf(key, sizeof key, "\"%s\":", group);
    const char *at = strstr(text, key);
    if (name) {
        snprintf(key, sizeof key, "\"%s\":", name);
        at = at ? strstr(at, key) : NULL;
    }
    if (!at) fail_msg("no %s %s", group, name ? name : "");
    value = strtod(strchr(at, ':') + 1, NULL);
    tr_text_free(text);
    return value;
}

// ---- the rolling disc ----------------------------------------------------------------------

// Of m, r, moments A about a diameter and C about the axle: lean, rate of heading W and angular
// velocity w along the axle satisfy W w cos(lean) (C + m r^2) = A W^2 sin cos - m g r sin
static double axial_rate(double lean, double W)
{
    const double m = 2, r = 0.3, A = 0.045, C = 0.09;
    return (A * W * W * cos(lean) - m * G * r) * tan(lean) / (W * (C + m * r * r));
}

static void disc_rolls_in_circles(void **state)
{
    (void)state;
    static const double leans[] = {-0.3, -0.4, -0.6, 0.25}, rates[] = {1.5, 1.2, 2, -1.5};
    tr_system *system = system_called("rolling_disc", "wobble");
    for (int i = 0; i < 4; i++) {
        char lean[40], rate[40];
        snprintf(lean, sizeof lean, "roll=%.17g", leans[i]);
        snprintf(rate, sizeof rate, "d(yaw)=%.17g", rates[i]);
        tr_steady *steady = find(system, NULL, HOLD(lean, rate));
        assert_close(number_in(steady, "outputs", "roll"), leans[i], 1e-12);
        assert_close(state_of(system, steady, "disc.wy"), axial_rate(leans[i], rates[i]), 1e-10);
        assert_close(number_in(steady, "along", "disc.turn_z"), rates[i], 1e-12);
        tr_steady_free(steady);
    }
    tr_system_free(system);
}

// The axes of the table: x up, y forward, z to the left
static void disc_agrees_with_the_table(void **state)
{
    (void)state;
    tr_error err = {0};
    Sheet *table = tr_sheet_read(REFERENCE_DIR "/disc_steady.csv", &err);
    assert_non_null(table);
    tr_system *system = system_called("rolling_disc", "wobble");
    tr_steady *steady = find(system, NULL, HOLD("roll=-0.4", "d(yaw)=1.5"));
    static const char *const names[][3] = {{"w_axial", "v", "disc.wy"},
                                           {"w_inplane", "v", "disc.wz"},
                                           {"w_roll", "v", "disc.wx"},
                                           {"yaw_rate", "along", "disc.turn_z"},
                                           {"spin_rate", "along", "disc.spin_y"},
                                           {"Fx", "lambda", "rim.normal"},
                                           {"Fy", "lambda", "rim.longitudinal"},
                                           {"Fz", "lambda", "rim.lateral"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const double *column = tr_sheet_column(table, names[i][0]);
        assert_non_null(column);
        assert_close(number_in(steady, names[i][1], names[i][2]), column[0], 1e-10);
    }
    tr_steady_free(steady);
    tr_system_free(system);
    tr_sheet_free(table);
}

// Half the sum of the squares of the eigenvalues: that of the one pair that is not zero. It is as
// accurate as the matrix, also where they all meet at zero.
static double squared_rate(double spin)
{
    double modes[8][2], sum = 0;
    const Number values[] = {{"lean0", 0}, {"yaw_rate0", 0}, {"spin0", spin}};
    tr_system *system = system_with("rolling_disc", NULL, values, 3);
    tr_steady *steady = find(system, NULL, HOLD("disc.wy", "roll"));
    assert_int_equal(tr_steady_modes(steady, NULL), 4);
    tr_steady_modes(steady, modes);
    for (int i = 0; i < 4; i++) sum += modes[i][0] * modes[i][0] - modes[i][1] * modes[i][1];
    tr_steady_free(steady);
    tr_system_free(system);
    return sum / 2;
}

// A disc that rolls straight on is stable beyond w^2 = A m g r / (C (C + m r^2))
static void disc_has_a_critical_speed(void **state)
{
    (void)state;
    const double m = 2, r = 0.3, A = 0.045, C = 0.09;
    const double critical = sqrt(A * m * G * r / (C * (C + m * r * r)));
    double slow = 1, fast = 9;
    assert_true(squared_rate(slow) > 0 && squared_rate(fast) < 0);
    while (fast - slow > 1e-13) {
        const double middle = (slow + fast) / 2;
        if (middle == slow || middle == fast) break;
        if (squared_rate(middle) > 0)
            slow = middle;
        else
            fast = middle;
    }
    assert_close(slow, critical, 1e-10);
}

// (I3 spin - I1 p cos(lean)) p = m g l
static void top_precesses(void **state)
{
    (void)state;
    tr_system *system = system_called("spinning_top", "steady");
    tr_steady *steady = find(system, NULL, HOLD("tilt=0.7", "top.wz=120"));
    const double b = 8e-5 * 120, a = 2.4e-4 * cos(0.7), c = 0.1 * G * 0.04;
    assert_close(number_in(steady, "along", "top.turn_z"), (b - sqrt(b * b - 4 * a * c)) / (2 * a),
                 1e-10);
    tr_steady_free(steady);
    tr_system_free(system);
}

// ---- the bicycle ---------------------------------------------------------------------------

// Simulates for this long from a steady motion; the inputs there
static void simulate(tr_system *system, const tr_steady *steady, double time, double *in)
{
    tr_error err = {0};
    tr_plan *plan = tr_plan_new(system, &err);
    LatchMode modes[10] = {0};
    assert_true(system->latch_count <= 10);
    tr_latch_start(system, modes);
    Flow *flow = tr_flow_from(plan, modes, tr_steady_state(steady), NULL, &err);
    assert_non_null(flow);
    Mover *mover = tr_mover_new(tr_method("erk", &err), flow, flow->start, &err);
    assert_non_null(mover);
    mover->rtol = 1e-12, mover->atol = 1e-13;
    if (!mover->method->advance(mover, time, &err)) print_error("%s\n", err.text);
    assert_int_equal(err.status, TR_OK);
    tr_flow_fill_all(flow, time, mover->y);
    memcpy(in, flow->inputs, tr_input_count(system) * sizeof *in);
    tr_mover_free(mover);
    close_flow(flow);
}

static void rides_one_lap(tr_system *system, const tr_steady *steady)
{
    static const char *const same[] = {
        "frame.x",  "frame.y",  "frame.z",  "steer",      "frame.vx",   "frame.vy", "frame.vz",
        "frame.wx", "frame.wy", "frame.wz", "steer_rate", "front_rate", "rear_rate"};
    const double *start = tr_steady_state(steady);
    const double lap = 2 * M_PI / fabs(number_in(steady, "along", "frame.turn_z"));
    double *end = calloc(tr_input_count(system), sizeof *end), turned = 0;
    simulate(system, steady, lap, end);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const size_t at = input_index(system, same[i]);
        if (!is_below(fabs(end[at] - start[at]), 1e-6)) print_error("%s: ", same[i]);
        assert_below(fabs(end[at] - start[at]), 1e-6);
    }
    const size_t q = input_index(system, "frame.qw"); // a full turn changes the quaternion's sign
    for (size_t i = 0; i < 4; i++) turned += end[q + i] * start[q + i];
    assert_close(turned, -1, 1e-12);
    for (size_t i = 0; i < 4; i++) assert_below(fabs(end[q + i] + start[q + i]), 1e-6);
    free(end);
}

// Over lean, faster and slower than where the family has its largest lean
static void bicycle_rides_circles(void **state)
{
    (void)state;
    static const double leans[] = {-0.02, -0.05, -0.1, -0.2, -0.3, -0.4, 0.1};
    tr_system *system = system_called("bicycle", "circle");
    double before = 0;
    for (size_t i = 0; i < sizeof leans / sizeof *leans; i++) {
        char lean[40];
        snprintf(lean, sizeof lean, "roll=%.17g", leans[i]);
        tr_steady *steady = find(system, NULL, HOLD(lean));
        assert_close(number_in(steady, "outputs", "roll"), leans[i], 1e-12);
        assert_below(number_in(steady, "residual", NULL), 1e-12);
        assert_true(number_in(steady, "tau", "steer") == 0);
        const double steer = state_of(system, steady, "steer");
        assert_true(leans[i] < 0 ? steer > before : steer < 0); // it leans to where it steers
        before = steer;
        rides_one_lap(system, steady);
        tr_steady_free(steady);
    }
    tr_system_free(system);
}

// The family starts where capsize does, at 6.02426201538837 m/s of straight running
static void circles_begin_at_capsize(void **state)
{
    (void)state;
    tr_system *system = system_called("bicycle", "circle");
    static const char *const leans[] = {"roll=-0.005", "roll=-0.01", "roll=-0.02"};
    double rate[3];
    for (int i = 0; i < 3; i++) {
        tr_steady *circle = find(system, NULL, HOLD(leans[i]));
        rate[i] = state_of(system, circle, "rear_rate");
        tr_steady_free(circle);
    }
    // even in the lean: without its square, and without its fourth power
    const double near = (4 * rate[0] - rate[1]) / 3, far = (4 * rate[1] - rate[2]) / 3;
    assert_close((16 * near - far) / 15 * 0.3, 6.02426201538837, 1e-7);
    tr_system_free(system);
}

// In the case of rest nothing but the guess matters: Meijaard's static loads
static void straight_running(void **state)
{
    (void)state;
    double modes[5][2];
    tr_system *system = system_set(model_called("bicycle"), "state", "speed0=5");
    tr_steady *steady = find(system, NULL, HOLD("speed"));
    assert_int_equal(tr_steady_modes(steady, modes), 5);
    assert_close(modes[1][0], -0.32286642900409, 1e-10);
    assert_close(modes[2][0], -0.775341882195845, 1e-10);
    assert_close(fabs(modes[2][1]), 4.46486771378823, 1e-10);
    assert_close(modes[4][0], -14.0783896927982, 1e-10);
    tr_steady_free(steady);
    tr_system_free(system);
}

static int by_real_part(const void *a, const void *b)
{
    const double *x = a, *y = b;
    if (fabs(x[0] - y[0]) > 1e-9) return x[0] < y[0] ? 1 : -1;
    return x[1] < y[1] ? 1 : x[1] > y[1] ? -1 : 0;
}

// Two ways to the same eigenvalues: the equations' own slopes, and the linear model in the tangent
static void modes_agree_with_the_linear_model(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("bicycle", "circle");
    tr_steady *steady = find(system, NULL, HOLD("roll=-0.25"));
    double modes[16][2], linear[16][2], parts[32], none;
    const size_t count = tr_steady_modes(steady, modes);
    const size_t inputs = tr_input_count(system); // the linear model has more, which are zero
    Lineariser *l = tr_lineariser_new(system, &err);
    assert_non_null(l);
    memcpy(tr_lineariser_inputs(l), tr_steady_state(steady), inputs * sizeof(double));
    Linear *all = tr_lineariser_take(l, &err), *reduced = tr_linear_reduced(all, 0, &err);
    assert_non_null(reduced);
    assert_int_equal(reduced->states, count);
    const lapack_int n = (lapack_int)count;
    assert_int_equal(LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, reduced->A, n, parts, parts + n,
                                   &none, 1, &none, 1),
                     0);
    for (size_t i = 0; i < count; i++) linear[i][0] = parts[i], linear[i][1] = parts[count + i];
    qsort(linear, count, sizeof *linear, by_real_part);
    qsort(modes, count, sizeof *modes, by_real_part);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) assert_close(modes[i][k], linear[i][k], 1e-9);
    tr_linear_free(all);
    tr_linear_free(reduced);
    tr_lineariser_free(l);
    tr_steady_free(steady);
    tr_system_free(system);
}

// ---- rest ----------------------------------------------------------------------------------

static const char block_text[] =
    "trundle: 1\n"
    "parameters: {m: 3, k: 200, slope: 0.4}\n"
    "ground: {turn: \"0, slope, 0\"}\n"
    "bodies:\n"
    "  block:\n"
    "    joint:\n"
    "      type: free\n"
    "      potential: k/2*((block.x*cos(slope) - block.z*sin(slope))^2 + block.y^2)\n"
    "    mass: m\n"
    "    inertia: {xx: 0.02, yy: 0.03, zz: 0.04}\n"
    "contacts:\n"
    "  a: {kind: slide, body: block, at: \"0.2, 0, -0.1\"}\n"
    "  b: {kind: slide, body: block, at: \"-0.1, 0.15, -0.1\"}\n"
    "  c: {kind: slide, body: block, at: \"-0.1, -0.15, -0.1\"}\n"
    "initial: {block.y: 0.02}\n"
    "guess: {block.z: 0.1, block.qy: 0.2, block.qw: 1}\n";

// A block on three smooth feet, held by a spring: k d = m g sin(slope). It may spin on the spot.
static void block_rests_on_a_slope(void **state)
{
    (void)state;
    tr_system *system = system_from(block_text);
    refuse(system, NULL, NULL, TR_FAILED, "1 more unknown than equations: hold 1 more");
    tr_steady *steady = find(system, NULL, HOLD("block.wz=0"));
    const double x = state_of(system, steady, "block.x"), z = state_of(system, steady, "block.z");
    assert_close(x * cos(0.4) - z * sin(0.4), 3 * G * sin(0.4) / 200, 1e-11);
    assert_close(x * sin(0.4) + z * cos(0.4), 0.1, 1e-12);
    assert_close(state_of(system, steady, "block.y"), 0, 1e-12);
    double load = 0;
    for (const char *foot = "abc"; *foot; foot++) {
        const char name[] = {*foot, '.', 'n', 'o', 'r', 'm', 'a', 'l', 0};
        load += number_in(steady, "lambda", name);
    }
    assert_close(load, 3 * G * cos(0.4), 1e-11);
    tr_steady_free(steady);
    tr_system_free(system);
}

// Twice the half angle a is the knee's, and height = 2 l cos a: the work of the knee is that of all
// weights, tau d(2 a) = g sin a (2 m + 3/2 m_t + 1/2 m_s) l da
static void leg_holds_a_height(void **state)
{
    (void)state;
    static const double heights[] = {0.3, 0.45, 0.55};
    tr_system *system = system_called("leg", NULL);
    for (int i = 0; i < 3; i++) {
        char height[40];
        snprintf(height, sizeof height, "height=%.17g", heights[i]);
        tr_steady *steady = find(system, "lift", HOLD(height));
        const double a = acos(heights[i] / 0.6);
        const double torque = G * sin(a) * (2 * 8 + 1.5 * 1.5 + 0.5 * 0.9) * 0.3 / 2;
        assert_close(state_of(system, steady, "knee"), 2 * a, 1e-11);
        assert_close(state_of(system, steady, "hip"), -a, 1e-11);
        assert_close(fabs(state_of(system, steady, "lift")), torque, 1e-11);
        assert_close(number_in(steady, "tau", "knee"), state_of(system, steady, "lift"), 1e-12);
        tr_steady_free(steady);
    }
    tr_system_free(system);
}

// A parameter of the geometry may be free: how long must the links be for a given knee?
static void geometry_may_be_free(void **state)
{
    (void)state;
    tr_system *system = system_called("leg", NULL);
    tr_steady *steady = find(system, "lift, l", HOLD("height=0.5", "knee=1"));
    assert_close(state_of(system, steady, "l"), 0.25 / cos(0.5), 1e-11);
    tr_steady_free(steady);
    tr_system_free(system);
}

// The state as a piece of a model file: with it, the model starts there and stays.
static void fragments_start_models(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("bicycle", "circle");
    tr_steady *steady = find(system, NULL, HOLD("roll=-0.15"));
    char *fragment = tr_steady_fragment(steady, &err);
    assert_non_null(fragment);
    FILE *file = fopen(MODELS_DIR "/bicycle.yaml", "r");
    assert_non_null(file);
    char line[2000], *text = calloc(1, 100000);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "initial:", 8) != 0) strcat(text, line);
    fclose(file);
    strcat(text, fragment);
    tr_system *again = system_from(text);
    double in[200];
    assert_true(tr_input_count(again) <= 200);
    assert_true(initial_of(again, in, &err));
    for (size_t i = 0; i < tr_input_count(again); i++)
        if (tr_input_kind(again, i) == TR_POSITION || tr_input_kind(again, i) == TR_VELOCITY)
            assert_close(in[i], state_of(system, steady, tr_input_name(again, i)), 1e-12);
    char *values = tr_eval_text(again, false, &err);
    assert_non_null(values);
    const char *at = strstr(values, "vdot     steer_rate");
    assert_non_null(at);
    assert_below(fabs(strtod(at + 20, NULL)), 1e-11);
    tr_text_free(values);
    tr_system_free(again);
    free(text);
    tr_text_free(fragment);
    tr_steady_free(steady);
    tr_system_free(system);
}

// ---- in the plane --------------------------------------------------------------------------

// A wheel that is turned by hand rolls in a circle: 6 kg at 0.5 m/s and 1 rad/s take 3 N.
static double told(const char *fragment, const char *key)
{
    const char *at = strstr(fragment, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

// A hull that hangs by a hook on a spring: the hook stands above its mass centre, its heading is
// free. The start speaks of how it is turned, and of a frame, which the system has no names for.
static void starts_may_speak_of_attitudes_and_frames(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(
        "trundle: 1\n"
        "parameters: {k: 50, c: 5}\n"
        "bodies: {hull: {joint: {type: free}, mass: 2, inertia: {xx: 0.1, yy: 0.2, zz: 0.3}}}\n"
        "frames: {hook: {body: hull, at: \"0.3, 0, 0.4\"}}\n"
        "forces: {spring: {body: hook, force: \"-k*hook.x - c*d(hook.x), -k*hook.y - c*d(hook.y), "
        "k*(2 - hook.z) - c*d(hook.z)\"}}\n"
        "initial: {hull.yaw: 0.1, hull.pitch: -0.5, hull.roll: 0, hook.x: 0.1, hook.y: 0,\n"
        "  hook.z + 1: 2.5, d(hook.z): 0.1, hull.wx: 0, hull.wy: 0, hull.wz: 0}\n");
    tr_steady *steady = find(system, NULL, HOLD("hull.yaw=0.2", "d(hull.yaw)=0"));
    char *fragment = tr_steady_fragment(steady, &err);
    assert_non_null(fragment);
    assert_close(told(fragment, "hull.yaw: "), 0.2, 1e-12);
    assert_close(told(fragment, "hull.pitch: "), -atan(0.75), 1e-12);
    assert_close(told(fragment, "hull.roll: "), 0, 1e-12);
    assert_close(told(fragment, "hook.x: "), 0, 1e-12);
    assert_close(told(fragment, "hook.z + 1: "), 3 - 2 * G / 50, 1e-12);
    assert_close(told(fragment, "d(hook.z): "), 0, 1e-12);
    tr_text_free(fragment);
    tr_steady_free(steady);
    refuse(system, NULL, HOLD("hull.yaww=0.2"), TR_USAGE, "did you mean 'hull.yaw'?");
    tr_system_free(system);
}

static void unicycle_rolls_in_circles(void **state)
{
    (void)state;
    tr_system *system = system_called("unicycle", "circle");
    tr_steady *steady = find(system, NULL, HOLD("d(roll)=5", "body.wz=1"));
    assert_close(state_of(system, steady, "body.vx"), 0.5, 1e-12);
    assert_close(number_in(steady, "along", "body.turn_z"), 1, 1e-12);
    assert_close(number_in(steady, "lambda", "ground.lateral"), 3, 1e-12);
    tr_steady_free(steady);
    tr_system_free(system);
}

// Chaplygin's sleigh goes straight: w' = -m a v/(J + m a^2) w; whichever speeds it is described by
static void sleigh_goes_straight(void **state)
{
    (void)state;
    const double m = 2, J = 0.3, a = 0.25, v = 0.5;
    for (int by_tip = 0; by_tip < 2; by_tip++) {
        double modes[4][2];
        tr_model *model = model_called("sleigh");
        change(model, "outputs/tip", "sleigh.vx + 0.3*sleigh.wz");
        if (by_tip) change(model, "independent", "tip, sleigh.wz");
        tr_system *system = system_set(model, "spin", "turn0=0");
        tr_steady *steady = find(system, NULL, HOLD("tip=0.5"));
        assert_int_equal(tr_steady_modes(steady, modes), 2);
        assert_close(modes[0][0], 0, 1e-12);
        assert_close(modes[1][0], -m * a * v / (J + m * a * a), 1e-12);
        assert_close(number_in(steady, "along", "sleigh.x"), v, 1e-12);
        tr_steady_free(steady);
        tr_system_free(system);
    }
}

// It would leave the floor; that it was not asked to is said.
static void warns_of_contacts_that_pull(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system =
        system_from("trundle: 1\n"
                    "bodies:\n"
                    "  cart: {joint: {type: prismatic, axis: '1, 0, 0'}, mass: 1}\n"
                    "  block: {parent: cart, joint: {type: prismatic, axis: '0, 0, 1'}, mass: 2}\n"
                    "contacts: {foot: {kind: slide, body: block, unilateral: false}}\n"
                    "forces: {pull: {body: block, force: '0, 0, 30'}}\n");
    tr_steady *steady = find(system, NULL, HOLD("cart_rate=1"));
    assert_close(number_in(steady, "lambda", "foot.normal"), 2 * G - 30, 1e-12);
    for (int json = 0; json < 2; json++) {
        char *text = tr_steady_text(steady, json, &err);
        assert_non_null(text);
        assert_non_null(strstr(text, "the normal force of 'foot' turns negative"));
        tr_text_free(text);
    }
    tr_steady_free(steady);
    tr_system_free(system);
}

// ---- families ------------------------------------------------------------------------------

static Sheet *sweep(tr_system *system, const char *free_names, const char *what,
                    tr_family_summary *summary)
{
    tr_error err = {0};
    tr_steady_options o = holding(free_names, NULL);
    o.sweep = what, o.output = in_folder("family.csv");
    if (!tr_steady_sweep(system, &o, summary, &err)) print_error("%s\n", err.text);
    assert_int_equal(err.status, TR_OK);
    Sheet *sheet = read_sheet(o.output);
    assert_int_equal(sheet->rows, summary->rows);
    return sheet;
}

static const char truss_text[] = "trundle: 1\n"
                                 "parameters: {k: 400, b: 0.6, L: 1, m: 2}\n"
                                 "inputs: {P: 0}\n"
                                 "gravity: 0, 0, 0\n"
                                 "bodies:\n"
                                 "  head:\n"
                                 "    joint:\n"
                                 "      type: prismatic\n"
                                 "      axis: 0, 0, 1\n"
                                 "      coordinate: y\n"
                                 "      damping: 1\n"
                                 "      potential: k/2*(sqrt(y^2 + b^2) - L)^2\n"
                                 "    mass: m\n"
                                 "roles:\n"
                                 "  y: {torque: P}\n"
                                 "initial: {y: 1}\n";

// A spring between a wall and a head on a rail: P = k y (1 - L/s), s^2 = y^2 + b^2. The family
// turns back where s^3 = L b^2, and snaps from one side to the other.
static void truss_snaps_through(void **state)
{
    (void)state;
    tr_family_summary summary;
    tr_system *system = system_from(truss_text);
    Sheet *sheet = sweep(system, NULL, "P=80:-80:5", &summary);
    const double s = cbrt(0.36), y = sqrt(s * s - 0.36), P = 400 * y * (1 - 1 / s);
    assert_int_equal(summary.folds, 2);
    assert_close(summary.fold[0], P, 1e-8);
    assert_close(summary.fold[1], -P, 1e-8);
    assert_true(P < 0);
    size_t folds = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        const double head = at(sheet, i, "y"), length = sqrt(head * head + 0.36);
        const bool fold = at(sheet, i, "fold") == 1;
        assert_close(at(sheet, i, "value"), 400 * head * (1 - 1 / length), 1e-10);
        folds += fold;
        if (!fold) // stable but in between
            assert_true((at(sheet, i, "stability") < 0) == (folds != 1));
    }
    assert_int_equal(folds, 2);
    assert_close(last(sheet, "value"), -80, 1e-12);
    assert_true(last(sheet, "y") < -0.8);
    tr_sheet_free(sheet);
    tr_system_free(system);
}

static bool look(void *owner, double value, double to)
{
    size_t *left = owner;
    assert_true(fabs(value) <= 90 && to == -80);
    return *left && (*left)--;
}

// Who is told may stop it anywhere: the rows so far are those of the whole family.
static void truss_is_stopped(void **state)
{
    (void)state;
    tr_family_summary summary, part;
    tr_system *system = system_from(truss_text);
    Sheet *whole = sweep(system, NULL, "P=80:-80:5", &summary);
    tr_steady_options o = tr_steady_defaults();
    o.sweep = "P=80:-80:5", o.progress = look;
    bool has_ended = false;
    for (size_t most = 0; !has_ended; most += 5) {
        tr_error err = {0};
        size_t left = most;
        const bool as_json = most % 2;
        o.output = in_folder(as_json ? "part.json" : "part.csv"), o.owner = &left;
        has_ended = tr_steady_sweep(system, &o, &part, &err);
        assert_int_equal(err.status, TR_OK);
        assert_true(has_ended ? part.rows == summary.rows : part.rows >= 1 && left == 0);
        if (as_json && !has_ended) assert_true(file_holds(o.output, "\"complete\": false"));
        if (as_json) continue;
        Sheet *rows = read_sheet(o.output);
        assert_int_equal(rows->rows, part.rows);
        for (size_t i = 0; i < rows->rows; i++) assert_true(at(rows, i, "y") == at(whole, i, "y"));
        tr_sheet_free(rows);
    }
    tr_sheet_free(whole);
    tr_system_free(system);
}

static const char hoop_text[] =
    "trundle: 1\n"
    "parameters: {R: 0.5, m: 0.2, W: 8, g: 9.81}\n"
    "gravity: 0, 0, -g\n"
    "bodies:\n"
    "  hoop: {joint: {type: revolute, axis: \"0, 0, 1\", coordinate: turn}, mass: 1}\n"
    "  bead:\n"
    "    parent: hoop\n"
    "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a, damping: 0.01}\n"
    "    mass: m\n"
    "    com: 0, 0, -R\n"
    "roles:\n"
    "  turn: {motion: W*t}\n"
    "initial: {a: 1.2}\n";

// A bead on a hoop that turns at the rate W: cos(a) = g/(R W^2), down to W^2 = g/R, where both
// sides meet
static void bead_leaves_the_bottom(void **state)
{
    (void)state;
    tr_family_summary summary;
    tr_system *system = system_from(hoop_text);
    tr_steady *steady = find(system, NULL, NULL);
    assert_close(cos(state_of(system, steady, "a")), G / (0.5 * 64), 1e-12);
    assert_close(number_in(steady, "v", "turn_rate"), 8, 1e-15);
    tr_steady_free(steady);
    Sheet *sheet = sweep(system, NULL, "W=8:3:0.25", &summary);
    assert_int_equal(summary.folds, 1);
    assert_close(summary.fold[0], sqrt(G / 0.5), 1e-8);
    for (size_t i = 0; i < sheet->rows; i++) {
        const double W = at(sheet, i, "value"), a = at(sheet, i, "a");
        assert_close(cos(a) * 0.5 * W * W, G, 1e-9);
    }
    assert_close(last(sheet, "value"), 8, 1e-12); // up again on the other side
    assert_true(last(sheet, "a") < -1.2);
    tr_sheet_free(sheet);
    tr_system_free(system);
}

static void bicycle_family_turns_back(void **state)
{
    (void)state;
    tr_family_summary summary;
    tr_system *system = system_called("bicycle", "circle");
    Sheet *sheet = sweep(system, NULL, "roll=-0.1:-0.5:0.01", &summary);
    assert_int_equal(summary.folds, 1);
    double deepest = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        assert_close(at(sheet, i, "roll"), at(sheet, i, "value"), 1e-10);
        assert_below(at(sheet, i, "residual"), 1e-11);
        deepest = fmin(deepest, at(sheet, i, "roll"));
    }
    assert_close(deepest, summary.fold[0], 1e-12);
    // Beside the fold there is one motion on either side of it, and none beyond.
    char hold[40];
    snprintf(hold, sizeof hold, "roll=%.17g", summary.fold[0] - 1e-4);
    refuse(system, NULL, HOLD(hold), TR_FAILED, "no steady motion near the guess");
    tr_sheet_free(sheet);
    tr_system_free(system);
}

// What is free follows along a family.
static void leg_squats(void **state)
{
    (void)state;
    tr_family_summary summary;
    tr_system *system = system_called("leg", NULL);
    Sheet *sheet = sweep(system, "lift", "height=0.2:0.55:0.05", &summary);
    assert_int_equal(summary.rows, 8);
    for (size_t i = 0; i < sheet->rows; i++) {
        const double a = acos(at(sheet, i, "height") / 0.6);
        assert_close(at(sheet, i, "value"), 0.2 + 0.05 * (double)i, 1e-14);
        assert_close(fabs(at(sheet, i, "lift")),
                     G * sin(a) * (2 * 8 + 1.5 * 1.5 + 0.5 * 0.9) * 0.3 / 2, 1e-10);
    }
    tr_sheet_free(sheet);
    tr_system_free(system);
}

// ---- what cannot be ------------------------------------------------------------------------

static void says_what_is_wrong(void **state)
{
    (void)state;
    tr_system *bicycle = system_called("bicycle", "state");
    refuse(bicycle, NULL, HOLD("sped=3"), TR_USAGE, "did you mean 'speed'");
    refuse(bicycle, NULL, HOLD("speed="), TR_USAGE, "--hold");
    refuse(bicycle, "steer_torqe", NULL, TR_USAGE, "did you mean 'steer_torque'");
    refuse(bicycle, "steer", NULL, TR_USAGE, "part of the state");
    refuse(bicycle, "hinge", NULL, TR_USAGE, "follows from others");
    refuse(bicycle, "m0,m0", NULL, TR_USAGE, "free twice");
    refuse(bicycle, NULL, HOLD("speed=3", "speed=4"), TR_FAILED, "'speed' is off by 0.5");
    refuse(bicycle, NULL, NULL, TR_FAILED, "1 more unknown than equations: hold 1 more");
    refuse(bicycle, "steer_torque", HOLD("speed"), TR_FAILED, "1 more unknown than equations");
    refuse(bicycle, "speed0", HOLD("speed"), TR_FAILED, "'speed0' has no influence");
    tr_system_free(bicycle);
    tr_system *ball = system_called("ball_on_slope", NULL);
    refuse(ball, NULL, NULL, TR_FAILED, "'ball.wy' still accelerates by 20.7");
    tr_system_free(ball);
    tr_system *cart = system_called("rail_cart", NULL);
    refuse(cart, NULL, NULL, TR_FAILED, "changes with time alone");
    tr_system_free(cart);
    // the leg is not that long
    tr_system *leg = system_set(model_called("leg"), NULL, "height0=0.7");
    refuse(leg, "lift", HOLD("height"), TR_INVALID, "cannot all hold");
    tr_system_free(leg);
}

static void says_what_is_wrong_with_sweeps(void **state)
{
    (void)state;
    static const struct {
        const char *free, *sweep;
        tr_status status;
        const char *words;
    } cases[] = {
        {NULL, "roll", TR_USAGE, "formula=from:to:step"},
        {NULL, "roll=0:1", TR_USAGE, "three numbers"},
        {NULL, "roll=0:1:0", TR_USAGE, "three numbers"},
        {NULL, "roll=0:1:1e-9", TR_USAGE, "more than"},
        {NULL, "rol=0:1:0.1", TR_USAGE, "did you mean 'roll'"},
        {"m0", "m0=80:90:1", TR_USAGE, "both free and swept"},
        {NULL, "speed0=1:2:0.1", TR_FAILED, "'speed0' has no influence"},
        {NULL, "roll=0:0.1:0.01", TR_FAILED, "1 more unknown than equations at roll = 0"},
        {NULL, NULL, TR_USAGE, "nothing is swept"},
    };
    tr_system *system = system_called("bicycle", "circle");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_error err = {0};
        tr_steady_options o = holding(cases[i].free, NULL);
        o.sweep = cases[i].sweep, o.output = "/dev/null";
        assert_false(tr_steady_sweep(system, &o, NULL, &err));
        if (!strstr(err.text, cases[i].words)) print_error("%s\n", err.text);
        assert_int_equal(err.status, cases[i].status);
        assert_non_null(strstr(err.text, cases[i].words));
    }
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disc_rolls_in_circles),
        cmocka_unit_test(disc_agrees_with_the_table),
        cmocka_unit_test(disc_has_a_critical_speed),
        cmocka_unit_test(top_precesses),
        cmocka_unit_test(bicycle_rides_circles),
        cmocka_unit_test(circles_begin_at_capsize),
        cmocka_unit_test(straight_running),
        cmocka_unit_test(modes_agree_with_the_linear_model),
        cmocka_unit_test(block_rests_on_a_slope),
        cmocka_unit_test(leg_holds_a_height),
        cmocka_unit_test(geometry_may_be_free),
        cmocka_unit_test(fragments_start_models),
        cmocka_unit_test(starts_may_speak_of_attitudes_and_frames),
        cmocka_unit_test(unicycle_rolls_in_circles),
        cmocka_unit_test(sleigh_goes_straight),
        cmocka_unit_test(warns_of_contacts_that_pull),
        cmocka_unit_test(truss_snaps_through),
        cmocka_unit_test(truss_is_stopped),
        cmocka_unit_test(bead_leaves_the_bottom),
        cmocka_unit_test(bicycle_family_turns_back),
        cmocka_unit_test(leg_squats),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(says_what_is_wrong_with_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
