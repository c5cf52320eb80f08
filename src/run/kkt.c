// SPDX-License-Identifier: Apache-2.0
// With M_pp = C C^T, a = C^T v_p', and the rows B = S G_p C^-T:
//
//   a0 = C^-1 (Q_p - c_p - M_pa v_a'),   B a = r = -S (G' v + g' + G_a v_a')
//   a = a0 + B^+ (r - B a0)
#include "run/kkt.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

struct Kkt {
    Flow *flow;
    tr_program *program; // M c Q G gamma vdot
    tr_workspace *work;
    double *values;
    double *M, *c, *Q, *G, *gamma, *vdot; // in `values`
    uint32_t *p;                          // velocities that are not driven
    uint32_t n, np, rows;
    double *C, *B, *a, *r, *singular;
};

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static bool make_room(Kkt *k)
{
    const size_t n = k->n, m = k->rows, most = larger(k->n, k->rows);
    k->values = calloc(n * n + 3 * n + m * n + m + 1, sizeof *k->values);
    k->p = calloc(n + 1, sizeof *k->p);
    k->C = calloc(n * n + 1, sizeof *k->C);
    k->B = calloc(m * n + 1, sizeof *k->B);
    k->a = calloc(n + 1, sizeof *k->a);
    k->r = calloc(most + 1, sizeof *k->r);
    k->singular = calloc(most + 1, sizeof *k->singular);
    if (!k->values || !k->p || !k->C || !k->B || !k->a || !k->r || !k->singular) return false;
    k->M = k->values, k->c = k->M + n * n, k->Q = k->c + n, k->G = k->Q + n;
    k->gamma = k->G + m * n, k->vdot = k->gamma + m;
    return true;
}

Kkt *tr_kkt_new(Flow *flow, tr_error *err)
{
    if (has_failed(err) || !flow->chart || !flow->chart->rows) return NULL;
    System *s = flow->system;
    Kkt *k = calloc(1, sizeof *k);
    if (!k) return tr_fail_memory(err), NULL;
    *k =
        (Kkt){.flow = flow, .n = tr_system_inputs(s, TR_VELOCITY, NULL), .rows = flow->chart->rows};
    const tr_compile_options fixed = {.fix_parameters = true};
    k->program = tr_compile(s, "M c Q G gamma vdot", &fixed, err);
    k->work = tr_workspace_new(k->program, err);
    if (!make_room(k)) tr_fail_memory(err);
    for (uint32_t i = 0, v = 0; k->p && i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        if (s->inputs[i].drive != DRIVE_MOTION) k->p[k->np++] = v;
        v++;
    }
    if (!has_failed(err)) return k;
    tr_kkt_free(k);
    return NULL;
}

void tr_kkt_free(Kkt *k)
{
    if (!k) return;
    tr_workspace_free(k->work);
    tr_program_free(k->program);
    free(k->values);
    free(k->p);
    free(k->C);
    free(k->B);
    free(k->a);
    free(k->r);
    free(k->singular);
    free(k);
}

static void evaluate(Kkt *k, double t, const double *y)
{
    tr_flow_put(k->flow, t, y);
    tr_evaluate(k->program, k->work, k->flow->inputs, k->values);
}

static bool is_driven(const Kkt *k, uint32_t v)
{
    for (uint32_t i = 0; i < k->np; i++)
        if (k->p[i] == v) return false;
    return true;
}

// Q_p - c_p - M_pa v_a', and r
static void right_sides(Kkt *k)
{
    const System *s = k->flow->system;
    for (uint32_t i = 0; i < k->np; i++) {
        k->a[i] = k->Q[k->p[i]] - k->c[k->p[i]];
        for (uint32_t v = 0; v < k->n; v++)
            if (is_driven(k, v)) k->a[i] -= k->M[(size_t)k->p[i] * k->n + v] * k->vdot[v];
    }
    for (uint32_t i = 0; i < k->rows; i++) {
        k->r[i] = -k->gamma[i];
        for (uint32_t v = 0; v < k->n; v++)
            if (is_driven(k, v)) k->r[i] -= k->G[(size_t)i * k->n + v] * k->vdot[v];
        k->r[i] *= s->rows[i].unit;
    }
}

// C, B and a0
static bool into_metric(Kkt *k)
{
    const System *s = k->flow->system;
    const size_t np = k->np;
    const lapack_int n = (lapack_int)k->np, m = (lapack_int)k->rows;
    for (size_t i = 0; i < np; i++)
        for (size_t j = 0; j < np; j++) k->C[i * np + j] = k->M[(size_t)k->p[i] * k->n + k->p[j]];
    for (size_t i = 0; i < k->rows; i++)
        for (size_t j = 0; j < np; j++)
            k->B[i * np + j] = s->rows[i].unit * k->G[i * k->n + k->p[j]];
    // By rows C is the lower factor; as columns, its transpose.
    return LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, k->C, n) == 0 &&
           LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'U', 'T', 'N', n, m, k->C, n, k->B, n) == 0 &&
           LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'U', 'T', 'N', n, 1, k->C, n, k->a, n) == 0;
}

double tr_kkt_difference(Kkt *k, double t, const double *y)
{
    const lapack_int n = (lapack_int)k->np, m = (lapack_int)k->rows;
    int rank;
    evaluate(k, t, y);
    if (!k->np) return 0;
    right_sides(k);
    if (!into_metric(k)) return (double)NAN;
    for (uint32_t i = 0; i < k->rows; i++)
        for (uint32_t j = 0; j < k->np; j++) k->r[i] -= k->B[(size_t)i * k->np + j] * k->a[j];
    if (LAPACKE_dgelsd(LAPACK_ROW_MAJOR, m, n, 1, k->B, n, k->r, 1, k->singular, 1e-10, &rank) != 0)
        return (double)NAN;
    for (uint32_t j = 0; j < k->np; j++) k->a[j] += k->r[j];
    LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'U', 'N', 'N', n, 1, k->C, n, k->a, n); // C^-T
    double worst = 0, largest = 0;
    for (uint32_t j = 0; j < k->np; j++) {
        worst = fmax(worst, fabs(k->a[j] - k->vdot[k->p[j]]));
        largest = fmax(largest, fabs(k->vdot[k->p[j]]));
    }
    return largest > 0 ? worst / largest : worst;
}

bool tr_kkt_agrees(Kkt *k, double t, const double *y, tr_error *err)
{
    const Chart *chart = k->flow->chart;
    evaluate(k, t, y);
    for (uint32_t j = 0; j < chart->surplus_count; j++) {
        const uint32_t row = chart->surplus[j];
        double sum = k->gamma[row], size = fabs(sum);
        for (uint32_t v = 0; v < k->n; v++) {
            const double term = k->G[(size_t)row * k->n + v] * k->vdot[v];
            sum += term;
            size += fabs(term);
        }
        if (!tr_chart_agrees(chart, j, fabs(sum), size, t, err)) return false;
    }
    return true;
}
