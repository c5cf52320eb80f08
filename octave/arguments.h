// SPDX-License-Identifier: Apache-2.0
// What calls from Octave and Matlab are given: names and values, read into C. What is wrong is
// refused here, before anything of the library is made: mexErrMsgIdAndTxt does not come back, and
// would leak it. Memory is mxMalloc's, which the interpreter takes back after the call.
#ifndef TRUNDLE_ARGUMENTS_H
#define TRUNDLE_ARGUMENTS_H

#include <mex.h>
#include <trundle/trundle.h>

#ifdef __GNUC__
#define TRUNDLE_PRINTF __attribute__((format(printf, 1, 2), noreturn))
#define TRUNDLE_SEEN   __attribute__((visibility("default")))
#else
#define TRUNDLE_PRINTF
#define TRUNDLE_SEEN
#endif

typedef struct Words {
    const char **word;
    size_t count;
} Words;

typedef struct Pairs {
    tr_setting *pair;
    size_t count;
} Pairs;

// All options that any verb knows, one row each:  OPTION(name, kind, its default)
//   TEXT a text, or a cell of texts that are joined by commas; NUMBER; FLAG; WORDS one text or a
//   cell of them, or a struct of NAME=VALUE; NAMES the same, also with commas; PAIRS a struct, or a
//   cell {name, value, ...}, of numbers or formulas; MATRIX numbers
#define TRUNDLE_OPTIONS(OPTION)                        \
    OPTION(case_name, "case", TEXT)                    \
    OPTION(set, "set", PAIRS)                          \
    OPTION(with, "with", WORDS)                        \
    OPTION(controls, "controls", NAMES)                \
    OPTION(allow_files, "allow_files", WORDS)          \
    OPTION(evaluate, "evaluate", TEXT)                 \
    OPTION(order, "order", NUMBER)                     \
    OPTION(outputs, "outputs", PAIRS)                  \
    OPTION(end, "end", NUMBER)                         \
    OPTION(every, "every", NUMBER)                     \
    OPTION(method, "method", TEXT)                     \
    OPTION(step, "step", NUMBER)                       \
    OPTION(rtol, "rtol", NUMBER)                       \
    OPTION(atol, "atol", NUMBER)                       \
    OPTION(most_steps, "most_steps", NUMBER)           \
    OPTION(dense, "dense", FLAG)                       \
    OPTION(no_project, "no_project", FLAG)             \
    OPTION(filter, "filter", FLAG)                     \
    OPTION(no_deviations, "no_deviations", FLAG)       \
    OPTION(sensitivity, "sensitivity", TEXT)           \
    OPTION(output, "output", TEXT)                     \
    OPTION(reduce, "reduce", FLAG)                     \
    OPTION(trim, "trim", FLAG)                         \
    OPTION(free, "free", TEXT)                         \
    OPTION(hold, "hold", WORDS)                        \
    OPTION(by, "by", TEXT)                             \
    OPTION(gap, "gap", TEXT)                           \
    OPTION(weight, "weight", WORDS)                    \
    OPTION(at, "at", MATRIX)                           \
    OPTION(inputs, "inputs", NAMES)                    \
    OPTION(q, "q", TEXT)                               \
    OPTION(r, "r", TEXT)                               \
    OPTION(data, "data", WORDS)                        \
    OPTION(match, "match", WORDS)                      \
    OPTION(columns, "columns", TEXT)                   \
    OPTION(sd, "sd", WORDS)                            \
    OPTION(prior, "prior", WORDS)                      \
    OPTION(time, "time", TEXT)                         \
    OPTION(from, "from", NUMBER)                       \
    OPTION(to_time, "to", NUMBER)                      \
    OPTION(most_iterations, "most_iterations", NUMBER) \
    OPTION(show, "show", TEXT)                         \
    OPTION(language, "language", TEXT)                 \
    OPTION(style, "style", TEXT)                       \
    OPTION(explain, "explain", FLAG)                   \
    OPTION(json, "json", FLAG)                         \
    OPTION(name, "name", TEXT)                         \
    OPTION(fix, "fix", TEXT)                           \
    OPTION(title, "title", TEXT)

typedef const char *TEXT;
typedef double NUMBER; // NaN where it is not given
typedef bool FLAG;
typedef Words WORDS, NAMES;
typedef Pairs PAIRS;
typedef const mxArray *MATRIX;

typedef struct Options {
#define MEMBER(name, word, kind) kind name;
    TRUNDLE_OPTIONS(MEMBER)
#undef MEMBER
} Options;

// Ends the call with an error that has this text.
void give_up(const char *format, ...) TRUNDLE_PRINTF;
// A text in memory of the interpreter
char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));
// A text; `what` says in errors what it is.
const char *take_text(const mxArray *array, const char *what);
double take_number(const mxArray *array, const char *what);
// A name as a field of a struct: as columns are called in .mat files.
void as_field(const char *name, char *field, size_t size);
// Reads name, value, name, value; `known` are the names that may come, with blanks between.
Options take_options(const mxArray *const *array, int count, const char *known);
Pairs take_pairs(const mxArray *array, const char *what);

#endif
