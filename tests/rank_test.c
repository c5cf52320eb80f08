// SPDX-License-Identifier: Apache-2.0
// Runs whose constraints change their rank stop and say so; ranks that stay, and singular starts.
#include "charts.h"
#include "plan/start.h"
#include "plans.h"

// ---- the rank changes ----------------------------------------------------------------------

// The pendulum that the parallelogram is, from -1.2 rad at 12 rad/s up to 0: by Simpson's rule,
// t = integral d(angle) / sqrt(rate0^2 - 2 (G/I) (sin angle - sin angle0))
static double time_of_over(void)
{
    const double a = 0.5, m_a = 0.2, m_b = 3, angle0 = -1.2, rate0 = 12;
    const double I = 2 * m_a * a * a / 3 + m_b * a * a, G = (m_a + m_b) * a * 9.81;
    enum { PARTS = 2000 };
    double sum = 0;
    for (int i = 0; i <= PARTS; i++) {
        const double angle = angle0 * (1 - (double)i / PARTS);
        const double rate = sqrt(rate0 * rate0 - 2 * G / I * (sin(angle) - sin(angle0)));
        sum += (i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2) / rate;
    }
    return -angle0 / PARTS / 3 * sum;
}

typedef struct RankChange {
    const char *model, *case_name, *rows;
    double t;
} RankChange;

#define WHEELS "'wheels1.lateral', 'wheels2.lateral'"

// The axles pass pi/2, or only touch it; the bars come to lie in one line.
static RankChange across(void)
{
    return (RankChange){"snakeboard_wide", "across", WHEELS, asin(M_PI / 2 / 1.7) / 2};
}
static RankChange touch(void) { return (RankChange){"snakeboard_wide", "touch", WHEELS, M_PI / 4}; }
static RankChange over(void)
{
    return (RankChange){"parallelogram", "over", "'closing.longitudinal'", time_of_over()};
}

// All rows before the event, of finite numbers, and none behind it
static void check_partial(const RankChange *change, const tr_simulate_options *o,
                          const tr_summary *s)
{
    Sheet *run = read_sheet(o->output);
    assert_int_equal(run->rows, s->rows);
    for (size_t i = 0; i < run->rows; i++)
        assert_close(at(run, i, "t"), (double)i * o->every, 1e-12);
    if (run->rows != (size_t)(change->t / o->every) + 1)
        fail_msg("%s: the last row is at %.9g, the rank changes at %.9g", change->case_name,
                 last(run, "t"), change->t);
    assert_below(largest(run, "residual.position"), 1e-10);
    tr_sheet_free(run);
}

static void check_words(const RankChange *change, const char *words, double tolerance)
{
    static const char start[] = "the constraints change their rank at t = ";
    static const char middle[] = ": no longer independent: ";
    const double t = number_behind(words, start);
    if (strncmp(words, start, strlen(start)) != 0) fail_msg("%s", words);
    if (!is_below(fabs(t - change->t), tolerance))
        fail_msg("%s: off by %.1e: %s", change->case_name, t - change->t, words);
    assert_non_null(strstr(words, middle));
    assert_string_equal(strstr(words, middle) + strlen(middle), change->rows);
}

static void check_rank_change(RankChange change, tr_simulate_options o, double tolerance)
{
    tr_system *system = system_called(change.model, change.case_name);
    tr_error err = {0};
    tr_summary s = {0};
    o.output = in_folder("run.csv");
    assert_false(tr_simulate(system, &o, &s, &err));
    assert_int_equal(err.status, TR_FAILED);
    print_message("%-6s %-4s %-5s: off by %8.1e\n", change.case_name, o.method,
                  o.dense ? "dense" : "", number_behind(err.text, " t = ") - change.t);
    check_words(&change, err.text, tolerance);
    char *json = certificate();
    assert_non_null(strstr(json, err.text));
    assert_non_null(strstr(json, "\n  \"interrupted\": false,\n  \"failure\": \"the "));
    free(json);
    assert_true(certified("reached") == s.t);
    check_partial(&change, &o, &s);
    tr_system_free(system);
}

static tr_simulate_options usual(const char *method)
{
    return (tr_simulate_options){.size = sizeof(tr_simulate_options),
                                 .end = 20,
                                 .every = 0.02,
                                 .method = method,
                                 .step = 1e-3,
                                 .rtol = 1e-10,
                                 .atol = 1e-12};
}

static void test_rank_changes(void **state)
{
    (void)state;
    tr_simulate_options o = usual("erk");
    for (int dense = 0; dense < 2; dense++) {
        o.dense = dense;
        check_rank_change(across(), o, 1e-8);
        check_rank_change(touch(), o, 1e-6);
        check_rank_change(over(), o, 1e-8);
    }
}

static void test_rank_changes_by_steps(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk4", "pece", "lie"};
    for (int i = 0; i < 3; i++) {
        check_rank_change(over(), usual(methods[i]), 1e-8);
        check_rank_change(touch(), usual(methods[i]), 1e-6);
        check_rank_change(across(), usual(methods[i]), 1e-8);
    }
    tr_simulate_options fine = usual("rk4");
    for (int i = 0; i < 2; i++) {
        fine.step = i ? 3e-5 : 1e-4;
        check_rank_change(over(), fine, 1e-8);
        check_rank_change(across(), fine, 1e-8);
        check_rank_change(touch(), fine, 1e-6);
    }
}

// Whether a run stops where the rank changes; words are printed when it does not.
static bool is_found(RankChange change, tr_simulate_options o)
{
    tr_system *system = system_called(change.model, change.case_name);
    tr_error err = {0};
    const bool done = tr_simulate(system, &o, NULL, &err);
    const char *t = strstr(err.text, " change their rank at t = ");
    const bool found = !done && t && fabs(number_behind(t, "t = ") - change.t) < 1e-3;
    if (!found)
        print_error("%s with %s, a step of %g, rtol %g and rows at %g: %s\n", change.case_name,
                    o.method, o.step, o.rtol, o.every, done ? "not found" : err.text);
    tr_system_free(system);
    return found;
}

static bool all_found(tr_simulate_options o)
{
    const bool passed = is_found(across(), o), touched = is_found(touch(), o);
    return is_found(over(), o) && passed && touched;
}

// However the steps fall, none goes past it.
static void test_rank_changes_are_not_missed(void **state)
{
    (void)state;
    int missed = 0;
    for (int i = 0; i < 10; i += BRIEF ? 3 : 1) {
        tr_simulate_options o = usual("erk");
        o.rtol = pow(10, -3 - i);
        missed += !all_found(o);
        o.every = 0.5;
        missed += !all_found(o);
        o = usual("rk4");
        o.step = 1e-4 * pow(1.6, i); // up to 7 ms
        missed += !all_found(o);
    }
    assert_int_equal(missed, 0);
}

// Also where nothing is known of the time before the step: in the first one in a chart, or where
// the path begins anew.
static void test_touches_are_not_missed(void **state)
{
    (void)state;
    enum { TOLERANCES = 40 };
    int missed = 0;
    for (int i = 0; i < TOLERANCES; i += BRIEF ? 8 : 1) {
        tr_simulate_options o = usual("erk");
        o.rtol = pow(10, -3 - 9.0 * i / (TOLERANCES - 1)), o.every = 0.5;
        missed += !is_found(touch(), o);
    }
    assert_int_equal(missed, 0);
}

// Dense rows and coarse steps pass the event before it is seen.
static void test_no_rows_behind_a_rank_change(void **state)
{
    (void)state;
    tr_simulate_options o = usual("erk");
    o.dense = true, o.every = 3e-4;
    check_rank_change(over(), o, 1e-6);
    check_rank_change(across(), o, 1e-6);
    check_rank_change(touch(), o, 1e-5);
    o = usual("rk4");
    o.step = o.every = 0.05;
    check_rank_change(touch(), o, 1e-6);
}

// What only comes near goes on.
static void test_ranks_that_stay(void **state)
{
    (void)state;
    static const struct {
        const char *model, *case_name, *line;
    } near[] = {{"snakeboard_wide", "ride", "  a: 1.57"},
                {"parallelogram", "swing", "  angle0: -0.001"},
                {"parallelogram", "swing", "  angle0: -0.1"}};
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece"};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        for (int k = 0; k < 4; k++) {
            tr_system *system = system_edited(near[i].model, near[i].case_name, near[i].line);
            tr_simulate_options o = by_steps(system, methods[k], 1e-3);
            tr_summary s;
            o.end = 5;
            Sheet *run = simulated(system, o, &s);
            assert_true(s.t == 5);
            assert_below(s.energy_error, 1e-8);
            assert_below(s.kkt_error, 1e-10);
            tr_sheet_free(run);
            tr_system_free(system);
        }
}

// ---- Bricard's linkage ---------------------------------------------------------------------

static void test_bricard_facts(void **state)
{
    (void)state;
    static const char *const cases[] = {"hinge", "turn"};
    for (int i = 0; i < 2; i++) {
        char *json = facts_of(system_called("bricard", cases[i]));
        assert_fact(json, "rows", 5 + i);
        assert_fact(json, "m", 4);
        assert_fact(json, "m_locked", 4);
        assert_fact(json, "redundant", 1 + i);
        assert_fact(json, "kernel", 1);
        tr_text_free(json);
    }
}

static uint32_t rank_at(Stance *stance, const double *x)
{
    Rank rank;
    assert_true(tr_stance_take(stance, x));
    assert_true(tr_stance_rank(stance, false, NO_ROW, RANK_TOLERANCE, true, &rank));
    const uint32_t found = rank.rank;
    tr_rank_free(&rank);
    return found;
}

static void put_joints(const tr_system *system, const Sheet *run, size_t row, double *x)
{
    for (size_t i = 0; i < tr_input_count(system); i++)
        if (tr_input_kind(system, i) == TR_POSITION) x[i] = at(run, row, tr_input_name(system, i));
}

// Four on every posture that it comes to; five beside them, however near
static void check_ranks(const char *case_name)
{
    tr_system *system = system_called("bricard", case_name);
    tr_error err = {0};
    tr_summary s;
    Random r = {12345};
    Sheet *run = simulated(system, tr_simulate_defaults(system), &s);
    Flow *flow = open_flow(system, &err);
    Stance *stance = flow->stance;
    double *x = calloc(tr_input_count(system), sizeof *x);
    assert_true(stance && x);
    tr_start_values(system, x);
    for (size_t row = 0; row < run->rows; row++) {
        put_joints(system, run, row, x);
        assert_int_equal(rank_at(stance, x), 4);
        const double size = pow(10, random_between(&r, -6, -1));
        for (size_t i = 0; i < tr_input_count(system); i++)
            if (tr_input_kind(system, i) == TR_POSITION) x[i] += size * random_between(&r, -1, 1);
        assert_int_equal(rank_at(stance, x), 5);
    }
    free(x);
    close_flow(flow);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void test_bricard_ranks(void **state)
{
    (void)state;
    check_ranks("hinge");
    check_ranks("turn");
}

// ---- singular starts -----------------------------------------------------------------------

static void test_singular_start(void **state)
{
    (void)state;
    char text[MOST_TEXT];
    for (int allowed = 0; allowed < 2; allowed++) {
        tr_error err = {0};
        take_text(REFERENCE_DIR "/../doctor/snake_at_rest.yaml", text);
        put_line(text, allowed ? "cases: {c: {allow: singular}}" : "cases: {c: {end: 1}}");
        tr_system *system = system_of(model_from(text), "c");
        char *words = tr_check_text(system, false, &err);
        assert_non_null(words);
        assert_non_null(strstr(words, "depend on each other at the start, but not when it moves"));
        assert_int_equal(err.status, allowed ? TR_OK : TR_INVALID);
        if (!allowed) assert_non_null(strstr(err.text, "or allow: singular"));
        tr_text_free(words);
        tr_system_free(system);
    }
}

// A flat parallelogram on a cart that is pushed along its bars, which stay in line
static const char flat[] =
    "trundle: 1\n"
    "gravity: 0, 0, 0\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 2}\n"
    "  left: {parent: cart, joint: {type: revolute, axis: \"0, 0, 1\", coordinate: angle},"
    " mass: 0.5, com: \"0.25, 0, 0\", inertia: {zz: 0.01}}\n"
    "  seat: {parent: left, joint: {type: revolute, axis: \"0, 0, 1\", at: \"0.5, 0, 0\","
    " coordinate: tilt}, mass: 3, com: \"0.4, 0, 0\", inertia: {zz: 0.2}}\n"
    "  right: {parent: cart, joint: {type: revolute, axis: \"0, 0, 1\", at: \"0.8, 0, 0\","
    " coordinate: other}, mass: 0.5, com: \"0.25, 0, 0\", inertia: {zz: 0.01}}\n"
    "contacts: {closing: {kind: pin, body: seat, at: \"0.8, 0, 0\", on: right,"
    " to: \"0.5, 0, 0\"}}\n"
    "roles: {x: {torque: 9}}\n"
    "initial: {d(x): 1}\n"
    "cases: {strict: {end: 2, every: 0.1}, put_up: {allow: singular, end: 2, every: 0.1}}\n";

static void test_singular_posture(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece"};
    tr_error err = {0};
    tr_system *system = system_of(model_from(flat), "strict");
    assert_false(tr_simulate(system, NULL, NULL, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_int_equal(strncmp(err.text, "singular: 'closing.longitudinal' ", 33), 0);
    tr_system_free(system);
    system = system_of(model_from(flat), "put_up");
    for (int i = 0; i < 4; i++) {
        tr_summary s;
        Sheet *run = simulated(system, by_steps(system, methods[i], 1e-3), &s);
        assert_int_equal(run->rows, 21);
        for (size_t k = 0; k < run->rows; k++) {
            const double t = at(run, k, "t");
            assert_close(at(run, k, "x"), t + 9 * t * t / 2 / 6, 1e-11);
        }
        assert_true(largest(run, "angle") == 0 && largest(run, "tilt") == 0);
        tr_sheet_free(run);
    }
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_changes),
        cmocka_unit_test(test_rank_changes_by_steps),
        cmocka_unit_test(test_rank_changes_are_not_missed),
        cmocka_unit_test(test_touches_are_not_missed),
        cmocka_unit_test(test_no_rows_behind_a_rank_change),
        cmocka_unit_test(test_ranks_that_stay),
        cmocka_unit_test(test_bricard_facts),
        cmocka_unit_test(test_bricard_ranks),
        cmocka_unit_test(test_singular_start),
        cmocka_unit_test(test_singular_posture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
