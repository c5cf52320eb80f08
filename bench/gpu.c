// SPDX-License-Identifier: Apache-2.0
// Steps of batches on the GPUs of this computer beside those of its CPU, by the clock: numbers go
// to the GPU once and come back once.
#include "bench/bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { STEPS = 1000, CPU_RUNS = 1024 };
#define STEP 1e-3

static double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Steps a second; 0, with words, where it is not done where it was to be
static double rate(tr_plan *plan, const char *method, const char *on, size_t runs)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(plan);
    o.method = method, o.step = STEP, o.on = on;
    tr_batch *batch = tr_batch_new(plan, runs, &o, &err);
    tr_batch_advance(batch, 10 * STEP, &err); // the kernel is there then
    const double began = clock_now();
    tr_batch_advance(batch, (10 + STEPS) * STEP, &err);
    const double time = clock_now() - began;
    const char *where = batch ? tr_batch_on(batch) : "";
    const bool is_there = !err.status && (!on || strncmp(where, "the CPU", 7) != 0);
    if (!is_there) printf("  (%s%s)", err.text, err.status ? "" : where);
    tr_batch_free(batch);
    return is_there ? (double)runs * STEPS / time : 0;
}

static void bench_one(const char *name, const char *method)
{
    char path[200];
    tr_error err = {0};
    snprintf(path, sizeof path, "models/%s.yaml", name);
    tr_model *model = tr_model_read(path, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    if (err.status)
        printf("%-14s %s\n", name, err.text);
    else {
        printf("%-14s %9.3g", name, rate(plan, method, NULL, CPU_RUNS));
        static const size_t runs[] = {4096, 65536, 1048576};
        for (int i = 0; i < 3; i++) printf(" %10.3g", rate(plan, method, "gpu", runs[i]));
        printf("\n");
    }
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
}

void bench_gpu(void)
{
    tr_error err = {0};
    tr_model *model = tr_model_read("models/chain.yaml", &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.on = "gpu";
    tr_batch *batch = tr_batch_new(plan, 1, &o, &err);
    const bool is_there = batch && strncmp(tr_batch_on(batch), "the CPU", 7) != 0;
    if (is_there)
        printf(
            "on %s; steps a second: one core of the CPU, then 4096, 65536 and 1048576 runs there\n",
            tr_batch_on(batch));
    else
        printf("there is nothing to measure here: batches are on %s\n",
               batch ? tr_batch_on(batch) : err.text);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
    if (!is_there) return;
    bench_one("chain", "rk4");
    bench_one("snakeboard", "rk4");
    bench_one("bicycle", "rk4");
    bench_one("rolling_disc", "lie");
    bench_one("sk8o", "rk4");
    bench_one("sk8o_open", "rk4");
}
