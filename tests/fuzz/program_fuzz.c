// SPDX-License-Identifier: Apache-2.0
// Programs from arbitrary bytes. The input names the numbers that go in, then operations on what is
// there so far. Every evaluator gives the bits of the instructions, one after the other; a program
// of all nodes gives the bits of the graph itself; and what is merged, fused, differentiated
// forwards or backwards, or has its parameters fixed is the same up to rounding, of which bounds
// are kept.
#include "expr/derivative.h"
#include "expr/system.h"
#include "expr/walk.h"
#include "program/compile.h"
#include "program/evaluate.h"
#include "program/interpret.h"
#include "program/native.h"

#include "../joined.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

Interpreter tr_interpret_plain;

enum {
    LONGEST = 600,  // [bytes] of input
    LARGEST = 1500, // nodes of a system that is looked at
    INPUTS = 5,
    LAST = INPUTS - 1, // the parameter
    MOST_EXPRESSIONS = 150,
    RESULTS = 4, // the last so many expressions
    WANTED = RESULTS + 2 * INPUTS,
    AWKWARD_POINTS = 3, // with numbers from the bytes; then ordinary ones
    POINTS = 6
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\n", what);
    abort();
}

static void require_same(const double *a, const double *b, uint32_t count, const char *what)
{
    for (uint32_t i = 0; i < count; i++) {
        if ((isnan(a[i]) && isnan(b[i])) || memcmp(&a[i], &b[i], sizeof *a) == 0) continue;
        fprintf(stderr, "number %u: %.17g and %.17g\n", i, a[i], b[i]);
        require(false, what);
    }
}

// ---- the input -----------------------------------------------------------------------------

typedef struct Bytes {
    const uint8_t *at;
    size_t left;
} Bytes;

static unsigned next(Bytes *bytes)
{
    if (!bytes->left) return 0;
    bytes->left--;
    return *bytes->at++;
}

static double next_number(Bytes *bytes)
{
    static const double numbers[] = {0,
                                     -0.0,
                                     1,
                                     -1,
                                     2,
                                     0.5,
                                     -3,
                                     (double)INFINITY,
                                     -(double)INFINITY,
                                     (double)NAN,
                                     DBL_TRUE_MIN,
                                     -DBL_TRUE_MIN,
                                     DBL_MIN,
                                     DBL_MAX,
                                     -DBL_MAX,
                                     0x1p-300,
                                     1e200,
                                     0x1p53,
                                     1e22,
                                     M_PI,
                                     -M_PI_2,
                                     1 - DBL_EPSILON / 2,
                                     1 + DBL_EPSILON};
    const unsigned byte = next(bytes), count = sizeof numbers / sizeof *numbers;
    return byte < count ? numbers[byte] : (byte - 140.0) / 32;
}

// ---- the system ----------------------------------------------------------------------------

typedef struct Wood {
    System *system;
    Expr all[MOST_EXPRESSIONS];
    uint32_t count;
    Expr wanted[WANTED]; // results, and the gradient of the last of them, by rows and by columns
} Wood;

static System *clearing(double parameter)
{
    static const char *const names[INPUTS] = {"x", "y", "z", "v", "k"};
    static const double at[] = {-2, -1, 0, 0.5, 2}, height[] = {1, 0.3, -0.5, 0.2, 1};
    static const double grid[] = {1, 2,  0, -1, 0, 1, 1, 2, 3, 1, 0, 0, 1,
                                  1, -1, 0, 0,  1, 2, 2, 5, 3, 1, 0, 2};
    tr_error err = {0};
    System *s = tr_system_new(&err);
    for (int i = 0; i < INPUTS; i++)
        tr_input(s, names[i], i == LAST ? TR_PARAMETER : TR_POSITION, i == LAST ? parameter : 0,
                 &err);
    tr_define_table(s, "signal", at, 5, NULL, 1, height, 3, false, &err);
    tr_define_table(s, "steps", at, 5, NULL, 1, height, 1, true, &err);
    tr_define_table(s, "hills", at, 5, at, 5, grid, 3, false, &err);
    tr_define_table(s, "plate", at, 5, at, 5, grid, 1, true, &err);
    require(!err.status, "the clearing is sound");
    return s;
}

static Expr grow(const Wood *wood, Bytes *bytes)
{
    Graph *g = wood->system->graph;
    const Op op = (Op)(OP_NUMBER + next(bytes) % (OP_COUNT - OP_NUMBER));
    if (op == OP_NUMBER) return number(g, next_number(bytes));
    Expr x[3];
    for (int i = 0; i < 3; i++)
        x[i] = i < tr_op[op].operands ? wood->all[next(bytes) % wood->count] : x[0];
    switch (op) {
    case OP_SYMBOL: return wood->all[next(bytes) % INPUTS];
    case OP_POW: return halves(x[0], (int8_t)next(bytes) / 4);
    case OP_TABLE1: return tr_build_table(next(bytes) % 2, x[0], x[0], 0);
    case OP_TABLE2: return tr_build_table(2 + next(bytes) % 2, x[0], x[1], 0);
    default: return tr_build(op, x[0], x[1], x[2]);
    }
}

static void grow_all(Wood *wood, Bytes *bytes)
{
    Graph *g = wood->system->graph;
    for (; wood->count < INPUTS; wood->count++)
        wood->all[wood->count] = wood->system->inputs[wood->count].symbol;
    while (bytes->left && wood->count < MOST_EXPRESSIONS && g->count < LARGEST) {
        wood->all[wood->count] = grow(wood, bytes);
        wood->count++;
    }
    for (uint32_t i = 0; i < RESULTS; i++) wood->wanted[i] = wood->all[wood->count - 1 - i];
    tr_reverse(g, wood->wanted[0], wood->all, INPUTS, wood->wanted + RESULTS);
    const Expr unit = one(g);
    for (int i = 0; i < INPUTS; i++)
        tr_forward(g, wood->wanted, 1, &wood->all[i], &unit, 1,
                   &wood->wanted[RESULTS + INPUTS + i]);
    require(!g->failed, "memory is enough");
}

// ---- values with bounds of their rounding errors -------------------------------------------

typedef struct Bounded {
    double value, error; // infinite or NaN: nothing is known
} Bounded;

// What the result may be off when an operand is: where it is not known to six digits, anything,
// but for sums and products.
static double error_of(Op op, const Bounded x[3], double y, int n, const Table *f)
{
    double sum = 8 * 0x1p-53 * fabs(y) + 0x1p-1000;
    const bool is_linear = op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_NEG;
    const bool is_jump = tr_op[op].form == FORM_RELATION;
    for (int k = 0; k < tr_op[op].operands; k++) {
        double worst = 0;
        if (!is_linear && !is_jump && !(x[k].error <= 1e-6 * fabs(x[k].value)))
            return (double)INFINITY;
        for (int sign = -1; sign <= 1; sign += 2) {
            double moved[3] = {x[0].value, x[1].value, x[2].value};
            moved[k] += sign * x[k].error;
            const double change = fabs(tr_op_value(op, moved[0], moved[1], moved[2], n, f) - y);
            if (!(change <= worst)) worst = change;
        }
        sum += worst;
    }
    if (op == OP_MUL) sum += x[0].error * x[1].error;
    if (is_jump && !(fabs(x[0].value - x[1].value) > x[0].error + x[1].error)) sum += 1;
    return sum;
}

// Numbers are exact, but for those that folding may have rounded: where there are fewer digits
static Bounded number_of(double value)
{
    return (Bounded){value, value != 0 && fabs(value) < 0x1p-1000 ? 0x1p-1000 : 0};
}

static Bounded value_of_op(Op op, const Bounded x[3], int n, const Table *f)
{
    const double y = tr_op_value(op, x[0].value, x[1].value, x[2].value, n, f);
    return (Bounded){y, error_of(op, x, y, n, f)}; // 1/0 may be either infinity
}

static Bounded value_of_code(unsigned code, const Bounded x[3])
{
    const double a = x[0].value, b = x[1].value, c = x[2].value;
    const double y = code == CODE_FMA   ? fma(a, b, c)
                     : code == CODE_FMS ? fma(a, b, -c)
                                        : fma(-a, b, c);
    const double error = fabs(a) * x[1].error + fabs(b) * x[0].error + x[0].error * x[1].error;
    return (Bounded){y, error + x[2].error + 8 * 0x1p-53 * fabs(y) + 0x1p-1000};
}

// The graph, node by node
static void evaluate_nodes(const Graph *g, const Reach *reach, const double *in, Bounded *by_id)
{
    for (uint32_t k = 0; k < reach->count; k++) {
        const Node *node = &g->nodes[reach->ids[k]];
        Bounded *y = &by_id[reach->ids[k]], x[3] = {{0}};
        for (int i = 0; i < tr_op[node->op].operands; i++) x[i] = by_id[node_operand(node, i)];
        if (node->op == OP_NUMBER)
            *y = number_of(node_value(node));
        else if (node->op == OP_SYMBOL)
            *y = (Bounded){in[node->a], 0};
        else
            *y = value_of_op((Op)node->op, x, node->n,
                             tr_op[node->op].form == FORM_TABLE ? g->tables[node->c] : NULL);
    }
}

// The instructions of a program, one after the other
static void evaluate_list(const Program *p, const double *in, Bounded *out)
{
    Bounded *v = calloc(value_count(p), sizeof *v);
    require(v != NULL, "memory is enough");
    for (uint32_t i = 0; i < p->input_count; i++) v[i].value = in[i];
    for (uint32_t i = 0; i < p->constant_count; i++)
        v[p->input_count + i] = number_of(p->constants[i]);
    for (uint32_t k = 0; k < p->instruction_count; k++) {
        const Instruction *i = &p->instructions[k];
        if (is_block(i->code)) { // of a diagonal matrix
            for (uint32_t at = 0; at < range_width(p, k); at++)
                v[p->first[k] + at] = v[operand_at(p, i, at)];
            continue;
        }
        Bounded x[3] = {{0}};
        for (int which = 0; which < code_operands(i->code); which++)
            x[which] = v[operand_value(i, which)];
        const bool table = i->code == OP_TABLE1 || i->code == OP_TABLE2;
        v[p->first[k]] = i->code >= OP_COUNT
                             ? value_of_code(i->code, x)
                             : value_of_op((Op)i->code, x, i->n, table ? p->tables[i->c] : NULL);
    }
    for (uint32_t i = 0; i < p->output_count; i++) out[i] = v[p->outputs[i]];
    free(v);
}

// ---- programs ------------------------------------------------------------------------------

static Program *compiled(System *s, const char *name, bool fixed)
{
    tr_error err = {0};
    const tr_compile_options options = {.size = sizeof options, .fix_parameters = fixed};
    Program *p = tr_compile(s, name, &options, &err);
    require(p && !err.status, "it compiles");
    return p;
}

// Of every node of the reach. As each product is a result, none is fused; and as most results are
// NaN, equal nodes are not merged.
static Program *program_of_nodes(System *s, const Reach *reach)
{
    const size_t count = 2 * (size_t)reach->count + 1;
    Expr *values = calloc(count, sizeof *values);
    require(values != NULL, "memory is enough");
    for (size_t i = 0; i < count; i++)
        values[i] =
            i < reach->count ? expr_at(s->graph, reach->ids[i]) : number(s->graph, (double)NAN);
    tr_error err = {0};
    tr_output(s, "nodes", values, count, 1, &err);
    free(values);
    require(!err.status, "nodes can be outputs");
    Program *p = compiled(s, "nodes", false);
    for (uint32_t k = 0; k < p->instruction_count; k++)
        require(p->instructions[k].code < OP_COUNT, "a product with a use of its own stays");
    return p;
}

static void check_twins(const Program *a, const Program *b)
{
    require(a->instruction_count == b->instruction_count && a->constant_count == b->constant_count,
            "twins have one size");
    for (uint32_t i = 0; i < a->constant_count; i++)
        require_same(&a->constants[i], &b->constants[i], 1, "twins have the same constants");
    require(memcmp(a->instructions, b->instructions,
                   a->instruction_count * sizeof *a->instructions) == 0,
            "twins have the same instructions");
    require(memcmp(a->outputs, b->outputs, a->output_count * sizeof *a->outputs) == 0,
            "twins have the same results");
}

// At once, and in two parts.
static void check_executable(const Program *p, const Executable *executable, const double *in,
                             const double *expected, const char *what)
{
    tr_error err = {0};
    double *values = calloc((size_t)p->output_count + 1, sizeof *values), other[INPUTS];
    tr_workspace *w = tr_workspace_on(p, executable, 1, &err);
    require(values && w, "memory is enough");
    tr_evaluate(p, w, in, values);
    require_same(values, expected, p->output_count, what);
    for (int i = 0; i < INPUTS; i++) other[i] = i == LAST ? in[i] : 0.3;
    tr_workspace_prepare(p, w, other);
    for (int i = 0; i < INPUTS; i++) other[i] = i == LAST ? 0.3 : in[i];
    tr_evaluate_prepared(p, w, other, values);
    require_same(values, expected, p->output_count, "what is prepared is the same");
    tr_workspace_free(w);
    free(values);
}

// Machine code of every width that the processor has
static void check_native(const Program *p, const double *in, const double *expected)
{
    static const uint32_t widths[] = {1, 4, 8};
    for (int i = 0; i < 3; i++) {
        Executable *native = tr_native(p, widths[i]);
        if (!native) continue;
        check_executable(p, native, in, expected, "machine code runs the list");
        native->free(native);
    }
}

// Every executable gives the bits of the list; the list comes out.
static void check_evaluators(const Program *p, const double *in, Bounded *list)
{
    Arena arena = {0};
    double *expected = calloc((size_t)p->output_count + 1, sizeof *expected);
    require(expected != NULL, "memory is enough");
    evaluate_list(p, in, list);
    for (uint32_t i = 0; i < p->output_count; i++) expected[i] = list[i].value;
    check_executable(p, tr_interpret(p, tr_interpreter(), &arena), in, expected,
                     "the machine's interpreter runs the list");
    check_executable(p, tr_interpret(p, tr_interpret_plain, &arena), in, expected,
                     "the plain interpreter runs the list");
    check_executable(p, tr_interpret_lanes(p, tr_machine(), 8, &arena), in, expected,
                     "the interpreter over lanes runs the list");
    const Program *ranges = joined(p, &arena);
    evaluate_list(ranges, in, list);
    for (uint32_t i = 0; i < p->output_count; i++)
        require_same(&list[i].value, &expected[i], 1, "ranges hold the same values");
    check_executable(ranges, tr_interpret(ranges, tr_interpreter(), &arena), in, expected,
                     "the interpreter runs ranges");
    check_native(p, in, expected);
    check_native(ranges, in, expected);
    tr_arena_free(&arena);
    free(expected);
}

// ---- what must hold ------------------------------------------------------------------------

static bool is_known(Bounded x)
{
    return isfinite(x.value) && x.error <= 1e-6 * fmax(1, fabs(x.value));
}

static void require_close(Bounded a, Bounded b, const char *what)
{
    if (!is_known(a) || !is_known(b) || fabs(a.value - b.value) <= a.error + b.error) return;
    fprintf(stderr, "%.17g +- %g and %.17g +- %g\n", a.value, a.error, b.value, b.error);
    require(false, what);
}

typedef struct Programs {
    Program *nodes, *wanted, *fixed, *folded;
    uint32_t node_count;
    Bounded *naive[POINTS];       // by node
    Bounded wish[POINTS][WANTED]; // those of them that are wanted
    double in[POINTS][INPUTS];
} Programs;

static void check_point(const Programs *p, int point)
{
    const double *in = p->in[point];
    Bounded *list = calloc(p->nodes->output_count, sizeof *list), merged[WANTED], fixed[WANTED],
            folded[WANTED];
    require(list != NULL, "memory is enough");
    check_evaluators(p->nodes, in, list);
    for (uint32_t i = 0; i < p->node_count; i++)
        require_same(&list[i].value, &p->naive[point][i].value, 1, "programs compute the graph");
    free(list);
    check_evaluators(p->wanted, in, merged);
    check_evaluators(p->fixed, in, fixed);
    check_evaluators(p->folded, in, folded);
    if (point < AWKWARD_POINTS) return;
    const Bounded *wish = p->wish[point];
    for (int i = 0; i < WANTED; i++) {
        require(!is_known(wish[i]) || isfinite(merged[i].value), "what was finite stays finite");
        require_close(wish[i], merged[i], "what is merged and fused is the same");
        require_close(wish[i], fixed[i], "with fixed parameters it is the same");
        require_close(wish[i], folded[i], "with a pattern of parameters it is the same");
    }
    for (int i = RESULTS; i < RESULTS + INPUTS; i++)
        require_close(wish[i], wish[i + INPUTS], "derivatives are the same both ways");
}

// Values of all nodes now, programs to be compared with them when the system is no more
static void prepare(Wood *wood, Programs *p)
{
    System *s = wood->system;
    Reach reach;
    tr_error err = {0};
    require(tr_reach(s->graph, wood->wanted, WANTED, &reach), "memory is enough");
    Bounded *by_id = calloc(reach.end, sizeof *by_id);
    require(by_id != NULL, "memory is enough");
    p->node_count = reach.count;
    for (int i = 0; i < POINTS; i++) {
        p->naive[i] = calloc(reach.count, sizeof *p->naive[i]);
        require(p->naive[i] != NULL, "memory is enough");
        evaluate_nodes(s->graph, &reach, p->in[i], by_id);
        for (uint32_t k = 0; k < reach.count; k++) p->naive[i][k] = by_id[reach.ids[k]];
        for (int k = 0; k < WANTED; k++) p->wish[i][k] = by_id[wood->wanted[k].id];
    }
    tr_output(s, "wanted", wood->wanted, WANTED, 1, &err);
    require(!err.status, "expressions can be outputs");
    p->wanted = compiled(s, "wanted", false);
    p->fixed = compiled(s, "wanted", true);
    const double values[INPUTS] = {[LAST] = s->inputs[LAST].value};
    uint8_t fold[INPUTS];
    tr_fold_pattern(s, values, fold);
    Program *twin = compiled(s, "wanted", false);
    check_twins(p->wanted, twin);
    tr_program_free(twin);
    p->folded = tr_compile_open(s, wood->wanted, WANTED, fold, &err); // adds nodes to it
    require(p->folded && !err.status, "it compiles with a pattern");
    p->nodes = program_of_nodes(s, &reach);
    free(by_id);
    tr_reach_free(&reach);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST) return 0;
    Bytes bytes = {data, size};
    static Programs p;
    p = (Programs){0};
    const double parameter = next_number(&bytes);
    uint32_t state = 12345 + next(&bytes);
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < INPUTS; k++) {
            state = state * 1664525u + 1013904223u;
            p.in[i][k] = i < AWKWARD_POINTS ? next_number(&bytes) : (double)state * 0x1p-30 - 2;
            if (i >= AWKWARD_POINTS && k == LAST) p.in[i][k] = parameter;
        }
    Wood wood = {.system = clearing(parameter)};
    grow_all(&wood, &bytes);
    const bool is_small = wood.system->graph->count <= 4 * LARGEST;
    if (is_small) prepare(&wood, &p);
    tr_system_free(wood.system); // programs outlive it
    for (int i = 0; is_small && i < POINTS; i++) check_point(&p, i);
    for (int i = 0; i < POINTS; i++) free(p.naive[i]);
    tr_program_free(p.nodes);
    tr_program_free(p.wanted);
    tr_program_free(p.fixed);
    tr_program_free(p.folded);
    return 0;
}
