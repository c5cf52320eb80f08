// SPDX-License-Identifier: Apache-2.0
// Results in a database, with three tables: `runs`, a row each; `rows`, what some of them recorded;
// and `settings`, what it was all made with. What is committed stays, whatever happens; a file that
// is there is gone on with, if its settings are the same.
#include "base/claim.h"
#include "base/database.h"
#include "base/error.h"
#include "sim/swept.h"
#include "sweep/settings.h"
#include "sweep/store.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };

typedef struct RunsDatabase {
    Store store;
    Database *file;
    Claim *claim;
    Query *add_run, *add_row;
    bool is_open; // what was added is not committed yet
} RunsDatabase;

// ---- tables ---------------------------------------------------------------------------------

static void add_columns(Buffer *text, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        tr_buffer_print(text, ", ");
        tr_database_name(text, names[i]);
        tr_buffer_print(text, " REAL");
    }
}

static bool do_buffer(Database *file, Buffer *text, tr_error *err)
{
    if (text->failed) tr_fail_memory(err);
    const bool good = !has_failed(err) && tr_database_do(file, text->at, err);
    tr_buffer_free(text);
    return good;
}

static bool write_settings(const RunsDatabase *r, const SweepSettings *settings, tr_error *err)
{
    Query *add = tr_query_new(r->file, "INSERT INTO settings VALUES (?, ?)", err);
    for (uint32_t i = 0; i < settings->count && !has_failed(err); i++) {
        tr_query_put_text(add, 1, settings->at[i].name);
        tr_query_put_text(add, 2, settings->at[i].value);
        tr_query_step(add, err);
    }
    tr_query_free(add);
    return !has_failed(err);
}

// Where nothing is recorded a model may have more columns than a table can.
static uint32_t recorded_columns(const Sweep *s) { return s->options->record ? s->row_count : 0; }

static bool make_tables(const RunsDatabase *r, const SweepSettings *settings, tr_error *err)
{
    const Sweep *s = r->store.sweep;
    Buffer text = {0};
    tr_buffer_print(&text, "BEGIN IMMEDIATE; CREATE TABLE settings "
                           "(name TEXT PRIMARY KEY, value TEXT); CREATE TABLE runs "
                           "(run INTEGER PRIMARY KEY");
    add_columns(&text, s->names, s->column_count);
    tr_buffer_print(&text, ", seconds REAL, status TEXT, words TEXT); CREATE TABLE rows "
                           "(run INTEGER, \"row\" INTEGER");
    add_columns(&text, s->row_names, recorded_columns(s));
    tr_buffer_print(&text, ", PRIMARY KEY (run, \"row\")) WITHOUT ROWID");
    return do_buffer(r->file, &text, err) && write_settings(r, settings, err) &&
           tr_database_do(r->file, "COMMIT", err);
}

// ---- what is there --------------------------------------------------------------------------

static uint64_t count(const RunsDatabase *r, const char *command, tr_error *err)
{
    Query *q = tr_query_new(r->file, command, err);
    const uint64_t number = tr_query_step(q, err) ? tr_query_count(q, 0) : 0;
    tr_query_free(q);
    return number;
}

static void refuse(const Sweep *s, const SweepSetting *setting, const char *was, tr_error *err)
{
    const char *path = s->options->output;
    if (strcmp(setting->name, "model") == 0)
        tr_fail(err, TR_USAGE, (Place){0},
                "'%.150s' was begun with another model, or the model has changed since: give "
                "another file, or the model as it was",
                path);
    else
        tr_fail(err, TR_USAGE, (Place){0},
                "'%.150s' was begun with another %s, '%.80s' and not '%.80s': give another file, "
                "or go on as it was begun",
                path, setting_words(setting->name), was, setting->value);
}

static bool check_settings(const RunsDatabase *r, const SweepSettings *settings, tr_error *err)
{
    Query *q = tr_query_new(r->file, "SELECT value FROM settings WHERE name = ?", err);
    for (uint32_t i = 0; i < settings->count && !has_failed(err); i++) {
        const SweepSetting *setting = &settings->at[i];
        if (setting->is_told_alone) continue;
        tr_query_restart(q);
        tr_query_put_text(q, 1, setting->name);
        const char *was = tr_query_step(q, err) ? tr_query_text(q, 0) : "";
        if (!has_failed(err) && !tr_sweep_setting_is(setting, was, err))
            refuse(r->store.sweep, setting, was, err);
    }
    tr_query_free(q);
    return !has_failed(err);
}

static bool find_done(RunsDatabase *r, tr_error *err)
{
    Store *store = &r->store;
    const uint64_t runs = store->sweep->design.runs;
    store->is_done = calloc(runs / 8 + 1, 1);
    if (!store->is_done) return tr_fail_memory(err), false;
    Query *q = tr_query_new(r->file, "SELECT run, status = 'failed' FROM runs", err);
    while (tr_query_step(q, err)) {
        const uint64_t run = tr_query_count(q, 0);
        if (run >= runs) continue;
        store->is_done[run / 8] |= (uint8_t)(1u << run % 8);
        store->done++, store->failed += tr_query_count(q, 1) != 0;
    }
    tr_query_free(q);
    return !has_failed(err);
}

static bool take_up(RunsDatabase *r, tr_error *err)
{
    const Sweep *s = r->store.sweep;
    SweepSettings settings = {0};
    if (!tr_sweep_settings(s, &settings, err)) return tr_sweep_settings_free(&settings), false;
    const char *probe = "UPDATE settings SET value = value WHERE name = 'format'";
    if (tr_swept_has_tables(r->file, "main", err)) {
        if (check_settings(r, &settings, err)) tr_database_do(r->file, probe, err);
    } // so that one that cannot be written is told before the work
    else if (!has_failed(err) && count(r, "SELECT count(*) FROM sqlite_master", err))
        tr_fail(err, TR_USAGE, (Place){0}, "'%.200s' is a database of something else",
                s->options->output);
    else if (!has_failed(err))
        make_tables(r, &settings, err);
    tr_sweep_settings_free(&settings);
    return !has_failed(err) && find_done(r, err);
}

// ---- adding ---------------------------------------------------------------------------------

static Query *insertion(const RunsDatabase *r, const char *table, uint32_t values, tr_error *err)
{
    Buffer text = {0};
    tr_buffer_print(&text, "INSERT OR REPLACE INTO %s VALUES (?", table);
    for (uint32_t i = 1; i < values; i++) tr_buffer_print(&text, ", ?");
    tr_buffer_print(&text, ")");
    if (text.failed) tr_fail_memory(err);
    Query *q = has_failed(err) ? NULL : tr_query_new(r->file, text.at, err);
    tr_buffer_free(&text);
    return q;
}

static void add_run(const RunsDatabase *r, const Block *b, uint32_t run, tr_error *err)
{
    const Sweep *s = r->store.sweep;
    const double *values = block_values(s, b, run);
    const int behind = (int)s->column_count + 2;
    tr_query_put_count(r->add_run, 1, b->run[run]);
    for (uint32_t i = 0; i < s->column_count; i++)
        tr_query_put_number(r->add_run, (int)i + 2, values[i]);
    tr_query_put_number(r->add_run, behind, b->seconds[run]);
    tr_query_put_text(r->add_run, behind + 1, tr_block_outcome(b, run));
    tr_query_put_text(r->add_run, behind + 2, b->words[run] ? b->words[run] : "");
    tr_query_step(r->add_run, err);
}

static void add_rows(const RunsDatabase *r, const Block *b, uint32_t run, tr_error *err)
{
    const Sweep *s = r->store.sweep;
    const KeptRows *rows = &b->rows[run];
    for (size_t i = 0; i < rows->count && !has_failed(err); i++) {
        tr_query_put_count(r->add_row, 1, b->run[run]);
        tr_query_put_count(r->add_row, 2, i);
        for (uint32_t k = 0; k < s->row_count; k++)
            tr_query_put_number(r->add_row, (int)k + 3, rows->at[i * s->row_count + k]);
        tr_query_step(r->add_row, err);
    }
}

static bool add_block(Store *store, const Block *b, tr_error *err)
{
    RunsDatabase *r = (RunsDatabase *)store;
    if (!r->is_open) r->is_open = tr_database_do(r->file, "BEGIN IMMEDIATE", err);
    for (uint32_t i = 0; i < b->count && !has_failed(err); i++) {
        add_run(r, b, i, err);
        add_rows(r, b, i, err);
    }
    return !has_failed(err);
}

static bool commit(Store *store, tr_error *err)
{
    RunsDatabase *r = (RunsDatabase *)store;
    if (r->is_open && tr_database_do(r->file, "COMMIT", err)) r->is_open = false;
    return !has_failed(err);
}

static bool close_database(Store *store, tr_error *err)
{
    RunsDatabase *r = (RunsDatabase *)store;
    tr_error own = {0}; // what came before an error stays
    commit(store, &own);
    if (own.status) tr_fail(err, own.status, (Place){0}, "%s", own.text);
    tr_query_free(r->add_run);
    tr_query_free(r->add_row);
    tr_database_close(r->file);
    tr_claim_drop(r->claim);
    free(store->is_done);
    free(r);
    return !own.status;
}

// Two sweeps at work on one file would make all runs twice.
static bool claim(RunsDatabase *r, const char *path, tr_error *err)
{
    Buffer name = {0};
    tr_buffer_print(&name, "%s-sweep", path);
    if (name.failed) tr_fail_memory(err);
    if (!has_failed(err) && !tr_claim_take(name.at, &r->claim, err))
        tr_fail(err, TR_IO, (Place){0},
                "another sweep is at work on '%.200s': wait for it, or give another file", path);
    tr_buffer_free(&name);
    return !has_failed(err);
}

Store *tr_runs_database_open(const Sweep *s, const char *path, tr_error *err)
{
    RunsDatabase *r = has_failed(err) ? NULL : calloc(1, sizeof *r);
    if (!r) return tr_fail_memory(err), NULL;
    r->store = (Store){.block = add_block, .commit = commit, .close = close_database, .sweep = s};
    r->file = tr_database_open(path, true, err);
    if (r->file && claim(r, path, err) && take_up(r, err)) {
        r->add_run = insertion(r, "runs", s->column_count + 4, err);
        if (s->options->record) r->add_row = insertion(r, "rows", s->row_count + 2, err);
    }
    if (!has_failed(err)) return &r->store;
    close_database(&r->store, err);
    return NULL;
}
