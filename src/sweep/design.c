// SPDX-License-Identifier: Apache-2.0
#include "sweep/design.h"

#include "base/error.h"
#include "base/sheet.h"
#include "sim/normal.h"
#include "sweep/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS 1e9
enum { MOST_SAMPLES = 1000000000 };
#define SEEDS 0x1p53 // numbers below it have all their digits

typedef struct Reader {
    Design *design;
    const System *system;
    const char *text; // the argument of --vary, for words
    tr_error *err;
} Reader;

// ---- numbers -------------------------------------------------------------------------------

// A number, or a formula of numbers: pi/10
static bool read_number(const Reader *r, Text text, double *value)
{
    char copy[200];
    const Text all = text_trimmed(text);
    if (!all.length || all.length >= sizeof copy) return false;
    memcpy(copy, all.at, all.length), copy[all.length] = 0;
    if (tr_read_number(copy, value)) return isfinite(*value);
    tr_error own = {0};
    tr_system *s = tr_system_new(&own);
    const bool good = tr_is_constant(tr_formula(s, copy, &own), value) && isfinite(*value);
    tr_system_free(s);
    if (own.status == TR_NO_MEMORY) tr_fail_memory(r->err);
    return good;
}

static bool refuse(const Reader *r, const char *words)
{
    tr_fail(r->err, TR_USAGE, (Place){0}, "--vary '%.100s': %s", r->text, words);
    return false;
}

// The next part before a separator that is not in brackets
static Text next_part(Text *rest, char separator)
{
    size_t i = 0;
    for (int depth = 0; i < rest->length && (rest->at[i] != separator || depth > 0); i++)
        depth += rest->at[i] == '(' ? 1 : rest->at[i] == ')' ? -1 : 0;
    const Text part = {rest->at, i};
    const size_t used = i < rest->length ? i + 1 : i;
    rest->at += used, rest->length -= used;
    return part;
}

static size_t count_parts(Text text, char separator)
{
    size_t count = 0;
    while (text.length) next_part(&text, separator), count++;
    return count;
}

static double *make_values(const Reader *r, Varied *v, size_t count)
{
    v->count = count;
    v->values = tr_arena_alloc(&r->design->arena, count + 1, sizeof *v->values);
    if (!v->values) tr_fail_memory(r->err);
    return v->values;
}

// ---- what is varied ------------------------------------------------------------------------

// A:B:H, both ends where the step divides the distance
static bool read_range(const Reader *r, Text text, Varied *v)
{
    double step;
    const Text a = next_part(&text, ':'), b = next_part(&text, ':');
    if (!read_number(r, a, &v->a) || !read_number(r, b, &v->b) || !read_number(r, text, &step))
        return refuse(r, "a range is A:B:H, from, to and step as numbers");
    if (!(step > 0) || !(v->a < v->b))
        return refuse(r, "a range goes upwards, with a step that is positive");
    const double steps = (v->b - v->a) / step, whole = round(steps);
    const bool fits = fabs(steps - whole) <= 1e-9 * steps;
    const double last = fits ? whole : floor(steps);
    if (!(last < MOST_RUNS)) return refuse(r, "there are more than a billion values");
    v->count = (size_t)last + 1, v->step = fits ? 0 : step;
    return true;
}

static bool read_list(const Reader *r, Text text, Varied *v)
{
    const size_t count = count_parts(text, ',');
    if (!count || !make_values(r, v, count)) return refuse(r, "there are no values");
    for (size_t i = 0; i < count; i++)
        if (!read_number(r, next_part(&text, ','), &v->values[i]))
            return refuse(r, "a list is numbers with commas between them");
    return true;
}

// uniform(a, b) or normal(m, s)
static bool read_distribution(const Reader *r, Text text, Varied *v)
{
    const bool is_normal = text_begins_with(text, "normal(");
    if ((!is_normal && !text_begins_with(text, "uniform(")) || !text_ends_with(text, ")"))
        return refuse(r, "what is drawn is uniform(A, B) or normal(MEAN, DEVIATION)");
    const size_t head = is_normal ? strlen("normal(") : strlen("uniform(");
    text = (Text){text.at + head, text.length - head - 1};
    v->kind = is_normal ? VARIED_NORMAL : VARIED_UNIFORM;
    if (count_parts(text, ',') != 2 || !read_number(r, next_part(&text, ','), &v->a) ||
        !read_number(r, text, &v->b))
        return refuse(r, is_normal ? "normal takes two numbers, the mean and the deviation"
                                   : "uniform takes two numbers, the least and the largest");
    if (is_normal ? !(v->b >= 0) : !(v->a <= v->b))
        return refuse(r, is_normal ? "the deviation must not be negative"
                                   : "the least is not below the largest");
    return true;
}

static bool add_name(const Reader *r, Text name, Varied *v)
{
    const Design *d = r->design;
    v->input = tr_system_number(r->system, name, "varied", r->err);
    if (v->input == NO_INPUT) return false;
    v->name = r->system->inputs[v->input].name;
    for (uint32_t i = 0; i < d->count; i++)
        if (d->varied[i].input == v->input)
            return tr_fail(r->err, TR_USAGE, (Place){0}, "'%.80s' is varied twice", v->name), false;
    if (!r->system->inputs[v->input].is_controlled) return true;
    tr_fail(r->err, TR_USAGE, (Place){0}, "'%.80s' is set by a controller of the model", v->name);
    return false;
}

static bool add_varied(Reader *r)
{
    const char *sign = strpbrk(r->text, "=~");
    Varied *v = &r->design->varied[r->design->count];
    if (!sign || sign == r->text)
        return refuse(r, "takes NAME=A:B:H, NAME=A,B,C, NAME~uniform(A,B) or NAME~normal(M,S)");
    const Text value = text_trimmed(text_of(sign + 1));
    if (!add_name(r, text_trimmed((Text){r->text, (size_t)(sign - r->text)}), v)) return false;
    const bool good = *sign == '~'                  ? read_distribution(r, value, v)
                      : count_parts(value, ':') > 1 ? read_range(r, value, v)
                                                    : read_list(r, value, v);
    if (good) r->design->count++;
    return good;
}

// ---- how many runs -------------------------------------------------------------------------

static bool count_runs(Design *d, const tr_sweep_options *o, tr_error *err)
{
    double cells = 1;
    bool draws = false;
    for (uint32_t i = 0; i < d->count; i++)
        if (d->varied[i].kind == VARIED_VALUES)
            cells *= (double)d->varied[i].count;
        else
            draws = true;
    const double samples = draws ? (double)(o->samples ? o->samples : TR_SAMPLES) : 1;
    if (o->samples && !draws)
        tr_fail(err, TR_USAGE, (Place){0},
                "--samples has no use: nothing is drawn at random, as by --vary NAME~normal(M,S)");
    else if (cells * samples > MOST_RUNS || o->samples > MOST_SAMPLES)
        tr_fail(err, TR_USAGE, (Place){0}, "there would be %.4g runs, more than a billion",
                cells * samples);
    if (has_failed(err)) return false;
    d->cells = (uint64_t)cells, d->samples = (uint64_t)samples, d->runs = d->cells * d->samples;
    return true;
}

// ---- tables --------------------------------------------------------------------------------

static bool take_sheet(Reader *r, const Sheet *sheet)
{
    Design *d = r->design;
    for (size_t i = 0; i < sheet->columns; i++) {
        Varied *v = &d->varied[d->count];
        if (!add_name(r, text_of(sheet->names[i]), v) || !make_values(r, v, sheet->rows))
            return false;
        memcpy(v->values, sheet->values + i * sheet->rows, sheet->rows * sizeof *v->values);
        for (size_t k = 0; k < sheet->rows; k++)
            if (!isfinite(v->values[k])) {
                tr_fail(r->err, TR_INVALID, (Place){0}, "%.200s, line %d: '%.60s' has no number",
                        r->text, tr_sheet_line(sheet, k), v->name);
                return false;
            }
        d->count++;
    }
    d->is_table = true, d->samples = 1, d->cells = d->runs = sheet->rows;
    if (!d->runs)
        tr_fail(r->err, TR_INVALID, (Place){0}, "%.200s has no rows, so there are no runs",
                r->text);
    return !has_failed(r->err);
}

static bool read_table(Reader *r, const tr_sweep_options *o)
{
    tr_error own = {0};
    r->text = o->table;
    if (o->vary_count || o->samples) {
        tr_fail(r->err, TR_USAGE, (Place){0},
                "--table says what all runs have: --vary and --samples have no place beside it");
        return false;
    }
    Sheet *sheet = tr_sheet_read(o->table, &own);
    if (!sheet && own.line)
        tr_fail(r->err, own.status, (Place){0}, "%.200s, line %d: %.250s", o->table, own.line,
                own.text);
    else if (!sheet)
        tr_fail(r->err, own.status, (Place){0}, "%.480s", own.text);
    Design *d = r->design;
    if (sheet) d->varied = tr_arena_alloc(&d->arena, sheet->columns + 1, sizeof *d->varied);
    if (sheet && !d->varied) tr_fail_memory(r->err);
    const bool good = !has_failed(r->err) && take_sheet(r, sheet);
    tr_sheet_free(sheet);
    return good;
}

bool tr_design_make(Design *d, const System *system, const tr_sweep_options *o, tr_error *err)
{
    Reader r = {.design = d, .system = system, .err = err};
    *d = (Design){.seed = (double)o->seed};
    if (!(d->seed < SEEDS))
        return tr_fail(err, TR_USAGE, (Place){0}, "a seed is below 2^53, %.0f", SEEDS), false;
    if (o->table) return read_table(&r, o);
    if (!o->vary_count)
        return tr_fail(err, TR_USAGE, (Place){0},
                       "what is varied? --vary NAME=A:B:H, NAME=A,B,C, NAME~uniform(A,B) or "
                       "NAME~normal(M,S); or --table RUNS.csv"),
               false;
    d->varied = tr_arena_alloc(&d->arena, o->vary_count, sizeof *d->varied);
    if (!d->varied) return tr_fail_memory(err), false;
    for (size_t i = 0; i < o->vary_count; i++) {
        r.text = o->vary[i];
        if (!add_varied(&r)) return false;
    }
    return count_runs(d, o, err);
}

void tr_design_free(Design *d)
{
    tr_arena_free(&d->arena);
    *d = (Design){0};
}

// ---- values --------------------------------------------------------------------------------

static double drawn(const Design *d, const Varied *v, uint64_t cell, uint64_t sample)
{
    const double u = tr_stratified(d->seed, v->name, cell, sample, d->samples);
    return v->kind == VARIED_NORMAL ? v->a + v->b * tr_normal_quantile(u)
                                    : v->a + (v->b - v->a) * u;
}

static double at(const Varied *v, uint64_t i)
{
    if (v->values) return v->values[i];
    return v->step > 0 ? v->a + (double)i * v->step
                       : v->a + (v->b - v->a) * (double)i / (double)(v->count - 1);
}

void tr_design_take(const Design *d, uint64_t run, double *values)
{
    const uint64_t cell = run / d->samples, sample = run % d->samples;
    uint64_t left = cell;
    for (uint32_t i = d->count; i-- > 0;) { // the last one varies fastest
        const Varied *v = &d->varied[i];
        if (v->kind != VARIED_VALUES) {
            values[i] = drawn(d, v, cell, sample);
            continue;
        }
        values[i] = at(v, d->is_table ? cell : left % v->count);
        left /= v->count;
    }
}
