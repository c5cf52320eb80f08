// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const Verb verbs[] = {
    {"check", "check MODEL [options]", "says whether a model is sound, and what it can do",
     "  trundle check models/double_pendulum.yaml\n", cli_report, tr_check_text, false},
    {"derive", "derive MODEL [options]", "derives the equations of motion and counts them",
     "  trundle derive models/floating_arm.yaml --json\n", cli_report, tr_derive_text, false},
    {"eval", "eval MODEL [options]", "accelerations, torques and outputs at the initial instant",
     "  trundle eval models/cart_pole.yaml --set length=0.7 --json\n", cli_report, tr_eval_text,
     false},
    {"simulate", "simulate MODEL [options]", "simulates and records",
     "  trundle simulate models/tumbling.yaml -o run.csv\n"
     "  trundle simulate models/cart_pole.yaml --case push --end 5 --every 0.01 --method rk4 "
     "--step 0.001 -o -\n"
     "  trundle simulate models/bicycle.yaml --report run.html\n",
     cli_simulate, NULL, false},
    {"view", "view RUN.csv --model MODEL -o REPORT.html [options]",
     "makes a page to see a recorded run move",
     "  trundle view run.csv --model models/bicycle.yaml -o run.html\n", cli_view, NULL, true},
};
enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static const char shared_options[] =
    "  --case NAME          the case to use; the first when not given\n"
    "  --set NAME=FORMULA   another value for a parameter or input; repeatable\n"
    "  -o FILE              where to write; - is standard output\n"
    "  --json               JSON instead of text\n"
    "  -q, -v               say less, say more\n";
static const char simulate_options[] =
    "  --end T --every DT   rows at 0, DT, ..., T [s]\n"
    "  --method NAME        erk (adaptive), rk4, pece, lie, euler\n"
    "  --step H             of methods with a fixed step [s]\n"
    "  --rtol R --atol A    tolerances of adaptive methods\n"
    "  --dense              interpolate rows instead of stopping at each\n"
    "  --no-project         let positions drift, as constraints on velocities alone do\n"
    "  --report FILE        a page to see the run move; with or without -o\n";
static const char view_options[] =
    "  --model MODEL        the model of the run; case and settings are the run's unless given\n";
static const char page_options[] =
    "  --page FILE          use this page in place of the one that is built in\n";

// ---- help ----------------------------------------------------------------------------------

static void print_help(FILE *to)
{
    fprintf(to, "trundle: equations of motion of things that roll, slide, fold and flex\n\nusage: "
                "trundle VERB MODEL [options]\n\n");
    for (int i = 0; i < VERB_COUNT; i++) fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].doc);
    fprintf(to, "\n%s\ntrundle VERB --help says more.\n", shared_options);
}

static void print_verb_help(const Verb *verb)
{
    printf("usage: trundle %s\n\n%s.\n\n%s", verb->usage, verb->doc, shared_options);
    if (verb->run == cli_simulate) printf("%s%s", simulate_options, page_options);
    if (verb->run == cli_view) printf("%s%s", view_options, page_options);
    printf("\nexamples:\n%s", verb->examples);
}

// ---- "did you mean" ------------------------------------------------------------------------

static void suggest(const char *wanted, const char *const *candidates, size_t count)
{
    const char *best = tr_nearest(wanted, candidates, count);
    if (best)
        fprintf(stderr, "; did you mean '%s'?\n", best);
    else
        fprintf(stderr, "\n");
}

// ---- options -------------------------------------------------------------------------------

typedef struct Option {
    const char *name;
    size_t offset; // in Options
    enum { TEXT, FLAG, SETTING } kind;
    const char *verbs; // that take it; NULL: all
} Option;

static const Option known[] = {
    {"--case", offsetof(Options, case_name), TEXT, NULL},
    {"--set", 0, SETTING, NULL},
    {"-o", offsetof(Options, output), TEXT, NULL},
    {"--json", offsetof(Options, json), FLAG, NULL},
    {"-q", offsetof(Options, quiet), FLAG, NULL},
    {"-v", offsetof(Options, verbose), FLAG, NULL},
    {"--help", offsetof(Options, help), FLAG, NULL},
    {"-h", offsetof(Options, help), FLAG, NULL},
    {"--end", offsetof(Options, end), TEXT, "simulate"},
    {"--every", offsetof(Options, every), TEXT, "simulate"},
    {"--method", offsetof(Options, method), TEXT, "simulate"},
    {"--step", offsetof(Options, step), TEXT, "simulate"},
    {"--rtol", offsetof(Options, rtol), TEXT, "simulate"},
    {"--atol", offsetof(Options, atol), TEXT, "simulate"},
    {"--dense", offsetof(Options, dense), FLAG, "simulate"},
    {"--no-project", offsetof(Options, no_project), FLAG, "simulate"},
    {"--report", offsetof(Options, report), TEXT, "simulate"},
    {"--page", offsetof(Options, page), TEXT, "simulate view"},
    {"--model", offsetof(Options, model), TEXT, "view"},
};
enum { OPTION_COUNT = sizeof known / sizeof *known };

static const Option *option_called(const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(name, known[i].name) == 0) return &known[i];
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++) names[i] = known[i].name;
    fprintf(stderr, "trundle: unknown option '%s'", name);
    suggest(name, names, OPTION_COUNT);
    return NULL;
}

static int add_setting(Options *o, char *text)
{
    char *sign = strchr(text, '=');
    if (!sign || sign == text || !sign[1])
        fprintf(stderr, "trundle: --set takes name=formula, not '%s'\n", text);
    else if (o->setting_count == MAX_SETTINGS)
        fprintf(stderr, "trundle: --set more than %d times\n", MAX_SETTINGS);
    else {
        *sign = 0;
        o->settings[o->setting_count++] = (tr_setting){text, sign + 1};
        return 0;
    }
    return TR_USAGE;
}

static bool takes_option(const Verb *verb, const Option *option)
{
    const char *found = option->verbs ? strstr(option->verbs, verb->name) : verb->name;
    const size_t length = strlen(verb->name);
    return found && (found == option->verbs || !option->verbs || found[-1] == ' ') &&
           (found[length] == ' ' || !found[length]);
}

// What an option says; `value` is what follows it, NULL when nothing does.
static int take_option(Options *o, const Verb *verb, const Option *option, char *value)
{
    void *place = (char *)o + option->offset;
    if (!takes_option(verb, option))
        fprintf(stderr, "trundle: %s takes no %s\n", verb->name, option->name);
    else if (option->kind == FLAG)
        return *(bool *)place = true, 0;
    else if (!value)
        fprintf(stderr, "trundle: %s needs a value\n", option->name);
    else if (option->kind == SETTING)
        return add_setting(o, value);
    else
        return *(const char **)place = value, 0;
    return TR_USAGE;
}

// The word that is no option: the model, or the run of verbs that take one
static int take_subject(Options *o, const Verb *verb, const char *path)
{
    const char **place = verb->takes_run ? &o->run : &o->model;
    if (*place) {
        fprintf(stderr, "trundle: one %s at a time: '%s' and '%s'\n",
                verb->takes_run ? "run" : "model", *place, path);
        return TR_USAGE;
    }
    *place = path;
    return 0;
}

// "--end 5" and "--end=5" are the same.
static int read_options(Options *o, const Verb *verb, int count, char **words)
{
    int status = 0;
    for (int i = 0; i < count && !status; i++) {
        char *word = words[i], *value = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
        if (word[0] != '-' || !word[1]) {
            status = take_subject(o, verb, word);
            continue;
        }
        if (value) *value++ = 0;
        const Option *option = option_called(word);
        if (!option) return TR_USAGE;
        if (option->kind == FLAG && value) {
            fprintf(stderr, "trundle: %s takes no value\n", word);
            return TR_USAGE;
        }
        if (option->kind != FLAG && !value && i + 1 < count) value = words[++i];
        status = take_option(o, verb, option, value);
    }
    return status;
}

// ---- shared by the verbs -------------------------------------------------------------------

static const char *next_character(const char *at)
{
    do at++;
    while ((*at & 0xc0) == 0x80);
    return at;
}

// The part of a line around a column, and a mark under it.
static void mark_column(const char *line, int column)
{
    enum { BEFORE = 60, SHOWN = 96 };
    const char *from = line, *at = line;
    for (int i = 1; i < column && *at; i++) {
        at = next_character(at);
        if (i > BEFORE) from = next_character(from);
    }
    fprintf(stderr, "  ");
    const char *end = from;
    for (int i = 0; i < SHOWN && *end; i++) end = next_character(end);
    for (const char *c = from; c < end; c++) {
        const bool control = (*c >= 0 && *c < ' ' && *c != '\t') || *c == 0x7f;
        fputc(control ? '?' : *c, stderr);
    }
    fprintf(stderr, "\n  ");
    for (const char *c = from; c < at; c = next_character(c))
        fputc(*c == '\t' ? '\t' : ' ', stderr);
    fprintf(stderr, "^\n");
}

// The line of a file that an error is about. A pipe has been read already.
static void show_line(const char *path, const tr_error *err)
{
    struct stat info;
    const bool is_file = err->line > 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
    FILE *file = is_file ? fopen(path, "r") : NULL;
    if (!file) return;
    char *text = NULL;
    size_t room = 0;
    int line = 0;
    while (line < err->line && getline(&text, &room, file) >= 0) line++;
    if (line == err->line) {
        text[strcspn(text, "\r\n")] = 0;
        const bool marked = line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0; // as UTF-8
        mark_column(text + (marked ? 3 : 0), err->column);
    }
    free(text);
    fclose(file);
}

int cli_complain(const char *path, const tr_error *err)
{
    if (err->line > 0)
        fprintf(stderr, "%s:%d:%d: %s\n", path, err->line, err->column, err->text);
    else if (err->status == TR_INVALID && path)
        fprintf(stderr, "%s: %s\n", path, err->text);
    else
        fprintf(stderr, "trundle: %s\n", err->text);
    if (path) show_line(path, err);
    return err->status == TR_NO_MEMORY ? TR_FAILED : (int)err->status;
}

// A mistake in the k-th --set is at line -k.
static int complain_of_setting(const Options *options, const tr_error *err)
{
    const tr_setting *setting = &options->settings[-err->line - 1];
    char text[400];
    fprintf(stderr, "trundle: --set: %s\n", err->text);
    snprintf(text, sizeof text, "%s=%s", setting->name, setting->formula);
    mark_column(text, (int)strlen(setting->name) + 1 + err->column);
    return TR_USAGE;
}

tr_system *cli_system(const Options *options, int *status)
{
    tr_error err = {0};
    tr_model *model = tr_model_read(options->model, &err);
    const tr_derive_options how = {options->case_name, options->settings, options->setting_count};
    tr_system *system = tr_derive(model, &how, &err);
    tr_model_free(model);
    if (err.line < 0)
        *status = complain_of_setting(options, &err);
    else if (err.status)
        *status = cli_complain(options->model, &err);
    if (system && options->verbose) {
        char *facts = tr_derive_text(system, false, &err);
        if (facts) fprintf(stderr, "%s", facts);
        tr_text_free(facts);
    }
    return system;
}

int cli_print(const Options *options, char *text, const tr_error *err)
{
    tr_error wrote = {0};
    if (text) tr_write_text(options->output ? options->output : "-", text, &wrote);
    tr_text_free(text);
    if (wrote.status) return cli_complain(NULL, &wrote);
    return err->status ? cli_complain(options->model, err) : 0;
}

// The verb that a word is, or NULL after saying that it is none.
static const Verb *verb_called(const char *word)
{
    const char *names[VERB_COUNT];
    for (int i = 0; i < VERB_COUNT; i++) {
        names[i] = verbs[i].name;
        if (strcmp(word, names[i]) == 0) return &verbs[i];
    }
    if (word[0] == '-') {
        fprintf(stderr, "trundle: the verb comes first: trundle VERB MODEL %s\n", word);
        return NULL;
    }
    fprintf(stderr, "trundle: unknown verb '%s'", word);
    suggest(word, names, VERB_COUNT);
    return NULL;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) return print_help(stderr), TR_USAGE;
    if (is_one_of(argv[1], "--help", "-h", "help")) return print_help(stdout), 0;
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        printf("trundle %s\n", tr_version());
        return 0;
    }
    const Verb *verb = verb_called(argv[1]);
    if (!verb) return TR_USAGE;
    static Options options;
    const int status = read_options(&options, verb, argc - 2, argv + 2);
    if (status) return status;
    if (options.help) return print_verb_help(verb), 0;
    if (!options.model || (verb->takes_run && !options.run)) {
        fprintf(stderr, "trundle: which %s? usage: trundle %s\n",
                verb->takes_run && !options.run ? "run" : "model", verb->usage);
        return TR_USAGE;
    }
    return verb->run(verb, &options);
}
