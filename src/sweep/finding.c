// SPDX-License-Identifier: Apache-2.0
// Runs that are steady motions, and the eigenvalues of what is beside them: by the equations of the
// model as it stands, or of one of its own where these are others.
#include "base/error.h"
#include "plan/start.h"
#include "steady/steady.h"
#include "sweep/variant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A steady motion that was found
typedef struct Found {
    Steady *p;
    System *system; // of its own, with the equations; or NULL
    double *u;
    Outcome outcome;
    double (*modes)[2];
    uint32_t mode_count;
    double stability;
} Found;

// What a worker has: the equations of the model as it stands, which hold for most runs
typedef struct Finder {
    const Sweep *sweep;
    bool trims;
    System *system;
    Steady *steady; // NULL: each run has equations of its own
    double *values; // of all inputs
    bool *is_set;
} Finder;

static tr_steady_options options_of(const Sweep *s, bool trims)
{
    tr_steady_options o = tr_steady_defaults();
    o.trim = trims, o.free = s->options->free, o.holds = s->options->holds,
    o.hold_count = s->options->hold_count;
    return o;
}

// ---- workers --------------------------------------------------------------------------------

void tr_finding_close(void *worker)
{
    Finder *w = worker;
    if (!w) return;
    tr_steady_close(w->steady);
    tr_system_free(w->system);
    free(w->values);
    free(w->is_set);
    free(w);
}

// Numbers of the start are part of the equations, where what is held says so.
static bool varies_start(const Sweep *s)
{
    for (uint32_t i = 0; i < s->design.count; i++)
        if (s->system->inputs[s->design.varied[i].input].kind == TR_START) return true;
    return false;
}

// The model as it stands need not even have a start.
static void open_equations(Finder *w, tr_error *err)
{
    tr_error own = {0};
    const tr_steady_options o = options_of(w->sweep, w->trims);
    if (has_failed(err) || varies_start(w->sweep)) return;
    w->steady = tr_steady_open(w->system, &o, &own);
    if (own.status == TR_NO_MEMORY) tr_fail_memory(err);
}

static void *open_finder(const Sweep *s, bool trims, tr_error *err)
{
    Finder *w = calloc(1, sizeof *w);
    if (!w) return tr_fail_memory(err), NULL;
    *w = (Finder){.sweep = s, .trims = trims, .system = tr_derive(s->model, s->derive, err)};
    w->values = calloc(s->system->input_count + 1u, sizeof *w->values);
    w->is_set = calloc(s->system->input_count + 1u, sizeof *w->is_set);
    if (!w->values || !w->is_set) tr_fail_memory(err);
    open_equations(w, err);
    if (!has_failed(err)) return w;
    tr_finding_close(w);
    return NULL;
}

void *tr_finding_open(const Sweep *s, tr_error *err) { return open_finder(s, false, err); }

void *tr_linearising_open(const Sweep *s, tr_error *err) { return open_finder(s, true, err); }

// ---- finding --------------------------------------------------------------------------------

static void close_found(const Finder *w, Found *f)
{
    if (f->p != w->steady) tr_steady_close(f->p);
    tr_system_free(f->system);
    free(f->u);
    free(f->modes);
}

// Whether the equations hold for what a run has, which this alone decides.
static bool stands(Finder *w, const double *values, tr_error *err)
{
    tr_error own = {0};
    const Design *d = &w->sweep->design;
    if (!w->steady) return false;
    Plan *plan = w->steady->plan;
    tr_start_values(w->system, w->values);
    memset(w->is_set, 0, w->system->input_count * sizeof *w->is_set);
    for (uint32_t i = 0; i < d->count; i++) {
        w->values[d->varied[i].input] = values[i];
        w->is_set[d->varied[i].input] = true;
    }
    const bool good = tr_plan_follow(plan, w->is_set, w->values, &own) &&
                      tr_plan_permits(plan, w->values, &own) &&
                      tr_steady_restart(w->steady, w->values, &own);
    if (own.status == TR_NO_MEMORY) tr_fail_memory(err);
    return good;
}

static bool open_found(Finder *w, const double *values, Found *f, tr_error *err)
{
    const tr_steady_options o = options_of(w->sweep, w->trims);
    if (stands(w, values, err)) f->p = w->steady;
    if (f->p || has_failed(err)) return !has_failed(err);
    f->system = tr_variant_derive(w->sweep, values, err);
    f->p = f->system ? tr_steady_open(f->system, &o, err) : NULL;
    return f->p != NULL;
}

static bool find(Finder *w, const double *values, Found *f, tr_error *err)
{
    if (!open_found(w, values, f, err)) return false;
    f->u = calloc(f->p->unknowns + 1u, sizeof *f->u);
    f->modes = calloc(f->p->states + 1u, sizeof *f->modes);
    if (!f->u || !f->modes) return tr_fail_memory(err), false;
    tr_steady_guess(f->p, f->u);
    f->outcome = w->trims ? tr_steady_trim(f->p, f->u) : tr_steady_solve(f->p, f->u, NULL);
    if (!tr_steady_accept(f->p, f->u, &f->outcome, err)) return false;
    if (!tr_steady_eigenvalues(f->p, f->u, f->modes, &f->mode_count, &f->stability))
        tr_fail(err, TR_FAILED, (Place){0}, "the eigenvalues cannot be found");
    return !has_failed(err);
}

static double free_value(const Found *f, uint32_t i)
{
    return f->u[f->p->states + f->p->generators + i];
}

// ---- steady motions -------------------------------------------------------------------------

// Columns of a flow, what was free, stability, residual
static uint32_t count_columns(const Found *f) { return f->p->flow->column_count + f->p->frees + 2; }

static bool take_steady(void *worker, const double *values, double *row, tr_error *err)
{
    Found f = {0};
    Finder *w = worker;
    bool good = find(w, values, &f, err);
    if (good && count_columns(&f) != w->sweep->row_count) {
        tr_fail(err, TR_FAILED, (Place){0}, "it has other columns than the model as it stands");
        good = false;
    }
    if (good) {
        tr_steady_columns(f.p, f.u, row);
        row += f.p->flow->column_count;
        for (uint32_t i = 0; i < f.p->frees; i++) *row++ = free_value(&f, i);
        row[0] = f.stability, row[1] = f.outcome.residual;
    }
    close_found(w, &f);
    return good;
}

static bool name_row(Sweep *s, uint32_t i, const char *name, const char *unit, tr_error *err)
{
    s->row_names[i] = tr_arena_text(&s->arena, name, strlen(name)), s->row_units[i] = unit;
    if (!s->row_names[i]) tr_fail_memory(err);
    return !has_failed(err);
}

// The model as it stands need not have a steady motion: its columns are those of others, too.
bool tr_finding_prepare(Sweep *s, tr_error *err)
{
    const tr_steady_options o = options_of(s, false);
    Found f = {.p = tr_steady_open(s->system, &o, err)};
    const Steady *p = f.p;
    s->method = "", s->block_size = 1;
    bool good = p && tr_sweep_rows(s, count_columns(&f), err);
    uint32_t k = 0;
    for (uint32_t i = 0; good && i < p->flow->column_count; i++)
        good = name_row(s, k++, p->flow->labels[i], "", err);
    for (uint32_t i = 0; good && i < p->frees; i++)
        good = name_row(s, k++, tr_steady_name(p, p->states + p->generators + i), "", err);
    good =
        good && name_row(s, k, "stability", "1/s", err) && name_row(s, k + 1, "residual", "", err);
    tr_steady_close(f.p);
    return good;
}

bool tr_finding_work(void *worker, Block *b, tr_error *err)
{
    const Finder *w = worker;
    return tr_variants_work(w->sweep, b, take_steady, worker, err);
}

// ---- eigenvalues ----------------------------------------------------------------------------

#define NEUTRAL 1e-9 // against the largest

// Those that lead to other steady motions are zero, and come last.
static void sort_modes(Found *f)
{
    double largest = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->mode_count; i++)
        largest = fmax(largest, hypot(f->modes[i][0], f->modes[i][1]));
    for (uint32_t i = 0; i < f->mode_count; i++) {
        if (!(hypot(f->modes[i][0], f->modes[i][1]) > NEUTRAL * largest)) continue;
        f->modes[count][0] = f->modes[i][0], f->modes[count++][1] = f->modes[i][1];
    }
    for (; count < f->mode_count; count++) f->modes[count][0] = f->modes[count][1] = 0;
}

static bool take_modes(void *worker, const double *values, double *row, tr_error *err)
{
    Found f = {0};
    Finder *w = worker;
    const uint32_t modes = (w->sweep->row_count - 1) / 2;
    bool good = find(w, values, &f, err);
    if (good && f.mode_count != modes) {
        tr_fail(err, TR_FAILED, (Place){0}, "it has %u eigenvalues, and not %u", f.mode_count,
                modes);
        good = false;
    }
    if (good) sort_modes(&f), row[0] = f.stability;
    for (uint32_t i = 0; good && i < modes; i++)
        row[1 + 2 * i] = f.modes[i][0], row[2 + 2 * i] = f.modes[i][1];
    close_found(w, &f);
    return good;
}

static bool name_modes(Sweep *s, uint32_t count, tr_error *err)
{
    char name[2][20];
    bool good = tr_sweep_rows(s, 1 + 2 * count, err) && name_row(s, 0, "stability", "1/s", err);
    for (uint32_t i = 0; good && i < count; i++) {
        snprintf(name[0], sizeof name[0], "re%u", i + 1);
        snprintf(name[1], sizeof name[1], "im%u", i + 1);
        good = name_row(s, 1 + 2 * i, name[0], "1/s", err) &&
               name_row(s, 2 + 2 * i, name[1], "rad/s", err);
    }
    return good;
}

// As many as the first run has
bool tr_linearising_prepare(Sweep *s, tr_error *err)
{
    Found f = {0};
    s->method = "", s->block_size = 1;
    double *values = calloc(s->design.count + 1u, sizeof *values);
    if (!values) return tr_fail_memory(err), false;
    tr_design_take(&s->design, 0, values);
    Finder *w = tr_linearising_open(s, err);
    const bool good = w && find(w, values, &f, err) && name_modes(s, f.mode_count, err);
    if (w) close_found(w, &f);
    tr_finding_close(w);
    free(values);
    return good;
}

bool tr_linearising_work(void *worker, Block *b, tr_error *err)
{
    const Finder *w = worker;
    return tr_variants_work(w->sweep, b, take_modes, worker, err);
}
