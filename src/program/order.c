// SPDX-License-Identifier: Apache-2.0
// A call of a kernel empties all registers, so there should be few. The depth of an instruction is
// the number of calls that must come before it. Kernels go into the call at their own depth;
// others, unless a kernel waits for them, behind the last call.
#include "program/order.h"

#include <stdlib.h>
#include <string.h>

typedef struct Ordering {
    const Program *program;
    const KernelSet *kernels;
    uint32_t start, end, first; // the instructions of the part; the first value that one defines
    uint32_t *calls;            // by value from there on: that must come before it can be used
    uint32_t *latest;           // likewise: call before which it must be there
    uint32_t *depth;            // by instruction of the part; then where it goes
    uint32_t deepest;
} Ordering;

static bool is_kernel(const Ordering *o, const Instruction *i)
{
    return o->kernels->of[i->code] != NULL;
}

static void find_depths(Ordering *o)
{
    const Program *p = o->program;
    for (uint32_t k = o->start; k < o->end; k++) {
        const Instruction *i = &p->instructions[k];
        uint32_t depth = 0;
        for (uint32_t which = 0; which < operand_count(i); which++) {
            const uint32_t value = operand_at(p, i, which);
            if (value >= o->first && o->calls[value - o->first] > depth)
                depth = o->calls[value - o->first];
        }
        for (uint32_t v = p->first[k]; v < p->first[k + 1]; v++)
            o->calls[v - o->first] = depth + is_kernel(o, i);
        o->depth[k - o->start] = depth;
        if (depth > o->deepest) o->deepest = depth;
    }
}

// No sooner than somebody needs them
static void delay(Ordering *o)
{
    const Program *p = o->program;
    for (uint32_t v = p->first[o->start]; v < p->first[o->end]; v++)
        o->latest[v - o->first] = o->deepest;
    for (uint32_t k = o->end; k-- > o->start;) {
        const Instruction *i = &p->instructions[k];
        uint32_t at = is_kernel(o, i) ? o->depth[k - o->start] : o->deepest;
        for (uint32_t v = p->first[k]; !is_kernel(o, i) && v < p->first[k + 1]; v++)
            if (o->latest[v - o->first] < at) at = o->latest[v - o->first];
        o->depth[k - o->start] = at;
        for (uint32_t which = 0; which < operand_count(i); which++) {
            const uint32_t value = operand_at(p, i, which);
            if (value >= p->first[o->start] && o->latest[value - o->first] > at)
                o->latest[value - o->first] = at;
        }
    }
}

// By depth, kernels behind the others; NULL when memory runs out. starts[2 d] are those of depth d,
// starts[2 d + 1] their kernels.
static uint32_t *sort_by_depth(const Ordering *o, uint32_t *sorted)
{
    uint32_t *starts = calloc(2 * (size_t)o->deepest + 4, sizeof *starts);
    if (!starts) return NULL;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t k = o->start; k < o->end; k++) {
            const uint32_t key =
                2 * o->depth[k - o->start] + is_kernel(o, &o->program->instructions[k]);
            if (fill)
                sorted[starts[key + 1]++] = k;
            else
                starts[key + 2]++;
        }
        for (size_t key = 2; !fill && key < 2 * (size_t)o->deepest + 4; key++)
            starts[key] += starts[key - 1];
    }
    return starts;
}

// ---- calls ---------------------------------------------------------------------------------

// What goes into one call stands together: equal operations, of one table; sines beside cosines of
// the same. A block has a call for itself.
typedef struct KernelKey {
    uint32_t operation, table, operand, code, k;
    int n;
} KernelKey;

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_keys(const void *left, const void *right)
{
    const KernelKey *a = left, *b = right;
    const int order[] = {
        COMPARE(a->operation, b->operation), COMPARE(a->table, b->table), COMPARE(a->n, b->n),
        COMPARE(a->operand, b->operand),     COMPARE(a->code, b->code),   COMPARE(a->k, b->k)};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i]) return order[i];
    return 0;
}

static KernelKey key_of(const Program *p, uint32_t k)
{
    const Instruction *i = &p->instructions[k];
    if (is_block(i->code)) return (KernelKey){.operation = i->code, .table = k, .k = k};
    const bool table = tr_op[i->code].form == FORM_TABLE, circular = i->code == OP_COS;
    return (KernelKey){.operation = circular ? OP_SIN : i->code,
                       .table = table ? i->c : 0,
                       .n = table ? i->n : 0,
                       .operand = i->a,
                       .code = i->code,
                       .k = k};
}

static bool is_same_call(const KernelKey *a, const KernelKey *b)
{
    return a->operation == b->operation && a->table == b->table && a->n == b->n;
}

static bool is_pair(const KernelKey *keys, uint32_t i, uint32_t count)
{
    return i + 1 < count && keys[i].code == OP_SIN && keys[i + 1].code == OP_COS &&
           keys[i].operand == keys[i + 1].operand;
}

static void add_step(Order *order, uint32_t kernel, uint32_t first)
{
    if (order->count > first)
        order->steps[order->step_count++] = (Step){first, order->count - first, kernel};
}

// Pairs of sine and cosine, then the sines and the cosines that are alone
static void add_circular(Order *order, const KernelKey *keys, uint32_t count)
{
    static const uint32_t kernels[] = {KERNEL_SINCOS, OP_SIN, OP_COS};
    for (int pass = 0; pass < 3; pass++) {
        const uint32_t first = order->count;
        for (uint32_t i = 0; i < count; i++) {
            const bool pair = is_pair(keys, i, count);
            if (pair && !pass) {
                order->instructions[order->count++] = keys[i].k;
                order->instructions[order->count++] = keys[i + 1].k;
            }
            if (!pair && pass && keys[i].code == kernels[pass])
                order->instructions[order->count++] = keys[i].k;
            i += pair;
        }
        add_step(order, kernels[pass], first);
    }
}

static void add_calls(Order *order, const KernelKey *keys, uint32_t count)
{
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && is_same_call(&keys[i], &keys[end]);) end++;
        const uint32_t first = order->count;
        if (keys[i].operation == OP_SIN) {
            add_circular(order, keys + i, end - i);
            continue;
        }
        for (uint32_t k = i; k < end; k++) order->instructions[order->count++] = keys[k].k;
        add_step(order, keys[i].operation, first);
    }
}

static bool add_kernels(Order *order, const Program *p, const uint32_t *list, uint32_t count)
{
    KernelKey *keys = malloc((count + 1) * sizeof *keys);
    if (!keys) return false;
    for (uint32_t i = 0; i < count; i++) keys[i] = key_of(p, list[i]);
    if (count) qsort(keys, count, sizeof *keys, compare_keys);
    add_calls(order, keys, count);
    free(keys);
    return true;
}

// ---- a part --------------------------------------------------------------------------------

static bool fill_order(Ordering *o, const uint32_t *sorted, const uint32_t *starts, Order *order)
{
    for (uint32_t depth = 0; depth <= o->deepest; depth++) {
        for (uint32_t i = starts[2 * depth]; i < starts[2 * depth + 1]; i++) {
            order->instructions[order->count++] = sorted[i];
            order->steps[order->step_count++] = (Step){order->count - 1, 1, 0};
        }
        const uint32_t from = starts[2 * depth + 1], count = starts[2 * depth + 2] - from;
        if (count && !add_kernels(order, o->program, sorted + from, count)) return false;
    }
    return true;
}

bool tr_order_part(const Program *p, const KernelSet *kernels, ProgramPart part, Order *order)
{
    Ordering o = {.program = p,
                  .kernels = kernels,
                  .start = part_start(p, part),
                  .end = part_end(p, part),
                  .first = first_result(p)};
    const size_t count = o.end - o.start, values = p->first[o.end] - o.first;
    *order = (Order){0};
    o.calls = calloc(values + 1, sizeof *o.calls);
    o.latest = malloc((values + 1) * sizeof *o.latest);
    o.depth = malloc((count + 1) * sizeof *o.depth);
    uint32_t *sorted = malloc((count + 1) * sizeof *sorted), *starts = NULL;
    order->instructions = malloc((count + 1) * sizeof *order->instructions);
    order->steps = malloc((count + 1) * sizeof *order->steps);
    bool good = o.calls && o.latest && o.depth && sorted && order->instructions && order->steps;
    if (good) {
        find_depths(&o);
        delay(&o);
        starts = sort_by_depth(&o, sorted);
        good = starts && fill_order(&o, sorted, starts, order);
    }
    free(o.calls);
    free(o.latest);
    free(o.depth);
    free(sorted);
    free(starts);
    return good;
}

void tr_order_free(Order *order)
{
    free(order->instructions);
    free(order->steps);
    *order = (Order){0};
}
