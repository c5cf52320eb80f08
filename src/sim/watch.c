// SPDX-License-Identifier: Apache-2.0
// In one chart the product of the pivots keeps its sign as long as the pivot rows stay independent
// of each other: charts are left before they go bad, so where the sign changes, or where the
// smallest pivot touches zero, the rank does (T66). The time is found along the path of the last
// steps, as that of an alarm is.
#include "sim/watch.h"

#include "plan/latch.h"
#include "sim/glance.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOUCHES 1e-4 // a pivot that is zero where it is smallest between steps
#define ZERO    1e-4 // singular values that are, where a pivot vanishes
enum { MOST_SECTIONS = 60, HALVINGS = 60, MOST_LAST_STEPS = 300 };

bool tr_watch_open(Watch *w, Flow *flow, tr_error *err)
{
    const uint32_t alarms = flow->system->alarm_count;
    *w = (Watch){.flow = flow};
    if (!tr_flow_is_watched(w->flow)) return true;
    const size_t switches = flow->switch_count;
    w->margins = calloc(2 * (size_t)alarms + (1 + PATH_STATES) * switches + 1, sizeof *w->margins);
    w->told = calloc(alarms + 1u, sizeof *w->told);
    if (!w->margins || !w->told) return tr_fail_memory(err), false;
    w->last = w->margins + alarms, w->sides = w->last + alarms;
    for (uint32_t i = 0; i < PATH_STATES; i++) w->switches[i] = w->sides + (1 + i) * switches;
    w->work = calloc(3 * (size_t)flow->size, sizeof *w->work);
    if (!w->work) return tr_fail_memory(err), false;
    w->ending = w->work + 2 * (size_t)flow->size;
    return tr_path_open(&w->path, flow, err) && tr_second_open(&w->second, flow, err);
}

void tr_watch_close(Watch *w)
{
    tr_path_close(&w->path);
    tr_second_close(&w->second);
    free(w->work);
    free(w->margins);
    free(w->told);
    tr_warnings_free(&w->warnings);
}

// ---- along the last steps ------------------------------------------------------------------

static double *state(const Watch *w, int i) { return w->work + (size_t)i * w->flow->size; }

static bool has_past(const Watch *w) { return w->path.count > 1; } // a step was made

// The state before the last step: its place, and what it was like
static uint32_t before(const Watch *w) { return w->path.count - 2; }
static double time_before(const Watch *w) { return w->path.t[before(w)]; }
static Quality quality_before(const Watch *w) { return w->quality[before(w)]; }

static void add_state(Watch *w, double t, const double *y)
{
    enum { LAST = PATH_STATES - 1 };
    if (w->path.count == PATH_STATES) {
        double *oldest = w->switches[0];
        memmove(w->quality, w->quality + 1, LAST * sizeof *w->quality);
        memmove(w->switches, w->switches + 1, LAST * sizeof *w->switches);
        memmove(w->is_known, w->is_known + 1, LAST * sizeof *w->is_known);
        w->switches[LAST] = oldest;
    }
    tr_path_add(&w->path, t, y);
    w->quality[w->path.count - 1] = (Quality){0};
    w->is_known[w->path.count - 1] = false;
}

static bool has_pivots(const Flow *flow)
{
    return flow->stance && flow->now->chart->partition.count;
}

// All that is to be known about the state that was added last
static void look(Watch *w, double t, const double *y)
{
    Flow *flow = w->flow;
    if (!flow_program(flow, CHART_WATCH)->program) return;
    const WatchPlaces *at = &flow->now->programs->watched;
    const double *seen = tr_flow_watch(flow, t, y);
    const uint32_t last = w->path.count - 1;
    memcpy(w->last, seen + at->alarms, flow->system->alarm_count * sizeof *w->last);
    if (tr_flow_has_switches(flow)) {
        memcpy(w->switches[last], seen + at->switches, flow->switch_count * sizeof *seen);
        w->is_known[last] = true;
    }
    if (has_pivots(flow)) w->quality[last] = tr_flow_quality_in(flow, seen);
}

void tr_watch_renew(Watch *w)
{
    for (uint32_t i = 0; i < PATH_STATES; i++) w->is_known[i] = false;
}

static void start_again(Watch *w, double t, const double *y, Quality q)
{
    w->path.count = 0;
    add_state(w, t, y);
    w->quality[0] = q;
}

void tr_watch_leap(Watch *w, double t, const double *y)
{
    if (has_pivots(w->flow)) start_again(w, t, y, tr_flow_quality(w->flow, t, y));
}

// How precisely times are found
static double close_to(double t) { return 1e-13 * fmax(1, fabs(t)); }

static Quality quality_at(Watch *w, double t)
{
    return tr_flow_quality(w->flow, t, tr_path_exact(&w->path, t));
}

static double least_at(Watch *w, double t)
{
    return tr_flow_quality(w->flow, t, tr_path_between(&w->path, t)).least;
}

// The smallest pivot, negative where the sign of their product is not what it was at first
static double signed_pivot(void *owner, double t, const double *y)
{
    const Watch *w = owner;
    const Quality q = tr_flow_quality(w->flow, t, y);
    return q.sign == w->sign ? q.least : -fmax(q.least, DBL_MIN);
}

// Where the sign changes between the state `from` and `high`; the state there is `path.found`.
static double find_sign_change(Watch *w, uint32_t from, double high)
{
    w->sign = w->quality[from].sign;
    return tr_path_crossing(&w->path, (Measure){signed_pivot, w}, from, high, close_to(high));
}

// Where the smallest pivot is smallest, by golden sections
static double smallest(Watch *w, double low, double high)
{
    const double golden = 0.6180339887498949;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double fa = least_at(w, a), fb = least_at(w, b);
    for (int i = 0; i < MOST_SECTIONS && high - low > 1e-10 * fmax(1e-3, fabs(high)); i++) {
        if (fa < fb) {
            high = b, b = a, fb = fa;
            a = high - golden * (high - low), fa = least_at(w, a);
        } else {
            low = a, a = b, fa = fb;
            b = low + golden * (high - low), fb = least_at(w, b);
        }
    }
    return low + (high - low) / 2;
}

// ---- words ---------------------------------------------------------------------------------

// Names the rows that are dependent where the stance was taken, and were not at first; false when
// the rank is what it was.
static bool name_dependent(const Watch *w, double tolerance, char *line, size_t size)
{
    const Stance *s = w->flow->stance;
    const Chart *first = w->flow->charts[0]->chart;
    Rank rank;
    line[0] = 0;
    if (!tr_stance_rank(s, true, NO_ROW, tolerance, false, &rank)) return false;
    const bool lower = rank.rank < first->m_locked;
    bool all = true; // unless there are others
    for (uint32_t i = 0; i < s->rows; i++)
        all = all && (first->hyperstatic[i] || tr_rank_dependence(&rank, s->rows, i) <= 1e-2);
    for (uint32_t i = 0; lower && i < s->rows; i++)
        if (tr_rank_dependence(&rank, s->rows, i) > 1e-2 && (all || !first->hyperstatic[i]))
            tr_list_name(line, size, s->system->rows[i].name);
    tr_rank_free(&rank);
    return lower;
}

// Words, where singular values below the tolerance show that the rank is another at (t, y); else
// nothing is wrong but the chart.
static bool refuse(Watch *w, double t, const double *y, double tolerance, tr_error *err)
{
    char names[360];
    if (!tr_flow_stand(w->flow, t, y)) return true;
    if (!name_dependent(w, tolerance, names, sizeof names)) return true;
    w->end = t;
    tr_fail(err, TR_FAILED, (Place){0},
            "the constraints change their rank at t = %.9g: no longer independent: %s", t, names);
    return false;
}

// Where it is further on, if it goes on straight
static const double *straight_ahead(Watch *w, double t, const double *y, double h)
{
    double *rate = state(w, 0), *ahead = state(w, 1);
    tr_flow_rate(w->flow, t, y, rate);
    memcpy(ahead, y, w->flow->size * sizeof *y);
    for (uint32_t k = 0; k < w->flow->positions; k++) ahead[k] += h * rate[k];
    return ahead;
}

// Close to where the rank changes, rounding spoils the accelerations. So a pivot that is about to
// vanish is believed: it is extrapolated from the last step, and beyond, its sign is another or it
// is smaller still.
static void look_ahead(Watch *w, double t, const double *y, Quality now)
{
    if (!has_past(w)) return;
    const double last = quality_before(w).least, step = t - time_before(w);
    const double h = PIVOT_VANISHES_IN(now.least, last, step);
    if (PIVOT_IS_FAR(now.least, last, step, h)) return;
    const Quality ahead = tr_flow_quality(w->flow, t + 2 * h, straight_ahead(w, t, y, 2 * h));
    const bool passes = ahead.sign != now.sign, touches = ahead.least < 0.2 * now.least;
    if (!passes && !touches) return;
    start_again(w, t, y, now);
    // by integrating, if that can be done
    const double at = passes ? find_sign_change(w, 0, t + 2 * h) : smallest(w, t, t + 4 * h);
    if (quality_at(w, at).least < TOUCHES)
        refuse(w, at, w->path.beside, ZERO, &w->due);
    else if (passes)
        refuse(w, t + h, straight_ahead(w, t, y, h), ZERO, &w->due);
}

// With the end in sight it goes on until there, or as near as it gets, looking again at each step.
static bool approach(Watch *w, double t, tr_error *err)
{
    if (!w->due.status) return true;
    if (has_past(w) && t - time_before(w) < 1e-6 * (w->end - t)) w->last_steps++; // it crawls
    if (t >= w->end || w->last_steps > MOST_LAST_STEPS) {
        *err = w->due;
        return false;
    }
    w->due = (tr_error){0};
    return true;
}

// Accelerations grow without bound where the ground curves as a wheel does.
static bool is_hollow(Watch *w, double t, const double *y, tr_error *err)
{
    const System *s = w->flow->system;
    if (!s->touching_count) return false;
    tr_flow_alarms(w->flow, t, y, w->margins);
    for (uint32_t k = 0; k < s->alarm_count; k++)
        if (s->alarms[k].kind == ALARM_HOLLOW && tr_alarm_matters(s, w->flow->modes, k) &&
            w->margins[k] < 1e-2)
            return !tr_second_hollow(&w->second, t, y, &s->alarms[k], err);
    return false;
}

bool tr_watch_blame(Watch *w, double t, const double *y, tr_error *err)
{
    if (!w->flow->stance) return false;
    if (is_hollow(w, t, y, err)) return true;
    if (w->due.status) return *err = w->due, true;
    return tr_flow_quality(w->flow, t, y).least < 1e-2 && !refuse(w, t, y, 1e-2, err);
}

// ---- alarms --------------------------------------------------------------------------------

static double margin_of(void *owner, double t, const double *y)
{
    const Watch *w = owner;
    tr_flow_alarms(w->flow, t, y, w->margins);
    return w->margins[w->alarm];
}

// When alarm k went off, in the last step, which ended at t
static double find_alarm(Watch *w, uint32_t k, double t)
{
    w->alarm = k;
    return tr_path_crossing(&w->path, (Measure){margin_of, w}, before(w), t, close_to(t));
}

// Whether an alarm that changes the run may go off now
static bool is_armed(const Watch *w, uint32_t k)
{
    const System *s = w->flow->system;
    return s->alarms[k].kind > ALARM_HOLLOW && tr_alarm_matters(s, w->flow->modes, k) &&
           !w->told[k];
}

bool tr_watch_keeps(const Watch *w, uint32_t k)
{
    return w->flow->sides[k] != 0 && !(w->habits[k].rests > 0);
}

// The least of the margins of switches, and which it is
static void take_switches(Watch *w, const double *margins, double *least)
{
    for (uint32_t k = 0; k < w->flow->switch_count; k++)
        if (tr_watch_keeps(w, k) && margins[k] < *least)
            *least = margins[k], w->alarm = w->flow->system->alarm_count + k;
}

// The least margin of what may change the run, and whose it is
static double least_margin(void *owner, double t, const double *y)
{
    Watch *w = owner;
    double least = (double)INFINITY;
    if (w->flow->system->alarm_count) tr_flow_alarms(w->flow, t, y, w->margins);
    for (uint32_t k = 0; k < w->flow->system->alarm_count; k++)
        if (is_armed(w, k) && w->margins[k] < least) least = w->margins[k], w->alarm = k;
    if (tr_flow_has_switches(w->flow)) take_switches(w, tr_flow_switches(w->flow, t, y), &least);
    return least;
}

// When the first alarm goes off that changes the run, in the last step, which ended at t: takes the
// state there, from which the run goes on otherwise.
static double find_first(Watch *w, double t, uint32_t *alarm)
{
    const double at =
        tr_path_crossing(&w->path, (Measure){least_margin, w}, before(w), t, close_to(t));
    least_margin(w, at, w->path.found);
    *alarm = w->alarm;
    memcpy(w->ending, w->path.found, w->flow->size * sizeof *w->ending);
    return at;
}

// The border of the table, where it is just beyond that
static double near_border(const System *s, uint32_t alarm, uint32_t axis, double x)
{
    const TableAxis *at = &s->graph->tables[s->alarms[alarm].table]->axis[axis];
    const double first = at->knot[0], last = at->knot[at->count - 1];
    const double close = 1e-9 * (last - first);
    return fabs(x - first) < close ? first : fabs(x - last) < close ? last : x;
}

// " at 3" or " at (3, 4)", where an alarm that just went off is about a place
static void describe_site(Watch *w, double t, uint32_t k, char *words, size_t size)
{
    const uint32_t count = w->flow->system->alarms[k].place_count;
    if (!count) return;
    const double *y = has_past(w) ? w->path.found : w->path.y[w->path.count - 1];
    double at[2];
    memcpy(at, tr_flow_site(w->flow, t, y, k), count * sizeof *at);
    for (uint32_t i = 0; i < count; i++)
        at[i] = told_place(near_border(w->flow->system, k, i, at[i]));
    if (count == 1)
        snprintf(words, size, " at %.9g", at[0]);
    else
        snprintf(words, size, " at (%.9g, %.9g)", at[0], at[1]);
}

// Something is at its limit from t on. What is new is told once it is over.               (T346)
static void begin_spell(Watch *w, double t, uint32_t k)
{
    if (!w->spells) return;
    Spell *spell = &w->spells[k];
    if (!spell->count) spell->first = t;
    *spell = (Spell){spell->first, t, spell->lasted, spell->count + 1, 1};
}

static double margin_back(void *owner, double t, const double *y)
{
    return -margin_of(owner, t, y);
}

static bool is_in_spell(const Watch *w, uint32_t k) { return w->spells && w->spells[k].is_on; }

// It has recovered in the last step, which ended at t; false where that is beyond the end of what
// counts of the step.
static bool end_spell(Watch *w, double t, double end, uint32_t k)
{
    Spell *spell = &w->spells[k];
    double at = t;
    w->alarm = k;
    if (has_past(w))
        at = tr_path_crossing(&w->path, (Measure){margin_back, w}, before(w), t, close_to(t));
    if (at > end) return false;
    spell->lasted += at - spell->since, spell->is_on = 0;
    return true;
}

static bool warn(Watch *w, double t, uint32_t k, tr_error *err)
{
    const Alarm *alarm = &w->flow->system->alarms[k];
    w->told[k] = true;
    if (alarm->kind == ALARM_SATURATES) return begin_spell(w, t, k), true;
    if (alarm->kind == ALARM_HOLLOW) {
        w->end = t;
        const double *y = has_past(w) ? w->path.found : w->path.y[0];
        return tr_second_hollow(&w->second, t, y, alarm, err);
    }
    if (alarm->kind == ALARM_STOPS) {
        char site[80] = "";
        describe_site(w, t, k, site, sizeof site);
        w->end = t;
        tr_fail(err, TR_FAILED, (Place){0}, "%s%s at t = %.9g", alarm->words, site, t);
        return false;
    }
    return tr_warn(&w->warnings, "%.150s at t = %.9g", alarm->words, t) ||
           (tr_fail_memory(err), false);
}

static double least_switch(Watch *w, double t, const double *y)
{
    double least = (double)INFINITY;
    take_switches(w, tr_flow_switches(w->flow, t, y), &least);
    return least;
}

// At the i-th state of the path
static double least_switch_at(Watch *w, uint32_t i)
{
    double least = (double)INFINITY;
    if (!w->is_known[i])
        memcpy(w->switches[i], tr_flow_switches(w->flow, w->path.t[i], w->path.y[i]),
               w->flow->switch_count * sizeof *w->switches[i]);
    w->is_known[i] = true;
    take_switches(w, w->switches[i], &least);
    return least;
}

// Where a parabola through three points is least, or in the middle when it is not between them
static double lowest(const double *t, const double *s)
{
    const double a = (s[1] - s[0]) / (t[1] - t[0]), b = (s[2] - s[1]) / (t[2] - t[1]);
    const double bend = (b - a) / (t[2] - t[0]), at = (t[0] + t[1]) / 2 - a / (2 * bend);
    return bend > 0 && at > t[0] && at < t[2] ? at : t[1];
}

// Whether the margin, which is `least` after the last step, can have vanished inside it: unless it
// is far from that, as it bent over the last two steps
static bool may_dip(Watch *w, double t, double least)
{
    const Path *p = &w->path;
    if (!(least < (double)INFINITY)) return false; // there are none
    const double was = least_switch_at(w, before(w));
    if (p->count < 3) return true;
    const double first = least_switch_at(w, before(w) - 1);
    const double h = t - time_before(w), earlier = time_before(w) - p->t[before(w) - 1];
    return margin_may_dip(first, was, least, earlier, h);
}

// A time inside the last step when a switch is beyond its side, though it is not at its end t
static bool has_dipped(Watch *w, double t, double *at)
{
    double time[5], s[5];
    int least = 2;
    for (int i = 0; i < 5; i++) time[i] = time_before(w) + (t - time_before(w)) * i / 4;
    s[0] = least_switch_at(w, before(w)), s[4] = least_switch_at(w, w->path.count - 1);
    for (int i = 1; i < 4; i++) s[i] = least_switch(w, time[i], tr_path_between(&w->path, time[i]));
    for (int i = 1; i < 4; i++)
        if (s[i] < s[least]) least = i;
    *at = time[least];
    if (s[least] < 0) return true;
    *at = lowest(time + least - 1, s + least - 1);
    return least_switch(w, *at, tr_path_between(&w->path, *at)) < 0;
}

// Whether a switch has crossed in the last step: *at is when it was seen to be beyond.
static bool has_crossed(Watch *w, double t, double *at)
{
    *at = t;
    if (!has_past(w) || !tr_flow_has_switches(w->flow)) return false;
    const double least = least_switch_at(w, w->path.count - 1);
    return least < 0 || (may_dip(w, t, least) && has_dipped(w, t, at));
}

bool tr_watch_is_deaf(const Watch *w, uint32_t k)
{
    return w->told[k] || !tr_alarm_matters(w->flow->system, w->flow->modes, k);
}

static bool are_quiet(const Watch *w)
{
    bool quiet = true;
    for (uint32_t k = 0; quiet && k < w->flow->system->alarm_count; k++)
        quiet = ALARM_IS_QUIET(w->last[k], w->told[k], w->last[k] < 0 && tr_watch_is_deaf(w, k));
    return quiet;
}

// Whether an alarm went off that does not change the run, but ends it or is told
static bool is_heard(const Watch *w, uint32_t k)
{
    return w->flow->system->alarms[k].kind <= ALARM_HOLLOW && w->last[k] < 0 &&
           !tr_watch_is_deaf(w, k);
}

// Up to (t, y), or to where an alarm ends the run before: a state beyond may be one that the run
// does not come to, on a side of a formula that it has left.
static bool check_second(Watch *w, double t, const double *y, tr_error *err)
{
    const System *s = w->flow->system;
    if (!s->touching_count) return true;
    for (uint32_t k = 0; k < s->alarm_count && has_past(w); k++) {
        if (!is_heard(w, k) || s->alarms[k].kind < ALARM_STOPS) continue;
        const double at = find_alarm(w, k, w->path.t[w->path.count - 1]);
        if (at >= t) continue;
        t = at, y = memcpy(state(w, 0), w->path.found, w->flow->size * sizeof *y);
    }
    return tr_second_step(&w->second, &w->path, t, y, &w->warnings, &w->end, err);
}

// The alarm of a contact that comes down on a surface
static uint32_t landing_of(const System *s, uint32_t touching)
{
    uint32_t k = 0;
    for (; k < s->alarm_count; k++) {
        if (s->alarms[k].kind != ALARM_TOUCHES) continue;
        const Latch *latch = &s->latches[s->alarms[k].latch];
        for (uint32_t i = 0; i < latch->row_count; i++)
            if (latch->rows[i] == s->touchings[touching].row) return k;
    }
    return k;
}

// Of contacts that fly, when one came down before `first`, elsewhere than where its alarm looks
static void take_landing(Watch *w, double t, const double *y, double *first, uint32_t *which)
{
    uint32_t touching = 0;
    double *ending = state(w, 0);
    const bool is_cut = *first < (double)INFINITY;
    const double at = tr_second_land(&w->second, &w->path, is_cut ? *first : t,
                                     is_cut ? w->ending : y, ending, &touching);
    if (!(at < (double)INFINITY)) return;
    *first = at, *which = landing_of(w->flow->system, touching);
    memcpy(w->ending, ending, w->flow->size * sizeof *ending);
}

// After a step to (t, y). What comes before anything else that changes the run counts.
static bool check_alarms(Watch *w, double t, const double *y, tr_error *err)
{
    const System *s = w->flow->system;
    const uint32_t count = s->alarm_count;
    double seen = t, first = (double)INFINITY;
    uint32_t which = 0;
    bool any = has_crossed(w, t, &seen);
    if (!any && !s->touching_count && are_quiet(w)) return true;
    for (uint32_t k = 0; k < count; k++) {
        if (!is_armed(w, k) || w->last[k] >= 0) continue;
        any = true;
        // from the start on: not until it has been otherwise
        if (!has_past(w)) w->told[k] = s->alarms[k].kind != ALARM_TOUCHES;
    }
    if (any && has_past(w)) first = find_first(w, seen, &which);
    take_landing(w, t, y, &first, &which);
    for (uint32_t k = 0; k < count; k++) // no sooner: they were negative in this step
        if (w->last[k] >= 0 && !(is_in_spell(w, k) && !end_spell(w, t, first, k)))
            w->told[k] = false;
    const bool is_cut = first < (double)INFINITY;
    if (!check_second(w, is_cut ? first : t, is_cut ? w->ending : y, err)) return false;
    for (uint32_t k = 0; k < count; k++) {
        if (!is_heard(w, k)) continue;
        const double at = has_past(w) ? find_alarm(w, k, t) : t;
        if (at <= first && !warn(w, at, k, err)) return false;
    }
    if (!is_cut) return true;
    w->switched = true, w->end = first, w->alarm = which;
    return false;
}

bool tr_watch_row(Watch *w, double t, const double *y)
{
    const bool touches = w->flow->stance && w->flow->system->latch_count;
    if (!(touches || tr_flow_has_switches(w->flow)) || !has_past(w)) return true;
    if (!(t > time_before(w)) || !(least_margin(w, t, y) < 0)) return true;
    uint32_t which = 0;
    w->end = find_first(w, t, &which);
    w->switched = true, w->alarm = which;
    return false;
}

// ---- steps ---------------------------------------------------------------------------------

static bool is_safe(const Watch *w, Quality now)
{
    const Quality last = has_past(w) ? quality_before(w) : now;
    const double first = w->quality[0].least;
    return PIVOT_IS_SAFE(now.least, last.least, first, now.sign, last.sign, w->path.count);
}

// Whether the smallest pivot was smaller at the last state than at those beside it.
static bool has_dip(const Watch *w, Quality now)
{
    return w->path.count == 3 && w->quality[1].least < SUSPICIOUS &&
           w->quality[1].least < w->quality[0].least && w->quality[1].least <= now.least;
}

// Whether it was smallest inside the last step, as a parabola through its middle has it: though it
// is smaller after it than before, for the chart may be left before the next step shows that; or
// though nothing is known of the time before the step, where a chart was entered or the path began
// anew.
static bool has_inner_dip(Watch *w, double t, Quality now)
{
    const double least = has_past(w) ? quality_before(w).least : 0;
    const bool falls = now.least <= NEAR && now.least < least;
    const bool begins = w->path.count == 2 && least < SUSPICIOUS && now.least >= least;
    if (!falls && !begins) return false;
    const double middle = least_at(w, time_before(w) + (t - time_before(w)) / 2);
    return falls ? 3 * now.least - 4 * middle + least > 0  // it ascends at last
                 : 3 * least - 4 * middle + now.least > 0; // it descends at first
}

// On the way from the state before to (t, y), on a parabola through both
static const double *parabola(Watch *w, double t, const double *y, double part)
{
    const double *from = w->path.y[before(w)], h = t - time_before(w);
    double *rate = state(w, 0), *z = state(w, 1);
    tr_flow_rate(w->flow, time_before(w), from, rate);
    memcpy(z, from, w->flow->size * sizeof *z);
    for (uint32_t k = 0; k < w->flow->positions; k++) {
        const double bend = y[k] - from[k] - h * rate[k];
        z[k] += part * (h * rate[k] + part * bend);
    }
    return z;
}

// Where integrating again goes astray, for the accelerations are too large there.
static bool check_between(Watch *w, double t, const double *y, tr_error *err)
{
    const int sign = quality_before(w).sign;
    const double from = time_before(w), h = t - from;
    double low = 0, high = 1;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        const double *z = parabola(w, t, y, middle);
        if (tr_flow_quality(w->flow, from + middle * h, z).sign == sign)
            low = middle;
        else
            high = middle;
    }
    return refuse(w, from + low * h, parabola(w, t, y, low), ZERO, err);
}

// Whether the rank is what it was, up to (t, now).
static bool check_rank(Watch *w, double t, const double *y, Quality now, tr_error *err)
{
    if (is_safe(w, now)) return true;
    if (now.least < GONE && w->due.status) return *err = w->due, false; // it knows better when
    if (now.least < GONE) return refuse(w, t, y, ZERO, err);
    if (has_past(w) && now.sign != quality_before(w).sign) {
        const double at = find_sign_change(w, before(w), t);
        return refuse(w, at, w->path.found, ZERO, err) && check_between(w, t, y, err);
    }
    if (!has_dip(w, now) && !has_inner_dip(w, t, now)) return true;
    const double at = smallest(w, w->path.t[0], t);
    return quality_at(w, at).least > TOUCHES || refuse(w, at, w->path.beside, ZERO, err);
}

bool tr_watch_start(Watch *w, double t, const double *y, tr_error *err)
{
    if (!tr_flow_is_watched(w->flow)) return true;
    add_state(w, t, y);
    look(w, t, y);
    return check_alarms(w, t, y, err);
}

bool tr_watch_is_calm(const Watch *w)
{
    const Flow *flow = w->flow;
    return !w->due.status && (!has_pivots(flow) || flow->now->preferred == flow->stance->preferred);
}

bool tr_watch_step(Watch *w, double t, const double *y, tr_error *err)
{
    if (!tr_flow_is_watched(w->flow)) return true;
    add_state(w, t, y);
    look(w, t, y);
    if (!check_alarms(w, t, y, err)) return false;
    if (!has_pivots(w->flow)) return true;
    const Quality q = w->quality[w->path.count - 1];
    if (!check_rank(w, t, y, q, err) || !approach(w, t, err)) return false;
    look_ahead(w, t, y, q);
    return true;
}

bool tr_watch_chart(Watch *w, double t, double *y, bool *changed, tr_error *err)
{
    *changed = tr_second_fly(&w->second, t, y);
    if (*changed) start_again(w, t, y, w->quality[w->path.count - 1]);
    if (!has_pivots(w->flow)) return true;
    // known, unless inputs are others than after the step
    const Quality q = tr_flow_quality(w->flow, t, y);
    bool is_other = false;
    if (!tr_flow_rechart(w->flow, t, y, q, &is_other, err)) return false;
    if (!is_other) return true;
    *changed = true, w->changes++;
    start_again(w, t, y, tr_flow_quality(w->flow, t, y));
    return true;
}
