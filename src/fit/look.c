// SPDX-License-Identifier: Apache-2.0
// A run through all that was recorded: what is left of each measurement, and the triangles.
#include "fit/fit.h"

#include "num/dense.h"
#include "num/triangle.h"
#include "plan/sensitivity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool show_progress(void *owner, double t, double end)
{
    Fit *f = owner;
    const tr_fit_options *o = f->options;
    if (o->progress && !o->progress(o->owner, f->runs, t, end)) f->stopped = true;
    return !f->stopped;
}

// ---- before the first ----------------------------------------------------------------------

// The place of a label among those of a run; what is there must be found.
static bool find_label(const char **labels, uint32_t count, const char *label, uint32_t *place,
                       tr_error *err)
{
    for (*place = 0; *place < count; ++*place)
        if (strcmp(labels[*place], label) == 0) return true;
    tr_fail(err, TR_FAILED, (Place){0}, "runs do not record '%.200s'", label);
    return false;
}

// Of each column, and of its slopes
static bool find_places(Fit *f, tr_error *err)
{
    char slope[900];
    const char **labels = calloc(f->run->columns + 1u, sizeof *labels);
    if (!labels) return tr_fail_memory(err), false;
    tr_run_labels(f->run, labels);
    for (uint32_t c = 0; c < f->column_count && !has_failed(err); c++) {
        uint32_t *place = f->place + (size_t)c * (f->count + 1);
        find_label(labels, f->run->columns, f->labels[c], place, err);
        for (uint32_t k = 0; k < f->count && !has_failed(err); k++) {
            snprintf(slope, sizeof slope, "d(%s)/d(%s)", f->labels[c], f->values[k].name);
            find_label(labels, f->run->columns, slope, place + 1 + k, err);
        }
    }
    free(labels);
    return !has_failed(err);
}

bool tr_fit_open_run(Fit *f, tr_error *err)
{
    const tr_fit_options *o = f->options;
    f->plan = tr_sensitivity_plan_by(f->system, f->input, f->count, err);
    tr_run_options how = tr_run_defaults(f->plan);
    if (o->method) how.method = o->method;
    if (o->step != 0) how.step = o->step;
    if (o->rtol != 0) how.rtol = o->rtol;
    if (o->atol != 0) how.atol = o->atol;
    how.end = f->points[f->point_count - 1].t;
    how.progress = show_progress, how.owner = f;
    f->run = tr_run_open(f->plan, &how, err);
    if (f->run) f->run->most_steps = o->most_steps;
    return f->run != NULL;
}

// ---- one run -------------------------------------------------------------------------------

// One measurement: [dh/dp, z - h] into the triangle of its column                           (T280)
static bool take_point(const Fit *f, size_t i, const double *row, const Look *to, tr_error *err)
{
    const tr_fit_point *point = &f->points[i];
    const uint32_t n = f->count + 1, c = (uint32_t)point->column;
    const uint32_t *place = f->place + (size_t)c * n;
    double *a = f->room;
    for (uint32_t k = 0; k < f->count; k++) a[k] = row[place[1 + k]];
    a[f->count] = to->left[i] = point->value - row[place[0]];
    if (!all_finite(a, n))
        return tr_fail(err, TR_FAILED, (Place){0},
                       "'%.100s' or its slope is not finite at t = %.9g", f->labels[c], point->t),
               false;
    tr_triangle_add(to->triangles + (size_t)c * n * n, n, a);
    return true;
}

// Where slopes end, at impacts and contacts that open or slip, fits do, too.
static void name_end(tr_error *err)
{
    const tr_error own = *err;
    if (own.status != TR_FAILED || !strstr(own.text, "sensitivities do not go on from there"))
        return;
    *err = (tr_error){0};
    tr_fail_again(err, &own, "%.400s, and neither do fits: --to leaves out what was recorded later",
                  own.text);
}

// With the values p, from the start to the last measurement
bool tr_fit_look(Fit *f, const Look *at, tr_error *err)
{
    const size_t n = f->count + 1u;
    memset(at->triangles, 0, f->column_count * n * n * sizeof *at->triangles);
    for (uint32_t k = 0; k < f->count; k++) tr_run_put(f->run, f->input[k], at->p[k]);
    f->runs++;
    if (!tr_run_reset(f->run, err) || (f->runs == 1 && !find_places(f, err))) return false;
    const double *row = NULL;
    for (size_t i = 0; i < f->point_count; i++) {
        const double t = f->points[i].t;
        if (!row || t != tr_run_time(f->run)) {
            if (t > tr_run_time(f->run) && !tr_run_advance(f->run, t, err)) break;
            row = tr_run_row(f->run);
        }
        if (!take_point(f, i, row, at, err)) break;
    }
    name_end(err);
    if (f->stopped)
        tr_fail(err, TR_FAILED, (Place){0}, "stopped in run %zu, before it was found", f->runs);
    return !has_failed(err);
}
