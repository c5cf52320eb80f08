// SPDX-License-Identifier: Apache-2.0
// Which files a verb reads and writes. None is written over that is read, and no two results go to
// one file.
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- standard descriptors ------------------------------------------------------------------

// Reading where one is written and writing where one is read, so that using them is an error.
bool cli_open_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) return false;
    }
    return true;
}

int cli_close_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (status != TR_IO) // which has been said
        cli_say("trundle: cannot write '-': %s\n",
                errno ? strerror(errno) : "an earlier write failed");
    return TR_IO;
}

// ---- results -------------------------------------------------------------------------------

enum { MOST_RESULTS = 4 };
typedef struct Result {
    const char *what, *path;
    const char *of; // the file that it stands beside, or NULL
} Result;

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

static bool is_same(const char *a, const char *b)
{
    if (is_standard_output(a) && is_standard_output(b)) return true;
    return tr_is_same_file(is_standard_output(a) ? "/dev/stdout" : a,
                           is_standard_output(b) ? "/dev/stdout" : b);
}

// All that the verb will write. The certificate is the caller's to free.
static size_t list_results(const Options *o, Result *results, char **certificate)
{
    size_t count = 0;
    const bool simulates = o->verb->self == OF_SIMULATE;
    const char *output = o->output ? o->output : simulates && o->report ? NULL : "-";
    if (output) results[count++] = (Result){simulates ? "rows" : "results", output, NULL};
    if (o->report) results[count++] = (Result){"report", o->report, NULL};
    if (o->picture) results[count++] = (Result){"picture", o->picture, NULL};
    *certificate = simulates && o->output && !is_standard_output(o->output)
                       ? tr_certificate_beside(o->output, NULL)
                       : NULL;
    if (*certificate) results[count++] = (Result){"certificate", *certificate, o->output};
    return count;
}

static bool destroys(const Result *result, const char *read)
{
    if (!read || !is_same(result->path, read)) return false;
    if (result->of)
        cli_say("trundle: '%s' would be overwritten by the certificate of '%s': write to another "
                "file\n",
                read, result->of);
    else
        cli_say("trundle: '%s' would be overwritten: write to another file\n", read);
    return true;
}

// A run, and the certificate that is read with it
static bool destroys_run(const Result *result, const char *run)
{
    char *certificate = tr_certificate_beside(run, NULL);
    const bool bad = destroys(result, run) || destroys(result, certificate);
    tr_text_free(certificate);
    return bad;
}

static bool destroys_anything(const Options *o, const Result *result)
{
    if (destroys(result, o->model) || destroys(result, o->page) || destroys(result, o->path) ||
        destroys(result, o->table))
        return true;
    for (size_t i = 0; i < o->data.count; i++)
        if (destroys(result, o->data.word[i])) return true;
    for (size_t i = 0; i < o->runs.count; i++)
        if (destroys_run(result, o->runs.word[i])) return true;
    for (size_t i = 0; i < o->with.count; i++)
        if (destroys(result, o->with.word[i])) return true;
    return false;
}

bool cli_destroys(const Options *options)
{
    Result results[MOST_RESULTS];
    char *certificate;
    const size_t count = list_results(options, results, &certificate);
    bool bad = false;
    for (size_t i = 0; i < count && !bad; i++) {
        bad = destroys_anything(options, &results[i]);
        for (size_t k = 0; k < i && !bad; k++)
            if (is_same(results[k].path, results[i].path)) {
                cli_say("trundle: %s and %s cannot both go to '%s'\n", results[k].what,
                        results[i].what, results[i].path);
                bad = true;
            }
    }
    tr_text_free(certificate);
    return bad;
}

bool cli_destroys_part(const Options *options, const tr_system *system)
{
    Result results[MOST_RESULTS];
    char *certificate;
    const char *file;
    const size_t count = list_results(options, results, &certificate);
    bool bad = false;
    for (size_t i = 0; i < count && !bad; i++)
        for (size_t k = 0; !bad && (file = tr_system_file(system, k)); k++)
            bad = destroys(&results[i], file);
    tr_text_free(certificate);
    return bad;
}
