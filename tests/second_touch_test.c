// SPDX-License-Identifier: Apache-2.0
// Wheels and balls that touch the ground twice, where it curves more than they do, and at edges:
// against where the curve that their middle follows crosses itself, and how long it takes there.
#include "rolling.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

// ---- by hand -------------------------------------------------------------------------------

static const double r = 0.3, spin0 = 6;
#define HOLLOW "0.3*cos(4*x) + 0.1*x"

typedef struct Bend {
    double f, slope, bend, w;
} Bend;

static Bend bend_at(double u)
{
    const double slope = -1.2 * sin(4 * u) + 0.1;
    return (Bend){0.3 * cos(4 * u) + 0.1 * u, slope, -4.8 * cos(4 * u), sqrt(1 + slope * slope)};
}

// The middle of what touches at u, and how much faster the contact is than that
static double middle_x(double u) { return u - r * bend_at(u).slope / bend_at(u).w; }
static double middle_z(double u) { return bend_at(u).f + r / bend_at(u).w; }
static double margin_at(double u) { return 1 - r * bend_at(u).bend / pow(bend_at(u).w, 3); }

// Two places with one middle, by Newton's method: the middle moves by margin (1, slope) du
static void find_twice(double u[2])
{
    for (int i = 0; i < 100; i++) {
        const double F[] = {middle_x(u[0]) - middle_x(u[1]), middle_z(u[0]) - middle_z(u[1])};
        const double a = margin_at(u[0]), b = -margin_at(u[1]), p = bend_at(u[0]).slope,
                     q = bend_at(u[1]).slope, det = a * b * (q - p);
        u[0] -= (F[0] * b * q - F[1] * b) / det;
        u[1] -= (F[1] * a - F[0] * a * p) / det;
    }
    assert_close(middle_x(u[0]), middle_x(u[1]), 1e-14);
    assert_close(middle_z(u[0]), middle_z(u[1]), 1e-14);
    assert_true(u[1] - u[0] > 0.2);
}

// Where it curves as the wheel does, before u
static double find_end(double low, double high)
{
    assert_true(margin_at(low) > 0 && margin_at(high) < 0);
    for (int i = 0; i < 100; i++)
        *(margin_at((low + high) / 2) > 0 ? &low : &high) = (low + high) / 2;
    return low;
}

// From 0 on, by Simpson's rule, with (1 + k) v^2 / 2 + g z as it was
static double time_to(double u, double k)
{
    enum { PARTS = 4000 };
    double sum = 0;
    for (int i = 0; i <= PARTS; i++) {
        const double at = u * i / PARTS;
        const double v =
            sqrt(r * r * spin0 * spin0 + 2 * g * (middle_z(0) - middle_z(at)) / (1 + k));
        sum += (i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2) * margin_at(at) * bend_at(at).w / v;
    }
    return sum * u / PARTS / 3;
}

// ---- runs ----------------------------------------------------------------------------------

// A body in a plane of its own, upright
static tr_model *rider_model(const char *height, const char *contact, double k, bool allows)
{
    char text[1500];
    const int length = snprintf(
        text, sizeof text,
        "trundle: 1\n"
        "ground: {height: \"%s\"}\n"
        "bodies: {b: {joint: {type: free}, mass: 2, inertia: {axial: %g, radial: 0.1, axis: "
        "\"0, 1, 0\"}}}\n"
        "contacts: {rim: {kind: rolling, body: b, radius: 0.3, %s}}\n"
        "initial: {contact.rim.x: 0, contact.rim.y: 0, b.qx: 0, b.qy: 0, b.qz: 0, b.wx: 0, b.wy: "
        "6, b.wz: 0}\n"
        "guess: {b.z: 0.6, b.qw: 1}\n%s",
        height, 2 * r * r * k, contact, allows ? "cases: {a: {allow: [second_touch]}}\n" : "");
    assert_true(length < (int)sizeof text);
    return model_from(text);
}

static tr_system *rider_on(const char *height, const char *contact, double k, bool allows)
{
    return system_of(rider_model(height, contact, k, allows), NULL);
}

typedef struct Shape {
    const char *contact;
    double k;
} Shape;
static const Shape shapes[] = {{"axis: \"0, 1, 0\"", 0.5},
                               {"tube: 0.05, axis: \"0, 1, 0\"", 0.5},
                               {"shape: ball", 0.4},
                               {"unilateral: true, axis: \"0, 1, 0\"", 0.5},
                               {"unilateral: true, shape: ball", 0.4}};

// One that ends with words; it is freed
static void run_until(tr_system *system, const char *method, tr_summary *s, tr_error *err)
{
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 3, o.every = 0.01, o.output = in_folder("run.csv");
    if (method) o.method = method;
    if (method && strcmp(method, "rk4") == 0) o.step = 1e-3;
    *s = (tr_summary){0}, *err = (tr_error){0};
    if (tr_simulate(system, &o, s, err)) fail_msg("it does not end");
    tr_system_free(system);
}

typedef struct Twice {
    double t, at[2][2];
} Twice;

static Twice twice_in(const char *words)
{
    Twice w;
    const int found = sscanf(words,
                             "'rim' touches a second time at t = %lf: at (%lf, %lf) and at "
                             "(%lf, %lf)",
                             &w.t, &w.at[0][0], &w.at[0][1], &w.at[1][0], &w.at[1][1]);
    if (found != 5) fail_msg("%s", words);
    return w;
}

static void assert_twice(const char *words, double t, double first, double second)
{
    const Twice w = twice_in(words);
    print_message("%s: off by %.1e, %.1e, %.1e\n", words, w.t - t, w.at[0][0] - first,
                  w.at[1][0] - second);
    assert_close(w.t, t, 1e-6);
    assert_close(w.at[0][0], first, 2e-6);
    assert_close(w.at[1][0], second, 2e-6);
    assert_close(w.at[0][1], 0, 1e-9);
    assert_close(w.at[1][1], 0, 1e-9);
}

static void test_hollow(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "rk4", "bdf", "lie"};
    double u[] = {0.6, 0.97};
    find_twice(u);
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t k = 0; k < COUNT(methods); k++) {
            tr_summary s;
            tr_error err;
            run_until(rider_on(HOLLOW, shapes[i].contact, shapes[i].k, false), methods[k], &s,
                      &err);
            assert_int_equal(err.status, TR_FAILED);
            assert_twice(err.text, time_to(u[0], shapes[i].k), u[0], u[1]);
            assert_int_equal(s.warnings, 0);
        }
}

// Told once, and the run ends where it curves as the wheel does.
static void test_allowed(void **state)
{
    (void)state;
    double u[] = {0.6, 0.97};
    find_twice(u);
    const double end = find_end(u[0], (u[0] + u[1]) / 2);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        tr_summary s;
        tr_error err;
        const bool is_ball = strstr(shapes[i].contact, "ball");
        char words[100];
        double x, y, radius, hollow, t;
        run_until(rider_on(HOLLOW, shapes[i].contact, shapes[i].k, true), NULL, &s, &err);
        assert_int_equal(s.warnings, 1);
        assert_twice(s.warning, time_to(u[0], shapes[i].k), u[0], u[1]);
        snprintf(words, sizeof words, "the ground curves more than the %s 'rim' at (",
                 is_ball ? "ball" : "wheel");
        assert_int_equal(strncmp(err.text, words, strlen(words)), 0);
        assert_int_equal(sscanf(err.text + strlen(words),
                                "%lf, %lf): radius %lf, hollow %lf, t = %lf", &x, &y, &radius,
                                &hollow, &t),
                         5);
        assert_close(x, end, 1e-5);
        assert_close(y, 0, 1e-9);
        assert_true(radius == 0.3);
        assert_close(hollow, 0.3, 1e-4);
        assert_close(t, time_to(end, shapes[i].k), 1e-6);
        assert_true(s.steps < 2000);
    }
}

// A tyre in a groove along its way, which becomes narrower than its tube
static void test_groove(void **state)
{
    (void)state;
    tr_summary s;
    tr_error err;
    run_until(rider_on("20*y^2*exp(-4*(x - 1)^2)", "tube: 0.05, axis: \"0, 1, 0\"", 0.5, false),
              NULL, &s, &err);
    double x;
    char rest[60];
    assert_int_equal(sscanf(err.text,
                            "the ground curves more than the wheel 'rim' at (%lf, 0): %59[^t]", &x,
                            rest),
                     2);
    assert_close(x, 1 - sqrt(log(2) / 4), 1e-6); // 40 exp(-4 (x - 1)^2) = 1 / 0.05
    assert_string_equal(rest, "radius 0.05, hollow 0.05, ");
}

// ---- edges ---------------------------------------------------------------------------------

static void end_on(const char *height, const char *contact, tr_error *err)
{
    tr_summary s;
    run_until(rider_on(height, contact, 0.5, false), NULL, &s, err);
    print_message("%s, %s\n  %s\n", height, contact, err->text);
}

// On both sides of a bend by `steep`, a wheel touches r tan(angle / 2) away from it.
static void test_concave_edges(void **state)
{
    (void)state;
    tr_error err;
    static const char *const wedges[] = {"abs(x - 1)*0.5", "0.5*max(x - 1, 1 - x)",
                                         "-0.5*min(x - 1, 1 - x)",
                                         "if(x < 1, 0.5 - 0.5*x, 0.5*x - 0.5)"};
    const double far = r * tan(atan(0.5)) * cos(atan(0.5)); // along x
    for (size_t i = 0; i < COUNT(wedges); i++)
        for (int tyre = 0; tyre < 2; tyre++) {
            end_on(wedges[i], shapes[tyre].contact, &err);
            const Twice w = twice_in(err.text);
            assert_close(w.at[0][0], 1 - far, 2e-6);
            assert_close(w.at[1][0], 1 + far, 6e-6);
        }
    end_on("0.5*max(0, x - 1)", shapes[0].contact, &err);
    const double away = r * tan(atan(0.5) / 2);
    const Twice w = twice_in(err.text);
    assert_close(w.t, (1 - away) / (r * spin0), 1e-6);
    assert_close(w.at[0][0], 1 - away, 2e-6);
    assert_close(w.at[1][0], 1 + away * cos(atan(0.5)), 6e-6);
}

static void assert_edge(const char *words)
{
    double x, y;
    char rest[60];
    if (sscanf(words,
               "the height of the ground or its slope jumps where 'rim' crosses (%lf, %lf) at t = "
               "%*f: %59[^.]",
               &x, &y, rest) != 3)
        fail_msg("%s", words);
    assert_close(x, 1, 1e-9);
    assert_close(y, 0, 1e-9);
    assert_string_equal(rest, "edges and kerbs are not for contacts that stay");
}

static void test_convex_edges(void **state)
{
    (void)state;
    static const char *const edges[] = {"-0.1*abs(x - 1)", "0.1*min(0, 1 - x)",
                                        "if(x < 1, 0.01, 0)", "if(x < 1, 0, 0.2 - 0.2*x)"};
    for (size_t i = 0; i < COUNT(edges); i++)
        for (size_t k = 0; k < COUNT(shapes); k++) {
            tr_error err;
            end_on(edges[i], shapes[k].contact, &err);
            assert_edge(err.text);
        }
}

// Steps and bends of less than 1e-9 are nothing.
static void test_faint_edges(void **state)
{
    (void)state;
    static const char *const edges[] = {"if(x > 1, 1e-10, 0)", "if(x > 1, -5e-10, 0)",
                                        "if(x > 1, 5e-10*(x - 1), 0)"};
    for (size_t i = 0; i < COUNT(edges); i++)
        for (size_t k = 0; k < COUNT(shapes); k++) {
            tr_summary s = {0};
            Sheet *run =
                run_with(rider_on(edges[i], shapes[k].contact, shapes[k].k, false), 1, 0.1, &s);
            assert_close(last(run, "b.x"), 1.8, 1e-8);
            assert_int_equal(s.warnings, 0);
            tr_sheet_free(run);
        }
}

// A table that holds its end has an edge there, as one that is asked for min(x, 1) has.
static void test_held_ends(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "rk4", "bdf"};
    for (size_t i = 0; i < COUNT(methods); i++)
        for (size_t k = 0; k < COUNT(shapes); k++)
            for (int own = 0; own < 2; own++) {
                tr_summary s;
                tr_error err;
                tr_model *model = rider_model(own ? "f(min(x, 1))" : "f(x)", shapes[k].contact,
                                              shapes[k].k, false);
                change(model, "tables/f/x", "-1, -0.5, 0, 0.5, 1");
                change(model, "tables/f/value", "-0.1, -0.05, 0, 0.05, 0.1");
                change(model, "tables/f/degree", "3");
                change(model, "tables/f/outside", own ? "extend" : "hold");
                run_until(system_of(model, NULL), methods[i], &s, &err);
                assert_edge(err.text);
            }
}

// Not before the wheel is there, and before it is far inside: as good as places round it are
static void test_kerb(void **state)
{
    (void)state;
    tr_error err;
    end_on("if(x < 1, 0, 0.01)", shapes[0].contact, &err);
    const Twice w = twice_in(err.text);
    const double first = 1 - sqrt(r * r - 0.29 * 0.29);
    assert_true(w.at[0][0] > first - 1e-9 && w.at[0][0] < first + 0.02);
    assert_true(w.at[1][0] > 1 - 1e-6 && w.at[1][0] < 1.02);
}

// Where but the curvature jumps, it runs on: there and back by the closed form of energy.
static void check_on_ramp(const Sheet *run, double k, double close)
{
    size_t checked = 0;
    for (size_t i = 0; i < run->rows; i++) {
        const double v = hypot(at(run, i, "b.vx"), at(run, i, "b.vz"));
        const double z = at(run, i, "b.z") - r;
        assert_close((1 + k) * v * v / 2 + g * z, (1 + k) * 1.8 * 1.8 / 2, close);
        const double u = at(run, i, "contact.rim.x") - 1;
        const double f = u > 0 ? u * u / 2 : 0, slope = u > 0 ? u : 0;
        assert_close(at(run, i, "contact.rim.z"), f, 1e-12);
        assert_close(at(run, i, "contact.rim.nx"), -slope / sqrt(1 + slope * slope), 1e-12);
        assert_close(at(run, i, "contact.rim.margin"),
                     u > 0 ? 1 - r / pow(1 + slope * slope, 1.5) : 1, 1e-12);
        checked += u > 0;
    }
    assert_true(checked > 20 && least(run, "b.vx") < 0); // it comes back
}

static void test_jumps_of_curvature(void **state)
{
    (void)state;
    static const char *const ramps[] = {"if(x < 1, 0, 0.5*(x - 1)^2)", "0.5*max(0, x - 1)^2",
                                        "0.25*((x - 1)^2 + (x - 1)*abs(x - 1))"};
    for (size_t c = 0; c < COUNT(shapes); c++) {
        const Shape *of = &shapes[c];
        Sheet *runs[COUNT(ramps)];
        for (size_t i = 0; i < COUNT(ramps); i++) {
            tr_summary s = {0};
            runs[i] = run_with(rider_on(ramps[i], of->contact, of->k, false), 1.5, 0.01, &s);
            assert_below(s.energy_error, 1e-11);
            assert_int_equal(s.warnings, 0);
            check_on_ramp(runs[i], of->k, 1e-9);
            assert_below(difference(runs[0], "b.x", runs[i], "b.x"), 1e-10);
        }
        for (size_t i = 0; i < COUNT(ramps); i++) tr_sheet_free(runs[i]);
    }
}

// A step of a method that does not choose its own ends there, too.
static void test_jumps_in_steps(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(shapes); c++) {
        tr_error err = {0};
        tr_system *system = rider_on("0.5*max(0, x - 1)^2", shapes[c].contact, shapes[c].k, false);
        tr_simulate_options o = tr_simulate_defaults(system);
        o.end = 1.5, o.every = 0.01, o.output = in_folder("run.csv");
        o.method = "rk4", o.step = 2e-3;
        if (!tr_simulate(system, &o, NULL, &err)) fail_msg("%s", err.text);
        Sheet *run = read_sheet(o.output);
        check_on_ramp(run, shapes[c].k, 1e-8);
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// ---- beside its way ------------------------------------------------------------------------

// A ball rolls straight down a side of which nothing pulls it away, past two bumps
#define BUMPS                                                                                      \
    "0.5*y + 0.35*max(0, 1 - ((x - 1)^2 + (y - 0.2)^2)/0.06)^4 + 0.35*max(0, 1 - ((x - 2)^2 + (y " \
    "- 0.2)^2)/0.06)^4"

static double bump_at(double x, double y, double *dx, double *dy)
{
    const double X = x - 1, Y = y - 0.2, in = fmax(0, 1 - (X * X + Y * Y) / 0.06);
    const double slope = -0.35 * 8 * in * in * in / 0.06;
    *dx = slope * X, *dy = 0.5 + slope * Y;
    return 0.5 * y + 0.35 * in * in * in * in;
}

// How far the first bump is from a middle: downhill from its top, in small steps
static double bump_from(const double O[3], double at[2])
{
    double far = (double)INFINITY, size = 0.02;
    at[0] = 1, at[1] = 0.2;
    while (size > 1e-13) {
        double dx, dy;
        const double up = bump_at(at[0], at[1], &dx, &dy) - O[2];
        const double p[] = {at[0] - O[0] + up * dx, at[1] - O[1] + up * dy};
        const double norm = hypot(p[0], p[1]),
                     to[] = {at[0] - size * p[0] / norm, at[1] - size * p[1] / norm};
        const double z = bump_at(to[0], to[1], &dx, &dy) - O[2];
        const double now =
            sqrt((to[0] - O[0]) * (to[0] - O[0]) + (to[1] - O[1]) * (to[1] - O[1]) + z * z);
        if (now < far)
            far = now, at[0] = to[0], at[1] = to[1];
        else
            size /= 2;
    }
    return far;
}

static void test_past_bumps(void **state)
{
    (void)state;
    static const char *const text =
        "trundle: 1\n"
        "gravity: \"0, 4, -8\"\n"
        "ground: {height: \"" BUMPS "\"}\n"
        "bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 0.04, yy: 0.04, zz: 0.04}}}\n"
        "contacts: {rim: {kind: rolling, body: b, shape: ball, radius: 0.3}}\n"
        "initial: {contact.rim.x: 0, contact.rim.y: 0.5, b.qx: 0, b.qy: 0, b.qz: 0, b.vx: 1, b.vy: "
        "0, b.wz: 0}\n"
        "guess: {b.z: 0.5, b.y: 0.4}\n"
        "cases: {a: {allow: [second_touch]}}\n";
    double low = 0.4, high = 1, at[2];
    for (int i = 0; i < 50; i++) {
        const double t = (low + high) / 2, w = sqrt(1.25),
                     O[] = {t, 0.5 - 0.5 * r / w, 0.25 + r / w};
        *(bump_from(O, at) > r ? &low : &high) = t;
    }
    tr_summary s = {0};
    tr_sheet_free(run_with(system_from(text), 3, 0.01, &s));
    assert_int_equal(s.warnings, 2);
    const Twice w = twice_in(s.warning);
    print_message("%s; by hand %.9f, (%.6f, %.6f)\n", s.warning, low, at[0], at[1]);
    assert_close(w.t, low, 1e-6);
    assert_close(w.at[0][0], low, 1e-5);
    assert_close(w.at[0][1], 0.5, 1e-6);
    assert_close(w.at[1][0], at[0], 1e-5);
    assert_close(w.at[1][1], at[1], 1e-5);
    char *json = certificate();
    const char *second = strstr(strstr(json, "a second time at t = ") + 1, "a second time at t = ");
    assert_non_null(second);
    assert_close(number_behind(second, "a second time at t = "), low + 1, 1e-6);
    free(json);
}

// ---- at the start --------------------------------------------------------------------------

static void start_at(const char *height, const char *contact, const char *initial, tr_error *err)
{
    char text[1500];
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "ground: {height: \"%s\"}\n"
             "bodies: {b: {joint: {type: free}, mass: 2, inertia: {axial: 0.1, radial: 0.1, axis: "
             "\"0, 1, 0\"}}}\n"
             "contacts: {rim: {kind: rolling, body: b, radius: 0.3, %s}}\n"
             "initial: {%s, b.qx: 0, b.qy: 0, b.qz: 0}\n"
             "guess: {b.z: 0.6, b.qw: 1}\n",
             height, contact, initial);
    tr_system *system = system_from(text);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 0.1, o.every = 0.01, o.output = in_folder("run.csv");
    *err = (tr_error){0};
    assert_false(tr_simulate(system, &o, NULL, err));
    tr_system_free(system);
}

static void check_start(const char *height, const char *contact, const char *initial,
                        const char *words)
{
    tr_error err;
    start_at(height, contact, initial, &err);
    if (strncmp(err.text, words, strlen(words)) != 0) fail_msg("%s", err.text);
}

static void check_words(const char *height, const char *contact, const char *initial,
                        const char *words)
{
    tr_error err;
    start_at(height, contact, initial, &err);
    assert_says(err.text, words);
}

static void test_starts(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        check_start("0.3*cos(4*x)", shapes[k].contact, "contact.rim.x: pi/4",
                    "'rim' touches a second time at t = 0: at (0.785398, ");
    for (int k = 0; k < 5; k++) {
        check_words("0.1*x^2", shapes[k].contact, "b.x: 0, b.y: 0, b.z: 0.2",
                    "'rim' is inside what it touches by 0.1 m at best");
        check_words("0.1*x^2", shapes[k].contact, "b.x: 0, b.y: 0, b.z: 0.4",
                    "'rim' stays open by 0.1 m at best");
        check_words("0", shapes[k].contact, "b.x: 0, b.y: 0, b.z: 0.2",
                    "'rim' is inside what it touches by 0.1 m at best");
    }
    check_start("0.1*x^2", "unilateral: true, open: true, axis: \"0, 1, 0\"",
                "b.x: 0, b.y: 0, b.z: 0.1", "'rim' starts open, but 0.2 m inside what it touches");
    check_start("0.1*x^2", "unilateral: true, open: true, shape: ball", "b.x: 0, b.y: 0, b.z: 0.1",
                "'rim' starts open, but 0.2 m inside what it touches");
}

// ---- side by side --------------------------------------------------------------------------

// Runs of a batch end with the words, at the time and with the bits of single ones; others go on.
static void test_side_by_side(void **state)
{
    (void)state;
    enum { RUNS = 11 };
    static const char *const text =
        "trundle: 1\n"
        "parameters: {deep: 0.1}\n"
        "ground: {height: deep*cos(4*x) + 0.1*x}\n"
        "bodies: {b: {joint: {type: free}, mass: 2, inertia: {axial: 0.09, radial: 0.1, axis: \"0, "
        "1, 0\"}}}\n"
        "contacts: {rim: {kind: rolling, body: b, radius: 0.3, axis: \"0, 1, 0\"}}\n"
        "initial: {contact.rim.x: 0, contact.rim.y: 0, b.qx: 0, b.qy: 0, b.qz: 0, b.wx: 0, b.wy: "
        "6, "
        "b.wz: 0}\n"
        "guess: {b.z: 0.6, b.qw: 1}\n";
    tr_error err = {0};
    tr_system *system = system_from(text);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 1e-3;
    tr_batch *batch = tr_batch_new(plan, RUNS, &o, &err);
    tr_run *runs[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
        const double deep = 0.05 + 0.03 * (double)i;
        runs[i] = tr_run_new(plan, &o, &err);
        tr_run_set(runs[i], "deep", deep, &err);
        tr_batch_set(batch, i, "deep", deep, &err);
        assert_true(tr_run_reset(runs[i], &err) && tr_batch_reset(batch, i, &err));
    }
    if (err.status) fail_msg("%s", err.text);
    size_t ended = 0;
    for (double t = 0.1; t < 0.75; t += 0.1) {
        tr_error all = {0};
        tr_batch_advance(batch, t, &all);
        ended = 0;
        for (size_t i = 0; i < RUNS; i++) {
            tr_error one = {0}, other = {0};
            const bool goes_on = tr_run_advance(runs[i], t, &one);
            const tr_status status = tr_batch_status(batch, i, &other);
            assert_int_equal(status == TR_OK, goes_on);
            if (!goes_on) assert_says(one.text, "'rim' touches a second time at t = ");
            assert_says(one.text, other.text); // after what ended before
            const double *a = tr_batch_row(batch, i), *b = tr_run_row(runs[i]);
            for (size_t k = 0; goes_on && k < tr_plan_column_count(plan); k++)
                assert_true(same_bits(a[k], b[k]));
            ended += !goes_on;
        }
    }
    assert_true(ended > 2 && ended < RUNS - 1);
    for (size_t i = 0; i < RUNS; i++) tr_run_free(runs[i]);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hollow),
        cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_groove),
        cmocka_unit_test(test_concave_edges),
        cmocka_unit_test(test_convex_edges),
        cmocka_unit_test(test_faint_edges),
        cmocka_unit_test(test_held_ends),
        cmocka_unit_test(test_kerb),
        cmocka_unit_test(test_jumps_of_curvature),
        cmocka_unit_test(test_jumps_in_steps),
        cmocka_unit_test(test_past_bumps),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
