// SPDX-License-Identifier: Apache-2.0
// What is a row as it stands: gears, formulas of the user's, and speeds that the model chose
// (T53, T54).
#include "expr/walk.h"
#include "mech/tree.h"

#include <stdio.h>
#include <stdlib.h>

// ---- couplings -----------------------------------------------------------------------------

static Expr coordinate_called(Tree *tree, Value name)
{
    for (uint32_t k = 0; k < tree->position_count; k++)
        if (text_is(name.text, tree->positions[k].name)) return tree->positions[k].symbol;
    if (tr_tree_is_cut(tree, name.text)) tr_tree_refuse_cut(tree, name);
    Suggestion nearest = {.wanted = name.text};
    for (uint32_t k = 0; k < tree->position_count; k++)
        tr_suggest(&nearest, text_of(tree->positions[k].name));
    char hint[TR_HINT_SIZE];
    tr_fail(tree->err, TR_INVALID, name.place, "there is no coordinate '%.*s'%s", TEXT(name.text),
            tr_model_hint(tree->model, &nearest, hint));
    return expr_at(tree->graph, 0);
}

// Of what holds a coordinate where it should be
static Quantity reaction_to(const Tree *tree, Expr coordinate)
{
    const Input *input = tr_system_input(tree->system, coordinate);
    const Quantity quantity = input ? input->port.quantity : QUANTITY_UNKNOWN;
    return quantity == QUANTITY_ANGLE    ? QUANTITY_MOMENT
           : quantity == QUANTITY_LENGTH ? QUANTITY_FORCE
                                         : QUANTITY_REACTION;
}

// q_i - sum ratio_j q_j - offset(t) = 0                                                (T53)
static void make_coupling(Tree *tree, const Coupling *coupling)
{
    const Value name = coupling->name;
    if (!coupling->coordinate.given || !coupling->equals.count)
        tr_fail(tree->err, TR_INVALID, name.place,
                "the coupling '%.*s' needs a coordinate and what it equals, as in {coordinate: "
                "wheel, equals: {motor: 1/50}}",
                TEXT(name.text));
    if (has_failed(tree->err)) return;
    const Expr follower = coordinate_called(tree, coupling->coordinate);
    Expr phi = follower;
    for (uint32_t i = 0; i < coupling->equals.count && !has_failed(tree->err); i++) {
        const Pair *pair = &coupling->equals.at[i];
        const Expr other = coordinate_called(tree, pair->key);
        if (!has_failed(tree->err) && other.id == follower.id)
            tr_fail(tree->err, TR_INVALID, pair->key.place, "'%.*s' couples '%.*s' to itself",
                    TEXT(name.text), TEXT(pair->key.text));
        const Expr ratio = tr_tree_constant(tree, pair->value, "ratio");
        phi = sub(phi, mul(ratio, other));
    }
    const Expr offset = tr_tree_formula(tree, coupling->offset);
    if (has_failed(tree->err)) return;
    tr_tree_check_time_only(tree, coupling->offset, offset, "an offset");
    phi = sub(phi, offset);
    tr_tree_row(tree, name, "coupling", tr_tree_drift_of(tree, phi), phi, expr_at(tree->graph, 0),
                reaction_to(tree, follower));
}

// ---- formulas ------------------------------------------------------------------------------

static const Input *depends_on_velocity(Tree *tree, Expr x)
{
    return tr_system_uses(tree->system, x, TR_VELOCITY);
}

// The degree of an operation in the velocities, from those of its operands; more than 1 is 2.
static uint32_t degree_of(Op op, const uint32_t *d)
{
    uint32_t degree;
    switch (op) {
    case OP_ADD:
    case OP_SUB: degree = d[0] > d[1] ? d[0] : d[1]; break;
    case OP_NEG: degree = d[0]; break;
    case OP_MUL: degree = d[0] + d[1]; break;
    case OP_DIV: degree = d[1] ? 2 : d[0]; break;
    case OP_SELECT: degree = d[0] ? 2 : d[1] > d[2] ? d[1] : d[2]; break;
    default: degree = d[0] || d[1] || d[2] ? 2 : 0; break;
    }
    return degree > 2 ? 2 : degree;
}

static bool is_linear(Tree *tree, Expr rate)
{
    Reach reach;
    uint32_t *degree =
        tr_reach(tree->graph, &rate, 1, &reach) ? tr_reach_map(tree->graph, &reach) : NULL;
    for (uint32_t k = 0; degree && k < reach.count; k++) {
        const uint32_t id = reach.ids[k];
        const Node *node = &tree->graph->nodes[id];
        const Input *input = tr_system_input(tree->system, expr_at(tree->graph, id));
        uint32_t d[3] = {0};
        for (int i = 0; i < tr_op[node->op].operands; i++) d[i] = degree[node_operand(node, i)];
        degree[id] = input ? input->kind == TR_VELOCITY : degree_of((Op)node->op, d);
    }
    const bool linear = degree && degree[rate.id] == 1;
    tr_reach_free(&reach);
    free(degree);
    return linear;
}

// phi(q, t) = 0                                                                        (T53)
static void constrain_position(Tree *tree, const Constraint *c)
{
    const Expr phi = tr_tree_formula(tree, c->position);
    if (has_failed(tree->err)) return;
    const Input *velocity = depends_on_velocity(tree, phi);
    if (velocity)
        tr_fail(tree->err, TR_INVALID, c->position.place,
                "a formula of positions, but it uses '%s': that belongs in 'rate'", velocity->name);
    else if (tr_tree_own_state(tree, phi))
        tr_fail(tree->err, TR_INVALID, c->position.place,
                "this formula uses the state '%s': constraints on positions are about coordinates",
                tr_tree_own_state(tree, phi)->name);
    else if (!tr_system_uses(tree->system, phi, TR_POSITION))
        tr_fail(tree->err, TR_INVALID, c->position.place,
                "this formula has no coordinate in it, so it constrains nothing");
    else
        tr_tree_row(tree, c->name, "position", tr_tree_drift_of(tree, phi), phi,
                    expr_at(tree->graph, 0), QUANTITY_REACTION);
}

// A row that is linear in v                                                            (T53)
static void constrain_rate(Tree *tree, const Constraint *c)
{
    const Expr rate = tr_tree_formula(tree, c->rate);
    if (has_failed(tree->err)) return;
    if (!depends_on_velocity(tree, rate))
        tr_fail(tree->err, TR_INVALID, c->rate.place,
                "this formula has no rate in it, so it constrains no motion");
    else if (!is_linear(tree, rate))
        tr_fail(tree->err, TR_INVALID, c->rate.place,
                "a constraint on rates must be linear in them");
    else
        tr_tree_row(tree, c->name, "rate", rate, expr_at(tree->graph, 0), expr_at(tree->graph, 0),
                    QUANTITY_REACTION);
}

static void make_constraint(Tree *tree, const Constraint *c)
{
    if (c->position.given == c->rate.given)
        tr_fail(
            tree->err, TR_INVALID, c->name.place,
            "the constraint '%.*s' is a formula that stays zero: {position: ...} or {rate: ...}",
            TEXT(c->name.text));
    else if (c->position.given)
        constrain_position(tree, c);
    else
        constrain_rate(tree, c);
}

// ---- independent speeds --------------------------------------------------------------------

// N(q) v + n(q) - w = 0 for a speed w                             (T54) [B Remark 4]
static void make_speed(Tree *tree, Value item, uint32_t number_in_list)
{
    const Expr rate = tr_tree_formula(tree, item);
    if (has_failed(tree->err)) return;
    Input *input = tr_system_input(tree->system, rate);
    if (input && input->kind == TR_VELOCITY) {
        input->preferred = true;
        return;
    }
    if (!depends_on_velocity(tree, rate) || !is_linear(tree, rate)) {
        tr_fail(tree->err, TR_INVALID, item.place,
                "independent are velocities, or formulas that are linear in them%s",
                input && input->kind == TR_POSITION ? ": write d(...) of a coordinate" : "");
        return;
    }
    char name[300], text[256];
    snprintf(text, sizeof text, "%.*s", WHOLE(item.text));
    Row *row = tr_tree_append_row(tree, text, rate, item.place);
    if (!row) return;
    row->is_speed = true;
    if (tr_formula_is_name(item.text))
        snprintf(name, sizeof name, "speed.%s", text);
    else
        snprintf(name, sizeof name, "speed.formula%u", number_in_list + 1);
    tr_error why = {0};
    const Expr symbol = tr_input(tree->system, name, TR_SPEED, 0, &why);
    tr_tree_refuse_name(tree, item, &why);
    tree->system->rows[tree->system->row_count - 1].symbol = symbol;
    tr_tree_port(tree, symbol, QUANTITY_UNKNOWN, item.text, "");
}

void tr_tree_relations(Tree *tree)
{
    const ModelFields *f = &tree->model->fields;
    for (uint32_t i = 0; i < f->couplings.count && !has_failed(tree->err); i++)
        make_coupling(tree, &f->couplings.at[i]);
    for (uint32_t i = 0; i < f->constraints.count && !has_failed(tree->err); i++)
        make_constraint(tree, &f->constraints.at[i]);
    for (uint32_t i = 0; i < f->independent.count && !has_failed(tree->err); i++)
        make_speed(tree, f->independent.at[i], i);
}
