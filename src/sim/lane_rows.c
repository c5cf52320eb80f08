// SPDX-License-Identifier: Apache-2.0
// What is recorded of runs that are records, several at once: the columns and residuals that a run
// gives (run.c, flow.c), by the same programs, so with the same bits.
#include "num/dense.h"
#include "program/evaluate.h"
#include "sim/group.h"
#include "sim/lanes.h"

#include <assert.h>
#include <math.h>

// The states of these records, and others like the last of them, into the rows of a workspace
static void put_records(const Lanes *l, const tr_workspace *w, const tr_program *p,
                        const double *const *records, uint32_t count)
{
    assert(p->input_count <= l->inputs);
    for (uint32_t i = 0; i < p->input_count; i++) {
        double *row = tr_block_input(w, i);
        for (uint32_t k = 0; k < l->lanes; k++)
            row[k] = records[k < count ? k : count - 1][l->at.inputs + i];
    }
    for (uint32_t i = 0; i < l->known; i++) {
        double *row = tr_block_input(w, l->programs->place[i]);
        for (uint32_t k = 0; k < l->lanes; k++)
            row[k] = records[k < count ? k : count - 1][l->at.y + i];
    }
}

static void put_times(const Lanes *l, const tr_workspace *w, const double *const *records,
                      uint32_t count, bool is_recorded)
{
    double *t = tr_block_input(w, 0);
    for (uint32_t k = 0; k < l->lanes; k++) {
        const double *r = records[k < count ? k : count - 1];
        t[k] = fmax(r[AT_TIME], r[AT_EARLIEST]);
        if (!is_recorded && r[AT_TIME] >= r[AT_EARLIEST]) t[k] = fmin(r[AT_TIME], r[AT_LATEST]);
    }
}

static void take_columns(const Lanes *l, const double *const *records, uint32_t count,
                         double *const *rows)
{
    const tr_program *p = l->programs->of[CHART_COLUMNS];
    put_records(l, l->columns, p, records, count);
    put_times(l, l->columns, records, count, true);
    tr_block_run(l->columns, PART_PARAMETER);
    tr_block_run(l->columns, PART_STATE);
    for (uint32_t i = 0; i < p->output_count; i++) {
        const double *out = tr_block_output(l->columns, i);
        for (uint32_t k = 0; k < count; k++) rows[k][i + 1] = out[k] + 0.0; // -0 is 0
    }
    for (uint32_t k = 0; k < count; k++) {
        rows[k][0] = records[k][AT_TIME];
        rows[k][p->output_count + 1] = records[k][l->at.y + l->size - 1];
    }
}

// See tr_flow_residual
static void take_residuals(const Lanes *l, const double *const *records, uint32_t count,
                           double *const *rows)
{
    const tr_program *p = l->programs->of[CHART_RESIDUALS];
    const uint32_t at = l->programs->of[CHART_COLUMNS]->output_count + 2;
    for (uint32_t k = 0; k < count; k++) {
        double *position = &rows[k][at];
        position[0] = position[1] = 0;
        for (uint32_t i = 0; i < l->quaternions; i++)
            *position = larger(
                *position, fabs(tr_quaternion_size(records[k] + l->at.y + l->quaternion[i]) - 1));
    }
    if (!p) return;
    put_records(l, l->residuals, p, records, count);
    put_times(l, l->residuals, records, count, false);
    tr_block_run(l->residuals, PART_PARAMETER);
    tr_block_run(l->residuals, PART_STATE);
    const uint32_t holonomic = l->programs->holonomic, all = holonomic + l->constraint_rows;
    for (uint32_t i = 0; i < all; i++) {
        const double *out = tr_block_output(l->residuals, i);
        for (uint32_t k = 0; k < count; k++) {
            double *worst = &rows[k][i < holonomic ? at : at + 1];
            *worst = larger(*worst, fabs(out[k]));
        }
    }
}

bool tr_lanes_rows(Lanes *l, const double *const *records, uint32_t count, double *const *rows,
                   tr_error *err)
{
    assert(count > 0 && count <= l->lanes);
    if (!l->columns) {
        l->columns = tr_workspace_block(l->programs->of[CHART_COLUMNS], err);
        l->residuals = tr_workspace_block(l->programs->of[CHART_RESIDUALS], err);
        if (has_failed(err)) return false;
        assert(tr_block_lanes(l->columns) == l->lanes);
    }
    take_columns(l, records, count, rows);
    take_residuals(l, records, count, rows);
    return true;
}
