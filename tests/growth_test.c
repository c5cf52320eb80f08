// SPDX-License-Identifier: Apache-2.0
// What deriving takes grows no faster than the model. Counts, not seconds.
#include "expr/forest.h"
#include "growing.h"
#include "plan/stance.h"
#include "plan/start.h"
#include "plans.h"

typedef tr_system *Make(int count);

// ---- the same numbers ----------------------------------------------------------------------

static void evaluate(const tr_system *system, const Expr *values, size_t count, const double *x,
                     double *out)
{
    tr_error err = {0};
    System *own = tr_system_copy(system, &err);
    assert_non_null(own);
    Expr *there = calloc(count + 1, sizeof *there);
    for (size_t i = 0; i < count; i++) there[i] = expr_at(own->graph, values[i].id);
    if (!tr_evaluate_once(own, there, count, OPEN_PARAMETERS, x, out, &err))
        fail_msg("%s", err.text);
    free(there);
    tr_system_free(own);
}

// Rows and masses along the links are those of the expressions.
static void check_stance(Make *make, int count)
{
    tr_error err = {0};
    tr_system *s = make(count);
    tr_plan *plan = tr_plan_new(s, &err);
    double *x = calloc(s->input_count, sizeof *x);
    Random r = {31};
    tr_start_values(s, x);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION) x[i] += random_between(&r, -0.3, 0.3);
    const Footing *footing = tr_plan_footing(plan, NULL, x, &err);
    Stance *stance = footing ? tr_stance_new(s, footing, &err) : NULL;
    if (!stance) fail_msg("%s", err.text);
    assert_non_null(stance->numbers); // else nothing is compared
    assert_true(tr_stance_take(stance, x));
    const size_t n = stance->velocities;
    double *M = calloc(n * n, sizeof *M), *G = calloc(n, sizeof *G);
    const Output *mass = tr_system_output(s, text_of(s->turned_count ? "inner.M" : "M"));
    evaluate(s, mass->values, n * n, x, M);
    for (size_t i = 0; i < n * n; i++) assert_close(stance->M[i], M[i], 1e-13);
    for (uint32_t i = 0; i < stance->all; i++) {
        evaluate(s, s->rows[i].inner_slopes, n, x, G);
        for (size_t k = 0; k < n; k++) assert_close(stance->G[i * n + k], G[k], 1e-13);
    }
    free(M);
    free(G);
    free(x);
    tr_stance_free(stance);
    tr_plan_free(plan);
    tr_system_free(s);
}

static void test_numbers(void **state)
{
    (void)state;
    check_stance(snake_of, 60);
    check_stance(ladder_of, 22);
    check_stance(train_of, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
