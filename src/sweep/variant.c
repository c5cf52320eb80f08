// SPDX-License-Identifier: Apache-2.0
#include "sweep/variant.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

// ---- a system of its own --------------------------------------------------------------------

typedef struct Variant {
    tr_setting *settings;
    char (*numbers)[TR_NUMBER_SIZE];
    const char **with, **texts;
    Buffer start; // numbers of the start, as keys of a case
} Variant;

// "initial.d(roll)" is the key d(roll) of `initial`.
static void add_start(Buffer *text, const char *section, const Sweep *s,
                      char (*numbers)[TR_NUMBER_SIZE])
{
    bool any = false;
    const size_t length = strlen(section);
    for (uint32_t i = 0; i < s->design.count; i++) {
        const Varied *v = &s->design.varied[i];
        if (s->system->inputs[v->input].kind != TR_START || !begins_with(v->name, section))
            continue;
        if (!any) tr_buffer_print(text, "%.*s:\n", (int)length - 1, section);
        tr_buffer_print(text, "  \"%s\": %s\n", v->name + length, numbers[i]);
        any = true;
    }
}

static void fill(const Sweep *s, const double *values, Variant *v, tr_derive_options *how)
{
    const tr_derive_options given = *how;
    for (size_t i = 0; i < how->setting_count; i++) v->settings[i] = given.settings[i];
    for (uint32_t i = 0; i < s->design.count; i++) {
        tr_number_print(values[i], v->numbers[i]);
        if (s->system->inputs[s->design.varied[i].input].kind != TR_START)
            v->settings[how->setting_count++] =
                (tr_setting){s->design.varied[i].name, v->numbers[i]};
    }
    for (size_t i = 0; i < how->with_count; i++) {
        v->with[i] = given.with[i];
        v->texts[i] = given.with_texts ? given.with_texts[i] : NULL;
    }
    add_start(&v->start, "initial.", s, v->numbers);
    add_start(&v->start, "guess.", s, v->numbers);
    if (v->start.length)
        v->with[how->with_count] = "--vary", v->texts[how->with_count++] = v->start.at;
    how->settings = v->settings, how->with = v->with, how->with_texts = v->texts;
}

System *tr_variant_derive(const Sweep *s, const double *values, tr_error *err)
{
    tr_derive_options how = tr_derive_defaults();
    if (s->derive) how = *s->derive;
    Variant v = {.settings = calloc(how.setting_count + s->design.count + 1, sizeof *v.settings),
                 .numbers = calloc(s->design.count + 1u, sizeof *v.numbers),
                 .with = calloc(how.with_count + 1, sizeof *v.with),
                 .texts = calloc(how.with_count + 1, sizeof *v.texts)};
    System *system = NULL;
    if (v.settings && v.numbers && v.with && v.texts)
        fill(s, values, &v, &how);
    else
        tr_fail_memory(err);
    if (v.start.failed) tr_fail_memory(err);
    if (!has_failed(err)) system = tr_derive(s->model, &how, err);
    tr_buffer_free(&v.start);
    free(v.settings);
    free(v.numbers);
    free(v.with);
    free(v.texts);
    return system;
}

// ---- runs of one row ------------------------------------------------------------------------

static bool take_run(const Sweep *s, Block *b, uint32_t i, TakeRow *take, void *worker, double *row,
                     double *tally, double *formulas, tr_error *err)
{
    double *values = block_values(s, b, i);
    const bool good = take(worker, values, row, err);
    tr_keep_begin(&s->keep, tally);
    if (!good) return false;
    memcpy(row + s->row_count, values, s->design.count * sizeof *row);
    tr_workspace *work = s->keep.program ? tr_workspace_new(s->keep.program, err) : NULL;
    if (work) tr_evaluate(s->keep.program, work, row, formulas);
    tr_workspace_free(work);
    if (has_failed(err)) return false;
    b->is_stopped[i] = tr_keep_add(&s->keep, tally, 0, formulas);
    tr_keep_end(&s->keep, tally, values + kept_at(s));
    values[figures_at(s) + FIGURE_ROWS] = 1;
    return tr_block_keep(s, b, i, row, err);
}

bool tr_variants_work(const Sweep *s, Block *b, TakeRow *take, void *worker, tr_error *err)
{
    const size_t tally = tr_keep_size(&s->keep);
    double *row = calloc(s->keep.inputs + tally + s->keep.formulas + 1, sizeof *row);
    if (!row) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < b->count && !has_failed(err) && !s->stops; i++) {
        tr_error why = {0};
        const double started = seconds_now();
        take_run(s, b, i, take, worker, row, row + s->keep.inputs, row + s->keep.inputs + tally,
                 &why);
        b->seconds[i] = seconds_now() - started;
        if (why.status == TR_NO_MEMORY) tr_fail_memory(err);
        if (why.status) tr_block_fail(b, i, &why);
    }
    free(row);
    return !has_failed(err) && !s->stops;
}
