// SPDX-License-Identifier: Apache-2.0
// Databases of the same sweep as one: its shards, or what several starts have made.
#include "base/database.h"
#include "base/error.h"
#include "sim/swept.h"
#include "sweep/settings.h"

#include <trundle/trundle.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Merge {
    Database *all;
    const char *first, *part, *output; // paths
    bool is_begun;                     // the tables are there
} Merge;

// The first number or text that a command gives
static double ask(const Merge *m, const char *command, tr_error *err)
{
    Query *q = tr_query_new(m->all, command, err);
    const double value = tr_query_step(q, err) ? tr_query_number(q, 0) : 0;
    tr_query_free(q);
    return value;
}

// Whether one of the two databases is that of a sweep, and says of which
static bool has_tables(const Merge *m, const char *which, tr_error *err)
{
    char settings[120];
    snprintf(settings, sizeof settings,
             "SELECT count(*) FROM %s.settings WHERE name IN ('model', 'runs')", which);
    return tr_swept_has_tables(m->all, which, err) && ask(m, settings, err) == 2;
}

// What went wrong with a part is said of it, and not of the output.
static void refuse_part(const Merge *m, const tr_error *own, tr_error *err)
{
    if (own->status == TR_NO_MEMORY)
        tr_fail_memory(err);
    else if (tr_database_is_busy(m->all))
        tr_fail(err, own->status, (Place){0}, "'%.200s' is locked by another program", m->part);
    else
        tr_fail(err, own->status, (Place){0}, "'%.200s' is no database, or it is damaged", m->part);
}

static bool attach(const Merge *m, tr_error *err)
{
    if (access(m->part, R_OK) != 0) // it would be made
        return tr_fail(err, TR_IO, (Place){0}, "cannot read '%.200s'", m->part), false;
    Query *q = tr_query_new(m->all, "ATTACH ? AS part", err);
    if (!q) return false;
    tr_error own = {0}; // the database names the output
    tr_query_put_text(q, 1, m->part);
    tr_query_step(q, &own);
    tr_query_free(q);
    const bool is_sweep = has_tables(m, "part", &own);
    if (own.status)
        refuse_part(m, &own, err);
    else if (!is_sweep)
        tr_fail(err, TR_USAGE, (Place){0}, "'%.200s' is no database of a sweep", m->part);
    return !has_failed(err);
}

// A table as the first has it: one command, whatever stands behind it in a file of somebody else
static void make_table(const Merge *m, const char *name, tr_error *err)
{
    Buffer text = {0};
    Query *q = tr_query_new(
        m->all, "SELECT sql FROM part.sqlite_master WHERE type = 'table' AND name = ?", err);
    if (q) tr_query_put_text(q, 1, name);
    if (q && tr_query_step(q, err)) tr_buffer_print(&text, "%s", tr_query_text(q, 0));
    tr_query_free(q);
    if (text.failed) tr_fail_memory(err);
    if (!has_failed(err) && !begins_with(text.at ? text.at : "", "CREATE TABLE "))
        tr_fail(err, TR_USAGE, (Place){0}, "'%.200s' is no database of a sweep", m->part);
    Query *make = has_failed(err) ? NULL : tr_query_new(m->all, text.at, err);
    tr_query_step(make, err);
    tr_query_free(make);
    tr_buffer_free(&text);
}

static bool begin(Merge *m, tr_error *err)
{
    static const char *const tables[] = {"settings", "runs", "rows"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !has_failed(err); i++)
        make_table(m, tables[i], err);
    if (!has_failed(err))
        m->is_begun =
            tr_database_do(m->all, "INSERT INTO main.settings SELECT * FROM part.settings", err);
    m->first = m->part;
    return !has_failed(err);
}

static bool compare_settings(const Merge *m, tr_error *err)
{
    Query *q = tr_query_new(m->all,
                            "SELECT name, a.value, b.value FROM main.settings a LEFT "
                            "JOIN part.settings b USING (name) WHERE a.value IS NOT b.value AND "
                            "name NOT IN ('trundle', 'origin') AND (name <> 'model text' OR "
                            "(SELECT value = '' FROM main.settings WHERE name = 'model'))",
                            err);
    if (tr_query_step(q, err)) {
        const char *name = tr_query_text(q, 0);
        if (strcmp(name, "model") == 0 || strcmp(name, "model text") == 0)
            tr_fail(err, TR_USAGE, (Place){0},
                    "'%.150s' is of another model than '%.150s', or the model has changed between",
                    m->part, m->first);
        else
            tr_fail(err, TR_USAGE, (Place){0},
                    "'%.120s' was made with another %.40s than '%.120s': '%.60s', not '%.60s'",
                    m->part, setting_words(name), m->first, tr_query_text(q, 2),
                    tr_query_text(q, 1));
    }
    tr_query_free(q);
    return !has_failed(err);
}

// Runs are numbered from 0 on, below their count.
static bool check_numbers(const Merge *m, tr_error *err)
{
    tr_error own = {0}; // the database names another file
    const double wrong =
        ask(m,
            "WITH all_runs(count) AS (SELECT CAST(value AS INTEGER) FROM part.settings WHERE name "
            "= 'runs') SELECT (SELECT count(*) FROM part.runs, all_runs WHERE run < 0 OR run >= "
            "count) + (SELECT count(*) FROM part.rows, all_runs WHERE typeof(run) <> 'integer' OR "
            "run < 0 OR run >= count)",
            &own);
    if (own.status)
        refuse_part(m, &own, err);
    else if (wrong > 0)
        tr_fail(err, TR_IO, (Place){0}, "'%.200s' is damaged: it has runs that its sweep has not",
                m->part);
    return !has_failed(err);
}

// All or nothing of a part
static bool add_part(Merge *m, tr_error *err)
{
    if (!attach(m, err)) return false;
    tr_database_do(m->all, "BEGIN IMMEDIATE", err);
    m->is_begun = has_tables(m, "main", err); // another process may have made them
    if (m->is_begun ? compare_settings(m, err) : begin(m, err))
        tr_database_do(m->all,
                       "INSERT OR IGNORE INTO main.runs SELECT * FROM part.runs;"
                       "INSERT OR IGNORE INTO main.rows SELECT * FROM part.rows; COMMIT",
                       err);
    return !has_failed(err) && tr_database_do(m->all, "DETACH part", err);
}

// All of them before anything is written: what is refused leaves no file behind.
static bool check_parts(const char *const *parts, size_t count, tr_error *err)
{
    if (!tr_database_is_there(err)) return false;
    Merge m = {.output = ":memory:"};
    m.all = tr_database_open(m.output, true, err);
    for (size_t i = 0; i < count && !has_failed(err); i++) {
        m.part = parts[i];
        if (attach(&m, err) && (i ? compare_settings(&m, err) : begin(&m, err)) &&
            check_numbers(&m, err))
            tr_database_do(m.all, "DETACH part", err);
    }
    tr_database_close(m.all);
    return !has_failed(err);
}

static void open_output(Merge *m, tr_error *err)
{
    if (!tr_database_is_there(err)) return;
    m->all = tr_database_open(m->output, true, err);
    const double tables = ask(m, "SELECT count(*) FROM sqlite_master", err);
    m->is_begun = has_tables(m, "main", err);
    m->first = m->output;
    if (!has_failed(err) && tables > 0 && !m->is_begun)
        tr_fail(err, TR_USAGE, (Place){0}, "'%.200s' is a database of something else", m->output);
}

bool tr_sweep_merge(const char *const *parts, size_t count, const char *output,
                    tr_sweep_summary *summary, tr_error *err)
{
    tr_error local = {0};
    tr_sweep_summary unused;
    if (!err) err = &local;
    if (!summary) summary = &unused;
    *summary = (tr_sweep_summary){0};
    if (has_failed(err) || !parts || !output) return false;
    Merge m = {.output = output};
    if (check_parts(parts, count, err)) open_output(&m, err);
    for (size_t i = 0; i < count && !has_failed(err); i++) {
        m.part = parts[i];
        add_part(&m, err);
    }
    if (!has_failed(err)) {
        summary->runs =
            (size_t)ask(&m, "SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'runs'", err);
        summary->done = (size_t)ask(&m, "SELECT count(*) FROM runs", err);
        summary->failed = (size_t)ask(&m, "SELECT count(*) FROM runs WHERE status = 'failed'", err);
    }
    tr_database_close(m.all);
    return !has_failed(err);
}
