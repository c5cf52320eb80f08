// SPDX-License-Identifier: Apache-2.0
// Compiling the sources of an FMU into the binary that it lacks, by the machine's `cc`: one
// command, without a shell. 2.0 lists files in modelDescription.xml, 3.0 in
// sources/buildDescription.xml.
#include "fmu/fmu.h"
#include "fmu/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const Place nowhere = {0};

// The words of the command, each a text of its own
typedef struct Words {
    char **at;
    uint32_t count, capacity;
    bool failed;
} Words;

__attribute__((format(printf, 2, 3))) static void add(Words *words, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0 ||
        !tr_grow((void **)&words->at, &words->capacity, words->count + 2, sizeof *words->at)) {
        words->failed = true;
        if (length >= 0) free(text);
        return;
    }
    words->at[words->count++] = text;
    words->at[words->count] = NULL;
}

static void free_words(Words *words)
{
    for (uint32_t i = 0; i < words->count; i++) free(words->at[i]);
    free(words->at);
}

// ---- what is to be compiled ----------------------------------------------------------------

// Only what the archive has: so no name leads elsewhere.
static bool add_file(const Fmu *fmu, const char *name, const char *folder, Words *words,
                     tr_error *err)
{
    char path[1100];
    snprintf(path, sizeof path, "sources/%s", name ? name : "");
    if (!name || !tr_zip_find(&fmu->zip, path))
        return tr_fail(err, TR_INVALID, nowhere, "the source file '%.200s' is not in the archive",
                       path),
               false;
    add(words, "%s/%s", folder, path);
    return true;
}

static bool add_listed(const Fmu *fmu, const Interface *interface, const char *folder, Words *words,
                       tr_error *err)
{
    const Xml *files = tr_xml_child(interface->xml, "SourceFiles");
    if (!files || !files->first)
        return tr_fail(err, TR_INVALID, nowhere,
                       "there are sources, but modelDescription.xml lists no <SourceFiles>"),
               false;
    for (const Xml *file = files->first; file; file = file->next)
        if (!add_file(fmu, tr_xml_value(file, "name"), folder, words, err)) return false;
    return true;
}

// C99 and later as the compiler's -std; others are its own affair.
static void add_language(const char *language, Words *words)
{
    static const char *const known[][2] = {
        {"C89", "c89"}, {"C90", "c90"}, {"C99", "c99"}, {"C11", "c11"}, {"C17", "c17"}};
    for (size_t i = 0; language && i < sizeof known / sizeof *known; i++)
        if (strcmp(language, known[i][0]) == 0) add(words, "-std=%s", known[i][1]);
}

static bool add_set(const Fmu *fmu, const Xml *set, const char *folder, Words *words, tr_error *err)
{
    add_language(tr_xml_value(set, "language"), words);
    for (const Xml *at = set->first; at; at = at->next) {
        const char *name = tr_xml_value(at, "name"), *value = tr_xml_value(at, "value");
        if (!name) continue;
        if (strcmp(at->name, "SourceFile") == 0 && !add_file(fmu, name, folder, words, err))
            return false;
        if (strcmp(at->name, "PreprocessorDefinition") == 0 && value)
            add(words, "-D%s=%s", name, value);
        if (strcmp(at->name, "PreprocessorDefinition") == 0 && !value) add(words, "-D%s", name);
        if (strcmp(at->name, "IncludeDirectory") == 0 && !strstr(name, "..") && name[0] != '/')
            add(words, "-I%s/sources/%s", folder, name);
    }
    return true;
}

static bool add_described(const Fmu *fmu, const Interface *interface, const char *folder,
                          Words *words, tr_error *err)
{
    Arena arena = {0};
    bool good = false;
    const ZipItem *item = tr_zip_find(&fmu->zip, "sources/buildDescription.xml");
    char *text = tr_zip_read(&fmu->zip, item, err);
    const Xml *root = item && text ? tr_xml_read(text, item->length, &arena, err) : NULL;
    err->line = err->column = 0; // of a file in the archive
    if (!item)
        tr_fail(err, TR_INVALID, nowhere, "there are sources, but no sources/buildDescription.xml");
    const Xml *of = root ? root->first : NULL;
    for (; of; of = of->next) {
        const char *identifier = tr_xml_value(of, "modelIdentifier");
        if (strcmp(of->name, "BuildConfiguration") == 0 && identifier && interface->identifier &&
            strcmp(identifier, interface->identifier) == 0 && !tr_xml_value(of, "platform"))
            break;
    }
    if (root && !of)
        tr_fail(err, TR_INVALID, nowhere,
                "buildDescription.xml has no <BuildConfiguration> of '%.60s' for any platform",
                interface->identifier);
    for (const Xml *set = of ? of->first : NULL; set && !has_failed(err); set = set->next) {
        const char *name = tr_xml_value(set, "name"), *external = tr_xml_value(set, "external");
        bool is_external = false;
        if (strcmp(set->name, "SourceFileSet") == 0) good = add_set(fmu, set, folder, words, err);
        if (strcmp(set->name, "Library") == 0 && name && external &&
            tr_read_flag(external, &is_external) && is_external)
            add(words, "-l%s", name);
    }
    free(text);
    tr_arena_free(&arena);
    if (!good) tr_fail(err, TR_INVALID, nowhere, "buildDescription.xml has no <SourceFileSet>");
    return good && !has_failed(err);
}

// ---- compiling -----------------------------------------------------------------------------

// False after telling what the compiler said first.
static bool run(char *const *words, const char *log, tr_error *err)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_TRUNC, 0600);
    const int reason = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (reason)
        return tr_fail(err, TR_FAILED, nowhere, "cannot run %s: %s", words[0], strerror(reason)),
               false;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    char said[300] = "";
    FILE *file = fopen(log, "r");
    while (file && fgets(said, sizeof said, file) && !strstr(said, "error")) {
    }
    if (file) fclose(file);
    said[strcspn(said, "\n")] = 0;
    tr_fail(err, TR_FAILED, nowhere, "%s cannot compile the sources: %s", words[0], said);
    return false;
}

// "cc", or what CC says: a program, perhaps by another one (ccache gcc), and perhaps options, which
// win where they come last.
static const char *add_compiler(Words *words)
{
    const char *given = getenv("CC");
    if (!given || !given[strspn(given, " ")]) given = "cc";
    given += strspn(given, " ");
    do {
        const size_t length = strcspn(given, " ");
        add(words, "%.*s", (int)length, given);
        given += length + strspn(given + length, " ");
    } while (*given && *given != '-');
    return given;
}

static void add_options(Words *words, const char *options)
{
    for (options += strspn(options, " "); *options; options += strspn(options, " ")) {
        const size_t length = strcspn(options, " ");
        add(words, "%.*s", (int)length, options);
        options += length;
    }
}

bool tr_fmu_build(const Fmu *fmu, const Interface *interface, Unpacked *in, tr_error *err)
{
    Words words = {0};
    const char *folder = in->folder.path, *options = add_compiler(&words);
    add(&words, "-shared"), add(&words, "-fPIC"), add(&words, "-O2"),
        add(&words, "-ffp-contract=off");
    add_options(&words, options);
    add(&words, "-DFMI%d_OVERRIDE_FUNCTION_PREFIX", fmu->description.version);
    add(&words, "-I%s/sources", folder), add(&words, "-I%s/standard", folder);
    bool good = fmu->description.version == 2 ? add_listed(fmu, interface, folder, &words, err)
                                              : add_described(fmu, interface, folder, &words, err);
    good = good && tr_fmu_write_headers(&in->folder, fmu->description.version, err);
    const int log = good ? tr_temporary_make(&in->folder, "log", false) : -1;
    const int library = good ? tr_temporary_make(&in->folder, "built.so", false) : -1;
    if (log >= 0) close(log);
    if (library >= 0) close(library);
    add(&words, "-o"), add(&words, "%s/built.so", folder), add(&words, "-lm");
    if (good && (words.failed || log < 0 || library < 0)) tr_fail_memory(err), good = false;
    if (good) {
        char path[1200];
        snprintf(path, sizeof path, "%s/log", folder);
        good = run(words.at, path, err);
        snprintf(path, sizeof path, "%s/built.so", folder);
        in->binary = good ? strdup(path) : NULL;
        if (good && !in->binary) tr_fail_memory(err), good = false;
    }
    free_words(&words);
    return good;
}
