// SPDX-License-Identifier: Apache-2.0
// Stops of joints against hand calculation: when they are reached, what comes back, what they bear.
#include "latches.h"

// ---- a slider between two stops ------------------------------------------------------------

static const char slider[] =
    "trundle: 1\n"
    "parameters: {m: 2, e: 0.8, z0: 1.5, v0: 0, low: 0, high: 50}\n"
    "bodies: {b: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z,\n"
    "  limits: \"low, high\", limit_restitution: e}, mass: m}}\n"
    "initial: {z: z0, d(z): v0}\n";

typedef struct Flight {
    double low, high, m, e;
    double z, v, t; // since the last stop
} Flight;

// When it reaches a stop from there on, and which
static double next_stop(const Flight *f, bool *is_upper)
{
    const double peak = f->z + f->v * f->v / (2 * g);
    *is_upper = f->v > 0 && peak > f->high;
    if (*is_upper) return f->t + (f->v - sqrt(f->v * f->v - 2 * g * (f->high - f->z))) / g;
    return f->t + (f->v + sqrt(f->v * f->v + 2 * g * (f->z - f->low))) / g;
}

static void check_flight(const Ran *r, Flight f, int impacts, double tolerance)
{
    const double *t = column(r->sheet, "t"), *z = column(r->sheet, "z");
    size_t row = 0;
    for (int i = 0; i < impacts; i++) {
        bool is_upper;
        const double at = next_stop(&f, &is_upper), s = at - f.t;
        for (; row < r->sheet->rows && t[row] < at; row++) {
            const double since = t[row] - f.t;
            assert_close(z[row], f.z + f.v * since - g / 2 * since * since, tolerance);
        }
        const double speed = fabs(f.v - g * s), back = f.e * speed;
        check_event(r, (size_t)i, at,
                    is_upper ? "'z' reaches its upper limit" : "'z' reaches its lower limit",
                    tolerance);
        assert_close(r->events[i].impulse, f.m * (speed + back), tolerance);
        assert_close(r->events[i].lost, f.m / 2 * (speed * speed - back * back), tolerance);
        assert_true(r->events[i].rebounded);
        f.z = is_upper ? f.high : f.low, f.v = is_upper ? -back : back, f.t = at;
    }
    assert_true(row > (size_t)impacts);
}

static const How erk = {.end = 4.4, .every = 0.05},
                 rk4 = {.end = 4.4, .every = 0.05, .method = "rk4", .step = 0.01};

static How with(How how, const char *set)
{
    how.set = set;
    return how;
}

static void test_bounces(void **state)
{
    (void)state;
    const How ways[] = {erk, rk4};
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(slider, ways[k]);
        check_flight(r, (Flight){0, 50, 2, 0.8, 1.5, 0, 0}, 10, 1e-9);
        forget(r);
        r = ran(slider, with(ways[k], "z0=0.3 v0=7 low=-0.2 high=1.2 e=0.9 m=0.7"));
        check_flight(r, (Flight){-0.2, 1.2, 0.7, 0.9, 0.3, 7, 0}, 8, 1e-9);
        forget(r);
    }
}

// The last rebound is at t1 + 2 v / g (e + e^2 + ...), then it rests under its weight.
static void test_rests(void **state)
{
    (void)state;
    const double v = sqrt(2 * g * 1.5), over = v / g + 2 * v / g * 0.8 / (1 - 0.8);
    const How ways[] = {{.end = 6, .every = 0.25},
                        {.end = 6, .every = 0.25, .method = "rk4", .step = 0.01}};
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(slider, ways[k]);
        const Event *end = &r->events[r->count - 1];
        assert_false(end->rebounded);
        assert_close(end->t, over, 2e-5);
        double lost = 0;
        for (size_t i = 0; i < r->count; i++) lost += r->events[i].lost;
        assert_close(lost, 2 * g * 1.5, 1e-9);
        for (size_t i = row_at(r, end->t + 0.1); i < r->sheet->rows; i++) {
            assert_close(at(r->sheet, i, "z"), 0, 1e-14);
            assert_true(at(r->sheet, i, "z_rate") == 0);
            assert_close(at(r->sheet, i, "lambda.z.limit"), 2 * g, 1e-12);
        }
        forget(r);
    }
}

// It starts at the upper stop, which bears what the motor pushes until that turns.
static void test_motor_pushes(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {m: 2}\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x,"
        " limits: \"-5, 0.5\"}, mass: m}}\n"
        "roles: {x: {torque: 4 - 3*t}}\n"
        "initial: {x: 0.5, d(x): 0}\n";
    const How ways[] = {{.end = 2, .every = 0.05},
                        {.end = 2, .every = 0.05, .method = "rk4", .step = 0.01}};
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(text, ways[k]);
        assert_int_equal(r->count, 1);
        check_event(r, 0, 4. / 3, "'x' leaves its upper limit", 1e-10);
        for (size_t i = 0; i < r->sheet->rows; i++) {
            const double t = at(r->sheet, i, "t"), s = fmax(0, t - 4. / 3);
            assert_close(at(r->sheet, i, "lambda.x.limit"), -fmax(0, 4 - 3 * t), 1e-12);
            assert_close(at(r->sheet, i, "x"), 0.5 - 3. / 2 * s * s * s / 6, 1e-12);
        }
        forget(r);
    }
}

// ---- pendulums -----------------------------------------------------------------------------

// A quarter of the period at that amplitude: pi / 2 / agm(1, cos(a / 2)) sqrt(l / g)
static double quarter(double amplitude, double l)
{
    double a = 1, b = cos(amplitude / 2);
    for (int i = 0; i < 8; i++) {
        const double mean = (a + b) / 2;
        b = sqrt(a * b), a = mean;
    }
    return acos(-1) / 2 / a * sqrt(l / g);
}

static void test_pendulum(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {l: 0.7, m: 1.3, e: 0.75, a0: 1.2}\n"
        "bodies: {b: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: q,"
        " limits: \"0, pi\", limit_restitution: e}, mass: m, com: \"0, 0, -l\"}}\n"
        "initial: {q: a0, d(q): 0}\n";
    const How ways[] = {{.end = 4, .every = 0.1},
                        {.end = 4, .every = 0.1, .method = "rk4", .step = 0.002}};
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(text, ways[k]);
        double amplitude = 1.2, t = quarter(amplitude, 0.7);
        for (size_t i = 0; i < 4; i++) {
            const double energy = 1.3 * g * 0.7 * (1 - cos(amplitude));
            check_event(r, i, t, "'q' reaches its lower limit", 1e-9);
            assert_close(r->events[i].lost, energy * (1 - 0.75 * 0.75), 1e-9);
            amplitude = acos(1 - 0.75 * 0.75 * (1 - cos(amplitude)));
            t += 2 * quarter(amplitude, 0.7);
        }
        forget(r);
    }
}

// Two equal rods without weight: what the elbow's stop does leaves the shoulder its momentum.
static const char elbow[] =
    "trundle: 1\n"
    "gravity: \"0, 0, 0\"\n"
    "parameters: {l: 0.5, c: 0.2, m: 1, M: 2, e: 1, low: -0.2}\n"
    "bodies:\n"
    "  upper: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}, mass: M,"
    " com: \"0, 0, -c\"}\n"
    "  lower: {parent: upper, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0, -l\","
    " coordinate: b, limits: \"low, 1\", limit_restitution: e}, mass: m, com: \"0, 0, -c\"}\n"
    "initial: {a: 2, b: 0.5, d(a): 1, d(b): -3}\n";

static void elbow_masses(double b, double M[3])
{
    const double l = 0.5, c = 0.2, m = 1, m1 = 2;
    M[2] = m * c * c;
    M[1] = M[2] + m * l * c * cos(b);
    M[0] = m1 * c * c + m * (l * l + c * c + 2 * l * c * cos(b));
}

static void test_elbow(void **state)
{
    (void)state;
    const How ways[] = {{.end = 3, .every = 0.05},
                        {.end = 3, .every = 0.05, .method = "rk4", .step = 0.001}};
    double M[3];
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(elbow, ways[k]);
        elbow_masses(0.5, M);
        const double H = M[0] * 1 + M[1] * -3, T = (M[0] + 2 * M[1] * -3 + M[2] * 9) / 2;
        assert_true(r->count >= 4);
        assert_string_equal(r->events[0].kind, "'b' reaches its lower limit");
        assert_string_equal(r->events[1].kind, "'b' reaches its upper limit");
        for (size_t i = 0; i < r->sheet->rows; i++) {
            const double a = at(r->sheet, i, "a_rate"), b = at(r->sheet, i, "b_rate");
            elbow_masses(at(r->sheet, i, "b"), M);
            assert_close(M[0] * a + M[1] * b, H, 1e-9);
            assert_close((M[0] * a * a + 2 * M[1] * a * b + M[2] * b * b) / 2, T, 1e-9);
        }
        forget(r);
        // without restitution what is lost is b'^2 / 2 / (M^-1)_bb, and it turns on as one body,
        // for turning presses on this stop
        r = ran(elbow, with(ways[k], "e=0 low=0.3"));
        elbow_masses(0.3, M);
        const double inverse = M[0] / (M[0] * M[2] - M[1] * M[1]), lost = r->events[0].lost;
        const double rate = sqrt(2 * lost * inverse);
        assert_close(r->events[0].impulse, rate / inverse, 1e-9);
        assert_close(last(r->sheet, "b"), 0.3, 1e-12);
        assert_true(last(r->sheet, "lambda.b.limit") > 0);
        assert_close(last(r->sheet, "a_rate"), H / M[0], 1e-9);
        assert_close(last(r->sheet, "energy.kinetic"), T - lost, 1e-9);
        forget(r);
    }
}

// ---- several at once -----------------------------------------------------------------------

// Into a corner, where a force presses it: x and y stop together. On it goes a slider that stops
// at that time as well.
static void test_corner(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "gravity: \"0, 0, 0\"\n"
        "parameters: {m: 1, n: 2}\n"
        "bodies:\n"
        "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, limits: \"-9, 1\"},"
        " mass: n}\n"
        "  cart: {parent: rail, joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y,"
        " limits: \"-9, 2\"}, mass: m}\n"
        "  top: {parent: cart, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: u,"
        " limits: \"-3, 9\"}, mass: m}\n"
        "forces: {f: {body: cart, force: \"0.5, 0.25, 0\"}, h: {body: top, force: \"-4, 0, 0\"}}\n"
        "roles: {x: {torque: 8*exp(-1000*t^2)}}\n"
        "initial: {x: 0.5, y: 1, u: 0, d(x): 0, d(y): 0, d(u): 0}\n";
    const How ways[] = {{.end = 8, .every = 0.5},
                        {.end = 8, .every = 0.5, .method = "rk4", .step = 0.001, .energy = 1e-7}};
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(text, ways[k]);
        const size_t end = r->sheet->rows - 1;
        assert_close(at(r->sheet, end, "y"), 2, 1e-12);
        assert_close(at(r->sheet, end, "u"), -3, 1e-12);
        assert_close(at(r->sheet, end, "lambda.y.limit"), -0.25, 1e-12);
        assert_close(at(r->sheet, end, "lambda.x.limit"), 3.5, 1e-12);
        assert_close(at(r->sheet, end, "lambda.u.limit"), 4, 1e-12);
        assert_close(at(r->sheet, end, "x"), -9, 1e-12);
        forget(r);
    }
    static const char drop[] =
        "trundle: 1\n"
        "gravity: \"-1, -2, 0\"\n"
        "bodies:\n"
        "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, limits: \"0, 5\"},"
        " mass: 2}\n"
        "  cart: {parent: rail, joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y,"
        " limits: \"0, 5\"}, mass: 1}\n"
        "initial: {x: 1, y: 2, d(x): 0, d(y): 0}\n";
    for (int k = 0; k < 2; k++) { // both after sqrt(2)
        Ran *r = ran(drop, (How){.end = 2, .every = 0.1, .method = k ? "rk4" : NULL, .step = 0.01});
        assert_int_equal(r->count, 1);
        assert_close(r->events[0].t, sqrt(2), 1e-10);
        assert_close(r->events[0].lost, 3 * 2 / 2. + 1 * 8 / 2., 1e-9);
        assert_close(last(r->sheet, "lambda.x.limit"), 3, 1e-12);
        assert_close(last(r->sheet, "lambda.y.limit"), 2, 1e-12);
        forget(r);
    }
}

// ---- soft stops ----------------------------------------------------------------------------

// Into a spring with a damper, m d'' = -k d - c d' as long as that pushes:
//   d = v / w exp(-s t) sin(w t),   until k d + c d' = 0
static void check_soft(const char *set, double k, double c, const How *how)
{
    static const char text[] =
        "trundle: 1\n"
        "gravity: \"0, 0, 0\"\n"
        "parameters: {m: 2, k: 300, c: 0}\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x,"
        " limits: \"-1, 0.5\", limit_stiffness: k, limit_damping: c}, mass: m}}\n"
        "initial: {x: 0.013, d(x): 2}\n";
    const double m = 2, v = 2, s = c / (2 * m), w = sqrt(k / m - s * s), hit = 0.2435;
    const double rest = (acos(-1) - (c > 0 ? atan(c * w / (k - c * s)) : 0)) / w;
    const double back = v * exp(-s * rest) * (cos(w * rest) - s / w * sin(w * rest));
    const double depth = v / w * exp(-s * rest) * sin(w * rest), over = hit + rest;
    Ran *r = attempt(text, with(*how, set));
    assert_int_equal(r->err.status, TR_OK);
    assert_below(r->summary.energy_error, 1e-9);
    for (size_t i = 0; i < r->sheet->rows; i++) {
        const double t = at(r->sheet, i, "t"), u = t - hit;
        double x = 0.013 + 2 * t, force = 0;
        if (t > hit && t < over) {
            const double d = v / w * exp(-s * u) * sin(w * u);
            x = 0.5 + d;
            force = -k * d - c * v * exp(-s * u) * (cos(w * u) - s / w * sin(w * u));
        } else if (t >= over)
            x = 0.5 + depth + back * (t - over);
        if (x < -1) break; // the other stop
        assert_close(at(r->sheet, i, "x"), x, 1e-9);
        assert_close(at(r->sheet, i, "lambda.x.limit"), force, 1e-7);
        assert_true(at(r->sheet, i, "lambda.x.limit") <= 0);
    }
    forget(r);
}

static void test_soft(void **state)
{
    (void)state;
    const How ways[] = {{.end = 1, .every = 0.01},
                        {.end = 1, .every = 0.01, .method = "rk4", .step = 0.0005}};
    for (int k = 0; k < 2; k++) {
        check_soft(NULL, 300, 0, &ways[k]);
        check_soft("c=12", 300, 12, &ways[k]);
        check_soft("c=30 k=400", 400, 30, &ways[k]);
    }
}

// ---- loops ---------------------------------------------------------------------------------

// A parallelogram of cranks l and a coupler that stays level: V = (m1 + m) g l cos q with half a
// crank's mass at either end. A stop at one crank bears V' alone, wherever the loop is cut.
#define PARALLELOGRAM(at_first, at_second)                                                   \
    "trundle: 1\n"                                                                           \
    "parameters: {l: 0.4, w: 1, m: 3, m1: 0.5, e: 0}\n"                                      \
    "bodies:\n"                                                                              \
    "  first: {mass: m1, com: \"0, 0, l/2\"}\n"                                              \
    "  second: {mass: m1, com: \"0, 0, l/2\"}\n"                                             \
    "  coupler: {mass: m, com: \"w/2, 0, 0\"}\n"                                             \
    "joints:\n"                                                                              \
    "  q: {type: revolute, body: first, axis: \"0, 1, 0\"" at_first "}\n"                    \
    "  r: {type: revolute, body: second, axis: \"0, 1, 0\", at: \"w, 0, 0\"" at_second "}\n" \
    "  s: {type: revolute, parent: first, body: coupler, axis: \"0, 1, 0\","                 \
    " at: \"0, 0, l\"}\n"                                                                    \
    "  p: {type: revolute, parent: second, body: coupler, axis: \"0, 1, 0\","                \
    " at: \"0, 0, l\", to: \"w, 0, 0\"}\n"                                                   \
    "initial: {q: 0.1, d(q): 0}\n"                                                           \
    "guess: {r: 0.1, s: -0.1, p: -0.1}\n"

#define STOP ", limits: \"-1, 0.6\", limit_restitution: e"

static void check_parallelogram(const char *text, const char *coordinate, const How *how)
{
    char column_name[60], words[60];
    const double m = 3.5, torque = m * g * 0.4, inertia = 3 * 0.16 + 2 * 0.5 * 0.04;
    const double energy = torque * (cos(0.1) - cos(0.6)), e = 0.5;
    snprintf(column_name, sizeof column_name, "lambda.%s.limit", coordinate);
    snprintf(words, sizeof words, "'%s' reaches its upper limit", coordinate);
    Ran *r = ran(text, *how);
    assert_string_equal(r->events[0].kind, words);
    assert_close(r->events[0].lost, energy, 1e-9);
    assert_close(r->events[0].impulse, sqrt(2 * energy * inertia), 1e-9);
    assert_close(last(r->sheet, column_name), -torque * sin(0.6), 1e-9);
    assert_close(last(r->sheet, coordinate), 0.6, 1e-10);
    forget(r);
    r = ran(text, with(*how, "e=0.5"));
    assert_close(r->events[0].lost, energy * (1 - e * e), 1e-9);
    assert_close(r->events[1].lost, energy * e * e * (1 - e * e), 1e-9);
    forget(r);
}

static void test_loops(void **state)
{
    (void)state;
    const How ways[] = {{.end = 3, .every = 0.05},
                        {.end = 3, .every = 0.05, .method = "rk4", .step = 0.002}};
    for (int k = 0; k < 2; k++) {
        check_parallelogram(PARALLELOGRAM(STOP, ""), "q", &ways[k]);
        check_parallelogram(PARALLELOGRAM("", STOP), "r", &ways[k]);
        check_parallelogram(PARALLELOGRAM("", ", cut: true" STOP), "r", &ways[k]);
    }
}

// ---- the start -----------------------------------------------------------------------------

static void check_refused(const char *text, int line, int column, const char *words)
{
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    Flow *flow = open_flow(system, &err);
    if (!strstr(err.text, words)) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
    close_flow(flow);
    tr_system_free(system);
    tr_model_free(model);
}

#define START(limits, start)                                                                   \
    "trundle: 1\n"                                                                             \
    "bodies: {b: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: q, limits: \"" limits \
    "\"}, mass: 1, com: \"0, 0, -1\"}}\n" start

static double starts_at(const char *text)
{
    Ran *r = ran(text, (How){.end = 0.1, .every = 0.1});
    const double q = at(r->sheet, 0, "q");
    forget(r);
    return q;
}

static void test_starts(void **state)
{
    (void)state;
    check_refused(START("-0.5, 0.5", "initial: {q: 0.7}\n"), 2, 79,
                  "'q' starts 0.2 beyond its upper limit");
    check_refused(START("-0.5, 0.5", "initial: {q: -0.7}\n"), 2, 79,
                  "'q' starts 0.2 beyond its lower limit");
    assert_close(starts_at(START("-0.5, 0.5", "guess: {q: 0.7}\n")), 0.5, 1e-15);
    assert_close(starts_at(START("0.25, 0.5", "")), 0.25, 1e-15);
    assert_close(starts_at(START("-0.5, 0.5", "initial: {q: 0.5}\n")), 0.5, 1e-15);
}

// It stands at its stop, or leaves it at once.
static void test_start_at_stop(void **state)
{
    (void)state;
    Ran *r = ran(START("0.25, 1", "initial: {q: 0.25, d(q): 0}\n"), (How){.end = 1, .every = 0.1});
    assert_int_equal(r->count, 0);
    assert_close(last(r->sheet, "lambda.q.limit"), g * sin(0.25), 1e-12);
    assert_true(last(r->sheet, "q_rate") == 0);
    forget(r);
    r = ran(START("-1, 0.25", "initial: {q: 0.25, d(q): 0}\n"), (How){.end = 1, .every = 0.1});
    assert_int_equal(r->count, 0);
    assert_true(last(r->sheet, "q") < 0);
    forget(r);
    r = ran(START("0.25, 1", "initial: {q: 0.25, d(q): -2}\n"), (How){.end = 1, .every = 0.1});
    assert_int_equal(r->count, 1);
    check_event(r, 0, 0, "'q' reaches its lower limit", 1e-12);
    assert_close(r->events[0].lost, 2, 1e-12);
    forget(r);
}

// A motion that would pass a stop ends there, with words; one that does not is watched alone.
static void test_motions(void **state)
{
    (void)state;
    static const char *const texts[] = {
        START("-0.5, 0.5", "roles: {q: {motion: 0.1 + t}}\n"),
        START("-0.5, 0.5", "roles: {q: {rate: 1}}\ninitial: {q: 0.1}\n")};
    for (int k = 0; k < 2; k++) {
        Ran *r = attempt(texts[k], (How){.end = 1, .every = 0.1});
        if (!strstr(r->err.text, "the motion of 'q' passes its upper limit at t = 0.4"))
            fail_msg("%s", r->err.text);
        forget(r);
    }
    Ran *r = ran(START("-0.5, 0.5", "roles: {q: {motion: 0.5*sin(t)}}\n"),
                 (How){.end = 7, .every = 0.1});
    assert_int_equal(r->count, 0);
    forget(r);
}

// ---- bundled models ------------------------------------------------------------------------

// A door is thrown against its stop: I q'' = -k q - c until then. One that is ajar stays so.
static void test_door(void **state)
{
    (void)state;
    const double I = 25 * 0.81 / 3, before = I * 9 / 2 - 4 * 1.7 * 1.7 / 2 - 1.5 * 1.7;
    const double w = sqrt(4 / I), a = 1.5 / 4, b = 3 / w;
    char *slam = read_text(MODELS_DIR "/door.yaml");
    Ran *r = ran(slam, (How){.case_name = "slam", .end = 6, .every = 0.01});
    const double t = r->events[0].t;
    assert_string_equal(r->events[0].kind, "'angle' reaches its upper limit");
    assert_close(a * cos(w * t) + b * sin(w * t) - a, 1.7, 1e-10);
    assert_close(r->events[0].lost, before * (1 - 0.3 * 0.3), 1e-9);
    forget(r);
    r = ran(slam, (How){.case_name = "ajar", .end = 2, .every = 0.01});
    for (size_t i = 0; i < r->sheet->rows; i++) {
        assert_true(at(r->sheet, i, "angle") == 0.5 && at(r->sheet, i, "angle_rate") == 0);
        assert_close(at(r->sheet, i, "lambda.angle.friction"), 2, 1e-12);
    }
    forget(r);
    r = ran(slam, (How){.case_name = "pushed", .end = 8, .every = 0.01});
    check_event(r, 0, (4 * 0.2 + 2.2) / 2, "'angle' begins to slip", 1e-10);
    assert_close(last(r->sheet, "lambda.angle.limit") + last(r->sheet, "lambda.angle.friction"),
                 4 * 1.7 - 16, 1e-9);
    forget(r);
    free(slam);
}

static void test_knee(void **state)
{
    (void)state;
    char *text = read_text(MODELS_DIR "/knee_stops.yaml");
    Ran *r = ran(text, (How){.case_name = "kick", .end = 3, .every = 0.01});
    assert_non_null(strstr(r->summary.warning, "role hip: its torque is at its limit from t = 0"));
    bool stops = false;
    for (size_t i = 0; i < r->count; i++)
        stops = stops || strcmp(r->events[i].kind, "'knee' reaches its lower limit") == 0;
    assert_true(stops);
    for (size_t i = 0; i < r->sheet->rows; i++) {
        assert_true(fabs(at(r->sheet, i, "tau.hip")) <= 12);
        assert_true(at(r->sheet, i, "knee") > -1e-12);
        assert_true(at(r->sheet, i, "lambda.knee.limit") >= 0);
    }
    forget(r);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounces),      cmocka_unit_test(test_rests),
        cmocka_unit_test(test_motor_pushes), cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_elbow),        cmocka_unit_test(test_corner),
        cmocka_unit_test(test_soft),         cmocka_unit_test(test_loops),
        cmocka_unit_test(test_starts),       cmocka_unit_test(test_start_at_stop),
        cmocka_unit_test(test_motions),      cmocka_unit_test(test_door),
        cmocka_unit_test(test_knee),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
