// SPDX-License-Identifier: Apache-2.0
// Dry friction of joints against closed forms: it holds exactly, and slips against its force.
#include "latches.h"

static const How erk = {.end = 5, .every = 0.05},
                 rk4 = {.end = 5, .every = 0.05, .method = "rk4", .step = 0.0005};

static How with(How how, const char *set)
{
    how.set = set;
    return how;
}

// ---- a free oscillator ---------------------------------------------------------------------

// Its turning points go down by 2 c / k each half period, until one is inside c / k: there it
// stays.
static void test_decay(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {m: 1.5, k: 60, c: 3, s: c, x0: 0.93}\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, stiffness: k,"
        " friction: c, stiction: s}, mass: m}}\n"
        "initial: {x: x0, d(x): 0}\n";
    const How ways[] = {erk, rk4};
    const double half = acos(-1) * sqrt(1.5 / 60), w = sqrt(60 / 1.5), band = 3. / 60;
    for (int k = 0; k < 4; k++) {
        // more stiction than friction stops it earlier: its band is wider, too
        const double wide = k < 2 ? band : 0.15;
        Ran *r = ran(text, with(ways[k % 2], k < 2 ? NULL : "s=60*0.15"));
        double x = 0.93;
        size_t i = 0, row = 0;
        for (; fabs(x) > wide; i++) {
            const double side = copysign(1, x), from = (double)i * half;
            for (; at(r->sheet, row, "t") < from + half; row++) {
                const double a = x - side * band, u = at(r->sheet, row, "t") - from;
                assert_close(at(r->sheet, row, "x"), side * band + a * cos(w * u), 1e-9);
                assert_close(at(r->sheet, row, "lambda.x.friction"), side * 3, 1e-12);
            }
            check_event(r, i, from + half, "'x' comes to rest", 1e-9);
            x = -x + 2 * side * band;
        }
        assert_int_equal(r->count, i);
        assert_true(i > 6 && row + 10 < r->sheet->rows);
        const double rests = at(r->sheet, row, "x");
        assert_close(rests, x, 1e-9);
        for (; row < r->sheet->rows; row++) {
            assert_true(at(r->sheet, row, "x") == rests && at(r->sheet, row, "x_rate") == 0);
            assert_close(at(r->sheet, row, "lambda.x.friction"), 60 * rests, 1e-12);
        }
        // what friction took is what there was
        assert_close(last(r->sheet, "energy.work"), 30 * (x * x - 0.93 * 0.93), 1e-9);
        forget(r);
    }
}

// ---- stick and slip ------------------------------------------------------------------------

// On a spring whose end goes at V: with A = (s - c) / k it slips for 2 (pi - atan(A w / V)) / w,
// over which the stretch goes from c / k + A to c / k - A, and holds for 2 A / V.
static void test_stick_slip(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {m: 1.2, k: 90, c: 2, s: 5, V: 0.13}\n"
        "bodies:\n"
        "  hand: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: X}}\n"
        "  b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, friction: c, stiction: s,"
        " potential: k/2*(x - X)^2}, mass: m}\n"
        "roles: {X: {motion: V*t}}\n"
        "initial: {x: 0, d(x): 0}\n";
    const How ways[] = {erk, rk4};
    const double A = 3. / 90, w = sqrt(90 / 1.2), V = 0.13;
    const double slips = 2 * (acos(-1) - atan(A * w / V)) / w, holds = 2 * A / V;
    const double first = 5. / 90 / V;
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(text, ways[k]);
        size_t periods = 0;
        for (size_t i = 0; i + 1 < r->count; i += 2, periods++) {
            const double begin = first + (double)periods * (slips + holds);
            check_event(r, i, begin, "'x' begins to slip", 1e-9);
            check_event(r, i + 1, begin + slips, "'x' comes to rest", 1e-9);
        }
        assert_true(periods >= 4);
        for (size_t row = 0; row < r->sheet->rows; row++) {
            const double t = at(r->sheet, row, "t");
            double since = t - first;
            const double n = since < 0 ? 0 : floor(since / (slips + holds));
            since -= n * (slips + holds);
            const bool is_slipping = since > 0 && since < slips;
            const double u = 2. / 90 + A * cos(w * since) + V / w * sin(w * since);
            if (is_slipping) {
                assert_close(V * t - at(r->sheet, row, "x"), u, 1e-9);
                assert_close(at(r->sheet, row, "lambda.x.friction"), -2, 1e-12);
            } else {
                assert_true(at(r->sheet, row, "x_rate") == 0);
                assert_close(at(r->sheet, row, "lambda.x.friction"),
                             -90 * (V * t - at(r->sheet, row, "x")), 1e-9);
            }
        }
        forget(r);
    }
}

// ---- friction that depends on the state ----------------------------------------------------

// c0 exp(-x / a) along x: x' = sqrt(v0^2 - 2 c0 a / m (1 - exp(-x / a)))
static void test_formula(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {m: 2, c: 3, a: 0.4}\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x,"
        " friction: c*exp(-x/a)}, mass: m}}\n"
        "initial: {x: 0, d(x): 1.5}\n";
    const How ways[] = {{.end = 2, .every = 0.1},
                        {.end = 2, .every = 0.1, .method = "rk4", .step = 0.001}};
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(text, ways[k]);
        assert_int_equal(r->count, 0);
        for (size_t i = 0; i < r->sheet->rows; i++) {
            const double x = at(r->sheet, i, "x"), lost = 3 * 0.4 * (1 - exp(-x / 0.4));
            assert_close(at(r->sheet, i, "x_rate"), sqrt(1.5 * 1.5 - lost), 1e-9);
        }
        forget(r);
    }
}

// What a motion tells where to go takes its friction from the motor.
static void test_moved(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {m: 2, c: 3}\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, friction: c},"
        " mass: m}}\n"
        "roles: {x: {motion: sin(t)}}\n";
    Ran *r = attempt(text, (How){.end = 6, .every = 0.1});
    assert_int_equal(r->err.status, TR_OK);
    assert_below(r->summary.energy_error, 1e-9);
    for (size_t i = 0; i < r->sheet->rows; i++) {
        const double t = at(r->sheet, i, "t"), slows = copysign(3, cos(t));
        assert_close(at(r->sheet, i, "tau.x"), -2 * sin(t) + slows, 1e-12);
        assert_close(at(r->sheet, i, "lambda.x.friction"), -slows, 1e-12);
    }
    forget(r);
}

// ---- with stops ----------------------------------------------------------------------------

// A cart that stops at once; the load on it, held by friction so far, slides on for v^2 m / (2 c):
// friction bears no impulse.
static void test_impact(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {M: 3, m: 2, c: 5, v: 0.8}\n"
        "bodies:\n"
        "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, limits: \"-1, 0.4\"},"
        " mass: M}\n"
        "  load: {parent: cart, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: u,"
        " friction: c}, mass: m}\n"
        "initial: {x: 0, d(x): v, u: 0, d(u): 0}\n";
    const How ways[] = {{.end = 1.5, .every = 0.05},
                        {.end = 1.5, .every = 0.05, .method = "rk4", .step = 0.001}};
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(text, ways[k]);
        check_event(r, 0, 0.5, "'x' reaches its upper limit", 1e-10);
        assert_close(r->events[0].impulse, 3 * 0.8, 1e-10);
        assert_close(r->events[0].lost, 3 * 0.8 * 0.8 / 2, 1e-10);
        check_event(r, 1, 0.5 + 0.8 * 2 / 5, "'u' comes to rest", 1e-10);
        assert_int_equal(r->count, 2);
        assert_close(last(r->sheet, "u"), 0.8 * 0.8 * 2 / 10, 1e-10);
        forget(r);
    }
}

// At a stop the two bear the load together; it leaves where the motor pulls harder than friction
// holds.
static void test_leaves(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {m: 2, c: 1.5}\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x,"
        " limits: \"-9, 0.5\", friction: c}, mass: m}}\n"
        "roles: {x: {torque: 5 - 3*t}}\n"
        "initial: {x: 0.3, d(x): 0}\n";
    const How ways[] = {{.end = 3, .every = 0.05},
                        {.end = 3, .every = 0.05, .method = "rk4", .step = 0.001}};
    const double leaves = (5 + 1.5) / 3;
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(text, ways[k]);
        assert_string_equal(r->events[0].kind, "'x' reaches its upper limit");
        for (size_t i = 0; i < r->sheet->rows; i++) {
            const double t = at(r->sheet, i, "t"), s = t - leaves;
            const double bears =
                at(r->sheet, i, "lambda.x.limit") + at(r->sheet, i, "lambda.x.friction");
            if (s > 0)
                assert_close(at(r->sheet, i, "x"), 0.5 - s * s * s / 4, 1e-9);
            else if (t > r->events[0].t) {
                assert_close(bears, 3 * t - 5, 1e-10);
                assert_close(at(r->sheet, i, "x"), 0.5, 1e-12);
                assert_true(at(r->sheet, i, "lambda.x.limit") < 1e-10);
                assert_true(fabs(at(r->sheet, i, "lambda.x.friction")) <= 1.5 + 1e-9);
            }
        }
        forget(r);
    }
}

// ---- loops ---------------------------------------------------------------------------------

// A parallelogram as one pendulum upside down, with friction in joints of the tree and in the cut:
// what each takes is c |q'|, for all turn alike.
static void test_loop(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {l: 0.4, w: 1, m: 3, c: 0.2}\n"
        "bodies:\n"
        "  first: {mass: 0.1, com: \"0, 0, -l/2\"}\n"
        "  second: {mass: 0.1, com: \"0, 0, -l/2\"}\n"
        "  coupler: {mass: m, com: \"w/2, 0, 0\"}\n"
        "joints:\n"
        "  q: {type: revolute, body: first, axis: \"0, 1, 0\", friction: c}\n"
        "  r: {type: revolute, body: second, axis: \"0, 1, 0\", at: \"w, 0, 0\", friction: c}\n"
        "  s: {type: revolute, parent: first, body: coupler, axis: \"0, 1, 0\","
        " at: \"0, 0, -l\", friction: c}\n"
        "  p: {type: revolute, parent: second, body: coupler, axis: \"0, 1, 0\","
        " at: \"0, 0, -l\", to: \"w, 0, 0\", friction: c}\n"
        "initial: {q: 1, d(q): 0}\n"
        "guess: {r: 1, s: -1, p: -1}\n";
    const How ways[] = {{.end = 6, .every = 0.1},
                        {.end = 6, .every = 0.1, .method = "rk4", .step = 0.002}};
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(text, ways[k]);
        double low = 1, high = 1, before = 1;
        for (size_t i = 0; i < r->sheet->rows; i++) {
            const double q = at(r->sheet, i, "q");
            low = fmin(low, q), high = fmax(high, q), before = q;
        }
        assert_true(low < -0.5);
        assert_true(last(r->sheet, "q_rate") == 0);
        // V = -3.1 g l cos q is held where its slope is no more than what four joints can
        assert_true(fabs(3.1 * g * 0.4 * sin(before)) < 4 * 0.2);
        double bears = 0;
        static const char *const names[] = {"q", "r"};
        for (int j = 0; j < 2; j++) {
            char name[40];
            snprintf(name, sizeof name, "lambda.%s.friction", names[j]);
            bears += last(r->sheet, name);
            assert_true(fabs(last(r->sheet, name)) <= 0.2 + 1e-9);
        }
        bears -= last(r->sheet, "lambda.s.friction") + last(r->sheet, "lambda.p.friction");
        assert_close(bears, 3.1 * g * 0.4 * sin(before), 1e-9);
        forget(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decay),   cmocka_unit_test(test_stick_slip),
        cmocka_unit_test(test_formula), cmocka_unit_test(test_moved),
        cmocka_unit_test(test_impact),  cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
