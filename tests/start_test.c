// SPDX-License-Identifier: Apache-2.0
// Velocities at the start: what `initial` asks for, what is left open, and what is chosen (T112).
#include "plan/metric.h"
#include "runs.h"

static Flow *start_of(tr_model *model, const char *case_name)
{
    tr_derive_options o = tr_derive_defaults();
    o.case_name = case_name;
    Flow *flow = flow_of(derived_from(model, &o));
    tr_model_free(model);
    return flow;
}

static void let_go(Flow *flow)
{
    tr_system *system = (tr_system *)flow->system;
    close_flow(flow);
    tr_system_free(system);
}

static uint32_t place_of(const Flow *flow, const char *name)
{
    for (uint32_t i = 0; i < flow->system->input_count; i++)
        if (strcmp(flow->system->inputs[i].name, name) == 0) return i;
    fail_msg("there is no '%s'", name);
    return 0;
}

static double rate_at(Flow *flow, const char *name)
{
    tr_flow_fill_all(flow, 0, flow->start);
    return flow->inputs[place_of(flow, name)];
}

static bool is_marked(const Flow *flow, const char *name, StartMark mark)
{
    return (flow->marks[place_of(flow, name)] & mark) != 0;
}

// ---- what rolls ----------------------------------------------------------------------------

static void test_cart_rolls(void **state)
{
    (void)state;
    Flow *flow = start_of(model_reported("quarter"), NULL);
    assert_close(rate_at(flow, "rear_rate"), 10 / 0.3, 1e-12);
    assert_close(rate_at(flow, "front_rate"), 10 / 0.3, 1e-12);
    assert_close(hypot(rate_at(flow, "chassis.vx"), rate_at(flow, "chassis.vz")), 10, 1e-12);
    static const char *const rest[] = {"chassis.vy", "chassis.wx", "chassis.wy", "chassis.wz",
                                       "swing_rate"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        assert_below(fabs(rate_at(flow, rest[i])), 1e-12);
    assert_true(is_marked(flow, "swing_rate", START_OPEN));
    assert_false(is_marked(flow, "swing_rate", START_CHOSEN));
    assert_true(is_marked(flow, "rear_rate", START_CHOSEN));
    let_go(flow);
}

static void test_motorcycle_rolls(void **state)
{
    (void)state;
    static const char *const cases[] = {"straight", "kick"};
    for (int i = 0; i < 2; i++) {
        Flow *flow = start_of(model_reported("moto"), cases[i]);
        assert_close(rate_at(flow, "rear_rate"), 15 / 0.32, 1e-12);
        assert_close(rate_at(flow, "front_rate"), 15 / 0.3, 1e-12);
        assert_below(fabs(rate_at(flow, "travel_rate")), 1e-11);
        assert_below(fabs(rate_at(flow, "swing_rate")), 1e-11);
        assert_below(fabs(rate_at(flow, "frame.wy")), 1e-11);
        let_go(flow);
    }
}

// A model in other units starts in the same way.
static void test_large_units(void **state)
{
    (void)state;
    Flow *flow = start_of(model_reported("units_large"), NULL);
    assert_close(rate_at(flow, "r3_rate"), 4.6 / 0.3, 1e-12);
    assert_close(rate_at(flow, "frame.vx"), 4.6 / 0.3 * 60000, 1e-12);
    assert_close(rate_at(flow, "frame.wx"), 0.5, 1e-12);
    let_go(flow);
}

// A joint that no condition is about stays at its guess, though masses couple it to what moves.
static void test_rest_stays(void **state)
{
    (void)state;
    static const char text[] = "trundle: 1\nbodies:\n"
                               "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", base: true, "
                               "coordinate: x}, mass: 1}\n"
                               "  pole: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", "
                               "coordinate: a}, mass: 3, "
                               "com: \"0, 0, 1\"}\n"
                               "frames: {tip: {body: pole, at: \"0, 0, 2\"}}\n"
                               "guess: {d(a): 0.5, a: 0.2}\n"
                               "outputs: {tip_x: tip.x}\n"
                               "initial: {%s}\n";
    char model[1000];
    snprintf(model, sizeof model, text, "d(x): 2");
    Flow *flow = start_of(model_from(model), NULL);
    assert_true(rate_at(flow, "a_rate") == 0.5);
    let_go(flow);
    snprintf(model, sizeof model, text, "d(tip_x): 2"); // the cart takes the pole along
    flow = start_of(model_from(model), NULL);
    assert_close(rate_at(flow, "a_rate"), 0.5, 1e-13);
    assert_close(rate_at(flow, "x_rate"), 2 - 2 * 0.5 * cos(0.2), 1e-13);
    let_go(flow);
}

// Where nothing is easy, by energy: two flywheels that are told their sum
static void test_energy_decides(void **state)
{
    (void)state;
    Flow *flow = start_of(
        model_from("trundle: 1\nbodies:\n"
                   "  a: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 0, 0\", "
                   "inertia: {zz: 3}}\n"
                   "  b: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 8}\n"
                   "initial: {d(a) + d(b): 6}\n"),
        NULL);
    assert_close(rate_at(flow, "a_rate"), 4, 1e-13); // 4 * 4 = 8 * 2
    assert_close(rate_at(flow, "b_rate"), 2, 1e-13);
    let_go(flow);
}

// What rounding leaves of a motion is none, and as easy as none: a plane that stands upright, by a
// number and by a parameter, where cos(pi/2) is 6e-17, and one that leans by nothing but that.
static void test_rounding_is_not_easy(void **state)
{
    (void)state;
    static const char *const turns[] = {"0.5*pi, 0, 0.3", "p, 0, 0.3", "p + 1e-14, 0, 0.3"};
    static const char *const rates[] = {"sled.vx", "sled.vy", "sled.wz",
                                        "arm.wx",  "arm.wy",  "arm.wz"};
    double found[3][6];
    for (int i = 0; i < 3; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "trundle: 1\nparameters: {p: 0.5*pi}\nbodies:\n"
                 "  sled: {joint: {type: planar}, mass: 2, inertia: {zz: 0.4}}\n"
                 "  arm: {parent: sled, joint: {type: ball, at: \"0.1, 0, 0.3\"}, mass: 1, com: "
                 "\"0.2, 0, 0.1\", inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}\n"
                 "guess: {sled.vx: 1, sled.vy: 0.3, sled.wz: 0.8, arm.wx: 0.4, arm.wz: 1}\n"
                 "ground: {at: \"0, 0.4, 0\", turn: \"%s\"}\n"
                 "contacts: {E: {kind: slide, body: arm, at: \"0.3, 0.1, 0.2\", on: ground, "
                 "unilateral: false}}\n",
                 turns[i]);
        Flow *flow = start_of(model_from(text), NULL);
        for (int k = 0; k < 6; k++) found[i][k] = rate_at(flow, rates[k]);
        let_go(flow);
    }
    for (int i = 1; i < 3; i++)
        for (int k = 0; k < 6; k++) assert_close(found[i][k], found[0][k], 1e-8); // as the start is
}

// ---- the metric ----------------------------------------------------------------------------

// It satisfies the conditions, whatever is easy.
static void test_metric(void **state)
{
    (void)state;
    Random r = {7};
    for (int trial = 0; trial < 200; trial++) {
        enum { N = 6, M = 3, EASY = 2 };
        double mass[N], easy[EASY * N], A[M * N], x[N + M], b[M];
        Metric g;
        for (int k = 0; k < N; k++) mass[k] = exp(random_between(&r, -2, 2));
        for (int k = 0; k < EASY * N; k++) easy[k] = random_between(&r, -1, 1);
        for (int k = 0; k < M * N; k++) A[k] = random_between(&r, -1, 1);
        for (int k = 0; k < M; k++) x[k] = b[k] = random_between(&r, -1, 1);
        assert_true(tr_metric_new(&g, N, EASY));
        assert_true(tr_metric_take(&g, mass, easy, EASY));
        uint32_t rank = 0;
        assert_true(tr_metric_shortest(&g, A, M, x, 1e-10, &rank));
        assert_int_equal(rank, M);
        for (int i = 0; i < M; i++) {
            double off = -b[i];
            for (int k = 0; k < N; k++) off += A[i * N + k] * x[k];
            assert_below(fabs(off), 1e-11);
        }
        tr_metric_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cart_rolls),           cmocka_unit_test(test_motorcycle_rolls),
        cmocka_unit_test(test_large_units),          cmocka_unit_test(test_rest_stays),
        cmocka_unit_test(test_energy_decides),       cmocka_unit_test(test_metric),
        cmocka_unit_test(test_rounding_is_not_easy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
