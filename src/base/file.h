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

// The same of a descriptor, which is closed; errors call it by `name`.
char *tr_file_read_open(int fd, const char *name, size_t limit, size_t *length, tr_error *err);

typedef struct OutFile OutFile;

// Starts writing `path`. A new or regular file is written under a temporary name in its directory
// and keeps the permissions it had; behind a symbolic link, the file it points to is the one
// written. Devices and pipes are written in place; "-" and "/dev/stdout" are standard output.
OutFile *tr_file_create(const char *path, tr_error *err);

// Where to write. Errors may be left for tr_file_commit to find.
FILE *tr_file_stream(OutFile *file);

// Whether it is a file on a disk, and not a device or a pipe that is written in place.
bool tr_file_is_replaced(const OutFile *file);

// Brings out what was written so far; false when a write failed, also an earlier one.
bool tr_file_flush(const OutFile *file, tr_error *err);
// Writes, for those who want to know at once.
bool tr_file_add(const OutFile *file, const void *bytes, size_t length, tr_error *err);

// Brings all of it to the disk, and closes it; false when a write failed.
bool tr_file_settle(OutFile *file, tr_error *err);

// Gives the file its name once all of it is on the disk, unless a write failed or `err` holds an
// error already: then it is discarded and false returned. Frees `file` in any case.
bool tr_file_commit(OutFile *file, tr_error *err);
// Several that belong together: none has its name before all are on the disk; then they get them
// in this order.
bool tr_files_commit(OutFile *const *files, size_t count, tr_error *err);

// Leaves things as they were; what went to a device or pipe has gone. Frees `file`.
void tr_file_discard(OutFile *file);

#endif
