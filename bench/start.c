// SPDX-License-Identifier: Apache-2.0
// What it costs to start the program: processor time, the kernel's included, the least of many
// starts, beside a program that does nothing.
#include "bench/bench.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STARTS = 200, MOST_WORDS = 4 };

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

// (double)NAN when it cannot be started, or fails
static double start_seconds(const char *const words[MOST_WORDS])
{
    posix_spawn_file_actions_t quietly;
    pid_t child;
    int status = 1;
    struct rusage used;
    posix_spawn_file_actions_init(&quietly);
    posix_spawn_file_actions_addopen(&quietly, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const bool is_started =
        posix_spawn(&child, words[0], &quietly, NULL, (char *const *)words, environ) == 0;
    posix_spawn_file_actions_destroy(&quietly);
    if (!is_started || wait4(child, &status, 0, &used) != child || status) return (double)NAN;
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

void bench_start(void)
{
    static const char *const commands[][MOST_WORDS] = {
        {"/bin/true"},
        {TR_TRUNDLE, "--version"},
        {TR_TRUNDLE, "eval", "models/bicycle.yaml"},
    };
    enum { COMMANDS = sizeof commands / sizeof *commands };
    double best[COMMANDS] = {(double)INFINITY, (double)INFINITY, (double)INFINITY};
    for (int i = 0; i < STARTS; i++)
        for (int k = 0; k < COMMANDS; k++) best[k] = fmin(best[k], start_seconds(commands[k]));
    for (int k = 0; k < COMMANDS; k++)
        if (!isfinite(best[k])) printf("start-up: %s could not be started\n", commands[k][0]);
    printf("start-up: /bin/true %.2f ms; trundle --version %.2f ms, %.1f times that (aim 3); "
           "trundle eval models/bicycle.yaml %.2f ms, %.1f times\n",
           1e3 * best[0], 1e3 * best[1], best[1] / best[0], 1e3 * best[2], best[2] / best[0]);
}
