// SPDX-License-Identifier: Apache-2.0
// Blocks: operations of the graph that take a list of expressions and give several. A list is a
// node for each of its expressions, which has the rest of the list for its first operand; what a
// block gives is picked by number. So blocks are nodes like others to all who walk the graph. Only
// programs know their values, and nobody differentiates them: derivatives are built above them.
#ifndef TR_EXPR_BLOCK_H
#define TR_EXPR_BLOCK_H

#include "expr/graph.h"
#include "expr/list.h"

// The number of a lineage in a graph, which keeps it; that of an equal one where there is one.
uint32_t tr_graph_lineage(Graph *graph, const uint32_t *parent, uint32_t size);

// The factors of M, whose entries the lineage orders; as many as it has.                  (T142)
void tr_block_factor(Graph *graph, uint32_t lineage, const Expr *M, Expr *factors);
// The solutions for right sides, by rows of `columns`.                                  (T143)
void tr_block_solve(Graph *graph, uint32_t lineage, const Expr *factors, const Expr *b,
                    uint32_t columns, Expr *x);

// Equations M x = b of a lineage that are solved with some right sides now and others later: as
// blocks where there are so many operations that machine code would not fit into the cache, and
// else one operation after the other, which uses that entries are zero (bench line "slopes").
typedef struct Factored {
    Graph *graph;
    uint32_t lineage;
    Expr *factors;
    bool is_block;
} Factored;

// Makes factors of the entries, in place; `columns` is how many right sides are expected.
Factored tr_factored(Graph *graph, uint32_t lineage, Expr *M, uint32_t columns);
// Right sides become solutions, by rows of `columns`.
void tr_factored_solve(const Factored *f, Expr *b, uint32_t columns);

// How many operations a node takes: 1, but for blocks and their parts
size_t tr_node_operations(const Graph *graph, const Node *node);

// Of a node of the graph, for who rebuilds one with other operands
Expr tr_build_block(Node node, Expr a, Expr b);

static inline bool is_block_node(const Node *node) { return node->op >= OP_COUNT; }
// How many expressions a block takes
static inline uint32_t block_length(const Graph *graph, const Node *block)
{
    return graph->nodes[block->a].c;
}

#endif
