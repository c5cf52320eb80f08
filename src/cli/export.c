// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdint.h>
#include <string.h>

static bool read_version(const char *fmi, int *version)
{
    if (fmi && strcmp(fmi, "2") != 0 && strcmp(fmi, "3") != 0) {
        cli_say("trundle: --fmi is 2 or 3, not '%s'\n", fmi);
        return false;
    }
    if (fmi) *version = fmi[0] - '0';
    return true;
}

static void warn(void *owner, const char *words)
{
    const Options *options = owner;
    if (!options->quiet) cli_say("warning: %s\n", words);
}

int cli_export(const Verb *verb, const Options *options)
{
    (void)verb;
    int status = 0;
    tr_error err = {0};
    if (!options->output || strcmp(options->output, "-") == 0) {
        cli_say("trundle export: -o says the folder to write into, or the file of an FMU\n");
        return TR_USAGE;
    }
    tr_export_options o = tr_export_defaults();
    if (options->to) o.language = options->to;
    if (options->form) o.form = options->form;
    o.folder = options->output, o.name = options->name;
    o.fix = options->fix, o.outputs = options->outputs;
    o.single = options->single, o.open = options->opens;
    o.warn = warn, o.owner = (void *)(uintptr_t)options;
    o.kind = options->kind, o.sources_only = options->sources_only;
    if (!cli_number("--step", options->step, &o.step) || !read_version(options->fmi, &o.fmi))
        return TR_USAGE;
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    if (tr_export(system, &o, &err))
        cli_written(options, options->output);
    else
        status = cli_complain_of(options, &err);
    tr_system_free(system);
    return status;
}
