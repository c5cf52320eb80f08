// SPDX-License-Identifier: Apache-2.0
// A sweep in tests, and what came of it: by run, and by the names of columns.
#ifndef TR_TESTS_SWEEPS_H
#define TR_TESTS_SWEEPS_H

#include "runs.h"
#include "sweep/sweep.h"

typedef struct Found {
    size_t runs, columns, count;
    const char *names[100];
    double *values; // by run
    char (*words)[200];
    bool *is_stopped, *is_there;
    double **rows; // of those that are recorded
    size_t *row_count, row_columns, roll_at;
} Found;

static inline bool begin_found(void *owner, size_t runs, const char *const *names,
                               const char *const *units, size_t count, tr_error *err)
{
    Found *f = owner;
    (void)units, (void)err;
    assert_true(count <= 100);
    *f = (Found){.runs = runs, .columns = count};
    for (size_t i = 0; i < count; i++) f->names[i] = strdup(names[i]);
    f->values = calloc(runs * count, sizeof *f->values);
    f->words = calloc(runs, sizeof *f->words);
    f->is_stopped = calloc(runs, 1), f->is_there = calloc(runs, 1);
    f->rows = calloc(runs, sizeof *f->rows), f->row_count = calloc(runs, sizeof *f->row_count);
    return true;
}

static inline bool add_found(void *owner, const tr_sweep_run *run, tr_error *err)
{
    Found *f = owner;
    (void)err;
    assert_true(run->number < f->runs && !f->is_there[run->number]);
    f->is_there[run->number] = true, f->count++;
    f->is_stopped[run->number] = run->is_stopped;
    memcpy(f->values + run->number * f->columns, run->values, f->columns * sizeof(double));
    snprintf(f->words[run->number], 200, "%s", run->words);
    assert_true((run->status != TR_OK) == (run->words[0] != 0));
    if (!run->rows) return true;
    const size_t bytes = run->row_count * run->row_columns * sizeof *run->rows;
    f->rows[run->number] = malloc(bytes + 1), f->row_count[run->number] = run->row_count;
    memcpy(f->rows[run->number], run->rows, bytes);
    f->row_columns = run->row_columns;
    for (size_t i = 0; i < run->row_columns; i++) {
        if (strcmp(run->row_names[i], "roll") == 0) f->roll_at = i;
        assert_non_null(run->row_units[i]);
    }
    return true;
}

static inline void free_found(Found *f)
{
    for (size_t i = 0; i < f->columns; i++) free((char *)f->names[i]);
    for (size_t i = 0; i < f->runs; i++) free(f->rows[i]);
    free(f->values), free(f->words), free(f->is_stopped), free(f->is_there);
    free(f->rows), free(f->row_count);
}

static inline size_t place_of(const Found *f, const char *name)
{
    for (size_t i = 0; i < f->columns; i++)
        if (strcmp(f->names[i], name) == 0) return i;
    fail_msg("there is no column %s", name);
    return 0;
}

static inline double value(const Found *f, size_t run, const char *name)
{
    return f->values[run * f->columns + place_of(f, name)];
}

// Those of one shard
static inline Found sweep_part(const char *model, const char *case_name, tr_sweep_options *o)
{
    Found f = {0};
    tr_error err = {0};
    const tr_sweep_sink sink = {begin_found, add_found, &f};
    tr_model *m = tr_model_read(model, &err);
    tr_derive_options how = tr_derive_defaults();
    how.case_name = case_name;
    o->sinks = &sink, o->sink_count = 1;
    if (!tr_sweep(m, &how, o, NULL, &err)) fail_msg("%s", err.text);
    tr_model_free(m);
    return f;
}

static inline Found sweep(const char *model, const char *case_name, tr_sweep_options *o)
{
    const Found f = sweep_part(model, case_name, o);
    assert_int_equal(f.count, f.runs);
    return f;
}

#endif
