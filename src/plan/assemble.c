// SPDX-License-Identifier: Apache-2.0
// Conditions on positions or on rates, and states that satisfy them: `initial` and the constraints
// hold, quaternions are units, and the rest differs as little as possible from where it was.
//
// Newton's method with steps of least norm, shortened until they help. Where the conditions have no
// slope at the guess (acos at 1, a speed at rest), it starts again from beside it. At the end the
// state slides along the conditions towards the guess: J d = J (guess - y), y += guess - y - d
// (T80, T81).
#include "plan/assemble.h"

#include "base/random.h"
#include "num/dense.h"
#include "num/singular.h"
#include "plan/condition_set.h"
#include "plan/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN 1e-9 // what conditions leave open, as singular values of rows of length one
enum { MOST_ACTING = 2000, MOST_BY_VALUES = 400 };
enum { MAX_STEPS = 100, MAX_SLIDES = 30, MAX_HALVINGS = 20, MAX_STARTS = 8 };

struct Conditions {
    const ConditionSet *set;
    const System *system;
    bool rates;
    uint32_t count, formulas, rows; // of the set
    Evaluator program, masses;
    TouchSearch *touch; // where a contact is on a surface that is not flat; NULL where none is
    Metric metric;
    bool is_plain;    // all rates count alike
    double *mass;     // and easy motions
    double *x;        // all inputs
    double *y;        // the unknown ones
    double *values;   // what the program gives
    double *slopes;   // rows * count, by rows
    double *residual; // rows, or count if there are more
    double *singular;
    double *guess, *before, *first, *kept; // of y
    bool *acts;                            // whether any condition depends on it here
};

// ---- room for them -------------------------------------------------------------------------

static bool prepare(Conditions *c, tr_error *err)
{
    const size_t m = c->rows, n = c->count;
    c->program = tr_evaluator_with(c->set->program, err);
    c->masses = tr_evaluator_with(c->set->metric, err);
    if (c->set->metric && !tr_metric_new(&c->metric, c->count, c->set->easy)) tr_fail_memory(err);
    c->touch = tr_touch_search(c->system, &c->set->touch, err);
    const size_t touches = c->set->touches;
    c->x = calloc(c->system->input_count + n + 1, sizeof *c->x); // and directions
    c->y = calloc(5 * n + 1, sizeof *c->y);
    c->values = calloc((m + touches) * (n + touches + 1) + 1, sizeof *c->values);
    c->slopes = calloc(m * n + 1, sizeof *c->slopes);
    c->residual = calloc(m + n + 1, sizeof *c->residual);
    c->singular = calloc(m + n + 1, sizeof *c->singular);
    c->acts = calloc(n + 1, sizeof *c->acts);
    c->mass = calloc(n * (c->set->easy + 1u) + 1, sizeof *c->mass);
    if (!c->mass || !c->x || !c->y || !c->values || !c->slopes || !c->residual || !c->singular ||
        !c->acts)
        tr_fail_memory(err);
    if (has_failed(err)) return false;
    c->guess = c->y + n, c->before = c->y + 2 * n, c->first = c->y + 3 * n, c->kept = c->y + 4 * n;
    return true;
}

Conditions *tr_conditions_new(const ConditionSet *set, tr_error *err)
{
    if (!set || has_failed(err)) return NULL;
    Conditions *c = calloc(1, sizeof *c);
    if (!c) return tr_fail_memory(err), NULL;
    *c = (Conditions){.set = set,
                      .system = set->system,
                      .rates = set->rates,
                      .count = set->count,
                      .formulas = set->formulas,
                      .rows = set->rows};
    if (prepare(c, err)) return c;
    tr_conditions_free(c);
    return NULL;
}

void tr_conditions_free(Conditions *c)
{
    if (!c) return;
    tr_evaluator_free(&c->program);
    tr_evaluator_free(&c->masses);
    tr_metric_free(&c->metric);
    tr_touch_search_free(c->touch);
    free(c->x);
    free(c->y);
    free(c->values);
    free(c->slopes);
    free(c->residual);
    free(c->singular);
    free(c->acts);
    free(c->mass);
    free(c);
}

// ---- solving them --------------------------------------------------------------------------

double tr_quaternion_size(const double *q)
{
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

double tr_unit_residual(const double *q)
{
    return (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) / 2;
}

double tr_make_unit(double *q)
{
    const double size = tr_quaternion_size(q);
    if (size == 0) q[0] = 1; // a guess of nothing: not turned
    for (int k = 0; k < 4 && size > 0; k++) q[k] /= size;
    return fabs(size - 1);
}

static void make_units(Conditions *c)
{
    for (uint32_t i = 0; i < c->set->quaternions; i++) tr_make_unit(c->y + c->set->quaternion[i]);
}

// The state that is solved from, and what it became
static void take(Conditions *c, const double *x)
{
    memcpy(c->x, x, c->system->input_count * sizeof *x);
    for (uint32_t k = 0; k < c->count; k++) c->y[k] = x[c->set->place[k]];
    make_units(c);
}

static void give(const Conditions *c, double *x)
{
    for (uint32_t k = c->count; k < c->count + c->set->touches; k++)
        x[c->set->place[k]] = c->x[c->set->place[k]];
    for (uint32_t k = 0; k < c->count; k++) x[c->set->place[k]] = c->y[k];
}

// Contacts follow: with tangency T(y, u) = 0 and F(y, u) the slopes by y are F_y - F_u T_u^-1 T_y,
// and what is left of T counts likewise. T_u has a block for each contact.                   (T189)
static void eliminate_touches(const Conditions *c, double *F, const double *T, size_t which)
{
    const size_t n = c->count, wide = n + c->set->touches;
    const double *T_u[] = {T + n + which, T + wide + n + which};
    const double det = T_u[0][0] * T_u[1][1] - T_u[0][1] * T_u[1][0];
    const double f[] = {F[n + which], F[n + which + 1]};
    const double share[] = {(f[0] * T_u[1][1] - f[1] * T_u[1][0]) / det,
                            (f[1] * T_u[0][0] - f[0] * T_u[0][1]) / det};
    for (size_t k = 0; k < n && (f[0] != 0 || f[1] != 0); k++)
        F[k] -= share[0] * T[k] + share[1] * T[wide + k];
}

// Residuals and slopes of formulas, where all slopes are there at once
static void evaluate_whole(Conditions *c)
{
    const size_t m = c->formulas, n = c->count, touches = c->set->touches, wide = n + touches;
    if (c->touch) tr_touch_follow(c->touch, c->x);
    evaluate_into(&c->program, c->x, c->values);
    memcpy(c->residual, c->values, m * sizeof *c->values);
    double *slopes = c->values + m + touches;
    for (size_t i = 0; i < m; i++) {
        double *F = slopes + i * wide;
        for (size_t k = 0; k < touches; k += 2) eliminate_touches(c, F, slopes + (m + k) * wide, k);
        memcpy(c->slopes + i * n, F, n * sizeof *F);
    }
}

// and one direction after the other
static void evaluate_along(Conditions *c)
{
    const size_t m = c->formulas, n = c->count;
    for (size_t k = 0; k < n; k++) {
        double *along = c->x + c->set->direction + k;
        *along = 1;
        evaluate_into(&c->program, c->x, c->values);
        *along = 0;
        for (size_t i = 0; i < m; i++) c->slopes[i * n + k] = c->values[m + i];
    }
    memcpy(c->residual, c->values, m * sizeof *c->values);
}

// Residuals and slopes at y; the sum of the residuals' squares.
static double evaluate(Conditions *c)
{
    const uint32_t m = c->formulas, n = c->count;
    double sum = 0;
    for (uint32_t k = 0; k < n; k++) c->x[c->set->place[k]] = c->y[k];
    if (m && c->set->direction)
        evaluate_along(c);
    else if (m)
        evaluate_whole(c);
    for (uint32_t i = 0; i < c->set->quaternions; i++) {
        const double *q = c->y + c->set->quaternion[i];
        double *row = c->slopes + (size_t)(m + i) * n;
        c->residual[m + i] = tr_unit_residual(q);
        for (uint32_t k = 0; k < n; k++) row[k] = 0;
        for (uint32_t k = 0; k < 4; k++) row[c->set->quaternion[i] + k] = q[k];
    }
    for (uint32_t i = 0; i < c->rows; i++) sum += c->residual[i] * c->residual[i];
    return isfinite(sum) ? sum : (double)INFINITY;
}

// Whether the conditions hold at y, where they were evaluated last, but for a share of what cancels
static bool holds_to(const Conditions *c, double share)
{
    for (uint32_t i = 0; i < c->rows; i++) {
        double size = 1;
        for (uint32_t k = 0; k < c->count; k++) {
            const double term = fabs(c->slopes[i * c->count + k] * c->y[k]);
            if (isfinite(term)) size += term;
        }
        if (!(fabs(c->residual[i]) <= share * size)) return false;
    }
    return true;
}

// To rounding, seen from afar
static bool holds(const Conditions *c) { return holds_to(c, 1e-11); }

static bool has_metric(const Conditions *c) { return c->metric.n && !c->is_plain; }

static bool solve_shortest(Conditions *c, double cutoff, uint32_t *rank)
{
    return has_metric(c)
               ? tr_metric_shortest(&c->metric, c->slopes, c->rows, c->residual, cutoff, rank)
               : tr_least_squares(c->slopes, c->rows, c->count, c->residual, 1, cutoff, rank);
}

// The shortest d with slopes d = residual, as far as possible; it takes the residuals' place.
// Directions in which the conditions change less than the cutoff allows are left alone.
static bool shortest(Conditions *c, double cutoff, uint32_t *rank)
{
    if (!c->count) return false;
    for (uint32_t k = 0; k < c->count; k++) c->acts[k] = false;
    const double *slope = c->slopes;
    for (uint32_t i = 0; i < c->rows; i++)
        for (uint32_t k = 0; k < c->count; k++, slope++) {
            if (!isfinite(*slope)) return false;
            if (*slope != 0) c->acts[k] = true;
        }
    if (!solve_shortest(c, cutoff, rank)) return false;
    for (uint32_t k = 0; k < c->count; k++)
        if (!c->acts[k]) c->residual[k] = 0; // not merely to rounding
    return true;
}

static void copy(const Conditions *c, double *to, const double *from)
{
    memcpy(to, from, c->count * sizeof *to);
}

// Positions go no further than this at once, so as not to land on another branch.
static double longest(const Conditions *c, const double *d)
{
    double most = 0;
    for (uint32_t k = 0; k < c->count; k++)
        most = larger(most, fabs(d[k]) / (1 + fabs(c->before[k])));
    return c->rates || most <= 1 ? 1 : 1 / most;
}

// A step along d, halved until the residuals' sum is less than `below`.
static bool try_step(Conditions *c, const double *d, int halvings, double below, double *sum)
{
    const double most = longest(c, d);
    for (int i = 0; i < halvings; i++) {
        const double scale = ldexp(most, -i);
        for (uint32_t k = 0; k < c->count; k++) c->y[k] = c->before[k] - scale * d[k];
        make_units(c);
        const double now = evaluate(c);
        if (now < below) return *sum = now, true;
    }
    copy(c, c->y, c->before);
    evaluate(c);
    return false;
}

// One step of Newton's method. Conditions that are dependent where they hold are nearly so beside
// it, and a step along what is left of their difference goes anywhere: so steps that leave such
// directions alone come first, and are taken if they help much. Of many conditions singular values
// take long, and a whole step, which most often needs none, comes first.
static bool improve(Conditions *c, double *sum)
{
    static const double cutoffs[] = {0.03, 1e-4, 1e-10};
    enum { TRIES = sizeof cutoffs / sizeof *cutoffs };
    const uint32_t all = c->rows < c->count ? c->rows : c->count;
    double *d = c->singular; // of which only the workspace is needed
    uint32_t rank = 0;
    copy(c, c->before, c->y);
    if (all > MANY_ROWS) {
        if (holds_to(c, 1e-16)) return false; // nothing is left to improve
        if (!isfinite(*sum) || !shortest(c, cutoffs[TRIES - 1], NULL)) return false;
        copy(c, d, c->residual);
        if (try_step(c, d, 1, *sum / 16, sum)) return true;
        if (holds(c)) return false; // what is left is rounding
    }
    for (int i = 0; i < TRIES; i++) {
        const bool last = i + 1 == TRIES, same = i > 0 && rank == all; // as the step before
        if (same && !last) continue;
        if (!isfinite(*sum) || (!same && !shortest(c, cutoffs[i], &rank))) return false;
        if (!same) copy(c, d, c->residual);
        if (try_step(c, d, last ? MAX_HALVINGS : 1, last ? *sum : *sum / 16, sum)) return true;
    }
    return false;
}

// Steps as long as they help; false when there were too many.
static bool take_steps(Conditions *c, double *sum)
{
    int i = 0;
    while (i<MAX_STEPS && * sum> 0 && improve(c, sum)) i++;
    evaluate(c);
    return i < MAX_STEPS;
}

// After a long way the conditions may only just hold: from there more steps are worth while.
static bool find(Conditions *c)
{
    double sum = evaluate(c);
    const bool done = take_steps(c, &sum);
    if (!holds(c)) return false;
    if (!done) take_steps(c, &sum);
    return true;
}

static double distance(Conditions *c)
{
    double *d = c->before;
    for (uint32_t k = 0; k < c->count; k++) d[k] = c->y[k] - c->guess[k];
    return has_metric(c) ? tr_metric_length(&c->metric, d) : tr_norm(d, c->count);
}

// Towards the guess, as far as the slopes of the conditions allow; false when that is nowhere.
static bool slide(Conditions *c)
{
    const double far = distance(c);
    double moved = 0;
    for (uint32_t i = 0; i < c->rows; i++) {
        c->residual[i] = 0;
        for (uint32_t k = 0; k < c->count; k++)
            c->residual[i] += c->slopes[i * c->count + k] * (c->guess[k] - c->y[k]);
    }
    if (!shortest(c, c->rows > MANY_ROWS ? 1e-10 : 1e-6, NULL)) return false; // as in `improve`
    for (uint32_t k = 0; k < c->count; k++) {
        const double step = c->guess[k] - c->y[k] - c->residual[k];
        c->y[k] += step;
        moved += step * step;
    }
    make_units(c);
    return sqrt(moved) > 1e-9 * far;
}

// From a state where the conditions hold to the one of them that is nearest to the guess.
static void approach(Conditions *c)
{
    for (int i = 0; i < MAX_SLIDES; i++) {
        const double far = distance(c);
        if (far == 0) return;
        copy(c, c->kept, c->y);
        if (slide(c) && find(c) && distance(c) < far) continue;
        copy(c, c->y, c->kept);
        evaluate(c);
        return;
    }
}

// Beside the guess: a little at first, then more; the same in every run.
static void nudge(Conditions *c, int start)
{
    uint32_t random = 12345;
    double size = start % 2 ? -1e-3 : 1e-3; // to either side
    for (int i = 0; i < start; i++) size *= 3;
    for (uint32_t k = 0; k < c->count; k++) {
        const double away = size * next_random(&random);
        c->y[k] = c->guess[k] + away * fmax(1, fabs(c->guess[k]));
    }
    make_units(c);
}

// ---- what cannot hold ----------------------------------------------------------------------

enum { MAX_SETTLING = 300 };
#define FIRMNESS 1e3 // of what `initial` gives, against the constraints

static double firm_sum(const Conditions *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->rows; i++) {
        const double off = (i < c->set->given ? FIRMNESS : 1) * c->residual[i];
        sum += off * off;
    }
    return isfinite(sum) ? sum : (double)INFINITY;
}

// Towards the least sum of squares, with a damping that grows until it helps (Levenberg and
// Marquardt); `room` is for (rows + count) * (count + 1).
static bool settle_once(Conditions *c, double *damping, double *sum, double *room)
{
    const uint32_t m = c->rows, n = c->count;
    double *A = room, *b = room + (size_t)(m + n) * n;
    copy(c, c->before, c->y);
    while (*damping < 1e12) {
        memset(room, 0, (size_t)(m + n) * (n + 1) * sizeof *room);
        for (uint32_t i = 0; i < m; i++) {
            const double w = i < c->set->given ? FIRMNESS : 1;
            b[i] = w * c->residual[i];
            for (uint32_t k = 0; k < n; k++)
                A[(size_t)i * n + k] = w * c->slopes[(size_t)i * n + k];
        }
        for (uint32_t k = 0; k < n; k++) A[(size_t)(m + k) * n + k] = sqrt(*damping);
        if (!tr_least_squares(A, m + n, n, b, 1, 1e-14, NULL)) return false;
        for (uint32_t k = 0; k < n; k++) c->y[k] = c->before[k] - b[k];
        make_units(c);
        evaluate(c);
        const double now = firm_sum(c);
        if (now < *sum * (1 - 1e-12)) return *sum = now, *damping *= 0.2, true;
        copy(c, c->y, c->before);
        evaluate(c);
        *damping *= 5;
    }
    return false;
}

// As near as the constraints come to holding while `initial` does; false when that is not to be had
static bool settle(Conditions *c)
{
    double *room =
        c->count ? calloc((size_t)(c->rows + c->count) * (c->count + 1), sizeof *room) : NULL;
    if (!isfinite(evaluate(c)) || !room) {
        free(room);
        return false;
    }
    double damping = 1e-3, sum = firm_sum(c);
    for (int i = 0; i < MAX_SETTLING && settle_once(c, &damping, &sum, room); i++) continue;
    free(room);
    return true;
}

// ---- words ---------------------------------------------------------------------------------

static uint32_t worst_row(const Conditions *c)
{
    uint32_t row = 0;
    for (uint32_t i = 1; i < c->rows && isfinite(c->residual[row]); i++)
        if (!(fabs(c->residual[i]) <= fabs(c->residual[row]))) row = i;
    return row;
}

// Conditions that contradict a constraint: all that are about as far off as the worst.
static void name_group(const Conditions *c, double worst, char *line, size_t size)
{
    line[0] = 0;
    for (uint32_t i = 0; i < c->formulas; i++)
        if (fabs(c->residual[i]) >= 0.1 * worst) tr_list_name(line, size, c->set->notes[i]);
}

// The first constraint among them, or NULL.
static const Row *first_constraint(const Conditions *c, double worst)
{
    for (uint32_t i = 0; i < c->formulas; i++)
        for (uint32_t k = 0; k < c->system->row_count; k++)
            if (c->set->notes[i] == c->system->rows[k].name && fabs(c->residual[i]) >= 0.1 * worst)
                return &c->system->rows[k];
    return NULL;
}

// How far an element is from where it should be, over all its rows that are lengths
static double gap_of(const Conditions *c, Text element)
{
    double sum = 0;
    for (uint32_t i = c->set->given; i < c->formulas; i++)
        for (uint32_t k = 0; k < c->system->row_count; k++) {
            const Row *row = &c->system->rows[k];
            if (c->set->notes[i] == row->name && row->unit == 1 && // an angle counts otherwise
                strncmp(row->name, element.at, element.length) == 0 &&
                row->name[element.length] == '.')
                sum += c->residual[i] * c->residual[i];
        }
    return sqrt(sum);
}

// Of a contact: along its normal it is below what it touches.
static bool is_below(const Conditions *c, const char *row)
{
    bool below = false;
    for (uint32_t i = c->set->given; i < c->formulas; i++)
        below = below || (c->set->notes[i] == row && c->residual[i] < 0);
    return below;
}

// Of what keeps points together or apart
static void tell_gap(Conditions *c, const char *row, char *words, size_t size)
{
    const char *point = strrchr(row, '.');
    const Text element = {row, (size_t)(point - row)};
    if (strcmp(point, ".position") == 0 || strcmp(point, ".coupling") == 0 || !settle(c)) return;
    const bool is_inside = strcmp(point, ".normal") == 0 && is_below(c, row);
    snprintf(words, size, "; '%.*s' %s by %.4g m at best",
             (int)(element.length < 100 ? element.length : 100), element.at,
             is_inside ? "is inside what it touches" : "stays open", gap_of(c, element));
}

static void refuse(Conditions *c, tr_error *err)
{
    const uint32_t row = worst_row(c);
    const char *name = row < c->formulas ? c->set->notes[row] : "";
    const char *what = c->rates ? "rates" : "positions";
    const double off = fabs(c->residual[row]);
    const Row *row_off = first_constraint(c, off);
    char names[360];
    if (name[0] && !isfinite(off))
        tr_fail(err, TR_INVALID, (Place){0},
                "the initial %s cannot all hold: '%.200s' has no value at the guess", what, name);
    else if (row_off) {
        char open[160] = "";
        name_group(c, off, names, sizeof names);
        if (!c->rates) tell_gap(c, row_off->name, open, sizeof open);
        tr_fail(err, TR_INVALID, row_off->place,
                "constraints and initial %s cannot all hold at t = %.6g: %s, off by %.3g%s", what,
                c->x[0], names, off, open);
    } else if (name[0])
        tr_fail(err, TR_INVALID, (Place){0},
                "the initial %s cannot all hold: '%.200s' is off by %.3g", what, name, off);
    else
        tr_fail(err, TR_INVALID, (Place){0}, "the initial %s cannot all hold: off by %.3g", what,
                off);
}

// Positions are known by now.
static bool take_metric(Conditions *c)
{
    if (!c->metric.n) return true;
    evaluate_into(&c->masses, c->x, c->mass);
    return tr_metric_take(&c->metric, c->mass, c->mass + c->count, c->set->easy);
}

bool tr_conditions_solve(Conditions *c, double *x, bool nearest, tr_error *err)
{
    take(c, x);
    copy(c, c->guess, c->y);
    if (c->touch) tr_touch_find(c->touch, c->x);
    if (!take_metric(c)) return tr_fail_memory(err), false;
    c->is_plain = false;
    bool found = find(c);
    if (!found && c->metric.n) { // what contradicts each other is told in its own units
        c->is_plain = true;
        copy(c, c->y, c->guess);
        found = find(c);
    }
    copy(c, c->first, c->y);
    for (int start = 0; start < MAX_STARTS && !found; start++) {
        nudge(c, start);
        found = find(c);
    }
    if (found && nearest) approach(c);
    if (!found) {
        copy(c, c->y, c->first); // the trouble is told as it is near the guess
        evaluate(c);
        refuse(c, err);
    }
    give(c, x);
    return found;
}

// From the guesses of inputs towards those of what is none, such as joints that were cut: they
// choose a branch as well.
static void follow_wishes(const ConditionSet *wishes, double *x, tr_error *err)
{
    Conditions *c = tr_conditions_new(wishes, err);
    if (!c) return;
    take(c, x);
    if (settle(c)) give(c, x);
    tr_conditions_free(c);
}

// ---- what is left open ---------------------------------------------------------------------

// Of unknowns that conditions act on: which, and how many
static uint32_t list_acting(const Conditions *c, uint32_t *acting)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < c->count; k++) {
        bool acts = false;
        for (size_t i = 0; i < c->rows && !acts; i++) acts = c->slopes[i * c->count + k] != 0;
        if (acts) acting[count++] = k;
    }
    return count;
}

static bool kernel_by_values(const double *A, uint32_t m, uint32_t n, double *Z, uint32_t *columns)
{
    double *Vt = calloc((size_t)n * n + m + n + 1, sizeof *Vt);
    double *sigma = Vt ? Vt + (size_t)n * n : NULL;
    const bool good = Vt && tr_singular(A, m, n, sigma, NULL, Vt);
    uint32_t rank = 0;
    while (good && rank < m && rank < n && sigma[rank] > OPEN) rank++;
    *columns = n - rank;
    for (size_t i = 0; good && i < n; i++)
        for (size_t k = rank; k < n; k++) Z[i * *columns + k - rank] = Vt[k * n + i];
    free(Vt);
    return good;
}

// A basis of the changes of these unknowns, n of them, that the conditions allow, as columns: n *
// (n - rank). Rows count alike, whatever their units; NULL when memory runs out. None is told where
// finding out would take too long.
static double *open_changes(const Conditions *c, const uint32_t *acting, uint32_t n,
                            uint32_t *columns)
{
    const size_t m = c->rows;
    double *A = calloc(m * n + 1, sizeof *A), *Z = calloc((size_t)n * n + 1, sizeof *Z);
    for (size_t i = 0; A && i < m; i++) {
        const double size = tr_norm(c->slopes + i * c->count, c->count);
        for (size_t k = 0; k < n; k++)
            A[i * n + k] = size > 0 ? c->slopes[i * c->count + acting[k]] / size : 0;
    }
    bool good = A && Z;
    if (good && m > MANY_ROWS && m <= n && tr_kernel(A, (uint32_t)m, n, OPEN, Z))
        *columns = n - (uint32_t)m;
    else if (n <= MOST_BY_VALUES)
        good = good && kernel_by_values(A, (uint32_t)m, n, Z, columns);
    free(A);
    if (good) return Z;
    free(Z);
    return NULL;
}

static void mark_chosen(const Conditions *c, const uint32_t *acting, uint32_t n, const double *Z,
                        uint32_t columns, uint8_t *marks)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = acting[i];
        const double moved = fabs(c->y[k] - c->guess[k]);
        if (tr_norm(Z + (size_t)i * columns, columns) > OPEN &&
            moved > 1e-9 * (1 + fabs(c->guess[k])))
            marks[c->set->place[k]] |= START_CHOSEN;
    }
}

// Of a state where the conditions hold. What they do not act on is open; the rest is looked at
// unless it is too much.
static bool mark_open(const Conditions *c, uint8_t *marks)
{
    uint32_t columns = 0, *acting = calloc(2 * (size_t)c->count + 1, sizeof *acting);
    if (!acting) return false;
    const uint32_t n = list_acting(c, acting);
    uint32_t *own = acting + c->count;
    for (uint32_t i = 0, k = 0; k < c->count; k++) {
        if (i < n && acting[i] == k)
            i++;
        else
            marks[c->set->place[k]] |= START_OPEN;
    }
    double *Z = n && n <= MOST_ACTING ? open_changes(c, acting, n, &columns) : NULL;
    const bool good = Z || !n || n > MOST_ACTING;
    if (Z) {
        mark_chosen(c, acting, n, Z, columns, marks);
        tr_give_rows(Z, n, columns, n, 1e-6, own);
        for (uint32_t k = 0; k < columns; k++) marks[c->set->place[acting[own[k]]]] |= START_OPEN;
    }
    free(Z);
    free(acting);
    return good;
}

static bool solve_and_mark(const ConditionSet *set, double *x, uint8_t *marks, tr_error *err)
{
    Conditions *c = tr_conditions_new(set, err);
    bool good = c && tr_conditions_solve(c, x, true, err);
    if (good && marks && !mark_open(c, marks)) good = false, tr_fail_memory(err);
    tr_conditions_free(c);
    return good;
}

bool tr_assemble(const ConditionSet *const *sets, double *x, uint8_t *marks, tr_error *err)
{
    const ConditionSet *any = sets[START_POSITIONS];
    const size_t n = any->system->input_count;
    double *guess = calloc(n + 1, sizeof *guess);
    if (!guess) return tr_fail_memory(err), false;
    memcpy(guess, x, n * sizeof *x);
    if (marks) memset(marks, 0, n);
    follow_wishes(sets[START_WISHES], x, err);
    bool good = !has_failed(err);
    for (int kind = START_POSITIONS; kind <= START_RATES && good; kind++)
        good = solve_and_mark(sets[kind], x, marks, err);
    for (uint32_t i = 0; good && marks && i < n; i++) {
        if (!any->is_start[i] || any->system->inputs[i].is_given)
            marks[i] = 0;
        else if (x[i] != guess[i])
            marks[i] |= START_SOLVED;
    }
    free(guess);
    return good;
}
