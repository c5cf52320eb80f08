// SPDX-License-Identifier: Apache-2.0
// What recordings say of parameters: those p with which a run comes nearest to what was measured,
//
//   chi^2(p) = sum of (z - h(t, p))^2 / sd^2  +  sum of (m - p)^2 / s^2                    (T281)
//
// over measurements z of columns h of the run, and priors m with their deviations s. Slopes dh/dp
// are those that the sensitivities of the run give (T108). Of each column nothing is kept but the
// triangle of its rows [dh/dp, z - h] (T280): so standard deviations may be found, and steps be
// tried, without another run.
#ifndef TR_FIT_FIT_H
#define TR_FIT_FIT_H

#include "base/arena.h"
#include "sim/run.h"

// Where a search looks: values, and what a run with them leaves of each measurement; the triangles
// of columns, each (count + 1)^2
typedef struct Look {
    double *p, *left, *triangles;
} Look;

typedef struct Fit {
    tr_fit told; // what others see of it, in what follows
    const tr_fit_options *options;
    System *system;
    Plan *plan;
    Run *run;
    Arena arena; // of names
    // What is free: `count`
    uint32_t count;
    tr_fit_value *values;
    uint32_t *input; // of each
    // Where each has to stay, infinite where there is no bound; and at which it is held: -1 the
    // lower, 1 the upper, 0 neither
    double *least, *most;
    int *held;
    bool is_bounded; // any
    // Columns that are used
    uint32_t column_count;
    tr_fit_column *columns;
    const char **labels; // of each: the column of the model
    uint32_t *place;     // of each: that column in a row of a run, then its slopes: count + 1
    double *size;        // of each: the norm of what was measured
    // Measurements, by time
    tr_fit_point *points;
    size_t point_count;
    Look now, trial; // where the search is, and where it looks
    // The sum of triangles, with priors; then, of its slopes in units of their norms,
    //   A D^-1 = U diag(sigma) V^T                                                        (T282)
    // whose columns are those that are not held.
    double *sum, *norm, *sigma, *U, *Vt, *along; // along = U^T b
    uint32_t *open, open_count;                  // what is not held, in order
    uint32_t rank;                               // of sigma that are not as good as zero
    double *step, *before, *room;
    double *numbers; // room for all of these
    double chi_square;
    double *trial_sd; // of each column
    double *covariance, *untold_changes;
    const char **untold; // words
    size_t iterations, runs;
    bool stopped;
} Fit;

// A problem, with what was recorded, of a system that is taken over; NULL, with words, when
// something is not as it should be. The options must outlive it.
Fit *tr_fit_open(System *system, const tr_fit_options *options, tr_error *err);
void tr_fit_close(Fit *fit);

// A name of `matches`, `sds` or `priors`, and what stands behind its =; false, with words that
// say what the option takes.
bool tr_fit_pair(const char *text, const char *option, const char *takes, Text *name, Text *value,
                 tr_error *err);
// The output that is added to the model for match k
enum { FIT_NAME_SIZE = 40 };
void tr_fit_output_name(size_t k, char name[FIT_NAME_SIZE]);

// A plan with sensitivities, and a run of it that has not begun.
bool tr_fit_open_run(Fit *fit, tr_error *err);
// One run with the values p of a look: what is left, and triangles. False, with words, when it
// cannot be made, or was stopped.
bool tr_fit_look(Fit *fit, const Look *look, tr_error *err);

// What is free, and priors.
bool tr_fit_choose(Fit *fit, tr_error *err);
// Where they have to stay.
bool tr_fit_bound(Fit *fit, tr_error *err);
// What was recorded: columns and measurements.
bool tr_fit_read(Fit *fit, tr_error *err);

// The search from the values of the start; what is told is filled in.
bool tr_fit_search(Fit *fit, tr_error *err);
// The triangle of all columns and priors, and chi^2, which its last column has            (T281)
double tr_fit_add_up(Fit *fit, const Look *at);
// Who is held at a bound where the search is, by the sum that is there; no step.
void tr_fit_hold(Fit *fit);
// A D^-1 = U diag(sigma) V^T of what is not held, and along = U^T b                      (T282)
bool tr_fit_factorise(Fit *fit, tr_error *err);
// The best step from there within all ranges; where it leads, and by how much chi^2 would become
// smaller, were the slopes all there is.
bool tr_fit_step(Fit *fit, double damping, tr_error *err);
double tr_fit_stepped(const Fit *fit, uint32_t k);
double tr_fit_gain(const Fit *fit);
// What the data cannot tell: words, and infinite deviations.
bool tr_fit_name_untold(Fit *fit, tr_error *err);

#endif
