// SPDX-License-Identifier: Apache-2.0
// An expression as the graph has it. Where that is shorter than anything that was found, it stays.
#include "print/closed.h"

typedef struct Plain {
    Closed *closed;
    uint32_t left; // nodes that may still be written
} Plain;

static const Term *plain(Plain *p, Expr x);

static const Term *minus(Arena *arena, const Term *term)
{
    const Term *parts[] = {tr_term_number(arena, -1, 1), term};
    return term ? tr_term_product(arena, parts, 2) : NULL;
}

static const Term *plain_sum(Plain *p, const Term *a, const Term *b, bool is_minus)
{
    Arena *arena = &p->closed->arena;
    const Term *parts[] = {a, is_minus ? minus(arena, b) : b};
    return parts[0] && parts[1] ? tr_term_sum(arena, parts, 2) : NULL;
}

static const Term *plain_product(Plain *p, const Term *a, const Term *b, int power)
{
    Arena *arena = &p->closed->arena;
    const Term *parts[] = {a, b ? tr_term_power(arena, b, power) : NULL};
    return parts[0] && parts[1] ? tr_term_product(arena, parts, 2) : NULL;
}

static const Term *plain_call(Plain *p, Expr x, Op op, const Term **of, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!of[i]) return NULL;
    return tr_term_call(&p->closed->arena, op, x, of, count);
}

static const Term *plain_power(Plain *p, Expr x, const Term *base)
{
    const int n = node_of(x)->n;
    if (n % 2 == 0) return base ? tr_term_power(&p->closed->arena, base, n / 2) : NULL;
    const Term *root = plain_call(p, x, OP_SQRT, &base, 1);
    return root ? tr_term_power(&p->closed->arena, root, n) : NULL;
}

static const Term *plain(Plain *p, Expr x)
{
    const Node *node = node_of(x);
    const Term *of[3] = {0};
    if (!p->left || node->op >= OP_COUNT) return NULL;
    p->left--;
    const uint32_t operands = (uint32_t)tr_op[node->op].operands;
    for (uint32_t i = 0; i < operands; i++) of[i] = plain(p, operand(x, (int)i));
    switch ((Op)node->op) {
    case OP_NUMBER: return tr_arrange(p->closed, p->closed->by_node[x.id]);
    case OP_SYMBOL: return tr_term_symbol(&p->closed->arena, x);
    case OP_ADD: return plain_sum(p, of[0], of[1], false);
    case OP_SUB: return plain_sum(p, of[0], of[1], true);
    case OP_MUL: return plain_product(p, of[0], of[1], 1);
    case OP_DIV: return plain_product(p, of[0], of[1], -1);
    case OP_NEG: return minus(&p->closed->arena, of[0]);
    case OP_POW: return plain_power(p, x, of[0]);
    default: return plain_call(p, x, (Op)node->op, of, operands);
    }
}

const Term *tr_plain(Closed *closed, Expr x, uint32_t nodes)
{
    Plain p = {.closed = closed, .left = nodes};
    return plain(&p, x);
}
