// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics of a forest, M v' + c, and its derivatives by places and speeds with
// accelerations frozen, by recursion along the tree (T144-T147). All of a tree is described in one
// set of axes at one origin: the world's, or those of its base where that moves freely. Of such a
// base x = V' + W x V - R^T g stands for V': neither its place nor V nor gravity appear then.
#ifndef TR_REDUCE_TREE_SLOPES_H
#define TR_REDUCE_TREE_SLOPES_H

#include "expr/forest.h"
#include "expr/matrix.h"

typedef struct TreeSlopes {
    System *system;
    uint32_t count;         // velocities, as tr_system_velocities has them
    uint32_t *input, *link; // of each
    uint32_t *base;         // by link: its root, where that moves freely; else NO_LINK
    uint32_t *moved;        // by input: the link that a position moves, or NO_LINK
    Matrix M;
    Expr *c; // what x = 0 takes, but for velocities that a motion drives, which have their own
    // Rows: forces. Columns: displacements along a velocity's motion, and velocities. Those of free
    // bases are zero, but for W.
    Matrix by_place, by_speed;
    struct SlopeLink *links;
    struct SlopeMotion *motions;
} TreeSlopes;

// The mass matrix and c; false where the system has no forest, or memory runs out.
bool tr_tree_slopes_new(System *system, TreeSlopes *slopes);
// M x + c: the forces that accelerations x take
void tr_tree_slopes_force(TreeSlopes *slopes, const Expr *x, Expr *force);
// The derivatives at accelerations x
void tr_tree_slopes_take(TreeSlopes *slopes, const Expr *x);
void tr_tree_slopes_free(TreeSlopes *slopes);

// The velocity along whose motion a position moves when it changes alone, or NO_LINK where its
// change changes nothing but gravity: of a free base. False where it is neither.
bool tr_tree_slopes_moves(const TreeSlopes *slopes, uint32_t position, uint32_t *velocity);

// x - V' of a velocity of a free base, W x V - R^T g; zero of any other                 (T147)
Expr tr_tree_slopes_shift(const TreeSlopes *slopes, uint32_t velocity);

// The axis of W of a free base that a velocity is along as the model has it, in the tree's axes
Vec tr_tree_slopes_axis(const TreeSlopes *slopes, uint32_t velocity);
// Names an expression whose change is known; and what it is a multiple of, for simplification may
// have gone past itself. How many names that makes: two at most.
uint32_t tr_name_change(Expr x, Expr change, Expr *from, Expr *to);
// Where a free base turns about one of its axes, its rotation matrix changes by R hat(e): rows r of
// R by r x e. Names for all entries; how many, 18 at most.
uint32_t tr_tree_slopes_turn(const TreeSlopes *slopes, uint32_t velocity, Expr *from, Expr *to);

#endif
