// SPDX-License-Identifier: Apache-2.0
#include "print/term.h"

#include <stdlib.h>

static Term *make(Arena *arena, TermKind kind, const Term **parts, uint32_t count)
{
    Term *term = tr_arena_alloc(arena, 1, sizeof *term);
    const Term **own = term ? tr_arena_alloc(arena, count + 1u, sizeof *own) : NULL;
    if (!own) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!parts[i]) return NULL; // memory ran out before
        own[i] = parts[i];
    }
    *term = (Term){.kind = kind, .parts = own, .count = count, .bottom = 1};
    return term;
}

const Term *tr_term_number(Arena *arena, int64_t top, int64_t bottom)
{
    Term *term = make(arena, TERM_NUMBER, NULL, 0);
    if (term) term->top = top, term->bottom = bottom;
    if (term) term->cost = (uint32_t)(top < 0) + (uint32_t)(bottom != 1);
    return term;
}

const Term *tr_term_decimal(Arena *arena, double value)
{
    Term *term = make(arena, TERM_DECIMAL, NULL, 0);
    if (term) term->value = value;
    return term;
}

const Term *tr_term_symbol(Arena *arena, Expr symbol)
{
    Term *term = make(arena, TERM_SYMBOL, NULL, 0);
    if (term) term->node = symbol;
    return term;
}

bool tr_term_is_number(const Term *term, int64_t value)
{
    return term && term->kind == TERM_NUMBER && term->top == value && term->bottom == 1;
}

bool tr_term_is_negative(const Term *term)
{
    return term->kind == TERM_NUMBER    ? term->top < 0
           : term->kind == TERM_PRODUCT ? tr_term_is_negative(term->parts[0])
                                        : false;
}

bool tr_term_same(const Term *a, const Term *b)
{
    if (a == b) return true;
    if (a->kind != b->kind || a->cost != b->cost || a->count != b->count) return false;
    if (a->top != b->top || a->bottom != b->bottom || a->value != b->value) return false;
    if (a->power != b->power || a->op != b->op || a->node.id != b->node.id) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!tr_term_same(a->parts[i], b->parts[i])) return false;
    return true;
}

// ---- operations ----------------------------------------------------------------------------

// A part of a sum with a minus is subtracted, so its sign is free but for the first.
static uint32_t cost_of_sum(const Term *sum)
{
    uint32_t cost = sum->count - 1;
    for (uint32_t i = 0; i < sum->count; i++)
        cost += sum->parts[i]->cost - (i && tr_term_is_negative(sum->parts[i]));
    return cost;
}

// Each part is one operation; 1 and -1 in front are a sign, and what divides a number no product
static uint32_t cost_of_product(const Term *product)
{
    const Term *first = product->parts[0];
    const bool has_number = first->kind == TERM_NUMBER;
    const bool is_unit = has_number && (first->top == 1 || first->top == -1);
    uint32_t cost = product->count - 1, above = 0;
    for (uint32_t i = 0; i < product->count; i++) {
        const Term *part = product->parts[i];
        cost += tr_term_is_quotient(part) ? part->cost - 1
                                          : part->cost; // its division is counted already
        above += !tr_term_is_quotient(part);
    }
    return cost - (is_unit && above > 1);
}

static uint32_t cost_of_power(int power)
{
    const int size = power < 0 ? -power : power;
    return (uint32_t)(size > 1) + (uint32_t)(size > 2) + (uint32_t)(power < 0);
}

// ---- making --------------------------------------------------------------------------------

const Term *tr_term_sum(Arena *arena, const Term **parts, uint32_t count)
{
    if (count == 0) return tr_term_number(arena, 0, 1);
    if (count == 1) return parts[0];
    Term *term = make(arena, TERM_SUM, parts, count);
    if (!term) return NULL;
    for (uint32_t i = 0; tr_term_is_negative(term->parts[0]) && i < count; i++)
        if (!tr_term_is_negative(term->parts[i])) {
            const Term *first = term->parts[i];
            for (uint32_t k = i; k > 0; k--) term->parts[k] = term->parts[k - 1];
            term->parts[0] = first;
        }
    term->cost = cost_of_sum(term);
    return term;
}

const Term *tr_term_product(Arena *arena, const Term **parts, uint32_t count)
{
    if (count == 0) return tr_term_number(arena, 1, 1);
    if (count == 1) return parts[0];
    Term *term = make(arena, TERM_PRODUCT, parts, count);
    if (term) term->cost = cost_of_product(term);
    return term;
}

const Term *tr_term_power(Arena *arena, const Term *base, int power)
{
    if (power == 1) return base;
    Term *term = make(arena, TERM_POWER, &base, 1);
    if (term) term->power = power, term->cost = base->cost + cost_of_power(power);
    return term;
}

const Term *tr_term_call(Arena *arena, Op op, Expr like, const Term **parts, uint32_t count)
{
    Term *term = make(arena, TERM_CALL, parts, count);
    if (!term) return NULL;
    term->op = op, term->node = like, term->cost = 1;
    for (uint32_t i = 0; i < count; i++) term->cost += parts[i]->cost;
    return term;
}

const Term *tr_term_copy(Arena *arena, const Term *term)
{
    Term *copy = make(arena, term->kind, term->parts, term->count);
    if (!copy) return NULL;
    const Term **parts = copy->parts;
    *copy = *term, copy->parts = parts;
    for (uint32_t i = 0; i < term->count; i++)
        if (!(parts[i] = tr_term_copy(arena, term->parts[i]))) return NULL;
    return copy;
}

// ---- expressions ---------------------------------------------------------------------------

static Expr call_again(const Term *term, Graph *graph)
{
    const int operands = tr_op[term->op].operands;
    Expr of[3] = {zero(graph), zero(graph), zero(graph)};
    for (int i = 0; i < operands && i < (int)term->count; i++)
        of[i] = tr_term_expression(term->parts[i], graph);
    if (term->op == OP_TABLE1 || term->op == OP_TABLE2)
        return tr_build_table(node_of(term->node)->c, of[0], of[1], node_of(term->node)->n);
    return tr_build(term->op, of[0], of[1], of[2]);
}

void tr_term_count_symbols(const Term *term, uint32_t *uses)
{
    if (term->kind == TERM_SYMBOL) uses[term->node.id]++;
    for (uint32_t i = 0; i < term->count; i++) tr_term_count_symbols(term->parts[i], uses);
}

Expr tr_term_expression(const Term *term, Graph *graph)
{
    Expr whole = term->kind == TERM_PRODUCT ? one(graph) : zero(graph);
    switch (term->kind) {
    case TERM_NUMBER: return number(graph, (double)term->top / (double)term->bottom);
    case TERM_DECIMAL: return number(graph, term->value);
    case TERM_SYMBOL: return expr_at(graph, term->node.id);
    case TERM_CALL: return call_again(term, graph);
    case TERM_POWER:
        return term->power < 0
                   ? quotient(one(graph),
                              power(tr_term_expression(term->parts[0], graph), -term->power))
                   : power(tr_term_expression(term->parts[0], graph), term->power);
    case TERM_SUM:
        for (uint32_t i = 0; i < term->count; i++)
            whole = add(whole, tr_term_expression(term->parts[i], graph));
        return whole;
    case TERM_PRODUCT:
        for (uint32_t i = 0; i < term->count; i++) {
            const Term *part = term->parts[i];
            if (tr_term_is_quotient(part))
                whole =
                    quotient(whole, power(tr_term_expression(part->parts[0], graph), -part->power));
            else
                whole = mul(whole, tr_term_expression(part, graph));
        }
        return whole;
    }
    return whole;
}
