// SPDX-License-Identifier: Apache-2.0
#include "base/database.h"

#include <math.h>
#include <stdlib.h>

void tr_database_name(Buffer *command, const char *name)
{
    tr_buffer_add(command, "\"", 1);
    for (; *name; name++) tr_buffer_print(command, *name == '"' ? "\"\"" : "%c", *name);
    tr_buffer_add(command, "\"", 1);
}

#ifdef TR_SQLITE
#include "base/late.h"

#include <sqlite3.h>

#define LIBRARY ((size_t)8 << 20) // mapped
enum { PATIENCE = 10000 };        // [ms] with what other programs do

// The functions that are used
// clang-format off
#define SQLITE_FUNCTIONS(X)                                                                     \
    X(open_v2) X(close) X(exec) X(errmsg) X(errcode) X(busy_timeout)                            \
    X(prepare_v2) X(finalize) X(step) X(reset)                                                  \
    X(bind_double) X(bind_int64) X(bind_text) X(bind_null)                                      \
    X(column_double) X(column_int64) X(column_text) X(column_type) X(column_count) X(column_name)
// clang-format on

static struct Sqlite {
#define MEMBER(name) __typeof__(sqlite3_##name) *name;
    SQLITE_FUNCTIONS(MEMBER)
#undef MEMBER
} sqlite;

#define NAME(name) "sqlite3_" #name,
static const char *const names[] = {SQLITE_FUNCTIONS(NAME)};
#undef NAME
_Static_assert(sizeof sqlite == sizeof names, "a pointer for each name");

struct Database {
    sqlite3 *at;
    char *path;
    bool is_busy;
};

struct Query {
    Database *database;
    sqlite3_stmt *at;
};

bool tr_database_is_there(tr_error *err)
{
    static Late library = {.need = "databases need SQLite",
                           .files = {"libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"},
                           .names = names,
                           .count = sizeof names / sizeof *names,
                           .functions = &sqlite};
    return tr_late_load(&library, LIBRARY, err);
}

// ---- files ----------------------------------------------------------------------------------

static void fail(Database *d, int code, tr_error *err)
{
    d->is_busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    if (code == SQLITE_NOMEM)
        tr_fail_memory(err);
    else if (d->is_busy)
        tr_fail(err, TR_IO, (Place){0},
                "'%.200s' is locked by another program: what was written stays, and the same "
                "command goes on from there",
                d->path);
    else if (code == SQLITE_FULL)
        tr_fail(
            err, TR_IO, (Place){0},
            "the disk is full, below the database '%.200s': what was written stays, and the same "
            "command goes on from there",
            d->path);
    else if (code == SQLITE_NOTADB)
        tr_fail(err, TR_IO, (Place){0}, "'%.200s' is no database", d->path);
    else
        tr_fail(err, TR_IO, (Place){0}, "cannot use the database '%.200s': %.200s", d->path,
                d->at ? sqlite.errmsg(d->at) : "it cannot be opened");
}

Database *tr_database_open(const char *path, bool is_written, tr_error *err)
{
    if (has_failed(err) || !tr_database_is_there(err)) return NULL;
    Database *d = calloc(1, sizeof *d);
    if (d) d->path = strdup(path);
    if (!d || !d->path) {
        free(d);
        return tr_fail_memory(err), NULL;
    }
    const int flags =
        is_written ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    const int code = sqlite.open_v2(path, &d->at, flags, NULL);
    if (code == SQLITE_OK) {
        sqlite.busy_timeout(d->at, PATIENCE);
        return d;
    }
    fail(d, code, err);
    tr_database_close(d);
    return NULL;
}

bool tr_database_is_busy(const Database *d) { return d && d->is_busy; }

void tr_database_close(Database *d)
{
    if (!d) return;
    sqlite.close(d->at);
    free(d->path);
    free(d);
}

bool tr_database_do(Database *d, const char *commands, tr_error *err)
{
    if (!d || has_failed(err)) return false;
    const int code = sqlite.exec(d->at, commands, NULL, NULL, NULL);
    if (code != SQLITE_OK) fail(d, code, err);
    return code == SQLITE_OK;
}

// ---- commands -------------------------------------------------------------------------------

Query *tr_query_new(Database *d, const char *command, tr_error *err)
{
    Query *q = !d || has_failed(err) ? NULL : calloc(1, sizeof *q);
    if (!q) return tr_fail_memory(err), NULL;
    q->database = d;
    const int code = sqlite.prepare_v2(d->at, command, -1, &q->at, NULL);
    if (code == SQLITE_OK) return q;
    fail(d, code, err);
    free(q);
    return NULL;
}

void tr_query_free(Query *q)
{
    if (q) sqlite.finalize(q->at);
    free(q);
}

void tr_query_put_number(Query *q, int place, double value)
{
    if (isnan(value))
        sqlite.bind_null(q->at, place);
    else
        sqlite.bind_double(q->at, place, value);
}

void tr_query_put_count(Query *q, int place, uint64_t value)
{
    sqlite.bind_int64(q->at, place, (sqlite3_int64)value);
}

void tr_query_put_text(Query *q, int place, const char *text)
{
    sqlite.bind_text(q->at, place, text, -1, SQLITE_TRANSIENT);
}

bool tr_query_step(Query *q, tr_error *err)
{
    if (!q || has_failed(err)) return false;
    const int code = sqlite.step(q->at);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) fail(q->database, code, err);
    sqlite.reset(q->at);
    return false;
}

void tr_query_restart(Query *q) { sqlite.reset(q->at); }

double tr_query_number(const Query *q, int column)
{
    const int type = sqlite.column_type(q->at, column);
    if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) return (double)NAN;
    return sqlite.column_double(q->at, column);
}

uint64_t tr_query_count(const Query *q, int column)
{
    return (uint64_t)sqlite.column_int64(q->at, column);
}

const char *tr_query_text(const Query *q, int column)
{
    const unsigned char *text = sqlite.column_text(q->at, column);
    return text ? (const char *)text : "";
}

int tr_query_columns(const Query *q) { return sqlite.column_count(q->at); }
const char *tr_query_name(const Query *q, int column) { return sqlite.column_name(q->at, column); }

#else // without SQLite there is nothing to be opened

bool tr_database_is_there(tr_error *err)
{
    tr_fail(err, TR_FAILED, (Place){0}, "databases need SQLite, without which trundle was built");
    return false;
}

Database *tr_database_open(const char *path, bool is_written, tr_error *err)
{
    (void)path, (void)is_written;
    return tr_database_is_there(err), NULL;
}

void tr_database_close(Database *d) { (void)d; }
bool tr_database_is_busy(const Database *d) { return (void)d, false; }
bool tr_database_do(Database *d, const char *commands, tr_error *err)
{
    return (void)d, (void)commands, (void)err, false;
}
Query *tr_query_new(Database *d, const char *command, tr_error *err)
{
    return (void)d, (void)command, (void)err, NULL;
}
void tr_query_free(Query *q) { (void)q; }
void tr_query_put_number(Query *q, int place, double value) { (void)q, (void)place, (void)value; }
void tr_query_put_count(Query *q, int place, uint64_t value) { (void)q, (void)place, (void)value; }
void tr_query_put_text(Query *q, int place, const char *text) { (void)q, (void)place, (void)text; }
bool tr_query_step(Query *q, tr_error *err) { return (void)q, (void)err, false; }
void tr_query_restart(Query *q) { (void)q; }
double tr_query_number(const Query *q, int column) { return (void)q, (void)column, (double)NAN; }
uint64_t tr_query_count(const Query *q, int column) { return (void)q, (void)column, 0; }
const char *tr_query_text(const Query *q, int column) { return (void)q, (void)column, ""; }
int tr_query_columns(const Query *q) { return (void)q, 0; }
const char *tr_query_name(const Query *q, int column) { return (void)q, (void)column, ""; }
#endif
