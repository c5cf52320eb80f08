// SPDX-License-Identifier: Apache-2.0
// Newton-Euler on symbolic scalars: velocities outward, forces inward.
//
//   v_i = Ad v_p + S q'                                               (T12) [M 2]
//   a_i = Ad a_p + v_i x S q' + S q''                                 (T13) [M 4, 5]
//   f_i = J_i a_i + v_i x* J_i v_i - applied + sum of Ad^T f_k        (T15, T16) [M 6, 8]
//   tau = S . f_i
//
// Inverse dynamics takes the origins' accelerations as seen from the world instead of those of
// velocity components, which saves all terms in linear velocities (T14).
//
// Gravity is an acceleration of the world upwards. The frame of a carried link does not follow its
// joint, so there S q' bends nothing: the term v x S q' is absent, and x* is taken with the frame's
// own motion (T17).
//
// Forward dynamics is built twice, by articulated inertias and by the factorised mass matrix, and
// the one with fewer operations is kept. Where bodies bend it is the mass matrix (T20-T22).
//
// Fluid, energy, torques of driven joints, points of what bends: (T18, T25, T26, T38, T39).
#include "mech/tree.h"

#include <stdlib.h>

enum { DEEPEST_FOR_M = 40 };

static bool has_parent(const Link *link) { return link->parent != WORLD; }

// A vector of the parent's axes, in the link's
static Vec into(const Link *link, Vec a)
{
    if (!link->split) return apply_transposed(link->X.R, a);
    return apply_transposed(link->joint, apply_transposed(link->turn, a));
}

// and the other way
static Vec out_of(const Link *link, Vec a)
{
    return link->split ? apply(link->turn, apply(link->joint, a)) : apply(link->X.R, a);
}

static Motion into_motion(const Link *link, Motion v)
{
    return motion(into(link, plus(v.V, cross(v.W, link->X.p))), into(link, v.W));
}

static Wrench out_of_wrench(const Link *link, Wrench f)
{
    const Vec F = out_of(link, f.F);
    return wrench(F, plus(out_of(link, f.N), cross(link->X.p, F)));
}

static Rigid out_of_rigid(const Tree *tree, const Link *link, Rigid J)
{
    if (!link->split) return rigid_out(link->X, J);
    const Rigid turned = rigid_out((Pose){link->joint, vec_zero(tree->graph)}, J);
    return rigid_out((Pose){link->turn, link->X.p}, turned);
}

// S q' of a link's joint
static Motion joint_motion(const Tree *tree, const Link *link)
{
    Motion sum = motion_zero(tree->graph);
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const Velocity *w = &tree->velocities[link->velocity + k];
        sum = motion_plus(sum, motion_scale(w->symbol, w->S));
    }
    return sum;
}

// A point of a beam moves on its root
static void bend_outward(Tree *tree, Link *link, Motion root)
{
    const Motion bends = tr_section_motion(tree, link);
    root.V = plus(root.V, bends.V);
    link->v = link->frame = into_motion(link, root);
    link->v.W = link->frame.W = plus(link->v.W, bends.W);
    link->section->drift = tr_tree_drift(tree, bends.W);
}

void tr_tree_velocities(Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count; i++) {
        Link *link = &tree->links[i];
        const Motion parent =
            has_parent(link) ? tree->links[link->parent].v : motion_zero(tree->graph);
        if (link->section) {
            bend_outward(tree, link, parent);
            continue;
        }
        const Motion carried = into_motion(link, parent);
        link->v = motion_plus(carried, joint_motion(tree, link));
        link->frame = link->carried ? carried : link->v;
    }
}

// v x S q': what bends the motion on the way to this link
static Motion bias(const Tree *tree, const Link *link)
{
    if (link->carried) return motion_zero(tree->graph);
    return motion_cross(link->v, joint_motion(tree, link));
}

static Motion world_acceleration(const Tree *tree, bool gravity)
{
    Motion a = motion_zero(tree->graph);
    if (gravity) a.V = flip(tree->gravity);
    return a;
}

// J v, the fluid that moves along included
static Wrench momentum(const Link *link, Motion v)
{
    const Wrench h = rigid_apply(link->inertia, v);
    return link->has_added_mass ? wrench_plus(h, block_apply(link->added_mass, v)) : h;
}

// v x* J v, and the weight that gravity as an acceleration wrongly gives the added mass
static Wrench gyroscopic(Tree *tree, uint32_t i, bool gravity, bool inertia)
{
    const Link *link = &tree->links[i];
    Wrench f = wrench_zero(tree->graph);
    if (inertia) f = wrench_cross(link->frame, momentum(link, link->v));
    if (link->has_added_mass && gravity) {
        const Vec g = apply_transposed(tr_tree_world(tree, i).R, tree->gravity);
        f = wrench_plus(f, block_apply(link->added_mass, motion(g, vec_zero(tree->graph))));
    }
    return f;
}

// How a link's frame accelerates, in its own axes: a of its origin as seen from the world, alpha of
// its rotation. A point p of it has a + D p, with D = hat(alpha) + W W^T - W.W 1. In these terms no
// linear velocity enters the dynamics.
typedef struct Accelerated {
    Vec a, alpha;
    Mat D;
} Accelerated;

static Mat point_matrix(Vec alpha, Vec W, bool inertia)
{
    Mat D = hat(alpha);
    if (!inertia) return D;
    const Expr xx = square(W.x), yy = square(W.y), zz = square(W.z);
    const Expr xy = mul(W.x, W.y), xz = mul(W.x, W.z), yz = mul(W.y, W.z);
    D.row[0] = plus(D.row[0], vec(neg(add(yy, zz)), xy, xz));
    D.row[1] = plus(D.row[1], vec(xy, neg(add(xx, zz)), yz));
    D.row[2] = plus(D.row[2], vec(xz, yz, neg(add(xx, yy))));
    return D;
}

// A point p of a beam, which moves at p' on the root and turns at w:
//   a = a_r + D_r p + 2 W_r x p' + p'',   alpha = alpha_r + Wc x w + w'
static Accelerated accelerate_point(const Tree *tree, const Link *link, const Accelerated *root,
                                    const Expr *acceleration, bool inertia)
{
    const Section *at = link->section;
    const Flex *flex = at->flex;
    Vec a = plus(root->a, apply(root->D, link->X.p)), turning = vec_zero(tree->graph);
    if (inertia) {
        const Motion bends = tr_section_motion(tree, link);
        const Vec W = tree->links[link->parent].v.W;
        a = plus(plus(a, cross(plus(W, W), bends.V)), tr_section_shortening(tree, at));
        turning = plus(cross(into(link, W), bends.W), at->drift);
    }
    for (uint32_t k = 0; acceleration && k < flex->count; k++) {
        a = plus(a, scale(acceleration[flex->velocity + k], at->P[k]));
        turning = plus(turning, scale(acceleration[flex->velocity + k], at->W[k]));
    }
    Accelerated out = {.a = into(link, a), .alpha = plus(into(link, root->alpha), turning)};
    out.D = point_matrix(out.alpha, link->frame.W, inertia);
    return out;
}

// The joint moves at V, W on what carries it, which turns at Wc:
//   a = (a_p + D_p p) + (2 Wc + W) x V + S_V q'',   alpha = alpha_p + Wc x W + S_W q''
// A carried frame does not spin.
static Accelerated accelerate(const Tree *tree, const Link *link, const Accelerated *parent,
                              const Expr *acceleration, bool inertia)
{
    if (link->section) return accelerate_point(tree, link, parent, acceleration, inertia);
    Accelerated out = {.a = into(link, plus(parent->a, apply(parent->D, link->X.p))),
                       .alpha = into(link, parent->alpha)};
    if (inertia && !link->carried) {
        const Motion joint = joint_motion(tree, link);
        const Vec Wc =
            has_parent(link) ? into(link, tree->links[link->parent].v.W) : vec_zero(tree->graph);
        out.a = plus(out.a, cross(plus(plus(Wc, Wc), joint.W), joint.V));
        out.alpha = plus(out.alpha, cross(Wc, joint.W));
    }
    for (uint32_t k = 0; acceleration && k < link->velocity_count; k++) {
        const Velocity *w = &tree->velocities[link->velocity + k];
        const Expr q = acceleration[link->velocity + k];
        out.a = plus(out.a, scale(q, w->S.V));
        out.alpha = plus(out.alpha, scale(q, w->S.W)); // of the body, if the frame is carried
    }
    out.D = point_matrix(out.alpha, link->frame.W, inertia);
    return out;
}

// W x I W, as constants times products of W
static Vec gyroscopic_moment(Sym I, Vec W)
{
    const Expr xx = square(W.x), yy = square(W.y), zz = square(W.z);
    const Expr xy = mul(W.x, W.y), xz = mul(W.x, W.z), yz = mul(W.y, W.z);
#define SUM4(a, b, c, d) add(add(a, b), sub(c, d))
    return vec(
        SUM4(mul(sub(I.zz, I.yy), yz), mul(I.yz, sub(yy, zz)), mul(I.xz, xy), mul(I.xy, xz)),
        SUM4(mul(sub(I.xx, I.zz), xz), mul(I.xz, sub(zz, xx)), mul(I.xy, yz), mul(I.yz, xy)),
        SUM4(mul(sub(I.yy, I.xx), xy), mul(I.xy, sub(xx, yy)), mul(I.yz, xz), mul(I.xz, yz)));
#undef SUM4
}

// F = m a + D mc,   N = mc x a + I alpha + W x I W
static Wrench inertia_force(const Link *link, const Accelerated *at, bool inertia)
{
    const Rigid J = link->inertia;
    const Vec F = plus(scale(J.m, at->a), apply(at->D, J.mc));
    Vec N = plus(cross(J.mc, at->a), sym_apply(J.I, at->alpha));
    if (inertia && link->carried)
        N = plus(N, cross(link->frame.W, sym_apply(J.I, link->v.W)));
    else if (inertia)
        N = plus(N, gyroscopic_moment(J.I, link->v.W));
    return wrench(F, N);
}

// What the fluid that moves along takes; it has no weight.
static Wrench fluid_force(Tree *tree, uint32_t i, const Accelerated *at, bool gravity, bool inertia)
{
    const Link *link = &tree->links[i];
    Motion a = motion(at->a, at->alpha);
    if (gravity) a.V = plus(a.V, apply_transposed(tr_tree_world(tree, i).R, tree->gravity));
    if (inertia) a.V = minus(a.V, cross(link->v.W, link->v.V)); // of its components
    const Wrench f = block_apply(link->added_mass, a);
    if (!inertia) return f;
    return wrench_plus(f, wrench_cross(link->frame, block_apply(link->added_mass, link->v)));
}

// What the force on a point takes along the modes of its beam
static void push_modes(const Link *link, Wrench f, Expr *force)
{
    const Section *at = link->section;
    const Vec F = out_of(link, f.F);
    for (uint32_t k = 0; k < at->flex->count; k++) {
        Expr *along = &force[at->flex->velocity + k];
        *along = add(*along, add(dot(at->P[k], F), dot(at->W[k], f.N)));
    }
}

static void push_inward(const Tree *tree, Wrench *f, Expr *force)
{
    for (uint32_t i = tree->link_count; i-- > 0;) {
        const Link *link = &tree->links[i];
        if (link->section) push_modes(link, f[i], force);
        for (uint32_t k = 0; k < link->velocity_count; k++)
            force[link->velocity + k] = power_of(tree->velocities[link->velocity + k].S, f[i]);
        if (has_parent(link))
            f[link->parent] = wrench_plus(f[link->parent], out_of_wrench(link, f[i]));
    }
}

void tr_tree_inverse(Tree *tree, const Expr *acceleration, bool gravity, bool inertia, bool applied,
                     Expr *force)
{
    Graph *g = tree->graph;
    const Accelerated world = {
        .a = gravity ? flip(tree->gravity) : vec_zero(g), .alpha = vec_zero(g), .D = mat_zero(g)};
    Accelerated *a = calloc(tree->link_count + 1, sizeof *a);
    Wrench *f = calloc(tree->link_count + 1, sizeof *f);
    for (uint32_t i = 0; a && f && i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        const Accelerated *parent = has_parent(link) ? &a[link->parent] : &world;
        a[i] = accelerate(tree, link, parent, acceleration, inertia);
        f[i] = inertia_force(link, &a[i], inertia);
        if (link->flex)
            f[i] = wrench_plus(
                f[i], tr_flex_force(tree, link, a[i].a, a[i].alpha, acceleration, inertia, force));
        if (link->has_added_mass)
            f[i] = wrench_plus(f[i], fluid_force(tree, i, &a[i], gravity, inertia));
        if (applied) f[i] = wrench_minus(f[i], link->applied);
    }
    if (a && f) push_inward(tree, f, force);
    if (!a || !f) g->failed = true;
    for (uint32_t k = 0; (!a || !f) && k < tree->velocity_count; k++) force[k] = expr_at(g, 0);
    free(a);
    free(f);
}

Expr tr_tree_kinetic(Tree *tree)
{
    Expr twice = zero(tree->graph);
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        twice = add(twice, power_of(link->v, momentum(link, link->v)));
        if (link->flex) twice = add(twice, tr_flex_kinetic(tree, link));
    }
    return mul(number(tree->graph, 0.5), twice);
}

// ---- the mass matrix -----------------------------------------------------------------------

// Inertia of everything a link carries: rigid, and what fluid moves along.
typedef struct Composite {
    Rigid rigid;
    Block fluid;
    bool has_fluid;
} Composite;

static Composite *composites(Tree *tree)
{
    Composite *all = calloc(tree->link_count + 1, sizeof *all);
    if (!all) tree->graph->failed = true;
    for (uint32_t i = 0; all && i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        all[i] = (Composite){link->inertia, link->added_mass, link->has_added_mass};
        if (!link->has_added_mass) all[i].fluid = block_zero(tree->graph);
    }
    for (uint32_t i = tree->link_count; all && i-- > 0;) {
        const Link *link = &tree->links[i];
        if (!has_parent(link)) continue;
        Composite *above = &all[link->parent];
        above->rigid = rigid_plus(above->rigid, out_of_rigid(tree, link, all[i].rigid));
        if (!all[i].has_fluid) continue;
        above->fluid = block_plus(above->fluid, block_out(link->X, all[i].fluid));
        above->has_fluid = true;
    }
    return all;
}

static Wrench composite_apply(const Composite *J, Motion a)
{
    const Wrench f = rigid_apply(J->rigid, a);
    return J->has_fluid ? wrench_plus(f, block_apply(J->fluid, a)) : f;
}

// How a point of a beam moves at unit rate of a mode, in its own axes
static Motion point_motion(const Link *link, uint32_t k)
{
    return motion(into(link, link->section->P[k]), link->section->W[k]);
}

// The mode that a velocity is of its beam, or MAX_MODES
static uint32_t mode_of(const Tree *tree, uint32_t velocity)
{
    const Flex *flex = tree->links[tree->velocities[velocity].link].flex;
    return flex && velocity >= flex->velocity ? velocity - flex->velocity : MAX_MODES;
}

// M_jk of two modes of one beam, and all momentum that the second has, at the root; with what hangs
// from the beam
static Wrench bend_masses(const Tree *tree, const Composite *all, uint32_t i, uint32_t k, Expr *M)
{
    const Flex *flex = tree->links[i].flex;
    Wrench f = tr_flex_momentum(tree, flex, k);
    for (uint32_t j = 0; j < flex->count; j++) M[j] = flex->m[j * flex->count + k];
    for (uint32_t p = i + 1; p < tree->link_count; p++) {
        const Link *point = &tree->links[p];
        if (point->parent != i || !point->section) continue;
        const Wrench own = composite_apply(&all[p], point_motion(point, k));
        for (uint32_t j = 0; j < flex->count; j++)
            M[j] = add(M[j], power_of(point_motion(point, j), own));
        f = wrench_plus(f, out_of_wrench(point, own));
    }
    return f;
}

void tr_tree_mass_along(Tree *tree, Expr *diagonal)
{
    Composite *all = composites(tree);
    for (uint32_t k = 0; all && k < tree->velocity_count; k++) {
        const Velocity *w = &tree->velocities[k];
        const uint32_t mode = mode_of(tree, k);
        if (mode < MAX_MODES) {
            Expr M[MAX_MODES];
            bend_masses(tree, all, w->link, mode, M);
            diagonal[k] = M[mode];
            continue;
        }
        diagonal[k] = power_of(w->S, composite_apply(&all[w->link], w->S));
    }
    free(all);
}

static void set_both(Matrix M, uint32_t i, uint32_t j, Expr entry)
{
    set(M, i, j, entry);
    set(M, j, i, entry);
}

// The momentum of velocity k at its link; its entries with modes of the same beam
static Wrench own_momentum(const Tree *tree, const Composite *all, uint32_t k, Matrix M)
{
    const Velocity *w = &tree->velocities[k];
    const uint32_t mode = mode_of(tree, k);
    if (mode == MAX_MODES) return composite_apply(&all[w->link], w->S);
    Expr row[MAX_MODES];
    const Wrench f = bend_masses(tree, all, w->link, mode, row);
    for (uint32_t j = 0; j <= mode; j++) set_both(M, k - mode + j, k, row[j]);
    return f;
}

// M_jk = S_j . J_k S_k, carried from link k to every link before it
Matrix tr_tree_mass_matrix(Tree *tree)
{
    Matrix M = tr_matrix(tree->graph, tree->velocity_count, tree->velocity_count);
    Composite *all = composites(tree);
    for (uint32_t k = 0; all && k < tree->velocity_count; k++) {
        uint32_t i = tree->velocities[k].link;
        Wrench f = own_momentum(tree, all, k, M);
        for (;;) {
            const Link *link = &tree->links[i];
            for (uint32_t j = 0; j < link->velocity_count; j++) {
                const uint32_t w = link->velocity + j;
                if (w > k && i == tree->velocities[k].link) continue; // its own link: once
                set_both(M, w, k, power_of(tree->velocities[w].S, f));
            }
            const Flex *flex = link->section ? link->section->flex : NULL;
            for (uint32_t j = 0; flex && j < flex->count; j++)
                set_both(M, flex->velocity + j, k, power_of(point_motion(link, j), f));
            if (!has_parent(link)) break;
            f = out_of_wrench(link, f);
            i = link->parent;
        }
    }
    free(all);
    return M;
}

// ---- forward dynamics by articulated inertias ----------------------------------------------

// What a link is like to its parent: f = J a + p. It is rigid as long as no joint gives way.
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

static Expr driving_force(const Velocity *w) { return add(w->torque, w->passive); }

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

// J -= U U^T / d, p += U u / d. Along S itself nothing is left of J, and p is the joint's force:
// the graph cannot find that, so it is said.
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

// The joint's velocities from the last to the first: a_k = a_{k-1} + S_k q_k''
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

static void pass_inward(const Tree *tree, const Link *link, Articulated *J, Articulated *parent)
{
    J->p = wrench_plus(J->p, articulated_apply(J, bias(tree, link)));
    if (J->has_rigid) parent->rigid = rigid_plus(parent->rigid, out_of_rigid(tree, link, J->rigid));
    if (J->has_block) {
        const Block seen = block_out(link->X, J->block);
        parent->block = parent->has_block ? block_plus(parent->block, seen) : seen;
        parent->has_block = true;
    }
    parent->p = wrench_plus(parent->p, out_of_wrench(link, J->p));
}

// q_k'' = (u_k - U_k . a_{k-1}) / d_k, from the first velocity to the last
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
    const bool good = J && a;
    for (uint32_t i = 0; good && i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        J[i].rigid = link->inertia;
        J[i].has_rigid = true;
        J[i].block = link->added_mass;
        J[i].has_block = link->has_added_mass;
        J[i].p = wrench_minus(gyroscopic(tree, i, true, true), link->applied);
    }
    for (uint32_t i = tree->link_count; good && i-- > 0;) {
        const Link *link = &tree->links[i];
        give_way(tree, link, &J[i]);
        if (has_parent(link)) pass_inward(tree, link, &J[i], &J[link->parent]);
    }
    for (uint32_t i = 0; good && i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        a[i] =
            into_motion(link, has_parent(link) ? a[link->parent] : world_acceleration(tree, true));
        a[i] = pass_outward(tree, link, &J[i], motion_plus(a[i], bias(tree, link)), q);
    }
    free(J);
    free(a);
    return good;
}

// ---- forward dynamics by the mass matrix ---------------------------------------------------

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

// M = L^T D L from the tips to the base, which fills nothing in; L below, D on the diagonal
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
    tr_tree_inverse(tree, known, true, true, true,
                    q); // c + M a of what is driven, less what is applied
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
// the square and the cube of that, so they are not worth trying for deep trees.
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

// Torques of motion-driven joints: what inverse dynamics asks for, less springs and the like [B 27]
static void find_torques(Tree *tree, const Expr *q)
{
    bool any = false;
    Expr *force = calloc(tree->velocity_count + 1, sizeof *force);
    for (uint32_t k = 0; k < tree->velocity_count; k++)
        any = any || tree->velocities[k].drive == DRIVE_MOTION;
    if (!force)
        tree->graph->failed = true;
    else if (any)
        tr_tree_inverse(tree, q, true, true, true, force);
    for (uint32_t k = 0; force && k < tree->velocity_count; k++) {
        Velocity *w = &tree->velocities[k];
        w->tau = w->drive == DRIVE_MOTION ? sub(force[k], w->passive) : w->torque;
    }
    free(force);
}

void tr_tree_forward(Tree *tree)
{
    const uint32_t n = tree->velocity_count;
    Expr *q = calloc(2 * (size_t)n + 1, sizeof *q), *other = q ? q + n : NULL;
    const bool bends = tr_tree_bends(tree);
    bool good = q && (bends ? by_mass_matrix(tree, q) : by_articulated_inertias(tree, q));
    if (good && !bends && deepest(tree) <= DEEPEST_FOR_M) {
        good = by_mass_matrix(tree, other);
        if (good && !tree->graph->failed &&
            tr_system_operations(tree->system, other, n) < tr_system_operations(tree->system, q, n))
            memcpy(q, other, n * sizeof *q);
    }
    if (good)
        find_torques(tree, q);
    else
        tree->graph->failed = true;
    for (uint32_t k = 0; good && k < n; k++) tree->velocities[k].acceleration = q[k];
    free(q);
}
