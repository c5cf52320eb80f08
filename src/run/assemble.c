// SPDX-License-Identifier: Apache-2.0
// The state at the start: `initial` holds, quaternions are units, and the rest differs as little as
// possible from the guess. Positions first, then rates, whose conditions are mostly linear in them.
//
// Newton's method with steps of least norm, shortened until they help. Where the conditions have no
// slope at the guess (acos at 1, a speed at rest), it starts again from beside it. At the end the
// state slides along the conditions towards the guess: J d = J (guess - y), y += guess - y - d.
#include "run/flow.h"

#include "expr/derivative.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 100, MAX_HALVINGS = 20, MAX_STARTS = 8 };

// Conditions on a part of y: their values and slopes.
typedef struct Conditions {
    Flow *flow;
    Output output;         // residuals; a copy, for new outputs move the old
    uint32_t first, count; // the part of y
    uint32_t rows, quaternions;
    tr_program *program; // residuals, then slopes by rows
    tr_workspace *work;
    double *values;   // what the program gives
    double *slopes;   // rows * count, by rows
    double *residual; // rows, or count if there are more
    double *singular;
    double *guess, *before; // of the part of y
    bool *acts;             // whether any condition depends on it here
} Conditions;

static bool compile(Conditions *c, const char *name, tr_error *err)
{
    System *s = c->flow->system;
    const uint32_t m = c->output.rows, n = c->count;
    Expr *all = calloc((size_t)m * (n + 1) + n + 1, sizeof *all),
         *unknown = all ? all + (size_t)m * (n + 1) : NULL;
    if (!all) return tr_fail_memory(err), false;
    for (uint32_t k = 0; k < n; k++) unknown[k] = s->inputs[c->flow->place[c->first + k]].symbol;
    for (uint32_t i = 0; i < m; i++) all[i] = c->output.values[i];
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
    c->rows = c->output.rows + c->quaternions;
    const size_t m = c->rows, n = c->count;
    c->values = calloc(m * (n + 1) + 1, sizeof *c->values);
    c->slopes = calloc(m * n + 1, sizeof *c->slopes);
    c->residual = calloc(m + n + 1, sizeof *c->residual);
    c->singular = calloc(m + n + 1, sizeof *c->singular);
    c->guess = calloc(2 * n + 1, sizeof *c->guess);
    c->before = c->guess ? c->guess + n : NULL;
    c->acts = calloc(n + 1, sizeof *c->acts);
    if (!c->values || !c->slopes || !c->residual || !c->singular || !c->guess || !c->acts)
        return tr_fail_memory(err), false;
    return !c->output.rows || compile(c, name, err);
}

static void release(Conditions *c)
{
    tr_workspace_free(c->work);
    tr_program_free(c->program);
    free(c->values);
    free(c->slopes);
    free(c->residual);
    free(c->singular);
    free(c->guess);
    free(c->acts);
}

// Residuals and slopes at y; the sum of the residuals' squares.
static double evaluate(Conditions *c, const double *y)
{
    const uint32_t m = c->output.rows, n = c->count;
    Flow *flow = c->flow;
    double sum = 0;
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
        for (int k = 0; k < 4; k++)
            row[flow->turnings[i].quaternion - c->first + (uint32_t)k] = q[k];
    }
    for (uint32_t i = 0; i < c->rows; i++) sum += c->residual[i] * c->residual[i];
    return isfinite(sum) ? sum : (double)INFINITY;
}

// Whether the conditions hold at y, where they were evaluated last: to rounding, seen from afar.
static bool holds(const Conditions *c, const double *y)
{
    for (uint32_t i = 0; i < c->rows; i++) {
        double size = 1;
        for (uint32_t k = 0; k < c->count; k++) {
            const double term = fabs(c->slopes[i * c->count + k] * y[c->first + k]);
            if (isfinite(term)) size += term;
        }
        if (!(fabs(c->residual[i]) <= 1e-11 * size)) return false;
    }
    return true;
}

// The shortest d with slopes d = residual, as far as possible; it takes the residuals' place.
static bool shortest(Conditions *c)
{
    int rank;
    const lapack_int m = (lapack_int)c->rows, n = (lapack_int)c->count;
    for (uint32_t k = 0; k < c->count; k++) c->acts[k] = false;
    for (size_t i = 0; i < (size_t)c->rows * c->count; i++) {
        if (!isfinite(c->slopes[i])) return false;
        if (c->slopes[i] != 0) c->acts[i % c->count] = true;
    }
    if (!n || LAPACKE_dgelsd(LAPACK_ROW_MAJOR, m, n, 1, c->slopes, n, c->residual, 1, c->singular,
                             1e-10, &rank) != 0)
        return false;
    for (uint32_t k = 0; k < c->count; k++)
        if (!c->acts[k]) c->residual[k] = 0; // not merely to rounding
    return true;
}

// One step of Newton's method, halved until it helps.
static bool improve(Conditions *c, double *y, double *sum)
{
    double *part = y + c->first, *d = c->singular; // of which only the workspace is needed
    memcpy(c->before, part, c->count * sizeof *part);
    if (!isfinite(*sum) || !shortest(c)) return false;
    memcpy(d, c->residual, c->count * sizeof *d);
    for (int halvings = 0; halvings < MAX_HALVINGS; halvings++) {
        const double scale = ldexp(1, -halvings);
        for (uint32_t k = 0; k < c->count; k++) part[k] = c->before[k] - scale * d[k];
        if (c->quaternions) tr_flow_project(c->flow, y);
        const double now = evaluate(c, y);
        if (now < *sum) return *sum = now, true;
    }
    memcpy(part, c->before, c->count * sizeof *part);
    evaluate(c, y);
    return false;
}

static bool find(Conditions *c, double *y)
{
    double sum = evaluate(c, y);
    for (int i = 0; i < MAX_STEPS && sum > 0; i++)
        if (!improve(c, y, &sum)) break;
    evaluate(c, y);
    return holds(c, y);
}

static double distance(const Conditions *c, const double *part)
{
    double sum = 0;
    for (uint32_t k = 0; k < c->count; k++)
        sum += (part[k] - c->guess[k]) * (part[k] - c->guess[k]);
    return sqrt(sum);
}

// Towards the guess, as far as the slopes of the conditions allow; false when that is nowhere.
static bool slide(Conditions *c, double *part)
{
    const double far = distance(c, part);
    double moved = 0;
    for (uint32_t i = 0; i < c->rows; i++) {
        c->residual[i] = 0;
        for (uint32_t k = 0; k < c->count; k++)
            c->residual[i] += c->slopes[i * c->count + k] * (c->guess[k] - part[k]);
    }
    if (!shortest(c)) return false;
    for (uint32_t k = 0; k < c->count; k++) {
        const double step = c->guess[k] - part[k] - c->residual[k];
        part[k] += step;
        moved += step * step;
    }
    return sqrt(moved) > 1e-9 * far;
}

// From a state where the conditions hold to the one of them that is nearest to the guess.
static void approach(Conditions *c, double *y, double *kept)
{
    const size_t size = c->flow->size * sizeof *y;
    for (int i = 0; i < MAX_STEPS; i++) {
        const double far = distance(c, y + c->first);
        if (far == 0) return;
        memcpy(kept, y, size);
        const bool moved = slide(c, y + c->first);
        if (moved && c->quaternions) tr_flow_project(c->flow, y);
        if (moved && find(c, y) && distance(c, y + c->first) < far) continue;
        memcpy(y, kept, size);
        evaluate(c, y);
        return;
    }
}

static void refuse(const Conditions *c, const char *what, tr_error *err)
{
    uint32_t row = 0;
    for (uint32_t i = 1; i < c->rows && isfinite(c->residual[row]); i++)
        if (!(fabs(c->residual[i]) <= fabs(c->residual[row]))) row = i;
    const char *name = row < c->output.rows && c->output.notes ? c->output.notes[row] : "";
    const double off = fabs(c->residual[row]);
    if (name[0] && !isfinite(off))
        tr_fail(err, TR_INVALID, (Place){0},
                "the initial %s cannot all hold: '%.200s' has no value at the guess", what, name);
    else if (name[0])
        tr_fail(err, TR_INVALID, (Place){0},
                "the initial %s cannot all hold: '%.200s' is off by %.3g", what, name, off);
    else
        tr_fail(err, TR_INVALID, (Place){0}, "the initial %s cannot all hold: off by %.3g", what,
                off);
}

// Beside the guess: a little at first, then more; the same in every run.
static void nudge(const Conditions *c, double *y, int start)
{
    uint32_t random = 12345;
    const double size = (start % 2 ? -1e-3 : 1e-3) * pow(3, start); // to either side
    for (uint32_t k = 0; k < c->count; k++) {
        random = random * 1664525u + 1013904223u;
        const double away = size * ((double)(random >> 8) * 0x1p-23 - 1);
        y[c->first + k] = c->guess[k] + away * fmax(1, fabs(c->guess[k]));
    }
    if (c->quaternions) tr_flow_project(c->flow, y);
}

static bool solve(Conditions *c, double *y, const char *what, tr_error *err)
{
    const size_t size = c->flow->size * sizeof *y;
    double *first = malloc(2 * size), *kept = first ? first + c->flow->size : NULL;
    if (!first) return tr_fail_memory(err), false;
    memcpy(c->guess, y + c->first, c->count * sizeof *y);
    bool found = find(c, y);
    memcpy(first, y, size);
    for (int start = 0; start < MAX_STARTS && !found; start++) {
        nudge(c, y, start);
        found = find(c, y);
    }
    if (found)
        approach(c, y, kept);
    else {
        memcpy(y, first, size); // the trouble is told as it is at the guess
        evaluate(c, y);
        refuse(c, what, err);
    }
    free(first);
    return found;
}

static bool solve_part(Flow *flow, const char *output, const char *what, uint32_t first,
                       uint32_t count, uint32_t quaternions, double *y, tr_error *err)
{
    const Output none = {0};
    const Output *conditions = tr_system_output(flow->system, text_of(output));
    Conditions c = {.flow = flow,
                    .output = conditions ? *conditions : none,
                    .first = first,
                    .count = count,
                    .quaternions = quaternions};
    char name[64];
    snprintf(name, sizeof name, "run.%s", output);
    bool good = true;
    if (c.output.rows + quaternions) good = prepare(&c, name, err) && solve(&c, y, what, err);
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
    const bool good = solve_part(flow, "initial.position", "positions", 0, flow->positions,
                                 flow->turning_count, y, err) &&
                      solve_part(flow, "initial.rate", "rates", flow->positions,
                                 flow->size - 1 - flow->positions, 0, y, err);
    for (uint32_t k = 0; good && solved && k + 1 < flow->size; k++)
        solved[k] = !s->inputs[flow->place[k]].is_given && y[k] != s->inputs[flow->place[k]].value;
    return good;
}
