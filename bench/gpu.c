// SPDX-License-Identifier: Apache-2.0
// Steps of batches on a GPU: kernels alone, on states that are there already, beside lanes of the
// CPU on one core and on all; what part that is of the fp64 instructions that the GPU can issue;
// and batches from end to end, with the way there and back.
#include "bench/bench.h"
#include "expr/system.h"
#include "gpu/driver.h"
#include "ptx.h"
#include "sim/batch.h"
#include "sim/on_gpu.h"
#include "sim/run.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 500, WARM = 20, CPU_RUNS = 512, CPU_STEPS = 400, DISTINCT = 1024, ROUNDS = 3 };
enum { MOST_CORES = 256 };
#define STEP 1e-3

static double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static tr_run_options options_of(tr_plan *plan, const char *method, const char *on)
{
    tr_run_options o = tr_run_defaults(plan);
    o.method = method, o.step = STEP, o.on = on;
    return o;
}

// ---- starts that differ --------------------------------------------------------------------

// By up to 1 % in all that a start says
static void begin_distinct(tr_batch *batch, size_t count, const tr_system *system)
{
    const size_t inputs = tr_input_count(system);
    uint32_t *input = calloc(inputs + 1, sizeof *input);
    double *value = calloc(inputs + 1, sizeof *value);
    for (size_t k = 0; k < count; k++) {
        Settings set = {input, value, 0};
        tr_error err = {0};
        for (size_t i = 0; i < inputs; i++) {
            if (tr_input_kind(system, i) != TR_START) continue;
            const double part = (double)((k * 7919 + i * 104729) % 1009) / 1009;
            input[set.count] = (uint32_t)i;
            value[set.count++] = tr_input_value(system, i) * (1 + 0.02 * (part - 0.5));
        }
        if (!tr_batch_begin(batch, k, set, &err)) {
            set.count = 0, err = (tr_error){0};
            tr_batch_begin(batch, k, set, &err);
        }
    }
    free(input);
    free(value);
}

// ---- the CPU -------------------------------------------------------------------------------

typedef struct Core {
    tr_plan *plan;
    const tr_system *system;
    const char *method;
    tr_batch *batch;
    pthread_barrier_t *ready;
} Core;

static void *go_on_core(void *owner)
{
    Core *c = owner;
    tr_error err = {0};
    const tr_run_options o = options_of(c->plan, c->method, NULL);
    c->batch = tr_batch_new(c->plan, CPU_RUNS, &o, &err);
    begin_distinct(c->batch, CPU_RUNS, c->system);
    tr_batch_advance(c->batch, WARM * STEP, &err);
    pthread_barrier_wait(c->ready);
    tr_batch_advance(c->batch, (WARM + CPU_STEPS) * STEP, &err);
    pthread_barrier_wait(c->ready);
    tr_batch_free(c->batch);
    return NULL;
}

// Steps a second on so many cores
static double rate_here(tr_plan *plan, const tr_system *system, const char *method, size_t cores)
{
    pthread_t threads[MOST_CORES];
    Core core[MOST_CORES];
    pthread_barrier_t ready;
    pthread_barrier_init(&ready, NULL, (unsigned)cores + 1);
    for (size_t i = 0; i < cores; i++) {
        core[i] = (Core){.plan = plan, .system = system, .method = method, .ready = &ready};
        if (pthread_create(&threads[i], NULL, go_on_core, &core[i])) abort();
    }
    pthread_barrier_wait(&ready);
    const double began = clock_now();
    pthread_barrier_wait(&ready);
    const double time = clock_now() - began;
    for (size_t i = 0; i < cores; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&ready);
    return (double)(cores * CPU_RUNS * CPU_STEPS) / time;
}

// ---- kernels -------------------------------------------------------------------------------

// Instructions on numbers that a step of one run takes, as an interpreter counts them
static double issues_of(tr_plan *plan, const char *method)
{
    tr_error err = {0};
    Buffer text = {0};
    uint32_t shared = 0;
    double issues = (double)NAN;
    const tr_run_options o = options_of(plan, method, NULL);
    Run *run = tr_run_new(plan, &o, &err);
    tr_run_advance(run, 3 * STEP, &err);
    Lanes *l = err.status ? NULL : tr_lanes_new(run, &err);
    double *record = l ? calloc(2 * gpu_record(l), sizeof *record) : NULL;
    if (record) tr_lanes_take(l, run, record);
    const GpuTerms terms = {.inputs = record ? record + l->at.inputs : NULL};
    if (record && tr_gpu_kernel(l, terms, &text, &shared, &err)) {
        double *column = record + l->at.count;
        PtxModule *m = ptx_read(text.at);
        tr_gpu_enter(l, record, 1e300, column, 1, 0);
        const uint64_t base = (uint64_t)(uintptr_t)column;
        m->parameters[0].u = base, m->parameters[1].u = base + 8ull * l->at.y;
        m->parameters[2].u = base + 8ull * l->at.inputs;
        m->parameters[3].u = m->parameters[4].u = 1, m->parameters[5].u = STEPS;
        m->parameters[6].d = STEP;
        ptx_launch(m, 1, 1);
        issues = (double)m->issues / column[l->at.count + GPU_MADE];
        ptx_free(m);
    }
    free(record);
    tr_buffer_free(&text);
    tr_lanes_free(l);
    tr_run_free(run);
    return issues;
}

// States of runs that differ, again and again
static uint64_t put_states(const GpuDriver *d, tr_plan *plan, const tr_system *system,
                           const char *method, size_t runs, size_t size, tr_error *err)
{
    const tr_run_options o = options_of(plan, method, NULL);
    uint64_t at = 0;
    double *some = calloc(size * DISTINCT, sizeof *some);
    double *all = calloc(size * runs, sizeof *all);
    tr_batch *batch = tr_batch_new(plan, DISTINCT, &o, err);
    if (!some || !all || !batch) abort();
    begin_distinct(batch, DISTINCT, system);
    if (tr_gpu_states(batch) != size) {
        printf("  (all starts are the same)");
        tr_batch_free(batch);
        batch = tr_batch_new(plan, DISTINCT, &o, err);
    }
    tr_gpu_state(batch, some);
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k < runs; k++) all[i * runs + k] = some[i * DISTINCT + k % DISTINCT];
    tr_batch_free(batch);
    if (tr_gpu_good(d, d->allocate(&at, size * runs * sizeof *all), "give memory", err))
        tr_gpu_good(d, d->to_device(at, all, size * runs * sizeof *all), "take states", err);
    free(some);
    free(all);
    return at;
}

// Steps a second of kernels alone; 0, with words, where there are none.
static double rate_there(tr_plan *plan, const tr_system *system, const char *method, size_t runs)
{
    tr_error err = {0};
    const tr_run_options o = options_of(plan, method, "gpu");
    const GpuDriver *d = tr_gpu_driver(&err);
    tr_batch *batch = tr_batch_new(plan, runs, &o, &err);
    const size_t size = batch ? tr_gpu_states(batch) : 0;
    double best = 0;
    if (size && tr_gpu_step(batch, batch, NULL, 0, &err)) { // makes it ready
        const uint64_t at = put_states(d, plan, system, method, runs, size, &err);
        void *state = (void *)(uintptr_t)at;
        tr_gpu_step(batch, state, NULL, WARM, &err);
        for (int i = 0; i < ROUNDS && !err.status; i++) {
            const double began = clock_now();
            tr_gpu_step(batch, state, NULL, STEPS, &err);
            const double rate = (double)runs * STEPS / (clock_now() - began);
            best = rate > best ? rate : best;
        }
        const double *fates = tr_gpu_fates(batch);
        size_t others = 0;
        for (size_t k = 0; fates && k < runs; k++) others += fates[k] != 0;
        if (others) printf("  (%zu of %zu runs stopped)", others, runs);
        d->release(at);
    }
    if (err.status) printf("  (%s)", err.text);
    tr_batch_free(batch);
    return err.status ? 0 : best;
}

// With the way there and back
static double rate_of_batch(tr_plan *plan, const char *method, size_t runs)
{
    tr_error err = {0};
    const tr_run_options o = options_of(plan, method, "gpu");
    tr_batch *batch = tr_batch_new(plan, runs, &o, &err);
    tr_batch_advance(batch, WARM * STEP, &err); // the kernel is there then
    const double began = clock_now();
    tr_batch_advance(batch, (WARM + 1000) * STEP, &err);
    const double time = clock_now() - began;
    if (err.status) printf("  (%s)", err.text);
    tr_batch_free(batch);
    return err.status ? 0 : (double)runs * 1000 / time;
}

// ---- the GPU's limit -----------------------------------------------------------------------

// As many products and sums as it can issue, with the parameters of a kernel of steps
static const char limit[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry tr_limit(\n\t.param .u64 a,\n\t.param .u64 b,\n\t.param .u64 c,\n"
    "\t.param .u64 stride,\n\t.param .u32 threads,\n\t.param .u32 steps,\n"
    "\t.param .f64 step)\n{\n"
    "\t.reg .f64 %d<20>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %l<4>;\n\t.reg .pred %p<2>;\n"
    "\tld.param.u64 %l1, [a];\n\tld.param.u32 %r1, [steps];\n\tld.param.f64 %d17, [step];\n"
    "\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n"
    "\tmad.lo.u32 %r5, %r2, %r3, %r4;\n\tmul.wide.u32 %l2, %r5, 8;\n\tadd.u64 %l1, %l1, %l2;\n"
    "\tld.global.f64 %d18, [%l1];\n";

// Fused products and sums a second
static double measure_limit(const GpuMachine *machine, tr_error *err)
{
    enum { THREADS = 132 * 8 * 128, CHAINS = 8, TIMES = 32, LOOPS = 4000 };
    Buffer text = {0};
    tr_buffer_add(&text, limit, sizeof limit - 1);
    for (int i = 0; i < CHAINS; i++)
        tr_buffer_print(&text, "\tadd.rn.f64 %%d%d, %%d18, %%d17;\n", i);
    tr_buffer_print(&text, "$L1:\n");
    for (int k = 0; k < TIMES; k++)
        for (int i = 0; i < CHAINS; i++)
            tr_buffer_print(&text, "\tfma.rn.f64 %%d%d, %%d%d, %%d17, %%d18;\n", i, i);
    tr_buffer_print(&text, "\tsub.u32 %%r1, %%r1, 1;\n\tsetp.ne.u32 %%p1, %%r1, 0;\n"
                           "\t@%%p1 bra $L1;\n");
    for (int i = 1; i < CHAINS; i++) tr_buffer_print(&text, "\tadd.rn.f64 %%d0, %%d0, %%d%d;\n", i);
    tr_buffer_print(&text, "\tst.global.f64 [%%l1], %%d0;\n\tret;\n}\n");
    double *block = calloc(2 * THREADS, sizeof *block), best = 0;
    GpuKernel *kernel = machine->load(machine->self, text.at, "tr_limit", 0, err);
    const GpuWork work = {.block = block, .numbers = 2, .count = THREADS, .fate = 1, .step = 0.5};
    for (int i = 0; kernel && i < 1 + ROUNDS && !err->status; i++) {
        const double began = clock_now();
        machine->step(machine->self, kernel, &work, 0, 0, LOOPS, err);
        const double rate = (double)THREADS * CHAINS * TIMES * LOOPS / (clock_now() - began);
        best = i && rate > best ? rate : best;
    }
    if (kernel) machine->unload(machine->self, kernel);
    tr_buffer_free(&text);
    free(block);
    return best;
}

// ---- the table -----------------------------------------------------------------------------

typedef struct Subject {
    const char *label, *file, *method; // the first case
} Subject;

static tr_model *model_of(const Subject *s, tr_error *err)
{
    char path[200];
    if (s->file) {
        snprintf(path, sizeof path, "models/%s.yaml", s->file);
        return tr_model_read(path, err);
    }
    Buffer text = {0};
    bench_write_chain(&text, 10);
    tr_model *model = tr_model_parse(text.at, err);
    tr_buffer_free(&text);
    return model;
}

static void bench_one(const Subject *s, size_t cores, double most)
{
    tr_error err = {0};
    tr_model *model = model_of(s, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    if (err.status)
        printf("%-14s %s\n", s->label, err.text);
    else {
        static const size_t runs[] = {4096, 65536, 1048576};
        double rate = 0;
        const double issues = issues_of(plan, s->method);
        const double one = rate_here(plan, system, s->method, 1);
        const double all = rate_here(plan, system, s->method, cores);
        printf("| %s | %.0f | %.3g | %.3g", s->label, issues, one, all);
        for (int i = 0; i < 3; i++) {
            rate = rate_there(plan, system, s->method, runs[i]);
            printf(" | %.3g", rate);
            fflush(stdout);
        }
        printf(" | %.0f %% | %.0f |", 100 * rate * issues / most, rate / all);
        printf(" %.3g |\n", rate_of_batch(plan, s->method, runs[1]));
        fflush(stdout);
    }
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
}

static bool is_wanted(const Subject *s, char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], s->label) == 0 || (s->file && strcmp(names[i], s->file) == 0))
            return true;
    return count == 0;
}

void bench_gpu(char *const *names, int count)
{
    static const Subject subjects[] = {{"chain of 10", NULL, "rk4"},
                                       {"planar chain of 5", "chain", "rk4"},
                                       {"snakeboard", "snakeboard", "rk4"},
                                       {"bicycle, free", "bicycle", "rk4"},
                                       {"rolling disc, on the group", "rolling_disc", "lie"},
                                       {"SK8O, open", "sk8o_open", "rk4"},
                                       {"SK8O, balancing", "sk8o", "rk4"}};
    tr_error err = {0};
    const GpuMachine *machine = tr_gpu_machine(&err);
    if (!machine) {
        printf("there is nothing to measure here: %s\n", err.text);
        return;
    }
    const long there = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t cores = there < 1 ? 1 : there > MOST_CORES ? MOST_CORES : (size_t)there;
    const double most = measure_limit(machine, &err);
    printf("On %s, %.3g fp64 instructions a second; %zu cores with %s. Steps a second.\n\n",
           machine->words, most, cores, tr_machine() == MACHINE_AVX512 ? "8 lanes" : "4 lanes");
    printf(
        "| model, method rk4 but for the group | fp64 instructions a step | one core | all cores "
        "| 4,096 runs | 65,536 | 1,048,576 | of the limit | times all cores | 65,536 end to end "
        "|\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (is_wanted(&subjects[i], names, count)) bench_one(&subjects[i], cores, most);
    if (err.status) printf("%s\n", err.text);
}
