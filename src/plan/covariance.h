// SPDX-License-Identifier: Apache-2.0
// How well a state is known along a run: the covariance P of y,
//
//   P' = F P + P F^T + L Q L^T,   F = df/dy,   L = df/dn                                    (T260)
//
// for white noise n of the spectral densities Q. A flow with a covariance has a longer y: behind
// its own entries the columns of P, each as long as these.
#ifndef TR_PLAN_COVARIANCE_H
#define TR_PLAN_COVARIANCE_H

#include "plan/flow.h"

typedef struct Covariance Covariance;

// Whether there is anything that is not known exactly.
bool tr_system_is_uncertain(const System *system);

// To a flow at its start, where something is uncertain. False, with words, when memory runs out or
// the start has none.
bool tr_covariance_attach(Flow *flow, tr_error *err);
void tr_covariance_free(Covariance *covariance);

// The programs that a chart needs; the system is reduced for it.
tr_program *tr_noise_program(const Plan *plan, System *reduced, ChartPrograms *chart,
                             tr_error *err);
tr_program *tr_spread_program(const Plan *plan, System *reduced, ChartPrograms *chart,
                              tr_error *err);
tr_program *tr_seam_program(const Plan *plan, System *reduced, ChartPrograms *chart, tr_error *err);
tr_program *tr_fix_program(const Plan *plan, System *reduced, ChartPrograms *chart, tr_error *err);

// Behind the flow's own entries; the flow's inputs are those of (t, y).
void tr_covariance_rate(Flow *flow, const double *y, double *rate);
// Into the tangent of the constraints, where y is.
void tr_covariance_project(Flow *flow, double t, double *y);
// Before the flow goes on in another chart, and after.
void tr_covariance_leave(Flow *flow, double t, const double *y);
bool tr_covariance_enter(Flow *flow, double *y, tr_error *err);

// False, with words, where a density is negative.
bool tr_covariance_check(Flow *flow, double t, const double *y, tr_error *err);

// sd(NAME) of coordinates, velocities, outputs and contacts, and cov(A:B) of places
uint32_t tr_covariance_count(const Flow *flow);
const char *const *tr_covariance_labels(const Flow *flow);
void tr_covariance_columns(Flow *flow, double t, const double *y, double *columns);
// Of two entries of y
double tr_covariance_of(const Flow *flow, const double *y, uint32_t i, uint32_t k);

// What one fix is compared with (T263)
typedef struct Sight {
    uint32_t count;       // numbers that were measured
    const double *off;    // by number: what was measured less what was expected
    const double *sd;     // and its standard deviation
    const double *slopes; // by number: of what was expected, along y
    double *expected;     // the standard deviations of `off`, to be filled in
    double consistency;   // off^T S^-1 off: about as large as count
} Sight;
// What a fix says of the state: innovations are judged, and with `correct` y and its P corrected.
// False when what is expected is not finite, or, with an error, when memory runs out.
bool tr_covariance_correct(Flow *flow, double t, double *y, Sight *sight, bool correct,
                           tr_error *err);

// ---- for the start, see covariance_start.c -------------------------------------------------

// A column of results, and the row of slopes that it comes from; of a covariance there are two.
typedef struct SpreadColumn {
    uint32_t first, second;
    bool is_pair;
} SpreadColumn;

struct Covariance {
    double unit; // of P
    uint32_t noises, spreads;
    SpreadColumn *columns;
    char **labels;
    uint32_t column_count;
    double *K;      // known * known: F P, and other products
    double *noise;  // L by rows, then densities
    double *slopes; // of what is recorded, by rows of `known`
    double *seam;   // how all velocities change with y, by rows of `known`
    double *kept;   // P between two charts
};

static inline double *covariance_column(const Flow *flow, double *y, uint32_t k)
{
    return y + (size_t)flow->own * (k + 1);
}

// What may be a velocity of a chart: velocities, speeds of the model and inner ones, as they were
// before the system was reduced, and their inputs. Their number
uint32_t tr_covariance_seams(const System *original, Expr *of, uint32_t *input);
// Adds to P what the standard deviations of deviants make of it. An error when
// constraints hold one of them.
void tr_covariance_deviate(Flow *flow, double *y, const double *sd, tr_error *err);

#endif
