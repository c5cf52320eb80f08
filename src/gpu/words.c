// SPDX-License-Identifier: Apache-2.0
#include "gpu/words.h"

#include "base/arena.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tr_word_is(const Word *word, const char *text)
{
    return word->text.length == strlen(text) && memcmp(word->text.at, text, word->text.length) == 0;
}

static bool same_text(Text a, Text b)
{
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

Kind tr_word_type(const Words *w, const Word *word)
{
    static const struct {
        const char *name;
        Kind kind;
    } types[] = {{"instant", KIND_REAL}, {"float", KIND_SINGLE}, {"int", KIND_INT},
                 {"bool", KIND_TRUTH},   {"uint32_t", KIND_U32}, {"uint64_t", KIND_U64},
                 {"size_t", KIND_U64}};
    if (word->kind == WORD_NAME && tr_word_is(word, "double"))
        return w->is_single ? KIND_SINGLE : KIND_REAL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (word->kind == WORD_NAME && tr_word_is(word, types[i].name)) return types[i].kind;
    return KIND_NONE;
}

// ---- words ---------------------------------------------------------------------------------

static Word *add_word(Words *w, WordKind kind, const char *at, size_t length)
{
    static Word none;
    if (!tr_grow((void **)&w->at, &w->capacity, w->count + 1, sizeof *w->at)) {
        w->failed = true;
        return &none;
    }
    w->at[w->count] = (Word){.kind = kind, .text = {at, length}};
    return &w->at[w->count++];
}

static size_t number_length(const char *at, const char *end)
{
    const char *from = at;
    const bool hexadecimal = end - at > 1 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    while (at < end) {
        const bool exponent = at > from && strchr(hexadecimal ? "pP" : "eE", at[-1]);
        const bool sign = (*at == '+' || *at == '-') && exponent;
        if (!is_digit(*at) && !begins_name(*at) && *at != '.' && !sign) break;
        at++;
    }
    return (size_t)(at - from);
}

static size_t mark_length(const char *at, const char *end)
{
    static const char *const marks[] = {
        "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
        "+=",  "-=",  "*=", "/=", "|=", "&=", "^=", "++", "--", "->"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t length = strlen(marks[i]);
        if ((size_t)(end - at) >= length && memcmp(at, marks[i], length) == 0) return length;
    }
    return 1;
}

static const char *line_end(const char *at, const char *end, bool goes_on)
{
    while (at < end && !(*at == '\n' && !(goes_on && at[-1] == '\\'))) at++;
    return at;
}

static void read_words(Words *w, const char *at, const char *end);

// #define NAME(a, b) what it says
static void read_macro(Words *w, const char *at, const char *end)
{
    while (at < end && *at == ' ') at++;
    const uint32_t first = w->count;
    add_word(w, WORD_MACRO, at, 0);
    read_words(w, at, end);
    add_word(w, WORD_END, end, 0);
    w->at[first].skip = w->count - first;
    const Text name = w->at[first + 1].text;
    w->at[first].text =
        (Text){at, name.length + (at + name.length < end && at[name.length] == '(')};
}

static void read_words(Words *w, const char *at, const char *end)
{
    static const char define[] = "#define ";
    while (at < end && !w->failed) {
        size_t length = 1;
        if (*at == '#') {
            const char *stop = line_end(at, end, true);
            const size_t head = sizeof define - 1;
            if ((size_t)(stop - at) > head && memcmp(at, define, head) == 0)
                read_macro(w, at + head, stop);
            length = (size_t)(stop - at);
        } else if (end - at > 1 && at[0] == '/' && at[1] == '/')
            length = (size_t)(line_end(at, end, false) - at);
        else if (begins_name(*at)) {
            while (at + length < end && (begins_name(at[length]) || is_digit(at[length]))) length++;
            add_word(w, WORD_NAME, at, length);
        } else if (is_digit(*at)) {
            length = number_length(at, end);
            add_word(w, WORD_NUMBER, at, length);
        } else if (*at > ' ' && *at != '\\') {
            length = mark_length(at, end);
            add_word(w, WORD_MARK, at, length);
        }
        at += length;
    }
}

// 0x1.8p-3: digits, and the power of two that they are times
static double hexadecimal_number(const char *at)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t n = 0;
    int power = 0;
    bool is_behind = false;
    for (at += 2; *at && !strchr("pP", *at); at++) {
        const char *digit = strchr(digits, *at | 0x20);
        if (*at == '.') is_behind = true;
        if (!digit) continue;
        n = 16 * n + (uint64_t)(digit - digits);
        if (is_behind) power -= 4;
    }
    return ldexp((double)n, power + (int)strtol(at + 1, NULL, 10));
}

// As C has them, whatever the locale
Value tr_word_number(const Word *word)
{
    char text[64];
    const size_t length = word->text.length < 63 ? word->text.length : 63;
    memcpy(text, word->text.at, length);
    text[length] = 0;
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (hexadecimal && strpbrk(text, "pP")) return tr_ptx_number(hexadecimal_number(text));
    if (!hexadecimal && strpbrk(text, ".eE")) {
        size_t used;
        double x = 0;
        tr_number_read(text, length, &used, &x);
        return tr_ptx_number(x);
    }
    const uint64_t n = strtoull(text, NULL, 0);
    return tr_ptx_whole(n <= INT32_MAX ? KIND_INT : n <= UINT32_MAX ? KIND_U32 : KIND_U64, n);
}

// ---- definitions ---------------------------------------------------------------------------

static Definition *define(Words *w, Defines what, Text name)
{
    static Definition none;
    if (!tr_grow((void **)&w->definitions, &w->definition_capacity, w->definition_count + 1,
                 sizeof *w->definitions)) {
        w->failed = true;
        return &none;
    }
    Definition *d = &w->definitions[w->definition_count++];
    *d = (Definition){.what = what, .name = name};
    return d;
}

Definition *tr_words_find(const Words *w, Text name)
{
    for (uint32_t i = w->definition_count; i-- > 0;)
        if (same_text(w->definitions[i].name, name)) return &w->definitions[i];
    return NULL;
}

void tr_words_define(Words *w, const char *name, Value value)
{
    define(w, DEFINES_NUMBER, text_of(name))->value = value;
}

void tr_words_list(Words *w, const char *name, const Value *values, uint32_t count)
{
    Value *list = calloc(count + 1u, sizeof *list);
    if (!list) {
        w->failed = true;
        return;
    }
    if (count) memcpy(list, values, count * sizeof *list);
    Definition *d = define(w, DEFINES_LIST, text_of(name));
    if (w->failed)
        free(list);
    else
        d->list = list, d->count = count;
}

void tr_words_free(Words *w)
{
    for (uint32_t i = 0; i < w->definition_count; i++) free(w->definitions[i].list);
    free(w->definitions);
    free(w->at);
    *w = (Words){0};
}

uint32_t tr_words_behind(const Words *w, uint32_t open)
{
    int depth = 0;
    uint32_t i = open;
    do {
        const Word *word = &w->at[i++];
        if (word->kind == WORD_END) break;
        if (word->kind != WORD_MARK || word->text.length != 1) continue;
        depth += strchr("([{", word->text.at[0]) != NULL;
        depth -= strchr(")]}", word->text.at[0]) != NULL;
    } while (depth > 0);
    return i;
}

// A, B = 3, C }
static void read_names(Words *w, uint32_t i)
{
    uint64_t next = 0;
    while (w->at[i].kind == WORD_NAME) {
        const Text name = w->at[i++].text;
        if (tr_word_is(&w->at[i], "=")) {
            const Word *from = &w->at[i + 1];
            const Definition *known = from->kind == WORD_NAME ? tr_words_find(w, from->text) : NULL;
            if (from->kind == WORD_NUMBER) next = tr_word_number(from).n;
            if (known) next = known->value.n;
            i += 2;
        }
        define(w, DEFINES_NUMBER, name)->value = tr_ptx_whole(KIND_INT, next++);
        if (tr_word_is(&w->at[i], ",")) i++;
    }
}

// double hi, lo; }
static void read_fields(Words *w, Text name, uint32_t i)
{
    Definition found = {.name = name};
    while (!tr_word_is(&w->at[i], "}")) {
        const Kind kind = tr_word_type(w, &w->at[i++]);
        if (kind == KIND_NONE) return;
        do {
            if (w->at[i].kind != WORD_NAME || found.count == MOST_FIELDS) return;
            found.kind[found.count] = (uint8_t)kind;
            found.field[found.count++] = w->at[i++].text;
            if (tr_word_is(&w->at[i], ",")) i++;
        } while (!tr_word_is(&w->at[i], ";"));
        i++;
    }
    Definition *d = define(w, DEFINES_STRUCTURE, name);
    found.what = DEFINES_STRUCTURE;
    *d = found;
}

// static const double NAME[3] = {...}; or = 1.0; from the type on
static void read_constant(Words *w, uint32_t i)
{
    const Kind kind = tr_word_type(w, &w->at[i]);
    const Text name = w->at[i + 1].text;
    uint32_t k = i + 2;
    const bool is_list = tr_word_is(&w->at[k], "[");
    if (is_list) k = tr_words_behind(w, k);
    if (kind == KIND_NONE || !tr_word_is(&w->at[k++], "=")) return;
    Value values[256];
    uint32_t count = 0;
    bool negative = false;
    for (; !tr_word_is(&w->at[k], ";"); k++) {
        if (tr_word_is(&w->at[k], "-")) negative = true;
        if (w->at[k].kind != WORD_NUMBER || count == 256) continue;
        Ptx none = {0};
        Value v = tr_ptx_convert(&none, tr_word_number(&w->at[k]), kind);
        if (negative) v = tr_ptx_negative(&none, v);
        values[count++] = v, negative = false;
    }
    if (!is_list)
        define(w, DEFINES_NUMBER, name)->value = values[0];
    else {
        tr_words_list(w, "", values, count);
        if (!w->failed) w->definitions[w->definition_count - 1].name = name;
    }
}

// Whatever begins here; the word behind it
static uint32_t read_item(Words *w, uint32_t i)
{
    const Word *at = w->at;
    if (at[i].kind == WORD_MACRO) {
        Definition *d = define(w, DEFINES_MACRO, at[i + 1].text);
        d->has_parameters = at[i].text.length > at[i + 1].text.length;
        d->parameters = i + 3;
        d->body = d->has_parameters ? tr_words_behind(w, i + 2) : i + 2;
        return i + at[i].skip;
    }
    uint32_t k = i;
    while (k < w->count && !tr_word_is(&at[k], ";") && !tr_word_is(&at[k], "{"))
        k = tr_word_is(&at[k], "(") ? tr_words_behind(w, k) : k + 1;
    if (k >= w->count) return w->count;
    if (tr_word_is(&at[k], ";")) {
        if (tr_word_is(&at[i], "static") && tr_word_is(&at[i + 1], "const"))
            read_constant(w, i + 2);
        return k + 1;
    }
    uint32_t behind = tr_words_behind(w, k);
    const uint32_t head = tr_word_is(&at[i], "typedef") ? i + 1 : i;
    if (tr_word_is(&at[head], "enum"))
        read_names(w, k + 1);
    else if (tr_word_is(&at[head], "struct"))
        read_fields(w, at[head + 1].text, k + 1);
    else if (tr_word_is(&at[k - 1], ")")) {
        uint32_t open = k - 1;
        for (int depth = 0; open > i; open--) {
            depth += tr_word_is(&at[open], ")"), depth -= tr_word_is(&at[open], "(");
            if (depth == 0) break;
        }
        Definition *d = define(w, DEFINES_FUNCTION, at[open - 1].text);
        d->parameters = open + 1, d->body = k;
        return behind;
    } else if (tr_word_is(&at[i], "static") && tr_word_is(&at[i + 1], "const"))
        read_constant(w, i + 2);
    while (behind < w->count && !tr_word_is(&at[behind], ";")) behind++;
    return behind + 1;
}

void tr_words_add(Words *w, Text text)
{
    uint32_t i = w->count;
    read_words(w, text.at, text.at + text.length);
    add_word(w, WORD_MARK, ";", 1); // nothing runs beyond
    while (i < w->count && !w->failed) i = read_item(w, i);
}
