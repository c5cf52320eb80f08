// SPDX-License-Identifier: Apache-2.0
// Formulas that jump or have kinks where the state says so: runs stop there, against closed forms.
#include "motion.h"
#include "sim/run.h"

static const char *slider(const char *force)
{
    static char text[600];
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}}\n"
             "roles: {x: {torque: '%s'}}\n"
             "initial: {d(x): 1}\n",
             force);
    return text;
}

typedef struct Trial {
    const char *method;
    bool dense;
    double tolerance;
} Trial;

static const Trial trials[] = {{"erk", false, 1e-9}, {"erk", true, 1e-9},   {"bdf", false, 1e-6},
                               {"rk4", false, 1e-9}, {"pece", false, 1e-9}, {"lie", false, 1e-9}};
enum { TRIALS = sizeof trials / sizeof *trials };

static Sheet *moved(const char *force, Trial trial, double end, tr_summary *s)
{
    tr_system *system = system_from(slider(force));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = end, o.every = end / 16, o.step = 2e-3, o.method = trial.method, o.dense = trial.dense;
    Sheet *sheet = simulated(system, o, s);
    tr_system_free(system);
    return sheet;
}

// ---- forces in steps -----------------------------------------------------------------------

// Accelerations that are constant between places, 1 to either side: exactly, from place to place
typedef double Acceleration(double x, double v);

static void step_exactly(Acceleration *a, double until, double *x, double *v)
{
    double t = 0;
    while (t < until) {
        const double inside = *x + (*v > 0 ? 1e-9 : -1e-9), f = a(inside, *v);
        double first = until - t;
        for (int wall = -20; wall <= 20; wall++) { // x + v s + f s^2/2 = wall, or v + f s = 0
            const double gap = *x - wall, root = *v * *v - 2 * f * gap;
            for (int sign = -1; sign <= 1 && root >= 0; sign += 2) {
                const double s = (-*v + sign * sqrt(root)) / f;
                if (s > 1e-7 && s < first) first = s;
            }
        }
        const double stop = -*v / f;
        if (stop > 1e-7 && stop < first) first = stop;
        *x += *v * first + f * first * first / 2, *v += f * first, t += first;
    }
}

static double wall(double x, double v) { return (void)v, x > 1 ? -3 : 1; }
static double stairs(double x, double v) { return (void)v, -floor(x) - 0.25; }
static double ratchet(double x, double v) { return x > 1 ? v > 0 ? -2 : -3 : 2; }

static void test_steps(void **state)
{
    (void)state;
    static const struct {
        const char *force;
        Acceleration *exactly;
    } forces[] = {{"if(x > 1, -3, 1)", wall},
                  {"-floor(x) - 0.25", stairs},
                  {"if(x > 1, if(d(x) > 0, -2, -3), 2)", ratchet}};
    for (size_t k = 0; k < 3; k++)
        for (size_t m = 0; m < TRIALS; m++) {
            double x = 0, v = 1;
            tr_summary s;
            Sheet *t = moved(forces[k].force, trials[m], 8, &s);
            step_exactly(forces[k].exactly, 8, &x, &v);
            print_message("%-40s %-5s %.2e %5zu evaluations\n", forces[k].force, trials[m].method,
                          fabs(last(t, "x") - x), s.evaluations);
            assert_close(last(t, "x"), x, trials[m].tolerance);
            assert_close(last(t, "x_rate"), v, trials[m].tolerance);
            assert_below(s.energy_error, 10 * trials[m].tolerance);
            if (!m) assert_true(s.evaluations < 2500); // where it had to feel its way: 4,600
            char *json = certificate();
            assert_non_null(strstr(json, "jumps or has a kink"));
            assert_null(strstr(json, "to and fro"));
            free(json);
            tr_sheet_free(t);
        }
}

// ---- kinks ---------------------------------------------------------------------------------

// A mass that runs into a spring: half an oscillation, and back
static void test_stop(void **state)
{
    (void)state;
    const double touches = 0.5, w = 20, leaves = touches + M_PI / w;
    for (size_t m = 0; m < TRIALS; m++) {
        tr_summary s;
        Sheet *t = moved("-400*max(0, x - 0.5)", trials[m], 1, &s);
        for (size_t i = 0; i < t->rows; i++) {
            const double now = at(t, i, "t"), in = now - touches;
            const double x = now < touches  ? now
                             : now < leaves ? 0.5 + sin(w * in) / w
                                            : 0.5 - (now - leaves);
            assert_close(at(t, i, "x"), x, 1e-6);
        }
        tr_sheet_free(t);
    }
}

// What is smooth all the same costs nothing once that is known.
static void test_drag(void **state)
{
    (void)state;
    tr_summary s;
    Sheet *t = moved("-0.1*d(x)*abs(d(x)) - 9*x", trials[0], 20, &s);
    char *json = certificate();
    assert_null(strstr(json, "jumps or has a kink"));
    assert_below(s.energy_error, 1e-9);
    free(json);
    tr_sheet_free(t);
}

// A root of what a step may try the other side of: by small steps of its own, and a run gets
// through
static void test_root(void **state)
{
    (void)state;
    enum { STEPS = 1 << 16 };
    double v = 1;
    for (int k = 0; k < STEPS; k++) {
        const double h = 2.0 / STEPS, half = v + h / 2 * (-1 - v * sqrt(fabs(v)));
        v += h * (-1 - half * sqrt(fabs(half)));
    }
    for (size_t m = 0; m < TRIALS; m++) {
        tr_summary s;
        Sheet *t = moved("-1 - d(x)*sqrt(abs(d(x)))", trials[m], 2, &s);
        print_message("%-5s off by %.1e\n", trials[m].method, fabs(last(t, "x_rate") - v));
        assert_true(v < -0.5);
        assert_close(last(t, "x_rate"), v, 1e-6);
        tr_sheet_free(t);
    }
}

// ---- to and fro ----------------------------------------------------------------------------

// Dry friction holds what it has stopped: the sign of the speed switches to and fro, and the run
// gets on all the same.
static void test_friction(void **state)
{
    (void)state;
    for (size_t m = 0; m < TRIALS; m += 2) {
        tr_summary s;
        Sheet *t = moved("-5*if(d(x) > 0, 1, if(d(x) < 0, -1, 0)) + 2*sin(t)", trials[m], 1, &s);
        char *json = certificate();
        assert_non_null(strstr(json, "to and fro"));
        assert_close(last(t, "x_rate"), 0, 1e-3);
        assert_close(last(t, "x"), at(t, 8, "x"), 1e-3); // it stands from 0.21 s on
        assert_below(s.energy_error, 1e-7);
        free(json);
        tr_sheet_free(t);
    }
}

// ---- constraints ---------------------------------------------------------------------------

#define TIED                                                                       \
    "trundle: 1\n"                                                                 \
    "bodies:\n"                                                                    \
    "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 3}\n" \
    "  b: {joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y}, mass: 1}\n" \
    "initial: {x: -0.5, d(x): 1}\n"

// Through the corner of a slot y = |x|: 3 x' + y' stays the same along the new direction, so
// 4 u = 3 - 1.
static void test_corner(void **state)
{
    (void)state;
    for (size_t m = 0; m < TRIALS; m++) {
        tr_system *system = system_from(TIED "constraints: {slot: {position: y - abs(x)}}\n");
        tr_simulate_options o = tr_simulate_defaults(system);
        tr_summary s;
        o.end = 1, o.every = 0.1, o.method = trials[m].method, o.dense = trials[m].dense;
        o.step = 0.03;
        Sheet *t = simulated(system, o, &s);
        assert_close(last(t, "x_rate"), 0.5, 1e-9);
        assert_close(last(t, "y_rate"), 0.5, 1e-9);
        assert_close(last(t, "x"), 0.25, 1e-9);
        assert_close(last(t, "energy.work"), -1.5, 1e-9); // of what turns it round the corner
        assert_below(s.energy_error, 1e-9);
        char *json = certificate();
        assert_non_null(strstr(json, "the rate of 'slot.position' jumps"));
        free(json);
        tr_sheet_free(t);
        tr_system_free(system);
    }
}

static void test_place(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_summary s = {0};
    tr_system *system =
        system_from(TIED "constraints: {slot: {position: 'y - if(x > 0.25, 1, 0)'}}\n");
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 2, o.every = 0.5;
    assert_false(tr_simulate(system, &o, &s, &err));
    assert_non_null(strstr(err.text, "the constraint 'slot.position' jumps by -1 at t = 0.75:"));
    assert_true(s.t == 0.5);
    tr_system_free(system);
}

// ---- pieces --------------------------------------------------------------------------------

// Runs in pieces that are saved and restored between, also while a switch rests: the same bits with
// fixed steps, and nearly the same with others; and to the bit, by as many evaluations, as one that
// was only saved.
static void check_pieces(const char *force, const char *method, double tolerance)
{
    tr_error err = {0};
    tr_system *system = system_from(slider(force));
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = method, o.step = 1.0 / 64;
    tr_run *a = tr_run_new(plan, &o, &err), *b = tr_run_new(plan, &o, &err),
           *saved = tr_run_new(plan, &o, &err);
    const size_t columns = tr_plan_column_count(plan), size = tr_run_save(b, NULL, 0, &err);
    void *memory = malloc(size);
    double *row = calloc(columns, sizeof *row);
    for (int i = 1; i <= 16; i++) {
        tr_run_advance(a, i / 8.0, &err);
        tr_run_advance(b, i / 8.0, &err);
        tr_run_advance(saved, i / 8.0, &err);
        tr_run_save(saved, memory, size, &err);
        tr_run_save(b, memory, size, &err);
        tr_run_reset(b, &err);
        tr_run_restore(b, memory, size, &err);
    }
    if (err.status) fail_msg("%s", err.text);
    assert_int_equal(b->flow->all_evaluations, saved->flow->all_evaluations);
    memcpy(row, tr_run_row(a), columns * sizeof *row);
    for (size_t i = 0; i < columns; i++) assert_close(tr_run_row(b)[i], row[i], tolerance);
    memcpy(row, tr_run_row(saved), columns * sizeof *row);
    assert_memory_equal(tr_run_row(b), row, columns * sizeof *row);
    free(memory), free(row);
    tr_run_free(a), tr_run_free(b), tr_run_free(saved);
    tr_plan_free(plan);
    tr_system_free(system);
}

static void test_pieces(void **state)
{
    (void)state;
    check_pieces("if(x > 1, -30, 1)", "rk4", 0);
    check_pieces("if(x > 1, -30, 1)", "erk", 1e-9);
    check_pieces("if(x > 1, -30, 1)", "bdf", 1e-6);
    check_pieces("-5*if(d(x) > 0, 1, -1)", "rk4", 0);
}

// An input that moves the threshold past the state
static void test_input(void **state)
{
    (void)state;
    tr_error err = {0};
    char text[700];
    snprintf(text, sizeof text, "%sinputs: {level: 10}\n", slider("if(x > level, -1, 0)"));
    tr_system *system = system_from(text);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run *run = tr_run_new(plan, NULL, &err);
    tr_run_advance(run, 1, &err);
    tr_run_set(run, "level", 0.5, &err);
    tr_run_advance(run, 2, &err);
    if (err.status) fail_msg("%s", err.text);
    assert_close(tr_run_row(run)[1], 1.5, 1e-12);
    assert_close(tr_run_row(run)[2], 0, 1e-12);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(system);
}

// ---- beyond and back within a step -----------------------------------------------------------

// A throw that comes just above a height, where it is pushed back: rows, or none at all
static void test_apex(void **state)
{
    (void)state;
    static const Trial ways[] = {
        {"erk", false, 1e-8}, {"erk", true, 1e-8}, {"bdf", false, 1e-5}, {"rk4", false, 1e-8}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int rows = 1; rows <= 201; rows += 200) {
            tr_system *system = system_from(
                "trundle: 1\nbodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", "
                "coordinate: x}, mass: 1}}\n"
                "roles: {x: {torque: 'if(x > 4.99, -1010, -10)'}}\ninitial: {d(x): 10}\n");
            tr_simulate_options o = tr_simulate_defaults(system);
            o.end = 2, o.every = 2.0 / rows, o.step = 1e-2, o.method = ways[i].method;
            o.dense = ways[i].dense;
            Sheet *sheet = simulated(system, o, NULL);
            const double v = sqrt(100 - 20 * 4.99), up = (10 - v) / 10,
                         left = 2 - up - 2 * v / 1010;
            assert_close(at(sheet, sheet->rows - 1, "x"), 4.99 - v * left - 5 * left * left,
                         ways[i].tolerance);
            tr_sheet_free(sheet);
            tr_system_free(system);
        }
}

// What rests stays at rest where contacts change, and however much power others take.
static void test_rest_goes_on(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        char text[1000];
        tr_summary s;
        snprintf(text, sizeof text,
                 "trundle: 1\ngravity: 0, 0, -10\nbodies:\n"
                 "  block: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n"
                 "  ball: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z, base: true}, "
                 "mass: 1}\n"
                 "  other: {joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y}, mass: 1}\n"
                 "contacts:\n  foot: {kind: rolling, shape: ball, radius: 0.1, body: ball, "
                 "longitudinal: free, lateral: free, unilateral: true, open: true}\n"
                 "roles: {x: {torque: 'if(d(x) > 0, -3, 3) + 1'}, y: {torque: 1e5}}\n"
                 "initial: {x: 0, d(x): 2, z: %.17g}\n",
                 11 + 1e-4 * i);
        tr_system *system = system_from(text);
        tr_simulate_options o = tr_simulate_defaults(system);
        o.end = 2, o.every = 0.5;
        tr_sheet_free(simulated(system, o, &s));
        assert_true(s.steps < 100000);
        tr_system_free(system);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apex),     cmocka_unit_test(test_rest_goes_on),
        cmocka_unit_test(test_root),     cmocka_unit_test(test_steps),
        cmocka_unit_test(test_stop),     cmocka_unit_test(test_drag),
        cmocka_unit_test(test_friction), cmocka_unit_test(test_corner),
        cmocka_unit_test(test_place),    cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
