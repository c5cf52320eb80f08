// SPDX-License-Identifier: Apache-2.0
#include "base/xml.h"

#include <limits.h>
#include <string.h>

const char *tr_xml_value(const Xml *xml, const char *name)
{
    for (size_t i = 0; xml && xml->attributes[i]; i += 2)
        if (strcmp(xml->attributes[i], name) == 0) return xml->attributes[i + 1];
    return NULL;
}

const Xml *tr_xml_child(const Xml *xml, const char *name)
{
    const Xml *child = xml ? xml->first : NULL;
    while (child && strcmp(child->name, name) != 0) child = child->next;
    return child;
}

#ifndef TR_EXPAT

const Xml *tr_xml_read(const char *text, size_t length, Arena *arena, tr_error *err)
{
    (void)text, (void)length, (void)arena;
    tr_fail(
        err, TR_FAILED, (Place){0},
        "XML needs expat, which was not there when this was built (tools/setup demo installs it)");
    return NULL;
}

#else

#include "base/late.h"

#include <expat.h>
#include <stdlib.h>

#define LIBRARY      ((size_t)4 << 20) // expat, mapped

enum { DEEPEST = 60, MOST_BYTES = 1 << 28 };

// The functions that are used
// clang-format off
#define EXPAT_FUNCTIONS(X)                                                              \
    X(ParserCreate_MM) X(ParserFree) X(SetUserData) X(SetElementHandler)                \
    X(SetDoctypeDeclHandler) X(Parse) X(StopParser)                                     \
    X(GetCurrentLineNumber) X(GetCurrentColumnNumber) X(GetErrorCode) X(ErrorString)
// clang-format on

static struct Expat {
#define MEMBER(name) __typeof__(XML_##name) *name;
    EXPAT_FUNCTIONS(MEMBER)
#undef MEMBER
} expat;

#define NAME(name) "XML_" #name,
static const char *const names[] = {EXPAT_FUNCTIONS(NAME)};
#undef NAME
_Static_assert(sizeof expat == sizeof names, "a pointer for each name");

static bool is_there(tr_error *err)
{
    static Late library = {.need = "XML needs expat",
                           .files = {"libexpat.so.1", "libexpat.so", "libexpat.dylib"},
                           .names = names,
                           .count = sizeof names / sizeof *names,
                           .functions = &expat};
    return tr_late_load(&library, LIBRARY, err);
}

typedef struct Reading {
    XML_Parser parser;
    Arena *arena;
    Xml *open[DEEPEST];   // from the root down
    Xml *latest[DEEPEST]; // in each of these
    int depth;
    const Xml *root;
    tr_error *err;
} Reading;

static Place here(const Reading *r)
{
    const XML_Size line = expat.GetCurrentLineNumber(r->parser),
                   column = expat.GetCurrentColumnNumber(r->parser) + 1;
    return place_at(line < INT_MAX ? (int)line : INT_MAX, column < INT_MAX ? (int)column : INT_MAX);
}

static void stop(Reading *r, const char *words)
{
    if (words)
        tr_fail(r->err, TR_INVALID, here(r), "%s", words);
    else
        tr_fail_memory(r->err);
    expat.StopParser(r->parser, XML_FALSE);
}

static const char **copy_attributes(Arena *arena, const XML_Char **given)
{
    size_t count = 0;
    while (given[count]) count++;
    const char **copy = tr_arena_alloc(arena, count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (!(copy[i] = tr_arena_text(arena, given[i], strlen(given[i])))) return NULL;
    return copy;
}

static Xml *make(const Reading *r, const XML_Char *name, const XML_Char **attributes)
{
    Xml *xml = tr_arena_alloc(r->arena, 1, sizeof *xml);
    if (!xml) return NULL;
    *xml = (Xml){.name = tr_arena_text(r->arena, name, strlen(name)),
                 .attributes = copy_attributes(r->arena, attributes),
                 .at = here(r)};
    return xml->name && xml->attributes ? xml : NULL;
}

static void XMLCALL begin(void *owner, const XML_Char *name, const XML_Char **attributes)
{
    Reading *r = owner;
    if (has_failed(r->err)) return;
    const bool is_deep = r->depth == DEEPEST;
    Xml *xml = is_deep ? NULL : make(r, name, attributes);
    if (!xml) {
        stop(r, is_deep ? "elements are in each other more than 60 times" : NULL);
        return;
    }
    if (r->depth == 0)
        r->root = xml;
    else if (r->latest[r->depth - 1])
        r->latest[r->depth - 1]->next = xml;
    else
        r->open[r->depth - 1]->first = xml;
    if (r->depth) r->latest[r->depth - 1] = xml;
    r->open[r->depth] = xml, r->latest[r->depth] = NULL;
    r->depth++;
}

static void XMLCALL end(void *owner, const XML_Char *name)
{
    (void)name;
    ((Reading *)owner)->depth--;
}

static void XMLCALL refuse_type(void *owner, const XML_Char *name, const XML_Char *system,
                                const XML_Char *public, int has_subset)
{
    (void)name, (void)system, (void)public, (void)has_subset;
    stop(owner, "a document type (DOCTYPE) is refused: nothing here needs entities");
}

const Xml *tr_xml_read(const char *text, size_t length, Arena *arena, tr_error *err)
{
    if (has_failed(err) || !is_there(err)) return NULL;
    if (length > MOST_BYTES)
        return tr_fail(err, TR_INVALID, (Place){0}, "the XML has more than 256 MB"), NULL;
    const XML_Memory_Handling_Suite memory = {malloc, realloc, free};
    tr_error own = {0};
    Reading r = {.parser = expat.ParserCreate_MM(NULL, &memory, NULL), .arena = arena, .err = &own};
    if (!r.parser) return tr_fail_memory(err), NULL;
    expat.SetUserData(r.parser, &r);
    expat.SetElementHandler(r.parser, begin, end);
    expat.SetDoctypeDeclHandler(r.parser, refuse_type, NULL);
    if (expat.Parse(r.parser, text, (int)length, 1) != XML_STATUS_OK && !own.status) {
        const enum XML_Error code = expat.GetErrorCode(r.parser);
        stop(&r, code == XML_ERROR_NO_MEMORY ? NULL : expat.ErrorString(code));
    }
    if (own.status == TR_INVALID)
        tr_fail(err, TR_INVALID, place_at(own.line, own.column),
                "this is not XML that can be read: %s", own.text);
    else if (own.status)
        tr_fail_memory(err);
    expat.ParserFree(r.parser);
    return own.status ? NULL : r.root;
}

#endif
