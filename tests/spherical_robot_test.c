// SPDX-License-Identifier: Apache-2.0
// The robot in a ball, whose wheel rolls inside a sphere that rolls itself, against equations of
// its own: every body is free, with Newton's and Euler's laws, and what holds them together are
// velocities that are zero, c(q, v) = J v, with multipliers. J' v is found by a step of q' into the
// complex plane. And the same robot adrift, where nothing changes its momentum.
#include "rolling.h"

#include <complex.h>
#undef I

static const double complex imaginary = (double complex)_Complex_I;

// ---- vectors of complex numbers ------------------------------------------------------------

typedef struct C3 {
    double complex x, y, z;
} C3;

static C3 c3(double complex x, double complex y, double complex z) { return (C3){x, y, z}; }
static C3 c3_plus(C3 a, C3 b) { return c3(a.x + b.x, a.y + b.y, a.z + b.z); }
static C3 c3_minus(C3 a, C3 b) { return c3(a.x - b.x, a.y - b.y, a.z - b.z); }
static C3 c3_times(double complex s, C3 a) { return c3(s * a.x, s * a.y, s * a.z); }
static double complex c3_dot(C3 a, C3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static C3 c3_cross(C3 a, C3 b)
{
    return c3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static C3 c3_unit(C3 a) { return c3_times(1 / csqrt(c3_dot(a, a)), a); }

// b turned by a unit quaternion
static C3 c3_turned(const double complex *q, C3 b)
{
    const C3 u = c3(q[1], q[2], q[3]), once = c3_times(2, c3_cross(u, b));
    return c3_plus(c3_plus(b, c3_times(q[0], once)), c3_cross(u, once));
}

// ---- the robot -----------------------------------------------------------------------------

enum { SHELL, CART, WHEEL, BODIES, POSE = 7, V = 6 * BODIES, ROWS = 13, Q = POSE * BODIES };
enum { SIZE = Q + V + 1 }; // and the angle of the wheel

// As in models/spherical_robot.yaml
static const double R = 0.25, R_i = 0.24, low = 0.11, r = 0.05, up = 0.5, foot = 0.02;
static const double mass[BODIES] = {1.2, 2.5, 0.2};
static const double inertia[BODIES][3] = {
    {0.05, 0.05, 0.05}, {0.012, 0.015, 0.014}, {1.5e-4, 2.5e-4, 1.5e-4}};
static const double torque = 0.25, drag = 0.02;

static V3 hinge(void) { return v3(-(R_i - r) * sin(up), 0, -(R_i - r) * cos(up)); }
static V3 foot_at(double side)
{
    const double out = (R_i - foot) * sin(up);
    return v3(out / 2, side * out * sqrt(3) / 2, -(R_i - foot) * cos(up));
}

// Bodies at their centres of mass: places and quaternions
typedef struct Pose {
    C3 p[BODIES];
    double complex turn[BODIES][4];
} Pose;

static C3 complex_of(V3 a) { return c3(a.x, a.y, a.z); }
static C3 turned(const Pose *at, int body, V3 a)
{
    return c3_turned(at->turn[body], complex_of(a));
}

static void put(double complex *rows, C3 a) { rows[0] = a.x, rows[1] = a.y, rows[2] = a.z; }

// c(q, v), v of bodies one after the other: of the centre of mass, and of turning, in world axes
static void constraints(const Pose *at, const double *v, double complex *rows)
{
    C3 u[BODIES], w[BODIES];
    for (int i = 0; i < BODIES; i++) {
        u[i] = c3(v[6 * i], v[6 * i + 1], v[6 * i + 2]);
        w[i] = c3(v[6 * i + 3], v[6 * i + 4], v[6 * i + 5]);
    }
    const V3 com = v3(0, 0, -low);
    // the shell on the ground
    put(rows, c3_plus(u[SHELL], c3_cross(w[SHELL], c3(0, 0, -R))));
    // the wheel in its bearing
    const C3 arm = turned(at, CART, v3_minus(hinge(), com));
    put(rows + 3, c3_minus(u[WHEEL], c3_plus(u[CART], c3_cross(w[CART], arm))));
    const C3 turns = c3_minus(w[WHEEL], w[CART]);
    rows[6] = c3_dot(turns, turned(at, CART, v3(1, 0, 0)));
    rows[7] = c3_dot(turns, turned(at, CART, v3(0, 0, 1)));
    // the wheel on the shell: where its rim is farthest from the shell's middle
    const C3 a = turned(at, CART, v3(0, 1, 0)), off = c3_minus(at->p[WHEEL], at->p[SHELL]);
    const C3 d = c3_unit(c3_minus(off, c3_times(c3_dot(off, a), a))), rim = c3_times(r, d);
    const C3 of_wheel = c3_plus(u[WHEEL], c3_cross(w[WHEEL], rim));
    const C3 of_shell = c3_plus(u[SHELL], c3_cross(w[SHELL], c3_plus(off, rim)));
    put(rows + 8, c3_minus(of_wheel, of_shell));
    // the feet, which stay as far from the shell's middle as they are
    for (int k = 0; k < 2; k++) {
        const C3 lever = turned(at, CART, v3_minus(foot_at(k ? -1 : 1), com));
        const C3 n = c3_unit(c3_minus(c3_plus(at->p[CART], lever), at->p[SHELL]));
        rows[11 + k] = c3_dot(n, c3_minus(c3_plus(u[CART], c3_cross(w[CART], lever)), u[SHELL]));
    }
}

// q' of the places and quaternions
static void pose_rates(const double *x, double *rates)
{
    for (int i = 0; i < BODIES; i++) {
        const double *q = x + POSE * i + 3, *v = x + Q + 6 * i;
        const V3 w = v3(v[3], v[4], v[5]), u = v3(q[1], q[2], q[3]);
        const V3 part = v3_plus(v3_times(q[0], w), v3_cross(w, u));
        const double own[] = {v[0],       v[1],       v[2],      -v3_dot(w, u) / 2,
                              part.x / 2, part.y / 2, part.z / 2};
        memcpy(rates + POSE * i, own, sizeof own);
    }
}

static Pose pose_of(const double *x, const double *rates, double step)
{
    Pose at;
    for (int i = 0; i < BODIES; i++) {
        double complex y[POSE];
        for (int k = 0; k < POSE; k++)
            y[k] = x[POSE * i + k] + imaginary * (step * rates[POSE * i + k]);
        at.p[i] = c3(y[0], y[1], y[2]);
        memcpy(at.turn[i], y + 3, sizeof at.turn[i]);
    }
    return at;
}

// Masses, and forces without those that hold bodies together
static void free_bodies(const double *x, double M[V][V], double *f)
{
    memset(M, 0, sizeof(double[V][V]));
    const M3 cart = m3_quaternion(x + POSE * CART + 3);
    const V3 a = cart.column[1];
    const double *v = x + Q;
    const V3 turns = v3_minus(v3(v[15], v[16], v[17]), v3(v[9], v[10], v[11]));
    const V3 motor = v3_times(torque - drag * v3_dot(turns, a), a);
    for (int i = 0; i < BODIES; i++) {
        const M3 T = m3_quaternion(x + POSE * i + 3);
        const V3 w = v3(v[6 * i + 3], v[6 * i + 4], v[6 * i + 5]), own = m3_across(T, w);
        const V3 spin =
            m3_times(T, v3(inertia[i][0] * own.x, inertia[i][1] * own.y, inertia[i][2] * own.z));
        V3 couple = v3_times(-1, v3_cross(w, spin));
        if (i == CART) couple = v3_minus(couple, motor);
        if (i == WHEEL) couple = v3_plus(couple, motor);
        for (int k = 0; k < 3; k++) {
            const V3 e = m3_across(T, v3_axis(k));
            const V3 column =
                m3_times(T, v3(inertia[i][0] * e.x, inertia[i][1] * e.y, inertia[i][2] * e.z));
            M[6 * i + k][6 * i + k] = mass[i];
            for (int j = 0; j < 3; j++) M[6 * i + 3 + j][6 * i + 3 + k] = v3_at(column, j);
            f[6 * i + k] = k == 2 ? -g * mass[i] : 0;
            f[6 * i + 3 + k] = v3_at(couple, k);
        }
    }
}

// (M -J^T; J 0) (v', lambda) = (f, -J' v)
static void rates_of(const double *x, double *rates, double *lambda)
{
    enum { ALL = V + ROWS };
    static double A[ALL * ALL], M[V][V];
    const double step = 1e-100, none[Q] = {0};
    double y[ALL] = {0};
    double complex rows[ROWS];
    pose_rates(x, rates);
    free_bodies(x, M, y);
    memset(A, 0, sizeof A);
    const Pose at = pose_of(x, none, 0), beside = pose_of(x, rates, step);
    for (int k = 0; k < V; k++) {
        double unit[V] = {0};
        unit[k] = 1;
        constraints(&at, unit, rows);
        for (int i = 0; i < V; i++) A[i * ALL + k] = M[i][k];
        for (int i = 0; i < ROWS; i++) {
            A[(V + i) * ALL + k] = creal(rows[i]);
            A[k * ALL + V + i] = -creal(rows[i]);
        }
    }
    constraints(&beside, x + Q, rows);
    for (int i = 0; i < ROWS; i++) y[V + i] = -cimag(rows[i]) / step;
    gauss(ALL, ALL, A, y);
    memcpy(rates + Q, y, V * sizeof *y);
    const V3 a = m3_quaternion(x + POSE * CART + 3).column[1];
    const double *v = x + Q;
    rates[Q + V] = v3_dot(v3_minus(v3(v[15], v[16], v[17]), v3(v[9], v[10], v[11])), a);
    if (lambda) memcpy(lambda, y + V, ROWS * sizeof *y);
}

static void runge_kutta(double *x, double h)
{
    static const double part[] = {0, 0.5, 0.5, 1}, weight[] = {1, 2, 2, 1};
    double y[SIZE], k[SIZE] = {0}, sum[SIZE] = {0};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < SIZE; i++) y[i] = x[i] + part[stage] * h * k[i];
        rates_of(y, k, NULL);
        for (int i = 0; i < SIZE; i++) sum[i] += weight[stage] * h / 6 * k[i];
    }
    for (int i = 0; i < SIZE; i++) x[i] += sum[i];
}

// ---- as the library has it -----------------------------------------------------------------

typedef struct Placed {
    V3 p, u, w; // of the centre of mass, in world axes
    double q[4];
} Placed;

static Placed placed(const Sheet *run, size_t row, const char *body, V3 com)
{
    static const char *const names[] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                        "vx", "vy", "vz", "wx", "wy", "wz"};
    double x[13];
    for (int k = 0; k < 13; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s.%s", body, names[k]);
        x[k] = at(run, row, name);
    }
    const M3 T = m3_quaternion(x + 3);
    const V3 arm = m3_times(T, com), w = m3_times(T, v3(x[10], x[11], x[12]));
    return (Placed){.p = v3_plus(v3(x[0], x[1], x[2]), arm),
                    .u = v3_plus(m3_times(T, v3(x[7], x[8], x[9])), v3_cross(w, arm)),
                    .w = w,
                    .q = {x[3], x[4], x[5], x[6]}};
}

static void bodies_at(const Sheet *run, size_t row, Placed out[BODIES])
{
    out[SHELL] = placed(run, row, "shell", v3(0, 0, 0));
    out[CART] = placed(run, row, "cart", v3(0, 0, -low));
    const double s = at(run, row, "spin"), *q = out[CART].q, c = cos(s / 2), n = sin(s / 2);
    const V3 a = m3_quaternion(q).column[1];
    Placed wheel = placed(run, row, "cart", hinge());
    wheel.w = v3_plus(wheel.w, v3_times(at(run, row, "spin_rate"), a));
    const double turn[] = {q[0] * c - q[2] * n, q[1] * c - q[3] * n, q[2] * c + q[0] * n,
                           q[3] * c + q[1] * n};
    memcpy(wheel.q, turn, sizeof turn);
    out[WHEEL] = wheel;
}

static void state_at(const Sheet *run, size_t row, double *x)
{
    Placed b[BODIES];
    bodies_at(run, row, b);
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) {
            x[POSE * i + k] = v3_at(b[i].p, k);
            x[Q + 6 * i + k] = v3_at(b[i].u, k);
            x[Q + 6 * i + 3 + k] = v3_at(b[i].w, k);
        }
        memcpy(x + POSE * i + 3, b[i].q, sizeof b[i].q);
    }
    x[Q + V] = at(run, row, "spin");
}

// ---- both ----------------------------------------------------------------------------------

static double forces_off(const Sheet *run, size_t row, const double *x)
{
    static const char *const parts[] = {"contact.drive.Fx", "contact.drive.Fy", "contact.drive.Fz"};
    double rates[SIZE], lambda[ROWS], worst = 0;
    rates_of(x, rates, lambda);
    for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(at(run, row, parts[k]) - lambda[8 + k]));
    worst = fmax(worst, fabs(at(run, row, "lambda.road.normal") - lambda[2]));
    worst = fmax(worst, fabs(at(run, row, "lambda.left.normal") + lambda[11]));
    return fmax(worst, fabs(at(run, row, "lambda.right.normal") + lambda[12]));
}

static void check_case(const char *name, double yaw_rate)
{
    enum { STEPS = BRIEF ? 50 : 100 };                    // per row
    const double end = BRIEF ? 0.25 : 0.95, every = 0.05; // the motor is on
    tr_model *model = model_called("spherical_robot");
    change_number(model, "parameters/yaw_rate0", yaw_rate);
    Sheet *run = run_to(system_of(model, name), end, every);
    double x[SIZE], y[SIZE], off = 0, force = 0, moved = 0;
    state_at(run, 0, x);
    for (size_t row = 0; row < run->rows; row++) {
        state_at(run, row, y);
        for (int i = 0; i < SIZE; i++) off = fmax(off, fabs(x[i] - y[i]) / fmax(1, fabs(y[i])));
        force = fmax(force, forces_off(run, row, x));
        moved = fmax(moved, fabs(x[Q + V]));
        for (int k = 0; k < STEPS; k++) runge_kutta(x, every / STEPS);
    }
    print_message("%s: places and rates to %.1e, forces to %.1e N\n", name, off, force);
    assert_true(moved > 0.2 * end);
    assert_below(off, 1e-9);
    assert_below(force, 1e-8);
    tr_sheet_free(run);
}

static void test_on_the_ground(void **state)
{
    (void)state;
    check_case("drive", 0);
    check_case("drive", 0.4);
    check_case("turn", 0.8);
}

// The model without the line of its contact with the ground
static tr_model *model_adrift(void)
{
    char *text = read_text(MODELS_DIR "/spherical_robot.yaml"), *line = strstr(text, "  road:");
    assert_non_null(line);
    const char *rest = strchr(line, '\n') + 1;
    memmove(line, rest, strlen(rest) + 1);
    tr_model *model = model_from(text);
    free(text);
    change(model, "parameters/gravity_z", "0");
    change(model, "initial/shell.vx", "0.1");
    change(model, "initial/shell.vy", "-0.2");
    change(model, "initial/shell.vz", "0.3");
    change(model, "initial/shell.wy", "0.2");
    change(model, "contacts/drive/unilateral", "false"); // it may pull: nothing presses it on
    change(model, "contacts/left/unilateral", "false");
    change(model, "contacts/right/unilateral", "false");
    return model;
}

static void momentum_at(const Sheet *run, size_t row, V3 *P, V3 *L)
{
    Placed b[BODIES];
    bodies_at(run, row, b);
    *P = *L = v3(0, 0, 0);
    for (int i = 0; i < BODIES; i++) {
        const M3 T = m3_quaternion(b[i].q);
        const V3 w = m3_across(T, b[i].w), p = v3_times(mass[i], b[i].u);
        const V3 spin =
            m3_times(T, v3(inertia[i][0] * w.x, inertia[i][1] * w.y, inertia[i][2] * w.z));
        *P = v3_plus(*P, p);
        *L = v3_plus(*L, v3_plus(spin, v3_cross(b[i].p, p)));
    }
}

static void test_adrift(void **state)
{
    (void)state;
    tr_model *model = model_adrift();
    change(model, "parameters/yaw_rate0", "0.8");
    Sheet *run = run_to(system_of(model, "turn"), 2, 0.05); // its energy is what the motor gives
    V3 P0, L0;
    momentum_at(run, 0, &P0, &L0);
    double worst = 0;
    for (size_t row = 1; row < run->rows; row++) {
        V3 P, L;
        momentum_at(run, row, &P, &L);
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(v3_at(P, k) - v3_at(P0, k)));
            worst = fmax(worst, fabs(v3_at(L, k) - v3_at(L0, k)));
        }
    }
    print_message("momentum kept to %.1e; the wheel turns to %.1f, the shell at %.2f rad/s\n",
                  worst, last(run, "spin"), last(run, "shell.wy"));
    assert_true(largest(run, "spin") > 1);
    assert_true(most(run, "shell.wy") - least(run, "shell.wy") > 0.1);
    assert_below(worst, 1e-10);
    tr_sheet_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_on_the_ground),
                                       cmocka_unit_test(test_adrift)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
