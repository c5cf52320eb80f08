// SPDX-License-Identifier: Apache-2.0
// Two rational expressions are one function if they agree at a random point of a large finite
// field, but for a chance of about their degree over the size of the field. Here it is that of the
// integers modulo p = 2^62 - 57, at two points, so tiny coefficients count like any others and
// nothing is rounded. (Not 2^61 - 1: there 2^61 = 1, and what rounding left behind was one.)
//
//   sin, cos     points (2 t, 1 - t^2) / (1 + t^2) of the circle, with t drawn for each angle
//   all else     something drawn for each value of the operands; also sqrt, whose sign a square
//                does not tell
//
// What elimination leaves behind is found so: (x/y) z - (z/y) x = 0, c^2 + s^2 = 1
// (bench line "bicycle").
#include "expr/merge.h"

#include "expr/block.h"
#include "expr/walk.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 2 };
static const uint64_t P = ((uint64_t)1 << 62) - 57;
__extension__ typedef unsigned __int128 Wide;

// ---- the field -----------------------------------------------------------------------------

static uint64_t modulo_prime(uint64_t x) { return x >= P ? x - P : x; }
static uint64_t f_add(uint64_t a, uint64_t b) { return modulo_prime(a + b); }
static uint64_t f_neg(uint64_t a) { return a ? P - a : 0; }
static uint64_t f_sub(uint64_t a, uint64_t b) { return f_add(a, f_neg(b)); }
static uint64_t f_mul(uint64_t a, uint64_t b) { return (uint64_t)((Wide)a * b % P); }
static uint64_t f_power(uint64_t a, uint64_t n)
{
    uint64_t y = 1;
    for (; n; n >>= 1, a = f_mul(a, a))
        if (n & 1) y = f_mul(y, a);
    return y;
}
static uint64_t f_inverse(uint64_t a) { return f_power(a, P - 2); }

// m 2^e exactly
static uint64_t f_number(double value)
{
    int e;
    const double m = frexp(fabs(value), &e);
    const uint64_t whole = (uint64_t)ldexp(m, 53); // exact, and less than P
    const uint64_t power = f_power(2, (uint64_t)abs(e - 53));
    const uint64_t x = f_mul(whole, e < 53 ? f_inverse(power) : power);
    return value < 0 ? f_neg(x) : x;
}

// Anything, the same for the same operands
static uint64_t draw(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = seed ^ (a * 0x9e3779b97f4a7c15u) ^ ((b + 0x7f4a7c15u) * 0xbf58476d1ce4e5b9u);
    for (int i = 0; i < 3; i++) x ^= x >> 31, x *= 0x94d049bb133111ebu;
    x ^= x >> 29;
    return x % P;
}

// ---- nodes at a point ----------------------------------------------------------------------

typedef struct Point {
    uint64_t seed;
    uint64_t *value; // by place in the reach
} Point;

// A root is not told from its negative by its square, so it is anything.
static uint64_t f_root(const Point *at, uint64_t a) { return draw(at->seed, a, OP_SQRT); }

// x/0 equals nothing else
static uint64_t f_quotient(const Point *at, uint64_t a, uint64_t b)
{
    return b ? f_mul(a, f_inverse(b)) : draw(at->seed, a, OP_DIV);
}

// sin and cos, or tan, of the same angle lie on one point of the circle; sin(-x) = -sin(x)
static uint64_t f_circle(const Point *at, Op op, uint64_t x)
{
    const bool turned = x > P / 2;
    const uint64_t t = draw(at->seed, turned ? P - x : x, OP_SIN), tt = f_mul(t, t);
    const uint64_t s = turned ? f_neg(f_add(t, t)) : f_add(t, t), c = f_sub(1, tt);
    const uint64_t below = op == OP_TAN ? c : f_add(1, tt);
    return f_quotient(at, op == OP_COS ? c : s, below);
}

static uint64_t f_halves(const Point *at, uint64_t a, int n)
{
    const uint64_t root = n % 2 ? f_root(at, a) : a;
    const uint64_t y = f_power(root, (uint64_t)(abs(n) / (n % 2 ? 1 : 2)));
    return n < 0 ? f_quotient(at, 1, y) : y;
}

static uint64_t f_node(const Point *at, const Node *node, const uint64_t x[3])
{
    switch ((Op)node->op) {
    case OP_ADD: return f_add(x[0], x[1]);
    case OP_SUB: return f_sub(x[0], x[1]);
    case OP_MUL: return f_mul(x[0], x[1]);
    case OP_DIV: return f_quotient(at, x[0], x[1]);
    case OP_NEG: return f_neg(x[0]);
    case OP_POW: return f_halves(at, x[0], node->n);
    case OP_SQRT: return f_root(at, x[0]);
    case OP_SIN:
    case OP_COS:
    case OP_TAN: return f_circle(at, (Op)node->op, x[0]);
    default: {
        const bool payload = tr_op[node->op].form == FORM_TABLE || is_block_node(node);
        uint64_t y = draw(at->seed, node->op, payload ? node->c : 0);
        for (int i = 0; i < tr_op[node->op].operands; i++) y = draw(at->seed + 1, y, x[i]);
        return draw(at->seed, y, (uint64_t)(int64_t)node->n);
    }
    }
}

// ---- all nodes -----------------------------------------------------------------------------

typedef struct Merger {
    Graph *graph;
    Reach reach;
    uint32_t *place; // by id: in the reach
    uint32_t *map;   // by id: the node that stands for it
    uint16_t *depth; // by place: divisions and roots on the way
    Point point[POINTS];
    Hash table;
} Merger;

static void evaluate(Merger *m, Point *at)
{
    for (uint32_t k = 0; k < m->reach.count; k++) {
        const Node *node = &m->graph->nodes[m->reach.ids[k]];
        uint64_t x[3] = {0};
        for (int i = 0; i < tr_op[node->op].operands; i++)
            x[i] = at->value[m->place[node_operand(node, i)]];
        if (node->op == OP_NUMBER)
            at->value[k] = isfinite(node_value(node)) ? f_number(node_value(node))
                                                      : draw(at->seed, node->b, node->c);
        else if (node->op == OP_SYMBOL)
            at->value[k] = draw(at->seed, node->a, OP_SYMBOL);
        else
            at->value[k] = f_node(at, node, x);
    }
}

static void find_depths(Merger *m)
{
    for (uint32_t k = 0; k < m->reach.count; k++) {
        const Node *node = &m->graph->nodes[m->reach.ids[k]];
        uint16_t most = 0;
        for (int i = 0; i < tr_op[node->op].operands; i++) {
            const uint16_t depth = m->depth[m->place[node_operand(node, i)]];
            if (depth > most) most = depth;
        }
        const bool deeper = node->op == OP_DIV || node->op == OP_SQRT ||
                            (node->op == OP_POW && (node->n < 0 || node->n % 2));
        m->depth[k] = (uint16_t)(most + (deeper && most < UINT16_MAX));
    }
}

// Equal up to the sign: that of the first point counts.
static bool is_negative(const Merger *m, uint32_t k) { return m->point[0].value[k] > P / 2; }

static uint64_t unsigned_value(const Merger *m, uint32_t k, int point)
{
    const uint64_t x = m->point[point].value[k];
    return is_negative(m, k) ? f_neg(x) : x;
}

static uint32_t hash_of(const Merger *m, uint32_t k)
{
    uint64_t key[POINTS];
    for (int i = 0; i < POINTS; i++) key[i] = unsigned_value(m, k, i);
    return tr_hash_bytes(key, sizeof key);
}

static bool is_equal(const void *owner, uint32_t k, const void *other)
{
    for (int i = 0; i < POINTS; i++)
        if (unsigned_value(owner, k, i) != unsigned_value(owner, *(const uint32_t *)other, i))
            return false;
    return true;
}

// 0, 1 or -1 at every point
static bool is_plain(const Merger *m, uint32_t k, double *value)
{
    for (int i = 0; i < POINTS; i++)
        if (m->point[i].value[k] != m->point[0].value[k]) return false;
    const uint64_t x = m->point[0].value[k];
    *value = x == 0 ? 0 : x == 1 ? 1 : -1;
    return x <= 1 || x == P - 1;
}

// The node that stands for the k-th: a constant; the first that is equal, unless it divides more,
// for then it may be infinite where this one is not; or itself, made of what stands for its parts.
static uint32_t stand_in(Merger *m, uint32_t k)
{
    const uint32_t id = m->reach.ids[k];
    const Node node = m->graph->nodes[id]; // a copy: building may move the nodes
    const bool is_leaf = node.op == OP_NUMBER || node.op == OP_SYMBOL;
    double value;
    if (!is_leaf && is_plain(m, k, &value)) return number(m->graph, value).id;
    if (!hash_reserve(&m->table, 1)) {
        m->graph->failed = true;
        return 0;
    }
    const uint32_t code = hash_of(m, k), slot = hash_slot(&m->table, code, is_equal, m, &k);
    if (m->table.slots[slot].index) {
        const uint32_t other = m->table.slots[slot].index - 1;
        const Expr one_of = expr_at(m->graph, m->map[m->reach.ids[other]]);
        if (m->depth[other] <= m->depth[k] && !is_leaf)
            return is_negative(m, other) == is_negative(m, k) ? one_of.id : neg(one_of).id;
    } else
        hash_insert(&m->table, slot, k, code);
    return is_leaf ? id : tr_rebuild(m->graph, node, m->map).id;
}

static bool make_room(Merger *m)
{
    const size_t n = (size_t)m->reach.count + 1;
    m->place = tr_reach_map(m->graph, &m->reach);
    m->map = tr_reach_map(m->graph, &m->reach);
    m->depth = calloc(n, sizeof *m->depth);
    bool good = m->place && m->map && m->depth;
    for (int i = 0; i < POINTS; i++) {
        m->point[i].value = calloc(n, sizeof *m->point[i].value);
        good = good && m->point[i].value;
    }
    if (!good) m->graph->failed = true;
    return good;
}

void tr_merge(Graph *graph, const Expr *of, size_t count, Expr *out)
{
    Merger m = {.graph = graph};
    if (tr_reach(graph, of, count, &m.reach) && make_room(&m)) {
        for (uint32_t k = 0; k < m.reach.count; k++) m.place[m.reach.ids[k]] = k;
        for (int i = 0; i < POINTS; i++) {
            m.point[i].seed = 77 + 500 * (uint64_t)i;
            evaluate(&m, &m.point[i]);
        }
        find_depths(&m);
        for (uint32_t k = 0; k < m.reach.count && !graph->failed; k++)
            m.map[m.reach.ids[k]] = stand_in(&m, k);
    }
    for (size_t i = 0; i < count; i++)
        out[i] = expr_at(graph, graph->failed || !m.map ? 0 : m.map[of[i].id]);
    tr_reach_free(&m.reach);
    tr_hash_free(&m.table);
    free(m.place);
    free(m.map);
    free(m.depth);
    for (int i = 0; i < POINTS; i++) free(m.point[i].value);
}
