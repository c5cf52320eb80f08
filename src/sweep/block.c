// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Block *tr_block_new(const Sweep *s, tr_error *err)
{
    Block *b = calloc(1, sizeof *b);
    if (b) b->values = calloc((size_t)s->block_size * s->column_count + 1, sizeof *b->values);
    if (b && b->values) return b;
    free(b);
    tr_fail_memory(err);
    return NULL;
}

void tr_block_free(Block *b)
{
    if (!b) return;
    for (uint32_t i = 0; i < MOST_BLOCK; i++) {
        free(b->words[i]);
        free(b->rows[i].at);
    }
    free(b->values);
    free(b);
}

void tr_block_begin(const Sweep *s, Block *b, const Deal *deal)
{
    b->number = deal->number, b->count = 0;
    const uint64_t first = deal->number * s->block_size;
    for (uint32_t i = 0; i < s->block_size && first + i < s->design.runs; i++)
        if (!(deal->before >> i & 1)) b->run[b->count++] = first + i;
    for (uint32_t i = 0; i < b->count; i++) {
        double *values = block_values(s, b, i);
        for (uint32_t k = 0; k < s->column_count; k++) values[k] = (double)NAN;
        tr_design_take(&s->design, b->run[i], values);
    }
}

void tr_block_fail(Block *b, uint32_t run, const tr_error *why)
{
    if (b->status[run]) return;
    b->status[run] = why->status;
    b->words[run] = strdup(why->text); // without words where there is no memory
}

bool tr_block_keep(const Sweep *s, Block *b, uint32_t run, const double *row, tr_error *err)
{
    KeptRows *rows = &b->rows[run];
    if (!s->options->record || b->run[run] % s->options->record != 0) return true;
    if (rows->count == rows->capacity) {
        const size_t capacity = 2 * rows->capacity + 64;
        double *more = realloc(rows->at, capacity * s->row_count * sizeof *more);
        if (!more) return tr_fail_memory(err), false;
        rows->at = more, rows->capacity = capacity;
    }
    memcpy(rows->at + rows->count++ * s->row_count, row, s->row_count * sizeof *row);
    return true;
}
