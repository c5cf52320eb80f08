// SPDX-License-Identifier: Apache-2.0
// The order in which a model becomes a system; the free dynamics, the constraints and what is
// recorded as its outputs (T1, T19).
#include "mech/derive.h"

#include "expr/list.h"
#include "mech/tree.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_VELOCITIES_TO_COUNT = 60 };

// ---- outputs -------------------------------------------------------------------------------

// A column of numbers of one quantity
static void put_output(Tree *tree, const char *name, const Expr *values, uint32_t rows,
                       Quantity quantity)
{
    System *s = tree->system;
    tr_output(s, name, values, rows, 1, tree->err);
    if (!has_failed(tree->err)) s->outputs[s->output_count - 1].port.quantity = quantity;
}

static void forces_of(Tree *tree, Expr *Q)
{
    tr_tree_applied(tree, Q);
    for (uint32_t k = 0; k < tree->velocity_count; k++)
        Q[k] = add(add(tree->velocities[k].torque, tree->velocities[k].passive), Q[k]);
}

// All of M, or of many velocities its diagonal: the others are as many as their square
static void list_masses(Tree *tree, Exprs *list)
{
    const uint32_t n = tree->velocity_count;
    if (n <= MOST_VELOCITIES_TO_COUNT) {
        const Matrix M = tr_tree_mass_matrix(tree);
        if (M.entries) tr_exprs_add(list, M.entries, (size_t)n * n);
        return;
    }
    Expr *diagonal = calloc(n, sizeof *diagonal);
    if (diagonal) tr_tree_mass_along(tree, diagonal);
    if (diagonal) tr_exprs_add(list, diagonal, n);
    if (!diagonal) list->failed = true;
    free(diagonal);
}

// Operations of M and c next to forces Q and to the rows as they are eliminated
static size_t count_dynamics(Tree *tree, const Expr *Q)
{
    const System *s = tree->system;
    const uint32_t n = tree->velocity_count;
    Expr *c = calloc(n + 1u, sizeof *c);
    Exprs all = {0};
    if (c) list_masses(tree, &all);
    if (c) tr_tree_inverse(tree, NULL, false, c);
    if (c) tr_exprs_add(&all, c, n);
    tr_exprs_add(&all, Q, n);
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (s->rows[i].inner_slopes) tr_exprs_add(&all, s->rows[i].inner_slopes, n);
        exprs_add(&all, s->rows[i].inner_bias);
    }
    if (!c || all.failed) tree->graph->failed = true;
    const size_t count =
        tree->graph->failed ? 0 : tr_system_operations(tree->system, all.at, all.count);
    tr_exprs_free(&all);
    free(c);
    return count;
}

// The forest whose dynamics is shortest where there are constraints: as it is, or along its hinges
static Tree *shortest(Tree *tree, const Expr *Q)
{
    if (!tree->system->row_count) return tree;
    Tree *best = tree;
    size_t least = 0;
    for (int loads = 0; loads < 2; loads++) {
        Tree *along = tr_tree_along(tree, (AlongBases){.load = loads});
        if (!along) break;
        if (!loads) least = count_dynamics(tree, Q);
        const size_t count = count_dynamics(along, Q);
        Tree *other = count < least ? best : along;
        if (count < least) best = along, least = count;
        if (other != tree) tr_tree_forget(other);
    }
    return best;
}

// Of many velocities nobody asks for M but who makes it from the forest; blows take it as it is.
static bool gives_mass_matrix(const Tree *tree)
{
    const System *s = tree->system;
    return tree->velocity_count <= MOST_VELOCITIES_FOR_M ||
           (s->row_count && (!s->forest || s->latch_count));
}

// Without constraints nobody has chosen: recursions over what is handed over take links along their
// hinges, with masses where they do not move.
static Tree *along_hinges(Tree *tree, Tree *by)
{
    if (tree->system->row_count) return by;
    Tree *along = tr_tree_along(tree, (AlongBases){.load = true});
    return along ? along : tree;
}

// M v' + c = Q + G^T lambda                                    (T19) [M 9; B 1; S 2.1]
static void make_free_dynamics(Tree *tree)
{
    const uint32_t n = tree->velocity_count;
    Expr *c = calloc(2 * (size_t)n + 1, sizeof *c), *Q = c ? c + n : NULL;
    if (!c) {
        tree->graph->failed = true;
        return;
    }
    forces_of(tree, Q);
    Tree *by = shortest(tree, Q);
    if (tree->inner == tree) tr_tree_hand_over(tree, along_hinges(tree, by));
    tr_tree_inverse(by, NULL, false, c);
    put_output(tree, "c", c, n, QUANTITY_GENERALISED_FORCE);
    put_output(tree, "Q", Q, n, QUANTITY_GENERALISED_FORCE);
    for (uint32_t k = 0; k < n; k++) Q[k] = tree->velocities[k].acceleration;
    tr_output(tree->system, "vdot", Q, n, 1, tree->err);
    if (tree->system->row_count) { // M v' + c, with the accelerations as they are: symbols
        tr_tree_inverse(by, Q, false, c);
        put_output(tree, "inverse", c, n, QUANTITY_GENERALISED_FORCE);
    }
    if (gives_mass_matrix(tree)) {
        const Matrix M = tr_tree_mass_matrix(by);
        if (M.entries) tr_output(tree->system, "M", M.entries, n, n, tree->err);
    }
    if (by != tree) tr_tree_forget(by);
    free(c);
}

// q' = N v
static void make_kinematics(Tree *tree)
{
    const System *s = tree->system;
    const uint32_t n = tr_system_inputs(s, TR_POSITION, NULL);
    Expr *rates = calloc(n + 2 * s->touching_count + 1u, sizeof *rates);
    uint32_t count = 0;
    if (!rates) {
        tree->graph->failed = true;
        return;
    }
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION) rates[count++] = s->inputs[i].rate;
    tr_output(tree->system, "qdot", rates, n, 1, tree->err);
    count = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_TOUCH) rates[count++] = s->inputs[i].rate;
    if (count) tr_output(tree->system, "touchdot", rates, count, 1, tree->err);
    free(rates);
}

// M, c, M u' + c and Q by inner velocities, for the reduction                      (T59, T60)
static void make_inner_dynamics(Tree *tree)
{
    const System *s = tree->system;
    const uint32_t n = tree->velocity_count;
    const Output *Q = tr_system_output(s, text_of("Q"));
    Expr *force = calloc(2 * (size_t)n + 1, sizeof *force), *rate = force ? force + n : NULL;
    if (!force || !Q) {
        tree->graph->failed = true;
        free(force);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        const Input *input = tr_system_input(s, tree->inner->velocities[k].symbol);
        rate[k] = input->rate;
    }
    Tree *by = shortest(tree->inner, Q->values);
    tr_tree_hand_over(tree, by);
    tr_tree_inverse(by, rate, false, force);
    put_output(tree, "inner.inverse", force, n, QUANTITY_GENERALISED_FORCE);
    tr_tree_inverse(by, NULL, false, force);
    put_output(tree, "inner.c", force, n, QUANTITY_GENERALISED_FORCE);
    if (gives_mass_matrix(tree)) {
        const Matrix M = tr_tree_mass_matrix(by);
        if (M.entries) tr_output(tree->system, "inner.M", M.entries, n, n, tree->err);
    }
    if (by != tree->inner) tr_tree_forget(by);
    Q = tr_system_output(s, text_of("Q"));
    memcpy(force, Q->values, n * sizeof *force);
    tr_tree_turn_in(tree, Q->values, force);
    put_output(tree, "inner.Q", force, n, QUANTITY_GENERALISED_FORCE);
    free(force);
}

// Columns of results have names of their own.
static void check_column(Tree *tree, Value name)
{
    static const char *const own[] = {"energy.", "residual.", "tau.", "lambda.", "contact."};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (name.text.length > strlen(own[i]) && memcmp(name.text.at, own[i], strlen(own[i])) == 0)
            tr_fail(tree->err, TR_INVALID, name.place, "names that begin with '%s' are for results",
                    own[i]);
}

// In first order there are no forces.
static bool needs_forces(const Tree *tree, Expr x)
{
    return tree->system->order == 1 && tr_system_uses_force(tree->system, x);
}

// Of what a coordinate or a velocity is as it stands, the quantity is known.
static Port output_port(const Tree *tree, Expr x)
{
    const Input *input = tr_system_input(tree->system, x);
    return port_of(input ? input->port.quantity : QUANTITY_UNKNOWN, "", PORT_OUTPUT);
}

// The outputs that the model defines
static void make_model_columns(Tree *tree)
{
    char name[600], left_out[240] = "";
    const Pairs *outputs = &tree->model->fields.outputs;
    for (uint32_t i = 0; i < outputs->count && !has_failed(tree->err); i++) {
        const Expr x = tr_tree_output(tree, i);
        check_column(tree, outputs->at[i].key);
        snprintf(name, sizeof name, "outputs.%.*s", WHOLE(outputs->at[i].key.text));
        if (!has_failed(tree->err) && needs_forces(tree, x)) {
            tr_list_name(left_out, sizeof left_out, name + strlen("outputs."));
            continue;
        }
        if (!has_failed(tree->err))
            tr_system_column(tree->system, name, name + strlen("outputs."), x, output_port(tree, x),
                             tree->err);
    }
    if (left_out[0]) tree->system->left_out = tr_tree_text(tree, text_of(left_out));
}

// Reactions, and forces in place of reactions
static void make_reaction_columns(Tree *tree)
{
    System *s = tree->system;
    char name[600];
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (s->rows[i].is_speed || tr_is_restraint_row(tree, i)) continue;
        snprintf(name, sizeof name, "lambda.%s", s->rows[i].name);
        Expr force = s->rows[i].symbol;
        for (uint32_t k = 0; k < tree->slip_count; k++)
            if (tree->slips[k].sticks && tree->slips[k].row == i)
                force = add(force, tree->slips[k].force);
        tr_system_column(s, name, name, force, s->rows[i].port, tree->err);
    }
    for (uint32_t i = 0; i < tree->slip_count; i++) {
        const Slip *slip = &tree->slips[i];
        if (slip->sticks) continue;
        const char *owner = tr_tree_text(tree, slip->contact->name.text);
        snprintf(name, sizeof name, "lambda.%s.%s", owner, slip->part);
        tr_system_column(s, name, name, slip->force, port_of(QUANTITY_FORCE, owner, slip->part),
                         tree->err);
    }
}

// What drives a velocity: it belongs where that does.
static Port motor_port(const Tree *tree, const Velocity *w)
{
    const Input *input = tr_system_input(tree->system, w->symbol);
    if (!input) return port_unknown();
    return port_of(tr_motor_quantity(input->port.quantity), input->port.owner,
                   input->port.component);
}

// There are none where velocities are found: balances hold for nothing.
static void make_no_energies(Tree *tree)
{
    const Expr nothing = zero(tree->graph);
    tr_system_column(tree->system, "kinetic", "energy.kinetic", nothing,
                     port_of(QUANTITY_ENERGY, "", "kinetic"), tree->err);
    tr_system_column(tree->system, "potential", "energy.potential", nothing,
                     port_of(QUANTITY_ENERGY, "", "potential"), tree->err);
    put_output(tree, "power", &nothing, 1, QUANTITY_POWER);
}

static void make_all_columns(Tree *tree)
{
    System *s = tree->system;
    char name[600];
    make_model_columns(tree);
    if (s->order == 1) {
        tr_tree_contact_columns(tree);
        make_no_energies(tree);
        return;
    }
    make_reaction_columns(tree);
    tr_tree_restraint_columns(tree);
    for (uint32_t k = 0; k < tree->velocity_count; k++) {
        const Velocity *w = &tree->velocities[k];
        if (w->drive == DRIVE_NONE) continue;
        snprintf(name, sizeof name, "tau.%s", w->joint);
        tr_system_column(s, name, name, w->tau, motor_port(tree, w), tree->err);
    }
    tr_tree_cut_columns(tree);
    tr_tree_contact_columns(tree);
    const Expr kinetic = tr_tree_kinetic(tree), potential = tr_tree_potential(tree),
               power = tr_tree_power(tree);
    tr_system_column(s, "kinetic", "energy.kinetic", kinetic,
                     port_of(QUANTITY_ENERGY, "", "kinetic"), tree->err);
    tr_system_column(s, "potential", "energy.potential", potential,
                     port_of(QUANTITY_ENERGY, "", "potential"), tree->err);
    put_output(tree, "power", &power, 1, QUANTITY_POWER);
}

// An output that is what another column is has its quantity, too.
static void name_quantities(System *s)
{
    for (uint32_t i = 0; i < s->output_count; i++) {
        Port *port = &s->outputs[i].port;
        if (!is_model_output(&s->outputs[i]) || is_number(*s->outputs[i].values)) continue;
        for (uint32_t k = 0; k < s->output_count && port->quantity == QUANTITY_UNKNOWN; k++)
            if (s->outputs[k].label && s->outputs[k].values->id == s->outputs[i].values->id)
                port->quantity = s->outputs[k].port.quantity;
    }
}

static void make_columns(Tree *tree)
{
    make_all_columns(tree);
    name_quantities(tree->system);
}

// Velocities that a row is about
static void mark_constrained(Tree *tree, bool *marks)
{
    const System *s = tree->system;
    Exprs others = {0}; // rows whose slopes are not known yet
    Reach reach = {0};
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (!s->rows[i].slopes) exprs_add(&others, s->rows[i].rate);
        for (uint32_t k = 0; s->rows[i].slopes && k < tree->velocity_count; k++)
            marks[k] = marks[k] || !is_zero(s->rows[i].slopes[k]);
    }
    if (others.failed) tree->graph->failed = true;
    tr_reach(tree->graph, others.at, others.count, &reach);
    for (uint32_t k = 0; k < tree->velocity_count; k++)
        marks[k] = marks[k] || tr_reach_has(&reach, tree->velocities[k].symbol);
    tr_reach_free(&reach);
    tr_exprs_free(&others);
}

// A joint that moves no mass has no acceleration, unless a constraint gives it one.
static void check_masses(Tree *tree)
{
    Expr *mass = calloc(tree->velocity_count + 1u, sizeof *mass);
    bool *constrained = calloc(tree->velocity_count + 1u, sizeof *constrained);
    const bool has_room = mass && constrained;
    if (!has_room) tree->graph->failed = true;
    if (has_room) tr_tree_mass_along(tree, mass);
    if (has_room) mark_constrained(tree, constrained);
    for (uint32_t k = 0; has_room && k < tree->velocity_count && !tree->graph->failed; k++) {
        const Velocity *w = &tree->velocities[k];
        const Place place = tree->links[w->link].body->name.place;
        if (w->drive != DRIVE_MOTION && !constrained[k] && tr_tree_is_constant(mass[k]) &&
            !tr_tree_is(tree, RULE_POSITIVE, mass[k], place, "what '%s' moves has mass", w->joint))
            tr_fail(tree->err, TR_INVALID, place,
                    "nothing that '%s' moves has mass or inertia along it, so its acceleration is "
                    "not determined",
                    w->joint);
    }
    free(constrained);
    free(mass);
}

// ---- running -------------------------------------------------------------------------------

// Numbers about a run: where a case has them, and where a plan does
static const struct {
    const char *name;
    size_t in_case, in_plan;
    bool may_be_zero;
} run_numbers[] = {
#define NUMBER(field, may_be_zero)                                                       \
    {                                                                                    \
#field, offsetof(Case, field), offsetof(tr_simulate_options, field), may_be_zero \
    }
    NUMBER(end, true),   NUMBER(every, false), NUMBER(step, false),
    NUMBER(rtol, false), NUMBER(atol, true),
#undef NUMBER
};
enum { RUN_NUMBERS = sizeof run_numbers / sizeof *run_numbers };

static const Value *case_value(const Case *c, int i)
{
    return (const Value *)(const void *)((const char *)c + run_numbers[i].in_case);
}

static double *plan_number(tr_simulate_options *plan, int i)
{
    return (double *)(void *)((char *)plan + run_numbers[i].in_plan);
}

tr_simulate_options tr_mech_plan(void)
{
    Case plain = {0};
    tr_kind_defaults(tr_kind_of(TYPE_CASES), &plain);
    tr_simulate_options plan = {.method = plain.method.text.at};
    for (int i = 0; i < RUN_NUMBERS; i++)
        tr_read_number(case_value(&plain, i)->text.at, plan_number(&plan, i));
    return plan;
}

static void take_number(Tree *tree, const Case *c, int i, tr_simulate_options *plan)
{
    const Value *value = case_value(c, i);
    if (!value->given || has_failed(tree->err)) return;
    const Expr x = tr_tree_formula(tree, *value);
    const bool may_be_zero = run_numbers[i].may_be_zero;
    *plan_number(plan, i) = tr_tree_value(tree, x);
    if (!tr_tree_is(tree, may_be_zero ? RULE_NOT_NEGATIVE : RULE_POSITIVE, x, value->place,
                    "'%s' is %s", run_numbers[i].name, may_be_zero ? "not negative" : "positive"))
        tr_fail(tree->err, TR_INVALID, value->place, "'%s' must be a positive constant",
                run_numbers[i].name);
}

static void take_allowances(Tree *tree, const Case *c)
{
    for (uint32_t i = 0; i < c->allow.count; i++) {
        if (text_is(c->allow.at[i].text, "singular"))
            tree->system->allows_singular = true;
        else if (text_is(c->allow.at[i].text, "second_touch"))
            tree->system->allows_second_touch = true;
        else
            tr_fail(tree->err, TR_INVALID, c->allow.at[i].place,
                    "what can be allowed is 'singular' or 'second_touch', not '%.*s'",
                    TEXT(c->allow.at[i].text));
    }
}

// The names of those numbers that the case gives
static const char *list_given(Tree *tree, const Case *c)
{
    char list[100] = "";
    for (int i = 0; i < RUN_NUMBERS; i++) {
        const size_t length = strlen(list);
        if (case_value(c, i)->given)
            snprintf(list + length, sizeof list - length, "%s%s", length ? "," : "",
                     run_numbers[i].name);
    }
    return tr_tree_text(tree, text_of(list));
}

// What the case says about running: the first in the list is the one that was chosen.
static void make_plan(Tree *tree)
{
    const Cases *cases = &tree->model->fields.cases;
    tr_simulate_options plan = tr_mech_plan();
    if (cases->count) {
        for (int i = 0; i < RUN_NUMBERS; i++) take_number(tree, &cases->at[0], i, &plan);
        take_allowances(tree, &cases->at[0]);
        plan.method = tr_tree_text(tree, cases->at[0].method.text);
        plan.given = list_given(tree, &cases->at[0]);
    }
    tree->system->plan = plan;
    tree->system->title = tr_tree_text(tree, tree->model->fields.name.text);
}

// ---- constraints ---------------------------------------------------------------------------

static Expr solved_symbol(Tree *tree, const char *prefix, const char *of, Port port)
{
    char name[600];
    snprintf(name, sizeof name, "%s%s", prefix, of);
    const Expr symbol = tr_input(tree->system, name, TR_SOLVED, 0, tree->err);
    Input *input = tr_system_input(tree->system, symbol);
    if (input) input->port = port;
    return symbol;
}

static Expr change_symbol(Tree *tree, const Input *input)
{
    Port port = input->port;
    port.quantity = tr_quantity_rate(port.quantity);
    port.rate_of = (uint32_t)(input - tree->system->inputs);
    return solved_symbol(tree, "vdot.", input->name, port);
}

// The acceleration that the rate of a velocity is; in first order it is what was found.
static Expr acceleration_symbol(Tree *tree, Expr velocity)
{
    const System *s = tree->system;
    const Input *input = tr_system_input(s, velocity);
    if (!input) return velocity; // memory ran out
    return s->order == 1 ? solved_symbol(tree, "found.", input->name, input->port)
                         : change_symbol(tree, input);
}

// In first order what drives a velocity gives it itself.
static void take_rates_for_accelerations(Tree *tree)
{
    for (uint32_t k = 0; k < tree->velocity_count; k++) {
        Velocity *w = &tree->velocities[k];
        const Input *input = tr_system_input(tree->system, w->symbol);
        w->change = w->acceleration;
        if (w->drive == DRIVE_MOTION && input) w->acceleration = input->definition;
        if (w->drive != DRIVE_MOTION) w->torque = zero(tree->graph), w->drive = DRIVE_NONE;
    }
}

// Accelerations and motor forces of a constrained system are found by `reduce`: here they are
// symbols.
static void leave_to_reduction(Tree *tree)
{
    for (uint32_t k = 0; k < tree->velocity_count && !has_failed(tree->err); k++) {
        Velocity *w = &tree->velocities[k];
        if (w->drive == DRIVE_MOTION) {
            w->tau = solved_symbol(tree, "tau.", w->joint, motor_port(tree, w));
            Input *input = tr_system_input(tree->system, w->symbol);
            if (input) input->motor = w->tau;
        } else {
            w->tau = w->torque;
            w->acceleration = acceleration_symbol(tree, w->symbol);
        }
    }
    for (uint32_t i = 0; i < 3 * tree->system->turned_count && !has_failed(tree->err); i++) {
        const uint32_t input = tree->system->turned[i / 3].inner + i % 3;
        const Expr symbol = tree->system->inputs[input].symbol;
        tr_rate_set(tree->system, symbol, acceleration_symbol(tree, symbol), tree->err);
    }
    for (uint32_t i = 0; i < tree->system->row_count && !has_failed(tree->err); i++) {
        const Row row = tree->system->rows[i];
        if (row.is_speed)
            tr_rate_set(tree->system, row.symbol, acceleration_symbol(tree, row.symbol), tree->err);
    }
}

// In first order, how fast a velocity changes: its definition tells, which with rows is not known
// before reduction.
static Expr change_of(Tree *tree, const Velocity *w)
{
    const Input *input = tr_system_input(tree->system, w->symbol);
    Expr change = w->change;
    if (!input || w->drive == DRIVE_MOTION) return change;
    if (!tree->system->row_count) {
        tr_system_rates(tree->system, &input->definition, 1, &change, tree->err);
        return change;
    }
    change = change_symbol(tree, input);
    Input *solved = tr_system_input(tree->system, change);
    if (solved) solved->is_change = true;
    return change;
}

static void take_changes(Tree *tree)
{
    for (uint32_t k = 0; k < tree->velocity_count && !has_failed(tree->err); k++) {
        const Expr change = change_of(tree, &tree->velocities[k]);
        Input *input = tr_system_input(tree->system, tree->velocities[k].symbol);
        if (input) input->change = change;
    }
    for (uint32_t i = 0; i < tree->system->row_count && !has_failed(tree->err); i++) {
        const Row *row = &tree->system->rows[i];
        Input *input = row->is_speed ? tr_system_input(tree->system, row->symbol) : NULL;
        if (input) tr_system_rates(tree->system, &row->rate, 1, &input->change, tree->err);
    }
}

// G, g, gamma and phi as outputs, for the constraints alone                        (T40, T41)
static void make_rows(Tree *tree)
{
    const System *s = tree->system;
    const uint32_t n = tree->velocity_count;
    uint32_t m = 0, holonomic = 0;
    while (m < s->row_count && !s->rows[m].is_speed) m++;
    if (!m) return;
    const bool all = gives_mass_matrix(tree); // and slopes
    Matrix G = tr_matrix(tree->graph, all ? m : 0, n), rest = tr_matrix(tree->graph, m, 1),
           bias = tr_matrix(tree->graph, m, 1), phi = tr_matrix(tree->graph, m, 1);
    for (uint32_t i = 0; i < m; i++) {
        const Row *row = &s->rows[i];
        for (uint32_t k = 0; all && k < n && row->slopes; k++) set(G, i, k, row->slopes[k]);
        set(rest, i, 0, row->rest);
        set(bias, i, 0, row->bias);
        if (row->position.id) set(phi, holonomic++, 0, row->position);
    }
    if (tree->graph->failed) return;
    if (all) tr_output(tree->system, "G", G.entries, m, n, tree->err);
    tr_output(tree->system, "g", rest.entries, m, 1, tree->err);
    tr_output(tree->system, "gamma", bias.entries, m, 1, tree->err);
    if (holonomic) tr_output(tree->system, "phi", phi.entries, holonomic, 1, tree->err);
}

// ---- all of it -----------------------------------------------------------------------------

static bool make_tree(Tree *tree)
{
    const uint32_t bodies = tr_tree_most_links(tree->model);
    const Bodies *all = &tree->model->fields.bodies;
    size_t points = 0, modes = 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->at[i].beam.name.given || all->at[i].modal.name.given) {
            points += all->at[i].beam.points.count + all->at[i].modal.points.count + 1u;
            modes += MAX_MODES;
        }
    const ModelFields *f = &tree->model->fields;
    tree->links = tr_tree_room(tree, bodies + points, sizeof *tree->links);
    tree->positions =
        tr_tree_room(tree, (size_t)bodies * MAX_POSITIONS + modes, sizeof *tree->positions);
    tree->velocities =
        tr_tree_room(tree, (size_t)bodies * MAX_DOF + modes, sizeof *tree->velocities);
    tree->parameter_state = tr_tree_room(tree, f->parameters.count + 1u, sizeof(int));
    tree->output_state = tr_tree_room(tree, f->outputs.count + 1u, sizeof(int));
    tree->own_state = tr_tree_room(tree, f->states.count + 1u, sizeof(int));
    return !tree->graph->failed;
}

// That of the call, or of the case
static void choose_order(Tree *tree)
{
    const Cases *cases = &tree->model->fields.cases;
    const Value word = cases->count ? cases->at[0].order : (Value){0};
    tree->system->order = 2;
    tree->system->has_commands = tree->model->fields.commands.count > 0;
    if (tree->model->order)
        tree->system->order = tree->model->order;
    else if (text_is(word.text, "1"))
        tree->system->order = 1;
    else if (word.given && !text_is(word.text, "2"))
        tr_fail(tree->err, TR_INVALID, word.place, "the order is 1 or 2, not '%.*s'",
                TEXT(word.text));
    if (tree->system->order != 1) return;
    const Commands *commands = &tree->model->fields.commands;
    tree->system->asked = commands->count ? commands->at[0].name.place
                          : cases->count  ? cases->at[0].name.place
                                          : tree->model->fields.bodies.at[0].name.place;
}

// What the bodies are and how they hang together, down to their frames
static void build_bodies(Tree *tree)
{
    Graph *graph = tree->graph;
    graph->making = "the parameters";
    tr_tree_parameters(tree);
    graph->making = "the joints and bodies";
    tr_tree_forest(tree);
    if (!has_failed(tree->err)) tr_tree_coordinates(tree);
    if (!has_failed(tree->err)) tr_tree_states(tree);
    if (!has_failed(tree->err)) tr_tree_held(tree);
    if (!has_failed(tree->err)) tr_tree_flexes(tree);
    if (!has_failed(tree->err)) tr_tree_joints(tree);
    if (!has_failed(tree->err)) tr_tree_inertias(tree);
    if (!has_failed(tree->err)) tr_tree_armatures(tree);
    if (!has_failed(tree->err)) tr_tree_shapes(tree);
    if (!has_failed(tree->err)) tr_tree_frames(tree);
    tree->constants_only = false;
}

// What is said of what was built: outputs, the plan, the picture
static void build_outputs(Tree *tree)
{
    tree->graph->making = "the outputs";
    make_rows(tree);
    make_columns(tree);
    if (!has_failed(tree->err)) tr_tree_uncertainty(tree);
    if (!has_failed(tree->err)) tr_tree_samples(tree);
    tr_tree_start(tree);
    if (!has_failed(tree->err)) tr_tree_check_wheels(tree);
    make_plan(tree);
    if (!has_failed(tree->err)) tr_tree_leave_tables(tree);
    if (!has_failed(tree->err)) tr_tree_scene(tree);
    tr_tree_name_notes(tree);
}

// The rates of velocities, by what drives them
static void set_rates(Tree *tree)
{
    for (uint32_t k = 0; k < tree->velocity_count && !has_failed(tree->err); k++) {
        const Velocity *w = &tree->velocities[k];
        tr_rate_set(tree->system, w->symbol, w->acceleration, tree->err);
        Input *input = tr_system_input(tree->system, w->symbol);
        if (input) input->drive = (uint8_t)w->drive;
    }
}

static void build(Tree *tree)
{
    Graph *graph = tree->graph;
    choose_order(tree);
    build_bodies(tree);
    if (has_failed(tree->err)) return;
    graph->making = "the velocities of bodies";
    tr_tree_velocities(tree);
    tree->inner = tree;
    const bool is_first = tree->system->order == 1;
    if (!is_first) tr_tree_turn(tree);
    graph->making = "the constraints";
    tr_tree_name_joints(tree);
    if (!has_failed(tree->err)) tr_tree_rows(tree);
    if (!has_failed(tree->err)) tr_tree_state_rates(tree);
    if (has_failed(tree->err) || tree->graph->failed) return;
    graph->making = "the forces";
    tr_tree_check_names(tree);
    tr_tree_roles(tree);
    tr_tree_hold(tree);
    if (!has_failed(tree->err) && !is_first) tr_tree_forces(tree);
    if (has_failed(tree->err) || tree->graph->failed) return;
    graph->making = "the accelerations";
    tr_tree_reactions(tree);
    if (!is_first) check_masses(tree);
    if (is_first) take_rates_for_accelerations(tree);
    if (tree->system->row_count)
        leave_to_reduction(tree);
    else if (!is_first)
        tr_tree_forward(tree);
    if (has_failed(tree->err)) return;
    graph->making = "what is commanded";
    if (is_first) tr_tree_first_order(tree);
    set_rates(tree);
    if (is_first && !has_failed(tree->err)) take_changes(tree);
    graph->making = "the mass matrix and forces";
    make_kinematics(tree);
    if (!is_first) make_free_dynamics(tree);
    if (tree->inner != tree && !has_failed(tree->err)) make_inner_dynamics(tree);
    tr_tree_finish_rows(tree);
    build_outputs(tree);
    if (!is_first && !has_failed(tree->err)) tr_tree_check_commands(tree);
}

void tr_mech_derive(const Model *model, System *system, tr_error *err)
{
    if (has_failed(err)) return;
    Tree tree = {.model = model, .system = system, .graph = system->graph, .err = err};
    system->body_count = model->fields.bodies.count;
    system->keeps_called = model->names_gravity;
    tr_sha256_begin(&system->source.content);
    tr_tree_note_included(&tree);
    if (!model->fields.bodies.count)
        tr_fail(err, TR_INVALID, place_at(1, 1), "the model has no bodies");
    else if (make_tree(&tree))
        build(&tree);
    else
        tr_fail_memory(err);
    if (tree.inner && tree.inner != &tree) tr_tree_forget(tree.inner);
    tr_tree_forget(&tree);
    tr_names_free(&tree.link_names);
    tr_names_free(&tree.joint_names);
    if (!system->graph->failed) return;
    *err = (tr_error){0}; // whatever else that led to
    tr_graph_refuse(system->graph, err);
}
