// SPDX-License-Identifier: Apache-2.0
// The command line: what every verb shares. It includes nothing but the public header, which proves
// that the header is enough.
#ifndef TR_CLI_CLI_H
#define TR_CLI_CLI_H

#include <trundle/trundle.h>

enum { MAX_SETTINGS = 256, MAX_RUNS = 16, MAX_PANELS = 64, MAX_HOLDS = 64, EXIT_INTERRUPTED = 130 };

// What a verb is about, and so which options it takes.
enum {
    ABOUT_CASES = 1, // of a model
    ABOUT_MODELS = 2,
    ABOUT_SIMULATION = 4,
    ABOUT_REPORTS = 8,
    ABOUT_PICTURES = 16,
    ABOUT_LINEAR = 32,
    ABOUT_STEADY = 128,
    ABOUT_FEEDBACK = 64,
    ABOUT_ALL = ~0
};

typedef struct Options {
    const char *model; // the path
    const char *case_name;
    tr_setting settings[MAX_SETTINGS];
    size_t setting_count;
    const char *const *controls; // of lqr
    size_t control_count;
    const char *output; // -o
    const char *report; // --report
    const char *page;
    bool json, quiet, verbose, help, dense, no_project;
    const char *end, *every, *method, *step, *rtol, *atol; // as given; NULL when not
    const char *runs[MAX_RUNS];                            // of view and plot
    size_t run_count;
    const char *panels[MAX_PANELS]; // -y
    size_t panel_count;
    const char *x, *title, *size, *from, *to;
    const char *tracks; // what follows --track
    bool track, log;
    const char *sweep, *picture; // --sweep; --plot of linearise
    bool reduce;
    const char *free; // of steady
    const char *holds[MAX_HOLDS];
    size_t hold_count;
    const char *inputs, *q, *r; // of lqr
    const char *sensitivity;
} Options;

typedef struct Verb Verb;
struct Verb {
    const char *name, *usage, *doc, *examples;
    int about;
    int (*run)(const Verb *verb, const Options *options);       // gives the exit code
    char *(*text)(tr_system *system, bool json, tr_error *err); // of verbs that only print
};

int cli_report(const Verb *verb, const Options *options);
int cli_simulate(const Verb *verb, const Options *options);
int cli_linearise(const Verb *verb, const Options *options);
int cli_lqr(const Verb *verb, const Options *options);
int cli_plot(const Verb *verb, const Options *options);
int cli_steady(const Verb *verb, const Options *options);
int cli_view(const Verb *verb, const Options *options);

// The model of the options, derived; NULL after printing what is wrong, and then `status` is set.
tr_system *cli_system(const Options *options, int *status);
// Prints an error with the line of the file it is about; returns the exit code.
int cli_complain(const char *path, const tr_error *err);
// A number given on the command line in place of `value`; false after saying that it is none.
bool cli_number(const char *name, const char *text, double *value);
// Whether writing `out` would destroy `in`; then it says so.
bool cli_destroys(const char *out, const char *in);
// Prints a text to -o or standard output and frees it; returns the exit code.
int cli_print(const Options *options, char *text, const tr_error *err);
// Writes a report and says so; returns the exit code.
int cli_write_report(const Options *options, tr_system *system, const tr_view_options *how);

#endif
