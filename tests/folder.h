// SPDX-License-Identifier: Apache-2.0
// A folder for the files of a test program, in TMPDIR and as long as it runs.
#ifndef TR_TESTS_FOLDER_H
#define TR_TESTS_FOLDER_H

#include "base/file.h"
#include "test.h"

#include <dirent.h>
#include <unistd.h>

// A new folder, whose path is put into `path`
static inline void make_folder(char *path, size_t size)
{
    const char *temporary = getenv("TMPDIR");
    const int length = snprintf(path, size, "%s/trundle_test_XXXXXX",
                                temporary && temporary[0] ? temporary : "/tmp");
    if (length >= (int)size || !mkdtemp(path)) fail_msg("no folder for files: %s", path);
}

static char folder[300];

// Whoever wrote into it took its temporary files away.
static inline void remove_folder(void)
{
    DIR *listing = opendir(folder);
    if (!listing) return;
    for (const struct dirent *entry; (entry = readdir(listing));) {
        const size_t length = strlen(entry->d_name);
        const bool is_temporary = length > 4 && strcmp(entry->d_name + length - 4, ".tmp") == 0;
        if (!is_temporary) unlinkat(dirfd(listing), entry->d_name, 0);
    }
    closedir(listing);
    if (rmdir(folder) == 0) return;
    fprintf(stderr, "there is something left in %s\n", folder);
    _exit(1);
}

static inline const char *in_folder(const char *name)
{
    static char path[64][400];
    static int next;
    if (!folder[0]) {
        make_folder(folder, sizeof folder);
        if (atexit(remove_folder) != 0) fail_msg("no folder for files");
    }
    char *out = path[next++ % 64];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

// Before a group of tests that use names without a path: they are those of files in it.
static inline int enter_folder(void **state)
{
    (void)state;
    return chdir(in_folder("."));
}

static inline char *read_text(const char *path)
{
    size_t length = 0;
    tr_error err = {0};
    char *text = tr_file_read(path, 1 << 28, &length, &err);
    if (!text) fail_msg("%s", err.text);
    return text;
}

static inline void write_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

#endif
