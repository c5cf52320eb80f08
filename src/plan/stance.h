// SPDX-License-Identifier: Apache-2.0
// How a constrained system stands: its rows and its mass matrix as numbers at a state. Ranks and
// charts are found from these alone.
#ifndef TR_PLAN_STANCE_H
#define TR_PLAN_STANCE_H

#include "plan/plan.h"

typedef struct StanceNumbers StanceNumbers;

typedef struct Stance {
    const System *system;
    const bool *open;             // by row: it constrains nothing
    uint32_t rows;                // constraints
    uint32_t all;                 // with the formulas of speeds, which follow
    uint32_t velocities, passive; // passive: not driven by a motion
    uint32_t preferred;           // velocities and speeds that should be independent
    uint32_t *v, *p;              // velocities as inputs; passive ones as places in v
    Evaluator program;
    double *G;      // by rows: all * velocities
    double *mix;    // by row: 3, see Row
    double *M;      // by rows: velocities * velocities; in first order the unit metric
    double *square; // of the size of each row over all velocities, in the metric of the masses: the
                    // largest so far, so that a row that vanishes is seen to
    double *scale; // what each row is multiplied by to have a size of about one; 0 where it is open
                   // or vanishes
    double *work;  // of tr_chart_quality
    StanceNumbers *numbers; // that G and M follow from; NULL where the program gives them
} Stance;

Stance *tr_stance_new(const System *system, const Footing *footing, tr_error *err);
void tr_stance_free(Stance *stance);

// At the state x, of which positions and time matter. False when a number is not finite.
bool tr_stance_take(Stance *stance, const double *x);

static inline double stance_slope(const Stance *s, uint32_t row, uint32_t velocity)
{
    return s->G[(size_t)row * s->velocities + velocity];
}
static inline double stance_mass(const Stance *s, uint32_t velocity)
{
    return s->M[(size_t)velocity * s->velocities + velocity];
}

// The unit of a velocity in the metric of the masses' diagonal; 1 for what has no mass.
static inline double stance_root_mass(const Stance *s, uint32_t velocity)
{
    const double mass = stance_mass(s, velocity);
    return mass > 0 ? sqrt(mass) : 1;
}

// Of rows now, where they were measured elsewhere. False when one is not finite: then they count
// for nothing.
bool tr_stance_grow(Stance *stance, const double *square);

// After sizes were set: what rows are multiplied by.
void tr_stance_rescale(Stance *stance);

#define NO_ROW         UINT32_MAX
#define RANK_TOLERANCE 1e-9 // of singular values, and of pivots, of scaled rows

typedef struct Rank {
    uint32_t rank;
    double *left;  // rows * rows, by rows: columns from `rank` on are what is dependent
    double *right; // columns * columns, by rows: rows from `rank` on span the kernel; or NULL
    uint32_t columns;
} Rank;

// Of the constraints, over all velocities or the passive ones (`locked`), where row `without` is
// left out (none when there is no such row). Rows are scaled so that all are velocities [m/s], and
// velocities by the mass matrix, so that ranks do not depend on units. The kernel only
// if it is asked for. False when memory runs out.
bool tr_stance_rank(const Stance *stance, bool locked, uint32_t without, double tolerance,
                    bool kernel, Rank *rank);
void tr_rank_free(Rank *rank);

// C (passive * passive) with M_pp = C C^T, and B = S G_p C^-T for the constraints, by rows. Where
// something has no mass C is made of the diagonal: then false.
bool tr_stance_metric(const Stance *stance, double *C, double *B);

// Numbers by row as they are eliminated, such as reactions, as the model's own rows have them:
// where contacts are eliminated in other axes. `stride` from row to row.
void tr_stance_own_rows(const Stance *stance, double *x, size_t stride);

// How much of a row is in what is dependent: 0 for one that is independent of the rest.
double tr_rank_dependence(const Rank *rank, uint32_t rows, uint32_t row);

#endif
