// SPDX-License-Identifier: Apache-2.0
#include "base/record.h"

#include "base/arena.h"
#include "base/mat.h"

#include <errno.h>
#include <stdlib.h>

typedef struct Kind {
    const char *ending;
    bool (*is_there)(tr_error *err);
    void (*begin)(Record *r);
    void (*take_row)(Record *r, const double *row, tr_error *err);
    void (*end)(Record *r, tr_error *err);
} Kind;

struct Record {
    const Kind *kind;
    const char *path;
    const char *const *labels;
    uint32_t columns;
    OutFile *file;
    Sha256 sha; // of what was written
    Buffer line;
    double *rows; // all of them, of kinds that are written at the end
    uint32_t count, capacity;
};

static void keep_row(Record *r, const double *row, tr_error *err)
{
    const uint64_t needed = ((uint64_t)r->count + 1) * r->columns;
    if (needed > UINT32_MAX ||
        !tr_grow((void **)&r->rows, &r->capacity, (uint32_t)needed, sizeof *r->rows)) {
        tr_fail_memory(err);
        return;
    }
    memcpy(r->rows + (size_t)r->count++ * r->columns, row, r->columns * sizeof *row);
}

// ---- .csv ----------------------------------------------------------------------------------

static void write_line(Record *r)
{
    tr_buffer_add(&r->line, "\n", 1);
    if (!r->line.failed) {
        fwrite(r->line.at, 1, r->line.length, tr_file_stream(r->file));
        tr_sha256_add(&r->sha, r->line.at, r->line.length);
    }
    r->line.length = 0;
}

static void write_labels(Record *r)
{
    for (uint32_t i = 0; i < r->columns; i++)
        tr_buffer_print(&r->line, i ? ",%s" : "%s", r->labels[i]);
    write_line(r);
}

static void write_row(Record *r, const double *row, tr_error *err)
{
    for (uint32_t i = 0; i < r->columns; i++) {
        if (i) tr_buffer_add(&r->line, ",", 1);
        tr_buffer_number(&r->line, row[i]);
    }
    write_line(r);
    if (r->line.failed)
        tr_fail_memory(err);
    else if (ferror(tr_file_stream(r->file)))
        tr_fail(err, TR_IO, (Place){0}, "cannot write '%.200s': %s", r->path, strerror(errno));
}

// ---- .mat ----------------------------------------------------------------------------------

// Points and brackets are not allowed in Matlab's names.
static bool write_variable(Mat *mat, const Record *r, uint32_t column, double *values)
{
    char name[64];
    snprintf(name, sizeof name, "%s", r->labels[column]);
    for (char *at = name; *at; at++)
        if (strchr(".()/", *at)) *at = '_';
    if (tr_mat_has(mat, name)) // a.b and a_b are told apart by their column
        snprintf(name + (strlen(name) > 50 ? 50 : strlen(name)), 12, "_%u", column + 1);
    for (uint32_t i = 0; i < r->count; i++) values[i] = r->rows[(size_t)i * r->columns + column];
    return tr_mat_matrix(mat, name, values, r->count, 1);
}

static bool write_variables(Mat *mat, void *owner)
{
    const Record *r = owner;
    double *values = calloc((size_t)r->count + 1, sizeof *values);
    bool good = values != NULL;
    for (uint32_t i = 0; good && i < r->columns; i++) good = write_variable(mat, r, i, values);
    free(values);
    return good;
}

static void write_mat(Record *r, tr_error *err)
{
    tr_mat_write(r->path, r->file, write_variables, r, &r->sha, err);
}

// ---- .npy ----------------------------------------------------------------------------------

static void write_bytes(Record *r, const void *bytes, size_t length)
{
    fwrite(bytes, 1, length, tr_file_stream(r->file));
    tr_sha256_add(&r->sha, bytes, length);
}

// NumPy's array of records, a field for each column. Version 3.0 has names in UTF-8; rows begin at
// a multiple of 64 bytes, so that they can be mapped.
static void write_npy(Record *r, tr_error *err)
{
    enum { AHEAD = 12, ALIGNED = 64 }; // bytes before the words; and of what all is a multiple
    Buffer words = {0};
    tr_buffer_print(&words, "{'fortran_order': False, 'shape': (%u,), 'descr': [", r->count);
    for (uint32_t i = 0; i < r->columns; i++)
        tr_buffer_print(&words, "('%s', '<f8'),", r->labels[i]);
    tr_buffer_print(&words, "]}");
    while ((AHEAD + words.length + 1) % ALIGNED && !words.failed) tr_buffer_add(&words, " ", 1);
    tr_buffer_add(&words, "\n", 1);
    const uint32_t length = (uint32_t)words.length;
    if (words.failed)
        tr_fail_memory(err);
    else {
        write_bytes(r, "\x93NUMPY\3", 8); // with the zero that ends it
        write_bytes(r, &length, sizeof length);
        write_bytes(r, words.at, words.length);
        if (r->count) write_bytes(r, r->rows, (size_t)r->count * r->columns * sizeof *r->rows);
    }
    tr_buffer_free(&words);
}

// ---- files of any kind ---------------------------------------------------------------------

static const Kind kinds[] = {
#define RECORD(ending, is_there, begin, take_row, end) {ending, is_there, begin, take_row, end},
#include "base/record.def"
};

static const Kind *kind_of(const char *path)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (ends_with(path, kinds[k].ending)) return &kinds[k];
    return NULL;
}

const char *tr_record_endings(void)
{
#define RECORD(ending, is_there, begin, take_row, end) " " ending
    static const char all[] =
#include "base/record.def"
        ;
    return all + 1;
}

bool tr_record_has_kind(const char *path) { return kind_of(path) != NULL; }

bool tr_record_is_text(const char *path)
{
    const Kind *kind = kind_of(path);
    return !kind || !kind->end;
}

Record *tr_record_open(const char *path, const char *const *labels, uint32_t columns, tr_error *err)
{
    const Kind *kind = kind_of(path);
    if (!kind) kind = &kinds[0];
    if (has_failed(err) || (kind->is_there && !kind->is_there(err))) return NULL;
    Record *r = calloc(1, sizeof *r);
    if (!r) {
        tr_fail_memory(err);
        return NULL;
    }
    *r = (Record){.kind = kind, .path = path, .labels = labels, .columns = columns};
    r->file = tr_file_create(path, err);
    if (!r->file) {
        free(r);
        return NULL;
    }
    tr_sha256_begin(&r->sha);
    if (kind->begin) kind->begin(r);
    return r;
}

void tr_record_row(Record *r, const double *row, tr_error *err)
{
    if (r && !has_failed(err)) r->kind->take_row(r, row, err);
}

static void free_record(Record *r)
{
    tr_buffer_free(&r->line);
    free(r->rows);
    free(r);
}

OutFile *tr_record_settle(Record *r, Digest *digest, tr_error *err)
{
    if (!r) return NULL;
    tr_error own = {0}; // an earlier error does not keep what was recorded from being saved
    OutFile *file = r->file;
    if (r->kind->end) r->kind->end(r, &own);
    if (tr_file_settle(file, &own)) {
        tr_sha256_end(&r->sha, digest->sha256);
        digest->bytes = r->sha.length;
    } else {
        tr_file_discard(file);
        file = NULL;
    }
    if (own.status) tr_fail(err, own.status, (Place){0}, "%s", own.text);
    free_record(r);
    return file;
}

bool tr_record_close(Record *r, tr_error *err)
{
    Digest unused;
    tr_error own = {0};
    OutFile *file = tr_record_settle(r, &unused, &own);
    const bool good = tr_file_commit(file, &own);
    if (own.status) tr_fail(err, own.status, (Place){0}, "%s", own.text);
    return good;
}

bool tr_record_is_replaced(const Record *r) { return tr_file_is_replaced(r->file); }

void tr_record_discard(Record *r)
{
    if (!r) return;
    tr_file_discard(r->file);
    free_record(r);
}
