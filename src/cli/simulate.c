// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

typedef struct Bar {
    bool shown;
    int percent;
} Bar;

static bool show_progress(void *owner, double t, double end)
{
    Bar *bar = owner;
    const int percent = end > 0 ? (int)(100 * t / end) : 100;
    if (bar->shown && percent != bar->percent) fprintf(stderr, "\r%3d %%  t = %.4g s ", percent, t);
    bar->percent = percent;
    return !stopped;
}

// On standard output, unless the rows go there.
static void print_json(const tr_simulate_options *o, const tr_summary *s)
{
    FILE *to = strcmp(o->output, "-") == 0 ? stderr : stdout;
    fprintf(to,
            "{\"t\": %.17g, \"rows\": %zu, \"steps\": %zu, \"evaluations\": %zu, "
            "\"seconds\": %.3g, ",
            s->t, s->rows, s->steps, s->evaluations, s->seconds);
    if (isfinite(s->energy_error))
        fprintf(to, "\"energy_error\": %.3g, ", s->energy_error);
    else
        fprintf(to, "\"energy_error\": null, ");
    fprintf(to, "\"position_error\": %.3g, \"interrupted\": %s}\n", s->position_error,
            s->interrupted ? "true" : "false");
}

static void print_summary(const tr_simulate_options *o, const tr_summary *s, bool failed)
{
    fprintf(stderr, "%s t = %g s: %zu rows, %zu steps of %s, %.3g s\n",
            s->interrupted ? "interrupted at" : "reached", s->t, s->rows, s->steps, o->method,
            s->seconds);
    fprintf(stderr, "energy balance to %.1e relative, positions to %.1e\n", s->energy_error,
            s->position_error);
    if (s->warnings > 1)
        fprintf(stderr, "warning: %s, and %zu more\n", s->warning, s->warnings - 1);
    else if (s->warnings)
        fprintf(stderr, "warning: %s\n", s->warning);
    if (!(s->energy_error <= 1e-3)) // also when it is not a number
        fprintf(stderr, "warning: the energy does not balance; try smaller steps or tolerances\n");
    if (!failed && strcmp(o->output, "-") != 0) fprintf(stderr, "written to %s\n", o->output);
}

// What the command line says, in place of what the model's case does.
static bool take_options(const Options *options, tr_simulate_options *o)
{
    o->output = options->output ? options->output : "-";
    if (options->method) o->method = options->method;
    o->dense = options->dense;
    o->no_project = options->no_project;
    return cli_number("--end", options->end, &o->end) &&
           cli_number("--every", options->every, &o->every) &&
           cli_number("--step", options->step, &o->step) &&
           cli_number("--rtol", options->rtol, &o->rtol) &&
           cli_number("--atol", options->atol, &o->atol);
}

int cli_simulate(const Verb *verb, const Options *options)
{
    (void)verb;
    int status = 0;
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    tr_simulate_options o = tr_simulate_defaults(system);
    Bar bar = {.shown = isatty(2) && !options->quiet, .percent = -1};
    tr_summary summary = {0};
    tr_error err = {0};
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    o.progress = show_progress;
    o.owner = &bar;
    const bool good = take_options(options, &o);
    if (good) tr_simulate(system, &o, &summary, &err);
    if (bar.shown) fprintf(stderr, "\r%40s\r", "");
    if (!options->quiet && summary.rows && options->json) print_json(&o, &summary);
    if (!options->quiet && summary.rows && !options->json)
        print_summary(&o, &summary, err.status != TR_OK);
    status = !good ? TR_USAGE : err.status ? cli_complain(options->model, &err) : 0;
    tr_system_free(system);
    return summary.interrupted && !status ? EXIT_INTERRUPTED : status;
}
