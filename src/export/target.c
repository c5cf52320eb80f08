// SPDX-License-Identifier: Apache-2.0
#include "export/target.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const Target targets[] = {
#define TARGET(name, words, print, differentiates, may_unreduce, is_file, has_single) \
    {name, words, print, differentiates, may_unreduce, is_file, has_single},
#include "export/target.def"
};
enum { TARGET_COUNT = sizeof targets / sizeof *targets };

const Target *tr_target(const char *name, tr_error *err)
{
    Suggestion nearest = {.wanted = text_of(name)};
    char hint[TR_HINT_SIZE];
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        if (strcmp(name, targets[i].name) == 0) return &targets[i];
        tr_suggest(&nearest, text_of(targets[i].name));
    }
    tr_fail(err, TR_USAGE, (Place){0}, "there is no language '%.60s'%s", name,
            tr_hint(&nearest, hint));
    return NULL;
}

void tr_upper_name(const char *name, char *out, size_t size)
{
    size_t i = 0;
    for (; name[i] && i + 1 < size; i++)
        out[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
    out[i] = 0;
}

Buffer *tr_folder_add(Folder *folder, const char *format, ...)
{
    if (folder->count == sizeof folder->files / sizeof *folder->files) return NULL;
    struct FolderFile *file = &folder->files[folder->count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(file->name, sizeof file->name, format, arguments);
    va_end(arguments);
    return &file->text;
}

// The text of a mark that stands here, or NULL
static const Mark *mark_at(const Mark *marks, Text rest)
{
    for (; marks->mark; marks++) {
        const size_t length = strlen(marks->mark);
        if (rest.length > length + 1 && memcmp(rest.at + 1, marks->mark, length) == 0 &&
            rest.at[length + 1] == '@')
            return marks;
    }
    return NULL;
}

void tr_fill_in(Buffer *out, Text text, const Mark *marks)
{
    for (size_t i = 0; i < text.length;) {
        const char *next = memchr(text.at + i, '@', text.length - i);
        const size_t plain = next ? (size_t)(next - text.at) - i : text.length - i;
        tr_buffer_add(out, text.at + i, plain);
        i += plain;
        if (!next) return;
        const Mark *mark = mark_at(marks, (Text){next, text.length - i});
        tr_buffer_print(out, "%s", mark ? mark->text : "@");
        i += mark ? strlen(mark->mark) + 2 : 1;
    }
}
