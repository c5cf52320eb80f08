// SPDX-License-Identifier: Apache-2.0
// The names of temporary files, so that whoever handles the signal that ends the process can remove
// them (tr_remove_temporaries): the one thing that the library keeps for the whole process.
#ifndef TR_BASE_TEMPORARY_H
#define TR_BASE_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct Temporary {
    char *path; // NULL when there is none
    bool is_listed;
} Temporary;

// A new file whose name begins as `stem` does, which is listed from the moment it is there, and a
// descriptor to write it; -1 with errno. The process mask applies to `mode`.
int tr_temporary_open(Temporary *file, const char *stem, size_t length, mode_t mode);
// The file is there no more under that name, or is to be.
void tr_temporary_forget(Temporary *file);
void tr_temporary_remove(Temporary *file);

// A folder and what is in it. What a signal comes upon is removed as far as it is listed here; who
// ends as usual also removes what others put there.
typedef struct TemporaryFolder {
    char *path;  // absolute; NULL when there is none
    char **made; // files and folders in it, each behind those that it is in
    size_t count, capacity;
    bool is_listed;
} TemporaryFolder;

// A new empty one, whose name begins as `stem` does, for this user alone. `capacity`: things that
// will be made in it. False with errno.
bool tr_temporary_folder(TemporaryFolder *folder, const char *stem, size_t capacity);
// A new folder, or a new file and a descriptor to write it, by a path relative to the folder, which
// must lead into it, and whose own folder is there. -1 with errno.
int tr_temporary_make(TemporaryFolder *folder, const char *path, bool is_folder);
void tr_temporary_folder_remove(TemporaryFolder *folder);

#endif
