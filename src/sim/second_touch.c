// SPDX-License-Identifier: Apache-2.0
#include "sim/second_touch.h"

#include "num/dense.h"
#include "plan/condition_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ELSEWHERE 1e-7 // how far a contact that flies may be off before it is put right [m]

bool tr_second_open(SecondTouches *s, Flow *flow, tr_error *err)
{
    const System *system = flow->system;
    *s = (SecondTouches){.flow = flow};
    if (!system->touching_count) return true;
    s->search = tr_touch_search(system, &flow->footing->conditions[START_POSITIONS]->touch, err);
    s->told = calloc(system->touching_count, sizeof *s->told);
    s->x = calloc(system->input_count, sizeof *s->x);
    if (!s->told || !s->x) tr_fail_memory(err);
    return !has_failed(err);
}

void tr_second_close(SecondTouches *s)
{
    tr_touch_search_free(s->search);
    free(s->told);
    free(s->x);
}

static bool flies(const SecondTouches *s, uint32_t i)
{
    return is_in_flight(s->flow->footing, &s->flow->system->touchings[i]);
}

// ---- a second touch ------------------------------------------------------------------------

static bool look(const SecondTouches *s, double t, const double *y, uint32_t i, SecondTouch *out)
{
    tr_flow_fill(s->flow, t, y);
    tr_touch_look(s->search, s->flow->inputs);
    return tr_touch_second(s->search, i, out);
}

// Its gap; 1 where there is no other place
static double gap_elsewhere(void *owner, double t, const double *y)
{
    const SecondTouches *s = owner;
    SecondTouch other;
    return look(s, t, y, s->which, &other) ? other.gap : 1;
}

static bool tell(SecondTouches *s, double t, const double *y, uint32_t i, Warnings *warnings,
                 tr_error *err)
{
    const System *system = s->flow->system;
    const Touching *touching = &system->touchings[i];
    SecondTouch other = {0};
    look(s, t, y, i, &other);
    const double *first = s->flow->inputs + touching->input;
    const double at[] = {told_place(first[0]), told_place(first[1])},
                 to[] = {told_place(other.at[0]), told_place(other.at[1])};
    static const char words[] = "'%.80s' touches a second time at t = %.9g: at (%.6g, %.6g) "
                                "and at (%.6g, %.6g)";
    s->told[i] = true;
    if (system->allows_second_touch)
        return tr_warn(warnings, words, touching->name, t, at[0], at[1], to[0], to[1]) ||
               (tr_fail_memory(err), false);
    tr_fail(err, TR_FAILED, (Place){0}, words, touching->name, t, at[0], at[1], to[0], to[1]);
    return false;
}

bool tr_second_step(SecondTouches *s, Path *path, double t, const double *y, Warnings *warnings,
                    double *end, tr_error *err)
{
    const uint32_t last = path->count - 1;
    if (!s->search) return true;
    tr_flow_fill(s->flow, t, y);
    tr_touch_look(s->search, s->flow->inputs);
    for (uint32_t i = 0; i < s->flow->system->touching_count; i++) {
        SecondTouch other;
        s->which = i;
        const bool is_clear = flies(s, i) || !is_held(&s->flow->system->touchings[i]) ||
                              !tr_touch_second(s->search, i, &other) || other.gap >= 0;
        if (is_clear) s->told[i] = false;
        if (is_clear || s->told[i]) continue;
        const double at = last ? tr_path_crossing(path, (Measure){gap_elsewhere, s}, last - 1, t,
                                                  1e-13 * fmax(1, fabs(t)))
                               : t;
        if (!tell(s, at, last ? path->found : y, i, warnings, err)) return *end = at, false;
    }
    return true;
}

bool tr_second_hollow(const SecondTouches *s, double t, const double *y, const Alarm *alarm,
                      tr_error *err)
{
    tr_flow_fill(s->flow, t, y);
    const double *x = s->flow->inputs, *at = x + s->flow->system->touchings[alarm->touching].input;
    const TouchSizes size = tr_touch_sizes(s->search, x, alarm->touching);
    tr_fail(err, TR_FAILED, (Place){0}, "%s at (%.6g, %.6g): radius %.4g, hollow %.4g, t = %.9g",
            alarm->words, told_place(at[0]), told_place(at[1]), size.radius, size.hollow, t);
    return false;
}

// ---- in flight -----------------------------------------------------------------------------

static double *place_in(const Flow *flow, double *y, uint32_t input)
{
    uint32_t k = 0;
    while (flow->now->place[k] != input) k++;
    return y + k;
}

static bool is_elsewhere(const double *a, const double *b)
{
    const double away[] = {a[0] - b[0], a[1] - b[1]};
    return tr_norm(away, 2) >= ELSEWHERE;
}

// Where it would land first, and its gap there, or 1
static SecondTouch nearest(const SecondTouches *s, double t, const double *y, uint32_t i)
{
    SecondTouch at;
    tr_flow_fill(s->flow, t, y);
    tr_touch_look(s->search, s->flow->inputs);
    if (!tr_touch_nearest(s->search, i, &at)) at.gap = 1;
    return at;
}

// A narrow ridge may stand between the places that are looked at: the one that is known counts,
// too.
static SecondTouch landing_at(const SecondTouches *s, double t, const double *y)
{
    const SecondTouch at = nearest(s, t, y, s->which);
    SecondTouch known = s->landing;
    return tr_touch_beside(s->search, s->which, &known) && known.gap < at.gap ? known : at;
}

static double gap_in_flight(void *owner, double t, const double *y)
{
    return landing_at(owner, t, y).gap;
}

double tr_second_land(SecondTouches *s, Path *path, double t, const double *y, double *ending,
                      uint32_t *contact)
{
    const System *system = s->flow->system;
    double first = (double)INFINITY;
    if (!s->search || path->count < 2) return first;
    for (uint32_t i = 0; i < system->touching_count; i++) {
        if (!flies(s, i)) continue;
        const SecondTouch now = nearest(s, t, y, i);
        const double *carried = s->flow->inputs + system->touchings[i].input;
        if (!(now.gap < 0) || !is_elsewhere(now.at, carried)) continue;
        s->which = i, s->landing = now;
        const double at = tr_path_crossing(path, (Measure){gap_in_flight, s}, path->count - 2, t,
                                           1e-13 * fmax(1, fabs(t)));
        if (!(at < first)) continue;
        const SecondTouch then = landing_at(s, at, path->found);
        first = at, *contact = i;
        memcpy(ending, path->found, s->flow->size * sizeof *ending);
        memcpy(place_in(s->flow, ending, system->touchings[i].input), then.at, sizeof then.at);
    }
    return first;
}

bool tr_second_fly(SecondTouches *s, double t, double *y)
{
    if (!s->search) return false;
    bool any = false, moved = false;
    const System *system = s->flow->system;
    for (uint32_t i = 0; i < system->touching_count; i++) any = any || flies(s, i);
    if (!any) return false;
    tr_flow_fill(s->flow, t, y);
    memcpy(s->x, s->flow->inputs, system->input_count * sizeof *s->x);
    tr_touch_find(s->search, s->x);
    for (uint32_t i = 0; i < system->touching_count; i++) {
        const double *found = s->x + system->touchings[i].input;
        double *at = place_in(s->flow, y, system->touchings[i].input);
        if (!flies(s, i) || !is_elsewhere(found, at)) continue;
        memcpy(at, found, 2 * sizeof *at);
        moved = true;
    }
    return moved;
}
