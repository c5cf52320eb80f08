// SPDX-License-Identifier: Apache-2.0
// Loops that controllers and sensors close (T323). With displacements, velocities and states of
// their own x, numbers that are held z and other inputs u:
//
//   at samples    z+ = S_x x + S_z z + S_u u      for those that are due
//   between them  x+ = Phi x + Gamma_z z + Gamma_u u
//
// one after the other, over a time that is a multiple of all periods.
#include "linear/lineariser.h"
#include "num/dense.h"
#include "num/period.h"
#include "plan/evaluator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INSTANTS = 10000 };
#define SAME 1e-9 // of a step: times that are one

typedef struct Loop {
    Lineariser *l;
    const System *system; // the model's
    Linear *plant;        // without samples
    double step;
    uint32_t n, held, others, size; // of x, z, u; n + held
    uint32_t *z, *u;                // columns of the plant's inputs
    double *of_x, *of_u;            // x and z at the end, by those at the start and by u
    double *Phi, *Gamma;            // over `time`
    double time;
    double *room; // size * (size + others)
} Loop;

// ---- times ---------------------------------------------------------------------------------

static bool check_step(const System *s, double step, tr_error *err)
{
    Period common = tr_period_of(s->clocked[0].period);
    bool good = true;
    for (uint32_t i = 0; i < s->clocked_count; i++) {
        const double times = step / s->clocked[i].period;
        good = good && fabs(times - round(times)) <= SAME * times && times > 0.5;
        if (i) common = tr_period_common(common, tr_period_of(s->clocked[i].period));
    }
    if (!good && common.under > 0)
        tr_fail(err, TR_USAGE, (Place){0},
                "the step must be a multiple of the periods of all controllers and sensors: %.9g s "
                "is the shortest",
                common.seconds);
    else if (!good)
        tr_fail(
            err, TR_USAGE, (Place){0},
            "the step must be a multiple of the periods of all controllers and sensors, but '%s' "
            "and others have none in common",
            s->clocked[0].name);
    return !has_failed(err);
}

// The next time of a sample from `after` on; the step where there is none before its end
static double next_sample(const Loop *loop, double after)
{
    double next = loop->step;
    for (uint32_t i = 0; i < loop->system->clocked_count; i++) {
        const double period = loop->system->clocked[i].period;
        const double k = ceil(after / period - SAME), t = k * period;
        if (t < next && loop->step - t > SAME * loop->step) next = t;
    }
    return next;
}

// Who samples at t
static void call(const Loop *loop, double t, bool now)
{
    double *in = tr_lineariser_inputs(loop->l);
    for (uint32_t i = 0; i < loop->system->clocked_count; i++) {
        const Clocked *c = &loop->system->clocked[i];
        const double k = t / c->period;
        in[c->due] = now && fabs(k - round(k)) <= SAME * fmax(k, 1);
    }
}

// ---- where it stands -----------------------------------------------------------------------

// What is held after the samples at t = 0
static bool settle(const Loop *loop, tr_error *err)
{
    const System *s = loop->system;
    double *in = tr_lineariser_inputs(loop->l);
    System *own = tr_lineariser_system(loop->l);
    const Output *samples = tr_system_output(own, text_of("samples"));
    double *values = calloc(samples->rows + 1u, sizeof *values);
    if (!values) return tr_fail_memory(err), false;
    call(loop, 0, true);
    for (uint32_t i = 0; i < s->clocked_count; i++) in[s->clocked[i].first] = 1;
    Exprs list = {0};
    tr_exprs_add(&list, samples->values, samples->rows);
    if (list.failed) tr_fail_memory(err);
    if (!has_failed(err)) tr_system_resolve(own, list.at, list.count);
    const bool good = !has_failed(err) &&
                      tr_evaluate_once(own, list.at, list.count, OPEN_PARAMETERS, in, values, err);
    for (uint32_t i = 0; i < s->clocked_count; i++) in[s->clocked[i].first] = 0;
    call(loop, 0, false);
    for (uint32_t i = 0; good && i < s->held_count; i++)
        in[s->held[i].input] = values[2 * s->clocked_count + i];
    tr_exprs_free(&list);
    free(values);
    return good;
}

// Which inputs of the plant are held, and which are not
static bool sort_inputs(Loop *loop, tr_error *err)
{
    const System *s = loop->system;
    const Linear *p = loop->plant;
    loop->n = p->states, loop->held = s->held_count, loop->size = loop->n + loop->held;
    loop->z = calloc(loop->held + p->inputs + 1u, sizeof *loop->z);
    if (!loop->z) return tr_fail_memory(err), false;
    loop->u = loop->z + loop->held;
    for (uint32_t k = 0; k < p->inputs; k++) {
        uint32_t i = 0;
        while (i < s->held_count && s->held[i].input != p->input_of[k]) i++;
        if (i < s->held_count)
            loop->z[i] = k;
        else
            loop->u[loop->others++] = k;
    }
    const size_t n = loop->size, m = loop->others, all = p->inputs;
    loop->of_x = calloc(2 * n * (n + m) + loop->n * (loop->n + all) + 1, sizeof *loop->of_x);
    if (!loop->of_x) return tr_fail_memory(err), false;
    loop->of_u = loop->of_x + n * n, loop->room = loop->of_u + n * m;
    loop->Phi = loop->room + n * (n + m), loop->Gamma = loop->Phi + (size_t)loop->n * loop->n;
    for (size_t i = 0; i < n; i++) loop->of_x[i * n + i] = 1;
    return true;
}

// ---- one after the other -------------------------------------------------------------------

// Rows `first` to `last` of what is, from all rows as they were: with slopes by x, z and u
static void compose(Loop *loop, uint32_t first, uint32_t last, const double *by_x,
                    const double *by_inputs)
{
    const uint32_t n = loop->n, size = loop->size, m = loop->others, all = loop->plant->inputs;
    double *X = loop->room, *U = X + (size_t)size * size;
    for (uint32_t i = first; i < last; i++) {
        const double *x = by_x + (size_t)(i - first) * n,
                     *v = by_inputs + (size_t)(i - first) * all;
        for (uint32_t j = 0; j < size + m; j++) {
            const double *from = j < size ? loop->of_x + j : loop->of_u + (j - size);
            const size_t stride = j < size ? size : m;
            double sum = j < size ? 0 : v[loop->u[j - size]];
            for (uint32_t k = 0; k < n; k++) sum += x[k] * from[k * stride];
            for (uint32_t k = 0; k < loop->held; k++) sum += v[loop->z[k]] * from[(n + k) * stride];
            *(j < size ? &X[(size_t)i * size + j] : &U[(size_t)i * m + (j - size)]) = sum;
        }
    }
    const size_t rows = last - first;
    memcpy(loop->of_x + (size_t)first * size, X + (size_t)first * size, rows * size * sizeof *X);
    memcpy(loop->of_u + (size_t)first * m, U + (size_t)first * m, rows * m * sizeof *U);
}

static bool sample(Loop *loop, double t, tr_error *err)
{
    const System *s = loop->system;
    call(loop, t, true);
    Linear *at = tr_lineariser_take(loop->l, err);
    call(loop, t, false);
    if (!at) return false;
    const uint32_t first = at->outputs - loop->held;
    for (uint32_t i = 0; i < loop->held; i++)
        if (!tr_linear_has_output(at, first + i))
            tr_fail(err, TR_FAILED, s->clocked[s->held[i].clocked].place,
                    "the derivative of what '%s' says is not finite at this state",
                    s->clocked[s->held[i].clocked].name);
    if (!has_failed(err))
        compose(loop, loop->n, loop->size, at->C + (size_t)first * at->states,
                at->D + (size_t)first * at->inputs);
    tr_linear_free(at);
    return !has_failed(err);
}

static bool move(Loop *loop, double time, tr_error *err)
{
    if (time != loop->time && !tr_linear_discretise(loop->plant, time, loop->Phi, loop->Gamma, err))
        return false;
    loop->time = time;
    compose(loop, 0, loop->n, loop->Phi, loop->Gamma);
    return true;
}

static bool go_round(Loop *loop, tr_error *err)
{
    double t = 0;
    for (uint32_t i = 0; t < loop->step; i++) {
        if (i == MOST_INSTANTS)
            return tr_fail(err, TR_USAGE, (Place){0}, "more than %d samples in a step",
                           MOST_INSTANTS),
                   false;
        const double next = next_sample(loop, t + 2 * SAME * loop->step);
        if (!sample(loop, t, err) || !move(loop, next - t, err)) return false;
        t = next;
    }
    return true;
}

// ---- what matters --------------------------------------------------------------------------

// What is held is a state if anything that is kept depends on it. True if one more is none.
static bool leave_one(const Loop *loop, bool *kept)
{
    for (uint32_t j = loop->n; j < loop->size; j++) {
        bool matters = false;
        for (uint32_t i = 0; i < loop->size; i++)
            matters = matters || (kept[i] && loop->of_x[(size_t)i * loop->size + j] != 0);
        if (!kept[j] || matters) continue;
        kept[j] = false;
        return true;
    }
    return false;
}

static void name_states(const Loop *loop, const bool *kept, Linear *out)
{
    const System *s = loop->system;
    const Linear *p = loop->plant;
    uint32_t k = 0;
    for (uint32_t i = 0; i < loop->size; i++) {
        if (!kept[i]) continue;
        const uint32_t held = i < loop->n ? 0 : s->held[i - loop->n].input;
        out->state_of[k] = i < loop->n ? p->state_of[i] : held;
        out->state[k++] = tr_linear_keep(out, i < loop->n ? p->state[i] : s->inputs[held].name);
    }
    for (uint32_t i = 0; i < loop->others; i++) {
        out->input[i] = tr_linear_keep(out, p->input[loop->u[i]]);
        out->input_of[i] = p->input_of[loop->u[i]];
    }
}

static Linear *result(const Loop *loop, tr_error *err)
{
    const uint32_t size = loop->size, m = loop->others;
    bool *kept = malloc(size + 1u);
    uint32_t count = 0, row = 0;
    if (kept) memset(kept, true, size);
    while (kept && leave_one(loop, kept)) {
    }
    for (uint32_t i = 0; kept && i < size; i++) count += kept[i];
    Linear *out = kept ? tr_linear_new(count, m, 0) : NULL;
    for (uint32_t i = 0; out && i < size; i++) {
        if (!kept[i]) continue;
        for (uint32_t j = 0, k = 0; j < size; j++)
            if (kept[j]) out->A[(size_t)row * count + k++] = loop->of_x[(size_t)i * size + j];
        memcpy(out->B + (size_t)row++ * m, loop->of_u + (size_t)i * m, m * sizeof *out->B);
    }
    if (out) name_states(loop, kept, out), out->displacements = loop->plant->displacements;
    free(kept);
    if (out && tr_linear_has_names(out)) return out;
    tr_linear_free(out);
    return tr_fail_memory(err), NULL;
}

Linear *tr_linearise_loop(const System *system, double step, double *acceleration, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!system || has_failed(err)) return NULL;
    if (!system->clocked_count)
        tr_fail(err, TR_USAGE, (Place){0}, "the model has no controllers and no sensors");
    if (has_failed(err) || !check_step(system, step, err)) return NULL;
    Loop loop = {.system = system, .step = step};
    Linear *out = NULL;
    loop.l = tr_lineariser_of_samples(system, err);
    if (loop.l && settle(&loop, err)) loop.plant = tr_lineariser_take(loop.l, err);
    if (loop.plant && acceleration) *acceleration = tr_lineariser_unsteadiness(loop.l);
    if (loop.plant && sort_inputs(&loop, err) && go_round(&loop, err)) out = result(&loop, err);
    tr_linear_free(loop.plant);
    tr_lineariser_free(loop.l);
    free(loop.z);
    free(loop.of_x);
    return out;
}
