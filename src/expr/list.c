// SPDX-License-Identifier: Apache-2.0
#include "expr/list.h"

#include <stdlib.h>

void tr_exprs_add(Exprs *list, const Expr *values, size_t count)
{
    const size_t total = list->count + count;
    if (list->failed || total > UINT32_MAX ||
        !tr_grow((void **)&list->at, &list->capacity, (uint32_t)total, sizeof *list->at)) {
        list->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) list->at[list->count++] = values[i];
}

void tr_exprs_free(Exprs *list)
{
    free(list->at);
    *list = (Exprs){0};
}
