// SPDX-License-Identifier: Apache-2.0
// Where a run was between two states, when something crossed zero there, and what finding that out
// costs.
#include "motion.h"
#include "plan/latch.h"
#include "sim/path.h"

// ---- between states ------------------------------------------------------------------------

// A double pendulum as a closed loop: positions have constraints to stay on.
static const char loop[] =
    "trundle: 1\n"
    "bodies:\n"
    "  a: {joint: {type: revolute, axis: \"0, -1, 0\", coordinate: a}, mass: 1, com: \"0.2, 0, 0\","
    " inertia: {yy: 0.02}}\n"
    "  b: {parent: a, joint: {type: revolute, axis: \"0, -1, 0\", at: \"0.4, 0, 0\","
    " coordinate: b}, mass: 0.5, com: \"0.3, 0, 0\", inertia: {yy: 0.03}}\n"
    "  c: {joint: {type: revolute, axis: \"0, -1, 0\", at: \"0.5, 0, 0\", coordinate: c}, mass: 1,"
    " com: \"0.2, 0, 0\", inertia: {yy: 0.02}}\n"
    "contacts: {closing: {kind: pin, body: b, at: \"0.6, 0, 0\", on: c, to: \"0.4, 0, 0\"}}\n"
    "initial: {a: 1, d(a): 2}\n"
    "guess: {b: -1, c: 1}\n";

static Motion strictly_to(tr_system *system, double until)
{
    Motion m = start(system, "erk", 1);
    m.mover->rtol = 1e-14, m.mover->atol = 1e-15;
    if (until > 0) move(&m, until);
    return m;
}

static Path path_of(Flow *flow)
{
    tr_error err = {0};
    Path path;
    if (!tr_path_open(&path, flow, &err)) fail_msg("%s", err.text);
    return path;
}

static double apart(const Flow *flow, const double *a, const double *b)
{
    double worst = 0;
    for (uint32_t i = 0; i < flow->size; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

// How far off the path is at three parts of a step of length h from 0.1 on: interpolated, and exact
static void errors_of(tr_system *system, double h, double *between, double *exact)
{
    Motion m = strictly_to(system, 0.1);
    Path path = path_of(m.flow);
    tr_path_add(&path, 0.1, m.mover->y);
    move(&m, 0.1 + h);
    tr_path_add(&path, 0.1 + h, m.mover->y);
    *between = *exact = 0;
    for (int i = 1; i < 4; i++) {
        const double t = 0.1 + h * i / 4;
        Motion there = strictly_to(system, t);
        const double *y = tr_path_between(&path, t);
        assert_true(off_by(m.flow, y) < 1e-14);
        *between = fmax(*between, apart(m.flow, y, there.mover->y));
        y = tr_path_exact(&path, t);
        assert_true(off_by(m.flow, y) < 1e-14);
        *exact = fmax(*exact, apart(m.flow, y, there.mover->y));
        stop(&there);
    }
    tr_path_close(&path);
    stop(&m);
}

// Of order 4 and 7, and at its ends the states themselves
static void test_between(void **state)
{
    (void)state;
    tr_system *system = system_from(loop);
    double between[2], exact[2];
    for (int i = 0; i < 2; i++) errors_of(system, 0.02 / (i + 1), &between[i], &exact[i]);
    print_message("between %.1e and %.1e, exact %.1e and %.1e\n", between[0], between[1], exact[0],
                  exact[1]);
    assert_true(between[0] < 1e-6 && between[0] / between[1] > 10);
    assert_true(exact[0] < 1e-10 && exact[0] / exact[1] > 60);
    Motion m = strictly_to(system, 0);
    Path path = path_of(m.flow);
    for (int i = 0; i <= 4; i++) { // one more than it keeps
        if (i) move(&m, 0.01 * i);
        tr_path_add(&path, 0.01 * i, m.mover->y);
    }
    assert_int_equal(path.count, PATH_STATES);
    assert_true(path.t[0] == 0.02 && path.t[2] == 0.04);
    assert_true(apart(m.flow, tr_path_between(&path, 0.04), m.mover->y) < 1e-14);
    assert_true(apart(m.flow, tr_path_between(&path, 0.03), path.y[1]) < 1e-14);
    tr_path_close(&path);
    stop(&m);
    tr_system_free(system);
}

// ---- crossings -----------------------------------------------------------------------------

typedef struct Level {
    double height;
    uint32_t takes; // so far
} Level;

static double above(void *owner, double t, const double *y)
{
    Level *level = owner;
    (void)t;
    level->takes++;
    return y[0] - level->height;
}

// A ball that rises from z = 0 at 3 m/s and falls through a height, seen in one step; from the
// height itself, too, of which it is not below at first.
static void test_crossing(void **state)
{
    (void)state;
    tr_system *system = system_from("trundle: 1\nbodies: {b: {joint: {type: prismatic,"
                                    " axis: \"0, 0, 1\"}, mass: 2}}\ninitial: {d(b): 3}\n");
    static const double heights[] = {0, 1e-9, -1e-12, 0.2, 0.4587, -0.3};
    for (size_t k = 0; k < sizeof heights / sizeof *heights; k++) {
        Motion m = strictly_to(system, 0);
        Level level = {.height = heights[k]};
        if (heights[k] > 0) m.mover->y[0] = heights[k];
        const double from = m.mover->y[0];
        const double meets = (3 + sqrt(9 + 2 * 9.81 * (from - heights[k]))) / 9.81;
        Path path = path_of(m.flow);
        tr_path_add(&path, 0, m.mover->y);
        move(&m, 1);
        tr_path_add(&path, 1, m.mover->y);
        const size_t before = m.flow->all_evaluations;
        const double t = tr_path_crossing(&path, (Measure){above, &level}, 0, 1, 1e-13);
        const size_t cost = m.flow->all_evaluations - before;
        assert_true(fabs(t - meets) <= 2e-13);
        assert_true(path.found[0] - heights[k] < 0 && path.found[0] - heights[k] > -1e-12);
        print_message("%g m: %u probes, %zu evaluations\n", heights[k], level.takes, cost);
        assert_true(level.takes <= 30 && cost + level.takes <= 100);
        tr_path_close(&path);
        stop(&m);
    }
    tr_system_free(system);
}

// ---- what contacts cost --------------------------------------------------------------------

enum { SWITCHES = 100 };

// Evaluations when the last step was over, those that it took, and those of the first step.
typedef struct Costs {
    const Flow *flow;
    size_t after, last, first;
    int steps; // of a mover
} Costs;

static bool count_step(void *owner, double t, double end)
{
    Costs *costs = owner;
    (void)t, (void)end;
    costs->last = costs->flow->all_evaluations - costs->after;
    costs->after = costs->flow->all_evaluations;
    if (!costs->steps++) costs->first = costs->last;
    return true;
}

static Mover *mover_of(Flow *flow, const char *method, double rtol, double t, Costs *costs)
{
    tr_error err = {0};
    Mover *m = tr_mover_new(tr_method(method, &err), flow, flow->start, &err);
    if (!m) fail_msg("%s", err.text);
    m->rtol = rtol, m->atol = rtol / 100, m->step = 1e-3, m->t = t, m->end = m->limit = 1e3;
    m->progress = count_step, m->owner = costs;
    if (!tr_watch_start(&m->watch, t, m->y, &err)) fail_msg("%s", err.text);
    return m;
}

// The flow from a switch on, in place of the one before.
static Flow *switched(Flow *flow, const Mover *m, double *fastest)
{
    tr_error err = {0};
    Switch change = {.t = m->watch.end, .alarm = m->watch.alarm};
    Flow *next = tr_latches_switch(flow, m->watch.ending, fastest, &change, &err);
    if (!next) fail_msg("%s", err.text);
    if (next != flow) tr_flow_free(flow);
    return next;
}

// The step in which a contact switches, the impact, the flow that follows, and the first step of
// that: the most that it takes, over many switches.
static size_t cost_of_switches(const char *model, const char *method, double rtol)
{
    tr_error err = {0};
    tr_system *system = system_called(model, "hop");
    Flow *flow = flow_of(system);
    Costs costs = {.flow = flow, .after = flow->all_evaluations};
    Mover *m = mover_of(flow, method, rtol, 0, &costs);
    size_t most = 0, spent = 0;
    double fastest = 0;
    for (int i = 0; i < SWITCHES; i++) {
        while (m->method->advance(m, m->t + 0.005, &err)) continue;
        if (err.status || !m->watch.switched) fail_msg("%s%s", err.text, m->refusal.text);
        if (costs.steps > 1) spent += costs.first; // else that is the step of the next switch
        if (i && spent > most) most = spent;
        const double t = m->watch.end;
        flow = switched(flow, m, &fastest);
        tr_mover_free(m);
        m = mover_of(flow, method, rtol, t, &costs);
        spent = costs.last + flow->all_evaluations - costs.after;
        costs = (Costs){.flow = flow, .after = flow->all_evaluations};
    }
    tr_mover_free(m);
    close_flow(flow);
    tr_system_free(system);
    return most;
}

static void test_cost_of_switches(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double rtol;
    } ways[] = {{"erk", 1e-12}, {"erk", 1e-10}, {"erk", 1e-5}, {"bdf", 1e-8},
                {"rk4", 1},     {"pece", 1},    {"lie", 1},    {"euler", 1}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        const size_t most = cost_of_switches("shaker", ways[k].method, ways[k].rtol);
        print_message("%-5s at %.0e: a switch takes at most %zu evaluations\n", ways[k].method,
                      ways[k].rtol, most);
        assert_true(most > 20 && most <= 300);
    }
}

// A whole run with its steps and rows
static void test_cost_of_a_run(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_summary s;
    tr_system *system = system_called("shaker", "hop");
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 2;
    if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
    print_message("%zu evaluations, %zu of them rates, in %zu steps with %zu switches\n",
                  s.all_evaluations, s.evaluations, s.steps, s.switches);
    assert_true(s.switches > 100 && s.all_evaluations > s.evaluations);
    assert_true(s.all_evaluations <= 300 * s.switches);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between),
        cmocka_unit_test(test_crossing),
        cmocka_unit_test(test_cost_of_switches),
        cmocka_unit_test(test_cost_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
