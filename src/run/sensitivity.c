// SPDX-License-Identifier: Apache-2.0
// Programs take directions: for each position, velocity and chosen parameter how it changes. They
// give the derivatives of rates, columns and constraints along them, from the graph (T108).
#include "run/sensitivity.h"

#include "expr/derivative.h"
#include "expr/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- directions ----------------------------------------------------------------------------

static bool add_direction(System *s, Sensitivity *z, uint32_t input, tr_error *err)
{
    char name[400];
    snprintf(name, sizeof name, "sensitivity.%s", s->inputs[input].name);
    const Named *known = tr_system_find(s, text_of(name));
    const Input *before = known ? tr_system_input(s, known->meaning) : NULL;
    if (before && before->kind == TR_DIRECTION) {
        z->direction[input] = (uint32_t)(before - s->inputs);
        return true;
    }
    z->direction[input] = s->input_count;
    tr_input(s, name, TR_DIRECTION, 0, err);
    return !has_failed(err);
}

static bool changes_along(const Input *input)
{
    return input->kind == TR_POSITION || input->kind == TR_VELOCITY || input->kind == TR_SPEED ||
           input->kind == TR_INNER;
}

static bool choose_parameter(const System *s, Sensitivity *z, Text name, tr_error *err)
{
    const Input *input = tr_system_setting(s, name, "varied", err);
    if (!input) return false;
    const uint32_t place = (uint32_t)(input - s->inputs);
    for (uint32_t k = 0; k < z->count; k++)
        if (z->parameter[k] == place)
            tr_fail(err, TR_USAGE, (Place){0}, "'%.*s' is named twice", TEXT(name));
    z->parameter[z->count++] = place;
    return !has_failed(err);
}

static bool choose_parameters(System *s, Sensitivity *z, const char *names, tr_error *err)
{
    for (const char *at = names; *at;) {
        at += strspn(at, ", ");
        const Text name = {at, strcspn(at, ", ")};
        if (name.length && !choose_parameter(s, z, name, err)) return false;
        at += name.length;
    }
    if (!z->count) tr_fail(err, TR_USAGE, (Place){0}, "sensitivity to which parameters?");
    for (uint32_t i = 0; i < z->input_count && !has_failed(err); i++) {
        bool chosen = changes_along(&s->inputs[i]);
        for (uint32_t k = 0; k < z->count; k++) chosen = chosen || z->parameter[k] == i;
        if (chosen) add_direction(s, z, i, err);
    }
    return !has_failed(err);
}

void tr_sensitivity_differentiate(System *s, const Sensitivity *z, Expr *of, size_t count,
                                  int except, Expr *out)
{
    Expr *symbols = calloc(2 * (size_t)z->input_count + 1, sizeof *symbols);
    Expr *changes = symbols ? symbols + z->input_count : NULL;
    size_t n = 0;
    if (!symbols) s->graph->failed = true;
    tr_system_resolve(s, of, count);
    for (uint32_t i = 0; symbols && i < z->input_count; i++) {
        if (!z->direction[i] || s->inputs[i].definition.id || (int)s->inputs[i].kind == except)
            continue;
        symbols[n] = symbol_of(s, i), changes[n++] = symbol_of(s, z->direction[i]);
    }
    if (symbols) tr_forward(s->graph, of, count, symbols, changes, n, out);
    free(symbols);
}

// Sets the directions of one parameter, but for those of the state.
static void choose_direction(const Flow *flow, uint32_t which)
{
    const Sensitivity *z = flow->sensitivity;
    for (uint32_t k = 0; k < z->count; k++)
        flow->inputs[z->direction[z->parameter[k]]] = k == which;
}

static const double *block(const Flow *flow, const double *y, uint32_t which)
{
    return y + (size_t)flow->own * (which + 1);
}

static void point_along(const Flow *flow, const double *y, uint32_t which)
{
    const double *S = block(flow, y, which);
    choose_direction(flow, which);
    for (uint32_t k = 0; k < flow->known; k++)
        flow->inputs[flow->sensitivity->direction[flow->now->place[k]]] = S[k];
}

void tr_sensitivity_point(const Flow *flow, uint32_t which)
{
    const Sensitivity *z = flow->sensitivity;
    const double *all = z->all + (size_t)which * z->input_count;
    choose_direction(flow, which);
    for (uint32_t i = 0; i < z->input_count; i++)
        if (changes_along(&flow->system->inputs[i])) flow->inputs[z->direction[i]] = all[i];
}

// ---- views ---------------------------------------------------------------------------------

// A comparison of what depends on the state may let the rates jump at a time that is not known
// beforehand.
static bool check_switches(Flow *flow, const Expr *rates, uint32_t count, tr_error *err)
{
    System *s = flow->system;
    Sensitivity *z = flow->sensitivity;
    enum { STATE = 1, TIME = 2, CHOSEN = 4 };
    Reach reach = {0};
    uint32_t *marks =
        tr_reach(s->graph, rates, count, &reach) ? tr_reach_map(s->graph, &reach) : NULL;
    if (!marks) tr_fail_memory(err);
    for (uint32_t k = 0; marks && k < reach.count; k++) {
        const uint32_t id = reach.ids[k];
        const Node *node = &s->graph->nodes[id];
        const Input *input = tr_system_input(s, expr_at(s->graph, id));
        if (input && changes_along(input)) marks[id] = STATE;
        if (input && input->kind == TR_TIME) marks[id] = TIME;
        if (input && !marks[id] && z->direction[input - s->inputs]) marks[id] = CHOSEN;
        for (int i = 0; i < tr_op[node->op].operands; i++)
            marks[id] |= marks[node_operand(node, i)];
        const bool jumps = node->op == OP_LESS || node->op == OP_LESS_EQUAL ||
                           node->op == OP_EQUAL || node->op == OP_NOT_EQUAL || node->op == OP_FLOOR;
        if (jumps && (marks[id] & STATE))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the equations compare or round what depends on the state: sensitivities could "
                    "jump there, and are not given");
        if (jumps && marks[id] == (TIME | CHOSEN)) z->moves = true;
    }
    free(marks);
    tr_reach_free(&reach);
    return !has_failed(err);
}

static bool add_rates(Flow *flow, View *view, tr_error *err)
{
    System *s = flow->system;
    Expr *rates = calloc(2 * (size_t)flow->own + 1, sizeof *rates);
    if (!rates) return tr_fail_memory(err), false;
    tr_view_rates(flow, view, rates);
    tr_sensitivity_differentiate(s, flow->sensitivity, rates, flow->own, -1, rates + flow->own);
    if (check_switches(flow, rates, flow->own, err))
        view->tangent = tr_evaluator_of(s, rates + flow->own, flow->own, FIXED_PARAMETERS, err);
    free(rates);
    return !has_failed(err);
}

static bool add_columns(Flow *flow, View *view, tr_error *err)
{
    System *s = flow->system;
    const size_t most = (size_t)s->input_count + s->output_count + 1;
    Expr *values = calloc(2 * most, sizeof *values);
    uint32_t count = 0;
    if (!values) return tr_fail_memory(err), false;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++)
            if ((int)s->inputs[i].kind == kind) values[count++] = symbol_of(s, i);
    for (uint32_t i = 0; i < s->output_count; i++)
        if (is_model_output(&s->outputs[i])) values[count++] = s->outputs[i].values[0];
    tr_sensitivity_differentiate(s, flow->sensitivity, values, count, -1, values + count);
    view->column_tangent = tr_evaluator_of(s, values + count, count, FIXED_PARAMETERS, err);
    free(values);
    return !has_failed(err);
}

static bool add_projection(Flow *flow, View *view, tr_error *err)
{
    System *s = flow->system;
    if (!view->chart || !view->projected) return true;
    const Partition *p = &view->chart->partition;
    Expr *phi = calloc(2 * (size_t)view->projected + 1, sizeof *phi);
    uint32_t count = 0;
    if (!phi) return tr_fail_memory(err), false;
    for (uint32_t k = 0; k < p->count; k++)
        if (s->rows[p->row[k]].position.id) phi[count++] = s->rows[p->row[k]].position;
    tr_sensitivity_differentiate(s, flow->sensitivity, phi, count, -1, phi + count);
    view->projection_tangent = tr_evaluator_of(s, phi + count, count, FIXED_PARAMETERS, err);
    free(phi);
    return !has_failed(err);
}

bool tr_sensitivity_view(Flow *flow, View *view, tr_error *err)
{
    return !has_failed(err) && add_rates(flow, view, err) && add_columns(flow, view, err) &&
           add_projection(flow, view, err);
}

// ---- making them ---------------------------------------------------------------------------

// Speeds and inner velocities, from all others
static bool add_speeds(Flow *flow, tr_error *err)
{
    System *s = flow->system;
    Sensitivity *z = flow->sensitivity;
    Expr *values = calloc(2 * (size_t)z->input_count + 1, sizeof *values);
    if (!values) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Input *speed = s->rows[i].is_speed ? tr_system_input(s, s->rows[i].symbol) : NULL;
        if (!speed) continue;
        z->speed[z->speed_count] = (uint32_t)(speed - s->inputs);
        values[z->speed_count++] = s->rows[i].rate;
    }
    for (uint32_t i = 0; i < z->input_count; i++)
        if (s->inputs[i].kind == TR_INNER && s->inputs[i].definition.id) {
            z->speed[z->speed_count] = i;
            values[z->speed_count++] = s->inputs[i].definition;
        }
    if (z->speed_count) {
        tr_sensitivity_differentiate(s, z, values, z->speed_count, -1, values + z->speed_count);
        z->speeds =
            tr_evaluator_of(s, values + z->speed_count, z->speed_count, FIXED_PARAMETERS, err);
    }
    free(values);
    return !has_failed(err);
}

// From how positions and velocities change, in `all`
static void take_speeds(Flow *flow)
{
    const Sensitivity *z = flow->sensitivity;
    if (!z->speed_count) return;
    for (uint32_t j = 0; j < z->count; j++) {
        double *all = z->all + (size_t)j * z->input_count;
        tr_sensitivity_point(flow, j);
        evaluate_into(&z->speeds, flow->inputs, z->room);
        for (uint32_t k = 0; k < z->speed_count; k++) all[z->speed[k]] = z->room[k];
    }
}

static bool name_columns(Flow *flow, tr_error *err)
{
    System *s = flow->system;
    Sensitivity *z = flow->sensitivity;
    char label[900];
    for (uint32_t i = 0; i < s->input_count; i++)
        z->columns += s->inputs[i].kind == TR_POSITION || s->inputs[i].kind == TR_VELOCITY;
    const uint32_t inputs = z->columns;
    for (uint32_t i = 0; i < s->output_count; i++) z->columns += is_model_output(&s->outputs[i]);
    z->labels = calloc((size_t)z->columns * z->count + 1, sizeof *z->labels);
    if (!z->labels) return tr_fail_memory(err), false;
    for (uint32_t j = 0; j < z->count; j++)
        for (uint32_t k = 0, output = 0; k < z->columns; k++) {
            while (k >= inputs && !is_model_output(&s->outputs[output])) output++;
            const char *name = k < inputs ? flow->labels[k] : s->outputs[output++].label;
            snprintf(label, sizeof label, "d(%s)/d(%s)", name, s->inputs[z->parameter[j]].name);
            char *kept = tr_arena_text(&s->graph->arena, label, strlen(label));
            if (!kept) return tr_fail_memory(err), false;
            z->labels[(size_t)j * z->columns + k] = kept;
        }
    return true;
}

static bool make_room(Flow *flow, tr_error *err)
{
    const System *s = flow->system;
    Sensitivity *z = flow->sensitivity;
    double *inputs = realloc(flow->inputs, (s->input_count + 1u) * sizeof *inputs);
    if (inputs) flow->inputs = inputs;
    double *start = realloc(flow->start, ((size_t)flow->own * (z->count + 1) + 1) * sizeof *start);
    if (start) flow->start = start;
    const size_t most = z->columns + z->input_count + flow->own;
    z->all = calloc((size_t)z->count * z->input_count + 1, sizeof *z->all);
    z->room = calloc(2 * most + 1, sizeof *z->room);
    z->speed = calloc(z->input_count + 1u, sizeof *z->speed);
    if (!inputs || !start || !z->all || !z->room || !z->speed) return tr_fail_memory(err), false;
    flow->size = flow->own * (z->count + 1);
    return true;
}

static bool begin(Flow *flow, tr_error *err)
{
    System *s = flow->system;
    Sensitivity *z = flow->sensitivity;
    tr_flow_put_all(flow, 0, flow->start);
    if (flow->stance) tr_unreduce(s);
    const bool good = tr_sensitivity_start(flow, false, err) &&
                      tr_sensitivity_start(flow, true, err) && add_speeds(flow, err);
    if (good) take_speeds(flow);
    if (flow->stance) tr_reduce(s, &flow->now->chart->partition, err);
    if (!good || !tr_sensitivity_view(flow, flow->now, err)) return false;
    for (uint32_t j = 0; j < z->count; j++) flow->start[(size_t)flow->own * (j + 2) - 1] = 0;
    tr_sensitivity_enter(flow, flow->start);
    return true;
}

bool tr_sensitivity_attach(Flow *flow, const char *names, tr_error *err)
{
    System *s = flow->system;
    Sensitivity *z = has_failed(err) ? NULL : calloc(1, sizeof *z);
    if (!z) return tr_fail_memory(err), false;
    flow->sensitivity = z;
    z->input_count = 0;
    while (z->input_count < s->input_count && s->inputs[z->input_count].kind != TR_DIRECTION)
        z->input_count++; // those of an earlier run come last
    z->direction = calloc(2 * (size_t)s->input_count + 2, sizeof *z->direction);
    z->parameter = calloc(s->input_count + 1u, sizeof *z->parameter);
    if (!z->direction || !z->parameter) return tr_fail_memory(err), false;
    return choose_parameters(s, z, names, err) && name_columns(flow, err) && make_room(flow, err) &&
           begin(flow, err);
}

void tr_sensitivity_free(Sensitivity *z)
{
    if (!z) return;
    tr_evaluator_free(&z->speeds);
    free(z->parameter);
    free(z->direction);
    free(z->labels);
    free(z->all);
    free(z->room);
    free(z->speed);
    free(z);
}

// ---- along the way -------------------------------------------------------------------------

void tr_sensitivity_rate(Flow *flow, const double *y, double *rate)
{
    for (uint32_t j = 0; j < flow->sensitivity->count; j++) {
        point_along(flow, y, j);
        evaluate_into(&flow->now->tangent, flow->inputs, rate + (size_t)flow->own * (j + 1));
    }
}

void tr_sensitivity_rows(Flow *flow, const double *y, uint32_t which, double *out)
{
    point_along(flow, y, which);
    evaluate_into(&flow->now->projection_tangent, flow->inputs, out);
}

uint32_t tr_sensitivity_count(const Flow *flow)
{
    return flow->sensitivity ? flow->sensitivity->count * flow->sensitivity->columns : 0;
}

const char *const *tr_sensitivity_labels(const Flow *flow) { return flow->sensitivity->labels; }

void tr_sensitivity_columns(Flow *flow, double t, const double *y, double *columns)
{
    const Sensitivity *z = flow->sensitivity;
    tr_flow_put(flow, t, y);
    for (uint32_t j = 0; j < z->count; j++) {
        point_along(flow, y, j);
        evaluate_into(&flow->now->column_tangent, flow->inputs, columns + (size_t)j * z->columns);
    }
}

void tr_sensitivity_leave(Flow *flow, double t, const double *y)
{
    const System *s = flow->system;
    const Sensitivity *z = flow->sensitivity;
    if (!z) return;
    tr_flow_put_all(flow, t, y);
    for (uint32_t j = 0; j < z->count; j++) {
        double *all = z->all + (size_t)j * z->input_count;
        uint32_t column = 0;
        point_along(flow, y, j);
        evaluate_into(&flow->now->column_tangent, flow->inputs, z->room);
        for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
            for (uint32_t i = 0; i < z->input_count; i++)
                if ((int)s->inputs[i].kind == kind) all[i] = z->room[column++];
    }
    take_speeds(flow);
}

void tr_sensitivity_enter(Flow *flow, double *y)
{
    const Sensitivity *z = flow->sensitivity;
    for (uint32_t j = 0; z && j < z->count; j++)
        for (uint32_t k = 0; k < flow->known; k++)
            y[(size_t)flow->own * (j + 1) + k] =
                z->all[(size_t)j * z->input_count + flow->now->place[k]];
}

bool tr_sensitivity_passes(Flow *flow, double before, double after, const double *y, tr_error *err)
{
    const Sensitivity *z = flow->sensitivity;
    if (!z || !z->moves) return true;
    double *rate = z->room, *then = rate + flow->own;
    tr_flow_put(flow, before, y);
    evaluate_into(&flow->now->rates, flow->inputs, rate);
    tr_flow_put(flow, after, y);
    evaluate_into(&flow->now->rates, flow->inputs, then);
    for (uint32_t k = 0; k < flow->own; k++)
        if (fabs(then[k] - rate[k]) > 1e-9 * (1 + fabs(rate[k]))) {
            tr_fail(err, TR_FAILED, (Place){0},
                    "a formula jumps at t = %.9g, at a time that may depend on the parameters: "
                    "sensitivities do not go on from there",
                    after);
            return false;
        }
    return true;
}
