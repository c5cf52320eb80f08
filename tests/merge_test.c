// SPDX-License-Identifier: Apache-2.0
// Nodes that are always equal are computed once; what is not always equal is left alone.
#include "expr/merge.h"
#include "test.h"

#include <math.h>

typedef struct Merged {
    tr_system *system;
    tr_program *program;
    tr_workspace *work;
} Merged;

static Merged open_system(void)
{
    static const char *const names[] = {"x", "y", "z"};
    Merged m = {.system = tr_system_new(NULL)};
    for (int i = 0; i < 3; i++) tr_input(m.system, names[i], TR_INPUT, 0, NULL);
    tr_input(m.system, "p", TR_PARAMETER, 1e-15, NULL);
    return m;
}

static tr_expr formula(const Merged *m, const char *text)
{
    tr_error err = {0};
    const tr_expr x = tr_formula(m->system, text, &err);
    if (err.status) fail_msg("%s", err.text);
    return x;
}

static void close_system(Merged *m)
{
    tr_workspace_free(m->work);
    tr_program_free(m->program);
    tr_system_free(m->system);
}

// The outputs a and b of two formulas that are hidden from each other, at x y z
static size_t compute(const char *a, const char *b, const double x[4], double out[2])
{
    tr_error err = {0};
    Merged m = open_system();
    const tr_expr both[] = {formula(&m, a), formula(&m, b)};
    tr_output(m.system, "both", both, 2, 1, &err);
    m.program = tr_compile(m.system, "both", NULL, &err);
    m.work = tr_workspace_new(m.program, &err);
    if (err.status) fail_msg("%s", err.text);
    tr_evaluate(m.program, m.work, x, out);
    const size_t operations = tr_program_sizes(m.program).operations;
    close_system(&m);
    return operations;
}

static size_t operations_of(const char *formula_text)
{
    double out[2];
    return compute(formula_text, "0", (const double[]){0.3, 0.5, 0.7, 1e-15}, out);
}

static const double place[] = {0.3, -0.5, 0.7, 1e-15};

// What elimination leaves behind
static void test_identities(void **state)
{
    (void)state;
    assert_int_equal(operations_of("(x/y)*z - (z/y)*x"), 0);
    assert_int_equal(operations_of("cos(x)*cos(x)*y + sin(x)*sin(x)*y - y"), 0);
    assert_int_equal(operations_of("(x + y)*(x - y) - (x*x - y*y)"), 0);
    assert_int_equal(operations_of("tan(x)*cos(x) - sin(x)"), 0);
    assert_int_equal(operations_of("sqrt(x*(y + z)) - sqrt(x*y + x*z)"), 0);
    assert_int_equal(operations_of("sin(x*(y + z)) - sin(x*y + x*z)"), 0);
    assert_int_equal(operations_of("atan2(x*(y + z), z) - atan2(x*y + x*z, z)"), 0);
}

// Equal but for the sign: one product of sums is enough
static void test_signs(void **state)
{
    (void)state;
    double out[2];
    const size_t both =
        compute("(x - y)*(z + 3)*sin(z)", "(y*(z + 3) - x*(3 + z))*sin(z)", place, out);
    double one[2];
    const size_t alone = compute("(x - y)*(z + 3)*sin(z)", "0", place, one);
    assert_true(both == alone || both == alone + 1);
    assert_true(out[0] == one[0] && out[1] == -one[0]);
}

// Small is not nothing, and a root is not negative.
static void test_differences(void **state)
{
    (void)state;
    double out[2];
    compute("(1 + p)*x - x", "x*y", place, out);
    assert_below(fabs(out[0] - 3e-16), 3e-16);
    compute("x*1.7347234759768071e-18 + y", "x*4 + y", place, out); // 2^-59 is not 2^2
    assert_true(out[0] == -0.5);
    assert_below(fabs(out[1] - 0.7), 1e-15);
    compute("sqrt(y*y)*x*x + x", "y*x*x + x", place, out);
    assert_true(out[0] > out[1]);
    const double right[] = {7.5, 1, 1, 0}, left[] = {4.5, 1, 1, 0};
    for (int side = 0; side < 2; side++) { // also where no number between -1 and 1 shows it
        compute("(1 - 1/sqrt((x - 6)^2))*(x - 6)", "x - 6", side ? left : right, out);
        assert_below(fabs(out[0] - (side ? -0.5 : 0.5)), 1e-14);
    }
    compute("if(x < y, x*(y + z), z)", "x*y + x*z", place, out);
    assert_true(out[0] == 0.7);
    assert_below(fabs(out[1] - 0.06), 1e-15);
    compute("min(x, y)*3", "max(x, y)*3", place, out);
    assert_true(out[0] == -1.5);
    assert_below(fabs(out[1] - 0.9), 1e-15);
    compute("abs(x - y)*2", "abs(y - x)*2", place, out);
    assert_true(out[0] == out[1]);
}

// Numbers that are not finite are no one's equal, also where only large inputs show it.
static void test_infinities(void **state)
{
    (void)state;
    const double far[] = {7, 2, 3, 0};
    double out[2];
    compute("if(x > 5, min(x*y, 1/0), z)*z", "if(x > 5, min(x*y, -1/0), z)*z", far, out);
    assert_true(out[0] == 42 && out[1] == -(double)INFINITY);
    compute("if(x > 5, min(x*y, 1/0), z)*z", "if(x > 5, min(x*y, 0/0), z)*z", far, out);
    assert_true(out[0] == 42 && isnan(out[1]));
}

// Where a form that divides is not finite, one that does not stays as it is.
static void test_poles(void **state)
{
    (void)state;
    const double pole[] = {0.3, 0, 0.7, 0};
    double out[2];
    compute("((x/y)*(y*z))*2 + x", "(x*z)*2 + x", pole, out);
    if (!isnan(out[0])) assert_below(fabs(out[0] - 0.72), 1e-15);
    assert_below(fabs(out[1] - 0.72), 1e-15);
    compute("x/(y - y*1)", "x", pole, out);
    assert_true(isnan(out[0]) || isinf(out[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identities),  cmocka_unit_test(test_signs),
        cmocka_unit_test(test_differences), cmocka_unit_test(test_infinities),
        cmocka_unit_test(test_poles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
