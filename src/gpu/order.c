// SPDX-License-Identifier: Apache-2.0
#include "gpu/order.h"

#include <stdlib.h>
#include <string.h>

typedef struct Ordering {
    const Flat *flat;
    const bool *is_there;
    const uint32_t *wanted;
    uint32_t wanted_count;
    bool *is_done;
    uint32_t *stack; // nodes whose operands come first
    uint32_t *order, count;
} Ordering;

static bool is_made(const Ordering *o, uint32_t node)
{
    const unsigned code = o->flat->nodes[node].code;
    return o->is_there[node] || code == FLAT_NUMBER || code == FLAT_ARGUMENT;
}

// As the list has them
static void keep_order(Ordering *o)
{
    bool *needed = o->is_done;
    for (uint32_t k = 0; k < o->wanted_count; k++) needed[o->wanted[k]] = true;
    for (uint32_t i = o->flat->count; i-- > 0;) {
        if (!needed[i] || is_made(o, i)) continue;
        for (int k = 0; k < flat_operands(&o->flat->nodes[i]); k++)
            needed[flat_operand(&o->flat->nodes[i], k)] = true;
    }
    o->count = 0;
    for (uint32_t i = 0; i < o->flat->count; i++)
        if (needed[i] && !is_made(o, i)) o->order[o->count++] = i;
}

// One that is wanted, with all that only waited for it: the first operand first, or the last
static void make_late(Ordering *o, uint32_t wanted, bool last_first)
{
    uint32_t depth = 0;
    o->stack[depth++] = wanted;
    while (depth) {
        const uint32_t node = o->stack[depth - 1], before = depth;
        const FlatNode *at = &o->flat->nodes[node];
        const int operands = flat_operands(at);
        if (o->is_done[node] || is_made(o, node)) {
            depth--;
            continue;
        }
        for (int k = operands; k-- > 0;) {
            const uint32_t x = flat_operand(at, last_first ? operands - 1 - k : k);
            if (!o->is_done[x] && !is_made(o, x)) o->stack[depth++] = x;
        }
        if (depth > before) continue;
        o->is_done[node] = true;
        o->order[o->count++] = node;
        depth--;
    }
}

static void order_late(Ordering *o, bool last_first)
{
    o->count = 0;
    for (uint32_t k = 0; k < o->wanted_count; k++) make_late(o, o->wanted[k], last_first);
}

// The most values that somebody still waits for, at any place of the order; of those made in it
static uint32_t most_alive(const Ordering *o, uint32_t *last)
{
    uint32_t alive = 0, most = 0;
    for (uint32_t j = 0; j < o->count; j++) {
        last[o->order[j]] = j;
        for (int k = 0; k < flat_operands(&o->flat->nodes[o->order[j]]); k++)
            last[flat_operand(&o->flat->nodes[o->order[j]], k)] = j;
    }
    for (uint32_t k = 0; k < o->wanted_count; k++) last[o->wanted[k]] = UINT32_MAX;
    for (uint32_t j = 0; j < o->count; j++) {
        const FlatNode *node = &o->flat->nodes[o->order[j]];
        alive++;
        most = alive > most ? alive : most;
        for (int k = 0; k < flat_operands(node); k++) {
            const uint32_t x = flat_operand(node, k);
            if (last[x] != j || is_made(o, x)) continue;
            last[x] = UINT32_MAX; // once, where it is both operands
            alive--;
        }
    }
    return most;
}

uint32_t *tr_order_make(const Flat *flat, const bool *is_there, const uint32_t *wanted,
                        uint32_t wanted_count, uint32_t *count)
{
    enum { ORDERS = 3 };
    const size_t nodes = flat->count + 1u;
    uint32_t *best = malloc(nodes * sizeof *best), *order = malloc(nodes * sizeof *order);
    uint32_t *stack = malloc(3 * nodes * sizeof *stack), *last = malloc(nodes * sizeof *last);
    bool *is_done = malloc(nodes);
    uint32_t least = UINT32_MAX;
    for (int i = 0; best && order && stack && last && is_done && i < ORDERS; i++) {
        Ordering o = {flat, is_there, wanted, wanted_count, is_done, stack, order, 0};
        memset(is_done, 0, nodes);
        if (i == 0)
            keep_order(&o);
        else
            order_late(&o, i == 2);
        const uint32_t alive = most_alive(&o, last);
        if (alive >= least) continue;
        least = alive, *count = o.count;
        order = best, best = o.order;
    }
    free(order);
    free(stack);
    free(last);
    free(is_done);
    if (least < UINT32_MAX) return best;
    free(best);
    return NULL;
}
