// SPDX-License-Identifier: Apache-2.0
#include "run/flow.h"

#include <math.h>
#include <stdlib.h>

static bool is_state(const Input *input)
{
    return (input->kind == TR_POSITION || input->kind == TR_VELOCITY) && !input->definition.id;
}

// ---- programs ------------------------------------------------------------------------------

static void find_places(Flow *flow)
{
    const System *s = flow->system;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++) {
        for (uint32_t i = 0; i < s->input_count; i++)
            if (is_state(&s->inputs[i]) && (int)s->inputs[i].kind == kind)
                flow->place[flow->size++] = i;
        if (kind == TR_POSITION) flow->positions = flow->size;
    }
    flow->size++; // the work
}

// NOT_THERE for an input that is driven.
static uint32_t entry_of(const Flow *flow, uint32_t input)
{
    for (uint32_t k = 0; k + 1 < flow->size; k++)
        if (flow->place[k] == input) return k;
    return NOT_THERE;
}

static void find_turnings(Flow *flow)
{
    const System *s = flow->system;
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        if (is_state(&s->inputs[s->quaternions[i].position]))
            flow->turnings[flow->turning_count++] =
                (Turning){entry_of(flow, s->quaternions[i].position),
                          entry_of(flow, s->quaternions[i].velocity)};
}

static void add_rates(Flow *flow, tr_error *err)
{
    System *s = flow->system;
    const Output *power = tr_system_output(s, text_of("power"));
    Expr *rates = malloc(flow->size * sizeof *rates);
    if (!rates) {
        tr_fail_memory(err);
        return;
    }
    for (uint32_t k = 0; k + 1 < flow->size; k++) rates[k] = s->inputs[flow->place[k]].rate;
    rates[flow->size - 1] = power ? power->values[0] : tr_constant(s, 0);
    if (!tr_system_output(s, text_of("run.rates")))
        tr_output(s, "run.rates", rates, flow->size, 1, err);
    free(rates);
}

static void add_columns(Flow *flow, tr_error *err)
{
    System *s = flow->system;
    const size_t most = (size_t)s->input_count + s->output_count;
    Expr *values = malloc((most + 1) * sizeof *values);
    flow->labels = malloc((most + 1) * sizeof *flow->labels);
    if (!values || !flow->labels) {
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
    if (!tr_system_output(s, text_of("run.columns")))
        tr_output(s, "run.columns", values, count, 1, err);
    free(values);
}

Flow *tr_flow_new(System *system, tr_error *err)
{
    if (!system || has_failed(err)) return NULL;
    Flow *flow = calloc(1, sizeof *flow);
    if (flow) {
        flow->system = system;
        flow->earliest = -(double)INFINITY, flow->latest = (double)INFINITY;
        flow->place = malloc((system->input_count + 1) * sizeof *flow->place);
        flow->inputs = malloc((system->input_count + 1) * sizeof *flow->inputs);
        flow->turnings = malloc((system->quaternion_count + 1) * sizeof *flow->turnings);
    }
    if (!flow || !flow->place || !flow->inputs || !flow->turnings) {
        tr_fail_memory(err);
        tr_flow_free(flow);
        return NULL;
    }
    find_places(flow);
    find_turnings(flow);
    add_rates(flow, err);
    add_columns(flow, err);
    const tr_compile_options fixed = {.fix_parameters = true};
    flow->rates = tr_compile(system, "run.rates", &fixed, err);
    flow->columns = tr_compile(system, "run.columns", &fixed, err);
    flow->rates_work = tr_workspace_new(flow->rates, err);
    flow->columns_work = tr_workspace_new(flow->columns, err);
    for (uint32_t i = 0; i < system->input_count; i++) flow->inputs[i] = system->inputs[i].value;
    if (!has_failed(err)) return flow;
    tr_flow_free(flow);
    return NULL;
}

void tr_flow_free(Flow *flow)
{
    if (!flow) return;
    tr_workspace_free(flow->rates_work);
    tr_workspace_free(flow->columns_work);
    tr_program_free(flow->rates);
    tr_program_free(flow->columns);
    free(flow->place);
    free(flow->inputs);
    free(flow->turnings);
    free(flow->labels);
    free(flow);
}

// ---- evaluation ----------------------------------------------------------------------------

// Time is the first input of every system that moves.
static void put(Flow *flow, double t, const double *y)
{
    flow->inputs[0] = t;
    for (uint32_t k = 0; k + 1 < flow->size; k++) flow->inputs[flow->place[k]] = y[k];
}

void tr_flow_rate(Flow *flow, double t, const double *y, double *rate)
{
    put(flow, fmin(fmax(t, flow->earliest), flow->latest), y);
    tr_evaluate(flow->rates, flow->rates_work, flow->inputs, rate);
    flow->evaluations++;
}

void tr_flow_columns(Flow *flow, double t, const double *y, double *columns)
{
    put(flow, t, y);
    tr_evaluate(flow->columns, flow->columns_work, flow->inputs, columns);
    for (uint32_t i = 0; i < flow->column_count; i++) columns[i] += 0.0; // -0 is 0
}

static double length(const double *q)
{
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

double tr_flow_residual(const Flow *flow, const double *y)
{
    double worst = 0;
    for (uint32_t i = 0; i < flow->turning_count; i++)
        worst = fmax(worst, fabs(length(y + flow->turnings[i].quaternion) - 1));
    return worst;
}

double tr_flow_project(const Flow *flow, double *y)
{
    const double worst = tr_flow_residual(flow, y);
    for (uint32_t i = 0; i < flow->turning_count; i++) {
        double *q = y + flow->turnings[i].quaternion;
        const double size = length(q);
        if (size == 0) q[0] = 1; // a guess of nothing: not turned
        for (int k = 0; k < 4 && size > 0; k++) q[k] /= size;
    }
    return worst;
}
