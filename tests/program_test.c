// SPDX-License-Identifier: Apache-2.0
// Programs: every evaluator gives the bits of the plain list of instructions; fusion and signs are
// as they should be; a program outlives its system and serves many threads.
#include "jungle.h"
#include "program/interpret.h"

#include <pthread.h>

Interpreter tr_interpret_plain;

static System *with_inputs(const char *names)
{
    System *s = tr_system_new(NULL);
    for (const char *at = names; *at; at++) {
        const char name[2] = {*at, 0};
        tr_input(s, name, *at == 'k' ? TR_PARAMETER : TR_POSITION, 3, NULL);
    }
    return s;
}

static tr_program *program_of(System *s, const char *formula)
{
    tr_error err = {0};
    char name[32];
    snprintf(name, sizeof name, "y%u", s->output_count);
    const Expr y = tr_formula(s, formula, &err);
    tr_output(s, name, &y, 1, 1, &err);
    tr_program *p = tr_compile(s, name, NULL, &err);
    assert_int_equal(err.status, TR_OK);
    return p;
}

// ---- the list itself -----------------------------------------------------------------------

typedef struct Expected {
    const char *formula;
    size_t operations, instructions;
} Expected;

static const Expected counts[] = {
    {"x", 0, 0},
    {"3", 0, 0},
    {"x + y", 1, 1},
    {"x*y + z", 2, 1},        // a b + c
    {"x*y - z", 2, 1},        // a b - c
    {"z - x*y", 2, 1},        // c - a b
    {"x*y + y*z", 3, 2},      // one of the two products is fused
    {"x*y + (x*y)*z", 3, 2},  // x*y serves twice: it stays, the outer product is fused
    {"-(x - y) + 0*z", 1, 1}, // y - x
    {"-(3*x)", 1, 1},         // (-3) x
    {"sin(-3*x)", 3, 3},      // -sin(3 x): the sign stands alone
    {"-(3/x)", 1, 1},         // (-3) / x
    {"-x", 1, 1},
    {"x^3", 2, 2},
    {"x^4", 2, 2},
    {"x^7", 4, 4},
    {"x^-3", 3, 3},
    {"x^2 + y^2", 3, 2},
    {"if(x < y, x, y)", 2, 2},
    {"sqrt(x) + sin(y)", 3, 3},
    {"x*x*x*x", 3, 3},
};

static void test_operation_counts(void **state)
{
    (void)state;
    System *s = with_inputs("xyz");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tr_program *p = program_of(s, counts[i].formula);
        const tr_program_size size = tr_program_sizes(p);
        if (size.operations != counts[i].operations || size.instructions != counts[i].instructions)
            fail_msg("%s: %zu operations, %zu instructions", counts[i].formula, size.operations,
                     size.instructions);
        tr_program_free(p);
    }
    tr_system_free(s);
}

static void test_powers_have_the_bits_of_their_value(void **state)
{
    (void)state;
    System *s = with_inputs("x");
    Random r = {5};
    for (int n = -40; n <= 40; n++) {
        char formula[16];
        snprintf(formula, sizeof formula, "x^(%d)", n);
        tr_program *p = program_of(s, formula);
        tr_workspace *w = tr_workspace_new(p, NULL);
        for (int k = 0; k < 20; k++) {
            double x = random_between(&r, -2, 2), y;
            tr_evaluate(p, w, &x, &y);
            assert_true(same_bits(y, tr_power(x, n)));
        }
        tr_workspace_free(w);
        tr_program_free(p);
    }
    tr_system_free(s);
}

// ---- evaluators ----------------------------------------------------------------------------

// The list in its own order, one instruction at a time.
static void run_list(const tr_program *p, const double *in, double *out)
{
    double *v = calloc((size_t)value_count(p) + 1, sizeof *v);
    memcpy(v, in, p->input_count * sizeof *v);
    memcpy(v + p->input_count, p->constants, p->constant_count * sizeof *v);
    double *y = v + p->input_count + p->constant_count;
    for (uint32_t k = 0; k < p->instruction_count; k++) {
        const Instruction *i = &p->instructions[k];
        const int operands = code_operands(i->code);
        const double a = v[i->a], b = operands > 1 ? v[i->b] : 0, c = operands > 2 ? v[i->c] : 0;
        const bool table = i->code == OP_TABLE1 || i->code == OP_TABLE2;
        switch (i->code) {
        case CODE_FMA: y[k] = fma(a, b, c); break;
        case CODE_FMS: y[k] = fma(a, b, -c); break;
        case CODE_FNMA: y[k] = fma(-a, b, c); break;
        default: y[k] = tr_op_value((Op)i->code, a, b, c, i->n, table ? p->tables[i->c] : NULL);
        }
    }
    for (uint32_t i = 0; i < p->output_count; i++) out[i] = v[p->outputs[i]];
    free(v);
}

static tr_program *jungle_program(Jungle *j)
{
    static Expr all[JUNGLE_MAX];
    for (uint32_t i = 0; i < j->count; i++) all[i] = j->plants[i].expr;
    tr_error err = {0};
    tr_output(j->system, "all", all, j->count, 1, &err);
    tr_program *p = tr_compile(j->system, "all", NULL, &err);
    assert_int_equal(err.status, TR_OK);
    return p;
}

// NaNs may differ in their sign, which no operation of ours defines.
static void assert_same_results(const double *a, const double *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(isnan(a[i]) && isnan(b[i])) && !same_bits(a[i], b[i]))
            fail_msg("output %u: %.17g and %.17g", i, a[i], b[i]);
}

static void test_all_evaluators_give_the_same_bits(void **state)
{
    (void)state;
    static double list[JUNGLE_MAX], runs[JUNGLE_MAX], plain[JUNGLE_MAX];
    for (uint64_t seed = 1; seed <= (SLOW_BUILD ? 60 : 300); seed++) {
        Jungle j;
        jungle_grow(&j, seed, 250, false);
        tr_program *p = jungle_program(&j);
        tr_workspace *w = tr_workspace_new(p, NULL);
        double in[JUNGLE_INPUTS];
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < JUNGLE_INPUTS; i++) in[i] = random_between(&j.random, -3, 3);
            run_list(p, in, list);
            tr_evaluate(p, w, in, runs); // with the multiply-add instruction, where there is one
            assert_same_results(list, runs, p->output_count);
            Interpreter *fast = p->interpreter;
            p->interpreter = tr_interpret_plain;
            tr_evaluate(p, w, in, plain);
            p->interpreter = fast;
            assert_same_results(list, plain, p->output_count);
        }
        tr_workspace_free(w);
        tr_program_free(p);
        jungle_free(&j);
    }
}

// A program with more values than fit the packed form of the interpreter.
static void test_large_programs(void **state)
{
    (void)state;
    System *s = with_inputs("xyz");
    const Expr x = tr_formula(s, "x", NULL), y = tr_formula(s, "y", NULL);
    Expr sum = tr_formula(s, "z", NULL);
    for (int i = 0; i < 700000; i++) { // a multiply-add, and each of its two relatives
        sum = add(mul(sum, x), y);
        sum = sub(mul(sum, y), x);
        sum = sub(x, mul(sum, y));
    }
    tr_output(s, "sum", &sum, 1, 1, NULL);
    tr_program *p = tr_compile(s, "sum", NULL, NULL);
    assert_non_null(p);
    assert_true(value_count(p) > PACKED_MASK);
    tr_workspace *w = tr_workspace_new(p, NULL);
    const double in[] = {0.7, -0.9, 0.3};
    double list, runs;
    run_list(p, in, &list);
    tr_evaluate(p, w, in, &runs);
    assert_true(same_bits(list, runs));
    tr_workspace_free(w);
    tr_program_free(p);
    tr_system_free(s);
}

static void test_outlives_its_system(void **state)
{
    (void)state;
    System *s = with_inputs("x");
    const double x[] = {0, 1, 2, 3}, y[] = {0, 1, 8, 27};
    tr_define_table(s, "cube", x, 4, NULL, 1, y, 3, false, NULL);
    tr_program *p = program_of(s, "cube(x) + sin(x)");
    tr_system_free(s);
    tr_workspace *w = tr_workspace_new(p, NULL);
    double in = 1.5, out;
    tr_evaluate(p, w, &in, &out);
    assert_close(out, 3.375 + sin(1.5), 1e-15);
    tr_workspace_free(w);
    tr_program_free(p);
}

// Values at awkward points: the same whatever else is compiled, and what mathematics says.
static void test_awkward_points(void **state)
{
    (void)state;
    static const struct {
        const char *formula;
        double x, y, value;
    } rows[] = {
        {"sqrt(x^2 - y^2)", 0.1, 0.1, 0}, // squares of equal numbers leave nothing under the root
        {"sqrt(y^2 - x^2)", 1.1, 1.1, 0},
        {"atan2(-(x - y), -1)", 2, 2, M_PI}, // -0 is 0
        {"atan2(-x, -1)", 0, 0, M_PI},
        {"min(x, y)", 1, (double)NAN, (double)NAN}, // NaN is never hidden
        {"min(x, y)", (double)NAN, 1, (double)NAN},
        {"max(y, x)", (double)NAN, 1, (double)NAN},
        {"x^k", -0.5, 0, -0.125}, // a whole exponent that is a parameter, k = 3
        {"x^(k/2)", 4, 0, 8},
        {"1e308 + (1e308 + x)", -1e308, 0, 1e308},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int more = 0; more < 2; more++) { // alone, and next to a difference that it shares
            System *s = with_inputs("xyk");
            tr_error err = {0};
            const Expr out[] = {tr_formula(s, rows[i].formula, &err), tr_formula(s, "x - y", &err)};
            tr_output(s, "y", out, (size_t)more + 1, 1, &err);
            tr_program *p = tr_compile(s, "y", NULL, &err);
            tr_workspace *w = tr_workspace_new(p, &err);
            const double in[] = {rows[i].x, rows[i].y, 3};
            double got[2];
            tr_evaluate(p, w, in, got);
            if (!is_close(got[0], rows[i].value, 1e-15))
                fail_msg("%s at %g, %g is %.17g", rows[i].formula, rows[i].x, rows[i].y, got[0]);
            tr_workspace_free(w);
            tr_program_free(p);
            tr_system_free(s);
        }
}

// ---- threads -------------------------------------------------------------------------------

enum { THREADS = 8, ROUNDS = 2000 };

typedef struct Job {
    const tr_program *program;
    double in[JUNGLE_INPUTS];
    double expected[JUNGLE_MAX];
    bool good;
} Job;

static void *evaluate_again_and_again(void *argument)
{
    Job *job = argument;
    double out[JUNGLE_MAX];
    tr_workspace *w = tr_workspace_new(job->program, NULL);
    job->good = w != NULL;
    const size_t bytes = job->program->output_count * sizeof *out;
    for (int k = 0; job->good && k < ROUNDS; k++) {
        tr_evaluate(job->program, w, job->in, out);
        job->good = memcmp(out, job->expected, bytes) == 0;
    }
    tr_workspace_free(w);
    return NULL;
}

static void test_threads_share_a_program(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 77, 300, true);
    tr_program *p = jungle_program(&j);
    tr_workspace *w = tr_workspace_new(p, NULL);
    static Job jobs[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i].program = p;
        for (int k = 0; k < JUNGLE_INPUTS; k++) jobs[i].in[k] = random_between(&j.random, -1, 1);
        tr_evaluate(p, w, jobs[i].in, jobs[i].expected);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, evaluate_again_and_again, &jobs[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(jobs[i].good);
    }
    tr_workspace_free(w);
    tr_program_free(p);
    jungle_free(&j);
}

// Evaluating again with other inputs leaves nothing of the first evaluation behind.
static void test_evaluations_are_independent(void **state)
{
    (void)state;
    System *s = with_inputs("xyk");
    tr_program *p = program_of(s, "if(x < y, sin(x)*k, cos(y)) + k*x");
    tr_workspace *w = tr_workspace_new(p, NULL);
    const double first[] = {1, 2, 3}, second[] = {5, 2, 1};
    double a, b, again;
    tr_evaluate(p, w, first, &a);
    tr_evaluate(p, w, second, &b);
    tr_evaluate(p, w, first, &again);
    assert_true(same_bits(a, again));
    assert_close(b, cos(2) + 5, 1e-15);
    tr_workspace_free(w);
    tr_program_free(p);
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operation_counts),
        cmocka_unit_test(test_powers_have_the_bits_of_their_value),
        cmocka_unit_test(test_all_evaluators_give_the_same_bits),
        cmocka_unit_test(test_large_programs),
        cmocka_unit_test(test_outlives_its_system),
        cmocka_unit_test(test_awkward_points),
        cmocka_unit_test(test_threads_share_a_program),
        cmocka_unit_test(test_evaluations_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
