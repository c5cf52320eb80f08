// SPDX-License-Identifier: Apache-2.0
// What a linear model does by itself: eigenvalues and the states that take part in them; what can
// be reached by its inputs and seen in its outputs.
#ifndef TR_LINEAR_MODES_H
#define TR_LINEAR_MODES_H

#include "linear/linear.h"

// S^-1 A S = Q [N X; 0 R] Q^T with N nilpotent: eigenvalues that are zero stand apart from the
// others, which are those of R. Zeros that hang together (a place and its speed) would otherwise
// come out as +-1e-8.
typedef struct Deflated {
    uint32_t size, zeros;
    uint32_t *pattern; // how many of them each step found; ends with 0
    double *S;         // diagonal
    double *Q, *T;     // T = [N X; 0 R], by rows
} Deflated;

// With the pattern of another matrix the same number is split off, however small the rest gets;
// NULL: as many as there are.
bool tr_deflate(const double *A, uint32_t size, const uint32_t *pattern, Deflated *out,
                tr_error *err);
void tr_deflated_free(Deflated *d);

typedef struct Modes {
    uint32_t count, zeros;       // all of them, those that are zero
    double *values;              // real and imaginary part, the least stable first
    double *damping, *frequency; // -Re/|l|, |l| [rad/s]; damping is not a number where l = 0
    double *vectors;             // by mode, by state: real and imaginary part; the largest is 1
    double *shares;              // by mode, by state: how much of it is in the mode, in all 1
} Modes;

Modes *tr_modes_new(const Linear *linear, tr_error *err);
void tr_modes_free(Modes *modes);
// Eigenvalues of R alone: size - zeros pairs of real and imaginary part.
bool tr_deflated_values(const Deflated *d, double *values, tr_error *err);
// det R, the constant coefficient of its characteristic polynomial but for the sign
double tr_deflated_determinant(const Deflated *d, tr_error *err);

// Orders pairs of real and imaginary part: the least stable first, of a pair the upper one.
int tr_compare_growth(const void *a, const void *b);

// How many independent directions inputs reach, or outputs see; -1 when memory runs out.
int tr_controllable(const Linear *linear);
int tr_observable(const Linear *linear);

#endif
