// SPDX-License-Identifier: Apache-2.0
// A linear-quadratic regulator while it is made, and what stays of it.
#ifndef TR_LINEAR_LQR_H
#define TR_LINEAR_LQR_H

#include "linear/linear.h"

enum { MOST_NAMES = 100, MOST_STATES = 500 };

typedef struct Weight {
    Text name;
    double value;
    double *row; // by the states of the whole model
} Weight;

typedef struct Design {
    tr_lqr shown;
    System *system;       // while it is made: that of the lineariser
    const System *source; // the model's
    Arena arena;
    Linear *whole; // all states, all inputs
    const double *in;
    uint32_t *column; // of each input that is shown, in the whole model
    Weight weights[MOST_NAMES];
    uint32_t weight_count;
    uint32_t n, m;
    double *A, *B, *Q, *R, *K;
    double *T; // n * all states: x = T x_whole
    char neutral[200];
} Design;

// The states in parts: U = [N, L]; L^T A = 0, L^T B = 0, A R = 0, L^T R = 1
typedef struct Parts {
    uint32_t kept, alone; // columns of N, of L
    double *U, *V, *R;    // n * n each
} Parts;

// Numbers in memory of the design, which are zero; an error when there is none.
double *tr_design_room(Design *design, size_t count, tr_error *err);
// A weight's row by the states that are left: those are x = T x_whole with T = 1 on themselves.
double tr_design_weight(const Design *design, const Weight *weight, uint32_t state);
bool tr_design_parts(Design *design, Parts *parts, tr_error *err);
// Every motion that does not decay must be reached, but for those that are left alone; else words.
bool tr_design_check_reach(const Design *design, bool skip_zero, tr_error *err);
// Eigenvalues as real and imaginary parts one after the other; right vectors unless V is NULL
bool tr_design_eigenvalues(const double *A, uint32_t n, double *values, double *V, tr_error *err);

#endif
