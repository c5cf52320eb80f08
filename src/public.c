// SPDX-License-Identifier: Apache-2.0
// Small public helpers that programs on top of the library need as well.
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>

const char *tr_version(void) { return TR_VERSION; }

bool tr_read_number(const char *text, double *value)
{
    if (!text) return false;
    const bool negative = text[0] == '-';
    const char *digits = text + (negative || text[0] == '+');
    size_t used;
    if (!tr_number_read(digits, strlen(digits), &used, value) || digits[used]) return false;
    if (isinf(*value)) return false;
    if (negative) *value = -*value;
    return true;
}

const char *tr_nearest(const char *wanted, const char *const *candidates, size_t count)
{
    Suggestion nearest = {.wanted = text_of(wanted)};
    for (size_t i = 0; i < count; i++) tr_suggest(&nearest, text_of(candidates[i]));
    return nearest.best.at;
}

bool tr_write_text(const char *path, const char *text, tr_error *err)
{
    OutFile *file = text ? tr_file_create(path, err) : NULL;
    if (!file) return false;
    fputs(text, tr_file_stream(file));
    return tr_file_commit(file, err);
}
