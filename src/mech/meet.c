// SPDX-License-Identifier: Apache-2.0
// Where bodies meet. Two bodies of one tree are seen from the last link that carries both: what
// moves that link moves both, so it does not enter (T43).
//
//   P = p + R r,   V_P = sum over the joints below of S_V q' + S_W q' x (P - O_joint)
//   s = R_on^T (P - O_on),   s' = R_on^T (V_P - V_on(P))            as seen from the other body
#include "mech/meet.h"

// ---- carriers ------------------------------------------------------------------------------

Carrier tr_carrier(Tree *tree, uint32_t i)
{
    Graph *g = tree->graph;
    if (i == WORLD) return (Carrier){pose_identity(g), motion_zero(g)};
    return (Carrier){tree->links[i].world, tree->links[i].v};
}

Carrier tr_own_carrier(Tree *tree, uint32_t i)
{
    Carrier c = tr_carrier(tree, i);
    if (i == WORLD || !tree->links[i].carried) return c;
    const Mat spin = tree->links[i].spin;
    c.pose = tr_tree_world(tree, i);
    c.v = motion(apply_transposed(spin, c.v.V), apply_transposed(spin, c.v.W));
    return c;
}

Vec tr_own_axes(const Tree *tree, uint32_t i, Vec a)
{
    return i == WORLD ? a : apply(tree->links[i].spin, a);
}

Vec tr_velocity_on(const Carrier *on, const Carrier *c, Vec r)
{
    const Vec s = point_in(on->pose, point_out(c->pose, r));
    const Vec there = apply(on->pose.R, velocity_at(on, s));
    return minus(velocity_at(c, r), apply_transposed(c->pose.R, there));
}

// ---- seen from above -----------------------------------------------------------------------

// For poses by link, what they are seen from, and the way to one; none of them is seen from itself.
static bool has_room(Tree *tree)
{
    struct Seen *seen = &tree->seen;
    if (seen->way) return true;
    seen->pose = tr_tree_room(tree, tree->link_count, sizeof *seen->pose);
    seen->from = tr_tree_room(tree, tree->link_count, sizeof *seen->from);
    uint32_t *way = tr_tree_room(tree, tree->link_count, sizeof *way);
    if (tree->graph->failed) return false;
    for (uint32_t i = 0; i < tree->link_count; i++) seen->from[i] = i;
    seen->way = way;
    return true;
}

// Long chains are walked once, and not by recursion.
Pose tr_pose_in(Tree *tree, uint32_t i, uint32_t above)
{
    Pose pose = pose_identity(tree->graph);
    if (i == above || !has_room(tree)) return pose;
    struct Seen *seen = &tree->seen;
    uint32_t steps = 0;
    for (; i != above && seen->from[i] != above; i = tree->links[i].parent) seen->way[steps++] = i;
    if (i != above) pose = seen->pose[i];
    while (steps) {
        i = seen->way[--steps];
        pose = pose_product(pose, tree->links[i].X);
        seen->pose[i] = pose, seen->from[i] = above;
    }
    return pose;
}

// S q' of a velocity of a link, in the axes that its pose is in
static Motion motion_out(Tree *tree, uint32_t i, uint32_t above, Pose pose, const Velocity *w)
{
    const Link *link = &tree->links[i];
    const Vec W = is_revolute(link) ? apply(tr_pose_in(tree, link->parent, above).R, link->axis)
                                    : apply(pose.R, w->S.W);
    return motion_scale(w->symbol, motion(apply(pose.R, w->S.V), W));
}

// What bends on the way to a link that is a point of a beam: its origin, and its turning
static Motion bending(Tree *tree, uint32_t i, uint32_t above, Pose pose)
{
    const Link *link = &tree->links[i];
    if (!link->section) return motion_zero(tree->graph);
    const Motion bends = tr_section_motion(tree, link);
    return motion(apply(tr_pose_in(tree, link->parent, above).R, bends.V), apply(pose.R, bends.W));
}

Vec tr_turning_in(Tree *tree, uint32_t i, uint32_t above)
{
    Vec sum = vec_zero(tree->graph);
    for (; i != above; i = tree->links[i].parent) {
        const Link *link = &tree->links[i];
        const Pose pose = tr_pose_in(tree, i, above);
        sum = plus(sum, bending(tree, i, above, pose).W);
        for (uint32_t k = 0; k < link->velocity_count; k++) {
            const Velocity *w = &tree->velocities[link->velocity + k];
            sum = plus(sum, motion_out(tree, i, above, pose, w).W);
        }
    }
    return sum;
}

// Of a point that is `arm` away from a link's origin: arms are summed from the point, for
// differences of its place and those of joints lose more digits.
static Vec velocity_with(Tree *tree, uint32_t i, uint32_t above, Vec arm)
{
    Vec sum = vec_zero(tree->graph);
    while (i != above) {
        const Link *link = &tree->links[i];
        const Pose pose = tr_pose_in(tree, i, above);
        const Motion bends = bending(tree, i, above, pose);
        sum = plus(sum, plus(bends.V, cross(bends.W, arm)));
        for (uint32_t k = 0; k < link->velocity_count; k++) {
            const Velocity *w = &tree->velocities[link->velocity + k];
            const Motion v = motion_out(tree, i, above, pose, w);
            sum = plus(sum, plus(v.V, cross(v.W, arm)));
        }
        i = link->parent;
        if (i != above) arm = plus(apply(tr_pose_in(tree, i, above).R, link->X.p), arm);
    }
    return sum;
}

Vec tr_velocity_in(Tree *tree, uint32_t i, uint32_t above, Vec P)
{
    return velocity_with(tree, i, above, minus(P, tr_pose_in(tree, i, above).p));
}

// ---- two of them ---------------------------------------------------------------------------

// Parents come first, so the later of two cannot carry the other.
uint32_t tr_common_carrier(const Tree *tree, uint32_t i, uint32_t k)
{
    while (i != k) {
        if (k == WORLD || (i != WORLD && i > k))
            i = tree->links[i].parent;
        else
            k = tree->links[k].parent;
    }
    return i;
}

uint32_t tr_root_of(const Tree *tree, uint32_t i)
{
    while (tree->links[i].parent != WORLD) i = tree->links[i].parent;
    return i;
}

static bool hangs_freely(const Tree *tree, uint32_t i)
{
    return i != WORLD && turns_freely(&tree->links[tr_root_of(tree, i)]);
}

// A root that turns freely is seen in its own axes, where its velocities are.
static void see_from_world(Meeting *m, Mat R_on, Vec p_on)
{
    const Mat R = m->body.pose.R;
    const Vec there = point_in(m->on.pose, point_out(m->body.pose, m->r));
    const Vec V = apply_transposed(m->on.pose.R, apply(R, velocity_at(&m->body, m->r)));
    const Vec W = apply_transposed(m->on.pose.R, apply(R, m->body.v.W));
    m->s = apply_transposed(R_on, minus(there, p_on));
    m->ds = apply_transposed(R_on, minus(V, velocity_at(&m->on, there)));
    m->W = apply_transposed(R_on, minus(W, m->on.v.W));
}

static void see_from_above(Tree *tree, uint32_t i, Anchor on, Meeting *m)
{
    const uint32_t above = tr_common_carrier(tree, i, on.link);
    const Pose X = tr_pose_in(tree, i, above);
    Pose Y = tr_pose_in(tree, on.link, above);
    if (on.link != WORLD && tree->links[on.link].carried)
        Y.R = turn_product(Y.R, tree->links[on.link].spin);
    const Pose Z = pose_product(Y, on.pose);
    const Mat R = Z.R;
    const Vec P = point_out(X, m->r);
    m->s = point_in(Z, P);
    m->ds = apply_transposed(R, minus(velocity_with(tree, i, above, apply(X.R, m->r)),
                                      tr_velocity_in(tree, on.link, above, P)));
    m->W = apply_transposed(
        R, minus(tr_turning_in(tree, i, above), tr_turning_in(tree, on.link, above)));
    m->R = turn_product(transpose(R), X.R);
}

void tr_tree_meeting(Tree *tree, Anchor body, Vec at, Anchor on, Meeting *m)
{
    const uint32_t i = body.link;
    m->body = tr_carrier(tree, i), m->on = tr_own_carrier(tree, on.link);
    m->first = body.pose, m->axes = turn_product(m->on.pose.R, on.pose.R);
    m->r = tr_own_axes(tree, i, point_out(body.pose, at));
    const bool free_root = hangs_freely(tree, i) || hangs_freely(tree, on.link);
    if (tr_common_carrier(tree, i, on.link) == WORLD && free_root) {
        see_from_world(m, on.pose.R, on.pose.p);
        m->R = turn_product(transpose(m->axes), m->body.pose.R);
    } else
        see_from_above(tree, i, on, m);
    m->R = turn_product(m->R, i == WORLD ? mat_identity(tree->graph) : tree->links[i].spin);
    m->R = turn_product(m->R, body.pose.R);
}

static void check_named(Tree *tree, Value body, Value element)
{
    if (!body.given)
        tr_fail(tree->err, TR_INVALID, element.place, "'%.*s' names no body", TEXT(element.text));
}

static void check_moves(Tree *tree, uint32_t link, Value body, Value element)
{
    if (link == WORLD)
        tr_fail(tree->err, TR_INVALID, body.place,
                "'%.*s' is about a body; the world stands in 'on'", TEXT(element.text));
}

uint32_t tr_tree_touching(Tree *tree, Value body, Value element)
{
    check_named(tree, body, element);
    const uint32_t i = has_failed(tree->err) ? WORLD : tr_tree_body(tree, body);
    check_moves(tree, i, body, element);
    return i;
}

bool tr_tree_ends(Tree *tree, Value element, Value body, Value on, Anchor *first, Anchor *second)
{
    check_named(tree, body, element);
    if (has_failed(tree->err)) return false;
    *first = tr_tree_anchor(tree, body), *second = tr_tree_anchor(tree, on);
    check_moves(tree, first->link, body, element);
    if (!has_failed(tree->err) && first->link == second->link)
        tr_fail(tree->err, TR_INVALID, on.place, "'%.*s' ties '%.*s' to itself", TEXT(element.text),
                TEXT(tree->links[first->link].body->name.text));
    return !has_failed(tree->err);
}

bool tr_tree_meet(Tree *tree, Value element, Value body, Value at, Value on, Meeting *m)
{
    Anchor first, second;
    if (!tr_tree_ends(tree, element, body, on, &first, &second)) return false;
    const Vec point = tr_tree_vector(tree, at, "at");
    if (has_failed(tree->err)) return false;
    tr_tree_meeting(tree, first, point, second, m);
    return true;
}

// ---- where it acts -------------------------------------------------------------------------

Touch *tr_tree_touch(Tree *tree, uint32_t link, const Carrier *c, Vec r, Mat axes)
{
    Touch *touch = &tree->touches[tree->touch_count++];
    touch->link = link;
    touch->carrier = c->pose.R;
    touch->point = point_out(c->pose, r);
    touch->axes = axes;
    touch->angle = touch->gap = expr_at(tree->graph, 0);
    return touch;
}

void tr_touch_part(Touch *touch, const char *part, Vec direction)
{
    touch->parts[touch->part_count] = part;
    touch->direction[touch->part_count++] = direction;
    touch->force_count = touch->part_count;
}

void tr_touch_moment(Touch *touch, const char *part, Vec direction)
{
    touch->parts[touch->part_count] = part;
    touch->direction[touch->part_count++] = direction;
}
