// SPDX-License-Identifier: Apache-2.0
// What a flow evaluates in one chart (T82): its rates, the columns of its record, residuals of
// constraints, what positions are projected onto, alarms.
#include "run/chart_view.h"

#include "expr/derivative.h"
#include "run/jacobian.h"
#include "run/kkt.h"
#include "run/sensitivity.h"

#include <stdlib.h>

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

void tr_view_rates(const Flow *flow, const View *view, Expr *rates)
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
    tr_view_rates(flow, view, rates);
    view->rates = tr_evaluator_of(flow->system, rates, flow->own, FIXED_PARAMETERS, err);
    free(rates);
}

void tr_view_columns(const System *s, Exprs *values, const char **labels)
{
    uint32_t count = 0;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++) {
            if ((int)s->inputs[i].kind != kind) continue;
            if (labels) labels[count++] = s->inputs[i].name;
            exprs_add(values, s->inputs[i].symbol);
        }
    for (uint32_t i = 0; i < s->output_count; i++) {
        if (!s->outputs[i].label) continue;
        if (labels) labels[count++] = s->outputs[i].label;
        exprs_add(values, s->outputs[i].values[0]);
    }
}

static void add_columns(Flow *flow, View *view, tr_error *err)
{
    System *s = flow->system;
    const size_t most = (size_t)s->input_count + s->output_count;
    if (!flow->labels) flow->labels = malloc((most + 1) * sizeof *flow->labels);
    if (!flow->column) flow->column = calloc(most + 1, sizeof *flow->column);
    if (!flow->labels || !flow->column) {
        tr_fail_memory(err);
        return;
    }
    Exprs values = {0};
    tr_view_columns(s, &values, flow->labels);
    flow->column_count = values.count;
    view->columns = tr_evaluator_list(s, &values, FIXED_PARAMETERS, err);
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
    if (rows) view->residuals = tr_evaluator_of(s, values, count + 2 * rows, FIXED_PARAMETERS, err);
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
    if (m) view->projection = tr_evaluator_of(s, values, m * (n + 1), FIXED_PARAMETERS, err);
    free(values);
}

static void add_alarms(Flow *flow, View *view, tr_error *err)
{
    System *s = flow->system;
    Expr *margins = calloc(s->alarm_count + 1u, sizeof *margins);
    if (!margins) tr_fail_memory(err);
    for (uint32_t i = 0; margins && i < s->alarm_count; i++) margins[i] = s->alarms[i].margin;
    if (margins && s->alarm_count)
        view->alarms = tr_evaluator_of(s, margins, s->alarm_count, FIXED_PARAMETERS, err);
    free(margins);
}

// ---- views ---------------------------------------------------------------------------------

void tr_view_free(View *view)
{
    if (!view) return;
    tr_evaluator_free(&view->rates);
    tr_evaluator_free(&view->columns);
    tr_evaluator_free(&view->residuals);
    tr_evaluator_free(&view->projection);
    tr_evaluator_free(&view->alarms);
    tr_evaluator_free(&view->tangent);
    tr_evaluator_free(&view->column_tangent);
    tr_evaluator_free(&view->projection_tangent);
    tr_kkt_free(view->kkt);
    tr_jacobian_free(view->jacobian);
    tr_chart_free(view->chart);
    free(view->place);
    free(view);
}

View *tr_view_new(Flow *flow, Chart *chart, tr_error *err)
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
    tr_view_free(view);
    return NULL;
}
