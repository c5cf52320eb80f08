// SPDX-License-Identifier: Apache-2.0
// Linear-quadratic regulators. A linear model has states that no weight sees and that change
// nothing (place, heading, angles of wheels): they are left out. It may also have steady motions
// beside the given one that no input reaches, such as straight running at another speed: left
// vectors l with l A = 0, l B = 0. With L of these and R of the motions themselves, A R = 0 and
// L R = 1, the feedback acts on (1 - R L) x, which stays in the kernel of L (T106).
#include "base/json.h"
#include "run/eval.h"
#include "run/feedback.h"
#include "run/modes.h"
#include "run/riccati.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 100, MOST_STATES = 500 };
#define SMALL 1e-10 // singular values that are zero, beside the largest

typedef struct Weight {
    Text name;
    double value;
    double *row; // by the states of the whole model
} Weight;

typedef struct Design {
    tr_lqr shown;
    System *system;
    Arena arena;
    Linear *whole; // all states, all inputs
    const double *in;
    Text controls[MOST_NAMES];
    uint32_t *column; // of each control, in the whole model
    Weight weights[MOST_NAMES];
    uint32_t weight_count;
    uint32_t n, m;
    double *A, *B, *Q, *R, *K;
    double *T; // n * all states: x = T x_whole
    char neutral[200];
} Design;

static double *room_for(Design *d, size_t count, tr_error *err)
{
    double *room = tr_arena_alloc(&d->arena, count + 1, sizeof *room);
    if (!room) tr_fail_memory(err);
    return room;
}

// ---- names and weights ---------------------------------------------------------------------

// The part of a list before the next comma, without blanks
static Text next_item(const char **at)
{
    while (**at == ' ') (*at)++;
    Text item = {*at, strcspn(*at, ",")};
    *at += item.length + ((*at)[item.length] == ',');
    while (item.length && item.at[item.length - 1] == ' ') item.length--;
    return item;
}

static bool is_control(Text name, const char *input)
{
    return text_is(name, input) || (strncmp(input, "torque.", 7) == 0 && text_is(name, input + 7));
}

static bool find_controls(Design *d, const char *list, tr_error *err)
{
    const Linear *l = d->whole;
    d->column = tr_arena_alloc(&d->arena, MOST_NAMES, sizeof *d->column);
    if (!d->column) return tr_fail_memory(err), false;
    while (list && *list && d->m < MOST_NAMES && !has_failed(err)) {
        const Text name = next_item(&list);
        Suggestion nearest = {.wanted = name};
        char hint[TR_HINT_SIZE];
        uint32_t k = 0;
        while (k < l->inputs && !is_control(name, l->input[k]))
            tr_suggest(&nearest, text_of(l->input[k++]));
        if (k == l->inputs)
            tr_fail(err, TR_USAGE, (Place){0}, "there is no input '%.*s'%s", TEXT(name),
                    tr_hint(&nearest, hint));
        for (uint32_t i = 0; i < d->m; i++)
            if (d->column[i] == k)
                tr_fail(err, TR_USAGE, (Place){0}, "the input '%.*s' is named twice", TEXT(name));
        d->controls[d->m] = name, d->column[d->m++] = k;
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
    *name = (Text){item.at, before};
    while (name->length && name->at[name->length - 1] == ' ') name->length--;
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
    double *row = room_for(d, l->states, err);
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
        if (read_weight(next_item(&list), &name, &value, err)) weigh(d, name, value, err);
    }
    return !has_failed(err);
}

static bool read_r(Design *d, const char *list, tr_error *err)
{
    d->R = room_for(d, (size_t)d->m * d->m, err);
    for (uint32_t i = 0; d->R && i < d->m; i++) d->R[i * d->m + i] = 1;
    while (d->R && list && *list && !has_failed(err)) {
        Text name;
        double value;
        bool found = false;
        if (!read_weight(next_item(&list), &name, &value, err)) return false;
        for (uint32_t i = 0; i < d->m; i++)
            if (text_equal(name, d->controls[i])) d->R[i * d->m + i] = value, found = true;
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
    more.A = room_for(d, (size_t)N * N, err), more.B = room_for(d, (size_t)N * n, err);
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
    d->A = room_for(d, (size_t)left * left, err), d->T = room_for(d, (size_t)left * n, err);
    d->B = room_for(d, (size_t)left * d->m, err);
    const bool good = state && d->A && d->T && d->B;
    if (!good) tr_fail_memory(err);
    for (uint32_t i = 0; good && i < left; i++) {
        state[i] = less->state[i];
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

// A weight's row by the states that are left: those are x = T x_whole with T = 1 on themselves.
static double weight_at(const Design *d, const Weight *weight, uint32_t state)
{
    const Linear *l = d->whole;
    for (uint32_t k = 0; k < l->states; k++)
        if (l->state[k] == d->shown.state[state]) return weight->row[k];
    return 0;
}

// 1 for every state that has no weight of its own, and w^T w for each that is given
static bool make_q(Design *d, tr_error *err)
{
    const uint32_t n = d->n;
    d->Q = room_for(d, (size_t)n * n, err);
    if (!d->Q) return false;
    for (uint32_t i = 0; i < n; i++) d->Q[i * n + i] = 1;
    for (uint32_t k = 0; k < d->weight_count; k++)
        for (uint32_t i = 0; i < n; i++)
            if (text_is(d->weights[k].name, d->shown.state[i])) d->Q[i * n + i] = 0;
    for (uint32_t k = 0; k < d->weight_count; k++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                d->Q[i * n + j] += d->weights[k].value * weight_at(d, &d->weights[k], i) *
                                   weight_at(d, &d->weights[k], j);
    return true;
}

// ---- what the inputs reach -----------------------------------------------------------------

// The names of the largest entries of a vector
static void name_states(const Design *d, const double *size, char *line, size_t room)
{
    double most = 0;
    line[0] = 0;
    for (uint32_t i = 0; i < d->n; i++) most = fmax(most, size[i]);
    for (uint32_t i = 0; i < d->n; i++)
        if (size[i] > 0.1 * most) tr_list_name(line, room, d->shown.state[i]);
}

static double column_size(const Design *d, uint32_t j)
{
    double sum = 0;
    for (uint32_t i = 0; i < d->n; i++) sum += d->B[i * d->m + j] * d->B[i * d->m + j];
    return sqrt(sum);
}

static double matrix_size(const Design *d)
{
    double most = 0;
    for (uint32_t i = 0; i < d->n * d->n; i++) most = fmax(most, fabs(d->A[i]));
    return most > 0 ? most : 1;
}

// The smallest singular value of [A - z, B], beside the size of A; columns of B are made that size
static double reach_of(const Design *d, double re, double im, lapack_complex_double *room)
{
    const uint32_t n = d->n, N = n + d->m;
    const double size = matrix_size(d);
    double sigma[MOST_STATES], rest[MOST_STATES];
    lapack_complex_double none;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            room[i * N + j] =
                lapack_make_complex_double(d->A[i * n + j] - (i == j ? re : 0), i == j ? -im : 0);
        for (uint32_t j = 0; j < d->m; j++) {
            const double length = column_size(d, j);
            room[i * N + n + j] =
                lapack_make_complex_double(length > 0 ? d->B[i * d->m + j] * size / length : 0, 0);
        }
    }
    if (LAPACKE_zgesvd(LAPACK_ROW_MAJOR, 'N', 'N', (lapack_int)n, (lapack_int)N, room,
                       (lapack_int)N, sigma, &none, 1, &none, 1, rest))
        return 0;
    return sigma[n - 1] / size;
}

static void refuse(const Design *d, double re, double im, const double *vectors, uint32_t k,
                   tr_error *err)
{
    char names[200], value[64];
    double *size = calloc(d->n + 1u, sizeof *size);
    const bool oscillates = im != 0;
    for (uint32_t i = 0; size && i < d->n; i++)
        size[i] = hypot(vectors[i * d->n + k], oscillates ? vectors[i * d->n + k + 1] : 0);
    if (size) name_states(d, size, names, sizeof names);
    if (oscillates)
        snprintf(value, sizeof value, "%.6g +- %.6gi", re, fabs(im));
    else
        snprintf(value, sizeof value, "%.6g", fabs(re) < 1e-9 ? 0 : re);
    tr_fail(err, TR_FAILED, (Place){0},
            "the inputs cannot move the eigenvalue %s, a motion mostly of %s: nothing makes it "
            "decay",
            value, size ? names : "some state");
    free(size);
}

// Eigenvalues as real and imaginary parts one after the other; right vectors unless V is NULL
static bool find_eigenvalues(const double *A, uint32_t n, double *values, double *V, tr_error *err)
{
    double *copy = malloc(((size_t)n * n + 2 * n + 1) * sizeof *copy), none;
    bool good = copy != NULL;
    if (good) {
        double *re = copy + (size_t)n * n, *im = re + n;
        memcpy(copy, A, (size_t)n * n * sizeof *copy);
        good =
            LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', V ? 'V' : 'N', (lapack_int)n, copy, (lapack_int)n,
                          re, im, &none, (lapack_int)n, V ? V : &none, (lapack_int)n) == 0;
        for (uint32_t k = 0; k < n; k++) values[2 * k] = re[k], values[2 * k + 1] = im[k];
    }
    if (!good) tr_fail_memory(err);
    free(copy);
    return good;
}

// Every motion that does not decay must be reached, but for those that are left alone.
static bool check_reach(const Design *d, bool skip_zero, tr_error *err)
{
    const uint32_t n = d->n;
    double *V = malloc(((size_t)n * n + 2 * n + 1) * sizeof *V), *z = V ? V + (size_t)n * n : NULL;
    lapack_complex_double *room = malloc(((size_t)n * (n + d->m) + 1) * sizeof *room);
    if (!V || !room) tr_fail_memory(err);
    if (V && room && find_eigenvalues(d->A, n, z, V, err))
        for (uint32_t k = 0; k < n; k++) {
            const double re = z[2 * k], im = z[2 * k + 1], size = matrix_size(d);
            if (re < -1e-9 * size || im < 0 || has_failed(err)) continue;
            if (skip_zero && hypot(re, im) < 1e-6 * size) continue;
            if (reach_of(d, re, im, room) < SMALL) refuse(d, re, im, V, k, err);
        }
    free(V);
    free(room);
    return !has_failed(err);
}

// ---- steady motions beside this one --------------------------------------------------------

// Left singular vectors of [A, B] or right ones of A, by columns; from `rank` on they are made
// nothing.
static bool singular_vectors(const Design *d, bool left, double *vectors, uint32_t *rank)
{
    const uint32_t n = d->n, N = left ? n + d->m : n;
    double *M = malloc(((size_t)n * N + (size_t)n * n + 2 * N + 1) * sizeof *M), none;
    if (!M) return false;
    double *V = M + (size_t)n * N, *sigma = V + (size_t)n * n;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) M[i * N + j] = d->A[i * n + j];
        for (uint32_t j = n; j < N; j++)
            M[i * N + j] =
                d->B[i * d->m + j - n] * matrix_size(d) / fmax(column_size(d, j - n), 1e-300);
    }
    const bool good =
        LAPACKE_dgesvd(LAPACK_ROW_MAJOR, left ? 'A' : 'N', left ? 'N' : 'A', (lapack_int)n,
                       (lapack_int)N, M, (lapack_int)N, sigma, left ? vectors : &none,
                       (lapack_int)n, left ? &none : V, (lapack_int)n, sigma + n) == 0;
    *rank = 0;
    while (good && *rank < n && sigma[*rank] > SMALL * fmax(sigma[0], 1e-300)) (*rank)++;
    for (uint32_t i = 0; i < n && !left; i++)
        for (uint32_t j = 0; j < n; j++) vectors[i * n + j] = V[j * n + i];
    free(M);
    return good;
}

// The states in parts: U = [N, L]; L^T A = 0, L^T B = 0, A R = 0, L^T R = 1
typedef struct Parts {
    uint32_t kept, alone; // columns of N, of L
    double *U, *V, *R;    // n * n each
} Parts;

// R = V (L^T V)^+ over the right vectors from `rank` on
static bool find_motions(const Design *d, Parts *parts, uint32_t rank)
{
    const uint32_t n = d->n, s = parts->alone, v = n - rank;
    double *M = calloc((size_t)s * v + (size_t)n * s + n + 1, sizeof *M);
    if (!M || v < s) return free(M), false;
    double *X = M + (size_t)s * v, *sigma = X + (size_t)n * s;
    lapack_int found = 0;
    for (uint32_t i = 0; i < s; i++) {
        X[i * s + i] = 1;
        for (uint32_t j = 0; j < v; j++)
            for (uint32_t k = 0; k < n; k++)
                M[i * v + j] += parts->U[k * n + parts->kept + i] * parts->V[k * n + rank + j];
    }
    const lapack_int status =
        LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)s, (lapack_int)v, (lapack_int)s, M,
                       (lapack_int)v, X, (lapack_int)s, sigma, 1e-6, &found);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < s; j++) {
            parts->R[i * s + j] = 0;
            for (uint32_t k = 0; k < v; k++)
                parts->R[i * s + j] += parts->V[i * n + rank + k] * X[k * s + j];
        }
    free(M);
    return !status && found == (lapack_int)s;
}

// A weight that was asked for sees one of the motions: then they are not to be left alone.
static bool is_wanted(const Design *d, const Parts *parts)
{
    for (uint32_t w = 0; w < d->weight_count; w++)
        for (uint32_t k = 0; k < parts->alone; k++) {
            double seen = 0, size = 0;
            for (uint32_t i = 0; i < d->n; i++) {
                const double r = parts->R[i * parts->alone + k];
                seen += weight_at(d, &d->weights[w], i) * r, size = fmax(size, fabs(r));
            }
            if (d->weights[w].value > 0 && fabs(seen) > 1e-8 * size) return true;
        }
    return false;
}

static bool find_parts(Design *d, Parts *parts, tr_error *err)
{
    const uint32_t n = d->n;
    const size_t nn = (size_t)n * n;
    uint32_t rank = n;
    parts->U = room_for(d, nn, err), parts->V = room_for(d, nn, err);
    parts->R = room_for(d, nn, err);
    if (!parts->R || !singular_vectors(d, true, parts->U, &parts->kept) ||
        !singular_vectors(d, false, parts->V, &rank))
        return tr_fail_memory(err), false;
    parts->alone = n - parts->kept;
    if (!parts->alone || !find_motions(d, parts, rank) || is_wanted(d, parts)) {
        parts->kept = n, parts->alone = 0; // all as it is
        for (size_t i = 0; i < nn; i++) parts->U[i] = i / n == i % n;
    }
    double *size = room_for(d, n, err);
    for (uint32_t i = 0; size && i < n; i++)
        for (uint32_t k = 0; k < parts->alone; k++)
            size[i] = fmax(size[i], fabs(parts->R[i * parts->alone + k]));
    if (size && parts->alone) name_states(d, size, d->neutral, sizeof d->neutral);
    d->shown.neutral = parts->alone;
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

static bool regulate(Design *d, const Parts *parts, double step, tr_error *err)
{
    const uint32_t k = parts->kept, m = d->m;
    const size_t kk = (size_t)k * k;
    double *A = room_for(d, kk, err), *B = room_for(d, (size_t)k * m, err),
           *Q = room_for(d, kk, err), *P = room_for(d, kk, err),
           *K = room_for(d, (size_t)m * k, err);
    d->K = room_for(d, (size_t)m * d->n, err);
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
    double *before = room_for(d, 2 * (size_t)d->n, err),
           *after = room_for(d, 2 * (size_t)d->n, err),
           *loop = room_for(d, (size_t)d->n * d->n, err);
    const Regulator whole = {d->n, d->m, d->shown.step > 0, d->A, d->B, d->Q, d->R};
    if (has_failed(err)) return false;
    tr_riccati_loop(&whole, d->K, loop);
    d->shown.before = before, d->shown.after = after;
    return find_eigenvalues(d->A, d->n, before, NULL, err) &&
           find_eigenvalues(loop, d->n, after, NULL, err);
}

// ---- laws ----------------------------------------------------------------------------------

// What a control is at the initial state: the input's value, or what the law was that it replaces
static double control_value(Design *d, uint32_t control, tr_error *err)
{
    System *s = d->system;
    const char *input = d->whole->input[d->column[control]];
    char name[300];
    double value = 0;
    snprintf(name, sizeof name, "outputs.law.%.*s", TEXT(d->controls[control]));
    if (strncmp(input, "torque.", 7) == 0 && tr_system_output(s, text_of(name))) {
        const tr_compile_options open = {.fix_parameters = false};
        tr_program *program = tr_compile(s, name, &open, err);
        tr_workspace *work = tr_workspace_new(program, err);
        if (work) tr_evaluate(program, work, d->in, &value);
        tr_workspace_free(work);
        tr_program_free(program);
        return value;
    }
    for (uint32_t i = 0; i < s->input_count; i++)
        if (strcmp(s->inputs[i].name, input) == 0) value = d->in[i];
    return value;
}

static bool write_laws(Design *d, tr_error *err)
{
    const uint32_t n = d->whole->states;
    double *gain = room_for(d, n, err);
    const char **law = tr_arena_alloc(&d->arena, d->m + 1u, sizeof *law);
    if (!gain || !law) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < d->m && !has_failed(err); i++) {
        Buffer text = {0};
        for (uint32_t j = 0; j < n; j++) {
            gain[j] = 0;
            for (uint32_t k = 0; k < d->n; k++) gain[j] += d->K[i * d->n + k] * d->T[k * n + j];
        }
        const double constant = control_value(d, i, err);
        if (tr_feedback_write(d->system, d->whole, d->in, gain, constant, &text, err))
            law[i] = tr_arena_text(&d->arena, text.at, text.length);
        if (!law[i]) tr_fail_memory(err);
        tr_buffer_free(&text);
    }
    d->shown.law = law;
    return !has_failed(err);
}

// ---- all of it -----------------------------------------------------------------------------

static bool show(Design *d, tr_error *err)
{
    tr_lqr *l = &d->shown;
    const char **input = tr_arena_alloc(&d->arena, d->m + 1u, sizeof *input);
    for (uint32_t i = 0; input && i < d->m; i++)
        input[i] = tr_arena_text(&d->arena, d->controls[i].at, d->controls[i].length);
    for (uint32_t i = 0; input && i < d->m; i++)
        if (!input[i]) input = NULL;
    if (!input) return tr_fail_memory(err), false;
    l->input = input, l->inputs = d->m;
    l->A = d->A, l->B = d->B, l->Q = d->Q, l->R = d->R, l->K = d->K;
    return true;
}

// The state where the lineariser stands, with what is defined by other values as well
static bool take_state(Design *d, Lineariser *lineariser, tr_error *err)
{
    System *s = d->system;
    const tr_compile_options open = {.fix_parameters = false};
    double *values = room_for(d, s->input_count, err);
    Expr *symbols = tr_arena_alloc(&d->arena, s->input_count + 1u, sizeof *symbols);
    if (!values || !symbols) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->input_count; i++) symbols[i] = s->inputs[i].symbol;
    tr_system_put(s, "run.state", symbols, s->input_count, 1, err);
    tr_program *program = tr_compile(s, "run.state", &open, err);
    tr_workspace *work = tr_workspace_new(program, err);
    if (work) tr_evaluate(program, work, tr_lineariser_inputs(lineariser), values);
    tr_workspace_free(work);
    tr_program_free(program);
    d->in = values;
    return !has_failed(err);
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
    return read_q(d, o->q, err) && read_r(d, o->r, err) && leave_out(d, err) && make_q(d, err) &&
           find_parts(d, &parts, err) && check_reach(d, parts.alone > 0, err) &&
           regulate(d, &parts, o->step, err) && take_eigenvalues(d, err) && write_laws(d, err) &&
           show(d, err);
}

const tr_lqr *tr_lqr_design(System *system, const tr_lqr_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!system || !options || has_failed(err)) return NULL;
    Design *d = calloc(1, sizeof *d);
    if (!d) return tr_fail_memory(err), NULL;
    d->system = system, d->shown.step = options->step;
    if (!isfinite(options->step) || options->step < 0)
        tr_fail(err, TR_USAGE, (Place){0}, "the step must be positive");
    Lineariser *lineariser = tr_lineariser_new(system, err);
    const bool good = lineariser && design(d, lineariser, options, err);
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

// ---- words ---------------------------------------------------------------------------------

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

// A formula with laws in place of inputs; false when it uses none.
static bool replace_inputs(const Design *d, const char *formula, Buffer *out)
{
    for (uint32_t k = 0; k < d->m; k++) // alone it needs no brackets
        if (strcmp(formula, d->shown.input[k]) == 0)
            return tr_buffer_print(out, "%s", d->shown.law[k]), true;
    bool found = false;
    for (const char *at = formula; *at;) {
        size_t length = 0;
        while (is_name_character(at[length])) length++;
        uint32_t k = 0;
        while (k < d->m && !(length && text_is((Text){at, length}, d->shown.input[k]))) k++;
        if (k < d->m) tr_buffer_print(out, "(%s)", d->shown.law[k]), found = true;
        if (k == d->m) tr_buffer_add(out, at, length ? length : 1);
        at += length ? length : 1;
    }
    return found;
}

static bool is_joint(const Design *d, uint32_t control)
{
    return !text_is(d->controls[control], d->whole->input[d->column[control]]);
}

static void write_roles(const Design *d, Buffer *out)
{
    const struct Source *source = &d->system->source;
    bool any = false;
    for (uint32_t i = 0; i < d->m; i++) {
        if (!is_joint(d, i)) continue;
        tr_buffer_print(out, "%s  %s:\n    torque: %s\n", any ? "" : "roles:\n", d->shown.input[i],
                        d->shown.law[i]);
        any = true;
    }
    for (uint32_t i = 0; i < source->torque_count; i++) {
        Buffer torque = {0};
        bool taken = false;
        for (uint32_t k = 0; k < d->m; k++)
            taken = taken || (is_joint(d, k) && text_is(d->controls[k], source->torques[i].name));
        if (!taken && replace_inputs(d, source->torques[i].formula, &torque)) {
            tr_buffer_print(out, "%s  %s:\n    torque: %s\n", any ? "" : "roles:\n",
                            source->torques[i].name, torque.at);
            any = true;
        }
        tr_buffer_free(&torque);
    }
    for (uint32_t i = 0; i < d->m; i++)
        if (!is_joint(d, i))
            tr_buffer_print(out, "# %s = %s\n", d->shown.input[i], d->shown.law[i]);
}

char *tr_lqr_roles(const tr_lqr *lqr, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!lqr || has_failed(err)) return NULL;
    const Design *d = (const Design *)lqr;
    Buffer out = {0};
    tr_buffer_print(&out, "# Feedback that is best for small motions about the initial state%s.\n",
                    lqr->step > 0 ? ", acting in steps: hold it in between" : "");
    write_roles(d, &out);
    return tr_text_finish(&out, err);
}

static void add_complex(Buffer *out, const double *z)
{
    tr_buffer_number(out, z[0]);
    if (z[1] == 0) return;
    tr_buffer_print(out, z[1] < 0 ? " - " : " + ");
    tr_buffer_number(out, fabs(z[1]));
    tr_buffer_print(out, "i");
}

static void write_words(const Design *d, Buffer *out)
{
    const tr_lqr *l = &d->shown;
    for (size_t i = 0; i < l->inputs; i++) {
        tr_buffer_print(out, "input    %s\n", l->input[i]);
        for (size_t j = 0; j < l->states; j++) {
            tr_buffer_print(out, "gain     %-24s ", l->state[j]);
            tr_buffer_number(out, l->K[i * l->states + j]);
            tr_buffer_print(out, "\n");
        }
    }
    for (int after = 0; after < 2; after++)
        for (size_t i = 0; i < l->states; i++) {
            tr_buffer_print(out, after ? "closed   " : "open     ");
            add_complex(out, (after ? l->after : l->before) + 2 * i);
            tr_buffer_print(out, "\n");
        }
    tr_buffer_print(out, "residual ");
    tr_buffer_number(out, l->residual);
    tr_buffer_print(out, "\n");
    if (l->neutral)
        tr_buffer_print(out,
                        "note     no input reaches the steady motions beside this one, of %s: they "
                        "are left alone, with eigenvalue %d\n",
                        d->neutral, l->step > 0);
    if (l->unsteadiness > 1e-6) {
        tr_buffer_print(out, "note     the initial state is not steady: accelerations up to ");
        tr_buffer_number(out, l->unsteadiness);
        tr_buffer_print(out, "\n");
    }
    write_roles(d, out);
}

static void write_matrix(Json *j, const char *name, const double *x, size_t rows, size_t columns)
{
    tr_json_open(j, name, '[');
    for (size_t i = 0; i < rows; i++) {
        tr_json_open(j, NULL, '[');
        for (size_t k = 0; k < columns; k++) tr_json_number(j, NULL, x[i * columns + k]);
        tr_json_close(j, ']');
    }
    tr_json_close(j, ']');
}

static void write_names(Json *j, const char *key, const char *const *names, size_t count)
{
    tr_json_open(j, key, '[');
    for (size_t i = 0; i < count; i++) tr_json_text(j, NULL, names[i]);
    tr_json_close(j, ']');
}

static void write_json(const Design *d, Json *j)
{
    const tr_lqr *l = &d->shown;
    tr_json_open(j, NULL, '{');
    write_names(j, "states", l->state, l->states);
    write_names(j, "inputs", l->input, l->inputs);
    if (l->step > 0) tr_json_number(j, "step", l->step);
    write_matrix(j, "A", l->A, l->states, l->states);
    write_matrix(j, "B", l->B, l->states, l->inputs);
    write_matrix(j, "Q", l->Q, l->states, l->states);
    write_matrix(j, "R", l->R, l->inputs, l->inputs);
    write_matrix(j, "K", l->K, l->inputs, l->states);
    write_matrix(j, "eigenvalues", l->after, l->states, 2);
    write_matrix(j, "open_eigenvalues", l->before, l->states, 2);
    tr_json_number(j, "residual", l->residual);
    tr_json_number(j, "unsteadiness", l->unsteadiness);
    tr_json_number(j, "neutral", (double)l->neutral);
    tr_json_open(j, "laws", '{');
    for (size_t i = 0; i < l->inputs; i++) tr_json_text(j, l->input[i], l->law[i]);
    tr_json_close(j, '}');
    tr_json_close(j, '}');
}

char *tr_lqr_text(const tr_lqr *lqr, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!lqr || has_failed(err)) return NULL;
    Json j = {0};
    if (json)
        write_json((const Design *)lqr, &j);
    else
        write_words((const Design *)lqr, &j.text);
    return tr_text_finish(&j.text, err);
}
