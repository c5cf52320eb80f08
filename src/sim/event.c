// SPDX-License-Identifier: Apache-2.0
// Comparisons of t in what the rates are made of become programs, and bounds on what they are while
// t is in an interval (T122). An interval is done with when every switch is proved to stay what it
// is there, or to change no more than once, for what it compares only rises or only falls; else it
// is halved. Times of changes are bisected to the last bit. Where the work for a window is used up,
// the rest of it is sampled, and that is told.
#include "sim/event.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TICKS = 20000, // of a run that has an end
    WINDOW = 1000, // ticks that are looked at together
    MOST_EVENTS = 1000000,
    MOST_HALVINGS = 1 << 14, // of a window
    FEW_HALVINGS = 1 << 10,  // once that was not enough
    MORE_HALVINGS = 16,      // for each event
    MOST_DEPTH = 80          // of halvings: a double has fewer bits, but beside 0
};
#define SPACING 5e-4 // of ticks, when the end is not known [s]

// ---- finding when they switch --------------------------------------------------------------

// The switches as numbers and as bounds
typedef struct Scan {
    Flow *flow; // whose inputs they take
    const JumpPrograms *jumps;
    Evaluator switches;
    uint32_t count;
    double *now, *then; // what they were at times that are compared
    Bound *room, *bounds, *beside;
    double end;
    uint64_t done; // ticks
    double from;   // of the first time that could not be proved to be without a jump; else infinite
    uint32_t which;
    uint32_t halvings; // that are left
} Scan;

static void look(Scan *w, double t, double *out)
{
    w->flow->inputs[0] = t;
    tr_flow_evaluate(w->flow, &w->switches, out);
}

static bool add_event(Events *events, double t, tr_error *err)
{
    if (events->count && events->at[events->count - 1] == t) return true;
    if (events->count == MOST_EVENTS) {
        tr_fail(err, TR_FAILED, (Place){0}, "formulas of t jump more than %d times", MOST_EVENTS);
        return false;
    }
    uint32_t capacity = events->capacity;
    if (!tr_grow((void **)&events->at, &capacity, events->count + 1, sizeof *events->at) ||
        !tr_grow((void **)&events->beyond, &events->capacity, events->count + 1, sizeof(double)))
        return tr_fail_memory(err), false;
    events->at[events->count] = events->beyond[events->count] = t;
    events->count++;
    return true;
}

// The number of fewest bits between two times, or the later one where there is none. What is
// halved there comes to the same parts and times wherever it begins and ends, also where rounding
// beside a change leads to and fro.
static double roundest(double low, double high)
{
    double grid = ldexp(1, ilogb(high - low)); // coarser ones have no other multiples in between
    for (int i = 0; i < 2; i++, grid /= 2) {
        const double first = floor(low / grid) + 1, last = ceil(high / grid) - 1;
        const double found = grid * (first < last && fmod(first, 2) != 0 ? last : first);
        if (first <= last && found > low && found < high) return found;
    }
    return high;
}

// The first double at which switch k is no longer what it was at `low`, as far as it changes once
static double bisect(Scan *w, uint32_t k, double low, double high, double before)
{
    for (;;) {
        const double middle = roundest(low, high);
        if (middle >= high) return high;
        look(w, middle, w->then);
        if (w->then[k] == before)
            low = middle;
        else
            high = middle;
    }
}

static bool compare_ends(Scan *w, double low, double high, Events *events, tr_error *err)
{
    look(w, low, w->now);
    look(w, high, w->then);
    for (uint32_t k = 0; k < w->count; k++) {
        if (w->then[k] == w->now[k]) continue;
        if (!add_event(events, bisect(w, k, low, high, w->now[k]), err)) return false;
        look(w, high, w->then); // again, for the switches that follow
    }
    return true;
}

// ---- proofs --------------------------------------------------------------------------------

static double width(Interval x) { return x.high - x.low; }
static bool is_whole(Interval x) { return x.low == x.high; }
static double steepness(Interval slope) { return fmax(fabs(slope.low), fabs(slope.high)); }
static bool excludes_zero(Interval x) { return x.low > 0 || x.high < 0; }

// Whether what a switch compares does not vanish: d(t) = d(middle) + d' (t - middle), and d as it
// is computed lies as near to d as it does in the middle.
static bool stays_apart(Interval middle, Interval slope, double half)
{
    const double reach = steepness(slope) * half * (1 + 1e-15) + 2 * width(middle);
    return middle.low > reach || middle.high < -reach;
}

// Whether a switch changes at most once in an interval, as `bounds` say, or as far as doubles can
// tell.
static bool is_settled(Scan *w, uint32_t k, double low, double high, bool *looked)
{
    const Bound value = w->bounds[k], difference = w->bounds[w->count + k];
    if (is_whole(value.value)) return true;
    const bool once = !w->jumps->rounds[k] || width(value.value) <= 1;
    if (excludes_zero(difference.slope) && once) return true;
    const double middle = low + (high - low) / 2;
    if (!*looked)
        tr_bounds_take(w->jumps->bounds, w->flow->inputs, (Interval){middle, middle}, w->room,
                       w->beside);
    *looked = true;
    const Interval here = w->beside[w->count + k].value;
    if (!w->jumps->rounds[k] && stays_apart(here, difference.slope, (high - low) / 2)) return true;
    const double change = fmin(width(difference.value), steepness(difference.slope) * (high - low));
    return once && change <= 4 * width(here); // rounding is all that is left
}

// Whether every switch changes at most once; `changes` when one may.
static bool are_settled(Scan *w, double low, double high, bool *changes)
{
    bool looked = false;
    *changes = false;
    tr_bounds_take(w->jumps->bounds, w->flow->inputs, (Interval){low, high}, w->room, w->bounds);
    for (uint32_t k = 0; k < w->count; k++) {
        if (is_whole(w->bounds[k].value)) continue;
        *changes = true;
        if (is_settled(w, k, low, high, &looked)) continue;
        w->which = k;
        return nextafter(nextafter(low, high), high) >= high;
    }
    return true;
}

// What is left of a window, without proof
static bool sample(Scan *w, double low, double end, Events *events, tr_error *err)
{
    const double spacing = isfinite(w->end) ? w->end / TICKS : SPACING;
    w->from = fmin(w->from, low);
    while (low < end) {
        const double high = fmin(low + spacing, end);
        if (!compare_ends(w, low, high, events, err)) return false;
        low = high;
    }
    return true;
}

static bool scan_interval(Scan *w, double low, double end, Events *events, tr_error *err)
{
    double ends[MOST_DEPTH];
    int depth = 0;
    ends[depth++] = end;
    while (depth) {
        const double high = ends[depth - 1], middle = roundest(low, high);
        bool changes;
        if (are_settled(w, low, high, &changes) || depth == MOST_DEPTH) {
            const uint32_t before = events->count;
            if (changes && !compare_ends(w, low, high, events, err)) return false;
            w->halvings += MORE_HALVINGS * (events->count - before);
            low = high, depth--;
        } else if (!w->halvings)
            return sample(w, low, end, events, err);
        else
            ends[depth++] = middle, w->halvings--;
    }
    return true;
}

// ---- windows -------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double tick(const Scan *w, uint64_t i)
{
    if (!isfinite(w->end)) return (double)i * SPACING;
    return i < TICKS ? w->end * (double)i / TICKS : w->end;
}

// One event where a formula and its slope jump a rounding apart. Those before the `first` are in
// order already.
static void sort_events(Events *events, uint32_t first)
{
    uint32_t kept = first;
    if (events->count > first)
        qsort(events->at + first, events->count - first, sizeof *events->at, by_size);
    for (uint32_t i = first; i < events->count; i++) {
        const double t = events->at[i];
        const bool same = kept && t - events->beyond[kept - 1] <= 4e-15 * t;
        if (!same) events->at[kept++] = t;
        events->beyond[kept - 1] = t;
    }
    events->count = kept;
}

static bool scan_window(Events *events, tr_error *err)
{
    Scan *w = events->scan;
    const uint32_t first = events->count;
    w->halvings = isfinite(w->from) ? FEW_HALVINGS : MOST_HALVINGS;
    if (!scan_interval(w, tick(w, w->done), tick(w, w->done + WINDOW), events, err)) return false;
    sort_events(events, first);
    w->done += WINDOW;
    // the next window may have another event a rounding behind the end of this one
    events->until = isfinite(w->end) && w->done >= TICKS ? w->end : tick(w, w->done - 1);
    return true;
}

bool tr_events_extend(Events *events, Flow *flow, double until, tr_error *err)
{
    Scan *w = events->scan;
    if (has_failed(err)) return false;
    if (!w) return true;
    w->flow = flow;
    while (events->until < fmin(until, w->end))
        if (!scan_window(events, err)) return false;
    return true;
}

bool tr_events_doubt(const Events *events, char *text, size_t size)
{
    const Scan *w = events->scan;
    text[0] = 0;
    if (!w || !isfinite(w->from)) return false;
    const char *formula = w->jumps->words[w->which];
    snprintf(
        text, size,
        "jumps in t%s%.60s%s were sought by samples from t = %.6g on: that none was missed could "
        "not be proved",
        formula[0] ? " of '" : "", formula, formula[0] ? "'" : "", w->from);
    return true;
}

// ---- making and dropping them --------------------------------------------------------------

static Scan *new_scan(const JumpPrograms *found, double end, tr_error *err)
{
    Scan *w = calloc(1, sizeof *w);
    if (!w) return tr_fail_memory(err), NULL;
    *w = (Scan){.jumps = found, .count = found->count, .end = end, .from = (double)INFINITY};
    w->switches = tr_evaluator_with(found->program, err);
    w->now = calloc(2 * (size_t)w->count + 1, sizeof *w->now);
    w->room = calloc(tr_bounds_size(found->bounds) + 4 * (size_t)w->count + 1, sizeof *w->room);
    if (!w->now || !w->room) return tr_fail_memory(err), w;
    w->then = w->now + w->count;
    w->bounds = w->room + tr_bounds_size(found->bounds), w->beside = w->bounds + 2 * w->count;
    return w;
}

// The first tick of the window that a time is in
static uint64_t window_of(const Scan *w, double t)
{
    const double spacing = isfinite(w->end) ? w->end / TICKS : SPACING;
    const double i = floor((floor(t / spacing) - 1) / WINDOW) * WINDOW;
    return i > 0 ? (uint64_t)fmin(i, isfinite(w->end) ? TICKS : 1e18) : 0;
}

bool tr_events_begin(Events *events, const Flow *flow, double from, double end, tr_error *err)
{
    *events = (Events){0};
    const JumpPrograms *found = tr_chart_jumps(flow->plan, flow->now->programs, err);
    if (!found) return false;
    events->uses_inputs = found->uses_inputs, events->strikes = found->strikes;
    if (found->count && end > from) {
        events->scan = new_scan(found, end, err);
        if (has_failed(err)) return false;
        events->scan->done = window_of(events->scan, from);
        events->until = tick(events->scan, events->scan->done);
    } else
        events->until = (double)INFINITY; // there are none
    return !has_failed(err);
}

void tr_events_drop(Events *events, uint32_t count)
{
    events->count -= count;
    if (!events->count) return;
    memmove(events->at, events->at + count, events->count * sizeof *events->at);
    memmove(events->beyond, events->beyond + count, events->count * sizeof *events->beyond);
}

void tr_events_free(Events *events)
{
    Scan *w = events->scan;
    if (w) {
        tr_evaluator_free(&w->switches);
        free(w->now);
        free(w->room);
        free(w);
    }
    free(events->at);
    free(events->beyond);
    *events = (Events){0};
}
