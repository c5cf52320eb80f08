// SPDX-License-Identifier: Apache-2.0
// The rows of field.def as tables, lists that grow in the arena of the model, and values put where
// a path leads.
#include "model/model.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>

// ---- the rows as tables --------------------------------------------------------------------

#define KIND(Kind, own) static const Field Kind##_fields[] = {
#define FIELD(Kind, name, kind, ...) \
    {.key = #name, .type = TYPE_##kind, .offset = offsetof(Kind, name), .unit = __VA_ARGS__},
#define END(Kind) \
    }             \
    ;
#include "model/field.def"

#define KIND_ROW(title, Kind, type, named)                                                    \
    {                                                                                         \
        title, Kind##_fields, sizeof Kind##_fields / sizeof(Field), sizeof(Kind), type, named \
    }

const Kind tr_kinds[] = {
    KIND_ROW("model", ModelFields, TYPE_TEXT, false), // the top: held by nothing
    KIND_ROW("parameters", Setting, TYPE_PARAMETERS, true),
    KIND_ROW("inputs", Setting, TYPE_INPUTS, true),
    KIND_ROW("include", Include, TYPE_INCLUDES, true),
    KIND_ROW("each", Each, TYPE_EACH, true),
    KIND_ROW("tables", NamedTable, TYPE_TABLES, true),
    KIND_ROW("signals", Signals, TYPE_SIGNALS, false),
    KIND_ROW("bodies", Body, TYPE_BODIES, true),
    KIND_ROW("joint", Joint, TYPE_JOINT, false),
    KIND_ROW("elastic", Elastic, TYPE_ELASTIC, false),
    KIND_ROW("joints", Joint, TYPE_JOINTS, true),
    KIND_ROW("frames", NamedFrame, TYPE_FRAMES, true),
    KIND_ROW("inertia", Inertia, TYPE_INERTIA, false),
    KIND_ROW("beam", Beam, TYPE_BEAM, false),
    KIND_ROW("modal", Modal, TYPE_MODAL, false),
    KIND_ROW("shapes", Shape, TYPE_SHAPES, true),
    KIND_ROW("ground", Ground, TYPE_GROUND, false),
    KIND_ROW("surface", Surface, TYPE_SURFACE, false),
    KIND_ROW("contacts", Contact, TYPE_CONTACTS, true),
    KIND_ROW("loops", Loop, TYPE_LOOPS, true),
    KIND_ROW("couplings", Coupling, TYPE_COUPLINGS, true),
    KIND_ROW("constraints", Constraint, TYPE_CONSTRAINTS, true),
    KIND_ROW("reactions", Reactions, TYPE_REACTIONS, false),
    KIND_ROW("forces", Force, TYPE_FORCES, true),
    KIND_ROW("roles", Role, TYPE_ROLES, true),
    KIND_ROW("states", OwnState, TYPE_STATES, true),
    KIND_ROW("controllers", Controller, TYPE_CONTROLLERS, true),
    KIND_ROW("sensors", Sensor, TYPE_SENSORS, true),
    KIND_ROW("commands", Command, TYPE_COMMANDS, true),
    KIND_ROW("fixes", Fix, TYPE_FIXES, true),
    KIND_ROW("cases", Case, TYPE_CASES, true),
};
const size_t tr_kind_count = sizeof tr_kinds / sizeof *tr_kinds;

const Kind *tr_kind_model(void) { return &tr_kinds[0]; }

const Kind *tr_kind_of(FieldType type)
{
    for (size_t i = 1; i < tr_kind_count; i++)
        if (tr_kinds[i].type == type) return &tr_kinds[i];
    return NULL;
}

const Field *tr_kind_field(const Kind *kind, Text key)
{
    if (text_is(key, TR_FORMER_NAME)) key = text_of("against");
    for (size_t i = 0; i < kind->field_count; i++)
        if (text_is(key, kind->fields[i].key)) return &kind->fields[i];
    return NULL;
}

bool tr_field_is_required(const Field *field) { return ends_with(field->doc, "; required"); }

Suggestion tr_kind_nearest(const Kind *kind, Text key)
{
    Suggestion nearest = {.wanted = key};
    for (size_t i = 0; i < kind->field_count; i++)
        tr_suggest(&nearest, text_of(kind->fields[i].key));
    return nearest;
}

void tr_kind_defaults(const Kind *kind, void *thing)
{
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        void *at = (char *)thing + field->offset;
        const Kind *inner = tr_kind_of(field->type);
        if (inner && !inner->named) tr_kind_defaults(inner, at);
        if (field->type <= TYPE_TEXT) *(Value *)at = (Value){.text = text_of(field->standard)};
    }
}

// ---- lists ---------------------------------------------------------------------------------

enum { SHORT_LIST = 8 }; // is looked through

// Whatever has a name begins with it.
static Text name_at(const AnyList *any, size_t size, uint32_t i)
{
    return ((const Value *)(const void *)(any->at + i * size))->text;
}

// Where the table holds the thing of this name, or would
static uint32_t *slot_of(const AnyList *any, size_t size, Text name)
{
    uint32_t slot = tr_hash_bytes(name.at, name.length) & any->mask;
    while (any->slots[slot] && !text_equal(name_at(any, size, any->slots[slot] - 1), name))
        slot = (slot + 1) & any->mask;
    return &any->slots[slot];
}

// Tables that became too small stay in the arena: together they are as large as the last.
bool tr_list_index(Model *model, void *list, size_t size, tr_error *err)
{
    AnyList *any = list;
    any->slots = NULL;
    if (any->count <= SHORT_LIST) return true;
    uint32_t room = 4 * SHORT_LIST;
    while (room / 4 < any->count) room *= 2;
    any->slots = tr_arena_alloc(&model->arena, room, sizeof *any->slots);
    any->mask = room - 1;
    if (!any->slots) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < any->count; i++) {
        uint32_t *slot = slot_of(any, size, name_at(any, size, i));
        if (!*slot) *slot = i + 1; // the first, where names are not checked yet
    }
    return true;
}

// The last of a list has got its name.
static bool enter(Model *model, AnyList *any, size_t size, tr_error *err)
{
    if (!any->slots || any->count > any->mask / 2) return tr_list_index(model, any, size, err);
    *slot_of(any, size, name_at(any, size, any->count - 1)) = any->count;
    return true;
}

static char *find(const AnyList *any, size_t size, Text name)
{
    if (any->slots) {
        const uint32_t found = *slot_of(any, size, name);
        return found ? any->at + (found - 1) * size : NULL;
    }
    for (uint32_t i = 0; i < any->count; i++)
        if (text_equal(name_at(any, size, i), name)) return any->at + i * size;
    return NULL;
}

// Room for one more at the end of a list, zeroed; what it holds may move.
static void *push(Model *model, void *list, size_t size, tr_error *err)
{
    AnyList *any = list;
    if (any->count == any->capacity) {
        const uint32_t capacity = 2 * any->capacity + 4;
        char *moved = tr_arena_alloc(&model->arena, capacity, size);
        if (!moved) {
            tr_fail_memory(err);
            return NULL;
        }
        if (any->count) memcpy(moved, any->at, any->count * size);
        any->at = moved;
        any->capacity = capacity;
    }
    return memset(any->at + any->count++ * size, 0, size);
}

void *tr_kind_find(const Kind *kind, const void *list, Text name)
{
    return find(list, kind->size, name);
}

void *tr_kind_add(Model *model, const Kind *kind, void *list, Value name, tr_error *err)
{
    void *thing = tr_kind_find(kind, list, name.text);
    if (thing) return thing;
    thing = push(model, list, kind->size, err);
    if (!thing) return NULL;
    tr_kind_defaults(kind, thing);
    *(Value *)thing = name;
    return enter(model, list, kind->size, err) ? thing : NULL;
}

Pair *tr_pairs_find(const Pairs *pairs, Text name)
{
    return (Pair *)(void *)find((const AnyList *)(const void *)pairs, sizeof(Pair), name);
}

void tr_pairs_offer(const Pairs *pairs, Suggestion *suggestion)
{
    for (uint32_t i = 0; i < pairs->count; i++) tr_suggest(suggestion, pairs->at[i].key.text);
}

Setting *tr_setting_find(const Settings *settings, Text name)
{
    return (Setting *)(void *)find((const AnyList *)(const void *)settings, sizeof(Setting), name);
}

void tr_settings_offer(const Settings *settings, Suggestion *suggestion)
{
    for (uint32_t i = 0; i < settings->count; i++)
        tr_suggest(suggestion, settings->at[i].name.text);
}

// ---- what names stand for ------------------------------------------------------------------

static bool is_coordinate(const Model *model, Text name)
{
    const ModelFields *f = &model->fields;
    for (uint32_t i = 0; i < f->bodies.count; i++) {
        const Value own = f->bodies.at[i].joint.coordinate;
        if (own.given && text_equal(own.text, name)) return true;
    }
    for (uint32_t i = 0; i < f->joints.count; i++)
        if (text_equal(tr_joint_name(&f->joints.at[i]), name)) return true;
    return false;
}

const char *tr_model_what(const Model *model, Text name)
{
    static const char *const rows[][2] = {
        {"parameters", "a parameter"}, {"inputs", "an input"},
        {"outputs", "an output"},      {"tables", "a table"},
        {"bodies", "a body"},          {"joints", "a joint"},
        {"frames", "a frame"},         {"contacts", "a contact"},
        {"loops", "a loop"},           {"couplings", "a coupling"},
        {"forces", "a force"},         {"fixes", "a fix"},
        {"cases", "a case"},           {"constraints", "a constraint"},
        {"states", "a state"},         {"controllers", "a controller"},
        {"sensors", "a sensor"},
    };
    if (is_coordinate(model, name)) return "a coordinate";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Field *field = tr_kind_field(tr_kind_model(), text_of(rows[i][0]));
        const Kind *kind = tr_kind_of(field->type);
        const void *list = (const char *)&model->fields + field->offset;
        if (kind ? tr_kind_find(kind, list, name) : (void *)tr_pairs_find(list, name))
            return rows[i][1];
    }
    return NULL;
}

const char *tr_model_hint(const Model *model, const Suggestion *suggestion, char out[TR_HINT_SIZE])
{
    char hint[TR_HINT_SIZE];
    const char *what = tr_model_what(model, suggestion->wanted);
    if (!what) return tr_hint(suggestion, out);
    snprintf(out, TR_HINT_SIZE, ": '%.*s' is %s%.*s", TEXT(suggestion->wanted), what,
             TR_OFFERED_SIZE + 20, tr_hint(suggestion, hint));
    return out;
}

// ---- putting scalars -----------------------------------------------------------------------

static bool put_pair(Model *model, Pairs *pairs, Pair pair, bool again, tr_error *err)
{
    Pair *at = tr_pairs_find(pairs, pair.key.text);
    if (at && again) return at->value = pair.value, true;
    if (at) {
        tr_fail(err, TR_INVALID, pair.key.place, "'%.*s' stands here twice", TEXT(pair.key.text));
        return false;
    }
    at = push(model, pairs, sizeof *at, err);
    if (!at) return false;
    *at = pair;
    return enter(model, (AnyList *)(void *)pairs, sizeof *at, err);
}

static bool put_scalar(const Field *field, Value *at, Value value, bool again, tr_error *err)
{
    if (at->given && !again) {
        tr_fail(err, TR_INVALID, value.place, "'%s' stands here twice", field->key);
        return false;
    }
    if (field->type == TYPE_FLAG && !text_is(value.text, "true") && !text_is(value.text, "false")) {
        tr_fail(err, TR_INVALID, value.place, "'%s' is true or false, not '%.*s'", field->key,
                TEXT(value.text));
        return false;
    }
    *at = value;
    return true;
}

// The text up to the next comma outside of parentheses, without the spaces around it.
static Value next_word(Value *rest)
{
    const Text text = rest->text;
    size_t end = 0, from = 0;
    for (int depth = 0; end < text.length && (depth > 0 || text.at[end] != ','); end++)
        depth += text.at[end] == '(' ? 1 : text.at[end] == ')' ? -1 : 0;
    const size_t used = end < text.length ? end + 1 : end;
    while (from < end && is_space(text.at[from])) from++;
    Value word = {.text = {text.at + from, 0}, .place = rest->place, .given = true};
    if (word.place.line) word.place.column += tr_utf8_columns(text.at, from);
    if (rest->place.line) rest->place.column += tr_utf8_columns(text.at, used);
    while (end > from && is_space(text.at[end - 1])) end--;
    word.text.length = end - from;
    rest->text = (Text){text.at + used, text.length - used};
    return word;
}

// A list may be one text: its words, separated by commas.
static bool put_words(Model *model, const Field *field, Values *list, Value value, tr_error *err)
{
    do {
        const Value word = next_word(&value);
        if (!word.text.length) {
            tr_fail(err, TR_INVALID, word.place, "'%s' is a list of names, as in [a, b]",
                    field->key);
            return false;
        }
        Value *item = push(model, list, sizeof *item, err);
        if (!item) return false;
        *item = word;
    } while (value.text.length);
    return true;
}

bool tr_field_put(Model *model, const Field *field, void *at, Value key, Value value, bool again,
                  tr_error *err)
{
    switch (field->type) {
    case TYPE_LIST:
        if (again) ((Values *)at)->count = 0;
        return put_words(model, field, at, value, err);
    case TYPE_PAIRS:
    case TYPE_PARTS: return put_pair(model, at, (Pair){.key = key, .value = value}, again, err);
    default: return put_scalar(field, at, value, again, err);
    }
}

// ---- paths ---------------------------------------------------------------------------------

static Text next_part(Text *path)
{
    Text part = {path->at, 0};
    while (part.length < path->length && path->at[part.length] != '/') part.length++;
    const size_t skip = part.length < path->length ? part.length + 1 : part.length;
    *path = (Text){path->at + skip, path->length - skip};
    return part;
}

static bool refuse_path(const Kind *kind, Text key, Place place, tr_error *err)
{
    const Suggestion nearest = tr_kind_nearest(kind, key);
    char hint[TR_HINT_SIZE];
    if (!key.length)
        tr_fail(err, TR_INVALID, place, "the path ends before a field of '%s'", kind->title);
    else
        tr_fail(err, TR_INVALID, place, "'%s' has no '%.*s'%s", kind->title, TEXT(key),
                tr_hint(&nearest, hint));
    return false;
}

// A role that is set to the word `passive`.
static void make_passive(Role *role) { role->torque = role->motion = role->rate = (Pairs){0}; }

static bool refuse_nameless(const Field *field, Place place, tr_error *err)
{
    tr_fail(err, TR_INVALID, place, "'%s' holds values by name: %s/NAME is missing", field->key,
            field->key);
    return false;
}

// Only what holds values by name has a rest of the path, and that it must have.
static bool put_last(Model *model, const Field *field, void *at, Text rest, Value value,
                     tr_error *err)
{
    const Value name = {.text = rest, .given = true};
    if (field->type == TYPE_PAIRS && !rest.length)
        refuse_nameless(field, value.place, err);
    else if (field->type != TYPE_PAIRS && field->type != TYPE_PARTS && rest.length)
        tr_fail(err, TR_INVALID, value.place, "'%s' is one value: there is no '%.*s' in it",
                field->key, TEXT(rest));
    return !has_failed(err) && tr_field_put(model, field, at, name, value, true, err);
}

// Follows a path from the top and puts the value where it ends.
static bool put_at(Model *model, Text path, Value value, tr_error *err)
{
    const Kind *kind = tr_kind_model();
    char *thing = (char *)&model->fields;
    for (;;) {
        const Text key = next_part(&path);
        const Field *field = tr_kind_field(kind, key);
        if (!field) return refuse_path(kind, key, value.place, err);
        const Kind *inner = tr_kind_of(field->type);
        thing += field->offset;
        if (!inner) return put_last(model, field, thing, path, value, err);
        kind = inner;
        Value name = {.text = text_of(field->key), .given = true};
        if (!inner->named) {
            *(Value *)(void *)thing = name;
            if (inner->type == TYPE_SURFACE && !path.length) path = text_of("kind");
            continue;
        }
        name.text = next_part(&path);
        if (is_setting_kind(inner) && !name.text.length)
            return refuse_nameless(field, value.place, err);
        thing = tr_kind_add(model, inner, thing, name, err);
        if (!thing) return false;
        if (!path.length && is_setting_kind(inner)) path = text_of("value");
        if (!path.length && inner->type == TYPE_ROLES && text_is(value.text, "passive"))
            return make_passive((Role *)(void *)thing), true;
    }
}

// ---- public calls --------------------------------------------------------------------------

Model *tr_model_new(tr_error *err)
{
    if (has_failed(err)) return NULL;
    Model *model = calloc(1, sizeof *model);
    if (model)
        tr_kind_defaults(tr_kind_model(), &model->fields);
    else
        tr_fail_memory(err);
    return model;
}

void tr_model_free(Model *model)
{
    if (!model) return;
    tr_arena_free(&model->arena);
    tr_arena_free(&model->origins);
    free(model);
}

static Text keep(Model *model, const char *text, tr_error *err)
{
    const Text kept = {tr_arena_text(&model->arena, text, strlen(text)), strlen(text)};
    if (!kept.at) tr_fail_memory(err);
    return kept;
}

void tr_model_set(Model *model, const char *path, const char *value, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!model || !path || !value || has_failed(err)) return;
    model->text = (Text){0};
    const Text kept_path = keep(model, path, err), kept_value = keep(model, value, err);
    if (!has_failed(err)) put_at(model, kept_path, (Value){.text = kept_value, .given = true}, err);
}
