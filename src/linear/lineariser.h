// SPDX-License-Identifier: Apache-2.0
// The inside of a lineariser, for the files that make it and take linear models from it.
#ifndef TR_LINEAR_LINEARISER_H
#define TR_LINEAR_LINEARISER_H

#include "linear/law.h"
#include "linear/linear.h"
#include "linear/probe.h"
#include "plan/start.h"
#include "plan/tangent.h"

// What a linear model is differentiated by, in this order, and of.
typedef struct Sizes {
    uint32_t q; // positions that quasi-coordinates move
    uint32_t p; // velocities that are not driven
    uint32_t w; // independent velocities
    uint32_t x; // states of their own
    uint32_t u; // inputs
    uint32_t y; // outputs
    uint32_t h; // constraints on positions
    uint32_t m; // velocities, where their mass matrix is needed
} Sizes;

struct Lineariser {
    Plan *plan;     // of a copy of the system, with probes
    System *system; // that copy, reduced where it starts
    Flow *flow;
    Conditions *conditions[2]; // positions, rates
    Sizes size;
    Tangent tangent;
    uint32_t *w, *x, *u; // inputs
    const char **output, **input;
    Probes probes;
    Laws laws;
    Evaluator slopes, accelerations;
    double *in, *values;
    // in `values`: by rows
    double *N, *E, *G;         // q * p, q * p, h * p
    double *dv, *dw, *dx, *dy; // each: rows of v, w, x, y by columns p + w + x + u
    double *M;                 // m * m
};

#endif
