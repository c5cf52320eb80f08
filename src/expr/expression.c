// SPDX-License-Identifier: Apache-2.0
// The public calls on expressions.
#include "expr/derivative.h"
#include "expr/system.h"
#include "expr/walk.h"

// A call that makes no sense gives a failed expression; the first one is remembered in words.
static Expr misused(Graph *graph, const char *words)
{
    if (graph && !graph->misuse) graph->misuse = words;
    return (Expr){graph, 0};
}

// Expressions of no graph (made from a NULL system) or of two graphs give a failed one.
static bool is_sound(Expr a, Expr b) { return a.graph && a.graph == b.graph; }

static bool are_of(const Graph *graph, const Expr *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (x[i].graph != graph) return false;
    return graph != NULL;
}

static bool are_inputs_of(const Graph *graph, const Expr *x, size_t count)
{
    if (!are_of(graph, x, count)) return false;
    for (size_t i = 0; i < count; i++)
        if (op_of(x[i]) != OP_SYMBOL) return false;
    return true;
}

static Expr build(Op op, Expr a, Expr b)
{
    if (!is_sound(a, b)) return misused(a.graph, "expressions of two systems were mixed");
    return tr_build(op, a, b, a);
}

Expr tr_add(Expr a, Expr b) { return build(OP_ADD, a, b); }
Expr tr_sub(Expr a, Expr b) { return build(OP_SUB, a, b); }
Expr tr_mul(Expr a, Expr b) { return build(OP_MUL, a, b); }
Expr tr_div(Expr a, Expr b) { return build(OP_DIV, a, b); }
Expr tr_neg(Expr a) { return build(OP_NEG, a, a); }

Expr tr_pow(Expr a, int exponent)
{
    const bool good = a.graph && exponent >= -1000 && exponent <= 1000;
    return good ? power(a, exponent) : misused(a.graph, "tr_pow takes exponents up to 1000");
}

Expr tr_call(const char *function, const Expr *x, size_t count)
{
    const Op op = tr_op_called(text_of(function));
    Graph *graph = count ? x[0].graph : NULL;
    if (count && !are_of(graph, x, count))
        return misused(graph, "expressions of two systems were mixed");
    Expr y;
    if (op != OP_FAILED && count && tr_build_call(op, x, count, &y)) return y;
    return misused(graph, "tr_call knows no such function with that many arguments");
}

bool tr_is_constant(Expr x, double *value)
{
    const bool constant = x.graph && x.id && is_number(x);
    if (constant && value) *value = value_of(x);
    return constant;
}

Expr tr_derivative(Expr of, Expr input)
{
    if (!is_sound(of, input)) return (Expr){of.graph, 0};
    const Expr unit = one(of.graph);
    return tr_directional(of, &input, &unit, 1);
}

Expr tr_directional(Expr of, const Expr *inputs, const Expr *changes, size_t count)
{
    Expr out = {of.graph, 0};
    if (are_inputs_of(of.graph, inputs, count) && are_of(of.graph, changes, count))
        tr_forward(of.graph, &of, 1, inputs, changes, count, &out);
    return out;
}

void tr_gradient(Expr of, const Expr *inputs, size_t count, Expr *out)
{
    for (size_t i = 0; i < count; i++) out[i] = (Expr){of.graph, 0};
    if (are_inputs_of(of.graph, inputs, count))
        tr_dense_jacobian(of.graph, &of, 1, inputs, count, out);
}

Expr tr_time_derivative(System *system, Expr of, tr_error *err)
{
    if (!system || has_failed(err)) return (Expr){0};
    if (of.graph != system->graph) return expr_at(system->graph, 0);
    tr_system_rates(system, &of, 1, &of, err);
    return of;
}

const tr_entry *tr_jacobian(System *system, const Expr *of, size_t rows, const Expr *inputs,
                            size_t columns, size_t *count)
{
    *count = 0;
    if (!system || !are_of(system->graph, of, rows) ||
        !are_inputs_of(system->graph, inputs, columns))
        return NULL;
    return tr_sparse_jacobian(system->graph, &system->graph->arena, of, rows, inputs, columns,
                              count);
}

Expr tr_replace(Expr of, const Expr *from, const Expr *to, size_t count)
{
    if (!are_of(of.graph, from, count) || !are_of(of.graph, to, count)) return (Expr){of.graph, 0};
    tr_substitute(of.graph, &of, 1, from, to, count, &of);
    return of;
}
