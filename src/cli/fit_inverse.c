// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdio.h>

static bool is_fragment(const char *path)
{
    return cli_ends_with(path, ".yaml") || cli_ends_with(path, ".yml");
}

static int find(const Options *options, const tr_system *system, const tr_inverse_options *how)
{
    tr_error err = {0};
    tr_inverse *inverse = tr_inverse_find(system, how, &err);
    Options where = *options;
    if (inverse && is_fragment(options->output)) {
        char *fragment = tr_inverse_fragment(inverse, &err);
        if (fragment && tr_write_text(options->output, fragment, &err))
            cli_written(options, options->output);
        tr_text_free(fragment);
        where.output = NULL;
    }
    const bool json = options->json || cli_ends_with(options->output, ".json");
    char *text = tr_inverse_text(inverse, json, &err);
    tr_inverse_free(inverse);
    if (err.status) return tr_text_free(text), cli_complain(NULL, &err);
    return cli_print(&where, text, &err);
}

// Options of fits by runs, which have no meaning here
static bool refuse_others(const Options *o)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {{"--match", o->matches.count > 0}, {"--columns", o->columns != NULL},
                  {"--time", o->time != NULL},       {"--from", o->from != NULL},
                  {"--to", o->to != NULL},           {"--prior", o->priors.count > 0},
                  {"--sd", o->sds.count > 0},        {"--plot", o->picture != NULL}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given) {
            cli_say("trundle: %s does not go with --inverse\n", others[i].name);
            return true;
        }
    return false;
}

int cli_fit_inverse(const Verb *verb, const Options *options)
{
    tr_inverse_options how = tr_inverse_defaults();
    how.logs = options->data.word, how.log_count = options->data.count;
    if (!how.log_count) {
        cli_say("trundle: which recording? usage: trundle %s MODEL --inverse --data LOG.csv\n",
                verb->name);
        return TR_USAGE;
    }
    if (refuse_others(options)) return TR_USAGE;
    if (!cli_number("--prior-weight", options->prior_weight, &how.prior_weight)) return TR_USAGE;
    Options open = *options;
    open.inertias = options->free ? options->free : "*";
    int status = 0;
    tr_system *system = cli_system(&open, &status);
    if (system) status = find(options, system, &how);
    tr_system_free(system);
    return status;
}
