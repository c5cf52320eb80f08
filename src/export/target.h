// SPDX-License-Identifier: Apache-2.0
// The languages: what each writes of a code.
#ifndef TR_EXPORT_TARGET_H
#define TR_EXPORT_TARGET_H

#include "export/walk.h"

// Files that are written together
typedef struct Folder {
    struct FolderFile {
        char name[120];
        Buffer text;
    } files[64];
    uint32_t count;
    bool failed;
} Folder;

// A new file; NULL when there are too many.
Buffer *tr_folder_add(Folder *folder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// What stands for a mark in a text, @mark@
typedef struct Mark {
    const char *mark, *text;
} Mark;
// A text with marks replaced; the list ends with a NULL.
void tr_fill_in(Buffer *out, Text text, const Mark *marks);

// Whether tables are few enough for constants; else words.
bool tr_tables_are_small(const Export *code, tr_error *err);
// Whether those of an FMU are so many that they are a file of its own, and what is in that
bool tr_tables_are_apart(const Export *code);
void tr_tables_apart(const Export *code, Buffer *out);
// Names with their units, defaults and ranges, as a list of Python or a cell of Octave
void tr_script_names(Buffer *out, const Tongue *tongue, const CodeNames *names);
// NAME.h and NAME.c, whose functions are called so
bool tr_write_c(Export *code, Buffer *header, Buffer *source, tr_error *err);
// In capitals
void tr_upper_name(const char *name, char *out, size_t size);

typedef struct Target {
    const char *name, *words;
    bool (*print)(Export *code, Folder *folder, tr_error *err);
    bool differentiates, may_unreduce, is_file, has_single;
} Target;
const Target *tr_target(const char *name, tr_error *err);

#define TARGET(name, words, print, differentiates, may_unreduce, is_file, has_single) \
    bool print(Export *code, Folder *folder, tr_error *err);
#include "export/target.def"

#endif
