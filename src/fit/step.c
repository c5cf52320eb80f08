// SPDX-License-Identifier: Apache-2.0
// Steps of Gauss and Newton with the damping of Levenberg and Marquardt: with A the slopes and b
// what is left, each against its deviation, and D the norms of the columns of A,
//
//   A D^-1 = U diag(sigma) V^T      D d = V diag(sigma / (sigma^2 + lambda)) U^T b         (T282)
//
// in which singular values that are as good as zero have no part: along these, values stay what
// they are. Where values p have ranges, a step is the best one within them: values are held at
// bounds until none is left that would rather be within,
//
//   min |A d - b|^2 + lambda |D d|^2   with   least <= p + d <= most
//   w = A^T (b - A d) - lambda D^2 d:  w <= 0 at least, w >= 0 at most, w = 0 between      (T316)
#include "fit/fit.h"
#include "num/dense.h"
#include "num/singular.h"
#include "num/triangle.h"

#include <math.h>

#define LEAST_PUSH 1e-12 // of w, against the sizes of its column and of b, that is none

// Singular values below this against the largest, of slopes in units of their norms, are as good as
// zero.
static double cutoff_of(const Fit *f)
{
    const tr_run_options *how = &f->run->options;
    return fmax(1e-7, f->run->method->adaptive ? 10 * how->rtol : 0);
}

// ---- what is not held ----------------------------------------------------------------------

// b, less what steps of those that are held do
static double left_over(const Fit *f, uint32_t row)
{
    const double *sum = f->sum + (size_t)row * (f->count + 1);
    double b = sum[f->count];
    for (uint32_t k = 0; k < f->count; k++)
        if (f->held[k]) b -= sum[k] * f->step[k];
    return b;
}

static void list_open(Fit *f)
{
    f->open_count = 0;
    for (uint32_t k = 0; k < f->count; k++)
        if (!f->held[k]) f->open[f->open_count++] = k;
}

bool tr_fit_factorise(Fit *f, tr_error *err)
{
    const uint32_t n = f->count;
    double *A = f->room;
    list_open(f);
    const uint32_t m = f->open_count;
    for (uint32_t k = 0; k < n; k++) {
        f->norm[k] = tr_triangle_norm(f->sum, n + 1, k);
        if (!(f->norm[k] > 0)) f->norm[k] = 1;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++)
            A[(size_t)i * m + j] = f->sum[(size_t)i * (n + 1) + f->open[j]] / f->norm[f->open[j]];
    if (m && !tr_singular(A, n, m, f->sigma, f->U, f->Vt))
        return tr_fail(err, TR_FAILED, (Place){0}, "the slopes are not finite"), false;
    for (f->rank = 0; f->rank < m; f->rank++)
        if (!(f->sigma[f->rank] > cutoff_of(f) * f->sigma[0])) break;
    for (uint32_t i = 0; i < m; i++) {
        f->along[i] = 0;
        for (uint32_t j = 0; j < n; j++) f->along[i] += f->U[(size_t)j * n + i] * left_over(f, j);
    }
    return true;
}

static void step_open(Fit *f, double damping)
{
    const uint32_t m = f->open_count;
    for (uint32_t j = 0; j < m; j++) {
        double d = 0;
        for (uint32_t i = 0; i < f->rank; i++)
            d += f->Vt[(size_t)i * m + j] * f->sigma[i] * f->along[i] /
                 (f->sigma[i] * f->sigma[i] + damping);
        f->step[f->open[j]] = d / f->norm[f->open[j]];
    }
}

// ---- within ranges -------------------------------------------------------------------------

// A d, of a row
static double moved(const Fit *f, uint32_t row)
{
    const double *sum = f->sum + (size_t)row * (f->count + 1);
    double move = 0;
    for (uint32_t k = 0; k < f->count; k++) move += sum[k] * f->step[k];
    return move;
}

// w_k: which way chi^2 falls, where this step leads, and 0 where that is rounding          (T316)
static double push_on(const Fit *f, uint32_t k, double damping)
{
    const uint32_t n = f->count;
    double w = 0;
    for (uint32_t i = 0; i < n; i++)
        w += f->sum[(size_t)i * (n + 1) + k] * (f->sum[(size_t)i * (n + 1) + n] - moved(f, i));
    const double norm = tr_triangle_norm(f->sum, n + 1, k),
                 size = norm * tr_triangle_norm(f->sum, n + 1, n);
    w -= damping * norm * norm * f->step[k];
    return fabs(w) > LEAST_PUSH * size ? w : 0;
}

void tr_fit_hold(Fit *f)
{
    memset(f->step, 0, f->count * sizeof *f->step);
    for (uint32_t k = 0; k < f->count; k++) {
        const double p = f->now.p[k];
        f->held[k] = 0;
        if (!f->is_bounded || (p > f->least[k] && p < f->most[k])) continue;
        const double w = push_on(f, k, 0);
        if (p <= f->least[k] && w < 0) f->held[k] = -1;
        if (p >= f->most[k] && w > 0) f->held[k] = 1;
    }
}

static void put_at_bound(Fit *f, uint32_t k, int held)
{
    f->held[k] = held;
    f->step[k] = (held < 0 ? f->least[k] : f->most[k]) - f->now.p[k];
}

// How much of the way from `before` to this step value k can go
static double share_within(const Fit *f, uint32_t k)
{
    const double from = f->before[k], to = f->step[k], p = f->now.p[k];
    const double bound = (to < from ? f->least[k] : f->most[k]) - p;
    if (to < from ? to >= bound : to <= bound) return 1;
    return fmax(0, (bound - from) / (to - from));
}

// As far towards the step as all can go; who stops it is held there. False where none does.
static bool stop_at_bounds(Fit *f)
{
    double share = 1;
    for (uint32_t j = 0; j < f->open_count; j++) share = fmin(share, share_within(f, f->open[j]));
    if (share == 1) return false;
    for (uint32_t j = 0; j < f->open_count; j++) {
        const uint32_t k = f->open[j];
        const double to = f->step[k];
        if (share_within(f, k) <= share)
            put_at_bound(f, k, to < f->before[k] ? -1 : 1);
        else
            f->step[k] = f->before[k] + share * (to - f->before[k]);
    }
    return true;
}

// Of those that are held and would rather be within the one that is pushed most. False: there is
// none
static bool let_go(Fit *f, double damping)
{
    double most = 0;
    uint32_t best = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        const double w = f->held[k] ? -f->held[k] * push_on(f, k, damping) / f->norm[k] : 0;
        if (w > most) most = w, best = k;
    }
    if (most > 0) f->held[best] = 0;
    return most > 0;
}

// From no step at all, which is within, to better ones
static bool step_within(Fit *f, double damping, tr_error *err)
{
    const uint32_t most = 10 * f->count + 10; // for rounding could let it go round in circles
    tr_fit_add_up(f, &f->now);                // a trial has left its own
    tr_fit_hold(f);
    for (uint32_t i = 0; i < most; i++) {
        memcpy(f->before, f->step, f->count * sizeof *f->before);
        if (!tr_fit_factorise(f, err)) return false;
        step_open(f, damping);
        if (!stop_at_bounds(f) && !let_go(f, damping)) return true;
    }
    return true;
}

bool tr_fit_step(Fit *f, double damping, tr_error *err)
{
    if (f->is_bounded) return step_within(f, damping, err);
    step_open(f, damping);
    return true;
}

double tr_fit_stepped(const Fit *f, uint32_t k)
{
    if (f->held[k]) return f->held[k] < 0 ? f->least[k] : f->most[k];
    return f->now.p[k] + f->step[k];
}

// |b|^2 - |b - A d|^2, which is |U^T b|^2 where nothing is held
double tr_fit_gain(const Fit *f)
{
    const double norm = tr_norm(f->along, f->rank);
    double gain = 0;
    if (!f->is_bounded) return norm * norm;
    for (uint32_t i = 0; i < f->count; i++) {
        const double move = moved(f, i);
        gain += move * (2 * f->sum[(size_t)i * (f->count + 1) + f->count] - move);
    }
    return gain;
}
