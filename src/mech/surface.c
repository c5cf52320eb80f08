// SPDX-License-Identifier: Apache-2.0
// Surfaces, and contacts on those that are not flat. Where a wheel touches a height f(x, y) is
// carried along as two coordinates without mass, whose rates are known (T186, T187):
//
//   S = (x, y, f),   t1 = (1, 0, f_x),   t2 = (0, 1, f_y),   n = (-f_x, -f_y, 1) / w
//   D = O + r - S,   t1.D = t2.D = 0,    gap n.D
#include "mech/surface.h"

#include "base/random.h"
#include "expr/derivative.h"

#include <stdio.h>

// ---- what it is ----------------------------------------------------------------------------

static Expr input_symbol(Tree *tree, tr_kind kind, const char *format, Text name, char axis)
{
    char text[300];
    snprintf(text, sizeof text, format, WHOLE(name), axis);
    return tr_input(tree->system, text, kind, 0, tree->err);
}

// A formula of x and y, for which there are symbols of its own. These are nowhere, so what a run
// looks after, such as that no table is left, is the formula where contacts are.
static Expr height_formula(Tree *tree, Value value, const Expr symbol[2])
{
    const Local names[] = {{"x", symbol[0]}, {"y", symbol[1]}};
    System *s = tree->system;
    const bool before = tree->constants_only;
    tree->constants_only = true;
    const Expr f = tr_tree_formula_with(tree, value, names, 2);
    tree->constants_only = before;
    if (s->formula_count && s->formulas[s->formula_count - 1].value.id == f.id) s->formula_count--;
    if (!has_failed(tree->err)) tr_tree_check_smooth(tree, value, f);
    return f;
}

static void make_symbols(Tree *tree, Text name, Expr symbol[2])
{
    for (int k = 0; k < 2; k++)
        symbol[k] = input_symbol(tree, TR_DIRECTION, "%.*s.surface_%c", name, "xy"[k]);
}

// The formula of the ground's height with symbols for x and y, or of none: the failed expression
static Expr ground_height(Tree *tree, Expr symbol[2])
{
    const Value height = tree->model->fields.ground.height;
    if (!height.given || has_failed(tree->err)) return expr_at(tree->graph, 0);
    if (!tree->height.id) {
        make_symbols(tree, text_of("ground"), tree->height_symbol);
        tree->height = height_formula(tree, height, tree->height_symbol);
    }
    symbol[0] = tree->height_symbol[0], symbol[1] = tree->height_symbol[1];
    return tree->height;
}

static void take_height(Tree *tree, const Contact *contact, Floor *floor)
{
    floor->kind = SURFACE_HEIGHT;
    floor->height =
        contact->surface.name.given ? contact->surface.height : tree->model->fields.ground.height;
    if (!contact->surface.name.given) {
        floor->formula = ground_height(tree, floor->symbol);
        return;
    }
    char name[200];
    snprintf(name, sizeof name, "contact.%.*s", WHOLE(contact->name.text));
    make_symbols(tree, text_of(name), floor->symbol);
    floor->formula = height_formula(tree, contact->surface.height, floor->symbol);
}

static void take_own_height(Tree *tree, const Contact *contact, Floor *floor)
{
    if (contact->surface.height.given)
        take_height(tree, contact, floor);
    else
        tr_fail(tree->err, TR_INVALID, contact->surface.kind.place,
                "the surface that '%.*s' is on needs a height", TEXT(contact->name.text));
}

static void take_sphere(Tree *tree, const Contact *contact, Floor *floor)
{
    const Surface *surface = &contact->surface;
    floor->kind = SURFACE_SPHERE;
    const Expr radius = tr_tree_constant(tree, surface->radius, "radius");
    if (has_failed(tree->err)) return;
    const bool is_outside = tr_tree_is(tree, RULE_POSITIVE, radius, surface->radius.place,
                                       "'%.*s' is %s its sphere", WHOLE(contact->name.text),
                                       tr_tree_value(tree, radius) > 0 ? "outside" : "inside");
    floor->is_inside = !is_outside;
    floor->radius = is_outside ? radius : neg(radius);
    if (!tr_tree_is(tree, RULE_POSITIVE, floor->radius, surface->radius.place,
                    "the sphere that '%.*s' is on has a radius", WHOLE(contact->name.text)))
        tr_fail(tree->err, TR_INVALID, surface->name.place,
                "the sphere that '%.*s' is on needs a radius, as in `surface: {kind: sphere, "
                "radius: 0.5}`; negative where the contact is inside",
                TEXT(contact->name.text));
}

// One row for each kind
static const struct {
    const char *name, *fields;
    void (*take)(Tree *tree, const Contact *contact, Floor *floor);
} kinds[] = {
    {"plane", "", NULL}, {"sphere", "radius", take_sphere}, {"height", "height", take_own_height}};

static void take_surface(Tree *tree, const Contact *contact, Floor *floor)
{
    const Surface *surface = &contact->surface;
    const bool is_height = !surface->kind.given && surface->height.given;
    const Text kind = is_height ? text_of("height") : surface->kind.text;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!text_is(kind, kinds[i].name)) continue;
        tr_tree_check_fields(tree, TYPE_SURFACE, surface, kinds[i].name, "surface",
                             kinds[i].fields);
        if (kinds[i].take && !has_failed(tree->err)) kinds[i].take(tree, contact, floor);
        return;
    }
    tr_fail(tree->err, TR_INVALID, surface->kind.place,
            "a surface is a plane, a sphere or a height, not a '%.*s'", TEXT(kind));
}

Floor tr_floor_shape(Tree *tree, const Contact *contact, bool is_on_something)
{
    Floor floor = {.kind = SURFACE_PLANE, .link = WORLD};
    floor.to = tr_tree_vector(tree, contact->to, "to");
    if (has_failed(tree->err)) return floor;
    if (contact->surface.name.given)
        take_surface(tree, contact, &floor);
    else if (!is_on_something && tree->model->fields.ground.height.given)
        take_height(tree, contact, &floor);
    return floor;
}

Floor tr_floor(Tree *tree, const Contact *contact)
{
    const uint32_t k = tr_tree_body(tree, contact->against);
    Floor floor = tr_floor_shape(tree, contact, k != WORLD);
    floor.carrier = tr_own_carrier(tree, k), floor.link = k;
    if (k == WORLD) floor.carrier.pose = tree->ground;
    if (!has_failed(tree->err) && text_equal(contact->against.text, contact->body.text))
        tr_fail(tree->err, TR_INVALID, contact->against.place, "'%.*s' rolls on itself",
                TEXT(contact->name.text));
    return floor;
}

const Floor *tr_floor_keep(Tree *tree, const Floor *floor, Anchor place)
{
    if (floor->kind == SURFACE_PLANE) return NULL;
    Floor *kept = tr_tree_room(tree, 1, sizeof *kept);
    if (kept) *kept = *floor, kept->place = place;
    return kept;
}

// f with its slopes and bends, where a contact is
void tr_floor_at(Tree *tree, Floor *floor, Expr x, Expr y)
{
    Graph *g = graph_of(x);
    const Expr at[] = {x, y};
    Expr all[6] = {floor->formula}, second[4];
    if (!floor->formula.id) return;
    for (int k = 0; k < 5; k++) all[k + 1] = second[k % 4] = expr_at(g, 0);
    if (!tr_dense_jacobian(g, all, 1, floor->symbol, 2, all + 1) ||
        !tr_dense_jacobian(g, all + 1, 2, floor->symbol, 2, second))
        g->failed = true;
    all[3] = second[0], all[4] = second[1], all[5] = second[3];
    for (int k = 0; k < 6; k++) all[k] = tr_replace(all[k], floor->symbol, at, 2);
    floor->x = x, floor->y = y, floor->f = all[0];
    for (int k = 0; k < 2; k++) floor->slope[k] = all[1 + k];
    for (int k = 0; k < 3; k++) floor->bend[k] = all[3 + k];
    floor->length = e_sqrt(add(one(g), add(square(all[1]), square(all[2]))));
    tr_tree_note(tree, floor->height, floor->f);
}

Vec tr_floor_normal(Tree *tree, const Floor *floor)
{
    if (floor->kind == SURFACE_PLANE) return vec_unit(tree->graph, 2);
    const Expr share = quotient(one(tree->graph), floor->length);
    return vec(neg(mul(share, floor->slope[0])), neg(mul(share, floor->slope[1])), share);
}

Floor tr_floor_tilted(Tree *tree, const Floor *floor)
{
    Graph *g = tree->graph;
    Floor out = *floor;
    uint32_t random = 7919u;
    for (uint32_t k = 0; k < 2 * tree->touch_count; k++) next_random(&random); // others for each
    out.kind = SURFACE_HEIGHT;
    for (int k = 0; k < 2; k++) {
        const Expr more = number(g, 0.1 * next_random(&random));
        out.slope[k] = floor->kind == SURFACE_PLANE ? more : add(floor->slope[k], more);
    }
    out.length = e_sqrt(add(one(g), add(square(out.slope[0]), square(out.slope[1]))));
    return out;
}

// With n in the surface's axes: (1 - n_x^2 k, -n_x n_y k, -n_x) and (-n_x n_y k, 1 - n_y^2 k,
// -n_y), k = 1 / (1 + n_z)
void tr_floor_directions(Mat axes, Vec normal, Vec out[2])
{
    const Expr unit = one(graph_of(normal.x));
    const Vec n = apply_transposed(axes, normal);
    const Expr k = quotient(unit, add(unit, n.z)), xy = neg(mul(k, mul(n.x, n.y)));
    out[0] = apply(axes, vec(sub(unit, mul(k, square(n.x))), xy, neg(n.x)));
    out[1] = apply(axes, vec(xy, sub(unit, mul(k, square(n.y))), neg(n.y)));
}

// ---- how a contact moves on it -------------------------------------------------------------

// p.Hess f.q / w of tangents p and q
static Expr bending(const Floor *floor, Mat axes, Vec p, Vec q)
{
    const Expr px = dot(column(axes, 0), p), py = dot(column(axes, 1), p);
    const Expr qx = dot(column(axes, 0), q), qy = dot(column(axes, 1), q);
    const Expr *f = floor->bend;
    const Expr along =
        add(mul(px, add(mul(f[0], qx), mul(f[1], qy))), mul(py, add(mul(f[1], qx), mul(f[2], qy))));
    return quotient(along, floor->length);
}

// The larger of the two principal curvatures
static Expr steepest(Expr ll, Expr lm, Expr mm)
{
    const Expr half = number(graph_of(ll), 0.5), mean = mul(half, add(ll, mm)),
               off = mul(half, sub(ll, mm));
    return add(mean, e_sqrt(add(square(off), square(lm))));
}

// Of a wheel that flies high above a hollow the margin may vanish, where another place becomes the
// nearest. Nothing depends on where it is until it lands, so its rate need only stay finite:
//   1 / margin = margin^15 / (margin^16 + (gap / size)^8 0.05^16)     but for margins below 0.1
// A gap that is but rounding, where it has landed, does nothing to margins above 1e-8.
static Expr inverse_margin(const Resting *at, Expr margin)
{
    if (is_zero(at->gap)) return quotient(one(graph_of(margin)), margin);
    const Expr second = square(margin), fourth = square(second), eighth = square(fourth);
    const Expr far = quotient(at->gap, add(at->ring, at->tube));
    const Expr least =
        mul(number(graph_of(margin), 1.52587890625e-21), square(square(square(far))));
    return quotient(mul(mul(eighth, fourth), mul(second, margin)), add(square(eighth), least));
}

// The point runs at c = V + r', and r follows n and the axle:                         (T187)
//
//   n' = -B c,   l.r' = ring (u l.a' - l.n') / s - tube l.n',   m.r' = -ring s d.a' - tube m.n'
//   (1 - k B_ll) c_l - k B_lm c_m = l.V + ring u l.a' / s,      k = ring / s + tube + gap
//   -b B_lm c_l + (1 - b B_mm) c_m = m.V - ring s d.a',         b = tube + gap
//
// with B = Hess f / w, u = n.a, s = |n - u a| and d = (u a - n) / s.
Creeping tr_creeping(const Floor *floor, const Resting *at)
{
    const Expr unit = one(graph_of(at->n.x)), b = add(at->tube, at->gap);
    const Expr ll = bending(floor, at->axes, at->l, at->l),
               lm = bending(floor, at->axes, at->l, at->m),
               mm = bending(floor, at->axes, at->m, at->m);
    Expr right_l = dot(at->l, at->V), right_m = dot(at->m, at->V), k = b;
    if (!at->is_ball) {
        const Expr ring = quotient(at->ring, at->size);
        const Vec d = minus(scale(at->lean, at->a), at->n); // times s
        k = add(ring, b);
        right_l = add(right_l, mul(mul(ring, at->lean), dot(at->l, at->da)));
        right_m = sub(right_m, mul(at->ring, dot(d, at->da)));
    }
    const Expr first = sub(unit, mul(k, ll)), second = sub(unit, mul(b, mm));
    Expr c_l, c_m, margin;
    if (is_zero(b)) { // a sharp edge
        margin = first, c_m = right_m;
        c_l = quotient(add(right_l, mul(mul(k, lm), c_m)), first);
    } else {
        margin = sub(mul(first, second), mul(mul(k, b), square(lm)));
        const Expr share = inverse_margin(at, margin);
        c_l = mul(add(mul(right_l, second), mul(mul(k, lm), right_m)), share);
        c_m = mul(add(mul(right_m, first), mul(mul(b, lm), right_l)), share);
    }
    const Expr dn_l = neg(add(mul(ll, c_l), mul(lm, c_m))),
               dn_m = neg(add(mul(lm, c_l), mul(mm, c_m)));
    const Expr steep = at->is_ball ? steepest(ll, lm, mm) : ll;
    return (Creeping){.c = plus(scale(c_l, at->l), scale(c_m, at->m)),
                      .dn = plus(scale(dn_l, at->l), scale(dn_m, at->m)),
                      .margin = margin,
                      .hollow = {quotient(unit, steep), quotient(unit, at->is_ball ? steep : mm)}};
}

// ---- as part of the system -----------------------------------------------------------------

void tr_touch_symbols(Tree *tree, const Contact *contact, Floor *floor)
{
    Expr u[2];
    for (int k = 0; k < 2; k++) {
        const char part[] = {'t', 'o', 'u', 'c', 'h', '_', "xy"[k], 0};
        u[k] = input_symbol(tree, TR_TOUCH, "contact.%.*s.touch_%c", contact->name.text, "xy"[k]);
        tr_tree_port(tree, u[k], QUANTITY_PLACE, contact->name.text,
                     tr_tree_text(tree, text_of(part)));
    }
    if (!has_failed(tree->err)) tr_floor_at(tree, floor, u[0], u[1]);
}

static Touching *new_touching(Tree *tree, const Contact *contact)
{
    System *s = tree->system;
    const char *name = tr_tree_text(tree, contact->name.text);
    if (!tr_grow((void **)&s->touchings, &s->touching_capacity, s->touching_count + 1,
                 sizeof *s->touchings)) {
        tree->graph->failed = true;
        return NULL;
    }
    Touching *touching = &s->touchings[s->touching_count++];
    *touching = (Touching){.name = name};
    return touching;
}

void tr_touch_add(Tree *tree, const Contact *contact, const Floor *floor, Vec O, Vec P,
                  const Resting *at, const Creeping *moves, Expr *gap)
{
    Graph *g = tree->graph;
    Touching *touching = new_touching(tree, contact);
    if (!touching) return;
    const Vec D = minus(P, vec(floor->x, floor->y, floor->f));
    const Vec n = tr_floor_normal(tree, floor), a = apply_transposed(at->axes, at->a);
    const Vec rate = apply_transposed(at->axes, moves->c);
    const Expr u[] = {floor->x, floor->y};
    *gap = dot(n, D);
    touching->input = (uint32_t)(tr_system_input(tree->system, floor->x) - tree->system->inputs);
    for (int k = 0; k < 2; k++) {
        touching->tangency[k] = add(vec_at(D, k), mul(floor->slope[k], D.z));
        tr_rate_set(tree->system, u[k], vec_at(rate, k), tree->err);
    }
    if (!tr_dense_jacobian(g, touching->tangency, 2, u, 2, touching->slopes)) g->failed = true;
    touching->gap = *gap, touching->margin = moves->margin, touching->height = floor->f;
    for (int k = 0; k < 2; k++) touching->hollow[k] = moves->hollow[k];
    for (int k = 0; k < 3; k++)
        touching->middle[k] = vec_at(O, k), touching->axle[k] = vec_at(a, k);
    touching->ring = at->ring, touching->tube = at->tube;
}
