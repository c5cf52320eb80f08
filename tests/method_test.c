// SPDX-License-Identifier: Apache-2.0
// The methods: what they conserve, their orders, and that they agree.
#include "model/model.h"
#include "motion.h"

// ---- conserved quantities ------------------------------------------------------------------

static void test_tumbling(void **state)
{
    (void)state;
    static const char *const L[] = {"Lx", "Ly", "Lz"};
    tr_system *system = system_from(tumbling);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 100, o.every = 0.05;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    assert_int_equal(t->rows, 2001);
    double energy = 0, momentum = 0, norm = 0;
    int flips = 0;
    const double E0 = at(t, 0, "energy.kinetic"), L0 = at(t, 0, "Ly");
    for (size_t i = 0; i < t->rows; i++) {
        const double q[] = {at(t, i, "b.qw"), at(t, i, "b.qx"), at(t, i, "b.qy"), at(t, i, "b.qz")};
        energy = fmax(energy, fabs(at(t, i, "energy.kinetic") / E0 - 1));
        for (int k = 0; k < 3; k++)
            momentum = fmax(momentum, fabs(at(t, i, L[k]) - at(t, 0, L[k])) / L0);
        norm = fmax(norm, fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1));
        flips += i && (at(t, i, "b.wy") > 0) != (at(t, i - 1, "b.wy") > 0);
        assert_close(at(t, i, "b.x"), 1 + 0.3 * at(t, i, "t"), 1e-11);
    }
    print_message("tumbling over 100 s: energy %.1e, angular momentum %.1e, quaternion %.1e, "
                  "%d flips\n",
                  energy, momentum, norm, flips);
    assert_below(energy, 1e-11);
    assert_below(momentum, 1e-11);
    assert_below(norm, 1e-13);
    assert_true(flips >= 4);
    assert_below(s.energy_error, 1e-11);
    assert_below(s.position_error, 1e-13);
    tr_sheet_free(t);
    tr_system_free(system);
}

// ---- the methods ---------------------------------------------------------------------------

static double states_apart(const Motion *a, const Motion *b)
{
    double worst = 0;
    for (uint32_t i = 0; i < a->flow->size; i++)
        worst = fmax(worst, fabs(a->mover->y[i] - b->mover->y[i]));
    return worst;
}

static Motion reference(tr_system *system, double until)
{
    Motion m = start(system, "erk", 1);
    m.mover->rtol = 1e-14, m.mover->atol = 1e-15;
    move(&m, until);
    return m;
}

static double error_after(tr_system *system, const char *method, double step, const Motion *exact)
{
    Motion m = start(system, method, step);
    move(&m, exact->mover->t);
    const double error = states_apart(&m, exact);
    stop(&m);
    return error;
}

// The order is the slope of the error, between two halvings of the step: of y, quaternion and all,
// after one second. pece is started by three steps of rk4, whose error is of order 5 as well.
static void test_orders(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double order, step;
    } cases[] = {{"euler", 1, 1. / 4096},
                 {"rosenbrock", 2, 1. / 512},
                 {"rk4", 4, 1. / 64},
                 {"lie", 4, 1. / 64},
                 {"pece", 5, 1. / 128}};
    tr_system *system = system_from(top);
    Motion exact = reference(system, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double e[3];
        for (int k = 0; k < 3; k++)
            e[k] = error_after(system, cases[i].method, cases[i].step / (1 << k), &exact);
        const double first = log2(e[0] / e[1]), second = log2(e[1] / e[2]);
        print_message("%-5s errors %.2e %.2e %.2e: orders %.2f %.2f\n", cases[i].method, e[0], e[1],
                      e[2], first, second);
        assert_true(fabs(second - cases[i].order) < 0.25);
        assert_true(fabs(first - cases[i].order) < 0.6);
    }
    stop(&exact);
    tr_system_free(system);
}

static void test_methods_agree(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk4", "lie", "pece"};
    tr_system *system = system_from(top);
    Motion exact = reference(system, 1.5);
    for (size_t i = 0; i < 3; i++)
        assert_below(error_after(system, methods[i], 1e-3, &exact), 2e-9);
    assert_below(error_after(system, "euler", 1e-4, &exact), 1e-2); // not a margin: first order
    // what pece tends to is what rk4 tends to
    Motion rk4 = start(system, "rk4", 2e-4), pece = start(system, "pece", 2e-4);
    move(&rk4, 1.5);
    move(&pece, 1.5);
    assert_below(states_apart(&rk4, &pece), 1e-12);
    stop(&rk4);
    stop(&pece);
    stop(&exact);
    tr_system_free(system);
}

// The largest error beside the size of what it is an error of (works are thousands of joules)
static double share_after(tr_system *system, double step, const Motion *exact)
{
    Motion m = start(system, "rosenbrock", step);
    move(&m, exact->mover->t);
    double worst = 0;
    for (uint32_t i = 0; i < m.flow->size; i++) {
        const double right = exact->mover->y[i];
        worst = fmax(worst, fabs(m.mover->y[i] - right) / fmax(1, fabs(right)));
    }
    stop(&m);
    return worst;
}

// Couplings that are at rest within 1e-4 s, by steps of 5 ms: of second order as if they were not
// there, where Runge-Kutta is lost at once.
static void test_stiff(void **state)
{
    (void)state;
    tr_system *system = system_called("stiff_train", NULL);
    Motion exact = start(system, "bdf", 1);
    exact.mover->rtol = 1e-11, exact.mover->atol = 1e-13;
    move(&exact, 2);
    const double coarse = share_after(system, 5e-3, &exact),
                 fine = share_after(system, 2.5e-3, &exact);
    print_message("stiff train by steps of 5 and 2.5 ms: errors %.1e, %.1e\n", coarse, fine);
    assert_true(coarse < 1e-3 && fabs(log2(coarse / fine) - 2) < 0.3);
    Motion rk4 = start(system, "rk4", 5e-3);
    tr_error err = {0};
    assert_false(rk4.mover->method->advance(rk4.mover, 2, &err));
    assert_int_equal(err.status, TR_FAILED);
    stop(&rk4);
    stop(&exact);
    tr_system_free(system);
}

// drift: how far a step leaves the unit sphere, before that is mended
static void test_lie_stays_on_the_group(void **state)
{
    (void)state;
    tr_system *system = system_from(top);
    Motion lie = start(system, "lie", 0.05), rk4 = start(system, "rk4", 0.05);
    move(&lie, 50);
    move(&rk4, 50);
    print_message("drift in a step of 0.05 s: lie %.1e, rk4 %.1e\n", lie.mover->drift,
                  rk4.mover->drift);
    assert_below(lie.mover->drift, 1e-15);
    assert_true(rk4.mover->drift > 1e-9);
    assert_below(off_by(rk4.flow, rk4.mover->y), 1e-15);
    stop(&lie);
    stop(&rk4);
    tr_system_free(system);
}

// A quaternion that is held has no velocity in the state; its place is not that of another thing.
static void test_held_turning(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  arm: {parent: b, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1, com: \"1, 0, 0\","
        " inertia: {yy: 0.1}}\n"
        "roles: {arm: {torque: 3}}\n"
        "initial: {b.R13: 0.3, b.R23: 0.2, b.z: 1}\n"
        "cases: {held: {hold: [b], end: 1}}\n";
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie", "euler"};
    tr_system *system = system_from(text);
    Motion exact = reference(system, 1);
    for (int k = 0; k < 7; k++) assert_close(exact.mover->y[k], exact.y0[k], 1e-15);
    for (size_t i = 0; i < 6; i++) {
        Motion m = start(system, methods[i], 1e-3);
        move(&m, 1);
        for (int k = 0; k < 7; k++) assert_close(m.mover->y[k], m.y0[k], 1e-15);
        assert_below(states_apart(&m, &exact), (i == 5 ? 0.1 : 1e-9));
        stop(&m);
    }
    stop(&exact);
    tr_system_free(system);
}

static void test_tolerances(void **state)
{
    (void)state;
    static const double rtol[] = {1e-4, 1e-7, 1e-10};
    tr_system *system = system_from(top);
    Motion exact = reference(system, 5);
    double last_error = 1;
    size_t last_steps = 0;
    for (int i = 0; i < 3; i++) {
        Motion m = start(system, "erk", 1);
        m.mover->rtol = rtol[i], m.mover->atol = rtol[i] / 100;
        move(&m, 5);
        const double error = states_apart(&m, &exact);
        print_message("rtol %.0e: error %.1e in %zu steps\n", rtol[i], error, m.mover->steps);
        assert_true(error < last_error);
        assert_below(error, 1e3 * rtol[i]);
        assert_true(m.mover->steps > last_steps);
        last_error = error, last_steps = m.mover->steps;
        stop(&m);
    }
    stop(&exact);
    tr_system_free(system);
}

// ---- the grid of fixed steps ---------------------------------------------------------------

static const char *const stepping[] = {"rk4", "pece", "lie", "euler"};

// Calls that end on the grid do not matter: one, one a step, some a step, written in several ways.
static void test_calls_on_the_grid(void **state)
{
    (void)state;
    tr_system *system = system_from(top);
    for (int k = 0; k < 4; k++) {
        Motion once = start(system, stepping[k], 1e-3);
        move(&once, 0.5);
        for (int way = 0; way < 4; way++) {
            Motion often = start(system, stepping[k], 1e-3);
            for (int i = 1; i <= 500; i++)
                if (way != 2 || i % 7 == 0 || i == 500)
                    move(&often, way == 0 ? i * 1e-3 : way == 1 ? 0.5 * i / 500 : i / 1000.0);
            assert_int_equal(often.mover->steps, 500);
            assert_true(often.flow->evaluations == once.flow->evaluations);
            assert_memory_equal(often.mover->y, once.mover->y, once.flow->size * sizeof(double));
            stop(&often);
        }
        stop(&once);
    }
    tr_system_free(system);
}

// One beside it takes a short step, and the next grid begins there.
static void test_calls_beside_the_grid(void **state)
{
    (void)state;
    tr_system *system = system_from(top);
    for (int k = 0; k < 4; k++) {
        Motion m = start(system, stepping[k], 1e-3), same = start(system, stepping[k], 1e-3);
        move(&m, 0.0105);
        assert_int_equal(m.mover->steps, 11);
        move(&m, 0.0205);
        assert_int_equal(m.mover->steps, 21);
        move(&m, 0.0206);
        assert_int_equal(m.mover->steps, 22);
        move(&same, 0.0105);
        move(&same, 0.0155); // as good as not at all
        move(&same, 0.0205);
        move(&same, 0.0206);
        assert_memory_equal(same.mover->y, m.mover->y, m.flow->size * sizeof(double));
        stop(&m), stop(&same);
        Motion summed = start(system, stepping[k], 1e-3); // a clock that rounds
        double t = 0;
        for (int i = 0; i < 3000; i++) move(&summed, t += 1e-3);
        assert_true(t != 3 && fabs(t - 3) < 1e-10);
        assert_int_equal(summed.mover->steps, 3000);
        stop(&summed);
    }
    tr_system_free(system);
}

// Whole runs divide the time between rows, also where the last one is shorter.
static void test_steps_between_rows(void **state)
{
    (void)state;
    static const struct {
        double end, every, step;
        size_t steps;
    } runs[] = {{1, 0.1, 0.03, 40},      {1, 0.1, 0.1, 10},    {1, 0.1, 7, 10},
                {1, 0.3, 0.1, 10},       {0.7, 0.1, 0.01, 70}, {3, 1. / 3, 0.01, 306},
                {1, 0.3, 0.2, 3 * 2 + 1}};
    tr_system *system = system_from(top);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        tr_simulate_options o = tr_simulate_defaults(system);
        tr_summary s;
        o.method = "rk4", o.end = runs[i].end, o.every = runs[i].every, o.step = runs[i].step;
        Sheet *t = simulated(system, o, &s);
        assert_int_equal(s.steps, runs[i].steps);
        tr_sheet_free(t);
    }
    tr_system_free(system);
}

static void test_unknown_method(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_null(tr_method("heun", &err));
    assert_error(err, TR_USAGE,
                 "there is no method 'heun': it is erk, bdf, rk4, pece, lie, rosenbrock or euler");
}

// ---- the rows ------------------------------------------------------------------------------

static const struct MethodRow {
    const char *name;
    bool adaptive;
    const char *words;
} rows[] = {
#define METHOD(name, adaptive, advance, step, options, words) {#name, adaptive, words},
#include "sim/method.def"
#undef METHOD
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static void test_rows(void **state)
{
    (void)state;
    tr_error err = {0};
    for (int i = 0; i < ROW_COUNT; i++) {
        const Method *method = tr_method(rows[i].name, &err);
        assert_non_null(method);
        assert_string_equal(method->name, rows[i].name);
        assert_int_equal(method->adaptive, rows[i].adaptive);
        assert_true(method->advance && !method->step == method->adaptive);
    }
}

// "a (words), b", or without the words "a, b"
static void list_rows(Buffer *list, bool with_words)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        tr_buffer_print(list, i ? ", %s" : "%s", rows[i].name);
        if (with_words && rows[i].words[0]) tr_buffer_print(list, " (%s)", rows[i].words);
    }
}

static const char *help_of_method(void)
{
#define OPTION(name, argument, kind, place, of, otherwise, doc) \
    if (strcmp(name, "--method") == 0) return doc;
#include "cli/option.def"
#undef OPTION
    return "";
}

// Whoever lists them has the same list: help, the model format, which also has a default, and the
// public header.
static void test_lists(void **state)
{
    (void)state;
    Buffer list = {0}, names = {0};
    list_rows(&list, true);
    assert_string_equal(help_of_method(), list.at);
    const Field *field = tr_kind_field(tr_kind_of(TYPE_CASES), text_of("method"));
    assert_string_equal(field->doc, list.at);
    assert_string_equal(field->standard, rows[0].name);
    tr_buffer_print(&names, "const char *method; // ");
    list_rows(&names, false);
    tr_buffer_print(&names, "\n");
    char *header = read_text(MODELS_DIR "/../include/trundle/trundle.h");
    int found = 0;
    for (const char *at = header; (at = strstr(at, "const char *method;")); at++) {
        if (begins_with(at, "const char *method; // of \"me\"")) continue; // FMUs have their own
        assert_memory_equal(at, names.at, strlen(names.at));
        found++;
    }
    assert_int_equal(found, 4); // of runs, of simulations, of sweeps and of fits
    free(header);
    tr_buffer_free(&list);
    tr_buffer_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tumbling),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_methods_agree),
        cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_lie_stays_on_the_group),
        cmocka_unit_test(test_held_turning),
        cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_calls_on_the_grid),
        cmocka_unit_test(test_calls_beside_the_grid),
        cmocka_unit_test(test_steps_between_rows),
        cmocka_unit_test(test_unknown_method),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
