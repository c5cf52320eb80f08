// SPDX-License-Identifier: Apache-2.0
// When a contact closes, or stops slipping, velocities jump by impulses along its rows:
//
//   M dv = G^T L,   G v+ + g = 0 for all that holds,   and e times the approach along its normal
//
// with G and M as they stand [Newton's law of impact]. Where friction does not suffice, the
// tangential impulse is mu times the normal one, against the slip. A contact that would have to
// pull opens instead (T87-T90).
#include "run/latch.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOW     1e-6  // rebounds are over, against the fastest impact
#define STILL    1e-6  // and anyway [m/s]
#define AT_ONCE  1e-9  // [s]
#define TOGETHER 1e-7  // friction that is used up, of what holds it
#define ROUNDING 1e-12 // impulses that pull, against the largest
#define BELOW    1e-9  // where what starts open must not be [m]

// ---- states --------------------------------------------------------------------------------

void tr_latches_reset(System *s)
{
    for (uint32_t i = 0; i < s->latch_count; i++) {
        s->latches[i].is_open = s->latches[i].starts_open;
        s->latches[i].is_slipping = false;
        for (int k = 0; k < 3; k++) s->latches[i].heads[k] = 0;
    }
    tr_system_latch(s);
}

bool tr_alarm_matters(const System *s, uint32_t k)
{
    const Alarm *alarm = &s->alarms[k];
    if (alarm->kind <= ALARM_STOPS) return true;
    const Latch *latch = &s->latches[alarm->latch];
    switch (alarm->kind) {
    case ALARM_OPENS: return !latch->is_open;
    case ALARM_TOUCHES: return latch->is_open;
    case ALARM_SLIPS: return !latch->is_open && !latch->is_slipping;
    default: return !latch->is_open && latch->is_slipping;
    }
}

// Which of those that may slip do, with these velocities
static bool find_slipping(System *s, const double *inputs, tr_error *err)
{
    Expr *margins = calloc(s->alarm_count + 1u, sizeof *margins);
    double *values = calloc(s->alarm_count + 1u, sizeof *values);
    uint32_t count = 0;
    const tr_compile_options fixed = {.fix_parameters = true};
    for (uint32_t k = 0; margins && k < s->alarm_count; k++)
        if (s->alarms[k].kind == ALARM_STICKS) margins[count++] = s->alarms[k].margin;
    if (!margins || !values) tr_fail_memory(err);
    if (!has_failed(err)) tr_system_put(s, "run.slips", margins, count, 1, err);
    tr_program *program = tr_compile(s, "run.slips", &fixed, err);
    tr_workspace *work = tr_workspace_new(program, err);
    const bool good = work && values;
    if (good) tr_evaluate(program, work, inputs, values);
    for (uint32_t k = 0, i = 0; good && k < s->alarm_count; k++)
        if (s->alarms[k].kind == ALARM_STICKS)
            s->latches[s->alarms[k].latch].is_slipping = values[i++] > 0;
    tr_workspace_free(work);
    tr_program_free(program);
    free(margins);
    free(values);
    return !has_failed(err);
}

// What starts open is not behind what it may touch.
static bool check_gaps(System *s, const double *inputs, tr_error *err)
{
    Expr *gaps = calloc(s->latch_count + 1u, sizeof *gaps);
    double *values = calloc(s->latch_count + 1u, sizeof *values);
    const tr_compile_options fixed = {.fix_parameters = true};
    for (uint32_t i = 0; gaps && i < s->latch_count; i++)
        gaps[i] = s->latches[i].is_open ? s->latches[i].gap : tr_constant(s, 0);
    if (!gaps || !values) tr_fail_memory(err);
    if (!has_failed(err)) tr_system_put(s, "run.gaps", gaps, s->latch_count, 1, err);
    tr_program *program = tr_compile(s, "run.gaps", &fixed, err);
    tr_workspace *work = tr_workspace_new(program, err);
    const bool good = work && values;
    if (good) tr_evaluate(program, work, inputs, values);
    for (uint32_t i = 0; good && i < s->latch_count; i++)
        if (values[i] < -BELOW)
            tr_fail(err, TR_INVALID, (Place){0},
                    "'%s' starts open, but %.3g m inside what it touches", s->latches[i].name,
                    -values[i]);
    tr_workspace_free(work);
    tr_program_free(program);
    free(gaps);
    free(values);
    return !has_failed(err);
}

static bool assemble(System *s, double *inputs, bool *solved, tr_error *err)
{
    bool slips = false;
    if (tr_assemble(s, inputs, solved, err)) return true;
    for (uint32_t i = 0; i < s->latch_count; i++) {
        slips = slips || s->latches[i].slips;
        s->latches[i].is_slipping = s->latches[i].slips;
    }
    if (!slips || err->status != TR_INVALID) return false;
    tr_error own = {0};
    tr_system_latch(s);
    const bool good = tr_assemble(s, inputs, solved, &own) && find_slipping(s, inputs, &own);
    tr_system_latch(s);
    if (!good || !tr_assemble(s, inputs, solved, &own)) return false;
    *err = own;
    return true;
}

bool tr_latches_assemble(System *s, double *inputs, bool *solved, tr_error *err)
{
    return assemble(s, inputs, solved, err) && (!s->latch_count || check_gaps(s, inputs, err));
}

// ---- impacts -------------------------------------------------------------------------------

// The numbers at an impact; rows are constraints as the model has them.
typedef struct Impact {
    System *system;
    uint32_t n, m, passive;
    uint32_t *v, *p;     // velocities as inputs, those that are free as places in v
    double *M, *G, *g;   // in one
    double *restitution; // by latch
    double *friction;
    double *x;    // all inputs
    double *rate; // G v + g before, by row
    double *L;    // impulses, by row
    bool *holds;  // by row
} Impact;

static bool evaluate(Impact *at, tr_error *err)
{
    System *s = at->system;
    const size_t n = at->n, m = at->m, latches = s->latch_count;
    Expr *more = calloc(2 * latches + 1, sizeof *more);
    for (size_t i = 0; more && i < latches; i++) {
        more[i] = s->latches[i].restitution;
        more[latches + i] = s->latches[i].slips ? s->latches[i].friction : tr_constant(s, 0);
    }
    if (!more) tr_fail_memory(err);
    if (!has_failed(err)) tr_system_put(s, "run.latches", more, (uint32_t)(2 * latches), 1, err);
    free(more);
    const tr_compile_options fixed = {.fix_parameters = true};
    tr_program *program = tr_compile(s, "M G g run.latches", &fixed, err);
    tr_workspace *work = tr_workspace_new(program, err);
    at->M = work ? calloc(n * n + m * n + m + 2 * latches + 1, sizeof *at->M) : NULL;
    if (at->M) tr_evaluate(program, work, at->x, at->M);
    tr_workspace_free(work);
    tr_program_free(program);
    if (!at->M) return tr_fail_memory(err), false;
    at->G = at->M + n * n, at->g = at->G + m * n;
    at->restitution = at->g + m, at->friction = at->restitution + latches;
    return true;
}

static bool open_impact(Impact *at, System *s, double *x, tr_error *err)
{
    *at = (Impact){.system = s, .x = x, .n = tr_system_inputs(s, TR_VELOCITY, NULL)};
    while (at->m < s->row_count && !s->rows[at->m].is_speed) at->m++;
    at->v = calloc(2 * (size_t)at->n + 1, sizeof *at->v);
    at->rate = calloc(2 * (size_t)at->m + 1, sizeof *at->rate);
    at->holds = calloc(at->m + 1u, sizeof *at->holds);
    if (!at->v || !at->rate || !at->holds) return tr_fail_memory(err), false;
    at->p = at->v + at->n, at->L = at->rate + at->m;
    tr_system_inputs(s, TR_VELOCITY, at->v);
    for (uint32_t k = 0; k < at->n; k++)
        if (!is_motion_driven(&s->inputs[at->v[k]])) at->p[at->passive++] = k;
    if (!evaluate(at, err)) return false;
    for (uint32_t i = 0; i < at->m; i++) {
        at->holds[i] = !s->rows[i].is_open;
        at->rate[i] = at->g[i];
        for (uint32_t k = 0; k < at->n; k++)
            at->rate[i] += at->G[(size_t)i * at->n + k] * x[at->v[k]];
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

// A latch that closes or sticks at an impact.
typedef struct Hit {
    Latch *latch;
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
        if (hit->touches && hit->latch->is_slipping && hit->latch->rows[0] == row)
            add_friction(at, hit, column);
    }
}

// dv and impulses for given changes of the rates of all rows that hold
static bool solve_impact(Impact *at, const Hits *hits, const double *change, double *dv,
                         tr_error *err)
{
    const size_t np = at->passive, size = np + at->m;
    double *A = calloc(size * size + 1, sizeof *A), *b = calloc(size + 1, sizeof *b),
           *sigma = calloc(size + 1, sizeof *sigma), *column = calloc(np + 1, sizeof *column);
    int rank;
    bool good = A && b && sigma && column;
    if (!good) tr_fail_memory(err);
    for (size_t i = 0; good && i < np; i++)
        for (size_t k = 0; k < np; k++) A[i * size + k] = at->M[at->p[i] * at->n + at->p[k]];
    for (uint32_t i = 0; good && i < at->m; i++) {
        if (!at->holds[i]) continue;
        impulse_column(at, hits, i, column);
        for (size_t k = 0; k < np; k++) {
            A[(np + i) * size + k] = at->G[(size_t)i * at->n + at->p[k]];
            A[k * size + np + i] = -column[k];
        }
        b[np + i] = change[i];
    }
    good = good && LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)size, (lapack_int)size, 1, A,
                                  (lapack_int)size, b, 1, sigma, 1e-13, &rank) == 0;
    for (size_t k = 0; good && k < np; k++) dv[k] = b[k];
    for (uint32_t i = 0; good && i < at->m; i++) at->L[i] = b[np + i];
    free(A);
    free(b);
    free(sigma);
    free(column);
    return good;
}

static void begin_to_slide(Impact *at, Latch *latch, const double *heads)
{
    latch->is_slipping = true;
    for (uint32_t k = 0; k < latch->row_count; k++) {
        if (!latch->sticks[k]) continue;
        at->holds[latch->rows[k]] = false;
        latch->heads[k] = heads[k];
    }
}

// A contact that would have to pull slides instead, or lets go; true when there is one.
static bool let_go(Impact *at)
{
    static const double nowhere[3];
    System *s = at->system;
    Latch *worst = NULL;
    double largest = 0, least = 0;
    for (uint32_t i = 0; i < at->m; i++) largest = fmax(largest, at->holds[i] ? fabs(at->L[i]) : 0);
    for (uint32_t i = 0; i < s->latch_count; i++) {
        Latch *latch = &s->latches[i];
        if (!latch->opens || !at->holds[latch->rows[0]] || at->L[latch->rows[0]] >= least) continue;
        least = at->L[latch->rows[0]], worst = latch;
    }
    if (!worst || !(least < -ROUNDING * largest)) return false;
    if (worst->slips && !worst->is_slipping) return begin_to_slide(at, worst, nowhere), true;
    worst->is_open = true, worst->is_slipping = false;
    for (uint32_t k = 0; k < worst->row_count; k++) at->holds[worst->rows[k]] = false;
    return true;
}

// One that takes a larger impulse along its rows than friction gives slips; true when there is one.
static bool give_way(Impact *at, const Hits *hits)
{
    for (uint32_t i = 0; i < hits->count; i++) {
        Hit *hit = &hits->at[i];
        Latch *latch = hit->latch;
        double along = 0;
        for (uint32_t k = 0; k < latch->row_count; k++)
            if (latch->sticks[k]) along += at->L[latch->rows[k]] * at->L[latch->rows[k]];
        if (!hit->touches || latch->is_slipping || !at->holds[latch->rows[0]] ||
            sqrt(along) <= hit->mu * fabs(at->L[latch->rows[0]]))
            continue;
        if (!latch->slips) continue;
        for (uint32_t k = 0; k < latch->row_count; k++) // against what it would take to stick
            if (latch->sticks[k]) hit->heads[k] = -at->L[latch->rows[k]] / sqrt(along);
        begin_to_slide(at, latch, hit->heads);
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
        double L = at->holds[i] ? at->L[i] : 0, sum = 2 * at->rate[i];
        for (uint32_t j = 0; j < hits->count; j++) {
            const Hit *hit = &hits->at[j];
            const Latch *latch = hit->latch;
            const bool drags = hit->touches && latch->is_slipping;
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

// The jump when latches close or stick: their rows hold from now on, with e of the approach back
// along normals.
static bool strike(Impact *at, const Hits *hits, double *lost, tr_error *err)
{
    double *change = calloc(at->m + at->n + 1u, sizeof *change);
    if (!change) return tr_fail_memory(err), false;
    double *dv = change + at->m;
    for (uint32_t i = 0; i < hits->count; i++) {
        hits->at[i].latch->is_slipping = false;
        for (uint32_t k = 0; k < hits->at[i].latch->row_count; k++)
            at->holds[hits->at[i].latch->rows[k]] = true;
    }
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

// ---- slip ----------------------------------------------------------------------------------

// What holds each latch that may slip, in three entries each: along its rows that stick
static double *find_held(System *s, const double *x, tr_error *err)
{
    const uint32_t count = 3 * s->latch_count;
    Expr *rows = calloc(count + 1u, sizeof *rows);
    double *held = calloc(count + 1u, sizeof *held);
    const tr_compile_options fixed = {.fix_parameters = true};
    if (!rows || !held) tr_fail_memory(err);
    for (uint32_t i = 0; rows && i < count; i++) {
        const Latch *latch = &s->latches[i / 3];
        rows[i] = i % 3 < latch->row_count && latch->sticks[i % 3]
                      ? s->rows[latch->rows[i % 3]].symbol
                      : tr_constant(s, 0);
    }
    if (!has_failed(err)) tr_system_put(s, "run.held", rows, count, 1, err);
    tr_program *program = tr_compile(s, "run.held", &fixed, err);
    tr_workspace *work = tr_workspace_new(program, err);
    if (work) tr_evaluate(program, work, x, held);
    tr_workspace_free(work);
    tr_program_free(program);
    free(rows);
    if (!has_failed(err)) return held;
    free(held);
    return NULL;
}

// What held them was as much as there is, and so they go the other way: the latch of this alarm,
// and all that are as near to it, for what is symmetric stays so.
static bool begin_slip(System *s, uint32_t alarm, const double *margins, const double *x,
                       tr_error *err)
{
    double *held = find_held(s, x, err);
    for (uint32_t k = 0; held && k < s->alarm_count; k++) {
        if (s->alarms[k].kind != ALARM_SLIPS || !tr_alarm_matters(s, k)) continue;
        Latch *latch = &s->latches[s->alarms[k].latch];
        const double *F = held + 3 * s->alarms[k].latch;
        const double size = sqrt(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
        if (k != alarm && !(margins[k] < TOGETHER * size)) continue;
        for (int i = 0; i < 3; i++) latch->heads[i] = size > 0 ? -F[i] / size : 0;
        latch->is_slipping = true;
    }
    free(held);
    return !has_failed(err);
}

// ---- changes -------------------------------------------------------------------------------

// Those that touch or stick at the same time, for times are known to AT_ONCE
static void collect_hits(const Impact *at, const double *margins, uint32_t alarm, double t,
                         Hits *hits)
{
    System *s = at->system;
    const AlarmKind kind = s->alarms[alarm].kind;
    for (uint32_t k = 0; k < s->alarm_count; k++) {
        if (s->alarms[k].kind != kind || !tr_alarm_matters(s, k)) continue;
        const uint32_t i = s->alarms[k].latch;
        Latch *latch = &s->latches[i];
        const double speed = -at->rate[latch->rows[0]], slip = slip_of(at, latch);
        const bool together = kind == ALARM_TOUCHES
                                  ? margins[k] < AT_ONCE * fmax(1, fabs(t)) * speed
                                  : margins[k] < 0.1 * slip * slip;
        if (k == alarm || together)
            hits->at[hits->count++] = kind == ALARM_TOUCHES ? (Hit){.latch = latch,
                                                                    .e = at->restitution[i],
                                                                    .mu = at->friction[i],
                                                                    .touches = true}
                                                            : (Hit){.latch = latch};
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
        *fastest = fmax(*fastest, speed);
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

static bool jump(Impact *at, const double *margins, double *fastest, Switch *change, tr_error *err)
{
    Hits hits = {.at = calloc(at->system->alarm_count + 1u, sizeof *hits.at)};
    if (!hits.at) return tr_fail_memory(err), false;
    const double before = kinetic(at);
    collect_hits(at, margins, change->alarm, change->t, &hits);
    bool good = check_restitution(&hits, change->t, err);
    if (good) change->rebounded = find_rebounds(at, &hits, fastest);
    good = good && strike(at, &hits, &change->lost, err);
    for (uint32_t i = 0; i < hits.count; i++) {
        Latch *latch = hits.at[i].latch;
        latch->is_open = hits.at[i].e > 0 || !at->holds[latch->rows[0]];
        latch->is_slipping = latch->is_slipping && !latch->is_open;
        change->slips_on = change->slips_on || (!hits.at[i].touches && latch->is_slipping);
    }
    change->gained = kinetic(at) - before;
    if (!good)
        tr_fail(err, TR_FAILED, (Place){0}, "the impact of '%s' at t = %.6g has no solution",
                at->system->latches[at->system->alarms[change->alarm].latch].name, change->t);
    free(hits.at);
    return good;
}

static bool apply_change(System *s, double *x, const double *margins, double *fastest,
                         Switch *change, tr_error *err)
{
    Latch *latch = &s->latches[s->alarms[change->alarm].latch];
    Impact at;
    switch (s->alarms[change->alarm].kind) {
    case ALARM_OPENS: latch->is_open = true, latch->is_slipping = false; return true;
    case ALARM_SLIPS: return begin_slip(s, change->alarm, margins, x, err);
    default: break;
    }
    const bool good = open_impact(&at, s, x, err) && jump(&at, margins, fastest, change, err);
    close_impact(&at);
    return good;
}

// The alarm of this kind with the least margin, of those that matter; false when none is negative.
static bool find_worst(const System *s, AlarmKind kind, const double *margins, uint32_t *alarm)
{
    double worst = 0;
    for (uint32_t k = 0; k < s->alarm_count; k++)
        if (s->alarms[k].kind == kind && tr_alarm_matters(s, k) && margins[k] < worst)
            worst = margins[k], *alarm = k;
    return worst < 0;
}

// Lets go of a contact that pulls, or that friction does not hold; true when there is one. What
// pulls while it sticks may push when it slips, whichever way: so that is tried first.
static bool release_untenable(Flow *flow, double t, tr_error *err)
{
    System *s = flow->system;
    double *margins = calloc(s->alarm_count + 1u, sizeof *margins);
    uint32_t alarm = 0;
    bool released = false;
    if (!margins) return tr_fail_memory(err), false;
    tr_flow_alarms(flow, t, flow->start, margins);
    if (find_worst(s, ALARM_OPENS, margins, &alarm)) {
        Latch *latch = &s->latches[s->alarms[alarm].latch];
        latch->is_open = !latch->slips || latch->is_slipping;
        latch->is_slipping = !latch->is_open;
        for (int k = 0; k < 3; k++) latch->heads[k] = 0;
        released = true;
    } else if (find_worst(s, ALARM_SLIPS, margins, &alarm))
        released = begin_slip(s, alarm, margins, flow->inputs, err);
    free(margins);
    return released;
}

// The flow from values of all inputs on, with as many latches open and slipping as must be
static Flow *settle(System *s, const double *x, double t, tr_error *err)
{
    Flow *flow = NULL;
    do {
        tr_system_latch(s);
        tr_flow_free(flow);
        flow = tr_flow_from(s, x, err);
    } while (flow && release_untenable(flow, t, err));
    if (!has_failed(err)) return flow;
    tr_flow_free(flow);
    return NULL;
}

Flow *tr_latches_settle(Flow *flow, double t, tr_error *err)
{
    if (!flow || !flow->system->latch_count) return flow;
    Flow *settled = NULL;
    if (!release_untenable(flow, t, err)) {
        if (!has_failed(err)) return flow;
    } else
        settled = settle(flow->system, flow->inputs, t, err);
    if (settled) memcpy(settled->solved, flow->solved, flow->system->input_count * sizeof(bool));
    tr_flow_free(flow);
    return settled;
}

// Whether rows hold and slip as they did
static bool are_same(const Latch *a, const Latch *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].is_open != b[i].is_open || a[i].is_slipping != b[i].is_slipping) return false;
    return true;
}

// The flow after a change: another one, but where all latches are as before.
static Flow *follow(Flow *flow, const Latch *before, const double *x, double t, tr_error *err)
{
    System *s = flow->system;
    if (are_same(before, s->latches, s->latch_count)) {
        tr_flow_restart(flow, x);
        if (!release_untenable(flow, t, err)) return has_failed(err) ? NULL : flow;
    }
    return settle(s, x, t, err);
}

static Flow *go_on(Flow *flow, const double *y, double *x, const Latch *before, double *fastest,
                   Switch *change, tr_error *err)
{
    System *s = flow->system;
    const double work = y[flow->own - 1];
    tr_flow_alarms(flow, change->t, y, x + s->input_count);
    tr_flow_put_all(flow, change->t, y);
    memcpy(x, flow->inputs, s->input_count * sizeof *x);
    if (!apply_change(s, x, x + s->input_count, fastest, change, err)) return NULL;
    Flow *next = follow(flow, before, x, change->t, err);
    if (!next) return NULL;
    if (next != flow) next->evaluations += flow->evaluations, next->jacobians += flow->jacobians;
    next->no_projection = flow->no_projection;
    next->start[next->own - 1] = work + change->gained;
    tr_flow_project(next, change->t, next->start);
    return next;
}

Flow *tr_latches_switch(Flow *flow, const double *y, double *fastest, Switch *change, tr_error *err)
{
    const System *s = flow->system;
    double *x = calloc((size_t)s->input_count + s->alarm_count + 1, sizeof *x);
    Latch *before = calloc(s->latch_count + 1u, sizeof *before);
    Flow *next = NULL;
    if (x && before) {
        memcpy(before, s->latches, s->latch_count * sizeof *before);
        next = go_on(flow, y, x, before, fastest, change, err);
    } else
        tr_fail_memory(err);
    free(before);
    free(x);
    return next;
}
