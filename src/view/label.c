// SPDX-License-Identifier: Apache-2.0
#include "view/label.h"

#include "base/error.h"
#include "base/json.h"

#include <string.h>

enum { LONGEST = 80 }; // of what differs

// The name of a file without its folder and ".csv"
static Text stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return (Text){name, strlen(name) - (ends_with(name, ".csv") ? 4 : 0)};
}

static bool have_one_stem(const Labelled *runs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!text_equal(stem_of(runs[0].path), stem_of(runs[i].path))) return false;
    return true;
}

// ---- how a run was made --------------------------------------------------------------------

static Text member(Text object, const char *key)
{
    return object.length ? tr_json_member(object, key) : (Text){0};
}

// Appends a value as it is read: strings without quotes, numbers as they stand, null as nothing.
static void add_value(Text value, Buffer *out)
{
    if (!value.at || text_is(value, "null")) return;
    if (value.length && value.at[0] == '"')
        tr_json_string(value, out);
    else
        tr_buffer_add(out, value.at, value.length);
}

// The value that a setting has in a run: its own, or the model's
static Text value_of_setting(const Labelled *run, const char *name)
{
    const Text list = member(run->certificate, "settings");
    for (size_t i = 0; list.at && tr_json_item(list, i).at; i++) {
        const Text item = tr_json_item(list, i);
        Buffer text = {0};
        const bool is_it = tr_json_string(tr_json_member(item, "name"), &text) && !text.failed &&
                           text.at && strcmp(text.at, name) == 0;
        tr_buffer_free(&text);
        if (is_it) return tr_json_member(item, "formula");
    }
    return member(member(run->certificate, "parameters"), name);
}

static Text value_of_key(const Labelled *run, const char *key)
{
    return member(run->certificate, key);
}

// Appends "name = value", where runs differ in it
static void add_difference(const Labelled *runs, size_t count, size_t which, const char *name,
                           const char *shown, Text (*get)(const Labelled *, const char *),
                           Buffer *out)
{
    bool differs = false;
    Buffer first = {0}, own = {0};
    add_value(get(&runs[0], name), &first);
    for (size_t i = 1; i < count && !differs; i++) {
        Buffer other = {0};
        add_value(get(&runs[i], name), &other);
        differs = !text_equal((Text){first.at, first.length}, (Text){other.at, other.length});
        tr_buffer_free(&other);
    }
    add_value(get(&runs[which], name), &own);
    if (differs && own.length && out->length + own.length < LONGEST)
        tr_buffer_print(out, "%s%s%s", out->length ? ", " : "", shown, own.at);
    tr_buffer_free(&first);
    tr_buffer_free(&own);
}

static bool is_known(const Labelled *runs, size_t run, size_t item, const char *name)
{
    for (size_t i = 0; i <= run; i++) {
        const Text list = member(runs[i].certificate, "settings");
        for (size_t k = 0; list.at && tr_json_item(list, k).at && (i < run || k < item); k++) {
            Buffer text = {0};
            const bool is_it =
                tr_json_string(tr_json_member(tr_json_item(list, k), "name"), &text) && text.at &&
                strcmp(text.at, name) == 0;
            tr_buffer_free(&text);
            if (is_it) return true;
        }
    }
    return false;
}

// Each setting of any run once
static void add_settings(const Labelled *runs, size_t count, size_t which, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        const Text list = member(runs[i].certificate, "settings");
        for (size_t k = 0; list.at && tr_json_item(list, k).at; k++) {
            Buffer name = {0}, shown = {0};
            tr_json_string(tr_json_member(tr_json_item(list, k), "name"), &name);
            if (name.at && !is_known(runs, i, k, name.at)) {
                tr_buffer_print(&shown, "%s = ", name.at);
                if (shown.at)
                    add_difference(runs, count, which, name.at, shown.at, value_of_setting, out);
            }
            tr_buffer_free(&name);
            tr_buffer_free(&shown);
        }
    }
}

// Where one has no certificate nobody knows in what it differs.
static void add_differences(const Labelled *runs, size_t count, size_t which, Buffer *out)
{
    for (size_t i = 0; i < count; i++)
        if (!runs[i].certificate.length) return;
    static const struct {
        const char *key, *shown;
    } keys[] = {{"case", ""}, {"method", ""}, {"step", "step "}, {"rtol", "rtol "}};
    add_difference(runs, count, which, keys[0].key, keys[0].shown, value_of_key, out);
    add_settings(runs, count, which, out);
    for (size_t i = 1; i < sizeof keys / sizeof *keys; i++)
        add_difference(runs, count, which, keys[i].key, keys[i].shown, value_of_key, out);
}

// ---- labels --------------------------------------------------------------------------------

static const char *make_label(const Labelled *runs, size_t count, size_t which, Arena *arena)
{
    Buffer words = {0}, label = {0};
    const Text stem = stem_of(runs[which].path);
    add_differences(runs, count, which, &words);
    const bool is_alike = count > 1 && have_one_stem(runs, count);
    if (is_alike && words.length)
        tr_buffer_print(&label, "%s", words.at);
    else if (words.length)
        tr_buffer_print(&label, "%.*s (%s)", (int)stem.length, stem.at, words.at);
    else
        tr_buffer_add(&label, stem.at, stem.length);
    const bool failed = words.failed || label.failed;
    const char *kept = failed ? NULL : tr_arena_text(arena, label.at ? label.at : "", label.length);
    tr_buffer_free(&words);
    tr_buffer_free(&label);
    return kept;
}

void tr_label_runs(Labelled *runs, size_t count, Arena *arena, tr_error *err)
{
    for (size_t i = 0; i < count; i++) {
        runs[i].label = make_label(runs, count, i, arena);
        if (!runs[i].label) {
            tr_fail_memory(err);
            return;
        }
    }
    for (size_t i = 0; i < count; i++) { // what is the same in all but the folder
        bool has_twin = false;
        for (size_t k = i + 1; k < count; k++) {
            if (strcmp(runs[i].label, runs[k].label) != 0) continue;
            runs[k].label = runs[k].path;
            has_twin = true;
        }
        if (has_twin) runs[i].label = runs[i].path;
    }
}
