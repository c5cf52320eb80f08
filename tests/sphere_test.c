// SPDX-License-Identifier: Apache-2.0
// Wheels and balls inside and on top of spheres: against heights of the same spheres, which carry
// along where they touch, and against closed forms.
#include "alike.h"
#include "rolling.h"

// ---- spheres that stand still --------------------------------------------------------------

typedef struct Rider {
    const char *name, *contact, *start;
    bool is_ball;
} Rider;

#define AXLE "axis: \"0, 1, 0\""
static const Rider riders[] = {
    {"ball", "shape: ball, radius: 0.2",
     "b.x: 0.1, b.y: 0.05, b.qx: 0, b.qy: 0, b.qz: 0, b.wx: 1, b.wy: 0.5, b.wz: 2", true},
    {"disc", "radius: 0.2, " AXLE,
     "b.x: 0.1, b.y: 0.05, b.qx: 0.03, b.qy: 0, b.qz: 0.2, b.wx: 0.1, b.wy: 4, b.wz: 0.3", false},
    {"tyre", "radius: 0.2, tube: 0.05, " AXLE,
     "b.x: 0.1, b.y: 0.05, b.qx: 0.03, b.qy: 0, b.qz: 0.2, b.wx: 0.1, b.wy: 4, b.wz: 0.3", false},
    {"slipping disc", "radius: 0.2, lateral: viscous, viscosity: 4, " AXLE,
     "b.x: 0.1, b.y: 0.05, b.qx: 0.03, b.qy: 0, b.qz: 0.2, b.vy: 0.2, b.wx: 0.1, b.wy: 4, b.wz: "
     "0.3",
     false},
    {"slipping tyre",
     "radius: 0.2, tube: 0.05, longitudinal: viscous, lateral: viscous, viscosity: 4, " AXLE,
     "b.x: 0.1, b.y: 0.05, b.qx: 0.03, b.qy: 0, b.qz: 0.2, b.vx: 0.6, b.vy: 0.2, b.wx: 0.1, b.wy: "
     "4, b.wz: 0.3",
     false},
    {"sliding ball", "shape: ball, radius: 0.2, longitudinal: free, lateral: free",
     "b.x: 0.1, b.y: 0.05, b.qx: 0, b.qy: 0, b.qz: 0, b.vx: 0.4, b.vy: -0.3, b.wx: 1, b.wy: 0.5, "
     "b.wz: 2",
     true},
};
enum { RIDERS = sizeof riders / sizeof *riders };

// `more` of the contact, and of the model: its ground, other bodies
static tr_model *rider_on(const Rider *rider, const char *more, const char *others,
                          const char *roles)
{
    char text[2000];
    const int length = snprintf(
        text, sizeof text,
        "trundle: 1\n"
        "parameters: {R: 1.5}\n"
        "%s\n"
        "bodies:\n"
        "  b: {joint: {type: free}, mass: 2, inertia: {axial: 0.05, radial: %s, %s}}\n"
        "%s"
        "contacts: {c: {kind: rolling, body: b, %s%s}}\n"
        "initial: {%s}\n"
        "guess: {b.z: 0.2, b.qw: 1}\n",
        roles, rider->is_ball ? "0.05" : "0.03", AXLE, others, rider->contact, more, rider->start);
    assert_true(length < (int)sizeof text);
    return model_from(text);
}

static void check_alike(const char *what, tr_model *first, tr_model *second, double end,
                        bool is_ball)
{
    tr_summary s;
    Sheet *a = run_with(system_of(first, NULL), end, end / 20, &s);
    assert_below(s.energy_error, 1e-10);
    assert_below(s.position_error, 1e-12);
    assert_below(s.kkt_error, 1e-10);
    Sheet *b = run_with(system_of(second, NULL), end, end / 20, &s);
    assert_below(s.energy_error, 1e-10);
    assert_below(s.position_error, 1e-12);
    assert_below(s.kkt_error, 1e-10);
    const double off = sheets_off(a, b, is_ball);
    print_message("%-16s %.1e\n", what, off);
    assert_below(off, 1e-9);
    tr_sheet_free(a);
    tr_sheet_free(b);
}

static void test_inside(void **state)
{
    (void)state;
    for (int i = 0; i < RIDERS; i++)
        check_alike(riders[i].name,
                    rider_on(&riders[i], "", "", "ground: {height: R - sqrt(R^2 - x^2 - y^2)}"),
                    rider_on(&riders[i],
                             ", on: world, to: \"0, 0, R\", surface: {kind: sphere, radius: -R}",
                             "", ""),
                    i == 4 ? 0.5 : 2, riders[i].is_ball);
}

static void test_on_top(void **state)
{
    (void)state;
    for (int i = 0; i < RIDERS; i++)
        check_alike(riders[i].name,
                    rider_on(&riders[i], "", "", "ground: {height: sqrt(R^2 - x^2 - y^2) - R}"),
                    rider_on(&riders[i],
                             ", on: world, to: \"0, 0, -R\", surface: {kind: sphere, radius: R}",
                             "", ""),
                    0.3, riders[i].is_ball);
}

// ---- spheres that move ---------------------------------------------------------------------

static const char *const carriers =
    "  lift: {joint: {type: prismatic, axis: \"0.3, 0.1, 1\"}, mass: 1}\n"
    "  bowl: {parent: lift, joint: {type: revolute, axis: \"1, 2, 0.2\", coordinate: rock}, mass: "
    "3, inertia: {xx: 0.3, yy: 0.4, zz: 0.6}}\n";
static const char *const driven =
    "roles: {lift: {motion: 0.1*sin(3*t)}, rock: {motion: 0.15*sin(2*t)}}";

static void test_rocking(void **state)
{
    (void)state;
    for (int i = 0; i < RIDERS; i++) {
        check_alike(riders[i].name,
                    rider_on(&riders[i],
                             ", on: bowl, to: \"0.02, 0, 0.01\", surface: {height: R - sqrt(R^2 - "
                             "x^2 - y^2)}",
                             carriers, driven),
                    rider_on(&riders[i],
                             ", on: bowl, to: \"0.02, 0, 0.01 + R\", surface: {kind: sphere, "
                             "radius: -R}",
                             carriers, driven),
                    i == 4 ? 0.5 : 1, riders[i].is_ball);
        check_alike(riders[i].name,
                    rider_on(&riders[i],
                             ", on: bowl, to: \"0.02, 0, 0.01\", surface: {height: sqrt(R^2 - "
                             "x^2 - y^2) - R}",
                             carriers, driven),
                    rider_on(&riders[i],
                             ", on: bowl, to: \"0.02, 0, 0.01 - R\", surface: {kind: sphere, "
                             "radius: R}",
                             carriers, driven),
                    0.3, riders[i].is_ball);
    }
}

// Nothing drives the bowl: it swings on a spring, with what rolls in it.
static void test_swinging(void **state)
{
    (void)state;
    static const char *const bowl =
        "  bowl: {joint: {type: revolute, axis: \"1, 2, 0.2\", coordinate: rock, stiffness: 60}, "
        "mass: 3, inertia: {xx: 0.3, yy: 0.4, zz: 0.6}}\n";
    for (int i = 0; i < RIDERS; i++)
        check_alike(riders[i].name,
                    rider_on(&riders[i], ", on: bowl, surface: {height: R - sqrt(R^2 - x^2 - y^2)}",
                             bowl, ""),
                    rider_on(&riders[i],
                             ", on: bowl, to: \"0, 0, R\", surface: {kind: sphere, radius: -R}",
                             bowl, ""),
                    i == 4 ? 0.5 : 1, riders[i].is_ball);
}

// ---- small motions -------------------------------------------------------------------------

// The eigenvalues of a ball at rest, the least stable first
static size_t modes_of(const char *text, double (*values)[2])
{
    tr_error err = {0};
    tr_system *system = system_from(text);
    tr_linear *linear = tr_linearise(system, NULL, &err);
    if (!linear || !tr_linear_eigenvalues(linear, values, &err)) fail_msg("%s", err.text);
    const size_t count = linear->states;
    tr_linear_free(linear);
    tr_system_free(system);
    return count;
}

static const char *const resting =
    "trundle: 1\n"
    "parameters: {m: 1.3, r: 0.2, I: 0.02}\n"
    "%s\n"
    "bodies: {ball: {joint: {type: free}, mass: m, inertia: {xx: I, yy: I, zz: I}}}\n"
    "contacts: {foot: {kind: rolling, shape: ball, body: ball, radius: r%s}}\n"
    "initial: {ball.x: 0, ball.y: 0, ball.wx: 0, ball.wy: 0, ball.wz: 0}\n"
    "guess: {ball.z: 0.2}\n";

// Where the ground bends by c and the ball has the radius r, its middle is on a bowl of the radius
// 1/c - r:   s^2 = -g / ((1/c - r) (1 + I / (m r^2)))
static double stiffness_of(double c)
{
    return -g / ((1 / c - 0.2) * (1 + 0.02 / (1.3 * 0.2 * 0.2)));
}

static void check_modes(const char *ground, const char *contact, double c_x, double c_y)
{
    char text[1200];
    double values[20][2];
    snprintf(text, sizeof text, resting, ground, contact);
    const size_t count = modes_of(text, values);
    assert_int_equal(count, 8);
    const double wanted[] = {stiffness_of(c_x), stiffness_of(c_y)};
    int found[2] = {0}, zeros = 0;
    for (size_t i = 0; i < count; i++) {
        const double re = values[i][0], im = values[i][1];
        const double square = re * re - im * im;
        assert_below(fabs(re * im), 1e-9);
        zeros += re == 0 && im == 0;
        for (int k = 0; k < 2; k++) found[k] += fabs(square - wanted[k]) < 1e-11 * fabs(wanted[k]);
    }
    assert_int_equal(zeros, 4); // its angles, and spinning where it stands
    for (int k = 0; k < 2; k++) assert_int_equal(found[k], c_x == c_y ? 4 : 2);
}

static void test_modes(void **state)
{
    (void)state;
    check_modes("ground: {height: 0.25*(x^2 + y^2)}", "", 0.5, 0.5);
    check_modes("ground: {height: 0.25*x^2 - 0.4*y^2 + 0.3*x^4}", "", 0.5, -0.8);
    check_modes("ground: {height: 0.25*x^2 + 0.4*y^2, turn: \"0, 0, pi/2\"}", "", 0.8, 0.5);
    check_modes("ground: {height: 1.7 - sqrt(1.7^2 - x^2 - y^2)}", "", 1 / 1.7, 1 / 1.7);
    check_modes("", ", on: world, to: \"0, 0, 1.7\", surface: {kind: sphere, radius: -1.7}",
                1 / 1.7, 1 / 1.7);
    check_modes("", ", on: world, to: \"0, 0, -1.7\", surface: {kind: sphere, radius: 1.7}",
                -1 / 1.7, -1 / 1.7);
}

// The same by a run that swings a little
static void test_swings(void **state)
{
    (void)state;
    static const char *const swinging =
        "trundle: 1\n"
        "bodies: {ball: {joint: {type: free}, mass: 1, inertia: {xx: 0.016, yy: 0.016, zz: "
        "0.016}}}\n"
        "contacts: {foot: {kind: rolling, shape: ball, body: ball, radius: 0.2, on: world, to: "
        "\"0, 0, 1.2\", surface: {kind: sphere, radius: -1.2}}}\n"
        "initial: {ball.x: 1e-4, ball.y: 0, ball.wx: 0, ball.wy: 0, ball.wz: 0}\n"
        "guess: {ball.z: 0.2}\n";
    Sheet *run = run_with(system_from(swinging), 3, 0.1, NULL);
    for (size_t i = 0; i < run->rows; i++)
        assert_below(fabs(at(run, i, "ball.x") * 1e4 - cos(sqrt(5 * g / 7) * at(run, i, "t"))),
                     1e-8);
    tr_sheet_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),  cmocka_unit_test(test_on_top),
        cmocka_unit_test(test_rocking), cmocka_unit_test(test_swinging),
        cmocka_unit_test(test_modes),   cmocka_unit_test(test_swings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
