// SPDX-License-Identifier: Apache-2.0
// Value numbering: nodes that are equal whatever the inputs are become one.
#ifndef TR_EXPR_MERGE_H
#define TR_EXPR_MERGE_H

#include "expr/graph.h"

// `of`, with equal nodes merged.
void tr_merge(Graph *graph, const Expr *of, size_t count, Expr *out);

#endif
