// SPDX-License-Identifier: Apache-2.0
// Wheels on what moves: a ball on a turntable and on a plank, a bicycle on a treadmill.
#include "slips.h"

// ---- a ball on a turntable -----------------------------------------------------------------

typedef struct Turntable {
    double rate, I_ratio, tilt; // of the table [rad/s]; I/(m r^2) of the ball; [rad]
    double x, y, vx, vy;        // at the start
} Turntable;

// With s the velocity along the table, n its normal and b the part of gravity along it:
//   s' = w n x s + k b,   w = rate I/(I + m r^2),   k = m r^2/(I + m r^2)
// so s turns at w about the drift s_d = k n x b / w.
static void place_on_table(const Turntable *table, double t, double *x, double *y)
{
    const double w = table->rate * table->I_ratio / (1 + table->I_ratio);
    const double down = g * sin(table->tilt) / (1 + table->I_ratio); // along y
    const double drift = -down / w;                                  // along x
    const double vx = table->vx - drift, vy = table->vy;
    *x = table->x + drift * t + (vx * sin(w * t) - vy * (1 - cos(w * t))) / w;
    *y = table->y + (vx * (1 - cos(w * t)) + vy * sin(w * t)) / w;
}

static void check_table(const char *case_name, const Turntable *table)
{
    Sheet *run = run_slipping(system_of(model_called("turntable"), case_name), 4, 0.1);
    double worst = 0, moved = 0;
    for (size_t i = 0; i < run->rows; i++) {
        double x, y;
        place_on_table(table, at(run, i, "t"), &x, &y);
        worst = fmax(worst, hypot(at(run, i, "ball.x") - x, at(run, i, "ball.y") - y));
        moved = fmax(moved, hypot(x - table->x, y - table->y));
    }
    print_message("%-8s moves by %.3f m, off by %.1e\n", case_name, moved, worst);
    assert_true(moved > 0.4);
    assert_below(worst, 1e-9);
    tr_sheet_free(run);
}

static void test_turntable(void **state)
{
    (void)state;
    check_table("circle", &(Turntable){3, 0.4, 0, 0.5, 0, 0, 0.25}); // at 2/7 of the table's rate
    check_table("hollow", &(Turntable){3, 2.0 / 3, 0, 0.5, 0, 0, 0.25});
    check_table("dropped", &(Turntable){3, 0.4, 0, 0.3, 0, 0, 0.9});
    check_table("tilted", &(Turntable){3, 0.4, 0.004, 0.5, 0, 0, 0.25});
}

// On a circle: the same distance from a middle that the start gives, once round in 7/2 turns of
// the table
static void test_turntable_period(void **state)
{
    (void)state;
    const double round = 7.0 / 2 * 2 * M_PI / 3;
    Sheet *run = run_slipping(system_of(model_called("turntable"), "circle"), round, round / 40);
    const double radius = 0.25 / (3 * 2.0 / 7);
    for (size_t i = 0; i < run->rows; i++) assert_close(at(run, i, "from_circle"), radius, 1e-9);
    assert_close(last(run, "ball.x"), 0.5, 1e-9);
    assert_close(last(run, "ball.y"), 0, 1e-9);
    assert_close(at(run, 20, "ball.x"), 0.5 - 2 * radius, 1e-9); // half way round
    tr_sheet_free(run);
}

// Nothing drives the table: what the ball takes, the table gives.
static void test_coasting_table(void **state)
{
    (void)state;
    tr_model *model = model_called("turntable");
    change(model, "outputs/spin",
           "3*d(turn) + I*(ball.R31*ball.wx + ball.R32*ball.wy + "
           "ball.R33*ball.wz) + m*(ball.x*d(ball.y) - ball.y*d(ball.x))");
    Sheet *run = run_slipping(system_of(model, "coasting"), 4, 0.1);
    const double start = at(run, 0, "spin");
    assert_close(start, 3 * 3.0 + 0.2 * 0.5 * 0.25, 1e-3);
    double least = 3, most = 3;
    for (size_t i = 0; i < run->rows; i++) {
        assert_close(at(run, i, "spin"), start, 1e-10);
        least = fmin(least, at(run, i, "turn_rate")), most = fmax(most, at(run, i, "turn_rate"));
    }
    assert_true(most - least > 1e-3); // it does change its rate
    tr_sheet_free(run);
}

// ---- a bicycle on a treadmill --------------------------------------------------------------

static tr_system *rider(const char *name, const char *case_name)
{
    tr_model *model = model_called(name);
    change_number(model, "parameters/roll_rate0", 0.5);
    return system_of(model, case_name);
}

static void test_treadmill(void **state)
{
    (void)state;
    static const char *const same[] = {
        "frame.y",         "frame.z",       "frame.qw",  "frame.qx", "frame.qy", "frame.qz",
        "steer",           "front",         "rear",      "frame.wx", "frame.wy", "frame.wz",
        "steer_rate",      "front_rate",    "rear_rate", "yaw",      "roll",     "pitch",
        "contact.front.y", "contact.rear.y"};
    static const char *const forces[] = {"contact.front.Fx", "contact.front.Fy", "contact.front.Fz",
                                         "contact.rear.Fx",  "contact.rear.Fy",  "contact.rear.Fz"};
    Sheet *belt = run_slipping(rider("treadmill", "free"), 5, 0.05);
    Sheet *road = run_slipping(rider("bicycle", "free"), 5, 0.05);
    double worst = difference(belt, "x_on_belt", road, "frame.x"), off = 0;
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        worst = fmax(worst, difference(belt, same[k], road, same[k]));
    for (size_t k = 0; k < sizeof forces / sizeof *forces; k++)
        off = fmax(off, difference(belt, forces[k], road, forces[k]));
    print_message("positions, angles and rates to %.1e, forces to %.1e N\n", worst, off);
    assert_true(largest(belt, "frame.x") < 1 && largest(road, "frame.x") > 20);
    assert_true(largest(road, "roll") > 0.05);
    assert_below(worst, 1e-9);
    assert_below(off, 1e-9 * largest(road, "contact.rear.Fz"));
    // what the wheels are pushed with, the belt is pushed back with, and its motor holds it
    for (size_t i = 0; i < belt->rows; i++)
        assert_close(at(belt, i, "motor_force"),
                     -(at(belt, i, "contact.front.Fx") + at(belt, i, "contact.rear.Fx")), 1e-9);
    tr_sheet_free(belt);
    tr_sheet_free(road);
}

// ---- what the floor feels ------------------------------------------------------------------

static const char ball_on_plank[] =
    "trundle: 1\n"
    "parameters: {m: 2, r: 0.1, M: 5}\n"
    "bodies:\n"
    "  plank: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: M}\n"
    "  ball: {joint: {type: free}, mass: m, inertia: {xx: 0.4*m*r^2, yy: 0.4*m*r^2,"
    " zz: 0.4*m*r^2}}\n"
    "contacts:\n"
    "  c: {body: ball, shape: ball, radius: r, on: plank%s}\n"
    "outputs:\n"
    "  momentum: M*d(x) + m*d(ball.x)\n"
    "  turning: ball.R21*ball.wx + ball.R22*ball.wy + ball.R23*ball.wz\n"
    "  about_top: m*r*d(ball.x) + 0.4*m*r^2*turning\n" // about a line along the plank's top
    "  slip: d(ball.x) - r*turning - d(x)\n"
    "initial: {x: 0, ball.x: 0, ball.y: 0, d(ball.x): %g, turning: 0, ball.wx: 0, ball.wz: 0,"
    " d(ball.y): 0%s}\n";

// Rolling or slipping, what the ball loses the plank gets; in the end they roll, with
//   m v + M u = p,   m r v + I w = L,   v - r w = u.
static void check_plank(const char *law, bool slips)
{
    char text[2000];
    snprintf(text, sizeof text, ball_on_plank, law, 3.0, slips ? ", d(x): 0" : "");
    Sheet *run = run_text(text, 2, 0.05);
    const double m = 2, M = 5, r = 0.1, I = 0.4 * m * r * r;
    const double p = at(run, 0, "momentum"), L = at(run, 0, "about_top");
    for (size_t i = 0; i < run->rows; i++) {
        assert_close(at(run, i, "momentum"), p, 1e-10);
        assert_close(at(run, i, "about_top"), L, 1e-10);
        assert_close(at(run, i, "lambda.c.normal"), m * g, 1e-10);
    }
    const double w = (L / (m * r) - p / (m + M)) / (r * M / (m + M) + I / (m * r));
    assert_close(last(run, "slip"), 0, 1e-7);
    assert_close(last(run, "turning"), w, 1e-6);
    if (slips) assert_true(fabs(at(run, 0, "slip")) > 2.9 && last(run, "x_rate") > 0.1);
    if (slips) assert_true(last(run, "energy.work") < -1);
    tr_sheet_free(run);
}

static void test_ball_on_plank(void **state)
{
    (void)state;
    check_plank("", false);
    check_plank(", longitudinal: coulomb, lateral: coulomb, friction: 0.4", true);
    check_plank(", longitudinal: viscous, viscosity: 10", true);
    check_plank(", longitudinal: -8*slip*normal", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turntable),      cmocka_unit_test(test_turntable_period),
        cmocka_unit_test(test_coasting_table), cmocka_unit_test(test_treadmill),
        cmocka_unit_test(test_ball_on_plank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
