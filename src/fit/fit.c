// SPDX-License-Identifier: Apache-2.0
// Fits as others see them: from a model, or from a system that has the columns.
#include "fit/fit.h"

#include "base/options.h"

#include <math.h>
#include <stdlib.h>

void tr_fit_fill(tr_fit_options *options, size_t size)
{
    const tr_fit_options plain = {.from = (double)NAN, .to = (double)NAN, .most_iterations = 50};
    tr_give_options(options, size, &plain, sizeof plain);
}

// ---- a problem -----------------------------------------------------------------------------

static double *cut(double **numbers, size_t count)
{
    double *at = *numbers;
    *numbers += count;
    return at;
}

// All numbers of a search
static bool make_room(Fit *f, tr_error *err)
{
    const size_t n = f->count + 1u, columns = f->column_count, points = f->point_count;
    const size_t triangles = columns * n * n;
    double *at =
        calloc(2 * (n + points + triangles) + 8 * n * n + 11 * n + 2 * columns, sizeof *at);
    f->numbers = at;
    f->place = calloc(columns * n + 1, sizeof *f->place);
    f->untold = calloc(n, sizeof *f->untold);
    f->open = calloc(n, sizeof *f->open);
    f->held = calloc(n, sizeof *f->held);
    if (!at || !f->place || !f->untold || !f->open || !f->held) return tr_fail_memory(err), false;
    f->now = (Look){cut(&at, n), cut(&at, points), cut(&at, triangles)};
    f->trial = (Look){cut(&at, n), cut(&at, points), cut(&at, triangles)};
    f->sum = cut(&at, n * n), f->room = cut(&at, n * n);
    f->U = cut(&at, n * n), f->Vt = cut(&at, n * n);
    f->covariance = cut(&at, n * n), f->untold_changes = cut(&at, n * n);
    f->norm = cut(&at, n), f->sigma = cut(&at, n), f->along = cut(&at, n), f->step = cut(&at, n);
    f->least = cut(&at, n), f->most = cut(&at, n), f->before = cut(&at, n);
    f->size = cut(&at, columns), f->trial_sd = cut(&at, columns);
    return true;
}

static void tell(Fit *f)
{
    f->told = (tr_fit){.count = f->count,
                       .values = f->values,
                       .covariance = f->covariance,
                       .column_count = f->column_count,
                       .point_count = f->point_count,
                       .recording_count = f->options->data_count,
                       .columns = f->columns,
                       .points = f->points,
                       .untold = f->untold,
                       .untold_changes = f->untold_changes,
                       .held = f->held};
}

Fit *tr_fit_open(System *system, const tr_fit_options *options, tr_error *err)
{
    Fit *f = system ? calloc(1, sizeof *f) : NULL;
    if (system && !f) tr_fail_memory(err);
    if (!f) return tr_system_free(system), NULL;
    f->system = system, f->options = options;
    if (tr_fit_choose(f, err) && tr_fit_read(f, err) && make_room(f, err) && tr_fit_bound(f, err) &&
        tr_fit_open_run(f, err)) {
        tell(f);
        return f;
    }
    tr_fit_close(f);
    return NULL;
}

void tr_fit_close(Fit *f)
{
    if (!f) return;
    tr_run_free(f->run);
    tr_plan_free(f->plan);
    tr_system_free(f->system);
    tr_arena_free(&f->arena);
    free(f->values);
    free(f->input);
    free(f->columns);
    free(f->labels);
    free(f->place);
    free(f->points);
    free(f->untold);
    free(f->open);
    free(f->held);
    free(f->numbers);
    free(f);
}

// ---- from a model --------------------------------------------------------------------------

// A mistake in the formula of a match, of which derive says which line below 0 it is in
static void blame_match(const tr_fit_options *o, size_t others, const tr_error *own, tr_error *err)
{
    const size_t line = own->line < 0 ? (size_t)-own->line : 0;
    if (line > others && line - others <= o->match_count)
        tr_fail(err, TR_USAGE, (Place){0}, "--match %.150s: %s", o->matches[line - others - 1],
                own->text);
    else
        tr_fail_again(err, own, "%s", own->text);
}

// The outputs of the caller, and one for each match
static System *derive_with(const tr_model *model, tr_derive_options *how, tr_setting *outputs,
                           const tr_fit_options *o, tr_error *err)
{
    char(*names)[FIT_NAME_SIZE] = calloc(o->match_count + 1, sizeof *names);
    tr_error own = {0};
    System *system = NULL;
    const size_t others = how->output_count;
    if (!names) return tr_fail_memory(err), NULL;
    if (others) memcpy(outputs, how->outputs, others * sizeof *outputs);
    for (size_t k = 0; k < o->match_count && !has_failed(err); k++) {
        Text name, formula;
        tr_fit_output_name(k, names[k]);
        if (tr_fit_pair(o->matches[k], "--match", "COLUMN=FORMULA", &name, &formula, err))
            outputs[others + k] = (tr_setting){names[k], formula.at};
    }
    how->outputs = outputs, how->output_count = others + o->match_count;
    if (!has_failed(err)) system = tr_derive(model, how, &own);
    if (own.status) blame_match(o, how->setting_count + others, &own, err);
    free(names);
    return system;
}

static System *derive(const tr_model *model, const tr_derive_options *given,
                      const tr_fit_options *o, tr_error *err)
{
    tr_derive_options how = tr_derive_defaults();
    if (!tr_take_options(&how, sizeof how, given, "tr_derive_defaults", err)) return NULL;
    tr_setting *outputs = calloc(how.output_count + o->match_count + 1, sizeof *outputs);
    if (!outputs) return tr_fail_memory(err), NULL;
    System *system = derive_with(model, &how, outputs, o, err);
    free(outputs);
    return system;
}

static bool check_options(const tr_fit_options *o, tr_error *err)
{
    const Place nowhere = {0};
    if (!o->data_count)
        tr_fail(err, TR_USAGE, nowhere, "what was recorded? --data names a .csv file");
    else if (!o->free)
        tr_fail(err, TR_USAGE, nowhere,
                "what is to be found? --free names parameters, inputs and initial values");
    else if (o->from > o->to)
        tr_fail(err, TR_USAGE, nowhere, "no time is from %.9g to %.9g", o->from, o->to);
    return !has_failed(err);
}

const tr_fit *tr_fit_find(const tr_model *model, const tr_derive_options *given,
                          const tr_fit_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_fit_options o = tr_fit_defaults();
    if (!model || !tr_take_options(&o, sizeof o, options, "tr_fit_defaults", err) ||
        !check_options(&o, err))
        return NULL;
    System *system = derive(model, given, &o, err);
    Fit *f = tr_fit_open(system, &o, err);
    if (f && tr_fit_search(f, err)) {
        f->options = NULL; // they are the caller's
        return &f->told;
    }
    tr_fit_close(f);
    return NULL;
}

void tr_fit_free(const tr_fit *fit)
{
    tr_fit_close((Fit *)(void *)(uintptr_t)fit); // what is told stands first
}
