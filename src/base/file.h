// SPDX-License-Identifier: Apache-2.0
// Whole files in, whole files out. A file that is written appears under its name only when it is
// complete, so an interrupted or failed run leaves the old one as it was.
#ifndef TR_BASE_FILE_H
#define TR_BASE_FILE_H

#include <trundle/trundle.h>

#include <stdbool.h>
#include <stdio.h>

// The whole file, with a terminating zero that `length` does not count; the caller frees it. Files,
// pipes and devices of at most `limit` bytes. NULL on error.
char *tr_file_read(const char *path, size_t limit, size_t *length, tr_error *err);

typedef struct OutFile OutFile;

// Starts writing `path`. A new or regular file is written under a temporary name in its directory
// and keeps the permissions it had; behind a symbolic link, the file it points to is the one
// written. Devices and pipes are written in place; "-" and "/dev/stdout" are standard output.
OutFile *tr_file_create(const char *path, tr_error *err);

// Where to write. Errors may be left for tr_file_commit to find.
FILE *tr_file_stream(OutFile *file);

// Gives the file its name, unless a write failed or `err` holds an error already: then it is
// discarded and false returned. Frees `file` in any case.
bool tr_file_commit(OutFile *file, tr_error *err);

// Leaves things as they were; what went to a device or pipe has gone. Frees `file`.
void tr_file_discard(OutFile *file);

#endif
