// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TOLD = 5 };                                    // warnings
enum { MOST_STEPS = 100000000, MOST_NUMBERS = 200000000 }; // unless the command line says otherwise

typedef struct Bar {
    bool shown, quiet, mute; // mute: nothing but JSON goes to standard error
    int percent;
    size_t told;
} Bar;

static bool show_progress(void *owner, double t, double end)
{
    Bar *bar = owner;
    const int percent = end > 0 ? (int)(100 * t / end) : 100;
    if (bar->shown && percent != bar->percent) fprintf(stderr, "\r%3d %%  t = %.4g s ", percent, t);
    bar->percent = percent;
    return !cli_is_stopped();
}

static void say(void *owner, const char *words)
{
    const Bar *bar = owner;
    if (bar->shown) fprintf(stderr, "\r%40s\r", "");
    if (!bar->quiet) cli_say("warning: %s\n", words);
}

static void warn(void *owner, const char *words)
{
    Bar *bar = owner;
    if (bar->told++ < MOST_TOLD && !bar->mute) say(owner, words);
}

static void print_error(FILE *to, const char *name, double error)
{
    if (isfinite(error))
        fprintf(to, "\"%s\": %.3g, ", name, error);
    else
        fprintf(to, "\"%s\": null, ", name);
}

// On standard output, unless the rows go there.
static void print_json(const tr_simulate_options *o, const tr_summary *s)
{
    FILE *to = o->output && strcmp(o->output, "-") == 0 ? stderr : stdout;
    fprintf(to,
            "{\"t\": %.17g, \"rows\": %zu, \"steps\": %zu, \"evaluations\": %zu, "
            "\"seconds\": %.3g, ",
            s->t, s->rows, s->steps, s->evaluations, s->seconds);
    print_error(to, "energy_error", s->energy_error);
    print_error(to, "position_error", s->position_error);
    fprintf(to, "\"interrupted\": %s}\n", s->interrupted ? "true" : "false");
}

static void print_summary(const tr_simulate_options *o, const tr_summary *s, bool failed)
{
    cli_say("%s t = %g s: %zu rows, %zu steps of %s, %.3g s\n",
            s->interrupted ? "interrupted at" : "reached", s->t, s->rows, s->steps, o->method,
            s->seconds);
    if (s->command_error >= 0)
        cli_say("commands to %.1e, weighted, positions to %.1e\n", s->command_error,
                s->position_error);
    else
        cli_say("energy balance to %.1e relative, positions to %.1e\n", s->energy_error,
                s->position_error);
    if (o->filter)
        cli_say("%zu fixes used, %zu outliers; innovations are %.2g times what they should be\n",
                s->fixes, s->fix_outliers, sqrt(s->fix_consistency));
    if (s->switches)
        cli_say("contacts, stops or dry friction changed %zu %s\n", s->switches,
                s->switches == 1 ? "time" : "times");
    if (s->warnings > MOST_TOLD) cli_say("warnings: %zu more of them\n", s->warnings - MOST_TOLD);
    if (!(s->energy_error <= 1e-3)) // also when it is not a number
        cli_say("warning: the energy does not balance; try smaller steps or tolerances\n");
    if (failed || (o->output && strcmp(o->output, "-") == 0)) return;
    if (o->output)
        cli_say("written to %s\n", o->output);
    else if (!o->sink_count)
        cli_say("no rows are shown on a terminal: -o FILE.csv writes them, -o - shows them\n");
}

// Those about the method, besides what the case gives; `list` is room for them.
static void list_given(const Options *options, tr_simulate_options *o, char *list, size_t size)
{
    const struct {
        const char *name;
        bool given;
    } about[] = {{"step", options->step != NULL},
                 {"rtol", options->rtol != NULL},
                 {"atol", options->atol != NULL},
                 {"dense", options->dense}};
    snprintf(list, size, "%s", o->given ? o->given : "");
    for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
        const size_t length = strlen(list);
        if (about[i].given && !strstr(list, about[i].name))
            snprintf(list + length, size - length, "%s%s", length ? "," : "", about[i].name);
    }
    o->given = list;
}

// What the command line says, in place of what the model's case does.
static bool take_options(const Options *options, tr_simulate_options *o)
{
    const bool is_shown = !options->output && !options->report && !isatty(1);
    o->output = is_shown ? "-" : options->output;
    if (options->method) o->method = options->method;
    o->dense = options->dense;
    o->no_project = options->no_project;
    o->filter = options->filter, o->no_deviations = options->no_deviations;
    o->sensitivity = options->sensitivity;
    o->most_steps = MOST_STEPS, o->most_numbers = MOST_NUMBERS;
    return cli_limit("--most-steps", options->most_steps, &o->most_steps) &&
           cli_limit("--most-numbers", options->most_numbers, &o->most_numbers) &&
           cli_number("--end", options->end, &o->end) &&
           cli_number("--every", options->every, &o->every) &&
           cli_number("--step", options->step, &o->step) &&
           cli_number("--rtol", options->rtol, &o->rtol) &&
           cli_number("--atol", options->atol, &o->atol);
}

// ---- the report ----------------------------------------------------------------------------

static tr_view_options report_options(const Options *options)
{
    tr_view_options how = tr_view_defaults();
    how.output = options->report, how.page = options->page;
    return how;
}

static int write_report(const Options *options, const tr_system *system, const tr_report *report)
{
    tr_view_options how = report_options(options);
    tr_view_summary summary = {0};
    tr_error err = {0};
    char *equations = cli_page_equations(options, system);
    how.equations = equations;
    const bool good = tr_report_write(report, system, &how, &summary, &err);
    tr_text_free(equations);
    if (!good) return cli_complain(NULL, &err);
    cli_print_report(options, &how, &summary);
    return 0;
}

// ---- the verb ------------------------------------------------------------------------------

static int run(const Options *options, const tr_system *system, const tr_simulate_options *o,
               const tr_report *report)
{
    Bar *bar = o->owner;
    tr_summary summary = {0};
    tr_error err = {0};
    tr_simulate(system, o, &summary, &err);
    if (bar->shown) fprintf(stderr, "\r%40s\r", "");
    if (!options->quiet && summary.rows && options->json) print_json(o, &summary);
    if (!options->quiet && summary.rows && !options->json)
        print_summary(o, &summary, err.status != TR_OK);
    int status = err.status ? cli_complain(options->model, &err) : 0;
    if (options->report && summary.rows) { // also of what was reached before it failed
        const int written = write_report(options, system, report);
        if (!status) status = written;
    }
    return summary.interrupted && !status ? EXIT_INTERRUPTED : status;
}

int cli_simulate(const Verb *verb, const Options *options)
{
    (void)verb;
    if (cli_is_fmu(options)) return cli_fmu_simulate(options);
    int status = 0;
    tr_error err = {0};
    const tr_view_options wanted = report_options(options);
    if (options->report && !tr_view_check(&wanted, &err)) return cli_complain(NULL, &err);
    if (options->page && !options->report) {
        cli_say("trundle: --page goes with --report\n");
        return TR_USAGE;
    }
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    tr_simulate_options o = tr_simulate_defaults(system);
    Bar bar = {.shown = isatty(2) && !options->quiet, .quiet = options->quiet, .percent = -1};
    cli_let_signals_stop();
    o.progress = show_progress;
    o.say = say;
    o.warn = warn;
    o.owner = &bar;
    bar.mute = options->json && !options->report &&
               (!options->output || strcmp(options->output, "-") == 0);
    char given[100];
    list_given(options, &o, given, sizeof given);
    tr_report *report = options->report ? tr_report_new(&err) : NULL;
    o.sinks = tr_report_sink(report), o.sink_count = report ? 1 : 0;
    if (err.status)
        status = cli_complain(NULL, &err);
    else
        status = take_options(options, &o) ? run(options, system, &o, report) : TR_USAGE;
    tr_report_free(report);
    tr_system_free(system);
    return status;
}
