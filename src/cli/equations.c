// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

// The name of the file without its folder and its end
static void take_title(const char *path, char *title, size_t size)
{
    const char *start = strrchr(path, '/');
    start = start ? start + 1 : path;
    snprintf(title, size, "%.*s", (int)strcspn(start, "."), start);
}

// By the end of the file that is written
static const char *language_of(const char *output)
{
    static const char *const ends[][2] = {
        {".md", "markdown"}, {".tex", "latex"}, {".html", "html"}, {".htm", "html"}};
    const char *dot = output ? strrchr(output, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i][0]) == 0) return ends[i][1];
    return "text";
}

// ---- in a report ---------------------------------------------------------------------------

// What is long is left to the verb, for a page opens in a moment, and a run ends when it ends:
// entries have so many operations at most, of a model with few inputs more of them.
enum { MOST_OPERATIONS = 24, MOST_OF_FEW = 60, FEW_INPUTS = 40, MOST_ENTRIES = 150 };
enum { MOST_INPUTS = 300, MOST_BYTES = 400000 };

static char *words_of(const char *words)
{
    const size_t size = strlen(words) + sizeof "There are no equations here: .";
    char *text = malloc(size);
    if (text) snprintf(text, size, "There are no equations here: %s.", words);
    return text;
}

// Of the same case and settings, with a letter for gravity
static tr_system *system_of(const Options *options, tr_error *err)
{
    tr_derive_options how;
    if (!cli_derive_options(options, &how)) return NULL;
    how.name_gravity = 1;
    tr_model *model = tr_model_read(options->model, err);
    tr_system *system = tr_derive(model, &how, err);
    tr_model_free(model);
    return system;
}

char *cli_page_equations(const Options *options, const tr_system *system)
{
    tr_error err = {0};
    tr_equations_options o = tr_equations_defaults();
    if (tr_input_count(system) > MOST_INPUTS)
        return words_of("they are long; trundle equations writes them");
    o.language = "html", o.show = "M,c,Q,G,H,J,reduced,energy";
    o.most_operations = tr_input_count(system) > FEW_INPUTS ? MOST_OPERATIONS : MOST_OF_FEW;
    o.most_entries = MOST_ENTRIES;
    tr_system *own = system_of(options, &err);
    char *text = tr_equations_text(own, &o, &err);
    tr_system_free(own);
    if (!text) return words_of(err.text);
    if (strlen(text) <= MOST_BYTES) return text;
    tr_text_free(text);
    return words_of("they are long; trundle equations writes them");
}

// ---- the verb ------------------------------------------------------------------------------

int cli_equations(const Verb *verb, const Options *options)
{
    (void)verb;
    int status = 0;
    char title[100];
    tr_error err = {0};
    tr_equations_options o = tr_equations_defaults();
    if (options->show) o.show = options->show;
    if (!cli_limit("--most-operations", options->most_operations, &o.most_operations))
        return TR_USAGE;
    if (!cli_number("--budget", options->budget, &o.effort)) return TR_USAGE;
    if (options->closed && options->staged) {
        cli_say("trundle: --closed and --staged exclude each other\n");
        return TR_USAGE;
    }
    o.style = options->closed ? "closed" : options->staged ? "staged" : "";
    o.language = options->to ? options->to : language_of(options->output);
    tr_system *system = cli_system(options, &status);
    if (!system) return status;
    take_title(options->model, title, sizeof title);
    o.title = title;
    if (options->explain && !options->show) o.show = "";
    status = cli_print(options,
                       (options->explain ? tr_explain : tr_equations_text)(system, &o, &err), &err);
    tr_system_free(system);
    return status;
}
