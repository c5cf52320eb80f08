// SPDX-License-Identifier: Apache-2.0
#include "view/swept_runs.h"

#include "base/error.h"
#include "sim/swept.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SWEPT = 20000 };

// What stands beside the numbers of a run
static bool is_number(const char *column)
{
    static const char *const others[] = {"run", "seconds", "status", "words"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(column, others[i]) == 0) return false;
    return true;
}

// "sweep.db:17"
static double number_of(const char *run)
{
    const char *colon = run ? strrchr(run, ':') : NULL;
    return colon ? atof(colon + 1) : -1;
}

static void list_shown(Json *j, const tr_view_options *o)
{
    tr_json_open(j, "shown", '[');
    if (o->run) tr_json_number(j, NULL, number_of(o->run));
    for (size_t i = 0; i < o->other_count; i++)
        tr_json_number(j, NULL, number_of(o->others[i].run));
    tr_json_close(j, ']');
}

// The shown ones, and every so-many-th
static Query *select_runs(Database *file, const tr_view_options *o, uint64_t all, tr_error *err)
{
    Buffer command = {0};
    tr_buffer_print(&command, "SELECT * FROM runs WHERE run %% %llu = 0 OR run IN (%.0f",
                    (unsigned long long)all / MOST_SWEPT + 1, number_of(o->run));
    for (size_t i = 0; i < o->other_count; i++)
        tr_buffer_print(&command, ", %.0f", number_of(o->others[i].run));
    tr_buffer_print(&command, ") ORDER BY run");
    if (command.failed) tr_fail_memory(err);
    Query *q = has_failed(err) ? NULL : tr_query_new(file, command.at, err);
    tr_buffer_free(&command);
    return q;
}

static void list_names(Json *j, Query *q)
{
    tr_json_open(j, "names", '[');
    for (int i = 0; i < tr_query_columns(q); i++)
        if (is_number(tr_query_name(q, i))) tr_json_text(j, NULL, tr_query_name(q, i));
    tr_json_close(j, ']');
}

// A run as a list: its number, how it ended, and its numbers
static void list_runs(Json *j, Query *q, tr_error *err)
{
    tr_json_open(j, "runs", '[');
    while (tr_query_step(q, err)) {
        tr_json_open(j, NULL, '[');
        for (int i = 0; i < tr_query_columns(q); i++) {
            const char *name = tr_query_name(q, i);
            if (strcmp(name, "status") == 0)
                tr_json_text(j, NULL, tr_query_text(q, i));
            else if (is_number(name) || strcmp(name, "run") == 0)
                tr_json_number(j, NULL, tr_query_number(q, i));
        }
        tr_json_close(j, ']');
    }
    tr_json_close(j, ']');
}

static uint64_t count_runs(Database *file, tr_error *err)
{
    Query *q = tr_query_new(file, "SELECT count(*) FROM runs", err);
    const uint64_t all = tr_query_step(q, err) ? tr_query_count(q, 0) : 0;
    tr_query_free(q);
    return all;
}

// How many columns are varied, or kept
static double count_columns(const char *origin, const char *what, const Query *q)
{
    size_t count = 0;
    const Text list = tr_json_member(text_of(origin ? origin : ""), what);
    while (count < (size_t)tr_query_columns(q) && tr_json_item(list, count).at) count++;
    return (double)count;
}

void tr_describe_swept_runs(Json *j, const tr_view_options *o, tr_error *err)
{
    Database *file = tr_swept_open(o->sweep, err);
    const uint64_t all = count_runs(file, err);
    char *origin = tr_swept_origin(file, o->sweep, err);
    Query *q = select_runs(file, o, all, err);
    tr_json_open(j, NULL, '{');
    const char *slash = strrchr(o->sweep, '/');
    tr_json_text(j, "file", slash ? slash + 1 : o->sweep);
    tr_json_number(j, "all", (double)all);
    if (q) {
        tr_json_number(j, "varied", count_columns(origin, "varied", q));
        tr_json_number(j, "kept", count_columns(origin, "kept", q));
    }
    list_shown(j, o);
    if (q) list_names(j, q), list_runs(j, q, err);
    tr_json_close(j, '}');
    free(origin);
    tr_query_free(q);
    tr_database_close(file);
    if (j->text.failed) tr_fail_memory(err);
}
