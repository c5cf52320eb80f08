// SPDX-License-Identifier: Apache-2.0
#include "fmu/instance.h"

#include <dlfcn.h>
#include <stdio.h>

static const Place nowhere = {0};

static bool find_functions(Binary *b, const FmiFunction *functions, size_t count, void *into,
                           tr_error *err)
{
    char words[300] = "";
    size_t missing = 0;
    for (size_t i = 0; i < count; i++) {
        void *at = dlsym(b->library, functions[i].name);
        memcpy((char *)into + i * sizeof at, &at, sizeof at);
        if (at || !(functions[i].kind & (FMI_COMMON | b->kind))) continue;
        missing++;
        tr_list_name(words, sizeof words, functions[i].name);
    }
    if (missing)
        tr_fail(err, TR_INVALID, nowhere,
                "the binary lacks %zu of the functions of its interface: %s", missing, words);
    return !missing;
}

static bool check_version(const Binary *b, tr_error *err)
{
    const bool is_3 = b->fmu->description.version == 3;
    const char *version = is_3 ? b->three.GetVersion() : b->two.GetVersion();
    const bool good = version && (is_3 ? begins_with(version, "3.") : strcmp(version, "2.0") == 0);
    if (!good)
        tr_fail(err, TR_INVALID, nowhere, "the binary is of FMI %.20s, modelDescription.xml of %s",
                version ? version : "without a version", is_3 ? "3" : "2.0");
    if (!good || is_3) return good;
    const char *platform = b->two.GetTypesPlatform();
    if (platform && strcmp(platform, "default") == 0) return true;
    tr_fail(err, TR_INVALID, nowhere, "fmi2GetTypesPlatform gives '%.40s', not 'default'",
            platform ? platform : "");
    return false;
}

bool tr_binary_load(Binary *b, const Fmu *fmu, FmiKind kind, bool build, tr_error *err)
{
    const Description *d = &fmu->description;
    *b = (Binary){.fmu = fmu, .kind = kind, .interface = kind == FMI_ME ? &d->me : &d->cs};
    if (!tr_fmu_unpack(fmu, b->interface, build, &b->files, err)) return false;
    b->library = dlopen(b->files.binary, RTLD_NOW | RTLD_LOCAL);
    if (!b->library) {
        const char *why = dlerror();
        tr_fail(err, TR_FAILED, nowhere, "the binary cannot be loaded: %s", why ? why : "");
        return false;
    }
    return (d->version == 2
                ? find_functions(b, tr_fmi2_functions, FMI2_FUNCTIONS, &b->two, err)
                : find_functions(b, tr_fmi3_functions, FMI3_FUNCTIONS, &b->three, err)) &&
           check_version(b, err);
}

void tr_binary_unload(Binary *b)
{
    if (b->library) dlclose(b->library);
    tr_unpacked_remove(&b->files);
    *b = (Binary){0};
}
