// SPDX-License-Identifier: Apache-2.0
// What the command line may say, verb.def and option.def, and what it does say.
#include "cli/cli.h"

#include <string.h>

// ---- the tables ----------------------------------------------------------------------------

static const Verb verbs[] = {
#define VERB(id, name, given, doc, examples, run, text) \
    {name, name " " given " [options]", doc, examples, OF_##id, run, text},
#include "cli/verb.def"
};

typedef struct Option {
    const char *name, *argument; // "" when it takes none
    enum { TEXT, FLAG, SETTING, LIST, TRACK } kind;
    size_t offset; // in Options
    int of;        // the verbs that take it
    const char *otherwise, *doc;
} Option;

static const Option options[] = {
#define OPTION(name, argument, kind, place, of, otherwise, doc) \
    {name, argument, kind, offsetof(Options, place), of, otherwise, doc},
#include "cli/option.def"
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

// ---- help ----------------------------------------------------------------------------------

enum { INDENT = 23, WIDTH = 100 };

// The words of a text, behind the option or below each other; `column` is where the line stands.
static int print_words(FILE *to, const char *text, int column)
{
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > INDENT && column + 1 + length > WIDTH) {
            fprintf(to, "\n");
            column = 0;
        }
        column += fprintf(to, "%*s%.*s", column < INDENT ? INDENT - column : 1, "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    return column;
}

// Those of a verb; 0: those that most of them share
static void print_options(FILE *to, int verb)
{
    for (const Option *o = options; o < options + OPTION_COUNT; o++) {
        if (verb ? !(o->of & verb) : !cli_is_shared(o->of)) continue;
        int column = fprintf(to, "  %s %s", o->name, o->argument);
        if (column >= INDENT) column = 0, fprintf(to, "\n");
        column = print_words(to, o->doc, column);
        if (o->otherwise[0]) {
            column += fprintf(to, ";");
            column = print_words(to, o->otherwise, column);
            print_words(to, "when not given", column);
        }
        fprintf(to, "\n");
    }
}

void cli_print_help(FILE *to)
{
    fprintf(to, "trundle: equations of motion of things that roll, slide, fold and flex\n\nusage: "
                "trundle VERB MODEL [options]\n\n");
    for (int i = 0; i < VERB_COUNT; i++) fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].doc);
    fprintf(to, "\n");
    print_options(to, 0);
    fprintf(to, "\ntrundle VERB --help says more.\n");
}

void cli_print_verb_help(const Verb *verb)
{
    printf("usage: trundle %s\n\n%s.\n\n", verb->usage, verb->doc);
    print_options(stdout, verb->self);
    printf("\nexamples:\n%s", verb->examples);
}

// ---- names ---------------------------------------------------------------------------------

// Ends a complaint about a word with the name that it may have meant; false when none is near.
static bool suggest(const char *wanted, const char *const *names, size_t count)
{
    const char *best = tr_nearest(wanted, names, count);
    if (best) cli_say("; did you mean '%s'?\n", best);
    return best != NULL;
}

const Verb *cli_verb(const char *word)
{
    const char *names[VERB_COUNT];
    for (int i = 0; i < VERB_COUNT; i++) {
        names[i] = verbs[i].name;
        if (strcmp(word, names[i]) == 0) return &verbs[i];
    }
    if (word[0] == '-') {
        cli_say("trundle: the verb comes first: trundle VERB MODEL %s\n", word);
        return NULL;
    }
    cli_say("trundle: unknown verb '%s'", word);
    if (suggest(word, names, VERB_COUNT)) return NULL;
    for (int i = 0; i < VERB_COUNT; i++) cli_say("%s%s", i ? ", " : "; there are ", names[i]);
    cli_say("\n");
    return NULL;
}

// The option of a verb, or NULL after saying that there is none.
static const Option *option_called(const char *name, const Verb *verb)
{
    const char *names[OPTION_COUNT];
    bool is_known = false;
    for (int i = 0; i < OPTION_COUNT; i++) {
        names[i] = options[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        if (options[i].of & verb->self) return &options[i];
        is_known = true;
    }
    if (is_known) {
        cli_say("trundle: %s takes no %s\n", verb->name, name);
        return NULL;
    }
    cli_say("trundle: unknown option '%s'", name);
    if (!suggest(name, names, OPTION_COUNT))
        cli_say("; trundle %s --help lists all options\n", verb->name);
    return NULL;
}

// ---- reading -------------------------------------------------------------------------------

static int add_setting(Options *o, char *text)
{
    char *sign = strchr(text, '=');
    if (!sign || sign == text || !sign[1])
        cli_say("trundle: --set takes name=formula, not '%s'\n", text);
    else if (o->setting_count == MAX_SETTINGS)
        cli_say("trundle: --set more than %d times\n", MAX_SETTINGS);
    else {
        *sign = 0;
        o->settings[o->setting_count++] = (tr_setting){text, sign + 1};
        return 0;
    }
    return TR_USAGE;
}

static int add_word(Words *words, const char *word, const char *option)
{
    if (words->count == MAX_WORDS) {
        cli_say("trundle: %s more than %d times\n", option, MAX_WORDS);
        return TR_USAGE;
    }
    words->word[words->count++] = word;
    return 0;
}

// What an option says; `value` is what follows it, NULL when nothing does.
static int take_option(Options *o, const Option *option, char *value)
{
    void *place = (char *)o + option->offset;
    if (option->kind == FLAG) return *(bool *)place = true, 0;
    if (option->kind == TRACK) return o->track = true, o->tracks = value, 0;
    if (!value) {
        cli_say("trundle: %s needs a value\n", option->name);
        return TR_USAGE;
    }
    if (option->kind == SETTING) return add_setting(o, value);
    if (option->kind == LIST) return add_word(place, value, option->name);
    return *(const char **)place = value, 0;
}

// A word that is no option: a model, or a run.
static int take_file(Options *o, const Verb *verb, const char *path)
{
    if (o->runs.count == MAX_WORDS)
        cli_say("trundle: more than %d runs\n", MAX_WORDS);
    else if (verb->self & OF_RUNS || (verb->self & OF_SWEEP && o->merge))
        return o->runs.word[o->runs.count++] = path, 0;
    else if (!(verb->self & OF_CASES))
        cli_say("trundle: %s takes no file: '%s'\n", verb->name, path);
    else if (o->model)
        cli_say("trundle: one model at a time: '%s' and '%s'\n", o->model, path);
    else
        return o->model = path, 0;
    return TR_USAGE;
}

// Whether the word behind an option is its value. The names of --track may be left out: a file or
// another option is none.
static bool is_value(const Option *option, const char *word)
{
    if (option->kind != TRACK) return option->kind != FLAG;
    const char *dot = strrchr(word, '.');
    return word[0] != '-' && !strchr(word, '/') && !(dot && strcmp(dot, ".csv") == 0);
}

// Whether there is all that the verb must be given.
static int check(const Options *o, const Verb *verb)
{
    const bool needs_run = verb->self & OF_RUNS && !o->runs.count;
    if (o->help ||
        (!needs_run && (o->model || (o->merge && o->runs.count) || !(verb->self & OF_MODELS))))
        return 0;
    cli_say("trundle: which %s? usage: trundle %s\n", needs_run ? "run" : "model", verb->usage);
    return TR_USAGE;
}

// ---- endings -------------------------------------------------------------------------------

// What files are written, by the verbs of a set; a name without an ending is taken as it is.
static const struct {
    int of;
    const char *option;
    size_t offset; // of the path, in Options
    const char *endings;
} files[] = {
    {OF_SIMULATE, "-o", offsetof(Options, output), ".csv .mat .npy"},
    {OF_SIMULATE, "--report", offsetof(Options, report), ".html .htm"},
    {OF_LINEARISE, "-o", offsetof(Options, output), ".csv .json .mat .svg .txt"},
    {OF_LINEARISE, "--plot", offsetof(Options, picture), ".svg"},
    {OF_STEADY, "-o", offsetof(Options, output), ".yaml .csv .json .txt"},
    {OF_LQR, "-o", offsetof(Options, output), ".yaml .yml"},
    {OF_FIT, "-o", offsetof(Options, output), ".yaml .yml .json .txt"},
    {OF_FIT, "--plot", offsetof(Options, picture), ".svg"},
    {OF_VIEW, "-o", offsetof(Options, output), ".html .htm"},
    {OF_SCHEMA, "-o", offsetof(Options, output), ".json"},
};

static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *point = strrchr(name, '.');
    return point && point != name ? point : "";
}

bool cli_check_endings(const Options *o)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = *(const char *const *)(const void *)((const char *)o + files[i].offset);
        if (!(files[i].of & o->verb->self) || !path) continue;
        const char *ending = ending_of(path), *found = strstr(files[i].endings, ending);
        const char behind = found ? found[strlen(ending)] : 'x';
        if (!*ending || behind == ' ' || !behind) continue;
        cli_say("trundle: %s '%s': the name of a file that can be written ends in %s\n",
                files[i].option, path, files[i].endings);
        return false;
    }
    return true;
}

// ---- all of them ---------------------------------------------------------------------------

// "--end 5" and "--end=5" are the same.
int cli_read_options(Options *o, const Verb *verb, int count, char **words)
{
    int status = 0;
    o->verb = verb;
    for (int i = 0; i < count && !status; i++) {
        char *word = words[i], *value = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
        if (word[0] != '-' || !word[1]) {
            status = take_file(o, verb, word);
            continue;
        }
        if (value) *value++ = 0;
        const Option *option = option_called(word, verb);
        if (!option) return TR_USAGE;
        if (option->kind == FLAG && value) {
            cli_say("trundle: %s takes no value\n", word);
            return TR_USAGE;
        }
        if (!value && i + 1 < count && is_value(option, words[i + 1])) value = words[++i];
        status = take_option(o, option, value);
    }
    return status ? status : check(o, verb);
}
