// SPDX-License-Identifier: Apache-2.0
// Prints what completes the command line in a shell, from cli/verb.def and cli/option.def.
//   completion bash|zsh|fish
#include "commands.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char title[] =
    "# Completion of trundle; written by tools/completion.c, do not edit.\n";

// ---- what an argument may be ---------------------------------------------------------------

typedef enum Completed { BY_NOTHING, BY_WORDS, BY_FILES, BY_FOLDERS } Completed;

// "native, interpreter" are words, "x.csv, x.mat" and FILE are files, NAME is anything.
static Completed completed(int option)
{
    const char *argument = options[option].argument;
    if (strcmp(argument, "DIR") == 0) return BY_FOLDERS;
    if (strcmp(argument, "FILE") == 0 || strcmp(argument, "MODEL") == 0) return BY_FILES;
    if (strchr(argument, '.') && !strstr(argument, "...")) return BY_FILES;
    bool is_words = argument[0] && strchr(argument, ',');
    for (const char *c = argument; *c; c++)
        is_words = is_words && (islower((unsigned char)*c) || isdigit((unsigned char)*c) ||
                                *c == ',' || *c == ' ');
    return is_words ? BY_WORDS : BY_NOTHING;
}

// Without the commas between them
static void print_words(const char *list)
{
    for (; *list; list++)
        if (*list != ',') putchar(*list);
}

// The same option may have a row for all verbs and one of its own.
static bool is_first(int option, int verb)
{
    for (int i = 0; i < option; i++)
        if (options[i].of & verb && strcmp(options[i].name, options[option].name) == 0)
            return false;
    return (options[option].of & verb) != 0;
}

// The first part of a sentence, with a backslash in front of some characters
static void print_short(const char *text, const char *escaped)
{
    for (; *text && *text != ';' && strncmp(text, ". ", 2) != 0; text++) {
        if (*text == '\'' && strchr(escaped, '\''))
            printf("'\\'"); // in the shell's quotes
        else if (strchr(escaped, *text))
            putchar('\\');
        putchar(*text);
    }
}

// ---- bash ----------------------------------------------------------------------------------

static void print_bash_options(int verb)
{
    printf("    %s) options=\"", verbs[verb].name);
    const char *between = "";
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!is_first(i, verbs[verb].self)) continue;
        printf("%s%s", between, options[i].name);
        between = " ";
    }
    printf("\" files=%s ;;\n", verbs[verb].self & OF_RUNS    ? "csv"
                               : verbs[verb].self & OF_CASES ? "yaml"
                                                             : "");
}

// One name asks for the same whatever the verb.
static void print_bash_argument(int option)
{
    const Completed by = completed(option);
    if (!is_first(option, OF_ALL) || options[option].kind == FLAG || options[option].kind == TRACK)
        return;
    printf("    %s) ", options[option].name);
    if (by == BY_FILES || by == BY_FOLDERS)
        printf("_trundle_from %s; ", by == BY_FILES ? "-f" : "-d");
    if (by == BY_WORDS) {
        printf("_trundle_from -W \"");
        print_words(options[option].argument);
        printf("\"; ");
    }
    printf("return ;;\n");
}

static void print_bash(void)
{
    printf("%s"
           "_trundle_from() { mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$word\"); }\n"
           "_trundle()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local options= files=\n"
           "    [ \"$word\" = = ] && word=\n"
           "    [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        _trundle_from -W \"",
           title);
    for (int i = 0; i < VERB_COUNT; i++) printf("%s ", verbs[i].name);
    printf("--help --version\"\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; i < VERB_COUNT; i++) print_bash_options(i);
    printf("    *) return ;;\n    esac\n    case $before in\n");
    for (int i = 0; i < OPTION_COUNT; i++) print_bash_argument(i);
    printf(
        "    esac\n"
        "    if [[ $word == -* ]]; then\n"
        "        _trundle_from -W \"$options\"\n"
        "    elif [ -n \"$files\" ]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -f -X \"!*.$files\" -- \"$word\"; compgen -d -- "
        "\"$word\")\n"
        "    fi\n"
        "}\n"
        "complete -o filenames -F _trundle trundle\n");
}

// ---- zsh -----------------------------------------------------------------------------------

static void print_zsh_option(int option)
{
    const bool repeats = options[option].kind == SETTING || options[option].kind == LIST;
    printf(" \\\n        '%s%s[", repeats ? "*" : "", options[option].name);
    print_short(options[option].doc, "[]'");
    printf("]");
    if (options[option].kind == FLAG) {
        printf("'");
        return;
    }
    printf("%s:", options[option].kind == TRACK ? ":" : "");
    switch (completed(option)) {
    case BY_WORDS:
        printf("one of:(");
        print_words(options[option].argument);
        printf(")'");
        break;
    case BY_FILES: printf("file:_files'"); break;
    case BY_FOLDERS: printf("folder:_files -/'"); break;
    default:
        print_short(options[option].argument, ":[]'");
        printf(": '");
        break;
    }
}

static void print_zsh_verb(int verb)
{
    printf("    %s)\n        _arguments", verbs[verb].name);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (is_first(i, verbs[verb].self)) print_zsh_option(i);
    if (verbs[verb].self & OF_RUNS)
        printf(" \\\n        '*:run:_files -g \"*.csv\"'");
    else if (verbs[verb].self & OF_CASES)
        printf(" \\\n        '*:model:_files -g \"*.(yaml|yml)\"'");
    printf("\n        ;;\n");
}

static void print_zsh(void)
{
    printf("#compdef trundle\n%s"
           "_trundle() {\n"
           "    local -a verbs=(\n",
           title);
    for (int i = 0; i < VERB_COUNT; i++) {
        printf("        '%s:", verbs[i].name);
        print_short(verbs[i].doc, ":'");
        printf("'\n");
    }
    printf("    )\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe verb verbs\n"
           "        return\n"
           "    fi\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $words[1] in\n");
    for (int i = 0; i < VERB_COUNT; i++) print_zsh_verb(i);
    printf("    esac\n}\n_trundle \"$@\"\n");
}

// ---- fish ----------------------------------------------------------------------------------

static void print_fish_text(const char *text)
{
    printf(" -d '");
    for (; *text && *text != ';' && strncmp(text, ". ", 2) != 0; text++)
        printf(strchr("'\\", *text) ? "\\%c" : "%c", *text);
    printf("'\n");
}

static void print_fish_option(int verb, int option)
{
    const char *name = options[option].name;
    const bool is_long = strncmp(name, "--", 2) == 0;
    if (!is_first(option, verbs[verb].self)) return;
    printf("complete -c trundle -n '__fish_seen_subcommand_from %s' -%c %s", verbs[verb].name,
           is_long ? 'l' : 's', name + (is_long ? 2 : 1));
    const Completed by = completed(option);
    if (by == BY_WORDS) {
        printf(" -x -a '");
        print_words(options[option].argument);
        printf("'");
    } else if (by == BY_FILES) {
        printf(" -r -F");
    } else if (by == BY_FOLDERS) {
        printf(" -x -a '(__fish_complete_directories)'");
    } else if (options[option].kind != FLAG && options[option].kind != TRACK) {
        printf(" -x");
    }
    print_fish_text(options[option].doc);
}

static void print_fish(void)
{
    printf("%scomplete -c trundle -f\n", title);
    for (int i = 0; i < VERB_COUNT; i++) {
        printf("complete -c trundle -n __fish_use_subcommand -a %s", verbs[i].name);
        print_fish_text(verbs[i].doc);
    }
    for (int i = 0; i < VERB_COUNT; i++) {
        for (int k = 0; k < OPTION_COUNT; k++) print_fish_option(i, k);
        if (verbs[i].self & OF_CASES || verbs[i].self & OF_RUNS)
            printf("complete -c trundle -n '__fish_seen_subcommand_from %s' -k -a "
                   "'(__fish_complete_suffix .%s)'\n",
                   verbs[i].name, verbs[i].self & OF_RUNS ? "csv" : "yaml");
    }
}

int main(int argc, char **argv)
{
    const char *shell = argc == 2 ? argv[1] : "";
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else if (strcmp(shell, "fish") == 0)
        print_fish();
    else
        return fprintf(stderr, "usage: completion bash|zsh|fish\n"), 2;
    return ferror(stdout) || fflush(stdout) != 0;
}
