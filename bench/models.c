// SPDX-License-Identifier: Apache-2.0
// Every model of models/ in its first case: how long its equations are, which is exact, and the
// times that it takes to derive them, to evaluate them and to see a first number, which are not.
#include "bench/bench.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/system.h"
#include "plan/flow.h"
#include "program/compile.h"
#include "reduce/reduce.h"

// A model, derived and reduced, and its programs
typedef struct Subject {
    System *described, *system;
    tr_plan *plan;
    uint32_t free_count;    // accelerations of what is free
    tr_program *rates;      // these, parameters fixed; NULL when there are none
    tr_program *reactions;  // with reactions and motor torques as well
    tr_program *open_rates; // the same with parameters open
    tr_program *open_reactions;
} Subject;

static void insist(const char *path, const tr_error *err)
{
    if (!err->status) return;
    fprintf(stderr, "%s: %s\n", path, err->text);
    exit(1);
}

static void derive(const char *path, Subject *m)
{
    tr_error err = {0};
    tr_model *model = tr_model_read(path, &err);
    m->described = tr_derive(model, NULL, &err);
    m->plan = tr_plan_new(m->described, &err);
    Flow *flow = tr_flow_new(m->plan, NULL, &err);
    m->system = flow ? tr_flow_system(flow, &err) : NULL;
    insist(path, &err);
    tr_flow_free(flow);
    tr_model_free(model);
}

static void add_output(const System *s, const char *name, Exprs *list)
{
    const Output *output = tr_system_output(s, text_of(name));
    if (output) tr_exprs_add(list, output->values, (size_t)output->rows * output->columns);
}

// The first so many of a list, on a copy of the system: what was compiled before leaves no traces.
// With parameters fixed, or with those open that are neither 0 nor 1 nor -1. Nothing for nothing.
static tr_program *compile_alone(const System *system, const Exprs *list, size_t count, bool fixed,
                                 tr_error *err)
{
    System *s = count ? tr_system_copy(system, err) : NULL;
    if (!s) return NULL;
    Expr *values = calloc(count, sizeof *values);
    double *in = calloc(s->input_count + 1, sizeof *in);
    uint8_t *fold = calloc(s->input_count + 1, sizeof *fold);
    for (size_t i = 0; i < count; i++) values[i] = expr_at(s->graph, list->at[i].id);
    for (uint32_t i = 0; i < s->input_count; i++) in[i] = s->inputs[i].value;
    tr_fold_pattern(s, in, fold);
    tr_program *p = fixed ? tr_compile_values(s, values, count, true, err)
                          : tr_compile_open(s, values, count, fold, err);
    free(values);
    free(in);
    free(fold);
    tr_system_free(s);
    return p;
}

static Subject subject_of(const char *path)
{
    tr_error err = {0};
    Subject m = {0};
    derive(path, &m);
    System *s = m.system;
    uint32_t *free_ones = calloc(s->input_count + 1, sizeof *free_ones);
    m.free_count = tr_independent(s, free_ones);
    Exprs wanted = {0};
    for (uint32_t i = 0; i < m.free_count; i++) exprs_add(&wanted, s->inputs[free_ones[i]].rate);
    add_output(s, "lambda", &wanted);
    add_output(s, "tau", &wanted);
    m.rates = compile_alone(s, &wanted, m.free_count, true, &err);
    m.reactions = compile_alone(s, &wanted, wanted.count, true, &err);
    m.open_rates = compile_alone(s, &wanted, m.free_count, false, &err);
    m.open_reactions = compile_alone(s, &wanted, wanted.count, false, &err);
    insist(path, &err);
    tr_exprs_free(&wanted);
    free(free_ones);
    return m;
}

static void subject_free(Subject *m)
{
    tr_program_free(m->rates);
    tr_program_free(m->reactions);
    tr_program_free(m->open_rates);
    tr_program_free(m->open_reactions);
    tr_system_free(m->system);
    tr_plan_free(m->plan);
    tr_system_free(m->described);
}

// "models/bicycle.yaml" -> "bicycle"
static void name_of(const char *path, char name[64])
{
    const char *slash = strrchr(path, '/');
    snprintf(name, 64, "%s", slash ? slash + 1 : path);
    name[strcspn(name, ".")] = 0;
}

static glob_t all_models(void)
{
    glob_t found;
    if (glob("models/*.yaml", 0, NULL, &found)) {
        fprintf(stderr, "no models: run this where the folder models/ is\n");
        exit(1);
    }
    return found;
}

// ---- counts --------------------------------------------------------------------------------

// At most 3 % more than with fixed parameters, or 5
static bool is_nearly(size_t open, size_t fixed)
{
    return open <= fixed + 5 || 100 * open <= 103 * fixed;
}

static bool are_nearly(const tr_program *open, const tr_program *fixed)
{
    const tr_program_size a = tr_program_sizes(open), b = tr_program_sizes(fixed);
    return is_nearly(a.state_operations, b.operations) &&
           is_nearly(a.state_instructions, b.instructions);
}

static void print_row(const char *name, const Subject *m)
{
    const tr_program_size rates = tr_program_sizes(m->rates),
                          reactions = tr_program_sizes(m->reactions),
                          open_rates = tr_program_sizes(m->open_rates),
                          open_reactions = tr_program_sizes(m->open_reactions);
    printf("%-22s %7u %10zu %10zu %12zu %12zu %10zu %10zu %12zu %12zu\n", name, m->free_count,
           rates.operations, reactions.operations, rates.instructions, reactions.instructions,
           open_rates.state_operations, open_reactions.state_operations,
           open_rates.state_instructions, open_reactions.state_instructions);
}

bool bench_model_counts(void)
{
    printf(
        "# Operations from the state to the accelerations of what is free, the same with\n"
        "# reactions and motor torques, and the instructions of both, first case: with parameters "
        "fixed,\n# then those for each state with parameters open.\n"
        "%-22s %7s %10s %10s %12s %12s %10s %10s %12s %12s\n",
        "model", "freedom", "operations", "+reactions", "instructions", "+reactions", "open",
        "+reactions", "instructions", "+reactions");
    glob_t models = all_models();
    bool good = true;
    for (size_t i = 0; i < models.gl_pathc; i++) {
        char name[64];
        name_of(models.gl_pathv[i], name);
        Subject m = subject_of(models.gl_pathv[i]);
        print_row(name, &m);
        if (!are_nearly(m.open_rates, m.rates) || !are_nearly(m.open_reactions, m.reactions)) {
            fprintf(stderr, "%s: open parameters cost more than 3 %% for each state\n", name);
            good = false;
        }
        subject_free(&m);
    }
    globfree(&models);
    return good;
}

// ---- times ---------------------------------------------------------------------------------

// Seconds of one evaluation at the initial state, the best of a few rounds
static double evaluation_seconds(const Subject *m, const tr_program *program, const char *path)
{
    tr_error err = {0};
    tr_workspace *work = tr_workspace_new(program, &err);
    const tr_program_size size = tr_program_sizes(program);
    double *in = calloc(m->system->input_count + 1, sizeof *in),
           *out = calloc(size.outputs + 1, sizeof *out), best = (double)INFINITY;
    tr_initial(m->plan, in, m->system->input_count, &err);
    insist(path, &err);
    const int repeats = (int)(1000000 / (size.operations + 20)) + 1;
    for (int round = 0; round < 8; round++) {
        const double start = bench_now();
        for (int i = 0; i < repeats; i++) tr_evaluate(program, work, in, out);
        best = fmin(best, (bench_now() - start) / repeats);
    }
    tr_workspace_free(work);
    free(in);
    free(out);
    return best;
}

// From the file to the first number: what `trundle eval` does
static double first_number_seconds(const char *path)
{
    tr_error err = {0};
    const double start = bench_now();
    tr_model *model = tr_model_read(path, &err);
    System *s = tr_derive(model, NULL, &err);
    char *text = tr_eval_text(s, true, &err);
    const double took = bench_now() - start;
    insist(path, &err);
    tr_text_free(text);
    tr_system_free(s);
    tr_model_free(model);
    return took;
}

static double derivation_seconds(const char *path)
{
    const double start = bench_now();
    Subject m = {0};
    derive(path, &m);
    const double took = bench_now() - start;
    subject_free(&m);
    return took;
}

void bench_model_times(void)
{
    printf("%-22s %10s %10s %8s %8s %10s %12s\n", "model", "operations", "+reactions", "us",
           "ns/op", "derive ms", "eval ms");
    glob_t models = all_models();
    for (size_t i = 0; i < models.gl_pathc; i++) {
        const char *path = models.gl_pathv[i];
        char name[64];
        name_of(path, name);
        Subject m = subject_of(path);
        const size_t operations = tr_program_sizes(m.rates).operations;
        double derived = (double)INFINITY, first = (double)INFINITY;
        for (int round = 0; round < 3; round++) {
            derived = fmin(derived, derivation_seconds(path));
            first = fmin(first, first_number_seconds(path));
        }
        printf("%-22s %10zu %10zu ", name, operations, tr_program_sizes(m.reactions).operations);
        if (operations) {
            const double seconds = evaluation_seconds(&m, m.rates, path);
            printf("%8.3f %8.2f ", 1e6 * seconds, 1e9 * seconds / (double)operations);
        } else
            printf("%8s %8s ", "-", "-");
        printf("%10.2f %12.2f\n", 1e3 * derived, 1e3 * first);
        fflush(stdout);
        subject_free(&m);
    }
    globfree(&models);
}

// ---- equations for people ------------------------------------------------------------------

// Of one model, all that can be shown; 0 where there are none
static double equations_seconds(const char *path)
{
    tr_error err = {0};
    tr_derive_options how = tr_derive_defaults();
    tr_equations_options o = tr_equations_defaults();
    how.name_gravity = 1;
    o.show = "M,c,Q,G,H,J,reduced,lambda,tau,energy";
    tr_model *model = tr_model_read(path, &err);
    tr_system *system = tr_derive(model, &how, &err);
    const double start = bench_now();
    char *text = tr_equations_text(system, &o, &err);
    const double seconds = text ? bench_now() - start : 0;
    tr_text_free(text);
    tr_system_free(system);
    tr_model_free(model);
    return seconds;
}

void bench_equations(bool each)
{
    double sum = 0, most = 0;
    char name[64], longest[64] = "";
    glob_t models = all_models();
    for (size_t i = 0; i < models.gl_pathc; i++) {
        const double seconds = equations_seconds(models.gl_pathv[i]);
        name_of(models.gl_pathv[i], name);
        if (each) printf("equations %-22s %8.3f s\n", name, seconds);
        if (seconds > most) most = seconds, snprintf(longest, sizeof longest, "%s", name);
        sum += seconds;
        fflush(stdout);
    }
    printf("equations of all models: %.1f s, most %.2f s (%s)\n", sum, most, longest);
    globfree(&models);
}
