// SPDX-License-Identifier: Apache-2.0
// Families of steady motions: from one to the next along the curve that they form, by a step along
// its tangent and Newton's method across it, so that the curve may turn back in what is swept. Such
// folds are where the tangent has no part along it (T97).
#include "base/arena.h"
#include "base/json.h"
#include "base/options.h"
#include "base/record.h"
#include "steady/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 200000 };
#define LONGEST  0.05 // step, in the metric
#define SHORTEST 1e-8

// A place on the curve, and its direction there.
typedef struct Point {
    double *u, *tangent;
} Point;

// A family as JSON: all rows, which are written at the end.
typedef struct Sheaf {
    OutFile *file; // NULL: there is none
    double *rows;
    uint32_t size, capacity; // [numbers]
} Sheaf;

typedef struct Family {
    Steady *p;
    double from, to, step; // of what is swept; the step has the sign that leads there
    double *weight;        // the metric
    Point here, next, fold, probe;
    double *row, *room;
    double (*modes)[2];
    const char **labels;
    uint32_t columns;
    Record *record;
    Sheaf sheaf;                   // in place of the record
    const tr_steady_options *told; // has who is told
    bool is_stopped;               // by that
    tr_family_summary *summary;
} Family;

static uint32_t size_of(const Family *f) { return f->p->unknowns + 1; }
static double swept_of(const Family *f, const Point *at) { return at->u[f->p->unknowns]; }
static double slope_of(const Family *f, const Point *at) { return at->tangent[f->p->unknowns]; }

// ---- range ---------------------------------------------------------------------------------

static bool read_part(const char **at, char end, double *value)
{
    char text[64];
    const char *stop = end ? strchr(*at, end) : *at + strlen(*at);
    const size_t length = stop ? (size_t)(stop - *at) : sizeof text;
    if (length >= sizeof text) return false;
    memcpy(text, *at, length);
    text[length] = 0;
    *at = stop + (end != 0);
    return tr_read_number(text, value) && isfinite(*value);
}

static bool read_range(Family *f, const char *sweep, tr_error *err)
{
    const char *at = strrchr(sweep, '=');
    if (at) at++;
    if (!at || !read_part(&at, ':', &f->from) || !read_part(&at, ':', &f->to) ||
        !read_part(&at, 0, &f->step) || f->step == 0 || f->from == f->to)
        return tr_fail(err, TR_USAGE, (Place){0},
                       "--sweep takes formula=from:to:step with three numbers, not '%.100s'",
                       sweep),
               false;
    f->step = copysign(f->step, f->to - f->from);
    if ((f->to - f->from) / f->step > MAX_POINTS)
        return tr_fail(err, TR_USAGE, (Place){0}, "--sweep has more than %d rows", MAX_POINTS),
               false;
    return true;
}

// ---- rows ----------------------------------------------------------------------------------

static void open_rows(Family *f, const tr_steady_options *o, tr_error *err)
{
    const char *path = o->output ? o->output : "-";
    if (tr_record_is_text(path) && (o->form || ends_with(path, ".json")))
        f->sheaf.file = tr_file_create(path, err);
    else
        f->record = tr_record_open(path, f->labels, f->columns, err);
}

static void add_row(Family *f, tr_error *err)
{
    Sheaf *s = &f->sheaf;
    const uint64_t needed = (uint64_t)s->size + f->columns;
    if (!s->file)
        tr_record_row(f->record, f->row, err);
    else if (needed > UINT32_MAX ||
             !tr_grow((void **)&s->rows, &s->capacity, (uint32_t)needed, sizeof *s->rows))
        tr_fail_memory(err);
    else if (!has_failed(err)) {
        memcpy(s->rows + s->size, f->row, f->columns * sizeof *s->rows);
        s->size = (uint32_t)needed;
    }
}

// What there is, also after an error, which is kept
static void write_sheaf(Family *f, tr_error *err)
{
    const tr_family_summary *summary = f->summary;
    tr_error own = {0};
    Json j = {0};
    tr_json_open(&j, NULL, '{');
    tr_json_text(&j, "parameter", f->p->swept);
    tr_json_texts(&j, "columns", f->labels, f->columns);
    tr_json_matrix(&j, "rows", f->sheaf.rows, summary->rows, f->columns);
    tr_json_numbers(&j, "folds", summary->fold,
                    summary->folds < TR_MOST_FOLDS ? summary->folds : TR_MOST_FOLDS);
    tr_json_flag(&j, "complete", !has_failed(err) && !f->is_stopped);
    tr_json_close(&j, '}');
    tr_buffer_add(&j.text, "\n", 1);
    if (j.text.failed) tr_fail_memory(&own);
    if (!j.text.failed) fwrite(j.text.at, 1, j.text.length, tr_file_stream(f->sheaf.file));
    tr_file_commit(f->sheaf.file, &own);
    if (own.status) tr_fail(err, own.status, (Place){0}, "%s", own.text);
    tr_buffer_free(&j.text);
}

static void close_rows(Family *f, tr_error *err)
{
    const bool any = f->summary->rows > 0;
    if (f->sheaf.file && any)
        write_sheaf(f, err);
    else if (f->sheaf.file)
        tr_file_discard(f->sheaf.file);
    else if (any)
        tr_record_close(f->record, err);
    else
        tr_record_discard(f->record);
    free(f->sheaf.rows);
}

static void write_row(Family *f, const double *u, double residual, bool is_fold, tr_error *err)
{
    Steady *p = f->p;
    uint32_t count = 0;
    double stability = (double)NAN;
    if (!tr_steady_within(p, u, err)) return;
    tr_steady_columns(p, u, f->row + 1);
    for (uint32_t i = 0; i < p->frees; i++)
        f->row[1 + p->flow->column_count + i] = u[p->states + p->generators + i];
    if (!tr_steady_eigenvalues(p, u, f->modes, &count, &stability))
        tr_fail(err, TR_FAILED, (Place){0}, "the eigenvalues cannot be found");
    f->row[0] = u[p->unknowns];
    f->row[f->columns - 3] = stability;
    f->row[f->columns - 2] = is_fold;
    f->row[f->columns - 1] = residual;
    add_row(f, err);
    if (has_failed(err)) return;
    f->summary->rows++;
    f->summary->reached = u[p->unknowns];
}

static void name_columns(Family *f)
{
    const Steady *p = f->p;
    uint32_t k = 0;
    f->labels[k++] = "value";
    for (uint32_t i = 0; i < p->flow->column_count; i++) f->labels[k++] = p->flow->labels[i];
    for (uint32_t i = 0; i < p->frees; i++)
        f->labels[k++] = tr_steady_name(p, p->states + p->generators + i);
    f->labels[k++] = "stability";
    f->labels[k++] = "fold";
    f->labels[k++] = "residual";
}

// ---- along the curve -----------------------------------------------------------------------

static double dot(const Family *f, const double *a, const double *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < size_of(f); i++) sum += a[i] * b[i] * f->weight[i] * f->weight[i];
    return sum;
}

static void set_metric(Family *f)
{
    for (uint32_t i = 0; i < f->p->unknowns; i++) f->weight[i] = 1 / (1 + fabs(f->here.u[i]));
    f->weight[f->p->unknowns] = 1 / fabs(f->to - f->from);
}

static bool take_tangent(Family *f, Point *at, const double *like)
{
    if (!tr_steady_tangent(f->p, at->u, f->weight, at->tangent)) return false;
    const bool turn = dot(f, at->tangent, like) < 0;
    for (uint32_t i = 0; turn && i < size_of(f); i++) at->tangent[i] = -at->tangent[i];
    return true;
}

// To the point at this length from `here`; with its tangent, if there is one
static bool reach(Family *f, double length, Point *to, Outcome *out, bool *has_tangent)
{
    const Arc arc = {f->here.u, f->here.tangent, f->weight, length};
    for (uint32_t i = 0; i < size_of(f); i++) to->u[i] = f->here.u[i] + length * f->here.tangent[i];
    *out = tr_steady_solve(f->p, to->u, &arc);
    double away = 0; // from where the tangent led
    for (uint32_t i = 0; i < size_of(f); i++) {
        f->room[i] = to->u[i] - f->here.u[i] - length * f->here.tangent[i];
        away += f->room[i] * f->room[i] * f->weight[i] * f->weight[i];
    }
    if (!out->converged || !(sqrt(away) < 0.5 * fabs(length) + 1e-9)) return false;
    *has_tangent = take_tangent(f, to, f->here.tangent);
    return true;
}

// Where the tangent has no part along what is swept, between lengths 0 and `length`
static bool find_fold(Family *f, double length, double *at)
{
    double a = 0, b = length, fa = slope_of(f, &f->here), fb = slope_of(f, &f->next);
    Outcome out;
    for (int i = 0; i < 80 && fabs(b - a) > 1e-13 * length; i++) {
        bool has_tangent = false;
        double c = i % 3 == 2 ? (a + b) / 2 : a - fa * (b - a) / (fb - fa);
        if (!(c > a && c < b)) c = (a + b) / 2;
        if (!reach(f, c, &f->fold, &out, &has_tangent)) return false;
        const double slope = slope_of(f, &f->fold);
        *at = c;
        if (!has_tangent || slope == 0) return true; // another family comes in here
        if ((slope > 0) == (fa > 0))
            a = c, fa = slope;
        else
            b = c, fb = slope;
    }
    return reach(f, *at, &f->fold, &out, &(bool){false});
}

// Before each row and each step
static bool is_wanted(Family *f, double value)
{
    const tr_steady_options *o = f->told;
    if (!f->is_stopped && o->progress) f->is_stopped = !o->progress(o->owner, value, f->to);
    return !f->is_stopped;
}

// The row for a value of what is swept, which is s0 at length a and s1 at length b from `here`
static bool write_value(Family *f, double value, double a, double s0, double b, double s1,
                        tr_error *err)
{
    Outcome out = {0};
    bool has_tangent, found = false;
    for (int i = 0; i < 40 && !found; i++) {
        double c = i % 3 == 2 ? (a + b) / 2 : a + (value - s0) * (b - a) / (s1 - s0);
        if (!reach(f, c, &f->probe, &out, &has_tangent)) return false;
        const double s = swept_of(f, &f->probe);
        found = fabs(s - value) <= 1e-6 * fabs(f->step);
        if ((s < value) == (s0 < value))
            a = c, s0 = s;
        else
            b = c, s1 = s;
    }
    f->probe.u[f->p->unknowns] = value;
    out = tr_steady_solve(f->p, f->probe.u, NULL);
    if (!out.converged) return false;
    write_row(f, f->probe.u, out.residual, false, err);
    return true;
}

// Rows for all values of the range beyond s0, up to s1
static bool write_between(Family *f, double a, double s0, double b, double s1, tr_error *err)
{
    const double little = 1e-9 * fabs(f->step), way = s1 > s0 ? 1 : -1;
    const double first = (s0 - f->from) / f->step, last = (s1 - f->from) / f->step;
    const double most = (f->to - f->from) / f->step + 1e-9;
    const long from = lround(floor(fmin(first, last))), to = lround(ceil(fmax(first, last)));
    const bool up = last > first;
    for (long i = 0; i <= to - from && !has_failed(err); i++) {
        const long k = up ? from + i : to - i;
        const double value = f->from + (double)k * f->step;
        if (k < 0 || (double)k > most) continue;
        if ((value - s0) * way <= little || (value - s1) * way > little) continue;
        if (!is_wanted(f, value) || !write_value(f, value, a, s0, b, s1, err)) return false;
    }
    return !has_failed(err);
}

// What lies between `here` and `next`
static bool write_stretch(Family *f, double length, tr_error *err)
{
    const double s0 = swept_of(f, &f->here), s1 = swept_of(f, &f->next);
    double at = 0;
    if (slope_of(f, &f->here) * slope_of(f, &f->next) >= 0)
        return write_between(f, 0, s0, length, s1, err);
    if (!find_fold(f, length, &at)) return false;
    const double s = swept_of(f, &f->fold);
    const double low = fmin(f->from, f->to), high = fmax(f->from, f->to);
    if (!write_between(f, 0, s0, at, s, err)) return false;
    if (s >= low && s <= high) {
        if (f->summary->folds < TR_MOST_FOLDS) f->summary->fold[f->summary->folds] = s;
        f->summary->folds++;
        reach(f, at, &f->fold, &(Outcome){0}, &(bool){false});
        write_row(f, f->fold.u, 0, true, err);
    }
    return write_between(f, at, s, length, s1, err);
}

static bool begin(Family *f, const tr_steady_options *o, tr_error *err)
{
    Steady *p = f->p;
    tr_steady_guess(p, f->here.u);
    f->here.u[p->unknowns] = f->to;
    if (!tr_steady_within(p, f->here.u, err)) return false; // nobody waits for that
    f->here.u[p->unknowns] = f->from;
    const Outcome out = tr_steady_solve(p, f->here.u, NULL);
    if (!tr_steady_accept(p, f->here.u, &out, err)) return false;
    open_rows(f, o, err);
    write_row(f, f->here.u, out.residual, false, err);
    set_metric(f);
    memset(f->room, 0, size_of(f) * sizeof *f->room);
    f->room[p->unknowns] = f->step; // the way to go
    if (!take_tangent(f, &f->here, f->room))
        tr_fail(err, TR_FAILED, (Place){0},
                "several families meet at %.60s = %.6g: start beside it", p->swept, f->from);
    return !has_failed(err);
}

static bool is_inside(const Family *f, double s)
{
    return s >= fmin(f->from, f->to) && s <= fmax(f->from, f->to);
}

// On to the next point; false, with words, when there is none.
static bool go_on(Family *f, double *length, tr_error *err)
{
    Outcome out = {0};
    while (is_wanted(f, swept_of(f, &f->here))) {
        bool has_tangent = false;
        const double along = fabs(slope_of(f, &f->here));
        *length = fmin(*length, fmin(LONGEST, 2 * fabs(f->step) / fmax(along, 1e-9)));
        if (reach(f, *length, &f->next, &out, &has_tangent) && has_tangent &&
            dot(f, f->next.tangent, f->here.tangent) > 0.8 && write_stretch(f, *length, err))
            break;
        *length /= 2;
        if (!has_failed(err) && !f->is_stopped && *length < SHORTEST)
            tr_fail(err, TR_FAILED, (Place){0},
                    "the family of steady motions could be followed to %.60s = %.6g and not beyond",
                    f->p->swept, swept_of(f, &f->here));
        if (has_failed(err)) return false;
    }
    if (f->is_stopped) return false;
    const Point last = f->here;
    f->here = f->next, f->next = last;
    if (out.iterations <= 3) *length *= 1.5;
    return true;
}

static void follow(Family *f, tr_error *err)
{
    double length = fabs(f->step) / fmax(fabs(slope_of(f, &f->here)), 1e-9);
    for (int i = 0; i < MAX_POINTS && !has_failed(err); i++) {
        if (!go_on(f, &length, err) || !is_inside(f, swept_of(f, &f->here))) return;
        if (fabs(swept_of(f, &f->here) - f->to) < 1e-9 * fabs(f->step)) return;
        const double *before = f->here.tangent;
        set_metric(f);
        const double size = sqrt(dot(f, before, before));
        for (uint32_t k = 0; k < size_of(f); k++) f->here.tangent[k] /= size;
    }
}

// ---- the sweep -----------------------------------------------------------------------------

static bool make_room(Family *f)
{
    const size_t n = size_of(f);
    f->columns = 1 + f->p->flow->column_count + f->p->frees + 3;
    f->weight = calloc(10 * n, sizeof *f->weight);
    f->row = calloc(f->columns, sizeof *f->row);
    f->labels = calloc(f->columns, sizeof *f->labels);
    f->modes = calloc(f->p->states + 1u, sizeof *f->modes);
    if (!f->weight || !f->row || !f->labels || !f->modes) return false;
    double *at = f->weight + n;
    Point *const points[] = {&f->here, &f->next, &f->fold, &f->probe};
    for (int i = 0; i < 4; i++, at += 2 * n) *points[i] = (Point){at, at + n};
    f->room = at;
    return true;
}

bool tr_steady_sweep(const System *system, const tr_steady_options *options,
                     tr_family_summary *summary, tr_error *err)
{
    tr_error local = {0};
    tr_family_summary own = {0};
    if (!err) err = &local;
    if (!summary) summary = &own;
    *summary = own;
    tr_steady_options o = tr_steady_defaults();
    if (!system || !tr_take_options(&o, sizeof o, options, "tr_steady_defaults", err)) return false;
    if (!o.sweep) return tr_fail(err, TR_USAGE, (Place){0}, "nothing is swept"), false;
    if (o.form && strcmp(o.form, "json") != 0)
        return tr_fail(err, TR_USAGE, (Place){0}, "a family has no form '%.60s'", o.form), false;
    Family f = {.summary = summary, .told = &o};
    if (read_range(&f, o.sweep, err)) f.p = tr_steady_open(system, &o, err);
    if (f.p && !make_room(&f)) tr_fail_memory(err);
    if (f.p && !has_failed(err)) {
        name_columns(&f);
        if (begin(&f, &o, err)) follow(&f, err);
    }
    if (f.p) close_rows(&f, err);
    tr_steady_close(f.p);
    free(f.weight);
    free(f.row);
    free(f.labels);
    free(f.modes);
    return !has_failed(err) && !f.is_stopped;
}
