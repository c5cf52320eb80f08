// SPDX-License-Identifier: Apache-2.0
// Programs take directions: for each position, velocity and chosen parameter how it changes. They
// give the derivatives of rates, columns and constraints along them (T108). That of rates
// takes a direction for every parameter: what does not change along them is found once.
#include "plan/sensitivity.h"

#include "expr/derivative.h"
#include "expr/walk.h"
#include "plan/jump.h"
#include "reduce/bound_changes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- directions ----------------------------------------------------------------------------

// Numbers of the start have names that are none for formulas: they are counted.
static void name_part(const System *s, uint32_t input, char part[400])
{
    if (s->inputs[input].kind == TR_START)
        snprintf(part, 400, "start%u", input);
    else
        snprintf(part, 400, "%s", s->inputs[input].name);
}

static bool add_direction(System *s, Sensitivity *z, uint32_t which, uint32_t input, tr_error *err)
{
    char name[900], parameter[400], own[400];
    name_part(s, z->parameter[which], parameter);
    name_part(s, input, own);
    snprintf(name, sizeof name, "sensitivity.%s.%s", parameter, own);
    z->direction[(size_t)which * z->input_count + input] = s->input_count;
    tr_input(s, name, TR_DIRECTION, 0, err);
    return !has_failed(err);
}

static bool changes_along(const Input *input)
{
    return is_placed(input) || input->kind == TR_VELOCITY || input->kind == TR_SPEED ||
           input->kind == TR_INNER;
}

static bool choose_parameter(const System *s, Sensitivity *z, Text name, tr_error *err)
{
    const Input *input = tr_system_setting(s, name, "varied", err);
    if (!input) return false;
    if (input->follows.id)
        tr_fail(err, TR_USAGE, (Place){0},
                "'%.*s' is a formula of t: it can be varied once it is set to a number",
                TEXT(name));
    const uint32_t place = (uint32_t)(input - s->inputs);
    for (uint32_t k = 0; k < z->count; k++)
        if (z->parameter[k] == place)
            tr_fail(err, TR_USAGE, (Place){0}, "'%.*s' is named twice", TEXT(name));
    z->parameter[z->count++] = place;
    return !has_failed(err);
}

static bool choose_parameters(const System *s, Sensitivity *z, const char *names, tr_error *err)
{
    for (const char *at = names; *at;) {
        at += strspn(at, ", ");
        const Text name = {at, strcspn(at, ", ")};
        if (name.length && !choose_parameter(s, z, name, err)) return false;
        at += name.length;
    }
    if (!z->count) tr_fail(err, TR_USAGE, (Place){0}, "sensitivity to which parameters?");
    return !has_failed(err);
}

// A number of the start that is varied follows no formula any more.
static void choose_inputs(System *s, Sensitivity *z, const uint32_t *inputs, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        Input *input = &s->inputs[inputs[k]];
        z->parameter[z->count++] = inputs[k];
        if (input->kind == TR_START) input->definition = expr_at(s->graph, 0);
    }
}

static bool add_frozen(System *s, Sensitivity *z, tr_error *err)
{
    char name[800];
    z->frozen = s->input_count;
    for (uint32_t i = 0; i < z->input_count && !has_failed(err); i++) {
        snprintf(name, sizeof name, "frozen.%s", s->inputs[i].name);
        if (s->inputs[i].kind == TR_VELOCITY) tr_input(s, name, TR_DIRECTION, 0, err);
    }
    return !has_failed(err);
}

static bool add_directions(System *s, Sensitivity *z, tr_error *err)
{
    z->direction = calloc((size_t)z->count * z->input_count + 1, sizeof *z->direction);
    if (!z->direction) tr_fail_memory(err);
    for (uint32_t j = 0; j < z->count; j++)
        for (uint32_t i = 0; i < z->input_count && !has_failed(err); i++) {
            bool chosen = changes_along(&s->inputs[i]);
            for (uint32_t k = 0; !j && k < z->count; k++) chosen = chosen || z->parameter[k] == i;
            if (chosen) add_direction(s, z, j, i, err);
        }
    return !has_failed(err) && (s->row_count || add_frozen(s, z, err));
}

void tr_sensitivity_differentiate(System *s, const Sensitivity *z, Expr *of, size_t count,
                                  Except except, Expr *out)
{
    Expr *symbols = calloc(2 * (size_t)z->input_count + 1, sizeof *symbols);
    Expr *changes = symbols ? symbols + z->input_count : NULL;
    size_t n = 0;
    if (!symbols) s->graph->failed = true;
    tr_system_resolve(s, of, count);
    for (uint32_t i = 0; symbols && i < z->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (!z->direction[i] || input->definition.id ||
            (except == EXCEPT_POSITIONS && is_placed(input)) ||
            (except == EXCEPT_VELOCITIES && input->kind == TR_VELOCITY))
            continue;
        symbols[n] = symbol_of(s, i), changes[n++] = symbol_of(s, z->direction[i]);
    }
    if (symbols) tr_forward(s->graph, of, count, symbols, changes, n, out);
    free(symbols);
}

// Sets the directions of one parameter, but for those of the state.
static void choose_direction(const Flow *flow, uint32_t which)
{
    const Sensitivity *z = flow->sensitivity->of;
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
        flow->inputs[flow->sensitivity->of->direction[flow->now->place[k]]] = S[k];
}

void tr_sensitivity_point(const Flow *flow, uint32_t which)
{
    const Sensitivity *z = flow->sensitivity->of;
    const double *all = flow->sensitivity->all + (size_t)which * z->input_count;
    choose_direction(flow, which);
    for (uint32_t i = 0; i < z->input_count; i++)
        if (changes_along(&flow->system->inputs[i])) flow->inputs[z->direction[i]] = all[i];
}

// ---- programs of a chart -------------------------------------------------------------------

// A comparison of what depends on the state may let the rates jump at a time that is not known
// beforehand.
static bool check_switches(System *s, const Sensitivity *z, const Expr *rates, uint32_t count,
                           bool *moves, tr_error *err)
{
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
        for (uint32_t j = 0; input && j < z->count; j++)
            if (s->inputs + z->parameter[j] == input) marks[id] = CHOSEN;
        for (int i = 0; i < tr_op[node->op].operands; i++)
            marks[id] |= marks[node_operand(node, i)];
        const bool jumps = node->op == OP_LESS || node->op == OP_LESS_EQUAL ||
                           node->op == OP_EQUAL || node->op == OP_NOT_EQUAL ||
                           node->op == OP_FLOOR || tr_table_jumps(s->graph, node);
        if (jumps && (marks[id] & STATE))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the equations compare or round what depends on the state: sensitivities could "
                    "jump there, and are not given");
        if (jumps && marks[id] == (TIME | CHOSEN)) *moves = true;
    }
    free(marks);
    tr_reach_free(&reach);
    return !has_failed(err);
}

// The derivatives of expressions, which are resolved, along directions
static tr_program *compile_tangent(System *s, const Sensitivity *z, Exprs *of, const uint8_t *fold,
                                   tr_error *err)
{
    const uint32_t count = of->count;
    Expr *slopes = calloc(count + 1u, sizeof *slopes);
    tr_program *program = NULL;
    if (!slopes || of->failed)
        tr_fail_memory(err);
    else {
        tr_sensitivity_differentiate(s, z, of->at, count, EXCEPT_NOTHING, slopes);
        program = tr_compile_open(s, slopes, count, fold, err);
    }
    free(slopes);
    return program;
}

// What changes with one parameter: all that is in y, and itself
static uint32_t list_changes(System *s, const Sensitivity *z, const ChartPrograms *c,
                             uint32_t which, Expr *symbols, Expr *changes)
{
    const uint32_t *direction = z->direction + (size_t)which * z->input_count;
    for (uint32_t k = 0; k < c->known; k++)
        symbols[k] = symbol_of(s, c->place[k]), changes[k] = symbol_of(s, direction[c->place[k]]);
    symbols[c->known] = symbol_of(s, z->parameter[which]);
    changes[c->known] = one(s->graph);
    return c->known + 1;
}

// By the graph
static void differentiate_rates(System *s, const Sensitivity *z, const ChartPrograms *c,
                                const Expr *rates, Expr *out)
{
    Expr *symbols = calloc(2 * (size_t)(c->known + 1), sizeof *symbols);
    if (!symbols) s->graph->failed = true;
    for (uint32_t j = 0; symbols && j < z->count; j++) {
        Expr *changes = symbols + c->known + 1;
        const uint32_t count = list_changes(s, z, c, j, symbols, changes);
        tr_forward(s->graph, rates, c->own, symbols, changes, count, out + (size_t)j * c->own);
    }
    free(symbols);
}

// Accelerations by way of the equations of motion (T190), in place of what they are; false where
// there is no such way
static bool by_equations(System *s, const Sensitivity *z, const ChartPrograms *c, Expr *out)
{
    const size_t speeds = c->known - c->positions, all = c->known + 1u, count = z->count,
                 n = tr_system_velocities(s, NULL);
    Expr *room = calloc(count * (2 * all + speeds) + n, sizeof *room);
    SlopeColumn *columns = calloc(count, sizeof *columns);
    uint32_t *w = calloc(s->input_count + 1u, sizeof *w);
    bool good = room && columns && w;
    if (!good) s->graph->failed = true;
    good = good && tr_independent(s, w) == speeds;
    for (size_t k = 0; good && k < speeds; k++) good = w[k] == c->place[c->positions + k];
    Expr *changes = good ? room + count * 2 * all : NULL,
         *frozen = good ? changes + count * speeds : NULL;
    for (uint32_t k = 0; good && z->frozen && k < n; k++) frozen[k] = symbol_of(s, z->frozen + k);
    for (uint32_t j = 0; good && j < count; j++) {
        Expr *from = room + j * 2 * all, *to = from + all;
        columns[j] = (SlopeColumn){from, to, list_changes(s, z, c, j, from, to), NO_INPUT, 0};
    }
    good = good && tr_acceleration_changes(s, &c->partition, columns, z->count, frozen, changes);
    for (size_t j = 0; good && j < count; j++)
        for (size_t k = 0; k < speeds; k++)
            out[j * c->own + c->positions + k] = changes[k * count + j];
    free(room);
    free(columns);
    free(w);
    return good;
}

// How rates, which are resolved, change with each parameter, in the shorter way
static void find_changes(System *s, const Sensitivity *z, const ChartPrograms *c, const Expr *rates,
                         Expr *out)
{
    const size_t all = (size_t)z->count * c->own;
    Expr *other = calloc(all, sizeof *other);
    differentiate_rates(s, z, c, rates, out);
    if (!other) s->graph->failed = true;
    if (other && !s->graph->failed) {
        memcpy(other, out, all * sizeof *out);
        if (by_equations(s, z, c, other) &&
            tr_system_operations(s, other, all) < tr_system_operations(s, out, all))
            memcpy(out, other, all * sizeof *out);
    }
    free(other);
}

tr_program *tr_tangent_program(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    const Sensitivity *z = plan->sensitivity;
    const size_t all = (size_t)z->count * c->own;
    Expr *rates = calloc(all + c->own, sizeof *rates), *changes = rates ? rates + c->own : NULL;
    tr_program *program = NULL;
    if (rates) {
        tr_chart_rates(s, c, rates);
        tr_system_resolve(s, rates, c->own);
        find_changes(s, z, c, rates, changes);
        program = tr_compile_open(s, changes, all, c->footing->fold, err);
        if (!has_failed(err)) check_switches(s, z, rates, c->own, &c->moves, err);
    } else
        tr_fail_memory(err);
    free(rates);
    return program;
}

tr_program *tr_column_tangent_program(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    Exprs values = {0};
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++)
            if ((int)s->inputs[i].kind == kind) exprs_add(&values, symbol_of(s, i));
    for (uint32_t i = 0; i < s->output_count; i++)
        if (is_model_output(&s->outputs[i])) exprs_add(&values, s->outputs[i].values[0]);
    tr_program *program = compile_tangent(s, plan->sensitivity, &values, c->footing->fold, err);
    tr_exprs_free(&values);
    return program;
}

tr_program *tr_projection_tangent_program(const Plan *plan, System *s, ChartPrograms *c,
                                          tr_error *err)
{
    tr_program *program = NULL;
    Exprs phi = {0};
    tr_chart_phi(s, c, &phi);
    if (phi.count) program = compile_tangent(s, plan->sensitivity, &phi, c->footing->fold, err);
    tr_exprs_free(&phi);
    return program;
}

// ---- a plan for them -----------------------------------------------------------------------

// Speeds and inner velocities, from all others
static void compile_speeds(const System *own, Sensitivity *z, tr_error *err)
{
    System *s = tr_system_copy(own, err);
    Exprs values = {0};
    if (!s) return;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Input *speed = s->rows[i].is_speed ? tr_system_input(s, s->rows[i].symbol) : NULL;
        if (!speed) continue;
        z->speed[z->speed_count++] = (uint32_t)(speed - s->inputs);
        exprs_add(&values, s->rows[i].rate);
    }
    for (uint32_t i = 0; i < z->input_count; i++)
        if (s->inputs[i].kind == TR_INNER && s->inputs[i].definition.id) {
            z->speed[z->speed_count++] = i;
            exprs_add(&values, s->inputs[i].definition);
        }
    if (z->speed_count) z->speeds = compile_tangent(s, z, &values, NULL, err);
    tr_exprs_free(&values);
    tr_system_free(s);
}

static bool name_columns(System *s, Sensitivity *z, tr_error *err)
{
    char label[900];
    Exprs unused = {0};
    const char **plain = calloc((size_t)s->input_count + s->output_count + 1, sizeof *plain);
    if (plain) tr_chart_columns(s, &unused, plain);
    for (uint32_t i = 0; i < s->input_count; i++)
        z->columns += s->inputs[i].kind == TR_POSITION || s->inputs[i].kind == TR_VELOCITY;
    const uint32_t inputs = z->columns;
    for (uint32_t i = 0; i < s->output_count; i++) z->columns += is_model_output(&s->outputs[i]);
    z->labels = calloc((size_t)z->columns * z->count + 1, sizeof *z->labels);
    bool good = plain && z->labels && !unused.failed;
    for (uint32_t j = 0; good && j < z->count; j++)
        for (uint32_t k = 0, output = 0; good && k < z->columns; k++) {
            while (k >= inputs && !is_model_output(&s->outputs[output])) output++;
            const char *name = k < inputs ? plain[k] : s->outputs[output++].label;
            snprintf(label, sizeof label, "d(%s)/d(%s)", name, s->inputs[z->parameter[j]].name);
            const char *kept = tr_arena_text(&s->graph->arena, label, strlen(label));
            z->labels[(size_t)j * z->columns + k] = kept;
            good = kept != NULL;
        }
    free(plain);
    tr_exprs_free(&unused);
    if (!good) tr_fail_memory(err);
    return good;
}

// Inputs that the model has formulas of parameters for follow these, unless they are varied
// themselves.
static void follow_parameters(System *s, const Sensitivity *z)
{
    for (uint32_t i = 0; i < z->input_count; i++) {
        Input *input = &s->inputs[i];
        bool chosen = false;
        for (uint32_t k = 0; k < z->count; k++) chosen = chosen || z->parameter[k] == i;
        if (input->kind == TR_INPUT && input->guess.id && !input->follows.id && !chosen)
            input->definition = input->guess;
    }
}

// Which parameters has been said.
static bool fill_sensitivity(System *own, Sensitivity *z, tr_error *err)
{
    follow_parameters(own, z);
    if (!has_failed(err) && add_directions(own, z, err) && name_columns(own, z, err))
        compile_speeds(own, z, err);
    return !has_failed(err);
}

static Sensitivity *new_sensitivity(const System *own, tr_error *err)
{
    Sensitivity *z = own ? calloc(1, sizeof *z) : NULL;
    if (own && !z) tr_fail_memory(err);
    if (!z) return NULL;
    z->input_count = own->input_count;
    z->parameter = calloc(own->input_count + 1u, sizeof *z->parameter);
    z->speed = calloc(own->input_count + 1u, sizeof *z->speed);
    if (z->parameter && z->speed) return z;
    tr_sensitivity_free(z);
    return tr_fail_memory(err), NULL;
}

// Both are taken over.
static Plan *plan_of(System *own, Sensitivity *z, tr_error *err)
{
    if (!z || !fill_sensitivity(own, z, err)) {
        tr_sensitivity_free(z);
        tr_system_free(own);
        return NULL;
    }
    Plan *plan = tr_plan_own(own, err);
    if (plan)
        plan->sensitivity = z;
    else
        tr_sensitivity_free(z);
    return plan;
}

static void check_samples(const System *system, tr_error *err)
{
    if (system && system->clocked_count)
        tr_fail(err, TR_USAGE, system->clocked[0].place,
                "sensitivities do not see through samples: leave out the controllers and sensors");
}

Plan *tr_sensitivity_plan(const System *system, const char *names, tr_error *err)
{
    System *own = tr_system_copy(system, err);
    Sensitivity *z = new_sensitivity(own, err);
    check_samples(system, err);
    if (z) choose_parameters(own, z, names, err);
    return plan_of(own, z, err);
}

Plan *tr_sensitivity_plan_by(const System *system, const uint32_t *inputs, uint32_t count,
                             tr_error *err)
{
    System *own = tr_system_copy(system, err);
    Sensitivity *z = new_sensitivity(own, err);
    check_samples(system, err);
    if (z) choose_inputs(own, z, inputs, count);
    return plan_of(own, z, err);
}

void tr_sensitivity_free(Sensitivity *z)
{
    if (!z) return;
    tr_program_free(z->speeds);
    free(z->parameter);
    free(z->direction);
    free(z->labels);
    free(z->speed);
    free(z);
}

// ---- a run with them -----------------------------------------------------------------------

// From how positions and velocities change, in `all`
static void take_speeds(Flow *flow)
{
    SensitivityRun *run = flow->sensitivity;
    const Sensitivity *z = run->of;
    if (!z->speed_count) return;
    for (uint32_t j = 0; j < z->count; j++) {
        double *all = run->all + (size_t)j * z->input_count;
        tr_sensitivity_point(flow, j);
        tr_flow_evaluate(flow, &run->speeds, run->room);
        for (uint32_t k = 0; k < z->speed_count; k++) all[z->speed[k]] = run->room[k];
    }
}

static bool make_room(Flow *flow, SensitivityRun *run, tr_error *err)
{
    const Sensitivity *z = run->of;
    double *start = realloc(flow->start, ((size_t)flow->own * (z->count + 1) + 1) * sizeof *start);
    if (start) flow->start = start;
    const size_t most = z->columns + z->input_count + flow->own;
    run->all = calloc((size_t)z->count * z->input_count + 1, sizeof *run->all);
    run->room = calloc(2 * most + 1, sizeof *run->room);
    run->speeds = tr_evaluator_with(z->speeds, err);
    if (!start || !run->all || !run->room) tr_fail_memory(err);
    if (has_failed(err)) return false;
    flow->size = flow->own * (z->count + 1);
    return true;
}

static bool begin(Flow *flow, tr_error *err)
{
    const Sensitivity *z = flow->sensitivity->of;
    System *own = tr_plan_system(flow->plan, flow->footing, NULL, err);
    tr_flow_fill_all(flow, 0, flow->start);
    const bool good = own && tr_sensitivity_start(flow, own, false, err) &&
                      tr_sensitivity_start(flow, own, true, err);
    tr_system_free(own);
    if (!good) return false;
    take_speeds(flow);
    for (uint32_t j = 0; j < z->count; j++) flow->start[(size_t)flow->own * (j + 2) - 1] = 0;
    tr_sensitivity_enter(flow, flow->start);
    return true;
}

bool tr_sensitivity_attach(Flow *flow, tr_error *err)
{
    if (!flow->plan->sensitivity || has_failed(err)) return !has_failed(err);
    SensitivityRun *run = calloc(1, sizeof *run);
    if (!run) return tr_fail_memory(err), false;
    run->of = flow->plan->sensitivity;
    flow->sensitivity = run;
    return make_room(flow, run, err) && begin(flow, err);
}

void tr_sensitivity_run_free(SensitivityRun *run)
{
    if (!run) return;
    tr_evaluator_free(&run->speeds);
    free(run->all);
    free(run->room);
    free(run);
}

// ---- along the way -------------------------------------------------------------------------

void tr_sensitivity_rate(Flow *flow, const double *y, double *rate)
{
    const Sensitivity *z = flow->sensitivity->of;
    for (uint32_t j = 0; j < z->count; j++)
        for (uint32_t k = 0; k < flow->known; k++)
            flow->inputs[z->direction[(size_t)j * z->input_count + flow->now->place[k]]] =
                block(flow, y, j)[k];
    tr_flow_evaluate(flow, flow_program(flow, CHART_TANGENT), rate + flow->own);
}

void tr_sensitivity_rows(Flow *flow, const double *y, uint32_t which, double *out)
{
    point_along(flow, y, which);
    tr_flow_evaluate(flow, flow_program(flow, CHART_PROJECTION_TANGENT), out);
}

uint32_t tr_sensitivity_count(const Flow *flow)
{
    const Sensitivity *z = flow->plan->sensitivity;
    return z ? z->count * z->columns : 0;
}

const char *const *tr_sensitivity_labels(const Flow *flow)
{
    return flow->plan->sensitivity->labels;
}

void tr_sensitivity_columns(Flow *flow, double t, const double *y, double *columns)
{
    const Sensitivity *z = flow->sensitivity->of;
    tr_flow_fill(flow, t, y);
    for (uint32_t j = 0; j < z->count; j++) {
        point_along(flow, y, j);
        tr_flow_evaluate(flow, flow_program(flow, CHART_COLUMN_TANGENT),
                         columns + (size_t)j * z->columns);
    }
}

void tr_sensitivity_leave(Flow *flow, double t, const double *y)
{
    const System *s = flow->system;
    SensitivityRun *run = flow->sensitivity;
    if (!run) return;
    const Sensitivity *z = run->of;
    tr_flow_fill_all(flow, t, y);
    for (uint32_t j = 0; j < z->count; j++) {
        double *all = run->all + (size_t)j * z->input_count;
        uint32_t column = 0;
        point_along(flow, y, j);
        tr_flow_evaluate(flow, flow_program(flow, CHART_COLUMN_TANGENT), run->room);
        for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
            for (uint32_t i = 0; i < z->input_count; i++)
                if ((int)s->inputs[i].kind == kind) all[i] = run->room[column++];
        for (uint32_t k = 0; k < flow->positions; k++) // contacts are in no column
            all[flow->now->place[k]] = block(flow, y, j)[k];
    }
    take_speeds(flow);
}

void tr_sensitivity_enter(Flow *flow, double *y)
{
    const SensitivityRun *run = flow->sensitivity;
    for (uint32_t j = 0; run && j < run->of->count; j++)
        for (uint32_t k = 0; k < flow->known; k++)
            y[(size_t)flow->own * (j + 1) + k] =
                run->all[(size_t)j * run->of->input_count + flow->now->place[k]];
}

bool tr_sensitivity_passes(Flow *flow, double before, double after, const double *y, tr_error *err)
{
    const SensitivityRun *run = flow->sensitivity;
    if (!run || !flow->now->programs->moves) return true;
    double *rate = run->room, *then = rate + flow->own;
    tr_flow_fill(flow, before, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_RATES), rate);
    flow->inputs[0] = after; // on the far side
    tr_flow_evaluate(flow, flow_program(flow, CHART_RATES), then);
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
