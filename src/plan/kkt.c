// SPDX-License-Identifier: Apache-2.0
// With M_pp = C C^T, a = C^T v_p', and the rows B = S G_p C^-T:
//
//   a0 = C^-1 (Q_p - c_p - M_pa v_a'),   B a = r = -S (G' v + g' + G_a v_a')
//   a = a0 + B^+ (r - B a0)                                                               (T79)
//
// Where something has no mass there is no C: then the equations with multipliers are solved as they
// stand. So it is in first order, where M is what commands make of it (T257).
#include "plan/kkt.h"

#include "num/dense.h"
#include "num/singular.h"
#include "num/solve.h"
#include "plan/blame.h"

#include <math.h>
#include <stdlib.h>

struct Kkt {
    Flow *flow;
    const Chart *chart;
    Evaluator program;                     // c Q gamma vdot, and M in first order
    double *values, *c, *Q, *gamma, *vdot; // the others in the first
    const double *M;                       // there, too, or the stance's
    double *C, *B, *a, *r, *unforced;
    double *whole, *right; // of the equations with multipliers
};

// ---- making it -----------------------------------------------------------------------------

static bool make_room(Kkt *k, const Stance *s)
{
    const size_t n = s->velocities, m = s->rows, all = n + m;
    const bool has_own = s->system->order == 1;
    k->values = calloc(3 * n + m + (has_own ? n * n : 0) + 1, sizeof *k->values);
    k->C = calloc(n * n + 1, sizeof *k->C);
    k->B = calloc(m * n + 1, sizeof *k->B);
    k->a = calloc(n + 1, sizeof *k->a);
    k->unforced = calloc(n + 1, sizeof *k->unforced);
    k->r = calloc(all + 1, sizeof *k->r);
    k->whole = calloc(all * all + all + 1, sizeof *k->whole);
    if (!k->values || !k->C || !k->B || !k->a || !k->unforced || !k->r || !k->whole) return false;
    k->c = k->values, k->Q = k->c + n, k->gamma = k->Q + n, k->vdot = k->gamma + m;
    k->M = has_own ? k->vdot + n : s->M;
    k->right = k->whole + all * all;
    return true;
}

Kkt *tr_kkt_new(Flow *flow, const Chart *chart, const tr_program *program, tr_error *err)
{
    if (has_failed(err) || !program) return NULL;
    Kkt *k = calloc(1, sizeof *k);
    if (!k) return tr_fail_memory(err), NULL;
    *k = (Kkt){.flow = flow, .chart = chart};
    k->program = tr_evaluator_with(program, err);
    if (!make_room(k, flow->stance)) tr_fail_memory(err);
    if (!has_failed(err)) return k;
    tr_kkt_free(k);
    return NULL;
}

void tr_kkt_renew(Kkt *k, const Chart *chart) { k->chart = chart; }

void tr_kkt_free(Kkt *k)
{
    if (!k) return;
    tr_evaluator_free(&k->program);
    free(k->values);
    free(k->C);
    free(k->B);
    free(k->a);
    free(k->unforced);
    free(k->r);
    free(k->whole);
    free(k);
}

// ---- accelerations -------------------------------------------------------------------------

static bool evaluate(Kkt *k, double t, const double *y)
{
    tr_flow_fill(k->flow, t, y);
    tr_flow_evaluate(k->flow, &k->program, k->values);
    k->flow->all_evaluations++; // by the stance
    return tr_stance_take(k->flow->stance, k->flow->inputs);
}

static bool is_driven(const Stance *s, uint32_t v)
{
    return is_motion_driven(&s->system->inputs[s->v[v]]);
}

// a: Q_p - c_p - M_pa v_a', and r
static void right_sides(Kkt *k, const Stance *s)
{
    for (uint32_t i = 0; i < s->passive; i++) {
        const uint32_t p = s->p[i];
        k->a[i] = k->Q[p] - k->c[p];
        for (uint32_t v = 0; v < s->velocities; v++)
            if (is_driven(s, v)) k->a[i] -= k->M[(size_t)p * s->velocities + v] * k->vdot[v];
    }
    for (uint32_t i = 0; i < s->rows; i++) {
        k->r[i] = -k->gamma[i];
        for (uint32_t v = 0; v < s->velocities; v++)
            if (is_driven(s, v)) k->r[i] -= stance_slope(s, i, v) * k->vdot[v];
        k->r[i] *= s->scale[i];
    }
}

// Gauss's principle; a becomes the accelerations, `free` those without constraints.
static bool by_gauss(Kkt *k, const Stance *s)
{
    const uint32_t n = s->passive, m = s->rows;
    tr_solve_lower(k->C, n, k->a, 1);
    for (uint32_t j = 0; j < s->passive; j++) k->unforced[j] = k->a[j];
    for (uint32_t i = 0; i < s->rows; i++)
        for (uint32_t j = 0; j < s->passive; j++)
            k->r[i] -= k->B[(size_t)i * s->passive + j] * k->a[j];
    if (!tr_least_squares(k->B, m, n, k->r, 1, 1e-10, NULL)) return false;
    for (uint32_t j = 0; j < s->passive; j++) k->a[j] += k->r[j];
    tr_solve_lower_transposed(k->C, n, k->a, 1);
    tr_solve_lower_transposed(k->C, n, k->unforced, 1);
    return true;
}

// [M_pp -G^T S; S G 0] (v_p', lambda) = (a, r)
static bool by_multipliers(Kkt *k, const Stance *s)
{
    const size_t np = s->passive, all = np + s->rows;
    for (size_t i = 0; i < all * all; i++) k->whole[i] = 0;
    for (size_t i = 0; i < np; i++)
        for (size_t j = 0; j < np; j++)
            k->whole[i * all + j] = k->M[(size_t)s->p[i] * s->velocities + s->p[j]];
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < np; j++) {
            const double slope = s->scale[i] * stance_slope(s, i, s->p[j]);
            k->whole[(np + i) * all + j] = slope;
            k->whole[j * all + np + i] = -slope;
        }
    for (size_t i = 0; i < all; i++) k->right[i] = i < np ? k->a[i] : k->r[i - np];
    if (!tr_least_squares(k->whole, (uint32_t)all, (uint32_t)all, k->right, 1, 1e-12, NULL))
        return false;
    for (size_t j = 0; j < np; j++) k->a[j] = k->right[j], k->unforced[j] = 0;
    return true;
}

double tr_kkt_difference(Kkt *k, double t, const double *y)
{
    const Stance *s = k->flow->stance;
    double worst = 0, largest = 0;
    if (!evaluate(k, t, y)) return (double)NAN;
    right_sides(k, s);
    if (!s->passive) return 0;
    const bool has_mass = s->system->order != 1 && tr_stance_metric(s, k->C, k->B);
    if (!(has_mass ? by_gauss(k, s) : by_multipliers(k, s))) return (double)NAN;
    for (uint32_t j = 0; j < s->passive; j++) {
        worst = larger(worst, fabs(k->a[j] - k->vdot[s->p[j]]));
        largest = larger(largest, larger(fabs(k->unforced[j]), fabs(k->vdot[s->p[j]])));
    }
    return largest > 0 ? worst / largest : worst;
}

// ---- agreement -----------------------------------------------------------------------------

bool tr_kkt_agrees(Kkt *k, double t, const double *y, tr_error *err)
{
    const Chart *chart = k->chart;
    const Flow *flow = k->flow;
    const Stance *s = flow->stance;
    double position, velocity;
    tr_flow_residual(k->flow, t, y, &position, &velocity); // and the sizes of its rows
    if (!evaluate(k, t, y)) return true;                   // which is told elsewhere
    for (uint32_t j = 0; j < chart->surplus_count; j++) {
        const uint32_t row = chart->surplus[j];
        double sum = k->gamma[row], size = fabs(sum);
        size += flow->residual[flow->holonomic + chart->rows + row]; // what a second would change
        for (uint32_t v = 0; v < s->velocities; v++) {
            const double term = stance_slope(s, row, v) * k->vdot[v];
            sum += term;
            size += fabs(term);
        }
        if (isnan(sum)) return tr_flow_blame(k->flow, t, y, err), false;
        if (!tr_chart_agrees(chart, j, fabs(sum), size, t, err)) return false;
    }
    return true;
}
