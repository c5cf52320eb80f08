// SPDX-License-Identifier: Apache-2.0
// Writing JSON into a buffer: commas and indentation take care of themselves. Reading it: texts are
// checked as a whole, and then their parts are found in them.
#ifndef TR_BASE_JSON_H
#define TR_BASE_JSON_H

#include "base/text.h"

typedef struct Json {
    Buffer text;
    int depth;
    bool has_items; // at this depth, so that the next needs a comma
} Json;             // {0} to start

void tr_json_open(Json *json, const char *key,
                  char bracket); // '{' or '['; key NULL in lists, on top
void tr_json_close(Json *json, char bracket);
void tr_json_number(Json *json, const char *key, double value); // null when it is not finite
void tr_json_text(Json *json, const char *key, const char *value);
void tr_json_flag(Json *json, const char *key, bool value);
void tr_json_raw(Json *json, const char *key, Text value); // JSON as it is
// Lists: numbers on one line, texts below each other.
void tr_json_numbers(Json *json, const char *key, const double *values, size_t count);
void tr_json_texts(Json *json, const char *key, const char *const *texts, size_t count);
// Numbers by rows, as a list of lists
void tr_json_matrix(Json *json, const char *key, const double *X, size_t rows, size_t columns);

// Whether all of a text is one value as RFC 8259 has it, in valid UTF-8, of at most 100 levels.
bool tr_json_is_valid(Text text);
bool tr_json_is_object(Text valid);

// Parts of a valid text: `at` is NULL when there is no such part.
Text tr_json_member(Text object, const char *key);
Text tr_json_item(Text list, size_t index);
// Appends what a string stands for; false when it is no string, or holds a zero.
bool tr_json_string(Text value, Buffer *out);

#endif
