// SPDX-License-Identifier: Apache-2.0
// Whether runs on a GPU are those of the CPU: 4,096 that begin differently, 1,000 steps of rk4, all
// that a row has, to the bit; and how much of that a GPU did.
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

// By up to 1 %, and starts and inputs by up to 0.005 besides, as many are 0. Inputs always; starts
// and parameters by less, or not at all, where a run cannot begin so: loops do not close, a stop is
// near.
static double varied(const tr_system *system, size_t i, size_t k, double size)
{
    const tr_kind kind = tr_input_kind(system, i);
    const double part = (double)((k * 7919 + i * 104729) % 100003) / 100003 - 0.5;
    if (kind == TR_INPUT) size = 1;
    const double offset = kind == TR_PARAMETER ? 0 : 0.01 * size * part;
    return tr_input_value(system, i) * (1 + 0.02 * size * part) + offset;
}

// The same for both batches
static void begin(tr_batch *batch, size_t k, const tr_system *system, Settings *room)
{
    static const double sizes[] = {1, -1, 0.1, -0.1, 0.01, -0.01, 0};
    bool good = false;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes && !good; n++) {
        tr_error err = {0};
        Settings set = {room->input, room->value, 0};
        for (size_t i = 0; i < tr_input_count(system) && k; i++) {
            const tr_kind kind = tr_input_kind(system, i);
            if (kind != TR_START && kind != TR_INPUT && (kind != TR_PARAMETER || i % 16 != k % 16))
                continue;
            ((uint32_t *)set.input)[set.count] = (uint32_t)i;
            ((double *)set.value)[set.count++] = varied(system, i, k, sizes[n]);
        }
        good = tr_batch_begin(batch, k, set, &err);
    }
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Runs whose rows are those of no other, by a hash (FNV-1a)
static size_t count_distinct(tr_batch *batch, size_t columns)
{
    static uint64_t hashes[RUNS];
    size_t count = 0, distinct = 0;
    for (size_t k = 0; k < RUNS; k++) {
        const unsigned char *bytes = (const unsigned char *)tr_batch_row(batch, k);
        uint64_t hash = 0xcbf29ce484222325u;
        for (size_t i = 0; bytes && i < columns * sizeof(double); i++)
            hash = (hash ^ bytes[i]) * 0x100000001b3u;
        if (bytes) hashes[count++] = hash;
    }
    qsort(hashes, count, sizeof *hashes, by_size);
    for (size_t k = 0; k < count; k++) distinct += k == 0 || hashes[k] != hashes[k - 1];
    return distinct;
}

static tr_batch *go(tr_plan *plan, const tr_system *system, const char *on, size_t *distinct,
                    tr_error *err)
{
    const size_t inputs = tr_input_count(system);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = STEP, o.on = on;
    tr_batch *batch = tr_batch_new(plan, RUNS, &o, err);
    Settings room = {calloc(inputs + 1, sizeof(uint32_t)), calloc(inputs + 1, sizeof(double)), 0};
    for (size_t k = 0; batch && k < RUNS; k++) begin(batch, k, system, &room);
    tr_batch_advance(batch, STEP, err); // where what differs is seen
    *distinct = batch ? count_distinct(batch, tr_plan_column_count(plan)) : 0;
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

// Of all models
typedef struct Tally {
    size_t models, there, differ; // that ran, that made steps on a GPU, whose numbers differ
} Tally;

static void check(const char *path, Tally *tally)
{
    tr_error err = {0};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    tr_model *model = tr_model_read(path, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    size_t distinct = 0;
    tr_batch *there = err.status ? NULL : go(plan, system, "gpu", &distinct, &err);
    tr_batch *here = err.status ? NULL : go(plan, system, NULL, &distinct, &err);
    if (here && there && !err.status) {
        const Compared c = compare(there, here, tr_plan_column_count(plan));
        const BatchCounts counts = tr_batch_counts(there);
        tally->models++, tally->there += counts.on_gpu > 0, tally->differ += c.others > 0;
        printf("%-28s %zu of %zu numbers are others; %zu distinct runs, %zu runs failed; on "
               "%.60s: %zu of %d steps there, %zu in lanes, %zu alone\n",
               name, c.others, c.numbers, distinct, c.failed, tr_batch_on(there), counts.on_gpu,
               RUNS * STEPS, counts.in_lanes, counts.alone);
    } else
        printf("%-28s %.150s\n", name, err.text);
    fflush(stdout);
    tr_batch_free(there);
    tr_batch_free(here);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
}

// False when a number differs, and when no GPU has made a step: then nothing was compared.
bool bench_bits(char *const *paths, int count)
{
    Tally tally = {0};
    tr_error err = {0};
    if (!tr_gpu_machine(&err)) {
        printf("%s\n", err.text);
        return false;
    }
    for (int i = 0; i < count; i++) check(paths[i], &tally);
    printf("%d models: %zu run with rk4, %zu of them made steps on a GPU, numbers of %zu differ\n",
           count, tally.models, tally.there, tally.differ);
    return tally.there > 0 && tally.differ == 0;
}
