// SPDX-License-Identifier: Apache-2.0
// Programs: every evaluator gives the bits of the plain list of instructions; fusion and signs are
// as they should be; what parameters alone decide is run once; a program outlives its system and
// serves many threads.
#include "joined.h"
#include "jungle.h"
#include "program/compile.h"
#include "program/evaluate.h"
#include "program/executable.h"
#include "program/list.h"
#include "program/native.h"

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
    {"x*y + z*z", 3, 2},      // one of the two products is fused
    {"x*y + y*z", 2, 2},      // y (x + z)
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

// One instruction, on values that are so far apart.
static void run_instruction(const tr_program *p, uint32_t k, double *v, size_t apart)
{
    const Instruction *i = &p->instructions[k];
    double x[3] = {0}, *y = v + p->first[k] * apart;
    if (is_block(i->code)) { // of a diagonal matrix
        for (uint32_t at = 0; at < range_width(p, k); at++)
            y[at * apart] = v[operand_at(p, i, at) * apart];
        return;
    }
    for (int which = 0; which < code_operands(i->code); which++)
        x[which] = v[operand_value(i, which) * apart];
    const bool table = i->code == OP_TABLE1 || i->code == OP_TABLE2;
    switch (i->code) {
    case CODE_FMA: *y = fma(x[0], x[1], x[2]); break;
    case CODE_FMS: *y = fma(x[0], x[1], -x[2]); break;
    case CODE_FNMA: *y = fma(-x[0], x[1], x[2]); break;
    default: *y = tr_op_value((Op)i->code, x[0], x[1], x[2], i->n, table ? p->tables[i->c] : NULL);
    }
}

// The list in its own order, one instruction at a time.
static void run_list(const tr_program *p, const double *in, double *out)
{
    double *v = calloc((size_t)value_count(p) + 1, sizeof *v);
    memcpy(v, in, p->input_count * sizeof *v);
    memcpy(v + p->input_count, p->constants, p->constant_count * sizeof *v);
    for (uint32_t k = 0; k < p->instruction_count; k++) run_instruction(p, k, v, 1);
    for (uint32_t i = 0; i < p->output_count; i++) out[i] = v[p->outputs[i]];
    free(v);
}

// An executable that is not the interpreter: the list, for blocks of lanes side by side.
enum { WIDTH = 4 };
typedef struct Listed {
    Executable executable;
    const Program *program;
} Listed;

static void run_block(const Executable *executable, ProgramPart part, double *values)
{
    const Program *p = ((const Listed *)executable)->program;
    for (uint32_t k = part_start(p, part); k < part_end(p, part); k++)
        for (int lane = 0; lane < WIDTH; lane++) run_instruction(p, k, values + lane, WIDTH);
}

static Listed listed(const Program *p)
{
    return (Listed){
        {.run = run_block, .lanes = WIDTH, .value_count = value_count(p), .outputs = p->outputs},
        p};
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

// Machine code of every width that the processor has
static void check_native(const Program *p, const double *in, const double *list)
{
    static const uint32_t widths[] = {1, 4, 8};
    static double out[JUNGLE_MAX];
    for (int i = 0; i < 3; i++) {
        Executable *native = tr_native(p, widths[i]);
        assert_true(native || tr_machine() < (widths[i] == 8 ? MACHINE_AVX512 : MACHINE_AVX2));
        if (!native) continue;
        tr_workspace *w = tr_workspace_on(p, native, 1, NULL);
        tr_evaluate(p, w, in, out);
        assert_same_results(list, out, p->output_count);
        tr_workspace_free(w);
        native->free(native);
    }
}

static void test_all_evaluators_give_the_same_bits(void **state)
{
    (void)state;
    static double list[JUNGLE_MAX], runs[JUNGLE_MAX], plain[JUNGLE_MAX], ranges[JUNGLE_MAX];
    for (uint64_t seed = 1; seed <= (BRIEF ? 60 : 300); seed++) {
        Jungle j;
        jungle_grow(&j, seed, 250, false);
        tr_program *p = jungle_program(&j);
        Arena arena = {0};
        const Executable *slow = tr_interpret(p, tr_interpret_plain, &arena);
        const Program *q = joined(p, &arena);
        tr_workspace *w = tr_workspace_new(p, NULL), *v = tr_workspace_on(p, slow, 1, NULL),
                     *u = tr_workspace_on(q, tr_interpret(q, tr_interpreter(), &arena), 1, NULL);
        double in[JUNGLE_INPUTS], *room = tr_list_room(p);
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < JUNGLE_INPUTS; i++) in[i] = random_between(&j.random, -3, 3);
            run_list(p, in, list);
            tr_list_run(p, in, room, plain);
            assert_same_results(list, plain, p->output_count);
            tr_evaluate(p, w, in, runs); // with the multiply-add instruction, where there is one
            assert_same_results(list, runs, p->output_count);
            tr_evaluate(p, v, in, plain);
            assert_same_results(list, plain, p->output_count);
            run_list(q, in, ranges);
            assert_same_results(list, ranges, p->output_count);
            tr_evaluate(q, u, in, ranges);
            assert_same_results(list, ranges, p->output_count);
            check_native(p, in, list);
            check_native(q, in, list);
        }
        tr_workspace_free(w);
        tr_workspace_free(v);
        tr_workspace_free(u);
        free(room);
        tr_arena_free(&arena);
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
    Arena arena = {0};
    const Executable *lanes = tr_interpret_lanes(p, tr_machine(), 4, &arena);
    tr_workspace *w = tr_workspace_new(p, NULL), *v = tr_workspace_on(p, lanes, 1, NULL);
    const double in[] = {0.7, -0.9, 0.3};
    double list, runs;
    run_list(p, in, &list);
    tr_evaluate(p, w, in, &runs);
    assert_true(same_bits(list, runs));
    tr_evaluate(p, v, in, &runs);
    assert_true(same_bits(list, runs));
    tr_workspace_free(w);
    tr_workspace_free(v);
    tr_arena_free(&arena);
    tr_program_free(p);
    tr_system_free(s);
}

// ---- stages, lanes, patterns ---------------------------------------------------------------

// t, positions x y z, parameters a b c
static System *with_stages(void)
{
    System *s = with_inputs("");
    tr_input(s, "t", TR_TIME, 0, NULL);
    for (const char *at = "xyzabc"; *at; at++) {
        const char name[2] = {*at, 0};
        tr_input(s, name, *at < 'd' ? TR_PARAMETER : TR_POSITION, 0.7 + *at - 'a', NULL);
    }
    return s;
}

static void test_stages(void **state)
{
    (void)state;
    System *s = with_stages();
    tr_program *p = program_of(s, "x*sin(a*b) + cos(t)*sqrt(c)");
    assert_int_equal(p->stage_end[STAGE_CONSTANT], 0);
    assert_int_equal(p->stage_end[STAGE_PARAMETER], 3); // a b, its sine, the root
    assert_int_equal(p->stage_end[STAGE_TIME], 4);      // the cosine; its product is fused
    assert_int_equal(p->stage_end[STAGE_STATE], p->instruction_count);
    const tr_program_size size = tr_program_sizes(p);
    assert_int_equal(size.operations, 7);
    assert_int_equal(size.state_operations, 4);
    assert_int_equal(size.instructions, 6);
    assert_int_equal(size.state_instructions, 3);
    tr_program_free(p);
    tr_system_free(s);
}

// With parameters open, what is left for each state is what numbers leave.
static const Expected open_counts[] = {
    {"a", 0, 0},
    {"a*b + c", 0, 0},
    {"a*(b*x)", 1, 1},     // (a b) x
    {"(x*a)*(y*b)", 2, 2}, // (a b) (x y)
    {"a*(2*(b*x))", 1, 1}, // (2 a b) x
    {"a*x + x*b", 1, 1},   // (a + b) x
    {"a*x - x", 1, 1},     // (a - 1) x
    {"a + (x + b)", 1, 1}, // (a + b) + x
    {"(x - a) - b", 1, 1}, // x - (a + b)
    {"(a - x) - b", 1, 1}, // (a - b) - x
    {"a - (x + b)", 1, 1}, // (a - b) - x
    {"a - (b - x)", 1, 1}, // (a - b) + x
    {"a - (x - b)", 1, 1}, // (a + b) - x
    {"(x + a) - b", 1, 1}, // (a - b) + x
    {"3 + (x - a)", 1, 1}, // (3 - a) + x
    {"-(a*x)", 1, 1},      // (-a) x
    {"-(a/x)", 1, 1},      // (-a) / x
    {"x + a*b", 1, 1},     // a b is not fused: it is done once
    {"x*y + a*b", 2, 1},   // but x y is
    {"y*(a*sin(x)^2 + a*cos(x)^2)", 1, 1},
    {"if(a < b, x, y)", 1, 1}, // nothing is decided by values
    {"x^b", 1, 1},
};

static void test_open_parameters_gather(void **state)
{
    (void)state;
    System *s = with_stages();
    for (size_t i = 0; i < sizeof open_counts / sizeof *open_counts; i++) {
        tr_program *p = program_of(s, open_counts[i].formula);
        const tr_program_size size = tr_program_sizes(p);
        if (size.state_operations != open_counts[i].operations ||
            size.state_instructions != open_counts[i].instructions)
            fail_msg("%s: %zu operations, %zu instructions", open_counts[i].formula,
                     size.state_operations, size.state_instructions);
        tr_program_free(p);
    }
    tr_system_free(s);
}

enum { LANES = 11 };

static void assert_same_rows(double (*whole)[JUNGLE_MAX], const double *out, uint32_t rows,
                             uint32_t columns)
{
    for (uint32_t k = 0; k < rows; k++) assert_same_results(whole[k], out + k * columns, columns);
}

// In a workspace of so many lanes: prepared, with other parameters in the second call, and not.
static void check_lanes(const Program *p, tr_workspace *w, double (*in)[JUNGLE_INPUTS],
                        double (*whole)[JUNGLE_MAX])
{
    static double out[LANES * JUNGLE_MAX], other[LANES][JUNGLE_INPUTS];
    memcpy(other, in, sizeof other);
    for (int k = 0; k < LANES; k++) other[k][3] = 7, other[k][4] = -7;
    tr_workspace_prepare(p, w, in[0]);
    for (int again = 0; again < 2; again++) {
        tr_evaluate_prepared(p, w, other[0], out);
        assert_same_rows(whole, out, LANES, p->output_count);
    }
    for (uint32_t count = 0; count <= LANES; count++) {
        tr_evaluate_many(p, w, count, in[0], JUNGLE_INPUTS, out, p->output_count);
        assert_same_rows(whole, out, count, p->output_count);
    }
}

// Blocks of 4 and 8 lanes, on every machine that this processor can be.
static void check_blocks(const Program *p, double (*in)[JUNGLE_INPUTS], double (*whole)[JUNGLE_MAX])
{
    for (int machine = MACHINE_PLAIN; machine <= (int)tr_machine(); machine++)
        for (uint32_t lanes = 4; lanes <= 8; lanes += 4) {
            Arena arena = {0};
            const Executable *blocks = tr_interpret_lanes(p, (Machine)machine, lanes, &arena);
            tr_workspace *w = tr_workspace_on(p, blocks, LANES, NULL);
            check_lanes(p, w, in, whole);
            tr_workspace_free(w);
            tr_arena_free(&arena);
        }
}

// Among ordinary numbers some that vector code leaves to others.
static double any_input(Random *r)
{
    static const double odd[] = {0.0, -0.0, 1e300, -0x1p30, 0x1p-1070, HUGE_VAL, (double)NAN};
    return chance(r, 0.05) ? odd[random_below(r, 7)] : random_between(r, -3, 3);
}

// Wholes, parts and lanes give one another's bits, whatever parameters do.
static void test_parts_are_the_whole(void **state)
{
    (void)state;
    static double in[LANES][JUNGLE_INPUTS], whole[LANES][JUNGLE_MAX];
    uint32_t staged = 0;
    for (uint64_t seed = 1; seed <= (BRIEF ? 20 : 100); seed++) {
        Jungle j;
        jungle_grow_with(&j, seed, 200, false, 2);
        tr_program *p = jungle_program(&j);
        staged += p->stage_end[STAGE_PARAMETER];
        const Listed list = listed(p);
        Arena arena = {0};
        const Program *ranges = joined(p, &arena);
        tr_workspace *one = tr_workspace_new(p, NULL), *lanes = tr_workspace_lanes(p, LANES, NULL),
                     *blocks = tr_workspace_on(p, &list.executable, LANES, NULL);
        for (int set = 0; set < 3; set++) {
            for (int k = 0; k < LANES; k++) {
                for (int i = 0; i < JUNGLE_INPUTS; i++) in[k][i] = any_input(&j.random);
                tr_evaluate(p, one, in[k], whole[k]);
            }
            check_lanes(p, lanes, in, whole);
            check_lanes(p, blocks, in, whole);
            if (set) continue;
            check_blocks(p, in, whole);
            check_blocks(ranges, in, whole);
        }
        tr_workspace_free(one);
        tr_workspace_free(lanes);
        tr_workspace_free(blocks);
        tr_arena_free(&arena);
        tr_program_free(p);
        jungle_free(&j);
    }
    assert_true(staged > 100); // there was something to prepare
}

static void test_more_evaluations_than_lanes(void **state)
{
    (void)state;
    enum { COUNT = 23 };
    System *s = with_stages();
    tr_program *p = program_of(s, "sin(a*x) + b*y/(c + t^2)");
    double in[COUNT][7], out[COUNT], one;
    Random r = {3};
    for (int k = 0; k < COUNT; k++)
        for (int i = 0; i < 7; i++) in[k][i] = random_between(&r, 0.1, 2);
    tr_workspace *w = tr_workspace_lanes(p, 5, NULL), *single = tr_workspace_new(p, NULL);
    tr_evaluate_many(p, w, COUNT, in[0], 7, out, 1);
    for (int k = 0; k < COUNT; k++) {
        tr_evaluate(p, single, in[k], &one);
        assert_true(same_bits(one, out[k]));
    }
    tr_workspace_free(w);
    tr_workspace_free(single);
    tr_program_free(p);
    tr_system_free(s);
}

// What a pattern gives away folds; what a parameter among the inputs is then does not matter.
static void test_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *formula;
        double a, b, c;
        size_t operations; // for each state
    } rows[] = {
        {"a*x + b*y + c*z", 2, 3, 4, 5},  {"a*x + b*y + c*z", 0, 3, 4, 3},
        {"a*x + b*y + c*z", 0, 0, 4, 1},  {"a*x + b*y + c*z", 1, 3, 0, 2},
        {"a*x + b*y + c*z", 1, -1, 0, 1}, {"a*x + b*y + c*z", 0, 0, 0, 0},
        {"x^c + a*b", 0, 5, 4, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        System *s = with_stages();
        tr_error err = {0};
        const Expr y = tr_formula(s, rows[i].formula, &err);
        double in[] = {0.1, 0.2, 0.3, 0.4, rows[i].a, rows[i].b, rows[i].c}, got, expected;
        uint8_t fold[7];
        tr_fold_pattern(s, in, fold);
        for (int k = 0; k < 4; k++) assert_int_equal(fold[k], FOLD_NOTHING);
        tr_program *all = tr_compile_open(s, &y, 1, NULL, &err),
                   *folded = tr_compile_open(s, &y, 1, fold, &err);
        assert_int_equal(err.status, TR_OK);
        if (tr_program_sizes(folded).state_operations != rows[i].operations)
            fail_msg("%s: %zu operations", rows[i].formula,
                     tr_program_sizes(folded).state_operations);
        tr_workspace *w = tr_workspace_new(all, &err), *v = tr_workspace_new(folded, &err);
        tr_evaluate(all, w, in, &expected);
        for (int k = 4; k < 7; k++)
            if (fold[k] != FOLD_NOTHING) in[k] = 99;
        tr_evaluate(folded, v, in, &got);
        assert_close(got, expected, 1e-15);
        tr_workspace_free(w);
        tr_workspace_free(v);
        tr_program_free(all);
        tr_program_free(folded);
        tr_system_free(s);
    }
}

static void test_ports(void **state)
{
    (void)state;
    System *s = with_stages();
    const Expr x[] = {tr_formula(s, "x", NULL), tr_formula(s, "a", NULL), tr_formula(s, "y", NULL)};
    tr_output(s, "row", x, 1, 3, NULL);
    tr_output(s, "column", x, 2, 1, NULL);
    tr_program *p = tr_compile(s, " column  row ", NULL, NULL),
               *unnamed = tr_compile_values(s, x, 3, false, NULL);
    tr_system_free(s);
    assert_int_equal(p->port_count, 2);
    assert_string_equal(p->ports[0].name, "column");
    assert_int_equal(p->ports[0].rows, 2);
    assert_string_equal(p->ports[1].name, "row");
    assert_int_equal(p->ports[1].columns, 3);
    assert_int_equal(unnamed->port_count, 0);
    assert_string_equal(p->inputs[1].name, "x");
    assert_int_equal(p->inputs[4].kind, TR_PARAMETER);
    assert_int_equal(p->inputs[1].quantity, QUANTITY_UNKNOWN);
    assert_int_equal(p->used[PART_PARAMETER].count, 1); // a
    assert_int_equal(p->used[PART_PARAMETER].at[0], 4);
    assert_int_equal(p->used[PART_STATE].count, 2); // x y
    assert_int_equal(p->used[PART_STATE].at[1], 2);
    tr_program_free(p);
    tr_program_free(unnamed);
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

static pthread_barrier_t together;

static void *ask_for_executables(void *of)
{
    pthread_barrier_wait(&together);
    const Executable **made = malloc(WAY_COUNT * sizeof *made);
    for (int way = 0; way < WAY_COUNT; way++) made[way] = tr_executable(of, (Way)way);
    return made;
}

static void test_executables_are_made_once(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 77, 300, true);
    tr_program_free(jungle_program(&j)); // which makes the output
    for (int round = 0; round < 20; round++) {
        tr_program *p = tr_compile(j.system, "all", NULL, NULL);
        pthread_t threads[THREADS];
        const Executable **made[THREADS];
        pthread_barrier_init(&together, NULL, THREADS);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, ask_for_executables, p), 0);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], (void **)&made[i]);
        for (int i = 0; i < THREADS; i++) {
            for (int way = 0; way < WAY_COUNT; way++)
                assert_ptr_equal(made[i][way], tr_executable(p, (Way)way));
            free(made[i]);
        }
        pthread_barrier_destroy(&together);
        tr_program_free(p);
    }
    jungle_free(&j);
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
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_open_parameters_gather),
        cmocka_unit_test(test_parts_are_the_whole),
        cmocka_unit_test(test_more_evaluations_than_lanes),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_outlives_its_system),
        cmocka_unit_test(test_awkward_points),
        cmocka_unit_test(test_executables_are_made_once),
        cmocka_unit_test(test_threads_share_a_program),
        cmocka_unit_test(test_evaluations_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
