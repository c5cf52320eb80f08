// SPDX-License-Identifier: Apache-2.0
#include "fmu/fmu.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const size_t most_bytes = (size_t)1 << 30;
static const Place nowhere = {0};

// ---- machines ------------------------------------------------------------------------------

#if defined __x86_64__
#define ARCHITECTURE "x86_64"
#define BITS         "64"
#elif defined __aarch64__
#define ARCHITECTURE "aarch64"
#define BITS         "64-arm"
#elif defined __i386__
#define ARCHITECTURE "x86"
#define BITS         "32"
#else
#define ARCHITECTURE "unknown"
#define BITS         "-unknown"
#endif
#ifdef __APPLE__
#define SYSTEM "darwin"
#define ENDING ".dylib"
#else
#define SYSTEM "linux"
#define ENDING ".so"
#endif

const char *tr_fmu_binary(const Fmu *fmu, const Interface *interface)
{
    static const char *const folders[] = {SYSTEM BITS, ARCHITECTURE "-" SYSTEM};
    char name[1200];
    for (size_t i = 0; i < 2; i++) { // those of the other version are common, too
        const size_t version = fmu->description.version == 2 ? i : 1 - i;
        snprintf(name, sizeof name, "binaries/%s/%s" ENDING, folders[version],
                 interface->identifier ? interface->identifier : "");
        const ZipItem *item = tr_zip_find(&fmu->zip, name);
        if (item) return item->name;
    }
    return NULL;
}

void tr_fmu_platforms(const Fmu *fmu, char *words, size_t size)
{
    words[0] = 0;
    for (size_t i = 0; i < fmu->zip.count; i++) {
        const char *name = fmu->zip.items[i].name;
        if (!begins_with(name, "binaries/")) continue;
        name += strlen("binaries/");
        char platform[100];
        const size_t length = strcspn(name, "/"), used = strlen(words);
        snprintf(platform, sizeof platform, "%.*s", (int)length, name);
        if (name[length] && name[length + 1] && !strstr(words, platform))
            snprintf(words + used, size - used, "%s%s", used ? ", " : "", platform);
    }
}

bool tr_fmu_has_folder(const Fmu *fmu, const char *folder)
{
    for (size_t i = 0; i < fmu->zip.count; i++)
        if (begins_with(fmu->zip.items[i].name, folder) && fmu->zip.items[i].name[strlen(folder)])
            return true;
    return false;
}

bool tr_fmu_has_sources(const Fmu *fmu) { return tr_fmu_has_folder(fmu, "sources/"); }

// ---- the archive ---------------------------------------------------------------------------

// modelDescription.xml is not at the top: where it is instead
static void tell_missing(Fmu *fmu)
{
    const char *const wanted = "modelDescription.xml";
    for (size_t i = 0; i < fmu->zip.count; i++) {
        const char *name = fmu->zip.items[i].name, *base = strrchr(name, '/');
        if (base && strcmp(base + 1, wanted) == 0) {
            tr_found(&fmu->findings, WRECK, nowhere,
                     "the archive has a folder '%.*s' around its contents: pack what is in it, and "
                     "not the folder",
                     (int)(base - name), name);
            return;
        }
        if (strcasecmp(name, wanted) == 0) {
            tr_found(&fmu->findings, WRECK, nowhere, "'%s' must be called modelDescription.xml",
                     name);
            return;
        }
    }
    tr_found(&fmu->findings, WRECK, nowhere, "there is no modelDescription.xml in the archive");
}

bool tr_fmu_take(Fmu *fmu, const void *bytes, size_t length, tr_error *err)
{
    tr_error own = {0};
    const ZipItem *item = NULL;
    if (tr_zip_open(&fmu->zip, bytes, length, &fmu->arena, &own)) {
        item = tr_zip_find(&fmu->zip, "modelDescription.xml");
        if (!item) tell_missing(fmu);
        fmu->text = tr_zip_read(&fmu->zip, item, &own);
    }
    tr_found_error(&fmu->findings, &own);
    if (fmu->text && tr_description_read(&fmu->description, fmu->text, item->length, &fmu->arena,
                                         &fmu->findings, &own)) {
        tr_fmu_check_contents(fmu);
        tr_description_check(&fmu->description, &fmu->findings);
    }
    if (has_failed(&own)) tr_fail_again(err, &own, "%s", own.text);
    if (fmu->findings.failed) tr_fail_memory(err);
    return !has_failed(err);
}

bool tr_fmu_open(Fmu *fmu, const char *path, tr_error *err)
{
    size_t length = 0;
    *fmu = (Fmu){.path = path};
    fmu->bytes = tr_file_read(path, most_bytes, &length, err);
    return fmu->bytes && tr_fmu_take(fmu, fmu->bytes, length, err);
}

void tr_fmu_close(Fmu *fmu)
{
    tr_fmu_findings_free(&fmu->findings);
    tr_arena_free(&fmu->arena);
    free(fmu->text);
    free(fmu->bytes);
    *fmu = (Fmu){0};
}
