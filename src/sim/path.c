// SPDX-License-Identifier: Apache-2.0
// Between (t0, y0) and (t1, y1) with rates f0 and f1, h = t1 - t0, s = (t - t0)/h:
//
//   y = y0 + s (h f0 + s (3 d - h (2 f0 + f1) + s (h (f0 + f1) - 2 d))),   d = y1 - y0      (T111)
//
// and then onto the constraints. A crossing is bracketed on that, and then found to rounding by a
// few Newton steps with states that are one step of order 6 from y0.
#include "sim/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUGH 1e-6 // of a step: how well a crossing is known before exact states are asked for
enum { STAGES = 8, LEAPS = 4, MOST_PROBES = 200, MOST_NEWTON_STEPS = 4 };

bool tr_path_open(Path *p, Flow *flow, tr_error *err)
{
    const size_t size = flow->size;
    *p = (Path){.flow = flow, .rated = PATH_STATES};
    p->room = calloc((STAGES + PATH_STATES + 4) * size + 1, sizeof *p->room);
    if (!p->room) return tr_fail_memory(err), false;
    double *next = p->room + STAGES * size;
    for (int i = 0; i < PATH_STATES; i++, next += size) p->y[i] = next;
    for (int i = 0; i < 2; i++, next += size) p->rate[i] = next;
    p->beside = next, p->found = next + size;
    return true;
}

void tr_path_close(Path *p) { free(p->room); }

static void forget_first(Path *p)
{
    double *oldest = p->y[0];
    for (uint32_t i = 1; i < p->count; i++) p->t[i - 1] = p->t[i], p->y[i - 1] = p->y[i];
    p->y[--p->count] = oldest;
    p->rated = PATH_STATES;
}

void tr_path_add(Path *p, double t, const double *y)
{
    if (p->count == PATH_STATES) forget_first(p);
    p->t[p->count] = t;
    memcpy(p->y[p->count++], y, p->flow->size * sizeof *y);
    p->rated = PATH_STATES;
}

// ---- states --------------------------------------------------------------------------------

// The state before t, of which there is another behind it when t is not beyond the last
static uint32_t piece_of(const Path *p, double t)
{
    uint32_t i = 0;
    while (i + 1 < p->count && p->t[i + 1] < t) i++;
    return i;
}

const double *tr_path_between(Path *p, double t)
{
    const uint32_t i = piece_of(p, t), size = p->flow->size;
    if (i + 1 >= p->count || p->look) return tr_path_exact(p, t);
    for (uint32_t k = 0; k < 2 && p->rated != i; k++)
        tr_flow_rate(p->flow, p->t[i + k], p->y[i + k], p->rate[k]);
    p->rated = i;
    const double h = p->t[i + 1] - p->t[i], s = (t - p->t[i]) / h;
    for (uint32_t k = 0; k < size; k++) {
        const double f0 = h * p->rate[0][k], f1 = h * p->rate[1][k],
                     d = p->y[i + 1][k] - p->y[i][k];
        p->beside[k] = p->y[i][k] + s * (f0 + s * (3 * d - 2 * f0 - f1 + s * (f0 + f1 - 2 * d)));
    }
    tr_flow_project(p->flow, t, p->beside);
    return p->beside;
}

// One step from (t, y), in place, of the formula of order 6 that `erk` is made of: its row of order
// 5 and the stage that only that needs are left out [Verner].
static void leap(Path *p, double t, double h, double *y)
{
    enum { LAST = 6 };
    static const double c[] = {0, 1. / 6, 4. / 15, 2. / 3, 5. / 6, 1. / 15, 1};
    static const double b[LAST + 1][LAST + 1] = {
        {1. / 6},
        {4. / 75, 16. / 75},
        {5. / 6, -8. / 3, 5. / 2},
        {-165. / 64, 55. / 6, -425. / 64, 85. / 96},
        {-8263. / 15000, 124. / 75, -643. / 680, -81. / 250, 2484. / 10625},
        {3501. / 1720, -300. / 43, 297275. / 52632, -319. / 2322, 24068. / 84065, 3850. / 26703},
        {3. / 40, 0, 875. / 2244, 23. / 72, 264. / 1955, 125. / 11592, 43. / 616}};
    const uint32_t size = p->flow->size;
    double *k = p->room, *z = p->room + (size_t)(LAST + 1) * size;
    memcpy(z, y, size * sizeof *z);
    for (int i = 0; i <= LAST; i++) {
        tr_flow_rate(p->flow, t + c[i] * h, z, k + (size_t)i * size);
        for (uint32_t n = 0; n < size; n++) {
            double sum = 0;
            for (int j = 0; j <= i; j++) sum += b[i][j] * k[(size_t)j * size + n];
            z[n] = fma(h, sum, y[n]);
        }
    }
    memcpy(y, z, size * sizeof *y);
}

const double *tr_path_exact(Path *p, double t)
{
    const uint32_t from = piece_of(p, t);
    const int leaps = from + 1 < p->count ? 1 : LEAPS; // beyond, no step says how long they may be
    const double h = (t - p->t[from]) / leaps;
    const bool is_known = p->look && p->look(p->owner, t, p->beside);
    if (!is_known) memcpy(p->beside, p->y[from], p->flow->size * sizeof *p->beside);
    for (int i = 0; i < leaps && h > 0 && !is_known; i++) leap(p, p->t[from] + i * h, h, p->beside);
    tr_flow_project(p->flow, t, p->beside);
    return p->beside;
}

// ---- crossings -----------------------------------------------------------------------------

typedef struct Bracket {
    double low, f_low, high, f_high; // f_low >= 0 > f_high
} Bracket;

// Looks at t, between the two; what it measured
static double narrow(Path *p, Measure m, Bracket *b, double t, bool exactly)
{
    const double *y = exactly ? tr_path_exact(p, t) : tr_path_between(p, t);
    const double f = m.take(m.owner, t, y);
    if (f < 0) {
        b->high = t, b->f_high = f;
        if (exactly) memcpy(p->found, y, p->flow->size * sizeof *y);
    } else
        b->low = t, b->f_low = f;
    return f;
}

static double secant_of(const Bracket *b)
{
    const double t = b->low + (b->high - b->low) * b->f_low / (b->f_low - b->f_high);
    return t > b->low && t < b->high ? t : b->low + (b->high - b->low) / 2;
}

// Until the bracket is as narrow as asked for, where it was positive, else `close`: secants, moved
// towards the middle, and no more probes than one above those of halving
// [Oliveira and Takahashi: interpolate, truncate, project].
static void close_in(Path *p, Measure m, Bracket *b, double enough, double close, bool exactly)
{
    const double whole = b->high - b->low;
    double leeway = close * exp2(ceil(log2(fmax(whole / close, 1))));
    for (int i = 0; i < MOST_PROBES; i++, leeway /= 2) {
        const double width = b->high - b->low, middle = b->low + width / 2;
        if (width <= (b->f_low > 0 ? enough : close)) break;
        const double secant = secant_of(b), towards = middle > secant ? 1 : -1;
        const double shift = 0.2 * width * width / whole, most = fmax(leeway - width / 2, 0);
        double t = shift < fabs(middle - secant) ? secant + towards * shift : middle;
        if (fabs(t - middle) > most) t = middle - towards * most;
        narrow(p, m, b, t > b->low && t < b->high ? t : middle, exactly);
    }
}

// From a guess that is nearly right, with the slope there: some Newton steps; then across, until
// there is a state on either side. Where rounding hides more than `close`, the rest is between
// these.
static void pin_down(Path *p, Measure m, Bracket *b, double t, double slope, double close)
{
    const Bracket whole = *b;
    double f = narrow(p, m, b, t, true), step = -f / slope;
    for (int i = 0; i < MOST_NEWTON_STEPS && fabs(step) >= close / 2; i++) {
        if (!(t + step > b->low && t + step < b->high)) break;
        const double last = f;
        t += step;
        f = narrow(p, m, b, t, true);
        if ((f - last) / step < 0) slope = (f - last) / step;
        step = -f / slope;
    }
    for (double far = fmax(close / 2, fabs(step)); b->high - b->low > close; far *= 8) {
        if (b->low > whole.low && b->high < whole.high) break;
        t = b->high < whole.high ? b->high - far : b->low + far;
        if (!(t > b->low && t < b->high)) break;
        narrow(p, m, b, t, true);
    }
    close_in(p, m, b, close, close, true);
}

double tr_path_crossing(Path *p, Measure m, uint32_t from, double high, double close)
{
    const bool is_beyond = from + 1 >= p->count, exactly = is_beyond || p->look;
    const bool is_next = !is_beyond && high == p->t[from + 1];
    const double *last = is_next ? p->y[from + 1] : tr_path_exact(p, high);
    memcpy(p->found, last, p->flow->size * sizeof *last);
    Bracket b = {.low = p->t[from], .high = high};
    b.f_low = fmax(m.take(m.owner, b.low, p->y[from]), 0);
    b.f_high = fmin(m.take(m.owner, high, p->found), 0);
    Bracket rough = b;
    if (exactly) return close_in(p, m, &b, close, close, true), b.high;
    close_in(p, m, &rough, fmax(ROUGH * (high - b.low), close), close, false);
    const double slope = (rough.f_high - rough.f_low) / (rough.high - rough.low);
    pin_down(p, m, &b, secant_of(&rough), slope, close);
    return b.high;
}
