// SPDX-License-Identifier: Apache-2.0
// The order in which a model becomes a system; the free dynamics, the constraints and what is
// recorded as its outputs (T1, T19).
#include "mech/derive.h"

#include "mech/tree.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_VELOCITIES_FOR_M = 200 };

// ---- outputs -------------------------------------------------------------------------------

// M v' + c = Q + G^T lambda                                    (T19) [M 9; B 1; S 2.1]
static void make_free_dynamics(Tree *tree)
{
    const uint32_t n = tree->velocity_count;
    Expr *c = calloc(2 * (size_t)n + 1, sizeof *c), *Q = c ? c + n : NULL;
    if (!c) {
        tree->graph->failed = true;
        return;
    }
    tr_tree_inverse(tree, NULL, false, c);
    tr_tree_applied(tree, Q);
    for (uint32_t k = 0; k < n; k++)
        Q[k] = add(add(tree->velocities[k].torque, tree->velocities[k].passive), Q[k]);
    tr_output(tree->system, "c", c, n, 1, tree->err);
    tr_output(tree->system, "Q", Q, n, 1, tree->err);
    for (uint32_t k = 0; k < n; k++) Q[k] = tree->velocities[k].acceleration;
    tr_output(tree->system, "vdot", Q, n, 1, tree->err);
    if (tree->system->row_count) { // M v' + c, with the accelerations as they are: symbols
        tr_tree_inverse(tree, Q, false, c);
        tr_output(tree->system, "inverse", c, n, 1, tree->err);
    }
    if (n <= MOST_VELOCITIES_FOR_M || tree->system->row_count) {
        const Matrix M = tr_tree_mass_matrix(tree);
        if (M.entries) tr_output(tree->system, "M", M.entries, n, n, tree->err);
    }
    free(c);
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
    tr_tree_inverse(tree->inner, rate, false, force);
    tr_output(tree->system, "inner.inverse", force, n, 1, tree->err);
    tr_tree_inverse(tree->inner, NULL, false, force);
    tr_output(tree->system, "inner.c", force, n, 1, tree->err);
    const Matrix M = tr_tree_mass_matrix(tree->inner);
    if (M.entries) tr_output(tree->system, "inner.M", M.entries, n, n, tree->err);
    Q = tr_system_output(s, text_of("Q"));
    memcpy(force, Q->values, n * sizeof *force);
    tr_tree_turn_in(tree, Q->values, force);
    tr_output(tree->system, "inner.Q", force, n, 1, tree->err);
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

static void make_columns(Tree *tree)
{
    System *s = tree->system;
    char name[600];
    const Pairs *outputs = &tree->model->fields.outputs;
    for (uint32_t i = 0; i < outputs->count && !has_failed(tree->err); i++) {
        const Expr x = tr_tree_output(tree, i);
        check_column(tree, outputs->at[i].key);
        snprintf(name, sizeof name, "outputs.%.*s", WHOLE(outputs->at[i].key.text));
        if (!has_failed(tree->err))
            tr_system_column(s, name, name + strlen("outputs."), x, tree->err);
    }
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (s->rows[i].is_speed) continue;
        snprintf(name, sizeof name, "lambda.%s", s->rows[i].name);
        Expr force = s->rows[i].symbol;
        for (uint32_t k = 0; k < tree->slip_count; k++)
            if (tree->slips[k].sticks && tree->slips[k].row == i)
                force = add(force, tree->slips[k].force);
        tr_system_column(s, name, name, force, tree->err);
    }
    for (uint32_t i = 0; i < tree->slip_count; i++) {
        const Slip *slip = &tree->slips[i];
        if (slip->sticks) continue;
        snprintf(name, sizeof name, "lambda.%.*s.%s", WHOLE(slip->contact->name.text), slip->part);
        tr_system_column(s, name, name, slip->force, tree->err);
    }
    for (uint32_t k = 0; k < tree->velocity_count; k++) {
        if (tree->velocities[k].drive == DRIVE_NONE) continue;
        snprintf(name, sizeof name, "tau.%s", tree->velocities[k].joint);
        tr_system_column(s, name, name, tree->velocities[k].tau, tree->err);
    }
    tr_tree_cut_columns(tree);
    tr_tree_contact_columns(tree);
    const Expr kinetic = tr_tree_kinetic(tree), potential = tr_tree_potential(tree),
               power = tr_tree_power(tree);
    tr_system_column(s, "kinetic", "energy.kinetic", kinetic, tree->err);
    tr_system_column(s, "potential", "energy.potential", potential, tree->err);
    tr_output(s, "power", &power, 1, 1, tree->err);
}

static bool is_constrained(const Tree *tree, uint32_t velocity)
{
    for (uint32_t i = 0; i < tree->system->row_count; i++)
        if (!is_zero(tree->system->rows[i].slopes[velocity])) return true;
    return false;
}

// A joint that moves no mass has no acceleration, unless a constraint gives it one.
static void check_masses(Tree *tree)
{
    Expr *mass = calloc(tree->velocity_count + 1u, sizeof *mass);
    if (mass)
        tr_tree_mass_along(tree, mass);
    else
        tree->graph->failed = true;
    for (uint32_t k = 0; k < tree->velocity_count && !tree->graph->failed; k++) {
        const Velocity *w = &tree->velocities[k];
        if (w->drive != DRIVE_MOTION && !is_constrained(tree, k) &&
            tr_tree_value(tree, mass[k]) <= 0)
            tr_fail(tree->err, TR_INVALID, tree->links[w->link].body->name.place,
                    "nothing that '%s' moves has mass or inertia along it, so its acceleration is "
                    "not determined",
                    w->joint);
    }
    free(mass);
}

// What the case says about running: the first in the list is the one that was chosen.
static void make_plan(Tree *tree)
{
    Case plain = {0};
    tr_kind_defaults(tr_kind_of(TYPE_CASES), &plain);
    const Cases *cases = &tree->model->fields.cases;
    const Case *c = cases->count ? &cases->at[0] : &plain;
    tr_simulate_options *plan = &tree->system->plan;
    const Value *values[] = {&c->end, &c->every, &c->step, &c->rtol, &c->atol};
    double *numbers[] = {&plan->end, &plan->every, &plan->step, &plan->rtol, &plan->atol};
    const char *const names[] = {"end", "every", "step", "rtol", "atol"};
    for (int i = 0; i < 5 && !has_failed(tree->err); i++) {
        *numbers[i] = tr_tree_value(tree, tr_tree_formula(tree, *values[i]));
        if (!has_failed(tree->err) &&
            (!isfinite(*numbers[i]) || *numbers[i] < 0 || (*numbers[i] == 0 && i > 0 && i < 4)))
            tr_fail(tree->err, TR_INVALID, values[i]->place, "'%s' must be a positive constant",
                    names[i]);
    }
    for (uint32_t i = 0; i < c->allow.count; i++) {
        if (text_is(c->allow.at[i].text, "singular"))
            tree->system->allows_singular = true;
        else
            tr_fail(tree->err, TR_INVALID, c->allow.at[i].place,
                    "what can be allowed is 'singular', not '%.*s'", TEXT(c->allow.at[i].text));
    }
    plan->method = tr_tree_text(tree, c->method.text);
    const Text title = tree->model->fields.name.text;
    tree->system->title = tr_tree_text(tree, title);
}

// ---- constraints ---------------------------------------------------------------------------

static Expr solved_symbol(Tree *tree, const char *prefix, const char *of)
{
    char name[600];
    snprintf(name, sizeof name, "%s%s", prefix, of);
    return tr_input(tree->system, name, TR_SOLVED, 0, tree->err);
}

// Accelerations and motor forces of a constrained system are found by `reduce`: here they are
// symbols.
static void leave_to_reduction(Tree *tree)
{
    for (uint32_t k = 0; k < tree->velocity_count && !has_failed(tree->err); k++) {
        Velocity *w = &tree->velocities[k];
        if (w->drive == DRIVE_MOTION) {
            w->tau = solved_symbol(tree, "tau.", w->joint);
            Input *input = tr_system_input(tree->system, w->symbol);
            if (input) input->motor = w->tau;
        } else {
            w->tau = w->torque;
            w->acceleration = solved_symbol(tree, "vdot.", w->name);
        }
    }
    for (uint32_t i = 0; i < 3 * tree->system->turned_count && !has_failed(tree->err); i++) {
        const uint32_t input = tree->system->turned[i / 3].inner + i % 3;
        const Expr rate = solved_symbol(tree, "vdot.", tree->system->inputs[input].name);
        tr_rate_set(tree->system, tree->system->inputs[input].symbol, rate, tree->err);
    }
    for (uint32_t i = 0; i < tree->system->row_count && !has_failed(tree->err); i++) {
        const Row row = tree->system->rows[i];
        if (!row.is_speed) continue;
        const char *name = tr_system_input(tree->system, row.symbol)->name;
        const Expr rate = solved_symbol(tree, "vdot.", name);
        tr_rate_set(tree->system, row.symbol, rate, tree->err);
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
    Matrix G = tr_matrix(tree->graph, m, n), rest = tr_matrix(tree->graph, m, 1),
           bias = tr_matrix(tree->graph, m, 1), phi = tr_matrix(tree->graph, m, 1);
    for (uint32_t i = 0; i < m; i++) {
        const Row *row = &s->rows[i];
        for (uint32_t k = 0; k < n && row->slopes; k++) set(G, i, k, row->slopes[k]);
        set(rest, i, 0, row->rest);
        set(bias, i, 0, row->bias);
        if (row->position.id) set(phi, holonomic++, 0, row->position);
    }
    if (tree->graph->failed) return;
    tr_output(tree->system, "G", G.entries, m, n, tree->err);
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
    return !tree->graph->failed;
}

static void build(Tree *tree)
{
    tr_tree_parameters(tree);
    tr_tree_forest(tree);
    if (!has_failed(tree->err)) tr_tree_coordinates(tree);
    if (!has_failed(tree->err)) tr_tree_flexes(tree);
    if (!has_failed(tree->err)) tr_tree_joints(tree);
    if (!has_failed(tree->err)) tr_tree_inertias(tree);
    if (!has_failed(tree->err)) tr_tree_shapes(tree);
    if (!has_failed(tree->err)) tr_tree_frames(tree);
    tree->constants_only = false;
    if (has_failed(tree->err)) return;
    tr_tree_velocities(tree);
    tr_tree_turn(tree);
    if (!has_failed(tree->err)) tr_tree_rows(tree);
    if (has_failed(tree->err) || tree->graph->failed) return;
    tr_tree_check_names(tree);
    tr_tree_roles(tree);
    tr_tree_hold(tree);
    if (!has_failed(tree->err)) tr_tree_forces(tree);
    if (has_failed(tree->err) || tree->graph->failed) return;
    tr_tree_reactions(tree);
    check_masses(tree);
    if (tree->system->row_count)
        leave_to_reduction(tree);
    else
        tr_tree_forward(tree);
    if (has_failed(tree->err)) return;
    for (uint32_t k = 0; k < tree->velocity_count; k++) {
        const Velocity *w = &tree->velocities[k];
        tr_rate_set(tree->system, w->symbol, w->acceleration, tree->err);
        Input *input = tr_system_input(tree->system, w->symbol);
        if (input) input->drive = (uint8_t)w->drive;
    }
    make_free_dynamics(tree);
    if (tree->inner != tree && !has_failed(tree->err)) make_inner_dynamics(tree);
    make_rows(tree);
    make_columns(tree);
    tr_tree_start(tree);
    make_plan(tree);
    if (!has_failed(tree->err)) tr_tree_scene(tree);
}

void tr_mech_derive(const Model *model, System *system, tr_error *err)
{
    if (has_failed(err)) return;
    Tree tree = {.model = model, .system = system, .graph = system->graph, .err = err};
    system->body_count = model->fields.bodies.count;
    if (!model->fields.bodies.count)
        tr_fail(err, TR_INVALID, (Place){1, 1}, "the model has no bodies");
    else if (make_tree(&tree))
        build(&tree);
    else
        tr_fail_memory(err);
    if (tree.inner && tree.inner != &tree) free(tree.inner->value);
    free(tree.value);
    if (!system->graph->failed) return;
    *err = (tr_error){0}; // whatever else that led to
    tr_fail_memory(err);
}
