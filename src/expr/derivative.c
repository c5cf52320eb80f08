// SPDX-License-Identifier: Apache-2.0
// Both ways use one row of op.def per operation, which is linear in the change d:
//   forward   y' = sum_k dy/dx_k x_k'            from operands to results, in order of id
//   reverse   xbar_k += dy/dx_k ybar             from results to operands, backwards
#include "expr/derivative.h"

#include "expr/block.h"

#include <assert.h>
#include <stdlib.h>

// ---- one operation -------------------------------------------------------------------------

// sqrt(1 - a^2), without cancellation near |a| = 1
static Expr cofactor(Expr a)
{
    const Expr unit = one(graph_of(a));
    return e_sqrt(mul(sub(unit, a), add(unit, a)));
}

static Expr norm2(Expr a, Expr b) { return add(square(a), square(b)); }

// The table of y, differentiated once more along an axis.
static Expr table_slope(Expr y, int axis)
{
    const Node node = *node_of(y);
    if (table_is_question(node.n)) return zero(graph_of(y)); // what pieces there are stays the same
    const int order = node.n + (axis == 0 ? table_order(1, 0) : table_order(0, 1));
    const Expr a = operand(y, 0);
    return tr_build_table(node.c, a, node.op == OP_TABLE2 ? operand(y, 1) : a, order);
}

// What a change d of operand `which` does to y; backwards, what an adjoint d of y gives to it.
static Expr partial(Expr y, int which, Expr d)
{
    Graph *g = graph_of(y);
    const Node node = *node_of(y);
    const int n = node.n, operands = tr_op[node.op].operands;
    const Expr a = expr_at(g, node.a), b = operands > 1 ? expr_at(g, node.b) : a;
    const Expr NONE = zero(g);
    assert(!is_block_node(&node)); // derivatives are built above blocks
    switch ((Op)node.op) {
#define OP(ID, name, count, form, rule, value, da, db, dc) \
    case OP_##ID:                                          \
        return which == 0 ? da : which == 1 ? db : dc;
#include "expr/op.def"
#undef OP
    default: return NONE;
    }
    (void)n;
}

// ---- forward -------------------------------------------------------------------------------

static bool is_nothing(Graph *graph, uint32_t id) { return !id || is_zero(expr_at(graph, id)); }

// y' = sum_k dy/dx_k x_k'; `change` holds the operands' changes, 0 where there is none.
static uint32_t change_of(Graph *graph, uint32_t id, const uint32_t *change)
{
    const Node node = graph->nodes[id];
    const Expr y = expr_at(graph, id);
    uint32_t sum = 0;
    for (int which = 0; which < tr_op[node.op].operands; which++) {
        const uint32_t d = change[node_operand(&node, which)];
        if (is_nothing(graph, d)) continue;
        const Expr term = partial(y, which, expr_at(graph, d));
        sum = sum ? add(expr_at(graph, sum), term).id : term.id;
    }
    return is_nothing(graph, sum) ? 0 : sum;
}

// Which nodes a sweep needs: what the expressions are made of, up to those whose change is known.
static uint8_t *find_needed(const Graph *graph, const Reach *reach, const Expr *of, size_t count,
                            const Expr *symbols, size_t symbol_count)
{
    enum { NEEDED = 1, GIVEN = 2 };
    uint8_t *marks = calloc(reach->end + 1u, sizeof *marks);
    if (!marks) return NULL;
    for (size_t i = 0; i < symbol_count; i++)
        if (symbols[i].id < reach->end) marks[symbols[i].id] = GIVEN;
    for (size_t i = 0; i < count; i++) marks[of[i].id] |= NEEDED;
    for (uint32_t k = reach->count; k-- > 0;) {
        const Node *node = &graph->nodes[reach->ids[k]];
        if (marks[reach->ids[k]] != NEEDED) continue;
        for (int which = 0; which < tr_op[node->op].operands; which++)
            marks[node_operand(node, which)] |= NEEDED;
    }
    for (uint32_t id = 0; id < reach->end; id++) marks[id] = marks[id] == NEEDED;
    return marks;
}

// One forward sweep; `change` must be zero on entry and is left filled. All nodes are needed where
// nothing is said.
static void sweep(Graph *graph, const Reach *reach, const Expr *symbols, const Expr *changes,
                  size_t symbol_count, const uint8_t *needed, uint32_t *change)
{
    for (size_t i = 0; i < symbol_count; i++) {
        if (symbols[i].id >= reach->end || is_zero(changes[i])) continue;
        uint32_t *at = &change[symbols[i].id]; // a symbol that stands twice changes by both
        *at = *at ? add(expr_at(graph, *at), changes[i]).id : changes[i].id;
    }
    for (uint32_t k = 0; k < reach->count; k++) {
        const uint32_t id = reach->ids[k];
        if (!change[id] && (!needed || needed[id]) && tr_op[graph->nodes[id].op].operands)
            change[id] = change_of(graph, id, change);
    }
}

// The change found for `of`; a failed expression stays failed.
static Expr change_or_zero(Graph *graph, Expr of, uint32_t id)
{
    return id || !of.id ? expr_at(graph, id) : zero(graph);
}

static bool has_failed_one(const Expr *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!x[i].id) return true;
    return false;
}

void tr_forward(Graph *graph, const Expr *of, size_t count, const Expr *symbols,
                const Expr *changes, size_t symbol_count, Expr *out)
{
    Reach reach;
    uint32_t *change = tr_reach(graph, of, count, &reach) ? tr_reach_map(graph, &reach) : NULL;
    uint8_t *needed = change ? find_needed(graph, &reach, of, count, symbols, symbol_count) : NULL;
    if (!needed) graph->failed = true;
    const bool ready = needed && !has_failed_one(changes, symbol_count);
    if (ready) sweep(graph, &reach, symbols, changes, symbol_count, needed, change);
    for (size_t i = 0; i < count; i++)
        out[i] = ready ? change_or_zero(graph, of[i], change[of[i].id]) : expr_at(graph, 0);
    tr_reach_free(&reach);
    free(change);
    free(needed);
}

// Of what does not change, zero is kept: that is known.
Expr tr_forward_kept(Graph *graph, Expr of, Kept *kept)
{
    Reach reach = {0};
    const bool good = tr_kept_room(graph, kept) && tr_reach_beyond(graph, of, kept, &reach);
    for (uint32_t k = 0; good && k < reach.count; k++) {
        const uint32_t id = reach.ids[k], change = change_of(graph, id, kept->of);
        kept->of[id] = change || !id ? change : zero(graph).id;
    }
    tr_reach_free(&reach);
    return expr_at(graph, good ? kept->of[of.id] : 0);
}

// ---- reverse -------------------------------------------------------------------------------

// Marks the nodes that depend on the symbols, so that adjoints go nowhere else.
static void mark_dependent(const Graph *graph, const Reach *reach, const Expr *symbols,
                           size_t symbol_count, uint32_t *depends)
{
    for (size_t i = 0; i < symbol_count; i++)
        if (symbols[i].id < reach->end) depends[symbols[i].id] = 1;
    for (uint32_t k = 0; k < reach->count; k++) {
        const Node *node = &graph->nodes[reach->ids[k]];
        for (int which = 0; which < tr_op[node->op].operands; which++)
            depends[reach->ids[k]] |= depends[node_operand(node, which)];
    }
}

// xbar_k += dy/dx_k ybar for the operands x_k of y
static void pull_back(Graph *graph, uint32_t id, const uint32_t *depends, uint32_t *adjoint)
{
    const Node node = graph->nodes[id];
    for (int which = 0; which < tr_op[node.op].operands; which++) {
        const uint32_t x = node_operand(&node, which);
        if (!depends[x]) continue;
        const Expr term = partial(expr_at(graph, id), which, expr_at(graph, adjoint[id]));
        adjoint[x] = adjoint[x] ? add(expr_at(graph, adjoint[x]), term).id : term.id;
    }
}

void tr_reverse(Graph *graph, Expr of, const Expr *symbols, size_t symbol_count, Expr *out)
{
    Reach reach;
    const bool reached = tr_reach(graph, &of, 1, &reach);
    uint32_t *depends = reached ? tr_reach_map(graph, &reach) : NULL;
    uint32_t *adjoint = reached ? tr_reach_map(graph, &reach) : NULL;
    const bool ready = depends && adjoint;
    if (ready) {
        mark_dependent(graph, &reach, symbols, symbol_count, depends);
        adjoint[of.id] = one(graph).id;
        for (uint32_t k = reach.count; k-- > 0;)
            if (!is_nothing(graph, adjoint[reach.ids[k]]))
                pull_back(graph, reach.ids[k], depends, adjoint);
    }
    for (size_t i = 0; i < symbol_count; i++) {
        const bool occurs = ready && symbols[i].id < reach.end;
        out[i] = ready ? change_or_zero(graph, of, occurs ? adjoint[symbols[i].id] : 0)
                       : expr_at(graph, 0);
    }
    tr_reach_free(&reach);
    free(depends);
    free(adjoint);
}

// ---- Jacobian ------------------------------------------------------------------------------

// Adjoints multiply a branch that is not taken by zero, and 0 * inf poisons the sum; forward sweeps
// choose instead. So expressions with branches that depend on the symbols are differentiated
// forward.
static bool has_branches(Graph *graph, const Reach *reach, const Expr *symbols, size_t count,
                         bool *found)
{
    uint32_t *depends = tr_reach_map(graph, reach);
    *found = false;
    if (!depends) return false;
    mark_dependent(graph, reach, symbols, count, depends);
    for (uint32_t k = 0; k < reach->count; k++) {
        const Op op = (Op)graph->nodes[reach->ids[k]].op;
        if (op == OP_SELECT || op == OP_MIN || op == OP_MAX) *found |= depends[reach->ids[k]];
    }
    free(depends);
    return true;
}

bool tr_dense_jacobian(Graph *graph, const Expr *of, size_t rows, const Expr *symbols,
                       size_t columns, Expr *dense)
{
    Reach reach;
    bool branches;
    if (!tr_reach(graph, of, rows, &reach) ||
        !has_branches(graph, &reach, symbols, columns, &branches)) {
        tr_reach_free(&reach);
        return false;
    }
    if (rows < columns && !branches) {
        for (size_t i = 0; i < rows; i++)
            tr_reverse(graph, of[i], symbols, columns, dense + i * columns);
    } else {
        const Expr unit = one(graph);
        uint32_t *change = tr_reach_map(graph, &reach);
        for (size_t k = 0; change && k < columns; k++) {
            memset(change, 0, (size_t)reach.end * sizeof *change);
            sweep(graph, &reach, &symbols[k], &unit, 1, NULL, change);
            for (size_t i = 0; i < rows; i++)
                dense[i * columns + k] = change_or_zero(graph, of[i], change[of[i].id]);
        }
        free(change);
    }
    tr_reach_free(&reach);
    return !graph->failed;
}

tr_entry *tr_sparse_jacobian(Graph *graph, Arena *arena, const Expr *of, size_t rows,
                             const Expr *symbols, size_t columns, size_t *count)
{
    *count = 0;
    Expr *dense = calloc(rows * columns + 1, sizeof *dense);
    tr_entry *entries = NULL;
    if (dense && tr_dense_jacobian(graph, of, rows, symbols, columns, dense)) {
        for (size_t i = 0; i < rows * columns; i++) *count += !is_zero(dense[i]);
        entries = tr_arena_alloc(arena, *count + 1, sizeof *entries);
    }
    if (entries) {
        tr_entry *at = entries;
        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k < columns; k++)
                if (!is_zero(dense[i * columns + k]))
                    *at++ = (tr_entry){(uint32_t)i, (uint32_t)k, dense[i * columns + k]};
    } else {
        graph->failed = true;
        *count = 0;
    }
    free(dense);
    return entries;
}
