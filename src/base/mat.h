// SPDX-License-Identifier: Apache-2.0
// Matlab's files, by matio, which is loaded when the first of them is written: mat.c is the only
// file that knows it. It brings some thirty libraries, and 5 ms.
#ifndef TR_BASE_MAT_H
#define TR_BASE_MAT_H

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"

typedef struct Mat Mat;

// Whether .mat files can be written, asked before the work whose results they are to hold.
bool tr_mat_is_there(tr_error *err);

// Into the file, as `fill` makes it; what is written is added to `sha`, which may be NULL.
void tr_mat_write(const char *path, OutFile *file, bool (*fill)(Mat *mat, void *owner), void *owner,
                  Sha256 *sha, tr_error *err);

// For `fill`: variables, and whether a name is taken. Matlab has matrices by columns.
bool tr_mat_matrix(Mat *mat, const char *name, double *by_columns, size_t rows, size_t columns);
bool tr_mat_names(Mat *mat, const char *name, const char *const *names, size_t count);
bool tr_mat_has(Mat *mat, const char *name);

#endif
