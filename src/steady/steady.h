// SPDX-License-Identifier: Apache-2.0
// Steady motions: states z = (q, w, x) that move along the symmetries of a system alone, so that
// velocities and shape stay what they are (T95):
//
//   f(z) = c_1 X_1(z) + c_2 X_2(z) + ...
//
// with z' = f(z) the motion and X_k what generates the symmetries: place, heading, angles of
// wheels. Unknown are u = (z, c, free parameters and inputs) and, along a family, the value s that
// is swept.
#ifndef TR_STEADY_STEADY_H
#define TR_STEADY_STEADY_H

#include "plan/flow.h"

typedef struct Steady Steady;
struct Steady {
    Plan *plan;
    System *system;                                 // reduced where it starts
    Flow *flow;                                     // as it starts, for labels
    uint32_t positions, velocities, extras, states; // states: all of them
    uint32_t generators, frees;
    uint32_t unknowns; // states, generators, free ones; s is one more, whether swept or not
    uint32_t *place;   // inputs: of each state, each free one, what is swept
    uint32_t *own_quaternions, quaternions; // states that unit quaternions begin at
    bool sweeps_input;                      // s is a parameter or input
    bool sweeps_hold;                       // s is the value of the last hold
    const char *swept;
    uint32_t holds; // formulas that are held
    const char **hold_names;
    double *targets; // of each: what it is held at, besides what its formula says
    bool *stays;     // of each: what it is at the guess
    bool *asked;   // of each: it is held; else it may be, when something is left open. Then as many
                   // true
    bool *given;   // of each: asked by the options
    uint32_t rows; // constraints on positions
    const char **row_names;
    uint32_t actions; // that generators are made of
    const char **action_names;
    double *generator; // actions * generators
    // f, each action, constraints, holds; then their derivatives by states, free ones and what is
    // swept, and time: as far as they are not zero for sure
    Evaluator terms, columns, alarms;
    struct Entry {
        uint32_t row, column;
    } * entries;
    size_t entry_count;
    double *values, *in; // of the program: what it gives and takes
    // Equations, of which there are `equations`: F = 0 and their slopes J, by rows of unknowns + 1
    double *F, *J, *X;                 // X: states * generators
    uint32_t equations, own_equations; // own: without what keeps symmetries from moving it
    // Room for factorising
    double *scaled, *U, *V, *sigma, *scale, *step, *trial, *room, *idle, *relative, *projection;
};

// How solving went.
typedef struct Outcome {
    bool converged;
    bool no_memory; // it ran out on the way
    int iterations;
    double residual;   // the largest
    uint32_t worst;    // its equation
    uint32_t excess;   // more unknowns than equations, where it ended
    double drift;      // the largest rate at which time alone changes the motion
    uint32_t drifting; // and of what
} Outcome;

// A step along a family: t . (u - from) = length, in a metric of its own.
typedef struct Arc {
    const double *from, *tangent, *weight;
    double length;
} Arc;

Steady *tr_steady_open(const System *system, const tr_steady_options *options, tr_error *err);
void tr_steady_close(Steady *steady);
// The same equations from another start, with these values of all inputs. False when it has others
// there: another chart, other contacts, other symmetries; or with an error.
bool tr_steady_restart(Steady *steady, const double *values, tr_error *err);
// The guess: the case's initial state.
void tr_steady_guess(Steady *steady, double *u);
// Newton's method from u. Without an arc s stays.
Outcome tr_steady_solve(Steady *steady, double *u, const Arc *arc);
// The same, and holds what is left open (T310).
Outcome tr_steady_trim(Steady *steady, double *u);
// Where a solution was found last: changes of the unknowns that the equations allow, `excess` rows;
// and the slopes of all that may be held, by rows of unknowns + 1, until the next call.
void tr_steady_loose(const Steady *steady, uint32_t excess, double *changes);
const double *tr_steady_hold_slopes(Steady *steady, const double *u);
// Why it failed, or has more unknowns than equations; false when it did. `s` is told when it is
// finite.
bool tr_steady_accept(Steady *steady, const double *u, const Outcome *outcome, tr_error *err);
// Whether what is free and what is swept are within their ranges at u; else words.
bool tr_steady_within(Steady *steady, const double *u, tr_error *err);
// The unit vector, in the metric of `weight`, along which the equations hold at a solution u; false
// when there is no such or are several.
bool tr_steady_tangent(Steady *steady, const double *u, const double *weight, double *tangent);
// Eigenvalues of the motion beside u, without symmetries: pairs, the least stable first. Returns
// their number, and the largest real part of those that do not lead to other steady motions.
bool tr_steady_eigenvalues(Steady *steady, const double *u, double (*values)[2], uint32_t *count,
                           double *stability);
// All inputs, with those of dependent velocities; and what is recorded, as a flow's columns are.
void tr_steady_inputs(Steady *steady, const double *u, double *inputs);
void tr_steady_columns(Steady *steady, const double *u, double *columns);
const char *tr_steady_name(const Steady *steady, uint32_t unknown);

#endif
