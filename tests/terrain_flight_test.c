// SPDX-License-Identifier: Apache-2.0
// What rolls over a crest too fast flies, and lands where a projectile would: against the curve
// that its middle follows, the energy that it has there, and a parabola.
#include "rolling.h"

// ---- by hand -------------------------------------------------------------------------------

static const double r = 0.1, speed0 = 3, steep = 10;

// f = -1 / (1 + exp(-steep (x - 1)))
typedef struct Bend {
    double f, slope, bend, w;
} Bend;

static Bend bend_at(double x)
{
    const double s = 1 / (1 + exp(-steep * (x - 1))), ds = steep * s * (1 - s);
    const double dds = steep * ds * (1 - 2 * s);
    return (Bend){-s, -ds, -dds, sqrt(1 + ds * ds)};
}

// The middle of what touches at x
static double middle_x(double x) { return x - r * bend_at(x).slope / bend_at(x).w; }
static double middle_z(double x) { return bend_at(x).f + r / bend_at(x).w; }

// (1 + k) v^2 / 2 + g z stays, with the moment of inertia k m r^2
static double speed_at(double x, double x0, double k)
{
    return sqrt(speed0 * speed0 + 2 * g * (middle_z(x0) - middle_z(x)) / (1 + k));
}

// N / m = g / w - v^2 c / (1 + r c), where the crest bends by c
static double load_at(double x, double x0, double k)
{
    const Bend b = bend_at(x);
    const double c = -b.bend / (b.w * b.w * b.w), v = speed_at(x, x0, k);
    return g / b.w - v * v * c / (1 + r * c);
}

static double root_of(double (*F)(double x, const double *p), const double *p, double low,
                      double high)
{
    const bool rises = F(high, p) > 0;
    assert_true((F(low, p) > 0) != rises);
    for (int i = 0; i < 200; i++) {
        const double mid = (low + high) / 2;
        if ((F(mid, p) > 0) == rises)
            high = mid;
        else
            low = mid;
    }
    return (low + high) / 2;
}

static double load(double x, const double *p) { return load_at(x, p[0], p[1]); }
static double start(double x, const double *p) { return middle_x(x) - p[0]; }

// Time from x0 to x along the middle's curve, by Simpson's rule: ds = (1 + r c) w dx
static double time_between(double x0, double x, double k)
{
    enum { PARTS = 4000 };
    double sum = 0;
    for (int i = 0; i <= PARTS; i++) {
        const double at = x0 + (x - x0) * i / PARTS;
        const Bend b = bend_at(at);
        const double c = -b.bend / (b.w * b.w * b.w);
        const double weight = i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2;
        sum += weight * (1 + r * c) * b.w / speed_at(at, x0, k);
    }
    return sum * (x - x0) / PARTS / 3;
}

// Where the ground is nearest to a point near the lower end: the root of (p - S).t
static double below(double x, double z)
{
    double at = x;
    for (int i = 0; i < 50; i++) {
        const Bend b = bend_at(at);
        const double F = x - at + b.slope * (z - b.f);
        at -= F / (-1 + b.bend * (z - b.f) - b.slope * b.slope);
    }
    return at;
}

static double gap_at(double t, const double *p)
{
    const double x = p[0] + p[2] * t, z = p[1] + p[3] * t - g * t * t / 2, at = below(x, z);
    const Bend b = bend_at(at);
    return (z - b.f) * b.w - r; // along the normal, for x - at = -slope (z - f)
}

// ---- and by a run --------------------------------------------------------------------------

static double event_time(const char *json, const char *words)
{
    const char *found = strstr(json, words), *before = NULL;
    if (!found) fail_msg("nothing %s", words);
    for (const char *c = json; (c = strstr(c, "\"t\": ")) && c < found; c++) before = c;
    assert_non_null(before);
    return strtod(before + 5, NULL);
}

static Sheet *fly(const char *contact, double k, char **json)
{
    char text[1000];
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "ground: {height: -1/(1 + exp(-10*(x - 1)))}\n"
             "bodies: {b: {joint: {type: free}, mass: 1, inertia: {axial: %g, radial: 0.004, axis: "
             "\"0, 1, 0\"}}}\n"
             "contacts: {foot: {kind: rolling, body: b, radius: 0.1, unilateral: true, %s}}\n"
             "initial: {b.x: 0, b.y: 0, b.qx: 0, b.qy: 0, b.qz: 0, b.wx: 0, b.wy: 30, b.wz: 0}\n"
             "guess: {b.z: 0.1}\n",
             0.01 * k, contact);
    tr_summary s = {0};
    Sheet *run = run_with(system_from(text), 1, 0.01, &s);
    assert_int_equal(s.switches, 2);
    assert_below(s.energy_error, 1e-10);
    *json = certificate();
    return run;
}

static void check_flight(const char *contact, double k)
{
    char *json;
    Sheet *run = fly(contact, k, &json);
    const double zero = 0, x0 = root_of(start, &zero, -0.5, 0.5), p[] = {x0, k};
    const double x = root_of(load, p, x0, 0.9), v = speed_at(x, x0, k);
    const double off = time_between(x0, x, k);
    const Bend b = bend_at(x);
    const double leaves[] = {middle_x(x), middle_z(x), v / b.w, v * b.slope / b.w};
    const double lands = root_of(gap_at, leaves, 0.3, 0.6);
    print_message("%s: lifts off at %.9f, %.1e; lands at %.9f, %.1e\n", contact, off,
                  event_time(json, "lifts off") - off, off + lands,
                  event_time(json, "touches") - off - lands);
    assert_close(event_time(json, "lifts off"), off, 1e-9);
    assert_close(event_time(json, "touches"), off + lands, 1e-9);
    size_t flying = 0;
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t") - off;
        if (t < 0 || t > lands) continue;
        assert_close(at(run, i, "b.x"), leaves[0] + leaves[2] * t, 1e-9);
        assert_close(at(run, i, "b.z"), leaves[1] + leaves[3] * t - g * t * t / 2, 1e-9);
        assert_close(at(run, i, "b.wy"), v / r, 1e-9);
        assert_true(at(run, i, "lambda.foot.normal") == 0);
        flying++;
    }
    assert_true(flying > 30);
    // what is left of its speed along the ground: (v_t + k r spin) / (1 + k)
    const double vz = leaves[3] - g * lands, end_x = leaves[0] + leaves[2] * lands,
                 end_z = leaves[1] + leaves[3] * lands - g * lands * lands / 2;
    const Bend e = bend_at(below(end_x, end_z));
    const double along = (leaves[2] + e.slope * vz) / e.w, after = (along + k * v) / (1 + k);
    const double lost = (leaves[2] * leaves[2] + vz * vz + k * v * v - (1 + k) * after * after) / 2;
    assert_close(number_behind(strstr(json, "touches"), "\"lost\": "), lost, 1e-8);
    free(json);
    tr_sheet_free(run);
}

static void test_crest(void **state)
{
    (void)state;
    check_flight("shape: ball", 0.4);
    check_flight("axis: \"0, 1, 0\"", 0.5);
    check_flight("tube: 0.03, axis: \"0, 1, 0\"", 0.5);
}

// ---- over waves ----------------------------------------------------------------------------

// High above, where every hollow is nearer than its radius is long, other places become the nearest
// all the time; it lands where its middle first comes to r from the waves, on whatever side.
static double wave_gap(double x, double z)
{
    double least = (double)INFINITY;
    for (int i = -20; i <= 20; i++) {
        double low = x + 0.005 * (i - 1), high = x + 0.005 * (i + 1);
        const double mid = (low + high) / 2, far = hypot(mid - x, 0.3 * sin(5 * mid) - z);
        if (far > least + 0.01) continue;
        for (int k = 0; k < 80; k++) { // thirds
            const double a = low + (high - low) / 3, b = high - (high - low) / 3;
            if (hypot(a - x, 0.3 * sin(5 * a) - z) < hypot(b - x, 0.3 * sin(5 * b) - z))
                high = b;
            else
                low = a;
        }
        least = fmin(least, hypot(low - x, 0.3 * sin(5 * low) - z));
    }
    return least - r;
}

static double landing_of(double vx, double vz)
{
    double t = 1e-3, before = 0;
    while (wave_gap(0.1 + vx * t, 1 + vz * t - g * t * t / 2) > 0) before = t, t += 1e-3;
    for (int i = 0; i < 45; i++) {
        const double mid = (before + t) / 2;
        *(wave_gap(0.1 + vx * mid, 1 + vz * mid - g * mid * mid / 2) > 0 ? &before : &t) = mid;
    }
    return t;
}

static void test_waves(void **state)
{
    (void)state;
    static const char *const contacts[] = {"shape: ball", "axis: \"0, 1, 0\"",
                                           "tube: 0.03, axis: \"0, 1, 0\""};
    static const double speeds[][2] = {{1, 0}, {2, 2}, {3, 1}, {4.3, 3}, {6, 2}, {-3.7, 2.5}};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        const double lands = landing_of(speeds[k][0], speeds[k][1]);
        for (size_t i = 0; i < sizeof contacts / sizeof *contacts; i++) {
            char text[1000];
            snprintf(text, sizeof text,
                     "trundle: 1\n"
                     "ground: {height: 0.3*sin(5*x)}\n"
                     "bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 0.004, yy: 0.004, "
                     "zz: 0.004}}}\n"
                     "contacts: {foot: {kind: rolling, body: b, radius: 0.1, unilateral: true, "
                     "open: true, restitution: 0.6, %s}}\n"
                     "initial: {b.x: 0.1, b.y: 0, b.z: 1, b.qx: 0, b.qy: 0, b.qz: 0, b.vx: %g, "
                     "b.vy: 0, b.vz: %g, b.wx: 0, b.wy: 0, b.wz: 0}\n",
                     contacts[i], speeds[k][0], speeds[k][1]);
            tr_summary s = {0};
            Sheet *run = run_with(system_from(text), 2, 0.01, &s);
            char *json = certificate();
            print_message("%s at %g, %g: lands at %.9f, %.1e\n", contacts[i], speeds[k][0],
                          speeds[k][1], lands, event_time(json, "touches") - lands);
            assert_close(event_time(json, "touches"), lands, 1e-9);
            for (size_t n = 0; n < run->rows; n++) // and bounces, never through
                assert_true(wave_gap(at(run, n, "b.x"), at(run, n, "b.z")) > -1e-9);
            free(json);
            tr_sheet_free(run);
        }
    }
}

// ---- onto a ridge --------------------------------------------------------------------------

// How far a middle is from the ridge: the nearest of many places, and then thirds
static double ridge_gap(double x, double z)
{
    double best = 3, least = (double)INFINITY;
#define FAR_FROM(u) hypot((u)-x, 0.7 * exp(-5e3 * ((u)-3) * ((u)-3)) - z)
    for (double u = 2.9; u < 3.1; u += 1e-4)
        if (FAR_FROM(u) < least) least = FAR_FROM(u), best = u;
    double low = best - 1e-4, high = best + 1e-4;
    for (int k = 0; k < 80; k++) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        *(FAR_FROM(a) < FAR_FROM(b) ? &high : &low) = FAR_FROM(a) < FAR_FROM(b) ? b : a;
    }
    return FAR_FROM(low) - 0.3;
#undef FAR_FROM
}

// What is nearest changes within a step, from the ground far below to the ridge, and that is inside
// the wheel when it ends: it lands when it came to it, whatever steps a method takes.
static void test_ridge(void **state)
{
    (void)state;
    static const struct How {
        const char *method;
        double step;
    } how[] = {{"erk", 0}, {"bdf", 0}, {"rk4", 0.02}, {"rk4", 0.003}, {"lie", 0.02}};
    static const char *const contacts[] = {"shape: ball", "axis: \"0, 1, 0\"",
                                           "tube: 0.03, axis: \"0, 1, 0\""};
    double low = 0.2, high = 0.3;
    for (int i = 0; i < 60; i++) {
        const double t = (low + high) / 2;
        *(ridge_gap(10 * t, 1 + t - g * t * t / 2) > 0 ? &low : &high) = t;
    }
    for (size_t k = 0; k < sizeof how / sizeof *how; k++)
        for (size_t i = 0; i < sizeof contacts / sizeof *contacts; i++) {
            char text[1000];
            tr_error err = {0};
            snprintf(text, sizeof text,
                     "trundle: 1\n"
                     "ground: {height: 0.7*exp(-((x - 3)/0.01)^2/2)}\n"
                     "bodies: {b: {joint: {type: free}, mass: 2, inertia: {xx: 0.05, yy: 0.08, zz: "
                     "0.05}}}\n"
                     "contacts: {foot: {kind: rolling, body: b, radius: 0.3, unilateral: true, "
                     "open: true, restitution: 0.5, %s}}\n"
                     "initial: {b.x: 0, b.y: 0, b.z: 1, b.qx: 0, b.qy: 0, b.qz: 0, b.vx: 10, b.vy: "
                     "0, b.vz: 1, b.wx: 0, b.wy: 0, b.wz: 0}\n",
                     contacts[i]);
            tr_system *system = system_from(text);
            tr_simulate_options o = tr_simulate_defaults(system);
            o.end = 0.3, o.every = 0.3, o.output = in_folder("run.csv");
            o.method = how[k].method;
            if (how[k].step > 0) o.step = how[k].step;
            if (!tr_simulate(system, &o, NULL, &err)) fail_msg("%s", err.text);
            char *json = certificate();
            const double off = event_time(json, "touches") - low;
            print_message("%s, %s: lands at %.9f, %.1e\n", how[k].method, contacts[i], low, off);
            assert_close(off, 0, 1e-9);
            free(json);
            tr_system_free(system);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crest), cmocka_unit_test(test_waves),
                                       cmocka_unit_test(test_ridge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
