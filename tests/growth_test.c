// SPDX-License-Identifier: Apache-2.0
// What deriving takes grows no faster than the model. Counts, not seconds.
#include "expr/forest.h"
#include "expr/walk.h"
#include "growing.h"
#include "num/singular.h"
#include "plan/stance.h"
#include "plan/start.h"
#include "plans.h"
#include "program/compile.h"
#include "reduce/reduce.h"

#include <sys/resource.h>

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

// What runs watch of rows, carried along the links, is what their slopes give.
static void check_sizes(Make *make, int count)
{
    tr_error err = {0};
    tr_system *s = make(count);
    tr_plan *plan = tr_plan_new(s, &err);
    Flow *flow = tr_flow_new(plan, NULL, &err);
    if (!flow || !tr_flow_ready(flow, FLOW_RUN, &err)) fail_msg("%s", err.text);
    const double *seen = tr_flow_watch(flow, 0, flow->start);
    const double *squares = seen + flow->now->programs->watched.squares;
    Stance *stance = flow->stance;
    assert_non_null(stance->numbers); // else nothing is compared
    assert_true(tr_flow_stand(flow, 0, flow->start));
    for (uint32_t i = 0; i < stance->all; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < stance->velocities; k++)
            sum += pow(stance_slope(stance, i, k) / stance_root_mass(stance, k), 2);
        if (!stance->open[i]) assert_close(squares[i] / sum, 1, 1e-11);
    }
    tr_flow_free(flow);
    tr_plan_free(plan);
    tr_system_free(s);
}

static void test_sizes(void **state)
{
    (void)state;
    check_sizes(snake_of, 60);
    check_sizes(ladder_of, 22);
    check_sizes(train_of, 20);
}

// ---- growth --------------------------------------------------------------------------------

typedef struct Size {
    double derived, reduced; // expressions: that there are, and that accelerations take
} Size;

// What accelerations, and all that is solved for them, are made of
static double count_solved(const tr_system *reduced)
{
    Exprs list = {0};
    Reach reach = {0};
    for (uint32_t i = 0; i < reduced->input_count; i++) {
        const Input *input = &reduced->inputs[i];
        const bool is_lambda = begins_with(input->name, "lambda.");
        if (input->definition.id && !is_lambda) exprs_add(&list, input->definition);
    }
    assert_true(tr_reach_in(reduced->graph, list.at, list.count, &reach));
    const double count = reach.count;
    tr_reach_free(&reach);
    tr_exprs_free(&list);
    return count;
}

// Reduced where it starts; how many expressions there were before
static tr_system *reduced_of(Make *make, int count, double *derived)
{
    tr_error err = {0};
    tr_system *system = make(count);
    *derived = system->graph->count;
    tr_plan *plan = tr_plan_new(system, &err);
    Flow *flow = tr_flow_new(plan, NULL, &err);
    tr_system *reduced = flow ? tr_flow_system(flow, &err) : NULL;
    if (!reduced) fail_msg("%s", err.text);
    tr_flow_free(flow);
    tr_plan_free(plan);
    tr_system_free(system);
    return reduced;
}

static Size size_of(Make *make, int count)
{
    Size size;
    tr_system *reduced = reduced_of(make, count, &size.derived);
    size.reduced = count_solved(reduced);
    tr_system_free(reduced);
    return size;
}

// The exponents from one length to twice that
static void check_growth(Make *make, int count, double derived)
{
    const Size once = size_of(make, count), twice = size_of(make, 2 * count);
    assert_below(log2(twice.derived / once.derived), derived);
    assert_below(log2(twice.reduced / once.reduced), 1.1);
}

static void test_growth(void **state)
{
    (void)state;
    if (SLOW_BUILD) return; // counts are the same there
    check_growth(snake_of, 250, 1.1);
    check_growth(ladder_of, 70, 1.1);
    check_growth(train_of, 20, 1.8); // rows of wheels have slopes along all that is before them
}

// ---- operations ----------------------------------------------------------------------------

// From the state to the accelerations of what is free, or to all where nothing is, with parameters
// fixed
static double operations_of(Make *make, int count)
{
    tr_error err = {0};
    Exprs list = {0};
    double derived;
    tr_system *s = reduced_of(make, count, &derived);
    uint32_t *independent = calloc(s->input_count, sizeof *independent);
    const uint32_t n = tr_independent(s, independent);
    for (uint32_t k = 0; k < n; k++) exprs_add(&list, s->inputs[independent[k]].rate);
    const Output *all = tr_system_output(s, text_of("vdot"));
    if (!n) tr_exprs_add(&list, all->values, all->rows);
    tr_program *program = tr_compile_values(s, list.at, list.count, true, &err);
    if (!program) fail_msg("%s", err.text);
    const double operations = (double)tr_program_sizes(program).operations;
    tr_program_free(program);
    tr_exprs_free(&list);
    free(independent);
    tr_system_free(s);
    return operations;
}

// From a fourth of the count to all of it
static void check_operations(Make *make, int count, double most)
{
    const double all = operations_of(make, count), part = operations_of(make, count / 4);
    if (all > most) fail_msg("%d take %.0f operations", count, all);
    assert_true(log(all / part) / log(4) < 1.1);
}

static void test_operations(void **state)
{
    (void)state;
    if (SLOW_BUILD) return; // counts are the same there
    check_operations(snake_of, 100, 3300);
    check_operations(ladder_of, 100, 35000);
    check_operations(train_of, 32, 11500);
}

// ---- many velocities -----------------------------------------------------------------------

enum { MANY = 210 }; // so that rows have no slopes of their own

static double torques_of(const char *more)
{
    tr_error err = {0};
    tr_system *system = hauled_of(MANY, more);
    char *text = tr_eval_text(system, true, &err);
    if (!text) fail_msg("%s", err.text);
    double sum = 0;
    const char *at = strstr(text, "\"tau\"");
    assert_non_null(at);
    for (int i = 0; i < 3; i++) {
        char name[20];
        snprintf(name, sizeof name, "\"w%d\": ", i);
        sum += number_behind(at, name);
    }
    tr_text_free(text);
    tr_system_free(system);
    return sum;
}

// All torques do the same work, whichever they are: r (sum of m) s'' and what the wheels take, s''
// = 2 r
static void test_least_torques(void **state)
{
    (void)state;
    const double r = 0.1, m = 8 + 3 + MANY, torque = 2 * (m * r * r + 3 * 0.01);
    assert_close(torques_of(""), torque, 1e-12);
    assert_close(torques_of("reactions: {minimise: torques}\n"), torque, 1e-12);
}

static void test_linearise(void **state)
{
    (void)state;
    if (SLOW_BUILD) return;
    tr_error err = {0};
    tr_system *system = snake_of(MANY);
    tr_linear *linear = tr_linearise(system, NULL, &err);
    if (!linear) fail_msg("%s", err.text);
    tr_linear_free(linear);
    tr_system_free(system);
}

// The most that this process ever took: it has done nothing else before.
static void test_memory(void **state)
{
    (void)state;
    if (SLOW_BUILD) return;
    tr_error err = {0};
    struct rusage used;
    tr_system *system = snake_of(1000);
    char *text = tr_eval_text(system, false, &err);
    if (!text) fail_msg("%s", err.text);
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    print_message("%ld kB for a snake of 1,000 skates\n", used.ru_maxrss);
    assert_true(used.ru_maxrss < 300000);
    tr_text_free(text);
    tr_system_free(system);
}

// ---- reactions -----------------------------------------------------------------------------

// Of trains so long that what is left over is found by pivots, and of one that is not: reactions
// bear what accelerations take, M v' + c = Q + G^T lambda, and are least, lambda = G x for some x.
static void test_least_reactions(void **state)
{
    (void)state;
    static const int wagons[] = {4, 14};
    for (size_t i = 0; i < sizeof wagons / sizeof *wagons; i++) {
        tr_error err = {0};
        tr_system *system = train_of(wagons[i]);
        const uint32_t n = tr_system_velocities(system, NULL);
        const uint32_t m = system->row_count;
        tr_plan *plan = tr_plan_new(system, &err);
        tr_program *p = tr_compile_in(plan, "M c Q G vdot lambda", NULL, &err);
        double *in = calloc(tr_input_count(system), sizeof *in);
        tr_initial(plan, in, tr_input_count(system), &err);
        if (err.status) fail_msg("%s", err.text);
        print_message("%d wagons: %zu operations\n", wagons[i], tr_program_sizes(p).operations);
        double *M = calloc(tr_program_sizes(p).outputs, sizeof *M), *c = M + (size_t)n * n,
               *Q = c + n, *G = Q + n, *vdot = G + (size_t)m * n, *lambda = vdot + n;
        tr_workspace *work = tr_workspace_new(p, &err);
        tr_evaluate(p, work, in, M);
        double most = 1;
        for (uint32_t j = 0; j < m; j++) most = fmax(most, fabs(lambda[j]));
        for (uint32_t k = 0; k < n; k++) {
            double force = c[k] - Q[k];
            for (uint32_t j = 0; j < n; j++) force += M[(size_t)k * n + j] * vdot[j];
            for (uint32_t j = 0; j < m; j++) force -= G[(size_t)j * n + k] * lambda[j];
            assert_below(fabs(force), 1e-10 * most);
        }
        double *x = calloc(m + n, sizeof *x);
        memcpy(x, lambda, m * sizeof *x);
        assert_true(tr_least_squares(G, m, n, x, 1, 1e-10, NULL));
        for (uint32_t j = 0; j < m; j++) {
            double off = lambda[j];
            for (uint32_t k = 0; k < n; k++) off -= G[(size_t)j * n + k] * x[k];
            assert_below(fabs(off), 1e-10 * most);
        }
        free(x);
        tr_workspace_free(work);
        free(M);
        free(in);
        tr_program_free(p);
        tr_plan_free(plan);
        tr_system_free(system);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_growth),          cmocka_unit_test(test_operations),
        cmocka_unit_test(test_least_torques),   cmocka_unit_test(test_linearise),
        cmocka_unit_test(test_least_reactions), cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
