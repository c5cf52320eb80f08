// SPDX-License-Identifier: Apache-2.0
// Looking for contacts on surfaces that are not flat (T189). Round a wheel's ring, or on a disc
// below a ball's middle, places that are nearer to the surface than those beside them are taken for
// Newton's method on the two residuals of tangency; what it finds with the least gap touches.
#include "plan/touch.h"

#include "expr/elementary.h"
#include "num/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT = 17, ROUND = 64, CIRCLES = 4, SPOKES = 16, MOST_STEPS = 40 };
enum { MOST_PLACES = CIRCLES * SPOKES + 1 }; // and of a wheel fewer
#define NEAR_ENOUGH 1e-15                    // of the size of the wheel
#define INSIDE      1e-6 // how far a ring or a ball is below the surface that is inside [m]

// A place beside a wheel or a ball
typedef struct Sample {
    double u[2];
    double above; // how far the surface is below, upright; from a ball, whichever way
    double far;   // from the middle of that, level
} Sample;

typedef struct Round {
    Sample at[MOST_PLACES];
    uint32_t count;
    bool is_ball;
    double radius; // of a ball
} Round;

struct TouchSearch {
    const System *system;
    Evaluator at;
    tr_workspace *heights; // a block
    double *x, *values, *turn;
    Round *round; // by contact
    bool is_prepared;
};

// Where a wheel or a ball is, and what its contact is like: as list_at has it
typedef struct Touch {
    double tangency[2], slopes[4], gap;
    double middle[3], axle[3], ring, tube;
    double hollow[2];
} Touch;

static void list_at(const Touching *t, Exprs *list)
{
    tr_exprs_add(list, t->tangency, 2);
    tr_exprs_add(list, t->slopes, 4);
    exprs_add(list, t->gap);
    tr_exprs_add(list, t->middle, 3);
    tr_exprs_add(list, t->axle, 3);
    exprs_add(list, t->ring);
    exprs_add(list, t->tube);
    tr_exprs_add(list, t->hollow, 2);
}

bool tr_touch_programs(System *own, const uint8_t *fold, TouchPrograms *out, tr_error *err)
{
    Exprs at = {0}, heights = {0};
    *out = (TouchPrograms){0};
    if (!own->touching_count) return true;
    for (uint32_t i = 0; i < own->touching_count; i++) {
        list_at(&own->touchings[i], &at);
        exprs_add(&heights, own->touchings[i].height);
    }
    out->at = tr_program_list(own, &at, fold, err);
    out->heights = tr_program_list(own, &heights, fold, err);
    return !has_failed(err);
}

void tr_touch_programs_free(TouchPrograms *programs)
{
    tr_program_free(programs->at);
    tr_program_free(programs->heights);
}

TouchSearch *tr_touch_search(const System *system, const TouchPrograms *programs, tr_error *err)
{
    if (!programs->at || has_failed(err)) return NULL;
    TouchSearch *s = calloc(1, sizeof *s);
    if (!s) return tr_fail_memory(err), NULL;
    s->system = system;
    s->at = tr_evaluator_with(programs->at, err);
    s->heights = tr_workspace_block(programs->heights, err);
    s->turn = calloc(2 * ROUND, sizeof *s->turn);
    s->round = calloc(system->touching_count, sizeof *s->round);
    s->x = calloc(system->input_count + 1u, sizeof *s->x);
    s->values = calloc(AT * (size_t)system->touching_count + 1, sizeof *s->values);
    if (!s->x || !s->values || !s->turn || !s->round) tr_fail_memory(err);
    for (int k = 0; k < ROUND && s->turn; k++) {
        s->turn[2 * k] = el_cos(2 * M_PI * k / ROUND);
        s->turn[2 * k + 1] = el_sin(2 * M_PI * k / ROUND);
    }
    if (!has_failed(err)) return s;
    tr_touch_search_free(s);
    return NULL;
}

void tr_touch_search_free(TouchSearch *s)
{
    if (!s) return;
    tr_evaluator_free(&s->at);
    tr_workspace_free(s->heights);
    free(s->turn);
    free(s->round);
    free(s->x);
    free(s->values);
    free(s);
}

// ---- one contact ---------------------------------------------------------------------------

// The state, and what its parameters alone decide unless they are what they were
static void take_state(TouchSearch *s, const double *x)
{
    const System *system = s->system;
    bool same = s->is_prepared;
    for (uint32_t i = 0; same && i < system->input_count; i++)
        same = system->inputs[i].kind != TR_PARAMETER || x[i] == s->x[i];
    memcpy(s->x, x, system->input_count * sizeof *x);
    if (same) return;
    const uint32_t lanes = tr_block_lanes(s->heights);
    tr_evaluator_prepare(&s->at, x);
    for (uint32_t i = 0; i < system->input_count; i++)
        for (uint32_t k = 0; k < lanes; k++) tr_block_input(s->heights, i)[k] = x[i];
    tr_block_run(s->heights, PART_PARAMETER);
    s->is_prepared = true;
}

static double *place_of(const TouchSearch *s, uint32_t i)
{
    return s->x + s->system->touchings[i].input;
}

static Touch touch_at(TouchSearch *s, uint32_t i, const double u[2])
{
    Touch touch;
    memcpy(place_of(s, i), u, 2 * sizeof *u);
    evaluate_into(&s->at, s->x, s->values);
    memcpy(&touch, s->values + (size_t)AT * i, sizeof touch);
    return touch;
}

// Newton's method from u, in steps that are no longer than the wheel. False when it does not end
// where the wheel touches, or would.
static bool settle(TouchSearch *s, uint32_t i, double u[2], double *gap)
{
    double before = (double)INFINITY;
    for (int k = 0; k < MOST_STEPS; k++) {
        const Touch t = touch_at(s, i, u);
        const double size = t.ring + t.tube, off = tr_norm(t.tangency, 2);
        const double det = t.slopes[0] * t.slopes[3] - t.slopes[1] * t.slopes[2];
        *gap = t.gap;
        if (!isfinite(off) || !isfinite(det) || det == 0) return false;
        if (off <= NEAR_ENOUGH * size || (off < 1e-12 * size && off >= before)) return true;
        before = off;
        double d[2] = {(t.slopes[3] * t.tangency[0] - t.slopes[1] * t.tangency[1]) / det,
                       (t.slopes[0] * t.tangency[1] - t.slopes[2] * t.tangency[0]) / det};
        const double far = tr_norm(d, 2), most = fmin(1, 0.5 * size / far);
        for (int j = 0; j < 2; j++) u[j] -= far > 0 ? most * d[j] : 0;
    }
    return false;
}

// ---- everywhere ----------------------------------------------------------------------------

// Unit vectors across the axle: the first as low as it can be
static void across(const double a[3], double e[2][3])
{
    const double down[3] = {a[2] * a[0], a[2] * a[1], a[2] * a[2] - 1};
    const double size = sqrt(down[0] * down[0] + down[1] * down[1] + down[2] * down[2]);
    const bool is_flat = !(size > 1e-9);
    for (int k = 0; k < 3; k++) e[0][k] = is_flat ? k == 0 : down[k] / size;
    for (int k = 0; k < 3; k++)
        e[1][k] = a[(k + 1) % 3] * e[0][(k + 2) % 3] - a[(k + 2) % 3] * e[0][(k + 1) % 3];
}

static void place_round_wheel(const TouchSearch *s, const Touch *t, Round *out)
{
    double e[2][3];
    across(t->axle, e);
    out->count = ROUND;
    for (uint32_t k = 0; k < ROUND; k++) {
        const double *turn = s->turn + 2 * (size_t)k;
        double p[3];
        for (int j = 0; j < 3; j++)
            p[j] = t->middle[j] + t->ring * (turn[0] * e[0][j] + turn[1] * e[1][j]);
        out->at[k] = (Sample){.u = {p[0], p[1]}, .above = p[2]};
    }
}

static void place_below_ball(const TouchSearch *s, const Touch *t, Round *out)
{
    out->count = 0, out->radius = t->tube;
    for (int circle = 0; circle <= CIRCLES; circle++)
        for (int k = 0; k < (circle ? SPOKES : 1); k++) {
            const double *turn = s->turn + 2 * (size_t)(k * (ROUND / SPOKES));
            const double far = 1.5 * t->tube * circle / CIRCLES;
            out->at[out->count++] =
                (Sample){.u = {t->middle[0] + far * turn[0], t->middle[1] + far * turn[1]},
                         .above = t->middle[2],
                         .far = far};
        }
}

// Of `lanes` samples of each contact, from the first on
static void take_heights(TouchSearch *s, uint32_t first, uint32_t lanes)
{
    const System *system = s->system;
    for (uint32_t i = 0; i < system->touching_count; i++)
        for (uint32_t k = 0; k < lanes; k++) {
            const Round *round = &s->round[i];
            const Sample *at = &round->at[first + k < round->count ? first + k : 0];
            for (uint32_t j = 0; j < 2; j++)
                tr_block_input(s->heights, system->touchings[i].input + j)[k] = at->u[j];
        }
    tr_block_run(s->heights, PART_STATE);
    for (uint32_t i = 0; i < system->touching_count; i++)
        for (uint32_t k = 0; k < lanes && first + k < s->round[i].count; k++) {
            Sample *at = &s->round[i].at[first + k];
            const double up = at->above - tr_block_output(s->heights, i)[k];
            const double away[] = {up, at->far};
            at->above = s->round[i].is_ball ? tr_norm(away, 2) - s->round[i].radius : up;
        }
}

// Round all of them at once
static void sample(TouchSearch *s)
{
    const uint32_t count = s->system->touching_count, lanes = tr_block_lanes(s->heights);
    evaluate_into(&s->at, s->x, s->values);
    for (uint32_t i = 0; i < count; i++) {
        Touch t;
        memcpy(&t, s->values + (size_t)AT * i, sizeof t);
        s->round[i].is_ball = t.ring == 0;
        (s->round[i].is_ball ? place_below_ball : place_round_wheel)(s, &t, &s->round[i]);
    }
    for (uint32_t first = 0; first < MOST_PLACES; first += lanes) take_heights(s, first, lanes);
}

// The samples beside one: of a wheel on its ring, of a ball on its circle and spoke
static uint32_t list_beside(const Round *round, uint32_t k, uint32_t out[SPOKES])
{
    uint32_t count = 0;
    if (!round->is_ball) {
        out[count++] = (k + 1) % round->count, out[count++] = (k + round->count - 1) % round->count;
        return count;
    }
    if (k == 0) {
        for (uint32_t j = 1; j <= SPOKES; j++) out[count++] = j;
        return count;
    }
    const uint32_t spoke = (k - 1) % SPOKES, first = k - spoke;
    out[count++] = first + (spoke + 1) % SPOKES;
    out[count++] = first + (spoke + SPOKES - 1) % SPOKES;
    out[count++] = first == 1 ? 0 : k - SPOKES;
    if (k + SPOKES < round->count) out[count++] = k + SPOKES;
    return count;
}

// Whether a sample is as near to the surface as those beside it
static bool is_low(const Round *round, uint32_t k)
{
    uint32_t beside[SPOKES];
    if (!isfinite(round->at[k].above)) return false;
    for (uint32_t j = list_beside(round, k, beside); j-- > 0;)
        if (round->at[beside[j]].above < round->at[k].above) return false;
    return true;
}

// Whether the sample is beside the contact that there is, which is where it would end
static bool is_beside(const Round *round, uint32_t k, const double u[2])
{
    uint32_t nearest = 0;
    double least = (double)INFINITY;
    for (uint32_t j = 0; j < round->count; j++) {
        const double x = round->at[j].u[0] - u[0], y = round->at[j].u[1] - u[1];
        if (x * x + y * y < least) least = x * x + y * y, nearest = j;
    }
    return (k + round->count + 1 - nearest) % round->count <= 2;
}

// Calls `take` for each place where the contact may be; and where another is looked for, for those
// that are inside the surface, as at a kerb, where nothing is tangent.
static void look_everywhere(TouchSearch *s, uint32_t i, bool others,
                            void (*take)(void *to, const double u[2], double gap), void *to)
{
    const Sample *all = s->round[i].at;
    const bool is_ball = s->round[i].is_ball;
    const uint32_t count = s->round[i].count;
    const double *here = place_of(s, i), kept[2] = {here[0], here[1]};
    for (uint32_t k = 0; k < count; k++) {
        double u[2] = {all[k].u[0], all[k].u[1]}, gap;
        if (others && all[k].above < -INSIDE) take(to, u, all[k].above);
        if (!is_low(&s->round[i], k)) continue;
        if (others && !is_ball && is_beside(&s->round[i], k, kept)) continue;
        if (settle(s, i, u, &gap)) take(to, u, gap);
    }
    memcpy(place_of(s, i), kept, sizeof kept);
}

void tr_touch_look(TouchSearch *s, const double *x)
{
    take_state(s, x);
    sample(s);
}

static void take_nearest(void *to, const double u[2], double gap)
{
    SecondTouch *n = to;
    if (gap < n->gap) *n = (SecondTouch){{u[0], u[1]}, gap};
}

bool tr_touch_nearest(TouchSearch *s, uint32_t i, SecondTouch *out)
{
    *out = (SecondTouch){.gap = (double)INFINITY};
    look_everywhere(s, i, false, take_nearest, out);
    return isfinite(out->gap);
}

bool tr_touch_beside(TouchSearch *s, uint32_t i, SecondTouch *place)
{
    const double kept[] = {place_of(s, i)[0], place_of(s, i)[1]};
    const bool found = settle(s, i, place->at, &place->gap);
    memcpy(place_of(s, i), kept, sizeof kept);
    return found;
}

static bool find(TouchSearch *s, uint32_t i)
{
    SecondTouch nearest;
    if (!tr_touch_nearest(s, i, &nearest)) return false;
    memcpy(place_of(s, i), nearest.at, sizeof nearest.at);
    return true;
}

static void give_back(const TouchSearch *s, double *x)
{
    for (uint32_t i = 0; i < s->system->touching_count; i++)
        memcpy(x + s->system->touchings[i].input, place_of(s, i), 2 * sizeof *x);
}

bool tr_touch_find(TouchSearch *s, double *x)
{
    bool all = true;
    tr_touch_look(s, x);
    for (uint32_t i = 0; i < s->system->touching_count; i++) all = find(s, i) && all;
    give_back(s, x);
    return all;
}

bool tr_touch_follow(TouchSearch *s, double *x)
{
    bool all = true;
    take_state(s, x);
    for (uint32_t i = 0; i < s->system->touching_count && all; i++) {
        double u[2], gap;
        memcpy(u, place_of(s, i), sizeof u);
        all = settle(s, i, u, &gap);
        if (all) memcpy(place_of(s, i), u, sizeof u);
    }
    if (!all) return tr_touch_find(s, x);
    give_back(s, x);
    return true;
}

TouchSizes tr_touch_sizes(TouchSearch *s, const double *x, uint32_t i)
{
    take_state(s, x);
    const double u[] = {place_of(s, i)[0], place_of(s, i)[1]};
    const Touch t = touch_at(s, i, u);
    const double size = t.ring + t.tube; // a tyre may be too thick for a groove along its way
    return t.tube / t.hollow[1] > size / t.hollow[0] ? (TouchSizes){t.tube, t.hollow[1]}
                                                     : (TouchSizes){size, t.hollow[0]};
}

// ---- a second one --------------------------------------------------------------------------

typedef struct Other {
    double first[2], apart;
    SecondTouch *out;
    bool is_there;
} Other;

static void take_other(void *to, const double u[2], double gap)
{
    Other *o = to;
    const double away[] = {u[0] - o->first[0], u[1] - o->first[1]};
    if (tr_norm(away, 2) <= o->apart) return;
    if (o->is_there && gap >= o->out->gap) return;
    *o->out = (SecondTouch){{u[0], u[1]}, gap};
    o->is_there = true;
}

bool tr_touch_second(TouchSearch *s, uint32_t i, SecondTouch *out)
{
    const double *here = place_of(s, i);
    Other other = {.first = {here[0], here[1]}, .out = out};
    const Touch t = touch_at(s, i, other.first);
    other.apart = 1e-6 * (t.ring + t.tube);
    look_everywhere(s, i, true, take_other, &other);
    return other.is_there;
}
