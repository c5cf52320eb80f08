// SPDX-License-Identifier: Apache-2.0
// Constrained models against closed forms, one mechanism in several ways, and models that cannot
// be.
#include "runs.h"

static const double g = 9.81;

static Sheet *run_for(tr_system *system, double end) { return run_to(system, end, end / 50); }

// ---- closed forms --------------------------------------------------------------------------

// v' = a w^2, (I + m a^2) w' = -m a v w: with V the speed at the end and k = m a V/(I + m a^2),
// v = V tanh(k t + c), w = V sqrt(m/(I + m a^2))/cosh(k t + c). The energy, m V^2/2, stays.
static void check_sleigh(const char *case_name, double v0, double w0)
{
    const double m = 2, a = 0.25, J = 0.3 + m * a * a, V = sqrt(v0 * v0 + J * w0 * w0 / m);
    const double k = m * a * V / J, c = atanh(v0 / V);
    Sheet *run = run_of(system_called("sleigh", case_name));
    const size_t last = run->rows - 1;
    double energy = 0, off = 0;
    for (size_t i = 0; i < run->rows; i++) {
        const double x = k * at(run, i, "t") + c;
        energy = fmax(energy, fabs(at(run, i, "energy.kinetic") / (m * V * V / 2) - 1));
        off = fmax(off, fabs(at(run, i, "sleigh.vx") - V * tanh(x)));
        off = fmax(off, fabs(at(run, i, "sleigh.wz") - V * sqrt(m / J) / cosh(x)));
        assert_close(at(run, i, "sleigh.vy"), 0, 1e-14);
        assert_close(at(run, i, "limit"), V, 1e-15);
    }
    print_message("sleigh, %s: energy %.1e, velocities %.1e\n", case_name, energy, off);
    assert_below(energy, 1e-10);
    assert_below(off, 1e-9);
    assert_close(at(run, last, "sleigh.vx"), V, 1e-10);
    assert_close(at(run, last, "sleigh.wz"), 0, 1e-6);
    tr_sheet_free(run);
}

static void test_sleigh(void **state)
{
    (void)state;
    check_sleigh("spin", 0.5, 3);
    check_sleigh("backwards", -1, 0.01); // it turns round
}

static void test_geared_axle(void **state)
{
    (void)state;
    const double ratio = 30, J_rotor = 2e-5, J_axle = 0.004, m = 5, R = 0.08, torque = 0.05;
    const double inertia = m + (J_axle + ratio * ratio * J_rotor) / (R * R);
    const double acceleration = ratio * torque / R / inertia;
    Sheet *run = run_of(system_called("geared_axle", "start"));
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t");
        assert_close(at(run, i, "expected"), acceleration, 1e-14);
        assert_close(at(run, i, "x_rate"), acceleration * t, 1e-12);
        assert_close(at(run, i, "rotor_angle"), -ratio * acceleration * t * t / 2 / R, 1e-12);
        assert_close(at(run, i, "lambda.wheel.longitudinal"), m * acceleration, 1e-12);
        // of the gear on the axle, the rotor's share of the motor's torque taken off
        assert_close(at(run, i, "lambda.gear.coupling"),
                     ratio * (torque - J_rotor * ratio * acceleration / R), 1e-12);
    }
    tr_sheet_free(run);
    run = run_of(system_called("geared_axle", "turned")); // rotor_angle = -20 t^2
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t");
        assert_close(at(run, i, "x"), R * 20 * t * t / ratio, 1e-12);
        assert_close(at(run, i, "tau.rotor_angle"), -R * R * 40 / (ratio * ratio) * inertia, 1e-13);
    }
    tr_sheet_free(run);
}

static void test_unicycle_circle(void **state)
{
    (void)state;
    Sheet *run = run_of(system_called("unicycle", "circle"));
    const size_t last = run->rows - 1;
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"); // radius R roll' / wz = 0.5
        assert_close(at(run, i, "body.x"), 0.5 * sin(t), 1e-10);
        assert_close(at(run, i, "body.y"), 0.5 * (1 - cos(t)), 1e-10);
        assert_close(at(run, i, "lambda.ground.lateral"), 6 * 0.5, 1e-12);
    }
    assert_close(at(run, last, "t"), 2 * M_PI, 1e-15);
    assert_close(at(run, last, "body.x"), 0, 1e-10);
    assert_close(at(run, last, "body.y"), 0, 1e-10);
    tr_sheet_free(run);
}

static void test_unicycle_spiral(void **state)
{
    (void)state;
    const double m = 6, Jw = 0.005, R = 0.1, I = 0.2 + Jw / 2;
    const double v = 0.2 / R / (m + Jw / (R * R)), w = 0.05 / I;
    Sheet *run = run_of(system_called("unicycle", "spiral"));
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t");
        assert_close(at(run, i, "body.vx"), v * t, 1e-11);
        assert_close(at(run, i, "body.wz"), w * t, 1e-11);
        assert_close(at(run, i, "lambda.ground.longitudinal"), m * v, 1e-11);
        assert_close(at(run, i, "lambda.ground.lateral"), m * v * t * w * t, 1e-11);
    }
    tr_sheet_free(run);
}

static void check_differential_drive(const char *case_name)
{
    Sheet *run = run_of(system_called("differential_drive", case_name));
    for (size_t i = 0; i < run->rows; i++) {
        assert_close(at(run, i, "speed"), at(run, i, "body.vx"), 1e-12);
        assert_close(at(run, i, "turn_rate"), at(run, i, "body.wz"), 1e-12);
        assert_close(at(run, i, "body.vy"), 0, 1e-12);
        assert_close(at(run, i, "lambda.left_tyre.lateral"), // the least norm shares equally
                     at(run, i, "lambda.right_tyre.lateral"), 1e-12);
    }
    assert_true(fabs(at(run, run->rows - 1, "speed")) > 0.1);
    assert_true(largest(run, "turn_rate") > 0.01);
    assert_true(largest(run, "lambda.left_tyre.lateral") > 0.001);
    tr_sheet_free(run);
}

static void test_differential_drive(void **state)
{
    (void)state;
    char *json = facts_of(system_called("differential_drive", NULL));
    assert_fact(json, "rows", 6);
    assert_fact(json, "redundant", 1);
    assert_fact(json, "antagonist", 0);
    assert_names(json, "hyperstatic_rows", "left_tyre.lateral right_tyre.lateral");
    tr_text_free(json);
    check_differential_drive("drive");
    check_differential_drive("reverse");
}

// ---- rows that depend on time --------------------------------------------------------------

#define PLANE                                                                  \
    "trundle: 1\n"                                                             \
    "bodies:\n"                                                                \
    "  across: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n" \
    "  bead: {parent: across, mass: 2,"                                        \
    " joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}}\n"

// On a rod that grows as l = l0 + c t: m l^2 angle' = L stays, so
// angle = L/(m c) (1/l0 - 1/l), and the rod pulls with L^2/(m l^3).
static void test_growing_rod(void **state)
{
    (void)state;
    const double m = 2, l0 = 0.5, c = 0.3, rate0 = 1.5, L = m * l0 * l0 * rate0;
    Sheet *run = run_for(system_from(PLANE "gravity: 0, 0, 0\n"
                                           "loops: {rod: {body: bead, length: 0.5 + 0.3*t}}\n"
                                           "initial: {x: 0.5, z: 0, d(z): 0.75}\n"),
                         2);
    for (size_t i = 0; i < run->rows; i++) {
        const double l = l0 + c * at(run, i, "t"), angle = L / (m * c) * (1 / l0 - 1 / l);
        assert_close(at(run, i, "x"), l * cos(angle), 1e-10);
        assert_close(at(run, i, "z"), l * sin(angle), 1e-10);
        assert_close(at(run, i, "x_rate"), c * cos(angle) - L / (m * l) * sin(angle), 1e-10);
        assert_close(at(run, i, "lambda.rod.distance"), -L * L / (m * l * l * l), 1e-10);
    }
    tr_sheet_free(run);
}

// It takes the only freedom there is, (y - 0.2)^2 = l^2 - 1, and pushes aslant.
static void test_rod_that_drives(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies: {bead: {joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y}, mass: 2}}\n"
        "loops: {rod: {body: bead, at: \"0.1, 0, 0\", to: \"1.1, 0.2, 0\", length: 2 + sin(t)}}\n"
        "initial: {y: 0.2 + sqrt(3)}\n";
    Sheet *run = run_for(system_from(text), 3);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), l = 2 + sin(t), s = sqrt(l * l - 1);
        const double rate = l * cos(t) / s;
        const double acceleration = (cos(t) * cos(t) - l * sin(t) - rate * rate) / s;
        assert_close(at(run, i, "y"), 0.2 + s, 1e-10);
        assert_close(at(run, i, "y_rate"), rate, 1e-10);
        assert_close(at(run, i, "lambda.rod.distance"), 2 * acceleration * l / s, 1e-9);
    }
    tr_sheet_free(run);
}

// y = 2 x + t^2 between masses 3 and 2, the first pushed by 5:
// (3 + 4*2) x'' = 5 - 4*2, and the coupling pushes y with 2 y''.
static void test_coupling_with_offset(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 3}\n"
        "  b: {joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y}, mass: 2}\n"
        "couplings: {gear: {coordinate: y, equals: {x: 2}, offset: t^2}}\n"
        "roles: {x: {torque: 5}}\n"
        "initial: {x: 0.25, d(x): 1}\n";
    const double acceleration = (5. - 4 * 2) / (3 + 4 * 2);
    Sheet *run = run_for(system_from(text), 3);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), x = 0.25 + t + acceleration * t * t / 2;
        assert_close(at(run, i, "x"), x, 1e-12);
        assert_close(at(run, i, "y"), 2 * x + t * t, 1e-12);
        assert_close(at(run, i, "lambda.gear.coupling"), 2 * (2 * acceleration + 2), 1e-12);
    }
    tr_sheet_free(run);
}

// x' = t y' + t^2/2 between unit masses: with s = sqrt(1 + t^2),
// (y' s)' = -t^2/s, so y' = (y'0 - (t s - asinh t)/2)/s, and x'' is the force.
static void test_rate_with_time(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n"
        "  b: {joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y}, mass: 1}\n"
        "constraints: {belt: {rate: d(x) - t*d(y) - t^2/2}}\n"
        "initial: {d(y): 2}\n";
    Sheet *run = run_for(system_from(text), 3);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), s = sqrt(1 + t * t);
        const double u = (2 - (t * s - asinh(t)) / 2) / s, du = -t * (u + t) / (s * s);
        assert_close(at(run, i, "y_rate"), u, 1e-11);
        assert_close(at(run, i, "x_rate"), t * u + t * t / 2, 1e-11);
        assert_close(at(run, i, "lambda.belt.rate"), u + t * du + t, 1e-11);
    }
    tr_sheet_free(run);
}

// On a slope that is lifted, z = k x + a t^2/2: x'' = -(g + a) k/(1 + k^2), the force on z is
// m (g + a)/(1 + k^2).
static void test_position_with_time(void **state)
{
    (void)state;
    const double k = 0.75, a = 1.2, m = 2, n = 1 + k * k;
    Sheet *run =
        run_for(system_from(PLANE "constraints: {slope: {position: z - 0.75*x - 0.6*t^2}}\n"
                                  "initial: {x: 1, d(x): 0.5}\n"),
                3);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), x = 1 + 0.5 * t - (g + a) * k / n * t * t / 2;
        assert_close(at(run, i, "x"), x, 1e-11);
        assert_close(at(run, i, "z"), k * x + a * t * t / 2, 1e-11);
        assert_close(at(run, i, "lambda.slope.position"), m * (g + a) / n, 1e-11);
    }
    tr_sheet_free(run);
}

// ---- one mechanism in several ways ---------------------------------------------------------

// A pendulum of length 0.7 from 1 rad, in the plane y = 0. Positions are not mended along the way,
// so the runs are short.
static Sheet *pendulum_by(const char *text)
{
    Sheet *run = run_for(system_from(text), 2);
    assert_below(largest(run, "residual.position"), 1e-10);
    return run;
}

static void check_same_pendulum(const char *text, const Sheet *exact)
{
    static const char *const columns[] = {"across", "down", "energy.kinetic"};
    Sheet *run = pendulum_by(text);
    for (size_t k = 0; k < 3; k++) {
        const double off = difference(run, columns[k], exact, columns[k]);
        print_message("%-14s %.1e\n", columns[k], off);
        assert_below(off, 1e-9);
    }
    assert_below(difference(run, "pull", exact, "pull"), 1e-8);
    tr_sheet_free(run);
}

// A bead slides down a straight wire with g times its slope, and presses on it as it would on a
// plane.
static void test_wire(void **state)
{
    (void)state;
    Sheet *run =
        run_for(system_from("trundle: 1\n"
                            "parameters: {slope: 0.6}\n"
                            "bodies:\n"
                            "  bead: {joint: {type: free}, mass: 2, inertia: {xx: 0.1, yy: "
                            "0.2, zz: 0.15}}\n"
                            "contacts:\n"
                            "  wire: {kind: wire, body: bead, to: \"0, 0.5, 1\", direction: "
                            "\"cos(slope), 0, -sin(slope)\"}\n"
                            "guess: {bead.z: 1}\n"
                            "initial: {bead.x: 0, d(bead.x): 0}\n"),
                1);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), way = 9.81 * sin(0.6) * t * t / 2;
        assert_close(at(run, i, "bead.x"), way * cos(0.6), 1e-10);
        assert_close(at(run, i, "bead.z"), 1 - way * sin(0.6), 1e-10);
        assert_close(at(run, i, "bead.y"), 0.5, 1e-12);
        assert_close(at(run, i, "lambda.wire.normal"), 2 * 9.81 * cos(0.6), 1e-10);
        assert_close(at(run, i, "lambda.wire.lateral"), 0, 1e-10);
    }
    tr_sheet_free(run);
}

#define NUT_AND_ARM                    \
    "mass: 2, inertia: {zz: 0.004}}\n" \
    "  arm: {mass: 1, com: \"0.1, 0.2, 0.05\", inertia: {xx: 0.01, yy: 0.02, zz: 0.015}, "

// Screws on screws are hinges on slides that gears move.
static void test_screw(void **state)
{
    (void)state;
    Sheet *screws = run_for(
        system_from("trundle: 1\n"
                    "bodies:\n"
                    "  nut: {joint: {type: screw, axis: \"0, 0, 1\", pitch: 0.03, "
                    "coordinate: q}, " NUT_AND_ARM
                    "parent: nut, joint: {type: screw, axis: \"0, 1, 1\", at: \"0.1, 0, 0.2\", "
                    "turn: \"0.3, 0.2, 0.1\", pitch: -0.05, coordinate: p}}\n"
                    "initial: {d(q): 1, d(p): 2, p: 0.3}\n"),
        1);
    Sheet *gears = run_for(
        system_from("trundle: 1\n"
                    "bodies:\n"
                    "  slide: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}}\n"
                    "  rail: {parent: nut, joint: {type: prismatic, axis: \"0, 1, 1\", at: "
                    "\"0.1, 0, 0.2\", coordinate: y}}\n"
                    "  nut: {parent: slide, joint: {type: revolute, axis: \"0, 0, 1\", "
                    "coordinate: q}, " NUT_AND_ARM
                    "parent: rail, joint: {type: revolute, axis: \"0, 1, 1\", "
                    "turn: \"0.3, 0.2, 0.1\", coordinate: p}}\n"
                    "couplings:\n"
                    "  a: {coordinate: z, equals: {q: 0.03}}\n"
                    "  b: {coordinate: y, equals: {p: -0.05}}\n"
                    "initial: {d(q): 1, d(p): 2, p: 0.3}\n"),
        1);
    static const char *const columns[] = {"q", "p", "q_rate", "p_rate", "energy.kinetic"};
    for (size_t k = 0; k < 5; k++)
        assert_below(difference(screws, columns[k], gears, columns[k]), 1e-8);
    tr_sheet_free(screws);
    tr_sheet_free(gears);
}

// All its mass at the tip: pull = m (l phi'^2 + g cos phi). The formula's gradient is twice as long
// as the rod, so its reaction is -pull/(2 l).
static void test_point_pendulum(void **state)
{
    (void)state;
    Sheet *exact = pendulum_by(
        "trundle: 1\n"
        "bodies: {rod: {joint: {type: revolute, axis: \"0, -1, 0\", coordinate: phi}, mass: 2,"
        " com: \"0, 0, -0.7\"}}\n"
        "outputs: {across: 0.7*sin(phi), down: -0.7*cos(phi),"
        " pull: 2*(0.7*d(phi)^2 + 9.81*cos(phi))}\n"
        "initial: {phi: 1}\n");
    assert_true(at(exact, exact->rows - 1, "across") < 0.5); // it has swung
    check_same_pendulum(PLANE "loops: {rod: {body: bead, length: 0.7}}\n"
                              "outputs: {across: x, down: z, pull: -lambda.rod.distance}\n"
                              "initial: {x: 0.7*sin(1), z: -0.7*cos(1)}\n"
                              "independent: [d(x)]\n",
                        exact);
    check_same_pendulum(PLANE "constraints: {circle: {position: x^2 + z^2 - 0.49}}\n"
                              "outputs: {across: x, down: z,"
                              " pull: -1.4*lambda.circle.position}\n"
                              "initial: {x: 0.7*sin(1), z: -0.7*cos(1)}\n"
                              "independent: [d(x)]\n",
                        exact);
    check_same_pendulum( // of a body that hangs by its mass centre, and need not turn
        "trundle: 1\n"
        "bodies: {bob: {joint: {type: free}, mass: 2, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
        "loops: {rod: {body: bob, to: \"1, 2, 3\", length: 0.7}}\n"
        "outputs: {across: bob.x - 1, down: bob.z - 3, pull: -lambda.rod.distance}\n"
        "initial: {bob.x: 1 + 0.7*sin(1), bob.y: 2, bob.z: 3 - 0.7*cos(1)}\n"
        "independent: [bob.vx]\n",
        exact);
    tr_sheet_free(exact);
}

// A body that is pinned is on a ball joint, and the pin bears m (a - gravity), with a that of the
// mass centre.
static void test_pinned_body(void **state)
{
    (void)state;
    static const char *const columns[] = {"x", "y", "z", "Fx", "Fy", "Fz", "energy.kinetic"};
    Sheet *ball = run_for(system_from("trundle: 1\n"
                                      "bodies:\n"
                                      "  b: {joint: {type: ball}, mass: 2, com: \"0, 0, -0.7\","
                                      " inertia: {xx: 0.3, yy: 0.4, zz: 0.2}}\n"
                                      "outputs: {x: -0.7*b.R13, y: -0.7*b.R23, z: -0.7*b.R33,"
                                      " Fx: 2*d(d(x)), Fy: 2*d(d(y)), Fz: 2*(d(d(z)) + 9.81)}\n"
                                      "initial: {b.wx: 3, b.wy: -2, b.wz: 1}\n"),
                          1);
    Sheet *pin = run_for(
        system_from("trundle: 1\n"
                    "bodies: {b: {joint: {type: free}, mass: 2,"
                    " inertia: {xx: 0.3, yy: 0.4, zz: 0.2}}}\n"
                    "contacts: {nail: {kind: pin, body: b, at: \"0, 0, 0.7\", to: \"1, 2, 3\"}}\n"
                    "outputs: {x: b.x - 1, y: b.y - 2, z: b.z - 3, Fx: lambda.nail.longitudinal,"
                    " Fy: lambda.nail.lateral, Fz: lambda.nail.normal}\n"
                    "initial: {b.x: 1, b.y: 2, b.z: 2.3, b.wx: 3, b.wy: -2, b.wz: 1}\n"),
        1);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const double off = difference(pin, columns[k], ball, columns[k]);
        print_message("%-14s %.1e\n", columns[k], off);
        assert_below(off, 1e-9);
    }
    assert_true(largest(ball, "x") > 0.1 && largest(ball, "y") > 0.1);
    tr_sheet_free(ball);
    tr_sheet_free(pin);
}

// A thin rod of length 2 falls, its foot on a smooth floor: the mass centre goes straight down, and
// theta'^2 = 12 g (cos theta0 - cos theta)/(l (1 + 3 sin^2 theta)), theta from the vertical. At
// rest the floor bears m g/(1 + 3 sin^2 theta0).
static void test_falling_rod(void **state)
{
    (void)state;
    const double m = 3, l = 2, theta0 = 0.2;
    Sheet *run = run_for(
        system_from(
            "trundle: 1\n"
            "bodies: {rod: {joint: {type: free}, mass: 3, inertia: {xx: 1, yy: 1, zz: 0.1}}}\n"
            "contacts: {floor: {kind: slide, body: rod, at: \"0, 0, -1\"}}\n"
            "outputs: {theta: asin(rod.R13)}\n"
            "initial: {rod.R13: sin(0.2), rod.R23: 0, rod.R12: 0}\n"),
        0.65);
    const double share = 1 / (1 + 3 * sin(theta0) * sin(theta0));
    assert_close(at(run, 0, "lambda.floor.normal"), m * g * share, 1e-11);
    for (size_t i = 0; i < run->rows; i++) {
        const double theta = at(run, i, "theta"), s = sin(theta), rate = at(run, i, "rod.wy");
        assert_close(rate * rate, 12 * g * (cos(theta0) - cos(theta)) / (l * (1 + 3 * s * s)),
                     1e-9);
        assert_close(at(run, i, "rod.z"), cos(theta), 1e-10);
        assert_close(at(run, i, "rod.x"), 0, 1e-12);
    }
    assert_true(at(run, run->rows - 1, "theta") > 1);
    tr_sheet_free(run);
}

// A force that uses a reaction, and changes it: a block is pushed up a rough slope z = k x by F
// along x, against the friction -mu lambda. lambda = (m g + k F)/(1 + k (k + mu)), and
// m x'' = F - (k + mu) lambda.
static void test_friction(void **state)
{
    (void)state;
    const double m = 2, k = 0.75, mu = 0.3, F = 40, N = (m * g + k * F) / (1 + k * (k + mu));
    Sheet *run = run_for(
        system_from(PLANE "constraints: {slope: {position: z - 0.75*x}}\n"
                          "forces:\n"
                          "  push: {body: bead, force: \"40, 0, 0\"}\n"
                          "  rubbing: {body: bead, force: \"-0.3*lambda.slope.position, 0, 0\"}\n"),
        2);
    for (size_t i = 0; i < run->rows; i++) {
        assert_close(at(run, i, "lambda.slope.position"), N, 1e-12);
        assert_close(at(run, i, "x_rate"), (F - (k + mu) * N) / m * at(run, i, "t"), 1e-12);
    }
    tr_sheet_free(run);
}

// ---- models that cannot be -----------------------------------------------------------------

static const char three_joints[] =
    "trundle: 1\n"
    "bodies:\n"
    "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n"
    "  b: {joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y}, mass: 1}\n"
    "  wheel: {parent: a, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: roll}, mass: 1,"
    " inertia: {axial: 0.01}}\n";

// From the sixth line on
static void assert_refused(const char *more, const char *words)
{
    char text[1500];
    snprintf(text, sizeof text, "%s%s\n", three_joints, more);
    assert_invalid(text, words);
}

static void test_bad_cases(void **state)
{
    (void)state;
    assert_refused("cases: {c: {end: -1}}", "6:18: 'end' must be a positive constant");
    assert_refused("cases: {c: {every: 0}}", "6:20: 'every' must be a positive constant");
    assert_refused("cases: {c: {allow: [flight]}}",
                   "6:21: what can be allowed is 'singular' or 'second_touch', not 'flight'");
    assert_refused("guess: {g: 1}\nparameters: {g: 1}",
                   "6:9: a guess is for a coordinate or its rate");
    assert_refused("inputs: {push: 1/0}", "6:16: the input 'push' is not finite");
    assert_refused("independent: [x]", "6:15: independent are velocities, or formulas that are "
                                       "linear in them: write d(...) of a coordinate");
}

static void test_bad_contacts(void **state)
{
    (void)state;
    assert_refused("contacts: {c: {kind: skate, body: whel}}",
                   "6:35: there is no body 'whel'; did you mean 'wheel'?");
    assert_refused("contacts: {c: {kind: pin, body: a, on: bb}}",
                   "6:40: there is no body 'bb'; did you mean 'b'?");
    assert_refused("contacts: {c: {kind: skate, body: nothing}}",
                   "6:35: there is no body 'nothing'; there are 'a', 'b', 'wheel'");
    assert_refused("contacts: {c: {kind: skate}}", "6:12: 'c' names no body");
    assert_refused("contacts: {c: {kind: pin, body: a, on: a}}", "6:40: 'c' ties 'a' to itself");
    assert_refused("contacts: {c: {kind: skate, body: a, direction: \"0, 0, 0\"}}",
                   "6:50: the direction is zero: it has no direction");
    assert_refused("contacts: {c: {kind: rolling, body: wheel, radius: 0.1, axis: \"0, 0, 0\"}}",
                   "6:64: the axis is zero: it has no direction");
    assert_refused("contacts: {c: {kind: rolling, body: wheel, radius: -1}}",
                   "6:52: the wheel 'c' needs a positive radius");
    assert_refused("contacts: {c: {kind: skte, body: a}}",
                   "6:22: there is no kind 'skte'; did you mean 'skate'?");
    assert_refused("contacts: {c: {kind: skate, body: a, radius: 1}}",
                   "6:46: a skate contact has no use for 'radius'");
    assert_refused("contacts: {c: {kind: slide, body: a, direction: \"1, 0, 0\"}}",
                   "6:50: a slide contact has no use for 'direction'");
}

static void test_bad_loops(void **state)
{
    (void)state;
    assert_refused("loops: {c: {kind: distnce, body: a, length: 1}}",
                   "6:19: there is no kind 'distnce'; did you mean 'distance'?");
    assert_refused("loops: {c: {body: whel, length: 1}}",
                   "6:19: there is no body 'whel'; did you mean 'wheel'?");
    assert_refused("loops: {c: {body: a}}", "6:9: the rod 'c' needs a length");
    assert_refused("loops: {c: {body: a, length: -1}}",
                   "6:30: the length of a rod is positive; use a pin to keep two points together");
    assert_refused("loops: {c: {body: a, length: 0/0}}", "6:30: 'length' is not finite here");
    assert_refused("loops: {c: {body: a, length: 1 + x}}",
                   "6:30: a length is a formula of t, but this one uses 'x'");
}

static void test_bad_couplings(void **state)
{
    (void)state;
    assert_refused("couplings: {c: {coordinate: rol, equals: {y: 1}}}",
                   "6:29: there is no coordinate 'rol'; did you mean 'roll'?");
    assert_refused("couplings: {c: {coordinate: x, equals: {yy: 1}}}",
                   "6:41: there is no coordinate 'yy'; did you mean 'y'?");
    assert_refused("couplings: {c: {coordinate: x, equals: {y: 2, x: 1}}}",
                   "6:47: 'c' couples 'x' to itself");
    assert_refused("couplings: {c: {coordinate: x, equals: {y: 1/0}}}",
                   "6:44: 'ratio' is not finite here");
    assert_refused("couplings: {c: {coordinate: x, equals: {y: 1}, offset: y}}",
                   "6:56: an offset is a formula of t, but this one uses 'y'");
    assert_refused("couplings: {c: {coordinate: x}}",
                   "6:13: the coupling 'c' needs a coordinate and what it equals, as in "
                   "{coordinate: wheel, equals: {motor: 1/50}}");
}

static void test_bad_constraints(void **state)
{
    (void)state;
    assert_refused("constraints: {c: {position: t - 1}}",
                   "6:29: this formula has no coordinate in it, so it constrains nothing");
    assert_refused("constraints: {c: {position: x + d(y)}}",
                   "6:29: a formula of positions, but it uses 'y_rate': that belongs in 'rate'");
    assert_refused("constraints: {c: {rate: x - t}}",
                   "6:25: this formula has no rate in it, so it constrains no motion");
    assert_refused("constraints: {c: {rate: d(x)*d(y)}}",
                   "6:25: a constraint on rates must be linear in them");
    assert_refused("constraints: {c: {rate: d(x), position: x}}",
                   "6:15: the constraint 'c' is a formula that stays zero: {position: ...} or "
                   "{rate: ...}");
    assert_refused("constraints: {c: {position: x - y}}\n"
                   "couplings: {c: {coordinate: x, equals: {y: 1}}}",
                   "7:13: 'c' stands in 'couplings' and in 'constraints'");
    assert_refused("constraints: {first: {position: x - y}}\n"
                   "cases: {c: {without: [frst]}}",
                   "7:23: there is no element 'frst' to leave out; did you mean 'first'?");
    assert_refused("contacts: {c: {kind: skate, body: a, direction: \"1, 0, 0\"}}\n"
                   "loops: {c: {body: a, length: 1}}",
                   "6:12: 'c' stands in 'contacts' and in 'loops'");
}

static void test_bad_reactions(void **state)
{
    (void)state;
    assert_refused("contacts: {tyre: {kind: rolling, body: wheel, radius: 0.1}}\n"
                   "reactions: {lead: [tyr]}",
                   "7:20: there is no element 'tyr' with a reaction; did you mean 'tyre'?");
    assert_refused(
        "constraints: {c: {position: x - y}}\n"
        "reactions: {weights: {nothing: 1}}",
        "7:23: there is no element 'nothing' with a reaction; there are 'c.position', 'c'");
    assert_refused("constraints: {c: {position: x - y}}\n"
                   "reactions: {weights: {c: -1}}",
                   "7:26: a weight is a positive constant");
    assert_refused("constraints: {c: {position: x - y}}\n"
                   "reactions: {tension: {c: 2}}",
                   "6:15: the tension of 'c.position' cannot be given: this reaction is unique, or "
                   "follows from other tensions");
    assert_refused("constraints: {c: {position: x - y}, d: {position: y - x}}\n"
                   "reactions: {tension: {c: lambda.d.position}}",
                   "7:26: this formula uses 'lambda.d.position', which it decides on");
}

static void test_nothing_can_move(void **state)
{
    (void)state;
    assert_refused("constraints: {a: {position: x}, b: {position: y - x}, c: {rate: d(roll)}}",
                   "6:15: nothing can move: the constraints leave none of the 3 velocities free");
}

// ---- contradictions ------------------------------------------------------------------------

static void test_rows_that_contradict(void **state)
{
    (void)state;
    assert_refused(
        "constraints: {c: {position: x - y}, d: {position: x - y - 1}}",
        "6:15: constraints and initial positions cannot all hold at t = 0: 'c.position', "
        "'d.position', off by 0.5");
    assert_refused("constraints: {c: {rate: d(x) - 1}, d: {rate: d(x) - 2}}",
                   "6:15: constraints and initial rates cannot all hold at t = 0: 'c.rate', "
                   "'d.rate', off by 0.5");
    assert_refused(
        "constraints: {c: {position: x^2 + y^2 + 1}}",
        "6:15: constraints and initial positions cannot all hold at t = 0: 'c.position', "
        "off by 1");
    assert_refused("constraints: {c: {position: x - y}}\n"
                   "initial: {d(x): 1, d(y): 2}",
                   "6:15: constraints and initial rates cannot all hold at t = 0: 'd(x)', 'd(y)', "
                   "'c.position', off by 0.333");
}

// The rear wheel's motion differs from the front wheel's.
static tr_system *rail_cart_with(const char *rear)
{
    tr_model *model = model_called("rail_cart");
    change(model, "roles/r2/motion", rear);
    return system_of(model, "drive");
}

static void test_motions_that_contradict(void **state)
{
    (void)state;
    static const char *const motions[][2] = {
        {"2*A*sin(W*t)", "constraints and initial rates cannot all hold at t = 0: "
                         "'front.longitudinal', 'rear.longitudinal', off by 0.6"},
        {"A*sin(W*t) + t^2", "the motions contradict the constraints at t = 0: "
                             "'front.longitudinal', 'rear.longitudinal' cannot all hold, "
                             "off by 0.2"},
    };
    for (size_t i = 0; i < 2; i++) {
        tr_system *system = rail_cart_with(motions[i][0]);
        tr_error err = {0};
        assert_null(tr_check_text(system, false, &err));
        assert_string_equal(err.text, motions[i][1]);
        assert_int_equal(err.status, TR_INVALID);
        err = (tr_error){0};
        tr_simulate_options o = tr_simulate_defaults(system);
        o.output = in_folder("never.csv");
        assert_false(tr_simulate(system, &o, NULL, &err));
        assert_string_equal(err.text, motions[i][1]);
        assert_int_equal(err.status, TR_INVALID);
        assert_int_equal(access(o.output, F_OK), -1);
        tr_system_free(system);
    }
}

// R ((t - 1)^3)' = 3 R (t - 1)^2 is what the wheels differ by.
static void test_motions_that_part(void **state)
{
    (void)state;
    tr_system *system = rail_cart_with("A*sin(W*t) + if(t < 1, 0, (t - 1)^3)");
    tr_error err = {0};
    tr_summary s = {0};
    char *text = tr_check_text(system, false, &err);
    assert_non_null(text); // all is well at the start
    tr_text_free(text);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.output = in_folder("parted.csv");
    assert_false(tr_simulate(system, &o, &s, &err));
    assert_int_equal(err.status, TR_INVALID);
    const double t = number_behind(err.text, "the motions contradict the constraints at t = ");
    const double off = number_behind(err.text, ": 'front.longitudinal', 'rear.longitudinal' "
                                               "cannot all hold, off by ");
    assert_true(t > 1 && t < 1.1);
    assert_true(fabs(off / (0.1 * 3 * (t - 1) * (t - 1)) - 1) < 0.01);
    Sheet *kept = read_sheet(o.output);
    assert_int_equal(kept->rows, 11);
    assert_int_equal(s.rows, 11);
    assert_close(at(kept, 10, "t"), 1, 1e-15);
    assert_close(at(kept, 10, "x"), 0.1 * 4 * sin(3), 1e-12);
    tr_sheet_free(kept);
    tr_system_free(system);
}

// Motions that agree although they are not written alike
static void test_motions_that_agree(void **state)
{
    (void)state;
    Sheet *run = run_of(rail_cart_with("A*cos(W*t)*sin(2*W*t) - A*sin(W*t)*cos(2*W*t) + 1"));
    for (size_t i = 0; i < run->rows; i++)
        assert_close(at(run, i, "x"), 0.4 * sin(3 * at(run, i, "t")), 1e-10);
    tr_sheet_free(run);
}

// ---- all of them ---------------------------------------------------------------------------

// What holds anyway has no row: words about its reaction say so.
static void test_rows_that_are_not_there(void **state)
{
    (void)state;
#define PINNED                                                             \
    "trundle: 1\n"                                                         \
    "bodies: {cart: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}}\n" \
    "contacts: {ice: {kind: slide, body: cart}, nail: {kind: pin, body: cart, at: '1, 0, 0'}}\n"
    assert_invalid(PINNED "outputs: {load: lambda.ice.normal}\n",
                   "4:17: 'ice.normal' always holds, so there is no 'lambda.ice.normal'");
    assert_invalid(PINNED "reactions: {tension: {ice.normal: 3}}\n",
                   "4:23: 'ice.normal' always holds, so it has no reaction");
    assert_invalid(PINNED "reactions: {tension: {nail: 3}}\n",
                   "4:23: 'nail' has several rows: write 'nail.longitudinal' or the like");
    assert_invalid(PINNED "initial: {lambda.nail.lateral: 3}\n",
                   "4:11: 'lambda.nail.lateral' uses 'lambda.nail.lateral': initial conditions are "
                   "about positions and rates");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleigh),
        cmocka_unit_test(test_geared_axle),
        cmocka_unit_test(test_unicycle_circle),
        cmocka_unit_test(test_unicycle_spiral),
        cmocka_unit_test(test_differential_drive),
        cmocka_unit_test(test_growing_rod),
        cmocka_unit_test(test_rod_that_drives),
        cmocka_unit_test(test_coupling_with_offset),
        cmocka_unit_test(test_rate_with_time),
        cmocka_unit_test(test_position_with_time),
        cmocka_unit_test(test_point_pendulum),
        cmocka_unit_test(test_pinned_body),
        cmocka_unit_test(test_falling_rod),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_bad_cases),
        cmocka_unit_test(test_bad_contacts),
        cmocka_unit_test(test_bad_loops),
        cmocka_unit_test(test_screw),
        cmocka_unit_test(test_wire),
        cmocka_unit_test(test_bad_couplings),
        cmocka_unit_test(test_bad_constraints),
        cmocka_unit_test(test_bad_reactions),
        cmocka_unit_test(test_nothing_can_move),
        cmocka_unit_test(test_rows_that_contradict),
        cmocka_unit_test(test_motions_that_contradict),
        cmocka_unit_test(test_motions_that_part),
        cmocka_unit_test(test_motions_that_agree),
        cmocka_unit_test(test_rows_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
