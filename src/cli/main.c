// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// What words are about may hold anything: all but the end of the line is shown as it can be.
void cli_say(const char *format, ...)
{
    static char words[10000], shown[4 * sizeof words];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    const size_t length = strlen(words), ends = length && words[length - 1] == '\n';
    words[length - ends] = 0;
    fprintf(stderr, "%s%s", tr_shown(words, shown, sizeof shown), ends ? "\n" : "");
}

static const char *next_character(const char *at)
{
    do at++;
    while ((*at & 0xc0) == 0x80);
    return at;
}

// One of a line, in one column
static void show_character(const char *at)
{
    char one[8], shown[40];
    snprintf(one, sizeof one, "%.*s", (int)(next_character(at) - at), at);
    const bool is_plain = *at == '\t' || strcmp(one, tr_shown(one, shown, sizeof shown)) == 0;
    fputs(is_plain ? one : "?", stderr);
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
    for (const char *c = from; c < end; c = next_character(c)) show_character(c);
    fprintf(stderr, "\n  ");
    for (const char *c = from; c < at; c = next_character(c))
        fputc(*c == '\t' ? '\t' : ' ', stderr);
    fprintf(stderr, "^\n");
}

// The line of a file that an error is about. A pipe has been read already.
static void show_line(const char *path, const tr_error *err)
{
    struct stat info;
    const bool is_file =
        err->line > 0 && err->column > 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
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

// Of --with: lines of the k-th count from k TR_WITH_LINES on.
static const Words *files_with;

static int complain_of(const char *path, const tr_error *err)
{
    if (err->line > 0 && err->file[0]) path = err->file;
    if (err->line > 0 && err->column > 0)
        cli_say("%s:%d:%d: %s\n", path, err->line, err->column, err->text);
    else if (err->line > 0) // of tables
        cli_say("%s:%d: %s\n", path, err->line, err->text);
    else if (err->status == TR_INVALID && path)
        cli_say("%s: %s\n", path, err->text);
    else
        cli_say("trundle: %s\n", err->text);
    if (path) show_line(path, err);
    return err->status == TR_NO_MEMORY ? TR_FAILED : (int)err->status;
}

int cli_complain(const char *path, const tr_error *err)
{
    const size_t file = err->line > 0 ? (size_t)(err->line / TR_WITH_LINES) : 0;
    if (!file || !files_with) return complain_of(path, err);
    const bool is_file = file <= files_with->count; // else it is what --trim found
    tr_error own = *err;
    own.line = is_file ? err->line % TR_WITH_LINES : 0;
    return complain_of(is_file ? files_with->word[file - 1] : path, &own);
}

// A mistake in the k-th --set is at line -k.
static int complain_of_setting(const Options *options, const tr_error *err)
{
    const tr_setting *setting = &options->settings[-err->line - 1];
    char text[400];
    cli_say("trundle: --set: %s\n", err->text);
    snprintf(text, sizeof text, "%s=%s", setting->name, setting->formula);
    mark_column(text, (int)strlen(setting->name) + 1 + err->column);
    return TR_USAGE;
}

bool cli_number(const char *name, const char *text, double *value)
{
    if (!text || tr_read_number(text, value)) return true;
    cli_say("trundle: %s takes a number, not '%s'\n", name, text);
    return false;
}

bool cli_limit(const char *name, const char *text, size_t *value)
{
    double number = 0;
    if (!text) return true;
    if (!cli_number(name, text, &number)) return false;
    const bool good = number >= 0 && number <= 1e18 && number == floor(number);
    if (good)
        *value = (size_t)number;
    else
        cli_say("trundle: %s takes a whole number, not '%s'\n", name, text);
    return good;
}

bool cli_ends_with(const char *path, const char *end)
{
    const size_t length = path ? strlen(path) : 0, part = strlen(end);
    return length > part && strcmp(path + length - part, end) == 0;
}

int cli_complain_of(const Options *options, const tr_error *err)
{
    if (err->line < 0) return complain_of_setting(options, err);
    return cli_complain(err->line > 0 ? options->model : NULL, err);
}

bool cli_derive_options(const Options *options, tr_derive_options *how)
{
    *how = tr_derive_defaults();
    how->case_name = options->case_name;
    how->settings = options->settings, how->setting_count = options->setting_count;
    how->with = options->with.word, how->with_count = options->with.count;
    how->with_texts = options->with_texts;
    how->controls = options->controls, how->control_count = options->control_count;
    how->allowed = options->allowed.word, how->allowed_count = options->allowed.count;
    if (options->verbose) how->digits = 0;
    how->evaluate = options->evaluate, how->inertias = options->inertias;
    how->name_gravity = options->verb->self == OF_EQUATIONS;
    double order = 0;
    if (!cli_number("--order", options->order, &order)) return false;
    how->order = order == 1 || order == 2 ? (size_t)order : options->order ? 3 : 0;
    return true;
}

tr_system *cli_system(const Options *options, int *status)
{
    tr_error err = {0};
    tr_derive_options how;
    *status = TR_USAGE;
    if (cli_is_fmu(options)) {
        cli_say("trundle: %s is for models; an FMU can be given to check and simulate\n",
                options->verb->name);
        return NULL;
    }
    if (!cli_check_endings(options) || !cli_derive_options(options, &how)) return NULL;
    *status = 0;
    tr_model *model = tr_model_read(options->model, &err);
    tr_system *system = tr_derive(model, &how, &err);
    tr_model_free(model);
    if (err.line < 0)
        *status = complain_of_setting(options, &err);
    else if (err.status)
        *status = cli_complain(options->model, &err);
    if (system && cli_destroys_part(options, system)) {
        tr_system_free(system);
        *status = TR_USAGE;
        return NULL;
    }
    if (system && options->verbose) {
        char *facts = tr_derive_text(system, false, &err);
        if (facts) fputs(facts, stderr);
        tr_text_free(facts);
    }
    return system;
}

void cli_written(const Options *options, const char *path)
{
    if (!options->quiet && path && strcmp(path, "-") != 0) cli_say("written to %s\n", path);
}

int cli_print(const Options *options, char *text, const tr_error *err)
{
    tr_error wrote = {0};
    const bool any = text != NULL;
    if (any) tr_write_text(options->output ? options->output : "-", text, &wrote);
    tr_text_free(text);
    if (wrote.status) return cli_complain(NULL, &wrote);
    if (any) cli_written(options, options->output);
    return err->status ? cli_complain(options->model, err) : 0;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

// Of all verbs, or of one
static int help(const char *word)
{
    if (!word) return cli_print_help(stdout), 0;
    const Verb *verb = cli_verb(word);
    if (verb) cli_print_verb_help(verb);
    return verb ? 0 : TR_USAGE;
}

static int serve(int argc, char **argv)
{
    if (argc < 2) return cli_print_help(stderr), TR_USAGE;
    if (is_one_of(argv[1], "--help", "-h", "help")) return help(argv[2]);
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        printf("trundle %s\n", tr_version());
        return 0;
    }
    const Verb *verb = cli_verb(argv[1]);
    if (!verb) return TR_USAGE;
    static Options options;
    const int status = cli_read_options(&options, verb, argc - 2, argv + 2);
    if (status) return status;
    if (options.help) return cli_print_verb_help(verb), 0;
    files_with = &options.with;
    return cli_destroys(&options) ? TR_USAGE : verb->run(verb, &options);
}

int main(int argc, char **argv)
{
    if (!cli_open_descriptors()) return TR_IO;
    cli_handle_signals();
    // Matrices here are small: threads of a linear algebra library that has them only cost time.
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    return cli_close_output(serve(argc, argv));
}
