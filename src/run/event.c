// SPDX-License-Identifier: Apache-2.0
// Comparisons of t in what the rates are made of become programs, which are sampled; where one
// differs between samples, the time is bisected to the last bit.
#include "run/event.h"

#include "expr/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 20000, MOST_EVENTS = 1000000 };

// Switches: expressions of t alone that are constant but for jumps, and the difference that makes
// them jump (0 when there is none).
typedef struct Switches {
    Expr *value, *difference; // all values, then all differences, in one array
    uint32_t count;
} Switches;

// ---- finding them in the graph -------------------------------------------------------------

static bool is_driven(const Input *input)
{
    return input->definition.id && (input->kind == TR_POSITION || is_motion_driven(input));
}

static bool is_free_of_state(const Input *input)
{
    return input->kind == TR_TIME || input->kind == TR_PARAMETER || input->kind == TR_INPUT ||
           input->kind == TR_MODE || is_driven(input);
}

// The switch that an operation is, or that stands behind its kink.
static bool as_switch(Expr x, Expr *value, Expr *difference)
{
    Graph *g = graph_of(x);
    const Expr a = operand(x, 0);
    switch (op_of(x)) {
    case OP_LESS:
    case OP_LESS_EQUAL: *value = x, *difference = sub(a, operand(x, 1)); return true;
    case OP_MIN:
    case OP_MAX: *value = less(a, operand(x, 1)), *difference = sub(a, operand(x, 1)); return true;
    case OP_ABS: *value = less(a, zero(g)), *difference = a; return true;
    case OP_FLOOR: *value = x, *difference = zero(g); return true;
    default: return false;
    }
}

// Marks what depends on the state (1) and what depends on time (2).
static void mark(const System *s, const Reach *reach, uint32_t *depends)
{
    for (uint32_t k = 0; k < reach->count; k++) {
        const uint32_t id = reach->ids[k];
        const Node *node = &s->graph->nodes[id];
        const Input *input = tr_system_input(s, expr_at(s->graph, id));
        if (input && !is_free_of_state(input))
            depends[id] = 1;
        else if (input && (input->kind == TR_TIME || is_driven(input)))
            depends[id] = 2;
        for (int i = 0; i < tr_op[node->op].operands; i++)
            depends[id] |= depends[node_operand(node, i)];
    }
}

// What the rates are made of, the motions that drive joints included.
static bool find_switches(System *s, const ChartPrograms *chart, Switches *found, tr_error *err)
{
    Exprs roots = {0};
    Expr *rates = calloc(chart->own, sizeof *rates);
    if (rates) tr_chart_rates(s, chart, rates);
    if (rates) tr_exprs_add(&roots, rates, chart->own);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].definition.id) exprs_add(&roots, s->inputs[i].definition);
    Reach reach = {0};
    uint32_t *depends = rates && !roots.failed && tr_reach(s->graph, roots.at, roots.count, &reach)
                            ? tr_reach_map(s->graph, &reach)
                            : NULL;
    if (depends) mark(s, &reach, depends);
    found->value = depends ? calloc(2 * (size_t)reach.count + 1, sizeof *found->value) : NULL;
    found->difference = found->value ? found->value + reach.count : NULL;
    for (uint32_t k = 0; found->value && k < reach.count; k++) {
        const Expr x = expr_at(s->graph, reach.ids[k]);
        if (depends[x.id] == 2 &&
            as_switch(x, &found->value[found->count], &found->difference[found->count]))
            found->count++;
    }
    if (!found->value) tr_fail_memory(err);
    free(rates);
    tr_exprs_free(&roots);
    free(depends);
    tr_reach_free(&reach);
    return found->value != NULL;
}

SwitchPrograms *tr_switch_programs_new(System *s, const ChartPrograms *chart, tr_error *err)
{
    const tr_compile_options open = {0};
    Switches found = {0};
    SwitchPrograms *w = calloc(1, sizeof *w);
    if (!w) tr_fail_memory(err);
    if (w && find_switches(s, chart, &found, err) && found.count) {
        memmove(found.value + found.count, found.difference, found.count * sizeof *found.value);
        w->count = found.count;
        w->program = tr_compile_values(s, found.value, 2 * (size_t)found.count, &open, err);
    }
    free(found.value);
    if (!has_failed(err)) return w;
    free(w);
    return NULL;
}

// ---- finding when they switch --------------------------------------------------------------

// The switches as numbers
typedef struct Scan {
    Flow *flow;
    Evaluator switches; // values, then differences
    uint32_t count;
    double *now, *then, *between; // what they were at times that are compared
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

// Samples: evenly spaced, and beside the roots of differences that are linear in t.
static uint32_t make_samples(Scan *w, double end, double *samples)
{
    uint32_t n = 0;
    for (int i = 0; i <= SAMPLES; i++) samples[n++] = i < SAMPLES ? end * i / SAMPLES : end;
    look(w, 0, w->now);
    look(w, end, w->then);
    look(w, end / 4, w->between);
    for (uint32_t k = w->count; k < 2 * w->count; k++) {
        const double a = w->now[k], b = w->then[k], root = end * a / (a - b);
        const bool linear = fabs(a + (b - a) / 4 - w->between[k]) <= 1e-12 * (fabs(a) + fabs(b));
        if (!linear || !(root > 0) || !(root < end)) continue;
        samples[n++] = root * (1 - 1e-14);
        samples[n++] = root * (1 + 1e-14);
    }
    qsort(samples, n, sizeof *samples, by_size);
    return n;
}

static bool scan(Scan *w, double end, Events *events, tr_error *err)
{
    double *samples = malloc((SAMPLES + 2 + 2 * (size_t)w->count) * sizeof *samples);
    w->now = calloc(6 * (size_t)w->count + 1, sizeof *w->now);
    if (!samples || !w->now) return free(samples), free(w->now), tr_fail_memory(err), false;
    w->then = w->now + 2 * (size_t)w->count, w->between = w->then + 2 * (size_t)w->count;
    const uint32_t n = make_samples(w, end, samples);
    bool good = true;
    for (uint32_t i = 1; good && i < n; i++)
        good = compare_interval(w, samples[i - 1], samples[i], events, err);
    free(samples);
    free(w->now);
    return good;
}

// One event where a formula and its slope jump a rounding apart: the last of them, so that all of
// it lies before.
static void sort_events(Events *events)
{
    uint32_t kept = 0;
    if (events->count) qsort(events->at, events->count, sizeof *events->at, by_size);
    for (uint32_t i = 0; i < events->count; i++) {
        const bool same = kept && events->at[i] - events->at[kept - 1] <= 4e-15 * events->at[i];
        if (!same) kept++;
        events->at[kept - 1] = events->at[i];
    }
    events->count = kept;
}

bool tr_find_events(Flow *flow, double end, Events *events, tr_error *err)
{
    *events = (Events){0};
    const SwitchPrograms *found = tr_chart_switches(flow->plan, flow->now->programs, err);
    if (!found) return false;
    Scan w = {.flow = flow, .count = found->count};
    if (found->count && end > 0) {
        w.switches = tr_evaluator_with(found->program, err);
        if (w.switches.work && scan(&w, end, events, err)) sort_events(events);
    }
    tr_evaluator_free(&w.switches);
    return !has_failed(err);
}

void tr_events_free(Events *events)
{
    free(events->at);
    *events = (Events){0};
}
