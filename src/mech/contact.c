// SPDX-License-Identifier: Apache-2.0
// Contacts: the velocity of a point of one body, as seen from the ground or another body (T43),
// along some direction, is zero (T47, T48; what rolls in rolling.c); and what formulas and results
// know of them.
#include "mech/rim.h"

#include <math.h>
#include <stdio.h>

#define SHORT 1e-18 // of the square of a direction's length

// ---- what kinds share ----------------------------------------------------------------------

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

bool tr_turns_by_itself(Vec e)
{
    return !(tr_tree_is_constant(e.x) && tr_tree_is_constant(e.y) && tr_tree_is_constant(e.z));
}

// Of many skates it is worth not to ask.
Vec tr_contact_turning(Tree *tree, Vec e)
{
    return tr_turns_by_itself(e) ? tr_tree_drift(tree, e) : vec_zero(tree->graph);
}

// Without a length it has no direction: a run ends there.
void tr_contact_watch_length(Tree *tree, const Contact *contact, Value value, const char *what,
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

const char *tr_contact_part(const Contact *contact, int k)
{
    static const char *const names[] = {"normal", "longitudinal", "lateral"};
    return k == 1 && contact->roller.given ? "roller" : names[k];
}

static Touch *touch_of(Tree *tree, const Contact *contact, const Carrier *c, Vec r, Mat axes)
{
    Touch *touch = tr_tree_touch(tree, tr_tree_anchor(tree, contact->body).link, c, r, axes);
    touch->contact = contact;
    return touch;
}

// One that formulas and results know, with its three directions in the axes of its carrier
Touch *tr_contact_recorded(Tree *tree, const Contact *contact, const Carrier *c, Vec r,
                           const Vec direction[3])
{
    Touch *touch = touch_of(tree, contact, c, r, mat_identity(tree->graph));
    touch->is_recorded = true;
    for (int k = 0; k < (contact->roller.given ? 2 : 3); k++)
        tr_touch_part(touch, tr_contact_part(contact, k), apply(c->pose.R, direction[k]));
    return touch;
}

void tr_contact_uneven(Tree *tree, const Contact *contact, int part, Expr rate)
{
    const uint32_t i = tr_tree_find_row(tree, contact->name, tr_contact_part(contact, part));
    if (i < tree->system->row_count) tree->system->rows[i].uneven = rate;
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
    if (tr_turns_by_itself(direction))
        tr_contact_watch_length(tree, contact, contact->direction, "direction",
                                "the direction of '%.*s' is zero");
    tr_tree_row(tree, contact->name, "lateral", dot(e, V), none, drift, QUANTITY_FORCE);
    tr_touch_part(touch_of(tree, contact, &body, r, body.pose.R), "lateral", e);
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
        tr_contact_uneven(tree, contact, 0, dot(tr_floor_normal(tree, &tilted), m.ds));
    }
    Vec direction[3] = {n}; // and the surface's x and y, in the body's axes
    tr_floor_directions(mat_identity(tree->graph), n, direction + 1);
    for (int k = 0; k < 3; k++)
        direction[k] = apply_transposed(m.body.pose.R, apply(m.axes, direction[k]));
    Touch *touch = tr_contact_recorded(tree, contact, &m.body, m.r, direction);
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
    Touch *touch = touch_of(tree, contact, &m.body, m.r, m.axes);
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
    Touch *touch = touch_of(tree, contact, &m.body, m.r, m.axes);
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
