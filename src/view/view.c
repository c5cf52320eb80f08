// SPDX-License-Identifier: Apache-2.0
// Reports from files: the run, its certificate, the page.
#include "view/view.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/options.h"
#include "sim/certificate.h"
#include "sim/recorded.h"
#include "sim/swept.h"
#include "view/embedded.h"
#include "view/label.h"
#include "view/swept_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 26 }; // of a page

// ---- the certificate -----------------------------------------------------------------------

struct tr_origin {
    Arena arena;
    tr_derive_options options;
    const char *model; // NULL where it is not known
};

// What a string of the certificate stands for, in memory of the origin; NULL when it is none
static const char *keep_string(tr_origin *origin, Text value, tr_error *err)
{
    Buffer text = {0};
    const bool is_string = tr_json_string(value, &text);
    const char *kept =
        is_string && !text.failed ? tr_arena_text(&origin->arena, text.at, text.length) : NULL;
    if (is_string && !kept) tr_fail_memory(err);
    tr_buffer_free(&text);
    return kept;
}

static void read_settings(tr_origin *origin, Text list, tr_error *err)
{
    size_t count = 0;
    while (tr_json_item(list, count).at) count++;
    tr_setting *settings = tr_arena_alloc(&origin->arena, count + 1, sizeof *settings);
    if (!settings) {
        tr_fail_memory(err);
        return;
    }
    for (size_t i = 0; i < count && !has_failed(err); i++) {
        const Text item = tr_json_item(list, i);
        settings[i].name = keep_string(origin, tr_json_member(item, "name"), err);
        settings[i].formula = keep_string(origin, tr_json_member(item, "formula"), err);
        if (!settings[i].name || !settings[i].formula)
            tr_fail(err, TR_INVALID, (Place){0},
                    "the certificate's settings have a name and a formula each");
    }
    origin->options.settings = settings;
    origin->options.setting_count = count;
}

// Files with keys of a case, as they were
static void read_with(tr_origin *origin, Text list, tr_error *err)
{
    size_t count = 0;
    while (tr_json_item(list, count).at) count++;
    const char **names = tr_arena_alloc(&origin->arena, 2 * count + 1, sizeof *names);
    if (!names) tr_fail_memory(err);
    for (size_t i = 0; i < count && !has_failed(err); i++) {
        const Text item = tr_json_item(list, i);
        names[i] = keep_string(origin, tr_json_member(item, "file"), err);
        names[count + i] = keep_string(origin, tr_json_member(item, "text"), err);
        if (!names[i] || !names[count + i])
            tr_fail(err, TR_INVALID, (Place){0},
                    "the certificate's files `with` have a file and a text each");
    }
    if (has_failed(err)) return;
    origin->options.with = names, origin->options.with_texts = names + count;
    origin->options.with_count = count;
}

// The first place where a file is that is called as the certificate says
static void find_model(tr_origin *origin, const char *run, Text name, tr_error *err)
{
    const char *file = keep_string(origin, name, err);
    for (int k = 0; file && k < 2 && !origin->model && !has_failed(err); k++) {
        Buffer path = {0};
        const bool is_place = tr_certificate_model(run, file, k, &path);
        const bool is_there = is_place && !path.failed && access(path.at, R_OK) == 0;
        if (is_there) origin->model = tr_arena_text(&origin->arena, path.at, path.length);
        if (path.failed || (is_there && !origin->model)) tr_fail_memory(err);
        tr_buffer_free(&path);
    }
}

char *tr_certificate_beside(const char *run, tr_error *err)
{
    tr_error local = {0};
    Buffer path = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return NULL;
    tr_certificate_path(run, &path);
    if (path.failed) tr_fail_memory(err);
    if (!path.failed) return path.at;
    tr_buffer_free(&path);
    return NULL;
}

tr_origin *tr_origin_read(const char *run, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!run || has_failed(err)) return NULL;
    tr_origin *origin = calloc(1, sizeof *origin);
    if (!origin) return tr_fail_memory(err), NULL;
    Text text;
    char *bytes = tr_certificate_read(run, &text, err);
    if (bytes) {
        const char *name = keep_string(origin, tr_json_member(text, "case"), err);
        if (name && name[0]) origin->options.case_name = name;
        read_settings(origin, tr_json_member(text, "settings"), err);
        read_with(origin, tr_json_member(text, "with"), err);
        find_model(origin, run, tr_json_member(text, "model_file"), err);
    }
    free(bytes);
    if (!has_failed(err)) return origin;
    tr_origin_free(origin);
    return NULL;
}

void tr_origin_options(const tr_origin *origin, tr_derive_options *options)
{
    if (!origin || !options) return;
    options->case_name = origin->options.case_name;
    options->settings = origin->options.settings;
    options->setting_count = origin->options.setting_count;
    if (options->size < sizeof *options) return; // of a header that did not have them
    options->with = origin->options.with;
    options->with_texts = origin->options.with_texts;
    options->with_count = origin->options.with_count;
}

const char *tr_origin_model(const tr_origin *origin) { return origin ? origin->model : NULL; }

void tr_origin_free(tr_origin *origin)
{
    if (!origin) return;
    tr_arena_free(&origin->arena);
    free(origin);
}

// Whether the certificate names another content of the model file than the system has
static bool is_about_another(Text certificate, const System *system, tr_error *err)
{
    Buffer hash = {0};
    const bool named =
        certificate.length && tr_json_string(tr_json_member(certificate, "model_sha256"), &hash);
    const bool differs =
        named && !hash.failed && hash.at[0] && strcmp(hash.at, system->source.sha256) != 0;
    if (hash.failed) tr_fail_memory(err);
    tr_buffer_free(&hash);
    return differs;
}

// ---- the page ------------------------------------------------------------------------------

// `bytes` is what the caller frees.
static Text read_page(const tr_view_options *o, char **bytes, tr_error *err)
{
    *bytes = NULL;
    if (!o->page) {
        const Text page = tr_page_embedded();
        if (!page.length)
            tr_fail(err, TR_FAILED, (Place){0},
                    "this build has no page for reports: build it again with Node.js, after "
                    "'npm ci' in web/, as 'make' does");
        return page;
    }
    size_t length = 0;
    *bytes = tr_file_read(o->page, MOST_BYTES, &length, err);
    return (Text){*bytes, length};
}

void tr_view_fill(tr_view_options *options, size_t size)
{
    const tr_view_options plain = {0};
    tr_give_options(options, size, &plain, sizeof plain);
}

bool tr_view_take(tr_view_options *own, const tr_view_options *given, tr_error *err)
{
    *own = tr_view_defaults();
    return given && tr_take_options(own, sizeof *own, given, "tr_view_defaults", err);
}

bool tr_view_check(const tr_view_options *options, tr_error *err)
{
    tr_error local = {0};
    tr_view_options o;
    if (!err) err = &local;
    if (!tr_view_take(&o, options, err)) return false;
    char *bytes;
    read_page(&o, &bytes, err);
    free(bytes);
    struct stat info; // what is no file cannot be tried without writing to it
    const bool is_file = o.output && strcmp(o.output, "-") != 0 &&
                         (stat(o.output, &info) != 0 || S_ISREG(info.st_mode));
    if (is_file) tr_file_discard(tr_file_create(o.output, err));
    return !has_failed(err);
}

static void write_reports(Text page, const Report *reports, size_t count, const tr_view_options *o,
                          tr_view_summary *summary, tr_error *err)
{
    Json sweep = {0};
    if (o->sweep) tr_describe_swept_runs(&sweep, o, err);
    OutFile *file = tr_file_create(o->output, err);
    FILE *to = file ? tr_file_stream(file) : NULL;
    if (to) tr_page_write(page, reports, count, &sweep.text, to, err);
    tr_buffer_free(&sweep.text);
    if (!to) return;
    const long bytes = ftell(to); // -1 of a pipe
    summary->rows = reports[0].run ? reports[0].run->rows : 0;
    summary->bytes = bytes > 0 ? (size_t)bytes : 0;
    tr_file_commit(file, err);
}

bool tr_view_write(const Report *reports, size_t count, const tr_view_options *options,
                   tr_view_summary *summary, tr_error *err)
{
    if (!options->output) {
        tr_fail(err, TR_USAGE, (Place){0}, "the report needs a file to go to");
        return false;
    }
    char *bytes;
    const Text page = read_page(options, &bytes, err);
    summary->has_certificate = true;
    for (size_t i = 0; i < count; i++) {
        if (!reports[i].certificate.length) summary->has_certificate = false;
        if (is_about_another(reports[i].certificate, reports[i].system, err))
            summary->is_other_model = true;
    }
    if (!has_failed(err)) write_reports(page, reports, count, options, summary, err);
    free(bytes);
    return !has_failed(err);
}

// ---- several runs --------------------------------------------------------------------------

typedef struct Reading {
    Recorded *runs;
    Labelled *labels;
    Report *reports;
    Arena arena;
} Reading;

// The run itself, and then the others
static tr_view_run run_at(const System *system, const tr_view_options *o, size_t i)
{
    return i ? o->others[i - 1] : (tr_view_run){system, o->run};
}

static void read_one(Recorded *run, const char *path, size_t count, tr_error *err)
{
    tr_error why = {0};
    tr_recorded_read(run, path, &why);
    if (why.status == TR_INVALID && count > 1)
        tr_fail(err, why.status, (Place){0}, "'%.150s', line %d: %s", path, why.line, why.text);
    else if (why.status)
        tr_fail(err, why.status, place_at(why.line, why.column), "%s", why.text);
    else if (run->doubt.status)
        tr_fail(err, run->doubt.status, (Place){0}, "%s", run->doubt.text);
}

static void read_all(Reading *r, const System *system, const tr_view_options *o, tr_error *err)
{
    const size_t count = o->other_count + 1;
    r->runs = tr_arena_alloc(&r->arena, count, sizeof *r->runs);
    r->labels = tr_arena_alloc(&r->arena, count, sizeof *r->labels);
    r->reports = tr_arena_alloc(&r->arena, count, sizeof *r->reports);
    if (!r->runs || !r->labels || !r->reports) {
        tr_fail_memory(err);
        return;
    }
    for (size_t i = 0; i < count && !has_failed(err); i++) {
        const tr_view_run one = run_at(system, o, i);
        if (!one.run || !one.system)
            tr_fail(err, TR_USAGE, (Place){0}, "each run has a file and a model");
        else
            read_one(&r->runs[i], one.run, count, err);
        r->labels[i] = (Labelled){.path = one.run, .certificate = r->runs[i].certificate};
    }
    if (!has_failed(err)) tr_label_runs(r->labels, count, &r->arena, err);
    for (size_t i = 0; i < count; i++)
        r->reports[i] =
            (Report){run_at(system, o, i).system, r->runs[i].rows, r->runs[i].certificate,
                     count > 1 ? r->labels[i].label : NULL, i ? NULL : o->equations};
}

// Where no run of a sweep was recorded
static void view_numbers(const System *system, const tr_view_options *o, tr_view_summary *summary,
                         tr_error *err)
{
    Database *file = tr_swept_open(o->sweep, err);
    char *origin = tr_swept_origin(file, o->sweep, err);
    tr_database_close(file);
    const Report report = {
        .system = system, .certificate = text_of(origin ? origin : ""), .equations = o->equations};
    if (!has_failed(err)) tr_view_write(&report, 1, o, summary, err);
    free(origin);
}

bool tr_view(const System *system, const tr_view_options *options, tr_view_summary *summary,
             tr_error *err)
{
    tr_error local = {0};
    tr_view_summary unused;
    tr_view_options o;
    if (!err) err = &local;
    if (!summary) summary = &unused;
    *summary = (tr_view_summary){0};
    if (!system || !tr_view_take(&o, options, err)) return false;
    if (!o.run && !o.sweep)
        return tr_fail(err, TR_USAGE, (Place){0}, "there is no run to report"), false;
    if (!o.run) return view_numbers(system, &o, summary, err), !has_failed(err);
    Reading reading = {0};
    read_all(&reading, system, &o, err);
    if (!has_failed(err)) tr_view_write(reading.reports, o.other_count + 1, &o, summary, err);
    for (size_t i = 0; reading.runs && i <= o.other_count; i++) tr_recorded_free(&reading.runs[i]);
    tr_arena_free(&reading.arena);
    return !has_failed(err);
}
