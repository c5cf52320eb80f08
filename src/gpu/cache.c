// SPDX-License-Identifier: Apache-2.0
#include "gpu/cache.h"

#include "base/file.h"
#include "base/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DIGEST = TR_SHA256_SIZE - 1 }; // [bytes] behind an image, of what it is

static bool make_folder(const char *path)
{
    struct stat is;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
    return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

static bool folder(char *out, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char path[3000];
    int length = -1;
    if (cache && cache[0] == '/')
        length = snprintf(path, sizeof path, "%s", cache);
    else if (home && home[0] == '/')
        length = snprintf(path, sizeof path, "%s/.cache", home);
    if (length < 0 || length >= (int)sizeof path || !make_folder(path)) return false;
    static const char *const below[] = {"/trundle", "/gpu"};
    for (int i = 0; i < 2; i++) {
        if (strlen(path) + strlen(below[i]) + 1 > sizeof path) return false;
        strcat(path, below[i]);
        if (!make_folder(path)) return false;
    }
    return snprintf(out, size, "%s", path) < (int)size;
}

bool tr_gpu_cache_path(const char *ptx, const char *besides, char *out, size_t size)
{
    char where[3200], hash[TR_SHA256_SIZE];
    Buffer all = {0};
    tr_buffer_print(&all, "%s\n", besides);
    tr_buffer_add(&all, ptx, strlen(ptx));
    const bool good = !all.failed && folder(where, sizeof where);
    if (good) tr_sha256(all.at, all.length, hash);
    tr_buffer_free(&all);
    return good && snprintf(out, size, "%s/%s.cubin", where, hash) < (int)size;
}

bool tr_gpu_cache_read(const char *path, Buffer *out)
{
    FILE *file = fopen(path, "rb");
    char part[4096];
    size_t count;
    if (!file) return false;
    while ((count = fread(part, 1, sizeof part, file)) > 0) tr_buffer_add(out, part, count);
    const bool is_read = !ferror(file) && !out->failed && out->length > DIGEST;
    fclose(file);
    if (!is_read) return false;
    char hash[TR_SHA256_SIZE];
    out->length -= DIGEST;
    tr_sha256(out->at, out->length, hash);
    return memcmp(out->at + out->length, hash, DIGEST) == 0;
}

void tr_gpu_cache_write(const char *path, const void *bytes, size_t count)
{
    tr_error err = {0};
    OutFile *out = tr_file_create(path, &err);
    if (!out) return;
    char hash[TR_SHA256_SIZE];
    tr_sha256(bytes, count, hash);
    fwrite(bytes, 1, count, tr_file_stream(out));
    fwrite(hash, 1, DIGEST, tr_file_stream(out));
    tr_files_commit(&out, 1, &err);
}
