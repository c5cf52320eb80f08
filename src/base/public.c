// SPDX-License-Identifier: Apache-2.0
// The public calls on numbers, names and texts: what programs on top of the library need as well.
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tr_version(void) { return TR_VERSION; }

bool tr_read_number(const char *text, double *value)
{
    if (!text) return false;
    const bool negative = text[0] == '-';
    const char *digits = text + (negative || text[0] == '+');
    size_t used;
    double size;
    if (!tr_number_read(digits, strlen(digits), &used, &size) || digits[used]) return false;
    if (isinf(size)) return false;
    *value = negative ? -size : size;
    return true;
}

const char *tr_nearest(const char *wanted, const char *const *candidates, size_t count)
{
    Suggestion nearest = {.wanted = text_of(wanted)};
    for (size_t i = 0; i < count; i++) tr_suggest(&nearest, text_of(candidates[i]));
    return nearest.best.at;
}

size_t tr_find_name(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0) i++;
    return i;
}

const char *tr_shown(const char *text, char *out, size_t size)
{
    tr_text_show(text_of(text), false, out, size);
    return out;
}

bool tr_write_text(const char *path, const char *text, tr_error *err)
{
    OutFile *file = text ? tr_file_create(path, err) : NULL;
    if (!file) return false;
    fputs(text, tr_file_stream(file));
    return tr_file_commit(file, err);
}

void tr_text_free(char *text) { free(text); }
