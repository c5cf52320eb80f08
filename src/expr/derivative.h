// SPDX-License-Identifier: Apache-2.0
// Exact derivatives. Forward: how expressions change when symbols change at given rates; the time
// derivative along a motion is this with the rates of the coordinates. Reverse: how one expression
// depends on all symbols at once.
#ifndef TR_EXPR_DERIVATIVE_H
#define TR_EXPR_DERIVATIVE_H

#include "expr/graph.h"
#include "expr/walk.h"

// out[i] = sum_k d(of[i])/d(symbols[k]) changes[k]. Symbols that are not named do not change. An
// expression that is not a symbol may be named, too, where its change is known: it is taken as it
// is, and should follow from the others, for simplification may have gone past it.
void tr_forward(Graph *graph, const Expr *of, size_t count, const Expr *symbols,
                const Expr *changes, size_t symbol_count, Expr *out);

// The same of one expression after the other, with what is kept for the changes of symbols.
Expr tr_forward_kept(Graph *graph, Expr of, Kept *kept);

// out[k] = d(of)/d(symbols[k])
void tr_reverse(Graph *graph, Expr of, const Expr *symbols, size_t symbol_count, Expr *out);

// dense[i * columns + k] = d(of[i])/d(symbols[k]), by columns (forward) or by rows (reverse),
// whichever are fewer. False, and the graph failed, when memory runs out.
bool tr_dense_jacobian(Graph *graph, const Expr *of, size_t rows, const Expr *symbols,
                       size_t columns, Expr *dense);

// The entries of d(of)/d(symbols) that are not structurally zero, by rows, columns increasing.
// They live in the arena. NULL, and the graph failed, when memory runs out.
tr_entry *tr_sparse_jacobian(Graph *graph, Arena *arena, const Expr *of, size_t rows,
                             const Expr *symbols, size_t columns, size_t *count);

#endif
