// SPDX-License-Identifier: Apache-2.0
// Inner axes (T59, T60). A hinge that is oblique to the axes of a free base makes everything that
// crosses it longer. So constraints are eliminated in terms of velocities u of the base along axes
// that the hinge is parallel to,
//
//   v = C u,   C a constant rotation.
//
// They belong to a second forest with the same motions, where the axes of links are turned by
// constants K (of the base: C) and the hinge stands at the foot of the perpendicular:
//
//   X' = K_p^T X K,   S' = K^T S,   J' = K^T J K             (bench line "bicycle": a fifth of it)
#include "mech/meet.h"
#include "mech/tree.h"

#include <stdio.h>
#include <string.h>

// ---- which base, and about what ------------------------------------------------------------

// What moves, holds or describes a base does so in its own axes.
static bool is_spoken_of(const Tree *tree, const Link *link)
{
    const ModelFields *f = &tree->model->fields;
    const Text name = link->body->name.text;
    for (uint32_t i = 0; i < f->roles.count; i++)
        if ((f->roles.at[i].motion.count || f->roles.at[i].rate.count) &&
            text_equal(f->roles.at[i].name.text, name))
            return true;
    for (uint32_t i = 0; f->cases.count && i < f->cases.at[0].hold.count; i++)
        if (text_equal(f->cases.at[0].hold.at[i].text, name)) return true;
    return f->independent.count > 0;
}

// Fluid, and joints that stand beside the origin of their body, keep their axes.
static bool is_stiff(const Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count; i++)
        if (tree->links[i].has_added_mass || !is_vec_zero(tree->links[i].to)) return true;
    return false;
}

// The hinge of a base that its axes should be parallel to, or WORLD.
static uint32_t oblique_hinge(Tree *tree, uint32_t base)
{
    const Link *root = &tree->links[base];
    if (root->parent != WORLD || root->velocity_count < MAX_DOF) return WORLD;
    if (is_spoken_of(tree, root)) return WORLD;
    for (uint32_t i = base + 1; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        if (link->parent != base || link->carried || !is_revolute(link)) continue;
        if (unit_axis(link->axis) < 0 &&
            tr_tree_is(tree, RULE_NOT_DOWN, link->axis.z, link->by->axis.place,
                       "the axis of '%.*s' points down less, or more",
                       WHOLE(link->body->name.text)))
            return i;
    }
    return WORLD;
}

// A rotation whose z axis is the unit vector a, or the child's own axes where a lies along one
static Mat axes_along(const Link *link)
{
    const Vec a = link->axis;
    Graph *g = graph_of(a.x);
    if (unit_axis(own_axis(link)) >= 0) return link->turn;
    if (is_zero(a.y)) return (Mat){{vec(a.z, a.y, a.x), vec_unit(g, 1), vec(neg(a.x), a.y, a.z)}};
    const Expr f = quotient(one(g), add(one(g), a.z)), xy = neg(mul(f, mul(a.x, a.y)));
    return (Mat){{vec(sub(one(g), mul(f, square(a.x))), xy, a.x),
                  vec(xy, sub(one(g), mul(f, square(a.y))), a.y), vec(neg(a.x), neg(a.y), a.z)}};
}

// ---- the links -----------------------------------------------------------------------------

static void turn_inertia(Link *link, Mat K)
{
    const Mat into = transpose(K);
    link->inertia.mc = apply(into, link->inertia.mc);
    link->inertia.I = sym_rotate(into, link->inertia.I);
}

static void turn_base(Link *link, Mat C)
{
    link->world.R = turn_product(link->world.R, C);
    link->X.R = turn_product(link->X.R, C);
    link->spin = transpose(C);
    turn_inertia(link, C);
}

// A hinge whose parent is turned by K: its own axes become parallel to those of the parent.
static void turn_hinge(Tree *tree, Link *link, Mat K, bool chosen)
{
    Graph *g = tree->graph;
    const Vec own = own_axis(link);
    const bool ready = chosen && unit_axis(own) >= 0; // for then K is its turn
    const Mat turned = ready ? mat_identity(g) : turn_product(transpose(link->turn), K);
    link->axis = ready ? own : chosen ? vec_unit(g, 2) : turned_back(K, link->axis);
    link->turn = mat_identity(g);
    link->X.R = link->carried ? link->turn
                              : tr_rotation(link->axis, tree->positions[link->position].symbol);
    link->split = false;
    tree->velocities[link->velocity].S.W = link->axis;
    if (!link->carried) link->spin = transpose(turned);
    turn_inertia(link, turned);
}

// What hangs from a link that is turned by K
static void turn_child(Tree *tree, uint32_t i, Mat K, bool chosen)
{
    Link *link = &tree->links[i];
    place_link(link, apply_transposed(K, link->X.p));
    link->at = apply_transposed(K, link->at);
    if (is_revolute(link)) {
        turn_hinge(tree, link, K, chosen);
        return;
    }
    link->turn = link->first.R = turn_product(transpose(K), link->turn);
    link->X.R = turn_product(transpose(K), link->X.R);
    link->axis = turned_back(K, link->axis);
}

static bool is_touched(const Tree *tree, const Link *link)
{
    const Contacts *contacts = &tree->model->fields.contacts;
    for (uint32_t i = 0; i < contacts->count; i++)
        if (text_equal(contacts->at[i].body.text, link->body->name.text)) return true;
    return false;
}

// The joint moves along its axis to the foot of the perpendicular from the parent's origin.
static void slide_hinge(Tree *tree, uint32_t hinge)
{
    Link *link = &tree->links[hinge];
    if (is_touched(tree, link)) return;
    const Vec along = scale(dot(link->axis, link->X.p), link->axis);
    const int axis = unit_axis(link->axis);
    if (axis >= 0) *vec_place(&link->X.p, axis) = zero(tree->graph);
    link->at = link->X.p, link->origin = along;
    link->inertia = rigid_out((Pose){mat_identity(tree->graph), along}, link->inertia);
    for (uint32_t i = hinge + 1; i < tree->link_count; i++) {
        Link *child = &tree->links[i];
        if (child->parent != hinge) continue;
        place_link(child, plus(child->X.p, along));
        child->at = plus(child->at, along);
    }
}

static void turn_links(Tree *inner, uint32_t base, uint32_t hinge, Mat C)
{
    turn_base(&inner->links[base], C);
    for (uint32_t i = base + 1; i < inner->link_count; i++) {
        const Link *link = &inner->links[i];
        if (tr_root_of(inner, i) != base || inner->links[link->parent].carried)
            continue; // links of other bases may stand between those of this one
        const Mat K = transpose(inner->links[link->parent].spin);
        if (single_turn(K).i < 0 || !is_one(single_turn(K).c)) turn_child(inner, i, K, i == hinge);
    }
    slide_hinge(inner, hinge);
}

// ---- the velocities ------------------------------------------------------------------------

static void note_turned(Tree *tree, uint32_t outer, uint32_t inner, Mat C)
{
    System *s = tree->system;
    if (!tr_grow((void **)&s->turned, &s->turned_capacity, s->turned_count + 1,
                 sizeof *s->turned)) {
        tree->graph->failed = true;
        return;
    }
    Turned *turned = &s->turned[s->turned_count++];
    *turned = (Turned){.outer = outer, .inner = inner};
    for (int i = 0; i < 9; i++) turned->C[i] = mat_at(C, i / 3, i % 3);
}

// u of a base, under the names of v with "inner" in them: three and three
static void turn_velocities(Tree *inner, const Link *base, Mat C)
{
    System *s = inner->system;
    for (uint32_t k = 0; k < base->velocity_count && !has_failed(inner->err); k++) {
        Velocity *w = &inner->velocities[base->velocity + k];
        const uint32_t outer = (uint32_t)(tr_system_input(s, w->symbol) - s->inputs);
        const Port port = s->inputs[outer].port;
        char name[256];
        snprintf(name, sizeof name, "%.*s.inner.%s", WHOLE(base->body->name.text), port.component);
        w->symbol = tr_input(s, name, TR_INNER, 0, inner->err);
        Input *input = tr_system_input(s, w->symbol);
        if (!input) return;
        input->port = port;
        input->is_base = true;
        if (k % 3 == 0) note_turned(inner, outer, (uint32_t)(input - s->inputs), C);
    }
}

void tr_tree_turn_in(const Tree *tree, const Expr *outer, Expr *inner)
{
    const System *s = tree->system;
    for (uint32_t i = 0; i < s->turned_count; i++) {
        uint32_t k = 0; // of the velocities
        while (tree->velocities[k].symbol.id != s->inputs[s->turned[i].outer].symbol.id) k++;
        for (int j = 0; j < 3; j++)
            inner[k + (uint32_t)j] = tr_turned_in(&s->turned[i], outer + k, j);
    }
}

void tr_tree_turn(Tree *tree)
{
    tree->inner = tree;
    if (!tree->model->fields.contacts.count || is_stiff(tree) || tr_tree_bends(tree)) return;
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++) {
        const uint32_t hinge = oblique_hinge(tree, i);
        if (hinge == WORLD) continue;
        if (tree->inner == tree) tree->inner = tr_tree_copy(tree);
        if (!tree->inner) return;
        const Mat C = axes_along(&tree->links[hinge]);
        turn_velocities(tree->inner, &tree->links[i], C);
        turn_links(tree->inner, i, hinge, C);
    }
    if (tree->inner == tree || has_failed(tree->err)) return;
    tr_system_turn(tree->system);
    for (uint32_t i = 0; i < tree->link_count; i++) // what is applied stays in the outer forest
        tree->inner->links[i].applied = wrench_zero(tree->graph);
    tr_tree_velocities(tree->inner);
}
