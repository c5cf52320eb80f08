// SPDX-License-Identifier: Apache-2.0
// Where a wheel or a ball touches: a wheel at its lowest point. With the axle a and the ground's
// normal n, both unit:
//   d = -(n - (n.a) a) / |n - (n.a) a|,   P = O + radius d       (T44) [M 17, corrected]
#include "mech/rim.h"

// ---- axles ---------------------------------------------------------------------------------

// Whether a wheel turns about a hinge at its origin, with its middle `at` on the hinge's axis: else
// it slides along the axis, or is a cam.
static bool spins_about_joint(Tree *tree, uint32_t i, const Contact *contact, Vec at)
{
    const Link *link = &tree->links[i];
    if (contact->axis.given || !is_revolute(link) || !is_vec_zero(link->to)) return false;
    const Vec off = cross(apply(link->turn, at), link->axis);
    const Expr squares[] = {dot(off, off), dot(at, at)};
    if (is_zero(squares[0])) return true;
    const double now[] = {tr_tree_value(tree, squares[0]), tr_tree_value(tree, squares[1])};
    if (tr_rule_gives(RULE_ON_AXLE, now) == 0) return false; // its own axes suit it anywhere
    return tr_tree_decide(tree, RULE_ON_AXLE, squares, contact->at.place,
                          "the middle of the wheel '%.*s' stands on its axle",
                          WHOLE(contact->name.text)) != 0;
}

// A wheel whose axle a formula turns in its body turns with it about its middle, the shortest way:
// at a x a'                                                                            (T253)
static void turn_wheel(Carrier *c, Vec turning, Vec middle)
{
    c->v = motion(minus(c->v.V, cross(turning, middle)), plus(c->v.W, turning));
}

// The axle of a wheel, its middle, and axes in which both stand still: those of what carries the
// wheel, where it turns about the joint's own axis, so that its angle does not appear; else its
// own.
Carrier tr_wheel_carrier(Tree *tree, uint32_t i, const Contact *contact, Vec *a, Vec *middle)
{
    const Link *link = &tree->links[i];
    const Vec at = *middle = tr_tree_vector(tree, contact->at, "at");
    Carrier c = tr_carrier(tree, i);
    if (!contact->axis.given && is_vec_zero(link->axis))
        tr_fail(tree->err, TR_INVALID, contact->name.place,
                "the joint of '%.*s' has no axis: '%.*s' needs one", TEXT(link->body->name.text),
                TEXT(contact->name.text));
    if (has_failed(tree->err)) return c;
    if (!spins_about_joint(tree, i, contact, at)) {
        const Vec axle = tr_contact_axle(tree, i, contact);
        *a = tr_own_axes(tree, i, axle);
        *middle = tr_own_axes(tree, i, at);
        turn_wheel(&c, tr_own_axes(tree, i, cross(axle, tr_contact_turning(tree, axle))), *middle);
        if (tr_turns_by_itself(axle))
            tr_contact_watch_length(tree, contact, contact->axis, "axis",
                                    "the axis of '%.*s' is zero");
        return c;
    }
    *a = link->axis, *middle = apply(link->turn, at);
    const Carrier above = tr_carrier(tree, link->parent);
    const Vec spin = scale(tree->velocities[link->velocity].symbol, link->axis);
    c.pose.R = above.pose.R;
    c.v = motion(velocity_at(&above, link->X.p), plus(above.v.W, spin));
    return c;
}

// The same of a ball, which has no axle
Carrier tr_ball_carrier(Tree *tree, uint32_t i, const Contact *contact, Vec *middle)
{
    *middle = tr_own_axes(tree, i, tr_tree_vector(tree, contact->at, "at"));
    return tr_carrier(tree, i);
}

// ---- rims ----------------------------------------------------------------------------------

// r = (radius - tube) d - tube n of a wheel, -radius n of a ball                (T44) [M 17,
// corrected]
void tr_rim_find(Rim *rim)
{
    if (rim->wheel.is_ball) {
        rim->r = scale(neg(quotient(rim->wheel.radius, rim->length)), rim->n);
        return;
    }
    const Expr ring = sub(rim->wheel.radius, rim->wheel.tube);
    rim->lean = dot(rim->n, rim->a);
    rim->size = e_sqrt(sub(square(rim->length), square(rim->lean))); // for a is a unit
    rim->rim = scale(quotient(ring, rim->size), minus(scale(rim->lean, rim->a), rim->n));
    rim->r = minus(rim->rim, scale(quotient(rim->wheel.tube, rim->length), rim->n));
}

// On a sphere the normal goes through its middle, which is Q away from the wheel's:       (T195)
//   d = -+q / |q|,   q = Q - (Q.a) a,   n = +-(Q + ring d) / |Q + ring d|      outside, inside
static void find_rim_on_sphere(Rim *rim, Vec Q, bool is_inside)
{
    const Expr side = number(graph_of(Q.x), is_inside ? -1 : 1);
    if (rim->wheel.is_ball) {
        const Expr far = e_sqrt(dot(Q, Q));
        rim->n = scale(quotient(side, far), Q);
        rim->r = scale(neg(rim->wheel.radius), rim->n);
        rim->away = mul(side, far);
        return;
    }
    const Expr along = dot(Q, rim->a), ring = sub(rim->wheel.radius, rim->wheel.tube);
    const Vec q = minus(Q, scale(along, rim->a));
    const Expr off = e_sqrt(dot(q, q)), clear = sub(off, mul(side, ring)),
               far = e_sqrt(add(square(along), square(clear)));
    const Vec d = scale(neg(quotient(side, off)), q);
    rim->rim = scale(ring, d);
    rim->n = scale(quotient(side, far), plus(Q, rim->rim));
    rim->lean = quotient(mul(side, along), far), rim->size = quotient(clear, far);
    rim->r = minus(rim->rim, scale(rim->wheel.tube, rim->n));
    rim->away = mul(side, far);
}

Beneath tr_beneath(const Floor *floor, Pose X, Vec middle)
{
    const Pose f = floor->carrier.pose;
    Beneath out = {.axes = is_identity(f.R) ? transpose(X.R) : mat_product(transpose(X.R), f.R)};
    const Vec to_middle = minus(point_out(X, middle), point_out(f, floor->to));
    out.Q = apply_transposed(X.R, to_middle);
    return out;
}

// Along a roller, which turns with the heading as l does:                                (T300)
//   e = cos(angle) l + sin(angle) n x l
static void turn_to_roller(Rim *rim)
{
    const Vec l = rim->direction[1], m = rim->direction[2];
    rim->direction[1] = plus(scale(rim->wheel.along, l), scale(rim->wheel.across, m));
    rim->direction[2] = minus(scale(rim->wheel.along, m), scale(rim->wheel.across, l));
}

// With its directions; the rows of a ball follow the ground's axes.
static void take_rim_directions(Rim *rim, const Floor *floor, Mat axes)
{
    Graph *g = graph_of(rim->n.x);
    rim->direction[0] = rim->n;
    if (rim->wheel.is_ball) {
        if (floor->kind == SURFACE_PLANE)
            rim->direction[1] = column(axes, 0), rim->direction[2] = column(axes, 1);
        else
            tr_floor_directions(axes, rim->n, rim->direction + 1);
        rim->forward = rim->direction[1];
        return;
    }
    const Vec l = scale(quotient(one(g), rim->size), cross(rim->a, rim->n)); // forward, axle left
    rim->forward = rim->direction[1] = l, rim->direction[2] = cross(rim->n, l);
    if (rim->wheel.along.id) turn_to_roller(rim);
}

Rim tr_rim_of(Tree *tree, const Wheel *wheel, const Floor *floor, const Beneath *at, Vec a)
{
    Rim rim = {.wheel = *wheel, .a = a, .length = one(tree->graph)};
    if (floor->kind == SURFACE_SPHERE)
        find_rim_on_sphere(&rim, at->Q, floor->is_inside);
    else {
        rim.n = apply(at->axes, tr_floor_normal(tree, floor));
        tr_rim_find(&rim);
    }
    take_rim_directions(&rim, floor, at->axes);
    return rim;
}

// A wheel or a ball on a height; V is that of its middle, da of its axle
Resting tr_rim_resting(const Contact *contact, const Rim *rim, Mat axes, Expr gap, Vec V, Vec da)
{
    const bool opens = is_true(contact->unilateral);
    const Expr none = zero(graph_of(gap));
    return (Resting){.axes = axes,
                     .n = rim->n,
                     .l = rim->forward,
                     .m = rim->wheel.is_ball ? rim->direction[2] : cross(rim->n, rim->forward),
                     .a = rim->a,
                     .is_ball = rim->wheel.is_ball,
                     .ring = rim->wheel.is_ball ? none : sub(rim->wheel.radius, rim->wheel.tube),
                     .tube = rim->wheel.is_ball ? rim->wheel.radius : rim->wheel.tube,
                     .lean = rim->lean,
                     .size = rim->size,
                     .gap = opens ? gap : none,
                     .V = V,
                     .da = da};
}
