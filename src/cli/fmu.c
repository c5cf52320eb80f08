// SPDX-License-Identifier: Apache-2.0
// check and simulate, of FMUs.
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool cli_is_fmu(const Options *options) { return cli_ends_with(options->model, ".fmu"); }

typedef struct Teller {
    const Options *options;
    bool shown;
    int percent;
} Teller;

static void clear(const Teller *teller)
{
    if (teller->shown) fprintf(stderr, "\r%40s\r", "");
}

static void say(void *owner, const char *words)
{
    const Teller *teller = owner;
    clear(teller);
    if (!teller->options->quiet) cli_say("the FMU says: %s\n", words);
}

static void found(void *owner, bool is_mistake, const char *words)
{
    const Teller *teller = owner;
    clear(teller);
    if (is_mistake)
        cli_say("%s: %s\n", teller->options->model, words);
    else if (!teller->options->quiet)
        cli_say("warning: %s\n", words);
}

static bool show_progress(void *owner, double t, double end)
{
    Teller *teller = owner;
    const int percent = end > 0 ? (int)(100 * t / end) : 100;
    if (teller->shown && percent != teller->percent)
        fprintf(stderr, "\r%3d %%  t = %.4g s ", percent, t);
    teller->percent = percent;
    return !cli_is_stopped();
}

// What says something of models alone
static bool check_options(const Options *o)
{
    const struct {
        const char *name;
        bool given;
    } of_models[] = {{"--case", o->case_name != NULL},
                     {"--evaluate", o->evaluate != NULL},
                     {"--order", o->order != NULL},
                     {"--allow-files", o->allowed.count > 0},
                     {"--expand", o->expand},
                     {"--report", o->report != NULL},
                     {"--page", o->page != NULL},
                     {"--sensitivity", o->sensitivity != NULL},
                     {"--dense", o->dense},
                     {"--no-project", o->no_project},
                     {"--filter", o->filter},
                     {"--no-deviations", o->no_deviations}};
    for (size_t i = 0; i < sizeof of_models / sizeof *of_models; i++)
        if (of_models[i].given) {
            cli_say("trundle: %s is for models, not for FMUs\n", of_models[i].name);
            return false;
        }
    if (o->with.count > 1) cli_say("trundle: of an FMU --with is one file, of inputs over time\n");
    return o->with.count <= 1;
}

static bool take_options(const Options *options, Teller *teller, tr_fmu_options *o)
{
    *o = tr_fmu_defaults();
    o->kind = options->kind;
    o->settings = options->settings, o->setting_count = options->setting_count;
    o->inputs = options->with.count ? options->with.word[0] : NULL;
    o->build = options->build, o->no_run = options->no_run, o->all_messages = options->verbose;
    if (options->method) o->method = options->method;
    o->say = say, o->found = found, o->progress = show_progress, o->owner = teller;
    cli_say_of_crashes("trundle: the code of the FMU crashed\n");
    o->most_steps = 100000000, o->most_numbers = 200000000;
    return check_options(options) && cli_check_endings(options) &&
           cli_limit("--most-steps", options->most_steps, &o->most_steps) &&
           cli_limit("--most-numbers", options->most_numbers, &o->most_numbers) &&
           cli_number("--end", options->end, &o->end) &&
           cli_number("--every", options->every, &o->every) &&
           cli_number("--step", options->step, &o->step) &&
           cli_number("--rtol", options->rtol, &o->rtol) &&
           cli_number("--atol", options->atol, &o->atol);
}

int cli_fmu_check(const Options *options)
{
    Teller teller = {.options = options};
    tr_fmu_options how;
    tr_error err = {0};
    size_t mistakes = 0;
    if (!take_options(options, &teller, &how)) return TR_USAGE;
    char *text = tr_fmu_check(options->model, &how, options->json, &mistakes, &err);
    const int status = cli_print(options, text, &err);
    if (mistakes)
        cli_say("%s: %zu mistake%s\n", options->model, mistakes, mistakes == 1 ? "" : "s");
    return status ? status : mistakes ? TR_INVALID : 0;
}

static void print_summary(const Options *options, const tr_summary *s)
{
    const bool to_stdout = options->output && strcmp(options->output, "-") == 0;
    if (options->quiet || !s->rows) return;
    if (options->json) {
        fprintf(
            to_stdout ? stderr : stdout,
            "{\"t\": %.17g, \"rows\": %zu, \"steps\": %zu, \"evaluations\": %zu, \"events\": %zu, "
            "\"seconds\": %.3g, \"interrupted\": %s}\n",
            s->t, s->rows, s->steps, s->evaluations, s->switches, s->seconds,
            s->interrupted ? "true" : "false");
        return;
    }
    cli_say("%s t = %g s: %zu rows, %zu steps, %zu events, %.3g s\n",
            s->interrupted ? "interrupted at" : "reached", s->t, s->rows, s->steps, s->switches,
            s->seconds);
    if (options->output && !to_stdout) cli_say("written to %s\n", options->output);
    if (!options->output && isatty(1))
        cli_say("no rows are shown on a terminal: -o FILE.csv writes them, -o - shows them\n");
}

int cli_fmu_simulate(const Options *options)
{
    Teller teller = {.options = options, .shown = isatty(2) && !options->quiet, .percent = -1};
    tr_fmu_options how;
    tr_summary summary = {0};
    tr_error err = {0};
    if (!take_options(options, &teller, &how)) return TR_USAGE;
    how.output = options->output ? options->output : isatty(1) ? NULL : "-";
    cli_let_signals_stop();
    tr_fmu_simulate(options->model, &how, &summary, &err);
    clear(&teller);
    print_summary(options, &summary);
    const int status =
        err.status ? cli_complain(err.status == TR_INVALID ? options->model : NULL, &err) : 0;
    return summary.interrupted && !status ? EXIT_INTERRUPTED : status;
}
