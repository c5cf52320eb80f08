// SPDX-License-Identifier: Apache-2.0
// Bodies and joints -> a forest, parents first. Where there are more joints than a forest has, it
// is grown from the world by the joint that is worth most as one, and those that are left are cut:
// loop.c closes them again (T7, T8).
#include "mech/tree.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

// ---- names ---------------------------------------------------------------------------------

#define NOWHERE UINT32_MAX

// A joint between two bodies: 0 is the world, then the bodies in the order of the file.
typedef struct Edge {
    const Joint *joint;
    uint32_t parent, body;
    Text at, held;  // the two as they are written: either may be a point of what bends
    bool is_listed; // in `joints`; else a body has it
    int worth;      // less is better
    bool is_used;
    uint32_t end; // the one that is there already, once it leads on
} Edge;

typedef struct Growth {
    Tree *tree;
    const Bodies *bodies;
    Edge *edges;
    uint32_t edge_count;
    const Edge **by;                    // of each body: the joint it hangs by
    uint32_t *depth;                    // of each body and the world; NOWHERE until it is reached
    Names moved, driven, coupled, held; // see note_names
    uint32_t *first, *at;               // see list_edges
    Edge **heap;
    uint32_t heap_count;
} Growth;

// What hangs from a body that bends hangs from a point of it.
static void offer_points(Tree *tree, const Body *body, Suggestion *nearest)
{
    const Pairs *lists[] = {&body->beam.points, &body->modal.points};
    char name[200];
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->count; i++) {
            snprintf(name, sizeof name, "%.*s.%.*s", TEXT(body->name.text),
                     TEXT(lists[k]->at[i].key.text));
            tr_suggest(nearest, text_of(tr_tree_text(tree, text_of(name))));
        }
    snprintf(name, sizeof name, "%.*s.tip", TEXT(body->name.text));
    if (body->beam.name.given) tr_suggest(nearest, text_of(tr_tree_text(tree, text_of(name))));
}

static void refuse_body(Tree *tree, Value name, const char *what, Text of)
{
    const Bodies *bodies = &tree->model->fields.bodies;
    Suggestion nearest = {.wanted = name.text};
    for (uint32_t i = 0; i < bodies->count; i++) {
        tr_suggest(&nearest, bodies->at[i].name.text);
        offer_points(tree, &bodies->at[i], &nearest);
    }
    char hint[TR_HINT_SIZE];
    if (text_is(name.text, "ground"))
        tr_fail(tree->err, TR_INVALID, name.place,
                "'%.*s' %s the ground, which is a plane to roll on; joints stand on 'world'",
                TEXT(of), what);
    else if (tr_tree_is_frame(tree, name.text))
        tr_fail(
            tree->err, TR_INVALID, name.place,
            "'%.*s' %s '%.*s', which is a frame; joints stand on bodies: name its body, and say "
            "where by 'at', 'to' and 'turn'",
            TEXT(of), what, TEXT(name.text));
    tr_fail(tree->err, TR_INVALID, name.place, "'%.*s' %s '%.*s', which is not a body%s", TEXT(of),
            what, TEXT(name.text), tr_model_hint(tree->model, &nearest, hint));
}

static uint32_t body_called(Tree *tree, Value name, const char *what, Text of)
{
    const Bodies *bodies = &tree->model->fields.bodies;
    if (text_is(name.text, "world")) return 0;
    const Body *body = tr_kind_find(tr_kind_of(TYPE_BODIES), bodies, name.text);
    if (!body) body = tr_section_owner(bodies, name.text);
    if (body) return (uint32_t)(body - bodies->at) + 1;
    refuse_body(tree, name, what, of);
    return 0;
}

static void check_body(Tree *tree, const Body *body)
{
    tr_tree_check_name(tree, body->name, "a body");
    tr_tree_check_reserved(tree, body->name);
    if (body->beam.name.given && body->modal.name.given)
        tr_fail(tree->err, TR_INVALID, body->modal.name.place,
                "'%.*s' bends as a beam or by modes from tables, not both", TEXT(body->name.text));
    const Value *const elsewhere[] = {&body->joint.parent, &body->joint.body, &body->joint.cut};
    static const char *const keys[] = {"parent", "body", "cut"};
    for (int i = 0; i < 3; i++)
        if (elsewhere[i]->given)
            tr_fail(tree->err, TR_INVALID, elsewhere[i]->place,
                    "'%s' is for joints that stand in 'joints', not for that of a body", keys[i]);
}

// ---- edges ---------------------------------------------------------------------------------

// By its coordinate, its own name or, when it has several coordinates, its body
static bool is_among(const Names *names, const Joint *joint)
{
    const JointType *type = tr_joint_type(joint->type, NULL);
    return tr_names_find(names, tr_joint_name(joint)) != NO_NAME ||
           tr_names_find(names, joint->name.text) != NO_NAME ||
           (type && has_several(type) && tr_names_find(names, joint->body.text) != NO_NAME);
}

// By its coordinate, or by one of its steps
static bool is_coupled(const Growth *g, const Joint *joint)
{
    const JointStep *steps;
    const JointType *type = tr_joint_type(joint->type, NULL);
    const uint32_t count = type ? tr_joint_steps(type, &steps) : 0;
    char name[300];
    for (uint32_t k = 0; k < count; k++) {
        snprintf(name, sizeof name, "%.*s.%s", TEXT(joint->body.text), steps[k].coordinate);
        if (tr_names_find(&g->coupled, text_of(name)) != NO_NAME) return true;
    }
    return tr_names_find(&g->coupled, tr_joint_name(joint)) != NO_NAME;
}

static void note(Growth *g, Names *names, Text name)
{
    if (!tr_names_add(names, name, 0)) g->tree->graph->failed = true;
}

// The names of what is moved, driven, coupled or held by a joint, for each joint to look itself up
static void note_names(Growth *g)
{
    const ModelFields *f = &g->tree->model->fields;
    for (uint32_t i = 0; f->cases.count && i < f->cases.at[0].hold.count; i++)
        note(g, &g->moved, f->cases.at[0].hold.at[i].text);
    for (uint32_t i = 0; i < f->roles.count; i++) {
        const Role *role = &f->roles.at[i];
        if (role->motion.count || role->rate.count) note(g, &g->moved, role->name.text);
        if (role->torque.count) note(g, &g->driven, role->name.text);
    }
    for (uint32_t i = 0; i < f->couplings.count; i++) {
        const Coupling *coupling = &f->couplings.at[i];
        note(g, &g->coupled, coupling->coordinate.text);
        for (uint32_t k = 0; k < coupling->equals.count; k++)
            note(g, &g->coupled, coupling->equals.at[k].key.text);
    }
    for (uint32_t i = 0; i < f->joints.count; i++) {
        const Joint *joint = &f->joints.at[i];
        const Body *owner = tr_section_owner(&f->bodies, joint->body.text);
        note(g, &g->held, joint->body.text);
        note(g, &g->held, joint->parent.text);
        if (owner) note(g, &g->held, owner->name.text);
    }
}

// What moves by a motion or a gear must have a coordinate, what is driven or sprung has better one;
// a ball is the cheapest to cut.
static int worth_of(const Growth *g, const Joint *joint)
{
    const JointType *type = tr_joint_type(joint->type, NULL);
    if (type && type->worth == 0) return 0;
    if (is_among(&g->moved, joint) || joint->elastic.name.given || is_coupled(g, joint)) return 1;
    if (is_true(joint->cut)) return 9;
    const bool is_sprung = joint->stiffness.given || joint->damping.given ||
                           joint->potential.given || joint->dissipation.given;
    const int most = is_among(&g->driven, joint) ? 4 : is_sprung ? 5 : 9;
    const int worth = type ? type->worth : most;
    return worth < most ? worth : most;
}

static void add_own(Growth *g, uint32_t i)
{
    const Body *body = &g->bodies->at[i];
    check_body(g->tree, body);
    if (!body->parent.given && !body->joint.name.given &&
        tr_names_find(&g->held, body->name.text) != NO_NAME)
        return;
    const uint32_t parent = body_called(g->tree, body->parent, "hangs from", body->name.text);
    g->edges[g->edge_count++] = (Edge){.joint = &body->joint,
                                       .parent = parent,
                                       .body = i + 1,
                                       .at = body->parent.text,
                                       .held = body->name.text};
}

static void add_listed(Growth *g, const Joint *joint)
{
    Tree *tree = g->tree;
    const Text name = joint->name.text;
    tr_tree_check_name(tree, joint->name, "a joint");
    if (!joint->body.given)
        tr_fail(tree->err, TR_INVALID, joint->name.place, "the joint '%.*s' holds no body",
                TEXT(name));
    if (has_failed(tree->err)) return;
    const Edge edge = {.joint = joint,
                       .parent = body_called(tree, joint->parent, "hangs from", name),
                       .body = body_called(tree, joint->body, "holds", name),
                       .at = joint->parent.text,
                       .held = joint->body.text,
                       .is_listed = true,
                       .worth = worth_of(g, joint)};
    if (!has_failed(tree->err) && edge.parent == edge.body)
        tr_fail(tree->err, TR_INVALID, joint->body.place, "'%.*s' joins '%.*s' to itself",
                TEXT(name), TEXT(joint->body.text));
    tr_joint_type(joint->type, tree->err);
    g->edges[g->edge_count++] = edge;
}

static void collect(Growth *g)
{
    const Joints *joints = &g->tree->model->fields.joints;
    note_names(g);
    for (uint32_t i = 0; i < g->bodies->count; i++) add_own(g, i);
    for (uint32_t i = 0; i < joints->count && !has_failed(g->tree->err); i++)
        add_listed(g, &joints->at[i]);
}

// ---- growing -------------------------------------------------------------------------------

static bool is_point(Text name) { return memchr(name.at, '.', name.length) != NULL; }

// The end of an edge that is already there, or NOWHERE: none is, or both are, or the other is a
// point of what bends, which hangs by its origin alone.
static uint32_t rooted_end(const Growth *g, const Edge *edge)
{
    const bool parent = g->depth[edge->parent] != NOWHERE, body = g->depth[edge->body] != NOWHERE;
    if (parent == body || is_point(parent ? edge->held : edge->at)) return NOWHERE;
    return parent ? edge->parent : edge->body;
}

// By their worth, then near the world, then as they come
static bool is_better(const Growth *g, const Edge *a, const Edge *b)
{
    assert(a && b); // both were offered
    if (a->worth != b->worth) return a->worth < b->worth;
    const uint32_t near = g->depth[a->end], far = g->depth[b->end];
    return near != far ? near < far : a < b;
}

// Edges that lead on are a heap, the best on top. One whose other end is reached meanwhile stays.
static void offer(Growth *g, Edge *edge)
{
    uint32_t at = g->heap_count++;
    for (; at && is_better(g, edge, g->heap[(at - 1) / 2]); at = (at - 1) / 2)
        g->heap[at] = g->heap[(at - 1) / 2];
    g->heap[at] = edge;
}

static Edge *take_best(Growth *g)
{
    Edge *best = g->heap[0], *last = g->heap[--g->heap_count];
    uint32_t at = 0;
    for (uint32_t below; (below = 2 * at + 1) < g->heap_count; at = below) {
        if (below + 1 < g->heap_count && is_better(g, g->heap[below + 1], g->heap[below])) below++;
        if (!is_better(g, g->heap[below], last)) break;
        g->heap[at] = g->heap[below];
    }
    g->heap[at] = last;
    return best;
}

// Offers the edges at a body, or the world, that has just been reached.
static void offer_edges(Growth *g, uint32_t of)
{
    for (uint32_t i = g->first[of]; i < g->first[of + 1]; i++) {
        Edge *edge = &g->edges[g->at[i]];
        const uint32_t end = edge->is_used ? NOWHERE : rooted_end(g, edge);
        if (end == NOWHERE) continue;
        edge->end = end;
        offer(g, edge);
    }
}

// The edges at each body, in order: those of body i are at[first[i]] to at[first[i + 1] - 1].
static bool list_edges(Growth *g)
{
    const uint32_t n = g->bodies->count + 1;
    g->first = calloc(n + 2u, sizeof *g->first);
    g->at = calloc(2 * (size_t)g->edge_count + 1, sizeof *g->at);
    g->heap = calloc(g->edge_count + 1u, sizeof(Edge *));
    if (!g->first || !g->at || !g->heap) return false;
    for (uint32_t i = 0; i < g->edge_count; i++)
        g->first[g->edges[i].parent + 2]++, g->first[g->edges[i].body + 2]++;
    for (uint32_t i = 2; i <= n + 1; i++) g->first[i] += g->first[i - 1];
    for (uint32_t i = 0; i < g->edge_count; i++) { // where each begins moves on to where it ends
        g->at[g->first[g->edges[i].parent + 1]++] = i;
        g->at[g->first[g->edges[i].body + 1]++] = i;
    }
    return true;
}

static void grow(Growth *g)
{
    for (uint32_t i = 0; i < g->bodies->count; i++) g->depth[i + 1] = NOWHERE;
    if (!list_edges(g)) {
        g->tree->graph->failed = true;
        return;
    }
    offer_edges(g, 0);
    while (g->heap_count) {
        Edge *edge = take_best(g);
        const uint32_t other = edge->end == edge->parent ? edge->body : edge->parent;
        if (g->depth[other] != NOWHERE) continue;
        g->depth[other] = g->depth[edge->end] + 1;
        g->by[other - 1] = edge;
        edge->is_used = true;
        offer_edges(g, other);
    }
}

// Where every body has its own joint there is nothing to choose.
static void take_own(Growth *g)
{
    for (uint32_t i = 0; i < g->edge_count; i++) {
        Edge *edge = &g->edges[i];
        g->by[edge->body - 1] = edge;
        edge->is_used = true;
    }
}

// ---- links ---------------------------------------------------------------------------------

static void place(Growth *g, uint32_t i, uint32_t parent)
{
    Tree *tree = g->tree;
    const Edge *edge = g->by[i];
    const JointType *type = tr_joint_type(edge->joint->type, tree->err);
    const Link whole = {.body = &g->bodies->at[i],
                        .parent = parent,
                        .by = edge->joint,
                        .motor = WORLD,
                        .is_listed = edge->is_listed,
                        .is_reversed = edge->body != i + 1,
                        .type = type};
    if (type && is_in_steps(type))
        tr_step_add(tree, whole);
    else
        tr_tree_add_link(tree, whole);
    if (tree->graph->failed) return;
    const Link *link = &tree->links[tree->link_count - 1];
    if (parent != WORLD) tree->links[parent].has_children = true;
    if (link->body->beam.name.given)
        tr_beam_begin(tree, tree->link_count - 1);
    else if (link->body->modal.name.given)
        tr_modal_begin(tree, tree->link_count - 1);
    if (link->is_reversed && type && moves_about(type))
        tr_fail(tree->err, TR_INVALID, edge->joint->name.place,
                "the joint '%.*s' is %s: its parent must be the body that is nearer to the world",
                TEXT(edge->joint->name.text), type->name);
}

// A joint of a body that is written to hold it by a point of it
static const Edge *edge_by_point(const Growth *g, uint32_t i)
{
    for (uint32_t k = 0; k < g->edge_count; k++) {
        const Edge *edge = &g->edges[k];
        if ((edge->body == i + 1 && is_point(edge->held)) ||
            (edge->parent == i + 1 && is_point(edge->at)))
            return edge;
    }
    return NULL;
}

static void refuse_cycle(Tree *tree, const Body *body)
{
    tr_fail(tree->err, TR_INVALID, body->parent.place,
            "'%.*s' hangs from itself, through its parents", TEXT(body->name.text));
}

static void refuse_unplaced(Growth *g, uint32_t i)
{
    const Body *body = &g->bodies->at[i];
    const Edge *by_point = edge_by_point(g, i);
    if (by_point && !g->by[i])
        tr_fail(g->tree->err, TR_INVALID, by_point->joint->name.place,
                "'%.*s' bends, and would hang by a point of it: it hangs by its origin",
                TEXT(body->name.text));
    else if (g->by[i])
        refuse_cycle(g->tree, body);
    else
        tr_fail(
            g->tree->err, TR_INVALID, body->name.place,
            "nothing leads from '%.*s' to the world: a body that floats has a joint of type free",
            TEXT(body->name.text));
}

// Parents first, otherwise in the order of the file.
static void place_all(Growth *g, uint32_t *link_of)
{
    Tree *tree = g->tree;
    const uint32_t n = g->bodies->count;
    for (uint32_t i = 0; i < n; i++) link_of[i + 1] = NOWHERE;
    for (bool progress = true; progress && !has_failed(tree->err);) {
        progress = false;
        for (uint32_t i = 0; i < n && !has_failed(tree->err); i++) {
            const Edge *edge = g->by[i];
            if (!edge || link_of[i + 1] != NOWHERE) continue;
            const uint32_t from = edge->body == i + 1 ? edge->parent : edge->body;
            if (from && link_of[from] == NOWHERE) continue;
            link_of[i + 1] = tree->link_count;
            // the link itself, or one of its points
            place(g, i,
                  from ? tr_tree_find(tree, from == edge->parent ? edge->at : edge->held) : WORLD);
            progress = true;
        }
    }
    for (uint32_t i = 0; i < n && !has_failed(tree->err); i++)
        if (link_of[i + 1] == NOWHERE) refuse_unplaced(g, i);
}

static void keep_cuts(Growth *g)
{
    Tree *tree = g->tree;
    System *s = tree->system;
    tree->cuts = tr_tree_room(tree, g->edge_count, sizeof(Joint *));
    s->cuts = tr_tree_room(tree, g->edge_count, sizeof(char *));
    for (uint32_t i = 0; i < g->edge_count && !tree->graph->failed; i++) {
        if (g->edges[i].is_used) continue;
        if (!g->edges[i].is_listed) { // its body was reached before: its parents lead back to it
            refuse_cycle(tree, &g->bodies->at[g->edges[i].body - 1]);
            return;
        }
        tree->cuts[tree->cut_count++] = g->edges[i].joint;
        s->cuts[s->cut_count++] = tr_tree_text(tree, g->edges[i].joint->name.text);
    }
}

// ---- motors --------------------------------------------------------------------------------

uint32_t tr_tree_most_links(const Model *model)
{
    const ModelFields *f = &model->fields;
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->bodies.count; i++)
        count += tr_step_count(&f->bodies.at[i].joint) + f->bodies.at[i].joint.elastic.name.given;
    for (uint32_t i = 0; i < f->joints.count; i++)
        count += tr_step_count(&f->joints.at[i]) + f->joints.at[i].elastic.name.given;
    return count;
}

// Nothing moves a motor but its own torque and its spring: it turns about an axis of the world, so
// that of its inertia only that about its axis counts.
static void add_motor(Tree *tree, uint32_t i)
{
    const Joint *joint = tree->links[i].by;
    char name[256];
    snprintf(name, sizeof name, "%.*s.motor", WHOLE(coordinate_name(&tree->links[i]).text));
    Body *body = tr_tree_room(tree, 1, sizeof *body);
    const char *kept = tr_tree_text(tree, text_of(name));
    if (!body || tree->graph->failed) return;
    const Value x = {text_of("1, 0, 0"), joint->elastic.name.place, true};
    tr_kind_defaults(tr_kind_of(TYPE_BODIES), body);
    body->name = (Value){text_of(kept), joint->elastic.name.place, true};
    body->joint.coordinate = body->name;
    body->joint.type.text = text_of("revolute");
    body->joint.axis = body->inertia.axis = x;
    body->inertia.axial = body->inertia.radial = joint->elastic.inertia;
    body->inertia.axial.given = body->inertia.radial.given = true;
    tree->links[i].motor = tree->link_count;
    tr_tree_add_link(tree, (Link){.body = body,
                                  .by = &body->joint,
                                  .type = tr_joint_type(body->joint.type, tree->err),
                                  .parent = WORLD,
                                  .motor = WORLD,
                                  .is_motor = true});
}

static void add_motors(Tree *tree)
{
    for (uint32_t i = 0, bodies = tree->link_count; i < bodies && !has_failed(tree->err); i++) {
        const Elastic *elastic = &tree->links[i].by->elastic;
        if (!elastic->name.given) continue;
        if (!has_coordinate(tree->links[i].whole))
            tr_fail(tree->err, TR_INVALID, elastic->name.place,
                    "a %s joint cannot be elastic: only joints with one coordinate can",
                    tree->links[i].whole->name);
        else if (!elastic->stiffness.given)
            tr_fail(tree->err, TR_INVALID, elastic->name.place,
                    "what is elastic needs a stiffness");
        else
            add_motor(tree, i);
    }
}

void tr_tree_forest(Tree *tree)
{
    const ModelFields *f = &tree->model->fields;
    const uint32_t n = f->bodies.count;
    Growth g = {.tree = tree, .bodies = &f->bodies};
    uint32_t *link_of = calloc(n + 1u, sizeof *link_of);
    g.edges = calloc((size_t)n + f->joints.count + 1, sizeof *g.edges);
    g.by = calloc(n + 1u, sizeof(Edge *));
    g.depth = calloc(n + 1u, sizeof *g.depth);
    if (!link_of || !g.edges || !g.by || !g.depth)
        tree->graph->failed = true;
    else {
        collect(&g);
        if (!has_failed(tree->err)) (f->joints.count ? grow : take_own)(&g);
        if (!has_failed(tree->err)) place_all(&g, link_of);
        if (!has_failed(tree->err)) keep_cuts(&g);
        if (!has_failed(tree->err)) add_motors(tree);
    }
    free(link_of);
    free(g.edges);
    free(g.by);
    free(g.depth);
    free(g.first);
    free(g.at);
    free(g.heap);
    tr_names_free(&g.moved);
    tr_names_free(&g.driven);
    tr_names_free(&g.coupled);
    tr_names_free(&g.held);
}
