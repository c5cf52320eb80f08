// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

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

// A number given on the command line, in place of the model's.
static bool take_number(const char *name, const char *text, double *value)
{
    if (!text || tr_read_number(text, value)) return true;
    fprintf(stderr, "trundle: %s takes a number, not '%s'\n", name, text);
    return false;
}

static void print_summary(const tr_simulate_options *o, const tr_summary *s)
{
    fprintf(stderr, "%s t = %g s: %zu rows, %zu steps of %s, %.3g s\n",
            s->interrupted ? "interrupted at" : "reached", s->t, s->rows, s->steps, o->method,
            s->seconds);
    fprintf(stderr, "energy balance to %.1e relative, positions to %.1e\n", s->energy_error,
            s->position_error);
    if (o->output && strcmp(o->output, "-") != 0) fprintf(stderr, "written to %s\n", o->output);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

int cli_simulate(const Options *options)
{
    int status = 0;
    if (options->output && ends_with(options->output, ".json")) {
        fprintf(stderr, "trundle: -o takes a .csv or .mat file; how the run went is written to the "
                        ".json beside it\n");
        return TR_USAGE;
    }
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    tr_simulate_options o = tr_simulate_defaults(system);
    Bar bar = {.shown = isatty(2) && !options->quiet, .percent = -1};
    o.output = options->output ? options->output : "-";
    if (options->method) o.method = options->method;
    o.progress = show_progress;
    o.owner = &bar;
    const bool good = take_number("--end", options->end, &o.end) &&
                      take_number("--every", options->every, &o.every) &&
                      take_number("--step", options->step, &o.step) &&
                      take_number("--rtol", options->rtol, &o.rtol) &&
                      take_number("--atol", options->atol, &o.atol);
    tr_summary summary = {0};
    tr_error err = {0};
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (good) tr_simulate(system, &o, &summary, &err);
    if (bar.shown) fprintf(stderr, "\r%40s\r", "");
    if (good && !options->quiet && summary.rows) print_summary(&o, &summary);
    status = !good ? TR_USAGE : err.status ? cli_complain(options->model, &err) : 0;
    tr_system_free(system);
    return summary.interrupted && !status ? EXIT_INTERRUPTED : status;
}
