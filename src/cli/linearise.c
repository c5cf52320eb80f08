// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "speed0=0:10:0.05"
typedef struct Range {
    char name[200];
    char first[60]; // as it is written
    double from, to, step;
} Range;

// The text up to a sign, which must be there unless it is the end.
static bool take_part(const char **at, char sign, char *out, size_t size)
{
    const char *end = sign ? strchr(*at, sign) : *at + strlen(*at);
    if (!end || end == *at || (size_t)(end - *at) >= size) return false;
    snprintf(out, size, "%.*s", (int)(end - *at), *at);
    *at = end + (sign != 0);
    return true;
}

static bool take_range(const char *text, Range *range)
{
    char to[60], step[60];
    const char *at = text;
    const bool good = take_part(&at, '=', range->name, sizeof range->name) &&
                      take_part(&at, ':', range->first, sizeof range->first) &&
                      take_part(&at, ':', to, sizeof to) && take_part(&at, 0, step, sizeof step) &&
                      tr_read_number(range->first, &range->from) &&
                      tr_read_number(to, &range->to) && tr_read_number(step, &range->step);
    if (!good)
        cli_say("trundle: --sweep takes name=from:to:step, as speed0=0:10:0.05, not '%s'\n", text);
    return good;
}

static void list_critical(const tr_locus *sweep, int digits)
{
    for (size_t i = 0; i < sweep->critical_count; i++) {
        const tr_critical *c = &sweep->critical[i];
        cli_say("%s = %.*g: an eigenvalue becomes %s, ", sweep->name, digits, c->value,
                c->is_onset ? "unstable" : "stable");
        if (c->frequency > 0)
            cli_say("oscillatory at %.*g rad/s\n", digits, c->frequency);
        else
            cli_say("divergent\n");
    }
    if (!sweep->critical_count)
        cli_say("no eigenvalue crosses the imaginary axis between %s = %g and %g\n", sweep->name,
                sweep->values[0], sweep->values[sweep->rows - 1]);
}

// Which columns are of which mode
static void list_modes(const tr_locus *sweep)
{
    for (size_t m = 0; m < sweep->mode_count; m++) {
        size_t first = sweep->count, last = 0;
        for (size_t k = 0; k < sweep->count; k++) {
            if (sweep->mode[k] != m) continue;
            if (first == sweep->count) first = k + 1;
            last = k + 1;
        }
        if (first == last)
            cli_say("mode %zu: %s\n", first, sweep->names[m]);
        else
            cli_say("modes %zu, %zu: %s\n", first, last, sweep->names[m]);
    }
}

// Starts that are not steady: how many, and the worst
static void list_unsteady(const tr_locus *sweep)
{
    size_t count = 0, worst = 0;
    for (size_t i = 0; i < sweep->rows; i++) {
        count += sweep->unsteadiness[i] > 1e-9;
        if (sweep->unsteadiness[i] > sweep->unsteadiness[worst]) worst = i;
    }
    if (!count) return;
    cli_say("warning: at %s = %.5g the state is not steady: accelerations up to %.3g", sweep->name,
            sweep->values[worst], sweep->unsteadiness[worst]);
    if (count > 1)
        cli_say("; nor is it at %zu other%s of %zu values", count - 1, count > 2 ? "s" : "",
                sweep->rows);
    cli_say("\n");
}

// To -o, what its name says, and to --plot
static int write_sweep(const Options *options, const tr_locus *sweep)
{
    tr_error err = {0};
    const bool drawn = cli_ends_with(options->output, ".svg");
    char title[300];
    snprintf(title, sizeof title, "eigenvalues against %s", sweep->name);
    if (drawn && tr_locus_plot(sweep, title, options->output, &err))
        cli_written(options, options->output);
    if (options->picture && tr_locus_plot(sweep, title, options->picture, &err))
        cli_written(options, options->picture);
    if (err.status) return cli_complain(NULL, &err);
    if (drawn) return 0;
    const bool json = options->json || cli_ends_with(options->output, ".json");
    return cli_print(options, tr_locus_text(sweep, json, &err), &err);
}

// The parameter is set to the first value, so that also one that follows from others may be swept.
static int sweep(const Options *options)
{
    static Options own;
    static Range range;
    own = *options;
    if (!take_range(options->sweep, &range)) return TR_USAGE;
    if (options->step || options->reduce) {
        cli_say("trundle: %s does not go with --sweep%s\n", options->step ? "--step" : "--reduce",
                options->step ? "" : ", which leaves out symmetries anyway");
        return TR_USAGE;
    }
    if (own.setting_count == MAX_SETTINGS) {
        cli_say("trundle: --set more than %d times\n", MAX_SETTINGS - 1);
        return TR_USAGE;
    }
    own.settings[own.setting_count++] = (tr_setting){range.name, range.first};
    int status = 0;
    tr_error err = {0};
    tr_system *system = cli_system(&own, &status);
    if (!system) return status;
    const tr_steady_options how = cli_steady_options(options);
    cli_let_signals_stop();
    tr_locus *found =
        tr_locus_find(system, range.name, range.from, range.to, range.step, &how, &err);
    if (found) {
        status = write_sweep(options, found);
        if (!status && !options->quiet) {
            list_unsteady(found);
            list_modes(found);
            list_critical(found, options->verbose ? 15 : 5);
        }
    } else if (err.status)
        status = cli_complain(options->model, &err);
    else {
        cli_say("interrupted: nothing is written\n");
        status = EXIT_INTERRUPTED;
    }
    tr_locus_free(found);
    tr_system_free(system);
    return status;
}

// Beside a file, which has no room for words
static void say(void *owner, const char *words)
{
    (void)owner;
    cli_say("warning: %s\n", words);
}

static int take(const Options *options, tr_linearise_options *o)
{
    int status = 0;
    tr_error err = {0};
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    if (options->output && strcmp(options->output, "-") != 0) {
        if (!options->quiet) o->say = say;
        if (tr_linearise_write(system, o, options->output, &err))
            cli_written(options, options->output);
        else
            status = cli_complain(options->model, &err);
    } else
        status = cli_print(options, tr_linearise_text(system, o, &err), &err);
    tr_system_free(system);
    return status;
}

int cli_linearise(const Verb *verb, const Options *options)
{
    (void)verb;
    int status = 0;
    if (!cli_check_trim(options)) return TR_USAGE;
    if (options->sweep) return sweep(options);
    if (options->picture) {
        cli_say("trundle: --plot goes with --sweep\n");
        return TR_USAGE;
    }
    tr_linearise_options o = tr_linearise_defaults();
    o.json = options->json;
    o.reduce = options->reduce;
    if (!cli_number("--step", options->step, &o.step)) return TR_USAGE;
    if (options->step && !(o.step > 0)) {
        cli_say("trundle: --step is positive, not '%s'\n", options->step);
        return TR_USAGE;
    }
    static Options own;
    own = *options;
    char *found = options->trim ? cli_trim(&own, &status) : NULL;
    if (!status) status = take(&own, &o);
    tr_text_free(found);
    return status;
}
