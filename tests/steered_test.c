// SPDX-License-Identifier: Apache-2.0
// Skates and wheels whose direction or axle is a formula of t and inputs: against the same with
// massless bodies that are steered, against equations by hand, and at jumps; and those that are
// refused.
#include "rolling.h"

// ---- skates --------------------------------------------------------------------------------

// Kelly's cart: the angle of its front blade is gamma = cos(2 pi t / T), in halves of a radian.
#define CART                                          \
    "trundle: 1\n"                                    \
    "gravity: 0, 0, 0\n"                              \
    "parameters: {T: 4}\n"                            \
    "functions: {gamma(s): 0.5*cos(2*pi*s/T)}\n"      \
    "forces: {f: {body: cart, force: \"1, 0, 0\"}}\n" \
    "initial: {cart.vx: 1}\n"                         \
    "outputs: {curvature: cart.curvature}\n"          \
    "bodies:\n"                                       \
    "  cart: {joint: {type: planar}, mass: 1.3, inertia: {xx: 1, yy: 1, zz: 0.7}}\n"
#define REAR "  rear: {kind: skate, body: cart, at: \"-0.5, 0, 0\"}\n"

static const char by_formula[] =
    CART "contacts:\n" REAR
         "  front: {kind: skate, body: cart, at: \"0.5, 0, 0\", direction: \"-sin(gamma(t)), "
         "cos(gamma(t)), 0\"}\n";

static const char of_other_length[] =
    CART "contacts:\n" REAR
         "  front: {kind: skate, body: cart, at: \"0.5, 0, 0\", direction: \"-tan(gamma(t)), 1, "
         "0\"}\n";

static const char by_body[] =
    CART "  fork: {parent: cart, joint: {type: revolute, axis: \"0, 0, 1\", at: \"0.5, 0, 0\", "
         "coordinate: steer}}\n"
         "roles: {steer: {motion: gamma(t)}}\n"
         "contacts:\n" REAR "  front: {kind: skate, body: fork}\n";

static void check_same(const Sheet *a, const Sheet *b, const char *const *names, double most)
{
    for (; *names; names++) {
        const double off = difference(a, *names, b, *names);
        if (!(off < most)) fail_msg("%s is %.1e off", *names, off);
    }
}

static const char *const cart_columns[] = {"cart.x",
                                           "cart.y",
                                           "cart.theta",
                                           "cart.vx",
                                           "cart.vy",
                                           "cart.wz",
                                           "lambda.rear.lateral",
                                           "lambda.front.lateral",
                                           "energy.work",
                                           "curvature",
                                           NULL};

static void test_cart_by_bodies(void **state)
{
    (void)state;
    Sheet *steered = run_to(system_from(by_body), 6, 0.05),
          *turned = run_to(system_from(by_formula), 6, 0.05),
          *longer = run_to(system_from(of_other_length), 6, 0.05);
    check_same(turned, steered, cart_columns, 1e-9);
    check_same(longer, steered, cart_columns, 1e-9);
    tr_sheet_free(steered);
    tr_sheet_free(turned);
    tr_sheet_free(longer);
}

// With the force F along the world's x, u = vx and k = tan gamma: wz = k u, vy = k u / 2, and
//   (m + (m/4 + I) k^2) u' = F (cos theta - k/2 sin theta) - (m/4 + I) k k' u
static void cart_rates(double t, const double y[4], double rate[4])
{
    const double m = 1.3, I = 0.7, w = acos(-1) / 2, gamma = 0.5 * cos(w * t);
    const double k = tan(gamma), dk = -0.5 * w * sin(w * t) * (1 + k * k);
    const double theta = y[2], u = y[3], J = m / 4 + I;
    rate[0] = u * (cos(theta) - k / 2 * sin(theta));
    rate[1] = u * (sin(theta) + k / 2 * cos(theta));
    rate[2] = k * u;
    rate[3] = (cos(theta) - k / 2 * sin(theta) - J * k * dk * u) / (m + J * k * k);
}

static void rk4(double t, double h, double y[4])
{
    double k[4][4], x[4];
    static const double part[] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 4; i++) x[i] = y[i] + (s ? h * part[s] * k[s - 1][i] : 0);
        cart_rates(t + part[s] * h, x, k[s]);
    }
    for (int i = 0; i < 4; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

static void test_cart_by_hand(void **state)
{
    (void)state;
    static const char *const names[] = {"cart.x", "cart.y", "cart.theta", "cart.vx"};
    Sheet *run = run_to(system_from(by_formula), 6, 0.05);
    double y[4] = {0, 0, 0, 1};
    for (size_t row = 0; row < run->rows; row++) {
        for (int i = 0; i < 4; i++) assert_close(at(run, row, names[i]), y[i], 1e-9);
        for (int i = 0; i < 50; i++) rk4(at(run, row, "t") + 1e-3 * i, 1e-3, y);
    }
    tr_sheet_free(run);
}

// A direction by an input is what it would be as a parameter, and a change that would make the
// velocities jump is refused.
static void test_inputs(void **state)
{
    (void)state;
    static const char rest[] = "contacts:\n" REAR "  front: {kind: skate, body: cart, at: \"0.5, "
                               "0, 0\", direction: \"-sin(a), cos(a), 0\"}\n";
    char text[2000];
    snprintf(text, sizeof text, CART "inputs: {a: 0.3}\n%s", rest);
    tr_system *system = system_from(text);
    tr_simulate_options o = strictly(system);
    o.end = 2, o.every = 0.1;
    Sheet *run = simulated(system, o, NULL);
    snprintf(text, sizeof text, CART "%s", rest);
    char *parameters = strstr(text, "{T: 4}");
    assert_non_null(parameters);
    char other[2100];
    snprintf(other, sizeof other, "%.*s{T: 4, a: 0.3}%s", (int)(parameters - text), text,
             parameters + strlen("{T: 4}"));
    Sheet *wanted = run_to(system_from(other), 2, 0.1);
    check_same(run, wanted, cart_columns, 1e-11);
    tr_error err = {0};
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run *going = tr_run_new(plan, NULL, &err);
    assert_int_equal(err.status, 0);
    tr_run_set(going, "a", 0.4, &err);
    assert_string_equal(err.text,
                        "the input 'a' changes 'cart.vx' instantaneously at t = 0: it may change "
                        "forces only");
    tr_run_free(going);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_sheet_free(run);
    tr_sheet_free(wanted);
}

// At an event velocities jump as with the same row written out.
static void test_jumps(void **state)
{
    (void)state;
    static const char *const names[] = {"cart.x",  "cart.y",  "cart.theta",          "cart.vx",
                                        "cart.vy", "cart.wz", "lambda.rear.lateral", NULL};
    Sheet *turned = run_with(system_from(CART "contacts:\n" REAR
                                              "  front: {kind: skate, body: cart, at: \"0.5, 0, "
                                              "0\", direction: \"t < 1 ? 0.1 : 0, 1, 0\"}\n"),
                             2, 0.1, NULL);
    Sheet *written = run_with(system_from(CART "contacts:\n" REAR
                                               "constraints: {c: {rate: \"cart.vy + 0.5*cart.wz + "
                                               "(t < 1 ? 0.1 : 0)*cart.vx\"}}\n"),
                              2, 0.1, NULL);
    assert_true(fabs(at(turned, 9, "cart.wz")) > 0.1);
    assert_close(at(turned, 11, "cart.wz"), 0, 1e-12);
    check_same(turned, written, names, 1e-10);
    tr_sheet_free(turned);
    tr_sheet_free(written);
}

// ---- wheels --------------------------------------------------------------------------------

// A wheel on a body that a motor steers or tilts, and one whose axle a formula turns. Where only
// one angle moves, the wheel turns the shortest way in either.
typedef struct Turning {
    const char *axis, *first, *second; // the axle; the motion about z, then about x
} Turning;

static const Turning turnings[] = {
    {"-sin(0.4*sin(2*t)), cos(0.4*sin(2*t)), 0", "0.4*sin(2*t)", "0"},
    {"-sin(0.3)*cos(0.5*sin(3*t)), cos(0.3)*cos(0.5*sin(3*t)), sin(0.5*sin(3*t))", "0.3",
     "0.5*sin(3*t)"},
    {"0, 2 + t, (2 + t)*tan(0.3*sin(t))", "0", "0.3*sin(t)"},
};

static Sheet *wheel_run(const char *body, const char *contact, const char *more,
                        const Turning *turning, bool by_bodies, double end)
{
    char text[3000];
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies:\n"
             "  body: %s\n"
             "%s%s%s%s%s"
             "contacts:\n"
             "  c: {body: %s, %s, axis: \"%s\"%s}\n"
             "%s",
             body,
             by_bodies ? "  fork: {parent: body, joint: {type: revolute, axis: \"0, 0, 1\", at: "
                         "\"0.1, 0.05, 0.02\", coordinate: steer}}\n"
                         "  hub: {parent: fork, joint: {type: revolute, axis: \"1, 0, 0\", "
                         "coordinate: tilt}}\n"
                         "roles: {steer: {motion: "
                       : "",
             by_bodies ? turning->first : "", by_bodies ? "}, tilt: {motion: " : "",
             by_bodies ? turning->second : "", by_bodies ? "}}\n" : "", by_bodies ? "hub" : "body",
             contact, by_bodies ? "0, 1, 0" : turning->axis,
             by_bodies ? "" : ", at: \"0.1, 0.05, 0.02\"", more);
    return run_to(system_from(text), end, 0.02);
}

static void check_wheel(const char *body, const char *contact, const char *more, double end,
                        const char *const *names)
{
    for (size_t i = 0; i < sizeof turnings / sizeof *turnings; i++) {
        Sheet *turned = wheel_run(body, contact, more, &turnings[i], false, end),
              *steered = wheel_run(body, contact, more, &turnings[i], true, end);
        check_same(turned, steered, names, 1e-8);
        assert_below(largest(turned, "residual.position"), 1e-12);
        assert_true(fabs(last(turned, names[0])) > 1e-3);
        tr_sheet_free(turned);
        tr_sheet_free(steered);
    }
}

static const char *const body_columns[] = {
    "body.x",           "body.y",         "body.wx",     "body.wy",     "body.wz",      "body.vx",
    "lambda.c.lateral", "energy.kinetic", "energy.work", "contact.c.x", "contact.c.Fx", NULL};

#define HEAVY                                                                                  \
    "{joint: {type: free}, mass: 2, com: \"0.02, 0, -0.05\", inertia: {xx: 0.2, yy: 0.3, zz: " \
    "0.25}}"
#define START                                                                            \
    "guess: {body.z: 0.3}\n"                                                             \
    "initial: {body.x: 0, body.y: 0, body.qx: 0, body.qy: 0, body.qz: 0, body.wx: 0.1, " \
    "body.wy: 3, body.wz: 0.4}\n"

static void test_wheels_that_roll(void **state)
{
    (void)state;
    check_wheel(HEAVY, "radius: 0.3", START, 0.6, body_columns);
    check_wheel(HEAVY, "radius: 0.3, tube: 0.05", START, 0.6, body_columns);
}

static void test_wheels_that_slip(void **state)
{
    (void)state;
    check_wheel(HEAVY, "radius: 0.3, longitudinal: viscous, viscosity: 4", START, 0.4,
                body_columns);
}

static void test_wheels_on_terrain(void **state)
{
    (void)state;
    check_wheel(HEAVY, "radius: 0.3, tube: 0.05", "ground: {height: 0.05*sin(x)*cos(2*y)}\n" START,
                0.4, body_columns);
}

// ---- what is refused -----------------------------------------------------------------------

#define SKATE CART "contacts: {s: {kind: skate, body: cart, direction: "

static void test_refused(void **state)
{
    (void)state;
    assert_invalid(SKATE "\"cart.x, 1, 0\"}}\n",
                   "10:53: the direction of a skate is a formula of t, "
                   "but this one uses 'cart.x'");
    assert_invalid(SKATE "\"0, 1, cart.yaw\"}}\n",
                   "10:53: the direction of a skate is a formula of "
                   "t, but this one uses 'cart.theta'");
    assert_invalid(SKATE "\"0, 1 + cart.wz, 0\"}}\n",
                   "10:53: the direction of a skate is a formula "
                   "of t, but this one uses 'cart.wz'");
    assert_invalid(SKATE "\"t, 0, 0\"}}\n",
                   "10:53: the direction is zero at the start: it has no direction");
    assert_invalid(SKATE "\"0, 0, 0\"}}\n", "10:53: the direction is zero: it has no direction");
    assert_invalid(CART "contacts: {s: {body: cart, radius: 1, axis: \"0, cart.vx, 1\"}}\n",
                   "10:46: the axis of a wheel is a formula of t, but this one uses 'cart.vx'");
    assert_invalid(CART "contacts: {s: {body: cart, radius: 1, axis: \"0, sin(t), 0\"}}\n",
                   "10:46: the axis is zero at the start: it has no direction");
    assert_invalid(CART "contacts: {s: {kind: wire, body: cart, direction: \"1, t, 0\"}}\n",
                   "10:55: 't' is not a parameter: this must be constant");
}

// It may lose its direction on the way.
static void test_lost_direction(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_summary s = {0};
    tr_system *system = system_from(SKATE "\"0, max(0, 1 - t), 0\"}}\n");
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 2, o.every = 0.1;
    assert_false(tr_simulate(system, &o, &s, &err));
    if (!strstr(err.text, "the direction of 's' is zero")) fail_msg("%s", err.text);
    assert_true(s.t > 0.85 && s.t < 1.01);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cart_by_bodies),
        cmocka_unit_test(test_cart_by_hand),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_wheels_that_roll),
        cmocka_unit_test(test_wheels_that_slip),
        cmocka_unit_test(test_wheels_on_terrain),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lost_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
