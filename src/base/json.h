// SPDX-License-Identifier: Apache-2.0
// Writing JSON into a buffer. Commas and indentation take care of themselves.
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

#endif
