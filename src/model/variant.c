// SPDX-License-Identifier: Apache-2.0
// A model with a case applied, files with keys of a case, and values set from outside:
// file < case < --with < --set.
#include "model/include.h"

#include <stdio.h>
#include <stdlib.h>

// ---- copying -------------------------------------------------------------------------------

static bool copy_fields(Model *to, const Kind *kind, void *into, const void *from, tr_error *err);

// The elements of a list as they are, in memory of the copy.
static bool copy_array(Model *to, void *into, const void *from, size_t size, tr_error *err)
{
    const AnyList *old = from;
    AnyList *twin = into;
    *twin = (AnyList){.at = tr_arena_alloc(&to->arena, old->count, size),
                      .count = old->count,
                      .capacity = old->count};
    if (!twin->at) return tr_fail_memory(err), false;
    if (old->count) memcpy(twin->at, old->at, old->count * size);
    return true;
}

static bool copy_list(Model *to, const Kind *kind, void *into, const void *from, tr_error *err)
{
    const AnyList *old = from, *twin = into;
    if (!copy_array(to, into, from, kind->size, err)) return false;
    for (uint32_t i = 0; i < old->count; i++)
        if (!copy_fields(to, kind, twin->at + i * kind->size, old->at + i * kind->size, err))
            return false;
    return tr_list_index(to, into, kind->size, err);
}

static bool copy_field(Model *to, const Field *field, void *into, const void *from, tr_error *err)
{
    const Kind *inner = tr_kind_of(field->type);
    if (inner)
        return inner->named ? copy_list(to, inner, into, from, err)
                            : copy_fields(to, inner, into, from, err);
    switch (field->type) {
    case TYPE_PAIRS:
    case TYPE_PARTS:
        return copy_array(to, into, from, sizeof(Pair), err) &&
               tr_list_index(to, into, sizeof(Pair), err);
    case TYPE_LIST: return copy_array(to, into, from, sizeof(Value), err);
    default: *(Value *)into = *(const Value *)from; return true;
    }
}

// Scalars are shared: their text belongs to the first model, which must outlive the copy.
static bool copy_fields(Model *to, const Kind *kind, void *into, const void *from, tr_error *err)
{
    *(Value *)into = *(const Value *)from;
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        if (!copy_field(to, field, (char *)into + field->offset, (const char *)from + field->offset,
                        err))
            return false;
    }
    return true;
}

// ---- applying ------------------------------------------------------------------------------

static const Field *field_called(const char *key)
{
    return tr_kind_field(tr_kind_model(), text_of(key));
}

// d(lean) is lean_rate: a name as the pairs have it already, that the new value replaces the old.
Value tr_model_spelt(const ModelFields *fields, const Pairs *pairs, Value key)
{
    char other[200];
    const Text k = key.text;
    const bool is_derivative = k.length > 3 && begins_with(k.at, "d(") && k.at[k.length - 1] == ')';
    const bool is_rate = k.length > 5 && memcmp(k.at + k.length - 5, "_rate", 5) == 0;
    if ((!is_derivative && !is_rate) || k.length > 150) return key;
    snprintf(other, sizeof other, is_derivative ? "%.*s_rate" : "d(%.*s)",
             (int)(k.length - (is_derivative ? 3 : 5)), k.at + (is_derivative ? 2 : 0));
    const Text rate = is_rate ? k : text_of(other);
    const Pair *old = tr_pairs_find(pairs, text_of(other));
    if (old && !tr_pairs_find(&fields->outputs, rate)) key.text = old->key.text;
    return key;
}

static bool merge(Model *model, const Field *field, Pairs *into, const Pairs *from, tr_error *err)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const Value key = from->at[i].key;
        const bool is_start =
            strcmp(field->key, "initial") == 0 || strcmp(field->key, "guess") == 0;
        if (!tr_field_put(model, field, into,
                          is_start ? tr_model_spelt(&model->fields, into, key) : key,
                          from->at[i].value, true, err))
            return false;
    }
    return true;
}

// Sets a parameter or an input that is there.
static bool set_value(Model *model, const Pair *pair, tr_status blame, tr_error *err)
{
    ModelFields *f = &model->fields;
    Setting *old = tr_setting_find(&f->parameters, pair->key.text);
    if (!old) old = tr_setting_find(&f->inputs, pair->key.text);
    if (old) return old->value = pair->value, true;
    Suggestion nearest = {.wanted = pair->key.text};
    char hint[TR_HINT_SIZE];
    tr_settings_offer(&f->parameters, &nearest);
    tr_settings_offer(&f->inputs, &nearest);
    tr_fail(err, blame, pair->key.place, "there is no parameter or input '%.*s'%s",
            TEXT(pair->key.text), tr_model_hint(model, &nearest, hint));
    return false;
}

// What a case may do without: all that other things do not hang from.
static const FieldType elements[] = {TYPE_FORCES,      TYPE_CONTACTS, TYPE_LOOPS, TYPE_COUPLINGS,
                                     TYPE_CONSTRAINTS, TYPE_COMMANDS, TYPE_FIXES, TYPE_CONTROLLERS};

static void *elements_of(Model *model, const Kind *kind)
{
    return (char *)&model->fields + field_called(kind->title)->offset;
}

static void refuse_element(Model *model, Value name, tr_error *err)
{
    Suggestion nearest = {.wanted = name.text};
    char hint[TR_HINT_SIZE];
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const Kind *kind = tr_kind_of(elements[i]);
        const AnyList *any = elements_of(model, kind);
        for (uint32_t k = 0; k < any->count; k++)
            tr_suggest(&nearest, ((const Value *)(const void *)(any->at + k * kind->size))->text);
    }
    tr_fail(err, TR_INVALID, name.place, "there is no element '%.*s' to leave out%s",
            TEXT(name.text), tr_model_hint(model, &nearest, hint));
}

// Its name is not given any more: so it is known until all are taken out.
static bool mark_left_out(Model *model, Value name, tr_error *err)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const Kind *kind = tr_kind_of(elements[i]);
        Value *thing = tr_kind_find(kind, elements_of(model, kind), name.text);
        if (thing && !thing->given)
            tr_fail(err, TR_INVALID, name.place, "'%.*s' is left out twice", TEXT(name.text));
        if (!thing) continue;
        thing->given = false;
        return !has_failed(err);
    }
    refuse_element(model, name, err);
    return false;
}

static bool take_out(Model *model, const Kind *kind, tr_error *err)
{
    AnyList *any = elements_of(model, kind);
    uint32_t left = 0;
    for (uint32_t i = 0; i < any->count; i++) {
        const char *at = any->at + i * kind->size;
        if (((const Value *)(const void *)at)->given)
            memmove(any->at + left++ * kind->size, at, kind->size);
    }
    any->count = left;
    return tr_list_index(model, any, kind->size, err);
}

static bool leave_out(Model *model, const Values *names, tr_error *err)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (!mark_left_out(model, names->at[i], err)) return false;
    for (size_t i = 0; names->count && i < sizeof elements / sizeof *elements; i++)
        if (!take_out(model, tr_kind_of(elements[i]), err)) return false;
    return true;
}

// Things by name, in place of those that are called so
static bool set_things(Model *model, FieldType type, void *into, const void *from, tr_error *err)
{
    const Kind *kind = tr_kind_of(type);
    const AnyList *more = from;
    for (uint32_t i = 0; i < more->count; i++) {
        const char *thing = more->at + i * kind->size;
        const Value name = *(const Value *)(const void *)thing;
        void *own = tr_kind_add(model, kind, into, name, err);
        if (!own || !copy_fields(model, kind, own, thing, err)) return false;
    }
    return true;
}

// Of an input that is there, the parts that are given
static bool set_inputs(Model *model, Settings *into, const Settings *from, tr_error *err)
{
    const Kind *kind = tr_kind_of(TYPE_INPUTS);
    for (uint32_t i = 0; i < from->count; i++) {
        const char *thing = (const char *)&from->at[i];
        char *own = tr_kind_add(model, kind, into, from->at[i].name, err);
        if (!own) return false;
        for (size_t k = 0; k < kind->field_count; k++) {
            const Value *part = (const void *)(thing + kind->fields[k].offset);
            if (part->given) *(Value *)(void *)(own + kind->fields[k].offset) = *part;
        }
    }
    return true;
}

static bool note_before(Model *model, tr_error *err)
{
    return copy_list(model, tr_kind_of(TYPE_INPUTS), &model->before, &model->fields.inputs, err);
}

static bool apply_case(Model *model, const Case *c, tr_error *err)
{
    ModelFields *f = &model->fields;
    if (!set_inputs(model, &f->inputs, &c->inputs, err) || !note_before(model, err)) return false;
    for (uint32_t i = 0; i < c->set.count; i++)
        if (!set_value(model, &c->set.at[i], TR_INVALID, err)) return false;
    if (!leave_out(model, &c->without, err)) return false;
    if (c->reactions.name.given) f->reactions = c->reactions;
    return merge(model, field_called("initial"), &f->initial, &c->initial, err) &&
           merge(model, field_called("guess"), &f->guess, &c->guess, err) &&
           set_things(model, TYPE_ROLES, &f->roles, &c->roles, err) &&
           set_things(model, TYPE_CONTROLLERS, &f->controllers, &c->controllers, err);
}

static bool choose_case(Model *model, const char *name, tr_error *err)
{
    Cases *cases = &model->fields.cases;
    if (!name) return true; // the first, if there is one
    Suggestion nearest = {.wanted = text_of(name)};
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < cases->count; i++) {
        tr_suggest(&nearest, cases->at[i].name.text);
        if (!text_is(cases->at[i].name.text, name)) continue;
        const Case chosen = cases->at[i];
        memmove(&cases->at[1], &cases->at[0], i * sizeof chosen);
        cases->at[0] = chosen;
        return tr_list_index(model, cases, sizeof chosen, err);
    }
    tr_fail(err, TR_USAGE, (Place){0}, "there is no case '%.60s'%s", name,
            cases->count ? tr_hint(&nearest, hint) : ": the model has none");
    return false;
}

// ---- files with keys of a case -------------------------------------------------------------

static bool has_word(const Values *words, Text word)
{
    for (uint32_t i = 0; i < words->count; i++)
        if (text_equal(words->at[i].text, word)) return true;
    return false;
}

// Words that are there already are not said twice.
static bool unite(Model *model, const Field *field, Values *into, const Values *more, tr_error *err)
{
    for (uint32_t i = 0; i < more->count; i++)
        if (!has_word(into, more->at[i].text) &&
            !tr_field_put(model, field, into, (Value){0}, more->at[i], false, err))
            return false;
    return true;
}

// One field of a case, behind what stands there or in place of it
static bool add_field(Model *model, const Field *field, void *into, const void *from, tr_error *err)
{
    switch (field->type) {
    case TYPE_PAIRS: return merge(model, field, into, from, err);
    case TYPE_LIST: return unite(model, field, into, from, err);
    case TYPE_INPUTS: return set_inputs(model, into, from, err);
    case TYPE_ROLES:
    case TYPE_CONTROLLERS: return set_things(model, field->type, into, from, err);
    case TYPE_REACTIONS:
        if (((const Reactions *)from)->name.given) *(Reactions *)into = *(const Reactions *)from;
        return true;
    default:
        if (((const Value *)from)->given) *(Value *)into = *(const Value *)from;
        return true;
    }
}

static bool add_case(Model *model, Case *into, const Case *more, tr_error *err)
{
    const Kind *kind = tr_kind_of(TYPE_CASES);
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        if (!add_field(model, field, (char *)into + field->offset,
                       (const char *)more + field->offset, err))
            return false;
    }
    return true;
}

// The case that is applied; one without a name, where the model has none
static Case *applied_case(Model *model, tr_error *err)
{
    Cases *cases = &model->fields.cases;
    const Value none = {.text = text_of("")};
    return cases->count ? cases->at : tr_kind_add(model, tr_kind_of(TYPE_CASES), cases, none, err);
}

// The text of the k-th file, in memory of the model
static const char *text_with(Model *model, const tr_derive_options *o, size_t k, size_t *length,
                             tr_error *err)
{
    char *read = NULL;
    const char *text = o->with_texts ? o->with_texts[k] : NULL;
    if (text)
        *length = strlen(text);
    else
        text = read = tr_model_text(o->with[k], length, err);
    const char *kept = text ? tr_arena_text(&model->arena, text, *length) : NULL;
    if (text && !kept) tr_fail_memory(err);
    free(read);
    return kept;
}

static bool add_with(Model *model, const tr_derive_options *o, size_t k, tr_error *err)
{
    const Kind *kind = tr_kind_of(TYPE_CASES);
    size_t length = 0;
    const char *text = text_with(model, o, k, &length, err);
    Case *into = text ? applied_case(model, err) : NULL;
    if (!into) return false;
    Case more = {0};
    tr_kind_defaults(kind, &more);
    model->with[k] = tr_arena_text(&model->arena, o->with[k], strlen(o->with[k]));
    model->with_texts[k] = text;
    if (!model->with[k]) return tr_fail_memory(err), false;
    return tr_case_parse(model, text, length, (int)(k + 1) * TR_WITH_LINES, &more, err) &&
           add_case(model, into, &more, err);
}

static bool add_files(Model *model, const tr_derive_options *o, tr_error *err)
{
    const size_t count = o->with_count;
    if (count > TR_MOST_WITH)
        return tr_fail(err, TR_USAGE, (Place){0}, "more than %d files with keys of a case",
                       TR_MOST_WITH),
               false;
    model->with = tr_arena_alloc(&model->arena, count + 1, sizeof *model->with);
    model->with_texts = tr_arena_alloc(&model->arena, count + 1, sizeof *model->with_texts);
    if (!model->with || !model->with_texts) return tr_fail_memory(err), false;
    for (size_t k = 0; k < count; k++, model->with_count++)
        if (!add_with(model, o, k, err)) return false;
    return true;
}

// ---- all of it -----------------------------------------------------------------------------

static bool set_values(Model *model, const tr_derive_options *o, tr_error *err)
{
    for (size_t i = 0; i < o->setting_count; i++) {
        const Place place = place_at(-(int)i - 1, 1); // in no file: the first setting is line -1
        const Pair pair = {.key = {.text = text_of(o->settings[i].name), .given = true},
                           .value = {text_of(o->settings[i].formula), place, true}};
        if (!set_value(model, &pair, TR_USAGE, err)) return false;
    }
    return true;
}

Model *tr_model_flat(const Model *model, const char *const *allowed, size_t allowed_count,
                     tr_error *err)
{
    Model *twin = has_failed(err) ? NULL : tr_model_new(err);
    if (!twin) return NULL;
    twin->path = model->path, twin->place = model->place;
    twin->text = model->text;
    if (copy_fields(twin, tr_kind_model(), &twin->fields, &model->fields, err) &&
        tr_model_include(twin, allowed, allowed_count, err))
        return twin;
    tr_model_free(twin);
    return NULL;
}

Model *tr_model_variant(const Model *model, const tr_derive_options *o, tr_error *err)
{
    Model *twin = tr_model_flat(model, o->allowed, o->allowed_count, err);
    if (!twin) return NULL;
    const Cases *cases = &twin->fields.cases;
    if (note_before(twin, err) && choose_case(twin, o->case_name, err) && add_files(twin, o, err) &&
        (!cases->count || apply_case(twin, &cases->at[0], err)) && set_values(twin, o, err))
        return twin;
    tr_model_free(twin);
    return NULL;
}
