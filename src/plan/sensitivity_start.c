// SPDX-License-Identifier: Apache-2.0
// The start is where conditions c(u, p) = 0 hold and u is nearest to its guess g, first for
// positions, then for rates. With masses D along u and easy motions S by rows (T112), e their
// amounts, J = dc/du and multipliers m, l:
//
//   D (u - g - S^T e) + J^T m = 0        S (D S^T e + J^T l) = 0
//   S D (u - g - S^T e) = 0              c = 0
//
// This is differentiated by u, e, m, l and along what is not u (T109). Of positions D is 1 and
// nothing is easy.
#include "plan/sensitivity.h"

#include "expr/derivative.h"
#include "num/dense.h"
#include "num/singular.h"
#include "plan/condition_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Conditions on positions or on rates
typedef struct StartSlopes {
    uint32_t n, m, k; // unknowns, conditions, easy motions
    uint32_t *place;  // of unknowns
    Expr *c, *J;      // conditions, and slopes by unknowns
    Expr *D, *S, *g;  // masses, easy motions by rows, guesses: they follow J
    double *value;    // of J, D, S and g
    double *e, *multiplier[2];
} StartSlopes;

static size_t numbers_of(const StartSlopes *a)
{
    return (size_t)a->m * a->n + 2 * (size_t)a->n + (size_t)a->k * a->n;
}
static const double *masses(const StartSlopes *a) { return a->value + (size_t)a->m * a->n; }
static const double *motions(const StartSlopes *a) { return masses(a) + a->n; }
static const double *guesses(const StartSlopes *a) { return motions(a) + (size_t)a->k * a->n; }

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
    for (uint32_t i = 0; i < 2 * s->touching_count && !rates; i++)
        c[m++] = s->touchings[i / 2].tangency[i % 2];
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

// Masses and easy motions of rates, in place; what has no mass counts 1.
static bool collect_metric(StartSlopes *a, const System *s, bool rates)
{
    Exprs list = {0};
    if (rates) tr_start_metric(s, a->place, a->n, &list);
    const bool good = !list.failed;
    for (uint32_t i = 0; i < a->n; i++)
        a->D[i] = i < list.count && !is_zero(list.at[i]) ? list.at[i] : one(s->graph);
    for (size_t i = a->n; good && i < list.count; i++) a->D[i] = list.at[i];
    tr_exprs_free(&list);
    return good;
}

static Expr guess_of(const System *s, uint32_t at)
{
    const Input *input = &s->inputs[at];
    return input->guess.id ? input->guess : number(s->graph, input->value);
}

static bool open_start(StartSlopes *a, const Flow *flow, System *s, bool rates, tr_error *err)
{
    const uint32_t inputs = flow->sensitivity->of->input_count;
    const Output *initial =
        tr_system_output(s, text_of(rates ? "initial.rate" : "initial.position"));
    const Output *easy = rates ? tr_system_output(s, text_of("start.easy")) : NULL;
    const size_t most = s->row_count + (initial ? initial->rows : 0) + s->quaternion_count +
                        2 * (size_t)s->touching_count + 1u;
    a->place = calloc(inputs + 1u, sizeof *a->place);
    for (uint32_t i = 0; a->place && i < inputs; i++)
        if ((rates ? s->inputs[i].kind == TR_VELOCITY : is_placed(&s->inputs[i])) &&
            !s->inputs[i].definition.id)
            a->place[a->n++] = i;
    a->k = easy ? easy->rows : 0;
    a->c = calloc((most + a->k + 2u) * (a->n + 1u), sizeof *a->c);
    a->value = calloc((most + a->k + 2u) * (a->n + 2u) + most, sizeof *a->value);
    if (!a->place || !a->c || !a->value) return tr_fail_memory(err), false;
    a->m = collect(s, rates, a->c);
    tr_system_resolve(s, a->c, a->m);
    a->J = a->c + a->m, a->D = a->J + (size_t)a->m * a->n, a->S = a->D + a->n;
    a->g = a->S + (size_t)a->k * a->n;
    for (uint32_t k = 0; k < a->n; k++) a->g[k] = symbol_of(s, a->place[k]);
    if (a->m && a->n) tr_dense_jacobian(s->graph, a->c, a->m, a->g, a->n, a->J);
    if (!collect_metric(a, s, rates)) return tr_fail_memory(err), false;
    for (uint32_t k = 0; k < a->n; k++) a->g[k] = guess_of(s, a->place[k]);
    tr_system_resolve(s, a->D, 2 * (size_t)a->n + (size_t)a->k * a->n);
    a->e = a->value + numbers_of(a);
    a->multiplier[0] = a->e + a->k, a->multiplier[1] = a->multiplier[0] + a->m;
    return true;
}

static void close_start(StartSlopes *a)
{
    free(a->place);
    free(a->c);
    free(a->value);
}

// ---- multipliers ---------------------------------------------------------------------------

// x of least squares with A x = b, into `to`; returns how far that is off
static double solve_for(const double *A, size_t rows, size_t columns, const double *b, double *to,
                        double *room)
{
    double off = 0;
    memcpy(room, b, rows * sizeof *b);
    if (!columns || !rows) return tr_norm(b, rows);
    if (!tr_least_squares(A, (uint32_t)rows, (uint32_t)columns, room, 1, 1e-10, NULL))
        return (double)INFINITY;
    memcpy(to, room, columns * sizeof *to);
    for (size_t i = 0; i < rows; i++) {
        double left = b[i];
        for (size_t k = 0; k < columns; k++) left -= A[i * columns + k] * to[k];
        off += left * left;
    }
    return sqrt(off);
}

// What is left of u - g without what is easy: D (u - g - S^T e), and S D S^T e
static void balance(const StartSlopes *a, const double *away, double *left, double *easy)
{
    const double *D = masses(a), *S = motions(a);
    for (size_t i = 0; i < a->n; i++) {
        double along = 0;
        for (size_t j = 0; j < a->k; j++) along += S[j * a->n + i] * a->e[j];
        left[i] = -D[i] * (away[i] - along);
        for (size_t j = 0; j < a->k; j++) easy[j] -= S[j * a->n + i] * D[i] * along;
    }
}

// e, m and l at the start; returns how far they are from doing what they should
static double solve_multipliers(StartSlopes *a, const double *away, double *room)
{
    const size_t n = a->n, m = a->m, k = a->k;
    double *A = room, *b = A + (n + k) * (m + k), *easy = b + n, *work = easy + k, off = 0;
    const double *D = masses(a), *S = motions(a);
    for (size_t i = 0; i < n; i++) {
        b[i] = sqrt(D[i]) * away[i];
        for (size_t j = 0; j < k; j++) A[i * k + j] = sqrt(D[i]) * S[j * n + i];
    }
    solve_for(A, n, k, b, a->e, work);
    memset(easy, 0, k * sizeof *easy);
    balance(a, away, b, easy);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) A[i * m + j] = a->value[j * n + i];
    off += solve_for(A, n, m, b, a->multiplier[0], work);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < m; j++) {
            A[i * m + j] = 0;
            for (size_t l = 0; l < n; l++) A[i * m + j] += S[i * n + l] * a->value[j * n + l];
        }
    return off + solve_for(A, k, m, easy, a->multiplier[1], work);
}

// False, with words, when the start is not where it is nearest to its guess
static bool find_multipliers(StartSlopes *a, const Flow *flow, System *s, tr_error *err)
{
    const size_t n = a->n, m = a->m, k = a->k;
    double *away = calloc(n + (n + k) * (m + k) + 4 * (n + m + k) + 1, sizeof *away);
    Evaluator values = tr_evaluator_of(s, a->J, numbers_of(a), OPEN_PARAMETERS, err);
    if (!away) tr_fail_memory(err);
    if (values.work && away) {
        double size = 1;
        evaluate_into(&values, flow->inputs, a->value);
        for (size_t i = 0; i < n; i++) {
            away[i] = flow->inputs[a->place[i]] - guesses(a)[i];
            size += fabs(masses(a)[i] * away[i]);
        }
        if (!(solve_multipliers(a, away, away + n) < 1e-6 * size))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the initial state is not where it is nearest to its guess: how it depends on "
                    "parameters is not known; give more initial conditions");
    }
    tr_evaluator_free(&values);
    free(away);
    return !has_failed(err);
}

// ---- equations -----------------------------------------------------------------------------

static Expr sum_of(Expr sum, double factor, Expr x)
{
    return add(sum, mul(number(x.graph, factor), x));
}

static size_t equations_of(const StartSlopes *a) { return a->n + 2 * (size_t)a->k + a->m; }
static size_t unknowns_of(const StartSlopes *a)
{
    return a->n + (size_t)a->k + (a->k ? 2 : 1) * (size_t)a->m;
}

// The equations above, in the order n, k, k, m
static Expr *make_equations(const StartSlopes *a, const System *s, tr_error *err)
{
    const size_t n = a->n, k = a->k;
    Expr *F = calloc(equations_of(a) + 1, sizeof *F);
    if (!F) return tr_fail_memory(err), NULL;
    for (size_t j = 0; j < 2 * k; j++) F[n + j] = zero(s->graph);
    for (size_t i = 0; i < n; i++) {
        const Expr u = symbol_of(s, a->place[i]);
        Expr along = zero(s->graph), first = along, second = along;
        for (size_t j = 0; j < k; j++) along = sum_of(along, a->e[j], a->S[j * n + i]);
        for (size_t j = 0; j < a->m; j++) {
            first = sum_of(first, a->multiplier[0][j], a->J[j * n + i]);
            second = sum_of(second, a->multiplier[1][j], a->J[j * n + i]);
        }
        const Expr left = mul(a->D[i], sub(sub(u, a->g[i]), along));
        F[i] = add(left, first);
        for (size_t j = 0; j < k; j++) {
            const Expr S = a->S[j * n + i];
            F[n + j] = add(F[n + j], mul(S, add(mul(a->D[i], along), second)));
            F[n + k + j] = add(F[n + k + j], mul(S, left));
        }
    }
    for (size_t i = 0; i < a->m; i++) F[n + 2 * k + i] = a->c[i];
    return F;
}

// Slopes by u, e, m and l, by rows
static void fill_matrix(const StartSlopes *a, const double *slopes, double *M)
{
    const size_t n = a->n, m = a->m, k = a->k, N = unknowns_of(a), rows = equations_of(a);
    const double *D = masses(a), *S = motions(a);
    memset(M, 0, rows * N * sizeof *M);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) M[i * N + j] = slopes[i * n + j];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < k; j++) {
            M[i * N + n + j] = -D[i] * S[j * n + i];
            for (size_t l = 0; l < k; l++) {
                M[(n + l) * N + n + j] += S[l * n + i] * D[i] * S[j * n + i];
                M[(n + k + l) * N + n + j] -= S[l * n + i] * D[i] * S[j * n + i];
            }
        }
        for (size_t j = 0; j < m; j++) {
            M[i * N + n + k + j] = a->value[j * n + i];
            for (size_t l = 0; l < k; l++)
                M[(n + l) * N + n + k + m + j] += S[l * n + i] * a->value[j * n + i];
        }
    }
}

// How the unknowns change with each parameter, into `all`
static bool vary(const StartSlopes *a, Flow *flow, const Evaluator *slopes,
                 const Evaluator *changes, tr_error *err)
{
    const Sensitivity *z = flow->sensitivity->of;
    const size_t n = a->n, N = unknowns_of(a), rows = equations_of(a);
    double *M = calloc(rows * (N + n) + rows + N + 1, sizeof *M);
    if (!M) return tr_fail_memory(err), false;
    double *S = M + rows * N, *x = S + rows * n;
    evaluate_into(slopes, flow->inputs, S);
    for (uint32_t j = 0; j < z->count && !has_failed(err); j++) {
        double *all = flow->sensitivity->all + (size_t)j * z->input_count;
        tr_sensitivity_point(flow, j);
        evaluate_into(changes, flow->inputs, x);
        for (size_t i = 0; i < rows; i++) x[i] = -x[i];
        fill_matrix(a, S, M);
        if (!all_finite(M, rows * N) || !all_finite(x, rows))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the initial state does not depend smoothly on '%s'",
                    flow->system->inputs[z->parameter[j]].name);
        else if (!tr_least_squares(M, (uint32_t)rows, (uint32_t)N, x, 1, 1e-12, NULL))
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
    if (rates && s->order == 1) return true; // they follow
    if (open_start(&a, flow, s, rates, err) && a.n && (!a.m || find_multipliers(&a, flow, s, err)))
        F = make_equations(&a, s, err);
    const size_t n = a.n, N = equations_of(&a);
    if (F) D = calloc(N * n + N + n + 1, sizeof *D);
    if (F && !D) tr_fail_memory(err);
    if (D) {
        Expr *unknown = D + N * n;
        for (size_t k = 0; k < n; k++) unknown[k] = symbol_of(s, a.place[k]);
        tr_dense_jacobian(s->graph, F, N, unknown, n, D);
        slopes = tr_evaluator_of(s, D, N * n, OPEN_PARAMETERS, err);
        tr_sensitivity_differentiate(s, flow->sensitivity->of, F, N,
                                     rates ? EXCEPT_VELOCITIES : EXCEPT_POSITIONS, D);
        changes = tr_evaluator_of(s, D, N, OPEN_PARAMETERS, err);
        if (!has_failed(err)) vary(&a, flow, &slopes, &changes, err);
    }
    tr_evaluator_free(&slopes);
    tr_evaluator_free(&changes);
    free(F);
    free(D);
    close_start(&a);
    return !has_failed(err);
}
