// SPDX-License-Identifier: Apache-2.0
// The constraints where the system stands: how many are independent, which velocities they leave
// free, which reactions are not unique; and the partition that `reduce` works with.
#ifndef TR_RUN_CHART_H
#define TR_RUN_CHART_H

#include "program/program.h"
#include "reduce/reduce.h"

typedef struct Chart {
    System *system;
    uint32_t rows;     // constraints: the first of system->rows
    uint32_t m;        // that are independent [B: m]
    uint32_t m_locked; // while motion-driven joints stand still [B: m°]
    uint32_t passive;  // velocities that are not motion-driven
    uint32_t kernel;   // of those, free
    Partition partition;
    bool *hyperstatic; // by row: its reaction is not unique
    uint32_t *surplus; // rows that are no pivots
    uint32_t surplus_count;
    bool *antagonist;   // of each: it does not follow from others when driven joints move
    double *dependence; // of each surplus row: by row, how much of it is in it
} Chart;

// At the state x, with velocities in the mass metric. Reduces the system.
Chart *tr_chart_new(System *system, const double *x, tr_error *err);
void tr_chart_free(Chart *chart);

// Marks the passive velocities (by input) that the constraints determine, whatever the free ones
// do: their rows of H vanish, at x and nearby.
bool tr_chart_kinematic(const Chart *chart, const double *x, bool *kinematic, tr_error *err);

// "'front.lateral', 'rear.lateral'": a surplus row and those it depends on.
void tr_chart_name_group(const Chart *chart, uint32_t surplus, char *line, size_t size);

// Whether a surplus row holds that is off by so much, where terms of this size cancel in it; else
// words in err: the motions contradict the constraints.
bool tr_chart_agrees(const Chart *chart, uint32_t surplus, double off, double size, double t,
                     tr_error *err);

// The first number of an output at the state x.
double tr_value(System *system, const char *output, const double *x, tr_error *err);

#endif
