// SPDX-License-Identifier: Apache-2.0
// When a contact closes, or stops slipping, velocities jump by impulses along its rows:
//
//   M dv = G^T L,   G v+ + g = 0 for all that holds,   and e times the approach along its normal
//
// with G and M as they stand [Newton's law of impact]. Where friction does not suffice, the
// tangential impulse is mu times the normal one, against the slip. A contact that would have to
// pull opens instead (T87-T90); stops of joints are contacts in that (T341). Where a motion or a
// constraint changes its rate at once, what drives it gives the impulses: all rows that hold do so
// with the new g, and the velocities of motions are given (T121).
#include "plan/impact.h"

#include "num/dense.h"
#include "num/singular.h"
#include "plan/evaluator.h"
#include "plan/impulse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOW         1e-6  // rebounds are over, against the fastest impact
#define STILL        1e-6  // and anyway [m/s]
#define SAME_TIME    1e-9  // [s]
#define NEAR         1e-12 // what touches [m]
#define AT_REST      1e-12 // what dry friction may hold, against what is fastest
#define MOST_STOPPED 100   // of the kinetic energy that what holds would take out on its own

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
    double *friction, *gap;
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
    const size_t size = n * n + m * n + m + 3 * latches + n;
    at->M = program.work ? calloc(size + 1, sizeof *at->M) : NULL;
    if (at->M) evaluate_into(&program, at->x, at->M);
    tr_evaluator_free(&program);
    if (!at->M) return tr_fail_memory(err), false;
    at->G = at->M + n * n, at->g = at->G + m * n;
    at->restitution = at->g + m, at->friction = at->restitution + latches;
    at->gap = at->friction + latches, at->now = at->gap + latches;
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
    double e;
    bool touches; // else it only stops slipping
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

// What stops slipping does so in no time, though it took some to get there: all that touches holds
// meanwhile, whichever way it would have to. dv and impulses for rates that vanish
static bool hold_rows(Impact *at, const bool *holds, double *dv, tr_error *err)
{
    const size_t np = at->passive, size = np + at->m;
    double *A = calloc(size * size + 1, sizeof *A), *b = calloc(size + 1, sizeof *b);
    bool good = A && b;
    if (!good) tr_fail_memory(err);
    for (size_t i = 0; good && i < np; i++)
        for (size_t k = 0; k < np; k++) A[i * size + k] = at->M[at->p[i] * at->n + at->p[k]];
    for (uint32_t i = 0; good && i < at->m; i++) {
        if (!holds[i]) continue;
        for (size_t k = 0; k < np; k++) {
            A[(np + i) * size + k] = at->G[(size_t)i * at->n + at->p[k]];
            A[k * size + np + i] = -at->G[(size_t)i * at->n + at->p[k]];
        }
        b[np + i] = -at->rate[i];
    }
    good = good && tr_least_squares(A, (uint32_t)size, (uint32_t)size, b, 1, 1e-13, NULL);
    for (size_t k = 0; good && k < np; k++) dv[k] = b[k];
    for (uint32_t i = 0; good && i < at->m; i++) at->L[i] = b[np + i];
    free(A);
    free(b);
    return good;
}

// dv^T M dv, of passive velocities
static double square_of(const Impact *at, const double *dv)
{
    double sum = 0;
    for (uint32_t i = 0; i < at->passive; i++)
        for (uint32_t k = 0; k < at->passive; k++)
            sum += dv[i] * at->M[(size_t)at->p[i] * at->n + at->p[k]] * dv[k];
    return sum;
}

// The rows that hold if nothing sticks but one latch
static void hold_alone(const Impact *at, const Latch *latch, bool *holds)
{
    const System *s = at->system;
    for (uint32_t i = 0; i < at->m; i++) holds[i] = at->holds[i];
    for (uint32_t i = 0; i < s->latch_count; i++)
        for (uint32_t k = 0; k < s->latches[i].row_count && &s->latches[i] != latch; k++)
            if (s->latches[i].sticks[k]) holds[s->latches[i].rows[k]] = false;
}

// What a latch is after an impact, and which of its rows hold
static void become(const Impact *at, uint32_t i, bool leaves)
{
    const Latch *latch = &at->system->latches[i];
    LatchMode *mode = &at->modes[i];
    mode->is_open = leaves;
    if (leaves) *mode = (LatchMode){.is_open = true};
    for (uint32_t k = 0; k < latch->row_count; k++)
        at->holds[latch->rows[k]] = !leaves && !(latch->sticks[k] && mode->is_slipping);
}

static void set_slipping(Impact *at, const Hits *hits, bool is_slipping)
{
    for (uint32_t i = 0; i < hits->count; i++) {
        hits->at[i].mode->is_slipping = is_slipping;
        become(at, (uint32_t)(hits->at[i].latch - at->system->latches), false);
    }
}

// What is about to hold moves by a creep or two. Where much more would have to stop with it, for
// what sticks elsewhere leaves nothing else free, friction could not do that at once: it slips on.
//                                                                                        (T301)
static bool stop_slip(Impact *at, const Hits *hits, double *dv, tr_error *err)
{
    bool *alone = calloc(at->m + 1u, sizeof *alone);
    if (!alone) return tr_fail_memory(err), false;
    bool good = true;
    double own = 0;
    set_slipping(at, hits, false);
    for (uint32_t i = 0; i < hits->count && good; i++) {
        hold_alone(at, hits->at[i].latch, alone);
        good = hold_rows(at, alone, dv, err);
        own += square_of(at, dv);
    }
    good = good && hold_rows(at, at->holds, dv, err);
    if (good && square_of(at, dv) > MOST_STOPPED * own) {
        set_slipping(at, hits, true);
        memset(dv, 0, at->n * sizeof *dv);
        memset(at->L, 0, at->m * sizeof *at->L);
    }
    free(alone);
    return good;
}

// Those that touch, with e of those that close: those, too, that only just left
static void find_touching(const Impact *at, const Hits *hits, double *e, bool *touches)
{
    const System *s = at->system;
    for (uint32_t i = 0; i < s->latch_count; i++)
        touches[i] =
            s->latches[i].kind != LATCH_GRIP && (!at->modes[i].is_open || at->gap[i] < NEAR);
    for (uint32_t i = 0; i < hits->count; i++) {
        touches[hits->at[i].latch - s->latches] = true;
        e[hits->at[i].latch - s->latches] = hits->at[i].e;
    }
}

// What cancels in the rates
static void find_sizes(const Impact *at, double *size)
{
    for (uint32_t i = 0; i < at->m; i++) {
        size[i] = fabs(at->g[i]);
        for (uint32_t k = 0; k < at->n; k++)
            size[i] += fabs(at->G[(size_t)i * at->n + k] * at->x[at->v[k]]);
    }
}

// Of what touches, all together: which part, stick and slip, and by which impulses
static bool touch_all(Impact *at, const Hits *hits, double *dv, tr_error *err)
{
    const size_t latches = at->system->latch_count;
    double *e = calloc(latches + 1, sizeof *e), *size = calloc(at->m + 1u, sizeof *size);
    bool *touches = calloc(latches + 1, sizeof *touches),
         *leaves = calloc(latches + 1, sizeof *leaves);
    bool good = e && size && touches && leaves;
    if (good) {
        find_touching(at, hits, e, touches);
        find_sizes(at, size);
        Impulses of = {.system = at->system, .rate = at->rate, .size = size, .push = at->push};
        of.masses = (Masses){at->M, at->G, at->n, at->m, at->p, at->passive};
        of.restitution = e, of.friction = at->friction, of.touches = touches;
        of.modes = at->modes, of.L = at->L, of.dv = dv, of.leaves = leaves;
        good = tr_impulses_find(&of, err);
    } else
        tr_fail_memory(err);
    for (uint32_t i = 0; good && i < latches; i++)
        if (touches[i]) become(at, i, leaves[i] || e[i] > 0);
    free(e);
    free(size);
    free(touches);
    free(leaves);
    return good;
}

// What the impulses along the rows take out, -L (rate before + rate after) / 2: the rest of the
// jump is work of what is driven.
static double dissipated(const Impact *at, const double *dv)
{
    double twice = 0;
    for (uint32_t i = 0; i < at->m; i++) {
        double sum = at->was[i] + at->rate[i];
        for (uint32_t k = 0; k < at->passive; k++)
            sum += at->G[(size_t)i * at->n + at->p[k]] * dv[k];
        twice -= at->L[i] * sum;
    }
    return twice / 2;
}

// The fastest velocity before or after the jump
static double fastest_of(const Impact *at, const double *dv)
{
    double most = 0;
    for (uint32_t k = 0; k < at->n; k++) most = larger(most, fabs(at->x[at->v[k]]));
    for (uint32_t k = 0; k < at->passive; k++)
        most = larger(most, fabs(at->x[at->v[at->p[k]]] - dv[k]));
    return most;
}

// Dry friction in joints gives no impulse: after a jump it slips where its joint moves, and where
// that stands still it holds, until forces say otherwise.                                 (T344)
static void grip(Impact *at, const double *dv)
{
    const System *s = at->system;
    const double fastest = fastest_of(at, dv);
    for (uint32_t i = 0; i < s->latch_count; i++) {
        const uint32_t row = s->latches[i].rows[0];
        double size = 0;
        if (s->latches[i].kind != LATCH_GRIP) continue;
        for (uint32_t k = 0; k < at->n; k++) size += fabs(at->G[(size_t)row * at->n + k]) * fastest;
        const double rate = rate_of(at, row);
        const bool moves = fabs(rate) > AT_REST * size;
        at->modes[i] = (LatchMode){.is_slipping = moves, .heads = {moves ? copysign(1, rate) : 0}};
        at->holds[row] = !moves;
    }
}

// The jump when latches close, with e of the approach back along normals, or stick; or when what
// is driven gives a blow, and none does
static bool strike(Impact *at, const Hits *hits, double *lost, tr_error *err)
{
    double *dv = calloc(at->n + 1u, sizeof *dv);
    if (!dv) return tr_fail_memory(err), false;
    const bool stops = hits->count && !hits->at[0].touches;
    const bool good = stops ? stop_slip(at, hits, dv, err) : touch_all(at, hits, dv, err);
    for (uint32_t k = 0; good && k < at->passive; k++) at->x[at->v[at->p[k]]] += dv[k];
    if (good) *lost = dissipated(at, dv);
    if (good) grip(at, dv);
    free(dv);
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
        const double nearly = latch->kind == LATCH_GRIP ? 0 : 0.1 * slip * slip;
        const bool together = kind == ALARM_TOUCHES
                                  ? margins[k] < SAME_TIME * fmax(1, fabs(t)) * speed
                                  : margins[k] < nearly;
        if (k == alarm || together)
            hits->at[hits->count++] =
                kind == ALARM_TOUCHES
                    ? (Hit){.latch = latch, .mode = mode, .e = at->restitution[i], .touches = true}
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

static bool jump(Impact *at, const double *margins, double *fastest, Switch *change, tr_error *err)
{
    Hits hits = {.at = calloc(at->system->alarm_count + 1u, sizeof *hits.at)};
    if (!hits.at) return tr_fail_memory(err), false;
    const double before = kinetic(at);
    collect_hits(at, margins, change->alarm, change->t, &hits);
    bool good = check_restitution(&hits, change->t, err);
    if (good) change->rebounded = find_rebounds(at, &hits, fastest);
    good = good && strike(at, &hits, &change->lost, err);
    change->gained = kinetic(at) - before;
    if (hits.count && hits.at[0].touches)
        change->impulse =
            at->L[at->system->latches[at->system->alarms[change->alarm].latch].rows[0]];
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
    const Hits none = {0};
    const bool good = strike(at, &none, &change->lost, err);
    if (!good)
        tr_fail(err, TR_FAILED, (Place){0}, "the blow of '%s' at t = %.6g has no solution",
                change->source, change->t);
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
