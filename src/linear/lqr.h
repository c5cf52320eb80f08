// SPDX-License-Identifier: Apache-2.0
// A linear-quadratic regulator while it is made, and what stays of it.
#ifndef TR_LINEAR_LQR_H
#define TR_LINEAR_LQR_H

#include "linear/linear.h"

enum { MOST_NAMES = 100, MOST_STATES = 500 };

// What may have a weight, by its name
typedef struct Weighable {
    const char *name, *also; // NULL: it has one name
    const double *row;       // by the states of the whole model, then by the controls
    bool counts;             // 1, unless it is given another weight
} Weighable;

typedef struct Weight {
    const Weighable *of;
    double value;
    double *row; // by the coordinates y
} Weight;

typedef struct Design {
    tr_lqr shown;
    System *system;       // while it is made: that of the lineariser
    const System *source; // the model's
    Arena arena;
    Linear *whole; // all states, all inputs
    const double *in;
    const double *torque; // of each input that is shown: its value at the state
    uint32_t *column;     // of each input that is shown, in the whole model
    Weighable *weighable; // all that there is
    uint32_t weighable_count;
    Weight weights[MOST_NAMES]; // that were given
    uint32_t weight_count;
    uint32_t n, m;
    uint32_t *kept; // by state that is left: which of the whole model
    double *T;      // n * all states: x = T x_whole
    double *M;      // y = M x: coordinates in which all that counts, counts 1
    double *inverse;
    double *A, *B, *Q, *N, *R, *K; // by y; N: what weights ask of products of y and inputs
    bool has_products;
    char neutral[200];
} Design;

// The states in parts: U = [N, L]; L^T A = 0, L^T B = 0, A R = 0, L^T R = 1
typedef struct Parts {
    uint32_t kept, alone; // columns of N, of L
    double *U, *V, *R;    // n * n each
} Parts;

// Numbers in memory of the design, which are zero; an error when there is none.
double *tr_design_room(Design *design, size_t count, tr_error *err);

// Velocities that do not depend on the chart in place of those that are states, and all that may
// have a weight by these states.
bool tr_design_states(Design *design, Lineariser *lineariser, tr_error *err);

// The weights of --q and --r; then which states are left, and the matrices by y.
bool tr_design_weigh(Design *design, const tr_lqr_options *options, tr_error *err);
bool tr_design_coordinates(Design *design, tr_error *err);

bool tr_design_parts(Design *design, Parts *parts, tr_error *err);
// Every motion that does not decay must be reached, but for those that are left alone; else words.
bool tr_design_check_reach(const Design *design, bool skip_zero, tr_error *err);
// Eigenvalues as real and imaginary parts one after the other; right vectors unless V is NULL
bool tr_design_eigenvalues(const double *A, uint32_t n, double *values, double *V, tr_error *err);

#endif
