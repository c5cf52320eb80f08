// SPDX-License-Identifier: Apache-2.0
// The graph and its simplifier: equal expressions are one node, identities hold, and simplified
// values agree with unsimplified ones to the last bits their operations allow.
#include "expr/walk.h"
#include "jungle.h"

static System *named(const char *const *names, size_t count)
{
    System *s = tr_system_new(NULL);
    for (size_t i = 0; i < count; i++) tr_input(s, names[i], TR_POSITION, 0, NULL);
    return s;
}

static const char *const xyz[] = {"x", "y", "z", "a", "b", "c"};

// Both sides must become the same node.
static const char *const identities[][2] = {
    {"x + 0", "x"},
    {"0 + x", "x"},
    {"x - 0", "x"},
    {"0 - x", "-x"},
    {"x - x", "0"},
    {"x + x", "2*x"},
    {"x*1", "x"},
    {"1*x", "x"},
    {"x*0", "0"},
    {"x*-1", "-x"},
    {"x/1", "x"},
    {"0/x", "0"},
    {"x/x", "1"},
    {"x/4", "0.25*x"},
    {"--x", "x"},
    {"x + y", "y + x"},
    {"x*y", "y*x"},
    {"x + -y", "x - y"},
    {"-x + y", "y - x"},
    {"-x - y", "-(x + y)"},
    {"-x + -y", "-(x + y)"},
    {"-x - -y", "y - x"},
    {"x - -y", "x + y"},
    {"-(x - y)", "y - x"},
    {"x*-y", "-(x*y)"},
    {"-x*-y", "x*y"},
    {"-x/y", "-(x/y)"},
    {"x/-y", "-(x/y)"},
    {"-3*x", "-(3*x)"},
    {"2*(3*x)", "6*x"},
    {"1 + (2 + x)", "3 + x"},
    {"x - 3", "x + (-3)"},
    {"3*x + 4*x", "7*x"},
    {"3*x - 4*x", "-x"},
    {"3*x - 3*x", "0"},
    {"x^0", "1"},
    {"x^1", "x"},
    {"x^2", "x*x"},
    {"(-x)^2", "x^2"},
    {"(-x)^3", "-x^3"},
    {"(-x)^4", "x^4"},
    {"(x^3)^2", "x^6"},
    {"x^-1", "1/x"},
    {"x^0.5", "sqrt(x)"},
    {"sqrt(x)*sqrt(x)", "x"},
    {"sqrt(x)^2", "x"},
    {"sin(-x)", "-sin(x)"},
    {"cos(-x)", "cos(x)"},
    {"tan(-x)", "-tan(x)"},
    {"asin(-x)", "-asin(x)"},
    {"atan(-x)", "-atan(x)"},
    {"abs(-x)", "abs(x)"},
    {"abs(abs(x))", "abs(x)"},
    {"sin(x)^2 + cos(x)^2", "1"},
    {"cos(x - y)^2 + sin(x - y)^2", "1"},
    {"a*sin(x)*sin(x) + a*cos(x)*cos(x)", "a"},
    {"min(x, y)", "min(y, x)"},
    {"max(x, x)", "x"},
    {"x < x", "0"},
    {"x <= x", "1"},
    {"x == x", "1"},
    {"x != x", "0"},
    {"if(1, x, y)", "x"},
    {"if(0, x, y)", "y"},
    {"if(a < b, x, x)", "x"},
    {"x > y", "y < x"},
    {"x >= y", "y <= x"},
    {"2 + 3*4", "14"},
    {"sin(0)", "0"},
    {"cos(0)", "1"},
    {"sqrt(16)", "4"},
    {"2^10", "1024"},
    {"1 < 2", "1"},
    {"x*y - x*y", "0"},
    {"(x + y) - (y + x)", "0"},
};

static void test_identities(void **state)
{
    (void)state;
    System *s = named(xyz, 6);
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        tr_error err = {0};
        const Expr left = tr_formula(s, identities[i][0], &err);
        const Expr right = tr_formula(s, identities[i][1], &err);
        assert_int_equal(err.status, TR_OK);
        if (left.id != right.id)
            fail_msg("%s became %s, not %s", identities[i][0], tr_text(s, left), tr_text(s, right));
    }
    tr_system_free(s);
}

// Things that look equal but are not, or must not be touched.
static void test_differences(void **state)
{
    (void)state;
    System *s = named(xyz, 6);
    static const char *const pairs[][2] = {{"x - y", "y - x"},
                                           {"x/y", "y/x"},
                                           {"x^3", "x^2"},
                                           {"sin(x)^2 + cos(y)^2", "1"},
                                           {"a*sin(x)^2 + b*cos(x)^2", "a"},
                                           {"1e200*(1e200*x)", "x/0"},
                                           {"x/3", "x*(1/3)"},
                                           {"if(a, x, y)", "x"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_int_not_equal(tr_formula(s, pairs[i][0], NULL).id,
                             tr_formula(s, pairs[i][1], NULL).id);
    // m (n x) is not folded where m n would overflow
    assert_string_equal(tr_text(s, tr_formula(s, "1e200*(1e200*x)", NULL)), "1e200*(1e200*x)");
    tr_system_free(s);
}

static void test_operands_come_first(void **state)
{
    (void)state;
    Jungle j;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        jungle_grow(&j, seed, 300, false);
        const Graph *g = j.system->graph;
        for (uint32_t id = 1; id < g->count; id++) {
            const Node *node = &g->nodes[id];
            const int operands = tr_op[node->op].operands;
            assert_true(operands < 1 || node->a < id);
            assert_true(operands < 2 || node->b < id);
            assert_true(operands < 3 || node->c < id);
            assert_int_equal(tr_graph_find(g, *node), id); // no node stands twice
        }
        jungle_free(&j);
    }
}

// The values of random expressions, simplified and not, differ by no more than rounding.
static void test_values_survive_simplification(void **state)
{
    (void)state;
    static double plain[JUNGLE_MAX], bound[JUNGLE_MAX], simplified[JUNGLE_MAX];
    uint32_t compared = 0, all = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 150, false);
        double in[JUNGLE_INPUTS];
        for (int i = 0; i < JUNGLE_INPUTS; i++) in[i] = random_between(&j.random, -2, 2);
        jungle_values(&j, in, plain, bound);
        jungle_run(&j, in, simplified);
        for (uint32_t i = 0; i < j.count; i++, all++) {
            if (!isfinite(plain[i]) || !(bound[i] < 1e-6 * fmax(1, fabs(plain[i])))) continue;
            compared++;
            if (!is_below(fabs(simplified[i] - plain[i]), 4 * bound[i]))
                fail_msg("seed %u, plant %u: %.17g simplified, %.17g plain, bound %g",
                         (unsigned)seed, i, simplified[i], plain[i], bound[i]);
        }
        jungle_free(&j);
    }
    assert_true(compared > all / 2); // the bound must not excuse most of them
}

static void test_substitution(void **state)
{
    (void)state;
    System *s = named(xyz, 6);
    const Expr x = tr_formula(s, "x", NULL), y = tr_formula(s, "y", NULL);
    const Expr f = tr_formula(s, "sin(x)^2*y + x^3/(1 + y) + if(x < y, x, 2*y)", NULL);
    const Expr from[] = {x, y}, to[] = {y, x};
    const Expr swapped = tr_replace(f, from, to, 2);
    assert_int_equal(swapped.id,
                     tr_formula(s, "sin(y)^2*x + y^3/(1 + x) + if(y < x, y, 2*x)", NULL).id);
    assert_int_equal(tr_replace(swapped, from, to, 2).id, f.id);
    // any node may be replaced, and constants fold
    const Expr part = tr_formula(s, "sin(x)", NULL), value = tr_constant(s, 3);
    assert_int_equal(tr_replace(tr_formula(s, "sin(x)^2 + cos(x)", NULL), &part, &value, 1).id,
                     tr_formula(s, "9 + cos(x)", NULL).id);
    const Expr numbers[] = {tr_constant(s, 2), tr_constant(s, 5)};
    double result;
    assert_true(
        tr_is_constant(tr_replace(tr_formula(s, "x*y + x^3", NULL), from, numbers, 2), &result));
    assert_close(result, 18, 0);
    tr_system_free(s);
}

static void test_text_reads_back(void **state)
{
    (void)state;
    uint32_t compared = 0, all = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 40, false);
        for (uint32_t i = 0; i < j.count; i++, all++) {
            const char *text = tr_text(j.system, j.plants[i].expr);
            assert_non_null(text);
            if (strchr(text, '\n') || strchr(text, '{') || strstr(text, "inf") ||
                strstr(text, "nan"))
                continue; // shared parts, or more than formulas can say
            tr_error err = {0};
            const Expr back = tr_formula(j.system, text, &err);
            if (err.status) fail_msg("%s: %s", text, err.text);
            if (back.id != j.plants[i].expr.id)
                fail_msg("%s reads back as %s", text, tr_text(j.system, back));
            compared++;
        }
        jungle_free(&j);
    }
    if (compared < all / 3) fail_msg("only %u of %u compared", compared, all);
}

static void test_text_of_shared_parts(void **state)
{
    (void)state;
    System *s = named(xyz, 6);
    assert_string_equal(tr_text(s, tr_formula(s, "-(x + y)*(a - (b - c))/-2", NULL)),
                        "0.5*((x + y)*(a - (b - c)))");
    assert_string_equal(tr_text(s, tr_formula(s, "sin(x + y)*cos(x + y)", NULL)),
                        "t1 = x + y\nsin(t1)*cos(t1)");
    tr_input(s, "t3", TR_PARAMETER, 0, NULL); // then lines are called tt1, tt2, ...
    assert_string_equal(tr_text(s, tr_formula(s, "sin(x + y)*cos(x + y)", NULL)),
                        "tt1 = x + y\nsin(tt1)*cos(tt1)");
    tr_system_free(s);
}

static void test_text_of_deep_expressions(void **state)
{
    (void)state;
    System *s = named(xyz, 6);
    Expr x = tr_formula(s, "x", NULL);
    for (int i = 0; i < 100000; i++) x = e_sin(add(x, tr_constant(s, i)));
    assert_non_null(tr_text(s, x)); // no recursion without limit
    tr_system_free(s);
}

static void test_call_by_name(void **state)
{
    (void)state;
    System *s = named(xyz, 6);
    const Expr x[] = {tr_formula(s, "x", NULL), tr_formula(s, "y", NULL), tr_formula(s, "z", NULL)};
    assert_int_equal(tr_call("atan2", x, 2).id, tr_formula(s, "atan2(x, y)", NULL).id);
    assert_int_equal(tr_call("if", x, 3).id, tr_formula(s, "if(x, y, z)", NULL).id);
    assert_int_equal(tr_call("sin", x, 2).id, 0); // wrong number
    assert_int_equal(tr_call("sine", x, 1).id, 0);
    assert_int_equal(tr_call("sin", x, 0).id, 0);
    assert_int_equal(tr_pow(x[0], 1001).id, 0);
    assert_int_equal(tr_add(x[0], (Expr){0}).id, 0);
    System *other = named(xyz, 6); // expressions of two systems do not mix
    assert_int_equal(tr_add(x[0], tr_formula(other, "x", NULL)).id, 0);
    tr_system_free(other);
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identities),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_operands_come_first),
        cmocka_unit_test(test_values_survive_simplification),
        cmocka_unit_test(test_substitution),
        cmocka_unit_test(test_text_reads_back),
        cmocka_unit_test(test_text_of_shared_parts),
        cmocka_unit_test(test_text_of_deep_expressions),
        cmocka_unit_test(test_call_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
