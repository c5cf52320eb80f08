// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <math.h>

static void write_text(Buffer *b, const char *text)
{
    tr_buffer_add(b, "\"", 1);
    for (const char *at = text; *at; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\')
            tr_buffer_print(b, "\\%c", c);
        else if (c < 32)
            tr_buffer_print(b, "\\u%04x", c);
        else
            tr_buffer_add(b, at, 1);
    }
    tr_buffer_add(b, "\"", 1);
}

static void begin_item(Json *json, const char *key)
{
    if (json->has_items) tr_buffer_add(&json->text, ",", 1);
    if (json->depth) tr_buffer_print(&json->text, "\n%*s", 2 * json->depth, "");
    json->has_items = true;
    if (!key) return;
    write_text(&json->text, key);
    tr_buffer_add(&json->text, ": ", 2);
}

void tr_json_open(Json *json, const char *key, char bracket)
{
    begin_item(json, key);
    tr_buffer_add(&json->text, &bracket, 1);
    json->depth++;
    json->has_items = false;
}

void tr_json_close(Json *json, char bracket)
{
    json->depth--;
    if (json->has_items) tr_buffer_print(&json->text, "\n%*s", 2 * json->depth, "");
    tr_buffer_add(&json->text, &bracket, 1);
    json->has_items = true;
    if (!json->depth) tr_buffer_add(&json->text, "\n", 1);
}

static void write_number(Buffer *out, double value)
{
    if (isfinite(value))
        tr_buffer_number(out, value);
    else
        tr_buffer_print(out, "null");
}

void tr_json_number(Json *json, const char *key, double value)
{
    begin_item(json, key);
    write_number(&json->text, value);
}

void tr_json_text(Json *json, const char *key, const char *value)
{
    begin_item(json, key);
    write_text(&json->text, value);
}

void tr_json_flag(Json *json, const char *key, bool value)
{
    begin_item(json, key);
    tr_buffer_print(&json->text, value ? "true" : "false");
}

void tr_json_raw(Json *json, const char *key, Text value)
{
    begin_item(json, key);
    tr_buffer_add(&json->text, value.at, value.length);
}

void tr_json_numbers(Json *json, const char *key, const double *values, size_t count)
{
    begin_item(json, key);
    tr_buffer_add(&json->text, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i) tr_buffer_add(&json->text, ", ", 2);
        write_number(&json->text, values[i]);
    }
    tr_buffer_add(&json->text, "]", 1);
}

void tr_json_texts(Json *json, const char *key, const char *const *texts, size_t count)
{
    tr_json_open(json, key, '[');
    for (size_t i = 0; i < count; i++) tr_json_text(json, NULL, texts[i]);
    tr_json_close(json, ']');
}

void tr_json_matrix(Json *json, const char *key, const double *X, size_t rows, size_t columns)
{
    tr_json_open(json, key, '[');
    for (size_t i = 0; i < rows; i++) tr_json_numbers(json, NULL, X + i * columns, columns);
    tr_json_close(json, ']');
}
