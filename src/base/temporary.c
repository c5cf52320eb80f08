// SPDX-License-Identifier: Apache-2.0
// A name is in the list, or in the hands of the one who took it out: exchanges of pointers decide,
// so a handler may come at any time, in any thread.
#include "base/temporary.h"

#include <trundle/trundle.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LISTED = 64 }; // at once; others stay behind when a signal ends the process
static _Atomic(char *) listed[MOST_LISTED];

static bool put_in(char *path)
{
    for (int i = 0; i < MOST_LISTED; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&listed[i], &none, path)) return true;
    }
    return false;
}

// False when a signal was faster: the name may be read still.
static bool take_out(char *path)
{
    for (int i = 0; i < MOST_LISTED; i++) {
        char *same = path;
        if (atomic_compare_exchange_strong(&listed[i], &same, NULL)) return true;
    }
    return false;
}

// No signal comes between the file and its name in the list.
static int make(Temporary *file, mode_t mode)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
    const int reason = errno;
    file->is_listed = fd >= 0 && put_in(file->path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return fd;
}

// A name that nobody has, not even a run that was killed
int tr_temporary_open(Temporary *file, const char *stem, size_t length, mode_t mode)
{
    enum { SUFFIX = 16, ATTEMPTS = 100 };
    *file = (Temporary){.path = malloc(length + SUFFIX)};
    if (!file->path) return -1;
    memcpy(file->path, stem, length);
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint32_t number = (uint32_t)now.tv_nsec * 2654435761u ^ (uint32_t)getpid() << 12;
    int fd = -1;
    for (int i = 0; i < ATTEMPTS && fd < 0; i++, number++) {
        snprintf(file->path + length, SUFFIX, ".%08x.tmp", (unsigned)number);
        fd = make(file, mode);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd >= 0) return fd;
    const int reason = errno;
    free(file->path);
    *file = (Temporary){0}; // nothing of ours to remove
    errno = reason;
    return -1;
}

void tr_temporary_forget(Temporary *file)
{
    if (!file->is_listed || take_out(file->path)) free(file->path);
    *file = (Temporary){0};
}

void tr_temporary_remove(Temporary *file)
{
    if (!file->path) return;
    unlink(file->path);
    tr_temporary_forget(file);
}

// ---- folders -------------------------------------------------------------------------------

enum { MOST_FOLDERS = 8 };
static _Atomic(TemporaryFolder *) folders[MOST_FOLDERS];

static void remove_listed(const TemporaryFolder *folder)
{
    for (size_t i = folder->count; i-- > 0;)
        if (unlink(folder->made[i]) != 0) rmdir(folder->made[i]);
    rmdir(folder->path);
}

static void list_folder(TemporaryFolder *folder)
{
    for (int i = 0; i < MOST_FOLDERS && !folder->is_listed; i++) {
        TemporaryFolder *none = NULL;
        folder->is_listed = atomic_compare_exchange_strong(&folders[i], &none, folder);
    }
}

bool tr_temporary_folder(TemporaryFolder *folder, const char *stem, size_t capacity)
{
    sigset_t all, before;
    const size_t size = strlen(stem) + sizeof ".XXXXXX";
    *folder = (TemporaryFolder){.path = malloc(size),
                                .made = calloc(capacity + 1, sizeof *folder->made),
                                .capacity = capacity};
    bool good = folder->path && folder->made;
    if (!good) errno = ENOMEM;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (good) {
        snprintf(folder->path, size, "%s.XXXXXX", stem);
        good = mkdtemp(folder->path) != NULL;
    }
    if (good) list_folder(folder);
    const int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!good) {
        free(folder->path), free(folder->made);
        *folder = (TemporaryFolder){0};
    }
    errno = reason;
    return good;
}

int tr_temporary_make(TemporaryFolder *folder, const char *path, bool is_folder)
{
    sigset_t all, before;
    const size_t size = strlen(folder->path) + strlen(path) + 2;
    char *name = folder->count < folder->capacity ? malloc(size) : NULL;
    if (!name) return errno = ENOMEM, -1;
    snprintf(name, size, "%s/%s", folder->path, path);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int fd = is_folder
                       ? mkdir(name, 0700)
                       : open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    const int reason = errno;
    if (fd >= 0) folder->made[folder->count++] = name;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fd < 0) free(name);
    errno = reason;
    return fd;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    remove(path);
    return 0;
}

void tr_temporary_folder_remove(TemporaryFolder *folder)
{
    if (!folder->path) return;
    bool is_ours = !folder->is_listed;
    for (int i = 0; i < MOST_FOLDERS && !is_ours; i++) {
        TemporaryFolder *same = folder;
        is_ours = atomic_compare_exchange_strong(&folders[i], &same, NULL);
    }
    nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    remove_listed(folder); // also when memory ran out
    if (is_ours) {         // else a handler reads it
        for (size_t i = 0; i < folder->count; i++) free(folder->made[i]);
        free(folder->made), free(folder->path);
    }
    *folder = (TemporaryFolder){0};
}

void tr_remove_temporaries(void)
{
    const int reason = errno;
    for (int i = 0; i < MOST_FOLDERS; i++) {
        const TemporaryFolder *folder = atomic_exchange(&folders[i], NULL);
        if (folder) remove_listed(folder);
    }
    for (int i = 0; i < MOST_LISTED; i++) {
        char *path = atomic_exchange(&listed[i], NULL);
        if (path) unlink(path);
    }
    errno = reason;
}
