// SPDX-License-Identifier: Apache-2.0
// From one pose to the next: Newton's method with steps that are shortened where they are long and
// do not help, until nothing moves; then what was found is looked at: whether a wheel is in the
// ground elsewhere, whether contacts push, and whether all that moves is determined.
#include "settle/settle.h"

#include "num/dense.h"
#include "num/solve.h"
#include "plan/start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 80, MOST_HALVINGS = 6, MOST_PLACES = 6 };
#define LONGEST   0.25  // step [m], [rad]
#define FAR       1.0   // what steps of that length are not for [m], [rad]
#define SHORT     0.02  // one whose outcome is not looked at
#define QUADRATIC 1e-7  // one whose square does not matter
#define NOTHING   1e-13 // one that is rounding
#define NUDGE     0.01  // beside what is no least [m], [rad]
#define CLOSED    1e-9  // a gap that is none [m]
#define DEEPER    1e-6  // how far a wheel may be in the ground elsewhere [m]
#define FLAT      1e-9  // second slopes that are none, against the largest

#define KEEPING (1u << GROUP_LOOPS | 1u << GROUP_HELD)

// ---- words ---------------------------------------------------------------------------------

static bool is_held_name(const Settle *p, const char *name)
{
    for (uint32_t i = p->first[GROUP_HELD]; i < p->first[GROUP_HELD + 1]; i++)
        if (strcmp(p->names[i], name) == 0) return true;
    return false;
}

// An unknown as users hold it: a quaternion by the first angle of its body that is not held
static void name_unknown(const Settle *p, uint32_t k, char *line, size_t size)
{
    const Input *input = &p->system->inputs[p->place[k]];
    static const char *const angles[] = {"yaw", "pitch", "roll"};
    char name[400];
    bool turns = false;
    for (uint32_t i = 0; i < p->quaternions; i++)
        turns = turns || (k >= p->quaternion[i] && k < p->quaternion[i] + 4);
    snprintf(name, sizeof name, "%s", input->name);
    for (int i = 0; i < 3 && turns; i++) {
        snprintf(name, sizeof name, "%s.%s", input->port.owner, angles[i]);
        if (!is_held_name(p, name) && !strstr(line, name)) break;
    }
    if (!strstr(line, name)) tr_list_name(line, size, name);
}

static bool refuse_too_much(Settle *p, tr_error *err)
{
    const struct Split *s = &p->split;
    for (uint32_t i = 0; i < s->rows; i++) {
        const uint32_t row = s->row[i];
        if (s->pivot[i] != NO_PIVOT || row < p->first[GROUP_HELD] || row >= term_count(p)) continue;
        if (tr_norm(p->G + (size_t)row * p->unknowns, p->unknowns) < 1e-9)
            tr_fail(err, TR_FAILED, (Place){0},
                    "no pose within reach: '%.80s' is off by %.3g, and no position changes it here",
                    p->names[row], fabs(p->f[row]));
        else if (row < p->first[GROUP_HELD + 1])
            tr_fail(err, TR_USAGE, (Place){0},
                    "too much is held: what else is held, and constraints, determine '%.80s' "
                    "already",
                    p->names[row]);
        else
            tr_fail(
                err, TR_USAGE, (Place){0},
                "too much is asked for: %u contacts are to touch, and what is held leaves %u to "
                "be found ('%.80s' follows from the others): hold less, or settle by residual "
                "or energy",
                p->contact_count,
                s->free + s->rank - p->quaternions - group_size(p, GROUP_LOOPS) - p->hold_count,
                p->names[row]);
        return false;
    }
    return true;
}

// What moves most along d, of those that are not named yet
static void name_moving(const Settle *p, bool *is_named, char *line, size_t size)
{
    uint32_t most = 0;
    for (uint32_t k = 1; k < p->unknowns; k++)
        if (is_named[most] || (!is_named[k] && fabs(p->d[k]) > fabs(p->d[most]))) most = k;
    is_named[most] = true;
    name_unknown(p, most, line, size);
}

static void refuse_loose(uint32_t count, const char *names, tr_error *err)
{
    tr_fail(err, TR_USAGE, (Place){0},
            "too little is held: the pose can change along %u direction%s that nothing determines; "
            "hold %u more, such as %s",
            count, plural(count), count, names);
}

// All that equalities leave
static void refuse_free(Settle *p, tr_error *err)
{
    const struct Split *s = &p->split;
    char names[300] = "";
    memset(p->marks, 0, p->unknowns * sizeof *p->marks);
    for (uint32_t j = 0; j < s->free; j++) {
        for (uint32_t k = 0; k < p->unknowns; k++) p->d[k] = s->Z[(size_t)k * s->free + j];
        name_moving(p, p->marks, names, sizeof names);
    }
    refuse_loose(s->free, names, err);
}

// The term that is furthest off: of those that are zero, or of gaps that are negative
static uint32_t find_worst(const Settle *p, double *off)
{
    uint32_t worst = term_count(p);
    *off = 1e-3;
    for (int group = 0; group < GROUPS; group++)
        for (uint32_t i = p->first[group]; i < p->first[group + 1]; i++) {
            const bool is_gap = group == GROUP_GAPS && p->way->opens;
            const double here = is_gap ? -p->f[i] : fabs(p->f[i]);
            if ((is_gap || is_zero_group(p, (TermGroup)group)) && !(here <= *off))
                *off = here, worst = i;
        }
    return worst;
}

// What does not hold; or where to it moved, if all does
static void refuse_pose(Settle *p, tr_error *err)
{
    char names[300] = "";
    double off;
    const uint32_t worst = find_worst(p, &off), gaps = p->first[GROUP_GAPS];
    for (uint32_t k = 0; k < p->unknowns; k++) p->d[k] = p->in[p->place[k]] - p->from[p->place[k]];
    memset(p->marks, 0, p->unknowns * sizeof *p->marks);
    name_moving(p, p->marks, names, sizeof names);
    if (p->way->opens && tr_norm(p->system->scene.gravity, 3) == 0)
        tr_fail(err, TR_FAILED, (Place){0},
                "there is no gravity to settle by: settle by contact or residual, or give the "
                "model gravity");
    else if (worst >= gaps && worst < p->first[GROUP_GAPS + 1])
        tr_fail(err, TR_FAILED, (Place){0},
                "no pose within reach: after %u steps '%.80s' is still %.3g m %s the ground",
                p->iterations, p->names[worst], off, p->f[worst] < 0 ? "in" : "above");
    else if (worst < term_count(p) && !(p->way->opens && off < SHORT)) // which is but of moving
        tr_fail(err, TR_FAILED, (Place){0},
                "no pose within reach: after %u steps '%.80s' is still off by %.3g", p->iterations,
                p->names[worst], off);
    else
        tr_fail(err, TR_FAILED, (Place){0},
                "no pose within reach: after %u steps it still moves, so far most along %s: it "
                "rolls away or tips over; hold more, or start nearer",
                p->iterations, names);
}

// ---- steps ---------------------------------------------------------------------------------

// What is least, and what is off, times more than that could ever be worth
static double merit(const Settle *p)
{
    double most = 1, F = 0, off = 0;
    const bool is_given = !p->split.free; // then what is least plays no part
    for (uint32_t i = 0; i < term_count(p) && p->way->least < GROUPS && !is_given; i++)
        most = larger(most, 10 * fabs(p->mu[i]));
    for (uint32_t i = 0; i < p->contact_count && p->way->opens; i++)
        most = larger(most, 10 * p->lambda[i]);
    for (int group = 0; group < GROUPS; group++)
        for (uint32_t i = p->first[group]; i < p->first[group + 1]; i++) {
            const double f = p->f[i];
            if (is_zero_group(p, (TermGroup)group)) off += fabs(f);
            if (group == GROUP_GAPS && p->way->opens && f < 0) off -= f;
            if (group != (int)p->way->least) continue;
            const double w = group == GROUP_GAPS ? p->weight[i - p->first[group]] : 1;
            F += group == GROUP_ENERGY ? f : 0.5 * w * f * f;
        }
    return (is_given ? 0 : F) + most * off;
}

static void shorten(Settle *p, double times)
{
    for (uint32_t k = 0; k < p->unknowns; k++) p->d[k] *= times;
}

static void move_far(Settle *p)
{
    tr_settle_move(p);
    if (p->search) tr_touch_follow(p->search, p->in);
}

// By d, shortened until it helps; false when something is not finite.
static bool advance(Settle *p)
{
    const size_t bytes = p->system->input_count * sizeof *p->in;
    p->step = tr_largest(p->d, p->unknowns);
    if (p->step <= SHORT) {
        tr_settle_move(p);
        return tr_settle_evaluate(p);
    }
    const double before = merit(p);
    if (p->step > LONGEST) shorten(p, LONGEST / p->step);
    memcpy(p->last, p->in, bytes);
    bool good = false;
    for (int k = 0; k < MOST_HALVINGS; k++) {
        // u moves with what it followed by
        move_far(p);
        good = tr_settle_evaluate(p);
        if (good && merit(p) < before) return true;
        if (k + 1 == MOST_HALVINGS) break;
        shorten(p, 0.5);
        memcpy(p->in, p->last, bytes);
    }
    return good;
}

bool tr_settle_go(Settle *p)
{
    if (!tr_settle_evaluate(p)) return false;
    for (int k = 0; k < MOST_STEPS; k++) {
        if (!tr_settle_step(p)) return false;
        p->iterations++;
        const double wanted = tr_largest(p->d, p->unknowns);
        if (!advance(p)) return false;
        if (p->iterations == 1) p->first_step = wanted;
        if (wanted <= (p->is_exact ? QUADRATIC : NOTHING)) return true;
    }
    return false;
}

// ---- what was found ------------------------------------------------------------------------

// A wheel that is in the ground elsewhere touches there; whether one is.
static bool relocate(Settle *p)
{
    bool moved = false;
    if (!p->search || p->is_vertical || p->way->begin) return false;
    tr_touch_look(p->search, p->in);
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const uint32_t touching = p->contacts[i].touching;
        SecondTouch other;
        const double gap = p->f[p->first[GROUP_GAPS] + i] - DEEPER;
        if (touching == NO_TOUCHING || !tr_touch_second(p->search, touching, &other)) continue;
        if (!(other.gap < gap) || !tr_touch_beside(p->search, touching, &other)) continue;
        if (!(other.gap < gap)) continue;
        memcpy(p->in + p->system->touchings[touching].input, other.at, sizeof other.at);
        moved = true;
    }
    return moved;
}

// Pivots of Z^T H Z without exchanges, in place, as L D L^T: below the diagonal L. The first that
// is negative, or as many as there are.
static uint32_t factorise(double *H, uint32_t n, const double *flat, bool *is_loose,
                          uint32_t *count)
{
    for (uint32_t j = 0; j < n; j++) {
        double *pivot = &H[(size_t)j * n + j];
        is_loose[j] = fabs(*pivot) <= flat[j];
        *count += is_loose[j];
        if (!is_loose[j] && *pivot < 0) return j;
        for (uint32_t i = j + 1; i < n; i++)
            H[(size_t)i * n + j] = is_loose[j] ? 0 : H[(size_t)i * n + j] / *pivot;
        for (uint32_t i = j + 1; i < n; i++)
            for (uint32_t k = j + 1; k <= i; k++)
                H[(size_t)i * n + k] -= H[(size_t)i * n + j] * *pivot * H[(size_t)k * n + j];
    }
    return n;
}

// The direction that belongs to a pivot, L^T p = e_j, into d: as far as `size`
static void lead(Settle *p, uint32_t j, double size)
{
    const struct Split *s = &p->split;
    const uint32_t n = s->free;
    memset(p->p, 0, n * sizeof *p->p);
    p->p[j] = 1;
    for (uint32_t i = j; i-- > 0;)
        for (uint32_t k = i + 1; k <= j; k++) p->p[i] -= p->Hr[(size_t)k * n + i] * p->p[k];
    for (uint32_t k = 0; k < p->unknowns; k++) {
        p->d[k] = 0;
        for (uint32_t i = 0; i <= j; i++) p->d[k] += s->Z[(size_t)k * n + i] * p->p[i];
    }
    const double far = tr_largest(p->d, p->unknowns);
    for (uint32_t k = 0; k < p->unknowns; k++) p->d[k] *= size / far;
}

static void refuse_flat(Settle *p, const bool *is_loose, uint32_t count, tr_error *err)
{
    char names[300] = "";
    bool *is_named = p->marks + p->unknowns;
    memset(is_named, 0, p->unknowns * sizeof *is_named);
    for (uint32_t j = 0; j < p->split.free; j++) {
        if (!is_loose[j]) continue;
        lead(p, j, 1);
        name_moving(p, is_named, names, sizeof names);
    }
    refuse_loose(count, names, err);
}

// What is flat along each direction: against the second slopes that come together there, as those
// of lengths and turns are of different units; and what is rounding of all
static void take_flat(const Settle *p, double *flat)
{
    const uint32_t n = p->unknowns, free = p->split.free;
    const double size = larger(tr_largest(p->H, (size_t)n * n), tr_largest(p->g, n));
    for (uint32_t j = 0; j < free; j++) {
        double sum = 0;
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t i = 0; i < n; i++)
                sum += fabs(p->split.Z[(size_t)k * free + j] * p->H[(size_t)k * n + i] *
                            p->split.Z[(size_t)i * free + j]);
        flat[j] = FLAT * sum + NOTHING * size;
    }
}

// Whether what is least is so along what closed gaps that push leave free: true, or false with d
// along a way down. What is flat is too little held.                                     (T290)
static bool is_least(Settle *p, tr_error *err)
{
    const uint32_t n = p->unknowns;
    const unsigned zero = p->way->opens ? 1u << GROUP_GAPS : p->way->zero;
    bool *is_loose = p->marks;
    uint32_t count = 0;
    if (p->is_pinned) return true;
    tr_settle_split(p, p->way->opens ? KEEPING : KEEPING | p->way->zero);
    tr_settle_bend(p);
    tr_settle_split(p, KEEPING | zero);
    const uint32_t free = p->split.free;
    if (!free) return true;
    tr_multiply(p->H, p->split.Z, n, n, free, p->room);
    tr_multiply_transposed(p->split.Z, p->room, free, n, free, p->Hr);
    take_flat(p, p->b);
    const uint32_t down = factorise(p->Hr, free, p->b, is_loose, &count);
    if (down < free) return lead(p, down, NUDGE), false;
    if (count) refuse_flat(p, is_loose, count, err);
    return true;
}

// ---- all of it -----------------------------------------------------------------------------

static bool is_length(const Settle *p, uint32_t k)
{
    const Input *input = &p->system->inputs[p->place[k]];
    return strcmp(tr_quantity_unit(input->port.quantity), "m") == 0;
}

static void put_below(Settle *p)
{
    const System *s = p->system;
    if (!p->search) return;
    evaluate_into(&p->middles, p->in, p->values);
    for (uint32_t i = 0; i < p->touches; i++)
        p->in[s->touchings[i / 2].input + i % 2] = p->values[i];
}

// Where contacts are, below their wheels; from there each is looked for round its wheel.
static void place_contacts(Settle *p)
{
    put_below(p);
    if (p->search) tr_touch_find(p->search, p->in);
}

// Turns of a step are shortened, lengths are not.
static void shorten_turns(Settle *p)
{
    double most = LONGEST;
    for (uint32_t k = 0; k < p->unknowns; k++)
        if (!is_length(p, k)) most = larger(most, fabs(p->d[k]));
    for (uint32_t k = 0; k < p->unknowns; k++)
        if (!is_length(p, k)) p->d[k] *= LONGEST / most;
}

static double held_off(const Settle *p)
{
    return tr_largest(p->f + p->first[GROUP_HELD], p->hold_count);
}

// Whether what is held is another value than at the last pose by more than steps are for
static bool may_be_far(const Settle *p)
{
    for (uint32_t i = 0; i < p->hold_count && p->has_pose; i++)
        if (fabs(p->target[i] - p->was_held[i]) > FAR) return true;
    return !p->has_pose;
}

// What is held to where it belongs, if that is far; whether it moved
static bool approach(Settle *p)
{
    const size_t bytes = p->system->input_count * sizeof *p->in;
    if (!may_be_far(p)) return false;
    tr_settle_evaluate(p);
    const double before = held_off(p);
    if (!(before > FAR) || !isfinite(before)) return false;
    memcpy(p->last, p->in, bytes);
    for (int k = 0; k < MOST_STEPS && held_off(p) > SHORT; k++) {
        tr_settle_split(p, KEEPING);
        memcpy(p->d, p->split.d0, p->unknowns * sizeof *p->d);
        shorten_turns(p);
        memset(p->P, 0, (size_t)p->touches * p->unknowns * sizeof *p->P);
        memset(p->du, 0, p->touches * sizeof *p->du);
        tr_settle_move(p);
        tr_settle_evaluate(p);
    }
    if (held_off(p) < before) return true;
    memcpy(p->in, p->last, bytes);
    return false;
}

// How far to move along what is left of a length, so that squares of gaps are least where contacts
// stay where they are on the ground; and these squares
static double lift_along(const Settle *p, uint32_t j, double *left)
{
    const uint32_t free = p->split.free, wide = p->unknowns + p->touches;
    double squares = 0, across = 0, own = 0;
    for (uint32_t i = p->first[GROUP_GAPS]; i < p->first[GROUP_GAPS + 1]; i++) {
        double slope = 0;
        for (uint32_t k = 0; k < p->unknowns; k++)
            slope += p->J[(size_t)i * wide + k] * p->split.Z[(size_t)k * free + j];
        squares += p->f[i] * p->f[i], across += p->f[i] * slope, own += slope * slope;
    }
    *left = own > 0 ? squares - across * across / own : squares;
    return own > 0 ? -across / own : 0;
}

// Contacts are below their wheels: the one length that brings them nearest to the ground there
static void lift(Settle *p)
{
    const struct Split *s = &p->split;
    double least = (double)INFINITY, far = 0, left = 0;
    uint32_t best = 0;
    tr_settle_split(p, KEEPING);
    for (uint32_t j = 0; j < s->free; j++) {
        const double here = is_length(p, s->own[j]) ? lift_along(p, j, &left) : 0;
        if (here != 0 && left < least) least = left, far = here, best = j;
    }
    for (uint32_t k = 0; far != 0 && k < p->unknowns; k++)
        p->in[p->place[k]] += far * s->Z[(size_t)k * s->free + best];
}

// Where what is held, or the ground, is further than steps go: straight there
static void start_near(Settle *p)
{
    const bool moved = approach(p);
    if (!moved && p->has_pose) return;
    put_below(p);
    tr_settle_evaluate(p);
    const double *gaps = p->f + p->first[GROUP_GAPS];
    if (moved || tr_largest(gaps, p->contact_count) > FAR) lift(p);
    place_contacts(p);
}

static void begin(Settle *p)
{
    tr_start_values(p->system, p->in);
    for (uint32_t i = 0; i < p->quaternions; i++) tr_make_unit(p->in + p->place[p->quaternion[i]]);
    for (uint32_t i = 0; i < p->contact_count; i++) p->is_closed[i] = true, p->lambda[i] = 0;
    p->is_pinned = false;
    memset(p->mu, 0, term_count(p) * sizeof *p->mu);
}

// Where it came to rest: counts are right, nothing is in the ground, and it stays there.
static bool accept(Settle *p, bool *again, tr_error *err)
{
    if (!refuse_too_much(p, err)) return false; // as the last step had it
    if (p->way->least == GROUPS && !p->way->begin && p->split.free)
        return refuse_free(p, err), false;
    *again = relocate(p);
    if (*again) return true;
    const uint32_t gaps = p->first[GROUP_GAPS];
    bool is_inside = false;
    for (uint32_t i = 0; i < p->contact_count; i++) {
        p->is_closed[i] = !p->way->opens || p->f[gaps + i] < CLOSED;
        is_inside = is_inside || (p->way->opens && p->f[gaps + i] < -CLOSED);
    }
    if (is_inside) return refuse_pose(p, err), false;
    if (p->way->opens) tr_settle_balance(p);
    if (p->way->opens && !p->is_balanced && p->split.free)
        return refuse_pose(p, err), false; // where all is held, that carries it
    if (p->way->least < GROUPS && !is_least(p, err)) {
        *again = true;
        p->step = tr_largest(p->d, p->unknowns);
        move_far(p);
    }
    return !has_failed(err);
}

void tr_settle_refuse(Settle *p, tr_error *err)
{
    tr_settle_split(p, KEEPING | p->way->zero);
    if (refuse_too_much(p, err)) refuse_pose(p, err);
}

bool tr_settle_solve(Settle *p, tr_error *err)
{
    if (!p->has_pose) begin(p);
    start_near(p);
    memcpy(p->from, p->in, p->system->input_count * sizeof *p->from);
    p->iterations = 0;
    if (p->way->begin && !p->way->begin(p, err)) return false;
    for (int k = 0; k < MOST_PLACES; k++) {
        bool again = false;
        if (!tr_settle_go(p)) return tr_settle_refuse(p, err), false;
        if (!accept(p, &again, err)) return false;
        if (!again) return true;
    }
    tr_fail(err, TR_FAILED, (Place){0},
            "no pose within reach: a wheel touches the ground at several places, or the pose tips "
            "over from one to another");
    return false;
}
