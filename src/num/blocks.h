// SPDX-License-Identifier: Apache-2.0
// Rows and columns of a matrix that have nothing to do with the others.
#ifndef TR_NUM_BLOCKS_H
#define TR_NUM_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

// No row of a block has an entry in a column of another. Columns without entries are in none, rows
// without entries neither.
typedef struct Blocks {
    uint32_t count;
    uint32_t *rows, *columns;           // block after block, increasing in each
    uint32_t *first_row, *first_column; // of each block, and behind the last one
} Blocks;

// Of A, m * n by rows. False when memory runs out.
bool tr_blocks_find(const double *A, uint32_t m, uint32_t n, Blocks *blocks);
void tr_blocks_free(Blocks *blocks);

#endif
