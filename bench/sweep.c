// SPDX-License-Identifier: Apache-2.0
// 100,000 bicycles, of which four parameters vary and numbers alone are kept, on threads, in
// processes of MPI, by the lanes of this processor and of a lesser one; what memory that takes; and
// against one program after the other.
#include "bench/bench.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu/machine.h"
#include "program/kernel.h"

enum { RUNS = 100000, FEWER = 20000, FEW = 10000, PROGRAMS = 20, MOST_WORDS = 40 };
enum { ROUNDS = 4 }; // of what is compared, one after the other: the best counts

static const char *const vary[] = {"m0~uniform(70, 100)", "speed0~uniform(4.3, 5)",
                                   "h3~uniform(0.29, 0.31)", "roll_rate0~normal(0.3, 0.1)"};
static const char keep[] = "final(roll), max(abs(roll)), rms(steer)";

static double wall_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Of those that have ended [s]
static double children_now(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    const struct timeval u = used.ru_utime, s = used.ru_stime;
    return (double)(u.tv_sec + s.tv_sec) + 1e-6 * (double)(u.tv_usec + s.tv_usec);
}

typedef struct Took {
    double cpu, wall; // [s]
} Took;

// Runs of one sweep; what is left open is as there
static Took time_options(const tr_model *model, size_t runs, tr_sweep_options o,
                         tr_sweep_summary *summary, tr_error *err)
{
    tr_derive_options how = tr_derive_defaults();
    how.case_name = "free";
    o.vary = vary, o.vary_count = 4, o.samples = runs;
    o.method = "rk4", o.step = 5e-3, o.end = 5, o.every = 0.1;
    o.keep = keep;
    const Took began = {bench_now(), wall_now()};
    tr_sweep(model, &how, &o, summary, err);
    return (Took){bench_now() - began.cpu, wall_now() - began.wall};
}

static Took time_sweep(const tr_model *model, size_t runs, size_t jobs, tr_error *err)
{
    tr_sweep_options o = tr_sweep_defaults();
    o.jobs = jobs;
    return time_options(model, runs, o, NULL, err);
}

// Of one `trundle simulate`, its start and its end included
static Took time_program(const char *program)
{
    const char *words[MOST_WORDS] = {program,    "simulate", "models/bicycle.yaml",
                                     "--case",   "free",     "--set",
                                     "m0=80",    "--set",    "speed0=4.6",
                                     "--method", "rk4",      "--step",
                                     "5e-3",     "--end",    "5",
                                     "--every",  "0.1",      "-q",
                                     "-o",       "/dev/null"};
    const Took began = {children_now(), wall_now()};
    pid_t child;
    int status;
    for (int i = 0; i < PROGRAMS; i++)
        if (posix_spawn(&child, program, NULL, NULL, (char *const *)words, environ) ||
            waitpid(child, &status, 0) != child || status)
            return (Took){(double)NAN, (double)NAN};
    return (Took){(children_now() - began.cpu) / PROGRAMS, (wall_now() - began.wall) / PROGRAMS};
}

// [MB] that a process takes at most which makes so many runs and nothing else before
static double most_memory(size_t runs)
{
    int status;
    struct rusage used;
    const pid_t child = fork();
    if (child == 0) {
        tr_error err = {0};
        tr_model *model = tr_model_read("models/bicycle.yaml", &err);
        time_sweep(model, runs, 1, &err);
        _exit(err.status != TR_OK);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status) return (double)NAN;
    return (double)used.ru_maxrss / 1024;
}

// [s] of the same by `trundle sweep` with one thread, alone or in so many processes of MPI; NaN
// where there is no mpirun
static double time_processes(const char *program, const char *processes)
{
    const char *words[MOST_WORDS] = {
        "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", processes, program,
        "sweep",  "models/bicycle.yaml"};
    char samples[24];
    size_t n = 8;
    snprintf(samples, sizeof samples, "%d", FEWER);
    for (int i = 0; i < 4; i++) words[n++] = "--vary", words[n++] = vary[i];
    const char *const others[] = {"--case", "free",     "--keep",  keep,       "--samples",
                                  samples,  "--method", "rk4",     "--step",   "5e-3",
                                  "--end",  "5",        "--every", "0.1",      "--jobs",
                                  "1",      "-q",       "-o",      "/dev/null"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) words[n++] = others[i];
    const double began = wall_now();
    pid_t child;
    int status;
    const bool good = !posix_spawnp(&child, words[0], NULL, NULL, (char *const *)words, environ) &&
                      waitpid(child, &status, 0) == child && !status;
    return good ? wall_now() - began : (double)NAN;
}

// How many times as fast two threads are as one, and two processes as one, measured in turns; gives
// the seconds of a run by two threads.
static double print_scaling(const tr_model *model, const char *program, tr_error *err)
{
    double best[2] = {INFINITY, INFINITY}, processes[2] = {INFINITY, INFINITY};
    double cpu[2] = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < 2; k++) {
            const Took took = time_sweep(model, FEW, k + 1, err);
            best[k] = fmin(best[k], took.wall), cpu[k] += took.cpu;
            if (round % 2) continue;
            const double wall = time_processes(program, k ? "2" : "1");
            processes[k] = isnan(wall) ? wall : fmin(processes[k], wall);
        }
    printf("sweep: 2 threads %.2f times as fast as one (aim 1.8, on an idle machine), with %.2f "
           "times its processor time; ",
           best[0] / best[1], cpu[1] / cpu[0]);
    if (isnan(processes[0] + processes[1]))
        printf("MPI cannot be measured here\n");
    else
        printf("2 processes of MPI %.2f times as fast as one (aim 1.8)\n",
               processes[0] / processes[1]);
    return best[1] / FEW;
}

void bench_runs(const char *program)
{
    tr_error err = {0};
    const Machine own = tr_machine();
    fflush(stdout); // before there are two of us
    const double few = most_memory(FEW), many = most_memory(RUNS);
    tr_model *model = tr_model_read("models/bicycle.yaml", &err);
    const Took all = time_sweep(model, RUNS, 1, &err);
    tr_limit_machine(own < MACHINE_AVX2 ? own : MACHINE_AVX2); // as on a lesser processor
    const Took lesser = time_sweep(model, FEWER, 1, &err);
    tr_limit_machine(own);
    const Took one = time_program(program ? program : TR_TRUNDLE);
    printf(
        "sweep: %d of bicycle, 5 s by rk4 at 5 ms, four parameters varied: %.0f runs a second and "
        "core, starts included (aim %d), with 4 lanes %.0f (aim 1500); memory %.1f MB of %d runs "
        "and %.1f of all, %.2f times as much (aim 1.05)\n",
        RUNS, RUNS / all.cpu, own > MACHINE_AVX2 ? 2000 : 1500, FEWER / lesser.cpu, few, FEW, many,
        many / few);
    const double two = print_scaling(model, TR_TRUNDLE, &err);
    printf("sweep: one trundle simulate after the other %.2f ms each, %.0f times as long as a run "
           "by two threads (aim 130), and %.0f times the processor time\n",
           1e3 * one.wall, one.wall / two, one.cpu / (all.cpu / RUNS));
    if (err.status) printf("sweep: %s\n", err.text);
    tr_model_free(model);
}

// As many on GPUs, with all processors, into a database; against the CPU alone
void bench_runs_there(size_t runs)
{
    enum { STEPS_EACH = 1000, PART = 50 };
    static const char path[] = "trundle_bench.db";
    tr_error err = {0};
    tr_sweep_summary there = {0}, here = {0};
    if (!tr_gpu_machine(&err)) {
        printf("there is nothing to measure here: %s\n", err.text);
        return;
    }
    tr_model *model = tr_model_read("models/bicycle.yaml", &err);
    tr_sweep_options o = tr_sweep_defaults();
    const Took alone = time_options(model, runs / PART, o, &here, &err);
    o.on = "gpu", o.output = path;
    remove(path);
    const Took all = time_options(model, runs, o, &there, &err);
    struct stat file = {0};
    stat(path, &file);
    remove(path);
    const double rate = (double)there.done / all.wall;
    printf(
        "sweep: %zu of bicycle, 5 s by rk4 at 5 ms, four parameters varied, three numbers kept of "
        "51 rows, into a database of %.0f MB: %.1f s, %.0f runs and %.3g steps a second, %.4g %% "
        "of the steps on a GPU (%s); processor time %.1f s, %.1f us a run; %zu on the CPU alone: "
        "%.0f runs a second, %.3g times as fast there%s%s\n",
        there.done, (double)file.st_size / 1e6, all.wall, rate, rate * STEPS_EACH,
        100.0 * (double)there.steps_on_gpu / STEPS_EACH / (double)there.done, there.on, all.cpu,
        1e6 * all.cpu / (double)there.done, here.done, (double)here.done / alone.wall,
        rate / ((double)here.done / alone.wall), err.status ? ": " : "", err.text);
    tr_model_free(model);
}
