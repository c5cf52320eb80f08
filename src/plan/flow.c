// SPDX-License-Identifier: Apache-2.0
// The equation that is integrated (T82), and the chart that it is in (T65).
#include "plan/flow.h"

#include "num/dense.h"
#include "num/stage.h"
#include "plan/covariance.h"
#include "plan/sensitivity.h"
#include "plan/switch.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// For what is watched, in any chart
static size_t watch_room(const Flow *flow, const ChartPrograms *p)
{
    const System *s = flow->system;
    return (size_t)p->own + 3 * (size_t)s->alarm_count + 4 * (size_t)s->row_count + 1 +
           flow->switch_count;
}

// Whether a chart has all of its surplus rows in order, as the program that watches has them
static bool is_surplus_in_order(const Flow *flow, const Chart *chart, const WatchPlaces *at)
{
    if (!chart) return at->switches == at->surplus;
    bool good = at->switches - at->surplus == 2 * chart->surplus_count;
    for (uint32_t j = 0; good && j < chart->surplus_count; j++) {
        const uint32_t row = chart->surplus[j];
        good = row < chart->rows && (!j || chart->surplus[j - 1] < row) &&
               !flow->stance->open[row] && !is_pivot(&chart->partition, row);
    }
    return good;
}

// What is watched, once that is ready: it fits its room and the chart.
static void check_watched(const Flow *flow)
{
    const ChartPrograms *p = flow->now->programs;
    if (!p->of[CHART_WATCH]) return;
    assert(p->watched.count <= watch_room(flow, p));
    assert(is_surplus_in_order(flow, flow->now->chart, &p->watched));
}

// Goes on in this chart; `own`, where it is the run's, is taken. There may be none.
static bool adopt(Flow *flow, const Chart *chart, Chart *own, tr_error *err)
{
    enum { MOST = sizeof flow->charts / sizeof *flow->charts };
    if (flow->chart_count == MOST) { // the first is where it started, and stays
        const uint32_t old = flow->charts[1] == flow->now ? 2 : 1;
        tr_charted_free(flow->charts[old]);
        for (uint32_t i = old + 1; i < MOST; i++) flow->charts[i - 1] = flow->charts[i];
        flow->chart_count--;
    }
    Charted *charted = tr_charted_new(flow, chart, own, err);
    if (!charted) return false;
    const ChartPrograms *p = charted->programs,
                        *first = flow->charts[0] ? flow->charts[0]->programs : p;
    assert(p->footing == first->footing && p->positions == first->positions &&
           p->known == first->known && p->own == first->own); // y has one layout in all charts
    flow->charts[flow->chart_count++] = flow->now = charted;
    check_watched(flow);
    return true;
}

bool tr_flow_ready(Flow *flow, uint32_t programs, tr_error *err)
{
    if (!flow || has_failed(err)) return false;
    flow->needs |= programs;
    if (!tr_charted_ready(flow, flow->now, flow->needs, err)) return false;
    check_watched(flow);
    return true;
}

// ---- making a flow -------------------------------------------------------------------------

void tr_flow_speeds(Flow *flow, double *inputs)
{
    const System *s = flow->system;
    if (!flow->speeds.program) return;
    evaluate_into(&flow->speeds, inputs, flow->speed);
    flow->all_evaluations++;
    const uint32_t rows = flow->footing->constraints;
    for (uint32_t i = rows; i < s->row_count; i++) {
        const Input *speed = tr_system_input(s, s->rows[i].symbol);
        inputs[speed - s->inputs] = flow->speed[i - rows];
    }
    const double *inner = flow->speed + (s->row_count - rows);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_INNER) inputs[i] = *inner++;
}

// y from the inputs, but for the work
static void take_state(Flow *flow, double *y)
{
    for (uint32_t k = 0; k < flow->known; k++) y[k] = flow->inputs[flow->now->place[k]];
    for (uint32_t k = flow->known; k + 1 < flow->own; k++) y[k] = 1; // [m], more or less
}

static void find_quaternions(Flow *flow)
{
    const System *s = flow->system;
    flow->quaternion_count = 0;
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        for (uint32_t k = 0; k < flow->positions; k++)
            if (flow->now->place[k] == s->quaternions[i].position) {
                assert(k + 4 <= flow->positions &&
                       flow->now->place[k + 3] == flow->now->place[k] + 3);
                flow->quaternions[flow->quaternion_count++] = k; // the four are together
            }
}

// Sizes and room that do not depend on the chart
static bool make_room(Flow *flow, tr_error *err)
{
    const System *s = flow->system;
    const ChartPrograms *p = flow->now->programs;
    const size_t columns = (size_t)s->input_count + s->output_count + 1;
    const size_t rows = flow->footing->constraints, n = p->positions;
    const size_t touches = 2 * (size_t)s->touching_count; // two residuals of tangency each
    const size_t most = (size_t)s->row_count + s->quaternion_count + touches;
    flow->positions = p->positions, flow->known = p->known;
    flow->own = flow->size = p->own;
    assert(p->positions <= p->known && p->known < p->own);  // positions, velocities, gaps, the work
    assert(p->own <= s->input_count + s->latch_count + 1u); // `start` has room for them
    flow->holonomic = p->holonomic;
    flow->labels = malloc(columns * sizeof *flow->labels);
    flow->column = calloc(columns, sizeof *flow->column);
    flow->residual = calloc(3 * rows + touches + 1, sizeof *flow->residual);
    flow->largest = calloc(rows + 1, sizeof *flow->largest);
    flow->correction = calloc(most * (n + most + 1) + 1, sizeof *flow->correction);
    flow->filled = calloc(n + 1, sizeof *flow->filled);
    const size_t inputs = (size_t)s->input_count + flow->switch_count;
    Watched *w = &flow->watched;
    w->y = calloc(p->known + inputs + watch_room(flow, p) + 1, sizeof *w->y);
    if (!w->y) return tr_fail_memory(err), false;
    w->others = w->y + p->known, w->values = w->others + inputs;
    if (!flow->labels || !flow->column || !flow->residual || !flow->largest || !flow->correction ||
        !flow->filled)
        return tr_fail_memory(err), false;
    Exprs unused = {0};
    tr_chart_columns(s, &unused, flow->labels);
    flow->column_count = unused.count;
    const bool good = !unused.failed;
    tr_exprs_free(&unused);
    return good || (tr_fail_memory(err), false);
}

// Where it stands, if there are constraints; the chart that fits, unless it is known
static bool stand(Flow *flow, const Chart **chart, Chart **own, tr_error *err)
{
    const System *s = flow->system;
    if (!s->row_count) return true;
    flow->stance = tr_stance_new(s, flow->footing, err);
    flow->speeds = tr_evaluator_with(flow->footing->speeds, err);
    flow->speed = calloc((size_t)s->row_count + s->input_count + 1, sizeof *flow->speed);
    if (!flow->speed) tr_fail_memory(err);
    flow->all_evaluations++;   // by the stance
    const bool goes_on = *own; // it was there before, finite or not
    if (!has_failed(err) && !tr_stance_take(flow->stance, flow->inputs) && !goes_on)
        tr_fail(err, TR_FAILED, (Place){0}, "a constraint or a mass is not finite at the start");
    if (has_failed(err)) return false;
    if (!*chart) *chart = *own = tr_chart_new(flow->stance, err);
    if (!*chart) return false;
    tr_flow_speeds(flow, flow->inputs);
    return true;
}

// In this chart, where there is one; `own` is taken.
static bool begin(Flow *flow, const Chart *chart, Chart *own, tr_error *err)
{
    flow->footing = tr_plan_footing(flow->plan, flow->modes, flow->inputs, err);
    if (!flow->footing || !stand(flow, &chart, &own, err)) return tr_chart_free(own), false;
    if (!adopt(flow, chart, own, err) || !make_room(flow, err)) return false;
    find_quaternions(flow);
    take_state(flow, flow->start);
    return true;
}

static Flow *make_flow(Plan *plan, const LatchMode *modes, const double *inputs, const Chart *chart,
                       Chart *own, tr_error *err)
{
    const System *s = plan->system;
    Flow *flow = calloc(1, sizeof *flow);
    if (flow) {
        flow->plan = plan, flow->system = s;
        flow->earliest = -(double)INFINITY, flow->latest = (double)INFINITY;
        flow->switch_count = tr_plan_switch_count(plan);
        flow->inputs =
            calloc(s->input_count + 2 * (size_t)flow->switch_count + 1, sizeof *flow->inputs);
        flow->sides = flow->inputs ? flow->inputs + s->input_count : NULL;
        flow->kept = flow->inputs ? flow->sides + flow->switch_count : NULL;
        flow->start = calloc(s->input_count + s->latch_count + 1u, sizeof *flow->start);
        flow->marks = calloc(s->input_count + 1u, sizeof *flow->marks);
        flow->modes = calloc(s->latch_count + 1u, sizeof *flow->modes);
        flow->quaternions = malloc((s->quaternion_count + 1) * sizeof *flow->quaternions);
    }
    if (!flow || !flow->inputs || !flow->start || !flow->marks || !flow->modes ||
        !flow->quaternions)
        tr_fail_memory(err);
    else {
        memcpy(flow->inputs, inputs, s->input_count * sizeof *inputs);
        if (s->latch_count) memcpy(flow->modes, modes, s->latch_count * sizeof *modes);
        tr_latch_put(s, flow->modes, flow->inputs);
        if (begin(flow, chart, own, err)) return flow;
        own = NULL;
    }
    tr_chart_free(own);
    tr_flow_free(flow);
    return NULL;
}

Flow *tr_flow_from(Plan *plan, const LatchMode *modes, const double *inputs, const Chart *chart,
                   tr_error *err)
{
    if (!plan || has_failed(err)) return NULL;
    return make_flow(plan, modes, inputs, chart, NULL, err);
}

Flow *tr_flow_in(Plan *plan, const LatchMode *modes, const double *inputs, Chart *own,
                 tr_error *err)
{
    return make_flow(plan, modes, inputs, own, own, err);
}

System *tr_flow_system(const Flow *flow, tr_error *err)
{
    return tr_plan_system(flow->plan, flow->footing, &flow->now->programs->partition, err);
}

void tr_flow_restart(Flow *flow, const double *inputs)
{
    memcpy(flow->inputs, inputs, flow->system->input_count * sizeof *inputs);
    tr_latch_put(flow->system, flow->modes, flow->inputs);
    tr_flow_speeds(flow, flow->inputs);
    take_state(flow, flow->start);
}

void tr_flow_free(Flow *flow)
{
    if (!flow) return;
    for (uint32_t i = 0; i < flow->chart_count; i++) tr_charted_free(flow->charts[i]);
    tr_stance_free(flow->stance);
    tr_sensitivity_run_free(flow->sensitivity);
    tr_covariance_free(flow->covariance);
    tr_evaluator_free(&flow->speeds);
    free(flow->inputs);
    free(flow->start);
    free(flow->marks);
    free(flow->modes);
    free(flow->quaternions);
    free(flow->labels);
    free(flow->column);
    free(flow->speed);
    free(flow->residual);
    free(flow->largest);
    free(flow->correction);
    free(flow->filled);
    free(flow->watched.y);
    free(flow);
}

// ---- changing charts -----------------------------------------------------------------------

// A chart that is bad is left for one that is better by a margin.
#define TILT_GOOD 10
#define TILT_HOME 5 // that velocities the model prefers come back

Quality tr_flow_quality(Flow *flow, double t, const double *y)
{
    return tr_flow_quality_in(flow, tr_flow_watch(flow, t, y));
}

Quality tr_flow_quality_in(const Flow *flow, const double *seen)
{
    const WatchPlaces *at = &flow->now->programs->watched;
    return tr_chart_watched(flow->now->chart, flow->stance, seen + at->squares, seen + at->pivots,
                            seen[at->tilt]);
}

bool tr_flow_stand(Flow *flow, double t, const double *y)
{
    tr_flow_fill(flow, t, y);
    flow->all_evaluations++;
    return tr_stance_take(flow->stance, flow->inputs);
}

static bool is_better(Quality q, Quality than)
{
    if (than.least < PIVOT_BAD)
        return q.least > 2 * than.least && q.tilt < fmax(TILT_BAD, than.tilt);
    return q.tilt < TILT_GOOD && q.least > PIVOT_BAD;
}

// Goes on at (t, y) in a chart that is known, or else in this new one.
static bool go_on_in(Flow *flow, Charted *known, Chart *chart, double t, double *y, tr_error *err)
{
    tr_sensitivity_leave(flow, t, y);
    tr_covariance_leave(flow, t, y);
    tr_flow_fill_all(flow, t, y);
    tr_flow_forget(flow);
    if (known) {
        tr_charted_renew(known, chart); // so that nothing depends on when it was left
        flow->now = known;
        if (!tr_flow_ready(flow, flow->needs, err)) return false;
    } else if (!adopt(flow, chart, chart, err))
        return false;
    take_state(flow, y);
    tr_sensitivity_enter(flow, y);
    return tr_covariance_enter(flow, y, err);
}

bool tr_flow_rechart(Flow *flow, double t, double *y, Quality quality, bool *changed, tr_error *err)
{
    const Chart *present = flow->now->chart;
    *changed = false;
    const bool bad = !IS_CHART_GOOD(quality.tilt, quality.least);
    if (!bad && flow->now->preferred == flow->stance->preferred) return true;
    if (!tr_flow_stand(flow, t, y)) {
        tr_fail(err, TR_FAILED, (Place){0}, "the constraints are not finite at t = %.6g", t);
        return false;
    }
    if (tr_chart_stays(present, flow->stance, err)) return true; // ranks take much longer
    Chart *chart = tr_chart_new(flow->stance, err);
    if (!chart) return false;
    const Quality q = tr_chart_quality(chart, flow->stance);
    const bool better =
        chart->m_locked == present->m_locked &&
        chart->partition.count == present->partition.count && // else y would have another length
        (bad ? is_better(q, quality)
             : tr_chart_preferred(chart) > flow->now->preferred && q.tilt < TILT_HOME);
    Charted *known = NULL;
    for (uint32_t i = 0; i < flow->chart_count; i++)
        if (tr_chart_equal(flow->charts[i]->chart, chart)) known = flow->charts[i];
    *changed = better && known != flow->now;
    if (!*changed) tr_chart_free(chart);
    return !*changed || go_on_in(flow, known, chart, t, y, err);
}

// ---- evaluation ----------------------------------------------------------------------------

// Time is the first input of every system that moves.
static void fill_at(Flow *flow, double t, const double *y)
{
    double *inputs = flow->inputs;
    const uint32_t *place = flow->now->place, known = flow->known;
    inputs[0] = t;
    for (uint32_t k = 0; k < known; k++) inputs[place[k]] = y[k];
}

void tr_flow_fill(Flow *flow, double t, const double *y)
{
    fill_at(flow, tr_flow_time(flow, t), y);
}

// A step tries states beyond a switch before its crossing is found: where the side that is kept has
// no number there, formulas are as they say (T123).
static void rate_as_said(Flow *flow, double *rate)
{
    const size_t size = flow->switch_count * sizeof *flow->sides;
    memcpy(flow->kept, flow->sides, size);
    memset(flow->sides, 0, size);
    tr_flow_evaluate(flow, flow_program(flow, CHART_RATES), rate);
    memcpy(flow->sides, flow->kept, size);
}

void tr_flow_rate(Flow *flow, double t, const double *y, double *rate)
{
    tr_flow_fill(flow, t, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_RATES), rate);
    if (flow->switch_count && !all_finite(rate, flow->own)) rate_as_said(flow, rate);
    if (flow->sensitivity) tr_sensitivity_rate(flow, y, rate);
    if (flow->covariance) tr_covariance_rate(flow, y, rate);
    flow->evaluations++;
}

// To the bit: 1/0 is not 1/-0
static bool are_same(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

static bool are_seen(const Flow *flow, const Watched *w, double t, const double *y)
{
    const WatchPlaces *at = &flow->now->programs->watched;
    bool same = w->in == flow->now && are_same(&w->t, &t, 1) && are_same(w->y, y, flow->known);
    for (uint32_t i = 0; same && i < at->other_count; i++)
        same = are_same(&w->others[i], &flow->inputs[at->others[i]], 1);
    return same;
}

static void keep_inputs(const Flow *flow, Watched *w, double t, const double *y)
{
    const WatchPlaces *at = &flow->now->programs->watched;
    w->in = flow->now, w->t = t;
    memcpy(w->y, y, flow->known * sizeof *y);
    for (uint32_t i = 0; i < at->other_count; i++) w->others[i] = flow->inputs[at->others[i]];
}

const double *tr_flow_watch(Flow *flow, double t, const double *y)
{
    Watched *w = &flow->watched;
    const double at = tr_flow_time(flow, t);
    if (are_seen(flow, w, at, y)) return w->values;
    fill_at(flow, at, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_WATCH), w->values);
    keep_inputs(flow, w, at, y);
    return w->values;
}

void tr_flow_forget(Flow *flow) { flow->watched.in = NULL; }

void tr_flow_first_rate(Flow *flow, double t, const double *y, double *rate)
{
    if (!flow_program(flow, CHART_WATCH)->program) {
        tr_flow_rate(flow, t, y, rate);
        return;
    }
    memcpy(rate, tr_flow_watch(flow, t, y), flow->own * sizeof *rate);
    if (flow->sensitivity || flow->covariance) tr_flow_fill(flow, t, y);
    if (flow->sensitivity) tr_sensitivity_rate(flow, y, rate);
    if (flow->covariance) tr_covariance_rate(flow, y, rate);
    flow->evaluations++;
}

void tr_flow_step(Flow *flow, double t, double h, double *y, double *room)
{
    const size_t size = flow->size;
    double *k1 = room, *k2 = k1 + size, *k3 = k2 + size, *k4 = k3 + size, *z = k4 + size;
    tr_flow_first_rate(flow, t, y, k1);
    tr_move_along(y, h / 2, k1, z, size);
    tr_flow_rate(flow, t + h / 2, z, k2);
    tr_move_along(y, h / 2, k2, z, size);
    tr_flow_rate(flow, t + h / 2, z, k3);
    tr_move_along(y, h, k3, z, size);
    tr_flow_rate(flow, t + h, z, k4);
    tr_move_by_four(y, h, k1, size);
}

bool tr_flow_is_watched(const Flow *flow)
{
    return flow->stance || flow->switch_count || tr_system_is_watched(flow->system);
}

const double *tr_flow_site(Flow *flow, double t, const double *y, uint32_t alarm)
{
    const double *seen = tr_flow_watch(flow, t, y) + flow->now->programs->watched.sites;
    for (uint32_t i = 0; i < alarm; i++) seen += flow->system->alarms[i].place_count;
    return seen;
}

void tr_flow_alarms(Flow *flow, double t, const double *y, double *margins)
{
    const double *seen = tr_flow_watch(flow, t, y) + flow->now->programs->watched.alarms;
    memcpy(margins, seen, flow->system->alarm_count * sizeof *margins);
}

const double *tr_flow_switches(Flow *flow, double t, const double *y)
{
    return tr_flow_watch(flow, t, y) + flow->now->programs->watched.switches;
}

void tr_flow_sides(Flow *flow, double t, const double *y, double *sides)
{
    tr_flow_fill(flow, t, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_SIDES), sides);
}

void tr_flow_fill_all(Flow *flow, double t, const double *y)
{
    tr_flow_fill_row(flow, tr_flow_time(flow, t), y);
}

void tr_flow_fill_row(Flow *flow, double t, const double *y)
{
    const System *s = flow->system;
    uint32_t column = 0;
    tr_flow_columns(flow, t, y, flow->column);
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++)
            if ((int)s->inputs[i].kind == kind) flow->inputs[i] = flow->column[column++];
    tr_flow_speeds(flow, flow->inputs);
}

void tr_flow_columns(Flow *flow, double t, const double *y, double *columns)
{
    fill_at(flow, fmax(t, flow->earliest), y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_COLUMNS), columns);
    for (uint32_t i = 0; i < flow->column_count; i++) columns[i] += 0.0; // -0 is 0
}

void tr_flow_samples(Flow *flow, double t, const double *y, double *values)
{
    const Output *samples = tr_system_output(flow->system, text_of("samples"));
    fill_at(flow, fmax(t, flow->earliest), y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_SAMPLES), values);
    const uint32_t count = flow->column_count + samples->rows;
    for (uint32_t i = 0; i < count; i++) values[i] += 0.0; // -0 is 0
}

// ---- residuals -----------------------------------------------------------------------------

static void evaluate_residuals(Flow *flow, double t, const double *y)
{
    tr_flow_fill(flow, t, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_RESIDUALS), flow->residual);
}

void tr_flow_residual(Flow *flow, double t, const double *y, double *position, double *velocity)
{
    *position = *velocity = 0;
    for (uint32_t i = 0; i < flow->quaternion_count; i++)
        *position = larger(*position, fabs(tr_quaternion_size(y + flow->quaternions[i]) - 1));
    if (!flow_program(flow, CHART_RESIDUALS)->program) return;
    evaluate_residuals(flow, t, y);
    for (uint32_t i = 0; i < flow->holonomic; i++)
        *position = larger(*position, fabs(flow->residual[i]));
    for (uint32_t i = 0; i < flow->now->chart->rows; i++)
        *velocity = larger(*velocity, fabs(flow->residual[flow->holonomic + i]));
}

bool tr_flow_agrees(Flow *flow, double t, const double *y, tr_error *err)
{
    const Chart *chart = flow->now->chart;
    if (!chart || !chart->surplus_count) return true;
    const double *seen = tr_flow_watch(flow, t, y) + flow->now->programs->watched.surplus;
    for (uint32_t j = 0; j < chart->surplus_count; j++) {
        const uint32_t row = chart->surplus[j];
        const double off = fabs(seen[2 * j]);
        flow->largest[row] = larger(flow->largest[row], seen[2 * j + 1]);
        if (!tr_chart_agrees(chart, j, off, flow->largest[row], t, err)) return false;
    }
    return true;
}
