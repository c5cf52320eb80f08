// SPDX-License-Identifier: Apache-2.0
// Programs take directions: for each position, velocity and chosen parameter how it changes. They
// give the derivatives of rates, columns and constraints along them, from the graph (T108, T109).
//
// The start is where conditions c(u, p) = 0 hold and u is nearest to its guess g, first for
// positions, then for rates: u - g + J^T m = 0 with J = dc/du. So
//
//   | 1 + d(J^T m)/du  J^T | | du |     | dg - d(J^T m) |
//   | J                 0  | | dm |  =  |    - dc       |   along what is not u
#include "run/sensitivity.h"

#include "expr/derivative.h"
#include "expr/walk.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Sensitivity {
    uint32_t count;       // of parameters
    uint32_t *parameter;  // inputs
    uint32_t *direction;  // by input: the input that is its direction, or 0
    uint32_t input_count; // of the system, before there were directions
    const char **labels;  // of the columns
    uint32_t columns;     // for each parameter
    double *all;          // by parameter, by input: how all positions and velocities change
    double *room;         // for columns and rates
    Evaluator speeds;     // how speeds and inner velocities change
    uint32_t *speed;      // their inputs
    uint32_t speed_count;
    bool moves; // times of jumps depend on a parameter
};

static Expr symbol_of(const System *s, uint32_t input) { return s->inputs[input].symbol; }

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

static bool choose_parameter(System *s, Sensitivity *z, Text name, tr_error *err)
{
    Suggestion nearest = {.wanted = name};
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < z->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind != TR_PARAMETER && input->kind != TR_INPUT) continue;
        tr_suggest(&nearest, text_of(input->name));
        if (!text_is(name, input->name)) continue;
        for (uint32_t k = 0; k < z->count; k++)
            if (z->parameter[k] == i) {
                tr_fail(err, TR_USAGE, (Place){0}, "'%.*s' is named twice", TEXT(name));
                return false;
            }
        z->parameter[z->count++] = i;
        return true;
    }
    if (tr_system_find(s, name))
        tr_fail(err, TR_USAGE, (Place){0},
                "'%.*s' is no parameter of its own: give it a value to make it one", TEXT(name));
    else
        tr_fail(err, TR_USAGE, (Place){0}, "there is no parameter or input '%.*s'%s", TEXT(name),
                tr_hint(&nearest, hint));
    return false;
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

// Derivatives along the directions of what is free; definitions are put in first. `except` is a
// kind that does not change.
static void differentiate(System *s, const Sensitivity *z, Expr *of, size_t count, int except,
                          Expr *out)
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

static Evaluator compiled(System *s, const char *name, const Expr *values, size_t count,
                          tr_error *err)
{
    return tr_evaluator_of(s, name, values, count, FIXED_PARAMETERS, err);
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
    differentiate(s, flow->sensitivity, rates, flow->own, -1, rates + flow->own);
    if (check_switches(flow, rates, flow->own, err))
        view->tangent = compiled(s, "run.tangent", rates + flow->own, flow->own, err);
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
    differentiate(s, flow->sensitivity, values, count, -1, values + count);
    view->column_tangent = compiled(s, "run.column_tangent", values + count, count, err);
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
    differentiate(s, flow->sensitivity, phi, count, -1, phi + count);
    view->projection_tangent = compiled(s, "run.projection_tangent", phi + count, count, err);
    free(phi);
    return !has_failed(err);
}

bool tr_sensitivity_view(Flow *flow, View *view, tr_error *err)
{
    return !has_failed(err) && add_rates(flow, view, err) && add_columns(flow, view, err) &&
           add_projection(flow, view, err);
}

// ---- the start -----------------------------------------------------------------------------

// Conditions on positions or on rates
typedef struct Start {
    uint32_t n, m;   // unknowns, conditions
    uint32_t *place; // of unknowns
    Expr *c, *J;     // conditions, and slopes by unknowns
    double *value;   // of J
    double *u, *guess, *multiplier;
} Start;

static uint32_t collect(System *s, bool rates, Expr *c)
{
    const Output *initial =
        tr_system_output(s, text_of(rates ? "initial.rate" : "initial.position"));
    uint32_t m = 0;
    for (uint32_t i = 0; initial && i < initial->rows; i++) c[m++] = initial->values[i];
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Expr x = rates ? s->rows[i].rate : s->rows[i].position;
        if (!s->rows[i].is_speed && !s->rows[i].is_open && x.id) c[m++] = x;
    }
    for (uint32_t i = 0; i < s->quaternion_count && !rates; i++) {
        const uint32_t first = s->quaternions[i].position;
        if (s->inputs[first].definition.id) continue;
        Expr sum = number(s->graph, -1);
        for (uint32_t k = 0; k < 4; k++)
            sum = add(sum, mul(symbol_of(s, first + k), symbol_of(s, first + k)));
        c[m++] = quotient(sum, number(s->graph, 2));
    }
    return m;
}

static bool open_start(Start *a, Flow *flow, bool rates, tr_error *err)
{
    System *s = flow->system;
    const uint32_t inputs = flow->sensitivity->input_count;
    const Output *initial =
        tr_system_output(s, text_of(rates ? "initial.rate" : "initial.position"));
    const size_t most = s->row_count + (initial ? initial->rows : 0) + s->quaternion_count + 1u;
    a->place = calloc(inputs + 1u, sizeof *a->place);
    for (uint32_t i = 0; a->place && i < inputs; i++)
        if (s->inputs[i].kind == (rates ? TR_VELOCITY : TR_POSITION) && !s->inputs[i].definition.id)
            a->place[a->n++] = i;
    a->c = calloc(most * (a->n + 1u) + a->n + 1, sizeof *a->c);
    a->value = calloc(most * a->n + 3 * (most + a->n) + 1, sizeof *a->value);
    if (!a->place || !a->c || !a->value) return tr_fail_memory(err), false;
    a->m = collect(s, rates, a->c);
    tr_system_resolve(s, a->c, a->m);
    a->J = a->c + a->m;
    Expr *unknown = a->J + (size_t)a->m * a->n;
    for (uint32_t k = 0; k < a->n; k++) unknown[k] = symbol_of(s, a->place[k]);
    if (a->m && a->n) tr_dense_jacobian(s->graph, a->c, a->m, unknown, a->n, a->J);
    a->u = a->value + (size_t)a->m * a->n, a->guess = a->u + a->n;
    a->multiplier = a->guess + a->n;
    for (uint32_t k = 0; k < a->n; k++) {
        a->u[k] = flow->inputs[a->place[k]], a->guess[k] = s->inputs[a->place[k]].value;
    }
    return true;
}

static void close_start(Start *a)
{
    free(a->place);
    free(a->c);
    free(a->value);
}

// J^T m = guess - u, as near as it gets; false when that is not near
static bool find_multipliers(Start *a, Flow *flow, tr_error *err)
{
    const size_t n = a->n, m = a->m, more = n > m ? n : m;
    double *M = calloc(n * m + 2 * more + 1, sizeof *M), worst = 0;
    Evaluator slopes = compiled(flow->system, "run.start_slopes", a->J, n * m, err);
    if (!M) tr_fail_memory(err);
    if (slopes.work && M) {
        double *x = M + n * m, *sigma = x + more;
        lapack_int rank;
        evaluate_into(&slopes, flow->inputs, a->value);
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < n; k++) M[k * m + i] = a->value[i * n + k];
        for (size_t k = 0; k < n; k++) x[k] = a->guess[k] - a->u[k];
        if (LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)n, (lapack_int)m, 1, M, (lapack_int)m, x,
                           1, sigma, 1e-10, &rank))
            tr_fail_memory(err);
        memcpy(a->multiplier, x, m * sizeof *x);
        for (size_t k = 0; k < n; k++) {
            double off = a->guess[k] - a->u[k];
            for (size_t i = 0; i < m; i++) off -= a->value[i * n + k] * a->multiplier[i];
            worst = fmax(worst, fabs(off) / (1 + fabs(a->guess[k] - a->u[k])));
        }
    }
    tr_evaluator_free(&slopes);
    free(M);
    if (!has_failed(err) && !(worst < 1e-6))
        tr_fail(err, TR_FAILED, (Place){0},
                "the initial state is not where it is nearest to its guess: how it depends on "
                "parameters is not known; give more initial conditions");
    return !has_failed(err);
}

// J^T m as expressions, then the conditions, then guesses
static Expr *make_equations(const Start *a, const System *s, tr_error *err)
{
    Expr *F = calloc(2 * (size_t)a->n + a->m + 1, sizeof *F);
    if (!F) return tr_fail_memory(err), NULL;
    for (uint32_t k = 0; k < a->n; k++) {
        F[k] = zero(s->graph);
        for (uint32_t i = 0; i < a->m; i++)
            F[k] = add(F[k], mul(number(s->graph, a->multiplier[i]), a->J[i * a->n + k]));
        const Expr guess = s->inputs[a->place[k]].guess;
        F[a->n + a->m + k] = guess.id ? guess : zero(s->graph);
    }
    for (uint32_t i = 0; i < a->m; i++) F[a->n + i] = a->c[i];
    return F;
}

// The matrix above, by rows: n + m
static void fill_matrix(const Start *a, const double *slopes, double *M)
{
    const size_t n = a->n, m = a->m, N = n + m;
    for (size_t i = 0; i < N * N; i++) M[i] = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < n; k++) M[i * N + k] = slopes[i * n + k];
    for (size_t k = 0; k < n; k++) {
        M[k * N + k] += 1;
        for (size_t i = 0; i < m; i++) M[k * N + n + i] = slopes[(n + i) * n + k];
    }
}

// How the unknowns change with each parameter, into `all`
static bool vary(const Start *a, Flow *flow, const Evaluator *slopes, const Evaluator *changes,
                 tr_error *err)
{
    Sensitivity *z = flow->sensitivity;
    const size_t n = a->n, m = a->m, N = n + m;
    double *M = calloc(2 * N * N + 4 * N + n + 1, sizeof *M);
    if (!M) return tr_fail_memory(err), false;
    double *S = M + N * N, *d = S + N * N, *x = d + N + n, *sigma = x + N;
    evaluate_into(slopes, flow->inputs, S);
    for (uint32_t j = 0; j < z->count && !has_failed(err); j++) {
        lapack_int rank;
        double *all = z->all + (size_t)j * z->input_count;
        choose_direction(flow, j);
        for (uint32_t i = 0; i < z->input_count; i++)
            if (changes_along(&flow->system->inputs[i])) flow->inputs[z->direction[i]] = all[i];
        evaluate_into(changes, flow->inputs, d);
        for (size_t i = 0; i < N; i++) x[i] = (i < n ? d[N + i] : 0) - d[i];
        fill_matrix(a, S, M);
        bool finite = true;
        for (size_t i = 0; i < N * N; i++) finite = finite && isfinite(M[i]);
        for (size_t i = 0; i < N; i++) finite = finite && isfinite(x[i]);
        if (!finite)
            tr_fail(err, TR_FAILED, (Place){0},
                    "the initial state does not depend smoothly on '%s'",
                    flow->system->inputs[z->parameter[j]].name);
        else if (N && LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)N, (lapack_int)N, 1, M,
                                     (lapack_int)N, x, 1, sigma, 1e-12, &rank))
            tr_fail_memory(err);
        for (size_t k = 0; k < n; k++) all[a->place[k]] = x[k];
    }
    free(M);
    return !has_failed(err);
}

static bool vary_start(Flow *flow, bool rates, tr_error *err)
{
    System *s = flow->system;
    Start a = {0};
    Evaluator slopes = {0}, changes = {0};
    Expr *F = NULL, *D = NULL;
    if (open_start(&a, flow, rates, err) && a.n && (!a.m || find_multipliers(&a, flow, err)))
        F = make_equations(&a, s, err);
    const size_t n = a.n, N = n + a.m;
    if (F) D = calloc(N * n + N + 2 * n + 1, sizeof *D);
    if (F && !D) tr_fail_memory(err);
    if (D) {
        Expr *unknown = D + N * n;
        for (size_t k = 0; k < n; k++) unknown[k] = symbol_of(s, a.place[k]);
        tr_dense_jacobian(s->graph, F, N, unknown, n, D);
        slopes = compiled(s, "run.start", D, N * n, err);
        differentiate(s, flow->sensitivity, F, N + n, rates ? TR_VELOCITY : TR_POSITION, D);
        changes = compiled(s, "run.start_changes", D, N + n, err);
        if (!has_failed(err)) vary(&a, flow, &slopes, &changes, err);
    }
    tr_evaluator_free(&slopes);
    tr_evaluator_free(&changes);
    free(F);
    free(D);
    close_start(&a);
    return !has_failed(err);
}

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
        differentiate(s, z, values, z->speed_count, -1, values + z->speed_count);
        z->speeds = compiled(s, "run.speed_tangent", values + z->speed_count, z->speed_count, err);
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
        choose_direction(flow, j);
        for (uint32_t i = 0; i < z->input_count; i++)
            if (changes_along(&flow->system->inputs[i])) flow->inputs[z->direction[i]] = all[i];
        evaluate_into(&z->speeds, flow->inputs, z->room);
        for (uint32_t k = 0; k < z->speed_count; k++) all[z->speed[k]] = z->room[k];
    }
}

// ---- making them ---------------------------------------------------------------------------

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
    const bool good =
        vary_start(flow, false, err) && vary_start(flow, true, err) && add_speeds(flow, err);
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
