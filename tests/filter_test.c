// SPDX-License-Identifier: Apache-2.0
// The extended Kalman filter (T263): against least squares of a whole short log where all is
// linear, what becomes of outliers, gaps and turns, and what cannot be filtered.
#include "num/solve.h"
#include "runs.h"
#include "sim/filter.h"

// ---- least squares of all of a log ---------------------------------------------------------

// Sums of squares of whitened residuals a . x - b, gathered as normal equations
typedef struct Least {
    double A[40 * 40], b[40];
    size_t n;
} Least;

static void add_term(Least *l, const size_t *at, const double *a, size_t count, double b)
{
    for (size_t i = 0; i < count; i++) {
        l->b[at[i]] += a[i] * b;
        for (size_t k = 0; k < count; k++) l->A[at[i] * l->n + at[k]] += a[i] * a[k];
    }
}

// x, and the variances of its last `last` entries
static void solve_least(const Least *l, double *x, double *variance, size_t last)
{
    double A[40 * 40];
    for (size_t i = 0; i < l->n; i++) x[i] = l->b[i];
    memcpy(A, l->A, sizeof A);
    assert_true(tr_solve_positive(A, l->n, x, 1));
    for (size_t k = 0; k < last; k++) {
        double e[40] = {0};
        const size_t at = l->n - last + k;
        e[at] = 1;
        memcpy(A, l->A, sizeof A);
        assert_true(tr_solve_positive(A, l->n, e, 1));
        variance[k] = e[at];
    }
}

enum { FIXES = 7 };
static const double times[FIXES] = {0, 0.4, 0.5, 1.3, 2, 2.9, 4};
static const double places[FIXES] = {0.3, 0.2, 0.9, 1.2, 2.4, 2.7, 4.3};
static const double speeds[FIXES] = {0.9, 1.2, 0.8, 1.1, 0.7, 1.3, 1.0};

static void write_fixes(const char *name)
{
    char text[2000] = "t,place,speed\n";
    for (int i = 0; i < FIXES; i++) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%.17g,%.17g,%.17g\n", times[i], places[i],
                 speeds[i]);
    }
    write_text(name, text);
}

static Sheet *filtered(tr_system *system, tr_summary *s)
{
    tr_simulate_options o = strictly(system);
    o.filter = true;
    Sheet *run = simulated(system, o, s);
    tr_system_free(system);
    return run;
}

#define WALK                                                                         \
    "trundle: 1\n"                                                                   \
    "bodies: {cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}}}\n" \
    "commands: {d(s): {value: 1, noise: 0.2}}\n"                                     \
    "deviations: {s: 0.5}\n"                                                         \
    "fixes: {tape: {file: fixes.csv, of: {s: place}, sd: {s: 0.3}}}\n"               \
    "initial: {s: 0.1}\n"                                                            \
    "cases: {run: {order: 1, end: 4, every: 1}}\n"

// s' = 1 + n: the places at the times of fixes
static void test_walk(void **state)
{
    (void)state;
    static Least l;
    l = (Least){.n = FIXES};
    add_term(&l, (size_t[]){0}, (double[]){1 / 0.5}, 1, 0.1 / 0.5);
    for (size_t i = 0; i < FIXES; i++) {
        add_term(&l, &i, (double[]){1 / 0.3}, 1, places[i] / 0.3);
        if (!i) continue;
        const double h = times[i] - times[i - 1], root = sqrt(0.2 * h);
        add_term(&l, (size_t[]){i - 1, i}, (double[]){-1 / root, 1 / root}, 2, h / root);
    }
    double x[FIXES], variance;
    solve_least(&l, x, &variance, 1);
    Sheet *run = filtered(system_from(WALK), NULL);
    assert_close(last(run, "s"), x[FIXES - 1], 1e-9);
    assert_close(last(run, "sd(s)"), sqrt(variance), 1e-9);
    assert_true(last(run, "consistency.tape") > 0);
    assert_true(fabs(last(run, "innovation.tape.s")) > 0.01);
    char *json = certificate();
    assert_says(json, "\"used\": 7");
    assert_says(json, "\"numbers\": 7");
    free(json);
    tr_sheet_free(run);
}

#define PUSHED                                                                                \
    "trundle: 1\n"                                                                            \
    "inputs: {u: 0.5}\n"                                                                      \
    "noise: {u: 0.3}\n"                                                                       \
    "bodies: {cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}}\n" \
    "roles: {s: {torque: u}}\n"                                                               \
    "deviations: {s: 0.5, d(s): 0.4}\n"                                                       \
    "fixes:\n"                                                                                \
    "  tape: {file: fixes.csv, of: {2*s: place, d(s) + s: speed}, sd: {2*s: 0.3, d(s) + s: "  \
    "0.2}}\n"                                                                                 \
    "initial: {s: 0.1, d(s): 0.2}\n"                                                          \
    "cases: {run: {end: 4, every: 1}}\n"

// (s, v)' = (v, u/2 + n): between two fixes x' = Phi x + f + w, cov w = q [h^3/3 h^2/2; h^2/2 h]
static void test_pushed(void **state)
{
    (void)state;
    static Least l;
    const double q = 0.3 / 4;
    l = (Least){.n = 2 * FIXES};
    add_term(&l, (size_t[]){0}, (double[]){1 / 0.5}, 1, 0.1 / 0.5);
    add_term(&l, (size_t[]){1}, (double[]){1 / 0.4}, 1, 0.2 / 0.4);
    for (size_t i = 0; i < FIXES; i++) {
        const size_t s = 2 * i, v = s + 1;
        add_term(&l, (size_t[]){s}, (double[]){2 / 0.3}, 1, places[i] / 0.3);
        add_term(&l, (size_t[]){s, v}, (double[]){1 / 0.2, 1 / 0.2}, 2, speeds[i] / 0.2);
        if (!i) continue;
        // whitened by C^-1, C C^T = Q: rows of (x_i - Phi x_i-1 - f)
        const double h = times[i] - times[i - 1], a = 0.25;
        const double c11 = sqrt(q * h * h * h / 3), c21 = q * h * h / 2 / c11;
        const double c22 = sqrt(q * h - c21 * c21);
        const size_t at[] = {s - 2, v - 2, s, v};
        const double first[] = {-1 / c11, -h / c11, 1 / c11, 0}, b1 = a * h * h / 2 / c11;
        const double second[] = {-c21 / c22 * first[0], (-1 - c21 * first[1]) / c22,
                                 -c21 / c22 * first[2], 1 / c22};
        add_term(&l, at, first, 4, b1);
        add_term(&l, at, second, 4, (a * h - c21 * b1) / c22);
    }
    double x[2 * FIXES], variance[2];
    solve_least(&l, x, variance, 2);
    tr_summary summary = {0};
    Sheet *run = filtered(system_from(PUSHED), &summary);
    assert_close(last(run, "s"), x[2 * FIXES - 2], 1e-9);
    assert_close(last(run, "s_rate"), x[2 * FIXES - 1], 1e-9);
    assert_close(last(run, "sd(s)"), sqrt(variance[0]), 1e-9);
    assert_close(last(run, "sd(s_rate)"), sqrt(variance[1]), 1e-9);
    assert_below(summary.energy_error, 1e-9); // corrections are booked as work
    tr_sheet_free(run);
}

// ---- gaps, turns, outliers -----------------------------------------------------------------

#define COMPASS(more)                                                                       \
    "trundle: 1\n"                                                                          \
    "bodies: {body: {joint: {type: planar}}}\n"                                             \
    "commands: {body.vx: {value: 1, noise: 0.01}, body.vy: {}, body.wz: {value: 1, noise: " \
    "0.02}}\n"                                                                              \
    "deviations: {body.theta: 0.1}\n"                                                       \
    "fixes: {compass: {file: turns.csv, of: {body.theta: heading, body.x: east}, sd: "      \
    "{body.theta: 0.05, body.x: 0.1}" more "}}\n"                                           \
    "initial: {body.x: 0, body.y: 0, body.theta: 3}\n"                                      \
    "cases: {run: {order: 1, end: 3, every: 0.5}}\n"

// A compass does not count turns, and a field that is empty was not measured.
static void test_turns(void **state)
{
    (void)state;
    write_text("turns.csv", "t,heading,east\n1,-2.28,\n2,-1.3,\n3,-0.25,\n");
    Sheet *run = filtered(system_from(COMPASS("")), NULL);
    assert_true(fabs(last(run, "body.theta") - (2 * 3.14159265358979 - 0.25)) < 0.1);
    assert_true(largest(run, "innovation.compass.body.theta") < 0.5);
    assert_below(largest(run, "innovation.compass.body.x"), 1e-300);
    tr_sheet_free(run);
}

static void test_outliers(void **state)
{
    (void)state;
    write_text("turns.csv", "t,heading,east\n1,-2.28,\n2,1.3,\n3,-0.25,\n");
    Sheet *kept = filtered(system_from(COMPASS("")), NULL);
    char *json = certificate();
    assert_says(json, "'compass' at t = 2 is an outlier: ");
    assert_says(json, "\"used\": 3");
    free(json);
    Sheet *dropped = filtered(system_from(COMPASS(", outliers: drop")), NULL);
    json = certificate();
    assert_says(json, "is an outlier and was dropped: ");
    assert_says(json, "\"used\": 2");
    assert_says(json, "\"outliers\": 1");
    free(json);
    write_text("turns.csv", "t,heading,east\n1,-2.28,\n3,-0.25,\n");
    Sheet *without = filtered(system_from(COMPASS("")), NULL);
    assert_close(last(dropped, "body.theta"), last(without, "body.theta"), 1e-10);
    assert_close(last(dropped, "sd(body.theta)"), last(without, "sd(body.theta)"), 1e-10);
    assert_true(fabs(last(kept, "body.theta") - last(without, "body.theta")) > 1e-3);
    tr_sheet_free(kept);
    tr_sheet_free(dropped);
    tr_sheet_free(without);
}

// A bearing is an angle, and its formula names columns that tables can have.
static void test_bearings(void **state)
{
    (void)state;
    write_text("turns.csv", "t,bearing\n1,-3.1\n5,0\n");
    tr_summary s = {0};
    Sheet *run = filtered(
        system_from("trundle: 1\n"
                    "bodies: {body: {joint: {type: planar}}}\n"
                    "commands: {body.vx: {noise: 0.01}, body.vy: {noise: 0.01}, body.wz: {}}\n"
                    "fixes: {eye: {file: turns.csv, of: {\"atan2(body.y, body.x)\": bearing}, sd: "
                    "{\"atan2(body.y, body.x)\": 0.1}}}\n"
                    "initial: {body.x: -1, body.y: 0.01, body.theta: 0}\n"
                    "cases: {run: {order: 1, end: 2, every: 1}}\n"),
        &s);
    assert_true(fabs(last(run, "innovation.eye.atan2(body.y: body.x)")) < 0.2);
    assert_int_equal(s.fixes, 1);
    char *json = certificate();
    assert_says(json, "1 of the fixes are after the end");
    free(json);
    tr_sheet_free(run);
}

// Upper tails of the chi-square distribution, from tables
static void test_chance(void **state)
{
    (void)state;
    static const struct {
        uint32_t numbers;
        double square, beyond;
    } known[] = {{1, 3.841458820694124, 0.05},  {2, 5.991464547107979, 0.05},
                 {3, 7.814727903251179, 0.05},  {4, 9.487729036781154, 0.05},
                 {5, 11.070497693516351, 0.05}, {6, 22.457744484825327, 0.001},
                 {9, 27.877164871256575, 0.001}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_close(tr_chi_square_beyond(known[i].square, known[i].numbers) / known[i].beyond, 1,
                     1e-9);
}

// ---- where constraints hold ----------------------------------------------------------------

// Corrections stay on the constraints: a bicycle whose place, lean and steering are measured
static void test_constraints(void **state)
{
    (void)state;
    write_text("fixes.csv", "t,x,y,steer\n0.3,1.5,0.02,0.01\n0.7,3.4,-0.05,\n1,4.9,0.03,-0.02\n");
    tr_model *model = model_called("bicycle");
    char folder_file[400];
    snprintf(folder_file, sizeof folder_file, "%s", in_folder("fixes.csv"));
    change(model, "fixes/gps/file", folder_file);
    change(model, "fixes/gps/of/frame.x", "x");
    change(model, "fixes/gps/of/frame.y", "y");
    change(model, "fixes/gps/of/steer", "steer");
    change(model, "fixes/gps/sd/frame.x", "0.1");
    change(model, "fixes/gps/sd/frame.y", "0.1");
    change(model, "fixes/gps/sd/steer", "0.01");
    change(model, "deviations/frame.vx", "0.5");
    change(model, "deviations/frame.rx", "0.02");
    change(model, "deviations/d(steer)", "0.1");
    tr_error err = {0};
    const char *const allowed[] = {folder};
    tr_derive_options d = {.size = sizeof d, .allowed = allowed, .allowed_count = 1};
    tr_system *system = tr_derive(model, &d, &err);
    if (!system) fail_msg("%s", err.text);
    tr_simulate_options o = strictly(system);
    tr_summary s = {0};
    o.filter = true, o.end = 1.2, o.every = 0.1;
    Sheet *run = simulated(system, o, &s);
    assert_below(s.position_error, 1e-12);
    assert_below(s.velocity_error, 1e-11);
    assert_below(s.energy_error, 1e-9);
    assert_true(at(run, 12, "sd(frame.x)") < 0.1);
    assert_true(at(run, 2, "sd(frame.x)") > 0.09); // half a metre a second
    tr_sheet_free(run);
    tr_system_free(system);
    tr_model_free(model);
}

// ---- refusals ------------------------------------------------------------------------------

static void refused(const char *text, const char *words) { assert_run_refused(text, true, words); }

static void test_refusals(void **state)
{
    (void)state;
#define SLED                                                                                     \
    "trundle: 1\nbodies: {cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}}}\n" \
    "commands: {d(s): {value: 1, noise: 0.2}}\ncases: {run: {order: 1, end: 1}}\n"
    write_text("bad.csv", "t,place,place,gap\n0,1,1,1\n2,2,2,x\n");
    write_text("back.csv", "t,place\n0,1\n2,2\n1,3\n");
    refused(SLED, "the model has no 'fixes'");
    refused("trundle: 1\nbodies: {cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: "
            "s}, mass: 1}}\nfixes: {a: {file: fixes.csv, of: {s: place}, sd: {s: 1}}}\n",
            "a filter needs 'noise' or 'deviations'");
    refused(SLED "fixes: {a: {file: fixes.csv, of: {s: place}}}\n", "'sd' says nothing of 's'");
    refused(SLED "fixes: {a: {file: fixes.csv, of: {s: place}, sd: {s: 0}}}\n", "is positive");
    refused(SLED "fixes: {a: {file: fixes.csv, of: {s: place}, sd: {s: 1, q: 1}}}\n",
            "'q' is not measured");
    refused(SLED "fixes: {a: {of: {s: place}, sd: {s: 1}}}\n", "needs a 'file'");
    refused(SLED "fixes: {a: {file: none.csv, of: {s: place}, sd: {s: 1}}}\n", "none.csv");
    refused(SLED "fixes: {a: {file: fixes.csv, of: {s: far}, sd: {s: 1}}}\n", "no column 'far'");
    refused(SLED "fixes: {a: {file: bad.csv, of: {s: place}, sd: {s: 1}}}\n", "bad.csv");
    refused(SLED "fixes: {a: {file: back.csv, of: {s: place}, sd: {s: 1}}}\n",
            "the times of a fix are numbers that ascend");
    refused(SLED "fixes: {a: {file: fixes.csv, of: {d(s): place}, sd: {d(s): 1}}}\n",
            "measured velocities are 'commands'");
    refused(SLED "fixes: {a: {file: fixes.csv, of: {s: place}, sd: {s: 1}, outliers: hide}}\n",
            "keep or drop, not 'hide'");
    refused(SLED "fixes: {a b: {file: fixes.csv, of: {s: place}, sd: {s: 1}}}\n",
            "'a b' is not a name for a fix");
}

static int write_files(void **state)
{
    const int entered = enter_folder(state);
    write_fixes("fixes.csv");
    return entered;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk),        cmocka_unit_test(test_pushed),
        cmocka_unit_test(test_turns),       cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_chance),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_constraints), cmocka_unit_test(test_bearings),
    };
    return cmocka_run_group_tests(tests, write_files, NULL);
}
