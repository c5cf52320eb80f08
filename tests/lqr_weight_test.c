// SPDX-License-Identifier: Apache-2.0
// What weights of a regulator mean: sums of squares by hand, names of what depends on other
// states, and outputs that inputs change at once.
#include "charts.h"

#define LQR(...) (&(tr_lqr_options){sizeof(tr_lqr_options), __VA_ARGS__})

static const tr_lqr *design(tr_system *system, const tr_lqr_options *o)
{
    tr_error err = {0};
    const tr_lqr *lqr = tr_lqr_design(system, o, &err);
    if (!lqr) fail_msg("%s", err.text);
    return lqr;
}

static tr_system *robot(void)
{
    char text[MOST_TEXT];
    take_text(REPORTED_DIR "/robot2.yaml", text);
    put_line(text, "  hand_z: chassis.vx"); // an output that is a velocity
    return system_from(text);
}

static size_t index_of(const tr_lqr *lqr, const char *name)
{
    size_t i = 0;
    while (i < lqr->states && strcmp(lqr->state[i], name) != 0) i++;
    if (i == lqr->states) fail_msg("there is no state '%s'", name);
    return i;
}

static double weight(const tr_lqr *lqr, const char *a, const char *b)
{
    return lqr->Q[index_of(lqr, a) * lqr->states + index_of(lqr, b)];
}

static double squared(double x) { return x * x; }

// ---- all that counts -----------------------------------------------------------------------

// Wheels of radius r at +-b roll: the axle goes forward at r (l + q)/2 + r w and turns at
// r (q - l)/2b, for rates l, q of the wheels against a chassis that pitches at w. Along and about
// axes of the chassis, which leans, these squares have the same sum.
static void test_sum_of_squares(void **state)
{
    (void)state;
    const double r = 0.1, b = 0.2, along = r / 2, turn = r / (2 * b);
    tr_system *system = robot();
    const tr_lqr *lqr = design(system, LQR(.inputs = "uL,uR,us,ue"));
    assert_int_equal(lqr->states, 8); // no place, no heading, no angles of wheels
    assert_close(weight(lqr, "left_rate", "left_rate"), 1 + squared(along) + squared(turn), 1e-12);
    assert_close(weight(lqr, "right_rate", "right_rate"), 1 + squared(along) + squared(turn),
                 1e-12);
    assert_close(weight(lqr, "left_rate", "right_rate"), squared(along) - squared(turn), 1e-12);
    assert_close(weight(lqr, "chassis.wy", "chassis.wy"), 1 + squared(r), 1e-12);
    assert_close(weight(lqr, "chassis.wy", "left_rate"), r * along, 1e-12);
    static const char *const alone[] = {"chassis.ry", "shoulder", "elbow", "shoulder_rate",
                                        "elbow_rate"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        for (size_t k = 0; k < lqr->states; k++)
            assert_close(weight(lqr, alone[i], lqr->state[k]), strcmp(alone[i], lqr->state[k]) == 0,
                         1e-12);
    tr_lqr_free(lqr);
    tr_system_free(system);
}

// Two sliders that a rod keeps apart: one coordinate depends on the other, and counts all the same.
static void test_dependent_coordinates(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\ninputs: {u: 0}\ngravity: 0, 0, 0\n"
        "bodies:\n"
        "  a: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x, stiffness: 1}, mass: 1}\n"
        "  b: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: y}, mass: 1}\n"
        "constraints: {rod: {position: 3*x - y}}\n"
        "roles: {x: {torque: u}}\noutputs: {place: y}\n");
    const tr_lqr *all = design(system, LQR(.inputs = "u")),
                 *named = design(system, LQR(.inputs = "u", .q = "y=5,d(x)=2")),
                 *output = design(system, LQR(.inputs = "u", .q = "place=4,x_rate=2"));
    assert_int_equal(all->states, 2);
    const double unit = strcmp(all->state[0], "x") == 0 ? 1 : 1.0 / 9; // y is 3 x
    assert_close(all->Q[0], (1 + 9) * unit, 1e-12);
    assert_close(named->Q[0], (1 + 5 * 9) * unit, 1e-12);
    assert_string_equal(all->state[1], "x_rate"); // what is driven
    assert_close(all->Q[3], 1 + 9, 1e-12);
    assert_close(named->Q[3], 2 + 9, 1e-12);
    for (size_t i = 0; i < 2; i++) assert_close(named->K[i], output->K[i], 1e-11);
    tr_lqr_free(all);
    tr_lqr_free(named);
    tr_lqr_free(output);
    tr_system_free(system);
}

// ---- names ---------------------------------------------------------------------------------

// A name takes the place of the 1 that its quantity counts, an output adds.
static void test_names(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"chassis.vx=5", "hand_z=4"},
                                           {"chassis.x=20", "way=20"},
                                           {"left_rate=3", "d(left)=3"},
                                           {"chassis.wy=1", NULL},
                                           {"chassis.vy=9", "chassis.wz=1,left=0"}};
    tr_system *system = robot();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const tr_lqr *a = design(system, LQR(.inputs = "uL,uR,us,ue", .q = pairs[i][0])),
                     *b = design(system, LQR(.inputs = "uL,uR,us,ue", .q = pairs[i][1]));
        assert_int_equal(a->states, b->states);
        for (size_t k = 0; k < a->states * a->inputs; k++) assert_close(a->K[k], b->K[k], 1e-9);
        tr_lqr_free(a);
        tr_lqr_free(b);
    }
    tr_system_free(system);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *q, *words;
    } wrong[] = {{"speed=1", "the derivative of 'speed' is not finite"},
                 {"spede=1", "did you mean 'speed'?"},
                 {"x_rat=1", "did you mean 'x_rate'?"}};
    tr_system *system = system_from(
        "trundle: 1\ninputs: {u: 0}\n"
        "bodies:\n  a: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: 1}\n"
        "roles: {x: {torque: u}}\noutputs: {speed: sqrt(d(x)^2)}\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tr_error err = {0};
        assert_null(tr_lqr_design(system, LQR(.inputs = "u", .q = wrong[i].q), &err));
        if (!strstr(err.text, wrong[i].words)) fail_msg("%s", err.text);
    }
    const tr_lqr *lqr = design(system, LQR(.inputs = "u")); // nobody asks for it
    assert_close(lqr->K[0], 1, 1e-12);
    tr_lqr_free(lqr);
    tr_system_free(system);
}

// ---- outputs that inputs change at once ----------------------------------------------------

// m v' = u - c v with the weight w of v + k u: (1 + w) v^2 + 2 w k v u + (1 + w k^2) u^2
static void test_products(void **state)
{
    (void)state;
    const double m = 2, c = 0.5, k = 0.3, w = 4, a = -c / m, b = 1 / m;
    tr_system *system = system_from(
        "trundle: 1\ninputs: {u: 0}\n"
        "bodies:\n  a: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x, damping: 0.5}, "
        "mass: 2}\nroles: {x: {torque: u}}\noutputs: {y: d(x) + 0.3*u, push: d(d(x))}\n");
    const tr_lqr *lqr = design(system, LQR(.inputs = "u", .q = "y=4"));
    const double Q = 1 + w, N = w * k, R = 1 + w * k * k;
    assert_int_equal(lqr->states, 1);
    assert_close(lqr->Q[0], Q, 1e-12);
    assert_close(lqr->N[0], N, 1e-12);
    assert_close(lqr->R[0], R, 1e-12);
    // 2 a P + Q - (b P + N)^2 / R = 0
    const double half = (a - b * N / R) * R / (b * b),
                 P = half + sqrt(half * half + (Q - N * N / R) * R / (b * b));
    assert_close(lqr->K[0], (b * P + N) / R, 1e-12);
    tr_lqr_free(lqr);
    // an acceleration: (u - c v)^2 / m^2
    lqr = design(system, LQR(.inputs = "u", .q = "push=8", .step = 0.1));
    assert_close(lqr->Q[0], 1 + 8 * a * a, 1e-12);
    assert_close(lqr->N[0], 8 * a * b, 1e-12);
    assert_close(lqr->R[0], 1 + 8 * b * b, 1e-12);
    const double A = lqr->A[0], B = lqr->B[0], K = lqr->K[0];
    // what K costs, P = (Q - 2 N K + R K^2) / (1 - (A - B K)^2), is least
    double cost[3];
    for (int i = 0; i < 3; i++) {
        const double own = K + 1e-5 * (i - 1);
        cost[i] =
            (lqr->Q[0] - 2 * lqr->N[0] * own + lqr->R[0] * own * own) / (1 - squared(A - B * own));
    }
    assert_true(cost[1] <= cost[0] && cost[1] <= cost[2]);
    assert_below(fabs(cost[2] - cost[0]), 1e-9);
    tr_lqr_free(lqr);
    tr_system_free(system);
}

// As far as weights of inputs go, names do not matter: by the square root of a weight larger.
static void test_inputs(void **state)
{
    (void)state;
    tr_system *system = robot();
    const tr_lqr *plain = design(system, LQR(.inputs = "uL,uR,us,ue", .q = "pitch=10")),
                 *equal =
                     design(system, LQR(.inputs = "ue,uR,us,uL", .q = "pitch=10", .r = "uR=1"));
    for (size_t i = 0; i < plain->states; i++) {
        assert_close(plain->K[i], equal->K[3 * plain->states + i], 1e-9);
        assert_close(plain->K[3 * plain->states + i], equal->K[i], 1e-9);
    }
    tr_lqr_free(equal);
    const tr_lqr *dear =
        design(system, LQR(.inputs = "uL,uR,us,ue", .q = "pitch=10", .r = "us=50"));
    assert_true(fabs(dear->K[2 * dear->states + index_of(dear, "shoulder")]) <
                0.5 * fabs(plain->K[2 * plain->states + index_of(plain, "shoulder")]));
    assert_close(dear->R[2 * 4 + 2], 50, 0);
    tr_lqr_free(dear);
    tr_lqr_free(plain);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum_of_squares), cmocka_unit_test(test_dependent_coordinates),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_refused),
        cmocka_unit_test(test_products),       cmocka_unit_test(test_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
