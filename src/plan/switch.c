// SPDX-License-Identifier: Apache-2.0
// The switches are found in the system as it was derived, and replaced there once, in a copy that
// the programs of charts are made from.
#include "plan/switch.h"

#include "plan/jump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SWITCHES = 500 };

// ---- every expression that runs use --------------------------------------------------------

typedef void Visit(void *owner, Expr *x);

static void visit_values(const Expr *x, size_t count, Visit *visit, void *owner)
{
    for (size_t i = 0; x && i < count; i++) visit(owner, (Expr *)&x[i]); // in a copy of one's own
}

static void visit_row(Row *row, size_t velocities, Visit *visit, void *owner)
{
    visit_values(row->slopes, velocities, visit, owner);
    visit_values(row->inner_slopes, velocities, visit, owner);
    visit_values(row->mix, 3, visit, owner);
    Expr *const single[] = {&row->rest,       &row->rate,       &row->bias,   &row->position,
                            &row->inner_rest, &row->inner_bias, &row->weight, &row->tension};
    for (size_t k = 0; k < sizeof single / sizeof *single; k++) visit(owner, single[k]);
}

// What moves it
static void visit_motion(System *s, Visit *visit, void *owner)
{
    const size_t velocities = tr_system_inputs(s, TR_VELOCITY, NULL);
    for (uint32_t i = 0; i < s->input_count; i++) {
        visit(owner, &s->inputs[i].rate);
        visit(owner, &s->inputs[i].definition);
    }
    for (uint32_t i = 0; i < s->output_count; i++)
        if (!is_model_output(&s->outputs[i]) && !is_of_samples(&s->outputs[i]))
            visit_values(s->outputs[i].values, (size_t)s->outputs[i].rows * s->outputs[i].columns,
                         visit, owner);
    for (uint32_t i = 0; i < s->row_count; i++) visit_row(&s->rows[i], velocities, visit, owner);
    for (uint32_t i = 0; i < s->touching_count; i++) {
        visit_values(s->touchings[i].tangency, 2, visit, owner);
        visit_values(s->touchings[i].slopes, 4, visit, owner);
        visit(owner, &s->touchings[i].gap);
    }
}

static void visit_all(System *s, Visit *visit, void *owner)
{
    visit_motion(s, visit, owner);
    for (uint32_t i = 0; i < s->output_count; i++)
        if (is_model_output(&s->outputs[i]) || is_of_samples(&s->outputs[i]))
            visit_values(s->outputs[i].values, (size_t)s->outputs[i].rows * s->outputs[i].columns,
                         visit, owner);
    for (uint32_t i = 0; i < s->alarm_count; i++) {
        visit(owner, &s->alarms[i].margin);
        visit_values(s->alarms[i].place, s->alarms[i].place_count, visit, owner);
    }
    for (uint32_t i = 0; i < s->latch_count; i++) visit(owner, &s->latches[i].gap);
}

static void list_one(void *owner, Expr *x)
{
    if (x->id) exprs_add(owner, *x);
}

typedef struct Rewriting {
    const Expr *next;
} Rewriting;

static void put_one(void *owner, Expr *x)
{
    Rewriting *r = owner;
    if (x->id) *x = *r->next++;
}

// ---- the choice in place of an operation ---------------------------------------------------

static Expr is_first(Expr side) { return less(side, number(graph_of(side), 1.5)); }

// What a table says about its pieces, of x or of the number of one
static Expr ask(const StateSwitch *w, int what, Expr x)
{
    return tr_build_table(w->table, x, x, table_question(what, w->axis));
}

// As the formula says
static Expr live(const StateSwitch *w, Expr a, Expr b)
{
    return w->op == OP_TABLE1 ? ask(w, TABLE_PIECE, a) : tr_build(w->op, a, b, a);
}

// What stands in place of it, by its side
static Expr chosen(const StateSwitch *w, Expr a, Expr b, Expr side)
{
    Graph *g = graph_of(side);
    switch (w->op) {
    case OP_LESS:
    case OP_LESS_EQUAL: return choose(side, sub(side, one(g)), live(w, a, b));
    case OP_ABS: return choose(side, choose(is_first(side), a, neg(a)), live(w, a, b));
    case OP_TABLE1:
    case OP_FLOOR: return choose(side, sub(side, number(g, 0.5)), live(w, a, b));
    default: return choose(side, choose(is_first(side), a, b), live(w, a, b)); // min, max
    }
}

// The side that it is on
static Expr side_of(const StateSwitch *w, Expr a, Expr b)
{
    Graph *g = graph_of(a);
    const Expr first = one(g), second = number(g, 2);
    switch (w->op) {
    case OP_LESS:
    case OP_LESS_EQUAL: return add(one(g), live(w, a, b));
    case OP_ABS: return choose(less(a, zero(g)), second, first);
    case OP_TABLE1:
    case OP_FLOOR: return add(live(w, a, a), number(g, 0.5));
    case OP_MIN: return choose(less(a, b), first, second);
    default: return choose(less(b, a), first, second); // max
    }
}

// How far it is from leaving the side that it is kept on
static Expr margin_of(const StateSwitch *w, Expr a, Expr b, Expr side)
{
    Graph *g = graph_of(a);
    const Expr half = number(g, 0.5), whole = sub(side, half);
    switch (w->op) {
    case OP_ABS: return choose(is_first(side), a, neg(a));
    case OP_FLOOR: return tr_build(OP_MIN, sub(a, whole), sub(add(side, half), a), a);
    case OP_TABLE1:
        return tr_build(OP_MIN, sub(a, ask(w, TABLE_LOWER, whole)),
                        sub(ask(w, TABLE_UPPER, whole), a), a);
    case OP_MIN: return choose(is_first(side), sub(b, a), sub(a, b));
    default: return choose(is_first(side), sub(a, b), sub(b, a)); // false is a >= b
    }
}

// ---- finding them --------------------------------------------------------------------------

// Ids of those that depend on the state, in what moves it; NULL without memory
static uint32_t *find_state_jumps(const System *s, uint32_t *count)
{
    Exprs all = {0};
    Reach reach = {0};
    visit_motion((System *)s, list_one, &all); // which only looks
    uint32_t *depends = !all.failed && tr_reach_in(s->graph, all.at, all.count, &reach)
                            ? calloc(reach.end + 1u, sizeof *depends)
                            : NULL;
    uint32_t *ids = depends ? calloc(reach.count + 1u, sizeof *ids) : NULL;
    *count = 0;
    if (ids) tr_mark_dependence(s, &reach, depends);
    for (uint32_t k = 0; ids && k < reach.count; k++)
        if ((depends[reach.ids[k]] & ON_STATE) && tr_is_jump(&s->graph->nodes[reach.ids[k]]))
            ids[(*count)++] = reach.ids[k];
    free(depends);
    tr_reach_free(&reach);
    tr_exprs_free(&all);
    return ids;
}

static bool is_broken(const Graph *g, const Node *node)
{
    return tr_is_broken(g, node, 0) || tr_is_broken(g, node, 1);
}

static bool has_jumps(const Graph *g)
{
    for (uint32_t id = 1; id < g->count; id++)
        if (tr_is_jump(&g->nodes[id])) return true;
    return false;
}

static bool has_broken_tables(const Graph *g)
{
    for (uint32_t id = 1; g->table_count && id < g->count; id++)
        if (is_broken(g, &g->nodes[id])) return true;
    return false;
}

// ---- tables, piece by piece ----------------------------------------------------------------

// A table of lines or steps by the number k of its piece along an axis, which begins at X (T232):
//   f(x) = f(X_k) + f'(X_k) (x - X_k)
static Expr by_piece(Expr table, int axis)
{
    const Node node = *node_of(table);
    const StateSwitch w = {.op = OP_TABLE1, .table = node.c, .axis = axis};
    const Expr x = operand(table, axis);
    const Expr X = ask(&w, TABLE_START, ask(&w, TABLE_PIECE, x));
    Expr at[2] = {operand(table, 0), operand(table, tr_op[node.op].operands - 1)};
    at[axis] = X;
    if (node.op == OP_TABLE1) at[1] = X;
    const int slope = node.n + (axis ? table_order(0, 1) : table_order(1, 0));
    const Expr f = tr_build_table(node.c, at[0], at[1], node.n);
    const Expr rise = tr_build_table(node.c, at[0], at[1], slope);
    return add(f, mul(rise, sub(x, X)));
}

// Ids of the tables that go from piece to piece along an axis as the state has it
static uint32_t *find_broken(System *s, int axis, uint32_t *count)
{
    Exprs all = {0};
    Reach reach = {0};
    visit_motion(s, list_one, &all);
    uint32_t *depends = !all.failed && tr_reach_in(s->graph, all.at, all.count, &reach)
                            ? calloc(reach.end + 1u, sizeof *depends)
                            : NULL;
    uint32_t *ids = depends ? calloc(reach.count + 1u, sizeof *ids) : NULL;
    *count = 0;
    if (ids) tr_mark_dependence(s, &reach, depends);
    for (uint32_t k = 0; ids && k < reach.count; k++) {
        const Node *node = &s->graph->nodes[reach.ids[k]];
        if (tr_is_broken(s->graph, node, axis) && (depends[node_operand(node, axis)] & ON_STATE))
            ids[(*count)++] = reach.ids[k];
    }
    free(depends);
    tr_reach_free(&reach);
    tr_exprs_free(&all);
    return ids;
}

// Puts others in their place, in all that runs use.
static void substitute_all(System *s, const Expr *from, const Expr *to, uint32_t count,
                           tr_error *err)
{
    Exprs all = {0};
    visit_all(s, list_one, &all);
    if (all.count && !all.failed)
        tr_substitute(s->graph, all.at, all.count, from, to, count, all.at);
    if (all.failed || s->graph->failed) tr_fail_memory(err);
    if (!has_failed(err)) visit_all(s, put_one, &(Rewriting){.next = all.at});
    tr_exprs_free(&all);
}

// Each with those before it replaced in what it is asked for
static void break_up(System *s, int axis, tr_error *err)
{
    uint32_t count = 0;
    uint32_t *ids = find_broken(s, axis, &count);
    Expr *from = ids ? calloc(2 * (size_t)count + 1, sizeof *from) : NULL;
    Expr *to = from ? from + count : NULL;
    if (!from) tr_fail_memory(err);
    for (uint32_t k = 0; from && k < count; k++) {
        from[k] = expr_at(s->graph, ids[k]);
        const Node node = *node_of(from[k]);
        Expr of[2] = {operand(from[k], 0), operand(from[k], tr_op[node.op].operands - 1)};
        tr_substitute(s->graph, of, 2, from, to, k, of);
        to[k] = tr_build_table(node.c, of[0], of[1], node.n);
        if (is_broken(s->graph, node_of(to[k]))) to[k] = by_piece(to[k], axis);
    }
    if (count && !has_failed(err)) substitute_all(s, from, to, count, err);
    free(from);
    free(ids);
}

// ---- putting sides in ----------------------------------------------------------------------

static Expr add_side(System *s, uint32_t k, tr_error *err)
{
    char name[40];
    snprintf(name, sizeof name, "side.s%u", k + 1);
    for (size_t end = strlen(name); tr_system_find(s, text_of(name)) && end + 2 < sizeof name;
         end++)
        name[end] = '_', name[end + 1] = 0;
    return tr_input(s, name, TR_MODE, 0, err);
}

// Each with those before it replaced in what it compares
static void replace(Plan *plan, System *s, const uint32_t *ids, uint32_t count, tr_error *err)
{
    Expr *from = calloc(2 * (size_t)count + 1, sizeof *from);
    Expr *to = from ? from + count : NULL;
    if (!from) tr_fail_memory(err);
    for (uint32_t k = 0; from && k < count && !has_failed(err); k++) {
        StateSwitch *w = &plan->switches[k];
        from[k] = expr_at(s->graph, ids[k]);
        w->op = op_of(from[k]);
        w->table = node_of(from[k])->c, w->axis = node_of(from[k])->n >> 4;
        w->words = tr_jump_words(s, from[k]);
        Expr compared[2] = {operand(from[k], 0), operand(from[k], tr_op[w->op].operands > 1)};
        tr_substitute(s->graph, compared, 2, from, to, k, compared);
        w->a = compared[0].id, w->b = compared[1].id;
        to[k] = chosen(w, compared[0], compared[1], add_side(s, k, err));
        if (!w->words) tr_fail_memory(err);
    }
    if (from && !has_failed(err)) substitute_all(s, from, to, count, err);
    free(from);
}

bool tr_plan_find_switches(Plan *plan, tr_error *err)
{
    const bool breaks = has_broken_tables(plan->system->graph);
    if (!breaks && !has_jumps(plan->system->graph)) return true;
    System *broken = breaks ? tr_system_copy(plan->system, err) : NULL;
    for (int axis = 0; broken && axis < 2; axis++)
        if (!has_failed(err)) break_up(broken, axis, err);
    uint32_t count = 0;
    uint32_t *ids =
        has_failed(err) ? NULL : find_state_jumps(broken ? broken : plan->system, &count);
    if (!ids) tr_fail_memory(err);
    if (ids && count && count <= MOST_SWITCHES) {
        plan->switches = calloc(count, sizeof *plan->switches);
        plan->switching = broken ? broken : tr_system_copy(plan->system, err);
        broken = NULL;
        if (!plan->switches) tr_fail_memory(err);
        if (plan->switches) plan->switch_count = count;
        if (!has_failed(err)) replace(plan, plan->switching, ids, count, err);
    }
    free(ids);
    tr_system_free(broken);
    return !has_failed(err);
}

void tr_plan_free_switches(Plan *plan)
{
    for (uint32_t k = 0; k < plan->switch_count; k++) free(plan->switches[k].words);
    free(plan->switches);
    tr_system_free(plan->switching);
}

uint32_t tr_plan_switch_count(const Plan *plan)
{
    return plan->sensitivity ? 0 : plan->switch_count;
}

// ---- the program of a chart ----------------------------------------------------------------

// Whether what the rates are made of depends on each side
static bool find_used(const Plan *plan, System *s, const ChartPrograms *chart, bool *used)
{
    const uint32_t first = plan->system->input_count;
    Exprs roots = {0};
    Reach reach = {0};
    tr_jump_roots(s, chart, &roots);
    if (!roots.failed) tr_system_resolve(s, roots.at, roots.count);
    const bool good = !roots.failed && tr_reach(s->graph, roots.at, roots.count, &reach);
    for (uint32_t k = 0; good && k < reach.count; k++) {
        const Node *node = &s->graph->nodes[reach.ids[k]];
        if (node->op == OP_SYMBOL && node->a >= first) used[node->a - first] = true;
    }
    tr_reach_free(&reach);
    tr_exprs_free(&roots);
    return good;
}

// By switch what `of` says of those that are used, and `unused` of the others; whether there are
// any
typedef Expr SwitchTerm(const StateSwitch *w, Expr a, Expr b, Expr side);

static bool list_switches(const Plan *plan, System *s, const ChartPrograms *chart, SwitchTerm *of,
                          double unused, Exprs *list, tr_error *err)
{
    const uint32_t count = tr_plan_switch_count(plan), first = plan->system->input_count;
    bool *used = calloc(count + 1u, sizeof *used), any = false;
    if (!used || !find_used(plan, s, chart, used)) tr_fail_memory(err);
    for (uint32_t k = 0; !has_failed(err) && k < count; k++) {
        const StateSwitch *w = &plan->switches[k];
        const Expr a = expr_at(s->graph, w->a), b = expr_at(s->graph, w->b);
        any = any || used[k];
        exprs_add(list,
                  used[k] ? of(w, a, b, s->inputs[first + k].symbol) : number(s->graph, unused));
    }
    free(used);
    return any && !has_failed(err);
}

static Expr side_term(const StateSwitch *w, Expr a, Expr b, Expr side)
{
    (void)side;
    return side_of(w, a, b);
}

static Expr margin_term(const StateSwitch *w, Expr a, Expr b, Expr side)
{
    return margin_of(w, a, b, side);
}

tr_program *tr_sides_program(const Plan *plan, System *s, ChartPrograms *chart, tr_error *err)
{
    Exprs list = {0};
    if (list_switches(plan, s, chart, side_term, 0, &list, err))
        return tr_program_list(s, &list, chart->footing->fold, err);
    tr_exprs_free(&list);
    return NULL;
}

void tr_switch_margins(const Plan *plan, System *s, const ChartPrograms *chart, Exprs *list,
                       tr_error *err)
{
    list_switches(plan, s, chart, margin_term, 1, list, err);
}
