// SPDX-License-Identifier: Apache-2.0
// Where a wheel or a ball touches, in some axes (T44, T195, T300), and its rows as they are
// eliminated (T46, T125). What contact.c, rim.c, rolling.c and inner_rolling.c share.
#ifndef TR_MECH_RIM_H
#define TR_MECH_RIM_H

#include "mech/surface.h"

typedef struct Wheel {
    bool is_ball;
    Expr radius, tube;
    Expr along, across; // of rollers: cosine and sine of their angle; id 0: it has none
} Wheel;

// Where a wheel or a ball touches, in some axes: its axle a (nothing of a ball), the ground's
// normal n, and r from its middle to the point that touches.
typedef struct Rim {
    Wheel wheel;
    Vec a, n;
    Expr length;     // of n
    Expr lean, size; // n.a, |n - (n.a) a|
    Vec rim;         // the part of r across the axle: (radius - tube) d
    Vec r;
    Vec forward;      // l
    Vec direction[3]; // of the rows: normal, longitudinal or along the roller, across both
    Expr away;        // on a sphere: how far its ring is from the sphere's middle; negative inside
} Rim;

// The axes of the floor, and the middle of a sphere as seen from that of the wheel, in other axes
typedef struct Beneath {
    Mat axes;
    Vec Q;
} Beneath;

Beneath tr_beneath(const Floor *floor, Pose X, Vec middle);

// The axle of a wheel, its middle, and axes in which both stand still: those of what carries the
// wheel, where it turns about the joint's own axis, so that its angle does not appear; else its
// own.
Carrier tr_wheel_carrier(Tree *tree, uint32_t i, const Contact *contact, Vec *a, Vec *middle);
// The same of a ball, which has no axle
Carrier tr_ball_carrier(Tree *tree, uint32_t i, const Contact *contact, Vec *middle);
// r, of a rim whose wheel, axle, normal and its length are given
void tr_rim_find(Rim *rim);
Rim tr_rim_of(Tree *tree, const Wheel *wheel, const Floor *floor, const Beneath *at, Vec a);
// A wheel or a ball on a height; V is that of its middle, da of its axle
Resting tr_rim_resting(const Contact *contact, const Rim *rim, Mat axes, Expr gap, Vec V, Vec da);

// The rows once more, by the velocity of the contact point in the axes of the root, or of a link
// nearer by: there a free root's own velocity has unit slopes. The wheel turns at W, what carries
// it at Wc = W - s a and at w as seen from these axes, which turn at W0. The floor goes at F where
// the wheel's middle O is, and turns at Wf; all but W0 and w is as seen from the floor (T46):
//
//   V_P = V_O - F + W x r,   V_P' = V_O' - F' + W' x r + W x r',   F' = a_f + Wf x (V_O - F) - W0 x
//   F r = rim - tube n,        r' = (w + chi a) x rim - tube n',     n' = n x (W0 - Wf)
//
// where the contact runs round the rim at chi, for it stays below the axle, and its heading turns
// at psi, with k = Wc.d / |n - (n.a) a|:
//   chi = -Wc.a - (n.a) k,   psi = -k
typedef struct InnerRolling {
    Rim rim;
    Vec V, drift; // of the point
    Vec turning;  // of the axes
    Expr heading; // psi
    Expr spin;    // s
    Vec hub, W;   // V_O - F, W
    Vec dhub, dW; // their drifts
    Vec dn;       // how the normal turns as the contact moves, where the floor is not flat
} InnerRolling;

// False where there is no such form
bool tr_rolling_inner(Tree *tree, uint32_t i, const Contact *contact, const Floor *floor,
                      const Wheel *wheel, InnerRolling *out);
// One row after the other, of what slips so along each
void tr_roll_singly(Tree *tree, const Contact *contact, const InnerRolling *at, const Expr slip[3]);

// ---- rolling.c, contact.c ------------------------------------------------------------------

void tr_make_rolling(Tree *tree, const Contact *contact);

// Whether a formula turns it in its body
bool tr_turns_by_itself(Vec e);
// Without a length it has no direction: a run ends there.
void tr_contact_watch_length(Tree *tree, const Contact *contact, Value value, const char *what,
                             const char *words);
// One that formulas and results know, with its three directions in the axes of its carrier
Touch *tr_contact_recorded(Tree *tree, const Contact *contact, const Carrier *c, Vec r,
                           const Vec direction[3]);
// The rate of a row on ground that slopes another way                                    (T196)
void tr_contact_uneven(Tree *tree, const Contact *contact, int part, Expr rate);

#endif
