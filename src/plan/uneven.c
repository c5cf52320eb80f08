// SPDX-License-Identifier: Apache-2.0
// A vehicle whose rows depend on each other because its wheels stand in one plane has fewer ways to
// move as soon as they do not. Ranks of rates need slopes of the ground alone: how it curves is in
// accelerations, and moves where a wheel touches (T196).
#include "plan/uneven.h"

#include "expr/derivative.h"
#include "num/dense.h"
#include "num/singular.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLOPES = 20000 };
#define DEPENDENT 1e-9 // singular values of rows of length one, and shares of rows

// Rows that take part, and velocities that no motion drives
typedef struct Parts {
    uint32_t *row, *velocity, rows, velocities;
} Parts;

static bool opens(const System *s, uint32_t row)
{
    for (uint32_t i = 0; i < s->latch_count; i++)
        for (uint32_t k = 0; k < s->latches[i].row_count; k++)
            if (s->latches[i].opens && s->latches[i].rows[k] == row) return true;
    return false;
}

static bool list_parts(const System *s, uint32_t constraints, Parts *p, tr_error *err)
{
    *p = (Parts){.row = calloc(s->row_count + 1u, sizeof *p->row),
                 .velocity = calloc(s->input_count + 1u, sizeof *p->velocity)};
    bool any = false;
    if (!p->row || !p->velocity) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < constraints; i++) {
        if (s->rows[i].is_open || opens(s, i)) continue;
        p->row[p->rows++] = i;
        any = any || s->rows[i].uneven.id;
    }
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY && !is_motion_driven(&s->inputs[i]))
            p->velocity[p->velocities++] = i;
    return any && (size_t)p->rows * p->velocities <= MOST_SLOPES;
}

// Slopes of the rates as they are, then of those on other ground
static tr_program *compile_slopes(System *s, const Parts *p, const uint8_t *fold, tr_error *err)
{
    const size_t m = p->rows, n = p->velocities;
    Expr *rates = calloc(2 * m + n + 2 * m * n + 1, sizeof *rates);
    if (!rates) return tr_fail_memory(err), NULL;
    Expr *v = rates + 2 * m, *slopes = v + n;
    for (size_t k = 0; k < m; k++) {
        const Row *row = &s->rows[p->row[k]];
        rates[k] = row->rate, rates[m + k] = row->uneven.id ? row->uneven : row->rate;
    }
    for (size_t k = 0; k < n; k++) v[k] = s->inputs[p->velocity[k]].symbol;
    tr_program *program = NULL;
    if (!tr_dense_jacobian(s->graph, rates, 2 * m, v, n, slopes))
        tr_fail_memory(err);
    else
        program = tr_compile_open(s, slopes, 2 * m * n, fold, err);
    free(rates);
    return program;
}

// The rank of rows of length one, and how much each depends on others
static bool take_rank(double *A, uint32_t m, uint32_t n, uint32_t *rank, double *depends)
{
    const uint32_t least = m < n ? m : n;
    double *U = calloc((size_t)m * m + least + 1, sizeof *U), *sigma = U ? U + (size_t)m * m : NULL;
    for (uint32_t i = 0; i < m; i++) {
        const double size = tr_norm(A + (size_t)i * n, n);
        for (uint32_t k = 0; k < n && size > 0; k++) A[(size_t)i * n + k] /= size;
    }
    const bool good = U && tr_singular(A, m, n, sigma, U, NULL);
    *rank = 0;
    while (good && *rank < least && sigma[*rank] > DEPENDENT * sigma[0]) ++*rank;
    for (uint32_t i = 0; good && i < m; i++) {
        depends[i] = 0;
        for (uint32_t k = *rank; k < m; k++)
            depends[i] += U[(size_t)i * m + k] * U[(size_t)i * m + k];
        depends[i] = sqrt(depends[i]);
    }
    free(U);
    return good;
}

// Those that were dependent and are no more; where there is none of them, all that were: which of
// them are left is a matter of the slopes
static void mark(const Parts *p, const double *here, const double *there, bool *rows)
{
    bool any = false;
    for (uint32_t k = 0; k < p->rows; k++) {
        rows[p->row[k]] = here[k] > DEPENDENT && there[k] <= DEPENDENT;
        any = any || rows[p->row[k]];
    }
    for (uint32_t k = 0; !any && k < p->rows; k++) rows[p->row[k]] = here[k] > DEPENDENT;
}

static Uneven *compare(const Flow *flow, const Parts *p, Evaluator *slopes, tr_error *err)
{
    const size_t m = p->rows, n = p->velocities;
    Uneven *u = calloc(1, sizeof *u);
    double *A = calloc(2 * m * n + 2 * m + 1, sizeof *A), *depends = A ? A + 2 * m * n : NULL;
    if (u) u->rows = calloc(flow->system->row_count + 1u, sizeof *u->rows);
    if (A && u && u->rows) evaluate_into(slopes, flow->inputs, A);
    const bool good = A && u && u->rows &&
                      take_rank(A, p->rows, p->velocities, &u->here, depends) &&
                      take_rank(A + m * n, p->rows, p->velocities, &u->there, depends + m);
    if (good && u->there > u->here) mark(p, depends, depends + m, u->rows);
    free(A);
    if (good) return u;
    tr_uneven_free(u);
    return tr_fail_memory(err), NULL;
}

Uneven *tr_examine_uneven(Flow *flow, tr_error *err)
{
    Parts p = {0};
    Uneven *found = NULL;
    System *s = flow ? tr_plan_system(flow->plan, flow->footing, NULL, err) : NULL;
    if (s && list_parts(s, flow->footing->constraints, &p, err)) {
        tr_program *program = compile_slopes(s, &p, flow->footing->fold, err);
        Evaluator slopes = tr_evaluator_with(program, err);
        tr_flow_fill_all(flow, 0, flow->start);
        if (!has_failed(err)) found = compare(flow, &p, &slopes, err);
        tr_evaluator_free(&slopes);
        tr_program_free(program);
    }
    tr_system_free(s);
    free(p.row);
    free(p.velocity);
    return found;
}

void tr_uneven_free(Uneven *u)
{
    if (!u) return;
    free(u->rows);
    free(u);
}
