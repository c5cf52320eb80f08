// SPDX-License-Identifier: Apache-2.0
// What models do: what derive says of them, their outputs at the start, and their runs as sheets.
#ifndef TR_TESTS_RUNS_H
#define TR_TESTS_RUNS_H

#include "base/sheet.h"
#include "folder.h"
#include "models.h"
#include "plan/flow.h"
#include "plans.h"

// ---- at the start --------------------------------------------------------------------------

static inline Flow *flow_of(tr_system *system)
{
    tr_error err = {0};
    Flow *flow = open_flow(system, &err);
    if (!flow) fail_msg("%s", err.text);
    return flow;
}

// Outputs of a reduced system at its start, `count` numbers one after the other
static inline void evaluate_start(tr_system *system, const char *outputs, double *values,
                                  size_t count)
{
    tr_error err = {0};
    double *inputs = calloc(tr_input_count(system), sizeof *inputs);
    initial_of(system, inputs, &err);
    tr_program *program = compile_reduced(system, outputs, NULL, &err);
    tr_workspace *work = tr_workspace_new(program, &err);
    if (err.status) fail_msg("%s", err.text);
    assert_int_equal(tr_program_sizes(program).outputs, count);
    tr_evaluate(program, work, inputs, values);
    tr_workspace_free(work);
    tr_program_free(program);
    free(inputs);
}

// ---- what derive says ----------------------------------------------------------------------

// The system is freed.
static inline char *facts_of(tr_system *system)
{
    tr_error err = {0};
    char *json = tr_derive_text(system, true, &err);
    if (!json) fail_msg("%s", err.text);
    tr_system_free(system);
    return json;
}

static inline const char *behind(const char *json, const char *key)
{
    char wanted[60];
    snprintf(wanted, sizeof wanted, "\n  \"%s\": ", key);
    const char *found = strstr(json, wanted);
    if (!found) fail_msg("there is no %s in %s", key, json);
    return found + strlen(wanted);
}

static inline void assert_fact(const char *json, const char *key, int value)
{
    const int found = atoi(behind(json, key));
    if (found != value) fail_msg("%s is %d, not %d", key, found, value);
}

// The names in a list, with spaces between them
static inline void assert_names(const char *json, const char *key, const char *names)
{
    char found[600] = "";
    size_t length = 0;
    bool quoted = false;
    for (const char *c = behind(json, key); *c != ']' && length < sizeof found - 2; c++) {
        if (*c == '"' && !quoted && length) found[length++] = ' ';
        if (*c == '"')
            quoted = !quoted;
        else if (quoted)
            found[length++] = *c;
    }
    found[length] = 0;
    assert_string_equal(found, names);
}

// ---- sheets --------------------------------------------------------------------------------

// A header and rows of as many numbers, each ended by a newline
static inline Sheet *read_sheet_as_it_is(const char *path)
{
    tr_error err = {0};
    char *text = read_text(path);
    const size_t length = strlen(text);
    assert_true(length > 0 && text[length - 1] == '\n');
    Sheet *sheet = tr_sheet_parse(text, length, &err);
    free(text);
    if (!sheet) fail_msg("%s: %s", path, err.text);
    return sheet;
}

// and all of them finite
static inline Sheet *read_sheet(const char *path)
{
    Sheet *sheet = read_sheet_as_it_is(path);
    for (size_t i = 0; i < sheet->rows * sheet->columns; i++)
        assert_true(isfinite(sheet->values[i]));
    return sheet;
}

static inline const double *column(const Sheet *sheet, const char *name)
{
    const double *values = tr_sheet_column(sheet, name);
    if (!values) fail_msg("there is no column %s", name);
    return values;
}

static inline double at(const Sheet *sheet, size_t row, const char *name)
{
    return column(sheet, name)[row];
}

static inline double last(const Sheet *sheet, const char *name)
{
    return at(sheet, sheet->rows - 1, name);
}

static inline double most(const Sheet *sheet, const char *name)
{
    double value = -(double)INFINITY;
    for (size_t i = 0; i < sheet->rows; i++) value = fmax(value, at(sheet, i, name));
    return value;
}

static inline double least(const Sheet *sheet, const char *name)
{
    double value = (double)INFINITY;
    for (size_t i = 0; i < sheet->rows; i++) value = fmin(value, at(sheet, i, name));
    return value;
}

static inline double largest(const Sheet *sheet, const char *name)
{
    return fmax(most(sheet, name), -least(sheet, name));
}

static inline void print_worst(const char *what, double value)
{
    print_message("%-32s %.1e\n", what, value);
}

// Rows at the same times
static inline double difference(const Sheet *a, const char *name, const Sheet *b, const char *other)
{
    double worst = 0;
    assert_true(a->rows == b->rows && a->rows > 1);
    for (size_t i = 0; i < a->rows; i++) {
        assert_close(at(a, i, "t"), at(b, i, "t"), 1e-14);
        worst = fmax(worst, fabs(at(a, i, name) - at(b, i, other)));
    }
    return worst;
}

// ---- runs ----------------------------------------------------------------------------------

static inline tr_simulate_options strictly(const tr_system *system)
{
    tr_simulate_options o = tr_simulate_defaults(system);
    o.rtol = 1e-12, o.atol = 1e-14;
    return o;
}

// A run that works; its files are run.csv and run.json until the next one. `s` may be NULL.
static inline Sheet *simulated(tr_system *system, tr_simulate_options o, tr_summary *s)
{
    tr_error err = {0};
    tr_summary own = {0};
    if (!s) s = &own;
    o.output = in_folder("run.csv");
    if (!tr_simulate(system, &o, s, &err)) fail_msg("%s", err.text);
    Sheet *sheet = read_sheet(o.output);
    assert_int_equal(sheet->rows, s->rows);
    return sheet;
}

// What it says about itself, as JSON
static inline char *certificate(void) { return read_text(in_folder("run.json")); }

// With strict tolerances; `end` 0: as the case has it. The system is freed.
static inline Sheet *run_with(tr_system *system, double end, double every, tr_summary *s)
{
    tr_simulate_options o = strictly(system);
    if (end > 0) o.end = end, o.every = every;
    Sheet *sheet = simulated(system, o, s);
    tr_system_free(system);
    return sheet;
}

// Of a model that is sound but for `wrong`, which is added to it: refused where that stands
static inline void assert_model_refused(const char *sound, const char *wrong, const char *words)
{
    tr_error err = {0};
    char text[2000];
    int lines = 1;
    for (const char *c = sound; *c; c++) lines += *c == '\n';
    assert_true((size_t)snprintf(text, sizeof text, "%s%s", sound, wrong) < sizeof text);
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    if (!err.status || !strstr(err.text, words) || err.line < lines)
        fail_msg("%s  says %d:%d: %s", wrong, err.line, err.column, err.text);
    tr_system_free(system);
    tr_model_free(model);
}

// A model that cannot be read, derived or run so, with these words
static inline void assert_run_refused(const char *text, bool filter, const char *words)
{
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.filter = filter;
    const bool done = tr_simulate(system, &o, NULL, &err);
    if (done || !strstr(err.text, words)) fail_msg("'%s' is not in: %s", words, err.text);
    tr_system_free(system);
    tr_model_free(model);
}

// One that accounts for its energy, and agrees with equations that are not reduced
static inline Sheet *run_to(tr_system *system, double end, double every)
{
    tr_summary s = {0};
    Sheet *sheet = run_with(system, end, every, &s);
    assert_below(s.energy_error, 1e-10);
    assert_below(s.kkt_error, 1e-10);
    assert_below(s.velocity_error, 1e-12);
    return sheet;
}

static inline Sheet *run_of(tr_system *system) { return run_to(system, 0, 0); }

// The stiffer, the nearer to the rigid one, `stiffness` times 1, 4, 16: the error of each column
// goes as its inverse, that is, it becomes between `low` and `high` times smaller.
static inline void check_tends(const Sheet *rigid, Sheet *(*run_with_stiffness)(double),
                               double stiffness, int steps, const char *const *names, double low,
                               double high)
{
    double before[8] = {0};
    for (int step = 0; step < steps; step++, stiffness *= 4) {
        Sheet *run = run_with_stiffness(stiffness);
        for (int k = 0; names[k]; k++) {
            const double off = difference(run, names[k], rigid, names[k]);
            print_message("stiffness %-6g %-8s off by %.3e\n", stiffness, names[k], off);
            if (step) assert_true(before[k] / off > low && before[k] / off < high);
            before[k] = off;
        }
        tr_sheet_free(run);
    }
}

#endif
