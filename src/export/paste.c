// SPDX-License-Identifier: Apache-2.0
// A header is divided into items, each with the comment above it: definitions end where a line that
// begins with a brace or ends with a semicolon is, outside of functions. An item is needed when one
// that is needed has a word that it defines; since what is used stands before its users, one way
// through them backwards finds all.
#include "export/paste.h"

#include "base/number.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 200 };

typedef struct Item {
    Text comment, body;
    bool is_needed;
} Item;

static bool starts(Text line, const char *with)
{
    const size_t length = strlen(with);
    return line.length >= length && memcmp(line.at, with, length) == 0;
}

// The last mark of a line, before any comment
static char last_mark(Text line)
{
    for (size_t i = 0; i + 1 < line.length; i++)
        if (line.at[i] == '/' && line.at[i + 1] == '/') line.length = i;
    while (line.length && is_space(line.at[line.length - 1])) line.length--;
    return line.length ? line.at[line.length - 1] : 0;
}

static uint32_t divide(Text source, Item *items)
{
    uint32_t count = 0;
    Item item = {0};
    bool inside = false; // of a function or a structure
    while (source.length && count < MOST_ITEMS) {
        const Text line = take_line(&source);
        const bool is_comment = starts(line, "//"), is_blank = last_mark(line) == 0;
        if (!item.body.at &&
            (is_comment || is_blank || (starts(line, "#") && !starts(line, "#define EL_")))) {
            if (!is_comment)
                item.comment = (Text){0};
            else if (!item.comment.at)
                item.comment = line;
            else
                item.comment.length += line.length;
            if (starts(line, "// ----") || starts(line, "// clang") || starts(line, "// SPDX"))
                item.comment = (Text){0};
            continue;
        }
        if (!item.body.at) item.body = (Text){line.at, 0};
        item.body.length += line.length;
        if (starts(line, "{") || last_mark(line) == '{') inside = true;
        const bool ends =
            inside ? starts(line, "}")
                   : last_mark(line) == ';' || starts(line, "#define") || last_mark(line) == '}';
        if (!ends) continue;
        items[count++] = item;
        item = (Item){0}, inside = false;
    }
    return count;
}

// Whether a text has this word
static bool has_word(Text text, Text word)
{
    for (size_t i = 0; i + word.length <= text.length; i++) {
        if (memcmp(text.at + i, word.at, word.length) != 0) continue;
        const bool begins = i == 0 || !is_word(text.at[i - 1]);
        const bool ends = i + word.length == text.length || !is_word(text.at[i + word.length]);
        if (begins && ends) return true;
    }
    return false;
}

// The name that an item defines: of a type its first, of a function that before its parameters, of
// a number that before its value
static Text name_of(Text item)
{
    for (size_t i = 0; i < item.length;) {
        size_t end = i;
        while (end < item.length && is_word(item.at[end])) end++;
        const Text word = {item.at + i, end - i};
        const char behind = end < item.length ? item.at[end] : 0;
        const bool own = starts(word, "el_") || starts(word, "EL_");
        const bool ends = starts(item, "typedef") || starts(item, "#define") || behind == '(' ||
                          behind == '[' || starts((Text){item.at + end, item.length - end}, " =");
        if (own && ends) return word;
        i = end + (end == i);
    }
    return (Text){0};
}

static bool is_used_by(const Item *item, Text by)
{
    const Text name = name_of(item->body);
    return name.length && has_word(by, name);
}

// 0x1p-190 as a decimal number
static size_t copy_number(Buffer *out, const char *at)
{
    char digits[TR_NUMBER_SIZE], *end;
    const long power = strtol(at + 4, &end, 10);
    tr_number_print(ldexp(1, (int)power), digits);
    tr_buffer_print(out, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
    return (size_t)(end - at);
}

static void copy(Buffer *out, Text text, const char *fma)
{
    for (size_t i = 0; i < text.length;) {
        const Text rest = {text.at + i, text.length - i};
        const bool begins = i == 0 || !is_word(text.at[i - 1]);
        if (begins && starts(rest, "0x1p"))
            i += copy_number(out, rest.at);
        else if (begins && starts(rest, "fma(")) {
            tr_buffer_print(out, "%s", fma);
            i += 3;
        } else
            tr_buffer_add(out, text.at + i++, 1);
    }
}

// Bits of a number and back, without the C library
static bool copy_bits(Buffer *out, Text body)
{
    const Text name = name_of(body);
    const bool bits = text_is(name, "el_bits");
    if ((!bits && !text_is(name, "el_double")) || !has_word(body, text_of("memcpy"))) return false;
    tr_buffer_print(out,
                    "static inline %s(%s)\n{\n    union {\n        double x;\n        uint64_t u;\n"
                    "    } both;\n    both.%s;\n    return both.%s;\n}\n",
                    bits ? "uint64_t el_bits" : "double el_double",
                    bits ? "double x" : "uint64_t u", bits ? "x = x" : "u = u", bits ? "u" : "x");
    return true;
}

void tr_paste(Buffer *out, Text source, const char *wanted, const char *fma)
{
    Item *items = calloc(MOST_ITEMS, sizeof *items);
    if (!items) {
        out->failed = true;
        return;
    }
    const uint32_t count = divide(source, items);
    for (uint32_t i = count; i-- > 0;) {
        items[i].is_needed = is_used_by(&items[i], text_of(wanted));
        for (uint32_t k = i + 1; k < count && !items[i].is_needed; k++)
            items[i].is_needed = items[k].is_needed && is_used_by(&items[i], items[k].body);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!items[i].is_needed) continue;
        if (items[i].comment.at) copy(out, items[i].comment, fma);
        if (!copy_bits(out, items[i].body)) copy(out, items[i].body, fma);
        tr_buffer_add(out, "\n", 1);
    }
    free(items);
}
