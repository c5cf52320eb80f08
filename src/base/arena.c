// SPDX-License-Identifier: Apache-2.0
// Blocks of growing size in a list, newest first; a piece is cut from the newest or gets another.
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct ArenaBlock {
    ArenaBlock *older;
    size_t used, size; // [bytes] of data[]
    alignas(max_align_t) unsigned char data[];
};

static size_t aligned(size_t bytes)
{
    const size_t a = alignof(max_align_t);
    return (bytes + a - 1) / a * a;
}

// Blocks double in size up to a megabyte; a larger piece gets a block of its own size.
static ArenaBlock *new_block(Arena *arena, size_t bytes)
{
    size_t size = arena->newest ? 2 * arena->newest->size : SMALLEST_BLOCK;
    if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
    if (size < bytes) size = bytes;
    ArenaBlock *block = malloc(sizeof *block + size);
    if (!block) return NULL;
    *block = (ArenaBlock){.older = arena->newest, .size = size};
    arena->newest = block;
    arena->bytes += sizeof *block + size;
    return block;
}

void *tr_arena_alloc(Arena *arena, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 4) / size) return NULL;
    const size_t bytes = aligned(count * size);
    ArenaBlock *block = arena->newest;
    if (!block || block->size - block->used < bytes) block = new_block(arena, bytes);
    if (!block) return NULL;
    void *at = block->data + block->used;
    block->used += bytes;
    return memset(at, 0, bytes);
}

char *tr_arena_text(Arena *arena, const char *text, size_t length)
{
    char *copy = tr_arena_alloc(arena, length + 1, 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void tr_arena_free(Arena *arena)
{
    for (ArenaBlock *block = arena->newest; block;) {
        ArenaBlock *older = block->older;
        free(block);
        block = older;
    }
    *arena = (Arena){0};
}

int tr_grow(void **at, uint32_t *capacity, uint32_t needed, size_t size)
{
    if (needed <= *capacity) return 1;
    size_t grown = (size_t)*capacity + *capacity / 4 + 16;
    if (grown < needed) grown = needed;
    if (grown > UINT32_MAX) grown = UINT32_MAX;
    void *moved = realloc(*at, grown * size);
    if (!moved) return 0;
    *at = moved;
    *capacity = (uint32_t)grown;
    return 1;
}
