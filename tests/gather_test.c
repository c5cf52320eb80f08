// SPDX-License-Identifier: Apache-2.0
// What depends on parameters alone is gathered as numbers are: same values, and nothing decided by
// them.
#include "expr/gather.h"

#include "expr/walk.h"
#include "jungle.h"
#include "program/compile.h"

#include <math.h>

static System *with_names(const char *states, const char *parameters)
{
    System *s = tr_system_new(NULL);
    for (int kind = 0; kind < 2; kind++)
        for (const char *at = kind ? parameters : states; *at; at++)
            tr_input(s, (const char[]){*at, 0}, kind ? TR_PARAMETER : TR_POSITION, 0.5, NULL);
    return s;
}

static void test_rules(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"p*(q*x)", "(p*q)*x"},
        {"(x*p)*(q*y)", "(p*q)*(x*y)"},
        {"p*x + x*q", "(p + q)*x"},
        {"x - p*x", "(1 - p)*x"},
        {"p + (q + x)", "(p + q) + x"},
        {"(x - p) + q", "(q - p) + x"},
        {"p - (q - x)", "(p - q) + x"},
        {"sin(p)*(cos(q)*x)", "(sin(p)*cos(q))*x"},
        {"x*(p*y)", "x*(p*y)"}, // as x (2 y) is left
        {"(x/p)/q", "(x/p)/q"}, // as (x/3)/7 is
        {"p*(q*r)", "p*(q*r)"}, // numbers among themselves: run once, in any order
        {"if(p < q, x, y)", "if(p < q, x, y)"},
        {"x^p", "x^p"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        System *s = with_names("xy", "pqr"); // of its own: some rules ask what exists
        tr_error err = {0};
        Expr both[] = {tr_formula(s, rows[i][0], &err), tr_formula(s, rows[i][1], &err)};
        assert_int_equal(err.status, TR_OK);
        tr_gather(s->graph, both, 2, both);
        if (both[0].id != both[1].id) fail_msg("%s is not %s", rows[i][0], rows[i][1]);
        assert_false(s->graph->gathers);
        tr_system_free(s);
    }
}

// Every node knows what it changes with.
static void test_stages_of_nodes(void **state)
{
    (void)state;
    System *s = with_names("x", "pq");
    tr_input(s, "t", TR_TIME, 0, NULL);
    assert_int_equal(stage_of(tr_formula(s, "3", NULL)), STAGE_CONSTANT);
    assert_int_equal(stage_of(tr_formula(s, "2*p/q", NULL)), STAGE_PARAMETER);
    assert_int_equal(stage_of(tr_formula(s, "p*sin(t)", NULL)), STAGE_TIME);
    assert_int_equal(stage_of(tr_formula(s, "if(p < t, p, x)", NULL)), STAGE_STATE);
    tr_system_free(s);
}

// Random expressions of three states and two parameters, gathered: no more than rounding is
// changed.
static void test_values_survive(void **state)
{
    (void)state;
    static double plain[JUNGLE_MAX], bound[JUNGLE_MAX], gathered[JUNGLE_MAX];
    uint32_t compared = 0, all = 0, changed = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        Jungle j;
        jungle_grow_with(&j, seed, 150, false, 2);
        Expr out[JUNGLE_MAX];
        for (uint32_t i = 0; i < j.count; i++) out[i] = j.plants[i].expr;
        tr_gather(j.system->graph, out, j.count, out);
        for (uint32_t i = 0; i < j.count; i++) changed += out[i].id != j.plants[i].expr.id;
        tr_error err = {0};
        tr_program *p = tr_compile_values(j.system, out, j.count, false, &err);
        tr_workspace *w = tr_workspace_new(p, &err);
        assert_int_equal(err.status, TR_OK);
        double in[JUNGLE_INPUTS];
        for (int i = 0; i < JUNGLE_INPUTS; i++) in[i] = random_between(&j.random, -2, 2);
        jungle_values(&j, in, plain, bound);
        tr_evaluate(p, w, in, gathered);
        for (uint32_t i = 0; i < j.count; i++, all++) {
            if (!isfinite(plain[i]) || !(bound[i] < 1e-6 * fmax(1, fabs(plain[i])))) continue;
            compared++;
            if (!(fabs(gathered[i] - plain[i]) <= 8 * bound[i]))
                fail_msg("seed %u, plant %u: %.17g gathered, %.17g plain, bound %g", (unsigned)seed,
                         i, gathered[i], plain[i], bound[i]);
        }
        tr_workspace_free(w);
        tr_program_free(p);
        jungle_free(&j);
    }
    assert_true(compared > all / 2); // the bound must not excuse most of them
    assert_true(changed > all / 50); // and there must be something to gather
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_stages_of_nodes),
        cmocka_unit_test(test_values_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
