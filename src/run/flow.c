// SPDX-License-Identifier: Apache-2.0
#include "run/flow.h"

#include "run/assemble.h"

#include <math.h>
#include <stdlib.h>

// ---- programs ------------------------------------------------------------------------------

static void find_places(Flow *flow)
{
    const System *s = flow->system;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && !s->inputs[i].definition.id)
            flow->place[flow->size++] = i;
    flow->positions = flow->size;
    flow->size += tr_independent(s, flow->place + flow->size);
    flow->size++; // the work
}

static uint32_t entry_of(const Flow *flow, uint32_t input)
{
    uint32_t k = 0;
    while (flow->place[k] != input) k++;
    return k;
}

static void find_quaternions(Flow *flow)
{
    const System *s = flow->system;
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        if (!s->inputs[s->quaternions[i].position].definition.id)
            flow->quaternions[flow->quaternion_count++] =
                entry_of(flow, s->quaternions[i].position);
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
    tr_system_put(s, "run.rates", rates, flow->size, 1, err);
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
    tr_system_put(s, "run.columns", values, count, 1, err);
    free(values);
}

// |G_1 v_1| + |G_2 v_2| + ... + |g|: what cancels in a row
static Expr size_of(const System *s, const Row *row)
{
    Expr sum = e_abs(row->rest);
    uint32_t v = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY)
            sum = add(sum, e_abs(mul(row->slopes[v++], s->inputs[i].symbol)));
    return sum;
}

static void add_residuals(Flow *flow, tr_error *err)
{
    System *s = flow->system;
    const uint32_t rows = flow->chart->rows;
    if (!rows) return;
    Expr *values = calloc(3 * (size_t)rows, sizeof *values);
    flow->residual = calloc(3 * (size_t)rows, sizeof *flow->residual);
    flow->largest = calloc(rows, sizeof *flow->largest);
    if (!values || !flow->residual || !flow->largest) tr_fail_memory(err);
    uint32_t count = 0;
    for (uint32_t i = 0; !has_failed(err) && i < rows; i++)
        if (s->rows[i].position.id) values[count++] = s->rows[i].position;
    flow->holonomic = count;
    for (uint32_t i = 0; !has_failed(err) && i < rows; i++) {
        values[count + i] = s->rows[i].rate;
        values[count + rows + i] = size_of(s, &s->rows[i]);
    }
    if (!has_failed(err)) tr_system_put(s, "run.residuals", values, count + 2 * rows, 1, err);
    free(values);
    const tr_compile_options fixed = {.fix_parameters = true};
    flow->residuals = tr_compile(s, "run.residuals", &fixed, err);
    flow->residuals_work = tr_workspace_new(flow->residuals, err);
}

// ---- making a flow -------------------------------------------------------------------------

// Nothing is free and nothing is driven: it stands still for ever.
static bool is_stuck(const Flow *flow)
{
    const System *s = flow->system;
    if (!flow->chart || flow->chart->kernel) return false;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind == TR_VELOCITY && input->drive == DRIVE_MOTION &&
            !is_zero(input->definition))
            return false;
    }
    for (uint32_t i = 0; i < flow->chart->rows; i++)
        if (!is_zero(s->rows[i].rest)) return false;
    return true;
}

static bool choose_chart(Flow *flow, tr_error *err)
{
    if (!flow->system->row_count) return true;
    flow->chart = tr_chart_new(flow->system, flow->inputs, err);
    if (flow->chart && is_stuck(flow))
        tr_fail(err, TR_INVALID, (Place){0},
                "nothing can move: the constraints leave none of the %u velocities free",
                flow->chart->passive);
    return !has_failed(err);
}

static void compile(Flow *flow, tr_error *err)
{
    find_places(flow);
    find_quaternions(flow);
    add_rates(flow, err);
    add_columns(flow, err);
    const tr_compile_options fixed = {.fix_parameters = true};
    flow->rates = tr_compile(flow->system, "run.rates", &fixed, err);
    flow->columns = tr_compile(flow->system, "run.columns", &fixed, err);
    flow->rates_work = tr_workspace_new(flow->rates, err);
    flow->columns_work = tr_workspace_new(flow->columns, err);
    if (flow->chart) add_residuals(flow, err);
}

// Speeds that the model chose have the value of their formula.
static void set_speeds(Flow *flow, tr_error *err)
{
    System *s = flow->system;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Input *speed = tr_system_input(s, s->rows[i].symbol);
        if (!s->rows[i].is_speed || speed->definition.id) continue;
        tr_system_put(s, "run.speed", &s->rows[i].rate, 1, 1, err);
        flow->inputs[speed - s->inputs] = tr_value(s, "run.speed", flow->inputs, err);
    }
}

Flow *tr_flow_new(System *system, tr_error *err)
{
    if (!system || has_failed(err)) return NULL;
    Flow *flow = calloc(1, sizeof *flow);
    if (flow) {
        const size_t inputs = system->input_count + 1u;
        flow->system = system;
        flow->earliest = -(double)INFINITY, flow->latest = (double)INFINITY;
        flow->place = malloc(inputs * sizeof *flow->place);
        flow->inputs = calloc(inputs, sizeof *flow->inputs);
        flow->start = calloc(inputs, sizeof *flow->start);
        flow->solved = calloc(inputs, sizeof *flow->solved);
        flow->quaternions = malloc((system->quaternion_count + 1) * sizeof *flow->quaternions);
    }
    if (!flow || !flow->place || !flow->inputs || !flow->start || !flow->solved ||
        !flow->quaternions)
        tr_fail_memory(err);
    tr_unreduce(system);
    if (!has_failed(err) && tr_assemble(system, flow->inputs, flow->solved, err)) {
        set_speeds(flow, err);
        if (choose_chart(flow, err)) compile(flow, err);
        for (uint32_t k = 0; k + 1 < flow->size; k++) flow->start[k] = flow->inputs[flow->place[k]];
    }
    if (!has_failed(err)) return flow;
    tr_flow_free(flow);
    return NULL;
}

void tr_flow_free(Flow *flow)
{
    if (!flow) return;
    tr_workspace_free(flow->rates_work);
    tr_workspace_free(flow->columns_work);
    tr_workspace_free(flow->residuals_work);
    tr_program_free(flow->rates);
    tr_program_free(flow->columns);
    tr_program_free(flow->residuals);
    tr_chart_free(flow->chart);
    free(flow->place);
    free(flow->inputs);
    free(flow->start);
    free(flow->solved);
    free(flow->quaternions);
    free(flow->labels);
    free(flow->residual);
    free(flow->largest);
    free(flow);
}

// ---- evaluation ----------------------------------------------------------------------------

// Time is the first input of every system that moves.
void tr_flow_put(Flow *flow, double t, const double *y)
{
    flow->inputs[0] = t;
    for (uint32_t k = 0; k + 1 < flow->size; k++) flow->inputs[flow->place[k]] = y[k];
}

void tr_flow_rate(Flow *flow, double t, const double *y, double *rate)
{
    tr_flow_put(flow, fmin(fmax(t, flow->earliest), flow->latest), y);
    tr_evaluate(flow->rates, flow->rates_work, flow->inputs, rate);
    flow->evaluations++;
}

void tr_flow_columns(Flow *flow, double t, const double *y, double *columns)
{
    tr_flow_put(flow, t, y);
    tr_evaluate(flow->columns, flow->columns_work, flow->inputs, columns);
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

double tr_flow_project(const Flow *flow, double *y)
{
    double worst = 0;
    for (uint32_t i = 0; i < flow->quaternion_count; i++)
        worst = fmax(worst, tr_make_unit(y + flow->quaternions[i]));
    return worst;
}

static void evaluate_residuals(Flow *flow, double t, const double *y)
{
    tr_flow_put(flow, t, y);
    tr_evaluate(flow->residuals, flow->residuals_work, flow->inputs, flow->residual);
}

void tr_flow_residual(Flow *flow, double t, const double *y, double *position, double *velocity)
{
    *position = *velocity = 0;
    for (uint32_t i = 0; i < flow->quaternion_count; i++)
        *position = fmax(*position, fabs(length(y + flow->quaternions[i]) - 1));
    if (!flow->residuals) return;
    evaluate_residuals(flow, t, y);
    for (uint32_t i = 0; i < flow->holonomic; i++)
        *position = fmax(*position, fabs(flow->residual[i]));
    for (uint32_t i = 0; i < flow->chart->rows; i++)
        *velocity = fmax(*velocity, fabs(flow->residual[flow->holonomic + i]));
}

bool tr_flow_agrees(Flow *flow, double t, const double *y, tr_error *err)
{
    const Chart *chart = flow->chart;
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
