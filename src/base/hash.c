// SPDX-License-Identifier: Apache-2.0
// Open addressing with linear probing, in a power of two of slots.
#include "base/hash.h"

#include <stdlib.h>

uint32_t tr_hash_bytes(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < count; i++) h = (h ^ at[i]) * 16777619u;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    return h ^ (h >> 12);
}

bool tr_hash_grow(Hash *hash, uint32_t more)
{
    const uint64_t size = hash->slots ? (uint64_t)hash->mask + 1 : 0;
    uint64_t grown = size ? 2 * size : 32;
    while (3 * ((uint64_t)hash->count + more) > 2 * grown) grown *= 2;
    if (grown > (uint64_t)1 << 31) return false;
    HashSlot *slots = calloc(grown, sizeof *slots);
    if (!slots) return false;
    const uint32_t mask = (uint32_t)grown - 1;
    for (uint64_t i = 0; i < size; i++) {
        if (!hash->slots[i].index) continue;
        uint32_t slot = hash->slots[i].code & mask;
        while (slots[slot].index) slot = (slot + 1) & mask;
        slots[slot] = hash->slots[i];
    }
    free(hash->slots);
    hash->slots = slots;
    hash->mask = mask;
    return true;
}

void tr_hash_free(Hash *hash)
{
    free(hash->slots);
    *hash = (Hash){0};
}
