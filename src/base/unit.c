// SPDX-License-Identifier: Apache-2.0
// unit = product { "/" factor },  product = factor { [ "*" ] factor },
// factor = name [ "^" number ] | "(" unit ")" [ "^" number ] | "1"
//
// Behind a / stands one factor, for people do not agree on what J/kg K is.
#include "base/unit.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>

typedef struct Row {
    const char *name, *in; // in: of one that is not coherent, what to give instead
    signed char of[BASE_UNITS];
} Row;

static const Row rows[] = {
    {"kg", NULL, {1, 0, 0, 0, 0, 0}},
    {"m", NULL, {0, 1, 0, 0, 0, 0}},
    {"s", NULL, {0, 0, 1, 0, 0, 0}},
    {"A", NULL, {0, 0, 0, 1, 0, 0}},
    {"K", NULL, {0, 0, 0, 0, 1, 0}},
    {"mol", NULL, {0, 0, 0, 0, 0, 1}},
    {"rad", NULL, {0, 0, 0, 0, 0, 0}},
    {"sr", NULL, {0, 0, 0, 0, 0, 0}},
    {"N", NULL, {1, 1, -2, 0, 0, 0}},
    {"J", NULL, {1, 2, -2, 0, 0, 0}},
    {"W", NULL, {1, 2, -3, 0, 0, 0}},
    {"Pa", NULL, {1, -1, -2, 0, 0, 0}},
    {"Hz", NULL, {0, 0, -1, 0, 0, 0}},
    {"C", NULL, {0, 0, 1, 1, 0, 0}},
    {"V", NULL, {1, 2, -3, -1, 0, 0}},
    {"ohm", NULL, {1, 2, -3, -2, 0, 0}},
    {"S", NULL, {-1, -2, 3, 2, 0, 0}},
    {"F", NULL, {-1, -2, 4, 2, 0, 0}},
    {"Wb", NULL, {1, 2, -2, -1, 0, 0}},
    {"H", NULL, {1, 2, -2, -2, 0, 0}},
    {"T", NULL, {1, 0, -2, -1, 0, 0}},
    {"deg", "rad", {0}},
    {"degree", "rad", {0}},
    {"degrees", "rad", {0}},
    {"\xc2\xb0", "rad", {0}},
    {"rev", "rad", {0}},
    {"rpm", "rad/s", {0}},
    {"g", "kg", {0}},
    {"t", "kg", {0}},
    {"lb", "kg", {0}},
    {"in", "m", {0}},
    {"ft", "m", {0}},
    {"mi", "m", {0}},
    {"min", "s", {0}},
    {"h", "s", {0}},
    {"hr", "s", {0}},
    {"d", "s", {0}},
    {"kph", "m/s", {0}},
    {"kmh", "m/s", {0}},
    {"mph", "m/s", {0}},
    {"kn", "m/s", {0}},
    {"bar", "Pa", {0}},
    {"atm", "Pa", {0}},
    {"psi", "Pa", {0}},
    {"kgf", "N", {0}},
    {"lbf", "N", {0}},
    {"hp", "W", {0}},
    {"PS", "W", {0}},
    {"eV", "J", {0}},
    {"cal", "J", {0}},
    {"l", "m^3", {0}},
    {"L", "m^3", {0}},
    {"degC", "K", {0}},
    {"\xc2\xb0"
     "C",
     "K",
     {0}},
    {"%", "1", {0}},
    {"percent", "1", {0}},
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct Reader {
    const char *at, *end;
    Text whole;
    char *why;
    size_t size; // of the words
    int depth;
} Reader;

#define WRONG(r, ...) (snprintf((r)->why, (r)->size, __VA_ARGS__), false)

static const Row *row_called(Text name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (text_is(name, rows[i].name)) return &rows[i];
    return NULL;
}

// What a name is behind a prefix, "mm", "kN"; NULL when it has none
static const char *without_prefix(Text name)
{
    static const char *const prefixes[] = {"da", "d", "c", "m", "u", "\xc2\xb5", "\xce\xbc",
                                           "n",  "p", "h", "k", "M", "G",        "T"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        if (name.length <= length || memcmp(name.at, prefixes[i], length) != 0) continue;
        const Row *row = row_called((Text){name.at + length, name.length - length});
        if (row && (!row->in || strcmp(row->name, "g") == 0 || strcmp(row->name, "bar") == 0 ||
                    strcmp(row->name, "l") == 0 || strcmp(row->name, "eV") == 0 ||
                    strcmp(row->name, "cal") == 0))
            return row->in ? row->in : row->name;
    }
    return NULL;
}

// Where a name is two units without a blank between them, "Nm", the length of the first; else 0
static size_t first_of_two(Text name)
{
    for (size_t i = 1; i < name.length; i++) {
        const Row *first = row_called((Text){name.at, i}),
                  *second = row_called((Text){name.at + i, name.length - i});
        if (first && second && !first->in && !second->in) return i;
    }
    return 0;
}

static bool refuse_factor(Reader *r, Text name, const char *in)
{
    char instead[60];
    snprintf(instead, sizeof instead, "give the value in %s", in);
    if (strcmp(in, "1") == 0)
        snprintf(instead, sizeof instead, "give the value as a share of 1");
    else if (name.length != r->whole.length)
        snprintf(instead, sizeof instead, "write %s in its place, for the value in that unit", in);
    return WRONG(r, "'%.*s' is no unit of SI without a factor: %s", TEXT(name), instead);
}

static bool refuse_name(Reader *r, Text name)
{
    const Row *row = row_called(name);
    const char *in = row ? row->in : without_prefix(name);
    const size_t first = first_of_two(name);
    Suggestion nearest = {.wanted = name};
    char hint[TR_HINT_SIZE];
    if (in) return refuse_factor(r, name, in);
    if (first)
        return WRONG(r, "'%.*s' is not a unit; did you mean '%.*s %.*s'?", TEXT(name), (int)first,
                     name.at, TEXT(((Text){name.at + first, name.length - first})));
    for (size_t i = 0; i < ROWS; i++)
        if (!rows[i].in) tr_suggest(&nearest, text_of(rows[i].name));
    return WRONG(r, "'%.*s' is not a unit%s", TEXT(name), tr_hint(&nearest, hint));
}

// ---- reading -------------------------------------------------------------------------------

static bool read_product(Reader *r, Unit *unit);

static void skip_blanks(Reader *r)
{
    while (r->at < r->end && *r->at == ' ') r->at++;
}

static bool is_next(const Reader *r, char c) { return r->at < r->end && *r->at == c; }

static void multiply(Unit *unit, const Unit *by, int sign)
{
    for (int i = 0; i < BASE_UNITS; i++) unit->of[i] += sign * by->of[i];
}

// A whole number, or half of one
static bool read_power(Reader *r, Unit *unit)
{
    size_t used = 0;
    double power = 0;
    skip_blanks(r);
    if (!is_next(r, '^')) return true;
    r->at++;
    skip_blanks(r);
    const bool is_negative = is_next(r, '-');
    r->at += is_negative;
    if (!tr_number_read(r->at, (size_t)(r->end - r->at), &used, &power) ||
        2 * power != floor(2 * power) || power > 12)
        return WRONG(r, "the power of a unit is a number such as 2, -1 or 0.5");
    r->at += used;
    for (int i = 0; i < BASE_UNITS; i++) {
        const int twice = unit->of[i] * (int)(2 * power) * (is_negative ? -1 : 1);
        if (twice % 2 || twice > 1000 || twice < -1000)
            return WRONG(r, "the power of a unit is a number such as 2, -1 or 0.5");
        unit->of[i] = twice / 2;
    }
    return true;
}

static bool is_in_name(char c) { return c != ' ' && !strchr("*/^()", c) && !is_digit(c) && c; }

static bool read_name(Reader *r, Unit *unit)
{
    Text name = {r->at, 0};
    while (r->at < r->end && is_in_name(*r->at)) r->at++;
    name.length = (size_t)(r->at - name.at);
    const Row *row = name.length ? row_called(name) : NULL;
    if (!name.length && is_next(r, '1')) return r->at++, true;
    if (!name.length && r->at == r->end) return WRONG(r, "a unit is missing at its end");
    if (!name.length)
        return WRONG(r, "'%.*s' is not a unit; a power is written as in m^2",
                     TEXT(((Text){r->at, 1})));
    if (!row || row->in) return refuse_name(r, name);
    for (int i = 0; i < BASE_UNITS; i++) unit->of[i] = 2 * row->of[i];
    return true;
}

static bool read_factor(Reader *r, Unit *unit)
{
    *unit = (Unit){0};
    skip_blanks(r);
    if (!is_next(r, '(')) return read_name(r, unit) && read_power(r, unit);
    r->at++;
    if (++r->depth > 8) return WRONG(r, "its parentheses are too deep");
    if (!read_product(r, unit)) return false;
    r->depth--;
    if (!is_next(r, ')')) return WRONG(r, "a parenthesis is not closed");
    r->at++;
    return read_power(r, unit);
}

static bool ends(const Reader *r) { return r->at == r->end || *r->at == ')'; }

static bool read_product(Reader *r, Unit *unit)
{
    Unit factor;
    if (!read_factor(r, unit)) return false;
    for (bool divided = false; skip_blanks(r), !ends(r);) {
        const bool divides = is_next(r, '/');
        if (divided && !divides)
            return WRONG(r, "what follows a / must be in parentheses, as in J/(kg K)");
        if (divides || is_next(r, '*')) r->at++;
        if (!read_factor(r, &factor)) return false;
        multiply(unit, &factor, divides ? -1 : 1);
        divided = divided || divides;
    }
    return true;
}

bool tr_unit_read(Text text, Unit *unit, char *why, size_t size)
{
    Reader r = {.at = text.at,
                .end = text.at + text.length,
                .whole = text_trimmed(text),
                .why = why,
                .size = size};
    *unit = (Unit){0};
    if (text.length > MOST_UNIT) return WRONG(&r, "a unit has %d characters at most", MOST_UNIT);
    if (!read_product(&r, unit)) return false;
    return r.at == r.end || WRONG(&r, "a parenthesis is closed that was not opened");
}
