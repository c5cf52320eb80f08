// SPDX-License-Identifier: Apache-2.0
// Newton's method on the equations of steady motions, with exact slopes. Energy and symmetries make
// some equations follow from others, so there are more of them than unknowns, and a step is that of
// least squares; it is shortened until it helps. Symmetries do not move the state: X . dz = 0, as
// far as nothing that is held asks for it (T95, T96).
#include "steady/steady.h"

#include "linear/modes.h"
#include "num/dense.h"
#include "num/eigenvalue.h"
#include "num/singular.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 60, MAX_HALVINGS = 12 };
#define NO_RANK   1e-9 // of scaled slopes: less than this is no slope
#define TOLERANCE 1e-11

// ---- linear algebra ------------------------------------------------------------------------

// A = U diag(sigma) V^T, m * n
static bool singular_values(Steady *p, const double *A, uint32_t m, uint32_t n)
{
    return m && n && tr_singular(A, m, n, p->sigma, p->U, p->V);
}

static uint32_t rank_of(const Steady *p, uint32_t m, uint32_t n, double cutoff)
{
    uint32_t rank = 0;
    while (rank < m && rank < n && p->sigma[rank] > cutoff) rank++;
    return rank;
}

// ---- equations -----------------------------------------------------------------------------

static uint32_t stride(const Steady *p) { return p->unknowns + 1; }

static void put(Steady *p, const double *u)
{
    for (uint32_t i = 0; i < p->states; i++) p->in[p->place[i]] = u[i];
    for (uint32_t i = 0; i < p->frees; i++)
        p->in[p->place[p->states + i]] = u[p->states + p->generators + i];
    if (p->sweeps_input) p->in[p->place[p->states + p->frees]] = u[p->unknowns];
}

static void take_generators(Steady *p)
{
    const uint32_t n = p->states, k = p->generators;
    const double *action = p->values + n;
    memset(p->X, 0, (size_t)n * k * sizeof *p->X);
    for (uint32_t a = 0; a < p->actions; a++, action += n)
        for (uint32_t g = 0; g < k; g++)
            for (uint32_t i = 0; p->generator[a * k + g] != 0 && i < n; i++)
                p->X[(size_t)i * k + g] += p->generator[a * k + g] * action[i];
}

// F at u; the sum of squares
static double take_residuals(Steady *p, const double *u)
{
    const uint32_t n = p->states, k = p->generators, K = n * (1 + p->actions);
    const double *c = u + n, *rest = p->values + K;
    double *F = p->F, sum = 0;
    put(p, u);
    evaluate_into(&p->terms, p->in, p->values);
    take_generators(p);
    for (uint32_t i = 0; i < n; i++) {
        *F = p->values[i];
        for (uint32_t g = 0; g < k; g++) *F -= p->X[(size_t)i * k + g] * c[g];
        F++;
    }
    for (uint32_t i = 0; i < p->rows; i++) *F++ = rest[i];
    for (uint32_t i = 0; i < p->quaternions; i++) {
        const double *q = u + p->own_quaternions[i];
        *F++ = tr_unit_residual(q);
    }
    for (uint32_t i = 0; i < p->holds; i++) {
        const bool swept = p->sweeps_hold && i + 1 == p->holds;
        *F++ = p->asked[i] ? rest[p->rows + i] - (swept ? u[p->unknowns] : p->targets[i]) : 0;
    }
    for (uint32_t i = 0; i < p->own_equations; i++) sum += p->F[i] * p->F[i];
    return isfinite(sum) ? sum : (double)INFINITY;
}

// The unknown that a column of the program is about; UINT32_MAX for time
static uint32_t unknown_of(const Steady *p, uint32_t column)
{
    if (column < p->states) return column;
    if (column < p->states + p->frees) return column + p->generators;
    return p->sweeps_input && column == p->states + p->frees ? p->unknowns : UINT32_MAX;
}

// J at u, where residuals were taken last
static void take_slopes(Steady *p, const double *u)
{
    const uint32_t n = p->states, k = p->generators, first = n * (1 + p->actions),
                   all = first + p->rows + p->holds;
    const size_t w = stride(p);
    memset(p->J, 0, p->own_equations * w * sizeof *p->J);
    for (size_t e = 0; e < p->entry_count; e++) {
        const struct Entry *at = &p->entries[e];
        const uint32_t column = unknown_of(p, at->column);
        uint32_t row = at->row;
        double value = p->values[all + e];
        if (column == UINT32_MAX) continue;
        if (row >= n && row < first) { // of an action: less c times it
            double c = 0;
            for (uint32_t g = 0; g < k; g++) c += p->generator[(row / n - 1) * k + g] * u[n + g];
            row %= n, value *= -c;
        } else if (row >= first + p->rows && !p->asked[row - first - p->rows])
            continue;
        else if (row >= first)
            row += n - first + (row >= first + p->rows ? p->quaternions : 0);
        p->J[row * w + column] += value;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t g = 0; g < k; g++) p->J[i * w + n + g] = -p->X[(size_t)i * k + g];
    for (uint32_t i = 0; i < p->quaternions; i++)
        for (uint32_t j = 0; j < 4; j++)
            p->J[(n + p->rows + i) * w + p->own_quaternions[i] + j] = u[p->own_quaternions[i] + j];
    if (p->sweeps_hold) p->J[(p->own_equations - 1) * w + p->unknowns] = -1;
    p->equations = p->own_equations;
}

static double *next_equation(Steady *p)
{
    double *row = p->J + (size_t)p->equations * stride(p);
    memset(row, 0, stride(p) * sizeof *row);
    p->F[p->equations++] = 0;
    return row;
}

// ---- symmetries stand still ----------------------------------------------------------------

// Sums of generators that nothing held depends on: their number; factors are rows of `a`.
static uint32_t find_idle(Steady *p, double *a)
{
    const uint32_t n = p->states, k = p->generators;
    const double *C = p->J + (size_t)(n + p->rows + p->quaternions) * stride(p);
    double largest = 0;
    for (uint32_t i = 0; i < p->holds; i++)
        for (uint32_t g = 0; g < k; g++) {
            double sum = 0;
            for (uint32_t j = 0; j < n; j++) sum += C[i * stride(p) + j] * p->X[(size_t)j * k + g];
            p->scaled[i * k + g] = sum;
            largest = larger(largest, fabs(sum));
        }
    if (!p->holds || largest < 1e-9 || !singular_values(p, p->scaled, p->holds, k)) {
        memset(a, 0, (size_t)k * k * sizeof *a);
        for (uint32_t g = 0; g < k; g++) a[g * k + g] = 1;
        return k;
    }
    const uint32_t rank = rank_of(p, p->holds, k, 1e-9 * largest);
    memcpy(a, p->V + (size_t)rank * k, (size_t)(k - rank) * k * sizeof *a);
    return k - rank;
}

// X a . dz = 0 for idle sums a; and c does not change where X c is nothing
static bool add_gauges(Steady *p)
{
    const uint32_t n = p->states, k = p->generators;
    if (!k) return true;
    double *a = p->idle;
    const uint32_t idle = find_idle(p, a);
    const double least = 1e-8 * fmax(tr_largest(p->X, (size_t)n * k), 1e-300);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t g = 0; g < idle; g++) {
            p->scaled[i * idle + g] = 0;
            for (uint32_t j = 0; j < k; j++)
                p->scaled[i * idle + g] += p->X[(size_t)i * k + j] * a[g * k + j];
        }
    if (idle && singular_values(p, p->scaled, n, idle)) {
        const uint32_t rank = rank_of(p, n, idle, least);
        for (uint32_t g = 0; g < rank; g++) {
            double *row = next_equation(p);
            for (uint32_t i = 0; i < n; i++) row[i] = p->U[(size_t)i * n + g];
        }
    }
    if (!singular_values(p, p->X, n, k)) return false;
    for (uint32_t g = rank_of(p, n, k, least); g < k; g++)
        memcpy(next_equation(p) + n, p->V + (size_t)g * k, k * sizeof *p->V);
    return true;
}

// ---- steps ---------------------------------------------------------------------------------

static double arc_residual(const Steady *p, const Arc *arc, const double *u)
{
    double sum = -arc->length;
    for (uint32_t i = 0; i <= p->unknowns; i++)
        sum += arc->tangent[i] * arc->weight[i] * arc->weight[i] * (u[i] - arc->from[i]);
    return sum;
}

static double residuals_with(Steady *p, const double *u, const Arc *arc)
{
    const double sum = take_residuals(p, u), off = arc ? arc_residual(p, arc, u) : 0;
    return sum + off * off;
}

// All equations at u, factorised for the first n unknowns with columns of unit length
static bool factorise(Steady *p, const double *u, const Arc *arc, uint32_t n)
{
    const size_t w = stride(p);
    double largest = 0;
    take_slopes(p, u);
    if (!add_gauges(p)) return false;
    if (arc) {
        double *row = next_equation(p);
        p->F[p->equations - 1] = arc_residual(p, arc, u);
        for (uint32_t i = 0; i <= p->unknowns; i++)
            row[i] = arc->tangent[i] * arc->weight[i] * arc->weight[i];
    }
    for (uint32_t j = 0; j < n; j++) {
        p->scale[j] = 0;
        for (uint32_t i = 0; i < p->equations; i++)
            p->scale[j] += p->J[i * w + j] * p->J[i * w + j];
        p->scale[j] = sqrt(p->scale[j]);
        largest = larger(largest, p->scale[j]);
    }
    for (uint32_t j = 0; j < n; j++)
        if (!(p->scale[j] > 1e-13 * largest)) p->scale[j] = fmax(largest, 1e-300);
    for (uint32_t i = 0; i < p->equations; i++)
        for (uint32_t j = 0; j < n; j++)
            p->scaled[(size_t)i * n + j] = p->J[i * w + j] / p->scale[j];
    return singular_values(p, p->scaled, p->equations, n);
}

// The step of least squares along directions whose singular value is not below the cutoff
static void take_step(Steady *p, uint32_t n, double cutoff)
{
    const uint32_t m = p->equations, rank = rank_of(p, m, n, cutoff * p->sigma[0]);
    memset(p->step, 0, stride(p) * sizeof *p->step);
    for (uint32_t r = 0; r < rank; r++) {
        double along = 0;
        for (uint32_t i = 0; i < m; i++) along += p->U[(size_t)i * m + r] * p->F[i];
        along /= p->sigma[r];
        for (uint32_t j = 0; j < n; j++)
            p->step[j] -= along * p->V[(size_t)r * n + j] / p->scale[j];
    }
}

static void make_units(const Steady *p, double *u)
{
    for (uint32_t i = 0; i < p->quaternions; i++) tr_make_unit(u + p->own_quaternions[i]);
}

// Along the step, shortened until the sum is less; the state goes no further than this at once, so
// as not to land far away.
static bool advance(Steady *p, double *u, const Arc *arc, double *sum, int halvings)
{
    double far = 0;
    for (uint32_t i = 0; i < p->states; i++) far = larger(far, fabs(p->step[i]) / (1 + fabs(u[i])));
    const double most = far > 0.5 ? 0.5 / far : 1;
    for (int k = 0; k < halvings; k++) {
        for (uint32_t i = 0; i <= p->unknowns; i++)
            p->trial[i] = u[i] + ldexp(most, -k) * p->step[i];
        make_units(p, p->trial);
        const double now = residuals_with(p, p->trial, arc);
        if (!(now < *sum)) continue;
        memcpy(u, p->trial, stride(p) * sizeof *u);
        return *sum = now, true;
    }
    return false;
}

// Whether the equations hold at u, to rounding; the worst of them
static bool holds(const Steady *p, const double *u, Outcome *out)
{
    double worst = -1;
    bool good = true;
    for (uint32_t i = 0; i < p->own_equations; i++) {
        double size = 1;
        for (uint32_t j = 0; j < p->unknowns; j++)
            size += fabs(p->J[(size_t)i * stride(p) + j] * u[j]);
        const double off = fabs(p->F[i]);
        if (!(off <= TOLERANCE * size)) good = false;
        if (!(off <= worst) && !isnan(worst)) worst = off, out->worst = i;
    }
    out->residual = larger(worst, 0);
    return good;
}

// How the motion changes with time alone: now, or later, where the constraints still hold then
static void take_drift(Steady *p, Outcome *out)
{
    static const double times[] = {0, 0.37, 1.9, 7.3};
    const uint32_t n = p->states, first = n * (1 + p->actions), all = first + p->rows + p->holds;
    const double start = p->in[0];
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        double off = 0;
        p->in[0] = start + times[k];
        evaluate_into(&p->terms, p->in, p->values);
        for (uint32_t i = 0; i < p->rows; i++) off = larger(off, fabs(p->values[first + i]));
        for (size_t e = 0; off < 1e-6 && e < p->entry_count; e++) {
            const struct Entry *at = &p->entries[e];
            if (at->row >= n || unknown_of(p, at->column) != UINT32_MAX) continue;
            const double rate = fabs(p->values[all + e]);
            if (rate > out->drift) out->drift = rate, out->drifting = at->row;
        }
    }
    p->in[0] = start;
}

Outcome tr_steady_solve(Steady *p, double *u, const Arc *arc)
{
    static const double cutoffs[] = {1e-11, 1e-6, 1e-3};
    const uint32_t n = p->unknowns + (arc ? 1 : 0);
    Outcome out = {0};
    make_units(p, u);
    double sum = residuals_with(p, u, arc);
    bool going = isfinite(sum), factorised = false;
    while (going && out.iterations < MAX_STEPS) {
        const double before = sum;
        factorised = factorise(p, u, arc, n);
        if (!factorised || sum == 0) break;
        const bool enough = holds(p, u, &out);
        going = false;
        for (int i = 0; i < 3 && !going; i++) {
            take_step(p, n, cutoffs[i]);
            going = advance(p, u, arc, &sum, enough ? 1 : i < 2 ? 3 : MAX_HALVINGS);
            if (!going) residuals_with(p, u, arc);
            if (enough) break;
        }
        out.iterations += going;
        if (enough && sum > 0.1 * before) break;
    }
    if (isfinite(sum)) factorised = factorise(p, u, arc, n);
    if (!isfinite(sum) || !factorised) return out.residual = (double)NAN, out;
    out.converged = holds(p, u, &out);
    out.excess = n - rank_of(p, p->equations, n, NO_RANK * p->sigma[0]);
    take_drift(p, &out);
    return out;
}

// ---- what is left open ---------------------------------------------------------------------

void tr_steady_loose(const Steady *p, uint32_t excess, double *changes)
{
    const uint32_t n = p->unknowns;
    for (uint32_t r = 0; r < excess; r++)
        for (uint32_t j = 0; j < n; j++)
            changes[r * n + j] = p->V[(size_t)(n - excess + r) * n + j] / p->scale[j];
}

const double *tr_steady_hold_slopes(Steady *p, const double *u)
{
    bool *asked = p->asked;
    take_residuals(p, u);
    p->asked = asked + p->holds; // of all
    take_slopes(p, u);
    p->asked = asked;
    return p->J + (size_t)(p->states + p->rows + p->quaternions) * stride(p);
}

// ---- words ---------------------------------------------------------------------------------

// Unknowns that would settle what is left open, one for each vector v along which the equations do
// not change: the rows of V from n - excess on
static void name_loose(Steady *p, const double *u, uint32_t excess, char *line, size_t size)
{
    const uint32_t n = p->unknowns, c = p->states, k = p->generators;
    double *N = p->V + (size_t)(n - excess) * n;
    for (uint32_t r = 0; r < excess; r++)
        for (uint32_t j = 0; j < n; j++)
            N[r * n + j] *= j >= c && j < c + k ? 0 : 1 / (p->scale[j] * (1 + fabs(u[j])));
    line[0] = 0;
    for (uint32_t r = 0; r < excess; r++) {
        uint32_t row = r, best = 0;
        double most = 0;
        for (uint32_t i = r; i < excess; i++)
            for (uint32_t j = 0; j < n; j++)
                if (fabs(N[i * n + j]) > most) most = fabs(N[i * n + j]), row = i, best = j;
        if (most == 0) return;
        tr_list_name(line, size, tr_steady_name(p, best));
        for (uint32_t j = 0; j < n; j++) {
            const double swap = N[row * n + j];
            N[row * n + j] = N[r * n + j], N[r * n + j] = swap;
        }
        for (uint32_t i = r + 1; i < excess; i++) {
            const double f = N[i * n + best] / N[r * n + best];
            for (uint32_t j = 0; j < n; j++) N[i * n + j] -= f * N[r * n + j];
            N[i * n + best] = 0;
        }
    }
}

// A parameter that no equation has cannot be found, nor make a family.
static const char *find_useless(const Steady *p)
{
    for (uint32_t i = 0; i < p->frees + p->sweeps_input; i++) {
        bool used = false;
        for (size_t e = 0; e < p->entry_count && !used; e++)
            used = p->entries[e].column == p->states + i;
        if (!used) return p->system->inputs[p->place[p->states + i]].name;
    }
    return NULL;
}

static void say_where(const Steady *p, const Outcome *out, char *line, size_t size)
{
    const uint32_t i = out->worst, n = p->states;
    const double off = out->residual;
    if (i < n && i >= p->positions && i < p->positions + p->velocities)
        snprintf(line, size, "'%.80s' still accelerates by %.3g", tr_steady_name(p, i), off);
    else if (i < n)
        snprintf(line, size, "'%.80s' still changes by %.3g per second", tr_steady_name(p, i), off);
    else if (i < n + p->rows)
        snprintf(line, size, "the constraint '%.80s' is off by %.3g", p->row_names[i - n], off);
    else if (i < n + p->rows + p->quaternions)
        snprintf(line, size, "a rotation is off by %.3g", off);
    else
        snprintf(line, size, "'%.80s' is off by %.3g",
                 p->hold_names[i - n - p->rows - p->quaternions], off);
}

bool tr_steady_within(Steady *p, const double *u, tr_error *err)
{
    tr_error own = {0};
    char at[120] = "";
    put(p, u);
    if (tr_plan_within(p->plan, p->in, &own)) return true;
    if (p->swept) snprintf(at, sizeof at, " at %.60s = %.6g", p->swept, u[p->unknowns]);
    tr_fail(err, own.status, place_at(own.line, own.column),
            "the steady motion%s is out of a range: %.400s", at, own.text);
    return false;
}

bool tr_steady_accept(Steady *p, const double *u, const Outcome *out, tr_error *err)
{
    char words[300], at[120] = "";
    const char *useless = find_useless(p);
    if (p->swept) snprintf(at, sizeof at, " at %.60s = %.6g", p->swept, u[p->unknowns]);
    if (out->no_memory)
        tr_fail_memory(err);
    else if (useless)
        tr_fail(err, TR_FAILED, (Place){0},
                "'%.80s' has no influence on steady motions; what it gives an initial value to can "
                "be held or swept itself",
                useless);
    else if (!p->unknowns)
        tr_fail(err, TR_FAILED, (Place){0},
                "nothing can move, so there is no steady motion to look for: constraints, stops "
                "and dry friction hold everything where the start puts it");
    else if (!isfinite(out->residual))
        tr_fail(err, TR_FAILED, (Place){0},
                "no steady motion near the guess%s: the motion is not finite where it was looked "
                "for",
                at);
    else if (!out->converged) {
        say_where(p, out, words, sizeof words);
        tr_fail(err, TR_FAILED, (Place){0}, "no steady motion near the guess%s: after %d steps, %s",
                at, out->iterations, words);
    } else if (out->excess) {
        name_loose(p, u, out->excess, words, sizeof words);
        tr_fail(err, TR_FAILED, (Place){0},
                "%u more unknown%s than equations%s: hold %u more, such as %s, or formulas",
                out->excess, plural(out->excess), at, out->excess, words);
    } else if (out->drift > 1e-8)
        tr_fail(err, TR_FAILED, (Place){0},
                "no steady motion%s: the rate of '%.80s' changes with time alone, by %.3g per "
                "second",
                at, tr_steady_name(p, out->drifting), out->drift);
    else
        tr_steady_within(p, u, err);
    return !has_failed(err);
}

// ---- at a solution -------------------------------------------------------------------------

void tr_steady_guess(Steady *p, double *u)
{
    const double *in = p->flow->inputs;
    for (uint32_t i = 0; i < p->states; i++) u[i] = in[p->place[i]];
    for (uint32_t i = 0; i < p->generators; i++) u[p->states + i] = 0;
    for (uint32_t i = 0; i < p->frees; i++)
        u[p->states + p->generators + i] = in[p->place[p->states + i]];
    u[p->unknowns] = p->sweeps_input  ? in[p->place[p->states + p->frees]]
                     : p->sweeps_hold ? p->targets[p->holds - 1]
                                      : 0;
    const uint32_t n = p->states, k = p->generators;
    take_residuals(p, u);
    memcpy(p->room, p->F, n * sizeof *p->F); // c: as much of the motion as symmetries can be
    if (k && tr_least_squares(p->X, n, k, p->room, 1, 1e-9, NULL))
        memcpy(u + n, p->room, k * sizeof *u);
}

bool tr_steady_tangent(Steady *p, const double *u, const double *weight, double *tangent)
{
    const uint32_t n = stride(p);
    double size = 0;
    take_residuals(p, u);
    if (!factorise(p, u, NULL, n)) return false;
    if (rank_of(p, p->equations, n, NO_RANK * p->sigma[0]) + 1 != n) return false;
    for (uint32_t i = 0; i < n; i++) {
        tangent[i] = p->V[(size_t)(n - 1) * n + i] / p->scale[i];
        size += tangent[i] * tangent[i] * weight[i] * weight[i];
    }
    for (uint32_t i = 0; i < n; i++) tangent[i] /= sqrt(size);
    return isfinite(size) && size > 0;
}

// The largest real part but of the `idle` eigenvalues that are nearest to zero
static double growth(double (*values)[2], uint32_t count, uint32_t idle)
{
    double most = -(double)INFINITY, size = -1;
    for (uint32_t k = 0; k < idle; k++) { // the size of the idle-th smallest
        double next = (double)INFINITY;
        uint32_t same = 0;
        for (uint32_t i = 0; i < count; i++) {
            const double here = hypot(values[i][0], values[i][1]);
            if (here > size && here < next) next = here;
        }
        for (uint32_t i = 0; i < count; i++) same += hypot(values[i][0], values[i][1]) == next;
        size = next, k += same - 1;
    }
    for (uint32_t i = 0; i < count; i++)
        if (hypot(values[i][0], values[i][1]) > size) most = larger(most, values[i][0]);
    return most;
}

// A basis Q of displacements that constraints allow and symmetries do not make: rows of V from the
// rank on
static bool find_shapes(Steady *p, uint32_t *rank)
{
    const uint32_t n = p->states, k = p->generators, m = p->rows + p->quaternions + k;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++)
            p->scaled[(size_t)i * n + j] =
                i + k < m ? p->J[(size_t)(n + i) * stride(p) + j] : p->X[(size_t)j * k + i + k - m];
    *rank = 0;
    if (!m) {
        memset(p->V, 0, (size_t)n * n * sizeof *p->V);
        for (uint32_t i = 0; i < n; i++) p->V[(size_t)i * n + i] = 1;
        return true;
    }
    if (!singular_values(p, p->scaled, m, n)) return false;
    *rank = rank_of(p, m, n, 1e-9 * p->sigma[0]);
    return true;
}

// A = Q^T L Q, of the slopes L of the motion less that along the symmetries: m * m
static void take_relative(Steady *p, const double *Q, uint32_t m, double *A)
{
    const uint32_t n = p->states;
    double *LQ = A + (size_t)m * m;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m; k++) {
            LQ[i * m + k] = 0;
            for (uint32_t j = 0; j < n; j++)
                LQ[i * m + k] += p->J[(size_t)i * stride(p) + j] * Q[(size_t)k * n + j];
        }
    tr_multiply(Q, LQ, m, n, m, A);
}

bool tr_steady_eigenvalues(Steady *p, const double *u, double (*values)[2], uint32_t *count,
                           double *stability)
{
    uint32_t rank = 0;
    double *A = p->relative, *parts = A + 2 * (size_t)p->states * p->states;
    *count = 0, *stability = -(double)INFINITY;
    take_residuals(p, u);
    take_slopes(p, u);
    if (!find_shapes(p, &rank)) return false;
    const uint32_t m = *count = p->states - rank;
    if (!m) return true;
    take_relative(p, p->V + (size_t)rank * p->states, m, A);
    memcpy(p->scaled, A, (size_t)m * m * sizeof *A);
    if (!tr_eigenvalues(A, m, parts, parts + m)) return false;
    for (uint32_t i = 0; i < m; i++) values[i][0] = parts[i], values[i][1] = parts[m + i];
    qsort(values, m, sizeof *values, tr_compare_growth);
    if (!singular_values(p, p->scaled, m, m)) return false;
    *stability = growth(values, m, m - rank_of(p, m, m, 1e-9 * p->sigma[0]));
    return true;
}

void tr_steady_columns(Steady *p, const double *u, double *columns)
{
    put(p, u);
    evaluate_into(&p->columns, p->in, columns);
    for (uint32_t i = 0; i < p->flow->column_count; i++) columns[i] += 0.0; // -0 is 0
}

void tr_steady_inputs(Steady *p, const double *u, double *inputs)
{
    const System *s = p->system;
    uint32_t column = 0;
    tr_steady_columns(p, u, p->flow->column);
    memcpy(inputs, p->in, s->input_count * sizeof *inputs);
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++)
            if ((int)s->inputs[i].kind == kind) inputs[i] = p->flow->column[column++];
}
