// SPDX-License-Identifier: Apache-2.0
// Numbers of a system that others choose: parameters, inputs, and those of the start.
#include "expr/system.h"

// Whether a text is a name, but for blanks in it
static bool is_called(Text text, const char *name)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == ' ') continue;
        if (!*name || text.at[i] != *name++) return false;
    }
    return !*name;
}

// A number of the start by its name, or by that of what starts so
static uint32_t start_called(const System *s, Text name)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        const char *own = s->inputs[i].name;
        if (s->inputs[i].kind != TR_START) continue;
        if (is_called(name, own)) return i;
        if (begins_with(own, "initial.") && is_called(name, own + strlen("initial."))) return i;
    }
    return NO_INPUT;
}

// Those that can be found, and all that could have been meant
static uint32_t input_called(const System *s, Text name, Suggestion *nearest)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (!is_setting(&s->inputs[i])) continue;
        if (text_is(name, s->inputs[i].name)) return i;
        tr_suggest(nearest, text_of(s->inputs[i].name));
    }
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_START) tr_suggest(nearest, text_of(s->inputs[i].name));
    return start_called(s, name);
}

// A coordinate or a velocity, also as `initial` may say it: z, d(z), initial.z
static bool is_state(const System *s, Text name)
{
    if (text_begins_with(name, "initial."))
        name.at += strlen("initial."), name.length -= strlen("initial.");
    const bool is_rate = text_begins_with(name, "d(") && text_ends_with(name, ")");
    if (is_rate) name = (Text){name.at + 2, name.length - 3};
    for (uint32_t i = 0; i < s->input_count; i++) {
        const bool may_be =
            s->inputs[i].kind == TR_POSITION || (s->inputs[i].kind == TR_VELOCITY && !is_rate);
        if (may_be && text_is(name, s->inputs[i].name)) return true;
    }
    return false;
}

static void refuse_name(const System *s, Text name, const char *done, const Suggestion *nearest,
                        tr_error *err)
{
    char hint[TR_HINT_SIZE];
    if (is_state(s, name))
        tr_fail(err, TR_USAGE, (Place){0},
                "'%.*s' is part of the state, and `initial` has no number for it that could be %s: "
                "write one there",
                TEXT(name), done);
    else if (tr_system_find(s, name))
        tr_system_setting(s, name, done, err);
    else
        tr_fail(err, TR_USAGE, (Place){0}, "there is no parameter, input or initial value '%.*s'%s",
                TEXT(name), tr_hint(nearest, hint));
}

uint32_t tr_system_number(const System *s, Text name, const char *done, tr_error *err)
{
    Suggestion nearest = {.wanted = name};
    if (has_failed(err)) return NO_INPUT;
    const uint32_t at = input_called(s, name, &nearest);
    if (at == NO_INPUT) refuse_name(s, name, done, &nearest, err);
    return at;
}
