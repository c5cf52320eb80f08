// SPDX-License-Identifier: Apache-2.0
#include "tell/fragment.h"

#include "base/number.h"

#include <string.h>

// In a comment of one line: other characters would end it.
static void write_word(Buffer *out, const char *before, const char *word)
{
    tr_buffer_print(out, "%s", before);
    for (; *word; word++) tr_buffer_print(out, "%c", (unsigned char)*word < ' ' ? '?' : *word);
}

void tr_fragment_origin(Buffer *out, const System *system, const char *what)
{
    const struct Source *source = &system->source;
    tr_buffer_print(out, "# %s", what);
    if (*source->file) write_word(out, " of ", source->file);
    if (*source->case_name) write_word(out, ", case ", source->case_name);
    for (uint32_t i = 0; i < source->with_count; i++)
        write_word(out, i ? ", " : ", with ", source->with[i]);
    tr_buffer_print(out, "\n");
}

static void write_name(Buffer *out, const char *name)
{
    const bool plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789_.()+*/^ ") == strlen(name);
    tr_buffer_print(out, plain ? "  %s: " : "  \"%s\": ", name);
}

void tr_fragment_pair(Buffer *out, const char *name, double value)
{
    write_name(out, name);
    tr_buffer_number(out, value);
    tr_buffer_print(out, "\n");
}

// Later ones win.
static bool is_last(const struct Source *source, uint32_t setting)
{
    for (uint32_t i = setting + 1; i < source->setting_count; i++)
        if (strcmp(source->settings[i].name, source->settings[setting].name) == 0) return false;
    return true;
}

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

bool tr_fragment_settings(Buffer *out, const System *system, const char *const *found,
                          size_t found_count)
{
    const struct Source *source = &system->source;
    bool any = false;
    for (uint32_t i = 0; i < source->setting_count; i++) {
        const tr_setting *s = &source->settings[i];
        double number;
        if (!is_last(source, i) || is_among(found, found_count, s->name)) continue;
        if (!any) tr_buffer_print(out, "set:\n");
        any = true;
        write_name(out, s->name);
        tr_buffer_print(out, tr_read_number(s->formula, &number) ? "%s\n" : "\"%s\"\n", s->formula);
    }
    return any;
}
