// SPDX-License-Identifier: Apache-2.0
// Code of a model in a folder: all of its files are there, or none of them is new.
#include "base/file.h"
#include "base/options.h"
#include "export/identifier.h"
#include "export/target.h"
#include "export/unreduced.h"
#include "sim/run.h"

#include <errno.h>
#include <float.h>
#include <math.h>
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

// Of a language that is one file
static bool write_file(const char *path, const Folder *folder, tr_error *err)
{
    const Buffer *text = &folder->files[0].text;
    if (text->failed) return tr_fail_memory(err), false;
    OutFile *out = tr_file_create(path, err);
    if (out) fwrite(text->at, 1, text->length, tr_file_stream(out));
    return out && tr_file_commit(out, err);
}

// Whether other velocities become independent in a run of its case, or of ten seconds
static bool changes_charts(const System *s, tr_error *err)
{
    enum { MOST_STEPS = 2000 };
    tr_error own = {0};
    tr_plan *plan = tr_plan_new(s, &own);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "erk";
    const double end = s->plan.end > 0 && s->plan.end < 10 ? s->plan.end : 10;
    tr_run *run = has_failed(&own) ? NULL : tr_run_new(plan, &o, &own);
    if (run) {
        run->mover->most_steps = MOST_STEPS;
        tr_run_advance(run, end, &own); // as far as it gets
    }
    const bool changes = run && run->mover->watch.changes > 0;
    tr_run_free(run);
    tr_plan_free(plan);
    if (own.status == TR_NO_MEMORY) *err = own;
    return changes;
}

static void refuse_options(const tr_export_options *o, const Target *target, tr_error *err)
{
    if (o->single && !target->has_single)
        tr_fail(err, TR_USAGE, (Place){0}, "only C, CUDA and PTX have numbers of single precision");
    if (!target->is_file && (o->kind || o->fmi || o->sources_only || o->step != 0))
        tr_fail(err, TR_USAGE, (Place){0},
                "--fmi, --kind, --step and --sources-only are of FMUs, and '%s' is none",
                target->name);
}

// Contacts that open, close or slip, and several charts, are in the unreduced form alone, which is
// C, in an FMU, too.
static bool choose_form(const System *s, const tr_export_options *o, const Target *target,
                        bool *is_unreduced, tr_error *err)
{
    const char *form = o->form ? o->form : "auto";
    const bool may = target->may_unreduce;
    const bool reduced = strcmp(form, "reduced") == 0;
    *is_unreduced = strcmp(form, "unreduced") == 0;
    if (!*is_unreduced && !reduced && strcmp(form, "auto") != 0)
        tr_fail(err, TR_USAGE, (Place){0},
                "there is no form '%.60s': it is auto, reduced or unreduced", form);
    else if (*is_unreduced && !may)
        tr_fail(err, TR_USAGE, (Place){0}, "the unreduced form is C, or an FMU");
    else if (*is_unreduced)
        tr_code_may_unreduce(s, err);
    else if (!reduced && may && s->latch_count)
        *is_unreduced = tr_code_may_unreduce(s, err);
    else if (!reduced && may && tr_code_may_unreduce(s, NULL))
        *is_unreduced = changes_charts(s, err);
    else if (!reduced && s->latch_count)
        tr_fail(err, TR_USAGE, (Place){0},
                "contacts of this model may open, close or slip ('%.100s'), which only C and "
                "FMUs follow: --form reduced takes what they do at the start for good",
                s->latches[0].name);
    return !has_failed(err);
}

// "me", "cs" or both, separated by a comma
static bool read_kind(const char *kind, CodeOptions *options, tr_error *err)
{
    const char *list = kind ? kind : "me,cs";
    for (Text item = tr_next_item(&list); item.length; item = tr_next_item(&list)) {
        options->exchanges = options->exchanges || text_is(item, "me");
        options->simulates = options->simulates || text_is(item, "cs");
        if (!text_is(item, "me") && !text_is(item, "cs"))
            tr_fail(err, TR_USAGE, (Place){0},
                    "there is no kind of FMU '%.*s': it is me, cs or me,cs", TEXT(item));
    }
    if (!options->exchanges && !options->simulates)
        tr_fail(err, TR_USAGE, (Place){0}, "an FMU is of the kind me, cs or me,cs");
    return !has_failed(err);
}

static bool read_fmu(const System *s, const tr_export_options *o, CodeOptions *options,
                     tr_error *err)
{
    options->is_fmu = true, options->sources_only = o->sources_only;
    options->fmi = o->fmi ? o->fmi : 3;
    const double usual = 0.001; // of cases that say nothing
    options->step = o->step != 0 ? o->step : s->plan.step > 0 ? s->plan.step : usual;
    options->is_step_said = o->step != 0 || options->step != usual;
    if (options->fmi != 2 && options->fmi != 3)
        tr_fail(err, TR_USAGE, (Place){0}, "there is FMI 2 and FMI 3, and no %d", o->fmi);
    if (!(options->step > 0) || !isfinite(options->step))
        tr_fail(err, TR_USAGE, (Place){0}, "the step of an FMU is positive");
    return !has_failed(err) && read_kind(o->kind, options, err);
}

// The reduced form has the velocities of the start for good: that is to be known beforehand.
static void warn_of_charts(const System *s, const tr_export_options *o, const char *language,
                           tr_error *err)
{
    char words[300];
    if (!o->warn || !changes_charts(s, err) || has_failed(err)) return;
    snprintf(words, sizeof words,
             "other velocities become independent in a run of this model, which %s does not follow "
             "in the reduced form: its numbers lose digits from there on%s",
             language, tr_code_may_unreduce(s, NULL) ? "; c and fmu have the unreduced form" : "");
    o->warn(o->owner, words);
}

// That of CasADi calls functions that C alone has not.
static void warn_of_casadi(const tr_export_options *o, const char *name)
{
    char path[4200], words[300];
    struct stat is;
    if (!o->warn) return;
    const int length = snprintf(path, sizeof path, "%s/%s_casadi.c", o->folder, name);
    if (length >= (int)sizeof path || stat(path, &is) != 0) return;
    snprintf(words, sizeof words,
             "%s_casadi.c of this folder needs functions that the new %s.c has not: export to "
             "casadi again, or C into another folder or by another name",
             name, name);
    o->warn(o->owner, words);
}

// Ranges that are wider than single precision become infinite; values would be no numbers.
static bool is_in_single(const Export *code, tr_error *err)
{
    const CodeNames *const lists[] = {&code->x, &code->u, &code->p, &code->fixed};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (uint32_t k = 0; k < lists[i]->count; k++) {
            const CodeName *at = &lists[i]->at[k];
            const double value = lists[i] == &code->x ? code->start[k] : at->value;
            if (!isfinite(value) || isfinite((float)value)) continue;
            tr_fail(err, TR_USAGE, (Place){0},
                    "'%.100s' is %g, which single precision cannot hold: its numbers end at %.3g",
                    at->name, value, (double)FLT_MAX);
            return false;
        }
    return true;
}

static bool export_code(const System *s, const tr_export_options *o, const Target *target,
                        bool is_unreduced, tr_error *err)
{
    char name[IDENTIFIER_LONGEST + 20];
    const bool is_of_file = !o->name && s->source.file && s->source.file[0];
    const char *title = o->name ? o->name : s->title;
    if (is_of_file)
        tr_identifier_of_file(s->source.file, name, IDENTIFIER_LONGEST);
    else
        tr_identifier_of_title(title ? title : "model", name, IDENTIFIER_LONGEST);
    CodeOptions options = {.name = name,
                           .fix = o->fix,
                           .outputs = o->outputs,
                           .is_single = o->single,
                           .opens = o->open,
                           .is_unreduced = is_unreduced,
                           .differentiates = target->differentiates};
    if (target->is_file && !read_fmu(s, o, &options, err)) return false;
    Export *code = tr_code_new(s, &options, err);
    Folder *folder = calloc(1, sizeof *folder);
    if (!folder) tr_fail_memory(err);
    const bool good = code && folder && (!o->single || is_in_single(code, err)) &&
                      target->print(code, folder, err) &&
                      (target->is_file ? write_file(o->folder, folder, err)
                                       : write_folder(o->folder, folder, err));
    for (uint32_t i = 0; folder && i < folder->count; i++) tr_buffer_free(&folder->files[i].text);
    free(folder);
    tr_code_free(code);
    if (good && strcmp(target->name, "c") == 0) warn_of_casadi(o, name);
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
    if (target) refuse_options(&o, target, err);
    bool is_unreduced = false;
    if (!target || has_failed(err) || !choose_form(system, &o, target, &is_unreduced, err))
        return false;
    const bool was_looked_at = target->may_unreduce && (!o.form || strcmp(o.form, "auto") == 0) &&
                               tr_code_may_unreduce(system, NULL);
    if (!is_unreduced && !was_looked_at) warn_of_charts(system, &o, target->name, err);
    return !has_failed(err) && export_code(system, &o, target, is_unreduced, err);
}
