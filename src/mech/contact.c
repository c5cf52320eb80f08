// SPDX-License-Identifier: Apache-2.0
// Contacts: the velocity of a point of one body, as seen from the ground or another body (T43),
// along some direction, is zero (T45, T47, T48).
//
// A wheel touches the ground at its lowest point. With the axle a and the ground's normal n, both
// unit:   d = -(n - (n.a) a) / |n - (n.a) a|,   P = O + radius d       (T44) [M 17, corrected]
#include "expr/walk.h"
#include "mech/across.h"
#include "mech/surface.h"

#include <math.h>
#include <stdio.h>

#define FLAT   1e-6  // of sin^2 of the angle between a wheel and the ground
#define NEARLY 0.067 // likewise: 15 degrees
#define SHORT  1e-18 // of the square of a direction's length

// ---- one function per kind -----------------------------------------------------------------

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

// One that t and inputs may turn                                                       (T252)
static Vec turning_unit(Tree *tree, Value value, const char *what, const char *whose)
{
    const bool before = tree->constants_only;
    tree->constants_only = false;
    const Vec e = tr_tree_unit(tree, value, what);
    tree->constants_only = before;
    for (int k = 0; k < 3 && !has_failed(tree->err); k++)
        tr_tree_check_time_only(tree, value, vec_at(e, k), whose);
    return e;
}

Vec tr_contact_axle(Tree *tree, uint32_t i, const Contact *contact)
{
    if (contact->axis.given)
        return turning_unit(tree, contact->axis, "axis", "the axis of a wheel");
    return own_axis(&tree->links[i]);
}

Vec tr_contact_direction(Tree *tree, const Contact *contact)
{
    return turning_unit(tree, contact->direction, "direction", "the direction of a skate");
}

static bool turns_by_itself(Vec e)
{
    return !(tr_tree_is_constant(e.x) && tr_tree_is_constant(e.y) && tr_tree_is_constant(e.z));
}

// Of many skates it is worth not to ask.
Vec tr_contact_turning(Tree *tree, Vec e)
{
    return turns_by_itself(e) ? tr_tree_drift(tree, e) : vec_zero(tree->graph);
}

// Without a length it has no direction: a run ends there.
static void watch_length(Tree *tree, const Contact *contact, Value value, const char *what,
                         const char *words)
{
    char text[200];
    const bool before = tree->constants_only;
    tree->constants_only = false;
    const Vec a = tr_tree_vector(tree, value, what);
    tree->constants_only = before;
    const Expr square_length = dot(a, a);
    if (has_failed(tree->err) || is_one(square_length)) return;
    if (tr_tree_value(tree, tr_tree_at_start(tree, square_length)) == 0)
        tr_fail(tree->err, TR_INVALID, value.place,
                "the %s is zero at the start: it has no direction", what);
    snprintf(text, sizeof text, words, WHOLE(contact->name.text));
    tr_tree_note_name(tree, value.place, quotient(one(tree->graph), e_sqrt(square_length)),
                      square_length, text);
    tr_tree_alarm(tree, contact->name, words, sub(square_length, number(tree->graph, SHORT)),
                  ALARM_STOPS, NO_LATCH);
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
static Carrier find_axle(Tree *tree, uint32_t i, const Contact *contact, Vec *a, Vec *middle)
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
        if (turns_by_itself(axle))
            watch_length(tree, contact, contact->axis, "axis", "the axis of '%.*s' is zero");
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
static Carrier find_ball(Tree *tree, uint32_t i, const Contact *contact, Vec *middle)
{
    *middle = tr_own_axes(tree, i, tr_tree_vector(tree, contact->at, "at"));
    return tr_carrier(tree, i);
}

// ---- wheels and balls ----------------------------------------------------------------------

typedef struct Wheel {
    bool is_ball;
    Expr radius, tube;
    Expr along, across; // of rollers: cosine and sine of their angle; id 0: it has none
} Wheel;

// Where a wheel or a ball touches, in some axes: its axle a (nothing of a ball), the ground's
// normal n, and r from its middle to the point that touches.
typedef struct Rim {
    Wheel wheel;
    Vec a, n;
    Expr length;     // of n
    Expr lean, size; // n.a, |n - (n.a) a|
    Vec rim;         // the part of r across the axle: (radius - tube) d
    Vec r;
    Vec forward;      // l
    Vec direction[3]; // of the rows: normal, longitudinal or along the roller, across both
    Expr away;        // on a sphere: how far its ring is from the sphere's middle; negative inside
} Rim;

// r = (radius - tube) d - tube n of a wheel, -radius n of a ball                (T44) [M 17,
// corrected]
static void find_rim(Rim *rim)
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

// The axes of the floor, and the middle of a sphere as seen from that of the wheel, in other axes
typedef struct Beneath {
    Mat axes;
    Vec Q;
} Beneath;

static Beneath beneath(const Floor *floor, Pose X, Vec middle)
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

static Rim rim_of(Tree *tree, const Wheel *wheel, const Floor *floor, const Beneath *at, Vec a)
{
    Rim rim = {.wheel = *wheel, .a = a, .length = one(tree->graph)};
    if (floor->kind == SURFACE_SPHERE)
        find_rim_on_sphere(&rim, at->Q, floor->is_inside);
    else {
        rim.n = apply(at->axes, tr_floor_normal(tree, floor));
        find_rim(&rim);
    }
    take_rim_directions(&rim, floor, at->axes);
    return rim;
}

// The link in whose axes the three rows of a wheel are eliminated: the root, if it is near
static uint32_t row_axes(const Tree *tree, uint32_t i)
{
    enum { NEAR = 3 };
    uint32_t depth = 0;
    for (uint32_t k = tree->links[i].parent; k != WORLD; k = tree->links[k].parent) depth++;
    if (depth <= NEAR || tr_tree_bends(tree)) return tr_root_of(tree, i);
    return tree->links[i].parent;
}

// How the floor moves at a point P of a link's axes, and its drift, in these axes
static Course floor_in(Tree *tree, const Floor *floor, const Link *axes, Vec P)
{
    const Vec nothing = vec_zero(tree->graph);
    if (floor->link == WORLD) return (Course){nothing, nothing, nothing, nothing};
    const Vec arm = minus(point_out(axes->world, P), floor->carrier.pose.p);
    const Course at = tr_course(tree, floor->link, WORLD, arm, nothing);
    const Mat R = axes->world.R;
    return (Course){apply_transposed(R, at.V), apply_transposed(R, at.W), apply_transposed(R, at.a),
                    apply_transposed(R, at.alpha)};
}

// On a base that turns freely. A floor that does so, too, would have to be seen through the world.
// Contacts that open there keep their own rows: there are mostly more than hold anything, and what
// is least among these is shorter.
static bool can_be_inner(const Tree *tree, uint32_t i, const Contact *contact, const Floor *floor)
{
    if (!turns_freely(&tree->links[tr_root_of(tree, i)])) return false;
    if (floor->kind == SURFACE_SPHERE) return false;
    if (floor->link == WORLD) return true;
    return floor->kind == SURFACE_PLANE && !is_true(contact->unilateral) &&
           !turns_freely(&tree->links[tr_root_of(tree, floor->link)]);
}

// The axle of a wheel in the axes of a link above it, and its spin about it; false where its axle
// stands still in none of the axes that there are
static bool axle_in(Tree *tree, uint32_t i, const Contact *contact, uint32_t above, Vec *a,
                    Expr *spin)
{
    const Link *link = &tree->links[i];
    *spin = zero(tree->graph);
    if (contact->axis.given) {
        const Vec own = tr_own_axes(tree, i, tr_contact_axle(tree, i, contact));
        *a = apply(tr_pose_in(tree, i, above).R, own);
        return !link->carried && !turns_by_itself(own); // its own axes spin, or it turns in them
    }
    *a = apply(tr_pose_in(tree, link->parent, above).R, link->axis);
    *spin = tree->velocities[link->velocity].symbol;
    return true;
}

// The rows once more, by the velocity of the contact point in the axes of the root, or of a link
// nearer by: there a free root's own velocity has unit slopes. The wheel turns at W, what carries
// it at Wc = W - s a and at w as seen from these axes, which turn at W0. The floor goes at F where
// the wheel's middle O is, and turns at Wf; all but W0 and w is as seen from the floor (T46):
//
//   V_P = V_O - F + W x r,   V_P' = V_O' - F' + W' x r + W x r',   F' = a_f + Wf x (V_O - F) - W0 x
//   F r = rim - tube n,        r' = (w + chi a) x rim - tube n',     n' = n x (W0 - Wf)
//
// where the contact runs round the rim at chi, for it stays below the axle, and its heading turns
// at psi, with k = Wc.d / |n - (n.a) a|:
//   chi = -Wc.a - (n.a) k,   psi = -k
typedef struct InnerRolling {
    Rim rim;
    Vec V, drift; // of the point
    Vec turning;  // of the axes
    Expr heading; // psi
    Expr spin;    // s
    Vec hub, W;   // V_O - F, W
    Vec dhub, dW; // their drifts
    Vec dn;       // how the normal turns as the contact moves, where the floor is not flat
} InnerRolling;

// A wheel or a ball on a height; V is that of its middle, da of its axle
static Resting resting_on(const Contact *contact, const Rim *rim, Mat axes, Expr gap, Vec V, Vec da)
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

// r' = c - V_O; psi = (u l.n' - l.a') / s                                               (T188)
static Vec follow_height(InnerRolling *out, const Contact *contact, const Floor *floor, Mat axes,
                         Vec da, Vec W0)
{
    const Rim *rim = &out->rim;
    const Expr none = zero(graph_of(rim->n.x)); // rows hold where it is closed
    const Resting at = resting_on(contact, rim, axes, none, out->hub, da);
    const Creeping moves = tr_creeping(floor, &at);
    out->dn = moves.dn;
    if (!rim->wheel.is_ball)
        out->heading = quotient(sub(mul(rim->lean, dot(at.l, moves.dn)), dot(at.l, da)), rim->size);
    return minus(minus(moves.c, out->hub), cross(W0, rim->r));
}

// The directions of a ball's rows turn in a way of their own where the floor is not flat.
static bool slips_somehow(const Contact *contact)
{
    return tr_slips(contact->longitudinal) || tr_slips(contact->lateral) || is_true(contact->stick);
}

static bool find_inner(Tree *tree, uint32_t i, const Contact *contact, const Floor *floor,
                       const Wheel *wheel, InnerRolling *out)
{
    const bool is_ball = wheel->is_ball;
    const uint32_t root = tr_root_of(tree, i),
                   top = floor->link == WORLD ? row_axes(tree, i) : root;
    const Link *axes = &tree->links[top];
    Vec a = vec_zero(tree->graph);
    Expr s = zero(tree->graph);
    Motion still;
    if (contact->at.given || !can_be_inner(tree, i, contact, floor)) return false;
    if (is_ball && floor->kind == SURFACE_HEIGHT && slips_somehow(contact)) return false;
    if (!is_ball && !axle_in(tree, i, contact, top, &a, &s)) return false;
    if (!tr_link_drift(tree, top, &still)) return false;
    // of inner forests the world's poses are those of roots alone
    const Mat R = mat_product(tree->links[root].world.R, tr_pose_in(tree, top, root).R);
    const Beneath under = beneath(floor, (Pose){R, vec_zero(tree->graph)}, vec_zero(tree->graph));
    const Rim rim = rim_of(tree, wheel, floor, &under, a);
    const Vec O = tr_pose_in(tree, i, top).p, W0 = axes->v.W;
    const Course p = tr_course(tree, i, top, vec_zero(tree->graph), W0);
    const Course f = floor_in(tree, floor, axes, O);
    const Vec V = minus(plus(p.V, plus(axes->v.V, cross(W0, O))), f.V), turning = minus(W0, f.W);
    const Vec W = plus(p.W, turning), Wc = minus(W, scale(s, a)), w = minus(Wc, turning);
    const Vec dO = plus(p.a, plus(still.V, cross(still.W, O)));
    const Vec dF = minus(plus(f.a, cross(f.W, V)), cross(W0, f.V));
    const Vec dW = minus(plus(p.alpha, still.W), minus(f.alpha, cross(W0, f.W)));
    Vec dr = scale(neg(is_ball ? wheel->radius : wheel->tube), cross(rim.n, turning));
    const Vec nothing = vec_zero(tree->graph);
    *out = (InnerRolling){.rim = rim,
                          .turning = turning,
                          .heading = zero(tree->graph),
                          .spin = s,
                          .hub = V,
                          .W = W,
                          .dhub = minus(dO, dF),
                          .dW = dW,
                          .dn = nothing};
    if (floor->kind == SURFACE_HEIGHT)
        dr = follow_height(out, contact, floor, under.axes, cross(Wc, a), W0);
    else if (!is_ball) {
        const Expr ring = sub(wheel->radius, wheel->tube), ahead = dot(Wc, rim.rim);
        const Expr along = quotient(quotient(rim.lean, rim.size), ring);
        const Expr chi = neg(add(dot(Wc, a), mul(along, ahead)));
        dr = plus(dr, cross(plus(w, scale(chi, a)), rim.rim));
        out->heading = neg(quotient(ahead, mul(rim.size, ring)));
    }
    out->V = plus(V, cross(W, rim.r));
    out->drift = plus(plus(out->dhub, cross(dW, rim.r)), cross(W, dr));
    return true;
}

// n.V_P of a wheel, for r x n = (radius - tube) (n.a) l                                  (T127)
static Expr normal_rate(const InnerRolling *at)
{
    const Rim *rim = &at->rim;
    if (rim->wheel.is_ball) return dot(rim->n, at->V);
    const Expr lever = mul(sub(rim->wheel.radius, rim->wheel.tube), rim->lean);
    return add(dot(rim->n, at->hub), mul(lever, dot(rim->forward, at->W)));
}

// Its drift, with A and alpha of the wheel's middle and of what carries it, q = l.Wc, u = n.a and
// z = |n - (n.a) a|:                                                                     (T127)
//   n.A + (radius - tube) (u l.alpha + (u (Wc.a Wc.n - |Wc|^2 u) + q^2) / z)
static Expr normal_drift(const InnerRolling *at)
{
    const Rim *rim = &at->rim;
    const Vec n = rim->n, a = rim->a, l = rim->forward;
    const Vec Wc = minus(at->W, scale(at->spin, a));
    const Vec A = plus(at->dhub, cross(at->turning, at->hub));
    const Vec alpha = plus(at->dW, cross(at->turning, at->W)); // of the wheel
    const Expr ring = sub(rim->wheel.radius, rim->wheel.tube), u = rim->lean;
    const Expr bent = sub(mul(ring, dot(l, alpha)), mul(at->spin, dot(Wc, rim->rim)));
    const Expr bow = sub(mul(dot(Wc, a), dot(Wc, n)), mul(dot(Wc, Wc), u));
    return add(add(dot(n, A), mul(u, bent)),
               mul(quotient(ring, rim->size), add(mul(u, bow), square(dot(Wc, l)))));
}

// One row after the other. Directions l and m = n x l turn with the heading, where what slips, V_S,
// is not zero; a normal that stands alone needs no more than how the wheel leans:           (T125)
//   (d.V_P)' = d.(V_P' + (W0 - Wf) x V_S) + psi {0, m, -l}.V_S
static void roll_singly(Tree *tree, const Contact *contact, const InnerRolling *at,
                        const Expr slip[3])
{
    System *s = tree->system;
    const Vec *d = at->rim.direction;
    const Vec slips = plus(scale(slip[1], d[1]), scale(slip[2], d[2]));
    const Vec drift = plus(at->drift, cross(at->turning, slips));
    const Expr turned[3] = {dot(at->dn, slips), mul(at->heading, slip[2]),
                            neg(mul(at->heading, slip[1]))};
    uint32_t count = 0;
    for (int k = 0; k < 3; k++) {
        const uint32_t i = tr_tree_find_row(tree, contact->name, tr_contact_part(contact, k));
        if (i == s->row_count) continue;
        Row *row = &s->rows[i];
        const Expr rate = k == 0 ? normal_rate(at) : dot(d[k], at->V);
        row->inner_slopes = tr_tree_slopes(tree, rate, &row->inner_rest);
        row->inner_bias = add(dot(d[k], drift), turned[k]);
        count++;
    }
    const uint32_t normal = tr_tree_find_row(tree, contact->name, tr_contact_part(contact, 0));
    if (count == 1 && normal < s->row_count && !at->rim.wheel.is_ball && is_vec_zero(at->dn))
        s->rows[normal].inner_bias = normal_drift(at);
}

// ---- along the tree ------------------------------------------------------------------------

// A vector of a link's axes in those of a link above it
static Vec out_to(const Tree *tree, uint32_t i, uint32_t above, Vec a)
{
    for (; i != above; i = tree->links[i].parent) a = out_of(&tree->links[i], a);
    return a;
}

// The axis of a wheel's hinge in the axes of what carries it
static Vec axle_on_carrier(const Tree *tree, const Link *link)
{
    return out_of(link, tree->velocities[link->velocity].S.W);
}

// What carries a wheel turns at Wc, in whose axes all of this is; the contact runs round the rim at
// chi (T46, T180). V_P stays zero, so its rate is the same in all axes. Beyond what the hub's
// acceleration and the carrier's beginning to turn make of it, with U = Wc + chi a and W = Wc + s a
// that is   s (Wc x a) x r + W x (U x rim) = (Wc.rim) (U + s a) - (W.U) rim - s tube (Wc x a) x n
static Vec rolling_drift(const Rim *rim, Expr s, Vec Wc)
{
    if (rim->wheel.is_ball) return vec_zero(graph_of(s));
    const Expr e = dot(Wc, rim->rim), along = dot(Wc, rim->a);
    const Expr run = neg(
        mul(quotient(quotient(rim->lean, rim->size), sub(rim->wheel.radius, rim->wheel.tube)), e));
    const Vec across = minus(Wc, scale(along, rim->a));
    const Expr WU = add(dot(across, across), mul(add(along, s), run));
    const Vec drift =
        minus(scale(e, plus(across, scale(add(run, s), rim->a))), scale(WU, rim->rim));
    if (is_zero(rim->wheel.tube)) return drift;
    const Expr tube = quotient(rim->wheel.tube, rim->length);
    return minus(drift, scale(mul(s, tube), cross(cross(Wc, rim->a), rim->n)));
}

// A point of a link in its parent's axes
static Vec point_through(const Link *link, Vec p)
{
    if (!link->split) return point_out(link->X, p);
    return point_out(link->first, point_out(link->second, p));
}

static const int row_order[] = {2, 0, 1}; // as tr_tree_inner_rows has them

// The axes that the rows have in the forest that they were made in, in those of this one
typedef struct RowAxes {
    Vec e[3]; // by row
} RowAxes;

static RowAxes axes_of_rows(const Tree *tree, uint32_t axes)
{
    const Mat K = turn_product(tree->links[axes].spin, transpose(tree->inner->links[axes].spin));
    RowAxes out;
    for (int k = 0; k < 3; k++) out.e[k] = column(K, row_order[k]);
    return out;
}

// A velocity that moves the point, V in the axes of the three rows
static void take_behind(Tree *tree, const uint32_t rows[3], const RowAxes *at, uint32_t place,
                        Vec V)
{
    for (int k = 0; k < 3; k++) {
        Row *row = &tree->system->rows[rows[k]];
        const Expr slope = dot(at->e[k], V);
        if (!is_zero(slope)) row->behind[row->behind_count++] = (struct SlopeBehind){place, slope};
    }
}

// The point that touches as seen from the link in whose axes the rows are, and how joints on the
// way there move it: `point` is in the axes of what carries a wheel that spins, or of the link
// itself
static Vec take_levers(Tree *tree, uint32_t i, uint32_t axes, Vec point, const uint32_t rows[3])
{
    const RowAxes at = axes_of_rows(tree, axes);
    uint32_t most = 0;
    for (uint32_t k = i; k != axes; k = tree->links[k].parent)
        most += tree->links[k].velocity_count;
    for (int k = 0; k < 3; k++)
        if (!tr_row_behind(tree, &tree->system->rows[rows[k]], most)) return point;
    for (; i != axes; i = tree->links[i].parent) {
        const Link *link = &tree->links[i];
        const bool spins = link->carried;
        const Vec arm = spins ? minus(point, link->X.p) : point;
        for (uint32_t k = 0; k < link->velocity_count; k++) {
            const Motion S = tree->velocities[link->velocity + k].S;
            const Vec W = spins ? out_of(link, S.W) : S.W;
            const Vec V = plus(S.V, cross(W, arm));
            take_behind(tree, rows, &at, link->velocity + k,
                        out_to(tree, spins ? link->parent : i, axes, V));
        }
        if (!spins) point = point_through(link, point);
    }
    return point;
}

// The rows' own directions, in the axes that they are eliminated in, by the same normal
static void take_directions(Tree *tree, const Contact *contact, const Rim *rim, uint32_t carrier,
                            uint32_t axes, const uint32_t rows[3])
{
    Graph *g = tree->graph;
    Expr length;
    for (int k = 0; k < 3; k++) {
        Row *row = &tree->system->rows[rows[k]];
        memcpy(row->mix_along, row->mix, sizeof row->mix);
    }
    if (rim->wheel.is_ball || contact->axis.given) return;
    const Vec up = tr_normal_in(tree, axes, &length), a = out_to(tree, carrier, axes, rim->a);
    const Vec n = scale(quotient(one(g), length), up);
    const Vec l = scale(quotient(one(g), rim->size), cross(a, up)), d[] = {n, l, cross(n, l)};
    const RowAxes at = axes_of_rows(tree, axes);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) tree->system->rows[rows[k]].mix_along[i] = dot(at.e[i], d[k]);
}

bool tr_rolling_along(Tree *tree, const Contact *contact, const uint32_t rows[3], Rolling *out)
{
    Graph *g = tree->graph;
    const uint32_t i = tr_tree_find(tree, contact->body.text), axes = row_axes(tree, i);
    const Link *link = &tree->links[i];
    const bool is_ball = text_is(contact->shape.text, "ball");
    const bool spins = !is_ball && !contact->axis.given;
    const uint32_t carrier = spins ? link->parent : i;
    Vec a = vec_zero(g), hub = link->origin;
    if (spins) a = axle_on_carrier(tree, link), hub = link->X.p;
    if (!is_ball && !spins) a = apply(link->spin, tr_contact_axle(tree, i, contact));
    if (link->carried != spins || tree->links[carrier].carried) return false;
    Rim rim = {.wheel = {.is_ball = is_ball,
                         .radius = tr_tree_formula(tree, contact->radius),
                         .tube = tr_tree_formula(tree, contact->tube)},
               .a = a};
    rim.n = tr_normal_in(tree, carrier, &rim.length);
    find_rim(&rim);
    const Expr s = spins ? tree->velocities[link->velocity].symbol : zero(g);
    const Accelerated at = tr_tree_accelerated_behind(tree, carrier, axes);
    const Vec a_O = plus(at.a, apply(at.D, hub)), point = plus(hub, rim.r);
    const Vec own = rolling_drift(&rim, s, tree->links[carrier].v.W);
    const Vec drift = out_to(tree, carrier, axes, plus(plus(a_O, cross(at.alpha, rim.r)), own));
    const Vec lever = take_levers(tree, i, axes, point, rows);
    const RowAxes at_rows = axes_of_rows(tree, axes);
    for (int k = 0; k < 3; k++) {
        Row *row = &tree->system->rows[rows[k]];
        const Vec e = at_rows.e[k];
        tr_row_along(row, axes, wrench(e, cross(lever, e)));
        row->drift = dot(e, drift);
    }
    take_directions(tree, contact, &rim, carrier, axes, rows);
    const Vec runs = cross(rim.r, a);
    *out =
        (Rolling){.link = carrier,
                  .hub = hub,
                  .point = point,
                  .arm = rim.r,
                  .drift = own,
                  .spin = spins ? link->velocity : NO_LINK,
                  .runs = spins ? runs : vec_zero(g),
                  .square = is_zero(rim.wheel.tube) ? square(rim.wheel.radius) : dot(runs, runs)};
    for (int k = 0; k < 3; k++) out->rows[k] = rows[k];
    return true;
}

static void check_radii(Tree *tree, const Contact *contact, const Wheel *wheel)
{
    const bool is_ball = wheel->is_ball;
    const Expr radius = wheel->radius, tube = wheel->tube;
    const char *what = is_ball ? "ball" : "wheel";
    const Text name = contact->name.text;
    const Place place = contact->radius.given ? contact->radius.place : contact->name.place;
    if (!tr_tree_is(tree, RULE_POSITIVE, radius, place, "the radius of '%.*s' is positive",
                    WHOLE(name)))
        tr_fail(tree->err, TR_INVALID, place, "the %s '%.*s' needs a positive radius", what,
                TEXT(name));
    else if (contact->tube.given && is_ball)
        tr_fail(tree->err, TR_INVALID, contact->tube.place, "a ball has no tube");
    else if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, tube, contact->tube.place,
                         "the tube of '%.*s' is not negative", WHOLE(name)))
        tr_fail(tree->err, TR_INVALID, contact->tube.place,
                "the tube of a tyre has a radius that is not negative");
    else if (!tr_tree_is(tree, RULE_POSITIVE, sub(radius, tube), contact->tube.place,
                         "the tube of '%.*s' is thinner than its radius", WHOLE(name)))
        tr_fail(tree->err, TR_INVALID, contact->tube.place,
                "the tube of a tyre is thinner than the wheel's radius");
    else if (is_ball && contact->axis.given)
        tr_fail(tree->err, TR_INVALID, contact->axis.place, "a ball has no axle");
}

// In the axes of the carrier c: how far the contact has run forward from below the axle
static Expr rim_angle(Tree *tree, const Rim *rim)
{
    Graph *g = tree->graph;
    const Vec z = vec_unit(g, 2), down = minus(scale(dot(z, rim->a), rim->a), z);
    const Vec forward = cross(rim->a, z);
    return tr_build(OP_ATAN2, dot(rim->rim, forward), dot(rim->rim, down), zero(g));
}

const char *tr_contact_part(const Contact *contact, int k)
{
    static const char *const names[] = {"normal", "longitudinal", "lateral"};
    return k == 1 && contact->roller.given ? "roller" : names[k];
}

static Touch *note_touch(Tree *tree, const Contact *contact, const Carrier *c, Vec r, Mat axes)
{
    Touch *touch = tr_tree_touch(tree, tr_tree_anchor(tree, contact->body).link, c, r, axes);
    touch->contact = contact;
    return touch;
}

// One that formulas and results know, with its three directions in the axes of its carrier
static Touch *note_recorded(Tree *tree, const Contact *contact, const Carrier *c, Vec r,
                            const Vec direction[3])
{
    Touch *touch = note_touch(tree, contact, c, r, mat_identity(tree->graph));
    touch->is_recorded = true;
    for (int k = 0; k < (contact->roller.given ? 2 : 3); k++)
        tr_touch_part(touch, tr_contact_part(contact, k), apply(c->pose.R, direction[k]));
    return touch;
}

// Three rows: the velocity V of the touching point along the normal, and along the other two
// directions where it does not slip                             (T45) [M 7.2; B 46, corrected]
// Across the axis of a roller nothing holds.                                             (T300)
static void roll(Tree *tree, const Contact *contact, const Rim *rim, Vec V, Vec V_middle,
                 Expr height, Expr slipping[3])
{
    Graph *g = tree->graph;
    const Value laws[] = {{{0}, {0}, false}, contact->longitudinal, contact->lateral};
    const int held = contact->roller.given ? 2 : 3;
    // Models in the plane need not say how high their wheels are.
    const bool rises = tr_system_uses(tree->system, height, TR_POSITION) != NULL;
    Slip slip = {.contact = contact, .ahead = dot(rim->direction[1], V_middle), .lean = zero(g)};
    if (!rim->wheel.is_ball) slip.lean = tr_build(OP_ASIN, rim->lean, rim->lean, rim->lean);
    for (int k = 0; k < 2; k++) slip.both[k] = dot(rim->direction[k + 1], V);
    slipping[2] = slip.both[1];
    for (int k = 0; k < held; k++) {
        const Expr rate = dot(rim->direction[k], V);
        slip.part = tr_contact_part(contact, k), slip.law = laws[k], slip.rate = rate;
        slip.sticks = k && tr_is_coulomb(laws[k]) && is_true(contact->stick);
        slip.row = tree->system->row_count;
        slipping[k] = k && tr_slips(laws[k]) ? rate : zero(g);
        if (k && tr_slips(laws[k])) tr_tree_slip(tree, &slip);
        if (!k || !tr_slips(laws[k]) || slip.sticks)
            tr_tree_row(tree, contact->name, tr_contact_part(contact, k), rate,
                        k == 0 && rises ? height : expr_at(g, 0), expr_at(g, 0), QUANTITY_FORCE);
    }
}

static void refuse_flat(Tree *tree, const Contact *contact)
{
    tr_fail(
        tree->err, TR_INVALID, contact->axis.given ? contact->axis.place : contact->name.place,
        "the axle of the wheel '%.*s' stands upright on what it rolls on: it lies flat, and has "
        "no point that touches",
        TEXT(contact->name.text));
}

// A wheel that lies flat has no lowest point.                                            (T44)
static void watch_lean(Tree *tree, const Contact *contact, Touch *touch, const Rim *rim)
{
    Graph *g = tree->graph;
    touch->angle = rim_angle(tree, rim);
    touch->upright = square(rim->size);
    const Expr margin = sub(touch->upright, number(g, FLAT));
    if (tr_tree_is_constant(margin)) {
        if (!tr_tree_is(tree, RULE_POSITIVE, margin, contact->name.place,
                        "the wheel '%.*s' does not lie flat", WHOLE(contact->name.text)))
            refuse_flat(tree, contact);
        return;
    }
    tr_tree_alarm(tree, contact->name, "the wheel '%.*s' lies flat", margin, ALARM_STOPS, NO_LATCH);
    tr_tree_alarm(tree, contact->name, "the wheel '%.*s' nearly lies flat",
                  sub(touch->upright, number(g, NEARLY)), ALARM_WARNS, NO_LATCH);
}

// Where the ground curves as the wheel does there is no one point that touches.           (T188)
static void watch_hollow(Tree *tree, const Contact *contact, bool is_ball)
{
    System *s = tree->system;
    if (tree->graph->failed) return;
    Touching *touching = &s->touchings[s->touching_count - 1];
    touching->row = tr_tree_find_row(tree, contact->name, tr_contact_part(contact, 0));
    if (touching->row == s->row_count && s->order == 1) touching->row = NO_TOUCHING_ROW;
    if (touching->row == s->row_count) {
        tr_fail(tree->err, TR_INVALID, contact->name.place,
                "'%.*s' cannot leave the surface that it is on, whatever moves: it needs no height",
                TEXT(contact->name.text));
        return;
    }
    tr_tree_alarm(tree, contact->name,
                  is_ball ? "the ground curves more than the ball '%.*s'"
                          : "the ground curves more than the wheel '%.*s'",
                  touching->margin, ALARM_HOLLOW, NO_LATCH);
    if (tree->graph->failed) return;
    s->alarms[s->alarm_count - 1].touching = s->touching_count - 1;
}

// On a plane: of the point below the wheel
static Expr gap_on_plane(const Floor *floor, const Carrier *c, const Rim *rim, Vec r)
{
    const Pose f = floor->carrier.pose;
    const Vec to = point_out(f, floor->to);
    return add(dot(column(f.R, 2), minus(c->pose.p, to)), dot(rim->n, r));
}

// On a height, with all that the system has to know of where it touches
static Expr gap_on_height(Tree *tree, const Contact *contact, const Floor *floor,
                          const Beneath *under, const Rim *rim, const Carrier *c, Vec middle,
                          Expr *margin)
{
    const Vec O = apply_transposed(under->axes, under->Q),
              P = plus(O, apply_transposed(under->axes, rim->r));
    const Vec D = minus(P, vec(floor->x, floor->y, floor->f));
    const Vec W = minus(c->v.W, apply(under->axes, floor->carrier.v.W));
    const Vec V = tr_velocity_on(&floor->carrier, c, middle);
    const Resting at = resting_on(contact, rim, under->axes, dot(tr_floor_normal(tree, floor), D),
                                  V, cross(W, rim->a));
    const Creeping moves = tr_creeping(floor, &at);
    Expr gap = zero(tree->graph);
    tr_touch_add(tree, contact, floor, O, P, &at, &moves, &gap);
    *margin = moves.margin;
    return gap;
}

// (1 - k B) (1 - tube B), as T187 has it for B = -1 / radius outside, 1 / radius inside
static Expr margin_on_sphere(const Floor *floor, const Rim *rim)
{
    const Expr unit = one(graph_of(rim->n.x)),
               tube = rim->wheel.is_ball ? rim->wheel.radius : rim->wheel.tube;
    const Expr B = quotient(floor->is_inside ? unit : neg(unit), floor->radius);
    const Expr ring = rim->wheel.is_ball
                          ? zero(graph_of(unit))
                          : quotient(sub(rim->wheel.radius, rim->wheel.tube), rim->size);
    return mul(sub(unit, mul(add(ring, tube), B)), sub(unit, mul(tube, B)));
}

// How far a wheel or ball is from touching; and how much flatter what it is on is
static Expr gap_of(Tree *tree, const Contact *contact, const Floor *floor, const Beneath *under,
                   const Rim *rim, const Carrier *c, Vec middle, Expr *margin)
{
    *margin = expr_at(tree->graph, 0);
    switch (floor->kind) {
    case SURFACE_SPHERE:
        *margin = margin_on_sphere(floor, rim);
        return sub(floor->is_inside ? add(rim->away, floor->radius) : sub(rim->away, floor->radius),
                   rim->wheel.is_ball ? rim->wheel.radius : rim->wheel.tube);
    case SURFACE_HEIGHT: return gap_on_height(tree, contact, floor, under, rim, c, middle, margin);
    default: return gap_on_plane(floor, c, rim, plus(middle, rim->r));
    }
}

static void set_uneven(Tree *tree, const Contact *contact, int part, Expr rate)
{
    const uint32_t i = tr_tree_find_row(tree, contact->name, tr_contact_part(contact, part));
    if (i < tree->system->row_count) tree->system->rows[i].uneven = rate;
}

// The rows where the ground below the wheel slopes another way, for the doctor           (T196)
static void tilt_ground(Tree *tree, const Contact *contact, const Floor *floor,
                        const Beneath *under, const Rim *flat, const Carrier *c, Vec middle)
{
    const uint32_t normal = tr_tree_find_row(tree, contact->name, tr_contact_part(contact, 0));
    if (normal == tree->system->row_count) return; // a model in the plane stays there
    const Floor tilted = tr_floor_tilted(tree, floor);
    const Rim rim = rim_of(tree, &flat->wheel, &tilted, under, flat->a);
    const Vec V = tr_velocity_on(&floor->carrier, c, plus(middle, rim.r));
    for (int k = 0; k < 3; k++) set_uneven(tree, contact, k, dot(rim.direction[k], V));
}

static void check_fits(Tree *tree, const Contact *contact, const Floor *floor, Expr radius)
{
    if (!tr_tree_is(tree, RULE_POSITIVE, sub(floor->radius, radius), contact->radius.place,
                    "'%.*s' is smaller than the sphere that it is in", WHOLE(contact->name.text)))
        tr_fail(tree->err, TR_INVALID, contact->radius.place,
                "'%.*s' is larger than the sphere that it is in", TEXT(contact->name.text));
}

// Rollers turn freely about their axes, so there is nothing to say of what is across.       (T300)
static void take_rollers(Tree *tree, const Contact *contact, Wheel *wheel)
{
    if (!contact->roller.given || has_failed(tree->err)) return;
    if (wheel->is_ball)
        tr_fail(tree->err, TR_INVALID, contact->roller.place, "a ball has no rollers");
    if (contact->lateral.given)
        tr_fail(tree->err, TR_INVALID, contact->lateral.place,
                "'%.*s' has a 'roller', across whose axis it goes freely: it has no use for "
                "'lateral'; 'longitudinal' is the law along the axis",
                TEXT(contact->name.text));
    const Expr angle = tr_tree_constant(tree, contact->roller, "roller");
    if (has_failed(tree->err)) return;
    wheel->along = e_cos(angle), wheel->across = e_sin(angle);
}

static Wheel wheel_of(Tree *tree, const Contact *contact)
{
    Wheel wheel = {.is_ball = text_is(contact->shape.text, "ball")};
    if (!wheel.is_ball && !text_is(contact->shape.text, "wheel"))
        tr_fail(tree->err, TR_INVALID, contact->shape.place,
                "what rolls is a wheel or a ball, not a '%.*s'", TEXT(contact->shape.text));
    wheel.radius = tr_tree_formula(tree, contact->radius);
    wheel.tube = tr_tree_formula(tree, contact->tube);
    if (has_failed(tree->err)) return wheel;
    check_radii(tree, contact, &wheel);
    take_rollers(tree, contact, &wheel);
    tr_tree_check_laws(tree, contact);
    return wheel;
}

static void make_rolling(Tree *tree, const Contact *contact)
{
    Graph *g = tree->graph;
    const uint32_t i = tr_tree_touching(tree, contact->body, contact->name);
    const Wheel wheel = wheel_of(tree, contact);
    const bool is_ball = wheel.is_ball;
    if (has_failed(tree->err)) return;
    Vec a = vec_zero(g), middle = a;
    const Carrier c =
        is_ball ? find_ball(tree, i, contact, &middle) : find_axle(tree, i, contact, &a, &middle);
    if (has_failed(tree->err)) return;
    Floor floor = tr_floor(tree, contact);
    if (floor.kind == SURFACE_HEIGHT) tr_touch_symbols(tree, contact, &floor);
    if (floor.is_inside && !has_failed(tree->err)) check_fits(tree, contact, &floor, wheel.radius);
    if (has_failed(tree->err)) return;
    const Beneath under = beneath(&floor, c.pose, middle);
    const Rim rim = rim_of(tree, &wheel, &floor, &under, a);
    const Vec r = plus(middle, rim.r);
    Expr margin;
    const Expr height = gap_of(tree, contact, &floor, &under, &rim, &c, middle, &margin);
    const uint32_t before = tree->system->row_count;
    Expr slipping[3];
    InnerRolling inner;
    roll(tree, contact, &rim, tr_velocity_on(&floor.carrier, &c, r),
         tr_velocity_on(&floor.carrier, &c, middle), height, slipping);
    if (floor.link == WORLD && floor.kind != SURFACE_SPHERE)
        tilt_ground(tree, contact, &floor, &under, &rim, &c, middle);
    // Rows that open one by one are eliminated one by one.
    const bool is_whole = tree->system->row_count == before + 3 && !is_true(contact->stick);
    if (find_inner(tree->inner, i, contact, &floor, &wheel, &inner)) {
        if (is_whole) // they are the velocity itself, in other axes
            tr_tree_inner_rows(tree->inner, inner.V, inner.drift, inner.rim.direction);
        else
            roll_singly(tree->inner, contact, &inner, slipping);
    }
    Touch *touch = note_recorded(tree, contact, &c, r, rim.direction);
    touch->middle = point_out(c.pose, middle), touch->radius = wheel.radius;
    touch->gap = height, touch->margin = margin;
    touch->is_curved = floor.kind != SURFACE_PLANE;
    if (floor.kind == SURFACE_HEIGHT) watch_hollow(tree, contact, is_ball);
    const Anchor place = {floor.link, floor.link == WORLD ? tree->ground : pose_identity(g)};
    touch->floor = tr_floor_keep(tree, &floor, place);
    if (!is_ball) watch_lean(tree, contact, touch, &rim);
}

// ---- wheels at the start -------------------------------------------------------------------

// Whether expressions share a position
static bool share_position(const Tree *tree, Expr a, const Expr *b, size_t count)
{
    Reach one = {0}, other = {0};
    bool shares = false;
    if (tr_reach(tree->graph, &a, 1, &one) && tr_reach(tree->graph, b, count, &other))
        for (uint32_t i = 0, k = 0; i < one.count && !shares; i++) {
            const Input *input = tr_system_input(tree->system, expr_at(tree->graph, one.ids[i]));
            while (k < other.count && other.ids[k] < one.ids[i]) k++;
            shares = input && input->kind == TR_POSITION && k < other.count &&
                     other.ids[k] == one.ids[i];
        }
    tr_reach_free(&one);
    tr_reach_free(&other);
    return shares;
}

// Whether `initial`, or something else than contacts, has a say in what x is at the start
static bool is_spoken_for(Tree *tree, Expr x)
{
    const System *s = tree->system;
    const Output *initial = tr_system_output(s, text_of("initial.position"));
    const Contacts *contacts = &tree->model->fields.contacts;
    if (initial && share_position(tree, x, initial->values, (size_t)initial->rows)) return true;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Row *row = &s->rows[i];
        if (row->position.id && !row->is_speed &&
            !tr_kind_find(tr_kind_of(TYPE_CONTACTS), contacts, text_of(row->port.owner)) &&
            share_position(tree, x, &row->position, 1))
            return true;
    }
    return false;
}

// x with positions as they are guessed
static double value_at_guess(Tree *tree, Expr x)
{
    const System *s = tree->system;
    const Expr start = zero(tree->graph);
    const uint32_t touches = 2 * s->touching_count, count = tree->position_count + touches;
    Expr *from = tr_tree_room(tree, 2 * (size_t)count + 1, sizeof *from);
    if (!from) return 1;
    Expr *to = from + count;
    for (uint32_t k = 0; k < tree->position_count; k++) {
        const Input *q = tr_system_input(s, tree->positions[k].symbol);
        from[k] = q->symbol;
        to[k] = q->definition.id ? tr_replace(q->definition, &tree->t, &start, 1)
                                 : number(tree->graph, q->value);
    }
    for (uint32_t k = 0; k < touches; k++) {
        from[tree->position_count + k] = s->inputs[s->touchings[k / 2].input + k % 2].symbol;
        to[tree->position_count + k] = start;
    }
    return tr_tree_value(tree, tr_replace(x, from, to, count));
}

// A wheel that lies flat as it is guessed, and nothing says otherwise: the contact alone would
// stand it on its edge.
void tr_tree_check_wheels(Tree *tree)
{
    for (uint32_t i = 0; i < tree->touch_count && !has_failed(tree->err); i++) {
        const Touch *touch = &tree->touches[i];
        if (touch->upright.id && value_at_guess(tree, touch->upright) < FLAT &&
            !is_spoken_for(tree, touch->upright))
            refuse_flat(tree, touch->contact);
    }
}

// ---- points and planes ---------------------------------------------------------------------

// e.V_P = 0                                                              (T47) [K 4.70, 4.75]
// Where a formula turns e in the body, its drift has e'.V_P more.                        (T252)
static void make_skate(Tree *tree, const Contact *contact)
{
    Anchor first, second;
    if (!tr_tree_ends(tree, contact->name, contact->body, contact->against, &first, &second))
        return;
    const Vec point = tr_tree_vector(tree, contact->at, "at");
    if (has_failed(tree->err)) return;
    const uint32_t i = first.link;
    const Carrier body = tr_carrier(tree, i), on = tr_own_carrier(tree, second.link);
    const Vec direction = tr_contact_direction(tree, contact);
    const Vec e = tr_own_axes(tree, i, apply(first.pose.R, direction));
    const Vec de = tr_own_axes(tree, i, apply(first.pose.R, tr_contact_turning(tree, direction)));
    const Vec r = tr_own_axes(tree, i, point_out(first.pose, point));
    const Vec V = tr_velocity_on(&on, &body, r);
    const Expr none = expr_at(tree->graph, 0);
    const Expr still = second.link == WORLD ? tr_point_drift(tree, i, r, e) : none;
    const Expr drift = still.id ? add(still, dot(de, V)) : none;
    if (turns_by_itself(direction))
        watch_length(tree, contact, contact->direction, "direction",
                     "the direction of '%.*s' is zero");
    tr_tree_row(tree, contact->name, "lateral", dot(e, V), none, drift, QUANTITY_FORCE);
    tr_touch_part(note_touch(tree, contact, &body, r, body.pose.R), "lateral", e);
}

// A foot on a surface: the normal where it stands, and how far it is from there, in the axes of
// what it is on. On a height x and y are its own (T48, T195).
static Vec foot_on(Tree *tree, Floor *floor, Vec s, Expr *gap)
{
    Graph *g = tree->graph;
    if (floor->kind == SURFACE_SPHERE) {
        const Expr far = e_sqrt(dot(s, s));
        const Vec n = scale(quotient(number(g, floor->is_inside ? -1 : 1), far), s);
        *gap = floor->is_inside ? sub(floor->radius, far) : sub(far, floor->radius);
        return n;
    }
    if (floor->kind == SURFACE_HEIGHT) tr_floor_at(tree, floor, s.x, s.y);
    const Vec n = tr_floor_normal(tree, floor);
    *gap = floor->kind == SURFACE_PLANE ? s.z : mul(n.z, sub(s.z, floor->f));
    return n;
}

// n.s' = 0, n.(s - to) = 0                                                             (T48)
static void make_slide(Tree *tree, const Contact *contact)
{
    Meeting m;
    Value on = contact->against;
    if (!on.given) on.text = text_of("ground");
    if (!tr_tree_meet(tree, contact->name, contact->body, contact->at, on, &m)) return;
    const bool is_on_ground = text_is(on.text, "ground");
    Floor floor = tr_floor_shape(tree, contact, !is_on_ground);
    if (has_failed(tree->err)) return;
    Expr gap;
    const Vec n = foot_on(tree, &floor, minus(m.s, floor.to), &gap);
    const bool is_plane = floor.kind == SURFACE_PLANE;
    const Expr none = expr_at(tree->graph, 0);
    // what opens has gaps that its rows are the rates of
    const Expr rate =
        !is_plane && is_true(contact->unilateral) ? tr_tree_drift_of(tree, gap) : dot(n, m.ds);
    tr_tree_row(tree, contact->name, "normal", rate, gap,
                is_plane ? tr_meeting_drift(&m, n, m.ds) : none, QUANTITY_FORCE);
    if (is_on_ground && floor.kind != SURFACE_SPHERE) {
        const Floor tilted = tr_floor_tilted(tree, &floor);
        set_uneven(tree, contact, 0, dot(tr_floor_normal(tree, &tilted), m.ds));
    }
    Vec direction[3] = {n}; // and the surface's x and y, in the body's axes
    tr_floor_directions(mat_identity(tree->graph), n, direction + 1);
    for (int k = 0; k < 3; k++)
        direction[k] = apply_transposed(m.body.pose.R, apply(m.axes, direction[k]));
    Touch *touch = note_recorded(tree, contact, &m.body, m.r, direction);
    touch->gap = gap, touch->is_curved = !is_plane;
    touch->floor = tr_floor_keep(tree, &floor, tr_tree_anchor(tree, on));
}

// s' = 0,   s - to = 0                                                                 (T48)
static void make_pin(Tree *tree, const Contact *contact)
{
    Meeting m;
    if (!tr_tree_meet(tree, contact->name, contact->body, contact->at, contact->against, &m))
        return;
    const Vec off = minus(m.s, tr_tree_vector(tree, contact->to, "to"));
    Touch *touch = note_touch(tree, contact, &m.body, m.r, m.axes);
    for (int k = 0; k < 3; k++) {
        const int i = (k + 2) % 3; // z, x, y
        tr_tree_row(tree, contact->name, tr_contact_part(contact, k), vec_at(m.ds, i),
                    vec_at(off, i), vec_at(m.a, i), QUANTITY_FORCE);
        tr_touch_part(touch, tr_contact_part(contact, k), vec_unit(tree->graph, i));
    }
}

// A point on a straight wire through `to`: it cannot leave it upwards or to the left    (T48)
static void make_wire(Tree *tree, const Contact *contact)
{
    Meeting m;
    if (!tr_tree_meet(tree, contact->name, contact->body, contact->at, contact->against, &m))
        return;
    const Vec d = tr_tree_unit(tree, contact->direction, "direction");
    if (has_failed(tree->err)) return;
    const bool is_upright = tr_tree_is(tree, RULE_UPRIGHT, d.z, contact->direction.place,
                                       "the wire '%.*s' is nearer to upright, or further from it",
                                       WHOLE(contact->name.text));
    const Vec left = cross(vec_unit(tree->graph, is_upright ? 0 : 2), d);
    const Vec l = scale(quotient(one(tree->graph), e_sqrt(dot(left, left))), left);
    const Vec across[] = {cross(d, l), l},
              off = minus(m.s, tr_tree_vector(tree, contact->to, "to"));
    static const char *const parts[] = {"normal", "lateral"};
    Touch *touch = note_touch(tree, contact, &m.body, m.r, m.axes);
    for (int k = 0; k < 2; k++) {
        tr_tree_row(tree, contact->name, parts[k], dot(across[k], m.ds), dot(across[k], off),
                    tr_meeting_drift(&m, across[k], scale(dot(d, m.ds), d)), QUANTITY_FORCE);
        tr_touch_part(touch, parts[k], across[k]);
    }
}

// ---- all of them ---------------------------------------------------------------------------

typedef struct ContactKind {
    const char *name, *fields;
    void (*make)(Tree *tree, const Contact *contact);
} ContactKind;

static const ContactKind contact_kinds[] = {
#define CONTACT_KIND(name, fields, make, ...) {#name, fields, make},
#include "mech/contact.def"
};

// A field that was given although its kind has no use for it.
void tr_tree_check_fields(Tree *tree, FieldType type, const void *element, const char *name,
                          const char *what, const char *fields)
{
    const Kind *kind = tr_kind_of(type);
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        const Value *value = (const Value *)((const char *)element + field->offset);
        const bool common = tr_is_listed("kind body at", field->key);
        if (value->given && !common && !tr_is_listed(fields, field->key))
            tr_fail(tree->err, TR_INVALID, value->place, "a%s %s %s has no use for '%s'",
                    name[0] == 'a' ? "n" : "", name, what, field->key);
    }
}

void tr_tree_refuse_kind(Tree *tree, Value word, Suggestion *nearest)
{
    char hint[TR_HINT_SIZE];
    tr_fail(tree->err, TR_INVALID, word.place, "there is no kind '%.*s'%s", TEXT(word.text),
            tr_hint(nearest, hint));
}

static void make_contact(Tree *tree, const Contact *contact)
{
    Suggestion nearest = {.wanted = contact->kind.text};
    for (size_t i = 0; i < sizeof contact_kinds / sizeof *contact_kinds; i++) {
        const ContactKind *kind = &contact_kinds[i];
        tr_suggest(&nearest, text_of(kind->name));
        if (!text_is(contact->kind.text, kind->name)) continue;
        tr_tree_check_fields(tree, TYPE_CONTACTS, contact, kind->name, "contact", kind->fields);
        kind->make(tree, contact);
        return;
    }
    tr_tree_refuse_kind(tree, contact->kind, &nearest);
}

// ---- what formulas and results know of contacts --------------------------------------------

typedef enum Recorded { RECORD_NEVER, RECORD_ALWAYS, RECORD_CURVED } Recorded;

static const struct {
    const char *name;
    Quantity quantity;
    Recorded recorded;
} parts[] = {
    {"x", QUANTITY_PLACE, RECORD_ALWAYS},   {"y", QUANTITY_PLACE, RECORD_ALWAYS},
    {"z", QUANTITY_PLACE, RECORD_ALWAYS},   {"Fx", QUANTITY_FORCE, RECORD_ALWAYS},
    {"Fy", QUANTITY_FORCE, RECORD_ALWAYS},  {"Fz", QUANTITY_FORCE, RECORD_ALWAYS},
    {"fx", QUANTITY_FORCE, RECORD_NEVER},   {"fy", QUANTITY_FORCE, RECORD_NEVER},
    {"fz", QUANTITY_FORCE, RECORD_NEVER},   {"angle", QUANTITY_ANGLE, RECORD_NEVER},
    {"nx", QUANTITY_NORMAL, RECORD_CURVED}, {"ny", QUANTITY_NORMAL, RECORD_CURVED},
    {"nz", QUANTITY_NORMAL, RECORD_CURVED}, {"margin", QUANTITY_MARGIN, RECORD_CURVED},
};
enum { PARTS = sizeof parts / sizeof *parts };

// contact.E.Fx Fy Fz: the force on the body where it touches, in world axes; fx fy fz: in the axes
// of what carries it
static void touch_forces(const Tree *tree, const Touch *touch, Expr out[PARTS])
{
    Vec F = vec_zero(tree->graph);
    for (uint32_t k = 0; k < touch->part_count; k++)
        F = plus(F, scale(tr_tree_reaction(tree, touch->contact->name, touch->parts[k]),
                          touch->direction[k]));
    const Vec f = apply_transposed(touch->carrier, F);
    for (int k = 0; k < 3; k++) {
        out[3 + k] = vec_at(F, k);
        out[6 + k] = vec_at(f, k);
    }
}

// contact.E.x y z: where it touches; nx ny nz: the normal there
static void touch_places(const Tree *tree, const Touch *touch, Expr out[PARTS])
{
    for (int k = 0; k < 3; k++) {
        out[k] = vec_at(touch->point, k);
        out[10 + k] = vec_at(touch->direction[0], k);
    }
    out[9] = touch->angle;
    out[13] = touch->margin.id ? touch->margin : one(tree->graph);
}

static void add_name(Tree *tree, const char *name, Expr part, Port port)
{
    (void)port;
    if (part.id) tr_system_name(tree->system, text_of(name), part, tree->err);
}

static void add_column(Tree *tree, const char *name, Expr part, Port port)
{
    tr_system_column(tree->system, name, name, part, port, tree->err);
}

typedef enum Told { TOLD_PLACES, TOLD_FORCES, TOLD_COLUMNS } Told;

static bool is_told(const Tree *tree, const Touch *touch, int k, Told told)
{
    const bool is_force = parts[k].quantity == QUANTITY_FORCE;
    if (told != TOLD_COLUMNS) return is_force == (told == TOLD_FORCES);
    const bool is_recorded = parts[k].recorded == RECORD_ALWAYS ||
                             (parts[k].recorded == RECORD_CURVED && touch->is_curved);
    return is_recorded && !(is_force && tree->system->order == 1);
}

static void for_each_part(Tree *tree, Told told,
                          void (*tell)(Tree *tree, const char *name, Expr part, Port port))
{
    char name[300];
    Expr part[PARTS];
    for (uint32_t i = 0; i < tree->touch_count && !has_failed(tree->err); i++) {
        const Touch *touch = &tree->touches[i];
        if (!touch->is_recorded) continue;
        touch_places(tree, touch, part);
        if (told != TOLD_PLACES) touch_forces(tree, touch, part);
        const char *owner = tr_tree_text(tree, touch->contact->name.text);
        for (int k = 0; k < PARTS; k++) {
            if (!is_told(tree, touch, k, told)) continue;
            snprintf(name, sizeof name, "contact.%.*s.%s", WHOLE(touch->contact->name.text),
                     parts[k].name);
            tell(tree, name, part[k], port_of(parts[k].quantity, owner, parts[k].name));
        }
    }
}

void tr_tree_contact_places(Tree *tree) { for_each_part(tree, TOLD_PLACES, add_name); }

void tr_tree_contact_forces(Tree *tree) { for_each_part(tree, TOLD_FORCES, add_name); }

void tr_tree_contact_columns(Tree *tree) { for_each_part(tree, TOLD_COLUMNS, add_column); }

void tr_tree_contacts(Tree *tree)
{
    const Contacts *contacts = &tree->model->fields.contacts;
    const Loops *loops = &tree->model->fields.loops;
    const size_t ties = (size_t)loops->count + tree->model->fields.joints.count;
    tree->touches = tr_tree_room(tree, contacts->count + ties, sizeof *tree->touches);
    tree->ties = tr_tree_room(tree, ties, sizeof *tree->ties);
    tree->slips = tr_tree_room(tree, 2 * (size_t)contacts->count, sizeof *tree->slips);
    if (tree->graph->failed) return;
    for (uint32_t i = 0; i < contacts->count && !has_failed(tree->err); i++) {
        tree->constants_only = true;
        make_contact(tree, &contacts->at[i]);
    }
    tree->constants_only = false;
    if (!has_failed(tree->err)) tr_tree_loops(tree);
}
