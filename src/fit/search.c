// SPDX-License-Identifier: Apache-2.0
// From the values of the start to those that the data want: steps of step.c, each as much damped as
// it must be, until none matters; then deviations, of columns and of what was found.
#include "fit/fit.h"
#include "num/dense.h"
#include "num/triangle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_DAMPING 1e-3
#define LEAST_DAMPING 1e-9
#define MOST_DAMPING  1e10
#define NO_SLOPE      1e-12 // of a column by a value, against both, that is none
#define LEAST_SHARE   1e-12 // of a deviation, against the size of its column
#define LEAST_FREEDOM 0.5   // degrees of freedom that a deviation is found from

// How far a search may still be from its end: a part of chi^2, of the sizes of columns, and of the
// deviations of priors
typedef struct Near {
    double chi_square, move, prior;
} Near;
static const Near arrived = {1e-14, 1e-11, 1e-7}, close_by = {1e-6, 1e-8, 1e-3};

// ---- sums ----------------------------------------------------------------------------------

static double *triangle_of(const Fit *f, const Look *at, uint32_t c)
{
    const size_t n = f->count + 1u;
    return at->triangles + c * n * n;
}

static double mean_square(double norm, size_t count) { return norm / sqrt((double)count); }

double tr_fit_add_up(Fit *f, const Look *at)
{
    const uint32_t n = f->count + 1;
    double *row = f->room;
    memset(f->sum, 0, (size_t)n * n * sizeof *f->sum);
    for (uint32_t c = 0; c < f->column_count; c++)
        tr_triangle_merge(f->sum, n, triangle_of(f, at, c), 1 / f->columns[c].sd, row);
    for (uint32_t k = 0; k < f->count; k++) {
        const tr_fit_value *value = &f->values[k];
        if (isnan(value->prior)) continue;
        memset(row, 0, n * sizeof *row);
        row[k] = 1 / value->prior_sd;
        row[f->count] = (value->prior - at->p[k]) / value->prior_sd;
        tr_triangle_add(f->sum, n, row);
    }
    const double norm = tr_triangle_norm(f->sum, n, f->count);
    return norm * norm;
}

// ---- standard deviations -------------------------------------------------------------------

// The norm of what a change of values does to a column
static double move_of(const Fit *f, uint32_t c, const double *change)
{
    const uint32_t n = f->count;
    const double *T = triangle_of(f, &f->now, c);
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        double x = 0;
        for (uint32_t k = i; k < n; k++) x += T[(size_t)i * (n + 1) + k] * change[k];
        sum += x * x;
    }
    return sqrt(sum);
}

// How many degrees of freedom the values take from a column: the trace of its part of the matrix
// that makes b what the fit says of it                                                      (T283)
static double taken_from(const Fit *f, uint32_t c)
{
    double trace = 0;
    const uint32_t m = f->open_count;
    memset(f->step, 0, f->count * sizeof *f->step);
    for (uint32_t i = 0; i < f->rank; i++) {
        for (uint32_t j = 0; j < m; j++)
            f->step[f->open[j]] = f->Vt[(size_t)i * m + j] / f->norm[f->open[j]] / f->sigma[i];
        const double move = move_of(f, c, f->step) / f->columns[c].sd;
        trace += move * move;
    }
    return trace;
}

static double least_deviation(const Fit *f, uint32_t c)
{
    return fmax(1e-150, LEAST_SHARE * mean_square(f->size[c], f->columns[c].count));
}

// sd^2 = |z - h|^2 / (count - taken); the largest change, relative
static double renew_deviations(Fit *f, tr_error *err)
{
    double most = 0;
    for (uint32_t c = 0; c < f->column_count; c++) {
        tr_fit_column *column = &f->columns[c];
        if (column->is_given) continue;
        const double freedom = (double)column->count - taken_from(f, c);
        const double norm = tr_triangle_norm(triangle_of(f, &f->now, c), f->count + 1, f->count);
        if (!(freedom >= LEAST_FREEDOM)) {
            tr_fail(err, TR_FAILED, (Place){0},
                    "'%.100s' was measured %zu times, which is too little to find its standard "
                    "deviation, too: --sd gives it",
                    column->name, column->count);
            return 0;
        }
        f->trial_sd[c] = fmax(norm / sqrt(freedom), least_deviation(f, c));
        most = larger(most, fabs(f->trial_sd[c] / column->sd - 1));
    }
    for (uint32_t c = 0; c < f->column_count; c++)
        if (!f->columns[c].is_given) f->columns[c].sd = f->trial_sd[c];
    return most;
}

// Where the search is: deviations that are not given, again and again until they stay; then the sum
// of all, factorised
static bool weigh(Fit *f, tr_error *err)
{
    enum { MOST = 200 };
    for (int i = 0; i < MOST; i++) {
        f->chi_square = tr_fit_add_up(f, &f->now);
        tr_fit_hold(f);
        if (!tr_fit_factorise(f, err)) return false;
        if (renew_deviations(f, err) <= 1e-10) return !has_failed(err);
    }
    return true;
}

// ---- steps ---------------------------------------------------------------------------------

static bool is_near(Fit *f, Near near, tr_error *err)
{
    bool stays = true;
    if (!tr_fit_step(f, 0, err)) return false;
    for (uint32_t c = 0; c < f->column_count; c++)
        stays = stays && move_of(f, c, f->step) <= near.move * f->size[c];
    for (uint32_t k = 0; k < f->count; k++)
        if (fabs(f->step[k]) > near.prior * f->values[k].prior_sd) stays = false;
    return stays || tr_fit_gain(f) <= near.chi_square * (1 + f->chi_square);
}

// Whether a look at where a step leads is better; words when it cannot be made
static bool is_better(Fit *f, tr_error *err)
{
    for (uint32_t k = 0; k < f->count; k++) f->trial.p[k] = tr_fit_stepped(f, k);
    return tr_fit_look(f, &f->trial, err) && tr_fit_add_up(f, &f->trial) < f->chi_square;
}

// One step that makes chi^2 smaller, damped as much as it must be. `ends`: there is none that
// matters
static bool improve(Fit *f, double *damping, bool *ends, tr_error *err)
{
    tr_error why = {0};
    for (; *damping < MOST_DAMPING; *damping = fmax(10 * *damping, LEAST_DAMPING * 1e3)) {
        tr_error own = {0};
        if (!tr_fit_step(f, *damping, err)) return false;
        if (is_better(f, &own)) {
            const Look before = f->now;
            f->now = f->trial, f->trial = before;
            *damping = *damping > 100 * LEAST_DAMPING ? *damping / 100 : 0;
            return true;
        }
        if (f->stopped || own.status == TR_NO_MEMORY) return *err = own, false;
        if (own.status) why = own;
        if (!own.status && is_near(f, close_by, err)) return *ends = true;
        if (has_failed(err)) return false;
    }
    tr_fail(err, TR_FAILED, (Place){0},
            "no step from here brings the run nearer to the data%s%.300s", why.status ? ": " : "",
            why.text);
    return false;
}

// ---- the beginning and the end -------------------------------------------------------------

static void begin(Fit *f)
{
    for (uint32_t k = 0; k < f->count; k++) f->now.p[k] = f->values[k].start;
    memset(f->size, 0, f->column_count * sizeof *f->size);
    for (size_t i = 0; i < f->point_count; i++) {
        double *size = &f->size[f->points[i].column];
        *size += f->points[i].value * f->points[i].value;
    }
    for (uint32_t c = 0; c < f->column_count; c++) f->size[c] = sqrt(f->size[c]);
    f->iterations = 0;
}

// Deviations to begin with: all that is left
static void guess_deviations(Fit *f)
{
    for (uint32_t c = 0; c < f->column_count; c++) {
        tr_fit_column *column = &f->columns[c];
        if (column->is_given) continue;
        const double norm = tr_triangle_norm(triangle_of(f, &f->now, c), f->count + 1, f->count);
        column->sd = fmax(mean_square(norm, column->count), least_deviation(f, c));
    }
}

// Whether any column changes with a value by more than rounding, where the search is
static bool matters(const Fit *f, uint32_t k)
{
    for (uint32_t c = 0; c < f->column_count; c++) {
        const double *T = triangle_of(f, &f->now, c);
        const double slope = tr_triangle_norm(T, f->count + 1, k);
        const double size = f->size[c] + tr_triangle_norm(T, f->count + 1, f->count);
        if (slope * fmax(1, fabs(f->now.p[k])) > NO_SLOPE * size) return true;
    }
    return !isnan(f->values[k].prior);
}

// At the start one value that matters is enough: what others do may be seen only elsewhere, such as
// the length of a pendulum that hangs at rest. At the end all have to.
static bool check_slopes(const Fit *f, bool is_end, tr_error *err)
{
    char names[300] = "";
    bool any = false, all = true;
    for (uint32_t k = 0; k < f->count; k++) {
        const bool own = matters(f, k);
        if (!own) tr_list_name(names, sizeof names, f->values[k].name);
        any = any || own, all = all && own;
    }
    if (is_end ? all : any) return true;
    tr_fail(err, TR_FAILED, (Place){0}, "nothing that was recorded depends on %s", names);
    return false;
}

// C = D^-1 V diag(sigma^-2) V^T D^-1                                                        (T282)
static void fill_covariance(Fit *f)
{
    const size_t n = f->count, m = f->open_count;
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l < m; l++) {
            const uint32_t a = f->open[j], b = f->open[l];
            double sum = 0;
            for (size_t i = 0; i < f->rank; i++)
                sum += f->Vt[i * m + j] * f->Vt[i * m + l] / (f->sigma[i] * f->sigma[i]);
            f->covariance[a * n + b] = sum / (f->norm[a] * f->norm[b]);
        }
}

// The last step, which hardly changes anything, is made without another run.
static bool finish(Fit *f, tr_error *err)
{
    size_t priors = 0;
    if (f->is_bounded && !tr_fit_factorise(f, err)) return false;
    fill_covariance(f);
    for (uint32_t k = 0; k < f->count; k++) {
        f->values[k].value = tr_fit_stepped(f, k);
        f->values[k].sd = sqrt(f->covariance[(size_t)k * f->count + k]);
        if (!isnan(f->values[k].prior)) priors++;
    }
    for (size_t i = 0; i < f->point_count; i++) f->points[i].left = f->now.left[i];
    for (uint32_t c = 0; c < f->column_count; c++)
        f->columns[c].rms =
            mean_square(tr_triangle_norm(triangle_of(f, &f->now, c), f->count + 1, f->count),
                        f->columns[c].count);
    f->told.chi_square = f->chi_square;
    f->told.freedom = (double)(f->point_count + priors) - f->rank;
    f->told.iterations = f->iterations, f->told.runs = f->runs;
    return tr_fit_name_untold(f, err);
}

bool tr_fit_search(Fit *f, tr_error *err)
{
    double damping = FIRST_DAMPING;
    bool ends = false;
    begin(f);
    if (!tr_fit_look(f, &f->now, err) || !check_slopes(f, false, err)) return false;
    guess_deviations(f);
    while (weigh(f, err) && !ends && !is_near(f, arrived, err)) {
        if (f->iterations == f->options->most_iterations)
            tr_fail(err, TR_FAILED, (Place){0}, "it has not converged after %zu iterations",
                    f->iterations);
        if (has_failed(err) || !improve(f, &damping, &ends, err)) return false;
        f->iterations += !ends;
    }
    if (ends) memset(f->step, 0, f->count * sizeof *f->step); // it would lead nowhere
    return !has_failed(err) && check_slopes(f, true, err) && finish(f, err);
}
