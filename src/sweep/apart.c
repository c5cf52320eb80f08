// SPDX-License-Identifier: Apache-2.0
// Runs for which the equations of the model as it stands do not hold: each by its own, as if its
// numbers were given to `derive`, in rows of the columns that all have.
#include "sweep/apart.h"

#include "base/error.h"
#include "num/dense.h"
#include "plan/start.h"
#include "sim/row_time.h"
#include "sim/run.h"
#include "sweep/variant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Apart {
    const Sweep *sweep;
    Run *run;
    double *row;      // of the columns that all runs have
    uint32_t *column; // of the run, for each of these; or NO_COLUMN
} Apart;

#define NO_COLUMN UINT32_MAX

bool tr_apart_is_needed(const Sweep *s, const double *values, Buffer *because, tr_error *err)
{
    tr_error own = {0};
    const uint32_t count = s->system->input_count;
    double *all = calloc(count + 1u, sizeof *all);
    bool *is_set = calloc(count + 1u, sizeof *is_set);
    if (!all || !is_set) tr_fail_memory(&own);
    if (!own.status) tr_start_values(s->system, all);
    for (uint32_t i = 0; i < s->design.count && !own.status; i++) {
        all[s->design.varied[i].input] = values[i];
        is_set[s->design.varied[i].input] = true;
    }
    const bool is_within =
        tr_plan_follow(s->plan, is_set, all, &own) && tr_plan_within(s->plan, all, &own);
    const bool is_needed = is_within && !tr_plan_permits(s->plan, all, &own);
    if (own.status == TR_NO_MEMORY) tr_fail_memory(err);
    if (is_needed) tr_plan_blame(s->plan, all, because, err);
    if (because->failed) tr_fail_memory(err);
    free(all);
    free(is_set);
    return is_needed && !has_failed(err);
}

static uint32_t find_column(Plan *plan, const char *name)
{
    const uint32_t count = (uint32_t)tr_plan_column_count(plan);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(tr_plan_column_name(plan, i), name) == 0) return i;
    return NO_COLUMN;
}

static bool make_room(Apart *a, Plan *plan, tr_error *err)
{
    const Sweep *s = a->sweep;
    a->row = calloc(s->row_count + 1u, sizeof *a->row);
    a->column = calloc(s->row_count + 1u, sizeof *a->column);
    if (!a->row || !a->column) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->row_count; i++)
        a->column[i] = find_column(plan, tr_plan_column_name(s->plan, i));
    return true;
}

// What it has no column for is no number.
static bool take_row(Apart *a, TakeApart *take, void *owner, tr_error *err)
{
    tr_run_take_row(a->run);
    if (!all_finite(a->run->row, a->run->columns) && !tr_run_check_row(a->run, err)) return false;
    for (uint32_t i = 0; i < a->sweep->row_count; i++)
        a->row[i] = a->column[i] == NO_COLUMN ? (double)NAN : a->run->row[a->column[i]];
    return take(owner, a->row, err);
}

static void go_through(Apart *a, TakeApart *take, void *owner, RunCounts *counts, tr_error *err)
{
    const Sweep *s = a->sweep;
    const uint32_t count = (uint32_t)tr_row_intervals(s->end, s->every);
    if (!tr_run_reset(a->run, err)) return;
    bool good = take_row(a, take, owner, err);
    for (uint32_t r = 1; good && r <= count; r++)
        good = tr_run_go(a->run, tr_row_time(s->end, s->every, r, count), err) &&
               take_row(a, take, owner, err);
    const Mover *m = a->run->mover;
    *counts = (RunCounts){m->steps, m->watch.changes, a->run->switches, m->watch.warnings.count};
}

// NULL with what is wrong, and what it is because of
static System *derive(const Sweep *s, const double *values, const Buffer *because, tr_error *err)
{
    tr_error own = {0};
    System *system = tr_variant_derive(s, values, &own);
    if (own.status == TR_NO_MEMORY)
        tr_fail_memory(err);
    else if (own.status)
        tr_fail(err, own.status, (Place){0}, "%.200s: %.280s", because->at ? because->at : "",
                own.text);
    return system;
}

void tr_apart_run(const Sweep *s, const double *values, const Buffer *because,
                  const tr_run_options *how, TakeApart *take, void *owner, RunCounts *counts,
                  tr_error *err)
{
    Apart a = {.sweep = s};
    System *system = derive(s, values, because, err);
    Plan *plan = system ? tr_plan_new(system, err) : NULL;
    if (plan) a.run = tr_run_open(plan, how, err);
    if (a.run && make_room(&a, plan, err)) {
        a.run->most_steps = s->options->most_steps;
        go_through(&a, take, owner, counts, err);
    }
    free(a.row);
    free(a.column);
    tr_run_free(a.run);
    tr_plan_free(plan);
    tr_system_free(system);
}
