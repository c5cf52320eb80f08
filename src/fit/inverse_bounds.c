// SPDX-License-Identifier: Apache-2.0
// Inertias that bodies can have. With S = tr(I)/2 1 - I, the second moments of the mass, a body of
// positive density has
//
//   P = (S  h; h^T  m),  h = m c,   positive definite                                     (T278)
//
// which is linear in its ten numbers. Of what the data do not tell, parameters are those nearest to
// the model's own that make it so; where the data ask for what cannot be, those that come nearest
// to the data. Both by Newton's method on
//
//   1/2 sum s_i^2 (y_i - y*_i)^2 + w/2 |x - x_prior|^2 - mu sum log det P_b               (T279)
//
// with x = x_0 + B y, in units of each body's mass and length, and mu that shrinks.
#include "fit/inverse.h"

#include "num/dense.h"
#include "num/singular.h"
#include "num/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POSSIBLE 1e-13 // what may be missing of positive, by the trace: rounding
#define INSIDE   -1e-7 // and what is left beyond doubt
#define CLIPPED  1e-2  // of the trace: the least that a search begins with
#define SAFE     -1e-9 // and that a result is left with, which is written with finite digits
#define SMALL    1e-10 // the weight of the prior beside data
#define NEAR     1e-2  // of the misfit: what may be added for parameters like the model's own

enum { MOST_NEWTON = 60, MOST_HALVINGS = 60 };

// ---- pseudo-inertias -------------------------------------------------------------------------

void tr_inertia_units(const double *prior, uint32_t bodies, double *unit)
{
    double mass = 0, moment = 0;
    for (uint32_t b = 0; b < bodies; b++) {
        const double *phi = prior + (size_t)b * TEN;
        mass += phi[0], moment += (phi[4] + phi[5] + phi[6]) / 2;
    }
    const double usual = mass > 0 && moment > 0 ? sqrt(moment / mass) : 1;
    for (uint32_t b = 0; b < bodies; b++) {
        const double *phi = prior + (size_t)b * TEN;
        const double own = (phi[4] + phi[5] + phi[6]) / 2;
        const double length = phi[0] > 0 && own > 0 ? sqrt(own / phi[0]) : usual;
        const double m = phi[0] > 0 ? phi[0] : own / (length * length);
        double *own_unit = unit + (size_t)b * TEN;
        for (int k = 0; k < TEN; k++)
            own_unit[k] = k == 0 ? m : k < 4 ? m * length : m * length * length;
    }
}

// P of ten numbers, by rows                                                             (T278)
static void pseudo_inertia(const double *x, double P[16])
{
    const double half = (x[4] + x[5] + x[6]) / 2;
    const double rows[16] = {half - x[4], -x[7],       -x[8],       x[1], //
                             -x[7],       half - x[5], -x[9],       x[2], //
                             -x[8],       -x[9],       half - x[6], x[3], //
                             x[1],        x[2],        x[3],        x[0]};
    memcpy(P, rows, sizeof rows);
}

// Of numbers by their units: P + share tr(P) 1 as its triangle; false when it is not positive
static bool factorise(const double *x, double share, double P[16])
{
    pseudo_inertia(x, P);
    const double trace = fabs(P[0]) + fabs(P[5]) + fabs(P[10]) + fabs(P[15]);
    for (int i = 0; i < 4; i++) P[5 * i] += share * trace;
    return tr_cholesky(P, 4);
}

bool tr_inertia_is_possible(const double *phi, const double *unit, double share)
{
    double x[TEN], P[16];
    for (int k = 0; k < TEN; k++) x[k] = phi[k] / unit[k];
    return factorise(x, share, P);
}

static bool are_possible(const double *x, uint32_t bodies, double share)
{
    double P[16];
    for (uint32_t b = 0; b < bodies; b++)
        if (!factorise(x + (size_t)b * TEN, share, P)) return false;
    return true;
}

// ---- Newton's method -------------------------------------------------------------------------

typedef struct Barrier {
    uint32_t bodies, p, k;
    const double *x0, *B;  // p, p * k: x = x0 + B y
    const double *s, *aim; // by y; NULL: none
    const double *prior;   // of x
    double w, mu;
    double *y, *x;           // where it is
    double *trial, *xt;      // where it may go
    double *g, *H, *d, *BtB; // slopes, and B^T B
    double *part;            // TEN * k
} Barrier;

static void place(const Barrier *b, const double *y, double *x)
{
    for (uint32_t i = 0; i < b->p; i++) {
        x[i] = b->x0 ? b->x0[i] : 0;
        for (uint32_t j = 0; j < b->k; j++) x[i] += b->B[(size_t)i * b->k + j] * y[j];
    }
}

// (T279), or infinity where it is not possible
static double height(const Barrier *b, const double *y, const double *x)
{
    double sum = 0;
    for (uint32_t j = 0; b->s && j < b->k; j++) {
        const double off = b->s[j] * (y[j] - b->aim[j]);
        sum += off * off / 2;
    }
    for (uint32_t i = 0; i < b->p; i++)
        sum += b->w / 2 * (x[i] - b->prior[i]) * (x[i] - b->prior[i]);
    for (uint32_t i = 0; i < b->bodies; i++) {
        double L[16];
        if (!factorise(x + (size_t)i * TEN, 0, L)) return (double)INFINITY;
        for (int k = 0; k < 4; k++) sum -= 2 * b->mu * log(L[5 * k]);
    }
    return sum;
}

// -d log det P = -tr(P^-1 E_i),   d^2 = tr(P^-1 E_i P^-1 E_j)
static void barrier_slopes(const double *x, double g[TEN], double H[TEN * TEN])
{
    double P[16], X[TEN][16];
    for (int i = 0; i < TEN; i++) {
        double unit[TEN] = {0};
        unit[i] = 1;
        pseudo_inertia(unit, X[i]);
        pseudo_inertia(x, P);
        tr_solve_positive(P, 4, X[i], 4);
        g[i] = -(X[i][0] + X[i][5] + X[i][10] + X[i][15]);
    }
    for (int i = 0; i < TEN; i++)
        for (int j = 0; j < TEN; j++) {
            double sum = 0;
            for (int r = 0; r < 4; r++)
                for (int c = 0; c < 4; c++) sum += X[i][4 * r + c] * X[j][4 * c + r];
            H[i * TEN + j] = sum;
        }
}

static void add_body(Barrier *b, uint32_t body)
{
    const size_t k = b->k;
    const double *rows = b->B + (size_t)body * TEN * k;
    double g[TEN], H[TEN * TEN];
    barrier_slopes(b->x + (size_t)body * TEN, g, H);
    tr_multiply(H, rows, TEN, TEN, b->k, b->part);
    for (int i = 0; i < TEN; i++)
        for (size_t j = 0; j < k; j++) {
            const double mine = b->mu * rows[(size_t)i * k + j];
            if (mine == 0) continue;
            b->g[j] += mine * g[i];
            for (size_t l = 0; l <= j; l++) b->H[j * k + l] += mine * b->part[(size_t)i * k + l];
        }
}

static void slopes(Barrier *b)
{
    const size_t k = b->k;
    for (size_t j = 0; j < k; j++) {
        const double s = b->s ? b->s[j] : 0;
        b->g[j] = b->s ? s * s * (b->y[j] - b->aim[j]) : 0;
        for (size_t l = 0; l <= j; l++) b->H[j * k + l] = b->w * b->BtB[j * k + l];
        b->H[j * k + j] += s * s;
    }
    for (uint32_t i = 0; i < b->p; i++)
        for (size_t j = 0; j < k; j++) b->g[j] += b->w * (b->x[i] - b->prior[i]) * b->B[i * k + j];
    for (uint32_t i = 0; i < b->bodies; i++) add_body(b, i);
}

// H d = -g, rows and columns divided by the roots of the diagonal; the slope along d
static double direction(Barrier *b)
{
    const size_t k = b->k;
    double slope = 0;
    for (size_t j = 0; j < k; j++) b->trial[j] = 1 / sqrt(b->H[j * k + j]);
    for (size_t j = 0; j < k; j++) {
        b->d[j] = -b->g[j] * b->trial[j];
        for (size_t l = 0; l <= j; l++) b->H[j * k + l] *= b->trial[j] * b->trial[l];
        b->H[j * k + j] += 1e-14;
    }
    if (!tr_solve_positive(b->H, k, b->d, 1)) return 0;
    for (size_t j = 0; j < k; j++) b->d[j] *= b->trial[j], slope += b->d[j] * b->g[j];
    return slope;
}

// One step down; false when there is none to speak of.
static bool step(Barrier *b)
{
    slopes(b);
    const double slope = direction(b), now = height(b, b->y, b->x);
    if (!(slope < 0) || -slope < 1e-6 * b->mu) return false;
    double length = 1;
    for (int i = 0; i < MOST_HALVINGS; i++, length /= 2) {
        for (uint32_t j = 0; j < b->k; j++) b->trial[j] = b->y[j] + length * b->d[j];
        place(b, b->trial, b->xt);
        if (!(height(b, b->trial, b->xt) <= now + 0.1 * length * slope)) continue;
        memcpy(b->y, b->trial, b->k * sizeof *b->y);
        memcpy(b->x, b->xt, b->p * sizeof *b->x);
        return true;
    }
    return false;
}

static void descend(Barrier *b)
{
    for (int i = 0; i < MOST_NEWTON && step(b); i++) continue;
}

static bool barrier_open(Barrier *b)
{
    const size_t p = b->p, k = b->k;
    b->y = calloc(5 * k + 2 * p + 2 * k * k + TEN * k + 1, sizeof *b->y);
    if (!b->y) return false;
    b->trial = b->y + k, b->g = b->trial + k, b->d = b->g + k;
    b->x = b->d + 2 * k, b->xt = b->x + p;
    b->H = b->xt + p, b->BtB = b->H + k * k, b->part = b->BtB + k * k;
    tr_multiply_transposed(b->B, b->B, b->k, b->p, b->k, b->BtB);
    return true;
}

// ---- what the data do not tell ---------------------------------------------------------------

// Directions that no row sees, by units: one other parameter, and what that takes from the kept
static void untold(const Bounds *o, double *B)
{
    const Base *base = o->base;
    const size_t d = base->p - base->rank;
    for (size_t k = 0; k < d; k++) {
        const uint32_t other = base->other[k];
        B[other * d + k] = 1;
        for (uint32_t i = 0; i < base->rank; i++) {
            const uint32_t own = base->own[i];
            B[own * d + k] = -base->K[i * d + k] * o->unit[other] / o->unit[own];
        }
    }
}

// Of all that the data say, the nearest to the prior: x, by units
static bool nearest(const Bounds *o, const double *B, const double *prior, double *x)
{
    const Base *base = o->base;
    const uint32_t p = base->p, d = p - base->rank;
    double *off = calloc(p + 1u, sizeof *off);
    if (!off) return false;
    memcpy(x, prior, p * sizeof *x);
    for (uint32_t i = 0; i < base->rank; i++) {
        double beta = base->value[i];
        for (uint32_t k = 0; k < d; k++)
            beta -= base->K[(size_t)i * d + k] * o->prior[base->other[k]];
        x[base->own[i]] = beta / o->unit[base->own[i]];
    }
    for (uint32_t i = 0; i < p; i++) off[i] = prior[i] - x[i];
    const bool good = !d || tr_least_squares(B, p, d, off, 1, 1e-14, NULL);
    for (uint32_t i = 0; good && i < p; i++)
        for (uint32_t k = 0; k < d; k++) x[i] += B[(size_t)i * d + k] * off[k];
    free(off);
    return good;
}

// From a possible x on, the nearest to the prior that is possible and that the data do not change
static bool approach(const Bounds *o, const double *B, const double *prior, double *x)
{
    const uint32_t p = o->base->p;
    Barrier b = {.bodies = o->bodies,
                 .p = p,
                 .k = p - o->base->rank,
                 .x0 = x,
                 .B = B,
                 .prior = prior,
                 .w = 1};
    if (!barrier_open(&b)) return false;
    memcpy(b.x, x, p * sizeof *x);
    for (b.mu = 1; b.mu > 1e-15; b.mu /= 10) descend(&b);
    memcpy(x, b.x, p * sizeof *x);
    free(b.y);
    return true;
}

// ---- what bodies cannot have -----------------------------------------------------------------

// A start that is possible: the prior, with enough of a ball in it
static void clip(const double *prior, uint32_t bodies, double *x)
{
    double P[16];
    for (uint32_t b = 0; b < bodies; b++) {
        double *own = x + (size_t)b * TEN;
        memcpy(own, prior + (size_t)b * TEN, TEN * sizeof *own);
        double more = CLIPPED;
        while (!factorise(own, -CLIPPED, P) && more < 1e6) {
            own[0] += more;
            for (int k = 4; k < 7; k++) own[k] += 2 * more; // S += more 1
            more *= 2;
        }
    }
}

// The triangle's columns, of length 1, as U diag(s) V^T; unseen ones have their units. x = B y
typedef struct Singular {
    uint32_t p, rank;
    double size; // of the right side
    double *s, *Vt, *scale, *B, *aim, *y;
} Singular;

static bool singular_open(Singular *v, const Bounds *o)
{
    const Equations *t = o->triangle;
    const size_t p = v->p = o->base->p;
    double *R = calloc(p * p + 1, sizeof *R);
    v->s = calloc(2 * p * p + 4 * p + 1, sizeof *v->s);
    if (!R || !v->s) return free(R), false;
    v->scale = v->s + p, v->aim = v->scale + p, v->y = v->aim + p, v->Vt = v->y + p,
    v->B = v->Vt + p * p;
    double size = 0;
    for (size_t i = 0; i < p; i++) size += t->A[i * (p + 1) + p] * t->A[i * (p + 1) + p];
    v->size = size = size > 0 ? sqrt(size) : 1;
    for (size_t j = 0; j < p; j++) {
        double sum = 0;
        for (size_t i = 0; i <= j; i++) sum += t->A[i * (p + 1) + j] * t->A[i * (p + 1) + j];
        const bool is_seen = o->base->is_seen[j] || o->weighs_all;
        v->scale[j] = is_seen && sum > 0 ? size / sqrt(sum) : o->unit[j];
        for (size_t i = 0; is_seen && i <= j; i++)
            R[i * p + j] = t->A[i * (p + 1) + j] * v->scale[j] / size;
    }
    v->rank = o->weighs_all ? v->p : o->base->rank;
    const bool good = tr_singular(R, v->p, v->p, v->s, NULL, v->Vt);
    for (size_t j = v->rank; good && j < p; j++) v->s[j] = 0;
    for (size_t i = 0; good && i < p; i++)
        for (size_t j = 0; j < p; j++)
            v->B[i * p + j] = v->scale[i] * v->Vt[j * p + i] / o->unit[i];
    free(R);
    return good;
}

// y = V^T x, by scale
static void into(const Singular *v, const Bounds *o, const double *x, double *y)
{
    const size_t p = v->p;
    for (size_t j = 0; j < p; j++) {
        y[j] = 0;
        for (size_t i = 0; i < p; i++) y[j] += v->Vt[j * p + i] * x[i] * o->unit[i] / v->scale[i];
    }
}

typedef struct Search {
    const Bounds *o;
    Singular v;
    Barrier b;
    double *start, *kept, *x, rest; // y, y, x, and the square that no parameters change
} Search;

static bool search_open(Search *s, const Bounds *o, const double *prior, const double *said)
{
    const uint32_t p = o->base->p;
    s->o = o;
    s->start = calloc(3 * (size_t)p + 1, sizeof *s->start);
    if (!s->start || !singular_open(&s->v, o)) return false;
    s->kept = s->start + p, s->x = s->kept + p;
    s->b = (Barrier){.bodies = o->bodies,
                     .p = p,
                     .k = p,
                     .B = s->v.B,
                     .s = s->v.s,
                     .aim = s->v.aim,
                     .prior = prior,
                     .w = o->weighs_all ? 0 : SMALL};
    if (!barrier_open(&s->b)) return false;
    into(&s->v, o, said, s->v.aim); // what the data say, possible or not
    clip(prior, o->bodies, s->x);
    into(&s->v, o, s->x, s->start);
    const double rest = o->triangle->A[(size_t)p * (p + 1) + p] / s->v.size;
    s->rest = rest * rest;
    return true;
}

static void search_close(Search *s)
{
    free(s->b.y);
    free(s->v.s);
    free(s->start);
}

static double misfit(const Search *s)
{
    double sum = s->rest;
    for (uint32_t j = 0; j < s->b.k; j++) {
        const double off = s->v.s[j] * (s->b.y[j] - s->v.aim[j]);
        sum += off * off;
    }
    return sqrt(sum);
}

// From the start towards the data, as near as it comes with something left to what cannot be. True
// when what they say is possible: then that is in x.
static bool go(Search *s, bool may_arrive)
{
    Barrier *b = &s->b;
    const Singular *v = &s->v;
    const size_t size = b->k * sizeof *b->y;
    memcpy(s->kept, s->start, size);
    memcpy(b->y, s->start, size);
    place(b, b->y, b->x);
    for (b->mu = 1; b->mu > 1e-16; b->mu /= 10) {
        descend(b);
        for (uint32_t j = 0; j < b->k; j++) v->y[j] = j < v->rank ? v->aim[j] : b->y[j];
        place(b, v->y, s->x);
        if (may_arrive && are_possible(s->x, b->bodies, INSIDE)) return true;
        if (!are_possible(b->x, b->bodies, SAFE)) break;
        memcpy(s->kept, b->y, size);
    }
    memcpy(b->y, s->kept, size);
    place(b, b->y, b->x);
    memcpy(s->x, b->x, b->p * sizeof *b->x);
    return false;
}

// At a bound, what the data do not tell may run away for less and less: a mass without end makes
// room for any centre. Of all that are as good as the best, those nearest to the prior.
static void come_back(Search *s, double *x)
{
    const double least = misfit(s);
    memcpy(x, s->x, s->b.p * sizeof *x);
    for (s->b.w = 1; s->b.w > 2 * SMALL; s->b.w /= 10) {
        go(s, false);
        if (!(misfit(s) <= (1 + NEAR) * least)) continue;
        memcpy(x, s->x, s->b.p * sizeof *x);
        break;
    }
}

// Towards the data from a possible start. Ends where what they say is possible, *inside, and else
// as near as it comes.
static bool search(const Bounds *o, const double *prior, double *x, bool *inside)
{
    Search s = {0};
    const bool good = search_open(&s, o, prior, x);
    if (good) *inside = go(&s, true);
    if (good && !*inside && !o->weighs_all)
        come_back(&s, x);
    else if (good)
        memcpy(x, s.x, s.b.p * sizeof *x);
    search_close(&s);
    return good;
}

// ---- all of it -------------------------------------------------------------------------------

static bool solve(const Bounds *o, const double *prior, double *B, double *x, bool *active)
{
    const uint32_t p = o->base->p;
    bool inside = false;
    *active = false;
    untold(o, B);
    if (!nearest(o, B, prior, x)) return false;
    if (are_possible(x, o->bodies, POSSIBLE)) return true;
    if (!search(o, prior, x, &inside)) return false;
    *active = !inside;
    return *active || o->weighs_all || p == o->base->rank || approach(o, B, prior, x);
}

bool tr_bounds_solve(const Bounds *o, double *phi, bool *active, tr_error *err)
{
    const size_t p = o->base->p, d = p - o->base->rank;
    double *x = calloc(2 * p + p * d + 1, sizeof *x);
    bool good = x != NULL;
    if (good) {
        double *prior = x + p;
        for (size_t i = 0; i < p; i++) prior[i] = o->prior[i] / o->unit[i];
        good = solve(o, prior, prior + p, x, active);
        for (size_t i = 0; i < p; i++) phi[i] = x[i] * o->unit[i];
    }
    if (!good) tr_fail_memory(err);
    free(x);
    return good;
}
