// SPDX-License-Identifier: Apache-2.0
// Results as they come: rows of numbers under named columns, to a file of a kind of record.def.
#ifndef TR_BASE_RECORD_H
#define TR_BASE_RECORD_H

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"

typedef struct Record Record;

// Whether the end of a name says which kind; and whether such files are read by people
bool tr_record_has_kind(const char *path);
bool tr_record_is_text(const char *path);
const char *tr_record_endings(void); // ".csv .mat .npy"

// Columns are named by `labels`.
Record *tr_record_open(const char *path, const char *const *labels, uint32_t columns,
                       tr_error *err);
void tr_record_row(Record *record, const double *row, tr_error *err);
// Completes the file also after an error, which is kept; frees the record.
bool tr_record_close(Record *record, tr_error *err);

// What a file holds, in short
typedef struct Digest {
    char sha256[TR_SHA256_SIZE];
    uint64_t bytes;
} Digest;
// The same but for its name: the file, complete on the disk, is the caller's to commit together
// with others, or NULL.
OutFile *tr_record_settle(Record *record, Digest *digest, tr_error *err);
bool tr_record_is_replaced(const Record *record); // as of the file

void tr_record_discard(Record *record); // leaves no file

#endif
