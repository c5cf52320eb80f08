// SPDX-License-Identifier: Apache-2.0
// What was measured on the way corrects the state: an extended Kalman filter (T263).
#ifndef TR_SIM_FILTER_H
#define TR_SIM_FILTER_H

#include "sim/run.h"

// One fix, as it was compared with what was expected
typedef struct Innovation {
    double t;
    uint32_t fix;
    double consistency; // about as large as the numbers that were measured
    uint32_t count;     // these
    bool is_outlier, is_used;
} Innovation;

typedef struct Filter {
    const System *system;
    uint32_t *next;                       // by fix: the row that is due next
    uint32_t all_count;                   // of all numbers that fixes have
    double *values;                       // expected, deviations, slopes
    double *off, *sd, *slopes, *expected; // of one fix
    double *last;  // by number: its innovation; and by fix: how consistent it was
    char **labels; // of the columns
    uint32_t label_count;
    Innovation *list;
    uint32_t count, capacity;
    size_t used, outliers, passed; // `passed`: before the run began
    double sum, numbers;           // of consistencies, and of what they should be
} Filter;

// NULL, with words, when there is nothing to compare or nothing that is uncertain.
Filter *tr_filter_new(const Run *run, tr_error *err);
void tr_filter_free(Filter *filter);

double tr_filter_due(const Filter *filter);  // when the next fix is
size_t tr_filter_left(const Filter *filter); // fixes that are still to come
// Takes all fixes that are due where the run stands. False, with words, when it must stop.
bool tr_filter_correct(Filter *filter, Run *run, tr_error *err);

// The probability that a consistency of so many numbers is as large as that, or larger
double tr_chi_square_beyond(double square, uint32_t numbers);

#endif
