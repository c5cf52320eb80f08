// SPDX-License-Identifier: Apache-2.0
// Names in formulas, words and keys of an included file, as the including one calls them. What is
// not known there is left as it stands: functions, reserved words, or a mistake that is told later.
#include "base/number.h"
#include "model/include.h"

#include <stdio.h>
#include <stdlib.h>

bool tr_is_word(Text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!begins_name(text.at[i]) && (i == 0 || !is_digit(text.at[i]))) return false;
    return text.length > 0;
}

// word { "." word } from there on
static Text name_from(Text text, size_t at)
{
    size_t end = at;
    while (end < text.length &&
           (begins_name(text.at[end]) || (end > at && is_digit(text.at[end])) ||
            (end > at && text.at[end] == '.' && end + 1 < text.length &&
             begins_name(text.at[end + 1]))))
        end++;
    return (Text){text.at + at, end - at};
}

// The next name from `at` on, which moves behind it; numbers are passed over.
static bool next_name(Text text, size_t *at, Text *name)
{
    while (*at < text.length && !begins_name(text.at[*at])) {
        const bool may_be = is_digit(text.at[*at]) || text.at[*at] == '.';
        size_t used = 0;
        double value;
        const Text rest = {text.at + *at, text.length - *at};
        *at += may_be && tr_number_read(rest.at, rest.length, &used, &value) ? used : 1;
    }
    if (*at >= text.length) return false;
    *name = name_from(text, *at);
    *at += name->length;
    return true;
}

Text tr_head_name(Text head)
{
    size_t at = 0;
    Text name = {head.at, 0};
    next_name(head, &at, &name);
    return name;
}

static bool is_in(Text words, Text name)
{
    size_t at = 0;
    Text word;
    while (next_name(words, &at, &word))
        if (text_equal(word, name)) return true;
    return false;
}

static bool is_local(const Naming *n, Locals locals, Text name)
{
    const size_t own = tr_head_name(locals.head).length;
    if (n->local && tr_pairs_find(n->local, name)) return true;
    if (locals.words && is_in(text_of(locals.words), name)) return true;
    return locals.head.length > own &&
           is_in((Text){locals.head.at + own, locals.head.length - own}, name);
}

Given *tr_given(const Givens *givens, Text name)
{
    for (uint32_t i = 0; i < givens->count; i++)
        if (text_equal(givens->at[i].name.text, name)) return &givens->at[i];
    return NULL;
}

// ---- what a name is ------------------------------------------------------------------------

typedef enum Fate { UNKNOWN, KEPT, GONE, BOUND, OTHERS } Fate;

static Fate fate_of_word(const Naming *n, Text word, Given **bound)
{
    *bound = tr_given(&n->bound, word);
    if (*bound) return BOUND;
    const uint32_t own = tr_names_find(n->own, word);
    if (own != NO_NAME) return own == NAME_GONE ? GONE : KEPT;
    return tr_names_find(n->others, word) != NO_NAME ? OTHERS : UNKNOWN;
}

// Of the longest part in front of a point that is known; also as the rate of it. Own names hide
// those of the including file.
static Fate fate_of(const Naming *n, Text name, Text *part, Given **bound)
{
    Fate others = UNKNOWN;
    Text other = name;
    for (size_t length = name.length; length; length--) {
        if (length < name.length && name.at[length] != '.') continue;
        const Text words[] = {{name.at, length}, {name.at, length > 5 ? length - 5 : 0}};
        const bool is_rate = text_ends_with(words[0], "_rate");
        for (int i = 0; i < (is_rate ? 2 : 1); i++) {
            const Fate fate = fate_of_word(n, *part = words[i], bound);
            if (fate == OTHERS) others = OTHERS, other = words[i];
            if (fate != OTHERS && fate != UNKNOWN) return fate;
        }
    }
    *part = other;
    return others;
}

// Results have their kind in front: what "contact.tyre.Fx" speaks of begins behind it.
static size_t subject_of(const Naming *n, Text name)
{
    static const char *const kinds[] = {"energy", "residual", "tau", "lambda", "contact"};
    const char *point = memchr(name.at, '.', name.length);
    const Text first = {name.at, point ? (size_t)(point - name.at) : name.length};
    for (size_t i = 0; point && i < sizeof kinds / sizeof *kinds; i++)
        if (text_is(first, kinds[i]) && tr_names_find(n->own, first) == NO_NAME)
            return first.length + 1;
    return 0;
}

bool tr_is_gone(const Naming *n, Text text)
{
    bool any = false;
    Text name, part;
    for (size_t at = 0; next_name(text, &at, &name);) {
        Given *bound = NULL;
        const size_t skip = subject_of(n, name);
        const Fate fate = fate_of(n, (Text){name.at + skip, name.length - skip}, &part, &bound);
        if (fate == KEPT) return false;
        if (bound) bound->used = true;
        any = any || fate == GONE || fate == BOUND;
    }
    return any;
}

// ---- places --------------------------------------------------------------------------------

// Where something of the file is in this copy of it. What it includes itself is there through it.
static const Origin *origin_copied(Naming *n, const Origin *origin)
{
    if (!origin || origin == n->read) return origin ? n->copy : NULL;
    Origin *copy = tr_arena_alloc(&n->model->origins, 1, sizeof *copy);
    if (!copy) return tr_fail_memory(n->err), NULL;
    *copy = *origin;
    copy->at.in = origin_copied(n, origin->at.in); // as deep as files include each other
    return copy;
}

Place tr_place_copied(Naming *n, Place place)
{
    place.in = origin_copied(n, place.in);
    return place;
}

// ---- writing names anew --------------------------------------------------------------------

typedef struct Respelling {
    Naming *n;
    Value value;
    Buffer out;
    size_t done; // of the value's text
    int columns; // of `out`
    struct Respelt *names;
    uint32_t count, capacity;
} Respelling;

static void put_in_place(Respelling *r, Text old, Text now)
{
    const size_t at = (size_t)(old.at - r->value.text.at);
    const Text between = {r->value.text.at + r->done, at - r->done};
    const int width = tr_utf8_columns(now.at, now.length);
    if (!tr_grow((void **)&r->names, &r->capacity, r->count + 1, sizeof *r->names)) {
        r->out.failed = true;
        return;
    }
    r->columns += tr_utf8_columns(between.at, between.length);
    r->names[r->count++] = (struct Respelt){r->columns, width, tr_utf8_columns(old.at, old.length)};
    r->columns += width;
    tr_buffer_add(&r->out, between.at, between.length);
    tr_buffer_add(&r->out, now.at, now.length);
    r->done = at + old.length;
}

static void refuse_name(Respelling *r, Text name, Fate fate)
{
    Place place = tr_place_copied(r->n, r->value.place);
    place.column += tr_utf8_columns(r->value.text.at, (size_t)(name.at - r->value.text.at));
    if (fate == GONE)
        tr_fail(r->n->err, TR_INVALID, place,
                "'%.*s' goes with what is bound: bind it, too, or leave it out", TEXT(name));
    else
        tr_fail(r->n->err, TR_INVALID, place,
                "'%.*s' is a name of the including file: it is handed over by 'bind' or 'set'",
                TEXT(name));
}

static void write_name(Respelling *r, Text name)
{
    const size_t skip = subject_of(r->n, name);
    const Text subject = {name.at + skip, name.length - skip};
    Given *bound = NULL;
    Text part = subject;
    const Fate fate = fate_of(r->n, subject, &part, &bound);
    if (fate == KEPT) put_in_place(r, (Text){subject.at, 0}, r->n->prefix);
    if (fate == BOUND) put_in_place(r, part, bound->is.text), bound->used = true;
    if (fate == GONE || fate == OTHERS) refuse_name(r, part, fate);
}

// Errors count columns of the text that there is, and say those of the file.
static Place place_respelt(Respelling *r)
{
    Place place = tr_place_copied(r->n, r->value.place);
    Arena *arena = &r->n->model->origins;
    Spelling *spelling = tr_arena_alloc(arena, 1, sizeof *spelling);
    Origin *origin = tr_arena_alloc(arena, 1, sizeof *origin);
    struct Respelt *names = tr_arena_alloc(arena, r->count, sizeof *names);
    if (!place.in || !spelling || !origin || !names) {
        if (!spelling || !origin || !names) tr_fail_memory(r->n->err);
        return place;
    }
    memcpy(names, r->names, r->count * sizeof *names);
    *spelling = (Spelling){place.column, r->count, names, place.in->spelling};
    *origin = *place.in;
    origin->spelling = spelling;
    place.in = origin;
    return place;
}

static Value finish(Respelling *r)
{
    Value value = r->value;
    if (!r->count) {
        value.place = tr_place_copied(r->n, value.place);
    } else {
        tr_buffer_add(&r->out, value.text.at + r->done, value.text.length - r->done);
        const char *kept =
            r->out.failed ? NULL : tr_arena_text(&r->n->model->arena, r->out.at, r->out.length);
        if (!kept) tr_fail_memory(r->n->err);
        value.text = (Text){kept, kept ? r->out.length : 0};
        value.place = place_respelt(r);
        r->n->made += value.text.length;
    }
    tr_buffer_free(&r->out);
    free(r->names);
    return value;
}

Value tr_renamed(Naming *n, Value value, Locals locals)
{
    Respelling r = {.n = n, .value = value};
    Text name;
    for (size_t at = 0; !has_failed(n->err) && next_name(value.text, &at, &name);)
        if (!is_local(n, locals, name)) write_name(&r, name);
    return finish(&r);
}

Value tr_name_prefixed(Naming *n, Value name)
{
    Respelling r = {.n = n, .value = name};
    put_in_place(&r, (Text){name.text.at, 0}, n->prefix);
    return finish(&r);
}

Value tr_file_moved(Naming *n, Value file)
{
    const bool is_absolute = file.text.length && file.text.at[0] == '/';
    if (!file.given || is_absolute || !n->folder.length) {
        file.place = tr_place_copied(n, file.place);
        return file;
    }
    file.place = tr_place_copied(n, file.place);
    file.text = tr_path_joined(n->model, n->folder, file.text, n->err);
    n->made += file.text.length;
    return file;
}

// "sub/" and "../hill.csv" are "hill.csv": what leads up at once leads out of the folder in front.
Text tr_path_joined(Model *model, Text folder, Text name, tr_error *err)
{
    while (folder.length && name.length > 3 && memcmp(name.at, "../", 3) == 0) {
        size_t start = folder.length - 1;
        while (start && folder.at[start - 1] != '/') start--;
        const Text last = {folder.at + start, folder.length - 1 - start};
        if (text_is(last, "..") || text_is(last, ".") || !last.length) break;
        folder.length = start;
        name.at += 3, name.length -= 3;
    }
    const size_t length = folder.length + name.length;
    char *path = tr_arena_alloc(&model->arena, length + 1, 1);
    if (!path) return tr_fail_memory(err), (Text){"", 0};
    memcpy(path, folder.at, folder.length);
    memcpy(path + folder.length, name.at, name.length);
    return (Text){path, length};
}
