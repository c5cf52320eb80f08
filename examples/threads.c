// SPDX-License-Identifier: Apache-2.0
// One program, many threads: the accelerations of a model at a million random states, by eight
// threads and by one, bit for bit the same.    threads MODEL [STATES]
//
// A program never changes once it is compiled, so threads share it; what an evaluation writes on
// is the workspace, and each thread has its own.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trundle/trundle.h>

enum { THREADS = 8, MOST = 100000000 };

typedef struct Work {
    const tr_program *program;
    const double *start, *spread; // inputs are between start - spread and start + spread
    size_t inputs, outputs;
    size_t first, count; // states to evaluate
    double *out;         // of all states
    bool good;
} Work;

// The same number for an input of a state whoever asks, between -1 and 1
static double noise(size_t state, size_t input)
{
    uint64_t x = state * 0x9E3779B97F4A7C15u + input * 0xD1B54A32D192ED03u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (double)(x >> 11) * 0x1p-52 - 1;
}

static void *evaluate(void *owner)
{
    Work *w = owner;
    tr_error err = {0};
    tr_workspace *workspace = tr_workspace_new(w->program, &err);
    double *in = malloc(w->inputs * sizeof *in);
    for (size_t i = w->first; workspace && in && i < w->first + w->count; i++) {
        for (size_t k = 0; k < w->inputs; k++) in[k] = w->start[k] + w->spread[k] * noise(i, k);
        tr_evaluate(w->program, workspace, in, w->out + i * w->outputs);
    }
    w->good = workspace && in;
    free(in);
    tr_workspace_free(workspace);
    return NULL;
}

// All states, each thread its part of them
static bool run(Work whole, size_t threads)
{
    Work parts[THREADS];
    pthread_t ids[THREADS];
    bool good = true;
    const size_t states = whole.count;
    size_t started = 0;
    for (; started < threads; started++) {
        Work *w = &parts[started];
        *w = whole;
        w->first = states * started / threads;
        w->count = states * (started + 1) / threads - w->first;
        if (pthread_create(&ids[started], NULL, evaluate, w)) break;
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
        good = good && parts[i].good;
    }
    return good && started == threads;
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// True when one thread and eight agree.
static bool compare(Work work)
{
    const size_t size = work.count * work.outputs;
    double *one = malloc(2 * size * sizeof *one);
    if (!one) return false;
    double *eight = one + size;
    const double begin = now();
    work.out = one;
    bool good = run(work, 1);
    const double middle = now();
    work.out = eight;
    good = run(work, THREADS) && good;
    const double end = now();
    for (size_t i = 0; i < size; i++) good = good && isfinite(one[i]);
    good = good && memcmp(one, eight, size * sizeof *one) == 0;
    printf("%zu states, %zu operations each: 1 thread %.3f s, %d threads %.3f s, %s\n", work.count,
           tr_program_sizes(work.program).operations, middle - begin, THREADS, end - middle,
           good ? "bit for bit the same" : "DIFFERENT OR NOT FINITE");
    free(one);
    return good;
}

// Positions and velocities differ from state to state.
static bool try_threads(const tr_system *system, tr_plan *plan, const tr_program *program,
                        size_t states, tr_error *err)
{
    const tr_program_size size = tr_program_sizes(program);
    double *start = calloc(2 * size.inputs, sizeof *start), *spread = start + size.inputs;
    bool good = start && tr_initial(plan, start, size.inputs, err);
    for (size_t k = 0; good && k < size.inputs; k++) {
        const tr_kind kind = tr_input_kind(system, k);
        spread[k] = kind == TR_POSITION || kind == TR_VELOCITY ? 0.1 : 0;
    }
    good = good && compare((Work){.program = program,
                                  .start = start,
                                  .spread = spread,
                                  .inputs = size.inputs,
                                  .outputs = size.outputs,
                                  .count = states});
    free(start);
    return good;
}

int main(int count, char **arguments)
{
    double states = 1000000;
    if (count < 2 || count > 3 || (count == 3 && !tr_read_number(arguments[2], &states)) ||
        !(states >= 1 && states <= MOST)) {
        fprintf(stderr, "usage: threads MODEL [STATES]\n");
        return TR_USAGE;
    }
    tr_error err = {0};
    tr_compile_options fixed = tr_compile_defaults();
    fixed.fix_parameters = true;
    tr_model *model = tr_model_read(arguments[1], &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_program *program = tr_compile_in(plan, "vdot", &fixed, &err);
    const bool good = program && try_threads(system, plan, program, (size_t)states, &err);
    if (err.status) fprintf(stderr, "%s:%d:%d: %s\n", arguments[1], err.line, err.column, err.text);
    tr_program_free(program);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
    return good ? 0 : err.status ? (int)err.status : 1;
}
