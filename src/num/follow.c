// SPDX-License-Identifier: Apache-2.0
#include "num/follow.h"

#include "num/dense.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define ALIKE 1e-6 // eigenvalues so near that it does not matter which is which

// ---- assignments ---------------------------------------------------------------------------

// The assignment of rows to columns with the least sum of costs, by shortest augmenting paths with
// potentials (Kuhn, Munkres). Rows and columns count from 1 inside.
typedef struct Matching {
    uint32_t n;
    const double *cost;
    double *u, *v, *least;
    uint32_t *row_of, *way;
    bool *used;
} Matching;

static void augment(Matching *m, uint32_t row)
{
    uint32_t column = 0;
    m->row_of[0] = row;
    for (uint32_t j = 0; j <= m->n; j++) m->least[j] = (double)INFINITY, m->used[j] = false;
    do {
        m->used[column] = true;
        const uint32_t i = m->row_of[column];
        double delta = (double)INFINITY;
        uint32_t next = 0;
        for (uint32_t j = 1; j <= m->n; j++) {
            if (m->used[j]) continue;
            const double now = m->cost[(size_t)(i - 1) * m->n + j - 1] - m->u[i] - m->v[j];
            if (now < m->least[j]) m->least[j] = now, m->way[j] = column;
            if (!next || m->least[j] < delta) delta = m->least[j], next = j;
        }
        for (uint32_t j = 0; j <= m->n; j++)
            if (m->used[j])
                m->u[m->row_of[j]] += delta, m->v[j] -= delta;
            else
                m->least[j] -= delta;
        column = next;
    } while (m->row_of[column]);
    while (column) {
        m->row_of[column] = m->row_of[m->way[column]];
        column = m->way[column];
    }
}

static bool match(const double *cost, uint32_t n, uint32_t *to)
{
    Matching m = {.n = n, .cost = cost};
    m.u = calloc(3 * (n + 1u), sizeof *m.u);
    m.row_of = calloc(2 * (n + 1u), sizeof *m.row_of);
    m.used = calloc(n + 1u, sizeof *m.used);
    const bool good = m.u && m.row_of && m.used;
    if (good) {
        m.v = m.u + n + 1, m.least = m.v + n + 1, m.way = m.row_of + n + 1;
        for (uint32_t i = 1; i <= n; i++) augment(&m, i);
        for (uint32_t j = 1; j <= n; j++) to[m.row_of[j] - 1] = j - 1;
    }
    free(m.u);
    free(m.row_of);
    free(m.used);
    return good;
}

// ---- eigenvalues ---------------------------------------------------------------------------

static bool are_conjugate(const double *a, const double *b)
{
    return a[1] != 0 && a[0] == b[0] && a[1] == -b[1];
}

// Conjugates stay together, and of a pair the one that was above stays there. Of two real ones that
// meet the first goes up; of a pair that parts the upper one goes right. False when a pair has two
// ways to go.
static bool mend_pairs(const double *was, const double *is, uint32_t n, uint32_t *to)
{
    bool clear = true;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            if (a == b || !are_conjugate(was + 2 * a, was + 2 * b) || was[2 * a + 1] < 0) continue;
            const double *ia = is + 2 * to[a], *ib = is + 2 * to[b];
            const bool parted = ia[1] == 0 && ib[1] == 0;
            if (!parted && !are_conjugate(ia, ib)) clear = false;
            if (parted ? ia[0] < ib[0] : are_conjugate(ia, ib) && ia[1] < 0) {
                const uint32_t other = to[a];
                to[a] = to[b], to[b] = other;
            }
        }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            if (was[2 * a + 1] == 0 && was[2 * b + 1] == 0 &&
                are_conjugate(is + 2 * to[a], is + 2 * to[b]) && is[2 * to[a] + 1] < 0) {
                const uint32_t other = to[a];
                to[a] = to[b], to[b] = other;
            }
    return clear;
}

// Whether another way for two branches would be about as good
static bool is_clear(const double *cost, const double *was, const double *is, uint32_t n,
                     const uint32_t *to)
{
    double size = 0;
    for (uint32_t k = 0; k < n; k++) size = larger(size, hypot(is[2 * k], is[2 * k + 1]));
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++) {
            const double *ia = is + 2 * to[a], *ib = is + 2 * to[b];
            if (apart(ia, ib) <= ALIKE * size || are_conjugate(ia, ib) ||
                are_conjugate(was + 2 * a, was + 2 * b))
                continue;
            const double straight = cost[(size_t)a * n + to[a]] + cost[(size_t)b * n + to[b]];
            const double crossed = cost[(size_t)a * n + to[b]] + cost[(size_t)b * n + to[a]];
            if (crossed < 3 * straight) return false;
        }
    return true;
}

bool tr_follow(const double *was, const double *slopes, double change, const double *is, uint32_t n,
               uint32_t *to, bool *clear)
{
    double *cost = malloc(((size_t)n * n + 1) * sizeof *cost);
    for (uint32_t a = 0; cost && a < n; a++) {
        const double guess[2] = {was[2 * a] + change * slopes[2 * a],
                                 was[2 * a + 1] + change * slopes[2 * a + 1]};
        for (uint32_t b = 0; b < n; b++) cost[(size_t)a * n + b] = apart(guess, is + 2 * b);
    }
    const bool good = cost && match(cost, n, to);
    if (good) {
        const bool together = mend_pairs(was, is, n, to);
        *clear = is_clear(cost, was, is, n, to) && together;
    }
    free(cost);
    return good;
}

// ---- roots ---------------------------------------------------------------------------------

double tr_bracketed_root(double (*f)(void *, double), void *owner, double a, double fa, double b,
                         double fb)
{
    enum { MOST_ROOT_STEPS = 200 };
    for (int i = 0; i < MOST_ROOT_STEPS && fa != 0 && fb != 0; i++) {
        const double width = fabs(b - a);
        if (width <= 2 * DBL_EPSILON * fmax(fabs(a), fabs(b))) break;
        double x = b - fb * (b - a) / (fb - fa);
        const double least = DBL_EPSILON * fmax(fabs(a), fabs(b)); // step off the ends
        if (!(fabs(x - a) > least && fabs(x - b) > least) || i % 4 == 3) x = a + (b - a) / 2;
        const double fx = f(owner, x);
        if (isnan(fx)) break;
        if ((fx > 0) == (fb > 0))
            fa /= 2; // Illinois: the end that stays counts less
        else
            a = b, fa = fb;
        b = x, fb = fx;
    }
    return fabs(fa) < fabs(fb) ? a : b;
}
