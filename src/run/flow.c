// SPDX-License-Identifier: Apache-2.0
// Rates, charts and projection of the equation that is integrated (T65, T82, T83, T110).
#include "run/flow.h"

#include "expr/derivative.h"
#include "run/doctor.h"
#include "run/jacobian.h"
#include "run/kkt.h"
#include "run/latch.h"
#include "run/sensitivity.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- programs ------------------------------------------------------------------------------

static void find_places(Flow *flow, View *view)
{
    const System *s = flow->system;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && !s->inputs[i].definition.id)
            view->place[count++] = i;
    flow->positions = count;
    count += tr_independent(s, view->place + count);
    flow->known = count;
    uint32_t own = count + 1; // and the work
    for (uint32_t i = 0; i < s->latch_count; i++) own += s->latches[i].is_open;
    if (!flow->own) flow->size = own;
    flow->own = own;
}

static void find_quaternions(Flow *flow)
{
    const System *s = flow->system;
    flow->quaternion_count = 0;
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        for (uint32_t k = 0; k < flow->positions; k++)
            if (flow->now->place[k] == s->quaternions[i].position)
                flow->quaternions[flow->quaternion_count++] = k;
}

static tr_program *compiled(System *s, const char *name, const Expr *values, uint32_t count,
                            tr_error *err)
{
    const tr_compile_options fixed = {.fix_parameters = true};
    if (!has_failed(err)) tr_system_put(s, name, values, count, 1, err);
    return tr_compile(s, name, &fixed, err);
}

void tr_flow_rate_formulas(const Flow *flow, const View *view, Expr *rates)
{
    System *s = flow->system;
    const Output *power = tr_system_output(s, text_of("power"));
    uint32_t count = flow->known;
    for (uint32_t k = 0; k < count; k++) rates[k] = s->inputs[view->place[k]].rate;
    for (uint32_t i = 0; i < s->latch_count; i++) // gaps
        if (s->latches[i].is_open) rates[count++] = s->rows[s->latches[i].rows[0]].rate;
    rates[flow->own - 1] = power ? power->values[0] : zero(s->graph);
}

static void add_rates(Flow *flow, View *view, tr_error *err)
{
    Expr *rates = malloc(flow->own * sizeof *rates);
    if (!rates) {
        tr_fail_memory(err);
        return;
    }
    tr_flow_rate_formulas(flow, view, rates);
    view->rates = compiled(flow->system, "run.rates", rates, flow->own, err);
    view->rates_work = tr_workspace_new(view->rates, err);
    free(rates);
}

// Positions, velocities, then what has a label
static void add_columns(Flow *flow, View *view, tr_error *err)
{
    System *s = flow->system;
    const size_t most = (size_t)s->input_count + s->output_count;
    Expr *values = malloc((most + 1) * sizeof *values);
    if (!flow->labels) flow->labels = malloc((most + 1) * sizeof *flow->labels);
    if (!flow->column) flow->column = calloc(most + 1, sizeof *flow->column);
    if (!values || !flow->labels || !flow->column) {
        free(values);
        tr_fail_memory(err);
        return;
    }
    uint32_t count = 0;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++) {
            if ((int)s->inputs[i].kind != kind) continue;
            flow->labels[count] = s->inputs[i].name;
            values[count++] = s->inputs[i].symbol;
        }
    for (uint32_t i = 0; i < s->output_count; i++) {
        if (!s->outputs[i].label) continue;
        flow->labels[count] = s->outputs[i].label;
        values[count++] = s->outputs[i].values[0];
    }
    flow->column_count = count;
    view->columns = compiled(s, "run.columns", values, count, err);
    view->columns_work = tr_workspace_new(view->columns, err);
    free(values);
}

// |G_1 v_1| + |G_2 v_2| + ... + |g|: what cancels in a row, and a little of the velocities, for
// what cancels in a slope
static Expr size_of(const System *s, const Row *row)
{
    const Expr little = number(s->graph, 1e-5);
    Expr sum = e_abs(row->rest);
    uint32_t v = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        const Expr velocity = s->inputs[i].symbol;
        sum = add(sum, e_abs(mul(row->slopes[v++], velocity)));
        sum = add(sum, mul(little, e_abs(velocity)));
    }
    return sum;
}

static void add_residuals(Flow *flow, View *view, tr_error *err)
{
    System *s = flow->system;
    const uint32_t rows = view->chart->rows;
    Expr *values = calloc(3 * (size_t)rows + 1, sizeof *values);
    if (!flow->residual) flow->residual = calloc(3 * (size_t)rows + 1, sizeof *flow->residual);
    if (!flow->largest) flow->largest = calloc(rows + 1u, sizeof *flow->largest);
    if (!values || !flow->residual || !flow->largest) tr_fail_memory(err);
    uint32_t count = 0;
    for (uint32_t i = 0; values && i < rows; i++)
        if (s->rows[i].position.id && !s->rows[i].is_open) values[count++] = s->rows[i].position;
    flow->holonomic = count;
    for (uint32_t i = 0; values && i < rows; i++) {
        const bool open = s->rows[i].is_open;
        values[count + i] = open ? zero(s->graph) : s->rows[i].rate;
        values[count + rows + i] = open ? zero(s->graph) : size_of(s, &s->rows[i]);
    }
    if (rows) {
        view->residuals = compiled(s, "run.residuals", values, count + 2 * rows, err);
        view->residuals_work = tr_workspace_new(view->residuals, err);
    }
    free(values);
}

// The positions of the pivots, and their slopes along those of y
static void add_projection(Flow *flow, View *view, tr_error *err)
{
    System *s = flow->system;
    const Partition *p = &view->chart->partition;
    const size_t n = flow->positions, most = flow->stance->all + s->quaternion_count;
    Expr *values = calloc(most * (n + 1) + n + 1, sizeof *values), *y = values;
    if (!flow->correction)
        flow->correction = calloc(most * (n + most + 1) + 1, sizeof *flow->correction);
    if (!values || !flow->correction) {
        free(values);
        tr_fail_memory(err);
        return;
    }
    for (uint32_t k = 0; k < p->count; k++)
        if (s->rows[p->row[k]].position.id) values[view->projected++] = s->rows[p->row[k]].position;
    const uint32_t m = view->projected;
    y += m * (n + 1);
    for (uint32_t k = 0; k < n; k++) y[k] = s->inputs[view->place[k]].symbol;
    if (m && !tr_dense_jacobian(s->graph, values, m, y, n, values + m)) tr_fail_memory(err);
    if (m) {
        view->projection = compiled(s, "run.projection", values, (uint32_t)(m * (n + 1)), err);
        view->projection_work = tr_workspace_new(view->projection, err);
    }
    free(values);
}

static void add_alarms(Flow *flow, View *view, tr_error *err)
{
    System *s = flow->system;
    Expr *margins = calloc(s->alarm_count + 1u, sizeof *margins);
    if (!margins) tr_fail_memory(err);
    for (uint32_t i = 0; margins && i < s->alarm_count; i++) margins[i] = s->alarms[i].margin;
    if (margins && s->alarm_count) {
        view->alarms = compiled(s, "run.alarms", margins, s->alarm_count, err);
        view->alarms_work = tr_workspace_new(view->alarms, err);
    }
    free(margins);
}

// ---- views ---------------------------------------------------------------------------------

static void free_view(View *view)
{
    if (!view) return;
    tr_workspace_free(view->rates_work);
    tr_workspace_free(view->columns_work);
    tr_workspace_free(view->residuals_work);
    tr_workspace_free(view->projection_work);
    tr_workspace_free(view->alarms_work);
    tr_program_free(view->rates);
    tr_program_free(view->columns);
    tr_program_free(view->residuals);
    tr_program_free(view->projection);
    tr_program_free(view->alarms);
    tr_workspace_free(view->tangent_work);
    tr_workspace_free(view->column_tangent_work);
    tr_workspace_free(view->projection_tangent_work);
    tr_program_free(view->tangent);
    tr_program_free(view->column_tangent);
    tr_program_free(view->projection_tangent);
    tr_kkt_free(view->kkt);
    tr_jacobian_free(view->jacobian);
    tr_chart_free(view->chart);
    free(view->place);
    free(view);
}

// Takes the chart, which may be NULL.
static View *new_view(Flow *flow, Chart *chart, tr_error *err)
{
    View *view = calloc(1, sizeof *view);
    if (view) view->place = malloc((flow->system->input_count + 1u) * sizeof *view->place);
    if (!view || !view->place) {
        tr_fail_memory(err);
        tr_chart_free(chart);
        free(view);
        return NULL;
    }
    view->chart = chart;
    if (chart) tr_reduce(flow->system, &chart->partition, err);
    find_places(flow, view);
    add_rates(flow, view, err);
    add_columns(flow, view, err);
    if (chart) {
        add_residuals(flow, view, err);
        add_projection(flow, view, err);
        add_alarms(flow, view, err);
        view->kkt = tr_kkt_new(flow, chart, err);
    }
    if (flow->sensitivity) tr_sensitivity_view(flow, view, err);
    if (!has_failed(err)) return view;
    free_view(view);
    return NULL;
}

static bool adopt(Flow *flow, Chart *chart, tr_error *err)
{
    enum { MOST = sizeof flow->views / sizeof *flow->views };
    if (flow->view_count == MOST) { // the first is where it started, and stays
        const uint32_t old = flow->views[1] == flow->now ? 2 : 1;
        free_view(flow->views[old]);
        for (uint32_t i = old + 1; i < MOST; i++) flow->views[i - 1] = flow->views[i];
        flow->view_count--;
    }
    View *view = new_view(flow, chart, err);
    if (!view) return false;
    flow->views[flow->view_count++] = flow->now = view;
    return true;
}

// ---- making a flow -------------------------------------------------------------------------

static void add_speeds(Flow *flow, tr_error *err)
{
    System *s = flow->system;
    const Stance *stance = flow->stance;
    const size_t most = (size_t)s->row_count + s->input_count + 1;
    Expr *values = calloc(most, sizeof *values);
    flow->speed = calloc(most, sizeof *flow->speed);
    if (!values || !flow->speed) tr_fail_memory(err);
    uint32_t count = stance->all - stance->rows;
    for (uint32_t i = 0; values && i < count; i++) values[i] = s->rows[stance->rows + i].rate;
    for (uint32_t i = 0; values && i < s->input_count; i++)
        if (s->inputs[i].kind == TR_INNER) values[count++] = s->inputs[i].definition;
    if (values && count) {
        flow->speeds = compiled(s, "run.speeds", values, count, err);
        flow->speeds_work = tr_workspace_new(flow->speeds, err);
    }
    free(values);
}

void tr_flow_speeds(Flow *flow, double *inputs)
{
    const System *s = flow->system;
    if (!flow->speeds) return;
    tr_evaluate(flow->speeds, flow->speeds_work, inputs, flow->speed);
    for (uint32_t i = flow->stance->rows; i < flow->stance->all; i++) {
        const Input *speed = tr_system_input(s, s->rows[i].symbol);
        inputs[speed - s->inputs] = flow->speed[i - flow->stance->rows];
    }
    const double *inner = flow->speed + (flow->stance->all - flow->stance->rows);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_INNER) inputs[i] = *inner++;
}

static void take_velocities(Flow *flow, double *y)
{
    for (uint32_t k = 0; k < flow->known; k++) y[k] = flow->inputs[flow->now->place[k]];
    for (uint32_t k = flow->known; k + 1 < flow->own; k++) y[k] = 1; // [m], more or less
}

// From the initial conditions, or from a state that is known
static bool begin(Flow *flow, const double *from, tr_error *err)
{
    System *s = flow->system;
    Chart *chart = NULL;
    tr_unreduce(s);
    if (!from) {
        tr_latches_reset(s);
        if (!tr_latches_assemble(s, flow->inputs, flow->solved, err)) {
            if (s->row_count && err->status == TR_INVALID)
                tr_explain_conflict(s, flow->inputs, err);
            return false;
        }
    } else
        memcpy(flow->inputs, from, s->input_count * sizeof *from);
    if (s->row_count) {
        flow->stance = tr_stance_new(s, err);
        if (flow->stance) add_speeds(flow, err);
        if (!has_failed(err) && !tr_stance_take(flow->stance, flow->inputs))
            tr_fail(err, TR_FAILED, (Place){0},
                    "a constraint or a mass is not finite at the start");
        chart = has_failed(err) ? NULL : tr_chart_new(flow->stance, err);
        if (!chart) return false;
        tr_flow_speeds(flow, flow->inputs);
    }
    if (!adopt(flow, chart, err)) return false;
    find_quaternions(flow);
    take_velocities(flow, flow->start);
    return true;
}

Flow *tr_flow_new(System *system, tr_error *err)
{
    return tr_latches_settle(tr_flow_from(system, NULL, err), 0, err);
}

Flow *tr_flow_from(System *system, const double *from, tr_error *err)
{
    if (!system || has_failed(err)) return NULL;
    Flow *flow = calloc(1, sizeof *flow);
    if (flow) {
        const size_t inputs = system->input_count + 1u;
        flow->system = system;
        flow->earliest = -(double)INFINITY, flow->latest = (double)INFINITY;
        flow->inputs = calloc(inputs, sizeof *flow->inputs);
        flow->start = calloc(inputs, sizeof *flow->start);
        flow->solved = calloc(inputs, sizeof *flow->solved);
        flow->quaternions = malloc((system->quaternion_count + 1) * sizeof *flow->quaternions);
    }
    if (!flow || !flow->inputs || !flow->start || !flow->solved || !flow->quaternions)
        tr_fail_memory(err);
    else if (begin(flow, from, err))
        return flow;
    tr_flow_free(flow);
    return NULL;
}

void tr_flow_restart(Flow *flow, const double *inputs)
{
    memcpy(flow->inputs, inputs, flow->system->input_count * sizeof *inputs);
    tr_flow_speeds(flow, flow->inputs);
    take_velocities(flow, flow->start);
}

void tr_flow_free(Flow *flow)
{
    if (!flow) return;
    for (uint32_t i = 0; i < flow->view_count; i++) free_view(flow->views[i]);
    tr_stance_free(flow->stance);
    tr_sensitivity_free(flow->sensitivity);
    tr_workspace_free(flow->speeds_work);
    tr_program_free(flow->speeds);
    free(flow->inputs);
    free(flow->start);
    free(flow->solved);
    free(flow->quaternions);
    free(flow->labels);
    free(flow->column);
    free(flow->speed);
    free(flow->residual);
    free(flow->largest);
    free(flow->correction);
    free(flow);
}

// ---- changing views ------------------------------------------------------------------------

// A chart is left when dependent velocities exceed independent ones this much, or a pivot is this
// small, for one that is better by a margin.
#define TILT_BAD  20
#define TILT_GOOD 10
#define TILT_HOME 5 // that velocities the model prefers come back
#define PIVOT_BAD 0.02

Quality tr_flow_quality(Flow *flow, double t, const double *y)
{
    tr_flow_put(flow, t, y);
    if (!tr_stance_take(flow->stance, flow->inputs)) return (Quality){.tilt = (double)INFINITY};
    return tr_chart_quality(flow->now->chart, flow->stance);
}

static bool is_better(Quality q, Quality than)
{
    if (than.least < PIVOT_BAD)
        return q.least > 2 * than.least && q.tilt < fmax(TILT_BAD, than.tilt);
    return q.tilt < TILT_GOOD && q.least > PIVOT_BAD;
}

static void go_on_in(Flow *flow, View *view, double t, double *y)
{
    tr_sensitivity_leave(flow, t, y);
    tr_flow_put_all(flow, t, y);
    flow->now = view;
    take_velocities(flow, y);
    tr_sensitivity_enter(flow, y);
}

bool tr_flow_rechart(Flow *flow, double t, double *y, Quality quality, bool *changed, tr_error *err)
{
    const Chart *present = flow->now->chart;
    *changed = false;
    const bool bad = quality.tilt > TILT_BAD || quality.least < PIVOT_BAD;
    if (!bad && tr_chart_preferred(present) == flow->stance->preferred) return true;
    tr_flow_put(flow, t, y);
    if (!tr_stance_take(flow->stance, flow->inputs)) {
        tr_fail(err, TR_FAILED, (Place){0}, "the constraints are not finite at t = %.6g", t);
        return false;
    }
    Chart *chart = tr_chart_new(flow->stance, err);
    if (!chart) return false;
    const Quality q = tr_chart_quality(chart, flow->stance);
    const bool better =
        chart->m_locked == present->m_locked &&
        (bad ? is_better(q, quality)
             : tr_chart_preferred(chart) > tr_chart_preferred(present) && q.tilt < TILT_HOME);
    View *known = NULL;
    for (uint32_t i = 0; i < flow->view_count; i++)
        if (tr_chart_equal(flow->views[i]->chart, chart)) known = flow->views[i];
    if (!better || known == flow->now) {
        tr_chart_free(chart);
        return true;
    }
    *changed = true;
    if (known) {
        tr_chart_free(chart);
        go_on_in(flow, known, t, y);
        return true;
    }
    tr_sensitivity_leave(flow, t, y);
    tr_flow_put_all(flow, t, y);
    if (!adopt(flow, chart, err)) return false;
    take_velocities(flow, y);
    tr_sensitivity_enter(flow, y);
    return true;
}

// ---- evaluation ----------------------------------------------------------------------------

// Time is the first input of every system that moves.
void tr_flow_put(Flow *flow, double t, const double *y)
{
    flow->inputs[0] = t;
    for (uint32_t k = 0; k < flow->known; k++) flow->inputs[flow->now->place[k]] = y[k];
}

void tr_flow_rate(Flow *flow, double t, const double *y, double *rate)
{
    tr_flow_put(flow, tr_flow_time(flow, t), y);
    tr_evaluate(flow->now->rates, flow->now->rates_work, flow->inputs, rate);
    if (flow->sensitivity) tr_sensitivity_rate(flow, y, rate);
    flow->evaluations++;
}

void tr_flow_alarms(Flow *flow, double t, const double *y, double *margins)
{
    tr_flow_put(flow, t, y);
    tr_evaluate(flow->now->alarms, flow->now->alarms_work, flow->inputs, margins);
}

void tr_flow_put_all(Flow *flow, double t, const double *y)
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
    tr_flow_put(flow, t, y);
    tr_evaluate(flow->now->columns, flow->now->columns_work, flow->inputs, columns);
    for (uint32_t i = 0; i < flow->column_count; i++) columns[i] += 0.0; // -0 is 0
}

// ---- residuals -----------------------------------------------------------------------------

static double length(const double *q)
{
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

double tr_make_unit(double *q)
{
    const double size = length(q);
    if (size == 0) q[0] = 1; // a guess of nothing: not turned
    for (int k = 0; k < 4 && size > 0; k++) q[k] /= size;
    return fabs(size - 1);
}

static double make_units(const Flow *flow, double *y)
{
    double worst = 0;
    for (uint32_t i = 0; i < flow->quaternion_count; i++)
        worst = fmax(worst, tr_make_unit(y + flow->quaternions[i]));
    return worst;
}

// phi, and J; the largest |phi|
static double evaluate_projection(Flow *flow, double t, const double *y)
{
    const View *view = flow->now;
    double worst = 0;
    tr_flow_put(flow, t, y);
    tr_evaluate(view->projection, view->projection_work, flow->inputs, flow->correction);
    for (uint32_t i = 0; i < view->projected; i++) worst = fmax(worst, fabs(flow->correction[i]));
    return worst;
}

// Unit quaternions are conditions like the others: (|q|^2 - 1) / 2, with slope q.
static void add_quaternions(const Flow *flow, const double *y, double *phi, double *J)
{
    const size_t n = flow->positions;
    for (uint32_t i = 0; i < flow->quaternion_count; i++, J += n) {
        const double *q = y + flow->quaternions[i];
        for (size_t k = 0; k < n; k++) J[k] = 0;
        for (int k = 0; k < 4; k++) J[flow->quaternions[i] + (uint32_t)k] = q[k];
        phi[i] = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) / 2;
    }
}

// x -= J^T (J J^T)^-1 phi: the shortest way
static bool correct(Flow *flow, const double *J, double *phi, double *x)
{
    const size_t n = flow->positions, m = flow->now->projected + flow->quaternion_count;
    double *JJ = flow->correction + m + m * n;
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k <= i; k++) {
            JJ[i * m + k] = 0;
            for (size_t j = 0; j < n; j++) JJ[i * m + k] += J[i * n + j] * J[k * n + j];
        }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)m, 1, JJ, (lapack_int)m, phi, 1) != 0)
        return false;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) x[j] -= J[i * n + j] * phi[i];
    return true;
}

// phi and J with the quaternions, where they were evaluated; J
static double *complete_projection(Flow *flow, const double *y)
{
    const size_t own = flow->now->projected, n = flow->positions, m = own + flow->quaternion_count;
    double *phi = flow->correction, *J = phi + m;
    memmove(J, phi + own, own * n * sizeof *J); // room for the quaternions between
    add_quaternions(flow, y, phi + own, J + own * n);
    return J;
}

static bool step_back(Flow *flow, double *y)
{
    const double *J = complete_projection(flow, y);
    return correct(flow, J, flow->correction, y);
}

// A change keeps quaternions units: q . S = 0
static void tangent_to_units(const Flow *flow, const double *y, double *S)
{
    for (uint32_t i = 0; i < flow->quaternion_count; i++) {
        const double *q = y + flow->quaternions[i];
        double *s = S + flow->quaternions[i], along = 0;
        for (int k = 0; k < 4; k++) along += q[k] * s[k];
        for (int k = 0; k < 4; k++) s[k] -= along * q[k];
    }
}

// And constraints satisfied: J S + d(phi)/dp = 0. They were evaluated at y.
static void tangent_to_rows(Flow *flow, double *y)
{
    const size_t own = flow->now->projected;
    const double *J = complete_projection(flow, y);
    double *off = flow->correction;
    uint32_t which = 0;
    for (double *S = y + flow->own; S < y + flow->size; S += flow->own, which++) {
        tr_sensitivity_rows(flow, y, which, off);
        for (uint32_t i = 0; i < flow->quaternion_count; i++) {
            const double *q = y + flow->quaternions[i], *s = S + flow->quaternions[i];
            off[own + i] = q[0] * s[0] + q[1] * s[1] + q[2] * s[2] + q[3] * s[3];
        }
        correct(flow, J, off, S);
    }
}

double tr_flow_project(Flow *flow, double t, double *y)
{
    enum { MOST_STEPS = 20 };
    const double off = make_units(flow, y);
    if (!flow->now->projected || flow->no_projection) {
        for (double *S = y + flow->own; S < y + flow->size; S += flow->own)
            tangent_to_units(flow, y, S);
        return off;
    }
    const double first = evaluate_projection(flow, t, y);
    double left = first, before = (double)INFINITY;
    for (int i = 0; i < MOST_STEPS && left > 1e-15 && left < 0.9 * before; i++) {
        before = left;
        if (!step_back(flow, y)) break;
        make_units(flow, y);
        left = evaluate_projection(flow, t, y);
    }
    if (flow->sensitivity) tangent_to_rows(flow, y);
    return fmax(off, first);
}

void tr_flow_project_change(Flow *flow, double t, const double *y, double *change)
{
    const size_t n = flow->positions, m = flow->now->projected + flow->quaternion_count;
    if (!flow->now->projected || flow->no_projection) {
        tangent_to_units(flow, y, change);
        return;
    }
    evaluate_projection(flow, t, y);
    const double *J = complete_projection(flow, y);
    double *off = flow->correction;
    for (size_t i = 0; i < m; i++) {
        off[i] = 0;
        for (size_t k = 0; k < n; k++) off[i] += J[i * n + k] * change[k];
    }
    correct(flow, J, off, change);
}

static void evaluate_residuals(Flow *flow, double t, const double *y)
{
    tr_flow_put(flow, t, y);
    tr_evaluate(flow->now->residuals, flow->now->residuals_work, flow->inputs, flow->residual);
}

void tr_flow_residual(Flow *flow, double t, const double *y, double *position, double *velocity)
{
    *position = *velocity = 0;
    for (uint32_t i = 0; i < flow->quaternion_count; i++)
        *position = fmax(*position, fabs(length(y + flow->quaternions[i]) - 1));
    if (!flow->now->residuals) return;
    evaluate_residuals(flow, t, y);
    for (uint32_t i = 0; i < flow->holonomic; i++)
        *position = fmax(*position, fabs(flow->residual[i]));
    for (uint32_t i = 0; i < flow->now->chart->rows; i++)
        *velocity = fmax(*velocity, fabs(flow->residual[flow->holonomic + i]));
}

bool tr_flow_agrees(Flow *flow, double t, const double *y, tr_error *err)
{
    const Chart *chart = flow->now->chart;
    if (!chart || !chart->surplus_count) return true;
    evaluate_residuals(flow, t, y);
    for (uint32_t j = 0; j < chart->surplus_count; j++) {
        const uint32_t row = chart->surplus[j];
        const double off = fabs(flow->residual[flow->holonomic + row]);
        const double size = flow->residual[flow->holonomic + chart->rows + row];
        flow->largest[row] = fmax(flow->largest[row], size);
        if (!tr_chart_agrees(chart, j, off, flow->largest[row], t, err)) return false;
    }
    return true;
}
