// SPDX-License-Identifier: Apache-2.0
// The archive: description, sources and a binary. Nothing in it says when, where or by whom it was
// made, so the same model gives the same bytes.
#include "export/fmu.h"

#include "base/sha256.h"
#include "base/zip.h"
#include "export/embedded.h"
#include "export/identifier.h"
#include "sim/pace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// [1/s] how fast constraints are returned to (T400); how that changes is in fmu_core.txt (T402)
static const double GAIN = 5;

// ---- sources -------------------------------------------------------------------------------

static void define(Buffer *out, const char *name, uint32_t value)
{
    tr_buffer_print(out, "#define %s %u\n", name, value);
}

static void define_number(Buffer *out, const char *name, double value)
{
    tr_buffer_print(out, "#define %s ", name);
    tr_buffer_number(out, value);
    tr_buffer_print(out, "\n");
}

static void list_integers(Buffer *out, const char *name, const uint32_t *at, uint32_t count)
{
    tr_buffer_print(out, "static const int %s[] = {", name);
    for (uint32_t k = 0; k < count; k++) tr_buffer_print(out, "%u, ", at[k]);
    tr_buffer_print(out, "0};\n");
}

static void list_starts(const Fmu *fmu, Buffer *out, const char *name, FmuKind kind)
{
    tr_buffer_print(out, "static const double %s[] = {", name);
    for (uint32_t k = 0; k < fmu->count_of[kind]; k++) {
        tr_buffer_number(out, fmu->variables[fmu_first(fmu, kind) + k].start);
        tr_buffer_print(out, ", ");
    }
    tr_buffer_print(out, "0};\n");
}

// In the unreduced form any velocity may follow, by the chart: all are listed, by their entries.
static uint32_t count_followers(const Export *code)
{
    return code->options.is_unreduced ? code->positions + code->velocities
                                      : code->part[PART_FOLLOW].count;
}

static void list_followers(const Export *code, Buffer *out)
{
    tr_buffer_print(out, "static const int follower_entry[] = {");
    for (uint32_t k = 0; k < count_followers(code); k++)
        tr_buffer_print(out, "%u, ",
                        code->options.is_unreduced ? k : code->part[PART_FOLLOW].entry[k]);
    tr_buffer_print(out, "0};\n");
}

static void write_sizes(const Fmu *fmu, Buffer *out)
{
    const Export *code = fmu->code;
    char upper[64];
    tr_upper_name(code->options.name, upper, sizeof upper);
    define(out, "HAS_ME", fmu->code->options.exchanges);
    define(out, "HAS_CS", fmu->code->options.simulates);
    define(out, "ENTRIES", code->x.count);
    define(out, "STATES", fmu->count_of[FMU_STATE]);
    define(out, "INPUTS", code->u.count);
    define(out, "PARAMETERS", code->p.count);
    define(out, "OUTPUTS", code->y.count);
    define(out, "FOLLOWED", fmu->count_of[FMU_DRIVEN]);
    define(out, "CONSTANTS", code->fixed.count);
    define(out, "INDICATORS", fmu->count_of[FMU_INDICATOR]);
    define(out, "MODES", fmu->count_of[FMU_MODE]);
    define(out, "WATCHED", code->part[PART_WATCHED].count);
    define(out, "SIDES", code->part[PART_SIDES].count);
    define(out, "SAMPLES", code->samples.clock.count);
    define(out, "JUMPING", code_has(code, PART_JUMPS));
    define(out, "STRIKES", code->strikes);
    define(out, "UNREDUCED", code->options.is_unreduced);
    define(out, "FOLLOWERS", count_followers(code));
    define(out, "PHI", code->phi_count);
    define(out, "MOVED", code->phi_count ? code->projected_count : 0);
    define(out, "UNITS", code->quaternion_count);
    tr_buffer_print(out, "#define WORK %s_NWORK\n", upper);
    define_number(out, "STEP", fmu->code->options.step);
    define_number(out, "GAIN", GAIN);
    tr_buffer_print(out, "#define TOKEN \"%s\"\n\n", fmu->token);
}

// What it is told for, the contact that has to be closed for that, and what comes of it in a run
static void list_watched(const Export *code, Buffer *out)
{
    enum { WARNS, ENDS, STAYS };
    const System *s = code->system;
    uint32_t *list = calloc(s->alarm_count + 1u, sizeof *list);
    const uint32_t count = list ? tr_code_list_watched(code, list) : 0;
    out->failed = out->failed || !list;
    if (!code_has(code, PART_WATCHED)) {
        free(list);
        return;
    }
    tr_buffer_print(out, "static const struct {\n    int contact, then;\n    const char *words;\n"
                         "} watched[] = {\n");
    for (uint32_t k = 0; k < count; k++) {
        const Alarm *alarm = &s->alarms[list[k]];
        const bool may_open = alarm->kind == ALARM_HOLLOW && alarm->latch != NO_LATCH;
        tr_buffer_print(out, "    {%d, %d, \"", may_open ? (int)alarm->latch : -1,
                        alarm->kind > ALARM_HOLLOW   ? STAYS
                        : alarm->kind == ALARM_WARNS ? WARNS
                                                     : ENDS);
        tr_buffer_quoted(out, alarm->words, true);
        tr_buffer_print(out, "\"},\n");
    }
    tr_buffer_print(out, "};\n");
    free(list);
}

static void write_lists(const Fmu *fmu, Buffer *out)
{
    const Export *code = fmu->code;
    const uint32_t first = fmu_first(fmu, FMU_PARAMETER);
    list_integers(out, "state_entry", fmu->state, fmu->count_of[FMU_STATE]);
    list_integers(out, "driven_entry", fmu->driven, fmu->count_of[FMU_DRIVEN]);
    list_followers(code, out);
    tr_buffer_print(out, "static const char is_fixed[] = {");
    for (uint32_t k = 0; k < code->p.count; k++)
        tr_buffer_print(out, "%d, ", fmu->variables[first + k].is_fixed);
    tr_buffer_print(out, "0};\n");
    tr_buffer_print(out, "static const char is_controlled[] = {");
    for (uint32_t k = 0; k < code->u.count; k++)
        tr_buffer_print(out, "%d, ", tr_fmu_is_controlled(code, k));
    tr_buffer_print(out, "0};\n");
    list_starts(fmu, out, "state_start", FMU_STATE);
    list_starts(fmu, out, "constant", FMU_CONSTANT);
    list_watched(code, out);
}

// An input that is not a number follows its formula of t.
static void write_formulas(const Fmu *fmu, Buffer *out)
{
    tr_buffer_print(out, "\nstatic double formula_of_input(double t, int k, const double *x, "
                         "const double *u,\n                               const double *p, "
                         "double *w)\n{\n");
    if (fmu->code->u.count)
        tr_buffer_print(out, "    double value[INPUTS];\n    signals(t, x, u, p, value, w);\n"
                             "    return value[k];\n}\n");
    else
        tr_buffer_print(out,
                        "    (void)t;\n    (void)k;\n    (void)x;\n    (void)u;\n    (void)p;\n"
                        "    (void)w;\n    return 0;\n}\n");
}

static void write_runtime(const Fmu *fmu, Buffer *out)
{
    const bool three = fmu->code->options.fmi == 3;
    Buffer title = {0};
    const char *name = fmu->code->options.name, *words = fmu->code->system->title;
    tr_buffer_comment(&title, words && words[0] ? words : name);
    char upper[64];
    tr_upper_name(name, upper, sizeof upper);
    const Mark marks[] = {{"name", name},
                          {"NAME", upper},
                          {"title", title.at ? title.at : name},
                          {"version", three ? "3" : "2"},
                          {NULL, NULL}};
    tr_fill_in(out, tr_embedded_fmu_head(), marks);
    write_sizes(fmu, out);
    write_lists(fmu, out);
    write_formulas(fmu, out);
    tr_fill_in(out, tr_embedded_fmu_core(), marks);
    tr_fill_in(out, three ? tr_embedded_fmu_three() : tr_embedded_fmu_two(), marks);
    tr_buffer_free(&title);
}

// The types of one version, out of those of both
static void write_types(Buffer *out, int version)
{
    const Text all = tr_embedded_fmi_h();
    const char *from = strstr(all.at, version == 3 ? "// ---- 3.0" : "// ---- 2.0");
    const char *to = from ? strstr(from + 4, "// ---- ") : NULL;
    if (!to) {
        out->failed = true;
        return;
    }
    tr_buffer_print(out,
                    "// SPDX-License-Identifier: Apache-2.0\n"
                    "// Types of FMI %d.0\n"
                    "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n",
                    version);
    tr_buffer_add(out, from, (size_t)(to - from));
}

static void add_text(Folder *folder, const char *name, Text text)
{
    Buffer *out = tr_folder_add(folder, "%s", name);
    if (out)
        tr_buffer_add(out, text.at, text.length);
    else
        folder->failed = true;
}

// All but fmu.c, which needs the token
static bool write_sources(Fmu *fmu, Folder *folder, tr_error *err)
{
    const char *name = fmu->code->options.name;
    const bool three = fmu->code->options.fmi == 3;
    Buffer *header = tr_folder_add(folder, "%s.h", name);
    Buffer *source = tr_folder_add(folder, "%s.c", name);
    Buffer *types = tr_folder_add(folder, "fmi.h");
    if (!tr_write_c(fmu->code, header, source, err)) return false;
    write_types(types, fmu->code->options.fmi);
    add_text(folder, three ? "fmi3.def" : "fmi2.def",
             three ? tr_embedded_fmi3_def() : tr_embedded_fmi2_def());
    if (three) tr_fmu_build_xml(fmu, tr_folder_add(folder, "buildDescription.xml"));
    return true;
}

// ---- the token -----------------------------------------------------------------------------

static void digest(Sha256 *sha, const Buffer *text) { tr_sha256_add(sha, text->at, text->length); }

// Of all that the archive says but for binaries, so that those of several machines go together
static void make_token(Fmu *fmu, const Folder *sources)
{
    char hex[TR_SHA256_SIZE];
    Sha256 sha;
    Buffer description = {0}, runtime = {0};
    tr_fmu_xml(fmu, &description);
    write_runtime(fmu, &runtime);
    tr_sha256_begin(&sha);
    digest(&sha, &description);
    digest(&sha, &runtime);
    for (uint32_t k = 0; k < sources->count; k++) digest(&sha, &sources->files[k].text);
    tr_sha256_end(&sha, hex);
    snprintf(fmu->token, sizeof fmu->token, "{%.8s-%.4s-%.4s-%.4s-%.12s}", hex, hex + 8, hex + 12,
             hex + 16, hex + 20);
    tr_buffer_free(&description);
    tr_buffer_free(&runtime);
}

// ---- the archive ---------------------------------------------------------------------------

typedef struct Archive {
    ZipFile files[80];
    char names[80][220];
    size_t count;
} Archive;

static void put_in(Archive *archive, const char *folder, const char *name, const void *at,
                   size_t length)
{
    char *full = archive->names[archive->count];
    snprintf(full, sizeof archive->names[0], "%s%s", folder, name);
    archive->files[archive->count++] = (ZipFile){full, at, length};
}

static bool pack(Fmu *fmu, const Folder *sources, Buffer *out, tr_error *err)
{
    char binary[120], folder[80];
    size_t length = 0;
    char *library = NULL;
    Buffer description = {0}, tables = {0};
    Archive *archive = calloc(1, sizeof *archive);
    if (!archive) return tr_fail_memory(err), false;
    tr_fmu_xml(fmu, &description);
    put_in(archive, "", "modelDescription.xml", description.at, description.length);
    if (tr_tables_are_apart(fmu->code)) {
        tr_tables_apart(fmu->code, &tables);
        put_in(archive, "resources/", "tables.bin", tables.at, tables.length);
    }
    for (uint32_t k = 0; k < sources->count; k++)
        put_in(archive, "sources/", sources->files[k].name, sources->files[k].text.at,
               sources->files[k].text.length);
    if (!fmu->code->options.sources_only) {
        library = tr_fmu_compile(sources, "fmu.c", &length, err);
        snprintf(folder, sizeof folder, "binaries/%s/", tr_fmu_platform(fmu->code->options.fmi));
        snprintf(binary, sizeof binary, "%s.so", fmu->code->options.name);
        if (library) put_in(archive, folder, binary, library, length);
    }
    if (description.failed || tables.failed) tr_fail_memory(err);
    tr_zip_pack(out, archive->files, archive->count, err);
    tr_buffer_free(&description);
    tr_buffer_free(&tables);
    free(archive);
    free(library);
    return !has_failed(err);
}

static bool write_fmu(Fmu *fmu, Folder *sources, Buffer *out, tr_error *err)
{
    if (!tr_fmu_describe(fmu, err) || !write_sources(fmu, sources, err)) return false;
    make_token(fmu, sources);
    Buffer *runtime = tr_folder_add(sources, "fmu.c");
    if (runtime) write_runtime(fmu, runtime);
    sources->failed = sources->failed || !runtime;
    for (uint32_t k = 0; k < sources->count; k++)
        sources->failed = sources->failed || sources->files[k].text.failed;
    if (sources->failed) return tr_fail_memory(err), false;
    return pack(fmu, sources, out, err);
}

// Halves the step, where nobody said one, until rk4 is stable with the fastest motion at the start:
// that takes |h lambda| < 2.6 or so.
static void shorten_step(Export *code)
{
    enum { MOST_HALVES = 12 };
    Fastest fastest;
    if (code->options.is_step_said || !code->options.simulates ||
        !tr_pace_fastest(code->flow, 0, code->flow->start, &fastest))
        return;
    for (int k = 0; k < MOST_HALVES && code->options.step * fastest.size > 2; k++)
        code->options.step /= 2;
}

bool tr_print_fmu(Export *code, Folder *folder, tr_error *err)
{
    Fmu fmu = {.code = code};
    if (!code->options.sources_only && !tr_fmu_platform(code->options.fmi)) {
        tr_fail(err, TR_USAGE, (Place){0},
                "FMI has no name for this machine: --sources-only leaves the binary out");
        return false;
    }
    shorten_step(code);
    Buffer *out = tr_folder_add(folder, "%s.fmu", code->options.name);
    Folder *sources = calloc(1, sizeof *sources);
    if (!sources) return tr_fail_memory(err), false;
    const bool good = write_fmu(&fmu, sources, out, err);
    for (uint32_t i = 0; i < sources->count; i++) tr_buffer_free(&sources->files[i].text);
    free(sources);
    tr_fmu_free(&fmu);
    return good;
}
