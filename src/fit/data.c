// SPDX-License-Identifier: Apache-2.0
// What was recorded: which columns of the files are columns of the model, and their measurements,
// by time.
#include "base/sheet.h"
#include "fit/fit.h"
#include "num/dense.h"
#include "plan/column.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Reading {
    Fit *fit;
    const tr_fit_options *options;
    Sheet **sheets;      // of the files
    const char **labels; // by match: the column of the model
    uint32_t capacity;   // of columns
    // Of the file that is read: times, and by column its values, or NULL
    const double *t, **values;
} Reading;

static const char *time_of(const Reading *r) { return r->options->time ? r->options->time : "t"; }

// ---- columns of the model ------------------------------------------------------------------

// The column of that name whose slopes runs with sensitivities have; or NULL
static const char *column_called(const System *s, const char *name)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        const bool is_column = input->kind == TR_POSITION || input->kind == TR_VELOCITY;
        if (is_column && strcmp(input->name, name) == 0) return input->name;
    }
    for (uint32_t i = 0; i < s->output_count; i++)
        if (is_model_output(&s->outputs[i]) && strcmp(s->outputs[i].label, name) == 0)
            return s->outputs[i].label;
    return NULL;
}

void tr_fit_output_name(size_t k, char name[FIT_NAME_SIZE])
{
    snprintf(name, FIT_NAME_SIZE, "fitted_column_%zu", k + 1);
}

// The match of a column, or as many as there are
static size_t match_of(const Reading *r, const char *name)
{
    const tr_fit_options *o = r->options;
    size_t k = 0;
    for (; k < o->match_count; k++) {
        Text own, formula;
        if (tr_fit_pair(o->matches[k], "--match", "", &own, &formula, NULL) && text_is(own, name))
            break;
    }
    return k;
}

static bool is_listed(const char *list, const char *name)
{
    for (const char *at = list; *at;)
        if (text_is(tr_next_item(&at), name)) return true;
    return false;
}

// ---- columns that are used -----------------------------------------------------------------

static uint32_t used_column(const Fit *f, Text name)
{
    uint32_t c = 0;
    while (c < f->column_count && !text_is(name, f->columns[c].name)) c++;
    return c;
}

static bool keep_column(Reading *r, const char *name, const char *of, const char *label,
                        tr_error *err)
{
    Fit *f = r->fit;
    const uint32_t k = f->column_count;
    const char *kept = tr_arena_text(&f->arena, name, strlen(name));
    const char *kept_of = tr_arena_text(&f->arena, of, strlen(of));
    uint32_t room = r->capacity;
    if (!kept || !kept_of ||
        !tr_grow((void **)&f->columns, &r->capacity, k + 1, sizeof *f->columns) ||
        !tr_grow((void **)&f->labels, &room, k + 1, sizeof *f->labels))
        return tr_fail_memory(err), false;
    f->labels[k] = label;
    f->columns[k] =
        (tr_fit_column){.name = kept,
                        .of = kept_of,
                        .unit = tr_quantity_unit(tr_column_port(f->system, label).quantity)};
    f->column_count++;
    return true;
}

// If it is one that is used, and not there yet
static bool take_column(Reading *r, const char *name, tr_error *err)
{
    const tr_fit_options *o = r->options;
    const size_t match = match_of(r, name);
    const bool is_wanted = !o->columns || is_listed(o->columns, name);
    if (used_column(r->fit, text_of(name)) < r->fit->column_count || strcmp(name, time_of(r)) == 0)
        return true;
    if (match < o->match_count)
        return keep_column(r, name, strchr(o->matches[match], '=') + 1, r->labels[match], err);
    const char *label = is_wanted ? column_called(r->fit->system, name) : NULL;
    return !label || keep_column(r, name, label, label, err);
}

static bool take_columns(Reading *r, tr_error *err)
{
    for (size_t i = 0; i < r->options->data_count; i++)
        for (size_t k = 0; k < r->sheets[i]->columns; k++)
            if (!take_column(r, r->sheets[i]->names[k], err)) return false;
    return true;
}

// ---- names that options have ---------------------------------------------------------------

// Words for a name that is no column of any file, or none that is used
static bool refuse_column(const Reading *r, const char *option, Text name, tr_error *err)
{
    Suggestion nearest = {.wanted = name};
    char hint[TR_HINT_SIZE];
    bool is_there = false;
    for (size_t i = 0; i < r->options->data_count; i++)
        for (size_t k = 0; k < r->sheets[i]->columns; k++) {
            is_there = is_there || text_is(name, r->sheets[i]->names[k]);
            tr_suggest(&nearest, text_of(r->sheets[i]->names[k]));
        }
    if (text_is(name, time_of(r)))
        tr_fail(err, TR_USAGE, (Place){0}, "%s: '%.*s' is the column of times", option, TEXT(name));
    else if (is_there)
        tr_fail(err, TR_USAGE, (Place){0},
                "%s: '%.*s' is no column of the model, which has coordinates, velocities and "
                "outputs; --match says what it is",
                option, TEXT(name));
    else
        tr_fail(err, TR_USAGE, (Place){0}, "%s: no recording has a column '%.*s'%s", option,
                TEXT(name), tr_hint(&nearest, hint));
    return false;
}

static bool check_names(const Reading *r, tr_error *err)
{
    const tr_fit_options *o = r->options;
    Text name, formula;
    for (const char *at = o->columns ? o->columns : ""; *at;) {
        name = tr_next_item(&at);
        if (name.length && used_column(r->fit, name) == r->fit->column_count)
            return refuse_column(r, "--columns", name, err);
    }
    for (size_t i = 0; i < o->match_count; i++) {
        if (!tr_fit_pair(o->matches[i], "--match", "COLUMN=FORMULA", &name, &formula, err))
            return false;
        if (used_column(r->fit, name) == r->fit->column_count)
            return refuse_column(r, "--match", name, err);
        for (size_t k = 0; k < i; k++) {
            Text other;
            if (tr_fit_pair(o->matches[k], "--match", "", &other, &formula, err) &&
                text_equal(other, name))
                return tr_fail(err, TR_USAGE, (Place){0}, "--match: '%.*s' is named twice",
                               TEXT(name)),
                       false;
        }
    }
    return true;
}

// No file has a column twice that is used.
static bool check_twice(const Reading *r, size_t file, tr_error *err)
{
    const Sheet *sheet = r->sheets[file];
    for (size_t k = 0; k < sheet->columns; k++) {
        const char *name = sheet->names[k];
        if (used_column(r->fit, text_of(name)) == r->fit->column_count &&
            strcmp(name, time_of(r)) != 0)
            continue;
        for (size_t i = 0; i < k; i++)
            if (strcmp(sheet->names[i], name) == 0)
                return tr_fail(err, TR_INVALID, (Place){0}, "'%.200s' has the column '%.60s' twice",
                               r->options->data[file], name),
                       false;
    }
    return true;
}

// Every file has something that is used.
static bool check_files(const Reading *r, tr_error *err)
{
    for (size_t i = 0; i < r->options->data_count; i++) {
        const Sheet *sheet = r->sheets[i];
        bool any = false;
        for (size_t k = 0; k < sheet->columns; k++)
            any = any || used_column(r->fit, text_of(sheet->names[k])) < r->fit->column_count;
        if (!check_twice(r, i, err)) return false;
        if (!any)
            tr_fail(err, TR_USAGE, (Place){0},
                    "no column of '%.150s' is one of the model's: --match says what a column is",
                    r->options->data[i]);
    }
    return !has_failed(err);
}

// "COLUMN=S"
static bool take_deviation(const Reading *r, const char *text, tr_error *err)
{
    Text name, value;
    double sd;
    if (!tr_fit_pair(text, "--sd", "COLUMN=S", &name, &value, err)) return false;
    const uint32_t c = used_column(r->fit, name);
    if (c == r->fit->column_count) return refuse_column(r, "--sd", name, err);
    tr_fit_column *column = &r->fit->columns[c];
    if (!tr_read_number(value.at, &sd))
        tr_fail(err, TR_USAGE, (Place){0}, "--sd takes COLUMN=S, not '%.100s'", text);
    else if (!(sd > 0) || !isfinite(sd))
        tr_fail(err, TR_USAGE, (Place){0}, "--sd %.100s: the standard deviation must be positive",
                text);
    else if (column->is_given)
        tr_fail(err, TR_USAGE, (Place){0}, "--sd: '%.*s' is named twice", TEXT(name));
    column->sd = sd, column->is_given = true;
    return !has_failed(err);
}

// ---- measurements --------------------------------------------------------------------------

// False, with words, when the time of a row cannot be; `counts`: whether it is one that is used
static bool check_time(const Reading *r, size_t file, size_t row, bool *counts, tr_error *err)
{
    const tr_fit_options *o = r->options;
    const Sheet *sheet = r->sheets[file];
    const double *t = r->t;
    const char *path = o->data[file];
    *counts = !(t[row] < o->from) && !(t[row] > o->to);
    if (!isfinite(t[row]))
        tr_fail(err, TR_INVALID, (Place){0}, "%.200s:%d: '%.60s' is not a number", path,
                tr_sheet_line(sheet, row), time_of(r));
    else if (row && t[row] <= t[row - 1])
        tr_fail(err, TR_INVALID, (Place){0}, "%.200s:%d: %.60s = %.9g does not come after %.9g",
                path, tr_sheet_line(sheet, row), time_of(r), t[row], t[row - 1]);
    else if (*counts && t[row] < 0)
        tr_fail(err, TR_INVALID, (Place){0},
                "%.200s:%d: %.60s = %.9g is before the run, which starts at 0; --from leaves rows "
                "out",
                path, tr_sheet_line(sheet, row), time_of(r), t[row]);
    return !has_failed(err);
}

static bool add_point(Reading *r, size_t file, size_t row, uint32_t c, tr_error *err)
{
    Fit *f = r->fit;
    if (!r->values[c]) return true;
    if (!isfinite(r->values[c][row])) {
        tr_fail(err, TR_INVALID, (Place){0},
                "%.200s:%d: '%.60s' is not a number; what was measured at other times belongs into "
                "a file of its own",
                r->options->data[file], tr_sheet_line(r->sheets[file], row), f->columns[c].name);
        return false;
    }
    f->points[f->point_count++] = (tr_fit_point){r->t[row], r->values[c][row], 0, c, file};
    f->columns[c].count++;
    return true;
}

static bool take_rows(Reading *r, size_t file, tr_error *err)
{
    const tr_fit_options *o = r->options;
    const Sheet *sheet = r->sheets[file];
    size_t used = 0;
    r->t = tr_sheet_column(sheet, time_of(r));
    for (uint32_t c = 0; c < r->fit->column_count; c++)
        r->values[c] = tr_sheet_column(sheet, r->fit->columns[c].name);
    for (size_t i = 0; i < sheet->rows; i++) {
        bool counts = false;
        if (!check_time(r, file, i, &counts, err)) return false;
        for (uint32_t c = 0; counts && c < r->fit->column_count; c++)
            if (!add_point(r, file, i, c, err)) return false;
        used += counts;
    }
    if (!sheet->rows)
        tr_fail(err, TR_INVALID, (Place){0}, "'%.200s' has no rows", o->data[file]);
    else if (!used)
        tr_fail(err, TR_USAGE, (Place){0}, "'%.200s' has no rows from t = %.9g to t = %.9g",
                o->data[file], isnan(o->from) ? 0 : o->from,
                isnan(o->to) ? (double)INFINITY : o->to);
    return !has_failed(err);
}

static int by_time(const void *a, const void *b)
{
    const tr_fit_point *x = a, *y = b;
    if (x->t != y->t) return x->t < y->t ? -1 : 1;
    if (x->recording != y->recording) return x->recording < y->recording ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

static bool take_points(Reading *r, tr_error *err)
{
    Fit *f = r->fit;
    size_t most = 0;
    for (size_t i = 0; i < r->options->data_count; i++) most += r->sheets[i]->rows;
    f->points = calloc(most * f->column_count + 1, sizeof *f->points);
    r->values = calloc(f->column_count + 1u, sizeof *r->values);
    if (!f->points || !r->values) return tr_fail_memory(err), false;
    for (size_t i = 0; i < r->options->data_count; i++)
        if (!take_rows(r, i, err)) return false;
    qsort(f->points, f->point_count, sizeof *f->points, by_time);
    return true;
}

// ---- all of it -----------------------------------------------------------------------------

static bool read_sheet(Reading *r, size_t i, tr_error *err)
{
    const char *path = r->options->data[i];
    tr_error own = {0};
    char hint[TR_HINT_SIZE];
    r->sheets[i] = tr_sheet_read(path, &own);
    if (own.status && own.line)
        tr_fail(err, own.status, (Place){0}, "%.200s:%d: %s", path, own.line, own.text);
    else if (own.status)
        tr_fail(err, own.status, (Place){0}, "%s", own.text);
    if (!r->sheets[i] || tr_sheet_column(r->sheets[i], time_of(r))) return r->sheets[i] != NULL;
    Suggestion nearest = {.wanted = text_of(time_of(r))};
    for (size_t k = 0; k < r->sheets[i]->columns; k++)
        tr_suggest(&nearest, text_of(r->sheets[i]->names[k]));
    tr_fail(err, TR_USAGE, (Place){0}, "'%.200s' has no column '%.60s' of times%s", path,
            time_of(r), tr_hint(&nearest, hint));
    return false;
}

// The columns that were added to the model for matches, as the system calls them
static bool find_labels(Reading *r, tr_error *err)
{
    for (size_t k = 0; k < r->options->match_count; k++) {
        char name[FIT_NAME_SIZE];
        tr_fit_output_name(k, name);
        r->labels[k] = column_called(r->fit->system, name);
        if (!r->labels[k])
            return tr_fail(err, TR_USAGE, (Place){0}, "the system has no output '%s'", name), false;
    }
    return true;
}

bool tr_fit_read(Fit *f, tr_error *err)
{
    const tr_fit_options *o = f->options;
    Reading r = {.fit = f, .options = o};
    r.sheets = calloc(o->data_count + 1, sizeof(Sheet *));
    r.labels = calloc(o->match_count + 1, sizeof *r.labels);
    if (!r.sheets || !r.labels) tr_fail_memory(err);
    if (!o->data_count)
        tr_fail(err, TR_USAGE, (Place){0}, "what was recorded? --data names a .csv file");
    for (size_t i = 0; !has_failed(err) && i < o->data_count; i++) read_sheet(&r, i, err);
    bool good = !has_failed(err) && find_labels(&r, err) && take_columns(&r, err) &&
                check_names(&r, err) && check_files(&r, err);
    for (size_t i = 0; good && i < o->sd_count; i++) good = take_deviation(&r, o->sds[i], err);
    good = good && take_points(&r, err);
    for (size_t i = 0; r.sheets && i < o->data_count; i++) tr_sheet_free(r.sheets[i]);
    free(r.sheets);
    free(r.labels);
    free(r.values);
    return good;
}
