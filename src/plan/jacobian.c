// SPDX-License-Identifier: Apache-2.0
// Only what is not structurally zero is evaluated (T85). Most runs never ask, so the program of a
// chart is made when one does.
#include "plan/jacobian.h"

#include "expr/derivative.h"
#include "plan/tangent.h"
#include "reduce/bound_slopes.h"

#include <stdlib.h>
#include <string.h>

struct Jacobian {
    const JacobianPrograms *programs;
    Evaluator program;
    double *values;
};

// ---- the program ---------------------------------------------------------------------------

// Accelerations by way of the equations of motion (T144). False where there is no such way.
static bool by_equations(System *s, const ChartPrograms *c, const Expr *y, Expr *dense)
{
    const uint32_t known = c->known, speeds = known - c->positions;
    const Expr unit = one(s->graph);
    SlopeColumn *columns = calloc(known + 1u, sizeof *columns);
    Expr *rates = calloc(speeds + 1u, sizeof *rates); // nobody asks for them in this form
    uint32_t *w = calloc(s->input_count + 1u, sizeof *w);
    bool good = columns && rates && w && tr_independent(s, w) == speeds;
    for (uint32_t k = 0; good && k < speeds; k++) good = w[k] == c->place[c->positions + k];
    for (uint32_t k = 0; good && k < known; k++)
        columns[k] = (SlopeColumn){&y[k], &unit, 1, NO_INPUT, 0};
    good = good && tr_acceleration_slopes(s, &c->partition, columns, known, rates, dense);
    free(columns);
    free(rates);
    free(w);
    return good;
}

// Accelerations, in the shorter way
static bool differentiate_speeds(System *s, const ChartPrograms *c, const Expr *rates,
                                 const Expr *y, Expr *dense)
{
    const size_t known = c->known, speeds = known - c->positions, all = speeds * known;
    const bool there = by_equations(s, c, y, dense);
    if (s->graph->failed || !speeds) return !s->graph->failed;
    if (there && !tr_is_worth_comparing(s, rates, speeds, known)) return true;
    Expr *plain = calloc(all + 1, sizeof *plain);
    const bool good = plain && tr_dense_jacobian(s->graph, rates, speeds, y, known, plain);
    if (good &&
        (!there || tr_system_operations(s, plain, all) <= tr_system_operations(s, dense, all)))
        memcpy(dense, plain, all * sizeof *dense);
    free(plain);
    return good;
}

// Rates of positions are short: by columns. Accelerations and what follows them may be fewer than
// the columns: then by rows. The entries, `own` rows of `known`.
static Expr *differentiate(System *s, const ChartPrograms *c, const Expr *rates, tr_error *err)
{
    const size_t q = c->positions, known = c->known, own = c->own;
    Expr *dense = calloc(own * known + known + 1, sizeof *dense);
    if (!dense) return tr_fail_memory(err), NULL;
    Expr *y = dense + own * known;
    for (uint32_t k = 0; k < known; k++) y[k] = s->inputs[c->place[k]].symbol;
    if ((q && !tr_dense_jacobian(s->graph, rates, q, y, known, dense)) ||
        !differentiate_speeds(s, c, rates + q, y, dense + q * known) ||
        !tr_dense_jacobian(s->graph, rates + known, own - known, y, known, dense + known * known))
        tr_fail_memory(err);
    if (!has_failed(err)) return dense;
    free(dense);
    return NULL;
}

// Moves the entries that are not zero to the front.
static bool keep_entries(JacobianPrograms *j, const ChartPrograms *c, Expr *dense)
{
    const size_t known = c->known, most = c->own * known + 1;
    j->row = malloc(2 * most * sizeof *j->row);
    if (!j->row) return false;
    j->column = j->row + most;
    for (uint32_t i = 0; i < c->own; i++)
        for (uint32_t k = 0; k < known; k++) {
            const Expr entry = dense[i * known + k];
            if (is_zero(entry)) continue;
            j->row[j->count] = i, j->column[j->count] = k;
            dense[j->count++] = entry;
        }
    return true;
}

JacobianPrograms *tr_jacobian_programs_new(System *s, const ChartPrograms *c, tr_error *err)
{
    JacobianPrograms *j = calloc(1, sizeof *j);
    Expr *rates = calloc(c->own, sizeof *rates), *entries = NULL;
    if (j && rates) {
        tr_chart_rates(s, c, rates);
        tr_system_resolve(s, rates, c->own);
        entries = differentiate(s, c, rates, err);
    }
    const bool good = j && entries && keep_entries(j, c, entries);
    if (!good) tr_fail_memory(err);
    if (good && j->count) j->program = tr_compile_open(s, entries, j->count, c->footing->fold, err);
    free(rates);
    free(entries);
    if (!has_failed(err)) return j;
    if (j) free(j->row);
    free(j);
    return NULL;
}

// ---- in a run ------------------------------------------------------------------------------

void tr_jacobian_free(Jacobian *j)
{
    if (!j) return;
    tr_evaluator_free(&j->program);
    free(j->values);
    free(j);
}

bool tr_jacobian_ready(Flow *flow, tr_error *err)
{
    Charted *now = flow->now;
    if (now->jacobian || has_failed(err)) return !has_failed(err);
    const JacobianPrograms *programs = tr_chart_jacobian(flow->plan, now->programs, err);
    Jacobian *j = programs ? calloc(1, sizeof *j) : NULL;
    if (!j) return tr_fail_memory(err), false;
    *j = (Jacobian){.programs = programs, .program = tr_evaluator_with(programs->program, err)};
    j->values = calloc(programs->count + 1u, sizeof *j->values);
    if (!j->values) tr_fail_memory(err);
    if (has_failed(err))
        tr_jacobian_free(j);
    else
        now->jacobian = j;
    return !has_failed(err);
}

// P' = F P + P F^T: what the second part adds to the slopes
static void couple_columns(const Flow *flow, const Jacobian *j, double *J)
{
    const JacobianPrograms *p = j->programs;
    const size_t size = flow->size, own = flow->own, n = flow->known;
    for (uint32_t k = 0; k < p->count; k++)
        for (size_t i = 0; i < n && p->row[k] < n; i++)
            J[(own * (p->column[k] + 1) + i) * size + own * (p->row[k] + 1) + i] += j->values[k];
}

void tr_jacobian_take(Flow *flow, double t, const double *y, double *J)
{
    const Jacobian *j = flow->now->jacobian;
    const JacobianPrograms *p = j->programs;
    const size_t size = flow->size;
    tr_flow_fill(flow, t, y);
    if (p->count) tr_flow_evaluate(flow, &j->program, j->values);
    memset(J, 0, size * size * sizeof *J);
    for (size_t block = 0; block < size; block += flow->own)
        for (uint32_t k = 0; k < p->count; k++)
            if (!block || !flow->covariance || p->row[k] < flow->known)
                J[(block + p->column[k]) * size + block + p->row[k]] = j->values[k];
    if (flow->covariance) couple_columns(flow, j, J);
}

void tr_jacobian_times(Flow *flow, const double *P, uint32_t stride, double *K)
{
    const Jacobian *j = flow->now->jacobian;
    const JacobianPrograms *p = j->programs;
    const size_t n = flow->known;
    if (p->count) tr_flow_evaluate(flow, &j->program, j->values);
    for (uint32_t k = 0; k < p->count; k++) {
        const double slope = j->values[k], *from = P + (size_t)p->column[k] * stride;
        for (size_t i = 0; i < n && p->row[k] < n; i++) K[p->row[k] * n + i] += slope * from[i];
    }
}
