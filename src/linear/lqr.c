// SPDX-License-Identifier: Apache-2.0
// Linear-quadratic regulators. A linear model has states that no weight sees and that change
// nothing (place, heading, angles of wheels): they are left out, see lqr_weights.c. What no input
// reaches is left alone, see lqr_reach.c: with L of these states and R of the motions themselves
// the feedback acts on (1 - R L) x, which stays in the kernel of L (T106).
#include "linear/lqr.h"

#include "base/options.h"
#include "linear/feedback.h"
#include "linear/law.h"
#include "linear/modes.h"
#include "linear/riccati.h"
#include "num/dense.h"
#include "num/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double *tr_design_room(Design *d, size_t count, tr_error *err)
{
    double *room = tr_arena_alloc(&d->arena, count + 1, sizeof *room);
    if (!room) tr_fail_memory(err);
    return room;
}

// ---- controls ------------------------------------------------------------------------------

// An input is a control by its name, a torque by that of its joint.
static bool is_control(const Design *d, Text name, uint32_t input)
{
    const Port *port = &d->system->inputs[d->whole->input_of[input]].port;
    return text_is(name, d->whole->input[input]) || (is_torque(port) && text_is(name, port->owner));
}

static bool find_controls(Design *d, const char *list, tr_error *err)
{
    const Linear *l = d->whole;
    const char **names = tr_arena_alloc(&d->arena, MOST_NAMES, sizeof *names);
    d->column = tr_arena_alloc(&d->arena, MOST_NAMES, sizeof *d->column);
    if (!names || !d->column) return tr_fail_memory(err), false;
    d->shown.input = names;
    while (list && *list && d->m < MOST_NAMES && !has_failed(err)) {
        const Text name = tr_next_item(&list);
        Suggestion nearest = {.wanted = name};
        char hint[TR_HINT_SIZE];
        uint32_t k = 0;
        while (k < l->inputs && !is_control(d, name, k))
            tr_suggest(&nearest, text_of(l->input[k++]));
        if (k == l->inputs)
            tr_fail(err, TR_USAGE, (Place){0}, "there is no input '%.*s'%s", TEXT(name),
                    tr_hint(&nearest, hint));
        for (uint32_t i = 0; i < d->m; i++)
            if (d->column[i] == k)
                tr_fail(err, TR_USAGE, (Place){0}, "the input '%.*s' is named twice", TEXT(name));
        names[d->m] = tr_arena_text(&d->arena, name.at, name.length);
        if (!names[d->m]) tr_fail_memory(err);
        d->column[d->m++] = k;
    }
    if (!d->m) tr_fail(err, TR_USAGE, (Place){0}, "which inputs? name at least one");
    return !has_failed(err);
}

// ---- the regulator -------------------------------------------------------------------------

// out = N^T X N for X of n * n, or N^T X for n * columns
static void restrict_to(const Parts *parts, uint32_t n, const double *X, uint32_t columns,
                        bool both, double *out)
{
    const uint32_t last = both ? parts->kept : columns;
    for (uint32_t i = 0; i < parts->kept; i++)
        for (uint32_t j = 0; j < last; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < n; k++)
                for (uint32_t l = both ? 0 : j; l < (both ? n : j + 1); l++)
                    sum +=
                        parts->U[k * n + i] * X[k * columns + l] * (both ? parts->U[l * n + j] : 1);
            out[i * last + j] = sum;
        }
}

// K = K_N N^T (1 - R L^T)
static void extend(const Design *d, const Parts *parts, const double *KN, double *K)
{
    const uint32_t n = d->n, s = parts->alone;
    for (uint32_t i = 0; i < d->m; i++) {
        double *row = K + (size_t)i * n;
        for (uint32_t j = 0; j < n; j++) {
            row[j] = 0;
            for (uint32_t k = 0; k < parts->kept; k++)
                row[j] += KN[i * parts->kept + k] * parts->U[j * n + k];
        }
        for (uint32_t k = 0; k < s; k++) {
            double along = 0;
            for (uint32_t j = 0; j < n; j++) along += row[j] * parts->R[j * s + k];
            for (uint32_t j = 0; j < n; j++) row[j] -= along * parts->U[j * n + parts->kept + k];
        }
    }
}

// Products of y and u are no more where u = v - X y, with X = R^-1 N^T: A - B X, Q - N X (T141)
static bool take_products(const Regulator *r, const double *N, double *A, double *Q, double *X,
                          tr_error *err)
{
    const uint32_t n = r->n, m = r->m;
    double *R = malloc(((size_t)m * m + (size_t)n * n) * sizeof *R);
    if (!R) return tr_fail_memory(err), false;
    double *more = R + (size_t)m * m;
    memcpy(R, r->R, (size_t)m * m * sizeof *R);
    tr_transpose(N, n, m, X);
    if (!tr_solve_positive(R, m, X, n))
        tr_fail(err, TR_USAGE, (Place){0}, "weights of inputs must be positive");
    tr_multiply(r->B, X, n, m, n, more);
    for (size_t i = 0; i < (size_t)n * n; i++) A[i] -= more[i];
    tr_multiply(N, X, n, m, n, more);
    for (size_t i = 0; i < (size_t)n * n; i++) Q[i] -= more[i];
    free(R);
    return !has_failed(err);
}

// By the coordinates of N
static bool solve_part(Design *d, uint32_t k, double *A, double *B, double *Q, const double *N,
                       double *K, tr_error *err)
{
    const uint32_t m = d->m;
    double *P = tr_design_room(d, (size_t)k * k, err), *X = tr_design_room(d, (size_t)m * k, err);
    const Linear part = {.states = k, .inputs = m, .A = A, .B = B};
    const Regulator small = {k, m, d->shown.step > 0, A, B, Q, d->R};
    if (has_failed(err) || !k) return !has_failed(err);
    if (small.discrete && !tr_linear_discretise(&part, d->shown.step, A, B, err)) return false;
    if (d->has_products && !take_products(&small, N, A, Q, X, err)) return false;
    if (!tr_riccati_solve(&small, P, K, err)) return false;
    d->shown.residual = tr_riccati_residual(&small, P);
    for (size_t i = 0; i < (size_t)m * k; i++) K[i] += X[i];
    return true;
}

static bool regulate(Design *d, const Parts *parts, tr_error *err)
{
    const uint32_t k = parts->kept, m = d->m, n = d->n;
    const size_t kk = (size_t)k * k, km = (size_t)k * m;
    double *A = tr_design_room(d, kk, err), *B = tr_design_room(d, km, err),
           *Q = tr_design_room(d, kk, err), *N = tr_design_room(d, km, err),
           *KN = tr_design_room(d, km, err), *K = tr_design_room(d, (size_t)m * n, err);
    d->K = tr_design_room(d, (size_t)m * n, err);
    if (has_failed(err)) return false;
    restrict_to(parts, n, d->A, n, true, A);
    restrict_to(parts, n, d->B, m, false, B);
    restrict_to(parts, n, d->Q, n, true, Q);
    restrict_to(parts, n, d->N, m, false, N);
    if (!solve_part(d, k, A, B, Q, N, KN, err)) return false;
    extend(d, parts, KN, d->K);
    tr_multiply(d->K, d->M, m, n, n, K);
    d->shown.K = K;
    return true;
}

// ---- eigenvalues ---------------------------------------------------------------------------

static int compare_size(const void *a, const void *b)
{
    const double *x = a, *y = b, difference = hypot(y[0], y[1]) - hypot(x[0], x[1]);
    if (fabs(difference) > 1e-12 * hypot(x[0], x[1])) return difference > 0 ? 1 : -1;
    return (y[1] > x[1]) - (y[1] < x[1]);
}

// The least stable first. Those that are zero are exactly so, or in steps 1.
static bool find_eigenvalues(const double *A, uint32_t n, double *values, tr_error *err)
{
    const Linear linear = {.states = n, .A = (double *)(uintptr_t)A};
    return tr_linear_eigenvalues(&linear, (double(*)[2])values, err);
}

static bool take_eigenvalues(Design *d, tr_error *err)
{
    const uint32_t n = d->n;
    const double step = d->shown.step;
    double *before = tr_design_room(d, 2 * (size_t)n, err),
           *after = tr_design_room(d, 2 * (size_t)n, err),
           *loop = tr_design_room(d, (size_t)n * n, err);
    double *A = (double *)(uintptr_t)d->shown.A, *B = (double *)(uintptr_t)d->shown.B; // its own
    if (has_failed(err) || !find_eigenvalues(A, n, before, err)) return false;
    for (uint32_t i = 0; step > 0 && i < n; i++) {
        const double size = exp(step * before[2 * i]), turn = step * before[2 * i + 1];
        before[2 * i] = size * cos(turn), before[2 * i + 1] = size * sin(turn);
    }
    const Linear whole = {.states = n, .inputs = d->m, .A = A, .B = B};
    if (step > 0 && !tr_linear_discretise(&whole, step, A, B, err)) return false;
    const Regulator r = {.n = n, .m = d->m, .A = A, .B = B};
    tr_riccati_loop(&r, d->shown.K, loop);
    d->shown.before = before, d->shown.after = after;
    if (step == 0) return find_eigenvalues(loop, n, after, err);
    if (!tr_design_eigenvalues(loop, n, after, NULL, err)) return false;
    qsort(after, n, 2 * sizeof *after, compare_size);
    return true;
}

// ---- laws ----------------------------------------------------------------------------------

static bool write_laws(Design *d, tr_error *err)
{
    const uint32_t n = d->whole->states;
    double *gain = tr_design_room(d, n, err);
    const char **law = tr_arena_alloc(&d->arena, d->m + 1u, sizeof *law);
    double *torque = tr_design_room(d, d->m, err);
    if (!gain || !law || !torque) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < d->m && !has_failed(err); i++) {
        Buffer text = {0};
        for (uint32_t j = 0; j < n; j++) {
            gain[j] = 0;
            for (uint32_t k = 0; k < d->n; k++)
                gain[j] += d->shown.K[i * d->n + k] * d->T[k * n + j];
        }
        const double constant = torque[i] = d->in[d->whole->input_of[d->column[i]]];
        if (tr_feedback_write(d->system, d->whole, d->in, gain, constant, &text, err))
            law[i] = tr_arena_text(&d->arena, text.at, text.length);
        if (!law[i]) tr_fail_memory(err);
        tr_buffer_free(&text);
    }
    d->shown.law = law, d->torque = torque;
    return !has_failed(err);
}

// ---- all of it -----------------------------------------------------------------------------

// The state where the lineariser stands, with what is defined by other values as well
static bool take_state(Design *d, Lineariser *lineariser, tr_error *err)
{
    System *s = d->system;
    double *values = tr_design_room(d, s->input_count, err);
    Expr *symbols = tr_arena_alloc(&d->arena, s->input_count + 1u, sizeof *symbols);
    if (!values || !symbols) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->input_count; i++) symbols[i] = s->inputs[i].symbol;
    d->in = values;
    return tr_evaluate_once(s, symbols, s->input_count, OPEN_PARAMETERS,
                            tr_lineariser_inputs(lineariser), values, err);
}

static bool design(Design *d, Lineariser *lineariser, const tr_lqr_options *o, tr_error *err)
{
    Parts parts = {0};
    if (!take_state(d, lineariser, err)) return false;
    d->whole = tr_lineariser_take(lineariser, err);
    if (d->whole && d->whole->states > MOST_STATES)
        tr_fail(err, TR_FAILED, (Place){0}, "more than %d states", MOST_STATES);
    if (!d->whole || has_failed(err) || !find_controls(d, o->inputs, err)) return false;
    d->shown.unsteadiness = tr_lineariser_unsteadiness(lineariser);
    d->shown.inputs = d->m;
    return tr_design_states(d, lineariser, err) && tr_design_weigh(d, o, err) &&
           tr_design_coordinates(d, err) && tr_design_parts(d, &parts, err) &&
           tr_design_check_reach(d, parts.alone > 0, err) && regulate(d, &parts, err) &&
           take_eigenvalues(d, err) && write_laws(d, err);
}

void tr_lqr_fill(tr_lqr_options *options, size_t size)
{
    const tr_lqr_options plain = {0};
    tr_give_options(options, size, &plain, sizeof plain);
}

const tr_lqr *tr_lqr_design(const System *system, const tr_lqr_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_lqr_options o = tr_lqr_defaults();
    if (!system || !options || !tr_take_options(&o, sizeof o, options, "tr_lqr_defaults", err))
        return NULL;
    Design *d = calloc(1, sizeof *d);
    if (!d) return tr_fail_memory(err), NULL;
    d->shown.step = o.step;
    if (!isfinite(o.step) || o.step < 0)
        tr_fail(err, TR_USAGE, (Place){0}, "the step must be positive");
    Lineariser *lineariser = tr_lineariser_new(system, err);
    d->system = lineariser ? tr_lineariser_system(lineariser) : NULL;
    d->source = system;
    const bool good = lineariser && design(d, lineariser, &o, err);
    d->system = NULL; // goes with the lineariser
    tr_lineariser_free(lineariser);
    if (good) return &d->shown;
    tr_lqr_free(&d->shown);
    return NULL;
}

void tr_lqr_free(const tr_lqr *lqr)
{
    Design *d = (Design *)(uintptr_t)lqr; // its first member
    if (!d) return;
    tr_linear_free(d->whole);
    tr_arena_free(&d->arena);
    free(d);
}
