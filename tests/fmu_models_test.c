// SPDX-License-Identifier: Apache-2.0
// Models as FMUs of both versions against runs: co-simulation to the bit, model exchange by CVODE.
#include "fmu_solver.h"
#include "model_list.h"

#include "base/xml.h"
#include "program/list.h"
#include "sim/run.h"

// A column of a run is this variable.
static const char *variable_of(const char *column)
{
    static char name[300];
    if (strncmp(column, "d(", 2) != 0) return column;
    snprintf(name, sizeof name, "der(%s", column + 2);
    return name;
}

// ---- the same as simulate ------------------------------------------------------------------

static bool has_variable(const Unit *unit, const char *name)
{
    char start[330];
    snprintf(start, sizeof start, " name=\"%s\" ", name);
    return strstr(unit->description, start) != NULL;
}

// A run of trundle up to here, by another method than the unit
static tr_run *run_to(tr_plan *plan, const char *method, double h, double rtol, double end)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(plan);
    o.method = method, o.step = h, o.rtol = o.atol = rtol, o.end = end;
    tr_run *run = tr_run_new(plan, &o, &err);
    if (!run || !tr_run_advance(run, end, &err)) fail_msg("%s", err.text);
    return run;
}

// All that has a column is the same, but for so much, and for what shorter steps change; else what
// is not
static const char *difference(Unit *unit, tr_run *run, tr_run *finer, double most)
{
    enum { AND_MORE = 20 };
    static char words[400];
    const double *row = tr_run_row(run) + 1, *fine = tr_run_row(finer) + 1; // behind t
    size_t compared = 0;
    for (uint32_t k = 0; k < run->flow->column_count; k++) {
        const char *name = variable_of(run->flow->labels[k]);
        if (!has_variable(unit, name) || !isfinite(row[k])) continue;
        const double value = get(unit, name), size = 1 + fabs(row[k]);
        compared++;
        if (fabs(value - row[k]) / size <= most + AND_MORE * fabs(row[k] - fine[k]) / size)
            continue;
        snprintf(words, sizeof words, "%s: %.17g, not %.17g", name, value, row[k]);
        return words;
    }
    assert_true(compared > 0);
    return NULL;
}

static void compare_with_run(const char *what, Unit *unit, tr_run *run, double most)
{
    const char *words = difference(unit, run, run, most);
    if (words) fail_msg("%s: %s", what, words);
}

enum { STEPS = 512, LEAST_STEPS = 128 };
static const double h = 1.0 / 1024;

static bool gets_through(tr_plan *plan, int steps)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = h, o.end = steps * h;
    tr_run *run = tr_run_new(plan, &o, &err);
    const bool good = run && tr_run_advance(run, steps * h, &err);
    tr_run_free(run);
    return good;
}

// As far as a run gets: some models end by themselves, where constraints change their rank.
static int steps_of(tr_plan *plan)
{
    int steps = STEPS;
    while (steps > LEAST_STEPS && !gets_through(plan, steps)) steps /= 2;
    return steps;
}

// The unreduced form solves by numbers what a run solves by formulas.
static bool is_unreduced(const Unit *unit) { return indicator_count(unit) > 0; }

// Whether a run went through what formulas switch at, which it lands on; steps of an FMU do so,
// too, but in the unreduced form, and closely.
static bool has_crossed(const tr_run *run)
{
    bool crossed = false;
    for (uint32_t k = 0; k < run->flow->switch_count; k++)
        crossed = crossed || isfinite(run->habits[k].crossed);
    return crossed;
}

// ---- what contacts do ----------------------------------------------------------------------

// Models with events in a second: what their contacts do, one after the other
static const struct {
    const char *name, *modes;
} eventful[] = {{"hopping_wheel", "1201"}, {"stick_slip", "121"}};

static const char *modes_wanted(const char *name)
{
    size_t i = 0;
    while (i < sizeof eventful / sizeof *eventful && strcmp(eventful[i].name, name) != 0) i++;
    return i < sizeof eventful / sizeof *eventful ? eventful[i].modes : NULL;
}

// What was seen of the first contact's mode, a digit each time that it is another one
typedef struct Seen {
    char digits[40];
} Seen;

static void look_at_mode(Unit *unit, Seen *seen)
{
    const char *at = strstr(unit->description, " name=\"mode.");
    if (!at) return;
    char *number = attribute_at(at, "valueReference");
    const unsigned vr = (unsigned)strtoul(number, NULL, 10);
    int mode;
    free(number);
    GOOD(unit->version == 3 ? (int)unit->three.GetInt32(unit->c, &vr, 1, &mode, 1)
                            : (int)unit->two.GetInteger(unit->c, &vr, 1, &mode));
    const size_t length = strlen(seen->digits);
    const char digit = (char)('0' + mode);
    if (length + 1 < sizeof seen->digits && (!length || seen->digits[length - 1] != digit))
        seen->digits[length] = digit;
}

static void compare_modes(const Seen *seen, const char *wanted)
{
    if (wanted && strcmp(seen->digits, wanted) != 0)
        fail_msg("contacts do %s, not %s", seen->digits, wanted);
}

static void check_co_simulation(Unit *unit, tr_plan *plan, int steps, bool is_calm,
                                const char *modes)
{
    tr_error err = {0};
    Seen seen = {0};
    tr_run *run = run_to(plan, "rk4", h, 1, 0);
    const Charted *first = run->flow->now;
    begin(unit, true);
    for (int k = 0; k < steps; k += 8) {
        look_at_mode(unit, &seen);
        assert_goes_on(step(unit, k * h, 8 * h));
    }
    look_at_mode(unit, &seen);
    compare_modes(&seen, modes);
    for (int k = 1; k <= steps; k++) // after what happens within a step, it ends on the grid
        if (!tr_run_advance(run, k * h, &err)) fail_msg("%s", err.text);
    const bool is_other = run->flow->now != first || run->switches; // other velocities, contacts
    const bool is_across = is_other || (is_unreduced(unit) && has_crossed(run));
    compare_with_run("on the grid", unit, run,
                     is_across && !is_calm ? 10 * h * h
                     : is_unreduced(unit)  ? 1e-9
                     : has_crossed(run)    ? 1e-8
                                           : 0);
    free_instance(unit);
    begin(unit, true); // steps that add up, and are no multiples
    double t = 0;
    for (int k = 1; k <= 100; k++) {
        const double dt = steps * h / 100;
        assert_goes_on(step(unit, t, dt));
        t += dt;
    }
    tr_run *finer = run_to(plan, "rk4", h / 2, 1, steps * h);
    const char *words = difference(unit, run, finer, is_unreduced(unit) ? 1e-5 : 1e-6);
    if (words) fail_msg("between: %s", words); // impacts come otherwise
    free_instance(unit);
    tr_run_free(run), tr_run_free(finer);
}

// Errors of solvers grow as the motion wants it, and more where it is chaotic or falls over. So
// what is not good to 1e-6 by a tolerance of 1e-8 must be by one of 1e-11.
static void check_model_exchange(Unit *unit, tr_plan *plan, int steps, bool is_calm,
                                 const char *modes)
{
    const double end = steps * h;
    const char *words = "";
    tr_run *run = run_to(plan, "erk", h, 1e-10, end), *coarse = run_to(plan, "erk", h, 1e-9, end);
    for (double rtol = 1e-8; words && rtol > 1e-12; rtol /= 1000) {
        Solver solver;
        Seen seen = {0};
        begin(unit, false);
        open_solver(&solver, unit, is_unreduced(unit) && !modes ? CV_BDF : CV_ADAMS, rtol);
        look_at_mode(unit, &seen);
        for (int k = modes ? 8 : steps; k <= steps; k += 8) {
            go_to(&solver, k * h);
            look_at_mode(unit, &seen);
        }
        compare_modes(&seen, modes);
        words = difference(unit, run, is_calm ? run : coarse, 1e-6);
        close_solver(&solver);
        free_instance(unit);
        if (words && is_calm) break;
    }
    if (words) fail_msg("by CVODE: %s", words);
    tr_run_free(run), tr_run_free(coarse);
}

static void tell_found(void *owner, bool is_mistake, const char *words)
{
    (void)owner, (void)is_mistake;
    print_message("%s\n", words);
}

// By our own rules, too, and called in the order of the standard
static void check_by_rules(void)
{
    static const char none[] = "<a/>";
    tr_error err = {0};
    Arena arena = {0};
    size_t mistakes = 0;
    const bool is_xml_read = tr_xml_read(none, strlen(none), &arena, &err) != NULL;
    tr_arena_free(&arena);
    if (!is_xml_read) return; // without expat
    tr_fmu_options o = tr_fmu_defaults();
    o.found = tell_found;
    char *text = tr_fmu_check(in_folder("m.fmu"), &o, false, &mistakes, &err);
    if (!text) fail_msg("%s", err.text);
    assert_int_equal(mistakes, 0);
    tr_text_free(text);
}

static const char *const few[] = {"bicycle",      "double_pendulum", "robot_swerve",
                                  "tyre_on_bump", "hopping_wheel",   "stick_slip"};

static bool is_one_of_few(const char *name)
{
    size_t i = 0;
    while (i < sizeof few / sizeof *few && strcmp(few[i], name) != 0) i++;
    return i < sizeof few / sizeof *few;
}

static void check_model(const char *name, int version)
{
    tr_error err = {0};
    print_message("%s, FMI %d\n", name, version);
    tr_system *system = system_called(name, NULL);
    Unit unit = unit_of(system, version);
    tr_plan *plan = tr_plan_new(system, &err);
    check_description(&unit);
    const bool is_calm = is_one_of_few(name);
    const char *modes = modes_wanted(name);
    const int steps = modes ? 2 * STEPS : is_calm ? STEPS : steps_of(plan);
    if (gets_through(plan, steps)) {
        check_by_rules();
        check_co_simulation(&unit, plan, steps, is_calm, modes);
        check_model_exchange(&unit, plan, steps, is_calm, modes);
    } else // what bends fast: no step of the FMU's gets through either
        print_message("%s: too stiff for rk4 with steps of %g s\n", name, h);
    unload_fmu(&unit);
    tr_plan_free(plan);
    tr_system_free(system);
}

static char *names[1000];
static int name_count;

static void test_models(void **state)
{
    (void)state;
    for (int k = 0; k < name_count; k++)
        for (int version = 2; version <= 3; version++) check_model(names[k], version);
    for (int k = 0; k < name_count; k++) free(names[k]);
}

// ---- controllers ---------------------------------------------------------------------------

static const char controlled[] =
    "trundle: 1\n"
    "inputs: {u: 0}\n"
    "bodies: {cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: 2}}\n"
    "roles: {x: {torque: u + 0.1*floor(2.5*t)}}\n"
    "controllers: {a: {period: 0.02, outputs: {u: -9*x - 2*d(x)}}}\n"
    "initial: {x: 0.3}\n";

// Samples and jumps within steps: where one jumps, a run begins a grid of its own
static void test_controllers(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(controlled);
    tr_plan *plan = tr_plan_new(system, &err);
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_of(system, version);
        check_description(&unit);
        tr_run *run = run_to(plan, "rk4", h, 1, 1);
        begin(&unit, true);
        for (int k = 0; k < 1024; k++) GOOD(step(&unit, k * h, h));
        compare_with_run("with samples", &unit, run, 1e-14);
        assert_true(has_variable(&unit, "u") && !has_variable(&unit, "u_2"));
        free_instance(&unit);
        tr_run_free(run);
        unload_fmu(&unit);
    }
    tr_plan_free(plan);
    tr_system_free(system);
}

// ---- switches ------------------------------------------------------------------------------

// An arm between soft stops with dampers, pushed by less than it asks for
static const char stopped[] =
    "trundle: 1\n"
    "bodies:\n"
    "  arm: {joint: {type: revolute, axis: '0, 1, 0', limits: '-0.5, 0.25', limit_stiffness: 500, "
    "limit_damping: 5}, mass: 1, com: '0, 0, -0.3', inertia: {yy: 0.05}}\n"
    "roles: {arm: {torque: 'max(-2, min(2, 30*(0.4*sin(7*t) - arm)))'}}\n"
    "initial: {d(arm): 3}\n";

// What rests on a switch for a while
static const char rubbed[] =
    "trundle: 1\n"
    "bodies: {a: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: 1}}\n"
    "roles: {x: {torque: '2*sin(2*t) - 1.5*if(d(x) > 0, 1, -1)'}}\n"
    "initial: {d(x): 0.1}\n";

// How far off it is after 2 s, where steps begin on the grid inside, and where they do not
static void check_switches(const char *text, double most)
{
    tr_error err = {0};
    tr_system *system = system_from(text);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run *run = run_to(plan, "rk4", h, 1, 2), *finer = run_to(plan, "rk4", h / 2, 1, 2);
    assert_true(has_crossed(run));
    Unit unit = unit_of(system, 3);
    for (int by = 1; by <= 3; by += 2) {
        const int count = 2048 / by;
        const double long_step = 2.0 / count;
        begin(&unit, true);
        for (int k = 0; k < count; k++) GOOD(step(&unit, k * long_step, long_step));
        const char *words = difference(&unit, run, by == 1 ? run : finer, most);
        if (words) fail_msg("with switches: %s", words);
        free_instance(&unit);
    }
    unload_fmu(&unit);
    tr_run_free(run), tr_run_free(finer);
    tr_plan_free(plan);
    tr_system_free(system);
}

static void test_switches(void **state)
{
    (void)state;
    check_switches(stopped, 1e-8);
    check_switches(rubbed, 3e-3);
}

// ---- drift ---------------------------------------------------------------------------------

// How far the unit's positions are off the constraints
static double off_constraints(Unit *unit, const Flow *flow)
{
    tr_error err = {0};
    const System *s = flow->system;
    const tr_program *phi = tr_chart_program(flow->plan, flow->now->programs, CHART_PHI, &err);
    assert_non_null(phi);
    double in[400], out[40], worst = 0, *room = tr_list_room(phi);
    assert_non_null(room);
    assert_true(s->input_count + flow->switch_count < 400);
    memcpy(in, flow->inputs, (s->input_count + flow->switch_count) * sizeof *in);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION) in[i] = get(unit, s->inputs[i].name);
    tr_list_run(phi, in, room, out);
    for (uint32_t k = 0; k < flow->now->programs->projected; k++) worst = fmax(worst, fabs(out[k]));
    free(room);
    return worst;
}

static void test_drift(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("bicycle", NULL);
    tr_plan *plan = tr_plan_new(system, &err);
    Flow *flow = tr_flow_new(plan, NULL, &err);
    assert_true(tr_flow_ready(flow, FLOW_RUN, &err));
    Unit unit = unit_of(system, 3);
    Solver solver;
    begin(&unit, false);
    open_solver(&solver, &unit, CV_BDF, 1e-6);
    for (int k = 1; k <= 60; k++) {
        go_to(&solver, 10.0 * k);
        assert_below(off_constraints(&unit, flow), 1e-5);
    }
    assert_int_equal(solver.events, 0);
    close_solver(&solver);
    free_instance(&unit);
    unload_fmu(&unit);
    tr_flow_free(flow);
    tr_plan_free(plan);
    tr_system_free(system);
}

// Other velocities become independent on the way: that is no seam.
static double turn(const char *model, const char *case_name, const char *angle, double end,
                   long events)
{
    tr_error err = {0};
    tr_system *system = system_called(model, case_name);
    tr_plan *plan = tr_plan_new(system, &err);
    Unit unit = unit_of(system, 3);
    tr_run *run = run_to(plan, "erk", h, 1e-10, 0);
    Solver solver;
    begin(&unit, false);
    open_solver(&solver, &unit, CV_ADAMS, 1e-12);
    const double from = get(&unit, angle);
    for (int k = 1; k <= 60; k++) {
        go_to(&solver, k * end / 60);
        if (!tr_run_advance(run, k * end / 60, &err)) fail_msg("%s", err.text);
        compare_with_run("turning", &unit, run, 1e-6);
        assert_below(off_constraints(&unit, run->flow), 1e-9);
    }
    const double turns = fabs(get(&unit, angle) - from) / (2 * 3.141592653589793);
    assert_true(solver.events >= events);
    assert_below(solver.jump, 1e-9);
    close_solver(&solver);
    free_instance(&unit);
    unload_fmu(&unit);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(system);
    return turns;
}

static void test_turns(void **state)
{
    (void)state;
    assert_true(turn("four_bar", "turns", "th1", 6, 1) > 10);
    assert_true(turn("slider_crank", NULL, "crank", 1, 30) > 5);
}

int main(int count, char **given)
{
    for (int i = 1; i < count; i++) names[name_count++] = strdup(given[i]);
#ifndef TR_FULL
    for (size_t i = 0; count == 1 && i < sizeof few / sizeof *few; i++)
        names[name_count++] = strdup(few[i]);
#endif
    if (!name_count) name_count = list_models(names);
    setenv("CC", "cc -O0", 0); // which takes a tenth of the time
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models),
                                       cmocka_unit_test(test_controllers),
                                       cmocka_unit_test(test_switches),
                                       cmocka_unit_test(test_drift), cmocka_unit_test(test_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
