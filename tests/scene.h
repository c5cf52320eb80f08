// SPDX-License-Identifier: Apache-2.0
// What the tests of scenes and reports share: models from text and from the models' folder.
#ifndef TR_TESTS_SCENE_H
#define TR_TESTS_SCENE_H

#include "expr/system.h"
#include "model/include.h"
#include "model/model.h"
#include "models.h"

#include <dirent.h>

static inline tr_system *derive_file(const char *name, const tr_derive_options *options,
                                     bool has_shapes)
{
    char path[300];
    tr_error err = {0};
    snprintf(path, sizeof path, "%s/%s", MODELS_DIR, name);
    tr_model *model = tr_model_read(path, &err);
    if (!model || !tr_model_include(model, NULL, 0, &err)) fail_msg("%s: %s", path, err.text);
    for (uint32_t i = 0; !has_shapes && i < model->fields.bodies.count; i++)
        model->fields.bodies.at[i].shapes.count = 0;
    tr_system *system = tr_derive(model, options, &err);
    tr_model_free(model);
    if (!system) fail_msg("%s: %s", path, err.text);
    return system;
}

// Calls `check` for every bundled model.
static inline void for_all_models(void (*check)(const char *name))
{
    DIR *models = opendir(MODELS_DIR);
    assert_non_null(models);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(models));) {
        const size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".yaml") != 0) continue;
        check(entry->d_name);
        count++;
    }
    closedir(models);
    assert_true(count >= 28);
}

static inline const SceneBody *body_called(const tr_system *system, const char *name,
                                           uint32_t *index)
{
    for (*index = 0; *index < system->scene.body_count; ++*index)
        if (strcmp(system->scene.bodies[*index].name, name) == 0)
            return &system->scene.bodies[*index];
    fail_msg("no body %s", name);
    return NULL;
}

#endif
