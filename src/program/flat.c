// SPDX-License-Identifier: Apache-2.0
#include "program/flat.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void tr_flat_free(Flat *flat)
{
    for (uint32_t i = 0; i < flat->table_count; i++) tr_table_free(flat->tables[i]);
    free(flat->nodes);
    free(flat->numbers);
    free((void *)flat->tables);
    tr_hash_free(&flat->hash);
    *flat = (Flat){0};
}

// ---- nodes ---------------------------------------------------------------------------------

static bool are_equal(const void *owner, uint32_t index, const void *key)
{
    const FlatNode *a = &((const Flat *)owner)->nodes[index], *b = key;
    return a->code == b->code && a->n == b->n && a->a == b->a && a->b == b->b && a->c == b->c;
}

static uint32_t add(Flat *flat, FlatNode node)
{
    const uint32_t key[] = {node.code, (uint16_t)node.n, node.a, node.b, node.c};
    const uint32_t code = tr_hash_bytes(key, sizeof key);
    if (flat->failed || !hash_reserve(&flat->hash, 1) ||
        !tr_grow((void **)&flat->nodes, &flat->capacity, flat->count + 1, sizeof node)) {
        flat->failed = true;
        return 0;
    }
    const uint32_t slot = hash_slot(&flat->hash, code, are_equal, flat, &node);
    if (flat->hash.slots[slot].index) return flat->hash.slots[slot].index - 1;
    flat->nodes[flat->count] = node;
    hash_insert(&flat->hash, slot, flat->count, code);
    return flat->count++;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint32_t tr_flat_number(Flat *flat, double value)
{
    uint32_t k = 0; // there are not many
    while (k < flat->number_count && bits_of(flat->numbers[k]) != bits_of(value)) k++;
    if (k == flat->number_count) {
        if (!tr_grow((void **)&flat->numbers, &flat->number_capacity, k + 1, sizeof value)) {
            flat->failed = true;
            return 0;
        }
        flat->numbers[flat->number_count++] = value;
    }
    return add(flat, (FlatNode){.code = FLAT_NUMBER, .a = k});
}

uint32_t tr_flat_argument(Flat *flat, Argument which, uint32_t entry)
{
    return add(flat, (FlatNode){.code = FLAT_ARGUMENT, .a = which, .b = entry});
}

static uint32_t table_index(Flat *flat, const Table *table)
{
    uint32_t k = 0;
    while (k < flat->table_count && flat->tables[k] != table) k++;
    if (k < flat->table_count) return k;
    if (!tr_grow((void **)&flat->tables, &flat->table_capacity, k + 1, sizeof(Table *))) {
        flat->failed = true;
        return 0;
    }
    flat->tables[flat->table_count++] = tr_table_share(table);
    return k;
}

// What an operation gives for numbers
static double value_of(const Flat *flat, const FlatNode *node)
{
    double x[3] = {0};
    for (int k = 0; k < flat_operands(node); k++)
        x[k] = flat_number_of(flat, flat_operand(node, k));
    switch (node->code) {
    case CODE_FMA: return fma(x[0], x[1], x[2]);
    case CODE_FMS: return fma(x[0], x[1], -x[2]);
    case CODE_FNMA: return fma(-x[0], x[1], x[2]);
    default: break;
    }
    const bool table = tr_op[node->code].form == FORM_TABLE;
    return tr_op_value((Op)node->code, x[0], x[1], x[2], node->n,
                       table ? flat->tables[node->c] : NULL);
}

// What languages have no literal for stays an operation.
static uint32_t add_folded(Flat *flat, FlatNode node)
{
    bool folds = !flat->failed;
    for (int k = 0; folds && k < flat_operands(&node); k++)
        folds = flat_is_number(flat, flat_operand(&node, k));
    if (folds) {
        const double value = value_of(flat, &node);
        if (isfinite(value)) return tr_flat_number(flat, value);
    }
    if (!flat->failed && node.code == OP_SELECT && flat_is_number(flat, node.a))
        return flat_number_of(flat, node.a) != 0 ? node.b : node.c;
    return add(flat, node);
}

uint32_t tr_flat_node(Flat *flat, unsigned code, uint32_t a, uint32_t b, uint32_t c)
{
    return add_folded(flat, (FlatNode){.code = (uint8_t)code, .a = a, .b = b, .c = c});
}

// ---- blocks of equations -------------------------------------------------------------------

// y -= f x, as lineage_subtract has it
static void subtract(Flat *flat, uint32_t f, uint32_t x, uint32_t *y)
{
    *y = tr_flat_node(flat, CODE_FNMA, f, x, *y);
}

// M becomes L, with D in place of its diagonal (T142).
static void factor(Flat *flat, const Lineage *s, uint32_t *M)
{
    for (uint32_t i = s->size; i-- > 0;) {
        uint32_t *row = M + s->start[i], *at = row;
        for (uint32_t j = s->parent[i]; j != LINEAGE_TOP; j = s->parent[j]) {
            at++;
            const uint32_t f = tr_flat_node(flat, OP_DIV, *at, *row, 0);
            for (uint32_t k = 0; k < s->start[j + 1] - s->start[j]; k++)
                subtract(flat, f, at[k], &M[s->start[j] + k]);
            *at = f;
        }
    }
}

// Right sides become solutions, a row of `columns` for each unknown (T143).
static void solve(Flat *flat, const Lineage *s, const uint32_t *L, uint32_t *x, uint32_t columns)
{
    for (uint32_t i = s->size; i-- > 0;) {
        const uint32_t *at = L + s->start[i];
        for (uint32_t j = s->parent[i]; j != LINEAGE_TOP; j = s->parent[j]) {
            at++;
            for (uint32_t c = 0; c < columns; c++)
                subtract(flat, *at, x[i * columns + c], &x[j * columns + c]);
        }
    }
    for (uint32_t i = 0; i < s->size; i++) {
        const uint32_t *at = L + s->start[i];
        for (uint32_t c = 0; c < columns; c++)
            x[i * columns + c] = tr_flat_node(flat, OP_DIV, x[i * columns + c], *at, 0);
        for (uint32_t j = s->parent[i]; j != LINEAGE_TOP; j = s->parent[j]) {
            at++;
            for (uint32_t c = 0; c < columns; c++)
                subtract(flat, *at, x[j * columns + c], &x[i * columns + c]);
        }
    }
}

static void add_block(Flat *flat, const Program *p, const Instruction *i, const uint32_t *value,
                      uint32_t *results)
{
    const Lineage *s = p->lineages[i->c];
    const uint32_t factors = i->code == CODE_SOLVE ? lineage_entries(s) : 0;
    uint32_t *L = calloc(factors + 1u, sizeof *L);
    if (!L) {
        flat->failed = true;
        return;
    }
    for (uint32_t k = 0; k < i->b; k++) {
        const uint32_t from = value[p->lists[i->a + k]];
        if (k < factors)
            L[k] = from;
        else
            results[k - factors] = from;
    }
    if (i->code == CODE_SOLVE)
        solve(flat, s, L, results, (i->b - factors) / s->size);
    else
        factor(flat, s, results);
    free(L);
}

// ---- programs ------------------------------------------------------------------------------

// Which instructions the wanted outputs need, by instruction; NULL when memory runs out
static bool *find_needed(const Program *p, const uint32_t *wanted, uint32_t count)
{
    bool *value = calloc(value_count(p) + 1u, sizeof *value);
    bool *needed = calloc(p->instruction_count + 1u, sizeof *needed);
    for (uint32_t k = 0; value && k < count; k++) value[p->outputs[wanted[k]]] = true;
    for (uint32_t k = p->instruction_count; value && needed && k-- > 0;) {
        for (uint32_t v = p->first[k]; v < p->first[k + 1]; v++) needed[k] = needed[k] || value[v];
        const Instruction *i = &p->instructions[k];
        for (uint32_t o = 0; needed[k] && o < operand_count(i); o++)
            value[operand_at(p, i, o)] = true;
    }
    if (!value) free(needed), needed = NULL;
    free(value);
    return needed;
}

static void add_instruction(Flat *flat, const Program *p, uint32_t k, uint32_t *value)
{
    const Instruction *i = &p->instructions[k];
    if (is_block(i->code)) {
        add_block(flat, p, i, value, value + p->first[k]);
        return;
    }
    FlatNode node = {.code = i->code, .n = i->n};
    const int operands = code_operands(i->code);
    node.a = value[i->a];
    if (operands > 1) node.b = value[i->b];
    if (operands > 2) node.c = value[i->c];
    if (i->code < OP_COUNT && tr_op[i->code].form == FORM_TABLE)
        node.c = table_index(flat, p->tables[i->c]);
    else
        node.n = i->code == OP_POW ? i->n : 0;
    value[p->first[k]] = add_folded(flat, node);
}

void tr_flat_program(Flat *flat, const tr_program *p, const uint32_t *inputs,
                     const uint32_t *wanted, uint32_t count, uint32_t *out)
{
    uint32_t *value = calloc(value_count(p) + 1u, sizeof *value);
    bool *needed = find_needed(p, wanted, count);
    if (!value || !needed)
        flat->failed = true;
    else {
        memcpy(value, inputs, p->input_count * sizeof *value);
        for (uint32_t k = 0; k < p->constant_count; k++)
            value[p->input_count + k] = tr_flat_number(flat, p->constants[k]);
        for (uint32_t k = 0; k < p->instruction_count && !flat->failed; k++)
            if (needed[k]) add_instruction(flat, p, k, value);
        for (uint32_t k = 0; k < count; k++) out[k] = value[p->outputs[wanted[k]]];
    }
    free(value);
    free(needed);
}

// ---- replacing -----------------------------------------------------------------------------

bool *tr_flat_needed(const Flat *flat, const uint32_t *values, uint32_t value_count,
                     const uint32_t *but, uint32_t but_count)
{
    bool *needed = calloc(flat->count + 1u, sizeof *needed);
    bool *ends = calloc(flat->count + 1u, sizeof *ends);
    for (uint32_t k = 0; needed && k < value_count; k++) needed[values[k]] = true;
    for (uint32_t k = 0; ends && k < but_count; k++) ends[but[k]] = true;
    for (uint32_t i = flat->count; needed && ends && i-- > 0;)
        for (int k = 0; needed[i] && !ends[i] && k < flat_operands(&flat->nodes[i]); k++)
            needed[flat_operand(&flat->nodes[i], k)] = true;
    if (!ends) free(needed), needed = NULL;
    free(ends);
    return needed;
}

void tr_flat_replace(Flat *flat, const uint32_t *from, const uint32_t *to, uint32_t count,
                     uint32_t *values, uint32_t value_count)
{
    const uint32_t nodes = flat->count;
    bool *needed = tr_flat_needed(flat, values, value_count, from, count);
    uint32_t *map = calloc(nodes + 1u, sizeof *map);
    if (!needed || !map) flat->failed = true;
    for (uint32_t i = 0; map && i < nodes; i++) map[i] = i;
    for (uint32_t k = 0; map && k < count; k++) map[from[k]] = to[k];
    for (uint32_t i = 0; needed && map && i < nodes; i++) {
        FlatNode node = flat->nodes[i];
        const int operands = flat_operands(&node);
        if (!needed[i] || map[i] != i || !operands) continue;
        node.a = map[node.a];
        if (operands > 1) node.b = map[node.b];
        if (operands > 2) node.c = map[node.c];
        map[i] = add_folded(flat, node);
    }
    for (uint32_t k = 0; map && k < value_count; k++) values[k] = map[values[k]];
    free(needed);
    free(map);
}
