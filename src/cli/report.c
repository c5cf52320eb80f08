// SPDX-License-Identifier: Apache-2.0
// The verbs that print what the library says about a model: check, derive, eval.
#include "cli/cli.h"

int cli_report(const Verb *verb, const Options *options)
{
    int status = 0;
    tr_error err = {0};
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    status = cli_print(options, verb->text(system, options->json, &err), &err);
    tr_system_free(system);
    return status;
}
