// SPDX-License-Identifier: Apache-2.0
// YAML -> model, through libyaml's events. The rows of field.def say what may stand where, so the
// reader never goes deeper than they do.
#include "base/beside.h"
#include "base/file.h"
#include "model/model.h"

#include <assert.h>
#include <stdlib.h>
#include <yaml.h>

enum { MAX_BYTES = 16 << 20 };

typedef struct Reader {
    yaml_parser_t parser;
    yaml_event_t event; // the current one
    bool has_event;
    Text text;        // the file
    int above;        // lines that count before its first
    const Origin *in; // where it is included
    Place end;        // of the text
    Model *model;
    tr_error *err;
} Reader;

// ---- events --------------------------------------------------------------------------------

static bool is_behind(Place a, Place b)
{
    return a.line > b.line || (a.line == b.line && a.column > b.column);
}

// libyaml counts one line more than there are when the last has no end.
static Place place_of(const Reader *r, yaml_mark_t mark)
{
    const Place place = {r->above + (int)mark.line + 1, (int)mark.column + 1, r->in};
    return is_behind(place, r->end) ? r->end : place;
}

static Place here(const Reader *r) { return place_of(r, r->event.start_mark); }

#define WRONG(r, place, ...) (tr_fail((r)->err, TR_INVALID, (place), __VA_ARGS__), false)

static Place place_of_byte(const Reader *r, size_t at)
{
    const Text text = r->text;
    Place place = {r->above + 1, 1, r->in};
    size_t line = 0; // where it begins
    if (at > text.length) at = text.length;
    for (size_t i = 0; i < at; i++)
        if (text.at[i] == '\n' ||
            (text.at[i] == '\r' && (i + 1 == text.length || text.at[i + 1] != '\n')))
            place.line++, line = i + 1;
    place.column += tr_utf8_columns(text.at + line, at - line);
    return place;
}

// What libyaml says when a formula or a tab got in its way, and what to do about it.
static const char *advice_on(const char *problem)
{
    static const char *const rows[][2] = {
        {"mapping values are not allowed",
         "is the indentation wrong? A formula that holds ': ' must be quoted"},
        {"block sequence entries are not", "a formula that begins with '- ' must be quoted"},
        {"cannot start any token", "indent with spaces, and quote a formula or text like this"},
        {"alphabetic or numeric character", "quote a formula or text like this"},
        {"did not find expected key", "is a quote or a bracket missing, or the indentation wrong?"},
        {"did not find expected ',' or", "is a quote or a bracket missing?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(problem, rows[i][0])) return rows[i][1];
    return NULL;
}

// What was begun and never ended is shown where it begins.
static Place place_of_problem(const Reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const Place place = place_of(r, p->problem_mark);
    const bool unended = !is_behind(r->end, place) || (p->problem && strstr(p->problem, "':'"));
    return p->context && unended ? place_of(r, p->context_mark) : place;
}

static bool refuse_yaml(Reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) return tr_fail_memory(r->err), false;
    const char *problem = p->problem ? p->problem : "this is not YAML";
    if (p->error == YAML_READER_ERROR)
        return WRONG(r, place_of_byte(r, p->problem_offset), "this is not text: %s", problem);
    const char *advice = advice_on(problem);
    return WRONG(r, place_of_problem(r), "%s%s%s%s%s", problem, p->context ? " " : "",
                 p->context ? p->context : "", advice ? ": " : "", advice ? advice : "");
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

// Escapes in double quotes could smuggle them in.
static bool has_control(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == 0x7f || (c < 0x20 && c != '\n' && c != '\t')) return true;
    }
    return false;
}

// The current scalar, kept in the model's memory.
static bool take(Reader *r, Value *value)
{
    const yaml_event_t *e = &r->event;
    const size_t length = e->data.scalar.length;
    if (has_control((const char *)e->data.scalar.value, length))
        return WRONG(r, here(r), "this text holds a control character");
    const char *text = tr_arena_text(&r->model->arena, (const char *)e->data.scalar.value, length);
    if (!text) return tr_fail_memory(r->err), false;
    *value = (Value){{text, length}, here(r), true};
    const yaml_scalar_style_t style = e->data.scalar.style;
    if (style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE)
        value->place.column++; // the text begins behind the quote
    return true;
}

// ---- values --------------------------------------------------------------------------------

static bool read_scalar(Reader *r, Text of, Value *value)
{
    if (is_list(r))
        return WRONG(r, here(r),
                     "'%.*s' is a formula, not a list: quote this formula, as in \"0, 1, 0\"",
                     TEXT(of));
    if (is_map(r))
        return WRONG(r, here(r),
                     "'%.*s' is a formula: quote this formula if it holds braces or ': '",
                     TEXT(of));
    if (!is_scalar(r)) return WRONG(r, here(r), "'%.*s' has no value", TEXT(of));
    if (!take(r, value)) return false;
    if (!value->text.length)
        return WRONG(r, value->place,
                     "'%.*s' has no value; if it is part of a formula, quote this formula",
                     TEXT(of));
    return true;
}

static bool read_key(Reader *r, Text in, Value *key)
{
    if (!is_scalar(r)) return WRONG(r, here(r), "a name is expected in '%.*s'", TEXT(in));
    return take(r, key);
}

static bool expect_map(Reader *r, Text title)
{
    return is_map(r) ||
           WRONG(r, here(r), "'%.*s' must be a map, written as name: value", TEXT(title));
}

static bool read_pairs(Reader *r, const Field *field, void *at)
{
    const Text title = text_of(field->key);
    if (!expect_map(r, title)) return false;
    while (next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
        Value key, value;
        if (!read_key(r, title, &key) || !next(r)) return false;
        if (is_map(r) && strcmp(field->key, "set") == 0)
            return WRONG(r, here(r),
                         "'set' holds values alone, as in '%.*s: 1': ranges and units stand in "
                         "'parameters'",
                         TEXT(key.text));
        if (!read_scalar(r, key.text, &value)) return false;
        if (!tr_field_put(r->model, field, at, key, value, false, r->err)) return false;
    }
    return !has_failed(r->err);
}

static bool read_item(Reader *r, const Field *field, void *at)
{
    Value value;
    if (!is_scalar(r))
        return WRONG(r, here(r), "'%s' is a list of names, as in [a, b]", field->key);
    return take(r, &value) && tr_field_put(r->model, field, at, value, value, false, r->err);
}

static bool read_list(Reader *r, const Field *field, void *at)
{
    if (!is_list(r)) return read_item(r, field, at);
    while (next(r) && r->event.type != YAML_SEQUENCE_END_EVENT)
        if (!read_item(r, field, at)) return false;
    return !has_failed(r->err);
}

static bool read_value(Reader *r, const Field *field, void *at)
{
    Value value;
    const Value alone = {.text = {"", 0}, .place = here(r)};
    if (field->type == TYPE_TEXT && (is_list(r) || is_map(r)))
        return WRONG(r, here(r), "'%s' is a text, not a %s: put it in quotes", field->key,
                     is_list(r) ? "list" : "map");
    return read_scalar(r, text_of(field->key), &value) &&
           tr_field_put(r->model, field, at, alone, value, false, r->err);
}

// ---- kinds ---------------------------------------------------------------------------------

static bool read_map(Reader *r, const Kind *kind, void *thing, Text title);

// In {axis: x, y, z} the formula ends at its first comma, and y is a key without a value.
static bool is_cut_formula(Reader *r, Value key)
{
    const char first = key.text.length ? key.text.at[0] : 0;
    if (first == '-' || first == '.' || is_digit(first)) return true;
    return next(r) && is_scalar(r) && !r->event.data.scalar.length &&
           r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

// The first kind that has such a key, or NULL
static const Kind *kind_with(Text key)
{
    for (size_t i = 0; i < tr_kind_count; i++)
        if (tr_kind_field(&tr_kinds[i], key)) return &tr_kinds[i];
    return NULL;
}

static bool refuse_key(Reader *r, const Kind *kind, Text title, Value key)
{
    const Suggestion nearest = tr_kind_nearest(kind, key.text);
    char hint[TR_HINT_SIZE];
    if (!nearest.best.at && is_cut_formula(r, key))
        return WRONG(r, key.place,
                     "unknown key '%.*s' in '%.*s': inside {} quote a formula that holds a comma",
                     TEXT(key.text), TEXT(title));
    const Kind *other = nearest.best.at ? NULL : kind_with(key.text);
    if (other)
        return WRONG(r, key.place, "'%.*s' is a key of '%s', not of '%.*s'%s", TEXT(key.text),
                     other->title, TEXT(title), tr_hint(&nearest, hint));
    return WRONG(r, key.place, "unknown key '%.*s' in '%.*s'%s", TEXT(key.text), TEXT(title),
                 tr_hint(&nearest, hint));
}

static bool refuse_twin(Reader *r, const Field *field, Text title, Value key, bool has_two_names)
{
    if (has_two_names)
        return WRONG(r, key.place, "'" TR_FORMER_NAME "' and '%s' are the same key: keep '%s'",
                     field->key, field->key);
    return WRONG(r, key.place, "'%.*s' stands twice in '%.*s'", TEXT(key.text), TEXT(title));
}

// A role may be the word `passive`, a parameter or an input its value alone; what differs between
// copies is lists alone.
static bool read_thing(Reader *r, const Kind *kind, void *thing, Text title)
{
    Value word;
    if (is_setting_kind(kind) && !is_map(r))
        return read_scalar(r, title, &((Setting *)thing)->value);
    if (kind->type == TYPE_EACH && !is_map(r))
        return read_list(r, kind->fields, &((Each *)thing)->values);
    if (kind->type != TYPE_ROLES || !is_scalar(r)) return read_map(r, kind, thing, title);
    if (!take(r, &word)) return false;
    return text_is(word.text, "passive") ||
           WRONG(r, word.place,
                 "the role of '%.*s' is passive, {torque: ...}, {rate: ...} or {motion: ...}",
                 TEXT(title));
}

// name: {...} for each thing of a kind
static bool read_named(Reader *r, const Kind *kind, void *list)
{
    const Text title = text_of(kind->title);
    if (!expect_map(r, title)) return false;
    while (next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
        Value name;
        if (!read_key(r, title, &name) || !next(r)) return false;
        if (tr_kind_find(kind, list, name.text))
            return WRONG(r, name.place, "'%.*s' stands twice in '%s'", TEXT(name.text),
                         kind->title);
        void *thing = tr_kind_add(r->model, kind, list, name, r->err);
        if (!thing || !read_thing(r, kind, thing, name.text)) return false;
    }
    return !has_failed(r->err);
}

// A surface may be its kind alone.
static bool read_surface(Reader *r, const Field *field, void *at)
{
    Surface *surface = at;
    surface->name = (Value){text_of(field->key), here(r), true};
    return take(r, &surface->kind);
}

static bool read_field(Reader *r, const Field *field, void *at)
{
    const Kind *kind = tr_kind_of(field->type);
    if (kind && kind->named) return read_named(r, kind, at);
    if (kind && field->type == TYPE_SURFACE && is_scalar(r)) return read_surface(r, field, at);
    if (kind) {
        *(Value *)at = (Value){text_of(field->key), here(r), true};
        return read_map(r, kind, at, text_of(field->key));
    }
    if (field->type == TYPE_PAIRS || (field->type == TYPE_PARTS && is_map(r)))
        return read_pairs(r, field, at);
    return field->type == TYPE_LIST ? read_list(r, field, at) : read_value(r, field, at);
}

static bool read_map(Reader *r, const Kind *kind, void *thing, Text title)
{
    if (!expect_map(r, title)) return false;
    assert(kind->field_count <= 64);
    uint64_t seen = 0, former = 0; // by field; by a former name
    while (next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
        Value key;
        if (!read_key(r, title, &key)) return false;
        const Field *field = tr_kind_field(kind, key.text);
        if (!field) return refuse_key(r, kind, title, key);
        const uint64_t bit = (uint64_t)1 << (field - kind->fields);
        const uint64_t is_former = text_is(key.text, field->key) ? 0 : bit;
        if (seen & bit) return refuse_twin(r, field, title, key, is_former != (former & bit));
        seen |= bit, former |= is_former;
        if (!next(r) || !read_field(r, field, (char *)thing + field->offset)) return false;
    }
    return !has_failed(r->err);
}

// ---- documents -----------------------------------------------------------------------------

static bool read_document(Reader *r, const Kind *kind, void *thing, const char *title)
{
    if (!next(r)) return false; // the stream
    if (!next(r)) return false; // the document in it
    if (r->event.type == YAML_STREAM_END_EVENT)
        return WRONG(r, place_of_byte(r, 0), "the file is empty");
    if (!next(r) || !read_map(r, kind, thing, text_of(title))) return false;
    if (!next(r)) return false; // the end of the document
    if (!next(r)) return false; // what follows
    return r->event.type == YAML_STREAM_END_EVENT ||
           WRONG(r, here(r), "a %s file holds one document", title);
}

static bool check_version(Reader *r, const ModelFields *fields)
{
    const Value version = fields->trundle;
    if (!version.given)
        return WRONG(r, ((Place){1, 1, r->in}), "the file must begin with 'trundle: 1'");
    if (!text_is(version.text, "1"))
        return WRONG(r, version.place,
                     "this file is of version '%.*s'; this program reads version 1",
                     TEXT(version.text));
    return true;
}

// A map with the fields of a kind, in one document
static bool parse(Reader *r, const Kind *kind, void *thing, const char *title)
{
    const Text whole = r->text;
    const size_t mark = whole.length >= 3 && memcmp(whole.at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    r->text = (Text){whole.at + mark, whole.length - mark}; // without the mark of UTF-8
    r->end = place_of_byte(r, r->text.length);
    if (!yaml_parser_initialize(&r->parser)) return tr_fail_memory(r->err), false;
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text.at, r->text.length);
    const bool good = read_document(r, kind, thing, title);
    if (r->has_event) yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
    return good;
}

static bool read_fields(Reader *r, ModelFields *into)
{
    return parse(r, tr_kind_model(), into, "model") && check_version(r, into);
}

static bool note_path(Model *model, const char *path)
{
    char *place = path ? tr_beside_place(path) : NULL;
    if (path) model->path = tr_arena_text(&model->arena, path, strlen(path));
    if (place) model->place = tr_arena_text(&model->arena, place, strlen(place));
    free(place);
    return !path || (model->path && model->place);
}

// The model of a text, which it keeps, and of the file that it stands in, if it does.
static Model *read_text(const char *path, const char *text, size_t length, tr_error *err)
{
    Model *model = tr_model_new(err);
    Reader r = {.text = {text, length}, .model = model, .err = err};
    if (model && read_fields(&r, &model->fields)) {
        model->text = (Text){tr_arena_text(&model->arena, text, length), length};
        if (note_path(model, path) && model->text.at) return model;
        tr_fail_memory(err);
    }
    tr_model_free(model);
    return NULL;
}

bool tr_fields_parse(Model *model, const Origin *in, Text text, ModelFields *into, tr_error *err)
{
    Reader r = {.text = text, .in = in, .model = model, .err = err};
    tr_kind_defaults(tr_kind_model(), into);
    return !has_failed(err) && read_fields(&r, into);
}

bool tr_case_parse(Model *model, const char *text, size_t length, int above, Case *into,
                   tr_error *err)
{
    Reader r = {.text = {text, length}, .above = above, .model = model, .err = err};
    return !has_failed(err) && parse(&r, tr_kind_of(TYPE_CASES), into, "case");
}

char *tr_model_text(const char *path, size_t *length, tr_error *err)
{
    return tr_file_read(path, MAX_BYTES, length, err);
}

Model *tr_model_read(const char *path, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    size_t length;
    char *text = tr_model_text(path, &length, err);
    Model *model = text ? read_text(path, text, length, err) : NULL;
    free(text);
    return model;
}

Model *tr_model_parse_as(const char *text, const char *path, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    return !text || has_failed(err) ? NULL : read_text(path, text, strlen(text), err);
}

Model *tr_model_parse(const char *text, tr_error *err)
{
    return tr_model_parse_as(text, NULL, err);
}
