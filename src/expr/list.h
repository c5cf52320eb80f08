// SPDX-License-Identifier: Apache-2.0
// A list of expressions that grows. When memory runs out it is failed, and stays so.
#ifndef TR_EXPR_LIST_H
#define TR_EXPR_LIST_H

#include "expr/graph.h"

typedef struct Exprs {
    Expr *at;
    uint32_t count, capacity;
    bool failed;
} Exprs;

void tr_exprs_add(Exprs *list, const Expr *values, size_t count);
void tr_exprs_free(Exprs *list);

static inline void exprs_add(Exprs *list, Expr value) { tr_exprs_add(list, &value, 1); }

#endif
