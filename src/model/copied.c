// SPDX-License-Identifier: Apache-2.0
// One copy of an included file: which names it has, its things under new names, and how these come
// into the including file. Which names stand where is said by the rows of field.def, so a new
// section needs nothing here.
#include "model/include.h"

#include <stdio.h>

static void *section(const ModelFields *fields, const Field *field)
{
    return (char *)(uintptr_t)fields + field->offset;
}

static Value *name_of(const AnyList *any, const Kind *kind, uint32_t i)
{
    return (Value *)(void *)(any->at + i * kind->size);
}

// ---- which names a file has ----------------------------------------------------------------

// Whether what has this name, or stands in the thing as what it holds, is bound
static bool is_bound(const Naming *n, const Kind *kind, const void *thing)
{
    Given *bound = tr_given(&n->bound, ((const Value *)thing)->text);
    if (bound) bound->used = true;
    if (bound) return true;
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        const Value *held = (const void *)((const char *)thing + field->offset);
        if (field->names == NAMES_HELD && held->given && tr_given(&n->bound, held->text))
            return true;
    }
    return false;
}

typedef struct Collector {
    Names *names;
    const Naming *naming; // which of them go; NULL: none
    bool failed;
} Collector;

static void collect_name(Collector *c, Text name, bool goes)
{
    if (name.length && !tr_names_add(c->names, name, goes ? NAME_GONE : NAME_KEPT))
        c->failed = true;
}

static void collect_keys(Collector *c, const Field *field, const Pairs *pairs)
{
    for (uint32_t i = 0; i < pairs->count; i++) {
        const Text key = pairs->at[i].key.text;
        const Text name = field->names == NAMES_HEADS ? tr_head_name(key) : key;
        collect_name(c, name, c->naming && tr_given(&c->naming->bound, name));
    }
}

// New names in the fields of a thing, and of what it has one of
static void collect_fields(Collector *c, const Kind *kind, const void *thing, bool goes)
{
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        const void *at = (const char *)thing + field->offset;
        const Kind *inner = tr_kind_of(field->type);
        if (inner && !inner->named) collect_fields(c, inner, at, goes);
        if (inner || field->names != NAMES_NEW) continue;
        if (field->type == TYPE_PAIRS)
            collect_keys(c, field, at);
        else if (field->type <= TYPE_TEXT && ((const Value *)at)->given)
            collect_name(c, ((const Value *)at)->text, goes);
    }
}

static void collect_things(Collector *c, const Kind *kind, const AnyList *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const Value *thing = name_of(list, kind, i);
        const bool goes = c->naming && is_bound(c->naming, kind, thing);
        collect_name(c, thing->text, goes);
        collect_fields(c, kind, thing, goes);
    }
}

bool tr_collect_names(const ModelFields *fields, const Naming *naming, Names *names, tr_error *err)
{
    const Kind *top = tr_kind_model();
    Collector c = {.names = names, .naming = naming};
    for (size_t i = 0; i < top->field_count; i++) {
        const Field *field = &top->fields[i];
        const Kind *kind = tr_kind_of(field->type);
        const void *at = section(fields, field);
        if (field->names == NAMES_ALONE || field->names == NAMES_SAID) continue;
        if (kind && kind->named)
            collect_things(&c, kind, at);
        else if (kind)
            collect_fields(&c, kind, at, false);
        else if (field->type == TYPE_PAIRS)
            collect_keys(&c, field, at);
    }
    if (c.failed) tr_fail_memory(err);
    return !has_failed(err);
}

// ---- one copy, under its names -------------------------------------------------------------

// `said`: entries of lists and pairs go where they speak of nothing but what is bound.
static bool copy_fields(Naming *n, const Kind *kind, const void *from, void *to, bool said);

static Value copy_scalar(Naming *n, const Field *field, Value value)
{
    const Locals locals = {.words = field->locals};
    if (field->names == NAMES_A_FILE) return tr_file_moved(n, value);
    const bool is_free = field->type == TYPE_CHOICE || field->type == TYPE_FLAG ||
                         field->type == TYPE_TEXT || !value.given;
    if (!is_free) return tr_renamed(n, value, locals);
    value.place = tr_place_copied(n, value.place);
    return value;
}

static Value copy_key(Naming *n, const Field *field, Value key)
{
    if (field->type == TYPE_PAIRS && field->names == NAMES_HEADS) return tr_name_prefixed(n, key);
    if (field->type == TYPE_PAIRS && field->names != NAMES_OWN && field->names != NAMES_LOCAL)
        return tr_renamed(n, key, (Locals){0});
    key.place = tr_place_copied(n, key.place);
    return key;
}

static Value copy_pair_value(Naming *n, const Field *field, const Pair *pair)
{
    Value value = pair->value;
    const Locals locals = {field->locals, field->names == NAMES_HEADS ? pair->key.text : (Text){0}};
    if (!field->free) return tr_renamed(n, value, locals);
    value.place = tr_place_copied(n, value.place);
    return value;
}

// A pair of a section that goes, for it is bound
static bool goes(const Naming *n, const Field *field, Text key, bool said)
{
    Given *bound = tr_given(&n->bound, field->names == NAMES_HEADS ? tr_head_name(key) : key);
    if (!said || field->names == NAMES_OWN || field->type == TYPE_PARTS) return false;
    if (bound) bound->used = true;
    return bound || tr_is_gone(n, key);
}

static bool copy_pairs(Naming *n, const Field *field, const Pairs *from, Pairs *to, bool said)
{
    *to = (Pairs){0};
    for (uint32_t i = 0; i < from->count && !has_failed(n->err); i++) {
        const Pair *pair = &from->at[i];
        if (goes(n, field, pair->key.text, said)) continue;
        const Value key = copy_key(n, field, pair->key), value = copy_pair_value(n, field, pair);
        if (!has_failed(n->err)) tr_field_put(n->model, field, to, key, value, true, n->err);
    }
    return !has_failed(n->err);
}

static bool copy_words(Naming *n, const Field *field, const Values *from, Values *to, bool said)
{
    *to = (Values){0};
    for (uint32_t i = 0; i < from->count && !has_failed(n->err); i++) {
        if (said && tr_is_gone(n, from->at[i].text)) continue;
        const Value word = tr_renamed(n, from->at[i], (Locals){0});
        if (!has_failed(n->err)) tr_field_put(n->model, field, to, (Value){0}, word, false, n->err);
    }
    return !has_failed(n->err);
}

// Of the model's sections the names are new; shapes and the like are known to their body alone.
static Value copy_name(Naming *n, const Field *field, Value name, bool is_section)
{
    if (is_section && field->names == NAMES_SAID) return tr_renamed(n, name, (Locals){0});
    if (is_section) return tr_name_prefixed(n, name);
    name.place = tr_place_copied(n, name.place);
    return name;
}

static const Pairs *local_keys(const Kind *kind, const void *thing)
{
    for (size_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].names == NAMES_LOCAL)
            return (const void *)((const char *)thing + kind->fields[i].offset);
    return NULL;
}

// What the including file says of a parameter or an input stands as it is.
static void take_set(const Naming *n, Text name, Setting *setting)
{
    Given *set = tr_given(&n->set, name);
    if (!set) return;
    set->used = true;
    setting->value = set->is;
}

static bool copy_things(Naming *n, const Field *field, const AnyList *from, void *to, bool said)
{
    const Kind *kind = tr_kind_of(field->type);
    *(AnyList *)to = (AnyList){0};
    for (uint32_t i = 0; i < from->count && !has_failed(n->err); i++) {
        const Value *thing = name_of(from, kind, i);
        const bool is_said = said && field->names == NAMES_SAID;
        if (is_said ? tr_is_gone(n, thing->text) : said && is_bound(n, kind, thing)) continue;
        const Value name = copy_name(n, field, *thing, said);
        void *made = has_failed(n->err) ? NULL : tr_kind_add(n->model, kind, to, name, n->err);
        const Pairs *outer = n->local;
        n->local = local_keys(kind, thing);
        if (made) copy_fields(n, kind, thing, made, false);
        if (made && is_setting_kind(kind)) take_set(n, thing->text, made);
        n->local = outer;
    }
    return !has_failed(n->err);
}

static bool copy_field(Naming *n, const Field *field, const void *from, void *to, bool said)
{
    const Kind *inner = tr_kind_of(field->type);
    if (inner && inner->named) return copy_things(n, field, from, to, said);
    switch (field->type) {
    case TYPE_PAIRS:
    case TYPE_PARTS: return copy_pairs(n, field, from, to, said);
    case TYPE_LIST: return copy_words(n, field, from, to, said);
    default: break;
    }
    if (!inner) *(Value *)to = copy_scalar(n, field, *(const Value *)from);
    if (!inner) return !has_failed(n->err);
    *(Value *)to = *(const Value *)from;
    ((Value *)to)->place = tr_place_copied(n, ((const Value *)from)->place);
    return copy_fields(n, inner, from, to, said);
}

static bool copy_fields(Naming *n, const Kind *kind, const void *from, void *to, bool said)
{
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        if (field->names != NAMES_ALONE && !copy_field(n, field, (const char *)from + field->offset,
                                                       (char *)to + field->offset, said))
            return false;
    }
    return true;
}

// ---- into the including file ---------------------------------------------------------------

static bool refuse_clash(const Kind *kind, const Field *field, Value name, Value there,
                         tr_error *err)
{
    char where[300] = "";
    if (there.place.line)
        snprintf(where, sizeof where, ", in %s%s line %d",
                 there.place.in ? there.place.in->file : "the including file,",
                 there.place.in ? "," : "", there.place.line);
    tr_fail(err, TR_INVALID, name.place, "'%.*s' stands in '%s' already%.200s", TEXT(name.text),
            kind ? kind->title : field->key, where);
    return false;
}

static bool add_things(Model *model, const Field *field, AnyList *into, const AnyList *from,
                       tr_error *err)
{
    const Kind *kind = tr_kind_of(field->type);
    for (uint32_t i = 0; i < from->count; i++) {
        const Value *thing = name_of(from, kind, i), *there = tr_kind_find(kind, into, thing->text);
        if (there && field->names == NAMES_SAID) continue; // the including file has its say
        if (there) return refuse_clash(kind, field, *thing, *there, err);
        void *made = tr_kind_add(model, kind, into, *thing, err);
        if (!made) return false;
        memcpy(made, thing, kind->size);
    }
    return true;
}

static bool add_pairs(Model *model, const ModelFields *fields, const Field *field, Pairs *into,
                      const Pairs *from, bool is_section, tr_error *err)
{
    const bool is_said = !is_section || field->names == NAMES_SAID;
    for (uint32_t i = 0; i < from->count; i++) {
        const Value key = is_said ? tr_model_spelt(fields, into, from->at[i].key) : from->at[i].key;
        const Pair *there = tr_pairs_find(into, key.text);
        if (there && !is_said) return refuse_clash(NULL, field, key, there->key, err);
        if (!there && !tr_field_put(model, field, into, key, from->at[i].value, false, err))
            return false;
    }
    return true;
}

static bool add_words(Model *model, const Field *field, Values *into, const Values *from,
                      tr_error *err)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (!tr_field_put(model, field, into, (Value){0}, from->at[i], false, err)) return false;
    return true;
}

// Whether there is anything in it that is added
static bool has_entries(const Kind *kind, const void *thing)
{
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        const bool is_list = field->type == TYPE_PAIRS || field->type == TYPE_LIST;
        const AnyList *list = (const void *)((const char *)thing + field->offset);
        if (is_list && list->count) return true;
    }
    return false;
}

static void mark_given(Value *section, const Value *from)
{
    if (!section->given) *section = *from;
}

static bool add_fields(Model *model, const Kind *kind, void *into, const void *from, tr_error *err);

// Things, pairs and lists of it. Numbers and words of its own, as gravity, are for use alone.
static bool add_fields(Model *model, const Kind *kind, void *into, const void *from, tr_error *err)
{
    const bool is_top = kind == tr_kind_model();
    for (size_t i = 0; i < kind->field_count && !has_failed(err); i++) {
        const Field *field = &kind->fields[i];
        const Kind *inner = tr_kind_of(field->type);
        void *to = (char *)into + field->offset;
        const void *at = (const char *)from + field->offset;
        if (field->names == NAMES_ALONE) continue;
        if (inner && inner->named)
            add_things(model, field, to, at, err);
        else if (inner && has_entries(inner, at) && add_fields(model, inner, to, at, err))
            mark_given(to, at);
        else if (field->type == TYPE_PAIRS)
            add_pairs(model, &model->fields, field, to, at, is_top, err);
        else if (field->type == TYPE_LIST)
            add_words(model, field, to, at, err);
    }
    return !has_failed(err);
}

bool tr_copy_into(Naming *n, const ModelFields *from, ModelFields *into, Names *others)
{
    ModelFields *copy = tr_arena_alloc(&n->model->arena, 1, sizeof *copy);
    if (!copy) return tr_fail_memory(n->err), false;
    tr_kind_defaults(tr_kind_model(), copy);
    return copy_fields(n, tr_kind_model(), from, copy, true) &&
           add_fields(n->model, tr_kind_model(), into, copy, n->err) &&
           tr_collect_names(copy, NULL, others, n->err);
}
