// SPDX-License-Identifier: Apache-2.0
// What drives the joints, and what pulls at the bodies.
//
// Springs, dampers, potentials U(q) and dissipation functions D(q, v) stand on joints and work
// under every role [B 21]:   Q = -stiffness (q - rest) - damping q' - N^T dU/dq - dD/dv,   q' = N
// v.
#include "expr/derivative.h"
#include "mech/tree.h"

#include <stdlib.h>

// ---- roles ---------------------------------------------------------------------------------

// The joint that a role names: by its coordinate, or by its body when it has several.
static Link *joint_called(Tree *tree, Text name)
{
    Link *found = NULL; // a coordinate may have the name of another joint's body: it comes first
    for (uint32_t i = 0; i < tree->link_count; i++) {
        Link *link = &tree->links[i];
        if (link->velocity_count == 1 && text_is(name, tree->velocities[link->velocity].joint))
            return link->motor == WORLD ? link : &tree->links[link->motor];
        const Text own = link->is_listed ? link->by->name.text : link->body->name.text;
        if (link->velocity_count &&
            (text_equal(name, own) || text_equal(name, link->body->name.text)))
            found = link;
    }
    return found;
}

static void refuse_joint(Tree *tree, Value name)
{
    if (tr_tree_find(tree, name.text) != WORLD)
        tr_fail(tree->err, TR_INVALID, name.place, "the joint of '%.*s' is fixed: it cannot move",
                TEXT(name.text));
    Suggestion nearest = {.wanted = name.text};
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        if (link->velocity_count == 1)
            tr_suggest(&nearest, text_of(tree->velocities[link->velocity].joint));
        else if (link->velocity_count)
            tr_suggest(&nearest, link->body->name.text);
    }
    char hint[TR_HINT_SIZE];
    tr_fail(tree->err, TR_INVALID, name.place, "there is no joint '%.*s'%s", TEXT(name.text),
            tr_hint(&nearest, hint));
}

// The part of a joint's name behind its body: "vx" of "frame.vx".
static const char *part_of(const char *name)
{
    const char *point = strrchr(name, '.');
    return point ? point + 1 : name;
}

static void refuse_part(Tree *tree, Value key, const char *kind)
{
    tr_fail(tree->err, TR_INVALID, key.place, "this joint has no %s '%.*s'", kind, TEXT(key.text));
}

// One formula for a joint with one velocity; else name: formula for each.
static Velocity *velocity_part(Tree *tree, Link *link, Value key)
{
    if (!key.text.length)
        return link->velocity_count == 1 ? &tree->velocities[link->velocity] : NULL;
    for (uint32_t k = 0; k < link->velocity_count; k++)
        if (text_is(key.text, part_of(tree->velocities[link->velocity + k].name)))
            return &tree->velocities[link->velocity + k];
    return NULL;
}

static void drive_by_torque(Tree *tree, Link *link, const Role *role)
{
    for (uint32_t i = 0; i < role->torque.count && !has_failed(tree->err); i++) {
        const Pair *pair = &role->torque.at[i];
        Velocity *w = velocity_part(tree, link, pair->key);
        if (!w) {
            if (link->velocity_count == 1)
                tr_fail(tree->err, TR_INVALID, pair->value.place,
                        "this joint has one velocity: write {torque: formula}");
            else if (pair->key.text.length)
                refuse_part(tree, pair->key, "velocity");
            else
                tr_fail(tree->err, TR_INVALID, pair->value.place,
                        "this joint has several velocities: write {torque: {%s: ...}}",
                        part_of(tree->velocities[link->velocity].name));
            return;
        }
        w->torque = tr_tree_formula(tree, pair->value);
        w->drive = DRIVE_TORQUE;
    }
    for (uint32_t k = 0; k < link->velocity_count; k++)
        tree->velocities[link->velocity + k].drive = DRIVE_TORQUE;
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
    define(tree, tree->positions[link->position].symbol, x);
    prescribe(tree, &tree->velocities[link->velocity], rate_of(tree, x));
}

// V = R^T p', and W = 2 (qw q' - qw' q - q x q') for the unit quaternion (qw, q): from the
// positions of the joint as functions of time.
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
    const uint32_t n = link->position_count;
    for (uint32_t k = 0; k < n; k++) x[k] = number(g, n >= 4 && k == n - 4); // qw = 1, the rest 0
    for (uint32_t i = 0; i < role->motion.count; i++) {
        const Pair *pair = &role->motion.at[i];
        uint32_t k = 0;
        while (k < n && !text_is(pair->key.text, part_of(tree->positions[link->position + k].name)))
            k++;
        if (k == n) refuse_part(tree, pair->key, "coordinate");
        if (has_failed(tree->err)) return;
        x[k] = tr_tree_formula(tree, pair->value);
        if (has_failed(tree->err)) return;
        tr_tree_check_time_only(tree, pair->value, x[k], "a motion");
    }
    if (n >= 4) { // made a unit quaternion
        Expr square_length = zero(g);
        for (uint32_t k = n - 4; k < n; k++) square_length = add(square_length, square(x[k]));
        const Expr length = e_sqrt(square_length);
        for (uint32_t k = n - 4; k < n; k++) x[k] = quotient(x[k], length);
    }
    for (uint32_t k = 0; k < n; k++) {
        rate[k] = rate_of(tree, x[k]);
        define(tree, tree->positions[link->position + k].symbol, x[k]);
    }
    move_in_space(tree, link, x, rate);
}

static void drive_by_motion(Tree *tree, Link *link, const Role *role)
{
    const bool alone = role->motion.count == 1 && !role->motion.at[0].key.text.length;
    if (role->torque.count)
        tr_fail(tree->err, TR_INVALID, role->name.place,
                "'%.*s' is driven by a torque or by a motion, not by both", TEXT(role->name.text));
    else if (link->position_count == 1 && alone)
        move_single(tree, link, role);
    else if (link->position_count == 1 || alone)
        tr_fail(tree->err, TR_INVALID, role->motion.at[0].value.place,
                link->position_count == 1
                    ? "this joint has one coordinate: write {motion: formula}"
                    : "this joint has several coordinates: write {motion: {%s: ...}}",
                part_of(tree->positions[link->position].name));
    else
        move_several(tree, link, role);
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

// A torque is a force like that of a spring; a motion needs a coordinate.
static void drive_cut(Tree *tree, Tie *tie, const Role *role)
{
    if (tie->role)
        tr_fail(tree->err, TR_INVALID, role->name.place,
                "'%.*s' and '%.*s' are one joint, which has one role", TEXT(tie->role->name.text),
                TEXT(role->name.text));
    else if (role->motion.count)
        tr_tree_refuse_cut(tree, role->name);
    if (!role->torque.count || has_failed(tree->err)) return;
    if (is_zero(tie->rate) || role->torque.count != 1 || role->torque.at[0].key.text.length) {
        tr_fail(tree->err, TR_INVALID, role->name.place,
                "'%.*s' was cut, and has not one coordinate: it cannot be driven",
                TEXT(role->name.text));
        return;
    }
    tie->role = role;
    tie->torque = tr_tree_formula(tree, role->torque.at[0].value);
}

void tr_tree_roles(Tree *tree)
{
    const Roles *roles = &tree->model->fields.roles;
    for (uint32_t i = 0; i < roles->count && !has_failed(tree->err); i++) {
        const Role *role = &roles->at[i];
        Link *link = joint_called(tree, role->name.text);
        Tie *cut = link ? NULL : cut_called(tree, role->name.text);
        if (cut) {
            drive_cut(tree, cut, role);
            continue;
        }
        if (link && link->role)
            tr_fail(tree->err, TR_INVALID, role->name.place,
                    "'%.*s' and '%.*s' are one joint, which has one role",
                    TEXT(link->role->name.text), TEXT(role->name.text));
        if (link) link->role = role;
        if (!link)
            refuse_joint(tree, role->name);
        else if (role->motion.count)
            drive_by_motion(tree, link, role);
        else if (role->torque.count)
            drive_by_torque(tree, link, role);
    }
}

// A joint that is held keeps the position it starts with, or that its motion starts with: its
// velocities are told to be zero.
static void hold(Tree *tree, const Link *link)
{
    const Expr zero_time = zero(tree->graph);
    for (uint32_t k = 0; k < link->position_count; k++) {
        Input *input = tr_system_input(tree->system, tree->positions[link->position + k].symbol);
        if (input && input->definition.id)
            input->definition = tr_replace(input->definition, &tree->t, &zero_time, 1);
    }
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        tree->velocities[link->velocity + k].torque = zero(tree->graph);
        prescribe(tree, &tree->velocities[link->velocity + k], zero(tree->graph));
    }
}

void tr_tree_hold(Tree *tree)
{
    const Cases *cases = &tree->model->fields.cases;
    for (uint32_t i = 0; cases->count && i < cases->at[0].hold.count && !has_failed(tree->err);
         i++) {
        const Value name = cases->at[0].hold.at[i];
        const Link *link = joint_called(tree, name.text);
        for (uint32_t k = 0; link && link->is_motor && k < tree->link_count; k++)
            if (tree->links[k].motor == (uint32_t)(link - tree->links)) hold(tree, &tree->links[k]);
        if (link && link->is_motor) // two forces hold them, which need two names
            tree->velocities[link->velocity].joint = tree->positions[link->position].name;
        if (link)
            hold(tree, link);
        else if (tr_tree_is_cut(tree, name.text))
            tr_tree_refuse_cut(tree, name);
        else
            refuse_joint(tree, name);
    }
}

// ---- springs and dampers -------------------------------------------------------------------

// What stands between a motor and its joint: force k (q - q_motor) + d (q' - q_motor') on the
// motor, and against the joint.
typedef struct Clutch {
    Expr stretch, stiffness, damping;
} Clutch;

static Clutch clutch_of(Tree *tree, const Link *link)
{
    const Link *motor = &tree->links[link->motor];
    return (Clutch){
        sub(tree->positions[link->position].symbol, tree->positions[motor->position].symbol),
        tr_tree_formula(tree, link->by->elastic.stiffness),
        tr_tree_formula(tree, link->by->elastic.damping)};
}

static void check_clutch(Tree *tree, const Link *link)
{
    const Elastic *elastic = &link->by->elastic;
    const Value values[] = {elastic->stiffness, elastic->damping, elastic->inertia};
    static const char *const names[] = {"stiffness", "damping", "inertia"};
    for (int i = 0; i < 3 && !has_failed(tree->err); i++) {
        const double x = tr_tree_value(tree, tr_tree_formula(tree, values[i]));
        if (!has_failed(tree->err) && (!isfinite(x) || x < 0 || (i == 0 && x == 0)))
            tr_fail(tree->err, TR_INVALID, values[i].place, "this %s is a %s constant", names[i],
                    i ? "finite" : "positive");
    }
    const Velocity *motor = &tree->velocities[tree->links[link->motor].velocity];
    if (motor->drive == DRIVE_NONE)
        tr_fail(tree->err, TR_INVALID, elastic->name.place,
                "nothing drives the motor of '%s': give it a torque or a motion", motor->joint);
    else if (motor->drive == DRIVE_TORQUE &&
             !(tr_tree_value(tree, tr_tree_formula(tree, elastic->inertia)) > 0))
        tr_fail(tree->err, TR_INVALID, elastic->name.place,
                "the motor of '%s' is driven by a torque: it needs an inertia", motor->joint);
}

static void make_clutch(Tree *tree, const Link *link)
{
    if (link->motor == WORLD) return;
    check_clutch(tree, link);
    if (has_failed(tree->err)) return;
    const Clutch clutch = clutch_of(tree, link);
    Velocity *w = &tree->velocities[link->velocity];
    Velocity *motor = &tree->velocities[tree->links[link->motor].velocity];
    const Expr force = add(mul(clutch.stiffness, clutch.stretch),
                           mul(clutch.damping, sub(w->symbol, motor->symbol)));
    w->passive = sub(w->passive, force);
    motor->passive = add(motor->passive, force);
}

// Q -= dD/dv
static void brake(Tree *tree, Expr D)
{
    const uint32_t n = tree->velocity_count;
    Expr *v = is_zero(D) ? NULL : calloc(2 * (size_t)n + 1, sizeof *v);
    for (uint32_t k = 0; v && k < n; k++) v[k] = tree->velocities[k].symbol;
    if (v) tr_gradient(D, v, n, v + n);
    for (uint32_t k = 0; v && k < n; k++)
        tree->velocities[k].passive = sub(tree->velocities[k].passive, v[n + k]);
    if (!v && !is_zero(D)) tree->graph->failed = true;
    free(v);
}

// Q -= N^T dU/dq: the slope of U along each velocity, q' = N v
static void push_downhill(Tree *tree, Expr U)
{
    Expr rate;
    if (is_zero(U) || !tr_system_rates(tree->system, &U, 1, &rate, tree->err)) return;
    brake(tree, rate); // dU/dt = (N^T dU/dq) . v
}

static void check_single(Tree *tree, const Joint *joint, const Value *field, const char *name)
{
    const JointType *type = field->given ? tr_joint_type(joint->type, tree->err) : NULL;
    if (!type) return;
    if (strcmp(type->name, "fixed") == 0)
        tr_fail(tree->err, TR_INVALID, field->place, "a fixed joint has no use for '%s'", name);
    else if (type->positions[0])
        tr_fail(tree->err, TR_INVALID, field->place,
                "'%s' needs a joint with one coordinate; use %s here", name,
                field == &joint->damping ? "dissipation" : "potential");
    else
        tr_tree_check_finite(tree, *field, name, tr_tree_formula(tree, *field));
}

// The joint's potential, which depends on no velocity.
static Expr joint_energy(Tree *tree, const Joint *joint)
{
    const Expr U = tr_tree_formula(tree, joint->potential);
    const Input *input =
        has_failed(tree->err) ? NULL : tr_system_uses(tree->system, U, TR_VELOCITY);
    if (input)
        tr_fail(tree->err, TR_INVALID, joint->potential.place,
                "a potential is a formula of coordinates, but this one uses '%s'", input->name);
    return U;
}

// The energy of a joint's spring and potential, and of what bends
static Expr joint_potential(Tree *tree, const Link *link)
{
    const Joint *joint = link->by;
    Expr U = tr_tree_formula(tree, joint->potential);
    if (link->velocity_count == 1) {
        const Expr stretch =
            sub(tree->positions[link->position].symbol, tr_tree_formula(tree, joint->rest));
        const Expr half = mul(number(tree->graph, 0.5), tr_tree_formula(tree, joint->stiffness));
        U = add(U, mul(half, square(stretch)));
    }
    if (link->motor != WORLD) {
        const Clutch clutch = clutch_of(tree, link);
        const Expr half = mul(number(tree->graph, 0.5), clutch.stiffness);
        U = add(U, mul(half, square(clutch.stretch)));
    }
    if (link->flex) U = add(U, tr_flex_potential(tree, link->flex));
    return U;
}

// The energy of a loop's spring, and of a potential that a cut joint has
static Expr tie_potential(Tree *tree, const Tie *tie)
{
    const Expr half = mul(number(tree->graph, 0.5), tr_tree_formula(tree, tie->stiffness));
    const Expr U = mul(half, square(tie->stretch));
    return tie->joint ? add(U, tr_tree_formula(tree, tie->joint->potential)) : U;
}

// What its formulas give, whether it was cut or not
static void make_potentials(Tree *tree, const Joint *joint)
{
    check_single(tree, joint, &joint->stiffness, "stiffness");
    check_single(tree, joint, &joint->rest, "rest");
    check_single(tree, joint, &joint->damping, "damping");
    const Expr U = joint_energy(tree, joint);
    if (has_failed(tree->err)) return;
    push_downhill(tree, U);
    brake(tree, tr_tree_formula(tree, joint->dissipation));
}

// Q -= (stiffness stretch + damping rate - torque) times the slopes of the rate
static void make_loop_springs(Tree *tree)
{
    for (uint32_t i = 0; i < tree->tie_count && !has_failed(tree->err); i++) {
        const Tie *tie = &tree->ties[i];
        if (tie->joint) make_potentials(tree, tie->joint);
        const Expr spring = add(mul(tr_tree_formula(tree, tie->stiffness), tie->stretch),
                                mul(tr_tree_formula(tree, tie->damping), tie->rate));
        const Expr force = sub(spring, tie->torque);
        Expr rest;
        const Expr *slopes = is_zero(force) ? NULL : tr_tree_slopes(tree, tie->rate, &rest);
        for (uint32_t k = 0; slopes && k < tree->velocity_count; k++)
            tree->velocities[k].passive = sub(tree->velocities[k].passive, mul(force, slopes[k]));
    }
}

// What is stored in the springs of joints and loops
Expr tr_tree_stored(Tree *tree)
{
    Expr U = zero(tree->graph);
    for (uint32_t i = 0; i < tree->link_count; i++)
        U = add(U, joint_potential(tree, &tree->links[i]));
    for (uint32_t i = 0; i < tree->tie_count; i++) U = add(U, tie_potential(tree, &tree->ties[i]));
    return U;
}

static void make_springs(Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++) {
        const Link *link = &tree->links[i];
        const Joint *joint = link->by;
        make_potentials(tree, joint);
        make_clutch(tree, link);
        if (link->flex) tr_flex_springs(tree, link->flex);
        if (link->velocity_count != 1 || has_failed(tree->err)) continue;
        Velocity *w = &tree->velocities[link->velocity];
        const Expr stretch =
            sub(tree->positions[link->position].symbol, tr_tree_formula(tree, joint->rest));
        w->passive = sub(w->passive, mul(tr_tree_formula(tree, joint->stiffness), stretch));
        w->passive = sub(w->passive, mul(tr_tree_formula(tree, joint->damping), w->symbol));
    }
}

// ---- forces on bodies ----------------------------------------------------------------------

// A force and a torque at a point of the world, both in world axes, on a link
static void apply_at(Tree *tree, uint32_t i, Vec point, Vec F, Vec N)
{
    if (i == WORLD) return;
    Link *link = &tree->links[i];
    const Vec f = apply_transposed(link->world.R, F);
    const Vec arm = apply_transposed(link->world.R, minus(point, link->world.p));
    const Vec moment = plus(apply_transposed(link->world.R, N), cross(arm, f));
    link->applied = wrench_plus(link->applied, wrench(f, moment));
}

// In the body's own axes nothing needs to go through the world.
static void apply_in_body(Tree *tree, uint32_t i, Vec at, Vec F, Vec N)
{
    Link *link = &tree->links[i];
    const Wrench own = wrench(F, plus(N, cross(at, F)));
    link->applied =
        wrench_plus(link->applied, wrench(apply(link->spin, own.F), apply(link->spin, own.N)));
}

static void make_force(Tree *tree, const Force *force)
{
    const bool in_body = text_is(force->axes.text, "body");
    if (!force->body.given)
        tr_fail(tree->err, TR_INVALID, force->name.place, "the force '%.*s' names no body",
                TEXT(force->name.text));
    else if (!in_body && !text_is(force->axes.text, "world"))
        tr_fail(tree->err, TR_INVALID, force->axes.place,
                "axes are those of the body or of the world, not of '%.*s'",
                TEXT(force->axes.text));
    if (has_failed(tree->err)) return;
    const Anchor first = tr_tree_anchor(tree, force->body);
    const uint32_t i = first.link, reaction = tr_tree_anchor(tree, force->reaction).link;
    if (!has_failed(tree->err) && i == WORLD)
        tr_fail(tree->err, TR_INVALID, force->body.place,
                "a force acts on a body, not on the world");
    if (!has_failed(tree->err) && i == reaction)
        tr_fail(tree->err, TR_INVALID, force->reaction.place, "the reaction acts on another body");
    if (has_failed(tree->err)) return;
    const Vec at = plus(first.pose.p, apply(first.pose.R, tr_tree_vector(tree, force->at, "at")));
    Vec F = tr_tree_vector(tree, force->force, "force"),
        N = tr_tree_vector(tree, force->torque, "torque");
    if (has_failed(tree->err)) return;
    const Pose pose = tr_tree_world(tree, i);
    if (in_body) F = apply(first.pose.R, F), N = apply(first.pose.R, N);
    if (in_body) apply_in_body(tree, i, at, F, N);
    const Vec point = plus(pose.p, apply(pose.R, at));
    if (in_body)
        F = apply(pose.R, F), N = apply(pose.R, N);
    else
        apply_at(tree, i, point, F, N);
    apply_at(tree, reaction, point, flip(F), flip(N));
}

void tr_tree_forces(Tree *tree)
{
    for (uint32_t k = 0; k < tree->link_count; k++)
        tree->links[k].applied = wrench_zero(tree->graph);
    const Forces *forces = &tree->model->fields.forces;
    for (uint32_t k = 0; k < forces->count && !has_failed(tree->err); k++)
        make_force(tree, &forces->at[k]);
    make_springs(tree);
    make_loop_springs(tree);
    tr_tree_slip_forces(tree);
}

// m g . height of every body, and what is stored in springs
Expr tr_tree_potential(Tree *tree)
{
    Expr U = zero(tree->graph);
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        const Vec mp =
            plus(scale(link->inertia.m, link->world.p), apply(link->world.R, link->inertia.mc));
        U = sub(U, dot(tree->gravity, mp));
    }
    return add(U, tr_tree_stored(tree));
}
