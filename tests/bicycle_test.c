// SPDX-License-Identifier: Apache-2.0
// The bicycle against published and reference motions, in a world that is turned, and in other
// words.
//
// The CSV files are explained in tests/reference/README.md; they have x up, y forward and z left,
// where the models have z, x and y. [P] is Mauny, Porez and Boyer (2017).
#include "folder.h"
#include "plans.h"
#include "rolling.h"

static const double long_run = BRIEF ? 20 : 600; // [s]

// ---- vectors and angles --------------------------------------------------------------------

static V3 vector_of(const Flow *flow, const char *x, const char *y, const char *z)
{
    return v3(column_of(flow, x), column_of(flow, y), column_of(flow, z));
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
    const double wanted[] = {p->sign * p->value + p->shift * M_PI, p->sign * p->rate,
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
    const Number values[] = {{"roll0", M_PI / 2 - published[4].value},
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
        assert_below(off, 1e-10);
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

// The force on the front wheel in the fork's axes, from that in the frame's
static V3 into_fork(V3 frame, double steer)
{
    const M3 fork = m3_product(m3_about(v3_axis(1), -M_PI / 10), m3_about(v3_axis(2), steer));
    return m3_across(fork, frame);
}

static double state_off(const Sheet *reference, size_t row, const Flow *flow)
{
    double worst = 0;
    for (size_t k = 0; k < sizeof state_columns / sizeof *state_columns; k++) {
        const double wanted = at(reference, row, state_columns[k][0]);
        worst = fmax(worst, relative(column_of(flow, state_columns[k][1]), wanted));
    }
    const V3 lam = vector_at(reference, row, "lam2", "lam3", "lam1");
    const V3 wanted = into_fork(lam, at(reference, row, "r1"));
    const V3 found = vector_of(flow, "fork_x", "fork_y", "fork_z");
    for (int k = 0; k < 3; k++) worst = fmax(worst, relative(v3_at(found, k), v3_at(wanted, k)));
    const double angles[][2] = {{column_of(flow, "front_angle"), at(reference, row, "psi2")},
                                {column_of(flow, "rear_angle"), at(reference, row, "psi3")}};
    for (int k = 0; k < 2; k++) worst = fmax(worst, fabs(angles[k][0] - (M_PI - angles[k][1])));
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
        Number values[10] = {[9] = {"speed0", 0.3 * at(reference, i, "r3_rate")}};
        for (int k = 0; k < 9; k++)
            values[k] = (Number){names[k][0], at(reference, i, names[k][1])};
        tr_system *system = system_valued(bicycle_with_accelerations(), "state", values, 10);
        Flow *flow = flow_of(system);
        tr_flow_columns(flow, 0, flow->start, flow->column);
        const double off = state_off(reference, i, flow);
        print_message("state %zu: %.1e\n", i, off);
        assert_below(off, 1e-10);
        close_flow(flow);
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
        if (!is_below(off, m->tolerance)) fail_msg("%s: %s is off by %.3g", case_name, m->run, off);
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
    assert_below(most(run, "residual.position"), 1e-11);
    assert_below(most(run, "residual.velocity"), 1e-11);
    assert_below(energy, 1e-8);
    assert_below(fabs(at(run, last, "speed") - 4.622442), 1e-6);
    assert_below(fabs(at(run, last, "roll")), 1e-4);
    assert_below(fabs(at(run, last, "steer")), 1e-4);
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
    assert_below(fabs(at(run, peak, "speed") - 4.6650), 5e-5);
    assert_below(fabs(at(run, 0, "rear_normal") - 599.69), 5e-3);
    assert_below(fabs(at(run, last, "speed") - 4.6224), 1e-4); // not a margin: digits of the paper
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
    close_flow(flow);
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
    // not a margin, none of them: half of the last digit of the paper
    assert_below(fabs(least(run, "roll") + 0.486), 5e-4);
    assert_below(fabs(most(run, "steer") - 0.210), 5e-4);
    assert_below(fabs(ahead - 0.121), 5e-4);
    assert_below(fabs(curvature - 0.068), 5e-4); // not a margin
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
        assert_below(place, 1e-9);
        assert_below(force, 1e-7);
    }
    assert_below(off_plane(run, P, "front_x", "front_y", "contact.front.z"), 1e-12);
    assert_below(off_plane(run, P, "rear_x", "rear_y", "contact.rear.z"), 1e-12);
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
        if (!is_below(off, 1e-9)) fail_msg("%s is off by %.3g", same[k], off);
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
        assert_below(worst, 1e-10);
        tr_sheet_free(run);
    }
    tr_sheet_free(plain);
}

// ---- starts --------------------------------------------------------------------------------

static int operations_of(const tr_system *system)
{
    tr_error err = {0};
    char *json = tr_derive_text(system, true, &err);
    if (!json) fail_msg("%s", err.text);
    const char *rhs = strstr(json, "\"rhs\": ");
    assert_non_null(rhs);
    const int operations = atoi(rhs + strlen("\"rhs\": "));
    tr_text_free(json);
    return operations;
}

// From the state to the accelerations, the solve included; more would be waste.
static void test_operations(void **state)
{
    (void)state;
    tr_system *system = system_called("bicycle", "free");
    assert_in_range(operations_of(system), 300, 650);
    tr_system_free(system);
}

static void replace_by(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    assert_non_null(at);
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

// Wheels whose moments across the axle are one parameter are round however they are written.
static void test_wheels_by_moments(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *plain = system_called("bicycle", "free");
    char *file = read_text(MODELS_DIR "/bicycle.yaml");
    char *text = calloc(strlen(file) + 100, 1);
    assert_non_null(text);
    strcpy(text, file);
    replace_by(text, "{axial: I2zz, radial: I2xx}", "{xx: I2xx, yy: I2zz, zz: I2xx}");
    replace_by(text, "{axial: I3zz, radial: I3xx}", "{xx: I3xx, yy: I3zz, zz: I3xx}");
    tr_system *by_moments = system_of(model_from(text), "free");
    assert_int_equal(operations_of(plain), operations_of(by_moments));
    char *a = tr_eval_text(plain, true, &err), *b = tr_eval_text(by_moments, true, &err);
    if (err.status) fail_msg("%s", err.text);
    assert_string_equal(a, b);
    tr_text_free(a);
    tr_text_free(b);
    tr_system_free(plain);
    tr_system_free(by_moments);
    free(file);
    free(text);
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
    assert_below(most(mended, "residual.position"), 1e-13);
    assert_true(most(left, "residual.position") > 1e-12);
    for (int k = 0; k < 4; k++) {
        const double off = difference(mended, angles[k], left, angles[k]),
                     error = difference(mended, angles[k], exact, angles[k]);
        print_message("%-5s %.1e apart, %.1e off\n", angles[k], off, error);
        assert_below(off, 1e-6);
        assert_below(error, 1e-5);
    }
    tr_sheet_free(mended);
    tr_sheet_free(left);
    tr_sheet_free(exact);
}

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
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_wheels_by_moments),
        cmocka_unit_test(test_projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
