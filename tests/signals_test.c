// SPDX-License-Identifier: Apache-2.0
// Columns of a log as tables, and inputs that follow formulas of t until a number replaces them.
#include "linears.h"
#include "runs.h"
#include "sim/run.h"

// ---- a log ---------------------------------------------------------------------------------

enum { POINTS = 6 };
static const double times[POINTS] = {0, 0.3, 1, 1.1, 2.5, 4};
static const double forces[POINTS] = {10, 30, -20, 5, 40, 0};
static const double scale = 0.017453292519943295;

#define LOG "t,force,\"the gear\"\n0,10,1\n0.3,30,1\n1,-20,2\n1.1,5,2\n2.5,40,3\n4,0,3\n"

#define CART             \
    "trundle: 1\n"       \
    "gravity: 0, 0, 0\n" \
    "bodies:\n"          \
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"

#define SIGNALS(more) \
    "signals: {file: log.csv, columns: {force_log: force}, scale: {force_log: pi/180}" more "}\n"

#define PUSHED                         \
    "parameters: {k: 2}\n"             \
    "inputs: {push: k*force_log(t)}\n" \
    "roles: {cart: {torque: push}}\n"  \
    "outputs: {p: push, rate: d(push)}\n"

static int write_log(void **state)
{
    const int entered = enter_folder(state);
    write_text("log.csv", LOG);
    return entered;
}

static int piece_at(double t)
{
    int i = 0;
    while (i + 2 < POINTS && t >= times[i + 1]) i++;
    return i;
}

static double slope_of(int degree, int i)
{
    return degree ? scale * (forces[i + 1] - forces[i]) / (times[i + 1] - times[i]) : 0;
}

static double signal_at(int degree, double t)
{
    const int i = degree || t < times[POINTS - 1] ? piece_at(t) : POINTS - 1;
    return scale * forces[i] + (degree ? slope_of(degree, i) * (t - times[i]) : 0);
}

// x'' = gain f(t) from a to b, piece by piece
static void push(int degree, double gain, double a, double b, double *x, double *v)
{
    while (a < b) {
        const int i = piece_at(a);
        const double h = fmin(b, i + 2 < POINTS ? times[i + 1] : b) - a;
        const double f = gain * signal_at(degree, a), slope = gain * slope_of(degree, i);
        *x += h * (*v + h * (f / 2 + h * slope / 6));
        *v += h * (f + h * slope / 2);
        a += h;
        if (i + 2 < POINTS && fabs(a - times[i + 1]) < 1e-12) a = times[i + 1];
    }
}

static double row_value(tr_run *run, const char *name)
{
    const tr_plan *plan = run->plan;
    const double *row = tr_run_row(run);
    for (size_t i = 0; i < tr_plan_column_count(plan); i++)
        if (strcmp(tr_plan_column_name(plan, i), name) == 0) return row[i];
    fail_msg("there is no column %s", name);
    return 0;
}

static tr_run *run_by(tr_plan *plan, const char *method)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(plan);
    o.method = method, o.step = 0.01;
    tr_run *run = tr_run_new(plan, &o, &err);
    if (!run) fail_msg("%s", err.text);
    return run;
}

static void advance(tr_run *run, double until)
{
    tr_error err = {0};
    if (!tr_run_advance(run, until, &err)) fail_msg("%s", err.text);
}

static void set(tr_run *run, const char *name, double value)
{
    tr_error err = {0};
    tr_run_set(run, name, value, &err);
    if (err.status) fail_msg("%s", err.text);
}

// ---- reading -------------------------------------------------------------------------------

static double value(tr_system *system, const char *formula)
{
    tr_error err = {0};
    const Expr x = tr_formula(system, formula, &err);
    if (err.status) fail_msg("%s: %s", formula, err.text);
    assert_true(is_number(x));
    return value_of(x);
}

static void test_signals(void **state)
{
    (void)state;
    tr_system *s = system_from(CART "signals: {file: log.csv, time: t, degree: 1, columns: {f: "
                                    "force, g: the gear, h: force},"
                                    " scale: {f: pi/180, g: -1}, offset: {g: 10, h: 0.5}}\n");
    for (double t = 0; t <= 4; t += 0.1) {
        char call[40];
        snprintf(call, sizeof call, "f(%.17g)", t);
        assert_close(value(s, call), signal_at(1, t), 1e-15);
    }
    assert_true(value(s, "g(0.1)") == 9 && value(s, "g(2.5)") == 7 && value(s, "h(0.3)") == 30.5);
    assert_close(value(s, "g(1.8)"), 7.5, 1e-15);
    tr_system_free(s);
    s = system_from(CART "signals: {file: log.csv, columns: {f: force}, degree: 0, outside: hold,"
                         " shift: 1}\n");
    assert_true(value(s, "f(0)") == -20 && value(s, "f(0.2)") == 5 && value(s, "f(-9)") == 10);
    assert_true(value(s, "f(9)") == 0);
    tr_system_free(s);
}

// A model in that folder, and a log of its own
static void refused(const char *log, const char *signals, const char *words)
{
    char text[600];
    write_text("bad.csv", log);
    snprintf(text, sizeof text, CART "signals: {%s}\n", signals);
    assert_invalid(text, words);
}

#define F "file: bad.csv, columns: {f: v}"

static void test_bad_logs(void **state)
{
    (void)state;
    refused("t,w\n0,1\n1,2\n", F, "5:39: 'bad.csv' has no column 'v'");
    refused("t,v,v\n0,1,1\n1,2,2\n", F, "5:39: 'bad.csv' has more than one column 'v'");
    refused("s,v\n0,1\n1,2\n", F, "5:17: 'bad.csv' has no column 't'");
    refused("s,v\n0,1\n1,2\n", F ", time: x", "5:49: 'bad.csv' has no column 'x'");
    refused("t,v,t\n0,1,0\n1,2,1\n", F, "5:17: 'bad.csv' has more than one column 't'");
    refused("t,v\n0,1\n1,2\n1,3\n", F, "5:17: 'bad.csv', line 4: column 't' does not ascend");
    refused("t,v\n0,1\n1,2\n0.5,3\n", F, "5:17: 'bad.csv', line 4: column 't' does not ascend");
    refused("t,v\n0,1\n1,\n2,3\n", F,
            "5:39: 'bad.csv', line 3: there is no finite number in column 'v'");
    refused("t,v\n0,1\n1,nan\n2,3\n", F,
            "5:39: 'bad.csv', line 3: there is no finite number in column 'v'");
    refused("t,v\n0,1\n,2\n2,3\n", F,
            "5:17: 'bad.csv', line 3: there is no finite number in column 't'");
    refused("t,v\n0,1\n1,-inf\n", F,
            "5:39: 'bad.csv', line 3: there is no finite number in column 'v'");
    refused("t,v\n0,1\n1\n2,3\n", F, "5:17: 'bad.csv', line 3: there are fewer than 2 fields");
    refused("t,v\n0,1\n1,2,3\n", F, "5:17: 'bad.csv', line 3: there are more than 2 fields");
    refused("t,v\n0,1\n1,high\n", F, "5:17: 'bad.csv', line 3: column 2 is no number");
    refused("", F, "5:17: 'bad.csv' is no table of numbers");
    refused("t,v\n0,1\n", F, "5:17: the table 'f' needs two points or more");
    refused(LOG, F ", degree: 2", "5:51: 'degree' is 0, 1 or 3, not '2'");
}

static void test_bad_signals(void **state)
{
    (void)state;
    refused(LOG, "columns: {f: force}", "5:10: 'signals' needs a 'file' and its 'columns'");
    refused(LOG, "file: bad.csv", "5:10: 'signals' needs a 'file' and its 'columns'");
    refused(LOG, "file: bad.csv, columns: {f: force, f: t}", "5:46: 'f' stands here twice");
    refused(LOG, "file: bad.csv, columns: {steer: force}, scale: {stear: 2}",
            "5:59: 'scale': there is no signal 'stear' in 'columns'; did you mean 'steer'?");
    refused(LOG, "file: bad.csv, columns: {f: force}, offset: {g: 2}",
            "5:56: 'offset': there is no signal 'g' in 'columns'; there is 'f'");
    refused(LOG, "file: bad.csv, columns: {f: force}, scale: {f: k}", "5:58: unknown name 'k'");
    refused(LOG, "file: bad.csv, columns: {cart: force}", "4:3: the name 'cart' is taken");
    tr_error err = {0};
    tr_model *model = model_from(CART "signals: {file: none.csv, columns: {f: force}}\n");
    assert_null(tr_derive(model, NULL, &err));
    assert_string_equal(err.text, "cannot read 'none.csv': No such file or directory");
    assert_true(err.status == TR_IO && err.line == 5 && err.column == 17);
    tr_model_free(model);
    assert_invalid(CART
                   "inputs: {push: f(t), f: 1}\nsignals: {file: log.csv, columns: {f: force}}\n",
                   "5:22: the name 'f' is taken");
}

// ---- values and rates ----------------------------------------------------------------------

static bool is_knot(double t)
{
    for (int i = 0; i < POINTS; i++)
        if (fabs(t - times[i]) < 1e-9) return i > 0;
    return false;
}

static void check_rows(const Sheet *sheet, int degree, double close)
{
    double x = 0, v = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        const double t = at(sheet, i, "t");
        if (i) push(degree, 2, at(sheet, i - 1, "t"), t, &x, &v);
        assert_close(at(sheet, i, "cart"), x, close);
        assert_close(at(sheet, i, "cart_rate"), v, close);
        if (is_knot(t)) continue; // there it has two sides
        assert_close(at(sheet, i, "p"), 2 * signal_at(degree, t), 1e-14);
        assert_close(at(sheet, i, "rate"), 2 * slope_of(degree, piece_at(t)), 1e-14);
    }
}

// x'' = k f(t): lines are followed to rounding, and knots are found, which is proved; also where
// rows are a rounding behind them, as 6 * 0.05 is behind 0.3.
static void test_torques(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "lie"};
    static const double close[] = {1e-11, 1e-9, 1e-12, 1e-12};
    for (int degree = 0; degree <= 1; degree++)
        for (int m = 0; m < 4; m++) {
            tr_system *s =
                system_from(degree ? CART SIGNALS("") PUSHED : CART SIGNALS(", degree: 0") PUSHED);
            tr_simulate_options o = tr_simulate_defaults(s);
            o.method = methods[m], o.step = 0.01;
            for (int k = 0; k < 2; k++) {
                o.every = k ? 0.05 : 0.13, o.end = k ? 3.95 : 3.9;
                Sheet *sheet = simulated(s, o, NULL);
                check_rows(sheet, degree, close[m]);
                char *json = certificate();
                assert_null(strstr(json, "could not be proved"));
                free(json);
                tr_sheet_free(sheet);
            }
            tr_system_free(s);
        }
}

// Any formula of t, with functions and parameters, and comparisons with it
static void test_formulas(void **state)
{
    (void)state;
    tr_system *s = system_from(CART "parameters: {a: 3, b: a/2}\nfunctions: {wave(t): sin(b*t)}\n"
                                    "inputs: {u: a*wave(t) + d(t^2), z: \"if(t < 0.7, 1, 2)\"}\n"
                                    "roles: {cart: {torque: \"if(u > 2, 1, 0)\"}}\n"
                                    "outputs: {y: u, yy: d(u*t), zz: z, follows: u.follows}\n");
    tr_simulate_options o = tr_simulate_defaults(s);
    o.end = 1, o.every = 0.1;
    Sheet *sheet = simulated(s, o, NULL);
    double low = 0, high = 1; // when 3 sin(1.5 t) + 2 t = 2
    for (int i = 0; i < 100; i++) {
        const double t = (low + high) / 2;
        *(3 * sin(1.5 * t) + 2 * t < 2 ? &low : &high) = t;
    }
    for (size_t i = 0; i < sheet->rows; i++) {
        const double t = at(sheet, i, "t"), h = fmax(0, t - low);
        const double u = 3 * sin(1.5 * t) + 2 * t, du = 4.5 * cos(1.5 * t) + 2;
        assert_close(at(sheet, i, "y"), u, 1e-14);
        assert_close(at(sheet, i, "yy"), u + du * t, 1e-14);
        assert_true(at(sheet, i, "zz") == (t < 0.7 ? 1 : 2) && at(sheet, i, "follows") == 1);
        assert_close(at(sheet, i, "cart"), h * h / 2, 1e-13);
    }
    tr_sheet_free(sheet);
    tr_system_free(s);
}

static void test_bad_inputs(void **state)
{
    (void)state;
    assert_invalid(CART "inputs: {u: t, w: u}\n",
                   "5:19: this is a formula of t and of parameters, not of 'u'");
    assert_invalid(CART "inputs: {w: cart*t}\n",
                   "5:13: this is a formula of t and of parameters, not of 'cart'");
    assert_invalid(CART "inputs: {w: {value: 0, rate: cart}}\n",
                   "5:30: this is a formula of t and w and of parameters, not of 'cart'");
    assert_invalid(CART "parameters: {w: {value: 0, rate: 1}}\n",
                   "5:34: 'w' is a parameter, and does not change: 'rate' is of inputs");
    assert_invalid(CART "inputs: {w: 1/t}\n", "5:13: the input 'w' is not finite at t = 0");
    assert_invalid(CART "inputs: {w: 1/0}\n", "5:13: the input 'w' is not finite");
    assert_invalid(CART "inputs: {w: t + nothing}\n", "5:17: unknown name 'nothing'; there is 't'");
    assert_invalid(CART "inputs: {w: t}\nparameters: {k: w}\n",
                   "6:17: 'w' is not a parameter: this must be constant");
    assert_invalid(CART "inputs: {w: t}\nground: {at: \"0, 0, w\"}\n",
                   "6:21: 'w' is not a parameter: this must be constant");
    assert_invalid(CART "inputs: {w: t, n: 0}\noutputs: {a: d(w + n)}\n",
                   "6:14: how fast the input 'n' changes is not known: leave it out of d(...)");
}

// A log that is over ends a run; one that nobody asks any more does not.
static void test_end_of_a_log(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_from(CART SIGNALS("") PUSHED);
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run *run = run_by(plan, "erk"), *other = run_by(plan, "rk4");
    assert_false(tr_run_advance(run, 5, &err));
    assert_string_equal(err.text, "the table 'force_log' is left at 4 at t = 4");
    advance(other, 2);
    set(other, "push", 1);
    advance(other, 5);
    assert_true(row_value(other, "p") == 1 && row_value(other, "rate") == 0);
    tr_run_free(run);
    tr_run_free(other);
    tr_plan_free(plan);
    tr_system_free(s);
    s = system_set(model_from(CART SIGNALS("") PUSHED), NULL, "push=1");
    tr_sheet_free(run_to(s, 5, 1));
}

// ---- motions -------------------------------------------------------------------------------

// An arm without weight hangs from what moves: where that changes its speed by d, the arm turns by
// -m l cos(angle) d/(m l^2 + I) faster, and else turns evenly.
#define ARM                                                                       \
    "trundle: 1\ngravity: 0, 0, 0\n"                                              \
    "bodies:\n"                                                                   \
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"            \
    "  arm: {parent: cart, joint: {type: revolute, axis: \"0, -1, 0\"}, mass: 2," \
    " com: \"0, 0, -0.5\", inertia: {xx: 0.1, yy: 0.1}}\n"

static void test_motions_by_lines(void **state)
{
    (void)state;
    static const char *const texts[] = {
        ARM SIGNALS("") "inputs: {place: force_log(t)}\nroles: {cart: {motion: place}}\n",
        ARM SIGNALS("") "roles: {cart: {motion: force_log(t)}}\n"};
    for (int k = 0; k < 2; k++) {
        tr_system *s = system_from(texts[k]);
        tr_simulate_options o = tr_simulate_defaults(s);
        o.end = 3.95, o.every = 0.05;
        Sheet *sheet = simulated(s, o, NULL);
        double angle = 0, rate = 0, then = 0;
        for (size_t i = 0, knot = 0; i < sheet->rows; i++) {
            const double t = at(sheet, i, "t");
            for (; t >= times[knot + 1] - 1e-9; knot++) {
                const double jump = slope_of(1, (int)knot + 1) - slope_of(1, (int)knot);
                angle += rate * (times[knot + 1] - then), then = times[knot + 1];
                rate -= 2 * 0.5 * cos(angle) * jump / (2 * 0.25 + 0.1);
            }
            assert_close(at(sheet, i, "cart"), signal_at(1, t), 1e-14);
            assert_close(at(sheet, i, "arm"), angle + rate * (t - then), 1e-11);
            assert_close(at(sheet, i, "arm_rate"), rate, 1e-11);
        }
        assert_true(fabs(rate) > 0.1);
        tr_sheet_free(sheet);
        tr_system_free(s);
    }
}

// The spline through points of t^3 is t^3.
static void test_motions_by_splines(void **state)
{
    (void)state;
    write_text("cube.csv", "t,v\n0,0\n0.5,0.125\n0.6,0.216\n1,1\n2,8\n");
    tr_system *s = system_from(ARM "signals: {file: cube.csv, columns: {f: v}, degree: 3}\n"
                                   "inputs: {place: f(t)}\nroles: {cart: {motion: place}}\n");
    tr_system *twin = system_from(ARM "roles: {cart: {motion: t^3}}\n");
    Sheet *sheet = run_to(s, 2, 0.1), *wanted = run_to(twin, 2, 0.1);
    static const char *const names[] = {"cart", "cart_rate", "arm", "arm_rate", "tau.cart"};
    for (int i = 0; i < 5; i++) assert_below(difference(sheet, names[i], wanted, names[i]), 1e-10);
    tr_sheet_free(sheet);
    tr_sheet_free(wanted);
}

static void test_motions_that_jump(void **state)
{
    (void)state;
    static const char words[] =
        "a motion takes tables of degree 1 or 3, and 'force_log' has degree "
        "0: where it jumps the velocity would be infinite";
    char told[300];
    snprintf(told, sizeof told, "8:24: %s", words);
    assert_invalid(ARM SIGNALS(", degree: 0") "inputs: {place: force_log(t)}\n"
                                              "roles: {cart: {motion: place}}\n",
                   told);
    snprintf(told, sizeof told, "7:24: %s", words);
    assert_invalid(ARM SIGNALS(", degree: 0") "roles: {cart: {motion: 1 + 2*force_log(2*t)}}\n",
                   told);
}

// ---- numbers in their place ----------------------------------------------------------------

static void test_set_and_case(void **state)
{
    (void)state;
    static const char text[] = CART SIGNALS("") PUSHED
        "cases:\n  log: {end: 2, every: 0.5}\n  still: {end: 2, every: 0.5, set: {push: k/8}}\n"
        "  other: {end: 2, every: 0.5, set: {push: 2*t}}\n";
    tr_system *systems[] = {system_of(model_from(text), "still"),
                            system_set(model_from(text), "log", "push=0.25"),
                            system_set(model_from(text), "still", "push=0.25"),
                            system_set(model_from(text), "other", "push=k/8")};
    for (int i = 0; i < 4; i++) {
        tr_error err = {0};
        assert_null(tr_system_find(systems[i], text_of("push.follows")));
        assert_true(tr_is_constant(tr_formula(systems[i], "d(push)", &err), NULL));
        Sheet *sheet = run_of(systems[i]);
        assert_close(last(sheet, "cart"), 0.5, 1e-13);
        assert_true(last(sheet, "p") == 0.25 && last(sheet, "rate") == 0);
        tr_sheet_free(sheet);
    }
    Sheet *sheet = run_of(system_of(model_from(text), "other"));
    assert_close(last(sheet, "cart"), 8.0 / 3, 1e-12);
    assert_close(last(sheet, "rate"), 2, 1e-15);
    tr_sheet_free(sheet);
}

// From then on it is the number, also where that is what it was at the start; and after a reset.
static void test_run_set(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "rk4"};
    const double numbers[] = {0.7, 2 * scale * 10};
    tr_error err = {0};
    tr_system *s = system_from(CART SIGNALS("") PUSHED);
    tr_plan *plan = tr_plan_new(s, &err);
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 2; k++) {
            tr_run *run = run_by(plan, methods[m]);
            double x = 0, v = 0;
            advance(run, 1.05);
            set(run, "push", numbers[k]);
            assert_true(row_value(run, "p") == numbers[k] && row_value(run, "rate") == 0);
            advance(run, 3);
            push(1, 2, 0, 1.05, &x, &v);
            x += 1.95 * (v + numbers[k] * 1.95 / 2), v += 1.95 * numbers[k];
            assert_close(row_value(run, "cart"), x, 1e-11);
            assert_close(row_value(run, "cart_rate"), v, 1e-11);
            assert_true(tr_run_reset(run, &err));
            advance(run, 1);
            assert_close(row_value(run, "cart"), numbers[k] / 2, 1e-13);
            tr_run_free(run);
        }
    // What it starts with follows parameters, and so does it.
    tr_run *run = run_by(plan, "erk");
    set(run, "k", 3);
    assert_true(tr_run_reset(run, &err));
    assert_close(row_value(run, "p"), 3 * signal_at(1, 0), 1e-15);
    double x = 0, v = 0;
    advance(run, 2);
    push(1, 3, 0, 2, &x, &v);
    assert_close(row_value(run, "cart"), x, 1e-11);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(s);
}

// What cannot jump is not set, and goes on as it did.
static void test_run_set_refused(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_from(
        ARM SIGNALS("") "inputs: {place: force_log(t)}\nroles: {cart: {motion: place}}\n");
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run *run = run_by(plan, "erk");
    advance(run, 0.5);
    tr_run_set(run, "place", 7, &err);
    assert_string_equal(err.text,
                        "the input 'place' changes 'cart' instantaneously at t = 0.5: it may "
                        "change forces only");
    advance(run, 2);
    assert_close(row_value(run, "cart"), signal_at(1, 2), 1e-14);
    err = (tr_error){0};
    tr_run_set(run, "place.follows", 0, &err);
    assert_int_equal(err.status, TR_USAGE);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(s);
}

// Where a comparison with it switches is found anew.
static void test_events_after_set(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_from(CART "inputs: {u: t}\nroles: {cart: {torque: \"if(t > 2 - u, 1, "
                                    "0)\"}}\n");
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run *run = run_by(plan, "erk");
    advance(run, 0.5);
    set(run, "u", 0.25); // at t = 1.75, not at 1
    advance(run, 3);
    assert_close(row_value(run, "cart"), 1.25 * 1.25 / 2, 1e-13);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(s);
}

static void test_snapshots(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_from(CART SIGNALS("") PUSHED);
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run *run = run_by(plan, "rk4"), *other = run_by(plan, "rk4");
    const size_t bytes = tr_run_save(run, NULL, 0, &err);
    void *before = malloc(bytes), *after = malloc(bytes);
    advance(run, 1.05);
    assert_int_equal(tr_run_save(run, before, bytes, &err), bytes);
    set(run, "push", 0.7);
    assert_int_equal(tr_run_save(run, after, bytes, &err), bytes);
    advance(run, 3);
    assert_true(tr_run_restore(other, after, bytes, &err));
    advance(other, 3);
    assert_true(same_bits(row_value(run, "cart"), row_value(other, "cart")));
    assert_true(tr_run_restore(other, before, bytes, &err));
    double x = 0, v = 0;
    advance(other, 3);
    push(1, 2, 0, 3, &x, &v);
    assert_close(row_value(other, "cart"), x, 1e-12);
    assert_true(tr_run_reset(other, &err)); // what was set in the other is not set here
    assert_close(row_value(other, "rate"), 2 * slope_of(1, 0), 1e-15);
    free(before);
    free(after);
    tr_run_free(run);
    tr_run_free(other);
    tr_plan_free(plan);
    tr_system_free(s);
}

// Side by side they do what each does alone, whoever follows the log.
static void test_batch(void **state)
{
    (void)state;
    enum { RUNS = 9 };
    tr_error err = {0};
    tr_system *s = system_from(CART SIGNALS("") PUSHED);
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 0.01;
    tr_batch *batch = tr_batch_new(plan, RUNS, &o, &err);
    tr_run *runs[RUNS];
    for (size_t i = 0; i < RUNS; i++) runs[i] = run_by(plan, "rk4");
    for (int step = 1; step <= 7; step++) {
        for (size_t i = 0; i < RUNS; i++)
            if ((size_t)step == i) {
                set(runs[i], "push", 0.1 * step);
                tr_batch_set(batch, i, "push", 0.1 * step, &err);
            }
        assert_true(tr_batch_advance(batch, 0.5 * step, &err));
        for (size_t i = 0; i < RUNS; i++) {
            advance(runs[i], 0.5 * step);
            const double *one = tr_run_row(runs[i]), *many = tr_batch_row(batch, i);
            for (size_t k = 0; k < tr_plan_column_count(plan); k++)
                assert_true(same_bits(one[k], many[k]));
        }
    }
    if (err.status) fail_msg("%s", err.text);
    assert_true(row_value(runs[3], "p") == 0.1 * 3 && row_value(runs[8], "rate") != 0);
    for (size_t i = 0; i < RUNS; i++) tr_run_free(runs[i]);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(s);
}

// It sees no number until it sets one, be it that of the start; and may leave it alone.
static bool take_over(void *owner, const tr_instant *now)
{
    const double *value = owner;
    assert_int_equal(now->inputs, 2);
    assert_string_equal(now->input[0], "push");
    assert_true(isnan(now->setting[0]) == (now->t <= 1) && now->setting[1] == 5);
    if (now->t == 1) now->setting[0] = *value;
    return true;
}

static void test_controllers(void **state)
{
    (void)state;
    double values[] = {2 * scale * 10, 0.5, (double)INFINITY};
    tr_error err = {0};
    tr_system *s = system_from(CART SIGNALS("") "parameters: {k: 2}\n"
                                                "inputs: {push: k*force_log(t), other: 5}\n"
                                                "roles: {cart: {torque: push}}\n");
    tr_simulate_options o = tr_simulate_defaults(s);
    o.end = 2, o.every = 0.5, o.control = take_over;
    for (int k = 0; k < 2; k++) {
        o.owner = &values[k];
        Sheet *sheet = simulated(s, o, NULL);
        double x = 0, v = 0;
        push(1, 2, 0, 1, &x, &v);
        assert_close(last(sheet, "cart"), x + v + values[k] / 2, 1e-12);
        tr_sheet_free(sheet);
    }
    o.owner = &values[2];
    assert_false(tr_simulate(s, &o, NULL, &err));
    assert_string_equal(err.text,
                        "the controller set 'push' to something that is not finite at t = 1");
    tr_system_free(s);
}

// What formulas mean by it in a copy is an expression of the copy.
static void test_copies(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_from(CART SIGNALS("") PUSHED), *copy = tr_system_copy(s, &err);
    const Expr x = tr_formula(copy, "push", &err);
    assert_true(graph_of(x) == copy->graph && op_of(x) == OP_SELECT);
    tr_output(copy, "twice", &x, 1, 1, &err);
    assert_int_equal(err.status, TR_OK);
    tr_system_free(copy);
    tr_system_free(s);
}

// ---- the other verbs -----------------------------------------------------------------------

#define BALANCED                                                     \
    CART "parameters: {k: 2}\n"                                      \
         "inputs: {push: k*cos(3*t), other: 0}\n"                    \
         "roles: {cart: {torque: \"push*cart + other - k*cart\"}}\n" \
         "outputs: {y: push*cart}\n"

static void test_linearise(void **state)
{
    (void)state;
    tr_system *systems[] = {system_from(BALANCED),
                            system_set(model_from(BALANCED), NULL, "push=k")};
    tr_linear *follows = linear_of(systems[0], false), *number = linear_of(systems[1], false);
    assert_int_equal(follows->inputs, number->inputs);
    assert_string_equal(follows->input[0], "push");
    for (uint32_t i = 0; i < 4; i++) assert_true(same_bits(follows->A[i], number->A[i]));
    for (uint32_t i = 0; i < 2 * follows->inputs; i++)
        assert_true(same_bits(follows->B[i], number->B[i]));
    assert_true(follows->A[2] == 0 && follows->C[0] == 2);
    tr_linear_free(follows);
    tr_linear_free(number);
    for (int i = 0; i < 2; i++) tr_system_free(systems[i]);
}

static void test_lqr(void **state)
{
    (void)state;
    tr_error err = {0};
    static const char text[] =
        CART "inputs: {push: \"3 + sin(t)\", drag: \"1 + t\"}\n"
             "roles: {cart: {torque: \"push*(1 + cart) - 3 - drag*d(cart)\"}}\n";
    tr_lqr_options o = tr_lqr_defaults();
    o.inputs = "push";
    tr_system *s = system_from(text);
    const tr_lqr *lqr = tr_lqr_design(s, &o, &err);
    if (!lqr) fail_msg("%s", err.text);
    tr_system *twin = system_set(model_from(text), NULL, "push=3 drag=1");
    const tr_lqr *wanted = tr_lqr_design(twin, &o, &err);
    assert_int_equal(lqr->states, 2);
    assert_true(lqr->unsteadiness == 0);
    for (int i = 0; i < 2; i++) assert_true(same_bits(lqr->K[i], wanted->K[i]));
    assert_string_equal(lqr->law[0], wanted->law[0]);
    tr_lqr_free(lqr);
    tr_lqr_free(wanted);
    tr_system_free(s);
    tr_system_free(twin);
}

static void test_steady(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_from(BALANCED);
    const tr_steady_options o = tr_steady_defaults();
    assert_null(tr_steady_find(s, &o, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text,
                        "a steady motion has inputs that stay the same, and 'push' is a formula of "
                        "t: set it to a number, as in --set push=0");
    tr_system_free(s);
    err = (tr_error){0};
    s = system_set(model_from(BALANCED), NULL, "push=0");
    tr_steady *found = tr_steady_find(s, &o, &err);
    if (!found) fail_msg("%s", err.text);
    tr_steady_free(found);
    tr_system_free(s);
}

// d(cart)/d(k) of x'' = k f(t) is what f alone does.
static void test_sensitivities(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_from(CART SIGNALS("") PUSHED);
    tr_simulate_options o = tr_simulate_defaults(s);
    o.end = 3.9, o.every = 0.3, o.sensitivity = "k";
    Sheet *sheet = simulated(s, o, NULL);
    double x = 0, v = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        if (i) push(1, 1, at(sheet, i - 1, "t"), at(sheet, i, "t"), &x, &v);
        assert_close(at(sheet, i, "d(cart)/d(k)"), x, 1e-11);
        assert_close(at(sheet, i, "d(p)/d(k)"), signal_at(1, at(sheet, i, "t")), 1e-14);
    }
    tr_sheet_free(sheet);
    o.sensitivity = "push", o.output = in_folder("run.csv");
    assert_false(tr_simulate(s, &o, NULL, &err));
    assert_string_equal(err.text,
                        "'push' is a formula of t: it can be varied once it is set to a number");
    tr_system_free(s);
    s = system_set(model_from(CART SIGNALS("") PUSHED), NULL, "push=1");
    sheet = simulated(s, o, NULL);
    assert_close(last(sheet, "d(cart)/d(push)"), 3.9 * 3.9 / 2, 1e-11);
    tr_sheet_free(sheet);
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_bad_logs),
        cmocka_unit_test(test_bad_signals),
        cmocka_unit_test(test_torques),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_bad_inputs),
        cmocka_unit_test(test_end_of_a_log),
        cmocka_unit_test(test_motions_by_lines),
        cmocka_unit_test(test_motions_by_splines),
        cmocka_unit_test(test_motions_that_jump),
        cmocka_unit_test(test_set_and_case),
        cmocka_unit_test(test_run_set),
        cmocka_unit_test(test_run_set_refused),
        cmocka_unit_test(test_events_after_set),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_controllers),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_linearise),
        cmocka_unit_test(test_lqr),
        cmocka_unit_test(test_steady),
        cmocka_unit_test(test_sensitivities),
    };
    return cmocka_run_group_tests(tests, write_log, NULL);
}
