// SPDX-License-Identifier: Apache-2.0
// States some steps apart give divided differences, and these the error of a longer step: that of
// backward differences of order k with steps H is
//
//   H^(k+1) y^(k+1) / (k + 1) = H^(k+1) k! y[t_0, ..., t_(k+1)]
//
// Errors of the states as large as the tolerance let H come out no longer than the states are
// apart; that is long enough to tell (T86).
#include "sim/pace.h"

#include "expr/elementary.h"
#include "num/dense.h"
#include "num/eigenvalue.h"
#include "plan/jacobian.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 7, STRIDE = 20 }; // states, and steps from one to the next

struct Pace {
    Flow *flow;
    double rtol, atol;
    uint32_t count;            // of samples
    uint32_t since;            // steps since the last one
    bool is_first;             // enough of them for the first time
    size_t steps, stops;       // since the start
    double t[SAMPLES], *state; // the oldest first
};

Pace *tr_pace_new(Flow *flow, double rtol, double atol)
{
    Pace *p = calloc(1, sizeof *p);
    if (p) *p = (Pace){.flow = flow, .rtol = rtol, .atol = atol};
    if (p) p->state = calloc((size_t)SAMPLES * flow->own, sizeof *p->state);
    if (p && p->state) return p;
    tr_pace_free(p);
    return NULL;
}

void tr_pace_free(Pace *p)
{
    if (!p) return;
    free(p->state);
    free(p);
}

bool tr_pace_step(Pace *p, double t, const double *y, bool stopped)
{
    const size_t own = p->flow->own;
    p->steps++, p->stops += stopped;
    if (p->count && ++p->since < STRIDE) return false;
    p->since = 0;
    p->is_first = p->count < SAMPLES;
    if (p->count == SAMPLES) {
        memmove(p->t, p->t + 1, (SAMPLES - 1) * sizeof *p->t);
        memmove(p->state, p->state + own, (SAMPLES - 1) * own * sizeof *p->state);
        p->count--;
    }
    p->t[p->count] = t;
    memcpy(p->state + p->count++ * own, y, own * sizeof *y);
    return p->count == SAMPLES;
}

double tr_pace_latest(const Pace *p)
{
    return p->t[SAMPLES - 1] - p->t[p->is_first ? 0 : SAMPLES - 2];
}

bool tr_pace_is_known(const Pace *p) { return p->count == SAMPLES; }

bool tr_pace_is_hurried(const Pace *p) { return 3 * p->stops > p->steps; }

double tr_pace_mean_step(const Pace *p)
{
    return (p->t[SAMPLES - 1] - p->t[0]) / ((SAMPLES - 1) * STRIDE);
}

// y[t_0, ..., t_(count-1)] of entry k, by the newest samples
static double divided_difference(const Pace *p, uint32_t k, int count)
{
    const size_t own = p->flow->own;
    const double *t = p->t + SAMPLES - count, *y = p->state + (size_t)(SAMPLES - count) * own + k;
    double d[SAMPLES] = {0};
    for (int i = 0; i < count; i++) d[i] = y[(size_t)i * own];
    for (int level = 1; level < count; level++)
        for (int i = 0; i + level < count; i++) d[i] = (d[i + 1] - d[i]) / (t[i + level] - t[i]);
    return d[0];
}

double tr_pace_reach(const Pace *p, int order)
{
    const double *last = p->state + (size_t)(SAMPLES - 1) * p->flow->own;
    double sum = 0, factorial = 1;
    assert(p->count == SAMPLES && order + 2 <= SAMPLES); // as many as its difference takes
    for (int i = 2; i <= order; i++) factorial *= i;
    for (uint32_t k = 0; k < p->flow->own; k++) {
        const double weight = p->rtol * fabs(last[k]) + p->atol;
        const double error = factorial * divided_difference(p, k, order + 2) / weight;
        sum += error * error;
    }
    return el_exp(el_log(sum / p->flow->own) / (-2.0 * (order + 1)));
}

bool tr_pace_fastest(Flow *flow, double t, const double *y, Fastest *fastest)
{
    const size_t size = flow->size, n = flow->known; // nothing depends on the rest
    tr_error unused = {0};
    *fastest = (Fastest){0};
    if (!n || !tr_jacobian_ready(flow, &unused)) return false;
    double *J = calloc(size * size + 2 * n, sizeof *J);
    if (!J) return false;
    double *re = J + size * size, *im = re + n;
    tr_jacobian_take(flow, t, y, J);
    for (size_t k = 1; k < n; k++) memmove(J + k * n, J + k * size, n * sizeof *J);
    const bool good = tr_eigenvalues(J, (uint32_t)n, re, im); // those of its transpose
    for (size_t i = 0; good && i < n; i++) {
        const double length = el_hypot(re[i], im[i]), damping = length > 0 ? -re[i] / length : 1;
        if (length > fastest->size) fastest->size = length, fastest->damping = damping;
        if (damping < HARDLY_DAMPED) fastest->undamped = larger(fastest->undamped, length);
    }
    free(J);
    return good;
}
