// SPDX-License-Identifier: Apache-2.0
#include "expr/block.h"

#include <assert.h>

uint32_t tr_graph_lineage(Graph *g, const uint32_t *parent, uint32_t size)
{
    for (uint32_t i = 0; i < g->lineage_count; i++)
        if (tr_lineage_is(g->lineages[i], parent, size)) return i;
    const Lineage *lineage = tr_lineage_new(&g->arena, parent, size);
    if (!lineage || !tr_grow((void **)&g->lineages, &g->lineage_capacity, g->lineage_count + 1,
                             sizeof *g->lineages)) {
        g->failed = true;
        return 0;
    }
    g->lineages[g->lineage_count] = lineage;
    return g->lineage_count++;
}

// ---- building ------------------------------------------------------------------------------

// A list with one more at its end; that of one has it for both operands.
static uint32_t add_to_list(Graph *g, uint32_t list, Expr next)
{
    const uint32_t length = list ? g->nodes[list].c : 0;
    if (g->failed || !next.id) return 0;
    return tr_graph_intern(
        g, (Node){.op = OP_LIST, .a = list ? list : next.id, .b = next.id, .c = length + 1});
}

// The results of a block are picked one by one.
static void pick(Graph *g, Op op, uint32_t list, uint32_t lineage, uint32_t count, Expr *results)
{
    const uint32_t block =
        list ? tr_graph_intern(g, (Node){.op = (uint8_t)op, .a = list, .c = lineage}) : 0;
    for (uint32_t i = 0; i < count; i++)
        results[i] =
            expr_at(g, block ? tr_graph_intern(g, (Node){.op = OP_PART, .a = block, .c = i}) : 0);
}

void tr_block_factor(Graph *g, uint32_t lineage, const Expr *M, Expr *factors)
{
    const uint32_t entries = g->failed ? 0 : lineage_entries(g->lineages[lineage]);
    uint32_t list = 0;
    for (uint32_t i = 0; i < entries; i++) list = add_to_list(g, list, M[i]);
    pick(g, OP_FACTOR, list, lineage, entries, factors);
}

void tr_block_solve(Graph *g, uint32_t lineage, const Expr *factors, const Expr *b,
                    uint32_t columns, Expr *x)
{
    const uint32_t entries = g->failed ? 0 : lineage_entries(g->lineages[lineage]),
                   numbers = g->failed ? 0 : g->lineages[lineage]->size * columns;
    uint32_t list = 0;
    for (uint32_t i = 0; i < entries; i++) list = add_to_list(g, list, factors[i]);
    for (uint32_t i = 0; i < numbers; i++) list = add_to_list(g, list, b[i]);
    pick(g, OP_SOLVE, list, lineage, numbers, x);
}

Expr tr_build_block(Node node, Expr a, Expr b)
{
    Graph *g = graph_of(a);
    if (g->failed || !a.id || !b.id) return expr_at(g, 0);
    node.stage = STAGE_CONSTANT; // the graph finds it
    node.a = a.id, node.b = node.op == OP_LIST ? b.id : 0;
    return expr_at(g, tr_graph_intern(g, node));
}

// ---- one by one, or as blocks --------------------------------------------------------------

enum { LARGEST_UNROLLED = 20000 }; // operations

static void factor_one_by_one(const Lineage *l, Expr *M)
{
    for (uint32_t i = l->size; i-- > 0;) {
        Expr *row = M + l->start[i], *at = row;
        for (uint32_t j = l->parent[i]; j != LINEAGE_TOP; j = l->parent[j]) {
            const Expr f = quotient(*++at, *row);
            Expr *to = M + l->start[j];
            for (uint32_t k = 0; k < l->start[j + 1] - l->start[j]; k++)
                to[k] = sub(to[k], mul(f, at[k]));
            *at = f;
        }
    }
}

static void solve_one_by_one(const Lineage *l, const Expr *L, Expr *x, uint32_t columns)
{
    const size_t n = columns;
    for (size_t c = 0; c < n; c++) {
        for (uint32_t i = l->size; i-- > 0;) {
            const Expr *at = L + l->start[i];
            for (uint32_t j = l->parent[i]; j != LINEAGE_TOP; j = l->parent[j])
                x[j * n + c] = sub(x[j * n + c], mul(*++at, x[i * n + c]));
        }
        for (uint32_t i = 0; i < l->size; i++) {
            const Expr *at = L + l->start[i];
            x[i * n + c] = quotient(x[i * n + c], *at);
            for (uint32_t j = l->parent[i]; j != LINEAGE_TOP; j = l->parent[j])
                x[i * n + c] = sub(x[i * n + c], mul(*++at, x[j * n + c]));
        }
    }
}

Factored tr_factored(Graph *g, uint32_t lineage, Expr *M, uint32_t columns)
{
    Factored f = {.graph = g, .lineage = lineage, .factors = M};
    if (g->failed) return f;
    const Lineage *l = g->lineages[lineage];
    f.is_block = tr_lineage_factor_operations(l) + tr_lineage_solve_operations(l, columns) >
                 LARGEST_UNROLLED;
    if (f.is_block)
        tr_block_factor(g, lineage, M, M);
    else
        factor_one_by_one(l, M);
    return f;
}

void tr_factored_solve(const Factored *f, Expr *b, uint32_t columns)
{
    if (f->graph->failed || !columns) return;
    if (f->is_block)
        tr_block_solve(f->graph, f->lineage, f->factors, b, columns, b);
    else
        solve_one_by_one(f->graph->lineages[f->lineage], f->factors, b, columns);
}

// ---- counting ------------------------------------------------------------------------------

size_t tr_node_operations(const Graph *g, const Node *node)
{
    switch (node->op) {
    case OP_LIST:
    case OP_PART: return 0;
    case OP_FACTOR: return tr_lineage_factor_operations(g->lineages[node->c]);
    case OP_SOLVE: {
        const Lineage *lineage = g->lineages[node->c];
        const uint32_t numbers = block_length(g, node) - lineage_entries(lineage);
        assert(numbers % lineage->size == 0); // right sides are whole
        return tr_lineage_solve_operations(lineage, numbers / lineage->size);
    }
    default: return tr_op[node->op].operands > 0;
    }
}
