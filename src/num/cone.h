// SPDX-License-Identifier: Apache-2.0
// What contacts do at an instant, all of them together: which are open, stick or slip, and which
// way. Matrices are small and by rows. The same bits on every machine.
//
//   s = b + (A + H) lambda,   A = B B^T                                                    (T150)
//
// are the rates of rows (accelerations for forces, velocities for impulses) with what holds along
// them. Of a contact with the normal n and the rows t across
//
//   open     lambda = 0,                              s_n >= 0
//   sticks   s_n = s_t = 0, lambda_n >= 0,            |lambda_t| <= hold lambda_n
//   slips    s_n = 0, lambda_n >= 0,                  lambda_t = -slide lambda_n h, s_t = |s_t| h
//
// and where reactions are not unique they are those of least weighted norm                 (T151).
#ifndef TR_NUM_CONE_H
#define TR_NUM_CONE_H

#include <stdbool.h>
#include <stdint.h>

#define TOGETHER 1e-7 // what is as near to its limit as another that passed it

typedef enum ConeMode { CONE_OPEN, CONE_STICKS, CONE_SLIPS } ConeMode;

typedef struct Cone {
    uint32_t rows[3], row_count;      // that hold while it is not open: the normal first
    uint32_t across[2], across_count; // that hold while it sticks, too; none where it cannot slip
    bool opens;                       // else its normal may pull
    bool has_load;                    // `load` presses, not the normal
    bool is_wary;                     // it is as it was only where that is clear
    double hold, slide;               // friction
    double load;
    ConeMode mode;   // as it was, and as it is found
    double heads[2]; // h, of one that slips
    bool is_wrong;   // found: no mode is right for it beside those of the others
} Cone;

typedef struct Cones {
    uint32_t rows, columns, count;
    const double *B;      // rows * columns
    const double *b;      // by row: the rate without reactions
    const double *size;   // of what cancels in that
    const double *H;      // rows * rows: what forces that use reactions do; NULL where none does
    const double *weight; // by row: of the reaction's square
    const bool *holds;    // by row: whatever contacts do
    Cone *at;
    double *lambda, *rate; // by row: found
    double violation;      // of what is found, against the sizes of forces and rates there are
    uint32_t tries;        // sets of modes that were looked at
    bool lacks_memory;     // that is why nothing was found
} Cones;

#define CONE_TOLERANCE 1e-9 // of a violation

// Finds modes that are consistent, beginning with those there are: all that are wrong change at
// once, until none is. Where that comes back to a set that it left, or gets stuck, all sets are
// tried, those that differ from the first in the fewest contacts first, up to a number. Where there
// is none that is consistent, `violation` is not below the tolerance, and the set is the one in
// which it is least. False without memory, or when something is not finite.
bool tr_cones_find(Cones *cones);

#endif
