// SPDX-License-Identifier: Apache-2.0
// Eigenvalues against a parameter: real parts above, imaginary parts below, critical values across.
// A mode is one curve of one colour: its eigenvalues one after the other, with a gap between.
#include "base/arena.h"
#include "base/error.h"
#include "base/number.h"
#include "view/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Locus {
    const tr_locus *locus;
    Arena arena;
    double low[2], high[2]; // of the parts
} Locus;

static bool add_mode(Locus *l, size_t mode, int part, Curve *curve)
{
    const tr_locus *s = l->locus;
    size_t eigenvalues = 0, at = 0;
    for (size_t k = 0; k < s->count; k++) eigenvalues += s->mode[k] == mode;
    const size_t rows = eigenvalues * (s->rows + 1);
    double *x = tr_arena_alloc(&l->arena, 2 * rows, sizeof *x), *y = x ? x + rows : NULL;
    for (size_t k = 0; x && k < s->count; k++) {
        if (s->mode[k] != mode) continue;
        for (size_t i = 0; i < s->rows; i++, at++) {
            x[at] = s->values[i];
            y[at] = s->eigenvalues[2 * (i * s->count + k) + (size_t)part];
            l->low[part] = fmin(l->low[part], y[at]);
            l->high[part] = fmax(l->high[part], y[at]);
        }
        x[at] = y[at] = (double)NAN, at++;
    }
    *curve = (Curve){s->names[mode], x, y, rows - 1, {NULL}, NULL};
    return x != NULL;
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
    *curve = (Curve){tr_arena_text(&l->arena, name, strlen(name)), at, at + 2, 2, {NULL}, NULL};
    return curve->name != NULL;
}

static bool fill_panel(Locus *l, int part, Panel *panel)
{
    const tr_locus *s = l->locus;
    const size_t count = s->mode_count + s->critical_count;
    Curve *curves = tr_arena_alloc(&l->arena, count + 1, sizeof *curves);
    bool good = curves != NULL;
    for (size_t k = 0; good && k < s->mode_count; k++) good = add_mode(l, k, part, &curves[k]);
    for (size_t i = 0; good && i < s->critical_count; i++)
        good = add_critical(l, &s->critical[i], part, &curves[s->mode_count + i]);
    *panel = (Panel){curves, count, part ? "imaginary part" : "real part", part ? "rad/s" : "1/s",
                     part == 0};
    return good;
}

bool tr_locus_plot(const tr_locus *locus, const char *title, const char *path, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!locus || has_failed(err)) return false;
    Locus l = {.locus = locus};
    Panel panels[2];
    Buffer svg = {0};
    if (!locus->count) {
        tr_fail(err, TR_FAILED, (Place){0}, "there are no eigenvalues to draw: all are zero");
    } else if (fill_panel(&l, 0, &panels[0]) && fill_panel(&l, 1, &panels[1])) {
        const Figure figure = {.title = title,
                               .subject = "eigenvalues",
                               .panels = panels,
                               .count = 2,
                               .x_label = locus->name,
                               .is_tight = true};
        tr_figure_draw(&figure, &svg, err);
    } else
        tr_fail_memory(err);
    if (!has_failed(err) && svg.at) tr_write_text(path, svg.at, err);
    tr_buffer_free(&svg);
    tr_arena_free(&l.arena);
    return !has_failed(err);
}
