// SPDX-License-Identifier: Apache-2.0
// With x' = root x, and z the part of x' across what is easy, x' = z + Q^T s:
//
//   |z| least with (1 - B B^+) A' z = (1 - B B^+) b,   A' = A / root,   B = A' Q^T
//   |s| least with B s = b - A' z                                                      (T112)
//
// with rows of A' of length one, and without singular values of B that are small: an easy motion
// that hardly acts would have to be fast.
#include "plan/metric.h"

#include "num/dense.h"
#include "num/singular.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING 1e-12 // what is left of a number when it cancels
#define ACTS    0.1   // on conditions of length one, by an easy motion that is used for them

bool tr_metric_new(Metric *g, uint32_t n, uint32_t easy)
{
    *g = (Metric){.n = n};
    g->root = calloc(n + 1u, sizeof *g->root);
    g->Q = calloc((size_t)easy * n + 1, sizeof *g->Q);
    if (g->root && g->Q) return true;
    tr_metric_free(g);
    return false;
}

void tr_metric_free(Metric *g)
{
    free(g->root);
    free(g->Q);
    *g = (Metric){0};
}

// A motion times root, of length one; zero where it is only what rounding leaves of one, `largest`
// being the largest velocity of all motions
static void take_motion(const Metric *g, const double *motion, double largest, double *row)
{
    double whole = 0;
    for (size_t k = 0; k < g->n; k++) {
        row[k] = motion[k] * g->root[k];
        if (motion[k] != 0) whole = larger(whole, largest * g->root[k]);
    }
    const double size = tr_norm(row, g->n);
    for (size_t k = 0; k < g->n; k++) row[k] = size > NOTHING * whole ? row[k] / size : 0;
}

// An orthonormal basis of the span of the motions
static bool take_easy(Metric *g, const double *motions, uint32_t count)
{
    const size_t n = g->n;
    double *E = calloc(count * n + n * n + count + n + 1, sizeof *E);
    if (!E) return false;
    double *Vt = E + count * n, *sigma = Vt + n * n;
    const double largest = tr_largest(motions, count * n);
    for (size_t i = 0; i < count; i++) take_motion(g, motions + i * n, largest, E + i * n);
    const bool good = tr_singular(E, count, g->n, sigma, NULL, Vt);
    const uint32_t most = count < g->n ? count : g->n;
    while (good && g->easy < most && sigma[g->easy] > 1e-9 * sigma[0]) g->easy++;
    if (good) memcpy(g->Q, Vt, g->easy * n * sizeof *Vt);
    free(E);
    return good;
}

bool tr_metric_take(Metric *g, const double *mass, const double *motions, uint32_t count)
{
    g->easy = 0;
    const bool finite = all_finite(mass, g->n) && all_finite(motions, (size_t)count * g->n);
    for (uint32_t k = 0; k < g->n; k++) g->root[k] = finite && mass[k] > 0 ? sqrt(mass[k]) : 1;
    return !finite || !count || !g->n || take_easy(g, motions, count);
}

// What is left of sums whose terms are of some size, where they cancel
static void drop_nothing(double *x, size_t count, double size)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(x[i]) <= NOTHING * size) x[i] = 0;
}

// What is left of x, `count` long, without its part in the first `rank` columns of U, m * m
static void remove_range(const double *U, uint32_t m, uint32_t rank, double *x, uint32_t count)
{
    const double size = tr_largest(x, (size_t)m * count);
    for (uint32_t c = 0; c < count; c++) {
        for (uint32_t j = 0; j < rank; j++) {
            double part = 0;
            for (uint32_t i = 0; i < m; i++)
                part += U[(size_t)i * m + j] * x[(size_t)i * count + c];
            for (uint32_t i = 0; i < m; i++)
                x[(size_t)i * count + c] -= part * U[(size_t)i * m + j];
        }
    }
    drop_nothing(x, (size_t)m * count, size);
}

// The same in m - rank rows
static bool leave_range(const double *U, uint32_t m, uint32_t rank, double *x, uint32_t count)
{
    const double size = tr_largest(x, (size_t)m * count);
    if (!tr_turn_across(U, m, rank, x, count)) return false;
    drop_nothing(x, (size_t)(m - rank) * count, size);
    return true;
}

typedef struct Room {
    double *A; // A', m * n
    double *B; // A' Q^T, m * easy
    double *U, *sigma;
    double *across; // A' without the range of B
    double *z, *s;  // with room for right sides
} Room;

static bool open_room(Room *room, uint32_t m, uint32_t n, uint32_t easy)
{
    const size_t rows = m, more = (size_t)m + n + easy;
    double *all = calloc(2 * rows * n + rows * easy + rows * rows + 3 * more + 1, sizeof *all);
    *room = (Room){.A = all};
    if (!all) return false;
    room->B = all + rows * n, room->U = room->B + rows * easy;
    room->across = room->U + rows * rows, room->sigma = room->across + rows * n;
    room->z = room->sigma + more, room->s = room->z + more;
    return true;
}

// A' as it is, and with rows of length one, those that are nothing beside others left alone
static void fill_room(const Metric *g, const double *A, uint32_t m, double *b, Room *r)
{
    const size_t n = g->n;
    double most = 0;
    for (size_t i = 0; i < m; i++) {
        for (size_t k = 0; k < n; k++) r->A[i * n + k] = A[i * n + k] / g->root[k];
        most = larger(most, tr_norm(r->A + i * n, n));
    }
    for (size_t i = 0; i < m; i++) {
        const double length = tr_norm(r->A + i * n, n);
        const double size = length > NOTHING * most ? length : fmax(most, 1);
        for (size_t k = 0; k < n; k++) r->across[i * n + k] = r->A[i * n + k] / size;
        r->z[i] = b[i] / size;
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < g->easy; j++)
            for (size_t k = 0; k < n; k++)
                r->B[i * g->easy + j] += r->across[i * n + k] * g->Q[j * n + k];
}

// z, then s from what it leaves; without any s where nothing easy acts
static bool solve_both(const Metric *g, uint32_t m, double *b, uint32_t range, double cutoff,
                       uint32_t *rank, Room *r)
{
    if (!range) {
        memcpy(r->z, b, m * sizeof *b);
        return tr_least_squares(r->A, m, g->n, r->z, 1, cutoff, rank);
    }
    memcpy(r->A, r->across, (size_t)m * g->n * sizeof *b);
    memcpy(r->s, r->z, m * sizeof *b);
    const bool many = m > MANY_ROWS; // then those that are left alone have to be independent
    const uint32_t left = many ? m - range : m;
    if (many && !leave_range(r->U, m, range, r->across, g->n)) return false;
    if (many && !leave_range(r->U, m, range, r->z, 1)) return false;
    if (!many) remove_range(r->U, m, range, r->across, g->n);
    if (!many) remove_range(r->U, m, range, r->z, 1);
    if (!tr_least_squares(r->across, left, g->n, r->z, 1, cutoff, rank)) return false;
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < g->n; k++) r->s[i] -= r->A[i * g->n + k] * r->z[k];
    return tr_least_squares(r->B, m, g->easy, r->s, 1, ACTS / r->sigma[0], NULL);
}

bool tr_metric_shortest(const Metric *g, const double *A, uint32_t m, double *b, double cutoff,
                        uint32_t *rank)
{
    Room r;
    uint32_t range = 0;
    if (!open_room(&r, m, g->n, g->easy)) return false;
    fill_room(g, A, m, b, &r);
    bool good = !g->easy || tr_singular(r.B, m, g->easy, r.sigma, r.U, NULL);
    const uint32_t most = m < g->easy ? m : g->easy;
    while (good && range < most && r.sigma[range] > ACTS) range++;
    good = good && solve_both(g, m, b, range, cutoff, rank, &r);
    for (size_t k = 0; good && k < g->n; k++) {
        double x = r.z[k];
        for (size_t j = 0; range && j < g->easy; j++) x += g->Q[j * g->n + k] * r.s[j];
        b[k] = x / g->root[k];
    }
    if (rank) *rank += range;
    free(r.A);
    return good;
}

double tr_metric_length(const Metric *g, const double *x)
{
    double all = 0;
    for (uint32_t k = 0; k < g->n; k++) all += g->root[k] * x[k] * (g->root[k] * x[k]);
    for (uint32_t j = 0; j < g->easy; j++) {
        double part = 0;
        for (uint32_t k = 0; k < g->n; k++) part += g->Q[(size_t)j * g->n + k] * g->root[k] * x[k];
        all -= part * part * (1 - 1e-6);
    }
    return sqrt(larger(all, 0));
}
