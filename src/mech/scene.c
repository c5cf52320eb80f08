// SPDX-License-Identifier: Apache-2.0
// What a model looks like: its own shapes, and where a body has none, what its joints, contacts and
// inertia suggest. It follows the poses (T5); nothing here moves anything.
#include "mech/surface.h"

#include <math.h>
#include <stdio.h>

// Of the longest arm in the model
#define THICK 0.02  // the radius of links
#define THIN  0.014 // of beams
#define SMALL 0.05  // the radius of points with mass
#define SHARP 0.06  // the width of a wheel, against its radius

typedef struct ContactLook {
    const char *name;
    void (*draw)(Tree *tree, uint32_t i, const Contact *contact);
    bool leaves_track;
} ContactLook;
typedef struct JointLook {
    const char *name;
    void (*draw)(Tree *tree, uint32_t parent, const Link *child);
} JointLook;

// ---- numbers -------------------------------------------------------------------------------

static void numbers(Tree *tree, Vec a, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = tr_tree_value(tree, vec_at(a, k));
}

static void vector(Tree *tree, Value value, const char *what, double out[3])
{
    numbers(tree, tr_tree_vector(tree, value, what), out);
}

static double formula(Tree *tree, Value value)
{
    return tr_tree_value(tree, tr_tree_formula(tree, value));
}

static double length_of(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

static uint32_t scene_body(uint32_t link) { return link == WORLD ? SCENE_WORLD : link; }

// ---- shapes --------------------------------------------------------------------------------

static const Drawing plain = {.axis = {0, 0, 1},
                              .size = {0.1, 0.1, 0.1},
                              .radius = 0.05,
                              .length = 0.1,
                              .tube = 0.01,
                              .scale = 1,
                              .colour = "",
                              .is_guessed = true};

static void add_drawing(Tree *tree, Drawing drawing)
{
    Scene *s = &tree->system->scene;
    if (!tr_grow((void **)&s->drawings, &s->drawing_capacity, s->drawing_count + 1,
                 sizeof *s->drawings)) {
        tree->graph->failed = true;
        return;
    }
    s->drawings[s->drawing_count++] = drawing;
}

// `at` is where the file has its origin; one that could not be read is a box.
static void place_mesh(Tree *tree, const Shape *shape, Drawing *d)
{
    const uint32_t mesh = tr_tree_mesh(tree, shape);
    if (mesh == NO_MESH) {
        d->type = "box";
        return;
    }
    const SceneMesh *m = &tree->system->scene.meshes[mesh];
    d->mesh = mesh;
    d->scale = formula(tree, shape->scale);
    for (int k = 0; k < 3; k++) {
        d->at[k] += d->scale * m->middle[k];
        d->size[k] = d->scale * m->size[k];
    }
}

static void add_given(Tree *tree, uint32_t i, const Shape *shape)
{
    Drawing d = plain;
    d.body = i;
    d.is_guessed = false;
    d.type = tr_tree_text(tree, shape->type.text);
    d.colour = tr_tree_text(tree, shape->colour.text);
    vector(tree, shape->at, "at", d.at);
    vector(tree, shape->size, "size", d.size);
    numbers(tree, tr_tree_unit(tree, shape->axis, "axis"), d.axis);
    d.radius = formula(tree, shape->radius);
    d.length = formula(tree, shape->length);
    d.tube = formula(tree, shape->tube);
    if (text_is(shape->type.text, "torus") && !(d.tube > 0)) d.type = "disc";
    if (text_is(shape->type.text, "mesh")) place_mesh(tree, shape, &d);
    add_drawing(tree, d);
}

// From the body's origin to a point of it; nothing where they are the same
static void reach_to(Tree *tree, uint32_t i, const double point[3])
{
    Drawing d = plain;
    d.body = i;
    d.type = "capsule";
    d.length = length_of(point);
    d.radius = THICK * tree->length;
    if (!(d.length > d.radius)) return;
    for (int k = 0; k < 3; k++) d.at[k] = point[k] / 2, d.axis[k] = point[k] / d.length;
    add_drawing(tree, d);
}

static void add_ball(Tree *tree, uint32_t i, const double at[3], double radius)
{
    Drawing d = plain;
    d.body = i;
    d.type = "sphere";
    d.radius = radius;
    for (int k = 0; k < 3; k++) d.at[k] = at[k];
    add_drawing(tree, d);
}

// ---- one function per kind of contact, loop and joint --------------------------------------

static void reach_point(Tree *tree, uint32_t i, Value value, double point[3])
{
    vector(tree, value, "at", point);
    reach_to(tree, i, point);
}

// What a formula turns is drawn as it begins.
static void at_start(Tree *tree, Vec a, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = tr_tree_value(tree, tr_tree_at_start(tree, vec_at(a, k)));
}

static void draw_wheel(Tree *tree, uint32_t i, const Contact *contact)
{
    Drawing d = plain;
    d.body = i;
    vector(tree, contact->at, "at", d.at);
    d.radius = formula(tree, contact->radius);
    d.tube = formula(tree, contact->tube);
    d.length = SHARP * d.radius;
    d.type = text_is(contact->shape.text, "ball") ? "sphere" : d.tube > 0 ? "torus" : "disc";
    if (!text_is(contact->shape.text, "ball"))
        at_start(tree, tr_contact_axle(tree, i, contact), d.axis);
    if (!(d.tube > 0)) d.tube = d.length / 2;
    add_drawing(tree, d);
}

// A small wheel across the direction that it cannot slip in
static void draw_skate(Tree *tree, uint32_t i, const Contact *contact)
{
    Drawing d = plain;
    reach_point(tree, i, contact->at, d.at);
    d.body = i;
    d.type = "disc";
    at_start(tree, tr_contact_direction(tree, contact), d.axis);
    d.radius = 2 * SMALL * tree->length;
    d.length = 2 * SHARP * d.radius;
    add_drawing(tree, d);
}

static void draw_foot(Tree *tree, uint32_t i, const Contact *contact)
{
    double point[3];
    reach_point(tree, i, contact->at, point);
    add_ball(tree, i, point, 1.5 * THICK * tree->length);
}

// A point in the axes of an anchor, in those of its body
static void anchored(Tree *tree, Anchor anchor, Vec at, double point[3])
{
    numbers(tree, point_out(anchor.pose, at), point);
}

static void draw_pin(Tree *tree, uint32_t i, const Contact *contact)
{
    const Anchor first = tr_tree_anchor(tree, contact->body);
    const bool is_first = first.link == i;
    const Anchor here = is_first ? first : tr_tree_anchor(tree, contact->against);
    double point[3];
    anchored(tree, here, tr_tree_vector(tree, is_first ? contact->at : contact->to, "at"), point);
    reach_to(tree, i, point);
}

// Reaches for the end of a loop, or of a joint that was cut
static void draw_end(Tree *tree, uint32_t i, const Tie *tie)
{
    const bool is_first = tie->body.link == i;
    double point[3];
    anchored(tree, is_first ? tie->body : tie->on, is_first ? tie->at : tie->to, point);
    reach_to(tree, i, point);
}

static void draw_arm(Tree *tree, uint32_t parent, const Link *child)
{
    double point[3];
    numbers(tree, child->at, point);
    reach_to(tree, parent, point);
}

static void draw_nothing(Tree *tree, uint32_t parent, const Link *child)
{
    (void)tree, (void)parent, (void)child;
}

static const ContactLook contact_looks[] = {
#define CONTACT_KIND(name, fields, make, draw, track, ...) {#name, draw, track},
#include "mech/contact.def"
};
static const JointLook joint_looks[] = {
#define JOINT_TYPE(name, positions, velocities, quantity, fields, worth, make, draw, ...) \
    {#name, draw},
#include "mech/joint.def"
};

static const ContactLook *contact_look(const Contact *contact)
{
    const ContactLook *look = contact_looks;
    while (!text_is(contact->kind.text, look->name)) look++; // there is no other: they were made
    return look;
}

static void draw_joint(Tree *tree, uint32_t parent, const Link *child)
{
    const JointLook *look = joint_looks;
    while (strcmp(child->whole->name, look->name) != 0) look++;
    look->draw(tree, parent, child);
}

// ---- bodies as heavy as they are -----------------------------------------------------------

static double within(double low, double x, double high) { return fmin(fmax(x, low), high); }

// The cylinder with these moments about its middle: m r^2 / 2 and m r^2 / 4 + m l^2 / 12
static void add_cylinder(Tree *tree, uint32_t i, Drawing d, double m)
{
    const Inertia *I = &tree->links[i].body->inertia;
    const double axial = formula(tree, I->axial), radial = formula(tree, I->radial);
    const double thin = THICK * tree->length, most = 3 * tree->length;
    const double square = 12 * (radial - axial / 2) / m;
    d.type = "cylinder";
    d.radius = within(thin, sqrt(2 * axial / m), most);
    d.length = within(thin, square > 0 ? sqrt(square) : 0, most);
    numbers(tree, tr_tree_inertia_axis(tree, &tree->links[i]), d.axis);
    add_drawing(tree, d);
}

// What is long one way alone is a rod, as thick as the links that may lie along it.
static bool is_rod(Drawing *d, double thin)
{
    for (int k = 0; k < 3; k++) {
        if (d->size[(k + 1) % 3] > thin || d->size[(k + 2) % 3] > thin) continue;
        if (d->size[k] <= 2 * thin) continue;
        for (int i = 0; i < 3; i++) d->axis[i] = i == k;
        d->radius = thin;
        d->length = d->size[k] - 2 * thin; // without its round ends
        return true;
    }
    return false;
}

// The box with these moments: edges with a^2 = 6 (I_yy + I_zz - I_xx) / m
static void add_box(Tree *tree, Drawing d, double m, const double I[3])
{
    const double thin = THICK * tree->length, most = 3 * tree->length;
    for (int k = 0; k < 3; k++) {
        const double square = 6 * (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]) / m;
        d.size[k] = within(thin, square > 0 ? sqrt(square) : 0, most);
    }
    d.type = is_rod(&d, thin) ? "capsule" : "box";
    add_drawing(tree, d);
}

// A body with neither joints nor contacts on it: its mass, held from its origin
static void draw_mass(Tree *tree, uint32_t i)
{
    const Body *body = tree->links[i].body;
    const double m = formula(tree, body->mass);
    const Sym own = tr_tree_own_inertia(tree, &tree->links[i]);
    double I[3];
    numbers(tree, vec(own.xx, own.yy, own.zz), I);
    Drawing d = plain;
    d.body = i;
    vector(tree, body->com, "com", d.at);
    reach_to(tree, i, d.at);
    if (!(m > 0) || !(length_of(I) > 0))
        add_ball(tree, i, d.at, SMALL * tree->length);
    else if (body->inertia.axial.given && body->inertia.radial.given)
        add_cylinder(tree, i, d, m);
    else
        add_box(tree, d, m, I);
}

// ---- spheres that others are on ------------------------------------------------------------

// A sphere that is there already, as large and about the same middle, stands for it.
static Drawing *sphere_around(const Scene *s, const Drawing *sphere)
{
    for (uint32_t k = 0; k < s->drawing_count; k++) {
        Drawing *d = &s->drawings[k];
        const double off[] = {d->at[0] - sphere->at[0], d->at[1] - sphere->at[1],
                              d->at[2] - sphere->at[2]};
        const double slack = 1e-9 * sphere->radius;
        if (d->body == sphere->body && strcmp(d->type, "sphere") == 0 && length_of(off) <= slack &&
            d->radius >= sphere->radius - slack)
            return d;
    }
    return NULL;
}

static void draw_sphere(Tree *tree, const Floor *floor)
{
    Drawing d = plain;
    d.body = scene_body(floor->place.link);
    d.type = "sphere";
    d.radius = tr_tree_value(tree, floor->radius);
    d.is_shell = floor->is_inside;
    anchored(tree, floor->place, floor->to, d.at);
    Drawing *around = sphere_around(&tree->system->scene, &d);
    if (around)
        around->is_shell |= d.is_shell;
    else
        add_drawing(tree, d);
}

// ---- bodies --------------------------------------------------------------------------------

// What stands on each link: numbers of contacts, ties or children, each kind in order
typedef struct Standing {
    uint32_t *first; // by link: into next and thing, plus one; 0 where nothing stands there
    uint32_t *next, *thing, count;
} Standing;

static Standing standing_room(Tree *tree, size_t most)
{
    return (Standing){.first = tr_tree_room(tree, tree->link_count, sizeof(uint32_t)),
                      .next = tr_tree_room(tree, most + 1, sizeof(uint32_t)),
                      .thing = tr_tree_room(tree, most + 1, sizeof(uint32_t))};
}

// In front of those that stand there already
static void stand(Standing *s, uint32_t link, uint32_t thing)
{
    if (link == WORLD) return;
    s->thing[s->count] = thing, s->next[s->count] = s->first[link];
    s->first[link] = ++s->count;
}

typedef struct Company {
    Standing contacts, ties, children;
    Standing surfaces; // touches on what is not flat
} Company;

static bool is_on_sphere(const Touch *touch)
{
    return touch->floor && touch->floor->kind == SURFACE_SPHERE;
}

static Company find_company(Tree *tree)
{
    const Contacts *contacts = &tree->model->fields.contacts;
    Company c = {standing_room(tree, 2 * (size_t)contacts->count),
                 standing_room(tree, 2 * (size_t)tree->tie_count),
                 standing_room(tree, tree->link_count), standing_room(tree, tree->touch_count)};
    if (tree->graph->failed) return c;
    for (uint32_t k = contacts->count; k-- > 0;) {
        const Contact *contact = &contacts->at[k];
        const uint32_t body = tr_tree_anchor(tree, contact->body).link;
        const bool both = contact_look(contact)->draw == draw_pin; // the other end is a point, too
        const uint32_t on = both ? tr_tree_anchor(tree, contact->against).link : body;
        stand(&c.contacts, body, k);
        if (on != body) stand(&c.contacts, on, k);
    }
    for (uint32_t k = tree->tie_count; k-- > 0;) {
        const uint32_t body = tree->ties[k].body.link, on = tree->ties[k].on.link;
        stand(&c.ties, body, k);
        if (on != body) stand(&c.ties, on, k);
    }
    for (uint32_t k = tree->link_count; k-- > 0;) stand(&c.children, tree->links[k].parent, k);
    for (uint32_t k = tree->touch_count; k-- > 0;)
        if (tree->touches[k].floor) stand(&c.surfaces, tree->touches[k].floor->place.link, k);
    return c;
}

static void guess_shapes(Tree *tree, const Company *c, uint32_t i)
{
    const Scene *s = &tree->system->scene;
    const uint32_t before = s->drawing_count;
    for (uint32_t k = c->contacts.first[i]; k; k = c->contacts.next[k - 1]) {
        const Contact *contact = &tree->model->fields.contacts.at[c->contacts.thing[k - 1]];
        contact_look(contact)->draw(tree, i, contact);
    }
    for (uint32_t k = c->ties.first[i]; k; k = c->ties.next[k - 1])
        draw_end(tree, i, &tree->ties[c->ties.thing[k - 1]]);
    double joint[3];
    numbers(tree, tree->links[i].to, joint);
    reach_to(tree, i, joint);
    for (uint32_t k = c->children.first[i]; k; k = c->children.next[k - 1])
        draw_joint(tree, i, &tree->links[c->children.thing[k - 1]]);
    for (uint32_t k = c->surfaces.first[i]; k; k = c->surfaces.next[k - 1]) {
        const Touch *touch = &tree->touches[c->surfaces.thing[k - 1]];
        if (is_on_sphere(touch)) draw_sphere(tree, touch->floor);
    }
    const bool is_seen = s->drawing_count > before || c->surfaces.first[i]; // as a terrain, too
    if (!is_seen) draw_mass(tree, i);
}

// Of the joint that a motor drives, if it is one
static const Link *driven_by(const Tree *tree, uint32_t motor)
{
    const Link *link = tree->links;
    while (tree->links[motor].is_motor && link->motor != motor) link++; // one has it
    return tree->links[motor].is_motor ? link : &tree->links[motor];
}

static void set_pose(SceneBody *b, Pose pose)
{
    for (int k = 0; k < 3; k++) b->origin[k] = vec_at(pose.p, k);
    for (int k = 0; k < 9; k++) b->rotation[k] = mat_at(pose.R, k / 3, k % 3);
}

// Of springs and friction, which need not be constant
static Expr as_it_is(Tree *tree, Value value)
{
    const bool before = tree->constants_only;
    tree->constants_only = false;
    const Expr x = tr_tree_formula(tree, value);
    tree->constants_only = before;
    return x;
}

// What a joint with one coordinate is pulled back by
static void describe_spring(Tree *tree, const Link *link, SceneBody *b)
{
    b->stretch = b->stiffness = expr_at(tree->graph, 0);
    if (link->is_motor || !has_coordinate(link->type) || !link->by->stiffness.given) return;
    const Expr q = tree->positions[link->position].symbol;
    b->stretch = sub(q, as_it_is(tree, link->by->rest));
    b->stiffness = as_it_is(tree, link->by->stiffness);
}

static void describe_body(Tree *tree, const Company *company, uint32_t i)
{
    const Link *link = &tree->links[i];
    const Body *body = link->body;
    SceneBody *b = &tree->system->scene.bodies[i];
    b->name = tr_tree_text(tree, body->name.text);
    b->parent = scene_body(link->parent);
    b->mass = formula(tree, body->mass);
    vector(tree, body->com, "com", b->com);
    b->joint = driven_by(tree, i)->whole->name;
    b->coordinate = has_coordinate(link->type) ? tree->positions[link->position].name : "";
    numbers(tree, own_axis(link), b->axis);
    numbers(tree, link->to, b->joint_at);
    set_pose(b, tr_tree_world(tree, i));
    describe_spring(tree, link, b);
    for (uint32_t k = 0; k < body->shapes.count; k++) add_given(tree, i, &body->shapes.at[k]);
    b->is_part = link->section || link->is_motor || link->is_between;
    if (!body->shapes.count && !b->is_part && !link->flex) guess_shapes(tree, company, i);
}

// ---- beams ---------------------------------------------------------------------------------

static void describe_piece(Tree *tree, uint32_t i, const struct Piece *piece, uint32_t which)
{
    Scene *s = &tree->system->scene;
    SceneBody *b = &s->bodies[s->body_count++];
    Link link = {.section = piece->at};
    tr_section_make(tree, &link);
    const Pose pose = pose_product(tr_tree_world(tree, i), link.X);
    char name[300];
    snprintf(name, sizeof name, "%s.%u", s->bodies[i].name, which + 1);
    *b = (SceneBody){.name = tr_tree_text(tree, text_of(name)), .parent = i, .mass = piece->mass};
    b->joint = "fixed", b->coordinate = "", b->is_part = true;
    set_pose(b, pose);
}

// Bodies with modes from a table are drawn by their nodes.
static void describe_node(Tree *tree, uint32_t i, const struct Piece *piece, uint32_t which)
{
    Scene *s = &tree->system->scene;
    const double origin[3] = {0};
    describe_piece(tree, i, piece, which);
    add_ball(tree, s->body_count - 1, origin, THIN * tree->length);
}

static void describe_beam(Tree *tree, uint32_t i)
{
    Scene *s = &tree->system->scene;
    const Flex *flex = tree->links[i].flex;
    if (flex && !flex->table)
        s->beams[s->beam_count++] =
            (SceneBeam){i, s->body_count, flex->piece_count, THIN * tree->length};
    for (uint32_t k = 0; flex && k < flex->piece_count && !has_failed(tree->err); k++)
        (flex->table ? describe_node : describe_piece)(tree, i, &flex->pieces[k], k);
}

// ---- contacts, rods and the ground ---------------------------------------------------------

static bool has_row(const Tree *tree, Value element, const char *part)
{
    return !is_zero(tr_tree_reaction(tree, element, part));
}

static bool are_equal(const double *a, const double *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i]) return false;
    return true;
}

// Whether they are one formula over the same axes: each contact on a body has symbols of its own.
static bool is_same_terrain(const SceneTerrain *a, const SceneTerrain *b)
{
    const Expr other = tr_replace(b->height, b->symbol, a->symbol, 2);
    return a->on == b->on && a->height.id == other.id && are_equal(a->at, b->at, 3) &&
           are_equal(a->rotation, b->rotation, 9);
}

// The terrain that a contact is on, new or known
static uint32_t terrain_of(Tree *tree, const Floor *floor)
{
    Scene *s = &tree->system->scene;
    const Anchor place = floor->place;
    SceneTerrain t = {.on = scene_body(place.link), .height = floor->formula};
    anchored(tree, place, floor->to, t.at);
    for (int k = 0; k < 9; k++)
        t.rotation[k] = tr_tree_value(tree, mat_at(place.pose.R, k / 3, k % 3));
    for (int k = 0; k < 2; k++) t.symbol[k] = floor->symbol[k];
    for (uint32_t k = 0; k < s->terrain_count; k++)
        if (is_same_terrain(&s->terrains[k], &t)) return k;
    s->terrains[s->terrain_count] = t;
    return s->terrain_count++;
}

static void describe_terrain(Tree *tree, const Floor *floor, SceneContact *c)
{
    c->terrain = NO_TERRAIN;
    if (!floor || floor->kind != SURFACE_HEIGHT) return;
    c->terrain = terrain_of(tree, floor);
    const Input *x = tr_system_input(tree->system, floor->x);
    c->touch = x && x->kind == TR_TOUCH ? (uint32_t)(x - tree->system->inputs) : NO_TOUCH;
}

static void describe_contact(Tree *tree, const Touch *touch, SceneContact *c)
{
    const Contact *contact = touch->contact;
    const ContactLook *look = contact_look(contact);
    const Vec normal = apply(touch->axes, touch->direction[0]);
    for (int k = 0; k < 3 && touch->gap.id; k++) c->normal[k] = vec_at(normal, k);
    c->gap = touch->gap, c->radius = touch->radius;
    for (int k = 0; k < 3; k++) c->middle[k] = vec_at(touch->middle, k);
    if (contact->friction.given) c->friction = as_it_is(tree, contact->friction);
    if (contact->roller.given) {
        const Vec across = cross(normal, apply(touch->axes, touch->direction[1]));
        for (int k = 0; k < 3; k++) c->across[k] = vec_at(across, k);
    }
    c->kind = look->name;
    c->on = scene_body(tr_tree_anchor(tree, contact->against).link);
    c->coordinate = "";
    c->leaves_track = look->leaves_track;
}

// Where it stands on either body. What turns as one has its axis turned with it.
static void describe_tie(Tree *tree, const Tie *tie, SceneContact *c)
{
    const bool has_axis =
        tie->turns == HOLD_ACROSS || tie->turns == HOLD_ANGLE || tie->points == HOLD_ACROSS;
    const Vec own = tie->turns == HOLD_ALL ? turned_back(tie->turn, tie->axis) : tie->own;
    const bool is_named = tie->joint && !is_zero(tie->rate);
    c->kind = tie->kind;
    c->is_loop = true;
    c->coordinate = is_named ? tr_tree_text(tree, tr_joint_name(tie->joint)) : "";
    c->on = scene_body(tie->on.link);
    anchored(tree, tie->body, tie->at, c->at);
    anchored(tree, tie->on, tie->to, c->to);
    if (!has_axis) return;
    numbers(tree, apply(tie->body.pose.R, own), c->axis);
    numbers(tree, apply(tie->on.pose.R, tie->axis), c->guide);
}

static void describe_touch(Tree *tree, const Touch *touch)
{
    Scene *s = &tree->system->scene;
    SceneContact *c = &s->contacts[s->contact_count++];
    const Value name = touch->contact ? touch->contact->name : touch->tie->name;
    c->name = tr_tree_text(tree, name.text);
    c->body = touch->link;
    describe_terrain(tree, touch->floor, c);
    if (touch->contact)
        describe_contact(tree, touch, c);
    else
        describe_tie(tree, touch->tie, c);
    for (int k = 0; k < 3; k++) c->point[k] = vec_at(touch->point, k);
    for (uint32_t k = 0; k < touch->part_count; k++) {
        if (!has_row(tree, name, touch->parts[k])) continue;
        char row[256];
        struct SceneRow *r = &c->rows[c->row_count++];
        snprintf(row, sizeof row, "%s.%s", c->name, touch->parts[k]);
        r->name = tr_tree_text(tree, text_of(row));
        r->is_moment = k >= touch->force_count;
        c->has_moment = c->has_moment || r->is_moment;
        const Vec direction = apply(touch->axes, touch->direction[k]);
        for (int j = 0; j < 3; j++) r->direction[j] = vec_at(direction, j);
    }
}

static void describe_rod(Tree *tree, const Tie *tie)
{
    Scene *s = &tree->system->scene;
    if (!tie->loop || !tie->loop->length.given) return;
    SceneRod *rod = &s->rods[s->rod_count++];
    rod->name = tr_tree_text(tree, tie->name.text);
    rod->body = tie->body.link;
    rod->on = scene_body(tie->on.link);
    anchored(tree, tie->body, tie->at, rod->at);
    anchored(tree, tie->on, tie->to, rod->to);
}

// It is there for what runs on it; where no row keeps it there, its height does not matter.
static void describe_ground(Tree *tree)
{
    Scene *s = &tree->system->scene;
    const Contacts *contacts = &tree->model->fields.contacts;
    numbers(tree, tree->gravity, s->gravity);
    numbers(tree, tree->ground.p, s->ground_at);
    numbers(tree, column(tree->ground.R, 2), s->ground_normal);
    const Ground *ground = &tree->model->fields.ground;
    s->has_ground = ground->at.given || ground->turn.given;
    s->ground_is_free = !s->has_ground;
    for (uint32_t k = 0; k < contacts->count; k++) {
        const Contact *contact = &contacts->at[k];
        const bool slides = text_is(contact->kind.text, "slide");
        if (!slides && !contact_look(contact)->leaves_track) continue;
        if (tr_tree_find(tree, contact->against.text) != WORLD) continue; // runs on a body
        if (text_is(contact->surface.kind.text, "sphere")) continue;      // or on a sphere
        if (slides && text_is(contact->against.text, "world") && contact->against.given) continue;
        s->has_ground = true;
        if (has_row(tree, contact->name, "normal")) s->ground_is_free = false;
    }
}

void tr_tree_scene(Tree *tree)
{
    Scene *s = &tree->system->scene;
    tree->constants_only = true;
    uint32_t pieces = 0;
    for (uint32_t i = 0; i < tree->link_count; i++)
        pieces += tree->links[i].flex ? tree->links[i].flex->piece_count : 0;
    s->bodies = tr_tree_room(tree, tree->link_count + pieces, sizeof *s->bodies);
    s->contacts = tr_tree_room(tree, tree->touch_count + 1u, sizeof *s->contacts);
    s->rods = tr_tree_room(tree, tree->tie_count + 1u, sizeof *s->rods);
    s->beams = tr_tree_room(tree, tree->link_count, sizeof *s->beams);
    s->terrains = tr_tree_room(tree, tree->touch_count + 1u, sizeof *s->terrains);
    const Company company = find_company(tree);
    if (tree->graph->failed) return;
    s->length = tree->length;
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++)
        describe_body(tree, &company, i);
    s->body_count = tree->link_count;
    for (uint32_t i = 0; i < tree->link_count; i++) describe_beam(tree, i);
    for (uint32_t i = 0; i < tree->touch_count; i++) describe_touch(tree, &tree->touches[i]);
    for (uint32_t i = 0; i < tree->tie_count; i++) describe_rod(tree, &tree->ties[i]);
    for (uint32_t i = 0; i < tree->touch_count; i++)
        if (is_on_sphere(&tree->touches[i]) && tree->touches[i].floor->place.link == WORLD)
            draw_sphere(tree, tree->touches[i].floor);
    describe_ground(tree);
    tree->constants_only = false;
}
