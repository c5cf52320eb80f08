// SPDX-License-Identifier: Apache-2.0
#include "sim/record_sink.h"

#include "sim/certificate.h"

#include <string.h>

static bool begin_file(void *owner, const char *const *names, const char *const *units,
                       size_t count, tr_error *err)
{
    RecordSink *file = owner;
    (void)units;
    file->record = tr_record_open(file->path, names, (uint32_t)count, err);
    if (file->record && tr_record_is_replaced(file->record))
        file->certificate = tr_certificate_create(file->path, err);
    return !has_failed(err);
}

static bool write_to_file(void *owner, const double *row, tr_error *err)
{
    const RecordSink *file = owner;
    tr_record_row(file->record, row, err);
    return !has_failed(err);
}

void tr_record_sink_settle(RecordSink *file, tr_error *err)
{
    file->rows = tr_record_settle(file->record, &file->digest, err);
    file->record = NULL;
    if (!file->certificate) file->digest = (Digest){0}; // of a stream that has gone by
}

// The certificate first: beside rows of another run it is seen not to be theirs, and rows are never
// without one.
static bool end_file(void *owner, const char *certificate, tr_error *err)
{
    RecordSink *file = owner;
    OutFile *const both[] = {file->certificate, file->rows};
    const bool is_certified = file->rows && file->certificate && certificate[0];
    if (is_certified)
        fwrite(certificate, 1, strlen(certificate), tr_file_stream(file->certificate));
    else
        tr_file_discard(file->certificate);
    if (file->rows) tr_files_commit(is_certified ? both : both + 1, is_certified ? 2 : 1, err);
    file->certificate = file->rows = NULL;
    return !has_failed(err);
}

void tr_record_sink(RecordSink *file, const char *path)
{
    *file = (RecordSink){.path = path};
    file->sink = (tr_sink){begin_file, write_to_file, end_file, file};
}

void tr_record_sink_discard(RecordSink *file)
{
    tr_record_discard(file->record);
    tr_file_discard(file->certificate);
    file->record = NULL, file->certificate = NULL;
}
