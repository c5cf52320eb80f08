// SPDX-License-Identifier: Apache-2.0
// Motions, wrenches and inertias across the joint of a link of the forest.
#ifndef TR_MECH_ACROSS_H
#define TR_MECH_ACROSS_H

#include "expr/passage.h"
#include "mech/tree.h"

static inline bool has_parent(const Link *link) { return link->parent != WORLD; }

static inline Passage passage_of(const Link *link)
{
    return (Passage){link->X, link->first, link->second, link->split};
}

static inline Vec into(const Link *link, Vec a)
{
    const Passage x = passage_of(link);
    return pass_in(&x, a);
}
static inline Vec out_of(const Link *link, Vec a)
{
    const Passage x = passage_of(link);
    return pass_out(&x, a);
}
static inline Motion into_motion(const Link *link, Motion v)
{
    const Passage x = passage_of(link);
    return pass_motion(&x, v);
}
static inline Wrench out_of_wrench(const Link *link, Wrench f)
{
    const Passage x = passage_of(link);
    return pass_wrench(&x, f);
}
static inline Rigid out_of_rigid(const Link *link, Rigid J)
{
    const Passage x = passage_of(link);
    return pass_rigid(&x, J);
}
static inline Block out_of_block(const Link *link, Block K)
{
    const Passage x = passage_of(link);
    return pass_block(&x, K);
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
