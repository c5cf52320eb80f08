// SPDX-License-Identifier: Apache-2.0
#include "expr/walk.h"

#include <stdlib.h>

// Marks what is needed, from the top down: operands have smaller ids, so one pass is enough.
static uint32_t mark(const Graph *graph, unsigned char *needed, uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t id = end; id-- > 0;) {
        if (!needed[id]) continue;
        const Node *node = &graph->nodes[id];
        const int operands = tr_op[node->op].operands;
        if (operands > 0) needed[node->a] = 1;
        if (operands > 1) needed[node->b] = 1;
        if (operands > 2) needed[node->c] = 1;
        count++;
    }
    return count;
}

bool tr_reach(Graph *graph, const Expr *of, size_t count, Reach *reach)
{
    *reach = (Reach){0};
    for (size_t i = 0; i < count; i++)
        if (of[i].id >= reach->end) reach->end = of[i].id + 1;
    unsigned char *needed = calloc((size_t)reach->end + 1, 1);
    if (needed && !graph->failed) {
        for (size_t i = 0; i < count; i++) needed[of[i].id] = 1;
        const uint32_t total = mark(graph, needed, reach->end);
        reach->ids = malloc(((size_t)total + 1) * sizeof *reach->ids);
    }
    if (reach->ids)
        for (uint32_t id = 0; id < reach->end; id++)
            if (needed[id]) reach->ids[reach->count++] = id;
    if (!reach->ids) graph->failed = true;
    free(needed);
    return reach->ids != NULL;
}

void tr_reach_free(Reach *reach)
{
    free(reach->ids);
    *reach = (Reach){0};
}

uint32_t *tr_reach_map(Graph *graph, const Reach *reach)
{
    uint32_t *map = calloc((size_t)reach->end + 1, sizeof *map);
    if (!map) graph->failed = true;
    return map;
}

// The node with other operands, simplified again.
static Expr rebuild(Graph *graph, Node node, const uint32_t *map)
{
    const int operands = tr_op[node.op].operands;
    const Expr a = expr_at(graph, map[operands > 0 ? node.a : 0]);
    const Expr b = operands > 1 ? expr_at(graph, map[node.b]) : a;
    const Expr c = operands > 2 ? expr_at(graph, map[node.c]) : a;
    switch ((Op)node.op) {
    case OP_POW: return tr_build_power(a, node.n);
    case OP_TABLE1:
    case OP_TABLE2: return tr_build_table(node.c, a, b, node.n);
    default: return tr_build((Op)node.op, a, b, c);
    }
}

static bool is_unchanged(const Node *node, const uint32_t *map)
{
    const int operands = tr_op[node->op].operands;
    return (operands < 1 || map[node->a] == node->a) && (operands < 2 || map[node->b] == node->b) &&
           (operands < 3 || map[node->c] == node->c);
}

void tr_substitute(Graph *graph, const Expr *of, size_t count, const Expr *from, const Expr *to,
                   size_t replaced, Expr *out)
{
    Reach reach;
    uint32_t *map = tr_reach(graph, of, count, &reach) ? tr_reach_map(graph, &reach) : NULL;
    bool good = map;
    for (size_t i = 0; i < replaced; i++) good = good && from[i].id && to[i].id;
    if (good) {
        for (size_t i = 0; i < replaced; i++)
            if (from[i].id < reach.end) map[from[i].id] = to[i].id;
        for (uint32_t k = 0; k < reach.count; k++) {
            const uint32_t id = reach.ids[k];
            const Node node = graph->nodes[id]; // a copy: building may move the nodes
            if (map[id]) continue;
            map[id] = is_unchanged(&node, map) ? id : rebuild(graph, node, map).id;
        }
    }
    for (size_t i = 0; i < count; i++) out[i] = expr_at(graph, good ? map[of[i].id] : 0);
    tr_reach_free(&reach);
    free(map);
}
