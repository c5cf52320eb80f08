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
#include "program/program.h"
#include "reduce/reduce.h"
#include "run/flow.h"

// A model, derived and reduced, and its programs with parameters fixed
typedef struct Subject {
    System *described, *system;
    tr_plan *plan;
    uint32_t free_count;   // accelerations of what is free
    tr_program *rates;     // these; NULL when there are none
    tr_program *reactions; // with reactions and motor torques as well
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

static void add_name(char *names, const char *name)
{
    if (names[0]) strcat(names, " ");
    strcat(names, name);
}

static Subject subject_of(const char *path)
{
    tr_error err = {0};
    Subject m = {0};
    derive(path, &m);
    System *s = m.system;
    Expr *rates = calloc(s->input_count + 1, sizeof *rates);
    uint32_t *free_ones = calloc(s->input_count + 1, sizeof *free_ones);
    m.free_count = tr_independent(s, free_ones);
    for (uint32_t i = 0; i < m.free_count; i++) rates[i] = s->inputs[free_ones[i]].rate;
    char names[60] = "";
    const tr_compile_options fixed = {.fix_parameters = true};
    if (m.free_count) {
        tr_system_put(s, "bench.rates", rates, m.free_count, 1, &err);
        add_name(names, "bench.rates");
        m.rates = tr_compile(s, names, &fixed, &err);
    }
    if (tr_system_output(s, text_of("lambda"))) add_name(names, "lambda");
    if (tr_system_output(s, text_of("tau"))) add_name(names, "tau");
    if (names[0]) m.reactions = tr_compile(s, names, &fixed, &err);
    insist(path, &err);
    free(rates);
    free(free_ones);
    return m;
}

static void subject_free(Subject *m)
{
    tr_program_free(m->rates);
    tr_program_free(m->reactions);
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

void bench_model_counts(void)
{
    printf("# Operations from the state to the accelerations of what is free, the same with\n"
           "# reactions and motor torques, and the instructions of both; parameters fixed, first "
           "case.\n"
           "%-22s %7s %10s %10s %12s %12s\n",
           "model", "freedom", "operations", "+reactions", "instructions", "+reactions");
    glob_t models = all_models();
    for (size_t i = 0; i < models.gl_pathc; i++) {
        char name[64];
        name_of(models.gl_pathv[i], name);
        Subject m = subject_of(models.gl_pathv[i]);
        const tr_program_size rates = tr_program_sizes(m.rates),
                              reactions = tr_program_sizes(m.reactions);
        printf("%-22s %7u %10zu %10zu %12zu %12zu\n", name, m.free_count, rates.operations,
               reactions.operations, rates.instructions, reactions.instructions);
        subject_free(&m);
    }
    globfree(&models);
}

// ---- times ---------------------------------------------------------------------------------

// Seconds of one evaluation at the initial state, the best of a few rounds
static double evaluation_seconds(const Subject *m, const tr_program *program, const char *path)
{
    tr_error err = {0};
    tr_workspace *work = tr_workspace_new(program, &err);
    const tr_program_size size = tr_program_sizes(program);
    double *in = calloc(m->system->input_count + 1, sizeof *in),
           *out = calloc(size.outputs + 1, sizeof *out), best = INFINITY;
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
        double derived = INFINITY, first = INFINITY;
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
