// SPDX-License-Identifier: Apache-2.0
#include "gpu/nodes.h"

#include "gpu/embedded.h"
#include "gpu/order.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tr_nodes_open(Nodes *n, const Flat *flat, Translation *translation)
{
    n->flat = flat, n->translation = translation;
    n->value = calloc(flat->count + 1u, sizeof *n->value);
    n->angle = calloc(flat->count + 1u, sizeof *n->angle);
    n->stays = calloc(flat->count + 1u, sizeof *n->stays);
    return n->value && n->angle && n->stays;
}

void tr_nodes_close(Nodes *n)
{
    free(n->value);
    free(n->angle);
    free(n->stays);
    free(n->names);
    *n = (Nodes){0};
}

void tr_nodes_keep(Nodes *n)
{
    for (uint32_t i = 0; i < n->flat->count; i++) n->stays[i] = n->value[i].kind != KIND_NONE;
}

void tr_nodes_forget(Nodes *n)
{
    for (uint32_t i = 0; i < n->flat->count; i++) {
        if (n->stays[i]) continue;
        n->value[i] = (Value){0};
        n->angle[i] = 0;
    }
}

Value tr_nodes_number(Nodes *n, uint32_t node)
{
    if (flat_is_number(n->flat, node)) return tr_ptx_number(flat_number_of(n->flat, node));
    assert(n->value[node].kind != KIND_NONE); // operands stand before their users
    return tr_ptx_convert(n->translation->ptx, n->value[node],
                          ptx_number_kind(n->translation->ptx));
}

static Value truth_of(Nodes *n, uint32_t node)
{
    const Value v = n->value[node];
    return tr_ptx_truth(n->translation->ptx, v.kind == KIND_TRUTH ? v : tr_nodes_number(n, node));
}

// ---- functions -----------------------------------------------------------------------------

static Value call(Nodes *n, const char *name, const Value *operands, uint32_t count)
{
    Thing things[3];
    for (uint32_t i = 0; i < count; i++) things[i] = thing_of(operands[i]);
    const Thing result = tr_translate_call(n->translation, name, things, count);
    return result.value;
}

// Of a sine and a cosine the angle is found once.
static Value turn(Nodes *n, unsigned code, uint32_t argument, Value x)
{
    Translation *t = n->translation;
    if (!n->angle[argument]) {
        const uint32_t cells = tr_translate_cells(t, ptx_number_kind(t->ptx), 3);
        const Thing things[] = {thing_of(x), thing_array(cells)};
        tr_translate_call(t, "angle_of", things, 2);
        n->angle[argument] = cells;
    }
    const Thing with_x[] = {thing_of(x), thing_array(n->angle[argument])};
    const bool cosine = code == OP_COS;
    return tr_translate_call(t,
                             cosine           ? "cosine"
                             : code == OP_SIN ? "sine"
                                              : "tangent",
                             with_x + cosine, 2 - cosine)
        .value;
}

// The one that a relation chooses, or the first where that is no number
static Value extreme(Ptx *p, const char *sign, Value a, Value b)
{
    const Value is_first =
        tr_ptx_binary(p, "|", tr_ptx_binary(p, sign, a, b), tr_ptx_binary(p, "!=", a, a));
    return tr_ptx_choose(p, is_first, a, b);
}

// ---- tables --------------------------------------------------------------------------------

static Thing list_called(const Nodes *n, uint32_t table, const char *what)
{
    char name[40];
    snprintf(name, sizeof name, "table%u_%s", table, what);
    const Definition *d = tr_words_find(n->translation->words, text_of(name));
    return (Thing){.form = THING_ARRAY, .definition = d, .offset = tr_ptx_whole(KIND_INT, 0)};
}

static Thing whole(uint64_t n) { return thing_of(tr_ptx_whole(KIND_INT, n)); }

static Value line_table(Nodes *n, const FlatNode *node, const Table *table, Value x)
{
    const TableAxis *axis = &table->axis[0];
    const Thing all[] = {thing_of(x),
                         list_called(n, node->c, "x"),
                         whole(axis->count),
                         whole(axis->pieces),
                         whole(axis->degree),
                         list_called(n, node->c, "c"),
                         whole((uint64_t)node->n),
                         whole(table->hold && axis->count >= 2)};
    return tr_translate_call(n->translation, "line_value", all, 8).value;
}

// Along one axis of two: the first function that counts, and all that do; whether it is flat there
static Value plane_axis(Nodes *n, const FlatNode *node, const Table *table, int which, Value x,
                        bool cubic, uint32_t bases, Value *first)
{
    Translation *t = n->translation;
    Ptx *p = t->ptx;
    const TableAxis *axis = &table->axis[which];
    const int order = table_order_along(node->n, which);
    const Thing knot = list_called(n, node->c, which ? "y" : "x");
    const Thing hold[] = {thing_of(x), knot, whole(axis->count - 1),
                          whole(table->hold && axis->count >= 2)};
    const Thing at = tr_translate_call(t, "held", hold, 4);
    const Thing find[] = {at, knot, whole(axis->pieces)};
    const Thing piece = tr_translate_call(t, "piece_of", find, 3);
    const Thing begin[] = {knot, piece};
    const Value u = tr_ptx_binary(p, "-", at.value, tr_translate_call(t, "entry", begin, 2).value);
    const uint32_t size = (axis->degree + 1) * (axis->degree + 1);
    const Value from = tr_ptx_binary(p, "*", piece.value, tr_ptx_whole(KIND_INT, size));
    const Thing take[] = {list_called(n, node->c, which ? "by" : "bx"),
                          thing_of(from),
                          whole(axis->degree),
                          thing_of(u),
                          whole((uint64_t)order),
                          whole(cubic),
                          thing_array(bases)};
    tr_translate_call(t, "take_bases", take, 7);
    const Thing where[] = {piece, whole(axis->count), whole(axis->degree)};
    *first = tr_translate_call(t, "first_function", where, 3).value;
    return order > 0 ? tr_ptx_binary(p, "!=", at.value, x) : tr_ptx_whole(KIND_TRUTH, 0);
}

static Value plane_table(Nodes *n, const FlatNode *node, const Table *table, Value x, Value y)
{
    Translation *t = n->translation;
    Ptx *p = t->ptx;
    const uint32_t Bx = tr_translate_cells(t, ptx_number_kind(p), 4),
                   By = tr_translate_cells(t, ptx_number_kind(p), 4);
    const uint32_t dx = table->axis[0].degree, dy = table->axis[1].degree;
    const bool cubic = dx == 3 && dy == 3 && table_order_along(node->n, 0) <= 3 &&
                       table_order_along(node->n, 1) <= 3;
    const uint32_t stride = table->axis[1].count;
    Value i, j;
    Value flat = plane_axis(n, node, table, 0, x, cubic, Bx, &i);
    flat = tr_ptx_binary(p, "|", flat, plane_axis(n, node, table, 1, y, cubic, By, &j));
    const Value from =
        tr_ptx_binary(p, "+", tr_ptx_binary(p, "*", i, tr_ptx_whole(KIND_INT, stride)), j);
    const Thing all[] = {list_called(n, node->c, "c"),
                         thing_of(from),
                         whole(stride),
                         whole(dx),
                         whole(dy),
                         whole(cubic),
                         thing_array(Bx),
                         thing_array(By)};
    const Value sum = tr_translate_call(t, "plane_sum", all, 8).value;
    const Value value = tr_ptx_choose(p, flat, tr_ptx_number(0), sum);
    const Value both = tr_ptx_binary(p, "+", x, y); // no number, where one is none
    const Value none =
        tr_ptx_binary(p, "|", tr_ptx_binary(p, "!=", x, x), tr_ptx_binary(p, "!=", y, y));
    return tr_ptx_choose(p, none, both, value);
}

// What is asked about the pieces along an axis
static Value question(Nodes *n, const FlatNode *node, const Table *table, Value x)
{
    const int which = node->n >> 4 & 1, what = node->n & 15;
    const Thing all[] = {thing_of(x), list_called(n, node->c, which ? "y" : "x"),
                         whole(table->axis[which].pieces), whole((uint64_t)what)};
    return tr_translate_call(n->translation, "answer", all, 4).value;
}

static Value look_up(Nodes *n, const FlatNode *node, const Value *x)
{
    const Table *table = n->flat->tables[node->c];
    if (table_is_question(node->n)) return question(n, node, table, x[0]);
    return table_is_plane(table) ? plane_table(n, node, table, x[0], x[1])
                                 : line_table(n, node, table, x[0]);
}

static void define_numbers(Words *words, char *names, uint32_t table, const char *what,
                           const double *numbers, size_t count)
{
    Value *values = calloc(count + 1, sizeof *values);
    if (!values) {
        words->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = tr_ptx_number(numbers[i]);
        if (words->is_single) values[i].kind = KIND_SINGLE;
    }
    snprintf(names, TABLE_NAME, "table%u_%s", table, what);
    tr_words_list(words, names, values, (uint32_t)count);
    free(values);
}

void tr_nodes_tables(Nodes *n, Words *words)
{
    const Flat *flat = n->flat;
    n->names = calloc(flat->table_count + 1u, sizeof *n->names);
    if (!n->names) words->failed = true;
    for (uint32_t i = 0; n->names && i < flat->table_count; i++) {
        const Table *t = flat->tables[i];
        const TableAxis *x = &t->axis[0], *y = &t->axis[1];
        const bool plane = table_is_plane(t);
        define_numbers(words, n->names[i][0], i, "x", x->knot, x->count);
        define_numbers(words, n->names[i][1], i, "c", t->coefficient,
                       plane ? (size_t)x->count * y->count : (size_t)x->pieces * (x->degree + 1));
        if (!plane) continue;
        const size_t bx = (x->degree + 1) * (size_t)(x->degree + 1);
        const size_t by = (y->degree + 1) * (size_t)(y->degree + 1);
        define_numbers(words, n->names[i][2], i, "y", y->knot, y->count);
        define_numbers(words, n->names[i][3], i, "bx", x->bases, x->pieces * bx);
        define_numbers(words, n->names[i][4], i, "by", y->bases, y->pieces * by);
    }
}

// ---- in their order ------------------------------------------------------------------------

static Value make(Nodes *n, const FlatNode *node)
{
    static const char *const called[OP_COUNT] = {
        [OP_ASIN] = "el_asin", [OP_ACOS] = "el_acos",   [OP_ATAN] = "el_atan", [OP_EXP] = "el_exp",
        [OP_LOG] = "el_log",   [OP_HYPOT] = "el_hypot", [OP_RAISE] = "raise"};
    Ptx *p = n->translation->ptx;
    Value x[3] = {{0}};
    const int operands = flat_operands(node);
    if (node->code == OP_SELECT)
        return tr_ptx_choose(p, truth_of(n, node->a), tr_nodes_number(n, node->b),
                             tr_nodes_number(n, node->c));
    for (int k = 0; k < operands; k++) x[k] = tr_nodes_number(n, flat_operand(node, k));
    switch (node->code) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_EQUAL:
    case OP_NOT_EQUAL: return tr_ptx_binary(p, tr_op[node->code].name, x[0], x[1]);
    case OP_NEG: return tr_ptx_negative(p, x[0]);
    case OP_SQRT: return tr_ptx_root(p, x[0]);
    case OP_ABS: return tr_ptx_size(p, x[0]);
    case OP_FLOOR: return tr_ptx_floor(p, x[0]);
    case OP_MIN: return extreme(p, "<", x[0], x[1]);
    case OP_MAX: return extreme(p, ">", x[0], x[1]);
    case OP_SIN:
    case OP_COS:
    case OP_TAN: return turn(n, node->code, node->a, x[0]);
    case OP_ATAN2:
        for (int k = 0; k < 2; k++) x[k] = tr_ptx_binary(p, "+", x[k], tr_ptx_number(0));
        return call(n, "el_atan2", x, 2);
    case CODE_FMA: return tr_ptx_fma(p, x[0], x[1], x[2]);
    case CODE_FMS: return tr_ptx_fma(p, x[0], x[1], tr_ptx_negative(p, x[2]));
    case CODE_FNMA: return tr_ptx_fma(p, tr_ptx_negative(p, x[0]), x[1], x[2]);
    default: break;
    }
    if (node->code < OP_COUNT && tr_op[node->code].form == FORM_TABLE) return look_up(n, node, x);
    if (node->code < OP_COUNT && called[node->code])
        return call(n, called[node->code], x, (uint32_t)operands);
    tr_translate_fail(n->translation, "no kernel has",
                      text_of(node->code < OP_COUNT ? tr_op[node->code].name : "this"));
    return tr_ptx_number(0);
}

// Those wanted that a node is: the first + 1 by node, and by each the next of the same node
static void put_away(Nodes *n, const uint32_t *wanted, const Value *places, uint32_t first,
                     const uint32_t *next)
{
    for (uint32_t k = places ? first : 0; k; k = next[k - 1])
        tr_ptx_move(n->translation->ptx, places[k - 1], tr_nodes_number(n, wanted[k - 1]));
}

static void make_in_order(Nodes *n, const uint32_t *order, uint32_t count, const uint32_t *wanted,
                          const Value *places, uint32_t *first, const uint32_t *next)
{
    for (uint32_t j = 0; j < count && !n->translation->failure[0]; j++) {
        const uint32_t node = order[j];
        n->value[node] = make(n, &n->flat->nodes[node]);
        n->value[node].is_fresh = false;
        put_away(n, wanted, places, first[node], next);
        first[node] = 0;
    }
}

void tr_nodes_make(Nodes *n, const uint32_t *wanted, uint32_t wanted_count, const Value *places)
{
    const Flat *flat = n->flat;
    uint32_t count = 0, *order = NULL;
    bool *is_there = malloc(flat->count + 1u);
    uint32_t *first = calloc((size_t)flat->count + wanted_count + 1, sizeof *first);
    uint32_t *next = first ? first + flat->count : NULL;
    for (uint32_t i = 0; is_there && i < flat->count; i++)
        is_there[i] = n->value[i].kind != KIND_NONE;
    if (is_there && first) order = tr_order_make(flat, is_there, wanted, wanted_count, &count);
    if (!order) tr_translate_no_memory(n->translation);
    for (uint32_t k = wanted_count; order && places && k-- > 0;)
        next[k] = first[wanted[k]], first[wanted[k]] = k + 1;
    if (order) make_in_order(n, order, count, wanted, places, first, next);
    for (uint32_t k = 0; order && !n->translation->failure[0] && k < wanted_count; k++) {
        put_away(n, wanted, places, first[wanted[k]], next); // numbers, and what was there before
        first[wanted[k]] = 0;
    }
    free(is_there);
    free(order);
    free(first);
}

// ---- what they stand on --------------------------------------------------------------------

static void define_questions(Words *words)
{
    static const struct {
        const char *name;
        int is;
    } questions[] = {{"TABLE_PIECE", TABLE_PIECE},
                     {"TABLE_START", TABLE_START},
                     {"TABLE_LOWER", TABLE_LOWER},
                     {"TABLE_UPPER", TABLE_UPPER}};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        tr_words_define(words, questions[i].name,
                        tr_ptx_whole(KIND_INT, (uint64_t)questions[i].is));
    tr_words_define(words, "FAR", tr_ptx_number(words->is_single ? 1e30 : TABLE_FAR));
}

void tr_nodes_words(Words *words)
{
    define_questions(words);
    tr_words_add(words, words->is_single ? tr_gpu_single() : tr_gpu_elementary());
    tr_words_add(words, tr_gpu_nodes());
    if (words->is_single) tr_words_add(words, tr_gpu_nodes_single());
}

// A call gives one number, so there are three: the angle, its low part, the quadrant.
static Thing call_reduce(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    (void)owner, (void)count;
    Ptx *p = t->ptx;
    const Value x = a[0].value.is_known ? tr_ptx_settle(p, a[0].value) : a[0].value;
    for (uint32_t i = 0; i < 3; i++) {
        const Value which = tr_ptx_settle(p, tr_ptx_whole(KIND_U32, i));
        tr_buffer_print(&p->text, "\tcall (%%d%u), tr_reduce_huge, (%%d%u, %%r%u);\n",
                        t->cells[a[1].cell + i].number, x.number, which.number);
    }
    return (Thing){0};
}

// el_sin(x) by way of the angle, wherever it is called
static Thing call_turn(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    (void)count;
    const char *name = owner;
    const uint32_t cells = tr_translate_cells(t, ptx_number_kind(t->ptx), 3);
    const Thing things[] = {a[0], thing_array(cells)};
    const bool cosine = strcmp(name, "cosine") == 0;
    tr_translate_call(t, "angle_of", things, 2);
    return tr_translate_call(t, name, things + cosine, 2 - cosine);
}

static void name_builtins(Translation *t)
{
    tr_translate_builtin(t, "reduce_huge", call_reduce, NULL);
    tr_translate_builtin(t, "el_sin", call_turn, (void *)"sine");
    tr_translate_builtin(t, "el_cos", call_turn, (void *)"cosine");
    tr_translate_builtin(t, "el_tan", call_turn, (void *)"tangent");
}

void tr_nodes_beside(Translation *t, Buffer *out)
{
    Ptx apart = {0}, *kernel = t->ptx;
    name_builtins(t);
    if (kernel->is_single) return; // its angles are found where they are
    t->ptx = &apart;
    const Value x = tr_ptx_register(&apart, KIND_REAL), part = tr_ptx_register(&apart, KIND_U32);
    const Thing argument = thing_of(x);
    const Thing angle = tr_translate_call(t, "el_reduce_huge", &argument, 1);
    const Value quadrant = t->cells[angle.cell + 2];
    const Value as_number = tr_ptx_make(&apart, KIND_REAL, "mov.b64", &quadrant, 1);
    const Value low =
        tr_ptx_choose(&apart, tr_ptx_binary(&apart, "==", part, tr_ptx_whole(KIND_U32, 1)),
                      t->cells[angle.cell + 1], as_number);
    const Value result =
        tr_ptx_choose(&apart, tr_ptx_binary(&apart, "==", part, tr_ptx_whole(KIND_U32, 0)),
                      t->cells[angle.cell], low);
    tr_buffer_print(
        out, ".func (.reg .f64 %%result) tr_reduce_huge (.reg .f64 %%x, .reg .u32 %%part)\n{\n");
    tr_ptx_registers(&apart, out);
    tr_buffer_print(out, "\tmov.f64 %%d%u, %%x;\n\tmov.u32 %%r%u, %%part;\n", x.number,
                    part.number);
    tr_buffer_add(out, apart.text.at, apart.text.length);
    tr_buffer_print(out, "\tmov.f64 %%result, %%d%u;\n\tret;\n}\n", result.number);
    out->failed = out->failed || apart.text.failed;
    tr_buffer_free(&apart.text);
    t->ptx = kernel;
}
