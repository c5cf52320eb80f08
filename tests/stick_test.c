// SPDX-License-Identifier: Apache-2.0
// Contacts that slip and stick, against closed forms.
#include "latches.h"

// ---- slipping and sticking -----------------------------------------------------------------

// A cart whose four wheels are held, loads differ; on a slope that may be tilted on the way
static const char held[] =
    "trundle: 1\n"
    "parameters: {mu: 0.5, v0: 3, H: 0.3, R: 0.1, slope: 0, c: 1e-5}\n"
    "bodies: {cart: {joint: {type: free}, mass: 10, com: \"0.1, 0, H\","
    " inertia: {xx: 0.5, yy: 0.8, zz: 1}},\n"
    "  fl: {parent: cart, joint: {type: fixed, at: \"0.5, 0.3, 0\"}},\n"
    "  fr: {parent: cart, joint: {type: fixed, at: \"0.5, -0.3, 0\"}},\n"
    "  rl: {parent: cart, joint: {type: fixed, at: \"-0.5, 0.3, 0\"}},\n"
    "  rr: {parent: cart, joint: {type: fixed, at: \"-0.5, -0.3, 0\"}}}\n"
    "ground: {turn: \"0, slope, 0\"}\n"
    "contacts:\n"
    "  fl: {kind: rolling, body: fl, axis: \"0, 1, 0\", radius: R, longitudinal: coulomb,"
    " lateral: coulomb, friction: mu, stick: true, creep: c}\n"
    "  fr: {kind: rolling, body: fr, axis: \"0, 1, 0\", radius: R, longitudinal: coulomb,"
    " lateral: coulomb, friction: mu, stick: true, creep: c}\n"
    "  rl: {kind: rolling, body: rl, axis: \"0, 1, 0\", radius: R, longitudinal: coulomb,"
    " lateral: coulomb, friction: mu, stick: true, creep: c}\n"
    "  rr: {kind: rolling, body: rr, axis: \"0, 1, 0\", radius: R, longitudinal: coulomb,"
    " lateral: coulomb, friction: mu, stick: true, creep: c}\n"
    "outputs: {down: cart.x*cos(slope) - (cart.z - R/cos(slope))*sin(slope)}\n"
    "initial: {cart.x: 0, cart.y: 0, cart.R21: 0, cart.vx: v0}\n";

static void test_braking(void **state)
{
    (void)state;
    static const double speeds[] = {3, 8};
    for (int i = 0; i < 2; i++) {
        const double v = speeds[i], mu = 0.5;
        Ran *r = ran(held, (How){.set = i ? "v0=8" : "", .end = 3, .every = 0.1});
        const double *x = column(r->sheet, "cart.x"), *speed = column(r->sheet, "cart.vx");
        assert_close(last(r->sheet, "cart.x"), v * v / (2 * mu * g), 1e-6);
        assert_true(r->count >= 1);
        // not a margin: slow slip has less friction
        for (size_t k = 0; k < r->count; k++) assert_close(r->events[k].t, v / (mu * g), 1e-5);
        for (size_t k = row_at(r, r->events[r->count - 1].t + 1e-9); k < r->sheet->rows; k++)
            assert_true(x[k] == last(r->sheet, "cart.x") && speed[k] == 0);
        print_message("braking: %.10g m, off by %.1e\n", last(r->sheet, "cart.x"),
                      last(r->sheet, "cart.x") - v * v / (2 * mu * g));
        assert_close(last(r->sheet, "cart.y"), 0, 1e-9);
        forget(r);
    }
}

static void test_slope(void **state)
{
    (void)state;
    Ran *r = ran(held, (How){.set = "v0=0 slope=atan(0.98*mu)", .end = 20, .every = 1});
    assert_below(fabs(last(r->sheet, "down")), 1e-12); // holds
    assert_int_equal(r->count, 0);
    forget(r);
    r = ran(held, (How){.set = "v0=0 slope=atan(1.1*mu)", .end = 2, .every = 0.1});
    const double slope = atan(0.55), a = g * (sin(slope) - 0.5 * cos(slope));
    assert_close(last(r->sheet, "down"), a / 2 * 4, 1e-6);
    forget(r);
    // uphill: it stops, and stays or comes back
    r = ran(held, (How){.set = "v0=-3 slope=atan(0.9*mu)", .end = 3, .every = 0.1});
    const double mild = atan(0.45);
    assert_close(last(r->sheet, "down"), -9 / (2 * g * (sin(mild) + 0.5 * cos(mild))), 1e-6);
    assert_true(last(r->sheet, "cart.vx") == 0);
    forget(r);
    r = ran(held, (How){.set = "v0=-3 slope=atan(1.1*mu)", .end = 3, .every = 0.1});
    const double up = 3 / (g * (sin(slope) + 0.5 * cos(slope))), s = 3 - up;
    assert_close(last(r->sheet, "down"), -1.5 * up + a / 2 * s * s, 1e-5);
    forget(r);
}

// A block on a plate that tilts at the rate W, its middle at (s, h) on it: it slips when
//   g sin(a) + W^2 s = mu (g cos(a) - W^2 h),   with s = -mu h exactly at a = atan(mu)
static const char tilting[] =
    "trundle: 1\n"
    "parameters: {mu: 0.4, h: 0.2, W: 0.3, s: -mu*h, R: 0.05, stop: 100}\n"
    "bodies:\n"
    "  plate: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: tilt}, mass: 3}\n"
    "  block: {joint: {type: free}, mass: 2, com: \"0, 0, h - R\","
    " inertia: {xx: 0.02, yy: 0.03, zz: 0.03}}\n"
    "contacts:\n"
    "  a: {kind: rolling, shape: ball, radius: R, body: block, at: \"0.2, 0.1, 0\", on: plate,"
    " longitudinal: coulomb, lateral: coulomb, friction: mu, stick: true, unilateral: true}\n"
    "  b: {kind: rolling, shape: ball, radius: R, body: block, at: \"-0.2, 0.1, 0\", on: plate,"
    " longitudinal: coulomb, lateral: coulomb, friction: mu, stick: true, unilateral: true}\n"
    "  c: {kind: rolling, shape: ball, radius: R, body: block, at: \"0, -0.2, 0\", on: plate,"
    " longitudinal: coulomb, lateral: coulomb, friction: mu, stick: true, unilateral: true}\n"
    "roles: {tilt: {motion: W*t}}\n"
    "outputs: {along: block.x*cos(tilt) - block.z*sin(tilt)}\n"
    "initial: {block.x: s, block.y: 0, block.R21: 0}\n";

static void test_tilting(void **state)
{
    (void)state;
    const double mu = 0.4, W = 0.3, at = atan(mu) / W;
    Ran *r = ran(tilting, (How){.end = 1.4, .every = 0.01});
    const double *along = column(r->sheet, "along"), *t = column(r->sheet, "t");
    // Feet with little load slip before, held by the others; the last one lets it go.
    double slips = 0;
    for (size_t i = 0; i < r->count; i++)
        if (strstr(r->events[i].kind, "begins to slip")) slips = r->events[i].t;
    print_message("slips at %.10g, off by %.1e\n", at, slips - at);
    assert_close(slips, at, 3e-3); // not a margin: feet let go one after the other
    // not a margin: nor do they slip at once
    for (size_t i = 0; i < r->sheet->rows && t[i] < slips; i++) assert_close(along[i], -0.08, 1e-6);
    assert_true(last(r->sheet, "along") > -0.0795);
    forget(r);
}

// The same with one foot, whose block cannot turn over: at the very time.
static const char tilting_one[] =
    "trundle: 1\n"
    "parameters: {mu: 0.4, h: 0.2, W: 0.3, R: 0.05}\n"
    "bodies:\n"
    "  plate: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: tilt}, mass: 3}\n"
    "  along: {parent: plate, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}}\n"
    "  block: {parent: along, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: 2,"
    " com: \"0, 0, h\"}\n"
    "contacts:\n"
    "  foot: {kind: rolling, shape: ball, radius: R, body: block, at: \"0, 0, R\", on: plate,"
    " longitudinal: coulomb, lateral: coulomb, friction: mu, stick: true, unilateral: true,"
    " creep: 1e-6}\n"
    "roles: {tilt: {motion: W*t}}\n"
    "initial: {s: -mu*h}\n";

static void test_tilting_exactly(void **state)
{
    (void)state;
    const double at = atan(0.4) / 0.3;
    static const How ways[] = {{.end = 1.5, .every = 0.1},
                               {.end = 1.5, .every = 0.1, .dense = true},
                               {.end = 1.5, .every = 0.1, .method = "rk4", .step = 1e-3}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        Ran *r = ran(tilting_one, ways[i]);
        assert_int_equal(r->count, 1);
        check_event(r, 0, at, "'foot' begins to slip", 1e-10);
        assert_true(last(r->sheet, "s") > -0.075);
        forget(r);
    }
}

// ---- stick-slip ----------------------------------------------------------------------------

// It sticks until k x = mus m g, and slips while (x - mu m g / k) turns by 2 (pi - atan(a w / v0)),
// a = (mus - mu) m g / k, until it is as fast as the belt again.
static void test_stick_slip(void **state)
{
    (void)state;
    const double m = 1, k = 100, mus = 0.6, mu = 0.4, v0 = 0.2, w = sqrt(k / m);
    const double high = mus * m * g / k, middle = mu * m * g / k, a = high - middle;
    const double slips = 2 * (M_PI - atan(a * w / v0)) / w, sticks = 2 * a / v0;
    Ran *r = ran(belt, (How){.end = 3, .every = 0.001});
    double at = high / v0;
    size_t i = 0;
    for (int cycle = 0; cycle < 4; cycle++) {
        check_event(r, i++, at, "'foot' begins to slip", 1e-6);
        check_event(r, i++, at + slips, "'foot' holds", 1e-6);
        at += slips + sticks;
    }
    const double *x = column(r->sheet, "x"), *t = column(r->sheet, "t");
    double largest = 0, least = 1;
    for (size_t n = 0; n < r->sheet->rows; n++)
        if (t[n] > high / v0) largest = fmax(largest, x[n]), least = fmin(least, x[n]);
    const double swing = hypot(a, v0 / w);
    assert_close(largest, middle + swing, 1e-6); // rows are close enough to the turning points
    assert_close(least, middle - swing, 1e-6);
    print_message("stick-slip: period %.10g, off by %.1e\n", slips + sticks,
                  r->events[4].t - r->events[2].t - slips - sticks);
    assert_close(r->events[4].t - r->events[2].t, slips + sticks, 1e-6);
    forget(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_braking),    cmocka_unit_test(test_slope),
        cmocka_unit_test(test_tilting),    cmocka_unit_test(test_tilting_exactly),
        cmocka_unit_test(test_stick_slip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
