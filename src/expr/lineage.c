// SPDX-License-Identifier: Apache-2.0
#include "expr/lineage.h"

#include <assert.h>

const Lineage *tr_lineage_new(Arena *arena, const uint32_t *parent, uint32_t size)
{
    Lineage *s = tr_arena_alloc(arena, 1, sizeof *s);
    uint32_t *numbers = tr_arena_alloc(arena, 2 * (size_t)size + 1, sizeof *numbers);
    if (!s || !numbers) return NULL;
    uint32_t *start = numbers + size;
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t above = parent[i];
        assert(above == LINEAGE_TOP || above < i); // parents come first
        numbers[i] = above;
        start[i + 1] = start[i] + 1 + (above == LINEAGE_TOP ? 0 : start[above + 1] - start[above]);
    }
    *s = (Lineage){.size = size, .parent = numbers, .start = start};
    return s;
}

const Lineage *tr_lineage_copy(Arena *arena, const Lineage *lineage)
{
    return tr_lineage_new(arena, lineage->parent, lineage->size);
}

bool tr_lineage_is(const Lineage *lineage, const uint32_t *parent, uint32_t size)
{
    return lineage->size == size && memcmp(lineage->parent, parent, size * sizeof *parent) == 0;
}

// One that is i above has as many entries as there are from it on.
size_t tr_lineage_factor_operations(const Lineage *s)
{
    size_t count = 0;
    for (uint32_t i = 0; i < s->size; i++) {
        const size_t above = s->start[i + 1] - s->start[i] - 1;
        count += above + above * (above + 1); // quotients, and two operations for each entry
    }
    return count;
}

size_t tr_lineage_solve_operations(const Lineage *s, uint32_t columns)
{
    return (4 * (size_t)(lineage_entries(s) - s->size) + s->size) * columns;
}
