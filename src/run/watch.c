// SPDX-License-Identifier: Apache-2.0
// In one chart the product of the pivots keeps its sign as long as the pivot rows stay independent
// of each other: charts are left before they go bad, so where the sign changes, or where the
// smallest pivot touches zero, the rank does. The time is found by going over the step again
// (T66).
#include "run/watch.h"

#include "run/latch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GONE       1e-7 // a pivot that is zero
#define TOUCHES    1e-4 // one that is zero where it is smallest between steps
#define SUSPICIOUS 0.05 // one that might be
#define ZERO       1e-4 // singular values that are, where a pivot vanishes
#define NEAR       1e-3 // one that is so small that what lies ahead is looked at
enum { SUBSTEPS = 16, FINE_SUBSTEPS = 64, BISECTIONS = 60, STATES = 6, MOST_LAST_STEPS = 300 };

bool tr_watch_begin(Watch *w, Flow *flow, tr_error *err)
{
    const uint32_t alarms = flow->system->alarm_count;
    *w = (Watch){.flow = flow};
    if (!flow->stance) return true;
    w->margins = calloc(2 * (size_t)alarms + 1, sizeof *w->margins);
    w->told = calloc(alarms + 1u, sizeof *w->told);
    if (!w->margins || !w->told) return tr_fail_memory(err), false;
    w->last = w->margins + alarms;
    w->work = calloc((STATES + 3) * (size_t)flow->size, sizeof *w->work);
    if (!w->work) return tr_fail_memory(err), false;
    w->y[0] = w->work + STATES * (size_t)flow->size;
    w->y[1] = w->y[0] + flow->size;
    w->ending = w->y[1] + flow->size;
    return true;
}

void tr_watch_end(Watch *w)
{
    free(w->work);
    free(w->margins);
    free(w->told);
    free(w->warnings);
}

// ---- going over a step again ---------------------------------------------------------------

static double *state(const Watch *w, int i) { return w->work + (size_t)i * w->flow->size; }

// From a known state to time t, by Runge-Kutta
static const double *go_again_from(Watch *w, uint32_t from, int steps, double t)
{
    double *y = state(w, 5);
    const bool known = w->look && w->look(w->owner, t, y);
    const double h = known ? 0 : (t - w->t[from]) / steps;
    if (!known) memcpy(y, w->y[from], w->flow->size * sizeof *y);
    for (int n = 0; n < steps && h > 0; n++)
        tr_flow_step(w->flow, w->t[from] + n * h, h, y, state(w, 0));
    tr_flow_project(w->flow, t, y);
    return y;
}

static const double *go_again(Watch *w, double t) { return go_again_from(w, 0, SUBSTEPS, t); }

static Quality quality_at(Watch *w, double t)
{
    return tr_flow_quality(w->flow, t, go_again(w, t));
}

// Where the sign changes between `low` and `high`
static double bisect(Watch *w, double low, double high)
{
    for (int i = 0; i < BISECTIONS && high - low > 1e-14 * fabs(high); i++) {
        const double middle = low + (high - low) / 2;
        if (quality_at(w, middle).sign == w->quality[0].sign)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Where the smallest pivot is smallest, by golden sections
static double smallest(Watch *w, double low, double high)
{
    const double golden = 0.6180339887498949;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double fa = quality_at(w, a).least, fb = quality_at(w, b).least;
    for (int i = 0; i < BISECTIONS && high - low > 1e-10 * fmax(1e-3, fabs(high)); i++) {
        if (fa < fb) {
            high = b, b = a, fb = fa;
            a = high - golden * (high - low), fa = quality_at(w, a).least;
        } else {
            low = a, a = b, fa = fb;
            b = low + golden * (high - low), fb = quality_at(w, b).least;
        }
    }
    return low + (high - low) / 2;
}

static void remember(Watch *w, double t, const double *y, Quality q)
{
    if (w->known == 2) {
        double *oldest = w->y[0];
        w->y[0] = w->y[1], w->y[1] = oldest;
        w->t[0] = w->t[1], w->quality[0] = w->quality[1];
        w->known = 1;
    }
    memcpy(w->y[w->known], y, w->flow->size * sizeof *y);
    w->t[w->known] = t;
    w->quality[w->known++] = q;
}

// ---- words ---------------------------------------------------------------------------------

// Names the rows that are dependent where the stance was taken, and were not at first; false when
// the rank is what it was.
static bool name_dependent(const Watch *w, double tolerance, char *line, size_t size)
{
    const Stance *s = w->flow->stance;
    const Chart *first = w->flow->views[0]->chart;
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

// Words, where singular values below the tolerance show that the rank is another; else nothing is
// wrong but the chart.
static bool refuse(Watch *w, double t, double tolerance, tr_error *err)
{
    char names[360];
    if (!name_dependent(w, tolerance, names, sizeof names)) return true;
    w->end = t;
    tr_fail(err, TR_FAILED, (Place){0},
            "the constraints change their rank at t = %.9g: no longer independent: %s", t, names);
    return false;
}

// The quality further on, if it goes on straight; takes the stance there.
static Quality quality_ahead(Watch *w, double t, const double *y, double h)
{
    double *rate = state(w, 0), *ahead = state(w, 1);
    tr_flow_rate(w->flow, t, y, rate);
    memcpy(ahead, y, w->flow->size * sizeof *y);
    for (uint32_t k = 0; k < w->flow->positions; k++) ahead[k] += h * rate[k];
    return tr_flow_quality(w->flow, t + h, ahead);
}

// Close to where the rank changes, rounding spoils the accelerations. So a pivot that is about to
// vanish is believed: it is extrapolated from the last step, and beyond, its sign is another or it
// is smaller still.
static void look_ahead(Watch *w, double t, const double *y, Quality now)
{
    if (!w->known) return;
    const Quality last = w->quality[w->known - 1];
    const double h = now.least * (t - w->t[w->known - 1]) / (last.least - now.least);
    if (!(last.least > now.least) || !isfinite(h)) return;
    if (now.least > NEAR && h > 3 * (t - w->t[w->known - 1])) return; // not within some steps
    const Quality ahead = quality_ahead(w, t, y, 2 * h);
    const bool passes = ahead.sign != now.sign, touches = ahead.least < 0.2 * now.least;
    if (!passes && !touches) return;
    w->known = 0;
    remember(w, t, y, now);
    // by integrating, if that can be done
    const double at = passes ? bisect(w, t, t + 2 * h) : smallest(w, t, t + 4 * h);
    if (quality_at(w, at).least < TOUCHES)
        refuse(w, at, ZERO, &w->due);
    else if (passes) {
        quality_ahead(w, t, y, h);
        refuse(w, t + h, ZERO, &w->due);
    }
}

// With the end in sight it goes on until there, or as near as it gets, looking again at each step.
static bool approach(Watch *w, double t, tr_error *err)
{
    if (!w->due.status) return true;
    if (w->known && t - w->t[w->known - 1] < 1e-6 * (w->end - t)) w->last_steps++; // it crawls
    if (t >= w->end || w->last_steps > MOST_LAST_STEPS) {
        *err = w->due;
        return false;
    }
    w->due = (tr_error){0};
    return true;
}

bool tr_watch_blame(Watch *w, double t, const double *y, tr_error *err)
{
    if (!w->flow->stance) return false;
    if (w->due.status) return *err = w->due, true;
    return tr_flow_quality(w->flow, t, y).least < 1e-2 && !refuse(w, t, 1e-2, err);
}

// ---- alarms --------------------------------------------------------------------------------

// When alarm k went off, between the last known state and t
static double find_alarm(Watch *w, uint32_t k, double t)
{
    const uint32_t from = w->known - 1;
    double low = w->t[from], high = t;
    for (int i = 0; i < BISECTIONS && high - low > 1e-13 * fmax(1, fabs(high)); i++) {
        const double middle = low + (high - low) / 2;
        const double *y = go_again_from(w, from, FINE_SUBSTEPS, middle);
        tr_flow_alarms(w->flow, middle, y, w->margins);
        if (w->margins[k] < 0)
            high = middle;
        else
            low = middle;
    }
    return high;
}

// Whether an alarm that changes the run may go off now
static bool is_armed(const Watch *w, uint32_t k)
{
    const System *s = w->flow->system;
    return s->alarms[k].kind > ALARM_STOPS && tr_alarm_matters(s, k) && !w->told[k];
}

// The least margin of what may change the run, at time t after the last known state, and whose
static double least_margin(Watch *w, double t, uint32_t *which)
{
    double least = (double)INFINITY;
    const double *y = go_again_from(w, w->known - 1, FINE_SUBSTEPS, t);
    tr_flow_alarms(w->flow, t, y, w->margins);
    for (uint32_t k = 0; k < w->flow->system->alarm_count; k++)
        if (is_armed(w, k) && w->margins[k] < least) least = w->margins[k], *which = k;
    return least;
}

typedef struct Bracket {
    double low, f_low, high, f_high; // f_low >= 0 > f_high
    uint32_t which;                  // alarm is negative at `high`
} Bracket;

static void narrow(Watch *w, Bracket *b, double t)
{
    uint32_t which = b->which;
    if (!(t > b->low && t < b->high)) return;
    const double f = least_margin(w, t, &which);
    if (f < 0)
        b->high = t, b->f_high = f, b->which = which;
    else
        b->low = t, b->f_low = f;
}

// When the first alarm goes off that changes the run, by Ridders' method, up to t where one is
static double find_first(Watch *w, double t, uint32_t *alarm)
{
    Bracket b = {.low = w->t[w->known - 1], .high = t};
    const double close = 1e-13 * fmax(1, fabs(t));
    b.f_high = least_margin(w, t, &b.which);
    b.f_low = fmax(least_margin(w, b.low, alarm), 0);
    for (int i = 0; i < BISECTIONS && b.high - b.low > close; i++) {
        const Bracket was = b;
        const double middle = b.low + (b.high - b.low) / 2;
        narrow(w, &b, middle);
        const double f = b.low == middle ? b.f_low : b.f_high;
        const double size = sqrt(f * f - was.f_low * was.f_high);
        const double guess = size > 0 ? middle + (middle - was.low) * f / size : middle;
        narrow(w, &b, guess);
        narrow(w, &b, guess - close / 2);
        narrow(w, &b, guess + close / 2);
    }
    *alarm = b.which;
    return b.high;
}

static bool warn(Watch *w, double t, uint32_t k, tr_error *err)
{
    const Alarm *alarm = &w->flow->system->alarms[k];
    w->told[k] = true;
    if (alarm->kind == ALARM_STOPS) {
        w->end = t;
        tr_fail(err, TR_FAILED, (Place){0}, "%s at t = %.9g", alarm->words, t);
        return false;
    }
    if (!tr_grow((void **)&w->warnings, &w->warning_capacity, w->warning_count + 1,
                 sizeof *w->warnings))
        return tr_fail_memory(err), false;
    w->warnings[w->warning_count++] = (Warning){t, k};
    return true;
}

void tr_watch_warning(const Watch *w, uint32_t i, char *text, size_t size)
{
    const Warning *warning = &w->warnings[i];
    snprintf(text, size, "%.150s at t = %.9g", w->flow->system->alarms[warning->alarm].words,
             warning->t);
}

// Takes the state when alarm k goes off, from which the run goes on otherwise.
static bool switch_at(Watch *w, double t, uint32_t k)
{
    const uint32_t from = w->known - 1;
    memcpy(w->ending, go_again_from(w, from, FINE_SUBSTEPS, t), w->flow->size * sizeof *w->ending);
    w->switched = true, w->end = t, w->alarm = k;
    return false;
}

// After a step to (t, y). What comes before anything else that changes the run counts.
static bool check_alarms(Watch *w, double t, const double *y, tr_error *err)
{
    const System *s = w->flow->system;
    const uint32_t count = s->alarm_count;
    if (!count) return true;
    tr_flow_alarms(w->flow, t, y, w->margins);
    memcpy(w->last, w->margins, count * sizeof *w->last); // looking closer overwrites them
    double first = (double)INFINITY;
    uint32_t which = 0;
    bool any = false;
    for (uint32_t k = 0; k < count; k++) {
        if (w->last[k] >= 0) w->told[k] = false;
        if (!is_armed(w, k) || w->last[k] >= 0) continue;
        any = true;
        // from the start on: not until it has been otherwise
        if (!w->known) w->told[k] = s->alarms[k].kind != ALARM_TOUCHES;
    }
    if (any && w->known) first = find_first(w, t, &which);
    for (uint32_t k = 0; k < count; k++) {
        if (s->alarms[k].kind > ALARM_STOPS || w->last[k] >= 0 || w->told[k]) continue;
        const double at = w->known ? find_alarm(w, k, t) : t;
        if (at <= first && !warn(w, at, k, err)) return false;
    }
    return first < (double)INFINITY ? switch_at(w, first, which) : true;
}

// ---- steps ---------------------------------------------------------------------------------

// Whether the smallest pivot was smaller at the last state than at those beside it.
static bool has_dip(const Watch *w, Quality now)
{
    return w->known == 2 && w->quality[1].least < SUSPICIOUS &&
           w->quality[1].least < w->quality[0].least && w->quality[1].least <= now.least;
}

// Whether it was smallest inside the last step, though it is smaller after it than before: the
// chart may be left before the next step shows that.
static bool has_inner_dip(Watch *w, double t, Quality now)
{
    const double before = w->known ? w->quality[w->known - 1].least : 0;
    if (now.least > NEAR || now.least >= before) return false;
    const double start = w->t[w->known - 1];
    const double middle = quality_at(w, start + (t - start) / 2).least;
    return 3 * now.least - 4 * middle + before > 0; // a parabola through the three ascends at last
}

// The quality on the way from the last known state to (t, y), on a parabola through both.
static Quality quality_between(Watch *w, double t, const double *y, double part)
{
    const double *from = w->y[w->known - 1], before = w->t[w->known - 1], h = t - before;
    double *rate = state(w, 0), *z = state(w, 1);
    tr_flow_rate(w->flow, before, from, rate);
    memcpy(z, from, w->flow->size * sizeof *z);
    for (uint32_t k = 0; k < w->flow->positions; k++) {
        const double bend = y[k] - from[k] - h * rate[k];
        z[k] += part * (h * rate[k] + part * bend);
    }
    return tr_flow_quality(w->flow, before + part * h, z);
}

// Where integrating again goes astray, for the accelerations are too large there.
static bool check_between(Watch *w, double t, const double *y, tr_error *err)
{
    const int sign = w->quality[w->known - 1].sign;
    double low = 0, high = 1;
    for (int i = 0; i < BISECTIONS; i++) {
        const double middle = (low + high) / 2;
        if (quality_between(w, t, y, middle).sign == sign)
            low = middle;
        else
            high = middle;
    }
    quality_between(w, t, y, low);
    return refuse(w, w->t[w->known - 1] + low * (t - w->t[w->known - 1]), ZERO, err);
}

// Whether the rank is what it was, up to (t, now).
static bool check_rank(Watch *w, double t, const double *y, Quality now, tr_error *err)
{
    if (now.least < GONE && w->due.status) return *err = w->due, false; // it knows better when
    if (now.least < GONE) return refuse(w, t, ZERO, err);
    if (w->known && now.sign != w->quality[w->known - 1].sign) {
        const double at = bisect(w, w->t[0], t);
        quality_at(w, at);
        return refuse(w, at, ZERO, err) && check_between(w, t, y, err);
    }
    if (!has_dip(w, now) && !has_inner_dip(w, t, now)) return true;
    const double at = smallest(w, w->t[0], t);
    return quality_at(w, at).least > TOUCHES || refuse(w, at, ZERO, err);
}

static bool has_pivots(const Flow *flow)
{
    return flow->stance && flow->now->chart->partition.count;
}

bool tr_watch_start(Watch *w, double t, const double *y, tr_error *err)
{
    if (!w->flow->stance) return true;
    if (!check_alarms(w, t, y, err)) return false;
    remember(w, t, y, has_pivots(w->flow) ? tr_flow_quality(w->flow, t, y) : (Quality){0});
    return true;
}

bool tr_watch_step(Watch *w, double t, const double *y, tr_error *err)
{
    if (!w->flow->stance) return true;
    if (!check_alarms(w, t, y, err)) return false;
    if (!has_pivots(w->flow)) return remember(w, t, y, (Quality){0}), true;
    const Quality q = tr_flow_quality(w->flow, t, y);
    if (!check_rank(w, t, y, q, err) || !approach(w, t, err)) return false;
    look_ahead(w, t, y, q);
    remember(w, t, y, q);
    return true;
}

bool tr_watch_chart(Watch *w, double t, double *y, bool *changed, tr_error *err)
{
    *changed = false;
    if (!has_pivots(w->flow)) return true;
    const Quality q = tr_flow_quality(w->flow, t, y);
    if (!tr_flow_rechart(w->flow, t, y, q, changed, err)) return false;
    if (!*changed) return true;
    w->changes++, w->known = 0;
    remember(w, t, y, tr_flow_quality(w->flow, t, y));
    return true;
}
