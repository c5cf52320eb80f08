// SPDX-License-Identifier: Apache-2.0
// States of the user's own: positions that no velocity moves, with rates of their own, s' = f(q, v,
// s, u, t) (T320). A rate is read when somebody asks how fast the state changes, or else once all
// that moves has its name.
#include "mech/tree.h"

enum { UNREAD, BUSY, READ };

static const OwnStates *states_of(const Tree *tree) { return &tree->model->fields.states; }

static Input *input_of(const Tree *tree, const OwnState *state)
{
    const Named *named = tr_system_find(tree->system, state->name.text);
    return named ? tr_system_input(tree->system, named->meaning) : NULL;
}

void tr_tree_states(Tree *tree)
{
    const OwnStates *states = states_of(tree);
    for (uint32_t i = 0; i < states->count && !has_failed(tree->err); i++) {
        const OwnState *state = &states->at[i];
        tr_error why = {0};
        tr_tree_check_name(tree, state->name, "a state");
        if (!has_failed(tree->err) && !state->rate.given)
            tr_fail(tree->err, TR_INVALID, state->name.place,
                    "how fast does '%.*s' change? a state needs a 'rate'", TEXT(state->name.text));
        if (has_failed(tree->err)) return;
        const char *name = tr_tree_text(tree, state->name.text);
        const Expr symbol = tr_input(tree->system, name, TR_POSITION, 0, &why);
        tr_tree_refuse_name(tree, state->name, &why);
        Input *input = tr_system_input(tree->system, symbol);
        if (input) input->is_extra = true, input->port = port_of(QUANTITY_STATE, name, "");
    }
}

static bool read_rate(Tree *tree, uint32_t index)
{
    const OwnState *state = &states_of(tree)->at[index];
    int *known = &tree->own_state[index];
    if (*known == READ) return true;
    if (*known == BUSY)
        tr_fail(tree->err, TR_INVALID, state->rate.place, "the rate of '%.*s' depends on itself",
                TEXT(state->name.text));
    *known = BUSY;
    if (has_failed(tree->err)) return false;
    const Expr rate = tr_tree_formula_with(tree, state->rate, NULL, 0); // none of who asks
    *known = READ;
    if (has_failed(tree->err)) return false;
    const Input *solved = tr_system_uses(tree->system, rate, TR_SOLVED);
    if (solved)
        tr_fail(tree->err, TR_INVALID, state->rate.place,
                "the rate of a state is a formula without accelerations and reactions, but this "
                "one uses '%s'",
                solved->name);
    else
        input_of(tree, state)->rate = rate;
    return !has_failed(tree->err);
}

bool tr_tree_know_rates(Tree *tree, Expr of)
{
    const OwnStates *states = states_of(tree);
    Reach reach = {0};
    bool unread = false, good = true;
    for (uint32_t i = 0; i < states->count; i++) unread = unread || tree->own_state[i] != READ;
    if (!unread) return true;
    good = tr_reach(tree->graph, &of, 1, &reach);
    for (uint32_t i = 0; i < states->count && good; i++) {
        const Input *input = input_of(tree, &states->at[i]);
        if (input && tr_reach_has(&reach, input->symbol)) good = read_rate(tree, i);
    }
    tr_reach_free(&reach);
    return good;
}

void tr_tree_state_rates(Tree *tree)
{
    for (uint32_t i = 0; i < states_of(tree)->count && !has_failed(tree->err); i++)
        read_rate(tree, i);
}

uint32_t tr_tree_list_rates(const Tree *tree, uint32_t *of)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < states_of(tree)->count; i++) {
        const Input *input = input_of(tree, &states_of(tree)->at[i]);
        if (!input || !input->rate.id) continue;
        if (of) of[input->symbol.id] = input->rate.id;
        count++;
    }
    return count;
}

const Input *tr_tree_own_state(const Tree *tree, Expr of)
{
    const OwnStates *states = states_of(tree);
    const Input *found = NULL;
    Reach reach = {0};
    if (!states->count || !tr_reach(tree->graph, &of, 1, &reach)) return NULL;
    for (uint32_t i = 0; i < states->count && !found; i++) {
        const Input *input = input_of(tree, &states->at[i]);
        if (input && tr_reach_has(&reach, input->symbol)) found = input;
    }
    tr_reach_free(&reach);
    return found;
}
