// SPDX-License-Identifier: Apache-2.0
#include "sim/swept.h"

#include "base/json.h"

#include <trundle/trundle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The database, and the number behind it
typedef struct Swept {
    Database *file;
    char *path;
    uint64_t run;
} Swept;

// Where the number begins; NULL when there is none
static const char *number_in(const char *path)
{
    const char *colon = strrchr(path, ':');
    if (!colon || colon - path < 4 || memcmp(colon - 3, ".db", 3) != 0) return NULL;
    const size_t digits = strspn(colon + 1, "0123456789");
    return digits && digits < 19 && !colon[1 + digits] ? colon + 1 : NULL;
}

bool tr_is_swept(const char *path) { return number_in(path) != NULL; }

// What is a table to SQLite may be made up while it is read, and never end.
bool tr_swept_has_tables(Database *file, const char *schema, tr_error *err)
{
    char command[200];
    snprintf(command, sizeof command,
             "SELECT count(*) FROM %s.sqlite_master WHERE sql LIKE 'CREATE TABLE %%' AND name IN "
             "('settings', 'runs', 'rows')",
             schema);
    Query *q = tr_query_new(file, command, err);
    const bool has_all = tr_query_step(q, err) && tr_query_count(q, 0) == 3;
    tr_query_free(q);
    return has_all;
}

Database *tr_swept_open(const char *path, tr_error *err)
{
    Database *file = tr_database_open(path, false, err);
    if (file && !tr_swept_has_tables(file, "main", err) && !has_failed(err))
        tr_fail(err, TR_INVALID, (Place){0}, "'%.200s' is no database of a sweep", path);
    if (!has_failed(err)) return file;
    tr_database_close(file);
    return NULL;
}

static Swept open_swept(const char *path, tr_error *err)
{
    Swept s = {.path = strdup(path)};
    if (!s.path) return tr_fail_memory(err), s;
    s.run = strtoull(number_in(path), NULL, 10);
    *strrchr(s.path, ':') = 0;
    s.file = tr_swept_open(s.path, err);
    return s;
}

static void close_swept(Swept *s)
{
    tr_database_close(s->file);
    free(s->path);
}

static Query *ask(const Swept *s, const char *command, tr_error *err)
{
    Query *q = tr_query_new(s->file, command, err);
    if (q) tr_query_put_count(q, 1, s->run);
    return q;
}

// ---- rows -----------------------------------------------------------------------------------

// The first two columns are numbers of the run and of the row.
static size_t print_rows(Query *q, Buffer *text, tr_error *err)
{
    size_t rows = 0;
    for (; tr_query_step(q, err); rows++) {
        const int count = tr_query_columns(q);
        for (int i = 2; i < count && !rows; i++)
            tr_buffer_print(text, "%s%s", i > 2 ? "," : "", tr_query_name(q, i));
        for (int i = 2; i < count; i++) {
            tr_buffer_add(text, i > 2 ? "," : "\n", 1);
            tr_buffer_number(text, tr_query_number(q, i));
        }
    }
    tr_buffer_add(text, "\n", 1);
    return rows;
}

char *tr_swept_rows(const char *path, size_t *length, tr_error *err)
{
    Buffer text = {0};
    Swept s = open_swept(path, err);
    Query *q = ask(&s, "SELECT * FROM rows WHERE run = ? ORDER BY \"row\"", err);
    const size_t rows = print_rows(q, &text, err);
    tr_query_free(q);
    if (text.failed) tr_fail_memory(err);
    if (!rows)
        tr_fail(err, TR_INVALID, (Place){0},
                "run %llu has no rows in '%.200s': `--record K` keeps those of every K-th",
                (unsigned long long)s.run, s.path);
    close_swept(&s);
    *length = text.length;
    if (!has_failed(err)) return text.at;
    tr_buffer_free(&text);
    return NULL;
}

// ---- how it was made ------------------------------------------------------------------------

// The number that the run has, as a formula of a setting
static void describe_own(Json *j, const Swept *s, const char *name, tr_error *err)
{
    Buffer command = {0}, value = {0};
    tr_buffer_print(&command, "SELECT ");
    tr_database_name(&command, name);
    tr_buffer_print(&command, " FROM runs WHERE run = ?");
    Query *q = command.failed ? NULL : ask(s, command.at, err);
    if (tr_query_step(q, err)) {
        tr_buffer_number(&value, tr_query_number(q, 0));
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", name);
        tr_json_text(j, "formula", value.at ? value.at : "");
        tr_json_close(j, '}');
    }
    tr_query_free(q);
    tr_buffer_free(&command);
    tr_buffer_free(&value);
}

static void describe_settings(Json *j, const Swept *s, Text origin, tr_error *err)
{
    Text item;
    const Text settings = tr_json_member(origin, "settings");
    const Text parameters = tr_json_member(origin, "parameters");
    tr_json_open(j, "settings", '[');
    for (size_t i = 0; (item = tr_json_item(settings, i)).at; i++) tr_json_raw(j, NULL, item);
    for (size_t i = 0; (item = tr_json_item(parameters, i)).at; i++) {
        Buffer name = {0};
        if (tr_json_string(item, &name) && !name.failed) describe_own(j, s, name.at, err);
        tr_buffer_free(&name);
    }
    tr_json_close(j, ']');
}

static void describe(Json *j, const Swept *s, Text origin, tr_error *err)
{
    static const char *const members[] = {"case", "with", "model_sha256"};
    tr_json_open(j, NULL, '{');
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const Text value = tr_json_member(origin, members[i]);
        if (value.at) tr_json_raw(j, members[i], value);
    }
    describe_settings(j, s, origin, err);
    tr_json_close(j, '}');
}

char *tr_swept_origin(Database *file, const char *path, tr_error *err)
{
    Buffer text = {0};
    Query *q = tr_query_new(file, "SELECT value FROM settings WHERE name = 'origin'", err);
    if (tr_query_step(q, err))
        tr_buffer_print(&text, "%s", tr_query_text(q, 0));
    else
        tr_fail(err, TR_INVALID, (Place){0}, "'%.200s' is no database of a sweep", path);
    tr_query_free(q);
    if (text.failed) tr_fail_memory(err);
    if (!has_failed(err) && !tr_json_is_valid((Text){text.at, text.length}))
        tr_fail(err, TR_INVALID, (Place){0},
                "'%.200s' is damaged: how its runs were made is not JSON", path);
    if (!has_failed(err)) return text.at;
    tr_buffer_free(&text);
    return NULL;
}

char *tr_swept_certificate(const char *path, Text *text, tr_error *err)
{
    Json j = {0};
    Swept s = open_swept(path, err);
    char *origin = tr_swept_origin(s.file, s.path, err);
    if (origin) describe(&j, &s, text_of(origin), err);
    free(origin);
    close_swept(&s);
    if (j.text.failed) tr_fail_memory(err);
    *text = (Text){j.text.at, j.text.length};
    if (!has_failed(err)) return j.text.at;
    tr_buffer_free(&j.text);
    *text = (Text){0};
    return NULL;
}

// ---- which there are ------------------------------------------------------------------------

bool tr_sweep_recorded(const char *path, size_t *runs, size_t most, size_t *count, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    *count = 0;
    if (!path || has_failed(err)) return false;
    Database *file = tr_swept_open(path, err);
    Query *q =
        tr_query_new(file,
                     "SELECT DISTINCT run FROM rows WHERE NOT EXISTS (SELECT 1 FROM settings "
                     "WHERE name = 'do' AND value <> 'simulate') ORDER BY run",
                     err);
    for (; tr_query_step(q, err); (*count)++)
        if (*count < most) runs[*count] = (size_t)tr_query_count(q, 0);
    tr_query_free(q);
    tr_database_close(file);
    return !has_failed(err);
}
