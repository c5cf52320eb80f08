// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Verb verbs[] = {
    {"check", "check MODEL [options]", "says whether a model is sound, and what it can do",
     "  trundle check models/double_pendulum.yaml\n", cli_check},
    {"derive", "derive MODEL [options]", "derives the equations of motion and counts them",
     "  trundle derive models/floating_arm.yaml --json\n", cli_derive},
    {"eval", "eval MODEL [options]", "accelerations, torques and outputs at the initial instant",
     "  trundle eval models/cart_pole.yaml --set length=0.7 --json\n", cli_eval},
    {"simulate", "simulate MODEL [options]", "simulates and records",
     "  trundle simulate models/tumbling.yaml -o run.csv\n"
     "  trundle simulate models/cart_pole.yaml --case push --end 5 --every 0.01 --method rk4 --step 0.001 -o -\n",
     cli_simulate},
};
enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static const char shared_options[] = "  --case NAME          the case to use; the first when not given\n"
                                     "  --set NAME=FORMULA   another value for a parameter or input; repeatable\n"
                                     "  -o FILE              where to write; - is standard output\n"
                                     "  --json               JSON instead of text\n"
                                     "  -q, -v               say less, say more\n";
static const char simulate_options[] = "  --end T --every DT   rows at 0, DT, ..., T [s]\n"
                                       "  --method NAME        erk (adaptive), rk4, pece, lie, euler\n"
                                       "  --step H             of methods with a fixed step [s]\n"
                                       "  --rtol R --atol A    tolerances of adaptive methods\n";

// ---- help ----------------------------------------------------------------------------------

static void print_help(FILE *to)
{
    fprintf(to, "trundle: equations of motion of things that roll, slide, fold and flex\n\nusage: trundle VERB MODEL [options]\n\n");
    for (int i = 0; i < VERB_COUNT; i++) fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].doc);
    fprintf(to, "\n%s\ntrundle VERB --help says more.\n", shared_options);
}

static void print_verb_help(const Verb *verb)
{
    printf("usage: trundle %s\n\n%s.\n\n%s", verb->usage, verb->doc, shared_options);
    if (verb->run == cli_simulate) printf("%s", simulate_options);
    printf("\nexamples:\n%s", verb->examples);
}

// ---- "did you mean" ------------------------------------------------------------------------

static void suggest(const char *wanted, const char *const *candidates, size_t count)
{
    const char *best = tr_nearest(wanted, candidates, count);
    if (best) fprintf(stderr, "; did you mean '%s'?\n", best);
    else fprintf(stderr, "\n");
}

static int unknown_verb(const char *name)
{
    const char *names[VERB_COUNT];
    for (int i = 0; i < VERB_COUNT; i++) names[i] = verbs[i].name;
    fprintf(stderr, "trundle: unknown verb '%s'", name);
    suggest(name, names, VERB_COUNT);
    return TR_USAGE;
}

// ---- options -------------------------------------------------------------------------------

typedef struct Option {
    const char *name;
    size_t offset; // of a const char * in Options
} Option;

static const Option text_options[] = {
    {"--case", offsetof(Options, case_name)}, {"-o", offsetof(Options, output)},
    {"--end", offsetof(Options, end)},        {"--every", offsetof(Options, every)},
    {"--method", offsetof(Options, method)},  {"--step", offsetof(Options, step)},
    {"--rtol", offsetof(Options, rtol)},      {"--atol", offsetof(Options, atol)},
};
enum { TEXT_OPTIONS = sizeof text_options / sizeof *text_options };

static int unknown_option(const char *name)
{
    const char *names[TEXT_OPTIONS + 4];
    for (int i = 0; i < TEXT_OPTIONS; i++) names[i] = text_options[i].name;
    names[TEXT_OPTIONS] = "--set", names[TEXT_OPTIONS + 1] = "--json";
    names[TEXT_OPTIONS + 2] = "-q", names[TEXT_OPTIONS + 3] = "--help";
    fprintf(stderr, "trundle: unknown option '%s'", name);
    suggest(name, names, TEXT_OPTIONS + 4);
    return TR_USAGE;
}

static int add_setting(Options *o, char *text)
{
    char *sign = strchr(text, '=');
    if (!sign || sign == text || !sign[1] || o->setting_count == MAX_SETTINGS) {
        fprintf(stderr, "trundle: --set takes name=formula, not '%s'\n", text);
        return TR_USAGE;
    }
    *sign = 0;
    o->settings[o->setting_count++] = (tr_setting){text, sign + 1};
    return 0;
}

// The place of an option that takes a text, or NULL.
static const char **text_place(Options *o, const char *name)
{
    for (int i = 0; i < TEXT_OPTIONS; i++)
        if (strcmp(name, text_options[i].name) == 0)
            return (const char **)(void *)((char *)o + text_options[i].offset);
    return NULL;
}

static int read_options(Options *o, int count, char **words, bool *help)
{
    for (int i = 0; i < count; i++) {
        char *word = words[i];
        const char **place = text_place(o, word);
        const bool sets = strcmp(word, "--set") == 0;
        if ((place || sets) && i + 1 == count) {
            fprintf(stderr, "trundle: %s needs a value\n", word);
            return TR_USAGE;
        }
        if (place) *place = words[++i];
        else if (sets) {
            const int status = add_setting(o, words[++i]);
            if (status) return status;
        } else if (strcmp(word, "--json") == 0) o->json = true;
        else if (strcmp(word, "-q") == 0) o->quiet = true;
        else if (strcmp(word, "-v") == 0) o->verbose = true;
        else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) *help = true;
        else if (word[0] == '-' && word[1]) return unknown_option(word);
        else if (o->model) {
            fprintf(stderr, "trundle: one model at a time: '%s' and '%s'\n", o->model, word);
            return TR_USAGE;
        } else o->model = word;
    }
    return 0;
}

// ---- shared by the verbs -------------------------------------------------------------------

// The line that an error is about, with a mark under the column.
static void show_line(const char *path, const tr_error *err)
{
    FILE *file = err->line > 0 ? fopen(path, "r") : NULL;
    if (!file) return;
    char text[400];
    for (int line = 1; fgets(text, sizeof text, file);) {
        const bool whole = strchr(text, '\n') != NULL;
        if (line == err->line) {
            text[strcspn(text, "\r\n")] = 0;
            fprintf(stderr, "  %s\n  %*s\n", text, err->column > 0 && err->column < 200 ? err->column : 1, "^");
            break;
        }
        line += whole;
    }
    fclose(file);
}

int cli_complain(const char *path, const tr_error *err)
{
    if (err->line > 0) fprintf(stderr, "%s:%d:%d: %s\n", path, err->line, err->column, err->text);
    else if (err->status == TR_INVALID && path) fprintf(stderr, "%s: %s\n", path, err->text);
    else fprintf(stderr, "trundle: %s\n", err->text);
    if (path) show_line(path, err);
    return err->status == TR_NO_MEMORY ? TR_FAILED : (int)err->status;
}

tr_system *cli_system(const Options *options, int *status)
{
    tr_error err = {0};
    tr_model *model = tr_model_read(options->model, &err);
    const tr_derive_options how = {options->case_name, options->settings, options->setting_count};
    tr_system *system = tr_derive(model, &how, &err);
    tr_model_free(model);
    if (err.status) *status = cli_complain(options->model, &err);
    return system;
}

int cli_print(const Options *options, char *text, const tr_error *err)
{
    if (err->status) return cli_complain(options->model, err);
    tr_error wrote = {0};
    tr_write_text(options->output ? options->output : "-", text, &wrote);
    tr_text_free(text);
    return wrote.status ? cli_complain(NULL, &wrote) : 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return TR_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("trundle %s\n", tr_version());
        return 0;
    }
    const Verb *verb = NULL;
    for (int i = 0; i < VERB_COUNT; i++)
        if (strcmp(argv[1], verbs[i].name) == 0) verb = &verbs[i];
    if (!verb) return unknown_verb(argv[1]);
    static Options options;
    bool help = false;
    const int status = read_options(&options, argc - 2, argv + 2, &help);
    if (status) return status;
    if (help) {
        print_verb_help(verb);
        return 0;
    }
    if (!options.model) {
        fprintf(stderr, "trundle: which model? usage: trundle %s\n", verb->usage);
        return TR_USAGE;
    }
    return verb->run(&options);
}
