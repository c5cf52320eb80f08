// SPDX-License-Identifier: Apache-2.0
// How far velocities are from their guess. What changes nothing (the place and heading of a
// vehicle, the spin of its wheels) is easy: it counts only where nothing else is left
// to count. The rest counts by its energy, each velocity by its own mass: those that no condition
// is about stay where they are (T112).
#ifndef TR_PLAN_METRIC_H
#define TR_PLAN_METRIC_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Metric {
    uint32_t n;
    double *root; // of the mass along each velocity; 1 for what has none
    double *Q;    // easy motions times root, orthonormal: easy * n, by rows
    uint32_t easy;
} Metric;

// For n velocities and as many easy motions at most. False when memory runs out.
bool tr_metric_new(Metric *metric, uint32_t n, uint32_t easy);
void tr_metric_free(Metric *metric);
// From masses, and motions by rows; where they are not finite all count alike. False when memory
// runs out.
bool tr_metric_take(Metric *metric, const double *mass, const double *motions, uint32_t count);

// The nearest x to zero with A x = b, m * n; b has room for m + n, and x takes its place. The
// cutoff and the rank are those of tr_least_squares.
bool tr_metric_shortest(const Metric *metric, const double *A, uint32_t m, double *b, double cutoff,
                        uint32_t *rank);
// How far, where what is easy counts a thousandth
double tr_metric_length(const Metric *metric, const double *x);

#endif
