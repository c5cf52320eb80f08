// SPDX-License-Identifier: Apache-2.0
// Runs that are steady motions, and the eigenvalues of what is beside them.
#include "base/error.h"
#include "steady/steady.h"
#include "sweep/variant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A steady motion that was found
typedef struct Found {
    Steady *p;
    double *u;
    Outcome outcome;
    double (*modes)[2];
    uint32_t mode_count;
    double stability;
} Found;

static tr_steady_options options_of(const Sweep *s, bool trims)
{
    tr_steady_options o = tr_steady_defaults();
    o.trim = trims, o.free = s->options->free, o.holds = s->options->holds,
    o.hold_count = s->options->hold_count;
    return o;
}

static void close_found(Found *f)
{
    tr_steady_close(f->p);
    free(f->u);
    free(f->modes);
}

static bool find(const Sweep *s, System *system, bool trims, Found *f, tr_error *err)
{
    const tr_steady_options o = options_of(s, trims);
    f->p = tr_steady_open(system, &o, err);
    if (!f->p) return false;
    f->u = calloc(f->p->unknowns + 1u, sizeof *f->u);
    f->modes = calloc(f->p->states + 1u, sizeof *f->modes);
    if (!f->u || !f->modes) return tr_fail_memory(err), false;
    tr_steady_guess(f->p, f->u);
    f->outcome = trims ? tr_steady_trim(f->p, f->u) : tr_steady_solve(f->p, f->u, NULL);
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

static bool take_steady(const Sweep *s, System *system, double *row, tr_error *err)
{
    Found f = {0};
    bool good = find(s, system, false, &f, err);
    if (good && count_columns(&f) != s->row_count) {
        tr_fail(err, TR_FAILED, (Place){0}, "it has other columns than the model as it stands");
        good = false;
    }
    if (good) {
        tr_steady_columns(f.p, f.u, row);
        row += f.p->flow->column_count;
        for (uint32_t i = 0; i < f.p->frees; i++) *row++ = free_value(&f, i);
        row[0] = f.stability, row[1] = f.outcome.residual;
    }
    close_found(&f);
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
    close_found(&f);
    return good;
}

void *tr_finding_open(const Sweep *s, tr_error *err)
{
    (void)err;
    return (void *)s;
}

void tr_finding_close(void *worker) { (void)worker; }

bool tr_finding_work(void *worker, Block *b, tr_error *err)
{
    return tr_variants_work(worker, b, take_steady, err);
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

static bool take_modes(const Sweep *s, System *system, double *row, tr_error *err)
{
    Found f = {0};
    const uint32_t modes = (s->row_count - 1) / 2;
    bool good = find(s, system, true, &f, err);
    if (good && f.mode_count != modes) {
        tr_fail(err, TR_FAILED, (Place){0}, "it has %u eigenvalues, and not %u", f.mode_count,
                modes);
        good = false;
    }
    if (good) sort_modes(&f), row[0] = f.stability;
    for (uint32_t i = 0; good && i < modes; i++)
        row[1 + 2 * i] = f.modes[i][0], row[2 + 2 * i] = f.modes[i][1];
    close_found(&f);
    return good;
}

// As many as the first run has
bool tr_linearising_prepare(Sweep *s, tr_error *err)
{
    Found f = {0};
    char name[2][20];
    double *values = calloc(s->design.count + 1u, sizeof *values);
    if (!values) return tr_fail_memory(err), false;
    tr_design_take(&s->design, 0, values);
    System *system = tr_variant_derive(s, values, err);
    free(values);
    s->method = "", s->block_size = 1;
    bool good = system && find(s, system, true, &f, err) &&
                tr_sweep_rows(s, 1 + 2 * f.mode_count, err) &&
                name_row(s, 0, "stability", "1/s", err);
    for (uint32_t i = 0; good && i < f.mode_count; i++) {
        snprintf(name[0], sizeof name[0], "re%u", i + 1);
        snprintf(name[1], sizeof name[1], "im%u", i + 1);
        good = name_row(s, 1 + 2 * i, name[0], "1/s", err) &&
               name_row(s, 2 + 2 * i, name[1], "rad/s", err);
    }
    close_found(&f);
    tr_system_free(system);
    return good;
}

bool tr_linearising_work(void *worker, Block *b, tr_error *err)
{
    return tr_variants_work(worker, b, take_modes, err);
}
