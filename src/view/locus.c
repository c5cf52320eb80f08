// SPDX-License-Identifier: Apache-2.0
// Eigenvalues against a parameter: real parts above, imaginary parts below, critical values across.
#include "base/arena.h"
#include "base/error.h"
#include "base/number.h"
#include "view/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Locus {
    const tr_sweep *sweep;
    Arena arena;
    double low[2], high[2]; // of the parts
} Locus;

static double *column_of(Locus *l, size_t branch, int part)
{
    const tr_sweep *s = l->sweep;
    double *y = tr_arena_alloc(&l->arena, s->rows, sizeof *y);
    for (size_t i = 0; y && i < s->rows; i++) {
        y[i] = s->eigenvalues[2 * (i * s->count + branch) + (size_t)part];
        l->low[part] = fmin(l->low[part], y[i]);
        l->high[part] = fmax(l->high[part], y[i]);
    }
    return y;
}

// Called by what it is and where: "oscillatory 4.2924"
static bool add_critical(Locus *l, const tr_critical *critical, int part, Curve *curve)
{
    double *at = tr_arena_alloc(&l->arena, 4, sizeof *at);
    char number[TR_NUMBER_SIZE], name[80];
    if (!at) return false;
    at[0] = at[1] = critical->value;
    at[2] = l->low[part], at[3] = l->high[part];
    tr_number_print(tr_number_rounded(critical->value, 5), number);
    snprintf(name, sizeof name, "%s %s", critical->frequency > 0 ? "oscillatory" : "divergent",
             number);
    *curve = (Curve){tr_arena_text(&l->arena, name, strlen(name)), at, at + 2, 2, {NULL}};
    return curve->name != NULL;
}

static bool fill_panel(Locus *l, int part, Panel *panel)
{
    const tr_sweep *s = l->sweep;
    const size_t count = s->count + s->critical_count;
    Curve *curves = tr_arena_alloc(&l->arena, count + 1, sizeof *curves);
    bool good = curves != NULL;
    for (size_t k = 0; good && k < s->count; k++) {
        char name[32];
        snprintf(name, sizeof name, "%s%zu", part ? "im" : "re", k + 1);
        curves[k] = (Curve){tr_arena_text(&l->arena, name, strlen(name)),
                            s->values,
                            column_of(l, k, part),
                            s->rows,
                            {NULL}};
        good = curves[k].name && curves[k].y;
    }
    for (size_t i = 0; good && i < s->critical_count; i++)
        good = add_critical(l, &s->critical[i], part, &curves[s->count + i]);
    *panel = (Panel){curves, count, part ? "imaginary part" : "real part", part ? "rad/s" : "1/s",
                     part == 0};
    return good;
}

bool tr_sweep_plot(const tr_sweep *sweep, const char *title, const char *path, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!sweep || has_failed(err)) return false;
    Locus locus = {.sweep = sweep};
    Panel panels[2];
    Buffer svg = {0};
    if (!sweep->count) {
        tr_fail(err, TR_FAILED, (Place){0}, "there are no eigenvalues to draw: all are zero");
    } else if (fill_panel(&locus, 0, &panels[0]) && fill_panel(&locus, 1, &panels[1])) {
        const Figure figure = {.title = title,
                               .subject = "eigenvalues",
                               .panels = panels,
                               .count = 2,
                               .x_label = sweep->name,
                               .is_tight = true};
        tr_figure_draw(&figure, &svg, err);
    } else
        tr_fail_memory(err);
    if (!has_failed(err) && svg.at) tr_write_text(path, svg.at, err);
    tr_buffer_free(&svg);
    tr_arena_free(&locus.arena);
    return !has_failed(err);
}
