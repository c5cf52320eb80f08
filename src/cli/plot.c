// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// "720x400"
static bool take_size(const char *text, int *width, int *height)
{
    if (!text) return true;
    char behind;
    if (sscanf(text, "%5dx%5d%c", width, height, &behind) == 2 && *width > 0 && *height > 0)
        return true;
    cli_say("trundle: --size takes a width and a height, as 720x400, not '%s'\n", text);
    return false;
}

static void warn(void *owner, const char *words)
{
    const Options *options = owner;
    if (!options->quiet) cli_say("warning: %s\n", words);
}

int cli_plot(const Verb *verb, const Options *options)
{
    if (!options->output && isatty(1)) {
        cli_say("trundle: where to? -o FILE.svg writes the picture, -o - shows its text; usage: "
                "trundle %s\n",
                verb->usage);
        return TR_USAGE;
    }
    tr_plot_options o = tr_plot_defaults();
    o.runs = options->runs.word;
    o.run_count = options->runs.count;
    o.x = options->x;
    o.panels = options->panels.word;
    o.panel_count = options->panels.count;
    o.track = options->track;
    o.tracks = options->tracks;
    o.title = options->title;
    o.model = options->model;
    o.log = options->log;
    o.say = warn, o.owner = (void *)(uintptr_t)options;
    if (options->output) o.output = options->output;
    if (!take_size(options->size, &o.width, &o.height) ||
        !cli_number("--from", options->from, &o.from) || !cli_number("--to", options->to, &o.to))
        return TR_USAGE;
    tr_error err = {0};
    if (tr_plot(&o, &err)) return cli_written(options, options->output), 0;
    err.line = 0; // the words name the file and the line
    return cli_complain(NULL, &err);
}
