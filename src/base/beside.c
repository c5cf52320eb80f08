// SPDX-License-Identifier: Apache-2.0
// Links are followed on paper (realpath), the result is compared with the folders, and then opened
// from there without following any: what was swapped in between leads nowhere.
#include "base/beside.h"

#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN = 200 }; // of a name, in messages

static void fail_name(tr_error *err, tr_status status, Text name, const char *words)
{
    if (errno == ENOMEM && status == TR_IO)
        tr_fail_memory(err);
    else
        tr_fail(err, status, (Place){0}, "%s'%.*s'%s%s", status == TR_IO ? "cannot read " : "",
                tr_text_cut(name, SHOWN), name.at, status == TR_IO ? ": " : " ", words);
}

static bool leads_up(Text name)
{
    for (size_t from = 0, to; from <= name.length; from = to + 1) {
        for (to = from; to < name.length && name.at[to] != '/';) to++;
        if (to - from == 2 && memcmp(name.at + from, "..", 2) == 0) return true;
    }
    return false;
}

// What of a path lies inside a folder; NULL when it is elsewhere. Neither has links.
static const char *part_inside(const char *path, const char *folder)
{
    const size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

// The model's folder, without links; false when it is not there, with errno, and when it has none,
// for it came through /dev/stdin or another descriptor: then errno is 0.
static bool find_folder(const char *model, char folder[PATH_MAX])
{
    const char *slash = model ? strrchr(model, '/') : NULL;
    const size_t length = slash ? (size_t)(slash - model) + 1 : 0;
    char path[PATH_MAX];
    errno = ENAMETOOLONG;
    if (length >= sizeof path) return false;
    memcpy(path, model ? model : "", length);
    path[length] = '\0';
    if (!realpath(length ? path : ".", folder)) return false;
    errno = 0;
    return strcmp(folder, "/dev") != 0 && !part_inside(folder, "/proc");
}

static bool is_regular(int folder, const char *name)
{
    struct stat info;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);
}

// Opens a regular file by the names of folders on the way, none of them a link; -1 with errno.
static int open_inside(const char *folder, char *part)
{
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (char *slash; at >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
        *slash = '\0';
        const int next = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int reason = errno;
        close(at);
        at = next, errno = reason;
    }
    if (at < 0) return -1;
    int fd = -1;
    if (is_regular(at, part)) // opening a device may do something
        fd = openat(at, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    else
        errno = EINVAL;
    const int reason = errno;
    close(at);
    errno = reason;
    return fd;
}

// The permitted folder that a path lies in: the model's own, else one that is allowed. False when
// there is none.
static bool find_permitted(const Beside *where, const char *path, char folder[PATH_MAX],
                           tr_error *err)
{
    if (find_folder(where->model, folder) && part_inside(path, folder)) return true;
    for (size_t i = 0; i < where->allowed_count && !has_failed(err); i++) {
        if (!realpath(where->allowed[i], folder))
            fail_name(err, TR_IO, text_of(where->allowed[i]), strerror(errno));
        else if (part_inside(path, folder))
            return true;
    }
    return false;
}

static void fail_folder(const Beside *where, Text name, tr_error *err)
{
    const char *model = where->model ? where->model : ".";
    if (errno == ENOMEM)
        tr_fail_memory(err);
    else if (!errno)
        fail_name(err, TR_INVALID, name,
                  "stands beside the model, which came through a pipe: files that are allowed "
                  "(--allow-files DIR) have whole paths there");
    else
        tr_fail(err, TR_IO, (Place){0},
                "cannot read '%.*s': it stands beside the model, '%.*s', whose folder cannot be "
                "opened: %s",
                tr_text_cut(name, SHOWN), name.at, tr_text_cut(text_of(model), SHOWN), model,
                strerror(errno));
}

// Where a name leads, without links; false, with words, when that is nowhere.
static bool resolve(const Beside *where, Text name, char path[PATH_MAX], tr_error *err)
{
    char folder[PATH_MAX], whole[2 * PATH_MAX];
    const bool is_absolute = name.length && name.at[0] == '/';
    const bool has_folder = is_absolute || find_folder(where->model, folder);
    if (!name.length || name.length >= PATH_MAX || memchr(name.at, 0, name.length))
        fail_name(err, TR_INVALID, name, "is no name of a file");
    else if (!has_folder)
        fail_folder(where, name, err);
    else if (!where->allowed_count && (is_absolute || leads_up(name)))
        fail_name(err, TR_INVALID, name,
                  "is not in the folder of the model: --allow-files DIR allows another");
    if (has_failed(err)) return false;
    snprintf(whole, sizeof whole, "%s/%.*s", is_absolute ? "" : folder, (int)name.length, name.at);
    if (realpath(whole, path)) return true;
    fail_name(err, TR_IO, name, strerror(errno));
    return false;
}

char *tr_beside_read(const Beside *where, Text name, size_t limit, size_t *length, char **path,
                     tr_error *err)
{
    char found[PATH_MAX], folder[PATH_MAX], shown[SHOWN + 1];
    *path = NULL;
    if (has_failed(err) || !resolve(where, name, found, err)) return NULL;
    if (!find_permitted(where, found, folder, err)) {
        fail_name(err, TR_INVALID, name,
                  where->allowed_count ? "is not in the folder of the model, nor in one that "
                                         "--allow-files allows"
                                       : "is not in the folder of the model: --allow-files DIR "
                                         "allows another");
        return NULL;
    }
    *path = strdup(found);
    if (!*path) return tr_fail_memory(err), NULL;
    const int fd = open_inside(folder, found + (part_inside(found, folder) - found));
    snprintf(shown, sizeof shown, "%.*s", tr_text_cut(name, SHOWN), name.at);
    char *text = NULL;
    if (fd >= 0)
        text = tr_file_read_open(fd, shown, limit, length, err);
    else
        fail_name(err, TR_IO, name, errno == EINVAL ? "it is no regular file" : strerror(errno));
    if (text) return text;
    free(*path);
    *path = NULL;
    return NULL;
}

char *tr_beside_place(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || !getcwd(folder, sizeof folder)) return strdup(path);
    const size_t size = strlen(folder) + strlen(path) + 2;
    char *whole = malloc(size);
    if (whole) snprintf(whole, size, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path);
    return whole;
}
