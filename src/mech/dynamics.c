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
#include "mech/across.h"

#include <stdlib.h>

// ---- names ---------------------------------------------------------------------------------

// For equations that people read: what an expression is
void tr_tree_call(const Tree *tree, uint32_t link, CalledKind kind, const char *component, Expr x)
{
    System *s = tree->system;
    if (!s->keeps_called || tree->links[link].section) return;
    const Text name = tree->links[link].body->name.text;
    Called *called = tr_arena_alloc(&tree->graph->arena, 1, sizeof *called);
    const char *body = tr_arena_text(&tree->graph->arena, name.at, name.length);
    if (!called || !body) {
        tree->graph->failed = true;
        return;
    }
    *called = (Called){s->called, body, component, x.id, kind};
    s->called = called;
}

void tr_tree_call_vec(const Tree *tree, uint32_t link, CalledKind kind, Vec a)
{
    tr_tree_call(tree, link, kind, "x", a.x);
    tr_tree_call(tree, link, kind, "y", a.y);
    tr_tree_call(tree, link, kind, "z", a.z);
}

// ---- velocities ----------------------------------------------------------------------------

// A point of a beam moves on its root at p' and turns at w.                        (T37)
static void bend_outward(Tree *tree, Link *link, Motion root)
{
    const Motion bends = tr_section_motion(tree, link);
    root.V = plus(root.V, bends.V);
    link->v = link->frame = into_motion(link, root);
    link->v.W = link->frame.W = plus(link->v.W, bends.W);
    link->section->drift = tr_tree_drift(tree, bends.W);
}

// v_i = Ad v_p + S q'                                                        (T12) [M 2]
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
        tr_tree_call_vec(tree, i, CALLED_V, link->v.V);
        tr_tree_call_vec(tree, i, CALLED_W, link->v.W);
    }
}

// ---- accelerations -------------------------------------------------------------------------

// A point p of a beam, which moves at p' on the root and turns at w:
//   a = R^T (a_r + D_r p + 2 W_r x p' + p''),   alpha = R^T alpha_r + Wc x w + w'  (T38) [B 72]
static Accelerated accelerate_point(const Tree *tree, const Link *link, const Accelerated *root,
                                    const Expr *acceleration)
{
    const Section *at = link->section;
    const Flex *flex = at->flex;
    const Motion bends = tr_section_motion(tree, link);
    const Vec W = tree->links[link->parent].v.W;
    Vec a = plus(root->a, apply(root->D, link->X.p));
    a = plus(plus(a, cross(plus(W, W), bends.V)), tr_section_shortening(tree, at));
    Vec turning = plus(cross(into(link, W), bends.W), at->drift);
    for (uint32_t k = 0; acceleration && k < flex->count; k++) {
        a = plus(a, scale(acceleration[flex->velocity + k], at->P[k]));
        turning = plus(turning, scale(acceleration[flex->velocity + k], at->W[k]));
    }
    Accelerated out = {.a = into(link, a), .alpha = plus(into(link, root->alpha), turning)};
    out.D = point_matrix(out.alpha, link->frame.W);
    return out;
}

// A carried frame does not spin, so there the joint bends nothing (T17); of the body itself alpha
// is what its spin adds.
static Accelerated accelerate(const Tree *tree, const Link *link, const Accelerated *parent,
                              const Expr *acceleration)
{
    Graph *g = tree->graph;
    if (link->section) return accelerate_point(tree, link, parent, acceleration);
    Motion joint = motion_zero(g), more = joint;
    Vec Wc = vec_zero(g);
    if (!link->carried) joint = joint_motion(tree, link);
    if (!link->carried && has_parent(link)) Wc = into(link, tree->links[link->parent].v.W);
    for (uint32_t k = 0; acceleration && k < link->velocity_count; k++)
        more = motion_plus(more, motion_scale(acceleration[link->velocity + k],
                                              tree->velocities[link->velocity + k].S));
    const Passage x = passage_of(link);
    return pass_acceleration(&x, parent, Wc, joint, more, link->frame.W);
}

Accelerated tr_tree_accelerated_behind(const Tree *tree, uint32_t i, uint32_t above)
{
    const Vec still = vec_zero(tree->graph);
    Accelerated at = {still, still, point_matrix(still, tree->links[above].frame.W)};
    while (above != i) {
        uint32_t next = i;
        while (tree->links[next].parent != above) next = tree->links[next].parent;
        at = accelerate(tree, &tree->links[next], &at, NULL);
        above = next;
    }
    return at;
}

// ---- forces --------------------------------------------------------------------------------

// f = A (V', W') + v x* A v of the fluid that moves along, which has no weight         (T18)
Wrench tr_tree_fluid_force(Tree *tree, uint32_t i, const Accelerated *at)
{
    const Link *link = &tree->links[i];
    const Vec g = apply_transposed(tr_tree_world(tree, i).R, tree->gravity);
    const Vec V = minus(plus(at->a, g), cross(link->v.W, link->v.V)); // the rate of components
    const Wrench f = block_apply(link->added_mass, motion(V, at->alpha));
    return wrench_plus(f, wrench_cross(link->frame, block_apply(link->added_mass, link->v)));
}

// What the force on a point takes along the modes of its beam: P_k.R F + W_k.N  (T39) [B 69]
static void push_modes(const Link *link, Wrench f, Expr *force)
{
    const Section *at = link->section;
    const Vec F = out_of(link, f.F);
    for (uint32_t k = 0; k < at->flex->count; k++) {
        Expr *along = &force[at->flex->velocity + k];
        *along = add(*along, add(dot(at->P[k], F), dot(at->W[k], f.N)));
    }
}

// f_i += sum over children of Ad^T f_k,   tau = S.f_i                           (T16) [M 6]
static void push_inward(const Tree *tree, Wrench *f, Expr *force)
{
    for (uint32_t i = tree->link_count; i-- > 0;) {
        const Link *link = &tree->links[i];
        if (link->section) push_modes(link, f[i], force);
        tr_tree_call_vec(tree, i, CALLED_FORCE_BEHIND, f[i].F);
        tr_tree_call_vec(tree, i, CALLED_MOMENT_BEHIND, f[i].N);
        for (uint32_t k = 0; k < link->velocity_count; k++)
            force[link->velocity + k] = power_of(tree->velocities[link->velocity + k].S, f[i]);
        if (has_parent(link))
            f[link->parent] = wrench_plus(f[link->parent], out_of_wrench(link, f[i]));
    }
}

// ---- inverse dynamics ----------------------------------------------------------------------

static void fail(Tree *tree, Expr *force)
{
    tree->graph->failed = true;
    for (uint32_t k = 0; k < tree->velocity_count; k++) force[k] = expr_at(tree->graph, 0);
}

void tr_tree_inverse(Tree *tree, const Expr *acceleration, bool applied, Expr *force)
{
    Graph *g = tree->graph;
    const Accelerated world = {flip(tree->gravity), vec_zero(g), mat_zero(g)};
    Accelerated *a = calloc(tree->link_count + 1, sizeof *a);
    Wrench *f = calloc(tree->link_count + 1, sizeof *f);
    for (uint32_t i = 0; a && f && i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        const Accelerated *parent = has_parent(link) ? &a[link->parent] : &world;
        a[i] = accelerate(tree, link, parent, acceleration);
        f[i] = inertia_force(link->inertia, &a[i], link->frame.W, link->v.W, link->carried);
        if (link->flex)
            f[i] = wrench_plus(f[i],
                               tr_flex_force(tree, link, a[i].a, a[i].alpha, acceleration, force));
        if (link->has_added_mass) f[i] = wrench_plus(f[i], tr_tree_fluid_force(tree, i, &a[i]));
        if (applied) f[i] = wrench_minus(f[i], link->applied);
        tr_tree_call_vec(tree, i, CALLED_A, a[i].a);
        tr_tree_call_vec(tree, i, CALLED_ALPHA, a[i].alpha);
        tr_tree_call_vec(tree, i, CALLED_FORCE, f[i].F);
        tr_tree_call_vec(tree, i, CALLED_MOMENT_OF_FORCE, f[i].N);
    }
    if (a && f)
        push_inward(tree, f, force);
    else
        fail(tree, force);
    for (uint32_t k = 0; acceleration && k < tree->velocity_count; k++) // of rotors         (T345)
        force[k] = add(force[k], mul(tree->velocities[k].armature, acceleration[k]));
    free(a);
    free(f);
}

void tr_tree_applied(Tree *tree, Expr *force)
{
    Wrench *f = calloc(tree->link_count + 1, sizeof *f);
    for (uint32_t k = 0; k < tree->velocity_count; k++) force[k] = zero(tree->graph);
    for (uint32_t i = 0; f && i < tree->link_count; i++) f[i] = tree->links[i].applied;
    if (f)
        push_inward(tree, f, force);
    else
        fail(tree, force);
    free(f);
}
