// SPDX-License-Identifier: Apache-2.0
// Inertial parameters from recorded motions and torques: of each body that is to be found the ten
// numbers phi = (m, m c, I about its origin), which enter the equations of motion linearly
//
//   Y(q, v, v') phi = Q + S^T tau - rest(q, v, v') + G^T lambda                          (T271)
//
// Recordings become columns (inverse_log.c), rows of equations without reactions
// (inverse_rows.c), a triangle and combinations that they determine (inverse_base.c), and
// inertias that bodies can have (inverse_bounds.c).
#ifndef TR_FIT_INVERSE_H
#define TR_FIT_INVERSE_H

#include "base/sheet.h"
#include "plan/evaluator.h"

enum { TEN = 10 }; // m, mx my mz, Ixx Iyy Izz Ixy Ixz Iyz

// ---- rows of equations -----------------------------------------------------------------------

typedef struct Regressor {
    System *system; // one's own: what is recorded of coordinates and velocities counts, whatever
                    // drives them
    uint32_t inputs, positions, n, rows, holonomic, p;
    uint32_t *q, *v, *a;     // inputs: positions, velocities, and their accelerations
    uint32_t *holds;         // rows that hold positions
    const tr_entry *entries; // of Y
    size_t entry_count;
    Evaluator equations;   // rest, Q less torques, entries of Y
    Evaluator constraints; // G g gamma phi
    Evaluator rates;       // qdot, and its slopes by velocities
    double *in;            // of programs
    double *out, *G, *g, *gamma, *phi, *qdot, *N, *Y, *b, *Z, *work;
    double moved;      // what the constraints have moved positions by, the most
    bool lacks_memory; // that is why something failed
} Regressor;

// What drives a velocity, as it is recorded; NULL where nothing does.
const Output *tr_torque_of(const System *system, uint32_t velocity);
Regressor *tr_regressor_new(const System *system, tr_error *err);
void tr_regressor_free(Regressor *r);
// The inputs of a sample are in `in`, positions and velocities with accelerations. They are moved
// onto the constraints, unless there are none.
bool tr_regressor_settle(Regressor *r);
// As many rows as there are directions which the constraints leave: p numbers each and a right
// side, with these torques by velocity. Their number, or UINT32_MAX when something is not finite.
uint32_t tr_regressor_rows(Regressor *r, const double *torque, double *rows);
// Velocities that were not recorded, from the rates of all positions.
bool tr_regressor_velocities(Regressor *r, const double *qdot, const bool *is_missing);

// ---- recordings ------------------------------------------------------------------------------

typedef struct Log {
    const char *path;
    Sheet *sheet;
    const double *t;
    const double **input;        // by input of the system: its column, or NULL where it has none
    const double **acceleration; // by velocity
    const double **torque;       // by velocity; NULL where nothing drives it
    double *made;                // what was differentiated, column by column
    bool made_velocities, made_accelerations;
} Log;

bool tr_log_open(Log *log, Regressor *r, const char *path, tr_error *err);
// A row's numbers into the inputs of the regressor; its torques by velocity
void tr_log_put(const Log *log, Regressor *r, size_t row, double *torque);
void tr_log_close(Log *log);

// ---- what equations determine ----------------------------------------------------------------

// The upper triangle of all rows so far, with the right side as its last column (T280)
typedef struct Equations {
    uint32_t columns;
    size_t rows;        // that went into it
    double *A;          // columns * columns
    double *room;       // for rows to come
    uint32_t room_rows; // as many
} Equations;

bool tr_equations_open(Equations *equations, uint32_t columns);
double *tr_equations_room(Equations *equations, uint32_t rows); // that will be added
void tr_equations_add(Equations *equations, uint32_t rows);     // the first of these
void tr_equations_free(Equations *equations);
// The sum of squares that parameters leave
double tr_equations_misfit(const Equations *equations, const double *phi);

// Combinations beta = phi_own + K phi_other that the rows determine
typedef struct Base {
    uint32_t p, rank;
    uint32_t *own, *other; // parameters, rank and p - rank of them
    double *K;             // rank * (p - rank)
    double *value, *sd;    // of beta
    bool *is_seen;         // by parameter: something recorded depends on it
    double *weight;        // by parameter: the length of its column
} Base;

bool tr_base_find(Base *base, const Equations *triangle, const double *unit, tr_error *err);
void tr_base_free(Base *base);

// ---- what bodies can have --------------------------------------------------------------------

// Parameters of each body by its own mass and length, so that they are about 1; `unit` is what they
// are divided by.
void tr_inertia_units(const double *prior, uint32_t bodies, double *unit);
// Whether P_b + share tr(P_b) 1 is positive definite for a body's ten, by its units
bool tr_inertia_is_possible(const double *phi, const double *unit, double share);

typedef struct Bounds {
    uint32_t bodies;
    const double *prior, *unit;
    const Equations *triangle;
    const Base *base;
    bool weighs_all; // the prior is in the triangle
} Bounds;

// Parameters that the data say, nearest to the prior in what they do not, and possible; where that
// cannot be, possible ones that come nearest to the data, and then *active.
bool tr_bounds_solve(const Bounds *bounds, double *phi, bool *active, tr_error *err);

// ---- all of it -------------------------------------------------------------------------------

struct tr_inverse {
    const System *system;
    uint32_t bodies, p;
    double *prior, *unit, *phi;
    Base base;
    size_t samples, logs, equations;
    double misfit_model, misfit_data, misfit; // roots of mean squares: of the model's own values,
                                              // the least there is, and with what was found
    double moved;
    bool made_velocities, made_accelerations, is_bounded;
};

// "I_zz(arm)"
void tr_inverse_name(const tr_inverse *inverse, uint32_t parameter, Buffer *out);
// Mass, centre of mass, and moments about it, as a model has them                        (T270)
void tr_inertia_written(const double phi[TEN], double com[3], double I[6]);

#endif
