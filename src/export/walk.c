// SPDX-License-Identifier: Apache-2.0
#include "export/walk.h"

#include "base/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INLINED = 8 };
#define NO_PART UINT32_MAX
#define NO_SLOT UINT32_MAX

// What is known of a node in one function
typedef struct NodePlace {
    uint32_t uses;
    uint32_t part;   // that it is found in
    uint32_t last;   // that needs it
    uint32_t slot;   // of w, where another part needs it
    uint32_t number; // of its name, t7
    uint32_t weight; // operations that stand in it
    bool is_needed, is_inlined, is_output;
    uint32_t user; // the last one
} NodePlace;

typedef struct Layout {
    Walk *walk;
    const Flat *flat;
    const CodeFunction *function;
    NodePlace *at;
    uint32_t *order, count; // what is to be computed
    uint32_t parts, names;
    Buffer text[1];
} Layout;

static bool is_leaf(const FlatNode *node) { return node->code >= FLAT_NUMBER; }

// ---- what is needed where ------------------------------------------------------------------

static void mark_needed(Layout *l)
{
    for (uint32_t k = 0; k < l->function->count; k++) {
        NodePlace *at = &l->at[l->function->value[k]];
        at->is_needed = at->is_output = true;
        at->uses++;
    }
    for (uint32_t i = l->flat->count; i-- > 0;) {
        const FlatNode *node = &l->flat->nodes[i];
        if (!l->at[i].is_needed) continue;
        for (int k = 0; k < flat_operands(node); k++) {
            NodePlace *at = &l->at[flat_operand(node, k)];
            at->is_needed = true;
            at->user = i;
            at->uses++;
        }
    }
    for (uint32_t i = 0; i < l->flat->count; i++)
        if (l->at[i].is_needed && !is_leaf(&l->flat->nodes[i])) l->order[l->count++] = i;
}

static void divide(Layout *l)
{
    const uint32_t most = l->walk->tongue->most;
    l->parts = l->count <= most + most / 4 ? 1 : (l->count + most - 1) / most;
    const uint32_t each = (l->count + l->parts - 1) / l->parts;
    for (uint32_t i = 0; i < l->count; i++) {
        NodePlace *at = &l->at[l->order[i]];
        at->part = at->last = each ? i / each : 0;
    }
    for (uint32_t i = 0; i < l->count; i++) {
        const FlatNode *node = &l->flat->nodes[l->order[i]];
        for (int k = 0; k < flat_operands(node); k++) {
            NodePlace *from = &l->at[flat_operand(node, k)];
            const uint32_t part = l->at[l->order[i]].part;
            if (part > from->last) from->last = part;
        }
    }
}

// What is used once, in the same part, stands where it is used, unless that becomes long.
static void inline_nodes(Layout *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t id = l->order[i];
        const FlatNode *node = &l->flat->nodes[id];
        NodePlace *at = &l->at[id];
        at->weight = 1;
        for (int k = 0; k < flat_operands(node); k++)
            if (l->at[flat_operand(node, k)].is_inlined)
                at->weight += l->at[flat_operand(node, k)].weight;
        at->is_inlined =
            at->uses == 1 && at->last == at->part && (at->is_output || at->weight < MOST_INLINED);
    }
}

// Entries of w, each as long as it is needed; how many there are at most
static uint32_t give_slots(Layout *l)
{
    uint32_t most = 0, *ends = calloc(l->count + 1u, sizeof *ends); // by slot: the last part
    if (!ends) return NO_SLOT;
    for (uint32_t i = 0; i < l->count; i++) {
        NodePlace *at = &l->at[l->order[i]];
        if (at->last == at->part) continue;
        uint32_t slot = 0;
        while (slot < most && ends[slot] >= at->part) slot++;
        if (slot == most) most++;
        ends[slot] = at->last;
        at->slot = slot;
    }
    free(ends);
    return most;
}

// ---- expressions ---------------------------------------------------------------------------

void tr_walk_number(Buffer *out, const Tongue *tongue, double value, bool is_single)
{
    if (is_single) value = (double)(float)value; // beyond what floats are it is infinite
    if (isnan(value) || isinf(value)) {
        tr_buffer_print(out, "%s%s", value < 0 ? "-" : "",
                        isnan(value) ? tongue->nan : tongue->infinity);
        return;
    }
    enum { FLOAT_DIGITS = 9 }; // that read back as the same
    char text[TR_NUMBER_SIZE];
    tr_number_print(is_single ? tr_number_rounded(value, FLOAT_DIGITS) : value, text);
    const bool is_bare = tongue->is_whole_real && !strpbrk(text, ".e");
    tr_buffer_print(out, "%s%s%s", text, is_bare ? ".0" : "", tongue->number_end);
}

const char *tr_argument_name(Argument which)
{
    static const char *const names[ARGUMENT_COUNT] = {"t", "x", "u",   "p",     "weight", "change",
                                                      "s", "c", "due", "noise", "found"};
    return names[which];
}

static const char *argument_array(const FlatNode *node)
{
    return tr_argument_name((Argument)node->a);
}

static const CodeNames *argument_names(const Export *code, const FlatNode *node)
{
    switch (node->a) {
    case ARGUMENT_X: return &code->x;
    case ARGUMENT_U: return &code->u;
    case ARGUMENT_S: return &code->samples.s;
    case ARGUMENT_C: return &code->samples.c;
    default: return &code->p;
    }
}

static void name_argument(Buffer *out, const Export *code, const FlatNode *node)
{
    switch (node->a) {
    case ARGUMENT_T: tr_buffer_print(out, "t"); break;
    case ARGUMENT_DUE:
    case ARGUMENT_NOISE:
    case ARGUMENT_WEIGHT:
    case ARGUMENT_FOUND:
    case ARGUMENT_CHANGE: tr_buffer_print(out, "%s_%u", argument_array(node), node->b); break;
    default: tr_buffer_print(out, "%s", argument_names(code, node)->at[node->b].id);
    }
}

// "sin_q_roll" where a sine is that of an argument, else "t7"
static void name_node(const Layout *l, Buffer *out, uint32_t id)
{
    const FlatNode *node = &l->flat->nodes[id];
    const FlatNode *of = node->code < FLAT_NUMBER ? &l->flat->nodes[node->a] : NULL;
    if (node->code == FLAT_ARGUMENT)
        name_argument(out, l->walk->code, node);
    else if ((node->code == OP_SIN || node->code == OP_COS) && of->code == FLAT_ARGUMENT) {
        tr_buffer_print(out, "%s_", tr_op[node->code].name);
        name_argument(out, l->walk->code, of);
    } else
        tr_buffer_print(out, "t%u", l->at[id].number);
}

static Level level_of(const Layout *l, uint32_t id)
{
    const FlatNode *node = &l->flat->nodes[id];
    if (node->code == FLAT_NUMBER)
        return signbit(flat_number_of(l->flat, id)) ? LEVEL_SIGN : LEVEL_ATOM;
    if (node->code == FLAT_ARGUMENT || !l->at[id].is_inlined) return LEVEL_ATOM;
    return l->walk->tongue->phrases[node->code].level;
}

static void write_node(Layout *l, Buffer *out, uint32_t id);
static void write_value(Layout *l, Buffer *out, uint32_t id);

static void write_operand(Layout *l, Buffer *out, uint32_t id, Level need)
{
    const bool brackets = level_of(l, id) < need;
    if (brackets) tr_buffer_add(out, "(", 1);
    write_value(l, out, id);
    if (brackets) tr_buffer_add(out, ")", 1);
}

static bool is_relation(unsigned code)
{
    return code < OP_COUNT && tr_op[code].form == FORM_RELATION;
}

static void write_phrase(Layout *l, Buffer *out, const FlatNode *node, const Phrase *phrase);

static void put_between(Buffer *out, const char *format, const Buffer *inside)
{
    const char *at = strstr(format, "%s");
    tr_buffer_add(out, format, (size_t)(at - format));
    tr_buffer_add(out, inside->at ? inside->at : "", inside->length);
    tr_buffer_print(out, "%s", at + 2);
}

// As a condition: a relation that stands here, or that a number is not 0
static void write_condition(Layout *l, Buffer *out, uint32_t id)
{
    const FlatNode *node = &l->flat->nodes[id];
    if (is_relation(node->code) && l->at[id].is_inlined) {
        write_phrase(l, out, node, &l->walk->tongue->phrases[node->code]);
        return;
    }
    Buffer inside = {0};
    write_operand(l, &inside, id, LEVEL_SUM);
    put_between(out, l->walk->tongue->is_true, &inside);
    tr_buffer_free(&inside);
}

static void write_phrase(Layout *l, Buffer *out, const FlatNode *node, const Phrase *phrase)
{
    assert(phrase->text); // programs have no others
    for (const char *c = phrase->text; *c; c++) {
        if (*c != '%') {
            tr_buffer_add(out, c, 1);
            continue;
        }
        c++;
        if (*c == '?')
            write_condition(l, out, node->a);
        else
            write_operand(l, out, flat_operand(node, *c - 'a'), phrase->need[*c - 'a']);
    }
}

static void write_table(Layout *l, Buffer *out, const FlatNode *node)
{
    Buffer a = {0}, b = {0};
    write_value(l, &a, node->a);
    if (node->code == OP_TABLE2)
        write_value(l, &b, node->b);
    else
        tr_walk_number(&b, l->walk->tongue, 0, l->walk->code->options.is_single);
    if (!a.failed && !b.failed) {
        const char *format = l->walk->tongue->table;
        for (const char *c = format; *c; c++) { // one function for all, whatever the language
            if (*c != '%')
                tr_buffer_add(out, c, 1);
            else if (*++c == 't')
                tr_buffer_print(out, "%u", node->c + l->walk->tongue->first);
            else if (*c == 'n')
                tr_buffer_print(out, "%d", node->n);
            else
                tr_buffer_print(out, "%s", *c == 'a' ? a.at : b.at);
        }
    }
    tr_buffer_free(&a);
    tr_buffer_free(&b);
}

// The operation itself
static void write_node(Layout *l, Buffer *out, uint32_t id)
{
    const FlatNode *node = &l->flat->nodes[id];
    const Tongue *tongue = l->walk->tongue;
    if (node->code < OP_COUNT && tr_op[node->code].form == FORM_TABLE)
        write_table(l, out, node);
    else if (is_relation(node->code)) {
        Buffer inside = {0};
        write_phrase(l, &inside, node, &tongue->phrases[node->code]);
        put_between(out, tongue->truth, &inside);
        tr_buffer_free(&inside);
    } else
        write_phrase(l, out, node, &tongue->phrases[node->code]);
}

// As an operand: by its name, unless it stands here
static void write_value(Layout *l, Buffer *out, uint32_t id)
{
    const FlatNode *node = &l->flat->nodes[id];
    if (node->code == FLAT_NUMBER)
        tr_walk_number(out, l->walk->tongue, flat_number_of(l->flat, id),
                       l->walk->code->options.is_single);
    else if (node->code == FLAT_ARGUMENT || !l->at[id].is_inlined)
        name_node(l, out, id);
    else
        write_node(l, out, id);
}

// ---- statements ----------------------------------------------------------------------------

static void write_entry(const Layout *l, Buffer *out, const char *array, uint32_t entry)
{
    for (const char *c = l->walk->tongue->entry; *c; c++) {
        if (*c != '%')
            tr_buffer_add(out, c, 1);
        else if (*++c == 's')
            tr_buffer_print(out, "%s", array);
        else
            tr_buffer_print(out, "%u", entry + l->walk->tongue->first);
    }
}

// A name or an entry, and its value
static void write_statement(const Layout *l, const char *format, Buffer *to, Buffer *value,
                            const char *note)
{
    Buffer *out = l->walk->out;
    const char *first = strstr(format, "%s"), *second = strstr(first + 2, "%s");
    tr_buffer_add(out, format, (size_t)(first - format));
    tr_buffer_print(out, "%s", to->at ? to->at : "");
    tr_buffer_add(out, first + 2, (size_t)(second - first) - 2);
    tr_buffer_add(out, value->at ? value->at : "", value->length);
    tr_buffer_print(out, "%s", second + 2);
    if (note) {
        Buffer words = {0};
        tr_buffer_print(&words, "%s%s", note, l->walk->prime ? l->walk->prime : "");
        put_between(out, l->walk->tongue->note, &words);
        tr_buffer_free(&words);
    }
    tr_buffer_add(out, "\n", 1);
    out->failed = out->failed || to->failed || value->failed;
    tr_buffer_free(to);
    tr_buffer_free(value);
}

// Arguments and results of earlier parts, by name
static void write_known(Layout *l, uint32_t part)
{
    bool *seen = calloc(l->flat->count + 1u, sizeof *seen);
    if (!seen) {
        l->walk->out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < l->count; i++) {
        const FlatNode *node = &l->flat->nodes[l->order[i]];
        if (l->at[l->order[i]].part != part) continue;
        for (int k = 0; k < flat_operands(node); k++) seen[flat_operand(node, k)] = true;
    }
    for (uint32_t k = 0; part + 1 == l->parts && k < l->function->count; k++)
        if (is_leaf(&l->flat->nodes[l->function->value[k]])) seen[l->function->value[k]] = true;
    for (uint32_t i = 0; i < l->flat->count; i++) {
        const FlatNode *node = &l->flat->nodes[i];
        const bool is_argument = node->code == FLAT_ARGUMENT && node->a != ARGUMENT_T;
        const bool is_earlier = !is_leaf(node) && l->at[i].part != part;
        if (!seen[i] || (!is_argument && !is_earlier)) continue;
        Buffer name = {0}, from = {0};
        name_node(l, &name, i);
        write_entry(l, &from, is_argument ? argument_array(node) : "w",
                    is_argument ? node->b : l->at[i].slot);
        write_statement(l, l->walk->tongue->keep, &name, &from, NULL);
    }
    free(seen);
}

static void write_output(Layout *l, uint32_t k)
{
    const uint32_t entry = l->function->entry[k];
    const CodeNames *names = l->walk->entries;
    Buffer to = {0}, value = {0};
    write_entry(l, &to, l->walk->array, entry);
    write_value(l, &value, l->function->value[k]);
    write_statement(l, l->walk->tongue->set, &to, &value,
                    names && entry < names->count ? names->at[entry].id : NULL);
}

static void write_part(Layout *l, uint32_t part, const uint32_t *first_output,
                       const uint32_t *next_output)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t id = l->order[i];
        NodePlace *at = &l->at[id];
        if (at->part != part) continue;
        if (!at->is_inlined) {
            Buffer name = {0}, value = {0};
            at->number = ++l->names;
            name_node(l, &name, id);
            write_node(l, &value, id);
            write_statement(l, l->walk->tongue->keep, &name, &value, NULL);
        }
        if (at->last != part) {
            Buffer slot = {0}, value = {0};
            write_entry(l, &slot, "w", at->slot);
            name_node(l, &value, id);
            write_statement(l, l->walk->tongue->set, &slot, &value, NULL);
        }
        for (uint32_t k = first_output[id]; k != NO_PART; k = next_output[k]) write_output(l, k);
    }
    for (uint32_t k = 0; part + 1 == l->parts && k < l->function->count; k++)
        if (is_leaf(&l->flat->nodes[l->function->value[k]])) write_output(l, k);
}

static uint32_t uses_of(const Layout *l, uint32_t part)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const NodePlace *at = &l->at[l->order[i]];
        const FlatNode *node = &l->flat->nodes[l->order[i]];
        if (at->part != part) continue;
        if (at->last != part) uses |= USES_ROOM;
        if (at->is_output) uses |= SETS_ENTRIES;
        for (int k = 0; k < flat_operands(node); k++) {
            const uint32_t from = flat_operand(node, k);
            if (l->flat->nodes[from].code == FLAT_ARGUMENT)
                uses |= 1u << l->flat->nodes[from].a;
            else if (!is_leaf(&l->flat->nodes[from]) && l->at[from].part != part)
                uses |= USES_ROOM;
        }
    }
    for (uint32_t k = 0; part + 1 == l->parts && k < l->function->count; k++) {
        const FlatNode *node = &l->flat->nodes[l->function->value[k]];
        if (node->code == FLAT_ARGUMENT) uses |= 1u << node->a;
        if (is_leaf(node)) uses |= SETS_ENTRIES;
    }
    return uses;
}

static void write_parts(Layout *l, Written *written, uint32_t *first_output, uint32_t *next_output)
{
    for (uint32_t i = 0; i < l->flat->count; i++) first_output[i] = NO_PART;
    for (uint32_t k = l->function->count; k-- > 0;) {
        next_output[k] = first_output[l->function->value[k]];
        first_output[l->function->value[k]] = k;
    }
    for (uint32_t part = 0; part < l->parts; part++) {
        const uint32_t uses = uses_of(l, part);
        written->uses |= uses;
        l->walk->open_part(l->walk, l->parts == 1 ? WHOLE : part, uses);
        write_known(l, part);
        write_part(l, part, first_output, next_output);
        l->walk->close_part(l->walk, l->parts == 1 ? WHOLE : part);
    }
}

Written tr_walk(Walk *walk, const CodeFunction *function)
{
    Written written = {0};
    const Flat *flat = &walk->code->flat;
    Layout l = {.walk = walk, .flat = flat, .function = function};
    l.at = calloc(flat->count + 1u, sizeof *l.at);
    l.order = calloc(2 * (size_t)flat->count + function->count + 1u, sizeof *l.order);
    if (l.at && l.order) {
        mark_needed(&l);
        divide(&l);
        inline_nodes(&l);
        written.parts = l.parts;
        written.room = give_slots(&l);
        uint32_t *first_output = l.order + flat->count;
        write_parts(&l, &written, first_output, first_output + flat->count);
    }
    if (!l.at || !l.order || written.room == NO_SLOT) walk->out->failed = true;
    free(l.at);
    free(l.order);
    return written;
}
