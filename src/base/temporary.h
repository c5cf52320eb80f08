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

#endif
