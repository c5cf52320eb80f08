// SPDX-License-Identifier: Apache-2.0
// Forward dynamics of a tree without constraints, built by articulated inertias (T13, T22) and by
// the factorised mass matrix (T21), of links as they are and along their hinges (T117). What takes
// the fewest operations is kept. Where bodies bend it is the mass matrix. Then the forces of joints
// that a motion drives (T26) [B 27].
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
    Wrench U[MAX_DOF]; // of each joint that gives way: J S
    Expr d[MAX_DOF];   // S . U
    Expr u[MAX_DOF];   // its force less what p takes
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

// v x S q': what bends the motion on the way to this link                    (T13) [M 5]
static Motion bias(const Tree *tree, const Link *link)
{
    if (link->carried) return motion_zero(tree->graph);
    return motion_cross(link->v, joint_motion(tree, link));
}

// v x* J v, and the weight that gravity as an acceleration wrongly gives the added mass
static Wrench gyroscopic(Tree *tree, uint32_t i)
{
    const Link *link = &tree->links[i];
    const Wrench f = wrench_cross(link->frame, momentum(link, link->v));
    if (!link->has_added_mass) return f;
    const Vec g = apply_transposed(tr_tree_world(tree, i).R, tree->gravity);
    return wrench_plus(f, block_apply(link->added_mass, motion(g, vec_zero(tree->graph))));
}

// The component that a motion is one of, or -1.
static int unit_component(Motion S)
{
    int found = -1;
    for (int i = 0; i < 6; i++) {
        if (is_zero(motion_at(S, i))) continue;
        if (found >= 0 || !is_value(square(motion_at(S, i)), 1)) return -1;
        found = i;
    }
    return found;
}

// J -= U U^T / d, p += U u / d (T22). Along S itself nothing is left of J, and p is the joint's
// force: the graph cannot find that, so it is said.
static void eliminate(Articulated *J, const Velocity *w, Wrench U, Expr inverse, Expr u)
{
    const int unit = unit_component(w->S);
    merge(J);
    for (int i = 0; i < 6; i++) {
        const Expr share = mul(inverse, wrench_at(U, i));
        for (int j = i; j < 6; j++) {
            Expr *entry = block_place(&J->block, i, j);
            *entry = i == unit || j == unit ? zero(graph_of(u))
                                            : sub(*entry, mul(share, wrench_at(U, j)));
        }
    }
    J->p = wrench_plus(J->p, wrench_scale(mul(inverse, u), U));
    if (unit < 0) return;
    const Expr along = mul(motion_at(w->S, unit), driving_force(w));
    *vec_place(unit < 3 ? &J->p.F : &J->p.N, unit % 3) = along;
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
        const Expr d = power_of(w->S, U), u = sub(driving_force(w), power_of(w->S, J->p));
        J->U[k] = U, J->d[k] = d, J->u[k] = u;
        eliminate(J, w, U, quotient(one(tree->graph), d), u);
    }
}

// p + J c for the parent, c = v x S q'                                               (T22)
static void pass_inward(const Tree *tree, const Link *link, Articulated *J, Articulated *parent)
{
    J->p = wrench_plus(J->p, articulated_apply(J, bias(tree, link)));
    if (J->has_rigid) parent->rigid = rigid_plus(parent->rigid, out_of_rigid(link, J->rigid));
    if (J->has_block) {
        const Block seen = out_of_block(link, J->block);
        parent->block = parent->has_block ? block_plus(parent->block, seen) : seen;
        parent->has_block = true;
    }
    parent->p = wrench_plus(parent->p, out_of_wrench(link, J->p));
}

// q_k'' = (u_k - U_k . a_(k-1)) / d_k, from the first velocity to the last              (T22)
static Motion pass_outward(const Tree *tree, const Link *link, const Articulated *J, Motion a,
                           Expr *q)
{
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const Velocity *w = &tree->velocities[link->velocity + k];
        if (w->drive == DRIVE_MOTION)
            q[link->velocity + k] = w->acceleration;
        else
            q[link->velocity + k] = quotient(sub(J->u[k], power_of(a, J->U[k])), J->d[k]);
        a = motion_plus(a, motion_scale(q[link->velocity + k], w->S));
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
    }
    for (uint32_t i = tree->link_count; good && i-- > 0;) {
        const Link *link = &tree->links[i];
        give_way(tree, link, &J[i]);
        if (has_parent(link)) pass_inward(tree, link, &J[i], &J[link->parent]);
    }
    for (uint32_t i = 0; good && i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        a[i] = into_motion(link, has_parent(link) ? a[link->parent] : world);
        a[i] = pass_outward(tree, link, &J[i], motion_plus(a[i], bias(tree, link)), q);
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

static size_t count_turned(const Tree *tree, const Expr *q, Expr *turned)
{
    const uint32_t n = tree->velocity_count;
    memcpy(turned, q, n * sizeof *q);
    tr_tree_turn_out(tree, turned);
    return tr_system_operations(tree->system, turned, n);
}

// The shortest of both ways, of the forest as it is and along its hinges; which of the two that is.
// Room for three times as many as there are velocities
static Tree *find_shortest(Tree *tree, Expr *room)
{
    const uint32_t n = tree->velocity_count;
    const bool bends = tr_tree_bends(tree);
    const bool is_shallow = n <= MOST_FOR_M && deepest(tree) <= DEEPEST_FOR_M;
    const bool compares = n <= MOST_TO_COMPARE;
    Tree *const forms[] = {
        tree, compares ? tr_tree_along(tree, (AlongBases){.turn = true, .load = true}) : NULL,
        compares ? tr_tree_along(tree, (AlongBases){.turn = true}) : NULL};
    Tree *best = NULL;
    Expr *q = room + n;
    size_t least = 0;
    for (int i = 0; i < 6; i++) {
        const bool by_matrix = i % 2;
        Tree *form = forms[i / 2];
        if (!form || (by_matrix ? !bends && !is_shallow : bends)) continue;
        const bool good = by_matrix ? by_mass_matrix(form, q) : by_articulated_inertias(form, q);
        if (!good || tree->graph->failed) return NULL;
        const size_t count = count_turned(form, q, q + n);
        if (best && count >= least) continue;
        best = form, least = count;
        memcpy(room, q, n * sizeof *q);
    }
    return best;
}

void tr_tree_forward(Tree *tree)
{
    const uint32_t n = tree->velocity_count;
    Expr *q = calloc(3 * (size_t)n + 1, sizeof *q);
    Tree *best = q ? find_shortest(tree, q) : NULL;
    if (best) {
        find_torques(tree, best, q);
        tr_tree_turn_out(best, q);
    } else
        tree->graph->failed = true;
    for (uint32_t k = 0; best && k < n; k++) tree->velocities[k].acceleration = q[k];
    free(q);
}
