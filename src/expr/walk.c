// SPDX-License-Identifier: Apache-2.0
// A reach is found by marking nodes, breadth first; a mark is a number that counts up, so marks are
// never cleared.
#include "expr/walk.h"

#include <stdlib.h>

// A mark that no earlier reach has used, and room for it at every node.
static bool new_mark(Graph *graph)
{
    const uint32_t before = graph->mark_capacity;
    if (!tr_grow((void **)&graph->marks, &graph->mark_capacity, graph->count, sizeof *graph->marks))
        return false;
    if (graph->mark_capacity > before)
        memset(graph->marks + before, 0, (graph->mark_capacity - before) * sizeof *graph->marks);
    if (++graph->mark == 0) { // all marks are used up
        memset(graph->marks, 0, graph->mark_capacity * sizeof *graph->marks);
        graph->mark = 1;
    }
    return true;
}

static bool reach_node(Graph *graph, Reach *reach, uint32_t *capacity, uint32_t id)
{
    if (graph->marks[id] == graph->mark) return true;
    graph->marks[id] = graph->mark;
    if (!tr_grow((void **)&reach->ids, capacity, reach->count + 1, sizeof *reach->ids))
        return false;
    reach->ids[reach->count++] = id;
    if (id >= reach->end) reach->end = id + 1;
    return true;
}

static int by_id(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Few nodes of a large graph are sorted; many are found again in order by their marks.
static void sort_reach(const Graph *graph, Reach *reach)
{
    if (reach->count < reach->end / 16) {
        qsort(reach->ids, reach->count, sizeof *reach->ids, by_id);
        return;
    }
    reach->count = 0;
    for (uint32_t id = 0; id < reach->end; id++)
        if (graph->marks[id] == graph->mark) reach->ids[reach->count++] = id;
}

bool tr_reach(Graph *graph, const Expr *of, size_t count, Reach *reach)
{
    *reach = (Reach){0};
    uint32_t capacity = 0;
    bool good = !graph->failed && new_mark(graph) &&
                tr_grow((void **)&reach->ids, &capacity, 1, sizeof *reach->ids);
    for (size_t i = 0; good && i < count; i++) good = reach_node(graph, reach, &capacity, of[i].id);
    for (uint32_t k = 0; good && k < reach->count; k++) {
        const Node *node = &graph->nodes[reach->ids[k]];
        for (int i = 0; good && i < tr_op[node->op].operands; i++)
            good = reach_node(graph, reach, &capacity, node_operand(node, i));
    }
    if (good)
        sort_reach(graph, reach);
    else
        graph->failed = true;
    return good;
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

Expr tr_rebuild(Graph *graph, Node node, const uint32_t *map)
{
    const int operands = tr_op[node.op].operands;
    const Expr a = expr_at(graph, map[operands > 0 ? node.a : 0]);
    const Expr b = operands > 1 ? expr_at(graph, map[node.b]) : a;
    const Expr c = operands > 2 ? expr_at(graph, map[node.c]) : a;
    switch ((Op)node.op) {
    case OP_POW: return tr_build_halves(a, node.n);
    case OP_TABLE1:
    case OP_TABLE2: return tr_build_table(node.c, a, b, node.n);
    default: return tr_build((Op)node.op, a, b, c);
    }
}

static bool is_unchanged(const Node *node, const uint32_t *map)
{
    for (int i = 0; i < tr_op[node->op].operands; i++)
        if (map[node_operand(node, i)] != node_operand(node, i)) return false;
    return true;
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
            map[id] = is_unchanged(&node, map) ? id : tr_rebuild(graph, node, map).id;
        }
    }
    for (size_t i = 0; i < count; i++) out[i] = expr_at(graph, good ? map[of[i].id] : 0);
    tr_reach_free(&reach);
    free(map);
}
