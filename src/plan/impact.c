// SPDX-License-Identifier: Apache-2.0
// When a contact closes, or stops slipping, velocities jump by impulses along its rows:
//
//   M dv = G^T L,   G v+ + g = 0 for all that holds,   and e times the approach along its normal
//
// with G and M as they stand [Newton's law of impact]. Where friction does not suffice, the
// tangential impulse is mu times the normal one, against the slip. A contact that would have to
// pull opens instead (T87-T90). Where a motion or a constraint changes its rate at once, what
// drives it gives the impulses: all rows that hold do so with the new g, and the velocities of
// motions are given (T121).
#include "plan/impact.h"

#include "num/dense.h"
#include "num/singular.h"
#include "plan/evaluator.h"

#include <math.h>
#include <stdlib.h>

#define SLOW      1e-6  // rebounds are over, against the fastest impact
#define STILL     1e-6  // and anyway [m/s]
#define SAME_TIME 1e-9  // [s]
#define ROUNDING  1e-12 // impulses that pull, against the largest

// ---- numbers -------------------------------------------------------------------------------

// The numbers at an impact; rows are constraints as the model has them.
typedef struct Impact {
    const System *system;
    LatchMode *modes; // as they become
    uint32_t n, m, passive;
    uint32_t *v, *p;     // velocities as inputs, those that are free as places in v
    double *M, *G, *g;   // in one
    double *now;         // velocities, those of motions as they are driven now
    double *restitution; // by latch
    double *friction;
    double *x;    // all inputs
    double *rate; // G v + g before, by row; at a blow with what drives it as it is after it
    double *was;  // the same with what drives it as it was
    double *push; // M dv of what is driven, by passive velocity
    double *L;    // impulses, by row
    bool *holds;  // by row
} Impact;

static bool evaluate(Impact *at, const Flow *flow, tr_error *err)
{
    const size_t n = at->n, m = at->m, latches = at->system->latch_count;
    Evaluator program =
        tr_evaluator_with(tr_footing_program(flow->plan, flow->footing, FOOTING_IMPACT, err), err);
    const size_t size = n * n + m * n + m + 2 * latches + n;
    at->M = program.work ? calloc(size + 1, sizeof *at->M) : NULL;
    if (at->M) evaluate_into(&program, at->x, at->M);
    tr_evaluator_free(&program);
    if (!at->M) return tr_fail_memory(err), false;
    at->G = at->M + n * n, at->g = at->G + m * n;
    at->restitution = at->g + m, at->friction = at->restitution + latches;
    at->now = at->friction + latches;
    return true;
}

// G v + g of a row
static double rate_of(const Impact *at, uint32_t row)
{
    double rate = at->g[row];
    for (uint32_t k = 0; k < at->n; k++) rate += at->G[(size_t)row * at->n + k] * at->x[at->v[k]];
    return rate;
}

static bool open_impact(Impact *at, const Flow *flow, LatchMode *modes, double *x, tr_error *err)
{
    const System *s = flow->system;
    *at = (Impact){.system = s, .modes = modes, .x = x, .m = flow->footing->constraints};
    at->n = tr_system_inputs(s, TR_VELOCITY, NULL);
    at->v = calloc(2 * (size_t)at->n + 1, sizeof *at->v);
    at->rate = calloc(3 * (size_t)at->m + at->n + 1, sizeof *at->rate);
    at->holds = calloc(at->m + 1u, sizeof *at->holds);
    if (!at->v || !at->rate || !at->holds) return tr_fail_memory(err), false;
    at->p = at->v + at->n;
    at->L = at->rate + at->m, at->was = at->L + at->m, at->push = at->was + at->m;
    tr_system_inputs(s, TR_VELOCITY, at->v);
    for (uint32_t k = 0; k < at->n; k++)
        if (!is_motion_driven(&s->inputs[at->v[k]])) at->p[at->passive++] = k;
    if (!evaluate(at, flow, err)) return false;
    for (uint32_t i = 0; i < at->m; i++) {
        at->holds[i] = !flow->footing->open[i];
        at->rate[i] = at->was[i] = rate_of(at, i);
    }
    return true;
}

static void close_impact(Impact *at)
{
    free(at->v);
    free(at->rate);
    free(at->holds);
    free(at->M);
}

static double kinetic(const Impact *at)
{
    double twice = 0;
    for (uint32_t i = 0; i < at->n; i++)
        for (uint32_t k = 0; k < at->n; k++)
            twice += at->x[at->v[i]] * at->M[(size_t)i * at->n + k] * at->x[at->v[k]];
    return twice / 2;
}

// ---- impulses ------------------------------------------------------------------------------

// A latch that closes or sticks at an impact.
typedef struct Hit {
    const Latch *latch;
    LatchMode *mode;
    double e, mu;
    double heads[3]; // where it would slip to without friction, by row; a unit vector
    bool touches;    // else it only stops slipping
} Hit;

typedef struct Hits {
    Hit *at;
    uint32_t count;
} Hits;

static double slip_of(const Impact *at, const Latch *latch)
{
    double sum = 0;
    for (uint32_t k = 0; k < latch->row_count; k++)
        if (latch->sticks[k]) sum += at->rate[latch->rows[k]] * at->rate[latch->rows[k]];
    return sqrt(sum);
}

// What the rows of a latch that slips bear for each unit along its normal: mu against the slip
static void add_friction(const Impact *at, const Hit *hit, double *column)
{
    const Latch *latch = hit->latch;
    for (uint32_t k = 0; k < latch->row_count; k++) {
        if (!latch->sticks[k]) continue;
        const double share = -hit->mu * hit->heads[k];
        for (uint32_t j = 0; j < at->passive; j++)
            column[j] += share * at->G[(size_t)latch->rows[k] * at->n + at->p[j]];
    }
}

// The column of impulses along a row, in the equations of motion
static void impulse_column(const Impact *at, const Hits *hits, uint32_t row, double *column)
{
    for (uint32_t k = 0; k < at->passive; k++) column[k] = at->G[(size_t)row * at->n + at->p[k]];
    for (uint32_t i = 0; i < hits->count; i++) {
        const Hit *hit = &hits->at[i];
        if (hit->touches && hit->mode->is_slipping && hit->latch->rows[0] == row)
            add_friction(at, hit, column);
    }
}

// dv and impulses for given changes of the rates of all rows that hold
static bool solve_impact(Impact *at, const Hits *hits, const double *change, double *dv,
                         tr_error *err)
{
    const size_t np = at->passive, size = np + at->m;
    double *A = calloc(size * size + 1, sizeof *A), *b = calloc(size + 1, sizeof *b),
           *column = calloc(np + 1, sizeof *column);
    bool good = A && b && column;
    if (!good) tr_fail_memory(err);
    for (size_t i = 0; good && i < np; i++) {
        for (size_t k = 0; k < np; k++) A[i * size + k] = at->M[at->p[i] * at->n + at->p[k]];
        b[i] = -at->push[i];
    }
    for (uint32_t i = 0; good && i < at->m; i++) {
        if (!at->holds[i]) continue;
        impulse_column(at, hits, i, column);
        for (size_t k = 0; k < np; k++) {
            A[(np + i) * size + k] = at->G[(size_t)i * at->n + at->p[k]];
            A[k * size + np + i] = -column[k];
        }
        b[np + i] = change[i];
    }
    good = good && tr_least_squares(A, (uint32_t)size, (uint32_t)size, b, 1, 1e-13, NULL);
    for (size_t k = 0; good && k < np; k++) dv[k] = b[k];
    for (uint32_t i = 0; good && i < at->m; i++) at->L[i] = b[np + i];
    free(A);
    free(b);
    free(column);
    return good;
}

static void begin_to_slide(Impact *at, const Latch *latch, LatchMode *mode, const double *heads)
{
    mode->is_slipping = true;
    for (uint32_t k = 0; k < latch->row_count; k++) {
        if (!latch->sticks[k]) continue;
        at->holds[latch->rows[k]] = false;
        mode->heads[k] = heads[k];
    }
}

static double largest_impulse(const Impact *at)
{
    double largest = 0;
    for (uint32_t i = 0; i < at->m; i++) largest = fmax(largest, at->holds[i] ? fabs(at->L[i]) : 0);
    return largest;
}

// A contact that would have to pull slides instead, or lets go; true when there is one.
static bool let_go(Impact *at)
{
    static const double nowhere[3];
    const System *s = at->system;
    uint32_t worst = NO_LATCH;
    double least = 0;
    for (uint32_t i = 0; i < s->latch_count; i++) {
        const Latch *latch = &s->latches[i];
        if (!latch->opens || !at->holds[latch->rows[0]] || at->L[latch->rows[0]] >= least) continue;
        least = at->L[latch->rows[0]], worst = i;
    }
    if (worst == NO_LATCH || !(least < -ROUNDING * largest_impulse(at))) return false;
    const Latch *latch = &s->latches[worst];
    LatchMode *mode = &at->modes[worst];
    if (latch->slips && !mode->is_slipping) return begin_to_slide(at, latch, mode, nowhere), true;
    mode->is_open = true, mode->is_slipping = false;
    for (uint32_t k = 0; k < latch->row_count; k++) at->holds[latch->rows[k]] = false;
    return true;
}

// One that takes a larger impulse along its rows than friction gives slips; true when there is one.
static bool give_way(Impact *at, const Hits *hits)
{
    const double rounding = ROUNDING * largest_impulse(at);
    for (uint32_t i = 0; i < hits->count; i++) {
        Hit *hit = &hits->at[i];
        const Latch *latch = hit->latch;
        double along = 0;
        for (uint32_t k = 0; k < latch->row_count; k++)
            if (latch->sticks[k]) along += at->L[latch->rows[k]] * at->L[latch->rows[k]];
        if (!hit->touches || hit->mode->is_slipping || !at->holds[latch->rows[0]] ||
            sqrt(along) <= hit->mu * fabs(at->L[latch->rows[0]]) + rounding)
            continue;
        if (!latch->slips) continue;
        for (uint32_t k = 0; k < latch->row_count; k++) // against what it would take to stick
            if (latch->sticks[k]) hit->heads[k] = -at->L[latch->rows[k]] / sqrt(along);
        begin_to_slide(at, latch, hit->mode, hit->heads);
        return true;
    }
    return false;
}

// What the impulses along the rows take out, -L (rate before + rate after) / 2: the rest of the
// jump is work of what is driven.
static double dissipated(const Impact *at, const Hits *hits, const double *dv)
{
    double twice = 0;
    for (uint32_t i = 0; i < at->m; i++) {
        double L = at->holds[i] ? at->L[i] : 0, sum = at->was[i] + at->rate[i];
        for (uint32_t j = 0; j < hits->count; j++) {
            const Hit *hit = &hits->at[j];
            const Latch *latch = hit->latch;
            const bool drags = hit->touches && hit->mode->is_slipping;
            for (uint32_t k = 0; k < latch->row_count && drags; k++)
                if (latch->rows[k] == i && latch->sticks[k])
                    L -= hit->mu * hit->heads[k] * at->L[latch->rows[0]];
        }
        for (uint32_t k = 0; k < at->passive; k++)
            sum += at->G[(size_t)i * at->n + at->p[k]] * dv[k];
        twice -= L * sum;
    }
    return twice / 2;
}

// From the impact on their rows hold.
static void close_hits(const Impact *at, const Hits *hits)
{
    for (uint32_t i = 0; i < hits->count; i++) {
        hits->at[i].mode->is_slipping = false;
        for (uint32_t k = 0; k < hits->at[i].latch->row_count; k++)
            at->holds[hits->at[i].latch->rows[k]] = true;
    }
}

// The jump: with e of the approach back along normals that close.
static bool strike(Impact *at, const Hits *hits, double *lost, tr_error *err)
{
    double *change = calloc(at->m + at->n + 1u, sizeof *change);
    if (!change) return tr_fail_memory(err), false;
    double *dv = change + at->m;
    for (uint32_t i = 0; i < at->m; i++) change[i] = -at->rate[i];
    for (uint32_t i = 0; i < hits->count; i++)
        if (hits->at[i].touches) change[hits->at[i].latch->rows[0]] *= 1 + hits->at[i].e;
    bool good;
    do good = solve_impact(at, hits, change, dv, err);
    while (good && (let_go(at) || give_way(at, hits)));
    for (uint32_t k = 0; good && k < at->passive; k++) at->x[at->v[at->p[k]]] += dv[k];
    if (good) *lost = dissipated(at, hits, dv);
    free(change);
    return good;
}

// ---- who takes part ------------------------------------------------------------------------

// Those that touch or stick at the same time, for times are known to SAME_TIME
static void collect_hits(const Impact *at, const double *margins, uint32_t alarm, double t,
                         Hits *hits)
{
    const System *s = at->system;
    const AlarmKind kind = s->alarms[alarm].kind;
    for (uint32_t k = 0; k < s->alarm_count; k++) {
        if (s->alarms[k].kind != kind || !tr_alarm_matters(s, at->modes, k)) continue;
        const uint32_t i = s->alarms[k].latch;
        const Latch *latch = &s->latches[i];
        LatchMode *mode = &at->modes[i];
        const double speed = -at->rate[latch->rows[0]], slip = slip_of(at, latch);
        const bool together = kind == ALARM_TOUCHES
                                  ? margins[k] < SAME_TIME * fmax(1, fabs(t)) * speed
                                  : margins[k] < 0.1 * slip * slip;
        if (k == alarm || together)
            hits->at[hits->count++] = kind == ALARM_TOUCHES ? (Hit){.latch = latch,
                                                                    .mode = mode,
                                                                    .e = at->restitution[i],
                                                                    .mu = at->friction[i],
                                                                    .touches = true}
                                                            : (Hit){.latch = latch, .mode = mode};
    }
}

// Whether any of those that touch leaves at once; slow ones stay.
static bool find_rebounds(const Impact *at, Hits *hits, double *fastest)
{
    bool any = false;
    for (uint32_t i = 0; i < hits->count; i++) {
        Hit *hit = &hits->at[i];
        if (!hit->touches) continue;
        const double speed = -at->rate[hit->latch->rows[0]];
        *fastest = larger(*fastest, speed);
        if (!(hit->e * speed > fmax(SLOW * *fastest, STILL))) hit->e = 0;
        any = any || hit->e > 0;
    }
    return any;
}

static bool check_restitution(const Hits *hits, double t, tr_error *err)
{
    for (uint32_t i = 0; i < hits->count; i++)
        if (!(hits->at[i].e >= 0 && hits->at[i].e <= 1))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the restitution of '%s' is %.6g at t = %.9g, not between 0 and 1",
                    hits->at[i].latch->name, hits->at[i].e, t);
    return !has_failed(err);
}

// What became of those that took part
static void settle_hits(const Impact *at, const Hits *hits)
{
    for (uint32_t i = 0; i < hits->count; i++) {
        LatchMode *mode = hits->at[i].mode;
        mode->is_open = hits->at[i].e > 0 || !at->holds[hits->at[i].latch->rows[0]];
        mode->is_slipping = mode->is_slipping && !mode->is_open;
    }
}

static bool jump(Impact *at, const double *margins, double *fastest, Switch *change, tr_error *err)
{
    Hits hits = {.at = calloc(at->system->alarm_count + 1u, sizeof *hits.at)};
    if (!hits.at) return tr_fail_memory(err), false;
    const double before = kinetic(at);
    collect_hits(at, margins, change->alarm, change->t, &hits);
    bool good = check_restitution(&hits, change->t, err);
    if (good) change->rebounded = find_rebounds(at, &hits, fastest);
    close_hits(at, &hits);
    good = good && strike(at, &hits, &change->lost, err);
    settle_hits(at, &hits);
    for (uint32_t i = 0; i < hits.count; i++)
        change->slips_on =
            change->slips_on || (!hits.at[i].touches && hits.at[i].mode->is_slipping);
    change->gained = kinetic(at) - before;
    if (!good)
        tr_fail(err, TR_FAILED, (Place){0}, "the impact of '%s' at t = %.6g has no solution",
                at->system->latches[at->system->alarms[change->alarm].latch].name, change->t);
    free(hits.at);
    return good;
}

bool tr_impact(const Flow *flow, double *x, const double *margins, LatchMode *modes,
               double *fastest, Switch *change, tr_error *err)
{
    Impact at;
    const bool good =
        open_impact(&at, flow, modes, x, err) && jump(&at, margins, fastest, change, err);
    close_impact(&at);
    return good;
}

// ---- blows ---------------------------------------------------------------------------------

#define ABRUPT 1e-9  // against the speeds there are: a rate that jumps
#define LEAST  1e-12 // and anyway [m/s]

static bool differ(double before, double after, double size)
{
    return fabs(after - before) > ABRUPT * size + LEAST;
}

// Velocities of motions as they are from now on, and what they do to rates and to momentum
static void drive(Impact *at)
{
    const System *s = at->system;
    for (uint32_t k = 0; k < at->n; k++) {
        if (!is_motion_driven(&s->inputs[at->v[k]])) continue;
        const double dv = at->now[k] - at->x[at->v[k]];
        for (uint32_t i = 0; i < at->m; i++) at->rate[i] += at->G[(size_t)i * at->n + k] * dv;
        for (uint32_t i = 0; i < at->passive; i++)
            at->push[i] += at->M[(size_t)at->p[i] * at->n + k] * dv;
        at->x[at->v[k]] = at->now[k];
    }
}

// What jumps first: a motion, or else a row that holds; NULL when nothing does.
static const char *find_source(const Impact *at, const double *before)
{
    const System *s = at->system;
    double fastest = 0;
    for (uint32_t k = 0; k < at->n; k++) fastest = fmax(fastest, fabs(before[at->v[k]]));
    for (uint32_t k = 0; k < at->n; k++)
        if (is_motion_driven(&s->inputs[at->v[k]]) &&
            differ(before[at->v[k]], at->now[k], fmax(fastest, fabs(at->now[k]))))
            return tr_system_joint_name(s, at->v[k]);
    for (uint32_t i = 0; i < at->m; i++) {
        double size = fabs(at->g[i]);
        for (uint32_t k = 0; k < at->n; k++)
            size += fabs(at->G[(size_t)i * at->n + k] * before[at->v[k]]);
        if (at->holds[i] && differ(at->was[i], at->rate[i], size)) return s->rows[i].name;
    }
    return NULL;
}

// All that touches takes part: what slips keeps slipping where it did.
static void collect_closed(const Impact *at, Hits *hits)
{
    const System *s = at->system;
    for (uint32_t i = 0; i < s->latch_count; i++) {
        const Latch *latch = &s->latches[i];
        if (at->modes[i].is_open) continue;
        Hit *hit = &hits->at[hits->count++];
        *hit = (Hit){.latch = latch, .mode = &at->modes[i], .mu = at->friction[i], .touches = true};
        double slip = 0;
        for (uint32_t k = 0; k < latch->row_count; k++)
            if (latch->sticks[k]) slip += at->was[latch->rows[k]] * at->was[latch->rows[k]];
        for (uint32_t k = 0; k < latch->row_count; k++)
            if (latch->sticks[k] && slip > 0) hit->heads[k] = at->was[latch->rows[k]] / sqrt(slip);
    }
}

// Rows that hold do so after it, whatever the motions are.
static bool check_rows(const Impact *at, const double *before, double t, tr_error *err)
{
    double fastest = 0;
    for (uint32_t k = 0; k < at->n; k++)
        fastest = fmax(fastest, fmax(fabs(before[at->v[k]]), fabs(at->x[at->v[k]])));
    for (uint32_t i = 0; i < at->m; i++) {
        double size = fabs(at->g[i]);
        for (uint32_t k = 0; k < at->n; k++) size += fabs(at->G[(size_t)i * at->n + k]) * fastest;
        if (!at->holds[i] || !differ(0, rate_of(at, i), 100 * size)) continue;
        tr_fail(err, TR_FAILED, (Place){0},
                "rates jump at t = %.9g so that '%s' cannot hold, whatever moves", t,
                at->system->rows[i].name);
        return false;
    }
    return true;
}

static bool be_struck(Impact *at, const double *before, Switch *change, tr_error *err)
{
    Hits hits = {.at = calloc(at->system->latch_count + 1u, sizeof *hits.at)};
    if (!hits.at) return tr_fail_memory(err), false;
    collect_closed(at, &hits);
    bool good = strike(at, &hits, &change->lost, err);
    if (!good)
        tr_fail(err, TR_FAILED, (Place){0}, "the blow of '%s' at t = %.6g has no solution",
                change->source, change->t);
    settle_hits(at, &hits);
    free(hits.at);
    return good && check_rows(at, before, change->t, err);
}

bool tr_blow(const Flow *flow, const double *before, double *x, LatchMode *modes, Switch *change,
             tr_error *err)
{
    Impact at = {0};
    if (!tr_system_output(flow->system, text_of("M"))) {
        tr_fail(err, TR_FAILED, (Place){0},
                "rates jump at t = %.9g: of so many velocities the blow is not found", change->t);
        return false;
    }
    bool good = open_impact(&at, flow, modes, x, err);
    if (good) {
        const double kinetic_before = kinetic(&at);
        for (uint32_t i = 0; i < at.m; i++)
            if (at.holds[i]) at.was[i] = 0; // until then they held
        drive(&at);
        change->source = find_source(&at, before);
        if (change->source) {
            good = be_struck(&at, before, change, err);
            change->gained = kinetic(&at) - kinetic_before;
        }
    }
    close_impact(&at);
    return good;
}
