// SPDX-License-Identifier: Apache-2.0
// What drives small models, against closed forms written here by hand, at random states and with
// random parameters: springs, potentials and dissipation, torques, motions, holds, forces between
// bodies.
#include "equations.h"

// ---- what holds for every model ------------------------------------------------------------

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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
