// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <string.h>

enum { MOST_TOLD = 20 };

// What happens along a path, as far as it is not too much
static void tell(void *owner, size_t row, const char *words)
{
    size_t *told = owner;
    if (++*told <= MOST_TOLD) cli_say("row %zu: %s\n", row, words);
    if (*told == MOST_TOLD + 1) cli_say("... and more\n");
}

// Of one pose there are words and JSON, and no table.
static bool refuses(const char *output)
{
    static const char *const endings[] = {".yaml", ".yml", ".csv", ".mat", ".npy"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (cli_ends_with(output, endings[i])) {
            cli_say("trundle: -o '%s': one pose is written as .txt or .json, and tables of poses "
                    "come with --path\n",
                    output);
            return true;
        }
    return false;
}

static int settle_once(const Options *options, tr_plan *plan, const tr_settle_options *how)
{
    if (refuses(options->output)) return TR_USAGE;
    tr_error err = {0};
    tr_settle *settle = tr_settle_new(plan, how, &err);
    char *text =
        tr_settle_pose(settle, NULL, NULL, &err)
            ? tr_settle_text(settle, options->json || cli_ends_with(options->output, ".json"), &err)
            : NULL;
    tr_settle_free(settle);
    return cli_print(options, text, &err);
}

static int settle_path(const Options *options, tr_plan *plan, tr_settle_options *how)
{
    tr_error err = {0};
    tr_settle_summary summary = {0};
    size_t told = 0;
    if (!options->quiet) how->tell = tell, how->owner = &told;
    tr_settle_path(plan, how, options->path, options->output, options->json ? "json" : NULL,
                   &summary, &err);
    if (summary.poses && !options->quiet)
        cli_say("%zu poses, %zu without one, %zu jump%s\n", summary.poses - summary.failures,
                summary.failures, summary.jumps, summary.jumps == 1 ? "" : "s");
    if (summary.poses && (!err.status || summary.failures)) cli_written(options, options->output);
    return err.status ? cli_complain(err.line > 0 ? options->path : NULL, &err) : 0;
}

int cli_settle(const Verb *verb, const Options *options)
{
    (void)verb;
    int status = 0;
    tr_error err = {0};
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    tr_plan *plan = tr_plan_new(system, &err);
    tr_settle_options how = tr_settle_defaults();
    how.by = options->by, how.gap = options->gap;
    how.holds = options->holds.word, how.hold_count = options->holds.count;
    how.weights = options->weights.word, how.weight_count = options->weights.count;
    if (!plan)
        status = cli_complain(options->model, &err);
    else
        status =
            options->path ? settle_path(options, plan, &how) : settle_once(options, plan, &how);
    tr_plan_free(plan);
    tr_system_free(system);
    return status;
}
