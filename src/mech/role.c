// SPDX-License-Identifier: Apache-2.0
// What drives the joints: torques, motions (T3), or none where the case holds them still.
#include "mech/tree.h"

// ---- roles ---------------------------------------------------------------------------------

// The coordinates and velocities of a joint: its link's, and those of its steps before
typedef struct Span {
    uint32_t position, position_count, velocity, velocity_count;
} Span;

static Span span_of(const Link *link)
{
    const Link *first = first_step(link);
    return (Span){.position = first->position,
                  .position_count = link->position + link->position_count - first->position,
                  .velocity = first->velocity,
                  .velocity_count = link->velocity + link->velocity_count - first->velocity};
}

// What roles call joints: by their coordinate, or by their body when they have several. A
// coordinate may have the name of another joint's body: it comes first.
void tr_tree_name_joints(Tree *tree)
{
    Names *names = &tree->joint_names;
    bool good = true;
    for (uint32_t i = 0; i < tree->link_count; i++)
        if (tree->links[i].velocity_count == 1 && !is_in_steps(tree->links[i].whole))
            good = good &&
                   tr_names_add(names, text_of(tree->velocities[tree->links[i].velocity].joint), i);
    for (uint32_t i = tree->link_count; i-- > 0;) {
        const Link *link = &tree->links[i];
        if (!link->velocity_count || link->is_between) continue;
        if (link->is_listed) good = good && tr_names_add(names, link->by->name.text, i);
        good = good && tr_names_add(names, link->body->name.text, i);
    }
    if (!good) tree->graph->failed = true;
}

static Link *joint_called(Tree *tree, Text name)
{
    const uint32_t i = tr_names_find(&tree->joint_names, name);
    if (i == NO_NAME) return NULL;
    const uint32_t motor = tree->links[i].motor;
    return &tree->links[motor == WORLD ? i : motor];
}

static void refuse_mode(Tree *tree, Value name)
{
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Flex *flex = tree->links[i].flex;
        for (uint32_t k = 0; flex && k < flex->count; k++)
            if (text_is(name.text, flex->names[k]))
                tr_fail(tree->err, TR_INVALID, name.place,
                        "'%.*s' is how '%.*s' bends, which no joint drives or holds; a constraint "
                        "can",
                        TEXT(name.text), TEXT(tree->links[i].body->name.text));
    }
}

static void refuse_joint(Tree *tree, Value name)
{
    refuse_mode(tree, name);
    if (tr_tree_find(tree, name.text) != WORLD)
        tr_fail(tree->err, TR_INVALID, name.place, "the joint of '%.*s' is fixed: it cannot move",
                TEXT(name.text));
    Suggestion nearest = {.wanted = name.text};
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        if (link->velocity_count == 1 && !is_in_steps(link->whole))
            tr_suggest(&nearest, text_of(tree->velocities[link->velocity].joint));
        else if (link->velocity_count && !link->is_between)
            tr_suggest(&nearest, link->body->name.text);
    }
    char hint[TR_HINT_SIZE];
    tr_fail(tree->err, TR_INVALID, name.place, "there is no joint '%.*s'%s", TEXT(name.text),
            tr_model_hint(tree->model, &nearest, hint));
}

// Which part of its joint's motion it is: "vx"
static const char *part_of(const Tree *tree, Expr symbol)
{
    const Input *input = tr_system_input(tree->system, symbol);
    return input ? input->port.component : "";
}

static void refuse_part(Tree *tree, Value key, const char *kind)
{
    tr_fail(tree->err, TR_INVALID, key.place, "this joint has no %s '%.*s'", kind, TEXT(key.text));
}

// One formula for a joint with one velocity; else name: formula for each.
static Velocity *velocity_part(Tree *tree, Link *link, Value key)
{
    const Span joint = span_of(link);
    if (!key.text.length)
        return joint.velocity_count == 1 ? &tree->velocities[joint.velocity] : NULL;
    for (uint32_t k = joint.velocity; k < joint.velocity + joint.velocity_count; k++)
        if (text_is(key.text, part_of(tree, tree->velocities[k].symbol)))
            return &tree->velocities[k];
    return NULL;
}

// The velocity that a formula of a role is about; NULL, with words, where there is none
static Velocity *driven_part(Tree *tree, Link *link, const Pair *pair, const char *role)
{
    Velocity *w = velocity_part(tree, link, pair->key);
    const Span joint = span_of(link);
    if (w) return w;
    if (joint.velocity_count == 1)
        tr_fail(tree->err, TR_INVALID, pair->value.place,
                "this joint has one velocity: write {%s: formula}", role);
    else if (pair->key.text.length)
        refuse_part(tree, pair->key, "velocity");
    else
        tr_fail(tree->err, TR_INVALID, pair->value.place,
                "this joint has several velocities: write {%s: {%s: ...}}", role,
                part_of(tree, tree->velocities[joint.velocity].symbol));
    return NULL;
}

static void drive_by_torque(Tree *tree, Link *link, const Role *role)
{
    for (uint32_t i = 0; i < role->torque.count && !has_failed(tree->err); i++) {
        const Pair *pair = &role->torque.at[i];
        Velocity *w = driven_part(tree, link, pair, "torque");
        const Expr torque = w ? tr_tree_formula(tree, pair->value) : zero(tree->graph);
        if (w && !has_failed(tree->err))
            w->torque = tr_motor_torque(tree, role, pair->key.text, w->joint, torque);
    }
    const Span joint = span_of(link);
    for (uint32_t k = joint.velocity; k < joint.velocity + joint.velocity_count; k++)
        tree->velocities[k].drive = DRIVE_TORQUE;
}

static const Role *role_of(Tree *tree, const Link *link)
{
    const Roles *roles = &tree->model->fields.roles;
    for (uint32_t i = 0; i < roles->count; i++)
        if (joint_called(tree, roles->at[i].name.text) == link) return &roles->at[i];
    return NULL;
}

bool tr_tree_is_moved(Tree *tree, const Link *link)
{
    const Cases *cases = &tree->model->fields.cases;
    const Role *role = role_of(tree, link);
    if (role && (role->motion.count || role->rate.count)) return true;
    for (uint32_t i = 0; cases->count && i < cases->at[0].hold.count; i++) {
        const Text name = cases->at[0].hold.at[i].text;
        const Link *held = joint_called(tree, name);
        if (held == link) return true;
        // of an elastic joint both sides, unless the motor is named
        if (held && link->motor == (uint32_t)(held - tree->links) &&
            !text_equal(name, held->body->name.text))
            return true;
    }
    return false;
}

// A limit is of a torque, and of one that there is.
static void check_limits(Tree *tree, const Role *role)
{
    for (uint32_t i = 0; i < role->limit.count && !has_failed(tree->err); i++) {
        const Pair *limit = &role->limit.at[i];
        bool found = false;
        for (uint32_t k = 0; k < role->torque.count; k++)
            found = found || text_equal(limit->key.text, role->torque.at[k].key.text);
        if (!role->torque.count)
            tr_fail(tree->err, TR_INVALID, limit->value.place,
                    "'limit' is of a torque, and '%.*s' has none%s", TEXT(role->name.text),
                    role->motion.count || role->rate.count
                        ? ": what it takes to move it so is found"
                        : "");
        else if (!found && limit->key.text.length)
            tr_fail(tree->err, TR_INVALID, limit->key.place,
                    "'%.*s' has a limit for '%.*s', but no torque there", TEXT(role->name.text),
                    TEXT(limit->key.text));
        else if (!found)
            tr_fail(tree->err, TR_INVALID, limit->value.place,
                    "'%.*s' has several torques: write {limit: {%.*s: ...}}", TEXT(role->name.text),
                    TEXT(role->torque.at[0].key.text));
    }
}

// ---- motion --------------------------------------------------------------------------------

static void define(Tree *tree, Expr symbol, Expr definition)
{
    Input *input = tr_system_input(tree->system, symbol);
    if (input) input->definition = definition;
}

static Expr rate_of(Tree *tree, Expr x)
{
    Expr rate;
    tr_system_rates(tree->system, &x, 1, &rate, tree->err);
    return rate;
}

static void prescribe(Tree *tree, Velocity *w, Expr rate)
{
    w->drive = DRIVE_MOTION;
    w->acceleration = rate_of(tree, rate);
    define(tree, w->symbol, rate);
}

static void move_single(Tree *tree, Link *link, const Role *role)
{
    const Value value = role->motion.at[0].value;
    const Expr x = tr_tree_formula(tree, value);
    if (has_failed(tree->err)) return;
    tr_tree_check_time_only(tree, value, x, "a motion");
    if (tree->system->order != 1) tr_tree_check_motion(tree, value, x);
    define(tree, tree->positions[link->position].symbol, x);
    prescribe(tree, &tree->velocities[link->velocity], rate_of(tree, x));
}

static void move_in_steps(Tree *tree, const Link *link, const Expr *rate)
{
    const Span joint = span_of(link);
    for (uint32_t k = 0; k < joint.velocity_count; k++)
        prescribe(tree, &tree->velocities[joint.velocity + k], rate[k]);
}

// V = R^T p',   W = 2 (qw q' - qw' q - q x q') for the unit quaternion (qw, q)         (T3)
// from the positions of the joint as functions of time
static void move_in_space(Tree *tree, const Link *link, const Expr *x, const Expr *rate)
{
    Graph *g = tree->graph;
    Velocity *w = &tree->velocities[link->velocity];
    const uint32_t n = link->position_count;
    if (n == 3) { // planar
        const Expr c = e_cos(x[2]), s = e_sin(x[2]);
        prescribe(tree, &w[0], add(mul(c, rate[0]), mul(s, rate[1])));
        prescribe(tree, &w[1], sub(mul(c, rate[1]), mul(s, rate[0])));
        prescribe(tree, &w[2], rate[2]);
        return;
    }
    const Vec q = vec(x[n - 3], x[n - 2], x[n - 1]),
              dq = vec(rate[n - 3], rate[n - 2], rate[n - 1]);
    const Vec W =
        scale(number(g, 2), minus(minus(scale(x[n - 4], dq), scale(rate[n - 4], q)), cross(q, dq)));
    for (int k = 0; k < 3; k++)
        prescribe(tree, &w[link->velocity_count - 3 + (uint32_t)k], vec_at(W, k));
    if (n == 4) return;
    // R(q) from the joint itself, with the quaternion replaced by its motion
    const Mat turned = mat_product(transpose(link->turn), link->X.R);
    Expr from[4], R[9];
    for (uint32_t k = 0; k < 4; k++) from[k] = tree->positions[link->position + n - 4 + k].symbol;
    for (int k = 0; k < 9; k++) R[k] = tr_replace(mat_at(turned, k / 3, k % 3), from, x + n - 4, 4);
    const Mat Rt = {{vec(R[0], R[1], R[2]), vec(R[3], R[4], R[5]), vec(R[6], R[7], R[8])}};
    const Vec V = apply_transposed(Rt, vec(rate[0], rate[1], rate[2]));
    for (int k = 0; k < 3; k++) prescribe(tree, &w[k], vec_at(V, k));
}

static void move_several(Tree *tree, Link *link, const Role *role)
{
    Graph *g = tree->graph;
    Expr x[MAX_POSITIONS] = {{0}}, rate[MAX_POSITIONS] = {{0}};
    const Span joint = span_of(link);
    const uint32_t n = joint.position_count;
    for (uint32_t k = 0; k < n; k++) x[k] = number(g, n >= 4 && k == n - 4); // qw = 1, the rest 0
    for (uint32_t i = 0; i < role->motion.count; i++) {
        const Pair *pair = &role->motion.at[i];
        uint32_t k = 0;
        while (k < n &&
               !text_is(pair->key.text, part_of(tree, tree->positions[joint.position + k].symbol)))
            k++;
        if (k == n) refuse_part(tree, pair->key, "coordinate");
        if (has_failed(tree->err)) return;
        x[k] = tr_tree_formula(tree, pair->value);
        if (has_failed(tree->err)) return;
        tr_tree_check_time_only(tree, pair->value, x[k], "a motion");
        if (tree->system->order != 1) tr_tree_check_motion(tree, pair->value, x[k]);
    }
    if (n >= 4) { // made a unit quaternion
        Expr square_length = zero(g);
        for (uint32_t k = n - 4; k < n; k++) square_length = add(square_length, square(x[k]));
        const Expr length = e_sqrt(square_length);
        for (uint32_t k = n - 4; k < n; k++) x[k] = quotient(x[k], length);
    }
    for (uint32_t k = 0; k < n; k++) {
        rate[k] = rate_of(tree, x[k]);
        define(tree, tree->positions[joint.position + k].symbol, x[k]);
    }
    if (is_in_steps(link->whole))
        move_in_steps(tree, link, rate);
    else
        move_in_space(tree, link, x, rate);
}

static void drive_by_motion(Tree *tree, Link *link, const Role *role)
{
    const Span joint = span_of(link);
    const bool alone = role->motion.count == 1 && !role->motion.at[0].key.text.length;
    if (joint.position_count == 1 && alone)
        move_single(tree, link, role);
    else if (joint.position_count == 1 || alone)
        tr_fail(tree->err, TR_INVALID, role->motion.at[0].value.place,
                joint.position_count == 1
                    ? "this joint has one coordinate: write {motion: formula}"
                    : "this joint has several coordinates: write {motion: {%s: ...}}",
                part_of(tree, tree->positions[joint.position].symbol));
    else
        move_several(tree, link, role);
}

// ---- rate ----------------------------------------------------------------------------------

// What a velocity is told to be depends on where things are, and not on how fast they go.
static bool check_rate(Tree *tree, Value value, Expr x)
{
    static const tr_kind kinds[] = {TR_VELOCITY, TR_SOLVED};
    for (int k = 0; k < 2 && !has_failed(tree->err); k++) {
        const Input *input = tr_system_uses(tree->system, x, kinds[k]);
        if (input)
            tr_fail(tree->err, TR_INVALID, value.place,
                    "a rate is a formula of t, coordinates and inputs, not of '%s'", input->name);
    }
    return !has_failed(tree->err);
}

// v = f(q, t),   v' = f_q q' + f_t                                                       (T256)
static void drive_by_rate(Tree *tree, Link *link, const Role *role)
{
    for (uint32_t i = 0; i < role->rate.count && !has_failed(tree->err); i++) {
        const Pair *pair = &role->rate.at[i];
        Velocity *w = driven_part(tree, link, pair, "rate");
        const Expr x = w ? tr_tree_formula(tree, pair->value) : zero(tree->graph);
        if (w && !has_failed(tree->err) && check_rate(tree, pair->value, x)) prescribe(tree, w, x);
    }
}

// ---- joints that were cut ------------------------------------------------------------------

static Tie *cut_called(Tree *tree, Text name)
{
    for (uint32_t i = 0; i < tree->tie_count; i++) {
        Tie *tie = &tree->ties[i];
        if (tie->joint && (text_equal(name, tr_joint_name(tie->joint)) ||
                           text_equal(name, tie->joint->name.text)))
            return tie;
    }
    return NULL;
}

bool tr_tree_is_cut(Tree *tree, Text name) { return cut_called(tree, name) != NULL; }

void tr_tree_refuse_cut(Tree *tree, Value name)
{
    tr_fail(tree->err, TR_INVALID, name.place,
            "every joint of the loop that '%.*s' closes is driven by a motion, held or coupled: "
            "leave one of them passive",
            TEXT(name.text));
}

static void refuse_second(Tree *tree, const Role *first, const Role *second)
{
    if (first)
        tr_fail(tree->err, TR_INVALID, second->name.place,
                "'%.*s' and '%.*s' are one joint, which has one role", TEXT(first->name.text),
                TEXT(second->name.text));
}

// A torque is a force like that of a spring; a motion needs a coordinate.
static void drive_cut(Tree *tree, Tie *tie, const Role *role)
{
    refuse_second(tree, tie->role, role);
    if (role->motion.count || role->rate.count) tr_tree_refuse_cut(tree, role->name);
    if (!role->torque.count || has_failed(tree->err)) return;
    if (is_zero(tie->rate) || role->torque.count != 1 || role->torque.at[0].key.text.length) {
        tr_fail(
            tree->err, TR_INVALID, role->name.place,
            "'%.*s' closes a loop and does not have exactly one coordinate: it cannot be driven",
            TEXT(role->name.text));
        return;
    }
    tie->role = role;
    const char *joint = tr_tree_text(tree, tr_joint_name(tie->joint));
    tie->torque = tr_tree_formula(tree, role->torque.at[0].value);
    if (!has_failed(tree->err))
        tie->torque = tr_motor_torque(tree, role, (Text){0}, joint, tie->torque);
}

void tr_tree_roles(Tree *tree)
{
    const Roles *roles = &tree->model->fields.roles;
    for (uint32_t i = 0; i < roles->count && !has_failed(tree->err); i++) {
        const Role *role = &roles->at[i];
        check_limits(tree, role);
        Link *link = joint_called(tree, role->name.text);
        Tie *cut = link ? NULL : cut_called(tree, role->name.text);
        if (cut) {
            drive_cut(tree, cut, role);
            continue;
        }
        if (!link) {
            refuse_joint(tree, role->name);
            return;
        }
        refuse_second(tree, link->role, role);
        for (Link *step = link - link->step; step <= link; step++) step->role = role;
        if ((role->motion.count > 0) + (role->torque.count > 0) + (role->rate.count > 0) > 1)
            tr_fail(tree->err, TR_INVALID, role->name.place,
                    "'%.*s' is driven by a torque, by a rate or by a motion, not by two of them",
                    TEXT(role->name.text));
        else if (role->motion.count)
            drive_by_motion(tree, link, role);
        else if (role->rate.count)
            drive_by_rate(tree, link, role);
        else if (role->torque.count)
            drive_by_torque(tree, link, role);
    }
}

// A joint that is held keeps the position it starts with, or that its motion starts with: its
// velocities are told to be zero.
static void hold(Tree *tree, const Link *link)
{
    const Expr zero_time = zero(tree->graph);
    const Span joint = span_of(link);
    for (uint32_t k = joint.position; k < joint.position + joint.position_count; k++) {
        Input *input = tr_system_input(tree->system, tree->positions[k].symbol);
        if (input && input->definition.id)
            input->definition = tr_replace(input->definition, &tree->t, &zero_time, 1);
    }
    for (uint32_t k = joint.velocity; k < joint.velocity + joint.velocity_count; k++) {
        tree->velocities[k].torque = zero(tree->graph);
        prescribe(tree, &tree->velocities[k], zero(tree->graph));
    }
}

// Of an elastic joint what is held is both sides of its spring, each with a force of its own; or
// that of the motor, by its own name.
static void hold_called(Tree *tree, Value name)
{
    Link *link = joint_called(tree, name.text);
    if (!link) {
        if (tr_tree_is_cut(tree, name.text)) tr_tree_refuse_cut(tree, name);
        refuse_joint(tree, name);
        return;
    }
    const bool alone = !link->is_motor || text_equal(name.text, link->body->name.text);
    for (uint32_t k = 0; !alone && k < tree->link_count; k++)
        if (tree->links[k].motor == (uint32_t)(link - tree->links)) {
            hold(tree, &tree->links[k]);
            tree->velocities[link->velocity].joint = tree->positions[link->position].name;
        }
    hold(tree, link);
}

void tr_tree_hold(Tree *tree)
{
    const Cases *cases = &tree->model->fields.cases;
    for (uint32_t i = 0; cases->count && i < cases->at[0].hold.count && !has_failed(tree->err); i++)
        hold_called(tree, cases->at[0].hold.at[i]);
}
