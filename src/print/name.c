// SPDX-License-Identifier: Apache-2.0
#include "print/name.h"

#include <stdio.h>
#include <string.h>

static const char *const letters[] = {
    "alpha",   "beta",   "gamma", "delta", "epsilon", "zeta",  "eta",   "theta", "iota",
    "kappa",   "lambda", "mu",    "nu",    "xi",      "pi",    "rho",   "sigma", "tau",
    "upsilon", "phi",    "chi",   "psi",   "omega",   "Gamma", "Delta", "Theta", "Lambda",
    "Xi",      "Pi",     "Sigma", "Phi",   "Psi",     "Omega"};

static const char *greek_letter(Text name)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (text_is(name, letters[i])) return letters[i];
    return NULL;
}

// x' of a velocity that is the rate of a position; vdot.x and its like once more
static uint32_t rate_of(const System *s, uint32_t input, int *dots)
{
    static const char acceleration[] = "vdot.";
    const char *name = s->inputs[input].name;
    if (strncmp(name, acceleration, sizeof acceleration - 1) == 0)
        for (uint32_t i = 0; i < s->input_count; i++)
            if (strcmp(s->inputs[i].name, name + sizeof acceleration - 1) == 0) {
                ++*dots;
                input = i;
                break;
            }
    const uint32_t of = s->inputs[input].port.rate_of;
    if (s->inputs[input].kind == TR_VELOCITY && of < s->input_count) ++*dots, input = of;
    return input;
}

// Where what is before the first _ or digit ends
static size_t base_end(Text name, size_t start)
{
    size_t end = start;
    while (end < name.length && name.at[end] != '_' && !is_digit(name.at[end])) end++;
    return end > start ? end : name.length;
}

void tr_name_look(const char *name, char look[TR_LOOK_SIZE])
{
    const char *dot = strrchr(name, '.');
    const size_t bar = base_end(text_of(name), dot ? (size_t)(dot + 1 - name) : 0);
    const bool is_hidden = name[bar] == '_' && (!name[bar + 1] || is_digit(name[bar + 1]));
    snprintf(look, TR_LOOK_SIZE, "%.*s%s", (int)bar, name, name + bar + is_hidden);
}

// Whether another symbol has the same look: "k1" and "k_1", "g" and "g_"
static bool has_double(const System *s, const char *name)
{
    char look[TR_LOOK_SIZE], other[TR_LOOK_SIZE + 1];
    tr_name_look(name, look);
    if (strcmp(look, name) == 0) {
        const char *dot = strrchr(name, '.');
        const size_t bar = base_end(text_of(name), dot ? (size_t)(dot + 1 - name) : 0);
        snprintf(other, sizeof other, "%.*s_%s", (int)bar, name, name + bar);
    } else
        snprintf(other, sizeof other, "%s", look);
    const Named *named = tr_system_find(s, text_of(other));
    return named && named->meaning.id && op_of(named->meaning) == OP_SYMBOL;
}

// Of names that would look alike each is written the way it is.
NameParts tr_name_parts(const System *s, uint32_t input)
{
    NameParts n = {0};
    const Text name = text_of(s->inputs[rate_of(s, input, &n.dots)].name);
    size_t start = name.length;
    while (start > 0 && name.at[start - 1] != '.') start--;
    if (start) n.owner = (Text){name.at, start - 1};
    size_t end = has_double(s, name.at) ? name.length : base_end(name, start);
    n.base = (Text){name.at + start, end - start};
    if (end < name.length && name.at[end] == '_') end++;
    n.below = (Text){name.at + end, name.length - end};
    n.greek = greek_letter(n.base);
    return n;
}

void tr_name_text(const System *s, uint32_t input, Buffer *text)
{
    int dots = 0;
    tr_buffer_print(text, "%s", s->inputs[rate_of(s, input, &dots)].name);
    for (int i = 0; i < dots; i++) tr_buffer_add(text, "'", 1);
}
