// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONTROLS = 64 };

// The words of a list with commas, which it is cut into
static size_t split(char *list, const char **words)
{
    size_t count = 0;
    for (char *word = strtok(list, ", "); word && count < MAX_CONTROLS; word = strtok(NULL, ", "))
        words[count++] = word;
    return count;
}

// Roles, behind what --trim found but for its own roles, which are these
static int write_file(const Options *options, const char *found, const char *roles, tr_error *err)
{
    const char *end = found ? strstr(found, "roles:\n") : NULL;
    const size_t kept = !found ? 0 : end ? (size_t)(end - found) : strlen(found);
    const size_t size = kept + (roles ? strlen(roles) : 0) + 1;
    char *text = roles ? malloc(size) : NULL;
    if (text) {
        snprintf(text, size, "%.*s%s", (int)kept, found ? found : "", roles);
        if (tr_write_text(options->output, text, err)) cli_written(options, options->output);
    }
    free(text);
    return err->status ? cli_complain(options->model, err) : text ? 0 : TR_FAILED;
}

// Laws stand in torques of roles; below them each law of an input stands as a comment, too.
static void warn_of_comments(const tr_lqr *lqr, const char *roles)
{
    for (size_t i = 0; roles && i < lqr->inputs; i++) {
        const char *law = strstr(roles, lqr->law[i]), *line = law;
        while (line && line > roles && line[-1] != '\n') line--;
        if (law && *line != '#') continue;
        cli_say("warning: the law of '%s' is only a comment in the file, since no torque of a role "
                "uses it: a run with the file leaves '%s' as it is; make it the torque of a role\n",
                lqr->input[i], lqr->input[i]);
    }
}

// With -o, roles go to the file, and the rest to standard output.
static int report(const Options *options, const tr_lqr *lqr, const char *found, tr_error *err)
{
    Options shown = *options;
    shown.output = NULL;
    int status = 0;
    if (lqr && options->output) {
        char *roles = tr_lqr_fragment(lqr, err);
        status = write_file(options, found, roles, err);
        if (!status) warn_of_comments(lqr, roles);
        tr_text_free(roles);
        const bool to_stdout = strcmp(options->output, "-") == 0;
        if (status || to_stdout || (options->quiet && !options->json)) return status;
    }
    return cli_print(&shown, tr_lqr_text(lqr, options->json, err), err);
}

int cli_lqr(const Verb *verb, const Options *options)
{
    int status = 0;
    tr_error err = {0};
    const char *controls[MAX_CONTROLS];
    tr_lqr_options o = tr_lqr_defaults();
    o.inputs = options->inputs, o.q = options->q, o.r = options->r;
    if (!options->inputs) {
        cli_say("trundle: which inputs? usage: trundle %s\n", verb->usage);
        return TR_USAGE;
    }
    if (!cli_number("--step", options->step, &o.step) || !cli_check_trim(options)) return TR_USAGE;
    char *list = strdup(options->inputs);
    if (!list) return TR_FAILED;
    Options with = *options;
    with.controls = controls;
    with.control_count = split(list, controls);
    if (options->trim && !options->free) with.free = options->inputs;
    char *found = options->trim ? cli_trim(&with, &status) : NULL;
    tr_system *system = status ? NULL : cli_system(&with, &status);
    if (system) {
        const tr_lqr *lqr = tr_lqr_design(system, &o, &err);
        status = report(options, lqr, found, &err);
        tr_lqr_free(lqr);
    }
    tr_system_free(system);
    tr_text_free(found);
    free(list);
    return status;
}
