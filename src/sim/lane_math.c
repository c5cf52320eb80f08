// SPDX-License-Identifier: Apache-2.0
// Every loop over lanes has a number of rounds that the compiler knows, and becomes a vector or
// two. Compiled once for each machine.
#include "sim/lane_math.h"

#include "num/dense.h"
#include "plan/chart.h"
#include "plan/flow.h"
#include "sim/glance.h"
#include "sim/method.h"

#include <float.h>
#include <math.h>

#define INLINE       static inline __attribute__((always_inline))
#define EACH_LANE(k) for (uint32_t k = 0; k < L; k++)
#define ROW(x, i)    ((x) + (size_t)(i)*L)

static inline double yes(bool is) { return is ? 1 : 0; }
static inline double both(double plain, bool is) { return is ? plain : 0; }

// ---- steps -------------------------------------------------------------------------- (T84) ----

INLINE void begin(const uint32_t L, LaneSteps *s)
{
    const double step = s->step, until = s->until;
    EACH_LANE(k)
    {
        const bool ended = (s->t[k] >= until) | ((s->there[k] != 0) & is_at(s->t[k], until, step));
        const double here = grid_end(s->start[k], s->count[k], step);
        const bool goes_on = (s->there[k] != 0) & is_at(here, s->t[k], step);
        const double start = goes_on ? s->start[k] : s->t[k], count = goes_on ? s->count[k] : 0;
        const double t = grid_end(start, count, step), end = grid_end(start, count + 1, step);
        const bool whole = is_whole_step(end, until, step), free = s->due[k] > end + 1e-6 * step;
        s->arrived[k] = yes(ended);
        s->on[k] = yes(!ended & free);
        s->h[k] = whole ? step : until - t;
        s->end[k] = whole ? end : until;
        s->whole[k] = yes(whole);
        s->start[k] = !ended & free ? start : s->start[k];
        s->count[k] = !ended & free ? count : s->count[k];
        s->t[k] = ended ? until : free ? t : s->t[k];
    }
}

// z = y + h k, rounded once
INLINE void along(const uint32_t L, uint32_t count, const double *restrict y,
                  const double *restrict h, const double *restrict k, double *const *z)
{
    for (uint32_t i = 0; i < count; i++) {
        double *restrict zi = z[i];
        EACH_LANE(n) zi[n] = fma(h[n], ROW(k, i)[n], ROW(y, i)[n]);
    }
}

INLINE void keep(const uint32_t L, uint32_t count, Rows from, double *restrict to)
{
    for (uint32_t i = 0; i < count; i++) {
        const double *restrict row = from[i];
        EACH_LANE(n) ROW(to, i)[n] = row[n];
    }
}

INLINE void times(const uint32_t L, uint32_t count, const double *restrict h,
                  const double *restrict k, double *restrict u)
{
    for (uint32_t i = 0; i < count; i++) EACH_LANE(n) ROW(u, i)[n] = h[n] * ROW(k, i)[n];
}

INLINE void plus(const uint32_t L, uint32_t count, const double *restrict y,
                 const double *restrict u, double *restrict z)
{
    for (uint32_t i = 0; i < count; i++) EACH_LANE(n) ROW(z, i)[n] = ROW(y, i)[n] + ROW(u, i)[n];
}

// h/6 (k1 + 2 (k2 + k3) + k4)
INLINE void mix(const uint32_t L, uint32_t count, const double *restrict h, double *const *k,
                double *restrict u)
{
    const double *restrict k1 = k[0], *restrict k2 = k[1], *restrict k3 = k[2], *restrict k4 = k[3];
    for (uint32_t i = 0; i < count; i++) EACH_LANE(n)
        {
            const double middle = ROW(k2, i)[n] + ROW(k3, i)[n];
            ROW(u, i)[n] = h[n] / 6 * (ROW(k1, i)[n] + 2 * middle + ROW(k4, i)[n]);
        }
}

INLINE void check_finite(const uint32_t L, uint32_t count, const double *restrict x,
                         double *restrict plain)
{
    double off[MOST_LANES] = {0};
    for (uint32_t i = 0; i < count; i++) EACH_LANE(n) off[n] += 0 * ROW(x, i)[n]; // NaN of others
    EACH_LANE(n) plain[n] = both(plain[n], off[n] == 0);
}

INLINE void put(const uint32_t L, uint32_t count, const double *restrict x, double *const *rows)
{
    for (uint32_t i = 0; i < count; i++) {
        double *restrict to = rows[i];
        EACH_LANE(n) to[n] = ROW(x, i)[n];
    }
}

// ---- projection --------------------------------------------------------------------- (T83) ----

INLINE void worst_of(const uint32_t L, uint32_t count, Rows x, double *restrict worst)
{
    double most[MOST_LANES] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *restrict xi = x[i];
        EACH_LANE(n) most[n] = larger(most[n], fabs(xi[n]));
    }
    EACH_LANE(n) worst[n] = most[n];
}

// J J^T, of which the lower triangle counts
INLINE void multiply_slopes(const uint32_t L, const LaneCorrection *c)
{
    for (uint32_t i = 0; i < c->m; i++)
        for (uint32_t k = 0; k <= i; k++) {
            double sum[MOST_LANES] = {0};
            for (uint32_t j = 0; j < c->n; j++) {
                const double *restrict a = c->J[(size_t)i * c->n + j];
                const double *restrict b = c->J[(size_t)k * c->n + j];
                EACH_LANE(n) sum[n] += a[n] * b[n];
            }
            EACH_LANE(n) ROW(c->JJ, i * c->m + k)[n] = sum[n];
        }
}

INLINE void factorise(const uint32_t L, const LaneCorrection *c)
{
    const uint32_t m = c->m;
    double *A = c->JJ;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t k = 0; k <= i; k++) {
            double sum[MOST_LANES];
            EACH_LANE(n) sum[n] = ROW(A, i * m + k)[n];
            for (uint32_t j = 0; j < k; j++)
                EACH_LANE(n) sum[n] -= ROW(A, i * m + j)[n] * ROW(A, k * m + j)[n];
            if (k < i)
                EACH_LANE(n) ROW(A, i * m + k)[n] = sum[n] / ROW(A, k * m + k)[n];
            else
                EACH_LANE(n)
                {
                    const bool good = ((sum[n] > 0) & (sum[n] <= DBL_MAX)) | (c->on[n] == 0);
                    c->plain[n] = both(c->plain[n], good);
                    ROW(A, i * m + i)[n] = sqrt(sum[n]);
                }
        }
}

INLINE void solve(const uint32_t L, const LaneCorrection *c)
{
    const uint32_t m = c->m;
    const double *A = c->JJ;
    double *B = c->solution;
    for (uint32_t i = 0; i < m; i++) {
        EACH_LANE(n) ROW(B, i)[n] = c->phi[i][n];
        for (uint32_t j = 0; j < i; j++)
            EACH_LANE(n) ROW(B, i)[n] -= ROW(A, i * m + j)[n] * ROW(B, j)[n];
        EACH_LANE(n) ROW(B, i)[n] /= ROW(A, i * m + i)[n];
    }
    for (uint32_t i = m; i-- > 0;) {
        EACH_LANE(n) ROW(B, i)[n] /= ROW(A, i * m + i)[n];
        for (uint32_t j = 0; j < i; j++)
            EACH_LANE(n) ROW(B, j)[n] -= ROW(A, i * m + j)[n] * ROW(B, i)[n];
    }
}

// x -= J^T (J J^T)^-1 phi
INLINE void correct(const uint32_t L, LaneCorrection *c)
{
    multiply_slopes(L, c);
    factorise(L, c);
    solve(L, c);
    for (uint32_t i = 0; i < c->m; i++)
        for (uint32_t j = 0; j < c->n; j++) {
            const double *restrict slope = c->J[(size_t)i * c->n + j];
            double *restrict x = ROW(c->x, j);
            EACH_LANE(n)
            {
                const double moved = x[n] - slope[n] * ROW(c->solution, i)[n];
                x[n] = c->on[n] != 0 ? moved : x[n];
            }
        }
}

// ---- charts ------------------------------------------------------------------------- (T65) ----

INLINE void rescale(const uint32_t L, LaneRows *r)
{
    double largest[MOST_LANES] = {0};
    for (uint32_t i = 0; i < r->constraints; i++)
        EACH_LANE(n) largest[n] = larger(largest[n], ROW(r->size, i)[n] * r->unit[i]);
    for (uint32_t i = 0; i < r->rows; i++) EACH_LANE(n)
        {
            const double size = ROW(r->size, i)[n];
            const bool counts = !r->open[i] & (size * r->unit[i] > 1e-12 * largest[n]);
            ROW(r->scale, i)[n] = counts ? 1 / size : 0;
        }
}

INLINE void keep_sizes(const uint32_t L, LaneRows *r)
{
    const size_t count = (size_t)r->rows * L;
    for (size_t i = 0; i < count; i++) r->old[i] = r->size[i], r->old[count + i] = r->scale[i];
    r->grew = true;
}

// Sizes seldom grow.
INLINE void grow(const uint32_t L, LaneRows *r, Rows sizes, const double *restrict on,
                 double *restrict plain)
{
    double off[MOST_LANES] = {0}, more[MOST_LANES] = {0}, any = 0;
    for (uint32_t i = 0; i < r->rows; i++) {
        const double *restrict size = sizes[i], *restrict most = ROW(r->size, i);
        EACH_LANE(n) off[n] += 0 * size[n];
        EACH_LANE(n) more[n] = size[n] > most[n] ? on[n] : more[n];
    }
    EACH_LANE(n) plain[n] = both(plain[n], off[n] == 0);
    EACH_LANE(n) any += more[n];
    r->grew = false;
    if (!(any > 0)) return;
    keep_sizes(L, r);
    for (uint32_t i = 0; i < r->rows; i++) {
        const double *restrict size = sizes[i];
        double *restrict most = ROW(r->size, i);
        EACH_LANE(n) most[n] = (on[n] != 0) & (size[n] > most[n]) ? size[n] : most[n];
    }
    rescale(L, r);
}

INLINE void pivots_of(const uint32_t L, uint32_t count, const uint32_t *row,
                      const double *restrict scale, Rows pivots, double *restrict least,
                      double *restrict sign, double *restrict plain)
{
    double low[MOST_LANES], turns[MOST_LANES], fit[MOST_LANES];
    EACH_LANE(n) low[n] = turns[n] = fit[n] = 1;
    for (uint32_t i = 0; i < count; i++) {
        const double *restrict pi = pivots[i];
        EACH_LANE(n)
        {
            const double pivot = ROW(scale, row[i])[n] * pi[n], size = fabs(pivot);
            fit[n] = both(fit[n], (size > 0) & (size <= DBL_MAX));
            low[n] = smaller(low[n], size);
            turns[n] = pivot < 0 ? -turns[n] : turns[n];
        }
    }
    EACH_LANE(n) least[n] = low[n], sign[n] = turns[n], plain[n] = both(plain[n], fit[n] != 0);
}

INLINE void judge(const uint32_t L, const LaneQualities *q, double *restrict plain)
{
    EACH_LANE(n)
    {
        double h;
        const double now = q->least[0][n], last = q->least[1][n];
        const int count = (int)q->count[n];
        const bool turned = q->sign[0][n] != q->sign[1][n];
        const bool safe = pivot_is_safe(now, turned, last, q->least[2][n], count);
        const bool far = (count < 2) | pivot_is_far(now, last, q->t[0][n] - q->t[1][n], &h);
        const bool good = !is_chart_bad(q->tilt[n], now) & (fabs(q->tilt[n]) <= DBL_MAX);
        plain[n] = both(plain[n], safe & far & good);
    }
}

INLINE void alarms_of(const uint32_t L, uint32_t count, Rows margins, const double *restrict told,
                      const double *restrict deaf, double *restrict plain)
{
    for (uint32_t i = 0; i < count; i++) {
        const double *restrict margin = margins[i];
        EACH_LANE(n)
        {
            const bool quiet =
                alarm_is_quiet(margin[n], ROW(told, i)[n] != 0, ROW(deaf, i)[n] != 0);
            plain[n] = both(plain[n], quiet);
        }
    }
}

// Rows that are left over; how far each is off, and what cancels in it, follow each other.
INLINE void hold(const uint32_t L, uint32_t count, const uint32_t *row, Rows seen,
                 const double *restrict largest, double *restrict grown, double *restrict plain)
{
    for (uint32_t i = 0; i < count; i++) {
        const double *restrict off = seen[2 * (size_t)i], *restrict size = seen[2 * (size_t)i + 1];
        EACH_LANE(n)
        {
            const double most = larger(ROW(largest, row[i])[n], size[n]);
            ROW(grown, i)[n] = most;
            plain[n] = both(plain[n], does_row_hold(fabs(off[n]), most));
        }
    }
}

// ---- taking over -------------------------------------------------------------------------------

INLINE void take(const uint32_t L, uint32_t count, const double *restrict on,
                 const double *restrict from, double *restrict to)
{
    for (uint32_t i = 0; i < count; i++)
        EACH_LANE(n) ROW(to, i)[n] = on[n] != 0 ? ROW(from, i)[n] : ROW(to, i)[n];
}

INLINE void take_rows(const uint32_t L, uint32_t count, const double *restrict on, Rows from,
                      double *restrict to)
{
    for (uint32_t i = 0; i < count; i++) {
        const double *restrict x = from[i];
        EACH_LANE(n) ROW(to, i)[n] = on[n] != 0 ? x[n] : ROW(to, i)[n];
    }
}

// ---- for 4 and 8 lanes -------------------------------------------------------------------------

#define EVERY(X)                                                                                   \
    X(begin, begin, (LaneSteps * s), s)                                                            \
    X(along, along,                                                                                \
      (uint32_t n, const double *y, const double *h, const double *k, double *const *z), n, y, h,  \
      k, z)                                                                                        \
    X(keep, keep, (uint32_t n, Rows from, double *to), n, from, to)                                \
    X(times, times, (uint32_t n, const double *h, const double *k, double *u), n, h, k, u)         \
    X(plus, plus, (uint32_t n, const double *y, const double *u, double *z), n, y, u, z)           \
    X(mix, mix, (uint32_t n, const double *h, double *const *k, double *u), n, h, k, u)            \
    X(check_finite, check_finite, (uint32_t n, const double *x, double *plain), n, x, plain)       \
    X(put, put, (uint32_t n, const double *x, double *const *rows), n, x, rows)                    \
    X(worst, worst_of, (uint32_t n, Rows x, double *worst), n, x, worst)                           \
    X(correct, correct, (LaneCorrection * c), c)                                                   \
    X(grow, grow, (LaneRows * r, Rows sizes, const double *on, double *plain), r, sizes, on,       \
      plain)                                                                                       \
    X(pivots, pivots_of,                                                                           \
      (uint32_t n, const uint32_t *row, const double *scale, Rows pivots, double *least,           \
       double *sign, double *plain),                                                               \
      n, row, scale, pivots, least, sign, plain)                                                   \
    X(judge, judge, (const LaneQualities *q, double *plain), q, plain)                             \
    X(alarms, alarms_of,                                                                           \
      (uint32_t n, Rows margins, const double *told, const double *deaf, double *plain), n,        \
      margins, told, deaf, plain)                                                                  \
    X(hold, hold,                                                                                  \
      (uint32_t n, const uint32_t *row, Rows seen, const double *largest, double *grown,           \
       double *plain),                                                                             \
      n, row, seen, largest, grown, plain)                                                         \
    X(take, take, (uint32_t n, const double *on, const double *from, double *to), n, on, from, to) \
    X(take_rows, take_rows, (uint32_t n, const double *on, Rows from, double *to), n, on, from, to)

#define ONE_OF(lanes, body, parameters, ...) \
    static void body##_##lanes parameters { body(lanes, __VA_ARGS__); }
#define OF_4(name, body, parameters, ...)   ONE_OF(4, body, parameters, __VA_ARGS__)
#define OF_8(name, body, parameters, ...)   ONE_OF(8, body, parameters, __VA_ARGS__)
#define NAME_4(name, body, parameters, ...) .name = body##_4,
#define NAME_8(name, body, parameters, ...) .name = body##_8,

EVERY(OF_4)
EVERY(OF_8)

const LaneMath FOR_MACHINE(tr_lane_maths)[LANE_MATHS] = {{.lanes = 4, EVERY(NAME_4)},
                                                         {.lanes = 8, EVERY(NAME_8)}};
