// SPDX-License-Identifier: Apache-2.0
// Whether runs on a GPU are those of the CPU: 4,096 that begin differently, 1,000 steps of rk4, all
// that a row has, to the bit.
#include "bench/bench.h"
#include "expr/system.h"
#include "sim/batch.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 4096, STEPS = 1000 };
#define STEP 1e-3

// Starts, and parameters, by up to 1 %; the same for both batches
static void begin(tr_batch *batch, size_t k, const tr_system *system, Settings *room)
{
    tr_error err = {0};
    Settings set = {room->input, room->value, 0};
    for (size_t i = 0; i < tr_input_count(system) && k; i++) {
        const tr_kind kind = tr_input_kind(system, i);
        if (kind != TR_START && (kind != TR_PARAMETER || i % 16 != k % 16)) continue;
        const double part = (double)((k * 7919 + i * 104729) % 100003) / 100003;
        ((uint32_t *)set.input)[set.count] = (uint32_t)i;
        ((double *)set.value)[set.count++] = tr_input_value(system, i) * (1 + 0.02 * (part - 0.5));
    }
    tr_batch_begin(batch, k, set, &err);
}

static tr_batch *go(tr_plan *plan, const tr_system *system, const char *on, tr_error *err)
{
    const size_t inputs = tr_input_count(system);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = STEP, o.on = on;
    tr_batch *batch = tr_batch_new(plan, RUNS, &o, err);
    Settings room = {calloc(inputs + 1, sizeof(uint32_t)), calloc(inputs + 1, sizeof(double)), 0};
    for (size_t k = 0; batch && k < RUNS; k++) begin(batch, k, system, &room);
    tr_batch_advance(batch, STEPS * STEP, err);
    free((void *)room.input);
    free((void *)room.value);
    return batch;
}

typedef struct Compared {
    size_t numbers, others, failed;
} Compared;

static Compared compare(tr_batch *a, tr_batch *b, size_t columns)
{
    Compared c = {0};
    double *row = calloc(columns + 1, sizeof *row);
    for (size_t k = 0; k < RUNS; k++) {
        tr_error one = {0}, other = {0};
        tr_batch_status(a, k, &one);
        tr_batch_status(b, k, &other);
        c.others += strcmp(one.text, other.text) != 0;
        c.failed += one.status != 0;
        const double *x = tr_batch_row(a, k), *y = NULL;
        if (x) memcpy(row, x, columns * sizeof *row);
        y = tr_batch_row(b, k);
        c.others += (x != NULL) != (y != NULL);
        for (size_t i = 0; x && y && i < columns; i++, c.numbers++)
            c.others += memcmp(&row[i], &y[i], sizeof *y) != 0;
    }
    free(row);
    return c;
}

static bool check(const char *path)
{
    tr_error err = {0};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    tr_model *model = tr_model_read(path, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_batch *there = err.status ? NULL : go(plan, system, "gpu", &err);
    tr_batch *here = err.status ? NULL : go(plan, system, NULL, &err);
    bool good = true;
    if (here && there && !err.status) {
        const Compared c = compare(there, here, tr_plan_column_count(plan));
        const BatchCounts counts = tr_batch_counts(there);
        good = c.others == 0;
        printf("%-28s %zu of %zu numbers are others, %zu runs failed; on %.60s: %zu steps there, "
               "%zu in lanes, %zu alone\n",
               name, c.others, c.numbers, c.failed, tr_batch_on(there), counts.on_gpu,
               counts.in_lanes, counts.alone);
    } else
        printf("%-28s %.150s\n", name, err.text);
    fflush(stdout);
    tr_batch_free(there);
    tr_batch_free(here);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
    return good;
}

bool bench_bits(char *const *paths, int count)
{
    bool good = true;
    for (int i = 0; i < count; i++) good = check(paths[i]) && good;
    return good;
}
