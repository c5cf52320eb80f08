// SPDX-License-Identifier: Apache-2.0
#ifndef TR_TESTS_MODEL_LIST_H
#define TR_TESTS_MODEL_LIST_H

#include "models.h"

#include <dirent.h>

static inline int is_model(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

// Names of all models in models/, to be freed; how many
static inline int list_models(char **names)
{
    struct dirent **entries;
    const int found = scandir(MODELS_DIR, &entries, is_model, alphasort);
    for (int i = 0; i < found; i++) {
        entries[i]->d_name[strlen(entries[i]->d_name) - 5] = 0;
        names[i] = strdup(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return found;
}

#endif
