// SPDX-License-Identifier: Apache-2.0
// A name is in the list, or in the hands of the one who took it out: exchanges of pointers decide,
// so a handler may come at any time, in any thread.
#include "base/temporary.h"

#include <trundle/trundle.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

void tr_remove_temporaries(void)
{
    const int reason = errno;
    for (int i = 0; i < MOST_LISTED; i++) {
        char *path = atomic_exchange(&listed[i], NULL);
        if (path) unlink(path);
    }
    errno = reason;
}
