// SPDX-License-Identifier: Apache-2.0
// Closed forms: the same values, no more operations, the same again when done twice; and equality.
#include "print/closed.h"
#include "print/notation.h"

#include "expr/system.h"
#include "expr/walk.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { SYMBOLS = 7, POINTS = 3 };
static const char names[SYMBOLS + 1] = "abcmxyz"; // the first four are parameters

static System *with_names(Expr *symbols)
{
    System *s = tr_system_new(NULL);
    tr_error err = {0};
    for (int i = 0; i < SYMBOLS; i++) {
        const tr_kind kind = i < 4 ? TR_PARAMETER : TR_POSITION;
        symbols[i] = tr_input(s, (const char[]){names[i], 0}, kind, 0.5, &err);
    }
    assert_int_equal(err.status, 0);
    return s;
}

static double evaluate(Graph *graph, Expr x, const double *values)
{
    Reach reach;
    assert_true(tr_reach(graph, &x, 1, &reach));
    double *all = calloc(reach.end + 1u, sizeof *all);
    for (uint32_t k = 0; k < reach.count; k++) {
        const Node *node = &graph->nodes[reach.ids[k]];
        all[reach.ids[k]] =
            node->op == OP_SYMBOL ? values[node->a] : tr_node_value(graph, node, all);
    }
    const double value = all[x.id];
    free(all);
    tr_reach_free(&reach);
    return value;
}

static char *written(const Term *term)
{
    Buffer text = {0};
    tr_term_write(term, &tr_notation_text, NULL, &text);
    return text.at;
}

static void assert_form(System *s, const char *formula, const Rules *rules, const char *expected)
{
    tr_error err = {0};
    const Expr x = tr_formula(s, formula, &err);
    Closed *c = tr_closed_new(s->graph, x, rules, &err);
    const Term *form = c ? tr_closed_form(c, x) : NULL;
    if (!form) fail_msg("%s: %s", formula, err.text);
    char *text = written(form);
    if (strcmp(text, expected) != 0) fail_msg("%s: %s, not %s", formula, text, expected);
    free(text);
    tr_closed_free(c);
}

// ---- what is written -----------------------------------------------------------------------

static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *formula, *form;
    } rows[] = {
        {"a*b + a*c", "a*(b + c)"},
        {"sin(x)^2 + cos(x)^2", "1"},
        {"a*cos(x)^2 + a*sin(x)^2 - a", "0"},
        {"2*sin(x)*cos(x)", "sin(2*x)"},
        {"sin(x)*cos(y) + cos(x)*sin(y)", "sin(x + y)"},
        {"cos(x)*cos(y) - sin(x)*sin(y)", "cos(x + y)"},
        {"a*(1 - cos(x)^2)", "a*sin(x)^2"},
        {"(x^2 - y^2)/(x - y)", "x + y"},
        {"1/(1/x)", "x"},
        {"sin(x)/cos(x)*cos(x)", "sin(x)"},
        {"(1 - cos(x)^2)/sin(x)", "sin(x)"},
        {"tan(x)*cos(x)", "sin(x)"},
        {"x/3 + x/6", "x/2"},
        {"9.81*m*a - 0.5*a*m*9.81", "4.905*a*m"},
        {"sqrt(a^2 + b^2)*sqrt(a^2 + b^2)", "a^2 + b^2"},
        {"1/sqrt(a)*a", "sqrt(a)"},
        {"sin(x + pi/2)", "cos(x)"},
        {"sin(x/2)*cos(x/2) - sin(x)/2", "0"},
        {"abs(a*(b + c)) - abs(a*b + c*a)", "0"},
        {"a - b - (a - b)", "0"},
        {"-(a - b)*c", "c*(b - a)"},
        {"m*a^2*z^2*sin(y)*cos(y)", "a^2*m*z^2*cos(y)*sin(y)"},
        {"a/4 - (a + 4)", "-(3*a + 16)/4"}, // alike ones are one, as when it is read again
        {"(a*sin(x) + b)*(1/(2 + c^2) - m)*(a*sin(x) + b)", "(a*sin(x) + b)^2*(1/(c^2 + 2) - m)"},
        {"(a + b)^3 - a^3 - 3*a^2*b - 3*a*b^2 - b^3", "0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Expr symbols[SYMBOLS];
        System *s = with_names(symbols);
        assert_form(s, rows[i].formula, NULL, rows[i].form);
        tr_system_free(s);
    }
}

// Quaternions of unit length (T370): a, b, x, y, whose squares add up to 1; a is what is replaced.
static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *formula, *form;
    } rows[] = {
        {"a^2 + b^2 + x^2 + y^2", "1"},
        {"a^2 - b^2 - x^2 + y^2", "1 - 2*(x^2 + b^2)"},
        {"(2*(b*y - a*x))^2 + (2*(x*y + a*b))^2 + (1 - 2*(b^2 + x^2))^2", "1"},
        {"m*(a^2 + b^2 + x^2 + y^2)^2 - m", "0"},
        {"sqrt(a^2 + b^2 + x^2 + y^2)", "1"},
        {"c/(a^2 + b^2 + x^2 + y^2) + m", "c + m"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Expr symbols[SYMBOLS];
        System *s = with_names(symbols);
        const Expr units[1][4] = {{symbols[0], symbols[1], symbols[4], symbols[5]}};
        const Rules rules = {.units = units, .unit_count = 1};
        assert_form(s, rows[i].formula, &rules, rows[i].form);
        tr_system_free(s);
    }
}

// ---- random expressions --------------------------------------------------------------------

typedef struct Maker {
    Random *random;
    const Expr *symbols;
    Graph *graph;
    bool are_unit; // four of the symbols
} Maker;

static Expr any_leaf(const Maker *m)
{
    if (chance(m->random, 0.8)) return m->symbols[random_below(m->random, SYMBOLS)];
    return number(m->graph,
                  (double)(1 + random_below(m->random, 9)) / (chance(m->random, 0.5) ? 1 : 4));
}

// Never zero: 2 + a square
static Expr never_zero(const Maker *m, Expr x) { return add(number(m->graph, 2), mul(x, x)); }

static Expr any_expression(const Maker *m, int depth)
{
    if (depth == 0) return any_leaf(m);
    const Expr a = any_expression(m, depth - 1);
    const Expr angle = m->symbols[4 + random_below(m->random, 3)];
    switch (random_below(m->random, 9)) {
    case 0: return mul(a, any_expression(m, depth - 1));
    case 1: return sub(a, any_expression(m, depth - 1));
    case 2: return mul(a, e_sin(angle));
    case 3: return mul(a, e_cos(add(angle, m->symbols[4])));
    case 4: return quotient(a, never_zero(m, any_leaf(m)));
    case 5: return mul(a, e_sqrt(never_zero(m, m->symbols[random_below(m->random, SYMBOLS)])));
    case 6: return mul(a, a);
    default: return add(a, any_expression(m, depth - 1));
    }
}

// Largest of the parts of an expression: what its value may be off by is beside these
static double size_of(Graph *graph, Expr x, const double *values)
{
    Reach reach;
    double size = 1;
    assert_true(tr_reach(graph, &x, 1, &reach));
    for (uint32_t k = 0; k < reach.count; k++)
        size = fmax(size, fabs(evaluate(graph, expr_at(graph, reach.ids[k]), values)));
    tr_reach_free(&reach);
    return size;
}

static void make_unit(double *values)
{
    static const int parts[] = {0, 1, 4, 5};
    double sum = 0;
    for (int k = 0; k < 4; k++) sum += values[parts[k]] * values[parts[k]];
    for (int k = 0; k < 4; k++) values[parts[k]] /= sqrt(sum);
}

static void check_values(Random *r, Graph *graph, Expr a, Expr b, bool are_unit)
{
    for (int k = 0; k < POINTS; k++) {
        double values[SYMBOLS];
        for (int i = 0; i < SYMBOLS; i++) values[i] = random_between(r, 0.3, 1.7);
        if (are_unit) make_unit(values);
        const double size = fmax(size_of(graph, a, values), size_of(graph, b, values));
        assert_below(fabs(evaluate(graph, a, values) - evaluate(graph, b, values)) / size, 1e-12);
    }
}

// Operations as they are written down one by one; numbers that are quotients, and signs, are one
// too
static uint32_t operations_of(Expr x)
{
    if (op_of(x) == OP_NUMBER) {
        const double value = value_of(x);
        return (uint32_t)(value < 0) + (uint32_t)(value != floor(value));
    }
    const uint32_t operands = (uint32_t)tr_op[op_of(x)].operands;
    uint32_t count = operands > 0;
    for (uint32_t i = 0; i < operands; i++) count += operations_of(operand(x, (int)i));
    return count;
}

static void check_random(uint64_t seed, int trials, bool are_unit)
{
    Random r = {seed};
    int simplified = 0, shorter = 0;
    for (int trial = 0; trial < trials; trial++) {
        Expr symbols[SYMBOLS];
        tr_error err = {0};
        System *s = with_names(symbols);
        const Maker m = {&r, symbols, s->graph, false};
        const Expr units[1][4] = {{symbols[0], symbols[1], symbols[4], symbols[5]}};
        const Rules rules = {.units = units, .unit_count = are_unit};
        const Expr x = any_expression(&m, 2 + (int)random_below(&r, 3));
        Closed *c = tr_closed_new(s->graph, x, &rules, &err);
        assert_non_null(c);
        const Term *form = tr_closed_form(c, x), *plain = tr_plain(c, x, 100000, false);
        if (form) {
            const Expr again = tr_term_expression(form, s->graph);
            check_values(&r, s->graph, x, again, are_unit);
            assert_true(form->cost <= plain->cost);
            shorter += form->cost < operations_of(x), simplified++;
            Closed *second = tr_closed_new(s->graph, again, &rules, &err);
            const Term *twice = second ? tr_closed_form(second, again) : NULL;
            assert_non_null(twice);
            if (twice->cost != form->cost) fail_msg("%s becomes %s", written(form), written(twice));
            tr_closed_free(second);
        }
        tr_closed_free(c);
        tr_system_free(s);
    }
    print_message("%d of %d simplified, %d of them shorter\n", simplified, trials, shorter);
    assert_true(simplified > trials * 9 / 10 && shorter > trials / 5);
}

static const uint64_t seeds[] = {21, 32, 37, 40, 41};

static void test_random(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        check_random(seeds[i], BRIEF ? 50 : 500, false);
}

static void test_random_units(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        check_random(100 + seeds[i], BRIEF ? 20 : 200, true);
}

// ---- equality ------------------------------------------------------------------------------

static Expr unit_length(const Maker *m)
{
    const Expr *x = m->symbols;
    return add(add(mul(x[0], x[0]), mul(x[1], x[1])), add(mul(x[4], x[4]), mul(x[5], x[5])));
}

// The same by another name, again and again below
static Expr disguise(const Maker *m, Expr x, int depth)
{
    if (depth == 0 || op_of(x) == OP_NUMBER) return x;
    const Expr a = m->symbols[random_below(m->random, SYMBOLS)];
    const Expr angle = m->symbols[4 + random_below(m->random, 3)];
    Node node = *node_of(x);
    if (tr_op[node.op].operands) {
        Expr of[3] = {x, x, x};
        for (int i = 0; i < tr_op[node.op].operands; i++)
            of[i] = disguise(m, operand(x, i), depth - 1);
        x = node.op == OP_POW ? halves(of[0], node.n) : tr_build((Op)node.op, of[0], of[1], of[2]);
    }
    switch (random_below(m->random, m->are_unit ? 7 : 6)) {
    case 6: return mul(x, unit_length(m));
    case 0: return sub(add(x, a), a);
    case 1: return quotient(mul(x, never_zero(m, a)), never_zero(m, a));
    case 2: return mul(x, add(mul(e_sin(angle), e_sin(angle)), mul(e_cos(angle), e_cos(angle))));
    case 3: return sub(mul(x, add(a, number(m->graph, 1))), mul(x, a));
    case 4: {
        const Expr twice = add(angle, angle), half = mul(e_sin(angle), e_cos(angle));
        return add(x, sub(e_sin(twice), add(half, half)));
    }
    default: return x;
    }
}

static void test_equality(void **state)
{
    (void)state;
    Random r = {22};
    enum { PAIRS = BRIEF ? 500 : 10000 };
    int decided = 0, same_pairs = 0;
    for (int trial = 0; trial < PAIRS; trial++) {
        Expr symbols[SYMBOLS];
        tr_error err = {0};
        System *s = with_names(symbols);
        const bool are_unit = chance(&r, 0.3);
        const Maker m = {&r, symbols, s->graph, are_unit};
        const Expr units[1][4] = {{symbols[0], symbols[1], symbols[4], symbols[5]}};
        const Rules rules = {.units = units, .unit_count = are_unit};
        const Expr x = any_expression(&m, 2);
        const bool is_equal = chance(&r, 0.5);
        const Expr other = disguise(&m, x, 2),
                   y = is_equal ? other
                                : add(other, quotient(symbols[random_below(&r, SYMBOLS)],
                                                      number(s->graph, 1000)));
        const Sameness found = tr_closed_compare(s->graph, x, y, &rules, &err);
        assert_int_equal(err.status, 0);
        if (found != NOT_KNOWN) assert_int_equal(found == IS_SAME, is_equal);
        decided += found != NOT_KNOWN, same_pairs += is_equal;
        tr_system_free(s);
    }
    print_message("%d of %d pairs decided, %d of all equal\n", decided, PAIRS, same_pairs);
    assert_true(decided > PAIRS * 98 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),    cmocka_unit_test(test_units),
        cmocka_unit_test(test_random),   cmocka_unit_test(test_random_units),
        cmocka_unit_test(test_equality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
