// SPDX-License-Identifier: Apache-2.0
// Springs and dampers of joints, motors and loops, and what pulls at the bodies (T8, T23-T25).
//
// Springs, dampers, potentials U(q) and dissipation functions D(q, v) stand on joints and work
// under every role [B 21]. With q' = N v,
//
//   Q = -stiffness (q - rest) - damping q' - N^T dU/dq - dD/dv
#include "expr/derivative.h"
#include "mech/tree.h"

#include <stdlib.h>

// ---- springs and dampers -------------------------------------------------------------------

// One along a coordinate or between two: what it takes is k stretch + d rate.
typedef struct Spring {
    Expr stretch, rate, stiffness, damping;
} Spring;

static Expr spring_force(Spring s)
{
    return add(mul(s.stiffness, s.stretch), mul(s.damping, s.rate));
}

static Expr spring_energy(Spring s)
{
    return mul(mul(number(graph_of(s.stretch), 0.5), s.stiffness), square(s.stretch));
}

// Of a joint with one coordinate
static Spring joint_spring(Tree *tree, const Link *link)
{
    const Joint *joint = link->by;
    const Expr q = tree->positions[link->position].symbol;
    return (Spring){sub(q, tr_tree_formula(tree, joint->rest)),
                    tree->velocities[link->velocity].symbol,
                    tr_tree_formula(tree, joint->stiffness), tr_tree_formula(tree, joint->damping)};
}

// Between a joint and its motor: k (q - qm) + d (q' - qm')                             (T8)
static Spring motor_spring(Tree *tree, const Link *link)
{
    const Link *motor = &tree->links[link->motor];
    const Elastic *elastic = &link->by->elastic;
    return (Spring){
        sub(tree->positions[link->position].symbol, tree->positions[motor->position].symbol),
        sub(tree->velocities[link->velocity].symbol, tree->velocities[motor->velocity].symbol),
        tr_tree_formula(tree, elastic->stiffness), tr_tree_formula(tree, elastic->damping)};
}

// Along what a loop leaves free
static Spring tie_spring(Tree *tree, const Tie *tie)
{
    return (Spring){tie->stretch, tie->rate, tr_tree_formula(tree, tie->stiffness),
                    tr_tree_formula(tree, tie->damping)};
}

static void check_motor(Tree *tree, const Link *link)
{
    const Elastic *elastic = &link->by->elastic;
    const Value values[] = {elastic->stiffness, elastic->damping, elastic->inertia};
    static const char *const names[] = {"stiffness", "damping", "inertia"};
    for (int i = 0; i < 3 && !has_failed(tree->err); i++) {
        const Expr x = tr_tree_formula(tree, values[i]);
        if (!has_failed(tree->err) &&
            !tr_tree_is(tree, i ? RULE_NOT_NEGATIVE : RULE_POSITIVE, x, values[i].place,
                        "the %s of the motor's spring is %s", names[i],
                        i ? "not negative" : "positive"))
            tr_fail(tree->err, TR_INVALID, values[i].place, "this %s is a %s constant", names[i],
                    i ? "finite" : "positive");
    }
    const Velocity *motor = &tree->velocities[tree->links[link->motor].velocity];
    if (motor->drive == DRIVE_NONE)
        tr_fail(tree->err, TR_INVALID, elastic->name.place,
                "nothing drives the motor of '%s': give it a torque or a motion", motor->joint);
    else if (motor->drive == DRIVE_TORQUE &&
             !tr_tree_is(tree, RULE_POSITIVE, tr_tree_formula(tree, elastic->inertia),
                         elastic->name.place, "the motor of '%s' has an inertia", motor->joint))
        tr_fail(tree->err, TR_INVALID, elastic->name.place,
                "the motor of '%s' is driven by a torque: it needs an inertia", motor->joint);
}

// I qm'' = tau + f,   Q = -f of the joint                                             (T8)
static void push_motor(Tree *tree, const Link *link)
{
    if (link->motor == WORLD) return;
    check_motor(tree, link);
    if (has_failed(tree->err)) return;
    Velocity *w = &tree->velocities[link->velocity];
    Velocity *motor = &tree->velocities[tree->links[link->motor].velocity];
    const Expr force = spring_force(motor_spring(tree, link));
    w->passive = sub(w->passive, force);
    motor->passive = add(motor->passive, force);
}

// Q -= dD/dv                                                                        (T23)
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

// Q -= N^T dU/dq: the slope of U along each velocity, q' = N v                       (T23)
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
    if (is_fixed(type))
        tr_fail(tree->err, TR_INVALID, field->place, "a fixed joint has no use for '%s'", name);
    else if (!has_coordinate(type))
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

// The energy of a joint's springs and potential, and of what bends
static Expr joint_potential(Tree *tree, const Link *link)
{
    Expr U = tr_tree_formula(tree, link->by->potential);
    if (link->velocity_count == 1) U = add(U, spring_energy(joint_spring(tree, link)));
    if (link->motor != WORLD) U = add(U, spring_energy(motor_spring(tree, link)));
    if (link->flex) U = add(U, tr_flex_potential(tree, link->flex));
    return U;
}

// The energy of a loop's spring, and of a potential that a cut joint has
static Expr tie_potential(Tree *tree, const Tie *tie)
{
    const Expr U = spring_energy(tie_spring(tree, tie));
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

// Q -= (dx'/dv)^T (k (x - rest) + d x' - torque)                                     (T23)
static void make_loop_springs(Tree *tree)
{
    for (uint32_t i = 0; i < tree->tie_count && !has_failed(tree->err); i++) {
        const Tie *tie = &tree->ties[i];
        if (tie->joint) make_potentials(tree, tie->joint);
        const Expr force = sub(spring_force(tie_spring(tree, tie)), tie->torque);
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
    return add(U, tr_tree_restraint_energy(tree));
}

static void make_springs(Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++) {
        const Link *link = &tree->links[i];
        if (!link->is_between) make_potentials(tree, link->written);
        if (has_failed(tree->err)) return;
        push_motor(tree, link);
        if (link->flex) tr_flex_springs(tree, link->flex);
        if (link->velocity_count != 1 || has_failed(tree->err)) continue;
        Velocity *w = &tree->velocities[link->velocity];
        w->passive = sub(w->passive, spring_force(joint_spring(tree, link)));
    }
}

// ---- forces on bodies ----------------------------------------------------------------------

// A force and a torque at a point of the world, both in world axes, on a link:
//   applied = (F, N + r x F)                                                         (T24)
static void apply_at(Tree *tree, uint32_t i, Vec point, Vec F, Vec N)
{
    if (i == WORLD) return;
    Link *link = &tree->links[i];
    const Vec f = apply_transposed(link->world.R, F), r = point_in(link->world, point);
    const Vec moment = plus(apply_transposed(link->world.R, N), cross(r, f));
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
    const Vec at = point_out(first.pose, tr_tree_vector(tree, force->at, "at"));
    Vec F = tr_tree_vector(tree, force->force, "force"),
        N = tr_tree_vector(tree, force->torque, "torque");
    F = plus(F, tr_tree_noise_vector(tree, "", force->name.text, force->noise, "noise"));
    N = plus(N, tr_tree_noise_vector(tree, "torque.", force->name.text, force->torque_noise,
                                     "torque_noise"));
    if (has_failed(tree->err)) return;
    const Pose pose = tr_tree_world(tree, i);
    const Vec point = point_out(pose, at);
    if (in_body) {
        F = apply(first.pose.R, F), N = apply(first.pose.R, N);
        apply_in_body(tree, i, at, F, N);
        F = apply(pose.R, F), N = apply(pose.R, N);
    } else
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
    tr_tree_restraint_forces(tree);
}
