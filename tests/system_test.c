// SPDX-License-Identifier: Apache-2.0
// Systems: names, inputs, definitions, outputs, rates, compiling by name; and the pipeline of
// errors: the first one wins, NULL in is NULL out, nobody needs an error.
#include "expr/system.h"
#include "test.h"

#define assert_error(err, wanted_status, words)        \
    do {                                               \
        assert_int_equal((err).status, wanted_status); \
        assert_string_equal((err).text, words);        \
        (err) = (tr_error){0};                         \
    } while (0)

static double value_at(System *s, Expr x, const double *in)
{
    tr_error err = {0};
    char name[32];
    double out;
    snprintf(name, sizeof name, "value%u", s->output_count);
    tr_output(s, name, &x, 1, 1, &err);
    tr_program *program = tr_compile(s, name, NULL, &err);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    if (err.status) fail_msg("%s", err.text);
    tr_evaluate(program, workspace, in, &out);
    tr_workspace_free(workspace);
    tr_program_free(program);
    return out;
}

// ---- inputs and names ----------------------------------------------------------------------

static void test_inputs_keep_their_order(void **state)
{
    (void)state;
    static const char *const names[] = {"t", "q.x", "_a", "R32", "frame.R32", "x_1", "E"};
    enum { N = sizeof names / sizeof *names };
    tr_error err = {0};
    System *s = tr_system_new(&err);
    assert_int_equal(tr_input_count(s), 0);
    assert_null(tr_input_name(s, 0));
    Expr x[N];
    for (size_t i = 0; i < N; i++) {
        const tr_kind kind =
            strcmp(names[i], "t") == 0 ? TR_TIME : TR_POSITION; // t is for time alone
        x[i] = tr_input(s, names[i], kind, 0, &err);
    }
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(tr_input_count(s), N);
    for (size_t i = 0; i < N; i++) {
        assert_string_equal(tr_input_name(s, i), names[i]);
        assert_int_equal(tr_formula(s, names[i], &err).id, x[i].id);
        for (size_t k = 0; k < i; k++) assert_int_not_equal(x[i].id, x[k].id);
    }
    assert_null(tr_input_name(s, N));
    double in[N];
    for (size_t i = 0; i < N; i++) in[i] = 10.0 * (double)i + 1;
    for (size_t i = 0; i < N; i++) assert_true(value_at(s, x[i], in) == in[i]);
    tr_system_free(s);
}

static void test_names_are_copied(void **state)
{
    (void)state;
    System *s = tr_system_new(NULL);
    char name[] = "speed", head[] = "twice(a)", body[] = "2*a", output[] = "y";
    const Expr x = tr_input(s, name, TR_VELOCITY, 0, NULL);
    tr_define(s, head, body, NULL);
    tr_output(s, output, &x, 1, 1, NULL);
    memset(name, 'z', sizeof name - 1);
    memset(head, 'z', sizeof head - 1);
    memset(body, 'z', sizeof body - 1);
    output[0] = 'z';
    assert_string_equal(tr_input_name(s, 0), "speed");
    assert_int_equal(tr_formula(s, "twice(speed)", NULL).id, tr_formula(s, "2*speed", NULL).id);
    assert_int_not_equal(tr_formula(s, "twice(speed)", NULL).id, 0);
    tr_program *program = tr_compile(s, "y", NULL, NULL);
    assert_non_null(program);
    tr_program_free(program);
    tr_system_free(s);
}

static void test_bad_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *words;
    } cases[] = {
        {"q", "the name 'q' is taken"},
        {"energy", "the name 'energy' is taken"},
        {"twice", "the name 'twice' is taken"},
        {"road", "the name 'road' is taken"},
        {"sin", "'sin' is a reserved name"},
        {"if", "'if' is a reserved name"},
        {"d", "'d' is a reserved name"},
        {"pi", "'pi' is a reserved name"},
        {"world", "'world' is a reserved name"},
        {"atan2", "'atan2' is a reserved name"},
        {"", "'' is not a name: ASCII letters, digits, _ and single points"},
        {"2x", "'2x' is not a name: ASCII letters, digits, _ and single points"},
        {"a b", "'a b' is not a name: ASCII letters, digits, _ and single points"},
        {"a..b", "'a..b' is not a name: ASCII letters, digits, _ and single points"},
        {".a", "'.a' is not a name: ASCII letters, digits, _ and single points"},
        {"a.", "'a.' is not a name: ASCII letters, digits, _ and single points"},
        {"a.1", "'a.1' is not a name: ASCII letters, digits, _ and single points"},
        {"a-b", "'a-b' is not a name: ASCII letters, digits, _ and single points"},
        {" q", "' q' is not a name: ASCII letters, digits, _ and single points"},
    };
    static const double x[] = {0, 1}, z[] = {3, 4};
    tr_error err = {0};
    System *s = tr_system_new(&err);
    tr_input(s, "q", TR_POSITION, 0, &err);
    tr_define(s, "energy", "q^2", &err);
    tr_define(s, "twice(a)", "2*a", &err);
    tr_define_table(s, "road", x, 2, NULL, 1, z, 1, false, &err);
    assert_int_equal(err.status, TR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tr_input(s, cases[i].name, TR_POSITION, 0, &err).id, 0);
        assert_error(err, TR_INVALID, cases[i].words);
        tr_define(s, cases[i].name, "1", &err);
        assert_error(err, TR_INVALID, cases[i].words);
        tr_define_table(s, cases[i].name, x, 2, NULL, 1, z, 1, false, &err);
        assert_error(err, TR_INVALID, cases[i].words);
    }
    assert_int_equal(tr_input_count(s), 1); // and nothing has changed
    assert_int_equal(tr_formula(s, "energy", &err).id, tr_formula(s, "q*q", &err).id);
    assert_int_not_equal(tr_input(s, "t", TR_TIME, 0, &err).id, 0); // reserved for just this
    assert_int_equal(err.status, TR_OK);
    tr_input(s, "t", TR_TIME, 0, &err);
    assert_error(err, TR_INVALID, "the name 't' is taken");
    tr_system_free(s);
}

static void test_long_names(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'x', sizeof name);
    name[100] = 0;
    tr_error err = {0};
    System *s = tr_system_new(&err);
    const Expr x = tr_input(s, name, TR_POSITION, 0, &err);
    assert_int_equal(tr_formula(s, name, &err).id, x.id);
    assert_int_equal(err.status, TR_OK);
    name[100] = 'x', name[101] = 0;
    assert_int_equal(tr_input(s, name, TR_POSITION, 0, &err).id, 0);
    assert_int_equal(err.status, TR_INVALID);
    assert_non_null(strstr(err.text, "is longer than 100 characters"));
    assert_true(strlen(err.text) < 150); // quoted in part
    tr_system_free(s);
}

static void test_many_names(void **state)
{
    (void)state;
    enum { N = 3000 };
    tr_error err = {0};
    System *s = tr_system_new(&err);
    char name[32];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "x%d", i);
        tr_input(s, name, TR_POSITION, 0, &err);
        snprintf(name, sizeof name, "c%d", i);
        char formula[32];
        snprintf(formula, sizeof formula, "%d", i);
        tr_define(s, name, formula, &err);
    }
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "x%d", i);
        assert_string_equal(tr_input_name(s, (size_t)i), name);
        assert_int_not_equal(tr_formula(s, name, &err).id, 0);
        snprintf(name, sizeof name, "c%d", i);
        double value = -1;
        assert_true(tr_is_constant(tr_formula(s, name, &err), &value) && value == i);
    }
    assert_int_equal(err.status, TR_OK);
    tr_system_free(s);
}

// ---- definitions ---------------------------------------------------------------------------

static void test_definitions(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = tr_system_new(&err);
    tr_input(s, "q", TR_POSITION, 0, &err);
    tr_input(s, "m", TR_PARAMETER, 0, &err);
    tr_define(s, "energy", "m*q^2/2", &err);
    tr_define(s, "ramp(x, a, b)", "min(max((x - a)/(b - a), 0), 1)", &err);
    tr_define(s, " steps ( n ) ", "floor(ramp(n, 0, m))", &err); // uses what is there; spaces
    tr_define(s, "shadow(q)", "q + 1", &err);                    // arguments hide inputs
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(tr_formula(s, "energy", &err).id, tr_formula(s, "m*q^2/2", &err).id);
    assert_int_equal(tr_formula(s, "shadow(m)", &err).id, tr_formula(s, "m + 1", &err).id);
    const double in[] = {3, 8};
    assert_true(value_at(s, tr_formula(s, "ramp(q, 2, 6)", &err), in) == 0.25);
    assert_true(value_at(s, tr_formula(s, "steps(m) + energy", &err), in) == 37);
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(tr_input_count(s), 2); // definitions are no inputs
    tr_system_free(s);
}

static void test_bad_definitions(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = tr_system_new(&err);
    tr_input(s, "q", TR_POSITION, 0, &err);
    tr_define(s, "y", "q +", &err);
    assert_int_equal(err.status, TR_INVALID);
    err = (tr_error){0};
    tr_define(s, "y", "q", &err); // the failed one left no name behind
    assert_int_equal(err.status, TR_OK);
    static const char *const heads[] = {"f()",  "f(a", "f(a,)",  "f(a, a)",
                                        "f(1)", "(a)", "f(a) b", "2f(a)"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        tr_define(s, heads[i], "1", &err);
        assert_int_equal(err.status, TR_INVALID);
        assert_non_null(strstr(err.text, "a function is written name(a, b)"));
        err = (tr_error){0};
    }
    tr_define(s, "y(a)", "a", &err);
    assert_error(err, TR_INVALID, "the name 'y' is taken");
    tr_define(s, "sin(a)", "a", &err);
    assert_error(err, TR_INVALID, "'sin' is a reserved name");
    tr_system_free(s);
}

static void test_tables(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 3}, y[] = {0, 2}, z[] = {1, 2, 6, 0, 5, 7};
    tr_error err = {0};
    System *s = tr_system_new(&err);
    tr_input(s, "q", TR_POSITION, 0, &err);
    tr_define_table(s, "signal", x, 3, NULL, 1, z, 1, false, &err);
    tr_define_table(s, "signal.held", x, 3, NULL, 1, z, 1, true, &err);
    tr_define_table(s, "grid", x, 3, y, 2, z, 1, false, &err);
    assert_int_equal(err.status, TR_OK);
    const double in[] = {2};
    assert_true(value_at(s, tr_formula(s, "signal(q)", &err), in) == 4);
    assert_true(value_at(s, tr_formula(s, "signal(2*q)", &err), in) == 8);
    assert_true(value_at(s, tr_formula(s, "signal.held(2*q)", &err), in) == 6);
    assert_true(value_at(s, tr_formula(s, "grid(q, q/2)", &err), in) == 4.5); // of 6 0 5 7
    assert_true(value_at(s, tr_formula(s, "grid(q/2, q)", &err), in) == 0);   // x first
    assert_int_equal(err.status, TR_OK);
    tr_formula(s, "grid(q)", &err);
    assert_error(err, TR_INVALID, "grid takes 2 arguments, not 1");
    tr_define_table(s, "worse", x, 1, NULL, 1, z, 1, true, &err);
    assert_error(err, TR_INVALID, "table: at least two points are needed along each axis");
    tr_define_table(s, "worse", x, 3, NULL, 1, z, 2, true, &err);
    assert_error(err, TR_USAGE, "table: the degree is 0, 1 or 3, not 2");
    tr_formula(s, "worse(q)", &err); // the failed ones left no name behind
    assert_int_equal(err.status, TR_INVALID);
    tr_system_free(s);
}

// ---- outputs and programs ------------------------------------------------------------------

static void test_outputs_by_rows(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = tr_system_new(&err);
    const Expr a = tr_input(s, "a", TR_POSITION, 0, &err),
               b = tr_input(s, "b", TR_POSITION, 0, &err);
    Expr M[6];
    for (int i = 0; i < 6; i++) M[i] = tr_add(tr_mul(a, tr_constant(s, i)), b);
    tr_output(s, "M", M, 2, 3, &err);
    tr_output(s, "c", &b, 1, 1, &err);
    tr_output(s, "a", &a, 1, 1, &err); // outputs have names of their own
    memset(M, 0, sizeof M);            // values are copied
    assert_int_equal(err.status, TR_OK);
    const Output *m = tr_system_output(s, text_of("M"));
    assert_true(m && m->rows == 2 && m->columns == 3);
    assert_null(tr_system_output(s, text_of("m")));
    tr_program *program = tr_compile(s, "  c   M a c ", NULL, &err); // any order, twice, spaces
    tr_workspace *workspace = tr_workspace_new(program, &err);
    assert_int_equal(err.status, TR_OK);
    const tr_program_size size = tr_program_sizes(program);
    assert_true(size.inputs == 2 && size.outputs == 9);
    const double in[] = {10, 3}, wanted[] = {3, 3, 13, 23, 33, 43, 53, 10, 3};
    double out[9];
    tr_evaluate(program, workspace, in, out);
    assert_memory_equal(out, wanted, sizeof out);
    tr_workspace_free(workspace);
    tr_program_free(program);
    tr_system_free(s);
}

static void test_bad_outputs(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = tr_system_new(&err), *other = tr_system_new(&err);
    const Expr x = tr_input(s, "x", TR_POSITION, 0, &err),
               y = tr_input(other, "y", TR_POSITION, 0, &err);
    tr_output(s, "M", &x, 1, 1, &err);
    tr_output(s, "M", &x, 1, 1, &err);
    assert_error(err, TR_INVALID, "the output name 'M' is taken");
    tr_output(s, "", &x, 1, 1, &err);
    assert_error(err, TR_INVALID, "the output name '' is not a name");
    tr_output(s, "a b", &x, 1, 1, &err);
    assert_error(err, TR_INVALID, "the output name 'a b' is not a name");
    const Expr values[] = {x, tr_pow(x, 5000), x}, foreign[] = {x, y};
    tr_output(s, "f", values, 1, 3, &err);
    assert_error(err, TR_USAGE,
                 "the output 'f' holds a failed expression: tr_pow takes exponents up to 1000");
    tr_output(s, "f", foreign, 2, 1, &err);
    assert_error(err, TR_USAGE,
                 "the output 'f' holds a failed expression: tr_pow takes exponents up to 1000");
    tr_output(s, "f", &x, 1, 1, &err); // still free
    assert_int_equal(err.status, TR_OK);
    tr_system_free(s);
    tr_system_free(other);
}

static void test_bad_programs(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = tr_system_new(&err);
    const Expr x = tr_input(s, "x", TR_POSITION, 0, &err);
    tr_output(s, "M", &x, 1, 1, &err);
    tr_output(s, "nothing", &x, 0, 1, &err);
    assert_int_equal(err.status, TR_OK);
    assert_null(tr_compile(s, "N", NULL, &err));
    assert_error(err, TR_USAGE, "there is no output 'N'; there are 'M', 'nothing'");
    assert_null(tr_compile(s, "M Mx M", NULL, &err));
    assert_error(err, TR_USAGE, "there is no output 'Mx'; did you mean 'M'?");
    assert_null(tr_compile(s, "x", NULL, &err)); // an input is no output
    assert_error(err, TR_USAGE, "there is no output 'x'; there are 'M', 'nothing'");
    static const char *const empty[] = {"", "   ", "nothing"};
    for (size_t i = 0; i < 3; i++) {
        assert_null(tr_compile(s, empty[i], NULL, &err));
        assert_error(err, TR_USAGE, "a program needs at least one output");
    }
    tr_system_free(s);
}

// Parameters fixed at their values: same values, less work, same inputs.
static void test_fixed_parameters(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = tr_system_new(&err);
    tr_input(s, "m", TR_PARAMETER, 2.5, &err);
    tr_input(s, "q", TR_POSITION, 7, &err);
    tr_input(s, "g", TR_PARAMETER, 9.81, &err);
    tr_input(s, "u", TR_INPUT, 5, &err);
    const Expr y[] = {tr_formula(s, "sqrt(m*g)*sin(q) + u*m^3/(g + m)", &err),
                      tr_formula(s, "m*g", &err), tr_formula(s, "q*u", &err)};
    tr_output(s, "y", y, 3, 1, &err);
    tr_compile_options options = tr_compile_defaults();
    assert_false(options.fix_parameters);
    tr_program *plain = tr_compile(s, "y", NULL, &err),
               *same_as = tr_compile(s, "y", &options, &err);
    options.fix_parameters = true;
    tr_program *fixed = tr_compile(s, "y", &options, &err);
    const tr_program_size a = tr_program_sizes(plain), b = tr_program_sizes(fixed);
    assert_int_equal(tr_program_sizes(same_as).operations, a.operations);
    assert_true(a.inputs == 4 && b.inputs == 4 && a.outputs == 3 && b.outputs == 3);
    assert_true(b.operations < a.operations && b.operations > 0);
    tr_workspace *wa = tr_workspace_new(plain, &err), *wb = tr_workspace_new(fixed, &err);
    assert_int_equal(err.status, TR_OK);
    for (double q = -2; q < 2; q += 0.3) {
        const double in[] = {2.5, q, 9.81, 3 - q}, other[] = {(double)NAN, q, -1, 3 - q};
        double out[3], out_fixed[3];
        tr_evaluate(plain, wa, in, out);
        tr_evaluate(fixed, wb, other, out_fixed); // parameters are not read
        for (int i = 0; i < 3; i++) assert_close(out[i], out_fixed[i], 1e-14);
    }
    // the system itself still has its parameters
    assert_int_equal(tr_formula(s, "m*g", &err).id, y[1].id);
    tr_workspace_free(wa);
    tr_workspace_free(wb);
    tr_program_free(plain);
    tr_program_free(same_as);
    tr_program_free(fixed);
    tr_system_free(s);
}

// A program outlives its system.
static void test_programs_stand_alone(void **state)
{
    (void)state;
    static const double knots[] = {0, 1, 2, 3}, z[] = {0, 1, 8, 27};
    tr_error err = {0};
    System *s = tr_system_new(&err);
    tr_input(s, "q", TR_POSITION, 0, &err);
    tr_define_table(s, "cube", knots, 4, NULL, 1, z, 3, false, &err);
    const Expr y = tr_formula(s, "cube(q) + 0.5", &err);
    tr_output(s, "y", &y, 1, 1, &err);
    tr_program *program = tr_compile(s, "y", NULL, &err);
    tr_system_free(s);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    assert_int_equal(err.status, TR_OK);
    double out, in = 2.5;
    tr_evaluate(program, workspace, &in, &out);
    assert_close(out, 2.5 * 2.5 * 2.5 + 0.5, 1e-13);
    tr_workspace_free(workspace);
    tr_program_free(program);
}

// ---- rates ---------------------------------------------------------------------------------

static void test_rates(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = tr_system_new(&err);
    const Expr t = tr_input(s, "t", TR_TIME, 0, &err), q = tr_input(s, "q", TR_POSITION, 0, &err);
    const Expr v = tr_input(s, "v", TR_VELOCITY, 0, &err), u = tr_input(s, "u", TR_INPUT, 0, &err);
    const Expr p = tr_input(s, "p", TR_PARAMETER, 0, &err);
    assert_true(is_one(tr_time_derivative(s, t, &err)));
    assert_true(is_zero(tr_time_derivative(s, u, &err)) && is_zero(tr_time_derivative(s, p, &err)));
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(tr_time_derivative(s, tr_formula(s, "sin(q*t)", &err), &err).id, 0);
    assert_error(err, TR_INVALID, "the rate of 'q' is not known here");
    tr_rate_set(s, q, v, &err);
    assert_int_equal(tr_time_derivative(s, q, &err).id, v.id);
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(tr_time_derivative(s, tr_mul(q, v), &err).id, 0);
    assert_error(err, TR_INVALID, "the rate of 'v' is not known here");
    tr_formula(s, "2 + d(d(q))", &err);
    assert_error(err, TR_INVALID, "the rate of 'v' is not known here");
    tr_rate_set(s, v, u, &err);
    tr_rate_set(s, u, tr_constant(s, 3), &err); // inputs may be given one
    assert_int_equal(tr_formula(s, "d(d(q*p))", &err).id, tr_mul(u, p).id);
    assert_int_equal(tr_formula(s, "d(d(d(q)))", &err).id, tr_constant(s, 3).id);
    tr_rate_set(s, u, tr_constant(s, 4), &err); // the last one counts
    assert_int_equal(tr_time_derivative(s, u, &err).id, tr_constant(s, 4).id);
    assert_int_equal(err.status, TR_OK);
    tr_system_free(s);
}

static void test_bad_rates(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = tr_system_new(&err), *other = tr_system_new(&err);
    const Expr q = tr_input(s, "q", TR_POSITION, 0, &err),
               v = tr_input(s, "v", TR_VELOCITY, 0, &err);
    const Expr foreign = tr_input(other, "q", TR_POSITION, 0, &err);
    assert_int_equal(foreign.id, q.id); // same id, another system
    tr_rate_set(s, tr_mul(q, v), v, &err);
    assert_error(err, TR_USAGE, "only inputs have a rate");
    tr_rate_set(s, tr_constant(s, 1), v, &err);
    assert_error(err, TR_USAGE, "only inputs have a rate");
    tr_rate_set(s, (Expr){0}, v, &err);
    assert_error(err, TR_USAGE, "only inputs have a rate");
    tr_rate_set(s, foreign, v, &err);
    assert_error(err, TR_USAGE, "only inputs have a rate");
    tr_rate_set(s, q, foreign, &err);
    assert_error(err, TR_USAGE, "the rate of 'q' is a failed expression");
    tr_rate_set(s, q, tr_pow(v, 2000), &err);
    assert_error(err, TR_USAGE, "the rate of 'q' is a failed expression");
    tr_time_derivative(s, q, &err); // none of these set it
    assert_error(err, TR_INVALID, "the rate of 'q' is not known here");
    tr_rate_set(s, q, v, &err);
    assert_int_equal(tr_time_derivative(s, q, &err).id, v.id);
    assert_int_equal(tr_time_derivative(s, foreign, NULL).id, 0);
    assert_int_equal(tr_time_derivative(s, (Expr){0}, NULL).id, 0);
    tr_system_free(s);
    tr_system_free(other);
}

// ---- pipelines -----------------------------------------------------------------------------

// After an error nothing happens, and the first words stay.
static void test_first_error_wins(void **state)
{
    (void)state;
    static const double x[] = {0, 1}, z[] = {3, 4};
    tr_error err = {0};
    System *s = tr_system_new(&err);
    const Expr q = tr_input(s, "q", TR_POSITION, 0, &err);
    tr_output(s, "y", &q, 1, 1, &err);
    tr_program *program = tr_compile(s, "y", NULL, &err);
    assert_int_equal(err.status, TR_OK);
    tr_formula(s, "q + oops", &err);
    const tr_error first = err;
    assert_int_equal(first.status, TR_INVALID);
    assert_true(first.line == 1 && first.column == 5);
    assert_int_equal(tr_input(s, "v", TR_VELOCITY, 0, &err).id, 0);
    assert_int_equal(tr_formula(s, "q", &err).id, 0);
    assert_int_equal(tr_time_derivative(s, tr_constant(s, 1), &err).id, 0);
    tr_rate_set(s, q, q, &err);
    tr_define(s, "a", "1", &err);
    tr_define(s, "f(a)", "1", &err);
    tr_define_table(s, "g", x, 2, NULL, 1, z, 1, false, &err);
    tr_output(s, "z", &q, 1, 1, &err);
    assert_null(tr_compile(s, "y", NULL, &err));
    assert_null(tr_workspace_new(program, &err));
    assert_null(tr_system_new(&err));
    assert_memory_equal(&err, &first, sizeof err);
    assert_int_equal(tr_input_count(s), 1);
    err = (tr_error){0}; // nothing has been made
    tr_time_derivative(s, q, &err);
    assert_error(err, TR_INVALID, "the rate of 'q' is not known here");
    assert_null(tr_compile(s, "z", NULL, &err));
    assert_error(err, TR_USAGE, "there is no output 'z'; there is 'y'");
    tr_define(s, "a", "1", &err);
    tr_define(s, "f(a)", "1", &err);
    tr_define_table(s, "g", x, 2, NULL, 1, z, 1, false, &err);
    assert_int_equal(err.status, TR_OK);
    tr_program_free(program);
    tr_system_free(s);
}

static void test_null_in_null_out(void **state)
{
    (void)state;
    static const double x[] = {0, 1}, z[] = {3, 4};
    const Expr nothing = {0};
    Expr out[2] = {{NULL, 7}, {NULL, 7}};
    const Expr two[2] = {{0}, {0}};
    for (int with = 0; with < 2; with++) {
        tr_error at = {0}, *err = with ? &at : NULL;
        tr_system_free(NULL);
        assert_int_equal(tr_input(NULL, "q", TR_POSITION, 0, err).id, 0);
        assert_int_equal(tr_input_count(NULL), 0);
        assert_null(tr_input_name(NULL, 0));
        assert_int_equal(tr_constant(NULL, 1).id, 0);
        tr_rate_set(NULL, nothing, nothing, err);
        assert_int_equal(tr_formula(NULL, "1", err).id, 0);
        tr_define(NULL, "a", "1", err);
        tr_define(NULL, "f(a)", "1", err);
        tr_define_table(NULL, "g", x, 2, NULL, 1, z, 1, false, err);
        tr_output(NULL, "y", two, 2, 1, err);
        assert_null(tr_text(NULL, nothing));
        assert_int_equal(tr_time_derivative(NULL, nothing, err).id, 0);
        assert_null(tr_compile(NULL, "y", NULL, err));
        assert_null(tr_workspace_new(NULL, err));
        tr_workspace_free(NULL);
        tr_program_free(NULL);
        const tr_program_size size = tr_program_sizes(NULL);
        assert_true(!size.inputs && !size.outputs && !size.operations && !size.instructions);
        assert_int_equal(at.status, TR_OK); // NULL is no error: whoever made it has reported
    }
    assert_int_equal(tr_add(nothing, nothing).id, 0);
    assert_int_equal(tr_sub(nothing, nothing).id, 0);
    assert_int_equal(tr_mul(nothing, nothing).id, 0);
    assert_int_equal(tr_div(nothing, nothing).id, 0);
    assert_int_equal(tr_neg(nothing).id, 0);
    assert_int_equal(tr_pow(nothing, 3).id, 0);
    assert_int_equal(tr_call("sin", two, 1).id, 0);
    assert_int_equal(tr_call("atan2", two, 2).id, 0);
    assert_int_equal(tr_call("sin", NULL, 0).id, 0);
    assert_int_equal(tr_call(NULL, two, 1).id, 0);
    assert_false(tr_is_constant(nothing, NULL));
    assert_int_equal(tr_derivative(nothing, nothing).id, 0);
    tr_gradient(nothing, two, 2, out);
    assert_true(!out[0].id && !out[1].id);
    assert_int_equal(tr_directional(nothing, two, two, 2).id, 0);
    assert_int_equal(tr_replace(nothing, two, two, 2).id, 0);
    size_t count = 9;
    assert_null(tr_jacobian(NULL, two, 1, two, 1, &count));
    assert_int_equal(count, 0);
}

// Expressions of no system do not get into one.
static void test_nothing_meets_something(void **state)
{
    (void)state;
    System *s = tr_system_new(NULL);
    const Expr x = tr_input(s, "x", TR_POSITION, 0, NULL), nothing = {0}, mixed[] = {x, nothing};
    assert_int_equal(tr_add(x, nothing).id, 0);
    assert_int_equal(tr_mul(nothing, x).id, 0);
    assert_int_equal(tr_call("atan2", mixed, 2).id, 0);
    assert_int_equal(tr_derivative(x, nothing).id, 0);
    assert_int_equal(tr_derivative(nothing, x).id, 0);
    assert_int_equal(tr_directional(x, &x, &nothing, 1).id, 0);
    assert_int_equal(tr_replace(x, &x, &nothing, 1).id, 0);
    assert_int_equal(tr_replace(x, &nothing, &x, 1).id, 0);
    assert_null(tr_text(s, nothing));
    Expr out[2] = {x, x};
    tr_gradient(x, mixed, 2, out);
    assert_true(!out[0].id && !out[1].id);
    size_t count = 9;
    assert_null(tr_jacobian(s, mixed, 2, &x, 1, &count));
    assert_int_equal(count, 0);
    count = 9;
    assert_null(tr_jacobian(s, &x, 1, mixed, 2, &count));
    assert_int_equal(count, 0);
    tr_system_free(s);
}

// The whole way, good and bad, without an error to write to.
static void test_no_error_needed(void **state)
{
    (void)state;
    static const double x[] = {0, 1}, z[] = {3, 4};
    System *s = tr_system_new(NULL);
    const Expr q = tr_input(s, "q", TR_POSITION, 0, NULL);
    assert_int_equal(tr_input(s, "q", TR_POSITION, 0, NULL).id, 0);
    assert_int_equal(tr_input(s, "2", TR_POSITION, 0, NULL).id, 0);
    assert_int_equal(tr_formula(s, "q +", NULL).id, 0);
    assert_int_equal(tr_formula(s, "", NULL).id, 0);
    assert_int_equal(tr_formula(s, "d(q)", NULL).id, 0);
    assert_int_equal(tr_time_derivative(s, q, NULL).id, 0);
    tr_rate_set(s, tr_constant(s, 1), q, NULL);
    tr_rate_set(s, q, q, NULL);
    tr_define(s, "a", "q +", NULL);
    tr_define(s, "a(", "q", NULL);
    tr_define(s, "sin(a)", "q", NULL);
    tr_define(s, "a", "3*q", NULL);
    tr_define_table(s, "a", x, 2, NULL, 1, z, 1, false, NULL);
    tr_define_table(s, "g", x, 1, NULL, 1, z, 1, false, NULL);
    tr_define_table(s, "g", x, 2, NULL, 1, z, 1, false, NULL);
    tr_output(s, "!", &q, 1, 1, NULL);
    const Expr y = tr_formula(s, "a + g(q) + d(q)", NULL), bad = {s->graph, 0};
    tr_output(s, "y", &bad, 1, 1, NULL);
    tr_output(s, "y", &y, 1, 1, NULL);
    assert_null(tr_compile(s, "nothing", NULL, NULL));
    assert_null(tr_compile(s, "", NULL, NULL));
    tr_program *program = tr_compile(s, "y", NULL, NULL);
    tr_workspace *workspace = tr_workspace_new(program, NULL);
    assert_non_null(workspace);
    double out, in = 0.5;
    tr_evaluate(program, workspace, &in, &out);
    assert_true(out == 1.5 + 3.5 + 0.5);
    tr_workspace_free(workspace);
    tr_program_free(program);
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs_keep_their_order),
        cmocka_unit_test(test_names_are_copied),
        cmocka_unit_test(test_bad_names),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_bad_definitions),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_outputs_by_rows),
        cmocka_unit_test(test_bad_outputs),
        cmocka_unit_test(test_bad_programs),
        cmocka_unit_test(test_fixed_parameters),
        cmocka_unit_test(test_programs_stand_alone),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_bad_rates),
        cmocka_unit_test(test_first_error_wins),
        cmocka_unit_test(test_null_in_null_out),
        cmocka_unit_test(test_nothing_meets_something),
        cmocka_unit_test(test_no_error_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
