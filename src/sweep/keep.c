// SPDX-License-Identifier: Apache-2.0
// What is kept of a run: read as a list, reduced row by row (T442).
#include "sweep/keep.h"

#include "base/error.h"
#include "num/dense.h"
#include "sweep/tally.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Reduction {
#define REDUCTION(id, ...) KEEP_##id,
#include "sweep/reduction.def"
    REDUCTIONS
} Reduction;

static const char *const reduction_names[] = {
#define REDUCTION(id, name, ...) name,
#include "sweep/reduction.def"
};

#define TAKES "final(x), max(x), min(x), mean(x), rms(x), time(condition) or at(T, x)"

// ---- reading ------------------------------------------------------------------------------

typedef struct Reader {
    Keep *keep;
    System *system;
    tr_expr *formulas;
    const Design *design;
    tr_error *err;
} Reader;

// Where a sign stands that is not in brackets; NULL when it does not. = is no part of a comparison.
static const char *find_outside(Text text, char sign)
{
    for (size_t i = 0, depth = 0; i < text.length; i++) {
        const char c = text.at[i];
        const bool compares = sign == '=' && ((i && strchr("<>=!", text.at[i - 1])) ||
                                              (i + 1 < text.length && text.at[i + 1] == '='));
        if (c == sign && !depth && !compares) return text.at + i;
        if (c == '(') depth++;
        if (c == ')' && depth) depth--;
    }
    return NULL;
}

static Text before(Text text, const char *sign)
{
    return text_trimmed((Text){text.at, sign ? (size_t)(sign - text.at) : text.length});
}

static Text behind(Text text, const char *sign)
{
    if (!sign) return (Text){text.at + text.length, 0};
    return text_trimmed((Text){sign + 1, (size_t)(text.at + text.length - sign - 1)});
}

static const char *without_blanks(Reader *r, Text text)
{
    char *copy = tr_arena_text(&r->keep->arena, text.at, text.length), *to = copy;
    if (!copy) return tr_fail_memory(r->err), "";
    for (const char *at = copy; *at; at++)
        if (!is_space(*at)) *to++ = *at;
    *to = 0;
    return copy;
}

static bool add_formula(Reader *r, Text text, const char *option)
{
    tr_error own = {0};
    Keep *k = r->keep;
    const char *copy = tr_arena_text(&k->arena, text.at, text.length);
    if (!copy) return tr_fail_memory(r->err), false;
    r->formulas[k->formulas] = tr_formula(r->system, copy, &own);
    if (own.status)
        tr_fail(r->err, own.status == TR_NO_MEMORY ? TR_NO_MEMORY : TR_USAGE, (Place){0},
                "%s '%.100s': %.300s", option, copy, own.text);
    else
        k->formulas++;
    return !own.status;
}

static bool refuse(const Reader *r, Text item, const char *words)
{
    tr_fail(r->err, TR_USAGE, (Place){0}, "--keep '%.*s': %s", TEXT(item), words);
    return false;
}

static bool is_taken(const Reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->keep->count; i++)
        if (strcmp(r->keep->kept[i].name, name) == 0) return true;
    for (uint32_t i = 0; i < r->design->count; i++)
        if (strcmp(r->design->varied[i].name, name) == 0) return true;
    return false;
}

// The argument of at, without the time
static bool take_time(Reader *r, Text item, Text *argument, Kept *kept)
{
    const char *comma = find_outside(*argument, ',');
    const Text time = before(*argument, comma);
    char number[100];
    if (!comma || time.length >= sizeof number)
        return refuse(r, item, "at takes a time and a formula: at(2.5, x)");
    snprintf(number, sizeof number, "%.*s", (int)time.length, time.at);
    if (!tr_read_number(number, &kept->at) || !(kept->at >= 0))
        return refuse(r, item, "at takes a time and a formula: at(2.5, x)");
    *argument = behind(*argument, comma);
    return true;
}

// [NAME=] reduction(formula)
static bool add_kept(Reader *r, Text item)
{
    Keep *k = r->keep;
    Kept *kept = &k->kept[k->count];
    const char *equals = find_outside(item, '=');
    const Text said = equals ? behind(item, equals) : item;
    const char *open = memchr(said.at, '(', said.length);
    const Text how = before(said, open);
    uint32_t i = 0;
    while (i < REDUCTIONS && !text_is(how, reduction_names[i])) i++;
    if (!open || i == REDUCTIONS || !text_ends_with(said, ")"))
        return refuse(r, item, "it takes " TAKES);
    Text argument = {open + 1, (size_t)(said.at + said.length - 1 - (open + 1))};
    *kept = (Kept){.name = without_blanks(r, equals ? before(item, equals) : item), .how = i};
    if (i == KEEP_AT && !take_time(r, item, &argument, kept)) return false;
    if (find_outside(argument, ','))
        return refuse(r, item, "one formula is reduced over rows; of two: final(max(x, y))");
    if (!kept->name[0]) return refuse(r, item, "a name stands before =");
    if (is_taken(r, kept->name))
        return refuse(r, item, "there is a column of this name: NAME=max(x) gives another");
    if (!add_formula(r, argument, "--keep")) return false;
    k->count++;
    return true;
}

static bool add_all(Reader *r, Text list)
{
    while (list.length && !has_failed(r->err)) {
        const char *comma = find_outside(list, ',');
        const Text item = before(list, comma);
        list = behind(list, comma);
        if (item.length) add_kept(r, item);
    }
    return !has_failed(r->err);
}

// Names of columns, then of what is varied where no column is called so
static void name_inputs(Reader *r, const char *const *columns)
{
    char hidden[40];
    Keep *k = r->keep;
    k->inputs = k->columns + r->design->count;
    for (uint32_t i = 0; i < k->inputs && !has_failed(r->err); i++) {
        const char *name = i < k->columns ? columns[i] : r->design->varied[i - k->columns].name;
        if (!tr_formula_is_name(text_of(name)) || tr_system_find(r->system, text_of(name)))
            snprintf(hidden, sizeof hidden, "hidden.column%u", i), name = hidden;
        tr_input(r->system, name, i ? TR_INPUT : TR_TIME, 0, r->err);
    }
}

static size_t count_items(const char *list)
{
    size_t count = 1;
    for (const char *at = list ? list : ""; *at; at++) count += *at == ',';
    return count;
}

bool tr_keep_make(Keep *k, const char *list, const char *stop, const char *const *columns,
                  uint32_t column_count, const Design *design, tr_error *err)
{
    const size_t most = count_items(list) + 1;
    *k = (Keep){.columns = column_count, .stops = stop != NULL};
    Reader r = {.keep = k, .design = design, .err = err, .system = tr_system_new(err)};
    k->kept = tr_arena_alloc(&k->arena, most, sizeof *k->kept);
    r.formulas = tr_arena_alloc(&k->arena, most, sizeof *r.formulas);
    if (!k->kept || !r.formulas) tr_fail_memory(err);
    if (!has_failed(err)) name_inputs(&r, columns);
    if (!has_failed(err) && add_all(&r, text_of(list)) && stop)
        add_formula(&r, text_of(stop), "--stop");
    if (!has_failed(err) && k->formulas) {
        tr_output(r.system, "kept", r.formulas, k->formulas, 1, err);
        k->program = tr_compile(r.system, "kept", NULL, err);
    }
    tr_system_free(r.system);
    return !has_failed(err);
}

bool tr_keep_ends(const Keep *k, double end, tr_error *err)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (k->kept[i].how == KEEP_AT && k->kept[i].at > end)
            return tr_fail(err, TR_USAGE, (Place){0}, "--keep '%.100s': runs end at %.6g s",
                           k->kept[i].name, end),
                   false;
    return true;
}

void tr_keep_free(Keep *k)
{
    tr_program_free(k->program);
    tr_arena_free(&k->arena);
    *k = (Keep){0};
}

// ---- reducing ------------------------------------------------------------------------ (T442)
// ----

static_assert(TALLY_VALUES == TALLY_BALANCE + BALANCE_NUMBERS, "a balance has its place");

uint32_t tr_keep_size(const Keep *k) { return TALLY_VALUES + 2 * k->count; }

void tr_keep_begin(const Keep *k, double *tally)
{
    for (uint32_t i = 0; i < tr_keep_size(k); i++) tally[i] = i < TALLY_VALUES ? 0 : (double)NAN;
}

#define REDUCTION(id, name, first, next) \
    static double reduce_##id(Step s) { return s.is_first ? (first) : (next); }
#include "sweep/reduction.def"

static double (*const reduce[])(Step s) = {
#define REDUCTION(id, ...) reduce_##id,
#include "sweep/reduction.def"
};

bool tr_keep_add(const Keep *k, double *tally, double t, const double *formulas)
{
    double *value = tally + TALLY_VALUES, *last = value + k->count;
    const bool is_first = tally[TALLY_ROWS] == 0;
    for (uint32_t i = 0; i < k->count; i++) {
        const Step step = {.is_first = is_first,
                           .value = value[i],
                           .last = last[i],
                           .before = tally[TALLY_LAST],
                           .at = k->kept[i].at,
                           .t = t,
                           .x = formulas[i]};
        value[i] = reduce[k->kept[i].how](step);
        last[i] = step.x;
    }
    count_row(tally, t);
    tally[TALLY_ENDS] = k->stops && formulas[k->count] != 0;
    return tally[TALLY_ENDS] != 0;
}

void tr_keep_end(const Keep *k, const double *tally, double *kept)
{
    const double *value = tally + TALLY_VALUES, *last = value + k->count;
    const double time = tally[TALLY_LAST] - tally[TALLY_FIRST];
    for (uint32_t i = 0; i < k->count; i++) {
        const Reduction how = (Reduction)k->kept[i].how;
        kept[i] = value[i];
        if (how == KEEP_MEAN) kept[i] = time > 0 ? value[i] / time : last[i];
        if (how == KEEP_RMS) kept[i] = time > 0 ? sqrt(value[i] / time) : fabs(last[i]);
    }
}
