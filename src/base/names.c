// SPDX-License-Identifier: Apache-2.0
#include "base/names.h"

#include "base/arena.h"

#include <stdlib.h>

static uint32_t code_of(Text name) { return tr_hash_bytes(name.at, name.length); }

static bool row_equal(const void *owner, uint32_t index, const void *key)
{
    return text_equal(((const Names *)owner)->rows[index].name, *(const Text *)key);
}

static uint32_t slot_of(const Names *names, const Text *name)
{
    return hash_slot(&names->hash, code_of(*name), row_equal, names, name);
}

bool tr_names_add(Names *names, Text name, uint32_t index)
{
    if (!tr_grow((void **)&names->rows, &names->capacity, names->count + 1, sizeof *names->rows) ||
        !hash_reserve(&names->hash, 1))
        return false;
    const uint32_t slot = slot_of(names, &name);
    if (names->hash.slots[slot].index) return true;
    names->rows[names->count] = (struct NameRow){name, index};
    hash_insert(&names->hash, slot, names->count++, code_of(name));
    return true;
}

uint32_t tr_names_find(const Names *names, Text name)
{
    if (!names->count) return NO_NAME;
    const uint32_t found = names->hash.slots[slot_of(names, &name)].index;
    return found ? names->rows[found - 1].index : NO_NAME;
}

void tr_names_free(Names *names)
{
    free(names->rows);
    tr_hash_free(&names->hash);
    *names = (Names){0};
}
