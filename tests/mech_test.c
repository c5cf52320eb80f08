// SPDX-License-Identifier: Apache-2.0
// The physics of small models against closed forms written here by hand, at random states and with
// random parameters; roles, springs, forces, added mass, names; and what the physics refuses, word
// for word.
#include "expr/walk.h"
#include "newton_euler.h"

enum { STATES = 100 };

#define REVOLUTE_Y "joint: {type: revolute, axis: \"0, 1, 0\""
#define ROUND      "inertia: {xx: 1, yy: 1, zz: 1}"

// ---- what holds for every model ------------------------------------------------------------

static const char *tau_name(const Input *velocity, char name[160])
{
    snprintf(name, 160, "tau.%s", velocity->name);
    char *rate = strstr(name, "_rate");
    if (rate && !strchr(name + 4, '.')) *rate = 0;
    return name;
}

// M symmetric and positive definite, M v' + c = Q (+ tau), 2 T = v.M v, power = dE/dt
static void check_equations(const Probe *p)
{
    const uint32_t n = p->velocities;
    const double *M = probe_output(p, "M"), *c = probe_output(p, "c"), *Q = probe_output(p, "Q"),
                 *v = probe_output(p, "v"), *a = probe_output(p, "vdot");
    double twice = 0, copy[NE_MAX], power = 1;
    double *spent = malloc(n * n * sizeof *spent);
    for (uint32_t i = 0; i < p->system->input_count; i++) {
        const Input *input = &p->system->inputs[i];
        if (input->kind != TR_VELOCITY) continue;
        const uint32_t k = probe_velocity(p, input->name);
        char name[160];
        const double tau = input->drive == DRIVE_MOTION ? probe_get(p, tau_name(input, name)) : 0;
        double force = c[k] - Q[k] - tau, size = 1 + fabs(c[k]) + fabs(Q[k]) + fabs(tau);
        for (uint32_t l = 0; l < n; l++) {
            assert_true(same_bits(M[k * n + l], M[l * n + k]));
            force += M[k * n + l] * a[l];
            size += fabs(M[k * n + l] * a[l]);
            twice += v[k] * M[k * n + l] * v[l];
            spent[k * n + l] = M[k * n + l];
        }
        copy[k] = force / size;
        power += size * fabs(v[k]);
    }
    for (uint32_t k = 0; k < n; k++) assert_close(copy[k], 0, 1e-13);
    assert_true(ne_is_positive((int)n, spent));
    free(spent);
    assert_close(probe_get(p, "kinetic"), twice / 2, 1e-13);
    assert_close(probe_get(p, "energy_rate") / power, probe_get(p, "power") / power, 1e-13);
}

static void next_state(Probe *p, Random *r)
{
    for (uint32_t i = 0; i < p->system->input_count; i++)
        if (p->system->inputs[i].kind == TR_PARAMETER) p->in[i] = random_between(r, 0.5, 2);
    probe_random(p, r);
    check_equations(p);
}

static void quaternion_of(Probe *p, const char *body, double q[4])
{
    static const char *const parts[] = {"qw", "qx", "qy", "qz"};
    char name[40];
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "%s.%s", body, parts[k]);
        q[k] = probe_at(p, name);
    }
}
static M3 rotation_of(Probe *p, const char *body)
{
    double q[4];
    quaternion_of(p, body, q);
    return m3_quaternion(q);
}
// Three velocities or their rates: "vx vy vz" of a body for 'v'
static V3 three(Probe *p, const char *body, char kind, bool rates)
{
    double x[3];
    char name[40];
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s.%c%c", body, kind, "xyz"[k]);
        x[k] = probe_output(p, rates ? "vdot" : "v")[probe_velocity(p, name)];
    }
    return v3(x[0], x[1], x[2]);
}
static V3 output_vector(const Probe *p, const char *stem)
{
    double x[3];
    char name[60];
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s%c", stem, "xyz"[k]);
        x[k] = probe_get(p, name);
    }
    return v3(x[0], x[1], x[2]);
}

#define assert_same_vector(a, b, tolerance)          \
    do {                                             \
        const V3 same_a = (a), same_b = (b);         \
        assert_close(same_a.x, same_b.x, tolerance); \
        assert_close(same_a.y, same_b.y, tolerance); \
        assert_close(same_a.z, same_b.z, tolerance); \
    } while (0)

// ---- closed forms --------------------------------------------------------------------------

#define PENDULUM                                                                         \
    "trundle: 1\n"                                                                       \
    "parameters: {m1: 1, m2: 1, l1: 1, l2: 1, g: 9.81}\n"                                \
    "gravity: 0, 0, -g\n"                                                                \
    "bodies:\n"                                                                          \
    "  upper: {" REVOLUTE_Y ", coordinate: a}, mass: m1, com: \"0, 0, -l1\"}\n"          \
    "  lower:\n"                                                                         \
    "    parent: upper\n"                                                                \
    "    joint: {type: revolute, axis: \"0, 3, 0\", at: \"0, 0, -l1\", coordinate: b}\n" \
    "    mass: m2\n"                                                                     \
    "    com: 0, 0, -l2\n"

// The one in every book, with absolute angles
static void test_double_pendulum(void **state)
{
    (void)state;
    Random r = {1};
    Probe p = probe_of(PENDULUM);
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double m1 = probe_at(&p, "m1"), m2 = probe_at(&p, "m2"), l1 = probe_at(&p, "l1"),
                     l2 = probe_at(&p, "l2"), g = probe_at(&p, "g"), x = probe_at(&p, "a"),
                     y = x + probe_at(&p, "b"), v = probe_at(&p, "a_rate"),
                     w = v + probe_at(&p, "b_rate");
        const double below = 2 * m1 + m2 - m2 * cos(2 * x - 2 * y);
        const double one_rate = (-g * (2 * m1 + m2) * sin(x) - m2 * g * sin(x - 2 * y) -
                                 2 * sin(x - y) * m2 * (w * w * l2 + v * v * l1 * cos(x - y))) /
                                (l1 * below);
        const double two_rate =
            2 * sin(x - y) *
            (v * v * l1 * (m1 + m2) + g * (m1 + m2) * cos(x) + w * w * l2 * m2 * cos(x - y)) /
            (l2 * below);
        assert_close(probe_vdot(&p, "a_rate"), one_rate, 1e-13);
        assert_close(probe_vdot(&p, "b_rate"), two_rate - one_rate, 1e-13);
    }
    probe_free(&p);
}

static void test_double_pendulum_with_inertias(void **state)
{
    (void)state;
    Random r = {2};
    // the moments of the first about its joint, of the second about its centre of mass
    Probe p = probe_of("trundle: 1\n"
                       "parameters: {m1: 1, m2: 1, l: 1, c1: 1, c2: 1, I1: 1, I2: 1}\n"
                       "bodies:\n"
                       "  lower:\n"
                       "    parent: upper\n"
                       "    joint: {type: revolute, axis: \"0, -1, 0\", at: \"0, 0, -l\"}\n"
                       "    mass: m2\n"
                       "    com: 0, 0, -c2\n"
                       "    inertia: {yy: I2}\n"
                       "  upper:\n"
                       "    " REVOLUTE_Y "}\n"
                       "    mass: m1\n"
                       "    com: 0, 0, -c1\n"
                       "    inertia: {yy: I1 + m1*c1^2, about: joint}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double m1 = probe_at(&p, "m1"), m2 = probe_at(&p, "m2"), l = probe_at(&p, "l"),
                     c1 = probe_at(&p, "c1"), c2 = probe_at(&p, "c2"), I1 = probe_at(&p, "I1"),
                     I2 = probe_at(&p, "I2"), g = 9.81;
        const double a = probe_at(&p, "upper"), b = -probe_at(&p, "lower"), // its axis is turned
            v = probe_at(&p, "upper_rate"), w = -probe_at(&p, "lower_rate");
        const double M11 = I1 + m1 * c1 * c1 + I2 + m2 * (l * l + c2 * c2 + 2 * l * c2 * cos(b)),
                     M12 = I2 + m2 * (c2 * c2 + l * c2 * cos(b)), M22 = I2 + m2 * c2 * c2,
                     h = m2 * l * c2 * sin(b);
        const double f1 = h * w * (2 * v + w) - (m1 * c1 + m2 * l) * g * sin(a) -
                          m2 * c2 * g * sin(a + b),
                     f2 = -h * v * v - m2 * c2 * g * sin(a + b);
        const double det = M11 * M22 - M12 * M12;
        assert_close(probe_vdot(&p, "upper_rate"), (M22 * f1 - M12 * f2) / det, 1e-13);
        assert_close(probe_vdot(&p, "lower_rate"), -(M11 * f2 - M12 * f1) / det, 1e-13);
    }
    probe_free(&p);
}

static void test_cart_pole(void **state)
{
    (void)state;
    Random r = {3};
    Probe p = probe_of("trundle: 1\n"
                       "parameters: {m: 1, mc: 1, l: 1}\n"
                       "inputs: {f: 0}\n"
                       "bodies:\n"
                       "  cart: {joint: {type: prismatic, axis: \"2, 0, 0\", coordinate: x, base: "
                       "true}, mass: mc}\n"
                       "  pole:\n"
                       "    parent: cart\n"
                       "    joint: {type: revolute, axis: \"0, -1, 0\", coordinate: theta}\n"
                       "    mass: m\n"
                       "    com: 0, 0, -l\n"
                       "roles: {x: {torque: f}}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double m = probe_at(&p, "m"), mc = probe_at(&p, "mc"), l = probe_at(&p, "l"),
                     f = probe_at(&p, "f"), g = 9.81, c = cos(probe_at(&p, "theta")),
                     s = sin(probe_at(&p, "theta")), w = probe_at(&p, "theta_rate");
        const double x = (f + m * s * (l * w * w + g * c)) / (mc + m * s * s);
        const double theta =
            (-f * c - m * l * w * w * c * s - (mc + m) * g * s) / (l * (mc + m * s * s));
        assert_close(probe_vdot(&p, "x_rate"), x, 1e-13);
        assert_close(probe_vdot(&p, "theta_rate"), theta, 1e-13);
        assert_true(probe_get(&p, "tau.x") == f);
        assert_close(probe_get(&p, "power"), f * probe_at(&p, "x_rate"), 1e-13);
    }
    probe_free(&p);
}

// Euler's equations of a heavy symmetric top about its fixed point
static void test_top(void **state)
{
    (void)state;
    Random r = {4};
    Probe p = probe_of("trundle: 1\n"
                       "parameters: {m: 1, h: 1, I3: 1, I1: 1}\n"
                       "bodies:\n"
                       "  top:\n"
                       "    joint: {type: ball, at: \"1, 2, 3\"}\n"
                       "    mass: m\n"
                       "    com: 0, 0, h\n"
                       "    inertia: {axial: I3, radial: I1, axis: \"0, 0, -2\"}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double m = probe_at(&p, "m"), h = probe_at(&p, "h"), I3 = probe_at(&p, "I3"),
                     A = probe_at(&p, "I1") + m * h * h;
        const V3 w = three(&p, "top", 'w', false);
        const V3 down = m3_across(rotation_of(&p, "top"), v3(0, 0, -9.81));
        const V3 N = v3_cross(v3(0, 0, m * h), down);
        const V3 rate = v3(((A - I3) * w.y * w.z + N.x) / A, ((I3 - A) * w.z * w.x + N.y) / A, 0);
        assert_same_vector(three(&p, "top", 'w', true), rate, 1e-13);
    }
    probe_free(&p);
}

// A force at a point and a torque on a free body, in world or body axes
static void test_forces_on_a_free_body(void **state)
{
    (void)state;
    static const char *const axes[] = {"world", "body"};
    for (int in_body = 0; in_body < 2; in_body++) {
        Random r = {5};
        char text[800];
        snprintf(text, sizeof text,
                 "trundle: 1\n"
                 "parameters: {m: 1, I1: 1, fx: 1, fy: 1, n: 1, ax: 1, az: 1}\n"
                 "inputs: {u: 0}\n"
                 "bodies:\n"
                 "  b: {joint: {type: free}, mass: m, inertia: {xx: I1, yy: 1.5*I1, zz: 2*I1}}\n"
                 "forces:\n"
                 "  push: {body: b, at: \"ax, 0, az\", force: \"fx, fy, u*t\", axes: %s}\n"
                 "  twist: {body: b, torque: \"0, n, u\", axes: %s}\n",
                 axes[in_body], axes[in_body]);
        Probe p = probe_of(text);
        for (int i = 0; i < STATES; i++) {
            next_state(&p, &r);
            const double m = probe_at(&p, "m"), I = probe_at(&p, "I1"), u = probe_at(&p, "u");
            const M3 R = rotation_of(&p, "b");
            V3 F = v3(probe_at(&p, "fx"), probe_at(&p, "fy"), u * probe_at(&p, "t"));
            V3 N = v3(0, probe_at(&p, "n"), u);
            if (!in_body) F = m3_across(R, F), N = m3_across(R, N);
            N = v3_plus(N, v3_cross(v3(probe_at(&p, "ax"), 0, probe_at(&p, "az")), F));
            const V3 V = three(&p, "b", 'v', false), W = three(&p, "b", 'w', false);
            const V3 IW = v3(I * W.x, 1.5 * I * W.y, 2 * I * W.z);
            const V3 N_net = v3_minus(N, v3_cross(W, IW));
            const V3 V_rate = v3_minus(v3_plus(v3_times(1 / m, F), m3_across(R, v3(0, 0, -9.81))),
                                       v3_cross(W, V));
            assert_same_vector(three(&p, "b", 'v', true), V_rate, 1e-13);
            assert_same_vector(three(&p, "b", 'w', true),
                               v3(N_net.x / I, N_net.y / (1.5 * I), N_net.z / (2 * I)), 1e-13);
            assert_close(probe_get(&p, "power"), v3_dot(F, V) + v3_dot(N, W), 1e-13);
        }
        probe_free(&p);
    }
}

// A hovercraft with its centre of mass off its origin, each velocity driven
static void test_planar_body(void **state)
{
    (void)state;
    Random r = {6};
    Probe p =
        probe_of("trundle: 1\n"
                 "parameters: {m: 1, I: 1, cx: 1, cy: 1}\n"
                 "inputs: {u: 0, v: 0, w: 0}\n"
                 "bodies:\n"
                 "  b: {joint: {type: planar}, mass: m, com: \"cx, cy, 5\", inertia: {zz: I}}\n"
                 "roles: {b: {torque: {vx: u, vy: v, wz: w}}}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double m = probe_at(&p, "m"), I = probe_at(&p, "I"), w = probe_at(&p, "b.wz");
        const V3 c = v3(probe_at(&p, "cx"), probe_at(&p, "cy"), 0), W = v3(0, 0, w);
        const V3 F = v3(probe_at(&p, "u"), probe_at(&p, "v"), 0);
        const double turn = (probe_at(&p, "w") - v3_cross(c, F).z) / I; // about the centre of mass
        const V3 V = v3(probe_at(&p, "b.vx"), probe_at(&p, "b.vy"), 0);
        // F/m = V' + W x V + W' x c + W x (W x c)
        const V3 centre = v3_plus(v3_cross(v3(0, 0, turn), c), v3_cross(W, v3_cross(W, c)));
        const V3 V_rate = v3_minus(v3_times(1 / m, F), v3_plus(v3_cross(W, V), centre));
        assert_close(probe_vdot(&p, "b.vx"), V_rate.x, 1e-13);
        assert_close(probe_vdot(&p, "b.vy"), V_rate.y, 1e-13);
        assert_close(probe_vdot(&p, "b.wz"), turn, 1e-13);
        assert_true(probe_get(&p, "tau.b.vx") == F.x);
        assert_true(probe_get(&p, "tau.b.wz") == probe_at(&p, "w"));
    }
    probe_free(&p);
}

// ---- springs and the like ------------------------------------------------------------------

// On a slope, with spring, damper, potential and dissipation
static void test_slider(void **state)
{
    (void)state;
    Random r = {7};
    Probe p = probe_of("trundle: 1\n"
                       "parameters: {m: 1, k: 1, s0: 1, c: 1, k3: 1, c2: 1, slope: 1}\n"
                       "bodies:\n"
                       "  b:\n"
                       "    joint:\n"
                       "      type: prismatic\n"
                       "      axis: 3*cos(slope), 0, -3*sin(slope)\n"
                       "      coordinate: s\n"
                       "      stiffness: k\n"
                       "      rest: s0\n"
                       "      damping: c\n"
                       "      potential: k3*s^4/4\n"
                       "      dissipation: c2*abs(d(s))^3/3\n"
                       "    mass: m\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double m = probe_at(&p, "m"), k = probe_at(&p, "k"), s0 = probe_at(&p, "s0"),
                     c = probe_at(&p, "c"), k3 = probe_at(&p, "k3"), c2 = probe_at(&p, "c2"),
                     slope = probe_at(&p, "slope"), s = probe_at(&p, "s"),
                     v = probe_at(&p, "s_rate");
        const double braking = c * v + c2 * fabs(v) * v;
        const double force = m * 9.81 * sin(slope) - k * (s - s0) - k3 * s * s * s - braking;
        assert_close(probe_vdot(&p, "s_rate"), force / m, 1e-13);
        assert_close(probe_get(&p, "power"), -braking * v, 1e-13);
        assert_close(probe_get(&p, "potential"),
                     k * (s - s0) * (s - s0) / 2 + k3 * s * s * s * s / 4 -
                         m * 9.81 * sin(slope) * s,
                     1e-13);
    }
    probe_free(&p);
}

static double cross_energy(double s, double x, const double q[4])
{
    const double R33 = m3_quaternion(q).column[2].z;
    return s * s * sin(x) + 3 * R33 * R33 * x + q[1] * q[2] * s;
}

// x' at 0 of a function of a step, by differences of order 6
#define SLOPE(h, f)                                                                        \
    ((45 * (f(h) - f(-(h))) - 9 * (f(2 * (h)) - f(-2 * (h))) + f(3 * (h)) - f(-3 * (h))) / \
     (60 * (h)))

static void turn_by(double q[4], int axis, double angle) // q (1, 0) -> q (cos, sin e) of half
{
    const double c = cos(angle / 2), s = sin(angle / 2);
    const V3 u = v3(q[1], q[2], q[3]), e = v3_times(s, v3_axis(axis));
    const V3 sum = v3_plus(v3_plus(v3_times(c, u), v3_times(q[0], e)), v3_cross(u, e));
    q[0] = q[0] * c - v3_dot(u, e);
    q[1] = sum.x, q[2] = sum.y, q[3] = sum.z;
}

// A potential of several joints' coordinates pushes along each of their velocities.
static void test_potential_across_joints(void **state)
{
    (void)state;
    Random r = {8};
    Probe p = probe_of("trundle: 1\n"
                       "gravity: 0, 0, 0\n"
                       "bodies:\n"
                       "  b: {joint: {type: free}, mass: 1, " ROUND "}\n"
                       "  c:\n"
                       "    parent: b\n"
                       "    joint:\n"
                       "      type: prismatic\n"
                       "      axis: 0, 1, 0\n"
                       "      coordinate: s\n"
                       "      potential: s^2*sin(b.x) + 3*b.R33^2*b.x + b.qx*b.qy*s\n"
                       "    mass: 1\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        double q[4];
        quaternion_of(&p, "b", q);
        const double s = probe_at(&p, "s"), x = probe_at(&p, "b.x");
        const double *Q = probe_output(&p, "Q");
        assert_close(probe_get(&p, "potential"), cross_energy(s, x, q), 1e-13);
        assert_close(probe_get(&p, "power"), 0, 1e-13);
#define ALONG_S(h) cross_energy(s + (h), x, q)
        assert_close(Q[probe_velocity(&p, "s_rate")], -SLOPE(1e-2, ALONG_S), 1e-10);
        const M3 R = m3_quaternion(q);
        for (int k = 0; k < 3; k++) { // along the body's own axes x moves by R_xk
#define ALONG_V(h) cross_energy(s, x + (h)*R.column[k].x, q)
            assert_close(Q[k], -SLOPE(1e-2, ALONG_V), 1e-10);
            double U[7];
            for (int step = -3; step <= 3; step++) {
                double turned[4] = {q[0], q[1], q[2], q[3]};
                turn_by(turned, k, step * 1e-2);
                U[step + 3] = cross_energy(s, x, turned);
            }
#define ALONG_W(h) U[(int)lrint((h)*100) + 3]
            assert_close(Q[3 + k], -SLOPE(1e-2, ALONG_W), 1e-10);
        }
    }
    probe_free(&p);
}

// A dissipation function of several rates brakes along each.
static void test_dissipation_across_joints(void **state)
{
    (void)state;
    Random r = {9};
    Probe p =
        probe_of("trundle: 1\n"
                 "gravity: 0, 0, 0\n"
                 "parameters: {c: 1, c2: 1}\n"
                 "bodies:\n"
                 "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", dissipation: "
                 "c*(d(a) - d(b))^2/2}, mass: 1}\n"
                 "  b: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2}\n"
                 "  w: {joint: {type: ball, dissipation: c2*(w.wx^2 + 2*w.wz^2)*b^2/2}, " ROUND
                 ", mass: 1}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double c = probe_at(&p, "c"), c2 = probe_at(&p, "c2") * pow(probe_at(&p, "b"), 2),
                     slip = probe_at(&p, "a_rate") - probe_at(&p, "b_rate");
        const V3 W = three(&p, "w", 'w', false);
        assert_close(probe_vdot(&p, "a_rate"), -c * slip, 1e-13);
        assert_close(probe_vdot(&p, "b_rate"), c * slip / 2, 1e-13);
        assert_same_vector(three(&p, "w", 'w', true), v3(-c2 * W.x, 0, -2 * c2 * W.z), 1e-13);
        assert_close(probe_get(&p, "power"), -c * slip * slip - c2 * (W.x * W.x + 2 * W.z * W.z),
                     1e-13);
    }
    probe_free(&p);
}

// ---- roles ---------------------------------------------------------------------------------

// A motion gives the second derivative of its formula, and asks for the torque that, given as a
// torque, makes the same motion.
static void test_motion_and_its_torque(void **state)
{
    (void)state;
    Random r = {10};
    Probe p = probe_of(PENDULUM "roles: {b: {motion: sin(2*t) + t^3/10}}\n");
    Probe back = probe_of(PENDULUM "inputs: {u: 0}\nroles: {b: {torque: u}}\n");
    Probe number = probe_of(PENDULUM "roles: {b: {torque: 0.375}}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double t = probe_at(&p, "t");
        assert_close(probe_output(&p, "q")[1], sin(2 * t) + t * t * t / 10, 1e-15);
        assert_close(probe_output(&p, "v")[1], 2 * cos(2 * t) + 3 * t * t / 10, 1e-15);
        assert_close(probe_vdot(&p, "b_rate"), -4 * sin(2 * t) + 6 * t / 10, 1e-14);
        static const char *const names[] = {"m1", "m2", "l1", "l2", "g", "a", "a_rate"};
        for (int k = 0; k < 7; k++) {
            probe_put(&back, names[k], probe_at(&p, names[k]));
            probe_put(&number, names[k], probe_at(&p, names[k]));
        }
        probe_put(&back, "b", probe_output(&p, "q")[1]);
        probe_put(&back, "b_rate", probe_output(&p, "v")[1]);
        probe_put(&back, "u", probe_get(&p, "tau.b"));
        probe_run(&back);
        check_equations(&back);
        assert_close(probe_vdot(&back, "a_rate"), probe_vdot(&p, "a_rate"), 1e-12);
        assert_close(probe_vdot(&back, "b_rate"), probe_vdot(&p, "b_rate"), 1e-12);
        assert_close(probe_get(&back, "power"), probe_get(&p, "power"), 1e-12);
        probe_put(&back, "u", 0.375);
        probe_put(&number, "b", probe_at(&back, "b"));
        probe_put(&number, "b_rate", probe_at(&back, "b_rate"));
        probe_run(&back);
        probe_run(&number);
        assert_close(probe_vdot(&number, "a_rate"), probe_vdot(&back, "a_rate"), 1e-14);
        assert_true(probe_get(&number, "tau.b") == 0.375);
    }
    probe_free(&p);
    probe_free(&back);
    probe_free(&number);
}

// A planar base that is led along: V = R^T p', and the force that takes
static void test_planar_motion(void **state)
{
    (void)state;
    Random r = {11};
    Probe p =
        probe_of("trundle: 1\n"
                 "parameters: {m: 1, I: 1}\n"
                 "bodies:\n"
                 "  b: {joint: {type: planar, turn: \"1, 2, 3\"}, mass: m, inertia: {zz: I}}\n"
                 "gravity: 0, 0, 0\n"
                 "roles: {b: {motion: {x: t^2, theta: 3*t + t^2, y: sin(t)}}}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double t = probe_at(&p, "t"), c = cos(3 * t + t * t), s = sin(3 * t + t * t),
                     w = 3 + 2 * t, m = probe_at(&p, "m");
        const double V[] = {c * 2 * t + s * cos(t), -s * 2 * t + c * cos(t), w};
        const double a[] = {c * 2 - s * sin(t) + w * V[1], -s * 2 - c * sin(t) - w * V[0], 2};
        for (int k = 0; k < 3; k++) {
            assert_close(probe_output(&p, "v")[k], V[k], 1e-14);
            assert_close(probe_output(&p, "vdot")[k], a[k], 1e-13);
        }
        assert_close(probe_get(&p, "tau.b.vx"), m * (2 * c - s * sin(t)), 1e-13);
        assert_close(probe_get(&p, "tau.b.vy"), m * (-2 * s - c * sin(t)), 1e-13);
        assert_close(probe_get(&p, "tau.b.wz"), 2 * probe_at(&p, "I"), 1e-13);
    }
    probe_free(&p);
}

// Im(conj(a) b) of quaternions
static V3 between(const double a[4], const double b[4])
{
    const V3 u = v3(a[1], a[2], a[3]), v = v3(b[1], b[2], b[3]);
    return v3_minus(v3_minus(v3_times(a[0], v), v3_times(b[0], u)), v3_cross(u, v));
}

// A free base that is led along, by a quaternion that is no unit: with n = |p|^2,
//   W = 2 Im(conj(p) p') / n,   W' = 2 Im(conj(p) p'') / n - W n' / n
// and the wrench at the base is m (a - g) and I W' + W x I W.
static void test_free_motion(void **state)
{
    (void)state;
    Random r = {12};
    Probe p =
        probe_of("trundle: 1\n"
                 "parameters: {m: 1, I: 1}\n"
                 "bodies:\n"
                 "  b: {joint: {type: free}, mass: m, inertia: {xx: I, yy: 2*I, zz: 3*I}}\n"
                 "roles:\n"
                 "  b:\n"
                 "    motion: {x: t^2, z: cos(t), qw: 2 + sin(t), qx: t, qy: 1 - t^2, qz: 0.5}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double t = probe_at(&p, "t"), m = probe_at(&p, "m"), I = probe_at(&p, "I");
        double u[] = {2 + sin(t), t, 1 - t * t, 0.5};
        const double d[] = {cos(t), 1, -2 * t, 0}, dd[] = {-sin(t), 0, -2, 0};
        double n = 0, n_rate = 0;
        for (int k = 0; k < 4; k++) n += u[k] * u[k], n_rate += 2 * u[k] * d[k];
        const V3 W = v3_times(2 / n, between(u, d));
        const V3 W_rate = v3_minus(v3_times(2 / n, between(u, dd)), v3_times(n_rate / n, W));
        for (int k = 0; k < 4; k++) {
            u[k] /= sqrt(n);
            assert_close(probe_output(&p, "q")[3 + k], u[k], 1e-15);
        }
        const M3 R = m3_quaternion(u);
        const V3 V = m3_across(R, v3(2 * t, 0, -sin(t))), a = m3_across(R, v3(2, 0, -cos(t)));
        assert_same_vector(three(&p, "b", 'v', false), V, 1e-14);
        assert_same_vector(three(&p, "b", 'w', false), W, 1e-14);
        assert_same_vector(three(&p, "b", 'v', true), v3_minus(a, v3_cross(W, V)), 1e-13);
        assert_same_vector(three(&p, "b", 'w', true), W_rate, 1e-13);
        const V3 g = m3_across(R, v3(0, 0, -9.81));
        assert_same_vector(output_vector(&p, "tau.b.v"), v3_times(m, v3_minus(a, g)), 1e-13);
        const V3 IW = v3(I * W.x, 2 * I * W.y, 3 * I * W.z),
                 IW_rate = v3(I * W_rate.x, 2 * I * W_rate.y, 3 * I * W_rate.z);
        assert_same_vector(output_vector(&p, "tau.b.w"), v3_plus(IW_rate, v3_cross(W, IW)), 1e-13);
    }
    probe_free(&p);
}

// One part of a free base's velocities driven: the others get nothing.
static void test_torque_on_a_free_base(void **state)
{
    (void)state;
    Random r = {13};
    Probe p = probe_of("trundle: 1\n"
                       "gravity: 0, 0, 0\n"
                       "inputs: {u: 0}\n"
                       "bodies:\n"
                       "  b: {joint: {type: free}, mass: 2, inertia: {xx: 1, yy: 2, zz: 2.5}}\n"
                       "roles: {b: {torque: {vx: u + b.vx, wz: -u*b.qw}}}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double u = probe_at(&p, "u");
        const V3 V = three(&p, "b", 'v', false), W = three(&p, "b", 'w', false);
        const V3 bend = v3_cross(W, V), spin = v3_cross(W, v3(W.x, 2 * W.y, 2.5 * W.z));
        assert_same_vector(three(&p, "b", 'v', true), v3((u + V.x) / 2 - bend.x, -bend.y, -bend.z),
                           1e-13);
        assert_same_vector(three(&p, "b", 'w', true),
                           v3(-spin.x, -spin.y / 2, (-u * probe_at(&p, "b.qw") - spin.z) / 2.5),
                           1e-13);
        assert_true(probe_get(&p, "tau.b.vy") == 0);
    }
    probe_free(&p);
}

// A role names a joint by its coordinate, also where a body has that name.
static void test_roles_go_by_coordinates(void **state)
{
    (void)state;
    Probe p =
        probe_of("trundle: 1\n"
                 "bodies:\n"
                 "  one: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: two}, mass: "
                 "1}\n"
                 "  two: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: one}, mass: "
                 "1}\n"
                 "  three: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: "
                 "1}\n"
                 "roles: {two: {torque: 5}, three: {torque: 7}}\n");
    probe_run(&p);
    assert_true(probe_vdot(&p, "two_rate") == 5);
    assert_true(probe_vdot(&p, "one_rate") == 0);
    assert_true(probe_vdot(&p, "s_rate") == 7); // its body's name does as well
    probe_free(&p);
}

// ---- hold ----------------------------------------------------------------------------------

static void test_hold(void **state)
{
    (void)state;
    Random r = {14};
    Probe p = probe_of(PENDULUM "cases: {stiff: {hold: [b]}, loose: {}}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double m1 = probe_at(&p, "m1"), m2 = probe_at(&p, "m2"), l1 = probe_at(&p, "l1"),
                     l2 = probe_at(&p, "l2"), g = probe_at(&p, "g"), a = probe_at(&p, "a"),
                     b = probe_at(&p, "b");
        const double I = m1 * l1 * l1 + m2 * (l1 * l1 + l2 * l2 + 2 * l1 * l2 * cos(b));
        const double N = -m1 * g * l1 * sin(a) - m2 * g * (l1 * sin(a) + l2 * sin(a + b));
        assert_close(probe_vdot(&p, "a_rate"), N / I, 1e-13);
        assert_true(probe_vdot(&p, "b_rate") == 0);
        assert_true(probe_output(&p, "v")[1] == 0 && probe_output(&p, "q")[1] == b);
    }
    probe_free(&p);
    p = probe_of_case(PENDULUM "cases: {stiff: {hold: [b]}, loose: {}}\n", "loose");
    next_state(&p, &r);
    assert_true(probe_vdot(&p, "b_rate") != 0);
    probe_free(&p);
}

// A joint whose motion is held stays where the motion starts; a base that is held does not fall.
static void test_hold_what_moves(void **state)
{
    (void)state;
    Random r = {15};
    Probe p = probe_of(PENDULUM "  f: {joint: {type: free}, mass: 2, " ROUND "}\n"
                                "roles: {b: {motion: 0.3 + sin(t)}, a: {torque: 5}}\n"
                                "cases: {still: {hold: [b, a, f]}}\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        assert_true(probe_output(&p, "q")[1] == 0.3);
        for (uint32_t k = 0; k < p.velocities; k++) {
            assert_true(probe_output(&p, "v")[k] == 0);
            assert_true(probe_output(&p, "vdot")[k] == 0);
        }
        const V3 weight = m3_across(rotation_of(&p, "f"), v3(0, 0, 2 * probe_at(&p, "g")));
        assert_same_vector(output_vector(&p, "tau.f.v"), weight, 1e-13);
    }
    probe_free(&p);
}

// ---- forces between bodies -----------------------------------------------------------------

typedef struct Momentum {
    V3 linear, angular; // their rates, about the world's origin
} Momentum;

static Momentum momentum_rate(Probe *p, const char *body, double m, V3 c, V3 I)
{
    const M3 R = rotation_of(p, body);
    const V3 V = three(p, body, 'v', false), W = three(p, body, 'w', false),
             V_rate = three(p, body, 'v', true), W_rate = three(p, body, 'w', true);
    char x[20], y[20], z[20];
    snprintf(x, sizeof x, "%s.x", body);
    snprintf(y, sizeof y, "%s.y", body);
    snprintf(z, sizeof z, "%s.z", body);
    const V3 place = v3_plus(v3(probe_at(p, x), probe_at(p, y), probe_at(p, z)), m3_times(R, c));
    V3 a = v3_plus(v3_plus(V_rate, v3_cross(W, V)), v3_cross(W_rate, c));
    a = v3_times(m, m3_times(R, v3_plus(a, v3_cross(W, v3_cross(W, c)))));
    const V3 IW = v3(I.x * W.x, I.y * W.y, I.z * W.z),
             IW_rate = v3(I.x * W_rate.x, I.y * W_rate.y, I.z * W_rate.z);
    const V3 spin = m3_times(R, v3_plus(IW_rate, v3_cross(W, IW)));
    return (Momentum){a, v3_plus(v3_cross(place, a), spin)};
}

static void test_forces_between_bodies(void **state)
{
    (void)state;
    static const char *const axes[] = {"world", "body"};
    for (int k = 0; k < 2; k++) {
        Random r = {16};
        char text[900];
        snprintf(text, sizeof text,
                 "trundle: 1\n"
                 "gravity: 0, 0, 0\n"
                 "bodies:\n"
                 "  a: {joint: {type: free}, mass: 2, com: \"0.1, 0.2, 0.3\", inertia: {xx: 1, yy: "
                 "2, zz: 2.5}}\n"
                 "  b: {joint: {type: free}, mass: 3, com: \"-0.3, 0.2, 0\", inertia: {xx: 2, yy: "
                 "1, zz: 1.5}}\n"
                 "forces:\n"
                 "  pull: {body: a, at: \"0.5, 1, -1\", reaction: b, axes: %s,\n"
                 "         force: \"5*(b.x - a.x), 3*t, a.vx\", torque: \"1, b.qx, a.R12\"}\n",
                 axes[k]);
        Probe p = probe_of(text);
        for (int i = 0; i < STATES; i++) {
            next_state(&p, &r);
            const Momentum a = momentum_rate(&p, "a", 2, v3(0.1, 0.2, 0.3), v3(1, 2, 2.5)),
                           b = momentum_rate(&p, "b", 3, v3(-0.3, 0.2, 0), v3(2, 1, 1.5));
            assert_true(fabs(a.linear.x) > 1e-3);
            assert_same_vector(v3_plus(a.linear, b.linear), v3(0, 0, 0), 1e-12);
            assert_same_vector(v3_plus(a.angular, b.angular), v3(0, 0, 0), 1e-12);
        }
        probe_free(&p);
    }
}

static void test_without(void **state)
{
    (void)state;
    Probe p = probe_of("trundle: 1\n"
                       "bodies:\n"
                       "  a: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2}\n"
                       "forces: {push: {body: a, force: \"3, 0, 0\"}, more: {body: a, force: \"5, "
                       "0, 0\"}}\n"
                       "cases: {calm: {without: [push]}}\n");
    probe_run(&p);
    assert_true(probe_vdot(&p, "a_rate") == 2.5);
    probe_free(&p);
}

// ---- added mass ----------------------------------------------------------------------------

// Kirchhoff: with P = (m + A) V + B W, L = B^T V + (I + C) W,
//   P' = P x W + weight,   L' = L x W + P x V
static void check_kirchhoff(const char *numbers, double A[6][6])
{
    Random r = {17};
    char text[900];
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "parameters: {k: 1}\n"
             "bodies:\n"
             "  fish:\n"
             "    joint: {type: free}\n"
             "    mass: 2\n"
             "    inertia: {xx: 1, yy: 2, zz: 2.5}\n"
             "    added_mass: %s\n",
             numbers);
    Probe p = probe_of(text);
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        double J[36], f[6];
        const double own[] = {2, 2, 2, 1, 2, 2.5}, k = probe_at(&p, "k"),
                     *v = probe_output(&p, "v");
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 6; b++) J[6 * a + b] = k * A[a][b] + (a == b ? own[a] : 0);
        double h[6] = {0};
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 6; b++) h[a] += J[6 * a + b] * v[b];
        const V3 P = v3(h[0], h[1], h[2]), L = v3(h[3], h[4], h[5]), V = v3(v[0], v[1], v[2]),
                 W = v3(v[3], v[4], v[5]);
        const V3 weight =
            m3_across(rotation_of(&p, "fish"), v3(0, 0, -2 * 9.81)); // of its own mass
        const V3 F = v3_plus(v3_cross(P, W), weight), N = v3_plus(v3_cross(L, W), v3_cross(P, V));
        for (int a = 0; a < 3; a++) f[a] = v3_at(F, a), f[3 + a] = v3_at(N, a);
        ne_solve(6, 6, J, f);
        for (int a = 0; a < 6; a++) assert_close(probe_output(&p, "vdot")[a], f[a], 1e-13);
    }
    probe_free(&p);
}

static void test_added_mass(void **state)
{
    (void)state;
    double A[6][6] = {{0}};
    for (int k = 0; k < 6; k++) A[k][k] = 0.5 * k + 0.25;
    check_kirchhoff("0.25*k, 0.75*k, 1.25*k, 1.75*k, 2.25*k, 2.75*k", A);
    char text[700] = "";
    size_t length = 0;
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
            A[a][b] = a == b ? 3 + a : 0.125 * (a + b + a * b);
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%g*max(k, 0)",
                                       length ? ", " : "", A[a][b]);
        }
    check_kirchhoff(text, A);
}

// On a body inside a tree: the same as mass and inertia would be, but without weight
static void test_added_mass_in_a_tree(void **state)
{
    (void)state;
    Random r = {18};
#define ARM                                                                                    \
    "bodies:\n"                                                                                \
    "  base: {joint: {type: free}, mass: 1, com: \"0, 0.2, 0\", " ROUND "}\n"                  \
    "  arm:\n"                                                                                 \
    "    parent: base\n"                                                                       \
    "    joint: {type: revolute, axis: \"1, 2, 0\", at: \"0.3, 0, 0.4\", turn: \"1, 0, 2\"}\n" \
    "    mass: 0.5\n"                                                                          \
    "    inertia: {xx: 0.2, yy: 0.2, zz: 0.2}\n"
    Probe p = probe_of("trundle: 1\ngravity: 0, 0, 0\n" ARM
                       "    added_mass: 0.25, 0.25, 0.25, 0.1, 0.1, 0.1\n");
    Probe same = probe_of("trundle: 1\ngravity: 0, 0, 0\n" ARM
                          "  more: {parent: arm, mass: 0.25, inertia: {xx: 0.1, yy: 0.1, zz: "
                          "0.1}}\n");
    Probe heavy = probe_of("trundle: 1\n" ARM "    added_mass: 0.25, 0.25, 0.25, 0.1, 0.1, 0.1\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        memcpy(same.in, p.in, same.system->input_count * sizeof *p.in);
        memcpy(heavy.in, p.in, heavy.system->input_count * sizeof *p.in);
        probe_run(&same);
        probe_run(&heavy);
        check_equations(&heavy);
        for (uint32_t k = 0; k < p.velocities; k++)
            assert_close(probe_output(&p, "vdot")[k], probe_output(&same, "vdot")[k], 1e-13);
        // what gravity adds to c is the weight of the masses alone: minus the slope of the
        // potential
        const double *c = probe_output(&heavy, "c"), *without = probe_output(&p, "c");
        double power = 0;
        for (uint32_t k = 0; k < p.velocities; k++)
            power += (c[k] - without[k]) * probe_output(&p, "v")[k];
        const V3 V = three(&p, "base", 'v', false), W = three(&p, "base", 'w', false);
        const M3 R = rotation_of(&p, "base");
        const V3 centre = v3_plus(v3_times(1.5, V), // of the masses at the base and at the arm
                                  v3_cross(W, v3_plus(v3(0, 0.2, 0), v3(0.15, 0, 0.2))));
        assert_close(power, 9.81 * m3_times(R, centre).z, 1e-13);
    }
    probe_free(&p);
    probe_free(&same);
    probe_free(&heavy);
}

// ---- wheels --------------------------------------------------------------------------------

static bool occurs(Probe *p, const char *symbol, const char *output)
{
    System *s = p->system;
    const Output *of = tr_system_output(s, text_of(output));
    const Named *named = tr_system_find(s, text_of(symbol));
    Reach reach;
    bool found = false;
    assert_true(tr_reach(s->graph, of->values, (size_t)of->rows * of->columns, &reach));
    for (uint32_t k = 0; k < reach.count; k++) found = found || reach.ids[k] == named->meaning.id;
    tr_reach_free(&reach);
    return found;
}

#define CART(joint, inertia)                                                                       \
    "trundle: 1\n"                                                                                 \
    "bodies:\n"                                                                                    \
    "  frame: {joint: {type: free}, mass: 3, com: \"0.1, 0, 0.2\", " ROUND "}\n"                   \
    "  wheel:\n"                                                                                   \
    "    parent: frame\n"                                                                          \
    "    joint: {type: revolute, at: \"0.4, 0.1, -0.2\", " joint ", coordinate: spin, stiffness: " \
    "2, damping: 1}\n"                                                                             \
    "    mass: 2\n" inertia "forces:\n"                                                            \
    "  push: {body: wheel, at: \"0.1, 0.2, 0.3\", force: \"1, 2, t\", torque: \"3, 2, 1\"}\n"      \
    "  own: {body: wheel, at: \"0.3, 0, 0\", force: \"3, 2, 1\", axes: body, reaction: frame}\n"   \
    "outputs: {x: wheel.R11, y: wheel.R32, z: wheel.wx, w: wheel.wz, v: wheel.vx}\n"

// A body that is symmetric about its own joint is the same body written with xx yy zz, but its
// angle is nowhere in the dynamics.
static void test_wheels(void **state)
{
    (void)state;
    static const struct {
        const char *round, *written;
    } pairs[] = {
        {CART("axis: \"0, 2, 0\"", "    inertia: {axial: 1, radial: 0.7}\n"),
         CART("axis: \"0, 2, 0\"", "    inertia: {xx: 0.7, yy: 1, zz: 0.7}\n")},
        {CART("axis: \"0, 0, -1\", turn: \"0, 0, 1\"",
              "    com: 0, 0, 0.25\n    inertia: {axial: 1, radial: 0.7, about: joint}\n"),
         CART("axis: \"0, 0, -1\", turn: \"0, 0, 1\"",
              "    com: 0, 0, 0.25\n    inertia: {xx: 0.7, yy: 0.7, zz: 1, about: joint}\n")},
        {CART("axis: \"0.6, 0, 0.8\", turn: \"1, 2, 3\"", "    inertia: {axial: 1, radial: 1}\n"),
         CART("axis: \"0.6, 0, 0.8\", turn: \"1, 2, 3\"", "    inertia: {xx: 1, yy: 1, zz: 1}\n")},
        // and three that are not: their mass, or the water about them, turns with them
        {CART("axis: \"0, 2, 0\"", "    com: 0.1, 0, 0\n    inertia: {axial: 1, radial: 0.7}\n"),
         CART("axis: \"0, 2, 0\"", "    com: 0.1, 0, 0\n    inertia: {xx: 0.7, yy: 1, zz: 0.7}\n")},
        {CART("axis: \"0, 2, 0\"",
              "    inertia: {axial: 1, radial: 0.7}\n    added_mass: 1, 2, 3, 4, 5, 6\n"),
         CART("axis: \"0, 2, 0\"",
              "    inertia: {xx: 0.7, yy: 1, zz: 0.7}\n    added_mass: 1, 2, 3, 4, 5, 6\n")},
        {CART("axis: \"0, 2, 0\"", "    inertia: {axial: 1, radial: 0.7, axis: \"0, 0, 1\"}\n"),
         CART("axis: \"0, 2, 0\"", "    inertia: {xx: 0.7, yy: 0.7, zz: 1}\n")},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Random r = {19};
        Probe p = probe_of(pairs[i].round), q = probe_of(pairs[i].written);
        assert_true(occurs(&p, "spin", "M") == (i >= 3));
        assert_true(occurs(&p, "spin", "c") == (i >= 3));
        assert_true(occurs(&q, "spin", "c"));
        for (int k = 0; k < STATES; k++) {
            next_state(&p, &r);
            memcpy(q.in, p.in, q.system->input_count * sizeof *q.in);
            probe_run(&q);
            check_equations(&q);
            for (uint32_t n = 0; n < p.velocities; n++)
                assert_close(probe_output(&p, "vdot")[n], probe_output(&q, "vdot")[n], 1e-12);
            static const char *const outputs[] = {"kinetic",   "potential", "power",
                                                  "outputs.x", "outputs.y", "outputs.z",
                                                  "outputs.w", "outputs.v"};
            for (int n = 0; n < 8; n++)
                assert_close(probe_get(&p, outputs[n]), probe_get(&q, outputs[n]), 1e-12);
        }
        probe_free(&p);
        probe_free(&q);
    }
    Probe p = probe_of("trundle: 1\n"
                       "bodies:\n"
                       "  frame: {joint: {type: free}, mass: 3, " ROUND "}\n"
                       "  wheel:\n"
                       "    parent: frame\n"
                       "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: spin}\n"
                       "    mass: 2\n"
                       "    inertia: {axial: 1, radial: 0.7}\n");
    assert_false(occurs(&p, "spin", "vdot"));
    assert_true(occurs(&p, "spin_rate", "vdot"));
    probe_free(&p);
}

// ---- names ---------------------------------------------------------------------------------

// A chain with every way to place a joint; the same in numbers.
static const char chain[] =
    "trundle: 1\n"
    "parameters: {tilt: 0.4, far: 0.7}\n"
    "bodies:\n"
    "  base: {joint: {type: free}, mass: 1, " ROUND "}\n"
    "  arm:\n"
    "    parent: base\n"
    "    joint: {type: revolute, axis: \"sin(tilt), 0, cos(tilt)\", at: \"far, 2*far, 0\", turn: "
    "\"0.1, 0.2, 0.3\"}\n"
    "    mass: 1\n"
    "    com: 0.3, 0, 0\n"
    "  hand:\n"
    "    parent: arm\n"
    "    joint: {type: prismatic, axis: \"1, -2, 2\", at: \"0, 0, far\", turn: \"-1, 2, 0.5\"}\n"
    "    mass: 1\n"
    "  wheel:\n"
    "    parent: hand\n"
    "    joint: {type: revolute, axis: \"0, -3, 0\", at: \"far, 0, 0\"}\n"
    "    mass: 1\n"
    "    inertia: {axial: 1, radial: 0.6}\n"
    "  tail:\n"
    "    parent: base\n"
    "    joint: {type: fixed, at: \"0, 1, 0\", turn: \"0, 0.5, 0\"}\n";

static NeForest chain_in_numbers(double tilt, double far)
{
    NeForest f = {.count = 5};
    f.body[0] = (NeBody){.parent = -1, .type = NE_FREE, .axis = {1, 0, 0}};
    f.body[1] = (NeBody){.parent = 0,
                         .type = NE_REVOLUTE,
                         .axis = {sin(tilt), 0, cos(tilt)},
                         .at = {far, 2 * far, 0},
                         .turn = {0.1, 0.2, 0.3}};
    f.body[2] = (NeBody){.parent = 1,
                         .type = NE_PRISMATIC,
                         .axis = {1, -2, 2},
                         .at = {0, 0, far},
                         .turn = {-1, 2, 0.5}};
    f.body[3] = (NeBody){.parent = 2, .type = NE_REVOLUTE, .axis = {0, -3, 0}, .at = {far, 0, 0}};
    f.body[4] = (NeBody){
        .parent = 0, .type = NE_FIXED, .axis = {1, 0, 0}, .at = {0, 1, 0}, .turn = {0, 0.5, 0}};
    ne_number(&f);
    return f;
}

// Every B.x, B.Rij, B.vx of every body
static void test_names_of_bodies(void **state)
{
    (void)state;
    static const char *const bodies[] = {"base", "arm", "hand", "wheel", "tail"};
    static const char *const words[] = {"x",   "y",   "z",   "vx",  "vy",  "vz",
                                        "wx",  "wy",  "wz",  "R11", "R12", "R13",
                                        "R21", "R22", "R23", "R31", "R32", "R33"};
    enum { WORDS = sizeof words / sizeof *words };
    char text[6000];
    size_t length = (size_t)snprintf(text, sizeof text, "%soutputs:\n", chain);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < WORDS; k++)
            length += (size_t)snprintf(text + length, sizeof text - length, "  o%d_%d: %s.%s\n", i,
                                       k, bodies[i], words[k]);
    Probe p = probe_of(text);
    Random r = {20};
    for (int n = 0; n < STATES; n++) {
        next_state(&p, &r);
        NeForest f = chain_in_numbers(probe_at(&p, "tilt"), probe_at(&p, "far"));
        memcpy(f.body[0].q, probe_input(&p, "base.x"), 7 * sizeof(double));
        memcpy(f.body[0].v, probe_input(&p, "base.vx"), 6 * sizeof(double));
        for (int i = 1; i < 4; i++) {
            char rate[20];
            snprintf(rate, sizeof rate, "%s_rate", bodies[i]);
            f.body[i].q[0] = probe_at(&p, bodies[i]), f.body[i].v[0] = probe_at(&p, rate);
        }
        ne_move(&f);
        for (int i = 0; i < 5; i++) {
            const NeBody *b = &f.body[i];
            const V3 V = m3_across(b->R, b->velocity), W = m3_across(b->R, b->spin);
            double wanted[WORDS];
            for (int k = 0; k < 3; k++) {
                wanted[k] = v3_at(b->p, k);
                wanted[3 + k] = v3_at(V, k), wanted[6 + k] = v3_at(W, k);
                for (int l = 0; l < 3; l++) wanted[9 + 3 * k + l] = v3_at(b->R.column[l], k);
            }
            for (int k = 0; k < WORDS; k++) {
                char name[30];
                snprintf(name, sizeof name, "outputs.o%d_%d", i, k);
                assert_close(probe_get(&p, name), wanted[k], 1e-13);
            }
        }
    }
    probe_free(&p);
}

// d() of outputs, twice, and of rates
static void test_rates_of_outputs(void **state)
{
    (void)state;
    Random r = {21};
    Probe p = probe_of(PENDULUM "functions:\n"
                                "  twice(x): 2*x\n"
                                "outputs:\n"
                                "  ax: d(vx)\n" // before what it uses
                                "  vx: d(lower.x)\n"
                                "  turn: d(a_rate) + twice(d(d(b)))\n"
                                "  energy: upper.wy^2\n"
                                "  slope: d(energy)\n"
                                "  late: d(t*a)\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double l = probe_at(&p, "l1"), a = probe_at(&p, "a"), v = probe_at(&p, "a_rate"),
                     a_rate = probe_vdot(&p, "a_rate");
        assert_close(probe_get(&p, "outputs.vx"), -l * cos(a) * v, 1e-13);
        assert_close(probe_get(&p, "outputs.ax"), -l * cos(a) * a_rate + l * sin(a) * v * v, 1e-13);
        assert_close(probe_get(&p, "outputs.turn"), a_rate + 2 * probe_vdot(&p, "b_rate"), 1e-13);
        assert_close(probe_get(&p, "outputs.slope"), 2 * v * a_rate, 1e-13);
        assert_close(probe_get(&p, "outputs.late"), a + probe_at(&p, "t") * v, 1e-13);
    }
    probe_free(&p);
}

// What the eval command prints agrees with the programs.
static void test_eval_text(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = tr_model_parse(PENDULUM "initial: {a: pi/2, d(b): 0}\n", &err);
    tr_system *system = tr_derive(model, NULL, &err);
    char *text = tr_eval_text(system, true, &err);
    if (err.status) fail_msg("%s", err.text);
    const char *vdot = strstr(text, "\"vdot\"");
    assert_non_null(vdot);
    const char *rate = strstr(vdot, "\"a_rate\"");
    assert_non_null(rate);
    // level: the upper mass falls freely, and the lower one with it
    assert_close(strtod(rate + strlen("\"a_rate\":"), NULL), -9.81, 1e-13);
    tr_text_free(text);
    tr_system_free(system);
    tr_model_free(model);
}

// ---- what is refused -----------------------------------------------------------------------

static void check_refusal(const char *rest, int line, int column, const char *words)
{
    char text[2000];
    tr_error err = {0};
    snprintf(text, sizeof text, "trundle: 1\n%s", rest);
    tr_model *model = tr_model_parse(text, &err);
    assert_non_null(model);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    if (system || err.status != TR_INVALID || err.line != line || err.column != column ||
        strcmp(err.text, words) != 0)
        fail_msg("%s%d:%d: %s, not\n%d:%d: %s", text, err.line, err.column, err.text, line, column,
                 words);
}

// Lines count from the line "trundle: 1", which is the first of each.
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *words;
    } cases[] = {
        {"bodies:\n"
         "  frame: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
         "  fork: {parent: fram, joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1}\n",
         4, 18, "'fork' hangs from 'fram', which is not there; did you mean 'frame'?"},
        {"bodies:\n"
         "  fork:\n"
         "    parent: elephant\n"
         "    mass: 1\n",
         4, 13, "'fork' hangs from 'elephant', which is not there"},
        {"bodies:\n"
         "  a: {parent: b, mass: 1}\n"
         "  b: {parent: c, mass: 1}\n"
         "  c: {parent: a, mass: 1}\n",
         3, 15, "'a' hangs from itself, through its parents"},
        {"bodies:\n"
         "  a:\n"
         "    parent: a\n"
         "    mass: 1\n",
         4, 13, "'a' hangs from itself, through its parents"},
        {"parameters:\n"
         "  a: 2*b\n"
         "  b: c + 1\n"
         "  c: a\n"
         "bodies:\n"
         "  x: {mass: a}\n",
         3, 6, "the parameter 'a' depends on itself"},
        {"parameters:\n"
         "  length: 2\n"
         "  b: 2*lenght\n"
         "bodies:\n"
         "  x: {mass: 1}\n",
         4, 8, "unknown name 'lenght'; did you mean 'length'?"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, xy: 5}}\n",
         3, 46,
         "no body can have the inertia of 'x': a product of inertia is too large for its two "
         "moments"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, shapes: {s: {type: "
         "spher}}}\n",
         3, 88, "unknown shape 'spher'; did you mean 'sphere'?"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, shapes: {s: {radius: "
         "-1}}}\n",
         3, 90, "the radius of a shape must be positive"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 1}\n"
         "roles: {x: {torque: 1}, s: {motion: t}}\n",
         4, 25, "'x' and 's' are one joint, which has one role"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 1}\n"
         "outputs: {energy.kinetic: 3}\n",
         4, 11, "names that begin with 'energy.' are for results"},
        {"bodies:\n"
         "  x: {mass: 2 + foo}\n",
         3, 17, "unknown name 'foo'"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2 + s}\n",
         3, 75, "'s' is not a parameter: this must be constant"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2 + t}\n",
         3, 75, "'t' is not a parameter: this must be constant"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: x.z}\n",
         3, 56, "unknown name 'x.z'"},
        {"parameters: {s: 1}\n"
         "bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         4, 61, "the name 's' is taken"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "  y: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         4, 61, "the name 's' is taken"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "outputs:\n"
         "  s: 2\n",
         5, 3, "the name 's' is taken"},
        {"parameters: {k: 1}\n"
         "bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "outputs:\n"
         "  k: 2\n",
         6, 3, "the name 'k' is taken"},
        {"parameters: {k: 1}\n"
         "inputs: {k: 1}\n"
         "bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         3, 10, "the name 'k' is taken"},
        {"parameters: {k: 1}\n"
         "functions: {k(x): 1}\n"
         "bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         2, 14, "the name 'k' is taken"},
        {"parameters: {s_rate: 1}\n"
         "bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         4, 61, "the name 's_rate' is taken"},
        {"parameters: {pi: 3}\n"
         "bodies:\n"
         "  x: {mass: 2}\n",
         2, 14, "'pi' is a reserved name"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: d}, mass: 2}\n",
         3, 61, "'d' is a reserved name"},
        {"bodies:\n"
         "  world: {mass: 2}\n",
         3, 3, "'world' is a reserved name"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "outputs: {sin: 2}\n",
         4, 11, "'sin' is a reserved name"},
        {"parameters: {t: 3}\n"
         "bodies:\n"
         "  x: {mass: 2}\n",
         2, 14, "'t' is a reserved name"},
        {"bodies:\n"
         "  a.b: {mass: 2}\n",
         3, 3, "'a.b' is not a name for a body: letters, digits and _"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: 2s}, mass: 2}\n",
         3, 61, "'2s' is not a name: letters, digits, _ and single points"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"0, 0, 0\"}, mass: 2}\n",
         3, 39, "the axis is zero: it has no direction"},
        {"parameters: {a: 0}\n"
         "bodies:\n"
         "  x:\n"
         "    joint: {type: revolute, axis: \"a, 0, -a\"}\n"
         "    mass: 2\n",
         5, 36, "the axis is zero: it has no direction"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1/0, 0, 0\"}, mass: 2}\n",
         3, 39, "'axis' is not finite here"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1e-200, 0, 0\"}, mass: 2}\n",
         3, 39, "the axis is zero: it has no direction"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic}, mass: 2}\n",
         3, 14, "the prismatic joint of 'x' needs an axis"},
        {"bodies:\n"
         "  x: {joint: {type: free, axis: \"0, 0, 1\"}, mass: 2}\n",
         3, 34, "a free joint has no axis; use turn"},
        {"bodies:\n"
         "  x: {joint: {axis: \"0, 0, 1\"}, mass: 2}\n",
         3, 22, "a fixed joint has no axis; use turn"},
        {"bodies:\n"
         "  x: {joint: {type: hinge, axis: \"0, 0, 1\"}, mass: 2}\n",
         3, 21,
         "unknown joint type 'hinge': it is free, ball, planar, revolute, prismatic, screw or "
         "fixed"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: -2}\n",
         3, 56, "the mass of 'x' is negative"},
        {"parameters: {m: -1}\n"
         "bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2*m}\n",
         4, 56, "the mass of 'x' is negative"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1/0}\n",
         3, 56, "the mass of 'x' is not finite"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 3}}\n",
         3, 46,
         "no body can have the inertia of 'x': a principal moment is larger than the sum of the "
         "other two"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1, xy: 2}}\n",
         3, 46,
         "no body can have the inertia of 'x': a principal moment about the centre of mass is "
         "negative"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, inertia: {xx: -1, yy: 1}}\n",
         3, 51, "the moment of inertia 'xx' of 'x' is negative"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {axial: 3, radial: "
         "1}}\n",
         3, 67,
         "no body can have the inertia of 'x': a principal moment is larger than the sum of the "
         "other two"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, inertia: {axial: 1, radial: 1}}\n",
         3, 46, "the inertia of 'x' needs an axis: its joint has none"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {axial: 1, radial: "
         "1, xx: 1}}\n",
         3, 93, "inertia is given by axial and radial, or by xx yy zz, not both"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1, axis: \"0, "
         "0, 1\"}}\n",
         3, 82, "an axis goes with an inertia that is given by axial and radial"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1, about: "
         "origin}}\n",
         3, 82, "inertia is taken about com or joint, not 'origin'"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 0, 0\", inertia: "
         "{xx: 1, yy: 1, zz: 1, about: joint}}\n",
         3, 83,
         "no body can have the inertia of 'x': a principal moment is larger than the sum of the "
         "other two"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1, xy: 1/0}}\n",
         3, 79, "'xy' is not finite here"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"0, 1/0, 0\", inertia: "
         "{zz: 1}}\n",
         3, 67, "'com' is not finite here"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\", at: \"0, 1/0, 0\"}, mass: 1, inertia: "
         "{zz: 1}}\n",
         3, 56, "'at' is not finite here"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\", turn: \"0, log(-1), 0\"}, mass: 1, "
         "inertia: {zz: 1}}\n",
         3, 58, "'turn' is not finite here"},
        {"gravity: 0, 0, 1/0\n"
         "bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1}}\n",
         2, 16, "'gravity' is not finite here"},
        {"parameters: {k: 1/0}\n"
         "bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1}}\n",
         2, 17, "the parameter 'k' is not finite"},
        {"parameters: {n: 0, k: 1/n}\n"
         "bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1}}\n",
         2, 23, "the parameter 'k' is not finite"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\", stiffness: 1/0}, mass: 1, inertia: {zz: "
         "1}}\n",
         3, 59, "'stiffness' is not finite here"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1}\n",
         3, 3,
         "nothing that 'x' moves has mass or inertia along it, so its acceleration is not "
         "determined"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"0, 0, 1\"}}\n",
         3, 3,
         "nothing that 'x' moves has mass or inertia along it, so its acceleration is not "
         "determined"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1}\n",
         3, 3,
         "nothing that 'x.wx' moves has mass or inertia along it, so its acceleration is not "
         "determined"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}}\n"
         "  y: {parent: x, joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 0}\n",
         3, 3,
         "nothing that 'x' moves has mass or inertia along it, so its acceleration is not "
         "determined"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "  y: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: u}, mass: 2}\n"
         "roles:\n"
         "  s: {motion: 2*u}\n",
         6, 15, "a motion is a formula of t, but this one uses 'u'"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "  y: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: u}, mass: 2}\n"
         "roles:\n"
         "  s:\n"
         "    motion: 2*d(u)\n",
         7, 13, "a motion is a formula of t, but this one uses 'u_rate'"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "roles:\n"
         "  s: {motion: 2*t, torque: 1}\n",
         5, 3, "'s' is driven by a torque or by a motion, not by both"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: steer}, mass: 2}\n"
         "roles:\n"
         "  ster: {motion: 2*t}\n",
         5, 3, "there is no joint 'ster'; did you mean 'steer'?"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: steer}, mass: 2}\n"
         "  foot: {mass: 1}\n"
         "roles:\n"
         "  foot: {motion: 2*t}\n",
         6, 3, "the joint of 'foot' is fixed: it cannot move"},
        {"bodies:\n"
         "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
         "roles:\n"
         "  x: {torque: {vz: 1}}\n",
         5, 16, "this joint has no velocity 'vz'"},
        {"bodies:\n"
         "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
         "roles:\n"
         "  x: {motion: {z: 1}}\n",
         5, 16, "this joint has no coordinate 'z'"},
        {"bodies:\n"
         "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
         "roles:\n"
         "  x: {torque: 3}\n",
         5, 15, "this joint has several velocities: write {torque: {vx: ...}}"},
        {"bodies:\n"
         "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
         "roles:\n"
         "  x: {motion: 3}\n",
         5, 15, "this joint has several coordinates: write {motion: {x: ...}}"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "roles:\n"
         "  s: {motion: {s: 3}}\n",
         5, 19, "this joint has one coordinate: write {motion: formula}"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "roles:\n"
         "  s: {torque: {s: 3}}\n",
         5, 19, "this joint has one velocity: write {torque: formula}"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "roles:\n"
         "  s: {motion: 2*t}\n"
         "initial: {s: 3}\n",
         6, 11, "'s' is driven by a motion or held, which gives its initial value"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "roles:\n"
         "  s: {motion: 2*t}\n"
         "initial: {d(s): 3}\n",
         6, 11, "'d(s)' is driven by a motion or held, which gives its initial value"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "initial: {d(s): 3}\n"
         "cases: {a: {hold: [s]}}\n",
         4, 11, "'d(s)' is driven by a motion or held, which gives its initial value"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: slide}, mass: 2}\n"
         "cases: {a: {hold: [slid]}}\n",
         4, 20, "there is no joint 'slid'; did you mean 'slide'?"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "initial: {2*pi: 3}\n",
         4, 11, "'2*pi' cannot be made to hold: it depends on no coordinate"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "initial: {d(d(s)): 3}\n",
         4, 11, "'d(d(s))' cannot be made to hold: it depends on no coordinate"},
        {"parameters:\n"
         "  k: 3 + 4*(2 -\n"
         "bodies:\n"
         "  x: {mass: 1}\n",
         3, 16, "the formula ends where a number, a name or '(' is expected"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 2 * * 3, 0\"}\n",
         3, 71, "expected a number, a name or '(', not '*'"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 2, kk\"}\n",
         3, 70, "unknown name 'kk'"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 1\"}, mass: 1}\n",
         3, 38, "'axis' is 3 formulas separated by commas, as in \"0, 0, 1\""},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 0, 1\"}, mass: 1}\n",
         3, 38, "'axis' is 3 formulas separated by commas, as in \"0, 0, 1\""},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, , 1\"}, mass: 1}\n",
         3, 41, "the formula is empty"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, added_mass: \"1, 2, 3, 4, 5\"}\n",
         3, 50, "added_mass is 6 numbers or 36, not 5"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, added_mass: \"1,2,0,0,0,0, 0,1,0,0,0,0, 0,0,1,0,0,0, "
         "0,0,0,1,0,0, 0,0,0,0,1,0, 0,0,0,0,0,1\"}\n",
         3, 50, "added_mass is not symmetric: entries 2,1 and 1,2 differ"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, added_mass: \"1, 1, -5, 1, 1, 1\"}\n",
         3, 3,
         "nothing that 'x.vz' moves has mass or inertia along it, so its acceleration is not "
         "determined"},
        {"bodies:\n"
         "  x: {joint: {type: free}, mass: 1, added_mass: \"1, 1, 1/0, 1, 1, 1\"}\n",
         3, 56, "'added_mass' is not finite here"},
        {"bodies:\n"
         "  x: {joint: {type: planar, stiffness: 3}, mass: 1, inertia: {zz: 1}}\n",
         3, 40, "'stiffness' needs a joint with one coordinate; use potential here"},
        {"bodies:\n"
         "  x: {joint: {stiffness: 3}, mass: 1, inertia: {zz: 1}}\n"
         "  y: {joint: {type: planar}, mass: 1, inertia: {zz: 1}}\n",
         3, 26, "a fixed joint has no use for 'stiffness'"},
        {"bodies:\n"
         "  x: {joint: {type: planar, damping: 3}, mass: 1, inertia: {zz: 1}}\n",
         3, 38, "'damping' needs a joint with one coordinate; use dissipation here"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s, potential: d(s)^2}, "
         "mass: 1}\n",
         3, 75, "a potential is a formula of coordinates, but this one uses 's_rate'"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s, dissipation: "
         "d(s_rate)^2}, mass: 1}\n",
         3, 77, "the rate of 's_rate' is not known here"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "roles:\n"
         "  s:\n"
         "    torque: 3 + d(s_rate)\n",
         6, 17, "the rate of 's_rate' is not known here"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "forces:\n"
         "  push: {force: \"1, 0, 0\"}\n",
         5, 3, "the force 'push' names no body"},
        {"bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "forces:\n"
         "  push: {body: frme, force: \"1, 0, 0\"}\n",
         5, 16, "there is no body 'frme'; did you mean 'frame'?"},
        {"bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "forces:\n"
         "  push: {body: world, force: \"1, 0, 0\"}\n",
         5, 16, "a force acts on a body, not on the world"},
        {"bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "forces:\n"
         "  push: {body: frame, reaction: frame, force: \"1, 0, 0\"}\n",
         5, 33, "the reaction acts on another body"},
        {"bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "forces:\n"
         "  push: {body: frame, axes: frame, force: \"1, 0, 0\"}\n",
         5, 29, "axes are those of the body or of the world, not of 'frame'"},
        {"bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "outputs:\n"
         "  a: b + 1\n"
         "  b: 2*a\n",
         5, 6, "the output 'a' depends on itself"},
        {"bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "outputs:\n"
         "  a: 3*frame.R14\n",
         5, 8, "unknown name 'frame.R14'"},
        {"bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "outputs:\n"
         "  a: 3*fram.R11\n",
         5, 8, "unknown name 'fram.R11'; did you mean 'frame.R11'?"},
        {"bodies:\n"
         "  x: {joint: {type: free, coordinate: s}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n",
         3, 39, "a free joint names no coordinate of its own"},
        {"inputs: {u: 2*s}\n"
         "bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         2, 15, "'s' is not a parameter: this must be constant"},
        {"inputs: {u: 2}\n"
         "parameters: {p: 2*u}\n"
         "bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         3, 19, "'u' is not a parameter: this must be constant"},
        {"parameters: {p: 2*s}\n"
         "bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         2, 19, "'s' is not a parameter: this must be constant"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "outputs: {t: 2}\n",
         4, 11, "'t' is a reserved name"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: t}, mass: 2}\n",
         3, 61, "'t' is a reserved name"},
        {"inputs: {t: 2}\n"
         "bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2}\n",
         2, 10, "'t' is a reserved name"},
        {"parameters: {b.x: 2}\n"
         "bodies:\n"
         "  b: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n",
         4, 3, "the name 'b.x' is taken"},
        {"outputs: {b.x: 2}\n"
         "bodies:\n"
         "  b: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n",
         2, 11, "the name 'b.x' is taken"},
        {"outputs: {b.z: 2}\n"
         "bodies:\n"
         "  b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         2, 11, "the name 'b.z' is taken"},
        {"parameters: {b.R11: 2}\n"
         "bodies:\n"
         "  b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
         2, 14, "the name 'b.R11' is taken"},
        {"bodies:\n"
         "  x: {mass: 2}\n"
         "  y: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
         "cases: {a: {hold: [x]}}\n",
         5, 20, "the joint of 'x' is fixed: it cannot move"},
        {"bodies:\n"
         "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {axial: -3}}\n",
         3, 75, "the moment of inertia 'axial' of 'x' is negative"},
        {"bodies:\n"
         "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: sqrt(-1)}\n",
         3, 56, "the mass of 'x' is not finite"},
        {"bodies:\n"
         "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
         "forces:\n"
         "  push: {body: frame, force: \"1, 0\"}\n",
         5, 31, "'force' is 3 formulas separated by commas, as in \"0, 0, 1\""},
        {"bodies:\n"
         "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
         "roles: {x: {motion: {x: t}}}\n"
         "initial: {x.theta: 1}\n",
         5, 11, "'x.theta' is driven by a motion or held, which gives its initial value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refusal(cases[i].text, cases[i].line, cases[i].column, cases[i].words);
}

// At the edge of what is refused
static void test_just_possible(void **state)
{
    (void)state;
    static const char *const cases[] = {
        // a flat body: one moment is the sum of the others, also turned and off its joint
        "  b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 2}}\n",
        "  b: {joint: {type: free}, mass: 1, inertia: {xx: 1.3, yy: 1.7, zz: 3, xy: 0.4}}\n",
        "  b: {joint: {type: free}, mass: 3, com: \"0.3, 0.7, 0\", inertia: {xx: 0.1 + 3*0.49, yy: "
        "0.2 + 3*0.09, xy: -3*0.21, zz: 0.3 + 3*0.58, about: joint}}\n",
        "  b: {joint: {type: revolute, axis: \"1, 1, 1\"}, mass: 1, inertia: {axial: 2, radial: "
        "1}}\n",
        // only what is given is looked at
        "  b: {joint: {type: planar}, mass: 1, inertia: {zz: 5}}\n",
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {axial: 1}}\n",
        // a mass without size, where no joint needs one; a body without mass that carries another
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 0, 0\"}\n",
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}}\n"
        "  c: {parent: b, joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1, inertia: {zz: "
        "1}}\n",
        // no mass, but a motion
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}}\nroles: {b: {motion: t}}\n",
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}}\ncases: {still: {hold: [b]}}\n",
        // a role that says nothing
        "  b: {joint: {type: planar}, mass: 1, inertia: {zz: 5}}\nroles: {b: passive}\n",
        // nothing moves
        "  b: {mass: 1}\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        tr_error err = {0};
        snprintf(text, sizeof text, "trundle: 1\nbodies:\n%s", cases[i]);
        tr_model *model = tr_model_parse(text, &err);
        tr_system *system = tr_derive(model, NULL, &err);
        if (!system) fail_msg("%s%d:%d: %s", text, err.line, err.column, err.text);
        tr_system_free(system);
        tr_model_free(model);
    }
}

// ---- size ----------------------------------------------------------------------------------

// Operations of the bias c and of the accelerations of a chain of n bodies.
static void count_chain(int n, size_t counts[2])
{
    Buffer text = {0};
    tr_buffer_print(&text, "trundle: 1\nbodies:\n  b0: {joint: {type: free}, mass: 1, inertia: "
                           "{xx: 1, yy: 1, zz: 1}}\n");
    for (int i = 1; i < n; i++)
        tr_buffer_print(
            &text,
            "  b%d: {parent: b%d, joint: {type: revolute, axis: \"%s\", at: \"0, 0, 1\"}, mass: 1,"
            " com: \"0, 0, 0.5\", inertia: {xx: 1, yy: 1, zz: 0.1}}\n",
            i, i - 1, i % 2 ? "1, 0, 0" : "0, 1, 0");
    tr_error err = {0};
    tr_model *model = tr_model_parse(text.at, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    assert_int_equal(err.status, TR_OK);
    const Output *c = tr_system_output(system, text_of("c"));
    const Output *vdot = tr_system_output(system, text_of("vdot"));
    counts[0] = tr_system_operations(system, c->values, c->rows);
    counts[1] = tr_system_operations(system, vdot->values, vdot->rows);
    tr_system_free(system);
    tr_model_free(model);
    tr_buffer_free(&text);
}

static void test_operations_grow_linearly(void **state)
{
    (void)state;
    size_t a[2], b[2], c[2];
    count_chain(60, a);
    count_chain(80, b);
    count_chain(160, c);
    for (int i = 0; i < 2; i++) {
        assert_true(b[i] > a[i]);
        assert_int_equal(c[i] - b[i], 4 * (b[i] - a[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations_grow_linearly),
        cmocka_unit_test(test_double_pendulum),
        cmocka_unit_test(test_double_pendulum_with_inertias),
        cmocka_unit_test(test_cart_pole),
        cmocka_unit_test(test_top),
        cmocka_unit_test(test_forces_on_a_free_body),
        cmocka_unit_test(test_planar_body),
        cmocka_unit_test(test_slider),
        cmocka_unit_test(test_potential_across_joints),
        cmocka_unit_test(test_dissipation_across_joints),
        cmocka_unit_test(test_motion_and_its_torque),
        cmocka_unit_test(test_planar_motion),
        cmocka_unit_test(test_free_motion),
        cmocka_unit_test(test_torque_on_a_free_base),
        cmocka_unit_test(test_roles_go_by_coordinates),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_hold_what_moves),
        cmocka_unit_test(test_forces_between_bodies),
        cmocka_unit_test(test_without),
        cmocka_unit_test(test_added_mass),
        cmocka_unit_test(test_added_mass_in_a_tree),
        cmocka_unit_test(test_wheels),
        cmocka_unit_test(test_names_of_bodies),
        cmocka_unit_test(test_rates_of_outputs),
        cmocka_unit_test(test_eval_text),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_just_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
