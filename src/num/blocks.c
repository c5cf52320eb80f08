// SPDX-License-Identifier: Apache-2.0
// Rows that share a column are in one set; sets are trees, and each knows its root.
#include "num/blocks.h"

#include <stdlib.h>

#define NONE UINT32_MAX

static uint32_t root_of(uint32_t *above, uint32_t i)
{
    while (above[i] != i) i = above[i] = above[above[i]];
    return i;
}

// The first row of a set is its root, so that blocks come in the order of their first rows.
static void unite(uint32_t *above, uint32_t i, uint32_t k)
{
    const uint32_t a = root_of(above, i), b = root_of(above, k);
    if (a < b)
        above[b] = a;
    else
        above[a] = b;
}

// owner: of each column, a row that it has an entry in; above: the sets of rows, NONE for those
// without entries
static void join_rows(const double *A, uint32_t m, uint32_t n, uint32_t *owner, uint32_t *above)
{
    for (uint32_t k = 0; k < n; k++) owner[k] = NONE;
    for (uint32_t i = 0; i < m; i++) {
        bool is_empty = true;
        above[i] = i;
        for (uint32_t k = 0; k < n; k++) {
            if (A[(size_t)i * n + k] == 0) continue;
            is_empty = false;
            if (owner[k] == NONE)
                owner[k] = i;
            else
                unite(above, owner[k], i);
        }
        if (is_empty) above[i] = NONE;
    }
}

// Members by block, those of NONE left out: block[i] of each, counted and put in order
static void sort_members(const uint32_t *block, uint32_t count, uint32_t blocks, uint32_t *first,
                         uint32_t *members)
{
    for (uint32_t b = 0; b <= blocks; b++) first[b] = 0;
    for (uint32_t i = 0; i < count; i++)
        if (block[i] != NONE) first[block[i] + 1]++;
    for (uint32_t b = 0; b < blocks; b++) first[b + 1] += first[b];
    for (uint32_t i = 0; i < count; i++)
        if (block[i] != NONE) members[first[block[i]]++] = i;
    for (uint32_t b = blocks; b > 0; b--) first[b] = first[b - 1];
    first[0] = 0;
}

bool tr_blocks_find(const double *A, uint32_t m, uint32_t n, Blocks *b)
{
    const size_t all = (size_t)m + n;
    uint32_t *room = malloc((2 * all + 1) * sizeof *room); // sets of rows, owners, and their blocks
    uint32_t *kept = malloc((3 * all + 3) * sizeof *kept);
    *b = (Blocks){.rows = kept};
    if (!room || !kept) {
        free(room);
        tr_blocks_free(b);
        return false;
    }
    uint32_t *above = room, *owner = above + m, *row_block = owner + n,
             *column_block = row_block + m;
    join_rows(A, m, n, owner, above);
    for (uint32_t i = 0; i < m; i++) // roots come before their rows
        row_block[i] = above[i] == NONE ? NONE
                       : above[i] == i  ? b->count++
                                        : row_block[root_of(above, i)];
    for (uint32_t k = 0; k < n; k++)
        column_block[k] = owner[k] == NONE ? NONE : row_block[owner[k]];
    b->columns = kept + m, b->first_row = b->columns + n;
    b->first_column = b->first_row + b->count + 1;
    sort_members(row_block, m, b->count, b->first_row, b->rows);
    sort_members(column_block, n, b->count, b->first_column, b->columns);
    free(room);
    return true;
}

void tr_blocks_free(Blocks *b)
{
    free(b->rows);
    *b = (Blocks){0};
}
