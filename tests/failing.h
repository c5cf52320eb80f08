// SPDX-License-Identifier: Apache-2.0
// Allocation failing at every n-th call, one call at a time: nothing leaks, nothing crashes, no
// file is left half written, and the error says so. The linker sends the library's allocations
// through the functions below. Those inside the libraries that it calls do not fail here: they are
// not ours to check, and CVODE and ARKODE crash on some of theirs.
#ifndef TR_TESTS_FAILING_H
#define TR_TESTS_FAILING_H

#include "base/error.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <time.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_realloc(void *at, size_t size);
void __real_free(void *at);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_realloc(void *at, size_t size);
void __wrap_free(void *at);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);

int __wrap_fsync(int fd);

// Files are written tens of thousands of times here: disks need not know.
int __wrap_fsync(int fd)
{
    (void)fd;
    return 0;
}

static _Atomic long calls, living; // also of threads
static long fail_at;               // 0: never

static inline bool fails_now(void)
{
    if (++calls != fail_at) return false;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    void *at = fails_now() ? NULL : __real_malloc(size);
    living += at != NULL;
    return at;
}
void *__wrap_calloc(size_t count, size_t size)
{
    void *at = fails_now() ? NULL : __real_calloc(count, size);
    living += at != NULL;
    return at;
}
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    void *at = fails_now() ? NULL : __real_aligned_alloc(alignment, size);
    living += at != NULL;
    return at;
}
void *__wrap_realloc(void *old, size_t size)
{
    if (fails_now()) return NULL;
    void *at = __real_realloc(old, size);
    living += !old && at;
    return at;
}
char *__wrap_strdup(const char *text)
{
    char *at = fails_now() ? NULL : __real_strdup(text);
    living += at != NULL;
    return at;
}
char *__wrap_strndup(const char *text, size_t length)
{
    char *at = fails_now() ? NULL : __real_strndup(text, length);
    living += at != NULL;
    return at;
}
void __wrap_free(void *at)
{
    living -= at != NULL;
    __real_free(at);
}

// ---- jobs: each does something whole and cleans up; true when it worked --------------------

static inline int is_unfinished(const struct dirent *entry)
{
    return strncmp(entry->d_name, "memory_", 7) == 0 && strstr(entry->d_name, ".tmp");
}

static inline void assert_nothing_unfinished(long n)
{
    struct dirent **entries = NULL;
    const int count = scandir(".", &entries, is_unfinished, NULL);
    if (count != 0) fail_msg("call %ld failing leaves %s", n, count > 0 ? entries[0]->d_name : "?");
    free(entries);
}

static inline void fail_one(bool (*job)(tr_error *), long n, long total)
{
    fail_at = n, calls = 0;
    living = 0;
    tr_error err = {0};
    const bool good = job(&err);
    fail_at = 0;
    if (living != 0) fail_msg("call %ld of %ld failing leaks %ld", n, total, living);
    assert_nothing_unfinished(n);
    if (good) return; // a spare allocation: the job could do without
    const bool said = err.status == TR_NO_MEMORY || strstr(err.text, strerror(ENOMEM));
    if (!said) fail_msg("call %ld of %ld: %d %s", n, total, err.status, err.text);
    assert_true(err.text[0]);
}

static long wanted; // calls of each job that allocates much; 0: as many as the time allows

// At most so many calls, evenly spread
static inline void sweep_some(bool (*job)(tr_error *), long most)
{
    if (wanted && most != LONG_MAX) most = wanted;
    fail_at = 0, calls = 0;
    living = 0;
    tr_error fine = {0};
    const bool works = job(&fine);
    if (!works) fail_msg("the job fails by itself: %s", fine.text);
    assert_int_equal(living, 0);
    const long total = calls, stride = 1 + total / most;
    assert_true(total > 0);
    const clock_t start = clock();
    for (long n = 1 + total % stride; n <= total; n += stride) fail_one(job, n, total);
    print_message("%ld of %ld calls, %.1f s\n", total / stride, total,
                  (double)(clock() - start) / CLOCKS_PER_SEC);
}

#if defined(TR_COVERAGE) || (defined(TR_FULL) && !SLOW_BUILD)
#define MOST_CALLS LONG_MAX
#else
#define MOST_CALLS (BRIEF ? 250 : 600) // all of them take minutes
#endif

static inline void sweep(bool (*job)(tr_error *)) { sweep_some(job, MOST_CALLS); }

#endif
