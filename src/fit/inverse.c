// SPDX-License-Identifier: Apache-2.0
// From recordings to inertias: all rows into a triangle, what they determine, and what bodies can
// have.
#include "fit/inverse.h"

#include "base/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-12 // of a moment, by the sum of all about the origin

void tr_inverse_fill(tr_inverse_options *options, size_t size)
{
    const tr_inverse_options plain = {0};
    tr_give_options(options, size, &plain, sizeof plain);
}

// ---- names -----------------------------------------------------------------------------------

void tr_inverse_name(const tr_inverse *inverse, uint32_t parameter, Buffer *out)
{
    static const char *const names[] = {"m",    "mx",   "my",   "mz",   "I_xx",
                                        "I_yy", "I_zz", "I_xy", "I_xz", "I_yz"};
    tr_buffer_print(out, "%s(%s)", names[parameter % TEN],
                    inverse->system->opened[parameter / TEN].body);
}

// c = h/m,   I about c = I - m (|c|^2 1 - c c^T)                                        (T270)
void tr_inertia_written(const double phi[TEN], double com[3], double I[6])
{
    const double m = phi[0], size = fabs(phi[4]) + fabs(phi[5]) + fabs(phi[6]);
    double shift[3];
    for (int i = 0; i < 3; i++) {
        com[i] = m != 0 ? phi[1 + i] / m : 0;
        shift[i] = phi[1 + i] * com[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        I[i] = phi[4 + i] - shift[j] - shift[k];
        if (I[i] < 0 && I[i] > -ROUNDING * size) I[i] = 0; // no model takes less than nothing
    }
    I[3] = phi[7] + phi[1] * com[1];
    I[4] = phi[8] + phi[1] * com[2];
    I[5] = phi[9] + phi[2] * com[2];
}

// ---- rows ------------------------------------------------------------------------------------

static bool add_log(tr_inverse *x, Regressor *r, Equations *t, const Log *log, tr_error *err)
{
    double *torque = calloc(r->n + 1u, sizeof *torque);
    if (!torque) tr_fail_memory(err);
    for (size_t row = 0; row < log->sheet->rows && !has_failed(err); row++) {
        tr_log_put(log, r, row, torque);
        double *room = tr_equations_room(t, r->n);
        const uint32_t count =
            room && tr_regressor_settle(r) ? tr_regressor_rows(r, torque, room) : UINT32_MAX;
        if (!room || r->lacks_memory)
            tr_fail_memory(err);
        else if (count == UINT32_MAX)
            tr_fail(err, TR_FAILED, (Place){0},
                    "%.200s:%d: the equations of motion have no finite numbers there", log->path,
                    tr_sheet_line(log->sheet, row));
        else
            tr_equations_add(t, count);
    }
    x->samples += log->sheet->rows;
    x->made_velocities = x->made_velocities || log->made_velocities;
    x->made_accelerations = x->made_accelerations || log->made_accelerations;
    free(torque);
    return !has_failed(err);
}

static bool add_logs(tr_inverse *x, Regressor *r, Equations *t, const tr_inverse_options *o,
                     tr_error *err)
{
    for (size_t i = 0; i < o->log_count && !has_failed(err); i++) {
        Log log;
        if (tr_log_open(&log, r, o->logs[i], err)) add_log(x, r, t, &log, err);
        tr_log_close(&log);
    }
    x->logs = o->log_count, x->equations = t->rows, x->moved = r->moved;
    return !has_failed(err);
}

// ---- solving ---------------------------------------------------------------------------------

static bool make_room(tr_inverse *x, const System *system)
{
    x->system = system;
    x->bodies = system->opened_count, x->p = TEN * x->bodies;
    x->prior = calloc(3 * (size_t)x->p + 1, sizeof *x->prior);
    if (!x->prior) return false;
    x->unit = x->prior + x->p, x->phi = x->unit + x->p;
    for (uint32_t j = 0; j < x->p; j++)
        x->prior[j] = system->inputs[system->opened[j / TEN].input + j % TEN].value;
    tr_inertia_units(x->prior, x->bodies, x->unit);
    return true;
}

// The model's own values as rows: to be off by a unit counts like W times all right sides
static bool add_prior(const tr_inverse *x, const Equations *data, double weight, Equations *all)
{
    const size_t n = data->columns;
    double size = 0;
    if (!tr_equations_open(all, data->columns)) return false;
    double *rows = tr_equations_room(all, data->columns + x->p);
    if (!rows) return false;
    memcpy(rows, data->A, n * n * sizeof *rows);
    for (size_t i = 0; i < n; i++) size += data->A[i * n + n - 1] * data->A[i * n + n - 1];
    for (size_t j = 0; j < x->p; j++) {
        double *row = rows + (n + j) * n;
        for (size_t k = 0; k < n; k++) row[k] = 0;
        row[j] = weight * sqrt(size) / x->unit[j];
        row[n - 1] = row[j] * x->prior[j];
    }
    tr_equations_add(all, data->columns + x->p);
    return true;
}

static bool solve_all(tr_inverse *x, const Equations *data, double weight, tr_error *err)
{
    Equations all = {0};
    Base base = {0};
    const bool weighs = weight > 0;
    if (weighs && !add_prior(x, data, weight, &all)) tr_fail_memory(err);
    if (weighs && !has_failed(err)) tr_base_find(&base, &all, x->unit, err);
    const Bounds bounds = {.bodies = x->bodies,
                           .prior = x->prior,
                           .unit = x->unit,
                           .triangle = weighs ? &all : data,
                           .base = weighs ? &base : &x->base,
                           .weighs_all = weighs && base.rank == x->p};
    if (!has_failed(err)) tr_bounds_solve(&bounds, x->phi, &x->is_bounded, err);
    tr_equations_free(&all);
    tr_base_free(&base);
    return !has_failed(err);
}

// Whether a known force is there to compare with: else all could be nothing, and fit.
static bool has_scale(const tr_inverse *x, const Equations *t)
{
    const size_t n = t->columns;
    double right = 0, left = 0;
    for (size_t i = 0; i < n; i++) right += t->A[i * n + n - 1] * t->A[i * n + n - 1];
    for (uint32_t j = 0; j < x->p; j++) left += x->base.weight[j] * fabs(x->prior[j]);
    return sqrt(right) > 1e-12 * left;
}

static bool solve(tr_inverse *x, const Equations *t, double weight, tr_error *err)
{
    if (!tr_base_find(&x->base, t, x->unit, err)) return false;
    if (!x->base.rank)
        tr_fail(err, TR_FAILED, (Place){0},
                "nothing that was recorded depends on the inertias that are to be found");
    else if (t->rows < x->base.rank)
        tr_fail(err, TR_FAILED, (Place){0}, "%zu equations are too few for %u parameters", t->rows,
                x->base.rank);
    else if (!has_scale(x, t) && !(weight > 0))
        tr_fail(
            err, TR_FAILED, (Place){0},
            "no torque and no other known force acts on what was recorded, so that nothing says "
            "how large inertias are: find those of some bodies alone, or give the model's own "
            "a weight");
    if (has_failed(err) || !solve_all(x, t, weight, err)) return false;
    double *best = calloc(x->p + 1u, sizeof *best);
    if (!best) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < x->base.rank; i++) best[x->base.own[i]] = x->base.value[i];
    x->misfit_model = sqrt(tr_equations_misfit(t, x->prior) / (double)t->rows);
    x->misfit_data = sqrt(tr_equations_misfit(t, best) / (double)t->rows);
    x->misfit = sqrt(tr_equations_misfit(t, x->phi) / (double)t->rows);
    free(best);
    return true;
}

// ---- all of it -------------------------------------------------------------------------------

static bool check(const tr_inverse_options *o, tr_error *err)
{
    if (!o->log_count || !o->logs)
        tr_fail(err, TR_USAGE, (Place){0}, "which recordings? inertias are found from motions");
    else if (!(o->prior_weight >= 0) || !isfinite(o->prior_weight))
        tr_fail(err, TR_USAGE, (Place){0}, "the weight of the prior must not be negative");
    return !has_failed(err);
}

tr_inverse *tr_inverse_find(const System *system, const tr_inverse_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_inverse_options o = tr_inverse_defaults();
    if (!system || !tr_take_options(&o, sizeof o, options, "tr_inverse_defaults", err)) return NULL;
    if (!check(&o, err)) return NULL;
    tr_inverse *x = calloc(1, sizeof *x);
    Equations t = {0};
    Regressor *r = x ? tr_regressor_new(system, err) : NULL;
    if (!x || (r && (!make_room(x, system) || !tr_equations_open(&t, x->p + 1))))
        tr_fail_memory(err);
    if (r && !has_failed(err) && add_logs(x, r, &t, &o, err)) solve(x, &t, o.prior_weight, err);
    tr_regressor_free(r);
    tr_equations_free(&t);
    if (!has_failed(err)) return x;
    tr_inverse_free(x);
    return NULL;
}

void tr_inverse_free(tr_inverse *x)
{
    if (!x) return;
    free(x->prior);
    tr_base_free(&x->base);
    free(x);
}

const double *tr_inverse_body(const tr_inverse *x, size_t index, const char **name)
{
    if (!x || index >= x->bodies) return NULL;
    if (name) *name = x->system->opened[index].body;
    return x->phi + index * TEN;
}
