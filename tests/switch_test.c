// SPDX-License-Identifier: Apache-2.0
// Contacts that open, close, slip and stick for as long as a run goes on: after the first few
// switches nothing is compiled, nothing stays in memory, and a switch takes few evaluations.
#include "folder.h"
#include "models.h"
#include "sim/run.h"

#include <malloc.h>

enum { MANY = BRIEF ? 300 : 2000, FIRST = 40, CALLS = 4000, NEAR = 20, ROUND = 4096 }; // [bytes]

typedef struct Switching {
    tr_system *system;
    tr_plan *plan;
    tr_run *run;
} Switching;

static Switching open_run(tr_system *system, const char *method)
{
    tr_error err = {0};
    Switching s = {.system = system, .plan = tr_plan_new(system, &err)};
    tr_run_options o = tr_run_defaults(s.plan);
    o.method = method;
    s.run = tr_run_new(s.plan, &o, &err);
    if (err.status) fail_msg("%s", err.text);
    return s;
}

static void close_run(Switching *s)
{
    tr_run_free(s->run);
    tr_plan_free(s->plan);
    tr_system_free(s->system);
}

// The wheel of models/hopping_wheel.yaml with a motor, which gives back what impacts and friction
// take
static tr_system *driven_wheel(const char *case_name)
{
    char *text = read_text(MODELS_DIR "/hopping_wheel.yaml");
    const char roles[] = "roles:\n  turn: {torque: 3*(rate0 - d(turn))}\n";
    char *all = calloc(strlen(text) + sizeof roles, 1);
    strcat(strcat(all, text), roles);
    tr_system *system = system_of(model_from(all), case_name);
    free(all);
    free(text);
    return system;
}

// A ball that loses nothing, on a plate that is shaken
static tr_system *bouncing_ball(void)
{
    return system_from(
        "trundle: 1\n"
        "gravity: 0, 0, -9.81\n"
        "bodies:\n"
        "  plate: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: shake}, mass: 20}\n"
        "  ball: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: 1}\n"
        "contacts: {floor: {kind: slide, body: ball, on: plate, unilateral: true, open: true, "
        "restitution: 1}}\n"
        "roles: {shake: {motion: 0.002*sin(40*t)}}\n"
        "initial: {z: 0.1}\n");
}

// Until there were so many switches; the most memory in use on the way, now and then.
static size_t go_on(const Switching *s, size_t switches)
{
    tr_error err = {0};
    size_t most = 0;
    while (s->run->switches < switches) {
        if (!tr_run_advance(s->run, tr_run_time(s->run) + 0.1, &err)) fail_msg("%s", err.text);
        const size_t used = mallinfo2().uordblks;
        if (used > most) most = used;
    }
    return most;
}

// Nothing is compiled any more, and nothing stays.
static void check_lasting(tr_system *system, const char *method)
{
    Switching s = open_run(system, method);
    go_on(&s, FIRST);
    const size_t compiled = s.plan->compiled;
    const size_t before = go_on(&s, MANY / 2), after = go_on(&s, MANY);
    assert_int_equal(s.plan->compiled, compiled);
    if (!SLOW_BUILD && after > before + ROUND)
        fail_msg("%zu bytes after %d switches, %zu after twice as many", before, MANY / 2, after);
    close_run(&s);
}

static void test_nothing_stays(void **state)
{
    (void)state;
    check_lasting(driven_wheel("hop"), "erk");
    check_lasting(driven_wheel("hop"), "rk4");
    check_lasting(bouncing_ball(), "rk4");
}

// Evaluations of any program in each of many calls, and the switches among them
typedef struct Spent {
    size_t evaluations[CALLS], switches[CALLS];
} Spent;

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void spend(tr_system *system, const char *method, Spent *spent)
{
    tr_error err = {0};
    Switching s = open_run(system, method);
    size_t evaluations = s.run->flow->all_evaluations, switches = 0;
    for (int i = 0; i < CALLS; i++) {
        if (!tr_run_advance(s.run, (i + 1) * 2e-3, &err)) fail_msg("%s", err.text);
        spent->evaluations[i] = s.run->flow->all_evaluations - evaluations;
        spent->switches[i] = s.run->switches - switches;
        evaluations += spent->evaluations[i], switches += spent->switches[i];
    }
    close_run(&s);
}

// What a call takes as a rule
static size_t usual(const Spent *spent)
{
    size_t sorted[CALLS];
    memcpy(sorted, spent->evaluations, sizeof sorted);
    qsort(sorted, CALLS, sizeof *sorted, by_size);
    return sorted[CALLS / 2];
}

// What is spent beyond that for a switch: while it is looked for, in the impact, and in the steps
// before and after it. Switches that are near each other are taken together.
static void check_evaluations(tr_system *system)
{
    static Spent spent;
    spend(system, "rk4", &spent);
    const double plain = (double)usual(&spent);
    double most = 0;
    size_t switches = 0;
    for (int i = 0; i < CALLS; i += NEAR) {
        double more = -plain * NEAR;
        size_t times = 0;
        for (int k = i; k < i + NEAR; k++)
            more += (double)spent.evaluations[k], times += spent.switches[k];
        if (times) most = fmax(most, more / (double)times);
        switches += times;
    }
    print_message("%g evaluations a call, at most %.0f more a switch\n", plain, most);
    assert_true(switches > 20 && most > 0 && most <= 300);
}

static void test_evaluations(void **state)
{
    (void)state;
    check_evaluations(driven_wheel("hop"));
    check_evaluations(bouncing_ball());
    check_evaluations(system_called("shaker", "hop"));
}

// A method that starts anew at every switch, with all its steps
static void test_all_evaluations(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("shaker", "hop");
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary summary = {0};
    o.method = "erk";
    if (!tr_simulate(system, &o, &summary, &err)) fail_msg("%s", err.text);
    assert_true(summary.switches > 100 && summary.all_evaluations <= 300 * summary.switches);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_stays),
        cmocka_unit_test(test_evaluations),
        cmocka_unit_test(test_all_evaluations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
