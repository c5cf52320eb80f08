// SPDX-License-Identifier: Apache-2.0
// A hash table of indices. The table holds positions in an array that belongs to somebody else and
// never looks at the things themselves: the caller hashes and compares. One table serves names and
// expression nodes; being inline, the comparison costs no call.
#ifndef TR_BASE_HASH_H
#define TR_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What hashes differently is told apart here: looking at the things would be a miss of the cache
// for each.
typedef struct HashSlot {
    uint32_t index; // + 1, 0 = free
    uint32_t code;
} HashSlot;

typedef struct Hash {
    HashSlot *slots;
    uint32_t mask; // number of slots - 1, a power of two minus one
    uint32_t count;
} Hash; // {0} is an empty table

// Room for that many more: at most 2/3 of the slots are taken. False when memory runs out; the
// table is then unchanged.
bool tr_hash_grow(Hash *hash, uint32_t more);
static inline bool hash_reserve(Hash *hash, uint32_t more)
{
    const uint64_t size = hash->slots ? (uint64_t)hash->mask + 1 : 0;
    return 3 * ((uint64_t)hash->count + more) <= 2 * size || tr_hash_grow(hash, more);
}
void tr_hash_free(Hash *hash);

// FNV-1a, mixed at the end so that the low bits are good.
uint32_t tr_hash_bytes(const void *bytes, size_t count);

// Calls `equal` for each candidate; the slot of the match, or the free slot where it would go.
// The table must have slots: reserve first.
typedef bool (*HashEqual)(const void *owner, uint32_t index, const void *key);
static inline uint32_t hash_slot(const Hash *hash, uint32_t code, HashEqual equal,
                                 const void *owner, const void *key)
{
    uint32_t slot = code & hash->mask;
    while (hash->slots[slot].index &&
           (hash->slots[slot].code != code || !equal(owner, hash->slots[slot].index - 1, key)))
        slot = (slot + 1) & hash->mask;
    return slot;
}

static inline void hash_insert(Hash *hash, uint32_t slot, uint32_t index, uint32_t code)
{
    hash->slots[slot] = (HashSlot){index + 1, code};
    hash->count++;
}

#endif
