// SPDX-License-Identifier: Apache-2.0
// Files that a model names. A model may come from a stranger: it may read regular files inside its
// own folder and inside folders that whoever runs it allows, and no others, whatever links say.
#ifndef TR_BASE_BESIDE_H
#define TR_BASE_BESIDE_H

#include "base/text.h"

#include <trundle/trundle.h>

typedef struct Beside {
    const char *model;          // its path; NULL of a text, which stands in the current folder
    const char *const *allowed; // folders
    size_t allowed_count;
} Beside;

// The whole file, as tr_file_read has it, of at most `limit` bytes. A name is relative to the
// model's folder, or to the root, and errors say no more of the file than that name. TR_INVALID
// when the model may not read it, TR_IO when it cannot be read. `path` becomes where it is, which
// the caller frees, too; NULL when there is nothing.
char *tr_beside_read(const Beside *where, Text name, size_t limit, size_t *length, char **path,
                     tr_error *err);

// The path of a model from the root, by which what it names is found wherever the process goes
// later; the caller frees it. NULL when memory runs out.
char *tr_beside_place(const char *path);

#endif
