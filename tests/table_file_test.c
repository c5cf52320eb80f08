// SPDX-License-Identifier: Apache-2.0
// Tables in the model file: lists, columns, grids; what is wrong with them; and runs that pass
// their knots and leave them.
#include "runs.h"
#include "sim/run.h"

#define CART             \
    "trundle: 1\n"       \
    "gravity: 0, 0, 0\n" \
    "bodies:\n"          \
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"

static tr_system *with_tables(const char *tables, const char *rest)
{
    char text[2000];
    snprintf(text, sizeof text, CART "tables:\n%s%s", tables, rest);
    return system_from(text);
}

static double value(tr_system *system, const char *formula)
{
    tr_error err = {0};
    const Expr x = tr_formula(system, formula, &err);
    if (err.status) fail_msg("%s: %s", formula, err.text);
    assert_true(is_number(x));
    return value_of(x);
}

// ---- reading -------------------------------------------------------------------------------

static void test_lists(void **state)
{
    (void)state;
    tr_system *s = with_tables(
        "  motor: {x: \"0, 100, 2*100\", value: \"5, 4, 0\"}\n"
        "  steps: {x: \"0, 1, 2\", value: \"5, 4, 3\", degree: 0, outside: hold}\n"
        "  cube: {x: \"-1, 0, 1, 3\", value: \"-1, 0, 1, 27\", degree: 3, outside: extend}\n"
        "  moved: {x: \"10, 11\", value: \"1, 2\", shift: 10, scale: -2, offset: 100}\n"
        "  map: {x: \"0, 1\", y: \"0, 1, 2\", value: \"0, 1, 2, 10, 11, 12\"}\n",
        "parameters: {k: motor(50), twice: 2*motor(k)}\n");
    assert_true(value(s, "motor(150)") == 2 && fabs(value(s, "motor(200)")) < 1e-15);
    assert_true(value(s, "steps(0.9)") == 5 && value(s, "steps(1)") == 4);
    assert_true(value(s, "steps(2)") == 3 && value(s, "steps(9)") == 3);
    assert_true(value(s, "steps(-1)") == 5);
    assert_close(value(s, "cube(5)"), 125, 1e-12);
    assert_close(value(s, "cube(-2)"), -8, 1e-13);
    assert_true(value(s, "moved(0)") == 98 && value(s, "moved(0.5)") == 97);
    assert_true(value(s, "map(0.5, 1)") == 6 && value(s, "map(1, 2)") == 12);
    tr_error err = {0};
    assert_true(tr_input_value(s, input_index(s, "k")) == 4.5);
    tr_formula(s, "motor(k)", &err);
    assert_int_equal(err.status, TR_OK);
    tr_system_free(s);
}

static void test_files(void **state)
{
    (void)state;
    write_text("log.csv", "t, left ,\"right\"\n0,0,5\n0.5,1,6\n2,4,9\n");
    write_text("grid.csv", "x/y,0,1,3\n0,0,1,9\n1,2,3,11\n2,4,5,13\n3,6,7,15\n");
    write_text("hill.asc", "ncols 4\nnrows 4\nxllcorner 500000\nyllcorner 4000000\ncellsize 2\n"
                           "19 21 23 25\n13 15 17 19\n7 9 11 13\n1 3 5 7\n"); // x + 3 y
    write_text("blanks.csv", " t , \"value\" , right\t\n0,1,2\n1,3,4\n");     // do not count
    tr_system *s = with_tables("  left: {file: log.csv, x: t, value: right}\n"
                               "  other: {file: blanks.csv, x: t, value: right}\n"
                               "  grid: {file: grid.csv}\n"
                               "  hill: {file: hill.asc, degree: 3, shift: \"500001, 4000001\","
                               " scale: 2, offset: 1}\n",
                               "");
    assert_close(value(s, "left(1)"), 7, 1e-15);
    assert_close(value(s, "other(0.5)"), 3, 1e-15);
    assert_close(value(s, "grid(1.5, 2)"), 9 - 1, 1e-14); // 2 x + 1 + 4 (y - 1)
    assert_close(value(s, "hill(0, 0)"), 2 * 1 + 1, 1e-13);
    assert_close(value(s, "hill(2.5, 1.7)"), 2 * (1 + 2.5 + 3 * 1.7) + 1, 1e-13);
    assert_string_equal(tr_system_file(s, 0) + strlen(tr_system_file(s, 0)) - 7, "log.csv");
    assert_non_null(tr_system_file(s, 3));
    assert_null(tr_system_file(s, 4));
    tr_system_free(s);
}

static void assert_told(const char *table, const char *words)
{
    char text[600];
    snprintf(text, sizeof text, CART "tables:\n  f: {%s}\n", table);
    assert_invalid(text, words);
}

// A text that stands in a file which is not there: what it names is beside that.
static void test_text_as(void **state)
{
    (void)state;
    static const char text[] = CART "tables: {f: {file: near.csv, x: a, value: b}}\n"
                                    "parameters: {k: f(0.5)}\n";
    tr_error err = {0};
    write_text("near.csv", "a,b\n0,1\n1,3\n");
    tr_model *model = tr_model_parse_as(text, in_folder("not_there.yaml"), &err);
    tr_system *s = tr_derive(model, NULL, &err);
    if (!s) fail_msg("%s", err.text);
    assert_true(tr_input_value(s, input_index(s, "k")) == 2);
    tr_system_free(s);
    tr_model_free(model);
}

static void test_bad_lists(void **state)
{
    (void)state;
    assert_told("degree: 1", "6:3: the table 'f' needs 'x' and 'value', or a 'file'");
    assert_told("x: \"0, 1\"", "6:3: the table 'f' needs 'x' and 'value', or a 'file'");
    assert_told("x: \"0, 1\", value: \"1, 2, 3\"", "6:26: the table 'f' has 3 values for 2 points");
    assert_told("x: \"0, 1\", y: \"0, 1\", value: \"1, 2, 3\"",
                "6:37: the table 'f' has 3 values for 4 points");
    assert_told("x: \"0, 0\", value: \"1, 2\"",
                "6:11: 'x' does not ascend: its number 2 is not above the one before it");
    assert_told("x: \"0, 1\", y: \"0, 2, 1\", value: \"1, 2\"",
                "6:22: 'y' does not ascend: its number 3 is not above the one before it");
    assert_told("x: 0, value: 1", "6:10: the table 'f' needs two points or more");
    assert_told("x: \"0, one\", value: \"1, 2\"", "6:14: unknown name 'one'");
    assert_told("x: \"0, 1/0\", value: \"1, 2\"", "6:14: 'x' is made of finite numbers alone");
    assert_told("x: \"0, , 1\", value: \"1, 2\"", "6:14: the formula is empty");
    assert_told("x: \"0, 1\", value: \"1, 2\", degree: 2", "6:41: 'degree' is 0, 1 or 3, not '2'");
    assert_told("x: \"0, 1\", value: \"1, 2\", outside: wrap",
                "6:42: 'outside' is hold, extend or stop, not 'wrap'");
    assert_told("x: \"0, 1\", value: \"1, 2\", shift: \"1, 2\"",
                "6:41: 'shift' of this table is one number");
    assert_told("x: \"0, 1\", y: \"0, 1\", value: \"1, 2, 3, 4\", shift: 1",
                "6:57: 'shift' of this table is two numbers, as in \"10, 20\"");
    assert_told("x: \"0, 1\", value: \"1, 2\", scale: t", "6:40: unknown name 't'");
}

static void test_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *content, *table, *words;
    } bad[] = {
        {"t,v\n0,1\n1,2\n", "x: t",
         "6:13: 'x' and 'value' name the columns of 'f.csv': both are "
         "needed"},
        {"t,v\n0,1\n1,2\n", "x: t, value: w", "6:33: 'f.csv' has no column 'w'"},
        {"t,v,v\n0,1,1\n1,2,2\n", "x: t, value: v", "6:33: 'f.csv' has more than one column 'v'"},
        {"t,v\n0,1\n1,2\n1,3\n", "x: t, value: v",
         "6:23: 'f.csv', line 4: column 't' does not ascend"},
        {"t,v\n0,1\n1,\n2,3\n", "x: t, value: v",
         "6:33: 'f.csv', line 3: there is no finite number in column 'v'"},
        {"t,v\n0,1\nnan,2\n2,3\n", "x: t, value: v",
         "6:23: 'f.csv', line 3: there is no finite number in column 't'"},
        {"t,v\n0,1\n1,inf\n2,3\n", "x: t, value: v",
         "6:33: 'f.csv', line 3: there is no finite number in column 'v'"},
        {"t,v\n0,1\n1,two\n2,3\n", "x: t, value: v",
         "6:13: 'f.csv', line 3: column 2 is no number"},
        {"t,v\n0,1\n1,2,3\n2,3\n", "x: t, value: v",
         "6:13: 'f.csv', line 3: there are more than 2 fields"},
        {"t,v\n\n0,1\n  \n1,\r\n2,3\n", "x: t, value: v",
         "6:33: 'f.csv', line 5: there is no finite number in column 'v'"},
        {"\"a\nb\",v\n0,1\n1,nan\n", "x: v, value: v",
         "6:23: 'f.csv', line 4: there is no finite number in column 'v'"},
        {"t;v\n0;1\n1;2\n", "x: t, value: v",
         "6:13: 'f.csv', line 2: numbers stand between ',' and not ';'"},
        {"t,v\n0,1\n1,2\n", "degree: 1",
         "6:13: 'f.csv', line 1: column 2 is no finite number: the first row of a grid is its y; "
         "where columns have names, 'x' and 'value' say which"},
        {"t,v\n0,1\n", "x: t, value: v", "6:13: the table 'f' needs two points or more"},
        {"t,v\n0,1\n1,2\n", "y: \"0, 1\"",
         "6:24: a file has its own y, in the first row of a grid"},
        {",0,1\n0,1,2\n1,,4\n", "degree: 1", "6:13: 'f.csv', line 3: column 2 is empty"},
        {",0,1\n0,1,2\n", "degree: 1",
         "6:13: the table 'f' needs two points or more along x and along y"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char table[200];
        write_text("f.csv", bad[i].content);
        snprintf(table, sizeof table, "file: f.csv, %s", bad[i].table);
        assert_told(table, bad[i].words);
    }
    write_text("f.asc", "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\nNODATA_value 0\n"
                        "1 2\n0 3\n");
    assert_told("file: f.asc", "6:13: 'f.asc', line 8: column 1 is NODATA: there is a hole at x = "
                               "0.5, y = 0.5");
    assert_told("file: f.asc, x: t, value: v", "6:23: an .asc file has no columns");
    assert_told("file: ../f.asc", "6:13: '../f.asc' is not in the folder of the model: "
                                  "--allow-files DIR allows another");
}

static void test_names(void **state)
{
    (void)state;
#define TABLE "tables: {f: {x: \"0, 1\", value: \"1, 2\"}}\n"
    assert_invalid(CART TABLE "parameters: {f: 1}\n", "6:14: the name 'f' is taken");
    assert_invalid(CART TABLE "outputs: {f: 1}\n", "6:11: the name 'f' is taken");
    assert_invalid(CART "functions: {f(x): x}\n" TABLE, "6:10: the name 'f' is taken");
    assert_invalid(CART "tables: {sin: {x: \"0, 1\", value: \"1, 2\"}}\n",
                   "5:10: 'sin' is a reserved name");
    assert_invalid(CART TABLE "outputs: {a: \"f(t, t)\"}\n", "6:15: f takes 1 argument, not 2");
    assert_invalid(
        CART TABLE "outputs: {a: g(t)}\n",
        "6:14: unknown function 'g'; there are 'f', 'sqrt', 'sin', 'cos', 'tan', 'asin', 'acos', "
        "'atan', 'atan2', 'exp', 'hypot', 'log', 'abs', 'floor', 'min', 'max', 'if', 'd'");
    assert_invalid(CART TABLE "outputs: {a: f + 1}\n", "6:14: 'f' is a function: write f(...)");
    assert_invalid(CART TABLE "outputs: {a: f(3)}\n",
                   "6:14: 3 is outside of the table 'f', which goes from 0 to 1");
    assert_invalid(CART TABLE "parameters: {k: 2, m: f(k)}\n",
                   "6:23: the table 'f' is left here, at 2");
}

// A branch that parameters do not choose is not looked at.
static void test_parameters(void **state)
{
    (void)state;
    tr_system *s = with_tables("  f: {x: \"0, 1\", value: \"1, 2\"}\n",
                               "parameters: {k: 2, m: \"if(k > 1, 7, f(k))\"}\n");
    tr_system_free(s);
}

// What files hold is part of what a model is.
static void test_hash(void **state)
{
    (void)state;
    static const char *const rows[] = {"t,v\n0,1\n1,2\n", "t,v\n0,1\n1,3\n", "t,v\n0,1\n1,2\n"};
    char hash[4][TR_SHA256_SIZE];
    for (int i = 0; i < 3; i++) {
        write_text("f.csv", rows[i]);
        tr_system *s = with_tables("  f: {file: f.csv, x: t, value: v}\n", "");
        memcpy(hash[i], s->source.sha256, sizeof hash[i]);
        tr_system_free(s);
    }
    assert_string_not_equal(hash[0], hash[1]);
    assert_string_equal(hash[0], hash[2]);
    static const char plain[] = CART;
    tr_system *s = system_from(plain);
    tr_sha256(plain, strlen(plain), hash[3]);
    assert_string_equal(s->source.sha256, hash[3]);
    tr_system_free(s);
}

// ---- knots as events -----------------------------------------------------------------------

static const double knots[] = {0, 1, 2, 4}, forces[] = {1, 3, 2, -1};
#define LIST "x: \"0, 1, 2, 4\", value: \"1, 3, 2, -1\""

// x'' = f + b (x - X) from x at speed v, after a time t
static void on_line(double f, double b, double X, double *x, double *v, double t)
{
    const double k = sqrt(fabs(b)), y = *x - X, u = *v;
    if (b == 0) {
        *x = X + y + u * t + f * t * t / 2;
        *v = u + f * t;
        return;
    }
    const double c = b > 0 ? cosh(k * t) : cos(k * t), s = b > 0 ? sinh(k * t) : sin(k * t);
    const double C = y + f / b, D = u / k;
    *x = X - f / b + C * c + D * s;
    *v = b > 0 ? k * (C * s + D * c) : k * (-C * s + D * c);
}

// When it comes to the end of piece i
static double passing_time(int i, double f, double b, double x, double v)
{
    double low = 0, high = 3;
    for (int n = 0; n < 100; n++) {
        const double t = (low + high) / 2;
        double at = x, speed = v;
        on_line(f, b, knots[i], &at, &speed, t);
        *(at < knots[i + 1] ? &low : &high) = t;
    }
    return high;
}

// From x = 0 on, as long as it goes ahead
static void closed_form(int degree, double v, double t, double *x_out, double *v_out)
{
    double x = 0;
    for (int i = 0; i < 3; i++) {
        const double b = (forces[i + 1] - forces[i]) / (knots[i + 1] - knots[i]);
        const double slope = degree ? b : 0;
        const double lasts = passing_time(i, forces[i], slope, x, v);
        const double h = fmin(t, lasts);
        on_line(forces[i], slope, knots[i], &x, &v, h);
        t -= h;
        if (t <= 0) break;
    }
    *x_out = x, *v_out = v;
}

static void test_knots_of_the_state(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece"};
    static const double close[] = {1e-11, 1e-8, 1e-11, 1e-5};
    for (int degree = 0; degree <= 1; degree++)
        for (int k = 0; k < 4; k++) {
            char table[100];
            snprintf(table, sizeof table, "  f: {" LIST ", degree: %d}\n", degree);
            tr_system *s = with_tables(table, "roles: {cart: {torque: f(cart)}}\n"
                                              "initial: {cart: 0, d(cart): 0.1}\n");
            tr_simulate_options o = tr_simulate_defaults(s);
            o.method = methods[k], o.step = 1e-3, o.end = 2, o.every = 0.1;
            Sheet *sheet = simulated(s, o, NULL);
            for (size_t i = 0; i < sheet->rows; i++) {
                double x, v;
                closed_form(degree, 0.1, at(sheet, i, "t"), &x, &v);
                assert_close(at(sheet, i, "cart"), x, close[k]);
                assert_close(at(sheet, i, "cart_rate"), v, close[k]);
            }
            tr_sheet_free(sheet);
            tr_system_free(s);
        }
}

// Two axes, and values that others depend on: as many small steps see it, too.
static void test_knots_of_the_plane(void **state)
{
    (void)state;
    static const char tables[] =
        "  f: {x: \"0, 1, 2, 4\", y: \"0, 1, 3\", value: \"1, 3, 2, -1, 1, 2, 3, 4, 5, 6, 7, 8\","
        " degree: 1}\n"
        "  g: {x: \"-4, 1, 2, 9\", y: \"-1, 0.2, 3\", value: \"1, 3, 2, -1, 1, 2, 3, 4, 5, 6, 7, "
        "8\", degree: 0}\n"
        "  h: {x: \"0, 2, 5, 9\", value: \"0, 1, 1.5, 2\"}\n";
    static const char rest[] =
        "roles: {cart: {torque: \"f(cart, h(t + cart)) + 0.1*g(f(cart, 0.4), cart/5)\"}}\n"
        "initial: {cart: 0}\n";
    tr_simulate_options o = tr_simulate_defaults(NULL);
    o.end = 1.5, o.every = 0.5;
    Sheet *sheets[2];
    for (int i = 0; i < 2; i++) {
        tr_system *s = with_tables(tables, rest);
        if (i) o.method = "rk4", o.step = 1e-4;
        sheets[i] = simulated(s, o, NULL);
        tr_system_free(s);
    }
    assert_true(last(sheets[0], "cart") > 1);
    assert_below(difference(sheets[0], "cart", sheets[1], "cart"), 1e-10);
    for (int i = 0; i < 2; i++) tr_sheet_free(sheets[i]);
}

// x'' = f(t), line by line: a cubic on each; and every knot is found, which is proved.
static void test_knots_in_time(void **state)
{
    (void)state;
    enum { N = 2000 };
    Random r = {5};
    Buffer text = {0};
    double f[N + 1], t[N + 1];
    tr_buffer_print(&text, "t,v\n");
    for (int i = 0; i <= N; i++) {
        t[i] = i ? t[i - 1] + random_between(&r, 1e-4, 2e-3) : 0;
        f[i] = random_between(&r, -1, 1);
        tr_buffer_number(&text, t[i]);
        tr_buffer_print(&text, ",");
        tr_buffer_number(&text, f[i]);
        tr_buffer_print(&text, "\n");
    }
    write_text("f.csv", text.at);
    tr_buffer_free(&text);
    for (int degree = 0; degree <= 1; degree++) {
        char table[100];
        double x = 0, v = 0;
        snprintf(table, sizeof table, "  f: {file: f.csv, x: t, value: v, degree: %d}\n", degree);
        tr_system *s = with_tables(table, "roles: {cart: {torque: f(t)}}\n");
        tr_simulate_options o = tr_simulate_defaults(s);
        o.method = "rk4", o.step = 0.01, o.every = o.end = t[N];
        Sheet *sheet = simulated(s, o, NULL);
        for (int i = 0; i < N; i++) {
            const double h = t[i + 1] - t[i], b = degree ? (f[i + 1] - f[i]) / h : 0;
            x += h * (v + h * (f[i] / 2 + h * b / 6));
            v += h * (f[i] + h * b / 2);
        }
        assert_close(last(sheet, "cart"), x, 1e-12);
        assert_close(last(sheet, "cart_rate"), v, 1e-12);
        char *json = certificate();
        assert_null(strstr(json, "could not be proved"));
        free(json);
        tr_sheet_free(sheet);
        tr_system_free(s);
    }
}

// A place that jumps is refused, a rate that does strikes what hangs from it.
static void test_motions(void **state)
{
    (void)state;
    static const char rest[] = "  bob: {parent: cart, joint: {type: prismatic, axis: \"1, 0, 0\"},"
                               " mass: 1}\nroles: {cart: {motion: f(t)}}\n";
    char text[600];
    snprintf(text, sizeof text, CART "%stables:\n  f: {" LIST ", degree: 0}\n", rest);
    assert_invalid(text,
                   "6:24: a motion takes tables of degree 1 or 3, and 'f' has degree 0: where "
                   "it jumps the velocity would be infinite");
    snprintf(text, sizeof text, CART "%stables:\n  f: {" LIST ", degree: 1}\n", rest);
    tr_system *s = system_from(text);
    tr_simulate_options o = tr_simulate_defaults(s);
    o.end = 3, o.every = 0.5;
    Sheet *sheet = simulated(s, o, NULL);
    assert_close(last(sheet, "cart"), 0.5, 1e-14);
    assert_close(last(sheet, "cart_rate"), -1.5, 1e-14);
    tr_sheet_free(sheet);
    tr_system_free(s);
}

// ---- leaving them --------------------------------------------------------------------------

static void assert_ends(tr_system *system, const char *method, const char *words)
{
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = method, o.step = 0.013, o.end = 5, o.every = 0.1;
    o.output = in_folder("run.csv");
    assert_false(tr_simulate(system, &o, NULL, &err));
    assert_string_equal(err.text, words);
    assert_int_equal(err.status, TR_FAILED);
    tr_system_free(system);
}

static void test_stop(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "lie"};
    static const char moving[] = "outputs: {a: f(cart)}\ninitial: {cart: 1, d(cart): 2}\n";
    for (int i = 0; i < 4; i++) {
        assert_ends(with_tables("  f: {" LIST "}\n", moving), methods[i],
                    "the table 'f' is left at 4 at t = 1.5");
        assert_ends(with_tables("  f: {" LIST ", degree: 3}\n", moving), methods[i],
                    "the table 'f' is left at 4 at t = 1.5");
        assert_ends(with_tables("  f: {" LIST ", degree: 0}\n",
                                "outputs: {a: f(4 - cart)}\ninitial: {cart: 1, d(cart): 2}\n"),
                    methods[i], "the table 'f' is left at 0 at t = 1.5");
        assert_ends(with_tables("  f: {" LIST "}\n", "outputs: {a: f(2*t)}\n"), methods[i],
                    "the table 'f' is left at 4 at t = 2");
        assert_ends(with_tables("  f: {x: \"0, 2, 3, 9\", y: \"0, 1\", value: \"1, 2, 3, 4, 5, 6, "
                                "7, 8\"}\n",
                                "outputs: {a: \"f(cart, t/2)\"}\ninitial: {cart: 1, d(cart): 2}\n"),
                    methods[i], "the table 'f' is left at (5, 1) at t = 2");
    }
    assert_ends(with_tables("  f: {" LIST "}\n", "outputs: {a: f(cart)}\ninitial: {cart: -1}\n"),
                "erk", "the table 'f' is left at -1 at t = 0");
}

// Where a branch is not taken, where a table holds or goes on, and up to its very end.
static void test_no_stop(void **state)
{
    (void)state;
    static const char *const tables[] = {"  f: {" LIST "}\n", "  f: {" LIST ", outside: hold}\n",
                                         "  f: {" LIST ", outside: extend}\n",
                                         "  f: {" LIST ", degree: 3, outside: hold}\n",
                                         "  f: {" LIST "}\n"};
    static const char *const formulas[] = {"\"if(cart < 3.9, f(cart), 0)\"", "f(cart)", "f(cart)",
                                           "f(cart)", "f(t)"};
    static const double wanted[] = {0, -1, 2 - 1.5 * 7, -1, -1};
    for (int i = 0; i < 5; i++) {
        char rest[200];
        snprintf(rest, sizeof rest, "outputs: {a: %s}\ninitial: {cart: 1, d(cart): 2}\n",
                 formulas[i]);
        tr_system *s = with_tables(tables[i], rest);
        tr_simulate_options o = tr_simulate_defaults(s);
        o.end = 4, o.every = 0.5;
        Sheet *sheet = simulated(s, o, NULL);
        assert_close(last(sheet, "a"), wanted[i], 1e-12);
        tr_sheet_free(sheet);
        tr_system_free(s);
    }
}

// The force of a table that holds its end bends there.
static void test_hold(void **state)
{
    (void)state;
    tr_system *s =
        with_tables("  f: {x: \"0, 1\", value: \"1, 2\", outside: hold}\n",
                    "roles: {cart: {torque: f(cart)}}\ninitial: {cart: 0, d(cart): 1}\n");
    tr_simulate_options o = tr_simulate_defaults(s);
    o.end = o.every = 2, o.method = "rk4", o.step = 0.01;
    Sheet *sheet = simulated(s, o, NULL);
    // x = e^t - 1 up to log 2, then at speed 2 with force 2
    const double h = 2 - log(2);
    assert_close(last(sheet, "cart"), 1 + 2 * h + h * h, 1e-9);
    tr_sheet_free(sheet);
    tr_system_free(s);
}

// A disc that rolls through wind and over patches, until it leaves them: by all methods alike.
static void test_rolling(void **state)
{
    (void)state;
    static const char more[] =
        "tables:\n"
        "  wind: {x: \"-3, -0.5, 0, 0.3, 3\", value: \"0.1, 0, 0.2, -0.1, 0\"}\n"
        "  patch: {x: \"-1.3, 0, 1.3\", y: \"-1, 1, 2, 3\", value: \"0, 0, 0, 0, 0.1, 0.1, 0.1, "
        "0.1,"
        " 0, 0, 0, 0.2\", degree: 0}\n"
        "forces: {push: {body: disc, force: \"wind(disc.y), patch(disc.x, disc.y), 0\"}}\n";
    static const char *const methods[] = {"erk", "bdf", "rk4"};
    char *model = read_text(MODELS_DIR "/rolling_disc.yaml");
    char *text = calloc(strlen(model) + sizeof more, 1);
    strcat(strcat(text, model), more);
    Sheet *sheets[3];
    for (int i = 0; i < 3; i++) {
        tr_error err = {0};
        tr_system *s = system_of(model_from(text), "wobble");
        tr_simulate_options o = tr_simulate_defaults(s);
        o.method = methods[i], o.step = 5e-4, o.end = 2, o.every = 0.25;
        o.output = in_folder("run.csv");
        assert_false(tr_simulate(s, &o, NULL, &err));
        assert_string_equal(err.text,
                            "the table 'patch' is left at (1.3, 0.61398241) at t = 0.79069672");
        sheets[i] = read_sheet(o.output);
        tr_system_free(s);
    }
    for (int i = 1; i < 3; i++) {
        assert_below(difference(sheets[0], "disc.x", sheets[i], "disc.x"), 1e-10);
        assert_below(difference(sheets[0], "disc.y", sheets[i], "disc.y"), 1e-10);
    }
    for (int i = 0; i < 3; i++) tr_sheet_free(sheets[i]);
    free(text);
    free(model);
}

// ---- lanes ---------------------------------------------------------------------------------

// Side by side they do what each does alone, knots and ends included.
static void test_batch(void **state)
{
    (void)state;
    enum { RUNS = 11 };
    tr_error err = {0};
    tr_system *s =
        with_tables("  f: {" LIST "}\n"
                    "  g: {x: \"0, 1, 2, 3\", y: \"0, 1, 2\", value: \"1, 2, 3, 4, 5, 6, "
                    "7, 8, 9, 8, 7, 6\", degree: 3, outside: hold}\n",
                    "parameters: {speed: 0.1}\n"
                    "roles: {cart: {torque: \"f(cart) + 0.1*g(cart/2, t)\"}}\n"
                    "initial: {cart: 0, d(cart): speed}\n");
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 0.01;
    tr_batch *batch = tr_batch_new(plan, RUNS, &o, &err);
    tr_run *runs[RUNS];
    size_t failed = 0;
    for (size_t i = 0; i < RUNS; i++) {
        runs[i] = tr_run_new(plan, &o, &err);
        tr_run_set(runs[i], "speed", 0.1 * (double)i, &err);
        tr_batch_set(batch, i, "speed", 0.1 * (double)i, &err);
        assert_true(tr_run_reset(runs[i], &err) && tr_batch_reset(batch, i, &err));
    }
    if (err.status) fail_msg("%s", err.text);
    for (double t = 0.5; t < 2.1; t += 0.5) {
        tr_batch_advance(batch, t, &err);
        for (size_t i = 0; i < RUNS; i++) {
            tr_error own = {0}, other = {0};
            if (!tr_run_failed(runs[i], NULL)) tr_run_advance(runs[i], t, &own);
            const bool over = tr_run_failed(runs[i], &own);
            assert_int_equal(tr_batch_status(batch, i, &other) != TR_OK, over);
            if (over) assert_string_equal(own.text, other.text);
            const double *one = tr_run_row(runs[i]), *many = tr_batch_row(batch, i);
            for (size_t k = 0; one && k < tr_plan_column_count(plan); k++)
                assert_true(same_bits(one[k], many[k]) || (isnan(one[k]) && isnan(many[k])));
            failed += over;
        }
    }
    assert_true(failed > 0 && failed < 2 * RUNS);
    for (size_t i = 0; i < RUNS; i++) tr_run_free(runs[i]);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(s);
}

// ---- what else runs do ---------------------------------------------------------------------

// A run that is restored ends where the one does that was saved.
static void test_snapshot(void **state)
{
    (void)state;
    tr_error err = {0}, own = {0}, other = {0};
    tr_system *s = with_tables("  f: {" LIST "}\n", "roles: {cart: {torque: f(cart)}}\n"
                                                    "initial: {cart: 0.5, d(cart): 1}\n");
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 0.01;
    tr_run *run = tr_run_new(plan, &o, &err), *twin = tr_run_new(plan, &o, &err);
    assert_true(tr_run_advance(run, 0.7, &err));
    char memory[20000];
    const size_t size = tr_run_save(run, memory, sizeof memory, &err);
    assert_true(size > 0 && tr_run_restore(twin, memory, size, &err));
    assert_int_equal(err.status, TR_OK);
    assert_false(tr_run_advance(run, 5, &own));
    assert_false(tr_run_advance(twin, 5, &other));
    assert_non_null(strstr(own.text, "the table 'f' is left at 4 at t = 1."));
    assert_string_equal(own.text, other.text);
    tr_run_free(run);
    tr_run_free(twin);
    tr_plan_free(plan);
    tr_system_free(s);
}

// x'' = k f(x): slopes of a motion by k, against differences; where rates jump there are none.
static void test_sensitivity(void **state)
{
    (void)state;
    static const int degrees[] = {0, 1, 3};
    for (int i = 0; i < 3; i++) {
        double x[3] = {0}, slope = 0;
        for (int k = 0; k < 3; k++) {
            char table[100], rest[200];
            tr_error err = {0};
            snprintf(table, sizeof table, "  f: {" LIST ", degree: %d}\n", degrees[i]);
            snprintf(rest, sizeof rest,
                     "parameters: {k: %.17g}\nroles: {cart: {torque: k*f(cart)}}\n"
                     "initial: {cart: 0, d(cart): 0.1}\n",
                     1 + (k - 1) * 1e-4);
            tr_system *s = with_tables(table, rest);
            tr_simulate_options o = strictly(s);
            o.end = o.every = 1.8, o.sensitivity = k == 1 ? "k" : NULL;
            o.output = in_folder("run.csv");
            if (tr_simulate(s, &o, NULL, &err)) {
                Sheet *sheet = read_sheet(o.output);
                x[k] = last(sheet, "cart");
                if (k == 1) slope = last(sheet, "d(cart)/d(k)");
                tr_sheet_free(sheet);
            } else {
                assert_true(degrees[i] == 0 && k == 1);
                assert_string_equal(err.text,
                                    "the equations compare or round what depends on the state: "
                                    "sensitivities could jump there, and are not given");
            }
            tr_system_free(s);
        }
        if (degrees[i]) assert_close(slope, (x[2] - x[0]) / 2e-4, 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_text_as),
        cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_knots_of_the_state),
        cmocka_unit_test(test_knots_of_the_plane),
        cmocka_unit_test(test_knots_in_time),
        cmocka_unit_test(test_motions),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_no_stop),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_rolling),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_sensitivity),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
