// SPDX-License-Identifier: Apache-2.0
// A reach is found by marking nodes, breadth first. Marks belong to the walk, so that any number of
// threads may walk one graph.
#include "expr/walk.h"

#include "expr/block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Walk {
    const Graph *graph;
    Reach *reach;
    uint32_t capacity; // of its ids
    uint64_t *marks;   // a bit for each node
    const Kept *kept;  // where it does not go on; or NULL
} Walk;

static bool reach_node(Walk *w, uint32_t id)
{
    Reach *reach = w->reach;
    const uint64_t bit = UINT64_C(1) << id % 64;
    if ((w->marks[id / 64] & bit) || (w->kept && w->kept->of[id])) return true;
    w->marks[id / 64] |= bit;
    if (!tr_grow((void **)&reach->ids, &w->capacity, reach->count + 1, sizeof *reach->ids))
        return false;
    reach->ids[reach->count++] = id;
    return true;
}

static bool walk(Walk *w, const Expr *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!reach_node(w, of[i].id)) return false;
    for (uint32_t k = 0; k < w->reach->count; k++) {
        const Node *node = &w->graph->nodes[w->reach->ids[k]];
        for (int i = 0; i < tr_op[node->op].operands; i++)
            if (!reach_node(w, node_operand(node, i))) return false;
    }
    return true;
}

static int by_id(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Few nodes of a large graph are sorted; many are found again in order by their marks.
static void sort_reach(const Walk *w)
{
    Reach *reach = w->reach;
    if (reach->count < reach->end / 256) {
        qsort(reach->ids, reach->count, sizeof *reach->ids, by_id);
        return;
    }
    uint32_t count = 0;
    for (uint32_t word = 0; word <= reach->end / 64; word++)
        for (uint64_t bits = w->marks[word]; bits; bits &= bits - 1)
            reach->ids[count++] = 64 * word + (uint32_t)__builtin_ctzll(bits);
    assert(count == reach->count);
}

static bool reach_from(const Graph *graph, const Expr *of, size_t count, const Kept *kept,
                       Reach *reach)
{
    *reach = (Reach){.end = 1};
    if (graph->failed) return false;
    for (size_t i = 0; i < count; i++)
        if (of[i].id >= reach->end) reach->end = of[i].id + 1;
    assert(reach->end <= graph->count); // operands have smaller ids: nothing lies beyond
    Walk w = {.graph = graph, .reach = reach, .kept = kept};
    w.marks = calloc(reach->end / 64 + 1, sizeof *w.marks);
    const bool good = w.marks &&
                      tr_grow((void **)&reach->ids, &w.capacity, 1, sizeof *reach->ids) &&
                      walk(&w, of, count);
    if (good) sort_reach(&w);
    free(w.marks);
    return good;
}

bool tr_reach_in(const Graph *graph, const Expr *of, size_t count, Reach *reach)
{
    return reach_from(graph, of, count, NULL, reach);
}

bool tr_reach(Graph *graph, const Expr *of, size_t count, Reach *reach)
{
    const bool good = tr_reach_in(graph, of, count, reach);
    if (!good) graph->failed = true;
    return good;
}

void tr_reach_free(Reach *reach)
{
    free(reach->ids);
    *reach = (Reach){0};
}

bool tr_reach_has(const Reach *reach, Expr x)
{
    uint32_t from = 0, to = reach->count; // ids are in order
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (reach->ids[middle] < x.id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < reach->count && reach->ids[from] == x.id;
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
    case OP_LIST:
    case OP_FACTOR:
    case OP_SOLVE:
    case OP_PART: return tr_build_block(node, a, b);
    default: return tr_build((Op)node.op, a, b, c);
    }
}

bool tr_is_unchanged(const Node *node, const uint32_t *map)
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
            map[id] = tr_is_unchanged(&node, map) ? id : tr_rebuild(graph, node, map).id;
        }
    }
    for (size_t i = 0; i < count; i++) out[i] = expr_at(graph, good ? map[of[i].id] : 0);
    tr_reach_free(&reach);
    free(map);
}

// ---- what is kept --------------------------------------------------------------------------

bool tr_kept_room(Graph *graph, Kept *kept)
{
    const uint32_t before = kept->capacity;
    if (!tr_grow((void **)&kept->of, &kept->capacity, graph->count + 1, sizeof *kept->of))
        graph->failed = true;
    else if (kept->capacity > before)
        memset(kept->of + before, 0, (kept->capacity - before) * sizeof *kept->of);
    return !graph->failed;
}

void tr_kept_free(Kept *kept)
{
    free(kept->of);
    *kept = (Kept){0};
}

bool tr_reach_beyond(Graph *graph, Expr of, const Kept *kept, Reach *reach)
{
    const bool good = reach_from(graph, &of, 1, kept, reach);
    if (!good) graph->failed = true;
    return good;
}

Expr tr_substitute_kept(Graph *graph, Expr of, Kept *kept)
{
    Reach reach = {0};
    const bool good = tr_kept_room(graph, kept) && tr_reach_beyond(graph, of, kept, &reach);
    for (uint32_t k = 0; good && k < reach.count; k++) {
        const uint32_t id = reach.ids[k];
        const Node node = graph->nodes[id]; // a copy: building may move the nodes
        kept->of[id] = tr_is_unchanged(&node, kept->of) ? id : tr_rebuild(graph, node, kept->of).id;
    }
    tr_reach_free(&reach);
    return expr_at(graph, good ? kept->of[of.id] : 0);
}

// ---- copies --------------------------------------------------------------------------------

static Node with_operands(Node node, const uint32_t *map)
{
    const int operands = tr_op[node.op].operands;
    if (operands > 0) node.a = map[node.a];
    if (operands > 1) node.b = map[node.b];
    if (operands > 2) node.c = map[node.c];
    return node;
}

Graph *tr_reach_copy(Graph *from, const Expr *of, size_t count, Expr *out)
{
    Reach reach;
    uint32_t *map = tr_reach(from, of, count, &reach) ? tr_reach_map(from, &reach) : NULL;
    Graph *to = map ? tr_graph_like(from, reach.count) : NULL;
    for (uint32_t k = 0; to && k < reach.count; k++) {
        const uint32_t id = reach.ids[k];
        map[id] = tr_graph_intern(to, with_operands(from->nodes[id], map));
    }
    for (size_t i = 0; to && i < count; i++) out[i] = expr_at(to, map[of[i].id]);
    if (!to) from->failed = true;
    tr_reach_free(&reach);
    free(map);
    return to;
}
