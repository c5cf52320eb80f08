// SPDX-License-Identifier: Apache-2.0
// The file is locked, and removed before the lock is given up; so one that was locked counts only
// if it is still the one of that name. A lock goes with its process, whatever becomes of that.
#include "base/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 40 };
static const long nap = 50000000; // [ns] between them

struct Claim {
    char *path;
    int fd;
};

static bool is_of_name(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

typedef enum Try { TRY_TAKEN, TRY_BUSY, TRY_GONE, TRY_NEVER } Try;

// NEVER: the folder cannot be written, or the file system has no locks.
static Try try_once(const char *path, int *fd)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0) return TRY_NEVER;
    const bool is_locked = flock(*fd, LOCK_EX | LOCK_NB) == 0;
    const Try why = is_locked              ? is_of_name(*fd, path) ? TRY_TAKEN : TRY_GONE
                    : errno == EWOULDBLOCK ? TRY_BUSY
                                           : TRY_NEVER;
    if (why != TRY_TAKEN) close(*fd);
    return why;
}

bool tr_claim_take(const char *path, Claim **claim, tr_error *err)
{
    int fd = -1;
    Try how = TRY_BUSY;
    *claim = NULL;
    for (int i = 0; i < TRIES && how != TRY_TAKEN && how != TRY_NEVER; i++) {
        if (i) nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        how = try_once(path, &fd);
    }
    if (how != TRY_TAKEN) return how == TRY_NEVER;
    *claim = calloc(1, sizeof **claim);
    char *name = strdup(path);
    if (*claim && name) return **claim = (Claim){name, fd}, true;
    free(*claim);
    free(name);
    close(fd);
    *claim = NULL;
    return tr_fail_memory(err), true;
}

void tr_claim_drop(Claim *claim)
{
    if (!claim) return;
    unlink(claim->path);
    close(claim->fd);
    free(claim->path);
    free(claim);
}
