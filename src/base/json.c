// SPDX-License-Identifier: Apache-2.0
// Writing JSON. json_read.c reads it.
#include "base/json.h"

#include <math.h>

// In ASCII where it is not plain. A byte that is not UTF-8 is written out, \xff, as in messages.
static void write_text(Buffer *b, const char *text)
{
    tr_buffer_add(b, "\"", 1);
    for (size_t left = strlen(text), length; left; text += length, left -= length) {
        length = tr_utf8_length(text, left);
        const unsigned code = length ? tr_utf8_code(text, length) : 0;
        if (*text == '"' || *text == '\\')
            tr_buffer_print(b, "\\%c", *text);
        else if (length && tr_is_plain(code))
            tr_buffer_add(b, text, length);
        else if (code > 0xffff)
            tr_buffer_print(b, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
        else if (length)
            tr_buffer_print(b, "\\u%04x", code);
        else
            tr_buffer_print(b, "\\\\x%02x", (unsigned char)*text);
        if (!length) length = 1;
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
