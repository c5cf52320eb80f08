// SPDX-License-Identifier: Apache-2.0
// The physics of small models against closed forms written here by hand, at random states and with
// random parameters: bodies, added mass, wheels, and how fast programs grow.
#include "equations.h"
#include "expr/walk.h"
#include "models.h"

// ---- closed forms --------------------------------------------------------------------------

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
        gauss(6, 6, J, f);
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

static bool occurs_in(const System *s, const char *symbol, const char *output)
{
    const Output *of = tr_system_output(s, text_of(output));
    const Named *named = tr_system_find(s, text_of(symbol));
    Reach reach;
    bool found = false;
    assert_true(tr_reach(s->graph, of->values, (size_t)of->rows * of->columns, &reach));
    for (uint32_t k = 0; k < reach.count; k++) found = found || reach.ids[k] == named->meaning.id;
    tr_reach_free(&reach);
    return found;
}

static bool occurs(const Probe *p, const char *symbol, const char *output)
{
    return occurs_in(p->system, symbol, output);
}

static size_t operations_of(Probe *p)
{
    const Output *vdot = tr_system_output(p->system, text_of("vdot"));
    return tr_system_operations(p->system, vdot->values, vdot->rows);
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

// The same motion as that of a wheel that is written in another way
static void compare_wheels(Probe *p, const char *text, bool turns)
{
    Random r = {19};
    Probe q = probe_of(text);
    assert_true(occurs(&q, "spin", "c") == turns);
    const bool is_longer = operations_of(&q) > operations_of(p);
    assert_true(is_longer == (turns && !occurs(p, "spin", "c")));
    for (int k = 0; k < STATES; k++) {
        next_state(p, &r);
        memcpy(q.in, p->in, q.system->input_count * sizeof *q.in);
        probe_run(&q);
        check_equations(&q);
        for (uint32_t n = 0; n < p->velocities; n++)
            assert_close(probe_output(p, "vdot")[n], probe_output(&q, "vdot")[n], 1e-12);
        static const char *const outputs[] = {"kinetic",   "potential", "power",     "outputs.x",
                                              "outputs.y", "outputs.z", "outputs.w", "outputs.v"};
        for (int n = 0; n < 8; n++)
            assert_close(probe_get(p, outputs[n]), probe_get(&q, outputs[n]), 1e-12);
    }
    probe_free(&q);
}

// A body that is symmetric about its own joint is the same body written with xx yy zz where it
// shows that two moments are one, and where they are not, but for rounding; there alone its angle
// is in the dynamics.
static void test_wheels(void **state)
{
    (void)state;
    static const struct {
        const char *round, *written, *apart;
    } pairs[] = {
        {CART("axis: \"0, 2, 0\"", "    inertia: {axial: 1, radial: 0.7}\n"),
         CART("axis: \"0, 2, 0\"", "    inertia: {xx: 0.7, yy: 1, zz: 0.7}\n"),
         CART("axis: \"0, 2, 0\"", "    inertia: {xx: 0.7, yy: 1, zz: 0.7000000000000001}\n")},
        {CART("axis: \"0, 0, -1\", turn: \"0, 0, 1\"",
              "    com: 0, 0, 0.25\n    inertia: {axial: 1, radial: 0.7, about: joint}\n"),
         CART("axis: \"0, 0, -1\", turn: \"0, 0, 1\"",
              "    com: 0, 0, 0.25\n    inertia: {xx: 0.7, yy: 0.7, zz: 1, about: joint}\n"),
         CART("axis: \"0, 0, -1\", turn: \"0, 0, 1\"",
              "    com: 0, 0, 0.25\n    inertia: {xx: 0.7, yy: 0.7, zz: 1, xy: 1e-20, about: "
              "joint}\n")},
        {CART("axis: \"0.6, 0, 0.8\", turn: \"1, 2, 3\"", "    inertia: {axial: 1, radial: 1}\n"),
         CART("axis: \"0.6, 0, 0.8\", turn: \"1, 2, 3\"", "    inertia: {xx: 1, yy: 1, zz: 1}\n"),
         CART("axis: \"0.6, 0, 0.8\", turn: \"1, 2, 3\"",
              "    inertia: {xx: 1, yy: 1, zz: 1.0000000000000002}\n")},
        // and three that are not: their mass, or the water about them, turns with them
        {CART("axis: \"0, 2, 0\"", "    com: 0.1, 0, 0\n    inertia: {axial: 1, radial: 0.7}\n"),
         CART("axis: \"0, 2, 0\"", "    com: 0.1, 0, 0\n    inertia: {xx: 0.7, yy: 1, zz: 0.7}\n"),
         NULL},
        {CART("axis: \"0, 2, 0\"",
              "    inertia: {axial: 1, radial: 0.7}\n    added_mass: 1, 2, 3, 4, 5, 6\n"),
         CART("axis: \"0, 2, 0\"",
              "    inertia: {xx: 0.7, yy: 1, zz: 0.7}\n    added_mass: 1, 2, 3, 4, 5, 6\n"),
         NULL},
        {CART("axis: \"0, 2, 0\"", "    inertia: {axial: 1, radial: 0.7, axis: \"0, 0, 1\"}\n"),
         CART("axis: \"0, 2, 0\"", "    inertia: {xx: 0.7, yy: 0.7, zz: 1}\n"), NULL},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Probe p = probe_of(pairs[i].round);
        assert_true(occurs(&p, "spin", "M") == (i >= 3));
        compare_wheels(&p, pairs[i].written, i >= 3);
        if (pairs[i].apart) compare_wheels(&p, pairs[i].apart, true);
        probe_free(&p);
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

#define HELD(inertia, contact)                                                                   \
    "trundle: 1\n"                                                                               \
    "bodies:\n"                                                                                  \
    "  frame: {joint: {type: free}, mass: 3, com: \"0.1, 0, 0.2\", " ROUND "}\n"                 \
    "  wheel:\n"                                                                                 \
    "    parent: frame\n"                                                                        \
    "    joint: {type: revolute, axis: \"0, 1, 0\", at: \"0.5, 0.1, -0.2\", coordinate: spin}\n" \
    "    mass: 2\n    " inertia "\ncontacts: {c: {body: wheel, " contact "}}\n"

// Of a wheel that something other than its rim holds, the rows are by its own axes: there it turns.
static void test_wheels_that_are_held(void **state)
{
    (void)state;
#define BOTH(contact)                                           \
    {                                                           \
        HELD("inertia: {axial: 1, radial: 0.7}", contact),      \
            HELD("inertia: {xx: 0.7, yy: 1, zz: 0.7}", contact) \
    }
    static const char *const texts[][2] = {
        BOTH("radius: 0.3"), BOTH("kind: pin, at: \"0.3, 0, 0\""),
        BOTH("radius: 0.3, axis: \"1, 0, 0\""), BOTH("kind: slide, at: \"0.3, 0, 0\""),
        BOTH("kind: skate, direction: \"1, 0, 0\"")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int k = 0; k < 2; k++) {
            System *system = system_from(texts[i][k]);
            assert_true(occurs_in(system, "spin", "c") == (i >= 2));
            tr_system_free(system);
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
        cmocka_unit_test(test_added_mass),
        cmocka_unit_test(test_added_mass_in_a_tree),
        cmocka_unit_test(test_wheels),
        cmocka_unit_test(test_wheels_that_are_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
