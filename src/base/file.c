// SPDX-License-Identifier: Apache-2.0
// Reading whatever can be read, to its end. Writing under a temporary name beside the file, which a
// rename puts in its place once all of it is on the disk.
#include "base/file.h"

#include "base/error.h"
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

// How long a file seems to be; false, with words, when it cannot be read.
static bool find_size(int fd, const char *path, size_t limit, size_t *expected, tr_error *err)
{
    enum { FIRST_GUESS = 4095 };
    struct stat info = {0};
    if (fstat(fd, &info) != 0)
        fail_file(err, "read", path, strerror(errno));
    else if (S_ISDIR(info.st_mode))
        fail_file(err, "read", path, strerror(EISDIR));
    else if (S_ISREG(info.st_mode) && (uintmax_t)info.st_size > limit)
        fail_too_large(err, path, limit);
    const bool known = S_ISREG(info.st_mode) && info.st_size > 0; // /proc says 0
    *expected = known ? (size_t)info.st_size : FIRST_GUESS;
    return !has_failed(err);
}

char *tr_file_read_open(int fd, const char *name, size_t limit, size_t *length, tr_error *err)
{
    if (limit > PTRDIFF_MAX / 2) limit = PTRDIFF_MAX / 2;
    tr_error own = {0};
    size_t expected = 0;
    Content content = {0};
    const bool ok = find_size(fd, name, limit, &expected, &own) &&
                    read_content(fd, name, expected, limit, &content, &own);
    close(fd);
    if (ok) {
        *length = content.length;
        return content.at;
    }
    tr_fail(err, own.status, (Place){0}, "%s", own.text);
    free(content.at);
    return NULL;
}

char *tr_file_read(const char *path, size_t limit, size_t *length, tr_error *err)
{
    if (!path || has_failed(err)) return NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0) return tr_file_read_open(fd, path, limit, length, err);
    fail_file(err, "read", path, strerror(errno));
    return NULL;
}

// ---- writing ----------------------------------------------------------------------------------

struct OutFile {
    FILE *stream;
    char *path;          // as the user wrote it, for messages
    char *target;        // the file that is replaced in the end
    Temporary temporary; // what is written until then; none when written in place
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

// The temporary file for `target`: in the same directory, so that renaming is possible.
static int open_temporary(OutFile *file, mode_t mode)
{
    enum { LONGEST_NAME = 200 }; // file systems allow 255
    const size_t directory = directory_length(file->target);
    const Text name = text_of(file->target + directory);
    const size_t length = (size_t)tr_text_cut(name, LONGEST_NAME);
    return tr_temporary_open(&file->temporary, file->target, directory + length, mode);
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

bool tr_file_is_replaced(const OutFile *file) { return file && file->temporary.path; }

// Whether what a descriptor names is on the disk, as far as there is a disk.
static bool is_stored(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

// The names in a folder, too. Not every file system can say so.
static void store_folder(const char *path)
{
    const size_t length = directory_length(path);
    char *folder = length ? strndup(path, length) : strdup(".");
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) (void)fsync(fd), close(fd);
    free(folder);
}

// What was written so far leaves the process. NULL, or what went wrong.
static const char *flush(const OutFile *file)
{
    errno = 0;
    if (fflush(file->stream) == 0 && !ferror(file->stream)) return NULL;
    return errno ? strerror(errno) : "an earlier write failed";
}

bool tr_file_flush(const OutFile *file, tr_error *err)
{
    const char *reason = flush(file);
    if (reason) fail_file(err, "write", file->path, reason);
    return !reason;
}

bool tr_file_add(const OutFile *file, const void *bytes, size_t length, tr_error *err)
{
    if (fwrite(bytes, 1, length, file->stream) == length) return true;
    fail_file(err, "write", file->path, strerror(errno));
    return false;
}

// Brings everything out. NULL, or what went wrong.
static const char *bring_out(OutFile *file)
{
    if (!file->stream) return NULL;
    const char *reason = flush(file);
    if (reason) return reason;
    if (file->stream == stdout) return NULL;
    if (file->temporary.path && !is_stored(fileno(file->stream))) return strerror(errno);
    FILE *stream = file->stream;
    file->stream = NULL;
    return fclose(stream) != 0 ? strerror(errno) : NULL;
}

bool tr_file_settle(OutFile *file, tr_error *err)
{
    if (!file || has_failed(err)) return false;
    const char *reason = bring_out(file);
    if (reason) fail_file(err, "write", file->path, reason);
    return !reason;
}

// The file under its name
static bool put_in_place(OutFile *file, tr_error *err)
{
    if (!file->temporary.path) return true;
    if (rename(file->temporary.path, file->target) != 0) {
        fail_file(err, "write", file->path, strerror(errno));
        return false;
    }
    tr_temporary_forget(&file->temporary);
    store_folder(file->target);
    return true;
}

bool tr_files_commit(OutFile *const *files, size_t count, tr_error *err)
{
    bool good = true;
    for (size_t i = 0; good && i < count; i++) good = tr_file_settle(files[i], err);
    for (size_t i = 0; good && i < count; i++) good = put_in_place(files[i], err);
    for (size_t i = 0; i < count; i++) tr_file_discard(files[i]); // what is left of it
    return good;
}

bool tr_file_commit(OutFile *file, tr_error *err) { return tr_files_commit(&file, 1, err); }

void tr_file_discard(OutFile *file)
{
    if (!file) return;
    if (file->stream && file->stream != stdout) fclose(file->stream);
    tr_temporary_remove(&file->temporary);
    free(file->path);
    free(file->target);
    free(file);
}

// ---- which file ---------------------------------------------------------------------------------

// What a path leads to: a file, or the name that one would have in a folder
typedef struct Spot {
    struct stat info; // of the file, else of the folder
    char *name;       // NULL of a file
} Spot;

static bool find_spot(const char *path, Spot *spot)
{
    *spot = (Spot){0};
    if (!path || !path[0]) return false;
    if (stat(path, &spot->info) == 0) return true;
    char *target = follow_links(path);
    if (!target) return false;
    const size_t length = directory_length(target);
    spot->name = strdup(target + length);
    target[length] = '\0';
    const bool good = spot->name && stat(length ? target : ".", &spot->info) == 0;
    free(target);
    if (!good) free(spot->name);
    return good;
}

bool tr_is_same_file(const char *a, const char *b)
{
    Spot one, other;
    if (!find_spot(a, &one)) return false;
    bool same = false;
    if (find_spot(b, &other)) {
        same = one.info.st_dev == other.info.st_dev && one.info.st_ino == other.info.st_ino &&
               !one.name == !other.name && (!one.name || strcmp(one.name, other.name) == 0) &&
               (one.name || S_ISREG(one.info.st_mode)); // devices and pipes take all there is
        free(other.name);
    }
    free(one.name);
    return same;
}
