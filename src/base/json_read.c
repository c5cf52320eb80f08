// SPDX-License-Identifier: Apache-2.0
// The grammar of RFC 8259, one function per rule. Each takes the text from `at` on and returns
// where its value ends, or NULL where there is none.
#include "base/json.h"

#include <stdint.h>

enum { MOST_LEVELS = 100 };

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_space(*at)) at++;
    return at;
}

// At least one of them
static const char *skip_digits(const char *at, const char *end)
{
    if (at == end || !is_digit(*at)) return NULL;
    while (at < end && is_digit(*at)) at++;
    return at;
}

// -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
static const char *skip_number(const char *at, const char *end)
{
    if (at < end && *at == '-') at++;
    at = at < end && *at == '0' ? at + 1 : skip_digits(at, end);
    if (at && at < end && *at == '.') at = skip_digits(at + 1, end);
    if (at && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        at = skip_digits(at, end);
    }
    return at;
}

static int hex_digit(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The four digits behind \u; -1 when they are not there
static int32_t unicode_escape(const char *at, const char *end)
{
    int32_t code = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        if (hex_digit(at[i]) < 0) return -1;
        code = 16 * code + hex_digit(at[i]);
    }
    return code;
}

static const char *skip_escape(const char *at, const char *end)
{
    if (at == end) return NULL;
    if (*at == 'u') return unicode_escape(at + 1, end) < 0 ? NULL : at + 5;
    return strchr("\"\\/bfnrt", *at) && *at ? at + 1 : NULL;
}

static const char *skip_string(const char *at, const char *end)
{
    if (at == end || *at++ != '"') return NULL;
    while (at && at < end && *at != '"') {
        const size_t bytes = tr_utf8_length(at, (size_t)(end - at));
        if ((unsigned char)*at < 32 || !bytes) return NULL;
        at = *at == '\\' ? skip_escape(at + 1, end) : at + bytes;
    }
    return at && at < end ? at + 1 : NULL;
}

static const char *skip_value(const char *at, const char *end, int level);

// What stands between brackets: values, or strings with values behind a colon
static const char *skip_inside(const char *at, const char *end, char close, int level)
{
    at = skip_blanks(at, end);
    if (at < end && *at == close) return at + 1;
    for (;;) {
        if (close == '}') {
            at = skip_string(skip_blanks(at, end), end);
            at = at ? skip_blanks(at, end) : NULL;
            if (!at || at == end || *at++ != ':') return NULL;
        }
        at = skip_value(at, end, level);
        at = at ? skip_blanks(at, end) : NULL;
        if (!at || at == end) return NULL;
        if (*at == close) return at + 1;
        if (*at++ != ',') return NULL;
    }
}

static const char *skip_word(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

static const char *skip_value(const char *at, const char *end, int level)
{
    at = skip_blanks(at, end);
    if (at == end || level > MOST_LEVELS) return NULL;
    switch (*at) {
    case '{': return skip_inside(at + 1, end, '}', level + 1);
    case '[': return skip_inside(at + 1, end, ']', level + 1);
    case '"': return skip_string(at, end);
    case 't': return skip_word(at, end, "true");
    case 'f': return skip_word(at, end, "false");
    case 'n': return skip_word(at, end, "null");
    default: return skip_number(at, end);
    }
}

bool tr_json_is_valid(Text text)
{
    if (!text.length) return false;
    const char *end = text.at + text.length, *behind = skip_value(text.at, end, 0);
    return behind && skip_blanks(behind, end) == end;
}

// ---- parts ---------------------------------------------------------------------------------

typedef struct Walk {
    const char *at, *end;
} Walk; // over what is inside the brackets of a valid text

static bool enter(Text value, char bracket, Walk *walk)
{
    if (!value.length) return false;
    *walk = (Walk){value.at, value.at + value.length};
    walk->at = skip_blanks(walk->at, walk->end);
    return walk->at < walk->end && *walk->at++ == bracket;
}

bool tr_json_is_object(Text valid)
{
    Walk walk;
    return enter(valid, '{', &walk);
}

// The next value, and its key in an object; false behind the last
static bool next(Walk *walk, Text *key, Text *value)
{
    walk->at = skip_blanks(walk->at, walk->end);
    if (walk->at == walk->end || *walk->at == ']' || *walk->at == '}') return false;
    if (*walk->at == ',') walk->at = skip_blanks(walk->at + 1, walk->end);
    if (key) {
        const char *behind = skip_string(walk->at, walk->end);
        *key = (Text){walk->at, (size_t)(behind - walk->at)};
        walk->at = skip_blanks(skip_blanks(behind, walk->end) + 1, walk->end);
    }
    const char *behind = skip_value(walk->at, walk->end, 0);
    *value = (Text){walk->at, (size_t)(behind - walk->at)};
    walk->at = behind;
    return true;
}

// Keys are compared as they are written: ours hold nothing to escape.
Text tr_json_member(Text object, const char *key)
{
    Walk walk;
    Text name, value;
    const size_t length = strlen(key);
    if (enter(object, '{', &walk))
        while (next(&walk, &name, &value))
            if (name.length == length + 2 && memcmp(name.at + 1, key, length) == 0) return value;
    return (Text){0};
}

Text tr_json_item(Text list, size_t index)
{
    Walk walk;
    Text value;
    if (enter(list, '[', &walk))
        while (next(&walk, NULL, &value))
            if (index-- == 0) return value;
    return (Text){0};
}

static void add_utf8(Buffer *out, uint32_t c)
{
    char bytes[4];
    size_t count = 0;
    if (c < 0x80)
        bytes[count++] = (char)c;
    else {
        const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        bytes[count++] = (char)((0xf00u >> (more + 1) & 0xffu) | c >> 6 * more);
        for (int i = more - 1; i >= 0; i--) bytes[count++] = (char)(0x80u | (c >> 6 * i & 0x3fu));
    }
    tr_buffer_add(out, bytes, count);
}

// What stands behind a backslash; half of a pair is U+FFFD. Returns where it ends.
static const char *add_escape(Buffer *out, const char *at, const char *end)
{
    static const char marks[] = "bfnrt", meant[] = "\b\f\n\r\t";
    if (*at != 'u') {
        const char *mark = strchr(marks, *at);
        tr_buffer_add(out, mark ? meant + (mark - marks) : at, 1);
        return at + 1;
    }
    const int32_t first = unicode_escape(at + 1, end);
    at += 5;
    if (first < 0xd800 || first > 0xdfff) return add_utf8(out, (uint32_t)first), at;
    const bool is_pair = first < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u';
    const int32_t second = is_pair ? unicode_escape(at + 2, end) : -1;
    if (second < 0xdc00 || second > 0xdfff) return add_utf8(out, 0xfffd), at;
    add_utf8(out, 0x10000u + ((uint32_t)(first - 0xd800) << 10) + (uint32_t)(second - 0xdc00));
    return at + 6;
}

bool tr_json_string(Text value, Buffer *out)
{
    if (!value.length || *value.at != '"') return false;
    const char *at = value.at + 1, *end = value.at + value.length - 1;
    const size_t before = out->length;
    tr_buffer_add(out, "", 0);
    while (at < end) {
        if (*at == '\\')
            at = add_escape(out, at + 1, end);
        else
            tr_buffer_add(out, at++, 1);
    }
    return out->failed || !memchr(out->at + before, 0, out->length - before);
}
