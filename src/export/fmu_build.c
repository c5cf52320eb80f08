// SPDX-License-Identifier: Apache-2.0
// The compiler of this machine makes a shared library of sources: it reads one text, in which each
// file stands where it is included, and so no name of a folder comes into what it writes.
#include "export/fmu.h"

#include "base/file.h"
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 40, LONGEST_LIBRARY = 1 << 30 };

const char *tr_fmu_platform(int version)
{
#if defined __x86_64__
    return version == 3 ? "x86_64-linux" : "linux64";
#elif defined __i386__
    return version == 3 ? "x86-linux" : "linux32";
#elif defined __aarch64__
    (void)version;
    return "aarch64-linux";
#else
    (void)version;
    return NULL;
#endif
}

static const Buffer *file_called(const Folder *sources, const char *name, size_t length)
{
    for (uint32_t k = 0; k < sources->count; k++)
        if (strlen(sources->files[k].name) == length &&
            memcmp(sources->files[k].name, name, length) == 0)
            return &sources->files[k].text;
    return NULL;
}

// A file with those that it includes in their places
static void insert_included(const Folder *sources, const Buffer *file, Buffer *out, int depth)
{
    static const char words[] = "#include \"";
    const char *at = file->at, *end = at + file->length;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((line_end ? line_end + 1 : end) - at);
        const Buffer *other = NULL;
        if (depth < 4 && length > sizeof words && memcmp(at, words, sizeof words - 1) == 0) {
            const char *name = at + sizeof words - 1;
            const char *quote = memchr(name, '"', length - sizeof words);
            other = quote ? file_called(sources, name, (size_t)(quote - name)) : NULL;
        }
        if (other)
            insert_included(sources, other, out, depth + 1);
        else
            tr_buffer_add(out, at, length);
        at += length;
    }
}

// "cc", or what CC says, with the words of its command
static size_t compiler(char *room, size_t size, char **words)
{
    const char *cc = getenv("CC");
    snprintf(room, size, "%s", cc && cc[0] ? cc : "cc");
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(room, " ", &rest); word && count < MOST_WORDS - 20;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    if (!count) words[count++] = (char *)"cc";
    return count;
}

static bool run(char **words, int in, tr_error *err)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    const int why = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    while (why == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (why == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    tr_fail(err, TR_IO, (Place){0},
            "the compiler '%.100s' %s%s: set CC to another one, or take --sources-only, which "
            "leaves the binary to whoever loads the FMU",
            words[0], why ? "does not run: " : "fails", why ? strerror(why) : "");
    return false;
}

static bool compile(const char *source, const char *library, tr_error *err)
{
    static const char *const options[] = {"-std=c99",
                                          "-O2",
                                          "-ffp-contract=off",
                                          "-DFMI2_OVERRIDE_FUNCTION_PREFIX",
                                          "-DFMI3_OVERRIDE_FUNCTION_PREFIX",
                                          "-fPIC",
                                          "-shared",
                                          "-fvisibility=hidden",
                                          "-s",
                                          "-x",
                                          "c"};
    char room[1000], *words[MOST_WORDS] = {0};
    size_t count = compiler(room, sizeof room, words), first = 1;
    const size_t all = sizeof options / sizeof *options;
    while (first < count && words[first][0] != '-') first++; // "ccache gcc": behind both
    // so that what CC says wins
    memmove(words + first + all, words + first, (count - first) * sizeof *words);
    for (size_t k = 0; k < all; k++) words[first + k] = (char *)options[k];
    count += all;
    words[count++] = (char *)"-o", words[count++] = (char *)library;
    words[count++] = (char *)"-", words[count++] = (char *)"-lm";
    const int in = open(source, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        tr_fail(err, TR_IO, (Place){0}, "cannot read '%.300s': %s", source, strerror(errno));
        return false;
    }
    const bool good = run(words, in, err);
    close(in);
    return good;
}

static bool make_file(Temporary *file, const Buffer *text, tr_error *err)
{
    const char *folder = getenv("TMPDIR");
    char stem[4096];
    const int length =
        snprintf(stem, sizeof stem, "%s/trundle", folder && folder[0] ? folder : "/tmp");
    const int fd = tr_temporary_open(file, stem, (size_t)length, 0700);
    size_t done = 0;
    while (fd >= 0 && text && done < text->length) {
        const ssize_t more = write(fd, text->at + done, text->length - done);
        if (more <= 0) break;
        done += (size_t)more;
    }
    const bool good = fd >= 0 && (!text || done == text->length);
    if (!good) tr_fail(err, TR_IO, (Place){0}, "cannot write '%.300s': %s", stem, strerror(errno));
    if (fd >= 0) close(fd);
    return good;
}

char *tr_fmu_compile(const Folder *sources, const char *main, size_t *length, tr_error *err)
{
    const Buffer *file = file_called(sources, main, strlen(main));
    Temporary source = {0}, library = {0};
    Buffer whole = {0};
    char *bytes = NULL;
    if (file) insert_included(sources, file, &whole, 0);
    if (!file || whole.failed) tr_fail_memory(err);
    if (!has_failed(err) && make_file(&source, &whole, err) && make_file(&library, NULL, err) &&
        compile(source.path, library.path, err))
        bytes = tr_file_read(library.path, LONGEST_LIBRARY, length, err);
    if (source.path) tr_temporary_remove(&source);
    if (library.path) tr_temporary_remove(&library);
    tr_buffer_free(&whole);
    return bytes;
}
