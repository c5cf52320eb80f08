// SPDX-License-Identifier: Apache-2.0
// Joints: where the child's frame stands against the parent's, and the motions S that the joint's
// velocities are, both in the child's own axes (T2, T4-T6) [M 1, 2].
//
// At zero coordinates the child's axes are the parent's, turned by `turn`. Velocities of joints
// that turn in space are components in the child's axes, so a pose's rates are not its velocities:
//   p' = R V,   (qw, q)' = (qw, q) (0, W) / 2 for unit quaternions,   theta' = W_z
#include "mech/tree.h"

#include <math.h>
#include <stdio.h>

// ---- rotations -----------------------------------------------------------------------------

// cos 1 + (1 - cos) a a^T + sin hat(a), for a unit vector a                             (T4)
Mat tr_rotation(Vec a, Expr angle)
{
    Graph *g = graph_of(angle);
    const Expr c = e_cos(angle), s = e_sin(angle);
    const Expr v = sub(one(g), c);
    Mat R = mat_zero(g);
    for (int i = 0; i < 3; i++) {
        const Vec row = scale(mul(v, vec_at(a, i)), a);
        const Vec diagonal = scale(c, vec_unit(g, i));
        R.row[i] = plus(plus(row, diagonal), scale(s, hat(a).row[i]));
    }
    const int along = unit_axis(a); // there the corner is 1, not (1 - cos) + cos
    if (along >= 0) R.row[along] = vec_unit(g, along);
    return R;
}

// About x, then y, then z of the parent: R(e_z, z) R(e_y, y) R(e_x, x)                 (T4)
Mat tr_tree_turned(Tree *tree, Value value)
{
    Graph *g = tree->graph;
    const Vec angles = tr_tree_vector(tree, value, "turn");
    Mat R = mat_identity(g);
    for (int i = 0; i < 3; i++)
        R = turn_product(snapped_mat(tr_rotation(vec_unit(g, i), vec_at(angles, i))), R);
    return R;
}

// Of a unit quaternion, scalar first: 1 + 2 qw hat(q) + 2 hat(q)^2                       (T4)
static Mat quaternion_rotation(Expr w, Vec q)
{
    Graph *g = graph_of(w);
    const Expr two = number(g, 2), unit = one(g);
    const Expr xx = square(q.x), yy = square(q.y), zz = square(q.z);
    const Expr xy = mul(q.x, q.y), xz = mul(q.x, q.z), yz = mul(q.y, q.z);
    const Expr wx = mul(w, q.x), wy = mul(w, q.y), wz = mul(w, q.z);
#define TWICE(x) mul(two, (x))
    return (Mat){{vec(sub(unit, TWICE(add(yy, zz))), TWICE(sub(xy, wz)), TWICE(add(xz, wy))),
                  vec(TWICE(add(xy, wz)), sub(unit, TWICE(add(xx, zz))), TWICE(sub(yz, wx))),
                  vec(TWICE(sub(xz, wy)), TWICE(add(yz, wx)), sub(unit, TWICE(add(xx, yy))))}};
#undef TWICE
}

// ---- one function per type (T5, T6) --------------------------------------------------------

static Expr position(const Tree *tree, const Link *link, uint32_t k)
{
    return tree->positions[link->position + k].symbol;
}

static Expr velocity(const Tree *tree, const Link *link, uint32_t k)
{
    return tree->velocities[link->velocity + k].symbol;
}

static void set_motion(Tree *tree, const Link *link, uint32_t k, Vec V, Vec W)
{
    tree->velocities[link->velocity + k].S = motion(V, W);
}

static void set_rate(Tree *tree, Expr position_symbol, Expr rate)
{
    tr_rate_set(tree->system, position_symbol, rate, tree->err);
}

static void joint_fixed(Tree *tree, Link *link)
{
    (void)tree;
    link->X.R = link->turn;
}

// The rotation is `turn`, and then this.
static void split(Link *link, Mat R)
{
    link->first = (Pose){link->turn, link->X.p};
    link->second = (Pose){R, vec_zero(graph_of(link->X.p.x))};
    link->split = !is_identity(link->turn);
}

static void joint_revolute(Tree *tree, Link *link)
{
    // R(axis) turn = turn R(turn^T axis): the axis in the child's own axes is often one of them
    const Vec own = own_axis(link);
    const Mat R = tr_rotation(own, position(tree, link, 0));
    link->carried =
        !link->has_children && is_vec_zero(link->to) && tr_tree_is_symmetric(tree, link);
    if (link->carried) link->spin = R;
    link->X.R = link->carried ? link->turn : mat_product(link->turn, R);
    if (!link->carried) split(link, R);
    set_motion(tree, link, 0, vec_zero(tree->graph), own);
    set_rate(tree, position(tree, link, 0), velocity(tree, link, 0));
}

static void joint_prismatic(Tree *tree, Link *link)
{
    link->X.R = link->turn;
    link->X.p = plus(link->X.p, scale(position(tree, link, 0), link->axis));
    set_motion(tree, link, 0, own_axis(link), vec_zero(tree->graph));
    set_rate(tree, position(tree, link, 0), velocity(tree, link, 0));
}

// Turns about its axis, and goes along it as it turns
static void joint_screw(Tree *tree, Link *link)
{
    const Vec own = own_axis(link);
    const Expr q = position(tree, link, 0), pitch = tr_tree_formula(tree, link->by->pitch);
    tr_tree_check_finite(tree, link->by->pitch, "pitch", pitch);
    const Mat R = tr_rotation(own, q);
    link->X.R = mat_product(link->turn, R);
    link->X.p = plus(link->X.p, scale(mul(pitch, q), link->axis));
    split(link, R);
    set_motion(tree, link, 0, scale(pitch, own), own);
    set_rate(tree, q, velocity(tree, link, 0));
}

// Moves in the x-y plane of the parent, turned by `turn` as a whole: x and y are along the turned
// axes.
static void joint_planar(Tree *tree, Link *link)
{
    Graph *g = tree->graph;
    const Expr theta = position(tree, link, 2);
    const Vec x = vec_unit(g, 0), y = vec_unit(g, 1), z = vec_unit(g, 2), nothing = vec_zero(g);
    const Mat R = tr_rotation(z, theta);
    link->X.R = mat_product(link->turn, R);
    link->X.p =
        plus(link->X.p,
             apply(link->turn, vec(position(tree, link, 0), position(tree, link, 1), zero(g))));
    set_motion(tree, link, 0, x, nothing);
    set_motion(tree, link, 1, y, nothing);
    set_motion(tree, link, 2, nothing, z);
    const Vec rate = apply(R, vec(velocity(tree, link, 0), velocity(tree, link, 1), zero(g)));
    set_rate(tree, position(tree, link, 0), rate.x);
    set_rate(tree, position(tree, link, 1), rate.y);
    set_rate(tree, theta, velocity(tree, link, 2));
}

// (qw, q)' = (-q.W, qw W + q x W) / 2, and the rotation itself                          (T2)
static Mat turn_in_space(Tree *tree, Link *link, uint32_t first_position, uint32_t first_velocity)
{
    Graph *g = tree->graph;
    const Expr w = position(tree, link, first_position), half = number(g, 0.5);
    const Vec q =
        vec(position(tree, link, first_position + 1), position(tree, link, first_position + 2),
            position(tree, link, first_position + 3));
    const Vec W =
        vec(velocity(tree, link, first_velocity), velocity(tree, link, first_velocity + 1),
            velocity(tree, link, first_velocity + 2));
    const Vec rate = scale(half, plus(scale(w, W), cross(q, W)));
    set_rate(tree, w, neg(mul(half, dot(q, W))));
    set_rate(tree, q.x, rate.x);
    set_rate(tree, q.y, rate.y);
    set_rate(tree, q.z, rate.z);
    for (int k = 0; k < 3; k++)
        set_motion(tree, link, first_velocity + (uint32_t)k, vec_zero(g), vec_unit(g, k));
    return quaternion_rotation(w, q);
}

static void joint_ball(Tree *tree, Link *link)
{
    link->X.R = mat_product(link->turn, turn_in_space(tree, link, 0, 0));
}

static void joint_free(Tree *tree, Link *link)
{
    Graph *g = tree->graph;
    const Mat R = turn_in_space(tree, link, 3, 3);
    const Vec p = vec(position(tree, link, 0), position(tree, link, 1), position(tree, link, 2));
    link->X.R = mat_product(link->turn, R);
    link->X.p = plus(link->X.p, apply(link->turn, p));
    const Vec V = vec(velocity(tree, link, 0), velocity(tree, link, 1), velocity(tree, link, 2));
    const Vec rate = apply(R, V);
    for (int k = 0; k < 3; k++) {
        set_motion(tree, link, (uint32_t)k, vec_unit(g, k), vec_zero(g));
        set_rate(tree, vec_at(p, k), vec_at(rate, k));
    }
}

static const JointStep steps[] = {
#define JOINT_STEP(joint, coordinate, type, axis) {#joint, #coordinate, #type, #axis},
#include "mech/joint.def"
};

uint32_t tr_joint_steps(const JointType *type, const JointStep **out)
{
    const size_t all = sizeof steps / sizeof *steps;
    uint32_t first = 0, count = 0;
    while (first < all && strcmp(steps[first].joint, type->name) != 0) first++;
    while (first + count < all && strcmp(steps[first + count].joint, type->name) == 0) count++;
    *out = steps + first;
    return count;
}

static const JointType types[] = {
#define JOINT_TYPE(name, positions, velocities, quantity, fields, worth, make, draw, loop) \
    {#name, positions, velocities, QUANTITY_##quantity, fields, worth, make, loop},
#include "mech/joint.def"
};

const JointType *tr_joint_type(Value word, tr_error *err)
{
    Suggestion nearest = {.wanted = word.text};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (text_is(word.text, types[i].name)) return &types[i];
        tr_suggest(&nearest, text_of(types[i].name));
    }
    char hint[TR_HINT_SIZE];
    tr_fail(err, TR_INVALID, word.place, "unknown joint type '%.*s'%s", TEXT(word.text),
            tr_hint(&nearest, hint));
    return NULL;
}

// ---- axes ----------------------------------------------------------------------------------

// Exactly along x, y or z it stays so; sin and cos of one angle need nothing.
Vec tr_tree_unit(Tree *tree, Value value, const char *what)
{
    const Vec a = tr_tree_vector(tree, value, what);
    const Expr square_length = dot(a, a);
    if (has_failed(tree->err)) return a;
    if (tr_tree_is_constant(square_length) &&
        !tr_tree_is(tree, RULE_POSITIVE, square_length, value.place, "the %s is not zero", what))
        tr_fail(tree->err, TR_INVALID, value.place, "the %s is %s", what,
                tr_tree_value(tree, square_length) == 0 ? "zero: it has no direction"
                                                        : "not finite");
    if (is_one(square_length)) return snapped_vec(a);
    return snapped_vec(scale(quotient(one(tree->graph), e_sqrt(square_length)), a));
}

static void refuse_use(Tree *tree, Value value, const JointType *type, const char *key)
{
    tr_fail(tree->err, TR_INVALID, value.place, "a %s joint has no use for '%s'", type->name, key);
}

// Two axes along one line are one.
static void check_second(Tree *tree, const Joint *joint, const JointType *type, Text name)
{
    static const double least = 1e-6; // the sine between them
    if (!joint->second.given) {
        tr_fail(tree->err, TR_INVALID, joint->name.place,
                "the %s joint of '%.*s' needs a 'second' axis", type->name, TEXT(name));
        return;
    }
    const Vec first = tr_tree_unit(tree, joint->axis, "axis");
    const Vec second = tr_tree_unit(tree, joint->second, "second axis");
    const Vec across = cross(first, second);
    const Expr rest = sub(dot(across, across), number(tree->graph, least * least));
    if (!has_failed(tree->err) &&
        !tr_tree_is(tree, RULE_POSITIVE, rest, joint->second.place,
                    "the axes of the %s joint of '%.*s' are not parallel", type->name, WHOLE(name)))
        tr_fail(tree->err, TR_INVALID, joint->second.place,
                "the two axes of a %s joint are not parallel: along one line they are one, which "
                "is a revolute joint",
                type->name);
}

void tr_joint_check(Tree *tree, const Joint *joint, const JointType *type, Text name)
{
    if (joint->coordinate.given && !has_coordinate(type))
        tr_fail(tree->err, TR_INVALID, joint->coordinate.place,
                "a %s joint names no coordinate of its own", type->name);
    else if (joint->pitch.given && !tr_is_listed(type->fields, "pitch"))
        refuse_use(tree, joint->pitch, type, "pitch");
    else if (joint->second.given && !tr_is_listed(type->fields, "second"))
        refuse_use(tree, joint->second, type, "second");
    else if (!has_axis(type) && joint->axis.given)
        tr_fail(tree->err, TR_INVALID, joint->axis.place, "a %s joint has no axis; use turn",
                type->name);
    else if (has_axis(type) && !joint->axis.given)
        tr_fail(tree->err, TR_INVALID, joint->name.place, "the %s joint of '%.*s' needs an axis",
                type->name, TEXT(name));
    else if (tr_is_listed(type->fields, "second"))
        check_second(tree, joint, type, name);
    else if (moves_about(type) && !is_vec_zero(tr_tree_vector(tree, joint->to, "to")))
        refuse_use(tree, joint->to, type, "to");
}

// Of a joint that holds the body it is written to hang from: seen from the other side. R(q) turn
// becomes turn^T R(-q).                                                                (T7)
static void reverse(Link *link)
{
    const Vec at = link->at;
    link->at = link->to, link->to = at;
    link->axis = flip(own_axis(link));
    link->turn = transpose(link->turn);
}

// The body's origin is not where the joint is: p = p_joint - R to (T5), and S_V + to x S_W (T6).
static void shift_origin(Tree *tree, Link *link)
{
    if (is_vec_zero(link->to)) return;
    place_link(link, minus(link->X.p, apply(link->X.R, link->to)));
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        Motion *S = &tree->velocities[link->velocity + k].S;
        S->V = plus(S->V, cross(link->to, S->W));
    }
}

static void note_quaternion(Tree *tree, const Link *link)
{
    System *s = tree->system;
    if (link->position_count < 4) return;
    if (!tr_grow((void **)&s->quaternions, &s->quaternion_capacity, s->quaternion_count + 1,
                 sizeof *s->quaternions)) {
        tree->graph->failed = true;
        return;
    }
    const Expr w = position(tree, link, link->position_count - 4);
    const Expr Wx = velocity(tree, link, link->velocity_count - 3);
    s->quaternions[s->quaternion_count++] =
        (struct Quaternion){(uint32_t)(tr_system_input(s, w) - s->inputs),
                            (uint32_t)(tr_system_input(s, Wx) - s->inputs)};
}

void tr_tree_joints(Tree *tree)
{
    Graph *g = tree->graph;
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++) {
        Link *link = &tree->links[i];
        link->spin = mat_identity(g);
        link->origin = vec_zero(g);
        link->turn = tr_tree_turned(tree, link->by->turn);
        link->at = tr_tree_vector(tree, link->by->at, "at");
        link->to = tr_tree_vector(tree, link->by->to, "to");
        if (!link->step)
            tr_joint_check(tree, link->written, link->whole, last_step(link)->body->name.text);
        link->axis = has_coordinate(link->type) && !has_failed(tree->err)
                         ? tr_tree_unit(tree, link->by->axis, "axis")
                         : vec_zero(g);
        if (has_failed(tree->err)) return;
        if (link->is_reversed) reverse(link);
        link->X = (Pose){link->turn, link->at};
        link->type->make(tree, link);
        shift_origin(tree, link);
        note_quaternion(tree, link);
        const Pose above =
            link->parent == WORLD ? pose_identity(g) : tree->links[link->parent].world;
        link->world = pose_product(above, link->X); // g_i = g_parent X_i               (T5) [M 1]
    }
}
