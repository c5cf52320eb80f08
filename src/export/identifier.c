// SPDX-License-Identifier: Apache-2.0
#include "export/identifier.h"

#include <stdlib.h>
#include <string.h>

// Of ASCII, whatever the locale
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Letters, digits and single underscores, none of them last
static size_t copy_plain(const char *from, size_t length, char *out, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < length && count < most; i++) {
        const char c = is_letter(from[i]) || is_digit(from[i]) ? from[i] : '_';
        if (c != '_' || (count && out[count - 1] != '_')) out[count++] = c;
    }
    while (count && out[count - 1] == '_') count--;
    out[count] = 0;
    return count;
}

char *tr_identifier_new(const char *prefix, const char *name)
{
    const size_t start = strlen(prefix);
    size_t length = strlen(name);
    char *id = malloc(start + IDENTIFIER_LONGEST + 20); // and a number behind it
    if (!id) return NULL;
    if (prefix[0] == 'v' && length > 3 && begins_with(name, "d(") && name[length - 1] == ')')
        name += 2, length -= 3;
    char *own = stpcpy(id, prefix);
    if (!copy_plain(name, length, own, IDENTIFIER_LONGEST)) own[0] = 'x', own[1] = 0;
    return id;
}

static void identify(const char *start, size_t length, char *out, size_t size)
{
    size_t used = 0;
    if (!length || !is_letter(start[0])) memcpy(out, "model_", 7), used = 6;
    copy_plain(start, length, out + used, size - used - 1);
    if (used && !out[used]) out[used - 1] = 0; // nothing is left of it
}

static const char *last_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void tr_identifier_of_title(const char *title, char *out, size_t size)
{
    const char *start = last_of_path(title);
    identify(start, strlen(start), out, size);
}

void tr_identifier_of_file(const char *path, char *out, size_t size)
{
    const char *start = last_of_path(path), *extension = strrchr(start, '.');
    identify(start, extension ? (size_t)(extension - start) : strlen(start), out, size);
}

static bool is_harmless(char c)
{
    return is_letter(c) || is_digit(c) || (c && strchr(" _.,()+^-=<>/:;[]|~", c));
}

void tr_buffer_comment(Buffer *out, const char *text)
{
    for (const char *c = text; *c; c++) tr_buffer_add(out, is_harmless(*c) ? c : ".", 1);
}

void tr_buffer_quoted(Buffer *out, const char *text, bool octal)
{
    for (const char *c = text; *c; c++)
        if (is_harmless(*c))
            tr_buffer_add(out, c, 1);
        else if (octal)
            tr_buffer_print(out, "\\%03o", (unsigned char)*c);
        else
            tr_buffer_add(out, ".", 1);
}
