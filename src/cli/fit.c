// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_STEPS = 100000000 }; // of a run

typedef struct Bar {
    bool shown;
    size_t run;
    int percent;
} Bar;

static bool show_progress(void *owner, size_t run, double t, double end)
{
    Bar *bar = owner;
    const int percent = end > 0 ? (int)(100 * t / end) : 100;
    if (bar->shown && (percent != bar->percent || run != bar->run))
        fprintf(stderr, "\rrun %zu: %3d %%  t = %.4g s ", run, percent, t);
    bar->percent = percent, bar->run = run;
    return !cli_is_stopped();
}

static bool take_options(const Options *options, tr_fit_options *o)
{
    o->data = options->data.word, o->data_count = options->data.count;
    o->matches = options->matches.word, o->match_count = options->matches.count;
    o->sds = options->sds.word, o->sd_count = options->sds.count;
    o->priors = options->priors.word, o->prior_count = options->priors.count;
    o->free = options->free, o->time = options->time, o->columns = options->columns;
    o->method = options->method, o->most_steps = MOST_STEPS;
    double iterations = (double)o->most_iterations;
    if (!cli_number("--from", options->from, &o->from) ||
        !cli_number("--to", options->to, &o->to) ||
        !cli_number("--step", options->step, &o->step) ||
        !cli_number("--rtol", options->rtol, &o->rtol) ||
        !cli_number("--atol", options->atol, &o->atol) ||
        !cli_number("--most-iterations", options->most_iterations, &iterations))
        return false;
    const bool good = iterations >= 0 && iterations <= 1e9 && iterations == floor(iterations);
    if (good)
        o->most_iterations = (size_t)iterations;
    else
        cli_say("trundle: --most-iterations takes a whole number, not '%s'\n",
                options->most_iterations);
    return good;
}

// What was found: as keys of a case to -o, as a picture, and in words
static int write_results(const Options *options, const tr_fit *fit)
{
    tr_error err = {0};
    if (options->output) {
        char *fragment = tr_fit_fragment(fit, &err);
        if (fragment && tr_write_text(options->output, fragment, &err))
            cli_written(options, options->output);
        tr_text_free(fragment);
    }
    if (options->picture && !err.status && tr_fit_plot(fit, NULL, options->picture, &err))
        cli_written(options, options->picture);
    if (err.status) return cli_complain(NULL, &err);
    for (size_t i = 0; i < fit->untold_count && !options->quiet; i++)
        cli_say("warning: %s\n", fit->untold[i]);
    if (options->output &&
        (strcmp(options->output, "-") == 0 || (options->quiet && !options->json)))
        return 0;
    Options where = *options;
    where.output = NULL;
    char *text = tr_fit_text(fit, options->json, &err);
    return cli_print(&where, text, &err);
}

static int find(const Options *options, const tr_model *model, const tr_derive_options *how,
                const tr_fit_options *o)
{
    tr_error err = {0};
    const Bar *bar = o->owner;
    const tr_fit *fit = tr_fit_find(model, how, o, &err);
    if (bar->shown) fprintf(stderr, "\r%40s\r", "");
    int status = fit ? write_results(options, fit) : cli_complain_of(options, &err);
    if (!fit && cli_is_stopped()) status = EXIT_INTERRUPTED;
    tr_fit_free(fit);
    return status;
}

// A first look at the model alone, for words about it
static int check(const Options *options)
{
    int status = 0;
    if (options->picture && strcmp(options->picture, "-") == 0) {
        cli_say("trundle: --plot takes the name of a file\n");
        return TR_USAGE;
    }
    tr_system_free(cli_system(options, &status));
    return status;
}

int cli_fit(const Verb *verb, const Options *options)
{
    if (options->inverse) return cli_fit_inverse(verb, options);
    if (options->prior_weight) {
        cli_say("trundle: --prior-weight goes with --inverse; --prior NAME=m~s gives a value a "
                "prior\n");
        return TR_USAGE;
    }
    tr_error err = {0};
    tr_derive_options how;
    tr_fit_options o = tr_fit_defaults();
    Bar bar = {.shown = isatty(2) && !options->quiet, .percent = -1};
    if (!take_options(options, &o) || !cli_derive_options(options, &how)) return TR_USAGE;
    int status = check(options);
    if (status) return status;
    o.progress = show_progress, o.owner = &bar;
    cli_let_signals_stop();
    tr_model *model = tr_model_read(options->model, &err);
    status = model ? find(options, model, &how, &o) : cli_complain(options->model, &err);
    tr_model_free(model);
    return status;
}
