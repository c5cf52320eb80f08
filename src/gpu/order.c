// SPDX-License-Identifier: Apache-2.0
// A value is made when somebody wants it, and operations after which fewer are alive come at once.
// What is wanted first, and which operand, is tried in several ways, and the best is taken.
#include "gpu/order.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 64, ENOUGH = 80 }; // values alive that are no burden

typedef struct Ordering {
    const Flat *flat;
    const bool *is_there;
    uint32_t *wanted, wanted_count;
    bool *is_needed, *is_done;
    uint32_t *user_from, *users; // by node: where its users begin
    uint32_t *need;              // values at a time that one takes with all that it needs, about
    uint32_t *key;               // operands with larger ones come first
    uint32_t *stack, *base, *order, count;
    uint32_t *left; // users to come
    uint32_t *open; // operands to come
} Ordering;

static bool is_made(const Ordering *o, uint32_t node)
{
    const unsigned code = o->flat->nodes[node].code;
    return o->is_there[node] || code == FLAT_NUMBER || code == FLAT_ARGUMENT;
}

// Operands that are to be made, once each
static int operands_of(const Ordering *o, uint32_t node, uint32_t *all)
{
    const FlatNode *at = &o->flat->nodes[node];
    int count = 0;
    for (int k = 0; k < flat_operands(at); k++) {
        const uint32_t x = flat_operand(at, k);
        bool is_new = !is_made(o, x);
        for (int i = 0; i < count; i++) is_new = is_new && all[i] != x;
        if (is_new) all[count++] = x;
    }
    return count;
}

// ---- who needs whom ------------------------------------------------------------------------

static void find_needed(Ordering *o)
{
    uint32_t all[3];
    for (uint32_t k = 0; k < o->wanted_count; k++)
        o->is_needed[o->wanted[k]] = !is_made(o, o->wanted[k]);
    for (uint32_t i = o->flat->count; i-- > 0;) {
        if (!o->is_needed[i]) continue;
        for (int k = operands_of(o, i, all); k-- > 0;) o->is_needed[all[k]] = true;
    }
}

static void find_users(Ordering *o)
{
    uint32_t all[3], sum = 0;
    for (uint32_t i = 0; i < o->flat->count; i++) {
        if (!o->is_needed[i]) continue;
        for (int k = operands_of(o, i, all); k-- > 0;) o->left[all[k]]++;
    }
    for (uint32_t i = 0; i < o->flat->count; i++) {
        o->user_from[i] = sum;
        sum += o->left[i];
        o->left[i] = 0;
    }
    o->user_from[o->flat->count] = sum;
    for (uint32_t i = 0; i < o->flat->count; i++) {
        if (!o->is_needed[i]) continue;
        for (int k = operands_of(o, i, all); k-- > 0;)
            o->users[o->user_from[all[k]] + o->left[all[k]]++] = i;
    }
}

static uint32_t users_of(const Ordering *o, uint32_t node)
{
    return o->user_from[node + 1] - o->user_from[node];
}

static void find_needs(Ordering *o)
{
    uint32_t all[3];
    for (uint32_t i = 0; i < o->flat->count; i++) {
        if (!o->is_needed[i]) continue;
        const int count = operands_of(o, i, all);
        o->need[i] = 1;
        for (int k = 0; k < count; k++) {
            uint32_t others = 0; // that are made before it, as the larger ones are
            for (int n = 0; n < count; n++)
                others += o->need[all[n]] > o->need[all[k]] ||
                          (o->need[all[n]] == o->need[all[k]] && n < k);
            const uint32_t with = o->need[all[k]] + others;
            o->need[i] = with > o->need[i] ? with : o->need[i];
        }
    }
}

// ---- an order ------------------------------------------------------------------------------

static void push_operands(Ordering *o, uint32_t node, uint32_t *depth)
{
    uint32_t all[3];
    const int count = operands_of(o, node, all);
    for (int k = 1; k < count; k++) // the largest at the top
        for (int n = k; n > 0 && o->key[all[n]] < o->key[all[n - 1]]; n--) {
            const uint32_t swap = all[n];
            all[n] = all[n - 1], all[n - 1] = swap;
        }
    for (int k = 0; k < count; k++)
        if (!o->is_done[all[k]]) o->stack[(*depth)++] = all[k];
}

// One that is wanted, with all that only waited for it
static void make_late(Ordering *o, uint32_t wanted)
{
    uint32_t depth = 0;
    o->stack[depth++] = wanted;
    while (depth) {
        const uint32_t node = o->stack[depth - 1], before = depth;
        if (!o->is_done[node]) push_operands(o, node, &depth);
        if (depth > before) continue;
        depth--;
        if (o->is_done[node]) continue;
        o->is_done[node] = true;
        o->base[o->count++] = node;
    }
}

// Whether fewer are alive after it
static bool frees(const Ordering *o, uint32_t node)
{
    uint32_t all[3], ended = 0;
    for (int k = operands_of(o, node, all); k-- > 0;) ended += o->left[all[k]] == 1;
    return ended > (users_of(o, node) ? 1u : 0u);
}

static bool is_due(const Ordering *o, uint32_t node)
{
    return !o->is_done[node] && !o->open[node] && frees(o, node);
}

static void push_due(Ordering *o, uint32_t node, uint32_t *depth)
{
    for (uint32_t u = o->user_from[node + 1]; u-- > o->user_from[node];)
        if (is_due(o, o->users[u])) o->stack[(*depth)++] = o->users[u];
}

static void place(Ordering *o, uint32_t node)
{
    uint32_t all[3], depth = 0;
    o->stack[depth++] = node;
    while (depth) {
        const uint32_t next = o->stack[--depth];
        if (o->is_done[next] || (next != node && !is_due(o, next))) continue;
        o->is_done[next] = true;
        o->order[o->count++] = next;
        const int count = operands_of(o, next, all);
        for (int k = 0; k < count; k++) o->left[all[k]]--;
        for (uint32_t u = o->user_from[next]; u < o->user_from[next + 1]; u++)
            o->open[o->users[u]]--;
        for (int k = 0; k < count; k++)
            if (o->left[all[k]] == 1) push_due(o, all[k], &depth);
        push_due(o, next, &depth);
    }
}

static void make_order(Ordering *o)
{
    uint32_t all[3];
    const uint32_t nodes = o->flat->count;
    memset(o->is_done, 0, nodes);
    o->count = 0;
    for (uint32_t k = 0; k < o->wanted_count; k++)
        if (o->is_needed[o->wanted[k]]) make_late(o, o->wanted[k]);
    const uint32_t count = o->count;
    memset(o->is_done, 0, nodes);
    o->count = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        o->left[i] = users_of(o, i);
        o->open[i] = o->is_needed[i] ? (uint32_t)operands_of(o, i, all) : 0;
    }
    for (uint32_t j = 0; j < count; j++)
        if (!o->is_done[o->base[j]]) place(o, o->base[j]);
}

// How much is alive beyond what is no burden, at all places together, and the most at one
static uint64_t burden_of(Ordering *o)
{
    uint32_t all[3], alive = 0, most = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->flat->count; i++) o->left[i] = users_of(o, i);
    for (uint32_t j = 0; j < o->count; j++) {
        const uint32_t node = o->order[j];
        alive += users_of(o, node) > 0;
        for (int k = operands_of(o, node, all); k-- > 0;) alive -= --o->left[all[k]] == 0;
        most = alive > most ? alive : most;
        sum += alive > ENOUGH ? alive - ENOUGH : 0;
    }
    return sum * UINT32_MAX + most;
}

// ---- the best of several -------------------------------------------------------------------

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % below);
}

// Forwards and backwards by what each needs, by where it stands, and then by chance
static void choose_keys(Ordering *o, uint32_t attempt, uint64_t *seed)
{
    for (uint32_t k = 0; 2 * k + 1 < o->wanted_count; k++) { // every second one is backwards
        const uint32_t last = o->wanted_count - 1 - k, swap = o->wanted[k];
        o->wanted[k] = o->wanted[last], o->wanted[last] = swap;
    }
    for (uint32_t k = o->wanted_count; attempt > 7 && k > 1; k--) {
        const uint32_t with = draw(seed, k), swap = o->wanted[k - 1];
        o->wanted[k - 1] = o->wanted[with], o->wanted[with] = swap;
    }
    const uint32_t nodes = o->flat->count, spread = attempt > 7 ? 1 + nodes / 4 : 1;
    for (uint32_t i = 0; i < nodes; i++) switch (attempt < 8 ? attempt / 2 : attempt % 2) {
        case 0: o->key[i] = i + draw(seed, spread); break;
        case 1: o->key[i] = 4 * o->need[i] + (attempt > 7 ? draw(seed, 12) : 0); break;
        case 2: o->key[i] = nodes - i; break;
        default: o->key[i] = 0; break;
        }
}

static uint32_t *find_best(Ordering *o, uint32_t *count)
{
    uint32_t *best = malloc((o->flat->count + 1u) * sizeof *best);
    uint64_t least = UINT64_MAX, seed = 1;
    for (uint32_t i = 0; best && i < TRIES && least >= UINT32_MAX; i++) {
        choose_keys(o, i, &seed);
        make_order(o);
        const uint64_t burden = burden_of(o);
        if (burden >= least) continue;
        uint32_t *const other = o->order;
        least = burden, o->order = best, best = other, *count = o->count;
    }
    return best;
}

static bool open_ordering(Ordering *o, uint32_t wanted_count)
{
    const size_t nodes = o->flat->count + 1u;
    o->wanted = malloc((wanted_count + 1u) * sizeof *o->wanted);
    o->is_needed = calloc(nodes, 1), o->is_done = calloc(nodes, 1);
    o->user_from = calloc(nodes + 1, sizeof *o->user_from);
    o->users = calloc(3 * nodes, sizeof *o->users);
    o->need = calloc(nodes, sizeof *o->need), o->key = calloc(nodes, sizeof *o->key);
    o->stack = malloc(8 * nodes * sizeof *o->stack), o->base = malloc(nodes * sizeof *o->base);
    o->order = malloc(nodes * sizeof *o->order);
    o->left = calloc(nodes, sizeof *o->left), o->open = calloc(nodes, sizeof *o->open);
    return o->wanted && o->is_needed && o->is_done && o->user_from && o->users && o->need &&
           o->key && o->stack && o->base && o->order && o->left && o->open;
}

uint32_t *tr_order_make(const Flat *flat, const bool *is_there, const uint32_t *wanted,
                        uint32_t wanted_count, uint32_t *count)
{
    Ordering o = {.flat = flat, .is_there = is_there, .wanted_count = wanted_count};
    uint32_t *best = NULL;
    if (open_ordering(&o, wanted_count)) {
        memcpy(o.wanted, wanted, wanted_count * sizeof *wanted);
        find_needed(&o);
        find_users(&o);
        find_needs(&o);
        best = find_best(&o, count);
    }
    void *const all[] = {o.wanted, o.is_needed, o.is_done, o.user_from, o.users, o.need,
                         o.key,    o.stack,     o.base,    o.order,     o.left,  o.open};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return best;
}
