// SPDX-License-Identifier: Apache-2.0
// The command line: what every verb shares. It includes nothing but the public header, which proves
// that the header is enough.
#ifndef TR_CLI_CLI_H
#define TR_CLI_CLI_H

#include <trundle/trundle.h>

#include <stdio.h>

enum { MAX_SETTINGS = 256, MAX_WORDS = 64, EXIT_INTERRUPTED = 130 };

// Words that may be given several times
typedef struct Words {
    const char *word[MAX_WORDS];
    size_t count;
} Words;

// What stands behind the verb; option.def says which option goes where. NULL when it is not given.
typedef struct Options {
    const struct Verb *verb;
    const char *model; // the path
    Words runs;        // of view and plot; databases to merge
    const char *case_name;
    tr_setting settings[MAX_SETTINGS];
    size_t setting_count;
    Words with;                    // files with keys of a case
    const char *const *with_texts; // what stands in them; NULL, or NULL in it: they are read
    Words allowed;                 // folders
    const char *evaluate;
    const char *order;
    const char *output;
    bool json, quiet, verbose, help;
    // check
    bool expand;
    // of FMUs
    const char *kind;
    bool build, no_run;
    // equations
    const char *show, *most_operations, *budget;
    bool closed, staged, explain;
    // export
    const char *name, *fix, *outputs, *form, *fmi;
    bool opens, sources_only, single;
    // simulate
    const char *end, *every, *method, *step, *rtol, *atol, *sensitivity, *report, *page;
    const char *most_steps, *most_numbers;
    bool dense, no_project, filter, no_deviations;
    // sweep
    Words vary;
    const char *table, *samples, *seed, *keep, *record, *stop, *what, *jobs, *on, *shard;
    bool merge;
    // linearise and steady
    const char *sweep, *picture, *free;
    bool reduce, trim;
    Words holds;
    // settle
    const char *by, *gap, *path;
    Words weights;
    // fit
    Words data, matches, sds, priors;
    const char *time, *columns, *most_iterations, *prior_weight;
    const char *inertias; // bodies whose inertias are parameters
    bool inverse;
    // lqr
    const char *inputs, *q, *r;
    const char *const *controls; // the inputs, one by one
    size_t control_count;
    // plot
    Words panels;
    const char *x, *title, *size, *from, *to, *tracks;
    bool track, log;
} Options;

enum {
#define VERB(id, ...) NUMBER_##id,
#include "cli/verb.def"
    VERB_COUNT
};

// Sets of verbs
enum {
#define VERB(id, ...) OF_##id = 1 << NUMBER_##id,
#include "cli/verb.def"
    OF_ALL = (1 << VERB_COUNT) - 1,
    OF_RUNS = OF_VIEW | OF_PLOT,
    OF_CASES = OF_ALL & ~(OF_PLOT | OF_SCHEMA), // of a model
    OF_MODELS = OF_CASES & ~OF_RUNS
};

// Whether most verbs take an option, so that it is told once for all
static inline bool cli_is_shared(int of)
{
    int verbs = 0;
    for (int k = 0; k < VERB_COUNT; k++) verbs += of >> k & 1;
    return 2 * verbs > VERB_COUNT;
}

typedef struct Verb Verb;
struct Verb {
    const char *name, *usage, *doc, *examples;
    int self;                                                         // as a set
    int (*run)(const Verb *verb, const Options *options);             // gives the exit code
    char *(*text)(const tr_system *system, bool json, tr_error *err); // of verbs that only print
};

// The verb that a word is, or NULL after saying that it is none.
const Verb *cli_verb(const char *word);
// What stands behind the verb, checked: 0, or the exit code after saying what is wrong.
int cli_read_options(Options *options, const Verb *verb, int count, char **words);
void cli_print_help(FILE *to);
void cli_print_verb_help(const Verb *verb);

bool cli_is_fmu(const Options *options); // by the name of the model
int cli_fmu_check(const Options *options);
int cli_fmu_simulate(const Options *options);
int cli_report(const Verb *verb, const Options *options);
int cli_simulate(const Verb *verb, const Options *options);
int cli_fit_inverse(const Verb *verb, const Options *options);
int cli_fit(const Verb *verb, const Options *options);
int cli_linearise(const Verb *verb, const Options *options);
int cli_export(const Verb *verb, const Options *options);
int cli_equations(const Verb *verb, const Options *options);
int cli_lqr(const Verb *verb, const Options *options);
int cli_plot(const Verb *verb, const Options *options);
int cli_schema(const Verb *verb, const Options *options);
int cli_settle(const Verb *verb, const Options *options);
int cli_sweep(const Verb *verb, const Options *options);
int cli_steady(const Verb *verb, const Options *options);
int cli_view(const Verb *verb, const Options *options);

// What options say of steady motions
tr_steady_options cli_steady_options(const Options *options);
// With --trim: what the steady motion near the start is, as keys of a case, and the same options
// with these among them. NULL after saying what is wrong, and then `status` is set.
char *cli_trim(Options *options, int *status);
// Whether --free and --hold stand beside --trim; else it says so.
bool cli_check_trim(const Options *options);

// Words for a person, to standard error: all of them go this way.
__attribute__((format(printf, 1, 2))) void cli_say(const char *format, ...);
// What options say of deriving; false after saying what is wrong.
bool cli_derive_options(const Options *options, tr_derive_options *how);
// The model of the options, derived; NULL after printing what is wrong, and then `status` is set.
tr_system *cli_system(const Options *options, int *status);
// Prints an error with the line of the file it is about; returns the exit code.
int cli_complain(const char *path, const tr_error *err);
// The same of what tr_derive may have said of a model and of settings.
int cli_complain_of(const Options *options, const tr_error *err);
// A number given on the command line in place of `value`; false after saying that it is none.
bool cli_number(const char *name, const char *text, double *value);
// Likewise one that is whole and not negative.
bool cli_limit(const char *name, const char *text, size_t *value);
// Whether a path, which may be NULL, is one of files of this kind (".csv").
bool cli_ends_with(const char *path, const char *end);
// Whether a result would destroy a file that is read, or another result; then it says so.
bool cli_destroys(const Options *options);
bool cli_destroys_part(const Options *options, const tr_system *system); // of what it was made from
// Standard descriptors that were closed are opened, so that no file gets their numbers.
bool cli_open_descriptors(void);
// The exit code: another, after words, when standard output could not be written.
int cli_close_output(int status);

// Signals that end the process take its temporary files along.
void cli_handle_signals(void);
// From here on the first of those that ask for it only stops a run; the second ends the process.
void cli_let_signals_stop(void);
bool cli_is_stopped(void);
// What is said when the process crashes from here on
void cli_say_of_crashes(const char *words);
// Whether the names of all files that are to be written end as their verb writes them; else it says
// what is possible.
bool cli_check_endings(const Options *options);
// Says that a file was written, unless it is none or words are not wanted.
void cli_written(const Options *options, const char *path);
// Prints a text to -o or standard output and frees it; returns the exit code.
int cli_print(const Options *options, char *text, const tr_error *err);
// Equations for a page about a run of this system: short ones of its model, or words that say why
// there are none. To be freed with tr_text_free; NULL when memory runs out.
char *cli_page_equations(const Options *options, const tr_system *system);
// Writes a report and says so; returns the exit code.
void cli_print_report(const Options *options, const tr_view_options *how,
                      const tr_view_summary *summary);

#endif
