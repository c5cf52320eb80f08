// SPDX-License-Identifier: Apache-2.0
#include "linear/lapack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEGABYTE ((size_t)1 << 20)
#define LIBRARY  (64 * MEGABYTE) // OpenBLAS and what it needs, mapped
#define THREAD   (48 * MEGABYTE) // of each thread that it begins with: a buffer and a stack
#define BUFFER   (64 * MEGABYTE) // that it works in

static Lapack lapack;
static bool is_loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Whether so much memory could be had, under whatever limits there are
static bool has_room(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED && munmap(at, bytes) == 0;
}

// As many as there are processors, unless someone says otherwise
static size_t threads(void)
{
    const char *said = getenv("OPENBLAS_NUM_THREADS");
    const long count = said ? strtol(said, NULL, 10) : 0;
    const long all = count > 0 ? count : sysconf(_SC_NPROCESSORS_ONLN);
    return all < 1 ? 1 : all > 1024 ? 1024 : (size_t)all;
}

static bool find_functions(void *library)
{
    bool good = true;
    void *at;
#define LAPACK_FIND(name)                  \
    at = dlsym(library, "LAPACKE_" #name); \
    memcpy(&lapack.name, &at, sizeof at);  \
    good = good && at;
    LAPACK_FUNCTIONS(LAPACK_FIND)
#undef LAPACK_FIND
    return good;
}

static bool load(void)
{
    static const char *const names[] = {"liblapacke.so.3", "liblapacke.so", "liblapacke.dylib"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library && find_functions(library);
}

const Lapack *tr_lapack(tr_error *err)
{
    if (has_failed(err)) return NULL;
    pthread_mutex_lock(&lock);
    const bool has_memory = has_room(is_loaded ? BUFFER : LIBRARY + THREAD * threads() + BUFFER);
    if (has_memory && !is_loaded) is_loaded = load();
    const bool good = has_memory && is_loaded;
    pthread_mutex_unlock(&lock);
    if (good) return &lapack;
    if (has_memory)
        tr_fail(err, TR_FAILED, (Place){0},
                "linear models need LAPACK: there is no liblapacke.so.3 that can be loaded");
    else
        tr_fail_memory(err);
    return NULL;
}
