// SPDX-License-Identifier: Apache-2.0
// What is to be found, by name, and what is known of it besides.
#include "expr/walk.h"
#include "fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// The last = of a text that is no part of a comparison: keys of `initial` may be formulas.
static const char *last_sign(const char *text)
{
    const char *found = NULL;
    for (const char *at = text; *at; at++)
        if (*at == '=' && at > text && !strchr("<>=!", at[-1]) && at[1] != '=') found = at;
    return found;
}

bool tr_fit_pair(const char *text, const char *option, const char *takes, Text *name, Text *value,
                 tr_error *err)
{
    const char *sign = strcmp(option, "--match") == 0 ? strchr(text, '=') : last_sign(text);
    *name = text_trimmed((Text){text, sign ? (size_t)(sign - text) : 0});
    *value = text_trimmed(text_of(sign ? sign + 1 : ""));
    if (name->length && value->length) return true;
    tr_fail(err, TR_USAGE, (Place){0}, "%s takes %s, not '%.100s'", option, takes, text);
    return false;
}

// ---- names ---------------------------------------------------------------------------------

// The next of a list; commas in parentheses are part of a name.
static Text next_name(const char **list)
{
    const char *from = *list, *at = from;
    for (int depth = 0; *at && (*at != ',' || depth > 0); at++)
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    *list = *at ? at + 1 : at;
    return text_trimmed((Text){from, (size_t)(at - from)});
}

static uint32_t find_name(const System *s, Text name, tr_error *err)
{
    const uint32_t at = tr_system_number(s, name, "found", err);
    if (at != NO_INPUT && s->inputs[at].follows.id) {
        tr_fail(err, TR_USAGE, (Place){0},
                "'%.*s' is a formula of t: it can be found once it is set to a number", TEXT(name));
        return NO_INPUT;
    }
    return at;
}

static bool add_free(Fit *f, Text name, tr_error *err)
{
    const uint32_t at = find_name(f->system, name, err);
    if (at == NO_INPUT) return false;
    const Input *input = &f->system->inputs[at];
    for (uint32_t k = 0; k < f->count; k++)
        if (f->input[k] == at)
            return tr_fail(err, TR_USAGE, (Place){0}, "'%.*s' is free twice", TEXT(name)), false;
    f->input[f->count] = at;
    f->values[f->count++] = (tr_fit_value){.name = input->name,
                                           .value = input->value,
                                           .start = input->value,
                                           .prior = (double)NAN,
                                           .prior_sd = (double)NAN};
    return true;
}

// ---- priors --------------------------------------------------------------------------------

static bool read_number(Text text, double *value)
{
    char copy[100];
    const Text all = text_trimmed(text);
    if (all.length >= sizeof copy) return false;
    snprintf(copy, sizeof copy, "%.*s", (int)all.length, all.at);
    return tr_read_number(copy, value) && isfinite(*value);
}

// "NAME=m~s"
static bool add_prior(Fit *f, const char *text, tr_error *err)
{
    static const char *const takes = "NAME=m~s, a value and its standard deviation";
    Text name, value;
    double m, s;
    if (!tr_fit_pair(text, "--prior", takes, &name, &value, err)) return false;
    const char *tilde = memchr(value.at, '~', value.length);
    const size_t before = tilde ? (size_t)(tilde - value.at) : 0;
    const uint32_t at = find_name(f->system, name, err);
    if (at == NO_INPUT) return false;
    uint32_t k = 0;
    while (k < f->count && f->input[k] != at) k++;
    if (!tilde || !read_number((Text){value.at, before}, &m) ||
        !read_number((Text){tilde + 1, value.length - before - 1}, &s))
        tr_fail(err, TR_USAGE, (Place){0}, "--prior takes %s, not '%.100s'", takes, text);
    else if (!(s > 0))
        tr_fail(err, TR_USAGE, (Place){0},
                "--prior %.100s: the standard deviation must be positive", text);
    else if (k == f->count)
        tr_fail(err, TR_USAGE, (Place){0}, "'%.*s' has a prior, but is not free", TEXT(name));
    else if (isfinite(f->values[k].prior))
        tr_fail(err, TR_USAGE, (Place){0}, "'%.*s' has two priors", TEXT(name));
    else
        f->values[k].prior = m, f->values[k].prior_sd = s;
    return !has_failed(err);
}

bool tr_fit_choose(Fit *f, tr_error *err)
{
    const tr_fit_options *o = f->options;
    const size_t most = f->system->input_count + 1u;
    f->values = calloc(most, sizeof *f->values);
    f->input = calloc(most, sizeof *f->input);
    if (!f->values || !f->input) return tr_fail_memory(err), false;
    for (const char *at = o->free ? o->free : ""; *at;) {
        const Text name = next_name(&at);
        if (name.length && !add_free(f, name, err)) return false;
    }
    if (!f->count)
        return tr_fail(err, TR_USAGE, (Place){0},
                       "what is to be found? --free names parameters, inputs and initial values"),
               false;
    for (size_t i = 0; i < o->prior_count; i++)
        if (!add_prior(f, o->priors[i], err)) return false;
    return true;
}

// ---- ranges --------------------------------------------------------------------------------

// A bound that no free value is part of is a number. Of others runs say when they are passed.
static bool is_fixed(const Fit *f, Expr bound, tr_error *err)
{
    Reach reach = {0};
    bool is_free = false;
    if (!tr_reach_in(f->system->graph, &bound, 1, &reach)) return tr_fail_memory(err), false;
    for (uint32_t k = 0; k < f->count; k++)
        is_free = is_free || tr_reach_has(&reach, f->system->inputs[f->input[k]].symbol);
    tr_reach_free(&reach);
    return !is_free;
}

bool tr_fit_bound(Fit *f, tr_error *err)
{
    for (uint32_t k = 0; k < f->count && !has_failed(err); k++) {
        const Input *input = &f->system->inputs[f->input[k]];
        const bool has_least = input->least.id && is_fixed(f, input->least, err),
                   has_most = input->most.id && is_fixed(f, input->most, err);
        f->least[k] = has_least ? input->port.min : -(double)INFINITY;
        f->most[k] = has_most ? input->port.max : (double)INFINITY;
        f->is_bounded = f->is_bounded || has_least || has_most;
    }
    return !has_failed(err);
}
