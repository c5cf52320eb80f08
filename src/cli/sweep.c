// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_STEPS = 100000000 };

// Of this call alone: what was there before took no time.
typedef struct Bar {
    bool is_shown;
    double started, shown; // [s]
    size_t before, was;
    bool has_begun;
} Bar;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// "12 s", "3 min", "5 h"
static void print_duration(double seconds)
{
    if (seconds < 100)
        fprintf(stderr, "%.0f s", seconds);
    else if (seconds < 6000)
        fprintf(stderr, "%.0f min", seconds / 60);
    else
        fprintf(stderr, "%.1f h", seconds / 3600);
}

static bool show_progress(void *owner, size_t done, size_t failed, size_t all)
{
    Bar *bar = owner;
    const double t = now();
    if (!bar->has_begun) bar->before = done, bar->has_begun = true;
    const double rate = (double)(done - bar->before) / (t - bar->started);
    if (bar->is_shown && t - bar->shown > 0.1 && rate > 0) {
        bar->shown = t;
        fprintf(stderr, "\r%3.0f %%  %zu of %zu runs, %.3g a second, ",
                100 * (double)done / (double)all, done, all, rate);
        print_duration((double)(all - done) / rate);
        fprintf(stderr, " left");
        if (failed) fprintf(stderr, ", %zu failed", failed);
        fprintf(stderr, "   ");
    }
    return !cli_is_stopped();
}

// "3/16"
static bool take_shard(const char *text, tr_sweep_options *o)
{
    char behind;
    if (!text) return true;
    if (sscanf(text, "%9zu/%9zu%c", &o->shard, &o->shards, &behind) == 2 && o->shard &&
        o->shard <= o->shards)
        return o->shard--, true;
    cli_say("trundle: --shard takes a part and how many there are, as 3/16, not '%s'\n", text);
    return false;
}

static bool take_samples(const char *text, tr_sweep_options *o)
{
    if (!cli_limit("--samples", text, &o->samples)) return false;
    if (!text || o->samples) return true;
    cli_say("trundle: --samples takes how many there are in each cell, at least one\n");
    return false;
}

static bool take_options(const Options *options, tr_sweep_options *o)
{
    o->vary = options->vary.word, o->vary_count = options->vary.count;
    o->table = options->table, o->keep = options->keep, o->stop = options->stop;
    o->what = options->what, o->method = options->method, o->on = options->on;
    o->output = options->output ? options->output : "-";
    o->free = options->free, o->by = options->by;
    o->holds = options->holds.word, o->hold_count = options->holds.count;
    o->most_steps = MOST_STEPS;
    o->shares = 1;
    return take_shard(options->shard, o) && take_samples(options->samples, o) &&
           cli_limit("--seed", options->seed, &o->seed) &&
           cli_limit("--record", options->record, &o->record) &&
           cli_limit("--jobs", options->jobs, &o->jobs) &&
           cli_limit("--most-steps", options->most_steps, &o->most_steps) &&
           cli_number("--end", options->end, &o->end) &&
           cli_number("--every", options->every, &o->every) &&
           cli_number("--step", options->step, &o->step) &&
           cli_number("--rtol", options->rtol, &o->rtol) &&
           cli_number("--atol", options->atol, &o->atol);
}

static void print_json(const tr_sweep_options *o, const tr_sweep_summary *s)
{
    fprintf(strcmp(o->output, "-") == 0 ? stderr : stdout,
            "{\"runs\": %zu, \"before\": %zu, \"done\": %zu, \"failed\": %zu, \"seconds\": %.3g, "
            "\"interrupted\": %s}\n",
            s->runs, s->before, s->done, s->failed, s->seconds, s->interrupted ? "true" : "false");
}

// Nothing came of any of the runs.
static bool is_in_vain(const tr_sweep_summary *s) { return s->done && s->failed == s->done; }

static void print_summary(const tr_sweep_options *o, const tr_sweep_summary *s, bool is_written)
{
    const size_t made = s->done - s->before;
    if (s->before) cli_say("%zu of %zu runs were there before\n", s->before, s->runs);
    cli_say("%s%zu run%s in %.3g s, %.4g a second\n", s->interrupted ? "interrupted after " : "",
            made, made == 1 ? "" : "s", s->seconds, s->seconds > 0 ? (double)made / s->seconds : 0);
    if (s->on[0])
        cli_say("%zu steps were made on a GPU%s%s\n", s->steps_on_gpu,
                strncmp(s->on, "the CPU", 7) == 0 ? ", the others on " : ": ", s->on);
    if (s->failed && !is_in_vain(s))
        cli_say("%zu of them could not go on to the end%s%s\n", s->failed,
                s->words[0] ? ", the first because " : "", s->words);
    if (is_written && strcmp(o->output, "-") != 0) cli_say("written to %s\n", o->output);
    if (s->interrupted && cli_ends_with(o->output, ".db"))
        cli_say("the same command goes on from there\n");
}

// Whether mpirun started this process as another than the first, which says what all find wrong
static bool follows(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank && atoi(rank) > 0;
}

// What went wrong with the model is in the error.
static int run(const Options *options, const tr_model *model, const tr_error *why)
{
    tr_error err = *why;
    tr_derive_options how = tr_derive_defaults();
    tr_sweep_options o = tr_sweep_defaults();
    tr_sweep_summary summary = {0};
    Bar bar = {.is_shown = isatty(2) && !options->quiet, .started = now()};
    if (!cli_derive_options(options, &how) || !take_options(options, &o)) return TR_USAGE;
    cli_let_signals_stop();
    o.progress = show_progress, o.owner = &bar;
    tr_sweep(model, &how, &o, &summary, &err);
    if (bar.is_shown) fprintf(stderr, "\r%79s\r", "");
    if (summary.follows) return 0; // the first process says it all
    const bool says = !options->quiet && (summary.done || summary.interrupted);
    const bool is_written = !err.status || cli_ends_with(o.output, ".db");
    if (says && options->json) print_json(&o, &summary);
    if (says && !options->json) print_summary(&o, &summary, is_written);
    if (err.status) return cli_complain_of(options, &err);
    if (summary.interrupted) return EXIT_INTERRUPTED;
    if (!is_in_vain(&summary)) return 0;
    cli_say("trundle: none of the runs could go on to the end%s%s\n",
            summary.words[0] ? ", the first because " : "", summary.words);
    return TR_FAILED;
}

// What --merge would not look at
static bool check_merge(const Options *o)
{
#define IS_TEXT(place)    (o->place != NULL)
#define IS_FLAG(place)    (o->place)
#define IS_LIST(place)    (o->place.count > 0)
#define IS_SETTING(place) (o->setting_count > 0)
#define IS_TRACK(place)   IS_TEXT(place)
    const struct {
        const char *name;
        bool is_given;
    } given[] = {
#define OPTION(name, argument, kind, place, of, ...) {name, ((of)&OF_SWEEP) && IS_##kind(place)},
#include "cli/option.def"
    };
    static const char *const taken[] = {"--merge", "-o", "-q", "-v", "--help", "-h", NULL};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        size_t k = 0;
        while (taken[k] && strcmp(taken[k], given[i].name) != 0) k++;
        if (!given[i].is_given || taken[k]) continue;
        cli_say("trundle: --merge puts databases together as they are: %s has no effect\n",
                given[i].name);
        return false;
    }
    return true;
}

static int merge(const Options *options)
{
    tr_error err = {0};
    tr_sweep_summary summary;
    if (!check_merge(options)) return TR_USAGE;
    if (!cli_ends_with(options->output, ".db")) {
        cli_say("trundle: --merge writes a database: say which, by -o all.db\n");
        return TR_USAGE;
    }
    if (!tr_sweep_merge(options->runs.word, options->runs.count, options->output, &summary, &err))
        return cli_complain(NULL, &err);
    if (!options->quiet)
        cli_say("%zu of %zu runs are in %s, %zu of them could not go on to the end\n", summary.done,
                summary.runs, options->output, summary.failed);
    return 0;
}

int cli_sweep(const Verb *verb, const Options *options)
{
    (void)verb;
    int status = 0;
    tr_error err = {0};
    if (options->merge) return merge(options);
    if (!follows()) tr_system_free(cli_system(options, &status)); // for words about the model
    if (status) return status;
    tr_model *model = tr_model_read(options->model, &err);
    status = model || follows() ? run(options, model, &err) : cli_complain(options->model, &err);
    tr_model_free(model);
    return status;
}
