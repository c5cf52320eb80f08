// SPDX-License-Identifier: Apache-2.0
#include "sweep/pack.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// Both directions follow one list of what a block has.
typedef struct Parcel {
    Buffer *out; // NULL: from `at`
    const char *at;
    size_t left;
    bool is_short; // there is less than what is taken
} Parcel;

static void pass(Parcel *p, void *bytes, size_t count)
{
    if (p->out) {
        if (count) tr_buffer_add(p->out, bytes, count);
        return;
    }
    p->is_short = p->is_short || count > p->left;
    if (p->is_short) return;
    if (count) memcpy(bytes, p->at, count);
    p->at += count, p->left -= count;
}

// Room for so many bytes on their way in
static void *pass_room(const Parcel *p, void *there, size_t count)
{
    if (p->out || p->is_short || count > p->left) return there;
    free(there);
    return calloc(count + 1, 1);
}

static void pass_words(Parcel *p, char **words)
{
    size_t length = *words ? strlen(*words) + 1 : 0;
    pass(p, &length, sizeof length);
    if (length) *words = pass_room(p, *words, length);
    if (*words) pass(p, *words, length);
}

static void pass_rows(const Sweep *s, Parcel *p, KeptRows *rows)
{
    pass(p, &rows->count, sizeof rows->count);
    if (p->is_short || (!p->out && rows->count > p->left)) {
        p->is_short = true, rows->count = 0;
        return;
    }
    const size_t bytes = rows->count * s->row_count * sizeof *rows->at;
    if (bytes) rows->at = pass_room(p, rows->at, bytes);
    if (rows->at) pass(p, rows->at, bytes);
}

static void pass_block(const Sweep *s, Parcel *p, Block *b)
{
    pass(p, &b->number, sizeof b->number);
    pass(p, &b->count, sizeof b->count);
    if (b->count > s->block_size) p->is_short = true;
    if (p->is_short) return;
    pass(p, b->run, b->count * sizeof *b->run);
    pass(p, b->values, (size_t)b->count * s->column_count * sizeof *b->values);
    pass(p, b->status, b->count * sizeof *b->status);
    pass(p, b->is_stopped, b->count * sizeof *b->is_stopped);
    pass(p, b->seconds, b->count * sizeof *b->seconds);
    for (uint32_t i = 0; i < b->count; i++) {
        pass_words(p, &b->words[i]);
        pass_rows(s, p, &b->rows[i]);
    }
}

void tr_block_pack(const Sweep *s, const Block *b, Buffer *bytes)
{
    Parcel p = {.out = bytes};
    pass_block(s, &p, (Block *)(uintptr_t)b);
}

Block *tr_block_unpack(const Sweep *s, const void *bytes, size_t count, tr_error *err)
{
    Block *b = tr_block_new(s, err);
    if (!b) return NULL;
    Parcel p = {.at = bytes, .left = count};
    pass_block(s, &p, b);
    if (!p.is_short && !p.left) return b;
    tr_block_free(b);
    tr_fail(err, TR_FAILED, (Place){0}, "a message between processes is damaged");
    return NULL;
}
