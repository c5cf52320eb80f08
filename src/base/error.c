// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The column in the file of one in a text whose names were changed
static int column_before(const Spelling *spelling, int column)
{
    for (const Spelling *s = spelling; s; s = s->before) {
        const int at = column - s->column;
        int shift = 0;
        for (uint32_t i = 0; i < s->count && s->names[i].at <= at; i++) {
            const struct Respelt *name = &s->names[i];
            const int inside = at - name->at;
            shift += inside < name->now ? inside : name->now - name->was;
        }
        column -= shift;
    }
    return column;
}

// " (included by rover.yaml:5:3 as fl)"
static void add_origin(const Origin *origin, char *words, size_t size)
{
    char whence[300];
    size_t length = 0;
    for (const Origin *o = origin; o && length < sizeof whence; o = o->at.in) {
        char place[40] = "";
        if (o->at.line) snprintf(place, sizeof place, ":%d:%d", o->at.line, o->at.column);
        length += (size_t)snprintf(whence + length, sizeof whence - length, "%s by %s%s as %s",
                                   length ? "," : " (included", o->by, place, o->as);
    }
    if (!length) return;
    length = strlen(whence);
    if (length + 1 < sizeof whence) whence[length] = ')', whence[++length] = 0;
    const size_t before = strlen(words);
    if (before >= length && strcmp(words + before - length, whence) == 0) return; // said before
    const size_t room = size - 1 - length;
    snprintf(words + (before < room ? before : room), length + 1, "%s", whence);
}

void(tr_fail)(tr_error *err, tr_status status, Place at, const char *format, ...)
{
    if (!err || err->status != TR_OK) return; // first error wins
    err->status = status;
    err->line = at.line;
    err->column = at.in ? column_before(at.in->spelling, at.column) : at.column;
    char words[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (at.in) add_origin(at.in, words, sizeof words);
    tr_text_show(text_of(words), false, err->text, sizeof err->text);
    err->file[0] = 0;
    if (at.in) snprintf(err->file, sizeof err->file, "%s", at.in->file);
}

void(tr_fail_again)(tr_error *err, const tr_error *why, const char *format, ...)
{
    if (!err || err->status != TR_OK) return;
    char words[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tr_fail(err, why->status, place_at(why->line, why->column), "%s", words);
    memmove(err->file, why->file, sizeof err->file);
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

// Whether two places are in one file; settings and calls are in none.
static bool are_in_one(Place a, Place b)
{
    if (a.in || b.in) return a.in && b.in && strcmp(a.in->file, b.in->file) == 0;
    return b.line >= 0 && a.line / TR_WITH_LINES == b.line / TR_WITH_LINES;
}

void tr_place_told(Place there, Place at, char words[TR_PLACE_SHOWN])
{
    const bool is_beside = are_in_one(there, at);
    words[0] = 0;
    if (there.line <= 0 || (is_beside && there.line == at.line)) return;
    if (there.in)
        snprintf(words, TR_PLACE_SHOWN, " (%.100s, line %d)", there.in->file, there.line);
    else
        snprintf(words, TR_PLACE_SHOWN, " (line %d%s)", there.line % TR_WITH_LINES,
                 is_beside                        ? ""
                 : there.line / TR_WITH_LINES > 0 ? " of --with"
                                                  : " of the model");
}

void tr_origin_prefix(const Origin *origin, char prefix[TR_PREFIX_SHOWN])
{
    char inner[TR_PREFIX_SHOWN] = "";
    for (const Origin *o = origin; o; o = o->at.in) {
        snprintf(prefix, TR_PREFIX_SHOWN, "%s_%s", o->as, inner);
        snprintf(inner, sizeof inner, "%s", prefix);
    }
    snprintf(prefix, TR_PREFIX_SHOWN, "%s", inner);
}
