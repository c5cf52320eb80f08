// SPDX-License-Identifier: Apache-2.0
// Reading whatever can be read, to its end. Writing under a temporary name beside the file, which a
// rename puts in its place.
#include "base/file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// "cannot read 'model.yaml': No such file or directory". Of a very long path the end is shown, so
// that the reason still fits.
static void fail_file(tr_error *err, const char *doing, const char *path, const char *reason)
{
    enum { SHOWN = 300 };
    const size_t length = strlen(path);
    const char *tail = length > SHOWN ? path + length - SHOWN : path;
    while (tail > path && (*tail & 0xc0) == 0x80) tail++; // not from the middle of a character
    tr_fail(err, TR_IO, (Place){0}, "cannot %s '%s%s': %s", doing, tail > path ? "..." : "", tail,
            reason);
}

// ---- reading ----------------------------------------------------------------------------------

typedef struct Content {
    char *at;
    size_t length, capacity;
} Content;

// Fills the room that is left. 1: there may be more, 0: that was all, -1: error in errno.
static int read_some(int fd, Content *content)
{
    for (;;) {
        size_t room = content->capacity - content->length;
        if (room > SSIZE_MAX) room = SSIZE_MAX;
        const ssize_t got = read(fd, content->at + content->length, room);
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) content->length += (size_t)got;
        return got < 0 ? -1 : got > 0;
    }
}

static bool enlarge(Content *content, size_t capacity)
{
    char *moved = realloc(content->at, capacity);
    if (!moved) return false;
    content->at = moved;
    content->capacity = capacity;
    return true;
}

static void fail_too_large(tr_error *err, const char *path, size_t limit)
{
    char reason[80];
    snprintf(reason, sizeof reason, "it is larger than the limit of %zu bytes", limit);
    fail_file(err, "read", path, reason);
}

// Reads to the end. The capacity is one more than what is known to come, so that the end is seen
// without growing; it is at most limit + 1, where one byte proves that there is too much.
static bool read_content(int fd, const char *path, size_t expected, size_t limit, Content *content,
                         tr_error *err)
{
    size_t wanted = expected + 1;
    for (;;) {
        if (wanted > limit) wanted = limit + 1;
        if (!enlarge(content, wanted)) return tr_fail_memory(err), false;
        int more = 1;
        while (more > 0 && content->length < content->capacity) more = read_some(fd, content);
        if (more < 0) return fail_file(err, "read", path, strerror(errno)), false;
        if (content->length > limit) return fail_too_large(err, path, limit), false;
        if (more == 0) break;
        wanted = 2 * content->capacity;
    }
    content->at[content->length] = '\0'; // the last read had room for at least one byte
    return true;
}

// Opens what can be read and says how long it seems to be; -1 on error.
static int open_to_read(const char *path, size_t limit, size_t *expected, tr_error *err)
{
    enum { FIRST_GUESS = 4095 };
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        fail_file(err, "read", path, strerror(errno));
    else if (S_ISDIR(info.st_mode))
        fail_file(err, "read", path, strerror(EISDIR));
    else if (S_ISREG(info.st_mode) && (uintmax_t)info.st_size > limit)
        fail_too_large(err, path, limit);
    else {
        const bool known = S_ISREG(info.st_mode) && info.st_size > 0; // /proc says 0
        *expected = known ? (size_t)info.st_size : FIRST_GUESS;
        return fd;
    }
    if (fd >= 0) close(fd);
    return -1;
}

char *tr_file_read(const char *path, size_t limit, size_t *length, tr_error *err)
{
    if (!path || has_failed(err)) return NULL;
    if (limit > PTRDIFF_MAX / 2) limit = PTRDIFF_MAX / 2;
    size_t expected = 0;
    const int fd = open_to_read(path, limit, &expected, err);
    if (fd < 0) return NULL;
    Content content = {0};
    const bool ok = read_content(fd, path, expected, limit, &content, err);
    close(fd);
    if (!ok) {
        free(content.at);
        return NULL;
    }
    *length = content.length;
    return content.at;
}

// ---- writing ----------------------------------------------------------------------------------

struct OutFile {
    FILE *stream;
    char *path;      // as the user wrote it, for messages
    char *target;    // the file that is replaced in the end
    char *temporary; // what is written until then; NULL when written in place
};

static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

// Where the link at `path` points, seen from where `path` is seen; NULL with errno.
static char *link_target(const char *path)
{
    char target[PATH_MAX];
    const ssize_t length = readlink(path, target, sizeof target);
    if (length < 0) return NULL;
    if (length == sizeof target) return errno = ENAMETOOLONG, NULL;
    const size_t directory = target[0] == '/' ? 0 : directory_length(path);
    char *joined = malloc(directory + (size_t)length + 1);
    if (!joined) return NULL;
    memcpy(joined, path, directory);
    memcpy(joined + directory, target, (size_t)length);
    joined[directory + (size_t)length] = '\0';
    return joined;
}

// Follows links until a file or nothing is there, so that a link stays a link; NULL with errno.
static char *follow_links(const char *path)
{
    enum { MOST_LINKS = 40 };
    char *at = strdup(path);
    for (int links = 0; at && links < MOST_LINKS; links++) {
        struct stat info;
        const bool exists = lstat(at, &info) == 0;
        if (!exists || !S_ISLNK(info.st_mode)) return at;
        char *next = link_target(at);
        free(at);
        at = next;
    }
    if (!at) return NULL;
    free(at);
    errno = ELOOP;
    return NULL;
}

// The temporary file for `target`: the same directory, so that renaming is possible, and a name
// that nobody has. The process mask applies to `mode` as to any new file.
static int open_temporary(OutFile *file, mode_t mode)
{
    enum { LONGEST_NAME = 200, SUFFIX = 16, ATTEMPTS = 100 }; // file systems allow 255
    const size_t directory = directory_length(file->target);
    const char *name = file->target + directory;
    size_t length = strlen(name);
    if (length > LONGEST_NAME) length = LONGEST_NAME;
    while (length > 0 && (name[length] & 0xc0) == 0x80) length--; // no half characters
    const size_t size = directory + length + SUFFIX;
    file->temporary = malloc(size);
    if (!file->temporary) return -1;
    memcpy(file->temporary, file->target, directory + length);

    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint32_t number = (uint32_t)now.tv_nsec * 2654435761u ^ (uint32_t)getpid() << 12;
    int fd = -1;
    for (int i = 0; i < ATTEMPTS && fd < 0; i++, number++) {
        snprintf(file->temporary + directory + length, SUFFIX, ".%08x.tmp", (unsigned)number);
        fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd >= 0) return fd;
    free(file->temporary);
    file->temporary = NULL; // nothing of ours to remove
    return -1;
}

// The new content of a regular file with the permissions of the old, or of a file not yet there.
static int open_replacement(OutFile *file, const struct stat *old)
{
    if (file->target[directory_length(file->target)] == '\0') { // "" or "new/"
        errno = file->target[0] ? EISDIR : ENOENT;
        return -1;
    }
    if (!old) return open_temporary(file, 0666);
    if (faccessat(AT_FDCWD, file->target, W_OK, AT_EACCESS) != 0)
        return -1; // renaming would not mind a read-only file
    const mode_t mode = old->st_mode & 0777;
    const int fd = open_temporary(file, mode);
    if (fd >= 0) (void)fchmod(fd, mode); // what the mask took; where it fails the file is stricter
    return fd;
}

// Opens a descriptor for file->path, and a stream on it; false with errno.
static bool open_to_write(OutFile *file)
{
    struct stat info, behind;
    const bool exists = stat(file->path, &info) == 0;
    if (!exists && errno != ENOENT) return false;
    bool in_place = exists && !S_ISREG(info.st_mode);
    if (!in_place) {
        file->target = follow_links(file->path);
        if (!file->target) return false;
        // A link of /proc may lead to a file that has no name any more.
        in_place = exists && (stat(file->target, &behind) != 0 || behind.st_ino != info.st_ino ||
                              behind.st_dev != info.st_dev);
    }
    const int fd = in_place ? open(file->path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY)
                            : open_replacement(file, exists ? &info : NULL);
    if (fd < 0) return false;
    file->stream = fdopen(fd, "w");
    if (file->stream) return true;
    const int reason = errno;
    close(fd);
    errno = reason;
    return false;
}

OutFile *tr_file_create(const char *path, tr_error *err)
{
    if (!path || has_failed(err)) return NULL;
    OutFile *file = calloc(1, sizeof *file);
    if (!file) return tr_fail_memory(err), NULL;
    const bool standard_output = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
    if (standard_output) file->stream = stdout;
    file->path = strdup(path);
    if (file->path && (standard_output || open_to_write(file))) return file;
    if (errno == ENOMEM)
        tr_fail_memory(err);
    else
        fail_file(err, "write", path, strerror(errno));
    tr_file_discard(file);
    return NULL;
}

FILE *tr_file_stream(OutFile *file) { return file ? file->stream : NULL; }

// Brings everything out and the file under its name. NULL, or what went wrong.
static const char *finish(OutFile *file)
{
    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream))
        return errno ? strerror(errno) : "an earlier write failed";
    if (file->stream == stdout) return NULL;
    FILE *stream = file->stream;
    file->stream = NULL;
    if (fclose(stream) != 0) return strerror(errno);
    if (!file->temporary) return NULL;
    if (rename(file->temporary, file->target) != 0) return strerror(errno);
    free(file->temporary);
    file->temporary = NULL;
    return NULL;
}

bool tr_file_commit(OutFile *file, tr_error *err)
{
    if (!file) return false;
    bool ok = false;
    if (!has_failed(err)) {
        const char *reason = finish(file);
        if (reason) fail_file(err, "write", file->path, reason);
        ok = !reason;
    }
    tr_file_discard(file); // what is left of it
    return ok;
}

void tr_file_discard(OutFile *file)
{
    if (!file) return;
    if (file->stream && file->stream != stdout) fclose(file->stream);
    if (file->temporary) unlink(file->temporary);
    free(file->path);
    free(file->target);
    free(file->temporary);
    free(file);
}
