// SPDX-License-Identifier: Apache-2.0
// What is in the archive beside modelDescription.xml: folders, binaries by platform, sources and
// how they are built. FMI 2.0, section 2.3; FMI 3.0, section 2.5.
#include "fmu/fmu.h"
#include "fmu/schema.h"

#include <stdio.h>
#include <stdlib.h>

static const Place nowhere = {0};

#define MISTAKEN(...) tr_found(&fmu->findings, MISTAKE, nowhere, __VA_ARGS__)
#define STRANGE(...)  tr_found(&fmu->findings, REMARK, nowhere, __VA_ARGS__)

// ---- binaries ------------------------------------------------------------------------------

// Names that both versions have for one platform: the standard leaves others to vendors
static const char *const platforms[][2] = {
    {"win32", "x86-windows"},    {"win64", "x86_64-windows"}, {"linux32", "x86-linux"},
    {"linux64", "x86_64-linux"}, {"darwin32", "x86-darwin"},  {"darwin64", "x86_64-darwin"}};
enum { PLATFORMS = sizeof platforms / sizeof *platforms };

// <arch>-<sys>, perhaps with "-<abi>" behind it
static bool is_tuple(const char *name)
{
    static const char *const machines[] = {"aarch32", "aarch64", "riscv32", "riscv64", "riscv128",
                                           "x86",     "x86_64",  "ppc32",   "ppc64"};
    static const char *const systems[] = {"linux", "windows", "darwin"};
    enum { MACHINES = sizeof machines / sizeof *machines, SYSTEMS = 3 };
    char machine[40], system[40];
    const char *dash = strchr(name, '-');
    if (!dash) return false;
    snprintf(machine, sizeof machine, "%.*s", (int)(dash - name), name);
    snprintf(system, sizeof system, "%.*s", (int)strcspn(dash + 1, "-"), dash + 1);
    return tr_find_name(machines, MACHINES, machine) < MACHINES &&
           tr_find_name(systems, SYSTEMS, system) < SYSTEMS;
}

static bool has_platform(const Fmu *fmu, const char *platform)
{
    char folder[140];
    snprintf(folder, sizeof folder, "binaries/%s/", platform);
    return tr_fmu_has_folder(fmu, folder);
}

static void check_platform_name(Fmu *fmu, const char *platform)
{
    const int own = fmu->description.version == 2 ? 0 : 1;
    for (int i = 0; i < PLATFORMS; i++) {
        if (strcmp(platform, platforms[i][own]) == 0) return;
        if (strcmp(platform, platforms[i][1 - own]) != 0) continue;
        const char *right = platforms[i][own];
        if (has_platform(fmu, right))
            STRANGE("'binaries/%s' is there as well as 'binaries/%s'", platform, right);
        else
            MISTAKEN("'binaries/%s' is called '%s' in FMI %d", platform, right, own + 2);
        return;
    }
    if (!is_tuple(platform))
        STRANGE("'binaries/%.60s' is no platform that the standard has a name for", platform);
}

static const char *ending_of(const char *platform)
{
    if (begins_with(platform, "darwin") || strstr(platform, "-darwin")) return ".dylib";
    if (begins_with(platform, "win") || strstr(platform, "-windows")) return ".dll";
    if (begins_with(platform, "linux") || strstr(platform, "-linux")) return ".so";
    return NULL;
}

// A shared library, or one to be linked with, which may be deeper: <platform>/gcc3.1/name.a
static bool is_library(const char *name, const char *identifier, const char *shared)
{
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    const size_t length = strlen(identifier);
    if (strncmp(base, identifier, length) != 0) return false;
    const char *ending = base + length;
    if (strcmp(ending, ".lib") == 0 || strcmp(ending, ".a") == 0) return true;
    return base == name && (shared ? strcmp(ending, shared) == 0 : ending[0] == '.');
}

static void check_library(Fmu *fmu, const Interface *interface, const char *platform)
{
    char folder[140];
    const char *shared = ending_of(platform);
    if (!interface->xml || !interface->identifier) return;
    snprintf(folder, sizeof folder, "binaries/%s/", platform);
    for (size_t i = 0; i < fmu->zip.count; i++) {
        const char *name = fmu->zip.items[i].name;
        if (begins_with(name, folder) &&
            is_library(name + strlen(folder), interface->identifier, shared))
            return;
    }
    MISTAKEN("there is no '%s%.60s%s' in the archive, which is what <%s> is called", folder,
             interface->identifier, shared ? shared : "", interface->xml->name);
}

static void check_binaries(Fmu *fmu)
{
    enum { MOST = 50 };
    char seen[MOST][100];
    size_t count = 0;
    const Description *d = &fmu->description;
    for (size_t i = 0; i < fmu->zip.count && count < MOST; i++) {
        const char *name = fmu->zip.items[i].name;
        if (!begins_with(name, "binaries/")) continue;
        name += strlen("binaries/");
        const size_t length = strcspn(name, "/");
        if (!name[length] || !name[length + 1]) continue; // a folder alone
        size_t k = 0;
        snprintf(seen[count], sizeof seen[0], "%.*s", (int)length, name);
        while (strcmp(seen[k], seen[count]) != 0) k++;
        if (k < count) continue;
        check_platform_name(fmu, seen[count]);
        check_library(fmu, &d->me, seen[count]);
        check_library(fmu, &d->cs, seen[count]);
        check_library(fmu, &d->se, seen[count]);
        count++;
    }
}

// ---- sources -------------------------------------------------------------------------------

// Of 2.0
static void check_listed(Fmu *fmu, const Interface *interface)
{
    char name[1200];
    const Xml *files = tr_xml_child(interface->xml, "SourceFiles");
    for (const Xml *file = files ? files->first : NULL; file; file = file->next) {
        const char *given = tr_xml_value(file, "name");
        snprintf(name, sizeof name, "sources/%s", given ? given : "");
        if (!tr_zip_find(&fmu->zip, name))
            tr_found(&fmu->findings, MISTAKE, file->at, "there is no '%.200s' in the archive",
                     name);
    }
}

#define WRONG(where, ...) tr_found(findings, MISTAKE, (where)->at, __VA_ARGS__)

static bool leads_out(const char *name)
{
    if (name[0] == '/' || strchr(name, '\\') || strchr(name, ':')) return true;
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (begins_with(at, "..") && (!at[2] || at[2] == '/')) return true;
    return false;
}

static void check_set(const Fmu *fmu, const Xml *set, Findings *findings)
{
    char path[1200];
    bool any = false;
    for (const Xml *at = set->first; at; at = at->next) {
        const bool is_file = strcmp(at->name, "SourceFile") == 0;
        const char *name = tr_xml_value(at, "name");
        if (!name || (!is_file && strcmp(at->name, "IncludeDirectory") != 0)) continue;
        any = any || is_file;
        snprintf(path, sizeof path, "sources/%s", name);
        if (leads_out(name))
            WRONG(at, "<%s>: '%.200s' leads out of sources/", at->name, name);
        else if (is_file && !tr_zip_find(&fmu->zip, path))
            WRONG(at, "there is no '%.200s' in the archive", path);
    }
    if (!any) WRONG(set, "<SourceFileSet> has no <SourceFile>");
}

static bool is_interface(const Interface *interface, const char *identifier)
{
    return interface->xml && interface->identifier &&
           strcmp(interface->identifier, identifier) == 0;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_configuration(const Fmu *fmu, const Xml *root, const Xml *of, Findings *findings)
{
    const Description *d = &fmu->description;
    const char *identifier = tr_xml_value(of, "modelIdentifier");
    bool any = false;
    if (!identifier) return; // which was told
    if (!is_interface(&d->me, identifier) && !is_interface(&d->cs, identifier) &&
        !is_interface(&d->se, identifier))
        WRONG(of, "<BuildConfiguration>: '%.60s' is the modelIdentifier of no interface",
              identifier);
    for (const Xml *before = root->first; before != of; before = before->next)
        if (strcmp(before->name, of->name) == 0 &&
            is_same_text(tr_xml_value(before, "modelIdentifier"), identifier) &&
            is_same_text(tr_xml_value(before, "platform"), tr_xml_value(of, "platform")))
            WRONG(of, "<BuildConfiguration> of '%.60s' is there twice for one platform (line %d)",
                  identifier, before->at.line);
    for (const Xml *set = of->first; set; set = set->next) {
        if (strcmp(set->name, "SourceFileSet") != 0) continue;
        any = true;
        check_set(fmu, set, findings);
    }
    if (!any) WRONG(of, "<BuildConfiguration> has no <SourceFileSet>");
}

static void check_has_configuration(const Interface *interface, const Xml *root, Findings *findings)
{
    if (!interface->xml || !interface->identifier) return;
    for (const Xml *of = root->first; of; of = of->next)
        if (strcmp(of->name, "BuildConfiguration") == 0 &&
            is_same_text(tr_xml_value(of, "modelIdentifier"), interface->identifier))
            return;
    WRONG(root, "there is no <BuildConfiguration> of '%.60s' for <%s>", interface->identifier,
          interface->xml->name);
}

static void check_build(const Fmu *fmu, const Xml *root, Findings *findings)
{
    const Description *d = &fmu->description;
    const char *version = tr_xml_value(root, "fmiVersion");
    if (strcmp(root->name, "fmiBuildDescription") != 0) {
        WRONG(root, "it begins with <fmiBuildDescription>, not with <%.60s>", root->name);
        return;
    }
    tr_schema_check(root, 3, findings);
    if (version && !begins_with(version, "3."))
        WRONG(root, "FMI '%.20s' is not that of modelDescription.xml", version);
    for (const Xml *of = root->first; of; of = of->next)
        if (strcmp(of->name, "BuildConfiguration") == 0)
            check_configuration(fmu, root, of, findings);
    check_has_configuration(&d->me, root, findings);
    check_has_configuration(&d->cs, root, findings);
    check_has_configuration(&d->se, root, findings);
}

static const char build_name[] = "sources/buildDescription.xml";

// With its own lines. Whoever does not compile can do without it.
static void tell_of_build(Fmu *fmu, const Findings *own)
{
    for (uint32_t k = 0; k < own->count; k++)
        MISTAKEN("%s:%d: %s", build_name, own->list[k].at.line, own->list[k].words);
    fmu->findings.failed = fmu->findings.failed || own->failed;
}

static void read_build(Fmu *fmu, const ZipItem *item)
{
    Arena arena = {0};
    Findings own = {0};
    tr_error err = {0};
    char *text = tr_zip_read(&fmu->zip, item, &err);
    const Xml *root = text ? tr_xml_read(text, item->length, &arena, &err) : NULL;
    tr_found_error(&own, &err);
    if (root) check_build(fmu, root, &own);
    tell_of_build(fmu, &own);
    tr_fmu_findings_free(&own);
    tr_arena_free(&arena);
    free(text);
}

static void check_sources(Fmu *fmu)
{
    const ZipItem *build = tr_zip_find(&fmu->zip, build_name);
    check_listed(fmu, &fmu->description.me), check_listed(fmu, &fmu->description.cs);
    if (fmu->description.version == 2) return;
    if (build)
        read_build(fmu, build);
    else if (tr_fmu_has_sources(fmu))
        MISTAKEN("there are sources, but no %s", build_name);
}

// ---- all of it -----------------------------------------------------------------------------

void tr_fmu_check_contents(Fmu *fmu)
{
    static const char *const known[] = {"binaries",
                                        "sources",
                                        "resources",
                                        "documentation",
                                        "extra",
                                        "terminalsAndIcons",
                                        "modelDescription.xml",
                                        "model.png",
                                        "icons",
                                        "licenses"};
    enum { KNOWN = sizeof known / sizeof *known };
    if (!tr_fmu_has_folder(fmu, "binaries/") && !tr_fmu_has_sources(fmu))
        MISTAKEN("there are neither binaries nor sources in the archive");
    check_binaries(fmu);
    check_sources(fmu);
    for (size_t i = 0; i < fmu->zip.count; i++) {
        char top[100];
        const char *name = fmu->zip.items[i].name;
        snprintf(top, sizeof top, "%.*s", (int)strcspn(name, "/"), name);
        if (tr_find_name(known, KNOWN, top) == KNOWN)
            STRANGE("'%.200s' is nowhere that the standard speaks of", name);
    }
}
