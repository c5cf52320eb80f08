// SPDX-License-Identifier: Apache-2.0
#include "sim/record_sink.h"

#include "sim/certificate.h"

static bool begin_file(void *owner, const char *const *names, const char *const *units,
                       size_t count, tr_error *err)
{
    RecordSink *file = owner;
    (void)units;
    file->record = tr_record_open(file->path, names, (uint32_t)count, err);
    return file->record != NULL;
}

static bool write_to_file(void *owner, const double *row, tr_error *err)
{
    const RecordSink *file = owner;
    tr_record_row(file->record, row, err);
    return !has_failed(err);
}

static bool end_file(void *owner, const char *certificate, tr_error *err)
{
    RecordSink *file = owner;
    if (!file->record) return false;
    tr_record_close(file->record, err);
    file->record = NULL;
    if (certificate[0] && tr_certificate_wanted(file->path)) {
        tr_error own = {0};
        tr_certificate_write(certificate, file->path, &own);
        if (own.status) tr_fail(err, own.status, (Place){0}, "%s", own.text);
    }
    return !has_failed(err);
}

void tr_record_sink(RecordSink *file, const char *path)
{
    *file = (RecordSink){.path = path};
    file->sink = (tr_sink){begin_file, write_to_file, end_file, file};
}

void tr_record_sink_discard(RecordSink *file)
{
    if (file->record) tr_record_discard(file->record);
    file->record = NULL;
}
