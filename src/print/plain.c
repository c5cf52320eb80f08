// SPDX-License-Identifier: Apache-2.0
// An expression as the graph has it, with its parts in closed form where that is shorter. Where all
// of it is shorter than anything that was found for the whole, it stays.
#include "print/closed.h"

#include <stdlib.h>

enum { MOST_PARTS = 64 };

typedef struct Plain {
    Closed *closed;
    uint32_t left; // nodes that may still be written
    bool mends;    // parts that are longer than they must be are arranged
    struct Found { // by node
        const Term *term;
        uint32_t nodes; // that it has; 0: not known
    } * found;
} Plain;

static const Term *plain(Plain *p, Expr x);

// With the parts of a term of that kind in its place
static bool add_parts(const Term *term, TermKind kind, const Term **parts, uint32_t *count)
{
    const bool is_list = term && term->kind == kind;
    if (!term || *count + (is_list ? term->count : 1) > MOST_PARTS) return false;
    for (uint32_t i = 0; i < (is_list ? term->count : 1); i++)
        parts[(*count)++] = is_list ? term->parts[i] : term;
    return true;
}

static const Term *minus(Arena *arena, const Term *term);

// a - b of b - a
static const Term *turned_sum(Arena *arena, const Term *sum)
{
    const Term *parts[MOST_PARTS];
    uint32_t count = 0;
    if (!add_parts(sum, TERM_SUM, parts, &count)) return NULL;
    for (uint32_t i = 0; i < count; i++) parts[i] = minus(arena, parts[i]);
    const Term *turned = tr_term_sum(arena, parts, count);
    return turned && turned->cost <= sum->cost ? turned : NULL;
}

// With the other number in front, or with a bracket turned
static const Term *turned_product(Arena *arena, const Term *product)
{
    const Term *parts[MOST_PARTS];
    uint32_t count = 0;
    if (!add_parts(product, TERM_PRODUCT, parts, &count)) return NULL;
    if (parts[0]->kind == TERM_NUMBER) {
        parts[0] = tr_term_number(arena, -parts[0]->top, parts[0]->bottom);
        const bool is_one = tr_term_is_number(parts[0], 1);
        return tr_term_product(arena, parts + is_one, count - is_one);
    }
    for (uint32_t i = 0; i < count; i++) {
        const Term *turned = parts[i]->kind == TERM_SUM ? turned_sum(arena, parts[i]) : NULL;
        if (!turned) continue;
        parts[i] = turned;
        return tr_term_product(arena, parts, count);
    }
    return NULL;
}

static const Term *minus(Arena *arena, const Term *term)
{
    const Term *parts[MOST_PARTS] = {tr_term_number(arena, -1, 1)};
    uint32_t count = 1;
    if (!term) return NULL;
    if (term->kind == TERM_NUMBER) return tr_term_number(arena, -term->top, term->bottom);
    const Term *turned = term->kind == TERM_PRODUCT ? turned_product(arena, term)
                         : term->kind == TERM_SUM   ? turned_sum(arena, term)
                                                    : NULL;
    if (turned) return turned;
    return add_parts(term, TERM_PRODUCT, parts, &count) ? tr_term_product(arena, parts, count)
                                                        : NULL;
}

// A term without the number in front of it
static const Term *take_number(Arena *arena, const Term *term, int64_t *top, int64_t *bottom)
{
    *top = *bottom = 1;
    if (!term) return NULL;
    const bool is_product = term->kind == TERM_PRODUCT;
    const Term *number = is_product ? term->parts[0] : term;
    if (number->kind != TERM_NUMBER) return term;
    *top = number->top, *bottom = number->bottom;
    return is_product ? tr_term_product(arena, term->parts + 1, term->count - 1)
                      : tr_term_number(arena, 1, 1);
}

// a/b + c/d in lowest terms; false where that is too large
static bool add_numbers(int64_t *top, int64_t *bottom, int64_t more, int64_t below)
{
    int64_t a, b;
    if (__builtin_mul_overflow(*top, below, &a) || __builtin_mul_overflow(more, *bottom, &b) ||
        __builtin_add_overflow(a, b, top) || __builtin_mul_overflow(*bottom, below, bottom))
        return false;
    const int64_t common = common_divisor(*top, *bottom);
    *top /= common, *bottom /= common;
    return true;
}

static const Term *with_number(Arena *arena, int64_t top, int64_t bottom, const Term *rest)
{
    const Term *parts[MOST_PARTS] = {tr_term_number(arena, top, bottom)};
    uint32_t count = 1;
    if (tr_term_is_number(rest, 1) || top == 0) return parts[0];
    if (top == 1 && bottom == 1) return rest;
    return add_parts(rest, TERM_PRODUCT, parts, &count) ? tr_term_product(arena, parts, count)
                                                        : NULL;
}

// Numbers of a sum are one, and multiples of the same are one too, as in the graph: else what was
// taken out of a bracket would be read differently the next time. 0 where that fails
static uint32_t join_alike(Arena *arena, const Term **parts, uint32_t count)
{
    const Term *rests[MOST_PARTS];
    int64_t top[MOST_PARTS], bottom[MOST_PARTS], more, below;
    uint32_t kept = 0, left = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Term *rest = take_number(arena, parts[i], &more, &below);
        if (!rest) return 0;
        uint32_t at = 0;
        while (at < kept && !tr_term_same(rests[at], rest)) at++;
        if (at == kept) {
            rests[kept] = rest, top[kept] = more, bottom[kept] = below, parts[kept++] = parts[i];
            continue;
        }
        if (!add_numbers(&top[at], &bottom[at], more, below)) return 0;
        parts[at] = with_number(arena, top[at], bottom[at], rest);
    }
    for (uint32_t i = 0; i < kept; i++)
        if (!tr_term_is_number(parts[i], 0) || (i + 1 == kept && !left)) parts[left++] = parts[i];
    return left;
}

static const Term *plain_sum(Plain *p, const Term *a, const Term *b, bool is_minus)
{
    Arena *arena = &p->closed->arena;
    const Term *parts[MOST_PARTS];
    uint32_t count = 0;
    if (!add_parts(a, TERM_SUM, parts, &count)) return NULL;
    const uint32_t first = count;
    if (!add_parts(b, TERM_SUM, parts, &count)) return NULL;
    for (uint32_t i = first; is_minus && i < count; i++) parts[i] = minus(arena, parts[i]);
    count = join_alike(arena, parts, count);
    return count ? tr_term_sum(arena, parts, count) : NULL;
}

// (top / bottom) (more / less), in lowest terms; false where that is too large or less is 0
static bool multiply(int64_t *top, int64_t *bottom, int64_t more, int64_t less)
{
    if (!less) return false;
    if (less < 0) more = -more, less = -less;
    const int64_t a = common_divisor(*top, less), b = common_divisor(more, *bottom);
    return !__builtin_mul_overflow(*top / a, more / b, top) &&
           !__builtin_mul_overflow(*bottom / b, less / a, bottom);
}

// Powers of the same are one.
static uint32_t join_powers(Arena *arena, const Term **parts, uint32_t count)
{
    const Term *bases[MOST_PARTS];
    int powers[MOST_PARTS];
    uint32_t kept = 0, left = 0;
    for (uint32_t i = 0; i < count; i++) {
        const bool is_power = parts[i]->kind == TERM_POWER;
        const Term *base = is_power ? parts[i]->parts[0] : parts[i];
        const int power = is_power ? parts[i]->power : 1;
        uint32_t at = 0;
        while (at < kept && (parts[i]->kind == TERM_NUMBER || !tr_term_same(bases[at], base))) at++;
        if (at == kept) bases[kept] = base, powers[kept++] = 0;
        powers[at] += power;
    }
    for (uint32_t i = 0; i < kept; i++)
        if (powers[i]) parts[left++] = tr_term_power(arena, bases[i], powers[i]);
    return left;
}

// Numbers are one, in front.
static const Term *plain_product(Plain *p, const Term *a, const Term *b, int power)
{
    Arena *arena = &p->closed->arena;
    const Term *parts[MOST_PARTS];
    uint32_t count = 0;
    int64_t top, bottom, more, less;
    a = take_number(arena, a, &top, &bottom), b = take_number(arena, b, &more, &less);
    if (!a || !b || top == 0 ||
        !multiply(&top, &bottom, power < 0 ? less : more, power < 0 ? more : less))
        return a && b && top == 0 ? tr_term_number(arena, 0, 1) : NULL;
    if (top != 1 || bottom != 1) parts[count++] = tr_term_number(arena, top, bottom);
    if (!tr_term_is_number(a, 1) && !add_parts(a, TERM_PRODUCT, parts, &count)) return NULL;
    const Term *rest = power == 1 ? b : tr_term_power(arena, b, power);
    if (!tr_term_is_number(b, 1) && !add_parts(rest, TERM_PRODUCT, parts, &count)) return NULL;
    return tr_term_product(arena, parts, join_powers(arena, parts, count));
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

static const Term *plain_operation(Plain *p, Expr x)
{
    const Node *node = node_of(x);
    const Term *of[3] = {0};
    const uint32_t operands = (uint32_t)tr_op[node->op].operands;
    for (uint32_t i = 0; i < operands; i++) of[i] = plain(p, operand(x, (int)i));
    switch ((Op)node->op) {
    case OP_ADD: return plain_sum(p, of[0], of[1], false);
    case OP_SUB: return plain_sum(p, of[0], of[1], true);
    case OP_MUL: return plain_product(p, of[0], of[1], 1);
    case OP_DIV: return plain_product(p, of[0], of[1], -1);
    case OP_NEG: return minus(&p->closed->arena, of[0]);
    case OP_POW: return plain_power(p, x, of[0]);
    default: return plain_call(p, x, (Op)node->op, of, operands);
    }
}

static const Term *plain(Plain *p, Expr x)
{
    const Op op = op_of(x);
    struct Found *known = &p->found[x.id];
    const uint32_t left = p->left;
    if (!left || op >= OP_COUNT || known->nodes > left) return NULL;
    if (known->nodes) return p->left -= known->nodes, known->term;
    p->left--;
    if (op == OP_SYMBOL) return tr_term_symbol(&p->closed->arena, x);
    if (op == OP_NUMBER) return tr_closed_number(p->closed, value_of(x));
    const Term *form = p->mends ? tr_arrange(p->closed, p->closed->by_node[x.id]) : NULL;
    const Term *own = plain_operation(p, x);
    const Term *best = !own || (form && form->cost <= own->cost) ? form : own;
    if (p->left) *known = (struct Found){best, left - p->left};
    return best;
}

const Term *tr_plain(Closed *closed, Expr x, uint32_t nodes, bool mends)
{
    Plain p = {.closed = closed, .left = nodes, .mends = mends};
    p.found = calloc(x.id + 1u, sizeof *p.found);
    const Term *term = p.found ? plain(&p, x) : NULL;
    free(p.found);
    return term;
}
