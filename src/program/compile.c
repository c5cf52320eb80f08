// SPDX-License-Identifier: Apache-2.0
// System -> program: the nodes that the outputs need, in creation order; powers expanded into
// products; lone signs absorbed; products that are used once fused into the sum that uses them.
// This is done twice, as the graph stands and with equal nodes merged, and the shorter is kept.
#include "program/compile.h"

#include "base/random.h"
#include "expr/list.h"
#include "expr/merge.h"
#include "expr/walk.h"
#include "program/interpret.h"

#include <math.h>
#include <stdlib.h>

enum { DEAD = UINT16_MAX, MOST_VALUES = 1 << 30 };

// While a program is built, values are marked by what they are, so that each kind can still grow.
static const uint32_t INPUT = 0u << 30, CONSTANT = 1u << 30, RESULT = 2u << 30, KIND = 3u << 30;

typedef struct Compiler {
    Graph *graph;
    Expr *wanted;
    uint32_t wanted_count;
    Reach reach;
    uint32_t *value_of_node; // by id
    Instruction *list;
    uint32_t count, capacity;
    double *constants;
    uint32_t constant_count, constant_capacity;
    uint32_t *uses; // by instruction
    bool failed;
} Compiler;

// ---- emitting ------------------------------------------------------------------------------

static uint32_t emit(Compiler *c, Instruction i)
{
    if (c->count >= MOST_VALUES ||
        !tr_grow((void **)&c->list, &c->capacity, c->count + 1, sizeof *c->list)) {
        c->failed = true;
        return 0;
    }
    c->list[c->count] = i;
    return RESULT | c->count++;
}

static uint32_t constant(Compiler *c, double value)
{
    if (c->constant_count >= MOST_VALUES || !tr_grow((void **)&c->constants, &c->constant_capacity,
                                                     c->constant_count + 1, sizeof *c->constants)) {
        c->failed = true;
        return 0;
    }
    c->constants[c->constant_count] = value;
    return CONSTANT | c->constant_count++;
}

// a^n by squaring from the leading bit, exactly as tr_power does it
static uint32_t expand_power(Compiler *c, uint32_t a, int n)
{
    const unsigned bits = n < 0 ? 0u - (unsigned)n : (unsigned)n;
    unsigned top = 1;
    while (bits >> 1 >= top) top <<= 1;
    uint32_t y = a;
    while (top >>= 1) {
        y = emit(c, (Instruction){.code = OP_MUL, .a = y, .b = y});
        if (bits & top) y = emit(c, (Instruction){.code = OP_MUL, .a = y, .b = a});
    }
    return n < 0 ? emit(c, (Instruction){.code = OP_DIV, .a = constant(c, 1), .b = y}) : y;
}

static uint32_t expand_halves(Compiler *c, uint32_t a, int n)
{
    if (n % 2 == 0) return expand_power(c, a, n / 2);
    return expand_power(c, emit(c, (Instruction){.code = OP_SQRT, .a = a}), n);
}

static uint32_t emit_node(Compiler *c, const Node *node)
{
    const uint32_t *value = c->value_of_node;
    const int operands = tr_op[node->op].operands;
    switch ((Op)node->op) {
    case OP_NUMBER: return constant(c, node_value(node));
    case OP_SYMBOL: return INPUT | node->a; // symbols are inputs, in the same order
    case OP_POW: return expand_halves(c, value[node->a], node->n);
    default:
        return emit(c, (Instruction){.code = node->op,
                                     .n = node->n,
                                     .a = value[node->a],
                                     .b = operands > 1 ? value[node->b] : 0,
                                     .c = operands == 3 ? value[node->c] : node->c});
    }
}

static void emit_all(Compiler *c)
{
    for (uint32_t k = 0; k < c->reach.count; k++)
        c->value_of_node[c->reach.ids[k]] = emit_node(c, &c->graph->nodes[c->reach.ids[k]]);
}

// ---- improving -----------------------------------------------------------------------------

static void count_uses(Compiler *c)
{
    for (uint32_t k = 0; k < c->count; k++)
        for (int which = 0; which < code_operands(c->list[k].code); which++) {
            const uint32_t value = operand_value(&c->list[k], which);
            if ((value & KIND) == RESULT) c->uses[value & ~KIND]++;
        }
    for (uint32_t i = 0; i < c->wanted_count; i++) {
        const uint32_t value = c->value_of_node[c->wanted[i].id];
        if ((value & KIND) == RESULT) c->uses[value & ~KIND]++;
    }
}

// The instruction that makes a value, if it does `code` and nobody else uses the value.
static Instruction *sole(Compiler *c, uint32_t value, unsigned code)
{
    if ((value & KIND) != RESULT) return NULL;
    Instruction *maker = &c->list[value & ~KIND];
    return maker->code == code && c->uses[value & ~KIND] == 1 ? maker : NULL;
}

// -(a - b) = b - a;  -(m a) = (-m) a and -(m / a) = (-m) / a for a number m
static void absorb_sign(Compiler *c, uint32_t k)
{
    const uint32_t inner = c->list[k].a;
    Instruction *maker = sole(c, inner, OP_SUB);
    if (maker) {
        c->list[k] = (Instruction){.code = OP_SUB, .a = maker->b, .b = maker->a};
        maker->code = DEAD;
        return;
    }
    maker = sole(c, inner, OP_MUL);
    if (!maker) maker = sole(c, inner, OP_DIV);
    if (!maker || (maker->a & KIND) != CONSTANT) return;
    const uint32_t negative = constant(c, -c->constants[maker->a & ~KIND]);
    c->list[k] = (Instruction){.code = maker->code, .a = negative, .b = maker->b};
    maker->code = DEAD;
}

// a b + c, a b - c, c - a b as one instruction, where the product serves nothing else. Squares are
// not fused into differences: a^2 - b^2 must vanish for a = b, also under a root.
static void fuse(Compiler *c, uint32_t k)
{
    Instruction *sum = &c->list[k];
    const bool plus = sum->code == OP_ADD;
    Instruction *product = sole(c, sum->b, OP_MUL);
    if (product && (plus || product->a != product->b)) {
        *sum = (Instruction){
            .code = plus ? CODE_FMA : CODE_FNMA, .a = product->a, .b = product->b, .c = sum->a};
        product->code = DEAD;
        return;
    }
    product = sole(c, sum->a, OP_MUL);
    if (!product || (!plus && product->a == product->b)) return;
    *sum = (Instruction){
        .code = plus ? CODE_FMA : CODE_FMS, .a = product->a, .b = product->b, .c = sum->b};
    product->code = DEAD;
}

static void improve(Compiler *c)
{
    for (uint32_t k = 0; k < c->count; k++)
        if (c->list[k].code == OP_NEG) absorb_sign(c, k);
    for (uint32_t k = 0; k < c->count; k++)
        if (c->list[k].code == OP_ADD || c->list[k].code == OP_SUB) fuse(c, k);
}

// ---- finishing -----------------------------------------------------------------------------

// Numbers values for good: inputs, then the constants still in use, then the instructions.
typedef struct Numbering {
    uint32_t *constant, *result;
    uint32_t input_count, constant_count, result_count;
} Numbering;

static uint32_t final_value(const Numbering *to, uint32_t value)
{
    const uint32_t index = value & ~KIND, kind = value & KIND;
    if (kind == CONSTANT) return to->input_count + to->constant[index] - 1;
    if (kind == RESULT) return to->input_count + to->constant_count + to->result[index];
    return index;
}

static void use_constant(Numbering *to, uint32_t value)
{
    if ((value & KIND) == CONSTANT && !to->constant[value & ~KIND])
        to->constant[value & ~KIND] = ++to->constant_count;
}

// The last constants of every program, for the interpreter (schedule.c).
enum { UNIT_COUNT = 3 };
static const double units[UNIT_COUNT] = {1, -1, -0.0};

static void number_values(Compiler *c, Numbering *to)
{
    for (uint32_t k = 0; k < c->count; k++) {
        if (c->list[k].code == DEAD) continue;
        to->result[k] = to->result_count++;
        for (int which = 0; which < code_operands(c->list[k].code); which++)
            use_constant(to, operand_value(&c->list[k], which));
    }
    for (uint32_t i = 0; i < c->wanted_count; i++)
        use_constant(to, c->value_of_node[c->wanted[i].id]);
    to->constant_count += UNIT_COUNT;
}

// Only the tables that are still used; the others' places stay empty.
static bool copy_tables(Compiler *c, Program *p)
{
    const Graph *graph = c->graph;
    const Table **tables = tr_arena_alloc(&p->arena, graph->table_count, sizeof *tables);
    if (!tables) return false;
    for (uint32_t k = 0; k < c->count; k++) {
        const Instruction *i = &c->list[k];
        if ((i->code != OP_TABLE1 && i->code != OP_TABLE2) || tables[i->c]) continue;
        tables[i->c] = tr_table_copy(&p->arena, graph->tables[i->c]);
        if (!tables[i->c]) return false;
    }
    p->tables = tables;
    return true;
}

static bool fill_program(Compiler *c, const Numbering *to, Program *p)
{
    double *constants = tr_arena_alloc(&p->arena, to->constant_count, sizeof *constants);
    Instruction *list = tr_arena_alloc(&p->arena, to->result_count, sizeof *list);
    uint32_t *outputs = tr_arena_alloc(&p->arena, c->wanted_count, sizeof *outputs);
    if (!constants || !list || !outputs || !copy_tables(c, p)) return false;
    for (uint32_t k = 0; k < c->constant_count; k++)
        if (to->constant[k]) constants[to->constant[k] - 1] = c->constants[k];
    for (uint32_t i = 0; i < UNIT_COUNT; i++)
        constants[to->constant_count - UNIT_COUNT + i] = units[i];
    for (uint32_t k = 0; k < c->count; k++) {
        Instruction i = c->list[k];
        if (i.code == DEAD) continue;
        for (int which = 0; which < code_operands(i.code); which++)
            *instruction_operand(&i, which) = final_value(to, operand_value(&i, which));
        list[to->result[k]] = i;
        p->operations += i.code >= OP_COUNT ? 2 : 1;
    }
    for (uint32_t i = 0; i < c->wanted_count; i++)
        outputs[i] = final_value(to, c->value_of_node[c->wanted[i].id]);
    p->constants = constants;
    p->instructions = list;
    p->outputs = outputs;
    p->input_count = to->input_count;
    p->constant_count = to->constant_count;
    p->instruction_count = to->result_count;
    p->output_count = c->wanted_count;
    return true;
}

static bool finish(Compiler *c, uint32_t input_count, Program *p)
{
    Numbering to = {.input_count = input_count};
    to.constant = calloc((size_t)c->constant_count + 1, sizeof *to.constant);
    to.result = calloc((size_t)c->count + 1, sizeof *to.result);
    bool good = to.constant && to.result;
    if (good) number_values(c, &to);
    good = good && fill_program(c, &to, p) && tr_schedule_runs(p);
    free(to.constant);
    free(to.result);
    return good;
}

// ---- from a system -------------------------------------------------------------------------

static void refuse_output(const System *system, Text name, tr_error *err)
{
    Suggestion nearest = {.wanted = name};
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < system->output_count; i++)
        tr_suggest(&nearest, text_of(system->outputs[i].name));
    tr_fail(err, TR_USAGE, (Place){0}, "there is no output '%.*s'%s", TEXT(name),
            tr_hint(&nearest, hint));
}

// The expressions of the outputs named in a list.
static void collect(const System *system, const char *names, Exprs *wanted, tr_error *err)
{
    for (const char *at = names; *at;) {
        const size_t spaces = strspn(at, " "), length = strcspn(at + spaces, " ");
        const Text name = {at + spaces, length};
        at += spaces + length;
        if (!length) break;
        const Output *output = tr_system_output(system, name);
        if (!output) {
            refuse_output(system, name, err);
            return;
        }
        tr_exprs_add(wanted, output->values, (size_t)output->rows * output->columns);
    }
    if (wanted->failed) tr_fail_memory(err);
    if (!wanted->count) tr_fail(err, TR_USAGE, (Place){0}, "a program needs at least one output");
}

// What only reduction can give.
static void refuse_unsolved(const System *system, const Compiler *c, tr_error *err)
{
    const Input *input = tr_system_uses_any(system, c->wanted, c->wanted_count, TR_SOLVED);
    if (input)
        tr_fail(err, TR_USAGE, (Place){0},
                "'%s' is not known before the constraints are solved (tr_compile_in)", input->name);
}

// Parameters give way to their values.
static void fix_parameters(const System *system, Compiler *c)
{
    Expr *from = calloc(2 * (size_t)system->input_count + 1, sizeof *from);
    Expr *to = from ? from + system->input_count : NULL;
    size_t count = 0;
    for (uint32_t i = 0; from && i < system->input_count; i++) {
        if (system->inputs[i].kind != TR_PARAMETER) continue;
        from[count] = system->inputs[i].symbol;
        to[count++] = number(c->graph, system->inputs[i].value);
    }
    if (!from)
        c->failed = true;
    else if (count)
        tr_substitute(c->graph, c->wanted, c->wanted_count, from, to, count, c->wanted);
    free(from);
}

static void compile(const System *system, Compiler *c, Program *p)
{
    c->failed = c->failed || !tr_reach(c->graph, c->wanted, c->wanted_count, &c->reach);
    c->value_of_node = c->failed ? NULL : tr_reach_map(c->graph, &c->reach);
    c->failed = c->failed || !c->value_of_node;
    if (c->failed) return;
    emit_all(c);
    c->uses = calloc((size_t)c->count + 1, sizeof *c->uses);
    c->failed = c->failed || !c->uses;
    if (c->failed) return;
    count_uses(c);
    improve(c);
    c->failed = c->failed || !finish(c, system->input_count, p);
}

static void release(Compiler *c)
{
    free(c->wanted);
    tr_reach_free(&c->reach);
    free(c->value_of_node);
    free(c->list);
    free(c->constants);
    free(c->uses);
}

static Program *compile_as_it_is(const System *system, Compiler *c, const tr_compile_options *o)
{
    Program *p = c->failed ? NULL : calloc(1, sizeof *p);
    if (!p) return NULL;
    if (o->fix_parameters) fix_parameters(system, c);
    compile(system, c, p);
    p->interpreter = tr_interpreter();
    if (!c->failed && !c->graph->failed) return p;
    tr_program_free(p);
    return NULL;
}

// ---- merging -------------------------------------------------------------------------------

// The same from expressions whose equal nodes are one. NULL when it cannot be had, which is no
// error.
static Program *compile_merged(System *system, const Compiler *plain, const tr_compile_options *o)
{
    Compiler c = {.graph = plain->graph, .wanted_count = plain->wanted_count};
    c.wanted = calloc(c.wanted_count, sizeof *c.wanted);
    Program *p = NULL;
    if (c.wanted) {
        tr_merge(c.graph, plain->wanted, c.wanted_count, c.wanted);
        p = compile_as_it_is(system, &c, o);
    }
    release(&c);
    return p;
}

// Numbers for all inputs that have nothing special about them
static void fill_inputs(const System *system, uint32_t *state, double *in)
{
    for (uint32_t i = 0; i < system->input_count; i++) {
        in[i] = next_random(state);
        if (system->inputs[i].kind == TR_PARAMETER) in[i] = system->inputs[i].value;
    }
    for (uint32_t i = 0; i < system->quaternion_count; i++) {
        double *q = in + system->quaternions[i].position;
        const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++) q[k] /= size;
    }
}

// Whether two programs for the same outputs give the same numbers: what is equal exactly may differ
// much where one of two forms cancels. What the first does not know itself, as inputs that differ
// in their last bits show, the second need not.
static bool agree(const System *system, const Program *a, const Program *b)
{
    enum { STATES = 8 };
    const size_t n = a->output_count;
    double *in = calloc(system->input_count + 3 * n + 1, sizeof *in);
    tr_workspace *work_a = tr_workspace_new(a, NULL), *work_b = tr_workspace_new(b, NULL);
    bool good = in && work_a && work_b;
    double *x = good ? in + system->input_count : NULL, *y = good ? x + n : NULL;
    double *near = good ? y + n : NULL;
    uint32_t state = 1, seen = 0;
    for (int i = 0; good && i < STATES; i++) {
        fill_inputs(system, &state, in);
        tr_evaluate(a, work_a, in, x);
        tr_evaluate(b, work_b, in, y);
        for (uint32_t k = 0; k < system->input_count; k++) in[k] *= k % 2 ? 1 + 1e-15 : 1 - 1e-15;
        tr_evaluate(a, work_a, in, near);
        double size = 1; // of what may cancel, for inputs are about 1
        for (size_t k = 0; k < n; k++) size = isfinite(x[k]) ? fmax(size, fabs(x[k])) : size;
        for (size_t k = 0; k < n; k++) {
            const double off = fabs(x[k] - y[k]), noise = fabs(near[k] - x[k]);
            const double allowed = 1e-6 * fabs(x[k]) + 1e-13 * size;
            if (isfinite(x[k])) good = good && (off <= allowed || off <= noise);
            seen += isfinite(x[k]) ? 1u : 0u;
        }
    }
    tr_workspace_free(work_a);
    tr_workspace_free(work_b);
    free(in);
    return good && 2 * (size_t)seen > STATES * n;
}

// The merged program if it is shorter, and as good.
static Program *shorter(const System *system, Program *plain, Program *merged)
{
    const bool better =
        plain && merged && merged->operations < plain->operations && agree(system, plain, merged);
    tr_program_free(better ? plain : merged);
    return better ? merged : plain;
}

tr_compile_options tr_compile_defaults(void) { return (tr_compile_options){0}; }

Program *tr_compile_values(System *system, const Expr *values, size_t count,
                           const tr_compile_options *options, tr_error *err)
{
    if (system->graph->failed || count > MOST_VALUES) tr_fail_memory(err);
    if (has_failed(err)) return NULL;
    const tr_compile_options o = options ? *options : tr_compile_defaults();
    Compiler c = {.graph = system->graph, .wanted_count = (uint32_t)count};
    c.wanted = calloc(count + 1, sizeof *c.wanted);
    Program *p = NULL, *merged = NULL;
    if (c.wanted) {
        for (size_t i = 0; i < count; i++) c.wanted[i] = values[i];
        tr_system_resolve(system, c.wanted, c.wanted_count);
        refuse_unsolved(system, &c, err);
        merged = has_failed(err) ? NULL : compile_merged(system, &c, &o);
        p = has_failed(err) ? NULL : compile_as_it_is(system, &c, &o);
    }
    if (!p && !has_failed(err)) tr_fail_memory(err);
    release(&c);
    return shorter(system, p, merged);
}

Program *tr_compile_names(System *system, const char *outputs, const tr_compile_options *options,
                          tr_error *err)
{
    Exprs wanted = {0};
    collect(system, outputs ? outputs : "", &wanted, err);
    Program *p = tr_compile_values(system, wanted.at, wanted.count, options, err);
    tr_exprs_free(&wanted);
    return p;
}

Program *tr_compile(const System *system, const char *outputs, const tr_compile_options *options,
                    tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (system && system->graph->failed) tr_fail_memory(err);
    System *own = tr_system_copy(system, err);
    Program *p = own ? tr_compile_names(own, outputs, options, err) : NULL;
    tr_system_free(own);
    return p;
}

void tr_program_free(Program *program)
{
    if (!program) return;
    tr_arena_free(&program->arena);
    free(program);
}

tr_program_size tr_program_sizes(const Program *p)
{
    if (!p) return (tr_program_size){0};
    return (tr_program_size){p->input_count, p->output_count, p->operations, p->instruction_count};
}
