// SPDX-License-Identifier: Apache-2.0
// Motions, wrenches and inertias across the joint of a link (T9, T10). Where its rotation is split,
// the two are cheaper one after the other.
#ifndef TR_MECH_ACROSS_H
#define TR_MECH_ACROSS_H

#include "mech/tree.h"

static inline bool has_parent(const Link *link) { return link->parent != WORLD; }

// A vector of the parent's axes, in the link's
static inline Vec into(const Link *link, Vec a)
{
    if (!link->split) return apply_transposed(link->X.R, a);
    return apply_transposed(link->joint, apply_transposed(link->turn, a));
}

// and the other way
static inline Vec out_of(const Link *link, Vec a)
{
    return link->split ? apply(link->turn, apply(link->joint, a)) : apply(link->X.R, a);
}

// Ad (V, W) = (R^T (V + W x p), R^T W)                                              [M 3]
static inline Motion into_motion(const Link *link, Motion v)
{
    return motion(into(link, plus(v.V, cross(v.W, link->X.p))), into(link, v.W));
}

// Ad^T (F, N) = (R F, R N + p x R F)                                                [M 6]
static inline Wrench out_of_wrench(const Link *link, Wrench f)
{
    const Vec F = out_of(link, f.F);
    return wrench(F, plus(out_of(link, f.N), cross(link->X.p, F)));
}

static inline Rigid out_of_rigid(const Link *link, Rigid J)
{
    if (!link->split) return rigid_out(link->X, J);
    const Rigid turned = rigid_out((Pose){link->joint, vec_zero(graph_of(J.m))}, J);
    return rigid_out((Pose){link->turn, link->X.p}, turned);
}

// S q' of the joint
static inline Motion joint_motion(const Tree *tree, const Link *link)
{
    Motion sum = motion_zero(tree->graph);
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const Velocity *w = &tree->velocities[link->velocity + k];
        sum = motion_plus(sum, motion_scale(w->symbol, w->S));
    }
    return sum;
}

// J v, the fluid that moves along included                                   (T10, T18)
static inline Wrench momentum(const Link *link, Motion v)
{
    const Wrench h = rigid_apply(link->inertia, v);
    return link->has_added_mass ? wrench_plus(h, block_apply(link->added_mass, v)) : h;
}

#endif
