// SPDX-License-Identifier: Apache-2.0
#include "base/late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of all, for they are loaded once

bool tr_has_room(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED && munmap(at, bytes) == 0;
}

static bool find_functions(Late *library, void *handle)
{
    for (size_t i = 0; i < library->count; i++) {
        void *at = dlsym(handle, library->names[i]);
        if (!at) return false;
        memcpy((char *)library->functions + i * sizeof at, &at, sizeof at);
    }
    return true;
}

static bool load(Late *library)
{
    enum { FILES = sizeof library->files / sizeof *library->files };
    for (size_t i = 0; i < FILES && library->files[i]; i++) {
        void *handle =
            dlopen(library->files[i], RTLD_NOW | (library->is_global ? RTLD_GLOBAL : RTLD_LOCAL));
        if (handle && find_functions(library, handle)) return true;
        if (handle) dlclose(handle);
    }
    return false;
}

bool tr_late_load(Late *library, size_t bytes, tr_error *err)
{
    if (has_failed(err)) return false;
    pthread_mutex_lock(&lock);
    const bool has_memory = library->is_loaded || tr_has_room(bytes);
    if (has_memory && !library->is_loaded) library->is_loaded = load(library);
    const bool is_loaded = library->is_loaded;
    pthread_mutex_unlock(&lock);
    if (!has_memory)
        tr_fail_memory(err);
    else if (!is_loaded)
        tr_fail(err, TR_FAILED, (Place){0}, "%s: there is no %s that can be loaded", library->need,
                library->files[0]);
    return is_loaded;
}
