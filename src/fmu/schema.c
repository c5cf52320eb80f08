// SPDX-License-Identifier: Apache-2.0
#include "fmu/schema.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Element {
    int versions; // 2, 3 or 23
    const char *name, *attributes, *children;
} Element;

static const Element elements[] = {
#define ELEMENT(versions, name, attributes, children) {versions, name, attributes, children},
#include "fmu/schema.def"
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static const Element *element_of(const char *name, int version)
{
    for (int i = 0; i < ELEMENTS; i++)
        if ((elements[i].versions % 10 == version || elements[i].versions / 10 == version) &&
            strcmp(elements[i].name, name) == 0)
            return &elements[i];
    return NULL;
}

// ---- values --------------------------------------------------------------------------------

enum { LONGEST_VALUE = 400 };

// Without the blanks around it, which numbers and flags may have; longer ones are cut, and no
// value.
static const char *bare(const char *text, char room[LONGEST_VALUE])
{
    while (is_space(*text)) text++;
    size_t length = strlen(text);
    while (length && is_space(text[length - 1])) length--;
    snprintf(room, LONGEST_VALUE, "%.*s", length < LONGEST_VALUE ? (int)length : 0, text);
    return room;
}

bool tr_read_flag(const char *text, bool *value)
{
    char room[LONGEST_VALUE];
    text = bare(text, room);
    const bool is_true = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!is_true && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) return false;
    *value = is_true;
    return true;
}

bool tr_read_real(const char *text, double *value)
{
    char room[LONGEST_VALUE];
    text = bare(text, room);
    if (strcmp(text, "INF") == 0) return *value = (double)INFINITY, true;
    if (strcmp(text, "-INF") == 0) return *value = -(double)INFINITY, true;
    if (strcmp(text, "NaN") == 0) return *value = (double)NAN, true;
    return tr_read_number(text, value);
}

// -2^63 ... 2^63 - 1
static bool read_whole(const char *text, int64_t *value)
{
    char *end, room[LONGEST_VALUE];
    text = bare(text, room);
    const char *digits = text + (*text == '-' || *text == '+');
    if (!is_digit(*digits)) return false;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (*end || errno) return false;
    *value = number;
    return true;
}

bool tr_read_natural(const char *text, uint64_t *value)
{
    char *end, room[LONGEST_VALUE];
    text = bare(text, room);
    if (!is_digit(*text)) return false;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (*end || errno) return false;
    *value = number;
    return true;
}

bool tr_next_word(const char **list, char word[64])
{
    const char *at = *list;
    while (is_space(*at)) at++;
    size_t length = 0;
    while (at[length] && !is_space(at[length])) length++;
    snprintf(word, 64, "%.*s", (int)(length < 63 ? length : 63), at);
    *list = at + length;
    return length > 0;
}

// ---- attributes ----------------------------------------------------------------------------

// One of an element: NAME:TYPE or NAME!TYPE; `list` moves behind it.
typedef struct Rule {
    Text name, type;
    bool must;
} Rule;

static bool next_rule(const char **list, Rule *rule)
{
    const char *at = *list;
    while (*at == ' ') at++;
    if (!*at) return false;
    const size_t name = strcspn(at, ":!");
    rule->name = (Text){at, name};
    rule->must = at[name] == '!';
    rule->type = (Text){at + name + 1, strcspn(at + name + 1, " ")};
    *list = rule->type.at + rule->type.length;
    return true;
}

static bool is_one_of(Text words, const char *value) // "(a|b|c)"
{
    const size_t length = strlen(value);
    for (const char *at = words.at + 1; length && at < words.at + words.length;) {
        const size_t word = strcspn(at, "|)");
        if (word == length && memcmp(at, value, word) == 0) return true;
        at += word + 1;
    }
    return false;
}

static bool are_all(const char *list, bool of_reals)
{
    char word[64];
    double real;
    uint64_t natural;
    while (tr_next_word(&list, word))
        if (of_reals ? !tr_read_real(word, &real)
                     : !tr_read_natural(word, &natural) || natural > UINT32_MAX)
            return false;
    return true;
}

// What a value should be, or NULL where it is
static const char *what_else(Text type, const char *value)
{
    bool flag;
    double real;
    int64_t whole;
    uint64_t natural;
    switch (type.at[0]) {
    case 'b': return tr_read_flag(value, &flag) ? NULL : "true or false";
    case 'd': return tr_read_real(value, &real) ? NULL : "a number";
    case 'i': return read_whole(value, &whole) ? NULL : "a whole number";
    case 'u':
        return tr_read_natural(value, &natural) && natural <= UINT32_MAX
                   ? NULL
                   : "a whole number that is not negative";
    case 'U':
        return tr_read_natural(value, &natural) ? NULL : "a whole number that is not negative";
    case 'D': return are_all(value, true) ? NULL : "numbers";
    case 'L': return are_all(value, false) ? NULL : "whole numbers that are not negative";
    case '(': return is_one_of(type, value) ? NULL : "one of these words";
    default: return NULL;
    }
}

static void check_value(const Xml *xml, const Rule *rule, const char *value, Findings *findings)
{
    const char *wanted = what_else(rule->type, value);
    if (!wanted) return;
    if (rule->type.at[0] == '(')
        tr_found(findings, WRECK, xml->at, "<%s>: '%.*s' is '%.60s', which is none of %.*s",
                 xml->name, (int)rule->name.length, rule->name.at, value, (int)rule->type.length,
                 rule->type.at);
    else
        tr_found(findings, WRECK, xml->at, "<%s>: '%.*s' must be %s, not '%.60s'", xml->name,
                 (int)rule->name.length, rule->name.at, wanted, value);
}

static void check_known(const Xml *xml, const Element *element, const char *name,
                        Findings *findings)
{
    Rule rule;
    char hint[TR_HINT_SIZE];
    Suggestion suggestion = {.wanted = text_of(name)};
    if (strchr(name, ':') || strcmp(name, "xmlns") == 0) return; // of another namespace
    for (const char *rules = element->attributes; next_rule(&rules, &rule);) {
        if (text_is(rule.name, name)) return;
        tr_suggest_unlisted(&suggestion, rule.name);
    }
    tr_found(findings, MISTAKE, xml->at, "<%s> has no attribute '%.60s'%s", xml->name, name,
             tr_hint(&suggestion, hint));
}

static void check_attributes(const Xml *xml, const Element *element, Findings *findings)
{
    Rule rule;
    for (size_t i = 0; xml->attributes[i]; i += 2)
        check_known(xml, element, xml->attributes[i], findings);
    for (const char *rules = element->attributes; next_rule(&rules, &rule);) {
        char name[60];
        snprintf(name, sizeof name, "%.*s", (int)rule.name.length, rule.name.at);
        const char *value = tr_xml_value(xml, name);
        if (value)
            check_value(xml, &rule, value, findings);
        else if (rule.must)
            tr_found(findings, WRECK, xml->at, "<%s> needs the attribute '%s'", xml->name, name);
    }
}

// ---- elements ------------------------------------------------------------------------------

// Which of the words it is, from 0, those that + joins being one; -1: none
static int number_of(const char *words, const char *word)
{
    const size_t length = strlen(word);
    int number = 0;
    for (const char *at = words; *at;) {
        const size_t size = strcspn(at, " +");
        if (size == length && memcmp(at, word, length) == 0) return number;
        number += at[size] == ' ';
        at += size + (at[size] != 0);
    }
    return -1;
}

static void check_order(const Xml *before, const Xml *child, int step, bool once,
                        Findings *findings)
{
    if (step < 0)
        tr_found(findings, MISTAKE, child->at, "<%.60s> must stand before <%.60s> (line %d)",
                 child->name, before->name, before->at.line);
    else if (!step && once && strcmp(child->name, before->name) == 0)
        tr_found(findings, MISTAKE, child->at, "<%.60s> is there twice (line %d)", child->name,
                 before->at.line);
}

static void check_element(const Xml *xml, int version, Findings *findings)
{
    const Element *element = element_of(xml->name, version);
    const bool is_free = begins_with(element->children, "| "),
               once = begins_with(element->children, "1 ");
    const char *children = element->children + (is_free || once ? 2 : 0);
    const Xml *before = NULL;
    int last = 0;
    check_attributes(xml, element, findings);
    if (strcmp(children, "*") == 0) return;
    for (const Xml *child = xml->first; child; child = child->next) {
        const int number = number_of(children, child->name);
        if (number < 0) {
            tr_found(findings, MISTAKE, child->at, "<%.60s> may not stand in <%s>", child->name,
                     xml->name);
            continue;
        }
        if (before && !is_free) check_order(before, child, number - last, once, findings);
        if (!before || number > last) before = child, last = number;
    }
}

// The tree is 60 deep at most; what is in an annotation is its tool's.
void tr_schema_check(const Xml *xml, int version, Findings *findings)
{
    const Element *element = element_of(xml->name, version);
    if (!element) return; // which was told of what it is in
    check_element(xml, version, findings);
    if (strcmp(element->children, "*") == 0) return;
    for (const Xml *child = xml->first; child; child = child->next)
        tr_schema_check(child, version, findings);
}
