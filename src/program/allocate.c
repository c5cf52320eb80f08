// SPDX-License-Identifier: Apache-2.0
#include "program/allocate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool tr_allocation_open(Allocation *a, const Program *p, uint32_t lanes, MachineCode *code)
{
    const size_t values = value_count(p), made = values - first_result(p);
    *a = (Allocation){.code = code, .lanes = lanes, .registers = x86_registers(lanes)};
    a->first = a->place_count = first_result(p);
    a->free = (uint32_t)(((uint64_t)1 << a->registers) - 1);
    a->place = malloc((values + 1) * sizeof *a->place);
    a->next = malloc((values + 1) * sizeof *a->next);
    a->reg = malloc(values + 1);
    a->stays = calloc(values + 1, sizeof *a->stays);
    a->free_places = malloc((made + 1) * sizeof *a->free_places);
    if (!a->place || !a->next || !a->reg || !a->stays || !a->free_places) return false;
    memset(a->reg, NO_REGISTER, values + 1);
    for (uint32_t i = 0; i < values; i++) {
        a->place[i] = i < a->first ? i : NO_PLACE;
        a->stays[i] = i < a->first;
        a->next[i] = NEVER;
    }
    return true;
}

void tr_allocation_close(Allocation *a)
{
    free(a->place);
    free(a->next);
    free(a->reg);
    free(a->stays);
    free(a->free_places);
}

// ---- memory --------------------------------------------------------------------------------

X86Operand tr_place_operand(const Allocation *a, uint32_t place)
{
    return x86_memory((int32_t)(place * a->lanes * sizeof(double)));
}

uint32_t tr_take_places(Allocation *a, uint32_t count)
{
    const uint32_t first = a->place_count;
    a->place_count += count;
    return first;
}

uint32_t tr_take_place(Allocation *a)
{
    return a->free_count ? a->free_places[--a->free_count] : tr_take_places(a, 1);
}

// In memory, where it may be already
static void store(Allocation *a, uint32_t value)
{
    if (a->place[value] != NO_PLACE) return;
    assert(a->reg[value] != NO_REGISTER); // it is somewhere
    a->place[value] = tr_take_place(a);
    tr_x86(a->code, a->lanes, X86_STORE, a->reg[value], 0, tr_place_operand(a, a->place[value]));
}

void tr_release(Allocation *a, uint32_t value)
{
    if (!is_over(a, value)) return;
    tr_unbind(a, value);
    if (a->place[value] == NO_PLACE || a->stays[value]) return;
    a->free_places[a->free_count++] = a->place[value];
    a->place[value] = NO_PLACE;
}

// ---- registers -----------------------------------------------------------------------------

void tr_unbind(Allocation *a, uint32_t value)
{
    if (a->reg[value] == NO_REGISTER) return;
    a->free |= 1u << a->reg[value];
    a->reg[value] = NO_REGISTER;
}

// The one whose value is used again last
static unsigned last_used(const Allocation *a)
{
    unsigned best = NO_REGISTER;
    for (unsigned r = 0; r < a->registers; r++)
        if (!is_set(a->pinned, r) &&
            (best == NO_REGISTER || a->next[a->holds[r]] > a->next[a->holds[best]]))
            best = r;
    assert(best != NO_REGISTER); // instructions pin a few at most
    return best;
}

unsigned tr_take_register(Allocation *a)
{
    if (!(a->free & ~a->pinned)) {
        const uint32_t value = a->holds[last_used(a)];
        store(a, value);
        tr_unbind(a, value);
    }
    const unsigned reg = (unsigned)__builtin_ctz(a->free & ~a->pinned);
    a->free &= ~(1u << reg);
    pin(a, reg);
    return reg;
}

void tr_bind(Allocation *a, uint32_t value, unsigned reg)
{
    a->holds[reg] = value;
    a->reg[value] = (uint8_t)reg;
    a->free &= ~(1u << reg);
    if (a->stays[value]) store(a, value);
    if (is_over(a, value)) tr_unbind(a, value);
}

unsigned tr_in_register(Allocation *a, uint32_t value)
{
    if (a->reg[value] == NO_REGISTER) {
        const unsigned reg = tr_take_register(a);
        tr_x86(a->code, a->lanes, X86_LOAD, reg, 0, tr_place_operand(a, a->place[value]));
        a->holds[reg] = value, a->reg[value] = (uint8_t)reg;
    }
    pin(a, a->reg[value]);
    return a->reg[value];
}

// What is used again is worth a register that nobody needs.
X86Operand tr_operand(Allocation *a, uint32_t value)
{
    const bool again = !is_over(a, value) && (a->free & ~a->pinned);
    if (a->reg[value] == NO_REGISTER && !again) return tr_place_operand(a, a->place[value]);
    return x86_register(tr_in_register(a, value));
}

void tr_store_all(Allocation *a)
{
    for (unsigned r = 0; r < a->registers; r++) {
        if (is_set(a->free, r)) continue;
        store(a, a->holds[r]);
        tr_unbind(a, a->holds[r]);
    }
}
