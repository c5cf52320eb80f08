// SPDX-License-Identifier: Apache-2.0
#include "gpu/nodes.h"

#include "gpu/embedded.h"

#include <assert.h>
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
    return tr_ptx_convert(n->translation->ptx, n->value[node], KIND_REAL);
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
        const uint32_t cells = tr_translate_cells(t, KIND_REAL, 3);
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

static Value make(Nodes *n, const FlatNode *node)
{
    static const char *const called[OP_COUNT] = {
        [OP_ASIN] = "el_asin", [OP_ACOS] = "el_acos",   [OP_ATAN] = "el_atan", [OP_EXP] = "el_exp",
        [OP_LOG] = "el_log",   [OP_HYPOT] = "el_hypot", [OP_RAISE] = "raise"};
    Ptx *p = n->translation->ptx;
    Value x[3];
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
    if (node->code < OP_COUNT && called[node->code])
        return call(n, called[node->code], x, (uint32_t)operands);
    tr_translate_fail(n->translation, "no kernel has",
                      text_of(node->code < OP_COUNT ? tr_op[node->code].name : "this"));
    return tr_ptx_number(0);
}

// ---- in their order ------------------------------------------------------------------------

void tr_nodes_make(Nodes *n, const uint32_t *wanted, uint32_t count)
{
    const Flat *flat = n->flat;
    bool *needed = calloc(flat->count + 1u, sizeof *needed);
    if (!needed) {
        tr_translate_fail(n->translation, "out of memory", text_of(""));
        return;
    }
    for (uint32_t k = 0; k < count; k++) needed[wanted[k]] = true;
    for (uint32_t i = flat->count; i-- > 0;) {
        if (!needed[i] || n->value[i].kind != KIND_NONE) continue;
        for (int k = 0; k < flat_operands(&flat->nodes[i]); k++)
            needed[flat_operand(&flat->nodes[i], k)] = true;
    }
    for (uint32_t i = 0; i < flat->count && !n->translation->failure[0]; i++) {
        const FlatNode *node = &flat->nodes[i];
        if (!needed[i] || n->value[i].kind != KIND_NONE || node->code == FLAT_NUMBER) continue;
        assert(node->code != FLAT_ARGUMENT); // those are there
        n->value[i] = make(n, node);
        n->value[i].is_fresh = false;
    }
    free(needed);
}

// ---- what they stand on --------------------------------------------------------------------

void tr_nodes_words(Words *words)
{
    tr_words_add(words, tr_gpu_elementary());
    tr_words_add(words, tr_gpu_nodes());
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
    const uint32_t cells = tr_translate_cells(t, KIND_REAL, 3);
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
    Ptx apart = {.is_single = t->ptx->is_single}, *kernel = t->ptx;
    t->ptx = &apart;
    name_builtins(t);
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
