// SPDX-License-Identifier: Apache-2.0
// What is told of poses: what stands bears, with which friction, how far from tipping over; and
// what is refused.
#include "settling.h"

// ---- what is refused -----------------------------------------------------------------------

static void check_model_refused(tr_model *model, const tr_settle_options *o, const char *words)
{
    tr_error err = {0};
    tr_system *system;
    tr_plan *plan = plan_of(model, &system);
    tr_settle *settle = tr_settle_new(plan, o, &err);
    const bool found = tr_settle_pose(settle, NULL, NULL, &err);
    if (found || !strstr(err.text, words)) fail_msg("'%s' has no '%s'", err.text, words);
    tr_settle_free(settle);
    tr_plan_free(plan);
    tr_system_free(system);
}

static void check_refused(const char *name, const tr_settle_options *o, const char *words)
{
    check_model_refused(model_beside(name), o, words);
}

static void check_held(const char *name, const char *way, const char *holds, const char *words)
{
    const char *list[8];
    char text[300];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", holds);
    for (char *at = strtok(text, ";"); at; at = strtok(NULL, ";")) list[count++] = at;
    const tr_settle_options o = by(way, list, count);
    check_refused(name, &o, words);
}

#define PLACE "body.x=0.3;body.y=0;body.yaw=0"

static void test_refused(void **state)
{
    (void)state;
    check_held("four_wheels", "contact", PLACE,
               "4 contacts are to touch, and what is held leaves 3");
    check_held("four_wheels", "residual", PLACE ";2*body.x=0.6", "determine '2*body.x' already");
    check_held("four_wheels", "energy", PLACE ";body.x=0.4", "too much is held");
    check_held("rocker_bogie", "contact", "", "too little is held");
    check_held("rocker_bogie", "contact", "", "such as 'x'");
    check_held("rocker_bogie", "residual", "", "such as 'x'");
    check_held("rocker_bogie", "contact", "x=0;z=0.4", "3 contacts are to touch");
    check_held("rocker_bogie", "contact", "x=0.2;d(z)=1", "positions alone");
    check_held("rocker_bogie", "contact", "x=z", "is to be a number");
    check_held("rocker_bogie", "contact", "x=nobody", "nobody");
    check_held("rocker_bogie", "contact", "cos(x)=2", "no pose within reach");
    check_held("four_wheels", "energy", PLACE ";body.z=0", "in the ground");
    check_held("four_wheels", "energy", "body.x=0.3;body.yaw=0", "most along 'body.y'");
    check_held("rocker_bogie", "basic", "x=0", "four wheels");
    check_held("rocker_bogie", "deflection", "x=0", "no joint of this model has a stiffness");
    check_held("rocker_bogie", "magic", "x=0", "'basic', 'contact', 'residual'");
    tr_settle_options o = by("energy", at_x, 1);
    o.gap = "vertical";
    check_refused("rocker_bogie", &o, "for --by residual");
    o.by = "residual", o.gap = "sideways";
    check_refused("rocker_bogie", &o, "not 'sideways'");
    const char *weight = "side=1";
    o.gap = NULL, o.weights = &weight, o.weight_count = 1;
    check_refused("rocker_bogie", &o, "'side'");
    weight = "rear=-1";
    check_refused("rocker_bogie", &o, "not negative");
}

// ---- what stands ---------------------------------------------------------------------------

// A cart on four wheels on a slope, its origin as high above the hubs as one likes, one wheel's
// mass beside its axle
static const char cart[] =
    "trundle: 1\n"
    "parameters: {A: 0.2, up: 0, off: 0}\n"
    "ground: {turn: \"0, -A, 0\"}\n"
    "bodies:\n"
    "  body: {joint: {type: free}, mass: 20, com: \"0, 0, 0.1-up\",\n"
    "         inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "  w1: {parent: body, joint: {type: revolute, axis: \"0,1,0\", at: \"0.3,0.25,-up\",\n"
    "       coordinate: s1}, mass: 0.5, com: \"off,0,0\", inertia: {axial: 0.01, radial: 0.005}}\n"
    "  w2: {parent: body, joint: {type: revolute, axis: \"0,1,0\", at: \"0.3,-0.25,-up\",\n"
    "       coordinate: s2}, mass: 0.5, inertia: {axial: 0.01, radial: 0.005}}\n"
    "  w3: {parent: body, joint: {type: revolute, axis: \"0,1,0\", at: \"-0.3,0.25,-up\",\n"
    "       coordinate: s3}, mass: 0.5, inertia: {axial: 0.01, radial: 0.005}}\n"
    "  w4: {parent: body, joint: {type: revolute, axis: \"0,1,0\", at: \"-0.3,-0.25,-up\",\n"
    "       coordinate: s4}, mass: 0.5, inertia: {axial: 0.01, radial: 0.005}}\n"
    "contacts:\n"
    "  w1: {kind: rolling, body: w1, radius: 0.1}\n"
    "  w2: {kind: rolling, body: w2, radius: 0.1}\n"
    "  w3: {kind: rolling, body: w3, radius: 0.1}\n"
    "  w4: {kind: rolling, body: w4, radius: 0.1}\n"
    "guess: {body.z: 0.1+up}\n";
static const char *const four[] = {"w1", "w2", "w3", "w4"};

// Held or not, wheels are locked; loads add up to what is across the slope, wherever the origin is.
static void test_standing(void **state)
{
    (void)state;
    static const char *const holds[] = {"body.x", "body.y", "body.yaw", "s1", "s2", "s3", "s4"};
    static const double held[7] = {0, 0, 0.3};
    const double weight = 22 * 9.81;
    double first[4], needed[4];
    for (int k = 0; k < 3; k++) {
        const tr_settle_options o = by("energy", holds, k == 1 ? 7 : 3);
        tr_model *model = model_from(cart);
        change_number(model, "parameters/up", k == 2 ? 0.5 : 0);
        Bench b = bench_of(model, &o);
        double all = 0;
        settle_at(&b, held);
        for (int i = 0; i < 4; i++) {
            const double load = told_of(&b, "contact.%s.load", four[i]);
            const double friction = told_of(&b, "contact.%s.friction_needed", four[i]);
            if (!k) first[i] = load, needed[i] = friction;
            assert_close(load, first[i], 1e-9);
            assert_close(friction, needed[i], 1e-9);
            all += load;
        }
        assert_close(all, weight * cos(0.2), 1e-9);
        free_bench(&b);
    }
    // a wheel whose mass is beside its axle does not turn itself free
    tr_model *model = model_from(cart);
    change_number(model, "parameters/off", 0.05);
    const tr_settle_options o = by("energy", holds, 7);
    Bench b = bench_of(model, &o);
    settle_at(&b, held);
    double all = 0;
    for (int i = 0; i < 4; i++) all += told_of(&b, "contact.%s.load", four[i]);
    assert_close(all, weight * cos(0.2), 1e-9);
    free_bench(&b);
}

// What is smooth bears along its normal alone, and what is rolled on bears on the ground.
static const char plank[] =
    "trundle: 1\n"
    "parameters: {A: 0.2}\n"
    "ground: {turn: \"0, -A, 0\"}\n"
    "bodies:\n"
    "  plank: {joint: {type: free}, mass: 5, com: \"0,0,0.05\",\n"
    "          inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "  cart: {joint: {type: free}, mass: 50, com: \"0,0,0.1\",\n"
    "         inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "contacts:\n"
    "  p1: {kind: slide, body: plank, at: \"1,0.5,0\", friction: 0.5}\n"
    "  p2: {kind: slide, body: plank, at: \"1,-0.5,0\", friction: 0.5}\n"
    "  p3: {kind: slide, body: plank, at: \"-1,0,0\"}\n"
    "  c1: {kind: rolling, shape: ball, body: cart, at: \"0.2,0.2,0\", radius: 0.1,\n"
    "       against: plank, to: \"0,0,0.1\"}\n"
    "  c2: {kind: rolling, shape: ball, body: cart, at: \"0.2,-0.2,0\", radius: 0.1,\n"
    "       against: plank, to: \"0,0,0.1\"}\n"
    "  c3: {kind: rolling, shape: ball, body: cart, at: \"-0.2,0,0\", radius: 0.1,\n"
    "       against: plank, to: \"0,0,0.1\", longitudinal: free, lateral: free}\n"
    "guess: {cart.z: 0.2}\n";

static void test_plank(void **state)
{
    (void)state;
    static const char *const holds[] = {"plank.x=0", "plank.y=0", "plank.yaw=0",
                                        "cart.x=0",  "cart.y=0",  "cart.yaw=0"};
    const tr_settle_options o = by("energy", holds, 6);
    tr_model *model = model_from(plank);
    Bench b = bench_of(model, &o);
    settle_at(&b, NULL);
    double feet = 0, balls = 0, drag = 0;
    for (int i = 0; i < 3; i++) {
        static const char *const of_plank[] = {"p1", "p2", "p3"}, *const of_cart[] = {"c1", "c2",
                                                                                      "c3"};
        const double load = told_of(&b, "contact.%s.load", of_plank[i]);
        feet += load, balls += told_of(&b, "contact.%s.load", of_cart[i]);
        drag += load * told_of(&b, "contact.%s.friction_needed", of_plank[i]);
    }
    assert_close(feet, 55 * 9.81 * cos(0.2), 1e-9);
    assert_close(balls, 50 * 9.81 * cos(0.2), 1e-9);
    assert_true(drag > 55 * 9.81 * sin(0.2) - 1e-9); // no less than what slides down
    assert_close(told(&b, "contact.p3.friction_needed"), 0, 1e-12);
    assert_close(told(&b, "contact.c3.friction_needed"), 0, 1e-12);
    free_bench(&b);
    // the feet alone are stood on: where the cart is beyond them all of it tips over, with the
    // cart's balls as far apart as one likes
    model = model_from(plank);
    change_number(model, "parameters/A", 0);
    b = bench_of(model, &o);
    settle_at(&b, NULL);
    // from (0, 0) to the side from (1, 0.5) to (-1, 0)
    assert_close(told(&b, "tip_margin"), 0.5 / sqrt(4.25), 1e-12);
    free_bench(&b);
}

// On two points the margin is that to the nearer end, or how far it is from what is between them.
static void check_line(double x, double y, double margin)
{
    static const char line[] =
        "trundle: 1\n"
        "bodies:\n"
        "  rod: {joint: {type: free}, mass: 3, com: \"0, 0, 0\", inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "contacts:\n"
        "  a: {kind: rolling, shape: ball, body: rod, at: \"-1, 0, 0\", radius: 0.1}\n"
        "  b: {kind: rolling, shape: ball, body: rod, at: \"1, 0, 0\", radius: 0.1}\n"
        "guess: {rod.z: 0.1}\n";
    static const char *const holds[] = {"rod.x=0", "rod.y=0", "rod.yaw=0", "rod.roll=0"};
    const tr_settle_options o = by("contact", holds, 4);
    char com[60];
    snprintf(com, sizeof com, "%g, %g, 0", x, y);
    tr_model *model = model_from(line);
    change(model, "bodies/rod/com", com);
    Bench b = bench_of(model, &o);
    settle_at(&b, NULL);
    assert_close(told(&b, "tip_margin"), margin, 1e-9);
    free_bench(&b);
}

static void test_line(void **state)
{
    (void)state;
    check_line(0.4, 0, 0.6);
    check_line(0.4, 0.3, -0.3);
    check_line(1.4, 0, -0.4);
    check_line(1.4, 0.3, -0.5);
}

// A chassis above a spring, on a base that touches
static const char above[] =
    "trundle: 1\n"
    "bodies:\n"
    "  base: {joint: {type: free}, mass: 10, inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "  chassis: {parent: base, joint: {type: prismatic, axis: \"0,0,1\", at: \"0,0,0.3\",\n"
    "            coordinate: s, stiffness: 10000}, mass: 100, inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "contacts:\n"
    "  a: {kind: rolling, shape: ball, body: base, at: \"0.4,0.3,0\", radius: 0.1}\n"
    "  b: {kind: rolling, shape: ball, body: base, at: \"0.4,-0.3,0\", radius: 0.1}\n"
    "  c: {kind: rolling, shape: ball, body: base, at: \"-0.4,0,0\", radius: 0.1}\n"
    "guess: {base.z: 0.1}\n";

static void test_above(void **state)
{
    (void)state;
    static const char *const holds[] = {"base.x", "base.y", "base.yaw"};
    static const char *const ways[] = {"energy", "deflection"};
    for (int k = 0; k < 2; k++) {
        const tr_settle_options o = by(ways[k], holds, 3);
        Bench b = bench_of(model_from(above), &o);
        settle_at(&b, NULL);
        assert_close(told(&b, "s"), -100 * 9.81 / 10000, 1e-12);
        free_bench(&b);
    }
}

static void test_refused_grounds(void **state)
{
    (void)state;
    static const char sphere[] =
        "trundle: 1\n"
        "bodies:\n"
        "  body: {joint: {type: free}, mass: 5, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "contacts:\n"
        "  a: {kind: rolling, shape: ball, body: body, radius: 0.1, to: \"0, 0, -5\",\n"
        "      surface: {kind: sphere, radius: 5}}\n"
        "guess: {body.z: 0.1}\n";
    static const char diamond[] =
        "trundle: 1\n"
        "bodies:\n"
        "  body: {joint: {type: free}, mass: 5, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "contacts:\n"
        "  n: {kind: rolling, shape: ball, body: body, at: \"0.4,0,0\", radius: 0.1}\n"
        "  w: {kind: rolling, shape: ball, body: body, at: \"0,0.4,0\", radius: 0.1}\n"
        "  e: {kind: rolling, shape: ball, body: body, at: \"0,-0.4,0\", radius: 0.1}\n"
        "  s: {kind: rolling, shape: ball, body: body, at: \"-0.4,0,0\", radius: 0.1}\n"
        "guess: {body.z: 0.1}\n";
    static const char turned[] =
        "trundle: 1\n"
        "ground: {turn: \"0, -0.1, 0\", height: \"0.01*sin(x)\"}\n"
        "bodies:\n"
        "  body: {joint: {type: free}, mass: 5, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "contacts:\n"
        "  a: {kind: rolling, shape: ball, body: body, at: \"0.4,0.3,0\", radius: 0.1}\n"
        "  b: {kind: rolling, shape: ball, body: body, at: \"0.4,-0.3,0\", radius: 0.1}\n"
        "  c: {kind: rolling, shape: ball, body: body, at: \"-0.4,0.3,0\", radius: 0.1}\n"
        "  d: {kind: rolling, shape: ball, body: body, at: \"-0.4,-0.3,0\", radius: 0.1}\n"
        "guess: {body.z: 0.1}\n";
    tr_settle_options o = by("basic", in_plane, 3);
    check_model_refused(model_from(diamond), &o, "two wheels in front and two behind");
    check_model_refused(model_from(turned), &o, "'a' is on a height that is turned");
    o.by = "residual", o.gap = "vertical";
    check_model_refused(model_from(turned), &o, "'a' is on a height that is turned");
    check_model_refused(model_from(sphere), &o, "'a' is on a sphere");
    o.hold_count = 0;
    check_model_refused(model_from(plank), &o, "'c1' is on a body");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_standing),
        cmocka_unit_test(test_plank),   cmocka_unit_test(test_line),
        cmocka_unit_test(test_above),   cmocka_unit_test(test_refused_grounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
