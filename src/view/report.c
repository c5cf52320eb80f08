// SPDX-License-Identifier: Apache-2.0
// A sink that keeps the rows of a run in memory, for a report of it.
#include "view/view.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct tr_report {
    tr_sink sink;
    Arena arena; // names
    const char **names;
    size_t columns, rows;
    double *values; // row by row
    size_t capacity;
    char *certificate;
};

// ---- the sink ------------------------------------------------------------------------------

static void forget(tr_report *r)
{
    tr_arena_free(&r->arena);
    free(r->values);
    free(r->certificate);
    r->arena = (Arena){0};
    r->values = NULL, r->certificate = NULL;
    r->rows = r->capacity = 0;
}

static bool begin_report(void *owner, const char *const *names, const char *const *units,
                         size_t count, tr_error *err)
{
    tr_report *r = owner;
    (void)units;
    forget(r);
    r->columns = count;
    r->names = tr_arena_alloc(&r->arena, count + 1, sizeof *r->names);
    for (size_t i = 0; r->names && i < count; i++) {
        r->names[i] = tr_arena_text(&r->arena, names[i], strlen(names[i]));
        if (!r->names[i]) r->names = NULL;
    }
    if (!r->names) tr_fail_memory(err);
    return !has_failed(err);
}

static bool keep_row(void *owner, const double *row, tr_error *err)
{
    tr_report *r = owner;
    if (r->rows == r->capacity) {
        const size_t more = r->capacity + r->capacity / 2 + 100;
        double *grown = realloc(r->values, more * r->columns * sizeof *grown);
        if (!grown) return tr_fail_memory(err), false;
        r->values = grown, r->capacity = more;
    }
    memcpy(r->values + r->rows++ * r->columns, row, r->columns * sizeof *row);
    return true;
}

static bool keep_certificate(void *owner, const char *certificate, tr_error *err)
{
    tr_report *r = owner;
    r->certificate = strdup(certificate);
    if (!r->certificate) tr_fail_memory(err);
    return !has_failed(err);
}

tr_report *tr_report_new(tr_error *err)
{
    if (has_failed(err)) return NULL;
    tr_report *r = calloc(1, sizeof *r);
    if (!r) return tr_fail_memory(err), NULL;
    r->sink = (tr_sink){begin_report, keep_row, keep_certificate, r};
    return r;
}

const tr_sink *tr_report_sink(const tr_report *report) { return report ? &report->sink : NULL; }

void tr_report_free(tr_report *report)
{
    if (!report) return;
    forget(report);
    free(report);
}

// ---- the report ----------------------------------------------------------------------------

bool tr_report_write(const tr_report *r, const System *system, const tr_view_options *options,
                     tr_view_summary *summary, tr_error *err)
{
    tr_error local = {0};
    tr_view_summary unused;
    tr_view_options o;
    if (!err) err = &local;
    if (!summary) summary = &unused;
    *summary = (tr_view_summary){0};
    if (!r || !system || !tr_view_take(&o, options, err)) return false;
    Sheet run = {.names = r->names, .columns = r->columns, .rows = r->rows};
    run.values = calloc(r->rows * r->columns + 1, sizeof *run.values);
    if (!run.values) return tr_fail_memory(err), false;
    for (size_t i = 0; i < r->rows; i++)
        for (size_t k = 0; k < r->columns; k++)
            run.values[k * r->rows + i] = r->values[i * r->columns + k];
    const Text certificate = text_of(r->certificate ? r->certificate : "");
    const Report report = {
        .system = system, .run = &run, .certificate = certificate, .equations = o.equations};
    tr_view_write(&report, 1, &o, summary, err);
    free(run.values);
    return !has_failed(err);
}
