// SPDX-License-Identifier: Apache-2.0
#include "view/sweep_plot.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/number.h"
#include "base/sheet.h"
#include "sim/swept.h"
#include "view/axis.h"
#include "view/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 12 };

typedef struct SweepPlot {
    const tr_plot_options *options;
    Sheet *sheet;
    size_t varied; // columns behind the first
    Arena arena;
    const char *x, *across; // columns; `across` of a map, else NULL
    Panel *panels;
    size_t count;
    tr_error *err;
} SweepPlot;

static void *alloc(SweepPlot *p, size_t count, size_t size)
{
    void *memory = tr_arena_alloc(&p->arena, count + 1, size);
    if (!memory) tr_fail_memory(p->err);
    return memory;
}

static const char *keep(SweepPlot *p, Buffer *text)
{
    const char *kept = tr_arena_text(&p->arena, text->at ? text->at : "", text->length);
    if (text->failed || !kept) tr_fail_memory(p->err);
    tr_buffer_free(text);
    return kept ? kept : "";
}

// ---- reading --------------------------------------------------------------------------------

static size_t read_varied(Database *d, tr_error *err)
{
    Query *q =
        tr_query_new(d, "SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'varied'", err);
    const size_t count = tr_query_step(q, err) ? (size_t)tr_query_count(q, 0) : 0;
    tr_query_free(q);
    return count;
}

// The table of runs as a sheet has it; texts are not numbers.
static void read_runs(SweepPlot *p)
{
    Buffer text = {0};
    const char *path = p->options->runs[0];
    Database *d = tr_swept_open(path, p->err);
    Query *q = d ? tr_query_new(d, "SELECT * FROM runs ORDER BY run", p->err) : NULL;
    const int columns = q ? tr_query_columns(q) : 0;
    for (int i = 0; i < columns; i++) {
        if (i) tr_buffer_add(&text, ",", 1);
        tr_database_name(&text, tr_query_name(q, i)); // quoted as tables have it
    }
    while (q && tr_query_step(q, p->err)) {
        tr_buffer_add(&text, "\n", 1);
        for (int i = 0; i < columns; i++) {
            if (i) tr_buffer_add(&text, ",", 1);
            tr_buffer_number(&text, tr_query_number(q, i));
        }
    }
    tr_query_free(q);
    if (d && !has_failed(p->err)) p->varied = read_varied(d, p->err);
    tr_database_close(d);
    if (!has_failed(p->err) && text.failed) tr_fail_memory(p->err);
    if (!has_failed(p->err)) p->sheet = tr_sheet_parse(text.at, text.length, p->err);
    tr_buffer_free(&text);
    if (p->sheet && !p->sheet->rows)
        tr_fail(p->err, TR_USAGE, (Place){0}, "'%.200s' has no runs yet", path);
}

static bool has_numbers(const double *column, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (isfinite(column[i])) return true;
    return false;
}

// One that can be drawn; else NULL and an error
static const double *find_column(SweepPlot *p, const char *name)
{
    const double *column = tr_sheet_column(p->sheet, name);
    Suggestion nearest = {.wanted = text_of(name)};
    char hint[TR_HINT_SIZE];
    if (has_failed(p->err)) return NULL;
    if (column && has_numbers(column, p->sheet->rows)) return column;
    if (column && (strcmp(name, "status") == 0 || strcmp(name, "words") == 0))
        tr_fail(p->err, TR_USAGE, (Place){0}, "'%s' is a text, of which there is no picture", name);
    else if (column)
        tr_fail(p->err, TR_USAGE, (Place){0}, "there is no run with a number for '%.60s'", name);
    if (column) return NULL;
    for (size_t i = 1; i < p->sheet->columns; i++)
        tr_suggest(&nearest, text_of(p->sheet->names[i]));
    tr_fail(p->err, TR_USAGE, (Place){0}, "'%.200s' has no column '%.60s'%s", p->options->runs[0],
            name, tr_hint(&nearest, hint));
    return NULL;
}

// The next name of a list: a column may have commas in brackets.
static const char *next_name(SweepPlot *p, const char **list)
{
    const char *from = *list, *at = from;
    for (int depth = 0; *at && (*at != ',' || depth > 0); at++)
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    *list = *at ? at + 1 : at;
    const Text name = text_trimmed((Text){from, (size_t)(at - from)});
    Buffer text = {0};
    for (size_t i = 0; i < name.length; i++)
        if (!is_space(name.at[i])) tr_buffer_add(&text, &name.at[i], 1);
    return keep(p, &text);
}

// ---- lines and dots -------------------------------------------------------------------------

typedef struct Row {
    const double *x, *others; // of sorting
    size_t index;
} Row;

static int compare_x(const void *a, const void *b)
{
    const Row *p = a, *q = b;
    if (*p->x != *q->x) return *p->x < *q->x ? -1 : 1;
    return p->index < q->index ? -1 : 1;
}

// Whether two runs differ in x alone, of what varies
static bool are_alike(const SweepPlot *p, size_t a, size_t b)
{
    for (size_t i = 1; i <= p->varied; i++) {
        const double *column = p->sheet->values + i * p->sheet->rows;
        if (strcmp(p->sheet->names[i], p->x) != 0 && column[a] != column[b]) return false;
    }
    return true;
}

// Of each run the group of those that differ in x alone; how many there are, or 0: too many
static size_t group_runs(const SweepPlot *p, size_t *group, size_t *first)
{
    size_t groups = 0;
    for (size_t i = 0; i < p->sheet->rows; i++) {
        size_t k = 0;
        while (k < groups && !are_alike(p, first[k], i)) k++;
        if (k == MOST_LINES) return 0;
        if (k == groups) first[groups++] = i;
        group[i] = k;
    }
    return 2 * groups <= p->sheet->rows ? groups : 0;
}

// "max(roll), speed0 = 4"
static const char *line_name(SweepPlot *p, const char *y, size_t run, bool tells_y)
{
    Buffer text = {0};
    if (tells_y) tr_buffer_print(&text, "%s", y);
    for (size_t i = 1; i <= p->varied; i++) {
        if (strcmp(p->sheet->names[i], p->x) == 0) continue;
        tr_buffer_print(&text, "%s%s = ", text.length ? ", " : "", p->sheet->names[i]);
        tr_buffer_number(&text, tr_number_rounded(p->sheet->values[i * p->sheet->rows + run], 6));
    }
    return text.length ? keep(p, &text) : y;
}

// The runs of a group, by x
static bool fill_line(SweepPlot *p, const double *x, const double *y, const size_t *group, size_t k,
                      Curve *curve)
{
    const size_t rows = p->sheet->rows;
    Row *sorted = alloc(p, rows, sizeof *sorted);
    double *at = alloc(p, 2 * rows, sizeof *at);
    size_t n = 0;
    if (!sorted || !at) return false;
    for (size_t i = 0; i < rows; i++)
        if (group[i] == k) sorted[n++] = (Row){.x = &x[i], .index = i};
    qsort(sorted, n, sizeof *sorted, compare_x);
    for (size_t i = 0; i < n; i++) at[i] = *sorted[i].x, at[rows + i] = y[sorted[i].index];
    curve->x = at, curve->y = at + rows, curve->rows = n;
    return true;
}

// Of one name of a panel: so many curves are added.
static size_t add_curves(SweepPlot *p, const char *name, Curve *curves, bool tells_y)
{
    const double *x = find_column(p, p->x), *y = find_column(p, name);
    size_t first[MOST_LINES + 1], *group = alloc(p, p->sheet->rows, sizeof *group);
    if (!x || !y || !group) return 0;
    const size_t groups = group_runs(p, group, first);
    static const Marks dots = {NULL, NULL};
    if (!groups) {
        *curves = (Curve){name, x, y, p->sheet->rows, {NULL}, &dots};
        return 1;
    }
    for (size_t k = 0; k < groups; k++) {
        curves[k] = (Curve){.name = line_name(p, name, first[k], tells_y)};
        if (!fill_line(p, x, y, group, k, &curves[k])) return 0;
    }
    return groups;
}

static void add_panel(SweepPlot *p, const char *list)
{
    size_t names = 1;
    const char *label = "";
    for (const char *at = list; *at; at++) names += *at == ',';
    Curve *curves = alloc(p, names * MOST_LINES, sizeof *curves);
    size_t count = 0, said = 0;
    const char *rest = list;
    next_name(p, &rest);
    const bool is_only = !*rest;
    for (const char *at = list; *at && curves && !has_failed(p->err); said++) {
        label = next_name(p, &at);
        count += add_curves(p, label, curves + count, !is_only);
    }
    p->panels[p->count++] = (Panel){.curves = curves,
                                    .count = count,
                                    .label = is_only ? label : "",
                                    .has_legend = count > 1 || !is_only};
}

// ---- maps -----------------------------------------------------------------------------------

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// The different values of a column, upwards; NULL and an error
static const double *list_values(SweepPlot *p, const double *column, size_t *count)
{
    const size_t rows = p->sheet->rows;
    double *sorted = alloc(p, rows, sizeof *sorted);
    size_t n = 0;
    *count = 0;
    if (!sorted) return NULL;
    for (size_t i = 0; i < rows; i++)
        if (isfinite(column[i])) sorted[n++] = column[i];
    qsort(sorted, n, sizeof *sorted, compare_numbers);
    for (size_t i = 0; i < n; i++)
        if (!i || sorted[i] != sorted[i - 1]) sorted[(*count)++] = sorted[i];
    return sorted;
}

// Where the cell of a value begins and ends: halfway to its neighbours, of which there is one at
// least, and beyond the last as far as before it.
static void find_edges(const double *values, size_t count, double value, double *from, double *to)
{
    const double *at = bsearch(&value, values, count, sizeof *values, compare_numbers);
    if (!at) return; // it is no number, and not drawn
    const double before = at > values ? at[0] - at[-1] : at[1] - at[0];
    const double behind = at + 1 < values + count ? at[1] - at[0] : before;
    *from = value - before / 2, *to = value + behind / 2;
}

// NULL where runs fill no grid
static const Edges *make_cells(SweepPlot *p, const double *x, const double *y)
{
    size_t columns, lines;
    const size_t rows = p->sheet->rows;
    const double *xs = list_values(p, x, &columns), *ys = list_values(p, y, &lines);
    if (!xs || !ys || columns < 2 || lines < 2 || columns * lines > 2 * rows) return NULL;
    Edges *cells = alloc(p, rows, sizeof *cells);
    for (size_t i = 0; cells && i < rows; i++) {
        find_edges(xs, columns, x[i], &cells[i].left, &cells[i].right);
        find_edges(ys, lines, y[i], &cells[i].low, &cells[i].high);
    }
    return cells;
}

// Cells where runs fill a grid, else dots
static void add_map(SweepPlot *p, const char *name)
{
    const size_t rows = p->sheet->rows;
    const double *x = find_column(p, p->x), *y = find_column(p, p->across),
                 *z = find_column(p, name);
    double *shade = alloc(p, rows, sizeof *shade);
    Marks *marks = alloc(p, 1, sizeof *marks);
    Curve *curve = alloc(p, 1, sizeof *curve);
    if (!x || !y || !z || !shade || !marks || !curve) return;
    Range range = tr_range_empty();
    for (size_t i = 0; i < rows; i++)
        if (isfinite(z[i])) range = tr_range_with(range, z[i]);
    const double wide = range.high > range.low ? range.high - range.low : 1;
    for (size_t i = 0; i < rows; i++) shade[i] = (z[i] - range.low) / wide;
    *marks = (Marks){.shade = shade, .cells = make_cells(p, x, y)};
    Buffer text = {0};
    tr_buffer_print(&text, "%s from ", name);
    tr_buffer_number(&text, tr_number_rounded(range.low, 4));
    tr_buffer_print(&text, " to ");
    tr_buffer_number(&text, tr_number_rounded(range.high, 4));
    *curve = (Curve){keep(p, &text), x, y, rows, {NULL}, marks};
    p->panels[p->count++] =
        (Panel){.curves = curve, .count = 1, .label = p->across, .has_legend = true};
}

// ---- all of it ------------------------------------------------------------------------------

// What is drawn against what: without words the first that varies, and the first that is kept
static void choose(SweepPlot *p)
{
    const tr_plot_options *o = p->options;
    const char *list = o->x ? o->x : p->sheet->names[1];
    p->x = next_name(p, &list);
    if (*list) p->across = next_name(p, &list);
    if (*list)
        tr_fail(p->err, TR_USAGE, (Place){0}, "-x takes one column, or two for a map: '%.100s'",
                o->x);
    const size_t first = p->varied + 1 < p->sheet->columns ? p->varied + 1 : 1;
    const char *const own[] = {p->sheet->names[first]};
    const size_t panels = o->panel_count ? o->panel_count : 1;
    p->panels = alloc(p, panels * 64, sizeof *p->panels);
    for (size_t i = 0; i < panels && !has_failed(p->err); i++) {
        const char *names = o->panel_count ? o->panels[i] : own[0];
        if (!p->across) add_panel(p, names);
        for (const char *at = names; p->across && *at && !has_failed(p->err);) {
            if (p->count == panels * 64) break;
            add_map(p, next_name(p, &at));
        }
    }
}

bool tr_plot_sweep(const tr_plot_options *o, tr_error *err)
{
    SweepPlot p = {.options = o, .err = err};
    Buffer svg = {0};
    if (o->run_count > 1)
        tr_fail(err, TR_USAGE, (Place){0}, "a picture of a sweep is of one database");
    else if (o->track || !isnan(o->from) || !isnan(o->to))
        tr_fail(err, TR_USAGE, (Place){0},
                "a sweep has no track and no times: it is drawn against what varies");
    else
        read_runs(&p);
    if (!has_failed(err)) choose(&p);
    const Figure figure = {.title = o->title,
                           .subject = "runs of a sweep",
                           .panels = p.panels,
                           .count = p.count,
                           .x_label = p.x,
                           .is_log = o->log,
                           .is_tight = p.across != NULL,
                           .width = o->width,
                           .height = o->height};
    if (!has_failed(err)) tr_figure_draw(&figure, &svg, err);
    if (!has_failed(err)) tr_write_text(o->output, svg.at, err);
    tr_buffer_free(&svg);
    tr_sheet_free(p.sheet);
    tr_arena_free(&p.arena);
    return !has_failed(err);
}
