// SPDX-License-Identifier: Apache-2.0
// What the model says about the start: conditions that must hold there, and guesses (T80).
#include "expr/walk.h"
#include "mech/tree.h"

#include <assert.h>
#include <stdio.h>

// The conditions of one kind while they are collected.
typedef struct Conditions {
    Expr *residuals;
    const char **notes;
    uint32_t count;
} Conditions;

static bool make_room(Tree *tree, uint32_t count, Conditions *c)
{
    *c = (Conditions){.residuals = tr_tree_room(tree, count, sizeof(Expr)),
                      .notes = tr_tree_room(tree, count, sizeof(char *))};
    return !tree->graph->failed;
}

static void add_condition(Conditions *to, Expr residual, const char *note)
{
    to->notes[to->count] = note;
    to->residuals[to->count++] = residual;
}

static void output_conditions(Tree *tree, const char *name, const Conditions *c)
{
    tr_output(tree->system, name, c->residuals, c->count, 1, tree->err);
    if (!has_failed(tree->err))
        tree->system->outputs[tree->system->output_count - 1].notes = c->notes;
}

// What a loop leaves free, or a cut joint has for a coordinate; else NULL
static const Tie *coordinate_of(const Tree *tree, Expr x)
{
    for (uint32_t i = 0; i < tree->tie_count; i++)
        if (!is_zero(tree->ties[i].rate) && tree->ties[i].coordinate.id == x.id)
            return &tree->ties[i];
    return NULL;
}

static bool is_rate_of_tie(Tree *tree, Expr x)
{
    for (uint32_t i = 0; i < tree->tie_count; i++) {
        Expr rate = tree->ties[i].coordinate;
        if (is_zero(tree->ties[i].rate)) continue;
        if (tree->ties[i].rate.id == x.id) return true;
        if (tr_system_rates(tree->system, &rate, 1, &rate, tree->err) && rate.id == x.id)
            return true;
    }
    return false;
}

// x - value; of the angle of a loop, which is within half a turn, the least of them
static Expr difference(const Tree *tree, Expr x, Expr value)
{
    const Tie *tie = coordinate_of(tree, x);
    const Expr d = sub(x, value);
    return tie && tie->turns == HOLD_ACROSS ? tr_build(OP_ATAN2, e_sin(d), e_cos(d), d) : d;
}

// What a formula of parameters gives is a number of its own, "initial.d(roll)", that can be set to
// another; any other formula stands for itself.
static Expr start_number(Tree *tree, const char *field, const Pair *pair, Expr formula)
{
    const Text key = pair->key.text;
    tr_error why = {0};
    if (has_failed(tree->err) || !tr_tree_is_constant(formula)) return formula;
    const size_t room = strlen(field) + key.length + 2;
    char *name = tr_tree_room(tree, room, 1);
    if (!name) return formula;
    char *end = name + snprintf(name, room, "%s.", field);
    for (size_t i = 0; i < key.length; i++)
        if (key.at[i] != ' ') *end++ = key.at[i];
    const Expr symbol =
        tr_system_start(tree->system, text_of(name), formula, tr_tree_value(tree, formula), &why);
    tr_tree_refuse_name(tree, pair->key, &why);
    return symbol;
}

// Where a position or velocity starts from. Inputs that were made meanwhile may have moved it.
static void set_default(Tree *tree, Expr symbol, Expr guess, double value)
{
    Input *input = tr_system_input(tree->system, symbol);
    Input *number = tr_system_input(tree->system, guess);
    input->value = value, input->guess = guess;
    if (number && number->kind == TR_START) // it is what it is a number of
        number->port = port_of(input->port.quantity, input->port.owner, input->port.component);
}

// Of an input; or of what is none but follows from others, which is a wish
static void set_guess(Tree *tree, const Pair *pair, Conditions *wishes)
{
    const Expr x = tr_tree_formula(tree, pair->key);
    const Expr value = tr_tree_between_stops(tree, x, tr_tree_formula(tree, pair->value));
    if (has_failed(tree->err)) return;
    Input *input = tr_system_input(tree->system, x);
    const double start = tr_tree_value(tree, value);
    if (!tr_tree_is(tree, RULE_FINITE, value, pair->value.place, "the guess of '%.*s' is finite",
                    WHOLE(pair->key.text)))
        tr_fail(tree->err, TR_INVALID, pair->value.place, "this guess is not a finite constant");
    if (input && input->kind != TR_POSITION && input->kind != TR_VELOCITY) input = NULL;
    if (coordinate_of(tree, x))
        add_condition(wishes, difference(tree, x, start_number(tree, "guess", pair, value)), "");
    else if (!input && !is_rate_of_tie(tree, x))
        tr_fail(tree->err, TR_INVALID, pair->key.place, "a guess is for a coordinate or its rate");
    else if (input)
        set_default(tree, x, start_number(tree, "guess", pair, value), start);
}

// Coordinates that nothing is said of are between their stops, too.
static void guess_between_stops(Tree *tree)
{
    for (uint32_t i = 0; i < tree->restraint_count && !has_failed(tree->err); i++) {
        const Restraint *r = &tree->restraints[i];
        const Input *input = tr_system_input(tree->system, r->q);
        const Expr value = tr_tree_between_stops(tree, r->q, zero(tree->graph));
        if (!input || input->kind != TR_POSITION || input->guess.id || is_zero(value)) continue;
        const Pair pair = {.key = r->name, .value = r->joint->limits};
        const double start = tr_tree_value(tree, value);
        set_default(tree, r->q, start_number(tree, "guess", &pair, value), start);
    }
}

static void set_guesses(Tree *tree)
{
    System *s = tree->system;
    const Pairs *guess = &tree->model->fields.guess;
    Conditions wishes;
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        s->inputs[s->quaternions[i].position].value = 1;
    if (!make_room(tree, guess->count, &wishes)) return;
    for (uint32_t i = 0; i < guess->count && !has_failed(tree->err); i++)
        set_guess(tree, &guess->at[i], &wishes);
    guess_between_stops(tree);
    if (wishes.count) output_conditions(tree, "guess.position", &wishes);
}

static bool is_driven(Tree *tree, Expr x)
{
    const Input *input = op_of(x) == OP_SYMBOL ? tr_system_input(tree->system, x) : NULL;
    return input && input->definition.id;
}

// A pair becomes a residual, key - value, of positions or of rates.
static void sort_condition(Tree *tree, const Pair *pair, Conditions *position, Conditions *rate)
{
    const Expr key = tr_tree_formula(tree, pair->key), value = tr_tree_formula(tree, pair->value);
    if (has_failed(tree->err)) return;
    const Text text = pair->key.text;
    const char *note = tr_tree_text(tree, text);
    const double start = tr_tree_value(tree, value);
    const Expr given = start_number(tree, "initial", pair, value);
    const Expr residual = difference(tree, key, given);
    Input *input = tr_system_input(tree->system, key);
    if (input) input->is_given = true;
    if (input && isfinite(start)) set_default(tree, key, given, start);
    if (is_driven(tree, key))
        tr_fail(tree->err, TR_INVALID, pair->key.place,
                "'%.*s' is driven by a motion or a rate, or held, which gives its initial value",
                TEXT(text));
    else if (tr_system_uses(tree->system, residual, TR_SOLVED))
        tr_fail(tree->err, TR_INVALID, pair->key.place,
                "'%.*s' uses '%s': initial conditions are about positions and rates", TEXT(text),
                tr_system_uses(tree->system, residual, TR_SOLVED)->name);
    else if (tr_system_uses(tree->system, residual, TR_VELOCITY))
        add_condition(rate, residual, note);
    else if (tr_system_uses(tree->system, residual, TR_POSITION))
        add_condition(position, residual, note);
    else
        tr_fail(tree->err, TR_INVALID, pair->key.place,
                "'%.*s' cannot be made to hold: it depends on no coordinate", TEXT(text));
}

// Springs between motors and joints start relaxed, unless something else is said.
static void relax_motors(Tree *tree, Conditions *position, Conditions *rate)
{
    Reach positions, rates;
    tr_reach(tree->graph, position->residuals, position->count, &positions);
    tr_reach(tree->graph, rate->residuals, rate->count, &rates);
    for (uint32_t i = 0; i < tree->link_count && !tree->graph->failed; i++) {
        const Link *link = &tree->links[i];
        if (link->motor == WORLD) continue;
        const Link *motor = &tree->links[link->motor];
        const Velocity *w = &tree->velocities[motor->velocity];
        const Coordinate *q = &tree->positions[motor->position];
        if (w->drive == DRIVE_MOTION) continue;
        if (!tr_reach_has(&positions, q->symbol))
            add_condition(position, sub(q->symbol, tree->positions[link->position].symbol),
                          q->name);
        if (!tr_reach_has(&rates, w->symbol))
            add_condition(rate, sub(w->symbol, tree->velocities[link->velocity].symbol), w->name);
    }
    tr_reach_free(&positions);
    tr_reach_free(&rates);
}

// States of the user's own start where they say themselves, unless something else is said.
static void start_states(Tree *tree, Conditions *position)
{
    const OwnStates *states = &tree->model->fields.states;
    Reach reached;
    tr_reach(tree->graph, position->residuals, position->count, &reached);
    for (uint32_t i = 0; i < states->count && !has_failed(tree->err); i++) {
        const Pair pair = {.key = states->at[i].name, .value = states->at[i].initial};
        const Expr x = tr_tree_formula(tree, pair.key),
                   value = tr_tree_constant(tree, pair.value, "initial");
        if (has_failed(tree->err) || tr_pairs_find(&tree->model->fields.guess, pair.key.text) ||
            tr_system_input(tree->system, x)->is_given)
            continue;
        const Expr given = start_number(tree, "initial", &pair, value);
        set_default(tree, x, given, tr_tree_value(tree, value));
        if (tr_reach_has(&reached, x)) continue;
        tr_system_input(tree->system, x)->is_given = true;
        add_condition(position, sub(x, given), tr_tree_text(tree, pair.key.text));
    }
    tr_reach_free(&reached);
}

// They are solved for as a whole matrix: a gigabyte at most.
static void check_size(Tree *tree, const Conditions *c, uint32_t unknowns, const char *what)
{
    static const double most = 1e7;
    if ((double)c->count * unknowns > most)
        tr_fail(tree->err, TR_INVALID, place_at(1, 1),
                "the start has %u conditions on %u %s: that is too large to be solved; `guess` "
                "says where coordinates start without one",
                c->count, unknowns, what);
}

static void make_initial(Tree *tree)
{
    const Pairs *pairs = &tree->model->fields.initial;
    Conditions kinds[2];
    const uint32_t most = pairs->count + tree->link_count + tree->model->fields.states.count;
    if (!make_room(tree, most, &kinds[0]) || !make_room(tree, most, &kinds[1])) return;
    for (uint32_t i = 0; i < pairs->count && !has_failed(tree->err); i++)
        sort_condition(tree, &pairs->at[i], &kinds[0], &kinds[1]);
    if (!has_failed(tree->err)) relax_motors(tree, &kinds[0], &kinds[1]);
    if (!has_failed(tree->err)) start_states(tree, &kinds[0]);
    check_size(tree, &kinds[0], tree->position_count, "coordinates");
    check_size(tree, &kinds[1], tree->velocity_count, "velocities");
    output_conditions(tree, "initial.position", &kinds[0]);
    if (tree->system->order == 1) kinds[1].count = 0; // they follow from what is asked
    output_conditions(tree, "initial.rate", &kinds[1]);
}

// ---- what is easy --------------------------------------------------------------------------

enum { MOST_EASY = 200000 }; // numbers in all rows

// Motions that change nothing, by rows: velocities
typedef struct Motions {
    Expr *at;
    uint32_t count;
} Motions;

static Expr *add_motion(Tree *tree, Motions *to)
{
    Expr *row = to->at + (size_t)to->count++ * tree->velocity_count;
    for (uint32_t k = 0; k < tree->velocity_count; k++) row[k] = zero(tree->graph);
    return row;
}

static void add_velocity(Tree *tree, Motions *to, uint32_t velocity)
{
    add_motion(tree, to)[velocity] = one(tree->graph);
}

// A motion of a link that has a velocity along each of its parts, in its own axes
static void add_motion_of(Tree *tree, Motions *to, const Link *link, Motion m)
{
    Expr *row = add_motion(tree, to);
    for (uint32_t k = link->velocity; k < link->velocity + link->velocity_count; k++) {
        const Motion S = tree->velocities[k].S;
        row[k] = add(dot(S.V, m.V), dot(S.W, m.W));
    }
}

// Along the ground and about its normal; of what touches nothing, anywhere and about its weight
static void add_place(Tree *tree, Motions *to, const Link *root)
{
    const bool stands = tree->model->fields.contacts.count > 0;
    const Vec nothing = vec_zero(tree->graph), normal = column(tree->ground.R, 2);
    const Mat R = root->world.R;
    for (int k = 0; k < (stands ? 2 : 3); k++)
        add_motion_of(tree, to, root,
                      motion(apply_transposed(R, column(tree->ground.R, k)), nothing));
    if (stands || !is_vec_zero(tree->gravity)) {
        const Vec axis = stands ? normal : tree->gravity;
        add_motion_of(tree, to, root, motion(nothing, apply_transposed(R, axis)));
        return;
    }
    for (int k = 0; k < 3; k++)
        add_motion_of(tree, to, root, motion(nothing, vec_unit(tree->graph, k)));
}

// Turns about its axle, and looks the same
static bool is_wheel(const Tree *tree, const Link *link)
{
    const Contacts *contacts = &tree->model->fields.contacts;
    if (link->velocity_count != 1 || !is_revolute(link) || link->by->stiffness.given) return false;
    for (uint32_t i = 0; i < contacts->count; i++) {
        const Contact *contact = &contacts->at[i];
        if (contact->radius.given && !contact->axis.given && !contact->at.given &&
            tr_tree_find(tree, contact->body.text) == (uint32_t)(link - tree->links))
            return true;
    }
    return link->carried;
}

static bool is_floating(const Link *link)
{
    return link->parent == WORLD && moves_about(link->type);
}

static uint32_t count_easy(const Tree *tree, const Link *link)
{
    if (is_floating(link)) return 6;
    return link->velocity_count == 1 && (link->is_base || is_wheel(tree, link)) ? 2 : 0;
}

static void add_easy(Tree *tree, Motions *to, const Link *link)
{
    if (is_floating(link)) {
        add_place(tree, to, link);
        return;
    }
    add_velocity(tree, to, link->velocity);
    if (link->motor != WORLD) add_velocity(tree, to, tree->links[link->motor].velocity);
}

// The mass along each velocity, and which motions are easy: what tells how far velocities are from
// their guess                                                                            (T112)
static void make_metric(Tree *tree)
{
    const uint32_t n = tree->velocity_count;
    const Output *rates = tr_system_output(tree->system, text_of("initial.rate"));
    size_t most = 0;
    if (!tree->system->row_count && (!rates || !rates->rows)) return; // nothing is to be chosen
    for (uint32_t i = 0; i < tree->link_count; i++) most += count_easy(tree, &tree->links[i]);
    if (most * n > MOST_EASY) most = 0; // then energy alone counts
    Motions easy = {.at = tr_tree_room(tree, most * n, sizeof(Expr))};
    Expr *mass = tr_tree_room(tree, n, sizeof *mass);
    if (tree->graph->failed) return;
    tr_tree_mass_along(tree, mass);
    for (uint32_t i = 0; most && i < tree->link_count; i++)
        if (count_easy(tree, &tree->links[i])) add_easy(tree, &easy, &tree->links[i]);
    assert(easy.count <= most);
    tr_output(tree->system, "start.mass", mass, n, 1, tree->err);
    tr_output(tree->system, "start.easy", easy.at, easy.count, n, tree->err);
}

void tr_tree_start(Tree *tree)
{
    set_guesses(tree);
    make_initial(tree);
    if (!has_failed(tree->err) && tree->system->order != 1) make_metric(tree);
}
