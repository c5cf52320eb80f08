// SPDX-License-Identifier: Apache-2.0
// What jumps or has a kink at a time of its own: comparisons of t in what the rates are made of, as
// a program.
#include "plan/chart_programs.h"

#include "expr/walk.h"

#include <stdlib.h>
#include <string.h>

// Jumps: expressions of t alone that are constant but for jumps, and the difference that makes
// them jump (0 when there is none).
typedef struct Jumps {
    Expr *value, *difference; // all values, then all differences, in one array
    uint32_t count;
} Jumps;

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

// The jump that an operation is, or that stands behind its kink.
static bool as_jump(Expr x, Expr *value, Expr *difference)
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
static bool find_jumps(System *s, const ChartPrograms *chart, Jumps *found, tr_error *err)
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
            as_jump(x, &found->value[found->count], &found->difference[found->count]))
            found->count++;
    }
    if (!found->value) tr_fail_memory(err);
    free(rates);
    tr_exprs_free(&roots);
    free(depends);
    tr_reach_free(&reach);
    return found->value != NULL;
}

JumpPrograms *tr_jump_programs_new(System *s, const ChartPrograms *chart, tr_error *err)
{
    Jumps found = {0};
    JumpPrograms *w = calloc(1, sizeof *w);
    if (!w) tr_fail_memory(err);
    if (w && find_jumps(s, chart, &found, err) && found.count) {
        memmove(found.value + found.count, found.difference, found.count * sizeof *found.value);
        w->count = found.count;
        w->uses_inputs = tr_system_uses_any(s, found.value, 2 * (size_t)found.count, TR_INPUT);
        w->program =
            tr_compile_open(s, found.value, 2 * (size_t)found.count, chart->footing->fold, err);
    }
    free(found.value);
    if (!has_failed(err)) return w;
    free(w);
    return NULL;
}
