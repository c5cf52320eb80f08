// SPDX-License-Identifier: Apache-2.0
// Where the layers meet: model -> mech -> system.
#include "mech/derive.h"
#include "base/sha256.h"

#include <time.h>

tr_derive_options tr_derive_defaults(void) { return (tr_derive_options){0}; }

static const char *keep(tr_system *system, Text text)
{
    const char *kept = tr_arena_text(&system->graph->arena, text.at ? text.at : "", text.length);
    if (!kept) system->graph->failed = true;
    return kept;
}

// What the results of a system need to name the model they came from.
static void note_source(tr_system *system, const Model *variant, const tr_derive_options *o)
{
    struct Source *source = &system->source;
    const Cases *cases = &variant->fields.cases;
    source->file = keep(system, text_of(variant->path ? variant->path : ""));
    if (variant->text.at) {
        source->text = keep(system, variant->text);
        tr_sha256(variant->text.at, variant->text.length, source->sha256);
    }
    source->case_name = keep(system, cases->count ? cases->at[0].name.text : text_of(""));
    tr_setting *settings =
        tr_arena_alloc(&system->graph->arena, o->setting_count + 1, sizeof *settings);
    if (!settings) system->graph->failed = true;
    for (size_t i = 0; settings && i < o->setting_count; i++)
        settings[i] = (tr_setting){keep(system, text_of(o->settings[i].name)),
                                   keep(system, text_of(o->settings[i].formula))};
    source->settings = settings;
    source->setting_count = (uint32_t)o->setting_count;
}

tr_system *tr_derive(const tr_model *model, const tr_derive_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!model || has_failed(err)) return NULL;
    const tr_derive_options o = options ? *options : tr_derive_defaults();
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    Model *variant = tr_model_variant(model, o.case_name, o.settings, o.setting_count, err);
    tr_system *system = tr_system_new(err);
    if (variant && system) tr_mech_derive(variant, system, err);
    if (variant && system && !has_failed(err)) note_source(system, variant, &o);
    if (system && system->graph->failed) tr_fail_memory(err);
    tr_model_free(variant);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (system)
        system->seconds =
            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (!has_failed(err)) return system;
    tr_system_free(system);
    return NULL;
}
