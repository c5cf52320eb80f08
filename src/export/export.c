// SPDX-License-Identifier: Apache-2.0
// Code of a model in a folder: all of its files are there, or none of them is new.
#include "base/file.h"
#include "base/options.h"
#include "export/identifier.h"
#include "export/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void tr_export_fill(tr_export_options *options, size_t size)
{
    const tr_export_options plain = {.language = "c", .form = "auto"};
    tr_give_options(options, size, &plain, sizeof plain);
}

static bool make_folder(const char *path, tr_error *err)
{
    struct stat is;
    const bool is_there = mkdir(path, 0777) == 0 || errno == EEXIST;
    const int why = errno;
    if (is_there && stat(path, &is) == 0 && S_ISDIR(is.st_mode)) return true;
    if (is_there) {
        tr_fail(err, TR_IO, (Place){0}, "'%.300s' is no folder", path);
        return false;
    }
    tr_fail(err, TR_IO, (Place){0}, "cannot make the folder '%.300s': %s", path, strerror(why));
    return false;
}

static OutFile *open_file(const char *folder, const struct FolderFile *file, tr_error *err)
{
    char path[4200];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, file->name);
    if (file->text.failed) tr_fail_memory(err);
    if (length >= (int)sizeof path)
        tr_fail(err, TR_IO, (Place){0}, "the path '%.300s' is too long", folder);
    OutFile *out = has_failed(err) ? NULL : tr_file_create(path, err);
    if (out) fwrite(file->text.at, 1, file->text.length, tr_file_stream(out));
    return out;
}

static bool write_folder(const char *path, const Folder *folder, tr_error *err)
{
    OutFile *files[sizeof folder->files / sizeof *folder->files];
    size_t count = 0;
    if (!make_folder(path, err)) return false;
    while (count < folder->count && (files[count] = open_file(path, &folder->files[count], err)))
        count++;
    if (count == folder->count) return tr_files_commit(files, count, err);
    while (count-- > 0) tr_file_discard(files[count]);
    return false;
}

// What needs contacts that open, close or slip, or several charts, is not in the reduced form.
static bool check_form(const System *s, const char *form, tr_error *err)
{
    if (strcmp(form, "auto") != 0 && strcmp(form, "reduced") != 0) {
        tr_fail(err, TR_USAGE, (Place){0}, "there is no form '%.60s': it is auto or reduced", form);
        return false;
    }
    if (!s->latch_count || strcmp(form, "reduced") == 0) return true;
    tr_fail(err, TR_USAGE, (Place){0},
            "contacts of this model may open, close or slip ('%.100s'), and generated code has one "
            "mode: --form reduced takes that of the start for good",
            s->latches[0].name);
    return false;
}

static bool export_code(const System *s, const tr_export_options *o, const Target *target,
                        tr_error *err)
{
    char name[IDENTIFIER_LONGEST + 20];
    const char *title = s->source.file && s->source.file[0] ? s->source.file : s->title;
    tr_identifier_of_file(o->name ? o->name : title ? title : "model", name, IDENTIFIER_LONGEST);
    const CodeOptions options = {.name = name,
                                 .fix = o->fix,
                                 .outputs = o->outputs,
                                 .is_single = o->single,
                                 .opens = o->open,
                                 .differentiates = target->differentiates};
    Export *code = tr_code_new(s, &options, err);
    Folder *folder = calloc(1, sizeof *folder);
    if (!folder) tr_fail_memory(err);
    bool good =
        code && folder && target->print(code, folder, err) && write_folder(o->folder, folder, err);
    for (uint32_t i = 0; folder && i < folder->count; i++) tr_buffer_free(&folder->files[i].text);
    free(folder);
    tr_code_free(code);
    return good;
}

bool tr_export(const tr_system *system, const tr_export_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_export_options o;
    tr_export_fill(&o, sizeof o);
    if (!system || !tr_take_options(&o, sizeof o, options, "tr_export_defaults", err)) return false;
    if (!o.folder || !o.folder[0])
        tr_fail(err, TR_USAGE, (Place){0}, "the folder that code is to be written into is missing");
    const Target *target = has_failed(err) ? NULL : tr_target(o.language ? o.language : "c", err);
    if (target && o.single && strcmp(target->name, "c") != 0)
        tr_fail(err, TR_USAGE, (Place){0}, "only C has numbers of single precision");
    return target && check_form(system, o.form ? o.form : "auto", err) &&
           export_code(system, &o, target, err);
}
