// SPDX-License-Identifier: Apache-2.0
// Models from the folder and from text, with other values here and there, and their systems. What
// must work does, or the test fails with the words of the error.
#ifndef TR_TESTS_MODELS_H
#define TR_TESTS_MODELS_H

#include "test.h"

#include <trundle/trundle.h>

#ifndef MODELS_DIR
#define MODELS_DIR "models"
#endif
#ifndef REFERENCE_DIR
#define REFERENCE_DIR "tests/reference"
#endif

#ifndef REPORTED_DIR
#define REPORTED_DIR "tests/reported"
#endif

// ---- models --------------------------------------------------------------------------------

static inline tr_model *model_in(const char *where, const char *name)
{
    char path[600];
    tr_error err = {0};
    snprintf(path, sizeof path, "%s/%s.yaml", where, name);
    tr_model *model = tr_model_read(path, &err);
    if (!model) fail_msg("%s:%d:%d: %s", path, err.line, err.column, err.text);
    return model;
}

static inline tr_model *model_called(const char *name) { return model_in(MODELS_DIR, name); }
// One that once misbehaved
static inline tr_model *model_reported(const char *name) { return model_in(REPORTED_DIR, name); }

static inline tr_model *model_from(const char *text)
{
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    if (!model) fail_msg("%d:%d: %s\n%s", err.line, err.column, err.text, text);
    return model;
}

static inline void change(tr_model *model, const char *path, const char *value)
{
    tr_error err = {0};
    tr_model_set(model, path, value, &err);
    if (err.status) fail_msg("%s: %s", path, err.text);
}

static inline void change_number(tr_model *model, const char *path, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    change(model, path, text);
}

static inline tr_system *derived_from(const tr_model *model, const tr_derive_options *options)
{
    tr_error err = {0};
    tr_system *system = tr_derive(model, options, &err);
    if (!system) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return system;
}

// ---- systems: the model is freed -----------------------------------------------------------

static inline tr_system *derived(tr_model *model, const tr_derive_options *options)
{
    tr_system *system = derived_from(model, options);
    tr_model_free(model);
    return system;
}

static inline tr_system *system_of(tr_model *model, const char *case_name)
{
    const tr_derive_options options = {.size = sizeof options, .case_name = case_name};
    return derived(model, &options);
}

static inline tr_system *system_called(const char *name, const char *case_name)
{
    return system_of(model_called(name), case_name);
}

static inline tr_system *system_from(const char *text) { return system_of(model_from(text), NULL); }

enum { MOST_SETTINGS = 30 };

// Settings "a=1 b=2"; NULL for none. The words are cut into them.
static inline size_t settings_in(char *words, tr_setting *settings)
{
    size_t count = 0;
    for (char *word; words && (word = strsep(&words, " "));) {
        if (!*word) continue;
        char *sign = strchr(word, '=');
        assert_true(sign && count < MOST_SETTINGS);
        *sign = 0;
        settings[count++] = (tr_setting){word, sign + 1};
    }
    return count;
}

static inline tr_system *system_set(tr_model *model, const char *case_name, const char *words)
{
    char text[300];
    tr_setting settings[MOST_SETTINGS];
    assert_true(!words || strlen(words) < sizeof text);
    snprintf(text, sizeof text, "%s", words ? words : "");
    const size_t count = settings_in(words ? text : NULL, settings);
    const tr_derive_options options = {.size = sizeof options,
                                       .case_name = case_name,
                                       .settings = settings,
                                       .setting_count = count};
    return derived(model, &options);
}

typedef struct Number {
    const char *name;
    double value;
} Number;

static inline tr_system *system_valued(tr_model *model, const char *case_name, const Number *values,
                                       size_t count)
{
    char text[MOST_SETTINGS][40];
    tr_setting settings[MOST_SETTINGS];
    assert_true(count <= MOST_SETTINGS);
    for (size_t i = 0; i < count; i++) {
        snprintf(text[i], sizeof text[i], "%.17g", values[i].value);
        settings[i] = (tr_setting){values[i].name, text[i]};
    }
    const tr_derive_options options = {.size = sizeof options,
                                       .case_name = case_name,
                                       .settings = settings,
                                       .setting_count = count};
    return derived(model, &options);
}

static inline tr_system *system_with(const char *name, const char *case_name, const Number *values,
                                     size_t count)
{
    return system_valued(model_called(name), case_name, values, count);
}

// ---- models that cannot be -----------------------------------------------------------------

// It is refused where it is read, derived or checked, with these words: "line:column: why"
static inline void assert_invalid(const char *text, const char *words)
{
    char told[600];
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_text_free(tr_check_text(system, false, &err));
    tr_model_free(model);
    tr_system_free(system);
    snprintf(told, sizeof told, "%d:%d: %s", err.line, err.column, err.text);
    if (strcmp(told, words) != 0) fail_msg("%s\n  says %s", text, told);
    assert_int_equal(err.status, TR_INVALID);
}

// ---- inputs --------------------------------------------------------------------------------

static inline size_t input_index(const tr_system *system, const char *name)
{
    for (size_t i = 0; i < tr_input_count(system); i++)
        if (strcmp(tr_input_name(system, i), name) == 0) return i;
    fail_msg("there is no input %s", name);
    return 0;
}

#endif
