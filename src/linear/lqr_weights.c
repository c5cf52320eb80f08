// SPDX-License-Identifier: Apache-2.0
// What a regulator keeps small: the sum of the squares of all displacements and velocities of the
// model, and of what is named, each by its row in the tangent of the constraints. Displacements
// that change nothing cost nothing, as far as no name sees them: the sum is the least along them
// (T141). The states are then described by coordinates in which that sum is y^T y, so that what is
// small, or nearest, does not depend on which states there are.
#include "linear/lqr.h"

#include "num/dense.h"
#include "num/singular.h"
#include "num/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- names and weights ---------------------------------------------------------------------

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

static const Weighable *weighable_called(const Design *d, Text name, tr_error *err)
{
    Suggestion nearest = {.wanted = name};
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < d->weighable_count; i++) {
        const Weighable *w = &d->weighable[i];
        if (text_is(name, w->name) || (w->also && text_is(name, w->also))) return w;
        tr_suggest(&nearest, text_of(w->name));
    }
    tr_fail(err, TR_USAGE, (Place){0}, "there is no coordinate, velocity or output '%.*s'%s",
            TEXT(name), tr_hint(&nearest, hint));
    return NULL;
}

static void weigh(Design *d, Text name, double value, tr_error *err)
{
    const Weighable *of = weighable_called(d, name, err);
    if (!of) return;
    if (!all_finite(of->row, (size_t)d->whole->states + d->m))
        tr_fail(err, TR_FAILED, (Place){0},
                "the derivative of '%.*s' is not finite at this state: it can have no weight",
                TEXT(name));
    else if (d->weight_count == MOST_NAMES)
        tr_fail(err, TR_USAGE, (Place){0}, "more than %d weights", MOST_NAMES);
    else
        d->weights[d->weight_count++] = (Weight){of, value, NULL};
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

bool tr_design_weigh(Design *d, const tr_lqr_options *o, tr_error *err)
{
    return read_q(d, o->q, err) && read_r(d, o->r, err);
}

// ---- states that are left ------------------------------------------------------------------

// The linear model with a state more for each weight, which collects it; T is what unit inputs
// become.
static bool collect(Design *d, Linear *more, tr_error *err)
{
    const Linear *l = d->whole;
    const uint32_t n = l->states, N = n + d->weight_count;
    const char **names = tr_arena_alloc(&d->arena, N + n + 1u, sizeof *names);
    *more = (Linear){.states = N, .inputs = n, .displacements = l->displacements};
    more->A = tr_design_room(d, (size_t)N * N, err);
    more->B = tr_design_room(d, (size_t)N * n, err);
    more->state_of = tr_arena_alloc(&d->arena, N + 1u, sizeof *more->state_of);
    if (!names || !more->state_of) tr_fail_memory(err);
    if (has_failed(err)) return false;
    more->state = names, more->input = names + N;
    for (uint32_t i = 0; i < N; i++) more->state_of[i] = i;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(more->A + (size_t)i * N, l->A + (size_t)i * n, n * sizeof *more->A);
        more->B[i * n + i] = 1;
    }
    for (uint32_t i = n; i < N; i++)
        if (d->weights[i - n].value > 0)
            memcpy(more->A + (size_t)i * N, d->weights[i - n].of->row, n * sizeof *more->A);
    return true;
}

// Leaves out displacements that change nothing that has a weight.
static bool leave_out(Design *d, double *A, tr_error *err)
{
    const uint32_t n = d->whole->states;
    Linear more, *less = collect(d, &more, err) ? tr_linear_reduced(&more, 0, err) : NULL;
    if (!less) return false;
    const uint32_t left = d->n = less->states - d->weight_count;
    const char **state = tr_arena_alloc(&d->arena, left + 1u, sizeof *state);
    d->kept = tr_arena_alloc(&d->arena, left + 1u, sizeof *d->kept);
    d->T = tr_design_room(d, (size_t)left * n, err);
    const bool good = state && d->kept && d->T;
    if (!good) tr_fail_memory(err);
    for (uint32_t i = 0; good && i < left; i++) {
        d->kept[i] = less->state_of[i];
        state[i] = d->whole->state[d->kept[i]];
        memcpy(A + (size_t)i * left, less->A + (size_t)i * less->states, left * sizeof *A);
        memcpy(d->T + (size_t)i * n, less->B + (size_t)i * n, n * sizeof *d->T);
    }
    d->shown.state = state, d->shown.states = left;
    tr_linear_free(less);
    if (!left)
        tr_fail(err, TR_FAILED, (Place){0},
                "nothing is to be kept small: give a weight to a coordinate or an output");
    return !has_failed(err);
}

// ---- squares -------------------------------------------------------------------------------

static const Weight *weight_of(const Design *d, const Weighable *w)
{
    for (uint32_t k = 0; k < d->weight_count; k++)
        if (d->weights[k].of == w) return &d->weights[k];
    return NULL;
}

// The directions Z that are left out, T Z = 0: by rows of states of the whole model
static uint32_t find_ignored(const Design *d, double *Z)
{
    const uint32_t n = d->whole->states, s = n - d->n;
    uint32_t k = 0;
    for (uint32_t j = 0, i = 0; j < n; j++) {
        if (i < d->n && d->kept[i] == j) {
            i++;
            continue;
        }
        Z[(size_t)j * s + k] = 1;
        for (uint32_t row = 0; row < d->n; row++)
            Z[(size_t)d->kept[row] * s + k] = -d->T[(size_t)row * n + j];
        k++;
    }
    return s;
}

// X - X Z (X Z)^+ X: rows without what can be undone along Z. `room`: rows * (s + n) + s * n
static bool leave_ignored(double *X, uint32_t rows, uint32_t n, const double *Z, uint32_t s,
                          double *room)
{
    double *XZ = room, *back = XZ + (size_t)rows * s;
    if (!s || !rows) return true;
    tr_multiply(X, Z, rows, n, s, XZ);
    memcpy(back, X, (size_t)rows * n * sizeof *X);
    if (!tr_least_squares(XZ, rows, s, back, n, 1e-9, NULL)) return false;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < s; k++)
            for (uint32_t j = 0; j < n; j++)
                X[(size_t)i * n + j] -= XZ[(size_t)i * s + k] * back[(size_t)k * n + j];
    return true;
}

// Of all that counts 1, by the states that are left: of all of it, or of what has no weight of its
// own
static bool add_squares(const Design *d, bool all, double *Q)
{
    const uint32_t n = d->whole->states, most = d->weighable_count;
    double *Z = calloc((size_t)n * n + (size_t)most * n + 1, sizeof *Z), *X = Z + (size_t)n * n;
    double *room = calloc(2 * ((size_t)most + n) * n + 1, sizeof *room);
    bool good = Z && room;
    uint32_t rows = 0;
    for (uint32_t i = 0; good && i < most; i++) {
        const Weighable *w = &d->weighable[i];
        if (!w->counts || (!all && weight_of(d, w))) continue;
        memcpy(X + (size_t)rows++ * n, w->row, n * sizeof *X);
    }
    const uint32_t s = good ? find_ignored(d, Z) : 0;
    good = good && leave_ignored(X, rows, n, Z, s, room);
    for (uint32_t r = 0; good && r < rows; r++)
        for (uint32_t i = 0; i < d->n; i++)
            for (uint32_t j = 0; j < d->n; j++)
                Q[i * d->n + j] += X[(size_t)r * n + d->kept[i]] * X[(size_t)r * n + d->kept[j]];
    free(Z);
    free(room);
    return good;
}

// w (c x + D u)^2 for each weight that is given
static void add_weights(const Design *d, double *Q, double *N)
{
    const uint32_t n = d->n, m = d->m;
    for (uint32_t k = 0; k < d->weight_count; k++) {
        const double w = d->weights[k].value, *c = d->weights[k].of->row, *D = c + d->whole->states;
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = 0; j < n; j++) Q[i * n + j] += w * c[d->kept[i]] * c[d->kept[j]];
            for (uint32_t j = 0; j < m; j++) N[i * m + j] += w * c[d->kept[i]] * D[j];
        }
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t j = 0; j < m; j++) d->R[i * m + j] += w * D[i] * D[j];
    }
}

// ---- coordinates ---------------------------------------------------------------------------

// y^T y is the sum of all squares: S = L L^T, y = L^T x
static bool find_coordinates(Design *d, tr_error *err)
{
    const uint32_t n = d->n;
    double *S = tr_design_room(d, (size_t)n * n, err);
    d->M = tr_design_room(d, (size_t)n * n, err);
    d->inverse = tr_design_room(d, (size_t)n * n, err);
    if (has_failed(err)) return false;
    if (!add_squares(d, true, S)) return tr_fail_memory(err), false;
    if (!tr_cholesky(S, n))
        return tr_fail(err, TR_FAILED, (Place){0}, "the states depend on each other"), false;
    for (uint32_t i = 0; i < n; i++) {
        d->inverse[i * n + i] = 1;
        for (uint32_t j = i; j < n; j++) d->M[i * n + j] = S[j * n + i];
    }
    tr_solve_lower_transposed(S, n, d->inverse, n);
    return true;
}

// X by y: M A M^-1, M B, M^-T Q M^-1, M^-T N, and rows of weights times M^-1
static bool change_coordinates(Design *d, const double *Q, const double *N, tr_error *err)
{
    const uint32_t n = d->n, m = d->m;
    const size_t nn = (size_t)n * n, nm = (size_t)n * m;
    double *room = tr_design_room(d, nn, err);
    d->A = tr_design_room(d, nn, err), d->B = tr_design_room(d, nm, err);
    d->Q = tr_design_room(d, nn, err), d->N = tr_design_room(d, nm, err);
    if (has_failed(err)) return false;
    tr_multiply(d->M, d->shown.A, n, n, n, room);
    tr_multiply(room, d->inverse, n, n, n, d->A);
    tr_multiply(d->M, d->shown.B, n, n, m, d->B);
    tr_multiply_transposed(d->inverse, Q, n, n, n, room);
    tr_multiply(room, d->inverse, n, n, n, d->Q);
    tr_multiply_transposed(d->inverse, N, n, n, m, d->N);
    for (size_t i = 0; i < nm; i++) d->has_products = d->has_products || N[i] != 0;
    for (uint32_t k = 0; k < d->weight_count; k++) {
        double *row = d->weights[k].row = tr_design_room(d, n, err);
        if (!row) return false;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                row[j] += d->weights[k].of->row[d->kept[i]] * d->inverse[i * n + j];
    }
    return true;
}

bool tr_design_coordinates(Design *d, tr_error *err)
{
    const Linear *l = d->whole;
    const uint32_t n = l->states, m = d->m;
    double *A = tr_design_room(d, (size_t)n * n, err), *B = tr_design_room(d, (size_t)n * m, err),
           *Q = tr_design_room(d, (size_t)n * n, err), *N = tr_design_room(d, (size_t)n * m, err);
    if (has_failed(err) || !leave_out(d, A, err)) return false;
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t j = 0; j < m; j++)
            for (uint32_t k = 0; k < n; k++)
                B[i * m + j] += d->T[i * n + k] * l->B[k * l->inputs + d->column[j]];
    d->shown.A = A, d->shown.B = B, d->shown.Q = Q, d->shown.R = d->R, d->shown.N = N;
    if (!add_squares(d, false, Q)) return tr_fail_memory(err), false;
    add_weights(d, Q, N);
    return find_coordinates(d, err) && change_coordinates(d, Q, N, err);
}
