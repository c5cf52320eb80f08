// SPDX-License-Identifier: Apache-2.0
// How well the start is known (T261): of each coordinate or velocity that deviates the shortest
// change of the state that constraints allow.
#include "num/solve.h"
#include "plan/covariance.h"

#include <stdlib.h>
#include <string.h>

static uint32_t place_of(const Flow *flow, uint32_t input)
{
    for (uint32_t k = 0; k < flow->known; k++)
        if (flow->now->place[k] == input) return k;
    return NO_INPUT;
}

// A quaternion q changes by q (0, e/2) where its base turns about an axis e of its own.
static void turn_along(const double *q, uint32_t axis, double *along)
{
    double e[3] = {0};
    e[axis] = 0.5;
    along[0] = -(q[1] * e[0] + q[2] * e[1] + q[3] * e[2]);
    along[1] = q[0] * e[0] + q[2] * e[2] - q[3] * e[1];
    along[2] = q[0] * e[1] + q[3] * e[0] - q[1] * e[2];
    along[3] = q[0] * e[2] + q[1] * e[1] - q[2] * e[0];
}

// How positions change with one that deviates, without constraints
static void point_along(const Flow *flow, const Deviant *deviant, const double *y, double *along)
{
    const System *s = flow->system;
    const uint32_t own = deviant->turns ? NO_INPUT : place_of(flow, deviant->input);
    if (own != NO_INPUT) along[own] = 1;
    for (uint32_t i = 0; deviant->turns && i < s->quaternion_count; i++) {
        const uint32_t axis = deviant->input - s->quaternions[i].velocity;
        const uint32_t k = place_of(flow, s->quaternions[i].position);
        if (axis < 3 && k != NO_INPUT) turn_along(y + k, axis, along + k);
    }
}

// The shortest change that the constraints allow and that deviates as much
static bool point_positions(Flow *flow, const Deviant *deviant, const double *y, double *along)
{
    double *free = flow->covariance->K + flow->known, whole = 0, left = 0;
    point_along(flow, deviant, y, free);
    for (uint32_t k = 0; k < flow->positions; k++) along[k] = free[k];
    tr_flow_project_change(flow, 0, y, along);
    for (uint32_t k = 0; k < flow->positions; k++)
        whole += free[k] * free[k], left += free[k] * along[k];
    for (uint32_t k = 0; k < flow->positions; k++) along[k] *= whole / left;
    return left > 1e-9 * whole;
}

// How all velocities change with y, and the metric that a change of them is measured in
typedef struct Speeds {
    uint32_t rows, count; // velocities, and those of y
    double *D, *metric;   // rows * known
    double *A, *right;    // D_w^T U D_w
} Speeds;

static bool open_speeds(Flow *flow, const double *y, Speeds *v)
{
    const System *s = flow->system;
    const size_t n = flow->known;
    Expr *of = calloc(s->input_count + 1u, sizeof *of);
    uint32_t *input = calloc(s->input_count + 1u, sizeof *input);
    v->count = flow->known - flow->positions;
    v->D = calloc(s->input_count * (n + 1) + (size_t)v->count * v->count + n + 1, sizeof *v->D);
    const bool good = of && input && v->D;
    const uint32_t all = good ? tr_covariance_seams(s, of, input) : 0;
    const bool has_rows = flow_program(flow, CHART_SEAM)->program != NULL;
    if (good) {
        v->metric = v->D + s->input_count * n, v->A = v->metric + s->input_count;
        v->right = v->A + (size_t)v->count * v->count;
        tr_flow_fill(flow, 0, y);
        if (has_rows)
            tr_flow_evaluate(flow, flow_program(flow, CHART_SEAM), flow->covariance->seam);
    }
    for (uint32_t i = 0; i < all; i++) {
        if (s->inputs[input[i]].kind != TR_VELOCITY) continue;
        const uint32_t place = place_of(flow, input[i]);
        double *row = v->D + v->rows * n;
        if (has_rows) memcpy(row, flow->covariance->seam + i * n, n * sizeof *row);
        if (!has_rows && place != NO_INPUT) row[place] = 1;
        v->metric[v->rows++] = tr_system_unit_mass(s, input[i]);
    }
    free(of);
    free(input);
    return good;
}

// w with the least (D_w w + b)^T U (D_w w + b), for right = -D_w^T U b; or for right = d, where
// afterwards d^T w is made 1
static bool solve_speeds(const Flow *flow, Speeds *v)
{
    const size_t n = flow->known, q = flow->positions, p = v->count;
    for (size_t i = 0; i < p; i++)
        for (size_t k = 0; k < p; k++) {
            v->A[i * p + k] = 0;
            for (uint32_t r = 0; r < v->rows; r++)
                v->A[i * p + k] += v->D[r * n + q + i] * v->metric[r] * v->D[r * n + q + k];
        }
    return !p || tr_solve_positive(v->A, p, v->right, 1);
}

// Velocities stay what they are as nearly as positions that change let them.
static bool keep_velocities(const Flow *flow, Speeds *v, double *along)
{
    const size_t n = flow->known, q = flow->positions;
    for (size_t i = 0; i < v->count; i++) {
        v->right[i] = 0;
        for (uint32_t r = 0; r < v->rows; r++)
            for (size_t k = 0; k < q; k++)
                v->right[i] -= v->D[r * n + q + i] * v->metric[r] * v->D[r * n + k] * along[k];
    }
    const bool good = solve_speeds(flow, v);
    for (size_t i = 0; good && i < v->count; i++) along[q + i] = v->right[i];
    return good;
}

// One velocity changes, the others as little as they may.
static bool point_velocity(const Flow *flow, Speeds *v, uint32_t input, double *along)
{
    const System *s = flow->system;
    const size_t n = flow->known, q = flow->positions;
    uint32_t row = 0;
    for (uint32_t i = 0; i < input; i++) row += s->inputs[i].kind == TR_VELOCITY;
    const double *d = v->D + row * n + q;
    double whole = 0;
    for (size_t i = 0; i < v->count; i++) v->right[i] = d[i];
    if (!solve_speeds(flow, v)) return false;
    for (size_t i = 0; i < v->count; i++) whole += d[i] * v->right[i];
    for (size_t i = 0; i < v->count; i++) along[q + i] = v->right[i] / whole;
    return whole > 0;
}

// How y changes with what deviates (T261)
static bool deviate(Flow *flow, const Deviant *deviant, const double *y, double *along,
                    tr_error *err)
{
    const bool is_rate =
        !deviant->turns && flow->system->inputs[deviant->input].kind == TR_VELOCITY;
    Speeds v = {0};
    for (uint32_t k = 0; k < 2 * flow->known; k++) along[k] = 0;
    bool good = open_speeds(flow, y, &v);
    if (!good) tr_fail_memory(err);
    if (good && is_rate) good = point_velocity(flow, &v, deviant->input, along);
    if (good && !is_rate)
        good = point_positions(flow, deviant, y, along) && keep_velocities(flow, &v, along);
    free(v.D);
    return good;
}

void tr_covariance_deviate(Flow *flow, double *y, const double *sd, tr_error *err)
{
    const System *s = flow->system;
    const Covariance *c = flow->covariance;
    for (uint32_t i = 0; i < s->deviant_count && !has_failed(err); i++) {
        double *along = c->K;
        const double variance = sd[i] * sd[i] / c->unit;
        if (!deviate(flow, &s->deviants[i], y, along, err)) {
            tr_fail(err, TR_FAILED, (Place){0},
                    "'%s' cannot deviate at the start: constraints hold it",
                    s->inputs[s->deviants[i].input].name);
            return;
        }
        for (uint32_t j = 0; j < flow->known; j++)
            for (uint32_t k = 0; k < flow->known; k++)
                covariance_column(flow, y, k)[j] += variance * along[j] * along[k];
    }
}
