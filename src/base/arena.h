// SPDX-License-Identifier: Apache-2.0
// Memory that is freed all at once. One arena belongs to one handle; what it gives out stays where
// it is until the handle is freed.
#ifndef TR_BASE_ARENA_H
#define TR_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct Arena {
    ArenaBlock *newest;
    size_t bytes; // obtained from the system so far
} Arena;          // {0} is an empty arena

// Zeroed memory for `count` things of `size` bytes, aligned for any type; NULL when memory runs
// out.
void *tr_arena_alloc(Arena *arena, size_t count, size_t size);

// A copy of the `length` characters at `text`, with a terminating zero; NULL when memory runs out.
char *tr_arena_text(Arena *arena, const char *text, size_t length);

void tr_arena_free(Arena *arena);

// Room for at least `needed` elements in the array `*at`, growing by a quarter; false, and the
// array unchanged, when memory runs out. For arrays that live outside arenas.
int tr_grow(void **at, uint32_t *capacity, uint32_t needed, size_t size);

#endif
