// SPDX-License-Identifier: Apache-2.0
// The expression graph: append-only, hash-consed nodes.
//
// Equal expressions are one node, and operands always have smaller ids than the nodes that use
// them. So ids are a topological order and every consumer is a `for` loop over ids. Nothing is ever
// removed; a node costs 16 bytes and its place in the hash table.
#ifndef TR_EXPR_GRAPH_H
#define TR_EXPR_GRAPH_H

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "expr/lineage.h"
#include "expr/op.h"

typedef tr_expr Expr;

typedef struct Node {
    uint8_t op, stage; // the stage is the graph's to find, but for symbols
    int16_t n;         // POW: twice the exponent; TABLE1, TABLE2: the derivative order
    uint32_t a, b, c;  // operands. NUMBER: b and c hold the value. SYMBOL: a is its index.
                       // TABLE1, TABLE2: c is the table's index. LIST: its length.
                       // FACTOR, SOLVE: the lineage's index. PART: which
} Node;

typedef tr_graph Graph;
struct tr_graph {
    Node *nodes; // nodes[0] is the failed node
    uint32_t count, capacity;
    Hash hash;
    const char **symbols; // names
    uint32_t symbol_count, symbol_capacity;
    const Table **tables;
    uint32_t table_count, table_capacity;
    const Lineage **lineages; // of blocks
    uint32_t lineage_count, lineage_capacity;
    Arena arena;
    const char *misuse; // the first call that made no sense, in words; NULL when there was none
    bool gathers;       // expressions of parameters alone are taken for numbers: see gather.h
    const char *making; // what is being made, in words, for when it grows too large
    bool too_large;     // it would have more than GRAPH_MAX_NODES: then it has failed
    bool failed;        // memory ran out: every expression from then on is the failed one
};

// A graph of that many takes half a gigabyte and some 10 s to make; the largest of the bundled
// models and benchmarks have a tenth of it. So equations that grow without end are refused in
// words.
enum { GRAPH_MAX_NODES = 20000000 };

Graph *tr_graph_new(void); // NULL when memory runs out
Graph *tr_graph_copy(
    const Graph *graph); // likewise; its tables, lineages and names are the original's
// Without nodes, but with room for that many; its tables, lineages and names are the original's.
Graph *tr_graph_like(const Graph *graph, uint32_t room);
void tr_graph_free(Graph *graph);
size_t tr_graph_bytes(const Graph *graph);
// Says why a graph has failed.
void tr_graph_refuse(const Graph *graph, tr_error *err);

// The node for these fields, found or made, with no simplification at all. Returns its id.
uint32_t tr_graph_intern(Graph *graph, Node node);
// The id of a node if it exists already, else 0.
uint32_t tr_graph_find(const Graph *graph, Node node);

Expr tr_symbol_new(Graph *graph, const char *name, ValueStage stage);
uint32_t tr_table_add(Graph *graph, const Table *table); // its index; the table is taken over

// The operation on these operands, simplified. Unused operands are ignored.
Expr tr_build(Op op, Expr a, Expr b, Expr c);
Expr tr_build_halves(Expr a, int n); // a^(n/2)
// A function as formulas call it: min and max take two or more. False when the number is wrong.
bool tr_build_call(Op op, const Expr *x, size_t count, Expr *y);
Expr tr_build_table(uint32_t table, Expr x, Expr y, int order);

static inline Graph *graph_of(Expr x) { return x.graph; }
static inline const Node *node_of(Expr x) { return &graph_of(x)->nodes[x.id]; }
static inline Op op_of(Expr x) { return (Op)node_of(x)->op; }
static inline ValueStage stage_of(Expr x) { return (ValueStage)node_of(x)->stage; }
static inline Expr expr_at(Graph *graph, uint32_t id) { return (Expr){graph, id}; }
static inline bool same(Expr a, Expr b) { return a.id == b.id; }
static inline uint32_t node_operand(const Node *node, int which)
{
    return which == 0 ? node->a : which == 1 ? node->b : node->c;
}
static inline Expr operand(Expr x, int which)
{
    return expr_at(graph_of(x), node_operand(node_of(x), which));
}

static inline double node_value(const Node *node)
{
    double value;
    memcpy(&value, &node->b, sizeof value);
    return value;
}
static inline bool is_number(Expr x) { return op_of(x) == OP_NUMBER; }
static inline double value_of(Expr x) { return node_value(node_of(x)); }
static inline bool is_value(Expr x, double value) { return is_number(x) && value_of(x) == value; }
static inline bool is_zero(Expr x) { return is_value(x, 0); }
static inline bool is_one(Expr x) { return is_value(x, 1); }

// Of a number or an operation, from the values of all nodes before it
double tr_node_value(const Graph *graph, const Node *node, const double *values);

Expr tr_number_node(Graph *graph, double value);
static inline Expr number(Graph *graph, double value) { return tr_number_node(graph, value); }
static inline Expr zero(Graph *graph) { return number(graph, 0); }
static inline Expr one(Graph *graph) { return number(graph, 1); }

static inline Expr add(Expr a, Expr b) { return tr_build(OP_ADD, a, b, a); }
static inline Expr sub(Expr a, Expr b) { return tr_build(OP_SUB, a, b, a); }
static inline Expr mul(Expr a, Expr b) { return tr_build(OP_MUL, a, b, a); }
static inline Expr quotient(Expr a, Expr b) { return tr_build(OP_DIV, a, b, a); }
static inline Expr neg(Expr a) { return tr_build(OP_NEG, a, a, a); }
static inline Expr halves(Expr a, int n) { return tr_build_halves(a, n); }
static inline Expr power(Expr a, int n) { return tr_build_halves(a, 2 * n); } // |n| < 2^29
static inline Expr raise_to(Expr a, Expr b) { return tr_build(OP_RAISE, a, b, a); }
static inline Expr less(Expr a, Expr b) { return tr_build(OP_LESS, a, b, a); }
static inline Expr choose(Expr c, Expr a, Expr b) { return tr_build(OP_SELECT, c, a, b); }
static inline Expr e_sqrt(Expr a) { return tr_build(OP_SQRT, a, a, a); }
static inline Expr e_abs(Expr a) { return tr_build(OP_ABS, a, a, a); }
static inline Expr e_sin(Expr a) { return tr_build(OP_SIN, a, a, a); }
static inline Expr e_cos(Expr a) { return tr_build(OP_COS, a, a, a); }
static inline Expr square(Expr a) { return mul(a, a); }

#endif
