// SPDX-License-Identifier: Apache-2.0
// Walking the graph: what an expression is made of, and building it anew with parts replaced.
#ifndef TR_EXPR_WALK_H
#define TR_EXPR_WALK_H

#include "expr/graph.h"

// The nodes that expressions are made of, themselves included, in increasing order of id.
typedef struct Reach {
    uint32_t *ids;
    uint32_t count;
    uint32_t end; // one more than the largest id
} Reach;

// False, and the graph failed, when memory runs out; the second leaves the graph as it is. Free
// with tr_reach_free in any case.
bool tr_reach(Graph *graph, const Expr *of, size_t count, Reach *reach);
bool tr_reach_in(const Graph *graph, const Expr *of, size_t count, Reach *reach);
void tr_reach_free(Reach *reach);
bool tr_reach_has(const Reach *reach, Expr x);

// An array indexed by the ids of a reach, zeroed (0 is the failed node's id, so "none"); NULL, and
// the graph failed, when memory runs out.
uint32_t *tr_reach_map(Graph *graph, const Reach *reach);

// A node with the operands that a map by id gives, simplified again.
Expr tr_rebuild(Graph *graph, Node node, const uint32_t *map);
// Whether that would be itself
bool tr_is_unchanged(const Node *node, const uint32_t *map);

// `of` with every from[i] replaced by to[i]; from[i] may be any node. What does not contain a
// replaced node stays the same node. `out` may be `of`.
void tr_substitute(Graph *graph, const Expr *of, size_t count, const Expr *from, const Expr *to,
                   size_t replaced, Expr *out);

// What became of expressions, by id; 0 where that is not known yet. For who does the same to many
// expressions, one after the other, that share most of what they are made of.
typedef struct Kept {
    uint32_t *of;
    uint32_t capacity;
} Kept;

// Room for all nodes that there are; false, and the graph failed, when memory runs out.
bool tr_kept_room(Graph *graph, Kept *kept);
void tr_kept_free(Kept *kept);
// The nodes that an expression is made of as far as nothing is known of them
bool tr_reach_beyond(Graph *graph, Expr of, const Kept *kept, Reach *reach);
// tr_substitute with what is kept for what is replaced
Expr tr_substitute_kept(Graph *graph, Expr of, Kept *kept);

// A graph of its own for what expressions are made of and nothing else, in the same order; `out` is
// them there, and may be `of`. Work on a few of many nodes is quicker in it, and leaves the others
// as they are. Its symbols and tables are those of the original, which must outlive it. NULL, and
// the original failed, when memory runs out.
Graph *tr_reach_copy(Graph *from, const Expr *of, size_t count, Expr *out);

#endif
