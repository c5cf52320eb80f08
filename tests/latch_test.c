// SPDX-License-Identifier: Apache-2.0
// Contacts that open and bounce, against closed forms: when, how fast, how far, and what it costs.
#include "latches.h"

// ---- bouncing ------------------------------------------------------------------------------

static const char ball[] =
    "trundle: 1\n"
    "parameters: {m: 2, h0: 1.5, e: 0.8, q: 0, z0: 0}\n"
    "bodies: {ball: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: m}}\n"
    "ground: {at: \"0, 0, z0\"}\n"
    "contacts: {foot: {kind: slide, body: ball, unilateral: true, open: true,"
    " restitution: e/(1 + q*speed)}}\n"
    "initial: {z: h0}\n";

static double constant_e(double speed) { return (void)speed, 0.8; }
static double falling_e(double speed) { return 0.95 / (1 + 0.1 * speed); }

// Heights at all rows, times, and losses over `impacts` impacts from h0 above the ground
static void check_bounces(const Ran *r, const char *height, double low, double h0, double m,
                          double (*e)(double), int impacts, double tolerance)
{
    const double *t = column(r->sheet, "t"), *z = column(r->sheet, height);
    double speed = sqrt(2 * g * h0), at = speed / g, up = 0, start = 0, from = h0;
    size_t row = 0;
    for (int i = 0; i < impacts; i++) {
        for (; row < r->sheet->rows && t[row] < at; row++) {
            const double s = t[row] - start;
            assert_close(z[row] - low, from + up * s - g / 2 * s * s, tolerance);
        }
        check_event(r, (size_t)i, at, "'foot' touches", tolerance);
        const double back = e(speed) * speed;
        assert_true(r->events[i].rebounded);
        assert_close(r->events[i].lost, m / 2 * (speed * speed - back * back), tolerance);
        start = at, from = 0, up = speed = back, at += 2 * back / g;
    }
    assert_true(row > (size_t)impacts); // there was something to compare
}

static void test_ball(void **state)
{
    (void)state;
    Ran *r = ran(ball, (How){.end = 4.4, .every = 0.05});
    check_bounces(r, "z", 0, 1.5, 2, constant_e, 10, 1e-9);
    forget(r);
    r = ran(ball, (How){.set = "z0=0.3 h0=1.8", .end = 4.4, .every = 0.05});
    check_bounces(r, "z", 0.3, 1.5, 2, constant_e, 10, 1e-9);
    forget(r);
    r = ran(ball, (How){.set = "e=0.95 q=0.1", .end = 6, .every = 0.05});
    check_bounces(r, "z", 0, 1.5, 2, falling_e, 10, 1e-9);
    forget(r);
}

// The last rebound is at t1 + 2 v / g (e + e^2 + ...); from there on it lies still, under its
// weight.
static void test_ball_stays_down(void **state)
{
    (void)state;
    static const How ways[] = {
        {.end = 6, .every = 0.25},
        {.end = 6, .every = 0.25, .dense = true},
        {.end = 6, .every = 0.25, .method = "rk4", .step = 0.01},
        {.end = 6, .every = 0.25, .method = "pece", .step = 0.01},
        {.end = 6, .every = 0.25, .method = "lie", .step = 0.01},
    };
    const double v = sqrt(2 * g * 1.5), over = v / g + 2 * v / g * 0.8 / (1 - 0.8);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        Ran *r = ran(ball, ways[k]);
        const Event *end = &r->events[r->count - 1];
        assert_false(end->rebounded);
        assert_true(r->count > 40 && r->events[r->count - 2].rebounded);
        assert_close(end->t, over, 2e-5); // the rebounds that are left out
        const double *z = column(r->sheet, "z"), *N = column(r->sheet, "lambda.foot.normal");
        for (size_t i = row_at(r, end->t + 0.1); i < r->sheet->rows; i++) {
            assert_close(z[i], 0, 1e-14);
            assert_close(N[i], 2 * g, 1e-12);
        }
        double lost = 0;
        for (size_t i = 0; i < r->count; i++) lost += r->events[i].lost;
        assert_close(lost, 2 * g * 1.5, 1e-9);
        forget(r);
    }
}

static void test_no_restitution(void **state)
{
    (void)state;
    Ran *r = ran(ball, (How){.set = "e=0", .end = 1, .every = 0.05});
    assert_int_equal(r->count, 1);
    check_event(r, 0, sqrt(3 / g), "'foot' touches", 1e-10);
    assert_false(r->events[0].rebounded);
    assert_close(r->events[0].lost, 2 * g * 1.5, 1e-10);
    forget(r);
    // elastic: nothing is lost, and it never ends
    r = ran(ball, (How){.set = "e=1", .end = 10, .every = 0.05});
    for (size_t i = 0; i < r->count; i++) {
        check_event(r, i, (2 * (double)i + 1) * sqrt(3 / g), "'foot' touches", 1e-9);
        assert_below(fabs(r->events[i].lost), 1e-9);
    }
    assert_int_equal(r->count, 9);
    forget(r);
    // from the ground: it does not even begin to bounce
    r = ran(ball, (How){.set = "h0=0", .end = 1, .every = 0.05});
    assert_int_equal(r->count, 1);
    assert_close(last(r->sheet, "z"), 0, 1e-14);
    forget(r);
}

// ---- wheels that land ----------------------------------------------------------------------

static const char wheel[] =
    "trundle: 1\n"
    "parameters: {m: 3, R: 0.4, Ia: 0.3, Ir: 0.16, e: 0.7, h0: 0.8, v0: 2, w0: -3}\n"
    "bodies: {wheel: {joint: {type: free}, mass: m,"
    " inertia: {axial: Ia, radial: Ir, axis: \"0, 1, 0\"}}}\n"
    "contacts: {foot: {kind: rolling, body: wheel, axis: \"0, 1, 0\", radius: R, tube: 0.05,"
    " unilateral: true, open: true, restitution: e}}\n"
    "initial: {wheel.z: R + h0, wheel.vx: v0, wheel.wy: w0}\n";

static double wheel_e(double speed) { return (void)speed, 0.7; }

// The first impact makes it roll: m (v' - v) = P, I (w' - w) = -R P, v' = R w'.
static void test_wheel(void **state)
{
    (void)state;
    const double m = 3, R = 0.4, I = 0.3, v = 2, w = -3;
    Ran *r = ran(wheel, (How){.end = 2.9, .every = 0.05});
    const double after = (m * v + I / R * w) / (m + I / (R * R));
    const double brought =
        m / 2 * (v * v - after * after) + I / 2 * (w * w - after * after / (R * R));
    assert_true(brought > 1);
    r->events[0].lost -= brought; // the rest is that of the bounce
    check_bounces(r, "wheel.z", R, 0.8, m, wheel_e, 10, 1e-9);
    const double t1 = sqrt(2 * 0.8 / g), *t = column(r->sheet, "t"),
                 *x = column(r->sheet, "wheel.x"), *spin = column(r->sheet, "wheel.wy");
    for (size_t i = 0; i < r->sheet->rows; i++) {
        assert_close(x[i], t[i] < t1 ? v * t[i] : v * t1 + after * (t[i] - t1), 1e-9);
        assert_close(spin[i], t[i] < t1 ? w : after / R, 1e-9);
    }
    forget(r);
}

static const char sphere[] =
    "trundle: 1\n"
    "parameters: {m: 3, R: 0.4, I: 0.3, e: 0.7, h0: 0.8, vx: 3, vy: -1, wx: 2, wy: -9, mu: 0.16}\n"
    "bodies: {ball: {joint: {type: free}, mass: m, inertia: {xx: I, yy: I, zz: I}}}\n"
    "contacts: {foot: {kind: rolling, shape: ball, body: ball, radius: R, longitudinal: coulomb,"
    " lateral: coulomb, friction: mu, stick: true, unilateral: true, open: true,"
    " restitution: e}}\n"
    "outputs: {ux: d(ball.x), uy: d(ball.y),"
    " ox: ball.R11*ball.wx + ball.R12*ball.wy + ball.R13*ball.wz,"
    " oy: ball.R21*ball.wx + ball.R22*ball.wy + ball.R23*ball.wz}\n"
    "initial: {ball.z: R + h0, ball.vx: vx, ball.vy: vy, ball.wx: wx, ball.wy: wy}\n";

typedef struct Rolling {
    double vx, vy, wx, wy;
} Rolling;

// One impact with the normal impulse P: it sticks if mu P is enough, else mu P acts against the
// slip; returns whether it stuck.
static bool land(Rolling *b, double P, double mu)
{
    const double m = 3, R = 0.4, I = 0.3, inert = 1 / (1 / m + R * R / I);
    const double sx = b->vx - R * b->wy, sy = b->vy + R * b->wx, s = hypot(sx, sy);
    const bool sticks = inert * s <= mu * P;
    const double J = sticks ? inert : mu * P / s; // impulse for each unit of slip
    b->vx -= J * sx / m, b->vy -= J * sy / m;
    b->wy += R * J * sx / I, b->wx -= R * J * sy / I;
    return sticks;
}

static double energy_of(Rolling b)
{
    return 1.5 * (b.vx * b.vx + b.vy * b.vy) + 0.15 * (b.wx * b.wx + b.wy * b.wy);
}

static void test_sliding_impacts(void **state)
{
    (void)state;
    Ran *r = ran(sphere, (How){.end = 2.9, .every = 0.01});
    double speed = sqrt(2 * g * 0.8), at = speed / g;
    Rolling b = {3, -1, 2, -9};
    int slid = 0, stuck = 0;
    for (int i = 0; i < 10; i++) {
        const double before = energy_of(b), back = 0.7 * speed;
        *(land(&b, 3 * (speed + back), 0.16) ? &stuck : &slid) += 1;
        check_event(r, (size_t)i, at, "'foot' touches", 1e-9);
        assert_close(r->events[i].lost, before - energy_of(b) + 1.5 * (speed * speed - back * back),
                     1e-9);
        const size_t row = row_at(r, at + 1e-6);
        assert_close(column(r->sheet, "ux")[row], b.vx, 1e-9);
        assert_close(column(r->sheet, "uy")[row], b.vy, 1e-9);
        assert_close(column(r->sheet, "ox")[row], b.wx, 1e-9);
        assert_close(column(r->sheet, "oy")[row], b.wy, 1e-9);
        speed = back, at += 2 * back / g;
    }
    assert_true(slid >= 2 && stuck >= 2); // both were tried
    forget(r);
}

// ---- several at once -----------------------------------------------------------------------

static const char table[] =
    "trundle: 1\n"
    "parameters: {e: 0, h0: 0.5, tilt: 0}\n"
    "bodies: {table: {joint: {type: free}, mass: 4, com: \"0.1, 0.05, 0.6\","
    " inertia: {xx: 0.5, yy: 0.6, zz: 0.7}}}\n"
    "contacts:\n"
    "  a: {kind: slide, body: table, at: \"0.5, 0.4, 0\", unilateral: true, open: true,"
    " restitution: e}\n"
    "  b: {kind: slide, body: table, at: \"-0.5, 0.4, 0\", unilateral: true, open: true,"
    " restitution: e}\n"
    "  c: {kind: slide, body: table, at: \"-0.5, -0.4, 0\", unilateral: true, open: true,"
    " restitution: e}\n"
    "  d: {kind: slide, body: table, at: \"0.5, -0.4, 0\", unilateral: true, open: true,"
    " restitution: e}\n"
    "outputs: {level: table.R33}\n"
    "initial: {table.z: h0}\n";

// Four feet land together: no foot is first, and it stays level.
static void test_table(void **state)
{
    (void)state;
    Ran *r = ran(table, (How){.end = 1, .every = 0.05});
    assert_int_equal(r->count, 1);
    assert_close(r->events[0].t, sqrt(1 / g), 1e-10);
    assert_close(r->events[0].lost, 4 * g * 0.5, 1e-9);
    assert_close(last(r->sheet, "level"), 1, 1e-12);
    double load = 0;
    static const char *const feet[] = {"lambda.a.normal", "lambda.b.normal", "lambda.c.normal",
                                       "lambda.d.normal"};
    for (int i = 0; i < 4; i++) load += last(r->sheet, feet[i]);
    assert_close(load, 4 * g, 1e-10);
    forget(r);
    r = ran(table, (How){.set = "e=0.5", .end = 0.9, .every = 0.05});
    const double v = sqrt(2 * g * 0.5);
    assert_close(r->events[0].t, v / g, 1e-10);
    assert_close(r->events[0].lost, 2 * v * v * 0.75, 1e-9);
    assert_close(r->events[1].t, 2 * v / g, 1e-9);
    assert_close(r->events[1].lost, 2 * v * v * 0.75 / 4, 1e-9);
    assert_close(last(r->sheet, "level"), 1, 1e-12);
    forget(r);
}

// A block of the half width b whose middle is H high rocks on two round feet. When one lands the
// other lets go, for the momentum about the one that lands is kept:
//   w' / w = (I + m (H^2 - b^2)) / (I + m (H^2 + b^2))
static const char block[] =
    "trundle: 1\n"
    "parameters: {m: 5, I: 0.5, b: 0.2, H: 0.6, rho: 0.02, lean: 0.15}\n"
    "bodies:\n"
    "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
    "  lift: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}}\n"
    "  block: {parent: lift, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}, mass: m,"
    " inertia: {yy: I}}\n"
    "contacts:\n"
    "  left: {kind: rolling, shape: ball, radius: rho, body: block, at: \"-b, 0, rho - H\","
    " unilateral: true}\n"
    "  right: {kind: rolling, shape: ball, radius: rho, body: block, at: \"b, 0, rho - H\","
    " unilateral: true, open: true}\n"
    "initial: {x: 0, a: -lean}\n";

static void test_rocking_block(void **state)
{
    (void)state;
    const double m = 5, I = 0.5, b = 0.2, H = 0.6, rho = 0.02, lean = 0.15;
    const double ratio = (I + m * (H * H - b * b)) / (I + m * (H * H + b * b));
    const double fall = rho + (H - rho) * cos(lean) + b * sin(lean) - H;
    double energy = m * g * fall;
    Ran *r = ran(block, (How){.end = 2, .every = 0.01});
    assert_true(r->count >= 4);
    for (size_t i = 0; i < 4; i++) {
        check_event(r, i, r->events[i].t, i % 2 ? "'left' touches" : "'right' touches", 1);
        assert_false(r->events[i].rebounded);
        assert_close(r->events[i].lost, energy * (1 - ratio * ratio), 1e-9);
        energy *= ratio * ratio;
        // the one that lands bears it all, the other nothing
        const size_t row = row_at(r, r->events[i].t + 1e-6);
        assert_true(column(r->sheet, i % 2 ? "contact.left.Fz" : "contact.right.Fz")[row] > 0);
        assert_true(column(r->sheet, i % 2 ? "contact.right.Fz" : "contact.left.Fz")[row] == 0);
    }
    forget(r);
}

// ---- plates --------------------------------------------------------------------------------

static const char cart_on_plate[] =
    "trundle: 1\n"
    "parameters: {A: 0.03, W: 25, R: 0.1, v0: 0.5}\n"
    "bodies:\n"
    "  plate: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: h}, mass: 1}\n"
    "  cart: {joint: {type: free}, mass: 6, com: \"0.05, 0, 0.1\","
    " inertia: {xx: 0.2, yy: 0.4, zz: 0.5}}\n"
    "  fl: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0.3, 0.2, 0\"},"
    " mass: 0.5, inertia: {axial: 0.003, radial: 0.002}}\n"
    "  fr: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0.3, -0.2, 0\"},"
    " mass: 0.5, inertia: {axial: 0.003, radial: 0.002}}\n"
    "  rl: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"-0.3, 0.2, 0\"},"
    " mass: 0.5, inertia: {axial: 0.003, radial: 0.002}}\n"
    "  rr: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", at: \"-0.3, -0.2, 0\"},"
    " mass: 0.5, inertia: {axial: 0.003, radial: 0.002}}\n"
    "contacts:\n"
    "  fl: {kind: rolling, body: fl, radius: R, on: plate, unilateral: true}\n"
    "  fr: {kind: rolling, body: fr, radius: R, on: plate, unilateral: true}\n"
    "  rl: {kind: rolling, body: rl, radius: R, on: plate, unilateral: true}\n"
    "  rr: {kind: rolling, body: rr, radius: R, on: plate, unilateral: true}\n"
    "roles: {h: {motion: A*sin(W*t)}}\n"
    "initial: {cart.vx: v0, cart.x: 0, cart.y: 0, cart.R21: 0}\n";

static const char block_on_plate[] =
    "trundle: 1\n"
    "parameters: {A: 0.03, W: 25, R: 0.1, e: 0}\n"
    "bodies:\n"
    "  plate: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: h}, mass: 1}\n"
    "  block: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: 6}\n"
    "contacts: {foot: {kind: slide, body: block, on: plate, unilateral: true, restitution: e}}\n"
    "roles: {h: {motion: A*sin(W*t)}}\n";

// Where the parabola from t1 on meets A sin(W t) again
static double meets(double A, double W, double t1)
{
    const double z = A * sin(W * t1), v = A * W * cos(W * t1);
    double low = t1 + 0.02 / W, high;
#define ABOVE(t) (z + v * ((t)-t1) - g / 2 * ((t)-t1) * ((t)-t1) - A * sin(W * (t)))
    assert_true(ABOVE(low) > 0);
    for (high = low; ABOVE(high) > 0; high += 1e-4) low = high;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        *(ABOVE(middle) > 0 ? &low : &high) = middle;
    }
#undef ABOVE
    return low;
}

// Lifts off when A W^2 sin(W t) = g, flies freely, and lands where it meets the plate.
static void test_plate(void **state)
{
    (void)state;
    const double A = 0.03, W = 25, t1 = asin(g / (A * W * W)) / W, t2 = meets(A, W, t1);
    for (int several = 0; several < 2; several++) {
        Ran *r = ran(several ? cart_on_plate : block_on_plate, (How){.end = 0.3, .every = 0.002});
        const double *t = column(r->sheet, "t"), *z = column(r->sheet, several ? "cart.z" : "z");
        size_t i = 0, flew = 0;
        while (i < r->count && strstr(r->events[i].kind, "lifts off"))
            assert_close(r->events[i++].t, t1, 1e-8);
        assert_true(i >= 1 && i <= 4 && i < r->count);
        while (i < r->count && r->events[i].t < t2 + 0.01) {
            assert_non_null(strstr(r->events[i].kind, "touches"));
            assert_close(r->events[i++].t, t2, 1e-8);
        }
        // what is dissipated is that of the relative velocity, whatever the plate does
        const double mass = several ? 8 : 6,
                     u = A * W * (cos(W * t1) - cos(W * t2)) - g * (t2 - t1);
        double lost = 0;
        for (size_t k = 0; k < i; k++) lost += r->events[k].lost;
        assert_close(lost, mass / 2 * u * u, 1e-9);
        const double v = A * W * cos(W * t1), z1 = A * sin(W * t1) + (several ? 0.1 : 0);
        const double *N = column(r->sheet, several ? "contact.rr.Fz" : "contact.foot.Fz");
        for (size_t k = 0; k < r->sheet->rows && t[k] < t2; k++) {
            const double s = t[k] - t1;
            if (s < 0) {
                assert_close(z[k], A * sin(W * t[k]) + (several ? 0.1 : 0), 1e-12);
                assert_true(N[k] > 0);
                continue;
            }
            assert_close(z[k], z1 + v * s - g / 2 * s * s, 1e-9);
            assert_true(N[k] == 0);
            flew++;
        }
        assert_true(flew > 20);
        if (several) assert_close(last(r->sheet, "cart.x"), 0.5 * 0.3, 1e-9);
        print_message("lifts off at %.12g (%.1e), lands at %.12g\n", t1, r->events[0].t - t1, t2);
        forget(r);
    }
}

// A plate that shakes much faster than rows are written, and takes no work to: the first touch is
// the first, also in between.
static void test_fast_plate(void **state)
{
    (void)state;
    static const char fast[] =
        "trundle: 1\n"
        "parameters: {A: 0.01, W: 400, h0: 0.05}\n"
        "bodies:\n"
        "  plate: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: h}}\n"
        "  block: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: 2}\n"
        "contacts: {foot: {kind: slide, body: block, on: plate, unilateral: true, open: true,"
        " restitution: 0.3}}\n"
        "roles: {h: {motion: A*sin(W*t)}}\n"
        "initial: {z: h0}\n";
    double t = 0; // by short steps, and then by halves
    while (0.05 - g / 2 * t * t > 0.01 * sin(400 * t)) t += 1e-6;
    double low = t - 1e-6;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + t) / 2;
        *(0.05 - g / 2 * middle * middle > 0.01 * sin(400 * middle) ? &low : &t) = middle;
    }
    static const How ways[] = {{.end = 0.4, .every = 0.001},
                               {.end = 0.4, .every = 0.01},
                               {.end = 0.4, .every = 0.1},
                               {.end = 0.4, .every = 0.4},
                               {.end = 0.4, .every = 0.4, .dense = true}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        Ran *r = ran(fast, ways[k]);
        check_event(r, 0, t, "'foot' touches", 1e-9);
        forget(r);
    }
}

// One that is gone from the start on: the plate falls faster than free.
static void test_gone_at_once(void **state)
{
    (void)state;
    static const char falling[] =
        "trundle: 1\n"
        "bodies:\n"
        "  plate: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: h}}\n"
        "  block: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: 6}\n"
        "contacts: {foot: {kind: slide, body: block, on: plate, unilateral: true}}\n"
        "roles: {h: {motion: -7*t^2}}\n";
    Ran *r = ran(falling, (How){.end = 0.5, .every = 0.1});
    assert_int_equal(r->count, 0);
    assert_close(last(r->sheet, "z"), -g / 8, 1e-12);
    assert_true(last(r->sheet, "contact.foot.Fz") == 0);
    assert_true(column(r->sheet, "contact.foot.Fz")[0] == 0);
    forget(r);
}

// ---- wheelies ------------------------------------------------------------------------------

static const char wheelie[] =
    "trundle: 1\n"
    "parameters: {m: 20, mw: 2, J: 0.05, R: 0.2, xc: 0.4, h: 0.35, w: 0.9, k: 40}\n"
    "bodies:\n"
    "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
    "  lift: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}}\n"
    "  frame: {parent: lift, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: pitch},"
    " mass: m, com: \"xc, 0, h\", inertia: {yy: 1.5}}\n"
    "  rear: {parent: frame, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: mw,"
    " inertia: {axial: J, radial: J}}\n"
    "  front: {parent: frame, joint: {type: revolute, axis: \"0, 1, 0\", at: \"w, 0, 0\"},"
    " mass: mw, inertia: {axial: J, radial: J}}\n"
    "contacts:\n"
    "  back: {kind: rolling, body: rear, radius: R}\n"
    "  fore: {kind: rolling, body: front, radius: R, %s}\n"
    "roles: {rear: {torque: k*t}}\n"
    "initial: {x: 0}\n";

// About the rear contact, with N of the front wheel gone:
//   a ((h + R) m + 2 R mw + 2 J / R) = g (xc m + w mw),   a (m + 2 mw + 2 J / R^2) R = k t
static double wheelie_time(void)
{
    const double m = 20, mw = 2, J = 0.05, R = 0.2, xc = 0.4, h = 0.35, w = 0.9, k = 40;
    const double a = g * (xc * m + w * mw) / ((h + R) * m + 2 * R * mw + 2 * J / R);
    return a * (m + 2 * mw + 2 * J / (R * R)) * R / k;
}

static void test_wheelie(void **state)
{
    (void)state;
    char text[3000];
    const double at = wheelie_time();
    snprintf(text, sizeof text, wheelie, "unilateral: true");
    assert_true(at > 0.3 && at < 1.3);
    Ran *r = ran(text, (How){.end = 1.5, .every = 0.01});
    assert_int_equal(r->count, 1);
    check_event(r, 0, at, "'fore' lifts off", 1e-8);
    print_message("wheelie at %.12g, off by %.1e\n", at, r->events[0].t - at);
    assert_true(last(r->sheet, "pitch") < -0.05); // nose up
    assert_true(last(r->sheet, "contact.fore.z") > 0.05);
    assert_true(last(r->sheet, "contact.fore.Fz") == 0);
    forget(r);
}

// ---- what happens when nothing is said -----------------------------------------------------

static void test_default_ends(void **state)
{
    (void)state;
    char text[3000];
    const double at = wheelie_time();
    snprintf(text, sizeof text, wheelie, "");
    const char *comma = strstr(text, ", }");
    assert_non_null(comma);
    memmove((char *)(uintptr_t)comma, comma + 2, strlen(comma + 2) + 1);
    for (int dense = 0; dense < 2; dense++) {
        Ran *r = attempt(text, (How){.end = 3, .every = 0.1, .dense = dense});
        const char *const words = "'fore' lifts off (see unilateral) at t = ";
        assert_int_equal(r->err.status, TR_FAILED);
        assert_true(strncmp(r->err.text, words, strlen(words)) == 0);
        assert_close(strtod(r->err.text + strlen(words), NULL), at, 1e-8);
        assert_int_equal(r->sheet->rows, (size_t)floor(at / 0.1) + 1); // what was reached is there
        assert_true(last(r->sheet, "contact.fore.Fz") > 0);
        assert_false(r->summary.interrupted);
        assert_non_null(strstr(r->certificate, words));
        forget(r);
    }
}

static void test_may_pull(void **state)
{
    (void)state;
    char text[3000];
    snprintf(text, sizeof text, wheelie, "unilateral: false");
    Ran *r = ran(text, (How){.end = 1.5, .every = 0.1});
    assert_int_equal(r->summary.warnings, 1);
    const char *const words =
        "the normal force of 'fore' turns negative: it would lift off at t = ";
    assert_true(strncmp(r->summary.warning, words, strlen(words)) == 0);
    assert_close(strtod(r->summary.warning + strlen(words), NULL), wheelie_time(), 1e-8);
    assert_true(last(r->sheet, "contact.fore.Fz") < 0);
    forget(r);
}

static void check_refused(const char *contact, const char *words)
{
    char text[1000];
    tr_error err = {0};
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies: {ball: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}},"
             " sleigh: {joint: {type: planar}, mass: 1, inertia: {zz: 1}}}\n"
             "contacts:\n  foot: {%s}\n",
             contact);
    const How how = {0};
    tr_system *system = system_how(text, &how, &err);
    if (system) fail_msg("not refused: %s", contact);
    assert_int_equal(err.status, TR_INVALID);
    if (!strstr(err.text, words)) fail_msg("%s: %s", contact, err.text);
    assert_int_equal(err.line, 4);
}

static void test_wrong_words(void **state)
{
    (void)state;
    static const char opens[] = "only a contact with unilateral: true opens and closes";
    check_refused("kind: slide, body: ball, open: true", opens);
    check_refused("kind: slide, body: ball, restitution: 0.5", opens);
    check_refused("kind: slide, body: ball, unilateral: false, restitution: 0.5", opens);
    check_refused("kind: slide, body: ball, stick: true", "has no use for 'stick'");
    check_refused("kind: rolling, shape: ball, radius: 1, body: ball, stick: true",
                  "no law of 'foot' has a use for 'stick'");
    check_refused("kind: rolling, shape: ball, radius: 1, body: ball, longitudinal: viscous,"
                  " viscosity: 1, stick: true",
                  "no law of 'foot' has a use for 'stick'");
    check_refused("kind: rolling, shape: ball, radius: 1, body: ball, longitudinal: coulomb,"
                  " friction: 0.3, stiction: 0.4",
                  "only a contact with stick: true has stiction");
    check_refused("kind: rolling, shape: ball, radius: 1, body: ball, longitudinal: coulomb,"
                  " friction: 0.3, stiction: 0.2, stick: true",
                  "stiction is at least friction");
    check_refused("kind: slide, body: ball, unilateral: true, restitution: 1.2",
                  "a restitution is between 0 and 1");
    check_refused("kind: slide, body: ball, unilateral: true, restitution: -0.1",
                  "a restitution is between 0 and 1");
    check_refused("kind: skate, body: ball, unilateral: true", "has no use for 'unilateral'");
    check_refused("kind: rolling, radius: 1, body: sleigh, axis: \"0, 1, 0\", unilateral: true",
                  "'foot' has no normal force: it cannot open");
}

// A hoop with a weight inside that may not slip: where it would pull, letting go sends its lowest
// point down at once. Then a run must not go on for ever.
static void test_without_end(void **state)
{
    (void)state;
    static const char hoop[] =
        "trundle: 1\n"
        "bodies:\n"
        "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
        "  axle: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}}\n"
        "  hoop: {parent: axle, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: turn}, "
        "mass: 5,"
        " com: \"0, 0, -0.192\", inertia: {yy: 0.13608}}\n"
        "contacts: {rim: {kind: rolling, body: hoop, radius: 0.3, unilateral: true}}\n"
        "initial: {x: 0, turn: 0, d(turn): 24}\n";
    Ran *r = attempt(hoop, (How){.end = 1, .every = 0.01});
    assert_int_equal(r->err.status, TR_FAILED);
    assert_non_null(strstr(r->err.text, "contacts open and close without end at t = 0.083"));
    assert_true(r->count > 20 && r->count < 200);
    forget(r);
}

// What only the run can know
static void test_wrong_on_the_way(void **state)
{
    (void)state;
    Ran *r = attempt(ball, (How){.set = "e=1 q=-0.1", .end = 2, .every = 0.1});
    assert_int_equal(r->err.status, TR_FAILED);
    assert_non_null(strstr(r->err.text, "the restitution of 'foot' is 2.18"));
    assert_int_equal(r->sheet->rows, 6); // up to there
    forget(r);
    r = attempt(ball, (How){.set = "h0=-0.1", .end = 2, .every = 0.1});
    assert_int_equal(r->err.status, TR_INVALID);
    assert_string_equal(r->err.text, "'foot' starts open, but 0.1 m inside what it touches");
    forget(r);
}

// ---- how runs go on ------------------------------------------------------------------------

// All methods switch at the same times, within what they can.
static void test_methods(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double step, tolerance, energy;
    } methods[] = {{"erk", 0, 1e-9, 1e-9},     {"bdf", 1, 1e-9, 1e-9},
                   {"rk4", 1e-3, 1e-9, 1e-6},  {"lie", 1e-3, 1e-9, 1e-6},
                   {"pece", 1e-3, 1e-7, 1e-6}, {"euler", 1e-5, 1e-3, 1e-2}};
    const double A = 0.03, W = 25, t1 = asin(g / (A * W * W)) / W, t2 = meets(A, W, t1);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        for (int dense = 0; dense < (k ? 1 : 2); dense++) {
            Ran *r = ran(block_on_plate, (How){.end = 0.3,
                                               .every = 0.01,
                                               .method = methods[k].name,
                                               .step = k ? methods[k].step : 1,
                                               .dense = dense,
                                               .energy = methods[k].energy});
            check_event(r, 0, t1, "'foot' lifts off", methods[k].tolerance);
            check_event(r, 1, t2, "'foot' touches", methods[k].tolerance);
            forget(r);
        }
}

static bool until(void *owner, double t, double end)
{
    (void)end;
    return t < *(const double *)owner;
}

static bool first_only(void *owner, double t, double end)
{
    (void)end;
    int *calls = owner;
    return (t < 0.6) || ++*calls != 1; // once, and then it would let it go on
}

static void test_interrupted(void **state)
{
    (void)state;
    double stop = 1.3; // between two impacts
    Ran *r = attempt(ball, (How){.end = 6, .every = 0.05, .progress = until, .owner = &stop});
    assert_int_equal(r->err.status, 0);
    assert_true(r->summary.interrupted);
    assert_true(r->summary.t < stop && r->summary.t > stop - 0.1);
    assert_int_equal(r->count, 1);
    assert_int_equal(r->sheet->rows, r->summary.rows);
    forget(r);
    int calls = 0;
    // in the very step that an impact ends
    r = attempt(ball, (How){.set = "h0=9.81*0.59^2/2",
                            .end = 6,
                            .every = 0.1,
                            .method = "rk4",
                            .step = 0.1,
                            .progress = first_only,
                            .owner = &calls});
    assert_int_equal(calls, 1);
    assert_true(r->summary.interrupted);
    forget(r);
}

// The same system twice: the same bits, though the first run left contacts otherwise.
static void test_again(void **state)
{
    (void)state;
    static const char *const texts[] = {ball, wheel, sphere, block, belt, cart_on_plate};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        tr_error err = {0};
        const How how = {.end = 0.7, .every = 0.01};
        tr_system *system = system_how(texts[k], &how, &err);
        char *both[2];
        size_t length[2] = {0};
        const char *path = in_folder("again.csv");
        for (int i = 0; i < 2; i++) {
            const tr_simulate_options o = options_of(&how, path);
            tr_summary s;
            if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
            assert_true(s.switches > 0);
            both[i] = tr_file_read(path, 1 << 24, &length[i], &err);
        }
        assert_int_equal(length[0], length[1]);
        assert_memory_equal(both[0], both[1], length[0]);
        free(both[0]), free(both[1]);
        tr_system_free(system);
    }
}

// ---- a cart on a shaker --------------------------------------------------------------------

static const double amplitude = 0.02, cart_mass = 3 + 4 * 0.2;

// The plate never falls faster than free: the wheels stay on it, and bear m (g + z'').
static void test_gentle_shaker(void **state)
{
    (void)state;
    tr_summary s = {0};
    const double rate = 20;
    Sheet *run = run_with(system_called("shaker", "gentle"), 0, 0, &s);
    assert_int_equal(s.switches, 0);
    assert_below(largest(run, "clearance"), 1e-12);
    assert_below(largest(run, "pitch"), 1e-12);
    for (size_t i = 0; i < run->rows; i++) {
        const double lift = -amplitude * rate * rate * sin(rate * at(run, i, "t"));
        assert_close(at(run, i, "load"), cart_mass * (g + lift), 1e-10);
    }
    tr_sheet_free(run);
}

// It leaves the plate where A w^2 sin wt = g, and flies until it meets it again.
static void test_shaker(void **state)
{
    (void)state;
    tr_summary s = {0};
    const double rate = 30, left = asin(g / (amplitude * rate * rate)) / rate;
    const double z0 = amplitude * sin(rate * left), v0 = amplitude * rate * cos(rate * left);
    double flying = left + 1e-2, landed = left + 0.2;
    while (landed - flying > 1e-14) {
        const double t = (flying + landed) / 2, high = z0 + v0 * (t - left) -
                                                       g / 2 * (t - left) * (t - left) -
                                                       amplitude * sin(rate * t);
        if (t == flying || t == landed) break;
        if (high > 0)
            flying = t;
        else
            landed = t;
    }
    tr_sheet_free(run_with(system_called("shaker", "hop"), 0.5, 0.005, &s));
    assert_true(s.switches > 2);
    assert_below(s.energy_error, 1e-9);
    char *json = certificate();
    const char *events = strstr(json, "\"events\": "), *lands = strstr(json, "touches\"");
    assert_true(events && lands && events < lands);
    assert_close(number_behind(events, "\"t\": "), left, 1e-10);
    while (strncmp(lands, "\"t\": ", 5) != 0) lands--;
    assert_close(number_behind(lands, "\"t\": "), landed, 1e-10);
    free(json);
}

// Two hundred impacts of a free ball take no time to speak of.
static void test_many_impacts(void **state)
{
    (void)state;
    Ran *r = ran(sphere, (How){.set = "e=1 h0=0.01 mu=9", .end = 18.1, .every = 0.1});
    print_message("%zu impacts in %.2f s\n", r->count, r->summary.seconds);
    assert_int_equal(r->count, 200);
    assert_true(r->summary.seconds < 20); // also on a busy machine under the sanitizers
    forget(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ball),
        cmocka_unit_test(test_ball_stays_down),
        cmocka_unit_test(test_no_restitution),
        cmocka_unit_test(test_wheel),
        cmocka_unit_test(test_sliding_impacts),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_rocking_block),
        cmocka_unit_test(test_plate),
        cmocka_unit_test(test_fast_plate),
        cmocka_unit_test(test_gone_at_once),
        cmocka_unit_test(test_wheelie),
        cmocka_unit_test(test_default_ends),
        cmocka_unit_test(test_may_pull),
        cmocka_unit_test(test_wrong_words),
        cmocka_unit_test(test_wrong_on_the_way),
        cmocka_unit_test(test_without_end),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_gentle_shaker),
        cmocka_unit_test(test_shaker),
        cmocka_unit_test(test_many_impacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
