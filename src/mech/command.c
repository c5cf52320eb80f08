// SPDX-License-Identifier: Apache-2.0
// First order: velocities are found instead of accelerations, so that what is asked of them holds
// as nearly as rows and roles allow (T257) [K 4.3.5]:
//
//   A v + a = m with weights W,   G v + g = 0:   least (m - a - A v)^T W (m - a - A v)
//
// which is T70 and T71 with M = A^T W A, c = 0, Q = A^T W (m - a) and v in place of v'.
#include "mech/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const Command *command_called(const Tree *tree, const char *name)
{
    const Commands *commands = &tree->model->fields.commands;
    return tr_kind_find(tr_kind_of(TYPE_COMMANDS), commands, text_of(name));
}

bool tr_tree_soften(Tree *tree, const char *row, Expr rate)
{
    const bool is_first = tree->system->order == 1;
    if (!command_called(tree, row)) return false;
    SoftRow *grown = tr_tree_room(tree, tree->soft_count + 1u, sizeof *grown);
    if (!grown) return is_first;
    if (tree->soft_count) memcpy(grown, tree->soft, tree->soft_count * sizeof *grown);
    grown[tree->soft_count] = (SoftRow){tr_tree_text(tree, text_of(row)), rate};
    tree->soft = grown, tree->soft_count++;
    return is_first; // in second order it holds
}

// ---- what is asked -------------------------------------------------------------------------

typedef struct Wish {
    Expr rate, value, weight; // A v + a, m, W
    const Expr *slopes;       // A
    Expr rest;                // a
} Wish;

static const SoftRow *row_called(const Tree *tree, const Command *command)
{
    for (uint32_t i = 0; i < tree->soft_count; i++)
        if (text_is(command->name.text, tree->soft[i].name)) return &tree->soft[i];
    return NULL;
}

static Expr rate_called(Tree *tree, const Command *command)
{
    const SoftRow *row = row_called(tree, command);
    return row ? row->rate : tr_tree_formula(tree, command->name);
}

// The name of what is asked: d(steer) is steer_rate
static Text wish_name(const Tree *tree, const Command *command, const Wish *wish)
{
    const Input *input = tr_system_input(tree->system, wish->rate);
    const bool is_name = tr_formula_is_name(command->name.text);
    return is_name || !input ? command->name.text : text_of(input->name);
}

static bool is_velocity(const Tree *tree, const Expr *slopes)
{
    for (uint32_t k = 0; k < tree->velocity_count; k++)
        if (!is_zero(slopes[k])) return true;
    return false;
}

static void check_linear(Tree *tree, const Command *command, const Wish *wish)
{
    if (has_failed(tree->err) || tree->graph->failed) return;
    if (!is_velocity(tree, wish->slopes))
        tr_fail(tree->err, TR_INVALID, command->name.place, "'%.*s' is no velocity",
                TEXT(command->name.text));
    else if (tr_system_uses_any(tree->system, wish->slopes, tree->velocity_count, TR_VELOCITY))
        tr_fail(tree->err, TR_INVALID, command->name.place,
                "'%.*s' is not linear in velocities: it cannot be commanded",
                TEXT(command->name.text));
    else if (!tr_formula_is_name(wish_name(tree, command, wish)))
        tr_fail(tree->err, TR_INVALID, command->name.place,
                "'%.*s' is a formula: make it an output, and command that",
                TEXT(command->name.text));
}

static void check_value(Tree *tree, const Command *command, const Wish *wish)
{
    const Input *input =
        has_failed(tree->err) ? NULL : tr_system_uses(tree->system, wish->value, TR_VELOCITY);
    if (!input && !has_failed(tree->err))
        input = tr_system_uses(tree->system, wish->value, TR_SOLVED);
    if (input)
        tr_fail(tree->err, TR_INVALID, command->value.place,
                "what is asked of '%.*s' depends on t, coordinates and inputs, not on '%s'",
                TEXT(command->name.text), input->name);
    if (!has_failed(tree->err) && tr_tree_is_constant(wish->value) &&
        !isfinite(tr_tree_value(tree, wish->value)))
        tr_fail(tree->err, TR_INVALID, command->value.place,
                "what is asked of '%.*s' is not finite", TEXT(command->name.text));
    if (!has_failed(tree->err) &&
        !tr_tree_is(tree, RULE_NOT_NEGATIVE, wish->weight, command->weight.place,
                    "the weight of '%.*s' is not negative", WHOLE(command->name.text)))
        tr_fail(tree->err, TR_INVALID, command->weight.place, "the weight of '%.*s' is negative",
                TEXT(command->name.text));
}

// In second order there is nothing to disturb.
static void disturb(Tree *tree, const Command *command, Wish *wish)
{
    const Expr density = tr_tree_density(tree, command->noise);
    if (tree->system->order == 1)
        wish->value =
            add(wish->value, tr_tree_noise(tree, wish_name(tree, command, wish), density));
}

static bool take_wish(Tree *tree, const Command *command, Wish *wish)
{
    wish->rate = rate_called(tree, command);
    if (has_failed(tree->err)) return false;
    const bool holds = tree->system->order != 1 && row_called(tree, command);
    if (!holds) wish->slopes = tr_tree_slopes(tree, wish->rate, &wish->rest);
    if (!holds) check_linear(tree, command, wish);
    if (!has_failed(tree->err)) wish->value = tr_tree_formula(tree, command->value);
    if (!has_failed(tree->err)) wish->weight = tr_tree_constant(tree, command->weight, "weight");
    if (!has_failed(tree->err) && command->noise.given) disturb(tree, command, wish);
    check_value(tree, command, wish);
    return !has_failed(tree->err) && !tree->graph->failed;
}

// In second order nothing follows from commands, and formulas of theirs are none of the run's; but
// what cannot be asked is refused all the same.
void tr_tree_check_commands(Tree *tree)
{
    const Commands *commands = &tree->model->fields.commands;
    const uint32_t formulas = tree->system->formula_count;
    Wish wish = {0};
    for (uint32_t i = 0; i < commands->count; i++)
        if (!take_wish(tree, &commands->at[i], &wish)) break;
    tree->system->formula_count = formulas;
}

// ---- in place of masses and forces ---------------------------------------------------------

// M += W A^T A,   Q += W A^T (m - a)
static void add_wish(const Tree *tree, const Wish *wish, Matrix M, Expr *Q)
{
    const uint32_t n = tree->velocity_count;
    const Expr left = sub(wish->value, wish->rest);
    for (uint32_t i = 0; i < n; i++) {
        const Expr share = mul(wish->weight, wish->slopes[i]);
        if (is_zero(share)) continue;
        Q[i] = add(Q[i], mul(share, left));
        for (uint32_t k = 0; k < n; k++)
            set(M, i, k, add(get(M, i, k), mul(share, wish->slopes[k])));
    }
}

// residual.NAME: m less what it is; and of all of them the root of the weighted sum of squares
static void add_residuals(Tree *tree, const Wish *wishes)
{
    const Commands *commands = &tree->model->fields.commands;
    Expr sum = zero(tree->graph);
    char name[300];
    for (uint32_t i = 0; i < commands->count && !has_failed(tree->err); i++) {
        const Text of = wish_name(tree, &commands->at[i], &wishes[i]);
        const Expr off = sub(wishes[i].value, wishes[i].rate);
        sum = add(sum, mul(wishes[i].weight, square(off)));
        tr_error why = {0};
        snprintf(name, sizeof name, "residual.%.*s", WHOLE(of));
        if (text_is(of, "commands") || text_is(of, "position") || text_is(of, "velocity"))
            tr_fail(&why, TR_INVALID, (Place){0},
                    "'%s' is a column of every run: call what is asked otherwise", name);
        tr_system_column(tree->system, name, name, off,
                         port_of(QUANTITY_RESIDUAL, tr_tree_text(tree, of), "command"), &why);
        tr_tree_refuse_name(tree, commands->at[i].name, &why);
    }
    if (commands->count)
        tr_system_column(tree->system, "residual.commands", "residual.commands", e_sqrt(sum),
                         port_of(QUANTITY_RESIDUAL, "", "commands"), tree->err);
}

// Without rows there is nothing to reduce: v = M^-1 Q for those that nothing drives.
static void solve_without_rows(Tree *tree, Matrix M, const Expr *Q)
{
    const uint32_t n = tree->velocity_count;
    uint32_t *free_ones = calloc(n + 1u, sizeof *free_ones), count = 0;
    if (!free_ones) {
        tree->graph->failed = true;
        return;
    }
    for (uint32_t k = 0; k < n; k++)
        if (tree->velocities[k].drive != DRIVE_MOTION) free_ones[count++] = k;
    Matrix A = tr_matrix(tree->graph, count, count), b = tr_matrix(tree->graph, count, 1);
    for (uint32_t i = 0; i < count; i++) {
        Expr right = Q[free_ones[i]];
        for (uint32_t k = 0; k < n; k++)
            if (tree->velocities[k].drive == DRIVE_MOTION)
                right = sub(right, mul(get(M, free_ones[i], k), tree->velocities[k].acceleration));
        set(b, i, 0, right);
        for (uint32_t k = 0; k < count; k++) set(A, i, k, get(M, free_ones[i], free_ones[k]));
    }
    const Matrix v = tr_ldlt_solve(tr_ldlt(A), b);
    for (uint32_t i = 0; i < count; i++) {
        Velocity *w = &tree->velocities[free_ones[i]];
        Input *input = tr_system_input(tree->system, w->symbol);
        w->acceleration = get(v, i, 0);
        if (input) input->definition = w->acceleration;
    }
    free(free_ones);
}

// Rows hold for velocities in place of accelerations.
static void take_rests(Tree *tree)
{
    for (uint32_t i = 0; i < tree->system->row_count; i++) {
        Row *row = &tree->system->rows[i];
        row->bias = row->rest, row->inner_bias = row->inner_rest;
    }
}

// ---- motions that jump ---------------------------------------------------------------------

static bool are_on_link(const Link *link, const Expr *slopes)
{
    for (uint32_t k = 0; slopes && k < link->velocity_count; k++)
        if (!is_zero(slopes[link->velocity + k])) return true;
    return false;
}

// A row or a command that depends on how fast a joint goes, or NULL
static const char *felt_by(Tree *tree, const Link *link, const Wish *wishes)
{
    const System *s = tree->system;
    const Commands *commands = &tree->model->fields.commands;
    for (uint32_t i = 0; i < s->row_count; i++)
        if (are_on_link(link, s->rows[i].slopes)) return s->rows[i].name;
    for (uint32_t i = 0; i < commands->count; i++)
        if (are_on_link(link, wishes[i].slopes))
            return tr_tree_text(tree, commands->at[i].name.text);
    return NULL;
}

// A motion may jump where nothing asks how fast it is: its place is what it is then. Tables are
// refused here, and what jumps otherwise when a run comes there.
static void check_motions(Tree *tree, const Wish *wishes)
{
    for (uint32_t i = 0; i < tree->system->row_count && !has_failed(tree->err); i++) {
        const Row *row = &tree->system->rows[i];
        if (row->position.id) tr_tree_check_constraint(tree, row->place, row->position);
    }
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++) {
        const Link *link = &tree->links[i];
        const Pairs *motion = link->role ? &link->role->motion : NULL;
        const char *by = motion && motion->count ? felt_by(tree, link, wishes) : NULL;
        if (!by) continue;
        for (uint32_t k = 0; k < link->position_count; k++) {
            Input *input =
                tr_system_input(tree->system, tree->positions[link->position + k].symbol);
            if (input) input->felt_by = by;
        }
        for (uint32_t k = 0; k < motion->count && !has_failed(tree->err); k++)
            tr_tree_check_felt(tree, motion->at[k].value,
                               tr_tree_formula(tree, motion->at[k].value), by);
    }
}

static void check_contacts(Tree *tree)
{
    const Contacts *contacts = &tree->model->fields.contacts;
    for (uint32_t i = 0; i < contacts->count; i++)
        if (text_is(contacts->at[i].open.text, "true"))
            tr_fail(tree->err, TR_INVALID, contacts->at[i].open.place,
                    "in first order no force opens or closes '%.*s': leave it out, or make its "
                    "rows commands",
                    TEXT(contacts->at[i].name.text));
}

void tr_tree_first_order(Tree *tree)
{
    const Commands *commands = &tree->model->fields.commands;
    const uint32_t n = tree->velocity_count;
    Wish *wishes = tr_tree_room(tree, commands->count, sizeof *wishes);
    Expr *Q = tr_tree_room(tree, 3 * (size_t)n, sizeof *Q);
    const Matrix M = tr_matrix(tree->graph, n, n);
    if (!wishes || !Q || tree->graph->failed) return;
    Expr *c = Q + n, *vdot = c + n;
    for (uint32_t k = 0; k < n; k++) Q[k] = c[k] = zero(tree->graph);
    for (uint32_t i = 0; i < commands->count; i++) {
        if (!take_wish(tree, &commands->at[i], &wishes[i])) return;
        add_wish(tree, &wishes[i], M, Q);
    }
    check_motions(tree, wishes);
    check_contacts(tree);
    if (!tree->system->row_count) solve_without_rows(tree, M, Q);
    take_rests(tree);
    tr_output(tree->system, "c", c, n, 1, tree->err);
    tr_output(tree->system, "Q", Q, n, 1, tree->err);
    for (uint32_t k = 0; k < n; k++) vdot[k] = tree->velocities[k].acceleration;
    tr_output(tree->system, "vdot", vdot, n, 1, tree->err);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) c[i] = add(c[i], mul(get(M, i, k), vdot[k]));
    if (tree->system->row_count) tr_output(tree->system, "inverse", c, n, 1, tree->err);
    tr_output(tree->system, "M", M.entries, n, n, tree->err);
    add_residuals(tree, wishes);
}
