// SPDX-License-Identifier: Apache-2.0
// What jumps or has a kink at a time of its own: comparisons of t in what the rates are made of, as
// a program.
#include "plan/jump.h"

#include <stdlib.h>
#include <string.h>

// Jumps: expressions of t alone that are constant but for jumps, and what makes them jump: where it
// vanishes, or of a whole number where that changes.
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
           input->kind == TR_MODE || input->kind == TR_HELD || is_driven(input);
}

static bool is_piece_number(const Node *node)
{
    return node->op == OP_TABLE1 && table_is_question(node->n) && (node->n & 15) == TABLE_PIECE;
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
    case OP_FLOOR: *value = x, *difference = a; return true;
    case OP_TABLE1: *value = x, *difference = a; return is_piece_number(node_of(x));
    default: return false;
    }
}

bool tr_is_jump(const Node *node)
{
    return is_piece_number(node) || node->op == OP_LESS || node->op == OP_LESS_EQUAL ||
           node->op == OP_MIN || node->op == OP_MAX || node->op == OP_ABS || node->op == OP_FLOOR;
}

// Splines are smooth: what they leave to see at their knots is for steps to see to.
bool tr_is_broken(const Graph *g, const Node *node, int axis)
{
    if (node->op != OP_TABLE1 && node->op != OP_TABLE2) return false;
    if (table_is_question(node->n) || axis >= tr_op[node->op].operands) return false;
    const TableAxis *at = &g->tables[node->c]->axis[axis];
    const Node *of = &g->nodes[node_operand(node, axis)];
    const bool is_start = of->op == OP_TABLE1 && of->n == table_question(TABLE_START, axis);
    return at->degree <= 1 && at->pieces > 1 && !is_start; // where a piece starts it stays in it
}

bool tr_table_jumps(const Graph *g, const Node *node)
{
    bool jumps = false;
    for (int axis = 0; axis < 2; axis++)
        jumps = jumps ||
                (tr_is_broken(g, node, axis) &&
                 table_order_along(node->n, axis) == (int)g->tables[node->c]->axis[axis].degree);
    return jumps;
}

// The number of the piece where a table is asked, which is what jumps there
static Expr piece_of(Expr x, int axis)
{
    const Expr of = operand(x, axis);
    return tr_build_table(node_of(x)->c, of, of, table_question(TABLE_PIECE, axis));
}

// Functions that jump without comparing anything: atan2 across its cut, tan at its poles
static bool is_hidden_jump(const Node *node) { return node->op == OP_ATAN2 || node->op == OP_TAN; }

static bool may_jump(const Graph *g, const Node *node)
{
    return tr_is_jump(node) || is_hidden_jump(node) || tr_is_broken(g, node, 0) ||
           tr_is_broken(g, node, 1);
}

// Not only its slope does
static bool may_leap(const Graph *g, const Node *node)
{
    return node->op == OP_LESS || node->op == OP_LESS_EQUAL || node->op == OP_FLOOR ||
           is_hidden_jump(node) || tr_table_jumps(g, node);
}

// What passes zero there
static void as_hidden_jump(Expr x, Expr *value, Expr *difference)
{
    const Expr a = operand(x, 0);
    *difference = op_of(x) == OP_TAN ? e_cos(a) : a;
    *value = less(*difference, zero(graph_of(x)));
}

void tr_mark_dependence(const System *s, const Reach *reach, uint32_t *depends)
{
    for (uint32_t k = 0; k < reach->count; k++) {
        const uint32_t id = reach->ids[k];
        const Node *node = &s->graph->nodes[id];
        const Input *input = tr_system_input(s, expr_at(s->graph, id));
        if (input && !is_free_of_state(input))
            depends[id] = ON_STATE;
        else if (input && (input->kind == TR_TIME || is_driven(input)))
            depends[id] = ON_TIME;
        for (int i = 0; i < tr_op[node->op].operands; i++)
            depends[id] |= depends[node_operand(node, i)];
    }
}

// What must not jump in first order: places whose rates something depends on, and constraints of
// them. Velocities may.
static void list_places(const System *s, const ChartPrograms *chart, Exprs *roots)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].felt_by) exprs_add(roots, s->inputs[i].definition);
    for (uint32_t i = 0; i < chart->footing->constraints; i++)
        if (s->rows[i].position.id) exprs_add(roots, s->rows[i].position);
    for (uint32_t i = 0; i < s->touching_count; i++)
        tr_exprs_add(roots, s->touchings[i].tangency, 2);
}

// The motions that drive joints, and what constraints are made of
static void list_driven(const System *s, const ChartPrograms *chart, Exprs *roots)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (is_driven(&s->inputs[i])) exprs_add(roots, s->inputs[i].definition);
    for (uint32_t i = 0; i < chart->footing->constraints; i++) {
        exprs_add(roots, s->rows[i].rate);
        if (s->rows[i].position.id) exprs_add(roots, s->rows[i].position);
    }
    for (uint32_t i = 0; i < s->touching_count; i++)
        tr_exprs_add(roots, s->touchings[i].tangency, 2);
}

void tr_jump_roots(const System *s, const ChartPrograms *chart, Exprs *roots)
{
    Expr *rates = calloc(chart->own, sizeof *rates);
    roots->failed = roots->failed || !rates;
    if (rates) tr_chart_rates(s, chart, rates);
    if (rates) tr_exprs_add(roots, rates, chart->own);
    free(rates);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].definition.id) exprs_add(roots, s->inputs[i].definition);
    list_driven(s, chart, roots);
}

// Those of motions as they were written: in geometry that follows them, much stays the same but for
// rounding. Of them there are no more than nodes, for which there is room.
static void find_hidden_jumps(System *s, const uint32_t *depends, Jumps *found, tr_error *err)
{
    Exprs roots = {0};
    Reach reach = {0};
    for (uint32_t i = 0; i < s->input_count; i++)
        if (is_driven(&s->inputs[i])) exprs_add(&roots, s->inputs[i].definition);
    if (roots.failed || !tr_reach(s->graph, roots.at, roots.count, &reach)) tr_fail_memory(err);
    for (uint32_t k = 0; k < reach.count && !has_failed(err); k++) {
        const Expr x = expr_at(s->graph, reach.ids[k]);
        if (depends[x.id] != ON_TIME || !is_hidden_jump(node_of(x))) continue;
        as_hidden_jump(x, &found->value[found->count], &found->difference[found->count]);
        if (!is_number(found->value[found->count])) found->count++;
    }
    tr_exprs_free(&roots);
    tr_reach_free(&reach);
}

static bool is_found(const Jumps *found, Expr value)
{
    for (uint32_t k = 0; k < found->count; k++)
        if (found->value[k].id == value.id) return true;
    return false;
}

// Where a table goes from piece to piece as time alone has it
static void find_pieces(Expr x, const uint32_t *depends, Jumps *found)
{
    for (int axis = 0; axis < 2; axis++) {
        if (!tr_is_broken(graph_of(x), node_of(x), axis)) continue;
        const Expr of = operand(x, axis), piece = piece_of(x, axis);
        if (depends[of.id] != ON_TIME || is_found(found, piece)) continue;
        found->value[found->count] = piece, found->difference[found->count++] = of;
    }
}

// What the rates are made of, motions and constraints included. Of an expression there may be three
// jumps: its own, or those along two axes, and one that is hidden.
static bool find_jumps(System *s, const ChartPrograms *chart, Jumps *found, tr_error *err)
{
    Exprs roots = {0};
    tr_jump_roots(s, chart, &roots);
    Reach reach = {0};
    uint32_t *depends = !roots.failed && tr_reach(s->graph, roots.at, roots.count, &reach)
                            ? tr_reach_map(s->graph, &reach)
                            : NULL;
    if (depends) tr_mark_dependence(s, &reach, depends);
    found->value = depends ? calloc(6 * (size_t)reach.count + 1, sizeof *found->value) : NULL;
    found->difference = found->value ? found->value + 3 * (size_t)reach.count : NULL;
    for (uint32_t k = 0; found->value && k < reach.count; k++) {
        const Expr x = expr_at(s->graph, reach.ids[k]);
        if (depends[x.id] == ON_TIME &&
            as_jump(x, &found->value[found->count], &found->difference[found->count]))
            found->count++;
        else
            find_pieces(x, depends, found);
    }
    if (found->value) find_hidden_jumps(s, depends, found, err);
    if (!found->value) tr_fail_memory(err);
    tr_exprs_free(&roots);
    free(depends);
    tr_reach_free(&reach);
    return found->value != NULL;
}

// Whether what motions and constraints are made of jumps, or, in second order, has a kink, at a
// time of its own
static bool find_strikes(System *s, const ChartPrograms *chart, tr_error *err)
{
    Exprs roots = {0};
    Reach reach = {0};
    bool any = false;
    if (s->order == 1)
        list_places(s, chart, &roots);
    else
        list_driven(s, chart, &roots);
    uint32_t *depends = !roots.failed && tr_reach(s->graph, roots.at, roots.count, &reach)
                            ? tr_reach_map(s->graph, &reach)
                            : NULL;
    if (depends) tr_mark_dependence(s, &reach, depends);
    bool (*matters)(const Graph *, const Node *) = s->order == 1 ? may_leap : may_jump;
    for (uint32_t k = 0; depends && k < reach.count; k++)
        any = any || (depends[reach.ids[k]] == ON_TIME &&
                      matters(s->graph, &s->graph->nodes[reach.ids[k]]));
    if (!depends) tr_fail_memory(err);
    tr_exprs_free(&roots);
    free(depends);
    tr_reach_free(&reach);
    return any;
}

char *tr_jump_words(System *s, Expr x)
{
    enum { LONGEST = 100 };
    const char *text = tr_text(s, x);
    const size_t length = text ? strlen(text) : 0;
    const bool is_short = length <= LONGEST && text && !strchr(text, '\n');
    return strdup(is_short ? text : "");
}

static bool describe(System *s, const Jumps *found, JumpPrograms *w)
{
    w->words = calloc(found->count + 1u, sizeof *w->words);
    w->rounds = calloc(found->count + 1u, sizeof *w->rounds);
    if (!w->words || !w->rounds) return false;
    for (uint32_t k = 0; k < found->count; k++) {
        w->rounds[k] =
            op_of(found->value[k]) == OP_FLOOR || is_piece_number(node_of(found->value[k]));
        if (!(w->words[k] = tr_jump_words(s, found->value[k]))) return false;
    }
    return true;
}

JumpPrograms *tr_jump_programs_new(System *s, const ChartPrograms *chart, tr_error *err)
{
    Jumps found = {0};
    JumpPrograms *w = calloc(1, sizeof *w);
    if (!w) tr_fail_memory(err);
    if (w && find_jumps(s, chart, &found, err) && found.count) {
        memmove(found.value + found.count, found.difference, found.count * sizeof *found.value);
        w->count = found.count;
        if (!describe(s, &found, w)) tr_fail_memory(err);
        w->strikes = find_strikes(s, chart, err);
        w->uses_inputs = tr_system_uses_any(s, found.value, 2 * (size_t)found.count, TR_INPUT);
        w->bounds = tr_bounds_new(s, found.value, 2 * (size_t)found.count, err);
        w->program = tr_compile_open(s, found.value, found.count, chart->footing->fold, err);
    }
    free(found.value);
    if (!has_failed(err)) return w;
    tr_jump_programs_free(w);
    return NULL;
}
