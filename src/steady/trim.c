// SPDX-License-Identifier: Apache-2.0
// Trim: of a steady motion that is not alone, the one that is meant. Where the equations leave k
// changes N of the unknowns open, conditions g that may be held are taken one after the other,
// those that a user would rather keep first, if they settle something of what is still open:
//
//   |g N| > 1e-6 |g|,   N <- the part of N along which g stays                           (T310)
//
// Along a sweep every value starts from the nearest one that was found.
#include "base/options.h"
#include "linear/linear.h"
#include "num/dense.h"
#include "steady/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HALVINGS = 6, MOST_ROUNDS = 20 };

// ---- what is left open ---------------------------------------------------------------------

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;
    for (uint32_t j = 0; j < n; j++) sum += a[j] * b[j];
    return sum;
}

// Rows of unit length, where unknowns count in sizes that are theirs
static void make_unit(double *row, const double *u, uint32_t n)
{
    double sum = 0;
    for (uint32_t j = 0; j < n; j++) sum += pow(row[j] / (1 + fabs(u[j])), 2);
    for (uint32_t j = 0; sum > 0 && j < n; j++) row[j] /= sqrt(sum);
}

// Whether g settles something of N; then N, of `count` rows, has one less
static bool settles(const double *g, const double *u, uint32_t n, double *N, uint32_t *count)
{
    double size = 0, most = 0;
    uint32_t best = 0;
    for (uint32_t j = 0; j < n; j++) size += pow(g[j] * (1 + fabs(u[j])), 2);
    for (uint32_t r = 0; r < *count; r++) {
        const double along = fabs(dot(g, N + (size_t)r * n, n));
        if (along > most) most = along, best = r;
    }
    if (!(most > 1e-6 * sqrt(size))) return false;
    double *taken = N + (size_t)best * n, *last = N + (size_t)(*count - 1) * n;
    for (uint32_t j = 0; j < n; j++) {
        const double swap = taken[j];
        taken[j] = last[j], last[j] = swap;
    }
    const double whole = dot(g, last, n);
    --*count;
    for (uint32_t r = 0; r < *count; r++) {
        double *row = N + (size_t)r * n;
        const double part = dot(g, row, n) / whole;
        for (uint32_t j = 0; j < n; j++) row[j] -= part * last[j];
        make_unit(row, u, n);
    }
    return true;
}

static bool hold_what_is_open(Steady *p, const double *u, uint32_t excess, const bool *refused)
{
    const uint32_t n = p->unknowns;
    double *N = calloc((size_t)excess * n + 1, sizeof *N);
    if (!N) return false;
    tr_steady_loose(p, excess, N);
    for (uint32_t r = 0; r < excess; r++) make_unit(N + (size_t)r * n, u, n);
    const double *slopes = tr_steady_hold_slopes(p, u);
    for (uint32_t i = 0; i < p->holds && excess; i++)
        if (!p->asked[i] && !refused[i])
            p->asked[i] = settles(slopes + (size_t)i * (n + 1), u, n, N, &excess);
    free(N);
    return true;
}

// What cannot be held after all is refused: all that was chosen is chosen anew, without it.
static bool refuse(Steady *p, const Outcome *out, const bool *given, bool *refused)
{
    const uint32_t first = p->states + p->rows + p->quaternions;
    if (out->worst < first || given[out->worst - first]) return false;
    refused[out->worst - first] = true;
    memcpy(p->asked, given, p->holds * sizeof *given);
    return true;
}

// From the guess: the way to another solution leaves rounding in what symmetries move
static Outcome solve_anew(Steady *p, double *u)
{
    const double swept = u[p->unknowns];
    tr_steady_guess(p, u);
    u[p->unknowns] = swept;
    return tr_steady_solve(p, u, NULL);
}

Outcome tr_steady_trim(Steady *p, double *u)
{
    Outcome out = tr_steady_solve(p, u, NULL);
    bool *given = calloc(2 * (size_t)p->holds + 1, sizeof *given);
    if (!given) return out.no_memory = true, out;
    bool *refused = given + p->holds;
    memcpy(given, p->asked, p->holds * sizeof *given);
    for (int i = 0; i < MOST_ROUNDS && (!out.converged || out.excess); i++) {
        if (!out.converged && !refuse(p, &out, given, refused)) break;
        if (out.converged && !hold_what_is_open(p, u, out.excess, refused)) {
            out.no_memory = true;
            break;
        }
        out = solve_anew(p, u);
    }
    free(given);
    return out;
}

// ---- along a sweep -------------------------------------------------------------------------

typedef struct Trim {
    Steady *p;
    double *found; // unknowns and the value, by solution
    uint32_t count, capacity;
    double *u, *inputs;
} Trim;

static const double *nearest(const Trim *t, double value)
{
    const uint32_t n = t->p->unknowns, w = n + 1;
    const double *best = NULL;
    for (uint32_t i = 0; i < t->count; i++) {
        const double *at = t->found + (size_t)i * w;
        if (!best || fabs(at[n] - value) < fabs(best[n] - value)) best = at;
    }
    return best;
}

static bool keep(Trim *t)
{
    const uint32_t w = t->p->unknowns + 1;
    if (!tr_grow((void **)&t->found, &t->capacity, t->count + 1, w * sizeof *t->found))
        return false;
    memcpy(t->found + (size_t)t->count++ * w, t->u, w * sizeof *t->u);
    return true;
}

// At a value, from the nearest; by way of values between, where that is too far
static bool reach(Trim *t, double value, int halvings, tr_error *err)
{
    Steady *p = t->p;
    const double *from = nearest(t, value);
    if (from)
        memcpy(t->u, from, (p->unknowns + 1u) * sizeof *t->u);
    else
        tr_steady_guess(p, t->u);
    const double middle = from ? from[p->unknowns] + (value - from[p->unknowns]) / 2 : value;
    t->u[p->unknowns] = value;
    Outcome out = from ? tr_steady_solve(p, t->u, NULL) : tr_steady_trim(p, t->u);
    if (from) out.excess = 0; // where other families cross this one
    if (from && !out.converged && halvings)
        return reach(t, middle, halvings - 1, err) && reach(t, value, halvings - 1, err);
    return tr_steady_accept(p, t->u, &out, err) && (keep(t) || (tr_fail_memory(err), false));
}

static bool place(void *owner, double value, double *inputs, uint32_t count, tr_error *err)
{
    Trim *t = owner;
    if (!reach(t, value, MOST_HALVINGS, err)) return false;
    tr_steady_inputs(t->p, t->u, t->inputs);
    memcpy(inputs, t->inputs, count * sizeof *inputs);
    return true;
}

static tr_locus *find_trimmed(const tr_system *system, const char *name, double from, double to,
                              double step, tr_steady_options o, tr_error *err)
{
    if (!tr_system_setting(system, text_of(name), "swept", err)) return NULL;
    Buffer swept = {0};
    tr_buffer_print(&swept, "%s=0:1:1", name);
    o.sweep = swept.at, o.trim = true;
    Trim t = {.p = swept.failed ? NULL : tr_steady_open(system, &o, err)};
    tr_locus *sweep = NULL;
    if (t.p) {
        t.u = calloc(t.p->unknowns + 1u, sizeof *t.u);
        t.inputs = calloc(t.p->system->input_count + 1u, sizeof *t.inputs);
    }
    const Placer placer = {place, &t, o.progress, o.owner};
    if (t.u && t.inputs)
        sweep = tr_locus_placed(system, name, from, to, step, &placer, err);
    else
        tr_fail_memory(err); // unless there are words already
    tr_buffer_free(&swept);
    tr_steady_close(t.p);
    free(t.found);
    free(t.u);
    free(t.inputs);
    return sweep;
}

static tr_locus *find(const tr_system *system, const char *name, double from, double to,
                      double step, const tr_steady_options *options, bool trim, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_steady_options o = tr_steady_defaults();
    if (!system || !name || !tr_take_options(&o, sizeof o, options, "tr_steady_defaults", err))
        return NULL;
    if (trim || o.trim || o.free || o.hold_count)
        return find_trimmed(system, name, from, to, step, o, err);
    const Placer placer = {.progress = o.progress, .watcher = o.owner};
    return tr_locus_placed(system, name, from, to, step, &placer, err);
}

tr_locus *tr_locus_trimmed(const tr_system *system, const char *name, double from, double to,
                           double step, const tr_steady_options *options, tr_error *err)
{
    return find(system, name, from, to, step, options, true, err);
}

tr_locus *tr_locus_find(const tr_system *system, const char *name, double from, double to,
                        double step, const tr_steady_options *options, tr_error *err)
{
    return find(system, name, from, to, step, options, false, err);
}
