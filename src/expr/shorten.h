// SPDX-License-Identifier: Apache-2.0
// Sums and products with fewer operations, by other brackets and common factors.
#ifndef TR_EXPR_SHORTEN_H
#define TR_EXPR_SHORTEN_H

#include "expr/graph.h"

// Makes a (b + c) of a b + a c, and brackets in sums and products as others have them. All else
// stays; so does what depends on numbers and parameters alone, for that is evaluated once.
void tr_shorten(Graph *graph, Expr *of, size_t count);

#endif
