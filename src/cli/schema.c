// SPDX-License-Identifier: Apache-2.0
// trundle schema: what a model file may hold, for editors.
#include "cli/cli.h"

int cli_schema(const Verb *verb, const Options *options)
{
    (void)verb;
    tr_error err = {0};
    if (!cli_check_endings(options)) return TR_USAGE;
    return cli_print(options, tr_model_schema(&err), &err);
}
