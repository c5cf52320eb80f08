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
