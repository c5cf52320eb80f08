// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

int cli_derive(const Options *options)
{
    int status = 0;
    tr_error err = {0};
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    status = cli_print(options, tr_derive_text(system, options->json, &err), &err);
    tr_system_free(system);
    return status;
}
