// SPDX-License-Identifier: Apache-2.0
#include "base/record.h"

#include "base/arena.h"
#include "base/mat.h"

#include <errno.h>
#include <stdlib.h>

struct Record {
    const char *path;
    const char *const *labels;
    uint32_t columns;
    OutFile *file;
    Sha256 sha; // of what was written
    Buffer line;
    double *rows; // .mat: all of them
    uint32_t count, capacity;
    bool is_mat;
};

static void write_line(Record *r)
{
    tr_buffer_add(&r->line, "\n", 1);
    if (!r->line.failed) {
        fwrite(r->line.at, 1, r->line.length, tr_file_stream(r->file));
        tr_sha256_add(&r->sha, r->line.at, r->line.length);
    }
    r->line.length = 0;
}

Record *tr_record_open(const char *path, const char *const *labels, uint32_t columns, tr_error *err)
{
    const bool is_mat = ends_with(path, ".mat");
    if (has_failed(err) || (is_mat && !tr_mat_is_there(err))) return NULL;
    Record *r = calloc(1, sizeof *r);
    if (!r) {
        tr_fail_memory(err);
        return NULL;
    }
    *r = (Record){.path = path, .labels = labels, .columns = columns, .is_mat = is_mat};
    r->file = tr_file_create(path, err);
    if (!r->file) {
        free(r);
        return NULL;
    }
    tr_sha256_begin(&r->sha);
    if (r->is_mat) return r;
    for (uint32_t i = 0; i < columns; i++) tr_buffer_print(&r->line, i ? ",%s" : "%s", labels[i]);
    write_line(r);
    return r;
}

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

void tr_record_row(Record *r, const double *row, tr_error *err)
{
    if (!r || has_failed(err)) return;
    if (r->is_mat) {
        keep_row(r, row, err);
        return;
    }
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
    if (r->is_mat) tr_mat_write(r->path, file, write_variables, r, &r->sha, &own);
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
