// SPDX-License-Identifier: Apache-2.0
// The table of runs as a .csv file, in their order: what comes too early waits. Of a shard these
// are the blocks shard, shard + shards, ..., as they are dealt.
#include "base/error.h"
#include "base/file.h"
#include "sweep/store.h"

#include <stdlib.h>
#include <string.h>

typedef struct Waiting {
    uint64_t block;
    Buffer lines;
    struct Waiting *next, *before;
} Waiting;

typedef struct RunsTable {
    Store store;
    OutFile *file;
    uint64_t next, stride;
    Waiting *first, *last; // of those that wait, by block
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

static void write_next(RunsTable *t, bool all, tr_error *err)
{
    while (t->first && (all || t->first->block == t->next)) {
        Waiting *w = t->first;
        if (!has_failed(err)) tr_file_add(t->file, w->lines.at, w->lines.length, err);
        t->next = w->block + t->stride, t->first = w->next;
        *(t->first ? &t->first->before : &t->last) = NULL;
        tr_buffer_free(&w->lines);
        free(w);
    }
}

// Most come nearly in their order, so the place is near the end.
static void put_in_order(RunsTable *t, Waiting *w)
{
    w->before = t->last;
    while (w->before && w->before->block > w->block) w->before = w->before->before;
    w->next = w->before ? w->before->next : t->first;
    *(w->before ? &w->before->next : &t->first) = w;
    *(w->next ? &w->next->before : &t->last) = w;
}

// As soon as it is known: nothing of what would still be worked through could be kept.
static bool tell(const tr_error *own, tr_error *err)
{
    if (own->status)
        tr_fail(err, own->status, (Place){0},
                "%.300s: of a table nothing stays, in a .db file all that was made would",
                own->text);
    return !own->status;
}

static bool flush(Store *store, tr_error *err)
{
    tr_error own = {0};
    tr_file_flush(((const RunsTable *)store)->file, &own);
    return tell(&own, err);
}

static bool add_block(Store *store, const Block *b, tr_error *err)
{
    RunsTable *t = (RunsTable *)store;
    Waiting *w = calloc(1, sizeof *w);
    if (!w) return tr_fail_memory(err), false;
    w->block = b->number;
    for (uint32_t i = 0; i < b->count; i++) add_run(store->sweep, b, i, &w->lines);
    if (w->lines.failed) tr_fail_memory(err);
    put_in_order(t, w);
    tr_error own = {0};
    write_next(t, false, &own);
    tell(&own, err);
    return !has_failed(err);
}

static bool close_table(Store *store, tr_error *err)
{
    RunsTable *t = (RunsTable *)store;
    write_next(t, true, err);
    const bool good = tr_file_commit(t->file, err);
    free(t);
    return good;
}

Store *tr_table_open(const Sweep *s, const char *path, tr_error *err)
{
    Buffer header = {0};
    RunsTable *t = has_failed(err) ? NULL : calloc(1, sizeof *t);
    if (!t) return tr_fail_memory(err), NULL;
    t->store = (Store){.block = add_block, .commit = flush, .close = close_table, .sweep = s};
    t->next = s->options->shard, t->stride = s->options->shards ? s->options->shards : 1;
    add_header(s, &header);
    if (header.failed) tr_fail_memory(err);
    t->file = has_failed(err) ? NULL : tr_file_create(path, err);
    if (t->file) fwrite(header.at, 1, header.length, tr_file_stream(t->file));
    tr_buffer_free(&header);
    if (t->file) return &t->store;
    free(t);
    return NULL;
}
