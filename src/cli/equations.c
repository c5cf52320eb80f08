// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

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
