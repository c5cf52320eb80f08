// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

void tr_fail(tr_error *err, tr_status status, Place at, const char *format, ...)
{
    if (!err || err->status != TR_OK) return; // first error wins
    err->status = status;
    err->line = at.line;
    err->column = at.column;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
}

void tr_fail_memory(tr_error *err) { tr_fail(err, TR_NO_MEMORY, (Place){0}, "out of memory"); }

char *tr_text_finish(Buffer *text, tr_error *err)
{
    if (text->failed) tr_fail_memory(err);
    if (!has_failed(err)) return text->at;
    tr_buffer_free(text);
    return NULL;
}
