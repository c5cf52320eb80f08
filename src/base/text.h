// SPDX-License-Identifier: Apache-2.0
// Text: pieces of somebody else's memory, a growing buffer, "did you mean", UTF-8.
#ifndef TR_BASE_TEXT_H
#define TR_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Bytes that live elsewhere, without a terminating zero.
typedef struct Text {
    const char *at;
    size_t length; // [bytes]
} Text;

static inline Text text_of(const char *zero_terminated)
{
    return (Text){zero_terminated, zero_terminated ? strlen(zero_terminated) : 0};
}

static inline bool text_equal(Text a, Text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

static inline bool text_is(Text text, const char *word) { return text_equal(text, text_of(word)); }

static inline bool begins_name(char c) // a letter of ASCII, whatever the locale, or _
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static inline bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

// With something before that
static inline bool ends_with(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a > b && strcmp(text + a - b, end) == 0;
}
static inline bool text_begins_with(Text text, const char *start)
{
    const size_t length = strlen(start);
    return text.length >= length && memcmp(text.at, start, length) == 0;
}

static inline bool text_ends_with(Text text, const char *end)
{
    const size_t length = strlen(end);
    return text.length >= length && memcmp(text.at + text.length - length, end, length) == 0;
}

// What a noun ends in behind a number
static inline const char *plural(size_t count) { return count == 1 ? "" : "s"; }

// Without blanks around it
static inline Text text_trimmed(Text text)
{
    while (text.length && *text.at == ' ') text.at++, text.length--;
    while (text.length && text.at[text.length - 1] == ' ') text.length--;
    return text;
}

enum { TR_NAME_SHOWN = 60 };                            // [bytes] of a name in messages
#define TEXT(t) tr_text_cut((t), TR_NAME_SHOWN), (t).at // for "%.*s" there

// A string that grows. After the first addition `at` ends with a zero that `length` does not count.
// When memory runs out it goes `failed` and stays so: what it held stays readable, additions do
// nothing, and the caller checks once at the end.
typedef struct Buffer {
    char *at;
    size_t length, capacity; // [bytes]
    bool failed;
    int digits; // of numbers, for people; 0: all, so that they read back
} Buffer;       // {0} is an empty buffer

// `text` must not point into the buffer itself.
void tr_buffer_add(Buffer *buffer, const char *text, size_t length);

// As printf. Not for %g and its like, which depend on the locale: use tr_buffer_number.
__attribute__((format(printf, 2, 3))) void tr_buffer_print(Buffer *buffer, const char *format, ...);

// The shortest text that reads back as `value`; or as that to so many digits as the buffer has.
void tr_buffer_number(Buffer *buffer, double value);

// Leaves an empty buffer that can be used again.
void tr_buffer_free(Buffer *buffer);

enum { TR_EDIT = 4 }; // what an edit counts; a letter in the wrong case counts 1
// The fewest insertions, deletions, substitutions and swaps of neighbouring characters that turn
// `a` into `b`, where no character takes part in two of them (optimal string alignment), by what
// they count. SIZE_MAX when one has more than 63 characters.
size_t tr_text_distance(Text a, Text b);

// Finds the name that was probably meant: start with {.wanted = ...} and offer all candidates.
enum { TR_OFFERED_SIZE = 160, TR_HINT_SIZE = TR_OFFERED_SIZE + 120 };
typedef struct Suggestion {
    Text wanted;
    Text best;                     // .at is NULL while nothing is near enough
    size_t distance;               // of `best`
    char offered[TR_OFFERED_SIZE]; // 'a', 'b', ...: as many as there is room for
    bool of_functions;             // nothing else is to be offered
    const char *prefix; // of an included file's copy, or NULL: candidates are offered without it,
                        // and those that do not begin with it, which that file does not know, not
} Suggestion;

// Keeps the candidate when it is nearer than the best so far, and within a third of the length of
// `wanted` (at least one edit); lists it unless it is listed already.
void tr_suggest(Suggestion *suggestion, Text candidate);
// The same of what there is besides, too well known to be listed.
void tr_suggest_unlisted(Suggestion *suggestion, Text candidate);

// "; did you mean 'x'?", else "; there are 'a', 'b', 'c'", or nothing where nothing was offered:
// the end of a message.
const char *tr_hint(const Suggestion *suggestion, char out[TR_HINT_SIZE]);

// Bytes of the valid UTF-8 character at `at`, 1 to 4; 0 when it is invalid or not complete.
size_t tr_utf8_length(const char *at, size_t available);

// The code of a valid UTF-8 character of `length` bytes.
unsigned tr_utf8_code(const char *at, size_t length);

// Bytes of a text that are at most `most`, and end where a character does.
int tr_text_cut(Text text, size_t most);

// Whether a character stands for itself wherever it is shown: no control character, and no mark
// that changes the direction of writing or breaks the line.
bool tr_is_plain(unsigned code);
bool tr_text_is_plain(Text text, bool lines); // all of it; `lines` as below
// Appends a text as it can be shown anywhere: what is not plain is written out, \x1b or \u202e, and
// so are bytes that are not UTF-8, \xff. `lines`: tabs and ends of lines stay what they are.
void tr_buffer_show(Buffer *buffer, Text text, bool lines);
// The same into `out`, of `size` bytes, as much as fits. A character that was cut off at the end of
// the text is left out.
void tr_text_show(Text text, bool lines, char *out, size_t size);

// Characters in the first `bytes` bytes; a byte that belongs to no valid character counts as one.
int tr_utf8_columns(const char *text, size_t bytes);

// The next part of a list with commas, trimmed; `list` moves behind it.
Text tr_next_item(const char **list);
bool tr_is_listed(const char *words, const char *word); // "a b c", "b"
// Appends 'name' to a list of names in a line, or ... where there is no more room.
void tr_list_name(char *line, size_t size, const char *name);

#endif
