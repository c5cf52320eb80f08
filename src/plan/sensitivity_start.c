// SPDX-License-Identifier: Apache-2.0
// The start is where conditions c(u, p) = 0 hold and u is nearest to its guess g, first for
// positions, then for rates: u - g + J^T m = 0 with J = dc/du. So (T109)
//
//   | 1 + d(J^T m)/du  J^T | | du |     | dg - d(J^T m) |
//   | J                 0  | | dm |  =  |    - dc       |   along what is not u
#include "plan/sensitivity.h"

#include "expr/derivative.h"
#include "num/dense.h"
#include "num/singular.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Conditions on positions or on rates
typedef struct StartSlopes {
    uint32_t n, m;   // unknowns, conditions
    uint32_t *place; // of unknowns
    Expr *c, *J;     // conditions, and slopes by unknowns
    double *value;   // of J
    double *u, *guess, *multiplier;
} StartSlopes;

static uint32_t collect(System *s, bool rates, Expr *c)
{
    const Output *initial =
        tr_system_output(s, text_of(rates ? "initial.rate" : "initial.position"));
    uint32_t m = 0;
    for (uint32_t i = 0; initial && i < initial->rows; i++) c[m++] = initial->values[i];
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Expr x = rates ? s->rows[i].rate : s->rows[i].position;
        if (!s->rows[i].is_speed && !s->rows[i].is_open && x.id) c[m++] = x;
    }
    for (uint32_t i = 0; i < s->quaternion_count && !rates; i++) {
        const uint32_t first = s->quaternions[i].position;
        if (s->inputs[first].definition.id) continue;
        Expr sum = number(s->graph, -1);
        for (uint32_t k = 0; k < 4; k++)
            sum = add(sum, mul(symbol_of(s, first + k), symbol_of(s, first + k)));
        c[m++] = quotient(sum, number(s->graph, 2));
    }
    return m;
}

static bool open_start(StartSlopes *a, const Flow *flow, System *s, bool rates, tr_error *err)
{
    const uint32_t inputs = flow->sensitivity->of->input_count;
    const Output *initial =
        tr_system_output(s, text_of(rates ? "initial.rate" : "initial.position"));
    const size_t most = s->row_count + (initial ? initial->rows : 0) + s->quaternion_count + 1u;
    a->place = calloc(inputs + 1u, sizeof *a->place);
    for (uint32_t i = 0; a->place && i < inputs; i++)
        if (s->inputs[i].kind == (rates ? TR_VELOCITY : TR_POSITION) && !s->inputs[i].definition.id)
            a->place[a->n++] = i;
    a->c = calloc(most * (a->n + 1u) + a->n + 1, sizeof *a->c);
    a->value = calloc(most * a->n + 3 * (most + a->n) + 1, sizeof *a->value);
    if (!a->place || !a->c || !a->value) return tr_fail_memory(err), false;
    a->m = collect(s, rates, a->c);
    tr_system_resolve(s, a->c, a->m);
    a->J = a->c + a->m;
    Expr *unknown = a->J + (size_t)a->m * a->n;
    for (uint32_t k = 0; k < a->n; k++) unknown[k] = symbol_of(s, a->place[k]);
    if (a->m && a->n) tr_dense_jacobian(s->graph, a->c, a->m, unknown, a->n, a->J);
    a->u = a->value + (size_t)a->m * a->n, a->guess = a->u + a->n;
    a->multiplier = a->guess + a->n;
    for (uint32_t k = 0; k < a->n; k++) {
        a->u[k] = flow->inputs[a->place[k]], a->guess[k] = s->inputs[a->place[k]].value;
    }
    return true;
}

static void close_start(StartSlopes *a)
{
    free(a->place);
    free(a->c);
    free(a->value);
}

// J^T m = guess - u, as near as it gets; false when that is not near
static bool find_multipliers(StartSlopes *a, const Flow *flow, System *s, tr_error *err)
{
    const size_t n = a->n, m = a->m, more = n > m ? n : m;
    double *M = calloc(n * m + more + 1, sizeof *M), worst = 0;
    Evaluator slopes = tr_evaluator_of(s, a->J, n * m, OPEN_PARAMETERS, err);
    if (!M) tr_fail_memory(err);
    if (slopes.work && M) {
        double *x = M + n * m;
        evaluate_into(&slopes, flow->inputs, a->value);
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < n; k++) M[k * m + i] = a->value[i * n + k];
        for (size_t k = 0; k < n; k++) x[k] = a->guess[k] - a->u[k];
        if (!tr_least_squares(M, (uint32_t)n, (uint32_t)m, x, 1, 1e-10, NULL)) tr_fail_memory(err);
        memcpy(a->multiplier, x, m * sizeof *x);
        for (size_t k = 0; k < n; k++) {
            double off = a->guess[k] - a->u[k];
            for (size_t i = 0; i < m; i++) off -= a->value[i * n + k] * a->multiplier[i];
            worst = larger(worst, fabs(off) / (1 + fabs(a->guess[k] - a->u[k])));
        }
    }
    tr_evaluator_free(&slopes);
    free(M);
    if (!has_failed(err) && !(worst < 1e-6))
        tr_fail(err, TR_FAILED, (Place){0},
                "the initial state is not where it is nearest to its guess: how it depends on "
                "parameters is not known; give more initial conditions");
    return !has_failed(err);
}

// J^T m as expressions, then the conditions, then guesses
static Expr *make_equations(const StartSlopes *a, const System *s, tr_error *err)
{
    Expr *F = calloc(2 * (size_t)a->n + a->m + 1, sizeof *F);
    if (!F) return tr_fail_memory(err), NULL;
    for (uint32_t k = 0; k < a->n; k++) {
        F[k] = zero(s->graph);
        for (uint32_t i = 0; i < a->m; i++)
            F[k] = add(F[k], mul(number(s->graph, a->multiplier[i]), a->J[i * a->n + k]));
        const Expr guess = s->inputs[a->place[k]].guess;
        F[a->n + a->m + k] = guess.id ? guess : zero(s->graph);
    }
    for (uint32_t i = 0; i < a->m; i++) F[a->n + i] = a->c[i];
    return F;
}

// The matrix above, by rows: n + m
static void fill_matrix(const StartSlopes *a, const double *slopes, double *M)
{
    const size_t n = a->n, m = a->m, N = n + m;
    for (size_t i = 0; i < N * N; i++) M[i] = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < n; k++) M[i * N + k] = slopes[i * n + k];
    for (size_t k = 0; k < n; k++) {
        M[k * N + k] += 1;
        for (size_t i = 0; i < m; i++) M[k * N + n + i] = slopes[(n + i) * n + k];
    }
}

// How the unknowns change with each parameter, into `all`
static bool vary(const StartSlopes *a, Flow *flow, const Evaluator *slopes,
                 const Evaluator *changes, tr_error *err)
{
    const Sensitivity *z = flow->sensitivity->of;
    const size_t n = a->n, m = a->m, N = n + m;
    double *M = calloc(2 * N * N + 3 * N + n + 1, sizeof *M);
    if (!M) return tr_fail_memory(err), false;
    double *S = M + N * N, *d = S + N * N, *x = d + N + n;
    evaluate_into(slopes, flow->inputs, S);
    for (uint32_t j = 0; j < z->count && !has_failed(err); j++) {
        double *all = flow->sensitivity->all + (size_t)j * z->input_count;
        tr_sensitivity_point(flow, j);
        evaluate_into(changes, flow->inputs, d);
        for (size_t i = 0; i < N; i++) x[i] = (i < n ? d[N + i] : 0) - d[i];
        fill_matrix(a, S, M);
        if (!all_finite(M, N * N) || !all_finite(x, N))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the initial state does not depend smoothly on '%s'",
                    flow->system->inputs[z->parameter[j]].name);
        else if (!tr_least_squares(M, (uint32_t)N, (uint32_t)N, x, 1, 1e-12, NULL))
            tr_fail_memory(err);
        for (size_t k = 0; k < n; k++) all[a->place[k]] = x[k];
    }
    free(M);
    return !has_failed(err);
}

bool tr_sensitivity_start(Flow *flow, System *s, bool rates, tr_error *err)
{
    StartSlopes a = {0};
    Evaluator slopes = {0}, changes = {0};
    Expr *F = NULL, *D = NULL;
    if (open_start(&a, flow, s, rates, err) && a.n && (!a.m || find_multipliers(&a, flow, s, err)))
        F = make_equations(&a, s, err);
    const size_t n = a.n, N = n + a.m;
    if (F) D = calloc(N * n + N + 2 * n + 1, sizeof *D);
    if (F && !D) tr_fail_memory(err);
    if (D) {
        Expr *unknown = D + N * n;
        for (size_t k = 0; k < n; k++) unknown[k] = symbol_of(s, a.place[k]);
        tr_dense_jacobian(s->graph, F, N, unknown, n, D);
        slopes = tr_evaluator_of(s, D, N * n, OPEN_PARAMETERS, err);
        tr_sensitivity_differentiate(s, flow->sensitivity->of, F, N + n,
                                     rates ? TR_VELOCITY : TR_POSITION, D);
        changes = tr_evaluator_of(s, D, N + n, OPEN_PARAMETERS, err);
        if (!has_failed(err)) vary(&a, flow, &slopes, &changes, err);
    }
    tr_evaluator_free(&slopes);
    tr_evaluator_free(&changes);
    free(F);
    free(D);
    close_start(&a);
    return !has_failed(err);
}
