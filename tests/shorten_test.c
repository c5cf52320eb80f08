// SPDX-License-Identifier: Apache-2.0
// Sums and products with other brackets: fewer operations, the same values.
#include "expr/shorten.h"

#include "jungle.h"
#include "program/compile.h"

#include <math.h>

enum { MOST = 3 };

static System *with_names(void)
{
    System *s = tr_system_new(NULL);
    for (const char *at = "abcexyz"; *at; at++)
        tr_input(s, (const char[]){*at, 0}, TR_POSITION, 0.5, NULL);
    for (const char *at = "pq"; *at; at++)
        tr_input(s, (const char[]){*at, 0}, TR_PARAMETER, 0.5, NULL);
    return s;
}

// Operations of some formulas together for each state, before and after
static void test_rules(void **state)
{
    (void)state;
    static const struct {
        const char *formulas[MOST];
        size_t before, after;
    } rows[] = {
        {{"a*b + a*c"}, 3, 2},
        {{"a*b - c*a + e"}, 4, 3},
        {{"(a*b + c) + (e + x*a)"}, 5, 4},
        {{"a*b + a*c + a*e"}, 5, 3},
        {{"a*(b + c) + a*e"}, 4, 3},
        {{"a/e + b/e"}, 3, 2},
        {{"a/e - x*b/e"}, 4, 3},
        {{"a*x*b + c*b*x"}, 5, 3}, // both factors
        {{"2*a + 2*b"}, 3, 2},
        {{"a*b + a*c", "a*b"}, 3, 3}, // the product is needed
        {{"a + b + c", "a + (b + e)"}, 4, 3},
        {{"a + b + c", "e - b - a"}, 4, 3},
        {{"a + b", "a + (b + e)"}, 3, 2},
        {{"a*b*c", "a*(b*e)"}, 4, 3},
        {{"a/b*c", "e*(a/b)", "x*a/b"}, 5, 4},
        {{"a + b + x", "a + b + y", "a + b + z"}, 4, 4}, // they have it already
        {{"a*p + a*q"}, 3, 1},                           // p + q is known
        {{"sin(a*b + a*c)"}, 4, 3},
        {{"a*b + c*e"}, 3, 3},
        {{"1/a + b/a"}, 3, 3},
        {{"-(a*b) - a*c"}, 4, 3},
        {{"(1 - a) + ((2 - b) + c)"}, 4, 3}, // numbers are added first
        {{"(1 - a) + ((1e-9 - b) + c)"}, 4, 4},
        {{"a"}, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        System *s = with_names(); // of its own: some rules ask what exists
        tr_error err = {0};
        Expr of[MOST];
        size_t count = 0;
        for (; count < MOST && rows[i].formulas[count]; count++)
            of[count] = tr_formula(s, rows[i].formulas[count], &err);
        if (err.status) fail_msg("%s", err.text);
        const size_t before = tr_system_operations(s, of, count);
        tr_shorten(s->graph, of, count);
        const size_t after = tr_system_operations(s, of, count);
        if (before != rows[i].before || after != rows[i].after)
            fail_msg("%s: %zu operations, then %zu", rows[i].formulas[0], before, after);
        tr_system_free(s);
    }
}

// What keeps a root from 0 stays where the rest cancels: a = b = 1.
static void test_small_numbers_stay(void **state)
{
    (void)state;
    static const char *const formulas[] = {"1 - a*a + 1e-18", "1e-18 + (1 - a*a)",
                                           "(1 - a*b) - 1e-18", "e*(1e-18 + (1 - a*b)) + e*x"};
    static const double expected[] = {1e-18, 1e-18, -1e-18, 1e-18};
    enum { COUNT = sizeof formulas / sizeof *formulas };
    System *s = with_names();
    tr_error err = {0};
    Expr of[COUNT];
    for (size_t i = 0; i < COUNT; i++) of[i] = tr_formula(s, formulas[i], &err);
    tr_shorten(s->graph, of, COUNT);
    tr_program *p = tr_compile_values(s, of, COUNT, false, &err);
    tr_workspace *w = tr_workspace_new(p, &err);
    if (err.status) fail_msg("%s", err.text);
    const double in[] = {1, 1, 1, 1, 0, 1, 1, 1, 1}; // x = 0
    double out[COUNT];
    tr_evaluate(p, w, in, out);
    for (size_t i = 0; i < COUNT; i++)
        if (out[i] != expected[i]) fail_msg("%s is %g", formulas[i], out[i]);
    tr_workspace_free(w);
    tr_program_free(p);
    tr_system_free(s);
}

// Random expressions of every operation have the same values, and never more operations.
static void test_values_survive(void **state)
{
    (void)state;
    static double plain[JUNGLE_MAX], bound[JUNGLE_MAX], brief[JUNGLE_MAX];
    uint32_t compared = 0, all = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        enum { EVERY = 12 }; // others may be taken apart
        Jungle j;
        jungle_grow_with(&j, seed, 150, false, 2);
        Expr out[JUNGLE_MAX];
        uint32_t count = 0;
        for (uint32_t i = 0; i < j.count; i += EVERY) out[count++] = j.plants[i].expr;
        const size_t before = tr_system_operations(j.system, out, count);
        tr_shorten(j.system->graph, out, count);
        assert_true(tr_system_operations(j.system, out, count) <= before);
        tr_error err = {0};
        tr_program *p = tr_compile_values(j.system, out, count, false, &err);
        tr_workspace *w = tr_workspace_new(p, &err);
        assert_int_equal(err.status, TR_OK);
        double in[JUNGLE_INPUTS];
        for (int i = 0; i < JUNGLE_INPUTS; i++) in[i] = random_between(&j.random, -2, 2);
        jungle_values(&j, in, plain, bound);
        tr_evaluate(p, w, in, brief);
        for (uint32_t i = 0; i < count; i++, all++) {
            const double x = plain[i * EVERY], error = bound[i * EVERY];
            if (!isfinite(x) || !(error < 1e-6 * fmax(1, fabs(x)))) continue;
            compared++;
            if (!(fabs(brief[i] - x) <= 8 * error))
                fail_msg("seed %u, plant %u: %.17g shortened, %.17g plain, bound %g",
                         (unsigned)seed, i * EVERY, brief[i], x, error);
        }
        tr_workspace_free(w);
        tr_program_free(p);
        jungle_free(&j);
    }
    assert_true(compared > all / 2); // the bound must not excuse most of them
}

// Sums and products of few things, which have much in common
typedef struct Thicket {
    Expr of[80];
    double value[80], largest;
    int count;
} Thicket;

static void grow(Thicket *t, Random *random)
{
    const int span = t->count < 12 ? t->count : random_below(random, 3) ? 12 : t->count;
    const int i = (int)random_below(random, (uint32_t)span),
              k = (int)random_below(random, (uint32_t)t->count);
    const Expr a = t->of[i], b = t->of[k];
    const double x = t->value[i], y = t->value[k];
    Expr *of = &t->of[t->count];
    double *value = &t->value[t->count];
    switch (random_below(random, 6)) {
    case 0: *of = sub(a, b), *value = x - y; break;
    case 1:
    case 2: *of = add(a, b), *value = x + y; break;
    case 3: *of = quotient(a, t->of[0]), *value = x / t->value[0]; break;
    default: *of = mul(a, b), *value = x * y;
    }
    if (fabs(*value) > 1e3) return;
    t->largest = fmax(t->largest, fabs(*value));
    t->count++;
}

static void test_much_is_in_common(void **state)
{
    (void)state;
    enum { INPUTS = 5, LAST = 8, MOST_GROWN = 80 };
    size_t saved = 0, all = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        Random random = {seed * 0x9e3779b97f4a7c15u};
        System *s = tr_system_new(NULL);
        Thicket t = {.count = INPUTS, .largest = 1};
        for (int i = 0; i < INPUTS; i++) {
            t.value[i] = random_between(&random, 0.5, 2);
            t.of[i] = tr_input(s, (const char[]){"abcxy"[i], 0}, TR_POSITION, 0, NULL);
        }
        for (int i = 0; i < 400 && t.count < MOST_GROWN; i++) grow(&t, &random);
        Expr out[LAST];
        double brief[LAST];
        for (int i = 0; i < LAST; i++) out[i] = t.of[t.count - LAST + i];
        const size_t before = tr_system_operations(s, out, LAST);
        tr_shorten(s->graph, out, LAST);
        const size_t after = tr_system_operations(s, out, LAST);
        assert_true(after <= before);
        all += before, saved += before - after;
        tr_error err = {0};
        tr_program *p = tr_compile_values(s, out, LAST, false, &err);
        tr_workspace *w = tr_workspace_new(p, &err);
        assert_int_equal(err.status, TR_OK);
        tr_evaluate(p, w, t.value, brief);
        for (int i = 0; i < LAST; i++)
            if (!(fabs(brief[i] - t.value[t.count - LAST + i]) <= 1e-11 * t.largest))
                fail_msg("seed %u: %.17g, not %.17g", (unsigned)seed, brief[i],
                         t.value[t.count - LAST + i]);
        tr_workspace_free(w);
        tr_program_free(p);
        tr_system_free(s);
    }
    if (saved < all / 50) fail_msg("%zu of %zu operations saved", saved, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_small_numbers_stay),
        cmocka_unit_test(test_values_survive),
        cmocka_unit_test(test_much_is_in_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
