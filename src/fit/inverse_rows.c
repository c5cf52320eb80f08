// SPDX-License-Identifier: Apache-2.0
// The equations of a recorded instant, linear in what is to be found:
//
//   M v' + c = Y phi + rest,   Y = d(M v' + c)/d phi                                      (T271)
//   Z^T (Y phi) = Z^T (Q + S^T tau - rest),   G Z = 0                                     (T272)
//
// Reactions do no work along Z, an orthonormal basis of what the constraints leave. What is
// recorded satisfies them up to noise, so it is moved onto them first, the shortest way:
//
//   q += N dv, G dv = -phi(q);   v -= G^+ (G v + g);   v' -= G^+ (G v' + gamma)           (T273)
#include "fit/inverse.h"

#include "num/dense.h"
#include "num/singular.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RANK 1e-9 // of rows: singular values below it are none

enum { MOST_VELOCITIES = 200, MOST_STEPS = 6 };

// ---- what can be done ------------------------------------------------------------------------

static bool can_be_solved(const System *s, tr_error *err)
{
    if (!tr_system_is_second_order(s, "equations with inertias", err)) return false;
    const Output *Q = tr_system_output(s, text_of("Q"));
    const uint32_t n = tr_system_inputs(s, TR_VELOCITY, NULL);
    if (!s->opened_count)
        tr_fail(
            err, TR_USAGE, (Place){0},
            "no inertias are open: derive the model with `inertias`, and bodies that have mass");
    else if (n > MOST_VELOCITIES || !Q || !tr_system_output(s, text_of("M")))
        tr_fail(err, TR_USAGE, (Place){0},
                "inertias are found of models with at most %d velocities, not %u", MOST_VELOCITIES,
                n);
    else if (s->latch_count)
        tr_fail(err, TR_USAGE, (Place){0},
                "contact '%.60s' may open or slip, and recordings do not say when: inertias cannot "
                "be found from them",
                s->latches[0].name);
    else if (s->touching_count)
        tr_fail(err, TR_USAGE, (Place){0},
                "where '%.60s' touches its surface is not recorded: inertias cannot be found on "
                "uneven ground",
                s->touchings[0].name);
    else if (tr_system_uses_any(s, Q->values, Q->rows, TR_SOLVED))
        tr_fail(err, TR_USAGE, (Place){0},
                "forces of the model depend on '%.60s', which is not recorded: inertias cannot be "
                "found",
                tr_system_uses_any(s, Q->values, Q->rows, TR_SOLVED)->name);
    return !has_failed(err);
}

// ---- programs --------------------------------------------------------------------------------

// Accelerations as inputs; what moves is as it was recorded, not as the model would have it.
static void free_motion(Regressor *r, tr_error *err)
{
    System *s = r->system;
    char name[300];
    for (uint32_t k = 0; k < r->n; k++) {
        snprintf(name, sizeof name, "recorded.d.%.200s", s->inputs[r->v[k]].name);
        r->a[k] = s->input_count;
        tr_input(s, name, TR_INPUT, 0, err);
        s->inputs[r->v[k]].definition = expr_at(s->graph, 0);
    }
    for (uint32_t k = 0; k < r->positions; k++)
        s->inputs[r->q[k]].definition = expr_at(s->graph, 0);
}

// M v' + c                                                                             (T271)
static void inverse_dynamics(const Regressor *r, Expr *force)
{
    const System *s = r->system;
    const Expr *M = tr_system_output(s, text_of("M"))->values;
    const Expr *c = tr_system_output(s, text_of("c"))->values;
    for (uint32_t i = 0; i < r->n; i++) {
        force[i] = c[i];
        for (uint32_t k = 0; k < r->n; k++)
            force[i] = add(force[i], mul(M[(size_t)i * r->n + k], s->inputs[r->a[k]].symbol));
    }
}

const Output *tr_torque_of(const System *s, uint32_t velocity)
{
    const Input *v = &s->inputs[velocity];
    if (v->drive == DRIVE_NONE || !v->port.owner) return NULL;
    for (uint32_t i = 0; i < s->output_count; i++) {
        const Output *output = &s->outputs[i];
        if (begins_with(output->name, "tau.") && output->port.owner &&
            strcmp(output->port.owner, v->port.owner) == 0 &&
            strcmp(output->port.component, v->port.component) == 0)
            return output;
    }
    return NULL;
}

// Q without what is recorded: torques that the model has formulas for
static void other_forces(const Regressor *r, Expr *force)
{
    const System *s = r->system;
    const Output *Q = tr_system_output(s, text_of("Q"));
    for (uint32_t k = 0; k < r->n; k++) {
        const Output *torque = tr_torque_of(s, r->v[k]);
        const bool is_known = s->inputs[r->v[k]].drive == DRIVE_TORQUE && torque;
        force[k] = is_known ? sub(Q->values[k], torque->values[0]) : Q->values[k];
    }
}

static void make_equations(Regressor *r, tr_error *err)
{
    System *s = r->system;
    Exprs list = {0};
    Expr *force = calloc(2 * (size_t)r->n + 1, sizeof *force);
    Expr *phi = calloc(r->p + 1u, sizeof *phi);
    if (!force || !phi) tr_fail_memory(err);
    if (!has_failed(err)) {
        assert(s && force && phi);
        inverse_dynamics(r, force);
        other_forces(r, force + r->n);
        for (uint32_t j = 0; j < r->p; j++)
            phi[j] = s->inputs[s->opened[j / TEN].input + j % TEN].symbol;
        tr_exprs_add(&list, force, 2 * (size_t)r->n);
        r->entries = tr_jacobian(s, force, r->n, phi, r->p, &r->entry_count);
        if (!r->entries && s->graph->failed) tr_fail_memory(err);
        for (size_t i = 0; r->entries && i < r->entry_count; i++)
            exprs_add(&list, r->entries[i].value);
        r->equations = tr_evaluator_list(s, &list, OPEN_PARAMETERS, err);
    }
    free(force);
    free(phi);
}

static void make_constraints(Regressor *r, tr_error *err)
{
    System *s = r->system;
    Exprs list = {0};
    if (!r->rows) return;
    tr_output_list(s, "G", &list);
    tr_output_list(s, "g", &list);
    tr_output_list(s, "gamma", &list);
    if (r->holonomic) tr_output_list(s, "phi", &list);
    r->constraints = tr_evaluator_list(s, &list, OPEN_PARAMETERS, err);
}

// q' and its slopes N by velocities
static void make_rates(Regressor *r, tr_error *err)
{
    System *s = r->system;
    Exprs list = {0};
    for (uint32_t i = 0; i < r->positions; i++) exprs_add(&list, s->inputs[r->q[i]].rate);
    for (uint32_t i = 0; i < r->positions; i++)
        for (uint32_t k = 0; k < r->n; k++)
            exprs_add(&list, tr_derivative(s->inputs[r->q[i]].rate, s->inputs[r->v[k]].symbol));
    r->rates = tr_evaluator_list(s, &list, OPEN_PARAMETERS, err);
}

// ---- making it -------------------------------------------------------------------------------

static void count(Regressor *r)
{
    const System *s = r->system;
    r->positions = tr_system_inputs(s, TR_POSITION, NULL);
    r->n = tr_system_inputs(s, TR_VELOCITY, NULL);
    r->p = TEN * s->opened_count;
    while (r->rows < s->row_count && !s->rows[r->rows].is_speed) r->rows++;
    for (uint32_t i = 0; i < r->rows; i++) r->holonomic += s->rows[i].position.id != 0;
}

static bool make_lists(Regressor *r)
{
    const System *s = r->system;
    uint32_t held = 0;
    r->q = calloc(r->positions + 1u, sizeof *r->q);
    r->v = calloc(2 * (size_t)r->n + 1, sizeof *r->v);
    r->holds = calloc(r->rows + 1u, sizeof *r->holds);
    if (!r->q || !r->v || !r->holds) return false;
    r->a = r->v + r->n;
    tr_system_inputs(s, TR_POSITION, r->q);
    tr_system_inputs(s, TR_VELOCITY, r->v);
    for (uint32_t i = 0; i < r->rows; i++)
        if (s->rows[i].position.id) r->holds[held++] = i;
    return true;
}

static bool make_room(Regressor *r)
{
    const System *s = r->system;
    const size_t n = r->n, m = r->rows, q = r->positions, most = m > n ? m : n;
    const size_t taken = m * n + 2 * m + r->holonomic, rates = q + q * n;
    r->inputs = s->input_count;
    r->in = calloc(r->inputs + 1u, sizeof *r->in);
    r->out = calloc(2 * n + r->entry_count + 1, sizeof *r->out);
    r->G = calloc(taken + rates + 1, sizeof *r->G);
    r->Y = calloc(n * r->p + n + n * n + 1, sizeof *r->Y);
    r->work = calloc(m * n + 3 * (most + q) + 1, sizeof *r->work);
    if (!r->in || !r->out || !r->G || !r->Y || !r->work) return false;
    r->g = r->G + m * n, r->gamma = r->g + m, r->phi = r->gamma + m;
    r->qdot = r->G + taken, r->N = r->qdot + q;
    r->b = r->Y + n * r->p, r->Z = r->b + n;
    for (uint32_t i = 0; i < r->inputs; i++) r->in[i] = s->inputs[i].value;
    return true;
}

Regressor *tr_regressor_new(const System *system, tr_error *err)
{
    if (!can_be_solved(system, err)) return NULL;
    Regressor *r = calloc(1, sizeof *r);
    if (!r) return tr_fail_memory(err), NULL;
    r->system = tr_system_copy(system, err);
    if (r->system) count(r);
    if (r->system && !make_lists(r)) tr_fail_memory(err);
    if (!has_failed(err)) free_motion(r, err);
    if (!has_failed(err)) make_equations(r, err);
    if (!has_failed(err)) make_constraints(r, err);
    if (!has_failed(err)) make_rates(r, err);
    if (!has_failed(err) && !make_room(r)) tr_fail_memory(err);
    if (!has_failed(err)) return r;
    tr_regressor_free(r);
    return NULL;
}

void tr_regressor_free(Regressor *r)
{
    if (!r) return;
    tr_evaluator_free(&r->equations);
    tr_evaluator_free(&r->constraints);
    tr_evaluator_free(&r->rates);
    tr_system_free(r->system);
    free(r->q);
    free(r->v);
    free(r->holds);
    free(r->in);
    free(r->out);
    free(r->G);
    free(r->Y);
    free(r->work);
    free(r);
}

// ---- onto the constraints --------------------------------------------------------------------

// What is finite has a solution, unless there is no room for it.
static bool is_short(Regressor *r)
{
    r->lacks_memory = all_finite(r->G, (size_t)r->rows * r->n);
    return false;
}

// The rows that hold positions are solved for dv, and positions follow.                (T273)
static bool settle_positions(Regressor *r)
{
    const size_t n = r->n, h = r->holonomic, q = r->positions;
    double *A = r->work, *dv = A + (size_t)r->rows * n, *sum = dv + 2 * (r->rows > n ? r->rows : n);
    for (size_t i = 0; i < q; i++) sum[i] = 0;
    for (int step = 0; step < MOST_STEPS; step++) {
        evaluate_into(&r->constraints, r->in, r->G);
        if (!all_finite(r->G, (size_t)r->rows * n + 2 * (size_t)r->rows + h)) return false;
        if (tr_largest(r->phi, h) < 1e-14) break;
        for (size_t i = 0; i < h; i++) {
            for (size_t k = 0; k < n; k++) A[i * n + k] = r->G[r->holds[i] * n + k];
            dv[i] = -r->phi[i];
        }
        if (!tr_least_squares(A, (uint32_t)h, r->n, dv, 1, RANK, NULL)) return is_short(r);
        evaluate_into(&r->rates, r->in, r->qdot);
        for (size_t i = 0; i < q; i++) {
            double change = 0;
            for (size_t k = 0; k < n; k++) change += r->N[i * n + k] * dv[k];
            r->in[r->q[i]] += change;
            sum[i] += change;
        }
    }
    r->moved = larger(r->moved, tr_largest(sum, q));
    return true;
}

// x -= G^+ (G x + rest) for the inputs x
static bool settle(Regressor *r, const uint32_t *x, const double *rest)
{
    const size_t n = r->n;
    double *off = r->work;
    for (uint32_t i = 0; i < r->rows; i++) {
        off[i] = rest[i];
        for (size_t k = 0; k < n; k++) off[i] += r->G[i * n + k] * r->in[x[k]];
    }
    if (!all_finite(off, r->rows)) return false;
    if (!tr_least_squares(r->G, r->rows, r->n, off, 1, RANK, NULL)) return is_short(r);
    for (size_t k = 0; k < n; k++) r->in[x[k]] -= off[k];
    return true;
}

static void normalise(Regressor *r)
{
    const System *s = r->system;
    for (uint32_t i = 0; i < s->quaternion_count; i++) {
        double *e = &r->in[s->quaternions[i].position];
        const double length = tr_norm(e, 4);
        for (int k = 0; k < 4 && length > 0; k++) e[k] /= length;
    }
}

bool tr_regressor_settle(Regressor *r)
{
    normalise(r);
    if (!r->rows) return true;
    if (r->holonomic && !settle_positions(r)) return false;
    evaluate_into(&r->constraints, r->in, r->G);
    if (!settle(r, r->v, r->g)) return false;
    evaluate_into(&r->constraints, r->in, r->G); // gamma, by these velocities
    return settle(r, r->a, r->gamma);
}

bool tr_regressor_velocities(Regressor *r, const double *qdot, const bool *is_missing)
{
    const size_t n = r->n, q = r->positions;
    double *A = calloc(q * n + (q > n ? q : n) + 1, sizeof *A), *x = A ? A + q * n : NULL;
    if (!A) return false;
    for (uint32_t k = 0; k < r->n; k++)
        if (is_missing[k]) r->in[r->v[k]] = 0;
    evaluate_into(&r->rates, r->in, r->qdot);
    for (size_t i = 0; i < q; i++) {
        const bool counts = !r->system->inputs[r->q[i]].is_extra;
        for (size_t k = 0; k < n; k++) A[i * n + k] = is_missing[k] && counts ? r->N[i * n + k] : 0;
        x[i] = counts ? qdot[i] - r->qdot[i] : 0;
    }
    const bool good = tr_least_squares(A, (uint32_t)q, r->n, x, 1, 1e-12, NULL);
    for (uint32_t k = 0; good && k < r->n; k++)
        if (is_missing[k]) r->in[r->v[k]] = x[k];
    free(A);
    return good;
}

// ---- rows ------------------------------------------------------------------------------------

// Directions that the constraints leave, by rows; their number                          (T272)
static uint32_t leave_free(Regressor *r)
{
    const uint32_t n = r->n, m = r->rows, least = m < n ? m : n;
    double *sigma = r->work, *Vt = r->Z;
    uint32_t rank = 0;
    for (size_t i = 0; i < (size_t)n * n; i++) Vt[i] = i % (n + 1) == 0;
    if (!m) return n;
    if (!tr_singular(r->G, m, n, sigma, NULL, Vt)) return is_short(r), UINT32_MAX;
    while (rank < least && sigma[rank] > RANK * sigma[0]) rank++;
    for (size_t i = 0; i < (size_t)(n - rank) * n; i++) Vt[i] = Vt[(size_t)rank * n + i];
    return n - rank;
}

uint32_t tr_regressor_rows(Regressor *r, const double *torque, double *rows)
{
    const System *s = r->system;
    const size_t n = r->n, p = r->p;
    for (uint32_t j = 0; j < r->p; j++) r->in[s->opened[j / TEN].input + j % TEN] = 0;
    evaluate_into(&r->equations, r->in, r->out);
    const double *rest = r->out, *Q = rest + n, *entry = Q + n;
    if (!all_finite(r->out, 2 * n + r->entry_count)) return UINT32_MAX;
    for (size_t i = 0; i < n * p; i++) r->Y[i] = 0;
    for (size_t i = 0; i < r->entry_count; i++)
        r->Y[r->entries[i].row * p + r->entries[i].column] = entry[i];
    for (size_t k = 0; k < n; k++) r->b[k] = Q[k] + torque[k] - rest[k];
    const uint32_t left = leave_free(r);
    for (size_t i = 0; left != UINT32_MAX && i < left; i++) {
        double *row = rows + i * (p + 1);
        for (size_t j = 0; j <= p; j++) row[j] = 0;
        for (size_t k = 0; k < n; k++) {
            const double z = r->Z[i * n + k];
            if (z == 0) continue;
            for (size_t j = 0; j < p; j++) row[j] += z * r->Y[k * p + j];
            row[p] += z * r->b[k];
        }
    }
    return left;
}
