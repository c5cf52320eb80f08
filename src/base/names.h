// SPDX-License-Identifier: Apache-2.0
// What stands under a name: a table of texts that live elsewhere, and a number for each.
#ifndef TR_BASE_NAMES_H
#define TR_BASE_NAMES_H

#include "base/hash.h"
#include "base/text.h"

#define NO_NAME UINT32_MAX

typedef struct Names {
    struct NameRow {
        Text name;
        uint32_t index;
    } * rows;
    uint32_t count, capacity;
    Hash hash;
} Names; // {0} is an empty table

// Unless the name is there already: the first stays. False when memory runs out.
bool tr_names_add(Names *names, Text name, uint32_t index);
uint32_t tr_names_find(const Names *names, Text name); // its number, or NO_NAME
void tr_names_free(Names *names);

#endif
