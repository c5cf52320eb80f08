// SPDX-License-Identifier: Apache-2.0
// Gathering what depends on parameters alone.
#ifndef TR_EXPR_GATHER_H
#define TR_EXPR_GATHER_H

#include "expr/graph.h"

// `of`, built anew with expressions of parameters alone taken for numbers whose value is not known
// yet: in p (q x) the product p q comes first, p x + q x is (p + q) x, and p + (q + x) is
// (p + q) + x. So what is left for each state is as short as if parameters were numbers. `out` may
// be `of`.
void tr_gather(Graph *graph, const Expr *of, size_t count, Expr *out);

#endif
