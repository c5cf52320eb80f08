// SPDX-License-Identifier: Apache-2.0
// Ranks at one state prove little: rows that are dependent by chance become independent as soon as
// the system moves, and off the position manifold rows of over-constrained loops are independent
// that never are on it. So the doctor makes small admissible motions, with random free velocities
// and driven joints on their formulas, puts the positions right, and looks again (T67).
#include "plan/doctor.h"

#include "base/random.h"
#include "num/dense.h"
#include "num/singular.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS = 10, MOST_ROWS_TO_RELAX = 60 };
#define FAR     0.03 // how far coordinates move [rad, m]
#define LATER   0.02 // and how much later it is, at most [s]
#define DEPENDS 1e-7 // a share of a row in what is dependent

typedef struct Doctor {
    Flow *flow;
    Findings *findings;
    Conditions *positions;
    uint32_t random;
    double *y, *rate, *x; // a state beside the start
    double *v, *first;    // velocities by input, with two choices of the free ones
    double *depends;      // by row: how much at the start, with driven joints locked, then free
    uint32_t most;        // of the ranks found, the sum
    bool may_rise;        // they
    bool has_memory;
} Doctor;

// Random free velocities, of about one in the mass metric
static void stir(Doctor *d)
{
    const Flow *flow = d->flow;
    for (uint32_t k = flow->positions; k < flow->known; k++) d->y[k] = next_random(&d->random);
}

// ---- a state nearby ------------------------------------------------------------------------

// A small motion from the start, then back onto the constraints. False when there is no way back.
static bool step_aside(Doctor *d)
{
    Flow *flow = d->flow;
    tr_error unused = {0};
    double fastest = 0;
    memcpy(d->y, flow->start, flow->size * sizeof *d->y);
    stir(d);
    tr_flow_fill(flow, 0, d->y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_MOTION), d->rate);
    for (uint32_t k = 0; k < flow->positions; k++) fastest = larger(fastest, fabs(d->rate[k]));
    const double dt = fmin(LATER, fastest > 0 ? FAR / fastest : LATER);
    for (uint32_t k = 0; k < flow->positions; k++) d->y[k] += dt * d->rate[k];
    tr_flow_fill(flow, dt, d->y);
    memcpy(d->x, flow->inputs, flow->system->input_count * sizeof *d->x);
    if (!isfinite(fastest) || !tr_conditions_solve(d->positions, d->x, false, &unused))
        return false;
    for (uint32_t k = 0; k < flow->positions; k++) d->y[k] = d->x[flow->now->place[k]];
    return tr_stance_take(flow->stance, d->x);
}

// ---- ranks ---------------------------------------------------------------------------------

// What a row loses of its dependence from here to there: over all rows, the squares are as many as
// the rank is higher.
static double lost_dependence(const double *here, const Rank *there, uint32_t rows, uint32_t i)
{
    const double left = tr_rank_dependence(there, rows, i);
    return here[i] * here[i] - left * left;
}

// Marks rows that depend on others here and on none there; where there is none of them, those that
// lose most.
static void mark_awakening(const double *here, const Rank *there, uint32_t rows, bool *marks)
{
    double most = 0;
    bool any = false;
    for (uint32_t i = 0; i < rows; i++) {
        marks[i] = here[i] > DEPENDS && tr_rank_dependence(there, rows, i) < DEPENDS;
        any = any || marks[i];
        most = larger(most, lost_dependence(here, there, rows, i));
    }
    for (uint32_t i = 0; !any && i < rows; i++)
        marks[i] = lost_dependence(here, there, rows, i) > 0.1 * most;
}

// How much rows depend on others where the stance is
static bool take_dependence(const Stance *s, bool locked, double *depends)
{
    Rank rank;
    if (!tr_stance_rank(s, locked, NO_ROW, RANK_TOLERANCE, false, &rank)) return false;
    for (uint32_t i = 0; i < s->rows; i++) depends[i] = tr_rank_dependence(&rank, s->rows, i);
    tr_rank_free(&rank);
    return true;
}

static void compare_ranks(Doctor *d)
{
    Findings *f = d->findings;
    const Stance *s = d->flow->stance;
    Rank whole = {0}, locked = {0};
    if (!d->may_rise) return;
    const bool is_driven = s->passive < s->velocities; // else both are the same
    d->has_memory = tr_stance_rank(s, true, NO_ROW, RANK_TOLERANCE, false, &locked) &&
                    (!is_driven || tr_stance_rank(s, false, NO_ROW, RANK_TOLERANCE, false, &whole));
    const uint32_t rank = is_driven ? whole.rank : locked.rank;
    if (d->has_memory && rank + locked.rank > d->most) {
        d->most = rank + locked.rank;
        f->m = rank, f->m_locked = locked.rank;
        const bool with_driven = is_driven && locked.rank == f->chart->m_locked;
        mark_awakening(d->depends + (with_driven ? s->rows : 0), with_driven ? &whole : &locked,
                       s->rows, f->awakening);
    }
    tr_rank_free(&locked);
    tr_rank_free(&whole);
}

// ---- what moves ----------------------------------------------------------------------------

static void take_velocities(Doctor *d, double t, double *v)
{
    tr_flow_fill_all(d->flow, t, d->y);
    memcpy(v, d->flow->inputs, d->flow->system->input_count * sizeof *v);
}

// Velocities that differ between two choices of the free ones, and those that are not zero
static void compare_velocities(Doctor *d, double t)
{
    const System *s = d->flow->system;
    Findings *f = d->findings;
    double largest = 0;
    take_velocities(d, t, d->first);
    stir(d);
    take_velocities(d, t, d->v);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY) largest = larger(largest, fabs(d->v[i]));
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (fabs(d->v[i] - d->first[i]) > 1e-9 * largest) f->kinematic[i] = false;
        if (fabs(d->v[i]) > 1e-9 * largest || fabs(d->first[i]) > 1e-9 * largest)
            f->still[i] = false;
    }
}

// The velocities that move, in the mass metric, when a row is relaxed: along that part of the
// larger kernel that the row forbids.
static bool find_freed(const Stance *s, uint32_t row, uint32_t rank, double *along, bool *frees)
{
    Rank r;
    if (!tr_stance_rank(s, true, row, RANK_TOLERANCE, true, &r)) return false;
    for (uint32_t j = 0; j < r.columns; j++) along[j] = 0;
    for (uint32_t k = r.rank; r.rank < rank && k < r.columns; k++) {
        const double *direction = r.right + (size_t)k * r.columns;
        double forbidden = 0;
        for (uint32_t j = 0; j < r.columns; j++)
            forbidden += stance_slope(s, row, s->p[j]) * direction[j];
        for (uint32_t j = 0; j < r.columns; j++)
            along[j] += forbidden * direction[j] * sqrt(stance_mass(s, s->p[j]));
    }
    const double most = tr_largest(along, r.columns);
    for (uint32_t j = 0; j < r.columns; j++)
        frees[tr_system_outer_input(s->system, s->v[s->p[j]])] =
            most > 0 && fabs(along[j]) > 0.1 * most;
    tr_rank_free(&r);
    return true;
}

// The rows that forbid a velocity: the least y with G^T y along it
static bool find_holding(const Stance *s, uint32_t place, bool *holds)
{
    const size_t n = s->passive, m = s->rows, most = n > m ? n : m;
    double *A = calloc(n * m + 1, sizeof *A), *y = calloc(most + 1, sizeof *y), largest = 0;
    bool good = A && y;
    for (size_t j = 0; good && j < n; j++)
        for (uint32_t i = 0; i < m; i++) A[j * m + i] = s->scale[i] * stance_slope(s, i, s->p[j]);
    if (good) y[place] = 1;
    good = good && tr_least_squares(A, (uint32_t)n, (uint32_t)m, y, 1, 1e-9, NULL);
    for (uint32_t i = 0; good && i < m; i++) y[i] *= s->scale[i];
    if (good) tr_stance_own_rows(s, y, 1);
    for (uint32_t i = 0; good && i < m; i++) largest = larger(largest, fabs(y[i]));
    for (uint32_t i = 0; good && i < m; i++)
        holds[(size_t)i * s->system->input_count] = fabs(y[i]) > 1e-6 * largest;
    free(A);
    free(y);
    return good;
}

static void relax_rows(Doctor *d)
{
    const Stance *s = d->flow->stance;
    for (uint32_t i = 0; i < s->rows && s->rows <= MOST_ROWS_TO_RELAX; i++)
        d->has_memory =
            d->has_memory && find_freed(s, i, d->findings->m_locked, d->rate,
                                        d->findings->frees + (size_t)i * s->system->input_count);
    for (uint32_t j = 0; j < s->passive && s->rows && s->rows <= MOST_ROWS_TO_RELAX; j++) {
        const uint32_t v = tr_system_outer_input(s->system, s->v[s->p[j]]);
        d->has_memory = d->has_memory && find_holding(s, j, d->findings->holds + v);
    }
}

// ---- the examination -----------------------------------------------------------------------

static bool is_driven(const Flow *flow)
{
    const System *s = flow->system;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (is_motion_driven(&s->inputs[i])) return true;
    for (uint32_t i = 0; i < flow->stance->rows; i++)
        if (!is_zero(s->rows[i].rest)) return true;
    return false;
}

static void look_around(Doctor *d)
{
    Flow *flow = d->flow;
    Findings *f = d->findings;
    d->most = f->chart->m + f->chart->m_locked;
    f->m = f->chart->m, f->m_locked = f->chart->m_locked;
    memcpy(d->y, flow->start, flow->size * sizeof *d->y);
    d->may_rise = f->m_locked < flow->stance->rows;
    d->has_memory =
        !d->may_rise || (take_dependence(flow->stance, true, d->depends) &&
                         (flow->stance->passive == flow->stance->velocities ||
                          take_dependence(flow->stance, false, d->depends + flow->stance->rows)));
    for (int look = 0; look < LOOKS && d->has_memory; look++) {
        if (look && !step_aside(d)) continue;
        if (!look) stir(d);
        if (look) compare_ranks(d);
        compare_velocities(d, look ? d->x[0] : 0);
    }
    f->singular = f->m > f->chart->m || f->m_locked > f->chart->m_locked;
    f->stuck = f->m_locked == f->chart->passive && !is_driven(flow) &&
               !flow->system->latch_count; // what may let go is not locked
    if (d->has_memory) relax_rows(d);      // at the last state
    tr_flow_fill(flow, 0, flow->start);
    tr_stance_take(flow->stance, flow->inputs);
}

static bool make_findings(const Flow *flow, Findings *f)
{
    const System *s = flow->system;
    f->chart = flow->now->chart;
    f->kinematic = calloc(s->input_count + 1u, sizeof *f->kinematic);
    f->still = calloc(s->input_count + 1u, sizeof *f->still);
    f->awakening = calloc(s->row_count + 1u, sizeof *f->awakening);
    f->frees = calloc((size_t)s->row_count * s->input_count + 1, sizeof *f->frees);
    f->holds = calloc((size_t)s->row_count * s->input_count + 1, sizeof *f->holds);
    if (!f->kinematic || !f->still || !f->awakening || !f->frees || !f->holds) return false;
    for (uint32_t i = 0; i < s->input_count; i++)
        f->kinematic[i] = f->still[i] =
            s->inputs[i].kind == TR_VELOCITY && !is_motion_driven(&s->inputs[i]);
    return true;
}

Findings *tr_examine(Flow *flow, tr_error *err)
{
    const size_t n = flow->system->input_count + 1u;
    if (!tr_flow_ready(flow, 1u << CHART_MOTION | 1u << CHART_COLUMNS, err)) return NULL;
    Findings *f = calloc(1, sizeof *f);
    double *room = calloc(5 * n + 2 * (size_t)flow->stance->rows, sizeof *room);
    Doctor d = {.flow = flow, .findings = f, .random = 2463534242u, .has_memory = f && room};
    if (d.has_memory && make_findings(flow, f)) {
        d.y = room, d.rate = room + n, d.x = room + 2 * n, d.v = room + 3 * n;
        d.first = room + 4 * n, d.depends = room + 5 * n;
        d.positions = tr_conditions_new(tr_footing_positions(flow->plan, flow->footing, err), err);
        if (d.positions) look_around(&d);
    } else
        d.has_memory = false;
    tr_conditions_free(d.positions);
    free(room);
    if (!d.has_memory) tr_fail_memory(err);
    if (!has_failed(err)) return f;
    tr_findings_free(f);
    return NULL;
}

void tr_findings_free(Findings *f)
{
    if (!f) return;
    free(f->kinematic);
    free(f->still);
    free(f->awakening);
    free(f->frees);
    free(f->holds);
    free(f);
}

// ---- words ---------------------------------------------------------------------------------

// Names the rows that are marked; their number.
static uint32_t name_rows(const System *s, const bool *rows, uint32_t count, char *line,
                          size_t size)
{
    uint32_t named = 0;
    line[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!rows[i]) continue;
        tr_list_name(line, size, s->rows[i].name);
        named++;
    }
    return named;
}

const char *tr_awakening_words(uint32_t rows)
{
    return rows == 1 ? "is redundant at the start, but not when it moves"
                     : "depend on each other at the start, but not when it moves";
}

bool tr_findings_allow(const Findings *f, tr_error *err)
{
    const System *s = f->chart->system;
    char names[320];
    if (f->stuck)
        tr_fail(err, TR_INVALID, f->chart->rows ? s->rows[0].place : (Place){0},
                "nothing can move: the constraints leave none of the %u velocities free",
                f->chart->passive);
    else if (f->singular && !s->allows_singular) {
        const uint32_t count = name_rows(s, f->awakening, f->chart->rows, names, sizeof names);
        tr_fail(err, TR_INVALID, (Place){0},
                "singular: %s %s: start elsewhere, relax one, or allow: singular", names,
                tr_awakening_words(count));
    }
    return !has_failed(err);
}

// ---- conflicts -----------------------------------------------------------------------------

// A state beside x, a little later, on the constraints.
static bool beside(Conditions *positions, const System *s, const double *x, int look, double *out)
{
    uint32_t random = 2463534242u + 977u * (uint32_t)look;
    tr_error unused = {0};
    for (uint32_t i = 0; i < s->input_count; i++)
        out[i] = x[i] + (s->inputs[i].kind == TR_POSITION ? FAR * next_random(&random) : 0);
    out[0] = x[0] + LATER * look;
    return tr_conditions_solve(positions, out, false, &unused);
}

// Marks rows that are dependent at x and independent at the other state; false when there are none.
static bool find_awakening(Stance *stance, const double *x, const double *other, bool *rows)
{
    Rank here = {0}, there = {0};
    const uint32_t m = stance->rows;
    double *depends = calloc(m + 1u, sizeof *depends);
    const bool good = depends && tr_stance_take(stance, other) &&
                      tr_stance_rank(stance, true, NO_ROW, RANK_TOLERANCE, false, &there) &&
                      tr_stance_take(stance, x) &&
                      tr_stance_rank(stance, true, NO_ROW, RANK_TOLERANCE, false, &here) &&
                      there.rank > here.rank;
    for (uint32_t i = 0; good && i < m; i++) depends[i] = tr_rank_dependence(&here, m, i);
    if (good) mark_awakening(depends, &there, m, rows);
    tr_rank_free(&here);
    tr_rank_free(&there);
    free(depends);
    return good;
}

void tr_explain_conflict(Plan *plan, const LatchMode *modes, const double *x, tr_error *err)
{
    tr_error own = {0};
    char names[280];
    const System *s = plan->system;
    const Footing *f = tr_plan_footing(plan, modes, x, &own);
    Conditions *positions = f ? tr_conditions_new(tr_footing_positions(plan, f, &own), &own) : NULL;
    Stance *stance = f ? tr_stance_new(s, f, &own) : NULL;
    double *other = calloc(s->input_count + 1u, sizeof *other);
    bool *rows = calloc(s->row_count + 1u, sizeof *rows);
    for (int look = 1; positions && stance && other && rows && look < LOOKS; look++) {
        if (!beside(positions, s, x, look, other) || !find_awakening(stance, x, other, rows))
            continue;
        const uint32_t count = name_rows(s, rows, stance->rows, names, sizeof names);
        *err = (tr_error){0};
        tr_fail(err, TR_INVALID, (Place){0},
                "singular: %s %s, and the motions contradict them: start elsewhere, or relax one",
                names, tr_awakening_words(count));
        break;
    }
    tr_conditions_free(positions);
    tr_stance_free(stance);
    free(other);
    free(rows);
}
