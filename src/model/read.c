// SPDX-License-Identifier: Apache-2.0
// YAML -> model, through libyaml's events. The rows of field.def say what may stand where, so the
// reader never goes deeper than they do.
#include "base/file.h"
#include "model/model.h"

#include <stdlib.h>
#include <yaml.h>

enum { MAX_BYTES = 16 << 20 };

typedef struct Reader {
    yaml_parser_t parser;
    yaml_event_t event; // the current one
    bool has_event;
    Model *model;
    tr_error *err;
} Reader;

// ---- events --------------------------------------------------------------------------------

static Place place_of(yaml_mark_t mark)
{
    return (Place){(int)mark.line + 1, (int)mark.column + 1};
}

static Place here(const Reader *r) { return place_of(r->event.start_mark); }

#define WRONG(r, place, ...) (tr_fail((r)->err, TR_INVALID, (place), __VA_ARGS__), false)
#define TEXT(t)              (int)((t).length > 60 ? 60 : (t).length), (t).at // for "%.*s"

static bool refuse_yaml(Reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) return tr_fail_memory(r->err), false;
    const Place place = p->error == YAML_READER_ERROR ? (Place){0} : place_of(p->problem_mark);
    const char *problem = p->problem ? p->problem : "this is not YAML";
    if (p->error == YAML_READER_ERROR)
        return WRONG(r, place, "this is not text: %s (byte %zu)", problem, p->problem_offset);
    if (p->context) return WRONG(r, place, "%s %s", problem, p->context);
    return WRONG(r, place, "%s", problem);
}

// Aliases, anchors and tags have no meaning in a model file.
static bool refuse_decoration(Reader *r)
{
    const yaml_event_t *e = &r->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (e->type) {
    case YAML_ALIAS_EVENT: anchor = e->data.alias.anchor; break;
    case YAML_SCALAR_EVENT: anchor = e->data.scalar.anchor, tag = e->data.scalar.tag; break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = e->data.sequence_start.anchor, tag = e->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = e->data.mapping_start.anchor, tag = e->data.mapping_start.tag;
        break;
    default: break;
    }
    if (tag)
        return WRONG(r, here(r),
                     "'!' starts a YAML tag; if it is part of a formula, quote this formula");
    if (anchor)
        return WRONG(r, here(r),
                     "'%c' starts a YAML %s; if it is part of a formula, quote this formula",
                     e->type == YAML_ALIAS_EVENT ? '*' : '&',
                     e->type == YAML_ALIAS_EVENT ? "alias" : "anchor");
    return true;
}

static bool next(Reader *r)
{
    if (r->has_event) yaml_event_delete(&r->event);
    r->has_event = yaml_parser_parse(&r->parser, &r->event) != 0;
    if (!r->has_event) return refuse_yaml(r);
    return refuse_decoration(r);
}

static bool is_scalar(const Reader *r) { return r->event.type == YAML_SCALAR_EVENT; }
static bool is_map(const Reader *r) { return r->event.type == YAML_MAPPING_START_EVENT; }
static bool is_list(const Reader *r) { return r->event.type == YAML_SEQUENCE_START_EVENT; }

// The current scalar, kept in the model's memory.
static bool take(Reader *r, Value *value)
{
    const yaml_event_t *e = &r->event;
    const size_t length = e->data.scalar.length;
    const char *text = tr_arena_text(&r->model->arena, (const char *)e->data.scalar.value, length);
    if (!text) return tr_fail_memory(r->err), false;
    *value = (Value){{text, length}, here(r), true};
    const yaml_scalar_style_t style = e->data.scalar.style;
    if (style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE)
        value->place.column++; // the text begins behind the quote
    return true;
}

// ---- values --------------------------------------------------------------------------------

static bool read_scalar(Reader *r, const char *of, Value *value)
{
    if (is_list(r))
        return WRONG(r, here(r),
                     "'%s' is a formula, not a list: quote this formula, as in \"0, 1, 0\"", of);
    if (is_map(r))
        return WRONG(r, here(r), "'%s' is a formula: quote this formula if it holds braces or ': '",
                     of);
    if (!is_scalar(r)) return WRONG(r, here(r), "'%s' has no value", of);
    if (!take(r, value)) return false;
    if (!value->text.length)
        return WRONG(r, value->place, "'%s' has no value; if it is a formula, quote this formula",
                     of);
    return true;
}

static bool read_key(Reader *r, const char *in, Value *key)
{
    if (!is_scalar(r)) return WRONG(r, here(r), "a name is expected in '%s'", in);
    return take(r, key);
}

static bool expect_map(Reader *r, const char *title)
{
    return is_map(r) || WRONG(r, here(r), "'%s' must be a map, written as name: value", title);
}

static bool read_pairs(Reader *r, const Field *field, void *at)
{
    if (!expect_map(r, field->key)) return false;
    while (next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
        Value key, value;
        char name[64];
        if (!read_key(r, field->key, &key) || !next(r)) return false;
        snprintf(name, sizeof name, "%.*s", TEXT(key.text));
        if (!read_scalar(r, name, &value)) return false;
        if (!tr_field_put(r->model, field, at, key, value, false, r->err)) return false;
    }
    return !has_failed(r->err);
}

static bool read_list(Reader *r, const Field *field, void *at)
{
    Value value;
    const bool single = is_scalar(r);
    if (!single && !is_list(r))
        return WRONG(r, here(r), "'%s' is a list of names, as in [a, b]", field->key);
    while (single || (next(r) && r->event.type != YAML_SEQUENCE_END_EVENT)) {
        if (!is_scalar(r))
            return WRONG(r, here(r), "'%s' is a list of names, as in [a, b]", field->key);
        if (!take(r, &value)) return false;
        if (!tr_field_put(r->model, field, at, value, value, false, r->err)) return false;
        if (single) break;
    }
    return !has_failed(r->err);
}

static bool read_value(Reader *r, const Field *field, void *at)
{
    Value value;
    const Value alone = {.text = {"", 0}, .place = here(r)};
    return read_scalar(r, field->key, &value) &&
           tr_field_put(r->model, field, at, alone, value, false, r->err);
}

// ---- kinds ---------------------------------------------------------------------------------

static bool read_map(Reader *r, const Kind *kind, void *thing, const char *title);

static bool refuse_key(Reader *r, const Kind *kind, const char *title, Value key)
{
    Suggestion nearest = {.wanted = key.text};
    for (size_t i = 0; i < kind->field_count; i++)
        tr_suggest(&nearest, text_of(kind->fields[i].key));
    const char first = key.text.length ? key.text.at[0] : 0;
    if (nearest.best.at)
        return WRONG(r, key.place, "unknown key '%.*s' in '%s'; did you mean '%.*s'?",
                     TEXT(key.text), title, TEXT(nearest.best));
    if (first == '-' || first == '.' || (first >= '0' && first <= '9'))
        return WRONG(r, key.place,
                     "unknown key '%.*s' in '%s': inside {} quote a formula that holds a comma",
                     TEXT(key.text), title);
    return WRONG(r, key.place, "unknown key '%.*s' in '%s'", TEXT(key.text), title);
}

// A role may be the word `passive`.
static bool read_thing(Reader *r, const Kind *kind, void *thing, const char *title)
{
    Value word;
    if (kind->type != TYPE_ROLES || !is_scalar(r)) return read_map(r, kind, thing, title);
    if (!take(r, &word)) return false;
    return text_is(word.text, "passive") ||
           WRONG(r, word.place, "the role of '%s' is passive, {torque: ...} or {motion: ...}",
                 title);
}

// name: {...} for each thing of a kind
static bool read_named(Reader *r, const Kind *kind, void *list)
{
    if (!expect_map(r, kind->title)) return false;
    while (next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
        Value name;
        char title[64];
        if (!read_key(r, kind->title, &name) || !next(r)) return false;
        snprintf(title, sizeof title, "%.*s", TEXT(name.text));
        if (tr_kind_find(kind, list, name.text))
            return WRONG(r, name.place, "'%s' stands twice in '%s'", title, kind->title);
        void *thing = tr_kind_add(r->model, kind, list, name, r->err);
        if (!thing || !read_thing(r, kind, thing, title)) return false;
    }
    return !has_failed(r->err);
}

static bool read_field(Reader *r, const Field *field, void *at)
{
    const Kind *kind = tr_kind_of(field->type);
    if (kind && kind->named) return read_named(r, kind, at);
    if (kind) {
        *(Value *)at = (Value){text_of(field->key), here(r), true};
        return read_map(r, kind, at, field->key);
    }
    if (field->type == TYPE_PAIRS || (field->type == TYPE_PARTS && is_map(r)))
        return read_pairs(r, field, at);
    return field->type == TYPE_LIST ? read_list(r, field, at) : read_value(r, field, at);
}

static bool read_map(Reader *r, const Kind *kind, void *thing, const char *title)
{
    if (!expect_map(r, title)) return false;
    uint64_t seen = 0; // by field
    while (next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
        Value key;
        if (!read_key(r, title, &key)) return false;
        const Field *field = tr_kind_field(kind, key.text);
        if (!field) return refuse_key(r, kind, title, key);
        const uint64_t bit = (uint64_t)1 << (field - kind->fields);
        if (seen & bit) return WRONG(r, key.place, "'%s' stands twice in '%s'", field->key, title);
        seen |= bit;
        if (!next(r) || !read_field(r, field, (char *)thing + field->offset)) return false;
    }
    return !has_failed(r->err);
}

// ---- documents -----------------------------------------------------------------------------

static bool read_document(Reader *r)
{
    if (!next(r) || !next(r)) return false; // the stream, and the document in it
    if (r->event.type == YAML_STREAM_END_EVENT)
        return WRONG(r, ((Place){1, 1}), "the file is empty");
    if (!next(r) || !read_map(r, tr_kind_model(), &r->model->fields, "model")) return false;
    if (!next(r) || !next(r)) return false; // the end of the document, and what follows
    if (r->event.type != YAML_STREAM_END_EVENT)
        return WRONG(r, here(r), "a model file holds one document");
    const Value version = r->model->fields.trundle;
    if (!version.given) return WRONG(r, ((Place){1, 1}), "the file must begin with 'trundle: 1'");
    if (!text_is(version.text, "1"))
        return WRONG(r, version.place,
                     "this file is of version '%.*s'; this program reads version 1",
                     TEXT(version.text));
    return true;
}

static Model *read_text(const char *text, size_t length, tr_error *err)
{
    Model *model = tr_model_new(err);
    Reader r = {.model = model, .err = err};
    if (!model) return NULL;
    bool good = yaml_parser_initialize(&r.parser) != 0;
    if (good) {
        yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
        good = read_document(&r);
        if (r.has_event) yaml_event_delete(&r.event);
        yaml_parser_delete(&r.parser);
    } else
        tr_fail_memory(err);
    if (good) return model;
    tr_model_free(model);
    return NULL;
}

Model *tr_model_read(const char *path, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    size_t length;
    char *text = tr_file_read(path, MAX_BYTES, &length, err);
    Model *model = text ? read_text(text, length, err) : NULL;
    if (model) model->path = tr_arena_text(&model->arena, path, strlen(path));
    free(text);
    return model;
}

Model *tr_model_parse(const char *text, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    return has_failed(err) ? NULL : read_text(text, strlen(text), err);
}
