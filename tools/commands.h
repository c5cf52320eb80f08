// SPDX-License-Identifier: Apache-2.0
// The rows of cli/verb.def and cli/option.def as tables, for what is generated from them.
#ifndef TR_TOOLS_COMMANDS_H
#define TR_TOOLS_COMMANDS_H

#include "cli/cli.h"

typedef enum OptionKind { TEXT, FLAG, SETTING, LIST, TRACK } OptionKind;

static const struct {
    const char *name, *given, *doc, *examples;
    int self;
} verbs[] = {
#define VERB(id, name, given, doc, examples, run, text) {name, given, doc, examples, OF_##id},
#include "cli/verb.def"
};

static const struct {
    const char *name, *argument, *otherwise, *doc;
    int of;
    OptionKind kind;
} options[] = {
#define OPTION(name, argument, kind, place, of, otherwise, doc) \
    {name, argument, otherwise, doc, of, kind},
#include "cli/option.def"
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

static const struct {
    int code;
    const char *meaning;
} exit_codes[] = {
    {0, "done"},
    {1, "the run failed, or all runs of a sweep did, or memory ran out"},
    {2, "the command line is wrong"},
    {3, "the model is wrong"},
    {4, "a file could not be read or written"},
    {130, "interrupted"},
};
enum { EXIT_CODES = sizeof exit_codes / sizeof *exit_codes };

#endif
