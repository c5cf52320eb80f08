// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

void(tr_fail)(tr_error *err, tr_status status, Place at, const char *format, ...)
{
    if (!err || err->status != TR_OK) return; // first error wins
    err->status = status;
    err->line = at.line;
    err->column = at.column;
    char words[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tr_text_show(text_of(words), false, err->text, sizeof err->text);
}

void(tr_fail_memory)(tr_error *err) { tr_fail(err, TR_NO_MEMORY, (Place){0}, "out of memory"); }

char *tr_text_finish(Buffer *text, tr_error *err)
{
    const Text all = {text->at, text->length};
    if (text->at && !text->failed && !tr_text_is_plain(all, true)) {
        Buffer shown = {0};
        tr_buffer_show(&shown, all, true);
        tr_buffer_free(text);
        *text = shown;
    }
    if (text->failed) tr_fail_memory(err);
    if (!has_failed(err)) return text->at;
    tr_buffer_free(text);
    return NULL;
}
