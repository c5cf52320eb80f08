// SPDX-License-Identifier: Apache-2.0
// The table of runs as a .csv file, in their order: what comes too early waits.
#include "base/error.h"
#include "base/file.h"
#include "sweep/store.h"

#include <stdlib.h>
#include <string.h>

typedef struct Waiting {
    uint64_t block;
    Buffer lines;
    struct Waiting *next;
} Waiting;

typedef struct RunsTable {
    Store store;
    OutFile *file;
    uint64_t next;
    Waiting *waiting; // by block
} RunsTable;

const char *tr_block_outcome(const Block *b, uint32_t run)
{
    return b->status[run] ? "failed" : b->is_stopped[run] ? "stopped" : "ok";
}

static void add_quoted(Buffer *line, const char *text)
{
    tr_buffer_add(line, "\"", 1);
    for (; *text; text++) {
        if (*text == '"') tr_buffer_add(line, "\"", 1);
        tr_buffer_add(line, text, 1);
    }
    tr_buffer_add(line, "\"", 1);
}

static void add_header(const Sweep *s, Buffer *line)
{
    tr_buffer_print(line, "run");
    for (uint32_t i = 0; i < s->column_count; i++) {
        tr_buffer_add(line, ",", 1);
        if (strpbrk(s->names[i], ",\""))
            add_quoted(line, s->names[i]);
        else
            tr_buffer_print(line, "%s", s->names[i]);
    }
    tr_buffer_print(line, ",seconds,status,words\n");
}

static void add_run(const Sweep *s, const Block *b, uint32_t run, Buffer *line)
{
    const double *values = block_values(s, b, run);
    tr_buffer_print(line, "%llu", (unsigned long long)b->run[run]);
    for (uint32_t i = 0; i < s->column_count; i++) {
        tr_buffer_add(line, ",", 1);
        tr_buffer_number(line, values[i]);
    }
    tr_buffer_add(line, ",", 1);
    tr_buffer_number(line, b->seconds[run]);
    tr_buffer_print(line, ",\"%s\",", tr_block_outcome(b, run));
    add_quoted(line, b->words[run] ? b->words[run] : "");
    tr_buffer_add(line, "\n", 1);
}

static void write_next(RunsTable *t, bool all)
{
    while (t->waiting && (all || t->waiting->block == t->next)) {
        Waiting *w = t->waiting;
        fwrite(w->lines.at, 1, w->lines.length, tr_file_stream(t->file));
        t->next = w->block + 1, t->waiting = w->next;
        tr_buffer_free(&w->lines);
        free(w);
    }
}

static bool add_block(Store *store, const Block *b, tr_error *err)
{
    RunsTable *t = (RunsTable *)store;
    Waiting *w = calloc(1, sizeof *w), **at = &t->waiting;
    if (!w) return tr_fail_memory(err), false;
    w->block = b->number;
    for (uint32_t i = 0; i < b->count; i++) add_run(store->sweep, b, i, &w->lines);
    if (w->lines.failed) tr_fail_memory(err);
    while (*at && (*at)->block < w->block) at = &(*at)->next;
    w->next = *at, *at = w;
    write_next(t, false);
    return !has_failed(err);
}

static bool close_table(Store *store, tr_error *err)
{
    RunsTable *t = (RunsTable *)store;
    write_next(t, true);
    const bool good = tr_file_commit(t->file, err);
    free(t);
    return good;
}

Store *tr_table_open(const Sweep *s, const char *path, tr_error *err)
{
    Buffer header = {0};
    RunsTable *t = has_failed(err) ? NULL : calloc(1, sizeof *t);
    if (!t) return tr_fail_memory(err), NULL;
    t->store = (Store){.block = add_block, .close = close_table, .sweep = s};
    add_header(s, &header);
    if (header.failed) tr_fail_memory(err);
    t->file = has_failed(err) ? NULL : tr_file_create(path, err);
    if (t->file) fwrite(header.at, 1, header.length, tr_file_stream(t->file));
    tr_buffer_free(&header);
    if (t->file) return &t->store;
    free(t);
    return NULL;
}
