// SPDX-License-Identifier: Apache-2.0
// Wheels that slip by laws: against the laws evaluated here from recorded states, against the
// balance of momentum and energy, and at random states; laws that cannot be.
#include "slips.h"

// ---- what laws are made of, once more ------------------------------------------------------

// A thing as it moves, in world axes
typedef struct Thing {
    V3 p, V, W; // its origin, the velocity there, its rotation
    M3 R;
} Thing;

static V3 velocity_at(const Thing *thing, V3 P)
{
    return v3_plus(thing->V, v3_cross(thing->W, v3_minus(P, thing->p)));
}

typedef struct Stepped {
    V3 P, n, forward, left; // where it touches, and the directions there
    double slip, side_slip, ahead, camber;
} Stepped;

// A wheel with its middle at its origin, on the plane through the floor's origin. A flat ground is
// a thing that does not move.
static Stepped footing_of(const Thing *wheel, V3 axle, double radius, double tube,
                          const Thing *floor)
{
    Stepped f = {.n = floor->R.column[2]};
    const double lean = v3_dot(f.n, axle);
    const V3 up = v3_unit(v3_minus(f.n, v3_times(lean, axle))); // in the plane of the wheel
    f.P = v3_minus(wheel->p, v3_plus(v3_times(radius - tube, up), v3_times(tube, f.n)));
    f.forward = v3_unit(v3_cross(axle, f.n));
    f.left = v3_cross(f.n, f.forward);
    const V3 V = v3_minus(velocity_at(wheel, f.P), velocity_at(floor, f.P));
    const V3 middle = v3_minus(wheel->V, velocity_at(floor, wheel->p));
    f.slip = v3_dot(f.forward, V), f.side_slip = v3_dot(f.left, V);
    f.ahead = v3_dot(f.forward, middle), f.camber = asin(lean);
    return f;
}

static const Thing ground = {.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};

static double magic(double B, double C, double D, double E, double x)
{
    return D * sin(C * atan(B * x - E * (B * x - atan(B * x))));
}

static double slip_angle(const Stepped *f, double creep)
{
    return atan(-f->side_slip / sqrt(f->ahead * f->ahead + creep * creep));
}

static double slip_ratio(const Stepped *f, double creep)
{
    return -f->slip / sqrt(f->ahead * f->ahead + creep * creep);
}

typedef struct Forces {
    double along, left;
} Forces;

// Laws by the words of the model, and what they say; N is the normal force, u are the deflections.
typedef struct Law {
    const char *words;
    Forces (*forces)(const Stepped *f, double N, const double *u);
} Law;

static Forces free_of_force(const Stepped *f, double N, const double *u)
{
    (void)f, (void)N, (void)u;
    return (Forces){0, 0};
}

static Forces viscous(const Stepped *f, double N, const double *u)
{
    (void)N, (void)u;
    return (Forces){-3 * f->slip, -3 * f->side_slip};
}

static Forces coulomb(const Stepped *f, double N, const double *u)
{
    (void)u;
    const double size = sqrt(f->slip * f->slip + f->side_slip * f->side_slip + 0.01 * 0.01);
    return (Forces){-0.3 * N * f->slip / size, -0.3 * N * f->side_slip / size};
}

static Forces coulomb_along(const Stepped *f, double N, const double *u)
{
    (void)u;
    return (Forces){-0.3 * N * f->slip / sqrt(f->slip * f->slip + 1e-4), -2 * f->side_slip};
}

static Forces linear_tyre(const Stepped *f, double N, const double *u)
{
    (void)N, (void)u;
    return (Forces){700 * slip_ratio(f, 0.001), 500 * slip_angle(f, 0.001) - 40 * f->camber};
}

static Forces magic_tyre(const Stepped *f, double N, const double *u)
{
    (void)N, (void)u;
    return (Forces){magic(11, 1.6, 90, -0.5, slip_ratio(f, 0.2)),
                    magic(8, 1.3, 80, 0.4, slip_angle(f, 0.2)) + 25 * f->camber};
}

static Forces lagging_tyre(const Stepped *f, double N, const double *u)
{
    (void)N;
    return (Forces){700 * u[0] / 0.2, 500 * atan(u[1] / 0.2) - 40 * f->camber};
}

static Forces lagging_magic(const Stepped *f, double N, const double *u)
{
    (void)N, (void)f;
    return (Forces){magic(11, 1.6, 90, -0.5, u[0] / 0.3), magic(8, 1.3, 80, 0.4, atan(u[1] / 0.3))};
}

static Forces by_formula(const Stepped *f, double N, const double *u)
{
    (void)u;
    const double alpha = slip_angle(f, 0.001);
    return (Forces){-0.2 * N * f->slip / (1 + fabs(f->ahead)) + 2 * alpha,
                    N * (2 * alpha - 0.1 * f->camber) - 0.5 * f->ahead * f->side_slip};
}

static const Law slipping[] = {
    {"longitudinal: free, lateral: free", free_of_force},
    {"longitudinal: viscous, lateral: viscous, viscosity: 3", viscous},
    {"longitudinal: coulomb, lateral: coulomb, friction: 0.3, creep: 0.01", coulomb},
    {"longitudinal: coulomb, friction: 0.3, creep: 0.01, lateral: viscous, viscosity: 2",
     coulomb_along},
    {"longitudinal: tyre, traction: 700, lateral: tyre, cornering: 500, camber: 40", linear_tyre},
    {"longitudinal: tyre, traction_magic: \"11, 1.6, 90, -0.5\", lateral: tyre,"
     " magic: \"8, 1.3, 80, 0.4\", camber: -25, creep: 0.2",
     magic_tyre},
    {"longitudinal: tyre, traction: 700, lateral: tyre, cornering: 500, camber: 40,"
     " relaxation: 0.2",
     lagging_tyre},
    {"longitudinal: tyre, traction_magic: \"11, 1.6, 90, -0.5\", lateral: tyre,"
     " magic: \"8, 1.3, 80, 0.4\", relaxation: 0.3",
     lagging_magic},
    {"longitudinal: -0.2*normal*slip/(1 + abs(ahead)) + 2*slip_angle,"
     " lateral: normal*(2*slip_angle - 0.1*camber) - 0.5*ahead*slip",
     by_formula},
};
enum { LAWS = sizeof slipping / sizeof *slipping };

static bool lags(const Law *law) { return strstr(law->words, "relaxation") != NULL; }

// ---- a lone tyre ---------------------------------------------------------------------------

// Its accelerations and the rate of its angular momentum are recorded.
static const char lone_tyre[] =
    "trundle: 1\n"
    "parameters: {m: 6, Ia: 0.4, Ir: 0.25}\n"
    "bodies:\n"
    "  wheel: {joint: {type: free}, mass: m, inertia: {xx: Ir, yy: Ia, zz: Ir}}\n"
    "contacts:\n"
    "  c: {body: wheel, radius: 0.3, tube: 0.05, axis: \"0, 1, 0\", %s}\n"
    "outputs:\n"
    "  ax: d(d(wheel.x))\n"
    "  ay: d(d(wheel.y))\n"
    "  az: d(d(wheel.z))\n"
    "  Hx: wheel.R11*Ir*wheel.wx + wheel.R12*Ia*wheel.wy + wheel.R13*Ir*wheel.wz\n"
    "  Hy: wheel.R21*Ir*wheel.wx + wheel.R22*Ia*wheel.wy + wheel.R23*Ir*wheel.wz\n"
    "  Hz: wheel.R31*Ir*wheel.wx + wheel.R32*Ia*wheel.wy + wheel.R33*Ir*wheel.wz\n"
    "  Tx: d(Hx)\n"
    "  Ty: d(Hy)\n"
    "  Tz: d(Hz)\n"
    "initial: {wheel.x: 0, wheel.y: 0, wheel.R32: 0.15, wheel.R12: 0.1, wheel.vx: 5,"
    " wheel.vy: 0.3, wheel.wx: 0.2, wheel.wy: 21, wheel.wz: 0.4}\n";

static Thing thing_at(const Sheet *run, size_t row)
{
    const double q[4] = {at(run, row, "wheel.qw"), at(run, row, "wheel.qx"),
                         at(run, row, "wheel.qy"), at(run, row, "wheel.qz")};
    Thing thing = {.R = m3_quaternion(q)};
    thing.p = vector_at(run, row, "wheel.x", "wheel.y", "wheel.z");
    thing.V = m3_times(thing.R, vector_at(run, row, "wheel.vx", "wheel.vy", "wheel.vz"));
    thing.W = m3_times(thing.R, vector_at(run, row, "wheel.wx", "wheel.wy", "wheel.wz"));
    return thing;
}

static double distance(V3 a, V3 b)
{
    const V3 d = v3_minus(a, b);
    return sqrt(v3_dot(d, d));
}

// m a = F + m g and the rate of the angular momentum, from the force as it was recorded
static double balance_off(const Sheet *run, size_t row, const Thing *wheel, V3 P, V3 F)
{
    const double m = 6;
    const V3 ma = v3_times(m, vector_at(run, row, "ax", "ay", "az"));
    const V3 torque = v3_cross(v3_minus(P, wheel->p), F);
    return fmax(distance(ma, v3_plus(F, v3(0, 0, -m * g))),
                distance(vector_at(run, row, "Tx", "Ty", "Tz"), torque));
}

static void check_tyre_row(const Sheet *run, size_t row, const Law *law, double *worst)
{
    const Thing wheel = thing_at(run, row);
    const Stepped f = footing_of(&wheel, wheel.R.column[1], 0.3, 0.05, &ground);
    double u[2] = {0};
    if (lags(law)) {
        u[0] = at(run, row, "contact.c.longitudinal_deflection");
        u[1] = at(run, row, "contact.c.lateral_deflection");
    }
    const double N = at(run, row, "lambda.c.normal");
    const Forces F = law->forces(&f, N, u);
    const V3 force =
        v3_plus(v3_times(N, f.n), v3_plus(v3_times(F.along, f.forward), v3_times(F.left, f.left)));
    const V3 P = vector_at(run, row, "contact.c.x", "contact.c.y", "contact.c.z");
    const V3 found = vector_at(run, row, "contact.c.Fx", "contact.c.Fy", "contact.c.Fz");
    worst[0] = fmax(worst[0], fabs(at(run, row, "lambda.c.longitudinal") - F.along));
    worst[0] = fmax(worst[0], fabs(at(run, row, "lambda.c.lateral") - F.left));
    worst[0] = fmax(worst[0], fmax(distance(found, force), distance(P, f.P)));
    worst[1] = fmax(worst[1], balance_off(run, row, &wheel, P, found));
}

// Forces as the laws say, from the recorded state; what they do is what forces do.
static void test_tyre_forces(void **state)
{
    (void)state;
    for (size_t k = 0; k < LAWS; k++) {
        char text[2500];
        double worst[2] = {0};
        snprintf(text, sizeof text, lone_tyre, slipping[k].words);
        Sheet *run = run_text(text, 0.6, 0.02);
        for (size_t i = 0; i < run->rows; i++) check_tyre_row(run, i, &slipping[k], worst);
        print_message("%.60s: forces up to %.1f N to %.1e, balance to %.1e, work %.2f J\n",
                      slipping[k].words, largest(run, "lambda.c.lateral"), worst[0], worst[1],
                      last(run, "energy.work"));
        assert_below(worst[0], 1e-8);
        assert_below(worst[1], 1e-8);
        assert_true(k == 0 || largest(run, "lambda.c.lateral") > 0.5);
        assert_true(k == 0 || largest(run, "lambda.c.longitudinal") > 0.5);
        assert_true(k == 0 || fabs(last(run, "energy.work")) > 0.05);
        tr_sheet_free(run);
    }
}

// ---- the lag of a tyre ---------------------------------------------------------------------

// A wheel on a carriage that runs at V, yawed by a and spun faster than it would roll by `more`
static const char carriage[] =
    "trundle: 1\n"
    "parameters: {V: %g, a: 0.12, more: 0.4, sigma: %g}\n"
    "bodies:\n"
    "  carriage: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 20}\n"
    "  wheel: {parent: carriage, joint: {type: revolute, axis: \"-sin(a), cos(a), 0\","
    " at: \"0, 0, 0.3\"}, mass: 5, inertia: {axial: 0.3}}\n"
    "contacts:\n"
    "  c: {body: wheel, radius: 0.3, longitudinal: tyre, traction: 9000, lateral: tyre,"
    " cornering: 8000, relaxation: sigma}\n"
    "roles: {x: {motion: V*t}, wheel: {motion: (V*cos(a) + more)*t/0.3}}\n";

// Forces follow the slip as 1 - exp(-|ahead| t / sigma); without a lag they are there at once.
static void check_lag(double V, double sigma)
{
    const double a = 0.12, more = 0.4, ahead = fabs(V * cos(a));
    char text[1500];
    snprintf(text, sizeof text, carriage, V, sigma);
    Sheet *run = run_text(text, 1, 0.02);
    for (size_t i = 0; i < run->rows; i++) {
        const double grown = sigma > 0 ? 1 - exp(-ahead * at(run, i, "t") / sigma) : 1;
        const double side = V * sin(a) / ahead, along = more / ahead;
        const double tolerance = sigma > 0 ? 1e-9 : 1e-6; // the creep is seen
        assert_close(at(run, i, "lambda.c.longitudinal"), 9000 * along * grown, tolerance);
        assert_close(at(run, i, "lambda.c.lateral"), 8000 * atan(side * grown), tolerance);
    }
    // it settles where a tyre without a lag is from the start
    if (ahead > 10 * sigma) assert_close(last(run, "lambda.c.lateral"), copysign(960, V), 1e-4);
    tr_sheet_free(run);
}

static void test_relaxation(void **state)
{
    (void)state;
    check_lag(6, 0.3);
    check_lag(-6, 0.3);
    check_lag(2, 0.5);
    check_lag(6, 0);
}

// ---- what the floor feels ------------------------------------------------------------------

// Two bodies in empty space that touch: momentum and angular momentum of both together
static const char adrift[] =
    "trundle: 1\n"
    "gravity: 0, 0, 0\n"
    "parameters: {m: 6, Ia: 0.4, Ir: 0.25, M: 9, Jx: 1, Jy: 1.5, Jz: 2.2}\n"
    "bodies:\n"
    "  wheel: {joint: {type: free}, mass: m, inertia: {xx: Ir, yy: Ia, zz: Ir}}\n"
    "  deck: {joint: {type: free}, mass: M, inertia: {xx: Jx, yy: Jy, zz: Jz}}\n"
    "contacts:\n"
    "  c: {body: wheel, radius: 0.3, tube: 0.05, axis: \"0, 1, 0\", on: deck, to: \"0, 0, 0.1\","
    " unilateral: false,"
    " %s}\n"
    "outputs:\n"
    "  Px: m*d(wheel.x) + M*d(deck.x)\n"
    "  Py: m*d(wheel.y) + M*d(deck.y)\n"
    "  Pz: m*d(wheel.z) + M*d(deck.z)\n"
    "  Hx: wheel.R11*Ir*wheel.wx + wheel.R12*Ia*wheel.wy + wheel.R13*Ir*wheel.wz"
    " + deck.R11*Jx*deck.wx + deck.R12*Jy*deck.wy + deck.R13*Jz*deck.wz"
    " + m*(wheel.y*d(wheel.z) - wheel.z*d(wheel.y)) + M*(deck.y*d(deck.z) - deck.z*d(deck.y))\n"
    "  Hy: wheel.R21*Ir*wheel.wx + wheel.R22*Ia*wheel.wy + wheel.R23*Ir*wheel.wz"
    " + deck.R21*Jx*deck.wx + deck.R22*Jy*deck.wy + deck.R23*Jz*deck.wz"
    " + m*(wheel.z*d(wheel.x) - wheel.x*d(wheel.z)) + M*(deck.z*d(deck.x) - deck.x*d(deck.z))\n"
    "  Hz: wheel.R31*Ir*wheel.wx + wheel.R32*Ia*wheel.wy + wheel.R33*Ir*wheel.wz"
    " + deck.R31*Jx*deck.wx + deck.R32*Jy*deck.wy + deck.R33*Jz*deck.wz"
    " + m*(wheel.x*d(wheel.y) - wheel.y*d(wheel.x)) + M*(deck.x*d(deck.y) - deck.y*d(deck.x))\n"
    "initial: {wheel.x: 0.2, wheel.y: 0.1, deck.x: 0, deck.y: 0, deck.z: 0, deck.R31: 0.2,"
    " deck.R32: -0.1, wheel.R32: 0.15, wheel.R12: 0.1, wheel.vx: 2, wheel.wx: 0.3, wheel.wy: 9,"
    " wheel.wz: 0.4, deck.wx: 0.1, deck.wy: -0.2, deck.wz: 0.5, deck.vx: -0.5,"
    " deck.vy: 0.3}\n";

static void check_adrift(const char *words)
{
    static const char *const names[] = {"Px", "Py", "Pz", "Hx", "Hy", "Hz"};
    char text[4000];
    double worst = 0;
    snprintf(text, sizeof text, adrift, words);
    Sheet *run = run_text(text, 1, 0.05);
    for (size_t k = 0; k < 6; k++)
        for (size_t i = 0; i < run->rows; i++)
            worst = fmax(worst, fabs(at(run, i, names[k]) - at(run, 0, names[k])));
    print_message("%.60s: momenta to %.1e\n", words, worst);
    assert_below(worst, 1e-10);
    assert_true(largest(run, "deck.wz") > 0.1);
    tr_sheet_free(run);
}

static void test_adrift(void **state)
{
    (void)state;
    check_adrift("friction: 0.5"); // ideal
    for (size_t k = 0; k < LAWS; k++) check_adrift(slipping[k].words);
}

// ---- random states -------------------------------------------------------------------------

// A wheel on a frame, on a floor that moves; nothing is in line with anything.
static const char anywhere[] =
    "trundle: 1\n"
    "bodies:\n"
    "  frame: {joint: {type: free}, mass: 4, com: \"0.1, 0.2, 0.3\", inertia: {xx: 1, yy: 2,"
    " zz: 1.5}}\n"
    "  wheel: {parent: frame, joint: {type: revolute, axis: \"0.1, 1, 0.2\", at: \"0.3, -0.2, "
    "0.1\","
    " turn: \"0.2, 0.3, -0.4\"}, mass: 2, inertia: {axial: 0.1, radial: 0.06,"
    " axis: \"0.1, 1, 0.2\"}}\n"
    "  deck: {joint: {type: free}, mass: 20, inertia: {xx: 3, yy: 4, zz: 5}}\n"
    "contacts:\n"
    "  c: {body: wheel, radius: 0.3, tube: 0.04, on: deck, %s}\n";

static NeForest forest_of(Probe *p)
{
    NeForest f = {.count = 3};
    f.body[0] = (NeBody){.parent = -1, .type = NE_FREE, .axis = {0, 0, 1}};
    f.body[1] = (NeBody){.parent = 0,
                         .type = NE_REVOLUTE,
                         .axis = {0.1, 1, 0.2},
                         .at = {0.3, -0.2, 0.1},
                         .turn = {0.2, 0.3, -0.4}};
    f.body[2] = (NeBody){.parent = -1, .type = NE_FREE, .axis = {0, 0, 1}};
    static const char *const q[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    static const char *const v[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    char name[20];
    for (int i = 0; i < 3; i += 2) {
        const char *body = i ? "deck" : "frame";
        for (int k = 0; k < 7; k++) {
            snprintf(name, sizeof name, "%s.%s", body, q[k]);
            f.body[i].q[k] = probe_at(p, name);
        }
        for (int k = 0; k < 6; k++) {
            snprintf(name, sizeof name, "%s.%s", body, v[k]);
            f.body[i].v[k] = probe_at(p, name);
        }
    }
    f.body[1].q[0] = probe_at(p, "wheel"), f.body[1].v[0] = probe_at(p, "wheel_rate");
    ne_number(&f);
    return f;
}

static Stepped footing_in(NeForest *f)
{
    Thing thing[2];
    ne_move(f);
    for (int i = 0; i < 2; i++) {
        const NeBody *b = &f->body[i + 1];
        thing[i] = (Thing){.p = b->p, .V = b->velocity, .W = b->spin, .R = b->R};
    }
    return footing_of(&thing[0], f->body[1].about[0], 0.3, 0.04, &thing[1]);
}

// d(slip)/dv by differences: slip is linear in velocities
static Forces slopes_of(NeForest *f, int velocity)
{
    NeBody *b = &f->body[velocity < 6 ? 0 : velocity == 6 ? 1 : 2];
    double *v = &b->v[velocity - b->first];
    const double before = *v;
    *v = before + 1;
    const Stepped more = footing_in(f);
    *v = before - 1;
    const Stepped less = footing_in(f);
    *v = before;
    return (Forces){(more.slip - less.slip) / 2, (more.side_slip - less.side_slip) / 2};
}

// Reactions and accelerations are inputs like others.
static Probe open_probe(const char *text)
{
    tr_error err = {0};
    System *system = system_of(model_from(text), NULL);
    for (uint32_t i = 0; i < system->input_count; i++)
        if (system->inputs[i].kind == TR_SOLVED) system->inputs[i].kind = TR_INPUT;
    return probe_of_system(system, false, &err);
}

static void copy_state(Probe *to, Probe *from)
{
    for (uint32_t i = 0; i < to->system->input_count; i++)
        if (to->system->inputs[i].kind != TR_PARAMETER)
            to->in[i] = probe_at(from, to->system->inputs[i].name);
}

// Q with the law, less Q without it, is what force and slip do together.
static double virtual_work_off(Probe *with, Probe *without, const Law *law, Random *random,
                               double *largest)
{
    double u[2] = {0}, worst = 0;
    probe_random(with, random);
    copy_state(without, with);
    probe_run(without);
    NeForest f = forest_of(with);
    const Stepped footing = footing_in(&f);
    if (lags(law)) {
        u[0] = probe_at(with, "contact.c.longitudinal_deflection");
        u[1] = probe_at(with, "contact.c.lateral_deflection");
    }
    const Forces F = law->forces(&footing, probe_at(with, "lambda.c.normal"), u);
    worst = fmax(fabs(probe_get(with, "lambda.c.longitudinal") - F.along),
                 fabs(probe_get(with, "lambda.c.lateral") - F.left));
    for (int k = 0; k < 13; k++) {
        const Forces slope = slopes_of(&f, k);
        const double Q = slope.along * F.along + slope.left * F.left;
        worst = fmax(worst, fabs(probe_output(with, "Q")[k] - probe_output(without, "Q")[k] - Q));
    }
    *largest = fmax(*largest, fmax(fabs(F.along), fabs(F.left)));
    return worst / fmax(1, fmax(fabs(F.along), fabs(F.left)));
}

static void test_virtual_work(void **state)
{
    (void)state;
    char text[1500];
    Random random = {20270101};
    snprintf(text, sizeof text, anywhere, slipping[0].words);
    Probe without = open_probe(text);
    for (size_t k = 1; k < LAWS; k++) {
        double worst = 0, largest = 0;
        snprintf(text, sizeof text, anywhere, slipping[k].words);
        Probe with = open_probe(text);
        for (int i = 0; i < 200; i++)
            worst = fmax(worst, virtual_work_off(&with, &without, &slipping[k], &random, &largest));
        print_message("%.60s: up to %.0f N, to %.1e\n", slipping[k].words, largest, worst);
        assert_true(largest > 0.3);
        assert_below(worst, 1e-11);
        probe_free(&with);
    }
    probe_free(&without);
}

// ---- in the plane --------------------------------------------------------------------------

static const char planar_wheel[] =
    "trundle: 1\n"
    "parameters: {nothing: 0, ahead: 7}\n"
    "bodies:\n"
    "  sled: {joint: {type: planar}, mass: 10, inertia: {zz: 1}}\n"
    "  wheel: {parent: sled, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0, 0.1\"}, mass: "
    "1,"
    " inertia: {axial: 0.01}}\n"
    "outputs: {seven: ahead, speed: sled.vx}\n"
    "initial: {sled.vx: 3, sled.vy: 0.4, sled.wz: 0, wheel_rate: 0}\n"
    "contacts:\n"
    "  c: {body: wheel, radius: 0.1%s}\n";

// There is no normal force in the plane: `load` stands for it.
static void test_load(void **state)
{
    (void)state;
    char text[1500];
    snprintf(text, sizeof text, planar_wheel,
             ", longitudinal: coulomb, lateral: coulomb, friction: 0.5, load: 80, creep: 0.01");
    Sheet *run = run_text(text, 0.05, 0.005);
    for (size_t i = 0; i < run->rows; i++) {
        const double along = at(run, i, "sled.vx") - 0.1 * at(run, i, "wheel_rate");
        const double across = at(run, i, "sled.vy");
        const double size = sqrt(along * along + across * across + 1e-4);
        assert_close(at(run, i, "lambda.c.longitudinal"), -40 * along / size, 1e-12);
        assert_close(at(run, i, "lambda.c.lateral"), -40 * across / size, 1e-12);
    }
    tr_sheet_free(run);
}

// A law sees its own names first, and lends them to nobody: `ahead` is the speed there, and
// elsewhere the parameter. Its force has a name.
static void test_formula_in_the_plane(void **state)
{
    (void)state;
    char text[1500];
    snprintf(text, sizeof text, planar_wheel,
             ", longitudinal: -0.3*normal*slip - ahead*seven, load: 20 + t, lateral: free");
    tr_model *model = model_from(text);
    change(model, "outputs/twice", "2*lambda.c.longitudinal + lambda.c.lateral");
    Sheet *run = run_slipping(system_of(model, NULL), 0.2, 0.01);
    for (size_t i = 0; i < run->rows; i++) {
        const double v = at(run, i, "sled.vx"), slip = v - 0.1 * at(run, i, "wheel_rate");
        const double F = -0.3 * (20 + at(run, i, "t")) * slip - v * 7;
        assert_close(at(run, i, "lambda.c.longitudinal"), F, 1e-12);
        assert_close(at(run, i, "twice"), 2 * F, 1e-12);
        assert_close(at(run, i, "seven"), 7, 0);
        assert_close(at(run, i, "lambda.c.lateral"), 0, 0);
    }
    tr_sheet_free(run);
}

// A lag of no length is no lag, also where a parameter says so.
static void test_no_lag(void **state)
{
    (void)state;
    static const char tyre[] = ", longitudinal: free, lateral: tyre, cornering: 50, relaxation: %s";
    char law[100], text[1500];
    Sheet *run[2];
    for (int k = 0; k < 2; k++) {
        snprintf(law, sizeof law, tyre, k ? "nothing" : "0");
        snprintf(text, sizeof text, planar_wheel, law);
        run[k] = run_text(text, 0.5, 0.02);
    }
    assert_int_equal(run[0]->columns, run[1]->columns);
    assert_true(difference(run[0], "sled.y", run[1], "sled.y") == 0);
    assert_true(largest(run[0], "lambda.c.lateral") > 1);
    tr_sheet_free(run[0]);
    tr_sheet_free(run[1]);
}

// A tyre that stands still holds still: its slip angle is soft below the creep.
static void test_at_rest(void **state)
{
    (void)state;
    char text[1500];
    snprintf(text, sizeof text, planar_wheel,
             ", longitudinal: tyre, traction: 500, lateral: tyre, cornering: 500, creep: 0.05");
    tr_model *model = model_from(text);
    change(model, "initial/sled.vx", "0");
    change(model, "initial/sled.vy", "0.01");
    Sheet *run = run_slipping(system_of(model, NULL), 0.2, 0.01);
    assert_close(at(run, 0, "lambda.c.lateral"), -500 * atan(0.2), 1e-12);
    assert_below(fabs(last(run, "sled.vy")), 1e-6);
    tr_sheet_free(run);
}

// ---- laws that cannot be -------------------------------------------------------------------

static void assert_refused_in(const char *model_text, const char *more, const char *words)
{
    char text[2000];
    snprintf(text, sizeof text, model_text, more);
    assert_invalid(text, words);
}

static void refused(const char *more, const char *words)
{
    assert_refused_in(planar_wheel, more, words);
}

static void test_missing_numbers(void **state)
{
    (void)state;
    refused(", lateral: viscous", "9:42: the viscous law of 'c' needs 'viscosity'");
    refused(", lateral: coulomb", "9:42: the coulomb law of 'c' needs 'friction'");
    refused(", lateral: tyre", "9:42: the tyre law of 'c' needs 'cornering'");
    refused(", longitudinal: tyre", "9:47: the tyre law of 'c' needs 'traction'");
    refused(", lateral: coulomb, friction: 0.5",
            "9:42: 'c' has no normal force in the plane: give its 'load'");
    refused(", lateral: -slip*normal",
            "9:42: 'c' has no normal force in the plane: give its 'load'");
    refused(", lateral: tyre, magic: \"1, 2, 3\"",
            "9:56: 'magic' is 4 formulas separated by commas, as in \"0, 0, 1\"");
}

static void test_wrong_numbers(void **state)
{
    (void)state;
    refused(", lateral: viscous, viscosity: -1", "9:62: 'viscosity' is negative");
    refused(", lateral: viscous, viscosity: 1/0", "9:62: 'viscosity' is not finite here");
    refused(", lateral: viscous, viscosity: nothng",
            "9:62: unknown name 'nothng'; did you mean 'nothing'?");
    refused(", lateral: coulomb, load: 1, friction: -0.5", "9:70: 'friction' is negative");
    refused(", lateral: coulomb, load: -1, friction: 0.5", "9:57: 'load' is negative");
    refused(", lateral: coulomb, load: 1, friction: 0.5, creep: nothing",
            "9:82: 'creep' must be positive");
    refused(", lateral: tyre, cornering: 1, relaxation: -1", "9:74: 'relaxation' is negative");
    refused(", lateral: tyre, cornering: 1, relaxation: t",
            "9:74: 't' is not a parameter: this must be constant");
}

static void test_wrong_laws(void **state)
{
    (void)state;
    refused(", lateral: viscos", "9:42: there is no law 'viscos'; did you mean 'viscous'?");
    refused(", longitudinal: idael", "9:47: there is no law 'idael'; did you mean 'ideal'?");
    refused(", longitudinal: tire", "9:47: there is no law 'tire'; did you mean 'tyre'?");
    refused(", lateral: -5*slp", "9:45: unknown name 'slp'; did you mean 'slip'?");
    refused(", lateral: -5*slip*nrmal, load: 3",
            "9:50: unknown name 'nrmal'; did you mean 'normal'?");
    refused(", lateral: \"-5*slip, 3\"", "9:50: expected an operator, not ','");
}

static void test_fields_without_use(void **state)
{
    (void)state;
    refused(", viscosity: 5", "9:44: no law of 'c' has a use for 'viscosity'");
    refused(", load: 5", "9:39: no law of 'c' has a use for 'load'");
    refused(", lateral: free, cornering: 5", "9:59: no law of 'c' has a use for 'cornering'");
    refused(", lateral: tyre, cornering: 5, traction: 5",
            "9:72: no law of 'c' has a use for 'traction'");
    refused(", longitudinal: tyre, traction: 5, camber: 5",
            "9:74: no law of 'c' has a use for 'camber'");
    refused(", lateral: viscous, viscosity: 5, creep: 0.1",
            "9:72: no law of 'c' has a use for 'creep'");
    refused(", lateral: tyre, cornering: 5, magic: \"1, 2, 3, 4\"",
            "9:70: 'c' has 'cornering' already, which this stands in place of");
    refused(", kind: skate, lateral: free", "9:28: a skate contact has no use for 'radius'");
}

static void test_wrong_floors(void **state)
{
    (void)state;
    refused(", on: wheel", "9:37: 'c' rolls on itself");
    refused(", on: slde", "9:37: there is no body 'slde'; did you mean 'sled'?");
    refused(", on: sled, to: \"0, 0\"",
            "9:48: 'to' is 3 formulas separated by commas, as in \"0, 0, 1\"");
}

static void test_not_linear(void **state)
{
    (void)state;
    static const char *const laws[] = {"-0.1*slip*normal^2", "-0.1*slip*sqrt(normal)",
                                       "slip/normal", "-slip*max(0, normal)"};
    char law[100];
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        snprintf(law, sizeof law, "longitudinal: \"%s\"", laws[i]);
        assert_refused_in(lone_tyre, law,
                          "6:77: the longitudinal law of 'c' is not linear in the normal force");
    }
    assert_refused_in(lone_tyre, "longitudinal: free, lateral: coulomb, friction: lambda.c.normal",
                      "0:0: a force is not linear in the reaction 'c.normal'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tyre_forces),
        cmocka_unit_test(test_relaxation),
        cmocka_unit_test(test_adrift),
        cmocka_unit_test(test_virtual_work),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_formula_in_the_plane),
        cmocka_unit_test(test_no_lag),
        cmocka_unit_test(test_at_rest),
        cmocka_unit_test(test_missing_numbers),
        cmocka_unit_test(test_wrong_numbers),
        cmocka_unit_test(test_wrong_laws),
        cmocka_unit_test(test_fields_without_use),
        cmocka_unit_test(test_wrong_floors),
        cmocka_unit_test(test_not_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
