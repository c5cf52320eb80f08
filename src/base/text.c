// SPDX-License-Identifier: Apache-2.0
// A buffer that grows by half; UTF-8 by its table of valid bytes; names by their alignment.
#include "base/text.h"

#include "base/number.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// ---- buffer -----------------------------------------------------------------------------------

// Room for `more` bytes and a zero, growing by half; the buffer fails when there is none.
static bool reserve(Buffer *buffer, size_t more)
{
    if (buffer->failed) return false;
    if (buffer->capacity - buffer->length > more) return true;
    if (more >= PTRDIFF_MAX - buffer->length) return !(buffer->failed = true);
    size_t capacity = buffer->capacity + buffer->capacity / 2;
    if (capacity < buffer->length + more + 1) capacity = buffer->length + more + 1;
    if (capacity < 64) capacity = 64;
    char *moved = realloc(buffer->at, capacity);
    if (!moved) return !(buffer->failed = true);
    buffer->at = moved;
    buffer->capacity = capacity;
    return true;
}

void tr_buffer_add(Buffer *buffer, const char *text, size_t length)
{
    if (!reserve(buffer, length)) return;
    if (length) memcpy(buffer->at + buffer->length, text, length);
    buffer->length += length;
    buffer->at[buffer->length] = '\0';
}

// Prints twice when the text does not fit at once.
void tr_buffer_print(Buffer *buffer, const char *format, ...)
{
    if (!reserve(buffer, 0)) return;
    for (int pass = 0; pass < 2; pass++) {
        const size_t room = buffer->capacity - buffer->length;
        va_list args;
        va_start(args, format);
        const int length = vsnprintf(buffer->at + buffer->length, room, format, args);
        va_end(args);
        if (length >= 0 && (size_t)length < room) {
            buffer->length += (size_t)length;
            return;
        }
        buffer->at[buffer->length] = '\0'; // take back what was cut off
        if (length < 0) buffer->failed = true;
        if (length < 0 || !reserve(buffer, (size_t)length)) return;
    }
}

void tr_buffer_number(Buffer *buffer, double value)
{
    if (buffer->digits && isfinite(value))
        value = tr_number_rounded(value, buffer->digits) + 0; // -0 is 0
    char text[TR_NUMBER_SIZE];
    tr_buffer_add(buffer, text, tr_number_print(value, text));
}

void tr_buffer_free(Buffer *buffer)
{
    free(buffer->at);
    *buffer = (Buffer){0};
}

// ---- UTF-8 ------------------------------------------------------------------------------------

static bool continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// Valid are (Unicode, table 3-7), where .. is any of 80..bf:
//   00..7f    c2..df ..    e0 a0..bf ..    e1..ef .. .. but not ed a0..bf (surrogates)
//   f0 90..bf .. ..    f1..f3 .. .. ..    f4 80..8f .. ..
size_t tr_utf8_length(const char *at, size_t available)
{
    if (available == 0) return 0;
    const unsigned char *byte = (const unsigned char *)at;
    const unsigned char first = byte[0];
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;
    const size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (available < length) return 0;
    for (size_t i = 1; i < length; i++)
        if (!continues(byte[i])) return 0;
    if (first == 0xe0 && byte[1] < 0xa0) return 0; // overlong
    if (first == 0xed && byte[1] > 0x9f) return 0; // surrogate
    if (first == 0xf0 && byte[1] < 0x90) return 0; // overlong
    if (first == 0xf4 && byte[1] > 0x8f) return 0; // above U+10FFFF
    return length;
}

unsigned tr_utf8_code(const char *at, size_t length)
{
    const unsigned char *byte = (const unsigned char *)at;
    unsigned code = length == 1 ? byte[0] : byte[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) code = code << 6 | (byte[i] & 0x3f);
    return code;
}

int tr_text_cut(Text text, size_t most)
{
    if (text.length <= most) return (int)text.length;
    while (most && continues((unsigned char)text.at[most])) most--;
    return (int)most;
}

int tr_utf8_columns(const char *text, size_t bytes)
{
    int columns = 0;
    for (size_t at = 0; at < bytes && columns < INT_MAX; columns++) {
        const size_t length = tr_utf8_length(text + at, bytes - at);
        at += length ? length : 1;
    }
    return columns;
}

// ---- what can be shown ------------------------------------------------------------------------

bool tr_is_plain(unsigned code)
{
    if (code >= ' ' && code < 0x7f) return true;
    static const struct {
        unsigned first, last;
    } acting[] = {
        {0, 0x1f},          {0x7f, 0x9f},     // control characters
        {0x61c, 0x61c},     {0x200e, 0x200f}, // marks of direction
        {0x2028, 0x2029},                     // ends of lines and paragraphs
        {0x202a, 0x202e},   {0x2066, 0x2069}, // directions, embedded and isolated
        {0xfeff, 0xfeff},                     // the mark of byte order
        {0xfff9, 0xfffb},   {0xfffe, 0xffff}, // annotations; no characters
        {0xe0000, 0xe007f},                   // tags, which are not seen
    };
    for (size_t i = 0; i < sizeof acting / sizeof *acting; i++)
        if (code >= acting[i].first && code <= acting[i].last) return false;
    return true;
}

enum { SHOWN_SIZE = 12 }; // [bytes] of one character

// One character, or byte, as it can be shown; gives how many bytes of the text it is.
static size_t show_one(const char *at, size_t left, bool lines, char shown[SHOWN_SIZE])
{
    const size_t length = tr_utf8_length(at, left);
    const unsigned byte = (unsigned char)*at, code = length ? tr_utf8_code(at, length) : 0;
    if ((length && tr_is_plain(code)) || (lines && (byte == '\n' || byte == '\t')))
        snprintf(shown, SHOWN_SIZE, "%.*s", (int)length, at);
    else if (length > 1)
        snprintf(shown, SHOWN_SIZE, code > 0xffff ? "\\U%06x" : "\\u%04x", code);
    else
        snprintf(shown, SHOWN_SIZE, "\\x%02x", byte);
    return length ? length : 1;
}

// Bytes in front that stand for themselves
static size_t plain_bytes(Text text, bool lines)
{
    size_t at = 0;
    while (at < text.length) {
        const unsigned char byte = (unsigned char)text.at[at];
        const size_t length = tr_utf8_length(text.at + at, text.length - at);
        const bool is_line = lines && (byte == '\n' || byte == '\t');
        if (!length || (!is_line && !tr_is_plain(tr_utf8_code(text.at + at, length)))) break;
        at += length;
    }
    return at;
}

bool tr_text_is_plain(Text text, bool lines) { return plain_bytes(text, lines) == text.length; }

void tr_buffer_show(Buffer *buffer, Text text, bool lines)
{
    char shown[SHOWN_SIZE];
    tr_buffer_add(buffer, "", 0);
    while (text.length) {
        size_t length = plain_bytes(text, lines);
        tr_buffer_add(buffer, text.at, length);
        if (length < text.length) {
            length += show_one(text.at + length, text.length - length, lines, shown);
            tr_buffer_add(buffer, shown, strlen(shown));
        }
        text = (Text){text.at + length, text.length - length};
    }
}

// Whether nothing is left but the beginning of a character
static bool is_cut_off(const char *at, size_t left)
{
    const unsigned char first = (unsigned char)*at;
    const size_t wanted = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    size_t there = 1;
    while (there < left && continues((unsigned char)at[there])) there++;
    return there == left && left < wanted;
}

void tr_text_show(Text text, bool lines, char *out, size_t size)
{
    char shown[SHOWN_SIZE];
    size_t length = 0;
    for (size_t at = 0; at < text.length && !is_cut_off(text.at + at, text.length - at);) {
        at += show_one(text.at + at, text.length - at, lines, shown);
        const size_t more = strlen(shown);
        if (length + more >= size) break;
        memcpy(out + length, shown, more);
        length += more;
    }
    if (size) out[length] = 0;
}

// ---- did you mean -----------------------------------------------------------------------------

enum { LONGEST_NAME = 63 }; // [characters]

// A name as an array of characters, so that `ω` is one of them.
typedef struct Name {
    size_t length;
    uint32_t letter[LONGEST_NAME];
} Name;

// False when the text is longer than a name may be.
static bool unpack(Text text, Name *name)
{
    name->length = 0;
    for (size_t at = 0; at < text.length;) {
        if (name->length == LONGEST_NAME) return false;
        const size_t valid = tr_utf8_length(text.at + at, text.length - at);
        uint32_t letter = 0;
        for (size_t end = at + (valid ? valid : 1); at < end; at++)
            letter =
                letter << 8 | (unsigned char)text.at[at]; // any code will do that tells them apart
        name->letter[name->length++] = letter;
    }
    return true;
}

static uint32_t lower(uint32_t letter)
{
    return 'A' <= letter && letter <= 'Z' ? letter + ('a' - 'A') : letter;
}

static size_t substitution(uint32_t a, uint32_t b)
{
    if (a == b) return 0;
    return lower(a) == lower(b) ? 1 : TR_EDIT;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// With D(i,j) the distance between the first i letters of a and the first j of b:
//   D(i,j) = min( D(i-1,j) + edit, D(i,j-1) + edit, D(i-1,j-1) + substitution(a_i, b_j),
//                 D(i-2,j-2) + edit  if a_i = b_(j-1) and a_(i-1) = b_j ),
// of which only three rows are kept.
static size_t alignment(const Name *a, const Name *b)
{
    size_t D[3][LONGEST_NAME + 1];
    for (size_t j = 0; j <= b->length; j++) D[0][j] = j * TR_EDIT;
    for (size_t i = 1; i <= a->length; i++) {
        size_t *row = D[i % 3];
        const size_t *above = D[(i + 2) % 3], *two_above = D[(i + 1) % 3];
        const uint32_t letter = a->letter[i - 1];
        row[0] = i * TR_EDIT;
        for (size_t j = 1; j <= b->length; j++) {
            row[j] = smaller(above[j], row[j - 1]) + TR_EDIT;
            row[j] = smaller(row[j], above[j - 1] + substitution(letter, b->letter[j - 1]));
            if (i > 1 && j > 1 && letter == b->letter[j - 2] &&
                a->letter[i - 2] == b->letter[j - 1])
                row[j] = smaller(row[j], two_above[j - 2] + TR_EDIT);
        }
    }
    return D[a->length % 3][b->length];
}

size_t tr_text_distance(Text a, Text b)
{
    Name from, to;
    return unpack(a, &from) && unpack(b, &to) ? alignment(&from, &to) : SIZE_MAX;
}

static size_t letter_count(Text text) { return (size_t)tr_utf8_columns(text.at, text.length); }

// How far two names agree up to a point: "frame." of frame.roll and frame.x, which says nothing
// about whether one is meant by the other
static size_t shared_part(Text a, Text b)
{
    size_t part = 0;
    for (size_t i = 0; i < a.length && i < b.length && a.at[i] == b.at[i]; i++)
        if (a.at[i] == '.') part = i + 1;
    return part;
}

static Text behind(Text text, size_t part)
{
    return part ? (Text){text.at + part, text.length - part} : text;
}

static void consider(Suggestion *suggestion, Text candidate)
{
    const size_t part = shared_part(suggestion->wanted, candidate);
    const Text a = behind(suggestion->wanted, part), b = behind(candidate, part);
    const size_t distance = tr_text_distance(a, b);
    const size_t wanted = letter_count(a), offered = letter_count(b);
    const size_t longer = wanted > offered ? wanted : offered;
    const size_t limit = wanted > 3 ? TR_EDIT * wanted / 3 : TR_EDIT;
    if (distance > limit) return;
    if (distance >= TR_EDIT * longer) return; // nothing in common: x does not mean y
    if (suggestion->best.at && distance >= suggestion->distance) return; // the first one wins
    suggestion->best = candidate;
    suggestion->distance = distance;
}

// Takes the prefix off; false when there is none
static bool take_off(const char *prefix, Text *name)
{
    if (!prefix || !text_begins_with(*name, prefix)) return false;
    *name = behind(*name, strlen(prefix));
    return true;
}

void tr_suggest_unlisted(Suggestion *suggestion, Text candidate)
{
    take_off(suggestion->prefix, &candidate);
    consider(suggestion, candidate);
}

void tr_suggest(Suggestion *suggestion, Text candidate)
{
    if (suggestion->prefix && !take_off(suggestion->prefix, &candidate)) return;
    char name[TR_NAME_SHOWN + 1], quoted[TR_NAME_SHOWN + 3];
    snprintf(name, sizeof name, "%.*s", TEXT(candidate));
    snprintf(quoted, sizeof quoted, "'%s'", name);
    if (candidate.length && !strstr(suggestion->offered, quoted))
        tr_list_name(suggestion->offered, sizeof suggestion->offered, name);
    consider(suggestion, candidate);
}

const char *tr_hint(const Suggestion *suggestion, char out[TR_HINT_SIZE])
{
    const char *all = suggestion->offered;
    out[0] = 0;
    if (suggestion->best.at)
        snprintf(out, TR_HINT_SIZE, "; did you mean '%.*s'?", TEXT(suggestion->best));
    else if (all[0])
        snprintf(out, TR_HINT_SIZE, "; there %s %s", strchr(all, ',') ? "are" : "is", all);
    return out;
}

Text tr_next_item(const char **list)
{
    const Text item = {*list, strcspn(*list, ",")};
    *list += item.length + ((*list)[item.length] == ',');
    return text_trimmed(item);
}

bool tr_is_listed(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || !at[length])) return true;
    return false;
}

void tr_list_name(char *line, size_t size, const char *name)
{
    const size_t length = strlen(line);
    if (length >= 3 && strcmp(line + length - 3, "...") == 0) return;
    if (length + strlen(name) + 10 <= size)
        snprintf(line + length, size - length, "%s'%s'", length ? ", " : "", name);
    else
        snprintf(line + length, size - length, "%s...", length ? ", " : "");
}
