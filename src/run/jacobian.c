// SPDX-License-Identifier: Apache-2.0
// Only what is not structurally zero is evaluated (T85). Most programs of runs never ask, so the
// program of a view is made when someone does, and the system is reduced for that view once more.
#include "run/jacobian.h"

#include "expr/derivative.h"
#include "reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

struct Jacobian {
    Evaluator program;
    double *values;
    uint32_t *row, *column; // of each value
    uint32_t count;
};

void tr_jacobian_free(Jacobian *j)
{
    if (!j) return;
    tr_evaluator_free(&j->program);
    free(j->values);
    free(j->row);
    free(j);
}

// Rates of positions are short: by columns. Accelerations and what follows them may be fewer than
// the columns: then by rows. The entries, `own` rows of `known`.
static Expr *differentiate(Flow *flow, const Expr *rates, tr_error *err)
{
    System *s = flow->system;
    const size_t q = flow->positions, known = flow->known, own = flow->own;
    Expr *dense = calloc(own * known + known + 1, sizeof *dense);
    if (!dense) return tr_fail_memory(err), NULL;
    Expr *y = dense + own * known;
    for (uint32_t k = 0; k < known; k++) y[k] = s->inputs[flow->now->place[k]].symbol;
    if ((q && !tr_dense_jacobian(s->graph, rates, q, y, known, dense)) ||
        !tr_dense_jacobian(s->graph, rates + q, own - q, y, known, dense + q * known))
        tr_fail_memory(err);
    if (!has_failed(err)) return dense;
    free(dense);
    return NULL;
}

// Moves the entries that are not zero to the front.
static bool keep_entries(Jacobian *j, const Flow *flow, Expr *dense)
{
    const size_t known = flow->known, most = flow->own * known + 1;
    j->row = malloc(2 * most * sizeof *j->row);
    j->values = calloc(most, sizeof *j->values);
    if (!j->row || !j->values) return false;
    j->column = j->row + most;
    for (uint32_t i = 0; i < flow->own; i++)
        for (uint32_t k = 0; k < known; k++) {
            const Expr entry = dense[i * known + k];
            if (is_zero(entry)) continue;
            j->row[j->count] = i, j->column[j->count] = k;
            dense[j->count++] = entry;
        }
    return true;
}

static void build(Jacobian *j, Flow *flow, Expr *rates, tr_error *err)
{
    System *s = flow->system;
    if (flow->now->chart) tr_reduce(s, &flow->now->chart->partition, err);
    if (has_failed(err)) return;
    tr_view_rates(flow, flow->now, rates);
    tr_system_resolve(s, rates, flow->own);
    Expr *entries = differentiate(flow, rates, err);
    if (entries && !keep_entries(j, flow, entries)) tr_fail_memory(err);
    if (entries && j->count)
        j->program = tr_evaluator_of(s, entries, j->count, FIXED_PARAMETERS, err);
    free(entries);
}

bool tr_jacobian_ready(Flow *flow, tr_error *err)
{
    View *view = flow->now;
    if (view->jacobian || has_failed(err)) return !has_failed(err);
    Jacobian *j = calloc(1, sizeof *j);
    Expr *rates = calloc(flow->own, sizeof *rates);
    if (j && rates)
        build(j, flow, rates, err);
    else
        tr_fail_memory(err);
    free(rates);
    if (has_failed(err))
        tr_jacobian_free(j);
    else
        view->jacobian = j;
    return !has_failed(err);
}

void tr_jacobian_take(Flow *flow, double t, const double *y, double *J)
{
    const Jacobian *j = flow->now->jacobian;
    const size_t size = flow->size;
    tr_flow_put(flow, tr_flow_time(flow, t), y);
    if (j->count) evaluate_into(&j->program, flow->inputs, j->values);
    memset(J, 0, size * size * sizeof *J);
    for (size_t block = 0; block < size; block += flow->own)
        for (uint32_t k = 0; k < j->count; k++)
            J[(block + j->column[k]) * size + block + j->row[k]] = j->values[k];
}
