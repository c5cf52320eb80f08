// SPDX-License-Identifier: Apache-2.0
// Forward dynamics of a tree without constraints, built by articulated inertias (T13, T22) and by
// the factorised mass matrix (T21), of links as they are and along their hinges (T117). What takes
// the fewest operations is kept. Where bodies bend it is the mass matrix. Then the forces of joints
// that a motion drives (T26) [B 27].
#include "expr/merge.h"
#include "expr/shorten.h"
#include "mech/across.h"

#include <stdlib.h>

enum { DEEPEST_FOR_M = 40, MOST_FOR_M = 1000, MOST_TO_COMPARE = 4000 };

// Of its drive, springs and dampers
static Expr driving_force(const Velocity *w) { return add(w->torque, w->passive); }

// ---- by articulated inertias ---------------------------------------------------------------

// What a link is like to its parent: f = J a + p (T22). It is rigid as long as no joint gives way.
typedef struct Articulated {
    Rigid rigid;
    Block block;
    bool has_rigid, has_block; // J is their sum
    Wrench p;
    Motion c;              // what bends the motion on the way to the link
    Wrench share[MAX_DOF]; // of each joint that gives way: J S / d,  d = S . J S + its rotor's
    Expr alone[MAX_DOF];   // its acceleration where its parent has none: its force less p, by d
} Articulated;

static Wrench articulated_apply(const Articulated *J, Motion a)
{
    if (!J->has_block) return rigid_apply(J->rigid, a);
    const Wrench f = block_apply(J->block, a);
    return J->has_rigid ? wrench_plus(rigid_apply(J->rigid, a), f) : f;
}

static void merge(Articulated *J)
{
    if (!J->has_rigid) return;
    J->block = J->has_block ? block_plus(J->block, block_of(J->rigid)) : block_of(J->rigid);
    J->has_rigid = false;
    J->has_block = true;
}

static Vec turning_of(const Tree *tree, const Link *link)
{
    return has_parent(link) ? tree->links[link->parent].v.W : vec_zero(tree->graph);
}

// c: what accelerations have more on a link than those of its parent there and its own joint's. By
// W_p alone a point p of the parent has D_p p, and the joint goes at V, W:               (T126)
//   c = (R^T D_p p + (2 Wc + W) x V,   Wc x W),   Wc = R^T W_p
static Motion bending(const Tree *tree, const Link *link)
{
    const Vec still = vec_zero(tree->graph), W = turning_of(tree, link);
    const Motion joint = joint_motion(tree, link);
    const Vec p = link->split ? link->first.p : link->X.p, Wc = into(link, W);
    Motion c = motion(into(link, apply(point_matrix(still, W), p)), still);
    if (link->carried) return c;
    c.V = plus(c.V, cross(plus(plus(Wc, Wc), joint.W), joint.V));
    c.W = cross(Wc, joint.W);
    if (link->split) // points of the joint's axis go with either body (T118)
        c.V = plus(c.V, apply(point_matrix(c.W, link->frame.W), link->second.p));
    return c;
}

// p of a link by itself: (D mc, W x I W) with D of W alone; of the fluid that moves along, too,
// which has no weight                                                              (T15, T18)
static Wrench gyroscopic(Tree *tree, uint32_t i)
{
    const Link *link = &tree->links[i];
    const Vec still = vec_zero(tree->graph), W = link->frame.W;
    const Accelerated none = {still, still, point_matrix(still, W)};
    const Wrench f = inertia_force(link->inertia, &none, W, link->v.W, link->carried);
    if (!link->has_added_mass) return f;
    return wrench_plus(f, tr_tree_fluid_force(tree, i, &none));
}

// The component that a joint moves alone, where nothing but its body has mass along it
static int lone_component(const Velocity *w)
{
    return is_zero(w->armature) ? unit_component(w->S) : -1;
}

// J -= U U^T / d, p += U u / d (T22). Along S itself nothing is left of J, and p is the joint's
// force: the graph cannot find that, so it is said.
static void eliminate(Articulated *J, const Velocity *w, Wrench U, Wrench share, Expr alone)
{
    const int unit = lone_component(w);
    merge(J);
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++) {
            Expr *entry = block_place(&J->block, i, j);
            *entry = i == unit || j == unit
                         ? zero(graph_of(alone))
                         : sub(*entry, mul(wrench_at(share, i), wrench_at(U, j)));
        }
    J->p = wrench_plus(J->p, wrench_scale(alone, U));
    if (unit >= 0) *wrench_place(&J->p, unit) = mul(motion_at(w->S, unit), driving_force(w));
}

// The joint's velocities from the last to the first, a_k = a_(k-1) + S_k q_k''         (T22)
static void give_way(const Tree *tree, const Link *link, Articulated *J)
{
    if (J->has_block) merge(J);
    for (uint32_t k = link->velocity_count; k-- > 0;) {
        const Velocity *w = &tree->velocities[link->velocity + k];
        if (w->drive == DRIVE_MOTION) { // goes where it is told: p += J S q''
            J->p = wrench_plus(J->p, articulated_apply(J, motion_scale(w->acceleration, w->S)));
            continue;
        }
        const Wrench U = articulated_apply(J, w->S);
        const Expr inverse = quotient(one(tree->graph), add(power_of(w->S, U), w->armature));
        J->share[k] = wrench_scale(inverse, U);
        J->alone[k] = mul(inverse, sub(driving_force(w), power_of(w->S, J->p)));
        eliminate(J, w, U, J->share[k], J->alone[k]);
    }
}

// p + J c for the parent                                                             (T22)
static void pass_inward(const Link *link, Articulated *J, Articulated *parent)
{
    J->p = wrench_plus(J->p, articulated_apply(J, J->c));
    if (J->has_rigid) parent->rigid = rigid_plus(parent->rigid, out_of_rigid(link, J->rigid));
    if (J->has_block) {
        const Block seen = out_of_block(link, J->block);
        parent->block = parent->has_block ? block_plus(parent->block, seen) : seen;
        parent->has_block = true;
    }
    parent->p = wrench_plus(parent->p, out_of_wrench(link, J->p));
}

// q'' = alone - share.a, and a + S q''. Along a unit S, where the share is 1, that is what is left
// of it without a there.                                                             (T22)
static Expr follow(const Velocity *w, Wrench share, Expr alone, Motion *a)
{
    const int unit = lone_component(w);
    if (unit < 0) {
        const Expr q = sub(alone, power_of(*a, share));
        *a = motion_plus(*a, motion_scale(q, w->S));
        return q;
    }
    const Expr before = motion_at(*a, unit), sign = motion_at(w->S, unit);
    *motion_place(a, unit) = zero(graph_of(alone));
    const Expr left = sub(alone, power_of(*a, share));
    *motion_place(a, unit) = mul(sign, left);
    return sub(left, mul(sign, before));
}

// From the first velocity to the last
static Motion pass_outward(const Tree *tree, const Link *link, const Articulated *J, Motion a,
                           Expr *q)
{
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const Velocity *w = &tree->velocities[link->velocity + k];
        Expr *out = &q[link->velocity + k];
        if (w->drive != DRIVE_MOTION) {
            *out = follow(w, J->share[k], J->alone[k], &a);
            continue;
        }
        *out = w->acceleration;
        a = motion_plus(a, motion_scale(*out, w->S));
    }
    return a;
}

static bool by_articulated_inertias(Tree *tree, Expr *q)
{
    Articulated *J = calloc(tree->link_count + 1, sizeof *J);
    Motion *a = calloc(tree->link_count + 1, sizeof *a);
    const Motion world = motion(flip(tree->gravity), vec_zero(tree->graph));
    const bool good = J && a;
    for (uint32_t i = 0; good && i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        J[i].rigid = link->inertia;
        J[i].has_rigid = true;
        J[i].block = link->added_mass;
        J[i].has_block = link->has_added_mass;
        J[i].p = wrench_minus(gyroscopic(tree, i), link->applied);
        J[i].c = bending(tree, link);
    }
    for (uint32_t i = tree->link_count; good && i-- > 0;) {
        const Link *link = &tree->links[i];
        give_way(tree, link, &J[i]);
        if (has_parent(link)) pass_inward(link, &J[i], &J[link->parent]);
    }
    for (uint32_t i = 0; good && i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        a[i] = into_motion(link, has_parent(link) ? a[link->parent] : world);
        a[i] = pass_outward(tree, link, &J[i], motion_plus(a[i], J[i].c), q);
    }
    free(J);
    free(a);
    return good;
}

// ---- by the mass matrix --------------------------------------------------------------------

// Those of its joint, and behind them those of its modes
static uint32_t velocities_of(const Link *link)
{
    return link->velocity_count + (link->flex ? link->flex->count : 0);
}

// The velocity that velocity k hangs from, among those that are not driven; WORLD at the base.
static uint32_t before(const Tree *tree, uint32_t k)
{
    uint32_t i = tree->velocities[k].link;
    for (;;) {
        const Link *link = &tree->links[i];
        const uint32_t end =
            tree->velocities[k].link == i ? k : link->velocity + velocities_of(link);
        for (uint32_t w = end; w-- > link->velocity;)
            if (tree->velocities[w].drive != DRIVE_MOTION) return w;
        if (!has_parent(link)) return WORLD;
        i = link->parent;
    }
}

// M = L^T D L from the tips to the base, which fills nothing in; L below, D on the diagonal  (T21)
static void factorise(const Tree *tree, Matrix M)
{
    for (uint32_t k = tree->velocity_count; k-- > 0;) {
        if (tree->velocities[k].drive == DRIVE_MOTION) continue;
        for (uint32_t i = before(tree, k); i != WORLD; i = before(tree, i)) {
            const Expr l = quotient(get(M, k, i), get(M, k, k));
            for (uint32_t j = i; j != WORLD; j = before(tree, j))
                set(M, i, j, sub(get(M, i, j), mul(l, get(M, k, j))));
            set(M, k, i, l);
        }
    }
}

static bool by_mass_matrix(Tree *tree, Expr *q)
{
    const uint32_t n = tree->velocity_count;
    Expr *known = calloc(n + 1, sizeof *known);
    if (!known) return false;
    for (uint32_t k = 0; k < n; k++) {
        const Velocity *w = &tree->velocities[k];
        known[k] = w->drive == DRIVE_MOTION ? w->acceleration : zero(tree->graph);
    }
    tr_tree_inverse(tree, known, true, q); // c + M a of what is driven, less what is applied
    Matrix M = tr_tree_mass_matrix(tree);
    factorise(tree, M);
    for (uint32_t k = 0; k < n; k++) q[k] = sub(driving_force(&tree->velocities[k]), q[k]);
    for (uint32_t k = n; k-- > 0;) { // L^T
        if (tree->velocities[k].drive == DRIVE_MOTION) continue;
        for (uint32_t i = before(tree, k); i != WORLD; i = before(tree, i))
            q[i] = sub(q[i], mul(get(M, k, i), q[k]));
    }
    for (uint32_t k = 0; k < n; k++) { // D, L
        if (tree->velocities[k].drive == DRIVE_MOTION) continue;
        q[k] = quotient(q[k], get(M, k, k));
        for (uint32_t i = before(tree, k); i != WORLD; i = before(tree, i))
            q[k] = sub(q[k], mul(get(M, k, i), q[i]));
    }
    for (uint32_t k = 0; k < n; k++)
        if (tree->velocities[k].drive == DRIVE_MOTION) q[k] = known[k];
    free(known);
    return true;
}

// Velocities one after the other on the longest way out. The mass matrix and its factors grow with
// the square and the cube of that, so they are not worth trying for deep trees; nor for those whose
// matrix would be large, though most of it is zero.
static uint32_t deepest(const Tree *tree)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < tree->link_count; i++) {
        uint32_t depth = 0;
        for (uint32_t k = i; k != WORLD && depth <= DEEPEST_FOR_M; k = tree->links[k].parent)
            depth += velocities_of(&tree->links[k]);
        if (depth > most) most = depth;
    }
    return most;
}

// Of motion-driven joints: what inverse dynamics asks for, less springs and dampers (T26) [B 27]
static void find_torques(Tree *tree, Tree *by, const Expr *q)
{
    bool any = false;
    Expr *force = calloc(tree->velocity_count + 1, sizeof *force);
    for (uint32_t k = 0; k < tree->velocity_count; k++)
        any = any || tree->velocities[k].drive == DRIVE_MOTION;
    if (!force)
        tree->graph->failed = true;
    else if (any)
        tr_tree_inverse(by, q, true, force);
    for (uint32_t k = 0; force && k < tree->velocity_count; k++) {
        Velocity *w = &tree->velocities[k];
        w->tau = w->drive == DRIVE_MOTION ? sub(force[k], w->passive) : w->torque;
    }
    free(force);
}

// One way to the accelerations of a forest
typedef struct Route {
    Tree *form;
    Expr *q, *turned; // along the velocities of the form, and those of the forest
    bool by_matrix;
    unsigned ways; // of its form
    size_t count;  // instructions
} Route;
enum { FORMS = 3, ROUTES = 2 * FORMS };

static bool go(Route *route)
{
    Tree *form = route->form;
    const uint32_t n = form->velocity_count;
    const bool good =
        route->by_matrix ? by_mass_matrix(form, route->q) : by_articulated_inertias(form, route->q);
    if (!good || form->graph->failed) return false;
    memcpy(route->turned, route->q, n * sizeof *route->q);
    tr_tree_turn_out(form, route->turned);
    route->count = tr_system_instructions(form->system, route->turned, n);
    return true;
}

// Both ways, of the forest as it is and along its hinges; how many there are. Room for twice as
// many as there are velocities, for each
static uint32_t find_routes(Tree *tree, Expr *room, Route routes[ROUTES])
{
    const uint32_t n = tree->velocity_count;
    const bool bends = tr_tree_bends(tree);
    const bool is_shallow = n <= MOST_FOR_M && deepest(tree) <= DEEPEST_FOR_M;
    const bool compares = n <= MOST_TO_COMPARE;
    Tree *const forms[FORMS] = {
        tree, compares ? tr_tree_along(tree, (AlongBases){.turn = true, .load = true}) : NULL,
        compares ? tr_tree_along(tree, (AlongBases){.turn = true}) : NULL};
    static const unsigned form_ways[FORMS] = {0, FORM_ALONG | FORM_LOADED, FORM_ALONG};
    uint32_t count = 0;
    for (int i = 0; i < ROUTES; i++) {
        const bool by_matrix = i % 2;
        if (!forms[i / 2] || (by_matrix ? !bends && !is_shallow : bends)) continue;
        Route *route = &routes[count];
        *route = (Route){
            forms[i / 2], room + 2 * (size_t)n * count, NULL, by_matrix, form_ways[i / 2], 0};
        route->turned = route->q + n;
        if (!go(route)) return 0;
        count++;
    }
    return count;
}

// As it will be, with equal nodes merged and sums and products rearranged
static void count_merged(Route *route)
{
    const uint32_t n = route->form->velocity_count;
    tr_merge(route->form->graph, route->turned, n, route->turned);
    tr_shorten(route->form->graph, route->turned, n);
    route->count = tr_system_instructions(route->form->system, route->turned, n);
}

// The way with the fewest instructions. A mass matrix has more of what turns out to be equal: where
// both ways come near, nodes are merged.
static const Route *shortest(Route *routes, uint32_t count)
{
    const Route *best = routes;
    bool is_near[2] = {false, false};
    for (uint32_t i = 1; i < count; i++)
        if (routes[i].count < best->count) best = &routes[i];
    const size_t near = best->count + best->count / 8;
    for (uint32_t i = 0; i < count; i++)
        if (routes[i].count <= near) is_near[routes[i].by_matrix] = true;
    if (!is_near[0] || !is_near[1]) return best;
    best = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (routes[i].count > near) continue;
        count_merged(&routes[i]);
        if (!best || routes[i].count < best->count) best = &routes[i];
    }
    return best;
}

static void note_routes(System *s, const Route *routes, uint32_t count, const Route *best)
{
    s->form_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const FormKind kind = routes[i].by_matrix ? FORM_FACTORISED : FORM_ARTICULATED;
        const uint32_t k =
            tr_system_note_form(s, (MadeForm){kind, routes[i].ways, routes[i].count});
        if (&routes[i] == best) s->form_kept = k;
    }
}

void tr_tree_forward(Tree *tree)
{
    const uint32_t n = tree->velocity_count;
    Expr *room = calloc(2 * ROUTES * (size_t)n + 1, sizeof *room);
    Route routes[ROUTES];
    const uint32_t count = room ? find_routes(tree, room, routes) : 0;
    if (count) {
        const Route *best = count > 1 ? shortest(routes, count) : routes;
        note_routes(tree->system, routes, count, best);
        find_torques(tree, best->form, best->q);
        tr_tree_turn_out(best->form, best->q);
        for (uint32_t k = 0; k < n; k++) tree->velocities[k].acceleration = best->q[k];
    } else
        tree->graph->failed = true;
    free(room);
}
