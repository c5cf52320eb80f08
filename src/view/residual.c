// SPDX-License-Identifier: Apache-2.0
// What a fit leaves of each measurement over time: a panel for each column, a curve for each
// recording.
#include "base/arena.h"
#include "base/error.h"
#include "view/figure.h"

#include <stdio.h>

// The points of a column in a recording, into x and y; gives how many
static size_t gather(const tr_fit *fit, size_t column, size_t recording, double *x, double *y)
{
    size_t rows = 0;
    for (size_t i = 0; i < fit->point_count; i++) {
        const tr_fit_point *p = &fit->points[i];
        if (p->column != column || p->recording != recording) continue;
        x[rows] = p->t, y[rows++] = p->left;
    }
    return rows;
}

static bool fill_panel(const tr_fit *fit, size_t column, Arena *arena, Panel *panel)
{
    const tr_fit_column *c = &fit->columns[column];
    Curve *curves = tr_arena_alloc(arena, fit->recording_count + 1, sizeof *curves);
    double *x = tr_arena_alloc(arena, 2 * c->count + 1, sizeof *x);
    size_t count = 0;
    if (!curves || !x) return false;
    for (size_t r = 0; r < fit->recording_count; r++) {
        char name[40];
        snprintf(name, sizeof name, "recording %zu", r + 1);
        const size_t rows = gather(fit, column, r, x, x + c->count);
        const char *kept = tr_arena_text(arena, name, strlen(name));
        if (!kept) return false;
        if (!rows) continue;
        curves[count++] = (Curve){kept, x, x + c->count, rows, {NULL}, NULL};
        x += rows; // and so does y
    }
    *panel = (Panel){curves, count, c->name, c->unit, count > 1};
    return true;
}

bool tr_fit_plot(const tr_fit *fit, const char *title, const char *path, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!fit || has_failed(err)) return false;
    Arena arena = {0};
    Buffer svg = {0};
    Panel *panels = tr_arena_alloc(&arena, fit->column_count + 1, sizeof *panels);
    bool good = panels != NULL;
    for (size_t i = 0; good && i < fit->column_count; i++)
        good = fill_panel(fit, i, &arena, &panels[i]);
    const Figure figure = {.title = title,
                           .subject = "what a fit leaves",
                           .panels = panels,
                           .count = fit->column_count,
                           .x_label = "t",
                           .x_unit = "s"};
    if (good)
        tr_figure_draw(&figure, &svg, err);
    else
        tr_fail_memory(err);
    if (!has_failed(err) && svg.at) tr_write_text(path, svg.at, err);
    tr_buffer_free(&svg);
    tr_arena_free(&arena);
    return !has_failed(err);
}
