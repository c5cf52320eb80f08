// SPDX-License-Identifier: Apache-2.0
// Runs of first order: velocities from roles, rows and commands. Against odometry by closed forms
// and by least squares (tests/reference/README.md), against runs of second order whose wheels are
// replayed, and against Kelly's algorithm 4.1.
#include "runs.h"

#define TERRAIN REFERENCE_DIR "/terrain"

static const char *const all_methods[] = {"erk", "bdf", "rk4", "pece", "lie", "euler"};

static tr_system *system_in(tr_model *model, const char *case_name, size_t order)
{
    tr_derive_options o = tr_derive_defaults();
    o.case_name = case_name, o.order = order;
    return derived(model, &o);
}

// ---- logs ----------------------------------------------------------------------------------

typedef struct Log {
    const char *name;
    const char *columns[7][2]; // theirs, ours
} Log;

static const Log logs[] = {
    {"odo_differential", {{"x", "body.x"}, {"y", "body.y"}, {"theta", "body.theta"}}},
    {"odo_tricycle", {{"x", "body.x"}, {"y", "body.y"}, {"theta", "body.theta"}}},
    {"odo_ackermann", {{"x", "body.x"}, {"y", "body.y"}, {"theta", "body.theta"}}},
    {"odo_ackermann_noisy",
     {{"x", "body.x"},
      {"y", "body.y"},
      {"theta", "body.theta"},
      {"vx", "body.vx"},
      {"vy", "body.vy"},
      {"wz", "body.wz"},
      {"residual", "residual.commands"}}},
    {"odo_plane",
     {{"x", "body.x"},
      {"y", "body.y"},
      {"z", "body.z"},
      {"roll", "roll"},
      {"pitch", "pitch"},
      {"yaw", "yaw"}}},
    {"odo_cylinder",
     {{"x", "body.x"},
      {"y", "body.y"},
      {"z", "body.z"},
      {"roll", "roll"},
      {"pitch", "pitch"},
      {"yaw", "yaw"}}},
};
enum { LOGS = sizeof logs / sizeof *logs };

static double log_off(const Log *log, const Sheet *run)
{
    char path[600];
    double worst = 0;
    snprintf(path, sizeof path, TERRAIN "/%s.csv", log->name);
    Sheet *reference = read_sheet(path);
    for (int k = 0; k < 7 && log->columns[k][0]; k++)
        worst = fmax(worst, difference(reference, log->columns[k][0], run, log->columns[k][1]));
    tr_sheet_free(reference);
    return worst;
}

static void test_references(void **state)
{
    (void)state;
    for (int i = 0; i < LOGS; i++) {
        tr_summary s = {0};
        Sheet *run = run_with(system_of(model_in(TERRAIN, logs[i].name), NULL), 0, 0, &s);
        const double worst = log_off(&logs[i], run);
        print_message("%-20s %.1e, %zu steps\n", logs[i].name, worst, s.steps);
        assert_below(worst, 1e-10);
        assert_below(s.position_error, 1e-12);
        assert_below(s.kkt_error, 1e-12);
        tr_sheet_free(run);
    }
}

// Each residual by its row: what the tyre slips, by the reference's own velocities
static void test_residuals(void **state)
{
    (void)state;
    Sheet *log = read_sheet(TERRAIN "/odo_ackermann_noisy.csv");
    Sheet *run = run_with(system_of(model_in(TERRAIN, "odo_ackermann_noisy"), NULL), 0, 0, NULL);
    const double L = 2.724886862412345, b = 1.3854748877722192 / 2, R = 0.31;
    static const char *const wheels[] = {"rear_left", "rear_right", "front_left", "front_right"};
    const double weights[] = {1, 4, 1, 0.25};
    for (size_t i = 0; i < log->rows; i++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            char name[60];
            const double x = k < 2 ? 0 : L, y = k % 2 ? -b : b;
            const char *const steers[] = {"steer_left", "steer_right"};
            const double steer = k < 2 ? 0 : at(log, i, steers[k % 2]);
            const double u = at(log, i, "vx") - y * at(log, i, "wz"),
                         v = at(log, i, "vy") + x * at(log, i, "wz");
            snprintf(name, sizeof name, "%s_rate", wheels[k]);
            const double along = cos(steer) * u + sin(steer) * v - R * at(log, i, name),
                         across = cos(steer) * v - sin(steer) * u;
            snprintf(name, sizeof name, "residual.%s.longitudinal", wheels[k]);
            assert_close(fabs(at(run, i, name)), fabs(along), 1e-10);
            snprintf(name, sizeof name, "residual.%s.lateral", wheels[k]);
            assert_close(fabs(at(run, i, name)), fabs(across), 1e-10);
            sum += weights[k] * (along * along + across * across);
        }
        assert_close(at(run, i, "residual.commands"), sqrt(sum), 1e-10);
    }
    tr_sheet_free(log);
    tr_sheet_free(run);
}

// psi' = cos(phi)/cos(theta) omega_z, as printed, is right on planes, and 0.15 m off on the
// cylinder; with the term in omega_y it is right on both.                               [K 4.3.4,
// corrected]
static void test_path_integrals(void **state)
{
    (void)state;
    for (int curved = 0; curved < 2; curved++) {
        tr_model *model = model_in(TERRAIN, curved ? "odo_cylinder" : "odo_plane");
        Sheet *run = run_with(system_of(model, NULL), 0, 0, NULL);
        double printed = 0, corrected = 0;
        for (size_t i = 0; i < run->rows; i++) {
            const double x = at(run, i, "body.x"), y = at(run, i, "body.y");
            printed =
                fmax(printed, hypot(at(run, i, "x_printed") - x, at(run, i, "y_printed") - y));
            corrected = fmax(corrected,
                             hypot(at(run, i, "x_corrected") - x, at(run, i, "y_corrected") - y));
        }
        assert_below(corrected, 1e-12);
        if (curved)
            assert_close(printed, 0.15, 0.005);
        else
            assert_below(printed, 1e-12);
        tr_sheet_free(run);
    }
}

// Values are held over whole steps, so that those of fixed length stop where they jump.
static void test_methods(void **state)
{
    (void)state;
    for (int i = 0; i < LOGS; i++)
        for (size_t m = 0; m < 6; m++) {
            const bool is_adaptive = m < 2, is_euler = m == 5;
            tr_system *system = system_of(model_in(TERRAIN, logs[i].name), NULL);
            tr_simulate_options o = strictly(system);
            o.method = all_methods[m], o.step = is_euler ? 1e-3 : 5e-3;
            Sheet *run = simulated(system, o, NULL);
            const double worst = log_off(&logs[i], run);
            if (!is_below(worst, is_euler ? 2e-2 : is_adaptive ? 1e-9 : 1e-7))
                fail_msg("%s by %s: off by %.2e", logs[i].name, o.method, worst);
            tr_sheet_free(run);
            tr_system_free(system);
        }
}

// ---- replays -------------------------------------------------------------------------------

static char *replaced(const char *text, const char *from, const char *to)
{
    size_t count = 0;
    for (const char *c = text; (c = strstr(c, from)); c += strlen(from)) count++;
    assert_true(count > 0);
    char *out = malloc(strlen(text) + count * strlen(to) + 1), *end = out;
    assert_non_null(out);
    for (const char *next; (next = strstr(text, from)); text = next + strlen(from)) {
        memcpy(end, text, (size_t)(next - text));
        end += next - text;
        end = stpcpy(end, to);
    }
    strcpy(end, text);
    return out;
}

// A model from models/ whose log is the last run, which it is called after
static tr_model *model_with_log(const char *name)
{
    char path[600], log[100];
    snprintf(path, sizeof path, MODELS_DIR "/%s.yaml", name);
    snprintf(log, sizeof log, "%s_log.csv", name);
    char *text = read_text(path), *other = replaced(text, log, "log.csv");
    char *smooth = replaced(other, ", degree: 3}", "}");
    free(text), free(other);
    text = replaced(smooth, "file: log.csv,", "file: log.csv, degree: 3,");
    write_text(in_folder("replay.yaml"), text);
    free(text), free(smooth);
    assert_int_equal(rename(in_folder("run.csv"), in_folder("log.csv")), 0);
    return model_in(folder, "replay");
}

static double path_off(const Sheet *a, const Sheet *b, const char *const *names)
{
    double worst = 0;
    for (int k = 0; names[k]; k++) worst = fmax(worst, difference(a, names[k], b, names[k]));
    return worst;
}

static const char *const pose[] = {"body.x", "body.y", "body.theta", NULL};

// By torques and masses; then by the angles that its wheels turned through
static void test_replay(void **state)
{
    (void)state;
    static const char *const models[] = {"robot_tricycle", "robot_ackermann"};
    for (size_t i = 0; i < 2; i++) {
        Sheet *driven = run_with(system_called(models[i], "motors"), 5, 0.02, NULL);
        Sheet *replay = run_with(system_of(model_with_log(models[i]), "log"), 5, 0.02, NULL);
        const double worst = path_off(driven, replay, pose);
        print_worst(models[i], worst);
        assert_true(largest(driven, "body.y") > 0.05);
        assert_below(worst, 1e-6);
        tr_sheet_free(driven);
        tr_sheet_free(replay);
    }
}

// Three wheels on waves; one of those behind slips sideways, else they would lock.
#define TRIKE                                                                                      \
    "trundle: 1\n"                                                                                 \
    "gravity: \"0, 0, -9.81\"\n"                                                                   \
    "ground: {height: \"0.04*sin(1.3*x)*cos(1.1*y + 0.3)\"}\n"                                     \
    "parameters: {w: 1, b: 0.4, r: 0.25}\n"                                                        \
    "bodies:\n"                                                                                    \
    "  body: {joint: {type: free}, mass: 60, com: \"0.35, 0, 0.1\", inertia: {xx: 3, yy: 5, zz: "  \
    "5}}\n"                                                                                        \
    "  fork: {parent: body, joint: {type: revolute, axis: \"0, 0, 1\", at: \"w, 0, 0\", "          \
    "coordinate: steer}, mass: 2, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"                         \
    "  front_wheel: {parent: fork, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: front}," \
    " mass: 2, inertia: {axial: 0.06, radial: 0.03}}\n"                                            \
    "  left_wheel: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, b, 0\", "    \
    "coordinate: left}, mass: 2, inertia: {axial: 0.06, radial: 0.03}}\n"                          \
    "  right_wheel: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, -b, 0\", "  \
    "coordinate: right}, mass: 2, inertia: {axial: 0.06, radial: 0.03}}\n"                         \
    "contacts:\n"                                                                                  \
    "  f: {body: front_wheel, radius: r, unilateral: false}\n"                                     \
    "  l: {body: left_wheel, radius: r, unilateral: false}\n"                                      \
    "  r: {body: right_wheel, radius: r, lateral: free, unilateral: false}\n"                      \
    "outputs: {yaw: \"atan2(body.R21, body.R11)\"}\n"                                              \
    "initial: {body.x: 0, body.y: 0, yaw: 0, left: 0, right: 0%s}\n"                               \
    "guess: {body.z: 0.25}\n"

static tr_model *trike(const char *start, const char *rest)
{
    char text[6000];
    const int length = snprintf(text, sizeof text, TRIKE "%s", start, rest);
    assert_true(length > 0 && length < (int)sizeof text);
    write_text(in_folder("trike.yaml"), text);
    return model_in(folder, "trike");
}

static void test_replay_on_waves(void **state)
{
    (void)state;
    static const char *const names[] = {"body.x",  "body.y",  "body.z", "body.qw", "body.qx",
                                        "body.qy", "body.qz", "left",   "right",   NULL};
    tr_model *by_torques = trike(
        ", front: 0, steer: 0, d(steer): 0, d(front): 4",
        "roles: {front: {torque: 1}, steer: {torque: \"2*(0.3*sin(t) - steer) - d(steer)\"}}\n");
    Sheet *driven = run_with(system_of(by_torques, NULL), 4, 0.01, NULL);
    assert_int_equal(rename(in_folder("run.csv"), in_folder("log.csv")), 0);
    tr_model *by_log = trike("", "tables:\n"
                                 "  front_log: {file: log.csv, x: t, value: front, degree: 3}\n"
                                 "  steer_log: {file: log.csv, x: t, value: steer, degree: 3}\n"
                                 "roles: {front: {motion: front_log(t)}, steer: {motion: "
                                 "steer_log(t)}}\n");
    Sheet *replay = run_with(system_in(by_log, NULL, 1), 4, 0.01, NULL);
    const double worst = path_off(driven, replay, names);
    print_worst("tricycle on waves", worst);
    assert_true(most(driven, "body.z") - least(driven, "body.z") > 0.03);
    assert_below(worst, 1e-6);
    tr_sheet_free(driven);
    tr_sheet_free(replay);
}

// ---- the same model in both orders ---------------------------------------------------------

// Rates tell all there is to tell: masses change nothing. What is asked beside them has no effect
// in second order, and a run says so.
static void test_both_orders(void **state)
{
    (void)state;
    static const struct {
        const char *model, *case_name, *columns[5];
    } rides[] = {
        {"bicycle_three_bodies", "servo", {"frame.x", "frame.y", "frame.theta", "steer"}},
        {"robot_swerve", "servo", {"body.x", "body.y", "body.theta", "front_left"}},
    };
    for (int i = 0; i < 2; i++) {
        Sheet *runs[2];
        for (size_t order = 1; order <= 2; order++)
            runs[order - 1] = run_with(
                system_in(model_called(rides[i].model), rides[i].case_name, order), 0, 0, NULL);
        char *json = certificate();
        const bool warns = strstr(json, "'commands' have no effect: they are for the first order");
        assert_true(warns == (i == 1)); // the other case does without them
        free(json);
        const double worst = path_off(runs[0], runs[1], rides[i].columns);
        print_worst(rides[i].model, worst);
        assert_below(worst, 1e-9);
        assert_null(tr_sheet_column(runs[0], "tau.frame.vx"));
        tr_sheet_free(runs[0]);
        tr_sheet_free(runs[1]);
    }
}

// ---- Kelly ---------------------------------------------------------------------------------

// Algorithm 4.1: a bicycle of one body that is asked to go along its own velocity, in world axes
#define BICYCLE                                                                      \
    "trundle: 1\n"                                                                   \
    "parameters: {L: 1, gamma: 0.1, beta: atan(tan(gamma)/2), turn: 0}\n"            \
    "bodies: {body: {joint: {type: planar}}}\n"                                      \
    "contacts:\n"                                                                    \
    "  rear: {kind: skate, body: body, at: \"-L, 0, 0\"}\n"                          \
    "  front: {kind: skate, body: body, at: \"L, 0, 0\", direction: \"-sin(gamma), " \
    "cos(gamma), 0\"}\n"                                                             \
    "outputs: {along_x: d(body.x), along_y: d(body.y)}\n"

static const char velocity_driven[] = BICYCLE "commands:\n"
                                              "  along_x: {value: cos(body.theta + beta)}\n"
                                              "  along_y: {value: sin(body.theta + beta)}\n"
                                              "  body.wz: {value: turn}\n"
                                              "initial: {body.x: 0, body.y: 0, body.theta: -beta}\n"
                                              "cases: {lap: {order: 1, end: 20, every: 1}}\n";

// v = (I - C^T (C C^T)^-1 C) u for two rows of three
static void project(double C[2][3], const double u[3], double v[3])
{
    double S[2][2] = {{0}}, b[2] = {0};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            b[i] += C[i][k] * u[k];
            for (int j = 0; j < 2; j++) S[i][j] += C[i][k] * C[j][k];
        }
    const double det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
    const double lambda[2] = {(S[1][1] * b[0] - S[0][1] * b[1]) / det,
                              (S[0][0] * b[1] - S[1][0] * b[0]) / det};
    for (int k = 0; k < 3; k++) v[k] = u[k] - C[0][k] * lambda[0] - C[1][k] * lambda[1];
}

static void wheels_at(double psi, double gamma, double C[2][3])
{
    C[0][0] = -sin(psi), C[0][1] = cos(psi), C[0][2] = -1;
    C[1][0] = -sin(psi + gamma), C[1][1] = cos(psi + gamma), C[1][2] = cos(gamma);
}

// With (v, 0) for u: x after `steps` of `h`. As it is printed, v has the direction of the step
// before; or that of now.
static void by_euler(double h, int steps, bool as_printed, double x[3])
{
    const double gamma = 0.1, beta = atan(tan(gamma) / 2);
    x[0] = x[1] = 0, x[2] = -beta;
    double dot[3] = {1, 0, sin(beta)};
    for (int i = 0; i < steps; i++) {
        double C[2][3];
        const double along = as_printed ? atan2(dot[1], dot[0]) : x[2] + beta;
        const double u[3] = {cos(along), sin(along), 0};
        wheels_at(x[2], gamma, C);
        project(C, u, dot);
        for (int k = 0; k < 3; k++) x[k] += h * dot[k];
    }
}

// The middle goes round (0, R) with R = L/sin(beta); as printed, the projection shortens its
// velocity.
static void test_circle(void **state)
{
    (void)state;
    const double beta = atan(tan(0.1) / 2), R = 1 / sin(beta);
    for (int corrected = 0; corrected < 2; corrected++) {
        tr_system *system = system_valued(model_from(velocity_driven), NULL,
                                          &(Number){"turn", corrected ? 1 / R : 0}, 1);
        Sheet *run = run_with(system, corrected ? 2 * 3.14159265358979323846 * R : 0, 5, NULL);
        const double speed = corrected ? 1 : 1 / (1 + 1 / (R * R));
        if (!corrected) assert_close(speed, 0.997496, 1e-6);
        for (size_t i = 0; i < run->rows; i++) {
            assert_close(hypot(at(run, i, "body.x"), at(run, i, "body.y") - R), R, 1e-11);
            assert_close(hypot(at(run, i, "along_x"), at(run, i, "along_y")), speed, 1e-12);
        }
        if (corrected) assert_below(hypot(last(run, "body.x"), last(run, "body.y")), 1e-9);
        tr_sheet_free(run);
    }
}

static double off_circle(double x, double y)
{
    const double R = 1 / sin(atan(tan(0.1) / 2)), turned = 10 / (1 + 1 / (R * R)) / R;
    return hypot(x - R * sin(turned), y - R * (1 - cos(turned)));
}

// The method of that name takes the algorithm's own steps; both are of first order.
static void test_euler(void **state)
{
    (void)state;
    double before[2] = {0};
    for (int level = 0; level < 4; level++) {
        double now[3], printed[3];
        const int steps = 250 << level;
        tr_system *system = system_from(velocity_driven);
        tr_simulate_options o = tr_simulate_defaults(system);
        o.method = "euler", o.step = 10.0 / steps, o.end = 10, o.every = 10;
        Sheet *run = simulated(system, o, NULL);
        by_euler(o.step, steps, false, now);
        by_euler(o.step, steps, true, printed);
        for (int k = 0; k < 3; k++) assert_close(last(run, pose[k]), now[k], 1e-11);
        const double off[] = {off_circle(now[0], now[1]), off_circle(printed[0], printed[1])};
        print_message("steps of %g: off by %.3e, as printed by %.3e\n", o.step, off[0], off[1]);
        for (int k = 0; level && k < 2; k++) assert_close(before[k] / off[k], 2, 0.02);
        memcpy(before, off, sizeof before);
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// Any command, anywhere: what is done is its projection on what the wheels leave.
static void test_projection(void **state)
{
    (void)state;
    static const char text[] =
        BICYCLE "inputs: {ux: 0, uy: 0, uw: 0, psi: 0}\n"
                "commands: {along_x: {value: ux}, along_y: {value: uy}, body.wz: {value: uw}}\n"
                "initial: {body.x: 0, body.y: 0, body.theta: psi}\n"
                "cases: {now: {order: 1, end: 0.001, every: 0.001}}\n";
    Random random = {99};
    for (int i = 0; i < 10; i++) {
        double C[2][3], u[3], v[3];
        const double psi = random_between(&random, -3, 3), gamma = random_between(&random, -1, 1);
        for (int k = 0; k < 3; k++) u[k] = random_between(&random, -2, 2);
        const Number values[] = {
            {"ux", u[0]}, {"uy", u[1]}, {"uw", u[2]}, {"psi", psi}, {"gamma", gamma}};
        Sheet *run = run_with(system_valued(model_from(text), NULL, values, 5), 0, 0, NULL);
        wheels_at(psi, gamma, C);
        project(C, u, v);
        assert_close(at(run, 0, "along_x"), v[0], 1e-13);
        assert_close(at(run, 0, "along_y"), v[1], 1e-13);
        assert_close(at(run, 0, "body.wz"), v[2], 1e-13);
        assert_close(at(run, 0, "residual.commands"),
                     sqrt(pow(u[0] - v[0], 2) + pow(u[1] - v[1], 2) + pow(u[2] - v[2], 2)), 1e-13);
        tr_sheet_free(run);
    }
}

// ---- accelerations -------------------------------------------------------------------------

// Velocities are known as functions of where things are: so is how fast they change.
static const char *const accelerated[] = {
    // told by roles, without rows
    "bodies: {body: {joint: {type: planar}}}\n"
    "roles: {body: {rate: {vx: 1, vy: sin(t), wz: 0.3*cos(body.x)}}}\n",
    // asked for, without rows
    "bodies: {body: {joint: {type: planar}}}\n"
    "commands: {body.vx: {value: 1 + 0.1*body.y}, body.vy: {value: 0.2}, body.wz: {value: t}}\n",
    // what rows leave, and rows that contradict what is asked
    "bodies: {body: {joint: {type: planar}}}\n"
    "contacts: {edge: {kind: skate, body: body, at: \"0.3, 0, 0\"}}\n"
    "commands: {body.vx: {value: 1 + t}, body.vy: {value: 0.2*sin(3*t), weight: 2},\n"
    "           body.wz: {value: cos(t)}}\n",
    // over soft rows, with a steering that is driven
    "bodies:\n"
    "  body: {joint: {type: planar}}\n"
    "  fork: {parent: body, joint: {type: revolute, axis: \"0, 0, 1\", at: \"1, 0, 0\", "
    "coordinate: steer}}\n"
    "contacts: {rear: {kind: skate, body: body}, front: {kind: skate, body: fork},\n"
    "           side: {kind: skate, body: body, at: \"0.5, 0, 0\"}}\n"
    "roles: {steer: {motion: 0.5*sin(2*t)}}\n"
    "commands: {body.vx: {value: 1 + 0.3*sin(t)}, front.lateral: {weight: 3}, side.lateral: {}}\n",
};
enum { ACCELERATED = sizeof accelerated / sizeof *accelerated };

static double slope_at(const Sheet *run, size_t i, const char *name)
{
    return (at(run, i - 2, name) - 8 * at(run, i - 1, name) + 8 * at(run, i + 1, name) -
            at(run, i + 2, name)) /
           (12 * (at(run, 1, "t") - at(run, 0, "t")));
}

static void test_accelerations(void **state)
{
    (void)state;
    for (int k = 0; k < ACCELERATED; k++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "trundle: 1\n%s"
                 "initial: {body.x: 0, body.y: 0, body.theta: 0}\n"
                 "outputs: {ax: d(body.vx), ay: d(body.vy), aw: d(body.wz), head: body.heading,\n"
                 "          speed: body.speed, bend: body.curvature}\n"
                 "cases: {now: {order: 1, end: 1, every: 0.002}}\n",
                 accelerated[k]);
        Sheet *run = run_with(system_from(text), 0, 0, NULL);
        static const char *const names[][2] = {
            {"ax", "body.vx"}, {"ay", "body.vy"}, {"aw", "body.wz"}};
        for (size_t i = 2; i + 2 < run->rows; i++) {
            for (int n = 0; n < 3; n++)
                assert_close(at(run, i, names[n][0]), slope_at(run, i, names[n][1]), 1e-8);
            assert_close(at(run, i, "bend") * at(run, i, "speed"), slope_at(run, i, "head"), 1e-8);
        }
        tr_sheet_free(run);
    }
}

// The rear wheel's arc, by the angle of the front one
static void test_curvature(void **state)
{
    (void)state;
    Sheet *run =
        run_with(system_from("trundle: 1\n"
                             "bodies: {body: {joint: {type: planar}}}\n"
                             "inputs: {gamma: 0.4*sin(3*t)}\n"
                             "contacts:\n"
                             "  rear: {kind: skate, body: body}\n"
                             "  front: {kind: skate, body: body, at: \"2, 0, 0\", direction: "
                             "\"-sin(gamma), cos(gamma), 0\"}\n"
                             "commands: {body.vx: {value: 1 + t}}\n"
                             "initial: {body.x: 0, body.y: 0, body.theta: 0}\n"
                             "outputs: {bend: body.curvature, turn: tan(gamma)/2}\n"
                             "cases: {now: {order: 1, end: 1, every: 0.1}}\n"),
                 0, 0, NULL);
    for (size_t i = 0; i < run->rows; i++)
        assert_close(at(run, i, "bend"), at(run, i, "turn"), 1e-13);
    tr_sheet_free(run);
}

// Outputs that take forces are left out, with words.
static void test_forces(void **state)
{
    (void)state;
    Sheet *run = run_with(system_from("trundle: 1\n"
                                      "bodies: {body: {joint: {type: planar}}}\n"
                                      "contacts: {edge: {kind: skate, body: body}}\n"
                                      "commands: {body.vx: {value: 1}, body.wz: {value: 1}}\n"
                                      "initial: {body.x: 0, body.y: 0, body.theta: 0}\n"
                                      "outputs: {pull: 2*lambda.edge.lateral, twice: 2*body.vx}\n"
                                      "cases: {now: {order: 1, end: 1, every: 0.1}}\n"),
                          0, 0, NULL);
    char *json = certificate();
    assert_non_null(strstr(json, "no forces, so outputs are left out: 'pull'"));
    assert_close(last(run, "twice"), 2, 1e-14);
    free(json);
    tr_sheet_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),    cmocka_unit_test(test_residuals),
        cmocka_unit_test(test_methods),       cmocka_unit_test(test_path_integrals),
        cmocka_unit_test(test_replay),        cmocka_unit_test(test_replay_on_waves),
        cmocka_unit_test(test_both_orders),   cmocka_unit_test(test_circle),
        cmocka_unit_test(test_euler),         cmocka_unit_test(test_projection),
        cmocka_unit_test(test_accelerations), cmocka_unit_test(test_curvature),
        cmocka_unit_test(test_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
