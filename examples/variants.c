// SPDX-License-Identifier: Apache-2.0
// One plan, many variants: a model with a thousand values of a parameter, from 0.8 to 1.2 times its
// own, in two threads; and how far apart that brings them in a second.
//    variants [MODEL [PARAMETER [COUNT [COLUMN]]]]
//
// Deriving and compiling is done once, and threads share the plan that keeps it. Each has a run of
// its own, which takes the next value and starts anew.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trundle/trundle.h>

enum { THREADS = 2, MOST = 10000000 };
static const double end = 1, spread = 0.2; // [s]; beside 1

typedef struct Work {
    tr_plan *plan;
    const char *parameter;
    double value;        // that the model has
    size_t column;       // of the row at the end
    size_t first, count; // of the variants: every so many from the first on, and all
    double *results;     // of all of them
    tr_error err;
} Work;

static void *run_variants(void *owner)
{
    Work *w = owner;
    tr_run *run = tr_run_new(w->plan, NULL, &w->err);
    for (size_t i = w->first; i < w->count && !w->err.status; i += THREADS) {
        const double along = w->count > 1 ? 2 * (double)i / (double)(w->count - 1) - 1 : 0;
        tr_run_set(run, w->parameter, w->value * (1 + spread * along), &w->err);
        tr_run_reset(run, &w->err);
        if (tr_run_advance(run, end, &w->err)) w->results[i] = tr_run_row(run)[w->column];
    }
    tr_run_free(run);
    return NULL;
}

// All of them; the first error of any.
static void run_all(const Work *all, tr_error *err)
{
    Work work[THREADS];
    pthread_t threads[THREADS];
    bool started[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        work[i] = *all;
        work[i].first = i;
        started[i] = pthread_create(&threads[i], NULL, run_variants, &work[i]) == 0;
        if (!started[i]) run_variants(&work[i]); // then here
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (started[i]) pthread_join(threads[i], NULL);
        if (!err->status) *err = work[i].err;
    }
}

static void tell(const Work *work, const char *column, const char *unit)
{
    double least = (double)INFINITY, most = -(double)INFINITY, sum = 0;
    for (size_t i = 0; i < work->count; i++) {
        least = fmin(least, work->results[i]);
        most = fmax(most, work->results[i]);
        sum += work->results[i];
    }
    printf("%zu variants of %s from %g to %g: %s at t = %g s from %g to %g%s%s, %g on average\n",
           work->count, work->parameter, work->value * (1 - spread), work->value * (1 + spread),
           column, end, least, most, *unit ? " " : "", unit, sum / (double)work->count);
}

static void refuse(const char *what, const char *name, tr_error *err)
{
    if (err->status) return;
    err->status = TR_USAGE;
    snprintf(err->text, sizeof err->text, "there is no %s '%s'", what, name);
}

static void try_variants(const tr_system *system, tr_plan *plan, const char *parameter,
                         const char *column, size_t count, tr_error *err)
{
    Work work = {.plan = plan, .parameter = parameter, .count = count};
    size_t input = 0;
    while (input < tr_input_count(system) && strcmp(tr_input_name(system, input), parameter) != 0)
        input++;
    if (input == tr_input_count(system)) refuse("parameter", parameter, err);
    work.value = tr_input_value(system, input);
    while (work.column < tr_plan_column_count(plan) &&
           strcmp(tr_plan_column_name(plan, work.column), column) != 0)
        work.column++;
    if (work.column == tr_plan_column_count(plan)) refuse("column", column, err);
    work.results = calloc(count, sizeof *work.results);
    if (!work.results) err->status = TR_NO_MEMORY;
    if (!err->status) run_all(&work, err);
    if (!err->status) tell(&work, column, tr_plan_column_unit(plan, work.column));
    free(work.results);
}

int main(int count, char **arguments)
{
    const char *path = count > 1 ? arguments[1] : "models/bicycle.yaml";
    const char *parameter = count > 2 ? arguments[2] : "m0";
    const char *column = count > 4 ? arguments[4] : "roll";
    double variants = 1000;
    if (count > 5 || (count > 3 && !tr_read_number(arguments[3], &variants)) ||
        !(variants >= 1 && variants <= MOST)) {
        fprintf(stderr, "usage: variants [MODEL [PARAMETER [COUNT [COLUMN]]]]\n");
        return TR_USAGE;
    }
    tr_error err = {0};
    tr_model *model = tr_model_read(path, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    if (!err.status) try_variants(system, plan, parameter, column, (size_t)variants, &err);
    if (err.status) fprintf(stderr, "%s:%d:%d: %s\n", path, err.line, err.column, err.text);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
    return (int)err.status;
}
