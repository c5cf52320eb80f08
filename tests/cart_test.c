// SPDX-License-Identifier: Apache-2.0
// Vehicles on two, three and four wheels: what is redundant about them, their wheel loads against
// closed forms also where they are not unique, and their motions against geometry, a linear model
// and a model in the plane.
#include "runs.h"

static const double g = 9.81;

// ---- counts --------------------------------------------------------------------------------

typedef struct Counts {
    const char *model, *case_name;
    int s_p, s_a, rows, m, kernel;
    const char *hyperstatic; // NULL: not compared; wheels that are turned name all their rows
} Counts;

#define FOUR_WHEELS                                                                \
    "front_left.normal front_left.lateral front_right.normal front_right.lateral " \
    "rear_left.normal rear_left.lateral rear_right.normal rear_right.lateral"

static const Counts counts[] = {
    {"tricycle", "eight", 4, 0, 9, 8, 2, "rear_left.lateral rear_right.lateral"},
    {"cart", "push", 4, 0, 12, 9, 1, FOUR_WHEELS},
    {"cart", "banked", 4, 0, 12, 9, 1, FOUR_WHEELS},
    {"differential_drive_3d", "drive", 4, 0, 9, 8, 2, "left_tyre.lateral right_tyre.lateral"},
    {"segway", "ride", 2, 0, 6, 5, 3, "left_tyre.lateral right_tyre.lateral"},
    {"car_ackermann", "bend", 4, 2, 12, 9, 1, FOUR_WHEELS},
    {"car_ackermann", "circle", 4, 2, 12, 9, 1, NULL},
};

static void test_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const Counts *c = &counts[i];
        char *json = facts_of(system_called(c->model, c->case_name));
        print_message("%s %s\n", c->model, c->case_name);
        assert_fact(json, "n", 6);
        assert_fact(json, "s_p", c->s_p);
        assert_fact(json, "s_a", c->s_a);
        assert_fact(json, "rows", c->rows);
        assert_fact(json, "m", c->m);
        assert_fact(json, "m_locked", c->m);
        assert_fact(json, "redundant", c->rows - c->m);
        assert_fact(json, "antagonist", 0);
        assert_fact(json, "kernel", c->kernel);
        if (c->hyperstatic) assert_names(json, "hyperstatic_rows", c->hyperstatic);
        tr_text_free(json);
    }
}

// ---- the tricycle --------------------------------------------------------------------------

// N_front w = g sum m x, and the rest of the weight on the rear wheels
static void test_tricycle_loads(void **state)
{
    (void)state;
    const double w = 1.3, r = 0.28, tilt = 0.2, m = 130, m_f = 4, m_w = 2.5;
    const double hinge = w + 0.04 - r * tan(tilt), fork = hinge - 0.4 * sin(tilt);
    const double front = g * (m * 0.4 + m_f * fork + m_w * w) / w;
    const double rear = g * (m + m_f + 3 * m_w) - front;
    Sheet *run = run_of(system_called("tricycle", "parked"));
    for (size_t i = 0; i < run->rows; i++) {
        assert_close(at(run, i, "front_load"), front, 1e-12);
        assert_close(at(run, i, "left_load"), rear / 2, 1e-12);
        assert_close(at(run, i, "right_load"), rear / 2, 1e-12);
        assert_close(at(run, i, "speed"), 0, 1e-12);
    }
    tr_sheet_free(run);
}

// On the eight all wheels stay down and it goes both ways round; too fast, one would lift.
static void test_tricycle_rides(void **state)
{
    (void)state;
    Sheet *run = run_to(system_called("tricycle", "eight"), 19, 0.05);
    const double lightest = fmin(least(run, "left_load"), least(run, "right_load"));
    print_message("least load %.1f N, speed %.3f to %.3f m/s\n", lightest, least(run, "speed"),
                  most(run, "speed"));
    assert_true(lightest > 100);
    assert_true(most(run, "turn_rate") > 0.5 && least(run, "turn_rate") < -0.5);
    for (size_t i = 0; i < run->rows; i++) // the rear axle goes where it points
        assert_close(at(run, i, "frame.vy"), 0, 1e-11);
    tr_sheet_free(run);
    run = run_to(system_called("tricycle", "reckless"), 4, 0.02);
    assert_true(least(run, "left_load") < 0);
    tr_sheet_free(run);
}

// ---- the cart ------------------------------------------------------------------------------

static const double half_base = 0.6, half_track = 0.35, wheel = 0.15, box = 120, ahead = 0.1,
                    left = 0.05, wheel_inertia = 0.035, damping = 0.05;
static const double cart_mass = 120 + 4 * 3;
enum { FRONT_LEFT, FRONT_RIGHT, REAR_LEFT, REAR_RIGHT, WHEELS };
static const char *const loads[WHEELS] = {"front_left_load", "front_right_load", "rear_left_load",
                                          "rear_right_load"};
static const char *const sides[WHEELS] = {"lambda.front_left.lateral", "lambda.front_right.lateral",
                                          "lambda.rear_left.lateral", "lambda.rear_right.lateral"};
static const double diagonal[WHEELS] = {1, -1, -1, 1}; // what four legs can press against another

// Loads that are linear in the place balance weight and moments, and have no diagonal part, so
// their norm is least: N = W/4 (1 +- x/a +- y/b) with the mass centre at (x, y)
static void least_loads(double *N)
{
    for (int k = 0; k < WHEELS; k++) {
        const double x = k < REAR_LEFT ? 1 / half_base : -1 / half_base,
                     y = k % 2 ? -1 / half_track : 1 / half_track;
        N[k] = g / 4 * (cart_mass + box * ahead * x + box * left * y);
    }
}

static void check_loads(const char *case_name, const double *N)
{
    Sheet *run = run_of(system_called("cart", case_name));
    for (size_t i = 0; i < run->rows; i++) {
        for (int k = 0; k < WHEELS; k++) {
            assert_close(at(run, i, loads[k]), N[k], 1e-12);
            assert_close(at(run, i, sides[k]), 0, 1e-9);
        }
        assert_close(at(run, i, "speed"), 0, 1e-12);
    }
    tr_sheet_free(run);
}

// N + s diagonal, where the reactions say what s is
static void test_cart_loads(void **state)
{
    (void)state;
    static const double weights[WHEELS] = {3, 1, 1, 1};
    double N[WHEELS], off = 0, square = 0;
    least_loads(N);
    check_loads("parked", N);
    double leads[WHEELS], uneven[WHEELS], wedged[WHEELS];
    for (int k = 0; k < WHEELS; k++) {
        off += weights[k] * diagonal[k] * N[k];
        square += weights[k] * diagonal[k] * diagonal[k];
    }
    for (int k = 0; k < WHEELS; k++) {
        leads[k] = N[k] - N[REAR_RIGHT] * diagonal[k];          // it bears nothing
        uneven[k] = N[k] - off / square * diagonal[k];          // sum w N^2 is least
        wedged[k] = N[k] + (200 - N[FRONT_LEFT]) * diagonal[k]; // it bears 200 N
    }
    assert_close(leads[REAR_RIGHT], 0, 1e-12);
    check_loads("leads", leads);
    check_loads("uneven", uneven);
    check_loads("wedged", wedged);
}

// (M + 4 J/r^2) v' = M g sin(slope) - 4 d/r^2 v
static void test_cart_downhill(void **state)
{
    (void)state;
    const double inertia = cart_mass + 4 * wheel_inertia / (wheel * wheel);
    const double k = 4 * damping / (wheel * wheel) / inertia;
    const double limit = cart_mass * g * sin(0.12) / inertia / k;
    Sheet *run = run_of(system_called("cart", "downhill"));
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), v = limit * (1 - exp(-k * t));
        double sum = 0;
        assert_close(at(run, i, "speed"), v, 1e-11);
        assert_close(at(run, i, "front_left_angle_rate"), v / wheel, 1e-11);
        for (int j = 0; j < WHEELS; j++) sum += at(run, i, loads[j]);
        assert_close(sum, cart_mass * g * cos(0.12), 1e-12);
    }
    assert_true(at(run, run->rows - 1, "speed") > 5);
    tr_sheet_free(run);
}

// Across a slope the wheels of an axle share its side force. About z:
// a (F_front - F_rear) = m (x g sin(bank) - y v'), F_front + F_rear = M g sin(bank)
static void test_cart_banked(void **state)
{
    (void)state;
    const double inertia = cart_mass + 4 * wheel_inertia / (wheel * wheel);
    const double k = 4 * damping / (wheel * wheel) / inertia, across = g * sin(0.2);
    Sheet *run = run_of(system_called("cart", "banked"));
    for (size_t i = 0; i < run->rows; i++) {
        const double v = 1.5 * exp(-k * at(run, i, "t"));
        const double turning = box * (ahead * across + left * k * v) / half_base;
        assert_close(at(run, i, "speed"), v, 1e-11);
        for (int j = 0; j < WHEELS; j++) {
            const double axle = j < REAR_LEFT ? turning : -turning;
            assert_close(at(run, i, sides[j]), (cart_mass * across + axle) / 4, 1e-11);
        }
        assert_close(at(run, i, "box.wz"), 0, 1e-13);
    }
    tr_sheet_free(run);
}

// ---- the differential drive ----------------------------------------------------------------

static void check_against_plane(const char *case_name)
{
    static const char *const same[] = {"body.x",
                                       "body.y",
                                       "left_angle",
                                       "right_angle",
                                       "swivel",
                                       "castor_angle",
                                       "left_angle_rate",
                                       "right_angle_rate",
                                       "swivel_rate",
                                       "castor_angle_rate",
                                       "body.vx",
                                       "body.wz",
                                       "speed",
                                       "turn_rate",
                                       "lambda.left_tyre.longitudinal",
                                       "lambda.left_tyre.lateral",
                                       "lambda.right_tyre.longitudinal",
                                       "lambda.right_tyre.lateral",
                                       "lambda.castor.longitudinal",
                                       "lambda.castor.lateral",
                                       "energy.kinetic",
                                       "energy.work"};
    Sheet *plane = run_of(system_called("differential_drive", case_name));
    Sheet *space = run_of(system_called("differential_drive_3d", case_name));
    double worst = 0;
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        const double off =
            difference(plane, same[k], space, same[k]) / fmax(1, largest(plane, same[k]));
        if (!is_below(off, 1e-9)) fail_msg("%s: %s is off by %.3g", case_name, same[k], off);
        worst = fmax(worst, off);
    }
    for (size_t i = 0; i < plane->rows; i++) {
        const double off = at(plane, i, "body.theta") - at(space, i, "theta");
        assert_below(fabs(remainder(off, 2 * M_PI)), 1e-9);
        assert_close(at(space, i, "left_load") + at(space, i, "right_load") +
                         at(space, i, "castor_load"),
                     g * (8 + 2 * 0.6 + 0.1 + 0.1), 1e-11);
    }
    print_message("%s: %.1e\n", case_name, worst);
    assert_true(largest(plane, "turn_rate") > 0.01 && largest(plane, "speed") > 0.1);
    tr_sheet_free(plane);
    tr_sheet_free(space);
}

static void test_differential_drive(void **state)
{
    (void)state;
    check_against_plane("drive");
    check_against_plane("reverse");
}

// From rest, straight on, about the line where the driven wheels touch:
// g sum m x - N x_castor = a sum (m z + J/r)
static void test_load_of_the_castor(void **state)
{
    (void)state;
    const double R = 0.1, r = 0.03, trail = 0.04, pivot = 0.25, torque = 2 * 1.5;
    const double m[] = {8, 2 * 0.6, 0.1, 0.1}, x[] = {0.08, 0, pivot - trail / 2, pivot - trail},
                 z[] = {0.22, R, 2 * r, r}, J_over_r[] = {0, 2 * 0.003 / R, 0, 0.1 * r / 2};
    double inertia = 2 * 0.003 / (R * R) + 0.1 / 2, weights = 0, heights = 0, total = 0;
    for (int k = 0; k < 4; k++) {
        inertia += m[k], total += m[k];
        weights += m[k] * x[k], heights += m[k] * z[k] + J_over_r[k];
    }
    const double a = torque / R / inertia;
    const double castor = (g * weights - a * heights) / (pivot - trail);
    Sheet *run = run_of(system_called("differential_drive_3d", "kick"));
    assert_close(at(run, 0, "castor_load"), castor, 1e-12);
    assert_close(at(run, 0, "left_load"), (total * g - castor) / 2, 1e-12);
    assert_close(at(run, 0, "right_load"), (total * g - castor) / 2, 1e-12);
    assert_true(castor < 0.5 * g * weights / (pivot - trail)); // that is: it is almost lifted
    tr_sheet_free(run);
}

// ---- the segway ----------------------------------------------------------------------------

// Upright and linear: (M + 2 m_w + 2 J/r^2) x'' + m u p'' = T/r,
// m u x'' + (I + m u^2) p'' - m g u p = -T, T = k . (p, p', x, x')
static void segway_rate(const double *y, double *rate)
{
    const double m = 85, u = 0.9, I = 11, m_w = 4, J = 0.11, r = 0.24;
    const double T = 540 * y[0] + 136 * y[1] + 42 * y[2] + 70 * y[3];
    const double A = m + 2 * m_w + 2 * J / (r * r), B = m * u, C = I + m * u * u;
    const double f = T / r, n = m * g * u * y[0] - T, D = A * C - B * B;
    rate[0] = y[1], rate[1] = (A * n - B * f) / D;
    rate[2] = y[3], rate[3] = (C * f - B * n) / D;
}

// Runge and Kutta
static void segway_step(double *y, double h)
{
    double k[4][4], at_stage[4];
    for (int stage = 0; stage < 4; stage++) {
        const double part = stage == 0 ? 0 : stage == 3 ? h : h / 2;
        for (int i = 0; i < 4; i++) at_stage[i] = y[i] + (stage ? part * k[stage - 1][i] : 0);
        segway_rate(at_stage, k[stage]);
    }
    for (int i = 0; i < 4; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

static void test_segway_is_linear(void **state)
{
    (void)state;
    enum { STEPS = 100 };
    const Number tilt = {"pitch0", 1e-4}; // of which squares do not count
    tr_summary s = {0};                   // its energy is next to nothing
    Sheet *run = run_with(system_with("segway", "balance", &tilt, 1), 0, 0, &s);
    double y[4] = {1e-4}, worst = 0;
    for (size_t i = 0; i < run->rows; i++) {
        worst = fmax(worst, fabs(at(run, i, "pitch") - y[0]));
        worst = fmax(worst, fabs(at(run, i, "way") - y[2]));
        for (int k = 0; k < STEPS; k++) segway_step(y, 0.02 / STEPS);
    }
    print_message("off by %.1e of a tilt of 1e-4\n", worst);
    assert_true(largest(run, "way") > 1e-4);
    assert_below(worst, 1e-11);
    tr_sheet_free(run);
}

static void test_segway_stays_up(void **state)
{
    (void)state;
    Sheet *run = run_of(system_called("segway", "balance"));
    assert_close(at(run, 0, "pitch"), 0.25, 1e-14);
    assert_true(largest(run, "pitch") < 0.26);
    assert_below(fabs(at(run, run->rows - 1, "pitch")), 1e-3);
    assert_below(fabs(at(run, run->rows - 1, "way")), 2e-3); // not a margin: it has settled
    tr_sheet_free(run);
    run = run_of(system_called("segway", "ride"));
    assert_close(at(run, 500, "t"), 10, 1e-14);
    assert_below(fabs(at(run, 500, "speed") - 2), 1e-3); // as wanted
    assert_true(largest(run, "pitch") < 0.3 && largest(run, "yaw") > 0.3);
    assert_true(fabs(at(run, run->rows - 1, "speed")) < 0.1);
    assert_true(least(run, "left_load") > 0 && least(run, "right_load") > 0);
    tr_sheet_free(run);
    run = run_of(system_called("segway", "fall")); // without the law it does not
    assert_true(at(run, run->rows - 1, "pitch") > 0.5);
    tr_sheet_free(run);
}

// ---- Ackermann's car -----------------------------------------------------------------------

static const double wheelbase = 2.4, track = 1.4;

static double cot(double angle) { return 1 / tan(angle); }

// The middle of the rear axle turns as one wheel in the middle of the front would have it, and
// cot(outer) - cot(inner) = track/wheelbase.
static void check_curvature(const char *case_name)
{
    Sheet *run = run_of(system_called("car_ackermann", case_name));
    double worst = 0, sharpest = 0;
    for (size_t i = 0; i < run->rows; i++) {
        const double v = at(run, i, "car.vx"), steer = at(run, i, "middle_steer");
        const double l = at(run, i, "steer_left"), r = at(run, i, "steer_right");
        assert_close(at(run, i, "car.vy"), 0, 1e-12);
        if (fabs(steer) > 1e-3) assert_close(cot(r) - cot(l), track / wheelbase, 1e-10);
        if (fabs(v) < 0.05) continue;
        worst = fmax(worst, fabs(at(run, i, "car.wz") / v - tan(steer) / wheelbase));
        sharpest = fmax(sharpest, fabs(tan(steer) / wheelbase));
    }
    print_message("%s: curvature to %.1e of %.3f 1/m\n", case_name, worst, sharpest);
    assert_true(sharpest > 0.03);
    assert_below(worst, 1e-9);
    tr_sheet_free(run);
}

static void test_ackermann_curvature(void **state)
{
    (void)state;
    check_curvature("bend");
    check_curvature("slalom");
    check_curvature("circle");
}

// On a circle every wheel stays on its own, about one centre, and the speed stays.
static void test_ackermann_circle(void **state)
{
    (void)state;
    static const char *const wheels[WHEELS][2] = {
        {"contact.front_left.x", "contact.front_left.y"},
        {"contact.front_right.x", "contact.front_right.y"},
        {"contact.rear_left.x", "contact.rear_left.y"},
        {"contact.rear_right.x", "contact.rear_right.y"}};
    const double R = wheelbase / tan(0.4);
    Sheet *run = run_of(system_called("car_ackermann", "circle"));
    for (size_t i = 0; i < run->rows; i++) {
        assert_close(hypot(at(run, i, "car.x"), at(run, i, "car.y") - R), R, 1e-10);
        assert_close(at(run, i, "yaw"), remainder(3 * at(run, i, "t") / R, 2 * M_PI), 1e-9);
        assert_close(at(run, i, "speed"), 3, 1e-11);
        for (int k = 0; k < WHEELS; k++) {
            const double radius =
                hypot(k < REAR_LEFT ? wheelbase : 0, R + (k % 2 ? track : -track) / 2);
            assert_close(hypot(at(run, i, wheels[k][0]), at(run, i, wheels[k][1]) - R), radius,
                         1e-10);
        }
    }
    assert_true(3 * at(run, run->rows - 1, "t") > 2 * M_PI * R * 0.75); // most of a lap
    tr_sheet_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_tricycle_loads),
        cmocka_unit_test(test_tricycle_rides),
        cmocka_unit_test(test_cart_loads),
        cmocka_unit_test(test_cart_downhill),
        cmocka_unit_test(test_cart_banked),
        cmocka_unit_test(test_differential_drive),
        cmocka_unit_test(test_load_of_the_castor),
        cmocka_unit_test(test_segway_is_linear),
        cmocka_unit_test(test_segway_stays_up),
        cmocka_unit_test(test_ackermann_curvature),
        cmocka_unit_test(test_ackermann_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
