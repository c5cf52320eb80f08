// SPDX-License-Identifier: Apache-2.0
// Nodes are found by a hash of their 16 bytes; a new one goes to the end of the array.
#include "expr/graph.h"

#include <assert.h>
#include <stdlib.h>

static_assert(sizeof(Node) == 16, "a node is 16 bytes");

// ---- hash-consing --------------------------------------------------------------------------

// The 16 bytes but for the stage, which follows from them.
typedef struct Key {
    uint64_t low, high;
} Key;

static inline Key key_of(const Node *node)
{
    static const Node all_stages = {.stage = UINT8_MAX};
    Key key;
    uint64_t stage;
    memcpy(&stage, &all_stages, 8);
    memcpy(&key, node, sizeof key);
    key.low &= ~stage;
    return key;
}

static inline uint32_t node_hash(const Node *node)
{
    const Key key = key_of(node);
    uint64_t h = key.high * 0x9e3779b97f4a7c15u;
    h ^= h >> 32; // a whole number as a double has its digits on top alone
    h = (h ^ key.low) * 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32);
}

static inline bool node_equal(const void *owner, uint32_t index, const void *key)
{
    const Key a = key_of(&((const Graph *)owner)->nodes[index]), b = key_of(key);
    return a.low == b.low && a.high == b.high;
}

static uint32_t fail(Graph *graph)
{
    graph->failed = true;
    return 0;
}

uint32_t tr_graph_find(const Graph *graph, Node node)
{
    const uint32_t slot = hash_slot(&graph->hash, node_hash(&node), node_equal, graph, &node);
    const uint32_t found = graph->hash.slots[slot].index;
    return found ? found - 1 : 0;
}

uint32_t tr_graph_intern(Graph *graph, Node node)
{
    if (graph->failed) return 0;
    if (!hash_reserve(&graph->hash, 1)) return fail(graph);
    const uint32_t code = node_hash(&node);
    const uint32_t slot = hash_slot(&graph->hash, code, node_equal, graph, &node);
    if (graph->hash.slots[slot].index) return graph->hash.slots[slot].index - 1;

    const uint32_t id = graph->count;
    const int operands = tr_op[node.op].operands;
    assert((operands < 1 || node.a < id) && (operands < 2 || node.b < id) &&
           (operands < 3 || node.c < id)); // ids are topological
    graph->too_large = id >= GRAPH_MAX_NODES;
    if (graph->too_large ||
        !tr_grow((void **)&graph->nodes, &graph->capacity, id + 1, sizeof *graph->nodes))
        return fail(graph);
    graph->nodes[id] = node;
    for (int i = 0; i < operands; i++) { // a number's stage is the first, a symbol's is given
        const uint8_t stage = graph->nodes[node_operand(&node, i)].stage;
        if (stage > graph->nodes[id].stage) graph->nodes[id].stage = stage;
    }
    graph->count++;
    hash_insert(&graph->hash, slot, id, code);
    return id;
}

// ---- leaves --------------------------------------------------------------------------------

Expr tr_number_node(Graph *graph, double value)
{
    if (value == 0) value = 0; // -0 and 0 are one node
    Node node = {.op = OP_NUMBER};
    memcpy(&node.b, &value, sizeof value);
    return expr_at(graph, tr_graph_intern(graph, node));
}

Expr tr_symbol_new(Graph *graph, const char *name, ValueStage stage)
{
    if (graph->failed) return expr_at(graph, 0);
    const char *kept = tr_arena_text(&graph->arena, name, strlen(name));
    if (!kept || !tr_grow((void **)&graph->symbols, &graph->symbol_capacity,
                          graph->symbol_count + 1, sizeof *graph->symbols))
        return expr_at(graph, fail(graph));
    graph->symbols[graph->symbol_count] = kept;
    const Node node = {.op = OP_SYMBOL, .stage = (uint8_t)stage, .a = graph->symbol_count++};
    return expr_at(graph, tr_graph_intern(graph, node));
}

uint32_t tr_table_add(Graph *graph, const Table *table)
{
    if (graph->failed || !tr_grow((void **)&graph->tables, &graph->table_capacity,
                                  graph->table_count + 1, sizeof *graph->tables)) {
        tr_table_free(table);
        return fail(graph);
    }
    graph->tables[graph->table_count] = table;
    return graph->table_count++;
}

// ---- life ----------------------------------------------------------------------------------

Graph *tr_graph_new(void)
{
    Graph *graph = calloc(1, sizeof *graph);
    if (!graph) return NULL;
    tr_graph_intern(graph, (Node){.op = OP_FAILED}); // id 0
    if (graph->failed) {
        tr_graph_free(graph);
        return NULL;
    }
    return graph;
}

static void *copy_bytes(const void *from, size_t bytes)
{
    void *to = calloc(bytes + 1, 1);
    if (to && bytes) memcpy(to, from, bytes);
    return to;
}

// All but the nodes
static Graph *copy_leaves(const Graph *from)
{
    Graph *to = from->failed ? NULL : calloc(1, sizeof *to);
    if (!to) return NULL;
    *to = *from;
    to->arena = (Arena){0};
    to->nodes = NULL, to->count = to->capacity = 0;
    to->hash = (Hash){0};
    to->symbol_capacity = from->symbol_count, to->table_capacity = from->table_count;
    to->lineage_capacity = from->lineage_count;
    to->symbols = copy_bytes(from->symbols, from->symbol_count * sizeof *to->symbols);
    to->tables = copy_bytes(from->tables, from->table_count * sizeof *to->tables);
    to->lineages = copy_bytes(from->lineages, from->lineage_count * sizeof *to->lineages);
    if (!to->tables) to->table_count = 0;
    for (uint32_t i = 0; i < to->table_count; i++) tr_table_share(to->tables[i]);
    if (to->symbols && to->tables && to->lineages) return to;
    tr_graph_free(to);
    return NULL;
}

Graph *tr_graph_copy(const Graph *from)
{
    Graph *to = copy_leaves(from);
    if (!to) return NULL;
    to->count = to->capacity = from->count;
    to->nodes = copy_bytes(from->nodes, from->count * sizeof *to->nodes);
    to->hash = from->hash;
    to->hash.slots =
        copy_bytes(from->hash.slots, ((size_t)from->hash.mask + 1) * sizeof *to->hash.slots);
    if (to->nodes && to->hash.slots) return to;
    tr_graph_free(to);
    return NULL;
}

Graph *tr_graph_like(const Graph *from, uint32_t room)
{
    Graph *to = copy_leaves(from);
    if (!to) return NULL;
    if (!tr_grow((void **)&to->nodes, &to->capacity, room + 1, sizeof *to->nodes) ||
        !hash_reserve(&to->hash, room + 1))
        fail(to);
    tr_graph_intern(to, (Node){.op = OP_FAILED}); // id 0
    if (!to->failed) return to;
    tr_graph_free(to);
    return NULL;
}

void tr_graph_free(Graph *graph)
{
    if (!graph) return;
    free(graph->nodes);
    free(graph->symbols);
    for (uint32_t i = 0; i < graph->table_count; i++) tr_table_free(graph->tables[i]);
    free(graph->tables);
    free(graph->lineages);
    tr_hash_free(&graph->hash);
    tr_arena_free(&graph->arena);
    free(graph);
}

size_t tr_graph_bytes(const Graph *graph)
{
    return sizeof *graph + graph->capacity * sizeof *graph->nodes +
           ((size_t)graph->hash.mask + 1) * sizeof *graph->hash.slots +
           graph->symbol_capacity * sizeof *graph->symbols + graph->arena.bytes;
}

void tr_graph_refuse(const Graph *graph, tr_error *err)
{
    if (graph->too_large)
        tr_fail(err, TR_FAILED, (Place){0},
                "the equations have more than %d expressions, and grow beyond that in %s: the "
                "model is too large to be derived",
                GRAPH_MAX_NODES, graph->making ? graph->making : "the formulas");
    else
        tr_fail_memory(err);
}

double tr_node_value(const Graph *g, const Node *node, const double *value)
{
    const int operands = tr_op[node->op].operands;
    if (node->op == OP_NUMBER) return node_value(node);
    return tr_op_value((Op)node->op, operands > 0 ? value[node->a] : 0,
                       operands > 1 ? value[node->b] : 0, operands > 2 ? value[node->c] : 0,
                       node->n, tr_op[node->op].form == FORM_TABLE ? g->tables[node->c] : NULL);
}
