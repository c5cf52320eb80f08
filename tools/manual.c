// SPDX-License-Identifier: Apache-2.0
// Prints the man page of trundle, or of one of its verbs, from cli/verb.def and cli/option.def.
//   manual VERSION [VERB]
#include "commands.h"

#include <stdio.h>
#include <string.h>

// ---- roff ----------------------------------------------------------------------------------

// Characters that stand for themselves nowhere but in text
static void print_character(char c)
{
    static const char *const rows[] = {"\\\\e", "-\\-", "'\\(aq", "^\\(ha", "~\\(ti"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i][0] == c) {
            printf("%s", rows[i] + 1);
            return;
        }
    putchar(c);
}

// `this` is bold
static void print_text(const char *text)
{
    bool bold = false;
    for (; *text; text++) {
        if (*text == '`')
            printf("%s", (bold = !bold) ? "\\fB" : "\\fR");
        else
            print_character(*text);
    }
}

static void print_heading(const char *name) { printf(".SH %s\n", name); }

// ---- parts of a page -----------------------------------------------------------------------

static void print_title(const char *page, const char *version, const char *doc)
{
    printf(".\\\" Written by tools/manual.c; do not edit.\n"
           ".TH %s 1 \"\" \"trundle %s\" \"User Commands\"\n",
           page, version);
    print_heading("NAME");
    print_text(page);
    printf(" \\- ");
    print_text(doc);
    printf("\n");
}

static void print_option(int option)
{
    printf(".TP\n\\fB");
    print_text(options[option].name);
    printf("\\fR");
    if (options[option].argument[0]) printf(" \\fI");
    print_text(options[option].argument);
    if (options[option].argument[0]) printf("\\fR");
    printf("\n");
    print_text(options[option].doc);
    if (options[option].otherwise[0]) {
        printf("; ");
        print_text(options[option].otherwise);
        printf(" when not given");
    }
    printf(".\n");
}

// Those of a verb; 0: those that most of them share
static void print_options(int verb)
{
    print_heading("OPTIONS");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (verb ? options[i].of & verb : cli_is_shared(options[i].of)) print_option(i);
}

static void print_exit_codes(void)
{
    print_heading("EXIT STATUS");
    for (int i = 0; i < EXIT_CODES; i++) {
        printf(".TP\n%d\n", exit_codes[i].code);
        print_text(exit_codes[i].meaning);
        printf("\n");
    }
}

// Lines of examples begin with two blanks.
static void print_examples(const char *text)
{
    print_heading("EXAMPLES");
    printf(".nf\n");
    for (; *text; text++) {
        print_character(*text);
        if (*text == '\n' && text[1]) printf(".sp\n");
    }
    printf(".fi\n");
}

// ---- pages ---------------------------------------------------------------------------------

static void print_verb(int verb, const char *version)
{
    char page[60];
    snprintf(page, sizeof page, "trundle-%s", verbs[verb].name);
    print_title(page, version, verbs[verb].doc);
    print_heading("SYNOPSIS");
    printf("\\fBtrundle %s\\fR ", verbs[verb].name);
    print_text(verbs[verb].given);
    printf(" [\\fIoptions\\fR]\n");
    print_options(verbs[verb].self);
    print_examples(verbs[verb].examples);
    print_exit_codes();
    print_heading("SEE ALSO");
    printf(".BR trundle (1)\n");
}

static void print_all(const char *version)
{
    print_title("trundle", version,
                "equations of motion of things that roll, slide, fold and flex");
    print_heading("SYNOPSIS");
    printf("\\fBtrundle\\fR \\fIVERB FILE\\fR [\\fIoptions\\fR]\n");
    print_heading("DESCRIPTION");
    printf("Derives and simulates mobile multibody systems that are described in a model file.\n"
           "Data goes to standard output, messages to standard error.\n");
    for (int i = 0; i < VERB_COUNT; i++) {
        printf(".TP\n.BR trundle\\-%s (1)\n", verbs[i].name);
        print_text(verbs[i].doc);
        printf("\n");
    }
    print_options(0);
    print_exit_codes();
    print_heading("SEE ALSO");
    printf("The model file, format.md, and the command line, commands.md, in the documentation of "
           "trundle.\n");
}

int main(int argc, char **argv)
{
    int verb = 0;
    while (argc == 3 && verb < VERB_COUNT && strcmp(verbs[verb].name, argv[2]) != 0) verb++;
    if (argc < 2 || argc > 3 || verb == VERB_COUNT)
        return fprintf(stderr, "usage: manual VERSION [VERB]\n"), 2;
    if (argc == 3)
        print_verb(verb, argv[1]);
    else
        print_all(argv[1]);
    return ferror(stdout) || fflush(stdout) != 0;
}
