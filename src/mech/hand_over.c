// SPDX-License-Identifier: Apache-2.0
// The forest as plain data of the system, and rows of contacts with the ground by the motion of one
// link, on . (V, W) (T180). With a point r of the link and directions that stand still in the link
// or in the world:
//
//   e.V_P:   on = (e, r x e),   drift  e.(W x (W x r)) + e'.V_P
//
// e' = W x e of what is fixed to the link, and 0 of what is fixed to the world.
#include "expr/forest.h"
#include "mech/across.h"
#include "mech/meet.h"

// ---- rows ----------------------------------------------------------------------------------

void tr_row_along(Row *row, uint32_t base, Wrench on)
{
    row->base = base;
    for (int k = 0; k < 6; k++) row->on[k] = wrench_at(on, k);
}

bool tr_row_behind(Tree *tree, Row *row, uint32_t most)
{
    row->behind = tr_tree_room(tree, most, sizeof *row->behind);
    row->behind_count = 0;
    return row->behind != NULL;
}

typedef struct Standing {
    Tree *by;
    uint32_t link;
    Vec r; // in its frame
} Standing;

// Where a contact's point stands on its link; false when its frame spins
static bool stand(Tree *tree, Tree *by, const Contact *contact, Standing *out, Mat *axes)
{
    const Anchor body = tr_tree_anchor(tree, contact->body);
    const Link *link = &by->links[body.link];
    const Vec at = tr_tree_vector(tree, contact->at, "at");
    *axes = mat_product(link->spin, body.pose.R);
    *out =
        (Standing){by, body.link, plus(link->origin, apply(link->spin, point_out(body.pose, at)))};
    return !link->carried;
}

static void set_row(const Standing *at, uint32_t row, Vec e, bool turns)
{
    const Motion v = at->by->links[at->link].v;
    Row *out = &at->by->system->rows[row];
    tr_row_along(out, at->link, wrench(e, cross(at->r, e)));
    out->drift = turns ? neg(dot(e, cross(v.W, v.V))) : dot(e, cross(v.W, cross(v.W, at->r)));
}

static bool is_on_world(const Tree *tree, const Contact *contact)
{
    return !contact->against.given || tr_tree_find(tree, contact->against.text) == WORLD;
}

// Of what the world carries
static bool is_on_flat_ground(const Tree *tree, const Contact *contact)
{
    return !contact->surface.name.given && !tree->model->fields.ground.height.given;
}

static uint32_t row_of(const Tree *tree, const Contact *contact, int part)
{
    return tr_tree_find_row(tree, contact->name, tr_contact_part(contact, part));
}

static void hand_skate(Tree *tree, Tree *by, const Contact *contact)
{
    Standing at;
    Mat axes;
    const uint32_t row = row_of(tree, contact, 2);
    if (row == tree->system->row_count || !stand(tree, by, contact, &at, &axes)) return;
    const Vec direction = tr_contact_direction(tree, contact);
    set_row(&at, row, apply(axes, direction), true);
    const Motion v = by->links[at.link].v;
    const Vec turned = apply(axes, tr_contact_turning(tree, direction)); // by a formula    (T252)
    if (is_vec_zero(turned)) return;
    Expr *drift = &by->system->rows[row].drift;
    *drift = add(*drift, dot(turned, plus(v.V, cross(v.W, at.r))));
}

static void hand_slide(Tree *tree, Tree *by, const Contact *contact)
{
    Standing at;
    Mat axes;
    const uint32_t row = row_of(tree, contact, 0);
    if (row == tree->system->row_count || !stand(tree, by, contact, &at, &axes)) return;
    if (contact->against.given || !is_on_flat_ground(tree, contact)) return;
    Expr length;
    const Vec n = tr_normal_in(by, at.link, &length);
    set_row(&at, row, scale(quotient(one(by->graph), length), n), false);
}

static void hand_rolling(Tree *tree, Tree *by, const Contact *contact)
{
    System *s = tree->system;
    uint32_t rows[3];
    if (!is_on_flat_ground(tree, contact)) return;
    for (int k = 0; k < 3; k++) {
        rows[k] = row_of(tree, contact, k);
        if (rows[k] == s->row_count || !s->rows[rows[k]].is_mixed) return;
    }
    Rolling *out = &s->forest->rolling[s->forest->rolling_count];
    if (!tr_rolling_along(by, contact, rows, out)) return;
    const Expr m = by->links[out->link].inertia.m;
    s->forest->links[out->link].has_centre = tr_tree_is_constant(m) && !is_zero(m);
    s->forest->rolling_count++;
}

static void take_behind(Tree *tree, Row *row)
{
    uint32_t count = 0;
    for (uint32_t k = 0; row->inner_slopes && k < tree->velocity_count; k++)
        count += !is_zero(row->inner_slopes[k]);
    if (!row->inner_slopes || !tr_row_behind(tree, row, count)) return;
    for (uint32_t k = 0; k < tree->velocity_count; k++)
        if (!is_zero(row->inner_slopes[k]))
            row->behind[row->behind_count++] = (struct SlopeBehind){k, row->inner_slopes[k]};
}

// What carries both ends of a loop moves neither against the other: only what hangs from it does.
static void hand_loop(Tree *tree, const Tie *tie)
{
    static const char *const parts[] = {"x", "y", "z", "mx", "my", "mz", "moment", "distance"};
    Graph *g = tree->graph;
    const uint32_t base = tr_common_carrier(tree, tie->body.link, tie->on.link);
    for (size_t k = 0; base != WORLD && k < sizeof parts / sizeof *parts; k++) {
        const uint32_t i = tr_tree_find_row(tree, tie->name, parts[k]);
        if (i == tree->system->row_count) continue;
        Row *row = &tree->system->rows[i];
        if (!row->slopes)
            row->slopes = row->inner_slopes = tr_tree_slopes(tree, row->rate, &row->rest);
        tr_row_along(row, base, wrench_zero(g));
        row->drift = row->inner_bias, row->is_behind = true;
        take_behind(tree, row);
    }
}

static const struct {
    const char *kind;
    void (*hand)(Tree *tree, Tree *by, const Contact *contact);
} ways_along[] = {
#define CONTACT_KIND(name, fields, make, draw, track, along) {#name, along},
#include "mech/contact.def"
};

static void hand_contact(Tree *tree, Tree *by, const Contact *contact)
{
    for (size_t i = 0; i < sizeof ways_along / sizeof *ways_along; i++)
        if (ways_along[i].hand && text_is(contact->kind.text, ways_along[i].kind))
            ways_along[i].hand(tree, by, contact);
}

static void hand_rows(Tree *tree, Tree *by)
{
    const Contacts *contacts = &tree->model->fields.contacts;
    for (uint32_t i = 0; i < contacts->count && !has_failed(tree->err); i++) {
        const Contact *contact = &contacts->at[i];
        if (is_on_world(tree, contact)) hand_contact(tree, by, contact);
    }
    for (uint32_t i = 0; i < tree->tie_count; i++) hand_loop(tree, &tree->ties[i]);
}

// ---- links ---------------------------------------------------------------------------------

static bool is_rigid(const Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count; i++)
        if (tree->links[i].has_added_mass || tree->links[i].flex || tree->links[i].section)
            return false;
    for (uint32_t k = 0; k < tree->velocity_count; k++)
        if (!is_zero(tree->velocities[k].armature)) return false;
    return true;
}

static void hand_link(Tree *by, uint32_t i, ForestLink *out)
{
    const Link *link = &by->links[i];
    Motion *S = tr_tree_room(by, link->velocity_count, sizeof *S);
    for (uint32_t k = 0; S && k < link->velocity_count; k++)
        S[k] = by->velocities[link->velocity + k].S;
    *out = (ForestLink){.parent = link->parent,
                        .velocity = link->velocity,
                        .velocity_count = link->velocity_count,
                        .across = passage_of(link),
                        .S = S,
                        .inertia = link->inertia,
                        .v = link->v,
                        .up = tr_up_in(by, i),
                        .frame = link->frame,
                        .is_carried = link->carried,
                        .is_base = !has_parent(link) && moves_about(link->type)};
    if (link->split) return;
    out->across.first = out->across.second = pose_identity(by->graph);
}

void tr_tree_hand_over(Tree *tree, Tree *by)
{
    Forest *forest = is_rigid(tree) ? tr_tree_room(tree, 1, sizeof *forest) : NULL;
    if (!forest) return;
    forest->links = tr_tree_room(tree, by->link_count, sizeof *forest->links);
    forest->rolling =
        tr_tree_room(tree, tree->model->fields.contacts.count, sizeof *forest->rolling);
    if (tree->graph->failed) return;
    tree->system->forest = forest;
    by->inner = tree->inner; // where rows have their inner form
    forest->link_count = by->link_count;
    forest->gravity = by->gravity;
    for (uint32_t i = 0; i < by->link_count; i++) hand_link(by, i, &forest->links[i]);
    hand_rows(tree, by);
}
