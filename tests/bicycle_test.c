// SPDX-License-Identifier: Apache-2.0
// Things that roll in space: the bicycle against published and reference motions, at random states
// and in a world that is turned; discs, tyres and balls against closed forms and laws of their own;
// warnings, and contacts that cannot be.
//
// The CSV files are explained in tests/reference/README.md; they have x up, y forward and z left,
// where the models have z, x and y. [P] is Mauny, Porez and Boyer (2017).
#include "newton_euler.h"
#include "run/kkt.h"
#include "run/method.h"
#include "runs.h"

static const double long_run = SLOW_BUILD ? 20 : 600; // [s]
static const int random_states = SLOW_BUILD ? 500 : 10000;
static const double g = 9.81, half_turn = 3.14159265358979323846;

// ---- vectors and angles --------------------------------------------------------------------

// A column that was computed last
static double column_of(const Flow *flow, const char *name)
{
    for (uint32_t i = 0; i < flow->column_count; i++)
        if (strcmp(flow->labels[i], name) == 0) return flow->column[i];
    fail_msg("there is no column %s", name);
    return (double)NAN;
}

static V3 vector_of(const Flow *flow, const char *x, const char *y, const char *z)
{
    return v3(column_of(flow, x), column_of(flow, y), column_of(flow, z));
}

static V3 vector_at(const Sheet *s, size_t row, const char *x, const char *y, const char *z)
{
    return v3(at(s, row, x), at(s, row, y), at(s, row, z));
}

// Of angles, by any number of turns
static double angle_difference(const Sheet *a, const Sheet *b, const char *name)
{
    double worst = 0;
    assert_int_equal(a->rows, b->rows);
    for (size_t i = 0; i < a->rows; i++) {
        const double off = remainder(at(a, i, name) - at(b, i, name), 2 * half_turn);
        worst = fmax(worst, fabs(off));
    }
    return worst;
}

// ---- published accelerations ---------------------------------------------------------------

// Basu-Mandal, Chatterjee and Papadopoulos (2007), table 1: values, rates and accelerations at one
// state of the benchmark bicycle. Their coordinates are ours but for signs and shifts:
// yaw = theta, roll = pi/2 - psi, pitch = phi - pi, steer = psi_f; x and y point the other way.
typedef struct Published {
    const char *output;
    double sign, shift; // ours = sign * theirs + shift
    double value, rate, acceleration;
} Published;

static const Published published[] = {
    {"frame.x", -1, 0, 0, -2.8069345714545, -0.5041626315047},
    {"frame.y", -1, 0, 0, -0.1480982396001, -0.3449706619454},
    {"frame.z", 1, 0, 0.2440472102925, 0.1058778746261, -1.460452833298},
    {"yaw", 1, 0, 0, 0.7830033527065, 0.8353281706379},
    {"roll", -1, 0.5, 0.9501292851472, 0.6068425835418, -7.8555281128244},
    {"pitch", 1, -1, 3.1257073014894, -0.0119185528069, 0.1205543897884},
    {"steer", 1, 0, 0.2311385135743, 0.4859824687093, -4.6198904039403},
    {"rear", 1, 0, 0, 8.912989661489, 1.8472554144217},
    {"front", 1, 0, 0, 8.0133620584155, 2.454807290455},
};
enum { PUBLISHED = sizeof published / sizeof *published };

static double published_off(const char *json, const Published *p)
{
    char words[60];
    const double wanted[] = {p->sign * p->value + p->shift * half_turn, p->sign * p->rate,
                             p->sign * p->acceleration};
    double worst = 0;
    for (int k = 0; k < 3; k++) {
        snprintf(words, sizeof words, "\"value%d_%zu\": ", k, (size_t)(p - published));
        worst = fmax(worst, fabs(number_behind(json, words) - wanted[k]));
    }
    return worst;
}

// Outputs value<k>_<i>: the k-th derivative of what stands in row i
static void put_derivatives(tr_model *model)
{
    static const char *const forms[] = {"%s", "d(%s)", "d(d(%s))"};
    char path[60], formula[60];
    for (int i = 0; i < PUBLISHED; i++)
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "outputs/value%d_%d", k, i);
            snprintf(formula, sizeof formula, forms[k], published[i].output);
            change(model, path, formula);
        }
}

static void test_published_accelerations(void **state)
{
    (void)state;
    const Value values[] = {{"roll0", half_turn / 2 - published[4].value},
                            {"steer0", published[6].value},
                            {"roll_rate0", -published[4].rate},
                            {"steer_rate0", published[6].rate},
                            {"speed0", 0.3 * published[7].rate}};
    tr_error err = {0};
    tr_model *model = model_called("bicycle");
    put_derivatives(model);
    tr_system *system = system_valued(model, "state", values, 5);
    char *json = tr_eval_text(system, true, &err);
    if (!json) fail_msg("%s", err.text);
    for (int i = 0; i < PUBLISHED; i++) {
        const double off = published_off(json, &published[i]);
        print_message("%-8s %.1e\n", published[i].output, off);
        assert_true(off <= 1e-10);
    }
    tr_text_free(json);
    tr_system_free(system);
}

// ---- states with torques -------------------------------------------------------------------

// Columns of the reference and what they are called here; accelerations as outputs
static const char *const state_columns[][2] = {
    {"pitch", "pitch"},
    {"hub3x", "frame.z"},
    {"V0x", "frame.vz"},
    {"V0y", "frame.vx"},
    {"V0z", "frame.vy"},
    {"Om0x", "frame.wz"},
    {"Om0y", "frame.wx"},
    {"Om0z", "frame.wy"},
    {"r2_rate", "front_rate"},
    {"V0x_acc", "vz_acc"},
    {"V0y_acc", "vx_acc"},
    {"V0z_acc", "vy_acc"},
    {"Om0x_acc", "wz_acc"},
    {"Om0y_acc", "wx_acc"},
    {"Om0z_acc", "wy_acc"},
    {"r1_acc", "steer_acc"},
    {"r2_acc", "front_acc"},
    {"r3_acc", "rear_acc"},
    {"F2x", "contact.front.Fz"},
    {"F2y", "contact.front.Fx"},
    {"F2z", "contact.front.Fy"},
    {"F3x", "contact.rear.Fz"},
    {"F3y", "contact.rear.Fx"},
    {"F3z", "contact.rear.Fy"},
    {"lam4", "rear_up"},
    {"lam5", "rear_forward"},
    {"lam6", "rear_left"},
    {"psi2", "psi_front"},
    {"psi3", "psi_rear"},
    {"kinetic", "energy.kinetic"},
    {"potential", "energy.potential"},
};

static tr_model *bicycle_with_accelerations(void)
{
    static const char *const outputs[][2] = {
        {"outputs/vx_acc", "d(frame.vx)"},           {"outputs/vy_acc", "d(frame.vy)"},
        {"outputs/vz_acc", "d(frame.vz)"},           {"outputs/wx_acc", "d(frame.wx)"},
        {"outputs/wy_acc", "d(frame.wy)"},           {"outputs/wz_acc", "d(frame.wz)"},
        {"outputs/steer_acc", "d(d(steer))"},        {"outputs/front_acc", "d(d(front))"},
        {"outputs/rear_acc", "d(rear_rate)"},        {"outputs/rear_up", "contact.rear.fz"},
        {"outputs/rear_forward", "contact.rear.fx"}, {"outputs/rear_left", "contact.rear.fy"},
        {"outputs/fork_x", "contact.front.fx"},      {"outputs/fork_y", "contact.front.fy"},
        {"outputs/fork_z", "contact.front.fz"},      {"outputs/front_angle", "contact.front.angle"},
        {"outputs/rear_angle", "contact.rear.angle"}};
    tr_model *model = model_called("bicycle");
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        change(model, outputs[i][0], outputs[i][1]);
    return model;
}

// The force on the front wheel in the fork's axes, from that in the frame's
static V3 into_fork(V3 frame, double steer)
{
    const M3 fork = m3_product(m3_about(v3_axis(1), -half_turn / 10), m3_about(v3_axis(2), steer));
    return m3_across(fork, frame);
}

// Relative to the size of the value, or to 1
static double relative_off(double a, double b)
{
    return fabs(a - b) / fmax(1, fmax(fabs(a), fabs(b)));
}

static double state_off(const Sheet *reference, size_t row, const Flow *flow)
{
    double worst = 0;
    for (size_t k = 0; k < sizeof state_columns / sizeof *state_columns; k++) {
        const double wanted = at(reference, row, state_columns[k][0]);
        worst = fmax(worst, relative_off(column_of(flow, state_columns[k][1]), wanted));
    }
    const V3 lam = vector_at(reference, row, "lam2", "lam3", "lam1");
    const V3 wanted = into_fork(lam, at(reference, row, "r1"));
    const V3 found = vector_of(flow, "fork_x", "fork_y", "fork_z");
    for (int k = 0; k < 3; k++)
        worst = fmax(worst, relative_off(v3_at(found, k), v3_at(wanted, k)));
    const double angles[][2] = {{column_of(flow, "front_angle"), at(reference, row, "psi2")},
                                {column_of(flow, "rear_angle"), at(reference, row, "psi3")}};
    for (int k = 0; k < 2; k++)
        worst = fmax(worst, fabs(angles[k][0] - (half_turn - angles[k][1])));
    return worst;
}

static void test_states_with_torques(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"fork", "fork"},
                                           {"yaw0", "yaw"},
                                           {"roll0", "roll"},
                                           {"steer0", "r1"},
                                           {"roll_rate0", "roll_rate"},
                                           {"steer_rate0", "r1_rate"},
                                           {"steer_torque", "tau1"},
                                           {"front_torque", "tau2"},
                                           {"rear_torque", "tau3"}};
    Sheet *reference = read_sheet(REFERENCE_DIR "/bike_states.csv");
    assert_int_equal(reference->rows, 6);
    for (size_t i = 0; i < reference->rows; i++) {
        Value values[10] = {[9] = {"speed0", 0.3 * at(reference, i, "r3_rate")}};
        for (int k = 0; k < 9; k++) values[k] = (Value){names[k][0], at(reference, i, names[k][1])};
        tr_system *system = system_valued(bicycle_with_accelerations(), "state", values, 10);
        Flow *flow = flow_of(system);
        tr_flow_columns(flow, 0, flow->start, flow->column);
        const double off = state_off(reference, i, flow);
        print_message("state %zu: %.1e\n", i, off);
        assert_true(off <= 1e-10);
        tr_flow_free(flow);
        tr_system_free(system);
    }
    tr_sheet_free(reference);
}

// ---- rides ---------------------------------------------------------------------------------

typedef struct Match {
    const char *reference, *run;
    double tolerance;
} Match;

static const Match ride_columns[] = {
    {"yaw", "yaw", 1e-10},
    {"roll", "roll", 1e-10},
    {"pitch", "pitch", 1e-10},
    {"r1", "steer", 1e-10},
    {"psi2", "psi_front", 1e-10},
    {"psi3", "psi_rear", 1e-10},
    {"yaw_rate", "yaw_rate", 1e-9},
    {"roll_rate", "roll_rate", 1e-9},
    {"pitch_rate", "pitch_rate", 1e-9},
    {"r1_rate", "steer_rate", 1e-9},
    {"r2_rate", "front_rate", 1e-9},
    {"r3_rate", "rear_rate", 1e-9},
    {"V0x", "frame.vz", 1e-9},
    {"V0y", "frame.vx", 1e-9},
    {"V0z", "frame.vy", 1e-9},
    {"Om0x", "frame.wz", 1e-9},
    {"Om0y", "frame.wx", 1e-9},
    {"Om0z", "frame.wy", 1e-9},
    {"P2y", "contact.front.x", 1e-9},
    {"P2z", "contact.front.y", 1e-9},
    {"P3y", "contact.rear.x", 1e-9},
    {"P3z", "contact.rear.y", 1e-9},
    {"F2x", "contact.front.Fz", 1e-7},
    {"F2y", "contact.front.Fx", 1e-7},
    {"F2z", "contact.front.Fy", 1e-7},
    {"F3x", "contact.rear.Fz", 1e-7},
    {"F3y", "contact.rear.Fx", 1e-7},
    {"F3z", "contact.rear.Fy", 1e-7},
    {"tau1", "tau.steer", 1e-9},
    {"tau3", "tau.rear", 1e-7},
    {"kinetic", "energy.kinetic", 1e-7},
    {"potential", "energy.potential", 1e-7},
};

static Sheet *ride(const char *case_name, double every)
{
    tr_model *model = model_called("bicycle");
    change(model, "outputs/yaw_rate", "d(yaw)");
    change(model, "outputs/roll_rate", "d(roll)");
    change(model, "outputs/pitch_rate", "d(pitch)");
    return run_to(system_of(model, case_name), 10, every);
}

static void check_ride(const char *case_name, const char *file)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", REFERENCE_DIR, file);
    Sheet *reference = read_sheet(path), *run = ride(case_name, 0.1);
    assert_int_equal(reference->rows, 101);
    double closest = 0; // to what is allowed
    for (size_t k = 0; k < sizeof ride_columns / sizeof *ride_columns; k++) {
        const Match *m = &ride_columns[k];
        const double off = difference(reference, m->reference, run, m->run);
        if (off > m->tolerance) fail_msg("%s: %s is off by %.3g", case_name, m->run, off);
        closest = fmax(closest, off / m->tolerance);
    }
    print_message("%s: %.1e of what is allowed\n", case_name, closest);
    tr_sheet_free(reference);
    tr_sheet_free(run);
}

static void test_free_ride(void **state)
{
    (void)state;
    check_ride("free", "bike_case1_benchmark.csv");
}

static void test_turn(void **state)
{
    (void)state;
    check_ride("turn", "bike_case2_benchmark.csv");
}

// ---- no drift ------------------------------------------------------------------------------

static double energy_at(const Sheet *run, size_t row)
{
    return at(run, row, "energy.kinetic") + at(run, row, "energy.potential") -
           at(run, row, "energy.work");
}

// The speed in the end follows from the energy: 4.622442 m/s                              [P 7.1]
static void test_long_ride(void **state)
{
    (void)state;
    tr_system *system = system_called("bicycle", "free");
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = long_run, o.every = 0.5;
    Sheet *run = simulated(system, o, NULL);
    double energy = 0;
    for (size_t i = 0; i < run->rows; i++)
        energy = fmax(energy, fabs(energy_at(run, i) / energy_at(run, 0) - 1));
    const size_t last = run->rows - 1;
    print_message("positions %.1e, velocities %.1e, energy %.1e\n", most(run, "residual.position"),
                  most(run, "residual.velocity"), energy);
    assert_close(at(run, last, "t"), long_run, 1e-15);
    assert_true(most(run, "residual.position") < 1e-11);
    assert_true(most(run, "residual.velocity") < 1e-11);
    assert_true(energy < 1e-8);
    assert_true(fabs(at(run, last, "speed") - 4.622442) < 1e-6);
    assert_true(fabs(at(run, last, "roll")) < 1e-4 && fabs(at(run, last, "steer")) < 1e-4);
    tr_sheet_free(run);
    tr_system_free(system);
}

// ---- what the paper says -------------------------------------------------------------------

// The peak is that of the rows.
static void test_facts_of_the_free_ride(void **state)
{
    (void)state;
    Sheet *run = ride("free", 0.1);
    const size_t last = run->rows - 1;
    size_t peak = 0;
    for (size_t i = 0; i < run->rows; i++)
        if (at(run, i, "speed") > at(run, peak, "speed")) peak = i;
    assert_close(at(run, peak, "t"), 0.4, 1e-14);
    assert_true(fabs(at(run, peak, "speed") - 4.6650) < 5e-5);
    assert_true(fabs(at(run, 0, "rear_normal") - 599.69) < 5e-3);
    assert_true(fabs(at(run, last, "speed") - 4.6224) < 1e-4);
    assert_true(most(run, "roll") > 0.1 && least(run, "steer") < -0.1);
    assert_true(fabs(at(run, last, "roll")) < 0.02 * most(run, "roll"));
    assert_true(fabs(at(run, last, "steer")) < -0.03 * least(run, "steer"));
    tr_sheet_free(run);
}

// m x_cm g = N_front w
static void test_static_loads(void **state)
{
    (void)state;
    tr_system *system = system_called("bicycle", "state");
    Flow *flow = flow_of(system);
    tr_flow_columns(flow, 0, flow->start, flow->column);
    assert_close(column_of(flow, "rear_normal"), 612.836470588236, 1e-13);
    assert_close(column_of(flow, "front_normal"), 309.303529411765, 1e-13);
    assert_close(column_of(flow, "front_normal"), 32.16 * g / 1.02, 1e-14);
    tr_flow_free(flow);
    tr_system_free(system);
}

// The rear wheel goes where it points: its track turns as much as the bicycle does.
static double mean_curvature(const Sheet *run, double from, double to)
{
    double length = 0, turned = 0;
    for (size_t i = 1; i < run->rows; i++) {
        const double t = at(run, i, "t");
        if (t <= from + 1e-9 || t > to + 1e-9) continue;
        length += hypot(at(run, i, "rear_x") - at(run, i - 1, "rear_x"),
                        at(run, i, "rear_y") - at(run, i - 1, "rear_y"));
        turned += at(run, i, "yaw") - at(run, i - 1, "yaw");
    }
    return turned / length;
}

static void test_facts_of_the_turn(void **state)
{
    (void)state;
    Sheet *run = ride("turn", 0.01);
    const double psi0 = at(run, 0, "psi_front"), curvature = mean_curvature(run, 1, 5);
    const double ahead = fmax(most(run, "psi_front") - psi0, psi0 - least(run, "psi_front"));
    print_message("roll %.4f, steer %.4f, psi %.4f, curvature %.4f\n", least(run, "roll"),
                  most(run, "steer"), ahead, curvature);
    assert_true(fabs(least(run, "roll") + 0.486) < 5e-4);
    assert_true(fabs(most(run, "steer") - 0.210) < 5e-4);
    assert_true(fabs(ahead - 0.121) < 5e-4);
    assert_true(fabs(curvature - 0.068) < 5e-4);
    tr_sheet_free(run);
}

// ---- a world that is turned ----------------------------------------------------------------

// (P^T R)_ij of the frame as a formula
static const char *in_plane(M3 P, int i, int j)
{
    static char text[4][200];
    static int next;
    char *out = text[next++ % 4];
    const V3 p = P.column[i - 1];
    snprintf(out, sizeof text[0], "(%.17g*frame.R1%d + %.17g*frame.R2%d + %.17g*frame.R3%d)", p.x,
             j, p.y, j, p.z, j);
    return out;
}

static void guess_turned(tr_model *model, M3 P)
{
    const V3 x = P.column[0], y = P.column[1], z = P.column[2];
    const double w = sqrt(1 + x.x + y.y + z.z) / 2;
    change_number(model, "guess/frame.qw", w);
    change_number(model, "guess/frame.qx", (y.z - z.y) / (4 * w));
    change_number(model, "guess/frame.qy", (z.x - x.z) / (4 * w));
    change_number(model, "guess/frame.qz", (x.y - y.x) / (4 * w));
}

// On the plane through (1, 2, -0.5) with the axes P, and gravity along its -z
static tr_model *turned_bicycle(V3 turn, M3 P)
{
    char text[500];
    tr_model *model = model_called("bicycle");
    snprintf(text, sizeof text, "%.17g, %.17g, %.17g", turn.x, turn.y, turn.z);
    change(model, "ground/turn", text);
    change(model, "ground/at", "1, 2, -0.5");
    const V3 G = v3_times(-g, P.column[2]);
    snprintf(text, sizeof text, "%.17g, %.17g, %.17g", G.x, G.y, G.z);
    change(model, "gravity", text);
    snprintf(text, sizeof text, "atan2(-%s, %s)", in_plane(P, 1, 2), in_plane(P, 2, 2));
    change(model, "outputs/yaw", text);
    snprintf(text, sizeof text, "asin(%s)", in_plane(P, 3, 2));
    change(model, "outputs/roll", text);
    guess_turned(model, P);
    return model;
}

static Sheet *ride_askew(tr_model *model)
{
    change(model, "outputs/front_angle", "contact.front.angle");
    change(model, "outputs/rear_angle", "contact.rear.angle");
    return run_to(system_set(model, "free", "yaw0=0.3 steer0=0.05"), 5, 0.05);
}

// Of three columns that are a vector; `moved`: from where it was at the start
static double vector_off(const Sheet *level, const Sheet *run, M3 P, const char *name,
                         const char *const *parts, bool moved)
{
    char x[60], y[60], z[60];
    double worst = 0;
    snprintf(x, sizeof x, "%s%s", name, parts[0]);
    snprintf(y, sizeof y, "%s%s", name, parts[1]);
    snprintf(z, sizeof z, "%s%s", name, parts[2]);
    const V3 from = vector_at(level, 0, x, y, z), start = vector_at(run, 0, x, y, z);
    for (size_t i = 0; i < run->rows; i++) {
        V3 a = vector_at(level, i, x, y, z), b = vector_at(run, i, x, y, z);
        if (moved) a = v3_minus(a, from), b = v3_minus(b, start);
        const V3 off = v3_minus(a, m3_across(P, b));
        worst = fmax(worst, sqrt(v3_dot(off, off)));
    }
    return worst;
}

static const char *const force_parts[] = {"Fx", "Fy", "Fz"};

// How far a contact is from the plane through (1, 2, -0.5)
static double off_plane(const Sheet *run, M3 P, const char *x, const char *y, const char *z)
{
    double worst = 0;
    for (size_t i = 0; i < run->rows; i++) {
        const V3 from = v3_minus(vector_at(run, i, x, y, z), v3(1, 2, -0.5));
        worst = fmax(worst, fabs(v3_dot(P.column[2], from)));
    }
    return worst;
}

static void check_turned_vectors(const Sheet *level, const Sheet *run, M3 P)
{
    static const char *const places[] = {"x", "y", "z"};
    static const char *const contacts[] = {"contact.front.", "contact.rear."};
    for (int k = 0; k < 2; k++) {
        const double place = vector_off(level, run, P, contacts[k], places, true),
                     force = vector_off(level, run, P, contacts[k], force_parts, false);
        print_message("%s: place %.1e, force %.1e\n", contacts[k], place, force);
        assert_true(place <= 1e-9 && force <= 1e-7);
    }
    assert_true(off_plane(run, P, "front_x", "front_y", "contact.front.z") <= 1e-12);
    assert_true(off_plane(run, P, "rear_x", "rear_y", "contact.rear.z") <= 1e-12);
}

static void test_turned_world(void **state)
{
    (void)state;
    static const char *const same[] = {
        "yaw",        "roll",      "steer",       "front",      "rear",     "steer_rate",
        "front_rate", "rear_rate", "frame.vx",    "frame.vy",   "frame.vz", "frame.wx",
        "frame.wy",   "frame.wz",  "front_angle", "rear_angle", "speed",    "energy.kinetic"};
    const V3 turn = v3(0.4, -0.3, 1.1);
    const M3 P = m3_turn(turn);
    Sheet *level = ride_askew(model_called("bicycle")), *run = ride_askew(turned_bicycle(turn, P));
    double worst = 0;
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        const double off =
            difference(level, same[k], run, same[k]) / fmax(1, largest(level, same[k]));
        if (off > 1e-9) fail_msg("%s is off by %.3g", same[k], off);
        worst = fmax(worst, off);
    }
    print_message("worst %.1e\n", worst);
    check_turned_vectors(level, run, P);
    tr_sheet_free(level);
    tr_sheet_free(run);
}

// ---- other ways to say it ------------------------------------------------------------------

// The same wheels, with their axle or their middle given as well, or with tyres of no thickness
static void test_wheels_in_other_words(void **state)
{
    (void)state;
    static const char *const ways[][2] = {
        {"axis", "0, 1, 0"}, {"axis", "0, 3, 0"}, {"at", "0, 0, 0"}, {"tube", "0"}};
    static const char *const same[] = {"yaw", "roll", "pitch", "steer", "front", "rear"};
    Sheet *plain = run_to(system_called("bicycle", "turn"), 3, 0.1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char front[40], rear[40];
        snprintf(front, sizeof front, "contacts/front/%s", ways[i][0]);
        snprintf(rear, sizeof rear, "contacts/rear/%s", ways[i][0]);
        tr_model *model = model_called("bicycle");
        change(model, front, ways[i][1]);
        change(model, rear, ways[i][1]);
        Sheet *run = run_to(system_of(model, "turn"), 3, 0.1);
        double worst =
            1e-3 * vector_off(plain, run, m3_identity(), "contact.front.", force_parts, false);
        for (int k = 0; k < 6; k++) worst = fmax(worst, difference(plain, same[k], run, same[k]));
        print_message("%s: %s: %.1e\n", ways[i][0], ways[i][1], worst);
        assert_true(worst <= 1e-10);
        tr_sheet_free(run);
    }
    tr_sheet_free(plain);
}

// ---- one body that rolls -------------------------------------------------------------------

// A wheel or ball with its mass centre in the middle, on a plane with the normal n
typedef struct Roller {
    const char *body, *contact;
    double m, Ia, Ir; // about the axle, y, and across it
    double radius, tube;
    bool is_ball;
    V3 n;
} Roller;

// From the middle to the point that touches, of a wheel with the axle a
static V3 to_contact(const Roller *w, V3 a)
{
    const double radius = w->is_ball ? 0 : w->radius - w->tube,
                 tube = w->is_ball ? w->radius : w->tube;
    const V3 up = v3_minus(w->n, v3_times(v3_dot(w->n, a), a));
    return v3_plus(v3_times(-radius, v3_unit(up)), v3_times(-tube, w->n));
}

// Its rate as the wheel turns with W: with u = n - (n.a) a, a' = W x a and e = u/|u|,
// u' = -(n.a') a - (n.a) a' and e' = (u' - (e.u') e)/|u|
static V3 contact_rate(const Roller *w, V3 a, V3 W)
{
    if (w->is_ball) return v3(0, 0, 0);
    const V3 da = v3_cross(W, a), u = v3_minus(w->n, v3_times(v3_dot(w->n, a), a)), e = v3_unit(u);
    const V3 du =
        v3_times(-1, v3_plus(v3_times(v3_dot(w->n, da), a), v3_times(v3_dot(w->n, a), da)));
    const V3 de = v3_minus(du, v3_times(v3_dot(e, du), e));
    return v3_times(-(w->radius - w->tube) / sqrt(v3_dot(u, u)), de);
}

// A x = b, by Cramer
static V3 solve3(M3 A, V3 b)
{
    const V3 x = A.column[0], y = A.column[1], z = A.column[2];
    const double D = v3_dot(x, v3_cross(y, z));
    return v3(v3_dot(b, v3_cross(y, z)) / D, v3_dot(x, v3_cross(b, z)) / D,
              v3_dot(x, v3_cross(y, b)) / D);
}

// The point r of the body does not move: V = -W x r, so V' = -W' x r - W x r'. With the force F
// there, m V' = m G + F and J W' + W x J W = r x F, so
//   (J + m (r^2 - r r^T)) W' = -W x J W - m r x (W x r') - m r x G
static void roll_on(const Roller *w, V3 a, V3 W, V3 *dW, V3 *F)
{
    const V3 r = to_contact(w, a), dr = contact_rate(w, a, W), G = v3(0, 0, -g);
    const V3 JW = v3_plus(v3_times(w->Ir, W), v3_times((w->Ia - w->Ir) * v3_dot(a, W), a));
    M3 A;
    for (int k = 0; k < 3; k++) {
        const V3 e = v3_axis(k);
        A.column[k] = v3_plus(v3_times(w->Ir, e), v3_times((w->Ia - w->Ir) * v3_at(a, k), a));
        const V3 arm = v3_minus(v3_times(v3_dot(r, r), e), v3_times(v3_at(r, k), r));
        A.column[k] = v3_plus(A.column[k], v3_times(w->m, arm));
    }
    const V3 bias = v3_plus(v3_cross(r, v3_cross(W, dr)), v3_cross(r, G));
    *dW = solve3(A, v3_times(-1, v3_plus(v3_cross(W, JW), v3_times(w->m, bias))));
    const V3 dV = v3_times(-1, v3_plus(v3_cross(*dW, r), v3_cross(W, dr)));
    *F = v3_times(w->m, v3_minus(dV, G));
}

static V3 part_of(const Sheet *run, size_t row, const char *thing, const char *const *parts)
{
    char name[60];
    double x[3];
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s%s", thing, parts[k]);
        x[k] = at(run, row, name);
    }
    return v3(x[0], x[1], x[2]);
}

static double apart(V3 a, V3 b)
{
    const V3 off = v3_minus(a, b);
    return sqrt(v3_dot(off, off)) / fmax(1, sqrt(v3_dot(b, b)));
}

static M3 rotation_at(const Sheet *run, size_t row, const char *body)
{
    static const char *const parts[] = {"qw", "qx", "qy", "qz"};
    char name[60];
    double q[4];
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "%s.%s", body, parts[k]);
        q[k] = at(run, row, name);
    }
    return m3_quaternion(q);
}

// Place and velocity of the contact, acceleration and force at a row, whatever is worst
static double roller_off(const Sheet *run, size_t row, const Roller *w)
{
    static const char *const places[] = {".x", ".y", ".z"},
                             *const V_parts[] = {".vx", ".vy", ".vz"},
                             *const W_parts[] = {".wx", ".wy", ".wz"},
                             *const forces[] = {".Fx", ".Fy", ".Fz"},
                             *const accelerations[] = {"wx_acc", "wy_acc", "wz_acc"};
    const M3 R = rotation_at(run, row, w->body);
    const V3 a = R.column[1], W = m3_times(R, part_of(run, row, w->body, W_parts));
    const V3 O = part_of(run, row, w->body, places), r = to_contact(w, a);
    const V3 V = m3_times(R, part_of(run, row, w->body, V_parts));
    V3 dW, F;
    roll_on(w, a, W, &dW, &F);
    double worst = apart(part_of(run, row, w->contact, places), v3_plus(O, r));
    worst = fmax(worst, fabs(v3_dot(w->n, v3_plus(O, r)))); // it touches
    worst = fmax(worst, apart(V, v3_times(-1, v3_cross(W, r))));
    worst = fmax(worst, apart(m3_times(R, part_of(run, row, "", accelerations)), dW));
    return fmax(worst, apart(part_of(run, row, w->contact, forces), F));
}

static void put_spins(tr_model *model, const char *body)
{
    static const char *const parts[] = {"wx", "wy", "wz"};
    char path[60], formula[60];
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "outputs/%s_acc", parts[k]);
        snprintf(formula, sizeof formula, "d(%s.%s)", body, parts[k]);
        change(model, path, formula);
    }
}

static void check_roller(const char *name, const char *case_name, double end, const Roller *w)
{
    double worst = 0;
    tr_model *model = model_called(name);
    put_spins(model, w->body);
    Sheet *run = run_to(system_of(model, case_name), end, end / 100);
    for (size_t i = 0; i < run->rows; i++) worst = fmax(worst, roller_off(run, i, w));
    print_message("%s %s: %.1e\n", name, case_name, worst);
    assert_int_equal(run->rows, 101);
    assert_true(worst <= 1e-10);
    tr_sheet_free(run);
}

static void test_newton_and_euler(void **state)
{
    (void)state;
    const V3 up = v3(0, 0, 1);
    const double coin = 0.44 * 0.0376 * 0.0376;
    const Roller disc = {"disc", "contact.rim", 2, 0.09, 0.045, 0.3, 0, false, up};
    const Roller tyre = {"wheel", "contact.tyre", 2, 0.09, 0.045, 0.3, 0.05, false, up};
    const Roller thin = {"wheel", "contact.tyre", 2, 0.09, 0.045, 0.3, 1e-6, false, up};
    const Roller euler = {"disc", "contact.rim", 0.44, coin / 2, coin / 4, 0.0376, 0, false, up};
    const Roller ball = {"ball", "contact.foot",           1, 0.004, 0.004, 0.1, 0,
                         true,   v3(sin(0.3), 0, cos(0.3))};
    check_roller("rolling_disc", "steady", 5, &disc);
    check_roller("rolling_disc", "wobble", 5, &disc);
    check_roller("tyre", "lean", 5, &tyre);
    check_roller("tyre", "thin", 5, &thin);
    check_roller("euler_disc", "spin", 0.5, &euler);
    check_roller("ball_on_slope", "roll", 3, &ball);
}

static void test_steady_disc(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"Yc", "contact.rim.x"},  {"Zc", "contact.rim.y"},    {"roll", "roll"},
        {"yaw_rate", "yaw_rate"}, {"roll_rate", "roll_rate"}, {"w_axial", "disc.wy"},
        {"w_inplane", "across"},  {"Fx", "contact.rim.Fz"},   {"Fy", "contact.rim.Fx"},
        {"Fz", "contact.rim.Fy"}, {"energy", "energy"}};
    tr_model *model = model_called("rolling_disc");
    change(model, "outputs/yaw_rate", "d(yaw)");
    change(model, "outputs/roll_rate", "d(roll)");
    change(model, "outputs/across", "sqrt(disc.wx^2 + disc.wz^2)");
    // The potential is 0 at the contact in the reference as well.
    change(model, "outputs/energy",
           "0.5*m*(disc.vx^2 + disc.vy^2 + disc.vz^2) + m*g*disc.z + "
           "0.5*(Ir*(disc.wx^2 + disc.wz^2) + Ia*disc.wy^2)");
    Sheet *reference = read_sheet(REFERENCE_DIR "/disc_steady.csv");
    Sheet *run = run_to(system_of(model, "steady"), 5, 0.1);
    assert_int_equal(reference->rows, 51);
    assert_true(angle_difference(reference, run, "yaw") <= 1e-9);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const double off = difference(reference, names[k][0], run, names[k][1]);
        print_message("%-10s %.1e\n", names[k][0], off);
        assert_true(off <= 1e-9);
    }
    tr_sheet_free(reference);
    tr_sheet_free(run);
}

static void test_ball_on_slope(void **state)
{
    (void)state;
    static const double slopes[] = {0.3, -0.7, 1.2};
    for (int k = 0; k < 3; k++) {
        tr_model *model = model_called("ball_on_slope");
        change(model, "outputs/acceleration", "d(d(down))");
        const double wanted = 5. / 7 * g * sin(slopes[k]);
        Sheet *run = run_to(system_valued(model, "roll", &(Value){"slope", slopes[k]}, 1), 3, 0.05);
        assert_close(at(run, 0, "acceleration"), wanted, 1e-12);
        for (size_t i = 0; i < run->rows; i++) {
            const double t = at(run, i, "t");
            assert_close(at(run, i, "down"), wanted * t * t / 2, 1e-9);
            assert_close(at(run, i, "lambda.foot.normal"), g * cos(slopes[k]), 1e-12);
        }
        tr_sheet_free(run);
    }
}

static double lean_with_tube(double tube)
{
    Sheet *run = run_to(system_with("tyre", "lean", &(Value){"tube", tube}, 1), 1, 0.1);
    const double roll = at(run, run->rows - 1, "roll");
    tr_sheet_free(run);
    return roll;
}

// A tyre comes to the sharp edge as its tube does to nothing, linearly.
static void test_thin_tyres(void **state)
{
    (void)state;
    const double sharp = lean_with_tube(0);
    double before = fabs(lean_with_tube(2e-3) - sharp);
    assert_true(before > 1e-5);
    for (double tube = 1e-3; tube > 5e-5; tube /= 2) {
        const double off = fabs(lean_with_tube(tube) - sharp);
        print_message("tube %.2g: %.2e, %.3f times less\n", tube, off, before / off);
        assert_true(fabs(before / off - 2) < 0.03);
        before = off;
    }
}

// ---- the bicycle by Newton and Euler -------------------------------------------------------

// Four bodies, as Meijaard, Papadopoulos, Ruina and Schwab (2007) have them, z up; six forces at
// the lowest points of the wheels, in world axes:
//
//   M v' + c = G^T F,   G v' = -(bias of the velocities of the wheels' points that touch)
enum { BODIES = 4, VELOCITIES = 9, UNKNOWNS = VELOCITIES + 6 };

static M3 symmetric(double xx, double yy, double zz, double xz)
{
    return (M3){{v3(xx, 0, xz), v3(0, yy, 0), v3(xz, 0, zz)}};
}

static M3 transposed(M3 a)
{
    return (M3){{m3_across(a, v3_axis(0)), m3_across(a, v3_axis(1)), m3_across(a, v3_axis(2))}};
}

static void make_bicycle(NeForest *f)
{
    const double w = 1.02, trail = 0.08, tilt = half_turn / 10, h2 = 0.35, h3 = 0.3;
    const double hinge = w + trail - h2 * tan(tilt); // the fork's origin, ahead of the rear hub
    const M3 turned = m3_about(v3_axis(1), -tilt);
    const M3 fork = symmetric(0.05892, 0.06, 0.00708, 0.00756);
    const V3 steering = turned.column[2], axle = v3_axis(1), none = v3(0, 0, 0);
    memset(f, 0, sizeof *f);
    f->count = BODIES, f->gravity = v3(0, 0, -g);
    f->body[0] = (NeBody){-1, NE_FREE, .axis = axle, .mass = 85, .com = v3(0.3, 0, 0.6)};
    f->body[0].inertia = symmetric(9.2, 11, 2.8, -2.4);
    f->body[1] =
        (NeBody){0, NE_REVOLUTE, v3(hinge, 0, h2 - h3), v3(0, -tilt, 0), steering, .mass = 4};
    f->body[1].com = m3_across(turned, v3(0.9 - hinge, 0, 0.7 - h2));
    f->body[1].inertia = m3_product(transposed(turned), m3_product(fork, turned));
    f->body[2] =
        (NeBody){1, NE_REVOLUTE, m3_across(turned, v3(w - hinge, 0, 0)), none, axle, .mass = 3};
    f->body[2].inertia = symmetric(0.1405, 0.28, 0.1405, 0);
    f->body[3] = (NeBody){0, NE_REVOLUTE, none, none, axle, .mass = 2};
    f->body[3].inertia = symmetric(0.0603, 0.12, 0.0603, 0);
    ne_number(f);
}

// Rows 3 k to 3 k + 2 of the constraints: the wheel's point that touches
static void touch_rows(const NeForest *f, int k, double G[6][VELOCITIES], double *bias)
{
    static NeJacobian J;
    const Roller wheel = {.radius = k ? 0.3 : 0.35, .n = v3_axis(2)};
    const NeBody *b = &f->body[k ? 3 : 2];
    const V3 a = b->R.column[1], W = b->spin, r = to_contact(&wheel, a);
    ne_jacobian(f, k ? 3 : 2, &J);
    const V3 turning = v3_cross(W, contact_rate(&wheel, a, W));
    const V3 rest = v3_plus(v3_plus(J.bias_c, v3_cross(J.bias_w, r)), turning);
    for (int i = 0; i < 3; i++) {
        bias[3 * k + i] = v3_at(rest, i);
        for (int v = 0; v < VELOCITIES; v++)
            G[3 * k + i][v] = v3_at(v3_plus(J.Jc[v], v3_cross(J.Jw[v], r)), i);
    }
}

// v', then F of the front wheel and of the rear one
static void bicycle_accelerations(NeForest *f, double *x)
{
    static NeDynamics d;
    double A[UNKNOWNS][UNKNOWNS] = {{0}}, G[6][VELOCITIES], bias[6];
    ne_dynamics(f, &d);
    for (int k = 0; k < 2; k++) touch_rows(f, k, G, bias);
    for (int v = 0; v < VELOCITIES; v++) {
        x[v] = -d.c[v];
        for (int l = 0; l < VELOCITIES; l++) A[v][l] = d.M[v][l];
        for (int i = 0; i < 6; i++) A[v][VELOCITIES + i] = -G[i][v], A[VELOCITIES + i][v] = G[i][v];
    }
    for (int i = 0; i < 6; i++) x[VELOCITIES + i] = -bias[i];
    ne_solve(UNKNOWNS, UNKNOWNS, &A[0][0], x);
}

static void put_state(NeForest *f, const Flow *flow)
{
    static const char *const q[] = {"frame.x",  "frame.y",  "frame.z", "frame.qw",
                                    "frame.qx", "frame.qy", "frame.qz"};
    static const char *const v[] = {"frame.vx", "frame.vy", "frame.vz",
                                    "frame.wx", "frame.wy", "frame.wz"};
    static const char *const joints[][2] = {
        {"steer", "steer_rate"}, {"front", "front_rate"}, {"rear", "rear_rate"}};
    for (int k = 0; k < 7; k++) f->body[0].q[k] = column_of(flow, q[k]);
    for (int k = 0; k < 6; k++) f->body[0].v[k] = column_of(flow, v[k]);
    for (int k = 0; k < 3; k++) {
        f->body[k + 1].q[0] = column_of(flow, joints[k][0]);
        f->body[k + 1].v[0] = column_of(flow, joints[k][1]);
    }
}

// Accelerations, and forces, at the state whose columns were computed last
static double newton_off(NeForest *f, const Flow *flow)
{
    static const char *const names[] = {"vx_acc",           "vy_acc",           "vz_acc",
                                        "wx_acc",           "wy_acc",           "wz_acc",
                                        "steer_acc",        "front_acc",        "rear_acc",
                                        "contact.front.Fx", "contact.front.Fy", "contact.front.Fz",
                                        "contact.rear.Fx",  "contact.rear.Fy",  "contact.rear.Fz"};
    double x[UNKNOWNS], off[2] = {0}, size[2] = {1, 1};
    put_state(f, flow);
    bicycle_accelerations(f, x);
    for (int k = 0; k < UNKNOWNS; k++) {
        const int kind = k >= VELOCITIES;
        off[kind] = fmax(off[kind], fabs(column_of(flow, names[k]) - x[k]));
        size[kind] = fmax(size[kind], fabs(x[k]));
    }
    return fmax(off[0] / size[0], off[1] / size[1]);
}

// ---- random states -------------------------------------------------------------------------

// How high the lowest points of the wheels are, from the frame's origin, rotation and steering: of
// a wheel with the axle a it is a_z that matters, O_z - h sqrt(1 - a_z^2).
static void wheel_heights(V3 O, M3 R, double steer, double *front, double *rear)
{
    const double w = 1.02, trail = 0.08, tilt = half_turn / 10, h2 = 0.35, h3 = 0.3;
    const double hinge = w + trail - h2 * tan(tilt);
    const M3 turned = m3_about(v3_axis(1), -tilt);
    const M3 fork = m3_product(R, m3_product(turned, m3_about(v3_axis(2), steer)));
    // The hub stands at (w, 0, h2 - h3) when the bicycle is straight.
    const V3 arm = m3_across(turned, v3(w - hinge, 0, 0));
    const V3 joint = v3_plus(O, m3_times(R, v3(hinge, 0, h2 - h3)));
    const V3 hub = v3_plus(joint, m3_times(fork, arm));
    *front = hub.z - h2 * sqrt(1 - fork.column[1].z * fork.column[1].z);
    *rear = O.z - h3 * sqrt(1 - R.column[1].z * R.column[1].z);
}

static void quaternion_of(double yaw, double roll, double *q)
{
    const double cy = cos(yaw / 2), sy = sin(yaw / 2), cr = cos(roll / 2), sr = sin(roll / 2);
    q[0] = cy * cr, q[1] = cy * sr, q[2] = sy * sr, q[3] = sy * cr;
}

typedef struct Rolls {
    tr_system *system;
    Conditions *conditions;
    Flow *flow;
    NeForest forest;
    double *x; // all inputs
    int refused, charts;
    double lean, steer; // the most there was
    double kkt, newton, height, position, velocity;
} Rolls;

// Near a lean, a course and a steering angle; false, with words, when there is nothing such
static bool assemble_somewhere(Rolls *r, Random *random)
{
    tr_error err = {0};
    const size_t pose = input_index(r->system, "frame.x"), steer = input_index(r->system, "steer");
    const double lean = random_between(random, -1.396, 1.396);
    r->x[pose] = random_between(random, -5, 5);
    r->x[pose + 1] = random_between(random, -5, 5);
    r->x[pose + 2] = 0.3 * cos(lean);
    quaternion_of(random_between(random, -3, 3), lean, r->x + pose + 3);
    r->x[steer] = random_between(random, -1.5708, 1.5708);
    if (tr_conditions_solve(r->conditions, r->x, false, &err)) return true;
    assert_int_equal(err.status, TR_INVALID);
    assert_non_null(strstr(err.text, "cannot all hold"));
    r->refused++;
    return false;
}

static void check_heights(Rolls *r)
{
    const size_t pose = input_index(r->system, "frame.x"), steer = input_index(r->system, "steer");
    const M3 R = m3_quaternion(r->x + pose + 3);
    double front, rear;
    wheel_heights(v3(r->x[pose], r->x[pose + 1], r->x[pose + 2]), R, r->x[steer], &front, &rear);
    r->height = fmax(r->height, fmax(fabs(front), fabs(rear)));
    r->lean = fmax(r->lean, fabs(asin(R.column[1].z)));
    r->steer = fmax(r->steer, fabs(r->x[steer]));
}

// With any velocities that the chart leaves free
static void check_rates(Rolls *r, Random *random)
{
    double y[40], rate[40], position, velocity;
    tr_error err = {0};
    bool changed;
    Flow *flow = r->flow;
    assert_true(flow->size <= 40);
    for (uint32_t k = 0; k + 1 < flow->size; k++)
        y[k] = k < flow->positions ? r->x[flow->now->place[k]] : random_between(random, -5, 5);
    y[flow->size - 1] = 0;
    if (!tr_flow_rechart(flow, 0, y, tr_flow_quality(flow, 0, y), &changed, &err))
        fail_msg("%s", err.text);
    r->charts += changed;
    for (uint32_t k = flow->positions; changed && k + 1 < flow->size; k++)
        y[k] = random_between(random, -5, 5);
    tr_flow_rate(flow, 0, y, rate);
    for (uint32_t k = 0; k < flow->size; k++) assert_true(isfinite(rate[k]));
    tr_flow_columns(flow, 0, y, flow->column);
    for (uint32_t k = 0; k < flow->column_count; k++) assert_true(isfinite(flow->column[k]));
    tr_flow_residual(flow, 0, y, &position, &velocity);
    r->position = fmax(r->position, position), r->velocity = fmax(r->velocity, velocity);
    const double kkt = tr_kkt_difference(flow->now->kkt, 0, y);
    assert_true(kkt <= 1e-8);
    r->kkt = fmax(r->kkt, kkt);
    r->newton = fmax(r->newton, newton_off(&r->forest, flow));
}

static void test_random_states(void **state)
{
    (void)state;
    Random random = {20071983};
    tr_error err = {0};
    static Rolls r;
    r = (Rolls){.system = system_of(bicycle_with_accelerations(), "state")};
    make_bicycle(&r.forest);
    r.conditions = tr_conditions_new(r.system, false, false, &err);
    r.flow = flow_of(r.system);
    r.x = calloc(tr_input_count(r.system), sizeof *r.x);
    for (int i = 0; i < random_states; i++) {
        if (!assemble_somewhere(&r, &random)) continue;
        check_heights(&r);
        check_rates(&r, &random);
    }
    print_message("%d of %d refused, lean to %.2f, steer to %.2f, %d changes of chart\n", r.refused,
                  random_states, r.lean, r.steer, r.charts);
    print_message("kkt %.1e, Newton %.1e, heights %.1e, positions %.1e, velocities %.1e\n", r.kkt,
                  r.newton, r.height, r.position, r.velocity);
    assert_true(r.refused <= random_states / 100);
    assert_true(r.lean > 1.35 && r.steer > 1.5);
    assert_true(r.newton <= 1e-9);
    assert_true(r.height <= 1e-10 && r.position <= 1e-10 && r.velocity <= 1e-10);
    free(r.x);
    tr_flow_free(r.flow);
    tr_conditions_free(r.conditions);
    tr_system_free(r.system);
}

// ---- starts --------------------------------------------------------------------------------

// Front wheel above the ground at a pitch, when the rear one stands on it
static double front_height(double roll, double steer, double pitch)
{
    const M3 R = m3_product(m3_about(v3_axis(0), roll), m3_about(v3_axis(1), pitch));
    double front, rear;
    wheel_heights(v3(0, 0, 0), R, steer, &front, &rear);
    return front - rear;
}

// The highest that the front wheel comes above the ground, and the lowest
static void find_reach(double roll, double steer, double *low, double *high)
{
    enum { PIECES = 2000 };
    *low = (double)INFINITY, *high = -(double)INFINITY;
    for (int i = 0; i < PIECES; i++) {
        const double height = front_height(roll, steer, 2 * half_turn * i / PIECES);
        *low = fmin(*low, height), *high = fmax(*high, height);
    }
}

// Whether it starts so; otherwise it says what cannot be.
static bool starts(double roll, double steer, double *off)
{
    const Value values[] = {{"roll0", roll}, {"steer0", steer}, {"roll_rate0", 0.3}, {"speed0", 4}};
    tr_error err = {0};
    tr_system *system = system_with("bicycle", "state", values, 4);
    double *x = calloc(tr_input_count(system), sizeof *x), front, rear;
    const bool good = tr_initial(system, x, &err);
    const double *q = x + input_index(system, "frame.x");
    const M3 R = m3_quaternion(q + 3);
    wheel_heights(v3(q[0], q[1], q[2]), R, x[input_index(system, "steer")], &front, &rear);
    if (good) *off = fmax(fabs(front), fmax(fabs(rear), fabs(asin(R.column[1].z) - roll)));
    if (!good) assert_int_equal(err.status, TR_INVALID);
    if (!good) assert_non_null(strstr(err.text, "cannot all hold at t = 0: "));
    if (!good) assert_non_null(strstr(err.text, "'front.normal'"));
    free(x);
    tr_system_free(system);
    return good;
}

// From the state to the accelerations, the solve included; more would be waste.
static void test_operations(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("bicycle", "free");
    char *json = tr_derive_text(system, true, &err);
    if (!json) fail_msg("%s", err.text);
    const char *rhs = strstr(json, "\"rhs\": ");
    assert_non_null(rhs);
    const int operations = atoi(rhs + strlen("\"rhs\": "));
    assert_in_range(operations, 300, 650);
    tr_text_free(json);
    tr_system_free(system);
}

// There is a start wherever some pitch puts both wheels on the ground, and nowhere else.
static void test_starts(void **state)
{
    (void)state;
    Random random = {1865};
    int refused = 0;
    double worst = 0, low, high;
    for (int i = 0; i < random_states / 50; i++) {
        const double roll = random_between(&random, -1.396, 1.396),
                     steer = random_between(&random, -1.5708, 1.5708);
        double off = 0;
        find_reach(roll, steer, &low, &high);
        if (fabs(low) < 1e-3 || fabs(high) < 1e-3) continue; // just so
        const bool possible = low < 0 && high > 0;
        if (starts(roll, steer, &off) != possible)
            fail_msg("roll %.3f, steer %.3f is %spossible", roll, steer, possible ? "" : "im");
        refused += !possible;
        worst = fmax(worst, off);
    }
    print_message("%d of %d refused, others %.1e off\n", refused, random_states / 50, worst);
    assert_true(worst <= 1e-10 && refused <= random_states / 250);
}

// ---- warnings ------------------------------------------------------------------------------

static const char lifted_block[] =
    "trundle: 1\n"
    "bodies: {block: {joint: {type: free}, mass: 2, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
    "contacts: {foot: {kind: slide, body: block, unilateral: false}}\n"
    "forces: {pull: {body: block, force: \"0, 0, 17*t\"}}\n"
    "cases: {up: {end: 2, every: 0.1}}\n";

static const char pushed_ball[] =
    "trundle: 1\n"
    "bodies: {ball: {joint: {type: free}, mass: 2, inertia: {xx: 0.008, yy: 0.008, zz: 0.008}}}\n"
    "contacts: {foot: {kind: rolling, shape: ball, body: ball, radius: 0.1, friction: 0.35, "
    "unilateral: false}}\n"
    "forces: {push: {body: ball, force: \"12*t, 5*t, 0\"}}\n"
    "cases: {push: {end: 3, every: 0.1}}\n";

static tr_summary summary_of(tr_system *system, const char *method)
{
    tr_error err = {0};
    tr_summary s = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = method, o.output = in_folder("run.csv");
    if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
    tr_system_free(system);
    return s;
}

static const char lifts_off[] =
    "the normal force of 'foot' turns negative: it would lift off at t = ";
static const char slips[] = "'foot' takes more friction than there is at t = ";

static const char *const warned_methods[] = {"erk", "bdf", "rk4", "pece"};

// m g = 17 t; times are told with nine digits.
static void test_lift_off(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const tr_summary s =
            summary_of(system_of(model_from(lifted_block), NULL), warned_methods[k]);
        assert_int_equal(s.warnings, 1);
        assert_true(strstr(s.warning, lifts_off) == s.warning);
        assert_true(fabs(number_behind(s.warning, "at t = ") - 2 * g / 17) <= 6e-9);
        assert_close(s.t, 2, 1e-15); // it goes on
    }
}

// m g = 30 sin 2t, again and again
static void test_lift_off_again(void **state)
{
    (void)state;
    tr_model *model = model_from(lifted_block);
    change(model, "forces/pull/force", "0, 0, 30*sin(2*t)");
    change(model, "cases/up/end", "6");
    const tr_summary s = summary_of(system_of(model, NULL), "erk");
    const double first = asin(2 * g / 30) / 2;
    assert_int_equal(s.warnings, 2);
    char *text = certificate();
    assert_non_null(text);
    const char *one = strstr(text, lifts_off), *other = one ? strstr(one + 1, lifts_off) : NULL;
    assert_non_null(other);
    assert_true(fabs(number_behind(one, "at t = ") - first) <= 6e-9);
    assert_true(fabs(number_behind(other, "at t = ") - first - half_turn) <= 6e-9);
    free(text);
}

// A push at the middle of a ball takes two sevenths of it as friction: 2/7 13 t = mu m g.
static void test_friction(void **state)
{
    (void)state;
    const double wanted = 0.35 * 2 * g * 7 / (2 * 13);
    for (int k = 0; k < 4; k++) {
        const tr_summary s =
            summary_of(system_of(model_from(pushed_ball), NULL), warned_methods[k]);
        assert_int_equal(s.warnings, 1);
        assert_true(strstr(s.warning, slips) == s.warning);
        assert_true(fabs(number_behind(s.warning, "at t = ") - wanted) <= 6e-9);
    }
}

// On a slope it takes 2/7 tan(slope), from the start or never.
static void test_friction_on_slope(void **state)
{
    (void)state;
    const Value enough = {"mu", 2. / 7 * tan(0.3) * (1 + 1e-9)};
    const Value little = {"mu", 2. / 7 * tan(0.3) * (1 - 1e-9)};
    tr_summary s = summary_of(system_with("ball_on_slope", "slippery", &enough, 1), "erk");
    assert_int_equal(s.warnings, 0);
    s = summary_of(system_with("ball_on_slope", "slippery", &little, 1), "erk");
    assert_true(s.warnings >= 1);
    assert_string_equal(s.warning, "'foot' takes more friction than there is at t = 0");
}

// A torque T = 100 t on the rear wheel accelerates it by a = T/(h3 (m + I2/h2^2 + I3/h3^2)), and
// takes a (m z + I2/h2 + I3/h3)/w from the front wheel's load.
static void test_wheelie(void **state)
{
    (void)state;
    const double h2 = 0.35, h3 = 0.3, I2 = 0.28, I3 = 0.12, m = 94, mx = 32.16, mz = 80.95;
    const double a = mx * g / (mz + I2 / h2 + I3 / h3);
    const double wanted = a * h3 * (m + I2 / (h2 * h2) + I3 / (h3 * h3)) / 100;
    tr_model *model = model_called("bicycle");
    change(model, "roles/rear/torque", "100*t");
    change(model, "cases/state/end", "1.5");
    const tr_summary s = summary_of(system_set(model, "state", "speed0=4"), "erk");
    assert_int_equal(s.warnings, 1);
    assert_non_null(strstr(s.warning, "the normal force of 'front' turns negative"));
    print_message("%s, not %.9g\n", s.warning, wanted);
    assert_true(fabs(number_behind(s.warning, "at t = ") - wanted) <= 6e-9);
}

// Without spin a coin tips over its edge: f'' = -k cos f with k = 4 g/(5 r), from f = 0.25 at 0.5
// rad/s, until sin f = 1e-3. With the speed v = -f', v^2 = 0.25 + 2 k (sin 0.25 - sin f), and t is
// the integral of dv/(k cos f), by Simpson's rule.
static double time_to_fall(double r)
{
    enum { PIECES = 2000 };
    const double k = 0.8 * g / r, from = 0.5, to = sqrt(0.25 + 2 * k * (sin(0.25) - 1e-3));
    const double h = (to - from) / PIECES;
    double sum = 0;
    for (int i = 0; i <= PIECES; i++) {
        const double v = from + h * i, sine = sin(0.25) - (v * v - 0.25) / (2 * k);
        sum += (i == 0 || i == PIECES ? 1 : i % 2 ? 4 : 2) / (k * sqrt(1 - sine * sine));
    }
    return sum * h / 3;
}

static void test_falls_flat(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_summary s = {0};
    tr_system *system = system_called("euler_disc", "fall");
    tr_simulate_options o = strictly(system);
    o.output = in_folder("run.csv");
    assert_false(tr_simulate(system, &o, &s, &err));
    assert_int_equal(err.status, TR_FAILED);
    const double t = number_behind(err.text, "the wheel 'rim' lies flat at t = ");
    print_message("flat at %.9g, not %.9g\n", t, time_to_fall(0.0376));
    assert_true(fabs(t - time_to_fall(0.0376)) <= 1e-9);
    Sheet *kept = read_sheet(o.output);
    assert_true(kept->rows == s.rows && s.t <= t && t < s.t + 0.005);
    tr_sheet_free(kept);
    tr_system_free(system);
}

// ---- fixed steps ---------------------------------------------------------------------------

static Sheet *ride_by_steps(bool no_project)
{
    tr_system *system = system_called("bicycle", "free");
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = "pece", o.step = 0.005, o.end = 5, o.no_project = no_project;
    Sheet *run = simulated(system, o, NULL);
    tr_system_free(system);
    return run;
}

static void test_projection(void **state)
{
    (void)state;
    static const char *const angles[] = {"yaw", "roll", "pitch", "steer"};
    Sheet *mended = ride_by_steps(false), *left = ride_by_steps(true);
    Sheet *exact = run_to(system_called("bicycle", "free"), 5, 0.1);
    print_message("positions %.1e, without projection %.1e\n", most(mended, "residual.position"),
                  most(left, "residual.position"));
    assert_true(most(mended, "residual.position") < 1e-13);
    assert_true(most(left, "residual.position") > 1e-12);
    for (int k = 0; k < 4; k++) {
        const double off = difference(mended, angles[k], left, angles[k]),
                     error = difference(mended, angles[k], exact, angles[k]);
        print_message("%-5s %.1e apart, %.1e off\n", angles[k], off, error);
        assert_true(off <= 1e-6 && error <= 1e-5);
    }
    tr_sheet_free(mended);
    tr_sheet_free(left);
    tr_sheet_free(exact);
}

// ---- contacts that cannot be ---------------------------------------------------------------

// With words that begin so
static void assert_refused(const char *contact, const char *words)
{
    char text[1500], told[600];
    tr_error err = {0};
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies:\n"
             "  ball: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
             "contacts:\n"
             "  c: {body: ball, %s}\n",
             contact);
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    tr_system_free(system);
    snprintf(told, sizeof told, "%d:%d: %s", err.line, err.column, err.text);
    if (strncmp(told, words, strlen(words)) != 0) fail_msg("%s\n  says %s", contact, told);
    assert_int_equal(err.status, TR_INVALID);
}

static void test_bad_wheels(void **state)
{
    (void)state;
    assert_refused("axis: \"0, 1, 0\"", "5:3: the wheel 'c' needs a positive radius");
    assert_refused("radius: 0, axis: \"0, 1, 0\"", "5:27: the wheel 'c' needs a positive radius");
    assert_refused("radius: -0.3, axis: \"0, 1, 0\"",
                   "5:27: the wheel 'c' needs a positive radius");
    assert_refused("axis: \"0, 1, 0\", radius: 0.3, tube: 0.3",
                   "5:55: the tube of a tyre is thinner than the wheel's radius");
    assert_refused("axis: \"0, 1, 0\", radius: 0.3, tube: 0.4",
                   "5:55: the tube of a tyre is thinner than the wheel's radius");
    assert_refused("axis: \"0, 1, 0\", radius: 0.3, tube: -0.1", "5:55: the tube of a tyre ");
    assert_refused("radius: 0.3", "5:3: the joint of 'ball' has no axis: 'c' needs one");
    assert_refused("radius: 0.3, axis: \"0, 0, 0\"", "5:39: the axis is zero: it has no direction");
    assert_refused("radius: 0.3, axis: \"0, 1, 0\", at: \"0.1, 0, 0\"",
                   "5:54: the middle of the wheel 'c' must stand on its axle");
}

static void test_bad_balls(void **state)
{
    (void)state;
    assert_refused("shape: ball", "5:3: the ball 'c' needs a positive radius");
    assert_refused("shape: ball, radius: 0", "5:40: the ball 'c' needs a positive radius");
    assert_refused("shape: ball, radius: 0.1, axis: \"0, 1, 0\"", "5:52: a ball has no axle");
    assert_refused("shape: ball, radius: 0.1, tube: 0.05", "5:51: a ball has no tube");
    assert_refused("shape: bal, radius: 0.1", "5:26: what rolls is a wheel or a ball, not a 'bal'");
}

static void test_bad_friction(void **state)
{
    (void)state;
    assert_refused("kind: pin, friction: 0.5", "5:40: a pin contact has no use for 'friction'");
    assert_refused("kind: skate, friction: 0.5", "5:42: a skate contact has no use for 'friction'");
    assert_refused("kind: slide, radius: 0.5", "5:40: a slide contact has no use for 'radius'");
    assert_refused("shape: ball, radius: 0.1, friction: nothing", "5:55: unknown name 'nothing'");
}

// ---- all of them ---------------------------------------------------------------------------

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_accelerations),
        cmocka_unit_test(test_states_with_torques),
        cmocka_unit_test(test_free_ride),
        cmocka_unit_test(test_turn),
        cmocka_unit_test(test_long_ride),
        cmocka_unit_test(test_facts_of_the_free_ride),
        cmocka_unit_test(test_static_loads),
        cmocka_unit_test(test_facts_of_the_turn),
        cmocka_unit_test(test_turned_world),
        cmocka_unit_test(test_wheels_in_other_words),
        cmocka_unit_test(test_newton_and_euler),
        cmocka_unit_test(test_steady_disc),
        cmocka_unit_test(test_ball_on_slope),
        cmocka_unit_test(test_thin_tyres),
        cmocka_unit_test(test_random_states),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_lift_off),
        cmocka_unit_test(test_lift_off_again),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_friction_on_slope),
        cmocka_unit_test(test_wheelie),
        cmocka_unit_test(test_falls_flat),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_bad_wheels),
        cmocka_unit_test(test_bad_balls),
        cmocka_unit_test(test_bad_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
