// SPDX-License-Identifier: Apache-2.0
// Tables that a test makes and drops together.
#ifndef TR_TESTS_TABLES_H
#define TR_TESTS_TABLES_H

#include "expr/table.h"

typedef struct Shelf {
    Table *at[16];
    uint32_t count;
} Shelf;

static inline Table *shelved(Shelf *shelf, Table *table)
{
    if (table) {
        assert_true(shelf->count < sizeof shelf->at / sizeof *shelf->at);
        shelf->at[shelf->count++] = table;
    }
    return table;
}

static inline void shelf_free(Shelf *shelf)
{
    while (shelf->count) tr_table_free(shelf->at[--shelf->count]);
}

#endif
