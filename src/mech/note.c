// SPDX-License-Identifier: Apache-2.0
// The user's formulas of what moves, and where they stand in the model: a run that meets something
// that is not finite can say which of them it is (T130).
#include "mech/tree.h"

#include <stdio.h>
#include <stdlib.h>

static void keep(Tree *tree, Formula formula)
{
    System *s = tree->system;
    if (!tr_grow((void **)&s->formulas, &s->formula_capacity, s->formula_count + 1,
                 sizeof *s->formulas)) {
        tree->graph->failed = true;
        return;
    }
    s->formulas[s->formula_count++] = formula;
}

void tr_tree_note(Tree *tree, Value value, Expr x)
{
    if (has_failed(tree->err) || !x.id || tr_tree_is_constant(x)) return;
    keep(tree, (Formula){.path = "", .text = value.text.at, .place = value.place, .value = x});
}

void tr_tree_note_name(Tree *tree, Place place, Expr x, Expr divisor, const char *words)
{
    const System *s = tree->system;
    for (uint32_t i = 0; i < s->formula_count; i++)
        if (s->formulas[i].divisor.id && s->formulas[i].value.id == x.id) return;
    keep(tree, (Formula){.path = "",
                         .place = place,
                         .value = x,
                         .divisor = divisor,
                         .words = tr_tree_text(tree, text_of(words))});
}

// ---- paths ---------------------------------------------------------------------------------

typedef struct Walk {
    Tree *tree;
    Formula **by_text; // in the order of their texts
    char path[200];
} Walk;

static bool is_before(const char *a, const char *b) { return (uintptr_t)a < (uintptr_t)b; }

static int by_text(const void *a, const void *b)
{
    const Formula *const *x = a, *const *y = b;
    return is_before((*x)->text, (*y)->text) ? -1 : is_before((*y)->text, (*x)->text);
}

// Formulas that this text is or contains are called after the path.
static void name_value(Walk *w, Value value)
{
    const uint32_t count = w->tree->system->formula_count;
    uint32_t low = 0, high = count;
    if (!value.text.at) return; // nothing was written
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (is_before(w->by_text[middle]->text, value.text.at))
            low = middle + 1;
        else
            high = middle;
    }
    const char *end = value.text.at + value.text.length, *path = NULL;
    for (; low < count && is_before(w->by_text[low]->text, end); low++) {
        if (!path) path = tr_tree_text(w->tree, text_of(w->path));
        w->by_text[low]->path = path;
    }
}

// Appends ".name" to the path; how long it was
static size_t go_down(Walk *w, Text name)
{
    const size_t length = strlen(w->path);
    if (name.length)
        snprintf(w->path + length, sizeof w->path - length, "%s%.*s", length ? "." : "",
                 TEXT(name));
    return length;
}

static void walk_kind(Walk *w, const Kind *kind, const void *thing);

static void walk_things(Walk *w, const Kind *kind, const AnyList *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const void *thing = list->at + i * kind->size;
        const size_t length = go_down(w, ((const Value *)thing)->text);
        walk_kind(w, kind, thing);
        w->path[length] = 0;
    }
}

static void walk_field(Walk *w, const Field *field, const void *at)
{
    const Kind *kind = tr_kind_of(field->type);
    const AnyList *list = at;
    if (kind && kind->named)
        walk_things(w, kind, list);
    else if (kind)
        walk_kind(w, kind, at);
    else if (field->type <= TYPE_TEXT)
        name_value(w, *(const Value *)at);
    else if (field->type == TYPE_LIST)
        for (uint32_t i = 0; i < list->count; i++) name_value(w, ((const Values *)at)->at[i]);
    else
        for (uint32_t i = 0; i < list->count; i++) {
            const Pair *pair = &((const Pairs *)at)->at[i];
            const size_t length = go_down(w, pair->key.text);
            name_value(w, pair->key);
            name_value(w, pair->value);
            w->path[length] = 0;
        }
}

static void walk_kind(Walk *w, const Kind *kind, const void *thing)
{
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        const size_t length = go_down(w, text_of(field->key));
        walk_field(w, field, (const char *)thing + field->offset);
        w->path[length] = 0;
    }
}

void tr_tree_name_notes(Tree *tree)
{
    System *s = tree->system;
    Walk walk = {.tree = tree, .by_text = calloc(s->formula_count + 1u, sizeof *walk.by_text)};
    if (!walk.by_text) {
        tree->graph->failed = true;
        return;
    }
    for (uint32_t i = 0; i < s->formula_count; i++) walk.by_text[i] = &s->formulas[i];
    qsort(walk.by_text, s->formula_count, sizeof *walk.by_text, by_text);
    if (s->formula_count) walk_kind(&walk, tr_kind_model(), &tree->model->fields);
    free(walk.by_text);
    for (uint32_t i = 0; i < s->formula_count; i++) s->formulas[i].text = NULL; // it goes
}
