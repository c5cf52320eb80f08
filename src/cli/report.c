// SPDX-License-Identifier: Apache-2.0
// The verbs that print what the library says about a model: check, derive, eval.
#include "cli/cli.h"

// What a case, settings and files say is for whoever derives the text.
static int expand(const Options *options)
{
    int status = 0;
    tr_error err = {0};
    tr_derive_options how;
    if (options->case_name || options->setting_count || options->with.count || options->json) {
        cli_say("trundle: --expand is of the model as it stands, without --case, --with, --set and "
                "--json\n");
        return TR_USAGE;
    }
    if (!cli_derive_options(options, &how)) return TR_USAGE;
    if (options->output) { // a file that it includes must not be lost
        tr_system *system = cli_system(options, &status);
        tr_system_free(system);
        if (!system) return status;
    }
    tr_model *model = tr_model_read(options->model, &err);
    char *text = tr_model_expand(model, &how, &err);
    tr_model_free(model);
    return cli_print(options, text, &err);
}

int cli_report(const Verb *verb, const Options *options)
{
    int status = 0;
    tr_error err = {0};
    if (verb->self == OF_CHECK && cli_is_fmu(options)) return cli_fmu_check(options);
    if (options->expand) return expand(options);
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    status = cli_print(options, verb->text(system, options->json, &err), &err);
    tr_system_free(system);
    return status;
}
