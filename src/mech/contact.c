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

// The rows once more, as the velocity of the contact point in the axes of the root: there a free
// root's own velocity has unit slopes. They are the same three in other axes. With what carries the
// wheel turning at Wc (w as seen from the root) and the wheel at W = Wc + s a:
//
//   V_P = V_O + W x r,  r = radius d,   V_P' = V_O' + (Wc' + s w x a) x r + W x (w + chi a) x r
//
// where the contact runs round the rim at chi, for d stays below the axle:
//   chi = -Wc.a - (n.a) Wc.r / (radius |n - (n.a) a|)
static void roll_in_root(Tree *tree, uint32_t i, const Contact *contact, Expr radius)
{
    Graph *g = tree->graph;
    const Link *link = &tree->links[i];
    uint32_t root = i;
    while (tree->links[root].parent != WORLD) root = tree->links[root].parent;
    const bool about_axis =
        text_is(link->body->joint.type.text, "revolute") && !contact->axis.given;
    if (root == i || !about_axis || contact->at.given || tree->links[root].position_count < 4)
        return;
    const Vec n = tree->links[root].world.R.row[2];
    const Vec a = apply(pose_in_root(tree, link->parent).R, link->axis);
    const Expr lean = dot(n, a), size = e_sqrt(sub(one(g), square(lean)));
    const Vec l = scale(quotient(one(g), size), cross(a, n));
    const Expr stretch = quotient(radius, size);
    const Vec r = scale(stretch, minus(scale(lean, a), n));
    const Vec directions[3] = {n, l, cross(n, l)};

    const Motion hub = motion_in_root(tree, i);
    const Expr s = tree->velocities[link->velocity].symbol;
    const Vec Wc = minus(hub.W, scale(s, a)), w = minus(Wc, tree->links[root].v.W);
    const Expr along = quotient(mul(lean, stretch), square(radius));
    const Expr chi = neg(add(dot(Wc, a), mul(along, dot(Wc, r))));
    const Vec turning = plus(tr_tree_drift(tree, Wc), scale(s, cross(w, a)));
    const Vec bias = plus(plus(tr_tree_drift(tree, hub.V), cross(turning, r)),
                          cross(hub.W, cross(plus(w, scale(chi, a)), r)));
    tr_tree_inner_rows(tree, plus(hub.V, cross(hub.W, r)), bias, directions);
}

static void make_rolling(Tree *tree, const Contact *contact)
{
    Graph *g = tree->graph;
    const uint32_t i = touching(tree, contact->body, contact->name);
    const Expr radius = tr_tree_formula(tree, contact->radius);
    const Vec at = tr_tree_vector(tree, contact->at, "at");
    if (has_failed(tree->err)) return;
    if (!(tr_tree_value(tree, radius) > 0))
        tr_fail(tree->err, TR_INVALID,
                contact->radius.given ? contact->radius.place : contact->name.place,
                "the wheel '%.*s' needs a positive radius", TEXT(contact->name.text));
    Vec a;
    const Carrier c = find_axle(tree, i, contact, &a);
    if (has_failed(tree->err)) return;
    const Vec middle =
        text_is(tree->links[i].body->joint.type.text, "revolute") && !contact->axis.given
            ? apply(tree->links[i].turn, at)
            : own_axes(tree, i, at);
    const Vec off = cross(middle, a);
    if (!(tr_tree_value(tree, dot(off, off)) <= 1e-20 * tr_tree_value(tree, dot(at, at)))) {
        tr_fail(tree->err, TR_INVALID, contact->at.place,
                "the middle of the wheel '%.*s' must stand on its axle", TEXT(contact->name.text));
        return;
    }
    const Vec n = apply_transposed(c.pose.R, vec_unit(g, 2)); // out of the ground
    const Expr lean = dot(n, a);
    const Vec across = minus(n, scale(lean, a));
    const Expr size = e_sqrt(sub(one(g), square(lean)));      // |across|, for n and a are units
    const Vec l = scale(quotient(one(g), size), cross(a, n)); // forward, for an axle to the left
    const Vec r = minus(middle, scale(quotient(radius, size), across)); // d = -across / |across|
    const Vec V = velocity_at(&c, r);
    const Expr height = add(add(c.pose.p.z, dot(n, middle)), neg(mul(radius, size)));
    // Models in the plane need not say how high their wheels are.
    const bool rises = tr_system_uses(tree->system, height, TR_POSITION) != NULL;
    const uint32_t before = tree->system->row_count;
    tr_tree_row(tree, contact->name, "normal", dot(n, V), rises ? height : expr_at(g, 0), false);
    tr_tree_row(tree, contact->name, "longitudinal", dot(l, V), expr_at(g, 0), false);
    tr_tree_row(tree, contact->name, "lateral", dot(cross(n, l), V), expr_at(g, 0), false);
    if (tree->system->row_count == before + 3) roll_in_root(tree, i, contact, radius);
}

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
}

static void make_slide(Tree *tree, const Contact *contact)
{
    Meeting m;
    if (meet(tree, contact->name, contact->body, contact->at, contact->on, contact->to, &m))
        tr_tree_row(tree, contact->name, "normal", m.ds.z, sub(m.s.z, m.to.z), false);
}

static void make_pin(Tree *tree, const Contact *contact)
{
    Meeting m;
    if (!meet(tree, contact->name, contact->body, contact->at, contact->on, contact->to, &m))
        return;
    tr_tree_row(tree, contact->name, "normal", m.ds.z, sub(m.s.z, m.to.z), false);
    tr_tree_row(tree, contact->name, "longitudinal", m.ds.x, sub(m.s.x, m.to.x), false);
    tr_tree_row(tree, contact->name, "lateral", m.ds.y, sub(m.s.y, m.to.y), false);
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
#define CONTACT_KIND(name, fields, make) {#name, fields, make},
#include "mech/contact.def"
};
static const LoopKind loop_kinds[] = {
#define LOOP_KIND(name, fields, make) {#name, fields, make},
#include "mech/contact.def"
};

static bool is_listed(const char *fields, const char *key)
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
        const bool common = is_listed("kind body at", field->key);
        if (value->given && !common && !is_listed(fields, field->key))
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

void tr_tree_contacts(Tree *tree)
{
    const Contacts *contacts = &tree->model->fields.contacts;
    const Loops *loops = &tree->model->fields.loops;
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
