// SPDX-License-Identifier: Apache-2.0
// Where bodies meet. Two bodies of one tree are seen from the last link that carries both: what
// moves that link moves both, so it does not enter (T43).
//
//   P = p + R r,   V_P = sum over the joints below of S_V q' + S_W q' x (P - O_joint)
//   s = R_on^T (P - O_on),   s' = R_on^T (V_P - V_on(P))            as seen from the other body
#include "mech/meet.h"

#include "mech/across.h"

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
    seen->drift = tr_tree_room(tree, tree->link_count, sizeof *seen->drift);
    seen->has_drift = tr_tree_room(tree, tree->link_count, sizeof *seen->has_drift);
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

// S q' of the joint of a link, in the axes of a link above it
static Motion joint_out(Tree *tree, uint32_t i, uint32_t above)
{
    const Link *link = &tree->links[i];
    const Pose pose = tr_pose_in(tree, i, above);
    Motion sum = motion_zero(tree->graph);
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const Velocity *w = &tree->velocities[link->velocity + k];
        const Vec W = is_revolute(link) ? apply(tr_pose_in(tree, link->parent, above).R, link->axis)
                                        : apply(pose.R, w->S.W);
        sum = motion_plus(sum, motion_scale(w->symbol, motion(apply(pose.R, w->S.V), W)));
    }
    return sum;
}

// One joint more, between a link and what carries it, which turns at W0: it gives the point
// V + W x arm, and turns all that is behind it                                         (T120)
//   a += W x (V_P behind the joint + V_P with it) + W0 x V_P,   alpha += W x (what turns behind it)
static void cross_joint(Course *at, Motion joint, Vec arm, Vec W0)
{
    const Vec V = plus(at->V, plus(joint.V, cross(joint.W, arm)));
    const bool is_still = is_vec_zero(W0);
    const Vec with = is_still ? plus(at->V, V) : at->V;
    at->a = plus(at->a, cross(joint.W, with));
    if (!is_still) at->a = plus(at->a, cross(plus(W0, joint.W), V));
    at->alpha = plus(at->alpha, cross(joint.W, at->W));
    at->V = V, at->W = plus(at->W, joint.W);
}

// The same of a point of a beam, which moves at p' on the root and turns at w:
//   a += p'' + w x (w x arm + 2 V_P behind it) + w' x arm + W0 x V_P,   alpha += w x W + w'
static void cross_section(Tree *tree, Course *at, uint32_t i, uint32_t above, Vec arm, Vec W0)
{
    const Link *link = &tree->links[i];
    const Motion bends = tr_section_motion(tree, link);
    const Mat root = tr_pose_in(tree, link->parent, above).R, R = tr_pose_in(tree, i, above).R;
    const Vec w = apply(R, bends.W), turned = cross(w, arm), dw = apply(R, link->section->drift);
    const Vec shorter = apply(root, tr_section_shortening(tree, link->section));
    at->a = plus(at->a, cross(w, plus(plus(at->V, at->V), turned)));
    at->a = plus(at->a, plus(shorter, cross(dw, arm)));
    at->alpha = plus(at->alpha, plus(cross(w, at->W), dw));
    at->V = plus(at->V, plus(apply(root, bends.V), turned)), at->W = plus(at->W, w);
    at->a = plus(at->a, cross(W0, at->V));
}

// Arms are summed from the point, for differences of its place and those of joints lose more
// digits.
Course tr_course(Tree *tree, uint32_t i, uint32_t above, Vec arm, Vec turning)
{
    const Vec nothing = vec_zero(tree->graph);
    Course at = {nothing, nothing, nothing, nothing};
    while (i != above) {
        const Link *link = &tree->links[i];
        const Vec W0 = link->parent == above ? turning : nothing;
        if (link->section)
            cross_section(tree, &at, i, above, arm, W0);
        else
            cross_joint(&at, joint_out(tree, i, above), arm, W0);
        i = link->parent;
        if (i != above) arm = plus(apply(tr_pose_in(tree, i, above).R, link->X.p), arm);
    }
    return at;
}

// ---- in its own axes -----------------------------------------------------------------------

// v_i' = Ad v_p' + v_i x S q', by components                                           (T13)
static Motion drift_behind(const Tree *tree, uint32_t i, Motion parent)
{
    const Link *link = &tree->links[i];
    if (!has_parent(link)) return parent; // v x v
    return motion_plus(into_motion(link, parent), motion_cross(link->v, joint_motion(tree, link)));
}

// Long chains are walked once.
bool tr_link_drift(Tree *tree, uint32_t i, Motion *drift)
{
    if (!has_room(tree)) return false;
    struct Seen *seen = &tree->seen;
    uint32_t steps = 0;
    *drift = motion_zero(tree->graph);
    for (; i != WORLD && !seen->has_drift[i]; i = tree->links[i].parent) {
        if (tree->links[i].section || tree->links[i].carried) return false;
        seen->way[steps++] = i;
    }
    if (i != WORLD) *drift = seen->drift[i];
    while (steps) {
        i = seen->way[--steps];
        *drift = drift_behind(tree, i, *drift);
        seen->drift[i] = *drift, seen->has_drift[i] = true;
    }
    return true;
}

Expr tr_point_drift(Tree *tree, uint32_t i, Vec r, Vec e)
{
    Motion drift;
    if (!tr_link_drift(tree, i, &drift)) return expr_at(tree->graph, 0);
    return dot(e, plus(drift.V, cross(drift.W, r)));
}

// ---- the vertical --------------------------------------------------------------------------

static bool is_gravity_normal(const Tree *tree)
{
    const Vec n = column(tree->ground.R, 2), up = flip(tree->gravity);
    return is_along(up, n) && tr_tree_is_constant(dot(n, up));
}

// What the normal is scaled by: gravity, where that is along it and does not vanish
static Expr normal_length(Tree *tree)
{
    Graph *g = tree->graph;
    if (!is_gravity_normal(tree)) return one(g);
    const Expr length = neg(dot(column(tree->ground.R, 2), tree->gravity));
    return choose(less(zero(g), length), length, one(g));
}

// A vector of the world in the axes of a link, by those that are known for others
static Vec carry_in(Tree *tree, Vec **known, uint32_t i, Vec of_world)
{
    if (!*known) *known = tr_tree_room(tree, tree->link_count, sizeof **known);
    if (!*known) return vec_zero(tree->graph);
    uint32_t at = i; // the last that is known
    while (at != WORLD && !(*known)[at].x.id) at = tree->links[at].parent;
    while (at != i) {
        uint32_t next = i;
        while (tree->links[next].parent != at) next = tree->links[next].parent;
        (*known)[next] = into(&tree->links[next], at == WORLD ? of_world : (*known)[at]);
        at = next;
    }
    return (*known)[i];
}

Vec tr_normal_in(Tree *tree, uint32_t i, Expr *length)
{
    *length = normal_length(tree);
    return carry_in(tree, &tree->normals, i, scale(*length, column(tree->ground.R, 2)));
}

Vec tr_up_in(Tree *tree, uint32_t i)
{
    if (!is_gravity_normal(tree)) return carry_in(tree, &tree->ups, i, flip(tree->gravity));
    Expr length;
    const Vec n = tr_normal_in(tree, i, &length);
    const Expr g = neg(dot(column(tree->ground.R, 2), tree->gravity));
    return scale(quotient(g, length), n);
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

// The point P of a link, which is r in its axes, as seen from the world and in its axes. A root
// that turns freely is seen in its own, where its velocities are.
static Course course_in_world(Tree *tree, uint32_t i, Vec r)
{
    if (i == WORLD || !hangs_freely(tree, i))
        return tr_course(tree, i, WORLD, apply(tr_pose_in(tree, i, WORLD).R, r),
                         vec_zero(tree->graph));
    const uint32_t top = tr_root_of(tree, i);
    const Link *root = &tree->links[top];
    const Pose X = tr_pose_in(tree, i, top);
    Course at = tr_course(tree, i, top, apply(X.R, r), vec_zero(tree->graph));
    cross_joint(&at, root->v, point_out(X, r), vec_zero(tree->graph));
    const Mat R = root->world.R;
    return (Course){apply(R, at.V), apply(R, at.W), apply(R, at.a), apply(R, at.alpha)};
}

// A root that turns freely is seen in its own axes, where its velocities are.
static void see_from_world(Tree *tree, uint32_t i, Anchor second, Meeting *m)
{
    const Mat R_on = second.pose.R;
    const Vec p_on = second.pose.p;
    const Mat R = m->body.pose.R;
    const Vec there = point_in(m->on.pose, point_out(m->body.pose, m->r));
    const Vec V = apply_transposed(m->on.pose.R, apply(R, velocity_at(&m->body, m->r)));
    const Vec W = apply_transposed(m->on.pose.R, apply(R, m->body.v.W));
    m->s = apply_transposed(R_on, minus(there, p_on));
    m->ds = apply_transposed(R_on, minus(V, velocity_at(&m->on, there)));
    m->W = apply_transposed(R_on, minus(W, m->on.v.W));
    const Course body = course_in_world(tree, i, m->r);
    const Vec r_on = second.link == WORLD ? there : tr_own_axes(tree, second.link, there);
    const Course on = course_in_world(tree, second.link, r_on);
    m->turning = apply_transposed(m->axes, on.W);
    m->a = apply_transposed(m->axes, minus(body.a, on.a));
    m->alpha = apply_transposed(m->axes, minus(body.alpha, on.alpha));
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
    const Course body = tr_course(tree, i, above, apply(X.R, m->r), vec_zero(tree->graph)),
                 there = tr_course(tree, on.link, above, minus(P, Y.p), vec_zero(tree->graph));
    m->s = point_in(Z, P);
    m->ds = apply_transposed(R, minus(body.V, there.V));
    m->W = apply_transposed(R, minus(body.W, there.W));
    m->R = turn_product(transpose(R), X.R);
    m->turning = apply_transposed(R, there.W);
    m->a = apply_transposed(R, minus(body.a, there.a));
    m->alpha = apply_transposed(R, minus(body.alpha, there.alpha));
}

void tr_tree_meeting(Tree *tree, Anchor body, Vec at, Anchor on, Meeting *m)
{
    const uint32_t i = body.link;
    m->body = tr_carrier(tree, i), m->on = tr_own_carrier(tree, on.link);
    m->first = body.pose, m->axes = turn_product(m->on.pose.R, on.pose.R);
    m->r = tr_own_axes(tree, i, point_out(body.pose, at));
    const bool free_root = hangs_freely(tree, i) || hangs_freely(tree, on.link);
    if (tr_common_carrier(tree, i, on.link) == WORLD && free_root) {
        see_from_world(tree, i, on, m);
        m->R = turn_product(transpose(m->axes), m->body.pose.R);
    } else
        see_from_above(tree, i, on, m);
    m->R = turn_product(m->R, i == WORLD ? mat_identity(tree->graph) : tree->links[i].spin);
    m->R = turn_product(m->R, body.pose.R);
}

// d.(a - 2 W_on x s')                                                                  (T124)
Expr tr_meeting_drift(const Meeting *m, Vec d, Vec slips)
{
    const Expr turned = dot(cross(d, m->turning), slips);
    return sub(dot(d, m->a), add(turned, turned));
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
                "'%.*s' is about a body; the world is named in 'against'", TEXT(element.text));
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
    touch->middle = touch->point, touch->radius = zero(tree->graph);
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
