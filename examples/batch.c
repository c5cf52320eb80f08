// SPDX-License-Identifier: Apache-2.0
// Riders from 40 to 120 kg on the same bicycle, hands off: how many still roll upright in the end.
//    batch [MODEL [COUNT]]
//
// Runs of a batch go side by side, several in each instruction of the processor. Each has its own
// parameters, inputs and start, and gives the numbers that it would by itself.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trundle/trundle.h>

static const double end = 5, fallen = 1; // [s], [rad]

static size_t column_of(const tr_plan *plan, const char *name)
{
    size_t i = 0;
    while (i < tr_plan_column_count(plan) && strcmp(tr_plan_column_name(plan, i), name) != 0) i++;
    return i;
}

static size_t count_upright(tr_batch *batch, size_t count, size_t roll)
{
    size_t upright = 0;
    for (size_t i = 0; i < count; i++) {
        const double *row = tr_batch_row(batch, i); // NULL of one that could not go on
        upright += row && fabs(row[roll]) < fallen;
    }
    return upright;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "models/bicycle.yaml";
    const size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    tr_error err = {0};
    tr_model *model = tr_model_read(path, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options options = tr_run_defaults(plan);
    options.method = "rk4", options.step = 1e-3;
    tr_batch *batch = tr_batch_new(plan, count, &options, &err);
    for (size_t i = 0; i < count && !err.status; i++) {
        tr_batch_set(batch, i, "m0", 40 + 80 * (double)i / (double)count, &err);
        tr_batch_reset(batch, i, &err);
    }
    if (tr_batch_advance(batch, end, &err))
        printf("%zu of %zu are upright after %g s\n",
               count_upright(batch, count, column_of(plan, "roll")), count, end);
    if (err.status) fprintf(stderr, "%s\n", err.text);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
    return err.status != TR_OK;
}
