// SPDX-License-Identifier: Apache-2.0
// Bicycles whose handlebar and rear wheel are moved: against a reference motion, and against what
// Boyer and Belkhiri (2013) print, [B n], with these corrections:
//
//   (51)  puts O0 on the ground line, (73) at the height of the hubs: H_ee = (0, 0, -h, 0, 1, 0)
//         there, and the wheels' heights are added to ms and I here
//   (53)  its first term, N^2/c1, is N/c1, and its second vanishes: the direction is not
//   normalised.
//         At alpha = 0, where N = 1, it holds as printed
//   (57)  drops the terms of r_a'' of (68); there are none where the wheels turn steadily
//   (79)  has the sign of the left-hand side of (1), so that f_inert is its negative
//   (80)  its second term has r2', not r1', and the first belongs to r1 alone
//   (82)  gravity is along -X, which is up, not along Z
//
// The paper's X, Y, Z are up, forward, left: z, x and y of the models. The CSV files are explained
// in tests/reference/README.md.
#include "newton_euler.h"
#include "runs.h"

// ---- the reference -------------------------------------------------------------------------

static void check_facts(const char *model, const char *front)
{
    char *json = facts_of(system_called(model, "ride"));
    assert_fact(json, "n", 6);
    assert_fact(json, "s_p", 1);
    assert_fact(json, "s_a", 2);
    assert_fact(json, "rows", 6);
    assert_fact(json, "m", 6);
    assert_fact(json, "m_locked", 6);
    assert_fact(json, "redundant", 0);
    assert_fact(json, "antagonist", 0); // lambda_stat = 0
    assert_fact(json, "kernel", 1);     // H != 0
    assert_names(json, "kinematic", front);
    assert_names(json, "dynamic", "");
    assert_names(json, "hyperstatic_rows", "");
    tr_text_free(json);
}

static void test_facts(void **state)
{
    (void)state;
    check_facts("bicycle_actuated", "front");
    check_facts("bicycle_boyer", "r2");
}

typedef struct Match {
    const char *reference, *run;
    double tolerance; // relative to the largest of the column, or to 1
} Match;

static const Match ride_columns[] = {
    {"r1", "steer", 1e-13},           {"r3", "rear", 1e-13},
    {"roll", "roll", 1e-11},          {"yaw", "yaw", 1e-11},
    {"pitch", "pitch", 1e-11},        {"P3y", "contact.rear.x", 1e-11},
    {"P3z", "contact.rear.y", 1e-11}, {"r2_rate", "front_rate", 1e-11},
    {"Om0x", "frame.wz", 1e-11},      {"Om0y", "frame.wx", 1e-11},
    {"Om0z", "frame.wy", 1e-11},      {"V0x", "frame.vz", 1e-11},
    {"V0y", "frame.vx", 1e-11},       {"V0z", "frame.vy", 1e-11},
    {"tau1", "tau.steer", 1e-10},     {"tau3", "tau.rear", 1e-10},
};

static void test_reference_ride(void **state)
{
    (void)state;
    Sheet *reference = read_sheet(REFERENCE_DIR "/bike_actuated.csv");
    Sheet *run = run_of(system_called("bicycle_actuated", "ride"));
    assert_int_equal(reference->rows, 21);
    for (size_t k = 0; k < sizeof ride_columns / sizeof *ride_columns; k++) {
        const Match *m = &ride_columns[k];
        const double off = difference(reference, m->reference, run, m->run) /
                           fmax(1, largest(reference, m->reference));
        print_message("%-14s %.1e\n", m->run, off);
        assert_below(off, m->tolerance);
    }
    for (size_t i = 0; i < run->rows; i++) // what the torques put in
        assert_close(at(run, i, "energy.kinetic") + at(run, i, "energy.potential"),
                     at(reference, i, "energy"), 1e-9);
    tr_sheet_free(reference);
    tr_sheet_free(run);
}

// ---- Boyer's free dynamics -----------------------------------------------------------------

// Velocities in the paper's order: those of the frame, r2, r1, r3
enum { X, Y, Z, ANGULAR = 3, R2 = 6, R1, R3, VELOCITIES };
static const char *const velocity[VELOCITIES] = {"frame.vz", "frame.vx", "frame.vy",
                                                 "frame.wz", "frame.wx", "frame.wy",
                                                 "r2_rate",  "r1_rate",  "r3_rate"};

typedef struct Boyer {
    double l2, l3, h, alpha, hub, m_w, I_w, J_w, m0, mX0, mY0, mZ0;
    double XX0, YY0, ZZ0, XY0, XZ0, YZ0, gamma;
    double r1;
} Boyer;

// Names of the parameters in the order of the structure
static const char *const parameter[] = {"l2",  "l3",  "h",   "alpha", "hub",  "m_w", "I_w",
                                        "J_w", "m0",  "mX0", "mY0",   "mZ0",  "XX0", "YY0",
                                        "ZZ0", "XY0", "XZ0", "YZ0",   "gamma"};
enum { PARAMETERS = sizeof parameter / sizeof *parameter };

// A bicycle that could be, so that it can be derived
static const Boyer plain = {.l2 = 0.6,
                            .l3 = 0.45,
                            .h = 0.34,
                            .alpha = 0.3,
                            .m_w = 2.2,
                            .I_w = 0.11,
                            .J_w = 0.22,
                            .m0 = 82,
                            .mX0 = 49,
                            .mY0 = -10,
                            .mZ0 = 2,
                            .XX0 = 5,
                            .YY0 = 40,
                            .ZZ0 = 42,
                            .XY0 = 4,
                            .XZ0 = -1,
                            .YZ0 = 0.5,
                            .gamma = 9.81};

static void list_values(const Boyer *b, Number *values)
{
    double numbers[PARAMETERS];
    memcpy(numbers, b, sizeof numbers);
    for (int k = 0; k < PARAMETERS; k++) values[k] = (Number){parameter[k], numbers[k]};
}

// The front wheel's share of I, and its slope along r1                                    [B 75]
static M3 front_inertia(const Boyer *b, bool slope)
{
    const double s = sin(b->alpha), c = cos(b->alpha), s1 = sin(b->r1), c1 = cos(b->r1);
    const double I = b->I_w, J = b->J_w, off = I - J;
    const double across = slope ? -2 * off * s1 * c1 : I * c1 * c1 + J * s1 * s1;
    const double along = slope ? 0 : I, mixed = off * (slope ? c1 * c1 - s1 * s1 : s1 * c1);
    const double XX = s * s * across + along * c * c, XY = s * c * (across - along);
    const double YY = c * c * across + along * s * s;
    const double ZZ = slope ? 2 * off * s1 * c1 : I * s1 * s1 + J * c1 * c1;
    return (M3){{v3(XX, XY, s * mixed), v3(XY, YY, c * mixed), v3(s * mixed, c * mixed, ZZ)}};
}

// [B 74], with what the wheels' height adds
static M3 inertia(const Boyer *b)
{
    const double arms = b->m_w * (b->l2 * b->l2 + b->l3 * b->l3);
    const double heights = 2 * b->m_w * b->hub * b->hub;
    const double XY = b->XY0 - b->m_w * b->hub * (b->l2 - b->l3);
    M3 I = front_inertia(b, false);
    I.column[X] = v3_plus(I.column[X], v3(b->XX0 + arms + b->I_w, XY, b->XZ0));
    I.column[Y] = v3_plus(I.column[Y], v3(XY, b->YY0 + b->I_w + heights, b->YZ0));
    I.column[Z] = v3_plus(I.column[Z], v3(b->XZ0, b->YZ0, b->ZZ0 + b->J_w + arms + heights));
    return I;
}

static double mass(const Boyer *b) { return 2 * b->m_w + b->m0; }

static V3 first_moment(const Boyer *b)
{
    return v3(b->mX0 + 2 * b->m_w * b->hub, b->mY0 + b->m_w * (b->l2 - b->l3), b->mZ0);
}

// The direction of the front axle and its slope along r1; the steering axis
static V3 axle(const Boyer *b)
{
    return v3(-sin(b->alpha) * sin(b->r1), -cos(b->alpha) * sin(b->r1), cos(b->r1));
}
static V3 axle_slope(const Boyer *b)
{
    return v3(-sin(b->alpha) * cos(b->r1), -cos(b->alpha) * cos(b->r1), -sin(b->r1));
}
static V3 steering_axis(const Boyer *b) { return v3(cos(b->alpha), -sin(b->alpha), 0); }

// [B 73], [B 76]
static void mass_matrix(const Boyer *b, double M[VELOCITIES][VELOCITIES])
{
    memset(M, 0, VELOCITIES * sizeof *M);
    const M3 I = inertia(b);
    const V3 ms = first_moment(b);
    const V3 M_r[] = {v3_times(b->J_w, axle(b)), v3_times(b->I_w, steering_axis(b)),
                      v3(0, 0, b->J_w)};
    for (int k = 0; k < 3; k++) {
        const V3 lever = v3_cross(ms, v3_axis(k)); // the k-th column of ms^
        M[k][k] = mass(b);
        for (int i = 0; i < 3; i++) {
            M[ANGULAR + i][k] = M[k][ANGULAR + i] = v3_at(lever, i);
            M[ANGULAR + i][ANGULAR + k] = v3_at(I.column[k], i);
            M[ANGULAR + i][R2 + k] = M[R2 + k][ANGULAR + i] = v3_at(M_r[k], i);
        }
    }
    M[R2][R2] = M[R3][R3] = b->J_w;
    M[R1][R1] = b->I_w;
}

// What stands on the left beside M v': [B 79]-[B 82], corrected. `up` is X of the world in the
// frame's axes.
static void bias(const Boyer *b, const double *v, V3 up, double *c)
{
    const V3 V = v3(v[X], v[Y], v[Z]), W = v3(v[ANGULAR], v[ANGULAR + 1], v[ANGULAR + 2]);
    const V3 ms = first_moment(b), slope = axle_slope(b);
    const M3 I = inertia(b), dI = front_inertia(b, true);
    const V3 gravity = v3_times(-b->gamma, up);
    const V3 spins =
        v3_plus(v3_times(b->J_w * v[R2], axle(b)),
                v3_plus(v3_times(b->I_w * v[R1], steering_axis(b)), v3(0, 0, b->J_w * v[R3])));
    V3 f = v3_plus(v3_times(mass(b), v3_cross(W, V)), v3_cross(W, v3_cross(W, ms)));
    V3 n = v3_plus(v3_cross(ms, v3_cross(W, V)), v3_cross(W, v3_plus(m3_times(I, W), spins)));
    n = v3_plus(n, v3_times(v[R1], m3_times(dI, W)));
    n = v3_plus(n, v3_times(b->J_w * v[R1] * v[R2], slope));
    f = v3_minus(f, v3_times(mass(b), gravity));
    n = v3_minus(n, v3_cross(ms, gravity));
    for (int k = 0; k < 3; k++) c[k] = v3_at(f, k), c[ANGULAR + k] = v3_at(n, k);
    c[R2] = b->J_w * v[R1] * v3_dot(slope, W);
    c[R1] = -v3_dot(W, m3_times(dI, W)) / 2 - b->J_w * v[R2] * v3_dot(slope, W);
    c[R3] = 0;
}

// M, c and Q of the model as they are before anything is reduced, at any inputs
typedef struct Free {
    tr_system *system;
    tr_program *program;
    tr_workspace *work;
    double in[80], out[VELOCITIES * (VELOCITIES + 2)];
    int place[VELOCITIES]; // of the paper's velocities among ours
} Free;

static Free free_dynamics(void)
{
    tr_error err = {0};
    Number values[PARAMETERS];
    list_values(&plain, values);
    Free f = {.system = system_with("bicycle_boyer", "coast", values, PARAMETERS)};
    f.program = tr_compile(f.system, "M c Q", NULL, &err);
    f.work = tr_workspace_new(f.program, &err);
    if (err.status) fail_msg("%s", err.text);
    assert_true(tr_input_count(f.system) <= sizeof f.in / sizeof *f.in);
    assert_int_equal(tr_program_sizes(f.program).outputs, sizeof f.out / sizeof *f.out);
    int count = 0;
    for (size_t i = 0; i < tr_input_count(f.system); i++) {
        if (tr_input_kind(f.system, i) != TR_VELOCITY) continue;
        for (int k = 0; k < VELOCITIES; k++)
            if (strcmp(tr_input_name(f.system, i), velocity[k]) == 0) f.place[k] = count;
        count++;
    }
    assert_int_equal(count, VELOCITIES);
    return f;
}

static void free_free_dynamics(Free *f)
{
    tr_workspace_free(f->work);
    tr_program_free(f->program);
    tr_system_free(f->system);
}

static Boyer some_bicycle(Random *r, bool on_the_ground)
{
    Boyer b = plain;
    double numbers[PARAMETERS];
    memcpy(numbers, &b, sizeof numbers);
    for (int k = 0; k < PARAMETERS; k++) numbers[k] *= random_between(r, 0.7, 1.3);
    memcpy(&b, numbers, sizeof numbers);
    b.hub = on_the_ground ? b.h : 0;
    b.r1 = random_between(r, -1.5, 1.5);
    return b;
}

// Any attitude and velocities; `up` is X of the world in the frame's axes.
static void put_state(Free *f, const Boyer *b, Random *r, double *v, V3 *up)
{
    static const char *const quaternion[] = {"frame.qw", "frame.qx", "frame.qy", "frame.qz"};
    double q[4], size = 0;
    for (size_t i = 0; i < tr_input_count(f->system); i++) f->in[i] = random_between(r, -2, 2);
    Number values[PARAMETERS];
    list_values(b, values);
    for (int k = 0; k < PARAMETERS; k++)
        f->in[input_index(f->system, values[k].name)] = values[k].value;
    f->in[input_index(f->system, "r1")] = b->r1;
    for (int k = 0; k < VELOCITIES; k++) v[k] = f->in[input_index(f->system, velocity[k])];
    for (int k = 0; k < 4; k++) q[k] = random_between(r, -1, 1), size += q[k] * q[k];
    for (int k = 0; k < 4; k++) f->in[input_index(f->system, quaternion[k])] = q[k] /= sqrt(size);
    const V3 z = m3_across(m3_quaternion(q), v3_axis(2));
    *up = v3(z.z, z.x, z.y);
}

static double dynamics_off(Free *f, const Boyer *b, Random *r)
{
    double M[VELOCITIES][VELOCITIES], c[VELOCITIES], v[VELOCITIES], worst = 0;
    V3 up;
    put_state(f, b, r, v, &up);
    mass_matrix(b, M);
    bias(b, v, up, c);
    tr_evaluate(f->program, f->work, f->in, f->out);
    const double *c_ours = f->out + VELOCITIES * VELOCITIES, *Q = c_ours + VELOCITIES;
    for (int i = 0; i < VELOCITIES; i++) {
        const int row = f->place[i];
        const double forces = c_ours[row] - Q[row];
        worst = fmax(worst, fabs(forces - c[i]) / fmax(1, fabs(c[i])));
        for (int k = 0; k < VELOCITIES; k++) {
            const double entry = f->out[row * VELOCITIES + f->place[k]];
            worst = fmax(worst, fabs(entry - M[i][k]) / fmax(1, fabs(M[i][k])));
        }
    }
    return worst;
}

static void test_free_dynamics(void **state)
{
    (void)state;
    Free f = free_dynamics();
    Random r = {20130601};
    double worst = 0;
    for (int i = 0; i < 1000; i++) {
        const Boyer b = some_bicycle(&r, i % 2);
        worst = fmax(worst, dynamics_off(&f, &b, &r));
    }
    print_message("worst %.1e\n", worst);
    assert_below(worst, 1e-12);
    free_free_dynamics(&f);
}

// ---- Boyer's kinematics --------------------------------------------------------------------

// Upright with an upright steering axis: in 9 velocities of the paper, per lean rate, r1' and r3'
typedef struct Upright {
    double H[VELOCITIES], J1[VELOCITIES], J3[VELOCITIES];
} Upright;

// [B 51], [B 53]; at the height of the hubs corrected
static Upright upright(const Boyer *b)
{
    const double psi = b->h * tan(b->r1) / (b->l2 + b->l3); // [B 52]
    const double front = cos(b->r1) + sin(b->r1) * tan(b->r1), up = b->h - b->hub;
    return (Upright){.H = {0, 0, -up, 0, 1, 0, 0, 0, 0},
                     .J1 = {0, 0, 0, 0, 0, 0, 0, 1, 0},
                     .J3 = {0, b->h, psi * b->l3, psi, 0, 0, front, 0, 1}};
}

// At the start with the handlebar held at r1, the frame upright, and its rates
static tr_system *held_upright(const Boyer *b, double spin)
{
    Number values[PARAMETERS + 2];
    list_values(b, values);
    values[PARAMETERS] = (Number){"steer0", b->r1};
    values[PARAMETERS + 1] = (Number){"spin0", spin};
    return system_with("bicycle_boyer", "held", values, PARAMETERS + 2);
}

static Boyer some_upright(Random *r, bool on_the_ground)
{
    Boyer b = plain;
    b.alpha = 0;
    b.l2 = random_between(r, 0.4, 0.8);
    b.l3 = random_between(r, 0.3, 0.7);
    b.h = random_between(r, 0.2, 0.4);
    b.hub = on_the_ground ? b.h : 0;
    b.r1 = random_between(r, -1.2, 1.2);
    return b;
}

static void test_kinematics(void **state)
{
    (void)state;
    Random r = {51};
    for (int i = 0; i < 20; i++) {
        const Boyer b = some_upright(&r, i % 2);
        const Upright u = upright(&b);
        tr_system *system = held_upright(&b, 5);
        double H_ee[6], J_ext[12], J_int[2];
        evaluate_start(system, "H_ee", H_ee, 6);
        evaluate_start(system, "J_ext", J_ext, 12);
        evaluate_start(system, "J_int", J_int, 2);
        static const int ours[] = {2, 0, 1, 5, 3, 4}; // where vz vx vy wz wx wy are
        for (int k = 0; k < 6; k++) {
            assert_close(H_ee[ours[k]], u.H[k], 1e-14);
            assert_close(J_ext[2 * ours[k]], u.J1[k], 1e-14);
            assert_close(J_ext[2 * ours[k] + 1], u.J3[k], 1e-14);
        }
        assert_close(J_int[0], 0, 1e-14);
        assert_close(J_int[1], u.J3[R2], 1e-14);
        tr_system_free(system);
    }
}

// M_r Om0Y' = f_r where the wheels turn steadily: H^T M H Om0Y' = -H^T (M H' Om0Y + c)
// with Om0Y = 0                                                                   [B 55]-[B 57]
static void test_reduced_dynamics(void **state)
{
    (void)state;
    Random r = {55};
    double size = 0;
    for (int i = 0; i < 20; i++) {
        const Boyer b = some_upright(&r, i % 2);
        const Upright u = upright(&b);
        const double spin = random_between(&r, 3, 20);
        double M[VELOCITIES][VELOCITIES], c[VELOCITIES], v[VELOCITIES], M_r = 0, f_r = 0;
        for (int k = 0; k < VELOCITIES; k++) v[k] = u.J3[k] * spin;
        mass_matrix(&b, M);
        bias(&b, v, v3_axis(X), c);
        for (int k = 0; k < VELOCITIES; k++) {
            f_r -= u.H[k] * c[k];
            for (int l = 0; l < VELOCITIES; l++) M_r += u.H[k] * M[k][l] * u.H[l];
        }
        tr_system *system = held_upright(&b, spin);
        double vdot[VELOCITIES];
        evaluate_start(system, "vdot", vdot, VELOCITIES);
        const double ours = vdot[3]; // of frame.wx
        assert_close(ours, f_r / M_r, 1e-12);
        size = fmax(size, fabs(ours));
        tr_system_free(system);
    }
    assert_true(size > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_reference_ride),
        cmocka_unit_test(test_free_dynamics),
        cmocka_unit_test(test_kinematics),
        cmocka_unit_test(test_reduced_dynamics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
