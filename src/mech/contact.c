// SPDX-License-Identifier: Apache-2.0
// Contacts and loops: the velocity of a point of one body, relative to the ground or another body,
// along some direction, is zero.
//
//   V_P = V + W x r                                the velocity of the body's point r
//   s = R_on^T (P - O_on),  s' = R_on^T V_P - V_on - W_on x s      as seen from the other body
//
// A wheel touches the ground at its lowest point. With the axle a and the ground's normal n, both
// unit:   d = -(n - (n.a) a) / |n - (n.a) a|,   P = O + radius d                       [M 17]
#include "mech/tree.h"

#include <math.h>
#include <stdio.h>

#define FLAT 1e-6 // of sin^2 of the angle between a wheel and the ground

// ---- bodies and points ---------------------------------------------------------------------

// Axes that are attached to something, and how that moves, in these axes.
typedef struct Carrier {
    Pose pose; // against the world
    Motion v;  // of the body
} Carrier;

static Carrier carrier_of(Tree *tree, uint32_t i)
{
    Graph *g = tree->graph;
    if (i == WORLD) return (Carrier){{mat_identity(g), vec_zero(g)}, motion_zero(g)};
    return (Carrier){tree->links[i].world, tree->links[i].v};
}

// The body's own axes, which spin with it
static Carrier own_carrier(Tree *tree, uint32_t i)
{
    Carrier c = carrier_of(tree, i);
    if (i == WORLD || !tree->links[i].carried) return c;
    const Mat spin = tree->links[i].spin;
    c.pose.R = mat_product(c.pose.R, spin);
    c.v = motion(apply_transposed(spin, c.v.V), apply_transposed(spin, c.v.W));
    return c;
}

// A vector in the body's own axes, in those of its carrier
static Vec own_axes(const Tree *tree, uint32_t i, Vec a)
{
    return i == WORLD ? a : apply(tree->links[i].spin, a);
}

static Vec velocity_at(const Carrier *c, Vec r) { return plus(c->v.V, cross(c->v.W, r)); }

static uint32_t touching(Tree *tree, Value body, Value element)
{
    if (!body.given)
        tr_fail(tree->err, TR_INVALID, element.place, "'%.*s' names no body", TEXT(element.text));
    const uint32_t i = has_failed(tree->err) ? WORLD : tr_tree_body(tree, body);
    if (i == WORLD)
        tr_fail(tree->err, TR_INVALID, body.place,
                "'%.*s' is about a body; the world stands in 'on'", TEXT(element.text));
    return i;
}

// Two points that are held together, or apart.
typedef struct Meeting {
    Carrier body, on;
    Vec r, to; // the points, in the axes of the carriers
    Vec s, ds; // the first as seen from the second body, and its rate
} Meeting;

static bool meet(Tree *tree, Value element, Value body, Value at, Value on, Value to, Meeting *m)
{
    const uint32_t i = touching(tree, body, element);
    const uint32_t k = has_failed(tree->err) ? WORLD : tr_tree_body(tree, on);
    if (!has_failed(tree->err) && i == k)
        tr_fail(tree->err, TR_INVALID, on.place, "'%.*s' ties '%.*s' to itself", TEXT(element.text),
                TEXT(body.text));
    const Vec point = tr_tree_vector(tree, at, "at"), other = tr_tree_vector(tree, to, "to");
    if (has_failed(tree->err)) return false;
    m->body = carrier_of(tree, i), m->on = own_carrier(tree, k);
    if (text_is(on.text, "ground")) m->on.pose = tree->ground;
    m->r = own_axes(tree, i, point), m->to = other;
    const Vec P = plus(m->body.pose.p, apply(m->body.pose.R, m->r));
    m->s = apply_transposed(m->on.pose.R, minus(P, m->on.pose.p));
    const Vec V = apply(m->body.pose.R, velocity_at(&m->body, m->r));
    m->ds = minus(apply_transposed(m->on.pose.R, V), velocity_at(&m->on, m->s));
    return true;
}

// ---- one function per kind -----------------------------------------------------------------

// The axle of a wheel and axes in which it stands still: those of what carries the wheel, where it
// turns about the joint's own axis, so that its angle does not appear.
static Carrier find_axle(Tree *tree, uint32_t i, const Contact *contact, Vec *a)
{
    const Link *link = &tree->links[i];
    Carrier c = carrier_of(tree, i);
    if (contact->axis.given) {
        *a = tr_tree_unit(tree, contact->axis, tr_tree_vector(tree, contact->axis, "axis"), "axis");
        *a = own_axes(tree, i, *a);
        return c;
    }
    *a = link->axis;
    if (is_vec_zero(link->axis)) {
        tr_fail(tree->err, TR_INVALID, contact->name.place,
                "the joint of '%.*s' has no axis: '%.*s' needs one", TEXT(link->body->name.text),
                TEXT(contact->name.text));
        return c;
    }
    if (!text_is(link->body->joint.type.text, "revolute")) { // slides along it
        *a = apply_transposed(link->turn, link->axis);
        return c;
    }
    const Carrier above = carrier_of(tree, link->parent);
    const Vec spin = scale(tree->velocities[link->velocity].symbol, link->axis);
    c.pose.R = above.pose.R;
    c.v = motion(velocity_at(&above, link->X.p), plus(above.v.W, spin));
    return c;
}

// A link's frame against that of its tree's root
static Pose pose_in_root(Tree *tree, uint32_t i)
{
    const Link *link = &tree->links[i];
    if (link->parent == WORLD) return (Pose){mat_identity(tree->graph), vec_zero(tree->graph)};
    const Pose above = pose_in_root(tree, link->parent);
    return (Pose){mat_product(above.R, link->X.R), plus(above.p, apply(above.R, link->X.p))};
}

// How a link moves, in the axes of the root: its origin, and its rotation. Each joint on the way
// adds S_V q' + S_W q' x (O - O_joint), and S_W q'.
static Motion motion_in_root(Tree *tree, uint32_t i)
{
    const Vec O = pose_in_root(tree, i).p;
    Motion sum = motion_zero(tree->graph);
    for (; tree->links[i].parent != WORLD; i = tree->links[i].parent) {
        const Link *link = &tree->links[i];
        const Pose pose = pose_in_root(tree, i);
        const Mat above = pose_in_root(tree, link->parent).R;
        if (link->section) {
            const Motion bends = tr_section_motion(tree, link);
            const Vec W = apply(pose.R, bends.W);
            const Vec V = plus(apply(above, bends.V), cross(W, minus(O, pose.p)));
            sum = motion_plus(sum, motion(V, W));
        }
        const bool about_axis = text_is(link->body->joint.type.text, "revolute");
        for (uint32_t k = 0; k < link->velocity_count; k++) {
            const Velocity *w = &tree->velocities[link->velocity + k];
            const Vec W = about_axis ? apply(above, link->axis) : apply(pose.R, w->S.W);
            const Vec V = plus(apply(pose.R, w->S.V), cross(W, minus(O, pose.p)));
            sum = motion_plus(sum, motion_scale(w->symbol, motion(V, W)));
        }
    }
    const Motion root = tree->links[i].v;
    return motion(plus(sum.V, plus(root.V, cross(root.W, O))), plus(sum.W, root.W));
}

// ---- wheels and balls ----------------------------------------------------------------------

// Where a wheel or a ball touches, in some axes: its axle a (nothing of a ball), the ground's
// normal n, and r from its middle to the point that touches.
typedef struct Rim {
    bool is_ball;
    Expr radius, tube;
    Vec a, n;
    Expr lean, size; // n.a, |n - (n.a) a|
    Vec rim;         // the part of r across the axle: (radius - tube) d
    Vec r;
    Vec direction[3]; // normal, longitudinal, lateral
} Rim;

// r = (radius - tube) d - tube n of a wheel, -radius n of a ball, whose rows follow the ground's
// axes
static Rim rim_of(Tree *tree, bool is_ball, Expr radius, Expr tube, Mat floor, Mat R, Vec a)
{
    Graph *g = tree->graph;
    Rim rim = {.is_ball = is_ball, .radius = radius, .tube = tube, .a = a};
    rim.n = apply_transposed(R, column(floor, 2));
    if (is_ball) {
        rim.r = scale(neg(radius), rim.n);
        rim.direction[0] = rim.n;
        for (int k = 0; k < 2; k++) rim.direction[k + 1] = apply_transposed(R, column(floor, k));
        return rim;
    }
    rim.lean = dot(rim.n, a);
    rim.size = e_sqrt(sub(one(g), square(rim.lean)));                 // for n and a are units
    const Vec l = scale(quotient(one(g), rim.size), cross(a, rim.n)); // forward, axle to the left
    rim.rim = scale(quotient(sub(radius, tube), rim.size), minus(scale(rim.lean, a), rim.n));
    rim.r = minus(rim.rim, scale(tube, rim.n));
    rim.direction[0] = rim.n, rim.direction[1] = l, rim.direction[2] = cross(rim.n, l);
    return rim;
}

// The rows once more, as the velocity of the contact point in the axes of the root: there a free
// root's own velocity has unit slopes. They are the same three in other axes. With what carries the
// wheel turning at Wc (w as seen from the root) and the wheel at W = Wc + s a:
//
//   V_P = V_O + W x r,   V_P' = V_O' + (Wc' + s w x a) x r + W x r'
//   r = rim - tube n,    r' = (w + chi a) x rim - tube n',   n' = n x W_root
//
// where the contact runs round the rim at chi, for it stays below the axle:
//   chi = -Wc.a - (n.a) Wc.rim / ((radius - tube) |n - (n.a) a|)
static void roll_in_root(Tree *tree, uint32_t i, const Contact *contact, bool is_ball, Expr radius,
                         Expr tube)
{
    const Link *link = &tree->links[i];
    uint32_t root = i;
    while (tree->links[root].parent != WORLD) root = tree->links[root].parent;
    if (contact->at.given || tree->links[root].position_count < 4) return;
    const bool spins = !is_ball && !contact->axis.given; // about its joint
    Vec a = vec_zero(tree->graph);
    if (spins) a = apply(pose_in_root(tree, link->parent).R, link->axis);
    if (!is_ball && !spins) {
        if (link->carried) return; // its own axes spin
        a = tr_tree_unit(tree, contact->axis, tr_tree_vector(tree, contact->axis, "axis"), "axis");
        a = apply(pose_in_root(tree, i).R, own_axes(tree, i, a));
    }
    const Rim rim =
        rim_of(tree, is_ball, radius, tube, tree->ground.R, tree->links[root].world.R, a);
    const Motion hub = motion_in_root(tree, i);
    const Vec W0 = tree->links[root].v.W;
    const Expr s = spins ? tree->velocities[link->velocity].symbol : zero(tree->graph);
    const Vec Wc = minus(hub.W, scale(s, a)), w = minus(Wc, W0);
    Vec dr = scale(neg(is_ball ? radius : tube), cross(rim.n, W0));
    if (!is_ball) {
        const Expr ring = sub(radius, tube);
        const Expr along = quotient(quotient(rim.lean, rim.size), ring);
        const Expr chi = neg(add(dot(Wc, a), mul(along, dot(Wc, rim.rim))));
        dr = plus(dr, cross(plus(w, scale(chi, a)), rim.rim));
    }
    const Vec turning = plus(tr_tree_drift(tree, Wc), scale(s, cross(w, a)));
    const Vec bias =
        plus(plus(tr_tree_drift(tree, hub.V), cross(turning, rim.r)), cross(hub.W, dr));
    tr_tree_inner_rows(tree, plus(hub.V, cross(hub.W, rim.r)), bias, rim.direction);
}

static void check_radii(Tree *tree, const Contact *contact, bool is_ball, Expr radius, Expr tube)
{
    const char *what = is_ball ? "ball" : "wheel";
    const double r = tr_tree_value(tree, radius), t = tr_tree_value(tree, tube);
    if (!(r > 0) || !isfinite(r))
        tr_fail(tree->err, TR_INVALID,
                contact->radius.given ? contact->radius.place : contact->name.place,
                "the %s '%.*s' needs a positive radius", what, TEXT(contact->name.text));
    else if (contact->tube.given && (is_ball || !(t >= 0) || !(t < r)))
        tr_fail(tree->err, TR_INVALID, contact->tube.place,
                is_ball  ? "a ball has no tube"
                : t >= 0 ? "the tube of a tyre is thinner than the wheel's radius"
                         : "the tube of a tyre has a radius that is not negative");
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

static Touch *new_touch(Tree *tree, Value body, const Carrier *c, Vec r)
{
    Touch *touch = &tree->touches[tree->touch_count++];
    touch->link = tr_tree_find(tree, body.text);
    touch->carrier = c->pose.R;
    touch->point = plus(c->pose.p, apply(c->pose.R, r));
    touch->angle = touch->gap = expr_at(tree->graph, 0);
    return touch;
}

static const char *const three_parts[] = {"normal", "longitudinal", "lateral"};

static void add_part(Touch *touch, const char *part, Vec direction)
{
    touch->parts[touch->part_count] = part;
    touch->direction[touch->part_count++] = direction;
}

static Touch *note_touch(Tree *tree, const Contact *contact, const Carrier *c, Vec r,
                         const Rim *rim)
{
    Touch *touch = new_touch(tree, contact->body, c, r);
    touch->contact = contact;
    touch->is_recorded = true;
    touch->axes = mat_identity(tree->graph);
    for (int k = 0; k < 3; k++)
        add_part(touch, three_parts[k], apply(c->pose.R, rim->direction[k]));
    touch->angle = rim->is_ball ? expr_at(tree->graph, 0) : rim_angle(tree, rim);
    return touch;
}

// What a wheel is on: a plane with the normal z, through the point `to`, and how it moves.
typedef struct Floor {
    Carrier carrier;
    Vec to;         // in its axes
    bool is_ground; // which stands still
} Floor;

static Floor floor_of(Tree *tree, const Contact *contact)
{
    const uint32_t k = tr_tree_body(tree, contact->on);
    Floor floor = {.carrier = own_carrier(tree, k), .is_ground = k == WORLD};
    if (floor.is_ground) floor.carrier.pose = tree->ground;
    floor.to = tr_tree_vector(tree, contact->to, "to");
    if (!has_failed(tree->err) && text_equal(contact->on.text, contact->body.text))
        tr_fail(tree->err, TR_INVALID, contact->on.place, "'%.*s' rolls on itself",
                TEXT(contact->name.text));
    return floor;
}

// The velocity of the point r of c, as seen from the floor, in the axes of c
static Vec velocity_on(const Floor *floor, const Carrier *c, Vec r)
{
    const Vec V = velocity_at(c, r);
    if (floor->is_ground) return V;
    const Pose f = floor->carrier.pose;
    const Vec P = plus(c->pose.p, apply(c->pose.R, r));
    const Vec s = apply_transposed(f.R, minus(P, f.p));
    const Vec there = apply(f.R, velocity_at(&floor->carrier, s));
    return minus(V, apply_transposed(c->pose.R, there));
}

// Three rows: the velocity V of the touching point along the normal, and along the other two
// directions where it does not slip
static void roll(Tree *tree, const Contact *contact, const Rim *rim, Vec V, Vec V_middle,
                 Expr height)
{
    Graph *g = tree->graph;
    const Value laws[] = {{{0}, {0}, false}, contact->longitudinal, contact->lateral};
    // Models in the plane need not say how high their wheels are.
    const bool rises = tr_system_uses(tree->system, height, TR_POSITION) != NULL;
    Slip slip = {.contact = contact, .ahead = dot(rim->direction[1], V_middle), .lean = zero(g)};
    if (!rim->is_ball) slip.lean = tr_build(OP_ASIN, rim->lean, rim->lean, rim->lean);
    for (int k = 0; k < 2; k++) slip.both[k] = dot(rim->direction[k + 1], V);
    for (int k = 0; k < 3; k++) {
        const Expr rate = dot(rim->direction[k], V);
        slip.part = three_parts[k], slip.law = laws[k], slip.rate = rate;
        slip.sticks = k && tr_is_coulomb(laws[k]) && text_is(contact->stick.text, "true");
        slip.row = tree->system->row_count;
        if (k && tr_slips(laws[k])) tr_tree_slip(tree, &slip);
        if (!k || !tr_slips(laws[k]) || slip.sticks)
            tr_tree_row(tree, contact->name, three_parts[k], rate,
                        k == 0 && rises ? height : expr_at(g, 0), false);
    }
}

// The wheel's middle, in the axes of its carrier; it must stand on the axle.
static Vec middle_of(Tree *tree, uint32_t i, const Contact *contact, bool is_ball, Vec a)
{
    const Vec at = tr_tree_vector(tree, contact->at, "at");
    const bool spins = !is_ball && !contact->axis.given &&
                       text_is(tree->links[i].body->joint.type.text, "revolute");
    const Vec middle = spins ? apply(tree->links[i].turn, at) : own_axes(tree, i, at);
    const Vec off = cross(middle, a);
    if (!(tr_tree_value(tree, dot(off, off)) <= 1e-20 * tr_tree_value(tree, dot(at, at))))
        tr_fail(tree->err, TR_INVALID, contact->at.place,
                "the middle of the wheel '%.*s' must stand on its axle", TEXT(contact->name.text));
    return middle;
}

static void make_rolling(Tree *tree, const Contact *contact)
{
    Graph *g = tree->graph;
    const uint32_t i = touching(tree, contact->body, contact->name);
    const bool is_ball = text_is(contact->shape.text, "ball");
    if (!is_ball && !text_is(contact->shape.text, "wheel"))
        tr_fail(tree->err, TR_INVALID, contact->shape.place,
                "what rolls is a wheel or a ball, not a '%.*s'", TEXT(contact->shape.text));
    const Expr radius = tr_tree_formula(tree, contact->radius),
               tube = tr_tree_formula(tree, contact->tube);
    if (has_failed(tree->err)) return;
    check_radii(tree, contact, is_ball, radius, tube);
    tr_tree_check_laws(tree, contact);
    Vec a = vec_zero(g);
    const Carrier c = is_ball ? carrier_of(tree, i) : find_axle(tree, i, contact, &a);
    if (has_failed(tree->err)) return;
    const Vec middle = middle_of(tree, i, contact, is_ball, a);
    const Floor floor = floor_of(tree, contact);
    if (has_failed(tree->err)) return;
    const Pose f = floor.carrier.pose;
    const Rim rim = rim_of(tree, is_ball, radius, tube, f.R, c.pose.R, a);
    const Vec r = plus(middle, rim.r), to = plus(f.p, apply(f.R, floor.to));
    const Expr height = add(dot(column(f.R, 2), minus(c.pose.p, to)), dot(rim.n, r));
    const uint32_t before = tree->system->row_count;
    roll(tree, contact, &rim, velocity_on(&floor, &c, r), velocity_on(&floor, &c, middle), height);
    // Rows that open one by one are eliminated one by one.
    if (floor.is_ground && tree->system->row_count == before + 3 &&
        !text_is(contact->stick.text, "true"))
        roll_in_root(tree->inner, i, contact, is_ball, radius, tube);
    note_touch(tree, contact, &c, r, &rim)->gap = height;
    if (!is_ball && !is_number(rim.size))
        tr_tree_alarm(tree, contact->name, "the wheel '%.*s' lies flat",
                      sub(square(rim.size), number(g, FLAT)), ALARM_STOPS, NO_LATCH);
}

// ---- points and planes ---------------------------------------------------------------------

static void make_skate(Tree *tree, const Contact *contact)
{
    Meeting m;
    if (!meet(tree, contact->name, contact->body, contact->at, contact->on, contact->to, &m))
        return;
    const Vec direction =
        tr_tree_unit(tree, contact->direction,
                     tr_tree_vector(tree, contact->direction, "direction"), "direction");
    const uint32_t i = tr_tree_find(tree, contact->body.text);
    const Vec e = own_axes(tree, i, direction);
    Vec V = velocity_at(&m.body, m.r);
    if (tr_tree_body(tree, contact->on) != WORLD) {
        const Vec there = apply(m.on.pose.R, velocity_at(&m.on, m.s));
        V = minus(V, apply_transposed(m.body.pose.R, there));
    }
    tr_tree_row(tree, contact->name, "lateral", dot(e, V), expr_at(tree->graph, 0), false);
    Touch *touch = new_touch(tree, contact->body, &m.body, m.r);
    touch->contact = contact;
    touch->axes = m.body.pose.R;
    add_part(touch, "lateral", e);
}

static void make_slide(Tree *tree, const Contact *contact)
{
    Meeting m;
    Value on = contact->on;
    if (!on.given) on.text = text_of("ground");
    if (!meet(tree, contact->name, contact->body, contact->at, on, contact->to, &m)) return;
    tr_tree_row(tree, contact->name, "normal", m.ds.z, sub(m.s.z, m.to.z), false);
    Rim rim = {.is_ball = true};
    for (int k = 0; k < 3; k++) // normal, and the plane's x and y, in the body's axes
        rim.direction[k] = apply_transposed(m.body.pose.R, column(m.on.pose.R, (k + 2) % 3));
    note_touch(tree, contact, &m.body, m.r, &rim)->gap = sub(m.s.z, m.to.z);
}

static void make_pin(Tree *tree, const Contact *contact)
{
    Meeting m;
    if (!meet(tree, contact->name, contact->body, contact->at, contact->on, contact->to, &m))
        return;
    tr_tree_row(tree, contact->name, "normal", m.ds.z, sub(m.s.z, m.to.z), false);
    tr_tree_row(tree, contact->name, "longitudinal", m.ds.x, sub(m.s.x, m.to.x), false);
    tr_tree_row(tree, contact->name, "lateral", m.ds.y, sub(m.s.y, m.to.y), false);
    Touch *touch = new_touch(tree, contact->body, &m.body, m.r);
    touch->contact = contact;
    touch->axes = m.on.pose.R;
    for (int k = 0; k < 3; k++) add_part(touch, three_parts[k], vec_unit(tree->graph, (k + 2) % 3));
}

// |P - Q| = length: the force is along the rod, positive when it pushes
static void make_distance(Tree *tree, const Loop *loop)
{
    Meeting m;
    if (!loop->length.given)
        tr_fail(tree->err, TR_INVALID, loop->name.place, "the rod '%.*s' needs a length",
                TEXT(loop->name.text));
    if (!meet(tree, loop->name, loop->body, loop->at, loop->on, loop->to, &m)) return;
    tree->constants_only = false; // a rod may grow
    const Expr length = tr_tree_formula(tree, loop->length);
    Expr growth;
    if (has_failed(tree->err)) return;
    tr_tree_check_time_only(tree, loop->length, length, "a length");
    tr_system_rates(tree->system, &length, 1, &growth, tree->err);
    const double value = tr_tree_value(tree, length);
    if (!has_failed(tree->err) && value <= 0)
        tr_fail(tree->err, TR_INVALID, loop->length.place,
                "the length of a rod is positive; use a pin to keep two points together");
    if (has_failed(tree->err)) return;
    const Vec d = minus(m.s, m.to); // both as seen from the second body
    const Expr distance = e_sqrt(dot(d, d));
    tr_tree_row(tree, loop->name, "distance", sub(quotient(dot(d, m.ds), distance), growth),
                sub(distance, length), false);
    Touch *touch = new_touch(tree, loop->body, &m.body, m.r);
    touch->loop = loop;
    touch->axes = m.on.pose.R;
    add_part(touch, "distance", scale(quotient(one(tree->graph), distance), d));
}

// ---- all of them ---------------------------------------------------------------------------

typedef struct ContactKind {
    const char *name, *fields;
    void (*make)(Tree *tree, const Contact *contact);
} ContactKind;
typedef struct LoopKind {
    const char *name, *fields;
    void (*make)(Tree *tree, const Loop *loop);
} LoopKind;

static const ContactKind contact_kinds[] = {
#define CONTACT_KIND(name, fields, make, ...) {#name, fields, make},
#include "mech/contact.def"
};
static const LoopKind loop_kinds[] = {
#define LOOP_KIND(name, fields, make, ...) {#name, fields, make},
#include "mech/contact.def"
};

bool tr_is_listed(const char *fields, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = fields; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, key, length) == 0 && (at[length] == ' ' || !at[length])) return true;
    return false;
}

// A field that was given although its kind has no use for it.
static void check_fields(Tree *tree, FieldType type, const void *element, const char *name,
                         const char *what, const char *fields)
{
    const Kind *kind = tr_kind_of(type);
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        const Value *value = (const Value *)((const char *)element + field->offset);
        const bool common = tr_is_listed("kind body at", field->key);
        if (value->given && !common && !tr_is_listed(fields, field->key))
            tr_fail(tree->err, TR_INVALID, value->place, "a %s %s has no use for '%s'", name, what,
                    field->key);
    }
}

static void refuse_kind(Tree *tree, Value word, Suggestion *nearest)
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
        check_fields(tree, TYPE_CONTACTS, contact, kind->name, "contact", kind->fields);
        kind->make(tree, contact);
        return;
    }
    refuse_kind(tree, contact->kind, &nearest);
}

static void make_loop(Tree *tree, const Loop *loop)
{
    Suggestion nearest = {.wanted = loop->kind.text};
    for (size_t i = 0; i < sizeof loop_kinds / sizeof *loop_kinds; i++) {
        const LoopKind *kind = &loop_kinds[i];
        tr_suggest(&nearest, text_of(kind->name));
        if (!text_is(loop->kind.text, kind->name)) continue;
        check_fields(tree, TYPE_LOOPS, loop, kind->name, "loop", kind->fields);
        kind->make(tree, loop);
        return;
    }
    refuse_kind(tree, loop->kind, &nearest);
}

// ---- what formulas and results know of contacts --------------------------------------------

static const char *const part_names[] = {"x",  "y",  "z",  "Fx", "Fy",
                                         "Fz", "fx", "fy", "fz", "angle"};
enum { PARTS = sizeof part_names / sizeof *part_names, RECORDED = 6 };

// contact.E.x y z: where it touches; Fx Fy Fz: the force on the body there, in world axes; fx fy
// fz: in the axes of what carries it
static void touch_parts(const Tree *tree, const Touch *touch, Expr out[PARTS])
{
    Vec F = vec_zero(tree->graph);
    for (uint32_t k = 0; k < touch->part_count; k++)
        F = plus(F, scale(tr_tree_reaction(tree, touch->contact->name, touch->parts[k]),
                          touch->direction[k]));
    const Vec f = apply_transposed(touch->carrier, F);
    for (int k = 0; k < 3; k++) {
        out[k] = vec_at(touch->point, k);
        out[3 + k] = vec_at(F, k);
        out[6 + k] = vec_at(f, k);
    }
    out[9] = touch->angle;
}

static void name_part(char *name, size_t size, const Touch *touch, int k)
{
    snprintf(name, size, "contact.%.*s.%s", WHOLE(touch->contact->name.text), part_names[k]);
}

void tr_tree_contact_names(Tree *tree)
{
    char name[300];
    Expr part[PARTS];
    for (uint32_t i = 0; i < tree->touch_count && !has_failed(tree->err); i++) {
        if (!tree->touches[i].is_recorded) continue;
        touch_parts(tree, &tree->touches[i], part);
        for (int k = 0; k < PARTS; k++) {
            name_part(name, sizeof name, &tree->touches[i], k);
            if (part[k].id) tr_system_name(tree->system, text_of(name), part[k], tree->err);
        }
        tr_tree_watch_load(tree, &tree->touches[i]);
    }
}

void tr_tree_contact_columns(Tree *tree)
{
    char name[300];
    Expr part[PARTS];
    for (uint32_t i = 0; i < tree->touch_count && !has_failed(tree->err); i++) {
        if (!tree->touches[i].is_recorded) continue;
        touch_parts(tree, &tree->touches[i], part);
        for (int k = 0; k < RECORDED; k++) {
            name_part(name, sizeof name, &tree->touches[i], k);
            tr_system_column(tree->system, name, name, part[k], tree->err);
        }
    }
}

void tr_tree_contacts(Tree *tree)
{
    const Contacts *contacts = &tree->model->fields.contacts;
    const Loops *loops = &tree->model->fields.loops;
    tree->touches = tr_arena_alloc(&tree->graph->arena, (size_t)contacts->count + loops->count,
                                   sizeof *tree->touches);
    tree->slips =
        tr_arena_alloc(&tree->graph->arena, 2 * (size_t)contacts->count, sizeof *tree->slips);
    if (!tree->touches || !tree->slips) {
        tree->graph->failed = true;
        return;
    }
    for (uint32_t i = 0; i < contacts->count && !has_failed(tree->err); i++) {
        tree->constants_only = true;
        make_contact(tree, &contacts->at[i]);
    }
    for (uint32_t i = 0; i < loops->count && !has_failed(tree->err); i++) {
        tree->constants_only = true;
        make_loop(tree, &loops->at[i]);
    }
    tree->constants_only = false;
}
