// SPDX-License-Identifier: Apache-2.0
#include "sweep/settings.h"

#include "base/error.h"
#include "sim/certificate.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>

// The text is taken over.
static void add_buffer(SweepSettings *settings, const char *name, Buffer *text, tr_error *err)
{
    char *value = tr_text_finish(text, err);
    if (!value) return;
    assert(settings->count < MOST_SWEEP_SETTINGS);
    settings->at[settings->count++] = (SweepSetting){.name = name, .value = value};
}

static void add_text(SweepSettings *settings, const char *name, const char *value, tr_error *err)
{
    Buffer text = {0};
    tr_buffer_print(&text, "%s", value ? value : "");
    add_buffer(settings, name, &text, err);
}

static void add_number(SweepSettings *settings, const char *name, double value, tr_error *err)
{
    Buffer text = {0};
    tr_buffer_number(&text, value);
    add_buffer(settings, name, &text, err);
}

static void add_words(SweepSettings *settings, const char *name, const char *const *words,
                      size_t count, tr_error *err)
{
    Buffer text = {0};
    tr_buffer_print(&text, "%s", "");
    for (size_t i = 0; i < count; i++) tr_buffer_print(&text, i ? "; %s" : "%s", words[i]);
    add_buffer(settings, name, &text, err);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Blanks count between words alone.
static void add_bare(Buffer *text, const char *formulas)
{
    tr_buffer_print(text, "%s", "");
    for (const char *at = formulas; *at; at++)
        if (!is_space(*at))
            tr_buffer_add(text, at, 1);
        else if (text->length && is_word(text->at[text->length - 1]) && is_word(at[1]))
            tr_buffer_add(text, " ", 1);
}

static void add_formulas(SweepSettings *settings, const char *name, const char *value,
                         tr_error *err)
{
    Buffer text = {0};
    add_bare(&text, value ? value : "");
    add_buffer(settings, name, &text, err);
    if (!has_failed(err)) settings->at[settings->count - 1].is_formula = true;
}

bool tr_sweep_setting_is(const SweepSetting *setting, const char *was, tr_error *err)
{
    if (!setting->is_formula) return strcmp(was, setting->value) == 0;
    Buffer bare = {0};
    add_bare(&bare, was);
    char *text = tr_text_finish(&bare, err);
    const bool is_same = text && strcmp(text, setting->value) == 0;
    free(text);
    return is_same;
}

// The values themselves: a file may change.
static void add_table(const Sweep *s, SweepSettings *settings, tr_error *err)
{
    Sha256 sha;
    Buffer text = {0};
    char hex[TR_SHA256_SIZE];
    tr_sha256_begin(&sha);
    tr_buffer_print(&text, "%s", "");
    for (uint32_t i = 0; i < s->design.count && s->design.is_table; i++) {
        const Varied *v = &s->design.varied[i];
        tr_sha256_add(&sha, v->values, v->count * sizeof *v->values);
        tr_buffer_print(&text, "%s, ", v->name);
    }
    tr_sha256_end(&sha, hex);
    if (s->design.is_table) tr_buffer_print(&text, "%s", hex);
    add_buffer(settings, "table", &text, err);
}

static void add_source(const Sweep *s, SweepSettings *settings, tr_error *err)
{
    const struct Source *source = &s->system->source;
    Buffer set = {0}, with = {0};
    add_text(settings, "case", source->case_name, err);
    tr_buffer_print(&set, "%s", "");
    for (uint32_t i = 0; i < source->setting_count; i++)
        tr_buffer_print(&set, i ? "; %s=%s" : "%s=%s", source->settings[i].name,
                        source->settings[i].formula);
    add_buffer(settings, "set", &set, err);
    tr_buffer_print(&with, "%s", "");
    for (uint32_t i = 0; i < source->with_count; i++)
        tr_buffer_print(&with, i ? "\n%s" : "%s", source->with_texts[i]);
    add_buffer(settings, "with", &with, err);
}

// How a run that is recorded was made, as certificates say it; its own numbers come to that.
static void add_origin(const Sweep *s, SweepSettings *settings, tr_error *err)
{
    Json j = {0};
    tr_json_open(&j, NULL, '{');
    tr_describe_case(&j, s->system);
    tr_json_text(&j, "model_sha256", s->system->source.sha256);
    tr_json_open(&j, "varied", '[');
    for (uint32_t i = 0; i < s->design.count; i++) tr_json_text(&j, NULL, s->names[i]);
    tr_json_close(&j, ']');
    tr_json_open(&j, "kept", '[');
    for (uint32_t i = 0; i < s->keep.count; i++) tr_json_text(&j, NULL, s->names[kept_at(s) + i]);
    tr_json_close(&j, ']');
    tr_json_open(&j, "parameters", '[');
    for (uint32_t i = 0; i < s->design.count; i++)
        if (s->system->inputs[s->design.varied[i].input].kind == TR_PARAMETER)
            tr_json_text(&j, NULL, s->design.varied[i].name);
    tr_json_close(&j, ']');
    tr_json_close(&j, '}');
    add_buffer(settings, "origin", &j.text, err);
    if (!has_failed(err)) settings->at[settings->count - 1].is_told_alone = true;
}

static void add_options(const Sweep *s, SweepSettings *settings, tr_error *err)
{
    const tr_sweep_options *o = s->options;
    add_text(settings, "do", s->task->name, err);
    add_words(settings, "vary", o->vary, o->vary_count, err);
    add_table(s, settings, err);
    add_number(settings, "runs", (double)s->design.runs, err);
    add_number(settings, "samples", (double)s->design.samples, err);
    add_number(settings, "seed", s->design.seed, err);
    add_words(settings, "keep", s->names + kept_at(s), s->keep.count, err);
    add_formulas(settings, "keep as given", o->keep, err);
    add_formulas(settings, "stop", o->stop, err);
    add_number(settings, "record", (double)o->record, err);
    add_text(settings, "free", o->free, err);
    add_words(settings, "hold", o->holds, o->hold_count, err);
    add_text(settings, "by", o->by, err);
    add_number(settings, "order", (double)s->system->order, err);
    add_number(settings, "end", s->end, err);
    add_number(settings, "every", s->every, err);
    add_text(settings, "method", s->method, err);
    add_number(settings, "step", s->step, err);
    add_number(settings, "rtol", s->rtol, err);
    add_number(settings, "atol", s->atol, err);
    add_number(settings, "most steps", (double)o->most_steps, err);
}

bool tr_sweep_settings(const Sweep *s, SweepSettings *settings, tr_error *err)
{
    add_text(settings, "model", s->system->source.sha256, err);
    add_source(s, settings, err);
    add_options(s, settings, err);
    add_origin(s, settings, err);
    add_text(settings, "format", "2", err); // 2: `rows` has columns if any are recorded
    add_text(settings, "trundle", tr_version(), err);
    if (!has_failed(err)) settings->at[settings->count - 1].is_told_alone = true;
    add_number(settings, "varied", s->design.count,
               err); // the columns behind the number of the run
    char *text = has_failed(err) ? NULL : tr_model_expand(s->model, s->derive, err);
    add_text(settings, "model text", text, err);
    tr_text_free(text);
    const bool is_file = s->system->source.sha256[0]; // else the text is all there is
    if (!has_failed(err)) settings->at[settings->count - 1].is_told_alone = is_file;
    return !has_failed(err);
}

void tr_sweep_settings_free(SweepSettings *settings)
{
    for (uint32_t i = 0; i < settings->count; i++) free(settings->at[i].value);
    *settings = (SweepSettings){0};
}
