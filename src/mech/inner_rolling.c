// SPDX-License-Identifier: Apache-2.0
// The rows of what rolls as they are eliminated: by the axes of the root or of a link nearer by
// (T46, T125, T127), and along the tree (T180).
#include "mech/across.h"
#include "mech/rim.h"

#include <string.h>

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
        return !link->carried && !tr_turns_by_itself(own); // its own axes spin, or it turns in them
    }
    *a = apply(tr_pose_in(tree, link->parent, above).R, link->axis);
    *spin = tree->velocities[link->velocity].symbol;
    return true;
}

// r' = c - V_O; psi = (u l.n' - l.a') / s                                               (T188)
static Vec follow_height(InnerRolling *out, const Contact *contact, const Floor *floor, Mat axes,
                         Vec da, Vec W0)
{
    const Rim *rim = &out->rim;
    const Expr none = zero(graph_of(rim->n.x)); // rows hold where it is closed
    const Resting at = tr_rim_resting(contact, rim, axes, none, out->hub, da);
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

bool tr_rolling_inner(Tree *tree, uint32_t i, const Contact *contact, const Floor *floor,
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
    const Beneath under =
        tr_beneath(floor, (Pose){R, vec_zero(tree->graph)}, vec_zero(tree->graph));
    const Rim rim = tr_rim_of(tree, wheel, floor, &under, a);
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
void tr_roll_singly(Tree *tree, const Contact *contact, const InnerRolling *at, const Expr slip[3])
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
    tr_rim_find(&rim);
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
