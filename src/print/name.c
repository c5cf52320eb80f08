// SPDX-License-Identifier: Apache-2.0
#include "print/name.h"

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

NameParts tr_name_parts(const System *s, uint32_t input)
{
    NameParts n = {0};
    const Text name = text_of(s->inputs[rate_of(s, input, &n.dots)].name);
    size_t start = name.length, end;
    while (start > 0 && name.at[start - 1] != '.') start--;
    if (start) n.owner = (Text){name.at, start - 1};
    for (end = start; end < name.length && name.at[end] != '_' && !is_digit(name.at[end]);) end++;
    if (end == start) end = name.length;
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
