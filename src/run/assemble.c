// SPDX-License-Identifier: Apache-2.0
// The state at the start: `initial` holds, quaternions are units, and the rest differs as little as
// possible from the guess. Newton's method with steps of least norm; positions first, then rates,
// whose conditions are linear in them.
#include "run/flow.h"

#include "expr/derivative.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_STEPS = 100 };

// Conditions on a part of y: their values and slopes.
typedef struct Conditions {
    Flow *flow;
    const Output *output; // residuals
    uint32_t first, count; // the part of y
    uint32_t rows, quaternions;
    tr_program *program; // residuals, then slopes by rows
    tr_workspace *work;
    double *values;   // what the program gives
    double *slopes;   // rows * count, by rows
    double *residual; // rows
    double *singular;
} Conditions;

static bool compile(Conditions *c, const char *name, tr_error *err)
{
    System *s = c->flow->system;
    const uint32_t m = c->output->rows, n = c->count;
    Expr *all = calloc((size_t)m * (n + 1) + n + 1, sizeof *all), *unknown = all ? all + (size_t)m * (n + 1) : NULL;
    if (!all) return tr_fail_memory(err), false;
    for (uint32_t k = 0; k < n; k++) unknown[k] = s->inputs[c->flow->place[c->first + k]].symbol;
    for (uint32_t i = 0; i < m; i++) all[i] = c->output->values[i];
    if (!tr_dense_jacobian(s->graph, all, m, unknown, n, all + m)) tr_fail_memory(err);
    if (!tr_system_output(s, text_of(name))) tr_output(s, name, all, (size_t)m * (n + 1), 1, err);
    free(all);
    const tr_compile_options fixed = {.fix_parameters = true};
    c->program = tr_compile(s, name, &fixed, err);
    c->work = tr_workspace_new(c->program, err);
    return !has_failed(err);
}

static bool prepare(Conditions *c, const char *name, tr_error *err)
{
    c->rows = c->output->rows + c->quaternions;
    const size_t m = c->rows, n = c->count;
    c->values = calloc(m * (n + 1) + 1, sizeof *c->values);
    c->slopes = calloc(m * n + 1, sizeof *c->slopes);
    c->residual = calloc(m + n + 1, sizeof *c->residual);
    c->singular = calloc(m + n + 1, sizeof *c->singular);
    if (!c->values || !c->slopes || !c->residual || !c->singular) return tr_fail_memory(err), false;
    return !c->output->rows || compile(c, name, err);
}

static void release(Conditions *c)
{
    tr_workspace_free(c->work);
    tr_program_free(c->program);
    free(c->values);
    free(c->slopes);
    free(c->residual);
    free(c->singular);
}

// Residuals and slopes at y; the largest residual.
static double evaluate(Conditions *c, const double *y)
{
    const uint32_t m = c->output->rows, n = c->count;
    Flow *flow = c->flow;
    double worst = 0;
    for (uint32_t k = 0; k + 1 < flow->size; k++) flow->inputs[flow->place[k]] = y[k];
    flow->inputs[0] = 0;
    if (m) tr_evaluate(c->program, c->work, flow->inputs, c->values);
    for (uint32_t i = 0; i < m; i++) {
        c->residual[i] = c->values[i];
        for (uint32_t k = 0; k < n; k++) c->slopes[i * n + k] = c->values[m + i * n + k];
    }
    for (uint32_t i = 0; i < c->quaternions; i++) { // (|q|^2 - 1) / 2, whose slope is q
        const double *q = y + flow->turnings[i].quaternion;
        double *row = c->slopes + (size_t)(m + i) * n;
        c->residual[m + i] = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) / 2;
        for (uint32_t k = 0; k < n; k++) row[k] = 0;
        for (int k = 0; k < 4; k++) row[flow->turnings[i].quaternion - c->first + (uint32_t)k] = q[k];
    }
    for (uint32_t i = 0; i < c->rows; i++)
        worst = isfinite(c->residual[i]) ? fmax(worst, fabs(c->residual[i])) : (double)INFINITY;
    return worst;
}

// The shortest step that lowers the residuals as far as their slopes can.
static bool step(Conditions *c, double *part)
{
    int rank;
    const lapack_int m = (lapack_int)c->rows, n = (lapack_int)c->count;
    if (LAPACKE_dgelsd(LAPACK_ROW_MAJOR, m, n, 1, c->slopes, n, c->residual, 1, c->singular, 1e-10, &rank) != 0)
        return false;
    for (uint32_t k = 0; k < c->count; k++) part[k] -= c->residual[k];
    return true;
}

static void refuse(const Conditions *c, double worst, const char *what, tr_error *err)
{
    uint32_t row = 0;
    for (uint32_t i = 0; i < c->rows; i++)
        if (fabs(c->residual[i]) > fabs(c->residual[row])) row = i;
    const char *name = row < c->output->rows && c->output->notes ? c->output->notes[row] : "";
    if (name[0])
        tr_fail(err, TR_INVALID, (Place){0}, "the initial %s cannot all hold: '%s' is off by %.3g", what, name, worst);
    else tr_fail(err, TR_INVALID, (Place){0}, "the initial %s cannot all hold: off by %.3g", what, worst);
}

static bool solve(Conditions *c, double *y, const char *what, tr_error *err)
{
    double worst = evaluate(c, y), least = worst;
    int stalled = 0;
    for (int i = 0; i < MAX_STEPS && worst > 0 && stalled < 4; i++) {
        if (!isfinite(worst) || !step(c, y + c->first)) break;
        worst = evaluate(c, y);
        stalled = worst < 0.9 * least ? 0 : stalled + 1;
        if (worst < least) least = worst;
        if (worst < 1e-15) break;
    }
    if (worst <= 1e-11) return true;
    refuse(c, worst, what, err);
    return false;
}

static bool solve_part(Flow *flow, const char *output, const char *what, uint32_t first, uint32_t count,
                       uint32_t quaternions, double *y, tr_error *err)
{
    static const Output none = {0};
    const Output *conditions = tr_system_output(flow->system, text_of(output));
    Conditions c = {.flow = flow, .output = conditions ? conditions : &none, .first = first, .count = count,
                    .quaternions = quaternions};
    char name[64];
    snprintf(name, sizeof name, "run.%s", output);
    bool good = true;
    if (c.output->rows + quaternions) good = prepare(&c, name, err) && solve(&c, y, what, err);
    release(&c);
    return good;
}

bool tr_assemble(Flow *flow, double *y, bool *solved, tr_error *err)
{
    const System *s = flow->system;
    if (has_failed(err)) return false;
    for (uint32_t k = 0; k + 1 < flow->size; k++) y[k] = s->inputs[flow->place[k]].value;
    y[flow->size - 1] = 0;
    if (flow->turning_count) tr_flow_project(flow, y);
    const bool good =
        solve_part(flow, "initial.position", "positions", 0, flow->positions, flow->turning_count, y, err) &&
        solve_part(flow, "initial.rate", "rates", flow->positions, flow->size - 1 - flow->positions, 0, y, err);
    for (uint32_t k = 0; good && solved && k + 1 < flow->size; k++)
        solved[k] = !s->inputs[flow->place[k]].is_given && y[k] != s->inputs[flow->place[k]].value;
    return good;
}
