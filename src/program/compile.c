// SPDX-License-Identifier: Apache-2.0
// System -> program: the nodes that the outputs need, in creation order; powers expanded into
// products; lone signs absorbed; products that are used once fused into the sum that uses them.
// This is done as the graph stands, with equal nodes merged, and with sums and products rearranged;
// the shortest is kept.
#include "program/compile.h"

#include "base/options.h"
#include "base/random.h"
#include "expr/block.h"
#include "expr/gather.h"
#include "expr/list.h"
#include "expr/merge.h"
#include "expr/shorten.h"
#include "expr/walk.h"
#include "program/executable.h"
#include "program/list.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { DEAD = UINT8_MAX, MOST_VALUES = 1 << 30 };

// While a program is built, values are marked by what they are, so that each kind can still grow.
static const uint32_t INPUT = 0u << 30, CONSTANT = 1u << 30, RESULT = 2u << 30, PART = 3u << 30,
                      KIND = 3u << 30;

// One of the results of a block
typedef struct BlockPart {
    uint32_t block, which; // an instruction
} BlockPart;

// What to do with parameters: all are numbers, or those of a pattern.
typedef struct Request {
    bool fix_parameters;
    const uint8_t *fold; // by input, see Fold; may be NULL
} Request;

typedef struct Compiler {
    const System *system;
    const Request *request;
    Graph *graph;      // of what is compiled alone
    uint32_t leaf_end; // all symbols are before that
    Expr *wanted;
    uint32_t wanted_count;
    Reach reach;
    uint32_t *value_of_node; // by id
    Instruction *list;
    uint32_t count, capacity;
    uint32_t *lists; // of blocks
    uint32_t list_length, list_capacity;
    BlockPart *parts;
    uint32_t part_count, part_capacity;
    double *constants;
    uint32_t constant_count, constant_capacity;
    uint32_t *uses;     // by instruction
    uint32_t *negative; // by input, then by instruction: the value that is its negative, or 0
    bool failed;
} Compiler;

// ---- emitting ------------------------------------------------------------------------------

static ValueStage stage_of_value(const Compiler *c, uint32_t value)
{
    const uint32_t index = value & ~KIND, kind = value & KIND;
    if (kind == CONSTANT) return STAGE_CONSTANT;
    if (kind == PART) return (ValueStage)c->list[c->parts[index].block].stage;
    return kind == INPUT ? stage_of(c->system->inputs[index].symbol)
                         : (ValueStage)c->list[index].stage;
}

static uint32_t *operand_place(const Compiler *c, Instruction *i, uint32_t which)
{
    return is_block(i->code) ? &c->lists[i->a + which] : instruction_operand(i, (int)which);
}

static uint32_t emit(Compiler *c, Instruction i)
{
    if (c->failed) return 0;
    for (uint32_t which = 0; which < operand_count(&i); which++) {
        const ValueStage stage = stage_of_value(c, *operand_place(c, &i, which));
        if (stage > i.stage) i.stage = (uint8_t)stage;
    }
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

// The list stands in the graph from its last value to its first. What numbers alone decide is not
// folded, so it counts as decided by parameters.
static uint32_t emit_block(Compiler *c, const Node *node)
{
    const uint32_t length = block_length(c->graph, node), start = c->list_length;
    if (!tr_grow((void **)&c->lists, &c->list_capacity, start + length, sizeof *c->lists)) {
        c->failed = true;
        return 0;
    }
    c->list_length += length;
    const Node *at = &c->graph->nodes[node->a];
    for (uint32_t k = length; k-- > 0; at = &c->graph->nodes[at->a])
        c->lists[start + k] = c->value_of_node[at->b];
    return emit(c, (Instruction){.code = node->op == OP_FACTOR ? CODE_FACTOR : CODE_SOLVE,
                                 .stage = STAGE_PARAMETER,
                                 .a = start,
                                 .b = length,
                                 .c = node->c});
}

static uint32_t emit_part(Compiler *c, const Node *node)
{
    if (!tr_grow((void **)&c->parts, &c->part_capacity, c->part_count + 1, sizeof *c->parts)) {
        c->failed = true;
        return 0;
    }
    c->parts[c->part_count] = (BlockPart){c->value_of_node[node->a] & ~KIND, node->c};
    return PART | c->part_count++;
}

static uint32_t emit_node(Compiler *c, const Node *node)
{
    const uint32_t *value = c->value_of_node;
    const int operands = tr_op[node->op].operands;
    switch ((Op)node->op) {
    case OP_NUMBER: return constant(c, node_value(node));
    case OP_SYMBOL: return INPUT | node->a; // symbols are inputs, in the same order
    case OP_POW: return expand_halves(c, value[node->a], node->n);
    case OP_LIST: return 0; // who takes it looks at what it has
    case OP_FACTOR:
    case OP_SOLVE: return emit_block(c, node);
    case OP_PART: return emit_part(c, node);
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
        for (uint32_t which = 0; which < operand_count(&c->list[k]); which++) {
            const uint32_t value = *operand_place(c, &c->list[k], which);
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

// An instruction with the stage of the one whose place it takes.
static void replace(Compiler *c, uint32_t k, Instruction by)
{
    by.stage = c->list[k].stage;
    c->list[k] = by;
}

// The negative of a value that does not change with the state. An instruction for it comes last in
// the list, but first in the program, for its stage is earlier than that of those who use it.
static uint32_t negative_of(Compiler *c, uint32_t value)
{
    const uint32_t index = value & ~KIND;
    if ((value & KIND) == CONSTANT) return constant(c, -c->constants[index]);
    uint32_t *known =
        &c->negative[(value & KIND) == INPUT ? index : c->system->input_count + index];
    if (!*known) *known = emit(c, (Instruction){.code = OP_NEG, .a = value});
    return *known;
}

// The operation that takes the sign of this one, when its first operand does:
// -(m a) = (-m) a, -(m / a) = (-m) / a, -(m + a) = (-m) - a
static uint8_t with_sign(unsigned code) { return (uint8_t)(code == OP_ADD ? OP_SUB : code); }

// -(a - b) = b - a; others for an m that is a number, or that parameters alone decide where the
// result is more.
static void absorb_sign(Compiler *c, uint32_t k)
{
    static const unsigned codes[] = {OP_MUL, OP_DIV, OP_ADD};
    const uint32_t inner = c->list[k].a;
    Instruction *maker = sole(c, inner, OP_SUB);
    if (maker) {
        replace(c, k, (Instruction){.code = OP_SUB, .a = maker->b, .b = maker->a});
        maker->code = DEAD;
        return;
    }
    for (size_t i = 0; i < sizeof codes / sizeof *codes && !maker; i++)
        maker = sole(c, inner, codes[i]);
    if (!maker) return;
    const ValueStage stage = stage_of_value(c, maker->a);
    if (stage > STAGE_PARAMETER || stage == maker->stage) return;
    const Instruction made = *maker;
    maker->code = DEAD;
    const uint32_t negative = negative_of(c, made.a); // may move the list
    replace(c, k, (Instruction){.code = with_sign(made.code), .a = negative, .b = made.b});
}

// Whether a product may go into a sum. Squares are not fused into differences: a^2 - b^2 must
// vanish for a = b, also under a root. Products that parameters alone decide are done once,
// beforehand.
static bool can_fuse(const Instruction *product, const Instruction *sum)
{
    if (!product || (sum->code == OP_SUB && product->a == product->b)) return false;
    return product->stage > STAGE_PARAMETER || sum->stage <= STAGE_PARAMETER;
}

// a b + c, a b - c, c - a b as one instruction, where the product serves nothing else.
static void fuse(Compiler *c, uint32_t k)
{
    const Instruction *sum = &c->list[k];
    const bool plus = sum->code == OP_ADD;
    uint32_t rest = sum->a;
    uint8_t code = plus ? CODE_FMA : CODE_FNMA;
    Instruction *product = sole(c, sum->b, OP_MUL);
    if (!can_fuse(product, sum)) {
        product = sole(c, sum->a, OP_MUL);
        rest = sum->b;
        code = plus ? CODE_FMA : CODE_FMS;
        if (!can_fuse(product, sum)) return;
    }
    replace(c, k, (Instruction){.code = code, .a = product->a, .b = product->b, .c = rest});
    product->code = DEAD;
}

static void improve(Compiler *c)
{
    const uint32_t count = c->count; // signs may add to it
    for (uint32_t k = 0; k < count; k++)
        if (c->list[k].code == OP_NEG) absorb_sign(c, k);
    for (uint32_t k = 0; k < count; k++)
        if (c->list[k].code == OP_ADD || c->list[k].code == OP_SUB) fuse(c, k);
}

// ---- finishing -----------------------------------------------------------------------------

// Numbers values for good: inputs, then the constants still in use, then the instructions by stage.
typedef struct Numbering {
    uint32_t *constant, *result;
    uint32_t *first; // by result: the first value that it defines
    uint32_t input_count, constant_count, result_count;
    uint32_t stage_end[STAGE_COUNT];
} Numbering;

static uint32_t final_value(const Compiler *c, const Numbering *to, uint32_t value)
{
    const uint32_t index = value & ~KIND, kind = value & KIND;
    if (kind == CONSTANT) return to->input_count + to->constant[index] - 1;
    if (kind == RESULT) return to->first[to->result[index]];
    if (kind == PART) return to->first[to->result[c->parts[index].block]] + c->parts[index].which;
    return index;
}

static void use_constant(Numbering *to, uint32_t value)
{
    if ((value & KIND) == CONSTANT && !to->constant[value & ~KIND])
        to->constant[value & ~KIND] = ++to->constant_count;
}

// The last constants of every program, for the interpreter (schedule.c).
static const double units[UNIT_COUNT] = {1, -1, -0.0};

// Stages follow each other; within each the order stays.
static void number_results(const Compiler *c, Numbering *to)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        for (uint32_t k = 0; k < c->count; k++)
            if (c->list[k].code != DEAD && c->list[k].stage == stage)
                to->result[k] = to->result_count++;
        to->stage_end[stage] = to->result_count;
    }
}

static void number_values(Compiler *c, Numbering *to)
{
    number_results(c, to);
    for (uint32_t k = 0; k < c->count; k++) {
        if (c->list[k].code == DEAD) continue;
        for (uint32_t which = 0; which < operand_count(&c->list[k]); which++)
            use_constant(to, *operand_place(c, &c->list[k], which));
    }
    for (uint32_t i = 0; i < c->wanted_count; i++)
        use_constant(to, c->value_of_node[c->wanted[i].id]);
    to->constant_count += UNIT_COUNT;
}

static const Lineage *lineage_of(const Compiler *c, const Instruction *i)
{
    return is_block(i->code) ? c->graph->lineages[i->c] : NULL;
}

// The values of the results, which are numbered. False when there are too many.
static bool number_ranges(const Compiler *c, Numbering *to)
{
    uint64_t next = (uint64_t)to->input_count + to->constant_count;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        for (uint32_t k = 0; k < c->count; k++) {
            const Instruction *i = &c->list[k];
            if (i->code == DEAD || i->stage != stage) continue;
            to->first[to->result[k]] = (uint32_t)next;
            next += result_width(i, lineage_of(c, i));
        }
    to->first[to->result_count] = (uint32_t)next;
    return next <= MOST_VALUES;
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
        tables[i->c] = tr_table_share(graph->tables[i->c]);
    }
    p->tables = tables, p->table_count = graph->table_count;
    return true;
}

// Only the lineages that are still used
static bool copy_lineages(Compiler *c, Program *p)
{
    const Lineage **lineages = tr_arena_alloc(&p->arena, c->graph->lineage_count, sizeof *lineages);
    if (!lineages) return false;
    for (uint32_t k = 0; k < c->count; k++) {
        const Instruction *i = &c->list[k];
        if (i->code == DEAD || !is_block(i->code) || lineages[i->c]) continue;
        lineages[i->c] = tr_lineage_copy(&p->arena, c->graph->lineages[i->c]);
        if (!lineages[i->c]) return false;
    }
    p->lineages = lineages;
    return true;
}

static bool copy_lists(const Compiler *c, const Numbering *to, Program *p)
{
    uint32_t *lists = tr_arena_alloc(&p->arena, c->list_length, sizeof *lists);
    if (!lists) return false;
    for (uint32_t i = 0; i < c->list_length; i++) lists[i] = final_value(c, to, c->lists[i]);
    p->lists = lists;
    return true;
}

static Instruction final_instruction(const Compiler *c, const Numbering *to, Instruction i)
{
    for (int which = 0; !is_block(i.code) && which < code_operands(i.code); which++)
        *instruction_operand(&i, which) = final_value(c, to, operand_value(&i, which));
    return i;
}

static bool fill_instructions(const Compiler *c, const Numbering *to, Program *p)
{
    Instruction *list = tr_arena_alloc(&p->arena, to->result_count, sizeof *list);
    uint32_t *first = tr_arena_alloc(&p->arena, (size_t)to->result_count + 1, sizeof *first);
    if (!list || !first) return false;
    for (uint32_t k = 0; k < c->count; k++) {
        if (c->list[k].code == DEAD) continue;
        list[to->result[k]] = final_instruction(c, to, c->list[k]);
        const size_t operations = result_operations(&c->list[k], lineage_of(c, &c->list[k]));
        p->operations += operations;
        if (c->list[k].stage > STAGE_PARAMETER) p->state_operations += operations;
    }
    memcpy(first, to->first, ((size_t)to->result_count + 1) * sizeof *first);
    p->instructions = list;
    p->instruction_count = to->result_count;
    p->first = first;
    for (int stage = 0; stage < STAGE_COUNT; stage++) p->stage_end[stage] = to->stage_end[stage];
    return true;
}

static bool fill_program(Compiler *c, const Numbering *to, Program *p)
{
    double *constants = tr_arena_alloc(&p->arena, to->constant_count, sizeof *constants);
    uint32_t *outputs = tr_arena_alloc(&p->arena, c->wanted_count, sizeof *outputs);
    if (!constants || !outputs || !copy_tables(c, p) || !copy_lineages(c, p) ||
        !copy_lists(c, to, p) || !fill_instructions(c, to, p))
        return false;
    for (uint32_t k = 0; k < c->constant_count; k++)
        if (to->constant[k]) constants[to->constant[k] - 1] = c->constants[k];
    for (uint32_t i = 0; i < UNIT_COUNT; i++)
        constants[to->constant_count - UNIT_COUNT + i] = units[i];
    for (uint32_t i = 0; i < c->wanted_count; i++)
        outputs[i] = final_value(c, to, c->value_of_node[c->wanted[i].id]);
    p->constants = constants;
    p->constant_count = to->constant_count;
    p->outputs = outputs;
    p->output_count = c->wanted_count;
    return true;
}

// Names, kinds and quantities of the inputs
static bool fill_inputs(const System *system, Program *p)
{
    InputPort *inputs = tr_arena_alloc(&p->arena, system->input_count, sizeof *inputs);
    if (!inputs) return false;
    for (uint32_t i = 0; i < system->input_count; i++) {
        const Input *input = &system->inputs[i];
        inputs[i].kind = input->kind, inputs[i].quantity = input->port.quantity;
        inputs[i].name = tr_arena_text(&p->arena, input->name, strlen(input->name));
        if (!inputs[i].name) return false;
    }
    p->inputs = inputs;
    p->input_count = system->input_count;
    return true;
}

// Which inputs are used
static bool list_used(Program *p)
{
    bool *used = tr_arena_alloc(&p->arena, first_result(p), sizeof *used);
    uint32_t *list = tr_arena_alloc(&p->arena, p->input_count, sizeof *list), count = 0;
    if (!used || !list) return false;
    for (uint32_t k = 0; k < p->instruction_count; k++)
        for (uint32_t which = 0; which < operand_count(&p->instructions[k]); which++) {
            const uint32_t value = operand_at(p, &p->instructions[k], which);
            if (value < p->input_count) used[value] = true;
        }
    for (uint32_t i = 0; i < p->output_count; i++)
        if (p->outputs[i] < p->input_count) used[p->outputs[i]] = true;
    for (int part = 0; part < PART_COUNT; part++) {
        p->used[part].at = list + count;
        for (uint32_t i = 0; i < p->input_count; i++)
            if (used[i] && (p->inputs[i].kind == TR_PARAMETER) == (part == PART_PARAMETER))
                list[count++] = i, p->used[part].count++;
    }
    return true;
}

static bool finish(Compiler *c, Program *p)
{
    Numbering to = {.input_count = c->system->input_count};
    to.constant = calloc((size_t)c->constant_count + 1, sizeof *to.constant);
    to.result = calloc((size_t)c->count + 1, sizeof *to.result);
    to.first = calloc((size_t)c->count + 1, sizeof *to.first);
    bool good = to.constant && to.result && to.first;
    if (good) number_values(c, &to);
    good = good && number_ranges(c, &to) && fill_inputs(c->system, p) && fill_program(c, &to, p) &&
           list_used(p);
    if (good) {
        tr_program_check(p);
        p->executables = tr_executables_new(c->system->evaluation);
    }
    free(to.constant);
    free(to.result);
    free(to.first);
    return good && p->executables;
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

// The next name of a list, and where the one after it may be; empty at the end.
static Text next_name(const char **at)
{
    const char *start = *at + strspn(*at, " ");
    const Text name = {start, strcspn(start, " ")};
    *at = start + name.length;
    return name;
}

// The expressions of the outputs named in a list.
static void collect(const System *system, const char *names, Exprs *wanted, tr_error *err)
{
    for (Text name = next_name(&names); name.length; name = next_name(&names)) {
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

// Names, lineages and quantities of these outputs, for the program. False when memory runs out.
static bool fill_ports(const System *system, const char *names, Program *p)
{
    uint32_t count = 0;
    for (const char *at = names; next_name(&at).length;) count++;
    OutputPort *ports = tr_arena_alloc(&p->arena, count, sizeof *ports);
    if (!ports) return false;
    for (uint32_t i = 0; i < count; i++) {
        const Output *output = tr_system_output(system, next_name(&names));
        const char *name = tr_arena_text(&p->arena, output->name, strlen(output->name));
        if (!name) return false;
        ports[i] = (OutputPort){name, output->rows, output->columns, output->port.quantity};
    }
    p->ports = ports;
    p->port_count = count;
    return true;
}

// What only reduction can give.
static void refuse_unsolved(const Compiler *c, tr_error *err)
{
    for (uint32_t id = 0; id < c->leaf_end; id++) {
        const Node *node = &c->graph->nodes[id];
        if (node->op != OP_SYMBOL || c->system->inputs[node->a].kind != TR_SOLVED) continue;
        tr_fail(err, TR_USAGE, (Place){0},
                "'%s' is not known before the constraints are solved (tr_compile_in)",
                c->system->inputs[node->a].name);
        return;
    }
}

static Fold fold_of(double x)
{
    return x == 0 ? FOLD_ZERO : x == 1 ? FOLD_ONE : x == -1 ? FOLD_MINUS_ONE : FOLD_NOTHING;
}

// The value that a parameter gives way to, if it does: to 0, 1 and -1, or to all that are given.
static bool is_fixed(const Compiler *c, uint32_t i, bool all, double *value)
{
    static const double folded[] = {[FOLD_ZERO] = 0, [FOLD_ONE] = 1, [FOLD_MINUS_ONE] = -1};
    const Input *input = &c->system->inputs[i];
    const Request *request = c->request;
    if (input->kind != TR_PARAMETER) return false;
    *value = input->value;
    if (request->fix_parameters) return all || fold_of(*value) != FOLD_NOTHING;
    const uint8_t fold = request->fold ? request->fold[i] : FOLD_NOTHING;
    if (fold != FOLD_NOTHING) *value = folded[fold];
    return fold != FOLD_NOTHING;
}

static void fix_parameters(Compiler *c, bool all)
{
    const size_t inputs = c->system->input_count;
    Expr *from = calloc(2 * inputs + 1, sizeof *from), *to = from ? from + inputs : NULL;
    size_t count = 0;
    double value;
    for (uint32_t id = 0; from && id < c->leaf_end; id++) {
        const Node node = c->graph->nodes[id]; // a copy: numbers may move the nodes
        if (node.op != OP_SYMBOL || !is_fixed(c, node.a, all, &value)) continue;
        from[count] = expr_at(c->graph, id);
        to[count++] = number(c->graph, value);
    }
    if (!from)
        c->failed = true;
    else if (count)
        tr_substitute(c->graph, c->wanted, c->wanted_count, from, to, count, c->wanted);
    free(from);
}

static void compile(Compiler *c, Program *p)
{
    c->failed = c->failed || !tr_reach(c->graph, c->wanted, c->wanted_count, &c->reach);
    c->value_of_node = c->failed ? NULL : tr_reach_map(c->graph, &c->reach);
    c->failed = c->failed || !c->value_of_node;
    if (c->failed) return;
    emit_all(c);
    c->uses = calloc((size_t)c->count + 1, sizeof *c->uses);
    c->negative = calloc((size_t)c->system->input_count + c->count + 1, sizeof *c->negative);
    c->failed = c->failed || !c->uses || !c->negative;
    if (c->failed) return;
    count_uses(c);
    improve(c);
    c->failed = c->failed || !finish(c, p);
}

static void release(Compiler *c)
{
    free(c->wanted);
    tr_reach_free(&c->reach);
    free(c->value_of_node);
    free(c->list);
    free(c->lists);
    free(c->parts);
    free(c->constants);
    free(c->uses);
    free(c->negative);
}

// A compiler for the same, with expressions of its own.
static Compiler likewise(const Compiler *like)
{
    Compiler c = {.system = like->system,
                  .request = like->request,
                  .graph = like->graph,
                  .leaf_end = like->leaf_end,
                  .wanted_count = like->wanted_count};
    c.wanted = calloc((size_t)c.wanted_count + 1, sizeof *c.wanted);
    c.failed = like->failed || !c.wanted;
    for (uint32_t i = 0; !c.failed && i < c.wanted_count; i++) c.wanted[i] = like->wanted[i];
    return c;
}

// NULL when memory runs out.
static Program *compile_as_it_is(Compiler *c)
{
    Program *p = c->failed ? NULL : calloc(1, sizeof *p);
    if (!p) return NULL;
    compile(c, p);
    if (!c->failed && !c->graph->failed) return p;
    tr_program_free(p);
    return NULL;
}

// ---- shorter forms -------------------------------------------------------------------------

// How the expressions are rewritten before they are compiled.
typedef struct Rewriting {
    bool merged;   // equal nodes are one
    bool gathered; // what parameters alone decide stands together
} Rewriting;

// Numbers for all inputs that have nothing special about them
static void draw_inputs(const System *system, uint32_t *state, double *in)
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
    double *room_a = tr_list_room(a), *room_b = tr_list_room(b);
    bool good = in && room_a && room_b;
    double *x = good ? in + system->input_count : NULL, *y = good ? x + n : NULL;
    double *near = good ? y + n : NULL;
    uint32_t state = 1, seen = 0;
    for (int i = 0; good && i < STATES; i++) {
        draw_inputs(system, &state, in);
        tr_list_run(a, in, room_a, x);
        tr_list_run(b, in, room_b, y);
        for (uint32_t k = 0; k < system->input_count; k++)
            if (system->inputs[k].kind != TR_PARAMETER) in[k] *= k % 2 ? 1 + 1e-15 : 1 - 1e-15;
        tr_list_run(a, in, room_a, near);
        double size = 1; // of what may cancel, for inputs are about 1
        for (size_t k = 0; k < n; k++) size = isfinite(x[k]) ? fmax(size, fabs(x[k])) : size;
        for (size_t k = 0; k < n; k++) {
            const double off = fabs(x[k] - y[k]), noise = fabs(near[k] - x[k]);
            const double allowed = 1e-6 * fabs(x[k]) + 1e-13 * size;
            if (isfinite(x[k])) good = good && (off <= allowed || off <= noise);
            seen += isfinite(x[k]) ? 1u : 0u;
        }
    }
    free(room_a);
    free(room_b);
    free(in);
    return good && 2 * (size_t)seen > STATES * n;
}

// The same with other brackets in sums and products
static Program *compile_shortened(const Compiler *plain)
{
    Compiler c = likewise(plain);
    if (!c.failed) tr_shorten(c.graph, c.wanted, c.wanted_count);
    Program *p = compile_as_it_is(&c);
    release(&c);
    return p;
}

// The same from expressions that are rewritten first, and shortened where that is wanted, too. NULL
// when it cannot be had, which is no error.
static Program *compile_rewritten(const Compiler *plain, Rewriting how, Program **brief)
{
    Compiler c = likewise(plain);
    if (!c.failed && how.merged) tr_merge(c.graph, c.wanted, c.wanted_count, c.wanted);
    if (!c.failed && c.request->fix_parameters) fix_parameters(&c, true);
    if (!c.failed && how.gathered) tr_gather(c.graph, c.wanted, c.wanted_count, c.wanted);
    Program *p = compile_as_it_is(&c);
    if (brief) *brief = compile_shortened(&c);
    release(&c);
    return p;
}

// Fewer operations for each state, then for each set of parameters.
static bool is_shorter(const Program *a, const Program *b)
{
    return a->state_operations != b->state_operations ? a->state_operations < b->state_operations
                                                      : a->operations < b->operations;
}

// The other program if it is shorter, and as good.
static Program *shorter(const System *system, Program *plain, Program *other)
{
    const bool better = plain && other && is_shorter(other, plain) && agree(system, plain, other);
    tr_program_free(better ? plain : other);
    return better ? other : plain;
}

static uint32_t state_instructions(const Program *p)
{
    return p->instruction_count - p->stage_end[STAGE_PARAMETER];
}

// The same where sums have other brackets: products may fit less well into the operations that take
// them, and then nothing is gained.
static Program *shortened(const System *system, Program *plain, Program *other)
{
    if (plain && other && state_instructions(other) <= state_instructions(plain))
        return shorter(system, plain, other);
    tr_program_free(other);
    return plain;
}

static bool uses_parameters(const Compiler *c)
{
    Reach reach;
    bool found = false;
    if (tr_reach(c->graph, c->wanted, c->wanted_count, &reach))
        for (uint32_t k = 0; k < reach.count && !found; k++) {
            const Node *node = &c->graph->nodes[reach.ids[k]];
            found = node->op == OP_SYMBOL && c->system->inputs[node->a].kind == TR_PARAMETER;
        }
    tr_reach_free(&reach);
    return found;
}

// As the graph stands, and in forms that may be shorter.
static Program *compile_forms(Compiler *c)
{
    fix_parameters(c, false); // structure folds before equal nodes are looked for
    const bool open = !c->failed && !c->request->fix_parameters && uses_parameters(c);
    Program *brief;
    Program *merged = compile_rewritten(c, (Rewriting){.merged = true, .gathered = open}, &brief);
    Program *p = compile_rewritten(c, (Rewriting){0}, NULL);
    if (open) p = shorter(c->system, p, compile_rewritten(c, (Rewriting){.gathered = true}, NULL));
    return shortened(c->system, shorter(c->system, p, merged), brief);
}

// Takes what is wanted into a graph of its own.
static void take_wanted(Compiler *c, System *system, const Expr *values)
{
    for (uint32_t i = 0; i < c->wanted_count; i++) c->wanted[i] = values[i];
    tr_system_resolve(system, c->wanted, c->wanted_count);
    c->graph = tr_reach_copy(system->graph, c->wanted, c->wanted_count, c->wanted);
    c->leaf_end = c->graph ? c->graph->count : 0;
}

static Program *compile_request(System *system, const Expr *values, size_t count,
                                const Request *request, tr_error *err)
{
    if (system->graph->failed) tr_graph_refuse(system->graph, err);
    if (count > MOST_VALUES) tr_fail_memory(err);
    if (has_failed(err)) return NULL;
    assert(system->graph->symbol_count == system->input_count); // inputs, in the same order
    Compiler c = {.system = system, .request = request, .wanted_count = (uint32_t)count};
    c.wanted = calloc(count + 1, sizeof *c.wanted);
    Program *p = NULL;
    if (c.wanted) take_wanted(&c, system, values);
    if (c.graph) refuse_unsolved(&c, err);
    if (c.graph && !has_failed(err)) p = compile_forms(&c);
    if (!p) tr_graph_refuse(c.graph ? c.graph : system->graph, err);
    release(&c);
    tr_graph_free(c.graph);
    return p;
}

Program *tr_compile_values(System *system, const Expr *values, size_t count, bool fix_parameters,
                           tr_error *err)
{
    const Request request = {.fix_parameters = fix_parameters};
    return compile_request(system, values, count, &request, err);
}

void tr_fold_pattern(const System *system, const double *inputs, uint8_t *fold)
{
    for (uint32_t i = 0; i < system->input_count; i++) {
        const bool is_parameter = system->inputs[i].kind == TR_PARAMETER;
        fold[i] = (uint8_t)(is_parameter ? fold_of(inputs[i]) : FOLD_NOTHING);
    }
}

Program *tr_compile_open(System *system, const Expr *values, size_t count, const uint8_t *fold,
                         tr_error *err)
{
    const Request request = {.fold = fold};
    return compile_request(system, values, count, &request, err);
}

Program *tr_compile_names(System *system, const char *outputs, bool fix_parameters, tr_error *err)
{
    Exprs wanted = {0};
    if (!outputs) outputs = "";
    collect(system, outputs, &wanted, err);
    Program *p = tr_compile_values(system, wanted.at, wanted.count, fix_parameters, err);
    tr_exprs_free(&wanted);
    if (!p || fill_ports(system, outputs, p)) return p;
    tr_fail_memory(err);
    tr_program_free(p);
    return NULL;
}

void tr_compile_fill(tr_compile_options *options, size_t size)
{
    const tr_compile_options plain = {0};
    tr_give_options(options, size, &plain, sizeof plain);
}

Program *tr_compile(const System *system, const char *outputs, const tr_compile_options *options,
                    tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_compile_options o = tr_compile_defaults();
    if (!system || !tr_take_options(&o, sizeof o, options, "tr_compile_defaults", err)) return NULL;
    if (system->graph->failed) tr_graph_refuse(system->graph, err);
    System *own = tr_system_copy(system, err);
    const bool good = own && tr_evaluation_called(o.evaluate, &own->evaluation, err);
    Program *p = good ? tr_compile_names(own, outputs, o.fix_parameters, err) : NULL;
    tr_system_free(own);
    return p;
}
