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
        if (!is_model_output(&s->outputs[i]))
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
        if (is_model_output(&s->outputs[i]))
            visit_values(s->outputs[i].values, (size_t)s->outputs[i].rows * s->outputs[i].columns,
                         visit, owner);
    for (uint32_t i = 0; i < s->alarm_count; i++) visit(owner, &s->alarms[i].margin);
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

// What stands in place of it, by its side
static Expr chosen(Op op, Expr a, Expr b, Expr side)
{
    Graph *g = graph_of(side);
    const Expr live = tr_build(op, a, b, a);
    switch (op) {
    case OP_LESS:
    case OP_LESS_EQUAL: return choose(side, sub(side, one(g)), live);
    case OP_ABS: return choose(side, choose(is_first(side), a, neg(a)), live);
    case OP_FLOOR: return choose(side, sub(side, number(g, 0.5)), live);
    default: return choose(side, choose(is_first(side), a, b), live); // min, max
    }
}

// The side that it is on
static Expr side_of(Op op, Expr a, Expr b)
{
    Graph *g = graph_of(a);
    const Expr first = one(g), second = number(g, 2);
    switch (op) {
    case OP_LESS:
    case OP_LESS_EQUAL: return add(one(g), tr_build(op, a, b, a));
    case OP_ABS: return choose(less(a, zero(g)), second, first);
    case OP_FLOOR: return add(tr_build(op, a, a, a), number(g, 0.5));
    case OP_MIN: return choose(less(a, b), first, second);
    default: return choose(less(b, a), first, second); // max
    }
}

// How far it is from leaving the side that it is kept on
static Expr margin_of(Op op, Expr a, Expr b, Expr side)
{
    Graph *g = graph_of(a);
    const Expr half = number(g, 0.5);
    switch (op) {
    case OP_ABS: return choose(is_first(side), a, neg(a));
    case OP_FLOOR: return tr_build(OP_MIN, sub(a, sub(side, half)), sub(add(side, half), a), a);
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

static bool has_jumps(const Graph *g)
{
    for (uint32_t id = 1; id < g->count; id++)
        if (tr_is_jump(&g->nodes[id])) return true;
    return false;
}

static Expr add_side(System *s, uint32_t k, tr_error *err)
{
    char name[40];
    snprintf(name, sizeof name, "side.s%u", k + 1);
    while (tr_system_find(s, text_of(name)) && strlen(name) + 2 < sizeof name) strcat(name, "_");
    return tr_input(s, name, TR_MODE, 0, err);
}

// Each with those before it replaced in what it compares
static void replace(Plan *plan, System *s, const uint32_t *ids, uint32_t count, tr_error *err)
{
    Expr *from = calloc(2 * (size_t)count + 1, sizeof *from);
    Expr *to = from ? from + count : NULL;
    Exprs all = {0};
    if (!from) tr_fail_memory(err);
    for (uint32_t k = 0; from && k < count && !has_failed(err); k++) {
        StateSwitch *w = &plan->switches[k];
        from[k] = expr_at(s->graph, ids[k]);
        w->op = op_of(from[k]);
        w->words = tr_jump_words(s, from[k]);
        Expr compared[2] = {operand(from[k], 0), operand(from[k], tr_op[w->op].operands > 1)};
        tr_substitute(s->graph, compared, 2, from, to, k, compared);
        w->a = compared[0].id, w->b = compared[1].id;
        to[k] = chosen(w->op, compared[0], compared[1], add_side(s, k, err));
        if (!w->words) tr_fail_memory(err);
    }
    if (from && !has_failed(err)) visit_all(s, list_one, &all);
    if (all.count && !all.failed)
        tr_substitute(s->graph, all.at, all.count, from, to, count, all.at);
    if (all.failed || s->graph->failed) tr_fail_memory(err);
    if (!has_failed(err)) visit_all(s, put_one, &(Rewriting){.next = all.at});
    tr_exprs_free(&all);
    free(from);
}

bool tr_plan_find_switches(Plan *plan, tr_error *err)
{
    if (!has_jumps(plan->system->graph)) return true;
    uint32_t count = 0;
    uint32_t *ids = find_state_jumps(plan->system, &count);
    if (!ids) tr_fail_memory(err);
    if (ids && count && count <= MOST_SWITCHES) {
        plan->switches = calloc(count, sizeof *plan->switches);
        plan->switching = tr_system_copy(plan->system, err);
        if (!plan->switches) tr_fail_memory(err);
        if (plan->switches) plan->switch_count = count;
        if (!has_failed(err)) replace(plan, plan->switching, ids, count, err);
    }
    free(ids);
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
    return side_of(w->op, a, b);
}

static Expr margin_term(const StateSwitch *w, Expr a, Expr b, Expr side)
{
    return margin_of(w->op, a, b, side);
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
