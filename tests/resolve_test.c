// SPDX-License-Identifier: Apache-2.0
// Definitions in place: through chains of them, and anew whenever one changes or an input is added.
#include "expr/formula.h"
#include "expr/system.h"
#include "test.h"

static Expr resolved(System *s, Expr x)
{
    tr_system_resolve(s, &x, 1);
    return x;
}

static Input *input_of(System *s, const char *name)
{
    return (Input *)tr_system_input(s, tr_formula(s, name, NULL));
}

static void define(System *s, const char *name, const char *formula)
{
    input_of(s, name)->definition = tr_formula(s, formula, NULL);
}

static System *four(void)
{
    System *s = tr_system_new(NULL);
    for (const char *at = "xyzw"; *at; at++) {
        const char name[2] = {*at, 0};
        tr_input(s, name, TR_POSITION, 0, NULL);
    }
    return s;
}

static void test_chains(void **state)
{
    (void)state;
    System *s = four();
    const Expr plain = tr_formula(s, "x + sin(x)", NULL), last = tr_formula(s, "w*z + x", NULL);
    assert_true(same(resolved(s, plain), plain)); // nothing is defined
    define(s, "w", "2*z");
    define(s, "z", "y + 1");
    define(s, "y", "x^2");
    assert_true(same(resolved(s, last), tr_formula(s, "2*(x^2 + 1)*(x^2 + 1) + x", NULL)));
    assert_true(same(resolved(s, plain), plain));
    tr_system_free(s);
}

static void test_changes(void **state)
{
    (void)state;
    System *s = four();
    const Expr x = tr_formula(s, "x*y", NULL);
    define(s, "y", "z");
    assert_true(same(resolved(s, x), tr_formula(s, "x*z", NULL)));
    define(s, "y", "w");
    assert_true(same(resolved(s, x), tr_formula(s, "x*w", NULL)));
    input_of(s, "y")->definition = expr_at(s->graph, 0);
    assert_true(same(resolved(s, x), x));
    define(s, "w", "3*z");
    tr_input(s, "v", TR_POSITION, 0, NULL);
    define(s, "v", "w + 1");
    assert_true(same(resolved(s, tr_formula(s, "v", NULL)), tr_formula(s, "3*z + 1", NULL)));
    tr_system_free(s);
}

// A copy knows nothing of what was found in the original, and has definitions of its own.
static void test_copies(void **state)
{
    (void)state;
    System *s = four();
    const Expr x = tr_formula(s, "x*y", NULL);
    define(s, "y", "z");
    resolved(s, x);
    System *copy = tr_system_copy(s, NULL);
    define(copy, "y", "w");
    assert_true(same(resolved(copy, expr_at(copy->graph, x.id)), tr_formula(copy, "x*w", NULL)));
    assert_true(same(resolved(s, x), tr_formula(s, "x*z", NULL)));
    tr_system_free(copy);
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
