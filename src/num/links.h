// SPDX-License-Identifier: Apache-2.0
// Links of a forest as numbers at a state: slopes of rows and the mass matrix by recursion.
#ifndef TR_NUM_LINKS_H
#define TR_NUM_LINKS_H

#include <stddef.h>
#include <stdint.h>

#define LINK_NUMBERS   22         // of a link: R by rows, p, m, m c, I as xx xy xz yy yz zz
#define MOTION_NUMBERS 6          // of a velocity: V, W of its link at unit rate
#define LINK_NO_PARENT UINT32_MAX // it hangs from nothing

// R and p are the link's axes and origin in its parent's axes; motions, wrenches and inertias are
// at a link's origin and in its axes.
typedef struct Links {
    uint32_t count, velocities;
    uint32_t *parent;      // parents come first
    uint32_t *first, *own; // velocity of each, and how many it has: they are together
    double *at;            // count * LINK_NUMBERS
    double *S;             // velocities * MOTION_NUMBERS
} Links;

// J*_i = J_i + sum over children of Ad^T J*_k Ad,   M_jk = S_j . Ad^T ... Ad^T J*_k S_k      (T20)
// by rows, velocities * velocities. The inertias of links become those of all that they carry.
void tr_links_mass(Links *links, double *M);

// row_k = on . Ad ... Ad S_k for the velocities k of a link and of those before it          (T160)
void tr_links_slopes(const Links *links, uint32_t link, const double on[6], double *row);

#endif
