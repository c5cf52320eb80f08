// SPDX-License-Identifier: Apache-2.0
// Linear-quadratic regulators. A linear model has states that no weight sees and that change
// nothing (place, heading, angles of wheels): they are left out. What no input reaches is left
// alone, see lqr_reach.c: with L of these states and R of the motions themselves the feedback acts
// on (1 - R L) x, which stays in the kernel of L (T106).
#include "linear/lqr.h"

#include "base/options.h"
#include "linear/feedback.h"
#include "linear/law.h"
#include "linear/riccati.h"

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

// ---- names and weights ---------------------------------------------------------------------

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

// name=number
static bool read_weight(Text item, Text *name, double *value, tr_error *err)
{
    char number[64];
    const char *sign = memchr(item.at, '=', item.length);
    const size_t before = sign ? (size_t)(sign - item.at) : 0;
    snprintf(number, sizeof number, "%.*s", sign ? (int)(item.length - before - 1) : 0,
             sign ? sign + 1 : "");
    *name = text_trimmed((Text){item.at, before});
    const char *digits = number + strspn(number, " ");
    if (!name->length || !tr_read_number(digits, value) || *value < 0) {
        tr_fail(err, TR_USAGE, (Place){0}, "a weight is name=number, not negative; not '%.*s'",
                TEXT(item));
        return false;
    }
    return true;
}

static void weigh(Design *d, Text name, double value, tr_error *err)
{
    const Linear *l = d->whole;
    Suggestion nearest = {.wanted = name};
    char hint[TR_HINT_SIZE];
    double *row = tr_design_room(d, l->states, err);
    if (!row) return;
    bool found = false;
    for (uint32_t i = 0; i < l->states && !found; i++) {
        tr_suggest(&nearest, text_of(l->state[i]));
        if (text_is(name, l->state[i])) row[i] = 1, found = true;
    }
    for (uint32_t i = 0; i < l->outputs && !found; i++) {
        tr_suggest(&nearest, text_of(l->output[i]));
        found = text_is(name, l->output[i]);
        if (found) memcpy(row, l->C + (size_t)i * l->states, l->states * sizeof *row);
    }
    if (!found)
        tr_fail(err, TR_USAGE, (Place){0}, "there is no state or output '%.*s'%s", TEXT(name),
                tr_hint(&nearest, hint));
    else if (d->weight_count == MOST_NAMES)
        tr_fail(err, TR_USAGE, (Place){0}, "more than %d weights", MOST_NAMES);
    else
        d->weights[d->weight_count++] = (Weight){name, value, row};
}

static bool read_q(Design *d, const char *list, tr_error *err)
{
    while (list && *list && !has_failed(err)) {
        Text name;
        double value;
        if (read_weight(tr_next_item(&list), &name, &value, err)) weigh(d, name, value, err);
    }
    return !has_failed(err);
}

static bool read_r(Design *d, const char *list, tr_error *err)
{
    d->R = tr_design_room(d, (size_t)d->m * d->m, err);
    for (uint32_t i = 0; d->R && i < d->m; i++) d->R[i * d->m + i] = 1;
    while (d->R && list && *list && !has_failed(err)) {
        Text name;
        double value;
        bool found = false;
        if (!read_weight(tr_next_item(&list), &name, &value, err)) return false;
        for (uint32_t i = 0; i < d->m; i++)
            if (text_is(name, d->shown.input[i])) d->R[i * d->m + i] = value, found = true;
        if (!found)
            tr_fail(err, TR_USAGE, (Place){0}, "'%.*s' is none of the inputs", TEXT(name));
        else if (value == 0)
            tr_fail(err, TR_USAGE, (Place){0}, "the weight of the input '%.*s' must be positive",
                    TEXT(name));
    }
    return !has_failed(err);
}

// ---- states --------------------------------------------------------------------------------

// Leaves out displacements that change nothing that has a weight. For this each weight counts as
// a state that collects it, and T is what unit inputs become.
static bool leave_out(Design *d, tr_error *err)
{
    const Linear *l = d->whole;
    const uint32_t n = l->states, m = d->weight_count, N = n + m;
    Linear more = {.states = N, .inputs = n, .displacements = l->displacements};
    const char **names = tr_arena_alloc(&d->arena, N + n + 1, sizeof *names);
    more.A = tr_design_room(d, (size_t)N * N, err), more.B = tr_design_room(d, (size_t)N * n, err);
    if (!names || !more.A || !more.B) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < N; i++) names[i] = i < n ? l->state[i] : NULL;
    more.state = names, more.input = names + N;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(more.A + (size_t)i * N, l->A + (size_t)i * n, n * sizeof *more.A);
        more.B[i * n + i] = 1;
    }
    for (uint32_t i = 0; i < m; i++)
        memcpy(more.A + (size_t)(n + i) * N, d->weights[i].row, n * sizeof *more.A);
    Linear *less = tr_linear_reduced(&more, 0, err);
    if (!less) return false;
    const uint32_t left = d->n = less->states - m;
    const char **state = tr_arena_alloc(&d->arena, left + 1u, sizeof *state);
    d->A = tr_design_room(d, (size_t)left * left, err),
    d->T = tr_design_room(d, (size_t)left * n, err);
    d->B = tr_design_room(d, (size_t)left * d->m, err);
    const bool good = state && d->A && d->T && d->B;
    if (!good) tr_fail_memory(err);
    for (uint32_t i = 0; good && i < left; i++) {
        state[i] = tr_arena_text(&d->arena, less->state[i], strlen(less->state[i]));
        memcpy(d->A + (size_t)i * left, less->A + (size_t)i * less->states, left * sizeof *d->A);
        memcpy(d->T + (size_t)i * n, less->B + (size_t)i * n, n * sizeof *d->T);
        for (uint32_t j = 0; j < d->m; j++)
            for (uint32_t k = 0; k < n; k++)
                d->B[i * d->m + j] += d->T[i * n + k] * l->B[k * l->inputs + d->column[j]];
    }
    d->shown.state = state, d->shown.states = left;
    tr_linear_free(less);
    return !has_failed(err);
}

double tr_design_weight(const Design *d, const Weight *weight, uint32_t state)
{
    const Linear *l = d->whole;
    for (uint32_t k = 0; k < l->states; k++)
        if (strcmp(l->state[k], d->shown.state[state]) == 0) return weight->row[k];
    return 0;
}

// 1 for every state that has no weight of its own, and w^T w for each that is given
static bool make_q(Design *d, tr_error *err)
{
    const uint32_t n = d->n;
    d->Q = tr_design_room(d, (size_t)n * n, err);
    if (!d->Q) return false;
    for (uint32_t i = 0; i < n; i++) d->Q[i * n + i] = 1;
    for (uint32_t k = 0; k < d->weight_count; k++)
        for (uint32_t i = 0; i < n; i++)
            if (text_is(d->weights[k].name, d->shown.state[i])) d->Q[i * n + i] = 0;
    for (uint32_t k = 0; k < d->weight_count; k++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                d->Q[i * n + j] += d->weights[k].value * tr_design_weight(d, &d->weights[k], i) *
                                   tr_design_weight(d, &d->weights[k], j);
    return true;
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

static bool regulate(Design *d, const Parts *parts, double step, tr_error *err)
{
    const uint32_t k = parts->kept, m = d->m;
    const size_t kk = (size_t)k * k;
    double *A = tr_design_room(d, kk, err), *B = tr_design_room(d, (size_t)k * m, err),
           *Q = tr_design_room(d, kk, err), *P = tr_design_room(d, kk, err),
           *K = tr_design_room(d, (size_t)m * k, err);
    d->K = tr_design_room(d, (size_t)m * d->n, err);
    if (has_failed(err)) return false;
    restrict_to(parts, d->n, d->A, d->n, true, A);
    restrict_to(parts, d->n, d->B, m, false, B);
    restrict_to(parts, d->n, d->Q, d->n, true, Q);
    const Linear part = {.states = k, .inputs = m, .A = A, .B = B},
                 whole = {.states = d->n, .inputs = m, .A = d->A, .B = d->B};
    if (step > 0 && (!tr_linear_discretise(&part, step, A, B, err) ||
                     !tr_linear_discretise(&whole, step, d->A, d->B, err)))
        return false;
    const Regulator small = {k, m, step > 0, A, B, Q, d->R};
    if (!tr_riccati_solve(&small, P, K, err)) return false;
    d->shown.residual = k ? tr_riccati_residual(&small, P) : 0;
    extend(d, parts, K, d->K);
    return true;
}

static bool take_eigenvalues(Design *d, tr_error *err)
{
    double *before = tr_design_room(d, 2 * (size_t)d->n, err),
           *after = tr_design_room(d, 2 * (size_t)d->n, err),
           *loop = tr_design_room(d, (size_t)d->n * d->n, err);
    const Regulator whole = {d->n, d->m, d->shown.step > 0, d->A, d->B, d->Q, d->R};
    if (has_failed(err)) return false;
    tr_riccati_loop(&whole, d->K, loop);
    d->shown.before = before, d->shown.after = after;
    return tr_design_eigenvalues(d->A, d->n, before, NULL, err) &&
           tr_design_eigenvalues(loop, d->n, after, NULL, err);
}

// ---- laws ----------------------------------------------------------------------------------

static bool write_laws(Design *d, tr_error *err)
{
    const uint32_t n = d->whole->states;
    double *gain = tr_design_room(d, n, err);
    const char **law = tr_arena_alloc(&d->arena, d->m + 1u, sizeof *law);
    if (!gain || !law) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < d->m && !has_failed(err); i++) {
        Buffer text = {0};
        for (uint32_t j = 0; j < n; j++) {
            gain[j] = 0;
            for (uint32_t k = 0; k < d->n; k++) gain[j] += d->K[i * d->n + k] * d->T[k * n + j];
        }
        const double constant = d->in[d->whole->input_of[d->column[i]]];
        if (tr_feedback_write(d->system, d->whole, d->in, gain, constant, &text, err))
            law[i] = tr_arena_text(&d->arena, text.at, text.length);
        if (!law[i]) tr_fail_memory(err);
        tr_buffer_free(&text);
    }
    d->shown.law = law;
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
    const bool good =
        read_q(d, o->q, err) && read_r(d, o->r, err) && leave_out(d, err) && make_q(d, err) &&
        tr_design_parts(d, &parts, err) && tr_design_check_reach(d, parts.alone > 0, err) &&
        regulate(d, &parts, o->step, err) && take_eigenvalues(d, err) && write_laws(d, err);
    d->shown.inputs = d->m;
    d->shown.A = d->A, d->shown.B = d->B, d->shown.Q = d->Q, d->shown.R = d->R, d->shown.K = d->K;
    return good;
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
