// SPDX-License-Identifier: Apache-2.0
// Motions, wrenches and inertias across the joint of a link (T9, T10). Where it is split, the
// two are cheaper one after the other (T118).
#ifndef TR_MECH_ACROSS_H
#define TR_MECH_ACROSS_H

#include "mech/tree.h"

static inline bool has_parent(const Link *link) { return link->parent != WORLD; }

// A vector of the parent's axes, in the link's
static inline Vec into(const Link *link, Vec a)
{
    if (!link->split) return apply_transposed(link->X.R, a);
    return apply_transposed(link->second.R, apply_transposed(link->first.R, a));
}

// and the other way
static inline Vec out_of(const Link *link, Vec a)
{
    if (!link->split) return apply(link->X.R, a);
    return apply(link->first.R, apply(link->second.R, a));
}

static inline Motion into_motion(const Link *link, Motion v)
{
    if (!link->split) return motion_in(link->X, v);
    return motion_in(link->second, motion_in(link->first, v));
}

static inline Wrench out_of_wrench(const Link *link, Wrench f)
{
    if (!link->split) return wrench_out(link->X, f);
    return wrench_out(link->first, wrench_out(link->second, f));
}

static inline Rigid out_of_rigid(const Link *link, Rigid J)
{
    if (!link->split) return rigid_out(link->X, J);
    return rigid_out(link->first, rigid_out(link->second, J));
}

// Two rotations are cheaper than their product if both are about one axis.
static inline Block out_of_block(const Link *link, Block K)
{
    if (!link->split || single_turn(link->first.R).i < 0) return block_out(link->X, K);
    return block_out(link->first, block_out(link->second, K));
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
