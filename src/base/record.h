// SPDX-License-Identifier: Apache-2.0
// Results as they come: rows of numbers under named columns, to a .csv or a .mat file.
#ifndef TR_BASE_RECORD_H
#define TR_BASE_RECORD_H

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

#include <matio.h>

typedef struct Record Record;

// Columns are named by `labels`. A path that ends in .mat is written by matio when it is closed.
Record *tr_record_open(const char *path, const char *const *labels, uint32_t columns,
                       tr_error *err);
void tr_record_row(Record *record, const double *row, tr_error *err);
// Completes the file also after an error, which is kept; frees the record.
bool tr_record_close(Record *record, tr_error *err);

void tr_record_discard(Record *record); // leaves no file

// Into the file, as `fill` makes it.
void tr_mat_write(const char *path, OutFile *file, bool (*fill)(mat_t *mat, void *owner),
                  void *owner, tr_error *err);

#endif
