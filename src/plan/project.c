// SPDX-License-Identifier: Apache-2.0
// Positions back onto their constraints, by the shortest way (T83), and sensitivities into the
// tangent of them (T110).
#include "num/dense.h"
#include "num/solve.h"
#include "plan/covariance.h"
#include "plan/flow.h"
#include "plan/sensitivity.h"

#include <math.h>
#include <string.h>

static double make_units(const Flow *flow, double *y)
{
    double worst = 0;
    for (uint32_t i = 0; i < flow->quaternion_count; i++)
        worst = larger(worst, tr_make_unit(y + flow->quaternions[i]));
    return worst;
}

// The largest |phi|
static double how_far(Flow *flow, double t, const double *y)
{
    tr_flow_fill(flow, t, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_PHI), flow->correction);
    return tr_largest(flow->correction, flow->now->projected);
}

// phi, and J
static void evaluate_projection(Flow *flow, double t, const double *y)
{
    tr_flow_fill(flow, t, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_PROJECTION), flow->correction);
}

// Unit quaternions are conditions like the others.
static void add_quaternions(const Flow *flow, const double *y, double *phi, double *J)
{
    const size_t n = flow->positions;
    for (uint32_t i = 0; i < flow->quaternion_count; i++, J += n) {
        const double *q = y + flow->quaternions[i];
        for (size_t k = 0; k < n; k++) J[k] = 0;
        for (int k = 0; k < 4; k++) J[flow->quaternions[i] + (uint32_t)k] = q[k];
        phi[i] = tr_unit_residual(q);
    }
}

// The lower triangle of J J^T, m * m, by the entries that rows have: few of many, for a loop is
// about the joints in it
static void square_rows(const double *J, size_t m, size_t n, uint32_t *filled, double *JJ)
{
    for (size_t k = 0; k < m; k++) {
        size_t count = 0;
        for (size_t j = 0; j < n; j++)
            if (J[k * n + j] != 0) filled[count++] = (uint32_t)j;
        for (size_t i = k; i < m; i++) {
            double sum = 0;
            for (size_t j = 0; j < count; j++) sum += J[i * n + filled[j]] * J[k * n + filled[j]];
            JJ[i * m + k] = sum;
        }
    }
}

// x -= J^T (J J^T)^-1 phi: the shortest way
static bool correct(Flow *flow, const double *J, double *phi, double *x)
{
    const size_t n = flow->positions, m = flow->now->projected + flow->quaternion_count;
    double *JJ = flow->correction + m + m * n;
    square_rows(J, m, n, flow->filled, JJ);
    if (!tr_solve_positive(JJ, m, phi, 1)) return false;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) x[j] -= J[i * n + j] * phi[i];
    return true;
}

// phi and J with the quaternions, where they were evaluated; J
static double *complete_projection(Flow *flow, const double *y)
{
    const size_t own = flow->now->projected, n = flow->positions, m = own + flow->quaternion_count;
    double *phi = flow->correction, *J = phi + m;
    memmove(J, phi + own, own * n * sizeof *J); // room for the quaternions between
    add_quaternions(flow, y, phi + own, J + own * n);
    return J;
}

static bool step_back(Flow *flow, double t, double *y)
{
    evaluate_projection(flow, t, y);
    const double *J = complete_projection(flow, y);
    return correct(flow, J, flow->correction, y);
}

// A change keeps quaternions units: q . S = 0
static void tangent_to_units(const Flow *flow, const double *y, double *S)
{
    for (uint32_t i = 0; i < flow->quaternion_count; i++) {
        const double *q = y + flow->quaternions[i];
        double *s = S + flow->quaternions[i], along = 0;
        for (int k = 0; k < 4; k++) along += q[k] * s[k];
        for (int k = 0; k < 4; k++) s[k] -= along * q[k];
    }
}

// And constraints satisfied: J S + d(phi)/dp = 0
static void tangent_to_rows(Flow *flow, double t, double *y)
{
    const size_t own = flow->now->projected;
    evaluate_projection(flow, t, y);
    const double *J = complete_projection(flow, y);
    double *off = flow->correction;
    uint32_t which = 0;
    for (double *S = y + flow->own; S < y + flow->size; S += flow->own, which++) {
        tr_sensitivity_rows(flow, y, which, off);
        for (uint32_t i = 0; i < flow->quaternion_count; i++) {
            const double *q = y + flow->quaternions[i], *s = S + flow->quaternions[i];
            off[own + i] = q[0] * s[0] + q[1] * s[1] + q[2] * s[2] + q[3] * s[3];
        }
        correct(flow, J, off, S);
    }
}

double tr_flow_project(Flow *flow, double t, double *y)
{
    enum { MOST_STEPS = 20 };
    const double off = make_units(flow, y);
    if (!flow->now->projected || flow->no_projection) {
        for (double *S = y + flow->own; flow->sensitivity && S < y + flow->size; S += flow->own)
            tangent_to_units(flow, y, S);
        if (flow->covariance) tr_covariance_project(flow, t, y);
        return off;
    }
    const double first = how_far(flow, t, y);
    double left = first, before = (double)INFINITY;
    for (int i = 0; i < MOST_STEPS && left > 1e-15 && left < 0.9 * before; i++) {
        before = left;
        if (!step_back(flow, t, y)) break;
        make_units(flow, y);
        left = how_far(flow, t, y);
    }
    if (flow->sensitivity) tangent_to_rows(flow, t, y);
    if (flow->covariance) tr_covariance_project(flow, t, y);
    return larger(off, first);
}

void tr_flow_project_changes(Flow *flow, double t, const double *y, double *first, uint32_t count,
                             uint32_t stride)
{
    const size_t n = flow->positions, m = flow->now->projected + flow->quaternion_count;
    if (!flow->now->projected || flow->no_projection) {
        for (uint32_t j = 0; j < count; j++) tangent_to_units(flow, y, first + (size_t)j * stride);
        return;
    }
    evaluate_projection(flow, t, y);
    const double *J = complete_projection(flow, y);
    double *off = flow->correction;
    for (uint32_t j = 0; j < count; j++) {
        double *change = first + (size_t)j * stride;
        for (size_t i = 0; i < m; i++) {
            off[i] = 0;
            for (size_t k = 0; k < n; k++) off[i] += J[i * n + k] * change[k];
        }
        correct(flow, J, off, change);
    }
}

void tr_flow_project_change(Flow *flow, double t, const double *y, double *change)
{
    tr_flow_project_changes(flow, t, y, change, 1, 0);
}
