// SPDX-License-Identifier: Apache-2.0
// What is asked of a system that is there: the inputs that expressions use, their rates along the
// motion, what defined inputs stand for, and velocities of bases along other axes.
//
//   d/dt f = sum over inputs x of df/dx x'
//   v = C u, u = C^T v    of a base that is described along turned axes
#include "expr/block.h"
#include "expr/derivative.h"
#include "expr/merge.h"
#include "expr/shorten.h"
#include "expr/system.h"
#include "expr/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- inputs in use -------------------------------------------------------------------------

typedef bool Question(const Input *input, tr_kind kind);

static bool is_of_kind(const Input *input, tr_kind kind) { return input->kind == kind; }

static bool lacks_rate(const Input *input, tr_kind kind)
{
    (void)kind;
    return input->rate.id == 0;
}

static bool is_change(const Input *input, tr_kind kind)
{
    return input->kind == kind && input->is_change;
}

// A force; in first order velocities change without one.
static bool is_force(const Input *input, tr_kind kind)
{
    return input->kind == kind && !input->is_change;
}

static bool lacks_known_rate(const Input *input, tr_kind kind)
{
    return input->kind == kind && !input->rate_known;
}

// The first input in the expressions that answers with yes, or NULL.
static const Input *find_input(const System *system, const Expr *of, size_t count,
                               Question *question, tr_kind kind)
{
    Reach reach;
    const Input *found = NULL;
    if (tr_reach(system->graph, of, count, &reach))
        for (uint32_t k = 0; k < reach.count && !found; k++) {
            const Input *input = tr_system_input(system, expr_at(system->graph, reach.ids[k]));
            if (input && question(input, kind)) found = input;
        }
    tr_reach_free(&reach);
    return found;
}

const Input *tr_system_uses_any(const System *system, const Expr *of, size_t count, tr_kind kind)
{
    return find_input(system, of, count, is_of_kind, kind);
}

const Input *tr_system_uses_unrated(const System *system, Expr x)
{
    const Input *input = find_input(system, &x, 1, lacks_known_rate, TR_INPUT);
    return input ? input : find_input(system, &x, 1, lacks_known_rate, TR_HELD);
}

const Input *tr_system_uses_force(const System *system, Expr x)
{
    return find_input(system, &x, 1, is_force, TR_SOLVED);
}

// ---- length --------------------------------------------------------------------------------

static bool is_unit(double x) { return x == 0 || x == 1 || x == -1; }

// Programs are made with parameters that are 0, 1 or -1 as these numbers: what a node is then, NaN
// where it is not known.
static double known_value(const System *system, const Node *node, const double *known)
{
    const int operands = tr_op[node->op].operands;
    if (node->op == OP_SYMBOL) {
        const Input *input = &system->inputs[node->a];
        return input->kind == TR_PARAMETER && is_unit(input->value) ? input->value : (double)NAN;
    }
    if (node->op == OP_MUL && (known[node->a] == 0 || known[node->b] == 0)) return 0;
    for (int i = 0; i < operands; i++)
        if (isnan(known[node_operand(node, i)])) return (double)NAN;
    return tr_node_value(system->graph, node, known);
}

// Such numbers leave nothing of some operations, or a sign, which mostly goes elsewhere.
static bool is_idle(const Node *node, const double *known)
{
    if (tr_op[node->op].operands != 2) return false;
    const double a = known[node->a], b = known[node->b];
    switch (node->op) {
    case OP_MUL: return is_unit(a) || is_unit(b);
    case OP_DIV: return is_unit(b);
    case OP_ADD:
    case OP_SUB: return a == 0 || b == 0;
    default: return false;
    }
}

// Counts operations, and marks in `counts`, by id, which they are: 1 more than the number of those
// that use them; 0 of what takes nothing. NULL when memory ran out
static uint32_t *count_uses(System *system, const Reach *reach, size_t *operations)
{
    const Graph *graph = system->graph;
    uint32_t *varies = tr_reach_map(system->graph, reach),
             *counts = calloc(graph->count, sizeof *counts);
    double *known = malloc(graph->count * sizeof *known);
    *operations = 0;
    if (!known || !counts) system->graph->failed = true;
    for (uint32_t k = 0; varies && known && counts && k < reach->count; k++) {
        const uint32_t id = reach->ids[k];
        const Node *node = &graph->nodes[id];
        const int operands = tr_op[node->op].operands;
        known[id] = known_value(system, node, known);
        varies[id] = node->op == OP_SYMBOL && system->inputs[node->a].kind != TR_PARAMETER;
        for (int i = 0; i < operands; i++) varies[id] |= varies[node_operand(node, i)];
        if (!operands || !varies[id] || !isnan(known[id]) || is_idle(node, known)) continue;
        counts[id] = 1, *operations += tr_node_operations(graph, node);
        for (int i = 0; i < operands; i++)
            if (counts[node_operand(node, i)]) counts[node_operand(node, i)]++;
    }
    free(varies);
    free(known);
    return counts;
}

size_t tr_system_operations(System *system, const Expr *of, size_t count)
{
    Reach reach;
    size_t operations = 0;
    if (tr_reach(system->graph, of, count, &reach)) free(count_uses(system, &reach, &operations));
    tr_reach_free(&reach);
    return operations;
}

// Parameters as numbers; those alone that are 0, 1 or -1, or all
static void fix_parameters(const System *system, Graph *graph, Expr *of, size_t count, bool all)
{
    Expr *from = calloc(2 * (size_t)system->input_count + 1, sizeof *from);
    uint32_t known = 0;
    if (!from) graph->failed = true;
    Expr *to = from ? from + system->input_count : NULL;
    for (uint32_t id = 0, end = graph->count; from && id < end; id++) {
        const Node node = graph->nodes[id];
        if (node.op != OP_SYMBOL || system->inputs[node.a].kind != TR_PARAMETER) continue;
        const double x = system->inputs[node.a].value;
        if (all || x == 0 || x == 1 || x == -1)
            from[known] = expr_at(graph, id), to[known++] = number(graph, x);
    }
    if (from) tr_substitute(graph, of, count, from, to, known, of);
    free(from);
}

static size_t count_nodes(Graph *graph, const Expr *of, size_t count)
{
    Reach reach;
    size_t operations = 0;
    if (tr_reach(graph, of, count, &reach))
        for (uint32_t k = 0; k < reach.count; k++)
            operations += tr_node_operations(graph, &graph->nodes[reach.ids[k]]);
    tr_reach_free(&reach);
    return operations;
}

size_t tr_system_merged_operations(System *system, const Expr *of, size_t count)
{
    Expr *own = calloc(count + 1, sizeof *own);
    Graph *graph = own ? tr_reach_copy(system->graph, of, count, own) : NULL;
    size_t operations = 0;
    if (graph) {
        fix_parameters(system, graph, own, count, false);
        tr_merge(graph, own, count, own);
        fix_parameters(system, graph, own, count, true);
        tr_shorten(graph, own, count);
        operations = count_nodes(graph, own, count);
    }
    if (!graph || graph->failed) system->graph->failed = true;
    tr_graph_free(graph);
    free(own);
    return operations;
}

size_t tr_system_instructions(System *system, const Expr *of, size_t count)
{
    const Graph *graph = system->graph;
    Reach reach;
    size_t left = 0;
    uint32_t *counts =
        tr_reach(system->graph, of, count, &reach) ? count_uses(system, &reach, &left) : NULL;
    for (size_t i = 0; counts && i < count; i++) counts[of[i].id] += 2; // what is wanted stays
    for (uint32_t k = 0; counts && k < reach.count; k++) {
        const Node *node = &graph->nodes[reach.ids[k]];
        if (!counts[reach.ids[k]] || (node->op != OP_ADD && node->op != OP_SUB)) continue;
        const bool first = graph->nodes[node->a].op == OP_MUL && counts[node->a] == 2,
                   second = graph->nodes[node->b].op == OP_MUL && counts[node->b] == 2;
        left -= first || second;
    }
    tr_reach_free(&reach);
    free(counts);
    return left;
}

// ---- rates ---------------------------------------------------------------------------------

// Along the motion. In first order velocities change as `change` says, for their rate is what was
// found.                                                                                 (T257)
static bool differentiate(System *system, const Expr *of, size_t count, Expr *out)
{
    Expr *symbols = malloc((2 * (size_t)system->input_count + 1) * sizeof *symbols);
    if (!symbols) return false;
    Expr *rates = symbols + system->input_count;
    size_t known = 0;
    for (uint32_t i = 0; i < system->input_count; i++) {
        const Input *input = &system->inputs[i];
        if (!input->rate.id) continue;
        symbols[known] = input->symbol;
        rates[known++] = input->change.id ? input->change : input->rate;
    }
    tr_forward(system->graph, of, count, symbols, rates, known, out);
    free(symbols);
    return true;
}

bool tr_system_rates(System *system, const Expr *of, size_t count, Expr *out, tr_error *err)
{
    Graph *graph = system->graph;
    const Input *unknown = find_input(system, of, count, lacks_rate, TR_TIME);
    const bool good = !graph->failed && !unknown && differentiate(system, of, count, out);
    if (good) return true;
    if (unknown)
        tr_fail(err, TR_INVALID, (Place){0}, "the rate of '%s' is not known here", unknown->name);
    else
        tr_fail_memory(err);
    for (size_t i = 0; i < count; i++) out[i] = expr_at(graph, 0);
    return false;
}

static bool uses_changes(const System *system)
{
    for (uint32_t i = 0; i < system->output_count; i++) {
        const Output *output = &system->outputs[i];
        if (output->label && find_input(system, output->values, 1, is_change, TR_SOLVED))
            return true;
    }
    return false;
}

// v = f(q, t): v' = f_q q' + f_t
void tr_system_define_changes(System *system)
{
    const uint32_t inputs = system->input_count;
    if (!uses_changes(system)) return;
    Expr *of = calloc(2 * (size_t)inputs + 1, sizeof *of);
    Input **changes = calloc(inputs + 1u, sizeof(Input *));
    uint32_t count = 0;
    for (uint32_t i = 0; of && changes && i < inputs; i++) {
        const Input *input = &system->inputs[i];
        Input *change = input->change.id ? tr_system_input(system, input->change) : NULL;
        if (change && change->is_change) of[count] = input->definition, changes[count++] = change;
    }
    if (of && changes) tr_system_resolve(system, of, count);
    if (!of || !changes || !differentiate(system, of, count, of + inputs))
        system->graph->failed = true;
    for (uint32_t i = 0; of && changes && i < count; i++) changes[i]->definition = of[inputs + i];
    free(of);
    free((void *)changes);
}

// ---- contact modes -------------------------------------------------------------------------

static void tell(System *system, Expr symbol, double value)
{
    Input *input = symbol.id ? tr_system_input(system, symbol) : NULL;
    if (input) input->definition = number(system->graph, value);
}

void tr_latch_start(const System *system, LatchMode *modes)
{
    for (uint32_t i = 0; i < system->latch_count; i++)
        modes[i] = (LatchMode){.is_open = system->latches[i].starts_open};
}

void tr_latch_rows(const System *system, const LatchMode *modes, bool *open)
{
    for (uint32_t i = 0; i < system->row_count; i++) open[i] = false;
    for (uint32_t i = 0; i < system->latch_count; i++)
        for (uint32_t k = 0; k < system->latches[i].row_count; k++)
            open[system->latches[i].rows[k]] =
                modes[i].is_open || (system->latches[i].sticks[k] && modes[i].is_slipping);
}

void tr_latch_put(const System *system, const LatchMode *modes, double *inputs)
{
    for (uint32_t i = 0; i < system->latch_count; i++) {
        const Latch *latch = &system->latches[i];
        const bool slips = !modes[i].is_open && modes[i].is_slipping;
        const Expr symbols[] = {latch->closed, latch->slipping, latch->heading[0],
                                latch->heading[1], latch->heading[2]};
        const double values[] = {!modes[i].is_open, slips, modes[i].heads[0], modes[i].heads[1],
                                 modes[i].heads[2]};
        for (int k = 0; k < 5; k++) {
            const Input *input = tr_system_input(system, symbols[k]);
            if (input) inputs[input - system->inputs] = values[k];
        }
    }
}

void tr_system_latch(System *system, const LatchMode *modes)
{
    for (uint32_t i = 0; i < system->latch_count; i++) {
        const Latch *latch = &system->latches[i];
        for (uint32_t k = 0; k < latch->row_count; k++)
            system->rows[latch->rows[k]].is_open =
                modes[i].is_open || (latch->sticks[k] && modes[i].is_slipping);
        tell(system, latch->closed, !modes[i].is_open);
        tell(system, latch->slipping, !modes[i].is_open && modes[i].is_slipping);
    }
}

void tr_system_unlatch(System *system)
{
    for (uint32_t i = 0; i < system->latch_count; i++) {
        const Latch *latch = &system->latches[i];
        const Expr symbols[] = {latch->closed, latch->slipping};
        for (uint32_t k = 0; k < latch->row_count; k++)
            system->rows[latch->rows[k]].is_open = false;
        for (int k = 0; k < 2; k++) {
            Input *input = symbols[k].id ? tr_system_input(system, symbols[k]) : NULL;
            if (input) input->definition = expr_at(system->graph, 0);
        }
    }
}

// ---- velocities along turned axes ----------------------------------------------------------

// What stands in place of an input that is one of three along turned axes, or across from them.
static uint32_t across(const System *system, uint32_t input, bool inwards)
{
    for (uint32_t i = 0; i < system->turned_count; i++) {
        const Turned *turned = &system->turned[i];
        const uint32_t here = inwards ? turned->outer : turned->inner;
        const uint32_t there = inwards ? turned->inner : turned->outer;
        if (input >= here && input < here + 3) return there + (input - here);
    }
    return input;
}

uint32_t tr_system_inner_input(const System *system, uint32_t input)
{
    return across(system, input, true);
}

uint32_t tr_system_outer_input(const System *system, uint32_t input)
{
    return across(system, input, false);
}

uint32_t tr_system_velocities(const System *system, uint32_t *list)
{
    const uint32_t count = tr_system_inputs(system, TR_VELOCITY, list);
    for (uint32_t k = 0; list && k < count; k++) list[k] = tr_system_inner_input(system, list[k]);
    return count;
}

const char *tr_system_inner(const System *system, const char *name, char room[64])
{
    snprintf(room, 64, "inner.%s", name);
    return system->turned_count ? room : name;
}

Expr tr_turned_out(const Turned *turned, const Expr x[3], int k)
{
    const Expr *C = turned->C + 3 * k;
    return add(add(mul(C[0], x[0]), mul(C[1], x[1])), mul(C[2], x[2]));
}

Expr tr_turned_in(const Turned *turned, const Expr x[3], int k)
{
    const Expr *C = turned->C + k;
    return add(add(mul(C[0], x[0]), mul(C[3], x[1])), mul(C[6], x[2]));
}

void tr_system_turn(System *system)
{
    for (uint32_t i = 0; i < system->turned_count; i++) {
        const Turned *turned = &system->turned[i];
        const Input *outer = &system->inputs[turned->outer];
        const Expr v[3] = {outer[0].symbol, outer[1].symbol, outer[2].symbol};
        for (int k = 0; k < 3; k++)
            system->inputs[turned->inner + (uint32_t)k].definition = tr_turned_in(turned, v, k);
    }
}

bool tr_system_is_watched(const System *system)
{
    for (uint32_t i = 0; i < system->alarm_count; i++)
        if (system->alarms[i].kind == ALARM_STOPS || system->alarms[i].kind == ALARM_SATURATES)
            return true;
    return false;
}

bool tr_system_is_second_order(const System *system, const char *what, tr_error *err)
{
    if (system->order == 1)
        tr_fail(err, TR_INVALID, (Place){0},
                "%s are of second order: in first order velocities follow from commands", what);
    return !has_failed(err);
}

double tr_system_unit_mass(const System *system, uint32_t velocity)
{
    const bool turns = system->inputs[velocity].port.quantity == QUANTITY_ANGULAR_SPEED;
    const double length = system->scene.length > 0 ? system->scene.length : 1;
    return turns ? length * length : 1;
}
