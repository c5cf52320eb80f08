// SPDX-License-Identifier: Apache-2.0
// What wheels, balls and feet are on: a plane, a sphere, or a height over a plane (T186-T188).
#ifndef TR_MECH_SURFACE_H
#define TR_MECH_SURFACE_H

#include "mech/meet.h"

typedef enum SurfaceKind { SURFACE_PLANE, SURFACE_SPHERE, SURFACE_HEIGHT } SurfaceKind;

// A surface, and how it moves. Its axes are those of what it belongs to; up is z.
typedef struct Floor {
    SurfaceKind kind;
    Carrier carrier;
    uint32_t link; // or WORLD: the ground, which stands still
    Vec to;        // in its axes: a point of the plane, the middle of the sphere, or where x, y and
                   // z count from
    Expr radius;   // of a sphere
    bool is_inside;
    // Of a height f: as a formula of its symbols x and y, and where a contact is
    Value height; // as it is written
    Expr symbol[2], formula;
    Expr x, y;
    Expr f, slope[2]; // f_x, f_y
    Expr bend[3];     // f_xx, f_xy, f_yy
    Expr length;      // sqrt(1 + f_x^2 + f_y^2)
    Anchor place;     // of its axes, where it is kept
} Floor;

// That of a contact. Of a height there is no place yet. Its shape alone, where it moves otherwise:
// on something that the contact names, or on the ground.
Floor tr_floor_shape(Tree *tree, const Contact *contact, bool is_on_something);
Floor tr_floor(Tree *tree, const Contact *contact);
// For as long as the tree; NULL of a plane, which needs no more than its pose
const Floor *tr_floor_keep(Tree *tree, const Floor *floor, Anchor place);
void tr_floor_at(Tree *tree, Floor *floor, Expr x, Expr y); // a height, there
// The normal where a contact is, in the surface's axes; not of a sphere
Vec tr_floor_normal(Tree *tree, const Floor *floor);
// The ground as it could be below a contact: with slopes of about 0.1 more            (T196)
Floor tr_floor_tilted(Tree *tree, const Floor *floor);
// Unit vectors along the surface: its x and y, turned by the shortest way that brings z to the
// normal, all in some axes that the columns of `axes` are its own in
void tr_floor_directions(Mat axes, Vec normal, Vec out[2]);

// How a wheel or a ball touches a height, in some axes: n, l and m = n x l, its radii, and what it
// is turned by as seen from the surface.
typedef struct Resting {
    Mat axes; // the surface's own, in these
    Vec n, l, m, a;
    bool is_ball;
    Expr ring, tube; // a ball is all tube
    Expr lean, size; // n.a, |n - (n.a) a|; not of a ball
    Expr gap;        // zero where it stays closed
    Vec V, da;       // of the middle, and of the axle
} Resting;

// How the contact moves along the surface, and its normal with it                     (T187)
typedef struct Creeping {
    Vec c, dn;
    Expr margin, hollow[2]; // along, across; of a ball the steepest
} Creeping;
Creeping tr_creeping(const Floor *floor, const Resting *at);

// Symbols for where a contact touches a height, put into the floor
void tr_touch_symbols(Tree *tree, const Contact *contact, Floor *floor);
// What the system has to know of it, once the floor is there: the middle O of the wheel and its
// point P in the surface's axes, its axle likewise, and how it moves
void tr_touch_add(Tree *tree, const Contact *contact, const Floor *floor, Vec O, Vec P,
                  const Resting *at, const Creeping *moves, Expr *gap);

#endif
