// SPDX-License-Identifier: Apache-2.0
// The bodies as plain data: what recursions along the tree need, for those who eliminate or
// differentiate along it. The motions are those of the system's rows, and the inertias those of its
// mass matrix, by inner velocity.
#ifndef TR_EXPR_FOREST_H
#define TR_EXPR_FOREST_H

#include "expr/matrix.h"
#include "expr/passage.h"
#include "expr/system.h"

typedef struct ForestLink {
    uint32_t parent;                   // parents come first; or NO_LINK
    uint32_t velocity, velocity_count; // its own, as places in tr_system_velocities
    Passage across;                    // from the parent
    const Motion *S;                   // by own velocity: its motion in its own frame
    Rigid inertia;
    Motion v;        // of the body, in its frame
    Vec up;          // the acceleration that stands for gravity, in its axes
    Motion frame;    // of the frame itself: v, unless it is carried
    bool is_carried; // its frame does not spin with it (T17)
    bool is_base;    // hangs from nothing, and goes anywhere, in space or in a plane
    bool has_centre; // its mass depends on parameters alone
} ForestLink;

// Three rows that hold the point of a wheel or a ball where it touches. Seen from the link that
// carries it, that place moves along `runs` at unit spin.
typedef struct Rolling {
    uint32_t rows[3];
    uint32_t link; // that carries it
    Vec hub;       // its middle, in the link's frame
    Vec arm;       // from there to where it touches
    Vec point;     // both together
    uint32_t spin; // the velocity, as a place; NO_LINK when the link itself rolls
    Vec runs;
    Expr square; // runs . runs
    Vec drift;   // V_P' where the hub does not accelerate, nor the link begin to turn
} Rolling;

typedef struct Forest {
    ForestLink *links;
    Rolling *rolling;
    uint32_t link_count, rolling_count;
    Vec gravity; // in world axes
} Forest;

// In a system of one's own, by inner velocity: the mass matrix, for a system of many velocities has
// no such output, and its diagonal.
Matrix tr_forest_mass(System *system);
void tr_forest_masses(System *system, Expr *diagonal);

// Slopes of a row that has none yet, for it follows from the motion of one link, in a system of
// one's own
void tr_forest_slopes(System *system, Row *row);
// What such rows bear: adds G^T lambda of them to forces by inner velocity.
void tr_forest_bear(System *system, Expr *force);

// A row's slopes along V and W of its base
static inline Wrench row_on(const Row *row)
{
    return wrench(vec(row->on[0], row->on[1], row->on[2]), vec(row->on[3], row->on[4], row->on[5]));
}

#endif
