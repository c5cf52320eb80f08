// SPDX-License-Identifier: Apache-2.0
// The rows of field.def as a JSON Schema, draft 7, by which editors complete and check model files.
// It says what may stand where; what formulas mean is for derive to find out.
#include "base/json.h"
#include "model/model.h"

#include <stdio.h>

// Formulas, names and texts, which YAML reads as numbers where they look like them; and what else
// may stand in their place
static void write_types(Json *j, const char *besides)
{
    tr_json_open(j, "type", '[');
    if (besides) tr_json_text(j, NULL, besides);
    tr_json_text(j, NULL, "number");
    tr_json_text(j, NULL, "string");
    tr_json_close(j, ']');
    tr_json_number(j, "minLength", 1);
}

static void write_each(Json *j, const char *of)
{
    tr_json_open(j, of, '{');
    write_types(j, NULL);
    tr_json_close(j, '}');
}

// YAML reads a word of digits as a number unless it is quoted.
static void write_choice(Json *j, const char *words)
{
    tr_json_open(j, "enum", '[');
    while (*words) {
        char word[40];
        const size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (is_digit(word[0])) tr_json_raw(j, NULL, text_of(word));
        tr_json_text(j, NULL, word);
        words += length + (words[length] == ' ');
    }
    tr_json_close(j, ']');
}

static void write_flag(Json *j)
{
    tr_json_open(j, "enum", '[');
    tr_json_flag(j, NULL, true);
    tr_json_flag(j, NULL, false);
    tr_json_text(j, NULL, "true");
    tr_json_text(j, NULL, "false");
    tr_json_close(j, ']');
}

static void write_reference(Json *j, const Kind *kind)
{
    char path[60];
    snprintf(path, sizeof path, "#/definitions/%s", kind->title);
    tr_json_text(j, "$ref", path);
}

// Three formulas have two commas between them.
static void write_value(Json *j, const Field *field)
{
    switch (field->type) {
    case TYPE_VECTOR:
        tr_json_text(j, "type", "string");
        tr_json_text(j, "pattern", ",.*,");
        break;
    case TYPE_CHOICE: write_choice(j, field->unit); break;
    case TYPE_FLAG: write_flag(j); break;
    case TYPE_LIST:
        write_types(j, "array");
        tr_json_text(j, "pattern", "^ *[^, ][^,]*(, *[^, ][^,]*)*$"); // of one text
        write_each(j, "items");
        break;
    case TYPE_PAIRS:
        tr_json_text(j, "type", "object");
        write_each(j, "additionalProperties");
        break;
    case TYPE_PARTS:
        write_types(j, "object");
        write_each(j, "additionalProperties");
        break;
    default: write_types(j, NULL);
    }
}

// A thing of a kind, or the one word, list or value that may stand in its place
static void write_thing(Json *j, const Kind *kind)
{
    const Field *list = kind->type == TYPE_EACH ? kind->fields : NULL;
    const Field *word = kind->type == TYPE_SURFACE ? tr_kind_field(kind, text_of("kind")) : NULL;
    const char *words = kind->type == TYPE_ROLES ? "passive" : word ? word->unit : NULL;
    const bool is_setting = is_setting_kind(kind);
    if (!words && !list && !is_setting) {
        write_reference(j, kind);
        return;
    }
    tr_json_open(j, "anyOf", '[');
    tr_json_open(j, NULL, '{');
    if (list)
        write_value(j, list);
    else if (is_setting)
        write_types(j, NULL);
    else
        write_choice(j, words);
    tr_json_close(j, '}');
    tr_json_open(j, NULL, '{');
    write_reference(j, kind);
    tr_json_close(j, '}');
    tr_json_close(j, ']');
}

static void write_things(Json *j, const Kind *kind)
{
    tr_json_text(j, "type", "object");
    tr_json_open(j, "additionalProperties", '{');
    write_thing(j, kind);
    tr_json_close(j, '}');
}

// The row's own words, with the unit in front of them
static void write_words(Json *j, const Field *field)
{
    Buffer text = {0};
    if (field->type != TYPE_CHOICE && field->unit[0]) tr_buffer_print(&text, "[%s] ", field->unit);
    tr_buffer_print(&text, "%s", field->doc);
    if (text.failed) j->text.failed = true;
    if (!text.failed) tr_json_text(j, "description", text.at);
    tr_buffer_free(&text);
    if (field->standard[0]) tr_json_text(j, "default", field->standard);
}

// Beside a reference draft 7 allows nothing, so it stands in a list of one.
static void write_property(Json *j, const char *key, const Field *field)
{
    const Kind *kind = tr_kind_of(field->type);
    tr_json_open(j, key, '{');
    write_words(j, field);
    if (kind && kind->named) {
        write_things(j, kind);
    } else if (kind) {
        tr_json_open(j, "allOf", '[');
        tr_json_open(j, NULL, '{');
        write_thing(j, kind);
        tr_json_close(j, '}');
        tr_json_close(j, ']');
    } else {
        write_value(j, field);
    }
    tr_json_close(j, '}');
}

static void write_required(Json *j, const Kind *kind)
{
    bool any = false;
    for (size_t i = 0; i < kind->field_count; i++) any |= tr_field_is_required(&kind->fields[i]);
    if (!any) return;
    tr_json_open(j, "required", '[');
    for (size_t i = 0; i < kind->field_count; i++)
        if (tr_field_is_required(&kind->fields[i])) tr_json_text(j, NULL, kind->fields[i].key);
    tr_json_close(j, ']');
}

static void write_kind(Json *j, const Kind *kind)
{
    const Field *former = tr_kind_field(kind, text_of(TR_FORMER_NAME));
    tr_json_text(j, "type", "object");
    tr_json_open(j, "properties", '{');
    for (size_t i = 0; i < kind->field_count; i++)
        write_property(j, kind->fields[i].key, &kind->fields[i]);
    if (former) write_property(j, TR_FORMER_NAME, former);
    tr_json_close(j, '}');
    write_required(j, kind);
    tr_json_flag(j, "additionalProperties", false);
}

char *tr_model_schema(tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (has_failed(err)) return NULL;
    Json j = {0};
    tr_json_open(&j, NULL, '{');
    tr_json_text(&j, "$schema", "http://json-schema.org/draft-07/schema#");
    tr_json_text(&j, "title", "a model of trundle");
    write_kind(&j, tr_kind_model());
    tr_json_open(&j, "definitions", '{');
    for (size_t i = 0; i < tr_kind_count; i++) {
        if (&tr_kinds[i] == tr_kind_model()) continue;
        tr_json_open(&j, tr_kinds[i].title, '{');
        write_kind(&j, &tr_kinds[i]);
        tr_json_close(&j, '}');
    }
    tr_json_close(&j, '}');
    tr_json_close(&j, '}');
    return tr_text_finish(&j.text, err);
}
