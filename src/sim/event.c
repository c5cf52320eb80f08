// SPDX-License-Identifier: Apache-2.0
// Comparisons of t in what the rates are made of become programs, which are sampled; where one
// differs between samples, the time is bisected to the last bit.
#include "sim/event.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 20000, WINDOW = 1000, MOST_EVENTS = 1000000 };
#define SPACING 5e-4 // of samples, when the end is not known [s]

// ---- finding when they switch --------------------------------------------------------------

// The switches as numbers
typedef struct Scan {
    Flow *flow;         // whose inputs they take
    Evaluator switches; // values, then differences
    uint32_t count;
    double *now, *then, *between; // what they were at times that are compared
    double *samples;              // of a window
    double end;
    uint64_t done; // samples
} Scan;

static void look(Scan *w, double t, double *out)
{
    w->flow->inputs[0] = t;
    tr_flow_evaluate(w->flow, &w->switches, out);
}

static bool add_event(Events *events, double t, tr_error *err)
{
    if (events->count && events->at[events->count - 1] == t) return true;
    if (events->count == MOST_EVENTS ||
        !tr_grow((void **)&events->at, &events->capacity, events->count + 1, sizeof *events->at)) {
        if (events->count == MOST_EVENTS)
            tr_fail(err, TR_FAILED, (Place){0}, "formulas of t jump more than %d times",
                    MOST_EVENTS);
        tr_fail_memory(err);
        return false;
    }
    events->at[events->count++] = t;
    return true;
}

// The first double at which switch k is no longer what it was at `low`.
static double bisect(Scan *w, uint32_t k, double low, double high, double before)
{
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) return high;
        look(w, middle, w->then);
        if (w->then[k] == before)
            low = middle;
        else
            high = middle;
    }
}

static bool compare_interval(Scan *w, double low, double high, Events *events, tr_error *err)
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

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double sample_time(const Scan *w, uint64_t i)
{
    if (!isfinite(w->end)) return (double)i * SPACING;
    return i < SAMPLES ? w->end * (double)i / SAMPLES : w->end;
}

// Samples of the next window: evenly spaced, and beside the roots of differences that are linear in
// t.
static uint32_t make_samples(Scan *w)
{
    uint32_t n = 0;
    for (; n <= WINDOW; n++) w->samples[n] = sample_time(w, w->done + n);
    const double start = w->samples[0], end = w->samples[WINDOW], length = end - start;
    look(w, start, w->now);
    look(w, end, w->then);
    look(w, start + length / 4, w->between);
    for (uint32_t k = w->count; k < 2 * w->count; k++) {
        const double a = w->now[k], b = w->then[k], root = start + length * a / (a - b);
        const bool linear = fabs(a + (b - a) / 4 - w->between[k]) <= 1e-12 * (fabs(a) + fabs(b));
        if (!linear || !(root > start) || !(root < end)) continue;
        w->samples[n++] = fmax(root * (1 - 1e-14), start);
        w->samples[n++] = fmin(root * (1 + 1e-14), end);
    }
    qsort(w->samples, n, sizeof *w->samples, by_size);
    return n;
}

// One event where a formula and its slope jump a rounding apart: the last of them, so that all of
// it lies before. Those before the `first` are in order already.
static void sort_events(Events *events, uint32_t first)
{
    uint32_t kept = first;
    if (events->count > first)
        qsort(events->at + first, events->count - first, sizeof *events->at, by_size);
    for (uint32_t i = first; i < events->count; i++) {
        const bool same = kept && events->at[i] - events->at[kept - 1] <= 4e-15 * events->at[i];
        if (!same) kept++;
        events->at[kept - 1] = events->at[i];
    }
    events->count = kept;
}

static bool scan_window(Events *events, tr_error *err)
{
    Scan *w = events->scan;
    const uint32_t n = make_samples(w), first = events->count;
    for (uint32_t i = 1; i < n; i++)
        if (!compare_interval(w, w->samples[i - 1], w->samples[i], events, err)) return false;
    sort_events(events, first);
    w->done += WINDOW;
    // the next window may have another event a rounding behind the end of this one
    events->until = isfinite(w->end) && w->done >= SAMPLES ? w->end : sample_time(w, w->done - 1);
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

// ---- making and dropping them --------------------------------------------------------------

static Scan *new_scan(const JumpPrograms *found, double end, tr_error *err)
{
    Scan *w = calloc(1, sizeof *w);
    if (!w) return tr_fail_memory(err), NULL;
    *w = (Scan){.count = found->count, .end = end};
    w->switches = tr_evaluator_with(found->program, err);
    w->now = calloc(6 * (size_t)w->count + 1, sizeof *w->now);
    w->samples = calloc(WINDOW + 1 + 2 * (size_t)w->count, sizeof *w->samples);
    if (!w->now || !w->samples) return tr_fail_memory(err), w;
    w->then = w->now + 2 * (size_t)w->count, w->between = w->then + 2 * (size_t)w->count;
    return w;
}

// The last sample before a time, or the first of all
static uint64_t sample_before(const Scan *w, double t)
{
    const double spacing = isfinite(w->end) ? w->end / SAMPLES : SPACING;
    const double i = floor(t / spacing) - 1;
    return i > 0 ? (uint64_t)fmin(i, isfinite(w->end) ? SAMPLES : 1e18) : 0;
}

bool tr_events_begin(Events *events, const Flow *flow, double from, double end, tr_error *err)
{
    *events = (Events){0};
    const JumpPrograms *found = tr_chart_jumps(flow->plan, flow->now->programs, err);
    if (!found) return false;
    events->uses_inputs = found->uses_inputs;
    if (found->count && end > from) {
        events->scan = new_scan(found, end, err);
        if (has_failed(err)) return false;
        events->scan->done = sample_before(events->scan, from);
        events->until = sample_time(events->scan, events->scan->done);
    } else
        events->until = (double)INFINITY; // there are none
    return !has_failed(err);
}

void tr_events_drop(Events *events, uint32_t count)
{
    events->count -= count;
    if (events->count) memmove(events->at, events->at + count, events->count * sizeof *events->at);
}

void tr_events_free(Events *events)
{
    Scan *w = events->scan;
    if (w) {
        tr_evaluator_free(&w->switches);
        free(w->now);
        free(w->samples);
        free(w);
    }
    free(events->at);
    *events = (Events){0};
}
