// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static bool is_wanted(void *owner, double value, double to)
{
    (void)owner, (void)value, (void)to;
    return !cli_is_stopped();
}

tr_steady_options cli_steady_options(const Options *options)
{
    tr_steady_options how = tr_steady_defaults();
    how.free = options->free;
    how.holds = options->holds.word, how.hold_count = options->holds.count;
    how.trim = options->trim;
    how.progress = is_wanted;
    return how;
}

bool cli_check_trim(const Options *options)
{
    if (options->trim || (!options->free && !options->holds.count)) return true;
    cli_say("trundle: %s goes with --trim\n", options->free ? "--free" : "--hold");
    return false;
}

char *cli_trim(Options *options, int *status)
{
    static const char *texts[MAX_WORDS];
    tr_error err = {0};
    if (options->with.count == MAX_WORDS) {
        cli_say("trundle: --with more than %d times beside --trim\n", MAX_WORDS - 1);
        *status = TR_USAGE;
        return NULL;
    }
    tr_system *system = cli_system(options, status);
    if (!system) return NULL;
    const tr_steady_options how = cli_steady_options(options);
    tr_steady *steady = tr_steady_find(system, &how, &err);
    char *found = tr_steady_fragment(steady, &err);
    tr_steady_free(steady);
    tr_system_free(system);
    if (!found) *status = cli_complain(options->model, &err);
    for (size_t i = 0; i < options->with.count; i++)
        texts[i] = options->with_texts ? options->with_texts[i] : NULL;
    texts[options->with.count] = found;
    options->with.word[options->with.count++] = "--trim";
    options->with_texts = texts;
    options->setting_count = 0; // they stand in what was found, and would win over it
    return found;
}

static int find(const Options *options, tr_system *system, const tr_steady_options *how)
{
    tr_error err = {0};
    tr_steady *steady = tr_steady_find(system, how, &err);
    if (steady && cli_ends_with(options->output, ".yaml")) {
        char *fragment = tr_steady_fragment(steady, &err);
        if (fragment && tr_write_text(options->output, fragment, &err))
            cli_written(options, options->output);
        tr_text_free(fragment);
    }
    // with a file and -q nothing but the file
    const bool silent = cli_ends_with(options->output, ".yaml") && options->quiet && !options->json;
    char *text = silent ? NULL : tr_steady_text(steady, options->json, &err);
    tr_steady_free(steady);
    Options where = *options;
    if (cli_ends_with(options->output, ".yaml")) where.output = NULL;
    return cli_print(&where, text, &err);
}

static int sweep(const Options *options, tr_system *system, const tr_steady_options *how)
{
    tr_error err = {0};
    tr_family_summary summary = {0};
    cli_let_signals_stop();
    const bool is_whole = tr_steady_sweep(system, how, &summary, &err);
    if (summary.rows && !options->quiet) {
        cli_say("%s%zu rows, up to %g", is_whole || err.status ? "" : "interrupted after ",
                summary.rows, summary.reached);
        for (size_t i = 0; i < summary.folds && i < TR_MOST_FOLDS; i++)
            cli_say("%s%.*g",
                    i                   ? ", "
                    : summary.folds > 1 ? "; folds at "
                                        : "; fold at ",
                    options->verbose ? 15 : 5, summary.fold[i]);
        cli_say("\n");
        if (!err.status) cli_written(options, options->output);
    }
    if (err.status) return cli_complain(options->model, &err);
    return is_whole ? 0 : EXIT_INTERRUPTED;
}

int cli_steady(const Verb *verb, const Options *options)
{
    (void)verb;
    int status = 0;
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    tr_steady_options how = cli_steady_options(options);
    how.sweep = options->sweep, how.output = options->output;
    how.form = options->json ? "json" : NULL;
    status = options->sweep ? sweep(options, system, &how) : find(options, system, &how);
    tr_system_free(system);
    return status;
}
