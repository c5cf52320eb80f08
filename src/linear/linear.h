// SPDX-License-Identifier: Apache-2.0
// Linear models (T99): how a motion beside a given one differs from it, to first order.
//
//   x' = A x + B u,   y = C x + D u
//
// x holds displacements that the constraints on positions allow, then independent velocities, then
// what else has a state (tyres). A displacement of a joint is that of its coordinate; that of a
// base is along and about its own axes: B.dx B.dy B.dz B.rx B.ry B.rz, so that A is constant where
// a vehicle goes straight on or in a circle.
#ifndef TR_LINEAR_LINEAR_H
#define TR_LINEAR_LINEAR_H

#include "plan/flow.h"

typedef tr_linear Linear;

// All that it takes to linearise a system at many states and for many parameters: programs with
// parameters left open.
typedef struct Lineariser Lineariser;

Lineariser *tr_lineariser_new(const System *system, tr_error *err);
// The same with what controllers and sensors hold among its inputs, and what that is after a sample
// as its last outputs, in the order of the system: of those whose flags are due
Lineariser *tr_lineariser_of_samples(const System *system, tr_error *err);
void tr_lineariser_free(Lineariser *lineariser);
// The state that it stands at: all inputs, at the start those of the initial state. A torque that
// was made an input has the value that its law has there.
double *tr_lineariser_inputs(Lineariser *lineariser);
// Solves the initial conditions again, for the values that parameters and inputs have there now.
bool tr_lineariser_assemble(Lineariser *lineariser, tr_error *err);
// Takes what stands there as it is: velocities and inputs, too.
void tr_lineariser_stand(Lineariser *lineariser);
// The largest acceleration where it stands: 0 where it is steady
double tr_lineariser_unsteadiness(Lineariser *lineariser);
// The linear model where it stands; NULL when memory runs out or a rate has no slopes there. An
// output that has none has a row that is not a number.
Linear *tr_lineariser_take(Lineariser *lineariser, tr_error *err);
bool tr_linear_has_output(const Linear *linear, uint32_t output);

// How all that the model has a name for varies with the states and the inputs of its linear model,
// by rows of so many: dependent quantities, too.
typedef struct Variations {
    uint32_t velocities, positions, width;
    const uint32_t *velocity, *position; // inputs of the system; these are the lineariser's
    double *displacement;                // along or about what a velocity is, of each velocity
    double *rate;                        // of each velocity
    double *coordinate;                  // of each position
} Variations;
bool tr_lineariser_vary(Lineariser *lineariser, Variations *out, tr_error *err);
void tr_variations_free(Variations *variations);
enum { TR_STATE_NAME = 300 };
// What the displacement is called whose rate a velocity is: "steer" for its rate, "frame.dx" for
// frame.vx, "frame.rx" for frame.wx.
void tr_displacement_name(const System *system, uint32_t velocity, char name[TR_STATE_NAME]);
// Its own system, reduced where it starts.
System *tr_lineariser_system(Lineariser *lineariser);
// Zeros, without names
Linear *tr_linear_new(uint32_t states, uint32_t inputs, uint32_t outputs);
// A copy of a name that lives as long as the linear model; NULL for NULL, and without memory.
const char *tr_linear_keep(Linear *linear, const char *name);
// Whether all are there.
bool tr_linear_has_names(const Linear *linear);

// Without displacements that change nothing: a vehicle's place and heading, angles of wheels. What
// depends on them is no output any more. At least so many states are left, if what some
// displacements change is little, but more than rounding.
Linear *tr_linear_reduced(const Linear *linear, uint32_t least, tr_error *err);

// Who says where a sweep stands: fills in `count` inputs, in which the swept one has this value;
// NULL: at the initial states. And who is told of it, as of tr_steady_options.
typedef struct Placer {
    bool (*place)(void *owner, double value, double *inputs, uint32_t count, tr_error *err);
    void *owner;
    bool (*progress)(void *owner, double value, double to);
    void *watcher;
} Placer;
// As tr_locus_find
tr_locus *tr_locus_placed(const tr_system *system, const char *name, double from, double to,
                          double step, const Placer *placer, tr_error *err);

#endif
