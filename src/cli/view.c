// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SHOWN = 40, MOST_NAME = 4200 }; // runs of a sweep on a page; [bytes]

// Of no run: behind the name of a database it stands for what all runs have.
#define NO_RUN "999999999999999999"

static void print_size(const char *path, size_t bytes)
{
    if (bytes < 1000000)
        cli_say("written to %s: %.0f kB\n", path, 1e-3 * (double)bytes);
    else
        cli_say("written to %s: %.1f MB\n", path, 1e-6 * (double)bytes);
}

void cli_print_report(const Options *options, const tr_view_options *how,
                      const tr_view_summary *summary)
{
    if (summary->is_other_model)
        cli_say("warning: '%s' has changed since the run was made\n", options->model);
    if (options->quiet) return;
    if (!summary->has_certificate && how->other_count)
        cli_say("there is no certificate beside some of the runs\n");
    else if (!summary->has_certificate)
        cli_say("there is no certificate beside '%s'\n", how->run);
    if (strcmp(how->output, "-") != 0) print_size(how->output, summary->bytes);
}

// The model as it was for the run, unless the command line says otherwise.
static void take_origin(Options *options, const tr_derive_options *origin)
{
    if (!options->case_name) options->case_name = origin->case_name;
    if (!options->with.count) {
        options->with_texts = origin->with_texts;
        while (options->with.count < origin->with_count && options->with.count < MAX_WORDS) {
            options->with.word[options->with.count] = origin->with[options->with.count];
            options->with.count++;
        }
    }
    if (options->setting_count) return;
    for (size_t i = 0; i < origin->setting_count && i < MAX_SETTINGS; i++)
        options->settings[options->setting_count++] = origin->settings[i];
}

// Of the first run there are equations, too.
static tr_system *system_of(const Options *options, const char *run, char **equations, int *status)
{
    static Options all;
    all = *options;
    tr_error err = {0};
    tr_origin *origin = tr_origin_read(run, &err);
    tr_derive_options was = tr_derive_defaults();
    tr_origin_options(origin, &was);
    take_origin(&all, &was);
    tr_system *system = err.status ? NULL : cli_system(&all, status);
    if (system && run == options->runs.word[0]) *equations = cli_page_equations(&all, system);
    if (err.status) *status = cli_complain(NULL, &err);
    if (!system && !err.status && *status == TR_USAGE && (was.case_name || was.setting_count))
        cli_say("trundle: that is how '%s' was made: is it a run of this model?\n", run);
    tr_origin_free(origin);
    return system;
}

// Without runs there is one that stands for the model, and nothing moves.
static int write_report(const Options *options, const tr_view_run *runs, size_t count,
                        const char *sweep, const char *equations)
{
    tr_error err = {0};
    tr_view_summary summary = {0};
    tr_view_options how = tr_view_defaults();
    how.run = cli_ends_with(runs[0].run, ":" NO_RUN) ? NULL : runs[0].run;
    how.output = options->output, how.page = options->page;
    how.others = runs + 1, how.other_count = count - 1;
    how.equations = equations, how.sweep = sweep;
    if (!tr_view(runs[0].system, &how, &summary, &err))
        return cli_complain(err.status == TR_INVALID && count == 1 ? how.run : NULL, &err);
    if (!how.run && !options->quiet)
        cli_say("no run of '%s' was recorded, so none moves: the page shows what they came to\n",
                sweep);
    cli_print_report(options, &how, &summary);
    return 0;
}

// Of a database those runs that it has rows of, as many as a page takes: "sweep.db:17"
static int take_recorded(Options *options, char (*names)[MOST_NAME])
{
    size_t runs[MOST_SHOWN], count;
    tr_error err = {0};
    const char *file = options->runs.word[0];
    if (!tr_sweep_recorded(file, runs, MOST_SHOWN, &count, &err)) return cli_complain(NULL, &err);
    if (!count) {
        snprintf(names[0], MOST_NAME, "%s:" NO_RUN, file);
        return options->runs.word[0] = names[0], 0;
    }
    if (count > MOST_SHOWN && !options->quiet)
        cli_say("warning: the page shows the first %d of %zu runs that have rows\n", MOST_SHOWN,
                count);
    for (options->runs.count = 0;
         options->runs.count < count && options->runs.count < MOST_SHOWN;) {
        const size_t i = options->runs.count++;
        snprintf(names[i], MOST_NAME, "%s:%zu", file, runs[i]);
        options->runs.word[i] = names[i];
    }
    return 0;
}

// That of the first run, as its certificate names it
static int take_model(Options *options, tr_origin **origin)
{
    tr_error err = {0};
    const char *run = options->runs.word[0];
    *origin = tr_origin_read(run, &err);
    if (err.status) return cli_complain(NULL, &err);
    options->model = tr_origin_model(*origin);
    if (options->model) return 0;
    cli_say(
        "trundle: which model? --model says it where there is none beside '%s', or here, that its "
        "certificate names\n",
        run);
    return TR_USAGE;
}

static int view(const Options *options, const char *sweep)
{
    int status = 0;
    tr_view_run runs[MAX_WORDS] = {0};
    const size_t count = options->runs.count;
    size_t made = 0;
    char *equations = NULL;
    for (; made < count && !status; made++) {
        runs[made].run = options->runs.word[made];
        runs[made].system = system_of(options, runs[made].run, &equations, &status);
    }
    if (!status) status = write_report(options, runs, count, sweep, equations);
    tr_text_free(equations);
    for (size_t i = 0; i < made; i++) tr_system_free((tr_system *)(uintptr_t)runs[i].system);
    return status;
}

int cli_view(const Verb *verb, const Options *options)
{
    static Options all;
    static char names[MOST_SHOWN][MOST_NAME];
    if (!options->output) {
        cli_say("trundle: where to? usage: trundle %s\n", verb->usage);
        return TR_USAGE;
    }
    all = *options;
    const char *first = options->runs.word[0];
    const char *sweep = options->runs.count == 1 && cli_ends_with(first, ".db") ? first : NULL;
    tr_origin *origin = NULL;
    int status = sweep ? take_recorded(&all, names) : 0;
    if (!status && !all.model) status = take_model(&all, &origin);
    if (!status) status = view(&all, sweep);
    tr_origin_free(origin);
    return status;
}
