// SPDX-License-Identifier: Apache-2.0
// The files that an FMU needs to run, in a temporary folder. Names were checked when the archive
// was opened, and everything that is made must be new, so nothing is written anywhere else.
#include "fmu/fmu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const Place nowhere = {0};

static char *joined(const char *folder, const char *name, tr_error *err)
{
    Buffer text = {0};
    tr_buffer_print(&text, "%s/%s", folder, name);
    if (text.failed) return tr_buffer_free(&text), tr_fail_memory(err), NULL;
    return text.at;
}

static bool complain(const char *name, tr_error *err)
{
    if (errno == ENOMEM)
        tr_fail_memory(err);
    else
        tr_fail(err, TR_IO, nowhere, "cannot unpack '%.200s' into the temporary folder: %s", name,
                strerror(errno));
    return false;
}

// All folders on the way to a file, one after the other
static bool make_folders(TemporaryFolder *folder, const char *name, tr_error *err)
{
    char path[1100];
    for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/')) {
        snprintf(path, sizeof path, "%.*s", (int)(end - name), name);
        if (tr_temporary_make(folder, path, true) < 0 && errno != EEXIST)
            return complain(path, err);
    }
    return true;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        const ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written, length -= (size_t)written;
    }
    return true;
}

static bool unpack_item(const Fmu *fmu, const ZipItem *item, TemporaryFolder *folder, tr_error *err)
{
    if (!make_folders(folder, item->name, err)) return false;
    if (item->name[strlen(item->name) - 1] == '/') return true;
    char *bytes = tr_zip_read(&fmu->zip, item, err);
    if (!bytes) return false;
    const int fd = tr_temporary_make(folder, item->name, false);
    const bool good = fd >= 0 && write_all(fd, bytes, item->length);
    if (!good) complain(item->name, err);
    if (fd >= 0) close(fd);
    free(bytes);
    return good;
}

// Whether it is in the folder of the binary, or in one of those that running or building needs
static bool is_needed(const char *name, const char *binary)
{
    if (begins_with(name, "resources/")) return true;
    if (!binary) return begins_with(name, "sources/");
    const size_t folder = (size_t)(strrchr(binary, '/') - binary) + 1;
    return strncmp(name, binary, folder) == 0;
}

// Files, and folders on the way to each
static size_t count_needed(const Fmu *fmu, const char *binary)
{
    size_t count = 16; // what building adds
    for (size_t i = 0; i < fmu->zip.count; i++)
        for (const char *at = fmu->zip.items[i].name;
             is_needed(fmu->zip.items[i].name, binary) && at; count++)
            if ((at = strchr(at, '/'))) at++;
    return count;
}

static void tell_no_binary(const Fmu *fmu, const Interface *interface, tr_error *err)
{
    char platforms[300];
    tr_fmu_platforms(fmu, platforms, sizeof platforms);
    const char *sources =
        tr_fmu_has_sources(fmu) ? "; --build compiles its sources by cc, and runs them" : "";
    if (platforms[0])
        tr_fail(err, TR_FAILED, nowhere,
                "there is no binary of '%.60s' for this machine, but for %s%s",
                interface->identifier, platforms, sources);
    else
        tr_fail(err, TR_FAILED, nowhere, "there are no binaries in this FMU%s", sources);
}

bool tr_fmu_unpack(const Fmu *fmu, const Interface *interface, bool build, Unpacked *to,
                   tr_error *err)
{
    const char *binary = tr_fmu_binary(fmu, interface), *where = getenv("TMPDIR");
    char stem[600];
    *to = (Unpacked){0};
    if (!binary && !(build && tr_fmu_has_sources(fmu)))
        return tell_no_binary(fmu, interface, err), false;
    snprintf(stem, sizeof stem, "%.500s/trundle_fmu", where && where[0] == '/' ? where : "/tmp");
    if (!tr_temporary_folder(&to->folder, stem, count_needed(fmu, binary)))
        return complain(stem, err);
    bool has_resources = fmu->description.version == 2; // which asks for a folder in any case
    if (has_resources && tr_temporary_make(&to->folder, "resources", true) < 0)
        return complain("resources", err);
    for (size_t i = 0; i < fmu->zip.count; i++) {
        const ZipItem *item = &fmu->zip.items[i];
        if (!is_needed(item->name, binary)) continue;
        if (!unpack_item(fmu, item, &to->folder, err)) return false;
        has_resources |= begins_with(item->name, "resources/");
    }
    if (has_resources && !(to->resources = joined(to->folder.path, "resources/", err)))
        return false;
    if (!binary) return tr_fmu_build(fmu, interface, to, err);
    to->binary = joined(to->folder.path, binary, err);
    return to->binary != NULL;
}

void tr_unpacked_remove(Unpacked *unpacked)
{
    tr_temporary_folder_remove(&unpacked->folder);
    free(unpacked->binary), free(unpacked->resources);
    *unpacked = (Unpacked){0};
}
